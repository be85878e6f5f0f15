# Predictions of new rows by the models without each part of the rows, against retraining.

kernel_rls <- plain_kernel_rls

without <- function(...) predictions_without.kernel_fit(...)

# The largest error of new and held-out rows, relative to the response.
without_error <- function(fit, cases, pb, new, adjust = NULL) {
  got <- without(fit, new, adjust)
  z <- cbind(if (pb$coding$intercept) rep(1, nrow(new)), adjust)
  if (is.null(z)) z <- matrix(0, nrow(new), 0)
  lambda <- sort(fit$path$lambda, decreasing = TRUE)
  exact <- oracle_without(cases, lambda, fit$folds$ids, z, fit$fold_choices$sets)
  rows <- seq_len(nrow(new))
  testthat::expect_identical(dim(got$at(rows)), dim(exact$new))
  testthat::expect_equal(got$at(rows)[2, , , drop = FALSE], got$at(2))
  max(abs(got$at(rows) - exact$new), abs(got$held - exact$held)) / max(abs(pb$rows$y), 1)
}

# A random problem, fit and its error.
random_error <- function(one) {
  m <- 18
  linear <- one$basis %in% c("tall", "wide")
  standardize <- one$standardize
  pb <- if (linear) {
    random_problem(m, if (one$basis == "tall") 6 else 25, one$task, one$weights, one$covariates,
                   one$intercept, standardize = standardize)
  } else {
    random_problem(m, 3, one$task, one$weights, one$covariates, one$intercept, standardize = FALSE)
  }
  new <- matrix(rnorm(3 * ncol(pb)), 3)
  adjust <- if (one$covariates) cbind(age = rnorm(3))
  lambda <- c(0.1, 1, 10)
  folds <- folds_of_kind(pb, one$folds)
  if (linear) {
    fit <- rls(pb, lambda = lambda, folds = folds)
    return(without_error(fit, list(oracle_columns_case(pb, new)), pb, new, adjust))
  }
  basis <- random_basis(pb, one$basis)
  gamma <- c(1, 3)
  fit <- unwarned(pb, kernel = kernel_gaussian(gamma), basis = basis, lambda = lambda,
                  folds = folds)
  cases <- lapply(gamma, function(g) oracle_case(pb, oracle_gaussian(g), basis, new = new))
  without_error(fit, cases, pb, new, adjust)
}

random_kinds <- function(N) {
  random_cover(N, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
               covariates = c(FALSE, TRUE), intercept = c(FALSE, TRUE),
               basis = c("all", "scattered", "points", "tall", "wide"),
               folds = c("loo", "unequal", "repeated"), standardize = c(FALSE, TRUE))
}

test_that("new rows without each part equal retraining", {
  set.seed(450)
  kinds <- random_kinds(max(problems_to_try(300, 40)))
  for (one in split(kinds, seq_len(nrow(kinds)))) {
    expect_lt(random_error(one), 1e-10, label = paste(one, collapse = " "))
  }
})

test_that("the worked example, to its printed digits", {
  i <- 1:12
  x <- cbind(sin(i), cos(2 * i), (i %% 5) / 5, sqrt(i))
  y <- ((7 * i) %% 11) / 3
  new <- cbind(0.3, 0.1, 0.4, 2)
  w <- 0.5 + i / 8
  at <- function(fit, new) without(fit, new)$at(1)[1, 1, ]
  linear <- function(...) rls(x[, c(1, 3)], y, lambda = 0.5, standardize = FALSE, ...)
  expect_lt(max(abs(at(linear(), new[, c(1, 3), drop = FALSE])[c(1, 2, 12)] -
                      c(1.6428319454, 1.8888624634, 1.7162560342))), 1e-10)
  expect_lt(max(abs(at(linear(weights = w), new[, c(1, 3), drop = FALSE])[c(1, 12)] -
                      c(1.6129650345, 1.6151217805))), 1e-10)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = c(2, 5, 9), lambda = 0.2,
                    weights = w, intercept = TRUE, shift = 0)
  expect_lt(max(abs(at(fit, new)[c(1, 5)] - c(1.5338914405, 1.6582689426))), 1e-10)
})

