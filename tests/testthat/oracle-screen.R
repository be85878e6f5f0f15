# Safe tests written for reading: what a dual point can be, by linear programmes and by searches.

# columns with centre and scale taken out, the labels folded in; with covariates beyond an intercept
# what these explain is taken out too, as the tests do
oracle_folded <- function(pb, k) {
  x <- (as.matrix(pb$x[, k, drop = FALSE]) - pb$columns$centre[k]) / pb$columns$scale[k]
  if (ncol(pb$z) > 1 || !pb$coding$intercept) {
    root_w <- sqrt(pb$rows$weight)
    x <- qr.resid(qr(root_w * pb$z), root_w * x) / root_w
  }
  drop(x) * pb$rows$y[, 1]
}

# max of v'alpha: 0 <= alpha <= w, y'alpha = 0 with an intercept, h'alpha >= least
oracle_hinge_bound <- function(pb, k, least, h = rep(1, nrow(pb))) {
  v <- oracle_folded(pb, k)
  m <- length(v)
  rows <- rbind(if (pb$coding$intercept) pb$rows$y[, 1], h, diag(m))
  sides <- c(if (pb$coding$intercept) "==", ">=", rep("<=", m))
  limits <- c(if (pb$coding$intercept) 0, least, pb$rows$weight)
  max(vapply(c(-1, 1), function(sign) {
    Rglpk::Rglpk_solve_LP(sign * v, rows, sides, limits, max = TRUE)$optimum
  }, 0))
}

# the smallest largest product of all alpha whose sum is as large as that of any, all covariates
# balanced
oracle_hinge_lambda_max <- function(pb) {
  x <- (as.matrix(pb$x) - rep(pb$columns$centre, each = nrow(pb$x))) / rep(pb$columns$scale,
                                                                           each = nrow(pb$x))
  x <- x[, pb$columns$usable, drop = FALSE] * pb$rows$y[, 1]
  m <- nrow(x)
  q <- ncol(pb$z)
  covariates <- matrix(t(pb$z * pb$rows$y[, 1]), q, m)
  null <- Rglpk::Rglpk_solve_LP(rep(1, m), rbind(covariates, diag(m)), rep(c("==", "<="), c(q, m)),
                                c(rep(0, q), pb$rows$weight), max = TRUE)$optimum
  rows <- rbind(cbind(covariates, rep(0, q)), c(rep(1, m), 0), cbind(diag(m), 0), cbind(t(x), -1),
                cbind(-t(x), -1))
  sides <- rep(c("==", ">=", "<="), c(q, 1, m + 2 * ncol(x)))
  limits <- c(rep(0, q), null * (1 - 1e-12), pb$rows$weight, rep(0, 2 * ncol(x)))
  Rglpk::Rglpk_solve_LP(c(rep(0, m), 1), rows, sides, limits)$optimum
}

# max of v'alpha: entropy at least gamma, y'alpha = 0 with an intercept. The maximum has
# alpha = w plogis((v + nu y) / mu).
oracle_logistic_bound <- function(pb, k, gamma) {
  v <- oracle_folded(pb, k)
  y <- pb$rows$y[, 1]
  w <- pb$rows$weight
  entropy <- function(p) sum(w * ifelse(p > 0 & p < 1, -p * log(p) - (1 - p) * log(1 - p), 0))
  shares <- function(v, mu) {
    at <- function(nu) stats::plogis((v + nu * y) / mu)
    if (!pb$coding$intercept) return(at(0))
    wide <- max(abs(v)) + 100 * mu
    at(stats::uniroot(function(nu) sum(w * y * at(nu)), c(-wide, wide), tol = 1e-13)$root)
  }
  max(vapply(c(-1, 1), function(sign) {
    mu <- stats::uniroot(function(log_mu) entropy(shares(sign * v, exp(log_mu))) - gamma,
                         c(-4, 12), tol = 1e-12)$root
    sum(w * shares(sign * v, exp(mu)) * sign * v)
  }, 0))
}
