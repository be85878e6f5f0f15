# Can greedy_rls() choose fewer columns at the same error? Other rules for the size beside the rule
# of the package and the lasso (cv.glmnet, lambda.min), by outer folds on real and made data.
#
#   Rscript bench/shorter-lists.R DIR [half=choose|confirm|all] [only=colon,swiss] [folds=5]
#                                 [out=bench/results]
#
# Protocol, written before the first run. Sets in odd places of the list below choose, sets in
# even places confirm. All rules read the same fits: the sets of columns of each size without each
# of the ten inner folds, at the lambda that the package chose, and the squared errors of the rows
# held out. Where the package chooses no column, every rule chooses none, so that noise stays as it
# is. A rule is adopted if on the sets that choose its columns are at most two thirds of the
# lasso's (geometric mean of the ratios of size + 1), its error is at most .002 above the package's,
# and both hold again on the sets that confirm, the error within one standard error of 0.
#
#   share t   the smallest size whose held-out error is at most t of the gain over the null model
#             above the smallest error, for t in 0, .01, .02, .05, .1, .2
#   rows      the smallest size whose error is above the smallest by at most a twentieth of the gain
#             and two (rows 1: one) standard errors of the paired differences of rows
#   drop t    the package's size, then columns are dropped one by one, always the column whose exact
#             leave-one-out error without it is smallest, as long as that error is at most (1 + t)
#             times the smallest so far
#   joint t   size and the lambda of the refit together: the smallest size for which some of the
#             lambdas 16^(-3:1) m has a held-out error of at most t of the gain above the smallest
#
# Errors are error rates of classes, 1 - R-squared of numbers, 1 - concordance of censored times (no
# refits of their own there: drop and joint are as the package). The table has means over sets, with
# standard errors over sets of the paired differences. About 6 minutes of CPU.
#
# Sources: R/search-greedy.R R/fit-size.R src/greedy*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
library(survival)
source("bench/common.R")

line <- command_line(list(half = "all", only = "all", folds = "5",
                          out = "bench/results"))
given <- line$options
if (!length(line$words)) stop("usage: Rscript bench/shorter-lists.R DIR")
directory <- line$words[1]
outer <- as.integer(given$folds)
stopifnot(dir.exists(directory), given$half %in% c("choose", "confirm", "all"))

# Data --------------------------------------------------------------------------------------------

from_file <- function(file, y = "y", classes = FALSE, column = NULL) {
  function() {
    data <- readRDS(file.path(directory, paste0(file, ".rds")))
    value <- data[[y]]
    if (!is.null(column)) value <- value[, column]
    list(x = as.matrix(data$X), y = if (classes) factor(value) else as.numeric(value))
  }
}
from_frame <- function(formula, frame, package = "datasets") {
  function() {
    data <- new.env()
    utils::data(list = frame, package = package, envir = data)
    frame <- stats::model.frame(formula, data[[frame]])
    y <- stats::model.response(frame)
    if (is.character(y)) y <- factor(y)
    list(x = stats::model.matrix(formula, frame)[, -1], y = if (is.factor(y)) droplevels(y) else y)
  }
}
upper <- function(score, share) factor(score > quantile(score, 1 - share))
normal <- function(m, n) matrix(rnorm(m * n), m)
made <- function(draw) {
  function() {
    set.seed(99)
    draw()
  }
}

