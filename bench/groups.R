# How good are lists of groups of columns, beside the group lasso and its kin?
#
#   Rscript bench/groups.R [sims=10] [rows=200] [groups=100] [out=bench/results]
#
# Simulated: groups of 2 to 10 columns that are correlated by 0.5 within a group, of which six have
# effects: all of their columns, or one of them. Signal and noise have equal variance. Every method
# is called with its defaults and chooses by ten folds; the group lasso (grLasso), grMCP and gel are
# those of the CRAN package grpreg, which is left out where it is not installed. The error is that
# of the mean of 1000 new rows relative to the variance of the signal. About two minutes of CPU.
#
# Sources: R/search-greedy.R R/data-columns.R src/greedy*

library(sparsels)
source("bench/common.R")

line <- command_line(list(sims = "10", rows = "200", groups = "100", out = "bench/results"))
given <- line$options
sims <- as.integer(given$sims)
m <- as.integer(given$rows)
count <- as.integer(given$groups)
true <- 6L

# Data --------------------------------------------------------------------------------------------

simulated <- function(all_columns) {
  size <- sample(2:10, count, replace = TRUE)
  group <- rep(seq_len(count), size)
  total <- m + 1000L
  shared <- matrix(rnorm(total * count), total)[, group]
  x <- sqrt(0.5) * shared + sqrt(0.5) * matrix(rnorm(total * length(group)), total)
  beta <- numeric(length(group))
  for (g in seq_len(true)) {
    columns <- which(group == g)
    if (!all_columns) columns <- columns[1L]
    beta[columns] <- rnorm(length(columns)) + 0.5
    # groups explain alike
    beta[columns] <- beta[columns] / sd(x[, columns, drop = FALSE] %*% beta[columns])
  }
  signal <- drop(x %*% beta)
  train <- seq_len(m)
  list(x = x[train, ], y = signal[train] + rnorm(m, sd = sd(signal)), new = x[-train, ],
       signal = signal[-train], group = group)
}

# Methods -----------------------------------------------------------------------------------------
#
# Each gives predictions at its own choice and at the true number of groups, and the groups chosen.

greedy <- function(..., grouped = TRUE) {
  function(d) {
    fit <- greedy_rls(d$x, d$y, columns_group = if (grouped) d$group else FALSE, ...,
                      progress = FALSE)
    at_true <- function(model) length(unique(d$group[model$features])) <= true
    sizes <- which(vapply(fit$coefficients, function(model) !is.null(model) && at_true(model), NA))
    list(own = predict(fit, d$new), at_true = predict(fit, d$new, size = max(sizes) - 1L),
         chosen = unique(d$group[selected(fit, index = TRUE)]))
  }
}

group_lasso <- function(penalty) {
  function(d) {
    cv <- grpreg::cv.grpreg(d$x, d$y, d$group, penalty = penalty)
    groups_at <- function(lambda) {
      beta <- coef(cv$fit, lambda = lambda)[-1L]
      unique(d$group[beta != 0])
    }
    numbers <- lengths(lapply(cv$lambda, groups_at))
    last <- max(which(numbers <= true))
    list(own = predict(cv, d$new), at_true = predict(cv$fit, d$new, lambda = cv$lambda[last]),
         chosen = groups_at(cv$lambda.min))
  }
}

methods <- c(
  list("greedy_rls, groups" = greedy(), "greedy_rls, one of each" = greedy(group_rule = "one"),
       "greedy_rls, columns" = greedy(grouped = FALSE)),
  if (requireNamespace("grpreg", quietly = TRUE)) {
    list("group lasso" = group_lasso("grLasso"), "grMCP" = group_lasso("grMCP"),
         "gel" = group_lasso("gel"))
  }
)

# Runs --------------------------------------------------------------------------------------------

one_run <- function(d) {
  seed <- sample.int(1e6, 1L)
  relative <- function(prediction) mean((prediction - d$signal)^2) / var(d$signal)
  vapply(methods, function(method) {
    set.seed(seed)
    seconds <- sum(system.time(found <- suppressWarnings(method(d)))[c("user.self", "sys.self")])
    c(error = relative(found$own), at_true = relative(found$at_true),
      groups = length(found$chosen), found = sum(found$chosen <= true), seconds = seconds)
  }, numeric(5L))
}

set.seed(1)
scenes <- c("all columns of six groups have effects" = TRUE, "one column of each does" = FALSE)
found <- lapply(scenes, function(all_columns) {
  simplify2array(lapply(seq_len(sims), function(i) one_run(simulated(all_columns))))
})

say("%s", machine_line())
for (scene in names(scenes)) {
  values <- found[[scene]]
  reference <- values["error", "greedy_rls, groups", ]
  excess <- values["error", , ] - rep(reference, each = ncol(values))
  heading("%d rows, %d groups, %s: means of %d simulations", m, count, scene, sims)
  say("")
  figure <- function(name, digits) {
    formatC(rowMeans(values[name, , ]), digits = digits, format = "f")
  }
  say_table(data.frame(
    method = colnames(values), error = figure("error", 3),
    "less the first" = sprintf("%+.3f", rowMeans(excess)),
    se = sprintf("%.3f", apply(excess, 1L, sd) / sqrt(sims)),
    "error at six groups" = figure("at_true", 3), groups = figure("groups", 1),
    "of the six" = figure("found", 1), "CPU s" = figure("seconds", 2), check.names = FALSE
  ))
}
writeLines(lines, file.path(given$out, "groups.txt"))
