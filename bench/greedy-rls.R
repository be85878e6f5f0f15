# Speed and memory of greedy_rls(): against the paper's Algorithm 3 written down in C, against the
# same search evaluating every candidate, against one pass over x, over threads, instruction sets,
# the number of rows m and of features k, on simulated gene expression and on data where no
# candidate can be skipped, and against the low-rank updated LS-SVM (the paper's Figures 1 to 3).
#
#   Rscript bench/greedy-rls.R [m=5000] [n=1000] [k=50] [times=5] [rows=500,...,50000]
#                              [lssvm=250,500,1000] [steps=5,...,100] [genes=20000]
#                              [out=bench/results]
#
# Needs the installed package and a C compiler; 3 GB of memory and about 5 minutes with the
# defaults. A quick look: Rscript bench/greedy-rls.R m=1000 n=200 k=10 times=3
# rows=200,500,1000,2000 lssvm=100,200,400 steps=5,10,20 genes=2000 out=/tmp. Compare times of one
# run only: repetitions of the calls compared are interleaved, and medians of elapsed times are
# reported.
#
# Sources: R/search-greedy.R src/greedy* src/simd*

library(sparsels)
source("bench/common.R")
source("bench/greedy-common.R")

given <- command_line(list(
  m = "5000", n = "1000", k = "50", times = "5", rows = "500,1000,2000,5000,10000,20000,50000",
  lssvm = "250,500,1000", steps = "5,10,20,50,100", genes = "20000", out = "bench/results"
))$options
m <- as.integer(given$m)
n <- as.integer(given$n)
k <- as.integer(given$k)
times <- as.integer(given$times)
few <- min(times, 3L)
steps <- numbers(given$steps)
steps <- steps[steps <= n]
widths <- lane_widths()

first_rows <- function(data, m) list(x = data$x[seq_len(m), ], y = data$y[seq_len(m)])

# The whole call, including checks of the input, by each of the three methods.
select <- function(data, k, ...) {
  greedy_rls(data$x, data$y, k = k, lambda = 1, size = "criterion", standardize = FALSE,
             intercept = FALSE, progress = FALSE, ...)
}
select_densely <- function(data, k) {
  evaluate_all(data$x, data$y, k, standardize = FALSE, intercept = FALSE)
}
algorithm_3 <- function(data, k) reference(data$x, data$y, k)

one_pass <- function(x, threads = 1L) .Call("reference_read", x, threads)

# A pass over data in the first-level cache, which measures the processors only.
near <- matrix(1, 64, 32)
near_passes <- function(threads, times = 60000L) .Call("reference_reread", near, threads, times)

slope <- function(x, seconds) coef(lm(log(seconds) ~ log(x)))[[2]]

last_slope <- function(x, seconds) slope(tail(x, 2), tail(seconds, 2))

# Peak memory in a fresh process ------------------------------------------------------------------

