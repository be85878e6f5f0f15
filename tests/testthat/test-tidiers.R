of_numbers <- function(y = NULL, ...) {
  set.seed(31)
  x <- matrix(rnorm(30 * 6), 30, 6, dimnames = list(NULL, paste0("g", 1:6)))
  if (is.null(y)) y <- x[, 2] - x[, 4] + rnorm(30)
  bare_rls(x, y, k = 3, lambda = 1, ...)
}

test_that("tidy() has a row per term, in the order chosen", {
  fit <- of_numbers(adjust = cbind(age = 1:30))
  table <- tidy(fit, size = 2)
  expect_equal(names(table), c("term", "order", "estimate"))
  expect_equal(table$term, c("(Intercept)", "age", selected(fit, 2)))
  expect_equal(table$order, c(NA, NA, 1, 2))
  expect_equal(table$estimate, unname(coef(fit, size = 2)))
  expect_equal(tidy(fit), tidy(fit, size = fit$size))
  expect_error(tidy(fit, 9), class = "sparsels_error_input")
  expect_error(tidy(fit, szie = 2), "size", class = "sparsels_error_input")
  plain <- of_numbers(intercept = FALSE)
  expect_equal(tidy(plain, 1)$term, selected(plain, 1))
})

test_that("several responses are told apart", {
  set.seed(32)
  fit <- of_numbers(y = cbind(first = rnorm(30), second = rnorm(30)))
  table <- tidy(fit, size = 1)
  expect_equal(table$response, rep(c("first", "second"), each = 2))
  expect_equal(table$estimate, as.vector(coef(fit, size = 1)))
  expect_equal(names(augment(fit)), c(
    "first", "second", ".fitted.first", ".fitted.second", ".held_out.first", ".held_out.second",
    ".resid.first", ".resid.second"
  ))
  unnamed <- of_numbers(y = matrix(rnorm(60), 30))
  expect_equal(length(unique(tidy(unnamed)$response)), 2)
})

test_that("glance() has one row", {
  fit <- of_numbers()
  y <- fit$problem$rows$y
  expect_equal(
    glance(fit),
    data.frame(
      method = "greedy_rls", task = "regression", nobs = 30L, features = 6L, responses = 1L,
      size = fit$size, lambda = 1, criterion = "squared",
      value = fit$path$criterion[fit$path$size == fit$size],
      se = fit$path$se[fit$path$size ==
                       fit$size], deviance = sum((fit$problem$rows$y - fit$fitted)^2),
      held_out.r.squared = 1 - mean(residuals(fit, "held_out")^2) / mean((y - mean(y))^2),
      status = "complete"
    )
  )
})

test_that("augment() has a row per sample", {
  fit <- of_numbers()
  table <- augment(fit)
  expect_equal(table[[1]], as.vector(fit$problem$rows$y))
  expect_equal(table$.fitted, unname(fitted(fit)))
  expect_equal(table$.held_out, table[[1]] - unname(residuals(fit, "held_out")))
  expect_equal(table$.resid, unname(residuals(fit)))
  expect_equal(table$.fitted + table$.resid, table[[1]])
  data <- data.frame(id = 30:1)
  expect_equal(augment(fit, data), cbind(data, table[-1]))
  expect_snapshot(error = TRUE, {
    augment(fit, data[1:3, , drop = FALSE])
    augment(fit, 1:30)
  })
})

test_that("augment() of classes has the held-out class", {
  set.seed(33)
  two <- factor(sample(c("a", "b"), 30, TRUE))
  fit <- of_numbers(y = two)
  table <- augment(fit)
  expect_equal(table[[1]], two)
  expect_equal(table$.pred_class, factor(ifelse(fit$held_out > 0, "b", "a"))[1:30])
  three <- factor(rep(c("a", "b", "c"), 10))
  fit <- of_numbers(y = three)
  table <- augment(fit)
  expect_equal(table[[1]], three)
  p <- as.matrix(table[paste0(".pred_", levels(three))])
  expect_equal(as.integer(table$.pred_class), max.col(p, "first"))
})

