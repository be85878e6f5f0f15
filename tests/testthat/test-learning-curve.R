# Learning curves against a loop written down, and curves whose parameters are known.

made <- function(m = 40, n = 8) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  list(x = x, y = x[, 2] - x[, 5] + rnorm(m))
}

# the orders of the rows that learning_curve() draws after set.seed(seed)
drawn_orders <- function(seed, repeats, problem, groups = NULL) {
  set.seed(seed)
  lapply(task_streams(repeats), function(stream) {
    with_stream(stream, shuffled_rows(problem, groups))
  })
}

test_that("errors are those of a loop over training sets", {
  set.seed(1)
  data <- made()
  w <- runif(40, 0.5, 2)
  set.seed(5)
  curve <- learning_curve(data$x, data$y, greedy_rls, weights = w, k = 3, lambda = 2,
                          size = "criterion", sizes = c(12, 20, 32), repeats = 4)
  orders <- drawn_orders(5, 4, as_problem(data$x, data$y))
  for (i in 1:4) {
    held_out <- orders[[i]][33:40]
    expect_setequal(orders[[i]], 1:40)
    for (j in 1:3) {
      rows <- orders[[i]][seq_len(c(12, 20, 32)[j])]
      fit <- greedy_rls(data$x[rows, ], data$y[rows], weights = w[rows], k = 3, lambda = 2,
                        size = "criterion")
      error <- stats::weighted.mean((data$y[held_out] - predict(fit, data$x[held_out, ]))^2,
                                    w[held_out])
      expect_equal(curve$errors[i, j], error, tolerance = 1e-10)
    }
  }
  expect_identical(curve$table$rows, c(12L, 20L, 32L))
  expect_equal(curve$table$error, colMeans(curve$errors))
  # the larger standard error of two: over the repeats, and over the rows held out
  over_repeats <- apply(curve$errors, 2, sd) * sqrt(1 / 4 + 8 / 32)
  over_rows <- vapply(1:3, function(j) {
    pull <- total <- numeric(40)
    for (order in orders) {
      rows <- order[seq_len(c(12, 20, 32)[j])]
      fit <- greedy_rls(data$x[rows, ], data$y[rows], weights = w[rows], k = 3, lambda = 2,
                        size = "criterion")
      tested <- order[33:40]
      loss <- (data$y[tested] - predict(fit, data$x[tested, ]))^2
      pull[tested] <- pull[tested] + w[tested] * loss
      total[tested] <- total[tested] + w[tested]
    }
    pull <- pull - total * sum(pull) / sum(total)
    count <- sum(total > 0)
    sqrt(count / (count - 1) * sum(pull^2)) / sum(total)
  }, 0)
  expect_equal(curve$table$se, pmax(over_repeats, over_rows), tolerance = 1e-10)
  half <- qt(0.95, 3) * curve$table$se
  expect_equal(curve$table$lower, pmax(curve$table$error - half, 0))
  expect_equal(curve$table$upper, curve$table$error + half)
  expect_equal(curve$table$relative, curve$table$error / curve$table$null)
  set.seed(5)
  again <- learning_curve(data$x, data$y, greedy_rls, weights = w, k = 3, lambda = 2,
                          size = "criterion", sizes = c(32, 20, 12), repeats = 4)
  expect_identical(again[c("errors", "draws")], curve[c("errors", "draws")])
})

test_that("the null model is that of the covariates", {
  set.seed(2)
  data <- made()
  age <- rnorm(40)
  y <- data$y + 3 * age
  set.seed(6)
  curve <- learning_curve(data$x, y, omp, adjust = age, k = 2, sizes = c(10, 20, 30), repeats = 2)
  orders <- drawn_orders(6, 2, as_problem(data$x, y))
  d <- data.frame(y, age)
  null <- vapply(c(10, 20, 30), function(size) {
    mean(vapply(orders, function(order) {
      fit <- stats::lm(y ~ age, d[order[seq_len(size)], ])
      mean((y[order[33:40]] - stats::predict(fit, d[order[33:40], ]))^2)
    }, 0))
  }, 0)
  expect_equal(curve$table$null, null)
})

