# The cross-validated error of classes without a signal, where folds keep the classes in proportion
# and where they do not.
#
#   Rscript bench/fold-balance.R [draws=40] [out=bench/results]
#
# `plain`: ten folds, of groups without regard to their classes, as many as groups allow.
# `default`: the folds of cross_validate(), with the classes of groups in proportion, and at most
# one for each row or group of the largest class. Both repeat the whole greedy_rls() of up to five
# columns. `truth` is the error of every rule without a signal, the share of the smaller class.
# `null` has the error of the model without columns by the default folds. In the last kind a column
# has a signal. Differences are paired, with standard errors. About five minutes of CPU.
#
# Sources: R/fold-partition.R R/judge-cross-validate.R R/search-greedy.R R/fit-size.R

library(sparsels)
source("bench/common.R")

line <- command_line(list(draws = "40", out = "bench/results"))
draws <- as.integer(line$options$draws)

# Each kind: the group of each row, or NULL, and the classes of the groups or rows.
patients <- function(members, share = 0.5) {
  list(group = rep(seq_along(members), members),
       classes = rep(c("ill", "well"), round(length(members) * c(share, 1 - share))))
}
rows <- function(count) list(classes = rep(c("ill", "well"), count / 2))
kinds <- list(
  "8 rows" = rows(8), "12 rows" = rows(12), "60 rows" = rows(60),
  "8 patients x 8" = patients(rep(8, 8)), "12 patients x 4" = patients(rep(4, 12)),
  "20 patients x 3" = patients(rep(3, 20)), "20 of 1 to 6 rows" = patients(rep(c(1, 2, 3, 6), 5)),
  "20, a fifth ill" = patients(rep(3, 20), 0.2),
  "20, a signal" = c(patients(rep(3, 20)), signal = 2)
)

one_draw <- function(kind, draw) {
  set.seed(draw)
  group <- kind$group
  units <- length(kind$classes)
  y <- sample(kind$classes)
  x <- matrix(rnorm(units * 60), units)
  if (!is.null(group)) {
    y <- y[group]
    x <- x[group, ] + rnorm(length(group) * 60, sd = 0.3)
  }
  if (!is.null(kind$signal)) x[, 1L] <- x[, 1L] + kind$signal * (y == "ill")
  problem <- as_problem(x, y, groups = group)
  count <- min(10L, units)
  plain <- make_folds(length(y), count, groups = group,
                      strata = if (is.null(group) && count < units) y)
  judged <- function(outer) {
    suppressWarnings(cross_validate(problem, method = greedy_rls, k = 5, outer = outer,
                                    baselines = "majority"))
  }
  default <- judged(10)
  c(truth = mean(y == "ill"), plain = judged(plain)$estimate[["mean"]],
    default = default$estimate[["mean"]], null = default$estimates$null)
}

say("%s", machine_line())
heading("%d draws of classes in 60 columns: mean cross-validated error rates", draws)
say_table(do.call(rbind, lapply(names(kinds), function(name) {
  found <- vapply(seq_len(draws), one_draw, numeric(4), kind = kinds[[name]])
  difference <- found["default", ] - found["plain", ]
  data.frame(kind = name, t(rowMeans(found)), difference = mean(difference),
             se = stats::sd(difference) / sqrt(draws))
})), 3)
writeLines(lines, file.path(line$options$out, "fold-balance.txt"))
