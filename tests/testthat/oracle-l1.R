# Slow, obvious solvers of models with an l1 penalty, and random problems for them.

soft <- function(value, by) sign(value) * max(abs(value) - by, 0)

# min 1/2 ||y - X beta||^2 + lambda ||beta||_1 by coordinate descent; linear equations on its
# support give the digits that descent would take long for.
cd_lasso <- function(X, y, lambda, gap = 1e-13, tries = 1000, must = TRUE) {
  objective <- function(beta) sum((y - X %*% beta)^2) / 2 + lambda * sum(abs(beta))
  squares <- colSums(X^2)
  beta <- numeric(ncol(X))
  for (try in seq_len(tries)) {
    r <- drop(y - X %*% beta)
    for (sweep in 1:5) {
      for (j in which(squares > 0)) {
        new <- soft(sum(X[, j] * r) + squares[j] * beta[j], lambda) / squares[j]
        if (new != beta[j]) r <- r - X[, j] * (new - beta[j])
        beta[j] <- new
      }
    }
    polished <- polish_lasso(X, y, lambda, beta)
    if (objective(polished) <= objective(beta)) beta <- polished
    r <- drop(y - X %*% beta)
    r <- r * min(1, lambda / max(abs(crossprod(X, r))))
    found <- list(beta = beta, objective = objective(beta))
    found$gap <- found$objective - (sum(y * r) - sum(r^2) / 2)
    if (found$gap <= gap * sum(y^2) / 2) return(found)
  }
  if (must) stop("cd_lasso() did not converge")
  found
}

# To the stationary point with the signs of beta on a largest independent part of its support; a
# coefficient whose sign would change on the way stays at zero there.
polish_lasso <- function(X, y, lambda, beta) {
  repeat {
    support <- which(beta != 0)
    if (!length(support)) return(beta)
    decomposed <- qr(X[, support, drop = FALSE], tol = 1e-8)
    free <- support[decomposed$pivot[seq_len(decomposed$rank)]]
    A <- X[, free, drop = FALSE]
    left <- y - X %*% replace(beta, free, 0)
    value <- drop(solve(crossprod(A), crossprod(A, left) - lambda * sign(beta[free]), tol = 0))
    share <- ifelse(value * beta[free] < 0, beta[free] / (beta[free] - value), Inf)
    if (min(share) == Inf) return(replace(beta, free, value))
    beta[free] <- beta[free] + min(share) * (value - beta[free])
    beta[free[which.min(share)]] <- 0
  }
}

# The elastic net 1/2 ||y - X beta||^2 + lambda ||beta||_1 + ridge / 2 ||beta||^2 as the lasso of
# more rows.
cd_elastic_net <- function(X, y, lambda, ridge, ...) {
  cd_lasso(rbind(X, sqrt(ridge) * diag(ncol(X))), c(y, numeric(ncol(X))), lambda, ...)
}

# min sum_j w_j log(1 + exp(-y_j (X beta + Z v)_j)) + lambda ||beta||_1 + ridge / 2 ||beta||^2:
# Newton's method, every step a lasso or elastic net.
cd_logistic <- function(X, y, w, Z, lambda, gap = 1e-13, ridge = 0) {
  objective <- function(at) {
    margin <- y * drop(X %*% at$beta + Z %*% at$v)
    sum(w * (pmax(-margin, 0) + log1p(exp(-abs(margin))))) + lambda * sum(abs(at$beta)) +
      ridge / 2 * sum(at$beta^2)
  }
  at <- best_covariates(y, w, Z, list(beta = numeric(ncol(X)), v = numeric(ncol(Z))), X)
  null <- objective(at)
  for (try in 1:100) {
    score <- drop(X %*% at$beta + Z %*% at$v)
    p <- plogis(-y * score)
    s <- min(1, lambda / max(abs(crossprod(X, w * y * p) - ridge * at$beta)))
    share <- s * p
    at$objective <- objective(at)
    at$gap <- at$objective + sum(w * (share * log(share) + (1 - share) * log1p(-share))) +
      s^2 * ridge / 2 * sum(at$beta^2)
    if (at$gap <= gap * null) return(at)
    root <- sqrt(w * p * plogis(y * score))
    target <- root * score + w * y * p / root
    design <- qr(root * Z)
    inner <- cd_elastic_net(qr.resid(design, root * X), qr.resid(design, target), lambda, ridge,
                            1e-12, tries = 20, must = FALSE)
    step <- inner$beta - at$beta
    size <- 1
    repeat {
      new <- best_covariates(y, w, Z, list(beta = at$beta + size * step, v = at$v), X)
      if (objective(new) <= at$objective * (1 + 1e-15) || size < 1e-6) break
      size <- size / 2
    }
    at <- new
  }
  stop("cd_logistic() did not converge")
}

