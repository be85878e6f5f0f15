# float_matrix(): columns of single precision, read in place

example_floats <- function() {
  set.seed(51)
  x <- matrix(rnorm(40 * 30), 40, dimnames = list(NULL, paste0("g", 1:30)))
  list(x = x, floats = float_matrix(x), y = x[, 3] - x[, 7] + rnorm(40))
}

test_that("values are those of single precision, and a matrix again", {
  d <- example_floats()
  back <- as.matrix(d$floats)
  expect_identical(dimnames(back), dimnames(d$x))
  expect_lte(max(abs(back / d$x - 1)), 2^-24)
  expect_identical(as.matrix(float_matrix(back)), back) # already single
  expect_identical(d$floats[c(2, 5), c("g3", "g1")], back[c(2, 5), c("g3", "g1")])
  expect_identical(d$floats[-1, 4], back[-1, 4])
  expect_identical(d$floats[, 2:3, drop = FALSE], back[, 2:3])
  expect_identical(d$floats[, integer(), drop = FALSE], back[, integer(), drop = FALSE])
  expect_identical(dim(d$floats), c(40L, 30L))
  expect_identical(as.matrix(float_matrix(matrix(1:6, 2))), matrix(as.double(1:6), 2))
  expect_identical(length(d$floats$bytes), 4L * 1200L)
})

test_that("every method gives what it gives for the same values as doubles", {
  d <- example_floats()
  back <- as.matrix(d$floats)
  g <- factor(d$y > 0)
  w <- runif(40, 0.5, 2)
  age <- rnorm(40)
  gaussian <- kernel_gaussian(0.1)
  fits <- list(
    function(x) greedy_rls(x, d$y, k = 6, lambda = 1, weights = w, size = "criterion"),
    function(x) greedy_rls(x, g, k = 4, lambda = 1, adjust = age, folds = rep(1:4, 10), size = 3),
    function(x) greedy_rls(x, d$y, k = 4, lambda = 1, search = "floating", size = "criterion"),
    function(x) l1_path(x, d$y, adjust = cbind(age)),
    function(x) l1_path(x, g, loss = "logistic", nlambda = 20),
    function(x) l1_path(x, g, loss = "hinge", nlambda = 20),
    function(x) l1_path(x, d$y, solver = "ipm", nlambda = 5),
    function(x) rls(x, d$y), function(x) kernel_rls(x, d$y, kernel = gaussian),
    function(x) forward_regression(x, d$y, k = 3), function(x) best_subset(x, d$y, k = 2),
    function(x) rfe(x, d$y, k = 3), function(x) scdp(x, d$y, k = 3, lambda = 1),
    function(x) lssvm(x, g, kernel = gaussian, gamma = 1)
  )
  for (fit in fits) {
    single <- fit(d$floats)
    double <- fit(back)
    expect_identical(single$path, double$path)
    expect_identical(coef(single), coef(double))
  }
  kept <- function(x) safe_screen(x, d$y, lambda = 5)$keep
  expect_identical(kept(d$floats), kept(back))
  fit <- greedy_rls(d$floats, d$y, k = 3, lambda = 1, size = 2)
  expect_equal(predict(fit, d$floats), predict(fit, back))
  some <- as_problem(d$floats, d$y)[1:20, 2:9]
  expect_equal(some$columns$centre, unname(colMeans(back[1:20, 2:9])))
})

test_that("threads change nothing", {
  d <- example_floats()
  one <- greedy_rls(d$floats, d$y, k = 6, lambda = 1, size = "criterion", threads = 1)
  two <- greedy_rls(d$floats, d$y, k = 6, lambda = 1, size = "criterion", threads = 2)
  expect_identical(one$path, two$path)
})

test_that("what is no such matrix is refused", {
  d <- example_floats()
  damaged <- d$floats
  damaged$bytes <- damaged$bytes[-1]
  gap <- d$x
  gap[3, 2] <- NA
  expect_snapshot({
    d$floats
    refusal(float_matrix(1:3))
    refusal(float_matrix(matrix("a")))
    refusal(float_matrix(matrix(1e39)))
    refusal(d$floats[3])
    refusal(d$floats[, "g31"])
    refusal(as_problem(damaged, d$y))
    refusal(as_problem(float_matrix(gap), d$y))
  })
})

test_that("functions of R that cannot compute with a matrix in place say what to do", {
  x <- example_floats()$floats
  uses <- list(function(x) x + 1, function(x) 2 * x, function(x) -x, log2, sum, range, t, mean)
  for (use in uses) {
    expect_error(use(x), "as.matrix\\(\\) makes a matrix in memory", class = "sparsels_error_input")
  }
})
