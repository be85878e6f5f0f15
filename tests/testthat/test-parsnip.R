skip_if_not_installed("parsnip")

loadNamespace("parsnip")

fitted_by <- function(spec, ...) {
  parsnip::fit(parsnip::set_engine(spec, "sparsels", ...), mpg ~ ., mtcars)
}

test_that("a linear model is that of the direct call", {
  engine <- fitted_by(parsnip::linear_reg())
  direct <- greedy_rls(mpg ~ ., mtcars)
  expect_s3_class(engine$fit, "greedy_rls")
  expect_identical(engine$fit$path, direct$path)
  expect_identical(engine$fit$size, direct$size)
  predicted <- predict(engine, mtcars[1:5, ])
  expect_equal(predicted$.pred, unname(predict(direct, mtcars[1:5, ])))
  expect_equal(predict(engine, mtcars[1:5, ], type = "raw"), predict(direct, mtcars[1:5, ]))
  ends <- predict(engine, mtcars[1:5, ], type = "pred_int", level = 0.8)
  expect_identical(names(ends), c(".pred_lower", ".pred_upper"))
  expect_equal(as.matrix(ends),
               predict(direct, mtcars[1:5, ], interval = "prediction", level = 0.8)[, -1],
               ignore_attr = TRUE)
})

test_that("a formula keeps its interactions, its offset, its curves and rows with missing values", {
  spec <- parsnip::set_engine(parsnip::linear_reg(penalty = 1e-7), "sparsels", size = 4)
  formula <- mpg ~ wt * hp + log(drat) + offset(qsec / 2)
  engine <- parsnip::fit(spec, formula, mtcars)
  new <- transform(mtcars[1:5, ], qsec = 1:5, hp = hp + 9)
  expect_equal(predict(engine, new)$.pred, unname(predict(lm(formula, mtcars), new)),
               tolerance = 1e-6)
  curved <- parsnip::fit(parsnip::set_engine(parsnip::linear_reg(), "sparsels", size = 1),
                         mpg ~ s(wt) + hp, mtcars)
  expect_identical(curved$fit$path, greedy_rls(mpg ~ s(wt) + hp, mtcars, size = 1)$path)
  gap <- transform(mtcars, wt = replace(wt, 3, NA))
  filled <- parsnip::fit(parsnip::set_engine(spec, "sparsels", size = 1, missing = "mean"),
                         mpg ~ wt, gap)
  by_mean <- lm(mpg ~ wt, transform(gap, wt = replace(wt, 3, mean(wt, na.rm = TRUE))))
  expect_equal(coef(filled$fit), coef(by_mean), tolerance = 1e-6)
  expect_error(parsnip::fit(spec, mpg ~ wt, gap), "1 missing", class = "sparsels_error_input")
  two <- parsnip::fit_xy(parsnip::set_engine(spec, "sparsels", size = 2), mtcars[c("wt", "hp")],
                         mtcars[c("mpg", "qsec")])
  expect_equal(as.matrix(predict(two, new)),
               predict(lm(cbind(mpg, qsec) ~ wt + hp, mtcars), new), tolerance = 1e-6,
               ignore_attr = TRUE)
})

test_that("penalty is lambda, and other arguments are those of the engine", {
  engine <- fitted_by(parsnip::linear_reg(penalty = 3), size = 4, search = "floating")
  direct <- greedy_rls(mpg ~ ., mtcars, lambda = 3, size = 4, search = "floating")
  expect_identical(engine$fit$path, direct$path)
  expect_equal(engine$fit$lambda, 3)
})

test_that("factors among the predictors stay groups of columns", {
  data <- transform(mtcars, gear = factor(gear), carb = factor(carb))
  spec <- parsnip::set_engine(parsnip::linear_reg(), "sparsels", size = 2)
  engine <- parsnip::fit(spec, mpg ~ ., data)
  direct <- greedy_rls(mpg ~ ., data, size = 2)
  expect_equal(predict(engine, data)$.pred, unname(predict(direct, data)))
  by_xy <- parsnip::fit_xy(spec, data[-1], data$mpg)
  expect_equal(predict(by_xy, data)$.pred, unname(predict(direct, data)))
})

