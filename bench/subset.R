# Speed of subset selection: iterations of poss() per second against Algorithm 2 of the paper in
# plain R, ten short searches against a long one, forward_regression() against greedy_rls(), and
# best_subset() against leaps::regsubsets().
#
#   Rscript bench/subset.R DIR [n=5000] [m=1000] [splits=30] [times=3] [leaps=1] [out=bench/results]
#
# DIR holds sonar.rds and ionosphere.rds (bench/README.md says what is in them and where to get
# them). About 7 minutes with the defaults, of which leaps takes two; leaps=0 skips it. Rates of one
# thread are by CPU time, those of two threads by elapsed time; calls compared are run in turn, and
# medians are reported.

library(sparsels)
source("bench/common.R")

line <- command_line(list(n = "5000", m = "1000", splits = "30", times = "3", leaps = "1",
                          out = "bench/results"))
given <- line$options
if (length(line$words) != 1) stop("usage: Rscript bench/subset.R DIR [n=5000] [splits=30] ...")
directory <- line$words
stopifnot(file.exists(file.path(directory, c("sonar.rds", "ionosphere.rds"))))
n <- as.integer(given$n)
m <- as.integer(given$m)
splits <- as.integer(given$splits)
times <- as.integer(given$times)
k <- 8L
inside <- asNamespace("sparsels")

# Data --------------------------------------------------------------------------------------------

# The first half of a random order of the rows; classes as -1 and 1.
half <- function(name, seed) {
  data <- readRDS(file.path(directory, paste0(name, ".rds")))
  set.seed(seed)
  rows <- sample.int(nrow(data$X), nrow(data$X) %/% 2)
  as_problem(data$X[rows, ], 2 * as.integer(factor(data$y))[rows] - 3)
}

# Columns with common factors; the response is a sum of 20 of them plus noise.
correlated <- function(m, n) {
  factors <- matrix(rnorm(m * 20), m)
  x <- matrix(rnorm(m * n), m) + factors %*% matrix(rnorm(20 * n) / 4, 20)
  used <- sample.int(n, 20)
  as_problem(x, drop(x[, used] %*% rnorm(20)) + 2 * rnorm(m))
}

paper_bound <- function(problem) floor(2 * exp(1) * k^2 * sum(problem$usable))

# Measure -----------------------------------------------------------------------------------------

cpu <- function(call) {
  gc()
  sum(system.time(call())[c("user.self", "sys.self")])
}

# Replaces gram_terms() by a function that returns products computed before, so that the search
# alone can be timed, with all of X'X or with entries computed when needed.
with_terms <- function(problem, whole, expr) {
  terms <- inside$gram_terms(problem, whole = whole)
  own <- inside$gram_terms
  put <- function(f) utils::assignInNamespace("gram_terms", f, "sparsels")
  put(function(problem, whole) terms)
  on.exit(put(own))
  expr
}

search_of <- function(problem, restarts, iterations = NULL, threads = 1) {
  poss(problem, k = k, restarts = restarts, iterations = iterations, threads = threads,
       progress = FALSE)
}

# The R-squared of the best set of at most k columns.
best_of <- function(fit) max(fit$archive$criterion[fit$archive$size <= k])

# Iterations per second; the time of a call with one iteration is subtracted.
rate <- function(problem, whole, restarts) {
  iterations <- paper_bound(problem)
  with_terms(problem, whole, {
    seconds <- interleaved(list(
      all = function() search_of(problem, restarts),
      one = function() search_of(problem, restarts, iterations = 1)
    ), times, cpu)
  })
  restarts * (iterations - 1) / (seconds[["all"]] - seconds[["one"]])
}

# Algorithm 2 -------------------------------------------------------------------------------------

# Algorithm 2 as printed in the paper, with R^2 computed in R. The empty set and those of 2k columns
# or more have the objective Inf.
by_model <- function(x, y) function(set) summary(lm(y ~ x[, set]))$r.squared

# R^2 by a bare least-squares fit on the prepared columns
by_data <- function(x, y) {
  function(set) 1 - sum(.lm.fit(x[, set, drop = FALSE], y)$residuals^2) / sum(y^2)
}

# R^2 from precomputed cross products
by_products <- function(C, b, total) function(set) sum(b[set] * solve(C[set, set], b[set])) / total

algorithm_2 <- function(r_squared, size, iterations) {
  objectives <- function(s) {
    set <- which(s)
    if (!length(set) || length(set) >= 2 * k) return(c(Inf, length(set)))
    c(-r_squared(set), length(set))
  }
  archive <- list(logical(size))
  value <- list(c(Inf, 0))
  for (i in seq_len(iterations)) {
    s <- archive[[sample.int(length(archive), 1)]]
    s <- xor(s, runif(size) < 1 / size)
    new <- objectives(s)
    beaten <- vapply(value, function(old) all(old <= new) && any(old < new), NA)
    if (any(beaten)) next
    kept <- !vapply(value, function(old) all(new <= old), NA)
    archive <- c(archive[kept], list(s))
    value <- c(value[kept], list(new))
  }
  -min(vapply(value, function(one) if (one[2] <= k) one[1] else Inf, 0))
}

