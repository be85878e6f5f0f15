# Screening of pairs: scores of all pairs of columns by residuals of models of the other columns.

# The logarithm of the probability by chance of the score of each pair of columns (n x n), from
# their factors z (rows x 2 n: all lines, then all first directions), held-out residuals r (rows x
# responses) and weights w. The score of a product c is (sum w r c)^2 / (s^2 sum w (c - mean)^2),
# and the score of a pair is the sum over its products and the responses. Without an effect it is
# about chi-squared. No product is made: the sums are products of matrices.
pair_chances <- function(z, r, w) {
  own <- crossprod(z^2, w * z^2)
  along <- vapply(seq_len(ncol(r)), function(l) crossprod(z, w * r[, l] * z), own)
  chances_of(crossprod(z, w * z), own, along, r, w)
}

# The same from sums over the rows, for each two factors, of w times their product, its square
# (`own`), and the product times r (`along`, an array with a matrix for each response).
chances_of <- function(sums, own, along, r, w) {
  total <- sum(w)
  squares <- own - sums^2 / total
  varies <- squares > 1e-8 * own & own > 0
  score <- 0 * own
  for (l in seq_len(ncol(r))) {
    mean <- sum(w * r[, l]) / total
    variance <- sum(w * (r[, l] - mean)^2) / sum(w > 0)
    if (variance == 0) next
    score <- score + (along[, , l] - mean * sums)^2 / ifelse(varies, squares, Inf) / variance
  }
  n <- ncol(own) / 2L
  of_pairs <- function(values) {
    line <- seq_len(n)
    values[line, line] + values[line, -line] + values[-line, line] + values[-line, -line]
  }
  df <- ncol(r) * of_pairs(varies)
  chance <- stats::pchisq(of_pairs(score), df, lower.tail = FALSE, log.p = TRUE)
  ifelse(df > 0, chance, 0)
}

# the lambdas of the models whose residuals screen pairs, as multiples of the sum of the weights
additive_lambdas <- 4^(1:-5)

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
  for (lambda in additive_lambdas * sum(problem$rows$weight)) {
    left <- 1 - leverage - drop(x^2 %*% (1 / (values + lambda)))
    residual <- (y - x %*% (t / (values + lambda))) / ifelse(left > 1e-8, left, Inf)
    if (is.null(best) || sum(residual^2) < sum(best^2)) best <- residual
  }
  best / weight_divisor(problem)
}

# The pairs of a problem whose other columns are measured: screened by their scores, unless they
# were given, with the curves of its rows. Of many rows these curves remain as they were first
# placed, as knots do.
found_pairs <- function(problem) {
  pairs <- problem$pairs
  names <- names(pairs$df)
  if (!isTRUE(pairs$placed)) {
    pairs$placed <- trained_rows(problem) >= placed_rows &&
      any(problem$columns$usable & !is_of_pair(problem))
    pairs$basis <- lapply(stats::setNames(nm = names), function(name) {
      own <- spline_of(problem, name)
      if (!is.null(own)) return(own)
      curve_of(drop(lines_as_given(problem, name)), problem$rows$weight, pairs$df[[name]])
    })
  }
  if (!pairs$screened) return(pairs)
  problem$pairs <- pairs
  if (pairs$placed) return(top_pairs(pairs, placed_chances(problem)))
  x <- lines_as_given(problem, names)
  z <- vapply(seq_along(names), function(j) pair_factors_at(pairs$basis[[j]], x[, j]),
              matrix(0, nrow(x), 2L))
  z <- matrix(aperm(z, c(1L, 3L, 2L)), nrow(x))
  z[is.na(z)] <- 0
  top_pairs(pairs, pair_chances(z, additive_residuals(problem), problem$rows$weight))
}

# The pairs of least probability by chance.
top_pairs <- function(pairs, chance) {
  places <- which(upper.tri(chance), arr.ind = TRUE)
  top <- places[order(chance[places])[seq_along(pairs$first)], , drop = FALSE]
  pairs$first <- names(pairs$df)[top[, 1L]]
  pairs$second <- names(pairs$df)[top[, 2L]]
  pairs$p <- chance[top]
  pairs
}

# Of many rows -------------------------------------------------------------------------------------

# Many rows are screened by the residuals of the model of all of them, at the lambda of the least
# generalised cross-validation: each row moves its own residual by next to nothing. Model and lambda
# follow from products, so that x is read for the residuals alone, for several training sets at
# once.

