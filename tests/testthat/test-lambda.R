test_that("lambda by default is multiples of the mean square of a column", {
  set.seed(1)
  for (standardize in c(TRUE, FALSE)) {
    pb <- random_problem(30, 7, weights = TRUE, covariates = TRUE, standardize = standardize)
    square <- retrain_mean_square(pb)
    expect_equal(mean_square(pb), square)
    expect_equal(greedy_rls(pb, k = 2, size = 1)$lambda_table$lambda, c(16, 1 / 4) * square)
    expect_equal(greedy_rls(pb, k = 2, size = "criterion")$lambda, 16 * square)
    expect_equal(random_selection(pb, k = 2)$lambda, 16 * square)
  }
  # the second is n / m, from 1/4 to 1
  for (n in c(5, 15, 60)) {
    pb <- random_problem(30, n)
    expect_equal(greedy_rls(pb, k = 2, size = 1)$lambda_table$lambda / mean_square(pb),
                 c(16, if (n == 5) 1 / 4 else if (n == 60) 1 else sum(pb$columns$usable) / 30))
  }
  plain <- random_problem(30, 8)
  expect_equal(mean_square(plain), 30)
})

test_that("\"full\" is the leave-one-out choice with all columns, in each training part anew", {
  set.seed(2)
  pb <- random_problem(30, 8, weights = TRUE)
  all <- rls(pb)
  fit <- greedy_rls(pb, k = 3, lambda = "full", size = "criterion")
  expect_equal(fit$lambda, all$lambda)
  expect_match(fit$lambda_rule, "leave-one-out with all columns")
  expect_null(fit$path$refit_lambda)
  ids <- rep(1:3, 10)
  sized <- suppressWarnings(greedy_rls(pb, k = 3, lambda = "full", size_folds = ids))
  sets <- function(train, lambda, ids) {
    lapply(bare_rls(train, k = 3, lambda = lambda)$coefficients, `[[`, "features")
  }
  parts <- loop_scores(pb, ids, function(train) rls(train)$lambda, sets)
  expect_equal(sized$path$cv, loop_curve(pb, parts, 1)["value", ])
})

test_that("training rows in which every column is constant have the model without columns", {
  set.seed(4)
  x <- cbind(a = rep(c(1, 0), c(8, 22)) * rnorm(30))
  fit <- greedy_rls(x, rnorm(30), lambda = "full", size_folds = rep(1:3, c(8, 11, 11)))
  alone <- greedy_rls(x, fit$problem$rows$y[, 1], lambda = 1,
                      size_folds = rep(1:3, c(8, 11, 11)))
  expect_equal(fit$path$cv[1], alone$path$cv[1])
  expect_identical(ridge_lambda(reweighted(as_problem(x, rnorm(30)), rep(c(0, 1), c(8, 22)))),
                   max(lambda_grid(fit$problem)))
})

test_that("a choice with all columns that takes long is told or refused before it starts", {
  set.seed(3)
  pb <- random_problem(30, 8)
  with_binding("full_speed", 1000, {
    expect_message(greedy_rls(pb, k = 2, lambda = "full", size = "criterion"), "about 18 seconds")
  })
  with_binding("full_speed", 1000, {
    expect_snapshot(error = TRUE, greedy_rls(pb, k = 2, lambda = "full"))
  })
})

test_that("weights in another unit choose the same models from the default values", {
  set.seed(5)
  x <- matrix(rnorm(200), 40)
  y <- x[, 1] + rnorm(40)
  w <- runif(40, 0.5, 2)
  fits <- list(rls, kernel_rls, lssvm, function(x, y, weights) {
    greedy_rls(x, y, weights = weights, lambda = "full", size = "criterion")
  }, function(x, y, weights) {
    set.seed(1)
    fs_lssvm(x, y, weights = weights, prototypes = 8, folds = 3)
  })
  for (fit in fits) {
    predicted <- predict(fit(x, y, weights = w), x)
    for (unit in c(2^30, 1e-6, 1e-3, 1e6)) {
      expect_equal(predict(fit(x, y, weights = unit * w), x), predicted)
    }
  }
  # the ridge parameter of covariates is small beside small weights, too
  machine <- function(unit, ...) {
    fs_lssvm(x, y, weights = unit * w, kernel = kernel_gaussian(0.1), gamma = 10 / unit,
             prototypes = 1:8, folds = rep(1:4, 10), ...)
  }
  for (more in list(list(), list(intercept = "forced", refit = TRUE), list(solver = "full"),
                    list(solver = "nystrom"))) {
    fit <- function(unit) do.call(machine, c(unit, more))
    for (unit in c(1e-6, 1e6)) {
      expect_equal(predict(fit(unit), x), predict(fit(1), x), tolerance = 1e-9)
    }
  }
})

test_that("a tuning ends at the same point whatever the unit of the response", {
  set.seed(6)
  x <- matrix(rnorm(120), 40)
  y <- sin(2 * x[, 1]) + rnorm(40) / 4
  tuned <- lapply(c(1, 1e-6, 1e6), function(unit) {
    set.seed(1)
    tune_lssvm(x, unit * y, kernel = kernel_gaussian(0.1), prototypes = 1:10, folds = 4)$gamma
  })
  expect_equal(tuned[[2L]], tuned[[1L]])
  expect_equal(tuned[[3L]], tuned[[1L]])
})
