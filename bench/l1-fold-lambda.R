# At which lambda should the folds of l1_path(folds = ) be trained? The objective is a sum over
# rows, so that the same lambda shrinks more where a fold is held out. Three scales of the lambda of
# a training part with a share s of the rows: lambda (s^0, the package), s^(1/2) lambda, and
# s lambda, which keeps lambda over the number of rows, as glmnet's folds have it.
#
#   Rscript bench/l1-fold-lambda.R DIR [inner=10] [outer=5] [repeats=1] [only=colon,housing]
#                                  [out=bench/results]
#
# Protocol, written before the first run. Sets in odd places of the list choose, sets in even places
# confirm. For each outer training part a path of 100 lambdas, the same path at the scaled lambdas
# without each inner fold, the lambda of the smallest mean held-out loss, and the loss and the error
# of its model on the outer rows. A scale is adopted if on the sets that choose its columns are at
# most .85 of the package's (geometric mean of the ratios of size + 1) and on none of them more than
# 1.02, while its error and its loss, relative to the null model's, are at most .002 above the
# package's on average, and if all of it holds again on the sets that confirm. About 4 minutes of
# CPU.
#
# Sources: R/l1-*.R R/fit-size.R src/l1*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
source("bench/common.R")

line <- command_line(list(inner = "10", outer = "5", repeats = "1", only = "all",
                          out = "bench/results"))
given <- line$options
if (!length(line$words)) stop("usage: Rscript bench/l1-fold-lambda.R DIR")
directory <- line$words[1]
stopifnot(dir.exists(directory))
inner <- as.integer(given$inner)
outer <- as.integer(given$outer)

# Data --------------------------------------------------------------------------------------------

from_file <- function(file, loss, y = "y", column = NULL) {
  function() {
    data <- readRDS(file.path(directory, paste0(file, ".rds")))
    value <- data[[y]]
    if (!is.null(column)) value <- value[, column]
    list(x = as.matrix(data$X), y = if (loss == "squared") as.numeric(value) else factor(value),
         loss = loss)
  }
}
from_frame <- function(formula, frame, package, loss) {
  function() {
    data <- new.env()
    utils::data(list = frame, package = package, envir = data)
    frame <- stats::model.frame(formula, data[[frame]])
    x <- stats::model.matrix(formula, frame)[, -1]
    list(x = x[, !is.na(coef(lm.fit(cbind(1, x), seq_len(nrow(x))))[-1])],
         y = stats::model.response(frame), loss = loss)
  }
}
made <- function(m, n, loss, s = 8, size = 1) {
  function() {
    set.seed(7)
    x <- matrix(rnorm(m * n), m) + rnorm(m) / 2
    f <- as.vector(x[, seq_len(s)] %*% (size * rep(c(1, -1), length.out = s) / sqrt(s)))
    y <- switch(loss, squared = f + rnorm(m), logistic = factor(runif(m) < plogis(2 * f)),
                poisson = rpois(m, exp(f)),
                multinomial = factor(max.col(x[, 1:4] + matrix(rnorm(4 * m), m) / 2)))
    list(x = x, y = y, loss = loss)
  }
}

sets <- list(
  riboflavin = from_file("riboflavin", "squared"), diabetes = from_file("diabetes_lars", "squared"),
  yeast = from_file("yeast_cellcycle", "squared", column = 1),
  housing = from_file("housing", "squared"),
  made_wide = made(100, 500, "squared"), made_tall = made(300, 60, "squared", 12),
  colon = from_file("colon_alon", "logistic"), golub = from_file("golub", "logistic"),
  sonar = from_file("sonar", "logistic"), nki70 = from_file("surv_nki70", "logistic", "status"),
  sorlie = from_file("surv_sorlie", "logistic", "status"),
  german = from_file("german_numer", "logistic"),
  made_classes = made(120, 400, "logistic"), ionosphere = from_file("ionosphere", "logistic"),
  khan = from_file("khan_srbct", "multinomial"),
  glass = from_frame(type ~ .^2, "fgl", "MASS", "multinomial"),
  made_four = made(120, 200, "multinomial"), iris = from_frame(Species ~ ., "iris", "datasets",
                                                               "multinomial"),
  made_counts = made(120, 300, "poisson"), quine = from_frame(Days ~ Eth * Sex * Age * Lrn, "quine",
                                                              "MASS", "poisson"),
  made_counts_tall = made(300, 60, "poisson", 12),
  made_counts_weak = made(150, 150, "poisson", 20, 0.7)
)
place <- seq_along(sets) %% 2
names(place) <- names(sets)
if (given$only != "all") sets <- sets[strsplit(given$only, ",")[[1]]]
scales <- c(0, 0.5, 1)

# One training part --------------------------------------------------------------------------------

quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# The losses of rows by linear predictors, rows x lambdas. `f` is rows x lambdas, of several classes
# an array with the classes in between.
losses_of <- function(y, f, loss) {
  if (loss == "squared") return((y - f)^2)
  if (loss == "logistic") {
    sign <- ifelse(as.integer(y) == 2, 1, -1)
    return(pmax(-sign * f, 0) + log1p(exp(-abs(sign * f))))
  }
  if (loss == "poisson") return(exp(f) - y * f + ifelse(y > 0, y * log(y) - y, 0))
  own <- as.integer(y)
  apply(f, 3, function(score) {
    top <- apply(score, 1, max)
    top + log(rowSums(exp(score - top))) - score[cbind(seq_along(own), own)]
  })
}

