# Slow twins of what solves A w = b sparsely, from the definitions.

# The system of no random numbers that the numbers in the tests belong to.
small_system <- function() {
  i <- 1:8
  j <- 1:5
  x <- outer(i, j, function(i, j) ((i * j) %% 7) / 7 + (i == j))
  list(x = x, y = (i^2 %% 5) - 1.5, A = crossprod(x) + diag(0.01, 5),
       b = drop(crossprod(x, (i^2 %% 5) - 1.5)))
}

# D components, the last of L right sides
random_system <- function(D, rows = 2 * D, L = 1, ridge = 0) {
  x <- matrix(rnorm(rows * D), rows) %*% diag(exp(rnorm(D) / 2), D)
  list(A = crossprod(x) + diag(ridge, D), b = crossprod(x, matrix(rnorm(rows * L), rows)))
}

general_sparse <- function(A) {
  methods::as(methods::as(A, "CsparseMatrix"), "generalMatrix")
}

oracle_objective <- function(A, b, w) sum(diag(t(w) %*% A %*% w)) / 2 - sum(b * w)

# One component at a time to where |A w - b| is largest; the residual anew every time.
oracle_moves <- function(A, b, moves, shrinkage = 1) {
  b <- as.matrix(b)
  w <- matrix(0, nrow(b), ncol(b))
  component <- integer()
  objective <- 0
  for (move in seq_len(moves)) {
    c <- A %*% w - b
    j <- which.max(sqrt(rowSums(c^2)))
    w[j, ] <- w[j, ] - shrinkage * c[j, ] / A[j, j]
    component <- c(component, j)
    objective <- c(objective, oracle_objective(A, b, w))
  }
  list(w = w, component = component, objective = objective, residual = sqrt(sum((A %*% w - b)^2)))
}

# The lasso by trying every support and every choice of signs for the one that is optimal.
oracle_lasso <- function(A, b, lambda) {
  signs <- as.matrix(expand.grid(rep(list(-1:1), length(b))))
  for (row in seq_len(nrow(signs))) {
    s <- signs[row, ]
    S <- which(s != 0)
    w <- numeric(length(b))
    if (length(S)) w[S] <- solve(A[S, S, drop = FALSE], b[S] - lambda * s[S])
    c <- A %*% w - b
    if (all(w[S] * s[S] > 0) && all(abs(c[s == 0]) <= lambda)) return(w)
  }
  NULL
}

# Least angle regression step by step: the correlations r of the components in fall together, until
# another one has as large a one. A row per knot.
oracle_lar <- function(A, b) {
  D <- length(b)
  w <- numeric(D)
  S <- which.max(abs(b))
  order <- S
  knots <- max(abs(b))
  all_w <- list(w)
  repeat {
    r <- drop(b - A %*% w)
    C <- max(abs(r))
    d <- solve(A[S, S, drop = FALSE], sign(r[S]))
    a <- drop(A[, S, drop = FALSE] %*% d)
    step <- C
    new <- NULL
    for (j in setdiff(seq_len(D), S)) for (sign in c(-1, 1)) {
      g <- (C - sign * r[j]) / (1 - sign * a[j])
      if (1 - sign * a[j] > 0 && g < step) {
        step <- g
        new <- j
      }
    }
    w[S] <- w[S] + step * d
    knots <- c(knots, C - step)
    all_w <- c(all_w, list(w))
    if (is.null(new)) return(list(lambda = knots, order = order, w = all_w))
    S <- sort(c(S, new))
    order <- c(order, new)
  }
}

# By how much w misses the optimality conditions of the lasso at lambda, relative to max |b|.
lasso_violation <- function(A, b, w, lambda) {
  c <- drop(A %*% w - b)
  on <- w != 0
  max(0, abs(c[on] + lambda * sign(w[on])), abs(c[!on]) - lambda) / max(abs(b))
}
