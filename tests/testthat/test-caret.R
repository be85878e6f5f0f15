skip_if_not_installed("caret")

predictors <- as.matrix(mtcars[-1])

trained <- function(x, y, ..., control = caret::trainControl("cv", number = 4)) {
  set.seed(1)
  suppressPackageStartupMessages(
    caret::train(x, y, method = caret_greedy_rls, trControl = control, ...)
  )
}

# the mean over resamples of a measure of predictions by models made by hand
by_hand <- function(train, x, y, size, lambda, measure, ...) {
  mean(vapply(train$control$index, function(rows) {
    fit <- greedy_rls(x[rows, ], y[rows], size = size, lambda = lambda, refit = TRUE, ...)
    type <- if (is.factor(y)) "class" else "response"
    measure(y[-rows], predict(fit, x[-rows, ], type = type))
  }, 0))
}

rmse <- function(y, predicted) sqrt(mean((y - predicted)^2))
accuracy <- function(y, predicted) mean(y == predicted)

test_that("of regression, the table is that of models made by hand", {
  train <- trained(predictors, mtcars$mpg, tuneGrid = expand.grid(size = c(1, 4, 2),
                                                                  lambda = c(2, 30)),
                   control = caret::trainControl("cv", number = 2))
  table <- train$results
  expect_equal(nrow(table), 6)
  for (i in seq_len(6)) {
    expect_equal(table$RMSE[i], by_hand(train, predictors, mtcars$mpg, table$size[i],
                                        table$lambda[i], rmse))
  }
  direct <- greedy_rls(predictors, mtcars$mpg, size = train$bestTune$size,
                       lambda = train$bestTune$lambda, refit = TRUE)
  expect_identical(train$finalModel$path, direct$path)
  expect_equal(predict(train, mtcars), unname(predict(direct, predictors)), ignore_attr = TRUE)
  expect_identical(caret::predictors(train), selected(direct))
})

test_that("so it is of two and of several classes", {
  two <- droplevels(iris[iris$Species != "setosa", ])
  for (data in list(two, iris)) {
    x <- as.matrix(data[1:4])
    train <- trained(x, data$Species, tuneGrid = expand.grid(size = 1:2, lambda = 5),
                     size_folds = 3, control = caret::trainControl("cv", number = 2))
    for (size in 1:2) {
      expect_equal(train$results$Accuracy[size],
                   by_hand(train, x, data$Species, size, 5, accuracy, size_folds = 3))
    }
    direct <- greedy_rls(x, data$Species, size = train$bestTune$size, lambda = 5, refit = TRUE,
                         size_folds = 3)
    expect_identical(as.character(predict(train, data)),
                     as.character(predict(direct, x, type = "class")))
    expect_identical(levels(predict(train, data)), levels(data$Species))
  }
})

test_that("ordered classes are classes without order, which is said once", {
  set.seed(2)
  y <- cut(mtcars$mpg + rnorm(32), c(-Inf, 17, 22, Inf), c("low", "middle", "high"),
           ordered = TRUE)
  grid <- data.frame(size = 1:2, lambda = 5)
  said <- capture_messages(train <- trained(predictors, y, tuneGrid = grid, size_folds = 3))
  expect_length(grep("a loss of ordered classes", said), 1)
  plain <- trained(predictors, factor(y, ordered = FALSE), tuneGrid = grid, size_folds = 3)
  expect_equal(train$results, plain$results)
  expect_true(is.ordered(predict(train, predictors)))
})

test_that("probabilities of every size are those of fits of that size", {
  two <- droplevels(iris[iris$Species != "setosa", ])
  for (data in list(two, iris)) {
    x <- as.matrix(data[1:4])
    control <- caret::trainControl("cv", number = 2, classProbs = TRUE, savePredictions = "all",
                                   summaryFunction = caret::mnLogLoss)
    train <- trained(x, data$Species, tuneGrid = expand.grid(size = c(1, 3), lambda = 5),
                     control = control, metric = "logLoss")
    for (size in c(1, 3)) {
      saved <- train$pred[train$pred$size == size & train$pred$Resample == "Fold2", ]
      rows <- train$control$index$Fold2
      fit <- greedy_rls(x[rows, ], data$Species[rows], size = size, lambda = 5, refit = TRUE)
      expect_equal(as.matrix(saved[levels(data$Species)]),
                   predict(fit, x[saved$rowIndex, ], type = "prob"), ignore_attr = TRUE)
    }
    p <- predict(train, data, type = "prob")
    direct <- greedy_rls(x, data$Species, size = train$bestTune$size, lambda = 5, refit = TRUE)
    expect_equal(as.matrix(p), predict(direct, x, type = "prob"), ignore_attr = TRUE)
  }
})

