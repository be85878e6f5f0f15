# Several responses, or classes one against the rest: each has its own problem with an l1 penalty,
# and the solution of a lambda is made of theirs.

# The scale of each response in the objective: the standard deviation of what the covariates leave
# of it, or 1.
response_scales <- function(problem, standardize) {
  L <- ncol(problem$y)
  if (L == 1L || problem$task != "regression" || !standardize) return(rep(1, L))
  rms <- sqrt(colSums(working_response(problem)^2) / sum(problem$weights))
  # the rest of a response that the covariates explain is rounding
  size <- sqrt(colSums(problem$weights * problem$y^2) / sum(problem$weights))
  ifelse(rms > 1e-10 * size, rms, 1)
}

is_scaled <- function(scale) any(scale != 1)

# The problem of one response, in units of its scale; a class is one against the rest.
one_response <- function(problem, l, scale) {
  if (ncol(problem$y) == 1L) return(problem)
  problem$y <- problem$y[, l, drop = FALSE] / scale[l]
  if (problem$task == "multiclass") {
    problem$task <- "binary"
    problem$levels <- c("others", problem$levels[l])
  }
  problem
}

# The problem with all responses in units of their scales.
scaled_responses <- function(problem, scale) {
  problem$y <- problem$y / rep(scale, each = nrow(problem))
  problem
}

# The part of a solution that belongs to one response, in units of its scale.
solution_of_response <- function(solution, l, scale) {
  if (!is.matrix(solution$beta)) return(solution)
  used <- which(solution$beta[, l] != 0)
  list(features = solution$features[used], beta = solution$beta[used, l] / scale[l],
       u = solution$u[, l] / scale[l])
}

# The solution of a lambda from those of the responses: the columns of any of them, coefficients
# (columns x responses, covariates x responses) in the user's units of the responses, and the sums
# of objectives and of gaps, which bound the sum's gap.
join_responses <- function(each, scale) {
  features <- unique(unlist(lapply(each, `[[`, "features")))
  beta <- vapply(each, function(one) {
    replace(numeric(length(features)), match(one$features, features), one$beta)
  }, numeric(length(features)))
  u <- vapply(each, `[[`, numeric(length(each[[1L]]$u)), "u")
  by_response <- function(values, rows) {
    matrix(values, rows, length(each)) * rep(scale, each = rows)
  }
  figure <- function(name) vapply(each, `[[`, 0, name)
  total <- function(name) sum(figure(name))
  list(features = features, beta = by_response(beta, length(features)),
       u = by_response(u, length(each[[1L]]$u)), objective = total("objective"),
       gap = total("gap"), null = total("null"), rounds = total("rounds"),
       products = total("products"), kept = max(figure("kept")),
       max_abs_corr = max(figure("max_abs_corr")))
}

# Errors of the chosen model for each response, in its own units: held out where the fit has
# held-out values, else of the training rows. NULL for a single response and for classes.
response_errors <- function(problem, fit) {
  if (ncol(problem$y) == 1L || problem$task != "regression") return(NULL)
  held_out <- !anyNA(fit$held_out)
  off <- problem$y - if (held_out) fit$held_out else fit$fitted
  squared <- colSums(problem$weights * off^2) / sum(problem$weights)
  null <- colSums(working_response(problem)^2) / sum(problem$weights)
  data.frame(response = colnames(problem$y), squared = unname(squared),
             r_squared = unname(ifelse(null > 0, 1 - squared / null, NA)))
}

print_responses <- function(fit) {
  table <- fit$responses
  if (is.null(table)) return(invisible())
  words <- if (is_training(fit)) "R-squared on the training rows" else "held-out R-squared"
  shown <- paste(table$response, shown(table$r_squared))
  if (length(shown) > 6L) shown <- c(shown[1:5], sprintf("and %d more", length(shown) - 5L))
  say(words, ": mean ", shown(mean(table$r_squared)), " (", paste(shown, collapse = ", "), ")")
}
