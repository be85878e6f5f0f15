# Ridge regression in its eigen coordinates (docs/objects.md, "spectrum"). One decomposition serves
# every lambda, every response and every set of rows held out.

new_spectrum <- function(problem, phi, values, back, complete = FALSE, basis = NULL,
                         linear = FALSE) {
  work <- working(problem)
  list(phi = phi, values = values, t = crossprod(phi, work$y), y = work$y, z_basis = work$q,
       intercept_only = has_intercept_only(problem), root_w = work$root_w, back = back,
       complete = complete, linear = linear,
       basis = if (is.null(basis)) integer(nrow(phi)) else match(seq_len(nrow(phi)), basis, 0L))
}

# The columns of x --------------------------------------------------------------------------------

linear_spectrum <- function(problem) {
  x <- working_matrix(problem)
  parts <- if (ncol(x)) svd(x) else list(d = 0)
  real <- is_real(parts$d, .Machine$double.eps, problem)
  stop_input_if(!any(real), paste("every column of `x` is", excluded_words(problem)))
  U <- parts$u[, real, drop = FALSE]
  V <- parts$v[, real, drop = FALSE]
  root <- parts$d[real]
  if (spans_all(problem, root)) {
    new_spectrum(problem, U, root^2, V * rep(root, each = nrow(V)), complete = TRUE)
  } else {
    new_spectrum(problem, U * rep(root, each = nrow(U)), root^2, V, linear = TRUE)
  }
}

# The spectrum of the columns of x from the smaller Gram matrix, without coefficients. It is several
# times faster than linear_spectrum(), with half the digits.
gram_spectrum <- function(problem) {
  if (nrow(problem) <= sum(problem$columns$usable)) {
    return(spectrum_of_products(problem, products_of_rows(problem)))
  }
  x <- working_matrix(problem)
  spectrum_of_products(problem, crossprod(x), x)
}

# The spectrum from the products XX' or, where X is given, X'X.
spectrum_of_products <- function(problem, products, x = NULL) {
  parts <- eigen(products, symmetric = TRUE)
  root <- sqrt(pmax(parts$values, 0))
  real <- is_real(root, sqrt(.Machine$double.eps), problem)
  root <- root[real]
  vectors <- parts$vectors[, real, drop = FALSE]
  phi <- if (is.null(x)) vectors * rep(root, each = nrow(vectors)) else x %*% vectors
  complete <- spans_all(problem, root)
  if (complete) phi <- phi * rep(1 / root, each = nrow(phi))
  new_spectrum(problem, phi, root^2, matrix(0, 0L, length(root)), complete)
}

# XX' of the usable working columns, made in blocks no larger than it (or a million values)
products_of_rows <- function(problem) {
  m <- nrow(problem)
  usable <- which(problem$columns$usable)
  basis <- covariate_basis(problem)
  products <- matrix(0, m, m)
  for (block in column_blocks(m, length(usable), max(1e6, m^2))) {
    products <- products + tcrossprod(working_matrix(problem, usable[block], basis))
  }
  products
}

# directions whose root is only rounding error are left out
is_real <- function(root, digits, problem) root > max(root) * digits * sqrt(max(dim(problem)))

spans_all <- function(problem, root) length(root) + ncol(problem$z) >= nrow(problem)

# Kernels -----------------------------------------------------------------------------------------

# A kernel expansion on all rows. K is never inverted, so no shift is required. Where few values of
# `lambda` are known, each has a factor instead of the eigenvectors. `positive`: the kernel is known
# to be positive semidefinite.
full_spectrum <- function(problem, K, lambda = NULL, positive = FALSE) {
  root_w <- sqrt(problem$rows$weight)
  K <- centred_kernel(problem, K)
  if (any(root_w != 1)) K <- root_w * K * rep(root_w, each = nrow(K))
  rounding <- .Machine$double.eps * max(diag(K))
  if (length(lambda) %in% seq_len(few_lambdas)) {
    spectrum <- factored_spectrum(problem, K, lambda, rounding, positive)
    if (!is.null(spectrum)) return(spectrum)
  }
  parts <- complement_eigen(K, weighted_covariates(problem))
  allowed <- 1e-6 * mean(diag(K))
  if (min(parts$values) < -allowed) stop_not_positive(parts$values, allowed)
  spectrum <- new_spectrum(problem, parts$vectors, pmax(parts$values, 0), root_w * parts$vectors,
                           complete = TRUE)
  spectrum$rounding <- rounding
  spectrum
}

