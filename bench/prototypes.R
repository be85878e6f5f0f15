# Chooses how fs_lssvm() picks the prototypes that its pursuit chooses among: rows far from each
# other (k-center), random rows, centres of k-means, or means of k-center clusters.
#
#   Rscript bench/prototypes.R DIR [sets=banana,...] [partitions=10] [cores=1] [saved=DIR2]
#                              [out=bench/results]
#
# DIR holds the benchmark sets of G. Raetsch as .rds files (bench/README.md says what is in each and
# where to get it); ringnorm is simulated. With saved= what is measured of a set is kept in DIR2,
# and taken from there if it is there. About 6 minutes on one core.
#
# The protocol, laid down before the first run: fs_lssvm() as a user calls it, its kernel width and
# gamma tuned by its own default, on `partitions` partitions of each set (a fifth of them for image
# and splice, with at most 200 prototypes in a model). All rules have the same partitions and folds.
# Every other set of the alphabet chooses the rule: that with the smallest mean over sets of
# log(error / error of k-center). The others confirm it: it becomes the default unless that mean is
# more than a standard error (over sets) above zero there. ringnorm, on which means of clusters were
# first seen to be better, is among those that choose, and splice among those that confirm. (It was
# laid down for 40 partitions; 10 were run. docs/decisions.md says what came of it.)
#
# Sources: R/lssvm-*.R src/pursuit*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
source("bench/common.R")
source("bench/raetsch.R")

choosing <- c("banana", "diabetis", "german", "image", "ringnorm", "twonorm")
confirming <- c("breast-cancer", "flare-solar", "heart", "splice", "titanic")
rules <- c("k_center", "random", "kmeans", "cluster_mean")

line <- command_line(list(sets = "", partitions = "10", cores = "1", saved = "",
                          out = "bench/results"))
given <- line$options
if (length(line$words) != 1) stop("usage: Rscript bench/prototypes.R DIR")
directory <- line$words
sets <- if (nzchar(given$sets)) strsplit(given$sets, ",")[[1]] else c(choosing, confirming)
stopifnot(dir.exists(directory), sets %in% c(choosing, confirming))

# error in %, prototypes of the model, CPU seconds
measure <- function(rule, data, rows, seed) {
  set.seed(seed)
  k <- if (length(rows$train) >= 1000) 200
  fit <- NULL
  used <- system.time(
    fit <- suppressWarnings(fs_lssvm(data$x[rows$train, ], data$y[rows$train], select = rule,
                                     k = k))
  )
  class <- predict(fit, data$x[rows$test, ], type = "class")
  c(error = 100 * mean(class != data$y[rows$test]), prototypes = length(selected(fit)),
    seconds = sum(used[1:2]))
}

# measure x rule x partition
measure_set <- function(set) {
  data <- raetsch_data(directory, set)
  count <- as.integer(given$partitions)
  if (raetsch_sizes[set, "train"] >= 1000) count <- max(2, ceiling(count / 5))
  partitions <- raetsch_partitions(data, set, count)
  values <- lapply(seq_along(partitions), function(i) {
    vapply(rules, measure, numeric(3), data, partitions[[i]], i)
  })
  simplify2array(values)
}

# The same, from a file if it was measured before.
measured <- function(set) {
  if (!nzchar(given$saved)) return(measure_set(set))
  file <- file.path(given$saved, paste0(set, ".rds"))
  if (!file.exists(file)) saveRDS(measure_set(set), file)
  readRDS(file)
}

# One line for each rule: means, and the difference of the error from that of k-center with its
# standard error over partitions.
say_set <- function(set, values) {
  heading("%s, %d + %d rows, %d partitions%s", set, raetsch_sizes[set, "train"],
          raetsch_sizes[set, "test"], dim(values)[3],
          if (set %in% choosing) ", chooses" else ", confirms")
  difference <- values["error", , ] - rep(values["error", "k_center", ], each = length(rules))
  mean <- apply(values, 1:2, mean)
  say_table(data.frame(
    rule = rules, "error %" = round(mean["error", ], 2),
    difference = sprintf("%+.2f (%.2f)", rowMeans(difference),
                         apply(difference, 1, sd) / sqrt(ncol(difference))),
    prototypes = round(mean["prototypes", ], 1), "CPU s" = signif(mean["seconds", ], 2),
    check.names = FALSE
  ))
}

# log(error / error of k-center), rule x set
log_ratios <- function(done) {
  vapply(done, function(values) {
    error <- rowMeans(values["error", , ])
    log(error / error["k_center"])
  }, numeric(length(rules)))
}

say_half <- function(name, done) {
  if (length(done) < 2) return(invisible())
  ratio <- log_ratios(done)
  heading("the %d sets that %s: mean of log(error / error of k-center), standard error over sets",
          length(done), name)
  for (rule in rules) {
    say("  %-13s %+.3f (%.3f)  better on %d, worse on %d", rule, mean(ratio[rule, ]),
        sd(ratio[rule, ]) / sqrt(ncol(ratio)), sum(ratio[rule, ] < 0), sum(ratio[rule, ] > 0))
  }
}

say("%s", machine_line())
done <- parallel::mclapply(sets, measured, mc.cores = as.integer(given$cores),
                           mc.preschedule = FALSE)
names(done) <- sets
for (set in sets) say_set(set, done[[set]])
say_half("choose", done[sets %in% choosing])
say_half("confirm", done[sets %in% confirming])
writeLines(lines, file.path(given$out, "prototypes.txt"))
