#' Kernel ridge regression on all rows or on basis vectors
#'
#' Fits kernel ridge regression (for classes: the least-squares support vector machine without bias)
#' with a kernel expansion on all rows or on a few basis vectors, for a path of lambda, with the
#' exact held-out error of each model.
#'
#' For basis vectors \eqn{x_b, b \in B}{x_b, b in B} and every lambda the model \eqn{f(x) = \sum_b
#' a_b k(x, x_b) + \beta' z}{f(x) = sum_b a_b k(x, x_b) + beta' z} minimises
#' \deqn{\sum_j w_j \| y_j - f(x_j) \|^2 + \lambda\, a' (K_{BB} + \tau I) a}{
#' sum_j w_j || y_j - f(x_j) ||^2 + lambda a' (K_BB + tau I) a}
#' over the dual weights a and, unpenalised, the weights \eqn{\beta} of covariates and intercept.
#' There is no 1/m: with all rows as basis lambda is `var` of kernlab's `gausspr(scaled = FALSE)`,
#' and 1 / gamma of a least-squares support vector machine.
#'
#' **Held-out errors.** A row that is held out is removed from the training rows, and from the basis
#' if it is a basis vector. The errors equal retraining without it, and are computed from one
#' decomposition. [holdout()] gives the predictions for any rows, [cv_error()] the error for any
#' folds, both with the basis vectors removed or kept, without training again. The basis is treated
#' as fixed: if it was selected by the response (see [select_basis()]), the errors are optimistic.
#'
#' **The width.** Without a `kernel`, Gaussian kernels of seven squared widths are tried, 2^-3, ...,
#' 2^3 times the median squared distance between two rows (of up to 500 rows spread evenly over the
#' data, after any standardising, without distances of zero). The width with the smallest held-out
#' error is used. Over sixteen data sets no wider or finer grid had a smaller test error beyond its
#' standard error, see bench/limits.R. Columns on different scales need `standardize = TRUE`. A
#' warning of class `sparsels_warning_edge` reports a choice at the end of three or more widths, and
#' held-out predictions that equal predictions without a kernel.
#'
#' **The shift** tau makes the kernel matrix of the basis positive definite and is part of the
#' model: the same in training, held-out errors and predictions, and printed. `"auto"` adds 1e-10
#' times the mean diagonal of K_BB to the penalty only, and ten times more (up to 1e-6) as long as
#' the Cholesky factorisation fails. With all rows as basis no matrix is inverted and the shift
#' is 0. `"paper"` adds 1e-7 to the diagonal of the whole kernel matrix, as in the paper. A number
#' is added to the diagonal of K_BB in the penalty. With wide kernels and small lambda predictions
#' depend on the shift: for a Gaussian kernel at lambda = 2^-15 they may change by some percent
#' between 1e-10 and 1e-12.
#'
#' @inheritParams rls
#' @param x,y,data The data, in any form that [as_problem()] takes; for `kernel = "precomputed"`,
#'   `x` is the m x m kernel matrix. Factors become indicator columns (one for every level without
#'   an intercept, all but the first with one), on which the kernel is computed.
#' @param kernel [kernel_gaussian()], [kernel_polynomial()] or [kernel_linear()]; with several
#'   `gamma` the one with the smallest held-out error is used. `NULL`, the default, for a Gaussian
#'   kernel whose width is chosen in the same way, see Details. Also a kernel of the package
#'   kernlab, a function of two matrices with points in rows that returns the kernel matrix, or
#'   `"precomputed"`.
#' @param basis The basis vectors: `NULL` for all rows; a number n, for n rows drawn with R's random
#'   numbers; several row numbers, names, or a logical vector; or a matrix of points (n x columns of
#'   x) that need not be rows.
#' @param lambda Positive ridge parameters, a numeric vector without repeats; `NULL` for
#'   `2^(-15:15)`.
#' @param intercept Logical: does the model have an unpenalised intercept? Taken from the problem if
#'   `x` is one made by [as_problem()].
#' @param standardize Logical: are columns centred and divided by their standard deviation (both
#'   weighted, on all rows) before the kernel is computed? Taken from the problem if `x` is one. A
#'   sparse `x` becomes dense, except for a Gaussian kernel, which depends on distances only: then
#'   most columns are scaled but not centred, and `x` stays sparse.
#' @param shift `"auto"`, `"paper"` or a number of at least 0, see Details.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`.
#' @return An object of class `kernel_rls`, a [kernel_fit].
#'
#' @section Many rows: Where rows times basis vectors are more than 1e7, or `x` is a
#'   [file_matrix()], kernel values are computed for some thousand rows at a time, and again in each
#'   pass: one to train, one for the errors of all lambdas, one for the predictions of the rows at
#'   the best of them, and one for the fitted values. Models, errors and predictions are the same to
#'   rounding, also in [holdout()] and [cv_error()]. `x` itself is read in place, so that a file may
#'   be larger than memory; [predict()][sparsels_fit] reads new data in a file in blocks, too.
#'
#'   Training uses the R factor of the QR decomposition of the kernel values. Their products would
#'   square the condition number. Large folds are retrained on the R factors of the other folds, and
#'   small folds are downdated row by row, whichever takes less memory.
#'
#' @section Cost: With n basis vectors, d columns, c lambdas and L responses: O(mnd) for the kernel,
#'   O(mn^2) for training, then O(mncL) for all leave-one-out errors; N folds cost at most O(mn^2 +
#'   N n^3) for all lambdas. The m x m kernel matrix is not computed if a basis is given. Memory:
#'   about two m x n and nine n x n matrices of doubles, of which the fit keeps one each; with many
#'   rows some 15 vectors of m, 2e7 doubles for the rows of a block, and the smaller of 2 N factors
#'   of n x n and three m / N x n matrices. All rows as basis: O(m^3) time and nine m x m matrices,
#'   of which the fit keeps two. Ctrl-C returns the best of the kernel widths completed, with a
#'   warning of class `sparsels_interrupted`; it takes effect after an eigenvalue problem of LAPACK,
#'   O(n^3), has ended.
#'
#'   Training is one eigenvalue problem for all lambdas and held-out errors, by LAPACK, and products
#'   of matrices, by the BLAS that R was started with. With all of 1000 to 4000 rows it took 10
#'   times as long as a Cholesky factorisation for a single lambda without errors. OpenBLAS took
#'   0.28 to 0.44 of the time, 15 to 17 times as long as its Cholesky factorisation, and two threads
#'   of it took 0.65 to 0.78 of the time of one (bench/kernel-rls.R). The number of threads of the
#'   BLAS is set outside R, for instance by the environment variable OPENBLAS_NUM_THREADS. `threads`
#'   changes neither this nor the results. Their last digits may depend on the BLAS and on its
#'   threads.
#'
#' @section Accuracy: The same as for retraining by QR, rounding error times the condition number of
#'   the problem: relative errors below 1e-10 for a well-conditioned kernel matrix of the basis, and
#'   below 1e-6 at the default shift otherwise. If the kernel matrix of the basis is singular
#'   without the shift, predictions and errors keep these digits, but dual weights may not. In
#'   blocks of rows one digit more is lost, or two for nearly equal columns at a tiny `lambda`. With
#'   all rows as the basis a `lambda` near the rounding errors of the kernel matrix, times the
#'   weights, gives a warning of class `sparsels_warning_precision`.
#'
#' @section Errors: Of class `sparsels_error_input`: a kernel matrix that is not square, symmetric
#'   or positive definite with the shift added, a basis larger than m or with repeats, weights of 0,
#'   repeated `lambda`, and input that is invalid for [as_problem()]. Folds that hold out the whole
#'   basis are not an error: the covariates alone then predict, or 0 without covariates.
#'
#' @references Pahikkala, T., Suominen, H., Boberg, J. (2012). Efficient cross-validation for
#' kernelized least-squares regression with sparse basis expansions. Machine Learning 87, 381-407.
#' \doi{10.1007/s10994-012-5287-6}
#' @seealso [holdout()], [cv_error()], [select_basis()], [kernel_fit]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -5, 5))
#' y <- sin(x[, 1]) + rnorm(200) / 4
#' fit <- kernel_rls(x, y, kernel = kernel_gaussian(c(0.1, 1, 10)), basis = 20)
#' fit
#' predict(fit, matrix(c(-1, 0, 1)))
#' cv_error(fit, make_folds(200, 10), lambda = fit$lambda)
#' @export
kernel_rls <- function(x, y = NULL, ..., data = NULL, kernel = NULL, basis = NULL, lambda = NULL,
                       folds = "loo", intercept = FALSE, standardize = FALSE, shift = "auto",
                       threads = 1) {
  problem <- fitter_problem("kernel_rls", x, y, ..., data = data,
                            intercept = unless_stated(x, intercept, missing(intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  if (is.null(kernel)) kernel <- typical_kernels(problem)
  expansion_fit("kernel_rls", problem, kernel, basis, lambda, shift, folds, threads,
                short_call(match.call()))
}

# Fits a kernel expansion, for every method that has the arguments of kernel_rls().
expansion_fit <- function(method, problem, kernel, basis, lambda, shift, folds, threads, call) {
  kernels <- each_kernel(as_kernel(kernel))
  problem <- kernel_problem(problem, kernels[[1L]], in_place = !is.null(basis))
  check_shift(shift)
  control <- expansion_control(problem, lambda, folds, threads)
  basis <- as_basis(basis, problem, kernels[[1L]])
  if (!reads_blocks(problem, basis_size(basis))) problem <- with_doubles(problem)
  if (is.null(basis$rows)) {
    check_count(nrow(basis$points), "nrow(basis)", nrow(problem), "the number of rows of the data")
  }
  trials <- best_trial(kernels, function(kernel) {
    kernel_trial(problem, kernel, basis, shift, control)
  })
  warn_rounding(trials$best$evaluated$spectrum, control$lambda)
  if (trials$status == "complete") warn_width(trials)
  warn_null(problem, trials$best$evaluated, control)
  new_kernel_fit(method, problem, control, trials$best$evaluated, trials$best$models, call,
                 kernel = trials$best$kernel, kernel_table = trials$table, basis = basis,
                 shift = trials$best$shift, status = trials$status)
}

# Warns of a width at the end of the widths tried. With two widths, one is always at an end.
warn_width <- function(trials) {
  tried <- trials$table$gamma
  gamma <- trials$best$kernel$parameters$gamma
  if (length(tried) < 3L || !gamma %in% range(tried)) return(invisible())
  widest <- gamma == min(tried)
  warn_sparsels(sprintf(
    "the kernel width chosen is the %s of %d tried, gamma = %s (sigma2 = %s): a %s may be better",
    if (widest) "widest" else "narrowest", length(tried), format(gamma, digits = 4L),
    format(1 / gamma, digits = 4L), if (widest) "smaller gamma" else "larger gamma"
  ), "sparsels_warning_edge")
}

# Warns if the held-out predictions equal the predictions of the covariates alone, up to a
# thousandth of the largest residual of the covariates.
warn_null <- function(problem, evaluated, control) {
  null <- null_residuals(problem, control$folds)
  off <- centre_within(problem, problem$y - evaluated$held_out) - null
  if (max(abs(off)) > 1e-3 * max(abs(null))) return(invisible())
  where <- if (ncol(problem$z)) "those of the intercept and covariates alone" else "0"
  hint <- if (problem$standardize) "" else " or `standardize = TRUE`"
  warn_sparsels(sprintf("the held-out predictions are nearly %s: try another kernel or width%s",
                        where, hint), "sparsels_warning_edge")
}

# Held-out residuals of the covariates alone, averaged over repeated folds. Without the rows S they
# are (I - B_S B_S')^-1 times the residuals with all rows, for a basis B of the covariates.
null_residuals <- function(problem, folds) {
  root_w <- sqrt(problem$weights)
  basis <- covariate_basis(problem)
  own <- working_response(problem, basis)
  if (!ncol(basis)) return(own / root_w)
  if (folds$loo && ncol(basis) == 1L) return(own / (root_w * (1 - basis[, 1L]^2)))
  total <- 0 * own
  for (repetition in seq_len(ncol(folds$ids))) {
    for (rows in split(seq_len(nrow(own)), folds$ids[, repetition])) {
      B <- basis[rows, , drop = FALSE]
      r <- own[rows, , drop = FALSE]
      remaining <- diag(ncol(B)) - crossprod(B)
      total[rows, ] <- total[rows, ] + r + B %*% solve(remaining, crossprod(B, r))
    }
  }
  total / (root_w * ncol(folds$ids))
}

# lambda, folds and threads, checked once
expansion_control <- function(problem, lambda, folds, threads) {
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  lambda <- check_lambda(lambda)
  if (is.null(lambda)) lambda <- lambda_grid
  if (anyDuplicated(lambda)) {
    stop_input(sprintf("`lambda` must not repeat values, but has %s twice",
                       format(lambda[anyDuplicated(lambda)])), "sparsels_error_argument")
  }
  list(lambda = lambda, folds = folds, threads = check_count(threads, "threads"))
}

check_shift <- function(shift) {
  fine <- is_number(shift) && is.finite(shift) && shift >= 0 ||
    is.character(shift) && length(shift) == 1L && shift %in% c("auto", "paper")
  if (!fine) refuse("shift", "\"auto\", \"paper\" or a number of at least 0", shift)
}

# The basis ---------------------------------------------------------------------------------------

# A basis as list(rows, points, all). `rows` are row numbers, or NULL for points that are not rows.
# `points` are on the user's scale. `all` is whether every row is a basis vector. `name` is the
# user's argument.
as_basis <- function(basis, problem, kernel, name = "basis") {
  m <- nrow(problem)
  if (length(dim(basis)) == 2L) return(points_basis(basis, problem, kernel, name))
  rows <- if (is.null(basis)) {
    seq_len(m)
  } else if (is.numeric(basis) && length(basis) == 1L && !inherits(basis, "sparsels_basis")) {
    sample.int(m, check_count(basis, name, m, "the number of rows"))
  } else {
    basis_rows(basis, problem, name)
  }
  rows_basis(rows, problem, kernel)
}

rows_basis <- function(rows, problem, kernel) {
  points <- if (!is_precomputed(kernel)) problem$x[rows, , drop = FALSE]
  list(rows = rows, points = points, all = length(rows) == nrow(problem))
}

basis_rows <- function(basis, problem, name = "basis") {
  if (!is.atomic(basis) || !length(basis)) {
    refuse(name, "NULL, a number, row numbers or a matrix of points", basis)
  }
  if (inherits(basis, "sparsels_basis")) basis <- as.integer(basis)
  rows <- positions(basis, nrow(problem), problem$row_names, "row")
  if (!length(rows)) stop_input(sprintf("`%s` chooses no row", name))
  if (anyDuplicated(rows)) {
    stop_input(sprintf("`%s` must not repeat rows, but row %d is there twice",
                       name, rows[anyDuplicated(rows)]))
  }
  rows
}

points_basis <- function(basis, problem, kernel, name) {
  if (is_precomputed(kernel)) {
    stop_input(sprintf("`%s` must be row numbers with a precomputed kernel, not points", name))
  }
  points <- tryCatch(
    new_data_matrix(problem, basis, seq_len(ncol(problem))),
    sparsels_error_newdata = function(e) {
      stop_input(sub("newdata", name, conditionMessage(e), fixed = TRUE))
    }
  )
  if (!nrow(points)) refuse(name, "at least one point", basis)
  bad <- which(rowSums(!is.finite(as.matrix(points))) > 0)
  if (length(bad)) {
    stop_input(sprintf("`%s` has missing or infinite values (row %d)", name, bad[1L]))
  }
  if (is.matrix(points)) points <- unclass(points)
  list(rows = NULL, points = points, all = FALSE)
}

# Training ----------------------------------------------------------------------------------------

# The best of the kernels, and a table with the best lambda and criterion of each. An interrupt
# keeps the completed kernels. If no kernel is complete, the interrupt is raised again.
best_trial <- function(kernels, trial) {
  best <- NULL
  table <- NULL
  status <- "complete"
  tryCatch({
    for (kernel in kernels) {
      result <- trial(kernel)
      gamma <- if (is.null(kernel$parameters$gamma)) NA_real_ else kernel$parameters$gamma
      row <- data.frame(gamma, lambda = result$evaluated$lambda, criterion = result$evaluated$value)
      table <- rbind(table, row)
      if (is.null(best) || result$evaluated$value < best$evaluated$value) best <- result
    }
  }, interrupt = function(condition) {
    if (is.null(best)) raise_interrupt()
    status <<- "interrupted"
  })
  list(best = best, table = table, status = status)
}

# The models of one kernel for every lambda, and their held-out errors.
kernel_trial <- function(problem, kernel, basis, shift, control) {
  fitted <- expansion(problem, kernel, basis, shift, control$folds)
  of_terms <- if (is.null(fitted$trained)) covariate_solver(problem)(fitted$K) else
    fitted$trained$of_terms
  list(kernel = kernel, shift = fitted$shift,
       evaluated = evaluate_spectrum(fitted$spectrum, problem, control, fitted$trained),
       models = kernel_models(problem, of_terms, fitted$spectrum, control$lambda))
}

# The spectrum of a kernel expansion, the shift used, and its K (m x n). In blocks it has the result
# of block_problem() instead of K, with the R factors of the first partition of `folds`.
expansion <- function(problem, kernel, basis, shift, folds = NULL) {
  if (!basis$all && reads_blocks(problem, basis_size(basis))) {
    return(block_expansion(problem, kernel, basis, shift, folds))
  }
  K <- kernel_columns(problem, kernel, basis)
  if (basis$all && identical(shift, "auto")) {
    spectrum <- full_spectrum(problem, K[, order(basis$rows)])
    spectrum$back <- spectrum$back[basis$rows, , drop = FALSE]
    return(list(K = K, spectrum = spectrum, shift = list(value = 0, where = "none")))
  }
  penalty <- shifted_cholesky(basis_kernel_matrix(problem, kernel, basis, K), shift)
  if (penalty$shift$where == "kernel") {
    diagonal <- cbind(basis$rows, seq_along(basis$rows))
    K[diagonal] <- K[diagonal] + penalty$shift$value
  }
  list(K = K, spectrum = basis_spectrum(problem, K, penalty$C, basis$rows), shift = penalty$shift)
}

block_expansion <- function(problem, kernel, basis, shift, folds) {
  source <- kernel_source(problem, kernel, basis)
  rows <- basis$rows
  own <- if (!is.null(rows)) source_terms(source, rows, seq_along(rows))
  penalty <- shifted_cholesky(basis_kernel_matrix(problem, kernel, basis, own, seq_along(rows)),
                              shift)
  if (penalty$shift$where == "kernel") source$diagonal <- source$diagonal + penalty$shift$value
  trained <- block_problem(problem, source, penalty$C, rows, folds)
  list(trained = trained, spectrum = trained$spectrum, shift = penalty$shift)
}

# K (m x n) between the rows and the basis
kernel_columns <- function(problem, kernel, basis) {
  if (is_precomputed(kernel)) return(unname(as.matrix(problem$x[, basis$rows, drop = FALSE])))
  K <- kernel_matrix(kernel, kernel_points(problem, problem$x),
                     kernel_points(problem, basis$points))
  diagonal <- cbind(basis$rows, seq_along(basis$rows))
  if (length(diagonal)) K[diagonal] <- kernel_diagonal(kernel, kernel_points(problem, basis$points))
  K
}

# K_BB, exactly symmetric, where `rows` are the rows of K that are the basis
basis_kernel_matrix <- function(problem, kernel, basis, K, rows = basis$rows) {
  KBB <- if (is.null(basis$rows)) {
    points <- kernel_points(problem, basis$points)
    values <- kernel_matrix(kernel, points, points)
    diag(values) <- kernel_diagonal(kernel, points)
    values
  } else {
    K[rows, , drop = FALSE]
  }
  (KBB + t(KBB)) / 2
}

# The upper Cholesky factor of K_BB + shift * I, and the shift used.
shifted_cholesky <- function(KBB, shift) {
  mean_diagonal <- max(mean(diag(KBB)), 0)
  shifts <- switch(as.character(shift), auto = mean_diagonal * 10^(-10:-6), paper = 1e-7, shift)
  for (tau in shifts) {
    C <- tryCatch(chol(KBB + diag(tau, nrow(KBB))), error = function(e) NULL)
    if (!is.null(C)) {
      where <- if (identical(shift, "paper")) "kernel" else if (tau > 0) "regulariser" else "none"
      return(list(C = C, shift = list(value = tau, where = where)))
    }
  }
  stop_not_positive(eigen(KBB, symmetric = TRUE, only.values = TRUE)$values, tau)
}

# dual weights and coefficients of the covariates for every lambda, on the user's scale, where
# `of_terms` are the coefficients of the terms on the covariates
kernel_models <- function(problem, of_terms, spectrum, lambda) {
  of_y <- covariate_solver(problem)(problem$y)
  lapply(term_weights(spectrum, lambda), function(beta) {
    covariates <- of_y - of_terms %*% beta
    dimnames(covariates) <- list(colnames(problem$z), colnames(problem$y))
    list(beta = beta, covariates = covariates)
  })
}
