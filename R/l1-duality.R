# Objective, dual point and duality gap of models with an l1 penalty, in plain R, for the solutions
# of any solver.
#
# The columns a_j are in working coordinates (before they are residualised on the covariates), and
#   a_j is the j-th column of A. Q is the orthonormal basis of the covariates. The model
#   f = A beta / root_w + Q u / root_w minimises  sum_j w_j loss(y_j, f_j) + lambda ||beta||_1. The
#   loss is (y - f)^2 / 2, log(1 + exp(-y f)) or (1 - y f)_+, y being -1 or +1 for the last two. A
#   dual point r (m) has Q'r = 0 and |a_k'r| <= lambda. It is root_w (y - f) for squares, and
#   y alpha / root_w with 0 <= alpha <= w for classes. At the optimum a_k'r = lambda sign(beta_k)
#   where beta_k is not 0. El Ghaoui, Viallon and Rabbani 2010, (3), (18), (26), whose theta is
#   -alpha.

# sum_j beta_j (x_j - centre_j) / scale_j over the columns of a model, for every row
l1_scores <- function(problem, features, beta) {
  beta <- beta / problem$columns$scale[features]
  x <- problem$x[, features, drop = FALSE]
  centre <- problem$columns$centre[features]
  if (inherits(x, "dgCMatrix")) return(as.vector(x %*% beta) - sum(centre * beta))
  drop((x - rep(centre, each = nrow(x))) %*% beta)
}

# The model with some columns and the optimal coefficients `u` of Q / root_w: its values `f` (m),
# dual point `r`, `loss` and l1 norm `l1`. For hinge r is NULL, and with more than one covariate u
# must be given.
model_point <- function(problem, loss, features, beta, u = NULL) {
  root_w <- sqrt(problem$rows$weight)
  basis <- covariate_basis(problem)
  y <- problem$rows$y[, 1L]
  offset <- row_offset(problem)
  record <- losses[[loss]]
  score <- l1_scores(problem, features, beta)
  u <- if (loss == "squared") {
    drop(crossprod(basis, root_w * (y - score)))
  } else if (record$smooth) {
    smooth_covariates(problem, loss, score, basis, u)
  } else {
    hinge_covariates(y, score, root_w, basis, u)
  }
  f <- score + drop(basis %*% u) / weight_divisor(problem)
  r <- if (record$smooth) root_w * record$slope(y, f, offset)
  if (loss == "squared") r <- drop(project_out(r, basis))
  list(f = f, u = u, r = r, loss = sum(problem$rows$weight * l1_loss(loss, y, f, offset)),
       l1 = sum(abs(beta)))
}

# Where covariates separate some rows, u has no optimum. A small ridge then gives it one, as in C.
separated_below <- 1e-9
separated_ridge <- 1e-12

smooth_covariates <- function(problem, loss, score, basis, u = NULL) {
  if (is.null(u)) u <- null_start(problem, loss, basis)
  if (!length(u)) return(u)
  ridge <- if (is_separated(problem, loss, basis)) separated_ridge * response_unit(problem) else 0
  newton_covariates(problem, loss, score, basis, u, ridge)$u
}

# whether the null model leaves a direction of u without curvature
is_separated <- function(problem, loss, basis) {
  start <- null_start(problem, loss, basis)
  null <- newton_covariates(problem, loss, numeric(nrow(problem)), basis, start, 0)
  any(diag(chol(null$hessian))^2 < separated_below * response_unit(problem))
}

# The coefficients of the basis for a constant near the null model.
null_start <- function(problem, loss, basis) {
  weight <- problem$rows$weight
  start <- losses[[loss]]$start(problem$rows$y[, 1L], weight, row_offset(problem))
  if (start == 0) numeric(ncol(basis)) else drop(crossprod(basis, start * sqrt(weight)))
}

# The optimal constant of a loss, as a linear predictor without the offset.
constant_level <- function(problem, loss) {
  weight <- problem$rows$weight
  length <- sqrt(sum(weight))
  basis <- matrix(sqrt(weight) / length)
  start <- losses[[loss]]$start(problem$rows$y[, 1L], weight, row_offset(problem)) * length
  newton_covariates(problem, loss, numeric(nrow(problem)), basis, start, 0)$u / length
}

