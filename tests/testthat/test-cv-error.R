# The cross-validated error of a fit, for any folds, any criterion, and the three ways with basis
# vectors, against retraining and against rows held out by hand.

kernel_rls <- plain_kernel_rls

grid <- 2^c(-8, -1, 6)

test_that("the worked example, leave-one-out", {
  e <- worked_example()
  fit <- kernel_rls(e$x, e$y, kernel = kernel_gaussian(e$gamma), basis = e$basis,
                    lambda = e$lambda, shift = "paper", standardize_response = FALSE)
  expect_lt(abs(cv_error(fit)$criterion - 0.190338666957), 1e-12)
  expect_lt(abs(cv_error(fit, basis = "keep")$criterion - 0.189198467558), 1e-12)
})

test_that("without folds it is the path of the fit", {
  set.seed(140)
  for (task in c("two", "binary")) for (basis in c("all", "scattered", "points")) {
    pb <- random_points(20, task, weights = TRUE)
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = random_basis(pb, basis),
                      folds = rep(1:5, 4))
    path <- fit$path[setdiff(names(fit$path), "training")]
    expect_equal(cv_error(fit), path)
    expect_equal(min(cv_error(fit, basis = "remove")$criterion),
                 sum(pb$rows$weight *
                     residuals(fit, "held_out")^2) / sum(pb$rows$weight) / ncol(pb$rows$y))
  }
})

# Folds of 24 rows: unequal, grouped, twice, and one that holds all of the basis.
folds_of <- function(pb, kind, basis) {
  if (!is.numeric(basis) || is.matrix(basis)) basis <- c(2, 3, 8, 13, 17)
  switch(kind,
    loo = make_folds(pb, "loo"),
    unequal = unequal_folds(pb),
    twice = unequal_folds(pb, 2),
    grouped = make_folds(pb, 4, groups = c(rep(1:8, c(1, 2, 2, 3, 3, 3, 4, 4)), 1, 4)),
    basis = make_folds(pb, 1 + seq_len(nrow(pb)) %in% c(basis, 7))
  )
}

test_that("every figure is that of retraining", {
  set.seed(141)
  kinds <- random_cover(24, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
                        covariates = c(FALSE, TRUE), intercept = c(FALSE, TRUE),
                        basis = c("all", "scattered", "twins", "points"),
                        way = c("remove", "keep", "skip"),
                        folds = c("loo", "unequal", "twice", "grouped", "basis"),
                        name = c("squared", "absolute", "error", "auc"))
  for (one in split(kinds, seq_len(nrow(kinds)))) {
    if (one$basis == "all" && one$way == "skip") next
    if (one$name == "auc") one$task <- "binary"
    if (one$name == "error" && one$task %in% c("one", "two")) one$task <- "three"
    pb <- random_points(24, one$task, weights = one$weights, covariates = one$covariates,
                        intercept = one$intercept)
    basis <- random_basis(pb, one$basis)
    folds <- folds_of(pb, one$folds, basis)
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = grid)
    case <- oracle_case(pb, oracle_gaussian(1), basis)
    figures <- cv_error(fit, folds, basis = one$way, criterion = one$name)
    where <- paste(one, collapse = " ")
    tolerance <- if (one$basis == "twins") 1e-6 else 1e-9
    expect_identical(figures$lambda, grid)
    if (one$name == "auc" && folds$loo) {
      exact <- vapply(grid, function(l) oracle_cv_pairs(case, l, one$way), 0)
      expect_equal(figures$criterion, exact, tolerance = tolerance, label = where)
      next
    }
    exact <- vapply(grid, function(l) oracle_cv_figure(case, l, folds, one$way, one$name), c(0, 0))
    expect_lt(relative_error(figures$criterion, exact["value", ]), tolerance, label = where)
    expect_equal(figures$se, exact["se", ], tolerance = 10 * tolerance, label = where)
    if (one$task %in% c("binary", "three")) {
      wrong <- vapply(grid, function(l) {
        oracle_cv_figure(case, l, folds, one$way, "error")[["value"]]
      }, 0)
      expect_equal(figures$error, wrong, label = where)
    } else {
      expect_null(figures$error)
    }
  }
})

