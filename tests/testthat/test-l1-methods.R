# What a fit of l1_path() says: models by lambda, predictions on each scale, choices, prints.

a_path <- function(loss = "squared", ..., n = 12) {
  set.seed(41)
  m <- 40
  x <- matrix(rnorm(m * n), m, n, dimnames = list(NULL, paste0("g", seq_len(n))))
  score <- x[, 2] - x[, 4] + rnorm(m)
  y <- if (loss == "squared") score else factor(score > 0, labels = c("no", "yes"))
  given <- list(...)
  own <- list(x, y, loss = loss, nlambda = 12, lambda_min_ratio = 0.02, tolerance = 1e-8,
              progress = FALSE)
  list(x = x, y = y, fit = do.call(l1_path, utils::modifyList(own, given)))
}

some_folds <- rep(1:5, 8)

test_that("a lambda names its model, a size the best of that size", {
  for (loss in c("squared", "logistic", "hinge")) {
    d <- a_path(loss, folds = some_folds)
    fit <- d$fit
    for (row in c(1, 4, 7, 12)) {
      lambda <- fit$path$lambda[row]
      alone <- a_path(loss, lambda = lambda)$fit
      expect_equal(coef(fit, lambda = lambda)[names(coef(alone))], coef(alone), tolerance = 1e-5)
      expect_setequal(selected(fit, lambda = lambda), selected(alone))
      expect_equal(length(selected(fit, lambda = lambda)), fit$path$size[row])
      expect_equal(unname(predict(fit, d$x, lambda = lambda, type = "link")),
                   unname(drop(cbind(1, d$x[, selected(fit, lambda = lambda), drop = FALSE]) %*%
                                 coef(fit, lambda = lambda))))
    }
    for (size in unique(fit$path$size)) {
      rows <- which(fit$path$size == size)
      best <- rows[which.min(fit$path$criterion[rows])]
      expect_equal(coef(fit, size = size), coef(fit, lambda = fit$path$lambda[best]))
    }
    expect_equal(coef(fit), coef(fit, lambda = fit$lambda))
    expect_identical(fit$lambda, fit$path$lambda[which.min(fit$path$criterion)])
  }
})

test_that("without held-out errors the smallest lambda is shown", {
  fit <- a_path("hinge", n = 60, lambda = 10 * 0.7^(0:11))$fit
  # the smallest lambdas explain all alike
  expect_gt(sum(fit$path$dev_ratio > 1 - 1e-9), 1)
  expect_identical(fit$lambda, min(fit$path$lambda))
  expect_equal(coef(fit), coef(fit, lambda = fit$lambda))
  expect_equal(coef(fit, size = fit$size), coef(fit))
  # even where another of its size explains more
  path <- data.frame(size = 1L, criterion = c(0.3, 0.5, 0.2))
  pb <- as_problem(cbind(a = c(1, 2, 4)), 1:3)
  solutions <- lapply(1:3, function(beta) list(features = 1L, beta = beta, u = 0))
  more <- list(higher = TRUE)
  for (row in 2:3) {
    expect_identical(models_of_sizes(pb, solutions, path, more, row)[[2]]$row, row)
  }
})

test_that("four digits of a lambda are enough, and no more is guessed", {
  fit <- a_path()$fit
  lambda <- fit$path$lambda[5]
  expect_identical(coef(fit, lambda = signif(lambda, 4)), coef(fit, lambda = lambda))
  expect_identical(lambda_row(c(3, 2, 1), 1.0004), 3L)
  expect_identical(lambda_row(c(1.0004, 1.0003), 1.0003), 2L)
  expect_error(lambda_row(c(3, 2, 1), 1.001), "nearest are 1 and 2", class = "sparsels_error_input")
  expect_error(lambda_row(5, 1), "nearest is 5", class = "sparsels_error_input")
})

test_that("logistic predictions are probabilities, the others scores", {
  for (loss in c("squared", "logistic", "hinge")) {
    d <- a_path(loss, folds = some_folds)
    fit <- d$fit
    link <- predict(fit, d$x, type = "link")
    expect_equal(unname(link), drop(fit$fitted))
    response <- if (loss == "logistic") 1 / (1 + exp(-link)) else link
    expect_equal(predict(fit, d$x), response)
    expect_equal(unname(fitted(fit)), unname(response))
    y <- switch(loss, squared = d$y, logistic = (d$y == "yes") + 0, hinge = 2 * (d$y == "yes") - 1)
    expect_equal(unname(residuals(fit)), unname(y - response))
    held_out <- drop(fit$held_out)
    if (loss == "logistic") held_out <- 1 / (1 + exp(-held_out))
    expect_equal(unname(residuals(fit, "held_out")), y - held_out)
    table <- augment(fit)
    expect_equal(table[[1]], d$y)
    expect_equal(table$.fitted, unname(fitted(fit)))
    expect_equal(table$.held_out, held_out)
    expect_equal(table$.resid, unname(residuals(fit)))
    if (loss != "squared") {
      expect_identical(unname(predict(fit, d$x, type = "class") == "yes"), unname(link > 0))
      expect_identical(table$.pred_class == "yes", drop(fit$held_out) > 0)
    }
  }
})

