#' Regularised least-squares with all features
#'
#' Fits ridge regression (the least-squares support vector machine for classes) on all usable
#' features for a path of lambda, with the exact held-out error of each.
#'
#' For every lambda the model minimises
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_j \|^2 + \lambda \| B \|_F^2}{
#' sum_j w_j || y_j - b' z_j - B' xs_j ||^2 + lambda ||B||_F^2}
#' with weights \eqn{w}, unpenalised covariates \eqn{z} and standardised columns \eqn{\tilde x}{xs}
#' as in [as_problem()]; for the same model `glmnet(alpha = 0, weights = w)` wants
#' `lambda * s / sum(w)`, s being the weighted standard deviation of the response with divisor
#' `sum(w)`.
#'
#' One singular value decomposition serves all lambdas; leave-one-out then costs O(m min(m, n)) for
#' each lambda and larger folds O(sum |H|^2 (|H| + min(m, n))).
#'
#' @inheritParams greedy_rls
#' @param x,y,data The data, in any form that [as_problem()] takes; for `print()`, `x` is a fit.
#' @param lambda Positive ridge parameters; `NULL` for `2^(-15:15)`.
#' @param object,newdata,type,adjust As in [sparse_fit].
#' @param ... For `rls()`, passed to [as_problem()]; otherwise not used.
#'
#' @return A list of class `rls`: `path`, a data frame with `lambda` and the held-out figures
#'   `criterion` (weighted mean squared error), `se` and for classes `error`; `lambda`, the best of
#'   them; `coefficients`, one entry for every lambda; `held_out` and `fitted` (m x L) at the best
#'   lambda; `folds`, `call`, and `problem` without its x.
#'
#' @section Cost: O(mn min(m, n)) time; memory about three times a dense x.
#' @section Errors: As for [greedy_rls()].
#'
#' @references Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for
#' regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' @examples
#' x <- matrix(rnorm(30 * 50), 30)
#' fit <- rls(x, x[, 1] + rnorm(30))
#' fit
#' predict(fit, x[1:2, ])
#' @export
rls <- function(x, y = NULL, ..., data = NULL, lambda = NULL, folds = "loo") {
  problem <- fitter_problem(x, y, ..., data = data)
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  lambda <- check_lambda(lambda)
  if (is.null(lambda)) lambda <- lambda_grid
  spectrum <- rls_spectrum(problem)
  residuals <- lapply(lambda, function(l) rls_held_out(spectrum, problem, folds, l))
  path <- data.frame(lambda = lambda, rls_figures(problem, folds, residuals))
  best <- which.min(path$criterion)
  models <- lapply(lambda, function(l) rls_model(spectrum, problem, l))
  structure(list(
    path = path, lambda = lambda[best], coefficients = user_coefficients(problem, models),
    held_out = problem$y - Reduce(`+`, residuals[[best]]) / length(residuals[[best]]),
    fitted = problem$y - rls_dual(spectrum, lambda[best]) / sqrt(problem$weights),
    folds = folds, call = match.call(), problem = without_x(problem)
  ), class = "rls")
}

lambda_grid <- 2^(-15:15)

# The paper's choice: the best leave-one-out squared error with all features. Neighbours on the grid
# differ by a factor of two, so the digits that the Gram matrix costs do not matter here.
best_lambda <- function(problem) {
  folds <- make_folds(problem, "loo")
  spectrum <- gram_spectrum(problem)
  squared <- vapply(lambda_grid, function(lambda) {
    residual <- rls_held_out(spectrum, problem, folds, lambda)[[1L]]
    sum(problem$weights * residual^2)
  }, 0)
  lambda_grid[which.min(squared)]
}

# Working x = U diag(root) V'. The scaled matrix G of ARCHITECTURE.md is
# (I - QQ' - UU') + U diag(lambda / (root^2 + lambda)) U'.
rls_spectrum <- function(problem) {
  parts <- svd(working_matrix(problem))
  new_spectrum(problem, parts$d, parts$u, parts$v, .Machine$double.eps)
}

# The same without V from the smaller Gram matrix: several times faster, half the digits.
gram_spectrum <- function(problem) {
  x <- working_matrix(problem)
  tall <- nrow(x) > ncol(x)
  parts <- eigen(if (tall) crossprod(x) else tcrossprod(x), symmetric = TRUE)
  root <- sqrt(pmax(parts$values, 0))
  U <- parts$vectors
  if (tall) U <- x %*% U * rep(ifelse(root > 0, 1 / root, 0), each = nrow(x))
  new_spectrum(problem, root, U, NULL, sqrt(.Machine$double.eps))
}

# Directions whose root is rounding alone are left out.
new_spectrum <- function(problem, root, U, V, digits) {
  real <- root > max(root) * digits * sqrt(max(dim(problem)))
  basis <- covariate_basis(problem)
  list(root = root[real], U = U[, real, drop = FALSE], V = V[, real, drop = FALSE],
       basis = basis, y = working(problem)$y,
       # nothing lies outside Q and U when they span all of R^m; rounding must not say otherwise
       full = sum(real) + ncol(basis) >= nrow(problem))
}

# G y (m x L)
rls_dual <- function(spectrum, lambda) {
  along <- crossprod(spectrum$U, spectrum$y)
  outside <- if (spectrum$full) 0 else spectrum$y - spectrum$U %*% along
  outside + spectrum$U %*% (along * lambda / (spectrum$root^2 + lambda))
}

# Held-out residuals (G_HH)^-1 (G y)_H in the user's units, one m x L matrix for each repeat.
rls_held_out <- function(spectrum, problem, folds, lambda) {
  dual <- rls_dual(spectrum, lambda)
  root_w <- sqrt(problem$weights)
  if (folds$loo) return(list(dual / rls_diagonal(spectrum, lambda) / root_w))
  lapply(seq_len(ncol(folds$ids)), function(repetition) {
    for (rows in split(seq_len(nrow(dual)), folds$ids[, repetition])) {
      dual[rows, ] <- solve(rls_block(spectrum, lambda, rows), dual[rows, , drop = FALSE])
    }
    dual / root_w
  })
}

rls_diagonal <- function(spectrum, lambda) {
  outside <- if (spectrum$full) 0 else 1 - rowSums(spectrum$basis^2) - rowSums(spectrum$U^2)
  outside + drop(spectrum$U^2 %*% (lambda / (spectrum$root^2 + lambda)))
}

rls_block <- function(spectrum, lambda, rows) {
  U <- spectrum$U[rows, , drop = FALSE]
  Q <- spectrum$basis[rows, , drop = FALSE]
  outside <- if (spectrum$full) 0 else diag(length(rows)) - tcrossprod(Q) - tcrossprod(U)
  outside + tcrossprod(U * rep(lambda / (spectrum$root^2 + lambda), each = length(rows)), U)
}

rls_model <- function(spectrum, problem, lambda) {
  shrunk <- crossprod(spectrum$U, spectrum$y) * spectrum$root / (spectrum$root^2 + lambda)
  list(features = which(problem$usable), beta = spectrum$V %*% shrunk, row = 1L)
}

# criterion, se and error of each lambda
rls_figures <- function(problem, folds, residuals) {
  squared <- as_criterion("squared", problem, folds)
  figures <- vapply(residuals, function(r) unlist(judge(problem, folds, squared, r)), c(0, 0))
  out <- data.frame(criterion = figures[1L, ], se = figures[2L, ])
  if (problem$task != "regression") {
    error <- as_criterion("error", problem, folds)
    out$error <- vapply(residuals, function(r) judge(problem, folds, error, r)$value, 0)
  }
  out
}

rls_entry <- function(object, lambda) {
  if (is.null(lambda)) lambda <- object$lambda
  check_lambda(lambda)
  entry <- which(abs(object$path$lambda / lambda[1L] - 1) < 1e-9)
  if (length(entry) != 1L || length(lambda) != 1L) {
    stop_input(sprintf("`lambda` must be one of the path's values (fit$path$lambda), not %s",
                       describe(lambda)))
  }
  object$coefficients[[entry]]
}

#' @rdname rls
#' @export
coef.rls <- function(object, lambda = NULL, ...) {
  model <- rls_entry(object, lambda)
  drop_output(rbind(model$covariates, model$beta))
}

#' @rdname rls
#' @export
predict.rls <- function(object, newdata, lambda = NULL, type = c("response", "class", "link"),
                        adjust = NULL, ...) {
  if (missing(newdata)) stop_no_newdata()
  predict_model(object$problem, rls_entry(object, lambda), newdata, type, adjust)
}

#' @rdname rls
#' @export
fitted.rls <- function(object, ...) rows_of(object$problem, object$fitted)

#' @rdname rls
#' @export
residuals.rls <- function(object, type = c("response", "held_out"), ...) {
  residuals.sparse_fit(object, type)
}

#' @rdname rls
#' @export
nobs.rls <- function(object, ...) nrow(object$problem)

#' @rdname rls
#' @export
print.rls <- function(x, ...) {
  best <- x$path[x$path$lambda == x$lambda, ][1L, ]
  used <- length(x$coefficients[[1L]]$features)
  cat(sprintf("rls: all %s, %s of lambda\n", counted(used, "usable feature"),
              counted(nrow(x$path), "value")))
  print_data(x$problem)
  edge <- x$lambda %in% range(x$path$lambda) && nrow(x$path) > 1L
  error <- if (!is.null(best$error)) sprintf(" (error rate %s)", format(best$error, digits = 3))
  cat(sprintf("best lambda: %s%s, %s %s", format(x$lambda, digits = 4),
              if (edge) " (at the end of the path)" else "",
              held_out_label("squared error", x$folds$label),
              format(best$criterion, digits = 4)), error, "\n", sep = "")
  invisible(x)
}
