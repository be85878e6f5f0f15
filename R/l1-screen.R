#' Safe screening of variables for l1-penalised models
#'
#' Finds columns whose coefficient is 0 in every solution of a model with an l1 penalty, before the
#' model is fitted. These columns need not be kept or even loaded.
#'
#' The model of [l1_path()] minimises
#' \deqn{\sum_j w_j f(y_j, v'z_j + \beta'\tilde x_j) + \lambda (\alpha \|\beta\|_1 + \frac{1 -
#' \alpha}{2} \|\beta\|_2^2)}{ sum_j w_j f(y_j, v'z_j + beta'xs_j) + lambda (alpha ||beta||_1 + (1 -
#' alpha)/2 ||beta||_2^2)} with \eqn{f(y, s) = (y - s)^2 / 2} (`"squared"`), \eqn{\log(1 +
#' e^{-ys})}{log(1 + exp(-ys))} (`"logistic"`) or \eqn{\max(0, 1 - ys)}{max(0, 1 - ys)} (`"hinge"`).
#' Let \eqn{a_k} be column k standardised, multiplied by \eqn{\sqrt{w_j}}{sqrt(w_j)} and
#' residualised on the covariates. Its coefficient is 0 if \eqn{|a_k' r| < \alpha\lambda}{|a_k' r| <
#' alpha lambda} for every dual solution \eqn{r}. A rule computes a region that contains every dual
#' solution, and the maximum \eqn{T_k} of \eqn{|a_k' r|} over it: column k is dropped if
#' \eqn{\alpha\lambda > T_k}{alpha lambda > T_k}, with a margin for rounding error.
#'
#' * `"safe1"`: the points with a dual value of at least the value of the null model (with
#'   covariates only), its residual scaled to be dual feasible (Theorem 1 of the paper; (20) for
#'   hinge; (27) for logistic, with the optimal multiplier of the intercept).
#' * `"safe2"`: the points with a dual value at least the best of the solutions of `fit` (Theorem
#'   2), whose dual points are recomputed from the data.
#' * `"gap"`: a ball about such a dual point, whose radius follows from the duality gap (Fercoq and
#'   others 2015); for hinge, whose dual is not strongly concave, bounds of each dual variable from
#'   the gap. With `fit` it also drops all columns that `"safe2"` drops. Without `fit` the null
#'   model is used. For counts, shares and events, which have this rule alone, there is no ball, and
#'   \eqn{T_k = |a_k' r| + \sqrt{2 V g} + R g / 3}{T_k = |a_k' r| + sqrt(2 V g) + R g / 3} with the
#'   gap \eqn{g}, the curvature \eqn{V} of the loss along the column and the largest absolute value
#'   \eqn{R} of the column without weights, of a Cox model its range.
#'
#' For lambda above `lambda_max` every column is dropped. Near it a rule drops most columns, at a
#' tenth of it hardly any: safe elimination saves memory; [l1_path()] does not need it to be fast.
#'
#' **Data larger than memory.** `x` may be a function that returns given columns, or any object with
#' two dimensions that can be subset by `x[, columns]`, such as a `DelayedMatrix`. It is then read
#' in blocks of columns of up to 32 MB, with one block in memory at a time (of a sparse matrix ten
#' times the columns, if the first hundred, which are read once more, are that sparse): once for
#' `"squared"` and for `"gap"` with `"logistic"`, twice otherwise (once for hinge with `fit`); with
#' `fit`, the columns of its models are read again, and for `"gap"` with `"logistic"` those not
#' dropped by the ball. The model then needs only the columns in `mask$keep`. For hinge `lambda_max`
#' is then an upper bound unless the classes have the same weight.
#'
#' **A cluster.** With `cluster` the passes over `x` are divided among its workers, each of which
#' has a range of the blocks. A [file_matrix()], which must have the same path there, and a function
#' `x` are read by the workers, a matrix is sent to each of them.
#'
#' @inheritParams l1_path
#' @param x As for [as_problem()], where a [file_matrix()] may be larger than memory; or an object
#'   of any size with two dimensions and
#'   `[`, or a function of column numbers (of names, if `columns` are names) that returns these
#'   columns of all rows as a matrix or a sparse matrix of the Matrix package.
#' @param y,data The response, and for a formula the data, as for [as_problem()].
#' @param lambda The l1 penalty, a positive number.
#' @param rule The screening rule: `"safe1"`, `"safe2"` or `"gap"`, see Details. `NULL`, the
#'   default, is `"gap"` for counts, shares and events, otherwise `"safe1"`.
#' @param fit A fit of [l1_path()] to the same data, loss and `alpha`, for `"safe2"` and `"gap"`.
#' @param lambda0 Which lambdas of `fit` to use; `NULL` for the nearest on either side.
#' @param columns For a function `x`: the number of columns, or their names.
#' @param threads Number of OpenMP threads over columns, for `"logistic"` and `"hinge"`.
#' @param cluster A cluster of R's parallel package whose workers go over the blocks of columns,
#'   such as `parallel::makeCluster(2)`, see [clusters]; by default none. The mask is the same.
#'
#' @return `safe_screen()`: a list of class `sparsels_mask` with, for n columns,
#'   * `keep` (n, named): `FALSE` for dropped columns, among them those that are excluded as
#'     constant or collinear with the covariates;
#'   * `rho` (n, named): the coefficient is 0 for every lambda above `rho * lambda_max`; 1 if
#'     nothing is proven, 0 for an excluded column. With `rule = "gap"` and `fit`, for a dropped
#'     column: for every lambda from there up to `lambda`;
#'   * `bounds` (n, named): \eqn{T_k}, an upper bound of \eqn{|a_k' r|} for every dual solution r;
#'   * `lambda`, `lambda_max`, and `exact`: `TRUE` if `lambda_max` is the smallest lambda with all
#'     coefficients 0, `FALSE` if it is an upper bound of this lambda;
#'   * `loss`, `rule`, `lambda0` (the lambdas of `fit` that were used), `usable` (n; `FALSE` for an
#'     excluded column).
#'
#'   `problem[, mask$keep]` is the smaller problem. `exclude()`: the numbers of the dropped columns,
#'   for glmnet's argument `exclude`.
#'
#' @section Cost: O(mn) time, or O(nonzeros) for sparse `x`, for each pass over `x` and for each
#'   solution of `fit` that is used. For hinge, O(m log m) a column; for logistic with `"safe1"` and
#'   `"safe2"` about ten passes, each with an exponential for every entry. For these, `rho` takes
#'   about ten times as long; for `"squared"`, and `"logistic"` with `"gap"`, it is in closed form.
#'
#' @section Errors: As for [l1_path()]; counts, shares and events with another rule than `"gap"`;
#'   several responses or more than two classes; `rule = "safe2"` without `fit`; a `fit` of another
#'   loss, `alpha` or to other data; a `lambda0` that is not a lambda of `fit`; a function `x` that
#'   returns columns other than the requested ones; classes that are separated by the covariates
#'   alone. A lambda above `lambda_max` is not an error.
#'
#' @references El Ghaoui, L., Viallon, V., Rabbani, T. (2010). Safe feature elimination in sparse
#' supervised learning. Technical report UCB/EECS-2010-126, University of California, Berkeley.
#'
#' Fercoq, O., Gramfort, A., Salmon, J. (2015). Mind the duality gap: safer rules for the Lasso.
#' Proceedings of the 32nd International Conference on Machine Learning, PMLR 37, 333-342.
#' @seealso [l1_path()], [lambda_max()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(50 * 400), 50, dimnames = list(NULL, paste0("gene", 1:400)))
#' y <- x[, 3] - x[, 8] + rnorm(50)
#' pb <- as_problem(x, y)
#' mask <- safe_screen(pb, lambda = 0.8 * lambda_max(pb))
#' mask
#' l1_path(pb[, mask$keep], lambda = mask$lambda)
#'
#' # the same without ever holding x
#' safe_screen(function(columns) x[, columns], y, lambda = mask$lambda, columns = colnames(x))
#' @export
safe_screen <- function(x, y = NULL, ..., data = NULL, lambda, loss = NULL, alpha = 1,
                        ties = "efron", rule = NULL, fit = NULL, lambda0 = NULL, columns = NULL,
                        threads = 1, cluster = NULL) {
  check_given(x, "x")
  stop_argument_if(!is.function(x) && !is.null(columns),
                   "`columns` is only for an `x` that is a function")
  known <- c("matrix", "Matrix", "data.frame", "formula", "matrix_in_place",
             "sparsels_problem", backed_classes)
  streamed <- is.function(x) ||
    length(dim(x)) == 2L && !inherits(x, known) && !is_experiment(x)
  if (streamed) {
    whole <- c("assay", "make_unique", "penalty", "columns_group", "group_rule", "hierarchy")
    allowed <- setdiff(problem_arguments, whole)
    check_dots(..., known = c(allowed, names(formals(safe_screen))), allowed = allowed)
    source <- for_loss(loss, streamed_source(
      x, y, columns, response_name(substitute(y)), ..., data = data,
      as_taken = function(problem) loss_problem(problem, loss, ties)
    ))
  } else {
    problem <- fitter_problem("safe_screen", x, y, ..., data = data)
    problem <- loss_problem(problem, loss, ties, threads)
    source <- whole_source(absolute_penalty(problem), cluster)
  }
  source$cluster <- check_cluster(cluster)
  check_all_trained(source$problem)
  check_single_response(source$problem, "safe_screen()")
  control <- l1_control(source$problem, loss, threads = threads, alpha = alpha)
  control$lambda <- check_positive(if (missing(lambda)) NULL else lambda, "lambda")
  if (is.null(rule)) rule <- if (needs_gap(control$loss)) "gap" else "safe1"
  control$rule <- check_choice(rule, "rule", c("safe1", "safe2", "gap"))
  stop_argument_if(needs_gap(control$loss) && rule != "gap",
                   "`rule = \"%s\"` has no test for `loss = \"%s\"`: take \"gap\"", rule,
                   control$loss)
  control$streamed <- streamed
  control$fit <- check_screen_fit(fit, source, control)
  control$used <- used_lambdas(lambda0, control)
  # hinge requires only dual values, which are known for every solution
  control$valued <- if (is.null(lambda0)) seq_along(control$fit$path$lambda) else control$used
  # from here on lambda is the weight of the l1 norm
  control$asked <- control$lambda
  control$lambda <- alpha * control$lambda
  new_mask(source, control, screen_source(source, control))
}

