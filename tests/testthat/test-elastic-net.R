# The elastic net of l1_path() and its like: against the lasso of more rows, glmnet, and itself.

# m rows, n columns; `kind` "squared" or "logistic" tells what the response is
net_data <- function(kind, m = 50, n = 30, sparse = FALSE) {
  x <- matrix(rnorm(m * n), m)
  x[, 2] <- x[, 1] + 0.1 * rnorm(m)
  if (sparse) x <- Matrix::Matrix(x * (abs(x) > 1), sparse = TRUE)
  score <- as.matrix(x[, 1:4]) %*% c(2, 1, -1, 1) + rnorm(m)
  list(x = x, y = if (kind == "logistic") factor(score > 0) else score[, 1],
       w = runif(m, 0.5, 2), z = cbind(age = rnorm(m)))
}

# working coefficients of all columns, columns x lambdas
working_beta <- function(fit) {
  vapply(fit$solutions, function(one) {
    replace(numeric(length(fit$problem$columns$name)), one$features, one$beta)
  }, numeric(length(fit$problem$columns$name)))
}

test_that("the path is that of slow programs, with weights, covariates and sparse columns", {
  set.seed(11)
  for (kind in c("squared", "logistic")) {
    for (sparse in c(FALSE, TRUE)) {
      d <- net_data(kind, sparse = sparse)
      pb <- as_problem(d$x, d$y, weights = d$w, adjust = d$z)
      fit <- l1_path(pb, loss = kind, alpha = 0.4, nlambda = 6, tolerance = 1e-13)
      expect_lte(max(fit$path$gap), 1e-13 * fit$null_objective)
      for (row in c(2, 5)) {
        best <- oracle_optimum(pb, kind, fit$path$lambda[row], 0.4)
        expect_equal(fit$path$objective[row], best$objective, tolerance = 1e-10)
        expect_equal(working_beta(fit)[, row], best$beta, tolerance = 1e-5)
      }
    }
  }
})

test_that("alpha = 1 is the l1 norm alone, and lambda_max goes by alpha", {
  set.seed(12)
  for (kind in c("squared", "logistic")) {
    d <- net_data(kind)
    plain <- l1_path(d$x, d$y, loss = kind, nlambda = 5)
    one <- l1_path(d$x, d$y, loss = kind, nlambda = 5, alpha = 1)
    expect_identical(one$path, plain$path)
    top <- lambda_max(d$x, d$y, loss = kind, alpha = 0.25)
    expect_equal(top, 4 * plain$lambda_max)
    expect_identical(l1_path(d$x, d$y, loss = kind, nlambda = 2, alpha = 0.25)$lambda_max, top)
    near <- l1_path(d$x, d$y, loss = kind, alpha = 0.25, lambda = top * c(1 + 1e-8, 1 - 1e-4),
                    tolerance = 1e-10)
    expect_identical(near$path$size > 0, c(FALSE, TRUE))
  }
})

test_that("glmnet finds the same", {
  skip_if_not_installed("glmnet")
  set.seed(13)
  for (kind in c("squared", "logistic")) {
    d <- net_data(kind)
    # glmnet takes the squares of coefficients for a response of variance 1
    spread <- function(y) sqrt(cov.wt(cbind(y), d$w / sum(d$w), method = "ML")$cov[1])
    if (kind == "squared") d$y <- d$y / spread(d$y)
    fit <- l1_path(d$x, d$y, loss = kind, alpha = 0.5, weights = d$w, nlambda = 10,
                   tolerance = 1e-12)
    family <- if (kind == "squared") "gaussian" else "binomial"
    lambda <- fit$path$lambda
    peer <- glmnet::glmnet(d$x, d$y, weights = d$w, family = family, alpha = 0.5, thresh = 1e-14,
                           lambda = lambda / sum(d$w))
    for (row in c(3, 6, nrow(fit$path))) {
      theirs <- coef(peer)[, row]
      ours <- coef(fit, lambda = lambda[row])
      expect_equal(replace(0 * theirs, names(ours), ours), theirs, tolerance = 1e-4)
    }
  }
})

