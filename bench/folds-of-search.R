# The folds of a search of many rows: greedy_rls() by the folds of the size, its default there, and
# by leave-one-out. Error on other rows, columns and CPU time.
#
#   Rscript bench/folds-of-search.R DIR [repeats=4] [rows=2000] [out=bench/results]
#
# DIR holds the data sets as .rds files, each made by saveRDS(list(X = , y = ), file), see
# bench/README.md. A missing file is skipped. Each repeat trains on `rows` random rows, 7 of 10 at
# most, and predicts the others, 10,000 at most. The standard error is over repeats, whose rows
# overlap. At last 5000 and 100,000 made rows of 100 columns beside cv.glmnet(). About 4 minutes.
#
# Sources: R/search-greedy.R R/fit-products.R R/fit-size.R R/fold-*.R src/greedy* src/products*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
library(Matrix)
source("bench/common.R")

line <- command_line(list(repeats = "4", rows = "2000", out = "bench/results"))
given <- line$options
if (!length(line$words)) stop("usage: Rscript bench/folds-of-search.R DIR")
repeats <- as.integer(given$repeats)
sets <- c("ailerons", "elevators", "pole_telecomm", "ijcnn1", "a9a", "coil2000", "raetsch_image",
          "raetsch_splice", "raetsch_twonorm", "mushrooms", "svmguide3", "german_numer",
          "adult_onehot", "gisette_6000x1000")

read_set <- function(name) {
  file <- file.path(line$words[1], paste0(name, ".rds"))
  if (!file.exists(file)) return(NULL)
  data <- readRDS(file)
  x <- as.matrix(data$X[, seq_len(min(300L, ncol(data$X)))]) + 0
  colnames(x) <- paste0("V", seq_len(ncol(x)))
  y <- if (is.matrix(data$y)) data$y[, 1] else data$y
  list(x = x, y = if (length(unique(y)) < 6L) factor(y) else y)
}

error_of <- function(fit, x, y) {
  if (!is.factor(y)) return(mean((predict(fit, x) - y)^2) / mean((y - mean(y))^2))
  mean(as.character(predict(fit, x, type = "class")) != as.character(y))
}

quiet <- function(code) suppressMessages(suppressWarnings(code))

compare_folds <- function(name) {
  data <- read_set(name)
  if (is.null(data)) return(NULL)
  m <- min(as.integer(given$rows), floor(0.7 * nrow(data$x)))
  each <- lapply(seq_len(repeats), function(seed) {
    set.seed(seed)
    train <- sample.int(nrow(data$x), m)
    others <- utils::head(setdiff(seq_len(nrow(data$x)), train), 10000L)
    folds <- make_folds(m, 10)
    vapply(list(folds, "loo"), function(of_search) {
      began <- proc.time()
      fit <- quiet(greedy_rls(data$x[train, ], data$y[train], folds = of_search,
                              size_folds = folds, progress = FALSE))
      seconds <- sum((proc.time() - began)[1:2])
      c(error_of(fit, data$x[others, ], data$y[others]), fit$size, seconds)
    }, numeric(3))
  })
  mean_of <- Reduce(`+`, each) / repeats
  difference <- vapply(each, function(one) one[1, 1] - one[1, 2], 0)
  data.frame(set = name, rows = m, columns = ncol(data$x), folds = mean_of[1, 1],
             loo = mean_of[1, 2], difference = mean(difference),
             se = sd(difference) / sqrt(repeats),
             size = mean_of[2, 1], size_loo = mean_of[2, 2], seconds = mean_of[3, 1],
             seconds_loo = mean_of[3, 2])
}

made <- function(m, n = 100) {
  set.seed(1)
  x <- matrix(rnorm(m * n), m) + rnorm(m)
  list(x = x, y = drop(x[, 1:10] %*% rnorm(10)) + 5 * rnorm(m))
}

table <- do.call(rbind, lapply(sets, compare_folds))
numbers <- vapply(table, is.numeric, NA)
shown <- table
shown[numbers] <- lapply(table[numbers], round, 4)
times <- vapply(c(5000, 100000), function(m) {
  data <- made(m)
  calls <- list(function() greedy_rls(data$x, data$y, progress = FALSE),
                function() greedy_rls(data$x, data$y, folds = "loo", progress = FALSE),
                function() glmnet::cv.glmnet(data$x, data$y))
  apply(rounds(calls, 3, cpu), 1, median)
}, numeric(3))
options(width = 130)
report <- c(
  machine_line(), "",
  utils::capture.output(print(shown, row.names = FALSE)), "",
  sprintf("difference on average %+.4f (standard error over sets %.4f)", mean(table$difference),
          sd(table$difference) / sqrt(nrow(table))), "",
  sprintf("%d x 100, CPU seconds: by folds %.2f, by leave-one-out %.2f, cv.glmnet() %.2f",
          c(5000L, 100000L), times[1, ], times[2, ], times[3, ])
)
writeLines(report)
writeLines(report, file.path(given$out, "folds-of-search.txt"))
