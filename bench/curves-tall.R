# Curves of data with many rows: the search by products of columns, by the folds of the size, beside
# the leave-one-out search, which reads all rows at each step.
#
#   Rscript bench/curves-tall.R DIR [only=elevators,ailerons] [pairs=ijcnn1]
#                               [made=100000x20,20000x50] [loo=yes] [out=bench/results]
#
# DIR has the sets as .rds files, each a list of X, y and task. Three quarters of the rows, drawn
# once, predict the others. The error is 1 - R-squared, about the mean of the training rows, or the
# error rate. Seconds are CPU time of one call with as_problem(), on one core. Then the same for
# made data of some sizes, y = sin(x1) + x2^2 + noise. Sets of `pairs` have another row, with pairs
# of columns. Each fit has a process of its own, which reads the training rows from a file. Memory
# is the largest heap of R, garbage and training rows among it, and the largest resident memory of
# the process, where the system tells it. With `loo=no` it has no leave-one-out search, and the file
# is curves-tall-products.txt. Sets that DIR does not have have no row.
#
# Sources: R/data-curves.R R/data-smooth.R R/fit-products.R R/search-greedy.R R/fit-size.R
# Sources: src/products-folds.c src/greedy-products.c

library(sparsels)
source("bench/common.R")

line <- command_line(list(only = "elevators,ailerons,pole_telecomm,ijcnn1,adult_onehot",
                          pairs = "ijcnn1", made = "100000x20,20000x50", loo = "yes",
                          out = "bench/results"))
folder <- line$words[1]
if (is.na(folder) || !dir.exists(folder)) stop("give the directory of the data sets")
sets <- strsplit(line$options$only, ",", fixed = TRUE)[[1]]
sets <- sets[file.exists(file.path(folder, paste0(sets, ".rds")))]
folds <- c(list(products = NULL), if (line$options$loo == "yes") list(loo = "loo"))

report <- file(file.path(line$options$out, if (line$options$loo == "yes") "curves-tall.txt" else
  "curves-tall-products.txt"), "w")
put <- function(...) {
  text <- sprintf(...)
  cat(text, "\n", sep = "")
  cat(text, "\n", sep = "", file = report)
}

# Error, terms, CPU seconds and megabytes of curves by some folds of the search, from files with the
# training rows and the rest.
measured <- function(train, rest, folds, pairs) {
  data <- readRDS(train)
  arguments <- list(data$x, data$y, smooth = TRUE, interactions = pairs, progress = FALSE)
  arguments$folds <- folds
  y <- data$y
  data <- NULL
  gc(reset = TRUE)
  from <- proc.time()
  fit <- suppressWarnings(suppressMessages(do.call(greedy_rls, arguments)))
  seconds <- sum((proc.time() - from)[c(1, 2)])
  heap <- sum(gc()[, 6])
  status <- "/proc/self/status"
  peak <- if (file.exists(status)) grep("^VmHWM", readLines(status), value = TRUE) else NA
  resident <- as.numeric(gsub("[^0-9]", "", peak)) / 1024
  other <- readRDS(rest)
  found <- suppressMessages(predict(fit, other$x,
                                    type = if (is.factor(y)) "class" else "response"))
  error <- if (is.factor(y)) mean(as.character(found) != as.character(other$y)) else
    sum((other$y - found)^2) / sum((other$y - mean(y))^2)
  c(error, fit$size, seconds, heap, resident)
}

# the same in a process of its own
measured_alone <- function(...) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  dump("measured", script)
  arguments <- paste(vapply(list(...), deparse, ""), collapse = ", ")
  cat(sprintf("suppressMessages(library(sparsels))\ncat(measured(%s))\n", arguments),
      file = script, append = TRUE)
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  said <- system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, env = libraries)
  as.numeric(strsplit(said[length(said)], " ", fixed = TRUE)[[1]])
}

# `data` is a function that returns list(x, y)
row_of <- function(name, data, pairs = FALSE) {
  data <- data()
  set.seed(101)
  train <- sample(nrow(data$x)) <= 0.75 * nrow(data$x)
  files <- c(tempfile(), tempfile())
  on.exit(unlink(files))
  parts <- list(train, !train)
  for (i in 1:2) {
    own <- parts[[i]]
    saveRDS(list(x = data$x[own, ], y = data$y[own]), files[i], compress = FALSE)
  }
  each <- vapply(folds, function(folds) measured_alone(files[1], files[2], folds, pairs),
                 numeric(5))
  put("%-15s %8d x %-4d%s", name, sum(train), ncol(data$x),
      paste(sprintf("   %6.4f (%2.0f) %7.1f s %5.0f %5.0f MB", each[1, ], each[2, ], each[3, ],
                    each[4, ], each[5, ]), collapse = ""))
}

put("%s", machine_line())
put("load %s", load_average())
put("")
put("Curves: error of other rows (terms), CPU seconds, heap of R and resident memory with the data")
put("%-30s%s", "set, training rows x columns",
    paste(sprintf("%39s", c(products = "by products", loo = "leave-one-out")[names(folds)]),
          collapse = ""))
for (name in sets) {
  read <- function() {
    data <- readRDS(file.path(folder, paste0(name, ".rds")))
    x <- as.matrix(data$X) + 0
    list(x = x[, apply(x, 2, function(column) length(unique(column)) > 1)],
         y = if (data$task == "regression") as.double(data$y) else factor(data$y)[drop = TRUE])
  }
  row_of(name, read)
  if (name %in% strsplit(line$options$pairs, ",", fixed = TRUE)[[1]]) {
    row_of(paste(name, "pairs"), read, pairs = TRUE)
  }
}
for (size in strsplit(line$options$made, ",", fixed = TRUE)[[1]]) {
  size <- as.integer(strsplit(size, "x", fixed = TRUE)[[1]])
  row_of("made", function() {
    set.seed(1)
    x <- matrix(rnorm((4 * size[1]) %/% 3 * size[2]), ncol = size[2])
    list(x = x, y = sin(x[, 1]) + x[, 2]^2 + rnorm(nrow(x)))
  })
}
close(report)