test_that("classes are in proportion in every part, and groups are not divided", {
  set.seed(3)
  x <- matrix(rnorm(60 * 5), 60)
  class <- factor(rep(c("a", "b", "c"), c(30, 20, 10)))
  problem <- as_problem(x, class, weights = rep(c(1, 0), c(59, 1)))
  for (order in drawn_orders(7, 5, problem)) {
    expect_setequal(order, 1:59)
    for (size in c(6, 18, 40)) {
      expected <- size * c(30, 20, 9) / 59
      expect_true(all(abs(table(class[order[seq_len(size)]]) - expected) < 1))
    }
  }
  groups <- rep(1:12, c(1:9, 5, 5, 5))
  plan <- list(groups = groups, test_rows = 7)
  set.seed(8)
  splits <- train_on_splits(problem, plan, 20, "split", function(trained, rows) {
    expect_setequal(c(trained, rows), 1:59)
    expect_length(intersect(groups[rows], groups[trained]), 0)
    expect_true(length(rows) <= 7 || length(unique(groups[rows])) == 1)
    length(rows)
  }, FALSE, NULL)
  counts <- vapply(splits, `[[`, 0L, "result")
  expect_gt(length(unique(counts)), 2)
  curve <- learning_curve(problem, omp, k = 1, groups = groups, repeats = 3, test = 0.1)
  of_folds <- function(...) {
    set.seed(9)
    folds <- make_folds(problem, 4, groups = groups)
    learning_curve(problem, omp, k = 1, size_folds = folds, repeats = 2, test = 0.1, ...)
  }
  expect_identical(of_folds()$errors, of_folds(groups = groups)$errors)
  expect_true(of_folds()$grouped)
  expect_false(of_folds(groups = FALSE)$grouped)
  expect_identical(max(curve$table$rows), 52L)
})

test_that("groups of one class are split in proportion of the classes", {
  set.seed(10)
  patient <- rep(1:20, sample(rep(2:5, 5)))
  problem <- as_problem(matrix(rnorm(length(patient) * 3), ncol = 3),
                        rep(rep(c("a", "b"), 10), tabulate(patient)), groups = patient)
  for (draw in 1:20) {
    rows <- shuffled_rows(problem, patient)
    order <- unique(patient[rows])
    expect_identical(rle(patient[rows])$values, order)
    # patients of odd numbers are of class a
    expect_true(all(abs(cumsum(ifelse(order %% 2 == 1, 1, -1))) <= 1))
  }
})

test_that("training sets of groups are whole groups, as in a loop over them", {
  set.seed(13)
  data <- made(80)
  groups <- sample(rep(letters[1:10], c(4, 12, 6, 10, 8, 5, 11, 7, 9, 8)))
  problem <- as_problem(data$x, data$y, groups = groups)
  set.seed(14)
  curve <- learning_curve(problem, rls, lambda = 3, sizes = c(15, 31, 60), repeats = 4)
  orders <- drawn_orders(14, 4, problem, whole_units(problem))
  trained <- array(0, c(4, 3, 2))
  for (i in 1:4) {
    of_groups <- unique(groups[orders[[i]]])
    # the last groups of at most 16 rows are held out
    held_out <- groups %in% rev(of_groups)[cumsum(rev(table(groups)[of_groups])) <= 16]
    for (j in 1:3) {
      count <- which(cumsum(table(groups)[of_groups]) >= c(15, 31, 60)[j])[1]
      own <- groups %in% of_groups[seq_len(count)]
      expect_false(any(own & held_out))
      fit <- rls(data$x[own, ], data$y[own], groups = groups[own], lambda = 3)
      expect_equal(curve$errors[i, j],
                   mean((data$y[held_out] - predict(fit, data$x[held_out, ]))^2))
      trained[i, j, ] <- c(sum(own), count)
    }
  }
  expect_identical(curve$table$rows, as.integer(round(colMeans(trained[, , 1]))))
  expect_equal(curve$table$groups, colMeans(trained[, , 2]))
  expect_output(print(curve), "rows groups error")
  expect_null(learning_curve(data$x, data$y, rls, lambda = 3, repeats = 1)$table$groups)
  # by default from three groups on, which a search with its size chosen in folds needs
  study <- rep(letters[1:8], each = 10)
  default <- learning_curve(data$x, data$y, greedy_rls, groups = study, k = 2, repeats = 1)
  expect_identical(default$table$groups, c(3, 4, 5, 6))
  expect_identical(default$table$rows, c(30L, 40L, 50L, 60L))
  expect_error(learning_curve(data$x, data$y, rls, groups = study, sizes = c(31, 32, 33)),
               "of three or more numbers of groups, which have 10 rows",
               class = "sparsels_error_input")
  expect_error(learning_curve(data$x, data$y, rls, groups = rep(1:4, 20)), "about 3 groups",
               class = "sparsels_error_input")
})

