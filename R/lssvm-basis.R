# Selection of the basis vectors of a kernel expansion.

#' Select basis vectors for a kernel expansion
#'
#' Selects the basis vectors of a kernel expansion: n rows of the data, or n points, the means of
#' clusters of rows. A selection by the response also gives the exact held-out error of every size.
#'
#' For rows \eqn{B} of the data, with \eqn{K_{BB}}{K_BB} their kernel matrix and
#' \eqn{k_B(x)}{k_B(x)} the vector of their kernels with \eqn{x}, the methods are:
#' * `"random"`: a simple random sample of n rows.
#' * `"greedy"`: Algorithm 1 of Pahikkala and others (2012). In each of n rounds `candidates` rows
#'   are drawn from those not yet chosen, and the one is added for which the model that minimises
#'   \deqn{\sum_j w_j \| y_j - b' z_j - A' k_B(x_j) \|^2 + \lambda \mathrm{tr}(A' K_{BB} A)}{ sum_j
#'   w_j || y_j - b' z_j - A' k_B(x_j) ||^2 + lambda tr(A' K_BB A)} has the smallest training error,
#'   the first sum. The best of 59 candidates is among the best 5 % of all rows with probability
#'   0.95. Weights \eqn{w} and covariates \eqn{z} are taken from the problem; without a problem
#'   there are none, as in `kernel_rls(intercept = FALSE, standardize = FALSE)`. With several
#'   responses their errors are summed.
#' * `"loo"`: in each round the row is added, of all rows, for which this model has the smallest
#'   exact error, leave-one-out or by `folds`. In our experience its models are no better than
#'   models by `"greedy"`, and it takes more time and memory: it minimises the error that its path
#'   reports.
#' * `"k_center"`: the first row is drawn, then each time the row farthest from all chosen ones is
#'   added, by the squared distance \eqn{k(x, x) + k(z, z) - 2 k(x, z)} in feature space, or without
#'   a kernel by the Euclidean distance (Gonzalez 1985). The largest distance of a row to its
#'   nearest basis vector is then at most twice the minimum over all sets of n rows.
#' * `"renyi"`: maximises the quadratic Renyi entropy
#'   \deqn{-\log \Big( \frac{1}{n^2} \sum_{i, j \in B} k(x_i, x_j) \Big)}{
#'   -log(mean of K_BB)}
#'   as in fixed-size LS-SVM (Suykens and others 2002). From n random rows, `20 * n` swaps of a
#'   random basis row for a random other row are tried; those that increase the entropy are kept.
#' * `"kmeans"`: the centres of [stats::kmeans()], the best of five random starts. They need not be
#'   rows. `kernel` is not used.
#' * `"cluster_mean"`: n rows are chosen by `"k_center"` with the Euclidean distance, every row is
#'   assigned to the nearest of them, and the points are the means of these clusters. They need not
#'   be rows, and lie inside the data, whereas rows by `"k_center"` lie at the edge. `kernel` is not
#'   used.
#'
#' **Errors.** `"greedy"` and `"loo"` give the exact held-out error of the models on the first 1, 2,
#' ..., n rows, leave-one-out or over `folds`; the others do so when `folds` is given. With the
#' default `basis = "remove"` a held-out row also leaves the basis, and the error equals the error
#' of [kernel_rls()] at the same `lambda`. A basis selected by the responses of all rows makes the
#' errors optimistic: for an honest error select it again in each training part. Points have no
#' order, so they have no such errors here. `kernel_rls(basis = )` gives the error of all points.
#' The means of clusters then contain information from the held-out rows of `x`, but not of `y`.
#' [cross_validate()] of [fs_lssvm()] computes them again in each training part.
#'
#' Ties go to the candidate drawn first, and to the lowest row with `"k_center"` and `"loo"`;
#' differences of errors below 1e-12 of the sum of squares of the response are ties, and so are
#' differences of distances below rounding error. A candidate whose kernel column is linearly
#' dependent on the columns of the chosen rows (Schur complement at most 1e-12 of its penalised sum
#' of squares, for `"loo"` 1e-9 of its penalty) does not change the model: it is skipped unless all
#' candidates are dependent; then the first is added.
#'
#' All methods but `"loo"` use R's random numbers, so `set.seed()` before the call reproduces them.
#'
#' @param x The points: a numeric matrix, sparse matrix or data frame (m x d, rows are points), or a
#'   problem from [as_problem()], whose columns are centred and scaled first when it is
#'   standardised, as [kernel_rls()] does. With `kernel = "precomputed"` the m x m kernel matrix.
#' @param n Number of basis vectors, a whole number between 1 and m.
#' @param method How they are chosen: `"random"` (the default), `"greedy"`, `"loo"`, `"k_center"`,
#'   `"renyi"`, `"kmeans"` or `"cluster_mean"`, see Details.
#' @param ... Must be empty: the arguments below are given by name.
#' @param y The response for `"greedy"`, `"loo"` and `folds`, in any form that [as_problem()] takes;
#'   not given when `x` is a problem.
#' @param kernel The kernel, see [kernels], with a single width; needed by `"greedy"`, `"loo"`,
#'   `"renyi"` and `folds`.
#' @param lambda Ridge parameter of the models that are compared, a positive number; 1 by default.
#' @param candidates Number of rows that `"greedy"` draws in each round, 59 by default (all
#'   remaining rows if there are fewer).
#' @param folds Which rows are held out together, see [make_folds()]; `NULL` for `"loo"` where the
#'   choice is by the response, and for no errors otherwise. Method `"loo"` takes one partition.
#' @param basis What becomes of basis vectors whose rows are held out: `"remove"` or `"keep"`, as in
#'   [holdout()].
#' @param shift Added to the penalty of the models whose errors are given, as in [kernel_rls()].
#' @param threads Number of OpenMP threads of method `"loo"`; the result does not depend on it.
#'
#' @return An integer vector of n distinct row numbers in the order chosen. With errors it is of
#'   class `sparsels_basis`, which prints as a summary and is accepted wherever row numbers are: its
#'   attribute `path` is a data frame with a row for every size: `size`, the `row` added, the
#'   `criterion`, which is the weighted mean squared held-out error, its standard error `se` and,
#'   for classes, `error`, the misclassification rate. `[` and `as.integer()` give plain numbers.
#'   For `"kmeans"` and `"cluster_mean"` an n x d matrix of points, on the user's scale.
#'
#' @section Cost: With c candidates, `"greedy"` takes O(c m (n^2 + n d)) time and about
#' m (n + 5 c) doubles; `"loo"` O(m^2 (n + d)) time and 2 m^2 + m n doubles, with folds twice the
#' time and 4 m^2 doubles, or 5 m^2 with `basis = "remove"`; `"k_center"` and `"cluster_mean"`
#' O(mnd) time, or n times the nonzeros of a sparse x, and two copies of x; `"renyi"` O(n^2 d) time,
#' on a sparse `x` a pass over x for every swap; `"kmeans"` O(mnd) for every pass over the rows.
#' Only `"loo"` makes an m x m matrix. The errors take O(m n (n + d)) time for single rows, and for
#' folds of h rows O(m n min(h, n) (h + n)) besides. Ctrl-C during `"loo"` returns the rows chosen
#' so far, with a warning of class `sparsels_interrupted`.
#'
#' @section Errors:
#' Of class `sparsels_error_input`, naming the argument: `n` out of range, no kernel or no response
#' where one is needed, a kernel with several widths, missing or infinite values in `x`, weights of
#' 0 and folds that leave covariates without rows where errors are computed, folds for points, a
#' precomputed kernel that is not square and symmetric or is given for points, and fewer than n
#' different rows for `"kmeans"` and `"cluster_mean"`.
#'
#' @references Pahikkala, T., Suominen, H., Boberg, J. (2012). Efficient cross-validation for
#' kernelized least-squares regression with sparse basis expansions. Machine Learning 87, 381-407.
#' \doi{10.1007/s10994-012-5287-6}
#'
#' Gonzalez, T. F. (1985). Clustering to minimize the maximum intercluster distance. Theoretical
#' Computer Science 38, 293-306. \doi{10.1016/0304-3975(85)90224-5}
#'
#' Smola, A. J., Bartlett, P. L. (2001). Sparse greedy Gaussian process regression. Advances in
#' Neural Information Processing Systems 13, 619-625.
#'
#' Suykens, J. A. K., Van Gestel, T., De Brabanter, J., De Moor, B., Vandewalle, J. (2002). Least
#' Squares Support Vector Machines. World Scientific, Singapore. \doi{10.1142/5089}
#'
#' @examples
#' set.seed(1)
#' x <- matrix(runif(400), 200)
#' y <- sin(6 * x[, 1]) + x[, 2] + rnorm(200) / 10
#' select_basis(x, 5)
#' rows <- select_basis(x, 5, method = "greedy", y = y, kernel = kernel_gaussian(2))
#' rows
#' kernel_rls(x, y, kernel = kernel_gaussian(2), basis = rows, lambda = 1, intercept = FALSE,
#'            standardize = FALSE)
#' select_basis(x, 5, method = "k_center")
#' select_basis(x, 3, method = "cluster_mean")
#' @export
select_basis <- function(x, n, method = c("random", "greedy", "loo", "k_center", "renyi", "kmeans",
                                          "cluster_mean"), ..., y = NULL, kernel = NULL,
                         lambda = 1, candidates = 59, folds = NULL, basis = c("remove", "keep"),
                         shift = "auto", threads = 1) {
  check_dots(..., known = names(formals(select_basis)))
  method <- choice_or_first(method, "method", eval(formals(select_basis)$method))
  values <- basis_values(x)
  check_given(n, "n")
  n <- check_count(n, "n", nrow(values), "the number of rows")
  lambda <- check_positive(lambda, "lambda")
  candidates <- check_count(candidates, "candidates")
  if (is.null(folds) && method %in% c("greedy", "loo")) folds <- "loo"
  scored <- !is.null(folds)
  means <- method %in% c("kmeans", "cluster_mean")
  stop_argument_if(scored && means,
                   "`folds` must be NULL with method \"%s\": its points are no rows %s", method,
                   "and have no order; kernel_rls(basis = ) gives the error of all of them")
  kernel <- basis_kernel(kernel, scored || method == "renyi", method, x, values)
  problem <- NULL
  points <- values
  if (inherits(x, "sparsels_problem")) {
    # distances do not depend on the centre
    problem <- kernel_scale(x, shift = !means && (is.null(kernel) || kernel$shift))
    points <- kernel_points(problem, values)
  }
  if (scored) scoring <- basis_scoring(x, values, y, lambda, folds, basis, shift, threads)
  chosen <- switch(method,
    random = sample.int(nrow(points), n),
    greedy = greedy_basis(scoring, points, kernel, n, candidates),
    loo = loo_basis(scoring, points, kernel, n),
    k_center = farthest_first(points, kernel, n)$rows,
    renyi = renyi_basis(points, kernel, n)$rows,
    kmeans = kmeans_basis(points, n),
    cluster_mean = cluster_mean_basis(points, n)
  )
  if (means && !is.null(problem)) {
    # the means on the user's scale
    chosen <- chosen * rep(problem$columns$scale, each = n) + rep(problem$columns$centre, each = n)
  }
  if (!scored) return(chosen)
  structure(chosen, path = basis_path(scoring, points, kernel, chosen), method = method,
            label = squared_criterion(scoring$problem, scoring$folds)$label, rows = nrow(points),
            class = "sparsels_basis")
}

