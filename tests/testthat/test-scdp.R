# scdp() against Algorithm 3 of the paper and against solving anew at every step.

scores <- c("residual", "normalised", "ols")

same_but <- function(fit) fit[setdiff(names(fit), "call")]

expect_sizes <- function(fit, expected, tolerance = 1e-9) {
  expect_identical(fit$size, length(expected$S))
  expect_identical(selected(fit, index = TRUE), expected$S)
  for (size in 0:fit$size) {
    exact <- as.matrix(expected$w[[size + 1]])
    expect_lt(max(abs(as.matrix(coef(fit, size)) - exact)), tolerance * max(abs(exact), 1))
  }
}

test_that("the worked example has the numbers of the specification", {
  small <- small_system()
  order <- list(residual = c(2, 1, 3, 4, 5), normalised = c(3, 1, 2, 4, 5),
                ols = c(3, 1, 4, 5, 2))
  for (score in scores) {
    fit <- scdp(A = small$A, b = small$b, k = 5, score = score)
    expect_equal(selected(fit, index = TRUE), order[[score]])
  }
  fit <- scdp(A = small$A, b = small$b, k = 5)
  w <- list(
    numeric(5),
    c(0, 1.36166392339, 0, 0, 0),
    c(-1.58762196163, 2.2089657833, 0, 0, 0),
    c(-2.2620816232, 0.780436281367, 2.24108164769, 0, 0),
    c(-1.91282834452, 0.500251612132, 2.71420956021, -0.574710530174, 0),
    c(-2.10197903911, -1.91460184953, 6.45170510212, -4.57552170073, 2.80068624102)
  )
  rss <- c(20.3950454262, 15.2786994823, 11.0538432761, 10.8033318665, 8.2982765675)
  for (size in 0:5) {
    expect_lt(max(abs(coef(fit, size) - w[[size + 1]])), 1e-9)
    if (size) {
      expect_equal(sum((small$y - small$x %*% coef(fit, size))^2), rss[size], tolerance = 1e-10)
    }
  }
})

test_that("it is Algorithm 3 with the updated residual", {
  set.seed(900)
  for (D in c(1, 2, 5, 12, 30)) {
    made <- random_system(D)
    expected <- oracle_directions(made$A, drop(made$b), D)
    fit <- scdp(A = made$A, b = made$b, k = D)
    expect_sizes(fit, expected)
    expect_equal(unname(coef(fit)), solve(made$A, drop(made$b)), tolerance = 1e-9)
    expect_identical(fit$status, "complete")
  }
})

test_that("each step solves for the components chosen, for all scores and right sides", {
  set.seed(901)
  cases <- random_cover(18, score = scores, L = c(1, 3), ridge = c(0, 0.1, 10), D = c(4, 9, 20))
  for (row in seq_len(nrow(cases))) {
    case <- cases[row, ]
    made <- random_system(case$D, L = case$L, ridge = case$ridge)
    k <- sample(case$D, 1)
    expected <- oracle_pursuit(made$A, made$b, k, case$score)
    fit <- scdp(A = made$A, b = made$b, k = k, score = case$score)
    expect_sizes(fit, expected)
    objective <- vapply(expected$w, function(w) oracle_objective(made$A, made$b, w), 0)
    expect_equal(fit$path$objective, objective, tolerance = 1e-9)
    left <- vapply(expected$w, function(w) sqrt(sum((made$A %*% w - made$b)^2)), 0)
    expect_lt(max(abs(fit$path$residual - left)), 1e-9 * left[1])
    expect_identical(fit$path$component, c(NA, expected$S))
    expect_identical(fit$path$action, rep(c("start", "add"), c(1, k)))
    expect_identical(fit$path$size, 0:k)
    expect_identical(fit$control[c("k", "score")], list(k = k, score = case$score))
  }
})

test_that("the scores differ, so that no test takes one for the other", {
  set.seed(902)
  made <- random_system(30)
  sets <- lapply(scores, function(score) {
    selected(scdp(A = made$A, b = made$b, k = 15, score = score), index = TRUE)
  })
  expect_length(unique(sets), 3)
})

