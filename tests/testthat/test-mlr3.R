skip_if_not_installed("mlr3")

loadNamespace("mlr3")

cars <- function(data = mtcars) mlr3::as_task_regr(data, target = "mpg", id = "cars")
columns <- mtcars[order(names(mtcars))]
columns$mpg <- NULL

test_that("the learner of regression is the direct call", {
  learner <- mlr3::lrn("regr.greedy_rls")
  learner$train(cars())
  direct <- greedy_rls(columns, mtcars$mpg)
  expect_identical(learner$model$path$name, direct$path$name)
  expect_equal(learner$model$path, direct$path)
  expect_identical(learner$selected_features(), selected(direct))
  predicted <- learner$predict(cars(), row_ids = 3:7)
  expect_equal(predicted$response, unname(predict(direct, columns[3:7, ])))

  set <- mlr3::lrn("regr.greedy_rls", size = 3, lambda = 2, search = "floating", folds = "loo",
                   criterion = "absolute", refit = TRUE)
  set$train(cars())
  direct <- greedy_rls(columns, mtcars$mpg, size = 3, lambda = 2, search = "floating",
                       folds = "loo", criterion = "absolute", refit = TRUE)
  expect_equal(set$model$path, direct$path)
})

test_that("rows of the role group stay together", {
  data <- cbind(mtcars, pair = rep(1:16, each = 2))
  task <- cars(data)
  task$set_col_roles("pair", "group")
  learner <- mlr3::lrn("regr.greedy_rls")
  learner$train(task)
  expect_identical(learner$model$folds$label, "leave-one-group-out, 16 groups")
  direct <- greedy_rls(columns, mtcars$mpg, groups = data$pair)
  expect_equal(learner$model$path, direct$path)
})

test_that("two and several classes, with probabilities", {
  two <- droplevels(iris[iris$Species != "setosa", ])
  for (data in list(two, iris)) {
    task <- mlr3::as_task_classif(data, target = "Species")
    learner <- mlr3::lrn("classif.greedy_rls", predict_type = "prob")
    learner$train(task)
    direct <- greedy_rls(data[1:4], data$Species)
    predicted <- learner$predict(task)
    expect_equal(predicted$prob, predict(direct, data[1:4], type = "prob"), ignore_attr = TRUE)
    learner$predict_type <- "response"
    expect_identical(as.character(learner$predict(task)$response),
                     as.character(predict(direct, data[1:4], type = "class")))
  }
})

test_that("ordered classes are scored as the classes of the task", {
  set.seed(2)
  size <- cut(mtcars$mpg + rnorm(32), c(-Inf, 17, 22, Inf), c("low", "middle", "high"),
              ordered = TRUE)
  task <- mlr3::as_task_classif(data.frame(size, mtcars[-1]), target = "size")
  learner <- suppressMessages(mlr3::lrn("classif.greedy_rls", size = 2)$train(task))
  predicted <- learner$predict(task)
  expect_true(is.ordered(predicted$response))
  expect_equal(predicted$score()[[1]], mean(predicted$response != size))
})

test_that("resample() is a loop by hand", {
  set.seed(1)
  task <- cars()
  plan <- mlr3::rsmp("cv", folds = 4)
  plan$instantiate(task)
  # the log goes to the console
  utils::capture.output(done <- mlr3::resample(task, mlr3::lrn("regr.greedy_rls", size = 2), plan))
  errors <- vapply(1:4, function(i) {
    train <- plan$train_set(i)
    test <- plan$test_set(i)
    fit <- greedy_rls(columns[train, ], mtcars$mpg[train], size = 2)
    mean((mtcars$mpg[test] - predict(fit, columns[test, ]))^2)
  }, 0)
  expect_equal(done$score(mlr3::msr("regr.mse"))$regr.mse, errors)
})

test_that("weights, factors and missing values", {
  data <- mtcars
  data$w <- rep(1:2, 16)
  task <- cars(data)
  task$set_col_roles("w", "weights_learner")
  learner <- mlr3::lrn("regr.greedy_rls", size = 3)
  learner$train(task)
  expect_equal(learner$model$path,
               greedy_rls(columns, mtcars$mpg, weights = data$w, size = 3)$path)

  data <- transform(mtcars, gear = factor(gear))
  learner <- mlr3::lrn("regr.greedy_rls", size = 2)
  learner$train(cars(data))
  direct <- greedy_rls(mpg ~ ., data[c("mpg", names(columns))], size = 2)
  expect_equal(learner$predict(cars(data))$response, unname(predict(direct, data)))

  data <- mtcars
  data$wt[3] <- NA
  learner <- mlr3::lrn("regr.greedy_rls", missing = "mean")
  learner$train(cars(data))
  expect_false(anyNA(learner$predict(cars(data))$response))
  expect_error(mlr3::lrn("regr.greedy_rls")$train(cars(data)), "missing")
})

