# Penalty factors, against augmented least squares and glmnet.

# A problem of 8 columns with the factors 0, 2, 0.5, Inf, 1, 3, 1, 0 and what it is made of.
factored <- function(weights = FALSE, covariates = FALSE, standardize = TRUE, m = 26) {
  x <- matrix(rnorm(m * 8), m, dimnames = list(NULL, letters[1:8])) * rep(c(1, 9, 1, 1, 3, 1, 1, 2),
                                                                       each = m)
  p <- c(0, 2, 0.5, Inf, 1, 3, 1, 0)
  y <- x[, 1] + x[, 2] / 5 + x[, 3] + x[, 5] / 2 + rnorm(m)
  w <- if (weights) runif(m, 0.5, 2) else rep(1, m)
  age <- if (covariates) cbind(age = rnorm(m))
  problem <- as_problem(x, y, weights = w, adjust = age, standardize = standardize, penalty = p)
  list(problem = problem, x = x, y = y, w = w, p = p, z = cbind(rep(1, m), age, x[, p == 0]))
}

# Weighted mean and standard deviation of columns.
oracle_scale <- function(data, columns) {
  x <- data$x[, columns, drop = FALSE]
  centre <- colSums(data$w * x) / sum(data$w)
  sqrt(colSums(data$w * (x - rep(centre, each = nrow(x)))^2) / sum(data$w))
}

# Coefficients (covariates, then columns) by least squares with rows for the penalty.
oracle_ridge <- function(data, columns, lambda, rows = seq_along(data$y), standardize = TRUE) {
  scale <- if (standardize) oracle_scale(data, columns) else rep(1, length(columns))
  x <- data$x[, columns, drop = FALSE]
  root_w <- sqrt(data$w[rows])
  q <- ncol(data$z)
  below <- cbind(matrix(0, length(columns), q),
                 diag(sqrt(lambda * data$p[columns]) * scale, length(columns)))
  qr.coef(qr(rbind(root_w * cbind(data$z, x)[rows, ], below)),
          c(root_w * data$y[rows], numeric(length(columns))))
}

test_that("ridge regression with factors is augmented least squares, held out exactly", {
  set.seed(1)
  used <- c(2, 3, 5, 6, 7)
  for (case in 1:4) {
    data <- factored(case > 1, case > 2, case < 4)
    fit <- rls(data$problem, lambda = c(0.3, 20))
    for (lambda in c(0.3, 20)) {
      own <- oracle_ridge(data, used, lambda, standardize = case < 4)
      got <- coef(fit, lambda = lambda)
      expect_equal(unname(got), unname(own), tolerance = 1e-9)
      expect_identical(names(got)[-1], c(if (case > 2) "age", "a", "h", letters[used]))
      held_out <- vapply(seq_along(data$y), function(i) {
        model <- oracle_ridge(data, used, lambda, -i, standardize = case < 4)
        sum(c(data$z[i, ], data$x[i, used]) * model)
      }, 0)
      expect_equal(fit$path$criterion[fit$path$lambda == lambda],
                   sum(data$w * (data$y - held_out)^2) / sum(data$w), tolerance = 1e-9)
    }
    expect_true(verify(fit, data$problem, claims = 30)$ok)
  }
})

test_that("greedy search with factors takes the column with the smallest held-out error", {
  set.seed(2)
  data <- factored(TRUE, TRUE)
  fit <- bare_rls(data$problem, k = 4, lambda = 2)
  chosen <- integer()
  for (size in 1:4) {
    others <- setdiff(c(2, 3, 5, 6, 7), chosen)
    errors <- vapply(others, function(j) {
      columns <- c(chosen, j)
      residual <- vapply(seq_along(data$y), function(i) {
        model <- oracle_ridge(data, columns, 2, -i)
        data$y[i] - sum(c(data$z[i, ], data$x[i, columns]) * model)
      }, 0)
      sum(data$w * residual^2) / sum(data$w)
    }, 0)
    chosen <- c(chosen, others[which.min(errors)])
    expect_identical(selected(fit, size, index = TRUE), as.integer(chosen))
    expect_equal(fit$path$criterion[size + 1], min(errors), tolerance = 1e-9)
    expect_equal(unname(coef(fit, size)), unname(oracle_ridge(data, chosen, 2)), tolerance = 1e-9)
  }
  expect_false(any(c("a", "h", "d") %in% fit$path$name))
})

