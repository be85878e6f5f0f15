# Speed of the search of greedy_rls() by folds: beside leave-one-out at the same lambda, and beside
# the search that evaluates every candidate at every step, on tall data, data like gene expression
# and data with nothing to skip; searches for permuted responses; the default call beside glmnet;
# and, with agree=yes, whether the selections are those of the search over every candidate.
#
#   Rscript bench/greedy-folds.R [goals hostile kinds permutations default] [data=DIR] [agree=no]
#                                [m=5000] [n=1000] [k=50] [tall=50000,300] [genes=20000] [times=5]
#                                [permutations=100] [values=5e7] [out=bench/results]
#
# DIR, which is optional, holds data sets as .rds files, each made by saveRDS(list(X = , y = ),
# file): X a matrix or a dgCMatrix, samples in rows. bench/README.md says under greedy-agree.R and
# defaults.R which were used, what is in each and where to get it; for the first part `gene_sets`
# below has the names of the files, and a missing one is skipped; agree=yes takes every file. From a
# data set with more than values= values rows are drawn.
#
# Needs the installed package, 1.5 GB of memory and about 8 minutes; agree=yes takes 5 more, and
# 3 GB. A quick look, 2 minutes: m=1000 n=200 k=10 tall=5000,100 genes=2000 times=1 permutations=10
# out=/tmp. The output is saved if no part was named.
#
# Times are CPU seconds of the search alone on one thread, medians of repetitions in turn. Rows are
# dealt to folds at random.
#
# Sources: R/search-greedy.R src/greedy* src/simd*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
source("bench/common.R")
source("bench/greedy-common.R")

parts <- c("goals", "hostile", "kinds", "permutations", "default")
line <- command_line(list(
  data = "", agree = "no", m = "5000", n = "1000", k = "50", tall = "50000,300", genes = "20000",
  times = "5", permutations = "100", values = "5e7", out = "bench/results"
))
given <- line$options
wanted <- if (length(line$words)) line$words else parts
m <- as.integer(given$m)
n <- as.integer(given$n)
k <- as.integer(given$k)
tall <- as.integer(numbers(given$tall))
genes <- as.integer(given$genes)
times <- as.integer(given$times)
few <- min(times, 3L)
permutations <- as.integer(given$permutations)
most_values <- as.numeric(given$values)
directory <- given$data
agree <- given$agree == "yes"
stopifnot(wanted %in% parts, length(tall) == 2, given$agree %in% c("yes", "no"))
if (nzchar(directory) && !dir.exists(directory)) stop("there is no directory ", directory)
if (agree && !nzchar(directory)) stop("agree=yes compares the data sets of data=DIR")

gene_sets <- c("colon_alon", "golub", "prostate_singh", "riboflavin", "breast_vdv", "khan_srbct")
few_genes <- 20L
lambdas <- c(0.05, 0.5, 8)

# Folds and problems ------------------------------------------------------------------------------

# Three to six rows in each group, fewer in the last.
groups_of_rows <- function(m) {
  sizes <- sample(3:6, m %/% 3 + 1, replace = TRUE)
  sample(rep(seq_along(sizes), sizes)[seq_len(m)])
}

number_of_folds <- function(...) function(problem) make_folds(problem, ...)
ten_folds <- number_of_folds(10)
groups <- function(problem) make_folds(problem, groups_of_rows(nrow(problem)))

normal_problem <- function(m, n) {
  data <- two_normals(m, n)
  as_problem(data$x, data$y, task = "regression")
}

class_problem <- function(m, n) {
  data <- two_normals(m, n)
  as_problem(data$x, factor(data$y))
}

five_class_problem <- function(m, n) {
  class <- rep(1:5, length.out = m)
  x <- matrix(rnorm(m * n), m)
  for (j in seq_len(min(n, 100L))) x[, j] <- x[, j] + rnorm(5)[class] * 0.3 / sqrt(j)
  as_problem(x, factor(class))
}

sparse_problem <- function(m, n) {
  x <- Matrix::rsparsematrix(m, n, 0.05)
  as_problem(x, as.vector(x %*% (seq_len(n) <= 100)) + 2 * rnorm(m))
}

integer_problem <- function(m, n) {
  y <- rep(c(-1, 1), length.out = m)
  x <- vapply(seq_len(n), function(j) rpois(m, 9 + (j <= 100) / sqrt(j) * y), integer(m))
  as_problem(x, y, task = "regression")
}

