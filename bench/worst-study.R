# Does a panel that is chosen for the worst study hold in the next study?
#
#   Rscript bench/worst-study.R [sims=8] [columns=2000] [parts=five,default,time] [out=FOLDER]
#   Rscript bench/worst-study.R parts=real data=FOLDER [draws=3] [out=FOLDER]
#
# Simulated: eight studies of 60 rows. Five columns have an effect of 0.5 on the response in every
# study, beside noise of variance 1. Decoys follow the response in some of the studies, with a
# correlation of 0.8 there, and are noise in the others and in a ninth study, of 500 rows, which is
# predicted. Studies are groups of rows, so that every error is of studies held out. greedy_rls()
# chooses by the mean squared error ("mean"), by the largest relative error of a study ("worst") and
# by the mean plus one standard deviation of these ("mean_sd"), on the same data: at five columns,
# and at the size up to 15 that the default rule chooses. Then the CPU time of searches of 30
# columns at the default lambda, beside leave-one-out and folds of groups by the mean. About five
# minutes of CPU.
#
# Real ("real"): data of several studies with an outcome in common, from files of the folder `data`.
# Every study is left out in turn. Errors there are of the choice by each criterion, as the columns
# are and centred and scaled within studies, in means over studies and draws of the rows: the
# squared error relative to the mean of the other studies, less the error of the choice by the mean,
# the largest error of a study, and in how many studies a choice is better than the choice by the
# mean. About five minutes of CPU.

library(sparsels)
source("bench/common.R")

line <- command_line(list(sims = "8", columns = "2000", parts = "five,default,time", data = "",
                          draws = "3", out = "bench/results"))
given <- line$options
parts <- strsplit(given$parts, ",", fixed = TRUE)[[1L]]
if ("real" %in% parts && !dir.exists(given$data)) stop("data= must name the folder of real data")
sims <- as.integer(given$sims)
n <- as.integer(given$columns)
studies <- 8L
rows <- 60L
true <- 1:5

# Data --------------------------------------------------------------------------------------------

# Decoys follow the response in `share` of the studies.
simulated <- function(decoys, share) {
  study <- c(rep(seq_len(studies), each = rows), rep(studies + 1L, 500L))
  m <- length(study)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("c", seq_len(n))))
  y <- rowSums(x[, true]) / 2 + rnorm(m)
  for (j in max(true) + seq_len(decoys)) {
    own <- study %in% sample.int(studies, share * studies)
    x[own, j] <- 0.8 * y[own] / 1.5 + 0.6 * x[own, j]
  }
  seen <- study <= studies
  list(problem = as_problem(x[seen, ], y[seen], groups = study[seen]), new = x[!seen, ],
       y = y[!seen], decoys = max(true) + seq_len(decoys))
}

# Methods -----------------------------------------------------------------------------------------

criteria <- c(mean = "squared", worst = "worst", mean_sd = "mean_sd")

# The share of decoys among the chosen columns, how many true ones are among them, their number and
# the relative error in the ninth study.
one_fit <- function(d, ...) {
  fit <- suppressWarnings(greedy_rls(d$problem, ..., progress = FALSE))
  chosen <- selected(fit, index = TRUE)
  c(decoys = if (length(chosen)) mean(chosen %in% d$decoys) else NA, true = sum(chosen %in% true),
    size = length(chosen), error = mean((d$y - predict(fit, d$new))^2) / var(d$y))
}

# The sizes that are wanted, by their names as parts.
sizes <- list(five = list(size = 5, k = 5), default = list(k = 15))
sizes <- sizes[intersect(names(sizes), parts)]

one_run <- function(decoys, share) {
  d <- simulated(decoys, share)
  simplify2array(lapply(criteria, function(criterion) {
    vapply(sizes, function(size) do.call(one_fit, c(list(d, criterion = criterion), size)),
           numeric(4L))
  }))
}

scenes <- list(c(decoys = 20, share = 0.5), c(decoys = 20, share = 0.75),
               c(decoys = 100, share = 0.5), c(decoys = 0, share = 0))

