# Retraining from scratch, for verify() and for the oracles of the tests: dense least squares by QR
# decompositions in plain R. Nothing here calls code that makes fits. `problem` is the data.

# Columns -----------------------------------------------------------------------------------------

# Values about the weighted mean of each query (the plain one where no row has a weight).
about_query_means <- function(problem, values) {
  if (is.null(problem$rows$query)) return(values)
  about_means(values, problem$rows$query, problem$rows$weight)
}

about_means <- function(values, unit, weights) {
  for (rows in split(seq_len(nrow(values)), unit)) {
    w <- if (any(weights[rows] > 0)) weights[rows] else rep(1, length(rows))
    own <- values[rows, , drop = FALSE]
    values[rows, ] <- own - rep(weighted_means(own, w), each = length(rows))
  }
  values
}

# Predictions as a fit keeps them: of a Cox model about the means of strata over the training rows.
as_kept <- function(problem, pred) {
  if (!is_cox(problem)) return(pred)
  about_means(pred, strata_of(problem), problem$rows$weight)
}

# The regression of a ranking: response and covariates about the means of queries, if there are any.
# The covariates of a Cox model are about the means of strata.
regression_of_ranking <- function(problem) {
  problem$rows$y <- about_query_means(problem, problem$rows$y)
  problem$z <- as_kept(problem, about_query_means(problem, problem$z))
  problem
}

# Columns as a model uses them, centred and scaled by the rows with weight: list(values, centre,
# scale).
retrain_columns <- function(problem, features) {
  weights <- problem$rows$weight
  x <- plain_columns(problem, features)
  centre <- if (is_centred(problem)) weighted_means(x, weights) else numeric(ncol(x))
  values <- about_query_means(problem, x - rep(centre, each = nrow(x)))
  scale <- rep(1, ncol(x))
  if (problem$coding$standardize) scale <- sqrt(colSums(weights * values^2) / sum(weights))
  factors <- factors_of(problem)[features]
  scale <- scale * if (isTRUE(problem$coding$absolute)) factors else sqrt(factors)
  scale[scale == 0] <- 1
  list(values = values / rep(scale, each = nrow(x)), centre = centre, scale = scale)
}

# A function that removes the projection on the covariates from weighted values. The covariates are
# decomposed once.
covariate_residual <- function(problem) {
  if (!ncol(problem$z)) return(identity)
  decomposed <- qr(sqrt(problem$rows$weight) * problem$z, tol = 1e-12)
  function(values) qr.resid(decomposed, values)
}

# The mean over the usable columns of their sums of squares by some weights given the covariates,
# without their factors of the penalty.
retrain_mean_square <- function(problem, residual = covariate_residual(problem),
                                weights = problem$rows$weight) {
  usable <- which(problem$columns$usable)
  total <- 0
  for (block in column_blocks(nrow(problem), length(usable))) {
    x <- sqrt(weights) * retrain_columns(problem, usable[block])$values
    x <- x * rep(penalty_divisor(problem)[usable[block]], each = nrow(x))
    total <- total + sum(residual(x)^2)
  }
  total / length(usable)
}

# Models ------------------------------------------------------------------------------------------

# The model that minimises sum_j w_j ||y_j - z_j b - x_j B||^2 + ||root B||^2 over `rows`, by a QR
# decomposition of [sqrt(w) z, sqrt(w) x] above [0, root]. Without a penalty a coefficient that
# cannot be estimated is 0. list(b, B, pred: of all rows, Q: the orthogonal factor in `rows`)
retrain_ridge <- function(problem, x, root, rows = seq_len(nrow(x))) {
  q <- ncol(problem$z)
  s <- ncol(x)
  root_w <- sqrt(problem$rows$weight[rows])
  L <- ncol(problem$rows$y)
  z <- unname(problem$z)
  own <- qr(root_w * z[rows, , drop = FALSE], tol = 1e-10)
  z[, own$pivot[seq_len(q) > own$rank]] <- 0
  both <- cbind(z, about_query_means(problem, x))
  design <- rbind(root_w * both[rows, , drop = FALSE], cbind(matrix(0, nrow(root), q), root))
  response <- rbind(root_w * unname(problem$rows$y)[rows, , drop = FALSE], matrix(0, nrow(root), L))
  decomposed <- qr(design, tol = if (all(root == 0)) 1e-10 else 1e-300)
  solved <- qr.coef(decomposed, response)
  solved[is.na(solved)] <- 0
  Q <- qr.Q(decomposed)[seq_along(rows), seq_len(decomposed$rank), drop = FALSE]
  list(b = solved[seq_len(q), , drop = FALSE], B = solved[q + seq_len(s), , drop = FALSE],
       pred = unname(both %*% solved), Q = Q)
}

ridge_root <- function(lambda, s) diag(sqrt(lambda), s)

# Predictions of the rows of each fold by a model of the other rows. Their errors have no part along
# covariates that the other rows do not determine. `leverages` give the predictions of single rows,
# unless a leverage is near 1. list(pred, digits: cancellation in the predictions)
retrain_held_out <- function(problem, x, root, ids, leverages = !anyDuplicated(ids)) {
  pred <- 0 * unname(problem$rows$y)
  leverage <- 0
  parts <- split(seq_along(ids), ids)
  if (leverages) {
    model <- retrain_ridge(problem, x, root)
    leverage <- rowSums(model$Q^2)
    pred <- unname(problem$rows$y - (problem$rows$y - model$pred) / (1 - leverage))
    parts <- which(leverage > 1 - 1e-6)
  }
  for (rows in parts) {
    without <- retrain_ridge(problem, x, root, seq_along(ids)[-rows])$pred[rows, , drop = FALSE]
    pred[rows, ] <- as_if_determined(problem, without, rows)
  }
  list(pred = pred, digits = 1 / max(min(1, 1 - leverage), 1e-6))
}

