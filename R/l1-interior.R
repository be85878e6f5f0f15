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
    iterate <- measure_gap(problem, control$loss, lambda, X, iterate)
    last <- round == max_rounds || iterate$size < 1e-10 || iterate$stale > 25L
    if (iterate$gap <= target || last) {
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

measure_gap <- function(problem, loss, lambda, X, iterate) {
  iterate$products <- iterate$products + ncol(X)
  iterate$c <- back_times(X, iterate$point$r)
  dual <- dual_value(problem, loss, iterate$point$r, max(0, abs(iterate$c)), lambda)
  iterate$dual <- max(iterate$dual, dual)
  gap <- iterate$point$loss + lambda * sum(abs(iterate$beta)) - iterate$dual
  iterate$stale <- if (is.null(iterate$gap) || gap < iterate$gap) 0L else iterate$stale + 1L
  iterate$gap <- gap
  iterate
}

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
