# Kernel models: training and prediction against retraining by QR, the kernels, the basis, the
# shift, and the methods of a fit. Holding out has files of its own.

kernel_rls <- plain_kernel_rls

grid <- 2^c(-15, -8, -1, 6, 15)

test_that("the worked example, to its printed digits", {
  e <- worked_example()
  fit <- kernel_rls(e$x, e$y, kernel = kernel_gaussian(e$gamma), basis = e$basis,
                    lambda = e$lambda, shift = "paper", standardize_response = FALSE)
  weights <- cbind(c(1.61114457947, -0.604605953178, -1.54577219506, 0.986238295806),
                   c(1.06466355247, -0.475443315128, 1.7470856402, -1.59722540625))
  expect_lt(relative_error(unname(coef(fit)), weights), 1e-11)
  values <- c(11.700564337959, 2.91172634446, 2.28374156337, 0.509020408354)
  expect_lt(relative_error(sort(fit$spectrum$values, decreasing = TRUE), values), 1e-11)
  expect_lt(abs(fit$path$criterion - 0.190338666957), 1e-12)
})

# By hand -----------------------------------------------------------------------------------------

test_that("a linear kernel on two rows, by hand", {
  x <- matrix(c(1, 2))
  # slope (1 + 6) / (1 + 4 + 1); without row 1 it is 6 / 5, without row 2 it is 1 / 2
  for (basis in list(NULL, 1:2)) {
    fit <- kernel_rls(x, c(1, 3), kernel = kernel_linear(), basis = basis, lambda = 1)
    expect_equal(unname(fitted(fit)), c(7, 14) / 6)
    expect_equal(unname(residuals(fit, "held_out")), c(1 - 6 / 5, 3 - 1))
    expect_equal(fit$path$criterion, (0.2^2 + 2^2) / 2)
    expect_equal(fit$path$training, ((1 / 6)^2 + (4 / 6)^2) / 2)
    expect_equal(unname(predict(fit, matrix(10))), 70 / 6)
  }
  # dual weights are residuals over lambda
  expect_equal(unname(coef(kernel_rls(x, c(1, 3), kernel = kernel_linear(), lambda = 1))),
               c(-1, 4) / 6)
})

test_that("one basis vector on three rows, by hand", {
  x <- matrix(c(0, 1, 2))
  y <- c(2, 1, 4)
  # kernel 1, 1/2 and 1/16 with row 1: the weight is (2 + 1/2 + 4/16) / (1 + 1/4 + 1/256 + 1)
  # (the number 1 would be one row drawn at random)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(log(2)), basis = c(TRUE, FALSE, FALSE),
                    lambda = 1, shift = 0)
  k <- c(1, 1 / 2, 1 / 16)
  expect_equal(unname(coef(fit)), 2.75 / (1 + 1 / 4 + 1 / 256 + 1))
  expect_equal(unname(fitted(fit)), k * 2.75 / (1 + 1 / 4 + 1 / 256 + 1))
  # without row 1 nothing is left of the model; without another row the weight changes
  held_out <- c(0, k[2] * (2 + 1 / 4) / (1 + 1 / 256 + 1), k[3] * (2 + 1 / 2) / (1 + 1 / 4 + 1))
  expect_equal(unname(drop(fit$held_out)), held_out)
  expect_equal(fit$path$criterion, mean((y - held_out)^2))
  expect_equal(fit$path$se, sd((y - held_out)^2) / sqrt(3))
})

test_that("an intercept and weights on three rows, by hand", {
  # with a kernel of nearly zero between rows, f is y - b shrunk row by row
  x <- matrix(c(0, 100, 200))
  y <- c(1, 2, 6)
  w <- c(1, 2, 1)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), lambda = 2, intercept = TRUE, weights = w)
  # f_j = w_j / (w_j + 2) (y_j - b), and b is the mean with weights w_j / (w_j + 2)
  share <- w / (w + 2)
  b <- sum(share * y) / sum(share)
  expect_equal(unname(coef(fit)[1]), b)
  expect_equal(unname(fitted(fit)), b + share * (y - b))
  held_out <- vapply(1:3, function(j) sum((share * y)[-j]) / sum(share[-j]), 0)
  expect_equal(unname(drop(fit$held_out)), held_out)
  expect_equal(fit$path$criterion, sum(w * (y - held_out)^2) / sum(w))
})

# Retraining --------------------------------------------------------------------------------------

expect_like_retraining <- function(fit, case, pb, new, where, tolerance) {
  m <- nrow(pb)
  rows <- m + seq_len(nrow(new))
  z <- pb$z[seq_len(nrow(new)), , drop = FALSE]
  for (l in seq_along(fit$path$lambda)) {
    lambda <- fit$path$lambda[l]
    model <- oracle_train(case, lambda)
    score <- oracle_values(case, model)
    training <- sum(case$rows$weight * rowMeans((case$rows$y - score)^2)) /
      sum(case$rows$weight)
    expect_lt(relative_error(fit$path$training[l], training), tolerance, label = where)
    predicted <- predict(fit, new, lambda = lambda, adjust = adjust_of(pb, seq_len(nrow(new))))
    exact <- oracle_values(case, model, rows, z)
    expect_lt(relative_error(unname(as.matrix(predicted)), exact), tolerance, label = where)
    expect_lt(relative_error(unname(fit$coefficients[[l]]$covariates), model$b),
              100 * tolerance, label = where)
    if (lambda == fit$lambda) {
      expect_lt(relative_error(unname(fit$fitted), score), tolerance, label = where)
    }
  }
}

