# Do columns that are centred within studies predict a new study better?
#
#   Rscript bench/center-groups.R [sims=20] [columns=200] [out=bench/results]
#
# Simulated: six studies of 40 rows and a new one of 200. Four columns have an effect on the
# response, beside noise of the same variance. Studies have the same columns ("none"), other means
# of every column ("place", standard deviation 2), or also other scales, by a factor of exp(N(0,
# 0.5)) of every column ("scale"). greedy_rls() with its defaults and rls() on the columns as they
# are, centred within studies, and centred and scaled. Errors in the new study are relative to the
# variance of its response. About a minute of CPU.

library(sparsels)
source("bench/common.R")

line <- command_line(list(sims = "20", columns = "200", out = "bench/results"))
given <- line$options
sims <- as.integer(given$sims)
n <- as.integer(given$columns)

simulated <- function(scene) {
  study <- c(rep(1:6, each = 40L), rep(7L, 200L))
  m <- length(study)
  x <- matrix(rnorm(m * n), m)
  y <- rowSums(x[, 1:4]) / 2 + rnorm(m)
  if (scene == "scale") x <- x * exp(matrix(rnorm(7 * n, sd = 0.5), 7L))[study, ]
  if (scene != "none") x <- x + matrix(rnorm(7 * n, sd = 2), 7L)[study, ]
  list(x = x, y = y, study = study)
}

rules <- c("none", "columns", "scale")
methods <- list(greedy_rls = greedy_rls, rls = rls)

# error in the new study, rules x methods
one_run <- function(scene) {
  d <- simulated(scene)
  seen <- d$study < 7L
  vapply(methods, function(method) {
    vapply(rules, function(rule) {
      fit <- suppressMessages(suppressWarnings(
        method(d$x[seen, ], d$y[seen], groups = d$study[seen], center_groups = rule)
      ))
      mean((d$y[!seen] - predict(fit, d$x[!seen, ]))^2) / var(d$y[!seen])
    }, 0)
  }, numeric(3L))
}

say("%s", machine_line())
for (scene in c("none", "place", "scale")) {
  set.seed(1)
  found <- simplify2array(lapply(seq_len(sims), function(i) one_run(scene)))
  heading("studies that differ in: %s; relative error in a new study, means of %d simulations",
          scene, sims)
  say("")
  for (method in names(methods)) {
    values <- found[, method, ]
    change <- values - rep(values["none", ], each = 3L)
    say_table(data.frame(
      method = method, center_groups = rules, error = sprintf("%.3f", rowMeans(values)),
      "less none" = sprintf("%+.3f", rowMeans(change)),
      se = sprintf("%.3f", apply(change, 1L, sd) / sqrt(sims)), check.names = FALSE
    ))
  }
}
writeLines(lines, file.path(given$out, "center-groups.txt"))
