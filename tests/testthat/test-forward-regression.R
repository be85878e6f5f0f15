# forward_regression(), omp() and foba() against fitting every candidate anew.

# problems of all kinds, 15 x 9 with a duplicated and a constant column
greedy_cases <- function() {
  random_cover(12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
               covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
               intercept = c(TRUE, TRUE, FALSE),
               standardize = c(TRUE, FALSE), lambda = c(0, 0.3, 20))
}

case_problem <- function(case, m = 15, n = 9, ...) {
  do.call(random_problem, c(list(m, n), case[setdiff(names(case), "lambda")], ...))
}

expect_errors_of <- function(fit, pb) {
  sets <- oracle_sets(fit$path)
  gain <- vapply(sets, function(set) oracle_gain(pb, set, fit$lambda), 0)
  expect_equal(fit$path$criterion, gain, tolerance = 1e-9)
  folds <- make_folds(pb, "loo")
  exact <- vapply(sets, function(set) oracle_squared(pb, set, fit$lambda, folds), 0)
  expect_equal(fit$path$squared, exact, tolerance = 1e-8)
  model <- fit$coefficients[[fit$size + 1]]
  exact <- oracle_ridge(pb, model$features, fit$lambda)$B
  expect_lt(relative_error(model$beta * pb$columns$scale[model$features], exact), 1e-8)
}

test_that("forward regression adds what lowers the training error most", {
  set.seed(50)
  cases <- greedy_cases()
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- case_problem(case)
    fit <- forward_regression(pb, k = 6, lambda = case$lambda)
    expect_identical(fit$path$feature[-1], oracle_forward(pb, 6, case$lambda))
    expect_identical(fit$size, 6L)
    expect_errors_of(fit, pb)
  }
})

test_that("matching pursuit adds what is most correlated with the residual", {
  set.seed(51)
  cases <- greedy_cases()
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- case_problem(case)
    fit <- omp(pb, k = 6, lambda = case$lambda)
    expect_identical(fit$path$feature[-1], oracle_omp(pb, 6, case$lambda))
    expect_errors_of(fit, pb)
  }
})

test_that("forward-backward search makes the moves of its rule", {
  set.seed(52)
  cases <- cbind(greedy_cases(), trap = c(TRUE, FALSE))
  dropped <- 0
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- case_problem(case, n = 14, duplicate = FALSE)
    largest <- min(sum(pb$columns$usable), 14 - ncol(pb$z))
    nu <- if (row %% 4 < 2) 0.5 else 0.9
    fit <- foba(pb, k = 3, lambda = case$lambda, nu = nu)
    moves <- oracle_foba(pb, 3, case$lambda, nu, largest)
    expect_identical(signed_moves(fit$path), as.integer(moves))
    dropped <- dropped + sum(moves < 0)
    expect_identical(fit$size, 3L)
    expect_errors_of(fit, pb)
    best <- vapply(fit$coefficients, `[[`, 0L, "step")
    expect_equal(fit$path$criterion[best + 1],
                 as.vector(tapply(fit$path$criterion, fit$path$size, max)))
  }
  expect_gt(dropped, 10)
})

test_that("the criterion is the R-squared of lm()", {
  set.seed(53)
  d <- data.frame(matrix(rnorm(240), 30), age = rnorm(30))
  d$y <- d$X2 - d$X7 + rnorm(30)
  w <- runif(30, 0.5, 2)
  for (method in list(forward_regression, omp, foba, rfe)) {
    fit <- method(y ~ ., data = d[names(d) != "age"], k = 4)
    expect_length(selected(fit), 4)
    exact <- summary(lm(reformulate(selected(fit), "y"), d))
    expect_equal(size_table(fit)$criterion[5], exact$r.squared)
    expect_equal(coef(fit), coef(exact)[, 1])
    fit <- method(y ~ ., data = d, adjust = ~ age, weights = w, k = 3)
    model <- lm(reformulate(c("age", selected(fit)), "y"), d, weights = w)
    rest <- lm(y ~ age, d, weights = w)
    expect_equal(size_table(fit)$criterion[4], 1 - deviance(model) / deviance(rest))
    expect_equal(residuals(fit), residuals(model), ignore_attr = TRUE)
    loo <- residuals(model) / (1 - hatvalues(model))
    expect_equal(residuals(fit, "held_out"), loo, ignore_attr = TRUE)
  }
})

