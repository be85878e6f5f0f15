# Several responses on a common scale, and offsets.

several <- function(m = 30, n = 10) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, letters[seq_len(n)]))
  y <- cbind(height = x[, 1] + x[, 2] + rnorm(m), weight = 100 * (x[, 3] - x[, 2]) + 60 * rnorm(m))
  list(x = x, y = y, w = runif(m, 0.5, 2))
}

test_that("units of a response change nothing that is chosen, and coefficients follow them", {
  set.seed(1)
  data <- several()
  units <- diag(c(1e4, 1e-3))
  other <- data$y %*% units
  dimnames(other) <- dimnames(data$y)
  methods <- list(
    function(y) greedy_rls(data$x, y, weights = data$w, k = 4),
    function(y) bare_rls(data$x, y, search = "floating", k = 3, folds = rep(1:5, 6)),
    function(y) forward_regression(data$x, y, k = 3), function(y) poss(data$x, y, k = 2),
    function(y) rls(data$x, y), function(y) kernel_rls(data$x, y, kernel = kernel_gaussian(0.1))
  )
  for (method in methods) {
    set.seed(2)
    one <- suppressWarnings(method(data$y))
    set.seed(2)
    two <- suppressWarnings(method(other))
    expect_equal(one$path, two$path)
    expect_equal(one$lambda, two$lambda)
    scaled <- function(values) unname(values %*% units)
    expect_equal(scaled(predict(one, data$x)), unname(predict(two, data$x)))
    expect_equal(scaled(coef(one)), unname(coef(two)))
    expect_equal(scaled(residuals(one)), unname(residuals(two)))
    expect_equal(fitted(one) + residuals(one), data$y, ignore_attr = TRUE)
    expect_equal(fitted(two) + residuals(two), other, ignore_attr = TRUE)
    expect_equal(predict(one, data$x), fitted(one), ignore_attr = TRUE)
  }
  estimates <- lapply(list(data$y, other), function(y) {
    set.seed(3)
    suppressWarnings(cross_validate(data$x, y, greedy_rls, k = 2, outer = 3),
                     "sparsels_warning_edge")$estimate
  })
  expect_equal(estimates[[2]], estimates[[1]])
})

test_that("pairs of equal scores are counted in the units of the response", {
  set.seed(6)
  x <- matrix(rnorm(60 * 6), 60)
  y <- x[, 1] + rnorm(60)
  ids <- rep(1:5, 12)
  query <- rep(1:6, each = 10)
  figures <- function(y) {
    judged <- suppressMessages(cross_validate(x, y, bare_rls, k = 3, measure = "concordance",
                                              outer = ids))
    fit <- bare_rls(x, y, criterion = "concordance", folds = ids, k = 3, lambda = 10)
    pb <- suppressMessages(as_problem(x, y, within = query))
    ranked <- bare_rls(pb, criterion = "concordance", k = 2, lambda = 10,
                       folds = rep(1:6, each = 10))
    expect_true(verify(fit, x, y, claims = 30)$ok)
    expect_identical(judged$estimates$null, 0.5)
    expect_equal(c(fit$path$criterion[1], ranked$path$criterion[1]), c(0.5, 0.5))
    list(judged$estimates[c("mean", "se", "lower")], fit$path$criterion, ranked$path$criterion)
  }
  expected <- figures(y)
  # a row without a weight has no say in the units
  with_one_more <- suppressMessages(cross_validate(
    rbind(x, 1), c(y, 1e14), bare_rls, k = 3, outer = c(ids, 1), measure = "concordance",
    weights = rep(1:0, c(60, 1))
  ))
  expect_equal(with_one_more$estimates[c("mean", "se", "lower")], expected[[1]])
  fit <- bare_rls(rbind(x, 1), c(y, 1e14), criterion = "concordance", folds = c(ids, 1), k = 3,
                  lambda = 10, weights = rep(1:0, c(60, 1)))
  expect_equal(fit$path$criterion, expected[[2]])
  for (unit in c(1e-12, 1e6, 1e12)) {
    expect_equal(figures(unit * y), expected)
    expect_equal(figures(unit * (y + 1e4)), expected)
  }
})

