#' Is a selection better than chance?
#'
#' Runs a method on permuted responses: how small would its error be if the response were unrelated
#' to the columns? The whole selection is repeated, so the p-value is valid however strongly the
#' method selects.
#'
#' The statistic is the smallest error on the path relative to the error of the model without
#' columns of `x` (the null model),
#' \deqn{T(y) = \min_s \frac{\mathrm{error}_s(y)}{\mathrm{error}_0(y)},}{ T(y) = min over sizes s of
#' error_s(y) / error_0(y),} where the error is the criterion of the method, or the cross-validated
#' error of the whole procedure for a method called with `size = "cv"`. 1 minus the area under the
#' ROC curve, or 1 minus \eqn{R^2}, is used as an error. A criterion of your own may be negative, so
#' its difference from the null model is used, an improvement being negative. With \eqn{P}
#' permutations the p-value is \eqn{(1 + \#\{T(y_b) \le T(y)\}) / (P + 1)}{(1 + #{T(y_b) <= T(y)}) /
#' (P + 1)}: if the columns are unrelated to the response and the permuted rows or groups are
#' exchangeable, it is at most \eqn{\alpha}{alpha} with probability at most \eqn{\alpha}{alpha}, for
#' any method. The p-values by size compare the errors of one size, and are not adjusted for several
#' sizes. A small p-value shows that the columns are related to the response. It does not show which
#' columns are, see [stability_selection()], or how good the model is, see [cross_validate()].
#'
#' **What is permuted.** By default rows are exchangeable. `print()` shows what was permuted. A case
#' weight is permuted with its response.
#' * With `strata`, responses are permuted within each stratum: patients of one hospital, rows of
#'   one batch.
#' * With `groups`, such as the samples of each patient, the rows of a group stay together. If the
#'   response is constant in every group and all weights are equal, groups exchange their response
#'   whatever their numbers of rows, which must then not depend on the response. Otherwise groups of
#'   the same number of rows exchange all their responses, in the order of the rows, and a group
#'   with no other of its size keeps its own. If all groups of as many rows have the same responses,
#'   such as a row before and a row after a treatment of each patient, or a case and its controls,
#'   responses are permuted within groups. If
#'   groups differ and a treatment within them is of interest, give them as `strata` and
#'   `groups = FALSE`. If the rows of a group are similar, a test that
#'   permutes single rows rejects too often. The method holds whole groups out, too, see
#'   [row_groups].
#' * With covariates (`adjust`), the residuals of the null model are permuted and added to its
#'   fitted values (Freedman and Lane 1983). The p-value is then approximate, and close to exact
#'   with many rows, or groups, to a covariate. Classes must be given as numbers, with
#'   `task = "regression"`. Within `strata` in which every covariate is constant, classes and the
#'   responses of any loss are permuted themselves, which is exact.
#'
#' **Defaults of the method.** Choices that depend on the response must be repeated inside the
#' method for each permutation. To be quick, methods with an argument `refit`, such as
#' [greedy_rls()], are called with `k = 20` (or as many columns as the rows allow), `size =
#' "criterion"` and `refit = FALSE` unless these are given: one search for each response, at a
#' lambda that does not depend on it.
#'
#' The permutations run on a future plan and can be interrupted, see [parallel_runs].
#'
#' @param x,y,data The data, in any form of [as_problem()]: a matrix and its response, a formula and
#'   data, an experiment of Bioconductor and the name of its response, or an earlier problem. For
#'   `print()` and `plot()`, `x` is the result.
#' @param method A function such as [greedy_rls] that fits a path of models from the null model on
#'   and gives their errors: any method of the package that chooses columns, such as [poss], or
#'   [l1_path] with `folds`. Of `greedy_rls(loss = "cox")` the search of log times is tested, if it
#'   chooses the columns.
#' @param ... Further arguments of the method, and of [as_problem()]: `r problem_dots()`. For
#'   `plot()`, graphical parameters such as `ylim` and `main`.
#' @param permutations Number of permutations \eqn{P}, at most a million. The smallest p-value there
#'   can be is \eqn{1 / (P + 1)}.
#' @param strata `NULL`, or a vector with one value for each row: rows are exchangeable within each
#'   value only.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the permutations, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `permutation_test`, a list:
#' * `p.value`, `statistic`: the p-value of \eqn{T}, and \eqn{T(y)}.
#' * `by_size`: data frame, a row for each size: `size`, `statistic`, the error relative to the null
#'   model's, `p.value`, and `lower` and `upper`, the 5 % and 95 % quantiles of the permutations.
#' * `null`: \eqn{T} of each permutation.
#' * `null_by_size`: matrix, permutations by sizes; where a path has no model of a size, the next
#'   smaller one counts.
#' * `method`, `fit` (on the data as they are), `permuted` (what was, in words), `problem` (without
#'   its x), `status` (`"complete"` or `"interrupted"`), `call`.
#'
#' `plot()` draws the errors of the path in the band of 90 % of the permutations, and returns
#' invisibly the data frame drawn.
#'
#' @section Cost: One fit for each permutation. Searches that differ only in the response share
#' computations on `x`, and take a quarter to three quarters of the time of single fits. This holds
#' for [greedy_rls()] with `search = "forward"`, `size = "criterion"`, `refit = FALSE`, one
#' `lambda`, equal weights, `folds` given row by row or leave-one-out, and any criterion except
#' `"auc"` and your own. The results are the same. Of [curves] of 10000 rows or more and other
#' columns that move together, `x` is multiplied once for 25 permutations, and ten folds take the
#' place of leave-one-out in the default call of [greedy_rls()], see [search_cost].
#'
#' @section Errors: `sparsels_error_input` for bad arguments, for strata or groups that leave
#' nothing to permute, and for a method whose fit is no path or has no errors. An error inside a
#' method keeps its class and says in which permutation it was.
#'
#' @references Freedman, D., Lane, D. (1983). A nonstochastic interpretation of reported
#' significance levels. Journal of Business and Economic Statistics 1, 292-298.
#' \doi{10.1080/07350015.1983.10509354}
#'
#' Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical
#' Applications in Genetics and Molecular Biology 9, article 39. \doi{10.2202/1544-6115.1585}
#'
#' @seealso [cross_validate()], which estimates how good a model is; [stability_selection()], which
#'   columns are chosen again and again; [judge()], both and more in one call
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' tumour <- factor(ifelse(x[, 7] - x[, 50] + rnorm(40) / 2 > 0, "yes", "no"))
#' permutation_test(x, tumour, greedy_rls, k = 5, permutations = 99)
#' nothing <- sample(tumour)
#' tested <- permutation_test(x, nothing, greedy_rls, k = 5, permutations = 99)
#' tested
#' plot(tested)
#' @export
permutation_test <- function(x, y = NULL, method = NULL, ..., data = NULL, permutations = 1000,
                             strata = NULL, progress = interactive(), BPPARAM = NULL) {
  run <- as_run(x, y, method, ..., data = data)
  permutations <- check_count(permutations, "permutations", 1e6)
  run <- quick_run(column_search(run))
  strata <- permutation_strata(run$problem, check_strata(strata, run$problem))
  null <- null_response(run$problem, run_loss(run), strata)
  exchange <- exchange_of(null, group_numbers(run$problem), strata)
  fit <- fit_run(run)
  observed <- relative_errors(fit)
  done <- if (is_shared_search(run, fit)) {
    searched_errors(fit, null, exchange, permutations, progress, BPPARAM)
  } else {
    repeat_tasks(permutations, "permutation", function(i) {
      permuted <- permuted_problem(null, permuted_rows(exchange))
      relative_errors(suppressWarnings(fit_run(run, permuted), own_warnings))
    }, progress, BPPARAM)
  }
  new_permutation_test(run, fit, observed, done, permutations,
                       permuted_words(null, exchange, permutations), short_call(match.call()))
}

