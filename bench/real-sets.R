# Does greedy_rls() predict as well as cv.glmnet(), with fewer variables, on data of strangers?
#
#   Rscript bench/real-sets.R DIR [only=gasoline,hyper] [folds=5] [cache=FOLDER] [out=bench/results]
#
# Spectra, genotypes, metabolites, molecules, expression, images of cells and eyes, and censored
# times, of packages and of files in DIR (without DIR the sets of files are left out, and without
# the package abess the set trim32, whose response has heavy tails). Both methods are called with
# their defaults (cv.glmnet at lambda.min) on the same training parts, `folds` outer folds with the
# classes in proportion. Missing values are replaced by the means of the training
# rows, for both.
#
# Errors are the mean squared error of numbers, the error rate of classes and 1 - concordance within
# the fold of censored times, each divided by the error of the null model (mean, largest class,
# 1/2). "less lasso" is the difference of these ratios, its standard error over the folds of a set
# and, in the last lines, over sets. "squares" is the error of the lasso with squared errors of
# indicators of the classes, as greedy_rls() has them, instead of the likelihood of the classes.
# "empty" counts the training parts without a column, "worse" those whose chosen lambda has a larger
# list than another one and a larger cross-validated error as well. About 12 minutes of CPU, after
# an end of which a run with the same `cache` goes on with the sets that are not in it.
#
# Sources: R/search-greedy.R R/fit-size.R R/fold-held-out.R src/greedy*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
library(survival)
source("bench/common.R")
source("bench/time-sets.R")

line <- command_line(list(only = "", folds = "5", cache = "", out = "bench/results"))
given <- line$options
folds <- as.integer(given$folds)
directory <- c(line$words, "")[1L]

# Data --------------------------------------------------------------------------------------------

of_package <- function(package, object, item = object) {
  place <- new.env()
  utils::data(list = item, package = package, envir = place)
  place[[object]]
}
plain <- function(x) matrix(as.numeric(as.matrix(x)), nrow(x))
coded_frame <- function(d) stats::model.matrix(~ ., d)[, -1L]

# a response of a data frame of a package, beside its other columns without `drop`
of_frame <- function(package, object, response, drop = NULL, item = object) {
  d <- as.data.frame(of_package(package, object, item))
  d <- stats::na.omit(d[setdiff(names(d), drop)])
  list(x = coded_frame(d[names(d) != response]), y = d[[response]])
}
# columns of descriptors and a response that a package has apart
of_parts <- function(package, x, y, item, change = identity) {
  list(x = plain(of_package(package, x, item)), y = change(of_package(package, y, item)))
}
# the classes of ten rows and more
common_classes <- function(set) {
  kept <- set$y %in% names(which(table(set$y) >= 10))
  list(x = set$x[kept, ], y = droplevels(set$y[kept]))
}
of_cross <- function(object, trait, change = identity) {
  cross <- of_package("qtl", object)
  y <- change(cross$pheno[[trait]])
  x <- do.call(cbind, lapply(cross$geno, function(one) one$data))
  kept <- is.finite(y)
  list(x = x[kept, ], y = y[kept])
}
of_file <- function(file, y = function(data) data$y) {
  data <- readRDS(file.path(directory, paste0(file, ".rds")))
  list(x = as.matrix(data$X), y = y(data))
}
as_times <- function(set) list(x = set$x, y = Surv(pmax(set$time, 0.01), set$event))
spectra <- function(response) {
  d <- of_package("modeldata", "meats")
  list(x = plain(d[1:100]), y = d[[response]])
}
bladder <- function() {
  set <- of_package("bladderbatch", "bladderEset", "bladderdata")
  list(x = t(Biobase::exprs(set)), y = factor(Biobase::pData(set)$cancer == "Cancer"))
}
adrenal <- function() {
  set <- of_package("MultiAssayExperiment", "miniACC")
  patient <- as.data.frame(MultiAssayExperiment::colData(set))
  x <- log2(t(SummarizedExperiment::assay(set[["RNASeq2GeneNorm"]])) + 1)
  patient <- patient[match(substr(rownames(x), 1L, 12L), patient$patientID), ]
  time <- ifelse(patient$vital_status == 1, patient$days_to_death, patient$days_to_last_followup)
  list(x = x, time = time, event = patient$vital_status == 1)
}

