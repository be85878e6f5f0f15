# Covariates: unpenalised columns of a problem, the intercept among them.

# list(z = m x q with the intercept first, design)
adjust_columns <- function(adjust, data, rows, intercept) {
  data <- as_frame(data)
  given <- named_adjust(adjust, data)
  adjust <- adjust_variables(given, data, rows)
  design <- adjust_design(adjust, data, intercept)
  if (is.atomic(given) && !is.null(given)) design$unnamed <- is.null(colnames(given))
  none <- !is.null(design) && !length(design$names) && !NROW(design$columns)
  stop_input_if(none, "`adjust` must have at least one column, or factor of two levels or more")
  if (inherits(adjust, "formula")) {
    z <- design_matrix(design, data, "data", environment(adjust))
  } else {
    z <- adjust_values(design, adjust, rows)
  }
  if (!is.null(design)) {
    stop_input_if(nrow(z) != rows, "`adjust` must have %d rows, one per observation, not %d%s",
                  rows, nrow(z), if (ncol(z) == rows) ": give t(adjust)" else "")
    bad <- which(rowSums(!is.finite(z)) > 0)
    stop_input_if(length(bad),
                  "`adjust` has %s with missing or infinite values (first: row %d): %s",
                  counted(length(bad), "row"), bad[1L],
                  "`na.action = na.omit` leaves out missing ones")
  }
  coded <- if (is.null(design$columns)) FALSE else coded_columns(design)
  for (j in which(rep_len(!coded, ncol(z)))) {
    codes <- sort(unique(z[, j]))
    message_if(length(codes) > 2L && has_few_codes(z[, j]), "sparsels_message_codes",
               "covariate '%s' is numeric (%d values: %s), so one slope is assumed: %s",
               colnames(z)[j], length(codes), some_of(codes, 10L, ""),
               "for classes, such as batches, give a factor")
  }
  list(z = with_intercept(z, rows, intercept), design = design)
}

# `adjust` with names of columns of `data` as a formula.
named_adjust <- function(adjust, data) {
  adjust <- as_frame(adjust)
  named <- is.character(adjust) && is.null(dim(adjust)) && length(adjust) &&
    all(adjust %in% names(data))
  if (!named) return(adjust)
  stats::as.formula(call("~", sum_of_terms(lapply(unique(adjust), as.name))), globalenv())
}

# `adjust` with one factor, or another vector of classes, as a data frame.
adjust_variables <- function(adjust, data, rows) {
  if (!is.null(dim(adjust)) || !is.factor(adjust) && !is.character(adjust)) return(adjust)
  if (is.character(adjust) && length(adjust) != rows) {
    stop_input("`adjust` has %s, %s", some_of(setdiff(adjust, names(data))), no_column_words(data))
  }
  list2DF(list(adjust = adjust), length(adjust))
}

# the form in which `adjust` was given: a design for a formula or frame, the names for a matrix
adjust_design <- function(adjust, data, intercept) {
  if (is.null(adjust)) return(NULL)
  if (inherits(adjust, "formula")) {
    stop_input_if(length(adjust) != 2L, "the formula `adjust` must be one-sided, such as `~ age`")
    env <- environment(adjust)
    data <- used_levels(data, all.vars(adjust))
    parts <- split_terms(adjust[[2L]])
    stop_input_if(length(parts$offset), "`adjust` has `offset(%s)`: give it as `offset = ~ %s`",
                  deparse1(parts$offset[[1L]]), deparse1(parts$offset[[1L]]))
    stop_input_if(!is.null(parts$strata), "`adjust` has strata(): give `strata = ~ %s`",
                  deparse1(parts$strata))
    stop_input_if(!parts$intercept, "`adjust` cannot remove the intercept: leave 0 or - 1 out, %s",
                  "or give `intercept = FALSE` beside it")
    design <- formula_design(parts$rest, env, data, names(data), intercept, "data")
    return(c(design, kind = "formula"))
  }
  if (is.data.frame(adjust)) {
    adjust <- used_levels(adjust, names(adjust))
    return(c(frame_design(adjust, intercept, "adjust"), kind = "frame"))
  }
  z <- adjust_matrix(adjust)
  check_names(colnames(z), "adjust")
  list(names = matrix_names(z), kind = "matrix")
}