test_that("tidy() and glance() of an l1 path", {
  fit <- a_path("logistic", folds = some_folds)$fit
  lambda <- fit$path$lambda[6]
  expect_equal(tidy(fit, lambda = lambda)$estimate, unname(coef(fit, lambda = lambda)))
  expect_equal(tidy(fit, lambda = lambda)$term, names(coef(fit, lambda = lambda)))
  row <- fit$path[fit$path$lambda == fit$lambda, ]
  score <- -(fit$problem$rows$y * fit$fitted)
  expect_equal(glance(fit), data.frame(
    method = "l1_path", task = "binary", nobs = 40L, features = 12L, responses = 1L,
    size = row$size, lambda = fit$lambda, criterion = "logistic", value = row$criterion,
    se = row$se, deviance = 2 * sum(fit$problem$rows$weight * log(1 + exp(score))),
    held_out.r.squared = NA_real_, status = "complete"
  ))
  bare <- a_path()$fit
  expect_equal(glance(bare)$value, max(bare$path$dev_ratio))
  expect_true(all(is.na(augment(bare)$.held_out)))
})

test_that("the held-out losses are those of the scores, their error that of fold means", {
  set.seed(42)
  pb <- random_problem(23, 6, "binary", weights = TRUE)
  folds <- unequal_folds(pb)
  score <- matrix(rnorm(23))
  margin <- drop(pb$rows$y * score)
  w <- pb$rows$weight
  losses <- list(logistic = log(1 + exp(-margin)), hinge = ifelse(margin < 1, 1 - margin, 0))
  for (loss in names(losses)) {
    found <- evaluate_folds(pb, folds, list(name = loss), list(pb$rows$y - score))
    value <- sum(w * losses[[loss]]) / sum(w)
    expect_equal(found$value, value)
    each <- vapply(split(seq_len(23), folds$ids), function(rows) {
      c(sum(w[rows]), sum(w[rows] * losses[[loss]][rows]) / sum(w[rows]))
    }, c(0, 0))
    spread <- sum(each[1, ] * (each[2, ] - value)^2) / sum(w) / (ncol(each) - 1)
    expect_equal(found$se, sqrt(spread))
  }
})

test_that("best_lambda() is the best or the largest within a standard error", {
  for (criterion in c("loss", "auc")) {
    fit <- a_path("logistic", folds = some_folds, criterion = criterion)$fit
    sign <- if (criterion == "auc") -1 else 1
    loss <- sign * fit$path$criterion
    row <- which.min(loss)
    expect_identical(best_lambda(fit), fit$path$lambda[row])
    limit <- loss[row] + fit$path$se[row]
    expect_identical(best_lambda(fit, "1se"), max(fit$path$lambda[loss <= limit]))
    expect_gt(best_lambda(fit, "1se"), best_lambda(fit))
    expect_lte(best_size(fit, "1se"), length(selected(fit, lambda = best_lambda(fit, "1se"))))
  }
})

test_that("Ctrl-C leaves the path up to there, without held-out errors", {
  whole <- a_path(folds = some_folds)$fit
  solve <- solve_path
  stopped <- function(...) utils::head(solve(...), 7)
  expect_warning(part <- with_binding("solve_path", stopped, a_path(folds = some_folds)$fit),
                 "holds the 7 lambdas done", class = "sparsels_interrupted")
  expect_identical(part$status, "interrupted")
  expect_equal(part$path$lambda, whole$path$lambda[1:7])
  expect_equal(part$lambda, whole$path$lambda[7])
  expect_true(all(is.na(part$held_out)))
  expect_output(print(part), "interrupted: this is the path up to there, without held-out errors")
  expect_warning(
    bare <- with_binding("held_out_paths", function(...) NULL, a_path(folds = some_folds)$fit),
    "holds the 12 lambdas", class = "sparsels_interrupted"
  )
  expect_equal(bare$path$objective, whole$path$objective)
  expect_equal(coef(bare), coef(whole, lambda = min(whole$path$lambda)))
  expect_error(best_lambda(bare), "no held-out errors", class = "sparsels_error_input")
})

