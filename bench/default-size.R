# Stresses the default rule for the size of greedy_rls() on made data: how often it chooses no
# column from noise and from responses with a signal, and its error on new rows beside the lasso
# (cv.glmnet, lambda.min).
#
#   Rscript bench/default-size.R [noise signal] [only=n_normal,s_lognormal] [draws=100] [first=301]
#                                [cores=1] [out=bench/results]
#
# The level of the rule was chosen on draws 1 to 100 by other calls of these kinds; the default
# draws confirm it. The error is relative to the model without columns, a mean over draws with the
# standard error of the paired difference. Beside the lasso with the likelihood of the classes the
# table has the lasso with the squared errors of their indicators ("squares"), which is the loss of
# greedy_rls(), and the model of the smallest cross-validated error ("min"), which shows what the
# guard against noise costs. It has the rule that compares ten sums of folds by two standard errors
# ("by folds"), too, from the same fits. About 20 minutes.
#
# Sources: R/search-greedy.R R/fit-size.R R/fold-*.R src/greedy*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
library(survival)
source("bench/common.R")

line <- command_line(list(only = "all", draws = "100", first = "301", cores = "1",
                          out = "bench/results"))
given <- line$options
if (!requireNamespace("glmnet", quietly = TRUE)) stop("the package glmnet is not installed")
wanted <- if (length(line$words)) line$words else c("noise", "signal")
draws <- as.integer(given$first) + seq_len(as.integer(given$draws)) - 1L

# Kinds of data -----------------------------------------------------------------------------------

# Each kind is a function of the number of rows that draws list(x, y, ...), the dots being arguments
# of as_problem(); `rows` is the number of rows to train on.
normal <- function(m, n) matrix(rnorm(m * n), m)
upper <- function(score, share) factor(score > quantile(score, 1 - share))
kind <- function(rows, draw) list(rows = rows, draw = draw)
grouped <- function(m) rep(seq_len(ceiling(m / 4)), each = 4, length.out = m)

