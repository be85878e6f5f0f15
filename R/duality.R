# Models with an l1 penalty and their certificates, in plain R: the same figures for every solver.
#
# With the working columns a_j (before the covariates are taken out) and the covariates' basis Q,
#   f = A beta / root_w + Q u / root_w,   minimise  sum_j w_j loss(y_j, f_j) + lambda ||beta||_1
# with the loss (y - f)^2 / 2, log(1 + exp(-y f)) or (1 - y f)_+, y being -1 or +1 for the last two.
# A dual point r (m) has Q'r = 0 and |a_k'r| <= lambda; it is root_w (y - f) for squares and
# y alpha / root_w with 0 <= alpha <= w for classes. At the optimum a_k'r = lambda sign(beta_k)
# where beta_k is not 0. El Ghaoui, Viallon and Rabbani 2010, (3), (18), (26), with theta = -alpha.

# sum_j beta_j (x_j - centre_j) / scale_j over the columns of a model, for every row
l1_scores <- function(problem, features, beta) {
  beta <- beta / problem$scale[features]
  x <- problem$x[, features, drop = FALSE]
  centre <- problem$centre[features]
  if (inherits(x, "dgCMatrix")) return(as.vector(x %*% beta) - sum(centre * beta))
  drop((x - rep(centre, each = nrow(x))) %*% beta)
}

# Coefficients of all columns on the user's scale, as a model in working coordinates.
l1_model <- function(problem, coefficients) {
  coefficients <- as.vector(coefficients)
  features <- which(coefficients != 0)
  list(features = features, beta = coefficients[features] * problem$scale[features])
}

# The model of some columns with its covariates' best coefficients `u` (those of Q / root_w): its
# values `f` (m), its dual point `r`, its `loss` and `l1`. For hinge there is no r, and with more
# than one covariate u must be given.
model_point <- function(problem, loss, features, beta, u = NULL) {
  root_w <- sqrt(problem$weights)
  basis <- covariate_basis(problem)
  y <- problem$y[, 1L]
  score <- l1_scores(problem, features, beta)
  u <- switch(loss,
    squared = drop(crossprod(basis, root_w * (y - score))),
    logistic = logistic_covariates(y, score, root_w, basis, u),
    hinge = hinge_covariates(y, score, root_w, basis, u)
  )
  f <- score + drop(basis %*% u) / root_w
  r <- switch(loss,
    squared = drop(project_out(root_w * (y - f), basis)),
    logistic = root_w * y * stats::plogis(-y * f)
  )
  list(f = f, u = u, r = r, loss = sum(problem$weights * l1_loss(loss, y, f)), l1 = sum(abs(beta)))
}

# Newton's method with halved steps. Once the decrement is far below the loss a last step gives
# every digit, convergence being quadratic.
logistic_covariates <- function(y, score, root_w, basis, u = NULL) {
  if (is.null(u)) u <- numeric(ncol(basis))
  if (!length(u)) return(u)
  value <- function(u) sum(root_w^2 * l1_loss("logistic", y, score + drop(basis %*% u) / root_w))
  now <- value(u)
  for (iteration in 1:100) {
    share <- stats::plogis(-y * (score + drop(basis %*% u) / root_w))
    ascent <- drop(crossprod(basis, root_w * y * share))
    # rows that are sure of their class may leave nothing of the second derivatives
    second <- crossprod(basis, share * (1 - share) * basis) + diag(1e-14, length(u))
    step <- drop(solve(second, ascent, tol = 0))
    decrement <- sum(ascent * step)
    if (decrement <= 1e-14 * now) return(u + step)
    size <- 1
    while ((new <- value(u + size * step)) > now - 0.25 * size * decrement && size > 1e-16) {
      size <- size / 2
    }
    u <- u + size * step
    now <- new
  }
  u
}