# list(problem, available: rows of the file)
read_problem <- function(name) {
  data <- read_data(directory, name, most_values)
  list(problem = suppressMessages(as_problem(data$x, data$y)), available = data$available)
}

# The names of the files in the directory, without .rds
data_sets <- function() {
  if (!nzchar(directory)) return(character())
  sub("[.]rds$", "", list.files(directory, "[.]rds$"))
}

# A table -----------------------------------------------------------------------------------------

row_format <- paste("%-36s %8s | %9s %9s %9s | %9s %5s %10s | %5s %8s |",
                    "%11s %7s %6s %6s")

table_head <- function() {
  say(row_format, "", "", "LOO", "folds", "every c.", "folds", "", "every c.", "", "", "", "",
      "step", "from")
  say(row_format, "", "lambda/m", "s", "s", "s", "/LOO", "goal", "/folds", "same", "off",
      "evaluated %", "passes", "recur.", "all")
}

explain_table <- function() {
  say("LOO, folds: greedy_rls() by leave-one-out and by folds, squared error; every c.: by folds,")
  say("every candidate evaluated at every step. same: the selections by folds with and without")
  say("skipping (tie: the errors of the columns agree to %g); off: the largest relative difference",
      tie)
  say("of the errors of equal models. Then the work by folds: candidates evaluated, passes over x,")
  say("the step from which errors came by recurrence, and the one from which all were evaluated.")
}

# The step of a change, if there was one; versions that know no such change do not report it.
step_of <- function(step) if (is.null(step) || is.na(step)) "-" else paste(step)

# One row of a table, which it prints and returns; `skipping`: passed on to the search
measure <- function(name, problem, folds, k, ratio, goal, times, skipping = "bounds") {
  lambda <- ratio * nrow(problem)
  by_row <- search_control(problem, k, lambda)
  by_fold <- search_control(problem, k, lambda, folds = folds)
  calls <- list(
    loo = function() search_alone(problem, by_row, skipping = skipping),
    folds = function() search_alone(problem, by_fold, skipping = skipping),
    every = function() search_alone(problem, by_fold, skipping = "none")
  )
  found <- calls$folds()
  work <- found$work
  trace <- trace_of(found)
  wanted <- trace_of(calls$every())
  found <- compare(trace, wanted)
  note(sprintf("%s, lambda/m %g", name, ratio), trace, wanted, found)
  seconds <- interleaved(calls, times, cpu)
  row <- data.frame(name = name, ratio = ratio, goal = goal,
                    to_loo = seconds[["folds"]] / seconds[["loo"]],
                    gain = seconds[["every"]] / seconds[["folds"]])
  say(row_format, name, format(ratio, digits = 2), sprintf("%.5f", seconds[["loo"]]),
      sprintf("%.5f", seconds[["folds"]]), sprintf("%.5f", seconds[["every"]]),
      sprintf("%.2f", row$to_loo), if (is.na(goal)) "" else format(goal), sprintf("%.2f", row$gain),
      found$same, sprintf("%.1e", found$off), sprintf("%.2f", evaluated(work)),
      sprintf("%.1f", work$passes), step_of(work$recurrence_from), step_of(work$dense_from))
  row
}

# Rows for each lambda; `goals`: the largest ratio to leave-one-out that is wanted for each
measure_lambdas <- function(name, problem, folds, k, goals = NA, times = few) {
  held_out <- folds(problem)
  do.call(rbind, Map(function(ratio, goal) {
    measure(name, problem, held_out, k, ratio, goal, times)
  }, lambdas, goals))
}

# Parts -------------------------------------------------------------------------------------------

