# How often new rows lie in the intervals and sets of their level, on made data.
#
#   Rscript bench/coverage.R [predictions kernels sets panels] [only=t4,noise] [draws=100] [first=1]
#                            [new=100] [level=0.9] [cores=1] [each=FILE] [join=FILE,FILE]
#                            [out=bench/results]
#
# `each` is a file for the values of every draw, by saveRDS(). `join` are such files, which are
# summarised instead of new draws.
#
# Parts: `predictions`, intervals of greedy_rls() and l1_path(); `kernels`, of rls(), kernel_rls()
# and lssvm(); `sets`, sets of classes of greedy_rls(), overall and of the rarest class. Each draw
# trains on new data and predicts `new` rows. The table has the coverage with its standard error
# over draws, and the median width in standard deviations of the response. `naive` is the coverage
# of plus and minus 1.645 root mean squared errors of the training rows, `naive_width` their width.
# For sets the table has the coverage of the rarest class and the mean number of classes. `panels`
# are intervals of one width for all rows, as as_panel() has them, of some of the `predictions`:
# `of_fit` is the coverage of the intervals of the fit, `width` is in multiples of their width.
# About 15 minutes of CPU.
#
# Sources: R/fit-predict.R R/fold-*.R R/kernel-*.R R/l1-*.R R/search-greedy.R

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
source("bench/common.R")

line <- command_line(list(only = "all", draws = "100", first = "1", new = "100", level = "0.9",
                          cores = "1", each = "", join = "", out = "bench/results"))
given <- line$options
wanted <- if (length(line$words)) line$words else c("predictions", "kernels", "sets", "panels")
draws <- as.integer(given$first) + seq_len(as.integer(given$draws)) - 1L
new_rows <- as.integer(given$new)
level <- as.numeric(given$level)

# Kinds of data -----------------------------------------------------------------------------------

# Each kind is a function of the number of rows that draws list(x, y, ...), the dots being arguments
# of as_problem(); `rows` is the number of rows to train on, `fit` fits the training data.
normal <- function(m, n) matrix(rnorm(m * n), m)
heavy <- function(m, n, df) matrix(rt(m * n, df), m)
linear <- function(x, size, each = 1) drop(x[, seq_len(size), drop = FALSE] %*% rep(each, size))
greedy <- function(...) greedy_rls(...)
kind <- function(rows, draw, fit = greedy) list(rows = rows, draw = draw, fit = fit)

autoregressive <- function(m, n, by) {
  x <- normal(m, n)
  for (j in seq_len(n)[-1]) x[, j] <- by * x[, j - 1] + sqrt(1 - by^2) * x[, j]
  x
}

# the rows of a group share a part of x and of the response, and new rows are of new groups
grouped <- function(m, size, n, spread = 1) {
  group <- rep(seq_len(m), sample(size, m, TRUE))[seq_len(m)]
  x <- normal(m, n)[group, ] * 0.7 + normal(m, n) * 0.7
  noise <- rnorm(m)[group] * spread + rnorm(m) / 2
  list(x = x, y = linear(x, 3) + noise, groups = group)
}