test_that("leave-pair-out AUC removes both rows of every pair", {
  set.seed(142)
  for (kind in c("all", "scattered", "points")) for (odd in c(FALSE, TRUE)) {
    pb <- random_points(14, "binary", weights = odd, covariates = odd, intercept = odd)
    basis <- random_basis(pb, kind, 4)
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = grid)
    case <- oracle_case(pb, oracle_gaussian(1), basis)
    for (way in c("remove", "keep", if (kind == "scattered") "skip")) {
      exact <- vapply(grid, function(l) oracle_cv_pairs(case, l, way), 0)
      figures <- cv_error(fit, basis = way, criterion = "auc")
      expect_equal(figures$criterion, exact, tolerance = 1e-12, label = paste(kind, odd, way))
      expect_true(all(is.na(figures$se)))
    }
  }
})

test_that("leave-one-out is every row held out by itself", {
  set.seed(143)
  for (kind in c("all", "scattered", "twins")) {
    pb <- random_points(18, "two", weights = TRUE, intercept = TRUE)
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = random_basis(pb, kind, 5),
                      lambda = grid)
    for (way in c("remove", "keep")) {
      losses <- vapply(1:18, function(j) {
        apply(holdout(fit, j, basis = way)[1, , ], 2, function(f) mean((pb$rows$y[j, ] - f)^2))
      }, grid)
      expect_equal(cv_error(fit, "loo", basis = way)$criterion,
                   as.vector(losses %*% pb$rows$weight) / sum(pb$rows$weight), tolerance = 1e-7)
    }
  }
})

test_that("folds are rows held out together, and skipped basis rows are never among them", {
  set.seed(144)
  pb <- random_points(20, "one", weights = TRUE)
  basis <- c(2, 9, 10, 15)
  ids <- rep(1:5, c(2, 3, 4, 5, 6))
  fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = grid)
  for (way in c("remove", "keep", "skip")) {
    scored <- if (way == "skip") setdiff(1:20, basis) else 1:20
    held_out <- matrix(0, 20, 3)
    for (rows in split(scored, ids[scored])) {
      held_out[rows, ] <- holdout(fit, rows, basis = if (way == "skip") "keep" else way)
    }
    loss <- (pb$rows$y[scored, 1] - held_out[scored, ])^2
    expect_equal(cv_error(fit, ids, basis = way)$criterion,
                 colSums(pb$rows$weight[scored] * loss) / sum(pb$rows$weight[scored]))
  }
})

test_that("with all rows as the basis, removing and keeping are the same", {
  set.seed(145)
  pb <- random_points(20, "three", intercept = TRUE)
  fit <- kernel_rls(pb, kernel = kernel_gaussian(1), lambda = grid)
  for (folds in list("loo", rep(1:4, 5))) {
    expect_equal(cv_error(fit, folds, basis = "keep"), cv_error(fit, folds))
  }
})

test_that("points that are no rows are kept whatever is asked for", {
  set.seed(146)
  pb <- random_points(20, "one")
  fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = random_basis(pb, "points"))
  expect_equal(cv_error(fit, basis = "keep"), cv_error(fit))
  expect_equal(cv_error(fit, basis = "skip"), cv_error(fit))
})

test_that("drawn and repeated folds, and folds of groups, follow set.seed()", {
  set.seed(147)
  pb <- random_points(24, "binary")
  fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = 4:9, lambda = grid)
  set.seed(1)
  drawn <- cv_error(fit, 6)
  set.seed(1)
  expect_identical(cv_error(fit, make_folds(pb, 6)), drawn)
  folds <- make_folds(pb, 4, repeats = 3)
  each <- lapply(1:3, function(r) cv_error(fit, folds$ids[, r]))
  mean <- Reduce(`+`, lapply(each, as.matrix)) / 3
  expect_equal(as.matrix(cv_error(fit, folds)), mean)
})

