# Rankings from written-out pairs of rows, one weighted row for each, without any centring.

# list(d: differences of columns, y: of responses, w: v_i v_j / V_g, i, j) of the pairs of `rows`.
oracle_pairs <- function(columns, y, query, v, rows = seq_along(y)) {
  pairs <- lapply(split(rows, query[rows]), function(own) {
    if (length(own) < 2L) return(NULL)
    ij <- utils::combn(own, 2L)
    data.frame(i = ij[1L, ], j = ij[2L, ], w = v[ij[1L, ]] * v[ij[2L, ]] / sum(v[own]))
  })
  pairs <- do.call(rbind, pairs)
  list(d = columns[pairs$i, , drop = FALSE] - columns[pairs$j, , drop = FALSE],
       y = y[pairs$i] - y[pairs$j], w = pairs$w, i = pairs$i, j = pairs$j)
}

# Coefficients of covariates (first `q` columns, without a penalty) and terms, from pairs.
oracle_ranker <- function(columns, y, query, v, q, lambda, rows = seq_along(y)) {
  pairs <- oracle_pairs(columns, y, query, v, rows)
  penalty <- diag(rep(c(0, lambda), c(q, ncol(columns) - q)), ncol(columns))
  solve(crossprod(pairs$d, pairs$w * pairs$d) + penalty, crossprod(pairs$d, pairs$w * pairs$y))
}

# Scores of every row by the model without its fold.
oracle_held_out_scores <- function(columns, y, query, v, q, lambda, fold) {
  score <- numeric(length(y))
  for (rows in split(seq_along(y), fold)) {
    b <- oracle_ranker(columns, y, query, v, q, lambda, seq_along(y)[-rows])
    score[rows] <- columns[rows, , drop = FALSE] %*% b
  }
  score
}

# The loss of pairs of one query, divided by the sum of the weights.
oracle_pair_loss <- function(score, y, query, v) {
  pairs <- oracle_pairs(cbind(score), y, query, v)
  sum(pairs$w * (pairs$y - pairs$d[, 1L])^2) / sum(v)
}

# The share of pairs of one query in the right order, v_i v_j each.
oracle_order <- function(score, y, query, v) {
  pairs <- oracle_pairs(cbind(score), y, query, v)
  w <- v[pairs$i] * v[pairs$j] * (pairs$y != 0)
  ahead <- pairs$d[, 1L] * sign(pairs$y)
  right <- ifelse(abs(ahead) <= 1e-10, 0.5, as.numeric(ahead > 0))
  sum(w * right) / sum(w)
}
