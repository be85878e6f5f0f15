# Speed of l1_path(): against glmnet at its own tolerance and at equal duality gaps, by screen and
# by threads; the hinge loss against a linear programme solved by GLPK; an interior-point method
# with and without safe elimination.
#
#   Rscript bench/l1.R [lasso screens logistic hinge ipm threads tolerance] [times=5] [size=1]
#                      [data=DIR] [out=bench/results]
#
# The part "tolerance" is how the default of l1_path() was chosen, on sets in DIR, a file NAME.rds
# for each with a list of X and y: colon_alon (R package plsgenomics), golub and prostate_singh
# (datamicroarray, sda), mushrooms, a9a and german_numer (UCI, as LIBSVM codes them), gisette
# (ASP-Newton), and texts as counts of words: Reuters 21578, 20 newsgroups, farm ads (UCI). Half of
# them choose, the others confirm; without DIR it is left out, and so are the headlines of the part
# "lasso" (as counts of words, from the R package rwig).
#
# About 12 CPU minutes with the defaults; size=0.1 uses a tenth of the columns. Rows of glmnet and
# Rglpk are missing if these are not installed. Times are CPU seconds of whole calls, except those
# of two threads, which are elapsed; calls compared are run in turn, and medians are reported. All
# gaps are computed from the coefficients by one function of this package.
#
# Sources: R/l1-*.R src/l1* src/gram* src/simd*

library(sparsels)
library(Matrix)
source("bench/common.R")

line <- command_line(list(times = "5", size = "1", data = "", out = "bench/results"))
given <- line$options
times <- as.integer(given$times)
size <- as.numeric(given$size)
parts <- c("lasso", "screens", "logistic", "hinge", "ipm", "threads", "tolerance")
if (!all(line$words %in% parts)) stop("the parts are ", paste(parts, collapse = ", "))
if (length(line$words)) parts <- intersect(parts, line$words)
inside <- asNamespace("sparsels")
has_glmnet <- requireNamespace("glmnet", quietly = TRUE)
has_glpk <- requireNamespace("Rglpk", quietly = TRUE)

# Data --------------------------------------------------------------------------------------------

some <- function(n) max(50L, as.integer(round(size * n)))

# Independent columns, or with `factors` columns with common factors
wide <- function(m, n, factors = 0) {
  x <- matrix(rnorm(m * n), m)
  if (factors) x <- x + matrix(rnorm(m * factors), m) %*% matrix(rnorm(factors * n), factors)
  x
}

# Neighbouring columns have the correlation `rho`.
chain <- function(m, n, rho = 0.7) {
  x <- matrix(rnorm(m * n), m)
  for (j in seq_len(n)[-1]) x[, j] <- rho * x[, j - 1] + sqrt(1 - rho^2) * x[, j]
  x
}

scores <- function(x, used) drop(as.matrix(x[, seq_len(used)] %*% rnorm(used)))

classes <- function(score) factor(runif(length(score)) < plogis(score), labels = c("no", "yes"))

# x, y, the smallest lambda divided by the largest, and the target: how many times as fast as
# glmnet, and `at` which tolerance of glmnet
made <- function(label, x, y, ratio, goal, at = "glmnet's default tolerance") {
  list(label = sprintf("%s %d x %d", label, nrow(x), ncol(x)), x = x, y = y, ratio = ratio,
       goal = goal, at = at, loss = if (is.factor(y)) "logistic" else "squared")
}

problems <- list(
  iid = function() {
    x <- wide(200, some(20000))
    made("dense, independent", x, scores(x, 10) + rnorm(200), 0.05, 3)
  },
  factor = function() {
    x <- wide(200, some(20000), factors = 20)
    made("dense, 20 factors", x, scores(x, 10) + rnorm(200), 0.05, 3)
  },
  tall = function() {
    x <- chain(2000, some(500))
    made("tall, AR(0.7)", x, scores(x, 50) + 3 * rnorm(2000), 0.001, 1)
  },
  sparse = function() {
    x <- rsparsematrix(5000, some(20000), 0.005)
    made("sparse, little noise", x, scores(x, 50) + 0.1 * rnorm(5000), 0.02, 1)
  },
  noisy = function() {
    x <- rsparsematrix(5000, some(20000), 0.005)
    made("sparse, much noise", x, scores(x, 50) + 0.5 * rnorm(5000), 0.02, 1)
  }
)

