# Are p-values of permutation_test() uniform where nothing is true, do the columns that
# stability_selection() finds stay within its bounds, what do searches for many permuted responses
# in one call save, and how long does judge() take?
#
#   Rscript bench/judging.R [uniform] [false] [speed] [judge] [sets=400] [permutations=99]
#                           [draws=10] [times=3] [out=bench/results]
#
# All data are simulated. `sets` data sets for each line of p-values, `draws` for each of false
# selections. About 10 minutes of CPU with the defaults; without a part named, all are run, and each
# is saved in a file of its own.
#
# Sources: R/judge*.R R/search-greedy.R src/greedy*

library(sparsels)
source("bench/common.R")

line <- command_line(list(sets = "400", permutations = "99", draws = "10", times = "3",
                          out = "bench/results"))
given <- line$options
sets <- as.integer(given$sets)
permutations <- as.integer(given$permutations)
draws <- as.integer(given$draws)
times <- as.integer(given$times)
parts <- if (length(line$words)) line$words else c("uniform", "false", "speed", "judge")
stopifnot(parts %in% c("uniform", "false", "speed", "judge"))

normal <- function(m, n) matrix(rnorm(m * n), m)

# p-values where nothing is true ------------------------------------------------------------------

rows <- 48
columns <- 100

# The p-value of permutation_test() with more arguments.
p_value <- function(x, y, ...) {
  permutation_test(x, y, greedy_rls, k = 5, permutations = permutations, ...,
                   progress = FALSE)$p.value
}

# Samples of patients who differ, in x and in what `response` makes of their number.
patient_data <- function(size) {
  patient <- rep(seq_along(size), size)
  x <- normal(length(size), columns)[patient, ] + normal(length(patient), columns) / 2
  list(x = x, patient = patient)
}

age <- function() rnorm(rows)
batch <- rep(1:6, each = 8)
sizes <- rep(1:5, c(4, 4, 4, 3, 3))

# Data of no effect, and the test of it, for each line of the table.
nulls <- list(
  "rows" = function() p_value(normal(rows, columns), rnorm(rows)),
  "rows, two classes" = function() {
    p_value(normal(rows, columns), factor(sample(rep(1:2, c(12, 36)))))
  },
  "rows, heavy tails" = function() {
    p_value(matrix(rt(rows * columns, 2), rows), rt(rows, 2))
  },
  "rows with weights" = function() {
    w <- rexp(rows) + 0.1
    p_value(normal(rows, columns), rnorm(rows) / sqrt(w), weights = w)
  },
  "covariate, related to x and y" = function() {
    z <- age()
    p_value(normal(rows, columns) + z, 2 * z + rnorm(rows), adjust = z)
  },
  "strata, that differ in x and y" = function() {
    shift <- normal(6, columns + 1)[batch, ]
    p_value(normal(rows, columns) + shift[, -1], rnorm(rows) + 2 * shift[, 1], strata = batch)
  },
  "  not named" = function() {
    shift <- normal(6, columns + 1)[batch, ]
    p_value(normal(rows, columns) + shift[, -1], rnorm(rows) + 2 * shift[, 1])
  },
  "groups of 1 to 5, one response each" = function() {
    data <- patient_data(sizes)
    p_value(data$x, rnorm(length(sizes))[data$patient], groups = data$patient)
  },
  "  not named" = function() {
    data <- patient_data(sizes)
    p_value(data$x, rnorm(length(sizes))[data$patient])
  },
  "  left out whole, too" = function() {
    data <- patient_data(sizes)
    p_value(data$x, rnorm(length(sizes))[data$patient],
            folds = make_folds(data$x, 6, groups = data$patient))
  },
  "groups of 3 or 4, alike in the response" = function() {
    data <- patient_data(rep(3:4, c(8, 6)))
    y <- rnorm(14)[data$patient] + rnorm(length(data$patient))
    p_value(data$x, y, groups = data$patient)
  },
  "  not named" = function() {
    data <- patient_data(rep(3:4, c(8, 6)))
    p_value(data$x, rnorm(14)[data$patient] + rnorm(length(data$patient)))
  },
  "groups in strata, with a covariate" = function() {
    data <- patient_data(rep(3, 16))
    z <- age()
    hospital <- rep(1:2, each = 24)
    y <- rnorm(16)[data$patient] + rnorm(rows) + z + 2 * hospital
    p_value(data$x + 2 * hospital + z, y, adjust = z, groups = data$patient, strata = hospital)
  }
)

