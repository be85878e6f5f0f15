# Does the interval of the honest error of cross_validate() contain the error of the fit on new
# rows, and is the error printed on pure noise the one of every rule?
#
#   Rscript bench/coverage-error.R [designs=A1,A2,...] [draws=10] [first=1] [new=4000]
#                                  [each=FILE] [join=FILE,FILE] [out=bench/results]
#
# `each` is a file for the values of every data set, by saveRDS(). `join` are such files, which are
# summarised instead of new data sets.
#
# All data are simulated, `draws` data sets of each design, each judged by `new` new rows. About a
# second of CPU for each data set. Their means are added to coverage-error.csv in `out`, which has a
# row for each design, measure and run, and coverage-error.txt has the means of all runs in it. So a
# table for a paper, which needs 500 data sets of each design, is made in parts, with `first` above
# the data sets that there are.
#
# Sources: R/judge-cross-validate.R R/judge-interval.R R/search-greedy.R src/greedy*

library(sparsels)
source("bench/common.R")

# Designs -----------------------------------------------------------------------------------------

# A design is a function of a number of rows that gives x and y. `effects` are of the first columns.
normal_design <- function(columns, effects, classes = FALSE, intercept = 0, draw_x = stats::rnorm,
                          draw_e = stats::rnorm) {
  force(draw_x)
  force(draw_e)
  function(rows) {
    x <- matrix(draw_x(rows * columns), rows)
    y <- intercept + drop(x[, seq_along(effects), drop = FALSE] %*% effects) + draw_e(rows)
    list(x = x, y = if (classes) factor(ifelse(y > 0, "b", "a"), c("a", "b")) else y)
  }
}

# Blocks of ten columns of correlation 0.6.
block_design <- function(columns, effects, classes = FALSE) {
  function(rows) {
    shared <- matrix(stats::rnorm(rows * columns / 10), rows)
    x <- sqrt(0.6) * shared[, rep(seq_len(columns / 10), each = 10)] +
      sqrt(0.4) * matrix(stats::rnorm(rows * columns), rows)
    y <- drop(x[, 10 * seq_along(effects), drop = FALSE] %*% effects) + stats::rnorm(rows)
    list(x = x, y = if (classes) factor(ifelse(y > 0, "b", "a"), c("a", "b")) else y)
  }
}

curved_design <- function(classes = FALSE) {
  function(rows) {
    x <- matrix(stats::runif(2 * rows, -2, 2), rows)
    y <- sin(2 * x[, 1]) + x[, 2]^2 / 2 - 0.7 + stats::rnorm(rows) / 2
    list(x = x, y = if (classes) factor(ifelse(y > 0, "b", "a"), c("a", "b")) else y)
  }
}

heavy <- function(df) function(n) stats::rt(n, df)

# Groups of four rows that share a part of the columns and of the response.
group_design <- function(columns, effects) {
  function(rows) {
    group <- rep(seq_len(ceiling(rows / 4)), each = 4)[seq_len(rows)]
    shared <- matrix(stats::rnorm(max(group) * columns), max(group))[group, ]
    x <- sqrt(0.5) * (shared + matrix(stats::rnorm(rows * columns), rows))
    y <- drop(x[, seq_along(effects), drop = FALSE] %*% effects) +
      sqrt(0.5) * (stats::rnorm(max(group))[group] + stats::rnorm(rows))
    list(x = x, y = y, groups = group)
  }
}

# Classes or other responses from the sum of the first columns.
response_design <- function(columns, effects, response, draw_x = stats::rnorm) {
  force(draw_x)
  function(rows) {
    x <- matrix(draw_x(rows * columns), rows)
    list(x = x, y = response(drop(x[, seq_along(effects), drop = FALSE] %*% effects)))
  }
}

cut_at <- function(cuts) {
  function(f) factor(findInterval(f + stats::rnorm(length(f)), cuts), seq(0, length(cuts)))
}
genotype <- function(n) stats::rbinom(n, 2, 0.3)

