#' Safe feature elimination
#'
#' Finds columns that certainly have no coefficient in any solution of a model with an l1 penalty,
#' before it is solved, so that they need not be kept, or not even be loaded.
#'
#' The model is that of [l1_path()]: it minimises
#' \deqn{\sum_j w_j f(y_j, v'z_j + \beta'\tilde x_j) + \lambda \|\beta\|_1}{
#' sum_j w_j f(y_j, v'z_j + beta'xs_j) + lambda ||beta||_1}
#' with \eqn{f(y, s) = (y - s)^2 / 2} (`"squared"`), \eqn{\log(1 + e^{-ys})} (`"logistic"`) or
#' \eqn{\max(0, 1 - ys)} (`"hinge"`). A column takes no part in it when no dual solution \eqn{r}
#' can have a product \eqn{|a_k' r|} as large as lambda with the working column \eqn{a_k}. A rule
#' knows a region that holds every dual solution, and takes the largest product \eqn{T_k} over it:
#' column k is dropped when \eqn{\lambda > T_k}, by a margin for rounding.
#'
#' * `"safe1"`: the points with a dual value no smaller than that of the model without columns, its
#'   residual shrunk until no product exceeds lambda (Theorem 1 of the paper; (20) for hinge; (27)
#'   for logistic, with the best multiplier of the intercept too).
#' * `"safe2"`: the same with the best dual value of solutions that are known, those of `fit`
#'   (Theorem 2). Their dual points are computed again from the data at hand.
#' * `"gap"`: a ball about such a dual point, as small as its duality gap says (Fercoq and others
#'   2015); for hinge, which has no such ball, the dual points that the gap allows row by row. With
#'   `fit` it drops what `"safe2"` drops, too. Without `fit` the model without columns is taken.
#'
#' At lambda above `lambda_max` every column is dropped. Near it a rule drops most columns, at a
#' tenth of it hardly any: safe elimination saves memory, while [l1_path()] finds a path quickly
#' without its help.
#'
#' **More data than memory.** `x` may be a function that returns the columns it is asked for, or
#' any object with two dimensions of which columns can be taken by `x[, columns]`, such as a
#' `DelayedMatrix`. It is then read by blocks of columns of up to 32 MB, and no more than a block is
#' held: once for `"squared"` and for `"gap"` with `"logistic"`, twice for the rest (once for hinge
#' with `fit`); with `fit`, the columns of its models too, and for `"gap"` with `"logistic"` those
#' that the ball leaves. After it, the columns that `mask$keep`
#' names are all that the model needs. For hinge `lambda_max` is then an upper bound where the
#' classes do not have the same weight.
#'
#' @inheritParams l1_path
#' @param x As for [as_problem()], or, too large to hold, an object with two dimensions and `[`, or
#'   a function of column numbers (of names, when `columns` are names) that returns these columns
#'   of all rows, a matrix or a sparse matrix of the Matrix package.
#' @param y,data The response, and for a formula the data, as for [as_problem()].
#' @param lambda One penalty.
#' @param rule `"safe1"`, `"safe2"` or `"gap"`.
#' @param fit A fit of [l1_path()] to the same data and loss, for `"safe2"` and `"gap"`.
#' @param lambda0 Which lambdas of `fit` to use; `NULL` for the nearest on either side.
#' @param columns For a function `x`: the number of columns, or their names.
#' @param threads Number of OpenMP threads over columns, for `"logistic"` and `"hinge"`.
#'
#' @return `safe_screen()`: a list of class `sparsels_mask` with, for n columns,
#'   * `keep` (n, named): FALSE for the columns that are dropped; columns that are constant or
#'     explained by the covariates are dropped too;
#'   * `rho` (n, named): the column is in no solution for any lambda above `rho * lambda_max`; 1
#'     when nothing can be said, 0 for a column set aside. With `rule = "gap"` and `fit`, for a
#'     column that is dropped: for any lambda from there up to `lambda`;
#'   * `bounds` (n, named): \eqn{T_k}, the largest product that a dual solution can have;
#'   * `lambda`, `lambda_max` and `exact`, whether that is the smallest lambda without columns or an
#'     upper bound of it;
#'   * `loss`, `rule`, `lambda0` (of `fit`, those used), `usable` (n).
#'
#'   `problem[, mask$keep]` is the smaller problem. `exclude()`: the numbers of the columns that
#'   were dropped, which is what glmnet's argument of that name takes.
#'
#' @section Cost: O(mn), or the nonzeros, for each of the reads and for each solution of `fit` that
#'   is used. For hinge, O(m log m) a column; for logistic with `"safe1"` and `"safe2"` about ten
#'   passes, each with an exponential a value. `rho` takes some ten times as much for these two, but
#'   nothing for squares and for logistic with `"gap"`.
#'
#' @section Errors: As for [l1_path()]; `rule = "safe2"` without `fit`; a `fit` of another loss or
#'   to other data; a `lambda0` that is no lambda of `fit`; an `x` that returns other columns than
#'   asked for; classes that covariates alone separate. A lambda above `lambda_max` is no error.
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
safe_screen <- function(x, y = NULL, ..., data = NULL, lambda, loss = "squared", rule = "safe1",
                        fit = NULL, lambda0 = NULL, columns = NULL, threads = 1) {
  check_given(x, "x")
  streamed <- is_streamed(x)
  if (streamed) {
    check_dots(..., known = unique(c(problem_arguments, names(formals(safe_screen)))),
               allowed = problem_arguments)
    source <- streamed_source(x, y, columns, response_name(substitute(y)), ..., data = data)
  } else {
    if (!is.null(columns)) stop_argument("`columns` is only for an `x` that is a function")
    source <- whole_source(fitter_problem(x, y, ..., data = data))
  }
  control <- l1_control(source$problem, loss, threads = threads)
  control$lambda <- check_positive(if (missing(lambda)) NULL else lambda, "lambda")
  control$rule <- check_choice(rule, "rule", c("safe1", "safe2", "gap"))
  control$streamed <- streamed
  control$fit <- check_screen_fit(fit, source, control)
  control$used <- used_lambdas(lambda0, control)
  # a dual value is enough for hinge, and costs nothing
  control$valued <- if (is.null(lambda0)) seq_along(control$fit$path$lambda) else control$used
  new_mask(source, control, screen_source(source, control))
}

