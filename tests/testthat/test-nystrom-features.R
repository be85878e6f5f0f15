# Features of a kernel on prototypes: their inner products, new rows, and what they are used for.

products <- function(phi) tcrossprod(unname(phi$features))

test_that("inner products are those of the kernel by way of the prototypes", {
  set.seed(311)
  x <- matrix(rnorm(60), 20, dimnames = list(letters[1:20], NULL))
  x[abs(x) < 0.3] <- 0
  k <- oracle_gaussian(0.7)
  points <- x[1:5, ] + rnorm(15) / 4
  for (prototypes in list(c(3, 9, 1, 20), letters[4:6], seq_len(20) > 16, points)) {
    at <- if (is.matrix(prototypes)) {
      points
    } else if (is.character(prototypes)) {
      x[match(prototypes, letters), ]
    } else {
      x[prototypes, ]
    }
    exact <- oracle_nystrom(oracle_kernel(k, x, at), oracle_kernel(k, at))
    for (data in list(x, methods::as(x, "CsparseMatrix"), data.frame(x))) {
      phi <- nystrom_features(data, prototypes, kernel_gaussian(0.7))
      expect_equal(products(phi), exact, tolerance = 1e-9)
      expect_identical(dim(phi$features), c(20L, nrow(at)))
      expect_equal(phi$values, eigen(oracle_kernel(k, at), symmetric = TRUE)$values)
      expect_identical(rownames(phi$features), letters[1:20])
      expect_equal(crossprod(phi$map), diag(1 / phi$values))
    }
  }
  expect_s3_class(phi, "nystrom_features")
  expect_null(phi$problem$x)
})

test_that("with all rows as prototypes the features are the kernel", {
  set.seed(312)
  x <- matrix(rnorm(45), 15)
  kernels <- list(list(kernel_gaussian(sigma2 = 2), oracle_gaussian(0.5)),
                  list(kernel_polynomial(2), oracle_polynomial(2, 1, 1)),
                  list(kernel_linear(TRUE), oracle_normalised(oracle_linear)))
  for (kernel in kernels) {
    exact <- oracle_kernel(kernel[[2]], x)
    for (prototypes in list(NULL, 15:1)) {
      phi <- nystrom_features(x, prototypes, kernel[[1]])
      expect_equal(products(phi), exact, tolerance = 1e-9)
    }
    expect_identical(length(phi$values), qr(exact, tol = 1e-9)$rank)
  }
  # three directions, whatever the number of prototypes
  expect_identical(dim(phi$map), c(15L, 3L))
})

test_that("equal prototypes count once", {
  set.seed(313)
  x <- matrix(rnorm(40), 20)
  x[c(7, 12), ] <- x[c(3, 3), ]
  kernel <- kernel_gaussian(1)
  once <- nystrom_features(x, c(3, 5, 9, 20), kernel)
  twice <- nystrom_features(x, c(3, 5, 7, 9, 12, 20), kernel)
  expect_identical(dim(twice$map), c(6L, 4L))
  expect_equal(products(twice), products(once), tolerance = 1e-9)
  points <- nystrom_features(x, x[c(3, 3, 5, 9, 20, 20), ], kernel)
  expect_equal(products(points), products(once), tolerance = 1e-9)
  expect_identical(ncol(nystrom_features(x, x[c(4, 4, 4), ], kernel)$features), 1L)
  # a row or two, more prototypes than rows
  few <- nystrom_features(x[1:2, ], x[1:6, ], kernel)
  expect_equal(products(few), products(nystrom_features(x, x[1:6, ], kernel))[1:2, 1:2])
})

test_that("what is below the tolerance is left out", {
  set.seed(314)
  x <- matrix(rnorm(40), 20)
  own <- oracle_kernel(oracle_gaussian(0.1), x[1:8, ])
  values <- eigen(own, symmetric = TRUE)$values
  for (kept in c(2, 5, 8)) {
    tolerance <- values[kept] / values[1] * 0.99
    phi <- nystrom_features(x, 1:8, kernel_gaussian(0.1), tolerance = tolerance)
    expect_identical(ncol(phi$features), as.integer(kept))
    expect_equal(products(phi), oracle_nystrom(oracle_kernel(oracle_gaussian(0.1), x, x[1:8, ]),
                                               own, tolerance), tolerance = 1e-6)
    expect_equal(nystrom_map(own, tolerance), phi$map)
  }
  expect_identical(formals(nystrom_features)$tolerance, formals(nystrom_map)$tolerance)
  # nothing at all is no feature
  expect_identical(dim(nystrom_features(x, matrix(0, 1, 2), kernel_linear())$features), c(20L, 0L))
})

