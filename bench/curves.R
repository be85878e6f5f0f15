# Curves of columns, and pairs of columns, beside lines, the lasso, earth and a random forest, on
# data with more rows than columns.
#
#   Rscript bench/curves.R DIR [only=housing,sonar] [rows=1200] [outer=4] [draws=20] [memory=no]
#                          [settings=no] [basis=no] [whole=] [out=bench/results]
#
# DIR has the sets as .rds files, each a list of X, y and task. At most `rows` rows of each, drawn
# once, are divided into `outer` folds, and each method at its defaults predicts the rows of a fold
# from the others. The error is 1 - R-squared, about the mean of the training rows, or the error
# rate. `terms` are variables in the model. Seconds are CPU time of one call, on one core. Then the
# response is shuffled: how often is a term chosen. Packages that are not installed have no column,
# and sets that are not in DIR have no row. With `memory=yes` curves of 100,000 x 20 are timed, too.
# With `settings=yes` there are columns of pairs by other settings instead of other methods: lambda
# of the search m/4 instead of the two that are tried by default, and only pairs whose score by
# chance has a probability below 1 / n^2. With `basis=yes` the columns are lines, curves, steps,
# hinges, and curves with hinges beside them, and the sets in `whole` follow with all rows: three
# quarters of them predict the others. With `basis=beside` they are lines, curves, and curves with
# steps or hinges beside them by `smooth_basis`. Six sets choose between steps and hinges, and the
# others confirm whether what was chosen has smaller errors than curves. With `basis=pairs` the
# columns are curves, pairs, and pairs of four functions of each column, in the same two halves.
#
# Sources: R/data-curves.R R/data-smooth.R R/fit-terms.R R/search-greedy.R

library(sparsels)
source("bench/common.R")

line <- command_line(list(only = "", rows = "1200", outer = "4", draws = "20", memory = "no",
                          settings = "no", basis = "no", whole = "", out = "bench/results"))
folder <- line$words[1]
if (is.na(folder) || !dir.exists(folder)) stop("give the directory of the data sets")
sets <- c("housing", "pole_telecomm", "elevators", "svmguide3", "ionosphere", "ijcnn1", "ailerons",
          "diabetes_lars", "sonar", "german_numer", "raetsch_image", "raetsch_diabetis",
          "australian", "eunite2001", "raetsch_twonorm", "raetsch_banana", "pumadyn32nh", "magic04",
          "raetsch_waveform")
if (nzchar(line$options$only)) sets <- strsplit(line$options$only, ",", fixed = TRUE)[[1]]
lacking <- sets[!file.exists(file.path(folder, paste0(sets, ".rds")))]
sets <- setdiff(sets, lacking)
most <- as.integer(line$options$rows)

read_set <- function(name, most = as.integer(line$options$rows)) {
  data <- readRDS(file.path(folder, paste0(name, ".rds")))
  x <- as.matrix(data$X) + 0
  set.seed(9)
  rows <- if (nrow(x) > most) sample(nrow(x), most) else seq_len(nrow(x))
  x <- x[rows, ]
  x <- x[, apply(x, 2, function(column) length(unique(column)) > 1)]
  colnames(x) <- make.names(if (is.null(colnames(x))) paste0("V", seq_len(ncol(x))) else
    colnames(x), unique = TRUE)
  y <- if (data$task == "regression") as.double(data$y) else factor(data$y)[, drop = TRUE]
  list(x = x, y = y[rows])
}

# Each method: a function of training data that gives the predictions of new rows and the terms.
ours <- function(...) {
  function(x, y, new) {
    fit <- suppressWarnings(suppressMessages(greedy_rls(x, y, ..., progress = FALSE)))
    list(suppressMessages(predict(fit, new, type = if (is.factor(y)) "class" else "response")),
         length(selected(fit)))
  }
}

# pairs with one lambda for the search
pairs_at <- function(multiple) {
  function(x, y, new) {
    ours(smooth = TRUE, interactions = TRUE, lambda = multiple * nrow(x), refit = TRUE)(x, y, new)
  }
}

# pairs whose score has a small probability by chance, in the training rows of each fold
cut_pairs <- function(x, y, new) {
  space <- asNamespace("sparsels")
  whole <- space$pair_columns
  put <- function(value) {
    unlockBinding("pair_columns", space)
    assign("pair_columns", value, space)
    lockBinding("pair_columns", space)
  }
  put(function(pairs, x, columns) {
    values <- whole(pairs, x, columns)
    values[, which(pairs$p[columns$pair] > -2 * log(length(pairs$df)))] <- 0
    values
  })
  on.exit(put(whole))
  ours(smooth = TRUE, interactions = TRUE)(x, y, new)
}