# The year of headlines by the words in them, of which nearly all have a coefficient at the end
headlines_file <- file.path(given$data, "text_nyt_headlines18k.rds")
headlines <- function() {
  set <- readRDS(headlines_file)
  made("headlines", set$X, set$y, 1e-4, 1, "an equal gap")
}

class_problems <- list(
  iid = function() {
    x <- wide(200, some(20000))
    made("dense, independent", x, classes(scores(x, 10)), 0.1, 2.5)
  },
  tall = function() {
    x <- chain(2000, some(500))
    made("tall, AR(0.7)", x, classes(scores(x, 50) / 2), 0.01, 1, "an equal gap")
  },
  sparse = function() {
    x <- rsparsematrix(5000, some(20000), 0.005)
    made("sparse", x, classes(3 * scores(x, 50)), 0.05, 1, "an equal gap")
  }
)

draw_problem <- function(make) {
  set.seed(1)
  make()
}

# Measure -----------------------------------------------------------------------------------------

cpu <- function(call) {
  gc()
  sum(system.time(call(), gcFirst = FALSE)[c("user.self", "sys.self")])
}

ours <- function(data, x = data$x, y = data$y, ...) {
  l1_path(x, y, loss = data$loss, lambda_min_ratio = data$ratio, progress = FALSE, ...)
}

prepared <- function(data) as_problem(data$x, data$y, standardize = FALSE)

theirs <- function(data, lambda, thresh = 1e-7, ...) {
  family <- if (data$loss == "squared") "gaussian" else "binomial"
  glmnet::glmnet(data$x, data$y, family = family, lambda = lambda / nrow(data$x), thresh = thresh,
                 standardize = FALSE, maxit = 1e7, ...)
}

# The largest gap of a path of models, by the objective of the null model; the products for all
# lambdas are computed at once.
largest_gap <- function(problem, loss, lambda, models) {
  points <- lapply(models, function(model) {
    inside$model_point(problem, loss, model$features, model$beta)
  })
  r <- vapply(points, `[[`, numeric(nrow(problem)), "r")
  most <- apply(abs(as.matrix(crossprod(problem$x, r)) - outer(problem$columns$centre, colSums(r))),
                2, max)
  gap <- vapply(seq_along(points), function(i) {
    points[[i]]$loss + lambda[i] * points[[i]]$l1 -
      inside$dual_value(problem, loss, r[, i], most[i], lambda[i])
  }, 0)
  max(gap) / inside$model_point(problem, loss, integer(), numeric())$loss
}

our_gap <- function(problem, fit) {
  largest_gap(problem, fit$loss, fit$path$lambda, fit$solutions)
}

their_gap <- function(problem, loss, lambda, fit) {
  if (length(fit$lambda) < length(lambda)) return(NA)
  models <- lapply(seq_along(lambda), function(i) {
    used <- which(fit$beta[, i] != 0)
    list(features = used, beta = fit$beta[used, i] * problem$columns$scale[used])
  })
  largest_gap(problem, loss, lambda, models)
}

# Beside glmnet -----------------------------------------------------------------------------------

