some_columns <- function() {
  set.seed(51)
  x <- matrix(rnorm(30 * 12), 30, dimnames = list(NULL, paste0("g", 1:12)))
  x[, 6] <- 2
  list(x = x, y = x[, 2] - x[, 4] + rnorm(30), age = rnorm(30))
}

test_that("columns are ranked by their correlation with a numeric response", {
  d <- some_columns()
  data <- withVisible(plot(as_problem(d$x, d$y)))
  expect_false(data$visible)
  data <- data$value
  r <- stats::cor(d$x[, -6], d$y)[, 1]
  expect_identical(data$name, names(sort(abs(r), decreasing = TRUE)))
  expect_equal(data$association, unname(r[data$name]))
  expect_identical(data$feature, match(data$name, colnames(d$x)))
  # of no association, the distribution of cor.test()
  t <- abs(data$expected) * sqrt(28 / (1 - data$expected^2))
  expect_equal(2 * stats::pt(-t, 28), (1:11 - 0.5) / 11)
})

test_that("covariates and weights enter the correlation", {
  d <- some_columns()
  w <- c(runif(29, 0.5, 2), 0)
  data <- plot(as_problem(d$x, d$y, adjust = cbind(age = d$age), weights = w))
  residual <- function(v) stats::resid(stats::lm(v ~ d$age, weights = w))
  partial <- function(j) {
    a <- residual(d$x[, j])
    b <- residual(d$y)
    sum(w * a * b) / sqrt(sum(w * a^2) * sum(w * b^2))
  }
  expect_equal(data$association, vapply(data$feature, partial, 0))
})

test_that("two classes are compared in standard deviations, more by the correlation ratio", {
  d <- some_columns()
  ill <- factor(ifelse(d$y > 0.3, "ill", "well"))
  data <- plot(as_problem(d$x, ill))
  cohen <- function(j) {
    test <- stats::t.test(d$x[ill == "well", j], d$x[ill == "ill", j], var.equal = TRUE)
    test$statistic[[1]] * sqrt(sum(1 / table(ill)))
  }
  expect_equal(data$association, vapply(data$feature, cohen, 0))
  stage <- cut(d$y, 3, c("a", "b", "c"))
  data <- plot(as_problem(d$x, stage))
  eta <- function(j) sqrt(summary(stats::lm(d$x[, j] ~ stage))$r.squared)
  expect_equal(data$association, vapply(data$feature, eta, 0))
  ratio <- data$expected^2 / 2 / ((1 - data$expected^2) / 27)
  expect_equal(stats::pf(ratio, 2, 27, lower.tail = FALSE), (1:11 - 0.5) / 11)
})

test_that("of several responses the largest correlation counts", {
  d <- some_columns()
  Y <- cbind(a = d$y, b = d$age)
  data <- plot(as_problem(d$x, Y), main = "mine", labels = 0)
  r <- stats::cor(d$x[, data$feature], Y)
  expect_equal(data$association, unname(ifelse(abs(r[, 1]) > abs(r[, 2]), r[, 1], r[, 2])))
  expect_true(all(is.na(data$expected)))
})

test_that("problems of any size are drawn, also with ggplot2", {
  d <- some_columns()
  many <- matrix(rnorm(20 * 3000), 20)
  problems <- list(
    as_problem(d$x[, 1, drop = FALSE], d$y), as_problem(d$x[1:3, ], d$y[1:3]),
    as_problem(methods::as(d$x * (d$x > 0), "CsparseMatrix"), d$y > 0),
    as_problem(many, rnorm(20)), as_problem(cbind(d$y, d$age), d$y), as_problem(d$x, d$x[, 1:2])
  )
  for (pb in problems) {
    data <- expect_silent(plot(pb))
    expect_identical(data$rank, seq_len(sum(pb$columns$usable)))
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      expect_silent(print(ggplot2::autoplot(pb)))
    }
  }
  expect_error(plot(problems[[1]], labels = -1), class = "sparsels_error_argument")
  fit <- rls(problems[[1]], lambda = 1)
  expect_error(plot(fit$problem), "no data matrix", class = "sparsels_error_input")
})

test_that("summary() of a problem describes its data", {
  d <- some_columns()
  ill <- factor(ifelse(d$y > 0.3, "ill", "well"))
  classes <- as_problem(d$x, ill, adjust = cbind(age = d$age))
  numbers <- as_problem(3 * d$x, d$y, weights = rep(1:2, 15), intercept = FALSE)
  made <- summary(classes)
  expect_identical(made$response_table$rows, as.vector(table(ill)))
  expect_identical(made$result$columns$name[!made$result$columns$usable], "g6")
  expect_identical(made$strongest, utils::head(ranked_columns(classes), 5L))
  spread <- apply(d$x[, -6], 2, function(v) sqrt(mean((v - mean(v))^2)))
  expect_equal(made$scale, stats::quantile(spread))
  expect_identical(summary(rls(classes, lambda = 1)$problem)$strongest, NULL)
  expect_error(summary(classes, 1), class = "sparsels_error_input")
  expect_snapshot({
    summary(classes)
    summary(numbers)
    summary(as_problem(d$x, cbind(a = d$y, b = d$age)))
  })
})
