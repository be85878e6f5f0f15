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
                    loss = "squared", alpha = 1, screen = "auto", tolerance = 3e-4,
                    lambda_min_ratio = 1e-3, threads = 1) {
  problem <- fitter_problem("l1_size", x, y, ..., data = data)
  problem <- absolute_penalty(problem)
  if (missing(size)) stop_input("`size` must be given: how many columns are wanted?")
  size <- check_count(size, "size", sum(problem$usable), "the number of usable columns", lower = 0L)
  range <- check_count(range, "range", lower = 0L)
  check_choice(search, "search", c("custom", "standard"))
  control <- l1_control(problem, loss, screen, "cd", tolerance, threads, alpha)
  control$lambda_max <- largest_lambda(problem, control)
  control$unsolved <- 0L
  check_some_lambda(control$lambda_max)
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
  # for size 0, lambda_max is the answer
  lambda <- if (size == 0L) upper else next_lambda(upper, lower, tau, smallest)
  while (length(state$lambda) < max_solutions) {
    solution <- solve_between(problem, control, state, lambda)
    if (is.null(solution)) {
      state$stopped <- TRUE
      break
    }
    state$solutions <- c(state$solutions, list(solution))
    state$lambda <- c(state$lambda, lambda)
    count <- length(solution$features)
    state$size <- c(state$size, count)
    at_smallest <- is.na(lower) && lambda <= smallest
    if (abs(count - size) <= range || count < size && at_smallest) break
    if (count > size) lower <- lambda else upper <- lambda
    if (!is.na(lower) && upper - lower <= 1e-6 * upper) break
    lambda <- next_lambda(upper, lower, tau, smallest)
  }
  state
}

max_solutions <- 50L

next_lambda <- function(upper, lower, tau, smallest) {
  if (is.na(lower)) max(upper / tau, smallest) else (upper + lower) / 2
}

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
  if (NCOL(problem$y) > 1L) return(-Inf)
  null <- state$solutions[[1L]]$null
  value <- vapply(state$solutions, function(solution) solution$objective - solution$gap, 0)
  chord <- stats::approx(c(0, state$lambda, control$lambda_max), c(0, value, null), lambda,
                         rule = 2, ties = max)$y
  alpha <- control$alpha
  scaled <- mapply(function(solution, own) {
    # for the hinge loss the value of a scaled dual point is on the chord from 0
    if (control$loss == "hinge") return(-Inf)
    tail <- ridge_tail(alpha, own, solution$beta, lambda)
    dual_value(problem, control$loss, solution$r, solution$max_abs_corr, alpha * lambda, tail)
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
  if (!search$stopped && distance[best] > range) warn_size(fit)
  seal(fit)
}

warn_size <- function(fit) {
  all_less <- all(fit$path$size < fit$target)
  warn_sparsels(sprintf(
    "no solution with %s was found: the nearest of %s has %d, at lambda = %s%s",
    size_words(fit$target, fit$range), counted(nrow(fit$path), "solution"), fit$size,
    format(fit$lambda, digits = 4),
    if (all_less) "; a smaller `lambda_min_ratio` may have more" else ""
  ), "sparsels_warning_size")
}

size_words <- function(size, range) {
  if (range == 0L) return(counted(size, "column"))
  sprintf("%d to %d columns", max(size - range, 0L), size + range)
}