test_that("a cross-validation is tidied as it is drawn", {
  set.seed(34)
  x <- matrix(rnorm(30 * 6), 30, 6)
  cvd <- cross_validate(x, greedy_rls, y = x[, 1] + rnorm(30), k = 2, lambda = 1, outer = 3)
  table <- tidy(cvd)
  expect_equal(names(table), c("measure", "size", "curve", "estimate", "std.error"))
  expect_equal(unique(table$measure), cvd$measure)
  expect_equal(table$estimate[table$curve == "test"], cvd$curves$test)
  expect_equal(table$std.error[table$curve == "inner"], cvd$curves$inner_se)
  expect_identical(residuals(cvd), residuals(cvd$fit))
  expect_equal(residuals(cvd, "held_out"), drop(cvd$problem$rows$y - cvd$held_out))
  expect_equal(augment(cvd)$.held_out, drop(cvd$held_out))
  row <- glance(cvd)
  expect_equal(nrow(row), 1)
  expect_equal(row$estimate, cvd$estimate[["mean"]])
  expect_equal(row$folds, 3)
  expect_error(glance(cvd, 1), class = "sparsels_error_input")
})

test_that("kernel fits are tidied by basis row", {
  set.seed(33)
  x <- matrix(runif(20), dimnames = list(letters[1:20], "dose"))
  y <- sin(6 * x[, 1]) + rnorm(20) / 5
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(4), basis = c("b", "k"), intercept = TRUE)
  table <- tidy(fit)
  expect_identical(table$term, c("(Intercept)", "b", "k"))
  expect_identical(table$order, rep(NA_integer_, 3))
  expect_equal(table$estimate, unname(coef(fit)))
  expect_equal(tidy(fit, lambda = 1)$estimate, unname(coef(fit, lambda = 1)))
  expect_identical(tidy(rls(x, y))$term, c("(Intercept)", "dose"))
  one <- glance(fit)
  expect_identical(one[c("method", "nobs", "features", "size", "lambda", "criterion", "status")],
                   data.frame(method = "kernel_rls", nobs = 20L, features = 1L, size = 2L,
                              lambda = fit$lambda, criterion = "squared", status = "complete"))
  expect_equal(one$value, min(fit$path$criterion))
  rows <- augment(fit)
  expect_equal(rows$.resid, y - rows$.fitted, ignore_attr = TRUE)
  expect_equal(rows$.fitted, unname(fitted(fit)))
  expect_error(tidy(fit, size = 2), "lambda", class = "sparsels_error_input")
})

test_that("a path is a data frame with the chosen row", {
  fit <- of_numbers()
  expect_identical(as.data.frame(fit), data.frame(fit$path, chosen = fit$path$size == fit$size))
  x <- matrix(rnorm(60), 20)
  path <- l1_path(x, x[, 1] + rnorm(20), nlambda = 5)
  table <- as.data.frame(path, row.names = letters[1:5])
  expect_identical(table$lambda[table$chosen], path$lambda)
  expect_identical(rownames(table), letters[1:5])
  expect_identical(sum(as.data.frame(rls(x, x[, 1]))$chosen), 1L)
  knots <- lars_path(crossprod(x), crossprod(x, x[, 1] - x[, 2]))
  table <- as.data.frame(knots)
  expect_identical(table, data.frame(knots$path, chosen = knots$path$size == knots$size))
  expect_error(as.data.frame(fit, size = 2), "size", class = "sparsels_error_input")
})

test_that("the curves of a cross-validation are a data frame", {
  set.seed(35)
  x <- matrix(rnorm(30 * 6), 30)
  ill <- factor(x[, 1] + rnorm(30) > 0)
  cvd <- cross_validate(x, ill, bare_rls, k = 2, lambda = 1, outer = 3,
                        measure = c("error", "auc"))
  table <- as.data.frame(cvd)
  expect_identical(table$measure, rep(c("error", "auc"), each = 3))
  expect_identical(table[table$measure == "error", names(cvd$curves)], cvd$curves)
  expect_identical(table$test[4:6], cvd$measures$auc$test)
  # the criterion of the method, squared error, is not the AUC
  expect_true(all(is.na(table$inner[4:6])))
})

