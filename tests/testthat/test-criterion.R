# The criteria: closed forms by hand, and paths against retraining.

#' @srrstats {ML7.11} `tests/testthat/test-criterion.R`, `tests/testthat/test-cross-validate.R`
#' @srrstats {ML7.11a} In part: measures are compared with formulas. Which is better when is in
#'   `bench/`
test_that("leave-one-out ridge with an intercept on four rows, by hand", {
  x <- matrix(c(-1, 1, -1, 1), 4)
  y <- c(0, 2, 2, 4)
  fit <- bare_rls(x, y, k = 1, lambda = 4, standardize = FALSE)
  # empty: row j is predicted by the mean of the others, residual 4/3 (y_j - mean)
  expect_equal(fit$path$squared[1], mean((4 / 3 * (y - 2))^2))
  # beta = x'(y - 2) / (x'x + lambda) = 4 / 8; leverage 1/4 + 1/8; residual (y - f) / (1 - 3/8)
  expect_equal(unname(coef(fit, 1)), c(2, 0.5))
  residual <- (y - 2 - 0.5 * x[, 1]) / (1 - 3 / 8)
  expect_equal(fit$path$squared[2], mean(residual^2))
  expect_equal(fit$path$se[2], sd(residual^2) / 2)
  expect_equal(unname(residuals(fit, "held_out")), residual)
  expect_equal(unname(residuals(fit)), y - 2 - 0.5 * x[, 1])
})

test_that("two folds on four rows, by hand", {
  x <- matrix(c(1, 2, 3, 4), 4)
  y <- c(1, 3, 2, 8)
  fit <- bare_rls(x, y, k = 1, lambda = 5, folds = c(1, 1, 2, 2), intercept = FALSE,
                  standardize = FALSE)
  # trained on rows 3, 4: (6 + 32) / (25 + 5); on rows 1, 2: (1 + 6) / (5 + 5)
  held_out <- c(1, 2) * 38 / 30
  held_out <- c(held_out, c(3, 4) * 7 / 10)
  expect_equal(fit$path$squared[2], mean((y - held_out)^2))
  means <- c(mean((y - held_out)[1:2]^2), mean((y - held_out)[3:4]^2))
  expect_equal(fit$path$se[2], sd(means) / sqrt(2))
  expect_equal(unname(coef(fit, 1)), 45 / 35)
  expect_equal(unname(drop(fit$held_out)), held_out)
})

test_that("weighted leave-one-out on four rows, by hand", {
  x <- matrix(c(1, 2, 2, 4), 4)
  y <- c(1, 1, 3, 5)
  w <- c(1, 2, 1, 0.5)
  fit <- bare_rls(x, y, k = 1, lambda = 2, weights = w, intercept = FALSE, standardize = FALSE)
  held_out <- vapply(1:4, function(j) {
    x[j] * sum((w * x[, 1] * y)[-j]) / (sum((w * x[, 1]^2)[-j]) + 2)
  }, 0)
  expect_equal(fit$path$squared[2], sum(w * (y - held_out)^2) / sum(w))
})

test_that("the error rate counts wrong signs, and a score of zero is the first class", {
  set.seed(45)
  x <- matrix(c(1, 2, 1, -1, -2, 3), 6)
  y <- factor(c("b", "b", "a", "a", "a", "b"))
  fit <- bare_rls(x, y, k = 1, lambda = 1, criterion = "error", intercept = FALSE,
                  standardize = FALSE)
  # without intercept the empty model scores 0: every "b" is wrong
  expect_equal(fit$path$criterion, c(1 / 2, 1 / 6))
  expect_equal(fit$path$error, fit$path$criterion)
  back <- bare_rls(cbind(x, x^2, rnorm(6)), y, k = 1, lambda = 1e-3, intercept = FALSE,
                   search = "backward")
  expect_equal(back$path$error[4], 1 / 2)
})

