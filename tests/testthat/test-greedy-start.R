# Searches that begin with given columns: every figure and every move against retraining.

searches <- c("forward", "backward", "floating", "forward_backward")

# of columns among which the largest size may be the best
started_rls <- function(...) suppressWarnings(greedy_rls(...), "sparsels_warning_edge")

test_that("a search goes on from the columns given by its own rule, with exact errors", {
  set.seed(60)
  cases <- random_cover(
    20, search = searches, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
    covariates = c(TRUE, FALSE), folds = c("loo", "unequal", "repeated"), count = 1:4
  )
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(14, 9, case$task, case$weights, case$covariates)
    folds <- folds_of_kind(pb, case$folds)
    start <- sample(c(1:4, 6L, 8:9), case$count)
    k <- if (case$search == "backward") case$count else 5
    fit <- bare_rls(pb, k = k, lambda = 0.3, folds = folds, search = case$search, start = start)
    label <- paste(names(case), vapply(case, format, ""), sep = "=", collapse = " ")
    expect_identical(signed_moves(fit$path),
                     oracle_search(pb, case$search, k, 0.3, folds, start = start), label = label)
    sets <- oracle_sets(fit$path, if (case$search == "backward") start else integer())
    exact <- vapply(sets, function(set) oracle_figure(pb, set, 0.3, folds), c(value = 0, se = 0))
    expect_equal(fit$path$criterion, exact["value", ], tolerance = 1e-9, label = label)
    expect_equal(fit$path$se, exact["se", ], tolerance = 1e-8, label = label)
    expect_identical(fit$control$start, start)
  }
})

test_that("searches by other criteria begin with given columns, too", {
  set.seed(61)
  for (search in searches) for (name in c("error", "auc")) {
    pb <- random_problem(12, 7, "binary")
    folds <- make_folds(pb, rep_len(1:3, 12))
    fit <- bare_rls(pb, k = 3, lambda = 1, folds = folds, search = search, criterion = name,
                    start = c(6L, 1L, 3L))
    expect_identical(signed_moves(fit$path),
                     oracle_search(pb, search, 3, 1, folds, name, start = c(6L, 1L, 3L)),
                     label = paste(search, name))
  }
})

test_that("candidates are skipped after a panel as they are without one", {
  set.seed(62)
  x <- matrix(rnorm(60 * 500), 60)
  x[, 9] <- 3 # excluded
  pb <- as_problem(x, x[, 3] - x[, 80] + rnorm(60), weights = runif(60, 0.5, 2))
  for (folds in list("loo", make_folds(pb, 6))) {
    path <- function(skipping, threads = 1L) {
      control <- path_control(pb, 8L, 1, folds, "squared", start = c(400L, 80L, 12L))
      control[c("search", "keep", "threads", "progress")] <- list("forward", 2L, threads, FALSE)
      greedy_path(pb, control, 1, given = control$start, skipping = skipping)
    }
    every <- path("none")
    for (skipping in c("bounds", "recurrence")) {
      few <- path(skipping)
      part <- c("path", "size", "models", "alternatives")
      expect_equal(few[part], every[part], tolerance = 1e-9)
      expect_identical(few$path$feature[2:4], c(400L, 80L, 12L))
      expect_identical(path(skipping, 2L), few)
    }
    fit <- bare_rls(pb, k = 8, lambda = 1, folds = folds, start = c("V400", "V80", "V12"), keep = 2)
    expect_equal(fit$path, every$path, tolerance = 1e-9)
  }
})

test_that("no column is the default, and names are as good as numbers", {
  set.seed(63)
  x <- matrix(rnorm(40 * 12), 40, dimnames = list(NULL, letters[1:12]))
  y <- x[, 2] - x[, 5] + rnorm(40)
  for (search in searches) {
    run <- function(...) {
      fit <- started_rls(x, y, k = 2, size_folds = 3, search = search, ...)
      fit[setdiff(names(fit), c("call", "control", "problem"))]
    }
    plain <- run()
    expect_identical(run(start = character()), plain)
    expect_identical(run(start = integer()), plain)
    expect_identical(run(start = c("e", "a")), run(start = c(5, 1)))
  }
})

