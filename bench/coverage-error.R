# Does the interval of the honest error of cross_validate() contain the error of the fit on new
# rows, and is the error printed on pure noise the one of every rule?
#
#   Rscript bench/coverage-error.R [designs=A1,A2,...] [draws=10] [new=4000] [out=bench/results]
#
# All data are simulated, `draws` data sets of each design, each judged by `new` new rows. About a
# second of CPU for each data set; a table for a paper needs draws=500.

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

heavy <- function(df) function(n) stats::rt(n, df)

# rows and design
designs <- list(
  A1 = list(60, normal_design(200, rep(1, 5), TRUE), "two classes, 5 effects of 1"),
  A2 = list(60, normal_design(200, rep(1, 5)), "numbers, 5 effects of 1"),
  A3 = list(60, normal_design(500, 0, TRUE), "two classes, noise"),
  A4 = list(100, normal_design(500, rep(0.3, 10)), "numbers, 10 effects of 0.3"),
  A5 = list(100, normal_design(300, rep(1, 3), TRUE, -1.7), "a fifth in one class"),
  A7 = list(40, normal_design(1000, 3, TRUE), "two classes, one strong effect"),
  B1 = list(50, normal_design(1000, c(3, 3), TRUE), "two classes, 2 effects of 3"),
  B2 = list(60, normal_design(500, 0), "numbers, noise"),
  B6 = list(200, normal_design(200, rep(0.5, 5)), "numbers, 200 rows"),
  B8 = list(150, normal_design(300, rep(1, 3), FALSE, 0, heavy(3), heavy(3)), "t3 columns, errors"),
  C1 = list(80, block_design(1000, c(1, 1, 1), TRUE), "blocks of 0.6, two classes"),
  C2 = list(100, block_design(300, c(1, 1, 1)), "blocks of 0.6, numbers"),
  C3 = list(150, normal_design(20, c(1, 1), TRUE), "two classes, 20 columns")
)

line <- command_line(list(designs = paste(names(designs), collapse = ","), draws = "10",
                          new = "4000", out = "bench/results"))
given <- line$options
draws <- as.integer(given$draws)
wanted <- strsplit(given$designs, ",", fixed = TRUE)[[1]]
stopifnot(all(wanted %in% names(designs)))

# The error of the honest estimate -----------------------------------------------------------------

# The errors of the fit on new rows, by measure.
own_errors <- function(cvd, new) {
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
  found <- lapply(seq_len(draws), function(i) {
    set.seed(1000 + i)
    data <- draw(rows)
    classes <- is.factor(data$y)
    cvd <- suppressWarnings(cross_validate(
      data$x, data$y, greedy_rls, k = 6, baselines = "majority",
      measure = if (classes) c("error", "auc") else c("squared", "absolute")
    ))
    own <- own_errors(cvd, draw(as.integer(given$new)))
    table <- cvd$estimates
    own <- own[table$measure]
    data.frame(measure = table$measure, printed = table$mean, uncorrected = table$uncorrected,
               own = own, covers = table$lower <= own & own <= table$upper,
               rows_alone = abs(table$mean - own) <= qt(0.975, rows - 1) * table$row_se,
               half_width = (table$upper - table$lower) / 2, size0 = cvd$interval$no_column)
  })
  found <- do.call(rbind, found)
  means <- stats::aggregate(found[-1], found["measure"], mean, na.rm = TRUE)
  cbind(design = name, means, what = designs[[name]][[3]])
}

table <- do.call(rbind, lapply(wanted, judge_design))
options(width = 120)
numeric <- vapply(table, is.numeric, NA)
table[numeric] <- lapply(table[numeric], round, 3)
text <- c(
  machine_line(),
  sprintf("%d data sets of each design. own: error of the fit on %s new rows; covers: share of the",
          draws, given$new),
  "95 % intervals that contain it; rows_alone: the same for the standard error over rows alone;",
  "size0: share of rows tested by models without columns.", "",
  utils::capture.output(print(table, row.names = FALSE))
)
writeLines(text)
writeLines(text, file.path(given$out, "coverage-error.txt"))