test_that("l1 paths with factors are those of glmnet, its rescaling undone", {
  skip_if_not_installed("glmnet")
  set.seed(3)
  data <- factored(TRUE)
  fit <- l1_path(data$problem, nlambda = 12, tolerance = 1e-10)
  # those that are never used count as 1
  mean_factor <- mean(replace(data$p, data$p == Inf, 1))
  for (row in c(1, 3, 5, nrow(fit$path))) {
    lambda <- fit$path$lambda[row]
    other <- glmnet::glmnet(data$x, data$y, weights = data$w, penalty.factor = data$p,
                            lambda = lambda * mean_factor / sum(data$w), thresh = 1e-22)
    own <- as.matrix(coef(other))[, 1]
    got <- coef(fit, lambda = lambda)
    expect_equal(got, own[names(got)], tolerance = 1e-6)
    expect_equal(unname(own[setdiff(names(own), names(got))]),
                 numeric(length(own) - length(got)), tolerance = 1e-9)
  }
})

test_that("gaps, lambda_max and safe tests of l1 paths with factors are exact", {
  set.seed(4)
  data <- factored(TRUE, TRUE)
  fit <- l1_path(data$problem, nlambda = 15, tolerance = 1e-10, folds = make_folds(data$problem, 3))
  columns <- c(2, 3, 5, 6, 7)
  scale <- oracle_scale(data, columns)
  root_w <- sqrt(data$w)
  on_z <- qr(root_w * data$z)
  # largest |x'r| / p of the null model
  null <- qr.resid(on_z, root_w * data$y)
  products <- abs(crossprod(root_w * data$x[, columns], null)) / scale / data$p[columns]
  expect_equal(fit$lambda_max, max(products), tolerance = 1e-10)
  for (row in c(3, 5, nrow(fit$path))) {
    lambda <- fit$path$lambda[row]
    model <- coef(fit, lambda = lambda)
    beta <- replace(numeric(8), match(names(model)[-(1:4)], letters), model[-(1:4)])[columns]
    r <- root_w * data$y - root_w * data$x[, columns] %*% beta
    r <- qr.resid(on_z, r)
    size <- scale * data$p[columns]
    primal <- sum(r^2) / 2 + lambda * sum(size * abs(beta))
    feasible <- r * min(1, lambda / max(abs(crossprod(root_w * data$x[, columns], r)) / size))
    dual <- sum(feasible * null) - sum(feasible^2) / 2
    expect_lt(primal - dual, 1e-7 * sum(null^2))
    expect_equal(fit$path$objective[row], primal, tolerance = 1e-9)
    mask <- safe_screen(data$problem, lambda = lambda, rule = "gap", fit = fit)
    expect_true(all(names(model)[-(1:2)] %in% names(which(mask$keep))))
    again <- l1_path(data$problem[, mask$keep], lambda = lambda, tolerance = 1e-10)
    expect_equal(coef(again, lambda = lambda)[names(model)], model, tolerance = 1e-6)
  }
  expect_true(verify(fit, data$problem, claims = 60)$ok)
})

test_that("factors by position, by column and by term are the same", {
  set.seed(5)
  d <- data.frame(y = rnorm(24), stage = factor(rep(c("i", "ii", "iii"), 8)), a = rnorm(24),
                  b = rnorm(24))
  by_term <- as_problem(y ~ ., d, penalty = c(stage = 0, b = 2))
  by_column <- as_problem(y ~ ., d, penalty = c(b = 2, stageii = 0, stageiii = 0))
  by_position <- as_problem(y ~ ., d, penalty = c(0, 0, 1, 2))
  expect_identical(by_term, by_column)
  expect_identical(by_term, by_position)
  # a column goes before its term
  expect_identical(as_problem(y ~ ., d, penalty = c(stageii = 3, stage = 0))$columns$penalty,
                   c(3, 0, 1, 1))
  twice <- as_problem(y ~ a * b, d, penalty = c("a:b" = Inf))
  expect_identical(twice$columns$usable, c(TRUE, TRUE, FALSE))
  # factors of 1 are none
  expect_null(as_problem(y ~ ., d, penalty = rep(1, 4))$columns$penalty)
  fit <- greedy_rls(by_term, k = 1)
  expect_identical(setdiff(names(coef(fit)), c("(Intercept)", "stageii", "stageiii")),
                   selected(fit))
  expect_equal(unname(predict(fit, d[3:1, ])), unname(fitted(fit)[3:1]))
  expect_identical(all.vars(formula(fit)), c("y", "stage", selected(fit)))
  x <- model.matrix(fit, d)
  expect_equal(drop(x %*% coef(fit)), predict(fit, d))
  expect_equal(model.matrix(by_term)[, colnames(x)], x, ignore_attr = TRUE)
})