#' @rdname safe_screen
#' @param mask The result of `safe_screen()`.
#' @export
exclude <- function(mask) {
  check_given(mask, "mask")
  check_made(mask, "mask", "sparsels_mask", "a mask of safe_screen()")
  which(!unname(mask$keep))
}

# Where columns come from --------------------------------------------------------------------------

# A source is a list of `problem` (without x, for data in blocks), `names`, `named`, `blocks`
# (column numbers), `read(columns)`, a function that returns the problem with these columns, and the
# `cluster` that reads them, or NULL.

whole_source <- function(problem, cluster) {
  read <- function(columns) {
    if (identical(columns, seq_len(ncol(problem)))) problem else
      settled_covariates(problem)[, columns]
  }
  blocks <- if (is.null(cluster) && !is_file_matrix(problem$x)) list(seq_len(ncol(problem))) else
    column_blocks(nrow(problem), ncol(problem), 4e6)
  list(problem = problem, names = problem$columns$name, named = problem$coding$named,
       blocks = blocks, read = read)
}

streamed_source <- function(x, y, columns, response, ..., data, as_taken) {
  if (is.function(x)) {
    names <- if (is.character(columns) && length(columns)) columns
    whole <- is_number(columns) && columns >= 1 && columns == round(columns)
    refuse_unless(!is.null(names) || whole, "columns",
                  "the number of columns of `x` or their names", columns)
    n <- if (is.null(names)) columns else length(names)
    columns_of <- function(block) x(if (is.null(names)) block else names[block])
    rows <- NROW(single_column(y, "y"))
  } else {
    names <- colnames(x)
    n <- ncol(x)
    rows <- nrow(x)
    columns_of <- function(block) x[, block, drop = FALSE]
  }
  check_names(names, "x")
  problem <- as_taken(response_side(rows, y, response, ..., data = data))
  read <- function(columns) {
    block_names <- if (is.null(names)) paste0("V", columns) else names[columns]
    values <- check_block(columns_of(columns), rows, block_names, !is.null(names))
    colnames(values) <- block_names
    check_size(values, "x")
    put_columns(problem, values)
  }
  blocks <- column_blocks(rows, n, 4e6)
  some <- utils::head(blocks[[1L]], 100L)
  first <- if (length(blocks) > 1L) columns_of(some)
  if (inherits(first, "sparseMatrix")) {
    # Blocks of 4e6 nonzeros, estimated from the first columns, but with at most ten times as many
    # columns as a dense block, as later columns may be denser.
    stored <- Matrix::nnzero(first) / length(some)
    blocks <- column_blocks(max(ceiling(stored), ceiling(rows / 10)), n, 4e6)
  }
  list(problem = problem, names = if (is.null(names)) numbered_names(n) else names,
       named = !is.null(names), blocks = blocks, read = read)
}