# Arguments ---------------------------------------------------------------------------------------

# the rows as a double matrix or dgCMatrix
basis_values <- function(x) {
  check_given(x, "x")
  if (inherits(x, "sparsels_problem")) {
    check_sealed(x)
    check_has_x(x)
    values <- as_doubles(x$x)
    check_still_finite(x, colSums(values))
    return(values)
  }
  if (is.data.frame(x)) x <- design_matrix(frame_design(x, intercept = TRUE), x, "x")
  stop_input_if(length(dim(x)) != 2L, "`x` must be a matrix, data frame or problem, not %s%s",
                describe(x), matrix_hint(x))
  x <- as_doubles(as_values(x))
  # unique() of a matrix of another class may not return distinct rows
  if (is.matrix(x)) x <- unclass(x)
  check_size(x, "x")
  check_finite(x, "x")
  x
}

# the kernel, checked, or NULL when none is given and none is required
basis_kernel <- function(kernel, needed, method, x, values) {
  if (is.null(kernel) && !needed) return(NULL)
  kernel <- single_kernel(kernel)
  if (is_precomputed(kernel)) {
    stop_argument_if(method %in% c("kmeans", "cluster_mean"),
                     "method \"%s\" needs the points: `kernel` cannot be \"precomputed\"", method)
    if (inherits(x, "sparsels_problem")) kernel_problem(x, kernel) else check_precomputed(values)
  }
  kernel
}