#' @rdname safe_screen
#' @param mask What `safe_screen()` returned.
#' @export
exclude <- function(mask) {
  check_given(mask, "mask")
  if (!inherits(mask, "sparsels_mask")) refuse("mask", "a mask of safe_screen()", mask)
  check_object(mask)
  which(!unname(mask$keep))
}

stop_argument <- function(...) stop_input(sprintf(...), "sparsels_error_argument")

# Where columns come from --------------------------------------------------------------------------

# A source: `problem` (all but columns that are not in hand), `names`, `named`, `blocks` (column
# numbers) and `read(columns)`, the problem with these columns.

whole_source <- function(problem) {
  read <- function(columns) {
    if (identical(columns, seq_len(ncol(problem)))) problem else problem[, columns]
  }
  list(problem = problem, names = problem$names, named = problem$named,
       blocks = list(seq_len(ncol(problem))), read = read)
}

is_streamed <- function(x) {
  known <- c("matrix", "Matrix", "data.frame", "formula", "SummarizedExperiment",
             "sparsels_problem")
  is.function(x) || length(dim(x)) == 2L && !inherits(x, known)
}

streamed_source <- function(x, y, columns, response, ..., data) {
  if (is.function(x)) {
    names <- check_columns(columns)
    n <- if (is.null(names)) columns else length(names)
    take <- function(block) x(if (is.null(names)) block else names[block])
    rows <- NROW(single_column(y, "y"))
  } else {
    if (!is.null(columns)) stop_argument("`columns` is only for an `x` that is a function")
    names <- colnames(x)
    n <- ncol(x)
    rows <- nrow(x)
    take <- function(block) x[, block, drop = FALSE]
  }
  check_names(names, "x")
  problem <- response_side(rows, y, response, ..., data = data)
  read <- function(columns) {
    own <- if (is.null(names)) paste0("V", columns) else names[columns]
    values <- check_block(take(columns), rows, own, !is.null(names))
    colnames(values) <- own
    check_values(values, "x")
    put_columns(problem, values)
  }
  list(problem = problem, names = if (is.null(names)) paste0("V", seq_len(n)) else names,
       named = !is.null(names), blocks = column_blocks(rows, n, 4e6), read = read)
}

