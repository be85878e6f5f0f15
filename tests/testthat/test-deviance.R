deviance_data <- function() {
  set.seed(41)
  x <- matrix(rnorm(40 * 6), 40, dimnames = list(NULL, paste0("g", 1:6)))
  list(x = x, y = x[, 2] - x[, 4] + rnorm(40), weights = runif(40, 0.5, 2), age = rnorm(40))
}

# the lm() of a model's features and the covariates
refitted_lm <- function(fit, d, size = fit$size, weights = NULL) {
  frame <- data.frame(y = d$y, age = d$age, d$x[, selected(fit, size), drop = FALSE])
  do.call(stats::lm, list(y ~ ., frame, weights = weights))
}

test_that("deviance and likelihood of least squares are those of lm()", {
  d <- deviance_data()
  for (weights in list(NULL, d$weights, replace(d$weights, c(3, 9), 0))) {
    pb <- as_problem(d$x, d$y, adjust = cbind(age = d$age), weights = weights)
    for (fit in list(forward_regression(pb, k = 4), omp(pb), best_subset(pb, k = 3))) {
      for (size in 0:3) {
        exact <- refitted_lm(fit, d, size, weights)
        expect_equal(deviance(fit, size), deviance(exact))
        expect_equal(logLik(fit, size), logLik(exact), ignore_attr = "nall")
        expect_equal(AIC(logLik(fit, size)), AIC(exact))
      }
      exact <- refitted_lm(fit, d, weights = weights)
      expect_equal(c(AIC(fit), BIC(fit)), c(AIC(exact), BIC(exact)))
      if (!any(weights == 0)) expect_equal(sigma(fit), sigma(exact))
      expect_equal(weights(fit), if (is.null(weights)) rep(1, 40) else weights)
      expect_equal(unname(deviance(fit, size = 0:3)), vapply(0:3, deviance, 0, object = fit))
      expect_named(deviance(fit, size = 0:3), c("0", "1", "2", "3"))
    }
  }
})

test_that("the deviance of a penalised model has no penalty in it", {
  d <- deviance_data()
  w <- d$weights
  Y <- cbind(a = d$y, b = d$x[, 1] + rnorm(40))
  pb <- as_problem(d$x, Y, weights = w)
  sum_of_squares <- function(residual) {
    sum(w * (residual / rep(pb$coding$response_scale, each = nrow(residual)))^2)
  }
  fits <- list(
    greedy_rls(pb, k = 3, lambda = 5, size = 2), rls(pb, lambda = c(1, 10)),
    kernel_rls(pb, kernel = kernel_gaussian(0.2), basis = 10, lambda = c(1, 10)),
    fs_lssvm(pb, kernel = kernel_gaussian(0.2), gamma = 10, prototypes = 8, folds = 3)
  )
  for (fit in fits) {
    expect_equal(deviance(fit), sum_of_squares(Y - fitted(fit)))
    key <- path_key(fit)
    for (value in if (key == "size") model_sizes(fit) else fit$path$lambda) {
      asked <- stats::setNames(list(value), key)
      predicted <- do.call(predict, c(list(fit, d$x), asked))
      expected <- sum_of_squares(Y - predicted)
      expect_equal(do.call(deviance, c(list(fit), asked)), expected)
      expect_equal(do.call(deviance, c(list(fit), asked, list(newdata = d$x))), expected)
    }
  }
})