measure_uniform <- function() {
  heading("p-values of permutation_test(x, y, greedy_rls, k = 5, permutations = %d) where x and y",
          permutations)
  say("have nothing to do with each other: %d data sets of about %d x %d for each line; shares of",
      sets, rows, columns)
  say("p-values up to .05, .1 and .5, in brackets their standard errors if p-values are uniform;")
  say("KS: p-value of the Kolmogorov-Smirnov test that they are. Lines `not named` ignore the")
  say("strata or groups of the line above")
  say("")
  say("%-42s %13s %13s %13s %9s", "", "<= .05", "<= .1", "<= .5", "KS")
  for (what in seq_along(nulls)) {
    set.seed(what)
    p <- replicate(sets, nulls[[what]]())
    shares <- vapply(c(0.05, 0.1, 0.5), function(level) {
      sprintf("%.3f (%.3f)", mean(p <= level + 1e-9), sqrt(level * (1 - level) / sets))
    }, "")
    # p-values are multiples of 1 / (permutations + 1)
    spread <- p - runif(sets) / (permutations + 1)
    ks <- stats::ks.test(spread, "punif")$p.value
    say("%-42s %13s %13s %13s %9.2g", names(nulls)[what], shares[1], shares[2], shares[3], ks)
  }
}

# False selections --------------------------------------------------------------------------------

samples <- 120
genes <- 600
effects <- c(50, 150, 250, 350, 450)

# Columns in blocks of ten with a correlation of one half.
in_blocks <- function(m, n) {
  common <- normal(m, n / 10)[, rep(seq_len(n / 10), each = 10)]
  (normal(m, n) + common) / sqrt(2)
}

with_effects <- function(x, noise = rnorm(nrow(x))) 0.7 * rowSums(x[, effects]) + noise

# Three samples of each of 40 patients, who differ in x and in y, beside the effects.
of_patients <- function() {
  patient <- rep(1:40, each = 3)
  x <- normal(40, genes)[patient, ] + normal(samples, genes) / 2
  list(x = x, y = with_effects(x, rnorm(40)[patient] + rnorm(samples) / 2), groups = patient)
}

designs <- list(
  "independent" = function() {
    x <- normal(samples, genes)
    list(x = x, y = with_effects(x))
  },
  "blocks of correlation .5" = function() {
    x <- in_blocks(samples, genes)
    list(x = x, y = with_effects(x))
  },
  "no effects" = function() list(x = normal(samples, genes), y = rnorm(samples)),
  "heavy tails" = function() {
    x <- matrix(rt(samples * genes, 3), samples)
    list(x = x, y = with_effects(x, rt(samples, 3)))
  },
  "patients" = of_patients,
  "patients, not named" = function() of_patients()[c("x", "y")]
)

# Counts of stable columns at both thresholds (columns): with an effect, without, and those of the
# latter that are not in a block with an effect either.
count_stable <- function(design, q, effective) {
  data <- designs[[design]]()
  found <- stability_selection(data$x, data$y, greedy_rls, q = q, groups = data$groups,
                               progress = FALSE)
  vapply(thresholds, function(threshold) {
    stable <- which(found$probability >= threshold - 1e-9)
    false <- setdiff(stable, effective)
    c(length(stable) - length(false), length(false),
      sum(!(false - 1) %/% 10 %in% ((effects - 1) %/% 10)))
  }, numeric(3))
}

thresholds <- c(0.6, 0.75)
chosen <- c(10, 24)