test_that("the steps of the coefficients are conjugate", {
  set.seed(903)
  made <- random_system(12)
  fit <- scdp(A = made$A, b = made$b, k = 9)
  S <- selected(fit, index = TRUE)
  w <- vapply(0:9, function(size) unname(coef(fit, size)), numeric(12))
  expected <- oracle_directions(made$A, drop(made$b), 9)
  # w grows by eta times the direction, whose entry for the new component is 1
  steps <- w[, -1] - w[, -10]
  eta <- steps[cbind(S, 1:9)]
  expect_equal(eta, expected$eta, tolerance = 1e-9)
  P <- steps / rep(eta, each = 12)
  expect_equal(P, expected$P, tolerance = 1e-8)
  products <- t(P) %*% made$A %*% P
  L <- t(chol(made$A[S, S]))
  d <- diag(L)
  expect_lt(max(abs(products - diag(d^2))), 1e-9 * max(products))
  expect_equal(P[S, ], t(solve(L)) %*% diag(d), tolerance = 1e-8)
  z <- solve(L, made$b[S, ])
  expect_equal(eta, z / d, tolerance = 1e-9)
  residual <- drop(made$A %*% w[, 10] - made$b)
  expect_equal(residual, drop(t(solve(L, made$A[S, ])) %*% z - made$b), tolerance = 1e-9)
  expect_lt(max(abs(residual[S])), 1e-10 * max(abs(made$b)))
  expect_equal(expected$c, residual, tolerance = 1e-8)
})

test_that("a matrix of any kind and a function of its columns are the same system", {
  set.seed(904)
  for (L in c(1, 2)) {
    made <- random_system(25, L = L, ridge = 20)
    A <- made$A
    A[abs(A) < 12] <- 0
    dimnames(A) <- rep(list(paste0("g", 1:25)), 2)
    expect_gt(min(eigen(A)$values), 0)
    sparse <- methods::as(A, "CsparseMatrix")
    forms <- list(sparse, Matrix::forceSymmetric(sparse), methods::as(sparse, "TsparseMatrix"))
    for (score in scores) {
      dense <- scdp(A = A, b = made$b, k = 12, score = score)
      for (form in forms) {
        expect_equal(same_but(scdp(A = form, b = made$b, k = 12, score = score)), same_but(dense),
                     tolerance = 1e-13)
      }
    }
    dense <- scdp(A = unname(A), b = made$b, k = 12)
    asked <- integer()
    fit <- scdp(A = function(j) {
      asked <<- c(asked, j)
      A[, j]
    }, b = made$b, k = 12)
    expect_equal(same_but(fit), same_but(dense), tolerance = 1e-13)
    # and no column but those chosen is asked for
    expect_identical(asked, selected(fit, index = TRUE))
    fit <- scdp(A = function(j) sparse[, j, drop = FALSE], b = made$b, k = 12)
    expect_equal(same_but(fit), same_but(dense), tolerance = 1e-13)
  }
})

test_that("the order of the components does not matter", {
  set.seed(905)
  made <- random_system(14, L = 2)
  order <- sample(14)
  for (score in scores) {
    fit <- scdp(A = made$A, b = made$b, k = 14, score = score)
    again <- scdp(A = made$A[order, order], b = made$b[order, ], k = 14, score = score)
    expect_identical(order[selected(again, index = TRUE)], selected(fit, index = TRUE))
    expect_equal(coef(again)[order(order), ], coef(fit), tolerance = 1e-9, ignore_attr = TRUE)
    expect_equal(again$path$objective, fit$path$objective, tolerance = 1e-10)
  }
})

