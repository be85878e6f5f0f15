# rfe() against refitting by singular vectors in every round.

test_that("each round drops the smallest weights", {
  set.seed(60)
  cases <- random_cover(12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
                        intercept = c(TRUE, TRUE, FALSE), standardize = c(TRUE, FALSE),
                        lambda = c(0, 0.3, 20), step = c(1, 4, 0.3, 0.9), n = c(9, 40))
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- do.call(random_problem, c(15, duplicate = FALSE, case[setdiff(names(case),
                                                                        c("lambda", "step"))]))
    fit <- rfe(pb, k = 6, lambda = case$lambda, step = case$step)
    expect_identical(fit$path$feature[-1], oracle_rfe(pb, 6, case$lambda, case$step))
    expect_identical(fit$path$size, sum(pb$columns$usable):0)
    expect_identical(fit$path$action, c("start", rep("drop", sum(pb$columns$usable))))
    expect_identical(fit$size, 6L)
    late <- fit$path$size <= 6
    expect_true(all(is.na(fit$path$criterion[!late])))
    sets <- oracle_sets(fit$path, which(pb$columns$usable))[late]
    gain <- vapply(sets, function(set) oracle_gain(pb, set, case$lambda), 0)
    expect_equal(fit$path$criterion[late], gain, tolerance = 1e-9)
    folds <- make_folds(pb, "loo")
    exact <- vapply(sets, function(set) oracle_squared(pb, set, case$lambda, folds), 0)
    expect_equal(fit$path$squared[late], exact, tolerance = 1e-8)
    expect_identical(rev(fit$path$feature)[1:6], selected(fit, index = TRUE))
    expect_identical(size_table(fit)$size, 0:6)
  }
})

test_that("Proposition 1: elimination finds the optimum", {
  set.seed(61)
  d <- example_1(delta = 0.5)
  fit <- rfe(d$x, d$y, k = 2)
  expect_setequal(selected(fit, 2, index = TRUE), c(1, 3))
  expect_equal(size_table(fit)$criterion[3], 2.0103 * 0.25, tolerance = 1e-4)
})

test_that("k at the number of columns starts with a model", {
  set.seed(62)
  pb <- random_problem(20, 6, duplicate = FALSE)
  fit <- rfe(pb, k = 6)
  expect_false(anyNA(fit$path$criterion))
  expect_equal(fit$path$criterion[1], oracle_gain(pb, 1:6, 0))
  expect_length(predict(fit, pb$x[1:3, ]), 3)
})

test_that("equal columns are never kept both", {
  set.seed(63)
  x <- matrix(rnorm(20 * 4), 20)
  x <- cbind(x, x, 2, x[, 1] - x[, 2])
  y <- 4 * x[, 2] + x[, 3] + rnorm(20)
  for (sparse in c(FALSE, TRUE)) {
    if (sparse) x <- methods::as(x, "CsparseMatrix")
    fit <- rfe(x, y, k = 8)
    expect_identical(fit$size, 4L)
    expect_identical(sort(selected(fit, index = TRUE)), 1:4)
    expect_identical(fit$path$feature[2:6], c(5:8, 10L)[seq_len(5)])
    expect_false(anyNA(fit$path$squared[fit$path$size <= 4]))
    ridge <- rfe(x, y, k = 8, lambda = 1)
    expect_identical(ridge$size, 8L)
    expect_false(anyNA(ridge$path$squared[ridge$path$size <= 8]))
  }
  # more columns than rows, in pairs
  pairs <- rfe(cbind(x, x, x)[1:12, ], y[1:12], k = 8)
  expect_lte(pairs$size, 4L)
  left <- x[1:12, (selected(pairs, index = TRUE) - 1) %% 10 + 1]
  expect_identical(qr(scale(left, scale = FALSE))$rank, pairs$size)
  expect_false(anyNA(pairs$held_out))
})

test_that("a singular system of rows is solved by least norm", {
  set.seed(64)
  x <- matrix(rnorm(10 * 30), 10)
  x[6, ] <- x[3, ]
  pb <- as_problem(x, rnorm(10), standardize = FALSE)
  fit <- rfe(pb, k = 3)
  expect_identical(fit$path$feature[1 + 1:15], oracle_rfe(pb, 3, 0, 1)[1:15])
  # huge columns are dropped without a trace
  x <- matrix(rnorm(10 * 30), 10)
  pb <- as_problem(cbind(x[, 1:15] * 1e6, x[, 16:30]), rnorm(10), standardize = FALSE)
  for (lambda in c(0, 1e-3)) {
    fit <- rfe(pb, k = 3, lambda = lambda)
    expect_identical(fit$path$feature[-1], oracle_rfe(pb, 3, lambda, 1))
  }
})

test_that("sparse and dense x agree", {
  set.seed(65)
  pb <- random_problem(20, 90, "two", weights = TRUE, covariates = TRUE, sparse = TRUE,
                       duplicate = FALSE)
  dense <- working_copy(pb)
  dense$x <- as.matrix(pb$x)
  for (lambda in c(0, 2)) {
    one <- rfe(pb, k = 8, lambda = lambda, step = 0.2)
    two <- rfe(dense, k = 8, lambda = lambda, step = 0.2)
    expect_equal(one$path, two$path)
    expect_equal(one$coefficients, two$coefficients)
  }
})

test_that("fits print, and bad arguments are refused", {
  x <- cbind(TP53 = c(1, 2, 3, 4, 5, 7), MYC = c(2, 1, 2, 1, 9, 3), KRAS = c(0, 0, 1, 0, 1, 1))
  y <- c(1, 3, 2, 5, 4, 6)
  fit <- rfe(x, y, k = 1)
  expect_snapshot({
    fit
    refusal(selected(fit, 2))
    refusal(rfe(x, y, step = 0))
    refusal(rfe(x, y, step = 1.5))
    refusal(rfe(x, y, step = -0.1))
    refusal(rfe(x, y, step = NULL))
    refusal(rfe(x, y, step = c(1, 2)))
    refusal(rfe(x, y, k = 0))
    refusal(rfe(x, y, lambda = -2))
    refusal(rfe(x, y, stepp = 2))
  })
})