# Choices -----------------------------------------------------------------------------------------

test_that("each row takes the width and lambda of the other sets, drawn apart", {
  set.seed(451)
  x <- matrix(rnorm(30 * 2), 30)
  new <- matrix(rnorm(10), 5)
  y <- sin(2 * x[, 1]) + rnorm(30) / 2
  gamma <- c(0.01, 0.1, 1, 10)
  pb <- as_problem(x, y, intercept = FALSE, standardize = FALSE)
  set.seed(1)
  fit <- kernel_rls(pb, kernel = kernel_gaussian(gamma))
  after <- runif(1)
  set.seed(1)
  expect_identical(after, runif(1))
  chosen <- fit$fold_choices
  expect_identical(tabulate(chosen$sets), rep(3L, 10))
  expect_gt(nrow(unique(data.frame(chosen$lambda, chosen$width))), 1)
  own <- match(fit$kernel$parameters$gamma, gamma)
  expect_setequal(which(lengths(chosen$spectra) > 0), setdiff(chosen$width, own))
  cases <- lapply(gamma, function(g) oracle_case(pb, oracle_gaussian(g), new = new))
  expect_lt(without_error(fit, cases, pb, new), 1e-9)
})

test_that("many folds are put together whole, each partition by itself", {
  set.seed(452)
  pb <- random_problem(50, 3)
  folds <- make_folds(pb, 25, repeats = 2)
  fit <- rls(pb, folds = folds)
  sets <- fit$fold_choices$sets
  expect_identical(range(sets[, 1]), c(1L, 10L))
  expect_identical(range(sets[, 2]), c(11L, 20L))
  for (r in 1:2) expect_true(all(tapply(sets[, r], folds$ids[, r], function(s) all(s == s[1]))))
  expect_length(fit$fold_choices$lambda, 20)
  new <- matrix(rnorm(9), 3)
  expect_lt(without_error(fit, list(oracle_columns_case(pb, new)), pb, new), 1e-10)
})

test_that("with one lambda the held-out predictions are the fit's", {
  set.seed(453)
  pb <- random_problem(25, 4, "three", standardize = FALSE)
  kernel <- kernel_gaussian(1)
  for (fit in list(rls(pb, lambda = 2), unwarned(pb, lambda = 2, kernel = kernel, basis = 8),
                   lssvm(pb, gamma = 2, kernel = kernel))) {
    got <- without(fit, matrix(0, 1, 4))
    expect_identical(got$pairs, data.frame(row = 1:25, part = 1:25))
    expect_lt(relative_error(got$held, unname(fit$held_out)), 1e-14)
  }
})

# Data --------------------------------------------------------------------------------------------

test_that("support vector machines of two and three classes equal retraining", {
  set.seed(454)
  for (task in c("binary", "three")) {
    pb <- random_problem(20, 3, task, weights = TRUE, standardize = FALSE)
    new <- matrix(rnorm(12), 4)
    fit <- lssvm(pb, kernel = kernel_gaussian(0.5), gamma = c(0.5, 2, 8))
    case <- oracle_case(pb, oracle_gaussian(0.5), new = new)
    expect_lt(without_error(fit, list(case), pb, new), 1e-10)
  }
})

