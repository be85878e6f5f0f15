#' Is another set of columns better?
#'
#' Proves that no other set of the same size has a smaller penalised error, or a smaller
#' leave-one-out error, than the set that a search has found, or finds a better one.
#'
#' For a set \eqn{S} of k columns the penalised error is
#' \deqn{F(S) = \min_{b, B} \sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 +
#' \lambda \| B \|_F^2}{F(S) = min over b, B of sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 +
#' lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}. In coordinates without the weights and covariates, and
#' with columns divided by \eqn{\sqrt\lambda}{sqrt(lambda)}, every matrix \eqn{A} of as many rows
#' and columns as \eqn{Y} bounds the errors of all sets of k columns:
#' \deqn{F(S) \ge 2 \langle A, Y \rangle - \|A\|_F^2 - \mbox{the sum of the } k \mbox{ largest }
#' \|x_j' A\|^2.}{F(S) >= 2 <A, Y> - ||A||_F^2 - the sum of the k largest ||x_j'A||^2.}
#' The best \eqn{A} is found by Newton steps on the few columns that matter, with one pass over `x`
#' for each trial. Then a column that is not among the k largest is in no better set if the bound
#' exceeds the error of a known set once the column takes the place of the k-th, and a column among
#' them is in every better set if leaving it out does the same. The undecided columns, mostly a few
#' hundred of thousands, are searched by branch and bound.
#'
#' **The leave-one-out error** \eqn{\sum_j w_j \|y_j - \hat y_{-j}\|^2}{sum_j w_j || y_j -
#' yhat_{-j} ||^2} of a set is bounded from below by its penalised error and by the distance of its
#' residuals from \eqn{A}, so the same search proves that it is the least. For other folds and
#' criteria there is no such bound.
#'
#' **What is proved.** A certificate is about these rows and this lambda, the lambda of the search
#' (`fit$lambda`), not the lambda of a refit. It does not say that the set predicts new rows well,
#' nor that its columns are the relevant ones. Usually other sets are nearly as good, see
#' [alternatives()]. Sets that differ by less than rounding, 1e-12 of the error of the null model,
#' are not distinguished. Columns of the argument `start` of the fit are in every set compared.
#'
#' **Where it ends without a proof**, after `nodes` sets of the tree, the bound and the share of the
#' attainable fall are given: the fall of the error from the null model to the set, divided by the
#' fall to the bound. The smaller lambda and the larger k, the harder is the proof. It is easy for
#' the default lambdas of [greedy_rls()] on thousands of genes, and hopeless for a lambda much
#' smaller than the number of rows where columns outnumber rows.
#'
#' @param fit A fit that selects columns at one ridge parameter: of [greedy_rls()],
#'   [forward_regression()], [omp()], [foba()], [poss()], [sequential_replacement()], [rfe()],
#'   [random_selection()] or [best_subset()]. For `lambda = 0` there must be fewer columns than rows
#'   less covariates.
#' @param x,y,data The data that the fit was made from, as for [verify()]. For `print()` and
#'   `plot()`, `x` is the result.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`; those not given are as the
#'   fit has them. For `plot()`, graphical parameters such as `main`.
#' @param size The sizes to prove, such as `1:10`; `NULL` for the chosen one.
#' @param criterion `"penalised"`, the penalised error on the training rows, `"squared"`, the
#'   leave-one-out error, or both, the default where both can be proved: `"squared"` requires
#'   `lambda > 0` and rows without groups and queries.
#' @param nodes The largest number of nodes of a tree, at least 1, for each size and criterion;
#'   `NULL` for 20000, which take seconds.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param cluster A cluster of R's parallel package whose workers read blocks of the columns, see
#'   [clusters]; by default none. The certificate is the same.
#'
#' @return An object of class `certificate`, a list:
#' * `proofs`: data frame with a row for each size and criterion: `size`; `criterion`; `own`, the
#'   error of the set of the fit, `value`, of the best set known, and `null`, of the null model, for
#'   `"squared"` mean squared errors; `bound`, which no set of this size is below; `gap`,
#'   `value - bound` relative to `null`, 0 where proved; `proved`; `nodes`; `better`, whether the
#'   best set known is better than the set of the fit; `certain_in` and `certain_out`, how many
#'   columns are certainly in and certainly not in every set as good, before the tree, and
#'   `undecided`, the others; `limit`, the penalised error of which this is certain.
#' * `sets`, `columns`: lists of the best sets known, names and numbers of columns, for the rows of
#'   `proofs`.
#' * `better`: where a set better than the chosen set of the fit was found, a [sparse_fit] of it, by
#'   the leave-one-out error if both errors have one, otherwise `NULL`.
#' * `near`: data frame with the number `count` of sets whose penalised error is within 1 % of the
#'   fall of the least one, for each size that was proved with at most 1000 columns undecided about
#'   these sets: `counted` is `FALSE` where there are at least so many, and `in_all` the number of
#'   columns in all of them, `NA` for over 1000 sets.
#' * `passes`, how often the columns were read, on average; `traces`, a matrix for each row of
#'   `proofs` with the `nodes`, and the `bound` and `value` then; `lambda`, `method`, `status`,
#'   `call` and `problem`, which contains the data.
#'
#' The data are kept, without a copy, for [alternatives()] and [verify()]: `saveRDS()` of a
#' certificate takes the space of `x`. `selected()` gives the best set of one size.
#'
#' `plot()` draws the errors of several sizes over their bounds, below which there is no set, and
#' for one size the bound and the error against the nodes. It returns invisibly the data frame
#' drawn.
#'
#' @section Cost: About four passes over `x`, and for each node O(q^3) time for the q columns that
#'   share the weight of the bound, typically 10 to 60. With 7000 columns at the default lambdas a
#'   proof takes hundredths of a second. Memory: the undecided columns and about a kilobyte for each
#'   open node. Ctrl-C returns what is proved by then, with a warning of class
#'   `sparsels_interrupted`.
#'
#' @section Errors: `sparsels_error_input` for fits without a ridge parameter or by another penalty
#'   ([l1_path()], [scdp()], kernels), for at most one column of each group and hierarchies of
#'   columns, for sizes that the fit does not have, and for data that differ from the data of the
#'   fit.
#'
#' @references Pilanci, M., Wainwright, M. J., El Ghaoui, L. (2015). Sparse learning via Boolean
#' relaxations. Mathematical Programming 151, 63-87. \doi{10.1007/s10107-015-0894-1}
#'
#' Atamturk, A., Gomez, A. (2020). Safe screening rules for L0-regression from perspective
#' relaxations. Proceedings of the 37th International Conference on Machine Learning, 421-430.
#' @seealso [alternatives()], the sets nearly as good and what each column costs; [best_subset()];
#'   [exchange()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 500), 60, dimnames = list(NULL, paste0("gene", 1:500)))
#' y <- x[, 7] - x[, 50] + x[, 300] + rnorm(60)
#' fit <- greedy_rls(x, y)
#' proof <- certify(fit, x, y)
#' proof
#' alternatives(proof)
#' plot(certify(fit, x, y, size = 1:4))
#' @export
certify <- function(fit, x, y = NULL, ..., data = NULL, size = NULL,
                    criterion = c("penalised", "squared"), nodes = NULL,
                    progress = interactive(), cluster = NULL) {
  check_given(fit, "fit")
  if (is.null(data)) check_given(x, "x")
  check_dots(..., known = c(names(formals(certify)), problem_arguments),
             allowed = problem_arguments)
  check_flag(progress, "progress")
  check_sealed(fit)
  why <- if (is.null(chosen_features(fit))) "it chooses no columns" else why_not_certified(fit)
  stop_argument_if(!is.null(why), "there is no proof about a fit of %s(): %s", fit$method, why)
  sizes <- certified_sizes(fit, size)
  nodes <- check_nodes(nodes)
  problem <- searched_problem(problem_in_order(fit, x, y, ..., data = data), fit$control)
  problem$columns$usable[fit$copies$feature] <- FALSE
  criterion <- check_proof_criterion(criterion, missing(criterion), fit$lambda, problem)
  # the columns of `start` if all sets contain them
  start <- fit$control$start
  given <- is.numeric(start) && identical(fit$control$search, "forward") &&
    all(vapply(fit$coefficients[sizes + 1L], function(one) all(start %in% one$features), NA))
  source <- certified_source(problem, fit$lambda, if (given) start else integer(),
                             check_cluster(cluster))
  new_certificate(fit, source, sizes, criterion, nodes, progress, short_call(match.call()))
}

