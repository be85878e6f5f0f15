# Forward search that skips candidates against the search that scores them all, and against
# retraining from scratch.

lazy_path <- function(pb, k, lambda, skipping = "bounds", keep = 0L, threads = 1L) {
  control <- path_control(pb, k, lambda, "loo", "squared")
  control <- c(control, list(search = "forward", keep = keep, threads = threads, progress = FALSE))
  greedy_path(pb, control, lambda, skipping = skipping)
}

# Blocks of 8 correlated columns, of which the first few carry the response.
block_problem <- function(m, n, task = "one", ...) {
  x <- matrix(rnorm(m * n), m) + matrix(rnorm(m * n / 8), m)[, rep(seq_len(n / 8), each = 8)]
  score <- x[, c(1, 9, 17)] %*% matrix(c(1, 1, -1, 1, -1, 0.5), 3) + rnorm(2 * m)
  y <- switch(task,
    one = score[, 1], two = score, binary = score[, 1] > 0,
    three = cut(rank(score[, 1]), c(0, 0.3, 0.7, 1) * m, c("a", "b", "c"))
  )
  as_problem(x, y, ...)
}

expect_same_path <- function(path, expected, tolerance = 1e-9) {
  expect_identical(path$path$feature, expected$path$feature)
  part <- c("path", "size", "models", "held_out", "fitted", "alternatives")
  expect_equal(path[part], expected[part], tolerance = tolerance)
}

test_that("nothing but the work differs from scoring every candidate", {
  set.seed(1)
  cases <- random_cover(
    12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
    covariates = c(TRUE, FALSE), intercept = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
    lambda = c(1e-3, 0.1, 1, 1e3), keep = c(0L, 2L), m = c(9L, 25L, 60L), n = c(8L, 30L, 90L)
  )
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(case$m, case$n, case$task, case$weights, case$covariates, case$intercept,
                         case$sparse)
    k <- min(sum(pb$usable), case$m - 4L, 12L)
    path <- lazy_path(pb, k, case$lambda, keep = case$keep)
    expect_same_path(path, lazy_path(pb, k, case$lambda, skipping = "none", keep = case$keep))
    expect_identical(lazy_path(pb, k, case$lambda, keep = case$keep, threads = 2L), path)
  }
})

test_that("every figure equals retraining, with candidates skipped", {
  set.seed(2)
  for (task in c("one", "two", "binary", "three")) {
    pb <- block_problem(40, 160, task, weights = runif(40, 0.5, 2), adjust = cbind(age = rnorm(40)))
    path <- lazy_path(pb, 6L, 2)
    expect_lt(path$work$evaluated, path$work$candidates / 2)
    folds <- make_folds(pb, "loo")
    for (step in 0:6) {
      set <- path$path$feature[seq_len(step) + 1]
      exact <- oracle_figure(pb, set, 2, folds)
      expect_equal(path$path$criterion[step + 1], exact[["value"]], tolerance = 1e-10)
      expect_equal(path$path$se[step + 1], exact[["se"]], tolerance = 1e-8)
      expect_equal(unname(path$models[[step + 1]]$beta), unname(oracle_ridge(pb, set, 2)$B),
                   tolerance = 1e-9)
    }
  }
})

test_that("the next feature is the best of all, and runners-up are exact", {
  set.seed(3)
  pb <- block_problem(30, 80)
  path <- lazy_path(pb, 3L, 1, keep = 2L)
  folds <- make_folds(pb, "loo")
  chosen <- path$path$feature[-1]
  for (step in 1:3) {
    error <- vapply(seq_len(80), function(i) {
      if (i %in% chosen[seq_len(step - 1)]) return(Inf)
      oracle_figure(pb, c(chosen[seq_len(step - 1)], i), 1, folds)[["value"]]
    }, 0)
    expect_identical(order(error)[1], chosen[step])
    others <- path$alternatives[path$alternatives$step == step, ]
    expect_identical(others$feature, order(error)[2:3])
    expect_equal(others$criterion, sort(error)[2:3], tolerance = 1e-10)
  }
})

