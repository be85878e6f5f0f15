# The least-squares support vector machine with bias, against its linear system solved from scratch.

test_that("the worked example, to its printed digits", {
  e <- lssvm_example()
  kernel <- kernel_gaussian(sigma2 = e$sigma2)
  fit <- lssvm(e$x, factor(e$y), kernel = kernel, gamma = e$gamma, standardize = FALSE)
  weights <- c(-0.216377569024, -2.0138914429, 3.72594810032, -0.782221865918)
  expect_lt(max(abs(coef(fit)[1:4] - weights)), 1e-9)
  expect_lt(abs(fit$path$criterion - 0.365764502718), 1e-9)
  expect_identical(fit$path$gamma, 10)
})

test_that("two rows, by hand", {
  # K is the identity for points far apart: alpha = (y - b0) / (1 + 1 / gamma), b0 the mean
  fit <- suppressWarnings(lssvm(matrix(c(0, 1e3)), c(1, 4), kernel = kernel_gaussian(1), gamma = 4,
                                standardize = FALSE), "sparsels_warning_edge")
  expect_equal(unname(coef(fit)), c(2.5, -1.5 / 1.25, 1.5 / 1.25))
  # trained on one row the bias explains it, and nothing else is left
  expect_equal(unname(drop(fit$held_out)), c(4, 1))
})

# rows, response and weights of many kinds, and the kernel matrix as the fit sees it
random_machine <- function(task, weights, standardize) {
  pb <- random_points(21, task, weights = weights)
  w <- pb$rows$weight
  x <- unname(pb$x) %*% diag(c(1, 5, 0.2)) + 3
  new <- x[1:4, ] + rnorm(12) / 4
  seen <- if (standardize) oracle_standardised(x, w) else x
  new_seen <- if (standardize) oracle_standardised(x, w, new) else new
  # two responses of standard deviation 1, which are on their common scale as they are
  if (task == "two") pb$rows$y <- oracle_standardised(pb$rows$y, w)
  y <- if (pb$coding$task == "regression") pb$rows$y else
    factor(pb$coding$levels[max.col(cbind(-pb$rows$y, pb$rows$y))])
  if (pb$coding$task == "multiclass") y <- factor(pb$coding$levels[max.col(pb$rows$y)])
  k <- oracle_gaussian(0.8)
  list(x = x, y = y, coded = unname(pb$rows$y), w = w, K = oracle_kernel(k, seen), new = new,
       K_new = oracle_kernel(k, new_seen, seen))
}

test_that("weights, bias and predictions solve the system, whatever the data", {
  set.seed(301)
  kinds <- random_cover(16, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
                        standardize = c(TRUE, FALSE))
  for (one in split(kinds, seq_len(16))) {
    d <- random_machine(one$task, one$weights, one$standardize)
    gamma <- c(2^12, 0.03, 1)
    fit <- lssvm(d$x, d$y, weights = d$w, gamma = gamma, kernel = kernel_gaussian(0.8),
                 standardize = one$standardize)
    where <- toString(unlist(lapply(one, as.character)))
    for (g in gamma) {
      model <- oracle_lssvm(d$K, d$coded, g, d$w)
      expect_equal(unname(as.matrix(coef(fit, lambda = 1 / g))),
                   unname(rbind(model$b0, model$alpha)),
                   tolerance = 1e-7, label = where)
      expect_equal(unname(as.matrix(predict(fit, d$new, lambda = 1 / g))),
                   oracle_lssvm_values(model, d$K_new), tolerance = 1e-7, label = where)
      expect_lt(max(abs(colSums(as.matrix(coef(fit, lambda = 1 / g))[-1, , drop = FALSE]))), 1e-6)
    }
  }
})