test_that("a power law is found again", {
  rows <- c(10, 20, 40, 80)
  exact <- function(a, b, c) a + b * rows^-c
  errors <- rbind(exact(0.2, 3, 0.5), exact(0, 2, 1), exact(0.1, 0, 1), exact(1, 40, 1.7),
                  exact(0.5, -0.2, 0.3))
  fitted <- fit_power_law(rows, errors)
  expect_equal(fitted[1:4, ], rbind(c(0.2, 3, 0.5), c(0, 2, 1), c(0.1, 0, 2), c(1, 40, 1.7)),
               ignore_attr = TRUE)
  expect_equal(power_law(fitted, rows)[1:4, ], errors[1:4, ])
  # an error that rises is that of no rows: its mean
  expect_equal(fitted[5, c("a", "b")], c(a = sum(errors[5, ] * rows^2) / sum(rows^2), b = 0))
  # below 0 it cannot be; the best curve through it is found by another route
  low <- exact(-0.3, 4, 0.6)
  by_optim <- stats::optim(c(0.1, 1, 0.5), function(p) {
    sum(rows^2 * (low - abs(p[1]) - p[2] * rows^-p[3])^2)
  }, control = list(maxit = 1e4, reltol = 1e-14))
  best <- fit_power_law(rows, t(low))
  expect_identical(best[, "a"], c(a = 0))
  expect_equal(sum(rows^2 * (low - power_law(best, rows))^2), by_optim$value, tolerance = 1e-3)
  expect_equal(fit_power_law(rows, t(low), -Inf)[1, ], c(a = -0.3, b = 4, c = 0.6))
})

test_that("the band is that of curves fitted to widened bootstrap means", {
  set.seed(4)
  losses <- matrix(c(5, 3, 2), 6, 3, byrow = TRUE) + rnorm(18) / 4
  set.seed(9)
  se <- apply(losses, 2, corrected_se, 0.25)
  curves <- fit_curves(c(10, 20, 40), losses, se, 0, draws = 50L)
  set.seed(9)
  drawn <- stats::rmultinom(50, 6, rep(1, 6))
  mean <- colMeans(losses)
  for (i in 1:50) {
    off <- colMeans(losses[rep(1:6, drawn[, i]), ]) - mean
    one <- fit_power_law(c(10, 20, 40), t(mean + off * sqrt((1 + 6 / 4) * 6 / 5)))
    expect_equal(curves$draws[i, ], one[1, ])
  }
  # so widened, a mean varies by its standard error
  big <- fit_curves(c(10, 20, 40), losses, se, -Inf, draws = 4000L)
  expect_equal(sd(big$draws[, "a"] + big$draws[, "b"] * 40^-big$draws[, "c"]),
               se[3], tolerance = 0.1)
})

test_that("measures, forecasts, and Ctrl-C", {
  set.seed(11)
  data <- made()
  class <- factor(data$y > 0)
  auc <- learning_curve(data$x, class, greedy_rls, k = 2, size = "criterion", measure = "auc",
                        sizes = c(12, 20, 30), repeats = 3, test = 0.25)
  expect_true(all(auc$forecast$error <= 1 & auc$forecast$upper <= 1))
  expect_equal(auc$table$relative, 2 * (1 - auc$table$error))
  expect_identical(predict(auc), auc$forecast)
  expect_identical(predict(auc, rows = 60), auc$forecast[2, ], ignore_attr = TRUE)
  own <- function(y, prediction, fold) cor(y, prediction)
  attr(own, "better") <- "higher"
  gain <- learning_curve(data$x, data$y, rls, lambda = 1, measure = own, sizes = c(12, 20, 30),
                         repeats = 2)
  expect_true(all(gain$fitted[["a"]] + gain$fitted[["b"]] < 0))
  one <- learning_curve(data$x, data$y, rls, lambda = 1, repeats = 1)
  expect_true(all(one$table$se > 0))
  expect_identical(c(one$table$lower, one$forecast$lower), rep(NA_real_, nrow(one$table) + 3))
  count <- 0
  stops <- function(problem, k = 2) {
    count <<- count + 1
    if (count == 8) raise_interrupt()
    omp(problem, k = k)
  }
  expect_warning(curve <- learning_curve(data$x, data$y, stops, sizes = 3:5 * 5, repeats = 9),
                 class = "sparsels_interrupted")
  expect_identical(dim(curve$errors), 2:3)
  expect_identical(curve$status, "interrupted")
})

