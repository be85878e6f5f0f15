# Evaluates the defaults: greedy_rls(), its other rules for the size and the search alone, against
# the lasso, MCP, L0Learn, nearest shrunken centroids and a random forest at their own defaults.
# Three parts: `sets`, held-out error, number of columns, stability and CPU time on gene expression
# and on tall data; `noise`, where no column should be selected; `cost`, CPU time and memory on wide
# simulated data.
#
#   Rscript bench/defaults.R DIR [sets noise cost] [only=gene|colon,golub] [folds=5] [repeats=2]
#                            [rows=5000] [draws=100] [genes=20000] [times=3] [cores=1]
#                            [packages=glmnet,ncvreg,L0Learn,pamr,ranger] [out=bench/results]
#
# DIR holds the data sets as .rds files, each made by saveRDS(list(X = , y = ), file), those of
# survival with `event` or `status` for the class; `data_sets` below has their names,
# bench/README.md says what is in each and where to get it. A missing file is skipped, and so is a
# method whose package is not installed or not among `packages`; glmnet is needed. About 25 minutes
# with cores=2. A quick look: only=colon,housing repeats=1 draws=3 genes=2000 out=/tmp. More repeats
# of the genes, in bench/results/defaults-gene.txt: sets only=gene repeats=10 packages=glmnet.
#
# All methods have the same splits and run in turn. CPU seconds are of one thread and a whole call,
# including the choice of the size or penalty. The standard error for one data set is over its
# splits, whose training sets overlap, and so approximate; that of a mean over data sets is over
# data sets. `cores` data sets are measured at a time, and then share the memory bandwidth.
#
# Sources: R/search-greedy.R R/fit-size.R R/fold-*.R src/greedy*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
source("bench/common.R")

parts <- c("sets", "noise", "cost")
line <- command_line(list(only = "all", folds = "5", repeats = "2", rows = "5000", draws = "100",
                          genes = "20000", times = "3", cores = "1",
                          packages = "glmnet,ncvreg,L0Learn,pamr,ranger", out = "bench/results"))
given <- line$options
if (!length(line$words)) stop("usage: Rscript bench/defaults.R DIR [sets noise cost]")
if (!requireNamespace("glmnet", quietly = TRUE)) stop("the package glmnet is not installed")
directory <- line$words[1]
wanted <- if (length(line$words) > 1) line$words[-1] else parts
folds <- as.integer(given$folds)
repeats <- as.integer(given$repeats)
rows <- as.integer(given$rows)
draws <- as.integer(given$draws)
genes <- as.integer(given$genes)
times <- as.integer(given$times)
cores <- as.integer(given$cores)
stopifnot(dir.exists(directory), wanted %in% parts, folds > 1, repeats > 0)

# Data --------------------------------------------------------------------------------------------

# `y`: the name of the response in the file; `column`: which of several responses; `large`: trained
# on `rows` random rows, four times, where the others are cross-validated.
data_sets <- list(
  colon = list(file = "colon_alon", kind = "gene", classes = TRUE),
  golub = list(kind = "gene", classes = TRUE),
  prostate = list(file = "prostate_singh", kind = "gene", classes = TRUE),
  khan = list(file = "khan_srbct", kind = "gene", classes = TRUE),
  breast = list(file = "breast_vdv", y = "event", kind = "gene", classes = TRUE),
  sorlie = list(file = "surv_sorlie", y = "status", kind = "gene", classes = TRUE),
  nki70 = list(file = "surv_nki70", y = "status", kind = "gene", classes = TRUE),
  lung = list(file = "surv_lung", y = "status", kind = "gene", classes = TRUE),
  riboflavin = list(kind = "gene"),
  yeast = list(file = "yeast_cellcycle", column = 1, kind = "gene"),
  diabetes = list(file = "diabetes_lars", kind = "tall"),
  housing = list(kind = "tall"),
  pole = list(file = "pole_telecomm", kind = "tall", large = TRUE),
  a9a = list(kind = "tall", classes = TRUE, large = TRUE),
  ijcnn1 = list(kind = "tall", classes = TRUE, large = TRUE),
  sonar = list(kind = "tall", classes = TRUE),
  ionosphere = list(kind = "tall", classes = TRUE),
  german = list(file = "german_numer", kind = "tall", classes = TRUE),
  australian = list(kind = "tall", classes = TRUE),
  svmguide3 = list(kind = "tall", classes = TRUE)
)

