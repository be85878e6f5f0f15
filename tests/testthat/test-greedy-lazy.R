# Forward search that skips candidates against the search that scores them all, and against
# retraining from scratch.

#' @srrstats {G5.7} counts of operations in `tests/testthat/test-greedy-lazy.R`. `bench/scale.R` and
#'   `bench/greedy-rls.R` measure times, as no test depends on a clock
#' @srrstats {RE7.1a} `tests/testthat/test-greedy-lazy.R` counts operations: a response without
#'   noise takes no more than one with noise
lazy_path <- function(pb, k, lambda, skipping = "bounds", keep = 0L, threads = 1L,
                      folds = "loo") {
  control <- path_control(pb, k, lambda, folds, "squared")
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
    k <- min(sum(pb$columns$usable), case$m - 4L, 12L)
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

# Folds ------------------------------------------------------------------------------------------

skipping_by <- c("bounds", "recurrence")

# Partitions of the rows, drawn at random: of about equal folds, given groups of 1 to 6 rows,
# unequal folds twice, single rows among larger folds, and half the rows at once.
fold_kinds <- c("ten", "repeated", "groups", "unequal", "single", "halves")

partition <- function(pb, kind) {
  m <- nrow(pb)
  switch(kind,
    ten = make_folds(pb, 10),
    repeated = make_folds(pb, 5, repeats = 3),
    groups = make_folds(pb, sample(rep(seq_len(m), rep_len(c(4, 6, 1, 3, 5), m))[seq_len(m)])),
    unequal = unequal_folds(pb, 2),
    single = make_folds(pb, sample(c(1:4, rep_len(5:8, m - 4)))),
    halves = make_folds(pb, 2)
  )
}

# The paths by both ways of skipping, on one thread and on two, and without skipping.
expect_same_folds <- function(pb, k, lambda, folds, keep = 0L, tolerance = 1e-9) {
  every <- lazy_path(pb, k, lambda, "none", keep, folds = folds)
  paths <- lapply(skipping_by, function(skipping) {
    path <- lazy_path(pb, k, lambda, skipping, keep, folds = folds)
    expect_same_path(path, every, tolerance)
    expect_identical(lazy_path(pb, k, lambda, skipping, keep, 2L, folds), path)
    path
  })
  stats::setNames(paths, skipping_by)
}

test_that("by folds, nothing but the work differs from scoring every candidate", {
  set.seed(20)
  cases <- random_cover(
    15, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
    covariates = c(TRUE, FALSE), intercept = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
    lambda = c(0.1, 1, 30, 1e3), keep = c(0L, 2L), m = c(24L, 37L, 60L), n = c(8L, 30L, 90L),
    folds = fold_kinds
  )
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(case$m, case$n, case$task, case$weights, case$covariates, case$intercept,
                         case$sparse)
    expect_same_folds(pb, min(sum(pb$columns$usable), 10L), case$lambda, partition(pb, case$folds),
                      case$keep, 1e-8)
  }
})

test_that("rows of weight 0 are held out, too", {
  set.seed(21)
  for (kind in fold_kinds) {
    weights <- sample(rep_len(c(0, 0.5, 1, 2), 48))
    pb <- block_problem(48, 64, "two", weights = weights, adjust = cbind(age = rnorm(48)))
    folds <- partition(pb, kind)
    for (path in expect_same_folds(pb, 6L, 3, folds)) {
      exact <- oracle_figure(pb, path$path$feature[2:7], 3, folds)
      expect_equal(path$path$criterion[7], exact[["value"]], tolerance = 1e-10)
    }
  }
})

