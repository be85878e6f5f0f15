# Speed of l1_path() with likelihood losses beside glmnet: at the defaults of both, and at the gaps
# that glmnet reaches with smaller and smaller thresholds.
#
#   Rscript bench/families.R [dense tall sparse] [poisson binomial cox] [times=3] [size=1]
#                            [out=bench/results]
#
# Counts, shares of 1 to 9 trials, and censored times with Breslow's ties, of a model of a few
# columns, 50 lambdas. Times are the median CPU seconds of whole calls, run in turn. All gaps are
# computed from the coefficients by one function of this script, which takes nothing from either
# package. Without glmnet its rows are missing.
#
# Sources: R/l1-*.R R/fold-loss.R src/l1*

library(sparsels)
library(Matrix)
source("bench/common.R")

line <- command_line(list(times = "3", size = "1", out = "bench/results"))
times <- as.integer(line$options$times)
size <- as.numeric(line$options$size)
parts <- c("dense", "tall", "sparse")
names <- c("poisson", "binomial", "cox")
if (!all(line$words %in% c(parts, names))) stop("the parts are ", paste(parts, collapse = ", "))
if (any(line$words %in% parts)) parts <- intersect(parts, line$words)
if (any(line$words %in% names)) names <- intersect(names, line$words)
has_glmnet <- requireNamespace("glmnet", quietly = TRUE)

# Data --------------------------------------------------------------------------------------------

some <- function(n) max(50L, as.integer(round(size * n)))

# x, a linear predictor with a standard deviation of 0.8, and the smallest lambda divided by the
# largest
made <- function(x, used, ratio) {
  score <- drop(as.matrix(x[, seq_len(used)] %*% rnorm(used)))
  list(x = x, link = 0.5 + 0.8 * score / sd(score), ratio = ratio)
}

# A family: a response with its weights `y` and `w`, and functions of a linear predictor: `half`,
# half the deviance, `v`, minus its gradient, and `dual`, the value of the dual point s v.
# `balanced` moves a linear predictor to where its residuals balance.
of_rows <- function(draw, loss, mean, link, conjugate, theirs) {
  half <- function(data, f) {
    sum(data$w * (loss(data$y, f) - conjugate(data$y)))
  }
  residual <- function(data, f) data$w * (data$y - mean(f))
  list(
    draw = draw, half = half, theirs = theirs,
    v = function(data, f) {
      v <- residual(data, f)
      v - data$w * sum(v) / sum(data$w)
    },
    dual = function(data, v, s) {
      sum(data$w * (conjugate(data$y - s * v / data$w) - conjugate(data$y)))
    },
    balanced = function(data, f) {
      f + uniroot(function(shift) sum(residual(data, f + shift)), c(-30, 30), tol = 1e-14)$root
    },
    null = function(data) rep(link(weighted.mean(data$y, data$w)), length(data$y))
  )
}

# Of a Cox model: the rows at risk at each time with an event, the latest first, as sums over rows
# in the order of time.
risk_sums <- function(data, a) {
  sums <- rev(cumsum(rev(a[data$order])))
  sums[match(data$moments, data$y[data$order, "time"])]
}

cox <- list(
  draw = function(link) {
    time <- ceiling(100 * rexp(length(link), exp(link)))
    end <- ceiling(100 * rexp(length(link), 0.5))
    y <- survival::Surv(pmin(time, end), time <= end)
    moments <- sort(unique(y[y[, "status"] == 1, "time"]))
    list(y = y, w = rep(1, length(link)), order = order(y[, "time"]), moments = moments,
         died = y[, "status"], events = as.vector(table(y[y[, "status"] == 1, "time"])))
  },
  half = function(data, f) {
    sum(data$events * log(risk_sums(data, exp(f)) / data$events)) - sum(data$died * f)
  },
  v = function(data, f) {
    hazard <- c(0, cumsum(data$events / risk_sums(data, exp(f))))
    data$died - exp(f) * hazard[findInterval(data$y[, "time"], data$moments) + 1]
  },
  dual = function(data, v, s) {
    a <- pmax(data$died - s * v, 0)
    later <- sum(data$events) - cumsum(data$events)
    B <- pmax(risk_sums(data, a) - later, data$events)
    rest <- c(0, (B - data$events)[-1])
    sum(log_times(B, B) - log_times(rest, rest) - log_times(data$events, data$events)) -
      sum(log_times(a, a))
  },
  balanced = function(data, f) f, null = function(data) numeric(length(data$died)),
  theirs = function(data) data$y
)

families <- list(
  poisson = of_rows(
    draw = function(link) list(y = rpois(length(link), exp(link)), w = rep(1, length(link))),
    loss = function(y, f) exp(f) - y * f, mean = exp, link = log,
    conjugate = function(a) a - log_times(a, a),
    theirs = function(data) data$y
  ),
  binomial = of_rows(
    draw = function(link) {
      trials <- sample(9, length(link), TRUE)
      list(y = rbinom(length(link), trials, plogis(link)) / trials, w = trials)
    },
    loss = function(y, f) log1p(exp(f)) - y * f, mean = plogis, link = qlogis,
    conjugate = function(a) -log_times(a, a) - log_times(1 - a, 1 - a),
    theirs = function(data) cbind(1 - data$y, data$y) * data$w
  ),
  cox = cox
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
          lambda_min_ratio = data$ratio, progress = FALSE,
          ties = if (data$family == "cox") "breslow" else "efron", ...)
}

theirs <- function(data, lambda, thresh) {
  glmnet::glmnet(data$x, families[[data$family]]$theirs(data), family = data$family,
                 lambda = lambda / sum(data$w), thresh = thresh, standardize = FALSE, maxit = 1e7)
}

log_times <- function(a, b) ifelse(a > 0, a * log(b), 0)

# The largest gap of models (columns x models), as a share of the null model's objective.
largest_gap <- function(data, lambda, beta) {
  family <- families[[data$family]]
  gaps <- vapply(seq_along(lambda), function(i) {
    f <- family$balanced(data, as.vector(data$x %*% beta[, i]))
    v <- family$v(data, f)
    s <- min(1, lambda[i] / max(abs(as.vector(crossprod(data$x, v)))))
    family$half(data, f) + lambda[i] * sum(abs(beta[, i])) - family$dual(data, v, s)
  }, 0)
  max(gaps) / family$half(data, family$null(data))
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
  data <- c(data, families[[family]]$draw(data$link))
  lambda <- ours(data)$path$lambda
  ways <- list("sparsels, default" = function() ours(data),
               "sparsels, 1e-6" = function() ours(data, tolerance = 1e-6),
               "sparsels, 1e-9" = function() ours(data, tolerance = 1e-9))
  if (has_glmnet) {
    # the Cox models of glmnet take minutes beyond the default
    few <- family == "cox" && part != "dense"
    for (thresh in c(1e-7, if (!few) 1e-10, if (family != "cox") 1e-13)) local({
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
say("l1_path() of counts, shares and times beside glmnet: CPU seconds and the largest gap of the")
say("path, as a share of the null model's objective. Load average at the start: %s", load_average())
for (family in names) for (part in parts) measure(part, family)
writeLines(lines, file.path(line$options$out, "families.txt"))