# hinges of a copy of each column beside the curve of the column
both_bases <- function(x, y, new) {
  twice <- function(x) cbind(x, `colnames<-`(x, paste0(colnames(x), "_")))
  by <- rep("hinges", ncol(x))
  names(by) <- paste0(colnames(x), "_")
  several <- apply(x, 2, function(column) length(unique(column)) > 6)
  smooth <- c(colnames(x)[several], names(by)[several])
  ours(smooth = smooth, smooth_basis = by[several])(twice(x), y, twice(new))
}

lasso <- function(x, y, new) {
  fit <- glmnet::cv.glmnet(x, y, family = if (is.factor(y)) "binomial" else "gaussian")
  list(drop(predict(fit, new, s = "lambda.min", type = if (is.factor(y)) "class" else "response")),
       sum(coef(fit, s = "lambda.min")[-1] != 0))
}

splines <- function(degree) {
  function(x, y, new) {
    fit <- if (is.factor(y)) {
      earth::earth(x, y, degree = degree, glm = list(family = binomial))
    } else {
      earth::earth(x, y, degree = degree)
    }
    list(drop(predict(fit, new, type = if (is.factor(y)) "class" else "response")),
         sum(rowSums(fit$dirs[fit$selected.terms, , drop = FALSE] != 0) > 0))
  }
}

forest <- function(x, y, new) {
  fit <- ranger::ranger(x = x, y = y, num.trees = 300, num.threads = 1)
  list(predict(fit, new, num.threads = 1)$predictions, NA)
}

methods <- if (line$options$basis == "beside") {
  list(linear = ours(), curves = ours(smooth = TRUE),
       "and steps" = ours(smooth = TRUE, smooth_basis = "curve+steps"),
       "and hinges" = ours(smooth = TRUE, smooth_basis = "curve+hinges"))
} else if (line$options$basis == "pairs") {
  list(curves = ours(smooth = TRUE), pairs = ours(smooth = TRUE, interactions = TRUE),
       "df = 4" = ours(smooth = TRUE, interactions = list(TRUE, df = 4)))
} else if (line$options$basis == "yes") {
  list(linear = ours(), curves = ours(smooth = TRUE),
       steps = ours(smooth = TRUE, smooth_basis = "steps"),
       hinges = ours(smooth = TRUE, smooth_basis = "hinges"), "and hinges" = both_bases)
} else if (line$options$settings == "yes") {
  list(pairs = ours(smooth = TRUE, interactions = TRUE), "m/4" = pairs_at(1 / 4), cut = cut_pairs)
} else {
  list(linear = ours(), lasso = lasso, curves = ours(smooth = TRUE),
       pairs = ours(smooth = TRUE, interactions = TRUE), "earth 1" = splines(1),
       "earth 2" = splines(2), forest = forest)
}
needs <- c(lasso = "glmnet", "earth 1" = "earth", "earth 2" = "earth", forest = "ranger")
there <- vapply(names(methods), function(name) {
  is.na(needs[name]) || requireNamespace(needs[name], quietly = TRUE)
}, NA)
methods <- methods[there]

error_of <- function(predicted, y, train) {
  if (is.factor(y)) return(mean(as.character(predicted) != as.character(y)))
  sum((y - predicted)^2) / sum((y - mean(train))^2)
}

# error, terms and seconds of each method in each fold
measured <- function(name) {
  data <- read_set(name)
  set.seed(101)
  fold <- sample(rep_len(seq_len(as.integer(line$options$outer)), nrow(data$x)))
  vapply(unique(sort(fold)), function(k) {
    train <- fold != k
    vapply(methods, function(method) {
      set.seed(k)
      seconds <- cpu_once(found <- method(data$x[train, ], data$y[train], data$x[!train, ]))
      c(error_of(found[[1]], data$y[!train], data$y[train]), found[[2]], seconds)
    }, numeric(3))
  }, matrix(0, 3, length(methods)))
}

cpu_once <- function(code) {
  from <- proc.time()
  force(code)
  sum((proc.time() - from)[c(1, 2)])
}

report <- file(file.path(line$options$out, switch(
  line$options$basis, yes = "curves-steps.txt", beside = "curves-beside.txt",
  pairs = "curves-pairs.txt",
  if (line$options$settings == "yes") "curves-settings.txt" else "curves.txt"
)), "w")
put <- function(...) {
  text <- sprintf(...)
  cat(text, "\n", sep = "")
  cat(text, "\n", sep = "", file = report)
}

put("%s", machine_line())
put("load %s", load_average())
put("")
put("Errors of held-out rows, 1 - R-squared or error rate, of %s outer folds of at most %d rows:",
    line$options$outer, most)