test_that("new rows have the features that they would have had", {
  set.seed(315)
  x <- matrix(rnorm(60), 20, dimnames = list(paste0("s", 1:20), c("a", "b", "c")))
  kernel <- kernel_gaussian(0.5)
  phi <- nystrom_features(x, c(2, 5, 11), kernel)
  expect_equal(predict(phi, x), phi$features)
  expect_equal(predict(phi, x[4:2, c(3, 1, 2)]), phi$features[4:2, ])
  expect_equal(unname(predict(phi, data.frame(x)[7, ])), unname(phi$features[7, , drop = FALSE]))
  expect_identical(predict(phi, replace(x[1:3, ], 2, NA))[2, ], rep(NA_real_, 3))
  d <- data.frame(a = rnorm(9), site = rep(c("u", "v", "w"), 3))
  phi <- nystrom_features(d, 1:4, kernel)
  expect_equal(unname(predict(phi, d[c("site", "a")])), unname(phi$features))
  expect_equal(products(phi)[1:4, 1:4],
               oracle_kernel(oracle_gaussian(0.5), cbind(d$a, outer(d$site, c("u", "v", "w"), "=="))
                             [1:4, ]))
  K <- kernel_matrix(kernel, x, x)
  of_kernel <- nystrom_features(K, c(2, 5, 11), "precomputed")
  expect_equal(predict(of_kernel, K[1:6, ]), unname(of_kernel$features)[1:6, ])
  expect_equal(predict(of_kernel, K[1:6, c(2, 5, 11)]), unname(of_kernel$features)[1:6, ])
  expect_equal(products(of_kernel), products(nystrom_features(x, c(2, 5, 11), kernel)))
})

test_that("a standardised problem is seen standardised, its new rows too", {
  set.seed(316)
  x <- matrix(rnorm(60, 4), 20) %*% diag(c(1, 30, 0.1))
  w <- runif(20, 0.5, 2)
  z <- oracle_standardised(x, w)
  pb <- as_problem(x, rnorm(20), weights = w)
  phi <- nystrom_features(pb, c(1, 4, 9), kernel_gaussian(1))
  expect_equal(products(phi), products(nystrom_features(z, c(1, 4, 9), kernel_gaussian(1))))
  expect_equal(predict(phi, x), unname(phi$features))
  set.seed(2)
  drawn <- nystrom_features(pb, 5, kernel_gaussian(1))
  set.seed(2)
  expect_identical(drawn$basis$rows, sample.int(20, 5))
})

test_that("ridge regression on the features is the machine in its primal form", {
  e <- lssvm_example()
  kernel <- kernel_gaussian(sigma2 = e$sigma2)
  all <- lssvm(e$x, e$y, kernel = kernel, gamma = e$gamma, standardize = FALSE)
  phi <- nystrom_features(e$x, NULL, kernel)
  primal <- rls(phi$features, e$y, lambda = 1 / e$gamma, standardize = FALSE)
  expect_equal(unname(fitted(primal)), unname(fitted(all)), tolerance = 1e-8)
  expect_equal(primal$path$criterion, 0.365764502718, tolerance = 1e-8)
  # on six prototypes, to the printed digits (the ridge of 1e-8 on the bias is not in here)
  phi <- nystrom_features(e$x, c(1, 18, 3, 5, 17, 8), kernel)
  primal <- rls(phi$features, e$y, lambda = 1 / e$gamma, standardize = FALSE)
  weights <- c(1.66701194217, -0.344944813765, -0.425189472383, 2.20450672457, -0.11266653459,
               0.666406229687)
  expect_lt(max(abs(phi$map %*% coef(primal)[-1] - weights)), 1e-7)
  expect_lt(abs(coef(primal)[1] + 0.885597595334), 1e-7)
})

test_that("features print", {
  i <- 1:12
  x <- cbind(i %% 5, i %% 7)
  features <- nystrom_features(x, c(1, 4, 6), kernel_gaussian(sigma2 = 2))
  expect_identical(generics::tidy(features)$eigenvalue, features$values)
  expect_identical(generics::glance(features)$prototypes, 3L)
  expect_snapshot({
    nystrom_features(x, c(1, 4, 6), kernel_gaussian(sigma2 = 2))
    nystrom_features(x, x[c(1, 1), ] + 0.5, kernel_linear())
  })
})

test_that("what is refused", {
  x <- matrix(c(1, 2, 3, 4, 5, 7, 2, 1, 2, 1, 9, 3), 6)
  g <- kernel_gaussian(1)
  slim <- without_x(as_problem(x, 1:6))
  distance <- function(x, z) {
    as.matrix(dist(rbind(x, z)))[seq_len(nrow(x)), -seq_len(nrow(x)), drop = FALSE]
  }
  expect_snapshot({
    refusal(nystrom_features(x, 7, g))
    refusal(nystrom_features(x, c(1, 9), g))
    refusal(nystrom_features(x, c(2, 3, 2), g))
    refusal(nystrom_features(x, list(1), g))
    refusal(nystrom_features(x, c(FALSE, TRUE), g))
    refusal(nystrom_features(x, x[, 1, drop = FALSE], g))
    refusal(nystrom_features(x, replace(x, 3, NA), g))
    refusal(nystrom_features(x, 1:2))
    refusal(nystrom_features(x, 1:2, kernel_gaussian(c(1, 2))))
    refusal(nystrom_features(x, 1:3, distance))
    refusal(nystrom_features(x, 1:2, "precomputed"))
    refusal(nystrom_features(diag(3), diag(3), "precomputed"))
    refusal(nystrom_features(x, 1:2, g, tolerance = 1))
    refusal(nystrom_features(x, 1:2, g, tol = 0.1))
    refusal(nystrom_features(x[, 1], 1:2, g))
    refusal(nystrom_features(replace(x, 2, NA), 1:2, g))
    refusal(nystrom_features(slim, 1:2, g))
    refusal(predict(nystrom_features(x, 1:2, g)))
    refusal(predict(nystrom_features(x, 1:2, g), x[, 1, drop = FALSE]))
  })
})
