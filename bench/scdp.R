# Speed of scdp() and fs_lssvm(): the pursuit against solvers of the full system (conjugate
# gradients, Cholesky), matching_pursuit() and lars_path() at equal size; fs_lssvm() on adult with
# 2000 prototypes and with all rows: time of its parts, threads, memory.
#
#   Rscript bench/scdp.R DIR [systems adult memory] [times=3] [orders=500,1000,2000] [rows=30148]
#                        [prototypes=2000] [k=200] [out=bench/results]
#
# DIR holds adult_onehot.rds (bench/README.md says what is in it and where to get it); the part
# `systems` does not need it. About 5 minutes with the defaults; a quick look: rows=3000
# prototypes=300 orders=500. Times are CPU seconds of whole calls, except those of two threads,
# which are elapsed; calls compared are run in turn, and medians are reported.
#
# Sources: R/system*.R R/lssvm-*.R src/pursuit*

library(sparsels)
source("bench/common.R")

parts <- c("systems", "adult", "memory")
line <- command_line(list(times = "3", orders = "500,1000,2000", rows = "30148",
                          prototypes = "2000", k = "200", out = "bench/results"))
given <- line$options
if (!length(line$words)) stop("usage: Rscript bench/scdp.R DIR [systems adult memory]")
directory <- line$words[1]
wanted <- if (length(line$words) > 1) line$words[-1] else parts
times <- as.integer(given$times)
rows <- as.integer(given$rows)
prototypes <- as.integer(given$prototypes)
k <- as.integer(given$k)
adult_file <- file.path(directory, "adult_onehot.rds")
stopifnot(wanted %in% parts, identical(wanted, "systems") || file.exists(adult_file))
inside <- asNamespace("sparsels")

# Systems -----------------------------------------------------------------------------------------

# (34) of the paper: D - 1 prototypes of a Gaussian kernel and the intercept, gamma = 10
rbf_system <- function(D, m = 2 * D) {
  set.seed(D)
  x <- matrix(rnorm(m * 10), m)
  y <- sin(2 * x[, 1]) + x[, 2] * x[, 3] / 2 + rnorm(m) / 4
  kernel <- kernel_gaussian(sigma2 = 10)
  points <- x[seq_len(D - 1), ]
  terms <- cbind(kernel$values(x, points), 1)
  A <- crossprod(terms)
  own <- seq_len(D - 1)
  A[own, own] <- A[own, own] + kernel$values(points, points) / 10
  A[D, D] <- A[D, D] + 1e-8
  list(A = A, b = drop(crossprod(terms, y)))
}

# Hestenes and Stiefel's algorithm until the residual is `share` times the right side, in at most D
# steps. Products are computed by the BLAS, without R's check for missing values.
conjugate_gradients <- function(A, b, share) {
  old <- options(matprod = "blas")
  on.exit(options(old))
  w <- numeric(length(b))
  left <- p <- b
  square <- sum(left^2)
  enough <- share^2 * square
  for (step in seq_along(b)) {
    t <- drop(A %*% p)
    eta <- square / sum(p * t)
    w <- w + eta * p
    left <- left - eta * t
    now <- sum(left^2)
    if (now <= enough) break
    p <- left + now / square * p
    square <- now
  }
  list(w = w, steps = step, share = sqrt(now / sum(b^2)))
}

by_cholesky <- function(A, b) {
  R <- chol(A)
  backsolve(R, backsolve(R, b, transpose = TRUE))
}

measure_systems <- function() {
  heading("systems of D components (34): Gaussian prototypes and an intercept; medians of %d.",
          times)
  say("\"times\": seconds by those of scdp(). \"reached\": how far the objective w'Aw/2 - b'w has")
  say("come from 0 to its minimum. The checks of A, with which scdp(), matching_pursuit() and")
  say("lars_path() begin, are part of their times; a function that returns columns has none.")
  say("Conjugate gradients and chol() give the whole solution")
  for (D in numbers(given$orders)) {
    system <- rbf_system(D)
    say("  D = %d", D)
    say("    %-34s %9s %8s %9s", "", "seconds", "times", "reached")
    whole <- measure_whole(system, D)
    for (size in unique(round(D / c(10, 20, 50)))) measure_sizes(system, D, size, whole)
  }
  say("  \"multiplications\" are of numbers: at its i-th step scdp() takes D for each of i - 1")
  say("  columns chosen before, lars_path() 2 D for each of i chosen (for what changes with lambda")
  say("  and for what does not); solved anew, each model takes i^3 / 6 besides. There are also the")
  say("  checks of A and the calls of R, which are most of the time of few steps")
}

