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
  beta <- as.matrix(beta / problem$columns$scale[features])
  x <- problem$x[, features, drop = FALSE]
  centre <- problem$columns$centre[features]
  if (inherits(x, "dgCMatrix")) {
    return(drop(as.matrix(x %*% beta) - rep(colSums(centre * beta), each = nrow(x))))
  }
  drop((x - rep(centre, each = nrow(x))) %*% beta)
}

# The model with some columns and the optimal coefficients `u` of Q / root_w: its values `f` (m),
# dual point `r`, `loss` and l1 norm `l1`. For hinge r is NULL, and with more than one covariate u
# must be given.
model_point <- function(problem, loss, features, beta, u = NULL) {
  root_w <- sqrt(problem$rows$weight)
  basis <- covariate_basis(problem)
  y <- problem$rows$y[, 1L]
  record <- losses[[loss]]
  score <- l1_scores(problem, features, beta)
  u <- if (loss == "squared") {
    drop(crossprod(basis, root_w * (y - score)))
  } else if (record$smooth) {
    smooth_covariates(problem, loss, score, basis, u)
  } else {
    hinge_covariates(y, score, root_w, basis, u)
  }
  f <- score + basis_scores(problem, basis, u)
  if (!record$smooth) {
    return(list(f = f, u = u, r = NULL, loss = sum(problem$rows$weight * l1_loss(loss, y, f)),
                l1 = sum(abs(beta))))
  }
  at <- loss_at(problem, loss, f)
  r <- root_w * at$slope
  if (loss == "squared") r <- drop(project_out(r, basis))
  list(f = f, u = u, r = r, loss = at$loss, l1 = sum(abs(beta)))
}

# The part of the covariates in the linear predictor, a vector or with a column for each response.
basis_scores <- function(problem, basis, u) drop(basis %*% u) / weight_divisor(problem)

# Where covariates separate some rows, u has no optimum. A small ridge then gives it one, as in C.
separated_below <- 1e-9
separated_ridge <- 1e-12

smooth_covariates <- function(problem, loss, score, basis, u = NULL) {
  null <- null_covariates(problem, loss, basis)
  if (!length(null$u) || is.null(u) && all(score == 0)) return(null$u)
  newton_covariates(problem, loss, score, basis, if (is.null(u)) null$u else u, null$ridge)$u
}