# the names, NULL for a number
check_columns <- function(columns) {
  if (is.character(columns) && length(columns)) return(columns)
  must <- "the number of columns of `x` or their names"
  if (!is_number(columns) || columns < 1 || columns != round(columns)) {
    refuse("columns", must, columns)
  }
  NULL
}

check_block <- function(values, rows, names, named) {
  columns <- length(names)
  # x[, columns] of one column is a vector
  if (columns == 1L && is.null(dim(values))) values <- as.matrix(values)
  size <- dim(values)
  if (length(size) != 2L || any(size != c(rows, columns))) {
    stop_input(sprintf(
      "`x` must give the columns asked for with a row for each value of `y`, %d x %d, not %s",
      rows, columns, if (length(size) == 2L) paste(size, collapse = " x ") else describe(values)
    ))
  }
  other <- if (named && !is.null(colnames(values))) which(colnames(values) != names)
  if (length(other)) {
    stop_input(sprintf("`x` must give the columns asked for: '%s' was, not '%s'",
                       names[other[1L]], colnames(values)[other[1L]]))
  }
  as_values(values)
}

# The fit that is given ----------------------------------------------------------------------------

check_screen_fit <- function(fit, source, control) {
  if (is.null(fit)) {
    if (control$rule == "safe2") {
      stop_argument("`rule = \"safe2\"` needs `fit`, a fit of l1_path() to the same data")
    }
    return(NULL)
  }
  if (control$rule == "safe1") {
    stop_argument("`fit` is not used by `rule = \"safe1\"`: use \"safe2\" or \"gap\"")
  }
  if (!inherits(fit, "l1_path")) refuse("fit", "a fit of l1_path()", fit)
  check_object(fit)
  if (fit$loss != control$loss) {
    stop_argument("`fit` has `loss = \"%s\"`, not \"%s\"", fit$loss, control$loss)
  }
  same <- function(part, of = source$problem) identical(fit$problem[[part]], of[[part]])
  parts <- c("y", "weights", "z", "intercept", "standardize")
  if (!all(vapply(parts, same, NA)) || !same("names", source)) stop_other_data()
  fit
}

stop_other_data <- function() {
  stop_argument("`fit` is a fit to other data: its columns, response, weights or covariates differ")
}

# centre and scale tell most other data from these
check_same_columns <- function(fit, problem, columns) {
  for (part in c("centre", "scale")) {
    old <- fit$problem[[part]][columns]
    if (any(abs(old - problem[[part]]) > 1e-8 * (abs(old) + problem$scale))) stop_other_data()
  }
}

# the rows of the fit's path whose solutions are used
used_lambdas <- function(lambda0, control) {
  if (is.null(control$fit)) {
    if (!is.null(lambda0)) stop_argument("`lambda0` needs `fit`")
    return(integer())
  }
  known <- control$fit$path$lambda
  if (is.null(lambda0)) {
    above <- known >= control$lambda * (1 - 1e-12)
    near <- c(if (any(above)) min(known[above]), if (!all(above)) max(known[!above]))
    return(match(near, known))
  }
  lambda0 <- check_lambda(lambda0)
  near <- vapply(lambda0, function(one) which.min(abs(known - one)), 0L)
  far <- abs(known[near] - lambda0) > 1e-8 * lambda0
  if (any(far)) refuse("lambda0", "among the lambdas of `fit`", lambda0[far][1L])
  unique(near)
}

# Dual points --------------------------------------------------------------------------------------

# The model without columns, then those of the fit: `r`, `f`, `loss`, `l1`, `lambda`.
screen_points <- function(source, control) {
  points <- list(null_point(source$problem, control))
  for (row in control$used) {
    solution <- control$fit$solutions[[row]]
    if (!length(solution$features)) next
    own <- source$read(solution$features)
    check_same_columns(control$fit, own, solution$features)
    u <- if (control$loss == "hinge") solution$u
    point <- model_point(own, control$loss, seq_along(solution$features), solution$beta, u)
    points <- c(points, list(c(point, lambda = control$fit$path$lambda[row])))
  }
  points
}

