# Importance of variables, as caret and mlr3 show it

predictors <- as.matrix(mtcars[-1])

test_that("it is the standardised coefficient, by lm() for all columns", {
  fit <- rls(predictors, mtcars$mpg, lambda = 1e-8)
  ordinary <- lm(scale(mpg) ~ scale(predictors), mtcars)
  expected <- abs(coef(ordinary)[-1]) * sd(mtcars$mpg) * sqrt(31 / 32)
  names(expected) <- colnames(predictors)
  expect_equal(feature_importance(fit), sort(expected, decreasing = TRUE), tolerance = 1e-6)
  expect_equal(feature_importance(greedy_rls(predictors, mtcars$mpg, size = 0)),
               stats::setNames(numeric(), character()), ignore_attr = TRUE)
})

test_that("weights and units of a column do not change what it means", {
  w <- rep(1:2, 16)
  fit <- greedy_rls(predictors, mtcars$mpg, weights = w, size = 4)
  b <- coef(fit)[-1]
  deviation <- vapply(names(b), function(name) {
    sqrt(weighted.mean((predictors[, name] - weighted.mean(predictors[, name], w))^2, w))
  }, 0)
  expect_equal(feature_importance(fit), sort(abs(b) * deviation, decreasing = TRUE))
  rescaled <- predictors %*% diag(10^(1:10))
  colnames(rescaled) <- colnames(predictors)
  again <- suppressMessages(greedy_rls(rescaled, mtcars$mpg, weights = w, size = 4))
  expect_equal(feature_importance(again), feature_importance(fit))
})

test_that("the units of a response do not change what it means", {
  both <- as.matrix(mtcars[c("mpg", "disp")])
  found <- feature_importance(greedy_rls(mtcars[-c(1, 3)], both, size = 3))
  other <- both %*% diag(c(1000, 1))
  expect_equal(feature_importance(greedy_rls(mtcars[-c(1, 3)], other, size = 3)), found)
  fit <- greedy_rls(mtcars[-c(1, 3)], both, size = 3)
  column <- names(found)[1]
  share <- coef(fit)[column, ] / apply(both, 2, sd) * sd(mtcars[[column]])
  expect_equal(found[[1]], sqrt(sum(share^2)))
})

test_that("columns of a factor and scores of classes are one variable", {
  data <- transform(mtcars, gear = factor(gear), carb = as.character(carb))
  fit <- greedy_rls(data[-1], data$mpg, size = 8)
  found <- feature_importance(fit)
  expect_true(all(names(found) %in% names(data)))
  b <- coef(fit)
  own <- grep("^carb", names(b), value = TRUE)
  deviation <- apply(stats::model.matrix(~ carb, data)[, own], 2, sd) * sqrt(31 / 32)
  expect_equal(found[["carb"]], sqrt(sum((b[own] * deviation)^2)))

  classes <- greedy_rls(as.matrix(iris[-5]), iris$Species, size = 2)
  b <- coef(classes)[-1, ]
  deviation <- apply(iris[rownames(b)], 2, sd) * sqrt(149 / 150)
  expect_equal(feature_importance(classes),
               sort(sqrt(rowSums((b * deviation)^2)), decreasing = TRUE))
})

test_that("of an exchange it is the rise of the held-out error", {
  fit <- greedy_rls(predictors, mtcars$mpg, size = 3, lambda = 2, refit = FALSE)
  table <- variable_importance(exchange(fit, predictors))
  error <- function(columns) {
    mean(rls(predictors[, columns], mtcars$mpg, lambda = 2)$path$criterion)
  }
  chosen <- selected(fit)
  rise <- vapply(chosen, function(name) error(setdiff(chosen, name)) - error(chosen), 0)
  expect_equal(stats::setNames(table$importance, table$variable),
               sort(rise, decreasing = TRUE))
  ill <- greedy_rls(predictors[, -8], factor(mtcars$am), size = 3, criterion = "auc", lambda = 2,
                    refit = FALSE)
  swaps <- exchange(ill, predictors[, -8])
  set <- attr(swaps, "set")
  dropped <- swaps[!is.na(swaps$drop) & is.na(swaps$add), ]
  table <- variable_importance(swaps)
  expect_equal(table$importance[match(dropped$drop, table$variable)],
               set$criterion - dropped$criterion)
})

test_that("it is a table, and refuses what has no columns", {
  fit <- greedy_rls(predictors, mtcars$mpg, size = 3)
  table <- variable_importance(fit)
  expect_identical(table$variable, names(feature_importance(fit)))
  expect_identical(table$importance, unname(feature_importance(fit)))
  expect_equal(nrow(variable_importance(greedy_rls(predictors, mtcars$mpg, size = 0))), 0)
  kernel <- kernel_rls(predictors, mtcars$mpg, lambda = 1, kernel = kernel_gaussian(0.01))
  expect_error(variable_importance(kernel), "the fit has a kernel",
               class = "sparsels_error_input")
  expect_error(variable_importance(mtcars), "`object` must be a fit that has columns",
               class = "sparsels_error_input")
})
