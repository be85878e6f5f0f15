# Ridge regression in its eigen coordinates (ARCHITECTURE.md, "spectrum"): one decomposition serves
# every lambda, every output and every set of rows held out.

new_spectrum <- function(problem, phi, values, back, complete = FALSE, basis = NULL) {
  at <- working(problem)
  list(phi = phi, values = values, t = crossprod(phi, at$y), y = at$y, z_basis = at$q,
       root_w = at$root_w, back = back, complete = complete,
       basis = if (is.null(basis)) integer(nrow(phi)) else match(seq_len(nrow(phi)), basis, 0L))
}

# The columns of x --------------------------------------------------------------------------------

linear_spectrum <- function(problem) {
  parts <- svd(working_matrix(problem))
  real <- is_real(parts$d, .Machine$double.eps, problem)
  U <- parts$u[, real, drop = FALSE]
  V <- parts$v[, real, drop = FALSE]
  root <- parts$d[real]
  if (spans_all(problem, root)) {
    new_spectrum(problem, U, root^2, V * rep(root, each = nrow(V)), complete = TRUE)
  } else {
    new_spectrum(problem, U * rep(root, each = nrow(U)), root^2, V)
  }
}

# The same without coefficients from the smaller Gram matrix: several times faster, half the digits.
gram_spectrum <- function(problem) {
  tall <- nrow(problem) > sum(problem$usable)
  x <- if (tall) working_matrix(problem)
  parts <- eigen(if (tall) crossprod(x) else products_of_rows(problem), symmetric = TRUE)
  root <- sqrt(pmax(parts$values, 0))
  real <- is_real(root, sqrt(.Machine$double.eps), problem)
  root <- root[real]
  vectors <- parts$vectors[, real, drop = FALSE]
  phi <- if (tall) x %*% vectors else vectors * rep(root, each = nrow(vectors))
  complete <- spans_all(problem, root)
  if (complete) phi <- phi * rep(1 / root, each = nrow(phi))
  new_spectrum(problem, phi, root^2, matrix(0, 0L, length(root)), complete)
}

# XX' of the usable working columns, made in blocks no larger than it (or a million values)
products_of_rows <- function(problem) {
  m <- nrow(problem)
  usable <- which(problem$usable)
  basis <- covariate_basis(problem)
  products <- matrix(0, m, m)
  for (block in column_blocks(m, length(usable), max(1e6, m^2))) {
    products <- products + tcrossprod(working_matrix(problem, usable[block], basis))
  }
  products
}

# directions whose root is rounding alone are left out
is_real <- function(root, digits, problem) root > max(root) * digits * sqrt(max(dim(problem)))

spans_all <- function(problem, root) length(root) + ncol(problem$z) >= nrow(problem)

# Kernels -----------------------------------------------------------------------------------------

# A kernel expansion on all rows. K is never inverted, so no shift is needed.
full_spectrum <- function(problem, K) {
  root_w <- sqrt(problem$weights)
  K <- root_w * K * rep(root_w, each = nrow(K))
  rest <- covariate_complement(problem)
  parts <- eigen(if (is.null(rest)) K else crossprod(rest, K %*% rest), symmetric = TRUE)
  allowed <- 1e-6 * mean(diag(K))
  if (min(parts$values) < -allowed) stop_not_positive(parts$values, allowed)
  U <- if (is.null(rest)) parts$vectors else rest %*% parts$vectors
  new_spectrum(problem, U, pmax(parts$values, 0), root_w * U, complete = TRUE)
}

# an orthonormal basis (m x (m - q)) of what the covariates leave of R^m; NULL when there are none
covariate_complement <- function(problem) {
  q <- ncol(problem$z)
  if (q == 0L) return(NULL)
  all <- qr.Q(qr(sqrt(problem$weights) * problem$z, tol = 1e-10), complete = TRUE)
  all[, -seq_len(q), drop = FALSE]
}

