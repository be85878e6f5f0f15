# a model on some columns, not an optimum of anything
random_model <- function(pb) {
  features <- which(pb$columns$usable)[seq_len(min(3, sum(pb$columns$usable)))]
  list(features = features, beta = rnorm(length(features)))
}

model_score <- function(pb, model) {
  drop(oracle_l1(pb)$X[, model$features, drop = FALSE] %*% model$beta)
}

test_that("a model's covariates are the best", {
  set.seed(1)
  for (case in 1:24) {
    loss <- c("squared", "logistic", "hinge")[case %% 3 + 1]
    pb <- random_l1(loss, adjust = case %% 2 == 0, intercept = case %% 4 != 0)
    if (loss == "hinge" && ncol(pb$z) > 1) next
    model <- random_model(pb)
    point <- model_point(pb, loss, model$features, model$beta)
    basis <- covariate_basis(pb)
    score <- model_score(pb, model)
    expect_equal(point$f, score + drop(basis %*% point$u) / sqrt(pb$rows$weight))
    y <- pb$rows$y[, 1]
    total <- function(u) {
      f <- score + drop(basis %*% u) / sqrt(pb$rows$weight)
      sum(pb$rows$weight * switch(loss, squared = (y - f)^2 / 2, logistic = log(1 + exp(-y * f)),
                              hinge = pmax(1 - y * f, 0)))
    }
    expect_equal(point$loss, total(point$u))
    expect_equal(point$l1, sum(abs(model$beta)))
    for (near in 10^-(0:6)) {
      expect_gte(total(point$u + near * rnorm(length(point$u))), point$loss - 1e-12)
    }
    if (loss != "hinge") expect_lt(max(0, abs(crossprod(basis, point$r))), 1e-12)
  }
})

test_that("hinge with more covariates takes theirs as given", {
  set.seed(2)
  pb <- random_l1("hinge", adjust = TRUE, intercept = TRUE)
  model <- random_model(pb)
  expect_equal(model_point(pb, "hinge", model$features, model$beta, c(0.3, -2))$u, c(0.3, -2))
})

test_that("products and norms are those of the working columns", {
  set.seed(3)
  for (kind in c("plain", "scales", "sparse", "nasty", "shifted")) {
    for (adjust in c(FALSE, TRUE)) {
      pb <- random_l1("squared", m = 25L, n = 20L, kind = kind, adjust = adjust)
      X <- oracle_l1(pb)$working$X
      expect_lt(relative_error(working_norms(pb), sqrt(colSums(X^2))), 1e-10)
      r <- drop(oracle_working(pb, matrix(rnorm(25))))
      expect_lt(relative_error(column_products(pb, r), drop(crossprod(X, r))), 1e-10)
    }
  }
})

test_that("products and norms keep their digits far from zero and next to the covariates", {
  set.seed(9)
  x <- matrix(rnorm(60), 20) + 1e9
  far <- as_problem(x, x[, 1] + x[, 2])
  near <- as_problem(x - 1e9, x[, 1] + x[, 2])
  r <- drop(oracle_working(near, matrix(rnorm(20))))
  expect_lt(relative_error(column_products(far, r), column_products(near, r)), 1e-12)
  age <- rnorm(20)
  own <- 1e-6 * rnorm(20)
  pb <- as_problem(unname(cbind(age + own, age)), x[, 1], adjust = age, standardize = FALSE)
  expect_lt(relative_error(working_norms(pb)[1], sqrt(sum(oracle_working(pb, own)^2))), 1e-8)
  expect_identical(working_norms(pb)[2], 0)
})

# some dual point: that of a model for classes, anything for squares
random_dual <- function(pb, loss) {
  model <- random_model(pb)
  point <- model_point(pb, if (loss == "hinge") "logistic" else loss, model$features, model$beta)
  point$r
}