settings <- function(name) {
  utils::modifyList(list(name = name, file = name, y = "y", classes = FALSE, large = FALSE),
                    data_sets[[name]])
}

file_of <- function(set) file.path(directory, paste0(set$file, ".rds"))

# list(x: a matrix of doubles; y: a numeric vector or a factor)
read_set <- function(set) {
  data <- readRDS(file_of(set))
  y <- data[[set$y]]
  if (is.null(y)) stop(file_of(set), " has no `", set$y, "`")
  if (!is.null(set$column)) y <- y[, set$column]
  x <- as.matrix(data$X)
  storage.mode(x) <- "double"
  dimnames(x) <- list(NULL, paste0("V", seq_len(ncol(x))))
  list(x = x, y = if (set$classes) factor(y) else as.numeric(y))
}

some_rows <- function(data, rows) list(x = data$x[rows, , drop = FALSE], y = data$y[rows])

# Training and test rows of every split
splits_of <- function(set, y) {
  set.seed(2024)
  if (set$large) return(lapply(1:4, function(i) drawn_split(length(y))))
  strata <- if (set$classes) y else FALSE
  ids <- make_folds(length(y), folds, strata = strata, repeats = repeats)$ids
  held_out <- unlist(lapply(seq_len(repeats), function(r) unname(split(seq_along(y), ids[, r]))),
                     recursive = FALSE)
  lapply(held_out, function(test) list(train = setdiff(seq_along(y), test), test = test))
}

drawn_split <- function(m) {
  order <- sample.int(m)
  train <- seq_len(min(rows, m %/% 2))
  list(train = order[train], test = utils::head(order[-train], 4 * rows))
}

# Columns with common factors, like genes; ten of them explain half of the variance of the response.
simulated <- function(m, n) {
  set.seed(1)
  x <- matrix(rnorm(m * 10), m) %*% matrix(rnorm(10 * n), 10) / sqrt(10) + matrix(rnorm(m * n), m)
  signal <- rowSums(x[, sample.int(n, 10)])
  list(x = x, y = signal + sd(signal) * rnorm(m))
}

# Methods -----------------------------------------------------------------------------------------

# A method is fitted to a training part and predicts new rows. It returns a list with one element
# for each of its rules: the predictions (numbers or classes) and the columns of the model.

greedy <- function(...) {
  function(train, newdata) {
    fit <- greedy_rls(as_problem(train$x, train$y), ..., progress = FALSE)
    type <- if (is.factor(train$y)) "class" else "response"
    list(list(predicted = predict(fit, newdata, type = type),
              columns = selected(fit, index = TRUE)))
  }
}

family_of <- function(y) {
  if (!is.factor(y)) return("gaussian")
  if (nlevels(y) > 2) "multinomial" else "binomial"
}

# Columns with a coefficient other than zero, for any of the classes
nonzero <- function(coefficients) {
  if (!is.list(coefficients)) coefficients <- list(coefficients)
  which(Reduce(`|`, lapply(coefficients, function(one) as.vector(one)[-1] != 0)))
}

lasso <- function(train, newdata) {
  fit <- glmnet::cv.glmnet(train$x, train$y, family = family_of(train$y))
  type <- if (is.factor(train$y)) "class" else "response"
  lapply(c("lambda.min", "lambda.1se"), function(rule) {
    list(predicted = drop(predict(fit, newdata, s = rule, type = type)),
         columns = nonzero(coef(fit, s = rule)))
  })
}

# Predictions of a linear model, whose value for two classes is a score that is positive for the
# second
linear <- function(value, coefficients, y) {
  if (is.factor(y)) value <- levels(y)[1 + (value > 0)]
  list(list(predicted = value, columns = nonzero(coefficients)))
}

mcp <- function(train, newdata) {
  y <- if (is.factor(train$y)) as.integer(train$y) - 1 else train$y
  fit <- ncvreg::cv.ncvreg(train$x, y, family = family_of(train$y), penalty = "MCP")
  linear(drop(predict(fit, newdata, type = "link")), coef(fit), train$y)
}

