# Slow twins of greedy search by a likelihood: models by Newton's method, search by trying all
# columns, held-out deviance by retraining.

# The columns of the covariates, and of x as the problem centres, scales and penalises them.
likelihood_design <- function(d, scaled = TRUE, penalty = rep(1, ncol(d$x))) {
  x <- plain_standard(d$x, d$w, scaled) / rep(sqrt(penalty), each = nrow(d$x))
  list(z = cbind(rep(1, nrow(x)), d$z), x = x)
}

deviance_rows <- function(loss, y, f) {
  entropy <- function(p) ifelse(p > 0, p * log(p), 0)
  2 * switch(loss,
    poisson = exp(f) - y * f - y + entropy(y),
    binomial = pmax(f, 0) + log1p(exp(-abs(f))) - y * f + entropy(y) + entropy(1 - y)
  )
}

# The minimum of the deviance of f = o + z u + x b plus lambda |b|^2, where w is the weight of each
# row: list(f, b, objective).
likelihood_model <- function(loss, z, x, y, o, w, lambda) {
  C <- cbind(z, x)
  penalty <- rep(c(0, lambda), c(ncol(z), ncol(x)))
  at <- function(b) {
    f <- drop(o + C %*% b)
    used <- w > 0
    list(b = b, f = f,
         objective = sum((w * deviance_rows(loss, y, f))[used]) + sum(penalty * b^2))
  }
  now <- at(numeric(ncol(C)))
  for (step in 1:300) {
    mean <- if (loss == "poisson") exp(now$f) else plogis(now$f)
    h <- if (loss == "poisson") mean else mean * (1 - mean)
    gradient <- drop(crossprod(C, w * (y - mean))) - penalty * now$b
    move <- solve(crossprod(C, w * h * C) + diag(penalty, ncol(C)), gradient, tol = 0)
    if (sum(move * gradient) < 1e-24 * now$objective) break
    by <- 1
    while (!isTRUE((new <- at(now$b + by * move))$objective <= now$objective * (1 + 1e-13)) &&
             by > 1e-10) by <- by / 2
    now <- new
  }
  now
}

# The linear predictors of all rows, less the offset, by the models without their fold.
likelihood_left_out <- function(loss, z, x, y, o, w, lambda, ids) {
  out <- 0 * y
  for (fold in unique(ids)) {
    rows <- ids == fold
    out[rows] <- (likelihood_model(loss, z, x, y, o, ifelse(rows, 0, w), lambda)$f - o)[rows]
  }
  out
}