adjust_matrix <- function(adjust) {
  adjust <- plain_matrix(if (is.null(dim(adjust))) plain_variable(adjust) else adjust)
  how <- if (length(dim(adjust)) == 2L) "as.data.frame(as.matrix())" else
    if (is.list(adjust) && any(lengths(adjust) != 1L)) "as.data.frame()"
  stop_input_if(!is.numeric(adjust) && !is.logical(adjust) || is.object(adjust),
                "`adjust` must be numeric, a factor, a data frame or a one-sided formula, not %s%s",
                describe(adjust), if (is.null(how)) number_hint(adjust) else
                  sprintf(": %s makes a data frame of it", how))
  z <- as.matrix(adjust) + 0
  if (!is.null(colnames(z))) colnames(z) <- filled_names(colnames(z))
  z
}

matrix_names <- function(z) {
  if (!is.null(colnames(z)) || !ncol(z)) return(colnames(z))
  if (ncol(z) == 1L) "adjust" else paste0("adjust", seq_len(ncol(z)))
}

# covariates from a matrix or a frame with the variables of the design
adjust_values <- function(design, adjust, rows) {
  if (is.null(design)) return(matrix(0, rows, 0L))
  if (design$kind != "matrix") {
    return(design_matrix(design, adjust_variables(adjust, NULL, NROW(adjust)), "adjust"))
  }
  z <- adjust_matrix(adjust)
  by_place <- is.null(colnames(z)) || isTRUE(design$unnamed)
  colnames(z) <- if (by_place && ncol(z) == length(design$names)) design$names else matrix_names(z)
  stop_newdata_if(!all(design$names %in% colnames(z)) || anyDuplicated(colnames(z)),
                  "`adjust` must have the columns %s, each once", some_of(design$names, Inf))
  z[, design$names, drop = FALSE]
}

with_intercept <- function(z, rows, intercept) {
  rownames(z) <- NULL
  if (!intercept) return(z)
  cbind("(Intercept)" = rep(1, rows), z)
}

# Compiled ----------------------------------------------------------------------------------------

# The problem with the values that its weights, covariates and queries determine: roots of the
# weights and the decomposed covariates. These are computed once for a training set and kept in it
# beside their inputs. `covariates` are these decomposed covariates, if known.
compile_rows <- function(problem, covariates = covariate_parts(problem)) {
  sources <- list(weight = problem$rows$weight, z = problem$z, unit = free_units(problem))
  if (identical(problem$compiled$made_of, sources)) return(problem)
  problem$compiled <- list(made_of = sources, root_w = sqrt(problem$rows$weight),
                           covariates = covariates)
  problem
}

# The decomposition sqrt(w) Z = Q R as list(basis, factor, aliased). `basis` is Q, m x q and
# orthonormal. `factor` is R. `aliased` are the covariates that are combinations of the others.
covariate_parts <- function(problem) {
  none <- character()
  if (!ncol(problem$z)) return(list(basis = problem$z, factor = matrix(0, 0L, 0L), aliased = none))
  weighted <- weighted_covariates(problem)
  if (ncol(weighted) == problem$coding$intercept) {
    length <- sqrt(sum(problem$rows$weight))
    return(list(basis = unname(weighted) / length, factor = matrix(length), aliased = none))
  }
  decomposed <- qr(weighted, tol = 1e-10)
  list(basis = qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE],
       factor = qr.R(decomposed), aliased = aliased_columns(decomposed, problem$z))
}

# the columns of z that its QR decomposition leaves out
aliased_columns <- function(decomposed, z) {
  colnames(z)[decomposed$pivot[seq_along(decomposed$pivot) > decomposed$rank]]
}

weighted_covariates <- function(problem) sqrt(problem$rows$weight) * centred_covariates(problem)

# the decomposed covariates, where `strict` refuses dependent covariates
decomposed_covariates <- function(problem, strict = TRUE) {
  parts <- compile_rows(problem)$compiled$covariates
  if (strict) stop_aliased(parts$aliased, problem)
  parts
}