# Predictions of held-out rows whose errors have no part along covariates (weighted) that are 0 in
# the other rows.
as_if_determined <- function(problem, pred, rows) {
  if (ncol(problem$z) <= problem$coding$intercept) return(pred)
  root_w <- sqrt(problem$rows$weight)
  others <- svd(root_w[-rows] * problem$z[-rows, , drop = FALSE], nu = 0L, nv = ncol(problem$z))
  size <- c(others$d, numeric(ncol(problem$z)))[seq_len(ncol(problem$z))]
  unknown <- others$v[, size < 1e-9 * max(size), drop = FALSE]
  if (!ncol(unknown)) return(pred)
  y <- unname(problem$rows$y)[rows, , drop = FALSE]
  along <- qr(root_w[rows] * problem$z[rows, , drop = FALSE] %*% unknown)
  y - qr.resid(along, root_w[rows] * (y - pred)) / weight_divisor(problem)[rows]
}

# Scores of the pairs of a positive and a negative row held out together, by the 2 x 2 blocks of the
# projection: list(up, down, ahead: score of the positive row less the score of the negative row)
retrain_pairs <- function(problem, x, root) {
  root_w <- sqrt(problem$rows$weight)
  model <- retrain_ridge(problem, x, root)
  residual <- (root_w * (problem$rows$y - model$pred))[, 1L]
  pairs <- expand.grid(up = which(problem$rows$y[, 1L] > 0 & root_w > 0),
                       down = which(problem$rows$y[, 1L] <= 0 & root_w > 0))
  leverage <- rowSums(model$Q^2)
  joint <- tcrossprod(model$Q)[cbind(pairs$up, pairs$down)]
  own_up <- 1 - leverage[pairs$up]
  own_down <- 1 - leverage[pairs$down]
  determinant <- own_up * own_down - joint^2
  up <- (own_down * residual[pairs$up] + joint * residual[pairs$down]) / determinant
  down <- (own_up * residual[pairs$down] + joint * residual[pairs$up]) / determinant
  score <- function(rows, residual) problem$rows$y[rows, 1L] - residual / root_w[rows]
  cbind(pairs, ahead = score(pairs$up, up) - score(pairs$down, down))
}

# Designs -----------------------------------------------------------------------------------------

# The terms of a model as a design: list(x, gram, back, rows, owner, centre, scale, offset). `x` is
# m x p. `gram` (p x p) makes the penalty lambda B'gram B, and is NULL for the identity. `back` is a
# function of B that gives the coefficients on the user's scale, and is NULL where the coefficients
# are dual. `rows` are the rows of the dual coefficients. `owner` is the row whose basis vector a
# column is, held out with it. `centre`, `scale` and `offset` belong to the columns.
column_design <- function(problem, features) {
  columns <- retrain_columns(problem, features)
  list(x = columns$values, back = function(B) B / columns$scale, centre = columns$centre,
       scale = columns$scale, offset = max(0, abs(columns$centre / columns$scale)),
       size = sqrt(colMeans(columns$values^2)))
}

# The design with the R factor of the columns, where the columns are more than the rows.
narrow_design <- function(design) {
  if (ncol(design$x) <= nrow(design$x)) return(design)
  parts <- qr(t(design$x), tol = 1e-300)
  turn <- qr.Q(parts)
  design$x <- t(qr.R(parts))[order(parts$pivot), , drop = FALSE]
  design$back <- function(B) turn %*% B / design$scale
  design
}

penalty_root <- function(design, lambda, kept = TRUE) {
  if (is.null(design$gram)) return(ridge_root(lambda, ncol(design$x)))
  gram <- design$gram[kept, kept, drop = FALSE]
  sqrt(lambda) * if (ncol(gram)) chol(gram) else gram
}

# The model on all rows, on the user's scale: list(beta, covariates, pred, B, condition,
# beta_condition, unit), and of a likelihood its objective. `residual` removes the covariates, where
# the condition is given the covariates.
retrain_design <- function(problem, design, lambda, residual = identity, loss = "squared") {
  model <- if (loss != "squared") retrain_likelihood(problem, loss, design$x, lambda) else
    retrain_ridge(problem, design$x, penalty_root(design, lambda))
  dual <- is.null(design$back)
  rest <- problem$rows$y - if (dual) model$pred else 0
  beta <- if (dual) (problem$rows$weight * rest / lambda)[design$rows, , drop = FALSE] else
    design$back(model$B)
  covariates <- model$b
  if (problem$coding$intercept && !is.null(design$centre)) {
    covariates[1L, ] <- covariates[1L, ] - design$centre %*% beta
  }
  condition <- if (loss == "squared") design_condition(problem, design, lambda, residual) else
    max(1, centring_cost(design$offset)) * c(prediction = model$condition, beta = model$condition)
  # dual coefficients are residuals, which have fewer digits the smaller they are
  digits <- if (dual) 1e3 * max(abs(problem$rows$y)) / max(abs(rest)) else 1
  model <- list(beta = unname(beta), covariates = covariates, pred = model$pred, B = model$B,
                objective = model$objective, condition = condition[["prediction"]],
                beta_condition = max(condition[["beta"]], digits))
  c(model, list(unit = coefficient_units(problem, design, model)))
}

