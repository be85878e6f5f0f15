# Retraining from scratch, for verify(): QR decompositions in plain R that share nothing with the
# code that makes fits. `problem` is the data; columns are as a model sees them (m x s).

plain_columns <- function(problem, columns) {
  x <- as.matrix(problem$x[, columns, drop = FALSE]) + 0
  dimnames(x) <- NULL
  x
}

# the weighted mean of each column; the second pass mends the rounding of the first
own_centre <- function(x, w) {
  centre <- colSums(w * x) / sum(w)
  centre + colSums(w * (x - rep(centre, each = nrow(x)))) / sum(w)
}

# Values about the weighted mean of each query (the plain one where no row has a weight).
own_about <- function(problem, values, weights = problem$weights) {
  if (is.null(problem$query)) return(values)
  for (rows in split(seq_len(nrow(values)), problem$query)) {
    w <- if (any(weights[rows] > 0)) weights[rows] else rep(1, length(rows))
    own <- values[rows, , drop = FALSE]
    values[rows, ] <- own - rep(own_centre(own, w), each = length(rows))
  }
  values
}

# The data that a ranking is a regression of: response and covariates about the means of queries.
regression_of_ranking <- function(problem) {
  problem$y <- own_about(problem, problem$y)
  problem$z <- own_about(problem, problem$z)
  problem
}

# Columns centred and scaled by the rows with weight: list(values, centre, scale).
own_columns <- function(problem, features, weights = problem$weights) {
  x <- plain_columns(problem, features)
  centre <- if (problem$intercept) own_centre(x, weights) else numeric(ncol(x))
  values <- own_about(problem, x - rep(centre, each = nrow(x)), weights)
  scale <- rep(1, ncol(x))
  if (problem$standardize) scale <- sqrt(colSums(weights * values^2) / sum(weights))
  if (!is.null(problem$penalty)) {
    factors <- problem$penalty[features]
    scale <- scale * if (isTRUE(problem$absolute)) factors else sqrt(factors)
  }
  scale[scale == 0] <- 1
  list(values = values / rep(scale, each = nrow(x)), centre = centre, scale = scale)
}

# The model on `rows`, by a QR decomposition of [sqrt(w) z, sqrt(w) x; 0, penalty]. `penalty` is a
# square root of that of the columns. Without a penalty a coefficient that cannot be estimated is 0.
# list(b, B; pred: all rows; Q: the orthogonal factor in the training rows)
trained_by_qr <- function(problem, x, penalty, rows = seq_len(nrow(x)), pull = 0) {
  q <- ncol(problem$z)
  s <- ncol(x)
  root_w <- sqrt(problem$weights[rows])
  L <- ncol(problem$y)
  if (q + s == 0L) {
    none <- matrix(0, 0L, L)
    return(list(b = none, B = none, pred = 0 * problem$y, Q = matrix(0, length(rows), 0L)))
  }
  both <- cbind(unname(problem$z), own_about(problem, x))
  below <- rbind(cbind(matrix(0, nrow(penalty), q), penalty),
                 if (pull > 0) cbind(diag(sqrt(pull), q), matrix(0, q, s)))
  design <- rbind(root_w * both[rows, , drop = FALSE], below)
  response <- rbind(root_w * unname(problem$y)[rows, , drop = FALSE], matrix(0, nrow(below), L))
  free <- nrow(penalty) == 0L || all(penalty == 0)
  decomposed <- qr(design, tol = if (free) 1e-10 else 1e-300)
  solved <- qr.coef(decomposed, response)
  solved[is.na(solved)] <- 0
  Q <- qr.Q(decomposed)[seq_along(rows), seq_len(decomposed$rank), drop = FALSE]
  list(b = solved[seq_len(q), , drop = FALSE], B = solved[q + seq_len(s), , drop = FALSE],
       pred = both %*% solved, Q = Q)
}

ridge_root <- function(lambda, s) diag(sqrt(lambda), s)