# Few values of lambda ----------------------------------------------------------------------------

# For a single lambda, a complete spectrum needs no more than some phi with phi phi' = lambda B (B'K
# B + lambda I)^-1 B', where B is a basis of the complement of the covariates, and `values` 0. A
# Cholesky factor and its inverse give such a phi in a small part of the time that eigenvectors take
# (bench/kernel-rls.R).

# the most values of lambda that have factors, each of the size of the kernel matrix
few_lambdas <- 3L

# The spectrum of a kernel expansion on all rows for few values of lambda. K has been multiplied by
# the root weights. NULL where rounding errors matter, which only eigenvalues tell.
factored_spectrum <- function(problem, K, lambda, rounding, positive) {
  least <- rounded_lambda * rounding
  if (min(lambda) < least) return(NULL)
  if (!positive && is.null(kernel_factor(K, 100 * rounding))) return(NULL)
  none <- matrix(0, nrow(K), 0L)
  spectrum <- new_spectrum(problem, none, numeric(), none, complete = TRUE)
  spectrum[c("kernel", "least")] <- list(K, least)
  factors <- lapply(lambda, spectrum_factor, spectrum = spectrum)
  if (any(lengths(factors) == 0L)) return(NULL)
  c(spectrum, list(lambda = lambda, factors = factors))
}

# phi for one lambda, m x m. NULL if the kernel matrix is not positive semidefinite.
spectrum_factor <- function(spectrum, lambda) {
  phi <- kernel_factor(spectrum$kernel, lambda)
  if (is.null(phi) || !ncol(spectrum$z_basis)) return(phi)
  along <- qr.Q(qr(crossprod(phi, spectrum$z_basis)))
  phi - tcrossprod(phi %*% along, along)
}

# F with F F' = lambda (K + lambda I)^-1. NULL if K is not positive semidefinite.
kernel_factor <- function(K, lambda) {
  answer <- uninterrupted(.Call(C_kernel_factor, K, list(
    lambda = lambda, threads = 1L, user_loss = NULL,
    progress = progress_bar(interactive(), "Training")
  )))
  if (answer$status == "complete") matrix(answer$phi, nrow(K))
}

is_factored <- function(spectrum) !is.null(spectrum$factors)

# A list with a function's value for every lambda. A factored spectrum is one for each lambda.
for_each_lambda <- function(spectrum, lambda, f) {
  if (!is_factored(spectrum)) return(list(f(spectrum, lambda)))
  lapply(lambda, function(one) f(spectrum_at(spectrum, one), one))
}

# The spectrum for one lambda, which is factored if it is not among the values of the fit.
spectrum_at <- function(spectrum, lambda) {
  if (!is_factored(spectrum)) return(spectrum)
  at <- match(lambda, spectrum$lambda)
  if (lambda < spectrum$least) {
    parts <- complement_eigen(spectrum$kernel, spectrum$z_basis)
    phi <- parts$vectors
    values <- pmax(parts$values, 0)
  } else {
    phi <- if (is.na(at)) spectrum_factor(spectrum, lambda) else spectrum$factors[[at]]
    values <- numeric(ncol(phi))
  }
  back <- spectrum$root_w * phi
  if (!is.null(spectrum$order)) back <- back[spectrum$order, , drop = FALSE]
  spectrum[c("phi", "values", "back")] <- list(phi, values, back)
  spectrum$t <- crossprod(phi, spectrum$y)
  if (!is.null(spectrum$of_terms)) spectrum$on_covariates <- spectrum$of_terms %*% back
  spectrum[c("kernel", "least", "lambda", "factors", "order", "of_terms")] <- NULL
  spectrum
}

# Rounding ----------------------------------------------------------------------------------------

# Eigenvalues of a kernel matrix have rounding errors of the size of its diagonal (with weights). A
# lambda of this size cannot be distinguished from them.
warn_rounding <- function(spectrum, lambda) {
  if (is.null(spectrum$rounding)) return(invisible())
  enough <- rounded_lambda * spectrum$rounding
  least <- min(lambda)
  warn_if(
    least < enough && min(spectrum$values) < enough, "sparsels_warning_precision",
    "errors at lambda = %s have about %d correct digits, as %s: use a `lambda` of at least %s",
    format(least, digits = 3), as.integer(max(0, floor(log10(least / spectrum$rounding)))),
    "it is near the rounding errors of the kernel matrix", format(enough, digits = 2)
  )
}

# a lambda of fewer rounding errors has lost digits
rounded_lambda <- 1e4

