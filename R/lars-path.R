#' Lasso path and least angle regression for a linear system
#'
#' Computes the path of solutions of \eqn{A w = b} with an l1 penalty, knot by knot, from \eqn{w =
#' 0} to a given number of components.
#'
#' For `type = "lasso"` every \eqn{w} on the path minimises
#' \deqn{w'Aw / 2 - b'w + \lambda \|w\|_1}{w'Aw / 2 - b'w + lambda ||w||_1}
#' for its \eqn{\lambda}. With the residual \eqn{c = A w - b}, which is the gradient of the first
#' two terms, that is \eqn{c_j = -\lambda\, \mathrm{sign}(w_j)}{c_j = -lambda sign(w_j)} where
#' \eqn{w_j} is not 0 and \eqn{|c_j| \le \lambda}{|c_j| <= lambda} elsewhere. On the active
#' components S, with signs s,
#' \deqn{w_S = A_{SS}^{-1} (b_S - \lambda s),}{w_S = A_SS^-1 (b_S - lambda s),}
#' linear in \eqn{\lambda}{lambda} down to the next knot, where a component is added because its
#' \eqn{|c_j|} equals \eqn{\lambda}{lambda}, or dropped because its \eqn{w_j} becomes 0. With `type
#' = "lar"`, least angle regression, none is dropped.
#'
#' With \eqn{A = X'X} and \eqn{b = X'y} for N rows this is the lasso, and \eqn{\lambda} is N times
#' glmnet's lambda, whose loss is divided by N (without its intercept and standardising, and with
#' its `thresh` small). For data rather than systems see [l1_path()].
#'
#' A row of the path has the action of a step and the values at the knot at its end: `lambda`,
#' `objective` (without the penalty) and `residual`. So `lambda` of step 0 is the largest
#' \eqn{|b_j|}, and a component is added at the lambda of the row before. The path ends with the
#' knot where a component beyond k would be added, or with \eqn{\lambda = 0}{lambda = 0};
#' [coef.system_fit()] returns the solution at any lambda down to there.
#'
#' With `debias` the model of a size is the exact solution on a support of that size,
#' \eqn{w_S = A_{SS}^{-1} b_S}{w_S = A_SS^-1 b_S}, and if the path has several supports of that
#' size, the one with the lowest objective. Without, it is the solution at the last knot with that
#' many components.
#'
#' A component that is linearly dependent on S (Schur complement at most 1e-12 of its diagonal) is
#' not added, since it cannot lower the objective. If `A` is singular and b not in its range, there
#' is no minimum for small \eqn{\lambda}{lambda}; the path ends before, with a warning of class
#' `sparsels_warning_singular`. Ties, within a relative 1e-12, go to the lowest component, and
#' lambdas below 1e-12 of the first are 0.
#'
#' @inheritParams matching_pursuit
#' @param b The right-hand side, a numeric vector of length D.
#' @param k Largest number of active components, between 1 and D; `NULL`, the default: D, at most
#'   10.
#' @param type `"lasso"` (the default), or `"lar"` for least angle regression, which drops no
#'   component.
#' @return An object of class `system_fit`, see [system_fit]; its path also has the column `lambda`,
#'   and `fit$knots` the solution at each row: `components` and `beta`. Its status is `"early_stop"`
#'   when the path ended with fewer than k components, and `"move_limit"` after 50 `k` steps.
#'
#' @section Cost: \eqn{O(kD + k^2)} time for each addition or drop, with k active components; O(kD)
#'   memory besides `A`.
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
  path <- follow_path(system, control)
  steps <- stacked(path$log, c("action", "component", "size", "objective", "residual", "lambda"))
  fit <- new_system_fit("lars_path", system, steps, path_models(path$log, debias), control,
                        path$status, short_call(match.call()))
  fit$knots <- lapply(path$log, `[`, c("components", "beta"))
  seal(fit)
}

# The path ----------------------------------------------------------------------------------------