# It does not accept constant columns, and for separable classes its cross-validated losses may all
# be NaN; then the largest lambda is used.
l0_learn <- function(train, newdata) {
  varying <- apply(train$x, 2, function(column) any(column != column[1]))
  y <- if (is.factor(train$y)) 2 * as.integer(train$y) - 3 else train$y
  loss <- if (is.factor(train$y)) "Logistic" else "SquaredError"
  fit <- L0Learn::L0Learn.cvfit(train$x[, varying], y, loss = loss)
  lambda <- fit$fit$lambda[[1]][c(which.min(fit$cvMeans[[1]]), 1)[1]]
  coefficients <- numeric(1 + length(varying))
  coefficients[c(TRUE, varying)] <- as.vector(coef(fit, lambda = lambda))
  value <- drop(coefficients[1] + newdata %*% coefficients[-1])
  linear(value, coefficients, train$y)
}

# The largest threshold with the fewest errors in cross-validation
centroids <- function(train, newdata) {
  data <- list(x = t(train$x), y = train$y)
  utils::capture.output({
    fit <- pamr::pamr.train(data)
    errors <- pamr::pamr.cv(fit, data)$error
  })
  threshold <- fit$threshold[max(which(errors == min(errors)))]
  columns <- suppressWarnings(pamr::pamr.predict(fit, data$x, threshold, type = "nonzero"))
  list(list(predicted = pamr::pamr.predict(fit, t(newdata), threshold), columns = columns))
}

forest <- function(train, newdata) {
  fit <- ranger::ranger(x = train$x, y = train$y, num.threads = 1)
  list(list(predicted = predict(fit, newdata, num.threads = 1)$predictions,
            columns = seq_len(ncol(train$x))))
}

anything <- function(y) TRUE
at_most_two_classes <- function(y) nlevels(y) < 3

# `rules`: names of the elements that `run` returns; `takes`: whether the method accepts a response
methods <- list(
  list(rules = "greedy_rls", run = greedy(), takes = anything),
  list(rules = "greedy_rls, size min", run = greedy(size = "min"), takes = anything),
  list(rules = "greedy_rls, size 1se", run = greedy(size = "1se"), takes = anything),
  list(rules = "search alone", run = greedy(size = "criterion", refit = FALSE, lambda = "full"),
       takes = anything),
  list(rules = c("lasso, min", "lasso, 1se"), run = lasso, takes = anything, package = "glmnet"),
  list(rules = "MCP", run = mcp, takes = at_most_two_classes, package = "ncvreg"),
  list(rules = "L0Learn", run = l0_learn, takes = at_most_two_classes, package = "L0Learn"),
  list(rules = "shrunken centroids", run = centroids, takes = is.factor, package = "pamr"),
  list(rules = "random forest", run = forest, takes = anything, package = "ranger")
)
methods <- Filter(function(method) {
  is.null(method$package) || method$package %in% strsplit(given$packages, ",")[[1]] &&
    requireNamespace(method$package, quietly = TRUE)
}, methods)
baseline <- "lasso, min"

# One call of each method that accepts the response, in turn: a list of predictions, columns and CPU
# seconds for each rule. A method of another package that fails is skipped.
run_all <- function(methods, train, newdata) {
  methods <- Filter(function(method) method$takes(train$y), methods)
  found <- lapply(methods, function(method) {
    from <- proc.time()
    result <- suppressWarnings(
      if (is.null(method$package)) method$run(train, newdata) else
        tryCatch(method$run(train, newdata), error = function(e) NULL)
    )
    used <- sum((proc.time() - from)[1:2])
    if (is.null(result)) return(NULL)
    names(result) <- method$rules
    lapply(result, c, list(cpu = used))
  })
  unlist(found, recursive = FALSE)
}

# Data sets ---------------------------------------------------------------------------------------

# The number of wrong classes, or the residual sum of squares
loss <- function(predicted, y) {
  if (is.factor(y)) sum(as.character(predicted) != as.character(y)) else sum((y - predicted)^2)
}

# the loss of predicting the training mean, by which the residual sum of squares is divided
total <- function(train, y) if (is.factor(y)) length(y) else sum((y - mean(train))^2)

# The stability of a selection over training parts (Nogueira, Sechidis, Brown 2018): 1 where all are
# the same, 0 for columns drawn at random; not defined for no columns and for all.
stability <- function(sets, n) {
  share <- tabulate(unlist(sets), n) / length(sets)
  size <- mean(lengths(sets)) / n
  if (size == 0 || size == 1) return(NA_real_)
  variance <- share * (1 - share) * length(sets) / (length(sets) - 1)
  1 - mean(variance) / (size * (1 - size))
}