# Held-out predictions of one partition: of single rows by leverages, unless they are near 1; of
# others by a model of the other rows. list(pred, digits: what cancels in them)
held_out_by_qr <- function(problem, x, penalty, ids) {
  if (anyDuplicated(ids)) {
    pred <- unname(problem$y) * NA
    for (rows in split(seq_along(ids), ids)) {
      part <- trained_by_qr(problem, x, penalty, seq_along(ids)[-rows])
      pred[rows, ] <- part$pred[rows, ]
    }
    return(list(pred = pred, digits = 1))
  }
  model <- trained_by_qr(problem, x, penalty)
  leverage <- rowSums(model$Q^2)
  pred <- problem$y - (problem$y - model$pred) / (1 - leverage)
  for (row in which(leverage > 1 - 1e-6)) {
    pred[row, ] <- trained_by_qr(problem, x, penalty, seq_along(ids)[-row])$pred[row, ]
  }
  list(pred = unname(pred), digits = 1 / max(min(1, 1 - leverage), 1e-6))
}

# Scores of the pairs of a positive and a negative row held out together, by the 2 x 2 blocks of the
# projection: list(up, down, ahead: score of the positive less that of the negative row)
pairs_by_qr <- function(problem, x, penalty) {
  root_w <- sqrt(problem$weights)
  model <- trained_by_qr(problem, x, penalty)
  residual <- (root_w * (problem$y - model$pred))[, 1L]
  pairs <- expand.grid(up = which(problem$y[, 1L] > 0 & root_w > 0),
                       down = which(problem$y[, 1L] <= 0 & root_w > 0))
  leverage <- rowSums(model$Q^2)
  joint <- tcrossprod(model$Q)[cbind(pairs$up, pairs$down)]
  own_up <- 1 - leverage[pairs$up]
  own_down <- 1 - leverage[pairs$down]
  determinant <- own_up * own_down - joint^2
  up <- (own_down * residual[pairs$up] + joint * residual[pairs$down]) / determinant
  down <- (own_up * residual[pairs$down] + joint * residual[pairs$up]) / determinant
  score <- function(rows, residual) problem$y[rows, 1L] - residual / root_w[rows]
  cbind(pairs, ahead = score(pairs$up, up) - score(pairs$down, down))
}

# The condition number of columns with the penalty, given the covariates, times what centring costs:
# how many times larger than what varies the values are.
condition_of <- function(problem, columns, lambda) {
  offset <- centring_cost(max(response_offset(problem), abs(columns$centre / columns$scale)))
  if (!ncol(columns$values)) return(offset)
  x <- sqrt(problem$weights) * columns$values
  if (ncol(problem$z)) x <- qr.resid(qr(sqrt(problem$weights) * problem$z, tol = 1e-12), x)
  values <- svd(x, 0L, 0L)$d^2
  if (ncol(x) > nrow(x)) values <- c(values, 0)
  offset * (max(values) + lambda) / max(min(values) + lambda, 1e-16 * max(values))
}

# of the response that has the largest values beside its spread
response_offset <- function(problem) {
  y <- problem$y[problem$weights > 0, , drop = FALSE]
  spread <- sqrt(colMeans((y - rep(colMeans(y), each = nrow(y)))^2))
  max(1, apply(abs(y), 2L, max) / pmax(spread, 1e-300))
}

# Centring costs digits of figures that are small themselves: ten times as many are allowed.
centring_cost <- function(offset) if (offset > 10) 10 * offset else offset

tolerance_of <- function(condition) max(1e-10, 100 * .Machine$double.eps * condition)

# The mean over the usable columns of their weighted sums of squares given the covariates.
own_mean_square <- function(problem) {
  usable <- which(problem$usable)
  root_w <- sqrt(problem$weights)
  z <- qr(root_w * problem$z, tol = 1e-12)
  total <- 0
  for (block in column_blocks(nrow(problem), length(usable))) {
    x <- root_w * own_columns(problem, usable[block])$values
    if (ncol(problem$z)) x <- qr.resid(z, x)
    total <- total + sum(x^2)
  }
  total / length(usable)
}

# Errors of predictions ---------------------------------------------------------------------------