test_that("the held-out R-squared of each response is there", {
  set.seed(33)
  y <- cbind(first = rnorm(30), second = rnorm(30))
  fit <- of_numbers(y = y)
  own <- 1 - colSums(residuals(fit, "held_out")^2) / colSums(scale(y, scale = FALSE)^2)
  table <- tidy(fit)
  expect_equal(tapply(table$held_out.r.squared, table$response, unique)[c("first", "second")],
               own, ignore_attr = TRUE)
  expect_equal(glance(fit)$held_out.r.squared, mean(own))
  other <- if (fit$size == 1L) 2 else 1
  expect_true(all(is.na(tidy(fit, size = other)$held_out.r.squared)))
  one <- of_numbers()
  left <- one$problem$rows$y - one$held_out
  expect_equal(glance(one)$held_out.r.squared,
               1 - sum(left^2) / sum((one$problem$rows$y - mean(one$problem$rows$y))^2))
  expect_identical(glance(of_numbers(y = factor(rep(1:2, 15))))$held_out.r.squared, NA_real_)
})

test_that("the rows of a basis have no groups of columns", {
  set.seed(21)
  d <- data.frame(a = rnorm(40), b = sample(letters[1:3], 40, TRUE))
  d$y <- d$a^2 + (d$b == "b") + rnorm(40) / 5
  expect_named(tidy(fs_lssvm(y ~ a + b, data = d)), c("term", "order", "estimate"))
  expect_named(tidy(kernel_rls(y ~ a + b, data = d, kernel = kernel_gaussian(1))),
               c("term", "order", "estimate"))
})

test_that("masks, tunings, variances and risk groups have tidy() and glance()", {
  set.seed(34)
  x <- matrix(rnorm(60 * 4), 60, dimnames = list(NULL, letters[1:4]))
  y <- x[, 2] + rnorm(60)
  mask <- safe_screen(x, y, lambda = 20)
  expect_equal(tidy(mask)$term, letters[1:4])
  expect_equal(tidy(mask)$keep, unname(mask$keep))
  expect_equal(glance(mask)$kept, sum(mask$keep))

  tuned <- tune_lssvm(x, y, solver = "lssvm", method = "grid", budget = 4, folds = 3)
  expect_equal(nrow(tidy(tuned)), nrow(tuned$table))
  expect_equal(tidy(tuned)$gamma[tidy(tuned)$best], tuned$gamma)
  expect_equal(glance(tuned)$value, tuned$value)
  given <- tune_lssvm(x, y, kernel = kernel_linear(), solver = "lssvm", budget = 4, folds = 3)
  expect_identical(glance(given)$sigma2, NA_real_)

  varied <- cv_variance(x, y, kernel = kernel_gaussian(0.1), n = 5, folds = 3, lambda = c(1, 2),
                        repeats = 3, approach = 1:2)
  expect_equal(tidy(varied)$estimate, varied$table$mean)
  expect_equal(glance(varied), data.frame(approaches = 2L, lambdas = 2L, repeats = 3L, size = 5L,
                                          nobs = 60L, status = "complete"))

  skip_if_not_installed("survival")
  grouped <- risk_groups(greedy_rls(x, survival::Surv(exp(-y), rep(c(1, 1, 0), 20)), size = 1))
  expect_equal(sum(tidy(grouped)$nobs), 60)
  expect_equal(sum(tidy(grouped)$events), glance(grouped)$events)
  expect_equal(glance(grouped)$events, 40)
})

test_that("broom dispatches to these methods", {
  skip_if_not_installed("broom")
  fit <- of_numbers()
  expect_identical(broom::tidy(fit), tidy(fit))
  expect_identical(broom::glance(fit), glance(fit))
  expect_identical(broom::augment(fit), augment(fit))
})