test_that("by folds, every figure equals retraining", {
  set.seed(22)
  cases <- random_cover(8, task = c("one", "two", "binary", "three"), folds = fold_kinds)
  for (i in seq_len(nrow(cases))) {
    pb <- block_problem(36, 80, cases$task[i], weights = runif(36, 0.5, 2),
                        adjust = cbind(age = rnorm(36)))
    folds <- partition(pb, cases$folds[i])
    paths <- expect_same_folds(pb, 4L, 4, folds)
    path <- paths$bounds
    sets <- lapply(0:4, function(step) path$path$feature[seq_len(step) + 1])
    exact <- vapply(sets, oracle_figure, c(value = 0, se = 0), pb = pb, lambda = 4, folds = folds)
    expect_equal(path$path$criterion, exact["value", ], tolerance = 1e-10)
    expect_equal(path$path$se, exact["se", ], tolerance = 1e-8)
    expect_equal(unname(path$models[[5]]$beta), unname(oracle_ridge(pb, sets[[5]], 4)$B),
                 tolerance = 1e-9)
    held_out <- apply(folds$ids, 2, function(ids) {
      oracle_held_out(pb, sets[[path$size + 1]], 4, ids)
    })
    expect_equal(as.vector(path$held_out), rowMeans(held_out), tolerance = 1e-9)
  }
})

test_that("by folds, the next feature is the best of all, and runners-up are exact", {
  set.seed(23)
  for (kind in c("repeated", "groups", "single")) {
    pb <- block_problem(20, 24, "two", weights = sample(rep_len(c(0, 1, 2), 20)))
    folds <- partition(pb, kind)
    paths <- lapply(skipping_by, function(skipping) {
      lazy_path(pb, 3L, 1, skipping, keep = 2L, folds = folds)
    })
    chosen <- paths[[1]]$path$feature[-1]
    for (step in 1:3) {
      error <- vapply(seq_len(24), function(i) {
        if (i %in% chosen[seq_len(step - 1)]) return(Inf)
        oracle_squared(pb, c(chosen[seq_len(step - 1)], i), 1, folds)
      }, 0)
      for (path in paths) {
        expect_identical(path$path$feature[step + 1], order(error)[1])
        others <- path$alternatives[path$alternatives$step == step, ]
        expect_identical(others$feature, order(error)[2:3])
        expect_equal(others$criterion, sort(error)[2:3], tolerance = 1e-10)
      }
    }
  }
})

test_that("by folds, every instruction set finds the same", {
  set.seed(24)
  before <- use_simd()
  on.exit(use_simd(before))
  pb <- block_problem(70, 88, "two", weights = runif(70, 0.5, 2))
  for (kind in c("repeated", "groups", "single")) {
    folds <- partition(pb, kind)
    every <- lazy_path(pb, 12L, 1, "none", folds = folds)
    for (width in c(1L, 2L, 4L, 8L)) {
      use_simd(width)
      expect_lte(use_simd(), width)
      for (skipping in skipping_by) {
        expect_same_path(lazy_path(pb, 12L, 1, skipping, folds = folds), every, 1e-10)
      }
    }
  }
})

test_that("by folds, columns of every kind are read in place, with the same result", {
  set.seed(25)
  x <- matrix(rpois(60 * 83, 0.7), 60) # the last eight columns are fewer
  y <- x[, 3] - x[, 80] + rnorm(60)
  weights <- sample(rep_len(c(0, 1, 2), 60))
  as_kind <- function(x) as_problem(x, y, weights = weights)
  expected <- as_kind(x + 0)
  for (kind in fold_kinds) {
    folds <- partition(expected, kind)
    for (skipping in skipping_by) {
      path <- lazy_path(expected, 8L, 1, skipping, folds = folds)
      expect_lt(path$work$evaluated, path$work$candidates)
      expect_identical(lazy_path(as_kind(x), 8L, 1, skipping, folds = folds), path)
      expect_identical(lazy_path(as_kind(float_matrix(x)), 8L, 1, skipping, folds = folds), path)
      sparse <- as_kind(methods::as(x + 0, "CsparseMatrix"))
      expect_same_path(lazy_path(sparse, 8L, 1, skipping, folds = folds), path)
    }
  }
})

