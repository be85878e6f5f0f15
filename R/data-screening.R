# Screening of pairs: scores of all pairs of columns by residuals of models of the other columns.

# The logarithm of the probability by chance of the score of each pair of columns (n x n), from
# their factors z (rows x 2 n: all lines, then all first directions), held-out residuals r (rows x
# responses) and weights w. The score of a product c is (sum w r c)^2 / (s^2 sum w (c - mean)^2),
# and the score of a pair is the sum over its products and the responses. Without an effect it is
# about chi-squared. No product is made: the sums are products of matrices.
pair_chances <- function(z, r, w) {
  total <- sum(w)
  own <- crossprod(z^2, w * z^2)
  squares <- own - crossprod(z, w * z)^2 / total
  varies <- squares > 1e-8 * own & own > 0
  score <- 0 * own
  for (l in seq_len(ncol(r))) {
    residual <- r[, l] - sum(w * r[, l]) / total
    variance <- sum(w * residual^2) / sum(w > 0)
    if (variance == 0) next
    score <- score + crossprod(z, w * residual * z)^2 / ifelse(varies, squares, Inf) / variance
  }
  n <- ncol(z) / 2L
  of_pairs <- function(values) {
    line <- seq_len(n)
    values[line, line] + values[line, -line] + values[-line, line] + values[-line, -line]
  }
  df <- ncol(r) * of_pairs(varies)
  chance <- stats::pchisq(of_pairs(score), df, lower.tail = FALSE, log.p = TRUE)
  ifelse(df > 0, chance, 0)
}

# The leave-one-out residuals (rows x responses, 0 in rows of weight 0) of the ridge model of all
# columns but pairs, at the best of several lambdas.
additive_residuals <- function(problem) {
  alone <- which(problem$columns$usable & !is_of_pair(problem))
  q <- covariate_basis(problem)
  y <- working_response(problem, q)
  x <- if (length(alone)) working_matrix(problem, alone, q) else matrix(0, nrow(y), 1L)
  tall <- ncol(x) <= nrow(x)
  found <- eigen(if (tall) crossprod(x) else tcrossprod(x), symmetric = TRUE)
  values <- pmax(found$values, 0)
  x <- if (tall) x %*% found$vectors else found$vectors * rep(sqrt(values), each = nrow(x))
  t <- crossprod(x, y)
  leverage <- rowSums(q^2)
  best <- NULL
  for (lambda in 4^(1:-5) * sum(problem$rows$weight)) {
    left <- 1 - leverage - drop(x^2 %*% (1 / (values + lambda)))
    residual <- (y - x %*% (t / (values + lambda))) / ifelse(left > 1e-8, left, Inf)
    if (is.null(best) || sum(residual^2) < sum(best^2)) best <- residual
  }
  best / weight_divisor(problem)
}

# The pairs of a problem whose other columns are measured: screened by their scores, unless they
# were given, with the curves of its rows.
found_pairs <- function(problem) {
  pairs <- problem$pairs
  w <- problem$rows$weight
  names <- names(pairs$df)
  x <- lines_as_given(problem, names)
  pairs$basis <- lapply(stats::setNames(nm = names), function(name) {
    own <- problem$curves[[name]]
    if (is.null(own)) curve_of(x[, match(name, names)], w, pairs$df[[name]]) else own
  })
  if (!pairs$screened) return(pairs)
  z <- vapply(seq_along(names), function(j) pair_factors_at(pairs$basis[[j]], x[, j]),
              matrix(0, nrow(x), 2L))
  z <- matrix(aperm(z, c(1L, 3L, 2L)), nrow(x))
  z[is.na(z)] <- 0
  chance <- pair_chances(z, additive_residuals(problem), w)
  places <- which(upper.tri(chance), arr.ind = TRUE)
  top <- places[order(chance[places])[seq_along(pairs$first)], , drop = FALSE]
  pairs$first <- names[top[, 1L]]
  pairs$second <- names[top[, 2L]]
  pairs$p <- chance[top]
  pairs
}
