# Does a panel that is chosen for the worst study hold in the next study?
#
#   Rscript bench/worst-study.R [sims=8] [columns=2000] [parts=five,default,time] [out=bench/results]
#
# Simulated: eight studies of 60 rows. Five columns have an effect of 0.5 on the response in every
# study, beside noise of variance 1. Decoys follow the response in some of the studies, with a
# correlation of 0.8 there, and are noise in the others and in a ninth study, of 500 rows, which is
# predicted. Studies are groups of rows, so that every error is of studies held out. greedy_rls()
# chooses by the mean squared error ("mean"), by the largest relative error of a study ("worst") and
# by the mean plus one standard deviation of these ("mean_sd"), on the same data: at five columns,
# and at the size up to 15 that the default rule chooses. Then the CPU time of searches of 30
# columns at the default lambda, beside leave-one-out and folds of groups by the mean. About ten
# minutes of CPU.

library(sparsels)
source("bench/common.R")

line <- command_line(list(sims = "8", columns = "2000", parts = "five,default,time",
                          out = "bench/results"))
given <- line$options
parts <- strsplit(given$parts, ",", fixed = TRUE)[[1L]]
sims <- as.integer(given$sims)
n <- as.integer(given$columns)
studies <- 8L
rows <- 60L
true <- 1:5

# Data --------------------------------------------------------------------------------------------

# Decoys follow the response in `share` of the studies.
simulated <- function(decoys, share) {
  study <- c(rep(seq_len(studies), each = rows), rep(studies + 1L, 500L))
  m <- length(study)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("c", seq_len(n))))
  y <- rowSums(x[, true]) / 2 + rnorm(m)
  for (j in max(true) + seq_len(decoys)) {
    own <- study %in% sample.int(studies, share * studies)
    x[own, j] <- 0.8 * y[own] / 1.5 + 0.6 * x[own, j]
  }
  seen <- study <= studies
  list(problem = as_problem(x[seen, ], y[seen], groups = study[seen]), new = x[!seen, ],
       y = y[!seen], decoys = max(true) + seq_len(decoys))
}

# Methods -----------------------------------------------------------------------------------------

criteria <- c(mean = "squared", worst = "worst", mean_sd = "mean_sd")

# The share of decoys among the chosen columns, how many true ones are among them, their number and
# the relative error in the ninth study.
one_fit <- function(d, ...) {
  fit <- suppressWarnings(greedy_rls(d$problem, ..., progress = FALSE))
  chosen <- selected(fit, index = TRUE)
  c(decoys = if (length(chosen)) mean(chosen %in% d$decoys) else NA, true = sum(chosen %in% true),
    size = length(chosen), error = mean((d$y - predict(fit, d$new))^2) / var(d$y))
}

# The sizes that are wanted, by their names as parts.
sizes <- list(five = list(size = 5, k = 5), default = list(k = 15))
sizes <- sizes[intersect(names(sizes), parts)]

one_run <- function(decoys, share) {
  d <- simulated(decoys, share)
  simplify2array(lapply(criteria, function(criterion) {
    vapply(sizes, function(size) do.call(one_fit, c(list(d, criterion = criterion), size)),
           numeric(4L))
  }))
}

scenes <- list(c(decoys = 20, share = 0.5), c(decoys = 20, share = 0.75),
               c(decoys = 100, share = 0.5), c(decoys = 0, share = 0))

say("%s", machine_line())
for (scene in scenes) {
  set.seed(1)
  found <- simplify2array(lapply(seq_len(sims), function(i) {
    one_run(scene[["decoys"]], scene[["share"]])
  }))
  for (size in dimnames(found)[[2L]]) {
    values <- found[, size, , ]
    heading("%d decoys that predict in %g of %d studies, %s: means of %d simulations",
            scene[["decoys"]], scene[["share"]] * studies, studies,
            if (size == "five") "five columns" else "the default size", sims)
    say("")
    change <- values["error", , ] / rep(values["error", "mean", ], each = length(criteria)) - 1
    say_table(data.frame(
      criterion = names(criteria),
      "% decoys" = sprintf("%.1f", 100 * rowMeans(values["decoys", , ], na.rm = TRUE)),
      "true ones" = sprintf("%.2f", rowMeans(values["true", , ])),
      size = sprintf("%.1f", rowMeans(values["size", , ])),
      none = sprintf("%d", rowSums(values["size", , ] == 0)),
      "error in the ninth" = sprintf("%.3f", rowMeans(values["error", , ])),
      "% of mean's" = sprintf("%+.1f", 100 * rowMeans(change)),
      se = sprintf("%.1f", 100 * apply(change, 1L, sd) / sqrt(sims)), check.names = FALSE
    ))
  }
}

# Time --------------------------------------------------------------------------------------------

set.seed(2)
d <- simulated(20, 0.5)
alone <- as_problem(d$problem, groups = FALSE)
search <- function(problem, criterion) {
  function() {
    greedy_rls(problem, criterion = criterion, k = 30, size = "criterion", refit = FALSE)
  }
}
whole <- function(problem, criterion) function() greedy_rls(problem, criterion = criterion, k = 30)
calls <- function(of) {
  list("leave-one-out" = of(alone, "squared"), "leave-one-study-out" = of(d$problem, "squared"),
       worst = of(d$problem, "worst"), mean_sd = of(d$problem, "mean_sd"))
}
seconds <- list(search = interleaved(calls(search), 11L, cpu),
                fit = interleaved(calls(whole), 3L, cpu))
heading("CPU time of one search of 30 columns, and of a fit with its size chosen in folds")
say("")
say_table(data.frame(
  criterion = names(seconds$search), "search, ms" = sprintf("%.1f", 1000 * seconds$search),
  ratio = sprintf("%.2f", seconds$search / seconds$search[[1L]]),
  "fit, s" = sprintf("%.2f", seconds$fit),
  "ratio of fits" = sprintf("%.2f", seconds$fit / seconds$fit[[1L]]), check.names = FALSE
))
writeLines(lines, file.path(given$out, "worst-study.txt"))