test_that("the dual value is the best of the multiples", {
  set.seed(4)
  for (loss in c("squared", "logistic", "hinge")) {
    for (most in c(0.1, 1, 10)) {
      pb <- random_l1(loss, m = 25L, n = 20L, adjust = FALSE, intercept = TRUE)
      r <- random_dual(pb, loss)
      value <- dual_value(pb, loss, r, most, 0.7)
      ends <- if (loss == "squared") c(-1, 1) * 0.7 / most else
        c(0, min(0.7 / most, 1 / max(abs(r) / sqrt(pb$rows$weight))))
      y <- oracle_l1(pb)$working$y
      multiples <- vapply(seq(ends[1], ends[2], length.out = 2001), function(s) {
        alpha <- pmin(abs(s * r) / sqrt(pb$rows$weight), 1)
        part <- function(p) ifelse(p > 0, -p * log(p), 0)
        switch(loss, squared = sum(y * s * r) - sum((s * r)^2) / 2,
               logistic = sum(pb$rows$weight * (part(alpha) + part(1 - alpha))),
               hinge = sum(pb$rows$weight * alpha))
      }, 0)
      expect_gte(value, max(multiples) - 1e-12)
      expect_lte(value, max(multiples) + 1e-4 * max(abs(multiples)))
    }
  }
})

test_that("a dual point outside its bounds proves nothing", {
  set.seed(4)
  pb <- as_problem(matrix(rnorm(12), 6), factor(rep(1:2, 3)))
  expect_equal(dual_value(pb, "hinge", rep(1, 6), 1, 1), 0)
  expect_equal(dual_value(pb, "squared", numeric(6), 0, 1), 0)
})

test_that("the gap bounds how far a model is from the optimum, and closes there", {
  set.seed(5)
  for (case in 1:12) {
    loss <- c("squared", "logistic")[case %% 2 + 1]
    pb <- random_l1(loss, m = 25L, n = 20L)
    null <- model_point(pb, loss, integer(), numeric())
    lambda <- max(abs(column_products(pb, null$r))) * c(0.8, 0.3, 0.05)[case %% 3 + 1]
    best <- oracle_optimum(pb, loss, lambda)
    at <- which(best$beta != 0)
    closed <- duality_gap(pb, loss, lambda, at, best$beta[at])
    expect_equal(closed$primal, best$objective)
    expect_equal(closed$null, null$loss)
    expect_lt(abs(closed$relative), 1e-12)
    off <- duality_gap(pb, loss, lambda, at, best$beta[at] * 1.1)
    expect_gte(off$gap, off$primal - best$objective)
    expect_gt(off$gap, 0)
  }
})

test_that("hinge has a gap when its dual point is given", {
  set.seed(6)
  pb <- random_l1("hinge", m = 25L, n = 6L, adjust = FALSE, intercept = TRUE)
  skip_if_not_installed("Rglpk")
  best <- oracle_optimum(pb, "hinge", 2)
  at <- which(best$beta != 0)
  expect_equal(duality_gap(pb, "hinge", 2, at, best$beta[at])$primal, best$objective)
  expect_identical(duality_gap(pb, "hinge", 2, at, best$beta[at])$gap, NA_real_)
  r <- random_dual(pb, "hinge")
  expect_gte(duality_gap(pb, "hinge", 2, at, best$beta[at], r = r)$gap, 0)
})

test_that("coefficients of the user's scale become a working model", {
  set.seed(7)
  pb <- random_l1("squared", kind = "scales", standardize = TRUE)
  b <- replace(numeric(ncol(pb)), c(2, 4), c(0.5, -1))
  model <- l1_model(pb, b)
  score <- l1_scores(pb, model$features, model$beta)
  raw <- drop(as.matrix(pb$x) %*% b)
  expect_equal(score - mean(score), raw - mean(raw))
  expect_equal(l1_model(pb, Matrix::Matrix(b, sparse = TRUE)), model)
})

test_that("glmnet's solutions have a small gap", {
  skip_if_not_installed("glmnet")
  set.seed(8)
  x <- matrix(rnorm(40 * 12), 40) * rep(exp(rnorm(12)), each = 40)
  score <- x[, 1] - x[, 3] + rnorm(40)
  w <- runif(40, 0.5, 2)
  for (loss in c("squared", "logistic")) {
    y <- if (loss == "squared") score else factor(score > 0)
    pb <- as_problem(x, y, weights = w, standardize = FALSE)
    null <- model_point(pb, loss, integer(), numeric())
    lambda <- max(abs(column_products(pb, null$r))) / 5
    theirs <- glmnet::glmnet(x, y, if (loss == "squared") "gaussian" else "binomial", weights = w,
                             lambda = lambda / sum(w) * c(2, 1), standardize = FALSE,
                             thresh = 1e-14)
    model <- l1_model(pb, theirs$beta[, 2])
    expect_lt(duality_gap(pb, loss, lambda, model$features, model$beta)$relative, 1e-6)
  }
})
