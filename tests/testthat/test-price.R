# Searches at a price, against retraining for every candidate.

drawn_prices <- function(n, assays) {
  assay <- if (assays) sample(c(NA, "p", "q", "r"), n, TRUE) else rep(NA_character_, n)
  price <- round(runif(n, 0.5, 6), 1)
  shared <- !is.na(assay)
  price[shared] <- c(p = 4, q = 2.5, r = 7)[assay[shared]]
  data.frame(cost = price, assay = assay)
}

test_that("every column added is the one with the largest gain per price", {
  set.seed(80)
  cases <- random_cover(
    max(problems_to_try(20, 12)), task = c("one", "two", "binary", "three"),
    weights = c(TRUE, FALSE),
    covariates = c(TRUE, FALSE), folds = c("loo", "unequal"), assays = c(TRUE, FALSE),
    budget = c(Inf, 8.4), start = c(FALSE, TRUE), lambda = c(0.2, 5)
  )
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(14, 10, case$task, case$weights, case$covariates)
    folds <- if (case$folds == "loo") make_folds(pb, "loo") else unequal_folds(pb)
    cost <- drawn_prices(10, case$assays)
    start <- if (case$start) 9L else integer()
    fit <- bare_rls(pb, k = 6, lambda = case$lambda, folds = folds, cost = cost,
                    budget = case$budget, start = start)
    label <- paste(names(case), vapply(case, format, ""), sep = "=", collapse = " ")
    chosen <- fit$path$feature[-1]
    expect_identical(chosen, oracle_priced(pb, 6, case$lambda, folds, cost$cost, cost$assay,
                                           case$budget, start), label = label)
    spent <- vapply(oracle_sets(fit$path), oracle_price, 0, cost$cost, cost$assay)
    expect_equal(fit$path$price, spent, tolerance = 1e-12, label = label)
    expect_lte(max(spent), case$budget + 1e-8)
  }
})

test_that("other criteria count gains per price, too", {
  set.seed(81)
  for (name in c("error", "auc", "absolute")) for (assays in c(FALSE, TRUE)) {
    pb <- random_problem(14, 9, "binary", weights = TRUE)
    folds <- make_folds(pb, rep_len(1:3, 14))
    cost <- drawn_prices(9, assays)
    fit <- bare_rls(pb, k = 5, lambda = 1, folds = folds, cost = cost, criterion = name)
    chosen <- oracle_priced(pb, 5, 1, folds, cost$cost, cost$assay, name = name)
    expect_identical(fit$path$feature[-1], chosen, label = paste(name, assays))
  }
})

test_that("a free column that gains nothing does not come before one that gains", {
  prices <- data.frame(cost = c(1, 1, 1, 1, 2, 3), assay = c("u", "u", "u", "u", NA, NA))
  for (seed in c(7, problems_to_try(6, 3))) {
    set.seed(seed)
    score <- rep(c(-0.5, 0.5), c(5, 7))
    x <- cbind(score * 0.8 + rnorm(12) / 1.2, score * 0.5 + rnorm(12), score * 0.3 + rnorm(12),
               rnorm(12), score + rnorm(12) * 0.5, score * 0.7 + rnorm(12))
    pb <- as_problem(x, factor(score > 0))
    folds <- make_folds(pb, rep_len(1:4, 12))
    for (name in c("error", "auc")) {
      fit <- bare_rls(pb, k = 5, lambda = 1, folds = folds, cost = prices, criterion = name)
      chosen <- oracle_priced(pb, 5, 1, folds, prices$cost, prices$assay, name = name)
      expect_identical(fit$path$feature[-1], chosen, label = paste(seed, name))
    }
  }
})

# A path with prices by any way of skipping.
priced_path <- function(pb, cost, k, lambda, folds, skipping, budget = Inf, keep = 0L,
                        threads = 1L) {
  control <- path_control(pb, k, lambda, folds, "squared")
  control[c("search", "keep", "threads", "progress")] <- list("forward", keep, threads, FALSE)
  control$cost <- check_cost(cost, pb)
  control$budget <- check_budget(budget, control$cost, pb)
  greedy_path(pb, control, lambda, skipping = skipping)
}

test_that("candidates are skipped by bounds divided by prices, with the same result", {
  set.seed(82)
  cases <- random_cover(
    max(problems_to_try(10, 6)), task = c("one", "two", "binary", "three"),
    weights = c(TRUE, FALSE),
    covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE), keep = c(0L, 3L),
    budget = c(Inf, 25, 12.3), lambda = c(0.3, 10, 200), assays = c(TRUE, FALSE),
    folds = c("loo", "ten", "unequal", "halves")
  )
  skipped <- 0
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(50, 90, case$task, case$weights, case$covariates, sparse = case$sparse)
    folds <- switch(case$folds, loo = make_folds(pb, "loo"), ten = make_folds(pb, 10),
                    unequal = unequal_folds(pb, 2), halves = make_folds(pb, 2))
    cost <- drawn_prices(90, case$assays)
    path <- function(skipping, threads = 1L) {
      priced_path(pb, cost, 12L, case$lambda, folds, skipping, case$budget, case$keep, threads)
    }
    every <- path("none")
    expect_gt(nrow(every$path), 2)
    for (skipping in c("bounds", "recurrence")) {
      few <- path(skipping)
      part <- c("path", "size", "models", "alternatives", "held_out")
      expect_equal(few[part], every[part], tolerance = 1e-8)
      expect_identical(few$work$candidates, every$work$candidates)
      skipped <- skipped + (few$work$evaluated < every$work$evaluated)
      expect_identical(path(skipping, 2L), few)
    }
    expect_identical(path("none", 2L), every)
  }
  expect_gt(skipped, 6)
})