test_that("AUC within folds on six rows, by hand", {
  x <- matrix(c(1, 2, 3, 3, 0, -1), 6)
  y <- c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE)
  fit <- bare_rls(x, y, k = 1, lambda = 1, folds = c(1, 1, 1, 2, 2, 2), criterion = "auc",
                  intercept = FALSE, standardize = FALSE)
  # an empty model ranks nothing; then rows 1 and 3 against 2: one of two pairs; 4 against 5 and 6:
  # both. Trained on rows 4 to 6 the slope is 4 / 11, on rows 1 to 3 it is 2 / 15: both positive.
  expect_equal(fit$path$criterion, c(0.5, 0.75))
  # fold means 1/2 and 1 with equal weight
  expect_equal(fit$path$se, c(0, 0.25))
  # equal scores count half
  tied <- bare_rls(replace(x, 1, 2), y, k = 1, lambda = 1, folds = c(1, 1, 1, 2, 2, 2),
                   criterion = "auc", intercept = FALSE, standardize = FALSE)
  expect_equal(tied$path$criterion, c(0.5, 0.875))
})

test_that("a model without features ranks nothing, whatever the rounding", {
  set.seed(50)
  for (weights in list(NULL, runif(20, 0.5, 2))) {
    x <- matrix(rnorm(60), 20)
    y <- rep(c("a", "b"), 10)
    for (folds in list("loo", rep(1:4, each = 5))) {
      fit <- bare_rls(x, y, k = 3, lambda = 1, criterion = "auc", folds = folds,
                      weights = weights, search = "backward")
      expect_equal(fit$path$criterion[4], 0.5, tolerance = 1e-12)
      ahead <- bare_rls(x, y, k = 1, lambda = 1, criterion = "auc", folds = folds,
                        weights = weights)
      expect_equal(ahead$path$criterion[1], 0.5, tolerance = 1e-12)
    }
  }
})

test_that("each criterion of a path equals retraining, for every search", {
  set.seed(51)
  names <- c("error", "absolute", "auc")
  for (search in c("forward", "backward", "floating", "forward_backward")) for (name in names) {
    for (kind in 1:3) {
      if (name == "auc" && kind == 1) next
      task <- if (name == "auc") "binary" else c("binary", "three", "two")[kind]
      if (name == "error" && task == "two") task <- "three"
      pb <- random_problem(18, 7, task, weights = kind != 2, covariates = kind == 3)
      folds <- switch(kind, make_folds(pb, "loo"), make_folds(pb, rep_len(1:3, 18)),
                      make_folds(pb, list(rep_len(1:4, 18), rep(1:3, each = 6))))
      fit <- bare_rls(pb, k = 3, lambda = 0.5, folds = folds, criterion = name, search = search)
      start <- if (search == "backward") which(pb$columns$usable) else integer()
      sets <- oracle_sets(fit$path, start)
      exact <- vapply(sets, function(s) oracle_figure(pb, s, 0.5, folds, name), c(0, 0))
      where <- paste(search, name, kind)
      expect_equal(fit$path$criterion, exact["value", ], tolerance = 1e-8, label = where)
      expect_equal(fit$path$se, exact["se", ], tolerance = 1e-8, label = where)
      best <- if (name == "auc") max(exact["value", fit$path$size <= 3]) else
        min(exact["value", fit$path$size <= 3])
      expect_equal(fit$path$criterion[fit$coefficients[[fit$size + 1]]$step + 1], best)
    }
  }
})

test_that("leave-pair-out AUC equals retraining without every pair", {
  set.seed(52)
  for (search in c("forward", "backward", "floating")) for (odd in c(FALSE, TRUE)) {
    pb <- random_problem(11, 6, "binary", weights = odd, covariates = odd)
    fit <- bare_rls(pb, k = 3, lambda = 0.3, criterion = "auc", search = search)
    expect_identical(fit$criterion$label, "leave-pair-out area under the ROC curve")
    start <- if (search == "backward") which(pb$columns$usable) else integer()
    exact <- vapply(oracle_sets(fit$path, start), function(s) oracle_pairs_out(pb, s, 0.3), 0)
    expect_equal(fit$path$criterion, exact, tolerance = 1e-9)
    expect_true(all(is.na(fit$path$se)))
  }
  # each choice is the best of all candidates
  pb <- random_problem(10, 5, "binary")
  fit <- bare_rls(pb, k = 2, lambda = 1, criterion = "auc", keep = 5)
  first <- vapply(1:5, function(i) oracle_pairs_out(pb, i, 1), 0)
  expect_equal(fit$path$criterion[2], max(first))
  others <- fit$alternatives[fit$alternatives$step == 1, ]
  expect_equal(others$criterion, first[others$feature], tolerance = 1e-9)
  wrapper <- wrapper_rls(pb, k = 2, lambda = 1, criterion = "auc")
  expect_equal(wrapper$path$criterion, fit$path$criterion)
  expect_identical(wrapper$path$feature, fit$path$feature)
})

