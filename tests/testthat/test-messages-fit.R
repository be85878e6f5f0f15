# Every refusal of the fitters and of the methods of a fit, pinned.

x <- cbind(TP53 = c(1, 2, 3, 4, 5, 7), MYC = c(2, 1, 2, 1, 9, 3), KRAS = c(0, 0, 1, 0, 1, 1))
y <- c(1, 3, 2, 5, 4, 6)
sick <- c("no", "no", "yes", "no", "yes", "yes")
kind <- c("a", "b", "c", "a", "b", "c")

test_that("k, lambda, keep, threads, search, progress", {
  expect_snapshot({
    refusal(greedy_rls(x, y, k = 0))
    refusal(greedy_rls(x, y, k = 1.5))
    refusal(greedy_rls(x, y, k = NA))
    refusal(greedy_rls(x, y, k = "all"))
    refusal(greedy_rls(x, y, k = 1:2))
    refusal(greedy_rls(x, y, lambda = 0))
    refusal(greedy_rls(x, y, lambda = c(1, -2)))
    refusal(greedy_rls(x, y, lambda = NaN))
    refusal(greedy_rls(x, y, lambda = Inf))
    refusal(greedy_rls(x, y, lambda = "cv"))
    refusal(greedy_rls(x, y, lambda = numeric()))
    refusal(greedy_rls(x, y, lambda = 1:1e6))
    refusal(greedy_rls(x, y, keep = -1))
    refusal(greedy_rls(x, y, keep = NA))
    refusal(greedy_rls(x, y, threads = 0))
    refusal(greedy_rls(x, y, threads = "two"))
    refusal(greedy_rls(x, y, search = "stepwise"))
    refusal(greedy_rls(x, y, search = "given"))
    refusal(greedy_rls(x, y, progress = 1))
  })
})

test_that("folds", {
  counted_from_0 <- without_2 <- make_folds(6, 3)
  counted_from_0$ids <- counted_from_0$ids - 1L
  without_2$ids[without_2$ids == 2L] <- 3L
  expect_snapshot({
    refusal(greedy_rls(x, y, folds = 1))
    refusal(greedy_rls(x, y, folds = 7))
    refusal(greedy_rls(x, y, folds = 1:5))
    refusal(greedy_rls(x, y, folds = rep(1, 6)))
    refusal(greedy_rls(x, y, folds = c(1, 1, 2, 2, NA, 3)))
    refusal(greedy_rls(x, y, folds = "ten"))
    refusal(greedy_rls(x, y, folds = make_folds(5, "loo")))
    refusal(greedy_rls(x, y, folds = counted_from_0))
    refusal(greedy_rls(x, y, folds = without_2))
  })
})

test_that("criterion", {
  short <- function(y, prediction) 1
  words <- function(y, prediction, fold) "good"
  missing <- function(y, prediction, fold) NA_real_
  two <- function(y, prediction, fold) 1:2
  expect_snapshot({
    refusal(greedy_rls(x, y, criterion = "accuracy"))
    refusal(greedy_rls(x, y, criterion = 1))
    refusal(greedy_rls(x, y, criterion = "error"))
    refusal(greedy_rls(x, y, criterion = "auc"))
    refusal(greedy_rls(x, kind, criterion = "auc"))
    refusal(greedy_rls(x, sick, criterion = "auc", folds = c(1, 1, 2, 1, 2, 2),
                       size = "criterion"))
    refusal(greedy_rls(x, y, criterion = short))
    refusal(greedy_rls(x, y, criterion = words))
    refusal(greedy_rls(x, y, criterion = missing))
    refusal(greedy_rls(x, y, criterion = two))
    refusal(greedy_rls(x, y, criterion = structure(words, better = "more")))
  })
})

test_that("unknown and unnamed arguments", {
  expect_snapshot({
    refusal(greedy_rls(x, y, lamda = 1))
    refusal(greedy_rls(x, y, fold = 3, weigths = 1:6))
    refusal(greedy_rls(x, y, bootstrap = TRUE))
    refusal(greedy_rls(x, y, 3))
    refusal(rls(x, y, k = 3))
    refusal(wrapper_rls(x, y, keep = 3))
    refusal(lowrank_lssvm(x, y, serch = "forward"))
    refusal(random_selection(x, y, search = "backward"))
    refusal(predict(bare_rls(x, y, k = 1, lambda = 1), x, sise = 1))
    refusal(greedy_rls(as_problem(x, y), weights = 1:6))
  })
})

test_that("the data", {
  expect_snapshot({
    refusal(greedy_rls(replace(x, 8, NA), y))
    refusal(greedy_rls(x, rep(1, 6)))
    refusal(greedy_rls(x, rep("no", 6)))
    refusal(greedy_rls(x[1, , drop = FALSE], 1))
    refusal(greedy_rls(x[, 1], y))
    refusal(greedy_rls(x))
    refusal(greedy_rls(x, y, weights = c(1, 1, -1, 1, 1, 1)))
    refusal(greedy_rls(y ~ TP53))
    refusal(rls(0 * x, y))
  })
})

test_that("baselines and rls", {
  expect_snapshot({
    refusal(wrapper_rls(x, y, shortcut = "dual", folds = 3))
    refusal(wrapper_rls(x, sick, shortcut = "primal", criterion = "auc"))
    refusal(wrapper_rls(x, y, shortcut = "both"))
    refusal(wrapper_rls(x, y, search = "given"))
    refusal(lowrank_lssvm(x, sick, criterion = "auc"))
    refusal(coef(rls(x, y, lambda = c(1, 2)), lambda = 3))
    refusal(predict(rls(x, y, lambda = 1)))
    refusal(predict(rls(x, y, lambda = 1), x, type = "class"))
    refusal(predict(rls(x, y, lambda = 1), x[, 1:2]))
  })
})