test_that("features are those of the task, with their importance", {
  data <- transform(mtcars, gear = factor(gear, ordered = TRUE), carb = as.character(carb))
  task <- cars(data)
  learner <- mlr3::lrn("regr.greedy_rls", size = 8)
  learner$train(task)
  expect_true(all(c("importance", "selected_features") %in% learner$properties))
  direct <- greedy_rls(mpg ~ ., data[c("mpg", names(columns))], size = 8)
  expect_equal(learner$predict(task)$response, unname(predict(direct, data)))
  expect_true(all(learner$selected_features() %in% task$feature_names))
  expect_identical(learner$selected_features()[1:2], selected(direct)[1:2])
  importance <- learner$importance()
  expect_equal(importance, feature_importance(direct))
  expect_false(is.unsorted(rev(importance)))
  expect_setequal(names(importance), learner$selected_features())
  expect_error(mlr3::lrn("regr.greedy_rls")$importance(), "not trained",
               class = "sparsels_error_input")
})

test_that("parameters are typed", {
  set <- mlr3::lrn("classif.greedy_rls")$param_set
  expect_equal(set$class[["size"]], "ParamInt")
  expect_equal(set$class[["folds"]], "ParamInt")
  for (size in list(3, "cv", "min", "1se", "criterion")) set$values$size <- size
  for (value in list(2.5, "best", -1)) expect_error(set$values$size <- value, "size")
  for (folds in list("loo", 5)) set$values$folds <- folds
  expect_error(set$values$folds <- "ten", "folds")
  for (criterion in list("auc", function(y, p, fold) mean(abs(y - p)))) {
    set$values$criterion <- criterion
  }
  expect_error(set$values$criterion <- "aucc", "one of \"squared\"")
  tuned <- mlr3::lrn("regr.greedy_rls", size = paradox::to_tune(1, 20))
  expect_equal(tuned$param_set$search_space()$upper, c(size = 20))
})

test_that("the filter has the features in the order of the search", {
  skip_if_not_installed("mlr3filters")
  filter <- mlr3filters::flt("greedy_rls", lambda = 2)
  filter$calculate(cars(), nfeat = 4)
  direct <- greedy_rls(columns, mtcars$mpg, k = 4, lambda = 2, size = "criterion")
  expect_identical(names(filter$scores)[1:4], selected(direct, size = 4))
  expect_equal(unname(filter$scores[1:4]), seq(1, 0, length.out = 4))
  expect_true(all(is.na(filter$scores[-(1:4)])))
})

test_that("the filter takes case weights, and leaves out constant features", {
  skip_if_not_installed("mlr3filters")
  set.seed(11)
  d <- data.frame(a = rnorm(60), b = rnorm(60), constant = 7)
  d$y <- ifelse(1:60 <= 30, d$a, d$b)
  order_of <- function(weights) {
    task <- mlr3::as_task_regr(cbind(d, w = weights), target = "y")
    task$set_col_roles("w", "weights_learner")
    filter <- mlr3filters::flt("greedy_rls", lambda = 1)
    filter$calculate(task)
    filter$scores
  }
  # the rows of one half have hardly any weight
  first <- rep(c(1, 1e-6), each = 30)
  expect_identical(order_of(first), c(a = 1, b = 0, constant = NA))
  expect_identical(order_of(rev(first)), c(b = 1, a = 0, constant = NA))
})

test_that("learners clone, and bad arguments are refused by name", {
  learner <- mlr3::lrn("regr.greedy_rls", size = 2)
  copy <- learner$clone(deep = TRUE)
  copy$train(cars())
  expect_null(learner$model)
  expect_error(learner$selected_features(), "not trained", class = "sparsels_error_input")
  expect_error(mlr3::lrn("regr.greedy_rls", criterium = "auc"), "criterium")
  expect_error(mlr3::lrn("regr.greedy_rls", size = 99)$train(cars()), "size")
})

# resample() attaches the package, which masks functions of other test files
if ("package:mlr3" %in% search()) detach("package:mlr3")