# Arguments ---------------------------------------------------------------------------------------

# why there is no proof about the sets of a fit, or NULL
why_not_certified <- function(fit) {
  problem <- fit$problem
  if (inherits(fit, c("l1_path", "scdp"))) return("its sets have no ridge parameter in common")
  if (!is_squared(fit)) return("proofs are of squared errors")
  if (!is.null(problem$hierarchy)) return("columns require others")
  if (chooses_one(problem)) return("it chooses one column of a group")
  if (fit$lambda == 0 && sum(problem$columns$usable) >= trained_rows(problem) - ncol(problem$z)) {
    "without a penalty (`lambda` 0) there must be fewer columns than rows less covariates"
  }
}

certified_sizes <- function(fit, size) {
  if (is.null(size)) {
    stop_argument_if(fit$size == 0L,
                     "`fit` has chosen no column, so there is nothing to prove: give `size`")
    return(fit$size)
  }
  known <- setdiff(model_sizes(fit), 0L)
  stop_argument_if(!has_numbers(size) || !length(size) || !all(size %in% known),
                   "`size` must be sizes of models of the fit (%s), not %s", runs_of(known),
                   describe(size))
  sort(unique(as.integer(size)))
}

# The criteria that can be proved. A criterion that the user gives must be one of them.
check_proof_criterion <- function(criterion, by_default, lambda, problem) {
  known <- c("penalised", "squared")
  stop_argument_if(!is.character(criterion) || !length(criterion) || !all(criterion %in% known),
                   "`criterion` must be \"penalised\" or \"squared\" (leave-one-out), not %s: %s",
                   describe(criterion), "a proof exists for these two alone")
  joined <- stated_by_properties(problem, "joined")
  why <- if (lambda == 0) "requires `lambda > 0`" else if (!is.null(joined)) {
    sprintf("leaves out single rows, but these rows are %s", joined)
  }
  if (is.null(why) || !"squared" %in% criterion) return(unique(criterion))
  stop_argument_if(!by_default, "`criterion = \"squared\"` %s: give \"penalised\"", why)
  "penalised"
}

