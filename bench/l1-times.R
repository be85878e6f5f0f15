# Which loss should l1_path() take for censored times: squares of the logarithms of times, or Cox's
# partial likelihood?
#
#   Rscript bench/l1-times.R DIR [splits=1,2,3,4] [noise=20] [out=bench/results]
#
# DIR holds the sets of bench/outcomes.R. Without DIR they are left out.
#
# Protocol. Both paths are called with their defaults and ten folds, on the same training parts:
# five folds of each partition, which its number seeds. Concordance is within folds. Partitions 1
# and 2 choose the loss: Cox's unless its mean concordance over the sets is lower by more than one
# standard error over sets. Partitions 3 and 4 are looked at once, afterwards. On noise no column is
# the right answer. Differences are paired by set and partition. About four minutes of CPU.

library(sparsels)
source("bench/common.R")
source("bench/time-sets.R")

line <- command_line(list(splits = "1,2,3,4", noise = "20", out = "bench/results"))
given <- line$options
splits <- numbers(given$splits)
draws <- as.integer(given$noise)
small <- function(make) {
  function() {
    set <- make()
    rows <- sample(nrow(set$x), 40L)
    list(x = set$x[rows, , drop = FALSE], time = set$time[rows], event = set$event[rows])
  }
}
sets <- time_sets(c(line$words, "")[1L])
sets <- c(sets, list("pbc, 40 rows" = small(sets$pbc), "gbsg, 40 rows" = small(sets$gbsg),
                     "skewed columns" = function() {
                       set <- simulated(1 / 3)
                       set$x <- exp(set$x)
                       set
                     }, "days rounded to tens" = function() {
                       set <- simulated(1 / 3)
                       set$time <- ceiling(10 * set$time / stats::median(set$time)) / 10
                       set
                     }))

# Runs --------------------------------------------------------------------------------------------

path_of <- function(x, y, loss) {
  suppressWarnings(l1_path(x, y, loss = loss, folds = 10, progress = FALSE))
}

methods <- lapply(c(squared = "squared", cox = "cox"), function(loss) {
  function(x, y) {
    fit <- path_of(x, y, loss)
    list(risk = function(new) predict(fit, new, type = "risk"), size = fit$size)
  }
})

found <- lapply(names(sets), function(name) {
  cat(name, "")
  lapply(splits, score_split, sets[[name]], methods)
})
names(found) <- names(sets)

# the mean over some partitions: sets x (concordance of each loss, columns, seconds)
means <- function(half) {
  t(vapply(found, function(each) {
    mean <- Reduce(`+`, each[splits %in% half]) / sum(splits %in% half)
    c(mean["concordance", ], mean["size", ], mean["seconds", ])
  }, numeric(6L)))
}

say("%s", machine_line())
heading("Concordance of held-out risks, five folds of each partition; columns; CPU seconds of a")
say("fit with its folds. Partitions 1 and 2 chose the loss, 3 and 4 confirm it.")
for (half in Filter(function(half) any(splits %in% half), list(1:2, 3:4))) {
  table <- means(half)
  excess <- table[, 2L] - table[, 1L]
  heading("partitions %s", paste(intersect(splits, half), collapse = ", "))
  say("")
  say_table(data.frame(
    set = rownames(table), squared = sprintf("%.3f", table[, 1L]),
    cox = sprintf("%.3f", table[, 2L]), difference = sprintf("%+.3f", excess),
    columns = sprintf("%.0f, %.0f", table[, 3L], table[, 4L]),
    seconds = sprintf("%.2f, %.2f", table[, 5L], table[, 6L])
  ))
  say("cox less squared, mean over sets: %+.4f, standard error over sets %.4f", mean(excess),
      sd(excess) / sqrt(length(excess)))
}
none <- vapply(60L + seq_len(draws), function(number) {
  d <- noise(number)
  vapply(names(methods), function(loss) path_of(d$x, d$y, loss)$size == 0, NA)
}, logical(2L))
heading("Noise, 100 rows and 500 columns, draws 61 to %d: no column in %d draws by squared, in %d",
        60L + draws, sum(none[1L, ]), sum(none[2L, ]))
say("by cox")
writeLines(lines, file.path(given$out, "l1-times.txt"))