# The run with arguments that make greedy search and the other selection methods fast, where the
# user does not set them. The sizes leave room for the columns that a search begins with. A backward
# search has no other sizes. Of curves of many rows, products know the errors of folds.
quick_run <- function(run) {
  if (!all(c("size_folds", "refit") %in% names(formals(run$method)))) return(run)
  size <- min(first_k, subset_bound(run$problem)$upper)
  start <- length(run$arguments$start)
  backward <- start > 0L && identical(run$arguments$search, "backward")
  wanted <- list(k = if (backward) start else max(size, start), size = "criterion", refit = FALSE)
  if (is_of_many_rows(run$problem) && is.null(run$arguments$folds)) {
    own <- names(run$arguments) %in% c("loss", "criterion", "search", "cost")
    wanted$folds <- do.call(folds_of_products, c(list(run$problem), run$arguments[own]))
    if (!identical(wanted$folds, "loo")) run$by_row <- c(run$by_row, "folds")
  }
  with_defaults(run, wanted)
}

# Permuted responses ------------------------------------------------------------------------------

# The values that are permuted: the response itself or, with covariates, the residuals of the null
# model. Responses that have no residuals are permuted where covariates are constant within strata.
# `words` names the values. `with_offset` is whether the offset goes with the response.
null_response <- function(problem, loss = "squared", strata = NULL) {
  no <- why_not_permuted(problem, loss)
  constant <- !is.null(no) && !is.null(strata) &&
    all(problem$z == problem$z[match(strata, strata), , drop = FALSE])
  if (has_intercept_only(problem) || constant) {
    return(list(problem = problem, fitted = 0 * problem$rows$y, residuals = problem$rows$y,
                words = "responses", with_offset = is_likelihood(loss)))
  }
  stop_argument_if(!is.null(no), "%s", no)
  fitted <- problem$z %*% covariate_solver(problem)(problem$rows$y)
  list(problem = problem, fitted = fitted, residuals = problem$rows$y - fitted,
       words = "residuals given the covariates")
}