# The eigenvalues and eigenvectors of K within the orthogonal complement of the q weighted
# covariates. q reflections of each column cost O(m q).
complement_eigen <- function(K, weighted) {
  q <- ncol(weighted)
  if (q == 0L) return(eigen(t(K), symmetric = TRUE))
  turn <- qr(weighted, tol = 1e-10)
  into <- function(x) qr.qty(turn, x)[-seq_len(q), , drop = FALSE]
  parts <- eigen(into(t(into(K))), symmetric = TRUE)
  replace(parts, "vectors", list(qr.qy(turn, rbind(matrix(0, q, nrow(K) - q), parts$vectors))))
}

# A kernel expansion on n basis vectors: K (m x n), C the upper Cholesky factor of the penalty, and
# the rows that are basis vectors.
basis_spectrum <- function(problem, K, C, rows) {
  expansion <- list(K = centred_kernel(problem, K, terms = FALSE), R = C,
                    root_w = sqrt(problem$rows$weight), z_basis = covariate_basis(problem))
  bar <- progress_bar(interactive(), "Training")
  answer <- uninterrupted(.Call(C_kernel_spectrum, expansion,
                                list(threads = 1L, progress = bar, user_loss = NULL)))
  if (answer$status == "not_positive") stop_singular("the kernel matrix")
  dim(answer$phi) <- dim(K)
  dim(answer$Q) <- dim(C)
  new_spectrum(problem, answer$phi, answer$values, answer$Q, basis = rows)
}

stop_singular <- function(what) {
  stop_input("%s is numerically singular: use a larger `lambda` or `shift`", what,
             class = "sparsels_error_singular")
}

# Results -----------------------------------------------------------------------------------------

# D %*% t for every lambda: r x (L c)
shrunken <- function(spectrum, lambda) {
  each <- lapply(lambda, function(l) spectrum$t / (spectrum$values + l))
  matrix(unlist(each), length(spectrum$values))
}

# coefficients of the terms, a list of n x L for every lambda
term_weights <- function(spectrum, lambda) {
  all <- unlist(for_each_lambda(spectrum, lambda, function(spectrum, lambda) {
    spectrum$back %*% shrunken(spectrum, lambda)
  }))
  unname(lapply(split(all, rep(seq_along(lambda), each = length(all) / length(lambda))), matrix,
                ncol = ncol(spectrum$y)))
}

# residuals of the training rows in the user's units, m x L x c
training_residuals <- function(spectrum, lambda) {
  residual <- for_each_lambda(spectrum, lambda, function(spectrum, lambda) {
    fit <- spectrum$phi %*% shrunken(spectrum, lambda)
    if (!spectrum$complete) return(as.vector(spectrum$y) - fit)
    fit * rep(lambda, each = length(spectrum$y))
  })
  array(unlist(residual) / spectrum$root_w, c(dim(spectrum$y), length(lambda)))
}

# Residuals of rows held out in sets (a list of row numbers), in the user's units: (all rows of all
# sets) x L x c. The model is trained without the set. `remove` also removes the basis vectors of
# the set.
held_out_residuals <- function(spectrum, sets, lambda, remove = TRUE, threads = 1L) {
  in_order <- row_sets(sets)
  if (is_in_blocks(spectrum)) {
    return(collected_residuals(holdout_plan(spectrum, in_order, lambda, remove, threads)))
  }
  of_set <- rep(seq_along(sets), lengths(sets))
  residual <- for_each_lambda(spectrum, lambda, function(spectrum, lambda) {
    spectrum <- held_spectrum(spectrum, in_order)
    answer <- taken_away(spectrum, in_order, lambda, remove, threads,
                         progress_bar(interactive(), "Holding out"))
    for (set in answer$lost) {
      answer$residual[of_set == set, , ] <- trained_without(spectrum, sets[[set]], lambda, remove)
    }
    answer$residual
  })
  array(unlist(residual), c(length(of_set), ncol(spectrum$y), length(lambda)))
}

