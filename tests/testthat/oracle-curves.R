# Curves by splinefun() and Simpson's rule: the columns of one variable, its line and its directions
# of growing roughness, written for reading.

# All values if they are at most K. Otherwise values of more than a share 1 / (K - 1) of the rows,
# and quantiles of the others at equal steps.
oracle_knots <- function(v, K, ends) {
  u <- sort(unique(v))
  if (length(u) <= K) return(u)
  atom <- u[vapply(u, function(t) sum(v == t), 0) > length(v) / (K - 1)]
  rest <- sort(v[!v %in% atom])
  p <- seq(ends[1], ends[2], length.out = max(2, K - length(atom)))
  sort(unique(c(atom, rest[pmax(1, ceiling(p * length(rest) * (1 - 1e-12)))])))
}

oracle_curve <- function(v, K = 7, ends = c(0.02, 0.98), gamma = 1 / 2) {
  m <- length(v)
  t <- (v - mean(v)) / sqrt(mean((v - mean(v))^2))
  k <- oracle_knots(t, K, ends)
  if (length(k) < 3) return(list(X = cbind(t), p = 1))
  f <- lapply(seq_along(k), function(j) splinefun(k, as.numeric(seq_along(k) == j), "natural"))
  B <- vapply(f, function(s) s(t), t)
  second <- function(at) vapply(f, function(s) s(at, deriv = 2), at)
  a <- k[-length(k)]
  b <- k[-1]
  h <- b - a
  # second derivatives are lines between knots, for which Simpson's rule is exact
  A <- second(a)
  D <- second(b)
  A[1, ] <- 0
  D[nrow(D), ] <- 0
  middle <- (A + D) / 2
  S <- (crossprod(A, h * A) + 4 * crossprod(middle, h * middle) + crossprod(D, h * D)) / 6
  e <- eigen(crossprod(B) / m, symmetric = TRUE)
  root <- e$vectors %*% (t(e$vectors) / sqrt(e$values))
  e <- eigen(root %*% S %*% root, symmetric = TRUE)
  take <- rev(seq_len(length(k) - 2))
  V <- root %*% e$vectors[, take, drop = FALSE]
  V <- V %*% diag(ifelse(V[length(k), ] < 0, -1, 1), ncol(V))
  list(X = cbind(t, B %*% V), p = c(1, (e$values[take] / e$values[take][1])^gamma),
       d = e$values[take], knots = k * sqrt(mean((v - mean(v))^2)) + mean(v))
}