# Solves the full system, with checks: list(calls, fits, seconds, lowest)
measure_whole <- function(system, D) {
  A <- system$A
  b <- system$b
  measured <- measure_calls(list(
    "conjugate gradients to 1e-3" = function() conjugate_gradients(A, b, 1e-3),
    "conjugate gradients to 1e-6" = function() conjugate_gradients(A, b, 1e-6),
    "chol()" = function() by_cholesky(A, b),
    "checks of A alone" = function() inside$as_system(A, b)
  ))
  objective <- function(w) sum(w * (A %*% w)) / 2 - sum(b * w)
  lowest <- objective(measured$fits[["chol()"]])
  c(measured, list(reached = function(w) objective(w) / lowest))
}

# The paper removes the bias of LARS by another system for each model.
solved_anew <- function(A, b, size) {
  fit <- lars_path(A, b, k = size, debias = FALSE)
  for (knot in fit$knots[-1]) {
    S <- knot$components
    by_cholesky(A[S, S, drop = FALSE], b[S])
  }
  fit
}

measure_calls <- function(calls) {
  fits <- list()
  kept <- lapply(stats::setNames(nm = names(calls)), function(name) {
    function() fits[[name]] <<- calls[[name]]()
  })
  seconds <- interleaved(kept, times, cpu)
  list(fits = fits, seconds = seconds)
}

measure_sizes <- function(system, D, size, whole) {
  A <- system$A
  b <- system$b
  column <- function(j) A[, j]
  sized <- measure_calls(list(
    "scdp()" = function() scdp(A = A, b = b, k = size),
    "scdp(score = \"ols\")" = function() scdp(A = A, b = b, k = size, score = "ols"),
    "matching_pursuit()" = function() matching_pursuit(A, b, k = size),
    "lars_path(), lasso, debias" = function() lars_path(A, b, k = size),
    "lars_path(), models solved anew" = function() solved_anew(A, b, size),
    "scdp(), A a function" = function() scdp(A = column, b = b, k = size),
    "lars_path(), A a function" = function() lars_path(column, b, k = size)
  ))
  say("    to size %d", size)
  seconds <- c(sized$seconds, whole$seconds)
  fits <- c(sized$fits, whole$fits)
  for (name in names(fits)) {
    fit <- fits[[name]]
    w <- if (inherits(fit, "system_fit")) coef(fit) else if (is.list(fit)) fit$w else fit
    reached <- if (length(w) == D) sprintf("%.5f", whole$reached(w)) else ""
    say("      %-32s %9.4f %8.1f %9s  %s", name, seconds[name], seconds[name] / seconds[1],
        reached, remark(fit, size))
  }
  say("      with A a function lars_path() takes %.1f times the seconds of scdp()",
      seconds["lars_path(), A a function"] / seconds["scdp(), A a function"])
  steps <- fits[["lars_path(), lasso, debias"]]$path$size
  own <- D * size * (size - 1) / 2
  say("      multiplications by those of scdp(): lars_path() %.1f, solved anew %.1f",
      2 * D * sum(steps) / own, (2 * D * sum(steps) + sum(steps^3) / 6) / own)
}

remark <- function(fit, size) {
  if (inherits(fit, "lars_path")) return(sprintf("%d steps", nrow(fit$path) - 1L))
  if (inherits(fit, "system_fit") && fit$size < size) return(sprintf("ends at %d", fit$size))
  if (!is.list(fit) || is.null(fit$share)) return("")
  sprintf("%d steps, residual %.0e of b", fit$steps, fit$share)
}

# adult -------------------------------------------------------------------------------------------

kernel <- kernel_gaussian(sigma2 = 200)
gamma <- 1

# rows at random for training, as many as in the paper's Table 6
read_adult <- function() {
  data <- readRDS(adult_file)
  set.seed(2011)
  train <- sample.int(nrow(data$X), min(rows, nrow(data$X)))
  list(x = data$X[train, ], y = data$y[train])
}

# k-center starts from a random row
train_adult <- function(data, folds, change = 1e-4, threads = 1, from = prototypes, ...) {
  set.seed(1)
  fs_lssvm(data$x, data$y, kernel = kernel, gamma = gamma, prototypes = from, k = k,
           folds = folds, change = change, threads = threads, ...)
}

