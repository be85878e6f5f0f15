# Kernels: every value against one pair of points at a time, and what is refused.

# every kernel of ours with its slow twin
twins <- function() {
  list(
    list(kernel_gaussian(0.3), oracle_gaussian(0.3)),
    list(kernel_polynomial(), oracle_polynomial(2, 1, 1)),
    list(kernel_polynomial(3, scale = 0.5, offset = 0), oracle_polynomial(3, 0.5, 0)),
    list(kernel_polynomial(1, scale = 2, offset = 0.1), oracle_polynomial(1, 2, 0.1)),
    list(kernel_linear(), oracle_linear),
    list(kernel_gaussian(0.3, normalize = TRUE), oracle_gaussian(0.3)),
    list(kernel_polynomial(2, normalize = TRUE), oracle_normalised(oracle_polynomial(2, 1, 1))),
    list(kernel_linear(normalize = TRUE), oracle_normalised(oracle_linear))
  )
}

test_that("values and diagonals equal one pair at a time, dense and sparse", {
  set.seed(201)
  x <- matrix(rnorm(7 * 4), 7, dimnames = list(letters[1:7], NULL))
  x[abs(x) < 0.4] <- 0
  z <- rbind(x[c(3, 3, 6), ], rnorm(4))
  sparse <- function(x) methods::as(x, "CsparseMatrix")
  for (twin in twins()) {
    exact <- oracle_kernel(twin[[2]], x, z)
    words <- kernel_words(twin[[1]])
    for (left in list(x, sparse(x))) for (right in list(z, sparse(z))) {
      K <- kernel_matrix(twin[[1]], left, right)
      expect_true(is.matrix(K) && is.double(K) && is.null(dimnames(K)))
      expect_equal(K, exact, tolerance = 1e-13, label = words)
    }
    own <- diag(oracle_kernel(twin[[2]], x))
    for (left in list(x, sparse(x))) {
      expect_equal(kernel_diagonal(twin[[1]], left), own, tolerance = 1e-13, label = words)
    }
    expect_equal(twin[[1]]$values(x, z), exact, tolerance = 1e-13, ignore_attr = TRUE)
    expect_equal(twin[[1]]$diagonal(x), own, tolerance = 1e-13)
  }
})

test_that("matrices with one row, one column or no row", {
  x <- matrix(c(1, -2, 0.5), 3)
  for (twin in twins()) {
    expect_equal(kernel_matrix(twin[[1]], x, x[2, , drop = FALSE]),
                 oracle_kernel(twin[[2]], x, x[2, , drop = FALSE]))
    expect_equal(kernel_matrix(twin[[1]], x[2, , drop = FALSE], x),
                 oracle_kernel(twin[[2]], x[2, , drop = FALSE], x))
    expect_identical(dim(kernel_matrix(twin[[1]], x[0, , drop = FALSE], x)), c(0L, 3L))
  }
  whole <- matrix(1:6, 3)
  expect_equal(kernel_matrix(kernel_gaussian(1), whole, whole),
               oracle_kernel(oracle_gaussian(1), whole))
})

test_that("equal points have a Gaussian kernel of exactly 1", {
  set.seed(202)
  for (d in c(1, 3, 40, 1000)) for (offset in c(0, 1e6)) {
    x <- matrix(rnorm(20 * d), 20) + offset
    K <- kernel_matrix(kernel_gaussian(1 / d), x, x[c(4, 4, 9), , drop = FALSE])
    expect_identical(K[cbind(c(4, 4, 9), 1:3)], c(1, 1, 1))
    expect_identical(K[, 1], K[, 2])
    expect_lte(max(K), 1)
  }
  expect_identical(kernel_diagonal(kernel_gaussian(2), x), rep(1, 20))
})

test_that("a common offset costs a Gaussian kernel no digits", {
  set.seed(203)
  # multiples of 2^-10, so that adding the offset is exact
  x <- matrix(round(rnorm(30) * 1024) / 1024, 10)
  for (offset in c(1e6, -1e9)) {
    expect_equal(kernel_matrix(kernel_gaussian(0.7), x + offset, x[1:4, ] + offset),
                 oracle_kernel(oracle_gaussian(0.7), x, x[1:4, ]), tolerance = 1e-13)
  }
  near <- x[c(1, 1), ] + c(0, 1e-4)
  expect_equal(1 - kernel_matrix(kernel_gaussian(1), near, near)[1, 2], 3e-8, tolerance = 1e-6)
})

