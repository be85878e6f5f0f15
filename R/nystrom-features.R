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
  if (!(is_number(tolerance) && tolerance >= 0 && tolerance < 1)) {
    refuse("tolerance", "a number of at least 0 and below 1", tolerance)
  }
  check_given(prototypes, "prototypes")
  kernel <- single_kernel(kernel)
  problem <- kernel_problem(points_problem(x), kernel)
  basis <- as_basis(prototypes, problem, kernel, "prototypes")
  K <- kernel_columns(problem, kernel, basis)
  map <- nystrom_map(basis_kernel_matrix(problem, kernel, basis, K), tolerance)
  features <- K %*% map
  rownames(features) <- problem$row_names
  seal(structure(list(
    features = features, values = 1 / colSums(map^2), map = map, tolerance = tolerance,
    kernel = kernel, basis = basis, problem = without_x(problem)
  ), class = "nystrom_features"))
}

# a problem made of rows without a response, where the response given is not used
points_problem <- function(x) {
  check_given(x, "x")
  if (inherits(x, "sparsels_problem")) {
    check_sealed(x)
    if (is.null(x$x)) stop_input("`x` is the problem stored in a fit, which has no data matrix")
    return(working_copy(x))
  }
  working_copy(as_problem(x, seq_len(NROW(x)), intercept = FALSE, standardize = FALSE))
}

# U Lambda^(-1/2) (M x r) from the kernel matrix of the prototypes
nystrom_map <- function(KMM, tolerance = 1e-12) {
  decomposed <- eigen(KMM, symmetric = TRUE)
  lowest <- min(decomposed$values)
  if (lowest < -1e-6 * mean(diag(KMM))) {
    stop_input(sprintf("the kernel matrix of the prototypes has a negative eigenvalue, %s: %s",
                       format(lowest, digits = 3), "is it a kernel?"), "sparsels_error_singular")
  }
  kept <- which(decomposed$values > tolerance * decomposed$values[1L])
  decomposed$vectors[, kept, drop = FALSE] / rep(sqrt(decomposed$values[kept]), each = nrow(KMM))
}

#' @rdname nystrom_features
#' @export
predict.nystrom_features <- function(object, newdata, ...) {
  check_sealed(object)
  check_dots(..., known = "newdata")
  if (missing(newdata)) stop_input("`newdata` must be given: `features` are those of the rows")
  features <- term_scores(object, newdata, object$map)
  rownames(features) <- new_row_names(newdata)
  features
}

#' @export
print.nystrom_features <- function(x, ...) {
  check_sealed(x)
  cat(sprintf("<nystrom features> %s of %s for %s\n", counted(ncol(x$map), "feature"),
              counted(nrow(x$map), "prototype"), counted(nrow(x$features), "row")))
  cat("kernel: ", kernel_words(x$kernel), "\n", sep = "")
  cat(sprintf("eigenvalues: %s to %s\n", format(x$values[1L], digits = 4),
              format(x$values[ncol(x$map)], digits = 4)))
  invisible(x)
}
