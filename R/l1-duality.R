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

# Interior point ----------------------------------------------------------------------------------

# Interior-point solutions of models with an l1 penalty, in plain R on BLAS: l1_ls of Kim and others
# (2007) for squares, l1_logreg of Koh and others (2007) for the logistic loss.
#
# A bound on |beta_k| is a variable, and a logarithmic barrier, whose weight decreases with the
# duality gap, keeps |beta_k| below it. The variables are the distances above = bound + beta and
# below = bound - beta instead of beta and bound: near the optimum one of the two is much smaller
# than the bound and would lose its digits as a difference. The covariates always have the optimal
# coefficients for the current beta. For squares the columns are residualised on them once. For
# the logistic loss each Newton step residualises the columns with its own weights.

# Solutions for each lambda in turn, or the completed solutions if interrupted.
interior_path <- function(problem, control, lambda) {
  solutions <- vector("list", length(lambda))
  state <- NULL
  bar <- progress_bar(control$progress, "Solving the path")
  for (i in seq_along(lambda)) {
    result <- until_stopped(interior_solve(problem, control, lambda[i], state),
                            function(condition) NULL)
    if (is.null(result)) break
    solutions[[i]] <- result$solution
    state <- result$state
    if (!is.null(bar)) bar(i, length(lambda))
  }
  without_null(solutions)
}

# list(solution: for one lambda, state: for the next lambda)
interior_solve <- function(problem, control, lambda, state = NULL) {
  if (is.null(state)) state <- interior_state(problem, control)
  kept <- screened_columns(problem, control, lambda, state)
  result <- newton_steps(problem, control, lambda, kept, state)
  solution <- c(result[c("features", "beta", "u", "r", "objective", "gap", "max_abs_corr", "rounds",
                         "products")],
                list(kept = length(kept), null = state$null),
                threshold_facts(problem, control$loss, lambda, result))
  # The safe tests need only r and `most` of the points between the first and the last.
  count <- length(state$points)
  if (count > 1L) state$points[[count]]$all <- NULL
  if (control$screen != "safe2") count <- min(count, 1L)
  state$points <- c(state$points[seq_len(count)], list(result[point_parts]))
  list(solution = solution, state = state)
}

# The state of the path. `null` is the objective of the null model, and `norm` the norms of the
# columns. `points` are the models so far with their dual points. The first is the null model.
interior_state <- function(problem, control) {
  empty <- model_point(problem, control$loss, integer(), numeric())
  empty$all <- column_products(problem, empty$r)
  empty$max_abs_corr <- max(abs(empty$all))
  list(null = empty$loss, points = list(empty[point_parts]),
       norm = if (control$screen != "none") working_norms(problem))
}

point_parts <- c("loss", "l1", "r", "all", "max_abs_corr")

# Screening ----------------------------------------------------------------------------------------

# The columns that the chosen test does not exclude. A test bounds |a_k'r| of the optimal r, from
# the product for a known r and a bound of the distance between the two. A column is excluded if the
# bound is below lambda.
screened_columns <- function(problem, control, lambda, state) {
  usable <- which(problem$columns$usable)
  last <- state$points[[length(state$points)]]
  corr_bound <- switch(control$screen,
    none = return(usable),
    gap = gap_corr_bound(problem, control, lambda, state, last),
    safe1 = safe_corr_bound(problem, control, lambda, state, state$points[1L]),
    safe2 = safe_corr_bound(problem, control, lambda, state, state$points)
  )
  usable[!(lambda > corr_bound[usable] * (1 + 1e-10))]
}

# An upper bound of |a_k'r| of the optimal r, if it is within `radius` of the given r with these
# products.
ball_corr_bound <- function(state, products, r, radius) {
  slack <- length(r) * .Machine$double.eps * sqrt(sum(r^2))
  abs(products) + (radius + slack) * state$norm
}

