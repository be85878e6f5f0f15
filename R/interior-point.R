# Interior-point solutions of models with an l1 penalty, in plain R on BLAS: l1_ls of Kim and others
# (2007) for squares, l1_logreg of Koh and others (2007) for the logistic loss.
#
# |beta_k| has a bound, a variable of its own, and keeps away from it by a logarithmic barrier that
# is lowered as the duality gap closes. The distances above = bound + beta and below = bound - beta
# are the variables here, not beta and bound: near the optimum one of the two is far smaller than
# the bound and would lose its digits as a difference.
# The covariates are always at their best for the beta at hand. For squares they are projected out
# of the columns once; for logistic every Newton step projects them out in that step's own weights.

# Solutions for one lambda after the other, up to where Ctrl-C stops them.
interior_path <- function(problem, control, lambda) {
  solutions <- vector("list", length(lambda))
  state <- NULL
  bar <- progress_bar(control$progress, "Solving the path")
  for (i in seq_along(lambda)) {
    one <- tryCatch(interior_solve(problem, control, lambda[i], state),
                    interrupt = function(condition) NULL)
    if (is.null(one)) break
    solutions[[i]] <- one$solution
    state <- one$state
    if (!is.null(bar)) bar(i, length(lambda))
  }
  Filter(Negate(is.null), solutions)
}

# The solution for one lambda and what the next may know of it.
interior_solve <- function(problem, control, lambda, state = NULL) {
  if (is.null(state)) state <- interior_state(problem, control)
  kept <- screened_columns(problem, control, lambda, state)
  found <- newton_steps(problem, control, lambda, kept, state)
  solution <- c(found[c("features", "beta", "u", "r", "objective", "gap", "most", "rounds",
                        "products")],
                list(kept = length(kept), null = state$null),
                threshold_facts(problem, control$loss, lambda, found))
  list(solution = solution, state = new_point(state, control, found))
}

# `null`, the objective without columns; `norm` of the columns; `points`, the models so far with
# their dual points, the first of which is without columns: the solution for any lambda from
# lambda_max on.
interior_state <- function(problem, control) {
  empty <- model_point(problem, control$loss, integer(), numeric())
  empty$all <- column_products(problem, empty$r)
  empty$most <- max(abs(empty$all))
  list(null = empty$loss, points = list(empty[point_parts]),
       norm = if (control$screen != "none") working_norms(problem))
}

point_parts <- c("loss", "l1", "r", "all", "most")

# of points in between, safe tests want r and `most` only
new_point <- function(state, control, found) {
  count <- length(state$points)
  if (count > 1L) state$points[[count]]$all <- NULL
  if (control$screen != "safe2") count <- min(count, 1L)
  state$points <- c(state$points[seq_len(count)], list(found[point_parts]))
  state
}

# Screening ----------------------------------------------------------------------------------------

# The columns that the test asked for leaves. A test needs |a_k'r| for some r and a bound of how far
# the optimal r can be from it; a column goes when both together stay below lambda.
screened_columns <- function(problem, control, lambda, state) {
  usable <- which(problem$usable)
  last <- state$points[[length(state$points)]]
  reach <- switch(control$screen,
    none = return(usable),
    gap = gap_reach(problem, control, lambda, state, last),
    safe1 = safe_reach(problem, control, lambda, state, state$points[1L]),
    safe2 = safe_reach(problem, control, lambda, state, state$points)
  )
  usable[!(lambda > reach[usable] * (1 + 1e-10))]
}

# The largest |a_k'r| that the optimal r can have when it is within `radius` of `point`.
reach_of_ball <- function(state, products, r, radius) {
  slack <- length(r) * .Machine$double.eps * sqrt(sum(r^2))
  abs(products) + (radius + slack) * state$norm
}

# The dual is strongly concave, with 1 for squares and 4 for logistic, so that a small gap at the
# last model leaves a small ball. Fercoq and others 2015, Ndiaye and others 2017.
gap_reach <- function(problem, control, lambda, state, last) {
  s <- dual_multiple(problem, control$loss, last$r, last$most, lambda)
  gap <- last$loss + lambda * last$l1 - dual_objective(problem, control$loss, s * last$r)
  gap <- max(gap, 0) + 1e-14 * state$null
  radius <- sqrt(switch(control$loss, squared = 2, logistic = 1 / 2) * gap)
  reach_of_ball(state, s * last$all, s * last$r, radius)
}

