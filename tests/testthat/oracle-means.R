# Regression of counts and shares with an l1 penalty, slowly and plainly: its objective and a lower
# bound of it from the coefficients alone, in the user's units. Counts of "negbin(2)" have the
# variance mean + mean^2 / 2.

log_times <- function(a, b) ifelse(a > 0, a * log(b), 0)

# The means by the linear predictor f, and minus the derivative of each row's loss.
plain_mean <- function(loss, f) if (loss == "binomial") 1 / (1 + exp(-f)) else exp(f)

mean_slope <- function(loss, y, f) {
  (y - plain_mean(loss, f)) / if (loss == "negbin(2)") 1 + exp(f) / 2 else 1
}

# What each row's part of the dual value is by what the dual point leaves of y.
plain_conjugate <- function(loss, left, y) {
  shares <- function(n) -log_times(left, left / n) - log_times(n - left, 1 - left / n)
  switch(loss, poisson = left - log_times(left, left), binomial = shares(1),
         "negbin(2)" = shares(y + 2) - left * log(2))
}

# Half of the deviance of y from these means, in sum.
half_of_deviance <- function(y, f, w, loss = "poisson") {
  linear <- switch(loss, poisson = exp(f), binomial = log(1 + exp(f)),
                   "negbin(2)" = (y + 2) * log(1 + exp(f) / 2))
  sum(w * (linear - y * f - plain_conjugate(loss, y, y)))
}

# Columns as the penalty takes them: weighted mean 0 and variance 1.
plain_standard <- function(x, w, scaled = TRUE) {
  x <- as.matrix(x)
  x <- x - rep(colSums(w * x) / sum(w), each = nrow(x))
  if (!scaled) return(x)
  scale <- sqrt(colSums(w * x^2) / sum(w))
  x / rep(ifelse(scale > 1e-12, scale, Inf), each = nrow(x))
}

# For the linear predictor f, offsets included, and the coefficients beta of the columns X: the
# objective, the gap to its lower bound from the scaled residual, how far the residual is from
# balance with the covariates z, and by how much any column breaks its optimality condition.
mean_point <- function(loss, X, y, f, beta, lambda, alpha, w, o, z) {
  slope <- mean_slope(loss, y, f)
  v <- w * slope
  ridge <- lambda * (1 - alpha)
  products <- drop(crossprod(X, v)) - ridge * beta
  weight <- lambda * alpha
  s <- min(1, weight / max(abs(products)))
  gained <- plain_conjugate(loss, y - s * slope, y) - plain_conjugate(loss, y, y)
  dual <- sum(w * gained) - s * sum(v * o) - s^2 * ridge * sum(beta^2) / 2
  objective <- half_of_deviance(y, f, w, loss) + weight * sum(abs(beta)) + ridge / 2 * sum(beta^2)
  unequal <- ifelse(beta != 0, abs(products - weight * sign(beta)), pmax(abs(products) - weight, 0))
  list(objective = objective, gap = objective - dual, balance = max(abs(crossprod(z, v))),
       broken = max(unequal) / weight)
}

# A random problem of counts or shares: kinds of x, offsets, covariates, weights of which some are
# 0.
draw_means <- function(number, loss) {
  m <- sample(20:60, 1)
  n <- sample(5:50, 1)
  x <- matrix(rnorm(m * n), m)
  if (number %% 3 == 0) x[abs(x) < 1] <- 0
  if (number %% 4 == 0) x <- round(exp(x))
  if (number %% 5 == 0) x <- x + rnorm(m)
  o <- if (number %% 2) rnorm(m) else rep(0, m)
  w <- if (number %% 3) sample(c(0, 0.5, 1, 2), m, TRUE, c(0.05, 1, 1, 1)) else rep(1, m)
  z <- if (number %% 4 == 1) cbind(a = rnorm(m), b = runif(m))
  score <- drop(plain_standard(x[, 1:3], rep(1, m)) %*% c(0.7, -0.5, 0.4))
  link <- score + o + sample(c(0, -1, 3), 1)
  y <- switch(loss, poisson = rpois(m, exp(link)), binomial = rbinom(m, 4, plogis(link)) / 4,
              "negbin(2)" = rnbinom(m, 2, mu = exp(link)))
  y[which(w > 0)[1:2]] <- 0:1
  list(x = x, y = y, o = o, w = w, z = z, alpha = sample(c(1, 0.7, 0.2), 1))
}
