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
#' @param k The size wanted, at most the smaller of the usable columns and the rows less the
#'   covariates less one, where a larger one ends. `NULL`, the default: that bound, at most 10, and
#'   the size is chosen by cross-validation.
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
#'   argument, what it must be and what it was. A row without which a covariate cannot be estimated
#'   has no held-out prediction, see [covariates].
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
    stopped <- was_stopped({
      while (length(s$set) < control$k && !is.null(step <- best_step(s, score(s)))) {
        s <- add_column(s, step)
      }
    })
    pursuit_path(problem, control, s, stopped)
  }
}

pursue_and_drop <- function(problem, control) {
  limit <- 5L * control$k
  largest <- min(limit, control$largest(problem))
  s <- new_pursuit(problem, control, max_size = largest)
  gain <- numeric(largest)
  stopped <- was_stopped({
    while (length(s$set) < largest && length(s$log) <= limit &&
             !is.null(step <- best_step(s, residual_score(s)))) {
      s <- add_column(s, step)
      gain[length(s$set)] <- s$gain
      while (length(s$set) > 1L && length(s$log) <= limit) {
        # The increase of the penalised residual sum of squares by dropping each column of the
        # model: beta^2 divided by the diagonal of the inverse. Of equal costs the lowest column is
        # dropped.
        decomposed <- qr(long_columns(s, s$set), tol = 0)
        cost <- rowSums(qr.coef(decomposed, s$y)^2) / diag(chol2inv(qr.R(decomposed)))
        if (min(cost) > control$nu * gain[length(s$set)]) break
        column <- min(s$set[which(cost <= (1 + 1e-12) * min(cost))])
        s$set <- setdiff(s$set, column)
        s$basis <- qr.Q(qr(long_columns(s, s$set), tol = 0))
        s$residual <- project_out(s$y, s$basis)
        s$r <- cross_columns(s$terms, s$residual[seq_len(nrow(problem)), , drop = FALSE])
        s <- log_move(s, "drop", column)
      }
    }
  })
  pursuit_path(problem, control, s, stopped)
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
  penalty <- matrix(0, s$extra, length(set))
  if (s$extra) penalty[cbind(after + seq_along(set), seq_along(set))] <- sqrt(s$lambda)
  rbind(working_matrix(s$problem, s$terms$columns[set], s$q), penalty)
}

# The path of a pursuit for sized_fit(). The chosen size is k, or the largest size reached.
pursuit_path <- function(problem, control, s, stopped) {
  columns <- s$terms$columns
  sets <- lapply(s$log, function(move) columns[move$set])
  list(subset_path(problem, control, sets, min(control$k, max(lengths(sets))),
                   status = if (stopped) "interrupted" else "complete",
                   action = vapply(s$log, `[[`, "", "action"),
                   feature = columns[vapply(s$log, `[[`, 0L, "feature")]))
}

# Backward -----------------------------------------------------------------------------------------

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
#' @param k The largest size for which a model is kept, at most the smaller of the usable columns
#'   and the rows less the covariates less one. `NULL`, the default: that bound, at most 10.
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
    drop <- smallest_weights(cross_columns(terms, a)[s$set, , drop = FALSE], control)
    K <- K - row_products(terms, work$q, s$set[drop])
    s <- drop_from(s, drop)
  }
  s
}

# XX' of some columns in working coordinates, m x m
row_products <- function(terms, q, set) {
  if (!is.null(terms$X)) return(tcrossprod(terms$X[, set, drop = FALSE]))
  scaled <- terms$x[, set, drop = FALSE] %*% Matrix::Diagonal(x = 1 / terms$scale[set])
  project_out(t(project_out(as.matrix(tcrossprod(sqrt(terms$w) * scaled)), q)), q)
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
  stopped <- was_stopped(while (length(s$set)) {
    factor <- chol(C)
    drop <- smallest_weights(backsolve(factor, backsolve(factor, b, transpose = TRUE)), control)
    C <- C[-drop, -drop, drop = FALSE]
    b <- b[-drop, , drop = FALSE]
    s <- drop_from(s, drop)
  })
  # there is no model to keep yet
  if (length(s$set) > largest) raise_interrupt()
  c(s, largest = largest, status = if (stopped) "interrupted" else "complete")
}

