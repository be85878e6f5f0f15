# The search over lambda for a wanted number of columns.

size_data <- function(loss = "squared", m = 40, n = 60, ...) {
  set.seed(51)
  pb <- random_problem(m, n, if (loss == "squared") "one" else "binary", duplicate = FALSE, ...)
  # random_problem() makes a constant column
  stopifnot(sum(pb$columns$usable) == n - 1)
  pb
}

# A path of one lambda whose model has card(lambda) columns, and what it was asked.
counting <- function(card) {
  asked <- list()
  list(
    solve = function(problem, control, lambda, start = NULL, bound = -Inf) {
      asked[[length(asked) + 1L]] <<- list(lambda = lambda, start = start, bound = bound)
      list(list(features = seq_len(card(lambda)), lambda = lambda, objective = lambda, gap = 0,
                null = 1))
    },
    asked = function() asked
  )
}

search_for <- function(card, size, range, tau, floor = 1e-3) {
  counter <- counting(card)
  control <- list(lambda_max = 1, loss = "hinge")
  found <- with_binding("solve_path", counter$solve,
                        search_size(NULL, control, size, range, tau, floor))
  c(found, list(asked = counter$asked()))
}

test_that("custom divides by five until there are too many, then halves the last interval", {
  card <- function(lambda) floor(10 / lambda)
  found <- search_for(card, 300, 5, 5)
  lambda <- 5^-(1:3)
  ends <- c(5^-3, 5^-2)
  expect_gt(card(ends[1]), 300)
  while (abs(card(lambda[length(lambda)]) - 300) > 5) {
    middle <- mean(ends)
    lambda <- c(lambda, middle)
    ends[if (card(middle) > 300) 1 else 2] <- middle
  }
  expect_equal(found$lambda, lambda)
  expect_equal(found$size, card(lambda))
  expect_identical(found$stopped, FALSE)
  # at once when the first is one
  expect_equal(search_for(card, 52, 2, 5)$lambda, 1 / 5)
  expect_equal(search_for(card, 52, 1, 5)$lambda[2], 1 / 25)
})

test_that("standard halves from the smallest lambda to the largest", {
  found <- search_for(function(lambda) floor(10 / lambda), 300, 5, Inf)
  lambda <- (1 + 1e-3) / 2
  ends <- c(1e-3, 1)
  while (abs(floor(10 / lambda[length(lambda)]) - 300) > 5) {
    last <- lambda[length(lambda)]
    ends[if (floor(10 / last) > 300) 1 else 2] <- last
    lambda <- c(lambda, mean(ends))
  }
  expect_equal(found$lambda, lambda)
})

test_that("each solution starts from the nearest one", {
  asked <- search_for(function(lambda) floor(10 / lambda), 300, 0, 5)$asked
  lambda <- vapply(asked, `[[`, 0, "lambda")
  expect_null(asked[[1]]$start)
  for (step in seq_along(lambda)[-1]) {
    before <- lambda[seq_len(step - 1)]
    expect_identical(asked[[step]]$start$lambda, before[which.min(abs(log(before / lambda[step])))])
  }
  expect_identical(asked[[1]]$bound, -Inf)
  # of the counts above the optimum is said to be lambda itself, and 1 at lambda_max
  expect_equal(vapply(asked[-1], `[[`, 0, "bound"), lambda[-1])
})

test_that("a number of columns that jumps or is not monotone ends the search", {
  jump <- function(lambda) if (lambda < 0.3) 50 else 3
  for (tau in c(5, Inf)) {
    found <- search_for(jump, 20, 2, tau)
    expect_lt(length(found$lambda), 30)
    expect_lt(min(abs(found$lambda / 0.3 - 1)), 1e-5)
  }
  set.seed(52)
  wild <- function(lambda) sample(c(0, 3, 40, 60), 1)
  for (tau in c(5, Inf)) expect_lte(length(search_for(wild, 20, 2, tau)$lambda), 50)
  # more than there are: down to the smallest lambda, and no further
  few <- search_for(function(lambda) 7, 20, 2, 5)
  expect_equal(few$lambda, c(5^-(1:4), 1e-3))
  expect_lte(length(search_for(function(lambda) 7, 20, 2, Inf)$lambda), 31)
  expect_equal(search_for(function(lambda) 9, 0, 0, 5)$lambda, 1)
})

