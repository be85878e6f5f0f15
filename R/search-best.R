#' Best subset selection by branch and bound
#'
#' Finds, for every size up to `k`, the set of columns whose least-squares or ridge model has the
#' largest R-squared, with a proof that no set of that size has a larger one.
#'
#' The set \eqn{S} of size \eqn{s} is the one with the largest
#' \deqn{R^2(S) = \frac{b_S' (C_{SS} + \lambda I)^{-1} b_S}{y'y} = 1 - \min_B \frac{\sum_j w_j
#' \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2}{y'y}}{
#' R^2(S) = b_S' (C_SS + lambda I)^-1 b_S / y'y
#' = 1 - min_B (sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2) / y'y}
#' where \eqn{C = X'X} and \eqn{b = X'y} are cross products of the weighted standardised columns and
#' response, residualised on the covariates (the intercept is one). With `lambda = 0` this is the
#' usual R-squared, partial given the covariates; for several responses or classes, numerator and
#' denominator are sums over them.
#'
#' **Two trees.** Of many columns a set is proved best by dual bounds, as [certify()] explains. They
#' settle most columns before the search begins, so that thousands of columns are feasible for
#' `lambda` of at least about the number of rows, and hundreds of columns without a penalty where
#' rows are many more. For fewer columns than rows (at most 2000), as much of the diagonal of
#' \eqn{X'X + \lambda I}{X'X + lambda I} is used as penalty as leaves the rest positive
#' semidefinite. Leaps and bounds are used instead for at most 50 columns (100 without a penalty),
#' for at most 668 where the dual bound is far below the best set known (for n columns n / 3000 of
#' the error of the null model, without a penalty n / 10000), and without a penalty where columns
#' outnumber rows or are nearly dependent. `fit$tree` and `print()` say which was used.
#'
#' In both, greedy selection and exchanges of single columns give a first set of each size, and a
#' branch is pruned when its bound does not exceed the best set found. With leaps and bounds the
#' gain of a set together with all candidates that may still be added is the bound of its branch. At
#' each node the candidates are ordered to make these bounds small, and the last three additions are
#' evaluated in closed form.
#'
#' **Limits.** At the limit `nodes` and after Ctrl-C, the fit has the best sets found, and
#' `fit$proof` has an upper bound of the R-squared of each size. `fit$status` is then `"node_limit"`
#' or `"interrupted"`, and the `action` of the sizes that are not proven is `"stopped"`. With more
#' columns than rows and without a penalty all columns together have an R-squared of 1: the search
#' is still exact, but prunes little and is feasible for small `k` only. Sets of up to three columns
#' have no nodes in leaps and bounds and are always proven.
#'
#' **Ties.** R-squared values within 1e-12 are equal, and which of equal sets is found is not
#' specified. Of identical columns the lowest is chosen. A column whose residual sum of squares
#' given a set is below 1e-10 of its sum of squares is collinear with the set and adds nothing. With
#' `lambda = 0` copies of a column are therefore never selected together, and the path ends at the
#' largest size at which the columns are independent. With `lambda` above 0 a copy lowers the
#' penalty, and may be selected.
#'
#' @inheritParams greedy_rls
#' @param k Largest size, at most the smaller of the number of usable columns and the number of rows
#'   less the covariates less one, where a larger one ends. `NULL`, the default: that number, but at
#'   most 10.
#' @param lambda Ridge parameter, a number of at least 0, on the scale of [greedy_rls()]; 0 by
#'   default.
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, `"1se"`, or a number, see [size_rule]; `"criterion"`, the default, is
#'   the largest size of at most `k`, since the training error decreases with the size.
#' @param nodes Largest number of nodes of the tree (sets that are branched from) for each size, a
#'   number of at least 1, `Inf` for no limit. Unlike a time limit it gives the same result on every
#'   machine. `NULL`, the default: 20000 with dual bounds, and `floor(2e11 / n^3)` for leaps and
#'   bounds over n usable columns, since a node with n candidates costs O(n^3): seconds a size. If
#'   that limit is reached there is a warning of class `sparsels_warning_limit`.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit], with a row of `fit$path` for each size
#'   from 0 to `k`; its `action` is `"found"`, or `"stopped"` if the set is not proven to be the
#'   best, and its `feature` `NA`, since the sets need not be nested. `criterion` is the R-squared
#'   above, `squared` the leave-one-out mean squared error.
#'   By default the chosen size is the largest. `fit$proof` is a data frame with a row for each size
#'   from 1:
#'   \item{size}{number of columns}
#'   \item{r_squared}{R-squared of the set found}
#'   \item{bound}{an upper bound of the R-squared of all sets of that size}
#'   \item{gap}{`bound - r_squared`; 0 when the set is proven to be the best}
#'   \item{nodes}{number of nodes searched}
#'   \item{certain_in, certain_out, undecided}{with dual bounds, the number of columns that are
#'     certainly in every set as good, certainly in none, and undecided before the tree}
#'
#'   `fit$tree` is `"dual bounds"` or `"leaps and bounds"`.
#'
#' @section Cost: Exponential in `k` at worst. Half a second or less for all sizes up to 8 of 60
#' strongly correlated columns and 104 rows; a second for 10 of 7000 genes with `lambda` 4 times the
#' number of rows, mostly for the first sets. Memory: a copy of a dense x, with leaps and bounds up
#' to `k` matrices of n x n doubles. Ctrl-C takes effect within about a tenth of a second.
#'
#' @section Errors: As for [greedy_rls()]; `lambda` below 0, `nodes` below 1. For leaps and bounds
#'   more than 5792 usable columns; without `nodes`, `k` above 3 and more than 668 usable columns,
#'   since the default number of nodes is then below the number of columns, and not even the sets of
#'   four could be searched.
#'
#' @references Furnival, G. M., Wilson, R. W. (1974). Regressions by leaps and bounds. Technometrics
#' 16(4), 499-511. \doi{10.1080/00401706.1974.10489231}
#'
#' Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization. Advances in Neural
#' Information Processing Systems 28, 1774-1782.
#' @seealso [certify()], the same proof for the set of another search; [alternatives()]; [poss()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, dimnames = list(NULL, letters[1:20]))
#' y <- x[, 2] - x[, 5] + x[, 9] + rnorm(60)
#' fit <- best_subset(x, y, k = 5)
#' fit
#' fit$proof
#' selected(fit, 3)
#' @export
best_subset <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, nodes = NULL,
                        size = "criterion", size_folds = 10, progress = interactive(),
                        BPPARAM = NULL) {
  problem <- fitter_problem("best_subset", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  control$progress <- check_flag(progress, "progress")
  control$nodes <- if (!is.null(nodes)) check_nodes(nodes)
  fit <- sized_fit("best_subset", problem, control, best_path, short_call(match.call()),
                   BPPARAM = BPPARAM)
  fit[c("proof", "tree")] <- fit$found[c("proof", "tree")]
  fit$found <- NULL
  if (is.null(nodes) && fit$status == "node_limit") {
    warn_sparsels(status_words(fit), "sparsels_warning_limit")
  }
  seal(fit)
}

# The path of the best sets of size 1, 2, ... with their upper bounds, by the tree that suits the
# data.
best_path <- function(problem, control) {
  few <- always_leaps[1L + (control$lambda > 0)]
  found <- if (sum(problem$columns$usable) > few) dual_path(problem, control)
  list(if (is.null(found)) leaps_path(problem, control) else found)
}

# Without and with a penalty leaps and bounds are faster for so many columns, and where the gap
# before the tree is larger than this share of the error of the null model for each column
# (bench/proof.R). Their nodes are too expensive for more than `leaps_columns`.
always_leaps <- c(100L, 50L)
leaps_gap <- c(1 / 10000, 1 / 3000)
leaps_columns <- 668L

# The path by dual bounds, NULL where leaps and bounds are to be used.
dual_path <- function(problem, control) {
  # with a diagonal taken out of X'X where columns are fewer than rows, or the columns as they are
  usable <- sum(problem$columns$usable)
  few <- usable < trained_rows(problem) - ncol(problem$z) && usable <= extracted_columns
  source <- if (few) extracted_source(problem, control$lambda)
  if (is.null(source) && control$lambda > 0) source <- proof_source(problem, control$lambda)
  if (is.null(source)) return(NULL)
  # the sets of sequential_replacement() of sizes 1 to k, completed where it ends early
  sets <- grown_sets(problem, control)[-1L]
  others <- setdiff(which(problem$columns$usable), unlist(utils::tail(sets, 1L)))
  for (s in seq_len(control$k - length(sets)) + length(sets)) {
    sets[[s]] <- c(if (s > 1L) sets[[s - 1L]], others[1L])
    others <- others[-1L]
  }
  sets <- lapply(sets, function(set) set_units(source, set))
  roots <- proof_roots(source, seq_len(control$k), sets)
  gap <- set_errors(source, sets[[control$k]])$penalised - roots[[control$k]]$bound
  n <- length(source$first)
  large <- n * leaps_gap[1L + (control$lambda > 0)] * source$total
  if (n <= leaps_columns && gap > large) return(NULL)
  bar <- progress_bar(control$progress, "Searching subsets", steady = FALSE)
  nodes <- if (is.null(control$nodes)) default_tree else control$nodes
  proofs <- Map(function(root, set) {
    proof_of(source, root, "penalised", set_errors(source, set)$penalised, list(set), nodes, bar)
  }, roots, sets)
  table <- proof_table(proofs)
  sets <- lapply(proofs, function(proof) sort(source$first[proof$set]))
  subset_proof(problem, control, sets, proof_status(proofs),
               1 - share_of(table$bound, source$total, 1),
               table$proved, table[c("nodes", "certain_in", "certain_out", "undecided")],
               "dual bounds")
}

# The path of the sets of sizes 1, 2, ... of best_subset(), with an upper bound of the R-squared of
# each size, whether its set is proven to be the best, and the `effort` of each size.
subset_proof <- function(problem, control, sets, status, bound, proven, effort, tree) {
  found <- subset_path(problem, control, c(list(integer()), sets), length(sets), status,
                       action = c("start", ifelse(proven, "found", "stopped")))
  r_squared <- found$path$criterion[-1L]
  bound <- ifelse(proven, r_squared, pmin(1, pmax(r_squared, bound)))
  proof <- list2DF(c(list(size = seq_along(sets), r_squared = r_squared, bound = bound,
                          gap = bound - r_squared), effort))
  c(found, list(found = list(proof = proof, tree = tree)))
}

#' @exportS3Method
search_words.best_subset <- function(fit) {
  proven <- sum(fit$proof$gap == 0)
  sprintf("proof: by %s, %s of %s", fit$tree,
          if (proven == nrow(fit$proof)) "all" else whole_number(proven),
          counted(nrow(fit$proof), "size"))
}

# The default number of nodes, which takes a second or two for each size. Of n columns, sets of four
# take up to n nodes, and larger sets take more: with a lower limit an exact search has no prospect.
# bench/limits.R has measurements.
default_nodes <- function(n, k) {
  limit <- floor(2e11 / n^3)
  stop_argument_if(k > 3L && limit < n, paste(
    "an exact search for sets of up to %d of %d columns without a penalty is not feasible: give",
    "a `lambda` of about the number of rows, choose %d columns or fewer first, take `k = 3`,",
    "search without a proof by poss() or sequential_replacement(), or give `nodes` for the best",
    "sets found within that number"
  ), k, n, floor(2e11^(1 / 4)))
  limit
}

# The path by leaps and bounds.
leaps_path <- function(problem, control) {
  usable <- sum(problem$columns$usable)
  stop_input_if(usable > whole_gram,
                paste("without a penalty `x` must have at most %d usable columns for an exact",
                      "search, not %d: give `lambda`"), whole_gram, usable)
  nodes <- if (is.null(control$nodes)) default_nodes(usable, control$k) else control$nodes
  terms <- gram_terms(problem, whole = TRUE)
  answer <- .Call(C_best_subset, terms, list(
    lambda = control$lambda, k = control$k, nodes = nodes, threads = 1L, user_loss = NULL,
    progress = progress_bar(control$progress, "Searching subsets", steady = FALSE)
  ))
  sizes <- seq_len(answer$sizes)
  set <- matrix(answer$set, control$k)
  sets <- lapply(sizes, function(s) terms$columns[set[seq_len(s), s] + 1L])
  subset_proof(problem, control, sets,
               if (answer$status == "move_limit") "node_limit" else answer$status,
               share_of(answer$bound[sizes], terms$total), (answer$bound == answer$gain)[sizes],
               list(nodes = answer$nodes[sizes]), "leaps and bounds")
}

# Sequential replacement ---------------------------------------------------------------------------

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
  search <- function(problem, control) {
    sets <- grown_sets(problem, control)
    list(subset_path(problem, control, sets, length(sets) - 1L))
  }
  sized_fit("sequential_replacement", problem, control, search, short_call(match.call()),
            BPPARAM = BPPARAM)
}

