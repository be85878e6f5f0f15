# Several responses, or one class against the rest for each class. Each response has its own problem
# with an l1 penalty, and the solution of a lambda joins the solutions of the responses.

# The problem of one response, where a class is one against the rest.
one_response <- function(problem, l) {
  if (ncol(problem$y) == 1L) return(problem)
  problem$y <- problem$y[, l, drop = FALSE]
  problem$products <- problem$products[, l, drop = FALSE]
  if (problem$task == "multiclass") {
    problem$task <- "binary"
    problem$levels <- c("others", problem$levels[l])
  }
  problem
}

# The part of a solution that belongs to one response.
solution_of_response <- function(solution, l) {
  if (!is.matrix(solution$beta)) return(solution)
  used <- which(solution$beta[, l] != 0)
  list(features = solution$features[used], beta = solution$beta[used, l], u = solution$u[, l])
}

# The solution of a lambda from the solutions of the responses: the columns that any response uses,
# coefficients (columns x responses, covariates x responses), the sum of the objectives, and the sum
# of the duality gaps, which bounds the gap of the sum.
join_responses <- function(each) {
  features <- unique(unlist(lapply(each, `[[`, "features")))
  beta <- vapply(each, function(one) {
    replace(numeric(length(features)), match(one$features, features), one$beta)
  }, numeric(length(features)))
  u <- vapply(each, `[[`, numeric(length(each[[1L]]$u)), "u")
  by_response <- function(values, rows) matrix(values, rows, length(each))
  figure <- function(name) vapply(each, `[[`, 0, name)
  total <- function(name) sum(figure(name))
  list(features = features, beta = by_response(beta, length(features)),
       u = by_response(u, length(each[[1L]]$u)), objective = total("objective"),
       gap = total("gap"), null = total("null"), rounds = total("rounds"),
       products = total("products"), kept = max(figure("kept")),
       max_abs_corr = max(figure("max_abs_corr")))
}