# Why the responses of a problem cannot be permuted, or NULL.
why_not_permuted <- function(problem, loss = "squared") {
  if (has_intercept_only(problem)) return()
  likely <- is_likelihood(loss)
  if (!likely && problem$coding$task == "regression") return()
  sprintf(paste("with covariates or columns of penalty 0 residuals are permuted, which are no %s:",
                "give permutation_test() `strata` in which these are constant, or use %s"),
          if (likely) losses[[loss]]$needs else "classes",
          if (likely) "`loss = \"squared\"`" else "`task = \"regression\"`, and classes as numbers")
}

# Which responses may be exchanged. Rows of one group stay together. Each element of `sets` holds
# groups whose responses may be exchanged. Where the response is constant in every group and all
# weights are equal (`whole`), groups of different sizes may be exchanged, otherwise only groups of
# the same size. Row i has the response of row `place[i]` of a group. `start` is the start of each
# group in `rows`, the rows in the order of their groups. `trained` has the rows of positive weight.
# The others keep their response and are in no set.
exchange_of <- function(null, groups, strata) {
  trained <- trained_places(null$problem)
  m <- length(trained)
  renumbered <- function(labels) if (!is.null(labels)) as.integer(factor(labels[trained]))
  groups <- renumbered(groups)
  strata <- renumbered(strata)
  within <- is.null(strata) && !is.null(groups) && has_like_groups(null$problem, groups)
  if (within) {
    strata <- groups
    groups <- NULL
  }
  group <- if (is.null(groups)) seq_len(m) else groups
  stratum <- if (is.null(strata)) rep(1L, m) else strata
  size <- tabulate(group)
  first <- match(seq_along(size), group)
  own_first <- first[group]
  astray <- which(stratum != stratum[own_first])[1L]
  stop_argument_if(!is.na(astray),
                   "each of `groups` must lie in one stratum, but rows %d and %d are of one %s",
                   trained[own_first[astray]], trained[astray], "group in two strata")
  weighted <- length(unique(case_weights(null$problem)[trained])) > 1L
  residuals <- null$residuals[trained, , drop = FALSE]
  spread <- abs(residuals - residuals[own_first, , drop = FALSE])
  whole <- !weighted && max(spread) <= 1e-9 * max(abs(residuals))
  sets <- split(seq_along(size), list(stratum[first], if (whole) 1L else size), drop = TRUE)
  place <- if (whole) rep(1L, m) else stats::ave(seq_len(m), group, FUN = seq_along)
  exchange <- list(group = group, sets = sets, whole = whole, rows = trained[order(group)],
                   order = seq_len(nrow(null$problem)), trained = trained,
                   start = cumsum(size) - size, place = place, strata = max(stratum),
                   grouped = !is.null(groups), stratified = !is.null(strata), within = within,
                   weighted = weighted)
  if (all(lengths(sets) == 1L)) stop_nothing_to_permute(exchange)
  exchange
}