test_that("the repetitions in folds begin with the panel", {
  set.seed(64)
  x <- matrix(rnorm(40 * 12), 40, dimnames = list(NULL, letters[1:12]))
  y <- x[, 2] - x[, 5] + rnorm(40)
  folds <- rep_len(1:4, 40)
  fit <- started_rls(x, y, k = 3, lambda = 5, refit = FALSE, start = c("c", "k", "b"),
                    size_folds = folds)
  # a model of given columns is the same model in every fold: its error is that of retraining
  part_error <- function(fold, size) {
    train <- as_problem(x[folds != fold, ], y[folds != fold])
    model <- oracle_ridge(train, c(3, 11, 2)[seq_len(size)], 5)
    scale <- function(v, from) (v - mean(from)) / sqrt(mean((from - mean(from))^2))
    columns <- vapply(c(3, 11, 2)[seq_len(size)], function(i) {
      scale(x[folds == fold, i], x[folds != fold, i])
    }, numeric(sum(folds == fold)))
    sum((y[folds == fold] - model$b[1] - columns %*% model$B)^2)
  }
  cv <- vapply(1:3, function(size) sum(vapply(1:4, part_error, 0, size)) / 40, 0)
  expect_equal(fit$path$cv[2:4], cv, tolerance = 1e-9)
  # larger sizes than were tried at first go on from the same columns
  more <- started_rls(x, y, lambda = 5, refit = FALSE, start = c("c", "k", "b"),
                      size_folds = folds, size = "min")
  expect_identical(more$path$name[2:4], c("c", "k", "b"))
  expect_equal(more$path$cv[2:4], cv, tolerance = 1e-9)
})

test_that("a member that is constant in a part of the rows is left out there", {
  set.seed(65)
  x <- matrix(rnorm(30 * 8), 30)
  x[, 8] <- replace(numeric(30), 1:3, 1)
  y <- x[, 2] + rnorm(30)
  for (search in searches) {
    fit <- started_rls(x, y, k = 2, lambda = 5, start = c(8, 2), search = search,
                      size_folds = rep(1:10, each = 3))
    expect_length(size_table(fit)$cv, 3)
    expect_false(anyNA(c(size_table(fit)$cv, fit$held_out)))
  }
})

test_that("sizes go from those of the panel", {
  set.seed(66)
  x <- matrix(rnorm(60 * 50), 60)
  y <- x[, 2] + rnorm(60)
  start <- 50:24
  fit <- greedy_rls(x, y, lambda = 60, start = start)
  expect_gte(length(fit$coefficients), 28)
  expect_identical(fit$path$feature[2:28], start)
  early <- bare_rls(x, y, lambda = 60, start = start)
  expect_gte(max(early$path$size), 27)
  pruned <- greedy_rls(x, y, lambda = 60, start = start, search = "backward")
  expect_identical(max(pruned$path$size), 27L)
  expect_length(pruned$coefficients, 28)
  expect_identical(greedy_rls(x, y, lambda = 60, start = 9:3, size = 2)$size, 2L)
})

test_that("what cannot be begun with is refused, and what began is said", {
  set.seed(67)
  x <- matrix(rnorm(30 * 6), 30, dimnames = list(NULL, letters[1:6]))
  x[, 4] <- 7
  y <- x[, 2] + rnorm(30)
  expect_snapshot({
    refusal(greedy_rls(x, y, start = c("a", "zz")))
    refusal(greedy_rls(x, y, start = c("a", "b", "a")))
    refusal(greedy_rls(x, y, start = "d"))
    refusal(greedy_rls(x, y, start = 9))
    refusal(greedy_rls(x, y, start = list("a")))
    refusal(greedy_rls(x, y, start = c("a", "b", "c"), k = 2))
    bare_rls(x, y, k = 3, lambda = 30, start = c("a", "b"))
    bare_rls(x, y, k = 1, lambda = 30, start = "a")
  })
})

test_that("given columns of many rows have the errors of ridge regression, whatever the threads", {
  set.seed(41)
  for (k in c(6L, 100L)) {
    m <- 12000
    x <- matrix(rnorm(m * k), m)
    y <- x[, 1] + 2 * x[, k] + rnorm(m)
    fit_by <- function(threads) {
      greedy_rls(x, y, start = seq_len(k), k = k, lambda = 50, size = "criterion", refit = FALSE,
                 threads = threads)
    }
    fit <- fit_by(1)
    expect_identical(fit_by(2)$path, fit$path)
    z <- scale(x) * sqrt(m / (m - 1))
    for (size in c(k %/% 2L, k)) {
      own <- z[, seq_len(size)]
      inverse <- solve(crossprod(own) + diag(50, size))
      b <- inverse %*% crossprod(own, y)
      leverage <- rowSums((own %*% inverse) * own) + 1 / m
      left_out <- (y - mean(y) - own %*% b) / (1 - leverage)
      expect_equal(fit$path$criterion[size + 1], mean(left_out^2), tolerance = 1e-12)
      expect_equal(unname(coef(fit, size = size)[-1]), as.vector(b) / attr(z, "scaled:scale")[
        seq_len(size)] * sqrt(m / (m - 1)), tolerance = 1e-10)
    }
  }
})