test_that("models equal retraining, whatever the data, the basis and the shift", {
  set.seed(90)
  kinds <- random_settings(20)
  for (one in split(kinds, seq_len(nrow(kinds)))) {
    pb <- random_points(24, one$task, weights = one$weights, covariates = one$covariates,
                        intercept = one$intercept)
    basis <- random_basis(pb, one$basis)
    shift <- if (one$shift == "number") 1e-3 else one$shift
    fit <- unwarned(pb, kernel = kernel_gaussian(one$gamma), basis = basis, lambda = grid,
                      shift = shift)
    new <- matrix(rnorm(9), 3)
    full <- one$basis == "all" && one$shift == "auto"
    terms <- if (one$basis == "all" && !full) 1:24 else basis
    case <- oracle_case(pb, oracle_gaussian(one$gamma), terms, shift, new)
    # twins make the kernel matrix singular but for the shift
    singular <- one$basis %in% c("all", "twins") && !full
    tolerance <- if (!singular) 1e-10 else if (one$shift == "number") 1e-8 else 1e-6
    where <- paste(one, collapse = " ")
    expect_like_retraining(fit, case, pb, new, where, tolerance)
    exact <- vapply(grid, function(l) oracle_cv_figure(case, l, fit$folds), c(0, 0))
    expect_lt(relative_error(fit$path$criterion, exact["value", ]), tolerance, label = where)
    expect_lt(relative_error(fit$path$se, exact["se", ]), tolerance, label = where)
    expect_identical(fit$lambda, grid[which.min(fit$path$criterion)])
    if (one$basis %in% c("scattered", "points")) {
      weights <- oracle_train(case, fit$lambda)$a
      best <- fit$coefficients[[which(grid == fit$lambda)]]
      expect_lt(relative_error(unname(best$beta), weights), 1e-8, label = where)
    }
  }
})

test_that("near-singular kernels equal retraining at the default shift", {
  set.seed(91)
  x <- matrix(rnorm(30 * 2), 30)
  x[5:8, ] <- x[1:4, ]
  y <- sin(2 * x[, 1]) + x[, 2] + rnorm(30) / 5
  new <- matrix(rnorm(8), 4)
  kernels <- list(wide = list(kernel_gaussian(2^-10), oracle_gaussian(2^-10)),
                  medium = list(kernel_gaussian(2^-3), oracle_gaussian(2^-3)),
                  linear = list(kernel_linear(), oracle_linear),
                  cubic = list(kernel_polynomial(3, 1, 1), oracle_polynomial(3, 1, 1)))
  for (name in names(kernels)) for (basis in list(9:20, 1:12, x[9:20, ])) {
    pb <- as_problem(x, y, intercept = FALSE, standardize = FALSE)
    fit <- kernel_rls(pb, kernel = kernels[[name]][[1]], basis = basis, lambda = grid,
                      folds = rep(1:6, 5))
    case <- oracle_case(pb, kernels[[name]][[2]], basis, new = new)
    expect_like_retraining(fit, case, pb, new, name, 1e-6)
    exact <- vapply(grid, function(l) oracle_cv_figure(case, l, fit$folds), c(0, 0))
    expect_lt(relative_error(fit$path$criterion, exact["value", ]), 1e-6, label = name)
  }
})

test_that("all rows: any kernel, singular or not, and small lambda", {
  set.seed(92)
  kernels <- list(list(kernel_linear(), oracle_linear),
                  list(kernel_gaussian(2^-6), oracle_gaussian(2^-6)),
                  list(kernel_gaussian(2), oracle_gaussian(2)))
  for (kernel in kernels) for (intercept in c(FALSE, TRUE)) {
    pb <- random_points(22, "two", weights = TRUE, intercept = intercept)
    fit <- kernel_rls(pb, kernel = kernel[[1]], lambda = grid, folds = unequal_folds(pb, 2))
    case <- oracle_case(pb, kernel[[2]])
    exact <- vapply(grid, function(l) oracle_cv_figure(case, l, fit$folds), c(0, 0))
    expect_lt(relative_error(fit$path$criterion, exact["value", ]), 1e-8)
    expect_lt(relative_error(unname(fit$fitted),
                             oracle_values(case, oracle_train(case, fit$lambda))), 1e-8)
  }
})

# The kernels -------------------------------------------------------------------------------------

test_that("kernels are their formulas, also normalised, for rows and for new points", {
  set.seed(93)
  pb <- random_points(20, "one")
  new <- matrix(rnorm(9), 3)
  laplace <- function(x, z) exp(-sqrt(sum((x - z)^2)))
  of_matrices <- function(x, z) {
    distances <- apply(z, 1, function(point) sqrt(rowSums(sweep(x, 2, point)^2)))
    exp(-matrix(distances, nrow(x)))
  }
  kernels <- list(
    list(kernel_gaussian(1.3), oracle_gaussian(1.3)),
    list(kernel_polynomial(2, 0.5, 1), oracle_polynomial(2, 0.5, 1)),
    list(kernel_linear(), oracle_linear),
    list(kernel_gaussian(1.3, normalize = TRUE), oracle_gaussian(1.3)),
    list(kernel_polynomial(3, 1, 2, normalize = TRUE),
         oracle_normalised(oracle_polynomial(3, 1, 2))),
    list(kernel_linear(normalize = TRUE), oracle_normalised(oracle_linear)),
    list(of_matrices, laplace)
  )
  for (kernel in kernels) for (basis in list(NULL, c(3, 7, 12))) {
    fit <- kernel_rls(pb, kernel = kernel[[1]], basis = basis, lambda = c(0.1, 5))
    case <- oracle_case(pb, kernel[[2]], basis, new = new)
    expect_like_retraining(fit, case, pb, new, deparse(body(kernel[[2]]))[1], 1e-9)
  }
})

