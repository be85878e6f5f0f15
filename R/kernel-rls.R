#' Kernel ridge regression on all rows or on basis vectors
#'
#' Fits kernel ridge regression (for classes: the least-squares support vector machine) with a
#' kernel expansion on all rows or on a few basis vectors, for a path of lambda, with the exact
#' held-out error of each model.
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
#' **The width.** Without a `kernel`, Gaussian kernels of seven squared widths are tried, 2^-3,
#' ..., 2^3 times the median squared distance between two rows (of up to 500 rows spread evenly
#' over the data, after any standardising, without distances of zero). The width with the smallest
#' held-out error is used (bench/limits.R compares grids). A warning of class
#' `sparsels_warning_edge` reports a choice at the end of three or more widths, and held-out
#' predictions that equal predictions without a kernel.
#'
#' **Origin and units.** By default there is an intercept and columns are standardised. The model
#' then depends neither on the origin of the response nor on origins and units of the columns. The
#' paper's models have `intercept = FALSE, standardize = FALSE`.
#'
#' **The shift** tau makes the kernel matrix of the basis positive definite and is part of the
#' model: the same in training, held-out errors and predictions, and printed. `"auto"` adds 1e-10
#' times the mean diagonal of K_BB to the penalty only, and ten times more (up to 1e-6) as long as
#' the Cholesky factorisation fails. With all rows as basis no matrix is inverted and the shift
#' is 0. `"paper"` adds 1e-7 to the diagonal of the whole kernel matrix. A number
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
#'   kernel whose width is chosen in the same way, see Details. Also `"precomputed"`, or any other
#'   kernel that [kernels] describes.
#' @param basis The basis vectors: `NULL` for all rows; a number n, for n rows drawn with R's random
#'   numbers; several row numbers, names, or a logical vector; or a matrix of points (n x columns of
#'   x) that need not be rows.
#' @param lambda Positive ridge parameters, a numeric vector without repeats; `NULL` for
#'   `2^(-15:15)` times the mean weight of the rows.
#' @param intercept Logical: does the model have an unpenalised intercept? `TRUE` by default. Taken
#'   from the problem if `x` is one made by [as_problem()].
#' @param standardize Logical: are columns centred and divided by their standard deviation (both
#'   weighted, on all rows) before the kernel is computed? By default, unless the kernel is
#'   precomputed. Taken from the problem if `x` is one. A
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
#'   of which the fit keeps two. It keeps as many for each other width that is best without some
#'   rows, often one or two, for prediction intervals (`fold_choices` in [kernel_fit]). With one
#'   width, there are none. Ctrl-C returns the best of the kernel widths completed, with a
#'   warning of class `sparsels_interrupted`; it takes effect after an eigenvalue problem of LAPACK,
#'   O(n^3), has ended.
#'
#'   With all rows as basis and one, two or three values of `lambda`, training is a Cholesky
#'   factorisation and the inverse of the factor for each, in the package's own code, and the fit
#'   keeps one m x m matrix for each value and one more. With 1000 rows and a single lambda this
#'   took a fifteenth of the time of the eigenvalue problem (bench/kernel-rls.R).
#'
#'   Otherwise training is one eigenvalue problem for all lambdas and held-out errors, by LAPACK,
#'   and products of matrices, by the BLAS that R was started with. With OpenBLAS 1000 to 4000 rows
#'   took 0.28 to 0.44 of the time (bench/kernel-rls.R). The number of threads of the BLAS is set
#'   outside R, for instance by the environment variable OPENBLAS_NUM_THREADS. `threads` changes
#'   neither this nor the results, whose last digits may depend on the BLAS.
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
                       folds = "loo", intercept = TRUE,
                       standardize = !identical(kernel, "precomputed"), shift = "auto",
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
  trials <- best_trial(kernels, problem, basis, shift, control)
  warn_rounding(trials$best$evaluated$spectrum, control$lambda)
  if (trials$status == "complete") warn_width(trials)
  warn_null(problem, trials$best$evaluated, control)
  new_kernel_fit(method, problem, control, trials$best$evaluated, trials$best$models, call,
                 kernel = trials$best$kernel, kernel_table = trials$table, basis = basis,
                 shift = trials$best$shift, status = trials$status,
                 choices = kept_choices(trials$choices, control$sets, trials$own))
}

# Warns of a width at the end of the widths tried. With two widths, one is always at an end.
warn_width <- function(trials) {
  tried <- trials$table$gamma
  gamma <- trials$best$kernel$parameters$gamma
  widest <- identical(gamma, min(tried, Inf))
  warn_if(
    length(tried) > 2L && gamma %in% range(tried), "sparsels_warning_edge",
    "the kernel is the %s of %d tried, sigma2 = %s (gamma of the kernel = %s): a %s may be better",
    if (widest) "widest" else "narrowest", length(tried), format(1 / gamma, digits = 4L),
    format(gamma, digits = 4L), if (widest) "wider one" else "narrower one"
  )
}

# Warns if the held-out predictions equal the predictions of the covariates alone, up to a
# thousandth of the largest residual of the covariates.
warn_null <- function(problem, evaluated, control) {
  null <- null_residuals(problem, control$folds)
  off <- residuals_of(problem, evaluated$held_out) - null
  warn_if(max(abs(off), na.rm = TRUE) <= 1e-3 * max(abs(null)), "sparsels_warning_edge",
          "the held-out predictions are nearly %s: try another kernel or width%s",
          if (ncol(problem$z)) "the predictions of the intercept and covariates alone" else "0",
          if (problem$coding$standardize) "" else " or `standardize = TRUE`")
}