# El Ghaoui and others, Theorems 1 (from the model without columns) and 2, and Section 4.3: the
# dual value of every point is a lower bound of the optimum. For squares, bounds of gamma are balls
# about y of the radius ||y - s r||, since that is sqrt(y'y - 2 gamma).
safe_reach <- function(problem, control, lambda, state, points) {
  multiples <- vapply(points, function(point) {
    dual_multiple(problem, control$loss, point$r, point$most, lambda)
  }, 0)
  scaled <- Map(function(point, s) s * point$r, points, multiples)
  empty <- state$points[[1L]]
  if (control$loss == "squared") {
    radius <- min(vapply(scaled, function(r) sqrt(sum((empty$r - r)^2)), 0))
    return(reach_of_ball(state, empty$all, empty$r, radius))
  }
  gamma <- max(vapply(scaled, function(r) dual_objective(problem, control$loss, r), 0))
  at <- c(working(problem), list(response = problem$y))
  safe_call("bounds", at, control, gamma = gamma - 1e-12 * state$null, enough = lambda)$bounds
}

# Newton's method ---------------------------------------------------------------------------------

# Columns are stored to be multiplied: dense and without what covariates explain, or sparse as they
# are, but for weights and scale.
interior_columns <- function(problem, kept, basis) {
  if (!inherits(problem$x, "dgCMatrix")) return(working_matrix(problem, kept, basis))
  x <- sqrt(problem$weights) * problem$x[, kept, drop = FALSE]
  scale_columns(x, 1 / problem$scale[kept])
}

scale_columns <- function(x, by) {
  if (!inherits(x, "dgCMatrix")) return(x * rep(by, each = nrow(x)))
  x@x <- x@x * rep.int(by, diff(x@p))
  x
}

# The loss at h = X beta with its covariates at their best: `loss`, the dual point `r`, and what the
# second derivatives are made of, X'PX with P = root (I - basis basis') root.
loss_point <- function(problem, loss, basis, h, u = NULL) {
  root_w <- sqrt(problem$weights)
  y <- problem$y[, 1L]
  if (loss == "squared") {
    r <- drop(project_out(root_w * y - h, basis))
    return(list(loss = sum(r^2) / 2, r = r, root = 1, basis = basis))
  }
  u <- logistic_covariates(y, h / root_w, root_w, basis, u)
  margin <- y * (h + drop(basis %*% u)) / root_w
  share <- stats::plogis(-margin)
  root <- sqrt(share * stats::plogis(margin))
  list(loss = sum(problem$weights * l1_loss(loss, 1, margin)), r = root_w * y * share, u = u,
       root = root, basis = if (ncol(basis)) qr.Q(qr(root * basis)) else basis)
}

times <- function(X, v) as.vector(X %*% v)
back_times <- function(X, v) as.vector(Matrix::crossprod(X, v))

# Minimises loss + lambda ||beta||_1 over the columns `kept`, until the gap of the whole problem is
# small enough, or no step leads on.
newton_steps <- function(problem, control, lambda, kept, state) {
  basis <- covariate_basis(problem)
  X <- interior_columns(problem, kept, basis)
  at <- list(h = numeric(nrow(problem)), beta = numeric(length(kept)), dual = -Inf, size = 1,
             stale = 0L, products = 0, null = state$null)
  at$point <- loss_point(problem, control$loss, basis, at$h)
  target <- control$tolerance * state$null
  for (round in 0:most_rounds) {
    at <- measure_gap(problem, control$loss, lambda, X, at)
    ended <- round == most_rounds || at$size < 1e-10 || at$stale > 25L
    if (at$gap <= target || ended) {
      found <- certified(problem, control$loss, lambda, kept, at)
      at$products <- at$products + ncol(problem)
      if (found$gap <= control$tolerance * state$null || ended) break
      target <- target / 4
    }
    at <- newton_step(problem, control$loss, lambda, X, basis, at)
  }
  c(found, rounds = round, products = at$products)
}

most_rounds <- 400L

measure_gap <- function(problem, loss, lambda, X, at) {
  at$products <- at$products + ncol(X)
  at$c <- back_times(X, at$point$r)
  at$dual <- max(at$dual, dual_value(problem, loss, at$point$r, max(0, abs(at$c)), lambda))
  gap <- at$point$loss + lambda * sum(abs(at$beta)) - at$dual
  at$stale <- if (is.null(at$gap) || gap < at$gap) 0L else at$stale + 1L
  at$gap <- gap
  at
}

