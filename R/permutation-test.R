#' Is a selection better than chance?
#'
#' Runs a method again and again on permuted responses: how small would its cross-validated error be
#' if the response had nothing to do with the columns? The whole selection is repeated, so that the
#' p-value holds however strongly the method selects.
#'
#' The statistic is the smallest error on the path relative to that of the model without columns of
#' `x` (the null model),
#' \deqn{T(y) = \min_s \frac{\mathrm{error}_s(y)}{\mathrm{error}_0(y)},}{
#' T(y) = min over sizes s of error_s(y) / error_0(y),}
#' where the error is the criterion of the method, or the cross-validated error of the whole
#' procedure for a method called with `size = "cv"`. 1 less the area under the ROC curve, or less
#' \eqn{R^2}, counts as an error; of a criterion of your own of which more is better the difference
#' from the null model's is taken. With \eqn{P} permutations the p-value is
#' \eqn{(1 + \#\{T(y_b) \le T(y)\}) / (P + 1)}{(1 + #{T(y_b) <= T(y)}) / (P + 1)}: where the rows
#' are exchangeable, it is at most \eqn{\alpha}{alpha} with probability at most \eqn{\alpha}{alpha},
#' whatever the method does. The p-values by size compare the errors of that size alone and are not
#' adjusted for each other. A small p-value says that there is something, not how good the model is:
#' for that see [cross_validate()].
#'
#' **What is permuted.** A case weight travels with its response. With `strata`, responses are
#' permuted within each stratum: patients of one hospital, rows of one batch. With covariates
#' (`adjust`), the residuals of the null model are permuted and added to its fitted values (Freedman
#' and Lane 1983), which is exact only if the covariates are without effect, and nearly so in
#' general. Classes are then their codes -1 and 1, as numbers, with `task = "regression"`.
#'
#' **Defaults of the method.** What depends on the response must be chosen anew, inside the method,
#' for each permutation. To be quick, [greedy_rls()] and its kin, the methods with an argument
#' `refit`, are called with `k = 20` (or as many columns as the rows allow), `size = "criterion"`
#' and `refit = FALSE` where these are not given: one search for each response, at a lambda that
#' does not depend on it.
#'
#' The permutations run on the plan set by `future::plan()` when the package future.apply is
#' installed, else one after the other. Each has its own stream of random numbers: `set.seed()`
#' before the call gives the same result under any plan. Ctrl-C returns the permutations already
#' done, with a warning of class `sparsels_interrupted`.
#'
#' @param x,y,data The data, in any form that [as_problem()] takes: a matrix (dense or sparse) and
#'   its response; a formula and data; an experiment of Bioconductor, such as a
#'   `SummarizedExperiment`, and the name of its response; or an earlier problem. For `print()` and
#'   `plot()`, `x` is the result.
#' @param method A function such as [greedy_rls] that fits a path of models from the null model on
#'   and gives their errors: any method of the package that chooses columns, such as [poss], or
#'   [l1_path] with `folds`.
#' @param ... Further arguments of the method, and of [as_problem()]: `weights`, `subset`,
#'   `na.action`, `adjust`, `intercept`, `standardize`, `task`, `assay`, `make_unique`. For
#'   `plot()`, graphical parameters such as `ylim` and `main`.
#' @param permutations Number of permutations \eqn{P}, at most a million. The smallest p-value there
#'   can be is \eqn{1 / (P + 1)}.
#' @param strata `NULL`, or a vector with one value for each row: rows are exchangeable within each
#'   value only.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#'
#' @return An object of class `permutation_test`, a list:
#' * `p.value`, `statistic`: that of \eqn{T}, and \eqn{T(y)}.
#' * `by_size`: data frame, a row for each size: `size`, `statistic`, the error relative to the null
#'   model's, `p.value`, and `lower` and `upper`, between which 90 % of the permutations are.
#' * `null`: \eqn{T} of each permutation.
#' * `null_by_size`: matrix, permutations by sizes; where a path has no model of a size, the next
#'   smaller one counts.
#' * `method`, `fit` (on the data as they are), `permuted` (what was, in words), `problem` (without
#'   its x), `status` (`"complete"` or `"interrupted"`), `call`.
#'
#' `plot()` draws the errors of the path in the band of 90 % of the permutations, and returns
#' invisibly the data frame drawn.
#'
#' @section Cost: One fit for each permutation.
#'
#' @section Errors: `sparsels_error_input` for bad arguments, and for a method whose fit is no path
#' or has no errors. An error inside a method keeps its class and says in which permutation it was.
#'
#' @references Freedman, D., Lane, D. (1983). A nonstochastic interpretation of reported
#' significance levels. Journal of Business and Economic Statistics 1, 292-298.
#' \doi{10.1080/07350015.1983.10509354}
#'
#' Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical
#' Applications in Genetics and Molecular Biology 9, article 39. \doi{10.2202/1544-6115.1585}
#'
#' @seealso [cross_validate()], which estimates how good a model is
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
                             strata = NULL, progress = interactive()) {
  check_given(x, "x")
  check_flag(progress, "progress")
  run <- as_run(x, y, method, ..., data = data,
                said = list(y = substitute(y), method = substitute(method)),
                known = c("permutations", "strata", "progress"))
  permutations <- check_count(permutations, "permutations", 1e6)
  run <- quick_run(run)
  null <- null_response(run$problem)
  run$problem <- null$problem
  strata <- check_strata(strata, run$problem)
  fit <- fit_run(run)
  observed <- relative_errors(fit)
  done <- repeat_tasks(permutations, "permutation", function(i) {
    order <- permuted_rows(strata, nrow(run$problem))
    relative_errors(suppressWarnings(
      fit_method(run$method, permuted_problem(null, order), run$arguments), own_warnings
    ))
  }, progress)
  new_permutation_test(run, fit, observed, done, permutations, null, strata,
                       short_call(match.call()))
}