# The checked settings by which models on basis vectors are judged: list(problem, lambda, folds,
# remove: whether basis vectors are removed with their rows, shift, threads).
basis_scoring <- function(x, values, y, lambda, folds, basis, shift, threads) {
  problem <- working_copy(if (inherits(x, "sparsels_problem")) as_problem(x, y) else
    as_problem(values, y, intercept = FALSE, standardize = FALSE))
  check_all_trained(problem)
  folds <- as_folds(folds, problem)
  refuse_lost_covariates(problem, folds)
  basis <- choice_or_first(basis, "basis", c("remove", "keep"))
  check_shift(shift)
  list(problem = problem, lambda = lambda, folds = folds, remove = basis == "remove",
       shift = shift, threads = check_count(threads, "threads"))
}

# Kernel values between rows of x. If the kernel is precomputed, x is the kernel matrix.
kernel_between <- function(kernel, x, rows, columns) {
  if (is_precomputed(kernel)) return(unname(as.matrix(x[rows, columns, drop = FALSE])))
  kernel_matrix(kernel, x[rows, , drop = FALSE], x[columns, , drop = FALSE])
}

nearly_largest <- function(value, slack) which(value >= max(value) - slack)[1L]

# Randomised greedy selection ---------------------------------------------------------------------

# K_B (m x k) are the kernel columns of the chosen rows that are not linearly dependent, in working
# coordinates. With L L' = K_B'K_B + lambda K_BB and Z = K_B L^-T the model has the fit Z Z'y. The
# state has L, Z, Z'Z and the residual. Adding a row adds a row to L and a column to Z.
greedy_basis <- function(scoring, points, kernel, n, candidates) {
  work <- working(scoring$problem)
  work$x <- points
  lambda <- scoring$lambda
  m <- nrow(work$y)
  slack <- 1e-12 * sum(work$y^2)
  state <- list(rows = integer(), L = matrix(0, 0L, 0L), Z = matrix(0, m, 0L),
                ZZ = matrix(0, 0L, 0L), residual = work$y)
  chosen <- integer()
  for (round in seq_len(n)) {
    remaining <- setdiff(seq_len(m), chosen)
    drawn <- remaining[sample.int(length(remaining), min(candidates, length(remaining)))]
    trial <- try_rows(state, work, kernel, lambda, drawn)
    best <- nearly_largest(trial$gain, slack)
    # a linearly dependent row does not change the model
    if (!trial$dependent[best]) {
      t <- trial$t[, best, drop = FALSE]
      root <- sqrt(trial$s[best])
      g <- trial$K[, best, drop = FALSE] - state$Z %*% t
      border <- crossprod(state$Z, g / root)
      state <- list(
        rows = c(state$rows, drawn[best]), L = rbind(cbind(state$L, 0 * t), c(t, root)),
        Z = cbind(state$Z, g / root),
        ZZ = rbind(cbind(state$ZZ, border), c(border, sum((g / root)^2))),
        residual = state$residual - g %*% trial$beta[best, , drop = FALSE]
      )
    }
    chosen <- c(chosen, drawn[best])
  }
  chosen
}