# Run ---------------------------------------------------------------------------------------------

measure_rates <- function(small, large) {
  say("poss(), k = 8, one thread: iterations per CPU second over searches of 2 e k^2 n iterations")
  say("each, X'X or its diagonal made beforehand; medians of %d", times)
  say("%-52s %10s %10s", "", "measured", "goal")
  show <- function(label, value, goal) say("%-52s %10.2e %10.1e", label, value, goal)
  rates <- c(small = rate(small, TRUE, 100), whole = rate(large, TRUE, 1),
             lazy = rate(large, FALSE, 1))
  show(sprintf("n = 60, m = %d (half of sonar)", nrow(small)), rates["small"], 8e6)
  show(sprintf("n = %d, m = %d, X'X whole", n, m), rates["whole"], 2e6)
  show(sprintf("n = %d, m = %d, X'X as it comes", n, m), rates["lazy"], 0.6e6)
  rates
}

measure_plain <- function(small, ours) {
  terms <- inside$gram_terms(small, whole = TRUE)
  x <- inside$working_matrix(small, terms$columns)
  y <- inside$working(small)$y
  kinds <- list(by_model(x, y), by_data(x, y), by_products(terms$whole, terms$b, terms$total))
  iterations <- 4000
  found <- NULL
  set.seed(3)
  seconds <- interleaved(lapply(kinds, function(kind) {
    function() found <<- c(found, algorithm_2(kind, length(terms$columns), iterations))
  }), 7, cpu)
  say("%-52s %10s %10s %10s", "", "measured", "poss() is", "goal")
  show <- function(label, theirs, ...) {
    say("%-52s %10.2e %9.0fx %10s", label, theirs, ours / theirs, ...)
  }
  show("Algorithm 2 in R, n = 60, R^2 by summary(lm())", iterations / seconds[1], "1000x")
  show("with R^2 by .lm.fit()", iterations / seconds[2], "")
  show("with R^2 from X'X and X'y made beforehand", iterations / seconds[3], "")
  same <- search_of(small, 200, iterations)$archive
  same <- same[same$size <= k, ]
  same <- tapply(same$criterion, same$search, max)
  se <- function(values) sd(values) / sqrt(length(values))
  say("best R-squared after %d iterations, means (standard errors): in R %.4f (%.4f), poss() %.4f",
      iterations, mean(found), se(found), mean(same))
  say("(%.4f)", se(same))
}

measure_threads <- function(large) {
  seconds <- with_terms(large, TRUE, interleaved(list(
    one = function() search_of(large, 4), two = function() search_of(large, 4, threads = 2)
  ), times, elapsed))
  say("four searches at n = %d, elapsed: one thread %.2f s, two threads %.2f s: %.2f times faster",
      n, seconds["one"], seconds["two"], seconds["one"] / seconds["two"])
}

# Five seeds on each half split: does the search find the proven optimum?
measure_restarts <- function() {
  seeds <- 5
  done <- lapply(seq_len(splits), function(i) {
    problem <- half("sonar", i)
    proof <- NULL
    seconds <- cpu(function() proof <<- best_subset(problem, k = k, progress = FALSE))
    stopifnot(proof$proof$gap == 0)
    best <- proof$proof$r_squared[k]
    bound <- paper_bound(problem)
    found <- vapply(seq_len(seeds), function(seed) {
      set.seed(1000 * i + seed)
      short <- search_of(problem, 10)
      first <- short$archive[short$archive$search == 1 & short$archive$size <= k, ]
      c(max(first$criterion), best_of(short), best_of(search_of(problem, 1, 10 * bound)))
    }, numeric(3))
    list(gap = found - best, best = best, seconds = seconds, nodes = sum(proof$proof$nodes))
  })
  gap <- simplify2array(lapply(done, `[[`, "gap"))
  best <- mean(vapply(done, `[[`, 0, "best"))
  seconds <- vapply(done, `[[`, 0, "seconds")
  say("")
  say("short searches against a long one: %d half splits of sonar, k = 8, %d seeds, T = 2 e k^2 n",
      splits, seeds)
  say("%-52s %10s %10s", "", "optimal", "mean R2")
  what <- c("one search of T", "best of 10 searches of T (the default)", "one search of 10 T")
  share <- 100 * apply(gap > -1e-9, 1, mean)
  for (j in 1:3) say("%-52s %9.0f%% %10.5f", what[j], share[j], best + mean(gap[j, , ]))
  say("%-52s %9.0f%% %10.5f", "best_subset(), proven", 100, best)
  say("")
  say("best_subset() on these splits, sizes 1 to 8, all proven: CPU seconds median %.2f, largest",
      median(seconds))
  say("%.2f (goal 20); sets branched from: median %.0f", max(seconds),
      median(vapply(done, `[[`, 0, "nodes")))
}