# The run with arguments that make greedy search and its kin quick, where the user says nothing.
quick_run <- function(run) {
  if (!"refit" %in% names(formals(run$method))) return(run)
  quick <- list(k = min(first_k, subset_bound(run$problem)$upper), size = "criterion",
                refit = FALSE)
  run$arguments <- c(run$arguments, quick[setdiff(names(quick), names(run$arguments))])
  run
}

check_strata <- function(strata, problem) {
  if (is.null(strata)) return(NULL)
  m <- nrow(problem)
  if (!(is.atomic(strata) && length(strata) == m && !anyNA(strata))) {
    refuse("strata", sprintf("a vector of %s, without missing values", counted(m, "value")), strata)
  }
  match(strata, unique(strata))
}

# Permuted responses ------------------------------------------------------------------------------

# What is permuted: the response itself or, with covariates, the residuals of the null model; in
# `words` what that is.
null_response <- function(problem) {
  if (ncol(problem$z) == problem$intercept) {
    return(list(problem = problem, fitted = 0 * problem$y, residuals = problem$y,
                words = "responses"))
  }
  if (problem$task != "regression") {
    stop_input(paste("with covariates in `adjust` residuals are permuted, which are no classes:",
                     "use `task = \"regression\"`, and classes as numbers"),
               "sparsels_error_argument")
  }
  fitted <- problem$z %*% covariate_solver(problem)(problem$y)
  list(problem = problem, fitted = fitted, residuals = problem$y - fitted,
       words = "residuals of the covariates")
}

# The places that the responses of the rows go to.
permuted_rows <- function(strata, m) {
  if (is.null(strata)) return(sample.int(m))
  order <- seq_len(m)
  for (rows in split(order, strata)) order[rows] <- rows[sample.int(length(rows))]
  order
}

permuted_problem <- function(null, order) {
  problem <- null$problem
  problem$y[] <- null$fitted + null$residuals[order, , drop = FALSE]
  reweighted(problem, problem$weights[order])
}

# The statistic -----------------------------------------------------------------------------------

# Errors of every size relative to that of size 0: list(size, errors).
relative_errors <- function(fit) {
  sizes <- if (inherits(fit, "sparse_fit")) size_table(fit)
  errors <- sizes[[if (is.null(sizes$cv)) "criterion" else "cv"]]
  if (is.null(errors)) {
    stop_input("`method` must return a path of models with their errors, as greedy_rls() does",
               "sparsels_error_method")
  }
  list(size = sizes$size, errors = relative_error(fit$criterion, errors))
}