# The sum of a loss and its weight (2 x folds) of predictions of some rows in folds.
own_fold_sums <- function(problem, name, pred, ids, rows = seq_along(ids)) {
  w <- problem$weights
  if (name == "auc") {
    positive <- problem$y[, 1L] > 0
    return(vapply(split(rows, ids[rows]), function(fold) {
      up <- fold[positive[fold]]
      down <- fold[!positive[fold]]
      weight <- outer(w[up], w[down])
      c(sum(weight * own_order(outer(pred[up, 1L], pred[down, 1L], "-"))), sum(weight))
    }, c(0, 0)))
  }
  if (name == "concordance") {
    return(vapply(split(rows, ids[rows]), own_concordance, c(0, 0), problem, pred[, 1L]))
  }
  loss <- switch(name,
    squared = rowMeans((problem$y - pred)^2),
    absolute = rowMeans(abs(problem$y - pred)),
    logistic = rowMeans(log1p(exp(-abs(problem$y * pred))) + pmax(-problem$y * pred, 0)),
    hinge = rowMeans(pmax(1 - problem$y * pred, 0)),
    as.double(own_class(pred) != own_class(problem$y))
  )
  if (name == "balanced") {
    class <- own_class(problem$y)
    w <- w * (sum(w) / tapply(w, class, sum))[as.character(class)]
  }
  rbind(tapply((w * loss)[rows], ids[rows], sum), tapply(w[rows], ids[rows], sum))
}

# The weight of the pairs in the right order, and of the comparable ones: of different responses, of
# one query if there are queries; of censored times those whose earlier time is an event, an event
# being before what is censored at the same time.
own_concordance <- function(rows, problem, pred) {
  w <- problem$weights[rows]
  if (is_survival(problem)) {
    times <- problem$survival[rows, ]
    comparable <- times$event & (outer(times$time, times$time, "<") |
      outer(times$time, times$time, "==") & outer(times$event, times$event, ">"))
  } else {
    comparable <- outer(problem$y[rows, 1L], problem$y[rows, 1L], ">")
    if (is_ranked(problem)) {
      query <- as.integer(problem$query)[rows]
      comparable <- comparable & outer(query, query, "==")
    }
  }
  weight <- outer(w, w) * comparable
  c(sum(weight * own_order(outer(pred[rows], pred[rows], "-"))), sum(weight))
}

# 1 for a pair in the right order, half for a tie
own_order <- function(ahead) ifelse(abs(ahead) < score_tie, 0.5, as.double(ahead > 0))

# the class of each row: the first of the largest scores, up to rounding
own_class <- function(pred) {
  if (ncol(pred) == 1L) return(1L + (pred[, 1L] > score_tie))
  apply(pred, 1L, function(row) which(row >= max(row) - score_tie)[1L])
}

# the weighted mean over folds and its standard error
own_fold_mean <- function(sums) {
  sums <- sums[, sums[2L, ] > 0, drop = FALSE]
  mean <- sum(sums[1L, ]) / sum(sums[2L, ])
  share <- sums[2L, ] / sum(sums[2L, ])
  folds <- ncol(sums)
  c(value = mean, se = if (folds > 1L) {
    sqrt(sum(share * (sums[1L, ] / sums[2L, ] - mean)^2) / (folds - 1))
  } else {
    NA_real_
  })
}

# Value and standard error of a criterion, means over partitions, each with its own `pred`.
own_error <- function(problem, name, pred, folds) {
  rowMeans(vapply(seq_along(pred), function(repetition) {
    own_fold_mean(own_fold_sums(problem, name, pred[[repetition]], folds$ids[, repetition]))
  }, c(value = 0, se = 0)))
}

# predictions of several partitions as one
mean_prediction <- function(pred) Reduce(`+`, pred) / length(pred)

# how much the response varies
response_rms <- function(problem) {
  y <- problem$y
  sqrt(mean((y - rep(colMeans(y), each = nrow(y)))^2))
}

# whether verify() can evaluate a criterion: not a function of the user, which fits do not keep
is_known_criterion <- function(name) name %in% c(names(criteria), "r_squared")