sets <- list(
  colon = from_file("colon_alon", classes = TRUE), golub = from_file("golub", classes = TRUE),
  prostate = from_file("prostate_singh", classes = TRUE),
  khan = from_file("khan_srbct", classes = TRUE),
  breast = from_file("breast_vdv", "event", TRUE),
  sorlie = from_file("surv_sorlie", "status", TRUE),
  nki70 = from_file("surv_nki70", "status", TRUE), riboflavin = from_file("riboflavin"),
  yeast = from_file("yeast_cellcycle", column = 1),
  yeast_9 = from_file("yeast_cellcycle", column = 9),
  diabetes = from_file("diabetes_lars"), housing = from_file("housing"),
  sonar = from_file("sonar", classes = TRUE), ionosphere = from_file("ionosphere", classes = TRUE),
  german = from_file("german_numer", classes = TRUE),
  australian = from_file("australian", classes = TRUE),
  crime = from_frame(y ~ ., "UScrime", "MASS"), cpus = from_frame(
    log(perf) ~ syct + mmin + mmax + cach + chmin + chmax, "cpus", "MASS"),
  swiss = from_frame(Fertility ~ ., "swiss"), pima = from_frame(type ~ .^2, "Pima.tr", "MASS"),
  births = from_frame(factor(low) ~ (age + lwt + factor(race) + smoke + ptl + ht + ui + ftv)^2,
                      "birthwt", "MASS"),
  nuclear = function() {
    data <- new.env()
    utils::data(list = "nuclear", package = "boot", envir = data)
    list(x = as.matrix(data$nuclear[-1]), y = log(data$nuclear$cost))
  },
  gasoline = function() {
    data <- new.env()
    utils::data(list = "gasoline", package = "pls", envir = data)
    list(x = unclass(data$gasoline$NIR)[, ], y = data$gasoline$octane)
  },
  glass = from_frame(type ~ .^2, "fgl", "MASS"),
  sorlie_times = function() {
    data <- readRDS(file.path(directory, "surv_sorlie.rds"))
    list(x = as.matrix(data$X), y = Surv(pmax(data$time, 0.01), data$status))
  },
  nki70_times = function() {
    data <- readRDS(file.path(directory, "surv_nki70.rds"))
    list(x = as.matrix(data$X), y = Surv(pmax(data$time, 0.01), data$status))
  },
  made_heavy = made(function() {
    x <- normal(100, 60)
    list(x = x, y = x[, 1] + x[, 2] + x[, 3] / 2 + rt(100, 2.5))
  }),
  made_skewed = made(function() {
    x <- normal(100, 60)
    list(x = x, y = exp(x[, 1] + x[, 2] / 2 + rnorm(100, sd = 0.5)))
  }),
  made_weak = made(function() {
    x <- normal(120, 300)
    list(x = x, y = as.vector(x[, 1:10] %*% rep(0.4, 10)) + rnorm(120))
  }),
  made_rare = made(function() {
    x <- normal(120, 200)
    list(x = x, y = upper(1.5 * x[, 1] + x[, 2] + 0.7 * rnorm(120), 0.15))
  }),
  made_grouped = made(function() {
    group <- rep(1:25, each = 4)
    x <- normal(25, 200)[group, ] + 0.7 * normal(100, 200)
    list(x = x, y = x[, 1] + x[, 2] / 2 + rnorm(25)[group] + rnorm(100) / 2, groups = group)
  }),
  made_three = made(function() {
    x <- normal(90, 200)
    list(x = x, y = factor(max.col(1.5 * x[, 1:3] + normal(90, 3))))
  }),
  made_tiny = made(function() {
    x <- normal(19, 20)
    list(x = x, y = 2 * x[, 1] + x[, 2] + rnorm(19))
  }),
  made_dense = made(function() {
    x <- normal(120, 60)
    list(x = x, y = as.vector(x %*% (rnorm(60) / 5)) + rnorm(120))
  })
)
place <- seq_along(sets) %% 2
names(place) <- names(sets)
keep <- given$half == "all" | place == (given$half == "choose")
if (given$only != "all") keep <- keep & names(sets) %in% strsplit(given$only, ",")[[1]]
sets <- sets[keep]

# Ridge regression on few columns ------------------------------------------------------------------

coded <- function(y) {
  if (!is.factor(y)) return(matrix(y))
  if (nlevels(y) == 2) return(matrix(ifelse(as.integer(y) == 2, 1, -1)))
  2 * (outer(as.integer(y), seq_len(nlevels(y)), "==") + 0) - 1
}