test_that("by folds, bounds leave few candidates, and errors that follow the moves one", {
  set.seed(26)
  x <- matrix(rnorm(2000 * 300), 2000)
  pb <- as_problem(x, x[, 1:20] %*% rep(1, 20) + rnorm(2000))
  folds <- make_folds(pb, rep(1:500, each = 4))
  path <- lazy_path(pb, 20L, 8 * 2000, folds = folds)
  expect_identical(path$work$candidates, sum(300 - 0:19) * 1)
  expect_lt(path$work$evaluated, 100)
  expect_lt(path$work$passes, 6)
  expect_identical(path$work[c("recurrence_from", "dense_from")],
                   list(recurrence_from = NA, dense_from = NA))
  expect_same_path(path, lazy_path(pb, 20L, 8 * 2000, "none", folds = folds))
  expect_identical(lazy_path(pb, 20L, 8 * 2000, threads = 2L, folds = folds), path)
  fit <- bare_rls(pb, k = 20, lambda = 8 * 2000, folds = folds)
  expect_identical(fit$work, path$work)
  folds <- make_folds(pb, rep_len(1:10, 2000))
  ten <- lazy_path(pb, 20L, 1, "recurrence", folds = folds)
  expect_identical(lazy_path(pb, 20L, 1, "recurrence", threads = 2L, folds = folds), ten)
  expect_identical(ten$work[c("candidates", "evaluated", "recurrence_from", "dense_from")],
                   list(candidates = sum(300 - 0:19) * 1, evaluated = 20, recurrence_from = 1L,
                        dense_from = NA))
})

test_that("by folds, errors follow the moves from where bounds rule out too little", {
  set.seed(27)
  heavy <- as_problem(matrix(rcauchy(50 * 90), 50), rnorm(50), weights = runif(50, 0.5, 2))
  noise <- as_problem(matrix(rnorm(35 * 90), 35), cbind(rnorm(35), rnorm(35)),
                      adjust = cbind(age = rnorm(35)))
  for (pb in list(heavy, noise)) for (kind in c("ten", "repeated", "unequal")) {
    folds <- partition(pb, kind)
    work <- expect_same_folds(pb, 15L, 1, folds, tolerance = 1e-7)$bounds$work
    expect_gt(work$recurrence_from, 1)
    expect_lt(work$recurrence_from, 15)
  }
  # the errors of so many folds would take more memory than the other engine
  pairs <- make_folds(heavy, rep_len(1:40, 50))
  for (path in expect_same_folds(heavy, 15L, 1, pairs, tolerance = 1e-7)) {
    expect_identical(path$work$recurrence_from, NA)
    expect_gt(path$work$dense_from, 1)
  }
})

test_that("by folds, every candidate is scored where rounding may decide", {
  set.seed(28)
  y <- rnorm(40)
  nearly_exact <- as_problem(matrix(rnorm(40 * 90), 40), y, intercept = FALSE)
  huge <- as_problem(matrix(rcauchy(40 * 90), 40)^3, y, intercept = FALSE)
  for (pb in list(nearly_exact, huge)) {
    folds <- make_folds(pb, rep_len(1:8, 40))
    every <- lazy_path(pb, 36L, 1e-6, "none", folds = folds)
    for (skipping in skipping_by) {
      path <- lazy_path(pb, 36L, 1e-6, skipping, folds = folds)
      expect_gte(path$work$dense_from, path$work$recurrence_from)
      expect_identical(path$path$feature, every$path$feature)
      expect_equal(path$path$criterion, every$path$criterion, tolerance = 1e-6)
    }
  }
})

test_that("by folds, of exact duplicates the lowest wins", {
  set.seed(29)
  x <- matrix(rnorm(50 * 100), 50)
  x[, 61:100] <- x[, 40:1]
  pb <- as_problem(x, x[, c(1, 22, 39)] %*% c(1, 2, 3) + rnorm(50))
  for (kind in fold_kinds) {
    lambda <- if (kind %in% c("ten", "groups")) 0.1 else 30
    for (path in expect_same_folds(pb, 8L, lambda, partition(pb, kind), tolerance = 1e-7)) {
      chosen <- path$path$feature[-1]
      for (late in which(chosen > 60)) expect_true(any(chosen[seq_len(late)] == 101 - chosen[late]))
    }
  }
})