# Proofs ------------------------------------------------------------------------------------------

# The source of the proofs about a problem, at any lambda.
certified_source <- function(problem, lambda, given, cluster = NULL) {
  if (lambda > 0) return(proof_source(problem, lambda, given, cluster))
  source <- extracted_source(problem, lambda)
  stop_argument_if(is.null(source),
                   "the columns are nearly dependent: a proof needs a fit with `lambda > 0`")
  source
}

# The result --------------------------------------------------------------------------------------

new_certificate <- function(fit, source, sizes, criterion, nodes, progress, call) {
  problem <- source$problem
  sets <- lapply(sizes, function(size) set_units(source, fit$coefficients[[size + 1L]]$features))
  roots <- proof_roots(source, sizes, sets)
  bar <- progress_bar(progress, "Searching sets", steady = FALSE)
  proofs <- unlist(Map(function(root, set) {
    own <- set_errors(source, set)
    known <- list(set)
    # the best set by the penalised error is also tried for the leave-one-out error
    lapply(intersect(c("penalised", "squared"), criterion), function(one) {
      proof <- proof_of(source, root, one, own[[one]], known, nodes, bar)
      known <<- unique(c(known, list(proof$set)))
      proof
    })
  }, roots, sets), recursive = FALSE)
  table <- proof_table(proofs)
  # the leave-one-out error is a mean, as in the path of a fit
  per <- ifelse(table$criterion == "squared", squared_divisor(problem), 1)
  of_empty_set <- c(penalised = source$total, squared = sum((source$y / (1 - source$leverage))^2))
  null <- unname(of_empty_set[table$criterion])
  table <- data.frame(table[1:2], own = table$own / per, value = table$value / per,
                      null = null / per, bound = table$bound / per,
                      gap = (table$value - table$bound) / null, table[-(1:5)])
  status <- proof_status(proofs)
  better <- which(table$better & table$size == fit$size)
  columns <- lapply(proofs, function(proof) sort(whole_groups(problem, source$first[proof$set])))
  traces <- Map(function(proof, per) proof$trace / c(1, per, per), proofs, per)
  certificate <- list(
    method = fit$method, proofs = table, columns = columns,
    sets = lapply(columns, function(set) problem$columns$name[set]),
    better = if (length(better)) fit_of_set(source, proofs[[better[length(better)]]]$set, call),
    near = near_table(source, roots, proofs), given = source$first[source$given],
    roots = lapply(roots, function(root) root[c("k", "bound", "A")]),
    traces = traces, passes = source$state$columns / length(source$of), lambda = fit$lambda,
    refit_lambda = lambda_of_model(fit, model_of(fit)), fit_size = fit$size, status = status,
    problem = problem, call = call
  )
  warn_if(status == "interrupted", "sparsels_interrupted",
          "interrupted: the certificate has the bounds proved so far")
  seal(structure(certificate, class = c("certificate", "sparsels_result")))
}

squared_divisor <- function(problem) ncol(problem$rows$y) * sum(problem$rows$weight)

# A fit of one set of units.
fit_of_set <- function(source, set, call) {
  problem <- source$problem
  columns <- sort(whole_groups(problem, source$first[set]))
  control <- subset_control(problem, NULL, source$lambda)
  control$k <- length(columns)
  path <- subset_path(problem, control, list(integer(), columns), length(columns))
  new_sparse_fit("best_subset", problem, path, control, call)
}

# For each size that is proved, how many sets are within 1 % of the fall, unless the bound leaves
# too many units open for a quick answer.
near_table <- function(source, roots, proofs) {
  sizes <- vapply(roots, `[[`, 0L, "k")
  done <- Filter(function(proof) proof$criterion == "penalised" && proof$proved, proofs)
  near <- lapply(done, function(proof) {
    root <- roots[[match(proof$size, sizes)]]
    limit <- proof$value + 0.01 * (source$total - proof$value)
    screened <- screened_units(source, root, limit)
    if (length(screened$open) > 1000L) return(NULL)
    search_sets(source, "list", root$k, screened, limit, nodes = 2000, kept = listed_sets)
  })
  done <- done[lengths(near) > 0L]
  near <- Filter(length, near)
  list2DF(list(size = vapply(done, `[[`, 0L, "size"), count = vapply(near, `[[`, 0, "count"),
               counted = vapply(near, `[[`, "", "status") == "complete",
               # units in every set of a list
               in_all = vapply(near, function(found) {
                 if (!is_listed(found)) return(NA_integer_)
                 sum(tabulate(found$sets) == ncol(found$sets))
               }, 0L)))
}