# rows, design, words and method
designs <- list(
  A1 = list(60, normal_design(200, rep(1, 5), TRUE), "two classes, 5 effects of 1"),
  A2 = list(60, normal_design(200, rep(1, 5)), "numbers, 5 effects of 1"),
  A3 = list(60, normal_design(500, 0, TRUE), "two classes, noise"),
  A3b = list(60, response_design(500, 0, function(f) {
    factor(sample(rep_len(c("a", "b"), length(f))), c("a", "b"))
  }), "two classes of equal size, noise"),
  A4 = list(100, normal_design(500, rep(0.3, 10)), "numbers, 10 effects of 0.3"),
  A5 = list(100, normal_design(300, rep(1, 3), TRUE, -1.7), "a fifth in one class"),
  A7 = list(40, normal_design(1000, 3, TRUE), "two classes, one strong effect"),
  B1 = list(50, normal_design(1000, c(3, 3), TRUE), "two classes, 2 effects of 3"),
  B2 = list(60, normal_design(500, 0), "numbers, noise"),
  B6 = list(200, normal_design(200, rep(0.5, 5)), "numbers, 200 rows"),
  B8 = list(150, normal_design(300, rep(1, 3), FALSE, 0, heavy(3), heavy(3)), "t3 columns, errors"),
  C1 = list(80, block_design(1000, c(1, 1, 1), TRUE), "blocks of 0.6, two classes"),
  C2 = list(100, block_design(300, c(1, 1, 1)), "blocks of 0.6, numbers"),
  C3 = list(150, normal_design(20, c(1, 1), TRUE), "two classes, 20 columns"),
  A6 = list(80, normal_design(300, rep(1, 3), draw_e = heavy(2.5)), "t2.5 errors"),
  B3 = list(120, group_design(200, rep(1, 4)), "30 groups of 4"),
  B4 = list(90, response_design(300, rep(1, 3), cut_at(c(-0.8, 0.8))), "three classes"),
  B5 = list(200, normal_design(300, rep(1, 3), TRUE, -1.9), "a sixth in one class"),
  B7 = list(60, normal_design(5000, rep(1, 3), TRUE), "two classes, 5000 columns"),
  B9 = list(40, normal_design(100, rep(1, 3)), "numbers, 40 rows"),
  C4 = list(60, normal_design(300, rep(0.6, 8)), "numbers, 8 effects of 0.6"),
  C5 = list(70, normal_design(500, rep(1, 3), TRUE, 0, heavy(2.5)), "t2.5 columns, two classes"),
  N1 = list(80, normal_design(100, rep(1, 3)), "l1_path(), numbers", l1_path),
  N2 = list(80, normal_design(100, rep(1, 3), TRUE), "l1_path(), two classes",
            function(...) l1_path(..., loss = "logistic")),
  N3 = list(120, response_design(200, rep(0.5, 4), function(f) f + stats::rnorm(length(f)),
                                 genotype), "genotypes"),
  N4 = list(80, response_design(100, rep(0.5, 2), function(f) stats::rpois(length(f), exp(1 + f))),
            "counts by squares"),
  N5 = list(100, response_design(100, rep(0.5, 3),
                                 function(f) exp(f + stats::rnorm(length(f)) / 2)),
            "a lognormal response"),
  N6 = list(60, response_design(100, 1, function(f) f + stats::runif(length(f), -2, 2)),
            "uniform errors"),
  R1 = list(60, normal_design(100, rep(0.2, 100)), "rls(), 100 effects of 0.2", rls),
  R2 = list(60, normal_design(100, rep(1, 5)), "rls(), 5 effects of 1", rls),
  R3 = list(60, normal_design(100, 0), "rls(), noise", rls),
  R4 = list(60, normal_design(10, rep(0.5, 5)), "rls(), 10 columns", rls),
  R5 = list(40, normal_design(500, rep(0.2, 100)), "rls(), 40 rows", rls),
  R6 = list(60, normal_design(100, rep(1, 5), TRUE), "rls(), two classes", rls),
  R7 = list(100, curved_design(), "kernel_rls(), a curve of two columns",
            list(kernel_rls, intercept = FALSE, standardize = FALSE)),
  R8 = list(80, curved_design(TRUE), "lssvm(), two classes", lssvm)
)

line <- command_line(list(designs = paste(names(designs), collapse = ","), draws = "10",
                          first = "1", new = "4000", each = "", join = "",
                          out = "bench/results"))
given <- line$options
draws <- as.integer(given$first) + seq_len(as.integer(given$draws)) - 1L
wanted <- strsplit(given$designs, ",", fixed = TRUE)[[1]]
stopifnot(all(wanted %in% names(designs)))

# The error of the honest estimate -----------------------------------------------------------------