se <- function(values) sd(values) / sqrt(length(values))

# A row for each rule. Errors of the splits, `losses` over the mean of `totals`, have the error of
# all test rows as their mean.
measure_set <- function(set) {
  data <- read_set(set)
  splits <- splits_of(set, data$y)
  runs <- lapply(seq_along(splits), function(i) {
    set.seed(i)
    order <- if (i %% 2) methods else rev(methods)
    run_all(order, some_rows(data, splits[[i]]$train), data$x[splits[[i]]$test, , drop = FALSE])
  })
  totals <- vapply(splits, function(s) total(data$y[s$train], data$y[s$test]), 0)
  rules <- Reduce(intersect, lapply(runs, names), unlist(lapply(methods, `[[`, "rules")))
  losses <- vapply(rules, function(rule) {
    mapply(function(run, s) loss(run[[rule]]$predicted, data$y[s$test]), runs, splits)
  }, numeric(length(splits)))
  errors <- losses / mean(totals)
  differences <- errors - errors[, baseline]
  columns <- lapply(rules, function(rule) lapply(runs, function(run) run[[rule]]$columns))
  data.frame(
    set = set$name, kind = set$kind, method = rules, error = colMeans(errors),
    difference = colMeans(differences), se = apply(differences, 2, se),
    less_search = colMeans(errors - errors[, "search alone"]),
    less_search_se = apply(errors - errors[, "search alone"], 2, se),
    columns = vapply(columns, function(sets) mean(lengths(sets)), 0),
    stability = vapply(columns, stability, 0, n = ncol(data$x)),
    cpu = vapply(rules, function(rule) mean(vapply(runs, function(run) run[[rule]]$cpu, 0)), 0),
    row.names = NULL
  )
}

say_set <- function(set, result) {
  data <- readRDS(file_of(set))$X
  how <- if (set$large) sprintf("4 draws of %d training rows", min(rows, nrow(data) %/% 2)) else
    sprintf("%d folds x %d", folds, repeats)
  heading("%s, %d x %d, %s; %s", set$name, nrow(data), ncol(data),
          if (set$classes) "error rate" else "1 - R-squared", how)
  say_table(shown(result))
}

# `sets`: how many data sets a mean is over, where there are several
shown <- function(result, sets = NULL) {
  fixed <- function(values, digits) {
    ifelse(is.na(values), "-", formatC(values, digits = digits, format = "f"))
  }
  table <- data.frame(
    method = format(result$method), error = fixed(result$error, 3),
    difference = sprintf("%+.3f (%s)", result$difference, fixed(result$se, 3)),
    columns = fixed(result$columns, 1), stability = fixed(result$stability, 2),
    CPU_s = fixed(result$cpu, 3)
  )
  if (!is.null(sets)) table$sets <- sets
  table
}

# Means over the data sets of a kind. A method that fails on some of them is compared with the lasso
# on the others.
say_means <- function(results, kind) {
  of_kind <- results[results$kind == kind, ]
  if (!nrow(of_kind)) return(invisible())
  each <- split(of_kind, factor(of_kind$method, unique(results$method)), drop = TRUE)
  means <- lapply(each, function(one) {
    data.frame(method = one$method[1], error = mean(one$error), difference = mean(one$difference),
               se = se(one$difference), columns = mean(one$columns),
               stability = mean(one$stability, na.rm = TRUE), cpu = mean(one$cpu))
  })
  heading("%s data, means over the sets; difference to `%s`, its standard error over the sets",
          kind, baseline)
  say_table(shown(do.call(rbind, means), vapply(each, nrow, 0L)))
}

rows_of <- function(results, sets, method) {
  of_method <- results[results$method == method, ]
  of_method[match(sets, of_method$set), ]
}

# The defaults against the search alone, with the size chosen by its own criterion
say_search <- function(results) {
  own <- results[results$method == "greedy_rls", ]
  heading("`greedy_rls` less `search alone`, paired over splits, and its columns")
  before <- rows_of(results, own$set, "search alone")
  say_table(data.frame(
    set = format(own$set), kind = own$kind,
    difference = sprintf("%+.4f (%.4f)", own$less_search, own$less_search_se),
    columns = formatC(own$columns, digits = 1, format = "f"),
    of_search = formatC(before$columns, digits = 1, format = "f")
  ))
}