# The effect of adding each of the drawn rows: its row of L is [t', sqrt(s)], its coefficient is
# beta, and `gain` is the reduction of the training error.
try_rows <- function(state, work, kernel, lambda, drawn) {
  raw <- kernel_between(kernel, work$x, TRUE, drawn)
  K <- project_out(work$root_w * raw, work$q)
  squares <- colSums(K^2)
  penalised <- squares + lambda * raw[cbind(drawn, seq_along(drawn))]
  q <- crossprod(state$Z, K)
  t <- q + lambda * solve_lower(state$L, raw[state$rows, , drop = FALSE])
  s <- penalised - colSums(t^2)
  beta <- (crossprod(K, work$y) - crossprod(t, crossprod(state$Z, work$y))) / s
  # |g|^2 and g'residual for g = K - Z t, without computing g
  gg <- squares - 2 * colSums(t * q) + colSums(t * (state$ZZ %*% t))
  ge <- crossprod(K, state$residual) - crossprod(t, crossprod(state$Z, state$residual))
  dependent <- s <= 1e-12 * penalised
  gain <- ifelse(dependent, -Inf, rowSums(beta * (2 * ge - beta * pmax(gg, 0))))
  list(K = K, t = t, s = s, beta = beta, dependent = dependent, gain = gain)
}

