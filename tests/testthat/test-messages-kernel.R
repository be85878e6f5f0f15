# Every refusal of kernel models, of holdout() and of cv_error(), pinned.

kernel_rls <- plain_kernel_rls

x <- cbind(TP53 = c(1, 2, 3, 4, 5, 7), MYC = c(2, 1, 2, 1, 9, 3), KRAS = c(0, 0, 1, 0, 1, 1))
y <- c(1, 3, 2, 5, 4, 6)
sick <- c("no", "no", "yes", "no", "yes", "yes")
rbf <- kernel_gaussian(0.1)

test_that("the kernel", {
  text <- function(x, z) "near"
  narrow <- function(x, z) matrix(1, nrow(x), 1)
  hole <- function(x, z) replace(x %*% t(z), 2, NA)
  expect_snapshot({
    refusal(kernel_rls(x, y, kernel = "gaussian"))
    refusal(kernel_rls(x, y, kernel = 2))
    refusal(kernel_rls(x, y, kernel = text))
    refusal(kernel_rls(x, y, kernel = narrow))
    refusal(kernel_rls(x, y, kernel = hole))
    refusal(kernel_rls(x, y, kernel = hole, basis = 1:2))
    refusal(kernel_gaussian())
    refusal(kernel_gaussian(0))
    refusal(kernel_gaussian(c(1, -2)))
    refusal(kernel_gaussian("wide"))
    refusal(kernel_gaussian(NA))
    refusal(kernel_gaussian(numeric()))
    refusal(kernel_gaussian(1, normalize = 1))
    refusal(kernel_polynomial(0, 1, 1))
    refusal(kernel_polynomial(1.5, 1, 1))
    refusal(kernel_polynomial(2, -1, 1))
    refusal(kernel_polynomial(2, 1, -1))
    refusal(kernel_polynomial(2, 1, NA))
    refusal(kernel_linear(normalize = "yes"))
  })
  expect_error(kernel_rls(x, y, kernel = function(x) x), "two|x, z", class = "sparsels_error_input")
  expect_error(kernel_rls(x, y, rbf), "without a name", class = "sparsels_error_argument")
})

test_that("a kernel that is not positive semidefinite", {
  distance <- function(x, z) {
    as.matrix(dist(rbind(x, z)))[seq_len(nrow(x)), -seq_len(nrow(x)), drop = FALSE]
  }
  expect_snapshot({
    refusal(kernel_rls(x, y, kernel = distance))
    refusal(kernel_rls(x, y, kernel = distance, basis = 1:3))
  })
  # of rank three
  expect_error(kernel_rls(x, y, kernel = kernel_linear(), basis = 1:4, shift = 0),
               "not positive definite", class = "sparsels_error_singular")
})

test_that("a kernel matrix", {
  k <- unname(exp(-as.matrix(dist(x)) / 9))
  steep <- replace(k, cbind(1:2, 2:1), 1.5)
  expect_snapshot({
    refusal(kernel_rls(x, y, kernel = "precomputed"))
    refusal(kernel_rls(replace(k, 2, 0.9), y, kernel = "precomputed"))
    refusal(kernel_rls(replace(k, 8, NA), y, kernel = "precomputed"))
    refusal(kernel_rls(steep, y, kernel = "precomputed"))
    refusal(kernel_rls(steep, y, kernel = "precomputed", basis = 1:3))
    refusal(kernel_rls(k, y, kernel = "precomputed", basis = k[1:2, ]))
    refusal(kernel_rls(k, y, kernel = "precomputed", standardize = TRUE))
    refusal(predict(kernel_rls(k, y, kernel = "precomputed", lambda = 1), k[, 1:5]))
    refusal(predict(kernel_rls(k, y, kernel = "precomputed", basis = 1:2, lambda = 1), k[, 1:5]))
  })
  # no shift is below zero, whatever the diagonal
  expect_error(kernel_rls(-k, y, kernel = "precomputed", basis = 1:3),
               "beyond the shift of [^-]*( |$)", class = "sparsels_error_singular")
})

