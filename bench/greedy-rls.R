# Speed and memory of greedy_rls(): against the paper's Algorithm 3 written down in C, over threads,
# folds, the number of rows m and of features k, and beside the low-rank updated LS-SVM (the paper's
# Figures 1 to 3).
#
#   Rscript bench/greedy-rls.R [m=5000] [n=1000] [k=50] [times=5] [rows=1000,...,50000]
#                              [steps=5,...,100] [lssvm=500,...,10000] [out=bench/results]
#
# Needs the installed package and a C compiler; 5 GB of memory and about 4 minutes as it stands. A
# quick look: Rscript bench/greedy-rls.R m=1000 n=200 k=10 times=3 rows=500,1000,2000 lssvm=250,500
# out=/tmp. Figures of one run are compared with each other only: repetitions of what is compared
# are interleaved, and the medians of their elapsed times are taken.

library(sparsels)
source("bench/common.R")

given <- command_line(list(
  m = "5000", n = "1000", k = "50", times = "5", rows = "1000,2000,5000,10000,20000,50000",
  steps = "5,10,20,50,100", lssvm = "500,1000,2000,5000,10000", out = "bench/results"
))$options
m <- as.integer(given$m)
n <- as.integer(given$n)
k <- as.integer(given$k)
times <- as.integer(given$times)
steps <- numbers(given$steps)
steps <- steps[steps <= n]
lssvm_n <- min(n, 50L)
lssvm_k <- 3L

# Two normal distributions, one for each class, apart in the first hundred features.
two_normals <- function(m, n) {
  y <- rep(c(-1, 1), length.out = m)
  x <- matrix(rnorm(m * n), m, n)
  for (j in seq_len(min(n, 100L))) x[, j] <- x[, j] + y * 0.3 / sqrt(j)
  list(x = x, y = y)
}

first_rows <- function(data, m) list(x = data$x[seq_len(m), ], y = data$y[seq_len(m)])

select <- function(data, k, ...) {
  greedy_rls(data$x, data$y, k = k, lambda = 1, standardize = FALSE, intercept = FALSE,
             progress = FALSE, ...)
}

reference <- function(data, k) .Call("reference_greedy_rls", data$x, data$y, as.integer(k), 1)

load_reference <- function() {
  home <- tempfile("reference")
  dir.create(home)
  file.copy("bench/reference.c", home)
  back <- setwd(home)
  on.exit(setwd(back))
  said <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "reference.c"), stdout = TRUE,
                  stderr = TRUE)
  library_file <- file.path(home, paste0("reference", .Platform$dynlib.ext))
  if (!file.exists(library_file)) stop("cannot compile bench/reference.c:\n", said)
  dyn.load(library_file)
}

slope <- function(x, seconds) coef(lm(log(seconds) ~ log(x)))[[2]]

last_slope <- function(x, seconds) slope(tail(x, 2), tail(seconds, 2))

# Peak memory in a fresh process ------------------------------------------------------------------