# A row for every tolerance of glmnet: its time and gap, those of l1_path() at its default
# tolerance, and those of l1_path() when it stops at the gap that glmnet reached.
measure_paths <- function(data) {
  problem <- prepared(data)
  fit <- ours(data, problem, NULL)
  lambda <- fit$path$lambda
  exact <- ours(data, problem, NULL, tolerance = 1e-8)
  calls <- list(whole = function() ours(data, standardize = FALSE),
                prepared = function() ours(data, problem, NULL),
                exact = function() ours(data, standardize = FALSE, tolerance = 1e-8))
  ways <- list()
  if (has_glmnet) {
    for (thresh in c(1e-7, 1e-9, 1e-11, 1e-13)) {
      ways[[sprintf("glmnet, thresh %.0e", thresh)]] <- list(thresh = thresh)
    }
    # the type that its help recommends for few columns
    if (data$loss == "squared" && is.matrix(data$x) && nrow(data$x) > ncol(data$x)) {
      ways[["glmnet, 1e-07, \"covariance\""]] <- list(type.gaussian = "covariance")
    }
  }
  gaps <- lapply(ways, function(way) {
    their_gap(problem, data$loss, lambda, do.call(theirs, c(list(data, lambda), way)))
  })
  for (name in names(ways)) local({
    way <- ways[[name]]
    gap <- gaps[[name]]
    calls[[name]] <<- function() do.call(theirs, c(list(data, lambda), way))
    calls[[paste("equal", name)]] <<- function() {
      if (!is.na(gap)) ours(data, standardize = FALSE, tolerance = max(gap, 1e-14))
    }
  })
  seconds <- interleaved(calls, times, cpu)
  show_paths(data, problem, list(fit, exact), ways, gaps, seconds)
}

show_paths <- function(data, problem, fits, ways, gaps, seconds) {
  path <- fits[[1]]$path
  heading("%s, %d lambdas to %.2g of lambda_max: %d columns at the end", data$label, nrow(path),
          min(path$lambda) / max(path$lambda), path$size[nrow(path)])
  say("  %-28s %9s %9s %14s %14s %8s", "", "seconds", "gap", "times l1_path", "equal gap: l1_path",
      "times")
  say("  %-28s %9.3f %9.0e", "l1_path(x, y)", seconds["whole"], our_gap(problem, fits[[1]]))
  say("  %-28s %9.3f", "l1_path(as_problem(x, y))", seconds["prepared"])
  say("  %-28s %9.3f %9.0e", "l1_path(tolerance = 1e-8)", seconds["exact"],
      our_gap(problem, fits[[2]]))
  for (name in names(ways)) {
    equal <- seconds[paste("equal", name)]
    say("  %-28s %9.3f %9.0e %14.2f %18.3f %8.2f", name, seconds[name], gaps[[name]],
        seconds[name] / seconds["whole"], equal, seconds[name] / equal)
  }
  if (!length(ways)) return(invisible())
  say("  goal: %g or more at %s", data$goal, data$at)
}

measure_against_glmnet <- function(problems, title) {
  heading("%s, an intercept, standardize = FALSE, one thread; medians of %d", title,
          times)
  say("\"gap\": the largest of the path, relative to the null objective. \"equal gap\":")
  say("l1_path() with that gap as its tolerance. \"times\": glmnet's seconds by l1_path()'s.")
  if (!has_glmnet) say("glmnet is not installed: its rows are missing")
  for (make in problems) measure_paths(draw_problem(make))
}

# Screens -----------------------------------------------------------------------------------------

measure_screens <- function() {
  heading("screens, as_problem() made beforehand. \"products\": columns multiplied with a residual")
  say("and \"kept\": columns left by the test, both as shares of all, means over the lambdas;")
  say("medians of %d, for logistic one run", times)
  say("  %-40s %-6s %8s %9s %9s %9s", "", "screen", "seconds", "products", "kept", "gap")
  for (make in problems) show_screens(draw_problem(make), times)
  data <- draw_problem(class_problems$iid)
  data$label <- paste("logistic,", data$label)
  show_screens(data, 1)
}

show_screens <- function(data, times) {
  problem <- prepared(data)
  screens <- c("lazy", "gap", "safe2", "safe1", "none")
  fits <- list()
  calls <- lapply(screens, function(screen) {
    function() fits[[screen]] <<- ours(data, problem, NULL, screen = screen)
  })
  seconds <- interleaved(calls, times, cpu)
  for (i in seq_along(screens)) {
    path <- fits[[i]]$path
    say("  %-40s %-6s %8.3f %9.3f %9.3f %9.0e", if (i == 1) data$label else "", screens[i],
        seconds[i], mean(path$products) / ncol(data$x), mean(path$columns_kept) / ncol(data$x),
        max(path$gap) / fits[[i]]$null_objective)
  }
}

# Hinge -------------------------------------------------------------------------------------------