test_that("kernels of kernlab", {
  skip_if_not_installed("kernlab")
  set.seed(94)
  pb <- random_points(16, "one")
  pairs <- list(list(kernlab::rbfdot(sigma = 0.7), kernel_gaussian(0.7)),
                list(kernlab::polydot(2, 0.5, 1), kernel_polynomial(2, 0.5, 1)),
                list(kernlab::vanilladot(), kernel_linear()))
  for (pair in pairs) for (basis in list(NULL, 2:6)) {
    fits <- lapply(pair, function(kernel) {
      kernel_rls(pb, kernel = kernel, basis = basis, lambda = c(0.1, 5))
    })
    expect_equal(fits[[1]]$path, fits[[2]]$path)
    new <- matrix(rnorm(6), 2)
    expect_equal(predict(fits[[1]], new), predict(fits[[2]], new))
  }
})

test_that("a kernel matrix stands for its kernel", {
  set.seed(95)
  x <- matrix(rnorm(40), 20)
  y <- rnorm(20)
  new <- matrix(rnorm(6), 3)
  k <- oracle_kernel(oracle_gaussian(0.8), x)
  across <- oracle_kernel(oracle_gaussian(0.8), new, x)
  for (basis in list(NULL, c(4, 9, 2, 17))) {
    own <- unwarned(x, y, kernel = kernel_gaussian(0.8), basis = basis, intercept = TRUE)
    given <- unwarned(k, y, kernel = "precomputed", basis = basis, intercept = TRUE)
    expect_equal(given$path, own$path)
    expect_equal(unname(coef(given)), unname(coef(own)))
    expect_equal(unname(predict(given, across)), unname(predict(own, new)))
    expect_equal(holdout(given, 2:5, lambda = 0.3), holdout(own, 2:5, lambda = 0.3))
    if (!is.null(basis)) {
      expect_equal(unname(predict(given, across[, basis])), unname(predict(own, new)))
    }
  }
})

test_that("a linear kernel with all rows is ridge regression", {
  set.seed(96)
  for (d in c(4, 30)) for (intercept in c(FALSE, TRUE)) for (standardize in c(FALSE, TRUE)) {
    # rls() without intercept scales about zero, kernels about the mean
    if (standardize && !intercept) next
    x <- matrix(rnorm(18 * d, 2), 18) %*% diag(seq(0.5, 2, length.out = d))
    y <- cbind(x[, 1] + rnorm(18), rnorm(18))
    w <- runif(18, 0.5, 2)
    dual <- unwarned(x, y, kernel = kernel_linear(), weights = w, intercept = intercept,
                     standardize = standardize, folds = rep(1:6, 3))
    primal <- rls(x, y, weights = w, intercept = intercept, standardize = standardize,
                  folds = rep(1:6, 3))
    expect_equal(dual$path[c("lambda", "criterion", "se")],
                 primal$path[c("lambda", "criterion", "se")])
    expect_identical(dual$lambda, primal$lambda)
    expect_equal(dual$fitted, primal$fitted)
    expect_equal(dual$held_out, primal$held_out)
    new <- matrix(rnorm(3 * d), 3)
    expect_equal(predict(dual, new), predict(primal, new))
  }
})

# The basis and the shift -------------------------------------------------------------------------

test_that("a drawn basis is that of sample.int() and set.seed()", {
  x <- cbind(sin(1:30), cos(1:30 / 3))
  y <- x[, 1]^2 + x[, 2]
  fits <- lapply(c(1, 1, 2), function(seed) {
    set.seed(seed)
    kernel_rls(x, y, kernel = kernel_gaussian(1), basis = 7, lambda = c(0.1, 1))
  })
  set.seed(1)
  expect_identical(fits[[1]]$basis$rows, sample.int(30, 7))
  expect_identical(fits[[2]]$path, fits[[1]]$path)
  expect_false(setequal(fits[[3]]$basis$rows, fits[[1]]$basis$rows))
  given <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = fits[[1]]$basis$rows,
                      lambda = c(0.1, 1))
  for (part in c("path", "coefficients", "basis", "held_out", "fitted")) {
    expect_identical(given[[part]], fits[[1]][[part]])
  }
  expect_equal(unname(fits[[1]]$basis$points), x[fits[[1]]$basis$rows, ])
  expect_false(fits[[1]]$basis$all)
})

test_that("all rows as the basis, however asked for, without a shift", {
  set.seed(97)
  pb <- random_points(20, "one")
  fit <- kernel_rls(pb, kernel = kernel_gaussian(1), lambda = grid)
  expect_true(fit$basis$all)
  expect_identical(fit$shift$where, "none")
  order <- sample(20)
  for (basis in list(1:20, order)) {
    other <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = grid)
    expect_true(other$basis$all)
    expect_identical(other$shift$where, "none")
    expect_equal(other$path, fit$path)
    expect_equal(other$held_out, fit$held_out)
  }
  expect_equal(coef(other)[names(coef(fit))], coef(fit))
})

test_that("row names choose a basis, and the order of its rows does not matter", {
  set.seed(98)
  x <- matrix(rnorm(36), 18, dimnames = list(paste0("s", 1:18), c("a", "b")))
  y <- rnorm(18)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = c(5, 11, 2), lambda = 1)
  expect_named(coef(fit), c("s5", "s11", "s2"))
  other <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = c(2, 5, 11), lambda = 1)
  expect_equal(coef(other)[names(coef(fit))], coef(fit))
  expect_equal(other$held_out, fit$held_out)
})