test_that("weights, arguments, formulas and bootstrap resamples", {
  w <- rep(1:2, 16)
  train <- trained(predictors, mtcars$mpg, weights = w, search = "floating",
                   tuneGrid = data.frame(size = 3, lambda = 4),
                   control = caret::trainControl("boot", number = 3))
  direct <- greedy_rls(predictors, mtcars$mpg, weights = w, search = "floating", size = 3,
                       lambda = 4, refit = TRUE)
  expect_identical(train$finalModel$path, direct$path)
  expect_equal(nrow(train$resample), 3)

  set.seed(1)
  train <- caret::train(mpg ~ ., mtcars, method = caret_greedy_rls, tuneLength = 2,
                        trControl = caret::trainControl("cv", number = 3))
  expect_equal(nrow(train$results), 20)
  expect_equal(unique(train$results$lambda), c(8, 512))
  expect_false(anyNA(train$results$RMSE))
})

test_that("the final model is a fit with all its methods", {
  train <- trained(predictors, mtcars$mpg, tuneLength = 1)
  fit <- train$finalModel
  expect_output(print(fit), "greedy_rls")
  expect_equal(nrow(tidy(fit)), fit$size + 1)
  expect_equal(names(coef(fit)), c("(Intercept)", selected(fit)))
  expect_true(verify(fit, x = predictors, y = mtcars$mpg)$ok)
})

test_that("varImp() has every column, 0 where it is not in the model", {
  train <- trained(predictors, mtcars$mpg, tuneGrid = data.frame(size = 3, lambda = 2))
  raw <- caret::varImp(train, scale = FALSE)$importance
  expect_setequal(rownames(raw), colnames(predictors))
  expect_setequal(rownames(raw)[raw$Overall > 0], selected(train$finalModel))
  found <- feature_importance(train$finalModel)
  expect_equal(raw[names(found), ], unname(found))
  expect_equal(max(caret::varImp(train)$importance), 100)
})

test_that("grids: all sizes, or random ones", {
  grid <- caret_greedy_rls$grid
  expect_equal(grid(predictors, mtcars$mpg, 1),
               data.frame(size = 1:10, lambda = 512), ignore_attr = TRUE)
  expect_equal(max(grid(matrix(0, 50, 300), NULL, 3)$size), 20)
  expect_equal(max(grid(matrix(0, 10, 300), NULL, 3)$size), 5)
  random <- grid(predictors, mtcars$mpg, 7, "random")
  expect_equal(nrow(random), 7)
  expect_true(all(random$lambda >= 8 & random$lambda <= 512))
  loop <- caret_greedy_rls$loop(data.frame(size = c(3, 1, 5), lambda = c(1, 1, 2)))
  expect_equal(loop$loop, data.frame(size = c(3, 5), lambda = c(1, 2)))
  expect_equal(loop$submodels[[1]]$size, 1)
  expect_equal(nrow(loop$submodels[[2]]), 0)
})

test_that("what greedy_rls() refuses, caret says", {
  said <- function(...) {
    text <- character()
    utils::capture.output(withCallingHandlers(
      try(trained(predictors, mtcars$mpg, ...), silent = TRUE),
      warning = function(w) {
        text <<- c(text, conditionMessage(w))
        tryInvokeRestart("muffleWarning")
      }
    ))
    text
  }
  expect_match(said(tuneGrid = data.frame(size = 3, lambda = -1)), "`lambda` must", all = FALSE)
  expect_match(said(tuneGrid = data.frame(size = 3, lambda = 1), criterium = 3), "criterium",
               all = FALSE)
})

