#' The lasso path of a linear system
#'
#' Follow the solutions of \eqn{A w = b} with an l1 penalty from \eqn{w = 0} to as many components
#' as wanted, from one knot of the path to the next.
#'
#' For `type = "lasso"` every \eqn{w} on the path minimises
#' \deqn{w'Aw / 2 - b'w + \lambda \|w\|_1}{w'Aw / 2 - b'w + lambda ||w||_1}
#' for its \eqn{\lambda}. With the residual \eqn{c = A w - b}, which is the gradient of the first
#' two terms, that is \eqn{c_j = -\lambda\, \mathrm{sign}(w_j)}{c_j = -lambda sign(w_j)} where
#' \eqn{w_j} is not 0 and \eqn{|c_j| \le \lambda}{|c_j| <= lambda} elsewhere. On the components in,
#' S, with signs s,
#' \deqn{w_S = A_{SS}^{-1} (b_S - \lambda s),}{w_S = A_SS^-1 (b_S - lambda s),}
#' a straight line in \eqn{\lambda}, up to the knot where a component comes in because its
#' \eqn{|c_j|} has become \eqn{\lambda}, or one is dropped because its \eqn{w_j} has become 0. With
#' `type = "lar"`, least angle regression, none is dropped.
#'
#' With \eqn{A = X'X} and \eqn{b = X'y} for N rows this is the lasso, and \eqn{\lambda} is N times
#' that of the glmnet package, whose loss is divided by N (without its intercept and standardising,
#' and with its `thresh` small). For data rather than systems see [l1_path()].
#'
#' A row of the path tells what the step was and what was reached by it: the knot at its end, with
#' `lambda`, `objective` (without the penalty) and `residual` there. So row 0 has the largest
#' \eqn{|b_j|} as its lambda, and a component that is added in one row has the lambda of the row
#' before as the one where it came in. The path ends with the knot where a component beyond k would
#' come in, or with \eqn{\lambda = 0}{lambda = 0}; [coef.system_fit()] has the solution at any
#' lambda up to there.
#'
#' With `debias` the model of a size is the exact solution on a support of that size,
#' \eqn{w_S = A_{SS}^{-1} b_S}{w_S = A_SS^-1 b_S}, of the several that the path may have the one
#' with the lowest objective. Without, it is the last knot with that many components.
#'
#' A component that those in S explain, up to 1e-12 of its diagonal, does not come in: it can do
#' nothing that they cannot. Where `A` is singular and b not in its range, there is no minimum for
#' small \eqn{\lambda}{lambda}; the path ends before, with a warning. Ties, differences within
#' 1e-12, go to the lowest component, and lambdas below 1e-12 of the first are 0.
#'
#' @inheritParams matching_pursuit
#' @param b The right side, D numbers.
#' @param k Number of components wanted, between 1 and D; `NULL`, the default: D, at most 10.
#' @param type `"lasso"` or `"lar"`.
#'
#' @return An object of class `system_fit`, see [system_fit]; its path has the column `lambda`
#'   besides. In `fit$knots` are the solutions at its rows: `components` and `beta`. Its status is
#'   `"early_stop"` when the path ended with fewer than k components, and `"move_limit"` after 50
#'   `k` steps.
#'
#' @section Cost: \eqn{O(kD + k^2)} a step, with k for the components in, and as many steps as there
#' are additions and drops; O(kD) memory besides `A`.
#'
#' @inheritSection matching_pursuit Errors
#'
#' @references Efron, B., Hastie, T., Johnstone, I., Tibshirani, R. (2004). Least angle regression.
#' The Annals of Statistics 32, 407-499. \doi{10.1214/009053604000000067}
#'
#' Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K. (2011). Sparse
#' conjugate directions pursuit with application to fixed-size kernel models. Machine Learning 85,
#' 109-148. \doi{10.1007/s10994-011-5253-8}
#'
#' @seealso [l1_path()], [scdp()], [matching_pursuit()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 12), 40)
#' A <- crossprod(x)
#' b <- crossprod(x, x[, 3] - x[, 8] + rnorm(40) / 4)
#' fit <- lars_path(A, b, k = 4)
#' fit
#' coef(fit, size = 2)
#' # the lasso itself, between two knots
#' coef(fit, lambda = 20)
#' @export
lars_path <- function(A, b, ..., k = NULL, type = c("lasso", "lar"), debias = TRUE) {
  check_dots(..., known = c("k", "type", "debias"))
  system <- as_system(A, b)
  if (system$L > 1L) {
    stop_input(sprintf("`b` must be a single right side for lars_path(), not %d", system$L))
  }
  k <- system_size(k, system)
  control <- list(k = k, type = choice_or_first(type, "type", c("lasso", "lar")),
                  debias = check_flag(debias, "debias"), moves = 50L * k)
  walk <- follow_path(system, control)
  steps <- stacked(walk$log, c("action", "component", "size", "objective", "residual", "lambda"))
  fit <- new_system_fit("lars_path", system, steps, path_models(walk$log, debias), control,
                        walk$status, short_call(match.call()))
  fit$knots <- lapply(walk$log, `[`, c("components", "beta"))
  fit
}

# The walk ----------------------------------------------------------------------------------------