# A kernel expansion on n basis vectors: K (m x n), C the upper Cholesky factor of the penalty, and
# the rows that are basis vectors.
basis_spectrum <- function(problem, K, C, rows) {
  at <- list(K = K, R = C, root_w = sqrt(problem$weights), z_basis = covariate_basis(problem))
  bar <- progress_bar(interactive(), "Training")
  answer <- .Call(C_kernel_spectrum, at, list(threads = 1L, progress = bar, judge = NULL))
  if (answer$status == 2L) raise_interrupt()
  if (answer$status < 0L) stop_singular("the kernel matrix")
  dim(answer$phi) <- dim(K)
  dim(answer$Q) <- dim(C)
  new_spectrum(problem, answer$phi, answer$values, answer$Q, basis = rows)
}

stop_singular <- function(what) {
  stop_input(sprintf("%s is numerically singular: use a larger `lambda` or `shift`", what),
             "sparsels_error_singular")
}

# What it is for ----------------------------------------------------------------------------------

# D %*% t for every lambda: r x (L c)
shrunken <- function(spectrum, lambda) {
  each <- lapply(lambda, function(l) spectrum$t / (spectrum$values + l))
  matrix(unlist(each), length(spectrum$values))
}

# coefficients of the terms, a list of n x L for every lambda
term_weights <- function(spectrum, lambda) {
  all <- spectrum$back %*% shrunken(spectrum, lambda)
  L <- ncol(spectrum$y)
  lapply(seq_along(lambda), function(l) all[, (l - 1L) * L + seq_len(L), drop = FALSE])
}

# residuals of the training rows in the user's units, m x L x c
training_residuals <- function(spectrum, lambda) {
  L <- ncol(spectrum$y)
  fit <- spectrum$phi %*% shrunken(spectrum, lambda)
  residual <- if (spectrum$complete) {
    fit * rep(lambda, each = nrow(fit) * L)
  } else {
    as.vector(spectrum$y) - fit
  }
  array(residual / spectrum$root_w, c(nrow(fit), L, length(lambda)))
}

# Residuals of rows held out in sets (a list of row numbers), in the user's units: (all rows of all
# sets) x L x c. The model is trained without the set; `remove` takes its basis vectors away too.
held_out_residuals <- function(spectrum, sets, lambda, remove = TRUE, threads = 1L) {
  control <- list(
    order = as.integer(unlist(sets)) - 1L, start = as.integer(c(0, cumsum(lengths(sets)))),
    basis = if (remove) spectrum$basis - 1L else rep(-1L, length(spectrum$basis)),
    lambda = lambda, form = 0L, threads = threads, judge = NULL,
    progress = progress_bar(interactive(), "Holding out")
  )
  answer <- call_holdout(spectrum, control)
  residual <- answer$residual
  lost <- which(answer$done == 0L)
  if (length(lost)) {
    control$order <- as.integer(unlist(sets[lost])) - 1L
    control$start <- as.integer(c(0, cumsum(lengths(sets[lost]))))
    control$form <- 1L
    again <- call_holdout(spectrum, control)
    if (!all(again$done)) stop_singular("the model without some of the rows")
    residual[rep(seq_along(sets), lengths(sets)) %in% lost, , ] <- again$residual
  }
  residual
}

call_holdout <- function(spectrum, control) {
  answer <- .Call(C_holdout, spectrum, control)
  if (answer$status == 2L) raise_interrupt()
  dim(answer$residual) <- c(length(control$order), ncol(spectrum$y), length(control$lambda))
  answer
}

# The same for folds: a list with an m x L x c array for each repeat.
held_out_folds <- function(spectrum, folds, lambda, threads = 1L) {
  lapply(seq_len(ncol(folds$ids)), function(repetition) {
    sets <- unname(split(seq_len(nrow(folds$ids)), folds$ids[, repetition]))
    residual <- held_out_residuals(spectrum, sets, lambda, threads = threads)
    residual[order(unlist(sets)), , , drop = FALSE]
  })
}
