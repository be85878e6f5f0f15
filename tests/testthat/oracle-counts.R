# Poisson regression with an l1 penalty, slowly and plainly: its objective and a lower bound of it
# from the coefficients alone, in the user's units.

log_times <- function(a, b) ifelse(a > 0, a * log(b), 0)

# Half of the deviance of counts y from the means exp(f), in sum.
half_of_deviance <- function(y, f, w) {
  sum(w * (exp(f) - y * f - y + log_times(y, y)))
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
count_point <- function(X, y, f, beta, lambda, alpha = 1, w = rep(1, length(y)),
                        o = rep(0, length(y)), z = matrix(1, length(y))) {
  v <- w * (y - exp(f))
  ridge <- lambda * (1 - alpha)
  products <- drop(crossprod(X, v)) - ridge * beta
  weight <- lambda * alpha
  s <- min(1, weight / max(abs(products)))
  mean <- (1 - s) * y + s * exp(f)
  dual <- sum(w * (mean - log_times(mean, mean) - y + log_times(y, y))) - s * sum(v * o) -
    s^2 * ridge * sum(beta^2) / 2
  objective <- half_of_deviance(y, f, w) + weight * sum(abs(beta)) + ridge / 2 * sum(beta^2)
  unequal <- ifelse(beta != 0, abs(products - weight * sign(beta)), pmax(abs(products) - weight, 0))
  list(objective = objective, gap = objective - dual, balance = max(abs(crossprod(z, v))),
       broken = max(unequal) / weight)
}

# A random problem of counts: kinds of x, exposures, weights of which some are 0, covariates.
draw_counts <- function(number) {
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
  y <- rpois(m, exp(score + o + sample(c(0, -1, 3), 1)))
  y[which(w > 0)[1:2]] <- 0:1
  list(x = x, y = y, o = o, w = w, z = z, alpha = sample(c(1, 0.7, 0.2), 1))
}