# list(log: an entry for each row of the path, status)
follow_path <- function(system, control) {
  support <- new_support(system)
  state <- list(lambda = Inf, sign = numeric(), explained = integer(), dropped = NULL,
             floor = 1e-12 * max(abs(system$b)))
  step <- list(action = "start", component = NA_integer_)
  log <- list()
  status <- NULL
  tryCatch(while (is.null(status)) {
    line <- path_line(system, support, state$sign)
    entered <- enter_next(system, support, line, state, control, length(log) + 1L)
    knot <- entered$knot
    state$explained <- entered$explained
    log[[length(log) + 1L]] <- logged_knot(system, step, line, knot, control$type)
    full <- length(line$set) == control$k
    if (knot$action == "end" || full && knot$action == "add") {
      status <- if (full) "complete" else "early_stop"
    } else if (length(log) > control$moves) {
      status <- "move_limit"
    }
    state <- pass_knot(state, support, knot)
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

# The next knot. The component added there has entered the support. A component that is linearly
# dependent on the support is skipped and recorded: its |c_j| stays equal to lambda if b is in the
# range of A. Otherwise the penalised objective has no minimum for smaller lambda and the path ends.
enter_next <- function(system, support, line, state, control, step) {
  repeat {
    knot <- next_knot(line, state, control$type)
    j <- knot$component
    if (knot$action != "add" || support$enter(j, step)) break
    if (abs(line$e[j]) > 1e-8 * max(abs(system$b))) {
      if (length(line$set) < control$k) warn_no_minimum(knot$lambda, step, system$names[j])
      knot$action <- "end"
      break
    }
    state$explained <- c(state$explained, j)
  }
  list(knot = knot, explained = state$explained)
}

warn_no_minimum <- function(lambda, step, name) {
  warn_sparsels(sprintf(
    "the path ends at lambda = %s: `A` is numerically singular there (step %d, component '%s')",
    format(lambda, digits = 4), step, name
  ), "sparsels_warning_singular")
}

# The largest lambda, at most the current one, at which an entry of e + lambda a equals +lambda or
# -lambda, or at which an entry of w_S becomes 0.
next_knot <- function(line, state, type) {
  entry <- cbind(positive_ratio(line$e, 1 - line$a), positive_ratio(-line$e, 1 + line$a))
  entry[c(line$set, state$explained), ] <- 0
  # a component that has just been dropped has |c_j| = lambda
  dropped <- state$dropped
  if (length(dropped)) entry[dropped$component, if (dropped$sign > 0) 1L else 2L] <- 0
  entry <- pmin(entry, state$lambda)
  leaving <- numeric()
  if (type == "lasso") {
    leaving <- pmin(positive_ratio(-line$sign * line$z, -line$sign * line$d), state$lambda)
  }
  lambda <- max(entry, leaving)
  if (lambda <= state$floor) return(list(lambda = 0, action = "end"))
  tied <- which(leaving >= (1 - 1e-12) * lambda)
  if (length(tied)) {
    index <- tied[which.min(line$set[tied])]
    return(list(lambda = lambda, action = "drop", component = line$set[index], index = index,
                sign = line$sign[index]))
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

# The row of the path at the end of a step, with its penalised and its exact solution.
logged_knot <- function(system, step, line, knot, type) {
  w <- line$z - knot$lambda * line$d
  # when several components are added at once, an entry of the other sign is rounding error on the
  # lasso path
  w[c(knot$index, if (type == "lasso") which(line$sign * w < 0))] <- 0
  residual <- line$e + knot$lambda * line$a
  b <- system$b[line$set, 1L]
  list(
    action = step$action, component = step$component, size = length(line$set),
    objective = -sum(w * (residual[line$set] + b)) / 2, residual = sqrt(sum(residual^2)),
    lambda = knot$lambda, components = line$set, beta = as.matrix(w),
    exact = list(beta = as.matrix(line$z), objective = -sum(line$z * b) / 2,
                 residual = sqrt(sum(line$e^2)))
  )
}

pass_knot <- function(state, support, knot) {
  state$lambda <- knot$lambda
  state$dropped <- NULL
  if (knot$action == "add") state$sign <- c(state$sign, knot$sign)
  if (knot$action == "drop") {
    support$leave(knot$index)
    state$sign <- state$sign[-knot$index]
    state$dropped <- knot
    # components dependent on the larger support may be added again
    state$explained <- integer()
  }
  state
}

# The models --------------------------------------------------------------------------------------

# The model of each size with the lowest objective: the exact solution on its support, or the
# penalised solution at its knot.
path_models <- function(log, debias) {
  size <- vapply(log, `[[`, 0L, "size")
  lapply(0:max(size), function(s) {
    rows <- which(size == s)
    models <- lapply(log[rows], function(row) {
      if (debias) row$exact else row[c("beta", "objective", "residual")]
    })
    objective <- vapply(models, `[[`, 0, "objective")
    # objectives of the same support differ by rounding errors
    best <- which(objective - min(objective) <= 1e-12 * abs(min(objective)))[1L]
    c(models[[best]], list(components = log[[rows[best]]]$components, row = rows[best]))
  })
}