# min sum xi + lambda sum(up + down)  with  y (X (up - down) + v) + xi >= 1; v free, the rest >= 0.
# NULL if there is no solution within 20 seconds.
hinge_programme <- function(x, sign, lambda) {
  m <- nrow(x)
  n <- ncol(x)
  folded <- sign * x
  left <- slam::as.simple_triplet_matrix(cbind(folded, -folded, sign, diag(m)))
  answer <- Rglpk::Rglpk_solve_LP(
    c(rep(lambda, 2 * n), 0, rep(1, m)), left, rep(">=", m), rep(1, m),
    bounds = list(lower = list(ind = 2L * n + 1L, val = -Inf)), control = list(tm_limit = 20000)
  )
  if (answer$status == 0) answer$optimum
}

measure_hinge <- function() {
  heading("hinge loss, an intercept, one thread; medians of %d. GLPK solves the whole", times)
  say("linear programme once, for 20 seconds at most")
  say("  %-44s %9s %9s %9s %12s", "", "l1_path", "GLPK", "times", "objectives")
  if (!has_glpk) say("  Rglpk is not installed: its figures are missing")
  for (shape in list(c(100, 4000), c(300, 2000))) {
    set.seed(2)
    x <- wide(shape[1], some(shape[2]))
    y <- classes(2 * scores(x, 5))
    problem <- as_problem(x, y, standardize = FALSE)
    path <- NULL
    seconds <- interleaved(list(function() {
      path <<- l1_path(problem, loss = "hinge", nlambda = 50, lambda_min_ratio = 0.1)
    }), times, cpu)
    say("  %-44s %9.3f   %d columns at the end, gap %.0e",
        sprintf("%d x %d, 50 lambdas to 0.1 of lambda_max", nrow(x), ncol(x)), seconds,
        path$path$size[nrow(path$path)], max(path$path$gap) / path$null_objective)
    for (share in c(0.7, 0.5, 0.3, 0.15)) {
      measure_programme(problem, share, share * path$lambda_max)
    }
  }
}

# l1_path() gets the same input as GLPK: neither a path nor lambda_max, which it computes.
measure_programme <- function(problem, share, lambda) {
  fit <- optimum <- NULL
  own <- interleaved(list(function() fit <<- l1_path(problem, loss = "hinge", lambda = lambda)),
                     times, cpu)
  label <- sprintf("  one lambda, %g of lambda_max", share)
  if (!has_glpk) return(say("  %-44s %9.3f", label, own))
  glpk <- cpu(function() optimum <<- hinge_programme(problem$x, problem$rows$y[, 1], lambda))
  if (is.null(optimum)) return(say("  %-44s %9.3f %9s", label, own, "> 20"))
  say("  %-44s %9.3f %9.2f %9.0f %12s", label, own, glpk, glpk / own,
      sprintf("agree to %.0e", abs(fit$path$objective / optimum - 1)))
}

# An interior-point method with and without SAFE ---------------------------------------------------

# Occurrence (0 or 1) of words in documents, with frequencies by Zipf's law that differ between 20
# subjects. The response is the occurrence of a frequent word. El Ghaoui and others, Section 7.
text <- function(m, n) {
  subject <- sample.int(20, m, replace = TRUE)
  frequency <- 1 / (2 + seq_len(n + 1) / 2)
  chance <- vapply(frequency, function(one) pmin(one * rexp(20)^2, 0.9), numeric(20))
  x <- matrix(runif(m * (n + 1)) < chance[subject, ], m) + 0
  list(x = as(x[, -10], "CsparseMatrix"), y = x[, 10])
}

measure_interior <- function() {
  heading("solver = \"ipm\" alone and with SAFE (safe1), the time of the test counted; one run")
  shares <- c(0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1)
  set.seed(3)
  dense <- wide(200, some(2000))
  documents <- text(300, some(3000))
  data <- list(
    dense = list(x = dense, y = scores(dense, 5) + rnorm(200)),
    text = documents
  )
  for (name in names(data)) for (loss in c("squared", "logistic")) {
    x <- data[[name]]$x
    y <- data[[name]]$y
    if (loss == "logistic") y <- factor(y > mean(y), labels = c("no", "yes"))
    problem <- as_problem(x, y, standardize = FALSE)
    measure_elimination(sprintf("%s %d x %d, %s", name, nrow(x), ncol(x), loss), problem, loss,
                        shares)
  }
}