# with the v that is best for its beta
best_covariates <- function(y, w, Z, at, X) {
  if (!ncol(Z)) return(at)
  offset <- drop(X %*% at$beta)
  # the gap will tell whether it converged
  fit <- suppressWarnings(glm.fit(
    Z, (y + 1) / 2, w, offset = offset, start = at$v, family = quasibinomial(),
    control = list(epsilon = 1e-15, maxit = 100), intercept = FALSE
  ))
  at$v <- unname(fit$coefficients)
  at
}

# min sum_j w_j (1 - y_j (X beta + Z v)_j)_+ + lambda ||beta||_1, a linear program
hinge_lp <- function(X, y, w, Z, lambda) {
  m <- length(y)
  n <- ncol(X)
  q <- ncol(Z)
  # beta = plus - minus; v; what is short of the margin
  free <- 2 * n + seq_len(q)
  found <- Rglpk::Rglpk_solve_LP(
    obj = c(rep(lambda, 2 * n), numeric(q), w), mat = cbind(y * X, -y * X, y * Z, diag(m)),
    dir = rep(">=", m), rhs = rep(1, m),
    bounds = list(lower = list(ind = free, val = rep(-Inf, q)))
  )
  if (found$status != 0) stop("hinge_lp() did not converge")
  list(beta = found$solution[1:n] - found$solution[n + 1:n], v = found$solution[free],
       objective = found$optimum)
}

# A problem and what the oracles want of it: X centred and scaled, y, w, Z; `working`, the columns
# and response for cd_lasso(), with weights and covariates taken out.
oracle_l1 <- function(pb) {
  X <- as.matrix(pb$x)
  X <- sweep(sweep(X, 2, pb$columns$centre), 2, pb$columns$scale, "/")
  X[, !pb$columns$usable] <- 0
  list(X = unname(X), y = pb$rows$y[, 1], w = pb$rows$weight, Z = unname(pb$z),
       working = list(X = oracle_working(pb, X), y = drop(oracle_working(pb, pb$rows$y))))
}

# The optimum of a problem by the oracle for its loss.
oracle_optimum <- function(pb, loss, lambda, alpha = 1) {
  at <- oracle_l1(pb)
  ridge <- (1 - alpha) * lambda
  lambda <- alpha * lambda
  switch(loss,
    squared = cd_elastic_net(at$working$X, at$working$y, lambda, ridge),
    logistic = cd_logistic(at$X, at$y, at$w, at$Z, lambda, ridge = ridge),
    hinge = hinge_lp(at$X, at$y, at$w, at$Z, lambda)
  )
}

# A random problem with what can go wrong in it: unequal classes, constant, duplicated, negated and
# nearly constant columns, columns of very unequal scale, few non-zeros.
random_l1 <- function(loss, m = sample(c(12L, 25L, 40L), 1), n = sample(c(6L, 20L, 60L), 1),
                      kind = sample(c("plain", "scales", "sparse", "nasty", "shifted"), 1),
                      weights = runif(1) < 0.4, adjust = runif(1) < 0.3,
                      intercept = runif(1) < 0.8, standardize = runif(1) < 0.5,
                      minority = sample(c(0.5, 0.2, 0.1), 1)) {
  x <- matrix(rnorm(m * n), m)
  if (kind == "scales") x <- x * rep(exp(rnorm(n)), each = m)
  if (kind == "sparse") x <- matrix(rpois(m * n, 0.15), m)
  if (kind == "shifted") x <- x + rep(10 * rnorm(n), each = m)
  score <- drop(x %*% ifelse(runif(n) < 3 / n, rnorm(n), 0)) + rnorm(m) * sd(x)
  if (kind == "nasty") {
    x[, 2] <- x[, 1]
    x[, 3] <- -x[, 1]
    x[, 4] <- 1
    x[, 5] <- 0
    x[, 6] <- 1 + 1e-4 * rnorm(m)
  }
  if (loss != "squared") {
    few <- max(2, round(minority * m))
    score <- factor(ifelse(rank(score, ties.method = "first") <= few, "few", "many"))
  }
  if (kind == "sparse") x <- methods::as(x, "CsparseMatrix")
  as_problem(x, score, weights = if (weights) runif(m, 0.5, 3),
             adjust = if (adjust) cbind(age = rnorm(m)), intercept = intercept,
             standardize = standardize)
}

# A model in working coordinates from the coefficients of all columns on the user's scale.
l1_model <- function(problem, coefficients) {
  coefficients <- as.vector(coefficients)
  features <- which(coefficients != 0)
  list(features = features, beta = coefficients[features] * problem$columns$scale[features])
}

# The objective of the null model. For the hinge loss with several covariates it is the optimum of a
# linear programme.
null_objective <- function(problem, loss) {
  if (loss == "hinge" && ncol(problem$z) > 1L) {
    return(null_solution(problem, l1_control(problem, loss))$null)
  }
  model_point(problem, loss, integer(), numeric())$loss
}

# The duality gap of any model, an upper bound of its objective minus the optimum, by which
# solutions of different programs can be compared; `relative` is the gap divided by the objective of
# the null model. For hinge, r must be the dual point of the solver, otherwise dual and gap are NA.
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