#' @exportS3Method
selected.certificate <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  row <- certified_row(object, size)
  selected_of_set(object$columns[[row]], object$problem$columns$name, NULL, index, lambda,
                  "a certificate is at one lambda")
}

# The row of a certificate for a size: the penalised error, if that was proved.
certified_row <- function(certificate, size) {
  check_sealed(certificate)
  sizes <- unique(certificate$proofs$size)
  if (is.null(size)) size <- if (length(sizes) == 1L) sizes else certificate$fit_size
  stop_argument_if(!is_number(size) || !size %in% sizes,
                   "`size` must be a size of the certificate (%s), not %s", runs_of(sizes),
                   describe(size))
  match(size, certificate$proofs$size)
}

#' @exportS3Method
record.certificate <- function(x) {
  # the proofs of the size of the fit, or of the largest size
  sizes <- x$proofs$size
  own <- x$proofs[sizes == if (x$fit_size %in% sizes) x$fit_size else max(sizes), ]
  list(rows = x$proofs, row = data.frame(
    method = x$method, size = own$size[1L], lambda = x$lambda, proved = all(own$proved),
    better = any(own$better), passes = x$passes
  ), meaning = c(
    "value = error of the best set known; bound = no set of this size has less",
    "certain_in, certain_out = columns in every set as good, or in none; undecided = the others"
  ))
}

# Words -------------------------------------------------------------------------------------------

#' @exportS3Method
print_result.certificate <- function(x, n = 20L, ...) {
  say("certificate: ", x$method, "(), ", counted(nrow(x$problem), "row"), ", ",
      counted(count_units(x$problem), counted_word(x$problem)), ", lambda ",
      shown_parameter(x$lambda))
  if (length(x$given)) say("all sets contain ", some_of(x$problem$columns$name[x$given], 5L))
  if (length(unique(x$proofs$size)) > 1L) {
    proofs <- x$proofs
    text <- data.frame(size = proofs$size, error = unname(criterion_words[proofs$criterion]),
                       value = shown(proofs$value / proofs$null),
                       bound = shown(proofs$bound / proofs$null),
                       proved = ifelse(proofs$proved, "proved", "not proved"),
                       nodes = whole_number(proofs$nodes))
    if (any(proofs$better)) text$better <- ifelse(proofs$better, "better set", "")
    print_filled(utils::head(text, n))
    print_more(nrow(text) - n, "row", "$proofs")
    remark("errors relative to the null model; no set of this size has an error below the bound")
  } else {
    for (i in seq_len(nrow(x$proofs))) say(proof_words(x, x$proofs[i, ]))
    for (line in near_words(x)) say(line)
  }
  if (!is.null(x$better)) {
    by <- x$proofs$criterion[x$proofs$better & x$proofs$size == x$fit_size]
    remark("$better is a fit of the set with the smallest ", criterion_words[[by[length(by)]]])
  }
  remark("a statement about these rows at this lambda, not about new rows", if (
    !is_alike(x$refit_lambda, x$lambda) && x$lambda > 0
  ) sprintf("; the coefficients of the fit are of lambda %s", shown_parameter(x$refit_lambda)))
  print_interrupted(x$status, "nodes")
}

# What a certificate of one size says, in a sentence.
claim_words <- function(x) {
  proofs <- x$proofs
  if (count_sets(x, proofs$size[1L]) == 1) return("every usable column is in the set")
  one <- proofs$size[1L] == 1L
  many <- sprintf("of %s", counted(count_units(x$problem), counted_word(x$problem)))
  if (!one) many <- paste(proofs$size[1L], many)
  many <- paste(many, if (one) "has" else "have")
  words <- criterion_words[proofs$criterion]
  best <- proofs$proved & !proofs$better
  each <- c(
    if (any(best)) sprintf("no other %s a smaller %s", many, paste(words[best], collapse = " or ")),
    vapply(which(!best), function(i) {
      proof <- proofs[i, ]
      share <- shown_apart(proof$value / proof$null, proof$own / proof$null)
      other <- sprintf("another %s the %s %s of the null model's, %s %s", many, words[i],
                       share[1L], if (one) "this one" else "these", share[2L])
      if (proof$proved) return(paste0(other, ": it is the least"))
      fall <- (proof$null - proof$value) / (proof$null - proof$bound)
      sprintf("%swhether %s%s a smaller %s is open (at least %s of the attainable fall)",
              if (proof$better) paste0(other, "; ") else "", if (one) "another " else "", many,
              words[i], floor_percent(fall))
    }, "")
  )
  sprintf("on these rows at lambda %s, of the search, %s", shown_parameter(x$lambda),
          paste(c(each, near_words(x)), collapse = "; "))
}

criterion_words <- c(penalised = "penalised error", squared = "leave-one-out error")