# The coefficients `u` of the basis in the null model, with the `ridge` that gives them an optimum.
null_covariates <- function(problem, loss, basis = covariate_basis(problem)) {
  weight <- problem$rows$weight
  # the coefficients of the basis for a constant near the null model
  start <- matrix(0, ncol(basis), ncol(problem$rows$y))
  if (!is_joint(loss)) {
    level <- losses[[loss]]$start(problem$rows$y[, 1L], weight, row_offset(problem))
    start <- if (level == 0) numeric(ncol(basis)) else drop(crossprod(basis, level * sqrt(weight)))
  }
  if (!length(start)) return(list(u = start, ridge = 0))
  null_model <- function(start, ridge) {
    newton_covariates(problem, loss, numeric(nrow(problem)), basis, start, ridge)
  }
  unit <- response_unit(problem)
  ridge <- separated_ridge * unit
  null <- null_model(start, ridge)
  # the null model leaves a direction of u without curvature
  separated <- any(diag(chol(null$hessian))^2 < separated_below * unit)
  if (separated) list(u = null$u, ridge = ridge) else list(u = null_model(null$u, 0)$u, ridge = 0)
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
  root_w <- sqrt(problem$rows$weight)
  # the basis of each row, or of a joint loss of each row and response
  B <- basis / weight_divisor(problem)
  common <- 0
  if (is_joint(loss)) {
    L <- ncol(problem$rows$y)
    B <- kronecker(diag(L), B)
    # what the coefficients of all responses have in common changes no joint loss
    common <- kronecker(matrix(1 / L^2, L, L), diag(ncol(basis)))
  }
  at <- function(u) loss_at(problem, loss, score + basis_scores(problem, basis, u))
  now <- at(u)
  current <- now$loss + ridge / 2 * sum(u^2)
  for (iteration in 1:100) {
    ascent <- drop(crossprod(basis, root_w * now$slope)) - ridge * u
    # second derivatives may vanish if all rows are fitted closely
    hessian <- crossprod(B, now$curve(B)) + common + diag(max(ridge, 1e-14), length(u))
    step <- replace(u, TRUE, solve(hessian, as.vector(ascent), tol = 0))
    decrement <- sum(ascent * step)
    if (decrement <= 1e-14 * current) return(list(u = u + step, hessian = hessian))
    size <- 1
    repeat {
      next_u <- u + size * step
      now <- at(next_u)
      new <- now$loss + ridge / 2 * sum(next_u^2)
      if (isTRUE(new <= current - 0.25 * size * decrement) || size <= 1e-16) break
      size <- size / 2
    }
    u <- next_u
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
  if (NCOL(r) > 1L) {
    return(vapply(seq_len(ncol(r)), function(l) column_products(problem, r[, l]),
                  numeric(ncol(problem))))
  }
  v <- sqrt(problem$rows$weight) * r
  if (inherits(problem$x, "dgCMatrix")) {
    products <- as.vector(crossprod(problem$x, v)) - problem$columns$centre * sum(v)
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

# The `largest` product of a column with r, or 0 where it is no larger than rounding: a sum of m
# products is wrong by no more than m roundings of the norms.
above_rounding <- function(largest, norms, r) {
  if (largest > NROW(r) * .Machine$double.eps * max(norms) * sqrt(sum(r^2))) largest else 0
}

# The largest dual value of the multiples s r with |s| max_corr <= lambda, where max_corr is an
# upper bound of every |a_k'r|. It is a lower bound of the optimum. El Ghaoui and others, (8).
# With a ridge, max_corr bounds |a_k'r - pull_k|, and `tail` is the ridge term of ridge_tail().
# `f` is the linear predictor that r belongs to, for losses that tie rows together.
dual_value <- function(problem, loss, r, max_corr, lambda, tail = 0, f = NULL) {
  s <- dual_multiple(problem, loss, r, max_corr, lambda, tail)
  dual_objective(problem, loss, r, s, f) - s^2 * tail / 2
}

# the factor s of the best multiple in dual_value()
dual_multiple <- function(problem, loss, r, max_corr, lambda, tail = 0) {
  max_s <- if (max_corr > 0) lambda / max_corr else Inf
  if (all(r == 0)) 0 else losses[[loss]]$multiple(problem, r, max_s, tail)
}

# the dual value of s r for every s
dual_objective <- function(problem, loss, r, s = 1, f = NULL) {
  record <- losses[[loss]]
  dual <- if (!is.null(record$dual)) function(s) record$dual(problem, s * r) else
    record$at(problem, f)$dual
  vapply(s, dual, 0)
}

# Covariates without an optimum --------------------------------------------------------------------

# Rows that the covariates alone separate from the other class have no finite optimum of the
# coefficients: the loss of these rows tends to 0 along a direction that leaves the others as they
# are. This direction depends on the covariates and classes only.
warn_separated <- function(problem, loss) {
  if (ncol(problem$z) <= problem$coding$intercept) return(invisible())
  if (ties_rows(loss)) return(warn_ordered(problem, loss))
  of <- losses[[loss]]$separated
  each <- lapply(responses_together(problem, loss), function(l) {
    separated_rows(one_response(problem, l), loss)
  })
  rows <- sort(unique(unlist(lapply(each, `[[`, "rows"))))
  covariates <- unique(unlist(lapply(each, `[[`, "covariates")))
  one <- length(covariates) == 1L
  warn_if(
    length(rows), "sparsels_warning_separation",
    paste("the covariate%s %s separate%s %s (first: row %d) from the other %s: the",
          "coefficients of %s have no finite optimum and stop where the rows have a %s;",
          "leave %s out, or merge levels"),
    if (one) "" else "s", some_of(covariates), if (one) "s" else "", counted(length(rows), "row"),
    rows[1L], of[2L], if (one) "it" else "them", of[3L], if (one) "it" else "one"
  )
}

# Refuses classes that are separated by the covariates, as all coefficients would be 0 at every
# lambda.
check_not_separated <- function(problem, null, loss) {
  # without covariates no event compares anything, which the largest lambda tells
  if (is_cox_loss(loss) && !ncol(problem$z)) return(invisible())
  stop_input_if(null <= 1e-7 * sum(problem$rows$weight),
                "the covariates alone %s: all coefficients are 0 at every lambda",
                losses[[loss]]$separated[1L])
}

# Whether covariates can leave the loss of some rows without curvature.
is_separable <- function(loss) !is.null(losses[[loss]]$curvature) || !is.null(losses[[loss]]$at)

# The warning of covariates along which a likelihood that ties rows together rises without end.
warn_ordered <- function(problem, loss) {
  basis <- covariate_basis(problem)
  null <- newton_covariates(problem, loss, numeric(nrow(problem)), basis, numeric(ncol(basis)), 0)
  found <- eigen(null$hessian, symmetric = TRUE)
  flat <- found$values < separated_below * response_unit(problem)
  if (!any(flat)) return(invisible())
  along <- backsolve(decomposed_covariates(problem)$factor, found$vectors[, flat, drop = FALSE])
  size <- abs(along) * sqrt(colSums(problem$rows$weight * centred_covariates(problem)^2))
  one <- sum(rowSums(size > 0.1) > 0) == 1L
  warn_sparsels(sprintf(
    "the covariate%s %s order%s the %s: %s no finite optimum; leave %s out, or merge levels",
    if (one) "" else "s", some_of(colnames(problem$z)[rowSums(size > 0.1) > 0]),
    if (one) "s" else "", sub("order the ", "", losses[[loss]]$separated),
    if (one) "its coefficient has" else "their coefficients have", if (one) "it" else "one"
  ), "sparsels_warning_separation")
}

# The rows of a problem of classes that the covariates separate, and the `covariates` that do.
# In the other rows these covariates are combinations of the rest.
separated_rows <- function(problem, loss) {
  root_w <- root_weights(problem)
  basis <- covariate_basis(problem)
  f <- basis_scores(problem, basis, smooth_covariates(problem, loss, numeric(nrow(problem)), basis))
  y <- if (is_joint(loss)) problem$rows$y else problem$rows$y[, 1L]
  curvature <- losses[[loss]]$curvature(y, f, row_offset(problem))
  rows <- which(curvature < 1e-9 * response_unit(problem) & root_w > 0)
  others <- setdiff(which(root_w > 0), rows)
  if (!length(rows) || !length(others)) return(NULL)
  decomposed <- qr(centred_covariates(problem)[others, , drop = FALSE], tol = 1e-10)
  if (decomposed$rank == ncol(problem$z)) return(NULL)
  kept <- seq_len(decomposed$rank)
  R <- qr.R(decomposed)
  others <- backsolve(R[kept, kept, drop = FALSE], R[kept, -kept, drop = FALSE])
  own <- colnames(problem$z)[decomposed$pivot]
  used <- rowSums(abs(others) > 1e-6) > 0
  list(rows = rows, covariates = setdiff(own[c(used, rep(TRUE, ncol(R) - length(kept)))],
                                         "(Intercept)"))
}
