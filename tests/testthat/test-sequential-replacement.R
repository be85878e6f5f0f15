# sequential_replacement() against fitting every set anew

# The sets of size 1, 2, ... by fitting every addition and every exchange anew.
oracle_replacement <- function(pb, k, lambda) {
  gain <- function(set) oracle_gain(pb, set, lambda)
  sets <- list()
  set <- integer()
  while (length(set) < k && length(free <- oracle_candidates(pb, set, lambda))) {
    sets_with <- lapply(free, function(i) c(set, i))
    set <- sets_with[[first_best(vapply(sets_with, gain, 0))]]
    repeat {
      swaps <- unlist(lapply(seq_along(set), function(j) {
        lapply(oracle_candidates(pb, set[-j], lambda), function(i) replace(set, j, i))
      }), recursive = FALSE)
      gains <- vapply(swaps, gain, 0)
      if (max(gains) <= gain(set) + 1e-10) break
      set <- swaps[[first_best(gains)]]
    }
    sets <- c(sets, list(set))
  }
  sets
}

replacement_sets <- function(fit) lapply(fit$coefficients[-1L], `[[`, "features")

test_that("sets are those of the search that fits every one anew", {
  set.seed(41)
  x <- matrix(rnorm(30 * 12), 30) %*% (diag(12) + 0.8)
  x[, 9] <- x[, 2]
  y <- drop(x[, c(1, 4, 7)] %*% c(1, -2, 1)) + rnorm(30)
  classes <- factor(sample(letters[1:3], 30, TRUE))
  sparse <- Matrix::Matrix(replace(x, abs(x) < 1, 0), sparse = TRUE)
  cases <- list(
    list(pb = as_problem(x, y), lambda = 0),
    list(pb = as_problem(x, y, weights = runif(30, 0.2, 3)), lambda = 2),
    list(pb = as_problem(x, y, adjust = rnorm(30)), lambda = 0),
    list(pb = as_problem(x, cbind(y, rnorm(30))), lambda = 0.5),
    list(pb = as_problem(x, classes), lambda = 0),
    list(pb = as_problem(sparse, y), lambda = 1),
    list(pb = as_problem(x, y, intercept = FALSE, standardize = FALSE), lambda = 0)
  )
  for (case in cases) {
    fit <- sequential_replacement(case$pb, k = 5, lambda = case$lambda)
    sets <- oracle_replacement(case$pb, 5, case$lambda)
    expect_identical(lapply(replacement_sets(fit), sort), lapply(sets, sort))
    expect_equal(fit$path$criterion[-1L],
                 vapply(sets, function(set) oracle_gain(case$pb, set, case$lambda), 0),
                 tolerance = 1e-9)
  }
})

test_that("exchanges find what additions alone do not", {
  set.seed(42)
  x <- matrix(rnorm(60 * 30), 60)
  x[, 4] <- x[, 1] + x[, 2] + rnorm(60) / 2
  y <- x[, 1] + x[, 2] + rnorm(60) / 4
  added <- forward_regression(x, y, k = 2)
  exchanged <- sequential_replacement(x, y, k = 2)
  expect_identical(selected(added)[1], "V4")
  expect_setequal(selected(exchanged), c("V1", "V2"))
  proven <- best_subset(x, y, k = 2)
  expect_equal(exchanged$path$criterion[3], proven$proof$r_squared[2], tolerance = 1e-10)
})

test_that("no exchange of one column betters a set, and no set betters the proven one", {
  set.seed(43)
  x <- matrix(rnorm(25 * 10), 25)
  pb <- as_problem(x, rnorm(25))
  fit <- sequential_replacement(pb, k = 6)
  best <- best_subset(pb, k = 6)
  expect_true(all(fit$path$criterion <= best$path$criterion + 1e-12))
  for (set in replacement_sets(fit)) {
    for (j in seq_along(set)) {
      gains <- vapply(setdiff(1:10, set), function(i) oracle_gain(pb, replace(set, j, i), 0), 0)
      expect_lte(max(gains), oracle_gain(pb, set, 0) + 1e-10)
    }
  }
})

test_that("copies, exhausted columns and constant ones", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 7), flat = 1, copy = c(1, 2, 3, 4, 5, 7), b = c(0, 1, 0, 1, 0, 1))
  y <- c(1, 3, 3, 5, 5, 8)
  fit <- sequential_replacement(x, y, k = 3)
  expect_identical(nrow(fit$path), 3L) # a and its copy are one dimension
  expect_setequal(selected(fit, 2), c("a", "b"))
  both <- sequential_replacement(x, y, k = 3, lambda = 1)
  expect_setequal(selected(both, 3), c("a", "b", "copy"))
})

test_that("a size is chosen by folds, and any path has its methods", {
  set.seed(44)
  x <- matrix(rnorm(60 * 15), 60)
  y <- x[, 3] - x[, 8] + rnorm(60) / 2
  fit <- sequential_replacement(x, y)
  expect_true(all(c("V3", "V8") %in% selected(fit)))
  expect_identical(nrow(fit$path), 11L)
  expect_equal(predict(fit, x), fitted(fit))
  expect_snapshot(print(sequential_replacement(x, y, k = 2)))
  expect_error(sequential_replacement(x, y, k = 2, nu = 1), class = "sparsels_error")
})

test_that("a single column is a set that no other can replace", {
  fit <- sequential_replacement(matrix(c(1, 2, 4, 3, 5)), c(1, 2, 3, 4, 6), k = 1)
  expect_identical(selected(fit, 1, index = TRUE), 1L)
})