# The path ----------------------------------------------------------------------------------------

# A path for new_sparse_fit(): the models of sizes up to k. The steps before have no models.
elimination_path <- function(problem, control) {
  terms <- gram_terms(problem, whole = FALSE)
  s <- list(set = seq_along(terms$columns), dropped = integer())
  s <- drop_narrow(problem, terms, control, drop_wide(problem, terms, control, s))
  dropped <- terms$columns[s$dropped]
  n <- length(dropped)
  # with the columns that were left where the search was stopped
  ranked <- c(terms$columns[s$set], rev(dropped))
  left <- length(s$set)
  sets <- lapply(s$largest:left, function(size) ranked[seq_len(size)])
  moves <- data.frame(action = c("start", rep("drop", n)), feature = c(NA, dropped),
                      size = left + n:0)
  early <- moves$size > s$largest
  path <- subset_path(problem, control, sets, s$largest)
  table <- path$path[c(rep(NA_integer_, sum(early)), seq_along(sets)), ]
  table[names(moves)] <- moves
  table$step <- 0:n
  table$name <- problem$columns$name[moves$feature]
  row.names(table) <- NULL
  path$path <- table
  path$models <- lapply(path$models, function(model) {
    if (!is.null(model)) model$row <- model$row + sum(early)
    model
  })
  list(replace(path, "status", s$status))
}

# Reference methods --------------------------------------------------------------------------------

#' Reference methods: wrapper, low-rank updated LS-SVM and random selection
#'
#' Reference methods for [greedy_rls()]: `wrapper_rls()` and `lowrank_lssvm()` choose the same
#' features by slower algorithms; `random_selection()` draws them at random.
#'
#' All fit the model of [greedy_rls()] and evaluate it by the same criterion on the same folds. By
#' default the size is the one with the best criterion (`size = "criterion"`), not chosen by
#' repeating the search, and `lambda = NULL` is then 16 times the mean sum of squares of a column.
#' Only `random_selection()` has `refit`.
#'
#' * `wrapper_rls()` treats the model as a black box: each candidate is retrained from scratch
#'   without each fold, O(k n) fits per fold. With leave-one-out, `shortcut` uses the closed forms
#'   of the held-out residual of one model instead: `"primal"`, \eqn{(y_j - f_j) / (1 - h_j)}{(y_j
#'   - f_j) / (1 - h_j)} with the leverage h, or `"dual"`, \eqn{a_j / G_{jj}}{a_j / G_jj}, so that
#'   a candidate costs one fit.
#' * `lowrank_lssvm()` keeps the m x m matrix G and updates it by a rank-one term for each feature
#'   (Ojeda, Suykens and De Moor 2008): O(k m^2 n) time and O(m^2) memory, leave-one-out and
#'   forward only.
#' * `random_selection()` adds features drawn without replacement from R's random numbers, O(k^2 m).
#'   Of `loss = "negbin"` theta is the one of the null model.
#'
#' The first two are meant for comparisons and checks with at most a few hundred rows and columns.
#'
#' @inheritParams greedy_rls
#' @param lambda Positive ridge parameter. `NULL`, the default, is 16 times the mean sum of squares
#'   of a column.
#' @param size How the number of features is chosen: `"criterion"`, the default here, by the
#'   criterion that chose the features, which is optimistic; or as in [greedy_rls()].
#' @param refit Logical: are the coefficients of each size refitted by ridge regression at a lambda
#'   of their own? `TRUE` by default if `lambda` is not given.
#' @param shortcut For leave-one-out, how the error of a candidate is computed: `"none"`, by
#'   refitting without each row, or by a closed form, `"primal"` or `"dual"`, see Details.
#' @return An object of class `sparse_fit`, as from [greedy_rls()].
#' @section Errors: As for [greedy_rls()]; `shortcut` with other folds than leave-one-out or with
#'   `criterion = "auc"`, and `criterion = "auc"` in `lowrank_lssvm()`.
#' @references Ojeda, F., Suykens, J. A. K., De Moor, B. (2008). Low rank updated LS-SVM
#' classifiers for fast variable selection. Neural Networks 21, 437-449.
#'
#' Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for regularized
#' least-squares. \doi{10.48550/arXiv.1003.3570}
#' @examples
#' x <- matrix(rnorm(20 * 6), 20)
#' y <- x[, 2] - x[, 5] + rnorm(20) / 4
#' selected(wrapper_rls(x, y, k = 3, lambda = 1), 3)
#' selected(lowrank_lssvm(x, y, k = 3, lambda = 1), 3)
#' selected(greedy_rls(x, y, k = 3, lambda = 1), 3)
#' @name baselines
#' @order 1
NULL