test_that("the basis", {
  expect_snapshot({
    refusal(kernel_rls(x, y, kernel = rbf, basis = 7))
    refusal(kernel_rls(x, y, kernel = rbf, basis = 0))
    refusal(kernel_rls(x, y, kernel = rbf, basis = -1))
    refusal(kernel_rls(x, y, kernel = rbf, basis = 1.5))
    refusal(kernel_rls(x, y, kernel = rbf, basis = NA))
    refusal(kernel_rls(x, y, kernel = rbf, basis = c(1, 2, 1)))
    refusal(kernel_rls(x, y, kernel = rbf, basis = c(2, 9)))
    refusal(kernel_rls(x, y, kernel = rbf, basis = c(2, NA)))
    refusal(kernel_rls(x, y, kernel = rbf, basis = "random"))
    refusal(kernel_rls(x, y, kernel = rbf, basis = numeric()))
    refusal(kernel_rls(x, y, kernel = rbf, basis = list(1, 2)))
    refusal(kernel_rls(x, y, kernel = rbf, basis = replace(x[1:2, ], 4, NA)))
    refusal(kernel_rls(x, y, kernel = rbf, basis = x[0, ]))
  })
  of <- function(basis) kernel_rls(x, y, kernel = rbf, basis = basis)
  expect_error(of(c(1, 2.5)), "2.5", class = "sparsels_error_input")
  expect_error(of(x[1:2, 1:2]), "`basis`.*KRAS", class = "sparsels_error_input")
  expect_error(of(unname(x[1:2, 1:2])), "`basis`.*3 columns", class = "sparsels_error_input")
})

test_that("lambda, shift, folds, threads, intercept, standardize", {
  expect_snapshot({
    refusal(kernel_rls(x, y, kernel = rbf, lambda = 0))
    refusal(kernel_rls(x, y, kernel = rbf, lambda = c(1, -2)))
    refusal(kernel_rls(x, y, kernel = rbf, lambda = "cv"))
    refusal(kernel_rls(x, y, kernel = rbf, lambda = c(1, 2, 1)))
    refusal(kernel_rls(x, y, kernel = rbf, shift = -1))
    refusal(kernel_rls(x, y, kernel = rbf, shift = "none"))
    refusal(kernel_rls(x, y, kernel = rbf, shift = c(0, 1)))
    refusal(kernel_rls(x, y, kernel = rbf, shift = NA))
    refusal(kernel_rls(x, y, kernel = rbf, folds = 1:5))
    refusal(kernel_rls(x, y, kernel = rbf, folds = 9))
    refusal(kernel_rls(x, y, kernel = rbf, threads = 0))
    refusal(kernel_rls(x, y, kernel = rbf, intercept = NA))
    refusal(kernel_rls(x, y, kernel = rbf, standardize = "no"))
    refusal(sparsels::kernel_rls(as_problem(x, y), kernel = rbf, intercept = TRUE))
    refusal(sparsels::kernel_rls(as_problem(x, y), kernel = rbf, standardize = FALSE))
    refusal(sparsels::kernel_rls(as_problem(x, y), kernel = rbf, weights = 1:6))
  })
})

test_that("the data, and unknown arguments", {
  expect_snapshot({
    refusal(kernel_rls(x[1, , drop = FALSE], 1, kernel = rbf))
    refusal(kernel_rls(replace(x, 8, NA), y, kernel = rbf))
    refusal(kernel_rls(x, rep(1, 6), kernel = rbf, intercept = TRUE))
    refusal(kernel_rls(x, kernel = rbf))
    refusal(kernel_rls(y ~ TP53, kernel = rbf))
    refusal(kernel_rls(x, y, kernel = rbf, gamma = 1))
    refusal(kernel_rls(x, y, kernel = rbf, lamda = 1))
  })
})

test_that("methods of a kernel fit", {
  fit <- kernel_rls(x, y, kernel = rbf, basis = 1:3, lambda = c(1, 2))
  expect_snapshot({
    refusal(coef(fit, lambda = 3))
    refusal(predict(fit, x, lambda = 0.5))
    refusal(predict(fit))
    refusal(predict(fit, x, type = "class"))
    refusal(predict(fit, x, type = "prob"))
    refusal(predict(fit, x, lamda = 1))
    refusal(predict(fit, x[, 1:2]))
    refusal(predict(fit, unname(x[, 1:2])))
    refusal(predict(fit, x[1, ]))
    refusal(predict(fit, x, adjust = 1:6))
    refusal(residuals(fit, "deviance"))
  })
})