test_that("a point of length zero stays zero when normalised", {
  x <- rbind(c(0, 0), c(3, 4))
  for (kernel in list(kernel_linear(TRUE), kernel_polynomial(2, offset = 0, normalize = TRUE))) {
    expect_equal(kernel_matrix(kernel, x, x), diag(c(0, 1)))
    expect_equal(kernel_diagonal(kernel, x), c(0, 1))
  }
})

test_that("blocks change nothing", {
  set.seed(204)
  x <- matrix(rnorm(1500 * 3), 1500) + 50
  expect_gt(length(value_blocks(1:1500, 900)), 1)
  expect_identical(unlist(value_blocks(1:1500, 900)), 1:1500)
  expect_identical(lengths(value_blocks(1:3, 5e6)), c(1L, 1L, 1L))
  for (twin in twins()[c(1, 2, 8)]) {
    K <- kernel_matrix(twin[[1]], x, x[1:900, ])
    expect_equal(K, twin[[1]]$values(x, x[1:900, ]), tolerance = 1e-14)
    some <- c(1, 700, 1400)
    expect_equal(K[some, some %/% 2 + 1], oracle_kernel(twin[[2]], x[some, ], x[some %/% 2 + 1, ]))
  }
})

test_that("functions of two matrices are kernels", {
  set.seed(205)
  x <- matrix(rnorm(15), 5, dimnames = list(letters[1:5], NULL))
  cubic <- as_kernel(function(x, z) tcrossprod(x, z)^3)
  expect_equal(kernel_matrix(cubic, x, x[1:2, ]),
               oracle_kernel(oracle_polynomial(3, 1, 0), x, x[1:2, ]))
  expect_equal(kernel_diagonal(cubic, x), rowSums(x^2)^3, ignore_attr = TRUE)
  expect_null(names(kernel_diagonal(cubic, x)))
  sparse <- methods::as(x, "CsparseMatrix")
  product <- as_kernel(function(x, z) Matrix::tcrossprod(x, z))
  expect_equal(kernel_matrix(product, sparse, sparse), unname(tcrossprod(x)))
  whole <- as_kernel(function(x, z) matrix(1L, nrow(x), nrow(z)))
  expect_identical(kernel_matrix(whole, x, x), matrix(1, 5, 5))
  expect_identical(kernel_diagonal(whole, x), rep(1, 5))
})

test_that("kernels of kernlab", {
  skip_if_not_installed("kernlab")
  set.seed(206)
  x <- matrix(rnorm(18), 6)
  pairs <- list(
    list(kernlab::rbfdot(sigma = 0.4), oracle_gaussian(0.4)),
    list(kernlab::polydot(degree = 3, scale = 2, offset = 1), oracle_polynomial(3, 2, 1)),
    list(kernlab::vanilladot(), oracle_linear),
    list(kernlab::laplacedot(sigma = 0.5), function(x, z) exp(-0.5 * sqrt(sum((x - z)^2)))),
    list(structure(function(x, y) sum(x * y) + 2, class = "kernel"), oracle_polynomial(1, 1, 2))
  )
  for (pair in pairs) {
    kernel <- as_kernel(pair[[1]])
    for (left in list(x, methods::as(x, "CsparseMatrix"))) {
      expect_equal(kernel_matrix(kernel, left, left[4:5, ]), oracle_kernel(pair[[2]], x, x[4:5, ]),
                   tolerance = 1e-7)
      expect_equal(kernel_diagonal(kernel, left), diag(oracle_kernel(pair[[2]], x)),
                   tolerance = 1e-7)
    }
  }
  expect_identical(kernel_words(as_kernel(kernlab::rbfdot(sigma = 0.4))),
                   "rbfkernel of kernlab, sigma = 0.4")
})

test_that("a vector of widths is a kernel for each", {
  kernel <- kernel_gaussian(c(2, 0.5, 1), normalize = TRUE)
  each <- each_kernel(kernel)
  expect_identical(vapply(each, function(k) k$parameters$gamma, 0), c(2, 0.5, 1))
  x <- matrix(c(1, 2, 4), 3)
  expect_equal(kernel_matrix(each[[2]], x, x), oracle_kernel(oracle_gaussian(0.5), x))
  expect_true(each[[3]]$normalize)
  expect_null(kernel$values)
  for (kernel in list(kernel_linear(), kernel_gaussian(3), as_kernel("precomputed"))) {
    expect_identical(each_kernel(kernel), list(kernel))
    expect_identical(as_kernel(kernel), kernel)
  }
  expect_null(as_kernel("precomputed")$values)
  expect_null(as_kernel("precomputed")$diagonal)
})

