# The part `rows` of bench/scale.R, which sources this file: kernel_rls() on many rows in a file.
#
#   Rscript bench/scale.R rows dir=/some/folder [small] [threads=2] [out=...]
#
# 2 million rows of 20 columns in a file of doubles (320 MB, which the script writes), Gaussian
# kernel, 500 rows drawn as basis vectors, 31 lambdas, the error of ten folds; then the error of
# twenty other folds from the same fit, and predictions of all rows from the file. On the first
# rows, where all kernel values fit into memory, the same fit without blocks beside it. `small`: a
# thousandth of the values.

rows_size <- if (small) {
  list(rows = 20000, columns = 20, basis = 50, whole = 4000)
} else {
  list(rows = 2e6, columns = 20, basis = 500, whole = 20000)
}

# A function of the first columns and as much noise again.
rows_response <- function(x) {
  set.seed(1)
  sin(x[, 1]) + x[, 2] * x[, 3] / 2 + rnorm(nrow(x))
}

fit_rows <- function(x, y, folds = 10) {
  set.seed(2)
  kernel_rls(x, y, kernel = kernel_gaussian(sigma2 = 2 * rows_size$columns), standardize = FALSE,
             basis = rows_size$basis, folds = folds, threads = threads)
}

rows <- list(
  make = function() {
    x <- write_file_matrix(function(columns) {
      set.seed(100 + columns)
      matrix(rnorm(rows_size$rows * length(columns)), rows_size$rows)
    }, in_folder("rows.bin"), nrow = rows_size$rows, ncol = rows_size$columns, block = 1)
    list(x = x, y = rows_response(x))
  },
  fit = function() {
    data <- made()
    fit <- timed(function() fit_rows(data$x, data$y))
    saveRDS(fit$value, in_folder("rows-fit.rds"), compress = FALSE)
    list(seconds = fit$seconds, size = as.numeric(object.size(fit$value)),
         error = min(fit$value$path$criterion))
  },
  again = function() {
    fit <- readRDS(in_folder("rows-fit.rds"))
    timed(function() cv_error(fit, rep_len(1:20, rows_size$rows), lambda = fit$lambda)$criterion)
  },
  predict = function() {
    data <- made()
    fit <- readRDS(in_folder("rows-fit.rds"))
    timed(function() mean((data$y - predict(fit, data$x))^2))
  },
  # the same on few rows: in blocks, from a file, and with all kernel values at once
  compare = function() {
    data <- made()
    first <- seq_len(rows_size$whole)
    x <- data$x[first, ]
    y <- data$y[first]
    file <- write_file_matrix(x, in_folder("few.bin"))
    blocks <- timed(function() fit_rows(file, y, folds = rep_len(1:10, length(y))))
    whole <- timed(function() fit_rows(x, y, folds = rep_len(1:10, length(y))))
    of <- function(fit) fit$value$path$criterion
    list(blocks = blocks$seconds, whole = whole$seconds,
         apart = max(abs(of(blocks) / of(whole) - 1)))
  }
)

report_rows <- function() {
  write <- measured("make")
  say("%.0f rows, %d columns, %.2f GB of doubles in a file, written in %.0f s", rows_size$rows,
      rows_size$columns, 8e-9 * rows_size$rows * rows_size$columns, write$seconds)
  heading("kernel_rls(basis = %d, folds = 10), 31 lambdas", rows_size$basis)
  say("%-42s %9s %9s %14s", "", "seconds", "GB", "squared error")
  row <- function(what, seconds, peak, error) {
    say("%-42s %9.1f %9.2f %14.4f", what, seconds, peak, error)
  }
  fit <- measured("fit")
  row("kernel_rls(), ten folds", fit$value$seconds, fit$peak, fit$value$error)
  again <- measured("again")
  row("cv_error(), twenty other folds, one lambda", again$value$seconds, again$peak,
      again$value$value)
  new <- measured("predict")
  row("predict(), all rows from the file", new$value$seconds, new$peak, new$value$value)
  say("GB: peak memory beside the page cache (goal: 1); the fit itself has %.2f GB",
      1e-9 * fit$value$size)
  few <- measured("compare")$value
  say("%d rows: %.1f s in blocks from a file, %.1f s with all kernel values at once; errors within",
      rows_size$whole, few$blocks, few$whole)
  say("%.0e of each other", few$apart)
}