test_that("the size wanted is found for every loss, search and screen", {
  for (loss in losses) for (sparse in c(FALSE, TRUE)) {
    pb <- size_data(loss, sparse = sparse, weights = TRUE)
    for (search in c("custom", "standard")) {
      find <- function(...) {
        l1_size(pb, size = 9, range = 1, loss = loss, search = search, tolerance = 1e-8, ...)
      }
      fit <- find()
      expect_s3_class(fit, c("l1_size", "l1_path", "sparse_fit", "sparsels_fit", "sparsels_result"),
                      exact = TRUE)
      expect_lte(abs(fit$size - 9), 1)
      expect_lte(abs(utils::tail(fit$searched$size, 1) - 9), 1)
      expect_true(all(abs(utils::head(fit$searched$size, -1) - 9) > 1))
      expect_identical(length(selected(fit)), fit$size)
      expect_identical(utils::tail(fit$searched$lambda, 1), fit$lambda)
      path <- l1_path(pb, loss = loss, lambda = fit$searched$lambda, tolerance = 1e-8,
                      progress = FALSE)
      order <- order(fit$searched$lambda, decreasing = TRUE)
      expect_identical(path$path$size, fit$searched$size[order])
      expect_equal(fit$path$objective, path$path$objective, tolerance = 1e-7)
      expect_equal(coef(fit), coef(path, lambda = fit$lambda)[names(coef(fit))], tolerance = 1e-4)
      expect_equal(unname(predict(fit, as.matrix(pb$x), type = "link")), drop(fit$fitted))
      for (screen in c("none", "safe1", "safe2", "gap")) {
        other <- find(screen = screen)
        expect_identical(other$searched, fit$searched)
        expect_setequal(selected(other), selected(fit))
      }
    }
  }
})

test_that("bounds are below the optimum, near it between two solutions, and help the screen", {
  for (loss in losses) {
    pb <- size_data(loss, covariates = loss != "hinge")
    control <- l1_control(pb, loss, tolerance = 1e-10)
    control$lambda_max <- largest_lambda(pb, control)
    solved <- control$lambda_max * c(0.2, 0.4, 0.8)
    solutions <- lapply(solved, function(lambda) solve_path(pb, control, lambda)[[1]])
    lambda <- control$lambda_max * c(0.1, 0.3, 0.42, 0.79, 0.9)
    optimum <- vapply(lambda, function(one) solve_path(pb, control, one)[[1]]$objective, 0)
    bound <- function(known) {
      at <- list(solutions = solutions[known], lambda = solved[known])
      vapply(lambda, function(one) proven_bound(pb, control, at, one), 0)
    }
    every <- bound(1:3)
    expect_true(all(every <= optimum))
    expect_true(all(every >= bound(1) - 1e-9 & every >= bound(3) - 1e-9))
    off <- (optimum - every) / solutions[[1]]$null
    expect_true(all(off[2:5] < 0.05))
    # in the order of the solutions there is nothing
    at <- list(solutions = solutions[c(3, 1, 2)], lambda = solved[c(3, 1, 2)])
    expect_identical(proven_bound(pb, control, at, lambda[2]), every[2])
  }
})

test_that("a screen is told the bound", {
  for (loss in c("squared", "logistic")) {
    pb <- size_data(loss)
    control <- l1_control(pb, loss, "safe1")
    control$lambda_max <- largest_lambda(pb, control)
    at <- list(lambda = control$lambda_max * c(0.75, 0.85))
    at$solutions <- lapply(at$lambda, function(lambda) solve_path(pb, control, lambda)[[1]])
    lambda <- 0.8 * control$lambda_max
    told <- solve_between(pb, control, at, lambda)
    alone <- solve_path(pb, control, lambda)[[1]]
    expect_equal(told$objective, alone$objective)
    expect_setequal(told$features, alone$features)
    expect_lt(told$kept, alone$kept)
  }
})

