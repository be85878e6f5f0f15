#' Set small coefficients of interior-point solutions to zero
#'
#' An interior-point method gives a nonzero coefficient to every column, most of them very small.
#' `threshold_coef()` sets to zero those that can be removed within a given increase of the duality
#' gap.
#'
#' `rule = "tr"` removes, for each lambda, all coefficients up to the largest threshold that meets a
#' condition. With \eqn{g} the gradient of the loss at the solution, \eqn{\delta}{delta} the change
#' of the coefficients (minus those removed), and `gap` the duality gap of the solution, it is
#' \deqn{\frac{c}{2} \| A \delta \|^2 + g'\delta \le (\alpha - 1) \, gap,}{ c/2 ||A delta||^2 +
#' g'delta <= (alpha - 1) gap,} where \eqn{A} are the weighted columns and \eqn{c} is 1 for the
#' lasso and 1/4, the largest second derivative, for the logistic loss. The left side is an upper
#' bound of the increase of the loss. The duality gap is then at most `alpha` times the gap before,
#' and the objective, with \eqn{\varepsilon}{eps} the gap relative to the optimum, at most \eqn{1 +
#' \alpha \varepsilon}{1 + alpha eps} times the optimum. This is (38) of El Ghaoui and others, with
#' the square that is missing there and a simpler right-hand side. Coefficients of equal size are
#' removed together.
#'
#' `rule = "exact"` also subtracts the decrease of the penalty on the left side: the same guarantee
#' with fewer columns. For the lasso the left side is then the exact change of the objective.
#'
#' `rule = "kkt"` removes a coefficient if the absolute product of its column with the residual is
#' at most 0.9999 lambda, which at the optimum is true only of zero coefficients. It guarantees
#' nothing: unless the gap is very small (1e-8), columns with nonzero coefficients at the optimum
#' are removed.
#'
#' The coefficients of the covariates are unchanged for centred columns, so that the intercept on
#' the user's scale changes accordingly.
#'
#' @param fit A fit of [l1_path()] with `solver = "ipm"`.
#' @param rule Which coefficients are set to zero: `"tr"` (the default), `"exact"` or `"kkt"`, see
#'   Details.
#' @param alpha Largest factor by which the duality gap may increase, a number of at least 1; 2 by
#'   default. Larger values leave fewer columns. Not used by `"kkt"`.
#'
#' @return The fit with fewer coefficients: `path` has the new `size`, and in addition `threshold`,
#'   the largest absolute coefficient removed (of the standardised columns), and `removed`, the
#'   number of coefficients removed. `objective` and `gap` belong to the smaller models, for
#'   logistic regression as upper bounds. `fitted` and held-out errors are not recomputed.
#'
#' @section Cost: O(n log n) time for each lambda; `x` is not needed.
#' @section Errors: `fit` is not one of `l1_path(solver = "ipm")`, or was thresholded before;
#'   `alpha` below 1.
#'
#' @references El Ghaoui, L., Viallon, V., Rabbani, T. (2010). Safe feature elimination in sparse
#' supervised learning. Technical report UCB/EECS-2010-126, University of California, Berkeley.
#' @seealso [l1_path()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 60), 40)
#' y <- x[, 3] - x[, 8] + rnorm(40)
#' fit <- l1_path(x, y, solver = "ipm", tolerance = 1e-4, nlambda = 5)
#' threshold_coef(fit)$path[, c("lambda", "size", "removed")]
#' @export
threshold_coef <- function(fit, rule = "tr", alpha = 2) {
  check_thresholdable(fit)
  check_choice(rule, "rule", c("tr", "exact", "kkt"))
  check_positive(alpha, "alpha")
  if (alpha < 1) refuse("alpha", "a number of at least 1", alpha)
  path <- fit$path
  path[c("threshold", "removed")] <- list(0, 0L)
  solutions <- fit$solutions
  for (i in seq_along(solutions)) {
    solution <- solutions[[i]]
    cut <- switch(rule,
      tr = tr_cut(solution, (alpha - 1) * max(path$gap[i], 0)),
      exact = tr_cut(solution, (alpha - 1) * max(path$gap[i], 0), path$lambda[i]),
      kkt = kkt_cut(solution, path$lambda[i])
    )
    removed <- cut$removed
    if (!any(removed)) next
    increase <- cut$change - path$lambda[i] * sum(abs(solution$beta[removed]))
    path$objective[i] <- path$objective[i] + increase
    path$gap[i] <- path$gap[i] + increase
    path$dev_ratio[i] <- path$dev_ratio[i] - cut$change / fit$null_objective
    path$threshold[i] <- max(abs(solution$beta[removed]))
    path$removed[i] <- sum(removed)
    parts <- c("features", "beta", "corr", "second_order")
    solutions[[i]][parts] <- lapply(solution[parts], `[`, !removed)
  }
  if (fit$criterion$name == "dev_ratio") path$criterion <- path$dev_ratio
  fit$path <- path
  l1_refit(fit, solutions)
}

check_thresholdable <- function(fit) {
  check_given(fit, "fit")
  if (inherits(fit, "l1_path")) check_sealed(fit)
  check_given(fit, "fit")
  fine <- inherits(fit, "l1_path") && identical(fit$control$solver, "ipm")
  if (!fine) {
    what <- if (inherits(fit, "l1_path")) "one whose zeros are exact already" else describe(fit)
    refuse("fit", "a fit of `l1_path(solver = \"ipm\")`", what)
  }
  if ("removed" %in% names(fit$path)) stop_input("`fit` has been thresholded before")
}

# list(removed: which coefficients, change: an upper bound of the increase of the loss). The
# smallest coefficients are removed, as many as the bound allows. With `lambda` the decrease of the
# penalty is subtracted from the bound.
tr_cut <- function(solution, allowed, lambda = 0) {
  size <- abs(solution$beta)
  sorted <- order(size)
  change <- solution$second_order[sorted] + cumsum((solution$beta * solution$corr)[sorted])
  last_of_equals <- !duplicated(size[sorted], fromLast = TRUE)
  count <- max(0L, which(last_of_equals & change - lambda * cumsum(size[sorted]) <= allowed))
  if (count == 0L) return(list(removed = logical(length(size))))
  list(removed = size <= size[sorted[count]], change = change[count])
}

# the coefficients removed by the rule "kkt", (37) of the paper
kkt_cut <- function(solution, lambda) {
  list(removed = kkt_removed(solution$corr, lambda), change = solution$kkt)
}