# Of a criterion between 0 and 1 of which more is better the rest is an error; of a user's own the
# difference counts.
relative_error <- function(criterion, value) {
  if (!criterion$higher) return(value / value[1L])
  if (criterion$name %in% c("auc", "r_squared", "dev_ratio")) return((1 - value) / (1 - value[1L]))
  value[1L] - value
}

new_permutation_test <- function(run, fit, observed, done, wanted, null, strata, call) {
  # a path without a model of some size has that of the next smaller one
  by_size <- vapply(done, function(one) {
    one$errors[pmax(findInterval(observed$size, one$size), 1L)]
  }, observed$errors)
  by_size <- t(matrix(by_size, length(observed$size)))
  smallest <- vapply(done, function(one) min(one$errors, na.rm = TRUE), 0)
  statistic <- min(observed$errors, na.rm = TRUE)
  band <- apply(by_size, 2L, stats::quantile, probs = c(0.05, 0.95), na.rm = TRUE, names = FALSE)
  structure(list(
    method = run$name, p.value = chance_of(matrix(smallest), statistic), statistic = statistic,
    by_size = data.frame(
      size = observed$size, statistic = observed$errors,
      p.value = chance_of(by_size, observed$errors), lower = band[1L, ], upper = band[2L, ]
    ),
    null = smallest, null_by_size = by_size,
    permuted = paste0(null$words, if (!is.null(strata)) {
      sprintf(", within each of %d strata", max(strata))
    }),
    fit = fit, problem = without_x(run$problem), call = call,
    status = if (length(done) < wanted) "interrupted" else "complete"
  ), class = "permutation_test")
}

# p-values: how often a permutation is as good as what was observed, which counts as one of them.
# `null` has a column for each of `observed`. Equal up to rounding is as good.
chance_of <- function(null, observed) {
  as_good <- null <= rep(observed * (1 + 1e-9), each = nrow(null))
  (1 + colSums(as_good, na.rm = TRUE)) / (nrow(null) + 1)
}

# Print and picture -------------------------------------------------------------------------------

#' @rdname permutation_test
#' @exportS3Method
print.permutation_test <- function(x, ...) {
  check_object(x)
  count <- length(x$null)
  say("permutation test of ", x$method, ": ", format(count, big.mark = ","),
      " permutations of the ", x$permuted)
  say("smallest error on the path: ", shown(x$statistic), " of that of the null model, p-value ",
      format(x$p.value, digits = 2))
  remark(sprintf("of the permutations %d had one as small; their median is %s",
                 as.integer(round(x$p.value * (count + 1))) - 1L, shown(stats::median(x$null))))
  print_data(x$problem)
  table <- utils::head(x$by_size, 8L)
  table[-1L] <- lapply(table[-1L], signif, 3L)
  print(table, row.names = FALSE)
  more <- nrow(x$by_size) - nrow(table)
  if (more > 0L) cat("... and ", counted(more, "more size"), ", all in $by_size\n", sep = "")
  remark("statistic = error relative to the null model's; p.value = of that size alone; between ",
         "lower and upper are 90 % of the permutations")
  if (x$status == "interrupted") cat("interrupted: the result is that of the permutations done\n")
  invisible(x)
}

#' @exportS3Method
plot_data.permutation_test <- function(x, ...) x$by_size # nolint: object_name_linter.

#' @rdname permutation_test
#' @importFrom graphics plot
#' @exportS3Method
plot.permutation_test <- function(x, ...) {
  check_object(x)
  data <- plot_data(x)
  words <- list(main = sprintf("%s: p-value %s", x$method, format(x$p.value, digits = 2)),
                xlab = "number of features", ylab = "error relative to the null model",
                ylim = range(data$statistic, data$lower, data$upper, na.rm = TRUE))
  do.call(graphics::plot, utils::modifyList(
    c(list(x = data$size, y = data$statistic, type = "n"), words), list(...)
  ))
  graphics::polygon(c(data$size, rev(data$size)), c(data$lower, rev(data$upper)), col = "grey88",
                    border = NA)
  graphics::lines(data$size, data$statistic, type = "b", pch = 16, lwd = 2, col = "#D55E00")
  legend_above(c("the data", "90 % of the permutations"), col = c("#D55E00", "grey80"), lty = 1,
               lwd = c(2, 8), pch = c(16, NA), seg.len = 2)
  invisible(data)
}
