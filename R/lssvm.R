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
#' gamma, all responses and all held-out errors. With C the matrix above the prediction of a
#' held-out row i is \eqn{y_i - \alpha_i / (C^{-1})_{ii}}{y_i - alpha_i / (C^-1)_ii}, and the
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
#'   error is chosen. `NULL` for `2^(-5:15)`. It is not the `gamma` of [kernel_gaussian()].
#' @param standardize Logical: are columns centred and divided by their standard deviation before
#'   the kernel is computed, as in [kernel_rls()]? Must be `FALSE` for `kernel = "precomputed"`.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`.
#' @return An object of class `lssvm`, a [kernel_fit] without shift. In addition, `path` has a
#'   column `gamma`, and the fit has `gamma`, the best of them; `kernel_table` has a row for every
#'   width tried: `sigma2` (`NA` for a kernel that is not Gaussian), the best `gamma`, `criterion`.
#'   `coef()` gives the bias and the \eqn{\alpha}{alpha} of every row. The methods, [holdout()] and
#'   [cv_error()] take `lambda = 1 / gamma` for another gamma.
#'
#' @section Cost: O(m^3) time and nine m x m matrices of doubles for every width, of which the fit
#'   keeps two: for some thousand rows. For more, see [fs_lssvm()]. Ctrl-C waits for the
#'   decomposition by LAPACK of one width to end, seconds from a thousand rows on.
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
                  standardize = TRUE, threads = 1) {
  problem <- fitter_problem("lssvm", x, y, ..., data = data,
                            standardize = unless_stated(x, standardize, missing(standardize)))
  if (is.null(kernel)) kernel <- typical_kernels(problem)
  gamma <- if (is.null(gamma)) 2^(-5:15) else check_widths(gamma, "gamma")
  fit <- expansion_fit("lssvm", problem, kernel, NULL, 1 / gamma, "auto", folds, threads,
                       short_call(match.call()))
  in_gamma(fit, gamma)
}

# Gaussian kernels with widths near the typical distance of two rows
typical_kernels <- function(problem) {
  scaled <- kernel_scale(problem, shift = TRUE, in_place = TRUE)
  kernel_gaussian(sigma2 = typical_distance(scaled) * 2^(-3:3))
}

# the fit of kernel_rls() in terms of gamma = 1 / lambda and sigma2
in_gamma <- function(fit, gamma) {
  fit$gamma <- gamma[match(fit$lambda, fit$path$lambda)]
  fit$path <- data.frame(fit$path["lambda"], gamma, fit$path[-1L])
  tried <- fit$kernel_table
  fit$kernel_table <- data.frame(
    sigma2 = 1 / tried$gamma, gamma = gamma[match(tried$lambda, fit$path$lambda)],
    criterion = tried$criterion
  )
  seal(fit)
}

#' @export
print.lssvm_fit <- function(x, ...) {
  check_sealed(x)
  shown <- x
  shown$kernel <- in_sigma2(x$kernel)
  shown$shift <- NULL
  print_expansion(shown, "gamma", "sigma2")
  invisible(x)
}
