# Basis selection against slow twins that draw the same random numbers, and what is refused.

basis_methods <- c("random", "greedy", "loo", "k_center", "renyi", "kmeans", "cluster_mean")

# the rows without their path
rows_only <- function(basis) if (inherits(basis, "sparsels_basis")) as.integer(basis) else basis

# the errors of models retrained from scratch for every candidate
oracle_greedy <- function(pb, k, n, lambda, candidates) {
  K <- oracle_kernel(k, unname(as.matrix(pb$x)))
  case <- list(rows = list(y = unname(pb$rows$y), weight = pb$rows$weight), z = unname(pb$z),
               design = K,
               penalty = K)
  training_error <- function(rows) {
    residual <- case$rows$y - oracle_values(case, oracle_train(case, lambda, terms = rows))
    sum(case$rows$weight * residual^2)
  }
  chosen <- integer()
  for (round in seq_len(n)) {
    left <- setdiff(seq_len(nrow(K)), chosen)
    drawn <- left[sample.int(length(left), min(candidates, length(left)))]
    errors <- vapply(drawn, function(row) training_error(c(chosen, row)), 0)
    chosen <- c(chosen, drawn[which.min(errors)])
  }
  chosen
}

# distances of every row to every chosen one, made again each time
oracle_k_center <- function(K, n) {
  m <- nrow(K)
  chosen <- sample.int(m, 1)
  while (length(chosen) < n) {
    nearest <- vapply(seq_len(m), function(i) {
      min(vapply(chosen, function(j) K[i, i] + K[j, j] - 2 * K[i, j], 0))
    }, 0)
    nearest[chosen] <- -1
    chosen <- c(chosen, which.max(nearest))
  }
  chosen
}

# the whole sum for every swap
oracle_renyi <- function(K, n) {
  order <- sample.int(nrow(K))
  inside <- order[seq_len(n)]
  outside <- order[-seq_len(n)]
  for (attempt in seq_len(20 * n)) {
    i <- sample.int(n, 1)
    j <- sample.int(length(outside), 1)
    swapped <- replace(inside, i, outside[j])
    if (sum(K[swapped, swapped]) < sum(K[inside, inside])) {
      outside[j] <- inside[i]
      inside <- swapped
    }
  }
  inside
}

same_draws <- function(seed, expr, twin) {
  set.seed(seed)
  value <- rows_only(expr)
  set.seed(seed)
  expect_identical(value, twin)
}

test_that("greedy equals retraining every candidate", {
  set.seed(221)
  cases <- random_cover(12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), intercept = c(TRUE, FALSE),
                        sparse = c(TRUE, FALSE), lambda = c(1e-3, 1, 100),
                        candidates = c(1, 4, 59), kind = 1:3)
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(26, 3, case$task, weights = case$weights, covariates = case$covariates,
                         intercept = case$intercept, sparse = case$sparse, standardize = FALSE)
    kernel <- list(kernel_gaussian(0.5), kernel_polynomial(3), kernel_gaussian(4))[[case$kind]]
    k <- list(oracle_gaussian(0.5), oracle_polynomial(3, 1, 1), oracle_gaussian(4))[[case$kind]]
    same_draws(i,
      select_basis(pb, 7, "greedy", kernel = kernel, lambda = case$lambda,
                   candidates = case$candidates),
      oracle_greedy(pb, k, 7, case$lambda, case$candidates)
    )
  }
})

test_that("greedy on a matrix is greedy on its problem as kernel_rls() would state it", {
  set.seed(222)
  x <- matrix(rnorm(60), 20)
  y <- cbind(x[, 1]^2, sin(x[, 2]))
  plain <- function(...) as_problem(..., intercept = FALSE, standardize = FALSE)
  one <- function(...) {
    set.seed(1)
    select_basis(..., n = 5, method = "greedy", kernel = kernel_gaussian(1))
  }
  expect_identical(one(x, y = y), one(plain(x, y)))
  expect_identical(one(x, y = y[, 1] > 1), one(plain(x, factor(y[, 1] > 1))))
  set.seed(2)
  expect_identical(
    rows_only(select_basis(x, 5, "greedy", y = y, kernel = kernel_gaussian(1))),
    {
      set.seed(2)
      oracle_greedy(plain(x, y), oracle_gaussian(1), 5, 1, 59)
    }
  )
})

