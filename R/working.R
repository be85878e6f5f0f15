# A problem in the form that kernels use: statistics of its columns from one pass, and working
# coordinates.

# Centre, scale, usable ----------------------------------------------------------------------------

# Centre, scale and cross products of all columns in one pass over x, which also finds values that
# are not finite. With `missing = "mean"` x is completed first.
measure_columns <- function(problem, called = "x", threads = 1L) {
  problem <- compile_rows(with_unpenalised(complete_columns(problem, called, threads)))
  basis <- covariate_basis(problem, strict = FALSE)
  root_w <- root_weights(problem)
  response <- root_w * working_response(problem, basis)
  # the columns are centred, so their products with the intercept are 0
  covariates <- root_w * basis[, seq_len(ncol(basis)) > problem$intercept, drop = FALSE]
  moments <- column_moments(problem$x, problem$weights, problem$intercept || is_ranked(problem),
                            cbind(response, covariates), threads)
  if (!all(is.finite(moments$squares))) {
    check_finite(problem$x, called, hint = missing_hint(called))
  }
  check_squares(problem, moments$squares, called)
  problem[c("centre", "squares")] <- moments[c("centre", "squares")]
  of_response <- seq_len(ncol(response))
  problem$products <- moments$products[, of_response, drop = FALSE]
  problem$scale <- rep(1, ncol(problem))
  squares <- if (is_ranked(problem)) within_squares(problem, threads) else problem$squares
  problem$rss <- column_rss(problem, squares, basis, moments$products[, -of_response, drop = FALSE])
  problem$usable <- is_usable(problem) & !is_set_apart(problem)
  if (problem$standardize) {
    rms <- sqrt(squares / sum(problem$weights))
    problem$scale[problem$usable] <- rms[problem$usable]
  }
  if (!is.null(problem$penalty)) problem$scale <- problem$scale * penalty_divisor(problem)
  problem
}

# The problem with the means of its rows for missing values, if it replaces missing values by means.
complete_columns <- function(problem, called, threads) {
  if (is.null(problem$fill)) return(problem)
  found <- column_means(problem, threads)
  if (!all(is.finite(found$mean))) check_finite(as_given(problem)$x, called, gaps = TRUE)
  problem$missing <- as.integer(found$missing)
  check_coded(problem, called)
  # A column without values is constant. Sums that overflow are refused with the squares.
  put_means(problem, ifelse(is.finite(found$mean), found$mean, 0))
}

# Refuses columns whose sum of squares underflows, or overflows when two of them are multiplied.
# Standardised columns are not multiplied on their own scale, so that their bound is wider.
check_squares <- function(problem, squares, called) {
  large <- if (problem$standardize) 1 / smallest_square else 1 / sqrt(smallest_square)
  fine <- squares == 0 | squares >= smallest_square & squares <= large
  bad <- which(is.na(fine) | !fine)
  if (length(bad)) {
    too_large <- !isTRUE(squares[bad[1L]] < smallest_square)
    stop_input(sprintf("`%s` has values too %s to square (first: column '%s'): %s", called,
                       if (too_large) "large" else "small", problem$names[bad[1L]],
                       "rescale it"))
  }
}

# list(centre, squares, products). `centre` is the weighted mean, 0 without intercept. `squares` is
# the weighted sum of squares about it. `products` is x'v for v (m x L), whose columns sum to 0 if
# there is an intercept.
column_moments <- function(x, w, intercept, v = matrix(0, nrow(x), 0L), threads = 1L) {
  moments <- .Call(C_column_moments, x, w, intercept, v, threads)
  if (is.null(moments)) raise_interrupt()
  dim(moments$products) <- c(ncol(x), ncol(v))
  moments
}

# A column is usable when its residual norm given the covariates exceeds rounding error: 1e-10 of
# the norm of the centred column, and 1e-13 of the norm of the column itself. So 1e6 + noise is
# usable and a column of 0.1 is not.
is_usable <- function(problem) {
  sqrt(problem$rss) > 1e-10 * sqrt(problem$squares) + 1e-13 * sqrt(raw_squares(problem))
}

# the weighted sum of squares of each column as it was given
raw_squares <- function(problem) problem$squares + sum(problem$weights) * problem$centre^2

# Weighted residual sum of squares of each column given the covariates, from its `squares` about the
# mean (of its query) and its products with the basis of the covariates. It is computed from the
# residuals where the difference of sums of squares would lose digits.
column_rss <- function(problem, squares, basis, products) {
  if (!ncol(products)) return(squares)
  rss <- squares - rowSums(products^2)
  doubtful <- which(rss <= 1e-4 * squares | rss <= 1e-6 * raw_squares(problem))
  for (block in column_blocks(nrow(problem), length(doubtful))) {
    rss[doubtful[block]] <- colSums(working_matrix(problem, doubtful[block], basis)^2)
  }
  rss
}

# Working coordinates ------------------------------------------------------------------------------

working <- function(problem) {
  basis <- covariate_basis(problem)
  root_w <- root_weights(problem)
  # vectors of very many columns are not copied to be divided by 1
  by <- if (all(problem$scale == 1)) 1 else problem$scale
  per <- function(values, by) if (identical(by, 1)) values else values / by
  list(
    x = problem$x, root_w = root_w, divisor = weight_divisor(problem, root_w),
    centre = problem$centre,
    inv_scale = if (identical(by, 1)) problem$scale else 1 / by,
    squares = per(problem$squares, by^2), rss = per(problem$rss, by^2),
    products = per(problem$products, by),
    usable = as.integer(problem$usable), q = basis, y = working_response(problem, basis),
    query = if (is_ranked(problem)) as.integer(problem$query)
  )
}

# Divisor that takes a residual in working coordinates to the user's scale. Residuals of rows of
# weight 0 are 0 in working coordinates and stay so.
weight_divisor <- function(problem, root_w = sqrt(problem$weights)) {
  replace(root_w, root_w == 0, 1)
}

# the response in working coordinates: sqrt(w) y, residualised on the covariates
working_response <- function(problem, basis = covariate_basis(problem)) {
  project_out(root_weights(problem) * centre_within(problem, problem$y), basis)
}

# columns in working coordinates, dense: sqrt(w) (x - centre) / scale, about the means of queries if
# there are any, residualised on the covariates
working_matrix <- function(problem, cols = which(problem$usable),
                           basis = covariate_basis(problem)) {
  x <- as.matrix(problem$x[, cols, drop = FALSE])
  m <- nrow(x)
  check_still_finite(problem, colSums(x))
  x <- (x - rep(problem$centre[cols], each = m)) * rep(1 / problem$scale[cols], each = m)
  x <- centre_within(problem, x)
  project_out(unname(root_weights(problem) * x), basis)
}

# Refuses values that became missing or infinite by an edit of the problem after as_problem() had
# checked them. `products` are computed from all values.
check_still_finite <- function(problem, products) {
  if (!all(is.finite(products))) check_finite(problem$x, "x")
}

# Residuals of `values` on an orthonormal basis. The second pass makes them orthogonal to it to
# machine precision.
project_out <- function(values, basis) {
  if (!ncol(basis)) return(values)
  for (pass in 1:2) values <- values - basis %*% crossprod(basis, values)
  values
}