# The number of columns of a rule divided by that of the lasso: mean and median over the data sets
say_shares <- function(results, kind) {
  lasso <- results[results$kind == kind & results$method == baseline, ]
  if (!nrow(lasso)) return(invisible())
  rules <- c("greedy_rls", "greedy_rls, size min", "greedy_rls, size 1se", "lasso, 1se")
  share <- vapply(rules, function(rule) {
    of <- rows_of(results, lasso$set, rule)$columns / lasso$columns
    c(mean = mean(of), median = median(of))
  }, c(0, 0))
  heading("%s data: columns as a share of those of `%s`, over the sets", kind, baseline)
  say_table(data.frame(method = format(rules), round(t(share), 2)))
}

measure_sets <- function() {
  kind <- vapply(data_sets, `[[`, "", "kind")
  names <- if (given$only %in% kind) names(data_sets)[kind == given$only] else
    if (given$only == "all") names(data_sets) else strsplit(given$only, ",")[[1]]
  stopifnot(names %in% names(data_sets))
  sets <- lapply(names, settings)
  there <- vapply(sets, function(set) file.exists(file_of(set)), NA)
  if (any(!there)) say("not there: %s", paste(names[!there], collapse = ", "))
  results <- parallel::mclapply(sets[there], measure_set, mc.cores = cores,
                                mc.preschedule = FALSE)
  failed <- Filter(function(one) inherits(one, "try-error"), results)
  if (length(failed)) stop(failed[[1]])
  for (i in seq_along(results)) say_set(sets[there][[i]], results[[i]])
  results <- do.call(rbind, results)
  for (kind in unique(results$kind)) {
    say_means(results, kind)
    say_shares(results, kind)
  }
  say_search(results)
  results
}

# Noise -------------------------------------------------------------------------------------------

# How often each rule selects no column on noise, and how many columns on average
measure_noise <- function(m = 100, n = 5000) {
  selecting <- Filter(function(method) method$rules[1] != "random forest", methods)
  sizes <- vapply(seq_len(draws), function(draw) {
    set.seed(draw)
    data <- list(x = matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("V", 1:n))),
                 y = rnorm(m))
    lengths(lapply(run_all(selecting, data, data$x[1:2, ]), `[[`, "columns"))
  }, integer(sum(lengths(lapply(Filter(function(one) one$takes(1), selecting), `[[`, "rules")))))
  heading("noise, %d x %d, %d draws of numbers: how often nothing is selected", m, n, draws)
  say_table(data.frame(method = format(rownames(sizes)),
                       nothing = sprintf("%d of %d", rowSums(sizes == 0), draws),
                       mean_columns = formatC(rowMeans(sizes), digits = 1, format = "f")))
}

# Cost --------------------------------------------------------------------------------------------

calls <- c(
  "greedy_rls" = "greedy_rls(x, y, progress = FALSE)",
  "search alone" = 'greedy_rls(x, y, size = "criterion", refit = FALSE, lambda = "full")',
  "lasso, cv.glmnet" = "glmnet::cv.glmnet(x, y)"
)

