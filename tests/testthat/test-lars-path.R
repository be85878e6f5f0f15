# The lasso path in Gram form: published knots, its optimality conditions, and slow twins.

knot_coef <- function(fit, row) {
  knot <- fit$knots[[row]]
  replace(numeric(fit$D), knot$components, knot$beta)
}

test_that("the knots of the small system", {
  small <- small_system()
  # shared with other implementations of the path of this system
  knots <- c(5.57142857143, 4.51037293159, 2.25502240538, 0.578232879427, 0.220880251218,
             0.16985213038, 0.0956392676595, 0)
  fit <- lars_path(small$A, small$b)
  expect_equal(fit$path$lambda, knots, tolerance = 1e-11)
  expect_identical(fit$path$component, c(NA, 2L, 3L, 1L, 4L, 5L, 2L, 2L))
  expect_identical(fit$path$action, c("start", rep("add", 5), "drop", "add"))
  expect_identical(fit$path$size, c(0:5, 4L, 5L))
  expect_identical(fit$status, "complete")
})

test_that("the optimality conditions hold at every knot and between", {
  set.seed(821)
  drops <- 0
  for (case in problems_to_try(100)) {
    D <- sample(3:25, 1)
    made <- random_system(D, rows = D + sample(0:3, 1), ridge = 0.01)
    fit <- lars_path(made$A, made$b, k = D)
    drops <- drops + sum(fit$path$action == "drop")
    expect_identical(fit$status, "complete")
    expect_true(all(diff(fit$path$lambda) <= 0))
    worst <- vapply(seq_len(nrow(fit$path)), function(row) {
      lasso_violation(made$A, made$b, knot_coef(fit, row), fit$path$lambda[row])
    }, 0)
    expect_lt(max(worst), 1e-11)
    for (lambda in max(abs(made$b)) * c(0.9, 0.3, 0.03, 0.003)) {
      expect_lt(lasso_violation(made$A, made$b, coef(fit, lambda = lambda), lambda), 1e-11)
    }
    w <- as.matrix(knot_coef(fit, nrow(fit$path)))
    expect_equal(w, solve(made$A, made$b), tolerance = 1e-8)
    figures <- vapply(seq_len(nrow(fit$path)), function(row) {
      w <- as.matrix(knot_coef(fit, row))
      c(oracle_objective(made$A, made$b, w), sqrt(sum((made$A %*% w - made$b)^2)))
    }, c(0, 0))
    expect_lt(max(relative_errors(fit$path$objective, figures[1, ])), 1e-9)
    expect_lt(max(relative_errors(fit$path$residual, figures[2, ])), 1e-7)
  }
  expect_gt(drops, case / 2)
})

test_that("solutions equal those of all supports and signs", {
  set.seed(822)
  for (case in 1:10) {
    made <- random_system(5, rows = 6)
    fit <- lars_path(made$A, made$b, k = 5)
    for (lambda in max(abs(made$b)) * c(1.1, 0.7, 0.2, 0.05)) {
      expect_equal(unname(coef(fit, lambda = lambda)), oracle_lasso(made$A, made$b, lambda),
                   tolerance = 1e-10)
    }
    expect_equal(unname(coef(fit, lambda = 0)), drop(solve(made$A, made$b)))
  }
})