# Models with an intercept on standardised columns for lambdas, with their leave-one-out errors.
ridges <- function(x, y, lambdas) {
  centre <- colMeans(x)
  scale <- sqrt(colMeans((x - rep(centre, each = nrow(x)))^2))
  scale[scale == 0] <- 1
  z <- (x - rep(centre, each = nrow(x))) / rep(scale, each = nrow(x))
  decomposed <- svd(z)
  d <- decomposed$d
  mean <- colMeans(y)
  inner <- crossprod(decomposed$u, y - rep(mean, each = nrow(y)))
  lapply(lambdas, function(lambda) {
    share <- d^2 / (d^2 + lambda)
    fitted <- rep(mean, each = nrow(y)) + decomposed$u %*% (share * inner)
    leverage <- 1 / nrow(x) + as.vector(decomposed$u^2 %*% share)
    b <- decomposed$v %*% (d / (d^2 + lambda) * inner) / scale
    list(b = b, a = mean - as.vector(crossprod(b, centre)),
         loo = mean(rowSums(((y - fitted) / (1 - leverage))^2)))
  })
}
score <- function(model, x) rep(model$a, each = nrow(x)) + x %*% model$b
grid <- 16^(-3:1)
best_ridge <- function(x, y) {
  models <- ridges(x, y, grid * nrow(x))
  models[[which.min(vapply(models, `[[`, 0, "loo"))]]
}

# For each t the columns left after the drops, which go on as long as the leave-one-out error is at
# most (1 + t) times the smallest so far.
dropped <- function(x, y, columns, ts) {
  left <- rep(list(columns), length(ts))
  going <- rep(TRUE, length(ts))
  least <- best_ridge(x[, columns, drop = FALSE], y)$loo
  while (length(columns) > 1 && any(going)) {
    without <- vapply(seq_along(columns), function(j) {
      best_ridge(x[, columns[-j], drop = FALSE], y)$loo
    }, 0)
    going <- going & min(without) <= (1 + ts) * least
    columns <- columns[-which.min(without)]
    left[going] <- list(columns)
    least <- min(least, without)
  }
  left
}

# One training part --------------------------------------------------------------------------------

# The models without each inner fold, taken from the call of the package that chooses among them.
captured <- NULL
invisible(suppressMessages(trace(
  "choice_of", quote(assign("captured", list(problem = problem, done = done, parts = parts),
                            globalenv())), print = FALSE, where = asNamespace("sparsels")
)))
quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# The squared errors of rows held out, rows x sizes, at a place of lambda.
held_out_losses <- function(x, place) {
  y <- captured$problem$rows$y
  sizes <- length(captured$done[[1]]$models[[place]])
  losses <- matrix(NA_real_, nrow(y), sizes)
  for (fold in seq_along(captured$done)) {
    rows <- captured$parts$rows[[fold]]
    for (s in seq_len(sizes)) {
      model <- captured$done[[fold]]$models[[place]][[s]]
      f <- x[rows, model$features, drop = FALSE] %*% model$beta +
        rep(as.vector(model$covariates), each = length(rows))
      losses[rows, s] <- rowSums((y[rows, , drop = FALSE] - f)^2)
    }
  }
  losses
}

# The same for each lambda of the refit, rows x sizes x lambdas, by ridge regression of the sets.
joint_losses <- function(x, place) {
  y <- captured$problem$rows$y
  sizes <- length(captured$done[[1]]$models[[place]])
  losses <- array(NA_real_, c(nrow(y), sizes, length(grid)))
  for (fold in seq_along(captured$done)) {
    rows <- captured$parts$rows[[fold]]
    for (s in seq_len(sizes)) {
      columns <- captured$done[[fold]]$models[[place]][[s]]$features
      left <- y[-rows, , drop = FALSE]
      models <- if (length(columns)) {
        ridges(x[-rows, columns, drop = FALSE], left, grid * nrow(left))
      } else {
        rep(list(list(a = colMeans(left), b = matrix(0, 0, ncol(left)))), length(grid))
      }
      for (g in seq_along(grid)) {
        f <- score(models[[g]], x[rows, columns, drop = FALSE])
        losses[rows, s, g] <- rowSums((y[rows, , drop = FALSE] - f)^2)
      }
    }
  }
  losses
}

