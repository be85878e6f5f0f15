# The forms in which covariates are given.

example_batches <- function() {
  set.seed(1)
  d <- data.frame(batch = rep(c("a", "b"), 20), age = runif(40), site = factor(rep(1:4, 10)))
  list(x = matrix(rnorm(40 * 5), 40), y = rnorm(40), d = d)
}

test_that("a vector of classes is a factor", {
  e <- example_batches()
  wanted <- as.double(e$d$batch == "b")
  for (batch in list(e$d$batch, factor(e$d$batch), e$d$batch == "b")) {
    p <- as_problem(e$x, e$y, adjust = batch)
    expect_equal(p$z[, 2], wanted)
    fit <- rls(p, lambda = 1)
    expect_equal(predict(fit, e$x, adjust = batch), fitted(fit), ignore_attr = TRUE)
  }
})

test_that("names of columns are covariates", {
  e <- example_batches()
  wanted <- as_problem(e$x, e$y, adjust = ~ age + site, data = e$d)$z
  expect_equal(as_problem(e$x, e$y, adjust = c("age", "site"), data = e$d)$z, wanted)
  d <- data.frame(e$x, e$d)
  p <- as_problem(d, e$y, adjust = c("age", "site"))
  expect_equal(p$z, wanted)
  expect_false(any(c("age", "site2") %in% p$columns$name))
  d$y <- e$y
  p <- as_problem(y ~ ., d, adjust = c("age", "site"))
  expect_equal(p$z, wanted)
  expect_false("age" %in% p$columns$name)
  fit <- rls(p, lambda = 1)
  expect_equal(predict(fit, d), fitted(fit), ignore_attr = TRUE)
  expect_error(as_problem(e$x, e$y, adjust = "height", data = e$d),
               "'height', which is not a column of the data: they have 'batch', 'age', 'site'")
  expect_error(as_problem(e$x, e$y, adjust = "height"), "there is no `data` with such a column")
})

test_that("levels without a row are dropped", {
  e <- example_batches()
  used <- e$d$site != "4"
  d <- e$d[used, ]
  for (p in list(as_problem(e$x[used, ], e$y[used], adjust = ~ site, data = d),
                 as_problem(e$x[used, ], e$y[used], adjust = d["site"]),
                 as_problem(e$x[used, ], e$y[used], adjust = d$site))) {
    expect_equal(unname(p$z), unname(model.matrix(~ factor(d$site))), ignore_attr = TRUE)
  }
  p <- as_problem(e$x[used, ], e$y[used], adjust = ~ site * age, data = d)
  expect_identical(ncol(p$z), 6L)
})

test_that("numbers of few values give a message", {
  e <- example_batches()
  d <- data.frame(b = rep(1:4, 10), two = rep(0:1, 20), age = e$d$age)
  expect_message(as_problem(e$x, e$y, adjust = ~ b, data = d),
                 "'b' is numeric \\(4 values: 1, 2, 3, 4\\), so one slope is assumed",
                 class = "sparsels_message_codes")
  expect_message(as_problem(e$x, e$y, adjust = d$b), class = "sparsels_message_codes")
  expect_no_message(as_problem(e$x, e$y, adjust = ~ two + age, data = d))
  expect_no_message(as_problem(e$x, e$y, adjust = ~ age + factor(b), data = d))
})

test_that("a DataFrame of Bioconductor is a data frame", {
  skip_if_not_installed("S4Vectors")
  e <- example_batches()
  D <- S4Vectors::DataFrame(e$d)
  wanted <- as_problem(e$x, e$y, adjust = ~ age + site, data = e$d)$z
  expect_equal(as_problem(e$x, e$y, adjust = ~ age + site, data = D)$z, wanted)
  expect_equal(as_problem(e$x, e$y, adjust = D[, c("age", "site")])$z, wanted)
  expect_equal(as_problem(D, e$y)$columns$name, as_problem(e$d, e$y)$columns$name)
  expect_equal(as_problem(e$x, D["age"])$rows$y, as_problem(e$x, e$d$age)$rows$y)
  D$y <- e$y
  fit <- rls(y ~ age + site, D, lambda = 1)
  expect_equal(predict(fit, D), fitted(fit), ignore_attr = TRUE)
  expect_identical(make_folds(D, 2, groups = "batch")$groups, rep(1:2, 20))
})

test_that("a column that scale() has made is a variable", {
  e <- example_batches()
  d <- data.frame(a = e$d$age, b = e$y)
  d$a <- scale(d$a)
  p <- as_problem(d, e$y)
  expect_equal(p$x[, "a"], as.vector(scale(e$d$age)))
  expect_equal(as_problem(e$x, e$y, adjust = d["a"])$z[, 2], as.vector(scale(e$d$age)))
})

test_that("a covariate without a name is matched by its place in new rows", {
  set.seed(6)
  x <- matrix(rnorm(80), 20)
  age <- rnorm(20)
  site <- rep(c("a", "b"), 10)
  for (given in list(age, factor(site), cbind(age, 2 * age^2))) {
    if (is.matrix(given)) colnames(given) <- NULL
    fit <- rls(x, x[, 1] + age, adjust = given, lambda = 1)
    named <- as.data.frame(given)
    names(named) <- paste0("z", seq_along(named))
    expect_equal(predict(fit, x, adjust = named), fitted(fit))
    if (is.numeric(given)) expect_equal(predict(fit, x, adjust = as.matrix(named)), fitted(fit))
  }
  # names on both sides are compared
  fit <- rls(x, x[, 1] + age, adjust = cbind(age, size = age^2), lambda = 1)
  expect_equal(predict(fit, x, adjust = data.frame(size = age^2, age)), fitted(fit))
  expect_equal(predict(fit, x, adjust = unname(cbind(age, age^2))), fitted(fit))
  expect_error(predict(fit, x, adjust = data.frame(age, b = age)), "columns 'age', 'size', each",
               class = "sparsels_error_newdata")
  expect_error(predict(fit, x, adjust = data.frame(age, size = site)), "not a character matrix",
               class = "sparsels_error_input")
})