test_that("held-out predictions are those of training again, and those of the inverse", {
  set.seed(302)
  kinds <- random_cover(8, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE))
  for (one in split(kinds, seq_len(8))) {
    d <- random_machine(one$task, one$weights, TRUE)
    for (ids in list(1:21, rep_len(sample(1:4), 21))) for (g in c(0.1, 50)) {
      fit <- lssvm(d$x, d$y, weights = d$w, kernel = kernel_gaussian(0.8), gamma = g, folds = ids)
      exact <- oracle_lssvm_folds(d$K, d$coded, g, ids, d$w)
      expect_equal(unname(as.matrix(fit$held_out)), exact, tolerance = 1e-8)
      expect_equal(fit$path$criterion, sum(d$w * (d$coded - exact)^2) / sum(d$w) / ncol(exact),
                   tolerance = 1e-8)
      inverse <- solve(oracle_lssvm_matrix(d$K, g, d$w))
      alpha <- as.matrix(coef(fit))[-1, , drop = FALSE]
      parts <- split(1:21, ids)
      of_inverse <- lapply(parts, function(held) {
        unname(drop(d$coded[held, ] - solve(inverse[held, held], alpha[held, , drop = FALSE])))
      })
      held_out <- lapply(parts, function(held) unname(holdout(fit, held)[, , 1]))
      expect_equal(held_out, of_inverse, tolerance = 1e-7)
    }
  }
})

test_that("of several gammas and widths the best by the held-out error is taken", {
  set.seed(303)
  d <- random_machine("binary", FALSE, TRUE)
  gamma <- c(100, 0.01, 2)
  sigma2 <- c(0.3, 8, 40)
  fit <- lssvm(d$x, d$y, gamma = gamma, kernel = kernel_gaussian(sigma2 = sigma2))
  seen <- oracle_standardised(d$x, d$w)
  error <- vapply(sigma2, function(s) {
    K <- oracle_kernel(oracle_gaussian(1 / s), seen)
    vapply(gamma, function(g) mean((d$coded - oracle_lssvm_folds(K, d$coded, g, 1:21))^2), 0)
  }, c(0, 0, 0))
  best <- arrayInd(which.min(error), dim(error))
  expect_identical(fit$gamma, gamma[best[1]])
  expect_equal(fit$kernel$parameters$gamma, 1 / sigma2[best[2]])
  expect_identical(fit$path$gamma, gamma)
  expect_equal(fit$path$criterion, error[, best[2]])
  expect_equal(fit$kernel_table$sigma2, sigma2)
  expect_identical(fit$kernel_table$gamma, gamma[apply(error, 2, which.min)])
  expect_equal(fit$kernel_table$criterion, apply(error, 2, min))
})

test_that("without gamma and kernel, gammas of 2^-5 to 2^15 and widths about the distances", {
  set.seed(304)
  x <- matrix(rnorm(66, 9), 22) %*% diag(c(1, 100, 0.1))
  x[22, ] <- x[1, ]
  y <- rnorm(22)
  w <- runif(22, 0.5, 2)
  squared <- dist(oracle_standardised(x, w))^2
  typical <- median(squared[squared > 1e-12])
  fitted_quietly <- function(...) suppressWarnings(lssvm(...), "sparsels_warning_edge")
  fit <- fitted_quietly(x, y, weights = w)
  expect_equal(fit$path$gamma, 2^(-5:15) / mean(w), tolerance = 1e-14)
  expect_equal(fit$kernel_table$sigma2, typical * 2^(-3:3))
  expect_equal(fitted_quietly(x, y, weights = w, intercept = FALSE)$kernel_table$sigma2,
               typical * 2^(-3:3))
  # rows as they are have other distances, and a sparse x has those of a dense one
  raw <- dist(x)^2
  expect_equal(fitted_quietly(x, y, standardize = FALSE)$kernel_table$sigma2,
               median(raw[raw > 0]) * 2^(-3:3))
  thin <- replace(x, c(1:9, 25:37), 0)
  expect_equal(fitted_quietly(methods::as(thin, "CsparseMatrix"), y)$kernel_table,
               fitted_quietly(thin, y)$kernel_table)
})

