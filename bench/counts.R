# Greedy selection of counts by their likelihood beside least squares of their logarithms and the
# Poisson lasso of glmnet: deviance on new rows, columns, time.
#
#   Rscript bench/counts.R [poisson alike dispersed both] [draws=8] [rows=150] [columns=1000]
#                          [out=bench/results]
#
# Counts with an exposure, of six of the columns. `alike`: columns in blocks of ten with a
# correlation of 0.7. `dispersed`: negative binomial counts with theta 1.5; `both` is both. The
# deviance of 1000 new rows is by the Poisson loss, relative to a constant rate. Least squares are
# of log((y + 1/2) / exposure), with the means scaled to the sum of the counts. Methods choose their
# size or lambda by ten folds of their own. Without glmnet its rows are missing.
#
# Sources: R/search-greedy.R R/search-likelihood.R R/l1-*.R src/greedy* src/likelihood* src/l1*

library(sparsels)
source("bench/common.R")

line <- command_line(list(draws = "8", rows = "150", columns = "1000", out = "bench/results"))
parts <- c("poisson", "alike", "dispersed", "both")
if (!all(line$words %in% parts)) stop("the parts are ", paste(parts, collapse = ", "))
if (length(line$words)) parts <- intersect(parts, line$words)
draws <- as.integer(line$options$draws)
m <- as.integer(line$options$rows)
n <- as.integer(line$options$columns)
has_glmnet <- requireNamespace("glmnet", quietly = TRUE)

# Data --------------------------------------------------------------------------------------------

used <- 1 + 10 * (0:5)
effects <- 0.5 * rep(c(1, -1), 3)

columns <- function(rows, alike) {
  x <- matrix(rnorm(rows * n), rows, dimnames = list(NULL, paste0("x", seq_len(n))))
  if (!alike) return(x)
  block <- (seq_len(n) - 1) %/% 10 + 1
  sqrt(0.7) * matrix(rnorm(rows * max(block)), rows)[, block] + sqrt(0.3) * x
}

drawn <- function(rows, part) {
  x <- columns(rows, part %in% c("alike", "both"))
  o <- log(runif(rows, 0.5, 3))
  colnames(x) <- paste0("x", seq_len(n))
  mean <- exp(0.5 + o + drop(x[, used] %*% effects))
  y <- if (part %in% c("dispersed", "both")) rnbinom(rows, 1.5, mu = mean) else rpois(rows, mean)
  list(x = x, y = y, o = o)
}

# Methods: a function of data and new data, which gives the means of the new rows and the columns.
methods <- list(
  "squares of logarithms" = function(data, new) {
    fit <- greedy_rls(data$x, log((data$y + 0.5) / exp(data$o)), size = "min", progress = FALSE)
    level <- sum(data$y) / sum(exp(data$o + fitted(fit)))
    list(mean = level * exp(new$o + predict(fit, new$x)), columns = selected(fit))
  },
  "greedy, default size" = function(data, new) greedy(data, new, "cv", "poisson"),
  "greedy, smallest error" = function(data, new) greedy(data, new, "min", "poisson"),
  "greedy negbin, default size" = function(data, new) greedy(data, new, "cv", "negbin"),
  "greedy negbin, smallest error" = function(data, new) greedy(data, new, "min", "negbin"),
  "lasso, l1_path()" = function(data, new) {
    fit <- l1_path(data$x, data$y, offset = data$o, loss = "poisson", folds = 10,
                   progress = FALSE)
    list(mean = predict(fit, new$x, newoffset = new$o), columns = selected(fit))
  }
)

greedy <- function(data, new, size, loss) {
  fit <- greedy_rls(data$x, data$y, offset = data$o, loss = loss, size = size, progress = FALSE)
  list(mean = predict(fit, new$x, newoffset = new$o), columns = selected(fit),
       exact = mean(fit$path$exact, na.rm = TRUE))
}

if (has_glmnet) {
  methods[["lasso, cv.glmnet"]] <- function(data, new) {
    fit <- glmnet::cv.glmnet(data$x, data$y, offset = data$o, family = "poisson")
    beta <- as.matrix(coef(fit, s = "lambda.min"))[-1, ]
    mean <- predict(fit, new$x, newoffset = new$o, s = "lambda.min", type = "response")
    list(mean = drop(mean), columns = names(which(beta != 0)))
  }
}

# Measure -----------------------------------------------------------------------------------------

deviance_of <- function(y, mean) 2 * sum(ifelse(y > 0, y * log(y / mean), 0) - (y - mean))

one_draw <- function(part, draw) {
  set.seed(draw)
  data <- drawn(m, part)
  new <- drawn(1000, part)
  null <- deviance_of(new$y, exp(new$o) * sum(data$y) / sum(exp(data$o)))
  t(vapply(methods, function(method) {
    set.seed(draw)
    from <- proc.time()
    found <- suppressWarnings(suppressMessages(method(data, new)))
    seconds <- sum((proc.time() - from)[1:2])
    c(deviance = deviance_of(new$y, found$mean) / null, columns = length(found$columns),
      true = sum(paste0("x", used) %in% found$columns), seconds = seconds,
      exact = if (is.null(found$exact)) NA else found$exact)
  }, numeric(5)))
}

say("%s", machine_line())
say("Counts, %d x %d, %d draws: the Poisson deviance of 1000 new rows relative to a constant rate,",
    m, n, draws)
say("columns, how many of the six true ones, CPU seconds, and the share of the steps that are")
say("proven to be exact. Standard errors are over draws. Load average at the start: %s",
    load_average())
for (part in parts) {
  each <- simplify2array(lapply(seq_len(draws), one_draw, part = part))
  of <- function(name) rowMeans(each[, name, ])
  lasso <- each[nrow(each), "deviance", ]
  ratio <- each[, "deviance", ] / rep(lasso, each = nrow(each))
  error <- function(values) apply(values, 1, sd) / sqrt(draws)
  heading("%s", part)
  say_table(data.frame(
    method = rownames(each), deviance = round(of("deviance"), 3),
    se = round(error(each[, "deviance", ]), 3), "to the lasso" = round(rowMeans(ratio), 2),
    "se of that" = round(error(ratio), 2), columns = round(of("columns"), 1),
    true = round(of("true"), 1), seconds = round(of("seconds"), 2),
    exact = ifelse(is.na(of("exact")), "", format(round(of("exact"), 2))), check.names = FALSE
  ))
}