test_that("sigma2 is 1 / gamma", {
  x <- matrix(c(1, 2, 4), 3)
  kernel <- kernel_gaussian(sigma2 = 0.5)
  expect_identical(kernel$parameters, list(gamma = 2))
  expect_identical(kernel_matrix(kernel, x, x), kernel_matrix(kernel_gaussian(2), x, x))
  expect_identical(kernel_gaussian(sigma2 = c(4, 0.5))$parameters$gamma, c(0.25, 2))
  expect_true(kernel_gaussian(sigma2 = 3, normalize = TRUE)$normalize)
  # what stood where it stands
  expect_identical(kernel_gaussian(2, TRUE)$parameters, list(gamma = 2))
  expect_true(kernel_gaussian(2, TRUE)$normalize)
  passed_on <- function(width) kernel_gaussian(sigma2 = width)
  expect_identical(passed_on(4)$parameters$gamma, 0.25)
})

test_that("columns one after the other are those of the matrix, whatever the kernel", {
  set.seed(207)
  x <- matrix(rnorm(7 * 4), 7, dimnames = list(letters[1:7], NULL)) + 5
  x[abs(x - 5) < 0.4] <- 0
  x[3, ] <- 0
  kernels <- c(lapply(twins(), `[[`, 1), list(as_kernel(Matrix::tcrossprod)))
  for (kernel in kernels) for (one in list(x, methods::as(x, "CsparseMatrix"))) {
    column <- kernel_column(kernel, one)
    K <- kernel_matrix(kernel, one, one)
    for (j in c(7, 3, 1)) {
      expect_equal(column(j), K[, j], tolerance = 1e-13, label = kernel_words(kernel))
      expect_null(attributes(column(j)))
    }
  }
  K <- tcrossprod(x)
  for (one in list(K, methods::as(K, "CsparseMatrix"))) {
    expect_identical(kernel_column(as_kernel("precomputed"), one)(2), unname(K[, 2]))
  }
  hole <- as_kernel(function(x, z) replace(tcrossprod(x, z), 2, NA))
  for (kernel in list(hole, kernel_polynomial(400))) {
    expect_error(kernel_column(kernel, 100 * x)(1), "missing or infinite",
                 class = "sparsels_error_argument")
  }
  # a common offset costs no digits
  x <- matrix(round(rnorm(30) * 1024) / 1024, 10)
  expect_equal(kernel_column(kernel_gaussian(0.7), x + 1e6)(4),
               oracle_kernel(oracle_gaussian(0.7), x)[, 4], tolerance = 1e-13)
})

test_that("products of sparse matrices, wide and tall", {
  set.seed(208)
  x <- Matrix::rsparsematrix(12, 30, 0.3)
  expect_identical(dim(inner_products(x, x[1:3, ])), c(12L, 3L))
  for (wide in list(x, Matrix::t(x))) {
    expect_equal(inner_products(wide, wide[1:3, ]),
                 unname(as.matrix(wide) %*% t(as.matrix(wide)[1:3, ])))
    expect_true(is.matrix(inner_products(wide, wide)))
  }
})

# Standardised points -----------------------------------------------------------------------------

# sparse columns, a few with a mean far from zero, one empty and one constant
sparse_example <- function() {
  x <- as.matrix(Matrix::rsparsematrix(40, 9, 0.2))
  x[, 2] <- 1e6 + round(rnorm(40) * 1024) / 1024
  x[, 5] <- rbinom(40, 1, 0.9)
  x[, 7] <- 0
  x[, 8] <- 3
  methods::as(x, "CsparseMatrix")
}