test_that("sizes above the columns that vary in a resample are the largest size there", {
  x <- transform(as.data.frame(predictors[, 1:4]), rare = rep(0:1, c(31, 1)))
  part <- 1:31
  fit <- caret_greedy_rls$fit(x[part, ], mtcars$mpg[part], NULL, data.frame(size = 5, lambda = 1),
                              NULL, FALSE, FALSE)
  fit$tuneValue <- data.frame(size = 5)
  read <- caret_greedy_rls$predict(fit, x, data.frame(size = c(4, 2)))
  expect_identical(read[[1L]], read[[2L]])
  expect_identical(read[[3L]], predict(fit, x, size = 2))
  am <- factor(mtcars$am, labels = c("auto", "manual"))
  fit <- caret_greedy_rls$fit(x[part, ], am[part], NULL, data.frame(size = 5, lambda = 1), NULL,
                              FALSE, TRUE)
  fit$tuneValue <- data.frame(size = 5)
  shares <- caret_greedy_rls$prob(fit, x, data.frame(size = c(4, 2)))
  expect_identical(shares[[1L]], shares[[2L]])
  expect_false(identical(shares[[1L]], shares[[3L]]))
})

test_that("a sparse matrix is taken as a matrix is", {
  fit_of <- function(x) {
    caret::train(x, mtcars$mpg, method = caret_greedy_rls, folds = "loo",
                 tuneGrid = data.frame(size = 2, lambda = 3),
                 trControl = caret::trainControl(index = list(1:20, 9:32)))
  }
  x <- as.matrix(mtcars[2:6])
  sparse <- fit_of(Matrix::Matrix(x, sparse = TRUE))
  dense <- fit_of(x)
  expect_equal(sparse$results, dense$results)
  expect_equal(predict(sparse, Matrix::Matrix(x, sparse = TRUE)), predict(dense, x),
               ignore_attr = TRUE)
})

test_that("fits of rfe() and lssvm() are not taken for those of caret and kernlab", {
  skip_if_not_installed("kernlab")
  loadNamespace("kernlab")
  fits <- list(rfe(predictors, mtcars$mpg, k = 3),
               lssvm(predictors, mtcars$mpg, kernel = kernel_gaussian(0.1), gamma = 1))
  for (fit in fits) {
    expect_output(print(fit), fit$method)
    expect_equal(predict(fit, predictors), fitted(fit))
    expect_equal(kernlab::predict(fit, predictors), fitted(fit))
    expect_identical(kernlab::fitted(fit), fitted(fit))
  }
})

test_that("na.pass leaves missing values to caret, and arguments by rows are refused", {
  gaps <- replace(predictors, 5, NA)
  given <- trained(gaps, mtcars$mpg, tuneGrid = data.frame(size = 2, lambda = 30),
                   preProcess = "medianImpute", na.action = na.pass)
  filled <- replace(predictors, 5, median(gaps[, 1], na.rm = TRUE))
  expect_equal(coef(given$finalModel), coef(greedy_rls(filled, mtcars$mpg, size = 2, lambda = 30,
                                                       refit = TRUE)))
  refused <- function(name, words) {
    expect_error(do.call(caret_fit, c(list(predictors, mtcars$mpg, NULL, 2, 30, TRUE, FALSE),
                                      stats::setNames(list(1:32), name))),
                 words, class = "sparsels_error_argument")
  }
  refused("groups", "groupKFold")
  for (name in c("adjust", "offset", "strata", "within")) refused(name, "penalty = 0")
})

# train() attaches the package and what it depends on, which masks functions of other test files
for (package in intersect(c("package:caret", "package:lattice", "package:ggplot2"), search())) {
  detach(package, character.only = TRUE)
}

test_that("bootstraps say nothing of their copies of rows, nor of what the final model says", {
  messages <- capture_messages(suppressWarnings(
    trained(predictors, mtcars$mpg, tuneGrid = data.frame(size = 2, lambda = 30),
            control = caret::trainControl("boot", number = 3))
  ))
  expect_identical(messages, character())
})