# Leave-one-out -----------------------------------------------------------------------------------

# Greedy choice among all rows by the held-out error itself.
loo_basis <- function(scoring, points, kernel, n) {
  folds <- scoring$folds
  stop_input_if(ncol(folds$ids) > 1L,
                "`folds` must be one partition for method \"loo\", not %d repeats", ncol(folds$ids))
  sets <- if (folds$loo) row_sets(list()) else fold_sets(folds$ids[, 1L])
  order <- if (folds$loo) seq_len(nrow(points)) else sets$order
  K <- kernel_between(kernel, points, TRUE, TRUE)
  if (identical(scoring$shift, "paper")) diag(K) <- diag(K) + 1e-7
  work <- working(scoring$problem)
  given <- list(
    K = if (is.unsorted(order)) K[order, , drop = FALSE] else K, penalty = K,
    shift = switch(as.character(scoring$shift), auto = 1e-10 * mean(diag(K)), paper = 0,
                   as.double(scoring$shift)),
    row = order(order), root_w = work$root_w[order], y = work$y[order, , drop = FALSE],
    z_basis = work$q[order, , drop = FALSE]
  )
  control <- list(k = n, lambda = scoring$lambda, start = if (folds$loo) integer() else sets$start,
                  removed = scoring$remove, threads = scoring$threads, user_loss = NULL,
                  progress = progress_bar(interactive(), "Choosing"))
  answer <- .Call(C_choose_centres, given, control)
  if (answer$status == "not_positive") stop_singular("the model without some of the rows")
  if (answer$size < n) warn_interrupted(answer$size, n, "basis vector")
  answer$chosen[seq_len(answer$size)]
}

# Farthest first ----------------------------------------------------------------------------------

# list(rows: the heads in order, owner: of each row the number of the nearest head). Of heads that
# are equal up to rounding the first one owns a row, so a head equal to an earlier one owns none.
farthest_first <- function(x, kernel, n) {
  if (is.null(kernel)) {
    # Euclidean distances are the distances of the linear kernel. Centring avoids cancellation.
    kernel <- kernel_linear()
    if (is.matrix(x)) x <- moved(x, colMeans(x))
  }
  diagonal <- if (is_precomputed(kernel)) unname(diag(x)) else kernel_diagonal(kernel, x)
  slack <- kernel_rounding * max(diagonal)
  column <- kernel_column(kernel, x)
  rows <- c(sample.int(nrow(x), 1L), integer(n - 1L))
  nearest <- rep(Inf, nrow(x))
  owner <- integer(nrow(x))
  for (round in seq_len(n)) {
    last <- rows[round]
    distance <- diagonal + (diagonal[last] - 2 * column(last))
    closer <- which(distance < nearest)
    owner[closer[distance[closer] < nearest[closer] - slack]] <- round
    nearest[closer] <- distance[closer]
    nearest[last] <- -Inf
    if (round < n) rows[round + 1L] <- nearly_largest(nearest, slack)
  }
  list(rows = rows, owner = owner)
}