predictions <- list(
  t4 = kind(60, function(m) {
    x <- normal(m, 200)
    list(x = x, y = linear(x, 4) + rt(m, 4))
  }),
  strong = kind(60, function(m) {
    x <- normal(m, 500)
    list(x = x, y = linear(x, 5, 2) + rnorm(m))
  }),
  noise = kind(60, function(m) list(x = normal(m, 500), y = rnorm(m))),
  one_gene = kind(40, function(m) {
    x <- normal(m, 1000)
    list(x = x, y = 1.5 * x[, 1] + rnorm(m))
  }),
  small = kind(20, function(m) {
    x <- normal(m, 100)
    list(x = x, y = 1.5 * x[, 1] + rnorm(m))
  }),
  ten_weak = kind(100, function(m) {
    x <- normal(m, 1000)
    list(x = x, y = linear(x, 10, 0.3) + rnorm(m))
  }),
  dense = kind(60, function(m) {
    x <- normal(m, 2000)
    list(x = x, y = linear(x, 60, 0.15) + rnorm(m))
  }),
  correlated = kind(80, function(m) {
    x <- autoregressive(m, 500, 0.8)
    list(x = x, y = linear(x, 3, 0.5) + rnorm(m))
  }),
  tall = kind(200, function(m) {
    x <- normal(m, 20)
    list(x = x, y = linear(x, 4) + rnorm(m))
  }),
  heavy_errors = kind(100, function(m) {
    x <- normal(m, 1000)
    list(x = x, y = linear(x, 3) + rt(m, 2))
  }),
  heavy_columns = kind(100, function(m) {
    x <- heavy(m, 500, 2.5)
    list(x = x, y = linear(x, 4) + rnorm(m))
  }),
  lognormal = kind(100, function(m) {
    x <- normal(m, 500)
    list(x = x, y = exp(linear(x, 2, 0.7) + rnorm(m) / 2))
  }),
  uneven = kind(100, function(m) {
    x <- normal(m, 500)
    list(x = x, y = linear(x, 2) + exp(0.8 * x[, 1]) * rnorm(m))
  }),
  groups = kind(120, function(m) grouped(m, 4, 300)),
  uneven_groups = kind(120, function(m) grouped(m, 12, 300)),
  # not among the designs by which the method was chosen
  counts = kind(80, function(m) {
    x <- normal(m, 300)
    list(x = x, y = rpois(m, exp(1 + linear(x, 2, 0.5))))
  }),
  zeros = kind(80, function(m) {
    x <- normal(m, 100)
    list(x = x, y = pmax(0, x[, 1] - 0.5 + 0.3 * rnorm(m)))
  }),
  skewed_columns = kind(60, function(m) {
    x <- matrix(rlnorm(m * 200), m)
    list(x = x, y = x[, 1] + x[, 2] + rnorm(m))
  }),
  spectra = kind(60, function(m) {
    x <- autoregressive(m, 300, 0.98)
    list(x = x, y = x[, 100] - x[, 150] + rnorm(m) / 5)
  }),
  genotypes = kind(150, function(m) {
    x <- matrix(rbinom(m * 500, 2, 0.3), m)
    list(x = x, y = linear(x, 5, 0.5) + rnorm(m))
  }),
  interaction = kind(100, function(m) {
    x <- normal(m, 50)
    list(x = x, y = x[, 1] * x[, 2] + x[, 3] + rnorm(m))
  }),
  poisson = kind(80, function(m) {
    x <- normal(m, 300)
    list(x = x, y = rpois(m, exp(1 + linear(x, 2, 0.5))), loss = "poisson")
  }),
  exposures = kind(80, function(m) {
    x <- normal(m, 100)
    exposure <- runif(m, 0.5, 4)
    list(x = x, y = rnbinom(m, mu = exposure * exp(linear(x, 2, 0.5)), size = 2),
         loss = "poisson", offset = log(exposure))
  }),
  negbin = kind(100, function(m) {
    x <- normal(m, 100)
    list(x = x, y = rnbinom(m, mu = exp(1 + linear(x, 2, 0.5)), size = 2), loss = "negbin")
  }),
  shares = kind(60, function(m) {
    x <- normal(m, 100)
    list(x = x, y = rbinom(m, 12, plogis(linear(x, 2))) / 12, loss = "binomial",
         task = "regression")
  }),
  poisson_lasso = kind(100, function(m) {
    x <- normal(m, 50)
    list(x = x, y = rpois(m, exp(1 + linear(x, 4, 0.3))), loss = "poisson")
  }, function(...) l1_path(..., folds = 10)),
  tiny = kind(15, function(m) {
    x <- normal(m, 30)
    list(x = x, y = 2 * x[, 1] + rnorm(m))
  }),
  covariates = kind(60, function(m) {
    x <- normal(m, 300)
    age <- rnorm(m)
    list(x = x, y = x[, 1] + 2 * age + rnorm(m), adjust = cbind(age = age))
  }),
  lasso = kind(60, function(m) {
    x <- normal(m, 200)
    list(x = x, y = linear(x, 4) + rt(m, 4))
  }, function(...) l1_path(..., folds = 10)),
  lasso_tall = kind(150, function(m) {
    x <- normal(m, 40)
    list(x = x, y = linear(x, 8, 0.5) + rnorm(m))
  }, function(...) l1_path(..., folds = 10)),
  loo_sizes = kind(40, function(m) {
    x <- normal(m, 100)
    list(x = x, y = linear(x, 2) + rnorm(m))
  }, function(...) greedy_rls(..., size_folds = "loo", k = 6))
)

wave <- function(m) {
  x <- matrix(runif(2 * m, -3, 3), m)
  list(x = x, y = sin(x[, 1]) + x[, 2]^2 / 5 + rnorm(m) / 3)
}