# Bounds from the duality gap of the last model: the dual is strongly concave (with constant 1 for
# squares and 4 for logistic), so that the optimal r is in a ball about its dual point. Fercoq and
# others 2015, Ndiaye and others 2017.
gap_corr_bound <- function(problem, control, lambda, state, last) {
  s <- dual_multiple(problem, control$loss, last$r, last$max_abs_corr, lambda)
  gap <- last$loss + lambda * last$l1 - dual_objective(problem, control$loss, s * last$r)
  gap <- max(gap, 0) + 1e-14 * state$null
  ball_corr_bound(state, s * last$all, s * last$r, sqrt(losses[[control$loss]]$ball * gap))
}

# Bounds of El Ghaoui and others, Theorems 1 (from the null model) and 2, and Section 4.3: the dual
# value of every point is a lower bound gamma of the optimum. For squares, the region is a ball
# about y of radius ||y - s r|| = sqrt(y'y - 2 gamma).
safe_corr_bound <- function(problem, control, lambda, state, points) {
  multiples <- vapply(points, function(point) {
    dual_multiple(problem, control$loss, point$r, point$max_abs_corr, lambda)
  }, 0)
  scaled <- Map(function(point, s) s * point$r, points, multiples)
  empty <- state$points[[1L]]
  if (control$loss == "squared") {
    radius <- min(vapply(scaled, function(r) sqrt(sum((empty$r - r)^2)), 0))
    return(ball_corr_bound(state, empty$all, empty$r, radius))
  }
  gamma <- max(vapply(scaled, function(r) dual_objective(problem, control$loss, r), 0))
  safe_call("bounds", working(problem), control, gamma = gamma - 1e-12 * state$null,
            enough = lambda)$bounds
}

# Newton's method ---------------------------------------------------------------------------------

scale_columns <- function(x, by) {
  if (!inherits(x, "dgCMatrix")) return(x * rep(by, each = nrow(x)))
  x@x <- x@x * rep.int(by, diff(x@p))
  x
}

# The loss at h = X beta with the optimal coefficients of the covariates: `loss`, the dual point
# `r`, and `root` and `basis`, with which the Hessian is X'PX, P = root (I - basis basis') root.
loss_point <- function(problem, loss, basis, h, u = NULL) {
  root_w <- sqrt(problem$rows$weight)
  y <- problem$rows$y[, 1L]
  if (loss == "squared") {
    r <- drop(project_out(root_w * y - h, basis))
    return(list(loss = sum(r^2) / 2, r = r, root = 1, basis = basis))
  }
  u <- smooth_covariates(problem, loss, h / root_w, basis, u)
  margin <- y * (h + drop(basis %*% u)) / root_w
  share <- stats::plogis(-margin)
  root <- sqrt(share * stats::plogis(margin))
  list(loss = sum(problem$rows$weight * l1_loss(loss, 1, margin)), r = root_w * y * share, u = u,
       root = root, basis = if (ncol(basis)) qr.Q(qr(root * basis)) else basis)
}

times <- function(X, v) as.vector(X %*% v)
back_times <- function(X, v) as.vector(crossprod(X, v))

