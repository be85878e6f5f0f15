#' L1-penalised model with a given number of variables
#'
#' Searches for a lambda whose solution has a given number of nonzero coefficients, up to a
#' tolerance, solving for few lambdas.
#'
#' * `search = "custom"` solves for lambda_max / 5, lambda_max / 25, ... until there are more than
#'   `size` columns, and then bisects the interval between the last two.
#' * `search = "standard"` bisects the interval from `lambda_min_ratio` lambda_max to lambda_max.
#'
#' Models are computed by `solver = "cd"`, since an interior point gives small nonzero coefficients
#' that cannot be counted. Both searches end as soon as the number of columns is within `range` of
#' `size`. The first starts with large penalties because models with few columns are fast to compute
#' and to screen for. Every solution is started from the solution of the nearest lambda, and the
#' screens `"safe1"` and `"safe2"` use the best lower bound of the optimum from the solutions so
#' far: from a smaller and a larger lambda by concavity, and by scaling their dual points.
#'
#' The number of columns need not increase as lambda decreases, and may jump: with equal columns, or
#' for the hinge loss, whose solutions are vertices. If no solution is in the range after 50
#' solutions, or when the interval is narrower than a millionth of lambda, the one with the nearest
#' size is returned (of equally near ones the smaller), with a warning of class
#' `sparsels_warning_size`.
#'
#' @inheritParams l1_path
#' @param size Number of columns, between 0 and the number of usable columns.
#' @param range Largest difference between the number of columns found and `size`, a whole number of
#'   at least 0; 2 by default.
#' @param search How lambda is searched for: `"custom"` (the default) or `"standard"`, see Details.
#' @param lambda_min_ratio The smallest lambda to try divided by [lambda_max()]; 1e-3 by default.
#'
#' @return An object of class `l1_size`: the value of [l1_path()] for the solved lambdas, with the
#'   `size` and `lambda` of the model found; in addition `searched`, a data frame with `lambda` and
#'   `size` in the order of the search, `target` (the argument `size`) and `range`.
#'
#' @section Cost: The cost of [l1_path()] for each of the lambdas, usually 2 to 7.
#' @section Errors: As for [l1_path()]; no `size`, or one above the number of usable columns.
#'
#' @inherit l1_path references
#' @seealso [l1_path()] for a path of lambda and held-out errors, [lambda_max()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(50 * 100), 50)
#' y <- x[, 3] - x[, 8] + rnorm(50)
#' fit <- l1_size(x, y, size = 10)
#' fit
#' selected(fit)
#' fit$searched
#' @export
l1_size <- function(x, y = NULL, ..., data = NULL, size, range = 2, search = "custom",
                    loss = NULL, alpha = 1, grouped = FALSE, ties = "efron", screen = "auto",
                    tolerance = 3e-4, lambda_min_ratio = 1e-3, threads = 1) {
  problem <- fitter_problem("l1_size", x, y, ..., data = data)
  problem <- absolute_penalty(loss_problem(problem, loss, ties, threads))
  if (missing(size)) stop_input("`size` must be given: how many columns are wanted?")
  size <- check_count(size, "size", sum(problem$columns$usable), "the number of usable columns",
                      lower = 0L)
  range <- check_count(range, "range", lower = 0L)
  check_choice(search, "search", c("custom", "standard"))
  control <- l1_control(problem, loss, screen, "cd", tolerance, threads, alpha, grouped)
  control$lambda_max <- largest_lambda(problem, control)
  control$unsolved <- 0L
  stop_input_if(control$lambda_max <= 0, "no column improves on the null model at any lambda")
  smallest <- check_ratio(lambda_min_ratio) * control$lambda_max
  tau <- if (search == "custom") 5 else Inf
  result <- search_size(problem, control, size, range, tau, smallest)
  new_size_fit(problem, control, result, size, range, short_call(match.call()))
}

# A list with the `solutions` in the order of the search, their `lambda` and `size`, and `stopped`,
# whether it was interrupted. Each lambda is the last one divided by `tau`, until there are too many
# columns. Then the interval between the last two lambdas is bisected. With tau = Inf the interval
# from lambda_max to `smallest` is bisected. El Ghaoui and others, 7.2.
search_size <- function(problem, control, size, range, tau, smallest) {
  state <- list(solutions = list(), lambda = numeric(), size = integer(), stopped = FALSE)
  upper <- control$lambda_max
  lower <- if (tau < Inf) NA else smallest
  while (length(state$lambda) < max_solutions) {
    # for size 0, lambda_max is the answer
    lambda <- if (size == 0L) upper else
      if (is.na(lower)) max(upper / tau, smallest) else (upper + lower) / 2
    solution <- solve_between(problem, control, state, lambda)
    if (is.null(solution)) {
      state$stopped <- TRUE
      break
    }
    state$solutions <- c(state$solutions, list(solution))
    state$lambda <- c(state$lambda, lambda)
    count <- length(solution$features)
    state$size <- c(state$size, count)
    if (abs(count - size) <= range || count < size && is.na(lower) && lambda <= smallest) break
    if (count > size) lower <- lambda else upper <- lambda
    if (!is.na(lower) && upper - lower <= 1e-6 * upper) break
  }
  state
}

