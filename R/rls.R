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
#'   `2^(-15:15)`.
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
    check_held_in_memory(problem)
    blocks <- search_blocks(problem, check_blocks(blocks, problem), control)
    problem <- with_block_ratios(problem, blocks)
  }
  features <- which(problem$usable)
  trained <- if (reads_blocks(problem, length(features))) block_columns(problem, features, control)
  spectrum <- if (is.null(trained)) linear_spectrum(problem) else trained$spectrum
  models <- lapply(term_weights(spectrum, control$lambda), function(beta) {
    list(features = features, beta = beta, row = 1L)
  })
  models <- lapply(user_coefficients(problem, models, trained$of_x), `[`, c("beta", "covariates"))
  evaluated <- evaluate_spectrum(spectrum, problem, control, trained)
  new_kernel_fit("rls", problem, control, evaluated, models, short_call(match.call()),
                 features = features, blocks = blocks)
}

# The result of block_problem() for columns of x, with their own coefficients on the covariates.
block_columns <- function(problem, columns, control) {
  trained <- block_problem(problem, column_source(problem, columns), diag(length(columns)),
                           folds = control$folds, linear = TRUE)
  of_x <- trained$of_terms * rep(problem$scale[columns], each = ncol(problem$z))
  if (problem$intercept) of_x[1L, ] <- of_x[1L, ] + problem$centre[columns]
  trained$of_x <- of_x
  trained
}