# The units of the coefficients of a model: of terms the largest coefficient, or where the response
# does not depend on the terms what would give its typical size. The coefficients of a kernel are as
# uncertain as the largest of them, and covariates beside a kernel as uncertain as the response.
coefficient_units <- function(problem, design, model) {
  uncertain <- if (is.null(design$centre)) 1000 else 1
  of_z <- uncertain * covariate_units(problem)
  if (problem$coding$intercept) of_z[1L] <- of_z[1L] * max(1, design$offset)
  beta <- if (is.null(design$size)) max(abs(model$beta)) else
    pmax(max(0, abs(model$B)), response_rms(problem) / design$size) / design$scale
  list(beta = uncertain * beta, covariates = of_z)
}

# Held-out predictions for each partition, with their condition. Rows whose basis vectors are
# removed with them are predicted by a model without these vectors.
retrain_design_out <- function(problem, design, lambda, ids, residual = identity) {
  each <- lapply(seq_len(ncol(ids)), function(repetition) {
    folds <- ids[, repetition]
    owned <- !is.null(design$owner)
    alone <- !anyDuplicated(folds)
    out <- list(pred = 0 * unname(problem$rows$y), digits = 1)
    if (alone || !owned) {
      out <- retrain_held_out(problem, design$x, penalty_root(design, lambda), folds)
    }
    for (rows in if (owned) split(seq_along(folds), folds)) {
      kept <- !design$owner %in% rows
      if (alone && all(kept)) next
      model <- retrain_ridge(problem, design$x[, kept, drop = FALSE],
                             penalty_root(design, lambda, kept), seq_along(folds)[-rows])
      out$pred[rows, ] <- as_if_determined(problem, model$pred[rows, , drop = FALSE], rows)
    }
    out
  })
  list(pred = lapply(each, `[[`, "pred"),
       condition = max(vapply(each, `[[`, 0, "digits")) *
         design_condition(problem, design, lambda, residual)[["prediction"]])
}

# Likelihoods -------------------------------------------------------------------------------------

# The model that minimises twice the sum of w times the loss of z b + x B, plus lambda |B|^2, over
# `rows`, by Newton's method: list(b, B, pred: of all rows, less the offset, condition, curvature).
# Where `rows` leave a direction of the covariates flat, the objective also has a ridge times the
# weighted sum of squares of z b over all rows, and without a fold of z (b - `towards`), from the
# model of all rows.
retrain_likelihood <- function(problem, loss, x, lambda, rows = seq_len(nrow(x)), towards = NULL,
                               ridge = plain_ridge(problem, loss, rows)) {
  z <- unname(problem$z)
  both <- cbind(z, x)
  q <- ncol(z)
  penalty <- diag(rep(c(0, lambda), c(q, ncol(x))), ncol(both))
  centre <- numeric(ncol(both))
  if (ridge > 0) {
    penalty[seq_len(q), seq_len(q)] <- ridge * crossprod(z, problem$rows$weight * z)
    if (length(rows) < nrow(x)) centre[seq_len(q)] <- towards(TRUE)
  }
  problem$rows$weight[-rows] <- 0
  coefficients <- numeric(ncol(both))
  sets <- if (is_cox_loss(loss)) plain_risk_sets(problem)
  at <- function(coefficients) {
    point <- plain_point(problem, loss, drop(both %*% coefficients), sets)
    point$pull <- drop(penalty %*% (coefficients - centre))
    point$objective <- 2 * point$loss + sum(point$pull * (coefficients - centre))
    point
  }
  point <- at(coefficients)
  last <- Inf
  for (step in seq_len(500L)) {
    slope <- drop(crossprod(both, point$slope)) - point$pull
    curvature <- point$curvature(both) + penalty
    move <- if (length(slope)) drop(solve(curvature, slope, tol = 0)) else slope
    promise <- sum(slope * move)
    # near the optimum each promise is a tiny part of the one before, up to rounding
    if (!length(move) || promise < 1e-15 * point$objective && promise > last / 4) break
    last <- promise
    most <- point$objective * (1 + 1e-13)
    by <- 1
    while (!isTRUE((point <- at(coefficients + by * move))$objective <= most) && by > 1e-12) {
      by <- by / 2
    }
    coefficients <- coefficients + by * move
  }
  list(b = matrix(coefficients[seq_len(q)]), B = matrix(coefficients[q + seq_len(ncol(x))]),
       pred = unname(both %*% coefficients), objective = point$objective,
       condition = if (!length(move)) 1 else
         min(kappa(curvature, exact = TRUE), if (ridge > 0) flat_condition),
       curvature = if (length(move)) curvature)
}

# Along a flat direction linear predictors end near 25 in size, with the rounding error of a slope
# divided by the ridge.
flat_condition <- 5e8

# The condition of the null model, where covariates can be flat.
null_condition <- function(problem, loss) {
  if (loss == "squared" || ncol(problem$z) <= problem$coding$intercept) return(1)
  retrain_likelihood(problem, loss, matrix(0, nrow(problem), 0L), 0)$condition
}