sets <- list(
  gasoline = function() {
    d <- of_package("pls", "gasoline")
    list(x = plain(d$NIR), y = d$octane)
  },
  "meats, fat" = function() spectra("fat"), "meats, water" = function() spectra("water"),
  "meats, protein" = function() spectra("protein"),
  yarn = function() {
    d <- of_package("pls", "yarn")
    list(x = plain(d$NIR), y = d$density)
  },
  mayonnaise = function() {
    d <- of_package("pls", "mayonnaise")
    list(x = plain(d$NIR), y = factor(d$oil.type))
  },
  hyper = function() of_cross("hyper", "bp"),
  listeria = function() of_cross("listeria", 1L, log),
  "multitrait 1" = function() of_cross("multitrait", 1L),
  "multitrait 12" = function() of_cross("multitrait", 12L),
  "multitrait 24" = function() of_cross("multitrait", 24L),
  "fatty acids" = function() common_classes(of_parts("caret", "fattyAcids", "oilType", "oil")),
  "blood and brain" = function() of_parts("caret", "bbbDescr", "logBBB", "BloodBrain"),
  "cox2, dose" = function() of_parts("caret", "cox2Descr", "cox2IC50", "cox2", log),
  "cox2, class" = function() of_parts("caret", "cox2Descr", "cox2Class", "cox2"),
  mdrr = function() of_parts("caret", "mdrrDescr", "mdrrClass", "mdrr"),
  dhfr = function() of_frame("caret", "dhfr", "Y"),
  cells = function() of_frame("modeldata", "cells", "class", "case"),
  alzheimer = function() of_frame("modeldata", "ad_data", "Class"),
  speech = function() of_frame("modeldata", "pd_speech", "class"),
  golub = function() {
    list(x = t(of_package("multtest", "golub")),
         y = factor(of_package("multtest", "golub.cl", "golub")))
  },
  bladder = bladder,
  colon = function() list(x = log2(colon_genes$x), y = colon_genes$tissue),
  prostate = function() of_file("prostate_singh", function(d) factor(d$y)),
  khan = function() of_file("khan_srbct", function(d) factor(d$y)),
  riboflavin = function() of_file("riboflavin"),
  "yeast 1" = function() of_file("yeast_cellcycle", function(d) d$y[, 1L]),
  "yeast 9" = function() of_file("yeast_cellcycle", function(d) d$y[, 9L]),
  glaucoma = function() of_frame("ipred", "GlaucomaMVF", "Class"),
  sonar = function() of_frame("mlbench", "Sonar", "Class"),
  ionosphere = function() of_frame("mlbench", "Ionosphere", "Class", "V2"),
  musk = function() of_frame("kernlab", "musk", "Class"),
  sorlie = function() as_times(read_set(directory, "surv_sorlie")),
  nki70 = function() as_times(read_set(directory, "surv_nki70")),
  lung = function() as_times(read_set(directory, "surv_lung")),
  vdv = function() as_times(read_set(directory, "breast_vdv")),
  lymphoma = function() as_times(dlbcl()), pbc = function() as_times(pbc()),
  veteran = function() as_times(from_frame(survival::veteran, "time", "status")),
  "breast, gbsg" = function() as_times(from_frame(survival::gbsg[-1L], "rfstime", "status")),
  adrenal = function() as_times(adrenal()),
  trim32 = function() of_frame("abess", "trim32", "y")
)
files <- c("prostate", "khan", "riboflavin", "yeast 1", "yeast 9", "sorlie", "nki70", "lung", "vdv")
if (!nzchar(directory)) sets <- sets[setdiff(names(sets), files)]
if (!nzchar(system.file(package = "abess"))) sets$trim32 <- NULL
number <- seq_along(sets)
if (nzchar(given$only)) number <- which(names(sets) %in% strsplit(given$only, ",")[[1L]])

