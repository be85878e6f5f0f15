# The checks of a sparse solution of A w = b, and how it is solved again for verify().

#' @exportS3Method
checks_of.system_fit <- function(fit, x, y, ..., data) {
  check_method_call(..., object = fit, known = names(formals(verify)))
  stop_argument_if(is.null(y),
                   "a solution of a system is verified with `A` and `b`: verify(fit, A, b)")
  system <- as_system(x, y)
  sides <- ncol(fit$coefficients[[1L]]$beta)
  stop_argument_if(!identical(system$names, fit$names) || system$L != sides,
                   "the system differs from the system of the fit: %s",
                   if (system$L != sides) "`b` has another number of columns" else
                     "its components have other names or are more or fewer")
  rows <- if (is.null(fit$knots)) row_solutions(fit, system) else fit$knots
  models <- Filter(Negate(is.null), fit$coefficients)
  values <- lapply(c(objective = "objective", residual = "residual"), function(name) {
    vapply(models, `[[`, 0, name)
  })
  # the solution of A_SS w = b_S, the coefficients after the moves of a pursuit, or of a knot
  solved <- remembered(function(i) {
    model <- models[[i]]
    if (!isFALSE(fit$control$debias)) return(solved_by_qr(system, model$components, system$b))
    if (!is.null(fit$knots)) return(fit$knots[[model$step + 1L]]$beta)
    at <- max(which(fit$path$size == length(model$components)))
    rows[[at]]$beta[match(model$components, rows[[at]]$components), , drop = FALSE]
  })
  lambda <- if (is.null(fit$path$lambda)) NA else fit$path$lambda
  list(kinds = c(
    value_kinds(fit$path, rows, system, "", lambda),
    value_kinds(values, models, system, " of a model"),
    list(system_kind("coefficient", models, solved, fit, system)),
    if (!is.null(fit$knots)) knot_kinds(fit, system), component_kinds(fit, rows, system)
  ), unchecked = if (is.null(step_score(fit)) && is.null(fit$knots)) {
    "that the search, which draws at random, gives these components"
  })
}

# the condition number of the equations of some components
system_condition <- function(system, S) {
  if (!length(S)) return(1)
  values <- svd(system_columns(system, S)[S, , drop = FALSE], 0L, 0L)$d
  max(values) / max(min(values), 1e-16 * max(values))
}

# The solution after each row of the path. A pursuit by moves is repeated.
row_solutions <- function(fit, system) {
  path <- fit$path
  if (fit$method != "matching_pursuit") return(fit$coefficients[path$size + 1L])
  S <- integer()
  beta <- matrix(0, 0L, system$L)
  gradient <- -system$b
  lapply(seq_len(nrow(path)), function(row) {
    j <- path$component[row]
    if (!is.na(j)) {
      if (!j %in% S) {
        S <<- c(S, j)
        beta <<- rbind(beta, 0)
      }
      column <- system_columns(system, j)
      change <- fit$control$shrinkage * gradient[j, ] / column[j]
      beta[match(j, S), ] <<- beta[match(j, S), ] - change
      gradient <<- gradient - column %*% rbind(change)
    }
    list(components = S, beta = beta)
  })
}

# objective and residual of solutions
value_kinds <- function(table, solutions, system, of, lambda = NA) {
  size <- lengths(lapply(solutions, `[[`, "components"))
  unit <- list(objective = max(abs(table$objective)), residual = sqrt(sum(system$b^2)))
  lapply(c("objective", "residual"), function(name) {
    check_kind(paste0(name, of), table[[name]], function(at, cell) {
      one <- solutions[[at]]
      S <- one$components
      product <- system_columns(system, S) %*% one$beta
      value <- if (name == "residual") sqrt(sum((system$b - product)^2)) else
        sum(one$beta * (product / 2 - system$b)[S, , drop = FALSE])
      list(value = value, unit = unit[[name]], condition = system_condition(system, S))
    }, size, lambda)
  })
}

# The coefficients of solutions, where solved(at) computes the expected coefficients.
system_kind <- function(words, solutions, solved, fit, system, lambda = NA) {
  check_kind(words, lapply(solutions, `[[`, "beta"), function(at, cell) {
    value <- solved(at)
    S <- solutions[[at]]$components
    list(value = value, unit = max(abs(value)), condition = system_condition(system, S),
         feature = fit$names[S])
  }, lengths(lapply(solutions, `[[`, "components")), lambda)
}

# The knots of a path of lambda: w_S solves A_SS w = b_S - lambda s with s the signs of b - A w, and
# lambda is the largest |b - A w|.
knot_kinds <- function(fit, system) {
  lambda <- fit$path$lambda
  list(
    system_kind("coefficient at a knot", fit$knots, function(at) {
      signs <- sign(solution_rest(system, fit$knots[[at]]))
      solved_by_qr(system, fit$knots[[at]]$components, system$b - lambda[at] * signs)
    }, fit, system, lambda),
    check_kind("lambda of a knot", lambda[seq_along(fit$knots)], function(at, cell) {
      list(value = max(abs(solution_rest(system, fit$knots[[at]]))), unit = max(abs(system$b)),
           condition = system_condition(system, fit$knots[[at]]$components))
    }, lengths(lapply(fit$knots, `[[`, "components")), lambda)
  )
}

# No component had a larger score at a step than the chosen one. Components that depend on the set
# of the step are left out.
component_kinds <- function(fit, rows, system) {
  score <- step_score(fit)
  steps <- which(fit$path$action %in% c("add", "move"))
  if (is.null(score)) return(NULL)
  list(check_kind("no better component at a step", NULL, function(at, cell) {
    before <- rows[[steps[at] - 1L]]
    values <- score(system, rowSums(solution_rest(system, before)^2), before$components)
    chosen <- fit$path$component[steps[at]]
    taken <- if (fit$path$action[steps[at]] == "add") before$components
    others <- setdiff(order(-values), c(chosen, taken))
    better <- others[values[others] > values[chosen]]
    free <- Find(function(j) !is_dependent(system, before$components, j), better)
    list(claimed = values[chosen], value = values[c(free, chosen)[1L]], unit = max(values),
         condition = system_condition(system, before$components), feature = fit$names[chosen])
  }, fit$path$size[steps], counts = rep(1L, length(steps))))
}