measure_adult <- function() {
  data <- read_adult()
  heading("fs_lssvm() on adult: %d x %d (sparse), %d prototypes by k-center, given parameters",
          nrow(data$x), ncol(data$x), prototypes)
  folds <- make_folds(nrow(data$x), 10)
  sizes <- list()
  calls <- list(
    "no folds" = function() train_adult(data, NULL),
    "10 folds, until the error is level" = function() train_adult(data, folds),
    "10 folds, all sizes" = function() train_adult(data, folds, change = 0),
    "all rows, 59 candidates, no folds" = function() {
      train_adult(data, NULL, from = NULL, candidates = 59)
    }
  )
  kept <- lapply(stats::setNames(nm = names(calls)), function(name) {
    function() sizes[[name]] <<- nrow(calls[[name]]()$path) - 1L
  })
  seconds <- interleaved(kept, 1, cpu)
  say("  one thread, CPU seconds, one run")
  for (name in names(calls)) {
    say("    %-36s %7.2f   sizes 0 to %d", name, seconds[name], sizes[[name]])
  }
  say("  goal: 20 seconds or less with that many prototypes")
  measure_pieces(data, folds)
  measure_threads(data, folds)
}

# The columns of the system are computed for the first lambda; four more lambdas add four pursuits
# without them.
measure_pieces <- function(data, folds) {
  problem <- as_problem(data$x, data$y)
  basis <- setup <- columns <- NULL
  model <- inside$fs_model(prototypes = prototypes, k = k, folds = folds, change = 0)
  chosen <- cpu(function() basis <<- select_basis(problem, prototypes, "k_center"))
  model$prototypes <- basis
  setup <- inside$fs_setup(problem, kernel, model)
  formed <- cpu(function() columns <<- inside$fs_columns(setup, kernel))
  say("  where it goes, all sizes, seconds")
  say("    %-36s %7.2f", "k-center", chosen)
  say("    %-36s %7.2f", "kernel matrix", formed)
  for (held in c(FALSE, TRUE)) {
    if (!held) setup$model["folds"] <- list(NULL) else setup$model$folds <- folds
    once <- cpu(function() inside$fs_pursue(setup, columns, 1 / gamma))
    five <- cpu(function() inside$fs_pursue(setup, columns, rep(1 / gamma, 5)))
    pursuit <- (five - once) / 4
    words <- if (held) "10 folds" else "no folds"
    say("    %-36s %7.2f", paste0(words, ": columns of the system"), once - pursuit)
    say("    %-36s %7.2f", paste0(words, ": pursuit"), pursuit)
  }
}

measure_threads <- function(data, folds) {
  fits <- list()
  call <- function(threads) {
    function() fits[[threads]] <<- train_adult(data, folds, threads = threads)
  }
  seconds <- interleaved(list(call(1), call(2)), 1, elapsed)
  same <- identical(fits[[1]]$path, fits[[2]]$path) &&
    identical(fits[[1]]$coefficients, fits[[2]]$coefficients)
  say("  10 folds until level, elapsed: one thread %.2f, two %.2f: %.2f times faster, %s",
      seconds[1], seconds[2], seconds[1] / seconds[2], if (same) "identical" else "NOT IDENTICAL")
}

# Memory ------------------------------------------------------------------------------------------

# A new process: its largest size during the fit, less that before it, in bytes
memory_script <- '
suppressMessages({library(Matrix); library(sparsels)})
size <- function(what) {
  line <- grep(what, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
data <- readRDS("%1$s")
set.seed(2011)
train <- sample.int(nrow(data$X), %2$d)
x <- data$X[train, ]
y <- data$y[train]
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- size("VmRSS")
invisible(fs_lssvm(x, y, kernel = kernel_gaussian(sigma2 = 200), gamma = 1, prototypes = %3$d,
                   k = %4$d, folds = 10, change = 0))
cat(size("VmHWM") - before)
'

measure_memory <- function() {
  if (!file.exists("/proc/self/clear_refs")) return(invisible())
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  heading("memory of fs_lssvm() on adult beyond the data, 10 folds, all sizes")
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  writeLines(sprintf(memory_script, adult_file, rows, prototypes, k), file)
  bytes <- as.numeric(system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE,
                              env = libraries))
  say("  %.0f MB, %.1f times the kernel matrix", bytes / 2^20, bytes / (8 * rows * prototypes))
}

# Run ---------------------------------------------------------------------------------------------

say("%s", machine_line())
before <- load_average()
used <- proc.time()
run <- list(systems = measure_systems, adult = measure_adult, memory = measure_memory)
for (part in wanted) run[[part]]()
heading("load average at start and end: %s and %s (this script makes 1, with threads 2); all of it",
        before, load_average())
say("took %.0f CPU seconds", sum((proc.time() - used)[1:2]))

if (setequal(wanted, parts)) writeLines(lines, file.path(given$out, "scdp.txt"))