test_that("a function of the user is minimised, or maximised when it says so", {
  set.seed(53)
  pb <- random_problem(14, 6, "two", weights = TRUE)
  worst <- function(y, prediction, fold) max(abs(y - prediction))
  folds <- unequal_folds(pb, 2)
  value <- function(set) {
    mean(apply(folds$ids, 2, function(ids) max(abs(pb$rows$y - oracle_held_out(pb, set, 1, ids)))))
  }
  fit <- bare_rls(pb, k = 3, lambda = 1, folds = folds, criterion = worst, keep = 9)
  sets <- oracle_sets(fit$path)
  expect_equal(fit$path$criterion, vapply(sets, value, 0), tolerance = 1e-9)
  expect_true(all(is.na(fit$path$se)))
  for (step in 1:3) {
    left <- setdiff(which(pb$columns$usable), sets[[step]])
    all <- vapply(left, function(i) value(c(sets[[step]], i)), 0)
    expect_equal(fit$path$criterion[step + 1], min(all))
  }
  better <- structure(function(y, prediction, fold) -max(abs(y - prediction)), better = "higher")
  mirror <- bare_rls(pb, k = 3, lambda = 1, folds = folds, criterion = better, keep = 9)
  expect_identical(mirror$path$feature, fit$path$feature)
  expect_equal(mirror$path$criterion, -fit$path$criterion)
  expect_equal(mirror$alternatives$criterion, -fit$alternatives$criterion)
  expect_true(mirror$criterion$higher)
  expect_identical(mirror$size, fit$size)
  wrapped <- wrapper_rls(pb, k = 3, lambda = 1, folds = folds, criterion = better)
  expect_equal(wrapped$path$criterion, mirror$path$criterion)
})

test_that("a function of the user sees coded vectors and the fold ids", {
  set.seed(54)
  pb <- random_problem(12, 5, "binary")
  ids <- rep(1:3, 4)
  by_fold <- function(y, prediction, fold) {
    stopifnot(is.null(dim(y)), all(y %in% c(-1, 1)), identical(fold, ids))
    mean(tapply((y - prediction)^2, fold, mean))
  }
  fit <- bare_rls(pb, k = 3, lambda = 1, folds = ids, criterion = by_fold)
  plain <- bare_rls(pb, k = 3, lambda = 1, folds = ids)
  expect_equal(fit$path$criterion, plain$path$criterion)
  expect_identical(fit$path$feature, plain$path$feature)
  huge <- function(y, prediction, fold) 1e308
  expect_error(greedy_rls(pb, k = 2, lambda = 1, criterion = huge), "one finite number of at most",
               class = "sparsels_error_input")
  # an error of the function reaches the user
  broken <- function(y, prediction, fold) stop("no such thing")
  expect_error(bare_rls(pb, k = 2, lambda = 1, criterion = broken), "no such thing")
})

# Mean over classes of the weighted error rates of scores (m x L).
class_rates <- function(pb, score) {
  class <- function(values) if (ncol(values) == 1) values[, 1] > 0 else max.col(values)
  wrong <- class(as.matrix(score)) != class(pb$rows$y)
  mean(vapply(split(seq_along(wrong), class(pb$rows$y)), function(rows) {
    stats::weighted.mean(wrong[rows], pb$rows$weight[rows])
  }, 0))
}