test_that("plots draw the path, with the choices marked", {
  fit <- a_path(folds = some_folds)$fit
  data <- withVisible(plot(fit, main = "mine", ylim = c(0, 9)))
  expect_false(data$visible)
  data <- data$value
  expect_identical(data$lambda, fit$path$lambda)
  expect_identical(data$size, fit$path$size)
  expect_equal(data$mean, fit$path$criterion)
  expect_equal(data$upper - data$mean, fit$path$se)
  expect_identical(data$lambda[data$chosen], best_lambda(fit))
  expect_identical(data$lambda[data$one_se], best_lambda(fit, "1se"))
  profiles <- plot(fit, what = "coefficients")
  scale <- fit$problem$columns$scale
  for (lambda in fit$path$lambda[c(1, 5, 12)]) {
    part <- profiles[profiles$lambda == lambda & profiles$coefficient != 0, ]
    columns <- selected(fit, lambda = lambda, index = TRUE)
    expect_setequal(part$feature, columns)
    expect_equal(part$coefficient[match(columns, part$feature)],
                 unname(coef(fit, lambda = lambda)[-1]) * scale[columns])
  }
  bare <- a_path("hinge")$fit
  expect_named(plot(bare), names(profiles))
  training <- plot(bare, what = "criterion")
  expect_equal(training$mean, bare$path$dev_ratio)
  expect_false(any(training$one_se))
  expect_error(plot(fit, what = "coef"), "`what`", class = "sparsels_error_argument")
  one <- a_path(lambda = 5, folds = some_folds)$fit
  none <- a_path(lambda = 1e5)$fit
  for (what in c("criterion", "coefficients")) {
    expect_silent(plot(one, what = what))
    expect_silent(plot(none, what = what))
  }
  skip_if_not_installed("ggplot2")
  expect_equal(ggplot2::autoplot(fit)$data, data)
  expect_equal(ggplot2::autoplot(bare)$data, picture(bare)$data)
  expect_silent({
    print(ggplot2::autoplot(fit))
    print(ggplot2::autoplot(fit, what = "coefficients"))
  })
})

test_that("the largest profiles are named, their names apart from each other", {
  ends <- profile_ends(data.frame(
    lambda = rep(c(2, 1), 9), feature = rep(1:9, each = 2), name = rep(letters[1:9], each = 2),
    coefficient = c(rbind(100, c(0, -9, 1:7)))
  ))
  expect_identical(ends$name, letters[c(2, 9:3, 1)])
  expect_identical(which(!is.na(ends$label)), 1:7)
  expect_identical(ends$label[1:7], ends$name[1:7])
  place <- spread_labels(c(5, 1, 1.1, 1.2), 1)
  expect_equal(sort(diff(sort(place)))[1:2], c(1, 1))
  expect_equal(place[1], 5)
  expect_identical(order(place), c(2L, 3L, 4L, 1L))
  expect_equal(mean(place[2:4]), 1.1)
})

test_that("cross_validate() scores what each fold chose, for any kind of inner folds", {
  set.seed(43)
  x <- matrix(rnorm(50 * 15), 50)
  y <- x[, 3] - x[, 8] + rnorm(50)
  ids <- rep(1:5, 10)
  cvd <- cross_validate(x, l1_path, y = y, folds = rep(1:2, 25), nlambda = 10, outer = ids)
  for (fold in 1:5) {
    train <- ids != fold
    fit <- l1_path(x[train, ], y[train], folds = rep(1:2, 25)[train], nlambda = 10,
                   progress = FALSE)
    expect_equal(cvd$folds$lambda[fold], fit$lambda)
    expect_equal(cvd$folds$test[fold], mean((y[!train] - predict(fit, x[!train, ]))^2))
    expect_equal(cvd$folds$inner[fold], min(fit$path$criterion))
    expect_setequal(cvd$chosen[[fold]], selected(fit))
  }
  # a size that a fold jumps over has the model below it
  expect_identical(cvd$curves$size, seq_len(nrow(cvd$curves)) - 1L)
  expect_false(anyNA(cvd$curves))
  # the number of folds, and none
  halves <- rep(1:2, each = 25)
  counted <- cross_validate(x, l1_path, y = y, folds = 3, nlambda = 5, outer = halves)
  expect_match(counted$inner, "3-fold")
  chosen <- cross_validate(x, l1_path, y = y, nlambda = 5, outer = halves)
  expect_match(chosen$inner, "10-fold")
  plain <- cross_validate(x, l1_path, y = y, nlambda = 5, folds = NULL, outer = halves,
                          baselines = "majority")
  expect_false("inner" %in% names(plain$folds))
  expect_output(print(plain), "honest")
  expect_identical(glance(plain)$inner, NA_real_)
})

