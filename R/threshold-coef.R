#' Remove the small coefficients of interior-point solutions
#'
#' An interior point has a non-zero coefficient for every column it was given, most of them very
#' small. This sets to zero those that do not matter to the accuracy that was asked for.
#'
#' `rule = "tr"` removes, for each lambda, all coefficients up to the largest threshold that keeps
#' the objective good. With \eqn{g} the gradient of the loss at the solution, \eqn{\delta} the
#' change, minus the coefficients removed, and `gap` the solution's duality gap, the condition is
#' \deqn{\frac{c}{2} \| A \delta \|^2 + g'\delta \le (\alpha - 1) \, gap,}{
#' c/2 ||A delta||^2 + g'delta <= (alpha - 1) gap,}
#' where \eqn{A} are the weighted columns and \eqn{c} is 1 for the lasso and 1/4, the largest second
#' derivative, for the logistic loss. The left side is the most that the loss can grow by. Then the
#' duality gap is at most `alpha` times what it was, and the objective, with \eqn{\varepsilon}{eps}
#' the gap relative to the optimum, at most \eqn{1 + \alpha \varepsilon}{1 + alpha eps} times the
#' optimum. This is (38) of El Ghaoui and others, with the square that is missing there and its
#' right side put more simply. Coefficients of equal size go together.
#'
#' `rule = "exact"` sets against it what the penalty falls by: the same promise, and fewer columns
#' stay. For the lasso the condition is then on the very change of the objective.
#'
#' `rule = "kkt"` removes a coefficient when its column's product with the residual is at most
#' 0.9999 lambda, which at the optimum it is for no coefficient but zero. This promises nothing:
#' unless the gap is very small (1e-8), columns that matter go.
#'
#' The covariates' coefficients stay as they are; columns are counted as centred, so that the
#' intercept of the user's scale follows.
#'
#' @param fit A fit of [l1_path()] with `solver = "ipm"`.
#' @param rule `"tr"`, `"exact"` or `"kkt"`.
#' @param alpha By how much the gap may grow, at least 1: the more, the fewer columns stay. Not
#'   used by `"kkt"`.
#'
#' @return The fit with fewer coefficients: `path` has the new `size`, and in addition `threshold`,
#'   the largest absolute coefficient removed (in units of the standardised columns), and
#'   `removed`, how many. `objective` and `gap` are those of the smaller models, for logistic
#'   regression an upper bound of them. `fitted` and held-out figures are those from before.
#'
#' @section Cost: O(n log n) for each lambda; what is needed of x is in the fit.
#' @section Errors: `fit` is none of `l1_path(solver = "ipm")`; `alpha` below 1.
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
    one <- solutions[[i]]
    cut <- switch(rule,
      tr = tr_cut(one, (alpha - 1) * max(path$gap[i], 0)),
      exact = tr_cut(one, (alpha - 1) * max(path$gap[i], 0), path$lambda[i]),
      kkt = kkt_cut(one, path$lambda[i])
    )
    gone <- cut$gone
    if (!any(gone)) next
    fewer <- cut$change - path$lambda[i] * sum(abs(one$beta[gone]))
    path$objective[i] <- path$objective[i] + fewer
    path$gap[i] <- path$gap[i] + fewer
    path$explained[i] <- path$explained[i] - cut$change / fit$null
    path$threshold[i] <- max(abs(one$beta[gone]))
    path$removed[i] <- sum(gone)
    parts <- c("features", "beta", "corr", "spill")
    solutions[[i]][parts] <- lapply(one[parts], `[`, !gone)
  }
  if (fit$criterion$name == "explained") path$criterion <- path$explained
  fit$path <- path
  l1_refit(fit, solutions)
}

check_thresholdable <- function(fit) {
  check_given(fit, "fit")
  if (inherits(fit, "l1_path")) check_object(fit)
  check_given(fit, "fit")
  fine <- inherits(fit, "l1_path") && identical(fit$control$solver, "ipm")
  if (!fine) {
    what <- if (inherits(fit, "l1_path")) "one whose zeros are exact already" else describe(fit)
    refuse("fit", "a fit of `l1_path(solver = \"ipm\")`", what)
  }
  if ("removed" %in% names(fit$path)) stop_input("`fit` has been thresholded before")
}

# Which coefficients go, and how much that adds to the loss at most: as many as it may, from the
# smallest on. What the penalty falls by is set against it with its lambda.
tr_cut <- function(solution, most, lambda = 0) {
  size <- abs(solution$beta)
  sorted <- order(size)
  change <- solution$spill[sorted] + cumsum((solution$beta * solution$corr)[sorted])
  last_of_equals <- !duplicated(size[sorted], fromLast = TRUE)
  count <- max(0L, which(last_of_equals & change - lambda * cumsum(size[sorted]) <= most))
  if (count == 0L) return(list(gone = logical(length(size))))
  list(gone = size <= size[sorted[count]], change = change[count])
}

# (37)
kkt_cut <- function(solution, lambda) {
  list(gone = kkt_gone(solution$corr, lambda), change = solution$kkt)
}
