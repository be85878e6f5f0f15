# Whole paths: beside glmnet, beside themselves in other forms, and their held-out errors beside
# fitting by hand.

# Coefficients of all columns for every lambda, a matrix columns x lambdas, and the intercepts.
path_table <- function(fit) {
  models <- lapply(fit$solutions, function(one) solution_model(fit$problem, one))
  beta <- vapply(models, function(model) {
    replace(numeric(ncol(fit$problem)), model$features, model$beta)
  }, numeric(ncol(fit$problem)))
  list(beta = beta, covariates = vapply(models, function(model) model$covariates[, 1L],
                                        numeric(ncol(fit$problem$z))))
}

two_classes <- function(score) factor(ifelse(score + rnorm(length(score)) > 0, "yes", "no"))

test_that("paths are glmnet's, with scales converted", {
  skip_if_not_installed("glmnet")
  set.seed(1)
  for (case in 1:12) {
    m <- sample(c(40L, 90L), 1L)
    n <- sample(c(10L, 120L), 1L)
    x <- matrix(rnorm(m * n), m) %*% diag(exp(rnorm(n) / 2))
    if (case %% 3L == 0L) x[abs(x) < 0.7] <- 0
    given <- if (case %% 3L == 0L) as(x, "CsparseMatrix") else x
    w <- if (case %% 2L) runif(m, 0.5, 2)
    standardize <- case %% 4L < 2L
    weights <- if (is.null(w)) rep(1, m) else w
    for (loss in c("squared", "logistic")) {
      y <- x[, 1L] - x[, 2L] + rnorm(m)
      if (loss == "logistic") y <- two_classes(y)
      fit <- l1_path(given, y, loss = loss, weights = w, standardize = standardize, nlambda = 15,
                     lambda_min_ratio = 0.1, tolerance = 1e-12, progress = FALSE)
      other <- glmnet::glmnet(
        given, y, family = if (loss == "squared") "gaussian" else "binomial", weights = weights,
        lambda = fit$path$lambda / sum(weights), standardize = standardize, thresh = 1e-16,
        maxit = 1e7
      )
      own <- path_table(fit)
      expect_lt(relative_error(own$beta, as.matrix(other$beta)), 1e-6)
      expect_lt(relative_error(own$covariates, unname(other$a0)), 1e-6)
    }
  }
})

test_that("covariates and no intercept are glmnet's too", {
  skip_if_not_installed("glmnet")
  set.seed(2)
  x <- matrix(rnorm(60 * 30), 60)
  z <- matrix(rnorm(120), 60, dimnames = list(NULL, c("age", "batch")))
  for (loss in c("squared", "logistic")) {
    y <- x[, 1L] + z[, 1L] + rnorm(60)
    if (loss == "logistic") y <- two_classes(y)
    family <- if (loss == "squared") "gaussian" else "binomial"
    fit <- l1_path(x, y, adjust = z, loss = loss, standardize = FALSE, nlambda = 10,
                   lambda_min_ratio = 0.05, tolerance = 1e-12, progress = FALSE)
    other <- glmnet::glmnet(cbind(x, z), y, family = family, standardize = FALSE,
                            lambda = fit$path$lambda / 60 * 30 / 32, thresh = 1e-16, maxit = 1e7,
                            penalty.factor = rep(1:0, c(30, 2)))
    own <- path_table(fit)
    expect_lt(relative_error(rbind(own$beta, own$covariates[-1L, ]), as.matrix(other$beta)), 1e-6)
    fit <- l1_path(x, y, intercept = FALSE, loss = loss, standardize = FALSE, nlambda = 10,
                   lambda_min_ratio = 0.05, tolerance = 1e-12, progress = FALSE)
    other <- glmnet::glmnet(x, y, family = family, standardize = FALSE, intercept = FALSE,
                            lambda = fit$path$lambda / 60, thresh = 1e-16, maxit = 1e7)
    expect_lt(relative_error(path_table(fit)$beta, as.matrix(other$beta)), 1e-6)
  }
})

