# A lambda for each block, against augmented least squares.

blocked <- function(m, n, weights = FALSE, covariates = FALSE) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("v", seq_len(n))))
  y <- x[, 1] * 2 + x[, 4] + rnorm(m)
  w <- if (weights) runif(m, 0.5, 2) else rep(1, m)
  age <- if (covariates) cbind(age = rnorm(m))
  list(x = x, y = y, w = w, z = cbind(rep(1, m), age),
       problem = as_problem(x, y, weights = w, adjust = age))
}

# The held-out mean squared error, each fold retrained, and the coefficients. Each column has its
# `lambda`.
oracle_blocks <- function(data, lambda, ids = seq_along(data$y)) {
  w <- data$w
  centre <- colSums(w * data$x) / sum(w)
  scale <- sqrt(colSums(w * (data$x - rep(centre, each = nrow(data$x)))^2) / sum(w))
  below <- cbind(matrix(0, ncol(data$x), ncol(data$z)), diag(sqrt(lambda) * scale))
  train <- function(rows) {
    qr.coef(qr(rbind(sqrt(w[rows]) * cbind(data$z, data$x)[rows, ], below)),
            c(sqrt(w[rows]) * data$y[rows], numeric(ncol(data$x))))
  }
  residual <- numeric(length(data$y))
  for (fold in unique(ids)) {
    out <- ids == fold
    residual[out] <- data$y[out] - cbind(data$z, data$x)[out, , drop = FALSE] %*% train(!out)
  }
  list(error = sum(w * residual^2) / sum(w), coefficients = train(rep(TRUE, length(data$y))))
}

test_that("errors and coefficients are those of retraining, by leave-one-out and by folds", {
  set.seed(1)
  for (case in 1:4) {
    data <- blocked(18, if (case %% 2) 9 else 25, case > 1, case > 2)
    ids <- if (case < 3) seq_len(18) else rep(1:4, c(6, 3, 5, 4))
    folds <- if (case < 3) "loo" else ids
    columns <- list(clinic = c(1, 3), genes = setdiff(seq_len(ncol(data$x)), c(1, 3)))
    fit <- rls(data$problem, lambda = c(0.1, 1, 30), folds = folds, blocks = columns)
    tried <- fit$blocks$tried
    expect_identical(nrow(tried), 93L)
    of_columns <- function(row) {
      unlist(tried[row, c("genes", "clinic")])[1 + seq_len(ncol(data$x)) %in% columns$clinic]
    }
    for (row in c(5, 40, 61, which.min(tried$criterion))) {
      expect_equal(tried$criterion[row], oracle_blocks(data, of_columns(row), ids)$error,
                   tolerance = 1e-7)
    }
    best <- which.min(tried$criterion)
    expect_identical(unlist(tried[best, c("clinic", "genes")]), fit$blocks$lambda)
    expect_equal(min(fit$path$criterion), min(tried$criterion), tolerance = 1e-7)
    own <- oracle_blocks(data, of_columns(best))$coefficients
    expect_equal(unname(coef(fit)), unname(own), tolerance = 1e-7)
    age <- if (case > 2) data$z[4:1, "age", drop = FALSE]
    expect_equal(unname(predict(fit, data$x[4:1, ], adjust = age)), drop(fit$fitted)[4:1],
                 ignore_attr = TRUE)
    expect_true(verify(fit, data$problem)$ok)
    expect_true(verify(fit, data$x, data$y)$ok)
  }
})

test_that("one block is rls(), and blocks have as many forms as columns have names", {
  set.seed(2)
  data <- blocked(20, 8)
  same <- c("path", "coefficients", "held_out", "fitted", "lambda", "problem")
  expect_identical(unclass(rls(data$problem, blocks = rep("all", 8)))[same],
                   unclass(rls(data$problem))[same])
  label <- rep(c("clinic", "genes"), c(2, 6))
  fit <- rls(data$problem, blocks = label)
  expect_identical(rls(data$problem, blocks = list(clinic = 1:2, genes = 3:8))$blocks, fit$blocks)
  named <- rls(data$problem, blocks = list(clinic = c("v1", "v2"), genes = paste0("v", 3:8)))
  expect_identical(named$path, fit$path)
  d <- data.frame(y = data$y, stage = rep(c("i", "ii", "iii", "ii"), 5), data$x[, 1:3])
  of_terms <- rls(y ~ ., d, blocks = list(clinic = "stage", genes = c("v1", "v2", "v3")))
  expect_identical(of_terms$blocks$columns, list(clinic = 1:2, genes = 3:5))
})

test_that("with more blocks no single change of a ratio is better", {
  set.seed(3)
  data <- blocked(24, 30)
  label <- rep(c("a", "b", "c"), c(4, 10, 16))
  fit <- rls(data$problem, blocks = label)
  best <- min(fit$blocks$tried$criterion)
  for (block in c("b", "c")) for (value in 2^c(-15, -3, 2, 9)) {
    ratio <- replace(fit$blocks$ratio, block, value)
    other <- as_problem(data$x, data$y, penalty = unname(ratio[label]))
    expect_gte(min(rls(other)$path$criterion), best - 1e-9)
  }
  # factors within a block stay
  factored <- as_problem(data$x, data$y, penalty = rep(c(0, 1, 2, 1), c(1, 3, 10, 16)))
  fit <- rls(factored, blocks = label)
  expect_equal(fit$problem$columns$penalty,
               factored$columns$penalty * unname(fit$blocks$ratio[label]))
})

test_that("outer folds choose the lambdas anew", {
  set.seed(4)
  data <- blocked(24, 30)
  blocks <- list(clinic = 1:4, genes = 5:30)
  ids <- rep(1:3, 8)
  found <- cross_validate(data$problem, rls, outer = ids, blocks = blocks,
                          lambda = 2^(-3:6))
  out <- ids == 1
  fit <- rls(data$problem[!out, ], blocks = blocks, lambda = 2^(-3:6))
  expect_equal(found$held_out[out], unname(predict(fit, data$x[out, ])))
})

test_that("blocks that are none are refused", {
  set.seed(5)
  data <- blocked(12, 4)
  pb <- data$problem
  expect_snapshot({
    refusal(rls(pb, blocks = list(1:2, 3:4)))
    refusal(rls(pb, blocks = list(a = 1:2, b = 2:4)))
    refusal(rls(pb, blocks = list(a = 1:2, b = 3)))
    refusal(rls(pb, blocks = list(a = 1:2, b = c("v3", "w"))))
    refusal(rls(pb, blocks = c(1, 2)))
    refusal(rls(pb, blocks = mean))
    rls(pb, blocks = c("clinic", "clinic", "genes", "genes"), lambda = c(1, 2))
  })
})