check_block <- function(values, rows, names, named) {
  columns <- length(names)
  # x[, columns] of one column is a vector
  if (columns == 1L && is.null(dim(values))) values <- as.matrix(values)
  size <- dim(values)
  stop_input_if(
    length(size) != 2L || any(size != c(rows, columns)),
    "`x` must return the required columns with a row for each value of `y`, %d x %d, not %s",
    rows, columns, if (length(size) == 2L) paste(size, collapse = " x ") else describe(values)
  )
  other <- if (named && !is.null(colnames(values))) which(colnames(values) != names)
  stop_input_if(length(other), "`x` must return the required columns: '%s', not '%s'",
                names[other[1L]], colnames(values)[other[1L]])
  as_values(values)
}

# The fit that is given ----------------------------------------------------------------------------

check_screen_fit <- function(fit, source, control) {
  if (is.null(fit)) {
    stop_argument_if(control$rule == "safe2",
                     "`rule = \"safe2\"` needs `fit`, a fit of l1_path() to the same data")
    return(NULL)
  }
  stop_argument_if(control$rule == "safe1",
                   "`fit` is not used by `rule = \"safe1\"`: use \"safe2\" or \"gap\"")
  check_made(fit, "fit", "l1_path", "a fit of l1_path()")
  stop_argument_if(fit$loss != control$loss, "`fit` has `loss = \"%s\"`, not \"%s\"", fit$loss,
                   control$loss)
  stop_argument_if(fit$alpha != control$alpha, "`fit` has `alpha = %s`, not %s",
                   format(fit$alpha, digits = 4), format(control$alpha, digits = 4))
  data_of <- function(problem, names) {
    list(problem$rows[c("y", "weight")], problem$rows$offset, problem$z, names,
         given_properties(problem)[c("intercept", "standardize", "penalty")])
  }
  same <- identical(data_of(fit$problem, fit$problem$columns$name),
                    data_of(source$problem, source$names))
  if (!same) stop_other_data()
  fit
}