test_that("sizes without a model take the one below", {
  models <- list(NULL, list(features = 1L), NULL, NULL, list(features = 1:4), NULL)
  filled <- fill_models(models, 5L)
  # below the smallest there is none to take
  expect_identical(filled[1], list(NULL))
  expect_identical(filled[-1], models[c(2, 2, 2, 5, 5)])
  expect_identical(fill_models(models, 7L)[7:8], models[c(5, 5)])
})

test_that("random features beside an l1 path have a ridge parameter of their own", {
  d <- a_path()
  pb <- as_problem(d$x, d$y)
  expect_null(random_lambda(d$fit, pb))
  expect_identical(random_lambda(list(lambda = 3), pb), 3)
  expect_equal(random_lambda(list(lambda = 0), pb), 40e-8)
})

# the same on every machine
show_path <- function(fit, ...) {
  fit$path$gap <- 2e-9 * fit$null_objective
  print(fit, ...)
}

test_that("prints", {
  x <- outer(1:24, 1:9, function(i, j) sin(i * j) + cos(i + j^2))
  colnames(x) <- letters[1:9]
  y <- x[, 2] - 2 * x[, 5] + sin(1:24 * 7)
  sick <- factor(y > 0, labels = c("no", "yes"))
  folds <- rep(1:4, 6)
  run <- function(...) {
    l1_path(x, ..., nlambda = 30, lambda_min_ratio = 0.01, tolerance = 1e-8, progress = FALSE)
  }
  expect_snapshot({
    show_path(run(y))
    show_path(run(y, folds = folds))
    show_path(run(sick, loss = "logistic", folds = folds, weights = rep(1:2, 12)), n = 3)
    show_path(run(sick, loss = "logistic", folds = folds, criterion = "error"), n = 0)
    show_path(run(sick, loss = "hinge", folds = folds, criterion = "auc"), n = 0)
    show_path(run(y, lambda = 2))
    show_path(run(y, lambda = c(2, 1), folds = folds))
    show_path(run(sick, loss = "logistic", lambda = 2, folds = folds))
    summary(run(y, folds = folds))
  })
})

test_that("a choice without features says how many folds have features at its lambda", {
  set.seed(1)
  x <- matrix(rnorm(50 * 5), 50)
  times <- survival::Surv(rexp(50), rbinom(50, 1, 0.6))
  folds <- make_folds(50, 5)
  fit <- l1_path(x, times, loss = "cox", folds = folds, nlambda = 20, standardize = FALSE)
  expect_identical(fit$size, 0L)
  filled <- vapply(seq_len(5), function(fold) {
    rows <- which(folds$ids != fold)
    part <- l1_path(x[rows, ], times[rows], loss = "cox", lambda = fit$lambda,
                    standardize = FALSE)
    part$size > 0L
  }, NA)
  expect_gt(sum(filled), 0L)
  expect_identical(fit$fold_counts, c(folds = 5L, with_features = sum(filled)))
  said <- sprintf("without %d of the 5 folds the model has features", sum(filled))
  expect_output(print(fit), said, fixed = TRUE)
  # a lambda above all is the null model in every fold
  none <- l1_path(x, times, loss = "cox", folds = folds, lambda = 10 * fit$lambda * 1:2)
  expect_identical(none$fold_counts[["with_features"]], 0L)
  expect_false(any(grepl("the model has features", capture.output(print(none)))))
  expect_identical(none$path$concordance, c(0.5, 0.5))
  # folds of single rows have no pair to compare
  alone <- l1_path(x[1:10, ], times[1:10], loss = "cox", folds = "loo")
  expect_no_match(capture.output(print(alone)), "NaN")
})

test_that("messages", {
  fit <- a_path()$fit
  held <- a_path(folds = some_folds)$fit
  greedy <- bare_rls(a_path()$x, 1:40, k = 2, lambda = 1)
  expect_snapshot({
    refusal(coef(fit, lambda = 1.2345))
    refusal(predict(fit, a_path()$x, lambda = 1e6))
    refusal(tidy(fit, lambda = c(1, 2)))
    refusal(selected(fit, lambda = "1se"))
    refusal(coef(fit, size = 2, lambda = 1))
    refusal(coef(greedy, lambda = 1))
    refusal(coef(fit, alpha = 1))
    refusal(best_lambda(fit))
    refusal(best_lambda(greedy))
    refusal(best_lambda(held, "2se"))
    refusal(best_size(fit, "1se"))
    refusal(predict(fit, a_path()$x, type = "class"))
    refusal(a_path("logistic", folds = "loo", criterion = "auc"))
  })
})

