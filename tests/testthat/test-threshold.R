# Thresholds of the probability of the second class.

set.seed(1)
m <- 90
x <- matrix(rnorm(m * 6), m, dimnames = list(NULL, paste0("g", 1:6)))
class <- factor(ifelse(x[, 1] - x[, 4] + rnorm(m) > 1, "ill", "well"), c("well", "ill"))
cases <- rep(c(1, 2, 0.5, 0, 1, 3), m / 6)
fit <- bare_rls(x, class, k = 2, weights = cases)
p <- augment(fit)$.pred_ill

# sensitivity, specificity and mean cost, row by row
oracle_errors <- function(threshold, p, event, weights, cost = c(1, 1)) {
  said <- p > threshold
  c(sum((weights * said)[event]) / sum(weights[event]),
    sum((weights * !said)[!event]) / sum(weights[!event]),
    sum(weights * ifelse(event, cost[2] * !said, cost[1] * said)) / sum(weights))
}

test_that("a given threshold has the errors of the rows held out", {
  for (threshold in c(0, 0.1, 0.5, p[7], 1)) {
    found <- choose_threshold(fit, event = "ill", cost = c(false_negative = 4, false_positive = 1),
                              threshold = threshold)
    expect_equal(unlist(found[2:4], use.names = FALSE),
                 oracle_errors(threshold, p, class == "ill", cases, c(1, 4)))
    expect_identical(found$threshold, threshold)
  }
})

test_that("the threshold of costs is their ratio", {
  for (cost in list(c(1, 1), c(1, 5), c(7, 1), c(1, 0), c(0, 1))) {
    found <- choose_threshold(fit, c(false_positive = cost[1], false_negative = cost[2]),
                              event = "ill")
    expect_identical(found$threshold, cost[1] / sum(cost))
    expect_equal(unlist(found[2:4], use.names = FALSE),
                 oracle_errors(found$threshold, p, class == "ill", cases, cost))
  }
})

test_that("no larger threshold has the sensitivity wanted", {
  every <- c(0, sort(p) + 1e-9)
  of <- function(part) {
    sapply(every, function(one) oracle_errors(one, p, class == "ill", cases)[part])
  }
  for (sensitivity in c(0, 0.5, 0.8, 0.95, 1)) {
    found <- choose_threshold(fit, event = "ill", sensitivity = sensitivity)
    enough <- every[of(1) >= sensitivity - 1e-12]
    expect_true(found$sensitivity >= sensitivity - 1e-12)
    expect_equal(found$specificity, max(of(2)[every %in% enough]))
  }
})

test_that("predict() takes a number or what choose_threshold() gives", {
  said <- function(...) predict(fit, x, type = "class", ...)
  new <- predict(fit, x, type = "prob")[, "ill"]
  expect_identical(unname(said(threshold = 0.3)), factor(ifelse(new > 0.3, "ill", "well"),
                                                         c("well", "ill")))
  chosen <- choose_threshold(fit, event = "ill", sensitivity = 0.9, calibration = "isotonic")
  expect_identical(said(threshold = chosen),
                   said(threshold = chosen$threshold, calibration = "isotonic"))
  expect_identical(levels(said(threshold = 1)), c("well", "ill"))
  expect_true(all(said(threshold = 1) == "well"))

  cv <- cross_validate(x, class, bare_rls, k = 2, outer = 4, baselines = NULL)
  chosen <- choose_threshold(cv, event = "ill", sensitivity = 0.9)
  out <- augment(cv)
  expect_equal(unlist(chosen[2:4], use.names = FALSE),
               oracle_errors(chosen$threshold, out$.pred_ill, class == "ill", rep(1, m)))
  expect_identical(predict(cv, x, type = "class", threshold = chosen),
                   predict(cv, x, type = "class", threshold = chosen$threshold))
})

test_that("yardstick finds the same sensitivity and specificity", {
  skip_if_not_installed("yardstick")
  plain <- bare_rls(x, class, k = 2)
  held_out <- augment(plain)
  chosen <- choose_threshold(plain, event = "ill", sensitivity = 0.8)
  said <- factor(ifelse(held_out$.pred_ill > chosen$threshold, "ill", "well"), levels(class))
  expect_equal(chosen$sensitivity, yardstick::sens_vec(class, said, event_level = "second"))
  expect_equal(chosen$specificity, yardstick::spec_vec(class, said, event_level = "second"))
})

