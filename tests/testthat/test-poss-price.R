# Pareto search at a price: the front against all sets.

# All sets of up to k usable columns within the budget that no other dominates, by price.
oracle_front <- function(pb, k, lambda, price, assay, budget) {
  usable <- which(pb$columns$usable)
  sets <- unlist(lapply(seq_len(k), function(s) utils::combn(usable, s, simplify = FALSE)), FALSE)
  cost <- vapply(sets, oracle_price, 0, price, assay)
  sets <- sets[cost <= budget + 1e-9]
  cost <- cost[cost <= budget + 1e-9]
  gain <- vapply(sets, oracle_gain, 0, pb = pb, lambda = lambda)
  first <- order(cost, -gain)
  best <- gain[first] > c(0, cummax(gain[first])[-length(gain)]) + 1e-12
  list(columns = sets[first][best], price = cost[first][best], criterion = gain[first][best])
}

test_that("the front is that of all sets", {
  set.seed(90)
  cases <- random_cover(12, task = c("one", "two", "binary"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
                        assays = c(TRUE, FALSE), lambda = c(0, 2), budget = c(Inf, 9, 4.5))
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(20, 8, case$task, case$weights, case$covariates, sparse = case$sparse,
                         duplicate = FALSE)
    assay <- if (case$assays) rep_len(c(NA, "p", NA, "q"), 8) else rep(NA, 8)
    price <- round(runif(8, 0.5, 4), 2)
    price[!is.na(assay)] <- c(p = 2.2, q = 3.1)[assay[!is.na(assay)]]
    fit <- poss(pb, k = 3, lambda = case$lambda, budget = case$budget, iterations = 3000,
                cost = data.frame(cost = price, assay = assay))
    expected <- oracle_front(pb, 3, case$lambda, price, assay, case$budget)
    expect_identical(lapply(fit$front$columns, sort), expected$columns)
    expect_equal(fit$front$price, expected$price, tolerance = 1e-12)
    expect_equal(fit$front$criterion, expected$criterion, tolerance = 1e-9)
    expect_identical(fit$front$size, lengths(expected$columns))
    loo <- vapply(expected$columns, oracle_squared, 0, pb = pb, lambda = case$lambda,
                  folds = make_folds(pb, "loo"))
    expect_equal(fit$front$squared, loo, tolerance = 1e-8)
    # the models are the best of each size on the front, the chosen one the best of all
    expect_identical(fit$size, utils::tail(fit$front$size, 1))
    for (size in unique(fit$front$size)) {
      best <- max(which(fit$front$size == size))
      row <- fit$path[fit$path$size == size, ]
      expect_identical(sort(fit$coefficients[[size + 1]]$features), expected$columns[[best]])
      expect_equal(row$price, expected$price[best])
      expect_equal(row$squared, loo[best])
      expect_identical(row$step, fit$coefficients[[size + 1]]$step)
    }
    expect_identical(fit$path$size, c(0L, sort(unique(fit$front$size))))
  }
})

numbers_of <- function(fit) {
  fit[c("path", "front", "archive", "rng_state", "coefficients", "held_out")]
}

test_that("the search depends on the generator alone, and goes on where it ended", {
  set.seed(91)
  x <- matrix(rnorm(40 * 30), 40)
  y <- x[, 1:4] %*% c(1, -1, 1, 2) + rnorm(40)
  price <- sample(9, 30, TRUE)
  run <- function(iterations, ...) {
    set.seed(5)
    poss(x, y, k = 5, cost = price, budget = 12, iterations = iterations, restarts = 3, ...)
  }
  whole <- run(4000)
  expect_identical(numbers_of(run(4000, threads = 2)), numbers_of(whole))
  half <- run(1500)
  rest <- update(half, iterations = 2500)
  expect_identical(numbers_of(rest), numbers_of(whole))
  expect_true(all(vapply(whole$archive$columns, function(set) sum(price[set]), 0) <= 24))
  expect_true(all(whole$archive$size <= 5))
  one <- poss(x, y, k = 5, cost = price, start = list(c(1, 3)), iterations = 1, restarts = 1)
  expect_true(any(vapply(one$archive$columns, identical, NA, c(1L, 3L))))
})

test_that("every column at one price is the search by size", {
  set.seed(92)
  pb <- random_problem(25, 9, duplicate = FALSE)
  plain <- poss(pb, k = 4, iterations = 3000)
  priced <- poss(pb, k = 4, iterations = 3000, cost = rep(2.5, 9))
  expect_equal(priced$front$criterion, plain$path$criterion[2:5])
  expect_equal(priced$front$price, 2.5 * 1:4)
  expect_identical(priced$size, 4L)
})

test_that("the size can be chosen in folds, and no set may be worth its price", {
  set.seed(93)
  x <- matrix(rnorm(40 * 6), 40)
  y <- x[, 2] + rnorm(40) / 2
  fit <- suppressWarnings(poss(x, y, k = 3, cost = 1:6, iterations = 500, size = "cv"),
                          "sparsels_warning_edge")
  expect_false(anyNA(fit$path$cv))
  expect_equal(unname(predict(fit, x)), as.vector(fit$fitted))
  copies <- poss(x[, c(2, 2, 2)], y, k = 2, cost = c(3, 1, 2), iterations = 300)
  expect_identical(copies$front$columns, list(2L))
})

test_that("prices of sets are said, and refused where they cannot be used", {
  set.seed(94)
  x <- matrix(rnorm(30 * 4), 30, dimnames = list(NULL, letters[1:4]))
  y <- x[, 2] + x[, 4] / 2 + rnorm(30)
  run <- function(...) poss(x, y, k = 2, iterations = 300, ...)
  expect_snapshot({
    refusal(run(cost = 1:4, isolation = "first"))
    refusal(run(cost = 1:4, budget = 0.1))
    refusal(run(cost = 1:3))
    refusal(run(budget = 2))
    refusal(run(cost = 1:4, start = run()))
    run(cost = c(1, 2, 1, 3), budget = 5)
  })
})