test_that("the shift is what it is said to be", {
  set.seed(99)
  pb <- random_points(20, "one")
  k <- kernel_polynomial(2, 1, 1)
  diagonal <- diag(oracle_kernel(oracle_polynomial(2, 1, 1), unname(pb$x)[3:8, ]))
  shift_of <- function(...) kernel_rls(pb, kernel = k, lambda = 1, ...)$shift
  auto <- shift_of(basis = 3:8)
  expect_identical(auto$where, "regulariser")
  expect_equal(auto$value, 1e-10 * mean(diagonal), tolerance = 1e-12)
  expect_identical(shift_of(basis = 3:8, shift = "paper")$value, 1e-7)
  expect_identical(shift_of(basis = 3:8, shift = "paper")$where, "kernel")
  expect_identical(shift_of(basis = 3:8, shift = 0.25)$value, 0.25)
  expect_identical(shift_of(basis = 3:8, shift = 0.25)$where, "regulariser")
})

test_that("a kernel matrix that is a little off gets a larger shift", {
  set.seed(100)
  x <- matrix(rnorm(36), 18)
  y <- x[, 1] + rnorm(18) / 3
  # of rank two, so that the smallest eigenvalues are what is added
  off <- function(size) tcrossprod(x) - size * mean(rowSums(x[1:6, ]^2)) * diag(18)
  for (digits in c(9, 8, 7)) {
    fit <- kernel_rls(off(3 * 10^-digits / 10), y, kernel = "precomputed", basis = 1:6,
                      lambda = c(0.1, 1))
    expect_equal(fit$shift$value / mean(rowSums(x[1:6, ]^2)) * 10^digits, 1, tolerance = 1e-6)
  }
  for (size in c(3e-6, 0.01)) {
    expect_error(kernel_rls(off(size), y, kernel = "precomputed", basis = 1:6, lambda = 1),
                 class = "sparsels_error")
    expect_error(kernel_rls(off(size), y, kernel = "precomputed", lambda = 1),
                 class = "sparsels_error_input")
  }
  expect_silent(kernel_rls(off(1e-9), y, kernel = "precomputed", lambda = 1))
})

# Several widths ----------------------------------------------------------------------------------

test_that("of several widths the best by the held-out criterion is kept", {
  set.seed(101)
  pb <- random_points(25, "binary", weights = TRUE)
  widths <- c(0.01, 0.3, 2, 20)
  for (basis in list(NULL, 3:9)) for (folds in list("loo", rep(1:5, 5))) {
    fit <- unwarned(pb, kernel = kernel_gaussian(widths), basis = basis, lambda = grid,
                      folds = folds)
    each <- lapply(widths, function(gamma) {
      unwarned(pb, kernel = kernel_gaussian(gamma), basis = basis, lambda = grid, folds = folds)
    })
    best <- vapply(each, function(one) min(one$path$criterion), 0)
    expect_equal(fit$kernel_table$gamma, widths)
    expect_equal(fit$kernel_table$lambda, vapply(each, `[[`, 0, "lambda"))
    expect_equal(fit$kernel_table$criterion, best)
    chosen <- each[[which.min(best)]]
    for (part in c("lambda", "path", "coefficients", "held_out", "fitted", "shift", "basis")) {
      expect_identical(fit[[part]], chosen[[part]])
    }
    expect_identical(fit$kernel$parameters$gamma, widths[which.min(best)])
    expect_identical(holdout(fit, 4:9), holdout(chosen, 4:9))
  }
  # a drawn basis is the same for every width
  set.seed(5)
  drawn <- unwarned(pb, kernel = kernel_gaussian(widths), basis = 6)
  set.seed(5)
  expect_identical(drawn$basis$rows, sample.int(25, 6))
})

# The data ----------------------------------------------------------------------------------------

test_that("formula, frame, matrix, sparse matrix and problem are one", {
  set.seed(102)
  x <- matrix(rpois(20 * 3, 2), 20, dimnames = list(paste0("s", 1:20), c("a", "b", "c")))
  group <- rep(c("ill", "well"), 10)
  d <- data.frame(group, x)
  same <- c("path", "coefficients", "lambda", "held_out", "fitted", "shift")
  for (basis in list(NULL, c(2, 5, 9))) {
    fit_of <- function(...) kernel_rls(..., kernel = kernel_gaussian(0.4), basis = basis)
    fit <- fit_of(x, group)
    problem <- as_problem(x, group, intercept = FALSE, standardize = FALSE)
    others <- list(fit_of(group ~ ., data = d), fit_of(group ~ a + b + c, data = d),
                   fit_of(d[-1], group), fit_of(problem),
                   fit_of(Matrix::Matrix(x, sparse = TRUE), group))
    for (other in others) {
      expect_equal(other[same], fit[same])
      expect_identical(other$basis$rows, fit$basis$rows)
      expect_equal(unname(as.matrix(other$basis$points)), unname(x[fit$basis$rows, ]))
      expect_equal(predict(other, as.data.frame(x[1:4, 3:1])), predict(fit, x[1:4, ]))
    }
  }
})

test_that("a lambda near the rounding errors of the kernel matrix gives a warning", {
  set.seed(64)
  x <- matrix(rnorm(90), 30)
  y <- x[, 1] + rnorm(30)
  fit <- function(...) kernel_rls(x, y, kernel = kernel_linear(), ...)
  expect_warning(fit(lambda = c(1, 1e-13)), "lambda = 1e-13 have about",
                 class = "sparsels_warning_precision")
  expect_warning(fit(lambda = 1e-4, weights = replace(rep(1, 30), 7, 1e10)),
                 class = "sparsels_warning_precision")
  expect_no_warning(fit(lambda = c(1, 1e-8)))
  expect_no_warning(fit(lambda = c(1, 1e-8), weights = replace(rep(1, 30), 7, 1e3)))
})