# Memory of a call beyond x: the largest resident set size during the call, less that just before
# it. Linux only.
memory_script <- '
library(sparsels)
source("bench/greedy-common.R")
size <- function(what) {
  line <- grep(what, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
set.seed(1)
y <- rep(c(-1, 1), length.out = %1$d)
small <- matrix(rnorm(2000), 100)
invisible(greedy_rls(small, y[1:100], k = 3, lambda = 1, size = "criterion"))
x <- %2$s
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- size("VmRSS")
fit <- %3$s
cat(size("VmHWM") - before, as.numeric(object.size(x)), fit$work$evaluated)
'

# the first hundred columns (or all, if there are fewer) are related to y
made <- c(
  double = "matrix(0, %1$d, %2$d)
    for (j in seq_len(ncol(x))) x[, j] <- rnorm(nrow(x)) + (j <= 100) * 0.3 / sqrt(j) * y",
  integer = "matrix(0L, %1$d, %2$d)
    for (j in seq_len(ncol(x))) x[, j] <- rpois(nrow(x), 9 + (j <= 100) / sqrt(j) * y)",
  sparse = "Matrix::rsparsematrix(%1$d, %2$d, 0.02)
    y <- y + 3 * as.vector(x %%*%% (seq_len(ncol(x)) <= 100))"
)

# list(beyond, x: bytes; evaluated: columns)
memory <- function(m, n, x, call, problem) {
  if (!file.exists("/proc/self/clear_refs")) return(rep(NA_real_, 3))
  x <- sprintf(made[[x]], m, n)
  if (problem) x <- paste0(x, "\nproblem <- as_problem(x, y)")
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(sprintf(memory_script, m, x, call), file)
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  out <- system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE, env = libraries)
  as.numeric(strsplit(out, " ")[[1]])
}

# Main table --------------------------------------------------------------------------------------

load_reference()
say("%s", machine_line())
say("vectors of %s doubles to choose from", paste(widths, collapse = ", "))
before <- load_average()
say("")
say("(m, n, k) = (%d, %d, %d), squared leave-one-out error, one response, no intercept", m, n, k)
set.seed(1)
data <- two_normals(m, n)
wanted <- algorithm_3(data, k)
fit <- select(data, k)
again <- select(data, k, threads = 2)
dense <- select_densely(data, k)
same <- identical(wanted$S, fit$path$feature[-1])
off <- max(abs(wanted$e / m / fit$path$criterion[-1] - 1))
bits <- identical(fit$path, again$path) && identical(fit$coefficients, again$coefficients)

whole <- interleaved(list(
  reference = function() algorithm_3(data, k), dense = function() select_densely(data, k),
  one = function() select(data, k), two = function() select(data, k, threads = 2)
), times)

problem <- as_problem(data$x, data$y, standardize = FALSE, intercept = FALSE)
alone_call <- function(..., threads = 1L, width = max(widths), folds = "loo") {
  control <- search_control(problem, k, threads = threads, folds = folds)
  function() with_simd(width, function() search_alone(problem, control, ...))
}
alone_calls <- c(
  list(pass = function() one_pass(data$x), one = alone_call(), two = alone_call(threads = 2L),
       dense = alone_call(skipping = "none"),
       dense_two = alone_call(skipping = "none", threads = 2L),
       folds = alone_call(folds = 10)),
  lapply(widths, function(width) alone_call(width = width)),
  lapply(widths, function(width) alone_call(skipping = "none", width = width))
)
alone <- interleaved(alone_calls, 2L * times)
pass <- alone[["pass"]]

# One thread against two. An idle processor takes a millisecond to reach its speed, so both are kept
# busy before each call (unlike for the rows above). Two processors of a virtual machine may share
# one of the host: a round counts only if passes over data in the first-level cache were at least
# 1.8 times as fast with two threads before and after it.
awake <- function(call) {
  gc()
  near_passes(2L, 10000L)
  from <- Sys.time()
  call()
  as.double(difftime(Sys.time(), from, units = "secs"))
}
paired <- rounds(list(
  near = function() near_passes(1L), near_two = function() near_passes(2L),
  whole = function() select(data, k), whole_two = function() select(data, k, threads = 2),
  search = alone_call(), search_two = alone_call(threads = 2L),
  pass = function() one_pass(data$x), pass_two = function() one_pass(data$x, 2L),
  after = function() near_passes(1L), after_two = function() near_passes(2L)
), 16L * times, awake)
by_width <- matrix(alone[-(1:6)], length(widths))

row <- function(what, seconds, work = NULL) {
  say("%-46s %8.4f %9.2f %8.1f %s", what, seconds, whole[["reference"]] / seconds, seconds / pass,
      if (is.null(work)) "" else sprintf("%10.1f %9.1f", evaluated(work), work$passes))
}
head_row <- function(what) {
  say("")
  say("%-46s %8s %9s %8s %10s %9s", what, "seconds", "Alg 3/it", "passes", "evaluated%", "readings")
}
head_row(sprintf("whole calls, medians of %d", times))
row("Algorithm 3 as printed, in C", whole[["reference"]])
row("every candidate evaluated, one thread", whole[["dense"]], dense$work)
row("greedy_rls, one thread (goal: 25)", whole[["one"]], fit$work)
row("greedy_rls, two threads", whole[["two"]], again$work)
head_row(sprintf("the search alone, medians of %d", 2L * times))
row("one pass over x, one thread", pass)
row("greedy_rls, one thread", alone[["one"]], fit$work)
row("greedy_rls, two threads", alone[["two"]], fit$work)
row("every candidate evaluated, one thread", alone[["dense"]], dense$work)
row("every candidate evaluated, two threads", alone[["dense_two"]], dense$work)
row("ten folds in place of leave-one-out", alone[["folds"]])
for (i in seq_along(widths)) {
  row(sprintf("greedy_rls, %d in a vector", widths[i]), by_width[i, 1])
}
for (i in seq_along(widths)) {
  row(sprintf("every candidate evaluated, %d in a vector", widths[i]), by_width[i, 2])
}
say("passes: in times of one pass over x, a sum of all its values at %.1f GB/s on one thread",
    8e-9 * m * n / pass)
gains <- function(what) paired[what, ] / paired[paste0(what, "_two"), ]
whole_rounds <- gains("near") >= 1.8 & gains("after") >= 1.8
gain <- function(what, of = whole_rounds) median(gains(what)[of])
say("two threads, in the %d of %d rounds in which the machine gave two processors:",
    sum(whole_rounds), length(whole_rounds))
say("%.2f times as fast as one in the search, %.2f in the whole call (goal: 1.5); %.2f in one pass",
    gain("search"), gain("whole"), gain("pass"))
say("over x, which memory decides; in all rounds %.2f, %.2f and %.2f",
    gain("search", TRUE), gain("whole", TRUE), gain("pass", TRUE))
say("its %.1f readings of x alone take %.1f passes: %.1f times the floor of what it reads",
    fit$work$passes, fit$work$passes, alone[["one"]] / pass / fit$work$passes)
say("same features as Algorithm 3: %s; LOO errors agree to %.1e; two threads identical: %s", same,
    off, bits)

# By m and k --------------------------------------------------------------------------------------

# the rows of one large matrix, so that the repetitions can be interleaved
rows <- numbers(given$rows)
lssvm_rows <- numbers(given$lssvm)
large <- two_normals(max(rows), n)
parts <- lapply(rows, function(rows) first_rows(large, rows))
by_call <- function(call) lapply(parts, function(part) function() call(part, k))
by_m <- interleaved(c(by_call(select), by_call(select_densely),
                      lapply(parts, function(part) function() one_pass(part$x))), few)
by_m <- matrix(by_m, length(rows), dimnames = list(NULL, c("lazy", "dense", "pass")))
by_reference <- interleaved(by_call(algorithm_3), 1L)
slow <- interleaved(lapply(lssvm_rows, function(rows) {
  part <- first_rows(large, rows)
  function() {
    lowrank_lssvm(part$x, part$y, k = k, lambda = 1, standardize = FALSE, intercept = FALSE)
  }
}), 1L)
rm(large, parts)
invisible(gc())

say("")
say("by m (n = %d, k = %d), seconds of whole calls, medians of %d; Algorithm 3 and lowrank_lssvm",
    n, k, few)
say("(R code, with BLAS for the O(m^2 n) part) once")
say("%-8s %14s %12s %18s %11s %10s %16s", "m", "lowrank_lssvm", "Algorithm 3", "every candidate",
    "greedy_rls", "one pass", "Alg 3/greedy_rls")
for (rows_now in sort(union(rows, lssvm_rows))) {
  i <- match(rows_now, rows)
  shown <- function(value, format) {
    if (length(value) && !is.na(value)) sprintf(format, value) else "-"
  }
  say("%-8.0f %14s %12s %18s %11s %10s %16s", rows_now,
      shown(slow[match(rows_now, lssvm_rows)], "%.2f"), shown(by_reference[i], "%.3f"),
      shown(by_m[i, "dense"], "%.4f"), shown(by_m[i, "lazy"], "%.4f"),
      shown(by_m[i, "pass"], "%.5f"), shown(by_reference[i] / by_m[i, "lazy"], "%.1f"))
}
say("slopes on log-log axes (1 is linear, 2 quadratic): greedy_rls %.2f, every candidate %.2f,",
    slope(rows, by_m[, "lazy"]), slope(rows, by_m[, "dense"]))
say("Algorithm 3 %.2f, lowrank_lssvm %.2f, between its last two m %.2f", slope(rows, by_reference),
    slope(lssvm_rows, slow), last_slope(lssvm_rows, slow))
if (m %in% rows && max(rows) > m) {
  say("greedy_rls: %.0f rows take %.2f times as long as %d (goal: %.0f)", max(rows),
      by_m[which.max(rows), "lazy"] / by_m[match(m, rows), "lazy"], m, 1.1 * max(rows) / m)
}

by_k <- interleaved(c(lapply(steps, function(k) function() select(data, k)),
                      lapply(steps, function(k) function() select_densely(data, k))), few)
by_k <- matrix(by_k, length(steps))
say("")
say("by k (m = %d, n = %d), seconds of whole calls, medians of %d", m, n, few)
say("%-8s %11s %18s %8s", "k", "greedy_rls", "every candidate", "ratio")
say("%-8.0f %11.4f %18.4f %8.1f", steps, by_k[, 1], by_k[, 2], by_k[, 2] / by_k[, 1])
rm(data, problem, alone_calls)

# Data of other kinds -----------------------------------------------------------------------------

genes <- as.integer(given$genes)
gene_cases <- list(
  "genes, little noise" = function() gene_like(200, genes, 0.3),
  "genes, as much noise as signal" = function() gene_like(200, genes, 1),
  "genes, two classes" = function() gene_like(200, genes, 0.5, classes = TRUE)
)

# Seconds of the search alone, with and without bounds; CPU seconds if `clock` is cpu.
beside_dense <- function(name, problem, k, clock) {
  control <- search_control(problem, k)
  lazy <- search_alone(problem, control)
  dense <- search_alone(problem, control, skipping = "none")
  seconds <- interleaved(list(
    function() search_alone(problem, control),
    function() search_alone(problem, control, skipping = "none")
  ), times, clock)
  work <- lazy$work
  say("%-32s %4d %6d %9.5f %9.5f %7.2f %11.1f %9.1f %6s %6s", name, as.integer(k), lazy$size,
      seconds[1], seconds[2], seconds[2] / seconds[1], evaluated(work), work$passes,
      if (is.na(work$dense_from)) "-" else work$dense_from,
      identical(lazy$path$feature, dense$path$feature))
  seconds[2] / seconds[1]
}
say_kinds <- function() {
  say("%-32s %4s %6s %9s %9s %7s %11s %9s %6s %6s", "", "k", "best k", "greedy_rls", "every c.",
      "ratio", "evaluated %", "readings", "from", "same")
}

say("")
say("like gene expression, 200 x %d in blocks of 20 correlated 0.8, standardised, lambda 1; the",
    genes)
say("search alone, one thread, medians of %d; ratio: times as fast as with every candidate", times)
say("(goal: 3)")
say_kinds()
set.seed(2)
gene_ratio <- vapply(names(gene_cases), function(name) {
  beside_dense(name, gene_cases[[name]](), k, elapsed)
}, 0)

say("")
say("pure noise, heavy tails, many steps past the best size: processor seconds, medians of %d;",
    times)
say("goal: a ratio of %.2f or more (never slower than 1.3 times every candidate)", 1 / 1.3)
say_kinds()
set.seed(3)
hostile_ratio <- vapply(names(hostile_cases), function(name) {
  case <- hostile_cases[[name]]
  beside_dense(name, case[[2]](), case[[1]], cpu)
}, 0)

# Memory ------------------------------------------------------------------------------------------

big_m <- 8L * m
bare <- "lambda = 1, size = \"criterion\", progress = FALSE"
found <- sprintf("greedy_rls(%%s, k = %d, %s%%s)", k, bare)
from_problem <- sprintf(found, "problem", c("", ", threads = 2", ", folds = 10"))
from_matrix <- sprintf(found, "x, y", "")
every <- sprintf("search_alone(problem, search_control(problem, %d), skipping = \"none\")", k)
memory_rows <- list(
  list("doubles, problem made before", "double", from_problem[1], TRUE),
  list("doubles, problem made, two threads", "double", from_problem[2], TRUE),
  list("doubles, from the matrix", "double", from_matrix, FALSE),
  list("integers, from the matrix", "integer", from_matrix, FALSE),
  list("dgCMatrix, 2 % nonzero, problem made", "sparse", from_problem[1], TRUE),
  list("dgCMatrix, from the matrix", "sparse", from_matrix, FALSE),
  list("doubles, every candidate evaluated", "double", every, TRUE),
  list("doubles, ten folds", "double", from_problem[3], TRUE)
)
say("")
say("peak memory beyond x in MB, m = %d, n = %d, k = %d; goal: k (m + n) doubles and the columns",
    big_m, n, k)
say("touched, of which there are no more than candidates were evaluated in all steps together.")
say("left: what is beyond k (m + n) doubles, in columns of m doubles")
say("%-38s %8s %8s %9s %9s %7s %10s", "", "x", "beyond", "beyond/x", "k (m + n)", "left",
    "evaluated")
for (one in memory_rows) {
  used <- memory(big_m, n, one[[2]], one[[3]], one[[4]])
  moves <- 8 * k * (big_m + n)
  say("%-38s %8.1f %8.1f %9.3f %9.1f %7.0f %10.0f", one[[1]], used[2] / 1e6, used[1] / 1e6,
      used[1] / used[2], moves / 1e6, (used[1] - moves) / 8 / big_m, used[3])
}

say("")
say("load average at start and end: %s and %s (this script makes 1; where it is higher, something",
    before, load_average())
say("else was running, which spoils the rows of two threads first)")

# Picture -----------------------------------------------------------------------------------------

plain_numbers <- function(at) {
  vapply(at, format, "", scientific = FALSE, big.mark = ",", drop0trailing = TRUE, trim = TRUE)
}

by_rows_panel <- function() {
  curves <- list(
    list("low-rank updated LS-SVM", lssvm_rows, slow, "blue", 17),
    list("Algorithm 3, in C", rows, by_reference, "grey", 15),
    list("every candidate evaluated", rows, by_m[, "dense"], "green", 18),
    list("greedy_rls", rows, by_m[, "lazy"], "red", 16)
  )
  seconds <- unlist(lapply(curves, `[[`, 3))
  every_m <- unlist(lapply(curves, `[[`, 2))
  plot(range(every_m), c(min(seconds), 60 * max(seconds)), log = "xy", type = "n", xaxt = "n",
       yaxt = "n", xlab = "training rows m", ylab = "elapsed seconds",
       main = sprintf("time by the number of rows, n = %d, k = %d", n, k))
  ticks <- 10^(-3:4)
  marks <- c(1, 2, 5) %o% 10^(1:5)
  marks <- marks[marks >= min(every_m) & marks <= max(every_m)]
  axis(2, ticks, plain_numbers(ticks), las = 1)
  axis(1, marks, plain_numbers(marks))
  abline(h = ticks, v = marks, col = "grey90")
  for (one in curves) {
    lines(one[[2]], one[[3]], type = "b", pch = one[[5]], lwd = 2, col = colours[one[[4]]])
  }
  labels <- vapply(curves, function(one) {
    sprintf("%s, slope %.2f", one[[1]], last_slope(one[[2]], one[[3]]))
  }, "")
  legend("topleft", labels, col = colours[vapply(curves, `[[`, "", 4)], lwd = 2,
         pch = vapply(curves, `[[`, 0, 5), bg = "white", box.col = NA, inset = 0.01,
         title = "slope between the last two m; 1 is linear", title.adj = 0)
  box()
}

kinds_panel <- function() {
  ratio <- rev(c(gene_ratio, hostile_ratio))
  names <- names(ratio)
  at <- seq_along(ratio)
  ticks <- c(0.5, 1 / 1.3, 1, 2, 3, 5, 10, 20, 50)
  range <- range(c(0.6, 4, ratio))
  plot(ratio, at, log = "x", type = "n", xlim = range, ylim = c(0.4, length(ratio) + 0.6),
       xaxt = "n", yaxt = "n", ylab = "",
       xlab = "times as fast as evaluating every candidate",
       main = "other kinds of data (dotted: the goals)")
  shown <- ticks[ticks >= range[1] & ticks <= range[2]]
  axis(1, shown, ifelse(shown == 1 / 1.3, "1/1.3", plain_numbers(shown)))
  axis(2, at, names, las = 1, tick = FALSE, cex.axis = 0.9)
  abline(h = at, col = "grey90")
  abline(v = 1, col = colours["grey"], lwd = 2)
  abline(v = c(1 / 1.3, 3), col = colours["grey"], lty = 3, lwd = 2)
  genes <- at > length(hostile_ratio)
  points(ratio, at, pch = 16, cex = 1.3, col = colours[ifelse(genes, "red", "blue")])
  box()
}

draw <- function() {
  layout(matrix(1:2, 1), widths = c(1.15, 1))
  par(mar = c(4.2, 4.8, 2.6, 1), mgp = c(3, 0.7, 0), cex = 0.9)
  by_rows_panel()
  par(mar = c(4.2, 13.5, 2.6, 1))
  kinds_panel()
}

writeLines(lines, file.path(given$out, "greedy-rls.txt"))
picture(file.path(given$out, "greedy-rls-scaling.png"), 1400, 600, draw)