# Whether groups of as many rows have the same responses, such as pairs of a row before and a row
# after a treatment, or a case and its controls. An exchange between these would change nothing.
has_like_groups <- function(problem, groups) {
  response <- do.call(paste, as.data.frame(problem$rows$y[trained_places(problem), , drop = FALSE]))
  different <- unique(lapply(split(response, groups), sort))
  length(different) < max(groups) && !anyDuplicated(lengths(different)) &&
    any(vapply(different, function(own) length(unique(own)) > 1L, NA))
}

stop_nothing_to_permute <- function(exchange) {
  reason <- if (exchange$whole || !exchange$grouped) {
    members <- if (exchange$grouped) "groups" else "rows"
    if (exchange$stratified) paste("no stratum has two", members) else "there is a single group"
  } else {
    paste0("no two groups", if (exchange$stratified) " of a stratum",
           " have the same number of rows, as they must where ",
           if (exchange$weighted) "weights differ" else "responses differ within a group")
  }
  stop_argument(paste("nothing can be permuted:", reason))
}

# For each row the number of the row whose response it gets.
permuted_rows <- function(exchange) {
  source <- seq_along(exchange$start)
  for (set in exchange$sets) source[set] <- set[sample.int(length(set))]
  permuted <- exchange$rows[exchange$start[source[exchange$group]] + exchange$place]
  replace(exchange$order, exchange$trained, permuted)
}

permuted_response <- function(null, order) {
  y <- null$problem$rows$y
  y[] <- null$fitted + null$residuals[order, , drop = FALSE]
  y
}

permuted_problem <- function(null, order) {
  problem <- null$problem
  problem$rows$y <- permuted_response(null, order)
  if (isTRUE(null$with_offset) && !is.null(problem$rows$offset)) {
    problem$rows$offset <- problem$rows$offset[order, , drop = FALSE]
  }
  if (is_survival(problem)) {
    own <- intersect(c("start", "time", "event"), names(problem$rows))
    problem$rows[own] <- if (null$words == "responses") problem$rows[order, own]
  }
  reweighted(problem, case_weights(problem)[order])
}

# Many responses in one call ----------------------------------------------------------------------

# Whether the searches of a fit and of every permutation differ in the response only, and every
# response has a value of the criterion, so that greedy_paths() can be used.
is_shared_search <- function(run, fit) {
  given <- run$arguments
  drawn <- !is.null(given$folds) && !identical(given$folds, "loo") && !"folds" %in% run$by_row
  identical(run$method, greedy_rls) && is_squared(fit) && identical(given$size, "criterion") &&
    isFALSE(given$refit) && length(given$lambda) < 2L && !identical(given$lambda, "full") &&
    fit$control$search == "forward" && !fit$criterion$name %in% c("auc", "concordance", "user") &&
    !is_of_groups(fit$criterion$name) && !drawn && length(unique(run$problem$rows$weight)) == 1L &&
    !has_screened_pairs(run$problem)
}