# The problem without the covariates that follow from the others in its rows. Models of such a part
# of a problem have no coefficient for them, so that new rows are predicted as with 0. Their values
# are in `left_out`, for models of other rows.
without_dependent <- function(problem) {
  parts <- compile_rows(problem)$compiled$covariates
  dependent <- parts$aliased
  if (!length(dependent)) return(problem)
  say_left_out(dependent, "in these rows", of_part = TRUE)
  before <- problem$left_out[, !colnames(problem$left_out) %in% dependent, drop = FALSE]
  problem$left_out <- cbind(before, problem$z[, dependent, drop = FALSE])
  problem$z <- problem$z[, !colnames(problem$z) %in% dependent, drop = FALSE]
  if (has_intercept_only(problem)) return(compile_rows(problem))
  # the decomposition has the dependent covariates last
  independent <- seq_len(ncol(parts$basis))
  parts$factor <- parts$factor[independent, independent, drop = FALSE]
  compile_rows(problem, replace(parts, "aliased", list(character())))
}

covariate_basis <- function(problem, strict = TRUE) decomposed_covariates(problem, strict)$basis

root_weights <- function(problem) compile_rows(problem)$compiled$root_w

# The problem with its response in working coordinates, which is kept beside the response.
compile_response <- function(problem) {
  problem <- compile_rows(problem)
  y <- problem$rows$y
  if (identical(problem$compiled$of_response, y)) return(problem)
  problem$compiled$working_response <- response_given(problem, problem$compiled$covariates$basis)
  problem$compiled$of_response <- y
  problem
}

# the number of trained rows less the degrees of freedom of the covariates or the means of queries
free_rows <- function(problem) {
  means <- length(unique(problem$rows$query[problem$rows$weight > 0]))
  trained_rows(problem) - ncol(problem$z) - means
}

stop_aliased <- function(aliased, problem, where = "", hint = ": leave out what follows") {
  stop_input_if(length(aliased),
                "the covariates %s are not linearly independent%s: %s follow%s from the others%s",
                if (all(colnames(problem$z) %in% given_covariates(problem))) "in `adjust`" else
                  "(columns of `penalty` 0 among them)",
                where, some_of(aliased), if (length(aliased) == 1L) "s" else "", hint)
}

# The coefficients of the covariates on the user's scale from the coefficients `u` of their basis (a
# column for each model), where columns are not residualised on the covariates. `beta` are the
# coefficients of the columns on the user's scale.
covariates_of <- function(problem, u, features, beta,
                          factor = decomposed_covariates(problem)$factor) {
  covariates <- matrix(u, ncol(problem$z), ncol(beta))
  if (nrow(covariates)) covariates <- backsolve(factor, covariates)
  # the columns were centred only when there is an intercept, the first covariate
  if (problem$coding$intercept) {
    covariates[1L, ] <- covariates[1L, ] - colSums(beta * problem$columns$centre[features])
  }
  covariates
}

# A function of columns of x (m x any): their weighted least-squares coefficients on the covariates.
covariate_solver <- function(problem) {
  none <- function(x, columns = seq_len(ncol(x))) matrix(0, 0L, length(columns))
  if (!ncol(problem$z)) return(none)
  parts <- decomposed_covariates(problem)
  weighted <- root_weights(problem) * parts$basis
  function(x, columns = seq_len(ncol(x))) {
    backsolve(parts$factor, as.matrix(crossprod(weighted, x[, columns, drop = FALSE])))
  }
}

# The problem as kernels see it --------------------------------------------------------------------

# A problem in the form that kernels use: statistics of its columns from one pass, and working
# coordinates.

# Centre, scale, usable ----------------------------------------------------------------------------

# Centre, scale and cross products of all columns in one pass over x, which also finds values that
# are not finite. With `missing = "mean"` x is completed first. A `part` of a problem leaves out
# covariates that its rows do not determine.
measure_columns <- function(problem, called = "x", threads = 1L, part = FALSE) {
  problem <- with_unpenalised(complete_columns(problem, called, threads))
  if (!all(is.finite(problem$z))) stop_missing(problem, called)
  problem <- compile_rows(problem)
  if (part) problem <- without_dependent(problem)
  problem <- compile_response(problem)
  problem <- with_measures(problem, called, threads)
  if (!has_pairs(problem)) return(problem)
  # pairs are screened by residuals of models of the other columns
  with_measures_of(put_pairs(problem, found_pairs(problem)), which(is_of_pair(problem)), called,
                   threads)
}