# Methods -----------------------------------------------------------------------------------------

quietly <- function(expr) suppressWarnings(suppressMessages(expr))
type_of <- function(y, times) if (is.factor(y)) "class" else if (is.Surv(y)) times else "response"

ours <- function(x, y, new) {
  fit <- quietly(greedy_rls(x, y, progress = FALSE))
  table <- fit$lambda_table
  loss <- if (fit$cv_criterion$higher) -table$cv else table$cv
  own <- match(fit$lambda, table$lambda)
  list(predicted = quietly(predict(fit, new, type = type_of(y, "risk"))), size = fit$size,
       worse = any(table$size < table$size[own] & loss < loss[own], na.rm = TRUE))
}

lasso <- function(x, y, new) {
  family <- if (is.Surv(y)) "cox" else if (!is.factor(y)) "gaussian" else
    if (nlevels(y) > 2L) "multinomial" else "binomial"
  fit <- quietly(glmnet::cv.glmnet(x, y, family = family))
  b <- stats::coef(fit, s = "lambda.min")
  used <- lapply(if (is.list(b)) b else list(b), function(one) {
    setdiff(which(as.vector(one) != 0), if (family != "cox") 1L)
  })
  list(predicted = drop(predict(fit, new, s = "lambda.min", type = type_of(y, "link"))),
       size = length(unique(unlist(used))), worse = NA)
}

# the lasso of squared errors of indicators of classes, NA for other responses
lasso_squares <- function(x, y, new) {
  if (!is.factor(y)) return(list(predicted = NULL, size = NA, worse = NA))
  seed <- .Random.seed
  on.exit(assign(".Random.seed", seed, globalenv())) # the other methods draw the same folds
  indicators <- stats::model.matrix(~ y - 1)
  two <- nlevels(y) == 2L
  fit <- quietly(if (two) glmnet::cv.glmnet(x, indicators[, 2L]) else
    glmnet::cv.glmnet(x, indicators, family = "mgaussian"))
  scores <- predict(fit, new, s = "lambda.min")
  scores <- if (two) cbind(0.5, scores) else matrix(scores, nrow(new))
  list(predicted = levels(y)[max.col(scores, "first")], size = NA, worse = NA)
}

null_model <- function(x, y, new) {
  value <- if (is.factor(y)) names(which.max(table(y))) else if (is.Surv(y)) 0 else mean(y)
  list(predicted = rep(value, nrow(new)), size = 0, worse = NA)
}

error_of <- function(predicted, y) {
  if (is.null(predicted)) return(NA)
  if (is.factor(y)) return(mean(as.character(predicted) != as.character(y)))
  if (!is.Surv(y)) return(mean((as.numeric(predicted) - y)^2))
  1 - concordance(y ~ round(as.numeric(predicted), 10), reverse = TRUE)$concordance
}

# Runs --------------------------------------------------------------------------------------------

methods <- list(ours = ours, lasso = lasso, squares = lasso_squares, null = null_model)

# Columns without a value are 0.
without_missing <- function(x, means) {
  means[is.na(means)] <- 0
  missing <- which(is.na(x), arr.ind = TRUE)
  x[missing] <- means[missing[, 2L]]
  x
}

