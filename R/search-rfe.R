#' Recursive feature elimination by linear regression
#'
#' Fits a linear model on all columns, drops those with the smallest coefficients, refits, and
#' repeats this down to size 0.
#'
#' Every round minimises, over the remaining columns \eqn{S},
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2}{
#' sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}, and drops the columns with the smallest
#' \eqn{\sum_l B_{il}^2}{sum_l B_il^2}, summed over the responses l. Of equal ones the lowest column
#' is dropped first.
#'
#' **Rounds.** While more than `k` columns remain, a round drops `step` of them, but leaves at least
#' `k`; from size `k` on it drops one, so that there is a model of every size up to `k`.
#'
#' **More columns than rows.** With `lambda = 0` and more columns than rows less covariates the
#' model is not unique, and the coefficients of least norm are used: \eqn{X'a} with \eqn{XX'a = y}
#' from the m x m system, solved by Cholesky, or if that is singular by eigenvectors with
#' eigenvalues above 1e-10 of the largest. With fewer columns the coefficients come from the
#' Cholesky factor of \eqn{X'X + \lambda I}{X'X + lambda I}. Columns that are collinear with
#' preceding ones (residual sum of squares within 1e-10 of the penalised sum of squares) are then
#' dropped first, all at once; so only one of two equal columns remains, and the path is shorter
#' than `k` if fewer independent columns remain. With a positive `lambda` no columns are collinear.
#'
#' @inheritParams forward_regression
#' @param k The largest size for which a model is kept: a number between 1 and the smaller of the
#'   usable columns and the rows less the covariates less one. `NULL`, the default: that bound, at
#'   most 10.
#' @param step How many columns a round drops while there are more than `k`: a whole number of at
#'   least 1 (the default is 1), or a fraction of the remaining ones, above 0 and below 1 (rounded
#'   down, at least one column).
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, `"1se"`, or a number, see [size_rule]; `"criterion"`, the default, is
#'   the largest size of at most `k`, since the training error decreases with the size.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit]. `fit$path` starts with all usable
#'   columns and has a row for every column dropped; `criterion` (\eqn{R^2}, partial given the
#'   covariates, of the penalised sums of squares for `lambda` above 0) and the leave-one-out error
#'   `squared` are given for sizes up to `k` and `NA` above. `fit$coefficients` has the models of
#'   these sizes, with columns in the reverse order of dropping. `fit$size` is `k`, or the largest
#'   size that has a model.
#'
#' @section Cost: For m rows and s remaining columns a round takes O(m^3 + m s) time when s is above
#'   m, after O(m^2 n) for the m x m matrix, from which dropped columns are subtracted; and O(s^3)
#'   below, after O(m s^2) for the cross products. With many columns choose a fraction, such as
#'   `step = 0.1`. Memory is one copy of a dense `x`, none of a sparse one, and a few m x m
#'   matrices.
#'
#' @inheritSection forward_regression Errors
#'
#' @references Guyon, I., Weston, J., Barnhill, S., Vapnik, V. (2002). Gene selection for cancer
#' classification using support vector machines. Machine Learning 46, 389-422.
#' \doi{10.1023/A:1012487302797}
#'
#' Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization. Advances in
#' Neural Information Processing Systems 28, 1774-1782.
#'
#' @seealso [forward_regression()], [compare_methods()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 200), 40)
#' y <- x[, 7] - x[, 50] + rnorm(40) / 2
#' fit <- rfe(x, y, k = 5, lambda = 1, step = 0.2)
#' fit$path[fit$path$size <= 5, ]
#' selected(fit, 2)
#' @export
rfe <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, step = 1,
                size = "criterion", size_folds = 10, BPPARAM = NULL) {
  problem <- fitter_problem("rfe", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  refuse_unless(is_number(step) && (step >= 1 && step == round(step) || step > 0 && step < 1),
                "step", "a whole number of at least 1, or a fraction above 0 and below 1", step)
  control$step <- as.double(step)
  sized_fit("rfe", problem, control, elimination_path, short_call(match.call()), BPPARAM = BPPARAM)
}

# the state after dropping the columns at some positions of the set
drop_from <- function(s, index) list(set = s$set[-index], dropped = c(s$dropped, s$set[index]))

# The positions of the columns that a round drops, those with the smallest rows of a matrix of
# coefficients. Values that agree to 12 digits are equal.
smallest_weights <- function(weights, control) {
  size <- nrow(weights)
  wanted <- if (control$step < 1) max(1, floor(control$step * size)) else control$step
  count <- if (size <= control$k) 1 else min(wanted, size - control$k)
  order(signif(rowSums(weights^2), 12))[seq_len(count)]
}

# More columns than rows ---------------------------------------------------------------------------

# K = XX' of the remaining columns, recomputed when most of it has been subtracted.
drop_wide <- function(problem, terms, control, s) {
  work <- working(problem)
  recomputed_trace <- Inf
  while (length(s$set) > trained_rows(problem) - ncol(work$q)) {
    if (sum(terms$diagonal[s$set]) < 0.1 * recomputed_trace) {
      K <- row_products(terms, work$q, s$set)
      recomputed_trace <- sum(diag(K))
    }
    a <- project_out(solve_dual(K, work$y, control$lambda, work$q), work$q)
    weights <- cross_columns(terms, a)[s$set, , drop = FALSE]
    drop <- smallest_weights(weights, control)
    K <- K - row_products(terms, work$q, s$set[drop])
    s <- drop_from(s, drop)
  }
  s
}

# XX' of some columns in working coordinates, m x m
row_products <- function(terms, q, set) {
  if (!is.null(terms$X)) return(tcrossprod(terms$X[, set, drop = FALSE]))
  scaled <- terms$x[, set, drop = FALSE] %*% Matrix::Diagonal(x = 1 / terms$scale[set])
  products <- as.matrix(tcrossprod(sqrt(terms$w) * scaled))
  project_out(t(project_out(products, q)), q)
}

# (K + lambda I)^-1 y of least norm. K and y are zero on the span of the covariates, so a multiple
# of the projection on this span may be added to make the matrix nonsingular.
solve_dual <- function(K, y, lambda, q) {
  shift <- if (lambda > 0) diag(lambda, nrow(K)) else mean(diag(K)) * tcrossprod(q)
  factor <- tryCatch(chol(K + shift), error = function(e) NULL)
  if (!is.null(factor) && min(diag(factor)) > 1e-5 * max(diag(factor))) {
    return(backsolve(factor, backsolve(factor, y, transpose = TRUE)))
  }
  spectrum <- eigen(K, symmetric = TRUE)
  values <- pmax(spectrum$values, 0) + lambda
  kept <- values > dependent * values[1L]
  basis <- spectrum$vectors[, kept, drop = FALSE]
  basis %*% (crossprod(basis, y) / values[kept])
}

# No more columns than rows -----------------------------------------------------------------------

drop_narrow <- function(problem, terms, control, s) {
  x <- working_matrix(problem, terms$columns[s$set])
  C <- crossprod(x) + diag(control$lambda, ncol(x))
  # The diagonal of the Cholesky factor has the residual norms of the columns given the preceding
  # ones. If one of the norms is small, a QR decomposition moves the dependent columns to the end.
  factor <- tryCatch(chol(C), error = function(e) NULL)
  independent <- seq_len(ncol(x))
  if (is.null(factor) || !all(diag(factor)^2 > dependent * diag(C))) {
    decomposed <- qr(rbind(x, diag(sqrt(control$lambda), ncol(x))), tol = sqrt(dependent))
    independent <- sort(decomposed$pivot[seq_len(decomposed$rank)])
  }
  drop <- setdiff(seq_along(s$set), independent)
  if (length(drop)) s <- drop_from(s, drop)
  largest <- min(control$k, length(s$set))
  C <- C[independent, independent, drop = FALSE]
  b <- terms$b[s$set, , drop = FALSE]
  while (length(s$set)) {
    factor <- chol(C)
    weights <- backsolve(factor, backsolve(factor, b, transpose = TRUE))
    drop <- smallest_weights(weights, control)
    s <- drop_from(s, drop)
    C <- C[-drop, -drop, drop = FALSE]
    b <- b[-drop, , drop = FALSE]
  }
  c(s, largest = largest)
}

# The path ----------------------------------------------------------------------------------------

# A path for new_sparse_fit(): the models of sizes up to k. The steps before have no models.
elimination_path <- function(problem, control) {
  terms <- gram_terms(problem, whole = FALSE)
  s <- list(set = seq_along(terms$columns), dropped = integer())
  s <- drop_narrow(problem, terms, control, drop_wide(problem, terms, control, s))
  dropped <- terms$columns[s$dropped]
  n <- length(dropped)
  ranked <- rev(dropped)
  sets <- lapply(s$largest:0, function(size) ranked[seq_len(size)])
  moves <- data.frame(action = c("start", rep("drop", n)), feature = c(NA, dropped), size = n:0)
  early <- moves$size > s$largest
  path <- subset_path(problem, control, sets, s$largest)
  table <- path$path[c(rep(NA_integer_, sum(early)), seq_along(sets)), ]
  table[names(moves)] <- moves
  table$step <- n - moves$size
  table$name <- problem$columns$name[moves$feature]
  row.names(table) <- NULL
  path$path <- table
  path$models <- lapply(path$models, function(model) {
    model$row <- model$row + sum(early)
    model
  })
  list(path)
}