say("%s", machine_line())
for (scene in scenes[length(sizes) > 0L]) {
  set.seed(1)
  found <- simplify2array(lapply(seq_len(sims), function(i) {
    one_run(scene[["decoys"]], scene[["share"]])
  }))
  for (size in dimnames(found)[[2L]]) {
    values <- found[, size, , ]
    heading("%d decoys that predict in %g of %d studies, %s: means of %d simulations",
            scene[["decoys"]], scene[["share"]] * studies, studies,
            if (size == "five") "five columns" else "the default size", sims)
    say("")
    change <- values["error", , ] / rep(values["error", "mean", ], each = length(criteria)) - 1
    say_table(data.frame(
      criterion = names(criteria),
      "% decoys" = sprintf("%.1f", 100 * rowMeans(values["decoys", , ], na.rm = TRUE)),
      "true ones" = sprintf("%.2f", rowMeans(values["true", , ])),
      size = sprintf("%.1f", rowMeans(values["size", , ])),
      none = sprintf("%d", rowSums(values["size", , ] == 0)),
      "error in the ninth" = sprintf("%.3f", rowMeans(values["error", , ])),
      "% of mean's" = sprintf("%+.1f", 100 * rowMeans(change)),
      se = sprintf("%.1f", 100 * apply(change, 1L, sd) / sqrt(sims)), check.names = FALSE
    ))
  }
}

# Time --------------------------------------------------------------------------------------------

time_searches <- function() {
  set.seed(2)
  d <- simulated(20, 0.5)
  alone <- as_problem(d$problem, groups = FALSE)
  search <- function(problem, criterion) {
    function() {
      greedy_rls(problem, criterion = criterion, k = 30, size = "criterion", refit = FALSE)
    }
  }
  whole <- function(problem, criterion) {
    function() greedy_rls(problem, criterion = criterion, k = 30)
  }
  calls <- function(of) {
    list("leave-one-out" = of(alone, "squared"), "leave-one-study-out" = of(d$problem, "squared"),
         worst = of(d$problem, "worst"), mean_sd = of(d$problem, "mean_sd"))
  }
  seconds <- list(search = interleaved(calls(search), 11L, cpu),
                  fit = interleaved(calls(whole), 3L, cpu))
  heading("CPU time of one search of 30 columns, and of a fit with its size chosen in folds")
  say("")
  say_table(data.frame(
    criterion = names(seconds$search), "search, ms" = sprintf("%.1f", 1000 * seconds$search),
    ratio = sprintf("%.2f", seconds$search / seconds$search[[1L]]),
    "fit, s" = sprintf("%.2f", seconds$fit),
    "ratio of fits" = sprintf("%.2f", seconds$fit / seconds$fit[[1L]]), check.names = FALSE
  ))
}

if ("time" %in% parts) time_searches()

# Real studies ------------------------------------------------------------------------------------

# Rows of real data with an outcome in common: x, y (two classes) and the study of each row.
read_set <- function(name) readRDS(file.path(given$data, paste0(name, ".rds")))

# Breast cancer with positive nodes in Rotterdam, Germany and Amsterdam: whether it came back within
# five years. Five clinical findings that all three have, with their products.
breast_cohorts <- function() {
  amsterdam <- read_set("surv_nki70")
  clinical <- amsterdam$clinical
  cohort <- function(study, age, large, nodes, er, poor, years, event) {
    x <- cbind(age = age / 10, large = large, nodes = nodes, er = er, poor = poor) * 1
    known <- event == 1 & years <= 5 | years > 5
    list(x = x[known, ], y = (event == 1 & years <= 5)[known], study = rep(study, sum(known)))
  }
  rotterdam <- survival::rotterdam[survival::rotterdam$nodes > 0, ]
  germany <- survival::gbsg
  all <- list(
    with(rotterdam, cohort("Rotterdam", age, size != "<=20", nodes >= 4, er > 10, grade == 3,
                           rtime / 365.25, recur)),
    with(germany, cohort("Germany", age, size > 20, nodes >= 4, er > 10, grade == 3,
                         rfstime / 365.25, status)),
    with(clinical, cohort("Amsterdam", Age, Diam == ">2cm", N == ">=4", ER == "Positive",
                          Grade == "Poorly diff", amsterdam$time, amsterdam$status))
  )
  x <- do.call(rbind, lapply(all, `[[`, "x"))
  list(x = stats::model.matrix(~ .^2 - 1, data.frame(x)), y = unlist(lapply(all, `[[`, "y")),
       study = unlist(lapply(all, `[[`, "study")))
}

# Newsgroups: two subjects, of which each study has one group each, and the words of 100 messages of
# every group that 20 messages have.
newsgroups <- function(first, second) {
  news <- read_set("text_20newsgroups")
  rows <- unlist(lapply(c(first, second), function(group) sample(which(news$y == group), 100L)))
  x <- news$X[rows, ]
  x <- as.matrix(log1p(x[, Matrix::colSums(x > 0) >= 20]))
  list(x = x, y = news$y[rows] %in% second,
       study = rep(rep(paste0("pair", seq_along(first)), each = 100L), 2L))
}