leaps_of <- function(problem) {
  x <- unname(as.matrix(problem$x)[, problem$usable])
  summary(leaps::regsubsets(x, problem$y[, 1], nvmax = k, method = "exhaustive",
                            really.big = TRUE))$rsq
}

measure_leaps <- function() {
  if (given$leaps == "0" || !requireNamespace("leaps", quietly = TRUE)) {
    say("leaps::regsubsets: not run (leaps=0, or the package is not installed)")
    return(invisible())
  }
  say("")
  say("all sizes to 8, CPU seconds: medians over half splits; for ionosphere of 20 calls;")
  say("the goal is a ratio of 5. best_subset() also makes the figures of its path")
  say("%-12s %7s %12s %12s %12s %8s %14s %12s", "", "splits", "the search", "best_subset",
      "regsubsets", "ratio", "of the search", "R2 agree to")
  for (name in c("ionosphere", "sonar")) {
    seeds <- seq_len(if (name == "sonar") 1 else 10)
    again <- if (name == "sonar") 1 else 20
    measured <- vapply(seeds, function(seed) {
      problem <- half(name, seed)
      ours <- theirs <- NULL
      control <- inside$subset_control(problem, k, 0)
      control[c("nodes", "progress")] <- list(Inf, FALSE)
      seconds <- c(
        cpu(function() for (i in seq_len(again)) inside$best_search(problem, control)),
        cpu(function() for (i in seq_len(again)) ours <<- best_subset(problem, k = k)),
        cpu(function() for (i in seq_len(again)) theirs <<- leaps_of(problem))
      ) / again
      c(seconds, max(abs(ours$proof$r_squared - theirs)))
    }, numeric(4))
    middle <- apply(measured, 1, median)
    say("%-12s %7d %12.4f %12.4f %12.4f %8.1f %14.1f %12.1e", name, length(seeds), middle[1],
        middle[2], middle[3], median(measured[3, ] / measured[2, ]),
        median(measured[3, ] / measured[1, ]), max(measured[4, ]))
  }
}

# Both take k steps of O(mn); the cost of a step is measured from 10 to 50 steps. The time of
# forward_regression() for the leave-one-out errors of its path is shown separately; for
# greedy_rls() they are the criterion.
measure_forward <- function() {
  rows <- 5000
  columns <- 1000
  set.seed(2)
  problem <- as_problem(matrix(rnorm(rows * columns), rows), rnorm(rows))
  path <- inside$subset_path
  sizes <- c(few = 10, many = 50)
  forward <- function(size) function() forward_regression(problem, k = size)
  put <- function(f) utils::assignInNamespace("subset_path", f, "sparsels")
  first_step <- function(problem, control, sets, steps, size, ...) {
    path(problem, control, sets[1:2], steps[1:2, ], 1L)
  }
  bare <- function(size) {
    function() {
      put(first_step)
      on.exit(put(path))
      forward_regression(problem, k = size)
    }
  }
  greedy <- function(size) {
    function() greedy_rls(problem, k = size, lambda = 1, size = "criterion", progress = FALSE)
  }
  calls <- c(lapply(sizes, forward), lapply(sizes, bare), lapply(sizes, greedy))
  seconds <- matrix(interleaved(calls, 2 * times - 1, cpu), 2)
  step <- 1000 * (seconds[2, ] - seconds[1, ]) / 40
  say("")
  say("a step at m = %d, n = %d, CPU milliseconds: (k = 50 less k = 10) / 40; medians of %d", rows,
      columns, 2 * times - 1)
  say("%-52s %10.2f", "greedy_rls(), leave-one-out", step[3])
  say("%-52s %10.2f   %.2f times greedy_rls (goal: 1.5 or less)", "forward_regression(), selection",
      step[2], step[2] / step[3])
  say("%-52s %10.2f   %.2f times greedy_rls", "forward_regression(), with the path's figures",
      step[1], step[1] / step[3])
}

say("%s", machine_line())
before <- load_average()
say("")
small <- half("sonar", 1)
set.seed(1)
large <- correlated(m, n)
rates <- measure_rates(small, large)
measure_plain(small, rates["small"])
measure_threads(large)
measure_forward()
measure_restarts()
measure_leaps()
say("")
say("load average at start and end: %s and %s (this script makes 1, for a moment 2; where it is",
    before, load_average())
say("higher, something else was running, which spoils the line of two threads first)")

writeLines(lines, file.path(given$out, "subset.txt"))