proof_words <- function(x, proof) {
  share <- if (proof$better) shown_apart(proof$value / proof$null, proof$own / proof$null) else
    shown(proof$value / proof$null)
  what <- sprintf("%s %s of the null model's", criterion_words[[proof$criterion]], share[1L])
  if (proof$better) {
    what <- sprintf("%s by a better set than the set of the fit (%s)", what, share[2L])
  }
  count <- count_sets(x, proof$size)
  number <- if (count < 1e6) whole_number(count) else format(count, digits = 2L)
  sets <- sprintf("%s of %d", counted(count, "set", number), proof$size)
  if (proof$proved) return(sprintf("%s: PROVED the least of all %s", what, sets))
  fall <- (proof$null - proof$value) / (proof$null - proof$bound)
  sprintf("%s: NOT proved the least of all %s after %s: none is below %s, at least %s of the %s",
          what, sets, counted_nodes(proof$nodes),
          shown(proof$bound / proof$null), floor_percent(fall), "attainable fall is reached")
}

# The number of sets of a size that have the columns that all sets contain.
count_sets <- function(x, size) {
  given <- length(x$given)
  choose(count_units(x$problem) - given, size - given)
}

# A percentage that is rounded down.
floor_percent <- function(share) marked("%.1f %%", floor(1000 * share) / 10)

counted_nodes <- function(nodes) paste(counted(nodes, "node", whole_number(nodes)), "of the tree")

near_words <- function(x) {
  near <- x$near
  if (!nrow(near)) return(NULL)
  others <- near$count - 1
  within <- "within 1 % of the fall of the penalised error from the null model"
  if (others < 1 && near$counted) return(paste(within, "there is no other set", sep = ", "))
  paste0(within, ", there ", if (others == 1) "is " else "are ", if (!near$counted) "at least ",
         counted(others, "more set", whole_number(others)),
         if (!is.na(near$in_all)) {
           sprintf("; %s in all of them", counted(near$in_all, counted_word(x$problem)))
         })
}

# Picture -----------------------------------------------------------------------------------------

# The errors over their bounds: of several sizes, or of one size against the nodes of the tree.
#' @exportS3Method
picture.certificate <- function(x, ...) {
  proofs <- x$proofs
  several <- length(unique(proofs$size)) > 1L
  data <- if (several) proofs[c("criterion", "size", "value", "bound", "proved")] else
    do.call(rbind, Map(function(criterion, trace) {
      data.frame(criterion, nodes = trace[1L, ], value = trace[3L, ], bound = trace[2L, ])
    }, proofs$criterion, x$traces))
  null <- if (several) proofs$null else proofs$null[match(data$criterion, proofs$criterion)]
  data[c("value", "bound")] <- data[c("value", "bound")] / null
  row.names(data) <- NULL
  layers <- unlist(lapply(unique(data$criterion), function(criterion) {
    rows <- data[data$criterion == criterion, ]
    at <- rows[[if (several) "size" else "nodes"]]
    words <- criterion_words[[criterion]]
    col <- criterion_colours[[criterion]]
    c(if (several) {
        as_layer("points", at, rows$value, col = col, pch = ifelse(rows$proved, 16, 1), main = TRUE)
      },
      as_layer("line", at, rows$value, col = col, lwd = 2, label = words),
      as_layer("line", at, rows$bound, col = col, lty = 3, lwd = 2,
               label = paste("bound of the", words)))
  }), recursive = FALSE)
  new_picture(data, layers, list(
    main = if (!several) plot_title(x) else if (all(data$proved))
      "no set of its size is better" else "no set is below the bound",
    xlab = if (several) paste0("size, in ", counted_word(x$problem), "s") else "nodes of the tree",
    ylab = "error relative to the null model"
  ), list(...))
}

criterion_colours <- c(penalised = "#0072B2", squared = "#D55E00")

# Sets nearly as good ------------------------------------------------------------------------------

