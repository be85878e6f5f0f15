# Matching pursuit and forward stagewise search against a twin that keeps nothing.

test_that("every move is the twin's, for any shrinkage and several right sides", {
  set.seed(811)
  for (case in 1:8) {
    made <- random_system(9, L = if (case > 5) 3 else 1)
    shrinkage <- c(1, 0.4)[1 + case %% 2]
    fit <- matching_pursuit(made$A, made$b, k = 9, shrinkage = shrinkage, debias = FALSE,
                            moves = 25)
    twin <- oracle_moves(made$A, made$b, 25, shrinkage)
    expect_identical(fit$path$component[-1], twin$component)
    expect_equal(fit$path$objective, twin$objective, tolerance = 1e-12)
    expect_equal(fit$path$residual[26], twin$residual, tolerance = 1e-12)
    expect_equal(as.matrix(coef(fit)), twin$w, tolerance = 1e-12, ignore_attr = TRUE)
    expect_identical(fit$path$action[-1], ifelse(duplicated(twin$component), "move", "add"))
    expect_identical(fit$path$size[-1],
                     vapply(1:25, function(s) length(unique(twin$component[1:s])), 0L))
  }
})

test_that("by hand", {
  # c = -(3, 2): component 1 to 3/2, c_2 = -2 + 3/2; then component 2 to 1/4, c_1 = 1/4; back to 1
  fit <- matching_pursuit(matrix(c(2, 1, 1, 2), 2), c(3, 2), debias = FALSE, moves = 3)
  expect_identical(fit$path$component, c(NA, 1L, 2L, 1L))
  expect_equal(fit$path$objective, -c(0, 9 / 4, 9 / 4 + 1 / 16, 9 / 4 + 1 / 16 + 1 / 64))
  expect_equal(fit$path$residual, c(sqrt(13), 1 / 2, 1 / 4, 1 / 8))
  expect_equal(coef(fit), c(V1 = 11 / 8, V2 = 1 / 4))
  expect_equal(coef(fit, size = 1), c(V1 = 3 / 2, V2 = 0))
  expect_identical(fit$status, "move_limit")
})

test_that("debias solves for the components that came first", {
  set.seed(812)
  made <- random_system(12, L = 2)
  fit <- matching_pursuit(made$A, made$b, k = 8)
  expect_identical(fit$status, "complete")
  expect_identical(fit$path$size[nrow(fit$path)], 8L)
  order <- unique(oracle_moves(made$A, made$b, 200)$component)
  expect_identical(selected(fit, index = TRUE), order[1:8])
  for (size in 1:8) {
    S <- order[seq_len(size)]
    expect_equal(coef(fit, size)[S, , drop = FALSE],
                 solve(made$A[S, S, drop = FALSE], made$b[S, , drop = FALSE]),
                 tolerance = 1e-10, ignore_attr = TRUE)
    expect_identical(fit$path$action[fit$coefficients[[size + 1]]$step + 1L], "add")
  }
})

test_that("without debias a model is what the last move of its size left", {
  set.seed(813)
  made <- random_system(10)
  fit <- matching_pursuit(made$A, made$b, k = 4, debias = FALSE, moves = 500)
  expect_identical(fit$status, "complete")
  # the next move would have brought in a fifth
  twin <- oracle_moves(made$A, made$b, nrow(fit$path))$component
  expect_identical(twin[seq_len(nrow(fit$path) - 1)], fit$path$component[-1])
  expect_identical(length(unique(twin)), 5L)
  for (size in 1:4) {
    last <- max(which(fit$path$size == size))
    expect_identical(fit$coefficients[[size + 1]]$step, last - 1L)
    expect_equal(unname(coef(fit, size)), drop(oracle_moves(made$A, made$b, last - 1)$w))
    expect_equal(fit$coefficients[[size + 1]]$objective, fit$path$objective[last])
  }
})