test_that("coefficients are those of each response by itself, errors shares of variances", {
  set.seed(4)
  data <- several()
  fit <- rls(data$x, data$y, weights = data$w, lambda = 3)
  w <- data$w
  error <- 0
  for (response in 1:2) {
    alone <- rls(data$x, data$y[, response], weights = w, lambda = 3)
    expect_equal(coef(fit)[, response], coef(alone))
    y <- data$y[, response]
    variance <- sum(w * (y - sum(w * y) / sum(w))^2) / sum(w)
    error <- error + alone$path$criterion / variance / 2
    held_out <- y - residuals(alone, "held_out")
    expect_equal(response_r_squared(fit$problem, kept_values(fit, "held_out"))[[response]],
                 1 - sum(w * (y - held_out)^2) / sum(w) / variance)
  }
  expect_equal(fit$path$criterion, error)
  expect_true(verify(fit, data$x, data$y)$ok)
  # a part has the scale of the whole
  part <- as_problem(data$x, data$y)[1:20, ]
  fit <- bare_rls(part, k = 2)
  expect_true(verify(fit, data$x[1:20, ], data$y[1:20, ])$ok)
  expect_equal(tidy(fit)$estimate, as.vector(coef(fit)))
  expect_equal(augment(fit)$.resid.weight, residuals(fit)[, "weight"])
  expect_equal(augment(fit)$weight, data$y[1:20, "weight"])
  expect_equal(attr(holdout(rls(part), 1:3), "observed"), data$y[1:3, ])
  plain <- as_problem(data$x, data$y, standardize_response = FALSE)
  expect_equal(plain$rows$y, data$y)
  expect_null(as_problem(data$x, factor(rep(1:3, 10)))$coding$response_scale)
})

test_that("an offset is taken from the response and added to predictions", {
  set.seed(5)
  data <- several()
  y <- data$y[, 1]
  known <- rnorm(30)
  for (method in list(greedy_rls, rls, l1_path)) {
    fit <- method(data$x, y, offset = known)
    less <- method(data$x, y - known)
    expect_equal(coef(fit), coef(less))
    expect_equal(predict(fit, data$x[3:1, ], newoffset = c(2, 1, 7)),
                 predict(less, data$x[3:1, ]) + c(2, 1, 7))
    expect_equal(fitted(fit), fitted(less) + known)
    expect_equal(residuals(fit), residuals(less))
    expect_equal(augment(fit)$.fitted, unname(fitted(fit)))
    expect_true(verify(fit, data$x, y)$ok)
  }
  pb <- as_problem(data$x, y, offset = known)
  expect_identical(pb[5:9, ]$rows$offset[, 1], known[5:9])
  expect_equal(predict(rls(pb), pb[5:9, ]), fitted(rls(pb))[5:9], ignore_attr = TRUE)
  set.seed(6)
  one <- cross_validate(pb, rls, outer = 3)
  set.seed(6)
  expect_equal(one$estimate, cross_validate(data$x, y - known, rls, outer = 3)$estimate)
  # of several responses, with an offset for each
  offsets <- cbind(known, 100 * known)
  both <- rls(data$x, data$y, offset = offsets, lambda = 2)
  expect_equal(coef(both), coef(rls(data$x, data$y - offsets, lambda = 2)))
  expect_equal(predict(both, data$x, newoffset = offsets), fitted(both), ignore_attr = TRUE)
})

