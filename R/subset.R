# Shared by the best-subset methods: cross products of columns, and a path from sets.
#
# The gain of a set S is tr(b'(C + lambda I)^-1 b) / tr(y'y) over its columns, with C = X'X and b =
# X'y in working coordinates: R^2 for lambda = 0, in general 1 minus the penalised residual sum of
# squares divided by the residual sum of squares of the null model.

subset_control <- function(problem, k, lambda, size = "criterion", size_folds = 10) {
  bound <- subset_bound(problem)
  if (is.null(k)) k <- max(min(bound$upper, 10L), if (is.numeric(size)) size)
  k <- check_count(k, "k", bound$upper, bound$what)
  lambda <- check_positive(lambda, "lambda", or_zero = TRUE)
  if (lambda == 0) check_no_factors(problem, "`lambda` is 0")
  folds <- as_folds("loo", problem)
  fold_basis_check(problem, folds)
  list(
    k = k, grows = FALSE, largest = function(problem) subset_bound(problem)$upper,
    sizing = size_control(problem, size, size_folds, folds, k),
    lambda = lambda, lambda_values = function(problem) lambda, lambda_rule = "given",
    lambda_given = TRUE, folds = folds, progress = FALSE,
    criterion = list(name = "r_squared", higher = TRUE, words = "R-squared",
                     label = "training R-squared")
  )
}

# list(upper: the largest size of a set with `rows` training rows, what: the limit in words)
subset_bound <- function(problem, rows = trained_rows(problem)) {
  max_rows <- rows - ncol(problem$z) - 1L
  usable <- sum(problem$usable)
  if (max_rows < 1L) stop_input("there are too few rows for a subset and the covariates")
  what <- if (max_rows < usable) "rows less covariates and one" else "usable columns"
  list(upper = as.integer(min(usable, max_rows)), what = paste("the number of", what))
}

# the largest number of columns for which all of X'X is computed: a quarter of a gigabyte
whole_gram <- 5792L

# The usable columns for src/gram.c, which counts them from 0: all of X'X, or the dense X or sparse
# x from which its entries are computed.
gram_terms <- function(problem, whole = sum(problem$usable) <= whole_gram) {
  usable <- which(problem$usable)
  work <- working(problem)
  terms <- list(m = nrow(problem), columns = usable, total = sum(work$y^2))
  if (inherits(problem$x, "dgCMatrix")) {
    terms <- sparse_terms(terms, problem$x[, usable, drop = FALSE], problem, work, whole)
  } else {
    X <- working_matrix(problem, usable, work$q)
    terms$diagonal <- colSums(X^2)
    terms$b <- unname(crossprod(X, work$y))
    products <- if (whole) crossprod(X)
    terms <- c(terms, list(whole = products, X = if (!whole) X))
  }
  check_still_finite(problem, c(terms$b, terms$diagonal))
  terms
}

# Products of sparse columns given the covariates: the products of x less G'G, so that x stays
# sparse.
sparse_terms <- function(terms, x, problem, work, whole) {
  scale <- problem$scale[terms$columns]
  G <- as.matrix(Matrix::crossprod(work$q, work$root_w * x)) / rep(scale, each = ncol(work$q))
  diagonal <- Matrix::colSums(problem$weights * x^2) / scale^2 - colSums(G^2)
  b <- as.matrix(Matrix::crossprod(x, work$root_w * work$y)) / scale
  products <- if (whole) {
    unname(as.matrix(Matrix::crossprod(work$root_w * x)) / outer(scale, scale) - crossprod(G))
  }
  c(terms, list(whole = products, X = NULL, x = x, w = problem$weights, scale = scale,
                G = unname(G), diagonal = unname(diagonal), b = unname(b)))
}

# The ridge models on the first s columns of a set, for each s of `sizes`: gain, coefficients in
# working coordinates, and held-out and training residuals on the user's scale. Each row, or group
# of rows, is held out by itself. One QR decomposition is used for all sizes.
leading_models <- function(problem, columns, lambda, sizes = 0:length(columns)) {
  work <- working(problem)
  m <- nrow(work$y)
  k <- length(columns)
  y <- rbind(work$y, matrix(0, k, ncol(work$y)))
  decomposed <- qr(rbind(working_matrix(problem, columns, work$q), diag(sqrt(lambda), k)), tol = 0)
  basis <- qr.Q(decomposed)
  factor <- qr.R(decomposed)
  along <- crossprod(basis, y)
  residual <- y
  leverage <- rowSums(work$q^2)
  models <- lapply(0:k, function(s) {
    if (s > 0L) {
      residual <<- residual - outer(basis[, s], drop(crossprod(basis[, s], residual)))
      leverage <<- leverage + basis[seq_len(m), s]^2
    }
    if (!s %in% sizes) return(NULL)
    beta <- matrix(0, 0L, ncol(y))
    if (s > 0L) beta <- backsolve(factor, along, k = s)
    training <- residual[seq_len(m), , drop = FALSE] / work$divisor
    loo <- if (is.null(problem$group)) training / (1 - leverage) else
      group_residuals(problem, residual[seq_len(m), , drop = FALSE] / work$divisor,
                      cbind(work$q, basis[seq_len(m), seq_len(s), drop = FALSE]), work$divisor)
    # 1 - leverage has few correct digits, so the model is retrained without the rows
    for (rows in poorly_held_out(problem, loo, leverage)) {
      loo[rows, ] <- residual_without(problem, columns[seq_len(s)], rows, lambda)
    }
    # the rows of `residual` below the rows of the data belong to the penalty
    list(gain = 1 - sum(residual^2) / sum(work$y^2), beta = beta, loo = loo, residual = training)
  })
  models[sizes + 1L]
}