test_that("augment() has classes of new rows where no probabilities can be calibrated", {
  x <- as.matrix(iris[51:150, 1:4])
  class <- droplevels(iris$Species[51:150])
  for (fit in list(l1_path(x, class, loss = "hinge"), l1_path(x, class),
                   l1_size(x, class, size = 2))) {
    made <- augment(fit, newdata = x[1:3, ])
    expect_identical(made$.pred_class, unname(predict(fit, x[1:3, ], type = "class")))
    expect_true(all(is.na(made[c(".pred_versicolor", ".pred_virginica")])))
  }
  own <- augment(l1_path(x, class, loss = "logistic"), newdata = x[1:3, ])
  expect_equal(own$.pred_virginica, unname(predict(l1_path(x, class, loss = "logistic"), x[1:3, ])))
})

test_that("of Cox models, rows given again have the risks that they have as training rows", {
  set.seed(6)
  x <- matrix(rnorm(180, 3), 60, dimnames = list(NULL, c("a", "b", "c")))
  y <- survival::Surv(rexp(60, exp(x[, 1])), rbinom(60, 1, 0.7))
  fit <- l1_path(x, y, loss = "cox", lambda = 1e-6)
  theirs <- survival::coxph(y ~ x)
  # their risks are about the means of the columns
  for (made in list(augment(fit), augment(fit, newdata = x))) {
    expect_equal(made$.fitted, predict(theirs, type = "lp"), tolerance = 1e-5, ignore_attr = TRUE)
  }
})

test_that("broom's names of intervals are known", {
  fit <- greedy_rls(mpg ~ ., mtcars, size = 3)
  by_level <- augment(fit, interval = "prediction", level = 0.8)
  expect_identical(augment(fit, interval = "prediction", conf.level = 0.8), by_level)
  expect_identical(augment(fit, newdata = mtcars[1:3, ], interval = "prediction",
                           conf.level = 0.8)$.lower,
                   augment(fit, newdata = mtcars[1:3, ], interval = "prediction",
                           level = 0.8)$.lower)
  expect_identical(tidy(fit, conf.int = FALSE), tidy(fit))
  expect_error(tidy(fit, conf.int = TRUE), "chosen on the same rows do not hold",
               class = "sparsels_error_input")
})

test_that("augment() takes the place of columns that another fit's augment() has added", {
  set.seed(26)
  d <- data.frame(a = rnorm(40), b = rnorm(40), w = rep(1:2, 20))
  d$y <- d$a + rnorm(40)
  first <- rls(y ~ a, d)
  second <- rls(y ~ a + b, d, lambda = 1)
  twice <- augment(second, augment(first, d))
  expect_identical(anyDuplicated(names(twice)), 0L)
  expect_equal(twice, augment(second, d), ignore_attr = TRUE)
  expect_equal(twice$.fitted, drop(fitted(second)), ignore_attr = TRUE)
  new <- augment(second, newdata = augment(first, newdata = d[1:3, ]))
  expect_identical(anyDuplicated(names(new)), 0L)
  expect_equal(new$.fitted, drop(predict(second, d[1:3, ])), ignore_attr = TRUE)
})

test_that("verbs that an object has no answer to are refused, with what has one", {
  set.seed(1)
  x <- matrix(rnorm(80), 20)
  pb <- as_problem(x, x[, 1] + rnorm(20))
  folds <- make_folds(20, 5)
  run <- stability_selection(pb, omp, q = 1, pairs = 5)
  for (object in list(folds, pb, float_matrix(x), summary(pb), run)) {
    for (verb in list(predict, augment, logLik, vcov, AIC, confint)) {
      expect_error(verb(object), "fits have one", class = "sparsels_error_argument")
    }
  }
  for (object in list(folds, pb, float_matrix(x))) {
    for (verb in list(tidy, glance, as.data.frame)) {
      expect_error(verb(object), "fits and results have one", class = "sparsels_error_argument")
    }
  }
  expect_error(formula(folds), "has no formula\\(\\)", class = "sparsels_error_argument")
  skip_if_not_installed("ggplot2")
  for (object in list(folds, float_matrix(x))) {
    expect_error(plot(object), "no picture of an object", class = "sparsels_error_argument")
    expect_error(ggplot2::autoplot(object), "no picture of an object",
                 class = "sparsels_error_argument")
  }
})