# lambda, folds and threads, checked once
expansion_control <- function(problem, lambda, folds, threads) {
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  lambda <- check_lambda(lambda)
  if (is.null(lambda)) lambda <- lambda_grid(problem)
  stop_argument_if(anyDuplicated(lambda), "`lambda` must not repeat values, but has %s twice",
                   format(lambda[anyDuplicated(lambda)]))
  list(lambda = lambda, folds = folds, threads = check_count(threads, "threads"),
       sets = choice_sets(problem, folds))
}

# Training ----------------------------------------------------------------------------------------

# The best of the kernels, the number of it (`own`), the choices of sets of rows by the other rows,
# and a table with the best lambda and criterion of each kernel. An interrupt keeps the completed
# kernels. If no kernel is complete, the interrupt is raised again.
best_trial <- function(kernels, problem, basis, shift, control) {
  best <- own <- choices <- table <- NULL
  status <- "complete"
  until_stopped({
    for (kernel in kernels) {
      result <- kernel_trial(problem, kernel, basis, shift, control)
      gamma <- if (is.null(kernel$parameters$gamma)) NA_real_ else kernel$parameters$gamma
      row <- data.frame(gamma, lambda = result$evaluated$lambda, criterion = result$evaluated$value)
      table <- rbind(table, row)
      choices <- better_choices(choices, result, nrow(table))
      if (is.null(best) || result$evaluated$value < best$evaluated$value) {
        best <- result
        own <- nrow(table)
      }
    }
  }, function(condition) {
    if (is.null(best)) raise_interrupt()
    status <<- "interrupted"
  })
  list(best = best, own = own, choices = choices, table = table, status = status)
}

# The models of one kernel for every lambda, and their held-out errors.
kernel_trial <- function(problem, kernel, basis, shift, control) {
  fitted <- expansion(problem, kernel, basis, shift, control$folds, control$lambda)
  of_terms <- if (is.null(fitted$trained)) covariate_solver(problem)(fitted$K) else
    fitted$trained$of_terms
  if (is_factored(fitted$spectrum)) fitted$spectrum$of_terms <- of_terms else
    fitted$spectrum$on_covariates <- of_terms %*% fitted$spectrum$back
  of_y <- covariate_solver(problem)(problem$rows$y)
  # dual weights and coefficients of the covariates, on the user's scale
  models <- lapply(term_weights(fitted$spectrum, control$lambda), function(beta) {
    covariates <- of_y - of_terms %*% beta
    dimnames(covariates) <- list(colnames(problem$z), colnames(problem$rows$y))
    list(beta = beta, covariates = covariates)
  })
  list(kernel = kernel, shift = fitted$shift,
       evaluated = evaluate_spectrum(fitted$spectrum, problem, control, fitted$trained),
       models = models)
}

# The spectrum of a kernel expansion, the shift used, and its K (m x n). In blocks it has the result
# of block_problem() instead of K, with the R factors of the first partition of `folds`.
expansion <- function(problem, kernel, basis, shift, folds = NULL, lambda = NULL) {
  if (!basis$all && reads_blocks(problem, basis_size(basis))) {
    return(block_expansion(problem, kernel, basis, shift, folds))
  }
  K <- kernel_columns(problem, kernel, basis)
  if (basis$all && identical(shift, "auto")) {
    spectrum <- full_spectrum(problem, K[, order(basis$rows)], lambda,
                              kernel$name %in% c("gaussian", "polynomial", "linear"))
    if (is_factored(spectrum)) spectrum$order <- basis$rows else
      spectrum$back <- spectrum$back[basis$rows, , drop = FALSE]
    return(list(K = K, spectrum = spectrum, shift = list(value = 0, where = "none")))
  }
  penalty <- shifted_cholesky(basis_kernel_matrix(problem, kernel, basis, K), shift)
  K <- with_kernel_shift(K, basis$rows, penalty$shift)
  list(K = K, spectrum = basis_spectrum(problem, K, penalty$C, basis$rows), shift = penalty$shift)
}

block_expansion <- function(problem, kernel, basis, shift, folds) {
  rows <- basis$rows
  precomputed <- is_precomputed(kernel)
  points <- if (!precomputed) kernel_points(problem, basis$points)
  scaling <- list(coding = problem$coding["standardize"],
                  columns = problem$columns[c("centre", "scale")])
  source <- list(x = problem$x, scaling = scaling, kernel = kernel, points = points,
                 columns = if (precomputed) rows,
                 diagonal = if (precomputed) diag(problem$x)[rows] else
                   kernel_diagonal(kernel, points))
  own <- if (!is.null(rows)) source_terms(source, rows, seq_along(rows))
  penalty <- shifted_cholesky(basis_kernel_matrix(problem, kernel, basis, own, seq_along(rows)),
                              shift)
  if (penalty$shift$where == "kernel") source$diagonal <- source$diagonal + penalty$shift$value
  trained <- block_problem(problem, source, penalty$C, rows, folds)
  list(trained = trained, spectrum = trained$spectrum, shift = penalty$shift)
}

# Rls ----------------------------------------------------------------------------------------------