stop_other_data <- function() {
  stop_argument("`fit` is a fit to other data: its columns, response, weights or covariates differ")
}

# Refuses a fit to other data, by comparing centre and scale of the columns.
check_same_columns <- function(fit, problem, columns) {
  for (part in c("centre", "scale")) {
    old <- fit$problem$columns[[part]][columns]
    off <- abs(old - problem$columns[[part]]) > 1e-8 * (abs(old) + problem$columns$scale)
    if (any(off)) stop_other_data()
  }
}

# the rows of the fit's path whose solutions are used
used_lambdas <- function(lambda0, control) {
  if (is.null(control$fit)) {
    stop_argument_if(!is.null(lambda0), "`lambda0` needs `fit`")
    return(integer())
  }
  path_lambda <- control$fit$path$lambda
  if (is.null(lambda0)) {
    above <- path_lambda >= control$lambda * (1 - 1e-12)
    near <- c(if (any(above)) min(path_lambda[above]), if (!all(above)) max(path_lambda[!above]))
    return(match(near, path_lambda))
  }
  lambda0 <- check_lambda(lambda0)
  near <- vapply(lambda0, function(value) which.min(abs(path_lambda - value)), 0L)
  far <- abs(path_lambda[near] - lambda0) > 1e-8 * lambda0
  if (any(far)) refuse("lambda0", "among the lambdas of `fit`", lambda0[far][1L])
  unique(near)
}

# Dual points --------------------------------------------------------------------------------------

# The null model, then the models of the fit that are used: lists of `r`, `f`, `loss`, `norms` (the
# penalty for a lambda of 1), `lambda`, and of an elastic net `pull`, the ridge's part of the
# products of the columns `features`.
screen_points <- function(source, control) {
  problem <- source$problem
  null <- null_solution(one_plain_column(problem), control)
  if (control$loss != "squared") check_not_separated(problem, null$null, control$loss)
  f <- drop(covariate_basis(problem) %*% null$u) / sqrt(problem$rows$weight)
  points <- list(list(r = null$r, f = f, loss = null$null, norms = 0, lambda = Inf,
                      features = integer(), pull = numeric()))
  for (row in control$used) {
    solution <- control$fit$solutions[[row]]
    if (!length(solution$features)) next
    problem <- source$read(solution$features)
    check_same_columns(control$fit, problem, solution$features)
    u <- if (!losses[[control$loss]]$smooth) solution$u
    point <- model_point(problem, control$loss, seq_along(solution$features), solution$beta, u)
    lambda <- control$alpha * control$fit$path$lambda[row]
    point$norms <- point$l1 + ridge_share(control$alpha) / 2 * sum(solution$beta^2)
    point$features <- solution$features
    point$pull <- lambda * ridge_share(control$alpha) * solution$beta
    points <- c(points, list(c(point, lambda = lambda)))
  }
  points
}

# The amount by which the ridge reduces the dual value of s r, times 2 / s^2, at each lambda.
point_tail <- function(control, point, lambda) {
  if (control$alpha == 1) return(0 * lambda)
  sum(point$pull^2) / (lambda * ridge_share(control$alpha))
}