test_that("right sides are solved together, and alone when the others are zero", {
  set.seed(906)
  made <- random_system(10)
  fit <- scdp(A = made$A, b = made$b, k = 6)
  padded <- scdp(A = made$A, b = cbind(0, made$b, 0), k = 6)
  expect_identical(selected(padded), selected(fit))
  for (size in 1:6) {
    expect_equal(unname(coef(padded, size)[, 2]), unname(coef(fit, size)), tolerance = 1e-12)
    expect_identical(unname(coef(padded, size)[, c(1, 3)]), matrix(0, 10, 2))
  }
  twice <- scdp(A = made$A, b = cbind(3 * made$b, -4 * made$b), k = 6)
  expect_identical(selected(twice), selected(fit))
  expect_equal(unname(coef(twice)), unname(cbind(3 * coef(fit), -4 * coef(fit))),
               tolerance = 1e-12)
  expect_equal(twice$path$objective, 25 * fit$path$objective, tolerance = 1e-12)
})

test_that("ties go to the first component", {
  b <- c(1, 3, -3, 3, 2)
  for (score in scores) {
    fit <- scdp(A = diag(5), b = b, k = 5, score = score)
    expect_equal(selected(fit, index = TRUE), c(2, 3, 4, 5, 1))
    # a tie of scores that rounding has parted
    near <- b * c(1, 1, 1 + 1e-14, 1 - 1e-14, 1)
    expect_identical(selected(scdp(A = diag(5), b = near, k = 5, score = score)), selected(fit))
  }
  far <- b * c(1, 1, 1 + 1e-9, 1 - 1e-9, 1)
  expect_equal(selected(scdp(A = diag(5), b = far, k = 3), index = TRUE), c(3, 2, 4))
})

test_that("a component that the others explain is never taken", {
  set.seed(907)
  x <- matrix(rnorm(30 * 8), 30)
  x[, 5] <- x[, 2]
  x[, 8] <- x[, 1] - x[, 3]
  A <- crossprod(x)
  b <- crossprod(x, rnorm(30))
  for (score in scores) {
    expected <- oracle_pursuit(A, b, 8, score, dependent = 1e-10)
    fit <- scdp(A = A, b = b, k = 8, score = score)
    expect_sizes(fit, expected, 1e-8)
    expect_identical(fit$size, 6L)
    expect_identical(fit$status, "early_stop")
  }
  fit <- scdp(A = function(j) A[, j], b = b, k = 8)
  expect_identical(selected(fit), selected(scdp(A = A, b = b, k = 8)))
  expect_identical(fit$status, "early_stop")
})

test_that("it ends where nothing is left to gain", {
  set.seed(908)
  A <- diag(c(2, 3, 5, 7))
  for (form in list(A, function(j) A[, j])) {
    fit <- scdp(A = form, b = c(0, 6, 0, 7), k = 4)
    expect_equal(unname(coef(fit)), c(0, 2, 0, 1))
    expect_identical(fit$size, 2L)
    expect_identical(fit$status, "early_stop")
    nothing <- scdp(A = form, b = numeric(4), k = 2)
    expect_identical(nothing$size, 0L)
    expect_identical(unname(coef(nothing)), numeric(4))
    expect_output(print(nothing), "stopped early")
  }
  # a residual of rounding alone is no reason to go on
  rounding <- 0
  for (repetition in 1:20) {
    A <- matrix(c(4, 0.1 * runif(1), 0, 1), 2)
    A[1, 2] <- A[2, 1]
    b <- 3 * A[, 1] / 7
    fit <- scdp(A = A, b = b, k = 2)
    expect_identical(fit$size, 1L)
    expect_identical(fit$status, "early_stop")
    expect_equal(unname(coef(fit)), c(3 / 7, 0))
    rounding <- rounding + (fit$path$residual[2] > 0)
  }
  expect_gt(rounding, 0)
})

test_that("a scale of A and b is one of w", {
  set.seed(909)
  made <- random_system(9)
  for (score in scores) {
    fit <- scdp(A = made$A, b = made$b, k = 9, score = score)
    for (scale in c(1e-150, 1e-8, 1e8, 1e140)) {
      scaled <- scdp(A = scale * made$A, b = scale * made$b, k = 9, score = score)
      expect_identical(selected(scaled), selected(fit))
      expect_equal(coef(scaled), coef(fit), tolerance = 1e-9)
    }
  }
})