test_that("Ctrl-C in a search by folds returns the steps done", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(30)
  pb <- as_problem(matrix(rnorm(1500 * 400), 1500), rnorm(1500))
  folds <- make_folds(pb, rep_len(1:5, 1500))
  for (skipping in skipping_by) {
    path <- interrupted_at(2, lazy_path(pb, 390L, 1, skipping, folds = folds))
    expect_identical(path$status, "interrupted")
    steps <- nrow(path$path) - 1L
    expect_gte(steps, 2)
    expect_lt(steps, 390)
    whole <- lazy_path(pb, steps, 1, skipping, folds = folds)
    expect_equal(path$path, whole$path, tolerance = 1e-12)
    expect_equal(path$models[seq_len(steps + 1)], whole$models, tolerance = 1e-12)
  }
})

test_that("greedy_rls() by folds skips candidates, and its figures are those of retraining", {
  set.seed(31)
  pb <- block_problem(320, 80, "binary")
  donor <- rep(1:80, each = 4)
  for (folds in list(make_folds(pb, 8, groups = donor), make_folds(pb, 10, repeats = 2))) {
    fit <- greedy_rls(pb, k = 5, lambda = 2000, folds = folds, size = "criterion", refit = FALSE)
    expect_lt(fit$work$evaluated, fit$work$candidates / 4)
    expect_identical(fit$work$dense_from, NA)
    for (step in 0:5) {
      exact <- oracle_figure(pb, fit$path$feature[seq_len(step) + 1], 2000, folds)
      expect_equal(fit$path$criterion[step + 1], exact[["value"]], tolerance = 1e-10)
      expect_equal(fit$path$se[step + 1], exact[["se"]], tolerance = 1e-8)
    }
    for (search in c("floating", "forward_backward", "backward")) {
      other <- bare_rls(pb, k = 2, lambda = 2000, folds = folds, search = search)
      expect_identical(other$work$evaluated, other$work$candidates)
      expect_identical(other$work$dense_from, 1L)
    }
  }
})

# Searches that begin with given columns, and many responses on one x -----------------------------

test_that("a search that begins with the first columns of another goes on as that one", {
  set.seed(31)
  cases <- list(
    block_problem(60, 400), block_problem(60, 400, "binary", adjust = rnorm(60)),
    block_problem(45, 80, "three", weights = runif(45))
  )
  for (pb in cases) {
    for (folds in list("loo", 5, 15)) {
      folds <- make_folds(pb, folds)
      for (skipping in c("none", "bounds", "recurrence")) {
        control <- path_control(pb, 12L, 3, folds, "squared")
        control <- c(control, list(search = "forward", keep = 2L, threads = 1L, progress = FALSE))
        whole <- greedy_path(pb, control, 3, skipping = skipping)
        for (begun in c(1L, 5L, 12L)) {
          first <- whole$models[[begun + 1L]]$features
          path <- greedy_path(pb, control, 3, given = first, skipping = skipping)
          expect_equal(path[c("path", "models", "held_out", "fitted")],
                       whole[c("path", "models", "held_out", "fitted")], tolerance = 1e-9)
          later <- whole$alternatives$step > begun
          expect_equal(path$alternatives, whole$alternatives[later, ], tolerance = 1e-9,
                       ignore_attr = "row.names")
        }
      }
    }
  }
})

test_that("columns that no search would begin with are added all the same", {
  set.seed(32)
  pb <- block_problem(50, 200)
  control <- path_control(pb, 6L, 2, "loo", "squared")
  control <- c(control, list(search = "forward", keep = 0L, threads = 1L, progress = FALSE))
  for (skipping in c("none", "bounds")) {
    path <- greedy_path(pb, control, 2, given = c(190, 100, 101), skipping = skipping)
    expect_identical(path$path$feature[2:4], c(190L, 100L, 101L))
    exact <- vapply(0:6, function(step) {
      oracle_figure(pb, path$path$feature[seq_len(step) + 1], 2, make_folds(pb, "loo"))[["value"]]
    }, 0)
    expect_equal(path$path$criterion, exact, tolerance = 1e-9)
  }
})