measure_goals <- function() {
  heading("beside leave-one-out, k = %d, of data like genes %d; medians of %d", k, few_genes, times)
  explain_table()
  say("goal: at most this many times the seconds of leave-one-out")
  say("")
  table_head()
  wide <- c(3, 3, 1.2)
  set.seed(1)
  problem <- normal_problem(m, n)
  size <- sprintf("%d x %d", m, n)
  results <- list(
    measure_lambdas(paste("ten folds,", size), problem, ten_folds, k, c(2.5, 2.5, 1.5), times),
    measure_lambdas(paste("groups of 3 to 6,", size), problem, groups, k, c(2.5, 2.5, 2), times)
  )
  rm(problem)
  results <- c(results, list(
    measure_lambdas(sprintf("ten folds, %d x %d", tall[1], tall[2]),
                    normal_problem(tall[1], tall[2]), ten_folds, min(k, tall[2]), 1.2, times),
    measure_lambdas(sprintf("ten folds, like genes, 200 x %d", genes), gene_like(200, genes, 1),
                    ten_folds, few_genes, wide, times)
  ))
  sets <- lapply(intersect(gene_sets, data_sets()), function(name) {
    problem <- read_problem(name)$problem
    size <- sprintf("%d x %d", nrow(problem), ncol(problem))
    measure_lambdas(sprintf("ten folds, %s, %s", name, size), problem, ten_folds, few_genes, wide,
                    times)
  })
  if (!length(sets)) say("(no gene sets: data=DIR names the directory of their files)")
  results <- do.call(rbind, c(results, sets))
  say("goals met: %d of %d", sum(results$to_loo <= results$goal), nrow(results))
  results
}

# Bounds are used where greedy_rls() would use them.
measure_hostile <- function() {
  heading("pure noise, heavy tails, many steps past the best size, lambda 1; medians of %d; goal:",
          few)
  say("every c./folds of %.2f or more (never slower than 1.2 times every candidate)", 1 / 1.2)
  say("")
  table_head()
  set.seed(3)
  results <- lapply(names(hostile_cases), function(name) {
    case <- hostile_cases[[name]]
    problem <- case[[2]]()
    rbind(hostile_row(paste("ten folds,", name), problem, ten_folds, case[[1]]),
          hostile_row(paste("groups,", name), problem, groups, case[[1]]))
  })
  results <- do.call(rbind, results)
  say("goals met: %d of %d", sum(results$gain >= 1 / 1.2), nrow(results))
  results
}

hostile_row <- function(name, problem, folds, k) {
  measure(name, problem, folds(problem), k, 1 / nrow(problem), NA, few,
          if (sparsels:::skipping_pays(problem)) "bounds" else "none")
}

measure_kinds <- function() {
  heading("other folds, responses and kinds of x, %d x %d, k = %d; ten folds where no other are",
          m, n, k)
  say("named; medians of %d", few)
  say("")
  table_head()
  set.seed(4)
  problem <- normal_problem(m, n)
  results <- list(
    measure_lambdas("5 folds", problem, number_of_folds(5), k),
    measure_lambdas("50 folds", problem, number_of_folds(50), k),
    measure_lambdas("three times ten folds", problem, number_of_folds(10, repeats = 3), k)
  )
  rm(problem)
  kinds <- list("two classes" = class_problem, "five classes" = five_class_problem,
                "sparse x, 5 % nonzero" = sparse_problem, "integers" = integer_problem)
  others <- lapply(names(kinds), function(name) {
    measure_lambdas(name, kinds[[name]](m, n), ten_folds, k)
  })
  do.call(rbind, c(results, others))
}

# Seconds per search of one matrix and many responses, each by a call of its own.
# Searches of permuted responses: each by a call of its own, on a problem that is ready, and all of
# them in one call, which makes what depends on x once.
measure_permutations <- function() {
  size <- min(few_genes, n)
  heading("%d permutations of the response, %d x %d, k = %d: CPU seconds for each", permutations, m,
          n, size)
  say("call: greedy_rls(x, y, size = \"criterion\"); ready: its search alone on a problem")
  say("made before; together: all in one call, products with y included (goal: .6 of the calls)")
  say("%-12s %8s %10s %10s %10s %8s %8s %6s", "folds", "lambda/m", "call", "ready", "together",
      "/call", "/ready", "same")
  set.seed(5)
  problem <- normal_problem(m, n)
  x <- as.matrix(problem$x)
  responses <- lapply(seq_len(permutations), function(i) problem$rows$y[sample(m), , drop = FALSE])
  ready <- lapply(responses, function(y) as_problem(x, drop(y), task = "regression"))
  for (folds in list("loo", ten_folds(problem))) {
    for (ratio in lambdas) {
      lambda <- ratio * m
      control <- search_control(problem, size, lambda, folds = folds)
      calls <- list(
        call = function() {
          lapply(responses, function(y) {
            greedy_rls(x, drop(y), task = "regression", k = size, lambda = lambda, folds = folds,
                       size = "criterion", progress = FALSE)
          })
        },
        ready = function() lapply(ready, search_alone, control),
        together = function() sparsels:::greedy_paths(problem, control, lambda, responses)
      )
      features <- function(paths) lapply(paths, function(path) path$path$feature)
      same <- identical(features(calls$together()), features(calls$ready()))
      seconds <- interleaved(calls, few, cpu) / permutations
      say("%-12s %8g %10.5f %10.5f %10.5f %8.2f %8.2f %6s",
          if (identical(folds, "loo")) "one row" else "ten folds", ratio, seconds[["call"]],
          seconds[["ready"]], seconds[["together"]], seconds[["together"]] / seconds[["call"]],
          seconds[["together"]] / seconds[["ready"]], same)
    }
  }
}

