# Few candidates on a kernel matrix that is never made, against the same on one that is.

drawn_data <- function(seed = 51, rows = 60) {
  set.seed(seed)
  x <- matrix(rnorm(2 * rows), rows)
  list(x = x, number = x[, 1]^2 + x[, 2] + rnorm(rows) / 3,
       three = factor(c("a", "b", "c")[1 + (x[, 1] > 0) + (x[, 2] > 0.3)]),
       weights = runif(rows, 0.5, 1.5), age = rnorm(rows))
}

# The fit with the kernel matrix and the one without, from the same random numbers.
both_fits <- function(..., candidates = 9, gamma = 20, k = 12, change = 0, seed = 3,
                      kernel = kernel_gaussian(sigma2 = 2)) {
  fit <- function(whole) {
    set.seed(seed)
    with_binding("whole_kernel", whole, {
      fs_lssvm(..., candidates = candidates, kernel = kernel, gamma = gamma, k = k, change = change)
    })
  }
  list(whole = fit(2^27), drawn = fit(0))
}

expect_same_fit <- function(fits) {
  expect_identical(fits$drawn$path$name, fits$whole$path$name)
  expect_identical(names(fits$drawn$path), names(fits$whole$path))
  for (figure in c("criterion", "se", "error", "training")) {
    expect_equal(fits$drawn$path[[figure]], fits$whole$path[[figure]], tolerance = 1e-8)
  }
  expect_identical(fits$drawn$size, fits$whole$size)
  expect_equal(fits$drawn$coefficients, fits$whole$coefficients, tolerance = 1e-6)
  expect_equal(fits$drawn$held_out, fits$whole$held_out, tolerance = 1e-7)
  expect_equal(fits$drawn$fitted, fits$whole$fitted, tolerance = 1e-7)
  expect_identical(fits$drawn$status, fits$whole$status)
}

test_that("scores, intercepts, covariates, weights, outputs: the same fit without the matrix", {
  d <- drawn_data()
  intercepts <- c("candidate", "forced", "none")
  for (score in scdp_scores) for (intercept in intercepts) {
    # by turns, so that every pair of score, intercept and response occurs
    even <- (match(score, scdp_scores) + match(intercept, intercepts)) %% 2 == 0
    y <- if (even) d$number else d$three
    expect_same_fit(both_fits(d$x, y, prototypes = NULL, score = score, intercept = intercept,
                              weights = d$weights, folds = rep(1:5, 12)))
    if (intercept == "none") next
    expect_same_fit(both_fits(d$x, d$number, prototypes = NULL, score = score, adjust = d$age,
                              intercept = intercept, folds = rep(1:3, 20), refit = TRUE))
  }
})

test_that("the matrix is not made", {
  d <- drawn_data()
  largest <- 0
  counted_kernel <- function(x, z) {
    largest <<- max(largest, nrow(z))
    exp(-outer(rowSums(x^2), rowSums(z^2), "+") / 2 + tcrossprod(x, z))
  }
  fits <- both_fits(d$x, d$number, prototypes = NULL, kernel = counted_kernel, folds = NULL)
  expect_identical(as.integer(largest), 60L)
  expect_same_fit(fits)
  largest <- 0
  with_binding("whole_kernel", 0, {
    fs_lssvm(d$x, d$number, prototypes = NULL, kernel = counted_kernel, gamma = 20, k = 12,
             candidates = 9, folds = NULL)
  })
  expect_lte(largest, 12)
})

test_that("prototypes, kernels, data and folds of other kinds", {
  d <- drawn_data(52)
  # made before the seed is set for each of the two
  points <- matrix(rnorm(40), 20)
  twice <- make_folds(60, 4, repeats = 2)
  sparse <- Matrix::rsparsematrix(60, 8, 0.3)
  expect_same_fit(both_fits(d$x, d$number, prototypes = points, folds = "loo"))
  expect_same_fit(both_fits(d$x, d$number, prototypes = 0.5, folds = twice))
  expect_same_fit(both_fits(d$x, d$three, prototypes = NULL, folds = NULL))
  expect_same_fit(both_fits(d$x, d$three, prototypes = NULL, kernel = kernel_polynomial(2), k = 5,
                            folds = rep(1:4, 15)))
  gram <- kernel_gaussian(1)$values(d$x, d$x)
  expect_same_fit(both_fits(gram, d$number, prototypes = NULL, kernel = "precomputed",
                            standardize = FALSE, folds = 5))
  expect_same_fit(both_fits(sparse, d$number, prototypes = NULL, folds = 4))
  expect_same_fit(both_fits(rbind(d$x, d$x), rep(d$number, 2), prototypes = NULL,
                            folds = rep(1:4, 30)))
})

test_that("solvers that take all prototypes make the matrix", {
  d <- drawn_data(56)
  for (solver in c("full", "nystrom")) {
    expect_same_fit(both_fits(d$x, d$number, prototypes = 8, solver = solver, k = NULL,
                              folds = rep(1:5, 12)))
  }
})

test_that("it stops where the error is level, and where nothing is left", {
  d <- drawn_data(53)
  for (change in c(1e-3, 0.05)) {
    fits <- both_fits(d$x, d$number, prototypes = NULL, window = 3, change = change, k = 25,
                      folds = rep(1:5, 12))
    expect_same_fit(fits)
  }
  expect_identical(fits$drawn$status, "early_stop")
  expect_lt(nrow(fits$drawn$path), 26)
  # a linear kernel has two directions
  fits <- both_fits(d$x, d$number, prototypes = NULL, kernel = kernel_linear(), candidates = 60,
                    folds = rep(1:5, 12))
  expect_identical(max(fits$drawn$path$size), 3L)
  expect_same_fit(fits)
})

test_that("tuning sees the same errors", {
  d <- drawn_data(54)
  tune <- function(whole) {
    set.seed(5)
    with_binding("whole_kernel", whole, {
      tune_lssvm(d$x, d$number, method = "grid", budget = 12, prototypes = NULL, candidates = 9,
                 k = 8, folds = rep(1:4, 15))
    })
  }
  # at the largest gamma the systems are close to singular
  expect_equal(tune(0)$table, tune(2^27)$table, tolerance = 1e-5)
})

test_that("Ctrl-C keeps the sizes that are done", {
  skip_on_cran()
  skip_on_os("windows")
  d <- drawn_data(55)
  asked <- 0
  kernel <- function(x, z) {
    asked <<- asked + 1
    if (asked == 60) send_interrupt()
    exp(-outer(rowSums(x^2), rowSums(z^2), "+") / 2 + tcrossprod(x, z))
  }
  train <- function() {
    set.seed(1)
    with_binding("whole_kernel", 0, {
      fs_lssvm(d$x, d$number, kernel = kernel, gamma = 5, prototypes = NULL, k = 20, candidates = 5,
               folds = NULL)
    })
  }
  expect_warning(fit <- train(), class = "sparsels_interrupted")
  expect_identical(fit$status, "interrupted")
  sizes <- nrow(fit$path)
  expect_gt(sizes, 2)
  expect_lt(sizes, 21)
  asked <- 100
  whole <- train()
  expect_identical(fit$path$name, whole$path$name[seq_len(sizes)])
  expect_equal(fit$path$training, whole$path$training[seq_len(sizes)])
})