# The probabilities of pair_chances() of the rows of a problem.
placed_chances <- function(problem) {
  single <- which(problem$columns$usable & !is_of_pair(problem))
  alone <- part_of(problem, columns = single)
  whole <- list(ids = matrix(1L, nrow(problem), 1L), loo = FALSE)
  products <- fold_products(alone, whole)
  model <- additive_model(alone, products$of[, , 2L], diag(ncol(alone)), trained_rows(problem),
                          products$weight[2L])
  chances_without(problem, alone, list(model), rep(0L, nrow(problem)))[[1L]]
}

# The ridge model of all columns of a problem, which `turn` makes of the given ones, from the
# products of these, the covariates and the responses over training rows of this number and weight:
# coefficients `b` of the given columns and `u` of the covariates.
additive_model <- function(problem, products, turn, rows, weight) {
  x <- seq_len(ncol(problem))
  y <- ncol(products) + 1L - rev(seq_len(ncol(problem$rows$y)))
  q <- setdiff(seq_len(ncol(products)), c(x, y))
  explained <- solve(products[q, q, drop = FALSE], products[q, , drop = FALSE])
  rest <- products - products[, q, drop = FALSE] %*% explained
  found <- eigen(crossprod(turn, rest[x, x] %*% turn), symmetric = TRUE)
  values <- pmax(found$values, 0)
  t <- crossprod(found$vectors, crossprod(turn, rest[x, y, drop = FALSE]))
  total <- sum(diag(rest)[y])
  least <- Inf
  for (lambda in additive_lambdas * weight) {
    beta <- t / (values + lambda)
    left <- rows - length(q) - sum(values / (values + lambda))
    error <- (total - sum(beta * (2 * t - values * beta))) / left^2
    if (left <= 0 || error >= least) next
    least <- error
    b <- turn %*% (found$vectors %*% beta)
  }
  list(b = b, u = explained[, y, drop = FALSE] - explained[, x, drop = FALSE] %*% b)
}

# The residuals of some additive models of the columns of a problem (rows x responses for each), in
# the units of the response.
additive_rest <- function(problem, models) {
  q <- covariate_basis(problem)
  y <- working_response(problem, q) / weight_divisor(problem)
  b <- do.call(cbind, lapply(models, `[[`, "b")) / problem$columns$scale
  rest <- do.call(cbind, lapply(models, function(model) {
    y - q %*% model$u / weight_divisor(problem)
  })) + rep(drop(problem$columns$centre %*% b), each = nrow(problem))
  for (rows in column_blocks(ncol(problem), nrow(problem), 1e6)) {
    rest[rows, ] <- rest[rows, ] - as.matrix(problem$x[rows, , drop = FALSE]) %*% b
  }
  lapply(seq_along(models), function(i) {
    rest[, seq_len(ncol(y)) + (i - 1L) * ncol(y), drop = FALSE]
  })
}

# The probabilities of pair_chances() for some training sets, whose additive `models` are of the
# columns of the problem `alone`: set i is without the rows of fold i.
chances_without <- function(problem, alone, models, ids) {
  w <- problem$rows$weight
  z <- factor_columns(problem)
  rests <- additive_rest(alone, models)
  by_fold <- w * outer(ids, c(0L, seq_along(models)), "==")
  sums <- weighted_products(z, by_fold)
  own <- weighted_products(squared_columns(z), by_fold)
  lapply(seq_along(models), function(i) {
    trained <- w * (ids != i)
    over <- function(by_fold) rowSums(by_fold[, , -(i + 1L), drop = FALSE], dims = 2L)
    along <- weighted_products(z, trained * rests[[i]])
    chances_of(over(sums), over(own), along, rests[[i]], trained)
  })
}

# The factors of all pairs as computed columns, 0 where a value is missing: all lines, then all
# first directions.
factor_columns <- function(problem) {
  names <- names(problem$pairs$df)
  count <- length(names)
  z <- if (is_computed(problem$x)) {
    some_part(without_functions(problem$x), columns = match(names, problem$columns$name))
  } else {
    computed_matrix(lines_as_given(problem, names))
  }
  z <- some_part(z, columns = rep(seq_len(count), 2L))
  z <- with_functions(z, seq_len(2L * count), factor_functions(problem$pairs, names),
                      c(2L * seq_len(count) - 1L, 2L * seq_len(count)))
  carrying(z, numeric(2L * count))
}