test_that("few candidates are computed where prices differ", {
  set.seed(83)
  x <- matrix(rnorm(2000 * 300), 2000)
  pb <- as_problem(x, x[, 1:20] %*% rep(1, 20) + rnorm(2000))
  cost <- exp(rnorm(300))
  for (folds in list(make_folds(pb, "loo"), make_folds(pb, rep(1:500, each = 4)))) {
    few <- priced_path(pb, cost, 20L, 16000, folds, "bounds")
    expect_lt(few$work$evaluated, few$work$candidates / 10)
    expect_lt(few$work$passes, 15)
    every <- priced_path(pb, cost, 20L, 16000, folds, "none")
    expect_equal(few$path, every$path, tolerance = 1e-9)
  }
})

test_that("one price for all changes nothing, and the unit does not matter", {
  set.seed(84)
  x <- matrix(rnorm(60 * 80), 60)
  y <- x[, 3] - x[, 50] + rnorm(60)
  plain <- greedy_rls(x, y, k = 6)
  same <- greedy_rls(x, y, k = 6, cost = rep(3, 80))
  expect_equal(same$path[names(plain$path)], plain$path)
  expect_equal(same$path$price, 3 * same$path$size)
  expect_equal(same[c("size", "estimate", "held_out")], plain[c("size", "estimate", "held_out")])
  price <- runif(80, 1, 9)
  pence <- bare_rls(x, y, k = 6, lambda = 60, cost = 100 * price, budget = 2000)
  pounds <- bare_rls(x, y, k = 6, lambda = 60, cost = price, budget = 20)
  expect_identical(pence$path$feature, pounds$path$feature)
  # a budget that is met to the last penny
  spent <- pounds$path$price[4]
  exact <- bare_rls(x, y, k = 6, lambda = 60, cost = price, budget = spent)
  expect_identical(exact$path$feature[1:4], pounds$path$feature[1:4])
})

test_that("the repetitions in folds keep the budget", {
  set.seed(85)
  x <- matrix(rnorm(50 * 30), 50)
  y <- x[, 3] - x[, 20] + rnorm(50) / 2
  cost <- data.frame(cost = rep(c(1, 4), c(10, 20)), assay = rep(c(NA, "panel"), c(10, 20)))
  fit <- greedy_rls(x, y, cost = cost, budget = 6, lambda = 50)
  expect_lte(max(fit$path$price), 6)
  for (model in fit$coefficients) {
    expect_lte(oracle_price(model$features, cost$cost, cost$assay), 6)
  }
  expect_false(anyNA(fit$held_out))
  # a path that ends before k has the errors of its sizes
  sizes <- size_table(fit)
  expect_false(anyNA(sizes$cv))
  refit <- greedy_rls(x, y, cost = cost, budget = 6)
  expect_true(all(c("price", "refit_lambda", "cv") %in% names(refit$path)))
})

test_that("prices come by name, in order or as a table", {
  set.seed(86)
  x <- matrix(rnorm(40 * 8), 40, dimnames = list(NULL, letters[1:8]))
  y <- x[, 3] + rnorm(40)
  price <- runif(8, 1, 5)
  path <- function(cost) bare_rls(x, y, k = 4, lambda = 40, cost = cost)$path
  expected <- path(price)
  named <- stats::setNames(price, letters[1:8])
  expect_identical(path(rev(named)), expected)
  expect_identical(path(c(named, other = 9)), expected)
  expect_identical(path(data.frame(cost = price)), expected)
  expect_identical(path(data.frame(name = letters[8:1], cost = rev(price))), expected)
  expect_identical(path(data.frame(cost = rev(price), row.names = letters[8:1])), expected)
  grouped <- data.frame(cost = 2, assay = factor(rep(c("u", "v"), 4)))
  expect_identical(path(grouped), path(transform(grouped, assay = as.integer(assay))))
})

test_that("what is no price is refused, and a price is said", {
  set.seed(87)
  x <- matrix(rnorm(30 * 4), 30, dimnames = list(NULL, letters[1:4]))
  y <- x[, 2] + rnorm(30)
  run <- function(...) bare_rls(x, y, k = 3, lambda = 30, ...)
  expect_snapshot({
    refusal(run(cost = "cheap"))
    refusal(run(cost = 1:3))
    refusal(run(cost = c(1, 2, 0, 4)))
    refusal(run(cost = c(1, NA, 3, 4)))
    refusal(run(cost = c(a = 1, b = 2, c = 3)))
    refusal(run(cost = c(a = 1, b = 2, a = 3, c = 1, d = 1)))
    refusal(run(cost = data.frame(price = 1:4)))
    refusal(run(cost = data.frame(cost = 1:4, assay = c("u", "v", "v", NA))))
    refusal(run(cost = c(1, 1e-308, 1e308, 1)))
    refusal(run(budget = 3))
    refusal(run(cost = 1:4, budget = 0.5))
    refusal(run(cost = 1:4, budget = -1))
    refusal(run(cost = 1:4, budget = 3, start = c("b", "c")))
    refusal(run(cost = 1:4, search = "floating"))
    run(cost = c(3, 1, 2, 0.5), budget = 4)
    run(cost = 1:4)
  })
})