test_that("it is kernel_rls() with an intercept and lambda = 1 / gamma", {
  set.seed(305)
  x <- matrix(rpois(60, 2), 20, dimnames = list(paste0("s", 1:20), c("a", "b", "c")))
  group <- rep(c("ill", "well"), 10)
  age <- rnorm(20)
  d <- data.frame(group, x, age)
  same <- c("coefficients", "lambda", "held_out", "fitted", "shift")
  kernels <- list(kernel_gaussian(0.4), kernel_polynomial(2),
                  as_kernel(function(x, z) as.matrix(tcrossprod(x, z))^3))
  for (kernel in kernels) {
    plain <- kernel_rls(x, group, kernel = kernel, lambda = 1 / c(4, 32), intercept = TRUE,
                        standardize = TRUE, folds = rep(1:5, 4), adjust = cbind(age = age))
    fit_of <- function(...) lssvm(..., kernel = kernel, gamma = c(4, 32), folds = rep(1:5, 4))
    adjust <- cbind(age = age)
    fits <- list(fit_of(x, group, adjust = adjust), fit_of(as_problem(x, group, adjust = adjust)),
                 fit_of(group ~ a + b + c, data = d, adjust = ~ age),
                 fit_of(Matrix::Matrix(x, sparse = TRUE), group, adjust = adjust))
    for (fit in fits) {
      expect_equal(fit[same], plain[same])
      expect_equal(fit$path[names(plain$path)], plain$path)
      expect_equal(unname(cv_error(fit, rep(1:4, 5))), unname(cv_error(plain, rep(1:4, 5))))
    }
    expect_equal(unname(predict(fits[[3]], d[1:3, ], lambda = 1 / 32)),
                 unname(predict(fits[[1]], x[1:3, ], lambda = 1 / 32,
                                adjust = adjust[1:3, , drop = FALSE])))
  }
  # without the bias, by the argument or by the problem
  for (fit in list(lssvm(x, group, intercept = FALSE, kernel = kernels[[1]], gamma = 4),
                   lssvm(as_problem(x, group, intercept = FALSE), kernel = kernels[[1]],
                         gamma = 4))) {
    plain <- kernel_rls(x, group, kernel = kernels[[1]], lambda = 1 / 4, intercept = FALSE)
    expect_equal(fit[same], plain[same])
    expect_named(coef(fit), paste0("s", 1:20))
  }
  # a problem keeps its own settings
  expect_equal(lssvm(as_problem(x, group, standardize = FALSE), gamma = 1,
                     kernel = kernels[[1]])$path,
               lssvm(x, group, gamma = 1, kernel = kernels[[1]], standardize = FALSE)$path)
})

test_that("a kernel matrix stands for its kernel", {
  e <- lssvm_example()
  K <- oracle_kernel(oracle_gaussian(1 / e$sigma2), e$x)
  fit <- lssvm(K, factor(e$y), kernel = "precomputed", gamma = c(1, 10), standardize = FALSE)
  plain <- lssvm(e$x, factor(e$y), kernel = kernel_gaussian(sigma2 = 0.1), gamma = c(1, 10),
                 standardize = FALSE)
  expect_equal(fit$path, plain$path)
  expect_equal(predict(fit, K[3:5, ]), predict(plain, e$x[3:5, ]))
  expect_identical(fit$kernel_table$sigma2, NA_real_)
})

test_that("three classes are told apart by their scores", {
  set.seed(306)
  x <- matrix(rnorm(60), 30)
  y <- cut(x[, 1], c(-Inf, -0.4, 0.4, Inf), c("a", "b", "c"))
  fit <- lssvm(x, y)
  score <- predict(fit, x)
  expect_identical(colnames(score), c("a", "b", "c"))
  expect_identical(unname(predict(fit, x, type = "class")),
                   factor(c("a", "b", "c")[max.col(score)], levels(y)))
  best <- fit$path[fit$path$gamma == fit$gamma, ]
  expect_equal(best$error, mean(max.col(fit$held_out) != as.integer(y)))
})