measure_elimination <- function(label, problem, loss, shares) {
  most <- lambda_max(problem, loss = loss)
  one <- function(share, screen) {
    fit <- NULL
    seconds <- cpu(function() {
      fit <<- l1_path(problem, loss = loss, lambda = share * most, solver = "ipm", screen = screen)
    })
    c(seconds, 1 - fit$path$columns_kept / sum(problem$columns$usable))
  }
  alone <- vapply(shares, one, c(0, 0), screen = "none")
  safe <- vapply(shares, one, c(0, 0), screen = "safe1")
  row <- function(name, format, values) {
    say("  %-28s %s", name, paste(sprintf(format, values), collapse = " "))
  }
  say("  %s", label)
  row("lambda / lambda_max", "%7.1f", shares)
  row("removed, %", "%7.1f", 100 * safe[2, ])
  row("alone, seconds", "%7.2f", alone[1, ])
  row("with SAFE, seconds", "%7.2f", safe[1, ])
  row("time saved, %", "%7.0f", 100 * (1 - safe[1, ] / alone[1, ]))
  measure_sequence(problem, loss, most)
}

# Along a path, where a test can use earlier solutions
measure_sequence <- function(problem, loss, most) {
  lambda <- most * exp(seq(log(0.9), log(0.1), length.out = 10))
  for (screen in c("none", "safe2", "gap")) {
    fit <- NULL
    seconds <- cpu(function() {
      fit <<- l1_path(problem, loss = loss, lambda = lambda, solver = "ipm", screen = screen)
    })
    say("  %-28s %7.2f s, removed on average %5.1f %%",
        sprintf("10 lambdas, 0.9 to 0.1: %s", screen), seconds,
        100 * (1 - mean(fit$path$columns_kept) / sum(problem$columns$usable)))
  }
}

# Threads -----------------------------------------------------------------------------------------

# Elapsed seconds of a call, repeated for a fifth of a second: the first call of two threads waits
# for one that sleeps.
elapsed_spell <- function(call) {
  gc()
  from <- Sys.time()
  for (count in 1:1000) {
    call()
    seconds <- as.double(difftime(Sys.time(), from, units = "secs"))
    if (seconds > 0.2) break
  }
  seconds / count
}

# so wide that x takes most of the time
wider <- list(
  squared = function() {
    x <- wide(200, some(100000))
    made("dense, independent", x, scores(x, 10) + rnorm(200), 0.05, 1.5)
  },
  logistic = function() {
    x <- wide(200, some(100000))
    made("dense, independent", x, classes(scores(x, 10)), 0.1, 1.5)
  }
)

measure_threads <- function() {
  heading("two threads against one: elapsed seconds, as_problem() made beforehand; medians of %d",
          times)
  for (make in list(problems$iid, wider$squared, problems$noisy, class_problems$iid, wider$logistic,
                    class_problems$sparse)) {
    data <- draw_problem(make)
    problem <- prepared(data)
    for (screen in c("lazy", "none")) {
      fits <- list()
      call <- function(threads) {
        function() {
          fits[[threads]] <<- ours(data, problem, NULL, screen = screen, threads = threads)
        }
      }
      seconds <- interleaved(list(call(1), call(2)), times, elapsed_spell)
      same <- identical(fits[[1]]$solutions, fits[[2]]$solutions)
      say("  %-36s %-9s %-5s %7.3f %7.3f: %5.2f times faster, %s", data$label, data$loss, screen,
          seconds[1], seconds[2], seconds[1] / seconds[2],
          if (same) "identical" else "NOT IDENTICAL")
    }
  }
}

# The default tolerance ---------------------------------------------------------------------------

tolerances <- c(1e-3, 3e-4, 1e-4, 1e-5)