error_of <- function(y, f, loss) {
  if (loss == "squared" || loss == "poisson") return(mean(losses_of(y, f, loss)))
  class <- if (loss == "logistic") 1 + (f[, 1] > 0) else max.col(f[, , 1])
  mean(class != as.integer(y))
}

# The linear predictors of new rows at lambdas of a fit.
scores <- function(fit, new, lambda, loss) {
  f <- quietly(predict(fit, new, lambda = lambda, type = "link"))
  if (loss != "multinomial") return(matrix(f, nrow(new)))
  array(f, c(nrow(new), length(f) / nrow(new) / length(lambda), length(lambda)))
}

path <- function(x, y, loss, lambda = NULL) {
  quietly(l1_path(x, y, loss = loss, lambda = lambda, standardize = FALSE))
}

of_part <- function(train, new, loss) {
  y <- train$y
  scale <- apply(train$x, 2, sd)
  x <- train$x / rep(scale, each = nrow(train$x))
  newx <- new$x / rep(scale, each = nrow(new$x))
  fit <- path(x, y, loss)
  lambda <- fit$path$lambda
  m <- nrow(x)
  strata <- if (is.factor(y)) y else FALSE
  ids <- quietly(make_folds(m, inner, strata = strata))$ids[, 1]
  held <- lapply(scales, function(p) {
    out <- matrix(NA_real_, m, length(lambda))
    for (fold in unique(ids)) {
      rows <- which(ids == fold)
      share <- (m - length(rows)) / m
      own <- path(x[-rows, , drop = FALSE], y[-rows], loss, lambda * share^p)
      done <- own$path$lambda
      out[rows, seq_along(done)] <- losses_of(y[rows], scores(own, x[rows, , drop = FALSE], done,
                                                              loss), loss)
    }
    colMeans(out)
  })
  vapply(held, function(error) {
    best <- which.min(error)
    f <- scores(fit, newx, lambda[best], loss)
    null <- scores(fit, newx, lambda[1], loss)
    c(lambda = lambda[best], columns = fit$path$size[best],
      loss = mean(losses_of(new$y, f, loss)), null = mean(losses_of(new$y, null, loss)),
      error = error_of(new$y, f, loss), null_error = error_of(new$y, null, loss))
  }, numeric(6))
}

of_set <- function(name) {
  data <- sets[[name]]()
  loss <- data$loss
  if (is.factor(data$y)) data$y <- droplevels(data$y)
  set.seed(2026)
  strata <- if (is.factor(data$y)) data$y else FALSE
  ids <- quietly(make_folds(nrow(data$x), outer, strata = strata,
                            repeats = as.integer(given$repeats)))$ids
  found <- NULL
  for (r in seq_len(ncol(ids))) for (fold in seq_len(outer)) {
    rows <- ids[, r] == fold
    usable <- apply(data$x[!rows, ], 2, sd) > 0
    x <- data$x[, usable, drop = FALSE]
    colnames(x) <- paste0("V", seq_len(ncol(x)))
    one <- of_part(list(x = x[!rows, ], y = data$y[!rows]),
                   list(x = x[rows, , drop = FALSE], y = data$y[rows]), loss)
    found <- if (is.null(found)) one else found + one
  }
  found <- found / (outer * ncol(ids))
  is_rate <- is.factor(data$y)
  data.frame(set = name, loss = loss, scale = scales, columns = found["columns", ],
             lambda = found["lambda", ] / found["lambda", 1],
             error = if (is_rate) found["error", ] else found["error", ] / found["null_error", ],
             relative_loss = found["loss", ] / found["null", ])
}

say(machine_line())
say("%d inner folds, %d outer folds x %s", inner, outer, given$repeats)
results <- do.call(rbind, lapply(names(sets), function(name) {
  took <- system.time(one <- of_set(name))[["elapsed"]]
  message(sprintf("%s %.0f s", name, took))
  one
}))

# Tables -------------------------------------------------------------------------------------------

wide <- function(column) {
  matrix(results[[column]], ncol = length(scales), byrow = TRUE,
         dimnames = list(names(sets), paste0("s^", scales)))
}
paired <- function(values) {
  difference <- values - values[, 1]
  sprintf("%+.4f (%.4f)", colMeans(difference), apply(difference, 2, sd) / sqrt(nrow(values)))
}
for (half in 1:0) {
  which <- names(sets)[place[names(sets)] == half]
  if (length(which) < 2) next
  columns <- wide("columns")[which, , drop = FALSE]
  ratio <- (columns + 1) / (columns[, 1] + 1)
  heading("sets that %s (%d): means, differences from the package's scale with their se over sets",
          if (half == 1) "choose" else "confirm", length(which))
  say_table(data.frame(
    scale = colnames(columns), columns = colMeans(columns), ratio = exp(colMeans(log(ratio))),
    largest_ratio = apply(ratio, 2, max), error = paired(wide("error")[which, , drop = FALSE]),
    loss = paired(wide("relative_loss")[which, , drop = FALSE])
  ))
}
heading("sets: columns, lambda relative to the package's, error, loss relative to the null model")
say_table(data.frame(set = names(sets), loss = results$loss[seq(1, nrow(results), length(scales))],
                     columns = round(wide("columns"), 1), lambda = round(wide("lambda"), 2)[, -1],
                     error = round(wide("error"), 3), relative = round(wide("relative_loss"), 3),
                     row.names = NULL))
suffix <- if (inner == 10) "" else paste0("-", inner)
writeLines(lines, file.path(given$out, paste0("l1-fold-lambda", suffix, ".txt")))