test_that("a function of the user sees coded values, predictions and fold ids", {
  set.seed(148)
  pb <- random_points(20, "binary", weights = TRUE)
  basis <- c(2, 9, 10, 15)
  ids <- rep(1:4, 5)
  fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = grid)
  case <- oracle_case(pb, oracle_gaussian(1), basis)
  by_fold <- function(y, prediction, fold) {
    stopifnot(all(y %in% c(-1, 1)), length(prediction) == length(y), length(fold) == length(y))
    max(tapply(abs(y - prediction), fold, mean))
  }
  for (way in c("remove", "keep", "skip")) {
    scored <- if (way == "skip") setdiff(1:20, basis) else 1:20
    exact <- vapply(grid, function(l) {
      held_out <- oracle_partition(case, l, ids, way)
      by_fold(case$rows$y[scored, ], held_out[scored, ], ids[scored])
    }, 0)
    figures <- cv_error(fit, ids, basis = way, criterion = by_fold)
    expect_equal(figures$criterion, exact, tolerance = 1e-9)
    expect_true(all(is.na(figures$se)))
  }
  higher <- structure(function(y, prediction, fold) mean(y * prediction), better = "higher")
  exact <- vapply(grid, function(l) mean(case$rows$y * oracle_partition(case, l, ids)), 0)
  expect_equal(cv_error(fit, ids, criterion = higher)$criterion, exact, tolerance = 1e-9)
})

test_that("skipped rows stay in training for the covariates too", {
  set.seed(151)
  x <- matrix(rnorm(32), 16)
  batch <- rep(c(1, 0), c(3, 13))
  # without rows 1 to 3 the batch could not be adjusted for, but they are never held out
  fit <- kernel_rls(x, rnorm(16), kernel = kernel_gaussian(1), basis = 1:5, lambda = grid,
                    adjust = batch)
  ids <- c(1, 1, 1, rep(1:3, length.out = 13))
  figures <- cv_error(fit, ids, basis = "skip")
  residuals <- lapply(split(6:16, ids[6:16]), function(rows) {
    fit$problem$rows$y[rows, 1] - holdout(fit, rows)[, 1, ]
  })
  expect_equal(figures$criterion, unname(colMeans(do.call(rbind, residuals)^2)))
})

test_that("AUC needs scored rows of both classes", {
  set.seed(152)
  x <- matrix(rnorm(32), 16)
  group <- rep(c("a", "b"), 8)
  fit <- kernel_rls(x, group, kernel = kernel_gaussian(1), basis = seq(1, 15, 2), lambda = grid)
  for (folds in list("loo", rep(1:4, each = 4))) {
    expect_error(cv_error(fit, folds, basis = "skip", criterion = "auc"), "both classes",
                 class = "sparsels_error_input")
  }
})

test_that("lambda may be off the path", {
  set.seed(150)
  pb <- random_points(20, "binary")
  off <- c(7, 0.03)
  for (basis in list(NULL, 4:9)) {
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = grid)
    other <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = off)
    expect_equal(cv_error(fit, lambda = off), cv_error(other))
    expect_identical(cv_error(fit, lambda = off)$lambda, off)
    expect_identical(row.names(cv_error(fit, lambda = 7)), "1")
    expect_equal(holdout(fit, 3:6, lambda = off)[], holdout(other, 3:6)[])
  }
})

test_that("rls has the same figures, few features or many", {
  set.seed(149)
  for (n in c(5, 30)) for (task in c("two", "binary", "three")) for (odd in c(FALSE, TRUE)) {
    pb <- random_problem(16, n, task, weights = odd, covariates = odd, intercept = !odd)
    all <- which(pb$columns$usable)
    fit <- rls(pb, lambda = grid)
    expect_equal(cv_error(fit), fit$path[names(cv_error(fit))])
    # features are no rows: there is nothing to keep or to skip
    for (way in c("keep", "skip")) expect_equal(cv_error(fit, basis = way), cv_error(fit))
    folds <- if (odd) unequal_folds(pb, 2) else make_folds(pb, rep(1:4, 4))
    names <- c("squared", "absolute", if (task != "two") "error", if (task == "binary") "auc")
    for (name in names) {
      exact <- vapply(grid, function(l) oracle_figure(pb, all, l, folds, name), c(0, 0))
      figures <- cv_error(fit, folds, criterion = name)
      expect_equal(figures$criterion, exact["value", ], tolerance = 1e-8)
      expect_equal(figures$se, exact["se", ], tolerance = 1e-7)
    }
    if (task == "binary" && n == 5) {
      exact <- vapply(grid, function(l) oracle_pairs_out(pb, all, l), 0)
      expect_equal(cv_error(fit, "loo", criterion = "auc")$criterion, exact, tolerance = 1e-12)
    }
  }
})