# no column takes part, so that any will do
null_point <- function(problem, control) {
  null <- null_solution(put_columns(problem, matrix(as.double(seq_len(nrow(problem))))), control)
  if (control$loss != "squared") check_not_separated(problem, null$null)
  f <- drop(covariate_basis(problem) %*% null$u) / sqrt(problem$weights)
  list(r = null$r, f = f, loss = null$null, l1 = 0, lambda = Inf)
}

# |a_k'r| of every column and point (n x points), the largest of each point, and the columns' norms.
read_products <- function(source, control, points) {
  n <- length(source$names)
  products <- matrix(0, n, length(points))
  norms <- numeric(n)
  for (block in source$blocks) {
    problem <- source$read(block)
    if (!is.null(control$fit)) check_same_columns(control$fit, problem, block)
    products[block, ] <- vapply(points, function(point) abs(column_products(problem, point$r)),
                                numeric(length(block)))
    norms[block] <- working_norms(problem) * (1 + 1e-12)
  }
  list(products = products, norms = norms, most = apply(products, 2L, max), usable = norms > 0)
}

# the dual value of s r
dual_at <- function(problem, loss, r, s) {
  if (loss == "squared") return(s * sum(working_response(problem) * r) - s^2 * sum(r^2) / 2)
  sum(problem$weights * entropy(s * problem$y[, 1L] * r / sqrt(problem$weights)))
}