#' Which sets are nearly as good?
#'
#' All sets of columns whose penalised error is nearly the least, which columns are in all, in some
#' or in none of them, and what it costs to leave a column out or to put one in.
#'
#' With \eqn{F} the penalised error of [certify()] and \eqn{F^*}{F*} the least of its size, the sets
#' meant are those with \eqn{F(S) \le F^* + w (F(\emptyset) - F^*)}{F(S) <= F* + w (F(empty) -
#' F*)}, \eqn{w} being `within`: they reach all but this share of the fall from the null model to
#' the best set. If the least error was not proved, \eqn{F^*}{F*} is the smallest error known.
#'
#' The bound of the certificate settles most columns at once. The others are settled by listing the
#' sets or, where there are more than 1000, by a search for the best set with the column and for the
#' best without it. The **price** of a column is exact: the least error of the sets with it, or
#' without it, less \eqn{F^*}{F*}, as a share of the fall. Every statement is about these rows at
#' this lambda. A column in all sets need not be relevant on new rows, and a column in none may be:
#' it may be the copy of another one, or its effect may be below `within`.
#'
#' @param cert A result of [certify()] with the penalised error.
#' @param within The share of the fall that sets may lack, from 0 to less than 1; 0.01 by default.
#' @param size A size of the certificate; `NULL` for its only one or the size of the fit.
#' @param without Columns, by name or number, that the sets shall not contain, such as a gene that
#'   no assay measures. Statuses and prices are then about the sets without them, and prices remain
#'   relative to the best set of all.
#' @param cost Prices of the columns, see [column_prices]: the sets are then sorted by their price.
#' @param nodes The largest number of nodes of each tree; `NULL` for 20000.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param ... For `plot()`, graphical parameters such as `main`; otherwise not used.
#'
#' @return An object of class `alternatives`, a list:
#' * `features`: data frame with a row for each column, or group of columns that move together, that
#'   is in some set: `feature` (number), `name`, `status` (`"all"`, `"some"`, or `"open"` where
#'   `nodes` ended the search first), `chosen` (whether it is in the best set), `price_out` and
#'   `price_in`, what it costs to leave it out and to put it in, as shares of the fall (0 where this
#'   costs nothing; `NA` where a search ended first), and `sets`, the number of the listed sets that
#'   contain it.
#' * `none`: how many columns are in none of the sets, `NA` where the bound excludes no column: the
#'   question is then too wide, and `features` has the columns of the sets listed, in which all
#'   other columns may be.
#' * `sets`: data frame of the sets listed, up to 1000: `columns` (list of names), `value`, the
#'   penalised error, `lack`, what it lacks of the fall, and with `cost` the `price`; best first.
#' * `count`, how many sets there are, and `counted`, `FALSE` where there are at least so many.
#' * `size`, `within`, `value`, `null`, `proved` (whether the least error was proved), `lambda`,
#'   `status`, `problem` and `call`.
#'
#' `plot()` draws the prices, a bar for each column, and returns invisibly the data frame drawn.
#'
#' @section Cost: A tree as in [certify()], and one for each undecided column where there are more
#'   than 1000 sets: fractions of a second on thousands of genes for 1 % of the fall at the default
#'   lambdas, minutes for 5 %.
#'
#' @section Errors: `sparsels_error_input` for a certificate without the penalised error, `within`
#'   below 0 or from 1 on, and columns of `start` in `without`.
#'
#' @references Semenova, L., Rudin, C., Parr, R. (2022). On the existence of simpler machine
#' learning models. ACM Conference on Fairness, Accountability, and Transparency, 1827-1858.
#' \doi{10.1145/3531146.3533232}
#' @seealso [certify()]; [stability_selection()], which columns other samples choose; [exchange()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 300), 60, dimnames = list(NULL, paste0("gene", 1:300)))
#' x[, 9] <- x[, 7] + rnorm(60) / 4
#' y <- x[, 7] - x[, 50] + rnorm(60)
#' proof <- certify(greedy_rls(x, y, k = 4, size = 2), x, y)
#' near <- alternatives(proof, within = 0.05)
#' near
#' near$sets$columns
#' plot(near)
#' @export
alternatives <- function(cert, within = 0.01, size = NULL, without = NULL, cost = NULL,
                         nodes = NULL, progress = interactive(), ...) {
  check_given(cert, "cert")
  refuse_unless(is_number(within) && within >= 0 && within < 1, "within",
                "a number from 0 to less than 1", within)
  check_flag(progress, "progress")
  nodes <- check_nodes(nodes)
  check_dots(..., known = names(formals(alternatives)))
  refuse_unless(inherits(cert, "certificate"), "cert", "a result of certify()", cert)
  row <- certified_row(cert, size)
  stop_argument_if(cert$proofs$criterion[row] != "penalised",
                   "`cert` has no penalised error: make it with `criterion = \"penalised\"`")
  problem <- cert$problem
  without <- if (length(without)) in_context("`without`", columns_given(without, problem)) else
    integer()
  new_alternatives(cert, near_sets(cert, row, within, without, nodes, progress), within, without,
                   check_cost(cost, problem), short_call(match.call()))
}

# The sets near the best set of a row of a certificate, and the prices of their columns.
near_sets <- function(cert, row, within, without, nodes, progress) {
  proof <- cert$proofs[row, ]
  source <- certified_source(cert$problem, cert$lambda, cert$given)
  out <- set_units(source, intersect(without, source$terms$columns))
  stop_argument_if(any(out %in% source$given), "`without` has a column that all sets contain")
  source$free <- setdiff(source$free, out)
  near <- list(source = source, k = proof$size, best = set_units(source, cert$columns[[row]]),
               out = out, fall = source$total - proof$value, value = proof$value,
               proved = proof$proved)
  near$limit <- near$value + within * near$fall
  near$found <- list(sets = matrix(0L, near$k, 0L), values = numeric(), count = 0,
                     status = "complete", nodes = 0)
  bar <- progress_bar(progress, "Listing sets", steady = FALSE)
  if (length(source$free) + length(source$given) >= near$k) {
    # of a root its A alone was kept
    root <- cert$roots[[match(proof$size, unique(cert$proofs$size))]]
    if (is.null(source$whole)) {
      root$gain <- unit_gains(source, list(root$A))[, 1L]
      root$bound <- dual_bound(source, root$A, root$gain, root$k)
    } else {
      root <- whole_root(root$k, source)
    }
    near$screened <- screened_units(source, root, near$limit)
    near$found <- search_sets(source, "list", near$k, near$screened, near$limit, nodes = nodes,
                              kept = listed_sets, progress = bar)
  }
  # where the bound excludes nothing, a tree for each column would take hours
  near$too_wide <- !is_listed(near$found) && !length(near$screened$outside)
  near$units <- if (is_listed(near$found)) units_of_list(near) else if (near$too_wide)
    units_of_list(near, complete = FALSE) else units_by_trees(near, nodes, bar)
  near$units$price_out <- prices_out(near, nodes)
  near
}