# The spectrum by which sets are held out. Directions of the covariates that lie within a set have
# no residual (see fold_basis_check()). A complete spectrum takes them as terms of eigenvalue 0.
held_spectrum <- function(spectrum, sets) {
  if (spectrum$intercept_only) return(spectrum)
  rows <- unname(split(sets$order, rep(seq_len(set_count(sets)), diff(sets$start))))
  held <- held_basis(spectrum$z_basis, rows)
  if (identical(held, spectrum$z_basis)) return(spectrum)
  # basis vectors that follow from the others of a set are removed with these
  for (set in rows[loses_covariates(spectrum$z_basis, rows)]) {
    own <- set[spectrum$basis[set] > 0L]
    parts <- qr(t(spectrum$back[spectrum$basis[own], , drop = FALSE]), tol = 1e-10)
    spectrum$basis[own[parts$pivot[seq_along(own) > parts$rank]]] <- 0L
  }
  if (spectrum$complete) {
    parts <- svd(spectrum$z_basis - held, nv = 0L)
    lost <- parts$u[, parts$d > 0.5, drop = FALSE]
    spectrum$phi <- cbind(spectrum$phi, lost)
    spectrum$values <- c(spectrum$values, numeric(ncol(lost)))
    spectrum$t <- rbind(spectrum$t, crossprod(lost, 0 * spectrum$y))
    spectrum$back <- cbind(spectrum$back, matrix(0, nrow(spectrum$back), ncol(lost)))
  }
  spectrum$z_basis <- held
  spectrum
}

# list(residual, lost: the sets whose weight is too large for downdating). `sets` are the result of
# row_sets(), for rows of the spectrum.
taken_away <- function(spectrum, sets, lambda, remove, threads, progress = NULL) {
  control <- list(
    order = sets$order - 1L, start = sets$start,
    basis = if (remove) spectrum$basis - 1L else rep(-1L, length(spectrum$basis)),
    # the columns of x may determine a model to more digits than a kernel matrix
    outweighed = 1e-6, singular = if (isTRUE(spectrum$linear)) 1e-5 else 0,
    lambda = lambda, form = "cheaper", threads = threads, user_loss = NULL, progress = progress
  )
  hold_out <- function(control) {
    answer <- uninterrupted(.Call(C_holdout, spectrum, control))
    dim(answer$residual) <- c(length(control$order), ncol(spectrum$y), length(control$lambda))
    answer
  }
  answer <- hold_out(control)
  residual <- answer$residual
  lost <- which(answer$done == 0L)
  if (length(lost)) {
    of_lost <- rep(seq_along(answer$done), diff(sets$start)) %in% lost
    control$order <- control$order[of_lost]
    control$start <- as.integer(c(0, cumsum(diff(sets$start)[lost])))
    control$form <- "per_fold"
    again <- hold_out(control)
    residual[of_lost, , ] <- again$residual
    lost <- lost[again$done == 0L]
  }
  list(residual = residual, lost = lost)
}

# The residuals of one set, computed from the other rows. The weight of these rows is so small
# relative to the set that downdating loses too many digits. h x L x c, in the user's units.
trained_without <- function(spectrum, rows, lambda, remove) {
  if (spectrum$complete) stop_singular("the model without some of the rows")
  phi <- spectrum$phi
  basis <- spectrum$basis[rows]
  if (remove && any(basis > 0L)) {
    removed <- qr.Q(qr(t(spectrum$back[basis[basis > 0L], , drop = FALSE])))
    phi <- if (ncol(removed) < ncol(phi)) phi - tcrossprod(phi %*% removed, removed) else 0 * phi
  }
  z <- qr(spectrum$z_basis[-rows, , drop = FALSE], tol = 1e-12)
  parts <- svd(qr.resid(z, phi[-rows, , drop = FALSE]))
  y <- crossprod(parts$u, qr.resid(z, spectrum$y[-rows, , drop = FALSE]))
  residual <- vapply(lambda, function(one) {
    rest <- spectrum$y - phi %*% (parts$v %*% (y * parts$d / (parts$d^2 + one)))
    of_z <- qr.coef(z, rest[-rows, , drop = FALSE])
    own <- spectrum$z_basis[rows, , drop = FALSE] %*% replace(of_z, is.na(of_z), 0)
    (rest[rows, , drop = FALSE] - own) / spectrum$root_w[rows]
  }, matrix(0, length(rows), ncol(spectrum$y)))
  array(residual, c(length(rows), ncol(spectrum$y), length(lambda)))
}

# Residuals of all rows held out by folds: a list with an m x L x c array for each repeat.
held_out_folds <- function(spectrum, folds, lambda, threads = 1L) {
  lapply(seq_len(ncol(folds$ids)), function(repetition) {
    sets <- unname(split(seq_len(nrow(folds$ids)), folds$ids[, repetition]))
    residual <- held_out_residuals(spectrum, sets, lambda, threads = threads)
    residual[order(unlist(sets)), , , drop = FALSE]
  })
}