test_that("two and several classes, with probabilities", {
  two <- droplevels(iris[iris$Species != "setosa", ])
  cases <- list(list(two, parsnip::logistic_reg()), list(iris, parsnip::multinom_reg()))
  for (case in cases) {
    data <- case[[1]]
    engine <- parsnip::fit(parsnip::set_engine(case[[2]], "sparsels"), Species ~ ., data)
    direct <- greedy_rls(Species ~ ., data)
    expect_identical(predict(engine, data)$.pred_class,
                     unname(predict(direct, data, type = "class")))
    p <- predict(engine, data, type = "prob")
    expect_named(p, paste0(".pred_", levels(data$Species)))
    expect_equal(as.matrix(p), predict(direct, data, type = "prob"), ignore_attr = TRUE)
  }
})

test_that("case weights are weights of the fit", {
  skip_if_not_installed("hardhat")
  w <- hardhat::frequency_weights(rep(1:2, 16))
  spec <- parsnip::set_engine(parsnip::linear_reg(), "sparsels", size = 3)
  engine <- parsnip::fit(spec, mpg ~ ., mtcars, case_weights = w)
  direct <- greedy_rls(mpg ~ ., mtcars, weights = rep(1:2, 16), size = 3)
  expect_equal(engine$fit$path, direct$path)

  skip_if_not_installed("survival")
  lung <- stats::na.omit(survival::lung)
  model <- survival::Surv(time, status) ~ age + ph.ecog
  w <- rep_len(1:2, nrow(lung))
  spec <- parsnip::set_engine(parsnip::proportional_hazards(penalty = 5), "sparsels", size = 2)
  engine <- parsnip::fit(spec, model, lung, case_weights = hardhat::frequency_weights(w))
  direct <- greedy_rls(model, lung, loss = "cox", lambda = 5, weights = w, size = 2)
  expect_equal(coef(engine$fit), coef(direct))
})

test_that("censored regression has survival curves, and a larger linear predictor lives longer", {
  skip_if_not_installed("survival")
  lung <- stats::na.omit(survival::lung)
  model <- survival::Surv(time, status) ~ age + ph.ecog + wt.loss + meal.cal
  for (engine in names(parsnip_engines)) {
    spec <- parsnip::set_engine(parsnip::proportional_hazards(penalty = 5), engine)
    fitted <- parsnip::fit(spec, model, lung)
    direct <- if (engine == "sparsels") greedy_rls(model, lung, loss = "cox", lambda = 5) else
      l1_path(model, lung, loss = "cox", lambda = 5, folds = 10)
    expect_equal(predict(fitted, lung, type = "linear_pred")$.pred_linear_pred,
                 -unname(predict(direct, lung, type = "link")))
    tables <- predict(fitted, lung[1:4, ], type = "survival", eval_time = c(100, 500))$.pred
    curves <- predict(direct, lung[1:4, ], type = "survival", times = c(100, 500))
    for (row in 1:4) {
      expect_equal(tables[[row]]$.eval_time, c(100, 500))
      expect_equal(tables[[row]]$.pred_survival, unname(curves[row, ]))
    }
    order <- survival::concordance(survival::Surv(time, status) ~
                                     predict(fitted, lung, type = "linear_pred")$.pred_linear_pred,
                                   lung)
    expect_gt(order$concordance, 0.55)
    expect_error(predict(fitted, lung), "time")
  }
})

test_that("the engine of l1 penalties is the direct call", {
  two <- droplevels(iris[iris$Species != "setosa", ])
  counts <- transform(mtcars, carb = as.integer(carb))
  cases <- list(
    list(parsnip::linear_reg(penalty = 3, mixture = 0.5), mpg ~ ., mtcars, "squared"),
    list(parsnip::logistic_reg(penalty = 3, mixture = 0.5), Species ~ ., two, "logistic"),
    list(parsnip::multinom_reg(penalty = 3, mixture = 0.5), Species ~ ., iris, "multinomial"),
    list(parsnip::poisson_reg(penalty = 3, mixture = 0.5), carb ~ wt + hp + qsec, counts,
         "poisson")
  )
  for (case in cases) {
    spec <- parsnip::set_engine(case[[1]], "sparsels_l1", folds = NULL)
    fitted <- parsnip::fit(spec, case[[2]], case[[3]])
    direct <- l1_path(case[[2]], case[[3]], loss = case[[4]], alpha = 0.5, lambda = 3)
    expect_equal(coef(fitted$fit), coef(direct))
    classes <- spec$mode == "classification"
    expect_equal(as.matrix(predict(fitted, case[[3]], type = if (classes) "prob" else "numeric")),
                 as.matrix(predict(direct, case[[3]], type = if (classes) "prob" else "response")),
                 ignore_attr = TRUE)
  }
  set.seed(1)
  chosen <- parsnip::fit(parsnip::set_engine(parsnip::linear_reg(), "sparsels_l1"), mpg ~ ., mtcars)
  set.seed(1)
  expect_identical(chosen$fit$lambda, l1_path(mpg ~ ., mtcars, folds = 10)$lambda)
})