# The ridge of the covariates: 0 where each direction of length 1 has curvature in the null model of
# `rows`.
plain_ridge <- function(problem, loss, rows = seq_len(nrow(problem))) {
  if (ncol(problem$z) <= problem$coding$intercept) return(0)
  unit <- response_unit(problem)
  least <- separated_ridge * unit
  null <- retrain_likelihood(problem, loss, matrix(0, nrow(problem), 0L), 0, rows,
                             function(all) numeric(ncol(problem$z)), least)
  length <- chol(crossprod(unname(problem$z), problem$rows$weight * unname(problem$z)))
  flat <- any((diag(chol(null$curvature)) / diag(length))^2 < separated_below * unit)
  if (!flat) 0 else if (length(rows) < nrow(problem)) flat_ridge * unit else least
}

# Of a model without a fold. As in C, where its reason is.
flat_ridge <- 1e-9

# Predictions without each fold for each partition, the sums of the deviance of events held out and
# their weight (2 x folds) for each partition, and the condition.
retrain_likelihood_out <- function(problem, loss, design, lambda, ids) {
  condition <- 1
  of_all_rows <- remembered(function(all) retrain_likelihood(problem, loss, design$x, lambda)$b)
  each <- lapply(seq_len(ncol(ids)), function(repetition) {
    out <- 0 * unname(problem$rows$y)
    sums <- NULL
    for (rows in split(seq_len(nrow(ids)), ids[, repetition])) {
      model <- retrain_likelihood(problem, loss, design$x, lambda, seq_len(nrow(ids))[-rows],
                                  of_all_rows)
      out[rows, ] <- model$pred[rows, ]
      if (is_cox_loss(loss)) sums <- cbind(sums, plain_events(problem, rows, model$pred[, 1L]))
      condition <<- max(condition, model$condition)
    }
    list(pred = out, sums = sums)
  })
  list(pred = lapply(each, `[[`, "pred"), sums = lapply(each, `[[`, "sums"),
       condition = max(1, centring_cost(design$offset)) * condition)
}

# The sum of the deviance of some rows and the weight of their events: the deviance of all rows less
# the deviance of the others.
plain_events <- function(problem, rows, f) {
  train <- problem
  train$rows$weight[rows] <- 0
  c(2 * (plain_cox(problem, f)$loss - plain_cox(train, f)$loss),
    sum((problem$rows$weight * problem$rows$event)[rows]))
}

# The loss of the rows with a weight at f, minus its gradient, and a function of a design (rows x
# any) that gives its second derivative.
plain_point <- function(problem, loss, f, sets = plain_risk_sets(problem)) {
  if (is_cox_loss(loss)) return(plain_cox(problem, f, sets))
  w <- problem$rows$weight
  rows <- which(w > 0)
  w <- w[rows]
  y <- problem$rows$y[rows, 1L]
  offset <- rep_len(row_offset(problem), length(f))[rows]
  f <- f[rows]
  slope <- numeric(nrow(problem))
  slope[rows] <- w * plain_slope(loss, y, f, offset)
  list(loss = sum(w * plain_loss(loss, y, f, offset)), slope = slope,
       curvature = function(design) {
         own <- design[rows, , drop = FALSE]
         crossprod(own, w * plain_curvature(loss, y, f, offset) * own)
       })
}

# The mean over the usable columns of the second derivative of the loss along them, at the null
# model and given the covariates, without their factors of the penalty.
retrain_mean_curvature <- function(problem, loss) {
  f <- retrain_likelihood(problem, loss, matrix(0, nrow(problem), 0L), 0)$pred[, 1L]
  h <- if (is_cox_loss(loss)) problem$rows$weight * problem$rows$event - plain_cox(problem, f)$slope
    else problem$rows$weight * plain_curvature(loss, problem$rows$y[, 1L], f, row_offset(problem))
  z <- cbind(problem$z, if (is_cox_loss(loss)) 1)
  decomposed <- qr(sqrt(h) * z, tol = 1e-12)
  retrain_mean_square(problem, function(x) if (ncol(z)) qr.resid(decomposed, x) else x, h)
}

# Tolerances --------------------------------------------------------------------------------------

# For predictions and for coefficients the condition number of the columns, with the penalty as a
# multiple of lambda, times the cost of centring: the size of the values relative to their
# variation.
design_condition <- function(problem, design, lambda, residual = identity) {
  offset <- centring_cost(max(response_offset(problem), design$offset))
  x <- sqrt(problem$rows$weight) * design$x
  if (!ncol(x)) return(c(prediction = offset, beta = offset))
  spread <- 1
  if (!is.null(design$gram)) {
    x <- t(backsolve(chol(design$gram), t(x), transpose = TRUE))
    spread <- svd(design$gram, 0L, 0L)$d
  }
  values <- svd(residual(x), 0L, 0L)$d^2
  if (ncol(x) > nrow(x)) values <- c(values, 0)
  condition <- (max(values) + lambda) / max(min(values) + lambda, 1e-16 * max(values))
  # a nearly dependent basis costs coefficients all digits of its condition, predictions half
  spread <- max(spread) / min(spread)
  offset * c(prediction = max(condition, sqrt(spread)), beta = max(condition, spread))
}