test_that("Proposition 1: forward searches end in a local optimum", {
  set.seed(54)
  d <- example_1(delta = 0.5)
  for (method in list(forward_regression, omp, foba)) {
    fit <- method(d$x, d$y, k = 2)
    expect_setequal(selected(fit, 2, index = TRUE), 1:2)
    expect_equal(size_table(fit)$criterion[3], 2.0009 * 0.25, tolerance = 1e-4)
  }
  pb <- as_problem(d$x, d$y)
  exact <- c(1, 1.0609, 1.0404, 2.0009, 2.0103, 1.4009, 2.3409) * 0.25
  sets <- list(1, 2, 3, 1:2, c(1, 3), 2:3, 1:3)
  gain <- vapply(sets, function(set) oracle_gain(pb, set, 0), 0)
  expect_equal(gain, exact, tolerance = 1e-4)
})

test_that("dependent columns are never added and the path is then shorter", {
  set.seed(55)
  x <- matrix(rnorm(20 * 3), 20)
  x <- cbind(x, x, x[, 1] + x[, 2], 4, 0)
  y <- rnorm(20)
  for (sparse in c(FALSE, TRUE)) {
    if (sparse) x <- methods::as(x, "CsparseMatrix")
    for (method in list(forward_regression, omp, foba)) {
      fit <- method(x, y, k = 6)
      expect_identical(max(fit$path$size), 3L)
      expect_identical(fit$size, 3L)
      expect_true(all(selected(fit, index = TRUE) %in% 1:3 | selected(fit) == "V7"))
      expect_false(anyNA(fit$path$squared))
      # the penalty is a use for a second one
      fit <- method(x, y, k = 6, lambda = 1)
      expect_identical(fit$size, 6L)
      expect_false(any(8:9 %in% fit$path$feature))
      expect_false(anyNA(fit$path$squared) || anyNA(fit$held_out))
    }
  }
})

test_that("a search ends when nothing is left to explain", {
  set.seed(56)
  x <- matrix(rnorm(25 * 8), 25)
  y <- 3 + 2 * x[, 4] - x[, 6]
  for (method in list(forward_regression, omp, foba)) {
    fit <- method(x, y, k = 5)
    expect_setequal(selected(fit, index = TRUE), c(4, 6))
    expect_equal(fit$path$criterion[3], 1)
    expect_equal(unname(coef(fit)[selected(fit)]), c(2, -1)[rank(fit$path$feature[2:3])])
  }
})

test_that("more columns than rows, large means and a response with huge values", {
  set.seed(57)
  pb <- random_problem(12, 30, covariates = TRUE, weights = TRUE)
  fit <- forward_regression(pb, k = 9)
  expect_identical(fit$path$feature[-1], oracle_forward(pb, 9, 0))
  x <- matrix(rnorm(20 * 6), 20)
  y <- x[, 5] - x[, 2] + rnorm(20)
  plain <- forward_regression(x, y, k = 4)
  moved <- forward_regression(1e6 + x, 1e8 * y, k = 4)
  expect_identical(moved$path$feature, plain$path$feature)
  expect_equal(moved$path$criterion, plain$path$criterion, tolerance = 1e-8)
})