test_that("all components and many moves give the solution", {
  set.seed(814)
  made <- random_system(6)
  fit <- matching_pursuit(made$A, made$b, debias = FALSE, moves = 1e4)
  expect_identical(fit$status, "complete")
  # not a move more once |c| is below 1e-14 of what it was
  last <- nrow(fit$path)
  expect_gt(fit$path$residual[last - 1], 1e-14 * max(abs(made$b)))
  expect_lt(fit$path$residual[last], 3e-14 * max(abs(made$b)))
  expect_equal(unname(coef(fit)), drop(solve(made$A, made$b)), tolerance = 1e-10)
  expect_equal(coef(matching_pursuit(made$A, made$b, moves = 1e4)), coef(fit), tolerance = 1e-10)
})

test_that("sparse, functional and permuted systems have the same path", {
  set.seed(815)
  made <- random_system(20, L = 2)
  made$A[abs(made$A) < 5] <- 0
  made$A <- made$A + diag(20, 20)
  fields <- c("path", "coefficients", "size", "status")
  fit <- matching_pursuit(made$A, made$b, k = 9)[fields]
  sparse <- general_sparse(made$A)
  for (A in list(sparse, Matrix::forceSymmetric(sparse), function(j) made$A[, j])) {
    expect_equal(matching_pursuit(A, made$b, k = 9)[fields], fit)
  }
  order <- sample(20)
  turned <- matching_pursuit(made$A[order, order], made$b[order, ], k = 9)
  expect_identical(order[turned$path$component], fit$path$component)
  expect_equal(turned$path$objective, fit$path$objective)
})

test_that("ties go to the lowest component, and explained components stay out", {
  tied <- matching_pursuit(diag(4), c(1, -2 + 1e-14, 2, -2), k = 3)
  expect_identical(selected(tied, index = TRUE), 2:4)
  set.seed(816)
  x <- matrix(rnorm(40), 10)
  x <- cbind(x, x[, 2], x[, 1] + x[, 3])
  A <- crossprod(x)
  b <- crossprod(x, rnorm(10))
  for (debias in c(TRUE, FALSE)) {
    fit <- matching_pursuit(A, b, k = 6, debias = debias, moves = 5000)
    expect_identical(fit$status, "early_stop")
    expect_identical(fit$size, 4L)
    expect_lt(fit$coefficients[[5]]$residual, 1e-10 * sqrt(sum(b^2)))
  }
})

test_that("zero right sides and a solution that is reached", {
  fit <- matching_pursuit(diag(3), numeric(3))
  expect_identical(fit$status, "early_stop")
  expect_identical(unname(coef(fit)), numeric(3))
  for (debias in c(TRUE, FALSE)) {
    fit <- matching_pursuit(diag(2:4), c(0, 3, 0), debias = debias)
    expect_identical(fit$status, "early_stop")
    expect_equal(coef(fit), c(V1 = 0, V2 = 1, V3 = 0))
  }
  # a single component
  expect_identical(coef(matching_pursuit(matrix(4), 2)), c(V1 = 0.5))
})

test_that("every refusal of matching_pursuit()", {
  A <- matrix(c(1, 2, 0, 2, 1, 0, 0, 0, 1), 3)
  expect_snapshot({
    refusal(matching_pursuit(diag(3), 1:3, k = 0))
    refusal(matching_pursuit(diag(3), 1:3, k = 1.5))
    refusal(matching_pursuit(diag(3), 1:3, shrinkage = 0))
    refusal(matching_pursuit(diag(3), 1:3, shrinkage = 1.1))
    refusal(matching_pursuit(diag(3), 1:3, shrinkage = c(1, 1)))
    refusal(matching_pursuit(diag(3), 1:3, debias = NA))
    refusal(matching_pursuit(diag(3), 1:3, moves = 0))
    refusal(matching_pursuit(diag(3), 1:3, 2))
    refusal(matching_pursuit(diag(3), 1:3, shrink = 0.5))
    refusal(matching_pursuit(A, 1:3))
    refusal(matching_pursuit(function(j) A[, j], 1:3))
    refusal(matching_pursuit(function(j) -diag(3)[, j], 1:3))
  })
})
