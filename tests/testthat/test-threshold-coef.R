ipm_path <- function(pb, loss, shares, tolerance) {
  null <- model_point(pb, loss, integer(), numeric())
  lambda <- max(abs(column_products(pb, null$r))) * shares
  l1_path(pb, loss = loss, lambda = lambda, solver = "ipm", tolerance = tolerance)
}

measured <- function(pb, fit, i) {
  one <- fit$solutions[[i]]
  duality_gap(pb, fit$loss, fit$path$lambda[i], one$features, one$beta)
}

test_that("TR and its exact form keep their promise", {
  set.seed(1)
  gone <- 0
  for (case in 1:30) {
    loss <- c("squared", "logistic")[case %% 2 + 1]
    pb <- random_l1(loss)
    tolerance <- c(1e-2, 1e-4, 1e-7)[case %% 3 + 1]
    alpha <- c(1, 2, 10)[sample(3, 1)]
    fit <- ipm_path(pb, loss, c(0.8, 0.3, 0.05), tolerance)
    less <- threshold_coef(fit, sample(c("tr", "exact"), 1), alpha)
    for (i in seq_len(nrow(fit$path))) {
      before <- measured(pb, fit, i)
      after <- measured(pb, less, i)
      optimum <- before$primal - fit$path$gap[i]
      rounding <- 1e-13 * before$null
      expect_lte(after$primal, optimum + alpha * fit$path$gap[i] + rounding)
      # the covariates are better still in what is measured
      expect_lte(after$primal, less$path$objective[i] + rounding)
      if (loss == "squared" && ncol(pb$z) == pb$coding$intercept) {
        expect_equal(less$path$objective[i], after$primal)
      }
      expect_equal(less$path$gap[i] - fit$path$gap[i],
                   less$path$objective[i] - fit$path$objective[i], tolerance = 1e-6)
    }
    gone <- gone + sum(less$path$removed)
  }
  expect_gt(gone, 200)
})

# (38) for one threshold after the other, from products of x
oracle_tr <- function(pb, fit, i, alpha, rule) {
  one <- fit$solutions[[i]]
  at <- oracle_l1(pb)
  A <- sqrt(at$w) * at$X[, one$features, drop = FALSE]
  r <- model_point(pb, fit$loss, one$features, one$beta)$r
  half <- if (fit$loss == "squared") 1 / 2 else 1 / 8
  fits <- vapply(abs(one$beta), function(tau) {
    delta <- ifelse(abs(one$beta) <= tau, -one$beta, 0)
    change <- half * sum((A %*% delta)^2) - sum(delta * crossprod(A, r))
    if (rule == "exact") change <- change - fit$path$lambda[i] * sum(abs(delta))
    change <= (alpha - 1) * fit$path$gap[i]
  }, NA)
  max(0, abs(one$beta)[fits])
}

test_that("the threshold is the largest that (38) allows", {
  set.seed(2)
  for (case in 1:12) {
    loss <- c("squared", "logistic")[case %% 2 + 1]
    pb <- random_l1(loss, m = 25L)
    fit <- ipm_path(pb, loss, c(0.6, 0.1), c(1e-2, 1e-3, 1e-5)[case %% 3 + 1])
    rule <- c("tr", "exact")[case %/% 2 %% 2 + 1]
    less <- threshold_coef(fit, rule, 3)
    for (i in 1:2) {
      tau <- oracle_tr(pb, fit, i, 3, rule)
      expect_equal(less$path$threshold[i], tau)
      beta <- fit$solutions[[i]]$beta
      expect_identical(less$solutions[[i]]$beta, beta[abs(beta) > tau])
      expect_identical(less$path$removed[i], sum(abs(beta) <= tau))
      expect_identical(less$path$size[i], sum(abs(beta) > tau))
    }
  }
})

test_that("equal coefficients go together", {
  solution <- list(features = 1:4, beta = c(0.1, -0.1, 1, 0.1), corr = c(1, -1, 1, 1),
                   second_order = c(0, 0, 0, 0))
  expect_identical(tr_cut(solution, 0.25)$removed, rep(FALSE, 4))
  expect_identical(tr_cut(solution, 0.31)$removed, c(TRUE, TRUE, FALSE, TRUE))
  expect_equal(tr_cut(solution, 0.31)$change, 0.3)
  none <- list(beta = numeric(), corr = numeric(), second_order = numeric())
  expect_identical(tr_cut(none, 1)$removed,
                   logical())
})

test_that("the unit of y does not matter", {
  set.seed(3)
  x <- matrix(rnorm(40 * 60), 40)
  y <- x[, 1] - x[, 2] + rnorm(40)
  sizes <- function(unit) {
    threshold_coef(ipm_path(as_problem(x, unit * y), "squared", c(0.5, 0.1), 1e-4))$path$size
  }
  expect_identical(sizes(1024), sizes(1))
  expect_identical(sizes(1 / 1024), sizes(1))
})