# Two classes of a set of the data directory: `class` against the rest where there are more; of at
# most `rows` rows.
two_classes <- function(name, rows = Inf, class = NULL) {
  set <- readRDS(file.path(given$data, paste0(name, ".rds")))
  set.seed(1)
  rows <- if (length(set$y) > rows) sort(sample(length(set$y), rows)) else seq_along(set$y)
  y <- if (is.null(class)) set$y else set$y == class
  x <- set$X[rows, ]
  list(name = name, x = if (is.integer(x)) x + 0 else x, y = factor(y[rows]))
}

tolerance_sets <- list(
  choose = list(list("golub"), list("colon_alon"), list("mushrooms", 3000), list("a9a", 4000),
                list("text_reuters21578", 4000, 2)),
  confirm = list(list("prostate_singh"), list("german_numer"), list("gisette_6000x1000", 2500),
                 list("farm_ads", 2500), list("text_20newsgroups", 4000, 1))
)

# Held-out loss at the best lambda of five folds, the columns there and CPU seconds, beside those of
# tolerance 1e-8; and of cv.glmnet() in the same folds.
measure_tolerance <- function() {
  heading("the default tolerance: by how much the least held-out loss of five folds is above that")
  say("at tolerance 1e-8, in percent and (in standard errors of the loss); CPU seconds")
  if (!dir.exists(given$data)) return(say("  no data=DIR: left out"))
  for (list in names(tolerance_sets)) {
    say("%s", list)
    columns <- c("1e-8", sprintf("%g", tolerances), if (has_glmnet) "cv.glmnet")
    say("  %-28s %s", "", paste(sprintf("%26s", columns), collapse = ""))
    for (set in tolerance_sets[[list]]) for (loss in c("squared", "logistic")) {
      show_tolerance(do.call(two_classes, set), loss)
    }
  }
}

show_tolerance <- function(data, loss) {
  set.seed(2)
  folds <- sample(rep_len(1:5, length(data$y)))
  y <- if (loss == "squared") as.integer(data$y) * 2 - 3 else data$y
  results <- lapply(c(1e-8, tolerances), function(tolerance) {
    fit <- NULL
    seconds <- cpu(function() {
      fit <<- suppressMessages(l1_path(data$x, y, loss = loss, tolerance = tolerance,
                                       folds = folds, progress = FALSE))
    })
    best <- which.min(fit$path$criterion)
    c(loss = fit$path$criterion[best], se = fit$path$se[best], seconds = seconds)
  })
  if (has_glmnet) {
    fit <- NULL
    seconds <- cpu(function() {
      fit <<- glmnet::cv.glmnet(data$x, y, foldid = folds,
                                family = if (loss == "squared") "gaussian" else "binomial",
                                type.measure = if (loss == "squared") "mse" else "deviance")
    })
    deviance <- if (loss == "squared") 1 else 2 # times the logistic loss
    results <- c(results, list(c(loss = min(fit$cvm) / deviance, se = NA, seconds = seconds)))
  }
  exact <- results[[1]]
  entries <- vapply(results, function(one) {
    sprintf("%+.3f (%+.3f) %5.2f", 100 * (one["loss"] / exact["loss"] - 1),
            (one["loss"] - exact["loss"]) / exact["se"], one["seconds"])
  }, "")
  say("  %-28s %s", paste(data$name, loss), paste(sprintf("%26s", entries), collapse = ""))
}

# Run ---------------------------------------------------------------------------------------------

say("%s", machine_line())
for (package in c("glmnet", "Rglpk")) {
  if (requireNamespace(package, quietly = TRUE)) {
    say("%s %s", package, utils::packageVersion(package))
  }
}
before <- load_average()
used <- proc.time()
run <- list(
  lasso = function() {
    measure_against_glmnet(c(problems, if (file.exists(headlines_file)) headlines), "lasso")
  },
  screens = measure_screens,
  logistic = function() measure_against_glmnet(class_problems, "logistic regression"),
  hinge = measure_hinge,
  ipm = measure_interior,
  threads = measure_threads,
  tolerance = measure_tolerance
)
for (part in parts) run[[part]]()
heading("load average at start and end: %s and %s (this script makes 1, at the end 2); all of it",
        before, load_average())
say("took %.0f CPU seconds", sum((proc.time() - used)[1:2]))

writeLines(lines, file.path(given$out, "l1.txt"))