test_that("a standardised problem is seen as kernel_rls() sees it", {
  set.seed(223)
  x <- matrix(rnorm(90), 30) %*% diag(c(1, 50, 0.01)) + 7
  w <- runif(30, 0.5, 2)
  z <- oracle_standardised(x, w)
  pb <- as_problem(x, rnorm(30), weights = w)
  plain <- as_problem(z, pb$rows$y[, 1], weights = w, standardize = FALSE)
  for (method in setdiff(basis_methods, c("kmeans", "cluster_mean"))) {
    run <- function(problem) {
      set.seed(3)
      rows_only(select_basis(problem, 6, method, kernel = kernel_gaussian(0.5)))
    }
    expect_identical(run(pb), run(plain), label = method)
  }
  set.seed(3)
  centres <- select_basis(pb, 4, "kmeans")
  set.seed(3)
  scaled <- select_basis(z, 4, "kmeans")
  expect_equal(unname(oracle_standardised(x, w, centres)), scaled)
})

test_that("greedy takes all rows when all are independent", {
  set.seed(223)
  x <- matrix(rnorm(24), 12)
  rows <- select_basis(x, 12, "greedy", y = rnorm(12), kernel = kernel_gaussian(2), candidates = 3)
  expect_identical(sort(rows), 1:12)
})

test_that("greedy passes over rows that depend on the chosen ones", {
  set.seed(224)
  different <- matrix(rnorm(16), 8)
  pair <- rep(1:8, each = 3)
  x <- different[pair, ]
  y <- rnorm(24)
  for (lambda in c(1e-6, 1)) {
    rows <- select_basis(x, 8, "greedy", y = y, kernel = kernel_gaussian(1), lambda = lambda)
    expect_identical(sort(pair[rows]), 1:8)
    rows <- select_basis(x, 24, "greedy", y = y, kernel = kernel_gaussian(1), lambda = lambda)
    expect_identical(sort(pair[rows[1:8]]), 1:8)
    expect_identical(sort(rows), 1:24)
  }
  flat <- rbind(0, matrix(rnorm(60), 20))
  rows <- select_basis(flat, 3, "greedy", y = rnorm(21), kernel = kernel_linear())
  expect_equal(qr(flat[rows, ])$rank, 3)
  # no other row can lower the error any more: those drawn first
  set.seed(6)
  rows <- select_basis(flat, 5, "greedy", y = flat[, 1], kernel = kernel_linear())
  set.seed(6)
  first <- vapply(1:5, function(round) {
    setdiff(1:21, rows[seq_len(round - 1)])[sample.int(22 - round)[1]]
  }, 0L)
  expect_identical(rows[4:5], first[4:5])
  set.seed(7)
  rows <- select_basis(flat, 21, "greedy", y = flat[, 1], kernel = kernel_linear(), candidates = 1)
  set.seed(7)
  expect_identical(rows[1], sample.int(21, 1))
  expect_identical(sort(rows), 1:21)
})

test_that("greedy gives ties to the first drawn", {
  set.seed(231)
  half <- matrix(rnorm(20), 10)
  # a row and its mirror image are equally good, up to rounding
  x <- rbind(half, -half[10:1, ])
  mirror <- c(1:10, 10:1)
  y <- rep(rnorm(10), 2)[c(1:10, 20:11)]
  for (seed in 1:20) {
    set.seed(seed)
    first <- rows_only(select_basis(x, 1, "greedy", y = y, kernel = kernel_gaussian(1)))
    set.seed(seed)
    drawn <- sample.int(20, 20)
    expect_identical(first, drawn[mirror[drawn] == mirror[first]][1])
  }
})

test_that("k_center equals distances made again each time", {
  set.seed(225)
  x <- matrix(rnorm(90), 30)
  sparse <- methods::as(replace(x, abs(x) < 0.3, 0), "CsparseMatrix")
  for (seed in 1:3) {
    same_draws(seed, select_basis(x, 9, "k_center"),
               oracle_k_center(oracle_kernel(oracle_linear, x), 9))
    same_draws(seed, select_basis(sparse, 9, "k_center"),
               oracle_k_center(oracle_kernel(oracle_linear, as.matrix(sparse)), 9))
    same_draws(seed, select_basis(x, 9, "k_center", kernel = kernel_gaussian(0.4)),
               oracle_k_center(oracle_kernel(oracle_gaussian(0.4), x), 9))
    same_draws(seed, select_basis(x, 9, "k_center", kernel = kernel_polynomial(2)),
               oracle_k_center(oracle_kernel(oracle_polynomial(2, 1, 1), x), 9))
    same_draws(seed, select_basis(x + 1e6, 9, "k_center"), select_basis(x, 9, "k_center"))
  }
})