kernels <- list(
  ridge_wide = kind(60, function(m) {
    x <- normal(m, 500)
    list(x = x, y = linear(x, 20, 0.4) + rnorm(m))
  }, rls),
  ridge_tall = kind(60, function(m) {
    x <- normal(m, 40)
    list(x = x, y = linear(x, 20, 0.4) + rnorm(m))
  }, rls),
  ridge_heavy = kind(60, function(m) {
    x <- normal(m, 40)
    list(x = x, y = linear(x, 20, 0.4) + rt(m, 3))
  }, rls),
  ridge_groups = kind(100, function(m) grouped(m, 4, 60), rls),
  gaussian = kind(60, wave, function(...) {
    kernel_rls(..., kernel = kernel_gaussian(0.3), intercept = FALSE, standardize = FALSE)
  }),
  gaussian_widths = kind(60, wave, function(...) kernel_rls(..., standardize = FALSE)),
  centres = kind(60, wave, function(...) {
    kernel_rls(..., kernel = kernel_gaussian(0.3), basis = 20, intercept = FALSE,
               standardize = FALSE)
  }),
  machine = kind(60, wave, lssvm)
)

classes_of <- function(score, cuts) {
  factor(findInterval(score, cuts))
}

sets <- list(
  balanced = kind(60, function(m) {
    x <- normal(m, 300)
    list(x = x, y = classes_of(linear(x, 4) + rnorm(m), 0))
  }),
  rare_fifth = kind(100, function(m) {
    x <- normal(m, 300)
    score <- linear(x, 4) + rnorm(m)
    list(x = x, y = classes_of(score, sqrt(5) * qnorm(0.82)))
  }),
  rare_tenth = kind(200, function(m) {
    x <- normal(m, 1000)
    score <- linear(x, 4) + rnorm(m)
    list(x = x, y = classes_of(score, sqrt(5) * qnorm(0.9)))
  }),
  strong = kind(40, function(m) {
    x <- normal(m, 1000)
    list(x = x, y = classes_of(3 * x[, 1] + rnorm(m) / 2, 0))
  }),
  three = kind(90, function(m) {
    x <- normal(m, 300)
    list(x = x, y = classes_of(linear(x, 3) + rnorm(m), c(-0.8, 0.8)))
  }),
  four = kind(120, function(m) {
    x <- normal(m, 300)
    list(x = x, y = classes_of(linear(x, 3) + rnorm(m), c(-1.2, 0.4, 2.4)))
  }),
  heavy_columns = kind(80, function(m) {
    x <- heavy(m, 300, 2.5)
    list(x = x, y = classes_of(linear(x, 3) + rnorm(m), 0))
  }),
  noise = kind(60, function(m) list(x = normal(m, 300), y = factor(rbinom(m, 1, 0.5)))),
  logistic = kind(80, function(m) {
    x <- normal(m, 100)
    list(x = x, y = classes_of(linear(x, 3) + rlogis(m), 0))
  }, function(...) l1_path(..., loss = "logistic", folds = 10)),
  softmax = kind(100, function(m) {
    x <- normal(m, 60)
    list(x = x, y = classes_of(linear(x, 3) + rlogis(m), c(-1.2, 1.2)))
  }, function(...) l1_path(..., loss = "multinomial", folds = 10)),
  machine = kind(80, function(m) {
    x <- matrix(runif(2 * m, -2, 2), m)
    list(x = x, y = factor(rowSums(x^2) + rnorm(m) / 3 > 2))
  }, lssvm)
)

# Draws -------------------------------------------------------------------------------------------

# The data of a draw: `train`, arguments of the fit, `new_x`, `new_y` and arguments of predict().
drawn <- function(kind, draw) {
  set.seed(draw)
  grouped <- !is.null(kind$draw(8)$groups)
  set.seed(draw)
  data <- kind$draw(kind$rows)
  other <- kind$draw(new_rows * if (grouped) 4 else 1)
  # a single row of each new group
  rows <- if (grouped) which(!duplicated(other$groups)) else seq_len(new_rows)
  more <- list(adjust = other$adjust[rows, , drop = FALSE], newoffset = other$offset[rows])
  list(train = data, new_x = other$x[rows, ], new_y = other$y[rows],
       more = Filter(Negate(is.null), more))
}

quiet <- function(call) suppressMessages(suppressWarnings(call))

