# Selection of the basis vectors of a kernel expansion.

#' Select basis vectors for a kernel expansion
#'
#' Chooses the basis vectors of a kernel expansion: n rows of the data, or with `"kmeans"` n points.
#'
#' For rows \eqn{B} of the data, with \eqn{K_{BB}}{K_BB} their kernel matrix and
#' \eqn{k_B(x)}{k_B(x)} the vector of their kernels with \eqn{x}, the methods are:
#' * `"random"`: a simple random sample of n rows.
#' * `"greedy"`: Algorithm 1 of Pahikkala and others (2012). In each of n rounds `candidates` rows
#'   are drawn from those not yet chosen, and the one is added for which the model that minimises
#'   \deqn{\sum_j w_j \| y_j - b' z_j - A' k_B(x_j) \|^2 + \lambda \mathrm{tr}(A' K_{BB} A)}{
#'   sum_j w_j || y_j - b' z_j - A' k_B(x_j) ||^2 + lambda tr(A' K_BB A)}
#'   has the smallest training error, the first sum. The best of 59 candidates is among the best 5 %
#'   of all rows with probability 0.95. Weights \eqn{w} and covariates \eqn{z} are those of the
#'   problem; without a problem there are none, as in [kernel_rls()]. With several responses their
#'   errors are summed.
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
#'
#' Ties go to the candidate drawn first, and to the lowest row with `"k_center"`; differences of
#' training errors below 1e-12 of the sum of squares of the response are ties, and so are
#' differences of distances below rounding error. A candidate whose kernel column is linearly
#' dependent on those of the chosen rows (Schur complement at most 1e-12 of its penalised sum of
#' squares) does not change the model: `"greedy"` skips it unless all candidates of the round are
#' dependent; then it adds the first drawn.
#'
#' All methods use R's random numbers, so `set.seed()` before the call reproduces them. Only
#' `"greedy"` uses the response, `lambda` and `candidates`. Its basis depends on the responses of
#' all rows, so that a held-out error computed with it afterwards is optimistic, especially if the
#' basis is small and is kept while rows are held out.
#'
#' @param x The points: a numeric matrix, sparse matrix or data frame (m x d, rows are points), or a
#'   problem from [as_problem()], whose columns are centred and scaled first when it is
#'   standardised, as [kernel_rls()] does. With `kernel = "precomputed"` the m x m kernel matrix.
#' @param n Number of basis vectors, a whole number between 1 and m.
#' @param method How they are chosen: `"random"` (the default), `"greedy"`, `"k_center"`, `"renyi"`
#'   or `"kmeans"`, see Details.
#' @param ... Must be empty: the arguments below are given by name.
#' @param y The response for `"greedy"`, in any form that [as_problem()] takes; not given when `x`
#'   is a problem.
#' @param kernel The kernel, see [kernels], with a single width; needed by `"greedy"` and
#'   `"renyi"`.
#' @param lambda Ridge parameter of the models that `"greedy"` compares, a positive number; 1 by
#'   default.
#' @param candidates Number of rows that `"greedy"` draws in each round, 59 by default (all
#'   remaining rows if there are fewer).
#'
#' @return An integer vector of n distinct row numbers in the order chosen. For `"kmeans"` an n x d
#'   matrix of points, on the user's scale.
#'
#' @section Cost: With c candidates, `"greedy"` takes O(c m (n^2 + n d)) time and about
#' m (n + 5 c) doubles; `"k_center"` O(mnd) time, or n times the nonzeros of a sparse x, and two
#' copies of x; `"renyi"` O(n^2 d) time, on a sparse `x` a pass
#' over x for every swap; `"kmeans"` O(mnd) for every pass over the rows. No method makes an m x m
#' matrix.
#'
#' @section Errors:
#' Of class `sparsels_error_input`, naming the argument: `n` out of range, no kernel or no response
#' where one is needed, a kernel with several widths, missing or infinite values in `x`, a
#' precomputed kernel that is not square and symmetric or is given to `"kmeans"`, and fewer than n
#' different rows for `"kmeans"`.
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
#' select_basis(x, 5, method = "greedy", y = y, kernel = kernel_gaussian(2))
#' select_basis(x, 5, method = "k_center")
#' select_basis(x, 3, method = "kmeans")
#' @export
select_basis <- function(x, n, method = c("random", "greedy", "k_center", "renyi", "kmeans"), ...,
                         y = NULL, kernel = NULL, lambda = 1, candidates = 59) {
  check_dots(..., known = names(formals(select_basis)))
  methods <- c("random", "greedy", "k_center", "renyi", "kmeans")
  method <- choice_or_first(method, "method", methods)
  values <- basis_values(x)
  check_given(n, "n")
  n <- check_count(n, "n", nrow(values), "the number of rows")
  kernel <- basis_kernel(kernel, method, x, values)
  lambda <- check_positive(lambda, "lambda")
  candidates <- check_count(candidates, "candidates")
  # distances do not depend on the centre; the centres of "kmeans" are returned on the user's scale
  shift <- method != "kmeans" && (is.null(kernel) || kernel$shift)
  scaled_problem <- if (inherits(x, "sparsels_problem")) kernel_scale(x, shift)
  points <- if (is.null(scaled_problem)) values else kernel_points(scaled_problem, values)
  switch(method,
    random = sample.int(nrow(points), n),
    greedy = {
      work <- working(basis_problem(x, values, y))
      work$x <- points
      greedy_basis(work, kernel, n, lambda, candidates)
    },
    k_center = k_center_basis(points, kernel, n),
    renyi = renyi_basis(points, kernel, n)$rows,
    kmeans = user_points(scaled_problem, kmeans_basis(points, n))
  )
}

