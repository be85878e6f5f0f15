# Every refusal of scdp() and fs_lssvm(), pinned.

x <- cbind(TP53 = c(1, 2, 3, 4, 5, 7), MYC = c(2, 1, 2, 1, 9, 3), KRAS = c(0, 0, 1, 0, 1, 1))
y <- c(1, 3, 2, 5, 4, 6)
sick <- c("no", "no", "yes", "no", "yes", "yes")
A <- rbind(c(4, 1, 0), c(1, 3, 1), c(0, 1, 2))
b <- c(1, 2, 3)
rbf <- kernel_gaussian(sigma2 = 10)

test_that("the matrix and the right side of a system", {
  sparse <- methods::as(A, "CsparseMatrix")
  expect_snapshot({
    refusal(scdp(A = A[, 1:2], b = b))
    refusal(scdp(A = replace(A, 2, 1.5), b = b))
    refusal(scdp(A = replace(sparse, 6, 5), b = b))
    refusal(scdp(A = replace(A, 4, NA), b = b))
    refusal(scdp(A = replace(sparse, 5, Inf), b = b))
    refusal(scdp(A = "A", b = b))
    refusal(scdp(A = A[0, 0], b = numeric()))
    refusal(scdp(A = A, b = 1:2))
    refusal(scdp(A = A, b = c(1, NA, 3)))
    refusal(scdp(A = A, b = letters[1:3]))
    refusal(scdp(A = A, b = matrix(1, 3, 0)))
    refusal(scdp(A = function(j) A[, j], b = numeric()))
    refusal(scdp(A = A))
    refusal(scdp(b = b))
    refusal(scdp(x, y, A = A, b = b))
    refusal(scdp(x, A = A))
  })
})

test_that("a matrix that is not positive definite, with the step at which it shows", {
  # of the second pivot, 1 - 4
  second <- rbind(c(1, 2, 0), c(2, 1, 0), c(0, 0, 1))
  dimnames(second) <- rep(list(c("a", "b", "c")), 2)
  # of the third: the leading block is positive definite
  third <- diag(3) - 0.6 * (1 - diag(3))
  expect_gt(det(third[1:2, 1:2]), 0)
  expect_snapshot({
    refusal(scdp(A = replace(A, 5, 0), b = b))
    refusal(scdp(A = replace(A, 9, -2), b = b))
    refusal(scdp(A = second, b = c(0, 1, 5), k = 3))
    refusal(scdp(A = third, b = b, k = 3))
    refusal(scdp(A = function(j) second[, j], b = c(0, 1, 5), k = 3))
    refusal(scdp(A = function(j) -second[, j], b = c(0, 1, 5), k = 3))
  })
  for (score in c("residual", "normalised", "ols")) {
    expect_error(scdp(A = third, b = b, k = 3, score = score), "at step 3 the pivot of component",
                 class = "sparsels_error_singular")
  }
  # where no step comes near it is not seen
  expect_identical(scdp(A = second, b = c(0, 0, 1), k = 1)$size, 1L)
})

test_that("columns that a function gives", {
  of <- function(column) scdp(A = column, b = b, k = 3)
  expect_snapshot({
    refusal(of(function(j) A[-1, j]))
    refusal(of(function(j) replace(A[, j], 2, NA)))
    refusal(of(function(j) if (j == 3) A[, j] else c(Inf, Inf, 1)))
    refusal(of(function(j) "column"))
    refusal(of(function(j) NULL))
    refusal(of(function(j) A[, j] + (j == 2) * c(0, 0, 1)))
    refusal(scdp(A = function(j) A[, j], b = b, score = "ols"))
    refusal(scdp(A = function(j) A[, j], b = b, score = "normalised"))
  })
})