# the solution at hand, its gap from the products of all columns
certified <- function(problem, loss, lambda, kept, at) {
  features <- kept[at$beta != 0]
  beta <- at$beta[at$beta != 0]
  found <- c(list(features = features, beta = beta), model_point(problem, loss, features, beta))
  found$all <- column_products(problem, found$r)
  found$most <- max(abs(found$all))
  found$objective <- found$loss + lambda * found$l1
  found$gap <- found$objective - dual_value(problem, loss, found$r, found$most, lambda)
  found
}

# One step for a weight 1 / t of the barrier; t grows with the gap's end in view. Kim and others,
# Algorithm 1, with a t that grows faster.
newton_step <- function(problem, loss, lambda, X, basis, at) {
  k <- ncol(X)
  if (is.null(at$t)) {
    at$t <- 2 * k / at$gap
    # where the barrier alone would put the bound
    at$above <- at$below <- rep(2 / (at$t * lambda), k)
  }
  if (at$size >= 0.5) at$t <- max(min(2 * k * growth / at$gap, growth * at$t), at$t)
  t <- at$t
  above <- at$above
  below <- at$below
  squares <- above^2 + below^2
  of_beta <- -at$c - (1 / above - 1 / below) / t
  of_bound <- lambda - (1 / above + 1 / below) / t
  right <- -of_beta - (above^2 - below^2) / squares * of_bound
  at$accuracy <- min(0.1, at$gap / at$null)
  added <- 4 / (t * squares)
  # at the ends of the range of numbers there is no step that leads on
  if (!all(is.finite(c(added, right)))) return(replace(at, "size", 0))
  at <- solve_newton(X, at, added, right)
  step <- at$step
  to_above <- above^2 * (2 * step - t * below^2 * of_bound) / squares
  to_below <- -below^2 * (2 * step + t * above^2 * of_bound) / squares
  slope <- sum(of_beta * step) + sum(of_bound * (to_above + to_below)) / 2
  at$products <- at$products + k
  line_search(problem, loss, lambda, basis, at, slope, times(X, step), to_above, to_below)
}

growth <- 5

# Goes along a step as far as both distances stay positive and the barrier's function falls.
line_search <- function(problem, loss, lambda, basis, at, slope, h_step, to_above, to_below) {
  value <- function(point, above, below) {
    point$loss + lambda * sum(above + below) / 2 - (sum(log(above)) + sum(log(below))) / at$t
  }
  now <- value(at$point, at$above, at$below)
  size <- min(1, 0.99 / max(0, -to_above / at$above, -to_below / at$below))
  repeat {
    h <- at$h + size * h_step
    above <- at$above + size * to_above
    below <- at$below + size * to_below
    point <- loss_point(problem, loss, basis, h, at$point$u)
    # what is below rounding counts as progress
    fallen <- value(point, above, below) <= now + 0.01 * size * slope + 1e-14 * abs(now)
    if (isTRUE(fallen) || size < 1e-10) break
    size <- size / 2
  }
  # overflow, of a tiny lambda
  if (is.na(fallen)) return(replace(at, "size", 0))
  at[c("h", "above", "below", "point", "size")] <- list(h, above, below, point, size)
  at$beta <- (above - below) / 2
  at
}

# Solves (X'PX + diag(D)) step = right: by a Cholesky factor for the smaller side of X, or by
# conjugate gradients where both are large, or where columns are too nearly dependent for a factor.
solve_newton <- function(X, at, D, right) {
  diagonal <- function(at) {
    fresh <- !is.null(at$diagonal) && length(at$point$root) == 1L
    if (!fresh) at$diagonal <- gram_diagonal(X, at$point)
    at
  }
  if (min(dim(X)) > direct_most) return(conjugate_gradients(X, diagonal(at), D, right))
  wide <- ncol(X) > nrow(X)
  if (wide) {
    at <- diagonal(at)
  } else if (is.null(at$gram) || length(at$point$root) > 1L) {
    at$gram <- gram_matrix(X, at$point)
  }
  step <- tryCatch(if (wide) {
    solve_wide(X, at, D, right)
  } else {
    solve_factor(chol(at$gram + diag(D, ncol(X))), right)
  }, error = function(condition) NULL)
  if (is.null(step)) return(conjugate_gradients(X, diagonal(at), D, right))
  at$step <- step
  at
}

# Beyond it conjugate gradients are the faster, on a plain BLAS.
direct_most <- 300L

solve_factor <- function(factor, right) {
  drop(backsolve(factor, backsolve(factor, right, transpose = TRUE)))
}