# A list of `corr`, |a_k'r| of every column and point (n x points), `max_corr`, the largest for each
# point of |a_k'r - pull_k|, `norms` of the columns, rounded up, and `usable`.
read_products <- function(source, control, points) {
  found <- each_block(source, function(block) {
    problem <- source$read(block)
    if (!is.null(control$fit)) check_same_columns(control$fit, problem, block)
    parts <- lapply(points, function(point) {
      products <- pulled <- column_products(problem, point$r)
      at <- match(block, point$features)
      own <- !is.na(at)
      pulled[own] <- pulled[own] - point$pull[at[own]]
      list(corr = abs(products), largest = max(0, abs(pulled)))
    })
    list(corr = do.call(cbind, lapply(parts, `[[`, "corr")),
         largest = vapply(parts, `[[`, 0, "largest"), norms = working_norms(problem) * (1 + 1e-12))
  })
  corr <- unname(do.call(rbind, lapply(found, `[[`, "corr")))
  norms <- unlist(lapply(found, `[[`, "norms"), use.names = FALSE)
  max_corr <- do.call(pmax, lapply(found, `[[`, "largest"))
  max_corr[1L] <- above_rounding(max_corr[1L], norms, points[[1L]]$r)
  list(corr = corr, norms = norms, max_corr = max_corr, usable = norms > 0)
}

# The best dual value at lambda of the points, whose largest products are max_corr.
best_dual <- function(problem, control, points, max_corr, lambda) {
  max(mapply(function(point, max_corr) {
    dual_value(problem, control$loss, point$r, max_corr, lambda, point_tail(control, point, lambda),
               point$f)
  }, points, max_corr))
}

# A lower bound of the optimum as a function of lambda, linear between knots. The optimum is concave
# in lambda, 0 at 0 and equal to the objective of the null model from lambda_max on.
lower_bound <- function(source, control, points, max_corr, lambda_max) {
  null <- points[[1L]]$loss
  if (lambda_max == 0) return(list(lambda = c(0, 1), value = c(1, 1) * null * (1 - 1e-12)))
  if (!losses[[control$loss]]$smooth) {
    path <- control$fit$path[control$valued, ]
    lambda <- c(path$lambda, lambda_max)
    value <- c(path$objective - path$gap, null)
  } else {
    lambda <- lambda_max * exp(seq(log(0.02), 0, length.out = 200))
    lambda <- c(lambda, control$lambda, max_corr)
    value <- vapply(lambda, function(knot) {
      best_dual(source$problem, control, points, max_corr, knot)
    }, 0)
  }
  lambda <- c(0, lambda)
  sorted <- order(lambda)
  lambda <- lambda[sorted]
  value <- pmax(cummax(c(0, value)[sorted]) - 1e-12 * null, 0)
  last <- !duplicated(lambda, fromLast = TRUE)
  list(lambda = lambda[last], value = value[last])
}

# Screening ----------------------------------------------------------------------------------------

# list(bounds, reach: rho times lambda_max, usable, lambda_max, exact)
screen_source <- function(source, control) {
  points <- screen_points(source, control)
  if (!losses[[control$loss]]$smooth) return(screen_hinge(source, control, points))
  pass <- read_products(source, control, points)
  lambda_max <- pass$max_corr[1L]
  if (lambda_max == 0) {
    # no column has a product with the null model's residuals, so no lambda keeps one
    none <- numeric(length(pass$norms))
    result <- list(bounds = none, reach = none)
  } else if (is.null(losses[[control$loss]]$ball)) {
    # a dual without a ball leaves the curvature at a model
    result <- local_bounds(source, control, points, pass)
  } else if (control$rule != "gap" && is_separable(control$loss)) {
    bound <- lower_bound(source, control, points, pass$max_corr, lambda_max)
    result <- search_bounds(source, control, points, bound, lambda_max)
  } else {
    result <- if (control$loss == "squared") square_bounds(source$problem, control, points, pass)
    if (control$rule == "gap") {
      # Balls about dual points with a radius from the duality gap of a model. Up to the largest
      # product of its dual point, gap / lambda^2 decreases with lambda, so a column is dropped from
      # one lambda on.
      result <- bounds_by_points(control, points, pass, result, function(i, top) {
        ball <- gap_ball(source$problem, control, points[[i]], pass$max_corr[i], control$lambda)
        list(bounds = (ball$s * pass$corr[, i] + ball$radius * pass$norms) * (1 + 1e-10),
             reach = ball_reach(source$problem, control, points[[i]], pass$max_corr[i], top,
                                (1 - pass$corr[, i] / pass$max_corr[i]) / pass$norms))
      })
    }
    if (is_separable(control$loss) && !needs_gap(control$loss) && !is.null(control$fit)) {
      result <- also_safe(source, control, points, pass$max_corr, result)
    }
  }
  result$usable <- pass$usable
  c(result, lambda_max = lambda_max, exact = TRUE)
}