test_that("the arguments of scdp()", {
  expect_snapshot({
    refusal(scdp(A = A, b = b, k = 0))
    refusal(scdp(A = A, b = b, k = 1.5))
    refusal(scdp(A = A, b = b, k = NA))
    refusal(scdp(A = A, b = b, score = "best"))
    refusal(scdp(A = A, b = b, candidates = 0))
    refusal(scdp(A = A, b = b, candidates = "all"))
    refusal(scdp(A = A, b = b, lambda = 1))
    refusal(scdp(A = A, b = b, weights = 1:3))
    refusal(scdp(A = A, b = b, scor = "ols"))
    refusal(scdp(x, y, k = 0))
    refusal(scdp(x, y, lambda = -1))
    refusal(scdp(x, y, lambda = c(0, 1)))
    refusal(scdp(x, y, solver = "svd"))
    refusal(scdp(x, y, solver = "qr", candidates = 2))
    refusal(scdp(x, y, kernel = rbf))
    refusal(scdp(x, y, 3))
    refusal(scdp(x))
    refusal(scdp(replace(x, 8, NA), y))
    refusal(scdp(x[1:2, ], y[1:2]))
  })
})

test_that("the kernel and gamma of fs_lssvm()", {
  fit <- function(...) fs_lssvm(x, y, ..., folds = 3)
  distance <- function(x, z) {
    as.matrix(dist(rbind(x, z)))[seq_len(nrow(x)), -seq_len(nrow(x)), drop = FALSE]
  }
  indefinite <- function(x, z) distance(x, z) + outer(rowSums(x), rowSums(z), "==")
  K <- unname(exp(-as.matrix(dist(x)) / 9))
  expect_snapshot({
    refusal(fit(kernel = rbf, gamma = 0))
    refusal(fit(kernel = rbf, gamma = -1))
    refusal(fit(kernel = rbf, gamma = c(1, 2)))
    refusal(fit(kernel = rbf, gamma = NA))
    refusal(fit(kernel = rbf, gamma = Inf))
    refusal(fit(kernel = rbf, gamma = "auto"))
    refusal(fit(kernel = kernel_gaussian(sigma2 = 0), gamma = 1))
    refusal(fit(kernel = kernel_gaussian(sigma2 = -2), gamma = 1))
    refusal(fit(kernel = kernel_gaussian(c(1, 2)), gamma = 1))
    refusal(fit(kernel = kernel_gaussian, gamma = 1))
    refusal(fit(kernel = "gaussian", gamma = 1))
    refusal(fit(kernel = 2, gamma = 1))
    refusal(fit(kernel = distance, gamma = 1, prototypes = 1:4))
    refusal(fit(kernel = indefinite, gamma = 1, prototypes = 1:4))
    refusal(fit(kernel = distance, gamma = 1, prototypes = 1:4, solver = "full"))
    refusal(fit(kernel = distance, gamma = 1, prototypes = 1:4, solver = "nystrom"))
    refusal(fit(kernel = "precomputed", gamma = 1, standardize = FALSE))
    refusal(fs_lssvm(K, y, kernel = "precomputed", gamma = 1, standardize = TRUE))
    refusal(fs_lssvm(replace(K, 2, 0.9), y, kernel = "precomputed", gamma = 1,
                     standardize = FALSE))
    refusal(fs_lssvm(K, y, kernel = "precomputed", gamma = 1, prototypes = K[1:2, ],
                     standardize = FALSE))
    refusal(fs_lssvm(K, y, kernel = "precomputed", gamma = 1, prototypes = 3, select = "kmeans",
                     standardize = FALSE))
  })
})

test_that("the prototypes of fs_lssvm()", {
  fit <- function(prototypes, ...) {
    fs_lssvm(x, y, kernel = rbf, gamma = 1, folds = 3, prototypes = prototypes, ...)
  }
  named <- `rownames<-`(x, letters[1:6])
  expect_snapshot({
    refusal(fit(0))
    refusal(fit(-1))
    refusal(fit(1.5))
    refusal(fit(7))
    refusal(fit(NA))
    refusal(fit(Inf))
    refusal(fit(c(1, 2, 1)))
    refusal(fit(c(2, 9)))
    refusal(fit(c(1, 2.5)))
    refusal(fit(c(2, NA)))
    refusal(fit(numeric()))
    refusal(fit(TRUE))
    refusal(fit(rep(FALSE, 6)))
    refusal(fit("a"))
    refusal(fs_lssvm(named, y, kernel = rbf, gamma = 1, prototypes = "z"))
    refusal(fit(list(1, 2)))
    refusal(fit(x[1:2, 1:2]))
    refusal(fit(unname(x[1:2, 1:2])))
    refusal(fit(replace(x[1:2, ], 4, NA)))
    refusal(fit(x[0, ]))
    refusal(fit(0.5, select = "greedy"))
    refusal(fit(0.5, select = "nearest"))
    refusal(fit(0.5, select = c("random", "renyi")))
    refusal(fs_lssvm(x, y, gamma = 1, prototypes = 3, select = "renyi", folds = 3))
  })
})