test_that("k_center sees every kernel by its distances, and sparse rows as dense ones", {
  set.seed(231)
  x <- matrix(rnorm(120), 30, dimnames = list(1:30, NULL))
  x[, 1:3][abs(x[, 1:3]) < 0.3] <- 0
  distance <- function(x, z) {
    as.matrix(dist(rbind(as.matrix(x), as.matrix(z))))[seq_len(nrow(x)), -seq_len(nrow(x)),
                                                       drop = FALSE]
  }
  kernels <- list(
    list(kernel_polynomial(2, normalize = TRUE), oracle_normalised(oracle_polynomial(2, 1, 1))),
    list(kernel_linear(normalize = TRUE), oracle_normalised(oracle_linear)),
    list(function(x, z) exp(-distance(x, z)), function(x, z) exp(-sqrt(sum((x - z)^2))))
  )
  for (kernel in kernels) for (one in list(x, methods::as(x, "CsparseMatrix"))) {
    same_draws(5, select_basis(one, 8, "k_center", kernel = kernel[[1]]),
               oracle_k_center(oracle_kernel(kernel[[2]], x), 8))
  }
})

test_that("a sparse standardised problem gives the rows of the dense one", {
  set.seed(232)
  x <- as.matrix(Matrix::rsparsematrix(30, 8, 0.3)) %*% diag(c(1, 50, 0.01, 1, 1, 1, 1, 1))
  x[, 8] <- rnorm(30, 40)
  w <- runif(30, 0.5, 2)
  y <- rnorm(30)
  sparse <- as_problem(methods::as(x, "CsparseMatrix"), y, weights = w)
  dense <- as_problem(x, y, weights = w)
  for (kernel in list(NULL, kernel_gaussian(0.3), kernel_polynomial(2))) {
    for (method in c("random", if (!is.null(kernel)) c("greedy", "renyi"), "k_center")) {
      same_draws(7, select_basis(sparse, 6, method, kernel = kernel), {
        set.seed(7)
        rows_only(select_basis(dense, 6, method, kernel = kernel))
      })
    }
  }
  same_draws(7, select_basis(sparse, 6, "k_center"),
             oracle_k_center(tcrossprod(oracle_standardised(x, w)), 6))
  set.seed(7)
  centres <- select_basis(sparse, 3, "kmeans")
  set.seed(7)
  expect_equal(centres, select_basis(dense, 3, "kmeans"))
})

test_that("k_center gives ties to the lowest row", {
  corners <- as.matrix(expand.grid(0:1, 0:1, 0:1)) / 3
  # from corner 1 the opposite is 8; the others then tie
  from <- function(first) {
    seed <- which(vapply(1:100, function(seed) {
      set.seed(seed)
      sample.int(8, 1) == first
    }, NA))[1]
    set.seed(seed)
    select_basis(corners, 8, "k_center")
  }
  expect_identical(from(1)[1:3], c(1L, 8L, 2L))
  expect_identical(from(8)[1:3], c(8L, 1L, 2L))
  expect_identical(sort(from(3)), 1:8)
  # a lattice of whole numbers has exact ties, which rounding hides in tenths
  lattice <- as.matrix(expand.grid(0:4, 0:4))
  for (seed in 1:5) {
    same_draws(seed, select_basis(0.7 + lattice / 10, 12, "k_center"),
               oracle_k_center(tcrossprod(lattice), 12))
  }
})

test_that("renyi equals the whole sum for every swap", {
  set.seed(226)
  x <- matrix(rnorm(60), 20)
  K <- oracle_kernel(oracle_gaussian(0.5), x)
  cubic <- oracle_kernel(oracle_polynomial(3, 1, 1), x)
  for (n in c(1, 2, 7, 19)) {
    same_draws(n, select_basis(x, n, "renyi", kernel = kernel_gaussian(0.5)), oracle_renyi(K, n))
    same_draws(n, select_basis(x, n, "renyi", kernel = kernel_polynomial(3)),
               oracle_renyi(cubic, n))
    swapped <- renyi_basis(x, kernel_gaussian(0.5), n)
    expect_equal(swapped$total, sum(K[swapped$rows, swapped$rows]), tolerance = 1e-12)
  }
  set.seed(1)
  start <- sample.int(20)[1:7]
  set.seed(1)
  rows <- select_basis(x, 7, "renyi", kernel = kernel_gaussian(0.5))
  expect_lt(sum(K[rows, rows]), sum(K[start, start]))
})