test_that("every instruction set finds the same", {
  set.seed(4)
  before <- use_simd()
  on.exit(use_simd(before))
  pb <- block_problem(70, 200, weights = runif(70, 0.5, 2))
  for (skipping in c("bounds", "none")) {
    paths <- lapply(c(1L, 2L, 4L, 8L), function(width) {
      use_simd(width)
      expect_lte(use_simd(), width)
      lazy_path(pb, 20L, 1, skipping)
    })
    for (path in paths) expect_same_path(path, paths[[1]], 1e-11)
  }
})

test_that("x is read a few times where candidates can be skipped", {
  set.seed(5)
  x <- matrix(rnorm(2000 * 300), 2000)
  pb <- as_problem(x, x[, 1:20] %*% rep(1, 20) + rnorm(2000))
  path <- lazy_path(pb, 20L, 1)
  expect_identical(path$work$candidates, sum(300 - 0:19) * 1)
  expect_lt(path$work$evaluated, 100)
  expect_lt(path$work$passes, 6)
  expect_identical(path$work$dense_from, NA)
  expect_same_path(path, lazy_path(pb, 20L, 1, skipping = "none"))
  fit <- bare_rls(pb, k = 20, lambda = 1)
  expect_identical(fit$work, path$work)
})

test_that("integer and sparse columns are read in place, with the same result", {
  set.seed(6)
  x <- matrix(rpois(60 * 120, 0.7), 60)
  y <- x[, 3] - x[, 80] + rnorm(60)
  expected <- lazy_path(as_problem(x + 0, y), 10L, 1)
  expect_lt(expected$work$evaluated, expected$work$candidates)
  expect_identical(lazy_path(as_problem(x, y), 10L, 1), expected)
  sparse <- methods::as(x + 0, "CsparseMatrix")
  expect_same_path(lazy_path(as_problem(sparse, y), 10L, 1), expected)
})

test_that("the search goes on with every candidate where bounds rule out too little", {
  set.seed(7)
  heavy <- as_problem(matrix(rcauchy(50 * 90), 50), rnorm(50), weights = runif(50, 0.5, 2))
  noise <- as_problem(matrix(rnorm(35 * 90), 35), cbind(rnorm(35), rnorm(35)),
                      adjust = cbind(age = rnorm(35)))
  for (pb in list(heavy, noise)) {
    for (lambda in c(1e-3, 1)) {
      path <- lazy_path(pb, 30L, lambda)
      expect_gt(path$work$dense_from, 1)
      expect_lt(path$work$dense_from, 30)
      expect_same_path(path, lazy_path(pb, 30L, lambda, skipping = "none"), 1e-7)
    }
  }
})

test_that("small data, few columns, other searches and other criteria score every candidate", {
  set.seed(8)
  few <- random_problem(30, 20, "binary")
  large <- bare_rls(random_problem(250, 100, "binary"), k = 3, lambda = 1)
  expect_false(identical(large$work$dense_from, 1L))
  for (fit in list(bare_rls(few, k = 3, lambda = 1),
                   bare_rls(random_problem(249, 100, "binary"), k = 3, lambda = 1),
                   bare_rls(random_problem(1000, 63, "binary"), k = 3, lambda = 1),
                   bare_rls(few, k = 3, lambda = 1, criterion = "error"),
                   bare_rls(few, k = 3, lambda = 1, folds = 5),
                   bare_rls(few, k = 3, lambda = 1, search = "floating"))) {
    expect_identical(fit$work$dense_from, 1L)
    expect_identical(fit$work$evaluated, fit$work$candidates)
  }
})

test_that("exact duplicates: the lowest wins, whichever is looked at first", {
  set.seed(9)
  x <- matrix(rnorm(50 * 100), 50)
  x[, 61:100] <- x[, 40:1]
  y <- x[, c(1, 22, 39)] %*% c(1, 2, 3) + rnorm(50)
  for (lambda in c(1e-3, 1, 100)) {
    pb <- as_problem(x, y)
    path <- lazy_path(pb, 8L, lambda)
    expect_same_path(path, lazy_path(pb, 8L, lambda, skipping = "none"), 1e-7)
    chosen <- path$path$feature[-1]
    for (late in which(chosen > 60)) expect_true(any(chosen[seq_len(late)] == 101 - chosen[late]))
  }
})
