#' Best subset selection by sequential replacement
#'
#' Grows a set by one column at a time and, at every size, exchanges one of its columns for another
#' as long as that lowers the training error.
#'
#' For a set \eqn{S} of columns the model minimises
#' \deqn{E(S) = \min_{b, B} \sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 +
#' \lambda \| B \|_F^2}{E(S) = min over b, B of sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 +
#' lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}. The criterion of the path is
#' \eqn{1 - E(S) / E(\emptyset)}{1 - E(S) / E(empty set)}, the \eqn{R^2} given the covariates for
#' `lambda = 0`.
#'
#' The set of size \eqn{s} starts as the set of size \eqn{s - 1} with the column that lowers \eqn{E}
#' most. Then the best exchange of one column in the set for one outside it is made repeatedly,
#' until none lowers \eqn{E}: no set that differs in one column is better. The best set of a size
#' may differ in more than one column; [best_subset()] proves which set is best.
#'
#' A column whose residual sum of squares given the set is at most 1e-10 of its (penalised) sum of
#' squares is not added. The search ends early, with a shorter path, when no column increases
#' \eqn{R^2} by more than 1e-12. Exchanges within 1e-12 of the best are equal: ties go to the column
#' that was added first, then to the lowest new column.
#'
#' @inheritParams forward_regression
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, the default where `k` is not given; `"1se"`, or a number, see
#'   [size_rule]; `"criterion"` is the largest size reached, at most `k`, as the training error
#'   never increases with the size.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit], with a row of `fit$path` for each size
#'   from 0; its `action` is `"found"` and its `feature` `NA`, since the sets need not be nested.
#'   `criterion` is the \eqn{R^2} above, `squared` the exact leave-one-out mean squared error of the
#'   fixed set.
#'
#' @section Cost: O(mns) time for each exchange at size s, with m rows and n columns, or s products
#' with a sparse `x`. Memory is one copy of a dense `x`, none of a sparse one, and O((m + n) s).
#'
#' @section Errors: As for [forward_regression()].
#'
#' @references Miller, A. J. (1984). Selection of subsets of regression variables. Journal of the
#' Royal Statistical Society A 147(3), 389-425. \doi{10.2307/2981576}
#' @seealso [forward_regression()], [best_subset()], [poss()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' x[, 4] <- x[, 1] + x[, 2] + rnorm(60) / 2
#' y <- x[, 1] + x[, 2] + rnorm(60) / 4
#' # the sum of the two comes first and is exchanged
#' selected(forward_regression(x, y, k = 2))
#' selected(sequential_replacement(x, y, k = 2))
#' @export
sequential_replacement <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0,
                                   size = if (is.null(k)) "cv" else "criterion", size_folds = 10,
                                   BPPARAM = NULL) {
  problem <- fitter_problem("sequential_replacement", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  sized_fit("sequential_replacement", problem, control, function(problem, control) {
    sets <- replaced_sets(problem, control)
    steps <- data.frame(action = rep(c("start", "found"), c(1L, length(sets) - 1L)),
                        feature = NA_integer_)
    list(subset_path(problem, control, sets, steps, length(sets) - 1L))
  }, short_call(match.call()), BPPARAM = BPPARAM)
}

# The sets of size 0, 1, ... as column numbers of the problem.
replaced_sets <- function(problem, control) {
  terms <- gram_terms(problem, whole = FALSE)
  model <- function(set) set_model(problem, terms, control, set)
  set <- integer()
  sets <- list(set)
  while (length(set) < control$k &&
           length(add <- best_gain(matrix(addition_gains(model(set))), terms))) {
    set <- c(set, add[1L])
    while (length(swap <- best_gain(swap_gains(model(set)), terms))) set[swap[2L]] <- swap[1L]
    sets <- c(sets, list(set))
  }
  lapply(sets, function(set) terms$columns[set])
}

# The ridge model of a set as least squares. The penalty is rows below the columns of the set, in
# which a candidate has zeros. The columns have a QR decomposition. `products` = X'Q (n x s), `r` =
# X'residual (n x L), `d` is the squared distance of each column from the set, and `beta` is s x L.
# The R factor is given by its `inverse`.
set_model <- function(problem, terms, control, set) {
  q <- covariate_basis(problem)
  y <- working_response(problem)
  s <- length(set)
  columns <- rbind(working_matrix(problem, terms$columns[set], q), diag(sqrt(control$lambda), s))
  decomposed <- qr(columns, tol = 0)
  basis <- qr.Q(decomposed)[seq_len(nrow(y)), , drop = FALSE]
  effect <- crossprod(basis, y)
  inverse <- if (s) backsolve(qr.R(decomposed), diag(s)) else matrix(0, 0L, 0L)
  products <- if (s) cross_columns(terms, basis) else matrix(0, length(terms$columns), 0L)
  size <- terms$diagonal + control$lambda
  list(set = set, size = size, products = products, r = terms$b - products %*% effect,
       d = size - rowSums(products^2), beta = inverse %*% effect, inverse = inverse)
}

# the decrease of E by adding each column (n)
addition_gains <- function(model) {
  gain <- ifelse(model$d > dependent * model$size, rowSums(model$r^2) / model$d, 0)
  replace(gain, model$set, 0)
}

# the decrease of E by exchanging each column of the set for another (n x s)
swap_gains <- function(model) {
  coefficients <- tcrossprod(model$products, model$inverse) # of each column on the set
  own <- rowSums(model$inverse^2) # the diagonal of the inverse of the set's products
  gain <- vapply(seq_along(model$set), function(j) {
    along <- coefficients[, j] / own[j]
    d <- model$d + along * coefficients[, j]
    r <- model$r + outer(along, model$beta[j, ])
    ifelse(d > dependent * model$size, rowSums(r^2) / d, 0) - sum(model$beta[j, ]^2) / own[j]
  }, numeric(nrow(coefficients)))
  gain <- matrix(gain, nrow(coefficients))
  gain[model$set, ] <- 0
  gain
}

# Row and column of the largest gain, of equal gains the lowest. NULL when the gain may be only
# rounding error.
best_gain <- function(gain, terms) {
  if (max(gain) <= 1e-12 * terms$total) return(NULL)
  arrayInd(which(gain >= max(gain) - 1e-12 * terms$total)[1L], dim(gain))[1L, ]
}
