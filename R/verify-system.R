# What a sparse solution of A w = b claims, and how it is solved again for verify().

#' @exportS3Method
claims_of.system_fit <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  check_sealed(fit)
  check_dots(..., known = names(formals(verify)))
  if (is.null(y)) {
    stop_input("a solution of a system is verified with `A` and `b`: verify(fit, A, b)",
               "sparsels_error_argument")
  }
  system <- as_system(x, y)
  sides <- ncol(fit$coefficients[[1L]]$beta)
  if (!identical(system$names, fit$names) || system$L != sides) {
    stop_input(sprintf("the system is not that of the fit: %s",
                       if (system$L != sides) "`b` has another number of columns" else
                         "its components have other names or are more or fewer"),
               "sparsels_error_argument")
  }
  rows <- if (is.null(fit$knots)) row_solutions(fit, system) else fit$knots
  models <- Filter(Negate(is.null), fit$coefficients)
  list(kinds = Filter(Negate(is.null), c(
    value_claims(fit$path, rows, system, "", fit$path$lambda),
    value_claims(data.frame(objective = vapply(models, `[[`, 0, "objective"),
                            residual = vapply(models, `[[`, 0, "residual")),
                 models, system, " of a model"),
    list(solution_claims(fit, models, system), knot_claims(fit, system),
         knot_lambda_claims(fit, system), component_claims(fit, rows, system))
  )), unchecked = if (is.null(step_score(fit)) && is.null(fit$knots)) {
    "that the components are those of the search, which draws at random"
  })
}

# A function of two solutions of linear equations is to their condition number what a tolerance is.
system_tolerance <- function(system, S) {
  if (!length(S)) return(1e-10)
  values <- svd(system_columns(system, S)[S, , drop = FALSE], 0L, 0L)$d
  tolerance_of(max(values) / max(min(values), 1e-16 * max(values)))
}

# The solution after each row of the path. A pursuit by moves is followed again.
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
value_claims <- function(table, solutions, system, of, lambda = NULL) {
  value <- remembered(function(i) {
    one <- solutions[[i]]
    product <- system_columns(system, one$components) %*% one$beta
    half <- product[one$components, , drop = FALSE] / 2
    list(objective = sum(one$beta * (half - system$b[one$components, , drop = FALSE])),
         residual = sqrt(sum((system$b - product)^2)),
         tolerance = system_tolerance(system, one$components))
  })
  scale <- 1e-3 * c(objective = max(abs(table$objective)), residual = sqrt(sum(system$b^2)))
  lapply(c("objective", "residual"), function(name) {
    claim_kind(paste0(name, of), nrow(table), function(i) {
      own <- value(i)
      new_claim(table[[name]][i], own[[name]], own$tolerance, scale[[name]],
                size = length(solutions[[i]]$components),
                lambda = if (is.null(lambda)) NA else lambda[i])
    })
  })
}

# The coefficients of the models: those that solve A_SS w = b_S, those after the moves of a pursuit,
# or those of a knot.
solution_claims <- function(fit, models, system) {
  exact <- !isFALSE(fit$control$debias)
  rows <- if (!exact && is.null(fit$knots)) row_solutions(fit, system)
  own <- remembered(function(i) {
    model <- models[[i]]
    if (is.null(rows) && !exact) return(fit$knots[[model$step + 1L]]$beta)
    if (exact) return(solved_by_qr(system, model$components, system$b))
    at <- max(which(fit$path$size == length(model$components)))
    rows[[at]]$beta[match(model$components, rows[[at]]$components), , drop = FALSE]
  })
  claims_of_each("coefficient", lengths(lapply(models, `[[`, "beta")), function(at, cell) {
    found <- own(at)
    component <- models[[at]]$components[(cell - 1L) %% nrow(found) + 1L]
    new_claim(models[[at]]$beta[cell], found[cell],
              system_tolerance(system, models[[at]]$components), 1e-3 * max(abs(found)),
              size = length(models[[at]]$components), feature = fit$names[component])
  })
}