# Near lambda_max the region of "safe2" may exclude columns that a ball keeps. The region is
# computed for these columns only.
also_safe <- function(source, control, points, max_corr, result) {
  lambda <- control$lambda
  gamma <- best_dual(source$problem, control, points, max_corr, lambda) - 1e-12 * points[[1L]]$loss
  kept <- lambda <= result$bounds
  found <- each_block(source, function(block) {
    block <- block[kept[block]]
    if (!length(block)) return(numeric())
    safe_call("bounds", working(source$read(block)), control, gamma = gamma, enough = lambda)$bounds
  })
  result$bounds[kept] <- pmin(result$bounds[kept], unlist(found))
  result$reach <- ifelse(lambda > result$bounds, pmin(result$reach, lambda), result$reach)
  result
}

# lambda_max is taken from the fit if there is one. For data read in blocks the dual point of the
# null model gives an upper bound, which is exact if the dual point is unique.
screen_hinge <- function(source, control, points) {
  lambda_max <- if (!is.null(control$fit)) {
    control$fit$lambda_max
  } else if (!control$streamed) {
    hinge_lambda_max(source$problem, control)
  } else {
    read_products(source, control, points)$max_corr
  }
  # lambda_max is computed by an iteration from below
  lambda_max <- lambda_max * (1 + 1e-9)
  bound <- lower_bound(source, control, points, NULL, lambda_max)
  result <- search_bounds(source, control, points, bound, lambda_max)
  problem <- source$problem
  unique_point <- problem$coding$intercept && ncol(problem$z) == 1L &&
    sum(problem$rows$weight * problem$rows$y) == 0
  exact <- unique_point || !control$streamed || !is.null(control$fit)
  c(result, lambda_max = lambda_max, exact = exact)
}

# Least squares: a ball about y, (10) and Theorem 2, and in closed form the lambda beyond which each
# column is dropped.
square_bounds <- function(problem, control, points, pass) {
  y <- working_response(problem)
  yy <- sum(y^2)
  c <- pass$corr[, 1L]
  d <- pass$norms
  slack <- length(y) * .Machine$double.eps * yy
  bounds <- reach <- Inf
  for (i in seq_along(points)) {
    tail <- point_tail(control, points[[i]], control$lambda)
    a <- sum(points[[i]]$r^2) + tail
    b <- abs(sum(y * points[[i]]$r))
    max_corr <- pass$max_corr[i]
    distance2 <- max(yy - b^2 / a, 0) + slack
    radius <- sqrt(a * max(b / a - control$lambda / max_corr, 0)^2 + distance2)
    bounds <- pmin(bounds, c + radius * d)
    # The tail of a ridge decreases as lambda increases, so there is no closed form. A column
    # dropped at one lambda is dropped at any larger one.
    if (tail > 0) {
      own <- ifelse(control$lambda > bounds * (1 + 1e-10), control$lambda, Inf)
    } else {
      # where lambda = c + D(lambda) d for the radius D, in units of max_corr
      big_a <- max_corr^2 - d^2 * a
      big_b <- max_corr * c - d^2 * b
      big_c <- c^2 - d^2 * (yy + slack)
      root <- sqrt(pmax(big_b^2 - big_a * big_c, 0))
      flat <- c + d * sqrt(distance2)
      curved <- ifelse(big_b >= 0, (big_b + root) / big_a, big_c / (big_b - root))
      own <- ifelse(flat > max_corr * b / a, flat / max_corr, curved) * max_corr
    }
    reach <- pmin(reach, own)
  }
  list(bounds = bounds * (1 + 1e-10), reach = reach * (1 + 1e-10))
}

# The best of the bounds `result` and the bounds by every point whose lambda is not below the lambda
# of the mask. `of_point` gives the bounds by a point, and the lambda from which on, up to `top`,
# each column is dropped.
bounds_by_points <- function(control, points, pass, result, of_point) {
  lambda <- control$lambda
  if (is.null(result)) result <- list(bounds = Inf, reach = Inf)
  for (i in seq_along(points)) {
    if (points[[i]]$lambda < lambda * (1 - 1e-12)) next
    own <- of_point(i, if (i == 1L) pass$max_corr[i] else min(lambda, pass$max_corr[i]))
    # the range of a model of the fit counts only if it contains lambda
    if (i > 1L) own$reach[lambda <= own$bounds] <- Inf
    result <- Map(pmin, result, own)
  }
  result$reach <- ifelse(lambda > result$bounds, pmin(result$reach, lambda), result$reach)
  result
}