test_that("sizes at the ends: none, all, and more than there can be", {
  for (loss in losses) {
    pb <- size_data(loss)
    none <- l1_size(pb, size = 0, range = 0, loss = loss)
    expect_identical(none$searched$size, 0L)
    expect_identical(selected(none), character())
  }
  expect_identical(l1_size(size_data(), size = 1, range = 0, search = "standard")$size, 1L)
  pb <- size_data()
  expect_warning(most <- l1_size(pb, size = 55, range = 2), "smaller `lambda_min_ratio`",
                 class = "sparsels_warning_size")
  expect_identical(most$size, max(most$path$size))
  expect_equal(min(most$path$lambda), 1e-3 * most$lambda_max)
  tall <- size_data(m = 90, n = 8)
  expect_identical(l1_size(tall, size = 7, range = 0, lambda_min_ratio = 1e-6)$size, 7L)
})

test_that("of models equally near the smaller is shown, of that size the one that explains most", {
  found <- list(lambda = c(3, 2, 1, 0.5), size = c(8L, 12L, 8L, 12L), stopped = FALSE,
                solutions = NULL)
  pb <- size_data()
  control <- selection_control(l1_control(pb, "squared"), pb, NULL, "loss")
  control$lambda_max <- 40
  found$solutions <- lapply(found$size, function(size) {
    list(features = which(pb$columns$usable)[seq_len(size)], beta = rep(0.1, size), u = 0,
         objective = 5, gap = 0, rounds = 1, products = 1, kept = 1, null = 10)
  })
  expect_warning(fit <- new_size_fit(pb, control, found, 10L, 1L, NULL), "9 to 11",
                 class = "sparsels_warning_size")
  expect_identical(fit$size, 8L)
  expect_identical(fit$lambda, 1)
  expect_identical(fit$path$lambda, c(3, 2, 1, 0.5))
  expect_identical(model_of(fit)$step, 2L)
})

test_that("Ctrl-C leaves the nearest so far", {
  pb <- size_data()
  whole <- l1_size(pb, size = 9, range = 0)
  expect_gt(nrow(whole$searched), 2)
  calls <- 0
  solve <- solve_path
  stopping <- function(problem, control, lambda = control$lambda, ...) {
    # the first finds lambda_max
    if (lambda[1] < 1e6) calls <<- calls + 1
    if (calls > 2) list() else solve(problem, control, lambda, ...)
  }
  expect_warning(part <- with_binding("solve_path", stopping, l1_size(pb, size = 9, range = 0)),
                 "2 lambdas done", class = "sparsels_interrupted")
  expect_identical(part$searched, whole$searched[1:2, ])
  expect_identical(part$status, "interrupted")
  expect_output(print(part), "interrupted")
})

test_that("prints and messages", {
  x <- outer(1:24, 1:9, function(i, j) sin(i * j) + cos(i + j^2))
  y <- x[, 2] - 2 * x[, 5] + sin(1:24 * 7)
  sick <- factor(y > 0, labels = c("no", "yes"))
  twins <- cbind(x[, c(2, 2, 2, 2)])
  expect_snapshot({
    l1_size(x, y, size = 5, range = 0)
    print(l1_size(x, sick, size = 3, loss = "hinge"), n = 0)
    refusal(l1_size(x, y))
    refusal(l1_size(x, y, size = 10))
    refusal(l1_size(x, y, size = 2.5))
    refusal(l1_size(x, y, size = 3, range = -1))
    refusal(l1_size(x, y, size = 3, search = "bisection"))
    refusal(l1_size(x, y, size = 3, lambda_min_ratio = 1))
    refusal(l1_size(x, y, size = 3, loss = "logistic"))
    refusal(l1_size(x, y, size = 3, folds = 5))
    refusal(l1_size(x, cbind(y, y), size = 3, loss = "hinge"))
  })
  expect_snapshot({
    few <- l1_size(twins, y, size = 4, range = 1)
    few <- l1_size(x, y, size = 9, range = 0, lambda_min_ratio = 0.5)
  })
})