predict_new <- function(fit, data, ...) {
  quiet(do.call(predict, c(list(fit, data$new_x, ...), data$more)))
}

fitted_of <- function(fit) {
  table <- generics::augment(fit)
  table$.fitted
}

intervals_of <- function(kind, draw) {
  data <- drawn(kind, draw)
  fit <- quiet(do.call(kind$fit, data$train))
  ends <- predict_new(fit, data, interval = "prediction", level = level)
  half <- stats::qnorm((1 + level) / 2) * sqrt(mean((data$train$y - fitted_of(fit))^2))
  unit <- stats::sd(data$train$y)
  c(coverage = mean(data$new_y >= ends[, "lwr"] & data$new_y <= ends[, "upr"]),
    width = stats::median(ends[, "upr"] - ends[, "lwr"]) / unit,
    naive = mean(abs(data$new_y - ends[, "fit"]) <= half), naive_width = 2 * half / unit)
}

sets_of <- function(kind, draw) {
  data <- drawn(kind, draw)
  fit <- quiet(do.call(kind$fit, data$train))
  inside <- unclass(predict_new(fit, data, type = "set", level = level))
  hit <- inside[cbind(seq_len(nrow(inside)), match(data$new_y, colnames(inside)))]
  rarest <- names(which.min(table(data$train$y)))
  c(coverage = mean(hit), rarest = mean(hit[data$new_y == rarest]), size = mean(rowSums(inside)))
}

# The interval of one width of a panel beside the intervals of its fit.
panels_of <- function(kind, draw) {
  data <- drawn(kind, draw)
  fit <- quiet(do.call(kind$fit, data$train))
  ends <- predict_new(fit, data, interval = "prediction", level = level)
  panel <- quiet(predict(as_panel(fit), data$new_x, interval = "prediction", level = level))
  within <- function(ends) mean(data$new_y >= ends[, "lwr"] & data$new_y <= ends[, "upr"])
  width <- function(ends) mean(ends[, "upr"] - ends[, "lwr"])
  c(coverage = within(panel), of_fit = within(ends), width = width(panel) / width(ends))
}

kinds_of <- list(predictions = predictions, kernels = kernels, sets = sets,
                 panels = predictions[c("t4", "strong", "noise", "one_gene", "correlated", "tall",
                                      "heavy_errors", "lognormal", "lasso")])

# The values of all draws of a kind, a row for each draw.
draws_of <- function(part, name) {
  one <- switch(part, sets = sets_of, panels = panels_of, intervals_of)
  values <- parallel::mclapply(draws, function(draw) one(kinds_of[[part]][[name]], draw),
                               mc.cores = as.integer(given$cores))
  data.frame(part = part, data = name, draw = draws, do.call(rbind, values))
}

summary_of <- function(values) {
  columns <- setdiff(names(values), c("part", "data", "draw"))
  columns <- columns[colSums(!is.na(values[columns])) > 0]
  rows <- lapply(split(values, factor(values$data, unique(values$data))), function(own) {
    data.frame(data = own$data[1], rows = kinds_of[[own$part[1]]][[own$data[1]]]$rows,
               draws = nrow(own), t(colMeans(own[columns], na.rm = TRUE)),
               se = stats::sd(own$coverage) / sqrt(nrow(own)))
  })
  table <- do.call(rbind, rows)
  table[-(1:3)] <- lapply(table[-(1:3)], round, 3L)
  table
}

each <- list()
if (nzchar(given$join)) {
  files <- strsplit(given$join, ",", fixed = TRUE)[[1]]
  each <- unlist(lapply(files, readRDS), recursive = FALSE)
} else {
  for (part in wanted) {
    names <- names(kinds_of[[part]])
    if (given$only != "all") names <- intersect(strsplit(given$only, ",")[[1]], names)
    for (name in names) {
      each <- c(each, list(draws_of(part, name)))
      if (nzchar(given$each)) saveRDS(each, given$each)
    }
  }
}

sink(file.path(given$out, "coverage.txt"), split = TRUE)
cat(machine_line(), "\n", sep = "")
cat(sprintf("level %s, %d new rows for each draw\n", given$level, new_rows))
for (part in unique(vapply(each, function(one) one$part[1], ""))) {
  cat("\n", part, "\n", sep = "")
  own <- Filter(function(one) one$part[1] == part, each)
  print(summary_of(do.call(rbind, own)), row.names = FALSE)
}
sink()