test_that("new rows come in every form, and some at a time", {
  set.seed(455)
  d <- data.frame(a = rnorm(24), b = rnorm(24), batch = factor(rep(1:3, 8)), age = rnorm(24))
  d$y <- d$a + rnorm(24) / 2
  more <- d[c(3, 9, 20), ]
  more$a[2] <- NA
  for (method in list(rls, lssvm)) {
    fit <- suppressWarnings(method(y ~ a + b + batch, d, adjust = ~ age), "sparsels_warning_edge")
    all <- without(fit, more)$at(1:3)
    expect_identical(dim(all), c(3L, 1L, 24L))
    expect_true(all(is.na(all[2, , ])))
    expect_false(anyNA(all[-2, , ]))
    expect_equal(all[3, , ], without(fit, more[3, ])$at(1)[1, , ])
  }
  x <- as.matrix(d[c("a", "b")])
  fits <- list(rls(x, d$y), unwarned(x, d$y, kernel = kernel_gaussian(1), standardize = TRUE))
  new <- rbind(x[5:8, ], u = c(0, 1))
  path <- tempfile()
  on.exit(unlink(path))
  filed <- write_file_matrix(new, path)
  for (fit in fits) {
    plain <- without(fit, new)$at(2:5)
    expect_equal(without(fit, new[, 2:1])$at(2:5), plain)
    expect_equal(without(fit, Matrix::Matrix(new, sparse = TRUE))$at(2:5), plain)
    expect_equal(without(fit, filed)$at(2:5), plain)
    expect_equal(without(fit, as_problem(new, 1:5))$at(2:5), plain)
  }
  K <- exp(-as.matrix(dist(rbind(x, new)))^2)
  fit <- kernel_rls(K[1:24, 1:24], d$y, kernel = "precomputed", basis = 1:9)
  exact <- kernel_rls(x, d$y, kernel = kernel_gaussian(1), basis = 1:9)
  expect_equal(without(fit, K[25:29, 1:24])$at(1:5), without(exact, new)$at(1:5), tolerance = 1e-7)
})

test_that("responses of several units and ratios of blocks count as in the fit", {
  set.seed(456)
  x <- matrix(rnorm(20 * 6), 20)
  y <- cbind(x[, 1] + rnorm(20), 100 * (x[, 2] + rnorm(20)))
  new <- matrix(rnorm(12), 2)
  fit <- rls(x, y, lambda = 1)
  got <- in_user_units(fit$problem, without(fit, new)$at(1:2))
  scales <- fit$problem$coding$response_scale
  for (i in c(1, 7)) {
    again <- rls(sweep(sweep(x, 2, colMeans(x)), 2, fit$problem$columns$scale, "/")[-i, ],
                 y[-i, ], lambda = 1, standardize = FALSE, standardize_response = FALSE)
    at <- sweep(sweep(new, 2, colMeans(x)), 2, fit$problem$columns$scale, "/")
    expect_equal(got[, , i], unname(predict(again, at)))
  }
  fit <- rls(x, y[, 1], blocks = list(a = 1:2, b = 3:6), lambda = 1)
  ratio <- fit$blocks$ratio[["b"]]
  by <- fit$problem$columns$scale
  got <- without(fit, new)$at(1:2)[, 1, 4]
  again <- rls(sweep(x, 2, by, "/")[-4, ], y[-4, 1], lambda = 1, standardize = FALSE)
  expect_equal(got, predict(again, sweep(new, 2, by, "/")))
})

test_that("rows read in blocks are refused with the way out", {
  set.seed(457)
  x <- matrix(rnorm(300), 100)
  path <- tempfile()
  on.exit(unlink(path))
  fit <- rls(write_file_matrix(x, path), x[, 1] + rnorm(100))
  expect_null(fit$fold_choices)
  expect_error(without(fit, x), "cross_validate", class = "sparsels_error_input")
})

test_that("a covariate that only a part determines leaves its rows without a residual", {
  set.seed(458)
  x <- matrix(rnorm(20 * 3), 20)
  batch <- rep(0:1, c(15, 5))
  y <- x[, 1] + 3 * batch + rnorm(20)
  fit <- rls(x, y, adjust = cbind(batch), folds = rep(1:4, each = 5), lambda = 1)
  got <- without(fit, x[c(1, 16:20), ], adjust = cbind(batch = c(0, rep(1, 5))))
  # a held-out row as a new row has its held-out prediction
  expect_equal(got$at(1)[1, 1, 1], got$held[1, 1])
  expect_identical(got$held[got$pairs$part == 4, 1], rep(NA_real_, 5))
  # these five rows may have any residual: with 15 others levels up to 15 / 21 are finite
  ends <- function(level) {
    predict(fit, x[1:2, ], interval = "prediction", level = level, adjust = cbind(batch = 0:1))
  }
  expect_true(all(is.finite(ends(0.7))))
  expect_identical(unname(ends(0.75)[, "upr"]), c(Inf, Inf))
})
