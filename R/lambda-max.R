#' Smallest l1 penalty at which all coefficients are zero
#'
#' The smallest lambda for which all penalised coefficients are 0, with which a regularisation path
#' begins.
#'
#' It is exact, for the objective of [l1_path()]. For `"squared"` and `"logistic"` it is the maximum
#' over k of \eqn{|a_k' r|}, divided by `alpha`, where \eqn{a_k} is column k standardised,
#' multiplied by the square roots of the weights and residualised on the covariates, and \eqn{r} the
#' residual of the null model (with covariates only). For `"hinge"` that residual is not unique if
#' the classes have different weights, and lambda_max is the solution of a linear programme, (21) of
#' the paper. It is computed by Newton's method on the optimum as a function of lambda, which is
#' concave and piecewise linear: from a lambda with a solution \eqn{\beta}{beta}, the next one is
#' where the tangent, \eqn{loss + \lambda \|\beta\|_1}{loss + lambda ||beta||_1}, equals the
#' objective of the null model.
#'
#' @inheritParams l1_path
#'
#' @return A number, on the scale of `lambda` in [l1_path()]; 0 if all coefficients are 0 for every
#'   lambda.
#'
#' @section Cost: One pass over `x`, O(mn) or O(nonzeros) time; for `"hinge"` the solutions for a
#'   few lambdas.
#'
#' @section Errors: As for [l1_path()]; classes that are separated by the covariates alone.
#'
#' @references El Ghaoui, L., Viallon, V., Rabbani, T. (2010). Safe feature elimination in sparse
#' supervised learning. Technical report UCB/EECS-2010-126, University of California, Berkeley.
#' @seealso [l1_path()], [safe_screen()]
#' @examples
#' x <- matrix(rnorm(40 * 6), 40)
#' y <- x[, 2] + rnorm(40)
#' lambda_max(x, y)
#' lambda_max(x, factor(y > 0), loss = "logistic")
#' @export
lambda_max <- function(x, y = NULL, ..., data = NULL, loss = "squared", alpha = 1) {
  problem <- absolute_penalty(fitter_problem("lambda_max", x, y, ..., data = data))
  largest_lambda(problem, l1_control(problem, loss, alpha = alpha))
}

largest_lambda <- function(problem, control) {
  max(vapply(seq_len(ncol(problem$y)), function(l) {
    lambda_of_response(one_response(problem, l), control)
  }, 0))
}

lambda_of_response <- function(problem, control) {
  if (control$loss == "hinge") return(hinge_lambda_max(problem, control))
  null <- if (is.null(control$shards)) null_solution(problem, control) else
    null_by_shards(problem, control, control$shards)
  if (control$loss == "logistic") check_not_separated(problem, null$null)
  null$max_abs_corr / control$alpha
}

# Refuses classes that are separated by the covariates, as all coefficients would be 0 at every
# lambda.
check_not_separated <- function(problem, null) {
  if (null <= 1e-9 * sum(problem$weights)) {
    stop_input("the covariates alone separate the classes: all coefficients are 0 at every lambda")
  }
}

# Newton's method for a concave, piecewise linear function. Tangents are above the function, so
# lambda increases up to the last corner, where the solution is the null model.
hinge_lambda_max <- function(problem, control) {
  control[c("screen", "solver", "tolerance", "progress")] <- list("lazy", "cd", 1e-12, FALSE)
  null_model <- null_solution(problem, control)
  null <- null_model$null
  check_not_separated(problem, null)
  lambda <- null_model$max_abs_corr
  solution <- NULL
  # if all coefficients are 0 at so small a lambda, they are at every lambda
  while (lambda > 1e-9 * null_model$max_abs_corr) {
    solutions <- solve_path(problem, control, lambda, solution)
    if (!length(solutions)) raise_interrupt()
    l1 <- sum(abs(solutions[[1L]]$beta))
    reduction <- null - solutions[[1L]]$objective
    if (l1 > 0 && reduction > 1e-10 * null) {
      solution <- solutions[[1L]]
      lambda <- lambda + reduction / l1
    } else if (is.null(solution)) {
      lambda <- lambda / 2
    } else {
      return(lambda)
    }
  }
  0
}

check_some_lambda <- function(lambda_max) {
  if (lambda_max <= 0) stop_input("no column improves on the null model at any lambda")
}