# Candidates --------------------------------------------------------------------------------------

test_that("with as many candidates as components nothing changes", {
  set.seed(910)
  made <- random_system(12, L = 2)
  for (score in scores) {
    fit <- scdp(A = made$A, b = made$b, k = 12, score = score)
    for (candidates in c(12, 59)) {
      all <- scdp(A = made$A, b = made$b, k = 12, score = score, candidates = candidates)
      expect_identical(all$coefficients, fit$coefficients)
      expect_identical(all$path, fit$path)
    }
  }
})

test_that("each step takes the best of its candidates", {
  set.seed(911)
  differ <- 0
  for (score in scores) for (candidates in c(1, 3, 8)) {
    made <- random_system(20, L = 2)
    seed <- sample(1e6, 1)
    set.seed(seed)
    fit <- scdp(A = made$A, b = made$b, k = 9, score = score, candidates = candidates)
    after <- .Random.seed
    set.seed(seed)
    lists <- drawn_lists(20L, candidates, 9L) + 1L
    expect_identical(.Random.seed, after)
    # each step's own permutation of the components, as far as it can be needed
    expect_identical(dim(lists), c(min(20L, 9L + as.integer(candidates)), 9L))
    expect_identical(apply(lists, 2, anyDuplicated), integer(9))
    expect_gt(length(unique(lists[1, ])), 1)
    expected <- oracle_pursuit(made$A, made$b, 9, score, lists = lists, drawn = candidates)
    expect_sizes(fit, expected)
    set.seed(seed)
    again <- scdp(A = made$A, b = made$b, k = 9, score = score, candidates = candidates)
    expect_identical(again, fit)
    whole <- scdp(A = made$A, b = made$b, k = 9, score = score)
    differ <- differ + !identical(selected(whole), selected(fit))
  }
  expect_gt(differ, 5)
})

test_that("a fit without candidates draws nothing", {
  made <- random_system(6)
  set.seed(912)
  before <- .Random.seed
  scdp(A = made$A, b = made$b, k = 3)
  scdp(A = function(j) made$A[, j], b = made$b, k = 3)
  x <- chol(made$A)
  scdp(x, made$b, k = 2)
  scdp(x, made$b, k = 2, solver = "qr")
  expect_identical(.Random.seed, before)
})

# A problem ---------------------------------------------------------------------------------------

# problems of all kinds, 15 x 9 with a duplicated and a constant column
pursuit_cases <- function(m = c(15, 8)) {
  random_cover(12, m = m, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
               covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
               intercept = c(TRUE, TRUE, FALSE), standardize = c(TRUE, FALSE),
               lambda = c(0, 0.3, 20))
}

pursuit_problem <- function(case, n = 9) {
  do.call(random_problem, c(list(n = n), case[setdiff(names(case), "lambda")]))
}

# the same sets, figures and coefficients, to rounding
expect_same_fit <- function(fit, other) {
  expect_identical(fit$path[c("action", "feature", "name", "size")],
                   other$path[c("action", "feature", "name", "size")])
  expect_equal(fit$path, other$path, tolerance = 1e-8)
  expect_identical(fit$size, other$size)
  for (size in 0:fit$size) {
    expect_equal(coef(fit, size), coef(other, size), tolerance = 1e-7)
  }
  expect_equal(fit$held_out, other$held_out, tolerance = 1e-7)
  expect_equal(fit$fitted, other$fitted, tolerance = 1e-8)
}

test_that("the ols score is forward regression", {
  set.seed(920)
  cases <- pursuit_cases()
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- pursuit_problem(case)
    k <- min(5, case$m - ncol(pb$z) - 1)
    fit <- scdp(pb, k = k, score = "ols", lambda = case$lambda)
    expect_s3_class(fit, c("scdp", "sparse_fit", "sparsels_fit", "sparsels_result"),
    exact = TRUE)
    expect_same_fit(fit, forward_regression(pb, k = k, lambda = case$lambda))
  }
})