# Arguments ---------------------------------------------------------------------------------------

# the rows as a double matrix or dgCMatrix
basis_values <- function(x) {
  check_given(x, "x")
  if (inherits(x, "sparsels_problem")) {
    check_object(x)
    if (is.null(x$x)) stop_input("`x` is the problem stored in a fit, which has no data matrix")
    values <- as_doubles(x$x)
    check_still_finite(x, Matrix::colSums(values))
    return(values)
  }
  if (is.data.frame(x)) x <- design_matrix(frame_design(x, intercept = TRUE), x, "x")
  if (length(dim(x)) != 2L) {
    stop_input(sprintf("`x` must be a matrix, data frame or problem, not %s%s", describe(x),
                       drop_hint(x)))
  }
  x <- as_doubles(as_values(x))
  # unique() of a matrix of another class may not return distinct rows
  if (is.matrix(x)) x <- unclass(x)
  check_values(x, "x")
  x
}

# points of a standardised problem on the user's scale
user_points <- function(problem, points) {
  if (is.null(problem)) return(points)
  points * rep(problem$scale, each = nrow(points)) + rep(problem$centre, each = nrow(points))
}

basis_problem <- function(x, values, y) {
  if (inherits(x, "sparsels_problem")) return(as_problem(x, y))
  as_problem(values, y, intercept = FALSE, standardize = FALSE)
}

# the kernel, checked; NULL when none is given and none is needed
basis_kernel <- function(kernel, method, x, values) {
  if (is.null(kernel) && !method %in% c("greedy", "renyi")) return(NULL)
  kernel <- single_kernel(kernel)
  if (is_precomputed(kernel)) {
    if (method == "kmeans") {
      stop_input("method \"kmeans\" needs the points: `kernel` cannot be \"precomputed\"",
                 "sparsels_error_argument")
    }
    if (inherits(x, "sparsels_problem")) kernel_problem(x, kernel) else check_precomputed(values)
  }
  kernel
}

# kernel values between rows of x; x is the kernel matrix itself when that is precomputed
kernel_between <- function(kernel, x, rows, columns) {
  if (is_precomputed(kernel)) return(unname(as.matrix(x[rows, columns, drop = FALSE])))
  kernel_matrix(kernel, x[rows, , drop = FALSE], x[columns, , drop = FALSE])
}

kernel_of_rows <- function(kernel, x) {
  if (is_precomputed(kernel)) unname(Matrix::diag(x)) else kernel_diagonal(kernel, x)
}

nearly_largest <- function(value, slack) which(value >= max(value) - slack)[1L]