test_that("the path does not depend on form, order, screen or threads", {
  set.seed(3)
  x <- matrix(rnorm(50 * 80), 50, dimnames = list(NULL, paste0("gene", 1:80)))
  x[abs(x) < 0.8] <- 0
  for (loss in c("squared", "logistic", "hinge")) {
    y <- x[, 1L] - x[, 2L] + rnorm(50) / 2
    if (loss != "squared") y <- factor(y > 0)
    fit <- function(x, y, ...) {
      l1_path(x, y, loss = loss, nlambda = 12, lambda_min_ratio = 0.05, tolerance = 1e-11, ...,
              progress = FALSE)
    }
    first <- fit(x, y)
    expect_true(all(first$path$gap <= 1e-11 * first$null))
    figures <- function(fit) fit$path[c("lambda", "objective")]
    frame <- data.frame(x, y = y)
    for (other in list(fit(as(x, "CsparseMatrix"), y), fit(x[, 80:1], y), fit(x[50:1, ], rev(y)),
                       fit(frame[1:80], y), fit(y ~ ., NULL, data = frame))) {
      expect_equal(figures(other), figures(first), tolerance = 1e-9)
    }
    for (screen in c("gap", "safe2", "safe1", "none")) {
      other <- fit(x, y, screen = screen)
      expect_equal(figures(other), figures(first), tolerance = 1e-10)
      if (loss != "hinge") expect_lt(relative_error(path_table(other)$beta,
                                                    path_table(first)$beta), 1e-5)
    }
    two <- fit(x, y, threads = 2)
    parts <- c("path", "coefficients", "solutions", "fitted")
    expect_identical(two[parts], first[parts])
  }
})

test_that("lambda may be given in any way", {
  set.seed(4)
  x <- matrix(rnorm(30 * 8), 30)
  y <- x[, 1L] + rnorm(30)
  top <- lambda_max(x, y)
  fit <- l1_path(x, y, lambda = c(0.1, 0.5, 0.1, 2) * top, progress = FALSE)
  expect_equal(fit$path$lambda, c(2, 0.5, 0.1) * top)
  # above lambda_max the model without columns, and no error
  for (loss in c("squared", "logistic", "hinge")) {
    response <- if (loss == "squared") y else factor(y > 0)
    top <- lambda_max(x, response, loss = loss)
    fit <- l1_path(x, response, loss = loss, lambda = 1.01 * top, progress = FALSE)
    expect_equal(c(fit$size, fit$path$size), c(0, 0))
    expect_length(selected(fit), 0L)
    below <- l1_path(x, response, loss = loss, lambda = 0.99 * top, progress = FALSE)
    expect_gt(below$size, 0)
  }
  expect_equal(nrow(l1_path(x, y, nlambda = 1, progress = FALSE)$path), 1L)
  fit <- l1_path(x, y, nlambda = 3, lambda_min_ratio = 0.25, progress = FALSE)
  expect_equal(fit$path$lambda / fit$lambda_max, c(1, 0.5, 0.25))
  # a column of zeros is set aside
  fit <- l1_path(cbind(x, 0, 7), y, progress = FALSE)
  expect_false(any(9:10 %in% unlist(lapply(fit$solutions, `[[`, "features"))))
})

test_that("held-out figures are those of fitting without each fold", {
  set.seed(5)
  x <- matrix(rnorm(36 * 15), 36)
  for (loss in c("squared", "logistic", "hinge")) {
    y <- x[, 1L] - x[, 3L] + rnorm(36)
    if (loss != "squared") y <- factor(y > 0)
    ids <- sample(rep(1:4, 9))
    fit <- l1_path(x, y, loss = loss, folds = ids, nlambda = 6, lambda_min_ratio = 0.1,
                   standardize = FALSE, tolerance = 1e-12, progress = FALSE)
    score <- matrix(0, 36, 6)
    for (fold in 1:4) {
      out <- ids == fold
      train <- l1_path(x[!out, ], y[!out], loss = loss, lambda = fit$path$lambda,
                       standardize = FALSE, tolerance = 1e-12, progress = FALSE)
      for (l in 1:6) score[out, l] <- predict(train, x[out, ], lambda = fit$path$lambda[l],
                                              type = "link")
    }
    truth <- if (loss == "squared") y else ifelse(y == "TRUE", 1, -1)
    each <- switch(loss, squared = (truth - score)^2, logistic = log1p(exp(-truth * score)),
                   hinge = pmax(1 - truth * score, 0))
    expect_equal(fit$path$criterion, colMeans(each), tolerance = 1e-6)
    means <- apply(each, 2L, tapply, ids, mean)
    expect_equal(fit$path$se, apply(means, 2L, sd) * sqrt(3 / 4) / sqrt(3), tolerance = 1e-6)
    expect_equal(fit$path$squared, colMeans((truth - score)^2), tolerance = 1e-6)
    if (loss != "squared") expect_equal(fit$path$error, colMeans(truth * score <= 0))
    expect_equal(fit$lambda, fit$path$lambda[which.min(fit$path$criterion)])
    expect_equal(unname(fit$held_out[, 1L]), score[, which.min(fit$path$criterion)],
                 tolerance = 1e-6)
  }
})

