# All features: held-out errors against retraining, and the choice of lambda.

test_that("every lambda equals retraining, for any folds", {
  set.seed(60)
  lambda <- c(1e-3, 1, 1e6)
  for (task in c("one", "two", "binary", "three")) for (wide in c(FALSE, TRUE)) for (kind in 1:3) {
    pb <- random_problem(13, if (wide) 17 else 8, task, weights = kind != 1,
                         covariates = kind == 2, intercept = kind != 3 || wide, sparse = kind == 3)
    folds <- switch(kind, make_folds(pb, "loo"), unequal_folds(pb), unequal_folds(pb, 2))
    fit <- suppressWarnings(rls(pb, lambda = lambda, folds = folds), "sparsels_warning_class")
    all <- which(pb$columns$usable)
    exact <- vapply(lambda, function(l) oracle_figure(pb, all, l, folds), c(0, 0))
    where <- paste(task, wide, kind)
    expect_equal(fit$path$criterion, exact["value", ], tolerance = 1e-8, label = where)
    expect_equal(fit$path$se, exact["se", ], tolerance = 1e-7, label = where)
    if (pb$coding$task != "regression") {
      wrong <- vapply(lambda, function(l) oracle_figure(pb, all, l, folds, "error")[["value"]], 0)
      expect_equal(fit$path$error, wrong)
    }
    for (l in seq_along(lambda)) {
      model <- oracle_ridge(pb, all, lambda[l])
      expect_lt(relative_error(unname(fit$coefficients[[l]]$beta) * pb$columns$scale[all], model$B),
                1e-7)
    }
    best <- which.min(exact["value", ])
    expect_identical(fit$lambda, lambda[best])
    exact <- oracle_ridge(pb, all, lambda[best])$pred
    expect_lt(relative_error(unname(fit$fitted), exact), 1e-7)
    covariates <- pb$z[, colnames(pb$z) != "(Intercept)", drop = FALSE]
    predicted <- predict(fit, pb$x, adjust = if (ncol(covariates)) covariates)
    expect_lt(relative_error(unname(as.matrix(predicted)), exact), 1e-7)
    held_out <- Reduce(`+`, apply(folds$ids, 2, function(ids) {
      oracle_held_out(pb, all, lambda[best], ids)
    }, simplify = FALSE)) / ncol(folds$ids)
    expect_lt(relative_error(unname(fit$held_out), held_out), 1e-7)
  }
})

test_that("lambda = \"full\" is the leave-one-out choice of rls(), for every fitter", {
  set.seed(61)
  x <- matrix(rnorm(25 * 30), 25)
  y <- x[, 1] + rnorm(25)
  all <- rls(x, y)
  expect_identical(all$path$lambda, 2^(-15:15))
  expect_identical(all$lambda, all$path$lambda[which.min(all$path$criterion)])
  for (fit in list(bare_rls(x, y, k = 1, lambda = "full"),
                   bare_rls(x, y, k = 1, lambda = "full", folds = rep(1:5, 5)),
                   random_selection(x, y, k = 1, lambda = "full"),
                   lowrank_lssvm(x, y, k = 1, lambda = "full"))) {
    expect_identical(fit$lambda, all$lambda)
    expect_match(fit$lambda_rule, "leave-one-out with all columns")
  }
})

test_that("a row that outweighs all others is held out to as many digits", {
  set.seed(63)
  x <- matrix(rnorm(150), 30)
  y <- x[, 1] + rnorm(30)
  for (weight in 10^c(6, 8, 10, 12)) for (adjust in list(NULL, cbind(age = cos(1:30)))) {
    pb <- as_problem(x, y, weights = replace(rep(1, 30), 7, weight), adjust = adjust)
    lambda <- c(1e-12, 1e-3, 1, 1e6)
    for (folds in list("loo", rep(1:10, 3))) {
      folds <- make_folds(pb, folds)
      fit <- rls(pb, lambda = lambda, folds = folds)
      for (l in seq_along(lambda)) {
        exact <- oracle_squared(pb, 1:5, lambda[l], folds)
        expect_equal(fit$path$criterion[l], exact, tolerance = 1e-9)
      }
    }
  }
})

test_that("methods of rls", {
  set.seed(62)
  x <- matrix(rnorm(20 * 4), 20, dimnames = list(paste0("s", 1:20), letters[1:4]))
  y <- factor(ifelse(x[, 1] > 0.2, "high", "low"))
  fit <- rls(x, y, lambda = c(0.5, 2))
  expect_named(coef(fit), c("(Intercept)", "a", "b", "c", "d"))
  expect_identical(coef(fit, lambda = fit$lambda), coef(fit))
  expect_false(identical(coef(fit, lambda = 0.5), coef(fit, lambda = 2)))
  expect_equal(predict(fit, x), fitted(fit))
  expect_identical(predict(fit, x, type = "link"), predict(fit, x))
  expect_identical(levels(predict(fit, x[1:3, ], type = "class")), c("high", "low"))
  expect_named(predict(fit, x[1:3, 4:1], type = "class"), c("s1", "s2", "s3"))
  expect_equal(residuals(fit), c(-1, 1)[y] - fitted(fit))
  expect_equal(sum(residuals(fit, "held_out")^2) / 20, min(fit$path$criterion))
  expect_identical(nobs(fit), 20L)
  expect_null(fit$problem$x)
  outputs <- rls(x, cbind(u = x[, 1], v = rnorm(20)), lambda = 1)
  expect_identical(dimnames(coef(outputs)), list(c("(Intercept)", letters[1:4]), c("u", "v")))
})

test_that("rls prints what was fitted", {
  x <- matrix(c(1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 1, 0, 1, 0, 1), 8)
  sick <- factor(c("no", "no", "no", "no", "yes", "yes", "yes", "no"))
  dose <- c(1, 2, 3, 5, 5, 6, 8, 8)
  expect_snapshot({
    rls(x, dose, lambda = c(1, 100))
    rls(x, sick, lambda = c(0.5, 1, 4), folds = rep(1:4, 2))
    rls(x, dose, lambda = 1)
  })
})

test_that("five folds choose among several minima of the leave-one-out error", {
  set.seed(11)
  x <- matrix(rnorm(1200), 30)
  copies <- rbind(x, x + matrix(rnorm(1200), 30) / 50)
  y <- rep(rnorm(30), 2) + rnorm(60) / 4
  fit <- rls(copies, y)
  expect_length(fit$minima, 2L)
  expect_lt(which.min(fit$path$criterion), match(fit$lambda, fit$path$lambda))
  error <- cv_error(fit, rep_len(1:5, 60), lambda = fit$minima)$criterion
  expect_identical(fit$lambda, fit$minima[which.min(error)])
  expect_output(print(fit), "has 2 minima")
  expect_true(verify(fit, copies, y)$ok)
  expect_null(rls(copies, y, folds = 10)$minima)
  # a small lambda is right for a signal of columns of small variance
  set.seed(1)
  x <- cbind(matrix(rnorm(900), 60), matrix(rnorm(180), 60) / 30)
  y <- rowSums(30 * x[, 16:18]) + rnorm(60) / 3
  for (groups in list(FALSE, rep(1:20, 3))) {
    fit <- rls(x, y, standardize = FALSE, groups = groups)
    expect_length(fit$minima, 2L)
    expect_identical(fit$lambda, min(fit$minima))
  }
})