# The problem, whose x is complete, with the centres, scales and products of its columns.
with_measures <- function(problem, called, threads) {
  basis <- covariate_basis(problem, strict = FALSE)
  root_w <- root_weights(problem)
  response <- root_w * working_response(problem)
  # the columns are centred, so their products with the intercept are 0
  covariates <- root_w * basis[, seq_len(ncol(basis)) > problem$coding$intercept, drop = FALSE]
  moments <- column_moments(problem$x, problem$rows$weight, is_centred(problem),
                            cbind(response, covariates), threads)
  if (!all(is.finite(moments$squares))) stop_missing(problem, called)
  check_squares(problem, moments$squares, called)
  of_response <- seq_len(ncol(response))
  # a list until its parts are complete, as a data frame is slow to change
  columns <- unclass(problem$columns)
  columns[c("centre", "squares")] <- moments[c("centre", "squares")]
  columns$products <- moments$products[, of_response, drop = FALSE]
  columns$scale <- rep_len(1, ncol(problem))
  problem$columns <- columns
  # about the mean of each query in a ranking
  squares <- if (!is_ranked(problem)) columns$squares else uninterrupted(
    .Call(C_within_squares, problem$x, columns$centre, root_w, as.integer(problem$rows$query),
          threads)
  )
  # Residual sums of squares given the covariates, by the products with their basis. They are
  # computed from the residuals where the difference of sums of squares would lose digits.
  of_basis <- moments$products[, -of_response, drop = FALSE]
  columns$rss <- squares - rowSums(of_basis^2)
  if (ncol(of_basis)) {
    doubtful <- which(columns$rss <= 1e-4 * squares | columns$rss <= 1e-6 * raw_squares(problem))
    for (block in column_blocks(nrow(problem), length(doubtful))) {
      at <- doubtful[block]
      columns$rss[at] <- colSums(working_matrix(problem, at, basis)^2)
    }
  }
  # the residual norm exceeds rounding error, of the centred column and of the column itself: so
  # 1e6 + noise is usable and a column of 0.1 is not
  # columns whose squares underflow beside others count as constant
  columns$usable <- !is_set_apart(problem) & columns$squares >= smallest_square &
    sqrt(columns$rss) > 1e-10 * sqrt(columns$squares) + 1e-13 * sqrt(raw_squares(problem))
  if (problem$coding$standardize) {
    columns$scale[columns$usable] <- sqrt(squares / sum(problem$rows$weight))[columns$usable]
  }
  problem$columns <- columns
  columns$scale <- columns$scale * penalty_divisor(problem)
  problem$columns <- structure(columns, class = "data.frame")
  problem
}

# The same of some columns. The other ones have been measured.
with_measures_of <- function(problem, at, called, threads) {
  own <- with_measures(part_of(problem, columns = at), called, threads)$columns
  for (name in c("centre", "squares", "scale", "rss", "usable")) {
    problem$columns[[name]][at] <- own[[name]]
  }
  problem$columns$products[at, ] <- own$products
  problem
}

# Refuses an x that has missing or infinite values, with `gaps` infinite ones alone.
stop_missing <- function(problem, called, gaps = FALSE) {
  coded <- coded_columns(problem$coding$design)
  source <- colnames(problem$x)
  # the columns of a factor have the missing values of the factor
  source[coded] <- design_groups(problem$coding$design)[coded]
  check_finite(problem$x, called, gaps, source = source, hint = paste0(
    # a square x may be a kernel matrix
    if (!is_read_in_place(problem$x) && nrow(problem) != ncol(problem)) {
      "`na.action = na.omit` leaves out rows with missing values, "
    },
    "`missing = \"mean\"` replaces missing numbers by the mean of their column"
  ))
}

# Refuses a file whose values in these columns are others than when they were measured. The size and
# the time of the file do not tell it where another program writes by a map of its own.
check_unchanged <- function(problem, columns) {
  if (!is_file_matrix(problem$x)) return(invisible())
  w <- problem$rows$weight
  for (block in column_blocks(nrow(problem), length(columns), 1e7)) {
    some <- columns[block]
    now <- column_moments(problem$x[, some, drop = FALSE], w, is_centred(problem))
    centre <- problem$columns$centre[some]
    squares <- problem$columns$squares[some]
    near <- abs(now$centre - centre) <= 1e-9 * (sqrt(squares / sum(w)) + abs(centre)) &
      abs(now$squares - squares) <= 1e-9 * squares
    if (!isTRUE(all(near))) stop_changed(problem$x, sprintf(
      "column '%s' has other values than when the problem was made",
      problem$columns$name[some[which(is.na(near) | !near)[1L]]]
    ))
  }
}

