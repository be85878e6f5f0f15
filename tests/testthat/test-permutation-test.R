# p-values of the whole selection against a loop written down, and where nothing is true.

made <- function(m = 30, n = 40, signal = 0) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  list(x = x, y = signal * x[, 3] + rnorm(m))
}

# the orders that permutation_test() draws after set.seed(seed)
drawn_orders <- function(seed, count, m, strata = NULL) {
  set.seed(seed)
  lapply(task_streams(count), function(stream) with_stream(stream, permuted_rows(strata, m)))
}

relative <- function(fit) min(fit$path$criterion) / fit$path$criterion[1]

test_that("the p-value is that of a loop over problems made anew", {
  set.seed(1)
  data <- made(signal = 0.7)
  w <- runif(30, 0.5, 2)
  set.seed(5)
  tested <- permutation_test(data$x, data$y, greedy_rls, weights = w, k = 4, lambda = 3,
                             permutations = 20)
  by_hand <- vapply(drawn_orders(5, 20, 30), function(order) {
    relative(greedy_rls(data$x, data$y[order], weights = w[order], k = 4, lambda = 3,
                        size = "criterion", refit = FALSE))
  }, 0)
  expect_equal(tested$null, by_hand, tolerance = 1e-12)
  own <- greedy_rls(data$x, data$y, weights = w, k = 4, lambda = 3, size = "criterion",
                    refit = FALSE)
  expect_equal(tested$statistic, relative(own), tolerance = 1e-12)
  expect_identical(tested$p.value, (1 + sum(by_hand <= relative(own))) / 21)
  expect_identical(dim(tested$null_by_size), c(20L, 5L))
  expect_equal(tested$by_size$p.value[1], 1)
  for (s in 2:5) {
    as_small <- tested$null_by_size[, s] <= tested$by_size$statistic[s]
    expect_equal(tested$by_size$p.value[s], (1 + sum(as_small)) / 21)
  }
})

test_that("strata keep their responses, and covariates their effect", {
  set.seed(2)
  data <- made()
  strata <- rep(c("a", "b", "c"), c(5, 15, 10))
  orders <- drawn_orders(3, 10, 30, match(strata, unique(strata)))
  for (order in orders) expect_identical(strata[order], strata)
  expect_true(all(vapply(orders, function(order) identical(sort(order), 1:30), NA)))
  set.seed(3)
  tested <- permutation_test(data$x, data$y, greedy_rls, strata = strata, k = 2, permutations = 10)
  by_hand <- vapply(orders, function(order) {
    relative(greedy_rls(data$x, data$y[order], k = 2, size = "criterion", refit = FALSE))
  }, 0)
  expect_equal(tested$null, by_hand, tolerance = 1e-12)

  age <- rnorm(30)
  y <- data$y + 4 * age
  set.seed(4)
  adjusted <- permutation_test(data$x, y, greedy_rls, adjust = age, k = 2, permutations = 10)
  null <- lm(y ~ age)
  by_hand <- vapply(drawn_orders(4, 10, 30), function(order) {
    moved <- fitted(null) + residuals(null)[order]
    relative(greedy_rls(data$x, moved, adjust = age, k = 2, size = "criterion", refit = FALSE))
  }, 0)
  expect_equal(adjusted$null, by_hand, tolerance = 1e-10)
})

test_that("where nothing is true p-values are uniform", {
  skip_on_cran()
  set.seed(6)
  p <- replicate(120, {
    data <- made(24, 30)
    permutation_test(data$x, data$y, greedy_rls, k = 3, permutations = 9)$p.value
  })
  # every tenth is as likely: the mean is 0.55, its standard error 0.026
  expect_lt(abs(mean(p) - 0.55), 0.08)
  expect_lt(mean(p <= 0.1), 0.19)
  expect_gt(mean(p <= 0.5), 0.36)
})

test_that("a signal is found, by any method with a path, and the seed decides", {
  set.seed(7)
  data <- made(signal = 2)
  for (method in list(greedy_rls, forward_regression, omp)) {
    set.seed(8)
    one <- permutation_test(data$x, data$y, method, k = 3, permutations = 19)
    expect_identical(one$p.value, 1 / 20)
    set.seed(8)
    again <- permutation_test(data$x, data$y, method, k = 3, permutations = 19)
    expect_identical(one$null, again$null)
  }
  lasso <- permutation_test(data$x, data$y, l1_path, folds = 5, permutations = 9)
  expect_identical(lasso$p.value, 1 / 10)
  classes <- factor(data$y > 0)
  auc <- permutation_test(data$x, classes, greedy_rls, criterion = "auc", folds = 5, k = 2,
                          permutations = 19)
  expect_identical(auc$p.value, 1 / 20)
  own <- function(y, prediction, fold) mean(sign(y) == sign(prediction))
  attr(own, "better") <- "higher"
  gain <- permutation_test(data$x, classes, greedy_rls, criterion = own, folds = 5, k = 2,
                           permutations = 9)
  expect_lt(gain$statistic, 0)
})

test_that("Ctrl-C keeps the permutations done", {
  set.seed(9)
  data <- made()
  count <- 0
  stops <- function(problem, k = 2) {
    count <<- count + 1
    if (count == 5) raise_interrupt()
    greedy_rls(problem, k = k, lambda = 1, size = "criterion")
  }
  expect_warning(tested <- permutation_test(data$x, data$y, stops, permutations = 50),
                 class = "sparsels_interrupted")
  expect_length(tested$null, 3)
  expect_identical(tested$status, "interrupted")
})

test_that("what is printed, drawn and refused", {
  set.seed(10)
  data <- made(signal = 1)
  tested <- permutation_test(data$x, data$y, greedy_rls, k = 3, permutations = 19)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(tested, main = "a title"), tested$by_size)
  expect_identical(generics::tidy(tested), tested$by_size)
  expect_identical(generics::glance(tested)$p.value, tested$p.value)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(tested)), "ggplot_built")
  expect_snapshot({
    print(tested)
    refusal(permutation_test(data$x, data$y))
    refusal(permutation_test(data$x, data$y, rls))
    refusal(permutation_test(data$x, data$y, greedy_rls, permutations = 0))
    refusal(permutation_test(data$x, data$y, greedy_rls, strata = 1:3))
    refusal(permutation_test(data$x, data$y > 0, greedy_rls, adjust = 1:30))
    refusal(permutation_test(data$x, data$y, greedy_rls, size = "none"))
  })
})