kinds <- list(
  n_normal = kind(40, function(m) list(x = normal(m, 200), y = rnorm(m))),
  n_lognormal = kind(40, function(m) list(x = matrix(rlnorm(200 * m), m), y = rlnorm(m))),
  n_heavy = kind(40, function(m) list(x = matrix(rt(200 * m, 2.5), m), y = rt(m, 2.5))),
  n_balanced = kind(40, function(m) list(x = normal(m, 200), y = factor(rep_len(1:2, m)))),
  n_three = kind(60, function(m) list(x = normal(m, 200), y = factor(rep_len(1:3, m)))),
  n_rare = kind(60, function(m) list(x = normal(m, 200), y = upper(rnorm(m), 0.15))),
  n_weighted = kind(60, function(m) {
    list(x = normal(m, 200), y = upper(rnorm(m), 0.15), class_weights = "balanced")
  }),
  n_survival = kind(60, function(m) {
    time <- rexp(m)
    stop <- rexp(m)
    list(x = normal(m, 200), y = Surv(pmin(time, stop), time <= stop))
  }),
  n_grouped = kind(60, function(m) {
    group <- grouped(m)
    x <- normal(max(group), 200)[group, ] + normal(m, 200) / 2
    list(x = x, y = rnorm(max(group))[group] + rnorm(m) / 2, groups = group)
  }),
  n_tiny = kind(15, function(m) list(x = normal(m, 50), y = rnorm(m))),
  n_tiny_classes = kind(16, function(m) list(x = normal(m, 50), y = factor(rep_len(1:2, m)))),
  n_wide = kind(100, function(m) list(x = normal(m, 5000), y = rnorm(m))),
  n_wide_classes = kind(100, function(m) list(x = normal(m, 5000), y = factor(rep_len(1:2, m)))),
  n_tall = kind(200, function(m) list(x = normal(m, 20), y = rnorm(m))),
  s_lognormal = kind(100, function(m) {
    x <- matrix(rlnorm(5 * m), m)
    list(x = x, y = x[, 1] * exp(rnorm(m, sd = 0.3)))
  }),
  s_lognormal_30 = kind(30, function(m) {
    x <- matrix(rlnorm(5 * m), m)
    list(x = x, y = x[, 1] * exp(rnorm(m, sd = 0.3)))
  }),
  s_exponential = kind(60, function(m) {
    x <- normal(m, 50)
    list(x = x, y = exp(x[, 1] + rnorm(m, sd = 0.5)))
  }),
  s_heavy = kind(60, function(m) {
    x <- normal(m, 50)
    list(x = x, y = 1.5 * x[, 1] + rt(m, 2))
  }),
  s_zeros = kind(80, function(m) {
    x <- normal(m, 100)
    list(x = x, y = pmax(0, x[, 1] - 0.5 + 0.3 * rnorm(m)))
  }),
  s_weak = kind(80, function(m) {
    x <- normal(m, 300)
    list(x = x, y = as.vector(x[, 1:5] %*% rep(0.4, 5)) + rnorm(m))
  }),
  s_dominating = kind(100, function(m) {
    x <- normal(m, 100)
    list(x = x, y = 100 * x[, 1] + x[, 2] + x[, 3] + 0.1 * rnorm(m))
  }),
  s_balanced = kind(60, function(m) {
    x <- normal(m, 300)
    list(x = x, y = upper(x[, 1] + x[, 2] + rnorm(m), 0.5))
  }),
  s_rare = kind(80, function(m) {
    x <- normal(m, 200)
    list(x = x, y = upper(1.5 * x[, 1] + x[, 2] + 0.7 * rnorm(m), 0.15))
  }),
  s_three = kind(90, function(m) {
    x <- normal(m, 200)
    list(x = x, y = factor(max.col(1.5 * x[, 1:3] + normal(m, 3))))
  }),
  s_grouped = kind(80, function(m) {
    group <- grouped(m)
    x <- normal(max(group), 200)[group, ] + 0.7 * normal(m, 200)
    y <- x[, 1] + x[, 2] / 2 + rnorm(max(group))[group] + rnorm(m) / 2
    list(x = x, y = y, groups = group)
  }),
  s_tiny = kind(15, function(m) {
    x <- normal(m, 20)
    list(x = x, y = 2 * x[, 1] + rnorm(m))
  })
)

# One draw ----------------------------------------------------------------------------------------

# Size 0 or not by two standard errors of the paired differences of folds.
passes_by_folds <- function(fit) {
  null <- fit$path$cv[1]
  best <- min(fit$path$cv, na.rm = TRUE)
  errors <- fold_table(fit)
  gain <- errors[, 1] - errors[, 2]
  best < null && sum(gain) > 2 * sd(gain) * sqrt(length(gain))
}

# The sums of squared errors of each fold, without columns and by the model of the smallest error.
fold_table <- function(fit) {
  y <- fit$problem$rows$y
  id <- fit$size_folds$ids[, 1]
  null <- vapply(seq_len(nrow(y)), function(row) colMeans(y[id != id[row], , drop = FALSE]),
                 numeric(ncol(y)))
  null <- matrix(t(null), nrow(y))
  cbind(rowsum(rowSums((y - null)^2), id), rowsum(rowSums((y - fit$held_out)^2), id))
}

family_of <- function(y) {
  if (!is.factor(y)) return("gaussian")
  if (nlevels(y) > 2) "multinomial" else "binomial"
}

# The classes that the lasso of the classes' indicators gives: the largest of its values.
classes_by_squares <- function(train, newdata) {
  indicators <- outer(as.character(train$y), levels(train$y), "==") + 0
  lasso <- glmnet::cv.glmnet(train$x, indicators, family = "mgaussian")
  values <- predict(lasso, newdata, s = "lambda.min")[, , 1]
  levels(train$y)[max.col(values, "first")]
}

