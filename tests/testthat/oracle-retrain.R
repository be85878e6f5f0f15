# Slow and obvious: the model of some columns retrained without each fold, or each pair of rows, by
# the retrainers of verify(), which test-verify.R compares with normal equations.

#' @srrstats {G5.4} `tests/testthat/oracle-*.R` retrain from scratch, to 1e-8 or better
oracle_columns <- function(pb, features) retrain_columns(pb, features)$values

# Minimises sum_j w_j ||y_j - z_j b - x_j B||^2 + lambda ||B||^2 over the given rows:
# list(b, B; pred: of all rows).
oracle_ridge <- function(pb, features, lambda, rows = TRUE) {
  retrain_ridge(pb, oracle_columns(pb, features), ridge_root(lambda, length(features)),
                seq_len(nrow(pb$x))[rows])
}

# Held-out predictions m x L of one partition.
oracle_held_out <- function(pb, features, lambda, ids) {
  root <- ridge_root(lambda, length(features))
  retrain_held_out(pb, oracle_columns(pb, features), root, ids, leverages = FALSE)$pred
}

# Criterion of a set and its standard error: the error of a weighted mean of fold means. Both are
# averaged over repeats.
oracle_figure <- function(pb, features, lambda, folds, name = "squared") {
  pred <- apply(folds$ids, 2, oracle_held_out, pb = pb, features = features, lambda = lambda,
                simplify = FALSE)
  retrain_error(pb, name, pred, folds)
}

oracle_squared <- function(pb, features, lambda, folds) {
  oracle_figure(pb, features, lambda, folds)[["value"]]
}

# Leave-pair-out AUC: out(c(i, j)) has the scores of two rows by a model without both.
oracle_pair_auc <- function(pb, out, rows = seq_len(nrow(pb$rows$y))) {
  pairs <- expand.grid(up = rows[pb$rows$y[rows, 1] > 0], down = rows[pb$rows$y[rows, 1] < 0])
  ahead <- mapply(function(i, j) -diff(out(c(i, j))), pairs$up, pairs$down)
  w <- pb$rows$weight[pairs$up] * pb$rows$weight[pairs$down]
  sum(w * pair_order(ahead)) / sum(w)
}

oracle_pairs_out <- function(pb, features, lambda) {
  oracle_pair_auc(pb, function(pair) oracle_ridge(pb, features, lambda, -pair)$pred[pair, 1])
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