test_that("a factor of a frame enters as its indicator columns", {
  d <- data.frame(y = c(3, 1, 4, 1, 5, 9, 2, 6), a = c(2, 7, 1, 8, 2, 8, 1, 8) / 4,
                  site = factor(c("u", "v", "w", "u", "v", "w", "u", "v")))
  columns <- cbind(d$a, d$site == "v", d$site == "w")
  fit <- kernel_rls(y ~ ., data = d, kernel = kernel_gaussian(1), lambda = 1, intercept = TRUE)
  plain <- kernel_rls(columns, d$y, kernel = kernel_gaussian(1), lambda = 1, intercept = TRUE)
  expect_equal(fit$path, plain$path)
  expect_equal(unname(predict(fit, d[3:1, ])), unname(predict(plain, columns[3:1, ])))
  # a frame of points too
  points <- data.frame(site = c("w", "u"), a = c(0.5, 1))
  fit <- kernel_rls(y ~ ., data = d, kernel = kernel_gaussian(1), lambda = 1, intercept = TRUE,
                    basis = points)
  plain <- kernel_rls(columns, d$y, kernel = kernel_gaussian(1), lambda = 1, intercept = TRUE,
                      basis = cbind(points$a, points$site == "v", points$site == "w"))
  expect_equal(fit$path, plain$path)
  expect_equal(unname(coef(fit)), unname(coef(plain)))
})

test_that("standardised columns have weighted mean zero and unit scale, with intercept or not", {
  set.seed(103)
  x <- matrix(rnorm(60, 5), 20) %*% diag(c(0.1, 1, 30))
  y <- rnorm(20)
  w <- runif(20, 0.5, 2)
  points <- x[3:8, ] + rnorm(18) / 10
  for (intercept in c(FALSE, TRUE)) for (basis in list(NULL, 5:10, points)) {
    fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = basis, weights = w,
                      lambda = c(0.1, 1), intercept = intercept, standardize = TRUE)
    inner <- if (is.matrix(basis)) oracle_standardised(x, w, basis) else basis
    plain <- kernel_rls(oracle_standardised(x, w), y, kernel = kernel_gaussian(1), basis = inner,
                        weights = w, lambda = c(0.1, 1), intercept = intercept)
    expect_equal(fit$path, plain$path)
    expect_equal(fit$coefficients, plain$coefficients)
    new <- x[1:4, ] + rnorm(12)
    expect_equal(predict(fit, new), predict(plain, oracle_standardised(x, w, new)))
    if (!is.null(basis)) {
      expect_equal(unname(fit$basis$points), if (is.matrix(basis)) basis else x[basis, ])
    }
  }
  # the units of the columns no longer matter
  moved <- kernel_rls(sweep(x, 2, c(1, 1e3, 1e-2), "*") + 7, y, kernel = kernel_gaussian(1),
                      weights = w, lambda = 1, standardize = TRUE)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), weights = w, lambda = 1, standardize = TRUE)
  expect_equal(moved$path, fit$path)
  # a problem keeps its own settings
  pb <- as_problem(x, y, weights = w)
  expect_equal(kernel_rls(pb, kernel = kernel_gaussian(1), lambda = 1)$path,
               kernel_rls(x, y, kernel = kernel_gaussian(1), weights = w, lambda = 1,
                          intercept = TRUE, standardize = TRUE)$path)
})

test_that("a column that does not vary takes no part in standardised distances", {
  set.seed(104)
  x <- cbind(rnorm(15), rnorm(15))
  y <- rnorm(15)
  fit <- kernel_rls(cbind(x, 7), y, kernel = kernel_gaussian(1), lambda = 1, standardize = TRUE)
  plain <- kernel_rls(x, y, kernel = kernel_gaussian(1), lambda = 1, standardize = TRUE)
  expect_equal(fit$path, plain$path)
  # raw values all count: a column of ones is an offset in the linear kernel
  raw <- kernel_rls(cbind(x, 1), y, kernel = kernel_linear(), lambda = 1)
  expect_equal(raw$path, kernel_rls(x, y, kernel = kernel_polynomial(1, 1, 1), lambda = 1)$path)
})

test_that("covariates of a formula come from the new rows too", {
  set.seed(105)
  d <- data.frame(y = rnorm(18), a = rnorm(18), b = rnorm(18), age = 31:48,
                  sex = rep(c("f", "m"), 9))
  for (basis in list(NULL, 4:9)) {
    fit <- unwarned(y ~ a + b, data = d, adjust = ~ age + sex, kernel = kernel_gaussian(1),
                      basis = basis, lambda = c(1, 1e9), intercept = TRUE)
    expect_equal(unname(predict(fit, d)), unname(fitted(fit)))
    # where the penalty leaves nothing of the kernel, the covariates are ordinary least squares
    expect_equal(coef(fit, lambda = 1e9)[1:3], coef(lm(y ~ age + sex, d)), tolerance = 1e-6)
  }
})