# the largest ratio of values to spread among the responses
response_offset <- function(problem) {
  y <- problem$rows$y[problem$rows$weight > 0, , drop = FALSE]
  spread <- sqrt(colMeans((y - rep(colMeans(y), each = nrow(y)))^2))
  max(1, apply(abs(y), 2L, max) / pmax(spread, 1e-300))
}

# Centring also loses digits of values that are themselves small, so ten times the loss is allowed.
centring_cost <- function(offset) if (offset > 10) 10 * offset else offset

# the root mean square deviation of the response
response_rms <- function(problem) {
  y <- problem$rows$y
  sqrt(mean((y - rep(colMeans(y), each = nrow(y)))^2))
}

# Errors of predictions ---------------------------------------------------------------------------

# The sum of a loss and its weight (2 x folds) of predictions of some rows in folds.
retrain_sums <- function(problem, name, pred, ids, rows = seq_along(ids)) {
  w <- problem$rows$weight
  if (name %in% c("auc", "concordance")) {
    pairs <- if (name == "auc") auc_pairs else concordant_pairs
    return(vapply(split(rows, ids[rows]), pairs, c(0, 0), problem, pred[, 1L]))
  }
  kind <- if (judged_at_mean(name)) "deviance" else name
  loss <- switch(kind,
    deviance = 2 * plain_loss(name, problem$rows$y, pred, problem$rows$offset)[, 1L],
    squared = rowMeans((problem$rows$y - pred)^2),
    absolute = rowMeans(abs(problem$rows$y - pred)),
    logistic = rowMeans(plain_loss("logistic", problem$rows$y, pred)),
    hinge = rowMeans(plain_loss("hinge", problem$rows$y, pred)),
    multinomial = 2 * plain_loss("multinomial", problem$rows$y, pred),
    as.double(plain_class(pred) != plain_class(problem$rows$y))
  )
  if (name == "balanced") {
    class <- plain_class(problem$rows$y)
    w <- w * (sum(w) / tapply(w, class, sum))[as.character(class)]
  }
  rbind(tapply((w * loss)[rows], ids[rows], sum), tapply(w[rows], ids[rows], sum))
}

plain_loss <- function(loss, y, f, offset = NULL) {
  if (is.null(offset)) offset <- 0
  theta <- parameter_of(loss)
  switch(loss_family(loss),
    negbin = {
      count <- y + offset
      mean <- exp(f + offset)
      # a logarithm of 1 + a share keeps its digits where theta is large
      (count + theta) * log1p((mean - count) / (count + theta)) - count * (f + offset) +
        ifelse(count > 0, count * log(count), 0)
    },
    poisson = {
      count <- y + offset
      exp(f + offset) - count * (f + offset) - count + ifelse(count > 0, count * log(count), 0)
    },
    binomial = {
      share <- y + offset
      own <- ifelse(share > 0, share * log(share), 0)
      other <- ifelse(share < 1, (1 - share) * log(pmax(1 - share, 0)), 0)
      log1p(exp(f + offset)) - share * (f + offset) + own + other
    },
    multinomial = -log(plain_shares(f)[y > 0][order(row(y)[y > 0])]),
    squared = (y - f)^2 / 2,
    logistic = log1p(exp(-abs(y * f))) + pmax(-y * f, 0),
    hinge = pmax(1 - y * f, 0)
  )
}

# The score of a class that has all training rows, or none: the logarithm of its odds with half a
# row more for each side, or for other losses its code.
plain_lost_score <- function(train, l, loss) {
  trained <- train$rows$weight > 0
  rows <- sum(train$rows$weight[trained])
  train$rows$y[trained, l][1L] * if (loss == "logistic") log((rows + 0.5) / 0.5) else 1
}

# The probabilities of classes, each the inverse of the sum of the others' exponentials relative to
# its own.
plain_shares <- function(f) {
  1 / vapply(seq_len(ncol(f)), function(k) rowSums(exp(f - f[, k])), numeric(nrow(f)))
}

# Minus the derivative of a loss by the linear predictor.
plain_slope <- function(loss, y, f, offset = NULL) {
  if (is.null(offset)) offset <- 0
  switch(loss_family(loss),
    squared = y - f,
    logistic = y / (1 + exp(y * f)),
    negbin = (y + offset - exp(f + offset)) / (1 + exp(f + offset) / parameter_of(loss)),
    poisson = y + offset - exp(f + offset),
    binomial = y + offset - 1 / (1 + exp(-f - offset)),
    multinomial = (y > 0) - plain_shares(f)
  )
}

# The mean of a linear predictor with its offset, where the loss is a likelihood.
plain_mean <- function(loss, f) if (loss == "binomial") 1 / (1 + exp(-f)) else exp(f)

# The second derivative of such a loss.
plain_curvature <- function(loss, y, f, offset) {
  theta <- parameter_of(loss)
  switch(loss_family(loss),
    negbin = (y + offset + theta) * theta * exp(f + offset) / (exp(f + offset) + theta)^2,
    poisson = exp(f + offset),
    binomial = 1 / (2 + exp(f + offset) + exp(-f - offset))
  )
}

# The weight of the pairs of both classes in the right order, and of all pairs.
auc_pairs <- function(rows, problem, pred) {
  up <- rows[problem$rows$y[rows, 1L] > 0]
  down <- setdiff(rows, up)
  weight <- outer(problem$rows$weight[up], problem$rows$weight[down])
  c(sum(weight * pair_order(outer(pred[up], pred[down], "-"))), sum(weight))
}