# A fresh process: its largest resident size during the call, less that just before, in bytes.
# Linux only.
memory_script <- '
library(sparsels)
size <- function(what) {
  line <- grep(what, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
data <- readRDS("%s")
x <- data$x
y <- data$y
rm(data)
invisible(loadNamespace("glmnet"))
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- size("VmRSS")
invisible(%s)
cat(size("VmHWM") - before)
'

memory <- function(file, call) {
  if (!file.exists("/proc/self/clear_refs")) return(NA_real_)
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(sprintf(memory_script, file, call), script)
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  as.numeric(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, env = libraries))
}

measure_cost <- function(m = 100) {
  data <- simulated(m, genes)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(data, file, compress = FALSE)
  run <- lapply(calls, function(call) {
    expression <- str2lang(call)
    function() eval(expression, data, globalenv())
  })
  seconds <- interleaved(run, times, cpu)
  bytes <- vapply(calls, function(call) memory(file, call), 0)
  heading("cost, simulated %d x %d (%.0f MB): CPU seconds, medians of %d; memory beyond x", m,
          genes, as.numeric(object.size(data$x)) / 2^20, times)
  say_table(data.frame(method = format(names(calls)),
                       CPU_s = formatC(seconds, digits = 3, format = "f"),
                       to_lasso = formatC(seconds / seconds[3], digits = 2, format = "f"),
                       MB = formatC(bytes / 2^20, digits = 0, format = "f")))
}

# Picture -----------------------------------------------------------------------------------------

drawn <- list(list("search alone", "grey", 17), list("lasso, 1se", "green", 15),
              list("greedy_rls", "blue", 16))

# Sets from top to bottom, with a line between the kinds
set_axis <- function(results, sets) {
  at <- rev(seq_along(sets))
  axis(2, at, sets, las = 1, tick = FALSE)
  abline(h = at, col = "grey90")
  kind <- results$kind[match(sets, results$set)]
  change <- which(kind[-1] != kind[-length(kind)])
  abline(h = at[change] - 0.5, col = colours["grey"], lty = 3)
  at
}

error_panel <- function(results, sets) {
  shown <- lapply(drawn, function(one) rows_of(results, sets, one[[1]]))
  ends <- unlist(lapply(shown, function(one) c(one$difference - one$se, one$difference + one$se)))
  plot(range(ends, 0), c(0.5, length(sets) + 0.5), type = "n", yaxt = "n", ylab = "",
       xlab = "error less that of the lasso at its minimum",
       main = "error rate or 1 - R-squared, bars: one standard error")
  at <- set_axis(results, sets)
  abline(v = 0, col = colours["grey"], lwd = 2)
  for (i in seq_along(drawn)) {
    y <- at + (i - 2) / 5
    one <- shown[[i]]
    colour <- colours[drawn[[i]][[2]]]
    segments(one$difference - one$se, y, one$difference + one$se, y, col = colour, lwd = 2)
    points(one$difference, y, pch = drawn[[i]][[3]], col = colour)
  }
  legend("bottomright", vapply(drawn, `[[`, "", 1), pch = vapply(drawn, `[[`, 0, 3),
         col = colours[vapply(drawn, `[[`, "", 2)], bg = "white", box.col = NA, inset = 0.01)
  box()
}

columns_panel <- function(results, sets) {
  methods <- c(drawn, list(list(baseline, "red", 18)))
  counts <- lapply(methods, function(one) sqrt(rows_of(results, sets, one[[1]])$columns))
  ticks <- c(0, 1, 5, 10, 20, 50, 100)
  plot(range(unlist(counts), 0), c(0.5, length(sets) + 0.5), type = "n", xaxt = "n", yaxt = "n",
       ylab = "", xlab = "columns of the model, on a square root scale", main = "number of columns")
  axis(1, sqrt(ticks), ticks)
  at <- set_axis(results, sets)
  for (i in seq_along(methods)) {
    points(counts[[i]], at + (i - 2.5) / 6, pch = methods[[i]][[3]],
           col = colours[methods[[i]][[2]]])
  }
  legend("bottomright", vapply(methods, `[[`, "", 1), pch = vapply(methods, `[[`, 0, 3),
         col = colours[vapply(methods, `[[`, "", 2)], bg = "white", box.col = NA, inset = 0.01)
  box()
}

draw <- function(results) {
  sets <- unique(results$set)
  layout(matrix(1:2, 1), widths = c(1.2, 1))
  par(mar = c(4.2, 6, 2.6, 1), mgp = c(2.6, 0.7, 0), cex = 0.9)
  error_panel(results, sets)
  columns_panel(results, sets)
}

# Run ---------------------------------------------------------------------------------------------

peers <- c("glmnet", "ncvreg", "L0Learn", "pamr", "ranger")
version_of <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) return(paste(package, "not installed"))
  paste(package, utils::packageVersion(package))
}

say("%s", machine_line())
say("%s", paste(vapply(peers, version_of, ""), collapse = ", "))
before <- load_average()
used <- proc.time()
results <- if ("sets" %in% wanted) measure_sets()
if ("noise" %in% wanted) measure_noise()
if ("cost" %in% wanted) measure_cost()
heading("load average at start and end: %s and %s; it took %.0f minutes", before, load_average(),
        (proc.time() - used)[[3]] / 60)

name <- if (given$only %in% results$kind) paste0("defaults-", given$only) else "defaults"
if (setequal(wanted, parts) || name != "defaults") {
  writeLines(lines, file.path(given$out, paste0(name, ".txt")))
}
if (!is.null(results) && name == "defaults") {
  height <- 150 + 32 * length(unique(results$set))
  picture(file.path(given$out, "defaults.png"), 1400, max(height, 400), function() draw(results))
}
