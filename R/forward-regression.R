#' Forward regression, orthogonal matching pursuit and adaptive forward-backward search
#'
#' Grow a linear model by one column at a time, looking at the training error: the greedy methods
#' of best subset selection.
#'
#' For a set \eqn{S} of columns all three take the model that minimises
#' \deqn{E(S) = \min_{b, B} \sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 +
#' \lambda \| B \|_F^2}{E(S) = min over b, B of sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 +
#' lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}. The criterion of the path is
#' \eqn{1 - E(S) / E(\emptyset)}{1 - E(S) / E(empty set)}: \eqn{R^2}, over what the covariates
#' leave, for `lambda = 0`. There is no 1/m in front of the sum: the \eqn{\lambda} of a mean squared
#' error is `lambda / sum(w)`.
#'
#' * `forward_regression()` adds the column that lowers \eqn{E} most. With \eqn{r_i} the product of
#'   column i with the residual and \eqn{d_i} what the columns of \eqn{S} leave of
#'   \eqn{\|\tilde x_i\|^2 + \lambda}{||xs_i||^2 + lambda}, that is the largest
#'   \eqn{r_i^2 / d_i}{r_i^2 / d_i}.
#' * `omp()`, orthogonal matching pursuit, adds the column most correlated with the residual, the
#'   largest \eqn{r_i^2 / \|\tilde x_i\|^2}{r_i^2 / ||xs_i||^2}, and fits all of \eqn{S} anew.
#' * `foba()` adds as `omp()` does and remembers what each addition gained, by the size it led to.
#'   After each it drops the column that costs least, again and again, while that costs no more
#'   than `nu` times the gain remembered for the present size. It makes up to 5 `k` moves, beyond
#'   size `k` too, so that what comes later can still better the model of size `k`. The model of a
#'   size is the best of all that had it; in the papers it is the last, which is mostly the same.
#'
#' Several outputs share the columns; their \eqn{r_i^2} are summed.
#'
#' A column that those in the model explain up to 1e-10 of its (penalised) square is never added;
#' so of two equal columns one is, unless `lambda` is positive, which gives the second one a use. A
#' search ends early, with a shorter path, when no column adds anything, that is more to
#' \eqn{R^2} than the precision of a number. Ties, differences within 1e-12 of the best, go to the
#' lowest column.
#'
#' All look at the training error, which knows of no size that is too large; without `k` the size is
#' chosen by the error of the whole search repeated in ten folds. [greedy_rls()] selects by the
#' cross-validated error itself. The path also has the exact leave-one-out error of every model,
#' `squared`, for the set as it is.
#'
#' @param x,y,data The data, in any form that [as_problem()] takes: matrix and response, formula
#'   and data, a data frame, a `SummarizedExperiment` or an earlier problem.
#' @param ... Passed to [as_problem()]: `weights`, `adjust`, `intercept`, `standardize`. Any other
#'   name is refused.
#' @param k The size wanted: a number between 1 and the smaller of the usable columns and the rows
#'   less the covariates less one. `NULL`, the default: that bound, at most 10, of which the size is
#'   chosen by cross-validation.
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, the default where `k` is not given; `"1se"`, or a number, see
#'   [greedy_rls()]; `"criterion"` is the largest of at most `k`, as the training error only falls.
#' @param lambda The ridge parameter, a number of at least 0.
#' @param nu For `foba()`: the share of an addition's gain that a deletion may cost, a number of at
#'   least 0 and below 1. With 0 only a column without effect is dropped.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit]. `fit$path` has a row for every move
#'   with `criterion` and the leave-one-out error; `fit$coefficients` the best model of every size;
#'   `fit$size` is what `size` chose, of `k` the largest size reached.
#'
#' @section Cost: A product of all columns with one vector for each move and two more passes over
#' vectors of length n: O(kmn) time for m rows and n columns, O(k nonzeros) for sparse `x`. Memory
#' is one copy of a dense `x`, none of a sparse one, and O(km + n). The figures of the path take
#' O(m s^2) for a model of size s, and so do the deletions of `foba()`.
#'
#' @section Errors: Bad input is refused with a classed error (`sparsels_error_input`) that names
#' the argument, what it must be and what it was. Covariates that cannot be estimated without some
#' row are refused, naming the row: leave-one-out has no error for it.
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
                               size = if (is.null(k)) "cv" else "criterion", size_folds = 10) {
  problem <- fitter_problem(x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  sized_fit("forward_regression", problem, control, function(problem, control) {
    list(pursuit_path(problem, control, pursue(problem, control, gain_score)))
  }, short_call(match.call()))
}

#' @rdname forward_regression
#' @export
omp <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0,
                size = if (is.null(k)) "cv" else "criterion", size_folds = 10) {
  problem <- fitter_problem(x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  sized_fit("omp", problem, control, function(problem, control) {
    list(pursuit_path(problem, control, pursue(problem, control, residual_score)))
  }, short_call(match.call()))
}

#' @rdname forward_regression
#' @export
foba <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, nu = 0.5,
                 size = if (is.null(k)) "cv" else "criterion", size_folds = 10) {
  problem <- fitter_problem(x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  if (!(is_number(nu) && nu >= 0 && nu < 1)) refuse("nu", "a number of at least 0 and below 1", nu)
  control$nu <- as.double(nu)
  sized_fit("foba", problem, control, function(problem, control) {
    list(pursuit_path(problem, control, pursue_and_drop(problem, control)))
  }, short_call(match.call()))
}

# The searches ------------------------------------------------------------------------------------

pursue <- function(problem, control, score) {
  s <- new_pursuit(problem, control, most = control$k)
  while (length(s$set) < control$k && !is.null(step <- best_step(s, score(s)))) {
    s <- add_column(s, step)
  }
  s
}

pursue_and_drop <- function(problem, control) {
  limit <- 5L * control$k
  largest <- min(limit, control$largest(problem))
  s <- new_pursuit(problem, control, most = largest)
  gain <- numeric(largest)
  while (length(s$set) < largest && length(s$log) <= limit &&
           !is.null(step <- best_step(s, residual_score(s)))) {
    s <- add_column(s, step)
    gain[length(s$set)] <- s$gain
    while (length(s$set) > 1L && length(s$log) <= limit) {
      cost <- drop_costs(s)
      if (min(cost) > control$nu * gain[length(s$set)]) break
      s <- drop_column(s, first_least(cost, s$set))
    }
  }
  s
}

# What adding each column takes from the penalised residual sum of squares ...
gain_score <- function(s) ifelse(s$d > dependent * s$own, rowSums(s$r^2) / s$d, 0)

# ... and what it would take were it orthogonal to the model, without the penalty.
residual_score <- function(s) rowSums(s$r^2) / s$terms$diagonal

# a column of which the model leaves no more than this share is dependent on it
dependent <- 1e-10

# The state ---------------------------------------------------------------------------------------

# The columns are longer than m by `extra` rows, in which the one that is added as the i-th has
# sqrt(lambda) in row i: ridge regression is then least squares on an orthonormal basis. A candidate
# has zeros where the model has its penalty, so that its products need the first m rows only.
#   set: columns in the model; basis: orthonormal, (m + extra) x size; residual: (m + extra) x L;
#   r: X'residual; d: squared distance of each column from the model, lambda included, for
#   gain_score() as long as nothing is dropped; own: the same distance from the empty model.
new_pursuit <- function(problem, control, most) {
  s <- list(problem = problem, lambda = control$lambda, set = integer(), gain = NA_real_,
            terms = gram_terms(problem, whole = FALSE))
  s$q <- covariate_basis(problem)
  s$extra <- if (control$lambda > 0) most else 0L
  s$y <- rbind(working_response(problem), matrix(0, s$extra, ncol(problem$y)))
  s$basis <- matrix(0, nrow(s$y), 0L)
  s$residual <- s$y
  s$r <- s$terms$b
  s$own <- s$d <- s$terms$diagonal + control$lambda
  log_move(s, "start", NA_integer_)
}

log_move <- function(s, action, feature) {
  s$log <- c(s$log, list(list(set = s$set, action = action, feature = feature)))
  s
}

# The column with the best score and its direction, a unit vector orthogonal to the basis; NULL
# when none adds anything.
best_step <- function(s, score) {
  score[s$set] <- 0
  nothing <- .Machine$double.eps * s$terms$total
  while (max(score) > nothing) {
    j <- which(score >= (1 - 1e-12) * max(score))[1L]
    direction <- project_out(long_columns(s, j, length(s$set)), s$basis)
    length2 <- sum(direction^2)
    if (length2 > dependent * s$own[j]) {
      return(list(column = j, direction = direction / sqrt(length2)))
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

# What dropping each column of the model adds to the penalised residual sum of squares: beta^2 over
# the diagonal of the inverse.
drop_costs <- function(s) {
  decomposed <- qr(long_columns(s, s$set), tol = 0)
  rowSums(qr.coef(decomposed, s$y)^2) / diag(chol2inv(qr.R(decomposed)))
}

drop_column <- function(s, at) {
  column <- s$set[at]
  s$set <- s$set[-at]
  s$basis <- qr.Q(qr(long_columns(s, s$set), tol = 0))
  s$residual <- project_out(s$y, s$basis)
  s$r <- cross_columns(s$terms, s$residual[seq_len(nrow(s$problem)), , drop = FALSE])
  log_move(s, "drop", column)
}

# The place of the least cost, of equals the lowest column's.
first_least <- function(cost, set) {
  equal <- which(cost <= (1 + 1e-12) * min(cost))
  equal[which.min(set[equal])]
}

# Working columns with their penalty below; `after` columns stand in the model before them.
long_columns <- function(s, set, after = 0L) {
  x <- working_matrix(s$problem, s$terms$columns[set], s$q)
  penalty <- matrix(0, s$extra, length(set))
  if (s$extra) penalty[cbind(after + seq_along(set), seq_along(set))] <- sqrt(s$lambda)
  rbind(x, penalty)
}

# X'v of all usable columns, for v (m x any) orthogonal to the covariates: a sparse column need not
# be centred then.
cross_columns <- function(terms, v) {
  if (!is.null(terms$X)) return(.Call(C_cross_columns, terms$X, v))
  as.matrix(Matrix::crossprod(terms$x, sqrt(terms$w) * v)) / terms$scale
}

# What new_sparse_fit() wants; the size chosen is k, or the largest reached.
pursuit_path <- function(problem, control, s) {
  columns <- s$terms$columns
  sets <- lapply(s$log, function(move) columns[move$set])
  steps <- data.frame(action = vapply(s$log, `[[`, "", "action"),
                      feature = columns[vapply(s$log, `[[`, 0L, "feature")])
  subset_path(problem, control, sets, steps, min(control$k, max(lengths(sets))))
}