# About how large the response with its offset is, 1 for classes.
response_unit <- function(problem) {
  weight <- problem$rows$weight
  sqrt(sum(weight * (problem$rows$y[, 1L] + row_offset(problem))^2) / sum(weight))
}

# Newton's method with step halving. Convergence is quadratic: once the decrement is negligible
# relative to the loss, one more step gives full precision.
newton_covariates <- function(problem, loss, score, basis, u, ridge) {
  record <- losses[[loss]]
  y <- problem$rows$y[, 1L]
  offset <- row_offset(problem)
  root_w <- sqrt(problem$rows$weight)
  divisor <- weight_divisor(problem, root_w)
  value <- function(u) {
    sum(root_w^2 * record$value(y, score + drop(basis %*% u) / divisor, offset)) +
      ridge / 2 * sum(u^2)
  }
  current <- value(u)
  for (iteration in 1:100) {
    f <- score + drop(basis %*% u) / divisor
    ascent <- drop(crossprod(basis, root_w * record$slope(y, f, offset))) - ridge * u
    # second derivatives may vanish if all rows are fitted closely
    hessian <- crossprod(basis, record$curvature(y, f, offset) * basis) +
      diag(max(ridge, 1e-14), length(u))
    step <- drop(solve(hessian, ascent, tol = 0))
    decrement <- sum(ascent * step)
    if (decrement <= 1e-14 * current) return(list(u = u + step, hessian = hessian))
    size <- 1
    while ((new <- value(u + size * step)) > current - 0.25 * size * decrement && size > 1e-16) {
      size <- size / 2
    }
    u <- u + size * step
    current <- new
  }
  list(u = u, hessian = hessian)
}

# The best coefficient of a single covariate b. The loss is piecewise linear, and its slope
# increases by w |b| where a row reaches its margin. The minimum is the first knot after which the
# loss does not decrease.
hinge_covariates <- function(y, score, root_w, basis, u = NULL) {
  if (!ncol(basis)) return(numeric())
  if (ncol(basis) > 1L) return(u)
  slope <- y * basis[, 1L] * root_w
  rows <- which(slope != 0)
  knot <- ((1 - y * score) * root_w^2)[rows] / slope[rows]
  sorted <- order(knot)
  rise <- cumsum(abs(slope[rows])[sorted])
  fall <- sum(pmax(slope, 0))
  knot[sorted][which(rise >= fall * (1 - 1e-14))[1L]]
}

# a_k'r of every column for a dual point r (Q'r = 0), or 0 for an excluded column
column_products <- function(problem, r) {
  v <- sqrt(problem$rows$weight) * r
  if (inherits(problem$x, "dgCMatrix")) {
    products <- as.vector(Matrix::crossprod(problem$x, v)) - problem$columns$centre * sum(v)
  } else {
    products <- numeric(ncol(problem))
    for (block in column_blocks(nrow(problem), ncol(problem))) {
      x <- problem$x[, block, drop = FALSE]
      products[block] <- crossprod(x - rep(problem$columns$centre[block], each = nrow(x)), v)
    }
  }
  ifelse(problem$columns$usable, products / problem$columns$scale, 0)
}

# norms of the columns in working coordinates, residualised on the covariates, or 0 for an excluded
# column
working_norms <- function(problem) {
  columns <- problem$columns
  ifelse(columns$usable, sqrt(columns$rss) / columns$scale, 0)
}

# The largest dual value of the multiples s r with |s| max_corr <= lambda, where max_corr is an
# upper bound of every |a_k'r|. It is a lower bound of the optimum. El Ghaoui and others, (8).
# With a ridge, max_corr bounds |a_k'r - pull_k|, and `tail` is the ridge term of ridge_tail().
dual_value <- function(problem, loss, r, max_corr, lambda, tail = 0) {
  s <- dual_multiple(problem, loss, r, max_corr, lambda, tail)
  dual_objective(problem, loss, s * r) - s^2 * tail / 2
}

# the factor s of the best multiple in dual_value()
dual_multiple <- function(problem, loss, r, max_corr, lambda, tail = 0) {
  max_s <- if (max_corr > 0) lambda / max_corr else Inf
  if (all(r == 0)) 0 else losses[[loss]]$multiple(problem, r, max_s, tail)
}

dual_objective <- function(problem, loss, r) losses[[loss]]$dual(problem, r)
