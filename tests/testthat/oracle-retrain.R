# Slow and obvious: retrain the ridge model without the fold, for every fold, by QR.

# Columns as the model sees them: centred and scaled once on all rows, not yet weighted or projected.
oracle_columns <- function(pb, features) {
  x <- as.matrix(pb$x[, features, drop = FALSE])
  sweep(sweep(x, 2, pb$centre[features]), 2, pb$scale[features], "/")
}

# Minimises sum_j w_j ||y_j - z_j b - x_j B||^2 + lambda ||B||^2 over the given rows.
oracle_ridge <- function(pb, features, lambda, rows = seq_len(nrow(pb$x))) {
  x <- oracle_columns(pb, features)[rows, , drop = FALSE]
  s <- length(features)
  q <- ncol(pb$z)
  w <- sqrt(pb$weights[rows])
  design <- rbind(w * cbind(pb$z[rows, , drop = FALSE], x),
                  cbind(matrix(0, s, q), diag(sqrt(lambda), s, s)))
  response <- rbind(w * pb$y[rows, , drop = FALSE], matrix(0, s, ncol(pb$y)))
  if (q + s == 0) return(list(b = matrix(0, 0, ncol(pb$y)), B = matrix(0, 0, ncol(pb$y))))
  coef <- qr.solve(design, response, tol = 1e-300)
  list(b = coef[seq_len(q), , drop = FALSE], B = coef[q + seq_len(s), , drop = FALSE])
}

oracle_predict <- function(pb, model, features, rows) {
  pb$z[rows, , drop = FALSE] %*% model$b +
    oracle_columns(pb, features)[rows, , drop = FALSE] %*% model$B
}

# Held-out predictions m x L of one partition.
oracle_held_out <- function(pb, features, lambda, ids) {
  out <- pb$y * NA
  for (fold in unique(ids)) {
    test <- which(ids == fold)
    model <- oracle_ridge(pb, features, lambda, which(ids != fold))
    out[test, ] <- oracle_predict(pb, model, features, test)
  }
  out
}

oracle_squared <- function(pb, features, lambda, folds) {
  total <- 0
  for (r in seq_len(ncol(folds$ids))) {
    residual <- pb$y - oracle_held_out(pb, features, lambda, folds$ids[, r])
    total <- total + sum(pb$weights * residual^2)
  }
  total / ncol(folds$ids) / (ncol(pb$y) * sum(pb$weights))
}