# Renyi entropy -----------------------------------------------------------------------------------

# list(rows, total), where total is the sum of K_BB, which the swaps reduce
renyi_basis <- function(x, kernel, n) {
  order <- sample.int(nrow(x))
  rows <- order[seq_len(n)]
  others <- order[-seq_len(n)]
  total <- sum(kernel_between(kernel, x, rows, rows))
  for (attempt in seq_len(if (length(others)) 20L * n else 0L)) {
    removed <- sample.int(n, 1L)
    added <- sample.int(length(others), 1L)
    pair <- c(rows[removed], others[added])
    k <- kernel_between(kernel, x, pair, c(rows[-removed], pair))
    shared <- seq_len(n - 1L)
    change <- 2 * (sum(k[2L, shared]) - sum(k[1L, shared])) + k[2L, n + 1L] - k[1L, n]
    if (change < 0) {
      total <- total + change
      swapped <- rows[removed]
      rows[removed] <- others[added]
      others[added] <- swapped
    }
  }
  list(rows = rows, total = total)
}

# K-means -----------------------------------------------------------------------------------------

# The means of the rows that are nearest to each of n heads.
cluster_mean_basis <- function(x, n) {
  owner <- farthest_first(x, NULL, n)$owner
  size <- tabulate(owner, n)
  if (any(size == 0L)) stop_few_rows(sum(size > 0L), n)
  means <- as.matrix(Matrix::sparseMatrix(owner, seq_along(owner), x = 1 / size[owner]) %*% x)
  dimnames(means) <- if (!is.null(colnames(x))) list(NULL, colnames(x))
  means
}

stop_few_rows <- function(distinct, n) {
  stop_input("`n` must be at most %d here, not %d: `x` has only so many distinct rows", distinct, n)
}

kmeans_basis <- function(x, n) {
  stop_input_if(!is.matrix(x), "method \"kmeans\" needs a dense `x`: give as.matrix(x)")
  rownames(x) <- NULL
  distinct <- unique(x)
  if (nrow(distinct) < n) stop_few_rows(nrow(distinct), n)
  if (nrow(distinct) == n) return(distinct)
  unit <- exact_unit(x)
  centres <- unit * stats::kmeans(x / unit, n, iter.max = 100L, nstart = 5L)$centers
  dimnames(centres) <- if (!is.null(colnames(x))) list(NULL, colnames(x))
  centres
}

# The path of a basis -----------------------------------------------------------------------------

# The exact held-out errors of the models on the first basis vectors: a data frame with a row for
# each size: `size`, the `row` that was added, `criterion`, `se` and, for classes, `error`, as in
# the path of kernel_rls(). `points` are the rows as the kernel takes them.
#
# The models on the first 1, 2, ..., n basis vectors share one QR decomposition: with K_BB = C'C the
# features K C^-1 of the first s vectors are the first s of all, and so are the columns of Z in
# K C^-1 = Z R, the rows of the penalty left out, whose fit is Z Z'y. The coefficients are W Z'y for
# W = C^-1 R^-1, upper triangular.
basis_path <- function(scoring, points, kernel, rows) {
  problem <- scoring$problem
  folds <- scoring$folds
  K <- kernel_between(kernel, points, TRUE, rows)
  KBB <- K[rows, , drop = FALSE]
  penalty <- shifted_cholesky((KBB + t(KBB)) / 2, scoring$shift)
  K <- with_kernel_shift(K, rows, penalty$shift)
  work <- working(problem)
  n <- length(rows)
  features <- backsolve(penalty$C, t(project_out(work$root_w * K, work$q)), transpose = TRUE)
  parts <- qr(rbind(t(features), diag(sqrt(scoring$lambda), n)), tol = 1e-300)
  Z <- qr.Q(parts)[seq_len(nrow(K)), , drop = FALSE]
  W <- backsolve(penalty$C, backsolve(qr.R(parts), diag(n)))
  nested <- list(Z = Z, W = W, t = crossprod(Z, work$y), y = work$y, q = work$q, rows = rows)
  residuals <- lapply(seq_len(ncol(folds$ids)), function(repetition) {
    residual <- if (folds$loo) nested_single_rows(nested, scoring$remove) else
      nested_folds(nested, folds$ids[, repetition], scoring$remove)
    residual / sqrt(problem$rows$weight)
  })
  data.frame(size = seq_along(rows), row = rows, error_table(problem, folds, residuals))
}

