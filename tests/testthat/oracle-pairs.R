# Pairs by products made one by one: the factors of a column, the score of a pair, and residuals by
# retraining without each row. Written for reading.

# The line and the first directions of a column, q functions, in standard units, clipped at 3. A
# column of at most six values has its line alone.
oracle_pair_factors <- function(v, q = 2) {
  found <- if (length(unique(v)) > 6) oracle_curve(v)$X[, seq_len(q)] else
    matrix((v - mean(v)) / sqrt(mean((v - mean(v))^2)))
  pmin(pmax(found, -3), 3)
}

# all products of the factors of two columns
oracle_pair_products <- function(one, other) {
  do.call(cbind, lapply(seq_len(ncol(other)), function(b) one * other[, b]))
}

# The score of a pair and its degrees of freedom, from its products, residuals and weights.
oracle_pair_score <- function(products, r, w) {
  r <- r - sum(w * r) / sum(w)
  s2 <- sum(w * r^2) / sum(w > 0)
  gains <- apply(products, 2, function(c) {
    about <- c - sum(w * c) / sum(w)
    sum(w * r * about)^2 / sum(w * about^2) / s2
  })
  c(score = sum(gains), df = ncol(products))
}

# Leave-one-out residuals of the ridge model of x, with columns of variance 1 and penalties p, at
# the best of the lambdas, an intercept and weights.
oracle_additive_residuals <- function(x, y, w, p, lambdas) {
  each <- lapply(lambdas, function(lambda) {
    vapply(seq_along(y), function(i) {
      own <- replace(w, i, 0)
      z <- cbind(1, x)
      b <- solve(crossprod(z, own * z) + diag(lambda * c(0, p)), crossprod(z, own * y))
      y[i] - sum(z[i, ] * b)
    }, 0)
  })
  each[[which.min(vapply(each, function(r) sum(w * r^2), 0))]]
}