#' @rdname baselines
#' @order 2
#' @export
wrapper_rls <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = NULL, size = "criterion",
                        size_folds = 10, folds = "loo", criterion = "squared", search = "forward",
                        shortcut = "none", progress = interactive(), BPPARAM = NULL) {
  problem <- fitter_problem("wrapper_rls", x, y, ..., data = data)
  control <- path_control(problem, k, lambda, folds, criterion, size, size_folds)
  control$progress <- check_flag(progress, "progress")
  control$search <- check_choice(search, "search", searches)
  control$shortcut <- check_choice(shortcut, "shortcut", c("none", "primal", "dual"))
  stop_input_if(shortcut != "none" && (!control$folds$loo || control$criterion$name == "auc"),
                "`shortcut` needs `folds = \"loo\"` and a criterion other than \"auc\"")
  sized_fit("wrapper_rls", problem, control, each_lambda(wrapper_path), short_call(match.call()),
            BPPARAM = BPPARAM)
}

#' @rdname baselines
#' @order 3
#' @export
lowrank_lssvm <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = NULL,
                          size = "criterion", size_folds = 10, criterion = "squared",
                          progress = interactive(), BPPARAM = NULL) {
  problem <- fitter_problem("lowrank_lssvm", x, y, ..., data = data)
  control <- path_control(problem, k, lambda, "loo", criterion, size, size_folds)
  control$progress <- check_flag(progress, "progress")
  stop_input_if(control$criterion$name == "auc",
                "`criterion = \"auc\"` is not available in lowrank_lssvm(): use greedy_rls()")
  sized_fit("lowrank_lssvm", problem, control, each_lambda(lowrank_path), short_call(match.call()),
            BPPARAM = BPPARAM)
}

# The wrapper -------------------------------------------------------------------------------------

wrapper_path <- function(problem, control, lambda) {
  working_x <- matrix(0, nrow(problem), ncol(problem))
  working_x[, problem$columns$usable] <- working_matrix(problem)
  columns <- standardised_columns(problem)
  evaluate <- function(features) {
    residuals <- switch(control$shortcut,
      none = retrain_folds(problem, columns, features, lambda, control$folds),
      list(shortcut_loo(problem, working_x[, features, drop = FALSE], lambda, control$shortcut))
    )
    if (control$criterion$name != "auc" || !control$folds$loo) {
      figure <- evaluate_folds(problem, control$folds, control$criterion, residuals)
      return(list(value = figure$value, se = figure$se, residuals = residuals))
    }
    # leave-pair-out AUC retrains without every pair
    pairs <- expand.grid(up = which(problem$rows$y > 0), down = which(problem$rows$y < 0))
    pair_counts <- mapply(function(up, down) {
      fit <- ridge_fit(problem, columns, features, lambda, -c(up, down))
      score <- problem$rows$y
      score[c(up, down), ] <- ridge_predict(problem, columns, features, fit, c(up, down))
      right_pairs(c(up, down), problem, score)
    }, pairs$up, pairs$down)
    list(value = sum(pair_counts[1L, ]) / sum(pair_counts[2L, ]), se = NA_real_,
         residuals = residuals)
  }
  search_path(problem, control, lambda, evaluate, columns)
}

# Held-out residuals by retraining without each fold.
retrain_folds <- function(problem, columns, features, lambda, folds) {
  root_w <- weight_divisor(problem)
  lapply(seq_len(ncol(folds$ids)), function(repetition) {
    residual <- problem$rows$y
    for (rows in split(seq_len(nrow(residual)), folds$ids[, repetition])) {
      fit <- ridge_fit(problem, columns, features, lambda, -rows)
      error <- residual[rows, ] - ridge_predict(problem, columns, features, fit, rows)
      residual[rows, ] <- without_lost(root_w[rows] * error, problem, rows) / root_w[rows]
    }
    residual
  })
}