test_that("methods of a fit", {
  e <- lssvm_example()
  fit <- lssvm(e$x, factor(e$y), gamma = c(1, 10, 100), kernel = kernel_gaussian(sigma2 = 0.1))
  expect_s3_class(fit, c("lssvm_fit", "kernel_fit", "sparsels_fit", "sparsels_result"),
    exact = TRUE)
  expect_identical(fit$method, "lssvm")
  expect_identical(fit$gamma, fit$path$gamma[which.min(fit$path$criterion)])
  expect_named(fit$path,
               c("lambda", "gamma", "criterion", "se", "error", "training"))
  expect_identical(tidy(fit)$term, c("(Intercept)", 1:24))
  expect_identical(glance(fit)$lambda, 1 / fit$gamma)
  expect_equal(unname(predict(fit, e$x)), unname(fitted(fit)))
  expect_equal(mean(residuals(fit, "held_out")^2), min(fit$path$criterion))
  expect_equal(cv_error(fit)$criterion, fit$path$criterion)
  expect_null(fit$problem$x)
  expect_equal(plot(fit)$lambda[1:3], c(0.01, 0.1, 1))
})

test_that("a fit prints gamma and sigma2", {
  e <- lssvm_example()
  class <- factor(ifelse(e$y > 0, "yes", "no"))
  expect_snapshot({
    lssvm(e$x, class, kernel = kernel_gaussian(sigma2 = c(0.1, 1, 0.5)), gamma = c(1, 10, 2))
    lssvm(e$x, class, kernel = kernel_polynomial(3), gamma = 10, folds = rep(1:4, 6))
    summary(lssvm(e$x, 3 * e$x[, 1] + e$x[, 2]^2, kernel = kernel_gaussian(sigma2 = c(1, 2)),
                  gamma = c(10, 100)))
  })
})

test_that("what is refused", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 7), b = c(2, 1, 2, 1, 9, 3))
  y <- c(1, 3, 2, 5, 4, 6)
  rbf <- kernel_gaussian(sigma2 = 10)
  expect_snapshot({
    refusal(lssvm(x, y, gamma = 0))
    refusal(lssvm(x, y, gamma = c(1, -2)))
    refusal(lssvm(x, y, gamma = NA))
    refusal(lssvm(x, y, gamma = "best"))
    refusal(lssvm(x, y, gamma = c(2, 1, 2)))
    refusal(lssvm(x, y, kernel = kernel_gaussian(sigma2 = 0)))
    refusal(lssvm(x, y, kernel = kernel_gaussian(gamma = 2, sigma2 = 0.5)))
    refusal(lssvm(x, y, kernel = "gaussian"))
    refusal(lssvm(x, rep("yes", 6), kernel = rbf))
    refusal(lssvm(x, rep(1, 6), kernel = rbf))
    refusal(lssvm(x, y[-1], kernel = rbf))
    refusal(lssvm(x, y, lambda = 1))
    refusal(lssvm(x, y, rbf))
    refusal(lssvm(x, y, kernel = rbf, folds = 9))
    refusal(lssvm(tcrossprod(x), y, kernel = "precomputed", standardize = TRUE))
    refusal(lssvm(x, y, kernel = rbf, gamma = 1, threads = 0))
    refusal(coef(lssvm(x, y, kernel = rbf, gamma = 1), lambda = 2))
  })
  expect_error(lssvm(x, y, gamma = -1), class = "sparsels_error_argument")
})

test_that("an interrupt keeps the widths that are done", {
  e <- lssvm_example()
  calls <- 0
  original <- evaluate_spectrum
  stopping <- function(...) {
    calls <<- calls + 1
    if (calls == 3) raise_interrupt()
    original(...)
  }
  widths <- kernel_gaussian(sigma2 = c(0.1, 1, 10))
  with_binding("evaluate_spectrum", stopping, {
    expect_warning(fit <- lssvm(e$x, e$y, kernel = widths, gamma = c(1, 10)),
                   class = "sparsels_interrupted")
  })
  expect_identical(fit$status, "interrupted")
  expect_equal(fit$kernel_table$sigma2, c(0.1, 1))
  expect_output(print(fit), "not every kernel width")
})
