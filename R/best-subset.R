#' Best subset selection of every size, proven optimal
#'
#' Finds, for every size up to `k`, the set of columns whose least-squares or ridge model fits best,
#' and proves by branch and bound that no set of that size fits better.
#'
#' The set \eqn{S} of size \eqn{s} is the one with the largest
#' \deqn{R^2(S) = \frac{b_S' (C_{SS} + \lambda I)^{-1} b_S}{y'y} = 1 - \min_B \frac{\sum_j w_j
#' \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2}{y'y}}{
#' R^2(S) = b_S' (C_SS + lambda I)^-1 b_S / y'y
#' = 1 - min_B (sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2) / y'y}
#' where \eqn{C = X'X} and \eqn{b = X'y} are those of the standardised columns and the response
#' less what the covariates, the intercept among them, explain of them. With `lambda = 0` this is
#' the usual R-squared (adjusted for the covariates); over several outputs, classes too, both parts
#' of the ratio are summed.
#'
#' **Search.** Each size starts from the best that greedy selection and exchanges of single columns
#' find. A tree of sets is then searched on Schur complements of X'X. The gain of a set together
#' with all candidates that may still join it bounds that of all sets below it; at each node the
#' candidates are ordered to make these bounds small, and a branch is left out when its bound does
#' not exceed the best set found. The last three additions are scanned by a closed form.
#'
#' **Limits.** When `nodes` run out or on Ctrl-C the fit holds the best sets found, and `fit$proof`
#' a bound that no set of the size exceeds. `fit$status` is then `"node_limit"` or `"interrupted"`.
#' With more columns than rows all columns together explain everything: the search is still exact,
#' but prunes late and is feasible for small `k` only.
#'
#' **Ties.** R-squared values within 1e-12 are equal, and the search does not look for the first of
#' equal sets in any order. Of identical columns the lowest is taken. A column whose part outside
#' the span of a set is below 1e-10 of its square adds nothing, so for `lambda = 0` copies are never
#' chosen together, and the path ends at the largest size at which the columns are independent. For
#' `lambda` above 0 a copy does lower the penalty, and may be chosen.
#'
#' @inheritParams greedy_rls
#' @param k Largest size, between 1 and the smaller of the usable columns and one less than the rows
#'   without covariates. `NULL`, the default: that number, but at most 10.
#' @param lambda Ridge parameter of at least 0, on the scale of [greedy_rls()].
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, `"1se"`, or a number, see [greedy_rls()]; `"criterion"`, the default, is
#'   the largest of at most `k`, as the training error only falls.
#' @param nodes Number of at least 1: how many sets the search of one size may branch from. Unlike
#'   a limit of time it gives the same result on every machine. A set with n candidates costs
#'   O(n^3).
#'
#' @return An object of class `sparse_fit`, see [sparse_fit], with a row of `fit$path` for each size
#'   from 0 to `k`; its `action` is `"found"` and its `feature` `NA`, since the sets need not be
#'   nested. `criterion` is the R-squared above, `squared` the leave-one-out mean squared error.
#'   The chosen size is the largest. `fit$proof` is a data frame with a row for each size from 1:
#'   \item{size}{number of columns}
#'   \item{r_squared}{of the set found}
#'   \item{bound}{no set of that size has a larger one}
#'   \item{gap}{`bound - r_squared`; 0 when the set is proven to be the best}
#'   \item{nodes}{how many sets were branched from}
#'
#' @section Cost: Exponential in `k` at worst. Half a second or less for all sizes up to 8 of 60
#' strongly correlated columns and 104 rows; milliseconds for 34 columns and 175 rows. Memory: up to
#' `k` matrices of n x n doubles. More than 5792 usable columns are refused. Ctrl-C is seen within
#' about a tenth of a second.
#'
#' @section Errors: As for [greedy_rls()]; `lambda` below 0, `nodes` below 1, too many columns.
#'
#' @references Furnival, G. M., Wilson, R. W. (1974). Regressions by leaps and bounds. Technometrics
#' 16(4), 499-511. \doi{10.1080/00401706.1974.10489231}
#'
#' Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization. Advances in Neural
#' Information Processing Systems 28, 1774-1782.
#' @seealso [poss()] for many columns
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, dimnames = list(NULL, letters[1:20]))
#' y <- x[, 2] - x[, 5] + x[, 9] + rnorm(60)
#' fit <- best_subset(x, y, k = 5)
#' fit
#' fit$proof
#' selected(fit, 3)
#' @export
best_subset <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, nodes = Inf,
                        size = "criterion", size_folds = 10, progress = interactive()) {
  problem <- fitter_problem(x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  if (!(is_number(nodes) && nodes >= 1)) refuse("nodes", "a number of at least 1", nodes)
  control$nodes <- as.double(nodes)
  control$progress <- check_flag(progress, "progress")
  usable <- sum(problem$usable)
  if (usable > whole_gram) {
    stop_input(sprintf("`x` must have at most %d usable columns for an exact search, not %d",
                       whole_gram, usable))
  }
  fit <- sized_fit("best_subset", problem, control, best_path, short_call(match.call()))
  fit$proof <- best_proof(fit, fit$found)
  fit$found <- NULL
  fit
}

best_path <- function(problem, control) {
  found <- best_search(problem, control)
  steps <- data.frame(action = c("start", rep("found", length(found$sets))), feature = NA_integer_)
  path <- subset_path(problem, control, c(list(integer()), found$sets), steps,
                      length(found$sets), found$status)
  list(c(path, list(found = found)))
}

# The best sets of size 1, 2, ... and what is proven of them.
best_search <- function(problem, control) {
  terms <- gram_terms(problem, whole = TRUE)
  bar <- progress_bar(control$progress, "Searching subsets")
  answer <- .Call(C_best_subset, terms, list(
    lambda = control$lambda, k = control$k, nodes = control$nodes, threads = 1L, judge = NULL,
    progress = bar
  ))
  sizes <- seq_len(answer$ends[2L])
  status <- c("complete", NA, "interrupted", "node_limit")[answer$ends[1L] + 1L]
  set <- matrix(answer$set, control$k)
  sets <- lapply(sizes, function(s) terms$columns[set[seq_len(s), s] + 1L])
  list(sets = sets, status = status, bound = answer$bound[sizes] / terms$total,
       proven = (answer$bound == answer$gain)[sizes], nodes = answer$nodes[sizes])
}

best_proof <- function(fit, found) {
  r_squared <- size_table(fit)$criterion[-1L]
  bound <- ifelse(found$proven, r_squared, pmin(1, pmax(r_squared, found$bound)))
  data.frame(size = seq_along(bound), r_squared = r_squared, bound = bound,
             gap = bound - r_squared, nodes = found$nodes)
}
