# Kernel expansions on all rows for few values of lambda, by a Cholesky factor for each, against the
# eigenvectors. Retraining is the oracle of both in test-kernel-rls.R and test-lssvm.R.

# the same by eigenvectors
by_eigenvectors <- function(code) with_binding("few_lambdas", 0L, code)

# Everything that uses the spectrum of a fit.
all_results <- function(fit, new, adjust) {
  parts <- predictions_without.kernel_fit(fit, new, adjust)
  list(
    path = fit$path, coefficients = fit$coefficients, held_out = fit$held_out, fitted = fit$fitted,
    choices = fit$fold_choices[c("sets", "lambda", "width")], minima = fit$minima,
    holdout = unclass(holdout(fit, c(3, 1, 7))), other = unclass(holdout(fit, 2:4, lambda = 3:7)),
    tiny = unclass(holdout(fit, 5, lambda = 1e-13)), loo = cv_error(fit, "loo"),
    folds = cv_error(fit, rep_len(1:5, 19), "keep"), new = parts$at(seq_len(nrow(new))),
    held = parts$held
  )
}

test_that("factors give what eigenvectors give", {
  set.seed(871)
  kinds <- random_cover(24, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
                        covariates = c(FALSE, TRUE), intercept = c(FALSE, TRUE),
                        folds = c("loo", "unequal", "repeated"), count = 1:3,
                        gamma = c("one", "several"), basis = c("none", "in order", "permuted"))
  for (one in split(kinds, seq_len(nrow(kinds)))) {
    pb <- random_problem(19, 3, one$task, one$weights, one$covariates, one$intercept,
                         standardize = FALSE)
    basis <- switch(one$basis, none = NULL, "in order" = 1:19, sample(19))
    kernel <- kernel_gaussian(if (one$gamma == "one") 0.7 else c(0.2, 0.7, 3))
    arguments <- list(pb, kernel = kernel, basis = basis, folds = folds_of_kind(pb, one$folds),
                      lambda = c(0.02, 5, 0.4)[seq_len(one$count)])
    new <- matrix(rnorm(6), 2)
    adjust <- if (one$covariates) cbind(age = rnorm(2))
    fit <- do.call(unwarned, arguments)
    exact <- by_eigenvectors(do.call(unwarned, arguments))
    expect_true(is_factored(fit$spectrum))
    expect_false(is_factored(exact$spectrum))
    expect_equal(all_results(fit, new, adjust), all_results(exact, new, adjust), tolerance = 1e-10,
                 label = paste(unlist(lapply(one, as.character)), collapse = " "))
    expect_identical(fit$lambda, exact$lambda)
  }
})

test_that("more values of lambda, and those near rounding errors, have eigenvectors", {
  set.seed(872)
  x <- matrix(rnorm(60), 20)
  y <- x[, 1]^2 + rnorm(20)
  by <- function(...) kernel_rls(x, y, kernel = kernel_gaussian(0.1), ...)
  expect_true(is_factored(by(lambda = 1:3)$spectrum))
  expect_false(is_factored(by(lambda = 1:4)$spectrum))
  expect_false(is_factored(by()$spectrum))
  expect_warning(fit <- kernel_rls(x[c(1:20, 1), ], y[c(1:20, 1)], kernel = kernel_gaussian(0.1),
                                   lambda = 1e-14), class = "sparsels_warning_precision")
  expect_false(is_factored(fit$spectrum))
})

test_that("a matrix that is no kernel matrix is refused as by its eigenvalues", {
  set.seed(873)
  x <- matrix(rnorm(60), 20)
  y <- x[, 1] + rnorm(20)
  K <- tcrossprod(x)
  by <- function(K, lambda) {
    kernel_rls(K, y, kernel = "precomputed", lambda = lambda)
  }
  expect_true(is_factored(by(K, 0.1)$spectrum))
  expect_error(by(K - diag(0.01, 20), 1), class = "sparsels_error_singular")
  # negative eigenvalues that are allowed count as 0
  nearly <- K - diag(1e-7, 20)
  fit <- by(nearly, 1e-5)
  expect_false(is_factored(fit$spectrum))
  expect_equal(fit$path, by_eigenvectors(by(nearly, 1e-5))$path, tolerance = 1e-14)
  of_function <- kernel_rls(x, y, kernel = function(x, z) tcrossprod(x, z), lambda = 0.1,
                            standardize = FALSE)
  expect_true(is_factored(of_function$spectrum))
  expect_equal(of_function$path, by(K, 0.1)$path, tolerance = 1e-12)
})

test_that("tuning by all rows finds the same", {
  set.seed(874)
  x <- matrix(runif(80, -2, 2), 40)
  y <- factor(rowSums(x^2) + rnorm(40) / 3 > 2)
  tuned <- function() {
    set.seed(1)
    tune_lssvm(x, y, solver = "lssvm", folds = 5, budget = 30)
  }
  by_factors <- tuned()
  exact <- by_eigenvectors(tuned())
  expect_equal(by_factors$table, exact$table, tolerance = 1e-8)
})