# Minimises loss + lambda ||beta||_1 over the columns `kept`, until the duality gap with all columns
# is small enough, or no further step reduces it.
newton_steps <- function(problem, control, lambda, kept, state) {
  basis <- covariate_basis(problem)
  # dense and residualised on the covariates, or sparse, multiplied by weights and scale only
  X <- if (!inherits(problem$x, "dgCMatrix")) working_matrix(problem, kept, basis) else
    scale_columns(sqrt(problem$rows$weight) * problem$x[, kept, drop = FALSE],
                  1 / problem$columns$scale[kept])
  iterate <- list(h = numeric(nrow(problem)), beta = numeric(length(kept)), dual = -Inf, size = 1,
                  stale = 0L, products = 0, null = state$null)
  iterate$point <- loss_point(problem, control$loss, basis, iterate$h)
  target <- control$tolerance * state$null
  for (round in 0:max_rounds) {
    point <- iterate$point
    iterate$products <- iterate$products + ncol(X)
    iterate$c <- back_times(X, point$r)
    dual <- dual_value(problem, control$loss, point$r, max(0, abs(iterate$c)), lambda)
    iterate$dual <- max(iterate$dual, dual)
    gap <- point$loss + lambda * sum(abs(iterate$beta)) - iterate$dual
    iterate$stale <- if (is.null(iterate$gap) || gap < iterate$gap) 0L else iterate$stale + 1L
    iterate$gap <- gap
    last <- round == max_rounds || iterate$size < 1e-10 || iterate$stale > 25L
    if (gap <= target || last) {
      result <- certified(problem, control$loss, lambda, kept, iterate)
      iterate$products <- iterate$products + ncol(problem)
      if (result$gap <= control$tolerance * state$null || last) break
      target <- target / 4
    }
    iterate <- newton_step(problem, control$loss, lambda, X, basis, iterate)
  }
  c(result, rounds = round, products = iterate$products)
}

max_rounds <- 400L

# the current solution, with its gap from the products of all columns
certified <- function(problem, loss, lambda, kept, iterate) {
  features <- kept[iterate$beta != 0]
  beta <- iterate$beta[iterate$beta != 0]
  result <- c(list(features = features, beta = beta), model_point(problem, loss, features, beta))
  result$all <- column_products(problem, result$r)
  result$max_abs_corr <- max(abs(result$all))
  result$objective <- result$loss + lambda * result$l1
  dual <- dual_value(problem, loss, result$r, result$max_abs_corr, lambda)
  result$gap <- max(result$objective - dual, 0)
  result
}

# One step for a weight 1 / t of the barrier, where t increases as the gap decreases. Kim and
# others, Algorithm 1, with a larger factor.
newton_step <- function(problem, loss, lambda, X, basis, iterate) {
  k <- ncol(X)
  if (is.null(iterate$t)) {
    iterate$t <- 2 * k / iterate$gap
    # the bound that minimises the barrier function at beta = 0
    iterate$above <- iterate$below <- rep(2 / (iterate$t * lambda), k)
  }
  if (iterate$size >= 0.5) {
    iterate$t <- max(min(2 * k * growth / iterate$gap, growth * iterate$t), iterate$t)
  }
  t <- iterate$t
  above <- iterate$above
  below <- iterate$below
  squares <- above^2 + below^2
  d_beta <- -iterate$c - (1 / above - 1 / below) / t
  d_bound <- lambda - (1 / above + 1 / below) / t
  rhs <- -d_beta - (above^2 - below^2) / squares * d_bound
  iterate$accuracy <- min(0.1, iterate$gap / iterate$null)
  penalty <- 4 / (t * squares)
  # overflow: no step is possible
  if (!all(is.finite(c(penalty, rhs)))) return(replace(iterate, "size", 0))
  iterate <- solve_newton(X, iterate, penalty, rhs)
  step <- iterate$step
  to_above <- above^2 * (2 * step - t * below^2 * d_bound) / squares
  to_below <- -below^2 * (2 * step + t * above^2 * d_bound) / squares
  slope <- sum(d_beta * step) + sum(d_bound * (to_above + to_below)) / 2
  iterate$products <- iterate$products + k
  line_search(problem, loss, lambda, basis, iterate, slope, times(X, step), to_above, to_below)
}

growth <- 5

