#' Matching pursuit and forward stagewise regression
#'
#' Approximate the solution of \eqn{A w = b} by updating one component at a time, the component with
#' the largest residual.
#'
#' With \eqn{c = A w - b}, the gradient of \eqn{w'Aw / 2 - b'w}, a move updates the component j with
#' the largest \eqn{|c_j|}, which lowers the objective:
#' \deqn{w_j \leftarrow w_j - s\, c_j / A_{jj}, \qquad c \leftarrow c - s\, c_j A_{\cdot j} /
#' A_{jj},}{w_j <- w_j - s c_j / A_jj, c <- c - s c_j A[, j] / A_jj,} where s is `shrinkage`: 1
#' minimises the objective along the component (matching pursuit), small values give forward
#' stagewise regression. Unlike in [scdp()], the chosen components are not solved for jointly, so a
#' component is updated again (action `"move"`) whenever its residual is the largest. For several
#' right-hand sides the rows of c are compared by their norm, and all entries of a row are updated.
#'
#' With `debias` the model of size s is the solution on the first s components, \eqn{w_S =
#' A_{SS}^{-1} b_S}{w_S = A_SS^-1 b_S}, and the search ends when k are chosen. Without, it is w
#' after the last move with s components, and the search goes on until a component beyond k would be
#' added. `objective` and `residual` belong to w after each move in the path, and to the models in
#' `coefficients`.
#'
#' A component that is linearly dependent on the chosen ones (Schur complement at most 1e-12 of its
#' diagonal) is never chosen; the search ends when no \eqn{|c_j|} exceeds 1e-14 times the largest at
#' the start. Ties, within a relative 1e-12 of the largest, go to the lowest component.
#'
#' @param A The matrix, symmetric and positive definite: a numeric matrix (D x D), dense or of the
#'   Matrix package, or a function that returns column j when called with j. A function is called
#'   only for the components that are chosen.
#' @param b The right-hand side, a numeric vector of length D; or a matrix (D x L) of several
#'   right-hand sides, which share the components.
#' @param ... Must be empty: the arguments below are given by name.
#' @param k Largest number of components chosen, between 1 and D; `NULL`, the default: D, at most
#'   10.
#' @param shrinkage The step length s as a fraction of the full step, a number above 0 and up to 1;
#'   1 by default.
#' @param debias Logical: are the coefficients of each model the exact solution on its components?
#' @param moves Largest number of moves; `NULL`, the default: 10 `k`. Small values of `shrinkage`
#'   need more. If the limit is reached, the status is `"move_limit"`.
#'
#' @return An object of class `system_fit`, see [system_fit].
#'
#' @section Cost: O(DL) time for each move, O(kD) memory besides `A`; a dense `A` is not copied.
#'   `debias` takes \eqn{O(k^2 D L)}{O(k^2 D L)} more.
#'
#' @section Errors: Of class `sparsels_error_input`: `A` not square, not symmetric (which entries)
#' or not finite, `b` of another length, a tuning argument out of its range. Of class
#' `sparsels_error_singular`: `A` is found not to be positive definite, naming the step and the
#' component.
#'
#' @references Mallat, S. G., Zhang, Z. (1993). Matching pursuits with time-frequency dictionaries.
#' IEEE Transactions on Signal Processing 41, 3397-3415. \doi{10.1109/78.258082}
#'
#' Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K. (2011). Sparse
#' conjugate directions pursuit with application to fixed-size kernel models. Machine Learning 85,
#' 109-148. \doi{10.1007/s10994-011-5253-8}
#'
#' @seealso [scdp()], [lars_path()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 12), 40)
#' A <- crossprod(x) + diag(12) / 100
#' b <- crossprod(x, x[, 3] - x[, 8] + rnorm(40) / 4)
#' fit <- matching_pursuit(A, b, k = 4)
#' fit
#' # forward stagewise search
#' matching_pursuit(A, b, k = 4, shrinkage = 0.1, moves = 500, debias = FALSE)
#' @export
matching_pursuit <- function(A, b, ..., k = NULL, shrinkage = 1, debias = TRUE, moves = NULL) {
  check_dots(..., known = c("k", "shrinkage", "debias", "moves"))
  system <- as_system(A, b)
  k <- system_size(k, system)
  if (!(is_number(shrinkage) && shrinkage > 0 && shrinkage <= 1)) {
    refuse("shrinkage", "a number above 0 and up to 1", shrinkage)
  }
  if (is.null(moves)) moves <- 10 * k
  control <- list(k = k, shrinkage = as.double(shrinkage), debias = check_flag(debias, "debias"),
                  moves = check_count(moves, "moves"))
  search <- pursue_moves(system, control)
  models <- if (debias) debiased_models(system, search) else search$models
  new_system_fit("matching_pursuit", system, search$steps, models, control, search$status,
                 short_call(match.call()))
}