gram_matrix <- function(X, point) {
  X <- point$root * X
  explained <- as.matrix(Matrix::crossprod(point$basis, X))
  as.matrix(Matrix::crossprod(X)) - crossprod(explained)
}

gram_diagonal <- function(X, point) {
  X <- point$root * X
  Matrix::colSums(X^2) - colSums(as.matrix(Matrix::crossprod(point$basis, X))^2)
}

# Woodbury's identity: an m x m system. It has no digits for columns whose D is nothing to their
# length, which the solution's columns come to: these are eliminated on their own afterwards.
solve_wide <- function(X, at, D, right) {
  large <- which(at$diagonal > 1e3 * D)
  if (length(large) > nrow(X)) large <- integer()
  small <- setdiff(seq_len(ncol(X)), large)
  point <- at$point
  within <- function(values) project_out(point$root * as.matrix(values), point$basis)
  shrunk <- X[, small, drop = FALSE]
  inside <- as.matrix(Matrix::tcrossprod(scale_columns(shrunk, 1 / sqrt(D[small]))))
  factor <- chol(diag(nrow(X)) + within(t(within(inside))))
  v <- backsolve(factor, within(shrunk %*% (right[small] / D[small])), transpose = TRUE)
  step <- numeric(ncol(X))
  if (length(large)) {
    W <- backsolve(factor, within(X[, large, drop = FALSE]), transpose = TRUE)
    step[large] <- solve_factor(chol(crossprod(W) + diag(D[large], length(large))),
                                right[large] - crossprod(W, v))
    v <- v + W %*% step[large]
  }
  z <- point$root * project_out(backsolve(factor, v), point$basis)
  step[small] <- (right[small] - back_times(shrunk, z)) / D[small]
  step
}

# From the last step; the preconditioner is the diagonal. Kim and others, Section IV.
conjugate_gradients <- function(X, at, D, right) {
  point <- at$point
  multiply <- function(v) {
    h <- project_out(point$root * times(X, v), point$basis)
    back_times(X, point$root * h) + D * v
  }
  by <- 1 / (at$diagonal + D)
  step <- if (is.null(at$step)) numeric(length(D)) else at$step
  left <- right - multiply(step)
  allowed <- at$accuracy * sqrt(sum(by * right^2))
  direction <- by * left
  size <- sum(direction * left)
  for (round in 1:5000) {
    if (sqrt(size) <= allowed) break
    image <- multiply(direction)
    along <- size / sum(direction * image)
    step <- step + along * direction
    left <- left - along * image
    scaled <- by * left
    new <- sum(scaled * left)
    direction <- scaled + new / size * direction
    size <- new
  }
  at$products <- at$products + 2 * round * length(D)
  at$step <- step
  at
}

kkt_gone <- function(corr, lambda) abs(corr) <= 0.9999 * lambda

# What removing coefficients needs of x, so that a fit can do without: `corr`, the columns' products
# a_k'r with the residual; `spill`, what the curvature adds at most to the loss when a coefficient
# and all smaller ones go; `kkt`, what (37) adds to the loss at most.
threshold_facts <- function(problem, loss, lambda, found) {
  corr <- found$all[found$features]
  gone <- kkt_gone(corr, lambda)
  # the largest second derivative of the loss
  curvature <- switch(loss, squared = 1, logistic = 1 / 4)
  rows <- sqrt(problem$weights)
  moved <- rows * l1_scores(problem, found$features[gone], found$beta[gone])
  list(corr = corr, spill = curvature / 2 * squared_sums(problem, found$features, found$beta),
       kkt = curvature / 2 * sum(moved^2) + sum((found$beta * corr)[gone]))
}

# squared lengths of sum a_k beta_k over each column and all that have no larger |beta|
squared_sums <- function(problem, features, beta) {
  sorted <- order(abs(beta))
  sums <- if (inherits(problem$x, "dgCMatrix")) sparse_sums else dense_sums
  replace(beta, sorted, sums(problem, features[sorted], beta[sorted]))
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

# The same where only nonzeros are touched: of sum - level root_w, since columns are centred.
sparse_sums <- function(problem, features, beta) {
  root_w <- sqrt(problem$weights)
  x <- root_w * problem$x[, features, drop = FALSE]
  beta <- beta / problem$scale[features]
  level <- cumsum(problem$centre[features] * beta)
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
  pmax(cumsum(square) - level * (2 * cumsum(along) - level * sum(problem$weights)), 0)
}
