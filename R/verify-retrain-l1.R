# Optimality of models with an l1 penalty, for verify(): objective, dual point and duality gap in
# plain R from the user's coefficients.

# A model at a lambda: its values f (m x responses), loss, objective, the products of all columns
# with its dual point, less what the ridge takes from them, with the signs of the coefficients
# (columns x responses), and the duality gap. `model` is on the user's scale.
solution_point <- function(problem, fit, lambda, model,
                           residual = covariate_residual(problem)) {
  points <- lapply(seq_len(ncol(problem$y)), function(l) {
    response_point(one_response(problem, l), fit, lambda, model_of_response(model, l), residual)
  })
  total <- function(name) sum(vapply(points, `[[`, 0, name))
  bound <- function(name) do.call(cbind, lapply(points, `[[`, name))
  list(f = bound("f"), loss = total("loss"), objective = total("objective"), gap = total("gap"),
       products = bound("products"), signs = bound("signs"))
}

# the part of a model that belongs to one response
model_of_response <- function(model, l) {
  used <- if (ncol(model$beta) == 1L) seq_along(model$features) else which(model$beta[, l] != 0)
  list(features = model$features[used], beta = model$beta[used, l, drop = FALSE],
       covariates = model$covariates[, l, drop = FALSE])
}

# The point of a single response.
response_point <- function(problem, fit, lambda, model, residual) {
  loss <- fit$loss
  alpha <- fit$alpha
  x <- plain_columns(problem, model$features)
  f <- drop(x %*% model$beta + problem$z %*% model$covariates)
  y <- problem$y[, 1L]
  w <- problem$weights
  scaled <- drop(model$beta) * problem$scale[model$features]
  value <- sum(w * plain_loss(loss, y, f))
  r <- switch(loss,
    squared = sqrt(w) * (y - f),
    logistic = sqrt(w) * y * stats::plogis(-y * f),
    hinge = hinge_point(problem, f, lambda, model$features, sign(scaled))
  )
  r <- residual(r)
  products <- column_products(problem, r)
  products[model$features] <- products[model$features] - lambda * (1 - alpha) * scaled
  objective <- value + lambda * (alpha * sum(abs(scaled)) + (1 - alpha) / 2 * sum(scaled^2))
  tail <- if (alpha < 1) lambda * (1 - alpha) * sum(scaled^2) else 0
  dual <- dual_value(problem, loss, r, max(abs(products)), alpha * lambda, tail)
  list(f = f, loss = value, objective = objective, products = products, gap = objective - dual,
       signs = replace(numeric(ncol(problem)), model$features, sign(scaled)))
}

# The dual point of the hinge loss. alpha is w below the margin and 0 above. At the margin alpha
# makes the products of the columns in the model equal to lambda and the products of the covariates
# 0.
hinge_point <- function(problem, f, lambda, features, signs) {
  y <- problem$y[, 1L]
  w <- problem$weights
  slack <- 1 - y * f
  margin <- margin_rows(problem, f)
  alpha <- ifelse(slack > 0, w, 0)
  alpha[margin] <- 0
  columns <- cbind(problem$z, retrain_columns(problem, features)$values) * y
  wanted <- c(numeric(ncol(problem$z)), lambda * signs) - drop(crossprod(columns, alpha))
  if (length(margin)) {
    inner <- t(columns[margin, , drop = FALSE])
    solved <- qr.coef(qr(inner, tol = 1e-9), wanted)
    alpha[margin] <- pmin(pmax(ifelse(is.na(solved), 0, solved), 0), w[margin])
  }
  y * alpha / weight_divisor(problem)
}

margin_rows <- function(problem, f) {
  which(problem$weights > 0 & abs(1 - problem$y[, 1L] * f) <= 1e-7 * max(1, abs(f)))
}

# whether the rows on the margin are at most as many as the equations for their part of the dual
# point
is_determined <- function(problem, model) {
  f <- plain_columns(problem, model$features) %*% model$beta + problem$z %*% model$covariates
  length(margin_rows(problem, drop(f))) <= length(model$features) + ncol(problem$z)
}