test_that("sparse and dense x, matrix, formula and problem agree", {
  set.seed(58)
  pb <- random_problem(30, 40, "two", weights = TRUE, covariates = TRUE, sparse = TRUE)
  dense <- working_copy(pb)
  dense$x <- as.matrix(pb$x)
  for (method in list(forward_regression, omp, foba)) {
    one <- method(pb, k = 8)
    two <- method(dense, k = 8)
    expect_identical(one$path$feature, two$path$feature)
    expect_equal(one$path, two$path)
    expect_equal(one$coefficients, two$coefficients)
  }
  d <- data.frame(y = rnorm(20), a = rnorm(20), b = rnorm(20), c = rnorm(20))
  one <- omp(y ~ ., data = d, k = 2)
  two <- omp(as.matrix(d[-1]), d$y, k = 2)
  expect_identical(one$path, two$path)
  expect_identical(one$problem$coding$response, "y")
})

test_that("the random numbers of the user are left alone", {
  set.seed(59)
  pb <- random_problem(20, 8)
  set.seed(1)
  foba(pb, k = 2)
  rfe(pb, k = 2)
  after <- runif(1)
  set.seed(1)
  expect_identical(runif(1), after)
})

test_that("covariates that a row alone determines are left out by every method alike", {
  set.seed(2)
  x <- matrix(rnorm(100), 25)
  y <- 3 * x[, 1] + rnorm(25)
  alone <- as.numeric(1:25 == 1)
  methods <- list(greedy_rls, forward_regression, omp, foba, rfe, poss, best_subset, scdp)
  for (method in methods) {
    expect_message(fit <- method(x, y, adjust = alone, lambda = 100, k = 2, size = "criterion"),
                   "without 1 of 25 folds \\(first: row 1\\)")
    model <- model_of(fit)
    pb <- as_problem(x, y, adjust = alone)
    exact <- oracle_squared(pb, model$features, 100, make_folds(25, "loo"))
    expect_equal(fit$path$squared[model$step + 1L], exact)
  }
})

test_that("rows of a leverage near 1 are held out by training without them", {
  set.seed(60)
  x <- matrix(rnorm(120), 30)
  indicator <- replace(numeric(30), 3, 5)
  y <- x[, 1] + indicator + rnorm(30)
  for (method in list(forward_regression, omp, foba, rfe, best_subset)) {
    for (weight in 10^c(0, 12)) for (lambda in c(1e-12, 1e-6, 100)) {
      if (weight == 1) x[, 2] <- indicator else x[, 2] <- sin(1:30)
      pb <- as_problem(x, y, weights = replace(rep(1, 30), 7, weight))
      fit <- method(pb, k = 4, lambda = lambda, size = "criterion")
      for (model in fit$coefficients[-1L]) {
        exact <- oracle_squared(pb, model$features, lambda, make_folds(pb, "loo"))
        # without row 3 its column is constant: rounding is divided by lambda
        expect_equal(fit$path$squared[model$step + 1L], exact, tolerance = 1e-9 + 1e-16 / lambda)
      }
    }
  }
})

test_that("fits print, and bad arguments are refused", {
  x <- cbind(TP53 = c(1, 2, 3, 4, 5, 7), MYC = c(2, 1, 2, 1, 9, 3), KRAS = c(0, 0, 1, 0, 1, 1))
  y <- c(1, 3, 2, 5, 4, 6)
  expect_snapshot({
    forward_regression(x, y, k = 2)
    foba(x, y > 3, lambda = 0.5, size = "criterion")
    refusal(omp(x[1:2, ], y[1:2]))
    refusal(foba(x, y, k = 0))
    refusal(forward_regression(x, y, lambda = -1))
    refusal(omp(x, y, lambda = c(0, 1)))
    refusal(foba(x, y, lambda = Inf))
    refusal(foba(x, y, nu = 1))
    refusal(foba(x, y, nu = -0.1))
    refusal(foba(x, y, nu = NA))
    refusal(omp(x, y, nu = 0.5))
    refusal(forward_regression(x, y, folds = 3))
    refusal(forward_regression(replace(x, 8, NA), y))
  })
})