test_that("TR finds the support where KKT is chaotic; for a small gap both do", {
  set.seed(4)
  sizes <- function(pb, lambda, tolerance) {
    fit <- l1_path(pb, lambda = lambda, solver = "ipm", tolerance = tolerance)
    kkt <- threshold_coef(fit, "kkt")
    expect_equal(kkt$path$objective[2], measured(pb, kkt, 2)$primal)
    worst <<- max(worst, kkt$path$gap / fit$path$gap)
    c(tr = sum(threshold_coef(fit)$path$size), exact = sum(threshold_coef(fit, "exact")$path$size),
      kkt = sum(kkt$path$size))
  }
  coarse <- fine <- true <- worst <- 0
  for (case in 1:3) {
    x <- matrix(rnorm(60 * 150), 60)
    pb <- as_problem(x, x[, 1:5] %*% rep(1, 5) + rnorm(60))
    lambda <- max(abs(column_products(pb, working(pb)$y))) * c(0.2, 0.05)
    true <- true + sum(vapply(lambda, function(value) {
      sum(oracle_optimum(pb, "squared", value)$beta != 0)
    }, 0))
    coarse <- coarse + sizes(pb, lambda, 1e-4)
    fine <- fine + sizes(pb, lambda, 1e-9)
  }
  expect_gt(true, 50)
  expect_gte(coarse[["tr"]], 0.98 * true)
  expect_lt(coarse[["tr"]], 1.4 * true)
  expect_lt(abs(coarse[["exact"]] / true - 1), 0.2)
  expect_lt(coarse[["kkt"]], 0.7 * true)
  expect_gt(worst, 100)
  expect_lt(fine[["tr"]], 1.4 * true)
  expect_equal(fine[c("exact", "kkt")], c(exact = true, kkt = true))
})

test_that("the smaller fit is a fit", {
  set.seed(5)
  pb <- random_l1("squared", m = 40L, n = 20L, kind = "plain", adjust = TRUE, weights = TRUE)
  fit <- ipm_path(pb, "squared", c(0.5, 0.2), 1e-3)
  less <- threshold_coef(fit)
  expect_gt(less$path$removed[2], 0)
  expect_s3_class(less, c("l1_path", "sparse_fit", "sparsels_fit", "sparsels_result"),
    exact = TRUE)
  model <- less$coefficients[[less$path$size[2] + 1]]
  expect_identical(model$features, less$solutions[[2]]$features)
  one <- less$solutions[[2]]
  f <- l1_scores(pb, one$features, one$beta) +
    drop(covariate_basis(pb) %*% one$u) / sqrt(pb$rows$weight)
  expect_equal(drop(pb$x[, model$features] %*% model$beta + pb$z %*% model$covariates), f)
  explained <- 1 - sum(pb$rows$weight * (pb$rows$y - f)^2) / 2 / less$null_objective
  expect_equal(less$path$dev_ratio[2], explained)
  expect_identical(less$path$criterion, less$path$dev_ratio)
  expect_output(print(less), "lasso")
})

test_that("what cannot be thresholded is refused", {
  set.seed(6)
  x <- matrix(rnorm(60), 20)
  y <- x[, 1] + rnorm(20)
  fit <- l1_path(x, y, lambda = c(9, 3), solver = "ipm")
  expect_error(threshold_coef(l1_path(x, y, lambda = 3)), "zeros of `fit` are exact",
               class = "sparsels_error_argument")
  expect_error(threshold_coef(lm(y ~ x)), "solver = \"ipm\"", class = "sparsels_error_argument")
  expect_error(threshold_coef(fit, alpha = 0.5), "`alpha` must be a number of at least 1, not 0.5",
               class = "sparsels_error_argument")
  expect_error(threshold_coef(fit, rule = "TR"), "`rule`", class = "sparsels_error_argument")
  expect_error(threshold_coef(threshold_coef(fit)), "before", class = "sparsels_error_input")
})

test_that("what a rule takes away is summed alike for dense and sparse columns", {
  set.seed(11)
  x <- matrix(rnorm(40 * 12), 40)
  x[abs(x) < 1] <- 0
  y <- x[, 1L] + rnorm(40)
  w <- runif(40, 0.5, 2)
  for (intercept in c(TRUE, FALSE)) {
    dense <- as_problem(x, y, weights = w, intercept = intercept)
    sparse <- as_problem(as(x, "CsparseMatrix"), y, weights = w, intercept = intercept)
    beta <- rnorm(5)
    features <- c(3L, 1L, 8L, 12L, 5L)
    expect_equal(sparse_sums(sparse, features, beta), dense_sums(dense, features, beta))
  }
})
