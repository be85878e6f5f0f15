# Speed of subset selection: iterations of poss() per second against Algorithm 2 of the paper in
# plain R, ten short searches against a long one, forward_regression() against greedy_rls(), and
# best_subset() against leaps::regsubsets(); and, part `peers`, R-squared at equal size and time of
# poss(), best_subset() and sequential_replacement() beside L0Learn and abess.
#
#   Rscript bench/subset.R DIR [speed restarts peers] [n=5000] [m=1000] [splits=30] [times=3]
#                              [leaps=1] [out=bench/results]
#
# DIR holds data sets as .rds files, sonar.rds and ionosphere.rds among them (bench/README.md says
# what is in them and where to get them); `peers` takes those of its list that are there. About 8
# minutes with the defaults, of which leaps takes two; leaps=0 skips it. One part alone is a quick
# look (out=/tmp keeps it apart). Rates of one thread are by CPU time, those of two threads by
# elapsed time; calls compared are run in turn, and medians are reported. L0Learn and abess are on
# CRAN; what is not installed is left out.
#
# Sources: R/search-best.R R/search-poss.R R/search-stepwise.R R/search-exchange.R src/subset*

library(sparsels)
source("bench/common.R")

line <- command_line(list(n = "5000", m = "1000", splits = "30", times = "3", leaps = "1",
                          out = "bench/results"))
given <- line$options
parts <- c("speed", "restarts", "peers")
directory <- setdiff(line$words, parts)
wanted <- if (any(line$words %in% parts)) intersect(line$words, parts) else parts
if (length(directory) != 1) stop("usage: Rscript bench/subset.R DIR [speed restarts peers] ...")
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

paper_bound <- function(problem) floor(2 * exp(1) * k^2 * sum(problem$columns$usable))

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
       mutation = "flip", progress = FALSE)
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

# Speed -------------------------------------------------------------------------------------------

measure_rates <- function(small, large) {
  say("poss(), k = 8, flips, one thread: iterations per CPU second, over searches of 2 e k^2 n")
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
      c(max(first$criterion), best_of(short), best_of(search_of(problem, 1, 10 * bound)),
        best_of(poss(problem, k = k, progress = FALSE)))
    }, numeric(4))
    list(gap = found - best, best = best, seconds = seconds, nodes = sum(proof$proof$nodes))
  })
  gap <- simplify2array(lapply(done, `[[`, "gap"))
  best <- mean(vapply(done, `[[`, 0, "best"))
  seconds <- vapply(done, `[[`, 0, "seconds")
  say("")
  say("short searches against a long one: %d half splits of sonar, k = 8, %d seeds, T = 2 e k^2 n",
      splits, seeds)
  say("%-52s %10s %10s", "", "optimal", "mean R2")
  what <- c("one search of T flips", "best of 10 searches of T flips", "one search of 10 T flips",
            "best of 10 searches of 240 exchanges (the default)")
  share <- 100 * apply(gap > -1e-9, 1, mean)
  for (j in 1:4) say("%-52s %9.0f%% %10.5f", what[j], share[j], best + mean(gap[j, , ]))
  say("%-52s %9.0f%% %10.5f", "best_subset(), proven", 100, best)
  say("")
  say("best_subset() on these splits, sizes 1 to 8, all proven: CPU seconds median %.2f, largest",
      median(seconds))
  say("%.2f (goal 20); sets branched from: median %.0f", max(seconds),
      median(vapply(done, `[[`, 0, "nodes")))
}