test_that("a new row without its offset is predicted as NA, as of lm() and glm()", {
  set.seed(8)
  d <- data.frame(a = rnorm(40), b = rnorm(40), o = rnorm(40))
  d$y <- rpois(40, exp(d$a + d$o))
  new <- d[1:4, ]
  new$o[2] <- NA
  new$a[3] <- NA
  formula <- y ~ a + b + offset(o)
  fits <- list(rls(formula, d, lambda = 1e-9), l1_path(formula, d, loss = "poisson", lambda = 1e-9))
  theirs <- list(lm(formula, d), glm(formula, poisson, d))
  for (i in 1:2) {
    expect_warning(predicted <- predict(fits[[i]], new), "infinite values in 2 rows",
                   class = "sparsels_warning_missing")
    expect_equal(predicted, predict(theirs[[i]], new, type = "response"), tolerance = 1e-6)
  }
  skip_if_not_installed("survival")
  times <- l1_path(survival::Surv(y + 1, a > 0) ~ b + offset(o), d, lambda = 1)
  expect_warning(curves <- predict(times, new, type = "survival", times = 2),
                 class = "sparsels_warning_missing")
  expect_identical(unname(which(is.na(curves[, 1]))), 2L)
  expect_error(predict(times, replace(new, "o", Inf)), "`newoffset` must be finite",
               class = "sparsels_error_argument")
})

test_that("offset() in a formula is the argument, and `.` leaves its variables out", {
  set.seed(7)
  data <- several()
  d <- data.frame(y = data$y[, 1], data$x[, 1:4], time = rexp(30) + 0.1)
  by_hand <- rls(as.matrix(d[2:5]), d$y, offset = log(d$time), lambda = 1)
  for (formula in list(y ~ . + offset(log(time)), y ~ offset(log(time)) + .,
                       y ~ a + b + offset(log(time)) + c + d)) {
    expect_equal(coef(rls(formula, d, lambda = 1)), coef(by_hand))
  }
  two <- as_problem(y ~ a + offset(b) + offset(c), d)
  expect_equal(two$rows$offset[, 1], d$b + d$c)
  part <- as_problem(y ~ a + offset(log(time)), d, subset = a > 0)
  expect_equal(part$rows$offset[, 1], log(d$time[d$a > 0]))
})

test_that("what is printed and refused", {
  set.seed(8)
  data <- several()
  x <- data$x
  y <- data$y[, 1]
  fit <- rls(x, y, offset = 1:30, lambda = 1)
  expect_snapshot({
    as_problem(x, data$y, offset = 1:30)
    rls(x, data$y, lambda = c(1, 2))
    refusal(predict(fit, x))
    refusal(predict(fit, x, newoffset = 1:3))
    refusal(predict(rls(x, y), x, newoffset = 1:30))
    refusal(as_problem(x, y, offset = c(NA, 2:30)))
    refusal(as_problem(x, y, offset = "a"))
    refusal(as_problem(x, y > 0, offset = 1:30))
    refusal(as_problem(y ~ offset(y), data.frame(y, x), offset = 1:30))
    refusal(as_problem(x, data$y, standardize_response = NA))
  })
})

test_that("predictions of the rows that a fit keeps are in the user's units", {
  set.seed(1)
  x <- matrix(rnorm(200), 40)
  y <- cbind(mg = 300 + 50 * x[, 1] + rnorm(40), g = x[, 2] + rnorm(40) / 5)
  offset <- cbind(rnorm(40, 10), rnorm(40))
  fits <- list(greedy_rls(x, y), greedy_rls(x, y, offset = offset),
               greedy_rls(x, y[, 1], k = 2, lambda = 1, size = 2, offset = offset[, 1]),
               l1_path(x, y, folds = 5), rls(x, y, offset = offset),
               fs_lssvm(x, y, kernel = kernel_gaussian(0.1), k = 3, folds = 5),
               cross_validate(x, y, greedy_rls, k = 2, lambda = 1, size = 2, outer = 4,
                              keep = TRUE))
  for (fit in fits) {
    response <- y[, colnames(fit$problem$rows$y)]
    if (ncol(fit$problem$rows$y) == 1L) response <- y[, 1]
    expect_equal(drop(unname(fit$held_out)), unname(response - residuals(fit, "held_out")))
    own <- if (inherits(fit, "cv_result")) fit$fit else fit
    expect_equal(drop(unname(own$fitted)), unname(fitted(own)), ignore_attr = TRUE)
    if (!is.null(own$fitted_sizes)) {
      expect_equal(own$fitted_sizes[, , 2], fitted(own, size = 1), ignore_attr = TRUE)
    }
  }
  cv <- fits[[7]]
  expect_equal(cv$held_out, cv$predictions[, , 3, 1], ignore_attr = TRUE)
})

