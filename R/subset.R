# What the methods of best subset share: the products that a gain is made of, and a fit from sets.
#
# The gain of a set S is tr(b'(C + lambda I)^-1 b) / tr(y'y) over its columns, with C = X'X and
# b = X'y in working coordinates: R^2 for lambda = 0, else one less the penalised residual sum of
# squares.

subset_control <- function(problem, k, lambda, size = "criterion", size_folds = 10) {
  bound <- subset_bound(problem)
  if (is.null(k)) k <- max(min(bound$upper, 10L), if (is.numeric(size)) size)
  k <- check_count(k, "k", bound$upper, bound$what)
  lambda <- check_positive(lambda, "lambda", or_zero = TRUE)
  folds <- make_folds(problem, "loo")
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

# the largest size of a set for so many rows, and in words what bounds it
subset_bound <- function(problem, rows = trained_rows(problem)) {
  most <- rows - ncol(problem$z) - 1L
  usable <- sum(problem$usable)
  if (most < 1L) stop_input("there are too few rows for a subset and the covariates")
  what <- if (most < usable) "rows less covariates and one" else "usable columns"
  list(upper = as.integer(min(usable, most)), what = paste("the number of", what))
}

# up to how many columns the whole of X'X is made at once: a quarter of a gigabyte
whole_gram <- 5792L

# What src/gram.c needs of the usable columns, which it counts from 0: X'X whole, or what it is made
# of, a dense X or the user's sparse x.
gram_terms <- function(problem, whole = sum(problem$usable) <= whole_gram) {
  usable <- which(problem$usable)
  at <- working(problem)
  terms <- list(m = nrow(problem), columns = usable, total = sum(at$y^2))
  if (inherits(problem$x, "dgCMatrix")) {
    terms <- sparse_terms(terms, problem$x[, usable, drop = FALSE], problem, at, whole)
  } else {
    X <- working_matrix(problem, usable, at$q)
    terms$diagonal <- colSums(X^2)
    terms$b <- unname(crossprod(X, at$y))
    products <- if (whole) crossprod(X)
    terms <- c(terms, list(whole = products, X = if (!whole) X))
  }
  check_still_finite(problem, c(terms$b, terms$diagonal))
  terms
}

# the covariates explain G'G of X'X; x itself stays sparse
sparse_terms <- function(terms, x, problem, at, whole) {
  scale <- problem$scale[terms$columns]
  G <- as.matrix(Matrix::crossprod(at$q, at$root_w * x)) / rep(scale, each = ncol(at$q))
  own <- Matrix::colSums(problem$weights * x^2) / scale^2 - colSums(G^2)
  b <- as.matrix(Matrix::crossprod(x, at$root_w * at$y)) / scale
  products <- if (whole) {
    unname(as.matrix(Matrix::crossprod(at$root_w * x)) / outer(scale, scale) - crossprod(G))
  }
  c(terms, list(whole = products, X = NULL, x = x, w = problem$weights, scale = scale,
                G = unname(G), diagonal = unname(own), b = unname(b)))
}

# Figures of the ridge models on the leading columns of a set, the empty model first: gain, working
# coefficients, leave-one-out residuals and residuals in the user's units. One QR serves all sizes.
leading_models <- function(problem, columns, lambda, sizes = 0:length(columns)) {
  at <- working(problem)
  m <- nrow(at$y)
  k <- length(columns)
  y <- rbind(at$y, matrix(0, k, ncol(at$y)))
  decomposed <- qr(rbind(working_matrix(problem, columns, at$q), diag(sqrt(lambda), k)), tol = 0)
  basis <- qr.Q(decomposed)
  residual <- y
  own <- rowSums(at$q^2)
  made <- lapply(0:k, function(s) {
    if (s > 0L) {
      residual <<- residual - outer(basis[, s], drop(crossprod(basis[, s], residual)))
      own <<- own + basis[seq_len(m), s]^2
    }
    if (!s %in% sizes) return(NULL)
    beta <- matrix(0, 0L, ncol(y))
    if (s > 0L) beta <- backsolve(qr.R(decomposed), crossprod(basis, y), k = s)
    left <- residual[seq_len(m), , drop = FALSE] / at$divisor
    loo <- left / (1 - own)
    # a leverage this near 1 has lost the digits of its difference from it
    for (row in which(own > 1 - 1e-6)) {
      loo[row, ] <- residual_without(problem, columns[seq_len(s)], row, lambda)
    }
    # below the rows of the data the residual is the penalty's
    list(gain = 1 - sum(residual^2) / sum(at$y^2), beta = beta, loo = loo, residual = left)
  })
  made[sizes + 1L]
}

# The models of some sets; where each begins the largest, they are made together.
subset_models <- function(problem, sets, lambda) {
  largest <- sets[[which.max(lengths(sets))]]
  leads <- vapply(sets, function(set) identical(set, largest[seq_along(set)]), NA)
  if (all(leads)) return(leading_models(problem, largest, lambda, lengths(sets)))
  lapply(sets, function(set) leading_models(problem, set, lambda, length(set))[[1L]])
}

# Held-out residual of one row, trained anew on the others. For lambda = 0 a column that needs this
# row to be estimated has the coefficient 0.
residual_without <- function(problem, columns, row, lambda) {
  x <- as.matrix(problem$x[, columns, drop = FALSE])
  x <- (x - rep(problem$centre[columns], each = nrow(x))) /
    rep(problem$scale[columns], each = nrow(x))
  design <- cbind(problem$z, x)
  root_w <- sqrt(problem$weights[-row])
  s <- length(columns)
  penalty <- cbind(matrix(0, s, ncol(problem$z)), diag(sqrt(lambda), s))
  decomposed <- qr(rbind(root_w * design[-row, , drop = FALSE], penalty),
                   tol = if (lambda > 0) 0 else 1e-10)
  y <- rbind(root_w * problem$y[-row, , drop = FALSE], matrix(0, s, ncol(problem$y)))
  beta <- qr.coef(decomposed, y)
  beta[is.na(beta)] <- 0
  problem$y[row, ] - design[row, , drop = FALSE] %*% beta
}

# A path for new_sparse_fit() from the sets after each step (column numbers in the order chosen):
# `steps` has the columns action and feature. The best set of each size is its model; `size` is the
# one chosen.
subset_path <- function(problem, control, sets, steps, size, status = "complete") {
  made <- subset_models(problem, sets, control$lambda)
  gain <- vapply(made, `[[`, 0, "gain")
  figure <- function(name) {
    criterion <- as_criterion(name, problem, control$folds)
    vapply(made, function(one) judge(problem, control$folds, criterion, list(one$loo))$value, 0)
  }
  path <- data.frame(
    step = seq_along(sets) - 1L, action = steps$action, feature = steps$feature,
    name = problem$names[steps$feature], size = lengths(sets), criterion = gain, se = NA_real_,
    squared = figure("squared")
  )
  if (problem$task != "regression") path$error <- figure("error")
  models <- lapply(0:max(path$size), function(s) {
    row <- which(path$size == s)
    row <- row[which.max(gain[row])]
    if (!length(row)) return(NULL)
    list(features = sets[[row]], beta = made[[row]]$beta, row = row)
  })
  chosen <- made[[models[[size + 1L]]$row]]
  list(
    lambda = control$lambda, status = status, path = path, size = as.integer(size),
    models = models, held_out = problem$y - chosen$loo, fitted = problem$y - chosen$residual
  )
}