shares <- c(0, 0.01, 0.02, 0.05, 0.1, 0.2)
drops <- c(0, 0.01, 0.05)
joints <- c(0, 0.02, 0.05)

smallest_within <- function(error, t) {
  gain <- error[1] - min(error)
  which(error <= min(error) + t * gain + 1e-12)[1] - 1L
}

by_rows <- function(losses, clear) {
  error <- colMeans(losses)
  best <- which.min(error)
  difference <- losses - losses[, best]
  se <- apply(difference, 2, sd) / sqrt(nrow(losses))
  near <- error - error[best] <= pmin(clear * se, (error[1] - error[best]) / 20) + 1e-12
  which(near)[1] - 1L
}

predict_as <- function(scores, y) {
  if (!is.factor(y)) return(scores[, 1])
  if (nlevels(y) == 2) factor(levels(y)[1 + (scores[, 1] > 0)], levels(y)) else
    factor(levels(y)[max.col(scores)], levels(y))
}

# Predictions of new rows and columns by each rule.
by_rules <- function(train, new) {
  fit <- quietly(greedy_rls(do.call(as_problem, train), progress = FALSE))
  of_size <- function(size) {
    times <- inherits(train$y, "Surv")
    type <- if (is.factor(train$y)) "class" else if (times) "risk" else "response"
    predicted <- quietly(predict(fit, new, size = size, type = type))
    list(predicted = predicted, size = size)
  }
  place <- match(fit$lambda, fit$lambda_table$lambda)
  rules <- c("package", paste("share", shares), "rows", "rows 1", paste("drop", drops),
             paste("joint", joints))
  chosen <- stats::setNames(vector("list", length(rules)), rules)
  own <- of_size(fit$size)
  if (fit$size == 0L) return(lapply(chosen, function(rule) own))
  losses <- held_out_losses(train$x, place)
  error <- colMeans(losses, na.rm = TRUE)
  sizes <- c(fit$size, vapply(shares, smallest_within, 0L, error = error),
             by_rows(losses, 2), by_rows(losses, 1))
  sizes <- pmax(sizes, 1L)
  chosen[seq_along(sizes)] <- lapply(sizes, of_size)
  if (inherits(train$y, "Surv")) {
    chosen[-seq_along(sizes)] <- list(own)
    return(chosen)
  }
  y <- coded(train$y)
  refitted <- function(columns, model = best_ridge(train$x[, columns, drop = FALSE], y)) {
    list(predicted = predict_as(score(model, new[, columns, drop = FALSE]), train$y),
         size = length(columns))
  }
  columns <- selected(fit, index = TRUE)
  chosen[paste("drop", drops)] <- lapply(dropped(train$x, y, columns, drops), refitted)
  of_grid <- apply(joint_losses(train$x, place), 2:3, mean)
  chosen[paste("joint", joints)] <- lapply(joints, function(t) {
    gain <- of_grid[1, 1] - min(of_grid)
    near <- of_grid <= min(of_grid) + t * gain + 1e-12
    size <- max(which(rowSums(near) > 0)[1], 2L)
    columns <- selected(fit, size - 1L, index = TRUE)
    x <- train$x[, columns, drop = FALSE]
    refitted(columns, ridges(x, y, grid[which.min(of_grid[size, ])] * nrow(x))[[1]])
  })
  chosen
}

lasso <- function(train, new) {
  set.seed(1)
  y <- train$y
  family <- if (inherits(y, "Surv")) "cox" else if (!is.factor(y)) "gaussian" else
    if (nlevels(y) > 2) "multinomial" else "binomial"
  folds <- if (!is.null(train$groups)) make_folds(nrow(train$x), 10, groups = train$groups)$ids[, 1]
  fit <- quietly(glmnet::cv.glmnet(train$x, y, family = family, foldid = folds,
                                   nfolds = if (nrow(train$x) < 30) 5 else 10))
  used <- coef(fit, s = "lambda.min")
  if (!is.list(used)) used <- list(used)
  nonzero <- lapply(used, function(one) setdiff(which(as.vector(one) != 0), if (family != "cox") 1))
  type <- if (is.factor(y)) "class" else "response"
  predicted <- drop(predict(fit, new, s = "lambda.min", type = type))
  list(predicted = predicted, size = length(unique(unlist(nonzero))))
}