test_that("ordered classes are fitted by proportional odds", {
  skip_if_not("ordinal_reg" %in% getNamespaceExports("parsnip"))
  set.seed(3)
  pain <- cut(mtcars$mpg + rnorm(32), c(-Inf, 17, 22, Inf), c("none", "some", "much"),
              ordered = TRUE)
  data <- data.frame(pain, mtcars[-1])
  spec <- parsnip::set_engine(parsnip::ordinal_reg(penalty = 2, mixture = 0.5), "sparsels_l1",
                              folds = NULL)
  direct <- l1_path(pain ~ ., data, loss = "ordinal", alpha = 0.5, lambda = 2)
  expect_no_message(fitted <- parsnip::fit(spec, pain ~ ., data))
  expect_equal(coef(fitted$fit), coef(direct))
  class <- predict(fitted, data)$.pred_class
  expect_identical(class, unname(predict(direct, data, type = "class")))
  expect_true(is.ordered(class))
  p <- predict(fitted, data, type = "prob")
  expect_named(p, paste0(".pred_", levels(pain)))
  expect_equal(as.matrix(p), predict(direct, data, type = "prob"), ignore_attr = TRUE)
  other <- parsnip::set_engine(parsnip::ordinal_reg(ordinal_link = "probit"), "sparsels_l1")
  expect_error(parsnip::fit(other, pain ~ ., data), "ordinal_link")
  expect_error(parsnip::fit(spec, mpg ~ ., mtcars), "factor")
})

test_that("size and penalty are tuned by objects of dials", {
  skip_if_not_installed("dials")
  spec <- parsnip::set_engine(parsnip::linear_reg(penalty = hardhat::tune()), "sparsels",
                              size = hardhat::tune())
  table <- generics::tunable(spec)
  made <- lapply(table$call_info, function(call) {
    do.call(getExportedValue(call$pkg, call$fun), call[setdiff(names(call), c("pkg", "fun"))])
  })
  names(made) <- table$name
  expect_equal(unlist(dials::range_get(made$penalty)), c(lower = 1, upper = 10000))
  expect_equal(unlist(dials::range_get(dials::finalize(made$size, mtcars[-1]))),
               c(lower = 1, upper = 10))
})

test_that("tune_grid() of penalty and size is a loop over the resamples by hand", {
  skip_if_not_installed("tune")
  skip_if_not_installed("yardstick")
  set.seed(1)
  resamples <- rsample::vfold_cv(mtcars, 3)
  spec <- parsnip::set_engine(parsnip::linear_reg(penalty = hardhat::tune()), "sparsels",
                              size = hardhat::tune())
  grid <- expand.grid(penalty = c(1, 20), size = 1:2)
  tuned <- tune::tune_grid(spec, mpg ~ ., resamples, grid = grid,
                           metrics = yardstick::metric_set(yardstick::rmse))
  means <- tune::collect_metrics(tuned)
  for (i in seq_len(nrow(means))) {
    errors <- vapply(resamples$splits, function(split) {
      fit <- greedy_rls(mpg ~ ., rsample::analysis(split), lambda = means$penalty[i],
                        size = means$size[i])
      held_out <- rsample::assessment(split)
      sqrt(mean((held_out$mpg - predict(fit, held_out))^2))
    }, 0)
    expect_equal(means$mean[i], mean(errors))
  }
  best <- tune::select_best(tuned, metric = "rmse")
  final <- parsnip::fit(tune::finalize_model(spec, best), mpg ~ ., mtcars)
  expect_equal(coef(final$fit),
               coef(greedy_rls(mpg ~ ., mtcars, lambda = best$penalty, size = best$size)))
})

test_that("registering again changes nothing, and bad arguments are refused by name", {
  before <- parsnip::show_engines("linear_reg")
  register_parsnip()
  expect_identical(parsnip::show_engines("linear_reg"), before)
  expect_equal(sum(before$engine == "sparsels"), 1)
  expect_equal(sum(before$engine == "sparsels_l1"), 1)
  expect_error(fitted_by(parsnip::linear_reg(), criterium = "auc"), "criterium")
  expect_error(fitted_by(parsnip::linear_reg(penalty = 0)), "lambda")
  expect_error(fitted_by(parsnip::linear_reg(mixture = 0.5)), "mixture.*sparsels_l1")
})
