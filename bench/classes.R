# How much does a class lose that the largest score hides, and how good are the probabilities?
#
#   Rscript bench/classes.R DIR [out=bench/results]
#
# DIR holds khan_srbct.rds and mnist.rds, lists of X and y; bench/README.md says where to get them.
# Packages: mlbench, mclust, pgmm, gclus, spls, palmerpenguins, ALL. Five stratified folds for each
# set of data: errors of new rows by the largest score and by the largest probability, and log loss
# of Platt's calibration of each class against the rest and of all classes together, by the same
# fits. Decisions are made on every other set and confirmed on the others. About five minutes.
#
# Sources: R/search-greedy.R R/l1-*.R R/fit-probability.R src/greedy* src/l1*

library(sparsels)
source("bench/common.R")
line <- command_line(list(out = "bench/results"))
directory <- c(line$words, ".")[1L]
source("bench/class-sets.R")

# Contestants -------------------------------------------------------------------------------------

methods <- list(greedy_rls = greedy_rls, rls = rls, lssvm = lssvm)

score_fold <- function(data, test, method) {
  fit <- suppressMessages(suppressWarnings(method(data$x[!test, ], data$y[!test])))
  new <- data$x[test, , drop = FALSE]
  score <- as.matrix(predict(fit, new, type = "link"))
  p <- predict(fit, new, type = "prob")
  own <- cbind(seq_len(nrow(p)), as.integer(data$y[test]))
  loss <- function(p) sum(-log(pmax(p[own], 1e-15)))
  c(score = sum(max.col(score, "first") != own[, 2L]),
    probability = sum(predict(fit, new, type = "class") != data$y[test]),
    rest = loss(against_rest(fit)(score)), together = loss(p))
}

score_set <- function(name, method) {
  data <- read_set(name)
  if (identical(method, lssvm) && ncol(data$x) > 500L) return(NULL)
  set.seed(99)
  ids <- suppressMessages(make_folds(as_problem(data$x, data$y), 5))$ids[, 1L]
  sums <- vapply(1:5, function(fold) score_fold(data, ids == fold, method), numeric(4L))
  rowSums(sums) / nrow(data$x)
}

# Run ---------------------------------------------------------------------------------------------

compared <- function(table, one, other, rows) {
  off <- table[rows, one] - table[rows, other]
  sprintf("%s less %s: %.4f (standard error %.4f), at most %.3f, of %d sets", one, other,
          mean(off), sd(off) / sqrt(length(off)), max(off), length(off))
}

results <- lapply(methods, function(method) {
  each <- lapply(stats::setNames(nm = names(sets)), score_set, method)
  do.call(rbind, each)
})

lines <- utils::capture.output({
  cat(machine_line(), "\n")
  for (name in names(results)) {
    table <- results[[name]]
    cat("\n", name, ": error rate by the largest score and by the largest probability; log loss\n",
        "by calibration of each class against the rest and of all together\n", sep = "")
    print(round(table, 3))
    odd <- seq_len(nrow(table)) %% 2L == 1L
    halves <- list(chosen = odd, confirmed = !odd, all = TRUE)
    for (half in names(halves)) {
      cat(half, ": ", compared(table, "probability", "score", halves[[half]]), "\n", sep = "")
      cat(half, ": ", compared(table, "together", "rest", halves[[half]]), "\n", sep = "")
    }
  }
})
writeLines(lines)
writeLines(lines, file.path(line$options$out, "classes.txt"))