# Line search along a step: both distances stay positive and the barrier function decreases.
line_search <- function(problem, loss, lambda, basis, iterate, slope, h_step, to_above, to_below) {
  value <- function(point, above, below) {
    point$loss + lambda * sum(above + below) / 2 - (sum(log(above)) + sum(log(below))) / iterate$t
  }
  current <- value(iterate$point, iterate$above, iterate$below)
  size <- min(1, 0.99 / max(0, -to_above / iterate$above, -to_below / iterate$below))
  repeat {
    h <- iterate$h + size * h_step
    above <- iterate$above + size * to_above
    below <- iterate$below + size * to_below
    point <- loss_point(problem, loss, basis, h, iterate$point$u)
    # increases below rounding error are accepted
    decreased <- value(point, above, below) <= current + 0.01 * size * slope + 1e-14 * abs(current)
    if (isTRUE(decreased) || size < 1e-10) break
    size <- size / 2
  }
  # overflow, for a tiny lambda
  if (is.na(decreased)) return(replace(iterate, "size", 0))
  iterate[c("h", "above", "below", "point", "size")] <- list(h, above, below, point, size)
  iterate$beta <- (above - below) / 2
  iterate
}

# Solves (X'PX + diag(D)) step = rhs: by a Cholesky factor in the smaller dimension of X, or by
# conjugate gradients if both are large or the factorisation fails.
solve_newton <- function(X, iterate, D, rhs) {
  diagonal <- function(iterate) {
    if (!is.null(iterate$diagonal) && length(iterate$point$root) == 1L) return(iterate)
    point <- iterate$point
    X <- point$root * X
    explained <- colSums(as.matrix(crossprod(point$basis, X))^2)
    replace(iterate, "diagonal", list(colSums(X^2) - explained))
  }
  if (min(dim(X)) > max_direct) return(conjugate_gradients(X, diagonal(iterate), D, rhs))
  wide <- ncol(X) > nrow(X)
  if (wide) {
    iterate <- diagonal(iterate)
  } else if (is.null(iterate$gram) || length(iterate$point$root) > 1L) {
    weighted <- iterate$point$root * X
    explained <- as.matrix(crossprod(iterate$point$basis, weighted))
    iterate$gram <- as.matrix(crossprod(weighted)) - crossprod(explained)
  }
  step <- tryCatch(if (wide) {
    solve_wide(X, iterate, D, rhs)
  } else {
    solve_factor(chol(iterate$gram + diag(D, ncol(X))), rhs)
  }, error = function(condition) NULL)
  if (is.null(step)) return(conjugate_gradients(X, diagonal(iterate), D, rhs))
  iterate$step <- step
  iterate
}

# the largest dimension for which a factorisation is faster than conjugate gradients with the
# reference BLAS
max_direct <- 300L

solve_factor <- function(factor, rhs) {
  drop(backsolve(factor, backsolve(factor, rhs, transpose = TRUE)))
}

# Woodbury's identity, which gives an m x m system. It is inaccurate for columns whose D is
# negligible relative to their diagonal, as D becomes for the columns of the solution. These columns
# are eliminated separately.
solve_wide <- function(X, iterate, D, rhs) {
  large <- which(iterate$diagonal > 1e3 * D)
  if (length(large) > nrow(X)) large <- integer()
  small <- setdiff(seq_len(ncol(X)), large)
  point <- iterate$point
  within <- function(values) project_out(point$root * as.matrix(values), point$basis)
  shrunk <- X[, small, drop = FALSE]
  inside <- as.matrix(tcrossprod(scale_columns(shrunk, 1 / sqrt(D[small]))))
  factor <- chol(diag(nrow(X)) + within(t(within(inside))))
  v <- backsolve(factor, within(shrunk %*% (rhs[small] / D[small])), transpose = TRUE)
  step <- numeric(ncol(X))
  if (length(large)) {
    W <- backsolve(factor, within(X[, large, drop = FALSE]), transpose = TRUE)
    step[large] <- solve_factor(chol(crossprod(W) + diag(D[large], length(large))),
                                rhs[large] - crossprod(W, v))
    v <- v + W %*% step[large]
  }
  z <- point$root * project_out(backsolve(factor, v), point$basis)
  replace(step, small, (rhs[small] - back_times(shrunk, z)) / D[small])
}