test_that("lambda is chosen by the rules that choose a size elsewhere", {
  set.seed(31)
  x <- matrix(rnorm(60 * 30), 60)
  y <- x[, 1] - x[, 2] + rnorm(60)
  ids <- make_folds(60, 6)
  fits <- lapply(c(min = "min", "1se" = "1se", cv = "cv"), function(rule) {
    l1_path(x, y, folds = ids, size = rule, nlambda = 30, tolerance = 1e-8)
  })
  path <- fits$min$path
  expect_equal(fits$cv$path, path)
  expect_equal(fits$min$lambda, path$lambda[which.min(path$criterion)])
  expect_equal(fits$`1se`$lambda, best_lambda(fits$min, "1se"))
  for (fit in fits) {
    expect_equal(best_lambda(fit), fits$min$lambda)
    expect_equal(best_lambda(fit, "1se"), fits$`1se`$lambda)
    expect_equal(fit$size, fit$path$size[match(fit$lambda, fit$path$lambda)])
    expect_equal(unname(fit$fitted[, 1]), unname(predict(fit, x)))
  }
  # the errors of every fold by hand, from paths without it on the scale of all rows
  pb <- as_problem(x, y)
  without <- lapply(1:6, function(f) {
    rows <- which(ids$ids[, 1] == f)
    train <- without_rows(pb, rows)
    solutions <- solve_path(train, l1_control(pb, "squared"), lambda = path$lambda)
    list(rows = rows, scores = vapply(solutions, function(one) {
      solution_scores(train, models_side_by_side(train, list(one)), pb, rows)
    }, y[rows]))
  })
  sums <- lapply(seq_len(nrow(path)), function(l) {
    t(vapply(without, function(one) {
      c(sum((y[one$rows] - one$scores[, l])^2), length(one$rows))
    }, c(0, 0)))
  })
  choice <- oracle_choice(list(sums), "cv", oracle_slack(pb), fits$cv$path$size,
                          clear = function(...) TRUE)
  expect_equal(fits$cv$lambda, path$lambda[choice[1] + 1])
  noise <- l1_path(x, rnorm(60), folds = ids, size = "cv")
  expect_equal(noise$size, 0L)
  expect_output(print(fits$cv), "not clearly worse than the best")
  expect_error(l1_path(x, y, size = "cv"), "needs held-out errors", class = "sparsels_error_input")
})

test_that("a class that folds lose has the odds of half a row, or its code", {
  set.seed(1)
  x <- matrix(rnorm(200), 40)
  y <- factor(c("one", rep(c("a", "b"), length.out = 39)))
  folds <- rep(1:4, 10)
  for (given in list(folds, "loo")) {
    fit <- suppressWarnings(l1_path(x, y, loss = "hinge", folds = given, nlambda = 5))
    held <- if (is.numeric(given)) which(folds == 1) else 1L
    expect_equal(unname(fit$held_out[held, 3]), rep(-1, length(held)))
    expect_true(all(is.finite(fit$path$criterion)))
    expect_error(suppressWarnings(l1_path(x, y, loss = "logistic", folds = given)),
                 "all rows of class 'one' are in fold 1", class = "sparsels_error_input")
  }
  rare <- factor(c("b", rep("a", 39)))
  for (loss in c("logistic", "hinge", "squared")) {
    fit <- suppressWarnings(l1_path(x, rare, loss = loss, folds = "loo", nlambda = 5))
    expect_equal(fit$held_out[1, 1], if (loss == "logistic") -log1p(78) else -1)
  }
})

test_that("verify() retrains folds without a class by the same odds of half a row", {
  set.seed(1)
  x <- matrix(rnorm(144), 24)
  y <- factor(rep(c("a", "b"), c(23, 1)))
  for (loss in c("logistic", "hinge", "squared")) {
    fit <- suppressWarnings(l1_path(x, y, loss = loss, folds = 5, nlambda = 8))
    checked <- verify(fit, x, y, claims = 60)
    expect_true(checked$ok)
    if (loss == "logistic") {
      others <- sum(fit$folds$ids != fit$folds$ids[24])
      expect_equal(fit$held_out[24], -log((others + 0.5) / 0.5))
    }
  }
})