# The errors of the fit on new rows, by measure.
own_errors <- function(cvd, new) {
  if (nlevels(new$y) > 2) return(c(error = mean(predict(cvd, new$x, type = "class") != new$y)))
  if (is.factor(new$y)) {
    score <- predict(cvd, new$x, type = "link")
    second <- new$y == levels(new$y)[2]
    count <- sum(second)
    area <- (sum(rank(score)[second]) - count * (count + 1) / 2) / (count * sum(!second))
    return(c(error = mean(predict(cvd, new$x, type = "class") != new$y), auc = area))
  }
  off <- predict(cvd, new$x) - new$y
  c(squared = mean(off^2), absolute = mean(abs(off)))
}

judge_design <- function(name) {
  rows <- designs[[name]][[1]]
  draw <- designs[[name]][[2]]
  chooses <- length(designs[[name]]) == 3L
  method <- if (chooses) list(greedy_rls, k = 6) else c(designs[[name]][[4]])
  found <- lapply(draws, function(i) {
    set.seed(1000 + i)
    data <- draw(rows)
    measure <- if (!is.factor(data$y)) c("squared", "absolute") else
      c("error", if (nlevels(data$y) == 2) "auc")
    cvd <- suppressMessages(suppressWarnings(do.call(cross_validate, c(
      data[c("x", "y")], data["groups"][!is.null(data$groups)], method,
      list(baselines = "majority", measure = measure)
    ))))
    own <- own_errors(cvd, draw(as.integer(given$new)))
    table <- cvd$estimates
    own <- own[table$measure]
    data.frame(draw = i, table[c("measure", "row_se", "jackknife_se", "lower", "upper")],
               printed = table$mean, uncorrected = table$uncorrected, own = own,
               covers = table$lower <= own & own <= table$upper,
               rows_alone = abs(table$mean - own) <= qt(0.975, rows - 1) * table$row_se,
               half_width = (table$upper - table$lower) / 2, size0 = cvd$interval$no_column)
  })
  cbind(design = name, do.call(rbind, found))
}

each <- NULL
if (nzchar(given$join)) {
  each <- do.call(rbind, lapply(strsplit(given$join, ",", fixed = TRUE)[[1]], readRDS))
} else {
  for (name in wanted) {
    each <- rbind(each, judge_design(name))
    if (nzchar(given$each)) saveRDS(each, given$each)
  }
}
each$sets <- 1
shown <- c("printed", "uncorrected", "own", "covers", "rows_alone", "half_width", "size0")
run <- stats::aggregate(each[shown], each[c("measure", "design")], mean, na.rm = TRUE)
counts <- stats::aggregate(each["sets"], each[c("measure", "design")], sum)
runs <- cbind(run[2:1], first = min(each$draw), counts["sets"], round(run[shown], 4))
saved <- file.path(given$out, "coverage-error.csv")
if (file.exists(saved)) {
  before <- utils::read.csv(saved)
  key <- function(runs) paste(runs$design, runs$measure, runs$first)
  stopifnot("these data sets are in coverage-error.csv" = !any(key(runs) %in% key(before)))
  runs <- rbind(before, runs)
}
utils::write.csv(runs, saved, row.names = FALSE, quote = FALSE)
# a run without an interval has no share of them
of_runs <- stats::aggregate(runs["sets"], runs[c("measure", "design")], sum)
means <- lapply(seq_len(nrow(of_runs)), function(i) {
  own <- runs[runs$design == of_runs$design[i] & runs$measure == of_runs$measure[i], ]
  vapply(own[shown], stats::weighted.mean, 0, own$sets, na.rm = TRUE)
})
table <- cbind(of_runs[2:1], of_runs["sets"], do.call(rbind, means),
               what = vapply(designs[of_runs$design], `[[`, "", 3L, USE.NAMES = FALSE))
options(width = 120)
numeric <- vapply(table, is.numeric, NA)
table[numeric] <- lapply(table[numeric], round, 3)
mean_cover <- tapply(table$covers, table$measure, mean)
text <- c(
  machine_line(),
  "sets: data sets of each design. own: error of the fit on 2000 or 4000 new rows; covers: share",
  "of the 95 % intervals that contain it; rows_alone: the same by the standard error over rows;",
  "size0: share of rows tested by models without columns.",
  paste0("covers, mean over the designs: ",
         paste(names(mean_cover), sprintf("%.3f", mean_cover), collapse = ", ")), "",
  utils::capture.output(print(table, row.names = FALSE))
)
writeLines(text)
writeLines(text, file.path(given$out, "coverage-error.txt"))