put("error (terms in the model, of earth variables)")
if (length(lacking)) put("not in the folder: %s", paste(lacking, collapse = ", "))
put("")
put("%-17s%s", "set", paste(sprintf("%12s", names(methods)), collapse = ""))
errors <- NULL
seconds <- NULL
folds <- list()
for (name in sets) {
  found <- measured(name)
  folds[[name]] <- found[1, , ]
  mean <- apply(found, 1:2, mean)
  errors <- rbind(errors, mean[1, ])
  seconds <- rbind(seconds, mean[3, ])
  put("%-17s%s", name, paste(ifelse(is.na(mean[2, ]), sprintf("%12.3f", mean[1, ]),
                                    sprintf("%7.3f (%2.0f)", mean[1, ], mean[2, ])),
                             collapse = ""))
}
cut <- pmin(errors, 1)
put("%-17s%s", "mean, at most 1", paste(sprintf("%12.3f", colMeans(cut)), collapse = ""))
put("%-17s%s", "CPU seconds", paste(sprintf("%12.2f", colMeans(seconds)), collapse = ""))
put("")
own <- switch(line$options$basis, yes = c("steps", "hinges", "and hinges"),
              beside = c("and steps", "and hinges"), pairs = "df = 4",
              if ("curves" %in% names(methods)) c("curves", "pairs") else "pairs")
halves <- list(sets)
if (line$options$basis %in% c("beside", "pairs")) {
  to_choose <- sets %in% c("housing", "pole_telecomm", "elevators", "svmguide3", "ionosphere",
                           "ijcnn1")
  halves <- list(sets, "to choose" = sets[to_choose], "to confirm" = sets[!to_choose])
}
rownames(cut) <- sets
for (mine in own) {
  for (other in setdiff(names(methods), c(own[seq_len(match(mine, own))]))) {
    for (half in seq_along(halves)) {
      of <- halves[[half]]
      difference <- cut[of, mine] - cut[of, other]
      put("%s - %-9s%+.3f (standard error over sets %.3f), lower on %d of %d sets%s", mine, other,
          mean(difference), sd(difference) / sqrt(length(of)), sum(difference < 0), length(of),
          if (half > 1L) paste0(" ", names(halves)[half]) else "")
    }
  }
  if (!"linear" %in% names(methods)) next
  put("largest %s - linear: %+.3f (%s)", mine, max(cut[, mine] - cut[, "linear"]),
      sets[which.max(cut[, mine] - cut[, "linear"])])
}

draws <- as.integer(line$options$draws)
if (draws > 0) {
  data <- read_set(sets[1])
  put("")
  terms <- if (line$options$basis == "yes") {
    list(steps = list(smooth_basis = "steps"), hinges = list(smooth_basis = "hinges"))
  } else {
    list(curves = list(), pairs = list(interactions = TRUE))
  }
  for (kind in names(terms)) {
    chosen <- vapply(seq_len(draws), function(draw) {
      set.seed(draw)
      given <- c(list(data$x, sample(data$y), smooth = TRUE, progress = FALSE), terms[[kind]])
      suppressWarnings(suppressMessages(do.call(greedy_rls, given)))$size
    }, 0)
    put("response of %s shuffled, %s: no term in %d of %d draws", sets[1], kind, sum(chosen == 0),
        draws)
  }
}

for (name in strsplit(line$options$whole, ",", fixed = TRUE)[[1]]) {
  data <- read_set(name, Inf)
  set.seed(102)
  train <- sample(nrow(data$x)) <= 0.75 * nrow(data$x)
  put("")
  put("%s, %d training rows: error (terms), CPU seconds, memory of R", name, sum(train))
  all <- if (line$options$basis == "yes") {
    c(methods[c("curves", "steps", "hinges")],
      list("steps 64" = ours(smooth = 64, smooth_basis = "steps"),
           "curves, pairs" = ours(smooth = TRUE, interactions = TRUE),
           "steps, pairs" = ours(smooth = TRUE, smooth_basis = "steps", interactions = TRUE)))
  } else {
    methods
  }
  for (method in names(all)) {
    gc(reset = TRUE)
    seconds <- cpu_once(found <- all[[method]](data$x[train, ], data$y[train], data$x[!train, ]))
    put("%-14s%7.3f (%2.0f)%7.1f s%7.0f MB", method,
        error_of(found[[1]], data$y[!train], data$y[train]), found[[2]], seconds,
        sum(gc()[, 6]))
  }
}

if (line$options$memory == "yes") {
  set.seed(1)
  x <- matrix(rnorm(1e5 * 20), 1e5)
  y <- sin(x[, 1]) + x[, 2]^2 + rnorm(1e5)
  gc(reset = TRUE)
  seconds <- cpu_once(fit <- greedy_rls(x, y, smooth = TRUE, progress = FALSE))
  put("")
  put("100,000 x 20: %.1f CPU seconds, %.0f MB, %d terms", seconds, sum(gc()[, 6]), fit$size)
}
close(report)