test_that("arguments that do not suit are refused", {
  kinds <- rls(x, factor(rep(c("a", "b", "c"), 30)))
  new <- x[1:3, ]
  expect_snapshot({
    refusal(choose_threshold())
    refusal(choose_threshold(1))
    refusal(choose_threshold(kinds))
    refusal(choose_threshold(rls(x, x[, 1])))
    refusal(choose_threshold(l1_path(x, class)))
    refusal(choose_threshold(fit, cost = c(1, 2)))
    refusal(choose_threshold(fit, cost = c(false_positive = -1, false_negative = 1)))
    refusal(choose_threshold(fit, event = "ill", sensitivity = 95))
    refusal(choose_threshold(fit, event = "ill", sensitivity = 0.9, threshold = 0.5))
    refusal(choose_threshold(fit, threshold = "half"))
    refusal(predict(fit, new, threshold = 0.5))
    refusal(predict(fit, new, type = "class", threshold = 5))
    refusal(predict(fit, new, type = "class", threshold = 0.5, size = 1))
    refusal(predict(kinds, new, type = "class", threshold = 0.5))
  })
})

test_that("the event is the class that the user names, and is said", {
  cost <- c(false_positive = 1, false_negative = 10)
  expect_message(second <- choose_threshold(fit, cost = cost),
                 "the event (positive class) is 'ill': for 'well' give", fixed = TRUE)
  expect_identical(second, choose_threshold(fit, cost = cost, event = "ill"))
  expect_identical(second, choose_threshold(fit, cost = c(well = 1, ill = 10)))
  first <- choose_threshold(fit, cost = cost, event = "well")
  expect_identical(first, choose_threshold(fit, cost = c(ill = 1, well = 10), event = "well"))
  expect_equal(unlist(first[2:4], use.names = FALSE),
               oracle_errors(first$threshold, 1 - p, class == "well", cases, c(1, 10)))
  expect_identical(first$event, "well")
  # few rows of the event are missed, and all shares are those of the classes predicted
  plain <- bare_rls(x, class, k = 2)
  chosen <- choose_threshold(plain, sensitivity = c(well = 0.95))
  said <- ifelse(augment(plain)$.pred_well > chosen$threshold, "well", "ill")
  expect_equal(chosen$sensitivity, mean(said[class == "well"] == "well"))
  expect_equal(chosen$specificity, mean(said[class == "ill"] == "ill"))
  predicted <- predict(plain, x, type = "class", threshold = chosen)
  expect_identical(as.character(predicted),
                   ifelse(predict(plain, x, type = "prob")[, "well"] > chosen$threshold, "well",
                          "ill"))
  expect_silent(choose_threshold(fit))
  expect_silent(choose_threshold(fit, sensitivity = 0.9, event = "ill"))
  expect_error(choose_threshold(fit, event = "sick"), "`event` must be one of the classes")
  expect_error(choose_threshold(fit, sensitivity = c(ill = 0.9), event = "well"), "is of 'ill'")
})

test_that("levels of an isotonic fit that differ by rounding are one", {
  set.seed(5)
  x <- matrix(rnorm(100), 50)
  class <- factor(x[, 1] + rnorm(50) * 2 > 0)
  weights <- sample(1:3, 50, TRUE)
  fit <- greedy_rls(x, class, k = 1, lambda = 5, size = "criterion", weights = weights)
  chosen <- choose_threshold(fit, sensitivity = 0.05, calibration = "isotonic", event = "TRUE")
  # pool adjacent violators by its minimax formula
  order <- order(fit$held_out)
  w <- weights[order]
  event <- (class == "TRUE")[order]
  mean_of <- function(a, b) sum((w * event)[a:b]) / sum(w[a:b])
  level <- vapply(1:50, function(i) {
    max(vapply(1:i, function(a) min(vapply(i:50, function(b) mean_of(a, b), 0)), 0))
  }, 0)
  each <- sort(unique(round(level, 12)))
  tried <- c(0, (each[-1] + each[-length(each)]) / 2, 1)
  found <- vapply(tried, function(one) sum(w[level > one & event]) / sum(w[event]), 0)
  expect_equal(chosen$threshold, max(tried[found >= 0.05]))
  expect_equal(chosen$sensitivity, found[max(which(found >= 0.05))])
})