test_that("the screens and threads agree, and a model may have more columns than rows", {
  set.seed(14)
  d <- net_data("squared", 20, 400)
  fits <- lapply(c("lazy", "none", "safe1", "safe2", "gap"), function(screen) {
    l1_path(d$x, d$y, alpha = 0.1, screen = screen, nlambda = 12, tolerance = 1e-12)
  })
  expect_gt(max(fits[[1]]$path$size), 20)
  for (fit in fits[-1]) expect_equal(fit$path$objective, fits[[1]]$path$objective)
  expect_lt(mean(fits[[5]]$path$columns_kept), 0.9 * 400)
  two <- l1_path(d$x, d$y, alpha = 0.1, threads = 2, nlambda = 12, tolerance = 1e-12)
  expect_identical(two$path, fits[[1]]$path)
  expect_identical(coef(two), coef(fits[[1]]))
})

test_that("more columns than are factored are solved for by descent", {
  set.seed(15)
  d <- net_data("squared", 40, 700)
  # a square root of the penalty's rows, given as rows of data
  fit <- l1_path(d$x, d$y, alpha = 0.01, lambda = c(30, 3, 0.3), tolerance = 1e-10,
                 intercept = FALSE, standardize = FALSE)
  expect_gt(max(fit$path$size), 512)
  for (row in 1:3) {
    lambda <- fit$path$lambda[row]
    more <- l1_path(rbind(d$x, sqrt(0.99 * lambda) * diag(700)), c(d$y, numeric(700)),
                    lambda = 0.01 * lambda, intercept = FALSE, standardize = FALSE,
                    tolerance = 1e-10)
    expect_equal(fit$path$objective[row], more$path$objective, tolerance = 1e-8)
  }
})

test_that("held-out errors are those of paths without each fold", {
  set.seed(16)
  for (kind in c("squared", "logistic")) {
    d <- net_data(kind)
    fit <- l1_path(d$x, d$y, loss = kind, alpha = 0.5, weights = d$w, adjust = d$z, folds = 4,
                   nlambda = 6, tolerance = 1e-12)
    row <- which(fit$path$lambda == fit$lambda)
    pb <- as_problem(d$x, d$y, weights = d$w, adjust = d$z)
    held <- numeric(50)
    for (rows in split(1:50, fit$folds$ids[, 1])) {
      train <- l1_path(without_rows(pb, rows), loss = kind, alpha = 0.5, lambda = fit$lambda,
                       tolerance = 1e-12)
      held[rows] <- predict(train, d$x[rows, ], type = "link", adjust = d$z[rows, , drop = FALSE])
    }
    expect_equal(fit$held_out[, 1], held, tolerance = 1e-6)
    squares <- (pb$rows$y[, 1] - held)^2
    expect_equal(fit$path$squared[row], weighted.mean(squares, d$w), tolerance = 1e-6)
    expect_true(verify(fit, d$x, d$y, weights = d$w, adjust = d$z)$ok)
  }
})

test_that("safe_screen() with a fit drops no column of a solution, whatever holds the columns", {
  set.seed(17)
  d <- net_data("logistic", 40, 120)
  top <- lambda_max(d$x, d$y, loss = "logistic", alpha = 0.3)
  fit <- l1_path(d$x, d$y, loss = "logistic", alpha = 0.3, lambda = top * c(0.9, 0.5))
  for (rule in c("safe1", "safe2", "gap")) {
    known <- if (rule != "safe1") fit
    mask <- safe_screen(d$x, d$y, lambda = 0.45 * top, loss = "logistic", alpha = 0.3, rule = rule,
                        fit = known)
    solved <- l1_path(d$x, d$y, loss = "logistic", alpha = 0.3, lambda = mask$lambda)
    expect_true(all(mask$keep[solved$solutions[[1]]$features]))
    expect_equal(mask$lambda_max, top)
    streamed <- safe_screen(function(columns) d$x[, columns], d$y, columns = 120,
                            lambda = 0.45 * top, loss = "logistic", alpha = 0.3, rule = rule,
                            fit = known)
    expect_identical(unname(streamed$keep), unname(mask$keep))
  }
})

test_that("a size is searched for, and the fit says what it is", {
  set.seed(18)
  d <- net_data("squared")
  sized <- l1_size(d$x, d$y, size = 6, alpha = 0.5, screen = "safe2")
  expect_lte(abs(sized$size - 6), 2)
  expect_output(print(sized), "elastic net penalty \\(alpha 0.5\\)")
  expect_output(print(l1_path(d$x, d$y)), "l1 penalty (lasso)", fixed = TRUE)
  expect_s3_class(cross_validate(d$x, d$y, l1_path, alpha = 0.5, outer = 2, nlambda = 4, folds = 3),
                  "cv_result")
})