# The sets of every size, from the empty one on.
grown_sets <- function(problem, control) {
  terms <- gram_terms(problem, whole = FALSE)
  q <- covariate_basis(problem)
  y <- working_response(problem)
  size <- terms$diagonal + control$lambda
  # The ridge model of a set as least squares. The penalty is rows below the columns of the set, in
  # which a candidate has zeros. The columns have a QR decomposition. `products` = X'Q (n x s),
  # `r` = X'residual (n x L), `d` is the squared distance of each column from the set, and `beta` is
  # s x L. The R factor is given by its `inverse`.
  model <- function(set) {
    s <- length(set)
    columns <- rbind(working_matrix(problem, terms$columns[set], q), diag(sqrt(control$lambda), s))
    decomposed <- qr(columns, tol = 0)
    basis <- qr.Q(decomposed)[seq_len(nrow(y)), , drop = FALSE]
    effect <- crossprod(basis, y)
    inverse <- if (s) backsolve(qr.R(decomposed), diag(s)) else matrix(0, 0L, 0L)
    products <- if (s) cross_columns(terms, basis) else matrix(0, length(terms$columns), 0L)
    list(set = set, size = size, products = products, r = terms$b - products %*% effect,
         d = size - rowSums(products^2), beta = inverse %*% effect, inverse = inverse)
  }
  set <- integer()
  sets <- list(set)
  while (length(set) < control$k) {
    # the decrease of E by adding each column (n)
    one <- model(set)
    gain <- ifelse(one$d > dependent * size, rowSums(one$r^2) / one$d, 0)
    add <- best_gain(matrix(replace(gain, set, 0)), terms)
    if (is.null(add)) break
    set <- c(set, add[1L])
    while (length(swap <- best_gain(swap_gains(model(set)), terms))) set[swap[2L]] <- swap[1L]
    sets <- c(sets, list(set))
  }
  lapply(sets, function(set) terms$columns[set])
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

# Subset -------------------------------------------------------------------------------------------

# Shared by the best-subset methods: cross products of columns, and a path from sets.
#
# The gain of a set S is tr(b'(C + lambda I)^-1 b) / tr(y'y) over its columns, with C = X'X and b =
# X'y in working coordinates: R^2 for lambda = 0, in general 1 minus the penalised residual sum of
# squares divided by the residual sum of squares of the null model.

subset_control <- function(problem, k, lambda, size = "criterion", size_folds = 10) {
  bound <- subset_bound(problem)
  if (is.null(k)) k <- max(min(bound$upper, 10L), if (is.numeric(size)) size)
  k <- check_largest(k, bound$upper, bound$what)
  lambda <- check_positive(lambda, "lambda", or_zero = TRUE)
  stop_argument_if(lambda == 0 && has_factors(problem),
                   "`penalty` cannot be honoured, as %s: give factors of 0, 1 and Inf alone",
                   "`lambda` is 0")
  folds <- as_folds("loo", problem)
  fold_basis_check(problem, folds)
  list(
    k = k, grows = FALSE, largest = function(problem) subset_bound(problem)$upper,
    sizing = size_control(problem, size, size_folds, folds, k),
    lambda = lambda, lambda_values = function(problem) lambda, lambda_rule = "given",
    lambda_given = TRUE, folds = folds, progress = FALSE,
    criterion = list(name = "r_squared", higher = TRUE, words = "R-squared",
                     label = paste("training", r_squared_words(problem)))
  )
}

# list(upper: the largest size of a set with `rows` training rows, what: the limit in words)
subset_bound <- function(problem, rows = trained_rows(problem)) {
  max_rows <- rows - ncol(problem$z) - 1L
  usable <- count_units(problem)
  stop_input_if(max_rows < 1L, "%s, but the model of one column%s needs %d: give more rows%s",
                counted(rows, "training row"), beside_covariates(problem), ncol(problem$z) + 2L,
                if (has_intercept_only(problem)) "" else " or fewer covariates")
  what <- if (max_rows < usable) "rows less covariates and one" else
    sprintf("usable %ss", counted_word(problem))
  list(upper = as.integer(min(usable, max_rows)), what = paste("the number of", what))
}

# The ridge models on the first s columns of a set, for each s of `sizes`: gain, coefficients in
# working coordinates, and held-out and training residuals on the user's scale. Each row, or group
# of rows, is held out by itself. One QR decomposition is used for all sizes.
leading_models <- function(problem, columns, lambda, sizes) {
  work <- working(problem)
  m <- nrow(work$y)
  k <- length(columns)
  y <- rbind(work$y, matrix(0, k, ncol(work$y)))
  decomposed <- qr(rbind(working_matrix(problem, columns, work$q), diag(sqrt(lambda), k)), tol = 0)
  basis <- qr.Q(decomposed)
  factor <- qr.R(decomposed)
  along <- crossprod(basis, y)
  residual <- y
  held <- fold_basis(problem)
  leverage <- rowSums(held^2)
  models <- lapply(0:k, function(s) {
    if (s > 0L) {
      residual <<- residual - outer(basis[, s], drop(crossprod(basis[, s], residual)))
      leverage <<- leverage + basis[seq_len(m), s]^2
    }
    if (!s %in% sizes) return(NULL)
    beta <- matrix(0, 0L, ncol(y))
    if (s > 0L) beta <- backsolve(factor, along, k = s)
    training <- residual[seq_len(m), , drop = FALSE] / work$divisor
    loo <- if (is.null(problem$rows$group)) training / (1 - leverage) else
      group_residuals(problem, residual[seq_len(m), , drop = FALSE] / work$divisor,
                      cbind(held, basis[seq_len(m), seq_len(s), drop = FALSE]), work$divisor)
    # 1 - leverage has few correct digits, so the model is retrained without the rows. For lambda
    # = 0 a column whose coefficient cannot be estimated without these rows has the coefficient 0.
    alone <- if (is.null(problem$rows$group)) which(leverage > 1 - 1e-6) else
      Filter(function(rows) anyNA(loo[rows, 1L]), split(seq_len(m), problem$rows$group))
    for (rows in alone) {
      x <- standardised_columns(problem, columns[seq_len(s)])
      fit <- ridge_fit(problem, x, seq_len(s), lambda, -rows)
      loo[rows, ] <- problem$rows$y[rows, ] - ridge_predict(problem, x, seq_len(s), fit, rows)
    }
    # the rows of `residual` below the rows of the data belong to the penalty
    list(gain = 1 - share_of(sum(residual^2), sum(work$y^2), 1), beta = beta, loo = loo,
         residual = training)
  })
  models[sizes + 1L]
}

# Residuals of the rows of each group by training without the group: (I - H)^-1 r over the rows of
# the group, with the training residuals r and H = Q Q' in working coordinates. NA where the
# smallest eigenvalue of I - H, 1 less the largest leverage of a direction, has few correct digits.
# Without a basis nothing is trained, and H is 0.
group_residuals <- function(problem, training, basis, divisor) {
  for (rows in if (ncol(basis)) split(seq_len(nrow(problem)), problem$rows$group)) {
    parts <- svd(basis[rows, , drop = FALSE], nu = length(rows), nv = 0L)
    shrink <- rep(1, length(rows))
    shrink[seq_along(parts$d)] <- 1 - parts$d^2
    r <- divisor[rows] * training[rows, , drop = FALSE]
    training[rows, ] <- if (min(shrink) < 1e-6) NA else
      parts$u %*% (crossprod(parts$u, r) / shrink) / divisor[rows]
  }
  training
}

# Centred and scaled columns, dense, unweighted.
standardised_columns <- function(problem, columns = seq_len(ncol(problem))) {
  x <- as.matrix(as_doubles(problem$x[, columns, drop = FALSE]))
  dimnames(x) <- NULL
  sweep(sweep(x, 2L, problem$columns$centre[columns]), 2L, problem$columns$scale[columns], "/")
}

# One ridge fit by QR of the stacked rows: coefficients of covariates (b) and features (beta).
ridge_fit <- function(problem, columns, features, lambda, rows) {
  q <- ncol(problem$z)
  s <- length(features)
  root_w <- sqrt(problem$rows$weight[rows])
  z <- root_w * problem$z[rows, , drop = FALSE]
  z[, aliased_columns(qr(z, tol = 1e-10), z)] <- 0
  x <- root_w * columns[rows, features, drop = FALSE]
  design <- rbind(cbind(z, x), cbind(matrix(0, s, q), diag(sqrt(lambda), s, s)))
  response <-
    rbind(root_w * problem$rows$y[rows, , drop = FALSE], matrix(0, s, ncol(problem$rows$y)))
  both <- matrix(0, 0L, ncol(problem$rows$y))
  if (q + s > 0L) both <- qr.coef(qr(design, tol = if (lambda > 0) 1e-300 else 1e-10), response)
  both[is.na(both)] <- 0
  list(b = both[seq_len(q), , drop = FALSE], beta = both[q + seq_len(s), , drop = FALSE])
}

ridge_predict <- function(problem, columns, features, fit, rows) {
  problem$z[rows, , drop = FALSE] %*% fit$b + columns[rows, features, drop = FALSE] %*% fit$beta
}

# A path for new_sparse_fit() from the sets after each step (column numbers in the order chosen),
# with the `action` of each step and the `feature` that it moved. The best set of each size is its
# model, and `size` is the chosen size.
subset_path <- function(problem, control, sets, size, status = "complete",
                        action = ifelse(lengths(sets) > 0L, "found", "start"),
                        feature = rep(NA_integer_, length(sets))) {
  fitted <- unlist(of_sets(sets, function(columns, sizes) {
    leading_models(problem, columns, control$lambda, sizes)
  }), recursive = FALSE)
  gain <- vapply(fitted, `[[`, 0, "gain")
  errors <- error_table(problem, control$folds, list(vapply(fitted, `[[`, problem$rows$y, "loo")))
  path <- list2DF(list(
    step = seq_along(sets) - 1L, action = action, feature = feature,
    name = problem$columns$name[feature], size = lengths(sets), criterion = gain,
    se = rep(NA_real_, length(sets)), squared = errors$criterion
  ))
  path$error <- errors$error
  models <- lapply(0:max(path$size), function(s) {
    row <- which(path$size == s)
    row <- row[which.max(gain[row])]
    if (length(row)) list(features = sets[[row]], beta = fitted[[row]]$beta, row = row)
  })
  chosen <- fitted[[models[[size + 1L]]$row]]
  list(
    lambda = control$lambda, status = status, path = path, size = as.integer(size),
    models = models, held_out = scores_unless_lost(problem, control$folds, chosen$loo),
    fitted = problem$rows$y - chosen$residual
  )
}

# Proofs -------------------------------------------------------------------------------------------

# Proofs that no other set of columns has a smaller error, which certify(), alternatives() and
# best_subset() share.
#
# In working coordinates, each column divided by the root of lambda, a set S has the penalised error
# F(S) = tr Y'(I + X_S X_S')^-1 Y. For every A (m x L)
#   F(S) >= 2 <A, Y> - |A|^2 - sum of the gains of S, the gain of a unit being |X_u'A|^2,
# and the largest gains bound all sets of a size at once. A unit is a column, or the columns of a
# group that move together. Units are numbered here from 1.

# What the proofs about a problem at one lambda read. `given` are columns of every set. The other
# units are `free`.
proof_source <- function(problem, lambda, given = integer(), cluster = NULL) {
  terms <- terms_in_place(problem)
  y <- working_response(problem)
  of <- units_of(problem, terms$columns)
  first <- unique(of)
  source <- list(
    problem = problem, lambda = lambda, terms = terms, y = y, total = sum(y^2),
    of = match(of, first), first = first, given = match(distinct_units(problem, given), first),
    leverage = rowSums(fold_basis(problem)^2), cluster = cluster, state = new_state()
  )
  source$norm <- sqrt(rowsum(terms$diagonal, source$of)[, 1L] / lambda)
  source$free <- setdiff(seq_along(first), source$given)
  if (length(source$given)) {
    # columns of every set change the metric of the rows: F(I and S) is
    # tr (T Y)'(I + T X_S X_S' T)^-1 (T Y) with T = (I + X_I X_I')^(-1/2), which multiplies the
    # directions u by `shrink`
    parts <- svd(unit_part(source, source$given)$X, nv = 0L)
    source$lift <- list(u = parts$u, shrink = 1 / sqrt(1 + parts$d^2))
  }
  source
}

# The number of columns read, and whether Ctrl-C has stopped a tree.
new_state <- function() list2env(list(columns = 0, stopped = FALSE), parent = emptyenv())

# The same with a diagonal D taken out of Q = X'X + lambda I, for fewer columns than rows, and
# without a penalty, too: R = Q - D is semidefinite, and columns whose products are
# D^(-1/2) R D^(-1/2) have the same error in every set. NULL where the columns are dependent.
extracted_source <- function(problem, lambda) {
  terms <- gram_terms(problem, whole = TRUE)
  Q <- terms$whole + diag(lambda, length(terms$columns))
  D <- extracted_diagonal(Q)
  if (is.null(D)) return(NULL)
  root <- sqrt(D)
  units <- seq_along(D)
  list(problem = problem, lambda = lambda, total = terms$total, first = terms$columns, of = units,
       given = integer(), free = units, state = new_state(),
       whole = (Q - diag(D, length(D))) / outer(root, root), b = terms$b / root)
}

extracted_columns <- 2000L

# What the other columns must leave of a column's sum of squares.
nearly_dependent <- 1e-8

# The largest multiple of 1 / diag(Q^-1) that leaves Q - D semidefinite, proved by a Cholesky
# factor.
extracted_diagonal <- function(Q) {
  factor <- tryCatch(chol(Q), error = function(e) NULL)
  if (is.null(factor)) return(NULL)
  inverse <- chol2inv(factor)
  weight <- 1 / diag(inverse)
  if (any(weight < nearly_dependent * diag(Q))) return(NULL)
  largest <- max(eigen(sqrt(outer(weight, weight)) * inverse, TRUE, only.values = TRUE)$values)
  rounding <- 4 * (nrow(Q) + 1) * 1.1e-16 * sum(diag(Q))
  for (share in c(0.9999, 0.999, 0.99, 0.9)) {
    D <- share * weight / largest
    rest <- Q - diag(D + rounding, nrow(Q))
    if (min(D) > 0 && !is.null(tryCatch(chol(rest), error = function(e) NULL))) return(D)
  }
  NULL
}

# The columns of some units, in the order of the units: list(X, start, of), where unit u has the
# columns from start[u] + 1 on, and `of` is the unit of each column.
unit_part <- function(source, units) {
  of <- match(source$of, units)
  at <- order(of, na.last = NA)
  columns <- source$terms$columns[at]
  list(X = working_matrix(source$problem, columns) / sqrt(source$lambda), of = of[at],
       start = c(0L, cumsum(tabulate(of[at], length(units)))))
}

# The gains of some units (units x matrices) for several matrices A (m x L), in one pass over their
# columns.
unit_gains <- function(source, matrices, units = seq_along(source$first)) {
  at <- which(source$of %in% units)
  source$state$columns <- source$state$columns + length(at)
  blocks <- list(at)
  if (!is.null(source$cluster) || is_file_matrix(source$terms$x)) {
    blocks <- lapply(column_blocks(nrow(source$y), length(at), 4e6), function(block) at[block])
  }
  A <- do.call(cbind, matrices)
  terms <- source$terms
  squares <- each_block(list(blocks = blocks, cluster = source$cluster), function(block) {
    if (length(block) < length(source$of)) {
      terms[c("x", "columns", "scale")] <- list(terms$x[, terms$columns[block], drop = FALSE],
                                                seq_along(block), terms$scale[block])
    }
    cross_columns(terms, A)^2
  })
  matrix_of <- rep(seq_along(matrices), each = ncol(source$y))
  of_columns <- do.call(rbind, squares) %*% (outer(matrix_of, seq_along(matrices), "==") + 0)
  unname(rowsum(of_columns, source$of[at])) / source$lambda
}

# The lower bound of the penalised errors of all sets of `k` units.
dual_bound <- function(source, A, gain, k) {
  given <- source$given
  largest <- utils::head(sort(gain[source$free], decreasing = TRUE), k - length(given))
  2 * sum(A * source$y) - sum(A^2) - sum(gain[given]) - sum(largest)
}

lifted <- function(source, values) {
  lift <- source$lift
  if (is.null(lift)) return(values)
  values - lift$u %*% ((1 - lift$shrink) * crossprod(lift$u, values))
}

# Sets --------------------------------------------------------------------------------------------

# The numbers of the units of some columns.
set_units <- function(source, columns) match(distinct_units(source$problem, columns), source$first)

# list(penalised, squared: the sum of squared leave-one-out residuals, A: the residuals) of a set.
set_errors <- function(source, units) {
  if (!is.null(source$whole)) {
    factor <- chol(source$whole[units, units, drop = FALSE] + diag(1, length(units)))
    effect <- backsolve(factor, source$b[units, , drop = FALSE], transpose = TRUE)
    return(list(penalised = source$total - sum(effect^2)))
  }
  X <- unit_part(source, units)$X
  s <- ncol(X)
  basis <- qr.Q(qr(rbind(X, diag(1, s)), tol = 0))[seq_len(nrow(X)), , drop = FALSE]
  effect <- crossprod(basis, source$y)
  A <- source$y - basis %*% effect
  list(penalised = source$total - sum(effect^2), A = A,
       squared = sum((A / (1 - source$leverage - rowSums(basis^2)))^2))
}

# The root ----------------------------------------------------------------------------------------

# The largest lower bound of each size: list(k, bound, A, gain). The dual is maximised over some
# active units. Units with too large a gain join them until there is none, all sizes sharing each
# pass over x. `sets` has a known set of each size.
proof_roots <- function(source, sizes, sets) {
  if (!is.null(source$whole)) return(lapply(sizes, whole_root, source = source))
  # the bounds by the residuals of the known sets
  A <- lapply(sets, function(set) set_errors(source, set)$A)
  gain <- unit_gains(source, A)
  roots <- Map(function(k, set, A, i) {
    share <- replace(numeric(length(source$first)), set, 1)
    raised(source, list(k = k, bound = -Inf, share = share), A, gain[, i])
  }, sizes, sets, A, seq_along(A))
  # the units of the known sets, those with the largest gains, and with the largest products with Y
  largest <- function(values, count) {
    source$free[utils::head(order(values[source$free], decreasing = TRUE), count)]
  }
  products <- rowsum(rowSums(source$terms$b^2), source$of)
  by_gain <- lapply(roots, function(root) largest(root$gain, 200L))
  active <- intersect(unique(c(unlist(sets), unlist(by_gain), largest(products, 50L))), source$free)
  open <- which(sizes > length(source$given))
  while (length(open)) {
    part <- unit_part(source, active)
    solved <- lapply(roots[open], solved_root, source = source, part = part, active = active)
    gain <- priced(source, roots[open], solved, active)
    # units that are not active although their gain is above the least in the support
    waiting <- setdiff(source$free, active)
    joining <- unlist(Map(function(one, gain) {
      above <- waiting[gain[waiting] > one$least]
      utils::head(above[order(gain[above], decreasing = TRUE)], 150L)
    }, solved, gain))
    roots[open] <- Map(raised, list(source), roots[open], lapply(solved, `[[`, "A"), gain)
    for (i in seq_along(open)) roots[[open[i]]]$share[active] <- solved[[i]]$share
    gap <- mapply(function(one, root) one$value - root$bound, solved, roots[open])
    open <- open[gap > 1e-9 * source$total]
    if (!length(joining)) break
    active <- c(active, unique(joining))
  }
  roots
}

# The gains of all units at each solution, by one pass over the units that matter: a unit whose gain
# cannot exceed the smallest gain in the support of any size keeps an upper bound of its gain.
priced <- function(source, roots, solved, active) {
  upper <- Map(function(root, one) {
    drift <- sqrt(sum((one$A - root$A)^2))
    gain <- ((sqrt(root$gain) + source$norm * drift) * (1 + 1e-12))^2
    replace(gain, active, one$gain)
  }, roots, solved)
  matters <- Map(function(gain, one) which(gain >= one$least), upper, solved)
  units <- sort(setdiff(unlist(matters), active))
  if (!length(units)) return(upper)
  gain <- unit_gains(source, lapply(solved, `[[`, "A"), units)
  lapply(seq_along(upper), function(i) replace(upper[[i]], units, gain[, i]))
}

# The root of one size where X'X is whole, which needs no passes over x.
whole_root <- function(k, source) {
  terms <- part_terms(source, source$free)
  solved <- dual_of(terms, terms$start, k, NULL, source$total)
  gain <- replace(numeric(length(source$first)), source$free, solved$gain)
  list(k = k, bound = solved$bound, gain = gain)
}

# A root with the bound by A, if that is larger than its own.
raised <- function(source, root, A, gain) {
  bound <- dual_bound(source, A, gain, root$k)
  if (bound > root$bound) root[c("bound", "A", "gain")] <- list(bound, A, gain)
  root
}

# The dual over the units of a part: list(value, share, A, gain, least: the smallest gain in the
# support, at most the gain of the last unit that counts).
solved_root <- function(root, source, part, active) {
  X <- lifted(source, part$X)
  y <- lifted(source, source$y)
  found <- dual_of(proof_terms(X, y), part$start, root$k - length(source$given),
                   root$share[active], source$total)
  A <- lifted(source, y - X %*% matrix(found$beta, ncol(X)))
  gain <- rowsum(rowSums(crossprod(part$X, A)^2), part$of)[, 1L]
  k <- root$k - length(source$given)
  least <- min(gain[found$share > 0], sort(gain, decreasing = TRUE)[k], na.rm = TRUE)
  list(value = found$value, share = found$share, A = A, gain = gain, least = least)
}

dual_of <- function(terms, start, k, share, total) {
  uninterrupted(.Call(C_subset_dual, terms, list(
    k = k, unit = start, share = share, tolerance = 1e-10 * total, max_iterations = 500L,
    threads = 1L, user_loss = NULL, progress = NULL
  )))
}

# The columns of a proof as src/gram.c reads them.
proof_terms <- function(X, y) {
  list(m = nrow(X), total = sum(y^2), diagonal = colSums(X^2), b = crossprod(X, y), X = X,
       whole = if (ncol(X) <= 1000L) crossprod(X))
}

# The units of a tree and their terms.
tree_part <- function(source, screened) {
  units <- c(source$given, screened$inside, screened$open)
  list(units = units, terms = part_terms(source, units))
}

# The terms of some units, with their `start`.
part_terms <- function(source, units) {
  if (is.null(source$whole)) {
    part <- unit_part(source, units)
    return(c(proof_terms(part$X, source$y), list(start = part$start)))
  }
  whole <- source$whole[units, units, drop = FALSE]
  list(m = 1L, total = source$total, diagonal = diag(whole), b = source$b[units, , drop = FALSE],
       X = NULL, whole = whole, start = c(0L, seq_along(units)))
}

# Units that are in all sets with a penalised error below a limit, and those that are in none.
screened_units <- function(source, root, limit) {
  free <- source$free
  k <- min(root$k - length(source$given), length(free))
  limit <- limit + proof_margin(source)
  gain <- root$gain[free]
  sorted <- c(Inf, sort(gain, decreasing = TRUE), -Inf)
  last <- sorted[k + 1L]
  following <- sorted[k + 2L]
  inside <- gain > following & root$bound + gain - following > limit
  outside <- gain < last & root$bound + last - gain > limit
  list(inside = free[inside], outside = free[outside], open = free[!inside & !outside])
}

# Errors that differ by less than this may differ by rounding.
proof_margin <- function(source) 1e-12 * source$total

# The tree ----------------------------------------------------------------------------------------

# The largest number of nodes of a tree, where the user gives none.
default_tree <- 20000

check_nodes <- function(nodes) {
  if (is.null(nodes)) return(default_tree)
  refuse_unless(is_number(nodes) && nodes >= 1, "nodes", "a number of at least 1", nodes)
  as.double(nodes)
}

# Branch and bound over the open units of a screened size: list(set, value, bound, nodes, status,
# ...), with sets in units. `task` is "penalised" or "squared", the error that is minimised below
# `cutoff`, or "list" for all sets with a penalised error of at most `cutoff`.
search_sets <- function(source, task, k, screened, cutoff, set = integer(), nodes = default_tree,
                        kept = 0L, progress = NULL, part = tree_part(source, screened)) {
  terms <- part$terms
  units <- part$units
  # after Ctrl-C the bound before the tree is enough
  if (source$state$stopped) nodes <- 1
  if (task == "squared") terms[c("Y", "h")] <- list(source$y, source$leverage)
  set <- if (all(set %in% units)) match(set, units) - 1L else integer()
  answer <- .Call(C_subset_tree, terms, list(
    task = match(task, c("penalised", "squared", "list")) - 1L, k = k, unit = terms$start,
    given = match(c(source$given, screened$inside), units) - 1L, set = set, cutoff = cutoff,
    first = 0L, nodes = as.double(nodes), kept = as.integer(kept), threads = 1L, user_loss = NULL,
    progress = progress
  ))
  if (answer$status == "interrupted") source$state$stopped <- TRUE
  answer$set <- if (answer$size > 0L) units[answer$set + 1L] else integer()
  answer$trace <- matrix(answer$trace, 3L)[, seq_len(answer$traced), drop = FALSE]
  listed <- seq_len(answer$listed)
  answer$sets <- matrix(units[answer$sets + 1L], k)[, listed, drop = FALSE]
  answer$values <- answer$values[listed]
  answer
}

# The largest number of sets that are listed.
listed_sets <- 1000L

# whether every set is in the list
is_listed <- function(found) found$status == "complete" && found$count == ncol(found$sets)

# The proof of one size by one criterion, whose value for the set of the fit is `own`. The search
# begins with the best of some `known` sets.
proof_of <- function(source, root, criterion, own, known, nodes, progress) {
  # the first one after exchanges for units with large gains, as the first node of a tree makes them
  first <- known[[1L]]
  largest <- order(root$gain[source$free], decreasing = TRUE)
  open <- setdiff(union(first, source$free[utils::head(largest, 200L)]), source$given)
  found <- search_sets(source, "penalised", root$k, list(open = open), Inf, first, nodes = 1)
  known <- unique(c(known, list(if (length(found$set)) found$set else first)))
  values <- vapply(known, function(set) set_errors(source, set)[[criterion]], 0)
  set <- known[[which.min(values)]]
  value <- min(values)
  # F(S)^2 / `squares` is at most the leave-one-out error of S
  squares <- sum(((1 - source$leverage) * source$y)^2)
  limit <- if (criterion == "squared") sqrt(value * squares) else value
  screened <- screened_units(source, root, limit)
  found <- search_sets(source, criterion, root$k, screened, value, set, nodes, progress = progress)
  if (length(found$set) && found$value < value) {
    set <- found$set
    value <- found$value
  }
  proved <- found$status == "complete"
  at_root <- if (criterion == "squared") max(0, root$bound)^2 / squares else root$bound
  found$trace[2L, ] <- pmax(found$trace[2L, ], at_root)
  list(size = root$k, criterion = criterion, value = value, own = own, limit = limit, set = set,
       bound = if (proved) value else max(found$bound, at_root), proved = proved,
       nodes = found$nodes, better = value < own - max(found$margin, proof_margin(source)),
       screened = lengths(screened), trace = found$trace, status = found$status)
}

# A row for each proof.
proof_table <- function(proofs) {
  of <- function(name, type) vapply(proofs, `[[`, type, name)
  units <- matrix(unlist(lapply(proofs, `[[`, "screened")), 3L)
  list2DF(list(
    size = of("size", 0L), criterion = of("criterion", ""), own = of("own", 0),
    value = of("value", 0), bound = of("bound", 0), proved = of("proved", NA),
    nodes = of("nodes", 0), better = of("better", NA), certain_in = units[1L, ],
    certain_out = units[2L, ], undecided = units[3L, ], limit = of("limit", 0)
  ))
}

proof_status <- function(proofs) {
  status <- vapply(proofs, `[[`, "", "status")
  if ("interrupted" %in% status) return("interrupted")
  if ("move_limit" %in% status) "node_limit" else "complete"
}