# The weight of the pairs in the right order, and of the comparable pairs, which have different
# responses and, if there are queries, are of one query. Of two censored times the earlier must be
# an event. An event is before a time that is censored at the same time.
concordant_pairs <- function(rows, problem, pred) {
  w <- problem$rows$weight[rows]
  pred <- pred + row_offset(problem)
  if (is_survival(problem)) {
    times <- problem$rows[rows, ]
    comparable <- times$event & (outer(times$time, times$time, "<") |
      outer(times$time, times$time, "==") & outer(times$event, times$event, ">"))
    if (is_truncated(problem)) comparable <- comparable & outer(times$time, times$start, ">")
    stratum <- strata_of(problem)[rows]
    comparable <- comparable & outer(stratum, stratum, "==")
  } else {
    y <- compared_responses(problem)[rows]
    comparable <- outer(y, y, ">")
    query <- query_numbers(problem)[rows]
    comparable <- comparable & outer(query, query, "==")
  }
  weight <- outer(w, w) * comparable
  ahead <- outer(pred[rows], pred[rows], "-")
  c(sum(weight * pair_order(ahead, score_tie_of(problem, rows))), sum(weight))
}

# 1 for a pair in the right order, half for a tie
pair_order <- function(ahead, tie = score_tie) ifelse(abs(ahead) <= tie, 0.5, as.double(ahead > 0))

# the class of each row: the first of the largest scores, up to rounding
plain_class <- function(pred) {
  if (ncol(pred) == 1L) return(1L + (pred[, 1L] > score_tie))
  apply(pred, 1L, function(row) which(row >= max(row) - score_tie)[1L])
}

# the weighted mean over folds and its standard error, over the folds with a weight
retrain_mean <- function(sums) {
  mean <- sum(sums[1L, ]) / sum(sums[2L, ])
  sums <- sums[, sums[2L, ] > 0, drop = FALSE]
  share <- sums[2L, ] / sum(sums[2L, ])
  folds <- ncol(sums)
  squares <- share * (sums[1L, ] / sums[2L, ] - mean)^2
  c(value = mean, se = if (folds > 1L) sqrt(sum(squares) / (folds - 1)) else NA_real_)
}

# Value and standard error of a criterion, means over partitions, each with a separate `pred`.
retrain_error <- function(problem, name, pred, folds) {
  rowMeans(vapply(seq_along(pred), function(repetition) {
    retrain_mean(retrain_sums(problem, name, pred[[repetition]], folds$ids[, repetition]))
  }, c(value = 0, se = 0)))
}

# A criterion of groups of rows from predictions and from the null model's, for each partition: the
# error of every group divided by the mean over partitions of its null error.
retrain_groups <- function(problem, name, pred, null) {
  criterion <- criteria[[name]]
  group <- problem$rows$group
  losses_of <- function(pred) {
    vapply(levels(group), function(g) {
      rows <- which(group == g & problem$rows$weight > 0)
      if (!length(rows)) return(0)
      retrain_loss(problem, criterion$group_loss, pred, rep(1L, nrow(problem)), rows)[1L]
    }, 0)
  }
  own <- lapply(pred, losses_of)
  below <- average(lapply(null, losses_of))
  counted <- below > 1e-12 * max(below)
  c(value = mean(vapply(own, function(losses) {
    plain_over(criterion$over, (losses / below)[counted])
  }, 0)), se = NA_real_)
}

# The values of retrain_sums(), with pairs in the wrong order in place of the right one.
retrain_loss <- function(problem, loss, ...) {
  sums <- retrain_sums(problem, loss, ...)
  if (loss == "concordance") sums[1L, ] <- sums[2L, ] - sums[1L, ]
  sums
}

plain_over <- function(over, ratios) {
  if (over == "worst") return(max(ratios))
  n <- length(ratios)
  mean(ratios) + if (n > 1L) sqrt(sum((ratios - mean(ratios))^2) / (n - 1)) else 0
}

# Verify retrain l1 --------------------------------------------------------------------------------

# Optimality of models with an l1 penalty, for verify(): objective, dual point and duality gap in
# plain R from the user's coefficients.

# A model at a lambda: its values f (m x responses), loss, objective, the products of all columns
# with its dual point, less what the ridge takes from them, with the signs of the coefficients
# (columns x responses; with a grouped penalty their shares of the norm of their column), and the
# duality gap. `model` is on the user's scale.
solution_point <- function(problem, fit, lambda, model, residual = covariate_residual(problem)) {
  points <- lapply(responses_together(problem, fit$loss), function(l) {
    response_point(one_response(problem, l), fit, lambda, model_of_response(model, l), residual)
  })
  total <- function(name) sum(vapply(points, `[[`, 0, name))
  bound <- function(name) do.call(cbind, lapply(points, `[[`, name))
  list(f = bound("f"), loss = total("loss"), objective = total("objective"), gap = total("gap"),
       products = bound("products"), signs = bound("signs"))
}

# the part of a model that belongs to one response, or to several that have a model together
model_of_response <- function(model, l) {
  used <- if (ncol(model$beta) == length(l)) seq_along(model$features) else
    which(model$beta[, l] != 0)
  list(features = model$features[used], beta = model$beta[used, l, drop = FALSE],
       covariates = model$covariates[, l, drop = FALSE])
}

