#' Greedy feature selection for ridge regression by exact cross-validation
#'
#' Adds features to (or removes them from) a ridge regression model one at a time, at each step the
#' feature that gives the smallest exact cross-validated error, and chooses the number of features
#' by the cross-validated error of the whole search.
#'
#' For a set \eqn{S} of features the model minimises
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2}{
#' sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}. There is no 1/m: for the same model
#' the lambda of `glmnet(alpha = 0, weights = w)` is `lambda * s / sum(w)`, where s is the weighted
#' standard deviation of the response with divisor `sum(w)`.
#'
#' Two classes are the responses -1 and +1, the second level being +1, and more classes have a
#' column of such codes each. [class_probabilities] says how scores become probabilities.
#'
#' The held-out error of every candidate equals the error of retraining without each fold in turn,
#' for any partition: leave-one-out, N-fold, grouped or repeated, with a mean over repeats.
#'
#' The criterion of the path is optimistic: it has been minimised over all columns. The default size
#' is therefore chosen by repeating the whole procedure in ten folds, see [size_rule].
#' `size = "criterion"` with `refit = FALSE` is the algorithm of Pahikkala et al. (2010), which does
#' not repeat the search.
#'
#' **Topic pages:** [size_rule] (size and lambda), [greedy_losses] (counts, shares and censored
#' times), [worst_study] (criteria of groups of rows), [search_directions] (`search`, given panels,
#' ties), [column_prices] (`cost`), [column_groups], [hierarchy], [clusters], [search_cost] (time,
#' memory and accuracy).
#'
#' @param x,y,data The data, in any form of [as_problem()]: a matrix and its response, a formula and
#'   data, an experiment of Bioconductor and the name of its response, or an earlier problem.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`. Any other name is an error.
#' @param loss The loss: `"squared"`, the default, `"poisson"`, `"binomial"`, `"negbin"` or `"cox"`,
#'   see [greedy_losses]. Whole numbers that may be counts give a message.
#' @param ties How a Cox model deals with tied events: `"efron"`, the default, or `"breslow"`.
#' @param k Largest number of features, or of groups that are selected together. Above the number
#'   that there is the path ends there, with a message. `NULL`, the default, chooses it as the path
#'   goes on, up to 100, see [size_rule].
#' @param lambda Positive ridge parameter of the search. One of several values is chosen by the
#'   cross-validated error. `NULL`, the default, tries two or more values, and `"full"` chooses the
#'   value for the model with all features, see [size_rule].
#' @param size How the number of features is chosen: by the cross-validated error of the whole
#'   procedure, `"cv"` (the default, see [size_rule]), `"min"` at its minimum, or `"1se"`, the
#'   smallest size within one standard error of the minimum; `"criterion"`, by the criterion that
#'   chose the features, which is optimistic; or a number.
#' @param size_folds The folds in which the procedure is repeated: a number (10 by default), drawn
#'   stratified by class and with the groups of `folds` kept together; or any value of
#'   [make_folds()]. A number is drawn with a fixed seed, so `set.seed()` does not change the fit.
#' @param refit Logical: are the coefficients of each size refitted by ridge regression on the
#'   selected features at a lambda of their own? `TRUE` by default if `lambda` is not given, and for
#'   `loss = "cox"`.
#' @param folds Which rows are held out together in the search: `"loo"`, leave-one-out (for a
#'   [ranking] one query), the default for squares; a number of folds, stratified for classes; a
#'   vector of fold ids or a list of such vectors; or the result of [make_folds()]. For counts,
#'   shares and Cox models ten folds by default, which are the same in every call. For 1000 rows or
#'   more, five times as many as columns, and for [curves] of 10000 rows or more, `greedy_rls()`
#'   takes `size_folds` by default, as `x` is then read once for all searches ([search_cost]).
#' @param criterion The held-out criterion of the search, a mean weighted by the case weights. For
#'   counts and shares it is the deviance, for `loss = "cox"` `"squared"` or `"cox"`, see
#'   [greedy_losses], otherwise one of:
#'   * `"squared"`, the default, the mean squared error; `"absolute"`, the mean absolute error;
#'   * `"error"`, the misclassification rate, of three and more classes by the largest score;
#'     `"balanced"`, its mean over the classes, each counting alike;
#'   * `"auc"`, the area under the ROC curve over pairs of rows held out together. With `"loo"` it
#'     is leave-pair-out and costs O(m^2) for each candidate;
#'   * `"concordance"`, the share of pairs of rows held out together (of one query) that are
#'     predicted in the order of their responses. It requires folds of several rows and costs
#'     O(m log m) for each candidate;
#'   * `"worst"`, the largest relative squared error of a group of rows, such as a study,
#'     `"mean_sd"`, the mean of the relative errors plus their standard deviation, or either of
#'     another error, such as `"worst_error"`, see [worst_study];
#'   * a function `(y, prediction, fold)` of the coded response, the held-out predictions (vectors,
#'     or matrices for several responses) and the fold ids. It returns one number, smaller being
#'     better unless `attr(f, "better")` is `"higher"`.
#' @param search `"forward"` (the default), `"backward"`, `"floating"` or `"forward_backward"`, see
#'   [search_directions].
#' @param start Columns that the search begins with, by name or number, such as a published panel,
#'   see [search_directions]. None by default.
#' @param cost The price of each column, by which a forward search divides its gain: positive
#'   numbers, or a data frame with the columns `cost`, `assay` and `name`, see [column_prices].
#' @param budget The largest price of a model; no limit by default.
#' @param keep Number of runners-up recorded at each step in `fit$alternatives`, the best candidates
#'   that were not selected, with their exact criterion. None by default.
#' @param threads Number of OpenMP threads over columns, 1 by default. Results are the same for any
#'   number. A `criterion` function runs on a single thread. The folds of `size_folds` run on a
#'   future plan, see [parallel_runs].
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the folds of `size_folds`, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#' @param cluster A cluster of R's parallel package over which the columns are spread, such as
#'   `parallel::makeCluster(2)`, see [clusters]. None by default.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit]. `fit$path` has a row for every step,
#'   with `criterion`, the error of the search, and `cv`, the error of the whole procedure.
#'   `fit$coefficients` has the best model of every size, `fit$size` is the chosen size, and
#'   `fit$estimate` is the cross-fitted error of the procedure with its choices. `fit$work` counts
#'   operations, see [search_cost].
#'
#' @section Errors: Invalid input is an error of class `sparsels_error_input` that names the
#' argument, what it must be and what it was. So is a `loss` that does not suit the response or the
#' folds. A covariate that cannot be estimated without some fold is left out there, see
#' [covariates]. A warning of class `sparsels_warning_edge` reports that the size is the largest
#' tried, or that lambda is the first or last of the given values. Ctrl-C returns what was
#' completed, see [search_cost].
#'
#' @references Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for
#' regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#'
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' tumour <- factor(ifelse(x[, 7] - x[, 50] + rnorm(40) / 2 > 0, "yes", "no"))
#' fit <- greedy_rls(x, tumour)
#' fit
#' selected(fit)
#' table(predict(fit, x, type = "class"), tumour)
#' plot(fit)
#' selected(fit, "1se")
#'
#' # a panel from elsewhere, scored and extended
#' greedy_rls(x, tumour, start = c("gene7", "gene9"), k = 4)
#' @srrstats {RE1.0} `greedy_rls(y ~ ., data)` and every other fitter
#' @srrstats {ML3.1} `start` of `greedy_rls()`. `as_panel()`
#' @srrstats {ML3.5} see below
#' @srrstats {ML3.5a} `search`, `solver`, `screen`
#' @srrstats {ML3.5b} `loss`, `criterion`
#' @srrstats {ML3.6} see below
#' @srrstats {ML3.6a} forward, backward, floating, exchange, Pareto search, branch and bound
#' @srrstats {ML4.0} `greedy_rls()` and the like. `cross_validate(method = )` takes any
#' @srrstats {ML4.5} In part: no estimate before training. `greedy_rls()` announces half a minute
#'   and more of new sizes, `compare_methods()` the time of all splits after the first, and the
#'   progress bar shows the time left
#' @srrstats {ML4.6} `progress`
#' @export
greedy_rls <- function(x, y = NULL, ..., data = NULL, loss = "squared", ties = "efron", k = NULL,
                       lambda = NULL, size = "cv", size_folds = 10,
                       refit = is.null(lambda) || loss == "cox",
                       folds = if (loss == "squared") "loo" else 10,
                       criterion = if (loss == "cox") "squared" else loss, search = "forward",
                       start = NULL, cost = NULL, budget = Inf, keep = 0, threads = 1,
                       progress = interactive(), BPPARAM = NULL, cluster = NULL) {
  check_search_loss(loss)
  check_choice(search, "search", searches)
  problem <- loss_problem(fitter_problem("greedy_rls", x, y, ..., data = data), loss, ties, threads)
  if (missing(criterion) && !has_plain_times(problem)) criterion <- loss
  if (missing(folds)) {
    whole <- !is_of_many_rows(problem) || identical(size, "criterion")
    folds <- if (loss != "squared") default_folds(problem) else if (whole) "loo" else
      folds_of_products(problem, loss, criterion, search, cost, size_folds)
  }
  given <- mget(names(formals(greedy_control))[-1L])
  problem <- settle_likelihood(problem, loss, given, searches_times(loss, criterion))
  call <- short_call(match.call())
  if (!lacks_parameter(loss)) return(greedy_fit(problem, given, call, BPPARAM))
  search_twice(problem, loss, function(loss) {
    given[c("loss", "criterion")] <- loss
    greedy_fit(problem, given, call, BPPARAM)
  })
}

greedy_fit <- function(problem, given, call, BPPARAM) {
  # refused before the work, not in a part of it
  likelihood <- is_likelihood(given$loss)
  if (likelihood) searchable_null(problem, given$loss)
  control <- do.call(greedy_control, c(list(problem), given), quote = TRUE)
  control$products <- products_of(problem, control)
  if (is.null(control$products)) control$shards <- shards_of(problem, given$cluster)
  on.exit(close_shards(control$shards))
  fit <- sized_fit("greedy_rls", problem, control, search_of(control, given$refit), call,
                   BPPARAM = BPPARAM)
  if (likelihood) warn_separated(problem, given$loss)
  # by the held-out error of the ridge model of some columns
  with_terms(fit, problem, function(features, lambda) {
    if (!is.null(control$products)) problem <- replace(problem, "x", list(NULL))
    answer <- leading_search(problem, control, features)$answer_at(lambda)
    answer$squared[answer$moves + 1L]
  }, control$products)
}

# The checked options of greedy_rls().
greedy_control <- function(problem, loss, criterion, k, lambda, size, size_folds, refit, folds,
                           search, start, cost, budget, keep, threads, progress, cluster) {
  by_times <- searches_times(loss, criterion)
  none <- is.null(start) || (is.character(start) || is.numeric(start)) && !length(start)
  start <- if (none) integer() else whole_groups(problem, distinct_columns(start, problem))
  control <- path_control(problem, k, lambda, folds, criterion, size, size_folds, start,
                          pruned = search == "backward" && length(start), loss = loss,
                          by_times = by_times)
  if (by_times) control$searched <- times_control(problem, criterion, refit)
  control$search <- search
  control$cost <- check_cost(cost, problem)
  stop_argument_if(!is.null(control$cost) && search != "forward",
                   "`cost` is for `search = \"forward\"` alone")
  control$budget <- check_budget(budget, control$cost, problem, start)
  check_group_search(problem, control, cluster)
  check_hierarchy_search(problem, control, cluster)
  if (check_flag(refit, "refit") && search != "backward") {
    control$copies <- column_copies(if (by_times) as_log_times(problem) else problem, control)
  }
  control$keep <- min(check_count(keep, "keep", lower = 0L), ncol(problem))
  control$threads <- check_count(threads, "threads")
  control$progress <- check_flag(progress, "progress")
  check_search_cluster(cluster, control)
  control$optional <- optional_functions(problem, control$start)
  control
}

# The search with these options, for every lambda.
search_of <- function(control, refit) {
  search <- each_lambda(if (refit) independent_path(greedy_path) else greedy_path)
  if (!is.null(control$searched)) search <- by_log_times(search)
  if (!is.null(control$copies)) search <- without_copies(search)
  if (refit) with_refit(search) else search
}

# The default folds of a search of many rows: the folds of the size, if products know the errors.
folds_of_products <- function(problem, loss = "squared", criterion = "squared", search = "forward",
                              cost = NULL, size_folds = 10) {
  folds <- procedure_folds(problem, size_folds, NULL)
  control <- list(loss = loss, criterion = list(name = criterion), search = search, cost = cost,
                  folds = folds, sizing = list(folds = folds))
  if (can_use_products(problem, control)) folds else "loo"
}

# Refuses options that a search over groups does not support.
check_group_search <- function(problem, control, cluster) {
  stop_argument_if(has_curves(problem) && !is.null(cluster),
                   "`cluster` is for columns without curves: leave `smooth` or `cluster` out")
  groups <- problem$coding$column_groups
  if (is.null(groups)) return(invisible())
  together <- groups$rule == "together"
  hint <- if (groups$stated) "" else ": `columns_group = FALSE` takes levels of factors one by one"
  fail <- function(...) stop_argument("%s%s", sprintf(...), hint)
  if (together && !is.null(control$cost)) {
    fail("`cost` prices single columns, but these move in groups")
  }
  if (!is.null(cluster)) fail("`cluster` is for columns without groups")
  if (!together && control$search == "backward") {
    fail("`search = \"backward\"` begins with all columns of a group, which may have one at most")
  }
  if (together && rereads(problem)) {
    fail("groups of columns need a double for each of %d x %d values, %.3g GB, %s",
         nrow(problem), ncol(problem), 8e-9 * prod(dim(problem)),
         "more than is kept beside a file or a sparse matrix")
  }
  start <- problem$columns$group[control$start]
  twice <- anyDuplicated(start[start > 0L])
  if (!together && twice) {
    fail("`start` has two columns of group '%s', which may have one at most",
         groups$names[start[start > 0L][twice]])
  }
}

# the columns that the search began with
#' @exportS3Method
search_words.greedy_rls <- function(fit) {
  count <- length(fit$control$start)
  begun <- if (count) {
    sprintf("the search began with %s: no error accounts for how %s chosen",
            counted(count, "given column"), if (count == 1L) "it was" else "these were")
  }
  by_times <- if (!is.null(fit$searched)) {
    paste("columns searched by the", fit$searched$criterion$label)
  }
  parameter <- loss_of(fit)$parameter
  parameter <- if (!is.null(parameter)) {
    sprintf("%s is %s: %s", parameter$name, if (isTRUE(fit$parameter_fitted))
      "by maximum likelihood at the model of a first search" else "given", parameter$words)
  }
  # what a search by a likelihood tells of its steps
  steps <- sum(!is.na(fit$path$exact))
  proven <- sum(fit$path$exact, na.rm = TRUE)
  exact <- if (steps && proven == steps) {
    sprintf("%s: no other %s is better at %s, by bounds of the gains",
            if (steps == 1L) "exact greedy step" else "exact greedy steps",
            counted_word(fit$problem), if (steps == 1L) "it" else "any of them")
  } else if (steps) {
    sprintf("exact greedy step proven for %d of %d, the other steps took the best of %d candidates",
            proven, steps, most_refits)
  }
  words <- c(begun, by_times, parameter, exact)
  if (length(words)) paste(words, collapse = "; ")
}

searches <- c("forward", "backward", "floating", "forward_backward")

# columns given as the argument `name`, as numbers, no column twice
distinct_columns <- function(given, problem, name = "start") {
  columns <- given_columns(given, problem, name)
  twice <- problem$columns$name[columns[anyDuplicated(columns)]]
  stop_argument_if(length(twice), "`%s` has column '%s' twice", name, twice)
  columns
}

# columns given as the argument `name`, as numbers, where a column may occur more than once
given_columns <- function(given, problem, name = "start") {
  names <- problem$columns$name
  if (is.character(given) && length(given)) {
    # the name of a group or of a variable represents its columns
    labels <- list(group_names(problem, seq_along(names)), design_groups(problem$coding$design))
    given <- unlist(lapply(given, function(one) {
      if (one %in% c(names, NA, "")) return(one)
      own <- unique(unlist(lapply(labels, function(of) which(of == one & problem$columns$usable))))
      if (length(own)) names[own] else one
    }))
  }
  columns <- in_context(sprintf("`%s`", name), positions(given, ncol(problem), names, "column"))
  excluded <- columns[!problem$columns$usable[columns]]
  stop_argument_if(length(excluded), "`%s` has column '%s', which is excluded: it is %s", name,
                   names[excluded[1L]], excluded_words(problem))
  columns
}

# The arguments shared by all methods with a path of sizes, checked. `grows` is whether larger sizes
# are tried as long as the error improves. `start` has the columns that the search begins with.
# `pruned` is whether the search has no other columns. `loss` is its loss, which is also its
# criterion unless it is squared. With `by_times` the columns of a Cox model are searched by the
# squared errors of log times.
path_control <- function(problem, k, lambda, folds, criterion, size = "criterion",
                         size_folds = 10, start = integer(), pruned = FALSE, loss = "squared",
                         by_times = FALSE) {
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  largest <- function(problem) {
    count_units(problem,
                if (pruned) start[problem$columns$usable[start]] else which(problem$columns$usable))
  }
  usable <- largest(problem)
  begun <- count_units(problem, start)
  if (!is.null(k)) {
    unit <- if (moves_together(problem)) "groups" else "columns"
    what <- sprintf(if (pruned) "the number of %s of `start`" else "the number of usable %s", unit)
    k <- check_largest(k, usable, what)
    stop_argument_if(k < begun && !pruned,
                     "`k` is %d, but the search begins with the %d %s of `start`", k, begun, unit)
  }
  choose_lambda <- function(problem) {
    lambda_choice(lambda, problem, grid = !identical(size, "criterion"),
                  unit = function(problem) {
                    if (by_times) mean_square(as_log_times(problem)) else
                      null_values(problem, loss)$unit
                  },
                  words = if (loss == "squared" || by_times) "sum of squares" else "curvature")
  }
  choice <- choose_lambda(problem)
  by <- criterion_control(criterion, problem, folds, loss)
  if (!is.null(by$criterion$over)) {
    size_folds <- group_size_folds(problem, size, size_folds, by$criterion$name,
                                   length(choice$lambda))
  }
  sizing <- size_control(problem, size, size_folds, folds, k, length(choice$lambda))
  grows <- is.null(k) && !is.numeric(sizing$rule)
  if (is.null(k)) {
    k <- if (grows) min(usable, trained_rows(problem) - 1L, 100L) else sizing$rule
    if (!pruned) k <- max(k, begun)
  }
  c(list(
    k = max(1L, k), largest = largest, grows = grows,
    start = start,
    patience = if (grows) improve_within else 0L, sizing = sizing,
    lambda = choice$lambda, lambda_values = choice$values, lambda_choice = choose_lambda,
    lambda_rule = choice$rule, lambda_given = is.numeric(lambda), most_lambdas = choice$most,
    folds = folds
  ), by)
}

# The criterion of a search and, unless it is squared, the loss that the search minimises.
criterion_control <- function(criterion, problem, folds, loss) {
  if (loss == "squared") return(list(criterion = as_criterion(criterion, problem, folds)))
  # verify() gives parts of the rows, which may have folds without an event
  if (is.null(problem$folds_checked)) losses[[loss]]$check_folds(problem, folds, loss)
  list(criterion = loss_criterion(loss, folds), loss = loss)
}

# Runs a search for every lambda: `path` is a function (problem, control, lambda) that returns one
# path. An interrupted path is the last. If control$found exists, it has for each lambda the columns
# from which a forward search continues. A column of control$start may be constant in a part of the
# rows.
each_lambda <- function(path) {
  function(problem, control) {
    paths <- list()
    start <- usable_start(problem, control)
    for (i in seq_along(control$lambda)) {
      control$given <- if (is.null(control$found[[i]])) start else control$found[[i]]
      paths <- c(paths, list(path(problem, control, control$lambda[i])))
      if (paths[[length(paths)]]$status == "interrupted") break
    }
    paths
  }
}

# A search that does not add control$copies of other columns. The copy of a chosen column only
# undoes the shrinkage of its coefficient, which a refit does.
without_copies <- function(search) {
  force(search)
  function(problem, control) {
    problem$columns$usable[control$copies$feature] <- FALSE
    lapply(search(problem, control), function(path) replace(path, "copies", list(control$copies)))
  }
}

# The usable columns (`feature`) that are copies of another one (`of`), up to sign, scale and
# rounding or nearly so, once the covariates are taken out. Of equal columns a given one, then the
# cheapest, then the first is no copy. Columns that others require are never copies. In the folds of
# a fit the copies of all rows count, which verify() gives in `problem$copies`.
column_copies <- function(problem, control) {
  if (!is.null(problem$copies)) return(problem$copies)
  if (!is.null(problem$hierarchy)) return(no_copies)
  price <- if (is.null(control$cost)) numeric(ncol(problem)) else control$cost$price
  columns <- order(!seq_len(ncol(problem)) %in% control$start, price, factors_of(problem))
  columns <- columns[problem$columns$usable[columns]]
  group <- if (moves_together(problem)) problem$columns$group[columns] else 0L * columns
  rbind(copies_alone(problem, control, columns[group == 0L]),
        copies_of_groups(problem, control, unname(split(columns[group > 0L], factor(
          group[group > 0L], unique(group[group > 0L])
        )))))
}

# For each column the column that it is a copy of, itself if it is none.
like_columns <- function(problem, copies) {
  replace(seq_len(ncol(problem)), copies$feature, copies$of)
}

# Single columns that equal an earlier one, or whose small difference from it has no clear relation
# to the responses. Correlations with any vector then differ by little.
copies_alone <- function(problem, control, columns) {
  window <- copy_tolerance + 4 * near_copy / sqrt(trained_rows(problem))
  # few columns but copies have the same correlation with the response
  correlation <- abs(problem$columns$products[columns, 1L]) / sqrt(problem$columns$rss[columns])
  length <- sqrt(sum(working_response(problem)[, 1L]^2))
  # events may be the same in all rows of each stratum
  sorted <- order(correlation)
  near <- diff(correlation[sorted]) <= window * length
  if (length > 0) columns <- columns[sort(sorted[c(near, FALSE) | c(FALSE, near)])]
  if (length(columns) < 2L) return(no_copies)
  first <- first_of_copies(probe_correlations(problem, columns), window)
  copy <- which(first < seq_along(first) & !columns %in% control$start)
  blocks <- if (length(copy)) column_blocks(nrow(problem), length(copy), 1e6)
  same <- unlist(lapply(blocks, function(block) {
    are_copies(problem, columns[copy[block]], columns[first[copy[block]]])
  }))
  copy <- copy[as.logical(same)]
  list2DF(list(feature = columns[copy], of = columns[first[copy]]))
}

# The groups with as many columns as another one that have the same combinations, as the levels of
# two factors that label the same rows: projections of the probes on their columns are as long. A
# thousand rows tell most groups apart, where groups that nearly are copies differ by more.
copies_of_groups <- function(problem, control, groups) {
  trained <- trained_places(problem)
  few <- trained[ceiling(seq_len(1000L) / 1000 * length(trained))]
  first <- match(lengths(groups), lengths(groups))
  for (part in c(if (length(trained) > 1000L) list(part_of(problem, few)), list(problem))) {
    groups <- groups[first %in% first[duplicated(first)]]
    if (!length(groups)) return(no_copies)
    basis <- covariate_basis(part, strict = FALSE)
    working <- copy_probes(part, basis)
    length <- vapply(groups, function(columns) {
      decomposed <- qr(working_matrix(part, columns, basis))
      along <- qr.qty(decomposed, working)[seq_len(decomposed$rank), , drop = FALSE]
      sqrt(colSums(along^2) / colSums(working^2))
    }, numeric(4L))
    tolerance <- copy_tolerance * (if (nrow(part) < nrow(problem)) 1000 else 1)
    first <- first_of_copies(cbind(t(length), lengths(groups)), tolerance)
  }
  given <- vapply(groups, function(columns) any(columns %in% control$start), NA)
  copy <- which(first < seq_along(first) & !given)
  list2DF(list(feature = as.integer(unlist(groups[copy])),
               of = as.integer(unlist(groups[first[copy]]))))
}

# A path without columns that the covariates and the other columns of a set determine. Once the
# first such column is known, all that the columns before it determine are left out, and `dependent`
# has them.
independent_path <- function(path_of) {
  force(path_of)
  function(problem, control, lambda) {
    search <- control$search
    backward <- identical(search, "backward")
    # dropped columns may have been required
    required <- !is.null(problem$hierarchy) && !identical(search, "forward")
    as_is <- moves_together(problem) || has_terms(problem) || required
    dependent <- list()
    repeat {
      path <- path_of(problem, control, lambda)
      if (as_is || path$status == "interrupted") return(path)
      for (added in added_sequences(path$path, control)) {
        after <- if (backward) 0L else sum(added %in% control$given)
        found <- dependent_columns(problem, added, after)
        if (backward) found <- found[found$feature %in% path$path$feature, ]
        if (nrow(found)) break
      }
      dependent <- c(dependent, list(found))
      if (!nrow(found)) return(replace(path, "dependent", list(do.call(rbind, dependent))))
      problem$columns$usable[found$feature] <- FALSE
      if (backward) control$given <- setdiff(control$given, found$feature)
    }
  }
}

# The sets that a search enlarged no further, each with its columns in the order of their addition.
# A backward search has one set, with the column that it dropped last as the first.
added_sequences <- function(path, control) {
  features <- path$feature[-1L]
  if (identical(control$search, "backward")) return(list(utils::head(rev(features), control$k)))
  sets <- Reduce(function(set, column) {
    if (column %in% set) setdiff(set, column) else c(set, column)
  }, features, integer(), accumulate = TRUE)
  sets[diff(c(path$size, -1L)) < 0L]
}

# The columns (`feature`) that the covariates and the columns added before the first dependent one,
# `after` a place, determine, and how many of the added columns (`size`) it takes. Two rows for each
# column tell most columns apart, and columns that are independent in some rows are independent, so
# that more rows are read only where these are too few. A linear combination may miss a column by a
# `tolerance` times its length.
dependent_columns <- function(problem, added, after, tolerance = 1e-6) {
  none <- new_table(list(feature = integer(), size = integer()))
  trained <- trained_places(problem)
  width <- ncol(problem$z)
  added <- added[seq_len(max(0L, min(length(added), length(trained) - width)))]
  if (!length(added)) return(none)
  few <- 2 * (length(added) + width)
  samples <- lapply(few * 4^(0:ceiling(log(max(1, length(trained) / few), 4))), function(size) {
    trained[unique(ceiling(seq_len(size) / size * length(trained)))]
  })
  given <- if (is.null(problem$x)) problem$given_x else problem$x
  values <- function(rows, columns) {
    x <- as.matrix(as_doubles(some_part(given, rows, columns)))
    x - rep(problem$columns$centre[columns], each = length(rows))
  }
  decompose <- function(rows, columns) {
    qr(cbind(problem$z[rows, , drop = FALSE], values(rows, columns)), tol = tolerance)
  }
  for (rows in samples) {
    decomposed <- decompose(rows, added)
    late <- decomposed$pivot[seq_along(decomposed$pivot) > decomposed$rank] - width
    if (!any(late > after)) return(none)
  }
  before <- added[seq_len(min(late[late > after]) - 1L)]
  others <- setdiff(which(problem$columns$usable), before)
  for (rows in samples) {
    decomposed <- decompose(rows, before)
    last <- unlist(lapply(column_blocks(length(rows), length(others), 1e7), function(block) {
      x <- values(rows, others[block])
      limit <- tolerance * rep(sqrt(colSums(x^2)), each = nrow(x))
      apply(abs(qr.qty(decomposed, x)) > limit, 2L, function(over) max(0L, which(over)))
    }))
    others <- others[last <= decomposed$rank]
    last <- last[last <= decomposed$rank]
  }
  new_table(list(feature = others, size = pmax(0L, as.integer(last) - width)))
}

usable_start <- function(problem, control) control$start[problem$columns$usable[control$start]]

# The path for one lambda, as a list for new_sparse_fit(). `given` has columns that a search adds
# first, in this order, or that a backward search begins with. Candidates for the places of given
# columns are not scored, so these places have no runners-up. `skipping` says whether candidates are
# skipped, if the search allows it: "none", by "bounds" for as long as they pay, or at once by
# "recurrence" of the errors of all candidates, with folds. The models of the first control$known
# sizes are known: of these the path has the model without columns and the last.
greedy_path <- function(problem, control, lambda, given = control$given,
                        skipping = skipping_of(problem, control, given)) {
  problem <- searched_problem(problem, control)
  settings <- greedy_settings(problem, control, lambda, given, skipping)
  work <- search_data(problem, control)
  # once a worker is lost the calling process goes on by itself
  sharded <- !is.null(control$shards) && is.null(control$shards$lost) && skipping != "none"
  answer <- if (sharded) sharded_path(problem, control, settings, work) else
    search_answer(problem, control, work, settings)
  answer <- check_answer(answer, problem, control, lambda)
  made <- which(answer$model_entry >= 0L)
  ends <- c(made[1L], made[length(made)])
  answer$model_entry[setdiff(made[made < max(0L, control$known)], ends)] <- -1L
  unpack_path(of_given_columns(answer, problem, control$products), problem, control, lambda)
}

# The answer of C to a search of the `data`, a compiled problem.
search_answer <- function(problem, control, data, settings) {
  if (is_squared(control)) .Call(C_greedy_rls, data, settings) else
    likelihood_answer(problem, data, settings)
}

# A problem as a search takes it: by products without its rows.
search_data <- function(problem, control) {
  if (is.null(control$products)) return(working_in_folds(problem, control$folds))
  none <- numeric(ncol(problem))
  values <- function(columns) matrix(0, 0L, columns)
  responses <- ncol(problem$rows$y)
  list(x = values(ncol(problem)), root_w = numeric(), divisor = numeric(), centre = none,
       inv_scale = none, squares = none, rss = none, products = rep(none, responses),
       usable = as.integer(problem$columns$usable), q = values(nrow(control$products$of_y)),
       y = values(responses), response = values(responses), offset = NULL, query = NULL)
}

# The path for each of many coded responses (a list of matrices like problem$y) on the same x, in
# one call. Quantities that depend on x alone are computed once. The results equal the results of
# single searches but for rounding, as products with the chosen columns are then sums of other
# products. Ctrl-C leaves fewer paths. The criterion is a named one, since a function would only
# have problem$y.
greedy_paths <- function(problem, control, lambda, responses) {
  several <- problem
  several$rows$y <- do.call(cbind, responses)
  # which the responses are without
  several$rows$offset <- NULL
  given <- usable_start(problem, control)
  if (can_use_products(several, control)) {
    control$given <- given
    problem["x"] <- list(NULL)
    return(lapply(products_of_responses(several, control, responses), function(products) {
      greedy_path(problem, replace(control, "products", list(products)), lambda)
    }))
  }
  settings <- greedy_settings(problem, control, lambda, given, skipping_of(problem, control, given))
  settings$searches <- length(responses)
  settings$shared_rows <- as.integer(min(ncol(problem), shared_values / ncol(problem)))
  answers <- .Call(C_greedy_responses, working_in_folds(several, control$folds), settings)
  done <- !vapply(answers, is.null, NA)
  Map(function(answer, response) {
    problem$rows$y <- response
    unpack_path(check_answer(answer, problem, control, lambda), problem, control, lambda)
  }, answers[done], responses[done])
}

# The largest number of doubles for products of columns that many searches share.
shared_values <- 2^25

# The control list of a search as C reads it. Its progress bar ends with the function that calls.
greedy_settings <- function(problem, control, lambda, given, skipping, frame = parent.frame()) {
  bytes <- if (is_file_matrix(problem$x)) unclass(problem$x)$size / ncol(problem)
  progress <- progress_bar(control$progress, "Selecting features", frame, column_bytes = bytes)
  if (!is_squared(control)) return(likelihood_settings(problem, control, lambda, given, progress))
  check_backward_values(problem, control, given)
  backward <- control$search == "backward"
  usable <- count_units(problem, if (length(given)) given else which(problem$columns$usable))
  if (!backward) given <- distinct_units(problem, given)
  products <- control$products
  if (!is.null(products)) {
    products[c("fold_sizes", "variable")] <- list(rated_sizes(problem, control),
                                                  products$variables - 1L)
  }
  c(list(
    lambda = lambda, nu = 0.5, k = control$k, keep = control$keep,
    patience = if (backward) 0L else control$patience,
    limit = if (control$search == "forward") control$k else if (backward) usable else
      20L * control$k + 100L,
    search = control$search, criterion = control$criterion$name, given = as.integer(given) - 1L,
    classes = problem$coding$task != "regression" && is.null(control$products), skipping = skipping,
    rereads = rereads(problem), folds = ordered_folds(problem, control), threads = control$threads,
    user_loss = control$criterion$loss, progress = progress, products = products,
    ceiling = NULL, gram = NULL
  ), price_settings(problem, control$cost, control$budget), group_settings(problem, control$k),
  needs_settings(problem), row_group_settings(problem, control))
}

# The column ranges of the workers of a cluster. NULL without a cluster, or if there is so little
# work that the calling process does it.
shards_of <- function(problem, cluster, count = length(cluster)) {
  if (count > 0L && skipping_pays(problem)) open_shards(problem, cluster, count)
}

skipping_of <- function(problem, control, given) {
  if (moves_together(problem) || !is.null(control$products)) return("none")
  if (length(given) < control$k && skipping_pays(problem)) "bounds" else "none"
}

# Bounds are not worth their cost with few columns, or if the search takes milliseconds.
skipping_pays <- function(problem) ncol(problem) >= 64L && prod(dim(problem)) >= 25000

# Whether a search reads columns again. A matrix in a file, or a sparse matrix, does not lead to a
# larger matrix in memory. If every candidate must be evaluated, its columns are read again at each
# step if m x n doubles exceed the 2 GB that searches by bounds keep.
rereads <- function(problem) {
  (is_file_matrix(problem$x) || inherits(problem$x, "dgCMatrix")) &&
    prod(dim(problem)) > most_candidate_values
}

most_candidate_values <- 2^28

# A backward search begins with m doubles for each column of the set.
check_backward_values <- function(problem, control, given) {
  if (control$search != "backward" || !rereads(problem)) return(invisible())
  columns <- if (length(given)) length(given) else ncol(problem)
  values <- as.double(nrow(problem)) * columns
  stop_argument_if(values > most_candidate_values,
                   "%s from %d columns keeps a double for each of %d x %d values, %.3g GB: %s",
                   "`search = \"backward\"`", columns, nrow(problem), columns, 8e-9 * values,
                   "give fewer columns to begin with by `start`, or another `search`")
}

# The answer of C to a search. Refused if the search stopped before it had a model.
check_answer <- function(answer, problem, control, lambda) {
  if (control$criterion$name == "squared") check_still_finite(problem, answer$fitted)
  stop_input_if(answer$status == "not_positive",
                "the system is numerically singular at lambda = %g: use a larger `lambda`", lambda,
                class = "sparsels_error_singular")
  unstarted <- answer$model_entry[1L] < 0L && control$search != "backward"
  if (unstarted && answer$status != "interrupted") stop_unheld()
  answer
}

stop_unheld <- function() {
  stop_input(paste("the model without features has no held-out error: are covariates in `adjust`",
                   "determined by few rows?"), class = "sparsels_error_singular")
}

unpack_path <- function(answer, problem, control, lambda) {
  keep <- seq_len(answer$moves + 1L)
  by_rows <- is.null(control$products)
  feature <- answer$feature[keep] + 1L
  size <- answer$size[keep]
  errors <- answer_errors(answer, keep, problem, control)
  path <- new_table(c(list(
    step = keep - 1L, action = c("start", c("drop", "add")[(diff(size) > 0L) + 1L]),
    feature = replace(feature, 1L, NA), name = c(NA, unit_names(problem, feature[-1L])),
    size = size
  ), errors[names(errors) != "error"]))
  if (moves_together(problem)) {
    path$columns <- c(0L, lengths(lapply(feature[-1L], unit_columns, problem = problem)))
  }
  if (!is.null(control$cost)) path$price <- cumsum(c(0, added_prices(control$cost, feature[-1L])))
  path$error <- errors$error
  work <- answer$work
  step_or_na <- function(number) if (number < 0) NA else as.integer(number)
  steps <- intersect(c("tried", "exact"), names(answer))
  path[steps] <- lapply(answer[steps], `[`, keep)
  list(
    lambda = lambda, status = answer$status, path = path, size = answer$best,
    models = unpack_models(answer, seq_along(answer$model_entry) - 1L, ncol(problem$rows$y)),
    held_out = if (by_rows) scores_unless_lost(problem, control$folds, answer$held_out),
    fitted = if (by_rows) scores_of(problem, answer$fitted),
    alternatives = unpack_others(answer, problem, control, length(keep)),
    work = if (!is.null(work)) {
      list(candidates = work[1L], evaluated = work[2L], passes = work[3L] / ncol(problem),
           recurrence_from = step_or_na(work[4L]), dense_from = step_or_na(work[5L]),
           reread_from = step_or_na(work[6L]), by_products = !by_rows)
    },
    pivot = answer$pivot[keep]
  )
}

# How many sizes of a search by products, from 0 on, have an error rate: none in a part of the rows.
# Where refits follow, the rates are of the refitted models, except for the model without columns.
rated_sizes <- function(problem, control) {
  rated <- problem$coding$task != "regression" && !is.null(problem$x) && !isTRUE(control$of_part)
  if (!rated) 0L else if (isTRUE(control$refitted)) 1L else control$k + 1L
}

# The errors of some entries of a path, and the error rate if the response is classes.
answer_errors <- function(answer, entries, problem, control) {
  if (!is_squared(control)) return(likelihood_errors(answer, entries, problem, control))
  se <- answer$se[entries]
  classes <- problem$coding$task != "regression"
  error <- if (classes && !is.null(control$products)) {
    error_by_products(answer, entries - 1L, problem, control)
  } else if (classes) {
    answer$error[entries]
  }
  c(list(criterion = criterion_value(control$criterion, answer$loss[entries]),
         se = replace(se, is.nan(se), NA), squared = answer$squared[entries]),
    if (classes) list(error = error))
}

# The held-out error rate of the models of some sizes by the models without each fold, NA where the
# latter are not kept.
error_by_products <- function(answer, sizes, problem, control) {
  models <- rated_sizes(problem, control)
  rate <- rep(NA_real_, length(sizes))
  rated <- sizes < models
  if (!any(rated)) return(rate)
  features <- matrix(answer$model, ncol = length(answer$model_entry))
  answer$model <- as.vector(features[, seq_len(models)])
  for (name in c("model_entry", "model_columns")) answer[[name]] <- answer[[name]][seq_len(models)]
  folds <- control$products$folds
  sums <- vapply(seq_len(folds), function(fold) {
    for (name in c("beta", "u")) {
      values <- answer[[paste0("fold_", name)]]
      answer[[name]] <- array(values, c(length(values) / (folds * models), folds, models))[, fold, ]
    }
    own <- of_given_columns(answer, problem, control$products)
    own <- user_coefficients(problem, unpack_models(own, sizes[rated], ncol(problem$rows$y)))
    rows <- which(control$products$ids == fold)
    score_sums(model_scores(own, problem, rows), scored_rows(problem, rows), list(name = "error"))
  }, matrix(0, 2L, sum(rated)))
  replace(rate, rated, rowSums(matrix(sums[1L, , ], sum(rated))) / sum(sums[2L, 1L, ]))
}

# The models of some sizes, of L responses: features in the order chosen, their coefficients in
# working units, the row of the path and, where they do not follow, the coefficients `u` of the
# basis of the covariates. A size without a model has NULL.
unpack_models <- function(answer, sizes, L) {
  count <- length(answer$model_entry)
  features <- matrix(answer$model, ncol = count)
  beta <- array(answer$beta, c(nrow(features), L, count))
  row <- answer$model_entry + 1L
  u <- answer$u
  lapply(sizes + 1L, function(place) {
    if (row[place] < 1L) return(NULL)
    members <- seq_len(answer$model_columns[place])
    # places beyond the members have no value
    model <- list(features = features[members, place] + 1L,
                  beta = matrix(beta[members, , place], ncol = L), row = row[place])
    if (!is.null(u)) model$u <- u[, place]
    model
  })
}

unpack_others <- function(answer, problem, control, entries) {
  if (control$keep == 0L) return(NULL)
  moves <- seq_len(entries)[-1L]
  feature <- matrix(answer$other, control$keep)[, moves, drop = FALSE] + 1L
  loss <- matrix(answer$other_loss, control$keep)[, moves, drop = FALSE]
  present <- feature > 0L
  data.frame(
    step = col(feature)[present], rank = row(feature)[present], feature = feature[present],
    name = unit_names(problem, feature[present]),
    criterion = criterion_value(control$criterion, loss[present])
  )
}

# Coefficients of chosen columns at another ridge parameter than the parameter of the search. A
# large parameter is good for choosing columns. The coefficients use the parameter with the smallest
# held-out error.

# In multiples of the mean sum of squares of a column. Smaller ones follow, each a 16th of the one
# before, as long as the error of a size falls by a thousandth, or to the last where that has a
# smaller error.
refit_multiples <- 16^(-3:1)
least_multiple <- 16^-7

# A search whose paths are refitted. Where no folds choose among the paths (control$sizing), the
# predictions are also the predictions of the refitted model.
with_refit <- function(search) {
  force(search)
  function(problem, control) {
    control[c("null", "unit")] <- null_values(problem, loss_name(control))
    refits <- NULL
    paths <- lapply(search(problem, replace(control, "refitted", TRUE)), function(path) {
      path <- refit_path(path, problem, control, refits)
      # another lambda often gives the same sets
      refits <<- path$refits
      path
    })
    if (!is.null(control$sizing$folds)) return(paths)
    lapply(paths, function(path) {
      if (path$status == "interrupted") return(path)
      if (path$size < 1L && is.null(control$searched)) return(path)
      model <- path$models[[path$size + 1L]]
      values <- refit_values(problem, control, model$features, path$path$refit_lambda[model$row])
      replace(path, names(values), values)
    })
  }
}

# The models of a path with the coefficients of the best of several ridge parameters, by the squared
# error or deviance held out by the same folds, and the errors of these models. `refit_lambda` of
# the path is this parameter, and `search_criterion` is the criterion of the search. `earlier` has
# the refits of another path, which are used where the sets are the same.
refit_path <- function(path, problem, control, earlier) {
  sizes <- which(!vapply(path$models, is.null, NA)) - 1L
  steps <- as.list(path$path)
  steps$search_criterion <- steps$criterion
  steps$refit_lambda <- rep(NA_real_, nrow(path$path))
  # what was searched by the errors of log times has no other error of a Cox model
  if (!is.null(control$searched)) {
    steps[c("criterion", "se")] <- list(steps$refit_lambda)
    steps$squared <- NULL
  } else {
    sizes <- sizes[sizes > 0L]
  }
  path$path <- new_table(steps)
  if (!length(sizes) || path$status == "interrupted") return(path)
  sets <- lapply(path$models[sizes + 1L], `[[`, "features")
  known <- match(sets, earlier$sets)
  refitted <- lapply(earlier$refitted, `[`, known)
  new <- is.na(known)
  if (any(new)) {
    made <- do.call(Map, c(c, of_sets(sets[new], function(columns, sizes) {
      refit_leading(problem, control, columns, sizes)
    }, sizes[new])))
    for (name in names(made)) refitted[[name]][new] <- made[[name]]
  }
  path$refits <- list(sets = sets, refitted = refitted)
  path$models[sizes + 1L] <- Map(function(model, one) replace(model, names(one), one),
                                 path$models[sizes + 1L], refitted$models)
  rows <- vapply(path$models[sizes + 1L], `[[`, 0L, "row")
  shrunk <- if (is_squared(control)) "squared" else "criterion"
  searched <- steps[[shrunk]]
  path$pivot[rows] <- refitted$pivot
  for (error in intersect(names(steps), names(refitted))) steps[[error]][rows] <- refitted[[error]]
  steps$refit_lambda[rows] <- replace(refitted$lambda, sizes == 0L, NA)
  path$path <- new_table(steps)
  sizes <- union(0L, sizes)
  rows <- vapply(path$models[sizes + 1L], `[[`, 0L, "row")
  path$size <- sizes[choose_row(criterion_loss(control$criterion, steps$criterion[rows]))]
  path$shrinkage[sizes + 1L] <- (searched / steps[[shrunk]])[rows]
  path
}

# A search that adds the columns of `features` in this order: the `problem` of these columns, the
# `control`, and answer_at(), its answer for a lambda. A search by products or by a likelihood makes
# the models of `sizes` alone, and leaves a size whose error is sure to be above `most`. A search on
# many rows leaves such sizes at the end alone. The products of its columns serve every lambda.
leading_search <- function(problem, control, features) {
  narrow <- only_columns(problem, features)
  control[c("searched", "cost")] <- NULL
  control[c("search", "k", "keep", "patience", "progress")] <-
    list("forward", count_units(narrow), 0L, 0L, FALSE)
  control$products <- some_products(control$products, problem, features)
  data <- search_data(narrow, control)
  settings <- greedy_settings(narrow, control, 1, seq_along(features), "none")
  all <- control$k
  list(problem = narrow, control = control, answer_at = function(lambda, sizes = all, most = Inf) {
    settings$lambda <- lambda
    settings$ceiling <- replace(rep(-1, all + 1L), sizes + 1L, pmin(most, .Machine$double.xmax))
    answer <- search_answer(narrow, control, data, settings)
    if (!is.null(answer$gram)) settings$gram <<- answer$gram
    uninterrupted(check_answer(answer, narrow, control, lambda))
  })
}

# The leading columns of `features`, for each of `sizes`, at the best of `lambdas`, by default of
# multiples of control$unit: `lambda`, `models`, `pivot` and the columns of answer_errors(), each
# with an element for each size. Adding the columns in this order gives all sizes for one lambda.
refit_leading <- function(problem, control, features, sizes, lambdas = NULL) {
  least <- if (is.null(lambdas)) least_multiple * control$unit else Inf
  lambdas <- if (is.null(lambdas)) refit_multiples * control$unit else sort(lambdas)
  leading <- leading_search(problem, control, features)
  judged <- if (is_squared(control) && is.null(control$criterion$over)) "squared" else "loss"
  answers <- list()
  # the errors that are smaller than `most` by the models of a lambda, the others infinite
  errors_at <- function(l, most) {
    needed <- most >= 0
    answers[[l]] <<- leading$answer_at(lambdas[l], sizes[needed], most[needed])
    replace(answers[[l]][[judged]][sizes + 1L], !needed, Inf)
  }
  error <- matrix(0, length(sizes), length(lambdas))
  smallest <- rep(Inf, length(sizes))
  # the most likely lambdas first, which leave the others little to do: of many rows the smallest
  tall <- !is.null(control$products) || nrow(problem) >= 4L * length(features)
  middle <- abs(seq_along(lambdas) - mean(seq_along(lambdas)))
  for (l in order(if (tall) lambdas else middle)) {
    error[, l] <- errors_at(l, smallest)
    smallest <- pmin(smallest, error[, l], na.rm = TRUE)
  }
  best <- apply(error, 1L, choose_row, simplest = rev(seq_along(lambdas)))
  error <- error[cbind(seq_along(best), best)]
  lambda <- min(lambdas)
  open <- lambdas[best] == lambda
  # nearly dependent columns may have another minimum, which the last lambda shows
  deep <- logical(length(open))
  if (least < lambda && !all(open) && are_nearly_dependent(leading$problem)) {
    lambdas <- c(lambdas, least)
    deep <- (errors_at(length(lambdas), ifelse(open, -1, 0.999 * error)) < 0.999 * error) %in% TRUE
  }
  while ((lambda <- lambda / 16) >= least * (1 - 1e-9) && any(open | deep)) {
    lambdas <- c(lambdas, lambda)
    now <- errors_at(length(lambdas), ifelse(open | deep, 0.999 * error, -1))
    open <- (now < 0.999 * error) %in% TRUE
    best[open] <- length(lambdas)
    error[open] <- now[open]
  }
  refitted <- list(lambda = lambdas[best], models = vector("list", length(sizes)),
                   pivot = numeric(length(sizes)))
  # the sums over folds of all sizes of a lambda are made together
  for (l in unique(best)) {
    own <- which(best == l)
    answer <- of_given_columns(answers[[l]], leading$problem, leading$control$products)
    refitted$models[own] <- lapply(unpack_models(answer, sizes[own], ncol(problem$rows$y)),
                                   function(model) model[names(model) %in% c("beta", "u")])
    refitted$pivot[own] <- answer$pivot[sizes[own] + 1L]
    errors <- answer_errors(answer, sizes[own] + 1L, leading$problem, leading$control)
    for (error in names(errors)) refitted[[error]][own] <- errors[[error]]
  }
  refitted
}

# A problem of some columns, with their scale in the whole problem. These columns require no others.
only_columns <- function(problem, columns) {
  problem <- part_of(problem, columns = columns)
  problem$hierarchy <- NULL
  problem
}

# Whether the error of the columns of a problem may have a second minimum along lambda, below all of
# `refit_multiples`: these shrink a column whose part that the columns before it do not determine is
# smaller. Columns without values of rows, curves and pairs are taken for such columns.
are_nearly_dependent <- function(problem) {
  is.null(problem$x) || has_terms(problem) ||
    nrow(dependent_columns(problem, seq_len(ncol(problem)), 0L, sqrt(min(refit_multiples)))) > 0L
}

# Predictions of the rows by the model of some columns: by the models without each fold, averaged
# over repeats, and by the model of all rows.
refit_values <- function(problem, control, features, lambda) {
  if (is_squared(control)) {
    spectrum <- linear_spectrum(only_columns(problem, features))
    held_out <- layer(average(held_out_folds(spectrum, control$folds, lambda)), 1L)
    return(list(held_out = scores_unless_lost(problem, control$folds, held_out),
                fitted = scores_of(problem, layer(training_residuals(spectrum, lambda), 1L))))
  }
  # without columns every lambda has the same model
  lambda <- if (length(features)) lambda else 1
  answer <- leading_search(problem, control, features)$answer_at(lambda)
  last <- answer$moves + 1L
  held_out <- matrix(rowMeans(layer(answer$scores, last)))
  list(held_out = scores_of_rows(problem, held_out),
       fitted = scores_of_rows(problem, answer$fits[, last, drop = FALSE]))
}

#' @rdname baselines
#' @order 4
#' @export
random_selection <- function(x, y = NULL, ..., data = NULL, loss = "squared", ties = "efron",
                             k = NULL, lambda = NULL, size = "criterion", size_folds = 10,
                             refit = is.null(lambda),
                             folds = if (loss == "squared") "loo" else 10, criterion = loss,
                             threads = 1, progress = interactive(), BPPARAM = NULL) {
  check_search_loss(loss)
  problem <- fitter_problem("random_selection", x, y, ..., data = data)
  problem <- loss_problem(problem, loss, ties, threads)
  problem <- settle_likelihood(problem, loss, list(criterion = criterion))
  loss <- with_null_parameter(problem, loss)
  if (missing(folds) && loss != "squared") folds <- default_folds(problem)
  control <- path_control(problem, k, lambda, folds, criterion, size, size_folds, loss = loss)
  control <- c(control, keep = 0L, threads = check_count(threads, "threads"),
               progress = check_flag(progress, "progress"))
  search <- if (check_flag(refit, "refit")) with_refit(drawn_paths) else drawn_paths
  sized_fit("random_selection", problem, control, search, short_call(match.call()), random = TRUE,
            BPPARAM = BPPARAM)
}

# The drawn columns are the same for every lambda. All other columns are excluded, so that no work
# is done for them.
drawn_paths <- function(problem, control) {
  drawn <- draw_units(problem, control$k)
  problem$columns$usable <- seq_along(problem$columns$usable) %in% drawn
  control$search <- "forward"
  search <- each_lambda(function(problem, control, lambda) {
    greedy_path(problem, control, lambda, drawn)
  })
  search(problem, control)
}

# k usable columns at random, or groups of them, or columns of different groups.
draw_units <- function(problem, k) {
  units <- distinct_units(problem)
  if (!is.null(problem$hierarchy)) {
    # each is drawn among the columns whose required columns are already drawn
    drawn <- integer()
    while (k > 0L && length(open <- joining_units(problem, drawn, setdiff(units, drawn)))) {
      drawn <- c(drawn, unit_columns(problem, open[sample.int(length(open), 1L)]))
      k <- k - 1L
    }
    return(drawn)
  }
  if (!chooses_one(problem)) return(whole_groups(problem, units[sample.int(length(units), k)]))
  units <- units[sample.int(length(units))]
  group <- problem$columns$group[units]
  utils::head(units[group == 0L | !duplicated(group)], k)
}
