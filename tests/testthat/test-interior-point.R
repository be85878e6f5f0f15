#' @srrstats {ML7.7} solvers against each other: `tests/testthat/test-interior-point.R`,
#'   `tests/testthat/test-greedy-lazy.R`
interior_control <- function(loss, screen = "none", tolerance = 1e-12) {
  list(loss = loss, screen = screen, tolerance = tolerance, threads = 1L, progress = FALSE)
}

null_lambda <- function(pb, loss) {
  max(abs(column_products(pb, model_point(pb, loss, integer(), numeric())$r)))
}

# values of a model less what covariates explain, in working units
working_values <- function(pb, features, beta) {
  drop(oracle_l1(pb)$working$X[, features, drop = FALSE] %*% beta)
}

# Within the gap of the oracle's optimum, and the values as near as the gap then says.
expect_optimal <- function(solution, pb, loss, best) {
  expect_gte(solution$gap, 0)
  expect_lte(solution$gap, 1e-12 * solution$null)
  expect_lt(abs(solution$objective - best$objective), 2e-12 * solution$null)
  away <- working_values(pb, solution$features, solution$beta) -
    working_values(pb, seq_along(best$beta), best$beta)
  # the logistic loss may be as flat as its smallest second derivative
  expect_lt(sum(away^2), (if (loss == "squared") 4e-12 else 1e-9) * solution$null)
}

test_that("solutions are the oracle's, whatever the screen", {
  set.seed(1)
  cover <- random_cover(6, loss = c("squared", "logistic"), m = c(12L, 30L), n = c(8L, 40L),
                        kind = c("plain", "scales", "sparse", "nasty", "shifted"))
  for (case in seq_len(nrow(cover))) {
    one <- cover[case, ]
    pb <- random_l1(one$loss, one$m, one$n, one$kind)
    lambda <- null_lambda(pb, one$loss) * c(0.9, 0.4, 0.05)
    best <- lapply(lambda, function(value) oracle_optimum(pb, one$loss, value))
    for (screen in c("none", "safe1", "safe2", "gap")) {
      found <- interior_path(pb, interior_control(one$loss, screen), lambda)
      for (i in seq_along(lambda)) expect_optimal(found[[i]], pb, one$loss, best[[i]])
    }
  }
})

test_that("conjugate gradients find the same", {
  set.seed(2)
  with_binding("max_direct", 0L, for (case in 1:8) {
    loss <- c("squared", "logistic")[case %% 2 + 1]
    pb <- random_l1(loss, m = 20L, n = c(10L, 40L)[case %/% 2 %% 2 + 1])
    lambda <- null_lambda(pb, loss) * c(0.5, 0.1)
    found <- interior_path(pb, interior_control(loss), lambda)
    for (i in 1:2) expect_optimal(found[[i]], pb, loss, oracle_optimum(pb, loss, lambda[i]))
  })
})

test_that("a Newton step solves its equations in each of the three ways", {
  set.seed(3)
  for (sparse in c(FALSE, TRUE)) {
    for (n in c(5, 30)) {
      X <- matrix(rnorm(12 * n), 12)
      if (sparse) X <- methods::as(Matrix::Matrix(X * (X > 0), sparse = TRUE), "generalMatrix")
      basis <- qr.Q(qr(matrix(rnorm(24), 12)))
      at <- list(point = list(root = runif(12), basis = basis), accuracy = 1e-14, products = 0)
      # as near the optimum: next to nothing for the columns of the solution
      D <- sample(c(10^runif(4, -12, -6), 10^runif(n - 4, -2, 6)))
      right <- rnorm(n)
      B <- qr.resid(qr(basis), as.matrix(at$point$root * X))
      expected <- solve(crossprod(B) + diag(D), right, tol = 0)
      residual <- function(step) max(abs(crossprod(B) %*% step + D * step - right))
      expect_lt(residual(solve_newton(X, at, D, right)$step), 100 * residual(expected) + 1e-10)
      expect_identical(solve_newton(X, at, D, right)$products, 0)
      D <- runif(n, 0.1, 1)
      iterated <- with_binding("max_direct", 0L, solve_newton(X, at, D, right)$step)
      expect_equal(iterated, drop(solve(crossprod(B) + diag(D), right)), tolerance = 1e-8)
    }
  }
})