test_that("sparse points stay sparse for kernels of differences, which do not see it", {
  set.seed(209)
  x <- sparse_example()
  new <- x[1:5, ] + 1
  w <- runif(40, 0.5, 2)
  dense <- oracle_standardised(as.matrix(x)[, -(7:8)], w)
  moved_new <- oracle_standardised(as.matrix(x)[, -(7:8)], w, as.matrix(new)[, -(7:8)])
  pb <- kernel_scale(as_problem(x, rnorm(40), weights = w), shift = TRUE)
  expect_identical(which(pb$columns$centre != 0), c(2L, 5L, 8L))
  points <- kernel_points(pb, x)
  expect_s4_class(points, "dgCMatrix")
  expect_lt(Matrix::nnzero(points), Matrix::nnzero(x) + 10)
  kernel <- kernel_gaussian(0.2)
  expect_equal(kernel_matrix(kernel, points, points), oracle_kernel(oracle_gaussian(0.2), dense),
               tolerance = 1e-9)
  # a column that does not vary takes part where it is another in new rows
  expect_equal(kernel_matrix(kernel, kernel_points(pb, new), points),
               oracle_kernel(oracle_gaussian(0.2), cbind(moved_new, 1, 1), cbind(dense, 0, 0)),
               tolerance = 1e-9)
  expect_equal(kernel_matrix(kernel, kernel_points(pb, as.matrix(new)), points),
               kernel_matrix(kernel, kernel_points(pb, new), points), tolerance = 1e-9)
  expect_identical(dim(kernel_points(pb, x[0, ])), c(0L, 9L))
})

test_that("other kernels see sparse points centred", {
  set.seed(210)
  x <- sparse_example()
  pb <- as_problem(x, rnorm(40))
  dense <- as_problem(as.matrix(x), pb$rows$y[, 1])
  for (kernel in list(kernel_polynomial(2), kernel_linear(), as_kernel(tcrossprod))) {
    seen <- kernel_problem(pb, kernel)
    exact <- kernel_problem(dense, kernel)
    expect_equal(as.matrix(kernel_points(seen, x)), kernel_points(exact, dense$x))
  }
  for (kernel in list(kernel_gaussian(1), kernel_gaussian(c(1, 2)))) {
    expect_true(kernel$shift)
    expect_s4_class(kernel_points(kernel_problem(pb, kernel), x), "dgCMatrix")
  }
  # mostly full columns are dense points
  full <- methods::as(as.matrix(x) + 2, "CsparseMatrix")
  seen <- kernel_problem(as_problem(full, pb$rows$y[, 1]), kernel_gaussian(1))
  expect_true(is.matrix(kernel_points(seen, full)))
})

test_that("a fit on a sparse standardised x is that on the dense one", {
  set.seed(211)
  x <- sparse_example()
  y <- rnorm(40) + x[, 1]
  points <- x[3:6, ] * 1.5
  for (kernel in list(kernel_gaussian(c(0.1, 1)), kernel_polynomial(2))) {
    for (basis in list(NULL, c(3, 9, 20, 31), points)) {
      fit <- unwarned(x, y, kernel = kernel, basis = basis, lambda = c(1, 4), standardize = TRUE)
      whole <- unwarned(as.matrix(x), y, kernel = kernel, lambda = c(1, 4), standardize = TRUE,
                          basis = if (is.null(dim(basis))) basis else as.matrix(basis))
      expect_equal(fit$path, whole$path, tolerance = 1e-6)
      expect_equal(fit$held_out, whole$held_out, tolerance = 1e-6)
      for (new in list(x[1:5, ] + 0.1, as.matrix(x[1:5, ] + 0.1), x[1:2, ])) {
        expect_equal(predict(fit, new), predict(whole, as.matrix(new)), tolerance = 1e-6)
      }
    }
  }
})

test_that("a kernel keeps nothing but its parameters", {
  set.seed(39)
  make <- function() {
    large <- rnorm(1e5)
    width <- 1 + 0 * large[1]
    list(kernel_gaussian(width), kernel_polynomial(2, width, width), kernel_linear(width > 2))
  }
  for (kernel in make()) expect_lt(length(serialize(kernel, NULL)), 1e5)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(kernel_gaussian(0.7, normalize = TRUE), file)
  x <- matrix(1:4, 2)
  expect_identical(kernel_matrix(readRDS(file), x, x), kernel_matrix(kernel_gaussian(0.7), x, x))
})

test_that("kernels print", {
  expect_snapshot({
    kernel_gaussian(0.5)
    kernel_gaussian(2^(-3:-1))
    kernel_gaussian(sigma2 = 0.5)
    kernel_gaussian(2^(-15:15), normalize = TRUE)
    kernel_polynomial(3, scale = 1 / 3)
    kernel_linear(normalize = TRUE)
    as_kernel(tcrossprod)
    as_kernel("precomputed")
  })
})