test_that("kmeans returns centres", {
  set.seed(227)
  centres <- matrix(c(0, 9, 0, 0, 0, 9), 3, dimnames = list(NULL, c("u", "v")))
  group <- rep(1:3, each = 10)
  x <- centres[group, ] + rnorm(60) / 10
  rownames(x) <- paste0("s", 1:30)
  found <- select_basis(x, 3, "kmeans")
  exact <- rowsum(x, group) / 10
  expect_identical(dimnames(found), list(NULL, c("u", "v")))
  expect_equal(found[order(found[, 1], found[, 2]), ], exact[order(exact[, 1], exact[, 2]), ],
               ignore_attr = TRUE)
  same_draws(3, select_basis(unname(x), 5, "kmeans"), select_basis(unname(x), 5, "kmeans"))
  expect_null(dimnames(select_basis(unname(x), 4, "kmeans")))
  expect_equal(select_basis(x, 1, "kmeans"), t(colMeans(x)))
  # as many centres as rows that differ
  expect_identical(select_basis(x, 30, "kmeans"), `rownames<-`(x, NULL))
  expect_identical(select_basis(centres[group, ], 3, "kmeans"), centres)
})

test_that("cluster_mean returns means of the rows nearest to each head", {
  set.seed(232)
  x <- matrix(rnorm(90), 30, dimnames = list(paste0("s", 1:30), c("u", "v", "w")))
  for (n in c(1, 4, 30)) {
    set.seed(n)
    heads <- select_basis(x, n, "k_center")
    nearest <- apply(x, 1, function(row) which.min(colSums((t(x[heads, , drop = FALSE]) - row)^2)))
    expected <- t(vapply(seq_len(n), function(i) colMeans(x[nearest == i, , drop = FALSE]),
                         numeric(3)))
    set.seed(n)
    found <- select_basis(x, n, "cluster_mean")
    expect_equal(found, expected)
    expect_identical(dimnames(found), list(NULL, colnames(x)))
    set.seed(n)
    expect_equal(select_basis(methods::as(x, "CsparseMatrix"), n, "cluster_mean"), found)
  }
  # rows that are there twice weigh twice
  set.seed(1)
  found <- select_basis(x[c(1, 1, 2, 2, 2), ], 2, "cluster_mean")
  expect_equal(found[order(found[, 1]), ], unname(x[order(x[1:2, 1]), ]), ignore_attr = TRUE)
  pb <- as_problem(x, rnorm(30), weights = runif(30))
  set.seed(2)
  scaled <- select_basis(oracle_standardised(x, pb$rows$weight), 5, "cluster_mean")
  set.seed(2)
  expect_equal(unname(oracle_standardised(x, pb$rows$weight, select_basis(pb, 5, "cluster_mean"))),
               unname(scaled))
})

test_that("every method gives different rows, reproduced by set.seed(), from one to all", {
  set.seed(228)
  x <- matrix(rnorm(48), 16)
  y <- rnorm(16)
  pb <- as_problem(data.frame(x), y, intercept = FALSE, standardize = FALSE)
  for (method in setdiff(basis_methods, c("kmeans", "cluster_mean"))) for (n in c(1, 6, 16)) {
    run <- function(x, ..., seed = 4) {
      set.seed(seed)
      rows_only(select_basis(x, n, method, ..., kernel = kernel_gaussian(1)))
    }
    rows <- run(x, y = y)
    expect_type(rows, "integer")
    expect_null(attributes(rows))
    expect_length(rows, n)
    expect_identical(anyDuplicated(rows), 0L)
    expect_true(all(rows %in% 1:16))
    expect_identical(run(x, y = y), rows)
    expect_identical(run(pb), rows)
    expect_identical(run(data.frame(x), y = y), rows)
  }
  expect_false(identical(run(x, y = y, seed = 1), run(x, y = y, seed = 2)))
  same_draws(9, select_basis(x, 4), sample.int(16, 4))
  expect_identical(sort(select_basis(x * 0 + 1, 16, "k_center")), 1:16)
  expect_identical(sort(select_basis(x * 0 + 1, 16, "renyi", kernel = kernel_linear())), 1:16)
})

test_that("a precomputed kernel is the kernel of its points", {
  set.seed(229)
  x <- matrix(rnorm(40), 20)
  y <- rnorm(20)
  kernel <- kernel_gaussian(0.7)
  K <- kernel_matrix(kernel, x, x)
  dimnames(K) <- list(letters[1:20], letters[1:20])
  for (method in setdiff(basis_methods, c("kmeans", "cluster_mean"))) {
    run <- function(x, kernel) {
      set.seed(3)
      rows_only(select_basis(x, 5, method, y = y, kernel = kernel))
    }
    rows <- run(x, kernel)
    expect_identical(run(K, "precomputed"), rows)
    expect_identical(run(methods::as(K, "CsparseMatrix"), "precomputed"), rows)
    expect_identical(run(x, function(x, z) kernel$values(x, z)), rows)
  }
})