# Leave-one-out residuals of every size in working coordinates, m x L x n. If basis vector i is a
# row that leaves with its basis vector, its residual comes from the model with coefficient i zero.
# With w the row i of W, this model takes Z_i w / |w| from the leverage of the row, squared, and
# from its fit.
nested_single_rows <- function(nested, remove) {
  residual <- nested$y
  d <- 1 - rowSums(nested$q^2)
  squared <- product <- numeric(length(nested$rows)) # |w|^2 and Z_i w of each basis vector
  coefficient <- matrix(0, length(nested$rows), ncol(nested$y))
  out <- array(0, c(dim(nested$y), length(nested$rows)))
  for (size in seq_along(nested$rows)) {
    z <- nested$Z[, size]
    w <- nested$W[, size]
    residual <- residual - outer(z, nested$t[size, ])
    d <- d - z^2
    held <- residual / d
    squared <- squared + w^2
    product <- product + z[nested$rows] * w
    coefficient <- coefficient + outer(w, nested$t[size, ])
    if (remove) {
      i <- seq_len(size)
      rows <- nested$rows[i]
      held[rows, ] <- (residual[rows, , drop = FALSE] +
                         product[i] / squared[i] * coefficient[i, , drop = FALSE]) /
        (d[rows] + product[i]^2 / squared[i])
    }
    out[, , size] <- held
  }
  out
}

# Held-out residuals of every size for a partition of the rows, m x L x n. Without the basis vectors
# of the held-out rows, Z_H is projected to the directions in which their coefficients are zero.
nested_folds <- function(nested, ids, remove) {
  out <- array(0, c(dim(nested$y), length(nested$rows)))
  for (held in split(seq_along(ids), ids)) {
    member <- if (remove) which(nested$rows %in% held)
    for (size in seq_along(nested$rows)) {
      first <- seq_len(size)
      Z <- nested$Z[held, first, drop = FALSE]
      removed <- member[member <= size]
      if (length(removed)) {
        lost <- qr.Q(qr(t(nested$W[removed, first, drop = FALSE]), tol = 1e-300))
        Z <- if (ncol(lost) < size) Z - tcrossprod(Z %*% lost, lost) else 0 * Z
      }
      residual <- nested$y[held, , drop = FALSE] - Z %*% nested$t[first, , drop = FALSE]
      B <- cbind(nested$q[held, , drop = FALSE], Z)
      out[held, , size] <- if (ncol(B) < nrow(B)) {
        residual + B %*% solve(diag(ncol(B)) - crossprod(B), crossprod(B, residual))
      } else {
        solve(diag(nrow(B)) - tcrossprod(B), residual)
      }
    }
  }
  out
}

# The object --------------------------------------------------------------------------------------

#' @export
print.sparsels_basis <- function(x, ...) {
  path <- attr(x, "path")
  best <- which.min(path$criterion)
  say(sprintf("%d of %s, by method \"%s\", in the order chosen: %s", length(x),
              counted(attr(x, "rows"), "row"), attr(x, "method"),
              paste(as.integer(x), collapse = ", ")))
  say(sprintf("smallest %s: %s, with the first %d", attr(x, "label"),
              format(path$criterion[best], digits = 4L), path$size[best]))
  print(utils::head(path, 10L), row.names = FALSE, digits = 4L)
  print_more(nrow(path) - 10L, "size", "attr(, \"path\")")
  invisible(x)
}

#' @export
`[.sparsels_basis` <- function(x, ...) as.integer(x)[...]