# Bounds from the curvature of the models, for losses without a ball: docs/elastic-net.md. Between
# two knots no gap is above the larger one at the knots, and no lambda is below the lower knot.
local_bounds <- function(source, control, points, pass) {
  ways <- read_curvatures(source, control, points)
  bounds_by_points(control, points, pass, NULL, function(i, top) {
    gap_at <- function(lambda) {
      gap_ball(source$problem, control, points[[i]], pass$max_corr[i], lambda)$gap
    }
    bound <- function(gap) {
      (pass$corr[, i] + sqrt(2 * ways$curvature[, i] * gap) + ways$largest * gap / 3) * (1 + 1e-10)
    }
    knots <- top * exp(seq(log(1e-3), 0, length.out = 200))
    gap <- gap_at(knots)
    # the lowest knot from which on, up to the last one, a column is dropped
    open <- rep(TRUE, nrow(pass$corr))
    reach <- rep(top, nrow(pass$corr))
    for (knot in rev(seq_along(knots)[-1L]) - 1L) {
      open <- open & bound(max(gap[knot + 0:1])) < knots[knot]
      if (!any(open)) break
      reach[open] <- knots[knot]
    }
    list(bounds = bound(gap_at(control$lambda)), reach = reach)
  })
}

# A list of the `curvature` of the loss along every column at each point (n x points), and the
# `largest` absolute value of the column without weights, the column being residualised.
read_curvatures <- function(source, control, points) {
  problem <- source$problem
  curves <- lapply(points, function(point) loss_at(problem, control$loss, point$f)$curve)
  relative <- !is.null(free_units(problem))
  root_w <- root_weights(problem)
  found <- each_block(source, function(block) {
    problem <- source$read(block)
    basis <- covariate_basis(problem)
    parts <- lapply(column_blocks(nrow(problem), length(block)), function(part) {
      columns <- working_matrix(problem, part, basis) / root_w
      list(curvature = vapply(curves, function(curve) colSums(columns * curve(columns)),
                              numeric(ncol(columns))),
           largest = apply(columns, 2L, function(x) if (relative) max(x) - min(x) else max(abs(x))))
    })
    list(curvature = do.call(rbind, lapply(parts, function(part) rbind(part$curvature))),
         largest = unlist(lapply(parts, `[[`, "largest")))
  })
  list(curvature = do.call(rbind, lapply(found, `[[`, "curvature")),
       largest = unlist(lapply(found, `[[`, "largest"), use.names = FALSE))
}

# a ball about the dual point s r that contains the optimal dual point: list(s, gap, radius),
# vectors over lambda
gap_ball <- function(problem, control, point, max_corr, lambda) {
  s <- pmin(1, lambda / max_corr)
  r <- point$r
  # the dual value of the point s r, without a ridge
  dual <- if (control$loss == "squared") {
    s * sum(working_response(problem) * r) - s^2 * sum(r^2) / 2
  } else {
    dual_objective(problem, control$loss, r, s, point$f)
  }
  dual <- dual - s^2 * point_tail(control, point, lambda) / 2
  gap <- pmax(point$loss + lambda * point$norms - dual, 0) + 1e-12 * point$loss
  list(s = s, gap = gap, radius = sqrt(gap * losses[[control$loss]]$ball))
}

# The smallest lambda from which up to `top` a ball drops column k: where ball gap(lambda) <
# (share lambda)^2, share = (1 - |a_k'r| / max_corr) / norm. The gap is computed at knots. Between
# knots chords are used, which are above the gap.
ball_reach <- function(problem, control, point, max_corr, top, share) {
  lambda <- top * exp(seq(log(1e-3), 0, length.out = 200))
  gap <- losses[[control$loss]]$ball * gap_ball(problem, control, point, max_corr, lambda)$gap
  level <- rev(cummax(rev(gap / lambda^2)))
  square <- ifelse(is.finite(share) & share > 0, share, 0)^2
  # column k is dropped at the last knots, from this one on
  first <- length(lambda) - findInterval(square, rev(level), left.open = TRUE) + 1L
  inside <- pmin(pmax(first, 2L), length(lambda))
  slope <- (gap[inside] - gap[inside - 1L]) / (lambda[inside] - lambda[inside - 1L])
  intercept <- gap[inside] - slope * lambda[inside]
  root <- (slope + sqrt(pmax(slope^2 + 4 * square * intercept, 0))) / (2 * square)
  root <- pmin(pmax(root * (1 + 1e-9), lambda[inside - 1L]), lambda[inside])
  ifelse(first > length(lambda), Inf, ifelse(first == 1L, lambda[1L], root))
}