# The units of some set with their status, and what it costs to put each in, by the sets listed. Of
# a list that is not complete the prices and units of other sets are not known.
units_of_list <- function(near, complete = TRUE) {
  sets <- near$found$sets
  unit <- sort(unique(c(sets)))
  count <- tabulate(match(sets, unit), length(unit))
  least <- vapply(unit, function(u) min(near$found$values[colSums(sets == u) > 0L]), 0)
  status <- ifelse(complete & count == ncol(sets), "all", "some")
  price_in <- share_of_fall(near, least)
  if (!complete) price_in[!unit %in% near$best] <- NA
  list2DF(list(unit = unit, status = status, price_in = price_in, sets = count))
}

# What an error lacks of the fall. Differences by rounding are 0.
share_of_fall <- function(near, value) {
  lack <- pmax(0, value - near$value)
  ifelse(lack <= proof_margin(near$source), 0, lack) / near$fall
}

# The same where there are too many sets: the best set with each undecided unit, where the search
# begins with the best of the sets listed.
units_by_trees <- function(near, nodes, progress) {
  screened <- near$screened
  listed <- near$found$sets[, order(near$found$values), drop = FALSE]
  part <- tree_part(near$source, screened)
  each <- lapply(screened$open, function(u) {
    if (near$source$state$stopped) return(list(set = integer(), status = "interrupted"))
    known <- which(colSums(listed == u) > 0L)
    search_sets(near$source, "penalised", near$k, list(inside = c(screened$inside, u)), near$limit,
                if (length(known)) listed[, known[1L]] else integer(), nodes = nodes,
                progress = progress, part = part)
  })
  value <- vapply(each, function(found) if (length(found$set)) found$value else Inf, 0)
  ended <- vapply(each, `[[`, "", "status") != "complete"
  inside <- c(near$source$given, screened$inside)
  kept <- value <= near$limit | ended
  unit <- c(inside, screened$open[kept])
  status <- ifelse(value <= near$limit, "some", "open")[kept]
  price_in <- share_of_fall(near, ifelse(ended, NA, value))[kept]
  list2DF(list(unit = unit, status = c(rep("all", length(inside)), status),
               price_in = c(rep(0, length(inside)), price_in),
               sets = tabulate(match(near$found$sets, unit), length(unit))))
}

# What it costs to leave each unit out: nothing if the best set is without it. NA for units that the
# user's `start` put into every set, and where the search ended first.
prices_out <- function(near, nodes) {
  best <- list(set = near$best, value = near$value, proved = TRUE)
  if (any(near$out %in% near$best) && nrow(near$units)) best <- best_without(near, integer(), nodes)
  vapply(near$units$unit, function(u) {
    if (u %in% near$source$given || near$source$state$stopped) return(NA_real_)
    without <- near$found$values[colSums(near$found$sets == u) == 0L]
    if (is_listed(near$found) && length(without)) return(share_of_fall(near, min(without)))
    found <- if (u %in% best$set) best_without(near, u, nodes) else best
    if (found$proved) share_of_fall(near, found$value) else NA_real_
  }, 0)
}

# The best set without a unit.
best_without <- function(near, unit, nodes) {
  source <- near$source
  source$free <- setdiff(source$free, unit)
  if (length(source$free) + length(source$given) < near$k) return(list(proved = FALSE))
  set <- intersect(near$best, c(source$given, source$free))
  set <- c(set, utils::head(setdiff(source$free, set), near$k - length(set)))
  root <- proof_roots(source, near$k, list(set))[[1L]]
  proof_of(source, root, "penalised", Inf, list(set), nodes, NULL)
}

# The result of alternatives() ---------------------------------------------------------------------

