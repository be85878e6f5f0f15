# Slow twins of the pursuit and of the fixed-size machine, by solving anew at every step.

# Algorithm 3 of Karsmakers and others (2011) with its slips corrected: conjugate directions, the
# columns of P, each from the triangle B = P'A_S by back substitution.
oracle_directions <- function(A, b, k) {
  w <- numeric(length(b))
  c <- -b
  S <- which.max(abs(c))
  p <- replace(w, S, 1)
  P <- cbind(p)
  sizes <- list(w)
  eta <- numeric()
  repeat {
    t <- A %*% p
    eta <- c(eta, -sum(c * p) / sum(p * t))
    w <- w + eta[length(eta)] * p
    c <- drop(c + eta[length(eta)] * t)
    sizes <- c(sizes, list(w))
    if (length(S) == k) break
    S <- c(S, which.max(replace(abs(c), S, -1)))
    B <- t(P) %*% A[, S]
    j <- ncol(P)
    q <- numeric(j)
    for (i in j:1) {
      later <- setdiff(seq_len(j), seq_len(i))
      q[i] <- (-B[i, j + 1] - sum(B[i, later] * q[later])) / B[i, i]
    }
    p <- replace(numeric(length(b)), S, c(q, 1))
    P <- cbind(P, p)
  }
  list(S = S, w = sizes, P = unname(P), eta = eta, c = c)
}

# The greedy pursuit: residual and solution anew for every step. A component of which the others
# leave no more than `dependent` is not eligible; `first` come first; `lists` (a column for each
# step, of which the first `drawn` that are not in yet count) are the candidates.
oracle_pursuit <- function(A, b, k, score = "residual", first = integer(), lists = NULL,
                           drawn = 0, dependent = 1e-12) {
  b <- as.matrix(b)
  S <- integer()
  w <- matrix(0, nrow(b), ncol(b))
  sizes <- list(w)
  while (length(S) < k) {
    c <- A %*% w - b
    d <- oracle_pivots(A, S)
    value <- switch(score,
      residual = rowSums(c^2), normalised = rowSums(c^2) / diag(A), ols = rowSums(c^2) / d
    )
    value[d <= dependent * diag(A)] <- 0
    value[S] <- 0
    allowed <- seq_along(value)
    if (!is.null(lists)) {
      listed <- lists[, length(S) + 1]
      allowed <- utils::head(setdiff(listed, S), drawn)
    }
    waiting <- setdiff(first, S)
    if (length(waiting)) {
      s <- waiting[1]
    } else {
      nothing <- 1e-28 * max(rowSums(b^2))
      # a list without a use is no end
      if (!length(allowed) || max(value[allowed]) <= nothing) allowed <- seq_along(value)
      if (max(value[allowed]) <= nothing) break
      s <- allowed[which(value[allowed] >= max(value[allowed]) * (1 - 1e-9))[1]]
    }
    S <- c(S, s)
    w[S, ] <- solve(A[S, S, drop = FALSE], b[S, , drop = FALSE])
    sizes <- c(sizes, list(w))
  }
  list(S = S, w = sizes)
}

# the residual sum of squares of every component given those of S
oracle_pivots <- function(A, S) {
  if (!length(S)) return(diag(A))
  across <- A[S, , drop = FALSE]
  diag(A) - colSums(across * solve(A[S, S], across))
}

# The system of the linear model: X'X + lambda I of the working columns.
oracle_normal <- function(pb, lambda) {
  usable <- which(pb$columns$usable)
  X <- oracle_working(pb, oracle_columns(pb, usable))
  list(usable = usable, A = crossprod(X) + diag(lambda, length(usable)),
       b = crossprod(X, oracle_working(pb, pb$rows$y)))
}

# Fixed size --------------------------------------------------------------------------------------

# The example of no random numbers; prototypes of k-center begun at row 1.
small_machine <- function() {
  i <- 1:24
  x <- cbind(((3 * i) %% 11) / 11, ((5 * i) %% 13) / 13)
  list(x = x, y = factor(ifelse(sin(6 * x[, 1]) + x[, 2] > 0.5, 1, -1)), folds = i %% 4,
       prototypes = c(1, 18, 3, 5, 17, 8), sigma2 = 0.1, gamma = 10)
}

# Terms of a machine with the kernel k of two points: prototypes, then covariates; their penalty
# (34). `points` are row numbers or a matrix.
oracle_machine <- function(pb, k, points, gamma, nu = 1e-8 * mean(pb$rows$weight)) {
  x <- unname(as.matrix(pb$x))
  if (!is.matrix(points)) points <- x[points, , drop = FALSE]
  if (pb$coding$standardize) {
    points <- oracle_standardised(x, pb$rows$weight, unname(points))
    x <- oracle_standardised(x, pb$rows$weight)
  }
  n <- nrow(points)
  penalty <- diag(nu, n + ncol(pb$z))
  penalty[seq_len(n), seq_len(n)] <- oracle_kernel(k, points) / gamma
  list(terms = unname(cbind(oracle_kernel(k, x, points), pb$z)), penalty = penalty, n = n,
       rows = list(y = unname(pb$rows$y), weight = pb$rows$weight))
}

# (34) over some rows: what (36) and (37) leave when the others are taken out
oracle_machine_system <- function(machine, rows = seq_len(nrow(machine$rows$y))) {
  t <- machine$terms[rows, , drop = FALSE]
  w <- machine$rows$weight[rows]
  list(A = crossprod(t, w * t) + machine$penalty,
       b = crossprod(t, w * machine$rows$y[rows, , drop = FALSE]))
}

oracle_machine_path <- function(machine, k, rows = seq_len(nrow(machine$rows$y)), ...) {
  system <- oracle_machine_system(machine, rows)
  oracle_pursuit(system$A, system$b, k, ...)
}

# Held-out predictions after 0, 1, ..., k steps, a list of m x L matrices; a pursuit that is at its
# end stays there.
oracle_machine_out <- function(machine, k, ids, ...) {
  out <- rep(list(0 * machine$rows$y), k + 1)
  for (fold in unique(ids)) {
    test <- which(ids == fold)
    w <- oracle_machine_path(machine, k, which(ids != fold), ...)$w
    for (s in 0:k) {
      out[[s + 1]][test, ] <- machine$terms[test, , drop = FALSE] %*% w[[min(s + 1, length(w))]]
    }
  }
  out
}

# value and se of every size, two rows, averaged over the partitions
oracle_machine_errors <- function(machine, k, folds, name = "squared", ...) {
  each <- lapply(seq_len(ncol(folds$ids)), function(repetition) {
    ids <- folds$ids[, repetition]
    vapply(oracle_machine_out(machine, k, ids, ...), function(score) {
      retrain_mean(retrain_sums(machine, name, score, ids))
    }, c(value = 0, se = 0))
  })
  Reduce(`+`, each) / length(each)
}

# (38): the first size at which the error is within the share `change` of the mean of the `window`
# before it; the last when there is none. The first entry is size 1.
oracle_level <- function(errors, window, change) {
  for (size in seq_along(errors)) {
    if (size <= window) next
    before <- mean(errors[size - seq_len(window)])
    if (abs(before - errors[size]) / abs(errors[size]) < change) return(size)
  }
  length(errors)
}