test_that("the deviance of an l1 path is that of a glm with its coefficients", {
  d <- deviance_data()
  ill <- factor(ifelse(d$y > 0, "ill", "well"))
  lasso <- l1_path(d$x, d$y, nlambda = 6, weights = d$weights)
  logistic <- l1_path(d$x, ill, loss = "logistic", nlambda = 6, weights = d$weights)
  for (lambda in lasso$path$lambda) {
    predicted <- predict(lasso, d$x, lambda = lambda)
    expect_equal(deviance(lasso, lambda = lambda), sum(d$weights * (d$y - predicted)^2))
  }
  for (lambda in logistic$path$lambda) {
    p <- predict(logistic, d$x, lambda = lambda)
    of_row <- log(ifelse(ill == "well", p, 1 - p))
    expect_equal(deviance(logistic, lambda = lambda), -2 * sum(d$weights * of_row))
  }
  # the model of size 0 is not penalised
  null <- suppressWarnings(stats::glm(ill ~ 1, stats::binomial, weights = d$weights))
  expect_equal(deviance(logistic, size = 0), deviance(null))
  expect_equal(as.numeric(logLik(logistic, size = 0)), -deviance(null) / 2)
  expect_identical(attr(logLik(logistic, size = 0), "df"), 1L)
  skip_if_not_installed("glmnet")
  m <- length(d$y)
  theirs <- glmnet::glmnet(d$x, ill, "binomial", lambda = logistic$path$lambda / m,
                           thresh = 1e-14)
  ours <- l1_path(d$x, ill, loss = "logistic", lambda = logistic$path$lambda, tolerance = 1e-10)
  expect_equal(unname(deviance(ours, lambda = ours$path$lambda)), deviance(theirs),
               tolerance = 1e-6)
})

test_that("new data stand in for fitted values that a fit does not keep", {
  d <- deviance_data()
  fit <- greedy_rls(d$x, d$y, k = 3, lambda = 5, size = "criterion", refit = FALSE,
                    adjust = cbind(age = d$age))
  other <- if (fit$size == 1L) 2L else 1L
  predicted <- predict(fit, d$x, size = other, adjust = cbind(age = d$age))
  expect_equal(deviance(fit, other, newdata = d$x, adjust = cbind(age = d$age)),
               sum((d$y - predicted)^2))
  hinge <- l1_path(d$x, factor(d$y > 0), loss = "hinge", nlambda = 3)
  two <- forward_regression(d$x, cbind(d$y, d$age), k = 1)
  classes <- forward_regression(d$x, factor(d$y > 0), k = 1)
  expect_snapshot({
    refusal(deviance(fit, size = other))
    refusal(deviance(fit, size = other, newdata = d$x[1:5, ], adjust = cbind(age = d$age[1:5])))
    refusal(deviance(hinge))
    refusal(logLik(hinge))
    refusal(logLik(fit))
    refusal(logLik(two))
    refusal(logLik(classes))
    refusal(AIC(rls(d$x, d$y)))
    refusal(sigma(fit))
    refusal(deviance(fit, siez = 1))
  })
})

test_that("the deviance is that of the model left by a threshold, and does not overflow", {
  set.seed(2)
  x <- matrix(rnorm(60 * 8), 60)
  y <- x[, 1] - x[, 2] + rnorm(60)
  for (loss in c("squared", "logistic")) {
    response <- if (loss == "squared") y else factor(y > 0)
    path <- l1_path(x, response, loss = loss, solver = "ipm", nlambda = 12, tolerance = 1e-2)
    cut <- threshold_coef(path, alpha = 50)
    lambda <- cut$path$lambda[cut$path$removed > 0]
    expect_gt(length(lambda), 0)
    for (one in setdiff(lambda, cut$lambda)) {
      expect_error(deviance(cut, lambda = one), "keeps no fitted values",
                   class = "sparsels_error_input")
    }
    score <- predict(cut, x, lambda = lambda[1], type = "link")
    by_hand <- if (loss == "squared") sum((y - score)^2) else
      -2 * sum(plogis(ifelse(y > 0, score, -score), log.p = TRUE))
    expect_equal(deviance(cut, lambda = lambda[1], newdata = x), by_hand)
  }
  far <- list(loss = "logistic",
              problem = list(rows = list(y = matrix(c(1, -1)), weight = c(1, 1))))
  expect_equal(deviance_of_scores(far, array(c(-900, -900), c(2, 1, 1))), 1800)
})