# Lambda -------------------------------------------------------------------------------------------

# The ridge parameter of a search, when the user does not give one.

# Multiples of the mean sum of squares of a column. With a large lambda a search chooses columns
# that are good by themselves, with a small lambda columns that are good together. A large lambda
# suits data with many more columns than rows. A small one suits tall data and strong signals: the
# second multiple is n / m for n columns or groups, from 1/4 to 1. The first two are always tried,
# and the next one as long as the errors at the last one are mostly shrinkage.
lambda_multiples <- function(problem) {
  second <- min(1, max(1 / 4, count_units(problem) / trained_rows(problem)))
  c(16, second * 64^-(0:3))
}
first_lambdas <- 2L

# The meaning of `lambda`: its values, a function of a problem that gives the values for a training
# part, how many values there are at `most`, and the rule in words. Without `grid` there are no
# folds to choose by.
lambda_choice <- function(lambda, problem, grid, unit = mean_square, words = "sum of squares") {
  if (identical(lambda, "full")) {
    # without each fold it is made again
    announce_full(problem, if (grid) 11 else 1)
    lambda <- ridge_lambda(problem)
    values <- ridge_lambda
    edge <- if (lambda %in% range(lambda_grid(problem))) ", the end of the grid"
    rule <- paste0("chosen by leave-one-out with all columns", edge)
    return(list(lambda = lambda, values = values, rule = rule, most = 1L))
  }
  if (is.null(lambda)) {
    multiples <- utils::head(lambda_multiples(problem), if (grid) Inf else 1L)
    values <- function(problem) multiples * unit(problem)
    lambda <- utils::head(values(problem), first_lambdas)
    most <- length(multiples)
    rule <- if (grid) "chosen by cross-validation" else
      sprintf("the default, %g times the mean %s of a column", multiples, words)
  } else {
    lambda <- check_lambda(lambda)
    if (length(lambda) > 1L) lambda <- sort(unique(lambda), decreasing = TRUE)
    most <- length(lambda)
    values <- function(problem) lambda
    rule <- if (length(lambda) > 1L) "chosen by cross-validation, of several given" else "given"
  }
  list(lambda = lambda, values = values, rule = rule, most = most)
}

# The mean sum of squares of the usable working columns, whatever their factors of the penalty: the
# number of rows when they are standardised and there are no weights and no covariates.
mean_square <- function(problem) {
  scale <- problem$columns$scale / penalty_divisor(problem)
  mean((problem$columns$rss / scale^2)[problem$columns$usable])
}

# The paper's choice ------------------------------------------------------------------------------

# Refuses or announces a choice of lambda that takes long, made several `times`.
announce_full <- function(problem, times) {
  m <- as.double(trained_rows(problem))
  n <- as.double(sum(problem$columns$usable))
  r <- min(m, n)
  # products of the columns or of the rows, whichever are fewer, their eigenvectors, and the
  # residuals for every lambda
  operations <- m * n * r + 10 * r^3 + 2 * length(lambda_grid(problem)) * m * r
  seconds <- times * operations / full_speed
  stop_argument_if(seconds > 120, "`lambda = \"full\"` would take about %s, for %s: %s",
                   format_seconds(seconds),
                   sprintf("a ridge model of %.0f rows on all %.0f columns", m, n),
                   "give a number, or leave `lambda` out")
  if (seconds > 5) {
    message(sprintf("lambda = \"full\": leave-one-out with all columns takes about %s",
                    format_seconds(seconds)))
  }
}

# operations a second of the plain BLAS that comes with R
full_speed <- 2e9

# The unit of a ridge parameter, the mean weight: the same model whatever the unit of the weights.
weight_unit <- function(problem) {
  weights <- problem$rows$weight
  mean(weights[weights > 0])
}

# the values of lambda that are tried by default
lambda_grid <- function(problem) 2^(-15:15) * weight_unit(problem)

# The best leave-one-out squared error with all columns. Adjacent values of the grid differ by a
# factor of two, so the digits that the Gram matrix loses do not matter.
ridge_lambda <- function(problem) {
  # as of training rows in which every column is constant
  grid <- lambda_grid(problem)
  if (!any(problem$columns$usable)) return(max(grid))
  problem <- weighted_rows(problem)
  sets <- as.list(seq_len(nrow(problem)))
  residuals <- held_out_residuals(gram_spectrum(problem), sets, grid)
  losses <- colSums(problem$rows$weight * residuals^2, dims = 2L)
  grid[choose_row(losses, simplest = order(-grid))]
}