test_that("parameters out of range", {
  expect_snapshot({
    refusal(kernel_gaussian())
    refusal(kernel_gaussian(0))
    refusal(kernel_gaussian(c(1, -2)))
    refusal(kernel_gaussian(c(1, NA)))
    refusal(kernel_gaussian(Inf))
    refusal(kernel_gaussian(numeric()))
    refusal(kernel_gaussian("auto"))
    refusal(kernel_gaussian(diag(2)))
    refusal(kernel_gaussian(c(0.5, 1, 0.5)))
    refusal(kernel_gaussian(sigma2 = 0))
    refusal(kernel_gaussian(sigma2 = c(1, Inf)))
    refusal(kernel_gaussian(sigma2 = c(3, 1, 3)))
    refusal(kernel_gaussian(sigma2 = "wide"))
    refusal(kernel_gaussian(2, sigma2 = 0.5))
    refusal(kernel_gaussian(1, normalize = NA))
    refusal(kernel_gaussian(c(1, 2), normalize = "yes"))
    refusal(kernel_polynomial(0))
    refusal(kernel_polynomial(1.5))
    refusal(kernel_polynomial(scale = 0))
    refusal(kernel_polynomial(scale = c(1, 2)))
    refusal(kernel_polynomial(offset = -1))
    refusal(kernel_polynomial(offset = Inf))
    refusal(kernel_linear(normalize = 1))
  })
  expect_error(kernel_gaussian(-1), class = "sparsels_error_argument")
})

test_that("what is no kernel", {
  expect_snapshot({
    refusal(as_kernel())
    refusal(as_kernel(NULL))
    refusal(as_kernel("gaussian"))
    refusal(as_kernel(0.1))
    refusal(as_kernel(list(gamma = 1)))
  })
  passed_on <- function(kernel) as_kernel(kernel)
  expect_error(passed_on(), "must be a kernel, for example", class = "sparsels_error_argument")
})

test_that("answers of a kernel that cannot be used", {
  x <- matrix(1:6 / 2, 3)
  one <- function(f) kernel_matrix(as_kernel(f), x, x[1:2, ])
  expect_snapshot({
    refusal(one(function(x, z) t(tcrossprod(x, z))))
    refusal(one(function(x, z) sum(x) * sum(z)))
    refusal(one(function(x, z) as.vector(tcrossprod(x, z))))
    refusal(one(function(x, z) matrix("near", nrow(x), nrow(z))))
    refusal(one(function(x, z) NULL))
    refusal(one(function(x, z) replace(tcrossprod(x, z), 2:3, NA)))
    refusal(kernel_diagonal(as_kernel(function(x, z) tcrossprod(x, z) / 0), x))
    refusal(kernel_matrix(kernel_polynomial(400), 100 * x, x))
  })
  expect_error(one(function(x, z) NULL), class = "sparsels_error_argument")
})

test_that("na.omit leaves rows of a kernel matrix out as its columns, and new columns have names", {
  set.seed(4)
  x <- matrix(rnorm(60), 20)
  y <- replace(x[, 1] + rnorm(20) / 3, 3, NA)
  named <- list(NULL, paste0("s", 1:20))
  for (names in named) {
    K <- exp(-as.matrix(stats::dist(x))^2 / 4)
    dimnames(K) <- if (!is.null(names)) list(names, names)
    folds <- rep(1:4, 5)
    for (method in list(lssvm, kernel_rls, fs_lssvm)) {
      by <- function(K, y, folds, ...) {
        suppressWarnings(method(K, y, kernel = "precomputed", folds = folds, ...))
      }
      set.seed(1)
      fit <- by(K, y, folds, na.action = na.omit)
      set.seed(1)
      part <- by(K[-3, -3], y[-3], folds[-3])
      expect_identical(unname(fit$held_out), unname(part$held_out))
      expect_identical(predict(fit, K[1:2, -3]), predict(part, K[1:2, -3]))
      # with names all columns may be given
      if (!is.null(names)) {
        expect_identical(predict(fit, K[1:2, ]), predict(fit, K[1:2, -3]))
      } else {
        expect_error(predict(fit, K[1:2, ]), "for each of the 19 training rows",
                     class = "sparsels_error_newdata")
      }
      expect_identical(verify(fit, K, y, na.action = na.omit)$status, "complete")
    }
    scored <- function(K, y, outer, ...) {
      cross_validate(K, y, kernel_rls, kernel = "precomputed", lambda = 1, outer = outer, ...)
    }
    expect_identical(scored(K, y, folds, na.action = na.omit)$error,
                     scored(K[-3, -3], y[-3], folds[-3])$error)
  }
})