# Adults of the census of 1994 with an income above 50000 dollars: 100 of every occupation.
occupations <- function() {
  census <- read_set("adult_onehot")
  study <- as.character(census$frame$occupation)
  large <- names(which(table(study) >= 500))
  rows <- unlist(lapply(large, function(one) sample(which(study == one), 100L)))
  x <- as.matrix(census$X[rows, ])
  list(x = x[, !grepl("^occupation", colnames(x))], y = census$y[rows] == ">50K",
       study = study[rows])
}

# The relative squared error and the error rate in the study that is left out, and the size.
without_study <- function(d, study, criterion, center, size) {
  seen <- d$study != study
  fit <- suppressMessages(suppressWarnings(do.call(greedy_rls, c(
    list(d$x[seen, ], factor(d$y[seen]), groups = d$study[seen], center_groups = center,
         criterion = criterion, progress = FALSE), size
  ))))
  code <- 2 * d$y - 1
  score <- predict(fit, d$x[!seen, ], type = "link")
  c(error = mean((code[!seen] - score)^2) / mean((code[!seen] - mean(code[seen]))^2),
    rate = mean((score > 0) != d$y[!seen]), size = length(selected(fit)))
}

real_set <- function(name, draw, size, draws = as.integer(given$draws)) {
  set.seed(1)
  cells <- expand.grid(criterion = names(criteria), center = c("none", "scale"),
                       stringsAsFactors = FALSE)
  found <- do.call(rbind, lapply(seq_len(draws), function(i) {
    d <- draw()
    if (i == 1L) {
      heading("%s: %d rows x %d columns, %d studies of %s rows, %s", name, nrow(d$x), ncol(d$x),
              length(unique(d$study)), paste(unique(range(table(d$study))), collapse = " to "),
              if (is.null(size$size)) "the default size" else
                sprintf("%s%d columns", if (is.character(size$size)) "up to " else "", size$k))
      say("")
    }
    do.call(rbind, lapply(unique(d$study), function(study) {
      each <- Map(function(criterion, center) {
        without_study(d, study, criteria[[criterion]], center, size)
      }, cells$criterion, cells$center)
      cbind(cells, draw = i, study = study, do.call(rbind, each))
    }))
  }))
  of_cell <- split(found, list(factor(found$criterion, names(criteria)), found$center))
  own <- of_cell[["mean.none"]]
  say_table(do.call(rbind, lapply(of_cell, function(cell) {
    change <- cell$error - own$error
    data.frame(
      criterion = cell$criterion[1L], center_groups = cell$center[1L],
      "relative error" = sprintf("%.3f", mean(cell$error)),
      "less mean's" = sprintf("%+.3f", mean(change)),
      "worst study" = sprintf("%.3f", mean(tapply(cell$error, cell$draw, max))),
      "better in" = sprintf("%d of %d", sum(change < -1e-9), length(change)),
      "error rate" = sprintf("%.3f", mean(cell$rate)), size = sprintf("%.1f", mean(cell$size)),
      check.names = FALSE
    )
  })))
}

# How many columns the gene expression sets of breast cancer share by name.
shared_columns <- function() {
  names <- lapply(list(nki70 = read_set("surv_nki70")$X, vdv = read_set("breast_vdv")$X,
                       sorlie = read_set("surv_sorlie")$X), colnames)
  pairs <- utils::combn(names(names), 2L)
  shared <- apply(pairs, 2L, function(pair) length(Reduce(intersect, names[pair])))
  say("columns in common: %s", paste(pairs[1L, ], pairs[2L, ], shared, collapse = "; "))
}

# The numbers of the newsgroups of two subjects.
subjects <- list("computers or leisure" = list(1:4, 10:13),
                 "leisure or science" = list(10:13, 17:20),
                 "science or debate" = list(17:20, c(7:9, 16)))

real_sets <- function() {
  shared_columns()
  real_set("breast cancer within five years", breast_cohorts, list(size = "criterion", k = 3), 1L)
  for (size in list(list(size = 5, k = 5), list(k = 15))) {
    for (name in names(subjects)) {
      real_set(name, function() do.call(newsgroups, subjects[[name]]), size)
    }
    real_set("income, studies are occupations", occupations, size)
  }
}

if ("real" %in% parts) real_sets()
name <- if (identical(parts, "real")) "worst-study-real.txt" else "worst-study.txt"
writeLines(lines, file.path(given$out, name))