# Leave-one-out residuals: (y_j - f_j) / (1 - h_j) from the s x s system, or a_j / G_jj from the
# m x m system.
shortcut_loo <- function(problem, x, lambda, shortcut) {
  basis <- fold_basis(problem)
  y <- working_response(problem)
  if (shortcut == "dual") {
    G <- lambda * solve(tcrossprod(x) + diag(lambda, nrow(x))) - tcrossprod(basis)
    return((G %*% y) / diag(G) / weight_divisor(problem))
  }
  hat <- matrix(0, nrow(x), nrow(x))
  if (ncol(x)) hat <- x %*% solve(crossprod(x) + diag(lambda, ncol(x)), t(x))
  (y - hat %*% y) / (1 - diag(hat) - rowSums(basis^2)) / weight_divisor(problem)
}

# The search in plain R ---------------------------------------------------------------------------

# The steps of the search in greedy.c, for any function evaluate(features) that returns list(value,
# se, residuals).
search_path <- function(problem, control, lambda, evaluate, columns) {
  divisor <- ncol(problem$rows$y) * sum(problem$rows$weight)
  score <- function(features) {
    out <- evaluate(features)
    squares <- vapply(out$residuals, function(r) sum(problem$rows$weight * r^2), 0)
    c(out, loss = criterion_loss(control$criterion, out$value), tie = mean(squares) / divisor)
  }
  usable <- which(problem$columns$usable)
  set <- if (control$search == "backward") usable else integer()
  s <- list(control = control, set = set, now = score(set), seen = list(), gain = numeric(),
            best = NULL, since_best = 0L, status = "", log = list())
  s <- note_model(s, list(feature = NA, action = "start"))
  tie <- 1e-12 * sum(working_response(problem)^2) / divisor
  s$tolerance <- c(if (control$criterion$name == "squared") tie else 1e-12 * abs(s$now$loss), tie)
  stopped <- was_stopped(while (s$status == "" && !is.null(move <- next_move(s, usable, score))) {
    adding <- move$action == "add"
    set <- if (adding) c(s$set, move$feature) else setdiff(s$set, move$feature)
    if (adding) s$gain[length(set)] <- s$now$loss - move$score$loss
    s <- note_model(replace(s, c("set", "now"), list(set, move$score)), move)
  })
  if (stopped) s$status <- "interrupted"
  path_of_log(problem, control, lambda, s, columns)
}

# The next step: a drop if the rule of the search requires one, otherwise the best addition. NULL at
# the end.
next_move <- function(s, usable, score) {
  size <- length(s$set)
  search <- s$control$search
  if (search != "forward" && size > (search != "backward")) {
    drop <- best_of(sort(s$set), function(i) score(setdiff(s$set, i)), s$tolerance)
    drops <- switch(search,
      backward = TRUE,
      floating = beats(drop$score, s$seen[[size]], s$tolerance),
      forward_backward = s$gain[size] > s$tolerance[1L] &&
        drop$score$loss - s$now$loss <= 0.5 * s$gain[size]
    )
    if (drops) return(c(drop, action = "drop"))
  }
  candidates <- setdiff(usable, s$set)
  if (search == "backward" || size == s$control$k || !length(candidates)) return(NULL)
  c(best_of(candidates, function(i) score(c(s$set, i)), s$tolerance), action = "add")
}

# Records the current model, and stops a search without improvement for `patience` steps.
note_model <- function(s, move) {
  size <- length(s$set)
  s$log <- c(s$log, list(list(set = s$set, feature = move$feature, action = move$action,
                              score = s$now)))
  if (size >= length(s$seen) || beats(s$now, s$seen[[size + 1L]])) s$seen[[size + 1L]] <- s$now
  s$since_best <- s$since_best + 1L
  if (size <= s$control$k && beats(s$now, s$best)) {
    s$best <- s$now
    s$since_best <- 0L
  }
  patience <- if (s$control$search == "backward") 0L else s$control$patience
  if (patience > 0L && s$since_best >= patience) s$status <- "early_stop"
  s
}

