# A lasso on a matrix larger than memory, by safe elimination. A child process is limited to less
# memory than the matrix needs. It cannot load the matrix, but safe_screen() reads it once in blocks
# of columns and says which columns are needed down to which lambda, and l1_path() solves the
# problem on those. This process, without a limit, then solves it on all columns.
#
#   Rscript bench/screen-memory.R [rows=3000] [columns=26000] [hold=2000] [limit=500]
#                                 [out=bench/results]
#
# hold: how many columns may be loaded; limit: address space of the child in MB, of which R with its
# packages uses about 250. Linux only: needs `ulimit -v` and /proc. About a minute; needs the size
# of the matrix on disk and, for the check, twice that in memory.
#
# Sources: R/l1-screen.R src/l1-safe* src/l1-screen.c

library(sparsels)
source("bench/common.R")

line <- command_line(list(rows = "3000", columns = "26000", hold = "2000", limit = "500",
                          file = "", out = "bench/results"))
given <- line$options
rows <- as.numeric(given$rows)
columns <- as.numeric(given$columns)
megabytes <- function(bytes) bytes / 2^20

# Columns of the file, which is in column order; adjacent ones are read at once.
read_columns <- function(wanted) {
  connection <- file(given$file, "rb")
  on.exit(close(connection))
  x <- matrix(0, rows, length(wanted))
  for (run in split(seq_along(wanted), cumsum(c(TRUE, diff(wanted) != 1)))) {
    seek(connection, 8 * rows * (wanted[run[1]] - 1))
    x[, run] <- readBin(connection, "double", rows * length(run))
  }
  x
}

read_response <- function() readRDS(paste0(given$file, ".y"))

load_all <- function() matrix(readBin(given$file, "double", rows * columns), rows)

# The child ---------------------------------------------------------------------------------------

peak <- function() {
  found <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", found)) / 1024
}

timed <- function(call) {
  value <- NULL
  seconds <- elapsed(function() value <<- call())
  list(value = value, seconds = seconds)
}

within_limit <- function() {
  say("R and its packages alone: peak %.0f MB", peak())
  loaded <- tryCatch(load_all(), error = conditionMessage)
  if (!is.character(loaded)) stop("the matrix fits: choose a smaller limit")
  say("loading the matrix: \"%s\"", loaded)
  y <- read_response()

  # rho does not depend on the lambda that is given
  first <- timed(function() {
    safe_screen(read_columns, y, lambda = 1, columns = columns, standardize = FALSE)
  })
  mask <- first$value
  reach <- mask$rho * mask$lambda_max
  lambda <- sort(reach, decreasing = TRUE)[as.numeric(given$hold) + 1] * (1 + 1e-9)
  keep <- unname(which(reach >= lambda))
  say("first reading, safe_screen(): %.1f s, peak %.0f MB", first$seconds, peak())
  say("down to lambda = %.1f, %.3f of lambda_max, %d of %d columns matter", lambda,
      lambda / mask$lambda_max, length(keep), columns)

  second <- timed(function() read_columns(keep))
  fit <- NULL
  seconds <- elapsed(function() {
    fit <<- l1_path(second$value, y, lambda = lambda, standardize = FALSE)
  })
  say("second reading, these columns: %.2f s; l1_path(): %.2f s, %d columns in the solution,",
      second$seconds, seconds, fit$size)
  say("duality gap %.0e of the null objective; peak %.0f MB", fit$path$gap / fit$null_objective,
      peak())
  found <- fit$solutions[[1]]
  saveRDS(list(lambda = lambda, features = keep[found$features], beta = found$beta,
               objective = fit$path$objective), paste0(given$file, ".fit"))
}

run_child <- function() {
  arguments <- sprintf("%s=%s", names(given), unlist(given))
  command <- sprintf("ulimit -v %.0f; exec %s bench/screen-memory.R child %s",
                     1024 * as.numeric(given$limit), file.path(R.home("bin"), "Rscript"),
                     paste(shQuote(arguments), collapse = " "))
  printed <- system2("bash", c("-c", shQuote(command)), stdout = TRUE)
  for (text in printed) say("  %s", text)
  if (!file.exists(paste0(given$file, ".fit"))) stop("the child did not finish")
}

# This process ------------------------------------------------------------------------------------

# Columns of very different norms, like word counts; ten of the longer ones determine the response.
write_matrix <- function() {
  set.seed(4)
  connection <- file(given$file, "wb")
  on.exit(close(connection))
  for (block in split(seq_len(columns), (seq_len(columns) - 1) %/% 500)) {
    x <- matrix(rnorm(rows * length(block)), rows) *
      rep(exp(rnorm(length(block)) - 2), each = rows)
    if (block[1] == 1) {
      x[, 1:10] <- 2 * x[, 1:10] / rep(apply(x[, 1:10], 2, sd), each = rows)
      saveRDS(drop(x[, 1:10] %*% (10:1 / 10)) + rnorm(rows), paste0(given$file, ".y"))
    }
    writeBin(as.vector(x), connection)
  }
}

# The same problem on all columns
compare <- function() {
  child <- readRDS(paste0(given$file, ".fit"))
  whole <- l1_path(load_all(), read_response(), lambda = child$lambda, standardize = FALSE)
  found <- whole$solutions[[1]]
  all <- numeric(columns)
  all[found$features] <- found$beta
  all[child$features] <- all[child$features] - child$beta
  say("on all columns, without a limit: the same %d columns: %s; largest difference of a",
      length(found$features), if (setequal(found$features, child$features)) "yes" else "NO")
  say("coefficient %.0e, of the objective %.0e; peak of this process %.0f MB", max(abs(all)),
      abs(whole$path$objective / child$objective - 1), peak())
}

if (identical(line$words, "child")) {
  within_limit()
} else {
  given$file <- tempfile("columns-")
  say("%s", machine_line())
  say("")
  write_matrix()
  say("%.0f x %.0f matrix of doubles in a file: %.0f MB; a child process with an address space of",
      rows, columns, megabytes(file.size(given$file)))
  say("%s MB (ulimit -v):", given$limit)
  run_child()
  compare()
  unlink(paste0(given$file, c("", ".y", ".fit")))
  writeLines(lines, file.path(given$out, "screen-memory.txt"))
}