test_that("searches for many responses are those for each", {
  set.seed(33)
  for (task in c("one", "two", "binary", "three")) {
    pb <- block_problem(60, 480, task, weights = runif(60, 0.5, 2), adjust = rnorm(60))
    responses <- replicate(3, pb$rows$y[sample(60), , drop = FALSE], simplify = FALSE)
    for (folds in list("loo", 6)) {
      control <- path_control(pb, 8L, 5, make_folds(pb, folds), "squared")
      control <- c(control, list(search = "forward", keep = 1L, threads = 2L, progress = FALSE))
      many <- greedy_paths(pb, control, 5, responses)
      expect_length(many, 3)
      for (i in seq_along(responses)) {
        one <- pb
        one$rows$y <- responses[[i]]
        columns <- working_matrix(one, seq_len(ncol(one)))
        one$columns$products <-
          crossprod(columns, working_response(one)) * one$columns$scale
        expect_same_path(many[[i]], greedy_path(one, control, 5))
      }
    }
  }
})

test_that("Ctrl-C between searches for many responses leaves out the rest", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(34)
  pb <- as_problem(matrix(rnorm(60 * 480), 60), rnorm(60))
  control <- path_control(pb, 8L, 5, "loo", "squared")
  control <- c(control, list(search = "forward", keep = 0L, threads = 1L, progress = TRUE))
  responses <- replicate(4000, pb$rows$y[sample(60), , drop = FALSE], simplify = FALSE)
  sent <- FALSE
  bar <- function(done, total, ...) { # R may see the signal here or in the search
    if (!sent) {
      sent <<- TRUE
      tools::pskill(Sys.getpid(), tools::SIGINT)
    }
  }
  many <- with_binding("progress_bar", function(...) bar, greedy_paths(pb, control, 5, responses))
  expect_true(sent)
  expect_lt(length(many), 4000)
  # on a busy machine none may have begun
  for (last in utils::tail(many, 1)) expect_identical(last$status, "interrupted")
})

test_that("searches for many responses notice an x that has become other than finite", {
  set.seed(35)
  pb <- as_problem(matrix(rnorm(60 * 480), 60), rnorm(60))
  control <- path_control(pb, 3L, 5, "loo", "squared")
  control <- c(control, list(search = "forward", keep = 0L, threads = 1L, progress = FALSE))
  pb$x[3, ] <- NaN
  expect_error(greedy_paths(pb, control, 5, list(pb$rows$y, -pb$rows$y)),
               class = "sparsels_error_input")
})

test_that("searches by folds go on where rounding has left them singular", {
  for (seed in 1:20) {
    set.seed(seed)
    pb <- as_problem(matrix(rnorm(12 * 65), 12) * 1e6 + 1e7, rnorm(12), standardize = FALSE)
    control <- path_control(pb, 11L, 1e-12, c(1, rep(2, 11)), "squared")
    control <- c(control, list(search = "forward", keep = 0L, threads = 1L, progress = FALSE))
    path <- greedy_path(pb, control, 1e-12, skipping = "bounds")
    expect_identical(path$status, "complete")
    expect_lt(min(path$pivot), 1e-12)
  }
})

test_that("a response without noise takes no more evaluations than one with noise", {
  set.seed(7)
  for (i in seq_len(3)) {
    x <- matrix(rnorm(60 * 600), 60)
    signal <- x[, 1] - x[, 2]
    noise <- rnorm(60)
    evaluated <- vapply(list(signal, signal + noise, noise), function(y) {
      bare_rls(x, y, k = 2, lambda = 60)$work$evaluated
    }, 0)
    expect_false(is.unsorted(evaluated))
  }
})
