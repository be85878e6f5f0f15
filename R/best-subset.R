#' Best subset selection by branch and bound
#'
#' Finds, for every size up to `k`, the set of columns whose least-squares or ridge model has the
#' largest R-squared, with a proof that no set of that size has a larger one.
#'
#' The set \eqn{S} of size \eqn{s} is the one with the largest
#' \deqn{R^2(S) = \frac{b_S' (C_{SS} + \lambda I)^{-1} b_S}{y'y} = 1 - \min_B \frac{\sum_j w_j
#' \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2}{y'y}}{
#' R^2(S) = b_S' (C_SS + lambda I)^-1 b_S / y'y
#' = 1 - min_B (sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2) / y'y}
#' where \eqn{C = X'X} and \eqn{b = X'y} are cross products of the weighted standardised columns and
#' response, residualised on the covariates (the intercept is one). With `lambda = 0` this is the
#' usual R-squared, partial given the covariates; for several responses or classes, numerator and
#' denominator are sums over them.
#'
#' **Search.** For each size, greedy selection and exchanges of single columns give a first set. A
#' tree of sets is then searched on Schur complements of X'X. The gain of a set together with all
#' candidates that may still be added is an upper bound of the gain of all sets in its branch. At
#' each node the candidates are ordered to make these bounds small. A branch is pruned when its
#' bound does not exceed the best set found. The last three additions are evaluated in closed form.
#'
#' **Limits.** At the limit `nodes` and after Ctrl-C, the fit has the best sets found, and
#' `fit$proof` has an upper bound of the R-squared of each size. `fit$status` is then `"node_limit"`
#' or `"interrupted"`, and the `action` of the sizes that are not proven is `"stopped"`. With more
#' columns than rows all columns together have an R-squared of 1: the search is still exact, but
#' prunes little and is feasible for small `k` only. Sets of up to three columns have no nodes and
#' are always proven.
#'
#' **Ties.** R-squared values within 1e-12 are equal, and which of equal sets is found is not
#' specified. Of identical columns the lowest is chosen. A column whose residual sum of squares
#' given a set is below 1e-10 of its sum of squares is collinear with the set and adds nothing. With
#' `lambda = 0` copies of a column are therefore never selected together, and the path ends at the
#' largest size at which the columns are independent. With `lambda` above 0 a copy lowers the
#' penalty, and may be selected.
#'
#' @inheritParams greedy_rls
#' @param k Largest size, between 1 and the smaller of the number of usable columns and the number
#'   of rows less the covariates less one. `NULL`, the default: that number, but at most 10.
#' @param lambda Ridge parameter, a number of at least 0, on the scale of [greedy_rls()]; 0 by
#'   default.
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, `"1se"`, or a number, see [size_rule]; `"criterion"`, the default, is
#'   the largest size of at most `k`, since the training error decreases with the size.
#' @param nodes Largest number of nodes of the tree (sets that are branched from) for each size, a
#'   number of at least 1, `Inf` for no limit. Unlike a time limit it gives the same result on every
#'   machine. A node with n candidates costs O(n^3), so `NULL`, the default, is `floor(2e11 / n^3)`
#'   for n usable columns: a second or two a size. If that limit is reached there is a warning of
#'   class `sparsels_warning_limit`.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit], with a row of `fit$path` for each size
#'   from 0 to `k`; its `action` is `"found"`, or `"stopped"` if the set is not proven to be the
#'   best, and its `feature` `NA`, since the sets need not be nested. `criterion` is the R-squared
#'   above, `squared` the leave-one-out mean squared error.
#'   By default the chosen size is the largest. `fit$proof` is a data frame with a row for each size
#'   from 1:
#'   \item{size}{number of columns}
#'   \item{r_squared}{R-squared of the set found}
#'   \item{bound}{an upper bound of the R-squared of all sets of that size}
#'   \item{gap}{`bound - r_squared`; 0 when the set is proven to be the best}
#'   \item{nodes}{number of nodes searched}
#'
#' @section Cost: Exponential in `k` at worst. Half a second or less for all sizes up to 8 of 60
#' strongly correlated columns and 104 rows; milliseconds for 34 columns and 175 rows. Memory: up to
#' `k` matrices of n x n doubles. Ctrl-C takes effect within about a tenth of a second.
#'
#' @section Errors: As for [greedy_rls()]; `lambda` below 0, `nodes` below 1, more than 5792 usable
#'   columns; without `nodes`, `k` above 3 and more than 668 usable columns, since the default
#'   number of nodes is then below the number of columns, and not even the sets of four could be
#'   searched.
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
best_subset <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, nodes = NULL,
                        size = "criterion", size_folds = 10, progress = interactive(),
                        BPPARAM = NULL) {
  problem <- fitter_problem("best_subset", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  control$progress <- check_flag(progress, "progress")
  usable <- sum(problem$usable)
  if (usable > whole_gram) {
    stop_input(sprintf("`x` must have at most %d usable columns for an exact search, not %d",
                       whole_gram, usable))
  }
  control$nodes <- if (is.null(nodes)) default_nodes(usable, control$k) else check_nodes(nodes)
  fit <- sized_fit("best_subset", problem, control, best_path, short_call(match.call()),
                   BPPARAM = BPPARAM)
  fit$proof <- best_proof(fit, fit$found)
  fit$found <- NULL
  if (is.null(nodes) && fit$status == "node_limit") {
    warn_sparsels(status_words(fit), "sparsels_warning_limit")
  }
  seal(fit)
}

check_nodes <- function(nodes) {
  if (!(is_number(nodes) && nodes >= 1)) refuse("nodes", "a number of at least 1", nodes)
  as.double(nodes)
}

# The default number of nodes, which takes a second or two for each size. Of n columns, sets of four
# take up to n nodes, and larger sets take more: with a lower limit an exact search has no prospect.
# bench/limits.R has measurements.
default_nodes <- function(n, k) {
  limit <- floor(2e11 / n^3)
  if (k > 3L && limit < n) {
    stop_input(sprintf(paste(
      "an exact search for sets of up to %d of %d columns is not feasible: choose %d columns or",
      "fewer first, take `k = 3`, search without a proof by poss() or sequential_replacement(),",
      "or give `nodes` for the best sets found within that number"
    ), k, n, floor(2e11^(1 / 4))), "sparsels_error_argument")
  }
  limit
}

best_path <- function(problem, control) {
  search <- best_search(problem, control)
  action <- ifelse(search$proven, "found", "stopped")
  steps <- list(action = c("start", action), feature = rep(NA_integer_, length(action) + 1L))
  path <- subset_path(problem, control, c(list(integer()), search$sets), steps,
                      length(search$sets), search$status)
  list(c(path, list(found = search)))
}

# The best sets of size 1, 2, ..., with upper bounds and whether each set is proven optimal.
best_search <- function(problem, control) {
  terms <- gram_terms(problem, whole = TRUE)
  bar <- progress_bar(control$progress, "Searching subsets", steady = FALSE)
  answer <- .Call(C_best_subset, terms, list(
    lambda = control$lambda, k = control$k, nodes = control$nodes, threads = 1L, user_loss = NULL,
    progress = bar
  ))
  sizes <- seq_len(answer$sizes)
  status <- if (answer$status == "move_limit") "node_limit" else answer$status
  set <- matrix(answer$set, control$k)
  sets <- lapply(sizes, function(s) terms$columns[set[seq_len(s), s] + 1L])
  list(sets = sets, status = status, bound = answer$bound[sizes] / terms$total,
       proven = (answer$bound == answer$gain)[sizes], nodes = answer$nodes[sizes])
}

best_proof <- function(fit, search) {
  r_squared <- size_table(fit)$criterion[-1L]
  bound <- ifelse(search$proven, r_squared, pmin(1, pmax(r_squared, search$bound)))
  list2DF(list(size = seq_along(bound), r_squared = r_squared, bound = bound,
               gap = bound - r_squared, nodes = search$nodes))
}