one_draw <- function(kind, draw) {
  set.seed(draw)
  data <- kind$draw(kind$rows + 1000L)
  rows <- seq_len(kind$rows)
  train <- data
  train$x <- data$x[rows, ]
  train$y <- data$y[rows]
  if (is.factor(train$y)) train$y <- droplevels(train$y)
  if (!is.null(data$groups)) train$groups <- data$groups[rows]
  if (is.factor(train$y) && nlevels(train$y) < 2) return(NULL)
  fit <- suppressMessages(suppressWarnings(
    greedy_rls(do.call(as_problem, train), progress = FALSE)
  ))
  smallest <- suppressMessages(suppressWarnings(
    greedy_rls(do.call(as_problem, train), size = "min", progress = FALSE)
  ))
  out <- data.frame(size = fit$size, by_folds = passes_by_folds(smallest), error = NA, min = NA,
                    lasso = NA, squares = NA, columns = NA)
  if (inherits(data$y, "Surv")) return(out)
  newdata <- data$x[-rows, ]
  truth <- data$y[-rows]
  error <- function(predicted) {
    if (is.factor(truth)) return(mean(as.character(predicted) != as.character(truth)))
    mean((truth - predicted)^2)
  }
  null <- if (is.factor(truth)) error(names(which.max(table(train$y)))) else error(mean(train$y))
  type <- if (is.factor(truth)) "class" else "response"
  set.seed(draw)
  lasso <- try(suppressWarnings(
    glmnet::cv.glmnet(train$x, train$y, family = family_of(train$y))
  ), silent = TRUE)
  out$error <- error(predict(fit, newdata, type = type)) / null
  out$min <- error(predict(smallest, newdata, type = type)) / null
  if (is.factor(truth)) {
    set.seed(draw)
    out$squares <- error(classes_by_squares(train, newdata)) / null
  }
  if (inherits(lasso, "try-error")) return(out)
  out$lasso <- error(drop(predict(lasso, newdata, s = "lambda.min", type = type))) / null
  coefficients <- coef(lasso, s = "lambda.min")
  if (!is.list(coefficients)) coefficients <- list(coefficients)
  out$columns <- sum(Reduce(`|`, lapply(coefficients, function(one) as.vector(one)[-1] != 0)))
  out
}

# All ---------------------------------------------------------------------------------------------

names <- names(kinds)
names <- names[substr(names, 1, 1) %in% substr(wanted, 1, 1)]
if (given$only != "all") names <- intersect(names, strsplit(given$only, ",")[[1]])
rows <- parallel::mclapply(names, function(name) {
  each <- do.call(rbind, lapply(draws, function(draw) one_draw(kinds[[name]], draw)))
  difference <- each$error - each$lasso
  data.frame(
    kind = name, rows = kinds[[name]]$rows, empty = mean(each$size == 0),
    by_folds = mean(!each$by_folds), size = mean(each$size), lasso_size = mean(each$columns),
    error = mean(each$error), min = mean(each$min), lasso = mean(each$lasso, na.rm = TRUE),
    squares = mean(each$squares, na.rm = TRUE), difference = mean(difference, na.rm = TRUE),
    se = sd(difference, na.rm = TRUE) / sqrt(sum(!is.na(difference)))
  )
}, mc.cores = as.integer(given$cores))
table <- do.call(rbind, rows)
numbers <- vapply(table, is.numeric, NA)
table[numbers] <- lapply(table[numbers], round, 3)

report <- c(machine_line(), sprintf("draws %d to %d", min(draws), max(draws)), "",
            utils::capture.output(print(table, row.names = FALSE, width = 120)))
writeLines(report)
writeLines(report, file.path(given$out, "default-size.txt"))

grDevices::png(file.path(given$out, "default-size.png"), 900, 600, res = 120)
noise <- startsWith(table$kind, "n_")
graphics::par(mar = c(4, 9, 2, 1), las = 1)
place <- rev(seq_len(nrow(table)))
plot(table$empty, place, xlim = c(0, 1), yaxt = "n", ylab = "", pch = 19,
     col = ifelse(noise, "grey40", "#0072B2"), xlab = "share of draws without a column",
     main = "noise (grey) and signals (blue)")
graphics::points(table$by_folds, place, pch = 1, col = ifelse(noise, "grey40", "#0072B2"))
graphics::axis(2, place, table$kind, cex.axis = 0.7)
graphics::abline(v = 0.88, lty = 3)
graphics::legend("center", c("by rows", "by folds"), pch = c(19, 1), bty = "n")
grDevices::dev.off()
