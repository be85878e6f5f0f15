# Slow and obvious: solve the linear system of a least-squares support vector machine with bias, and
# solve it again for every set of rows held out. Nothing here calls the package.

# C of (alpha; b0) = C^-1 (y; 0), for kernel matrix K and case weights v.
oracle_lssvm_matrix <- function(K, gamma, v = rep(1, nrow(K))) {
  rbind(cbind(K + diag(1 / (gamma * v), nrow(K)), 1), c(rep(1, nrow(K)), 0))
}

# list(alpha = n x L, b0 = L)
oracle_lssvm <- function(K, y, gamma, v = rep(1, nrow(K))) {
  solution <- solve(oracle_lssvm_matrix(K, gamma, v), rbind(as.matrix(y), 0))
  n <- nrow(K)
  list(alpha = solution[seq_len(n), , drop = FALSE], b0 = solution[n + 1, ])
}

# Values at points whose kernels with the n rows are in the rows of K.
oracle_lssvm_values <- function(model, K) sweep(K %*% model$alpha, 2, model$b0, "+")

# Predictions of every row (n x L), trained without the rows of its fold.
oracle_lssvm_folds <- function(K, y, gamma, ids, v = rep(1, nrow(K))) {
  y <- as.matrix(y)
  out <- y * NA
  for (held in split(seq_along(ids), ids)) {
    model <- oracle_lssvm(K[-held, -held, drop = FALSE], y[-held, , drop = FALSE], gamma, v[-held])
    out[held, ] <- oracle_lssvm_values(model, K[held, -held, drop = FALSE])
  }
  out
}

# An example without random numbers: 24 points of two classes, 12 each.
lssvm_example <- function() {
  i <- 1:24
  x <- cbind((3 * i) %% 11 / 11, (5 * i) %% 13 / 13)
  list(x = x, y = ifelse(sin(6 * x[, 1]) + x[, 2] > 0.5, 1, -1), sigma2 = 0.1, gamma = 10)
}

# Phi Phi' = K_NM K_MM^+ K_MN
oracle_nystrom <- function(K, own, tolerance = 1e-12) {
  parts <- eigen(own, symmetric = TRUE)
  kept <- parts$values > tolerance * max(parts$values)
  U <- parts$vectors[, kept, drop = FALSE]
  K %*% U %*% diag(1 / parts$values[kept], sum(kept)) %*% t(K %*% U)
}