test_that("methods of a fit", {
  fit <- bare_rls(x, y, k = 2, lambda = 1)
  pairs <- bare_rls(x, sick, k = 2, lambda = 1, criterion = "auc")
  expect_identical(selected(fit, 2), c("TP53", "KRAS"))
  expect_snapshot({
    refusal(selected(fit, 3))
    refusal(coef(fit, -1))
    refusal(coef(fit, "best"))
    refusal(selected(fit, 1, index = NA))
    refusal(best_size(fit, "2se"))
    refusal(best_size(pairs, "1se"))
    refusal(predict(fit))
    refusal(predict(fit, x, size = 7))
    refusal(predict(fit, x, type = "class"))
    refusal(predict(fit, x, type = "prob"))
    refusal(predict(fit, x[, "MYC", drop = FALSE], size = 2))
    refusal(predict(fit, unname(x[, 1:2]), size = 2))
    refusal(predict(fit, x[1, ]))
    refusal(predict(fit, NULL))
    refusal(predict(fit, data.frame(TP53 = "high", KRAS = 1), size = 2))
    refusal(predict(fit, x, adjust = 1:6))
    refusal(residuals(fit, "deviance"))
  })
})

test_that("warnings about new rows", {
  fit <- bare_rls(x, sick, k = 1, lambda = 1)
  hole <- replace(x, cbind(2, match(selected(fit, 1), colnames(x))), NA)
  expect_snapshot({
    predict(fit, hole, size = 1)
    predict(fit, hole, size = 1, type = "class")
  })
})

test_that("choices that are no words", {
  fit <- bare_rls(x, y, k = 2, lambda = 1)
  s4 <- methods::getClass("numeric")
  expect_snapshot({
    refusal(residuals(fit, type = sum))
    refusal(residuals(fit, type = globalenv()))
    refusal(residuals(fit, type = s4))
    refusal(residuals(fit, type = quote(response)))
    refusal(predict(fit, x, type = data.frame()))
    refusal(predict(fit, x, type = c("class", "response")))
    refusal(greedy_rls(x, y, size = function(x) x))
    refusal(omp(x, y, size = list("cv")))
    refusal(greedy_rls(x, y, search = s4))
    refusal(cross_validate(x, y, rls, baselines = sum))
    refusal(cross_validate(x, y, rls, measure = s4))
    refusal(cross_validate(x, y, rls, measure = 1:3))
  })
})

test_that("a fit, an object or a size that is none", {
  fit <- bare_rls(x, y, k = 2, lambda = 1)
  system <- scdp(A = crossprod(x), b = drop(crossprod(x, y)), k = 2)
  expect_snapshot({
    refusal(selected(1))
    refusal(selected())
    refusal(best_size(1))
    refusal(best_size(rls(x, y)))
    refusal(best_size())
    refusal(exclude())
    refusal(fitted(fit, size = "all"))
    refusal(fitted(fit, size = NA))
    refusal(fitted(fit, size = list(1)))
    refusal(coef(system, size = "cv"))
    refusal(print(fit, n = sum))
    refusal(print(fit, n = -1))
    refusal(print(system, n = "all"))
  })
  expect_length(grep("^ +[0-9]+ ", capture.output(print(fit, n = Inf))), nrow(fit$path))
})

test_that("arguments that are not given", {
  expect_snapshot({
    refusal(as_problem())
    refusal(greedy_rls(y = y))
    refusal(rls())
    refusal(cross_validate())
    refusal(make_folds())
    refusal(safe_screen(y = y, lambda = 1))
    refusal(select_basis(n = 2))
    refusal(select_basis(x))
    refusal(nystrom_features(x))
    refusal(holdout())
    refusal(best_lambda())
    refusal(lars_path(b = y))
    refusal(matching_pursuit(diag(3)))
  })
})

test_that("methods that are none, and fits without models", {
  empty <- function(x) structure(list(), class = c("sparse_fit", "sparsels_fit"))
  emptied <- function(x) structure(list(), class = c("kernel_fit", "sparsels_fit"))
  hollow <- function(x, k) {
    structure(list(path = data.frame()), class = c("sparse_fit", "sparsels_fit"))
  }
  expect_snapshot({
    refusal(cross_validate(x, y, function() 1, outer = 3))
    refusal(cross_validate(x, y, method = "omp", outer = 3))
    refusal(cross_validate(x, y, empty, outer = 3))
    refusal(cross_validate(x, y, emptied, outer = 3))
    refusal(compare_methods(x, y, methods = list(one = function() 1), test = 0.4))
    refusal(compare_methods(x, y, methods = list(hollow = hollow), k = 1, test = 0.4))
  })
})

test_that("an argument of a method that is an expression is not evaluated", {
  set.seed(38)
  fit <- cross_validate(x, y, omp, k = 1, lambda = 1, outer = 3)
  expect_error(selected(fit, lambda = quote(no_such_thing)), class = "sparsels_error")
  expect_error(cross_validate(x, y, rls, lambda = quote(no_such_thing), outer = 3),
               "`lambda` must be NULL or positive", class = "sparsels_error_argument")
})