test_that("the order of the rows does not matter", {
  set.seed(106)
  x <- matrix(rnorm(60), 20)
  y <- cbind(u = rnorm(20), v = rnorm(20))
  w <- runif(20, 0.5, 2)
  ids <- sample(rep(1:4, 5))
  rows <- sample(20)
  for (basis in list(NULL, c(3, 9, 12, 20, 1))) {
    fit <- unwarned(x, y, kernel = kernel_gaussian(1), basis = basis, weights = w, folds = ids,
                      lambda = grid)
    other <- unwarned(x[rows, ], y[rows, ], kernel = kernel_gaussian(1),
                        basis = if (!is.null(basis)) match(basis, rows), weights = w[rows],
                        folds = ids[rows], lambda = grid)
    expect_equal(other$path, fit$path)
    expect_equal(other$held_out, fit$held_out[rows, ])
    new <- matrix(rnorm(6), 2)
    expect_equal(predict(other, new), predict(fit, new))
  }
})

test_that("a row of weight two is the row twice, held out together", {
  set.seed(107)
  x <- matrix(rnorm(24), 12)
  y <- rnorm(12)
  w <- rep(c(2, 1, 1), 4)
  twice <- rep(1:12, w)
  fit <- unwarned(x, y, kernel = kernel_gaussian(1), weights = w, lambda = grid)
  other <- unwarned(x[twice, ], y[twice], kernel = kernel_gaussian(1), folds = twice,
                      lambda = grid)
  expect_equal(other$path, fit$path)
  points <- matrix(rnorm(8), 4)
  fit <- unwarned(x, y, kernel = kernel_gaussian(1), weights = w, lambda = grid, basis = points)
  other <- unwarned(x[twice, ], y[twice], kernel = kernel_gaussian(1), folds = twice,
                      lambda = grid, basis = points)
  expect_equal(other$path, fit$path)
  expect_equal(coef(other), coef(fit))
})

test_that("weights, kernel and lambda have no unit of their own", {
  set.seed(113)
  pb <- random_points(20, "one", weights = TRUE, intercept = TRUE)
  x <- unname(pb$x)
  fit_of <- function(factor, times, basis) {
    kernel_rls(factor * oracle_kernel(oracle_gaussian(1), x), pb$rows$y, kernel = "precomputed",
               weights = times * pb$rows$weight, basis = basis, lambda = factor * times * grid,
               intercept = TRUE)
  }
  for (basis in list(NULL, 4:9)) {
    fit <- fit_of(1, 1, basis)
    for (other in list(fit_of(64, 1, basis), fit_of(1, 1024, basis), fit_of(1 / 8, 16, basis))) {
      expect_equal(other$path[-1], fit$path[-1])
      expect_equal(other$held_out, fit$held_out)
    }
  }
})

test_that("threads change nothing", {
  set.seed(108)
  pb <- random_points(60, "two", weights = TRUE)
  for (basis in list(NULL, 3:22)) for (folds in list("loo", rep(1:12, 5), rep(1:3, 20))) {
    one <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, folds = folds)
    two <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, folds = folds, threads = 2)
    parts <- setdiff(names(one), c("threads", "call"))
    expect_identical(two[parts], one[parts])
    expect_identical(holdout(two, 5:40), holdout(one, 5:40))
    expect_identical(cv_error(two, "loo"), cv_error(one, "loo"))
  }
})

# Methods -----------------------------------------------------------------------------------------

test_that("methods of a kernel fit", {
  set.seed(109)
  x <- matrix(rnorm(40), 20, dimnames = list(paste0("s", 1:20), c("a", "b")))
  y <- factor(ifelse(x[, 1] + rnorm(20) / 4 > 0.2, "high", "low"))
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = c(4, 1, 7), lambda = c(0.5, 2),
                    intercept = TRUE)
  expect_s3_class(fit, c("kernel_rls", "kernel_fit", "sparsels_fit", "sparsels_result"),
    exact = TRUE)
  expect_named(coef(fit), c("(Intercept)", "s4", "s1", "s7"))
  expect_identical(coef(fit, lambda = fit$lambda), coef(fit))
  expect_false(identical(coef(fit, lambda = 0.5), coef(fit, lambda = 2)))
  expect_equal(predict(fit, x), fitted(fit))
  expect_named(fitted(fit), rownames(x))
  expect_identical(predict(fit, x, type = "link"), predict(fit, x))
  class <- predict(fit, x, type = "class")
  expect_identical(levels(class), c("high", "low"))
  expect_identical(unname(class == "low"), unname(predict(fit, x) > 0))
  expect_named(predict(fit, x[1:3, 2:1], type = "class"), c("s1", "s2", "s3"))
  expect_length(predict(fit, x[0, ]), 0)
  expect_equal(residuals(fit), c(-1, 1)[y] - fitted(fit))
  expect_equal(sum(residuals(fit, "held_out")^2) / 20, min(fit$path$criterion))
  expect_identical(nobs(fit), 20L)
  expect_null(fit$problem$x)
  expect_named(fit$path, c("lambda", "criterion", "se", "error", "training"), ignore.order = TRUE)
  expect_identical(fit$status, "complete")
  expect_identical(row.names(kernel_rls(x, y, kernel = kernel_linear(), lambda = 1)$path), "1")
  outputs <- kernel_rls(unname(x), cbind(u = x[, 1], v = rnorm(20)), kernel = kernel_linear(),
                        basis = c(9, 3), lambda = 1)
  expect_identical(colnames(coef(outputs)), c("u", "v"))
  expect_identical(dim(coef(outputs)), c(2L, 2L))
  expect_identical(colnames(predict(outputs, unname(x))), c("u", "v"))
})

test_that("three classes are told apart by their scores", {
  set.seed(110)
  x <- matrix(rnorm(60), 30)
  y <- cut(x[, 1], c(-Inf, -0.4, 0.4, Inf), c("a", "b", "c"))
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), lambda = 0.1)
  score <- predict(fit, x)
  expect_identical(colnames(score), c("a", "b", "c"))
  expect_identical(unname(predict(fit, x, type = "class")),
                   factor(c("a", "b", "c")[max.col(score)], levels(y)))
  expect_equal(fit$path$error, mean(max.col(fit$held_out) != as.integer(y)))
})