test_that("the optimality conditions hold", {
  set.seed(4)
  for (loss in c("squared", "logistic")) {
    pb <- random_l1(loss, m = 30L, n = 20L, kind = "plain")
    lambda <- null_lambda(pb, loss) / 4
    found <- interior_solve(pb, interior_control(loss, "gap"), lambda)$solution
    expect_gt(length(found$features), 0)
    corr <- column_products(pb, found$r)
    expect_lt(max(abs(corr)), lambda * (1 + 1e-6))
    large <- abs(found$beta) > 1e-3
    expect_true(any(large))
    expect_equal(corr[found$features[large]], lambda * sign(found$beta[large]), tolerance = 1e-6)
  }
})

test_that("the gap is that of the whole problem, on which duality_gap() agrees", {
  set.seed(5)
  for (loss in c("squared", "logistic")) {
    for (tolerance in c(1e-2, 1e-5, 1e-8)) {
      pb <- random_l1(loss, m = 25L, n = 60L)
      lambda <- null_lambda(pb, loss) * c(0.7, 0.3)
      for (found in interior_path(pb, interior_control(loss, "gap", tolerance), lambda)) {
        expect_lte(found$gap, tolerance * found$null)
      }
      gaps <- duality_gap(pb, loss, lambda[2], found$features, found$beta)
      expect_equal(gaps$gap, found$gap, tolerance = 1e-6)
      expect_equal(gaps$primal, found$objective)
      expect_equal(gaps$null, found$null)
    }
  }
})

test_that("coefficients are exact to 1e-6 where the solution is unique", {
  set.seed(6)
  for (loss in c("squared", "logistic")) {
    pb <- random_l1(loss, m = 40L, n = 20L, kind = "plain", standardize = TRUE)
    lambda <- null_lambda(pb, loss) / 5
    found <- interior_solve(pb, interior_control(loss, "gap", 1e-14), lambda)$solution
    beta <- replace(numeric(20), found$features, found$beta)
    expect_lt(relative_error(beta, oracle_optimum(pb, loss, lambda)$beta), 1e-6)
  }
})

test_that("each screen keeps what the optimum has, and the stronger one no more", {
  set.seed(7)
  removed <- c(safe1 = 0, safe2 = 0, gap = 0)
  for (case in problems_to_try(6, 4)) {
    loss <- c("squared", "logistic")[case %% 2 + 1]
    pb <- random_l1(loss, n = 60L)
    control <- interior_control(loss)
    states <- list()
    for (value in null_lambda(pb, loss) * c(0.95, 0.9, 0.8, 0.7, 0.6)) {
      best <- oracle_optimum(pb, loss, value)
      kept <- list()
      for (screen in names(removed)) {
        control$screen <- screen
        if (is.null(states[[screen]])) states[[screen]] <- interior_state(pb, control)
        kept[[screen]] <- screened_columns(pb, control, value, states[[screen]])
        expect_true(all(which(abs(best$beta) > 1e-9) %in% kept[[screen]]))
        removed[screen] <- removed[screen] + sum(pb$columns$usable) - length(kept[[screen]])
        states[[screen]] <- interior_solve(pb, control, value, states[[screen]])$state
      }
      expect_true(all(kept$safe2 %in% kept$safe1))
    }
  }
  expect_gt(removed[["safe1"]], 50)
  expect_gt(removed[["safe2"]], removed[["safe1"]])
  expect_gt(removed[["gap"]], removed[["safe2"]])
})

test_that("SAFE1 is Theorem 1", {
  set.seed(8)
  pb <- random_l1("squared", m = 25L, n = 60L)
  at <- oracle_l1(pb)$working
  products <- drop(abs(crossprod(at$X, at$y)))
  lengths <- sqrt(colSums(at$X^2)) * sqrt(sum(at$y^2))
  rho <- (lengths + products) / (lengths + max(products))
  control <- interior_control("squared", "safe1")
  state <- interior_state(pb, control)
  for (share in c(0.97, 0.8, 0.5, 0.2)) {
    expected <- which(pb$columns$usable & rho >= share)
    expect_identical(screened_columns(pb, control, share * max(products), state), expected)
  }
})

