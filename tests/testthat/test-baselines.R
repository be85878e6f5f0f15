# random_selection(); the wrapper and low-rank LS-SVM are compared in test-greedy-search.R.

test_that("random selection is drawn from R's random numbers and nothing else", {
  set.seed(40)
  x <- matrix(rnorm(15 * 9), 15)
  x[, 4] <- 2
  y <- rnorm(15)
  set.seed(7)
  fit <- random_selection(x, y, k = 5, lambda = 1)
  after <- runif(1)
  set.seed(7)
  again <- random_selection(x, y, k = 5, lambda = 1)
  expect_identical(again$path, fit$path)
  set.seed(7)
  drawn <- setdiff(1:9, 4)[sample.int(8, 5)]
  expect_identical(selected(fit, 5, index = TRUE), drawn)
  expect_identical(runif(1), after)
  expect_identical(fit$path$action, c("start", rep("add", 5)))
})

test_that("random selection is scored exactly", {
  set.seed(41)
  for (task in c("two", "binary")) {
    pb <- random_problem(14, 8, task, weights = TRUE, covariates = TRUE)
    folds <- unequal_folds(pb, 2)
    fit <- random_selection(pb, k = 6, lambda = 0.5, folds = folds)
    exact <- vapply(oracle_sets(fit$path), function(set) oracle_squared(pb, set, 0.5, folds), 0)
    expect_equal(fit$path$criterion, exact, tolerance = 1e-9)
    model <- fit$coefficients[[7]]
    exact <- oracle_ridge(pb, model$features, 0.5)$B
    expect_lt(relative_error(model$beta * pb$columns$scale[model$features], exact), 1e-9)
  }
})

test_that("one draw serves every lambda", {
  set.seed(42)
  x <- matrix(rnorm(15 * 6), 15)
  fit <- random_selection(x, rnorm(15), k = 4, lambda = c(0.1, 10))
  expect_identical(fit$lambda_table$lambda, c(10, 0.1))
  expect_s3_class(fit, c("random_selection", "sparse_fit", "sparsels_fit", "sparsels_result"),
                  exact = TRUE)
})

test_that("k = NULL and several lambdas work for every baseline", {
  set.seed(43)
  x <- matrix(rnorm(12 * 5), 12)
  y <- x[, 3] + rnorm(12) / 3
  greedy <- bare_rls(x, y, lambda = c(0.1, 1))
  for (method in list(wrapper_rls, lowrank_lssvm)) {
    fit <- method(x, y, lambda = c(0.1, 1))
    expect_identical(fit$path$feature, greedy$path$feature)
    expect_equal(fit$lambda_table, greedy$lambda_table)
  }
  early <- wrapper_rls(matrix(rnorm(14 * 13), 14), rnorm(14), lambda = 1, shortcut = "dual")
  expect_true(early$status %in% c("complete", "early_stop"))
  expect_lte(nrow(early$path), 14)
})