# Bounds without a closed form, from a lower bound of the optimum. For hinge and "gap" the bounds
# also use the gaps of the models, at `lambda` only.
search_bounds <- function(source, control, points, bound, top) {
  lambda <- control$lambda
  value <- stats::approx(bound$lambda, bound$value, lambda, rule = 2)$y
  found <- each_block(source, function(block) {
    problem <- source$read(block)
    if (!is.null(control$fit)) check_same_columns(control$fit, problem, block)
    work <- working(problem)
    result <- safe_call("reach", work, control, knots = bound$lambda, values = bound$value,
                        lambda = lambda, top = top)[c("bounds", "reach")]
    if (control$rule == "gap") {
      result <- bounds_by_points(control, points, NULL, result, function(i, top) {
        gap <- points[[i]]$loss + lambda * points[[i]]$norms - value
        own <- safe_call("hinge_gap", work, control, f = points[[i]]$f, gap = gap)$bounds
        list(bounds = own, reach = rep(Inf, length(own)))
      })
    }
    c(result, list(usable = problem$columns$usable))
  })
  stacked(found, c("bounds", "reach", "usable"))
}

# The mask -----------------------------------------------------------------------------------------

new_mask <- function(source, control, result) {
  stop_input_if(!any(result$usable),
                "every column of `x` is constant or collinear with the covariates")
  above <- control$lambda > result$lambda_max * (1 + 1e-9)
  kept <- which(!above & result$usable & result$bounds >= control$lambda)
  named <- function(values) stats::setNames(values, source$names)
  seal(structure(list(
    keep = named(seq_along(source$names) %in% needed_columns(source$problem, kept)),
    # 0 / 0 if lambda_max is 0
    rho = named(ifelse(result$usable & result$lambda_max > 0,
                       pmin(result$reach / result$lambda_max, 1), 0)),
    bounds = named(result$bounds), lambda = control$asked,
    lambda_max = result$lambda_max / control$alpha,
    exact = result$exact, loss = control$loss, rule = control$rule,
    lambda0 = control$fit$path$lambda[control$used], usable = named(result$usable)
  ), class = c("sparsels_mask", "sparsels_result")))
}

#' @exportS3Method
record.sparsels_mask <- function(x) {
  list(rows = data.frame(term = names(x$keep), keep = unname(x$keep), rho = unname(x$rho),
                         bound = unname(x$bounds)),
       row = data.frame(loss = x$loss, rule = x$rule, features = length(x$keep),
                        kept = sum(x$keep), lambda = x$lambda, lambda_max = x$lambda_max,
                        exact = x$exact), complete = TRUE)
}

#' @exportS3Method
print_result.sparsels_mask <- function(x, ...) {
  n <- length(x$keep)
  kept <- sum(x$keep)
  say("<safe screening> ", if (kept) {
    sprintf("kept %d of %s (%s %%)%s", kept, counted(n, "column"), shown(100 * kept / n),
            if (kept < n) "; in every solution the others have the coefficient 0" else "")
  } else {
    sprintf("kept none of %s: all coefficients are 0 at this lambda", counted(n, "column"))
  })
  share <- if (x$lambda_max > 0) {
    sprintf("%s%s of lambda_max (%s)", if (x$exact) "" else "at most ",
            shown(x$lambda / x$lambda_max), shown_parameter(x$lambda_max))
  } else {
    "and lambda_max is 0"
  }
  say("lambda: ", shown_parameter(x$lambda), ", ", share)
  say(x$loss, " loss, rule \"", x$rule, "\"")
  if (!all(x$usable)) cat(sprintf("excluded: %s\n", counted(sum(!x$usable), "column")))
}

#' @exportS3Method
details.sparsels_mask <- function(x) {
  at <- c(1, 0.9, 0.8, 0.7, 0.6, 0.5)
  rho <- x$rho[x$usable]
  kept <- data.frame(share = at, lambda = at * x$lambda_max,
                     kept = vapply(at, function(share) sum(rho >= share), 0L))
  # with the solutions of a fit, `rho` covers the lambdas from there up to the lambda of the mask
  if (length(x$lambda0)) kept <- NULL
  last <- x$keep & x$usable
  nearest <- utils::head(order(-x$bounds * last), min(5L, sum(last)))
  largest <- data.frame(name = names(x$keep)[nearest], bound = unname(x$bounds[nearest]),
                        lambda = rep(x$lambda, length(nearest)))
  counts <- c(kept = sum(x$keep), dropped = sum(!x$keep & x$usable), excluded = sum(!x$usable))
  tables <- list(
    "columns that the rule would keep at other lambdas, a share of lambda_max" = kept,
    "kept columns with the largest bounds (those with a bound below lambda are dropped)" =
      if (length(nearest)) largest
  )
  list(columns = counts, kept = kept, largest = largest, tables = without_null(tables))
}