# Refuses columns whose sum of squares overflows when two of them are multiplied, or all of which
# underflow. Standardised columns are not multiplied on their own scale, so that their bound is
# wider.
check_squares <- function(problem, squares, called) {
  large <- if (problem$coding$standardize) 1 / smallest_square else 1 / sqrt(smallest_square)
  small <- squares > 0 & squares < smallest_square
  valid <- squares <= large & (!small | !all(small | squares == 0))
  bad <- which(is.na(valid) | !valid)
  too_small <- isTRUE(squares[bad[1L]] < smallest_square)
  stop_input_if(length(bad), "`%s` has values too %s to square (first: column '%s'): rescale it",
                called, if (too_small) "small" else "large", problem$columns$name[bad[1L]])
}

# list(centre, squares, products). `centre` is the weighted mean, 0 without intercept. `squares` is
# the weighted sum of squares about it. `products` is x'v for v (m x L), whose columns sum to 0 if
# there is an intercept.
column_moments <- function(x, w, intercept, v = matrix(0, nrow(x), 0L), threads = 1L) {
  moments <- uninterrupted(.Call(C_column_moments, x, w, intercept, v, threads))
  dim(moments$products) <- c(ncol(x), ncol(v))
  moments
}

# the weighted sum of squares of each column as it was given
raw_squares <- function(problem) {
  problem$columns$squares + sum(problem$rows$weight) * problem$columns$centre^2
}

# Working coordinates ------------------------------------------------------------------------------

working <- function(problem) {
  basis <- covariate_basis(problem)
  root_w <- root_weights(problem)
  # vectors of very many columns are not copied to be divided by 1
  by <- if (all(problem$columns$scale == 1)) 1 else problem$columns$scale
  per <- function(values, by) if (identical(by, 1)) values else values / by
  list(
    x = problem$x, root_w = root_w, divisor = weight_divisor(problem, root_w),
    centre = problem$columns$centre,
    inv_scale = if (identical(by, 1)) problem$columns$scale else 1 / by,
    squares = per(problem$columns$squares, by^2), rss = per(problem$columns$rss, by^2),
    products = per(problem$columns$products, by),
    usable = as.integer(problem$columns$usable), q = basis, y = working_response(problem),
    response = problem$rows$y, offset = problem$rows$offset,
    query = if (is_ranked(problem)) as.integer(problem$rows$query),
    risk = if (is_cox(problem)) risk_input(problem)
  )
}

# Divisor that takes a residual in working coordinates to the user's scale. Residuals of rows of
# weight 0 are 0 in working coordinates and stay so.
weight_divisor <- function(problem, root_w = sqrt(problem$rows$weight)) {
  replace(root_w, root_w == 0, 1)
}

# the response in working coordinates: sqrt(w) y, residualised on the covariates
working_response <- function(problem) compile_response(problem)$compiled$working_response

# sqrt(w) y, residualised on a basis of covariates. It is 0, without rounding, where the training
# rows are of one class.
response_given <- function(problem, basis) {
  y <- problem$rows$y
  constant <- are_constant(y[problem$rows$weight > 0, , drop = FALSE], is_centred(problem))
  working_values(problem, y * rep(!constant, each = nrow(y)), basis)
}

# parts of a whole as shares of it, or `none` where the whole is 0
share_of <- function(part, whole, none = 0) if (whole > 0) part / whole else none + 0 * part

# values of the rows, a matrix, in working coordinates
working_values <- function(problem, values, basis = covariate_basis(problem)) {
  project_out(root_weights(problem) * centre_within(problem, values), basis)
}