# What a call needs beyond x, in multiples of x: the high-water mark of the resident set during the
# call, less what was resident just before. Linux only.
memory_script <- '
library(sparsels)
size <- function(what) {
  line <- grep(what, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
set.seed(1)
y <- rep(c(-1, 1), length.out = %1$d)
small <- matrix(rnorm(2000), 100)
invisible(greedy_rls(as_problem(small, y[1:100]), k = 3, lambda = 1))
x <- matrix(0, %1$d, %2$d)
for (j in seq_len(ncol(x))) x[, j] <- rnorm(nrow(x))
%3$s
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- size("VmRSS")
invisible(greedy_rls(%4$s, k = 20, lambda = 1, progress = FALSE))
cat((size("VmHWM") - before) / as.numeric(object.size(x)))
'

memory <- function(m, n, arguments, first = "") {
  if (!file.exists("/proc/self/clear_refs")) return(NA)
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(sprintf(memory_script, m, n, first, arguments), file)
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  as.numeric(system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE, env = libraries))
}

# Measure -----------------------------------------------------------------------------------------

load_reference()
say("%s", machine_line())
before <- load_average()
say("")
say("(m, n, k) = (%d, %d, %d), medians of %d interleaved runs; times are those of the whole call,",
    m, n, k, times)
say("checks of the input included; squared criterion, one output, no intercept")
set.seed(1)
data <- two_normals(m, n)
wanted <- reference(data, k)
fit <- select(data, k)
again <- select(data, k, threads = 2)
same <- identical(wanted$S, fit$path$feature[-1])
off <- max(abs(wanted$e / m / fit$path$criterion[-1] - 1))
bits <- identical(fit$path, again$path) && identical(fit$coefficients, again$coefficients)
main <- interleaved(list(
  reference = function() reference(data, k), one = function() select(data, k),
  two = function() select(data, k, threads = 2), folds = function() select(data, k, folds = 10)
), times)

say("")
say("%-44s %9s %8s   %s", "", "seconds", "ratio", "")
say("%-44s %9.3f", "Algorithm 3 as printed, in C", main["reference"])
say("%-44s %9.3f %8.2f   %s", "greedy_rls, one thread", main["one"],
    main["reference"] / main["one"], "times faster than Algorithm 3 (goal: 3 or more)")
say("%-44s %9.3f %8.2f   %s", "greedy_rls, two threads", main["two"], main["one"] / main["two"],
    "times faster than one thread")
say("%-44s %9.3f %8.2f   %s", "greedy_rls, ten folds in place of LOO", main["folds"],
    main["folds"] / main["one"], "times the time of LOO")
say("same features as Algorithm 3: %s; LOO errors agree to %.1e; two threads identical: %s",
    same, off, bits)

# by m: the rows of one large matrix, so that the repetitions can be interleaved
rows <- numbers(given$rows)
large <- two_normals(max(rows), n)
by_m <- interleaved(lapply(rows, function(rows) {
  part <- first_rows(large, rows)
  function() select(part, k)
}), min(times, 3L))
rm(large)
say("")
say("by m (n = %d, k = %d), medians of %d", n, k, min(times, 3L))
say("%-10s %10s %22s", "m", "seconds", "nanoseconds / (k m n)")
say("%-10.0f %10.3f %22.2f", rows, by_m, 1e9 * by_m / (as.double(k) * n * rows))
say("slope on log-log axes: %.3f (1 is linear)", slope(rows, by_m))

by_k <- interleaved(lapply(steps, function(k) function() select(data, k)), min(times, 3L))
say("")
say("by k (m = %d, n = %d), medians of %d", m, n, min(times, 3L))
say("%-10s %10s", "k", "seconds")
say("%-10.0f %10.3f", steps, by_k)
line <- lm(by_k ~ steps)
say("straight line: %.3f + %.4f k seconds, R squared %.5f", coef(line)[1], coef(line)[2],
    suppressWarnings(summary(line)$r.squared))

lssvm_rows <- numbers(given$lssvm)
lssvm_data <- lapply(lssvm_rows, two_normals, lssvm_n)
slow <- interleaved(lapply(lssvm_data, function(data) {
  function() {
    lowrank_lssvm(data$x, data$y, k = lssvm_k, lambda = 1, standardize = FALSE, intercept = FALSE)
  }
}), 1L)
fast <- interleaved(lapply(lssvm_data, function(data) function() select(data, lssvm_k)), times)
say("")
say("low-rank updated LS-SVM beside greedy RLS, both at n = %d, k = %d (the paper: 1000 and 50,",
    lssvm_n, lssvm_k)
say("too slow to repeat here); lowrank_lssvm() is R code with BLAS for the O(m^2 n) part, run once")
say("%-10s %15s %12s %8s", "m", "lowrank_lssvm", "greedy_rls", "ratio")
say("%-10.0f %13.3f s %10.4f s %8.0f", lssvm_rows, slow, fast, slow / fast)
say("slope on log-log axes between the last two m: lowrank_lssvm %.2f (2 is quadratic), greedy_rls",
    last_slope(lssvm_rows, slow))
say("%.2f; at few rows both are overhead, of R in lowrank_lssvm and of the call in greedy_rls",
    last_slope(lssvm_rows, fast))

big_m <- 8L * m
made <- "problem <- as_problem(x, y)"
needs <- c(
  memory(big_m, n, "problem", made), memory(big_m, n, "problem, threads = 2", made),
  memory(big_m, n, "x, y"), memory(big_m, n, "x, y, standardize = FALSE, intercept = FALSE"),
  memory(big_m, n, "problem, folds = 10", made), memory(big_m, n, "x, y, folds = 10")
)
say("")
say("peak memory beyond x, in multiples of object.size(x), m = %d, n = %d (x is %.0f MB)", big_m, n,
    8 * as.double(big_m) * n / 1e6)
say("%-44s %9.3f   %s", c("LOO, problem made before", "LOO, problem made before, two threads",
                          "LOO, from the matrix", "LOO, from the matrix, neither scale nor centre",
                          "ten folds, problem made before", "ten folds, from the matrix"), needs,
    rep(c("goal: 1, one cache", "goal: 2, two caches"), c(4, 2)))

say("")
say("load average at start and end: %s and %s (this script makes 1; where it is higher, something",
    before, load_average())
say("else was running, which spoils the row of two threads first)")

# Picture -----------------------------------------------------------------------------------------

log_axes <- function(x, y, ...) {
  plot(x, y, log = "xy", type = "n", las = 1, xaxt = "n", yaxt = "n", xlab = "training rows m",
       ylab = "elapsed seconds", ...)
  label <- function(at) {
    format(at, scientific = FALSE, big.mark = ",", drop0trailing = TRUE, trim = TRUE)
  }
  ticks <- c(outer(c(1, 2, 5), 10^(-3:4)))
  if (diff(log10(range(y))) > 2.5) ticks <- 10^(-3:4)
  axis(2, ticks, vapply(ticks, label, ""), las = 1)
  axis(1, unique(x), label(unique(x)), cex.axis = 0.8)
  abline(h = ticks, v = x, col = "grey90")
  box()
}

draw <- function() {
  par(mfrow = c(1, 3), mar = c(4.2, 4.6, 3, 1), mgp = c(3, 0.7, 0), cex = 0.85)
  log_axes(rows, by_m, ylim = c(min(by_m), 3 * max(by_m)),
           main = sprintf("greedy RLS by m\nn = %d, k = %d", n, k))
  lines(rows, by_m, type = "b", pch = 16, lwd = 2, col = colours["red"])
  lines(rows, by_m[1] * rows / rows[1], lty = 3, lwd = 2, col = colours["grey"])
  legend("topleft", c(sprintf("greedy_rls, slope %.2f", slope(rows, by_m)), "linear (slope 1)"),
         col = colours[c("red", "grey")], lty = c(1, 3), pch = c(16, NA), lwd = 2,
         bg = "white", box.col = NA)
  box()
  plot(steps, by_k, type = "n", xlim = c(0, max(steps)), ylim = c(0, max(by_k)), las = 1,
       xlab = "features selected k", ylab = "elapsed seconds",
       main = sprintf("greedy RLS by k\nm = %d, n = %d", m, n))
  grid(NULL, NULL, col = "grey90", lty = 1)
  abline(line, lty = 3, lwd = 2, col = colours["grey"])
  points(steps, by_k, pch = 16, col = colours["red"])
  legend("topleft", c("greedy_rls", "straight line"), col = colours[c("red", "grey")],
         pch = c(16, NA), lty = c(NA, 3), lwd = 2, bg = "white", box.col = NA)
  box()
  both <- rep(lssvm_rows, 2)
  log_axes(both, c(slow, fast), ylim = c(min(fast), 30 * max(slow)),
           main = sprintf("beside low-rank LS-SVM\nn = %d, k = %d", lssvm_n, lssvm_k))
  lines(lssvm_rows, slow, type = "b", pch = 17, lwd = 2, col = colours["blue"])
  lines(lssvm_rows, fast, type = "b", pch = 16, lwd = 2, col = colours["red"])
  ends <- sprintf(c("lowrank_lssvm, last slope %.2f", "greedy_rls, last slope %.2f"),
                  c(last_slope(lssvm_rows, slow), last_slope(lssvm_rows, fast)))
  top <- max(lssvm_rows)
  lines(lssvm_rows, max(slow) * (lssvm_rows / top)^2, lty = 3, lwd = 2, col = colours["grey"])
  legend("topleft", c(ends, "quadratic (slope 2)"), col = colours[c("blue", "red", "grey")],
         pch = c(17, 16, NA), lty = c(1, 1, 3), lwd = 2, bg = "white", box.col = NA)
  box()
}

writeLines(lines, file.path(given$out, "greedy-rls.txt"))
picture(file.path(given$out, "greedy-rls-scaling.png"), 1300, 460, draw)