test_that("solutions equal those of glmnet", {
  skip_if_not_installed("glmnet")
  set.seed(823)
  x <- matrix(rnorm(50 * 20), 50)
  y <- x[, 1] - 2 * x[, 2] + rnorm(50)
  fit <- lars_path(crossprod(x), crossprod(x, y), k = 20)
  lambda <- fit$path$lambda[2:15]
  theirs <- glmnet::glmnet(x, y, lambda = lambda / 50, intercept = FALSE, standardize = FALSE,
                           thresh = 1e-20, maxit = 1e7)
  ours <- vapply(lambda, function(lambda) coef(fit, lambda = lambda), numeric(20))
  expect_equal(ours, as.matrix(theirs$beta), tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("least angle regression equals its slow twin", {
  set.seed(824)
  for (case in 1:20) {
    D <- sample(2:15, 1)
    made <- random_system(D, rows = D + 1, ridge = 0.01)
    fit <- lars_path(made$A, made$b, k = D, type = "lar")
    twin <- oracle_lar(made$A, drop(made$b))
    expect_identical(fit$path$component, c(NA, twin$order))
    expect_identical(fit$path$action, c("start", rep("add", D)))
    expect_equal(fit$path$lambda, twin$lambda, tolerance = 1e-8)
    for (row in seq_len(D + 1)) {
      expect_equal(knot_coef(fit, row), twin$w[[row]], tolerance = 1e-7)
    }
  }
})

test_that("a path that ends at k is the beginning of the longer one", {
  set.seed(825)
  made <- random_system(15, rows = 16)
  whole <- lars_path(made$A, made$b, k = 15)
  for (k in c(1L, 4L, 9L)) {
    fit <- lars_path(made$A, made$b, k = k)
    expect_identical(fit$status, "complete")
    expect_identical(fit$size, k)
    rows <- seq_len(nrow(fit$path))
    expect_equal(fit$path, whole$path[rows, ])
    # it ends where another would come in
    expect_identical(whole$path$size[length(rows) + 1], k + 1L)
    expect_equal(max(abs(made$A %*% knot_coef(fit, max(rows)) - made$b)), min(fit$path$lambda))
  }
})

test_that("models: exact on the best support of a size, or the last knot", {
  set.seed(826)
  several <- 0
  for (case in 1:5) {
    made <- random_system(12, rows = 13)
    exact <- lars_path(made$A, made$b, k = 12)
    plain <- lars_path(made$A, made$b, k = 12, debias = FALSE)
    expect_identical(exact$path, plain$path)
    for (size in 1:12) {
      rows <- which(exact$path$size == size)
      several <- several + (length(rows) > 1)
      objectives <- vapply(rows, function(row) {
        S <- exact$knots[[row]]$components
        -sum(made$b[S] * solve(made$A[S, S], made$b[S])) / 2
      }, 0)
      model <- exact$coefficients[[size + 1]]
      expect_equal(model$objective, min(objectives), tolerance = 1e-9)
      S <- model$components
      expect_setequal(S, exact$knots[[model$step + 1]]$components)
      w <- coef(exact, size)
      expect_equal(unname(w[S]), solve(made$A[S, S], made$b[S]), tolerance = 1e-8)
      expect_equal(model$residual, sqrt(sum((made$A %*% w - made$b)^2)), tolerance = 1e-6)
      # without debias: as many nonzeros as its size, none better at a knot
      expect_identical(sum(coef(plain, size) != 0), size)
      sizes <- vapply(plain$knots, function(knot) sum(knot$beta != 0), 0)
      expect_equal(plain$coefficients[[size + 1]]$objective,
                   min(plain$path$objective[sizes == size]))
    }
  }
  expect_gt(several, 5)
})

test_that("sparse, functional and permuted systems have the same path", {
  set.seed(827)
  made <- random_system(30, rows = 32)
  made$A[abs(made$A) < 5] <- 0
  made$A <- made$A + diag(40, 30)
  fields <- c("path", "coefficients", "knots", "size", "status")
  fit <- lars_path(made$A, made$b, k = 25)
  sparse <- general_sparse(made$A)
  for (A in list(sparse, Matrix::forceSymmetric(sparse), function(j) made$A[, j])) {
    expect_equal(lars_path(A, made$b, k = 25)[fields], fit[fields])
  }
  order <- sample(30)
  turned <- lars_path(made$A[order, order], made$b[order], k = 25)
  expect_identical(order[turned$path$component], fit$path$component)
  expect_equal(turned$path$lambda, fit$path$lambda)
})

test_that("only the columns of components that came in are asked for", {
  set.seed(828)
  made <- random_system(30)
  asked <- integer()
  fit <- lars_path(function(j) {
    asked <<- c(asked, j)
    made$A[, j]
  }, made$b, k = 5)
  expect_identical(sort(unique(asked))[-6], sort(unique(asked[-length(asked)])))
  expect_lte(length(asked), nrow(fit$path))
})

test_that("duplicated and dependent components stay out of each other's way", {
  set.seed(829)
  for (case in 1:10) {
    x <- matrix(rnorm(12 * 6), 12)
    x <- cbind(x, x[, 2], x[, 1] + x[, 3] - x[, 5])
    A <- crossprod(x)
    b <- crossprod(x, rnorm(12))
    for (type in c("lasso", "lar")) {
      fit <- lars_path(A, b, k = 8, type = type)
      expect_identical(fit$status, "early_stop")
      expect_identical(fit$size, 6L)
      expect_false(any(duplicated(selected(fit, index = TRUE))))
      expect_equal(min(fit$path$lambda), 0)
      expect_lt(max(abs(A %*% coef(fit) - b)), 1e-9 * max(abs(b)))
      if (type == "lar") next
      for (row in seq_len(nrow(fit$path))) {
        expect_lt(lasso_violation(A, b, knot_coef(fit, row), fit$path$lambda[row]), 1e-9)
      }
    }
  }
})

test_that("a path without a solution ends where it has none", {
  # min of (w1 + w2)^2 / 2 - w1 - 3 w2 + lambda |w|_1: none for lambda < 1
  expect_warning(fit <- lars_path(matrix(1, 2, 2), c(1, 3), k = 2),
                 paste("the path ends at lambda = 1: `A` is numerically singular there",
                       "(step 2, component 'V1')"),
                 fixed = TRUE, class = "sparsels_warning_singular")
  expect_silent(lars_path(matrix(1, 2, 2), c(1, 3), k = 1))
  expect_equal(fit$path$lambda, c(3, 1))
  expect_identical(fit$status, "early_stop")
  expect_equal(coef(fit, lambda = 1), c(V1 = 0, V2 = 2))
  expect_equal(coef(fit), c(V1 = 0, V2 = 3))
  set.seed(831)
  x <- matrix(rnorm(10 * 4), 4)
  A <- crossprod(x)
  b <- rnorm(10)
  fit <- suppressWarnings(lars_path(A, b, k = 10))
  last <- min(fit$path$lambda)
  expect_gt(last, 0)
  expect_identical(fit$size, 4L)
  for (lambda in seq(last, max(abs(b)), length.out = 7)) {
    expect_lt(lasso_violation(A, b, coef(fit, lambda = lambda), lambda), 1e-11)
  }
})

test_that("equal components enter one after the other, the lowest first", {
  fit <- lars_path(diag(3), c(-2 + 1e-14, 2, 1))
  expect_identical(fit$path$component, c(NA, 1L, 2L, 3L))
  expect_equal(fit$path$lambda, c(2, 2, 1, 0))
  expect_equal(coef(fit, lambda = 1.5), c(V1 = -0.5, V2 = 0.5, V3 = 0))
  expect_identical(selected(fit, lambda = 1.5), c("V1", "V2"))
  expect_identical(selected(fit, lambda = 3), character())
  expect_equal(tidy(fit, lambda = 1.5)$estimate, c(-0.5, 0.5))
})

test_that("which knot comes next", {
  at <- list(lambda = 2, explained = integer(), dropped = NULL, floor = 1e-12)
  # components 5 and 2 both come to 0 at lambda = 1, where 3 comes in
  line <- list(set = c(5L, 2L), sign = c(1, 1), z = c(-1, -1), d = c(-1, -1),
               e = c(0, 0, 0.5, 0, 0), a = c(0, 1, 0.5, 0, 1))
  expect_equal(next_knot(line, at, "lasso"),
               list(lambda = 1, action = "drop", component = 2L, index = 2L, sign = 1))
  expect_equal(next_knot(line, at, "lar"),
               list(lambda = 1, action = "add", component = 3L, sign = 1))
  # what has been dropped cannot come in by the sign that it had
  at$dropped <- list(component = 3L, sign = 1)
  expect_identical(next_knot(line, at, "lar")$action, "end")
  at$dropped$sign <- -1
  expect_identical(next_knot(line, at, "lar")$action, "add")
  # by the other sign, and no lambda above the present one
  line$e[3] <- -3
  line$a[3] <- 0.2
  expect_equal(next_knot(line, at, "lar"), list(lambda = 0, action = "end"))
  at$dropped <- NULL
  expect_equal(next_knot(line, at, "lar"),
               list(lambda = 2, action = "add", component = 3L, sign = -1))
  at$explained <- 3L
  expect_identical(next_knot(line, at, "lar")$action, "end")
  # lambdas below the floor are 0
  line$e[1] <- 1e-13
  expect_identical(next_knot(line, at, "lar")$action, "end")
})

test_that("right sides that few components explain", {
  fit <- lars_path(diag(3), numeric(3))
  expect_identical(fit$status, "early_stop")
  expect_identical(fit$path$lambda, 0)
  set.seed(830)
  made <- random_system(8)
  w <- c(0, 3, 0, 0, -2, 0, 0, 0)
  fit <- lars_path(made$A, made$A %*% w, k = 8)
  expect_equal(unname(coef(fit, lambda = 0)), w)
  expect_true(all(fit$path$lambda == 0 | fit$path$lambda > 1e-10))
  expect_identical(fit$status, "early_stop")
  expect_identical(coef(lars_path(matrix(4), 2)), c(V1 = 0.5))
})

test_that("every refusal of lars_path()", {
  A <- matrix(c(1, 2, 0, 2, 1, 0, 0, 0, 1), 3)
  expect_snapshot({
    refusal(lars_path(diag(3), cbind(1:3, 2)))
    refusal(lars_path(diag(3), 1:3, type = "ridge"))
    refusal(lars_path(diag(3), 1:3, debias = 1))
    refusal(lars_path(diag(3), 1:3, 2))
    refusal(lars_path(diag(3), 1:3, lambda = 2))
    refusal(lars_path(A, 1:3))
    refusal(lars_path(function(j) A[, j], 1:3))
  })
})
