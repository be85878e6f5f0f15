#' Forward regression, orthogonal matching pursuit and adaptive forward-backward search
#'
#' Greedy best subset selection by the training error: a linear model is grown by one column at a
#' time.
#'
#' For a set \eqn{S} of columns all three fit the model that minimises
#' \deqn{E(S) = \min_{b, B} \sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 +
#' \lambda \| B \|_F^2}{E(S) = min over b, B of sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 +
#' lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}. The criterion of the path is
#' \eqn{1 - E(S) / E(\emptyset)}{1 - E(S) / E(empty set)}, which for `lambda = 0` is \eqn{R^2},
#' partial given the covariates. There is no 1/m in front of the sum: with a mean squared error,
#' \eqn{\lambda} is `lambda / sum(w)`.
#'
#' * `forward_regression()` adds the column that reduces \eqn{E} most: the one with the largest
#'   \eqn{r_i^2 / d_i}{r_i^2 / d_i}, where \eqn{r_i} is the product of column i with the residual
#'   and \eqn{d_i} the Schur complement of column i given \eqn{S} in \eqn{X'X + \lambda I}{X'X +
#'   lambda I}: for \eqn{\lambda = 0}{lambda = 0} its residual sum of squares given the columns of
#'   \eqn{S}.
#' * `omp()`, orthogonal matching pursuit, adds the column most correlated with the residual, the
#'   largest \eqn{r_i^2 / \|\tilde x_i\|^2}{r_i^2 / ||xs_i||^2}, and refits all of \eqn{S}.
#' * `foba()` adds columns as `omp()` does. After each addition it drops the column whose removal
#'   increases \eqn{E} least, repeatedly, as long as the increase is at most `nu` times the
#'   reduction by the addition that led to the present size. It takes up to 5 `k` steps, also beyond
#'   size `k`, since later drops can improve the model of size `k`. The model of a size is the best
#'   model of that size on the path. In the papers it is the last one, which is usually the same.
#'
#' Several responses share the columns; their \eqn{r_i^2} are summed.
#'
#' A column is never added if its (penalised) residual sum of squares given the model is at most
#' 1e-10 of its sum of squares; so only one of two equal columns is added, unless `lambda` is
#' positive. A search ends early, with a shorter path, when no column increases \eqn{R^2} by more
#' than machine precision. Ties, scores within a relative 1e-12 of the best, go to the lowest
#' column.
#'
#' The training error decreases with the size and cannot choose it; without `k` the size is chosen
#' by the error of the whole search repeated in ten folds. [greedy_rls()] selects columns by the
#' cross-validated error. The path also has the exact leave-one-out error of every model, `squared`,
#' which takes the set as fixed.
#'
#' @param x,y,data The data, in any form of [as_problem()]: a matrix and its response, a formula and
#'   data, an experiment of Bioconductor and the name of its response, or an earlier problem.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`. Any other name is an error.
#' @param k The size wanted: a number between 1 and the smaller of the usable columns and the rows
#'   less the covariates less one. `NULL`, the default: that bound, at most 10, and the size is
#'   chosen by cross-validation.
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, the default where `k` is not given; `"1se"`, or a number, see
#'   [size_rule]; `"criterion"` is the largest size of at most `k`, since the training error
#'   decreases with the size.
#' @param lambda The ridge parameter, a number of at least 0; 0 by default.
#' @param nu For `foba()`: the largest increase of \eqn{E} by a drop, as a fraction of the reduction
#'   by the addition; a number of at least 0 and below 1, 0.5 by default. With 0 only a column
#'   without effect is dropped.
#' @param BPPARAM `NULL`, or how BiocParallel runs the folds of `size_folds`, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit]. `fit$path` has a row for every step
#'   with `criterion` and the leave-one-out error; `fit$coefficients` the best model of every size;
#'   `fit$size` is the size chosen by `size`; if `k` is given, by default the largest size reached.
#'
#' @section Cost: One product of all columns with a vector for each step: O(kmn) time for m rows and
#' n columns, O(k nonzeros) for sparse `x`. Memory is one copy of a dense `x`, none of a sparse one,
#' and O(km + n). The leave-one-out errors take O(m s^2) for a model of size s, and so do the drops
#' of `foba()`.
#'
#' @section Errors: Invalid input is an error of class `sparsels_error_input` that names the
#'   argument, what it must be and what it was. So are covariates that cannot be estimated without
#'   some row, which the message names: that row has no leave-one-out error.
#'
#' @references Pati, Y. C., Rezaiifar, R., Krishnaprasad, P. S. (1993). Orthogonal matching pursuit:
#' recursive function approximation with applications to wavelet decomposition. 27th Asilomar
#' Conference on Signals, Systems and Computers, 40-44. \doi{10.1109/ACSSC.1993.342465}
#'
#' Zhang, T. (2011). Adaptive forward-backward greedy algorithm for learning sparse
#' representations. IEEE Transactions on Information Theory 57, 4689-4708.
#' \doi{10.1109/TIT.2011.2146690}
#'
#' Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization. Advances in
#' Neural Information Processing Systems 28, 1774-1782.
#'
#' @seealso [rfe()], which goes the other way; [compare_methods()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' x[, 4] <- x[, 1] + x[, 2] + x[, 3] + rnorm(60)
#' y <- x[, 1] + x[, 2] + x[, 3] + rnorm(60) / 4
#' forward_regression(x, y, k = 4)
#' # the sum of the three comes first and is dropped again
#' foba(x, y, k = 3)
#' selected(omp(x, y, k = 3, lambda = 1))
#' @name forward_regression
NULL