# error, size, `worse` and seconds x methods x folds of one set
run_set <- function(i) {
  set <- quietly(sets[[i]]())
  if (is.character(set$y)) set$y <- factor(set$y)
  dimnames(set$x) <- list(NULL, paste0("v", seq_len(ncol(set$x))))
  set.seed(i)
  ids <- integer(nrow(set$x))
  strata <- if (is.factor(set$y)) set$y else if (is.Surv(set$y)) set$y[, 2L] else 0 * set$y
  for (one in split(seq_along(ids), strata)) {
    ids[one] <- sample(rep(1:folds, length.out = length(one)))
  }
  result <- vapply(1:folds, function(fold) {
    held <- ids == fold
    means <- colMeans(set$x[!held, ], na.rm = TRUE)
    train <- without_missing(set$x[!held, ], means)
    new <- without_missing(set$x[held, ], means)
    vapply(methods, function(method) {
      seconds <- sum(system.time(one <- method(train, set$y[!held], new))[1:2])
      c(error = error_of(one$predicted, set$y[held]), size = one$size, worse = one$worse,
        seconds = seconds)
    }, c(error = 0, size = 0, worse = 0, seconds = 0))
  }, matrix(0, 4L, length(methods)))
  cat(names(sets)[i], "\t", format(rowMeans(result[1L, , ]), digits = 3L),
      format(rowMeans(result[2L, 1:2, ])), sum(result[3L, 1L, ]), sum(result[4L, , ]), "\n")
  attr(result, "rows") <- dim(set$x)
  result
}
found <- lapply(number, function(i) {
  file <- file.path(given$cache, sprintf("set-%d.rds", i))
  if (nzchar(given$cache) && file.exists(file)) return(readRDS(file))
  result <- run_set(i)
  if (nzchar(given$cache)) saveRDS(result, file)
  result
})

rows <- do.call(rbind, lapply(seq_along(found), function(i) {
  one <- found[[i]]
  dimnames(one) <- list(c("error", "size", "worse", "seconds"), names(methods), NULL)
  null <- mean(one["error", "null", ])
  difference <- (one["error", "ours", ] - one["error", "lasso", ]) / null
  data.frame(set = names(sets)[number[i]], rows = attr(found[[i]], "rows")[1L],
             n = attr(found[[i]], "rows")[2L], ours = mean(one["error", "ours", ]) / null,
             lasso = mean(one["error", "lasso", ]) / null,
             squares = mean(one["error", "squares", ]) / null, difference = mean(difference),
             se = sd(difference) / sqrt(folds), size = mean(one["size", "ours", ]),
             lasso_size = mean(one["size", "lasso", ]), empty = sum(one["size", "ours", ] == 0),
             worse = sum(one["worse", "ours", ]),
             seconds = mean(one["seconds", "ours", ]),
             lasso_seconds = mean(one["seconds", "lasso", ]))
}))

say("%s", machine_line())
heading("%d sets: errors of held-out rows divided by the error of the null model, columns and CPU",
        nrow(rows))
say("seconds of a fit, means of %d outer folds; \"empty\": training parts without a column;", folds)
say("\"worse\": training parts with a larger list at a larger cross-validated error")
say("")
say_table(data.frame(
  set = rows$set, rows = rows$rows, n = rows$n, "greedy_rls" = sprintf("%.3f", rows$ours),
  lasso = sprintf("%.3f", rows$lasso),
  squares = ifelse(is.na(rows$squares), "", sprintf("%.3f", rows$squares)),
  "less lasso" = sprintf("%+.3f", rows$difference),
  se = sprintf("%.3f", rows$se), columns = sprintf("%.1f", rows$size),
  "of lasso" = sprintf("%.1f", rows$lasso_size), empty = rows$empty, worse = rows$worse,
  "CPU s" = sprintf("%.2f", rows$seconds), "of lasso " = sprintf("%.2f", rows$lasso_seconds),
  check.names = FALSE
))
heading("Mean difference of the error %+.4f (standard error of sets %.4f), median %+.4f; better in",
        mean(rows$difference), sd(rows$difference) / sqrt(nrow(rows)), median(rows$difference))
say("%d, worse in %d, worse by more than .05 in %d sets",
    sum(rows$difference < 0), sum(rows$difference > 0), sum(rows$difference > 0.05))
ratio <- (rows$size + 1) / (rows$lasso_size + 1)
say("Columns: %.2f of the lasso's in sum, %.2f by the geometric mean of the ratios of columns + 1",
    sum(rows$size) / sum(rows$lasso_size), exp(mean(log(ratio))))
say("A larger list at a larger cross-validated error: %d of %d training parts", sum(rows$worse),
    folds * nrow(rows))
writeLines(lines, file.path(given$out, "real-sets.txt"))