solved_by_qr <- function(system, S, right) {
  if (!length(S)) return(matrix(0, 0L, ncol(right)))
  qr.coef(qr(system_columns(system, S)[S, , drop = FALSE], tol = 1e-300), right[S, , drop = FALSE])
}

# The knots of a path of lambda: w_S solves A_SS w = b_S - lambda s, s being the signs of b - A w.
knot_claims <- function(fit, system) {
  knots <- fit$knots
  if (is.null(knots)) return(NULL)
  claims_of_each("coefficient at a knot", lengths(lapply(knots, `[[`, "beta")), function(at, cell) {
    S <- knots[[at]]$components
    lambda <- fit$path$lambda[at]
    rest <- knot_rest(system, knots[[at]])
    found <- solved_by_qr(system, S, system$b - lambda * sign(rest))
    new_claim(knots[[at]]$beta[cell], found[cell], system_tolerance(system, S),
              1e-3 * max(abs(found)), size = length(S), lambda = lambda,
              feature = fit$names[S[cell]])
  })
}

# b - A w
knot_rest <- function(system, knot) {
  system$b - system_columns(system, knot$components) %*% knot$beta
}

# lambda is the largest of all |b - A w|
knot_lambda_claims <- function(fit, system) {
  if (is.null(fit$knots)) return(NULL)
  claim_kind("lambda of a knot", length(fit$knots), function(i) {
    knot <- fit$knots[[i]]
    new_claim(fit$path$lambda[i], max(abs(knot_rest(system, knot))),
              system_tolerance(system, knot$components), 1e-3 * max(abs(system$b)),
              size = length(knot$components), lambda = fit$path$lambda[i])
  })
}

# No component had a larger score at a step than the one taken. Those that depend on the set of the
# step are not taken.
component_claims <- function(fit, rows, system) {
  score <- step_score(fit)
  steps <- which(fit$path$action %in% c("add", "move"))
  if (is.null(score) || !length(steps)) return(NULL)
  claim_kind("no better component at a step", length(steps), function(i) {
    row <- steps[i]
    before <- rows[[row - 1L]]
    values <- score(system, rowSums(knot_rest(system, before)^2), before$components)
    chosen <- fit$path$component[row]
    taken <- if (fit$path$action[row] == "add") before$components
    others <- setdiff(order(-values), c(chosen, taken))
    better <- others[values[others] > values[chosen]]
    free <- Find(function(j) !is_dependent(system, before$components, j), better)
    new_claim(values[chosen], if (length(free)) values[free] else values[chosen],
              system_tolerance(system, before$components), 1e-3 * max(values),
              size = fit$path$size[row], feature = fit$names[chosen])
  })
}

# the score that a search maximises, of the squared residuals, NULL where it draws or has another
step_score <- function(fit) {
  plain <- function(system, squares, set) squares
  if (fit$method == "matching_pursuit") return(plain)
  if (fit$method != "scdp" || !is.null(fit$control$candidates)) return(NULL)
  switch(fit$control$score,
    residual = plain,
    normalised = function(system, squares, set) squares / system$diagonal,
    ols = function(system, squares, set) {
      columns <- system_columns(system, set)
      inner <- qr(columns[set, , drop = FALSE], tol = 1e-300)
      across <- if (length(set)) rowSums(t(qr.coef(inner, t(columns))) * columns) else 0
      given <- system$diagonal - across
      ifelse(given > 1e-10 * system$diagonal, squares / given, 0)
    }
  )
}

is_dependent <- function(system, S, j) {
  if (j %in% S || !length(S)) return(FALSE)
  column <- system_columns(system, j)
  across <- solved_by_qr(system, S, column)
  column[j] - sum(across * column[S, ]) <= 1e-8 * column[j]
}
