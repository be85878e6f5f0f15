# The three estimators, against retraining with the same draws.

some_points <- function(m = 41) {
  set.seed(71)
  x <- matrix(runif(2 * m), m, 2)
  as_problem(x, cbind(sin(6 * x[, 1]) + x[, 2], rnorm(m)), weights = runif(m, 0.5, 2),
             intercept = FALSE, standardize = FALSE)
}

# weighted mean squared error of rows predicted one set after the other
oracle_error <- function(pb, sets, predict) {
  squared <- lapply(sets, function(held) {
    sum(pb$rows$weight[held] * (pb$rows$y[held, ] - predict(held))^2)
  })
  sum(unlist(squared)) / (ncol(pb$rows$y) * sum(pb$rows$weight[unlist(sets)]))
}

# rows dealt out as the package draws them
oracle_deal <- function(rows, N) {
  dealt <- rows[sample.int(length(rows))]
  lapply(seq_len(N), function(fold) dealt[rep_len(seq_len(N), length(rows)) == fold])
}

test_that("every approach is what its definition says", {
  pb <- some_points()
  lambda <- c(0.01, 1)
  kernel <- kernel_gaussian(4)
  train <- function(rows) expansion(pb, kernel, rows_basis(rows, pb, kernel), "auto")$spectrum
  control <- list(n = 6L, folds = 4L, lambda = lambda,
                  select = function(problem, n) sample.int(nrow(problem), n))
  run <- function(approach) {
    set.seed(72)
    approaches[[approach]](pb, control, train)
  }
  case <- function(basis) oracle_case(pb, oracle_gaussian(4), basis)
  errors <- function(sets, predict) {
    vapply(lambda, function(l) oracle_error(pb, sets, function(held) predict(held, l)), 0)
  }

  set.seed(72)
  basis <- sample.int(41, 8)
  rest <- setdiff(1:41, basis)
  own <- oracle_deal(basis, 4)
  others <- oracle_deal(rest, 4)
  sets <- Map(c, own, rev(others))
  expect_true(all(lengths(own) == 2))
  one <- case(basis)
  expect_equal(run(1), errors(sets, function(held, l) oracle_out(one, l, held)), tolerance = 1e-8)

  set.seed(72)
  basis <- sample.int(41, 6)
  sets <- oracle_deal(setdiff(1:41, basis), 4)
  two <- case(basis)
  expect_equal(run(2), errors(sets, function(held, l) oracle_out(two, l, held)), tolerance = 1e-8)

  set.seed(72)
  sets <- oracle_deal(1:41, 4)
  cases <- lapply(sets, function(held) case(setdiff(1:41, held)[sample.int(41 - length(held), 6)]))
  fold_of <- function(held) which(vapply(sets, identical, NA, held))
  exact <- errors(sets, function(held, l) oracle_out(cases[[fold_of(held)]], l, held))
  expect_equal(run(3), exact, tolerance = 1e-8)
})

test_that("repeats are summed up by mean and variance, reproducibly", {
  pb <- some_points()
  varied <- function(...) {
    set.seed(73)
    cv_variance(pb, kernel = kernel_gaussian(4), n = 6, folds = 4, lambda = c(1, 0.01), ...)
  }
  one <- varied(repeats = 5)
  expect_identical(one, varied(repeats = 5))
  expect_identical(dim(one$errors), c(5L, 2L, 3L))
  expect_identical(one$table$approach, rep(1:3, each = 2))
  expect_identical(one$table$lambda, rep(c(1, 0.01), 3))
  expect_equal(one$table$mean[3], mean(one$errors[, 1, 2]))
  expect_equal(one$table$variance[6], var(one$errors[, 2, 3]))
  expect_identical(varied(repeats = 1, approach = 3)$table$variance, c(NA_real_, NA_real_))
  expect_identical(varied(repeats = 1), varied(repeats = 1))
  only <- varied(repeats = 2, approach = c(3, 1))
  expect_identical(unique(only$table$approach), c(3L, 1L))
  greedy <- varied(repeats = 1, approach = 2, select = function(problem, n) {
    select_basis(problem, n, "greedy", kernel = kernel_gaussian(4))
  })
  expect_lt(greedy$table$mean[2], max(one$errors[, 2, 2]))
  expect_identical(greedy$status, "complete")
})

test_that("the picture shows mean and variance, or the mean of a single repeat", {
  set.seed(74)
  varied <- cv_variance(some_points(), kernel = kernel_gaussian(4), n = 6, folds = 3,
                        lambda = 2^(-2:2), repeats = 3)
  shown <- withVisible(plot(varied))
  expect_false(shown$visible)
  expect_identical(shown$value, varied$table)
  single <- cv_variance(some_points(), kernel = kernel_gaussian(4), n = 6, folds = 3,
                        lambda = 2^(-2:2), repeats = 1)
  expect_identical(plot(single), single$table)
  expect_output(print(summary(varied)), "approach = 1 holds basis vectors out")
  expect_snapshot(varied)
})

test_that("bad input", {
  x <- matrix(1:20 + 0.5, 20)
  y <- sin(1:20)
  kernel <- kernel_gaussian(1)
  expect_snapshot({
    refusal(cv_variance(x, y, kernel = kernel_gaussian(1:2), n = 3))
    refusal(cv_variance(x, y, kernel = kernel))
    refusal(cv_variance(x, y, kernel = kernel, n = 17, folds = 5))
    refusal(cv_variance(x, y, kernel = kernel, n = 3, folds = 1))
    refusal(cv_variance(x, y, kernel = kernel, n = 3, approach = 4))
    refusal(cv_variance(x, y, kernel = kernel, n = 3, repeats = 0))
    refusal(cv_variance(x, y, kernel = kernel, n = 3, select = "greedy"))
    refusal(cv_variance(x, y, kernel = kernel, n = 3, repeats = 1, select = function(pb, n) 1:2))
    refusal(cv_variance(x, y, kernel = kernel, n = 3, threads = 2))
  })
})