test_that("lambda is 2^-15 to 2^15 unless it is given", {
  fit <- kernel_rls(cbind(c(1, 2, 4, 8, 9)), c(1, 3, 2, 5, 4), kernel = kernel_gaussian(0.1))
  expect_identical(fit$path$lambda, 2^(-15:15))
  expect_identical(fit$lambda, fit$path$lambda[which.min(fit$path$criterion)])
  expect_equal(kernel_rls(cbind(c(1, 2, 4, 8, 9)), c(1, 3, 2, 5, 4), lambda = c(4, 0.5),
                          kernel = kernel_gaussian(0.1))$path,
               fit$path[match(c(4, 0.5), fit$path$lambda), ], ignore_attr = "row.names")
})

test_that("a saved fit holds out and predicts as before", {
  set.seed(111)
  pb <- random_points(16, "binary", covariates = TRUE)
  for (basis in list(NULL, 4:9)) {
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis)
    path <- tempfile(fileext = ".rds")
    saveRDS(fit, path)
    again <- readRDS(path)
    unlink(path)
    expect_identical(holdout(again, 3:7), holdout(fit, 3:7))
    expect_identical(cv_error(again, rep(1:4, 4)), cv_error(fit, rep(1:4, 4)))
    expect_identical(predict(again, pb$x, adjust = adjust_of(pb)),
                     predict(fit, pb$x, adjust = adjust_of(pb)))
  }
})

test_that("tidy, glance and augment of a kernel fit", {
  set.seed(112)
  x <- matrix(rnorm(40), 20, dimnames = list(paste0("s", 1:20), c("a", "b")))
  y <- cbind(u = rnorm(20), v = rnorm(20))
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = c(3, 8), lambda = c(1, 2),
                    intercept = TRUE)
  terms <- tidy(fit)
  expect_identical(terms$term, rep(c("(Intercept)", "s3", "s8"), 2))
  expect_equal(terms$estimate, as.vector(coef(fit)))
  glance <- glance(fit)
  expect_identical(nrow(glance), 1L)
  expect_identical(glance$nobs, 20L)
  expect_identical(glance$lambda, fit$lambda)
  both <- augment(fit)
  expect_equal(both$.fitted.u, unname(fitted(fit)[, 1]))
  expect_equal(both$.held_out.v, unname(y[, 2] - residuals(fit, "held_out")[, 2]))
  expect_equal(both$.resid.v, unname(y[, 2] - fitted(fit)[, 2]))
  d <- data.frame(kind = rep(c("p", "q"), 10), x)
  classes <- kernel_rls(kind ~ ., data = d, kernel = kernel_gaussian(1), lambda = 1)
  expect_identical(names(augment(classes, d))[1:3], names(d))
  expect_identical(augment(classes)$.pred_class == "q", unname(classes$held_out[, 1] > 0))
})

test_that("a kernel fit prints what was fitted", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 6, 7, 8), b = c(0, 1, 0, 1, 0, 1, 0, 1))
  sick <- factor(c("no", "no", "no", "no", "yes", "yes", "yes", "no"))
  dose <- c(1, 2, 3, 5, 5, 6, 8, 8)
  expect_snapshot({
    kernel_rls(x, dose, kernel = kernel_gaussian(0.5), lambda = c(0.1, 1, 10))
    kernel_rls(x, sick, kernel = kernel_gaussian(c(0.1, 1)), basis = c(2, 5, 7),
               lambda = c(0.5, 1), folds = rep(1:4, 2))
    kernel_rls(x, dose, kernel = kernel_linear(), basis = x[1:2, ] / 2, lambda = 1,
               intercept = TRUE, adjust = cbind(age = c(3, 1, 4, 1, 5, 9, 2, 6)))
    kernel_rls(tcrossprod(x), dose, kernel = "precomputed", basis = 1:3, lambda = 1,
               shift = "paper")
    summary(kernel_rls(x, dose, kernel = kernel_polynomial(2, 1, 1), basis = c(2, 5),
                       lambda = c(0.1, 1)))
    kernel_gaussian(c(0.1, 1))
    kernel_polynomial(2, 0.5, 1, normalize = TRUE)
  })
})

test_that("a kernel fit is drawn as its path, the best lambda marked", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 6, 7, 8), b = c(0, 1, 0, 1, 0, 1, 0, 1))
  lambda <- c(4, 0.1, 1)
  fit <- kernel_rls(x, c(1, 2, 3, 5, 5, 6, 8, 8), kernel = kernel_gaussian(0.5), basis = 1:3,
                    lambda = lambda)
  expect_silent(drawn <- withVisible(plot(fit)))
  expect_false(drawn$visible)
  held_out <- drawn$value[drawn$value$curve == "held_out", ]
  path <- fit$path[order(lambda), ]
  expect_equal(held_out$lambda, sort(lambda))
  expect_equal(held_out$mean, path$criterion)
  expect_equal(held_out$lower, path$criterion - path$se)
  expect_identical(held_out$lambda[held_out$chosen], fit$lambda)
  expect_equal(drawn$value$mean[drawn$value$curve == "training"], path$training)
  expect_silent(plot(rls(x, c(1, 2, 3, 5, 5, 6, 8, 8))))
})

