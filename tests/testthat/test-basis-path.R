# Basis vectors chosen by held-out error, and the error of every size on the way, against models
# retrained from scratch for every candidate and every fold.

kernel_rls <- plain_kernel_rls

# weighted mean squared held-out error
oracle_basis_error <- function(pb, k, rows, lambda, shift, ids, basis) {
  case <- oracle_case(pb, k, basis = rows, shift = shift)
  out <- oracle_partition(case, lambda, ids, basis)
  sum(pb$rows$weight * (pb$rows$y - out)^2) / (ncol(pb$rows$y) * sum(pb$rows$weight))
}

oracle_held_out_greedy <- function(pb, k, n, lambda, shift, ids, basis) {
  rows <- integer()
  for (round in seq_len(n)) {
    left <- setdiff(seq_len(nrow(pb)), rows)
    errors <- vapply(left, function(row) {
      oracle_basis_error(pb, k, c(rows, row), lambda, shift, ids, basis)
    }, 0)
    rows <- c(rows, left[errors <= min(errors) + 1e-12][1])
  }
  rows
}

worked_problem <- function() {
  example <- worked_example()
  as_problem(example$x, example$y[, 1], intercept = FALSE, standardize = FALSE)
}

test_that("the worked example", {
  pb <- worked_problem()
  groups <- rep(1:5, each = 4)
  run <- function(folds, basis) {
    select_basis(pb, 4, "loo", kernel = kernel_gaussian(2), lambda = 0.5, folds = folds,
                 basis = basis, shift = 1e-7)
  }
  expected <- list(
    list("loo", "keep", c(14L, 6L, 17L, 20L),
         c(0.3723644537, 0.2956028818, 0.1536423636, 0.1556884965)),
    list("loo", "remove", c(14L, 13L, 18L, 19L),
         c(0.3932026955, 0.3027629138, 0.1858379720, 0.1636995926)),
    list(groups, "keep", c(14L, 6L, 17L, 20L),
         c(0.3680001700, 0.2965240302, 0.1567038143, 0.1617909280)),
    list(groups, "remove", c(7L, 6L, 14L, 11L),
         c(0.4278883523, 0.3141098167, 0.2446504812, 0.2049448447))
  )
  for (one in expected) {
    found <- run(one[[1]], one[[2]])
    expect_identical(as.integer(found), one[[3]])
    expect_equal(attr(found, "path")$criterion, one[[4]], tolerance = 1e-9)
  }
  fit <- kernel_rls(pb, kernel = kernel_gaussian(2), basis = c(14, 6, 17, 20), lambda = 0.5,
                    shift = 1e-7)
  expect_equal(fit$coefficients[[1]]$beta[, 1],
               c(0.2680575375, -2.5871315454, 1.9159985713, 0.6619845702), tolerance = 1e-9)
})

test_that("the choice equals retraining every candidate", {
  set.seed(411)
  cases <- random_cover(6, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), intercept = c(TRUE, FALSE),
                        lambda = c(0.01, 1, 30), basis = c("keep", "remove"),
                        folds = c("loo", "uneven"), gamma = c(0.3, 2))
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_points(18, case$task, weights = case$weights, covariates = case$covariates,
                        intercept = case$intercept)
    ids <- if (case$folds == "loo") 1:18 else sample(rep(1:4, c(2, 4, 6, 6)))
    found <- select_basis(pb, 4, "loo", kernel = kernel_gaussian(case$gamma),
                          lambda = case$lambda, folds = ids, basis = case$basis, shift = 1e-7)
    k <- oracle_gaussian(case$gamma)
    expect_identical(
      as.integer(found),
      oracle_held_out_greedy(pb, k, 4, case$lambda, 1e-7, ids, case$basis), label = i
    )
    errors <- vapply(1:4, function(size) {
      oracle_basis_error(pb, k, as.integer(found)[1:size], case$lambda, 1e-7, ids, case$basis)
    }, 0)
    expect_equal(attr(found, "path")$criterion, errors, tolerance = 1e-8)
  }
})

test_that("rows of any method have the errors of retraining at every size", {
  set.seed(412)
  cases <- random_cover(12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), intercept = c(TRUE, FALSE),
                        method = c("greedy", "random", "k_center", "renyi"),
                        lambda = c(1e-3, 1, 30), basis = c("keep", "remove"),
                        folds = c("loo", "three", "two"), shift = c("auto", "paper", "number"),
                        kind = 1:2)
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_points(20, case$task, weights = case$weights, covariates = case$covariates,
                        intercept = case$intercept)
    folds <- switch(case$folds, loo = "loo", three = rep(1:3, c(4, 9, 7)),
                    two = make_folds(20, 2, repeats = 2))
    shift <- if (case$shift == "number") 1e-4 else case$shift
    kernel <- list(kernel_gaussian(1), kernel_polynomial(2))[[case$kind]]
    k <- list(oracle_gaussian(1), oracle_polynomial(2, 1, 1))[[case$kind]]
    rows <- select_basis(pb, 8, case$method, kernel = kernel, lambda = case$lambda, folds = folds,
                         basis = case$basis, shift = shift)
    path <- attr(rows, "path")
    expect_identical(path$row, as.integer(rows))
    # the shift is that of all basis vectors
    used <- shifted_cholesky(oracle_kernel(k, pb$x[rows, ]), shift)$shift
    if (used$where == "regulariser") shift <- used$value
    for (size in c(1, 3, 8)) {
      expected <- oracle_cv_figure(oracle_case(pb, k, rows[seq_len(size)], shift), case$lambda,
                                   make_folds(pb, folds), case$basis)
      expect_equal(c(path$criterion[size], path$se[size]), unname(expected)[1:2],
                   tolerance = 1e-7, label = paste(i, size))
    }
  }
})