# Randomised greedy selection ---------------------------------------------------------------------

# K_B (m x k) are the kernel columns of the chosen rows that are not linearly dependent, in working
# coordinates. With L L' = K_B'K_B + lambda K_BB and Z = K_B L^-T the model has the fit Z Z'y. The
# state has L, Z, Z'Z and the residual; adding a row adds a row to L and a column to Z.
greedy_basis <- function(work, kernel, n, lambda, candidates) {
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
    if (!trial$dependent[best]) state <- add_row(state, trial, best)
    chosen <- c(chosen, drawn[best])
  }
  chosen
}

# The effect of adding each of the drawn rows: its row of L is [t', sqrt(s)], its coefficient beta,
# and `gain` the reduction of the training error.
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
  list(drawn = drawn, K = K, t = t, s = s, beta = beta, dependent = dependent, gain = gain)
}

add_row <- function(state, trial, chosen) {
  t <- trial$t[, chosen, drop = FALSE]
  root <- sqrt(trial$s[chosen])
  g <- trial$K[, chosen, drop = FALSE] - state$Z %*% t
  z <- g / root
  border <- crossprod(state$Z, z)
  list(
    rows = c(state$rows, trial$drawn[chosen]),
    L = rbind(cbind(state$L, 0 * t), c(t, root)),
    Z = cbind(state$Z, z),
    ZZ = rbind(cbind(state$ZZ, border), c(border, sum(z^2))),
    residual = state$residual - g %*% trial$beta[chosen, , drop = FALSE]
  )
}

# forwardsolve() refuses an empty system
solve_lower <- function(L, b) if (nrow(L)) forwardsolve(L, b) else b

# Farthest first ----------------------------------------------------------------------------------

k_center_basis <- function(x, kernel, n) {
  if (is.null(kernel)) {
    # Euclidean distances are those of the linear kernel; centring avoids cancellation
    kernel <- kernel_linear()
    if (is.matrix(x)) x <- moved(x, colMeans(x))
  }
  diagonal <- kernel_of_rows(kernel, x)
  slack <- kernel_rounding * max(diagonal)
  column <- kernel_column(kernel, x)
  rows <- c(sample.int(nrow(x), 1L), integer(n - 1L))
  nearest <- rep(Inf, nrow(x))
  for (round in seq_len(n - 1L)) {
    last <- rows[round]
    nearest <- pmin(nearest, diagonal + (diagonal[last] - 2 * column(last)))
    nearest[last] <- -Inf
    rows[round + 1L] <- nearly_largest(nearest, slack)
  }
  rows
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
    change <- swap_change(x, kernel, rows[-removed], rows[removed], others[added])
    if (change < 0) {
      total <- total + change
      swapped <- rows[removed]
      rows[removed] <- others[added]
      others[added] <- swapped
    }
  }
  list(rows = rows, total = total)
}

# the change of the sum of K_BB when `new` replaces `old` in the basis with the rows `rest`
swap_change <- function(x, kernel, rest, old, new) {
  k <- kernel_between(kernel, x, c(old, new), c(rest, old, new))
  n <- length(rest) + 1L
  shared <- seq_along(rest)
  2 * (sum(k[2L, shared]) - sum(k[1L, shared])) + k[2L, n + 1L] - k[1L, n]
}

# K-means -----------------------------------------------------------------------------------------

kmeans_basis <- function(x, n) {
  if (!is.matrix(x)) stop_input("method \"kmeans\" needs a dense `x`: give as.matrix(x)")
  rownames(x) <- NULL
  distinct <- unique(x)
  if (nrow(distinct) < n) {
    stop_input(sprintf("`n` must be at most %d here, not %d: `x` has only so many distinct rows",
                       nrow(distinct), n))
  }
  if (nrow(distinct) == n) return(distinct)
  # dividing by a power of two is exact, and prevents overflow and underflow of squares
  unit <- 2^floor(log2(max(abs(x))))
  centres <- unit * stats::kmeans(x / unit, n, iter.max = 100L, nstart = 5L)$centers
  dimnames(centres) <- if (!is.null(colnames(x))) list(NULL, colnames(x))
  centres
}