max_solutions <- 50L

# The solution for one more lambda, started from the solution of the nearest lambda, with the lower
# bound from all solutions. NULL if interrupted.
solve_between <- function(problem, control, state, lambda) {
  start <- NULL
  bound <- -Inf
  if (length(state$lambda)) {
    start <- state$solutions[[which.min(abs(log(state$lambda / lambda)))]]
    bound <- proven_bound(problem, control, state, lambda)
  }
  solutions <- solve_path(problem, control, lambda, start, bound)
  if (length(solutions)) solutions[[1L]]
}

# A lower bound of the optimum phi(lambda) from the solutions so far. phi is concave, at least 0 at
# 0, and equal to the objective of the null model from lambda_max on. A dual point, scaled to be
# feasible for another lambda, has a dual value there.
proven_bound <- function(problem, control, state, lambda) {
  # several responses would require one bound for each
  if (NCOL(problem$rows$y) > 1L) return(-Inf)
  null <- state$solutions[[1L]]$null
  value <- vapply(state$solutions, function(solution) solution$objective - solution$gap, 0)
  chord <- stats::approx(c(0, state$lambda, control$lambda_max), c(0, value, null), lambda,
                         rule = 2, ties = max)$y
  alpha <- control$alpha
  scaled <- mapply(function(solution, own) {
    # for the hinge loss the value of a scaled dual point is on the chord from 0
    if (!losses[[control$loss]]$smooth) return(-Inf)
    tail <- ridge_tail(alpha, own, solution$beta, lambda)
    dual_value(problem, control$loss, solution$r, solution$max_abs_corr, alpha * lambda, tail,
               predictor_of(problem, control$loss, solution))
  }, state$solutions, state$lambda)
  max(chord, scaled) - 1e-12 * null
}

# The result ---------------------------------------------------------------------------------------

new_size_fit <- function(problem, control, search, size, range, call) {
  sorted <- order(search$lambda, decreasing = TRUE)
  control$lambda <- c(search$lambda[sorted], if (search$stopped) NA)
  distance <- abs(search$size - size)
  # The solution of the nearest size, and of two equally near sizes of the smaller one. Of several
  # solutions of that size the one with the smallest lambda explains most.
  best <- order(distance, search$size, search$lambda)[1L]
  fit <- new_l1_fit(problem, control, search$solutions[sorted], call, match(best, sorted))
  class(fit) <- c("l1_size", class(fit))
  fit$method <- "l1_size"
  fit[c("target", "range")] <- list(size, range)
  fit$searched <- data.frame(lambda = search$lambda, size = search$size)
  wanted <- if (range == 0L) counted(size, "column") else
    sprintf("%d to %d columns", max(size - range, 0L), size + range)
  warn_if(!search$stopped && distance[best] > range, "sparsels_warning_size",
          "no solution with %s was found: the nearest of %s has %d, at lambda = %s%s",
          wanted, counted(nrow(fit$path), "solution"), fit$size, format(fit$lambda, digits = 4),
          if (all(fit$path$size < size)) "; a smaller `lambda_min_ratio` may have more" else "")
  seal(fit)
}

# Small coefficients of interior points ------------------------------------------------------------

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
  check_given(fit, "fit")
  check_made(fit, "fit", "l1_path", "a fit of `l1_path(solver = \"ipm\")`")
  stop_argument_if(!identical(fit$control$solver, "ipm"), "the zeros of `fit` are exact: %s",
                   "fits of `solver = \"ipm\"` alone need a threshold")
  stop_input_if("removed" %in% names(fit$path), "`fit` has been thresholded before")
  check_choice(rule, "rule", c("tr", "exact", "kkt"))
  check_positive(alpha, "alpha")
  refuse_unless(alpha >= 1, "alpha", "a number of at least 1", alpha)
  path <- fit$path
  path[c("threshold", "removed")] <- list(0, 0L)
  solutions <- fit$solutions
  for (i in seq_along(solutions)) {
    solution <- solutions[[i]]
    cut <- switch(rule,
      tr = tr_cut(solution, (alpha - 1) * path$gap[i]),
      exact = tr_cut(solution, (alpha - 1) * path$gap[i], path$lambda[i]),
      # (37) of the paper
      kkt = list(removed = kkt_removed(solution$corr, path$lambda[i]), change = solution$kkt)
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
  # sizes and coefficients follow from the solutions
  path$size <- lengths(lapply(solutions, `[[`, "features"))
  row <- which(path$lambda == fit$lambda)
  models <- models_of_sizes(fit$problem, solutions, path, fit$criterion, row)
  fit$coefficients <- name_models(fit$problem, models)
  fit$lambda_table$size <- path$size
  fit[c("path", "solutions", "size")] <- list(path, solutions, path$size[row])
  seal(fit)
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