# relative_errors() of the permutations that repeat_tasks() would draw.
searched_errors <- function(fit, null, exchange, permutations, progress, BPPARAM) {
  control <- c(fit$control, list(criterion = fit$criterion, folds = fit$folds))
  control$progress <- FALSE
  streams <- task_streams(permutations)
  batches <- split(streams, ceiling(seq_along(streams) / responses_at_once))
  done <- run_tasks(length(batches), function(i) {
    responses <- lapply(batches[[i]], function(stream) {
      permuted_response(null, with_stream(stream, permuted_rows(exchange)))
    })
    paths <- greedy_paths(null$problem, control, control$lambda, responses)
    stopped <- vapply(paths, function(path) path$status == "interrupted", NA)
    if (length(paths) < length(responses) || any(stopped)) raise_interrupt()
    lapply(paths, function(path) {
      sizes <- path$path[vapply(without_null(path$models), `[[`, 0L, "row"), ]
      list(size = sizes$size, errors = change_of_error(fit$criterion, sizes$criterion))
    })
  }, "Permutations", random = FALSE, progress, BPPARAM)
  done <- unlist(done, recursive = FALSE)
  if (length(done) < permutations) warn_interrupted(length(done), permutations, "permutation")
  done
}

# Ctrl-C loses at most this number of permutations.
responses_at_once <- 25

# The statistic -----------------------------------------------------------------------------------

# Errors of every size relative to the error of size 0: list(size, errors).
relative_errors <- function(fit) {
  sizes <- if (!is.null(chosen_features(fit))) size_table(fit)
  errors <- sizes[[error_column(sizes)]]
  stop_input_if(is.null(errors),
                "`method` must return a path of models with their errors, as greedy_rls() does",
                class = "sparsels_error_method")
  list(size = sizes$size, errors = change_of_error(error_criterion(fit), errors))
}

# the error of the whole procedure, if the procedure was repeated in folds
error_column <- function(path) if (is.null(path$cv)) "criterion" else "cv"

error_criterion <- function(fit) {
  if (error_column(fit$path) == "cv") fit$cv_criterion else fit$criterion
}

# Errors relative to the first error. For a user's own criterion, which may have any sign,
# differences from the first.
change_of_error <- function(criterion, value) {
  if (criterion$name != "user") return(relative_error(criterion, value))
  loss <- criterion_loss(criterion, value)
  loss - loss[1L]
}

new_permutation_test <- function(run, fit, observed, done, wanted, permuted, call) {
  # a size without a model in the path has the model of the next smaller size
  by_size <- vapply(done, function(one) {
    one$errors[pmax(findInterval(observed$size, one$size), 1L)]
  }, observed$errors)
  by_size <- t(matrix(by_size, length(observed$size)))
  smallest <- vapply(done, function(one) min(one$errors, na.rm = TRUE), 0)
  statistic <- min(observed$errors, na.rm = TRUE)
  band <- apply(by_size, 2L, stats::quantile, probs = c(0.05, 0.95), na.rm = TRUE, names = FALSE)
  new_result("permutation_test", list(
    method = run$name, p.value = chance_of(matrix(smallest), statistic), statistic = statistic,
    by_size = data.frame(
      size = observed$size, statistic = observed$errors,
      p.value = chance_of(by_size, observed$errors), lower = band[1L, ], upper = band[2L, ]
    ),
    null = smallest, null_by_size = by_size, permuted = permuted, by_times = run$by_times, fit = fit
  ), run$problem, call, length(done) == wanted)
}

# Words -------------------------------------------------------------------------------------------

# The name of the permuted values, and the number of permutations where it is smaller than the
# number drawn.
permuted_words <- function(null, exchange, permutations) {
  alone <- sum(lengths(exchange$sets) == 1L)
  count <- count_permutations(null, exchange)
  paste0(
    null$words,
    if (exchange$grouped) sprintf(" of %d groups of rows", length(exchange$start)),
    if (exchange$grouped && !exchange$whole) ", between groups of the same number of rows",
    if (exchange$stratified) sprintf(", within each of %d %s", exchange$strata,
                                     if (exchange$within) "groups" else "strata"),
    if (exchange$within && length(unique(lengths(exchange$sets))) == 1L) {
      " (which all have the same responses)"
    } else if (exchange$within) {
      " (groups of as many rows have the same responses)"
    },
    if (alone > 0L) sprintf(" (%s no other to exchange with)",
                            paste(counted(alone, if (exchange$grouped) "group" else "row"),
                                  if (alone == 1L) "has" else "have")),
    if (count < permutations) sprintf(" (only %s)", counted(count, "different one"))
  )
}