test_that("the gap test looks from the last solution, and above lambda_max nothing is left", {
  set.seed(9)
  for (loss in c("squared", "logistic")) {
    pb <- random_l1(loss, m = 25L, n = 60L, kind = "plain")
    control <- interior_control(loss, "gap")
    lambda <- null_lambda(pb, loss)
    first <- interior_solve(pb, control, lambda * 1.001)
    expect_identical(first$solution$features, integer())
    expect_lte(first$solution$gap, 1e-14 * first$solution$null)
    expect_identical(first$solution$kept, 0L)
    cold <- interior_solve(pb, control, lambda * 0.5)$solution
    warm <- interior_solve(pb, control, lambda * 0.52, first$state)
    warm <- interior_solve(pb, control, lambda * 0.5, warm$state)$solution
    expect_lt(warm$kept, cold$kept)
    expect_equal(warm$objective, cold$objective)
    none <- interior_solve(pb, interior_control(loss), lambda * 1.001)$solution
    expect_identical(none$features, integer())
  }
})

test_that("the unit of y changes nothing but the unit", {
  set.seed(10)
  x <- matrix(rnorm(30 * 40), 30)
  y <- x[, 1] + rnorm(30)
  one <- interior_solve(as_problem(x, y), interior_control("squared", "gap", 1e-6), 6)$solution
  pb <- as_problem(x, 2^20 * y)
  two <- interior_solve(pb, interior_control("squared", "gap", 1e-6), 6 * 2^20)$solution
  expect_equal(two$beta, one$beta * 2^20)
  expect_identical(two$rounds, one$rounds)
})

test_that("Ctrl-C leaves the solutions so far", {
  set.seed(11)
  pb <- random_l1("squared", m = 25L, n = 20L, kind = "plain")
  count <- 0L
  original <- newton_steps
  interrupted <- function(...) {
    count <<- count + 1L
    if (count == 3L) {
      signalCondition(structure(list(message = "", call = NULL),
                                class = c("interrupt", "condition")))
    }
    original(...)
  }
  lambda <- null_lambda(pb, "squared") * c(0.9, 0.8, 0.7, 0.6)
  found <- with_binding("newton_steps", interrupted,
                        interior_path(pb, interior_control("squared"), lambda))
  expect_length(found, 2L)
  expect_identical(count, 3L)
})

test_that("an answer that cannot be had is given with its gap", {
  set.seed(12)
  pb <- random_l1("squared", m = 25L, n = 20L, kind = "plain")
  lambda <- null_lambda(pb, "squared") / 3
  few <- with_binding("max_rounds", 3L,
                      interior_solve(pb, interior_control("squared"), lambda)$solution)
  expect_identical(few$rounds, 3L)
  expect_gt(few$gap, 1e-12 * few$null)
})

test_that("at the ends of the range of numbers it stops with a warning", {
  set.seed(36)
  x <- matrix(rnorm(60), 12)
  y <- x[, 2] + rnorm(12)
  for (lambda in 10^-c(120, 154, 300)) {
    expect_warning(fit <- l1_path(x, y, solver = "ipm", lambda = lambda),
                   class = "sparsels_warning_convergence")
    expect_true(all(is.finite(unlist(fit$path[c("objective", "gap")]))))
  }
  expect_warning(l1_path(x, y, solver = "ipm", nlambda = 3, tolerance = 1e-300),
                 class = "sparsels_warning_convergence")
})

test_that("rounding makes no gap negative", {
  for (seed in 1:8) {
    set.seed(seed)
    x <- matrix(rnorm(72), 12)
    fit <- l1_path(x, x[, 1] + rnorm(12), solver = "ipm", nlambda = 6, tolerance = 1e-8)
    expect_gte(min(fit$path$gap), 0)
  }
})