measure_false <- function() {
  heading("false selections of stability_selection(x, y, greedy_rls, q = q, threshold = t), 50")
  say("pairs: %d data sets of %d x %d for each line, 5 columns with an effect; means, standard",
      draws, samples, genes)
  say("errors in brackets; apart: false ones that are in no block of ten with an effect; MB:")
  say("bound of Meinshausen and Buhlmann; unimodal, r-conc.: of Shah and Samworth. q = 24 is the")
  say("default at a threshold of .6. Patients: three samples each, alike in x and y")
  say("")
  say("%-26s %3s %5s %6s %14s %7s %8s %8s %8s", "", "q", "t", "true", "false", "apart", "MB",
      "unimodal", "r-conc.")
  for (design in names(designs)) {
    for (q in chosen) {
      set.seed(q)
      effective <- if (design == "no effects") integer() else effects
      counts <- replicate(draws, count_stable(design, q, effective))
      for (t in seq_along(thresholds)) {
        means <- rowMeans(counts[, t, ])
        bounds <- sparsels:::chance_bounds(q, genes, thresholds[t], 50)
        say("%-26s %3d %5.2f %6.2f %14s %7.3f %8.3f %8.3f %8.3f", design, as.integer(q),
            thresholds[t], means[1], sprintf("%.3f (%.3f)", means[2],
                                             sd(counts[2, t, ]) / sqrt(draws)), means[3], bounds[1],
            bounds[2], bounds[3])
      }
    }
  }
}

# Many responses in one call ----------------------------------------------------------------------

# The value of an expression, with one call for each permutation.
one_by_one <- function(expr) {
  put <- function(f) utils::assignInNamespace("is_shared_search", f, "sparsels")
  own <- sparsels:::is_shared_search
  put(function(...) FALSE)
  on.exit(put(own))
  expr
}

measure_speed <- function() {
  count <- 100
  heading("%d permutations of permutation_test(x, y, greedy_rls, k = k): CPU seconds, one call",
          count)
  say("for each and 25 in one call; medians of %d; difference: the largest of the statistics",
      times)
  say("")
  say("%-14s %5s %-12s %10s %10s %7s %12s", "", "k", "folds", "each", "together", "ratio",
      "difference")
  for (size in list(c(62, 2000), c(100, 20000), c(1000, 500))) {
    for (k in c(5, 20)) {
      for (folds in c("loo", "ten")) {
        set.seed(9)
        x <- normal(size[1], size[2])
        y <- x[, 1] + rnorm(size[1])
        by <- if (folds == "ten") make_folds(x, 10) else "loo"
        test <- function() {
          set.seed(1)
          permutation_test(x, y, greedy_rls, k = k, folds = by, groups = FALSE,
                           permutations = count, progress = FALSE)$null
        }
        differ <- max(abs(test() - one_by_one(test())))
        seconds <- interleaved(list(function() one_by_one(test()), test), times, cpu)
        say("%-14s %5d %-12s %10.3f %10.3f %7.2f %12.1e", paste(size, collapse = " x "),
            as.integer(k), if (folds == "loo") "one row" else "ten folds", seconds[1], seconds[2],
            seconds[2] / seconds[1], differ)
      }
    }
  }
}

# The whole suite ---------------------------------------------------------------------------------

measure_judge <- function() {
  heading("judge(x, y), every part with its defaults: CPU seconds on one thread, medians of %d,",
          times)
  say("and in multiples of one greedy_rls(x, y); effects: columns with an effect on y")
  say("")
  say("%-14s %-12s %8s %10s %10s", "", "response", "effects", "seconds", "multiple")
  for (size in list(c(62, 2000), c(100, 20000))) {
    for (task in c("number", "two classes")) {
      for (effects in c(0, 5)) {
        set.seed(10)
        x <- normal(size[1], size[2])
        y <- rowSums(x[, seq_len(effects), drop = FALSE]) + rnorm(size[1])
        if (task == "two classes") y <- factor(y > 0)
        calls <- list(function() judge(x, y, seed = 1, progress = FALSE),
                      function() greedy_rls(x, y, progress = FALSE))
        seconds <- suppressWarnings(interleaved(calls, times, cpu))
        say("%-14s %-12s %8d %10.1f %10.0f", paste(size, collapse = " x "), task,
            as.integer(effects), seconds[1], seconds[1] / seconds[2])
      }
    }
  }
}

measures <- list(uniform = measure_uniform, false = measure_false, speed = measure_speed,
                 judge = measure_judge)
for (part in parts) {
  lines <- character()
  say("%s", machine_line())
  measures[[part]]()
  writeLines(lines, file.path(given$out, sprintf("judging-%s.txt", part)))
}