test_that("the size, folds and the other arguments of fs_lssvm()", {
  fit <- function(..., folds = 3) {
    fs_lssvm(x, y, kernel = rbf, gamma = 1, prototypes = 1:4, folds = folds, ...)
  }
  expect_snapshot({
    refusal(fit(k = 0))
    refusal(fit(k = 2.5))
    refusal(fit(folds = 1:5))
    refusal(fit(folds = 7))
    refusal(fit(folds = 1))
    refusal(fit(folds = "ten"))
    refusal(fit(folds = rep(1, 6)))
    refusal(fit(folds = c(1, 1, 2, 2, NA, 3)))
    refusal(fit(size_rule = -0.1))
    refusal(fit(size_rule = NA))
    refusal(fit(intercept = TRUE))
    refusal(fit(score = "best"))
    refusal(fit(candidates = 0))
    refusal(fit(candidates = "all"))
    refusal(fit(window = 0))
    refusal(fit(change = -1))
    refusal(fit(refit = "yes"))
    refusal(fit(solver = "qr"))
    refusal(fit(threads = 0))
    refusal(fit(standardize = NA))
    refusal(fit(lambda = 1))
    refusal(fit(size_rul = 1))
    refusal(fs_lssvm(x, y, rbf, gamma = 1))
    refusal(fs_lssvm(as_problem(x, y), kernel = rbf, gamma = 1, standardize = FALSE))
    refusal(fs_lssvm(as_problem(x, y), kernel = rbf, gamma = 1, intercept = "none"))
    refusal(fs_lssvm(as_problem(x, y, intercept = FALSE), kernel = rbf, gamma = 1,
                     intercept = "forced"))
  })
})

test_that("the data of fs_lssvm()", {
  fit <- function(x, y, ...) fs_lssvm(x, y, ..., kernel = rbf, gamma = 1, folds = rep(1:3, 2))
  expect_snapshot({
    refusal(fit(x, rep("yes", 6)))
    refusal(fit(x, factor(rep("yes", 6), c("no", "yes"))))
    refusal(fit(x, rep(1, 6)))
    refusal(fit(x, NULL))
    refusal(fit(x, sick[1:5]))
    refusal(fit(replace(x, 8, NA), sick))
    refusal(fit(replace(x, 8, Inf), sick))
    refusal(fit(x, replace(sick, 2, NA)))
    refusal(fit(x, y, weights = c(1, 1, 1, 1, 1, -1)))
    refusal(fit(x, y, adjust = c(0, 0, 0, 0, 0, 1)))
    refusal(fit(x, y, adjust = rep(1, 6)))
    refusal(fs_lssvm(y ~ TP53, kernel = rbf, gamma = 1))
  })
})

test_that("columns from a function of nothing, and right sides that are no numbers", {
  A <- diag(3)
  expect_snapshot({
    refusal(lars_path(function() 1, 1:3))
    refusal(lars_path(A, methods::getClass("numeric")))
    refusal(lars_path(A, 1:3, type = sum))
    refusal(lars_path(A, 1:3, type = c("lar", "lasso")))
    refusal(scdp(A = A, b = 1:3, score = globalenv()))
    refusal(matching_pursuit(function(j) methods::getClass("numeric"), 1:3))
  })
  expect_identical(lars_path(A, 1:3)$path, lars_path(A, 1:3, type = c("lasso", "lar"))$path)
})
