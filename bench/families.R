# Speed of l1_path() with likelihood losses beside glmnet: at the defaults of both, and at the gaps
# that glmnet reaches with smaller and smaller thresholds.
#
#   Rscript bench/families.R [dense tall sparse] [times=3] [size=1] [out=bench/results]
#
# Counts, and shares of 1 to 9 trials, of a model of a few columns, 50 lambdas. Times are the median
# CPU seconds of whole calls, run in turn. All gaps are computed from the coefficients by one
# function of this script, which takes nothing from either package. Without glmnet its rows are
# missing.

library(sparsels)
library(Matrix)
source("bench/common.R")

line <- command_line(list(times = "3", size = "1", out = "bench/results"))
times <- as.integer(line$options$times)
size <- as.numeric(line$options$size)
parts <- c("dense", "tall", "sparse")
if (!all(line$words %in% parts)) stop("the parts are ", paste(parts, collapse = ", "))
if (length(line$words)) parts <- intersect(parts, line$words)
has_glmnet <- requireNamespace("glmnet", quietly = TRUE)

# Data --------------------------------------------------------------------------------------------

some <- function(n) max(50L, as.integer(round(size * n)))

# x, a linear predictor with a standard deviation of 0.8, and the smallest lambda divided by the
# largest
made <- function(x, used, ratio) {
  score <- drop(as.matrix(x[, seq_len(used)] %*% rnorm(used)))
  list(x = x, link = 0.5 + 0.8 * score / sd(score), ratio = ratio)
}

# A family: a response with its weights, the loss without its value at the saturated model, the
# mean, and what the dual value of a row is by its mean.
families <- list(
  poisson = list(
    draw = function(link) list(y = rpois(length(link), exp(link)), w = rep(1, length(link))),
    loss = function(y, f) exp(f) - y * f, mean = exp, link = log,
    conjugate = function(a) a - log_times(a, a),
    theirs = function(data) data$y
  ),
  binomial = list(
    draw = function(link) {
      trials <- sample(9, length(link), TRUE)
      list(y = rbinom(length(link), trials, plogis(link)) / trials, w = trials)
    },
    loss = function(y, f) log1p(exp(f)) - y * f, mean = plogis, link = qlogis,
    conjugate = function(a) -log_times(a, a) - log_times(1 - a, 1 - a),
    theirs = function(data) cbind(1 - data$y, data$y) * data$w
  )
)

chain <- function(m, n, rho = 0.7) {
  x <- matrix(rnorm(m * n), m)
  for (j in seq_len(n)[-1]) x[, j] <- rho * x[, j - 1] + sqrt(1 - rho^2) * x[, j]
  x
}

problems <- list(
  dense = function() made(matrix(rnorm(200 * some(20000)), 200), 10, 0.05),
  tall = function() made(chain(2000, some(500)), 50, 0.01),
  sparse = function() made(rsparsematrix(5000, some(20000), 0.005), 50, 0.02)
)

# Measure -----------------------------------------------------------------------------------------

ours <- function(data, ...) {
  l1_path(data$x, data$y, loss = data$family, weights = data$w, standardize = FALSE, nlambda = 50,
          lambda_min_ratio = data$ratio, progress = FALSE, ...)
}

theirs <- function(data, lambda, thresh) {
  glmnet::glmnet(data$x, families[[data$family]]$theirs(data), family = data$family,
                 lambda = lambda / sum(data$w), thresh = thresh, standardize = FALSE, maxit = 1e7)
}

log_times <- function(a, b) ifelse(a > 0, a * log(b), 0)

# The intercept at which the residuals of f balance.
balance <- function(data, f) {
  family <- families[[data$family]]
  uniroot(function(shift) sum(data$w * (data$y - family$mean(f + shift))), c(-30, 30),
          tol = 1e-14)$root
}

# The largest gap of models (columns x models), as a share of the null model's objective.
largest_gap <- function(data, lambda, beta) {
  family <- families[[data$family]]
  saturated <- sum(data$w * family$conjugate(data$y))
  half <- function(f) sum(data$w * family$loss(data$y, f)) - saturated
  gaps <- vapply(seq_along(lambda), function(i) {
    f <- as.vector(data$x %*% beta[, i])
    f <- f + balance(data, f)
    v <- data$w * (data$y - family$mean(f))
    v <- v - data$w * sum(v) / sum(data$w)
    s <- min(1, lambda[i] / max(abs(as.vector(crossprod(data$x, v)))))
    a <- data$y - s * v / data$w
    half(f) + lambda[i] * sum(abs(beta[, i])) - sum(data$w * family$conjugate(a)) + saturated
  }, 0)
  null <- rep(family$link(weighted.mean(data$y, data$w)), length(data$y))
  max(gaps) / half(null)
}

our_gap <- function(data, fit) {
  beta <- Matrix(0, ncol(data$x), nrow(fit$path), sparse = TRUE)
  for (i in seq_len(ncol(beta))) beta[fit$solutions[[i]]$features, i] <- fit$solutions[[i]]$beta
  largest_gap(data, fit$path$lambda, beta)
}

# A row for each tolerance of both.
measure <- function(part, family) {
  set.seed(1)
  data <- problems[[part]]()
  data$family <- family
  data[c("y", "w")] <- families[[family]]$draw(data$link)[c("y", "w")]
  lambda <- ours(data)$path$lambda
  ways <- list("sparsels, default" = function() ours(data),
               "sparsels, 1e-6" = function() ours(data, tolerance = 1e-6),
               "sparsels, 1e-9" = function() ours(data, tolerance = 1e-9))
  if (has_glmnet) {
    for (thresh in c(1e-7, 1e-10, 1e-13)) local({
      own <- thresh
      ways[[sprintf("glmnet, thresh %.0e", own)]] <<- function() theirs(data, lambda, own)
    })
  }
  fits <- lapply(ways, function(way) way())
  gaps <- vapply(fits, function(fit) {
    if (inherits(fit, "l1_path")) return(our_gap(data, fit))
    if (length(fit$lambda) < length(lambda)) return(NA)
    largest_gap(data, lambda, fit$beta)
  }, 0)
  # what l1_path() takes for the gap of glmnet
  equal <- lapply(gaps[grepl("glmnet", names(gaps)) & !is.na(gaps)], function(gap) {
    function() ours(data, tolerance = gap)
  })
  names(equal) <- sub("glmnet", "sparsels at the gap of glmnet", names(equal))
  seconds <- interleaved(c(ways, equal), times, cpu)
  heading("%s, %s, %d x %d, %d lambdas to %s of lambda_max, %d columns at the last one", family,
          part, nrow(data$x), ncol(data$x), length(lambda), format(data$ratio),
          utils::tail(fits[[1]]$path$size, 1))
  gap <- c(gaps, rep(NA, length(equal)))
  say_table(data.frame(call = names(seconds), seconds = round(seconds, 3),
                       gap = ifelse(is.na(gap), "", format(gap, digits = 2))))
}

say("%s", machine_line())
say("l1_path() of counts and shares beside glmnet: CPU seconds and the largest gap of the path,")
say("as a share of the null model's objective. Load average at the start: %s", load_average())
for (family in names(families)) for (part in parts) measure(part, family)
writeLines(lines, file.path(line$options$out, "families.txt"))