# The point of a single response, or of all responses of a joint loss.
response_point <- function(problem, fit, lambda, model, residual) {
  loss <- fit$loss
  alpha <- fit$alpha
  x <- plain_columns(problem, model$features)
  responses <- ncol(problem$rows$y)
  f <- (x %*% model$beta + problem$z %*% model$covariates)[, seq_len(responses)]
  y <- problem$rows$y[, seq_len(responses)]
  w <- problem$rows$weight
  scaled <- model$beta[, seq_len(responses)] * problem$columns$scale[model$features]
  offset <- row_offset(problem)
  tied <- if (is_cox_loss(loss)) plain_cox(problem, f) else if (takes_order(loss))
    plain_ordinal(problem, f)
  value <- if (!is.null(tied)) tied$loss else sum(w * plain_loss(loss, y, f, offset))
  r <- if (!is.null(tied)) tied$slope / weight_divisor(problem) else if (loss == "hinge")
    hinge_point(problem, f, lambda, model$features, sign(scaled)) else
    sqrt(w) * plain_slope(loss, y, f, offset)
  r <- residual(r)
  scaled <- matrix(scaled, ncol = responses)
  norms <- if (isTRUE(fit$grouped)) sqrt(rowSums(scaled^2)) else abs(scaled)
  signs <- scaled / ifelse(norms > 0, norms, 1)
  products <- matrix(column_products(problem, r), ncol = responses)
  products[model$features, ] <- products[model$features, ] - lambda * (1 - alpha) * scaled
  largest <- max(if (isTRUE(fit$grouped)) sqrt(rowSums(products^2)) else abs(products))
  objective <- value + lambda * (alpha * sum(norms) + (1 - alpha) / 2 * sum(scaled^2))
  tail <- if (alpha < 1) lambda * (1 - alpha) * sum(scaled^2) else 0
  dual <- dual_value(problem, loss, r, largest, alpha * lambda, tail, f)
  every <- matrix(0, ncol(problem), responses)
  every[model$features, ] <- signs
  list(f = f, loss = value, objective = objective, products = products, gap = objective - dual,
       signs = every)
}

# The probability of a class between two ends by a link, the density `d`, the derivative of the
# logarithm of the density, `fall`, and quantiles.
plain_links <- list(
  logit = list(
    share = function(u, l) stats::plogis(u) * stats::plogis(-l) * -expm1(l - u),
    d = stats::dlogis, fall = function(x) 1 - 2 * stats::plogis(x), q = stats::qlogis
  ),
  probit = list(
    share = function(u, l) {
      ifelse(l > 0, stats::pnorm(-l) - stats::pnorm(-u), stats::pnorm(u) - stats::pnorm(l))
    },
    d = stats::dnorm, fall = function(x) ifelse(is.finite(x), -x, 0), q = stats::qnorm
  )
)

# Half the deviance of ordered classes with the best cutpoints, and minus its gradient. `train` has
# the weights for which the cutpoints are best, by Newton's method.
plain_ordinal <- function(problem, f, train = problem) {
  class <- problem$rows$y[, 1L]
  k <- length(problem$coding$classes)
  link <- plain_links[[problem$coding$link]]
  at <- function(cuts, w) {
    ends <- c(-Inf, cuts, Inf)
    u <- ends[class + 1L] - f
    l <- ends[class] - f
    # below 0 where a step would exchange cutpoints
    share <- pmax(link$share(u, l), 0)
    d_up <- link$d(u) / share
    d_low <- link$d(l) / share
    U <- outer(class, seq_len(k - 1L), `==`)
    D <- outer(class - 1L, seq_len(k - 1L), `==`)
    S <- d_up * U - d_low * D
    bent <- crossprod(S, w * S) -
      diag(colSums(w * (d_up * link$fall(u) * U - d_low * link$fall(l) * D)), k - 1L)
    list(loss = if (is.unsorted(cuts, strictly = TRUE)) Inf else -sum(w * log(share)),
         gradient = -colSums(w * S), bent = bent, each = -log(share), slope = d_low - d_up)
  }
  w <- train$rows$weight
  total <- tapply(w, factor(class, seq_len(k)), sum, default = 0)
  cuts <- link$q(cumsum(total)[-k] / sum(w)) + sum(w * f) / sum(w)
  for (step in 1:200) {
    now <- at(cuts, w)
    move <- solve(now$bent, -now$gradient, tol = 0)
    if (max(abs(move)) < 1e-12 * max(1, abs(cuts))) break
    by <- 1
    most <- now$loss * (1 + 1e-13)
    while (!isTRUE(at(cuts + by * move, w)$loss <= most) && by > 1e-12) by <- by / 2
    cuts <- cuts + by * move
  }
  now <- at(cuts, problem$rows$weight)
  list(loss = now$loss, slope = problem$rows$weight * now$slope, each = now$each)
}

# The sum of the deviance of some rows held out, and its weight, where a loss ties rows together.
plain_held_out <- function(problem, loss, rows, f) {
  if (is_cox_loss(loss)) return(plain_events(problem, rows, f))
  train <- problem
  train$rows$weight[rows] <- 0
  w <- problem$rows$weight[rows]
  c(2 * sum(w * plain_ordinal(problem, f, train)$each[rows]), sum(w))
}