test_that("responses are divided by standard deviations, with an intercept or without", {
  set.seed(1)
  x <- matrix(rnorm(80), 40)
  y <- cbind(a = 100 + x[, 1] + rnorm(40), b = x[, 2] + rnorm(40))
  spread <- apply(y, 2, sd) * sqrt(39 / 40)
  for (intercept in c(TRUE, FALSE)) {
    expect_equal(as_problem(x, y, intercept = intercept)$coding$response_scale, spread)
  }
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(0.5), basis = 10, lambda = 1)
  expect_equal(fit$problem$coding$response_scale, spread)
  own <- colMeans((y - fit$held_out)^2) / spread^2
  expect_equal(fit$path$criterion, mean(own))
})

test_that("an R-squared below 1 is not shown as 1", {
  expect_identical(vapply(c(0.5, 0.9996, 0.99996, 1 - 3e-9, 1), shown_share, ""),
                   c("0.5", "0.9996", "0.99996", "0.999999997", "1"))
  x <- matrix(1:20 + 0.5)
  expect_output(print(rls(x, 2 * x[, 1] + rep(c(-0.01, 0.01), 10))), "R-squared 0.999999")
})

test_that("concordance compares responses and predictions with their offsets", {
  set.seed(2)
  m <- 60
  x <- matrix(rnorm(m * 5), m)
  o <- rnorm(m)
  numbers <- round(x[, 1] + o + rnorm(m), 1) # ties
  counts <- rpois(m, exp(0.5 + 0.5 * x[, 1] + o))
  ids <- rep(1:4, 15)
  for (case in list(list(numbers, "squared"), list(counts, "poisson"))) {
    y <- case[[1]]
    cvd <- cross_validate(x, y, l1_path, loss = case[[2]], offset = o, outer = ids, nlambda = 10,
                          measure = "concordance", baselines = NULL)
    each <- vapply(1:4, function(fold) {
      rows <- which(ids == fold)
      ahead <- outer(cvd$held_out[rows, 1], cvd$held_out[rows, 1], "-")
      pairs <- outer(y[rows], y[rows], ">")
      c(sum((ahead > 0)[pairs]) + 0.5 * sum((ahead == 0)[pairs]), sum(pairs))
    }, c(0, 0))
    expect_equal(cvd$estimates$mean, sum(each[1, ]) / sum(each[2, ]), tolerance = 1e-9)
    expect_lt(cvd$estimates$lower, cvd$estimates$mean)
  }
  expect_error(greedy_rls(x, numbers, offset = o, criterion = "concordance", folds = 4),
               "less their offset", class = "sparsels_error_argument")
})

test_that("the R-squared of a model with covariates is told from the one of its columns", {
  set.seed(1)
  x <- matrix(rnorm(300), 50, dimnames = list(NULL, letters[1:6]))
  age <- rnorm(50)
  y <- x[, 1] + 2 * age + rnorm(50)
  covariates <- list(list(adjust = age), list(adjust = cbind(x[, 2], age)))
  for (given in c(covariates, list(list(penalty = c(1, 0, 1, 1, 1, 1))))) {
    fit <- do.call(best_subset, c(list(x, y, k = 2, size = "criterion"), given))
    z <- if (is.null(given$adjust)) x[, "b"] else given$adjust
    alone <- lm(y ~ z)
    full <- lm(y ~ z + x[, selected(fit)])
    expect_equal(fit$path$criterion[3], 1 - deviance(full) / deviance(alone))
    out <- gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
    expect_match(out, "by the training R-squared beyond the covariates")
    held <- mean((residuals(full) / (1 - hatvalues(full)))^2) / mean((y - mean(y))^2)
    expect_match(out, sprintf("R-squared %.3g with the covariates", 1 - held), fixed = TRUE)
  }
  out <- capture.output(print(rls(x, cbind(y, age + x[, 3]), adjust = x[, 4])))
  expect_match(out, "R-squared of the responses with the covariates: mean", all = FALSE)
  expect_false(any(grepl("covariates", capture.output(print(best_subset(x, y, k = 2))))))
})
