# Regression of counts and shares with an l1 penalty, slowly and plainly: its objective and a lower
# bound of it from the coefficients alone, in the user's units.

log_times <- function(a, b) ifelse(a > 0, a * log(b), 0)

# The means by the linear predictor f, and what each row's part of the dual value is by its mean.
plain_mean <- function(loss, f) if (loss == "poisson") exp(f) else 1 / (1 + exp(-f))

plain_conjugate <- function(loss, mean) {
  if (loss == "poisson") return(mean - log_times(mean, mean))
  -log_times(mean, mean) - log_times(1 - mean, 1 - mean)
}

# Half of the deviance of y from these means, in sum.
half_of_deviance <- function(y, f, w, loss = "poisson") {
  linear <- if (loss == "poisson") exp(f) else log(1 + exp(f))
  sum(w * (linear - y * f - plain_conjugate(loss, y)))
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
  fitted <- plain_mean(loss, f)
  v <- w * (y - fitted)
  ridge <- lambda * (1 - alpha)
  products <- drop(crossprod(X, v)) - ridge * beta
  weight <- lambda * alpha
  s <- min(1, weight / max(abs(products)))
  mean <- (1 - s) * y + s * fitted
  dual <- sum(w * (plain_conjugate(loss, mean) - plain_conjugate(loss, y))) - s * sum(v * o) -
    s^2 * ridge * sum(beta^2) / 2
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
  y <- if (loss == "poisson") rpois(m, exp(link)) else rbinom(m, 4, plogis(link)) / 4
  y[which(w > 0)[1:2]] <- 0:1
  list(x = x, y = y, o = o, w = w, z = z, alpha = sample(c(1, 0.7, 0.2), 1))
}
