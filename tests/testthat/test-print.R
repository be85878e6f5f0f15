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

# One fit of each method to each kind of response that the method takes.
fits_of_all <- function(kinds, ...) {
  set.seed(5)
  m <- 40
  x <- matrix(rnorm(m * 6), m, dimnames = list(NULL, paste0("a_long_name_of_a_gene_", 1:6)))
  eta <- x[, 1] - x[, 2]
  grade <- cut(eta + rnorm(m), c(-Inf, -0.5, 0.5, Inf), c("low", "middle", "high"))
  responses <- list(
    numeric = eta + rnorm(m), two = factor(eta > 0, labels = c("well", "ill")), three = grade,
    ordered = ordered(grade), counts = rpois(m, exp(eta / 2)),
    times = survival::Surv(rexp(m, exp(eta)), rbinom(m, 1, 0.7)),
    several = cbind(a = eta, b = rnorm(m), c = eta^2)
  )
  losses <- c(counts = "poisson", times = "cox", ordered = "ordinal")
  methods <- c(setdiff(fitters, c("safe_screen", "lambda_max", "cv_variance")), "backward", "folds",
               "blocks", "loss")
  fits <- list()
  for (kind in kinds) {
    problem <- suppressMessages(as_problem(x, responses[[kind]], ...))
    # by other losses than squares, methods with losses
    with_loss <- c("greedy_rls", "l1_path", "l1_size", "folds", "loss")
    for (method in if (kind %in% c("ordered", "counts")) with_loss else methods) {
      loss <- if (kind %in% names(losses)) losses[[kind]] else "squared"
      fits[[paste(method, kind)]] <- suppressWarnings(suppressMessages(tryCatch(switch(
        method,
        backward = greedy_rls(problem, search = "backward"),
        loss = greedy_rls(problem, loss = loss),
        folds = l1_path(problem, loss = loss, folds = 4),
        l1_size = l1_size(problem, size = 2, loss = loss),
        fs_lssvm = fs_lssvm(problem, kernel = kernel_gaussian(1), gamma = 1, folds = 4),
        kernel_rls = kernel_rls(problem, kernel = kernel_gaussian(1:2)),
        blocks = rls(problem, blocks = rep(1:2, each = 3)),
        get(method)(problem)
      ), sparsels_error = function(e) NULL)))
    }
  }
  fits
}

test_that("print() of a fit has at most twelve lines, and summary() has them all", {
  set.seed(6)
  all <- c(
    fits_of_all(c("numeric", "two", "three", "ordered", "counts", "times", "several")),
    fits_of_all(c("three", "several"), groups = rep(1:20, 2), adjust = cbind(age = rnorm(40)),
                weights = rep(c(2, 1), 20))
  )
  fits <- Filter(function(fit) inherits(fit, "sparsels_fit"), all)
  expect_gt(length(fits), 90)
  for (i in seq_along(fits)) {
    shown <- capture.output(print(fits[[i]]))
    expect_lte(length(shown), 12, label = paste("lines of", names(fits)[i]))
    expect_match(shown[length(shown)], "summary() has more", fixed = TRUE)
    whole <- capture.output(print(summary(fits[[i]])))
    # up to the table, which summary() has for all sizes, and the counts of its table of classes
    end <- min(grep("^ *(step|size|lambda) |^[.]{3}|taken for", shown))
    expect_true(all(shown[seq_len(end - 1)] %in% whole), label = names(fits)[i])
  }
})

test_that("what makes an error less than honest is printed however many properties there are", {
  set.seed(7)
  x <- matrix(rnorm(300), 60)
  x[3, 2] <- NA
  y <- factor(rep(c("well", "ill", "worse"), 20))
  problem <- as_problem(
    x, y, groups = rep(1:30, each = 2), adjust = cbind(age = rnorm(60)), missing = "mean",
    weights = rep(c(0, 1, 1, 1, 1, 1), 10), class_weights = "balanced", penalty = c(1, 2, 1, 1, 1)
  )
  fit <- suppressMessages(greedy_rls(problem, size = 2))
  shown <- capture.output(print(fit))
  expect_lte(length(shown), 12)
  text <- paste(trimws(shown), collapse = " ")
  for (words in c("0 for 10 rows, which do not count", "redone without each fold",
                  "class weights (balanced) of fit and errors")) {
    expect_match(text, words, fixed = TRUE)
  }
  whole <- paste(trimws(capture.output(print(summary(fit)))), collapse = " ")
  for (words in c("adjusted for: age", "replaced by column means", "penalty factors",
                  "optimistic", "lambda:", "rows by class and held-out prediction")) {
    expect_match(whole, words, fixed = TRUE)
  }
})

test_that("numbers have the digits that they differ by, and no others", {
  expect_identical(shown_column(c(10.123, 10.061)), c("10.12", "10.06"))
  expect_identical(shown_column(c(0.9, 0.1234)), c("0.900", "0.123"))
  expect_identical(shown_column(c(5, 5 + 1e-9, NA)), c(" 5", " 5", "NA"))
  expect_identical(shown_column(c(NaN, Inf)), c("NaN", "Inf"))
  expect_identical(with_decimals(c(-1e-17, 0.25), 3), c("0.000", "0.250"))
  expect_identical(with_decimals(c(-4e-4, -6e-4), 3, 1), c("0.000", "-0.001"))
  expect_identical(with_decimals(c(8585330801968945152, 3e18), 0), c("8.59e+18", "3.00e+18"))
  expect_identical(shown_share(-2e-16), "0")
  expect_true(is_alike(1e-12, 1e-12 * (1 + 1e-10)))
  expect_false(is_alike(1e-12, 2e-12))
  expect_false(is_alike(c(a = 1e15), 1.01e15))
  expect_true(is_alike(c("a", NA), c("a", NA)))
  expect_true(is_alike(0, 0))
  # the same words in any unit
  set.seed(8)
  x <- matrix(rnorm(80), 40)
  y <- x[, 1] + rnorm(40)
  words <- function(unit) {
    set.seed(9)
    cvd <- cross_validate(x, y * unit, greedy_rls, size = 1, k = 1, outer = 4)
    grep("standard errors", paste(capture.output(print(cvd)), collapse = " "), value = TRUE)
  }
  for (unit in c(1e-9, 1e9)) expect_match(words(unit), "from the second line on over +the folds")
})

test_that("a mean squared error and its root are found in one way", {
  fit <- greedy_rls(mtcars[-1], mtcars$mpg)
  text <- capture.output(print(fit))
  row <- fit$path[match(fit$size, fit$path$size), ]
  expect_match(text, sprintf("cross-validated root mean squared error %s", shown(sqrt(row$cv))),
               all = FALSE)
  single <- rls(mtcars[-1], mtcars$mpg, lambda = 8)
  expect_match(capture.output(print(single)), "^root mean squared error", all = FALSE)
})

test_that("no result prints an empty table with n = 0", {
  set.seed(1)
  x <- matrix(rnorm(200), 40)
  pb <- as_problem(x, x[, 1] - x[, 2] + rnorm(40))
  fit <- greedy_rls(pb, lambda = 1, size = 2)
  results <- list(
    fit, exchange(fit, pb), alternatives(certify(fit, pb)),
    stability_selection(pb, omp, q = 2, pairs = 3),
    permutation_test(pb, omp, k = 2, permutations = 5),
    judge(pb, greedy_rls, lambda = 1, size = 2, outer = 3, permutations = 3, pairs = 2,
          repeats = 0, claims = 3, progress = FALSE)
  )
  for (result in results) {
    expect_false(any(grepl("<0 rows>|data frame with", capture.output(print(result, n = 0)))))
  }
})