test_that("all rows as basis is the Gaussian process of kernlab", {
  skip_if_not_installed("kernlab")
  set.seed(97)
  x <- matrix(rnorm(80), 40)
  y <- sin(x[, 1]) + rnorm(40) / 5
  other <- kernlab::gausspr(x, y, kernel = "rbfdot", kpar = list(sigma = 0.7), var = 0.3,
                            scaled = FALSE, variance.model = FALSE)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(0.7), lambda = 0.3)
  new <- matrix(rnorm(20), 10)
  expect_equal(predict(fit, new), drop(kernlab::predict(other, new)), tolerance = 1e-10)
})

test_that("without a kernel the width is found about the median distance", {
  set.seed(150)
  x <- matrix(rnorm(60 * 3), 60)
  y <- sin(2 * x[, 1]) + x[, 2] + rnorm(60) / 5
  squared <- as.vector(dist(x))^2
  found <- suppressWarnings(kernel_rls(x, y), "sparsels_warning_edge")
  widths <- kernel_gaussian(sigma2 = median(squared) * 2^(-3:3))
  same <- suppressWarnings(kernel_rls(x, y, kernel = widths), "sparsels_warning_edge")
  expect_equal(found$kernel_table, same$kernel_table, tolerance = 1e-12)
  expect_equal(found$lambda, same$lambda)
  expect_output(print(found), "chosen from 7 values")
  # on the scale of the kernel, that of few rows too, and for new data
  scaled <- suppressWarnings(kernel_rls(x * rep(c(1, 9, 99), each = 60), y, standardize = TRUE,
                                        basis = 20, folds = 5), "sparsels_warning_edge")
  own <- as.vector(dist(oracle_standardised(x, rep(1, 60))))^2
  expect_equal(1 / scaled$kernel_table$gamma, median(own) * 2^(-3:3), tolerance = 1e-10)
  expect_length(predict(found, x[1:4, ]), 4)
})

test_that("a width at the end of those tried is a warning", {
  set.seed(151)
  x <- matrix(rnorm(80))
  y <- sin(x[, 1]) + rnorm(80) / 9
  try_widths <- function(gamma) kernel_rls(x, y, kernel = kernel_gaussian(gamma))
  expect_warning(try_widths(c(40, 400, 4000)), "the widest of 3 tried, sigma2 = 0.025",
                 class = "sparsels_warning_edge")
  expect_warning(try_widths(c(0.001, 0.01, 0.1)), "narrowest of 3.* a narrower one may be better",
                 class = "sparsels_warning_edge")
  expect_silent(try_widths(2^(-8:8)))
  expect_silent(try_widths(c(1, 10)))
})

test_that("predictions of no kernel are a warning", {
  set.seed(152)
  x <- matrix(rnorm(40))
  y <- rnorm(40)
  z <- rnorm(40)
  for (intercept in c(FALSE, TRUE)) for (adjust in list(NULL, z)) {
    for (folds in list("loo", make_folds(40, 5, repeats = 2))) {
      pb <- as_problem(x, y, intercept = intercept, adjust = adjust, weights = rep(3, 40))
      expect_warning(fit <- kernel_rls(pb, kernel = kernel_gaussian(1e9), folds = folds),
                     if (ncol(pb$z)) "the intercept and covariates alone" else "nearly 0",
                     class = "sparsels_warning_edge")
      expect_equal(null_residuals(fit$problem, fit$folds), fit$problem$rows$y - fit$held_out,
                   tolerance = 1e-6)
    }
  }
  expect_silent(kernel_rls(x, sin(x[, 1]), kernel = kernel_gaussian(1)))
})

test_that("the eigenvectors of a kernel are in the complement of the covariates", {
  set.seed(831)
  z <- cbind(1, rnorm(9), rnorm(9))
  x <- matrix(rnorm(90), 9)
  pb <- as_problem(x, rnorm(9), adjust = z[, -1], weights = runif(9, 0.5, 2))
  K <- tcrossprod(x)
  parts <- complement_eigen(K, weighted_covariates(pb))
  expect_identical(dim(parts$vectors), c(9L, 6L))
  along <- crossprod(parts$vectors, sqrt(pb$rows$weight) * z)
  expect_lt(max(abs(along)), 1e-12)
  rest <- qr.resid(qr(sqrt(pb$rows$weight) * z), diag(9))
  product <- parts$vectors %*% (parts$values * t(parts$vectors))
  expect_equal(product, rest %*% K %*% rest, tolerance = 1e-12)
  expect_identical(complement_eigen(K, matrix(0, 9L, 0L)), eigen(K, symmetric = TRUE))
})

test_that("by default neither origin nor units matter, in any form of the data", {
  set.seed(90)
  x <- matrix(rnorm(120), 30, dimnames = list(NULL, letters[1:4]))
  y <- x[, 1] + rnorm(30) / 3
  moved <- sweep(sweep(x, 2, c(1, 1e3, 1e-2, 5), "*"), 2, c(0, 7, -3, 1e3), "+")
  for (method in list(sparsels::kernel_rls, lssvm)) {
    fit <- suppressWarnings(method(x, y))
    other <- suppressWarnings(method(moved, 1000 + 10 * y))
    expect_equal(predict(other, moved), 1000 + 10 * predict(fit, x), tolerance = 1e-8)
    forms <- suppressWarnings(list(method(as_problem(x, y)), method(y ~ ., data.frame(x, y))))
    for (same in forms) {
      expect_equal(predict(same, x), predict(fit, x), ignore_attr = TRUE)
    }
    width <- fit$kernel$parameters$gamma
    values <- oracle_kernel(oracle_gaussian(width), oracle_standardised(x, rep(1, 30)))
    expect_equal(suppressWarnings(method(values, y, kernel = "precomputed"))$path$criterion,
                 fit$path$criterion)
  }
})