test_that("the balanced error is the mean of the classes' error rates, for every search", {
  set.seed(31)
  x <- matrix(rnorm(45 * 8), 45)
  rare <- factor(ifelse(x[, 2] + rnorm(45) > 1.2, "ill", "well"))
  three <- factor(c("a", "b", "c"))[c(rep(1:2, c(6, 9)), rep(3, 30))]
  w <- runif(45, 0.2, 3)
  by_hand <- function(y, prediction, fold) {
    class <- function(values) if (is.matrix(values)) max.col(values) else values > 0
    mean(tapply(class(prediction) != class(y), class(y), mean))
  }
  for (y in list(rare, three)) {
    for (folds in list("loo", make_folds(as_problem(x, y), 5), rep(1:9, 5))) {
      for (search in c("forward", "floating")) {
        given <- function(criterion) {
          bare_rls(x, y, k = 4, lambda = 0.5, folds = folds, search = search, criterion = criterion)
        }
        fit <- given("balanced")
        hand <- given(by_hand)
        expect_identical(fit$path$feature, hand$path$feature)
        expect_equal(fit$path$criterion, hand$path$criterion)
      }
      weighted <- bare_rls(x, y, k = 4, lambda = 0.5, folds = folds, weights = w,
                           criterion = "balanced")
      pb <- as_problem(x, y, weights = w)
      expect_equal(weighted$path$criterion[weighted$coefficients[[weighted$size + 1]]$step + 1],
                   class_rates(pb, weighted$held_out))
    }
  }
})

test_that("a rare class is not given up for a small error rate", {
  set.seed(32)
  x <- matrix(rnorm(200 * 10), 200)
  ill <- factor(ifelse(x[, 4] + rnorm(200) > 2, "ill", "well"))
  rate <- bare_rls(x, ill, k = 1, lambda = 1, criterion = "error")
  balanced <- bare_rls(x, ill, k = 1, lambda = 1, criterion = "balanced")
  expect_identical(selected(balanced, 1), "V4")
  expect_lt(min(rate$path$criterion), 0.2) # nobody is ill
  expect_equal(rate$path$criterion[1], mean(ill == "ill"))
  expect_equal(balanced$path$criterion[1], 0.5)
  sized <- greedy_rls(x, ill, k = 3, lambda = 1, criterion = "balanced", size_folds = 5)
  expect_match(sized$criterion$label, "balanced error rate")
  expect_true(all(is.finite(sized$path$cv)))
})

test_that("losses of rows and pairs: ties, missing scores, several responses, what fits together", {
  x <- matrix(1:6, 3)
  pb <- as_problem(x, factor(c("a", "b", "b")))
  score <- matrix(c(5e-11, NA, 2e-10)) # below the tie: class "a"
  expect_identical(row_losses(pb, "error", pb$rows$y - score), c(0, NA, 0))
  expect_identical(row_losses(pb, "balanced", pb$rows$y - score), c(0, NA, 0))
  expect_equal(row_losses(pb, "squared", pb$rows$y - score), c(1, NA, 1))
  two <- as_problem(x, cbind(c(1, 2, 4), c(1, 0, 3)))
  residual <- matrix(c(1, -2, 0, 3, 0, -5), 3)
  expect_equal(row_losses(two, "squared", residual), c(5, 2, 12.5))
  expect_equal(row_losses(two, "absolute", residual), c(2, 1, 2.5))
  # sums over the rows by their weights, of two models
  two$rows$weight <- c(2, 0, 0.5)
  models <- array(c(residual, 2 * residual), c(3, 2, 2))
  expect_equal(row_sums(two, list(name = "squared"), models),
               rbind(c(2 * 5 + 0.5 * 12.5, 4 * (2 * 5 + 0.5 * 12.5)), 2.5))
  expect_equal(row_sums(two, list(name = "absolute"), models)[1, ], c(5.25, 10.5))
  expect_identical(is.na(row_sums(two, list(name = "squared"), replace(models, 8, NA))[1, ]),
                   c(FALSE, TRUE))
  expect_equal(pair_losses(c(1, 0, 5e-11, NA), c(0, 1, 0, 1)), c(0, 1, 0.5, NA))
  # rows 2 and 3 against 1; without both classes there is no pair
  pb$rows$weight <- c(1, 2, 0)
  expect_equal(right_pairs(1:3, pb, cbind(c(0, 1, 2))), c(2, 2))
  expect_equal(right_pairs(2:3, pb, cbind(c(0, 1, 2))), c(0, 0))
  expect_error(row_losses(pb, "auc", pb$rows$y), "internal")
  expect_error(row_losses(pb, "none", pb$rows$y), "internal")
  expect_error(row_losses(pb, "squared", pb$rows$y[-1L, , drop = FALSE]), "internal")
  expect_error(pair_losses(1, c(1, 2)), "internal")
})