beats <- function(x, y, tolerance = c(0, 0)) {
  if (is.null(y)) return(TRUE)
  x$loss < y$loss - tolerance[1L] ||
    (x$loss <= y$loss + tolerance[1L] && x$tie < y$tie - tolerance[2L])
}

best_of <- function(features, score, tolerance) {
  best <- NULL
  for (i in features) {
    one <- score(i)
    if (beats(one, best$score, tolerance)) best <- list(feature = i, score = one)
  }
  best
}

# A path for new_sparse_fit() from the recorded sets and their scores.
path_of_log <- function(problem, control, lambda, s, columns) {
  log <- s$log
  field <- function(name) vapply(log, function(entry) entry$score[[name]], 0)
  feature <- vapply(log, function(entry) as.integer(entry$feature), 0L)
  size <- lengths(lapply(log, `[[`, "set"))
  path <- data.frame(
    step = seq_along(log) - 1L, action = vapply(log, `[[`, "", "action"), feature = feature,
    name = problem$columns$name[feature], size = size, criterion = field("value"), se = field("se"),
    squared = field("tie")
  )
  if (problem$coding$task != "regression") {
    path$error <- vapply(log, function(entry) {
      evaluate_folds(problem, control$folds, list(name = "error"), entry$score$residuals)$value
    }, 0)
  }
  rows <- order(field("loss"), field("tie"), size)
  rows <- rows[size[rows] <= control$k]
  if (!length(rows)) raise_interrupt()
  models <- lapply(0:control$k, function(s) {
    row <- rows[size[rows] == s][1L]
    if (is.na(row)) return(NULL)
    set <- log[[row]]$set
    list(features = set, row = row,
         beta = ridge_fit(problem, columns, set, lambda, seq_len(nrow(problem)))$beta)
  })
  best <- log[[rows[1L]]]
  fit <- ridge_fit(problem, columns, best$set, lambda, seq_len(nrow(problem)))
  list(
    lambda = lambda, status = if (s$status == "") "complete" else s$status, path = path,
    size = length(best$set), models = models,
    held_out = scores_unless_lost(problem, control$folds, average(best$score$residuals)),
    fitted = ridge_predict(problem, columns, best$set, fit, seq_len(nrow(problem)))
  )
}

# Low-rank updated LS-SVM -------------------------------------------------------------------------

# Updates the m x m matrix G = lambda (K + lambda I)^-1: adding x_i subtracts C_i C_i' / (lambda +
# x_i'C_i), where C = G X.
lowrank_path <- function(problem, control, lambda) {
  x <- matrix(0, nrow(problem), ncol(problem))
  x[, problem$columns$usable] <- working_matrix(problem)
  y <- working_response(problem)
  divisor <- weight_divisor(problem)
  G <- diag(nrow(problem)) - tcrossprod(fold_basis(problem, control$folds))
  a <- G %*% y
  C <- G %*% x
  in_model <- integer()
  advance <- function(i) {
    G <<- G - tcrossprod(C[, i]) / (lambda + sum(x[, i] * C[, i]))
    a <<- G %*% y
    C <<- G %*% x
    in_model <<- c(in_model, i)
  }
  evaluate <- function(features) {
    # features are the set and a candidate, and the set may have grown by one since the last call
    previous <- features[-length(features)]
    if (length(previous) > length(in_model)) advance(previous[length(previous)])
    dual <- a
    diagonal <- diag(G)
    for (i in setdiff(features, in_model)) {
      c <- C[, i]
      kappa <- lambda + sum(x[, i] * c)
      dual <- a - outer(c, drop(crossprod(a, x[, i])) / kappa)
      diagonal <- diagonal - c^2 / kappa
    }
    residuals <- list(dual / diagonal / divisor)
    value <- evaluate_folds(problem, control$folds, control$criterion, residuals)
    c(value, list(residuals = residuals))
  }
  control$search <- "forward"
  search_path(problem, control, lambda, evaluate, standardised_columns(problem))
}