# Half the deviance of a Cox model, minus its gradient, and a function of a design that gives its
# second derivative. Matrices have a column for each moment, for Efron's sum one for each event.
plain_cox <- function(problem, f, sets = plain_risk_sets(problem)) {
  w <- problem$rows$weight
  f <- f + row_offset(problem)
  at_risk <- replace(array(f, dim(sets$at_risk)), !sets$at_risk, -Inf)
  largest <- f[max.col(t(at_risk), "first")]
  level <- array(f - rep(largest, each = length(f)), dim(at_risk))
  share <- sets$weight * exp(pmin(level, 0))[, sets$of, drop = FALSE]
  sums <- colSums(share)
  value <- sum(sets$part * log(sums / sets$over)) - sum((w * level)[sets$tied])
  share <- share * rep(sets$part / sums, each = length(w))
  list(loss = value, slope = w * problem$rows$event - rowSums(share), curvature = function(design) {
    means <- crossprod(share, design) / sqrt(sets$part)
    crossprod(design, rowSums(share) * design) - crossprod(means)
  })
}

# The rows at risk and the events at each moment, rows x moments. Efron's way has a sum for each
# event: `of` is its moment.
plain_risk_sets <- function(problem) {
  rows <- problem$rows
  w <- rows$weight
  time <- rows$time
  start <- if (is.null(rows$start)) rep(-Inf, length(w)) else rows$start
  stratum <- strata_of(problem)
  own <- which(w > 0 & rows$event)
  own <- own[!duplicated(stratum[own] + max(stratum) * match(time[own], time))]
  at_risk <- w > 0 & outer(stratum, stratum[own], `==`) & outer(start, time[own], `<`) &
    outer(time, time[own], `>=`)
  tied <- at_risk & rows$event & outer(time, time[own], `==`)
  n <- if (problem$coding$ties == "efron") colSums(tied) else rep(1, length(own))
  weight <- colSums(w * tied)
  of <- rep(seq_along(own), n)
  left <- 1 - (sequence(n) - 1) / n[of]
  taken <- tied[, of, drop = FALSE] * rep(1 - left, each = length(w))
  list(at_risk = at_risk, tied = tied, of = of, part = (weight / n)[of], over = weight[of] * left,
       weight = w * (at_risk[, of, drop = FALSE] - taken))
}

# The dual point of the hinge loss. alpha is w below the margin and 0 above. At the margin alpha
# makes the products of the columns in the model equal to lambda and the products of the covariates
# 0.
hinge_point <- function(problem, f, lambda, features, signs) {
  y <- problem$rows$y[, 1L]
  w <- problem$rows$weight
  slack <- 1 - y * f
  margin <- margin_rows(problem, f)
  alpha <- ifelse(slack > 0, w, 0)
  alpha[margin] <- 0
  columns <- cbind(problem$z, retrain_columns(problem, features)$values) * y
  wanted <- c(numeric(ncol(problem$z)), lambda * signs) - drop(crossprod(columns, alpha))
  if (length(margin)) {
    inner <- t(columns[margin, , drop = FALSE])
    solved <- qr.coef(qr(inner, tol = 1e-9), wanted)
    alpha[margin] <- pmin(pmax(ifelse(is.na(solved), 0, solved), 0), w[margin])
  }
  y * alpha / weight_divisor(problem)
}

margin_rows <- function(problem, f) {
  which(problem$rows$weight > 0 & abs(1 - problem$rows$y[, 1L] * f) <= 1e-7 * max(1, abs(f)))
}

# whether the rows on the margin are at most as many as the equations for their part of the dual
# point
is_determined <- function(problem, model) {
  f <- plain_columns(problem, model$features) %*% model$beta + problem$z %*% model$covariates
  length(margin_rows(problem, drop(f))) <= length(model$features) + ncol(problem$z)
}

# Systems ------------------------------------------------------------------------------------------

solved_by_qr <- function(system, S, right) {
  if (!length(S)) return(matrix(0, 0L, ncol(right)))
  qr.coef(qr(system_columns(system, S)[S, , drop = FALSE], tol = 1e-300), right[S, , drop = FALSE])
}

# b - A w
solution_rest <- function(system, solution) {
  system$b - system_columns(system, solution$components) %*% solution$beta
}

# the score that a search maximises, as a function of the squared residuals, NULL where it draws
# random components or has another score
step_score <- function(fit) {
  plain <- function(system, squares, set) squares
  if (fit$method == "matching_pursuit") return(plain)
  if (fit$method != "scdp" || !is.null(fit$control$candidates)) return(NULL)
  switch(fit$control$score,
    residual = plain,
    normalised = function(system, squares, set) squares / system$diagonal,
    ols = function(system, squares, set) {
      columns <- system_columns(system, set)
      inner <- qr(columns[set, , drop = FALSE], tol = 1e-300)
      across <- if (length(set)) rowSums(t(qr.coef(inner, t(columns))) * columns) else 0
      given <- system$diagonal - across
      ifelse(given > 1e-10 * system$diagonal, squares / given, 0)
    }
  )
}

is_dependent <- function(system, S, j, share = 1e-8) {
  if (j %in% S || !length(S)) return(FALSE)
  column <- system_columns(system, j)
  across <- solved_by_qr(system, S, column)
  column[j] - sum(across * column[S, ]) <= share * column[j]
}
