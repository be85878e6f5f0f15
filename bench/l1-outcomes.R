# The elastic net and several classes of l1_path() beside cv.glmnet(): test error and CPU.
#
#   Rscript bench/l1-outcomes.R [sims=5] [out=bench/results]
#
# Both choose lambda by the same five folds and are scored on 1000 other rows. Numbers by
# alpha = 0.5, classes by alpha = 1 and the smallest held-out multinomial deviance. About a minute
# of CPU.
#
# Sources: R/l1-*.R src/l1*

library(sparsels)
source("bench/common.R")

given <- command_line(list(sims = "5", out = "bench/results"))$options
sims <- as.integer(given$sims)
if (!requireNamespace("glmnet", quietly = TRUE)) stop("this needs the package glmnet")

# Data --------------------------------------------------------------------------------------------

columns_of <- function(rows, n, alike) {
  x <- matrix(rnorm(rows * n), rows)
  if (!alike) return(x)
  block <- matrix(rnorm(rows * n / 10), rows)[, rep(seq_len(n / 10), each = 10)]
  sqrt(0.7) * block + sqrt(0.3) * x
}

# 100 rows to train, 1000 to test; 30 columns count.
numbers_set <- function(alike) {
  x <- columns_of(1100, 1000, alike)
  list(x = x, y = drop(x[, 1:30] %*% rep(c(1, -1, 0.5), each = 10)) / 3 + rnorm(1100))
}

# four classes by the largest of four scores, each of ten columns
classes_set <- function(alike) {
  x <- columns_of(1120, 1000, alike)
  score <- vapply(0:3, function(k) rowSums(x[, 10 * k + 1:10]), numeric(1120))
  list(x = x, y = factor(letters[max.col(score + 2 * rnorm(4480))]))
}

# Methods: functions of training rows and fold numbers that return one that predicts --------------

net <- list(
  l1_path = function(x, y, id) {
    fit <- l1_path(x, y, alpha = 0.5, folds = id, progress = FALSE)
    list(predict = function(new) predict(fit, new), size = fit$size)
  },
  glmnet = function(x, y, id) {
    fit <- glmnet::cv.glmnet(x, y, alpha = 0.5, foldid = id)
    list(predict = function(new) drop(predict(fit, new, s = "lambda.min")),
         size = sum(coef(fit, s = "lambda.min") != 0) - 1)
  }
)
classes <- list(
  l1_path = function(x, y, id) {
    fit <- l1_path(x, y, loss = "logistic", folds = id, progress = FALSE)
    list(predict = function(new) predict(fit, new, type = "class"), size = fit$size)
  },
  glmnet = function(x, y, id) {
    fit <- glmnet::cv.glmnet(x, y, family = "multinomial", foldid = id)
    used <- Reduce(`|`, lapply(coef(fit, s = "lambda.min"), function(b) as.vector(b) != 0))
    list(predict = function(new) drop(predict(fit, new, s = "lambda.min", type = "class")),
         size = sum(used) - 1)
  }
)

# Runs --------------------------------------------------------------------------------------------

# error, columns and CPU seconds of both methods on one draw
one_draw <- function(make, methods, rows, order) {
  set <- make()
  train <- seq_len(rows)
  id <- sample(rep(1:5, length.out = rows))
  if (is.factor(set$y)) id[order(set$y[train])] <- rep(1:5, length.out = rows)
  found <- lapply(methods[order], function(method) {
    seconds <- system.time(fit <- method(set$x[train, ], set$y[train], id))[1:2]
    predicted <- fit$predict(set$x[-train, ])
    y <- set$y[-train]
    error <- if (is.factor(y)) mean(predicted != y) else mean((predicted - y)^2) / var(y)
    c(error = error, columns = fit$size, seconds = sum(seconds))
  })
  simplify2array(found[names(methods)])
}

compared <- function(name, make, methods, rows) {
  runs <- simplify2array(lapply(seq_len(sims), function(i) {
    set.seed(i)
    one_draw(make, methods, rows, if (i %% 2) 1:2 else 2:1)
  }))
  off <- runs["error", "l1_path", ] - runs["error", "glmnet", ]
  ratio <- runs["seconds", "l1_path", ] / runs["seconds", "glmnet", ]
  data.frame(
    set = name, l1_path = sprintf("%.3f", mean(runs["error", "l1_path", ])),
    glmnet = sprintf("%.3f", mean(runs["error", "glmnet", ])),
    difference = sprintf("%+.3f", mean(off)), se = sprintf("%.3f", sd(off) / sqrt(sims)),
    columns = sprintf("%.0f, %.0f", mean(runs["columns", "l1_path", ]),
                      mean(runs["columns", "glmnet", ])),
    "CPU ratio" = sprintf("%.2f", median(ratio)), check.names = FALSE
  )
}

rows <- rbind(
  compared("numbers", function() numbers_set(FALSE), net, 100),
  compared("numbers, columns alike", function() numbers_set(TRUE), net, 100),
  compared("four classes", function() classes_set(FALSE), classes, 120),
  compared("four classes, columns alike", function() classes_set(TRUE), classes, 120)
)
say("%s", machine_line())
heading("Test error of l1_path() and cv.glmnet(), mean of %d draws: squared error relative to the",
        sims)
say("variance (alpha = 0.5), error rate of classes by one softmax model. difference:")
say("with its standard error; columns: of l1_path(), glmnet; CPU ratio: l1_path() to glmnet")
say("")
say_table(rows)
writeLines(lines, file.path(given$out, "l1-outcomes.txt"))