test_that("what cannot be selected", {
  set.seed(230)
  x <- matrix(c(1, 2, 3, 4, 5, 7, 2, 1, 2, 1, 9, 3), 6)
  y <- c(1, 3, 2, 5, 4, 6)
  g <- kernel_gaussian(1)
  slim <- without_x(as_problem(x, y))
  skewed <- diag(6) + 0
  skewed[2, 5] <- 0.5
  expect_snapshot({
    refusal(select_basis(x, 0))
    refusal(select_basis(x, 7))
    refusal(select_basis(x, 2.5))
    refusal(select_basis(x, NA))
    refusal(select_basis(x, 2, "farthest"))
    refusal(select_basis(x, 2, method = 1))
    refusal(select_basis(x, 2, "greedy", y, kernel = g))
    refusal(select_basis(x, 2, "greedy", Y = y, kernel = g))
    refusal(select_basis(x, 2, candidate = 3))
    refusal(select_basis(x, 2, "greedy", y = y))
    refusal(select_basis(x, 2, "greedy", kernel = g))
    refusal(select_basis(as_problem(x, y), 2, "greedy", y = y, kernel = g))
    refusal(select_basis(x, 2, "greedy", y = y[-1], kernel = g))
    refusal(select_basis(x, 2, "greedy", y = y, kernel = g, lambda = 0))
    refusal(select_basis(x, 2, "greedy", y = y, kernel = g, lambda = c(1, 2)))
    refusal(select_basis(x, 2, "greedy", y = y, kernel = g, candidates = 0))
    refusal(select_basis(x, 2, "renyi"))
    refusal(select_basis(x, 2, "k_center", kernel = "linear"))
    refusal(select_basis(x, 2, "k_center", kernel = kernel_gaussian(c(1, 2, 4))))
    refusal(select_basis(x, 2, "k_center", kernel = "precomputed"))
    refusal(select_basis(skewed, 2, "k_center", kernel = "precomputed"))
    refusal(select_basis(diag(6), 2, "kmeans", kernel = "precomputed"))
    refusal(select_basis(methods::as(x, "CsparseMatrix"), 2, "kmeans"))
    refusal(select_basis(x[c(1, 1, 2, 2), ], 3, "kmeans"))
    refusal(select_basis(x[c(1, 1, 2, 2), ], 3, "cluster_mean"))
    refusal(select_basis(diag(6), 2, "cluster_mean", kernel = "precomputed"))
    refusal(select_basis(x, 2, "cluster_mean", y = y, kernel = g, folds = "loo"))
    refusal(select_basis(x, 2, "loo", y = y))
    refusal(select_basis(x, 2, "loo", kernel = g))
    refusal(select_basis(x, 2, "random", kernel = g, folds = 2))
    refusal(select_basis(x, 2, "loo", y = y, kernel = g, folds = 7))
    refusal(select_basis(x, 2, "loo", y = y, kernel = g, folds = make_folds(6, 2, repeats = 2)))
    refusal(select_basis(x, 2, "loo", y = y, kernel = g, basis = "skip"))
    refusal(select_basis(x, 2, "loo", y = y, kernel = g, shift = -1))
    refusal(select_basis(x, 2, "loo", y = y, kernel = g, threads = 0))
    refusal(select_basis(as_problem(x, y, weights = c(0, 1, 1, 1, 1, 1)), 2, "loo", kernel = g))
    refusal(select_basis(-diag(6), 2, "loo", y = y, kernel = "precomputed"))
    refusal(select_basis(replace(x, 8, NA), 2))
    refusal(select_basis(x[, 1], 2))
    refusal(select_basis(list(x), 2))
    refusal(select_basis(matrix("a", 3, 2), 2))
    refusal(select_basis(x[1, , drop = FALSE], 1))
    refusal(select_basis(slim, 2))
  })
  expect_error(select_basis(x, 0), class = "sparsels_error_argument")
})

test_that("a matrix of some class is a matrix", {
  set.seed(31)
  x <- matrix(rnorm(60), 12)
  draw <- function(x) {
    set.seed(1)
    select_basis(x, 3, "kmeans")
  }
  expect_identical(draw(structure(x, class = "odd")), draw(x))
})
