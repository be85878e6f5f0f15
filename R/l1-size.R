#' An l1 model with a wanted number of columns
#'
#' Searches for a penalty whose solution has about as many columns as wanted, with as few solutions
#' as it takes.
#'
#' * `search = "custom"` solves for lambda_max / 5, lambda_max / 25, ... until there are more
#'   columns than wanted, and then halves the interval between the last two.
#' * `search = "standard"` halves the interval from `lambda_min_ratio` lambda_max to lambda_max.
#'
#' Models are those of the exact solver, since the small coefficients that an interior point leaves
#' cannot be counted. Both searches end as soon as the number of columns is within `range` of
#' `size`. Few columns are cheap to find and to screen for, which is why the first starts with large
#' penalties. Every solution starts from that of the nearest lambda, and the screens `"safe1"` and
#' `"safe2"` are told the best lower bound of the optimum that the solutions so far give: from a
#' smaller and a larger lambda by concavity, and by scaling their dual points.
#'
#' The number of columns need not grow as lambda falls, and may jump: with equal columns, or for the
#' hinge loss, whose solutions are vertices. When 50 solutions, or an interval narrower than a
#' millionth of lambda, have not led into the range, the solution nearest to it is returned with a
#' warning of class `sparsels_warning_size`; of equally near ones the smaller.
#'
#' @inheritParams l1_path
#' @param size Number of columns wanted, between 0 and the number of usable columns.
#' @param range How far from `size` the number may be.
#' @param search `"custom"` or `"standard"`.
#' @param lambda_min_ratio The smallest lambda to be tried, as a share of [lambda_max()].
#'
#' @return An object of class `c("l1_size", "l1_path", "sparse_fit")`: what [l1_path()] returns for
#'   the lambdas that were solved for, with the model found as the chosen one (`size` and `lambda`);
#'   in addition `searched`, a data frame with `lambda` and `size` in the order of the search, and
#'   the arguments `wanted` (the `size` asked for) and `range`.
#'
#' @section Cost: That of [l1_path()] for each of the lambdas, 2 to 7 as a rule.
#' @section Errors: As for [l1_path()].
#'
#' @inherit l1_path references
#' @seealso [l1_path()] for all lambdas and held-out errors, [lambda_max()]
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
                    loss = "squared", screen = "auto", tolerance = 1e-8,
                    lambda_min_ratio = 1e-3, threads = 1) {
  problem <- with_doubles(fitter_problem(x, y, ..., data = data))
  if (missing(size)) stop_input("`size` must be given: how many columns are wanted?")
  size <- check_count(size, "size", sum(problem$usable), "the number of usable columns", lower = 0L)
  range <- check_count(range, "range", lower = 0L)
  check_choice(search, "search", c("custom", "standard"))
  control <- l1_control(problem, loss, screen, "cd", tolerance, threads)
  control$lambda_max <- largest_lambda(problem, control)
  check_some_lambda(control$lambda_max)
  floor <- check_ratio(lambda_min_ratio) * control$lambda_max
  found <- search_size(problem, control, size, range, if (search == "custom") 5 else Inf, floor)
  new_size_fit(problem, control, found, size, range, short_call(match.call()))
}

# A list with the `solutions` in the order of the search, their `lambda` and `size`, and whether
# Ctrl-C stopped it. Up to the first lambda with too many columns each is the last divided by `tau`;
# with tau = Inf the interval down to `floor` is halved from the start. El Ghaoui and others, 7.2,
# with the interval between the last two.
search_size <- function(problem, control, size, range, tau, floor) {
  at <- list(solutions = list(), lambda = numeric(), size = integer(), stopped = FALSE)
  few <- control$lambda_max
  many <- if (tau < Inf) NA else floor
  # without columns there is nothing to search
  lambda <- if (size == 0L) few else next_lambda(few, many, tau, floor)
  while (length(at$lambda) < most_solves) {
    solution <- solve_between(problem, control, at, lambda)
    if (is.null(solution)) {
      at$stopped <- TRUE
      break
    }
    at$solutions <- c(at$solutions, list(solution))
    at$lambda <- c(at$lambda, lambda)
    found <- length(solution$features)
    at$size <- c(at$size, found)
    at_floor <- is.na(many) && lambda <= floor
    if (abs(found - size) <= range || found < size && at_floor) break
    if (found > size) many <- lambda else few <- lambda
    if (!is.na(many) && few - many <= 1e-6 * few) break
    lambda <- next_lambda(few, many, tau, floor)
  }
  at
}

most_solves <- 50L

next_lambda <- function(few, many, tau, floor) {
  if (is.na(many)) max(few / tau, floor) else (few + many) / 2
}

# The solution for one more lambda, from the nearest one and with what all of them prove.
solve_between <- function(problem, control, at, lambda) {
  start <- NULL
  bound <- -Inf
  if (length(at$lambda)) {
    start <- at$solutions[[which.min(abs(log(at$lambda / lambda)))]]
    bound <- proven_bound(problem, control, at, lambda)
  }
  solutions <- solve_path(problem, control, lambda, start, bound)
  if (length(solutions)) solutions[[1L]]
}

# A lower bound of the optimum phi(lambda) from the solutions so far. phi is concave, at least 0
# at 0 and the objective without columns from lambda_max on; and a dual point, scaled until it may
# be one for another lambda, has a value there.
proven_bound <- function(problem, control, at, lambda) {
  null <- at$solutions[[1L]]$null
  value <- vapply(at$solutions, function(one) one$objective - one$gap, 0)
  chord <- stats::approx(c(0, at$lambda, control$lambda_max), c(0, value, null), lambda,
                         rule = 2, ties = max)$y
  scaled <- vapply(at$solutions, function(one) {
    # of the hinge loss the scaled value is a point of the chord from 0
    if (control$loss == "hinge") return(-Inf)
    dual_value(problem, control$loss, one$r, one$most, lambda)
  }, 0)
  max(chord, scaled) - 1e-12 * null
}

# The result ---------------------------------------------------------------------------------------

new_size_fit <- function(problem, control, found, size, range, call) {
  sorted <- order(found$lambda, decreasing = TRUE)
  control$lambda <- c(found$lambda[sorted], if (found$stopped) NA)
  off <- abs(found$size - size)
  # of the nearest the smallest; of that size the one with the smallest penalty, which explains most
  best <- order(off, found$size, found$lambda)[1L]
  fit <- new_l1_fit(problem, control, found$solutions[sorted], call, match(best, sorted))
  class(fit) <- c("l1_size", class(fit))
  fit$method <- "l1_size"
  fit[c("wanted", "range")] <- list(size, range)
  fit$searched <- data.frame(lambda = found$lambda, size = found$size)
  if (!found$stopped && off[best] > range) warn_size(fit)
  fit
}

warn_size <- function(fit) {
  all_less <- all(fit$path$size < fit$wanted)
  warn_sparsels(sprintf(
    "no solution with %s was found: the nearest of %s has %d, at lambda = %s%s",
    size_words(fit$wanted, fit$range), counted(nrow(fit$path), "solution"), fit$size,
    format(fit$lambda, digits = 4),
    if (all_less) "; a smaller `lambda_min_ratio` may have more" else ""
  ), "sparsels_warning_size")
}

size_words <- function(size, range) {
  if (range == 0L) return(counted(size, "column"))
  sprintf("%d to %d columns", max(size - range, 0L), size + range)
}