test_that("the errors are those of kernel_rls()", {
  set.seed(413)
  x <- matrix(rnorm(60), 30)
  y <- factor(x[, 1]^2 + rnorm(30) / 2 > 1)
  kernel <- kernel_gaussian(0.7)
  rows <- select_basis(x, 6, "loo", y = y, kernel = kernel, lambda = 0.3)
  for (size in c(1, 4, 6)) {
    fit <- kernel_rls(x, y, kernel = kernel, basis = structure(rows[seq_len(size)],
                                                               class = "sparsels_basis"),
                      lambda = 0.3)
    expect_identical(fit$basis$rows, as.integer(rows)[seq_len(size)])
    expect_equal(attr(rows, "path")[size, c("criterion", "se", "error")],
                 fit$path[c("criterion", "se", "error")], ignore_attr = TRUE, tolerance = 1e-8)
  }
  expect_identical(kernel_rls(x, y, kernel = kernel, basis = rows)$basis$rows, as.integer(rows))
  machine <- fs_lssvm(x, y, kernel = kernel, gamma = 1, prototypes = rows, folds = 3)
  expect_identical(machine$basis$available, 6L)
  one <- select_basis(x, 1, "loo", y = y, kernel = kernel)
  machine <- fs_lssvm(x, y, kernel = kernel, gamma = 1, prototypes = one, folds = 3)
  expect_identical(machine$basis$available, 1L)
})

test_that("threads, order of the folds and the form of the data do not matter", {
  set.seed(414)
  x <- matrix(rnorm(120), 40)
  y <- cbind(x[, 1]^2, sin(x[, 2])) + rnorm(80) / 5
  kernel <- kernel_gaussian(0.5)
  ids <- sample(rep(1:4, 10))
  run <- function(x, kernel, ...) select_basis(x, 6, "loo", y = y, kernel = kernel, ...)
  for (basis in c("remove", "keep")) {
    loo <- run(x, kernel, basis = basis)
    folds <- run(x, kernel, folds = ids, basis = basis)
    expect_identical(run(x, kernel, basis = basis, threads = 3), loo)
    expect_identical(run(x, kernel, folds = ids, basis = basis, threads = 2), folds)
    expect_identical(as.integer(run(x, kernel, folds = 5L - ids, basis = basis)),
                     as.integer(folds))
    expect_identical(as.integer(run(x, kernel, folds = 1:40, basis = basis)), as.integer(loo))
    K <- kernel_matrix(kernel, x, x)
    expect_identical(as.integer(run(K, "precomputed", basis = basis)), as.integer(loo))
    expect_identical(as.integer(run(methods::as(x, "CsparseMatrix"), kernel, basis = basis)),
                     as.integer(loo))
  }
  old <- use_simd(1)
  on.exit(use_simd(old))
  expect_identical(as.integer(run(x, kernel, folds = ids, basis = "keep")), as.integer(folds))
  expect_identical(as.integer(run(x, kernel, basis = "keep")), as.integer(loo))
})

test_that("rows that are there twice are chosen last", {
  set.seed(415)
  x <- matrix(rnorm(20), 10)
  twice <- x[rep(1:10, each = 2), ]
  y <- rnorm(20)
  for (basis in c("remove", "keep")) {
    rows <- select_basis(twice, 20, "loo", y = y, kernel = kernel_gaussian(1), basis = basis)
    expect_identical(sort(as.integer(rows)), 1:20)
    expect_identical(anyDuplicated((as.integer(rows)[1:10] + 1) %/% 2), 0L)
    expect_true(all(is.finite(attr(rows, "path")$criterion)))
  }
})

test_that("a basis with its path prints, is saved and gives plain rows", {
  set.seed(416)
  x <- matrix(rnorm(40), 20)
  rows <- select_basis(x, 3, "loo", y = x[, 1]^2, kernel = kernel_gaussian(1))
  expect_identical(rows[2:3], as.integer(rows)[2:3])
  expect_null(attributes(rows[1]))
  expect_output(expect_identical(print(rows), rows))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(rows, file)
  expect_identical(readRDS(file), rows)
  long <- select_basis(x, 12, "greedy", y = factor(x[, 1] > 0), kernel = kernel_gaussian(1),
                       folds = rep(1:4, 5), basis = "keep")
  expect_snapshot({
    rows
    long
  })
})