# columns in working coordinates, dense: sqrt(w) (x - centre) / scale, about the means of queries if
# there are any, residualised on the covariates
working_matrix <- function(problem, cols = which(problem$columns$usable),
                           basis = covariate_basis(problem)) {
  x <- as.matrix(problem$x[, cols, drop = FALSE])
  m <- nrow(x)
  check_still_finite(problem, colSums(x))
  x <- (x - rep(problem$columns$centre[cols], each = m)) *
    rep(1 / problem$columns$scale[cols], each = m)
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

# the logarithm of 1 plus the exponential of x
soft_plus <- function(x) pmax(x, 0) + log1p(exp(-abs(x)))

# x times its logarithm, 0 at 0
xlogx <- function(x) ifelse(x > 0, x * log(x), 0)

# Products of columns ------------------------------------------------------------------------------

# The products of some columns of x, of all of a sparse one, and of covariates z with coefficients
# (columns x models), as a vector.
linear_scores <- function(x, columns, beta, z, covariates) {
  if (inherits(x, "sparseMatrix")) return(as.vector(z %*% covariates) + as.vector(x %*% beta))
  .Call(C_linear_scores, x, columns - 1L, beta, z, covariates)
}

# The place of an entry of a symmetric matrix whose upper triangle is packed by columns.
packed_place <- function(i, j) {
  column <- as.double(pmax(i, j))
  column * (column - 1) / 2 + pmin(i, j)
}

# the whole matrix
unpacked <- function(packed) {
  order <- floor(sqrt(2 * length(packed)))
  whole <- matrix(0, order, order)
  whole[upper.tri(whole, diag = TRUE)] <- packed
  whole + t(whole) - diag(diag(whole), order)
}

# The products of the columns of a problem, its covariates and responses with each other, `of`
# (packed by packed_place(), entries x folds and all rows), by the folds of one partition, and the
# `weight` of each.
fold_products <- function(problem, folds, threads = 1L, progress = NULL) {
  settings <- list(folds = folds, threads = threads, progress = progress, user_loss = NULL)
  work <- working(problem)
  if (is_computed(problem$x) || is.matrix(problem$x) && is.double(problem$x)) {
    return(uninterrupted(.Call(C_fold_products, work, settings)))
  }
  id <- folds$ids[, 1L]
  columns <- problem$columns
  # sparse columns with means so small that their products are exact before centring
  near_zero <- inherits(problem$x, "dgCMatrix") &&
    all(sum(problem$rows$weight) * columns$centre^2 <= 1e4 * columns$squares | !columns$usable)
  multiply <- if (near_zero) sparse_products else dense_products
  of <- vapply(seq_len(max(id)), function(fold) multiply(work, which(id == fold), settings),
               numeric(packed_place(count_variables(problem), count_variables(problem))))
  weight <- as.vector(rowsum(work$root_w^2, id))
  list(folds = max(id), of = cbind(of, rowSums(of)), weight = c(weight, sum(weight)))
}

count_variables <- function(problem) {
  ncol(problem) + ncol(covariate_basis(problem)) + ncol(problem$rows$y)
}

# The packed products over some rows of a sparse x: products before centring, and what the centres
# add to them.
sparse_products <- function(work, rows, settings) {
  root_w <- work$root_w[rows]
  x <- root_w * work$x[rows, , drop = FALSE]
  others <- cbind(work$q, work$y)[rows, , drop = FALSE]
  of_root <- as.vector(Matrix::crossprod(x, root_w))
  of_x <- as.matrix(Matrix::crossprod(x)) - outer(of_root, work$centre) -
    outer(work$centre, of_root - sum(root_w^2) * work$centre)
  of_x <- of_x * outer(work$inv_scale, work$inv_scale)
  of_others <- work$inv_scale *
    (as.matrix(Matrix::crossprod(x, others)) - outer(work$centre, colSums(root_w * others)))
  among <- crossprod(others)
  to <- seq_len(ncol(x))
  c(of_x[sequence(to, (to - 1L) * ncol(x) + 1L)],
    unlist(lapply(seq_len(ncol(others)), function(l) c(of_others[, l], among[seq_len(l), l]))))
}

# The packed products over some rows of any other x, which are read in blocks.
dense_products <- function(work, rows, settings) {
  all <- 0
  for (block in column_blocks(ncol(work$x), length(rows), 1e7)) {
    own <- rows[block]
    part <- replace(work, "offset", list(NULL))
    part$x <- as_doubles(as.matrix(some_part(work$x, own, seq_len(ncol(work$x)))))
    for (name in c("root_w", "divisor")) part[[name]] <- work[[name]][own]
    for (name in c("q", "y", "response")) part[[name]] <- work[[name]][own, , drop = FALSE]
    settings$folds <- list(ids = matrix(1L, length(own), 1L), loo = FALSE)
    all <- all + uninterrupted(.Call(C_fold_products, part, settings))$of[, 1L]
  }
  all
}

# the largest number of columns for which all of X'X is computed: a quarter of a gigabyte
whole_gram <- 5792L

# The usable columns for src/gram.c, which counts them from 0: all of X'X, or the dense X or sparse
# x from which its entries are computed.
gram_terms <- function(problem, whole = sum(problem$columns$usable) <= whole_gram) {
  usable <- which(problem$columns$usable)
  work <- working(problem)
  terms <- list(m = nrow(problem), columns = usable, total = sum(work$y^2))
  if (inherits(problem$x, "dgCMatrix")) {
    # given the covariates: the products of x less G'G, so that x stays sparse
    x <- problem$x[, usable, drop = FALSE]
    w <- problem$rows$weight
    scale <- problem$columns$scale[usable]
    G <- as.matrix(crossprod(work$q, work$root_w * x)) / rep(scale, each = ncol(work$q))
    products <- if (whole) {
      unname(as.matrix(crossprod(work$root_w * x)) / outer(scale, scale) - crossprod(G))
    }
    terms <- c(terms, list(whole = products, X = NULL, x = x, w = w, scale = scale, G = unname(G)))
    terms$diagonal <- unname(colSums(w * x^2) / scale^2 - colSums(G^2))
    terms$b <- unname(as.matrix(crossprod(x, work$root_w * work$y)) / scale)
  } else {
    X <- working_matrix(problem, usable, work$q)
    terms$diagonal <- colSums(X^2)
    terms$b <- unname(crossprod(X, work$y))
    terms <- c(terms, list(whole = if (whole) crossprod(X), X = if (!whole) X))
  }
  check_still_finite(problem, c(terms$b, terms$diagonal))
  terms
}

# The result of gram_terms() for columns that are read where they are, at each product.
terms_in_place <- function(problem) {
  columns <- which(problem$columns$usable)
  scale <- problem$columns$scale[columns]
  list(m = nrow(problem), columns = columns, total = sum(working_response(problem)^2),
       b = problem$columns$products[columns, , drop = FALSE] / scale,
       diagonal = problem$columns$rss[columns] / scale^2,
       x = problem$x, w = problem$rows$weight, scale = scale, centred = problem$coding$intercept)
}

# X'v of all usable columns, for v (m x any) orthogonal to the covariates, so that sparse columns
# need not be centred.
cross_columns <- function(terms, v) {
  if (!is.null(terms$centred)) {
    products <- column_moments(terms$x, terms$w, terms$centred, sqrt(terms$w) * v)$products
    return(products[terms$columns, , drop = FALSE] / terms$scale)
  }
  if (!is.null(terms$X)) return(.Call(C_cross_columns, terms$X, v))
  as.matrix(crossprod(terms$x, sqrt(terms$w) * v)) / terms$scale
}

# A column is collinear with the model if its residual sum of squares given the model is at most
# this fraction of its sum of squares.
dependent <- 1e-10

# Equal columns -----------------------------------------------------------------------------------

# The usable columns (`feature`) that equal one of the usable columns `chosen` (`of`) up to sign,
# scale and rounding, once the covariates are taken out. Of several equal chosen columns the first
# stands for all. Equal columns have equal correlations with the response, which are known, so that
# few others are read.
equal_columns <- function(problem, chosen) {
  usable <- which(problem$columns$usable)
  correlation <- abs(problem$columns$products[usable, 1L]) / sqrt(problem$columns$rss[usable])
  own <- c(-Inf, sort(correlation[usable %in% chosen]), Inf)
  place <- findInterval(correlation, own)
  distance <- pmin(correlation - own[place], own[place + 1L] - correlation)
  near <- distance <= copy_tolerance * sqrt(sum(working_response(problem)[, 1L]^2))
  columns <- unique(c(chosen, usable[near]))
  if (length(chosen) == 0L || length(columns) < 2L) return(no_copies)
  first <- first_of_copies(probe_correlations(problem, columns))
  copy <- which(first < seq_along(first) & first <= length(chosen))
  same <- unlist(lapply(column_blocks(nrow(problem), length(copy), 1e6), function(block) {
    are_copies(problem, columns[copy[block]], columns[first[copy[block]]], near = 0)
  }))
  copy <- copy[as.logical(same)]
  list2DF(list(feature = columns[copy], of = columns[first[copy]]))
}

no_copies <- list2DF(list(feature = integer(), of = integer()))

# Four vectors of random numbers, the same in every call, in working units.
copy_probes <- function(problem, basis = covariate_basis(problem)) {
  probes <- with_stream(fixed_stream, matrix(stats::rnorm(4L * nrow(problem)), nrow(problem)))
  working_values(problem, probes, basis)
}

# The sizes of the correlations of some columns with these vectors. The whole of a dense x is read
# where it is, where many of its columns are wanted.
probe_correlations <- function(problem, columns) {
  working <- copy_probes(problem)
  products_with <- function(x) {
    column_moments(x, problem$rows$weight, is_centred(problem),
                   root_weights(problem) * working)$products
  }
  products <- if (is_computed(problem$x) || length(columns) < ncol(problem) / 2) {
    do.call(rbind, lapply(column_blocks(nrow(problem), length(columns), 1e7), function(block) {
      products_with(some_part(problem$x, columns = columns[block]))
    }))
  } else {
    products_with(problem$x)[columns, , drop = FALSE]
  }
  abs(products) / sqrt(problem$columns$rss[columns]) /
    rep(sqrt(colSums(working^2)), each = length(columns))
}

# Whether columns are copies of others, one each: they differ by rounding, or by at most `near`
# times their length with a t value of the difference below 3, given the other column.
are_copies <- function(problem, columns, of, near = near_copy) {
  unit <- function(columns) {
    x <- working_matrix(problem, columns)
    x / rep(sqrt(colSums(x^2)), each = nrow(x))
  }
  other <- unit(of)
  difference <- unit(columns)
  difference <- difference - other * rep(colSums(difference * other), each = nrow(other))
  length <- sqrt(colSums(difference^2))
  y <- working_response(problem)
  explained <- crossprod(difference, y)^2 / pmax(length, .Machine$double.xmin)^2
  left <- rep(colSums(y^2), each = length(of)) - crossprod(other, y)^2 - explained
  clear <- explained > 9 * pmax(left, 0) / max(1, free_rows(problem) - 2)
  length <= 1e-6 | length <= near & rowSums(clear) == 0
}

# correlations that differ by less belong to copies
copy_tolerance <- 1e-7

# the largest length of the difference of a column that nearly is a copy, as a share of its length
near_copy <- 0.003

# The first of the rows that equal each other up to the tolerance. First values that are so near are
# in one interval of twice the tolerance, or in one that begins in the middle of such an interval.
# The rows of an interval are compared in the order of their second values, each with the row one
# place before, two places before, ...
first_of_copies <- function(values, tolerance = copy_tolerance) {
  least <- function(of, within) {
    rising <- order(of)
    of[rising][match(within, within[rising])]
  }
  first <- seq_len(nrow(values))
  range <- 2 * diff(range(values[, 2L])) + 2 * tolerance
  for (shift in c(0, 0.5)) {
    key <- floor(values[, 1L] / (2 * tolerance) + shift) * range + values[, 2L]
    sorted <- order(key)
    ordered <- cbind(key, values)[sorted, , drop = FALSE]
    earlier <- open <- seq_along(sorted)
    near <- function(rows, column) {
      rows[abs(ordered[rows, column] - ordered[rows - lag, column]) <= tolerance]
    }
    for (lag in open[-1L] - 1L) {
      open <- near(open[open > lag], 1L)
      if (!length(open)) break
      same <- Reduce(near, seq_len(ncol(ordered))[-1L], open)
      earlier[same] <- same - lag
      if (length(same)) open <- setdiff(open, same)
    }
    for (place in which(earlier < seq_along(earlier))) earlier[place] <- earlier[earlier[place]]
    earlier[sorted] <- earlier
    first <- least(least(first, earlier), first)
  }
  first
}
