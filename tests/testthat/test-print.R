# What all printed objects have in common: sentences that fit the console, and classes that no model
# can or does predict.

long_classes <- function() {
  factor(c(rep(paste("a rather long name of a class", 1:13), 3), "lone"))
}

test_that("many classes fit the console, the largest first, and a lone row is named", {
  set.seed(1)
  pb <- as_problem(matrix(rnorm(160), 40), long_classes())
  old <- options(width = 80)
  on.exit(options(old))
  expect_snapshot(pb)
  for (width in c(40, 60, 80, 150)) {
    options(width = width)
    lines <- capture.output(print(pb))
    expect_true(all(nchar(lines) <= width))
    expect_match(paste(lines, collapse = " "), "class 'lone' has a single row")
    expect_lte(length(lines), 7)
  }
})

test_that("of a class in one fold there is one warning", {
  set.seed(2)
  x <- matrix(rnorm(160), 40)
  warned <- character()
  count <- function(expr) {
    warned <<- character()
    withCallingHandlers(expr, sparsels_warning_class = function(w) {
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
  }
  y <- long_classes()
  count(greedy_rls(x, y, k = 2, size = 2))
  expect_match(warned, "all rows of class 'lone' are in one fold")
  expect_length(warned, 1)
  count(cross_validate(x, y, greedy_rls, k = 1, size = 1, outer = 3))
  expect_length(warned, 1)
  count(rls(x, factor(rep(c("a", "b"), 20)), folds = 4))
  expect_length(warned, 0)
  # rows of weight 0 are not trained on
  pb <- as_problem(x, factor(rep(c("a", "b"), 20)), weights = rep(c(1, 0, 1, 1), c(1, 1, 1, 37)))
  expect_identical(warn_absent(pb, make_folds(pb, "loo")), character())
  expect_warning(absent <- warn_absent(pb, make_folds(40, rep(1:2, 20))),
                 class = "sparsels_warning_class")
  expect_identical(absent, c("a", "b"))
})

test_that("a classifier that says one class for all rows is named", {
  set.seed(3)
  x <- matrix(rnorm(80), 40)
  y <- factor(rep(c("well", "ill"), c(32, 8)))
  x[, 1] <- x[, 1] + (y == "ill") / 2
  expect_warning(
    fit <- greedy_rls(x, y, criterion = "auc", size = 1, k = 1, lambda = 400, refit = FALSE),
    "all rows are predicted to be 'well': the error rate is as high as for the null model",
    class = "sparsels_warning_constant"
  )
  expect_output(print(fit), "note: all rows are predicted to be 'well'")
  expect_warning(
    cvd <- cross_validate(x, y, greedy_rls, size = 1, k = 1, lambda = 400, refit = FALSE,
                          outer = 4, measure = c("error", "auc")),
    class = "sparsels_warning_constant"
  )
  expect_output(print(cvd), "note: all rows are predicted to be 'well'")
  expect_match(constant_words(fit$problem, "ill"), "higher than for the null model")
  # weights that balance classes differ by rounding
  for (count in 3:12) {
    balanced <- as_problem(x, rep(c("well", "ill"), c(40 - count, count)),
                           class_weights = "balanced", task = "classification")
    for (class in c("well", "ill")) {
      expect_match(constant_words(balanced, class), "as high as for the null model")
    }
  }
})

test_that("errors that are equal but for rounding have a standard error of 0", {
  set.seed(1)
  x <- matrix(rnorm(400), 40)
  y <- rep(c("a", "b"), each = 20)
  fit <- greedy_rls(x, factor(y), k = 2, adjust = factor(rep(1:4, 10)))
  expect_identical(fit$path$se[1], 0)
  expect_identical(greedy_rls(x[1:39, ], factor(rep(1:3, 13)), k = 2)$path$se[1], 0)
  nearly <- matrix(1.7^2 + rep(c(0, 9e-16), 5), 1)
  expect_gt(diff(range(nearly)), 0)
  expect_identical(fold_mean(nearly, rep(1, 10))[["se", 1]], 0)
  expect_identical(random_selection(x, factor(y), k = 2)$path$se[1], 0)
  found <- fold_means()
  found$add(rep(1:4, 2), cbind(1, rep(1.7^2 + c(0, 4e-16), 4)), TRUE)
  expect_identical(found$result()[[2]], 0)
})

test_that("values in words", {
  expect_identical(values_words(3), "3")
  expect_identical(values_words(c(992, 15.5)), "15.5 and 992")
  expect_identical(values_words(c(3, 2, 1)), "1, 2 and 3")
  expect_identical(values_words(10^(-2:2)), "5 values between 0.01 and 100")
  expect_identical(shown_apart(0.4, 0.5), c("0.4", "0.5"))
  expect_identical(shown_apart(0.42112, 0.42113), c("0.42112", "0.42113"))
  expect_identical(shown_apart(2 / 3, 2 / 3 + 1e-12), c("0.667", "0.667"))
})

test_that("groups, strata and queries whose rows all have weight 0 are not counted", {
  set.seed(2)
  x <- matrix(rnorm(60), 20)
  weights <- rep(c(0, 0, 1, 1), 5)
  label <- rep(20:21, 10)
  label[weights > 0] <- rep(1:4, c(1, 4, 2, 3))
  shown <- function(...) capture.output(print(as_problem(x, ..., weights = weights)))
  numeric <- rnorm(20)
  expect_match(shown(numeric, groups = label), "4 groups of 1 to 4 rows", all = FALSE)
  expect_match(shown(numeric, within = label), "4 queries of 1 to 4 rows", all = FALSE)
  times <- survival::Surv(1:20, rep(1, 20))
  expect_match(shown(times, strata = label), "4 strata of 1 to 4 rows", all = FALSE)
  expect_match(shown(times, strata = weights), "in 1 stratum of 10 rows", all = FALSE)
  fit <- greedy_rls(x, numeric, groups = label, weights = weights)
  expect_output(print(fit), "leave-one-group-out, 4 groups", fixed = TRUE)
})

test_that("rows of weight 0 are not counted as rows of a class or as events", {
  set.seed(12)
  x <- matrix(rnorm(160), 40)
  w <- rep(c(0, 1, 3, 2), 10)
  ill <- x[, 1] + rnorm(40) > 0.3
  classes <- as_problem(x, factor(ill, labels = c("well", "ill")), weights = w)
  counts <- table(ill[w > 0])
  expect_output(print(classes), sprintf("well \\(%d\\),\\s+ill \\(%d\\)", counts[1], counts[2]))
  expect_output(print(classes), "0 to 3, 0 for 10 rows, which do not count", fixed = TRUE)
  table <- summary(classes)
  share <- tapply(w, ill, sum) / sum(w)
  expect_equal(table$response_table$share, as.vector(share))
  expect_output(print(table), paste("error rate", shown(1 - max(share))), fixed = TRUE)
  balanced <- as_problem(x, factor(ill), weights = w, class_weights = "balanced")
  expect_output(print(summary(balanced)), "error rate 0.5)", fixed = TRUE)
  expect_equal(summary(as_problem(x, x[, 1], weights = w))$response_table$Min., min(x[w > 0, 1]))
  ids <- rep(1:2, c(20, 20))
  methods <- list(greedy_rls = list(greedy_rls, size = 1))
  compared <- compare_methods(classes, methods = methods, k = 1, outer = ids)
  expect_output(print(compared), "15 rows to train on, 15 rows to test", fixed = TRUE)
  expect_identical(compared$folds$rows, c(15L, 15L))
  fit <- forward_regression(x, ill + 0, k = 1, weights = w, task = "regression")
  linear <- lm(ill ~ x[, selected(fit, index = TRUE)], weights = w)
  expect_identical(nobs(fit), nobs(linear))
  expect_equal(BIC(fit), BIC(linear))
  expect_identical(glance(fit)$nobs, nobs(linear))
  expect_output(print(as_panel(greedy_rls(classes, size = 1))), "on 30 rows", fixed = TRUE)
  page <- judge(classes, method = greedy_rls, k = 1, size = 1, outer = 3, permutations = 0,
                pairs = 0, repeats = 0, claims = 0)
  expect_match(methods_paragraph(page), "on 4 columns (30 rows)", fixed = TRUE)
  expect_identical(glance(page)$nobs, 30L)
  skip_if_not_installed("survival")
  times <- as_problem(x, survival::Surv(rexp(40), ill), weights = w)
  expect_output(print(times), sprintf("%d events in 30 rows", sum(ill[w > 0])), fixed = TRUE)
})

test_that("summary() of censored times names the numbers that columns are compared with", {
  skip_if_not_installed("survival")
  set.seed(13)
  x <- matrix(rnorm(60), 20)
  time <- rexp(20, exp(x[, 1]))
  made <- summary(as_problem(x, survival::Surv(time, rep(1, 20))))
  expect_equal(made$response_table$Mean, -mean(log(time)))
  expect_output(print(made), "\nminus log times:", fixed = TRUE)
  expect_output(print(made), "correlation with minus\\s+log times of")
  first <- made$strongest$association[made$strongest$feature == 1]
  expect_equal(first, cor(x[, 1], -log(time)))
  entered <- summary(as_problem(x, survival::Surv(time / 2, time, rep(1:0, 10))))
  expect_output(print(entered), "\nevents:", fixed = TRUE)
  expect_equal(entered$response_table$Mean, 0.5)
})