#' @rdname forward_regression
#' @export
forward_regression <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0,
                               size = if (is.null(k)) "cv" else "criterion", size_folds = 10,
                               BPPARAM = NULL) {
  problem <- fitter_problem("forward_regression", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  sized_fit("forward_regression", problem, control, pursuit_by(gain_score),
            short_call(match.call()), BPPARAM = BPPARAM)
}

#' @rdname forward_regression
#' @export
omp <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0,
                size = if (is.null(k)) "cv" else "criterion", size_folds = 10,
                BPPARAM = NULL) {
  problem <- fitter_problem("omp", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  sized_fit("omp", problem, control, pursuit_by(residual_score), short_call(match.call()),
            BPPARAM = BPPARAM)
}

#' @rdname forward_regression
#' @export
foba <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, nu = 0.5,
                 size = if (is.null(k)) "cv" else "criterion", size_folds = 10,
                 BPPARAM = NULL) {
  problem <- fitter_problem("foba", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  refuse_unless(is_number(nu) && nu >= 0 && nu < 1, "nu", "a number of at least 0 and below 1", nu)
  control$nu <- as.double(nu)
  sized_fit("foba", problem, control, pursue_and_drop, short_call(match.call()), BPPARAM = BPPARAM)
}

# The searches ------------------------------------------------------------------------------------

# A search that adds the column with the best score at each step.
pursuit_by <- function(score) {
  force(score)
  function(problem, control) {
    s <- new_pursuit(problem, control, max_size = control$k)
    while (length(s$set) < control$k && !is.null(step <- best_step(s, score(s)))) {
      s <- add_column(s, step)
    }
    pursuit_path(problem, control, s)
  }
}

pursue_and_drop <- function(problem, control) {
  limit <- 5L * control$k
  largest <- min(limit, control$largest(problem))
  s <- new_pursuit(problem, control, max_size = largest)
  gain <- numeric(largest)
  while (length(s$set) < largest && length(s$log) <= limit &&
           !is.null(step <- best_step(s, residual_score(s)))) {
    s <- add_column(s, step)
    gain[length(s$set)] <- s$gain
    while (length(s$set) > 1L && length(s$log) <= limit) {
      # The increase of the penalised residual sum of squares by dropping each column of the model:
      # beta^2 divided by the diagonal of the inverse. Of equal costs the lowest column is dropped.
      decomposed <- qr(long_columns(s, s$set), tol = 0)
      cost <- rowSums(qr.coef(decomposed, s$y)^2) / diag(chol2inv(qr.R(decomposed)))
      if (min(cost) > control$nu * gain[length(s$set)]) break
      equal <- which(cost <= (1 + 1e-12) * min(cost))
      column <- min(s$set[equal])
      s$set <- setdiff(s$set, column)
      s$basis <- qr.Q(qr(long_columns(s, s$set), tol = 0))
      s$residual <- project_out(s$y, s$basis)
      s$r <- cross_columns(s$terms, s$residual[seq_len(nrow(problem)), , drop = FALSE])
      s <- log_move(s, "drop", column)
    }
  }
  pursuit_path(problem, control, s)
}

# The reduction of the penalised residual sum of squares by adding each column.
gain_score <- function(s) ifelse(s$d > dependent * s$penalised, rowSums(s$r^2) / s$d, 0)

# The reduction of the residual sum of squares by each column alone, without a penalty, if it were
# orthogonal to the model.
residual_score <- function(s) rowSums(s$r^2) / s$terms$diagonal

# The state ---------------------------------------------------------------------------------------

# The columns are extended by `extra` rows, and the column added as the i-th has sqrt(lambda) in the
# i-th of these rows. Ridge regression is then least squares on an orthonormal basis. A candidate
# has zeros in the rows used by the model, so that its products need the first m rows only.
#   set: columns in the model.
#   basis: orthonormal, (m + extra) x size.
#   residual: (m + extra) x L.
#   r: X'residual.
#   d: Schur complement of each column given the model in X'X + lambda I, for gain_score() as long
#     as nothing is dropped.
#   penalised: the diagonal of X'X + lambda I.
new_pursuit <- function(problem, control, max_size) {
  s <- list(problem = problem, lambda = control$lambda, set = integer(), gain = NA_real_,
            terms = if (is_file_matrix(problem$x)) terms_in_place(problem) else
              gram_terms(problem, whole = FALSE))
  s$q <- covariate_basis(problem)
  s$extra <- if (control$lambda > 0) max_size else 0L
  s$y <- rbind(working_response(problem), matrix(0, s$extra, ncol(problem$rows$y)))
  s$basis <- matrix(0, nrow(s$y), 0L)
  s$residual <- s$y
  s$r <- s$terms$b
  s$penalised <- s$d <- s$terms$diagonal + control$lambda
  log_move(s, "start", NA_integer_)
}

log_move <- function(s, action, feature) {
  s$log <- c(s$log, list(list(set = s$set, action = action, feature = feature)))
  s
}

# The column with the best score and its direction, a unit vector orthogonal to the basis. NULL if
# no column increases R^2.
best_step <- function(s, score) {
  score[s$set] <- 0
  negligible <- .Machine$double.eps * s$terms$total
  while (max(score) > negligible) {
    j <- which(score >= (1 - 1e-12) * max(score))[1L]
    direction <- project_out(long_columns(s, j, length(s$set)), s$basis)
    norm2 <- sum(direction^2)
    if (norm2 > dependent * s$penalised[j]) {
      return(list(column = j, direction = direction / sqrt(norm2)))
    }
    score[j] <- 0
  }
  NULL
}

add_column <- function(s, step) {
  products <- cross_columns(s$terms, step$direction[seq_len(nrow(s$problem)), , drop = FALSE])
  effect <- crossprod(step$direction, s$residual)
  s$residual <- s$residual - step$direction %*% effect
  s$r <- s$r - products %*% effect
  s$d <- s$d - drop(products)^2
  s$gain <- sum(effect^2)
  s$basis <- cbind(s$basis, step$direction)
  s$set <- c(s$set, step$column)
  log_move(s, "add", step$column)
}

# Columns in working coordinates extended by their penalty. `after` is the number of columns that
# precede them in the model.
long_columns <- function(s, set, after = 0L) {
  x <- working_matrix(s$problem, s$terms$columns[set], s$q)
  penalty <- matrix(0, s$extra, length(set))
  if (s$extra) penalty[cbind(after + seq_along(set), seq_along(set))] <- sqrt(s$lambda)
  rbind(x, penalty)
}

# The path of a pursuit for sized_fit(). The chosen size is k, or the largest size reached.
pursuit_path <- function(problem, control, s) {
  columns <- s$terms$columns
  sets <- lapply(s$log, function(move) columns[move$set])
  list(subset_path(problem, control, sets, min(control$k, max(lengths(sets))),
                   action = vapply(s$log, `[[`, "", "action"),
                   feature = columns[vapply(s$log, `[[`, 0L, "feature")]))
}