test_that("new rows with missing values are predicted as NA, with a warning", {
  fit <- kernel_rls(x, sick, kernel = rbf, basis = 1:3, lambda = 1)
  expect_snapshot({
    predict(fit, replace(x, 2, NA))
    predict(fit, replace(x, 2, NA), type = "class")
  })
})

test_that("holdout", {
  fit <- kernel_rls(x, y, kernel = rbf, basis = 1:3, lambda = c(1, 2))
  named <- kernel_rls(`rownames<-`(x, letters[1:6]), y, kernel = rbf, lambda = 1)
  ridge <- rls(x, y, lambda = 1)
  expect_snapshot({
    refusal(holdout(fit, 1:6))
    refusal(holdout(fit, c(2, 2)))
    refusal(holdout(fit, 7))
    refusal(holdout(fit, 0))
    refusal(holdout(fit, NA))
    refusal(holdout(fit, integer()))
    refusal(holdout(fit, c(TRUE, FALSE)))
    refusal(holdout(fit, "a"))
    refusal(holdout(named, c("a", "z")))
    refusal(holdout(named, c("a", "a")))
    refusal(holdout(fit, 1, basis = "drop"))
    refusal(holdout(fit, 1, basis = "skip"))
    refusal(holdout(fit, 1, lambda = 0))
    refusal(holdout(fit, 1, lambda = NA))
    refusal(holdout(ridge, 1:6))
    refusal(holdout(ridge, 9))
    refusal(holdout(bare_rls(x, y, k = 1, lambda = 1), 1))
  })
  expect_error(holdout(fit, 1.5), "1.5", class = "sparsels_error_input")
})

test_that("cv_error", {
  fit <- kernel_rls(x, y, kernel = rbf, basis = 1:3, lambda = 1)
  all <- kernel_rls(x, sick, kernel = rbf, lambda = 1)
  expect_snapshot({
    refusal(cv_error(fit, 1:5))
    refusal(cv_error(fit, 7))
    refusal(cv_error(fit, rep(1, 6)))
    refusal(cv_error(fit, "ten"))
    refusal(cv_error(fit, basis = "drop"))
    refusal(cv_error(all, basis = "skip"))
    refusal(cv_error(fit, criterion = "error"))
    refusal(cv_error(fit, criterion = "auc"))
    refusal(cv_error(fit, criterion = "accuracy"))
    refusal(cv_error(all, c(1, 1, 2, 1, 2, 2), criterion = "auc"))
    refusal(cv_error(fit, criterion = function(y, prediction) 1))
    refusal(cv_error(fit, criterion = function(y, prediction, fold) "good"))
    refusal(cv_error(fit, lambda = -1))
    refusal(cv_error(rls(x, y, lambda = 1), basis = "drop"))
    refusal(cv_error(rls(x, y, lambda = 1), 9))
    refusal(cv_error(bare_rls(x, y, k = 1, lambda = 1)))
  })
})

test_that("bases of no points or of no rows, and kernels by their class alone", {
  expect_snapshot({
    refusal(kernel_rls(x, y, kernel = rbf, basis = 1i))
    refusal(holdout(rls(x, y), as.raw(1)))
    refusal(nystrom_features(x, x[0, ], rbf))
    refusal(fs_lssvm(x, y, kernel = rbf, gamma = 1, prototypes = x[0, ]))
    refusal(lssvm(x, y, kernel = structure(1, class = "kernel")))
    refusal(kernel_rls(x, y, kernel = function() 1))
    refusal(fs_lssvm(x, y, kernel = rbf, gamma = 1, solver = sum))
    refusal(tune_lssvm(x, y, method = globalenv()))
    refusal(select_basis(x, 2, method = data.frame()))
  })
})

test_that("k-means of values whose squares are no numbers", {
  rows <- rbind(x, x + 100)
  centres <- function(values) {
    set.seed(3)
    unname(select_basis(values, 2, "kmeans"))
  }
  for (unit in 2^c(-1000, -600, 600, 1000)) {
    expect_identical(centres(rows * unit) / unit, centres(rows))
  }
})