test_that("the normalised score without a ridge is orthogonal matching pursuit", {
  set.seed(921)
  cases <- pursuit_cases()
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- pursuit_problem(case)
    k <- min(5, case$m - ncol(pb$z) - 1)
    expect_same_fit(scdp(pb, k = k, score = "normalised"), omp(pb, k = k))
  }
})

test_that("standardised columns without covariates are orthogonal matching pursuit, any ridge", {
  set.seed(922)
  cases <- pursuit_cases()
  cases$standardize <- TRUE
  cases$covariates <- FALSE
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- pursuit_problem(case)
    expected <- omp(pb, k = 5, lambda = case$lambda)
    for (score in c("residual", "normalised")) {
      expect_same_fit(scdp(pb, k = 5, score = score, lambda = case$lambda), expected)
    }
  }
})

test_that("a problem is the system of its working columns, by either solver", {
  set.seed(923)
  cases <- pursuit_cases()
  cases$score <- rep_len(sample(scores), nrow(cases))
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- pursuit_problem(case[names(case) != "score"])
    k <- min(6, case$m - ncol(pb$z) - 1)
    system <- oracle_normal(pb, case$lambda)
    S <- system$usable[oracle_pursuit(system$A, system$b, k, case$score, dependent = 1e-10)$S]
    for (solver in c("cholesky", "qr")) {
      fit <- scdp(pb, k = k, score = case$score, lambda = case$lambda, solver = solver)
      expect_identical(fit$path$feature[-1], S)
      expect_identical(fit$path$size, 0:length(S))
      gain <- vapply(0:length(S), function(s) oracle_gain(pb, S[seq_len(s)], case$lambda), 0)
      expect_equal(fit$path$criterion, gain, tolerance = 1e-9)
      for (size in 0:length(S)) {
        model <- fit$coefficients[[size + 1]]
        exact <- oracle_ridge(pb, S[seq_len(size)], case$lambda)$B
        expect_lt(relative_error(model$beta * pb$columns$scale[model$features], exact), 1e-7)
      }
    }
  }
})

test_that("the residual score alone asks for the unit of a column", {
  set.seed(924)
  x <- matrix(rnorm(40 * 6), 40) %*% diag(c(0.01, 1, 100, 3, 0.1, 30))
  y <- x[, 1] * 100 + x[, 2] + rnorm(40) / 3
  first <- function(...) selected(scdp(x, y, k = 1, ...))
  expect_identical(first(score = "residual", standardize = FALSE), "V3")
  expect_true(first(score = "normalised", standardize = FALSE) %in% c("V1", "V2"))
  expect_identical(first(score = "residual"), first(score = "normalised", standardize = FALSE))
})

test_that("most columns or few are formed, with the same fit", {
  set.seed(925)
  for (sparse in c(TRUE, FALSE)) {
    pb <- random_problem(60, 24, "two", weights = TRUE, covariates = TRUE, sparse = sparse)
    # from a quarter of the columns on, all of X'X is made at once
    few <- scdp(pb, k = 5, lambda = 0.1)
    many <- scdp(pb, k = 20, lambda = 0.1)
    expect_identical(selected(few), selected(many, size = 5))
    expect_equal(few$path$criterion, many$path$criterion[1:6], tolerance = 1e-12)
  }
})

test_that("a formula, a matrix and a data frame are the same problem", {
  set.seed(926)
  d <- data.frame(matrix(rnorm(240), 30), age = rnorm(30))
  d$y <- d$X2 - d$X7 + rnorm(30)
  w <- runif(30, 0.5, 2)
  x <- as.matrix(d[1:8])
  columns <- reformulate(c(names(d)[1:8]), "y")
  fit <- scdp(x, d$y, adjust = d["age"], weights = w, k = 3)
  expect_same_fit(scdp(columns, data = d, adjust = ~ age, weights = w, k = 3), fit)
  expect_same_fit(scdp(d[1:8], d$y, adjust = d["age"], weights = w, k = 3), fit)
  expect_same_fit(scdp(as_problem(x, d$y, adjust = d["age"], weights = w), k = 3), fit)
  exact <- lm(reformulate(c("age", selected(fit)), "y"), d, weights = w)
  expect_equal(coef(fit), coef(exact))
  expect_equal(predict(fit, d[1:8], adjust = d["age"]), unname(fitted(exact)), ignore_attr = TRUE)
})