# list of a log, an entry for each row of the path, and the status
follow_path <- function(system, control) {
  support <- new_support(system)
  at <- list(lambda = Inf, sign = numeric(), explained = integer(), dropped = NULL,
             floor = 1e-12 * max(abs(system$b)))
  step <- list(action = "start", component = NA_integer_)
  log <- list()
  status <- NULL
  tryCatch(while (is.null(status)) {
    line <- path_line(system, support, at$sign)
    found <- enter_next(system, support, line, at, control, length(log) + 1L)
    knot <- found$knot
    at$explained <- found$explained
    log[[length(log) + 1L]] <- logged_knot(system, step, line, knot, control$type)
    full <- length(line$set) == control$k
    if (knot$action == "end" || full && knot$action == "add") {
      status <- if (full) "complete" else "early_stop"
    } else if (length(log) > control$moves) {
      status <- "move_limit"
    }
    at <- pass_knot(at, support, knot)
    step <- knot
  }, interrupt = function(condition) {
    if (!length(log)) raise_interrupt()
    status <<- "interrupted"
  })
  list(log = log, status = status)
}

# The solutions for one support and its signs: w_S = z - lambda d and b - A w = e + lambda a.
path_line <- function(system, support, sign) {
  set <- support$set
  solved <- support$solve_system(cbind(system$b[set], sign))
  products <- support$times(solved)
  list(set = set, sign = sign, z = solved[, 1L], d = solved[, 2L],
       e = system$b[, 1L] - products[, 1L], a = products[, 2L])
}

# The next knot; a component that comes in there has entered the support. One that the support
# explains is passed over and remembered: its residual keeps to its bound, when b is in the range of
# A. When b is not, the penalised objective has no minimum for smaller lambda and the path ends.
enter_next <- function(system, support, line, at, control, step) {
  repeat {
    knot <- next_knot(line, at, control$type)
    j <- knot$component
    if (knot$action != "add" || support$enter(j, step)) break
    if (abs(line$e[j]) > 1e-8 * max(abs(system$b))) {
      if (length(line$set) < control$k) warn_no_minimum(knot$lambda, step, system$names[j])
      knot$action <- "end"
      break
    }
    at$explained <- c(at$explained, j)
  }
  list(knot = knot, explained = at$explained)
}

warn_no_minimum <- function(lambda, step, name) {
  warn_sparsels(sprintf(
    "the path ends at lambda = %s: `A` is numerically singular there (step %d, component '%s')",
    format(lambda, digits = 4), step, name
  ), "sparsels_warning_singular")
}

# The largest lambda, not above the present one, where e + lambda a has an entry that becomes
# +lambda or -lambda, or w_S one that becomes 0.
next_knot <- function(line, at, type) {
  entry <- cbind(positive_ratio(line$e, 1 - line$a), positive_ratio(-line$e, 1 + line$a))
  entry[c(line$set, at$explained), ] <- 0
  # what has just been dropped touches its own bound here
  if (length(at$dropped)) entry[at$dropped$component, if (at$dropped$sign > 0) 1L else 2L] <- 0
  entry <- pmin(entry, at$lambda)
  leaving <- numeric()
  if (type == "lasso") {
    leaving <- pmin(positive_ratio(-line$sign * line$z, -line$sign * line$d), at$lambda)
  }
  lambda <- max(entry, leaving)
  if (lambda <= at$floor) return(list(lambda = 0, action = "end"))
  tied <- which(leaving >= (1 - 1e-12) * lambda)
  if (length(tied)) {
    place <- tied[which.min(line$set[tied])]
    return(list(lambda = lambda, action = "drop", component = line$set[place], place = place,
                sign = line$sign[place]))
  }
  j <- first_most(pmax(entry[, 1L], entry[, 2L]))
  list(lambda = lambda, action = "add", component = j,
       sign = if (entry[j, 1L] >= entry[j, 2L]) 1 else -1)
}

# top / bottom where both are positive, else 0
positive_ratio <- function(top, bottom) {
  ratio <- top / bottom
  ratio[top <= 0 | bottom <= 0] <- 0
  ratio
}

# The row of the path that a step ends with, and both of its models there.
logged_knot <- function(system, step, line, knot, type) {
  w <- line$z - knot$lambda * line$d
  # on the lasso's path an entry of the other sign is rounding, where several come in at once
  w[c(knot$place, if (type == "lasso") which(line$sign * w < 0))] <- 0
  left <- line$e + knot$lambda * line$a
  b <- system$b[line$set, 1L]
  list(
    action = step$action, component = step$component, size = length(line$set),
    objective = -sum(w * (left[line$set] + b)) / 2, residual = sqrt(sum(left^2)),
    lambda = knot$lambda, components = line$set, beta = as.matrix(w),
    exact = list(beta = as.matrix(line$z), objective = -sum(line$z * b) / 2,
                 residual = sqrt(sum(line$e^2)))
  )
}

pass_knot <- function(at, support, knot) {
  at$lambda <- knot$lambda
  at$dropped <- NULL
  if (knot$action == "add") at$sign <- c(at$sign, knot$sign)
  if (knot$action == "drop") {
    support$leave(knot$place)
    at$sign <- at$sign[-knot$place]
    at$dropped <- knot
    # what the larger support explained may come in again
    at$explained <- integer()
  }
  at
}

# The models --------------------------------------------------------------------------------------

# The model of each size with the lowest objective: exact on its support, or as it is at its knot.
path_models <- function(log, debias) {
  size <- vapply(log, `[[`, 0L, "size")
  lapply(0:max(size), function(s) {
    rows <- which(size == s)
    models <- lapply(log[rows], function(row) {
      if (debias) row$exact else row[c("beta", "objective", "residual")]
    })
    objective <- vapply(models, `[[`, 0, "objective")
    # the same support again differs by rounding
    best <- which(objective - min(objective) <= 1e-12 * abs(min(objective)))[1L]
    c(models[[best]], list(components = log[[rows[best]]]$components, row = rows[best]))
  })
}