test_that("models too large for a factor, and for the first room, are solved too", {
  set.seed(6)
  x <- Matrix::rsparsematrix(500, 700, 0.05)
  y <- as.vector(x %*% rnorm(700)) + rnorm(500)
  pb <- as_problem(x, y)
  fit <- l1_path(pb, nlambda = 20, lambda_min_ratio = 0.001, progress = FALSE)
  expect_gt(max(fit$path$size), 300)
  dense <- l1_path(as.matrix(x), y, nlambda = 20, lambda_min_ratio = 0.001, progress = FALSE)
  expect_gt(max(dense$path$size), 300)
  for (row in c(10L, 20L)) {
    for (one in list(fit, dense)) {
      solution <- one$solutions[[row]]
      gap <- duality_gap(pb, "squared", one$path$lambda[row], solution$features, solution$beta)
      expect_lt(gap$relative, 1.1e-8)
    }
  }
})

test_that("columns that are nearly the same do no harm", {
  for (apart in 10^-c(3, 6, 8, 9, 10, 12)) {
    set.seed(7)
    x <- matrix(rnorm(50 * 20), 50)
    x <- cbind(x, x + apart * rnorm(1000), x[, 1:10] - x[, 11:20] + apart * rnorm(500))
    y <- x[, 1L] - x[, 2L] + rnorm(50)
    fit <- l1_path(x, y, nlambda = 25, lambda_min_ratio = 0.001, progress = FALSE)
    expect_lt(max(fit$path$gap), 1e-8 * fit$null)
  }
})

test_that("a gap that is too wide is told", {
  set.seed(8)
  x <- matrix(rnorm(30 * 10), 30)
  y <- x[, 1L] + rnorm(30)
  expect_warning(fit <- l1_path(x, y, nlambda = 5, tolerance = 1e-300, progress = FALSE),
                 "did not reach the tolerance: the largest duality gap is",
                 class = "sparsels_warning_convergence")
  expect_equal(nrow(fit$path), 5L)
})

test_that("refusals", {
  set.seed(9)
  x <- matrix(round(rnorm(36), 1), 12, dimnames = list(NULL, c("TP53", "MYC", "KRAS")))
  y <- c(1, 3, 2, 5, 4, 6, 2, 8, 1, 3, 9, 2)
  ill <- rep(c("no", "yes"), 6)
  expect_snapshot({
    refusal(l1_path(x, rep("no", 12), loss = "logistic"))
    refusal(l1_path(x, y, loss = "logistic"))
    refusal(l1_path(x, rep(1:0, 6), loss = "hinge"))
    refusal(l1_path(x, rep(c("a", "b", "c"), 4), loss = "hinge"))
    refusal(l1_path(x, rep(c("a", "b", "c"), 4)))
    refusal(l1_path(x, cbind(y, y)))
    refusal(l1_path(x, numeric(12)))
    refusal(l1_path(x * 0, y))
    refusal(l1_path(x, y, loss = "poisson"))
    refusal(l1_path(x, y, lambda = 0))
    refusal(l1_path(x, y, lambda = "1se"))
    refusal(l1_path(x, y, nlambda = 0))
    refusal(l1_path(x, y, lambda_min_ratio = 1))
    refusal(l1_path(x, y, screen = "strong"))
    refusal(l1_path(x, y, solver = "admm"))
    refusal(l1_path(x, ill, loss = "hinge", solver = "ipm"))
    refusal(l1_path(x, y, solver = "ipm", screen = "lazy"))
    refusal(l1_path(x, y, tolerance = 0))
    refusal(l1_path(x, y, criterion = "deviance"))
    refusal(l1_path(x, y, folds = 3, criterion = "error"))
    refusal(l1_path(x, ill, loss = "logistic", folds = rep(1:2, 6)))
    refusal(l1_path(x, y, alpha = 0.5))
  })
})