# One covariate: the loss is piecewise linear, and its slope grows by w |b| where a row comes to its
# margin. The first place where it does not fall any more is the answer.
hinge_covariates <- function(y, score, root_w, basis, u = NULL) {
  if (!ncol(basis)) return(numeric())
  if (ncol(basis) > 1L) return(u)
  slope <- y * basis[, 1L] * root_w
  moves <- which(slope != 0)
  place <- ((1 - y * score) * root_w^2)[moves] / slope[moves]
  sorted <- order(place)
  rise <- cumsum(abs(slope[moves])[sorted])
  fall <- sum(pmax(slope, 0))
  place[sorted][which(rise >= fall * (1 - 1e-14))[1L]]
}

# a_k'r of every column for an r with Q'r = 0, as dual points have; 0 for a column set aside
column_products <- function(problem, r) {
  v <- sqrt(problem$weights) * r
  if (inherits(problem$x, "dgCMatrix")) {
    products <- as.vector(Matrix::crossprod(problem$x, v)) - problem$centre * sum(v)
  } else {
    products <- numeric(ncol(problem))
    for (block in column_blocks(nrow(problem), ncol(problem))) {
      x <- problem$x[, block, drop = FALSE]
      products[block] <- crossprod(x - rep(problem$centre[block], each = nrow(x)), v)
    }
  }
  ifelse(problem$usable, products / problem$scale, 0)
}

# lengths of the working columns, the covariates taken out; 0 for a column set aside
working_norms <- function(problem) ifelse(problem$usable, sqrt(problem$rss) / problem$scale, 0)

# The best dual value of the multiples s r with |s| most <= lambda, `most` being no less than any
# |a_k'r|: a lower bound of the optimum. El Ghaoui and others, (8).
dual_value <- function(problem, loss, r, most, lambda) {
  dual_objective(problem, loss, dual_multiple(problem, loss, r, most, lambda) * r)
}

# that s
dual_multiple <- function(problem, loss, r, most, lambda) {
  widest <- if (most > 0) lambda / most else Inf
  if (all(r == 0)) return(0)
  if (loss == "squared") {
    return(max(-widest, min(sum(working_response(problem) * r) / sum(r^2), widest)))
  }
  share <- dual_share(problem, r)
  if (any(share < 0)) return(0)
  widest <- min(widest, 1 / max(share))
  if (loss == "hinge") widest else largest_entropy(problem$weights, share, widest)
}

dual_objective <- function(problem, loss, r) {
  if (loss == "squared") return(sum(working_response(problem) * r) - sum(r^2) / 2)
  share <- dual_share(problem, r)
  sum(problem$weights * (if (loss == "hinge") share else entropy(share)))
}

# alpha / w of a dual point of classes; a hair below 0 is rounding
dual_share <- function(problem, r) {
  share <- problem$y[, 1L] * r / sqrt(problem$weights)
  replace(share, share < 0 & share > -1e-10, 0)
}

entropy <- function(p) {
  part <- function(p) ifelse(p > 0, -p * log(p), 0)
  part(p) + ifelse(p < 1, -(1 - p) * log1p(-p), 0)
}

# s in (0, widest] with the largest sum of w entropy(s share), which is concave
largest_entropy <- function(w, share, widest) {
  inside <- share > 0
  w <- (w * share)[inside]
  share <- share[inside]
  slope <- function(s) sum(w * (log1p(-pmin(s * share, 1)) - log(s * share)))
  if (slope(widest) >= 0) return(widest)
  ends <- c(0, widest)
  # half of all digits, since the value is flat there
  for (i in 1:40) {
    middle <- mean(ends)
    ends[if (slope(middle) > 0) 1L else 2L] <- middle
  }
  ends[1L]
}

# How far any model is from the optimum at lambda at most: the figure by which solutions of
# different programs can be compared. `relative` is to the objective without columns. For hinge, r
# is that of the solver, else the dual and the gap are not known.
duality_gap <- function(problem, loss, lambda, features, beta, u = NULL, r = NULL) {
  point <- model_point(problem, loss, features, beta, u)
  null <- null_objective(problem, loss)
  primal <- point$loss + lambda * point$l1
  if (is.null(r)) r <- point$r
  dual <- NA_real_
  if (!is.null(r)) {
    dual <- dual_value(problem, loss, r, max(abs(column_products(problem, r))), lambda)
  }
  list(primal = primal, dual = dual, gap = primal - dual, relative = (primal - dual) / null,
       null = null)
}