# Residuals of the rows of each group by training without the group: (I - H)^-1 r over the rows of
# the group, with the training residuals r and H = Q Q' in working coordinates. NA where the
# smallest eigenvalue of I - H, 1 less the largest leverage of a direction, has few correct digits.
group_residuals <- function(problem, training, basis, divisor) {
  for (rows in split(seq_len(nrow(problem)), problem$group)) {
    parts <- svd(basis[rows, , drop = FALSE], nu = length(rows), nv = 0L)
    shrink <- rep(1, length(rows))
    shrink[seq_along(parts$d)] <- 1 - parts$d^2
    r <- divisor[rows] * training[rows, , drop = FALSE]
    training[rows, ] <- if (min(shrink) < 1e-6) NA else
      parts$u %*% (crossprod(parts$u, r) / shrink) / divisor[rows]
  }
  training
}

# The sets of rows whose held-out residuals have few correct digits.
poorly_held_out <- function(problem, residuals, leverage) {
  if (is.null(problem$group)) return(which(leverage > 1 - 1e-6))
  rows <- split(seq_len(nrow(problem)), problem$group)
  unname(Filter(function(rows) anyNA(residuals[rows, 1L]), rows))
}

# The models of some sets. If each set is an initial part of the largest, they share one
# decomposition.
subset_models <- function(problem, sets, lambda) {
  largest <- sets[[which.max(lengths(sets))]]
  leads <- vapply(sets, function(set) identical(set, largest[seq_along(set)]), NA)
  if (all(leads)) return(leading_models(problem, largest, lambda, lengths(sets)))
  lapply(sets, function(set) leading_models(problem, set, lambda, length(set))[[1L]])
}

# Held-out residuals of some rows by training on the others. For lambda = 0 a column whose
# coefficient cannot be estimated without these rows has the coefficient 0.
residual_without <- function(problem, columns, rows, lambda) {
  x <- as.matrix(problem$x[, columns, drop = FALSE])
  x <- (x - rep(problem$centre[columns], each = nrow(x))) /
    rep(problem$scale[columns], each = nrow(x))
  design <- cbind(problem$z, x)
  root_w <- sqrt(problem$weights[-rows])
  s <- length(columns)
  penalty <- cbind(matrix(0, s, ncol(problem$z)), diag(sqrt(lambda), s))
  decomposed <- qr(rbind(root_w * design[-rows, , drop = FALSE], penalty),
                   tol = if (lambda > 0) 0 else 1e-10)
  y <- rbind(root_w * problem$y[-rows, , drop = FALSE], matrix(0, s, ncol(problem$y)))
  beta <- qr.coef(decomposed, y)
  beta[is.na(beta)] <- 0
  problem$y[rows, , drop = FALSE] - design[rows, , drop = FALSE] %*% beta
}

# A path for new_sparse_fit() from the sets after each step (column numbers in the order chosen).
# `steps` has the columns action and feature. The best set of each size is its model, and `size` is
# the chosen size.
subset_path <- function(problem, control, sets, steps, size, status = "complete") {
  fitted <- subset_models(problem, sets, control$lambda)
  gain <- vapply(fitted, `[[`, 0, "gain")
  errors <- error_table(problem, control$folds, list(vapply(fitted, `[[`, problem$y, "loo")))
  path <- list2DF(list(
    step = seq_along(sets) - 1L, action = steps$action, feature = steps$feature,
    name = problem$names[steps$feature], size = lengths(sets), criterion = gain,
    se = rep(NA_real_, length(sets)), squared = errors$criterion
  ))
  path$error <- errors$error
  models <- lapply(0:max(path$size), function(s) {
    row <- which(path$size == s)
    row <- row[which.max(gain[row])]
    if (!length(row)) return(NULL)
    list(features = sets[[row]], beta = fitted[[row]]$beta, row = row)
  })
  chosen <- fitted[[models[[size + 1L]]$row]]
  list(
    lambda = control$lambda, status = status, path = path, size = as.integer(size),
    models = models, held_out = problem$y - chosen$loo, fitted = problem$y - chosen$residual
  )
}