# A lower bound of the optimum for every lambda, linear between knots: the optimum is concave in
# lambda, 0 at 0 and that of no columns from lambda_max on.
lower_bound <- function(source, control, points, most, lambda_max) {
  null <- points[[1L]]$loss
  if (lambda_max == 0) return(list(lambda = c(0, 1), value = c(1, 1) * null * (1 - 1e-12)))
  if (control$loss == "hinge") {
    path <- control$fit$path[control$valued, ]
    lambda <- c(path$lambda, lambda_max)
    value <- c(path$objective - path$gap, null)
  } else {
    lambda <- lambda_max * exp(seq(log(0.02), 0, length.out = 200))
    lambda <- c(lambda, control$lambda, most)
    value <- vapply(lambda, function(one) {
      max(mapply(function(point, most) {
        dual_value(source$problem, control$loss, point$r, most, one)
      }, points, most))
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

# `bounds`, `reach` (rho, not divided by lambda_max), `lambda_max` and `exact`
screen_source <- function(source, control) {
  points <- screen_points(source, control)
  if (control$loss == "hinge") return(screen_hinge(source, control, points))
  read <- read_products(source, control, points)
  if (control$rule != "gap" && control$loss == "logistic") {
    bound <- lower_bound(source, control, points, read$most, read$most[1L])
    found <- search_bounds(source, control, points, bound, read$most[1L])
  } else {
    ball <- if (control$loss == "squared") square_bounds(source$problem, control, points, read)
    found <- if (control$rule == "gap") {
      ball_bounds(source$problem, control, points, read, ball)
    } else {
      ball
    }
    if (control$loss == "logistic" && !is.null(control$fit)) {
      found <- also_safe(source, control, points, read$most, found)
    }
  }
  found$usable <- read$usable
  c(found, lambda_max = read$most[1L], exact = TRUE)
}

# Near lambda_max the region of "safe2" may rule out columns that a ball keeps: it is asked about
# those alone.
also_safe <- function(source, control, points, most, found) {
  lambda <- control$lambda
  gamma <- max(mapply(function(point, most) {
    dual_value(source$problem, "logistic", point$r, most, lambda)
  }, points, most)) - 1e-12 * points[[1L]]$loss
  for (block in source$blocks) {
    kept <- block[lambda <= found$bounds[block]]
    if (!length(kept)) next
    problem <- source$read(kept)
    at <- c(working(problem), list(response = problem$y))
    own <- safe_call("bounds", at, control, gamma = gamma, enough = lambda)$bounds
    found$bounds[kept] <- pmin(found$bounds[kept], own)
  }
  found$reach <- ifelse(lambda > found$bounds, pmin(found$reach, lambda), found$reach)
  found
}

# A fit knows lambda_max. Of data that are read in blocks it is not known: the null model's dual
# point then gives an upper bound, exact where there is no other such point.
screen_hinge <- function(source, control, points) {
  most <- if (!is.null(control$fit)) {
    control$fit$lambda_max
  } else if (!control$streamed) {
    hinge_lambda_max(source$problem, control)
  } else {
    read_products(source, control, points)$most
  }
  # found from below
  most <- most * (1 + 1e-9)
  bound <- lower_bound(source, control, points, NULL, most)
  found <- search_bounds(source, control, points, bound, most)
  problem <- source$problem
  one_point <- problem$intercept && ncol(problem$z) == 1L && sum(problem$weights * problem$y) == 0
  c(found, lambda_max = most, exact = one_point || !control$streamed || !is.null(control$fit))
}

# Least squares: a ball about y, (10) and Theorem 2, with the closed form of where a column is out.
square_bounds <- function(problem, control, points, read) {
  y <- working_response(problem)
  yy <- sum(y^2)
  c <- read$products[, 1L]
  d <- read$norms
  slack <- length(y) * .Machine$double.eps * yy
  bounds <- reach <- Inf
  for (i in seq_along(points)) {
    a <- sum(points[[i]]$r^2)
    b <- abs(sum(y * points[[i]]$r))
    most <- read$most[i]
    left <- max(yy - b^2 / a, 0) + slack
    radius <- sqrt(a * max(b / a - control$lambda / most, 0)^2 + left)
    bounds <- pmin(bounds, c + radius * d)
    reach <- pmin(reach, square_reach(c, d, a, b, yy + slack, left, most) * most)
  }
  list(bounds = bounds * (1 + 1e-10), reach = reach * (1 + 1e-10))
}

# lambda / most beyond which column k is out: where lambda = c + D(lambda) d
square_reach <- function(c, d, a, b, yy, left, most) {
  big_a <- most^2 - d^2 * a
  big_b <- most * c - d^2 * b
  big_c <- c^2 - d^2 * yy
  root <- sqrt(pmax(big_b^2 - big_a * big_c, 0))
  flat <- c + d * sqrt(left)
  curved <- ifelse(big_b >= 0, (big_b + root) / big_a, big_c / (big_b - root))
  ifelse(flat > most * b / a, flat / most, curved)
}

# Balls about dual points, their radius told by the gap of a model. Up to the largest product of its
# dual point gap / lambda^2 falls as lambda grows, so that a column is out from one lambda on.
# `found` is what is known without them.
ball_bounds <- function(problem, control, points, read, found) {
  lambda <- control$lambda
  if (is.null(found)) found <- list(bounds = Inf, reach = Inf)
  for (i in seq_along(points)) {
    point <- points[[i]]
    if (point$lambda < lambda * (1 - 1e-12)) next
    ball <- gap_ball(problem, control$loss, point, read$most[i], lambda)
    bounds <- ball$s * read$products[, i] + ball$radius * read$norms
    found$bounds <- pmin(found$bounds, bounds * (1 + 1e-10))
    top <- if (i == 1L) read$most[i] else min(lambda, read$most[i])
    reach <- ball_reach(problem, control$loss, point, read$most[i], top,
                        (1 - read$products[, i] / read$most[i]) / read$norms)
    # what a ball about a model tells is no matter where lambda itself is beyond it
    if (i > 1L) reach[lambda <= bounds * (1 + 1e-10)] <- Inf
    found$reach <- pmin(found$reach, reach)
  }
  found$reach <- ifelse(lambda > found$bounds, pmin(found$reach, lambda), found$reach)
  found
}

# the dual point scaled by s, and how far the optimal one can be from it
gap_ball <- function(problem, loss, point, most, lambda) {
  s <- pmin(1, lambda / most)
  dual <- vapply(s, function(one) dual_at(problem, loss, point$r, one), 0)
  gap <- pmax(point$loss + lambda * point$l1 - dual, 0) + 1e-12 * point$loss
  list(s = s, gap = gap, radius = sqrt(gap * gap_factor(loss)))
}

gap_factor <- function(loss) if (loss == "logistic") 1 / 2 else 2

# The smallest lambda from which on up to `top` a ball keeps column k out: where
# factor gap(lambda) < (share lambda)^2, share = (1 - |a_k'r| / most) / norm. The gap is taken on
# knots, and between them on chords, which are above it.
ball_reach <- function(problem, loss, point, most, top, share) {
  lambda <- top * exp(seq(log(1e-3), 0, length.out = 200))
  gap <- gap_factor(loss) * gap_ball(problem, loss, point, most, lambda)$gap
  level <- rev(cummax(rev(gap / lambda^2)))
  square <- ifelse(is.finite(share) & share > 0, share, 0)^2
  # the knots at which it is out are the last ones
  first <- length(lambda) - findInterval(square, rev(level), left.open = TRUE) + 1L
  inside <- pmin(pmax(first, 2L), length(lambda))
  slope <- (gap[inside] - gap[inside - 1L]) / (lambda[inside] - lambda[inside - 1L])
  rest <- gap[inside] - slope * lambda[inside]
  root <- (slope + sqrt(pmax(slope^2 + 4 * square * rest, 0))) / (2 * square)
  root <- pmin(pmax(root * (1 + 1e-9), lambda[inside - 1L]), lambda[inside])
  ifelse(first > length(lambda), Inf, ifelse(first == 1L, lambda[1L], root))
}

# Bounds that have no closed form, from a lower bound of the optimum; for hinge and "gap" from
# models too, which are told from their values at `lambda` alone.
search_bounds <- function(source, control, points, bound, top) {
  n <- length(source$names)
  bounds <- reach <- numeric(n)
  usable <- logical(n)
  lambda <- control$lambda
  value <- stats::approx(bound$lambda, bound$value, lambda, rule = 2)$y
  for (block in source$blocks) {
    problem <- source$read(block)
    if (!is.null(control$fit)) check_same_columns(control$fit, problem, block)
    at <- c(working(problem), list(response = problem$y))
    found <- safe_call("reach", at, control, knots = bound$lambda, values = bound$value,
                       lambda = lambda, top = top)
    if (control$rule == "gap") {
      for (point in points) {
        if (point$lambda < lambda * (1 - 1e-12)) next
        gap <- point$loss + lambda * point$l1 - value
        own <- safe_call("hinge_gap", at, control, f = point$f, gap = gap)$bounds
        found$bounds <- pmin(found$bounds, own)
      }
      found$reach <- ifelse(lambda > found$bounds, pmin(found$reach, lambda), found$reach)
    }
    bounds[block] <- found$bounds
    reach[block] <- found$reach
    usable[block] <- problem$usable
  }
  list(bounds = bounds, reach = reach, usable = usable)
}

# The mask -----------------------------------------------------------------------------------------

new_mask <- function(source, control, found) {
  if (!any(found$usable)) {
    stop_input("every column of `x` is constant or explained by the covariates")
  }
  above <- control$lambda > found$lambda_max * (1 + 1e-9)
  named <- function(values) stats::setNames(values, source$names)
  structure(list(
    keep = named(!above & found$usable & found$bounds >= control$lambda),
    # where every lambda is above lambda_max, 0 / 0
    rho = named(ifelse(found$usable & found$lambda_max > 0,
                       pmin(found$reach / found$lambda_max, 1), 0)),
    bounds = named(found$bounds), lambda = control$lambda, lambda_max = found$lambda_max,
    exact = found$exact, loss = control$loss, rule = control$rule,
    lambda0 = control$fit$path$lambda[control$used], usable = named(found$usable)
  ), class = "sparsels_mask")
}

#' @export
print.sparsels_mask <- function(x, ...) {
  check_object(x)
  cat(sprintf("<safe screening> %s loss, rule \"%s\"\n", x$loss, x$rule))
  cat(sprintf("lambda: %s, %s of lambda_max%s (%s)\n", format(x$lambda, digits = 4),
              format(x$lambda / x$lambda_max, digits = 3),
              if (x$exact) "" else " at most", format(x$lambda_max, digits = 4)))
  n <- length(x$keep)
  kept <- sum(x$keep)
  if (kept) {
    cat(sprintf("kept %d of %s (%s %%)\n", kept, counted(n, "column"),
                format(100 * kept / n, digits = 3)))
  } else {
    cat(sprintf("kept none of %s: the solution at this lambda has no columns\n",
                counted(n, "column")))
  }
  aside <- sum(!x$usable)
  if (aside) cat(sprintf("set aside: %s\n", counted(aside, "column")))
  invisible(x)
}
