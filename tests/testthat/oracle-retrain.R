# Slow and obvious: retrain the ridge model without the fold, for every fold, by QR of the stacked
# rows. Nothing here calls the package.

# Columns as the model sees them: centred and scaled once on all rows, not yet weighted or
# projected.
oracle_columns <- function(pb, features) {
  x <- unname(as.matrix(pb$x[, features, drop = FALSE]))
  w <- pb$weights / sum(pb$weights)
  if (pb$intercept) x <- sweep(x, 2, colSums(w * x))
  if (pb$standardize) x <- sweep(x, 2, sqrt(colSums(w * x^2)), "/")
  x
}

# Minimises sum_j w_j ||y_j - z_j b - x_j B||^2 + lambda ||B||^2 over the given rows. `columns` may
# be given where they are known already.
oracle_ridge <- function(pb, features, lambda, rows = seq_len(nrow(pb$x)),
                         columns = oracle_columns(pb, features)) {
  x <- columns[rows, , drop = FALSE]
  s <- length(features)
  q <- ncol(pb$z)
  w <- sqrt(pb$weights[rows])
  design <- rbind(w * cbind(pb$z[rows, , drop = FALSE], x),
                  cbind(matrix(0, s, q), diag(sqrt(lambda), s, s)))
  response <- rbind(w * pb$y[rows, , drop = FALSE], matrix(0, s, ncol(pb$y)))
  if (q + s == 0) return(list(b = matrix(0, 0, ncol(pb$y)), B = matrix(0, 0, ncol(pb$y))))
  coef <- qr.coef(qr(design, tol = 1e-300), response)
  list(b = coef[seq_len(q), , drop = FALSE], B = coef[q + seq_len(s), , drop = FALSE])
}

oracle_predict <- function(pb, model, features, rows = seq_len(nrow(pb$x)),
                           columns = oracle_columns(pb, features)) {
  unname(pb$z[rows, , drop = FALSE] %*% model$b + columns[rows, , drop = FALSE] %*% model$B)
}

# Held-out predictions m x L of one partition.
oracle_held_out <- function(pb, features, lambda, ids) {
  out <- unname(pb$y) * NA
  columns <- oracle_columns(pb, features)
  for (fold in unique(ids)) {
    test <- which(ids == fold)
    model <- oracle_ridge(pb, features, lambda, which(ids != fold), columns)
    out[test, ] <- oracle_predict(pb, model, features, test, columns)
  }
  out
}

# The class of each row as a number; scores nearer than `tie` are equal, and of equals the first
# wins.
oracle_class <- function(score, tie = 1e-10) {
  if (ncol(score) == 1) return(1 + (score[, 1] > tie))
  apply(score, 1, function(row) which(row > max(row) - tie)[1])
}

# The loss of each row, and what each pair counts.
oracle_row_loss <- function(pb, score, name) {
  y <- unname(pb$y)
  switch(name,
    squared = rowMeans((y - score)^2),
    absolute = rowMeans(abs(y - score)),
    error = as.numeric(oracle_class(score) != oracle_class(y))
  )
}

oracle_pair <- function(pb, positive, negative, score_positive, score_negative, tie = 1e-10) {
  ahead <- score_positive - score_negative
  w <- pb$weights[positive] * pb$weights[negative]
  c(w * (if (abs(ahead) < tie) 0.5 else as.numeric(ahead > 0)), w)
}

# Sum of the losses of each fold and its weight, two columns, from held-out scores.
oracle_folds <- function(pb, score, ids, name) {
  fold_sum <- function(rows) {
    if (name != "auc") {
      w <- pb$weights[rows]
      return(c(sum(w * oracle_row_loss(pb, score, name)[rows]), sum(w)))
    }
    total <- c(0, 0)
    for (i in rows[pb$y[rows, 1] > 0]) for (j in rows[pb$y[rows, 1] < 0]) {
      total <- total + oracle_pair(pb, i, j, score[i, 1], score[j, 1])
    }
    total
  }
  t(vapply(split(seq_along(ids), ids), fold_sum, c(0, 0)))
}

# Criterion of a set and its standard error, that of a weighted mean of fold means; both averaged
# over repeats.
oracle_figure <- function(pb, features, lambda, folds, name = "squared") {
  each <- apply(folds$ids, 2, function(ids) {
    oracle_mean(oracle_folds(pb, oracle_held_out(pb, features, lambda, ids), ids, name))
  })
  rowMeans(each)
}

# The mean of folds and its standard error, from their sums of losses and their weights.
oracle_mean <- function(sums) {
  sums <- sums[sums[, 2] > 0, , drop = FALSE]
  share <- sums[, 2] / sum(sums[, 2])
  value <- sum(sums[, 1]) / sum(sums[, 2])
  variance <- sum(share * (sums[, 1] / sums[, 2] - value)^2) / (nrow(sums) - 1)
  c(value = value, se = sqrt(variance))
}

oracle_squared <- function(pb, features, lambda, folds) {
  oracle_figure(pb, features, lambda, folds)[["value"]]
}

# Leave-pair-out AUC: retrain without both rows of every pair.
oracle_pairs_out <- function(pb, features, lambda) {
  total <- c(0, 0)
  for (i in which(pb$y[, 1] > 0)) for (j in which(pb$y[, 1] < 0)) {
    model <- oracle_ridge(pb, features, lambda, -c(i, j))
    score <- oracle_predict(pb, model, features, c(i, j))
    total <- total + oracle_pair(pb, i, j, score[1, 1], score[2, 1])
  }
  total[1] / total[2]
}

# The sets after each row of a path, from its moves alone.
oracle_sets <- function(path, start = integer()) {
  sets <- list(start)
  for (row in seq_len(nrow(path))[-1]) {
    set <- sets[[row - 1]]
    i <- path$feature[row]
    legal <- if (path$action[row] == "add") !i %in% set else i %in% set
    if (!legal) stop("step ", path$step[row], " moves column ", i, " in vain")
    sets[[row]] <- if (path$action[row] == "add") c(set, i) else setdiff(set, i)
  }
  sets
}
