# How well are survival times predicted, beside Cox's model with the lasso and the ridge penalty?
#
#   Rscript bench/outcomes.R DIR [splits=27,28,29,30,31,32] [noise=60] [out=bench/results]
#
# DIR holds breast_vdv.rds, surv_nki70.rds, surv_lung.rds and surv_sorlie.rds: lists of X and the
# times and states of the data sets vdv (CRAN package randomForestSRC), nki70 (penalized), Lung
# (compound.Cox) and sorlie (ahaz). Without DIR they are left out. The others are of the packages
# survival and ipred, or simulated.
#
# Protocol. Every method is called with its defaults, on the same training parts: five folds of each
# partition, which its number seeds. Concordance is within folds. Partitions 1 and 2 of the four
# sets of DIR and draws 1 to 60 of noise chose how the number of columns is chosen (the criterion of
# the size) and the default loss. Partitions 21 to 26 and draws 200 to 349 of noise chose the tests
# against no column and their levels. Partitions 27 to 32 and draws 61 to 120 of noise confirm
# these. Bars, set before: a mean concordance over the four sets of .64 with at most 12 columns, at
# least the Cox lasso's in three of them; and on noise no column most of the time. Differences from
# the lasso are paired by data set and partition. About half an hour of CPU.
#
# Sources: R/search-greedy.R R/search-likelihood.R R/fold-ties.R src/greedy* src/likelihood*

library(sparsels)
source("bench/common.R")

line <- command_line(list(splits = "27,28,29,30,31,32", noise = "60", out = "bench/results"))
given <- line$options
directory <- c(line$words, "")[1L]
splits <- numbers(given$splits)
draws <- as.integer(given$noise)

source("bench/time-sets.R")
sets <- time_sets(directory)

# Methods -----------------------------------------------------------------------------------------

cox <- function(alpha) {
  function(x, y) {
    fit <- glmnet::cv.glmnet(x, y, family = "cox", alpha = alpha)
    list(risk = function(new) drop(predict(fit, new, s = "lambda.min")),
         size = sum(coef(fit, s = "lambda.min") != 0))
  }
}

ours <- function(...) {
  function(x, y) {
    fit <- greedy_rls(x, y, ..., progress = FALSE)
    list(risk = function(new) predict(fit, new, type = "risk"), size = fit$size)
  }
}

methods <- list("greedy_rls()" = ours(), "greedy_rls(loss = \"cox\")" = ours(loss = "cox"),
                "Cox lasso" = cox(1), "Cox ridge" = cox(0))

# Runs --------------------------------------------------------------------------------------------

found <- lapply(names(sets), function(name) {
  cat(name, "")
  simplify2array(lapply(splits, score_split, sets[[name]], methods))
})
names(found) <- names(sets)

rows <- do.call(rbind, lapply(names(found), function(name) {
  values <- found[[name]]["concordance", , ]
  excess <- values - rep(values["Cox lasso", ], each = nrow(values))
  data.frame(
    set = c(name, rep("", nrow(values) - 1L)), method = rownames(values),
    concordance = sprintf("%.3f", rowMeans(values)),
    "less lasso" = sprintf("%+.3f", rowMeans(excess)),
    se = sprintf("%.3f", apply(excess, 1L, sd) / sqrt(ncol(excess))),
    columns = sprintf("%.1f", rowMeans(found[[name]]["size", , ])),
    "CPU s" = sprintf("%.2f", apply(found[[name]]["seconds", , ], 1L, median)),
    check.names = FALSE
  )
}))

say("%s", machine_line())
heading("Concordance of held-out risks, five folds of each of the partitions %s (of simulations",
        paste(splits, collapse = ", "))
say("also other data), mean; less lasso: paired differences and their standard error over")
say("partitions, which share rows, so that it is too small for the real sets; columns: mean of the")
say("folds; CPU seconds of a fit, median")
say("")
say_table(rows)
real <- intersect(names(found), c("sorlie", "nki70", "lung", "vdv"))
if (length(real)) {
  means <- vapply(found[real], function(values) rowMeans(values["concordance", , ]),
                  numeric(length(methods)))
  excess <- means - rep(means["Cox lasso", ], each = nrow(means))
  heading("Mean over the %d real sets, and less lasso with the standard error over sets:",
          length(real))
  say("")
  say_table(data.frame(method = rownames(means), concordance = sprintf("%.3f", rowMeans(means)),
                       "less lasso" = sprintf("%+.3f", rowMeans(excess)),
                       se = sprintf("%.3f", apply(excess, 1L, sd) / sqrt(length(real))),
                       check.names = FALSE))
}
chosen <- vapply(60L + seq_len(draws), function(number) {
  d <- noise(number)
  greedy_rls(d$x, d$y, progress = FALSE)$size
}, 0)
heading("Noise, 100 rows and 500 columns: greedy_rls() names no column in %d of draws 61 to %d",
        sum(chosen == 0), 60L + draws)
writeLines(lines, file.path(given$out, "outcomes.txt"))
