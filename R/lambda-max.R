#' The smallest penalty without columns
#'
#' The smallest lambda for which the model with an l1 penalty has no columns: where a path begins.
#'
#' It is exact, with the objective of [l1_path()]. For `"squared"` and `"logistic"` it is the
#' largest \eqn{|a_k' r|} of any working column \eqn{a_k} and the residual \eqn{r} of the model with
#' covariates only. For `"hinge"` that residual is not unique where the classes have different
#' weights, and the smallest such maximum is a linear programme, (21) of the paper. It is found by
#' Newton's method on the optimum as a function of lambda, which is concave and piecewise linear:
#' from a lambda with a solution \eqn{\beta}, the next one is where the tangent,
#' \eqn{loss + \lambda \|\beta\|_1}{loss + lambda ||beta||_1}, reaches the objective without
#' columns.
#'
#' @inheritParams l1_path
#'
#' @return A number; 0 when no lambda gives a model with columns.
#'
#' @section Cost: A pass over `x`, O(mn) or the nonzeros; for `"hinge"` a few solutions, each of one
#'   lambda.
#'
#' @section Errors: As for [l1_path()]; classes that covariates alone separate.
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
lambda_max <- function(x, y = NULL, ..., data = NULL, loss = "squared") {
  problem <- fitter_problem(x, y, ..., data = data)
  largest_lambda(problem, l1_control(problem, loss))
}

largest_lambda <- function(problem, control) {
  if (control$loss == "hinge") return(hinge_lambda_max(problem, control))
  null <- null_solution(problem, control)
  if (control$loss == "logistic") check_not_separated(problem, null$null)
  null$most
}

# Covariates that separate the classes leave nothing to explain at any lambda.
check_not_separated <- function(problem, null) {
  if (null <= 1e-9 * sum(problem$weights)) {
    stop_input("the covariates alone separate the classes: no lambda gives a model with columns")
  }
}

# Tangents to a concave function that is piecewise linear: they end at its corner. The tangent is
# above the function, so that every step stays below the corner, until the solution has no columns.
hinge_lambda_max <- function(problem, control) {
  problem <- with_doubles(problem)
  control[c("screen", "solver", "tolerance", "progress")] <- list("lazy", "cd", 1e-12, FALSE)
  at <- null_solution(problem, control)
  null <- at$null
  check_not_separated(problem, null)
  lambda <- at$most
  solution <- NULL
  # without a column at so small a lambda there is none at any
  while (lambda > 1e-9 * at$most) {
    now <- solve_path(problem, control, lambda, solution)
    if (!length(now)) raise_interrupt()
    l1 <- sum(abs(now[[1L]]$beta))
    left <- null - now[[1L]]$objective
    if (l1 > 0 && left > 1e-10 * null) {
      solution <- now[[1L]]
      lambda <- lambda + left / l1
    } else if (is.null(solution)) {
      lambda <- lambda / 2
    } else {
      return(lambda)
    }
  }
  0
}

check_some_lambda <- function(lambda_max) {
  if (lambda_max <= 0) stop_input("no column improves on the model without columns, at any lambda")
}