new_alternatives <- function(cert, near, within, without, cost, call) {
  problem <- cert$problem
  names_of <- function(units) unit_names(problem, near$source$first[units])
  units <- near$units
  columns <- near$source$first[units$unit]
  best <- units$unit %in% near$best
  features <- list2DF(list(
    feature = columns, name = unit_names(problem, columns), status = units$status, chosen = best,
    price_out = units$price_out, price_in = units$price_in, sets = units$sets
  ))
  features <- features[order(features$status, -features$price_out, features$price_in), ]
  none <- count_units(problem) - nrow(features) - length(near$out)
  row.names(features) <- NULL
  found <- near$found
  sets <- list2DF(list(
    columns = lapply(seq_len(ncol(found$sets)), function(i) names_of(sort(found$sets[, i]))),
    value = found$values, lack = share_of_fall(near, found$values)
  ))
  if (!is.null(cost)) {
    sets$price <- vapply(seq_len(ncol(found$sets)), function(i) {
      price_of(cost, whole_groups(problem, near$source$first[found$sets[, i]]))
    }, 0)
  }
  sets <- sets[order(if (is.null(cost)) 0 * sets$value else sets$price, sets$value), ]
  row.names(sets) <- NULL
  status <- if (near$source$state$stopped) "interrupted" else
    if (found$status == "move_limit") "node_limit" else found$status
  warn_if(status == "interrupted", "sparsels_interrupted",
          "interrupted: the sets and prices found so far")
  seal(structure(list(
    features = features, none = if (near$too_wide) NA_integer_ else none,
    sets = sets, count = found$count, counted = found$status == "complete", size = near$k,
    within = within, value = near$value, null = near$source$total, proved = near$proved,
    lambda = cert$lambda, without = problem$columns$name[without], method = cert$method,
    status = status, problem = without_x(problem), call = call
  ), class = c("alternatives", "sparsels_result")))
}

#' @exportS3Method
print_result.alternatives <- function(x, n = 20L, ...) {
  words <- counted_word(x$problem)
  say("alternatives: sets of ", counted(x$size, words), " within ", format(100 * x$within),
      " % of the fall of the penalised error, lambda ", shown_parameter(x$lambda))
  if (length(x$without)) say("without ", some_of(x$without, 5L))
  if (!x$proved) say("the best set is not proved to be the best: others are compared with it")
  if (!x$count && x$counted) return(say("there is no such set"))
  counts <- table(factor(x$features$status, c("all", "some", "open")))
  in_sets <- c(all = "in all of them", some = "in some", open = "in some or none (not settled)")
  each <- sprintf("%s %s", vapply(counts, counted, "", words), in_sets[names(counts)])[counts > 0L]
  if (!is.na(x$none)) each <- c(each, sprintf("%s in none", whole_number(x$none)))
  say(if (!x$counted) "at least ", counted(x$count, "set", whole_number(x$count)), ": ",
      paste(each, collapse = ", "), if (is.na(x$none)) {
        sprintf("; too many for more, as the bound excludes no %s: give a smaller `within`", words)
      })
  percent <- function(share) {
    ifelse(is.na(share), "", ifelse(share == 0, "0", marked("%.2g %%", 100 * share)))
  }
  text <- utils::head(x$features, n)
  text <- data.frame(name = text$name, `in` = text$status, best = ifelse(text$chosen, "*", ""),
                     `out costs` = percent(text$price_out), `in costs` = percent(text$price_in),
                     check.names = FALSE)
  print_filled(fitting_names(text))
  print_more(nrow(x$features) - n, words, "$features")
  remark(paste("* in the best set; costs: what the best set without the column, or with it, lacks",
               "of the fall of the best set"))
  print_interrupted(x$status, "nodes")
}

#' @exportS3Method
record.alternatives <- function(x) {
  list(rows = x$features, row = data.frame(
    method = x$method, size = x$size, lambda = x$lambda, within = x$within, sets = x$count,
    counted = x$counted, all = sum(x$features$status == "all"),
    some = sum(x$features$status == "some"), none = x$none
  ), meaning = paste("price_out, price_in = error of the best set without or with the column less",
                     "the least error, as a share of the fall from the null model"))
}

# A bar for each column: what it costs to leave it out, or to put it in.
#' @exportS3Method
picture.alternatives <- function(x, ...) {
  data <- x$features[c("name", "status", "chosen", "price_out", "price_in")]
  data$price <- 100 * ifelse(data$chosen, data$price_out, data$price_in)
  data <- utils::head(data[!is.na(data$price), ], 40L)
  stop_input_if(!nrow(data), "there is no such set: there is nothing to draw")
  row.names(data) <- NULL
  height <- rev(seq_len(nrow(data)))
  bars <- unlist(lapply(c(TRUE, FALSE), function(chosen) {
    rows <- data$chosen == chosen
    as_layer("rects", 0 * data$price[rows], height[rows] - 0.4, x2 = data$price[rows],
             y2 = height[rows] + 0.4, col = price_colours[[if (chosen) "out" else "in"]],
             label = if (chosen) "in the best set: price of leaving it out" else
               "not in it: price of putting it in")
  }), recursive = FALSE)
  ticks <- pretty(c(0, data$price))
  new_picture(data, bars, list(
    main = sprintf("sets of %s within %s %% of the best", counted(x$size, counted_word(x$problem)),
                   format(100 * x$within)),
    xlab = "price, in % of the fall of the penalised error", ylab = "",
    xlim = c(0, max(data$price, 1e-6))
  ), list(...), list(x = ticks_at(ticks, ticks), y = ticks_of(rev(shortened(data$name, 20L, 8L)))))
}

price_colours <- c(out = "#0072B2", `in` = "#E69F00")