# The whole call with all its defaults beside the lasso at its own. Larger models are tried until
# the error stops improving, with hardly any noise up to the largest.
measure_default <- function() {
  if (!requireNamespace("glmnet", quietly = TRUE)) {
    return(heading("default calls: skipped, the package glmnet is not installed"))
  }
  heading("default calls on 100 x %d, like genes: CPU seconds, medians of %d; glmnet %s; ratio: of",
          genes, few, utils::packageVersion("glmnet"))
  say("greedy_rls to cv.glmnet (goal: less than 1); size: of the model; tried: the largest")
  say("%-26s %12s %12s %12s %8s %6s %6s", "", "as_problem", "greedy_rls", "cv.glmnet", "ratio",
      "size", "tried")
  set.seed(6)
  default_row("hardly any noise", gene_like(100, genes, 0.05))
  default_row("little noise", gene_like(100, genes, 0.3))
  default_row("as much noise as signal", gene_like(100, genes, 1))
  default_row("two classes", gene_like(100, genes, 0.5, classes = TRUE))
}

default_row <- function(name, problem) {
  classes <- problem$coding$task != "regression"
  x <- problem$x
  y <- if (classes) factor(problem$rows$y[, 1]) else problem$rows$y[, 1]
  greedy <- function() greedy_rls(problem, progress = FALSE)
  lasso <- function() {
    glmnet::cv.glmnet(x, y, family = if (classes) "binomial" else "gaussian")
  }
  seconds <- interleaved(list(function() as_problem(x, y), greedy, lasso), few, cpu)
  fit <- greedy()
  say("%-26s %12.4f %12.4f %12.4f %8.2f %6d %6d", name, seconds[1], seconds[2], seconds[3],
      seconds[2] / seconds[3], as.integer(fit$size), max(fit$path$size))
}

# Agreement ---------------------------------------------------------------------------------------

agree_format <- "%-22s %6s %6s %3s %3s | %5s %8s | %5s %8s | %5s %8s | %-23s %-8s %s"

compare_all <- function() {
  lambdas <- c(0.001, lambdas)
  heading("the search by folds with and without skipping, lambda/m = %s; up to %d features;",
          paste(lambdas, collapse = ", "), few_genes)
  say("* rows were drawn. For each kind of folds whether selections are the same at every lambda")
  say("and the largest relative difference of the errors; for ten folds the candidates evaluated")
  say("at each lambda; and in how many of the %d searches errors came by recurrence from some step",
      3L * length(lambdas))
  say("on, and all candidates were evaluated from some step on.")
  say("")
  say(agree_format, "", "", "", "", "", "ten f", "olds", "five", "folds", "group", "s", "", "step",
      "from")
  say(agree_format, "data", "m", "n", "out", "k", "same", "off", "same", "off", "same", "off",
      "evaluated %", "recur.", "all")
  for (name in data_sets()) compare_set(name, lambdas)
  say("")
  say_disagreements()
}

compare_set <- function(name, lambdas) {
  data <- read_problem(name)
  problem <- data$problem
  k <- min(few_genes, sum(problem$columns$usable), nrow(problem) - 1L)
  kinds <- list("ten folds" = ten_folds, "five folds" = number_of_folds(5), groups = groups)
  set.seed(7)
  results <- lapply(names(kinds), function(kind) {
    folds <- suppressWarnings(kinds[[kind]](problem))
    lapply(lambdas, function(ratio) {
      compare_search(paste(name, kind, sep = ", "), problem, k, ratio, folds)
    })
  })
  field <- function(results, what) lapply(results, `[[`, what)
  pair <- function(results) {
    c(worst(unlist(field(results, "same"))), sprintf("%.1e", max(unlist(field(results, "off")))))
  }
  work <- field(unlist(results, recursive = FALSE), "work")
  changed <- function(what) sum(lengths(field(work, what)) & !is.na(field(work, what)))
  drawn <- if (nrow(problem) < data$available) "*"
  pairs <- unlist(lapply(results, pair))
  say(agree_format, name, paste0(nrow(problem), drawn), ncol(problem), ncol(problem$rows$y), k,
      pairs[1], pairs[2], pairs[3], pairs[4], pairs[5], pairs[6],
      slashes(sprintf("%.1f", vapply(field(results[[1]], "work"), evaluated, 0))),
      changed("recurrence_from"), changed("dense_from"))
}