# The error of pooled predictions.
error_of <- function(predicted, y, null) {
  if (inherits(y, "Surv")) {
    return(survival::concordance(y ~ as.numeric(predicted))$concordance)
  }
  if (is.factor(y)) return(mean(as.character(predicted) != as.character(y)))
  sum((as.numeric(predicted) - y)^2) / sum((y - null)^2)
}

of_set <- function(name) {
  data <- sets[[name]]()
  data$x <- data$x[, apply(data$x, 2, sd) > 0, drop = FALSE]
  colnames(data$x) <- paste0("V", seq_len(ncol(data$x)))
  m <- nrow(data$x)
  strata <- if (is.factor(data$y)) data$y else
    if (inherits(data$y, "Surv")) data$y[, 2] else FALSE
  set.seed(2026)
  ids <- make_folds(m, outer, strata = if (is.null(data$groups)) strata, groups = data$groups)$ids
  found <- lapply(seq_len(outer), function(fold) {
    rows <- ids[, 1] == fold
    train <- list(x = data$x[!rows, , drop = FALSE], y = data$y[!rows])
    varying <- apply(train$x, 2, sd) > 0
    train$x <- train$x[, varying, drop = FALSE]
    if (!is.null(data$groups)) train$groups <- data$groups[!rows]
    new <- data$x[rows, varying, drop = FALSE]
    each <- c(by_rules(train, new), list(lasso = lasso(train, new)))
    y <- data$y[rows]
    null <- if (is.numeric(y) && !inherits(y, "Surv")) mean(train$y)
    list(error = vapply(each, function(one) {
      error_of(one$predicted, y, if (is.null(null)) 0 else null)
    }, 0), size = vapply(each, function(one) as.numeric(one$size), 0))
  })
  errors <- rowMeans(vapply(found, `[[`, found[[1]]$error, "error"), na.rm = TRUE)
  data.frame(set = name, rule = names(errors), error = errors,
             size = rowMeans(vapply(found, `[[`, found[[1]]$size, "size")), row.names = NULL)
}

say(machine_line())
results <- do.call(rbind, lapply(names(sets), function(name) {
  took <- system.time(one <- of_set(name))[["elapsed"]]
  message(sprintf("%s %.0f s", name, took))
  one
}))

# Tables -------------------------------------------------------------------------------------------

wide <- function(column) {
  out <- tapply(results[[column]], list(results$set, results$rule), mean)
  out[names(sets), unique(results$rule), drop = FALSE]
}
table_of <- function(which) {
  error <- wide("error")[which, , drop = FALSE]
  size <- wide("size")[which, , drop = FALSE]
  paired <- function(from) {
    difference <- error - error[, from]
    sprintf("%+.4f (%.4f)", colMeans(difference),
            apply(difference, 2, sd) / sqrt(nrow(difference)))
  }
  data.frame(rule = colnames(error), error = colMeans(error), to_package = paired("package"),
             to_lasso = paired("lasso"), columns = colMeans(size),
             ratio_to_lasso = exp(colMeans(log((size + 1) / (size[, "lasso"] + 1)))),
             row.names = NULL)
}
own_half <- place[names(sets)]
for (half in 1:0) {
  which <- names(sets)[own_half == half]
  if (length(which) < 2) next
  heading("%s (%d sets)", if (half == 1) "sets that choose" else "sets that confirm", length(which))
  say_table(table_of(which))
}
heading("sets: error and columns")
shown <- c("package", "share 0.05", "drop 0", "joint 0.02", "lasso")
say_table(data.frame(set = names(sets), half = ifelse(own_half == 1, "choose", "confirm"),
                     error = round(wide("error")[, shown, drop = FALSE], 3),
                     size = round(wide("size")[, shown, drop = FALSE], 1), row.names = NULL))
writeLines(lines, file.path(given$out, "shorter-lists.txt"))