# Conjugate gradients, started from the last step, with a diagonal preconditioner. Kim and others,
# Section IV.
conjugate_gradients <- function(X, iterate, D, rhs) {
  point <- iterate$point
  multiply <- function(v) {
    back_times(X, point$root * project_out(point$root * times(X, v), point$basis)) + D * v
  }
  preconditioner <- 1 / (iterate$diagonal + D)
  step <- if (is.null(iterate$step)) numeric(length(D)) else iterate$step
  residual <- rhs - multiply(step)
  tolerance <- iterate$accuracy * sqrt(sum(preconditioner * rhs^2))
  direction <- preconditioner * residual
  size <- sum(direction * residual)
  for (round in 1:5000) {
    if (sqrt(size) <= tolerance) break
    product <- multiply(direction)
    step_size <- size / sum(direction * product)
    step <- step + step_size * direction
    residual <- residual - step_size * product
    scaled <- preconditioner * residual
    new <- sum(scaled * residual)
    direction <- scaled + new / size * direction
    size <- new
  }
  iterate$products <- iterate$products + 2 * round * length(D)
  iterate$step <- step
  iterate
}

kkt_removed <- function(corr, lambda) abs(corr) <= 0.9999 * lambda

# Quantities computed from x, so that coefficients can be removed later without x. `corr` are the
# products a_k'r of the columns with the residual. `second_order` is for each coefficient an upper
# bound of the second-order increase of the loss when it and all smaller coefficients are removed.
# `kkt` is an upper bound of the increase of the loss by (37).
threshold_facts <- function(problem, loss, lambda, solution) {
  corr <- solution$all[solution$features]
  removed <- kkt_removed(corr, lambda)
  curvature <- losses[[loss]]$steepest
  root_w <- sqrt(problem$rows$weight)
  change <- root_w * l1_scores(problem, solution$features[removed], solution$beta[removed])
  # |sum a_k beta_k|^2 for each column, the sum being over it and all columns with no larger |beta|
  sorted <- order(abs(solution$beta))
  sums <- if (inherits(problem$x, "dgCMatrix")) sparse_sums else dense_sums
  squares <- replace(solution$beta, sorted,
                     sums(problem, solution$features[sorted], solution$beta[sorted]))
  list(corr = corr, second_order = curvature / 2 * squares,
       kkt = curvature / 2 * sum(change^2) + sum((solution$beta * corr)[removed]))
}

dense_sums <- function(problem, features, beta) {
  none <- matrix(0, nrow(problem), 0L)
  sum <- numeric(nrow(problem))
  squares <- numeric(length(beta))
  for (block in column_blocks(nrow(problem), length(beta))) {
    columns <- working_matrix(problem, features[block], none)
    for (i in seq_along(block)) {
      sum <- sum + columns[, i] * beta[block[i]]
      squares[block[i]] <- sum(sum^2)
    }
  }
  squares
}

# The sums of dense_sums() for sparse columns, from their nonzeros: a centred sum is sum - level
# root_w.
sparse_sums <- function(problem, features, beta) {
  root_w <- sqrt(problem$rows$weight)
  x <- root_w * problem$x[, features, drop = FALSE]
  beta <- beta / problem$columns$scale[features]
  level <- cumsum(problem$columns$centre[features] * beta)
  sum <- numeric(nrow(problem))
  square <- along <- numeric(length(beta))
  for (k in seq_along(beta)) {
    values <- seq.int(x@p[k] + 1L, length.out = x@p[k + 1L] - x@p[k])
    rows <- x@i[values] + 1L
    step <- x@x[values] * beta[k]
    square[k] <- sum(step * (2 * sum[rows] + step))
    along[k] <- sum(root_w[rows] * step)
    sum[rows] <- sum[rows] + step
  }
  pmax(cumsum(square) - level * (2 * cumsum(along) - level * sum(problem$rows$weight)), 0)
}