leaps_of <- function(problem) {
  x <- unname(as.matrix(problem$x)[, problem$columns$usable])
  summary(leaps::regsubsets(x, problem$rows$y[, 1], nvmax = k, method = "exhaustive",
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
        cpu(function() for (i in seq_len(again)) inside$best_path(problem, control)),
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
  first_step <- function(problem, control, sets, size, ...) path(problem, control, sets[1:2], 1L)
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

# Peers -------------------------------------------------------------------------------------------

peer_sets <- c("housing", "svmguide3", "ionosphere", "sonar", "diabetes_lars", "yeast_cellcycle",
               "colon_alon", "khan_srbct", "riboflavin", "breast_vdv", "prostate_singh", "golub")
peer_k <- 10L

# Standardised columns, classes as numbers; the first of several responses.
standardised <- function(name) {
  set <- readRDS(file.path(directory, paste0(name, ".rds")))
  y <- if (is.matrix(set$y)) set$y[, 1] else set$y
  if (!is.numeric(y)) y <- as.integer(factor(y))
  x <- unname(as.matrix(set$X)) + 0
  there <- which(!is.na(y))
  x <- x[there, apply(x[there, ], 2, sd) > 0]
  list(x = scale(x), y = drop(scale(as.double(y[there]))))
}

sets_of <- function(fit) lapply(fit$coefficients[-1], `[[`, "features")

# Each method's sets of columns of sizes up to peer_k, by its defaults.
peer_methods <- list(
  poss = function(x, y) sets_of(poss(x, y, k = peer_k, progress = FALSE)),
  replacement = function(x, y) sets_of(sequential_replacement(x, y, k = peer_k)),
  forward = function(x, y) sets_of(forward_regression(x, y, k = peer_k)),
  best_subset = function(x, y) {
    if (ncol(x) > 668) return(NULL)
    sets_of(suppressWarnings(best_subset(x, y, k = peer_k, progress = FALSE)))
  },
  L0Learn = if (requireNamespace("L0Learn", quietly = TRUE)) {
    function(x, y) {
      fit <- L0Learn::L0Learn.fit(x, y, penalty = "L0", algorithm = "CDPSI", maxSuppSize = peer_k)
      beta <- as.matrix(fit$beta[[1]])
      lapply(seq_len(ncol(beta)), function(j) which(beta[, j] != 0))
    }
  },
  abess = if (requireNamespace("abess", quietly = TRUE)) {
    function(x, y) {
      fit <- abess::abess(x, y, support.size = seq_len(peer_k), num.threads = 1)
      beta <- as.matrix(fit$beta)
      lapply(seq_len(ncol(beta)), function(j) which(beta[, j] != 0))
    }
  }
)

# The largest R-squared of the sets of each size, by least squares; NA where there is none.
refitted <- function(sets, data) {
  gain <- vapply(sets, function(set) {
    if (!length(set)) return(0)
    1 - sum(lm.fit(data$x[, set, drop = FALSE], data$y)$residuals^2) / sum(data$y^2)
  }, 0)
  vapply(seq_len(peer_k), function(size) max(c(NA, gain[lengths(sets) == size]), na.rm = TRUE), 0)
}

measure_peers <- function() {
  methods <- Filter(Negate(is.null), peer_methods)
  names <- peer_sets[file.exists(file.path(directory, paste0(peer_sets, ".rds")))]
  measured <- lapply(names, function(name) {
    data <- standardised(name)
    set.seed(4)
    done <- lapply(methods, function(method) {
      used <- system.time(sets <- method(data$x, data$y))
      list(gain = suppressWarnings(refitted(sets, data)), seconds = sum(used[1:2]))
    })
    gain <- vapply(done, `[[`, numeric(peer_k), "gain")
    gain[!is.finite(gain)] <- NA
    list(size = dim(data$x), gain = gain, seconds = vapply(done, `[[`, 0, "seconds"))
  })
  say("")
  say("sizes 1 to %d of whole standardised data, by the defaults of each method, all sets", peer_k)
  say("refitted by least squares; CPU seconds (best_subset: to 668 columns)")
  size <- t(vapply(measured, `[[`, c(0L, 0L), "size"))
  seconds <- t(vapply(measured, `[[`, numeric(length(methods)), "seconds"))
  seconds[size[, 2] > 668, "best_subset"] <- NA
  say_table(data.frame(data = names, rows = size[, 1], columns = size[, 2], round(seconds, 2)))
  say("")
  say("R-squared of poss() less that of the others at equal size: mean over sizes, least")
  less <- lapply(measured, function(one) one$gain[, "poss"] - one$gain[, -1])
  mean_less <- t(vapply(less, colMeans, numeric(length(methods) - 1), na.rm = TRUE))
  least <- t(vapply(less, function(one) {
    apply(one, 2, function(column) if (all(is.na(column))) NA else min(column, na.rm = TRUE))
  }, numeric(length(methods) - 1)))
  shown <- matrix(sprintf("%.4f, %.4f", mean_less, zapsmall(least)), nrow(least),
                  dimnames = dimnames(least))
  shown[is.na(least)] <- "-"
  say_table(data.frame(data = names, shown))
  say("")
  say("means over sizes: their mean over data sets (standard error); sizes better and worse")
  for (ours in intersect(c("poss", "replacement"), names(methods))) {
    for (method in setdiff(names(methods), c(ours, "poss"))) compare_pair(measured, ours, method)
  }
}

# One line: a method less another at equal size, over the data sets and sizes that both have.
compare_pair <- function(measured, ours, other) {
  less <- lapply(measured, function(one) {
    one <- one$gain[, ours] - one$gain[, other]
    one[!is.na(one)]
  })
  less <- less[lengths(less) > 0]
  values <- vapply(less, mean, 0)
  all <- unlist(less)
  say("%-11s less %-11s %7.4f (%.4f), %d sets; of %d sizes %d better, %d worse, at most by %.4f",
      ours, other, mean(values), sd(values) / sqrt(length(values)), length(values), length(all),
      sum(all > 1e-9), sum(all < -1e-9), max(0, -all))
}

# Run ---------------------------------------------------------------------------------------------

say("%s", machine_line())
before <- load_average()
if ("speed" %in% wanted) {
  stopifnot(file.exists(file.path(directory, c("sonar.rds", "ionosphere.rds"))))
  say("")
  small <- half("sonar", 1)
  set.seed(1)
  large <- correlated(m, n)
  rates <- measure_rates(small, large)
  measure_plain(small, rates["small"])
  measure_threads(large)
  measure_forward()
}
if ("restarts" %in% wanted) measure_restarts()
if ("speed" %in% wanted) measure_leaps()
if ("peers" %in% wanted) measure_peers()
say("")
say("load average at start and end: %s and %s (this script makes 1, for a moment 2; where it is",
    before, load_average())
say("higher, something else was running, which spoils the line of two threads first)")

writeLines(lines, file.path(given$out, "subset.txt"))