test_that("an unpenalised column is a covariate given by `adjust`", {
  set.seed(6)
  x <- matrix(rnorm(40 * 6), 40, dimnames = list(NULL, letters[1:6]))
  y <- x[, 1] + x[, 4] + rnorm(40)
  free <- as_problem(x, y, penalty = c(a = 0))
  adjusted <- as_problem(x[, -1], y, adjust = x[, 1, drop = FALSE])
  for (method in list(greedy_rls, forward_regression, l1_path, rls)) {
    expect_equal(coef(method(free)), coef(method(adjusted)), tolerance = 1e-8)
  }
  set.seed(1)
  one <- cross_validate(free, greedy_rls, k = 2, size = 2, outer = 3)
  set.seed(1)
  two <- cross_validate(adjusted, greedy_rls, k = 2, size = 2, outer = 3)
  expect_equal(one$error, two$error)
  set.seed(1)
  one <- permutation_test(free, greedy_rls, k = 2, permutations = 4)
  set.seed(1)
  two <- permutation_test(adjusted, greedy_rls, k = 2, permutations = 4)
  expect_equal(one$null, two$null)
})

test_that("parts of a problem keep factors; missing values, files and sparse columns have them", {
  set.seed(7)
  data <- factored()
  part <- data$problem[3:20, c("f", "a", "b")]
  own <- as_problem(data$x[3:20, c("f", "a", "b")], data$y[3:20], penalty = c(3, 0, 2))
  own$coding$response <- part$coding$response
  expect_identical(part, own)
  expect_identical(colnames(data$problem[, c("b", "c")]$z), "(Intercept)")
  x <- replace(data$x, cbind(c(2, 5, 9), c(1, 2, 5)), NA)
  lacking <- as_problem(x, data$y, penalty = data$p, missing = "mean")
  filled <- replace(x[, 1], 2, mean(x[-2, 1]))
  expect_equal(lacking$z[, "a"], filled)
  fit <- greedy_rls(lacking, k = 2)
  expect_equal(unname(predict(fit, x)), unname(drop(fit$fitted)))
  expect_true(verify(fit, x, claims = 100)$ok)
  dense <- coef(bare_rls(data$problem, k = 3, lambda = 1))
  sparse <- as_problem(methods::as(data$x, "CsparseMatrix"), data$y, penalty = data$p)
  expect_equal(coef(bare_rls(sparse, k = 3, lambda = 1)), dense)
  path <- tempfile()
  on.exit(unlink(paste0(path, "*")))
  file <- as_problem(write_file_matrix(data$x, path), data$y, penalty = data$p)
  expect_equal(coef(bare_rls(file, k = 3, lambda = 1)), dense)
})

test_that("missing values of a column without penalty are refused as in any other", {
  x <- matrix(c(1, NA, 4, 3, 6, 5, 2, 1, 1, 4, 2, 9), 6, dimnames = list(NULL, c("age", "gene")))
  y <- c(1, 3, 2, 5, 4, 6)
  for (value in c(NA, NaN, Inf)) {
    x[2, 1] <- value
    for (one in list(x, methods::as(x, "CsparseMatrix"), float_matrix(x))) {
      expect_error(as_problem(one, y, penalty = c(0, 1)), "infinite.*row 2, column 'age'",
                   class = "sparsels_error_input")
      if (is.na(value)) {
        expect_identical(as_problem(one, y, penalty = c(0, 1), missing = "mean")$z[2, "age"],
                         c(age = 3.8))
      }
    }
  }
})

test_that("bad factors are refused by name", {
  x <- matrix(c(1, 2, 4, 3, 6, 5, 2, 1, 1, 4, 2, 9), 6, dimnames = list(NULL, c("age", "gene")))
  y <- c(1, 3, 2, 5, 4, 6)
  expect_snapshot({
    refusal(as_problem(x, y, penalty = "a"))
    refusal(as_problem(x, y, penalty = c(1, -2)))
    refusal(as_problem(x, y, penalty = c(age = NA)))
    refusal(as_problem(x, y, penalty = 1:3))
    refusal(as_problem(x, y, penalty = c(sex = 0)))
    refusal(as_problem(x, y, penalty = c(age = 0, age = 1)))
    refusal(as_problem(x, y, penalty = c(1e-12, 1)))
    refusal(as_problem(x, y, penalty = c(0, Inf)))
    refusal(as_problem(x, y, penalty = c(age = 0), adjust = cbind(age = c(2, 1, 1, 2, 1, 3))))
    refusal(as_problem(cbind(x, one = 1), y, penalty = c(one = 0)))
    refusal(kernel_rls(x, y, penalty = c(0, 1)))
    refusal(best_subset(x, y, penalty = c(2, 1)))
    refusal(predict(rls(x, y, penalty = c(0, 1)), x[, "gene", drop = FALSE]))
    refusal(l1_path(x, y, alpha = 0.5, penalty = c(2, 1)))
    as_problem(cbind(x, other = c(2, 2, 1, 3, 5, 1), none = 1), y,
               penalty = c(age = 0, other = 2, none = Inf))
  })
})
