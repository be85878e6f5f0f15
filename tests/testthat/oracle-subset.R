# The greedy searches for a best subset, by fitting anew for every candidate.

# One less the penalised residual sum of squares over that without columns.
oracle_gain <- function(pb, features, lambda) {
  1 - oracle_penalised(pb, features, lambda) / oracle_penalised(pb, integer(), 0)
}

oracle_penalised <- function(pb, features, lambda) {
  model <- oracle_ridge(pb, features, lambda)
  sum(pb$rows$weight * (pb$rows$y - model$pred)^2) + lambda * sum(model$B^2)
}

# weighted columns less what the covariates explain
oracle_working <- function(pb, values) unname(covariate_residual(pb)(sqrt(pb$rows$weight) * values))

# Whether the last column of a set is one more dimension.
oracle_independent <- function(pb, features, lambda) {
  x <- oracle_working(pb, oracle_columns(pb, features))
  s <- length(features)
  x <- rbind(x, diag(sqrt(lambda), s, s))
  left <- if (s > 1) qr.resid(qr(x[, -s, drop = FALSE], tol = 1e-5), x[, s]) else x[, s]
  sum(left^2) > 1e-10 * sum(x[, s]^2)
}

oracle_candidates <- function(pb, set, lambda) {
  Filter(function(i) oracle_independent(pb, c(set, i), lambda),
         setdiff(which(pb$columns$usable), set))
}

first_best <- function(score) which(score >= max(score) * (1 - 1e-9))[1]

# The columns that forward regression adds, in order.
oracle_forward <- function(pb, k, lambda) {
  set <- integer()
  while (length(set) < k && length(free <- oracle_candidates(pb, set, lambda))) {
    gain <- vapply(free, function(i) oracle_gain(pb, c(set, i), lambda), 0)
    gain <- gain - oracle_gain(pb, set, lambda)
    if (max(gain) < 1e-14) break
    set <- c(set, free[first_best(gain)])
  }
  set
}

# The column that matching pursuit adds next.
oracle_match <- function(pb, set, lambda) {
  free <- oracle_candidates(pb, set, lambda)
  residual <- sqrt(pb$rows$weight) * (pb$rows$y - oracle_ridge(pb, set, lambda)$pred)
  score <- vapply(free, function(i) {
    x <- oracle_working(pb, oracle_columns(pb, i))
    sum(crossprod(residual, x)^2) / sum(x^2)
  }, 0)
  if (length(free) && max(score) > 1e-12) free[first_best(score)]
}

oracle_omp <- function(pb, k, lambda) {
  set <- integer()
  while (length(set) < k && !is.null(i <- oracle_match(pb, set, lambda))) set <- c(set, i)
  set
}

# The signed moves of adaptive forward-backward search.
oracle_foba <- function(pb, k, lambda, nu, largest) {
  set <- integer()
  moves <- integer()
  gain <- numeric()
  error <- function(set) oracle_penalised(pb, set, lambda)
  while (length(moves) < 5 * k && length(set) < largest &&
           !is.null(i <- oracle_match(pb, set, lambda))) {
    gain[length(set) + 1] <- error(set) - error(c(set, i))
    set <- c(set, i)
    moves <- c(moves, i)
    while (length(moves) < 5 * k && length(set) > 1) {
      cost <- vapply(set, function(i) error(setdiff(set, i)), 0) - error(set)
      if (min(cost) > nu * gain[length(set)]) break
      i <- min(set[cost <= min(cost) * (1 + 1e-9)])
      set <- setdiff(set, i)
      moves <- c(moves, -i)
    }
  }
  moves
}

# Weights of least norm of the ridge model, by singular vectors.
oracle_weights <- function(pb, features, lambda) {
  x <- oracle_working(pb, oracle_columns(pb, features))
  parts <- svd(x)
  kept <- parts$d > 1e-7 * parts$d[1]
  shrunk <- parts$d[kept] / (parts$d[kept]^2 + lambda)
  projected <- crossprod(parts$u[, kept, drop = FALSE], oracle_working(pb, pb$rows$y))
  parts$v[, kept, drop = FALSE] %*% (shrunk * projected)
}

# The columns that elimination drops, in order, down to none. Columns must be independent when they
# are fewer than rows.
oracle_rfe <- function(pb, k, lambda, step) {
  set <- which(pb$columns$usable)
  dropped <- integer()
  while (length(set)) {
    size <- rowSums(oracle_weights(pb, set, lambda)^2)
    count <- 1
    if (length(set) > k) {
      count <- if (step < 1) max(1, floor(step * length(set))) else step
      count <- min(count, length(set) - k)
    }
    out <- set[order(size)[seq_len(count)]]
    dropped <- c(dropped, out)
    set <- setdiff(set, out)
  }
  dropped
}

# m rows with exactly this covariance (divisor m) of three columns and a response of variance 1.
exact_data <- function(covariance, b, m) {
  v <- chol(rbind(cbind(covariance, b), c(b, 1)))
  white <- qr.Q(qr(cbind(1, matrix(rnorm(4 * m), m))))[, -1] * sqrt(m)
  values <- white %*% v
  list(x = unname(values[, 1:3]), y = unname(values[, 4]))
}

# Example 1 of Qian, Yu and Zhou with r2 = 0.03 and r3 = 0.5.
example_1 <- function(delta, m = 40) {
  covariance <- rbind(c(1, 0.03, 0.015), c(0.03, 1, 0.5), c(0.015, 0.5, 1))
  exact_data(covariance, c(1, 1.03, 1.02) * delta, m)
}