# The number of different permutations, where responses and weights that are equal count as one.
count_permutations <- function(null, exchange) {
  rows <- do.call(paste, as.data.frame(cbind(null$residuals, null$problem$rows$weight)))
  content <- if (exchange$whole) rows[exchange$rows[exchange$start + 1L]] else
    vapply(split(rows[exchange$trained], exchange$group), paste, "", collapse = "; ")
  round(exp(sum(vapply(exchange$sets, function(set) {
    alike <- tabulate(match(content[set], content[set]))
    lfactorial(length(set)) - sum(lfactorial(alike))
  }, 0))))
}

# The meaning of a statistic, in words.
statistic_words <- function(fit) {
  criterion <- error_criterion(fit)
  label <- if (is.null(criterion$label)) paste("cross-validated", criterion$words) else
    criterion$label
  if (criterion$name == "user") {
    order <- if (criterion$higher) "%s of the null model minus its value at a size" else
      "%s minus its value for the null model"
    return(sprintf(order, label))
  }
  if (!criterion$higher) return(paste(label, "relative to the null model"))
  sprintf("1 - %s, relative to the null model", label)
}

# The lambda of all models whose errors are compared, if it is one lambda and not 0.
search_lambda_words <- function(fit) {
  one <- path_key(fit) == "size" && is.null(fit$path$refit_lambda) &&
    length(fit$lambda_table$lambda) < 2L && isTRUE(fit$lambda > 0)
  if (one) paste(", at lambda", shown_parameter(fit$lambda))
}

# Print and picture -------------------------------------------------------------------------------

#' @exportS3Method
print_result.permutation_test <- function(x, n = 8L, ...) {
  count <- length(x$null)
  say("permutation test of ", x$method, ": ", whole_number(count),
      " permutations of the ", x$permuted)
  print_data(x$problem)
  as_small <- count_as_small(x$p.value, count)
  say(sprintf("p-value %s: %d of the permutations %s as small an error on the path",
              format(x$p.value, digits = 2), as_small, if (as_small == 1L) "has" else "have"))
  remark("smallest error: ", shown(x$statistic), ", median of the permutations: ",
         shown(stats::median(x$null)))
  remark("error: ", statistic_words(x$fit), search_lambda_words(x$fit), if (isTRUE(x$by_times))
    ", by which the columns of the Cox model are searched")
  table <- utils::head(x$by_size, n)
  table[-1L] <- lapply(table[-1L], signif, 3L)
  print_filled(table)
  print_more(nrow(x$by_size) - nrow(table), "size", "$by_size")
  print_interrupted(x$status, "permutations")
}

#' @exportS3Method
record.permutation_test <- function(x) {
  list(rows = x$by_size, row = data.frame(method = x$method, statistic = x$statistic,
                                          p.value = x$p.value, permutations = length(x$null)),
       meaning = paste("statistic = error of that size; p.value = of that size alone;",
                       "lower to upper: 90 % of the permutations"))
}

#' @exportS3Method
picture.permutation_test <- function(x, ...) {
  data <- x$by_size
  layers <- c(
    as_layer("points", data$size, data$statistic, col = mark_colour, label = "the data"),
    as_layer("line", data$size, data$statistic, col = mark_colour, lwd = 2, label = "the data"),
    as_layer("band", data$size, data$lower, y2 = data$upper, col = "grey88",
             label = "90 % of the permutations")
  )
  words <- list(main = sprintf("%s: p-value %s", x$method, format(x$p.value, digits = 2)),
                xlab = sprintf("number of %ss", chosen_word(x$fit)),
                ylab = "error relative to the null model")
  new_picture(data, layers, words, list(...))
}