#' Ridge regression with all features
#'
#' Fits ridge regression (for classes: the least-squares support vector machine) on all features for
#' a path of lambda, with the exact held-out error of each model.
#'
#' For every lambda the model minimises
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_j \|^2 + \lambda \| B \|_F^2}{
#' sum_j w_j || y_j - b' z_j - B' xs_j ||^2 + lambda ||B||_F^2}
#' with weights \eqn{w}, unpenalised covariates \eqn{z} and standardised columns \eqn{\tilde x}{xs}
#' as in [as_problem()]; for the same model the lambda of `glmnet(alpha = 0, weights = w)` is
#' `lambda * s / sum(w)`, where s is the weighted standard deviation of the response with divisor
#' `sum(w)`.
#'
#' One singular value decomposition is used for all lambdas. Leave-one-out then costs O(m min(m, n))
#' for each lambda; a larger fold of h rows is held out by an h x h system for each lambda or one
#' eigenvalue problem for all, whichever is cheaper.
#'
#' [holdout()] and [cv_error()] hold out other rows of a fit without training again.
#'
#' **Blocks.** With `blocks` the columns of each block have a lambda of their own, for instance
#' clinical variables and genes, or the genes of each pathway (several ridge penalties, van de Wiel
#' and others 2021). The chosen lambdas have the smallest held-out error, leave-one-out or by
#' `folds`, which is exact for every model tried. `lambda` has the values of the first block. The
#' lambda of any other block is \eqn{2^{-15}, 2^{-14}, \dots, 2^{15}}{2^-15, 2^-14, ..., 2^15} times
#' the lambda of the first. For two blocks all of these models are tried. For more blocks the search
#' is by coordinates, beginning with equal lambdas. Each block in turn gets the best ratio given the
#' other ratios, all lambdas of the first block being tried, until no ratio changes. It may end in a
#' local optimum. The path of the fit has the best ratios, and its `lambda` is the lambda of the
#' first block. The held-out error of the chosen model is somewhat optimistic, because it is the
#' smallest of many, and more so with more blocks: `cross_validate(pb, rls, blocks = blocks)`
#' repeats the choice in every training part. The factors of `penalty` in [as_problem()] apply
#' within a block.
#'
#' With fewer columns than rows, and more than 1e7 values or `x` in a [file_matrix()], rows are read
#' in blocks as by [kernel_rls()], see Many rows there.
#'
#' @param x,y,data The data, in any form of [as_problem()]: a matrix and its response, a formula and
#'   data, an experiment of Bioconductor and the name of its response, or an earlier problem.
#' @param lambda Positive ridge parameters, a numeric vector without repeats; `NULL` for
#'   `2^(-15:15)` times the mean weight of the rows.
#' @param folds Which rows are held out together for the errors of the path, see [make_folds()];
#'   leave-one-out by default.
#' @param blocks `NULL` for one lambda, or which columns have a lambda of their own: a named list of
#'   columns, by name, number or term, such as `list(clinic = c("age", "stage"), genes = 3:100)`, or
#'   a vector with the block of each column. Every column is in one block.
#' @param threads Number of OpenMP threads over folds, here and in [holdout()] and [cv_error()].
#'   Each thread calls BLAS: leave this at 1 with a multithreaded BLAS.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`. Any other name is an error.
#' @return An object of class `rls`, a [kernel_fit]. With `blocks` it has a field `blocks`, a list:
#'   `columns` (the column numbers of each block), `lambda` (the lambda chosen for each), `ratio`
#'   (to the lambda of the first), and `tried`, a data frame with a row for every model tried: the
#'   lambda of each block, under its name, and the held-out error and its standard error,
#'   `criterion` and `se`.
#'
#' @section Cost: O(mn min(m, n)) time; memory about three times a dense x, of which the fit keeps m
#'   x min(m, n) doubles, or in blocks of rows the memory of [kernel_rls()]. The decomposition by
#'   LAPACK cannot be interrupted: it takes seconds where min(m, n) is more than a thousand. With
#'   `blocks`, O(mn min(m, n)) once, and for each vector of ratios an eigenvalue decomposition of
#'   min(m, n) rows and columns: 31 of them for two blocks; memory for as many m x m matrices as
#'   blocks, or n x n ones with fewer columns than rows.
#' @section Errors: As for [greedy_rls()]; weights of 0.
#'
#' @references Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for
#' regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' van de Wiel, M. A., van Nee, M. M., Rauschenberger, A. (2021). Fast cross-validation for
#' multi-penalty high-dimensional ridge regression. Journal of Computational and Graphical
#' Statistics 30, 835-847. \doi{10.1080/10618600.2021.1904962}
#' @examples
#' x <- matrix(rnorm(30 * 50), 30)
#' fit <- rls(x, x[, 1] + rnorm(30))
#' fit
#' predict(fit, x[1:2, ])
#' # a lambda for the first two columns and one for the others
#' rls(x, x[, 1] + rnorm(30), blocks = list(clinic = 1:2, genes = 3:50))
#' @export
rls <- function(x, y = NULL, ..., data = NULL, lambda = NULL, folds = "loo", blocks = NULL,
                threads = 1) {
  problem <- fitter_problem("rls", x, y, ..., data = data)
  control <- expansion_control(problem, lambda, folds, threads)
  if (!is.null(blocks)) {
    stop_argument_if(reads_blocks(problem, sum(problem$columns$usable)),
                     paste("`blocks` needs all columns in memory, and `x` is so tall that its rows",
                           "are read in parts: use fewer rows, or `penalty` with factors of your",
                           "own"))
    blocks <- search_blocks(problem, check_blocks(blocks, problem), control)
    problem <- with_block_ratios(problem, blocks)
  }
  features <- which(problem$columns$usable)
  trained <- if (reads_blocks(problem, length(features))) block_columns(problem, features, control)
  spectrum <- if (is.null(trained)) linear_spectrum(problem) else trained$spectrum
  models <- lapply(term_weights(spectrum, control$lambda), function(beta) {
    list(features = features, beta = beta, row = 1L)
  })
  of_x <- if (is.null(trained)) columns_on_covariates(problem, features) else trained$of_x
  models <- lapply(user_coefficients(problem, models, of_x), `[`, c("beta", "covariates"))
  spectrum$on_covariates <- of_x %*% (spectrum$back / problem$columns$scale[features])
  evaluated <- evaluate_spectrum(spectrum, problem, control, trained)
  choices <- better_choices(NULL, list(evaluated = evaluated))
  new_kernel_fit("rls", problem, control, evaluated, models, short_call(match.call()),
                 features = features, blocks = blocks,
                 choices = kept_choices(choices, control$sets, 1L))
}

# The result of block_problem() for columns of x, with their own coefficients on the covariates.
block_columns <- function(problem, columns, control) {
  source <- list(x = problem$x, centre = problem$columns$centre[columns],
                 scale = problem$columns$scale[columns], columns = columns)
  trained <- block_problem(problem, source, diag(length(columns)), folds = control$folds,
                           linear = TRUE)
  of_x <- trained$of_terms * rep(problem$columns$scale[columns], each = ncol(problem$z))
  if (problem$coding$intercept) of_x[1L, ] <- of_x[1L, ] + problem$columns$centre[columns]
  trained$of_x <- of_x
  trained
}

# Lssvm --------------------------------------------------------------------------------------------

#' Least-squares support vector machine on all rows
#'
#' Fits the least-squares support vector machine with bias on all rows, for classes or a numeric
#' response, and chooses gamma and the width of a Gaussian kernel by the exact held-out error.
#'
#' The model \eqn{f(x) = w' \varphi(x) + b_0}{f(x) = w'phi(x) + b0} in the space of the kernel
#' minimises
#' \deqn{\frac{1}{2} \| w \|^2 + \frac{\gamma}{2} \sum_i v_i e_i^2, \qquad e_i = y_i - f(x_i)}{
#' ||w||^2 / 2 + gamma / 2 sum_i v_i e_i^2, e_i = y_i - f(x_i)} with case weights \eqn{v}, classes
#' coded -1 and +1. It is \eqn{f(x) = \sum_i \alpha_i k(x, x_i) + b_0}{f(x) = sum_i alpha_i k(x,
#' x_i) + b0} for the solution of
#' \deqn{\left[ \begin{array}{cc} K + \mathrm{diag}(\gamma v)^{-1} & 1 \\ 1' & 0 \end{array} \right]
#' \left[ \begin{array}{c} \alpha \\ b_0 \end{array} \right] = \left[ \begin{array}{c} y \\ 0
#' \end{array} \right].}{ [K + diag(gamma v)^-1, 1; 1', 0] [alpha; b0] = [y; 0].} This is
#' [kernel_rls()] with an intercept and `lambda = 1 / gamma`: one eigendecomposition of K serves all
#' gamma, all responses and all held-out errors. Up to three values of gamma have a Cholesky
#' factorisation each, which takes a small part of that time. With C the matrix above the prediction
#' of a held-out row i is \eqn{y_i - \alpha_i / (C^{-1})_{ii}}{y_i - alpha_i / (C^-1)_ii}, and the
#' prediction of a fold H is \eqn{y_H - ((C^{-1})_{HH})^{-1} \alpha_H}{y_H - ((C^-1)_HH)^-1
#' alpha_H}. They equal training again without these rows.
#'
#' With three classes or more one model is fitted for each, of the class against the others, with a
#' common gamma and kernel. Covariates (`adjust`) are unpenalised, as the bias is. Without the bias
#' (`intercept = FALSE`, or a problem that has none) the last row and column of the system are left
#' out.
#'
#' @inheritParams kernel_rls
#' @param kernel As in [kernel_rls()]; for a given width \eqn{\sigma^2}{sigma^2} it is
#'   `kernel_gaussian(sigma2 = )`. `NULL`: Gaussian kernels with \eqn{\sigma^2}{sigma^2} from 1/8 to
#'   8 times the median squared distance of two rows (after standardising; of up to 500 rows
#'   spread over the data), of which the one with the smallest held-out error is chosen.
#' @param gamma The regularisation constant, a positive number: the weight of the squared errors
#'   relative to \eqn{\| w \|^2}{||w||^2}; or several, of which the one with the smallest held-out
#'   error is chosen. `NULL` for `2^(-5:15)` divided by the mean weight of the rows. It is not the
#'   `gamma` of [kernel_gaussian()].
#' @param standardize Logical: are columns centred and divided by their standard deviation before
#'   the kernel is computed, as in [kernel_rls()]? By default, unless the kernel is precomputed.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`.
#' @return An object of class `lssvm_fit`, a [kernel_fit] without shift. In addition, `path` has a
#'   column `gamma`, and the fit has `gamma`, the best of them; `kernel_table` has a row for every
#'   width tried: `sigma2` (`NA` for a kernel that is not Gaussian), the best `gamma`, `criterion`.
#'   `coef()` gives the bias and the \eqn{\alpha}{alpha} of every row. The methods, [holdout()] and
#'   [cv_error()] take `lambda = 1 / gamma` for another gamma.
#'
#' @section Cost: O(m^3) time and nine m x m matrices of doubles for every width, of which the fit
#'   keeps two, and two for each other width that is best without some rows, see [kernel_rls()]: for
#'   some thousand rows. For more, see [fs_lssvm()]. Ctrl-C waits for the eigendecomposition by
#'   LAPACK of one width to end, seconds from a thousand rows on.
#' @section Errors: Of class `sparsels_error_input`: gamma or \eqn{\sigma^2}{sigma^2} that is not
#'   positive, a response of one class, and what [kernel_rls()] refuses.
#'
#' @references Suykens, J. A. K., Vandewalle, J. (1999). Least squares support vector machine
#' classifiers. Neural Processing Letters 9, 293-300. \doi{10.1023/A:1018628609742}
#'
#' Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K. (2011). Sparse
#' conjugate directions pursuit with application to fixed-size kernel models. Machine Learning 85,
#' 109-148. \doi{10.1007/s10994-011-5253-8}
#' @note The package kernlab has a function of this name; if both are attached, write
#'   `sparsels::lssvm()`.
#' @seealso [fs_lssvm()] for the model on few prototypes, [tune_lssvm()] for a finer search of gamma
#'   and \eqn{\sigma^2}{sigma^2}
#' @examples
#' set.seed(1)
#' x <- matrix(runif(160, -2, 2), 80)
#' y <- factor(ifelse(rowSums(x^2) + rnorm(80) / 3 > 2, "outside", "inside"))
#' fit <- lssvm(x, y)
#' fit
#' predict(fit, rbind(c(0, 0), c(2, 2)), type = "class")
#' cv_error(fit, make_folds(80, 10), lambda = 1 / fit$gamma)
#' lssvm(x, y, kernel = kernel_gaussian(sigma2 = 2), gamma = 10)
#' @export
lssvm <- function(x, y = NULL, ..., data = NULL, kernel = NULL, gamma = NULL, folds = "loo",
                  standardize = !identical(kernel, "precomputed"), threads = 1) {
  problem <- fitter_problem("lssvm", x, y, ..., data = data,
                            standardize = unless_stated(x, standardize, missing(standardize)))
  if (is.null(kernel)) kernel <- typical_kernels(problem)
  gamma <- if (is.null(gamma)) 2^(-5:15) / weight_unit(problem) else check_widths(gamma, "gamma")
  fit <- expansion_fit("lssvm", problem, kernel, NULL, 1 / gamma, "auto", folds, threads,
                       short_call(match.call()))
  gamma_of <- function(lambda) gamma[match(lambda, fit$path$lambda)]
  fit$gamma <- gamma_of(fit$lambda)
  tried <- fit$kernel_table
  fit$kernel_table <- data.frame(sigma2 = 1 / tried$gamma, gamma = gamma_of(tried$lambda),
                                 criterion = tried$criterion)
  fit$path <- data.frame(fit$path["lambda"], gamma, fit$path[-1L])
  seal(fit)
}

# Gaussian kernels with widths near the typical distance of two rows
typical_kernels <- function(problem) {
  scaled <- kernel_scale(problem, shift = TRUE, in_place = TRUE)
  kernel_gaussian(sigma2 = typical_distance(scaled) * 2^(-3:3))
}

#' @exportS3Method
print_result.lssvm_fit <- function(x, n, whole = FALSE, ...) {
  x$kernel <- in_sigma2(x$kernel)
  x$shift <- NULL
  print_expansion(x, "gamma", "sigma2", whole)
}

# Nystrom features ---------------------------------------------------------------------------------

#' Nystrom features of a kernel
#'
#' Computes at most M features from a kernel and M prototypes, whose inner products approximate the
#' kernel (Nystrom's method), so that linear methods can be used instead of kernel methods.
#'
#' With \eqn{K_{MM}}{K_MM} the kernel matrix of the prototypes, \eqn{U \Lambda U'}{U Lambda U'} its
#' eigendecomposition, and \eqn{K_{NM}}{K_NM} the kernel between rows and prototypes, the features
#' are
#' \deqn{\Phi = K_{NM} U \Lambda^{-1/2}, \qquad \Phi \Phi' = K_{NM} K_{MM}^{-1} K_{MN}.}{
#' Phi = K_NM U Lambda^(-1/2),   Phi Phi' = K_NM K_MM^-1 K_MN.}
#' Eigenvectors whose eigenvalue is at most `tolerance` times the largest are dropped, and the
#' inverse is then a pseudo-inverse: there are \eqn{r < M} features if prototypes are equal or
#' nearly so. With all rows as prototypes \eqn{\Phi \Phi'}{Phi Phi'} is the kernel matrix.
#'
#' Ridge regression on these features with an unpenalised intercept and `lambda = 1 / gamma` is
#' fixed-size LS-SVM on all prototypes; `fs_lssvm(solver = "nystrom")` does that.
#'
#' @param x The rows: a numeric matrix, sparse matrix or data frame (N x d), or a problem from
#'   [as_problem()], whose columns are centred and scaled first when it is standardised, as
#'   [kernel_rls()] does. For `kernel = "precomputed"` the N x N kernel matrix.
#' @param prototypes As `basis` in [kernel_rls()]: row numbers, such as the value of
#'   [select_basis()], names or a logical vector; a number of rows, which are drawn with R's random
#'   numbers; a matrix of points (M x d) that need not be rows; or `NULL` for all rows.
#' @param kernel The kernel, see [kernels], with a single width.
#' @param ... Must be empty: the arguments below are given by name.
#' @param tolerance A number of at least 0 and below 1: eigenvalues up to `tolerance` times the
#'   largest count as 0. 1e-12 by default.
#' @param object The result of `nystrom_features()`.
#' @param newdata New rows, as for [predict.sparsels_fit()].
#'
#' @return A list of class `nystrom_features`: `features`, an N x r matrix; `values`, the r
#'   eigenvalues kept, in decreasing order; `map`, the M x r matrix \eqn{U \Lambda^{-1/2}}{U
#'   Lambda^(-1/2)}; `tolerance`; `kernel`; `basis` as in [kernel_fit]; and `problem` without its x.
#'
#'   `predict()`: the features of new rows, a matrix with r columns; `NA` in rows with missing
#'   values.
#'
#' @section Cost: O(NMd) for the kernel, O(M^3) for the eigenvalues and O(NMr) for the features; two
#'   N x M matrices of doubles. The decomposition by LAPACK cannot be interrupted: it takes seconds
#'   with a thousand prototypes or more.
#' @section Errors: Of class `sparsels_error_input`: prototypes that are not rows, repeated row
#'   numbers, a kernel with several widths, and a kernel matrix that is not positive semidefinite
#'   (an eigenvalue below -1e-6 times the mean of its diagonal).
#'
#' @references Williams, C. K. I., Seeger, M. (2001). Using the Nystrom method to speed up kernel
#' machines. Advances in Neural Information Processing Systems 13, 682-688.
#'
#' Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K. (2011). Sparse
#' conjugate directions pursuit with application to fixed-size kernel models. Machine Learning 85,
#' 109-148. \doi{10.1007/s10994-011-5253-8}
#' @seealso [select_basis()], [fs_lssvm()]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -5, 5))
#' y <- sin(x[, 1]) + rnorm(200) / 4
#' kernel <- kernel_gaussian(sigma2 = 2)
#' phi <- nystrom_features(x, select_basis(x, 20, "k_center"), kernel)
#' phi
#' max(abs(tcrossprod(phi$features) - kernel$values(x, x)))
#' fit <- rls(phi$features, y, standardize = FALSE)
#' predict(fit, predict(phi, matrix(c(-1, 0, 1))))
#' @export
nystrom_features <- function(x, prototypes, kernel, ..., tolerance = 1e-12) {
  check_dots(..., known = names(formals(nystrom_features)))
  refuse_unless(is_number(tolerance) && tolerance >= 0 && tolerance < 1, "tolerance",
                "a number of at least 0 and below 1", tolerance)
  check_given(prototypes, "prototypes")
  kernel <- single_kernel(kernel)
  check_given(x, "x")
  # only the rows count, and not the response
  if (inherits(x, "sparsels_problem")) {
    check_sealed(x)
    check_has_x(x)
  } else {
    if (is.matrix(x) && is.numeric(x)) check_finite(x, "x")
    x <- as_problem(x, seq_len(NROW(x)), intercept = FALSE, standardize = FALSE)
  }
  problem <- kernel_problem(working_copy(x), kernel)
  basis <- as_basis(prototypes, problem, kernel, "prototypes")
  K <- kernel_columns(problem, kernel, basis)
  map <- nystrom_map(basis_kernel_matrix(problem, kernel, basis, K), tolerance)
  features <- K %*% map
  rownames(features) <- problem$rows$name
  seal(structure(list(
    features = features, values = 1 / colSums(map^2), map = map, tolerance = tolerance,
    kernel = kernel, basis = basis, problem = without_x(problem)
  ), class = c("nystrom_features", "sparsels_result")))
}

#' @rdname nystrom_features
#' @export
predict.nystrom_features <- function(object, newdata, ...) {
  check_method_call(..., object = object, known = "newdata")
  if (missing(newdata)) stop_input("`newdata` must be given: `features` has the rows of the data")
  newdata <- as_new_data(newdata)
  features <- term_scores(object, newdata, object$map)
  rownames(features) <- names_of_rows(newdata)
  features
}

#' @exportS3Method
record.nystrom_features <- function(x) {
  list(rows = data.frame(feature = seq_along(x$values), eigenvalue = x$values), complete = TRUE,
       row = data.frame(features = ncol(x$map), prototypes = nrow(x$map), nobs = nrow(x$features)))
}

#' @exportS3Method
print_result.nystrom_features <- function(x, ...) {
  cat(sprintf("<nystrom features> %s of %s for %s\n", counted(ncol(x$map), "feature"),
              counted(nrow(x$map), "prototype"), counted(nrow(x$features), "row")))
  cat("kernel: ", kernel_words(x$kernel), "\n", sep = "")
  cat(sprintf("eigenvalues: %s to %s\n", format(x$values[1L], digits = 4),
              format(x$values[ncol(x$map)], digits = 4)))
}

# Variance of the error ---------------------------------------------------------------------------

#' Variance of a cross-validated error over random basis vectors
#'
#' Estimates the error of learning with n randomly chosen basis vectors by N-fold cross-validation
#' in three ways, many times over, and gives mean and variance of each estimate for every lambda.
#'
#' In all three every prediction is made by a model on n basis vectors that was trained without the
#' fold (Section 6.2 of the paper):
#'
#' 1. n N / (N - 1) basis vectors (rounded) are drawn once and spread evenly over the folds; each
#'    fold is held out with its basis vectors removed. One training; part of the basis changes from
#'    fold to fold.
#' 2. n basis vectors are drawn once and never held out; only the other rows are scored. One
#'    training; the basis stays the same.
#' 3. n basis vectors are drawn anew from the training rows of every fold. N trainings.
#'
#' If basis vectors are chosen with the help of `y`, approaches 1 and 2 have used the held-out rows,
#' and are optimistic. Approach 3 chooses within the training rows and is not. The variance
#' \eqn{\sum_i (e_i - \bar e)^2 / (r - 1)}{sum_i (e_i - mean)^2 / (r - 1)} over r repeats is due to
#' the basis and the folds. New data from the same source would add to it.
#'
#' The repeats run on a future plan and can be interrupted, see [parallel_runs].
#'
#' @inheritParams kernel_rls
#' @param kernel As in [kernel_rls()], with a single width.
#' @param n Number of basis vectors of every model.
#' @param folds Number of folds N, which are drawn anew in each repeat.
#' @param approach The ways to cross-validate: any of 1, 2 and 3, see Details.
#' @param repeats Number of repeats r, each with a new random basis and new folds.
#' @param select How the basis is chosen: `NULL` for at random, or a function `(problem, n)` that
#'   returns n row numbers of a problem (see [as_problem()]), such as `function(problem, n)
#'   select_basis(problem, n, "greedy", kernel = kernel_gaussian(1))`.
#' @param BPPARAM `NULL`, or how BiocParallel runs the repeats, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return A list of class `cv_variance`: `table`, a data frame with a row per approach and lambda:
#'   `approach`, `lambda`, `mean` and `variance` of the weighted mean squared error over the repeats
#'   (`NA` for a single one); `errors`, the errors themselves (repeats x lambda x approach); `n`,
#'   `folds`, `status`, `call`, and `problem` without its x.
#' @section Cost: For each repeat the cost of [kernel_rls()] and [cv_error()] with n basis vectors,
#'   N times for approach 3.
#' @section Errors: As for [kernel_rls()]; more basis vectors than a training part has rows.
#' @inherit kernel_rls references
#' @seealso [plot()][plot.sparsels_result], [cv_error()]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -5, 5))
#' y <- sin(x[, 1]) + rnorm(200) / 2
#' varied <- cv_variance(x, y, kernel = kernel_gaussian(1), n = 9, folds = 5,
#'                       lambda = 2^(-4:4), repeats = 10)
#' varied
#' plot(varied)
#' @export
cv_variance <- function(x, y = NULL, ..., data = NULL, kernel = NULL, n = NULL, folds = 10,
                        lambda = NULL, approach = 1:3, repeats = 100, select = NULL,
                        intercept = TRUE, standardize = !identical(kernel, "precomputed"),
                        shift = "auto", BPPARAM = NULL) {
  problem <- fitter_problem("cv_variance", x, y, ..., data = data,
                            intercept = unless_stated(x, intercept, missing(intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  kernel <- single_kernel(kernel)
  problem <- kernel_problem(problem, kernel)
  check_shift(shift)
  repeats <- check_repeats(repeats, "repeats")
  folds <- at_most_rows(folds, problem)
  control <- variance_control(problem, n, folds, lambda, approach, select)
  check_bpparam(BPPARAM)
  train <- function(rows) {
    expansion(problem, kernel, rows_basis(rows, problem, kernel), shift)$spectrum
  }
  errors <- repeat_tasks(repeats, "repeat", function(i) {
    vapply(approach, function(one) {
      approaches[[one]](problem, control, train)
    }, numeric(length(control$lambda)))
  }, BPPARAM = BPPARAM)
  done <- length(errors)
  lambda <- control$lambda
  # repeats x lambda x approach
  errors <- array(unlist(errors), c(length(lambda), length(control$approach), done))
  errors <- aperm(errors, c(3L, 1L, 2L))
  dimnames(errors) <- list(NULL, format(lambda, trim = TRUE), control$approach)
  table <- data.frame(
    approach = rep(control$approach, each = length(lambda)),
    lambda = rep(lambda, length(control$approach)),
    mean = as.vector(colMeans(errors)), variance = as.vector(apply(errors, 2:3, stats::var))
  )
  new_result("cv_variance", list(
    table = table, errors = errors, n = control$n, folds = control$folds
  ), problem, short_call(match.call()), done == repeats)
}

variance_control <- function(problem, n, folds, lambda, approach, select) {
  m <- nrow(problem)
  folds <- check_count(folds, "folds", m, "the number of rows", lower = 2L)
  n <- check_count(n, "n", m - ceiling(m / folds), "the rows of the smallest training part")
  valid <- has_numbers(approach) && length(approach) && all(approach %in% 1:3)
  refuse_unless(valid && !anyDuplicated(approach), "approach", "any of 1, 2 and 3", approach)
  refuse_unless(is.null(select) || is.function(select) && arguments_of(select) >= 2L, "select",
                "NULL or a function (problem, n)", select)
  # row numbers of a problem, at random or by the user's function
  selected_rows <- function(problem, n) {
    if (is.null(select)) return(sample.int(nrow(problem), n))
    rows <- select(problem, n)
    valid <- is.numeric(rows) && length(rows) == n && all(rows %in% seq_len(nrow(problem)))
    stop_input_if(!valid || anyDuplicated(rows),
                  "`select` must return %d different row numbers from 1 to %d, not %s", n,
                  nrow(problem), describe(rows))
    as.integer(rows)
  }
  lambda <- check_lambda(lambda)
  list(n = n, folds = folds, lambda = if (is.null(lambda)) lambda_grid(problem) else lambda,
       approach = as.integer(approach), select = selected_rows)
}

# The three approaches ----------------------------------------------------------------------------

# Each approach draws basis and folds and returns the error of every lambda. train(rows) is the
# spectrum on that basis.
approaches <- list(
  function(problem, control, train) {
    N <- control$folds
    n <- min(nrow(problem), round(control$n * N / (N - 1)))
    basis <- control$select(problem, n)
    rest <- setdiff(seq_len(nrow(problem)), basis)
    sets <- Map(c, deal(basis, N), rev(deal(rest, N)))
    residual <- held_out_residuals(train(basis), sets, control$lambda)
    mean_squared(scored_rows(problem, unlist(sets)), residual)
  },
  function(problem, control, train) {
    basis <- control$select(problem, control$n)
    rest <- setdiff(seq_len(nrow(problem)), basis)
    sets <- deal(rest, min(control$folds, length(rest)))
    residual <- held_out_residuals(train(basis), sets, control$lambda, remove = FALSE)
    mean_squared(scored_rows(problem, unlist(sets)), residual)
  },
  function(problem, control, train) {
    # for a basis outside the fold, holding out from a model on all rows equals training without the
    # fold
    squared <- vapply(deal(seq_len(nrow(problem)), control$folds), function(heldout) {
      training <- seq_len(nrow(problem))[-heldout]
      basis <- training[control$select(problem[training, ], control$n)]
      residual <- held_out_residuals(train(basis), list(heldout), control$lambda)
      colSums(problem$rows$weight[heldout] * residual^2, dims = 2L)
    }, numeric(length(control$lambda)))
    rowSums(matrix(squared, length(control$lambda))) / (ncol(problem$rows$y) *
                                                        sum(problem$rows$weight))
  }
)

# rows dealt out at random into N sets of nearly equal size
deal <- function(rows, N) {
  dealt <- rows[sample.int(length(rows))]
  unname(split(dealt, factor(rep_len(seq_len(N), length(rows)), seq_len(N))))
}

# The result --------------------------------------------------------------------------------------

#' @exportS3Method
print_result.cv_variance <- function(x, ...) {
  say(sprintf("cv_variance: %d-fold mean squared error with %s, drawn %s", x$folds,
              counted(x$n, "basis vector"), counted(dim(x$errors)[1L], "time")))
  print_data(x$problem)
  if (x$status == "interrupted") cat("interrupted: fewer repeats than required\n")
  cat("where the mean over repeats is smallest:\n")
  best <- lapply(split(x$table, x$table$approach), function(one) one[which.min(one$mean), ])
  print(shown_table(do.call(rbind, best), c("mean", "variance")), row.names = FALSE)
}

#' @exportS3Method
record.cv_variance <- function(x) {
  size <- dim(x$errors)
  list(rows = data.frame(x$table[c("approach", "lambda")], estimate = x$table$mean,
                         variance = x$table$variance),
       row = data.frame(approaches = size[3L], lambdas = size[2L], repeats = size[1L], size = x$n),
       meaning = meaning_words(c(
         approach = paste("1 holds basis vectors out with their folds, 2 never, 3 draws them anew",
                          "without each fold"),
         mean = "mean squared error, averaged over repeats", variance = "its variance over repeats"
       ), names(x$table), x$problem))
}

#' @exportS3Method
picture.cv_variance <- function(x, ...) {
  data <- x$table[order(x$table$lambda), ]
  styles <- approach_style[sort(unique(data$approach)), ]
  statistics <- c("mean", if (dim(x$errors)[1L] > 1L) "variance")
  panels <- lapply(statistics, function(statistic) {
    curves <- lapply(seq_len(nrow(styles)), function(i) {
      rows <- data[data$approach == styles$approach[i], ]
      rows$lower <- rows$upper <- rows$mean <- rows[[statistic]]
      curve_layers(log2(rows$lambda), rows, styles[i, ], paste("approach", styles$approach[i]))
    })
    label <- sprintf("%s of the mean squared error of %s", statistic, x$problem$coding$response)
    new_picture(data, unlist(curves, recursive = FALSE),
                list(main = "", ylab = label, xlab = "log2(lambda)"), list(...))
  })
  new_panels(x$table, stats::setNames(panels, statistics))
}

approach_style <- data.frame(
  approach = 1:3, colour = c("#0072B2", "#D55E00", "#009E73"), line = c(1, 2, 4),
  mark = c(1, 16, 2)
)