compare_search <- function(where, problem, k, ratio, folds) {
  control <- suppressWarnings(search_control(problem, k, ratio * nrow(problem), folds = folds))
  path <- search_alone(problem, control, skipping = "bounds")
  trace <- trace_of(path)
  every <- trace_of(search_alone(problem, control, skipping = "none"))
  found <- compare(trace, every)
  note(sprintf("%s, lambda/m %g", where, ratio), trace, every, found)
  c(found, list(work = path$work))
}

# Picture -----------------------------------------------------------------------------------------

symbols <- data.frame(ratio = lambdas, colour = c("red", "green", "blue"), pch = c(17, 15, 16))

# A dot chart on a log scale; `guides` are dotted lines.
dots <- function(names, value, colour, pch, guides, xlab, main) {
  rows <- unique(names)
  at <- length(rows) + 1 - match(names, rows)
  marks <- c(0.5, 0.8, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
  plot(value, at, log = "x", type = "n", xlim = range(value, guides, 0.8),
       ylim = c(0.4, length(rows) + 0.6), xaxt = "n", yaxt = "n", xlab = xlab, ylab = "",
       main = main)
  axis(1, marks, marks)
  axis(2, rev(seq_along(rows)), rows, las = 1, tick = FALSE, cex.axis = 0.9)
  abline(h = seq_along(rows), col = "grey90")
  abline(v = 1, col = colours["grey"], lwd = 2)
  abline(v = guides, col = colours["grey"], lty = 3, lwd = 2)
  points(value, at, pch = pch, cex = 1.3, col = colours[colour])
  box()
  invisible(at)
}

show_lambdas <- function(where) {
  legend(where, sprintf("lambda/m = %g", lambdas), pch = symbols$pch, bg = "white", box.col = NA,
         col = colours[symbols$colour], inset = 0.01)
}

goals_panel <- function(results) {
  style <- symbols[match(results$ratio, lambdas), ]
  at <- dots(results$name, results$to_loo, style$colour, style$pch, numeric(),
             "times the CPU seconds of leave-one-out", "folds beside leave-one-out (bars: goals)")
  segments(results$goal, at - 0.35, results$goal, at + 0.35, lwd = 2, col = colours[style$colour])
  show_lambdas("bottomright")
}

gain_panel <- function(goals, hostile, kinds) {
  results <- rbind(goals, kinds, hostile)
  style <- symbols[match(results$ratio, lambdas), ]
  other <- is.na(style$ratio)
  dots(results$name, results$gain, ifelse(other, "grey", style$colour),
       ifelse(other, 18, style$pch), 1 / 1.2, "times as fast as evaluating every candidate",
       "folds beside every candidate (grey: nothing to skip)")
}

draw <- function(goals, hostile, kinds) {
  layout(matrix(1:2, 1), widths = c(1, 1.1))
  par(mar = c(4.2, 17, 2.6, 1), mgp = c(2.6, 0.7, 0), cex = 0.9)
  goals_panel(goals)
  gain_panel(goals, hostile, kinds)
}

# Run ---------------------------------------------------------------------------------------------

say("%s", machine_line())
before <- load_average()
used <- proc.time()
goals <- if ("goals" %in% wanted) measure_goals()
hostile <- if ("hostile" %in% wanted) measure_hostile()
kinds <- if ("kinds" %in% wanted) measure_kinds()
if ("permutations" %in% wanted) measure_permutations()
if ("default" %in% wanted) measure_default()
if (agree) compare_all()
heading("load average at start and end: %s and %s; it took %.0f minutes", before, load_average(),
        (proc.time() - used)[[3]] / 60)

if (setequal(wanted, parts)) {
  writeLines(lines, file.path(given$out, "greedy-folds.txt"))
  rows <- length(unique(c(goals$name, hostile$name, kinds$name)))
  picture(file.path(given$out, "greedy-folds.png"), 1600, 200 + 22 * rows,
          function() draw(goals, hostile, kinds))
}