test_that("what is printed, drawn and refused", {
  set.seed(10)
  data <- made()
  curve <- learning_curve(data$x, data$y, omp, k = 2, repeats = 4)
  drawn <- plot(curve, main = "a title")
  expect_identical(levels(drawn$part), c("measured", "fitted", "forecast"))
  expect_equal(drawn$error[drawn$part == "measured"], curve$table$error)
  expect_equal(max(drawn$rows), 80)
  expect_identical(generics::tidy(curve), curve$table)
  expect_identical(generics::glance(curve)$estimate, curve$table$error[6])
  class <- factor(data$y > 0, labels = c("no", "yes"))
  auc <- learning_curve(data$x, class, omp, k = 2, repeats = 3, measure = "auc", test = 0.3)
  one <- learning_curve(data$x, data$y, omp, k = 2, repeats = 1)
  expect_output(print(summary(curve)), "rows = trained on; se = standard error")
  expect_snapshot({
    print(curve)
    print(auc)
    print(one)
    refusal(learning_curve(data$x, data$y))
    refusal(learning_curve(data$x, data$y, omp, sizes = 40))
    refusal(learning_curve(data$x, data$y, omp, sizes = c(10, 20, 33)))
    refusal(learning_curve(data$x, data$y, omp, sizes = c(2, 5, 10), k = 4))
    refusal(learning_curve(data$x, data$y, omp, repeats = 0))
    refusal(learning_curve(data$x, data$y, omp, test = 1))
    refusal(learning_curve(data$x, data$y, omp, test = 0.8))
    refusal(learning_curve(data$x, data$y, omp, groups = rep(1, 40)))
    refusal(learning_curve(data$x, data$y, omp, groups = 1:3))
    refusal(learning_curve(data$x, data$y, omp, measure = c("squared", "absolute")))
    refusal(learning_curve(data$x, data$y, omp, measure = "auc"))
    refusal(predict(curve, rows = 3))
  })
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(curve)), "ggplot_built")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(one)), "ggplot_built")
})

test_that("a class of few rows is the reason where a curve is refused", {
  x <- matrix(rnorm(160), 40)
  y <- factor(c("z", rep(c("p", "q"), length.out = 39)))
  expect_error(learning_curve(x, y, rls), "is too small for a learning curve, which has 3 rows of",
               class = "sparsels_error_input")
  curve <- suppressWarnings(learning_curve(x, y, rls, sizes = c(10, 20, 32), repeats = 2))
  expect_identical(curve$table$rows, c(10L, 20L, 32L))
})

test_that("training sets that are too small for a method do not bend its curve", {
  expect_identical(fitted_sizes(c(150, 3, 1.5, 0.9, 0.6, 0.5), "squared"), 3:6)
  expect_identical(fitted_sizes(c(9, 8, 7, 6), "squared"), 2:4)
  expect_identical(fitted_sizes(c(9, 1, NaN, 2), "squared"), 2:4)
  expect_identical(fitted_sizes(c(9, 8, 7, 6), "user"), 1:4)
  set.seed(1)
  page <- suppressWarnings(judge(mpg ~ ., mtcars, method = poss, permutations = 0, pairs = 0,
                                 claims = 0))
  # least squares with 10 columns by 10 rows is of no use at all
  expect_gt(page$learning_curve$table$relative[1], 10)
  honest <- page$cross_validation$estimate[["mean"]]
  expect_lt(abs(page$learning_curve$forecast$error[1] / honest - 1), 0.5)
  expect_output(print(page$learning_curve), "from 1[58] rows on")
})
