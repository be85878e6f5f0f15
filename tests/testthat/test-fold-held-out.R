# Errors of folds: means by hand, folds without a value, and the choice among models.

few_events <- function() {
  set.seed(3)
  x <- matrix(rnorm(60 * 20), 60)
  time <- rexp(60)
  list(x = x, y = survival::Surv(time, rep(c(1, 0, 0, 0, 0), 12)))
}

rare_class <- function() {
  set.seed(1)
  x <- matrix(rnorm(60 * 30), 60)
  x[55:60, 1] <- x[55:60, 1] + 1.5
  list(x = x, y = factor(rep(c("healthy", "ill"), c(54, 6))))
}

test_that("baselines are means over folds by the weight of their rows", {
  set.seed(1)
  batch <- rep(1:4, c(30, 30, 30, 6))
  y <- factor(c(rep("cancer", 90), rep("normal", 6)))
  x <- matrix(rnorm(96 * 5), 96)
  cvd <- suppressWarnings(cross_validate(x, y, greedy_rls, outer = batch, k = 2, size = 2))
  expect_equal(cvd$at_choice$majority, 6 / 96)
  for (curve in c("random", "majority", "inner")) {
    expect_equal(cvd$at_choice[[curve]], weighted.mean(cvd$folds[[curve]], cvd$folds$rows))
    off <- cvd$folds[[curve]] - cvd$at_choice[[curve]]
    expect_equal(cvd$at_choice[[paste0(curve, "_se")]],
                 sqrt(weighted.mean(off^2, cvd$folds$rows) / 3))
  }
  expect_output(print(cvd), "0.0625 (se 0.1398)   null model, majority class", fixed = TRUE)
})

test_that("folds without a value are counted, and the others give the means", {
  skip_if_not_installed("survival")
  d <- few_events()
  set.seed(4)
  cvd <- cross_validate(d$x, d$y, greedy_rls, k = 2, size = "criterion")
  lost <- is.na(cvd$folds$test)
  expect_gt(sum(lost), 0)
  expect_equal(cvd$estimates$unscored, sum(lost))
  expect_equal(cvd$at_choice$majority, 0.5)
  line <- sprintf("%d of 10 folds could not be scored: no pair of rows to compare", sum(lost))
  expect_output(print(cvd), line)
  d <- rare_class()
  set.seed(2)
  cvd <- cross_validate(d$x, d$y, greedy_rls, measure = c("auc", "error"), k = 3,
                        size = "criterion")
  expect_equal(cvd$estimates$unscored, c(sum(is.na(cvd$folds$test)), 0))
  expect_equal(cvd$at_choice$majority, 0.5)
  expect_equal(cvd$at_choice$random, mean(cvd$folds$random, na.rm = TRUE))
  expect_output(print(cvd), "4 of 10 folds could not be scored: no rows of both classes")
})

test_that("a measure without a value in any fold is refused", {
  set.seed(2)
  x <- matrix(rnorm(60), 20)
  y <- factor(x[, 1] + rnorm(20) > 0.3)
  for (measure in list("auc", c("error", "auc"))) {
    expect_error(cross_validate(x, y, rls, lambda = 1, outer = "loo", measure = measure),
                 "no part of the rows has two rows of both classes")
  }
})

test_that("a partition without a value does not take the value of the others", {
  sums <- list(matrix(c(0, 0), 2), matrix(c(0, 0), 2), matrix(c(1, 2), 2), matrix(c(3, 2), 2))
  errors <- fold_errors(sums, c(1, 1, 2, 2))
  expect_equal(drop(error_curve(errors)$value), 1)
  expect_equal(drop(error_curve(errors)$se), 0.5)
  expect_true(is.nan(drop(error_curve(some_folds(errors, 1:2))$value)))
})

test_that("splits and repeats without a value are counted", {
  d <- rare_class()
  set.seed(3)
  compared <- compare_methods(d$x, d$y, methods = list(rls = rls), splits = 5, measure = "auc",
                              test = 0.1)
  lost <- sum(is.na(compared$scores[, , "test"]))
  expect_gt(lost, 0)
  expect_output(print(compared), sprintf("%d of 5 splits could not be scored", lost))
  set.seed(1)
  learnt <- learning_curve(d$x, d$y, rls, repeats = 4, measure = "auc", test = 0.1)
  lost <- sum(is.na(learnt$errors[, 1]))
  expect_gt(lost, 0)
  expect_output(print(learnt), sprintf("%d of 4 repeats could not be scored", lost))
})

test_that("fits say how many of their folds have no value", {
  d <- rare_class()
  # the last six rows are ill: folds 1 to 4 have one, fold 10 has no other row
  folds <- c(rep(1:10, each = 6)[1:56], 1:4)
  fit <- suppressWarnings(greedy_rls(d$x, d$y, criterion = "auc", folds = folds, k = 2,
                                     size = "criterion"))
  expect_output(print(fit), "6 of 10 folds could not be scored: no rows of both classes")
  path <- l1_path(d$x, d$y, criterion = "auc", folds = folds, nlambda = 5)
  expect_output(print(path), "6 of 10 folds could not be scored: no rows of both classes")
})

test_that("a rule chooses the simplest of models that are as good", {
  loss <- c(3, 1 + 1e-15, 1, 2)
  expect_equal(choose_row(loss), 2)
  expect_equal(choose_row(loss, simplest = 4:1), 3)
  expect_equal(choose_row(loss, "1se", c(0, 2, 2, 0)), 1)
  expect_equal(choose_row(loss, "1se", c(0, 1, 0.5, 0)), 2)
  expect_equal(choose_row(loss, "1se", c(0, 1, 1, 0), 4:1), 4)
  expect_equal(choose_row(loss, "1se"), 2)
  expect_equal(choose_row(c(NA, 2, 1)), 3)
  expect_true(is.na(choose_row(c(NaN, NA))))
  expect_equal(choose_row(-loss, simplest = order(-(1:4))), 1)
})