# list(support, steps, models: after the last move of each size, status)
pursue_moves <- function(system, control) {
  support <- new_support(system)
  w <- matrix(0, control$k, system$L)
  gradient <- -system$b
  negligible <- 1e-28 * max(rowSums(gradient^2))
  free <- rep(TRUE, system$D)
  log <- models <- list(logged_move("start", NA_integer_, support, w, gradient, system, row = 1L))
  full <- function() length(support$set) == control$k
  converged <- interrupted <- FALSE
  tryCatch(while (length(log) <= control$moves && !(full() && control$debias)) {
    score <- free * rowSums(gradient^2)
    j <- first_most(score)
    index <- match(j, support$set)
    converged <- score[j] <= negligible || is.na(index) && full()
    if (converged) break
    action <- if (is.na(index)) "add" else "move"
    if (is.na(index)) {
      free[j] <- support$enter(j, length(log))
      if (!free[j]) next
      index <- length(support$set)
    }
    column <- support$columns[, index]
    change <- control$shrinkage * gradient[j, ] / column[j]
    w[index, ] <- w[index, ] - change
    gradient <- gradient - tcrossprod(column, change)
    move <- logged_move(action, j, support, w, gradient, system, row = length(log) + 1L)
    models[[move$size + 1L]] <- move
    log[[move$row]] <- move[c("action", "component", "size", "objective", "residual")]
  }, interrupt = function(condition) interrupted <<- TRUE)
  # drops the model of a component that was added before its move was interrupted
  models <- models[seq_len(log[[length(log)]]$size + 1L)]
  status <- if (interrupted) "interrupted"
  if (is.null(status) && full() && (converged || control$debias)) status <- "complete"
  if (is.null(status)) status <- if (converged) "early_stop" else "move_limit"
  list(support = support, steps = stacked(log), models = models, status = status)
}

# a row of the path and the model after it
logged_move <- function(action, component, support, w, gradient, system, row) {
  S <- support$set
  beta <- w[seq_along(S), , drop = FALSE]
  list(action = action, component = component, size = length(S),
       objective = sum(beta * (gradient - system$b)[S, ]) / 2, residual = sqrt(sum(gradient^2)),
       components = S, beta = beta, row = row)
}

# the columns of a path from its rows, each of which is a list
stacked <- function(rows, columns = c("action", "component", "size", "objective", "residual")) {
  lapply(stats::setNames(nm = columns), function(name) unlist(lapply(rows, `[[`, name)))
}

# The exact solutions on the components chosen after each addition.
debiased_models <- function(system, search) {
  rows <- c(1L, which(search$steps$action == "add"))
  S <- search$support$set[seq_len(length(rows) - 1L)]
  z <- search$support$solve_factor(system$b[S, , drop = FALSE], transpose = TRUE, size = length(S))
  lapply(0:length(S), function(size) {
    leading <- seq_len(size)
    beta <- search$support$solve_factor(z[leading, , drop = FALSE], size = size)
    values <- objective_and_residual(system, S[leading], beta, search$support$times(beta))
    c(list(components = S[leading], beta = beta, row = rows[size + 1L]), values)
  })
}