test_that("rows that are fewer than columns bound the size", {
  set.seed(927)
  x <- matrix(rnorm(10 * 40), 10)
  y <- rnorm(10)
  for (solver in c("cholesky", "qr")) {
    fit <- scdp(x, y, k = 8, solver = solver)
    expect_identical(fit$size, 8L)
    expect_identical(selected(fit), selected(omp(x, y, k = 8)))
  }
  expect_identical(scdp(x, y)$size, 8L)
  expect_identical(scdp(matrix(rnorm(900), 30), rnorm(30))$size, 10L)
})

test_that("candidates of a problem are usable columns", {
  set.seed(928)
  # columns 5 and 7 are no candidates beside 2: a copy and a constant
  pb <- random_problem(30, 20)
  system <- oracle_normal(pb, 0.2)
  for (candidates in c(1, 4)) {
    seed <- sample(1e6, 1)
    set.seed(seed)
    fit <- scdp(pb, k = 6, lambda = 0.2, candidates = candidates)
    set.seed(seed)
    lists <- drawn_lists(length(system$usable), candidates, 6L) + 1L
    expected <- oracle_pursuit(system$A, system$b, 6, lists = lists, drawn = candidates)
    expect_identical(fit$path$feature[-1], system$usable[expected$S])
  }
  all <- scdp(pb, k = 6, lambda = 0.2, candidates = 59)
  expect_identical(all$path, scdp(pb, k = 6, lambda = 0.2)$path)
})

# Interrupts --------------------------------------------------------------------------------------

test_that("Ctrl-C while a column is made keeps the steps done", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(930)
  made <- random_system(12)
  for (at in c(2, 5)) {
    asked <- 0
    column <- function(j) {
      asked <<- asked + 1
      if (asked == at) send_interrupt()
      made$A[, j]
    }
    expect_warning(fit <- scdp(A = column, b = made$b, k = 8),
                   "interrupted: the fit holds the .* done so far", class = "sparsels_interrupted")
    expect_identical(fit$status, "interrupted")
    expect_equal(fit$size, at - 1)
    whole <- scdp(A = made$A, b = made$b, k = 8)
    expect_identical(selected(fit), selected(whole, size = fit$size))
    expect_equal(coef(fit), coef(whole, fit$size), tolerance = 1e-12)
    expect_output(print(fit), "interrupted")
  }
})

test_that("Ctrl-C between two steps keeps those done", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(931)
  made <- random_system(1500, rows = 100, ridge = 1)
  expect_warning(fit <- interrupted_at(1, scdp(A = made$A, b = made$b, k = 1500)),
                 class = "sparsels_interrupted")
  expect_identical(fit$status, "interrupted")
  expect_gte(fit$size, 1)
  expect_lt(fit$size, 1500)
  whole <- scdp(A = made$A, b = made$b, k = fit$size)
  expect_identical(fit$coefficients, whole$coefficients)
  x <- matrix(rnorm(400 * 6000), 400)
  pb <- as_problem(x, rnorm(400))
  expect_warning(fit <- interrupted_at(1, scdp(pb, k = 390)), class = "sparsels_interrupted")
  expect_identical(fit$status, "interrupted")
  expect_gte(fit$size, 1)
  expect_lt(fit$size, 390)
  expect_identical(fit$path, scdp(pb, k = fit$size)$path)
})

test_that("an error in a function that gives columns is the user's own", {
  set.seed(41)
  made <- random_system(6)
  column <- function(j) if (j > 2) stop("no such file") else made$A[, j]
  expect_error(scdp(A = column, b = c(9, 1, 2, 5, 4, 1), k = 5), "no such file")
})
