# The default choices of size and lambda on data unlike gene expression.

chosen_sizes <- function(draws, make, ...) {
  vapply(problems_to_try(draws), function(draw) {
    set.seed(draw)
    data <- make()
    suppressWarnings(greedy_rls(data$x, data$y, ...))$size
  }, 0L)
}

noise <- function(y, m = 40, n = 200, draw = rnorm) {
  function() list(x = matrix(draw(m * n), m), y = y(m))
}

two_classes <- function(m) factor(rep(1:2, length.out = m))

test_that("a column that explains a skewed response is chosen", {
  lognormal <- function() {
    x <- matrix(rlnorm(500), 100)
    list(x = x, y = x[, 1] * exp(rnorm(100, sd = 0.3)))
  }
  expect_true(all(chosen_sizes(30, lognormal) > 0))
  # mostly zeros, R-squared .79
  x <- cbind(v = c(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 15, 0, 0, 46, 0, 0, 61, 0, 0, 62))
  y <- c(8, 0, 1, 20, 0, 1, 24, 1, 1, 23, 6, 0, 11, 32, 0, 2, 56, 1, 1, 62)
  expect_identical(greedy_rls(x / 1000, y / 1000)$size, 1L)
  # one outlying row
  set.seed(1)
  x <- matrix(rnorm(600), 60)
  y <- replace(x[, 1] + 0.3 * rnorm(60), 1, 12)
  expect_identical(selected(greedy_rls(x, y), index = TRUE)[1], 1L)
})

test_that("nothing is chosen from most draws of noise, also by leave-one-out", {
  expect_gte(mean(chosen_sizes(30, noise(rnorm)) == 0), 0.8)
  expect_gte(mean(chosen_sizes(30, noise(two_classes)) == 0), 0.8)
  expect_gte(mean(chosen_sizes(30, noise(rlnorm, draw = rlnorm)) == 0), 0.9)
  expect_gte(mean(chosen_sizes(30, noise(two_classes, 30, 60), size_folds = "loo") == 0), 0.8)
})

test_that("a smaller lambda is tried while the error is shrinkage and has not clearly risen", {
  problem <- as_problem(matrix(rnorm(20), 10), rnorm(10))
  control <- list(lambda = c(16, 1), most_lambdas = 5L,
                  criterion = list(name = "squared", higher = FALSE))
  # cross-validated errors at two lambdas, and the error of the search by the error of the refit
  is_tried <- function(cv, shrinkage) {
    chosen <- list(table = list(size = c(1, 1), cv = cv), path = list(cv = list(value = c(1, 0.5))))
    is_mostly_shrinkage(problem, control, chosen, list(list(shrinkage = matrix(shrinkage, 2, 2))))
  }
  expect_true(is_tried(c(0.5, 0.5), 5))
  expect_true(is_tried(c(0.5, 0.52), 5))
  expect_false(is_tried(c(0.5, 0.53), 5))
  expect_false(is_tried(c(0.5, 0.5), 3))
  expect_true(is_tried(c(0.5, 0.24), 3))
})

test_that("Ctrl-C in the ten folds of a test keeps the choice of the folds given", {
  set.seed(9)
  x <- matrix(rnorm(24 * 6), 24)
  y <- x[, 1] + rnorm(24) / 4
  whole <- greedy_rls(x, y, size_folds = "loo", size = "min")
  with_binding("choice_in_ten", function(...) NULL, {
    expect_warning(fit <- greedy_rls(x, y, size_folds = "loo"), class = "sparsels_interrupted")
  })
  expect_gt(fit$size, 0)
  expect_equal(fit$path$cv, whole$path$cv)
})

test_that("balanced class weights do not empty a model", {
  set.seed(2)
  x <- matrix(rnorm(80 * 100), 80)
  score <- 1.5 * x[, 1] + x[, 2] + 0.7 * rnorm(80)
  y <- factor(score > quantile(score, 0.8))
  expect_gt(greedy_rls(x, y, class_weights = "balanced")$size, 0)
})

test_that("the gain over the model without columns is a t test that allows for skewness", {
  set.seed(3)
  losses <- cbind(rexp(30), rexp(30) / 2, rexp(30))
  weight <- c(0, rep(1:2, length.out = 29))
  unit <- rep(1:10, each = 3)
  gain <- weight * (losses[, 1] - losses[, 2])
  moments <- gain_moments(losses, weight)
  expect_equal(moments[, 2], c(sum(gain), sum(gain^2), sum(gain^3), 29))
  by_unit <- tapply(gain, unit, sum)
  expect_equal(gain_moments(losses, weight, unit)[, 2],
               c(sum(by_unit), sum(by_unit^2), sum(by_unit^3), 10))
  # two folds and one partition, by the formula of Hall
  gains <- lapply(list(1:12, 13:30), function(rows) gain_moments(losses[rows, ], weight[rows]))
  errors <- fold_errors(rep(list(array(1, c(2, 3, 1))), 2), c(1, 1), gains = gains)
  gain <- gain[weight > 0]
  t <- t.test(gain)$statistic
  skewness <- mean((gain - mean(gain))^3) / mean((gain - mean(gain))^2)^1.5
  by <- skewness / sqrt(29)
  p <- pt(t + by * t^2 / 3 + by^2 * t^3 / 27 + by / 6, 28, lower.tail = FALSE)
  with_binding("gain_level", p * 1.001, expect_true(is_clear_gain(errors, 2, c(1, 1))))
  with_binding("gain_level", p * 0.999, expect_false(is_clear_gain(errors, 2, c(1, 1))))
})

test_that("times are judged by the best model and by the mean of all models", {
  # 3 sizes and 2 lambdas in two folds: 40 and 30 pairs, of variances 16 and 9
  sums <- list(array(rbind(c(20, 28, 24, 20, 22, 22), 40), c(2, 3, 2)),
               array(rbind(c(15, 17, 13, 15, 18, 19), 30), c(2, 3, 2)))
  errors <- fold_errors(sums, c(1, 1), higher = TRUE, variance = c(16, 9))
  is_clear <- function(best, mean) {
    with_binding("order_levels", c(best, mean), is_clear_gain(errors, 2, rep(1, 6)))
  }
  best <- pnorm((45 - 35) / 5, lower.tail = FALSE)
  mean <- pnorm(mean(c(45, 37, 40, 41) - 35) / 5, lower.tail = FALSE)
  expect_true(is_clear(best * 1.001, 0))
  expect_true(is_clear(0, mean * 1.001))
  expect_false(is_clear(best * 0.999, mean * 0.999))
})

test_that("the gains within a few large groups count, by an analysis of variance", {
  set.seed(6)
  study <- rep(1:4, c(20, 25, 30, 25))
  y <- rnorm(100) + 2 * study
  scores <- array(cbind(rep(0, 100), 0.4 * y + rnorm(100) / 2), c(100, 1, 2))
  problem <- as_problem(matrix(rnorm(200), 100), y, groups = study)
  folds <- make_folds(problem, "loo")
  expect_true(are_few_and_large(problem, folds, "squared"))
  expect_false(are_few_and_large(problem, make_folds(problem, 2), "squared"))
  expect_false(are_few_and_large(as_problem(matrix(rnorm(200), 100), y, groups = rep(1:20, 5)),
                                 make_folds(100, "loo", groups = rep(1:20, 5)), "squared"))
  with_binding("huber_limit", function(problem) c(limit = Inf, unit = 1), {
    scorer <- gain_scorer(problem, folds, "squared")
  })
  gains <- lapply(1:4, function(own) {
    rows <- which(study == own)
    scorer$gains(y[rows] - scores[rows, , , drop = FALSE], scored_rows(problem, rows), rows)
  })
  about <- function(model) {
    r <- y - scores[, 1, model]
    r - ave(r, study)
  }
  gain <- about(1)^2 - about(2)^2
  means <- anova(lm(gain ~ factor(study)))[["Mean Sq"]]
  count <- as.vector(table(study))
  size <- (100 - sum(count^2) / 100) / 3
  rho <- (means[1] - means[2]) / (means[1] + (size - 1) * means[2])
  inflation <- 1 + 24 * max(0, rho)
  skewness <- mean((gain - mean(gain))^3) / mean((gain - mean(gain))^2)^1.5
  t <- t.test(gain)$statistic / sqrt(inflation)
  by <- skewness / sqrt(100)
  p <- pt(t + by * t^2 / 3 + by^2 * t^3 / 27 + by / 6, 99, lower.tail = FALSE)
  errors <- list(gains = gains, weight = rep(1, 4))
  with_binding("gain_level", p * 1.001, expect_true(is_clear_within(errors, 2)))
  with_binding("gain_level", p * 0.999, expect_false(is_clear_within(errors, 2)))
  # two of four groups with a loss are too many
  gains[1:2] <- lapply(gains[1:2], function(one) replace(one, 5 + 8 * 1, -0.001))
  errors$gains <- gains
  with_binding("gain_level", 0.999, expect_false(is_clear_within(errors, 2)))
})

test_that("lambda goes on downward where a column hides others", {
  set.seed(4)
  x <- matrix(rnorm(100 * 20), 100)
  for (large in c(100, 1e4)) {
    y <- large * x[, 1] + x[, 2] + x[, 3] + 0.1 * rnorm(100)
    fit <- greedy_rls(x, y)
    expect_true(all(1:3 %in% selected(fit, index = TRUE)))
    expect_lt(fit$estimate[["mean"]], 0.05)
    expect_gt(nrow(fit$lambda_table), 2L)
    expect_true(verify(fit, x, y, claims = 10)$ok)
  }
  weak <- greedy_rls(x, x[, 1] + rnorm(100))
  expect_identical(nrow(weak$lambda_table), 2L)
})

test_that("the default lambdas do not depend on factors of the penalty", {
  set.seed(8)
  x <- matrix(rnorm(60 * 6), 60)
  y <- x[, 1] + rnorm(60)
  dear <- greedy_rls(x, y, penalty = c(1, 1, 1, 50, 50, 50))
  expect_equal(dear$lambda_table$lambda, 60 * c(16, 1 / 4))
  expect_true(verify(dear, x, y, penalty = c(1, 1, 1, 50, 50, 50), claims = 40)$ok)
})

test_that("the larger lambda is not chosen for a longer list", {
  # the second lambda has the best model, of 2 columns, the first a near one of 5
  sums <- function(mean) lapply(mean, function(value) cbind(value + c(-0.3, 0.3, -0.1, 0.1), 1))
  tables <- list(sums(c(10, 8, 7, 6, 5, 4.01)), sums(c(10, 6, 4, 5, 5, 5)))
  folds <- lapply(1:4, function(fold) {
    array(unlist(lapply(tables, lapply, function(of) of[fold, ])), c(2, 6, 2))
  })
  errors <- fold_errors(folds, rep(1, 4), clear = TRUE)
  expect_identical(choose_model(errors, "cv"), list(size = 2L, lambda = 2L))
  # a near one of 2 columns at the first lambda
  tables[[1]] <- sums(c(10, 8, 4.01, 6, 6, 6))
  noisy <- lapply(1:4, function(fold) {
    array(unlist(lapply(tables, lapply, function(of) of[fold, ])), c(2, 6, 2))
  })
  noisy[[1]][1, 3, 1] <- noisy[[1]][1, 3, 1] + 0.3
  noisy[[2]][1, 3, 1] <- noisy[[2]][1, 3, 1] - 0.3
  expect_identical(choose_model(fold_errors(noisy, rep(1, 4), clear = TRUE), "cv"),
                   list(size = 2L, lambda = 1L))
  # another lambda has a near one of 1 column with a smaller error
  noisy <- lapply(noisy, function(of) array(c(of, of[, , 2]), c(2, 6, 3)))
  off <- c(0.3, -0.3, 0, 0)
  for (fold in 1:4) noisy[[fold]][1, 2, 2] <- noisy[[fold]][1, 3, 2] + 0.005 + off[fold]
  for (fold in 1:4) noisy[[fold]][1, 3, 2] <- 5
  expect_identical(choose_model(fold_errors(noisy, rep(1, 4), clear = TRUE), "cv"),
                   list(size = 1L, lambda = 2L))
})

test_that("copies of a column are left out and named", {
  set.seed(5)
  z <- matrix(rnorm(60 * 20), 60, dimnames = list(NULL, paste0("x", 1:20)))
  y <- 2 * z[, 1] + z[, 2] + rnorm(60)
  x <- cbind(z, twice = 2 * z[, 1], minus = 1 - z[, 2], rounded = as.double(signif(z[, 1], 9)),
             near = z[, 1] + 0.5 * rnorm(60))
  for (data in list(x, Matrix::Matrix(x, sparse = TRUE))) {
    fit <- greedy_rls(data, y)
    expect_true(all(c("x1", "x2") %in% selected(fit)))
    expect_false(any(c("twice", "minus", "rounded") %in% selected(fit, 10)))
    expect_identical(fit$copies$feature, c(21L, 22L, 23L))
    expect_identical(fit$copies$of, c(1L, 2L, 1L))
    expect_output(print(fit), paste("3 columns equal or nearly equal to a chosen one and left",
                                    "out: twice \\(x1\\)"))
    expect_true(verify(fit, data, y, claims = 20)$ok)
  }
  # a size that needs a copy is none
  twice <- cbind(z[, 1:3], twice = 2 * z[, 1])
  expect_warning(fit <- greedy_rls(twice, y, size = 4), "4, but 3 columns of the search determine",
                 class = "sparsels_warning_edge")
  expect_length(fit$coefficients, 4L)
  # a given column stays, the cheaper of two is chosen, and a search without a refit has all
  expect_true("twice" %in% selected(greedy_rls(x, y, start = "twice")))
  dear <- greedy_rls(x, y, cost = replace(rep(1, 24), 1, 5))
  expect_true("twice" %in% selected(dear) && !"x1" %in% selected(dear))
  expect_null(greedy_rls(x, y, lambda = 100)$copies)
  # copies but for the covariate
  age <- rnorm(60)
  fit <- greedy_rls(cbind(z, x1_age = z[, 1] + age), y, adjust = cbind(age = age))
  expect_identical(fit$copies$feature, 21L)
})

test_that("columns that chosen ones determine are left out, named and verified", {
  set.seed(29)
  m <- 72
  level <- sample(c("a", "b", "c"), m, TRUE)
  x <- cbind(outer(level, c(a = "a", b = "b", c = "c"), `==`) + 0, matrix(rnorm(m * 6), m))
  colnames(x)[4:9] <- paste0("v", 1:6)
  total <- x[, "v1"] - 2 * x[, "v2"] + 3 * x[, "v3"] + 5
  near <- total + 1e-3 * rnorm(m)
  x <- cbind(x, total = total, near = near)
  y <- 2 * x[, "a"] - x[, "b"] + total + x[, "v1"] + x[, "v2"] / 2 + rnorm(m)
  weight <- replace(rep(1, m), 1:5, 0)
  # rows without a weight tell nothing
  strange <- x
  strange[1:5, c("c", "total")] <- rnorm(10)
  for (values in list(x, Matrix::Matrix(x, sparse = TRUE), strange)) {
    pb <- as_problem(values, y, weights = weight)
    expect_warning(large <- greedy_rls(pb, lambda = 20, size = 9, refit = TRUE),
                   "8 columns of the search determine all others", class = "sparsels_warning_edge")
    for (fit in list(greedy_rls(pb), large)) {
      trained <- cbind(1, as.matrix(values)[weight > 0, ])
      columns <- lapply(fit$coefficients, `[[`, "features")
      ranks <- vapply(columns, function(own) qr(trained[, c(1, own + 1)], tol = 1e-6)$rank, 0L)
      expect_identical(ranks, lengths(columns) + 1L)
      # each is determined by the columns of its size and not by fewer
      expect_gte(nrow(fit$dependent), 1)
      for (row in seq_len(nrow(fit$dependent))) {
        left_out <- trained[, fit$dependent$feature[row] + 1]
        remains <- function(size) {
          own <- trained[, c(1, columns[[size + 1]] + 1), drop = FALSE]
          sqrt(mean(qr.resid(qr(own), left_out)^2))
        }
        expect_lt(remains(fit$dependent$size[row]), 1e-12)
        expect_gt(remains(fit$dependent$size[row] - 1L), 1e-4)
      }
      expect_true(verify(fit, pb, claims = 100)$ok)
      out <- capture.output(print(fit))
      named <- fit$dependent$feature[fit$dependent$size <= fit$size]
      expect_identical(any(grepl("determined by the chosen ones", out)), length(named) > 0)
    }
  }
  # the other columns of a table of low rank are all determined
  low <- matrix(rnorm(40 * 3), 40) %*% matrix(rnorm(3 * 50), 3)
  fit <- greedy_rls(low, low[, 1] + rnorm(40), k = 10)
  expect_identical(max(fit$path$size), 3L)
  expect_setequal(c(fit$path$feature[-1], fit$dependent$feature), 1:50)
  expect_warning(greedy_rls(low, low[, 1] + rnorm(40), size = 10),
                 "`size` is 10, but 3 columns of the search determine all others", fixed = TRUE)
  # of more columns than rows all but the last are independent
  wide <- matrix(rnorm(20 * 60), 20)
  fit <- greedy_rls(wide, rnorm(20), size = 18)
  expect_identical(nrow(fit$dependent), 0L)
  expect_null(greedy_rls(x, y, lambda = 100)$dependent)
  # an interrupted search is not begun again, and one without a column has none that depend on it
  searches <- 0
  stopped <- list(status = "interrupted", path = list(feature = c(NA, 1:5)))
  path <- independent_path(function(...) {
    searches <<- searches + 1
    stopped
  })
  expect_identical(path(as_problem(low[, 1:5], rnorm(40)), list(), 1), stopped)
  expect_identical(searches, 1)
  none <- dependent_columns(as_problem(x, y, intercept = FALSE), integer(), 0L)
  expect_identical(nrow(none), 0L)
})

test_that("searches that drop columns leave out those that their other columns determine", {
  set.seed(12)
  m <- 40
  x <- matrix(rnorm(m * 6), m, dimnames = list(NULL, letters[1:6]))
  x <- cbind(x, total = x[, "a"] + x[, "b"] + x[, "c"], copy = 3 - x[, "d"])
  y <- x[, "a"] + 0.8 * x[, "b"] + 0.6 * x[, "c"] + x[, "d"] + rnorm(m) / 2
  full_rank <- function(fit, x) {
    all(vapply(fit$coefficients, function(model) {
      qr(cbind(1, x[, model$features]))$rank == 1L + length(model$features)
    }, NA))
  }
  panel <- c("copy", "d", "a", "total", "b", "c")
  low <- matrix(rnorm(m * 3), m) %*% matrix(rnorm(3 * 20), 3)
  for (search in c("backward", "floating", "forward_backward")) {
    fit <- greedy_rls(x, y, search = search)
    expect_true(full_rank(fit, x))
    # all of the span is left
    expect_identical(max(fit$path$size), 6L)
    expect_output(print(fit), "determined by others and left out: ", fixed = TRUE)
    expect_true(all(verify(fit, x, y, claims = Inf)$claims$ok))
    few <- greedy_rls(low, low[, 1] + rnorm(m), search = search)
    expect_identical(max(few$path$size), 3L)
    expect_identical(nrow(few$dependent), 17L)
  }
  # a backward search prunes a given panel as well, which other searches add as it is
  fit <- greedy_rls(x, y, search = "backward", start = panel, k = 6)
  expect_identical(fit$path$size[1], 4L)
  expect_true(full_rank(fit, x))
  expect_true(all(verify(fit, x, y, claims = Inf)$claims$ok))
  fit <- greedy_rls(x, y, search = "floating", start = panel, k = 6, size = 6)
  expect_identical(nrow(fit$dependent), 0L)
  # without a refit a copy changes the shrinkage, and nothing is left out
  fit <- greedy_rls(x, y, search = "backward", lambda = 100)
  expect_identical(fit$path$size[1], 8L)
  expect_null(fit$dependent)
  # interactions keep the main effects that they require
  data <- data.frame(x[, c("a", "b", "total")], y)
  fit <- greedy_rls(y ~ (a + b + total)^2, data, hierarchy = "strong", search = "backward")
  expect_null(fit$dependent)
})

test_that("the set that determines a column is the set of its step", {
  control <- list(search = "floating", k = 4L)
  path <- list(feature = c(NA, 3L, 5L, 3L, 7L, 9L, 5L, 3L), size = c(0:2, 1:3, 2:3))
  expect_identical(added_sequences(path, control), list(c(3L, 5L), c(5L, 7L, 9L), c(7L, 9L, 3L)))
  path <- list(feature = c(NA, 4L, 2L, 3L, 1L), size = 4:0)
  control <- list(search = "backward", k = 2L)
  expect_identical(added_sequences(path, control), list(c(1L, 3L)))
})

test_that("columns that nearly are copies are left out unless their difference predicts", {
  # each of the near copies was chosen before x2, as it undoes the shrinkage of the others
  set.seed(3)
  x <- matrix(rnorm(60 * 20), 60)
  colnames(x) <- paste0("x", 1:20)
  near <- sapply(1:4, function(i) (-1)^i * 7 * (x[, 1] + 1e-3 * rnorm(60)) + 2)
  y <- 2 * x[, 1] + x[, 2] + rnorm(60) / 2
  fit <- greedy_rls(cbind(x, near), y)
  expect_setequal(fit$copies$feature, 21:24)
  expect_identical(unique(fit$copies$of), 1L)
  expect_identical(selected(fit), selected(greedy_rls(x, y)))
  expect_identical(selected(greedy_rls(Matrix::Matrix(cbind(x, near), sparse = TRUE), y)),
                   selected(fit))
  # weights, a covariate and the rule, by lm()
  w <- rep(1:3, 20)
  age <- rnorm(60)
  given <- as_problem(cbind(x, near), y, weights = w, adjust = age)
  t_value <- function(y, add) {
    summary(lm(y ~ x[, 1] + add + age, weights = w))$coefficients[3, 3]
  }
  for (share in c(2.9, 3.1)) {
    # a response for which the difference has this t value
    difference <- resid(lm(near[, 1] ~ x[, 1] + age, weights = w))
    by <- uniroot(function(b) abs(t_value(y + b * difference, near[, 1])) - share, c(0, 1e4),
                  extendInt = "upX")$root
    given <- as_problem(cbind(x, near[, 1]), y + by * difference, weights = w, adjust = age)
    expect_identical(column_copies(given, list(start = integer()))$feature,
                     if (share < 3) 21L else integer())
  }
  # a year and its square are two columns
  year <- rep(2001:2020, 3)
  y <- (year - 2010)^2 / 9 + rnorm(60)
  fit <- greedy_rls(cbind(x, year, year^2), y)
  expect_identical(nrow(fit$copies), 0L)
  expect_lt(fit$path$cv[fit$size + 1L], 2)
  # rows are compared across the ends of intervals
  values <- cbind(c(0.95, 3, 1.1, 0.9, 3.05), c(0, 0.5, 0.3, 2, 0.4))
  expect_identical(first_of_copies(values, 0.5), c(1L, 2L, 1L, 4L, 2L))
  expect_identical(first_of_copies(values, 0.2), c(1L, 2L, 3L, 4L, 2L))
  expect_identical(first_of_copies(values, 0.01), 1:5)
})

test_that("groups of many rows are copies by all of them", {
  set.seed(6)
  f <- rep_len(letters[1:4], 2600)
  d <- data.frame(f, same = factor(f, labels = LETTERS[1:4]), other = f, a = rnorm(2600))
  # another label in one row, which a thousand of the rows leave out
  few <- ceiling(seq_len(1000) / 1000 * 2600)
  row <- setdiff(seq_len(2600), few)[5L]
  d$other[row] <- setdiff(letters[1:4], f[row])[1L]
  d$y <- (d$f == "a") + d$a + rnorm(2600)
  fit <- greedy_rls(y ~ ., data = d, k = 3, folds = 3, size_folds = 3)
  expect_identical(unique(group_names(fit$problem, fit$copies$feature)), "same")
  # near copies are told by all rows, too, as a thousand rows differ by more
  x <- matrix(rnorm(3000 * 4), 3000)
  x[, 2] <- x[, 1] + 1e-6 * x[, 2]
  problem <- as_problem(x, x[, 1] + rnorm(3000), smooth = TRUE)
  fit <- greedy_rls(problem, k = 3, folds = 3, size_folds = 3)
  expect_identical(unique(source_places(problem)[fit$copies$feature]), 7L)
})

test_that("a factor among the columns hides no copies of the others", {
  set.seed(22)
  d <- data.frame(a = rnorm(60), s = rep(c("u", "v", "w"), 20), b = rnorm(60))
  d$t <- factor(d$s, labels = c("x", "y", "z"))
  d$copy <- 1 - 2 * d$a
  d$y <- d$a + d$b + (d$s == "v") + rnorm(60) / 5
  fit <- greedy_rls(y ~ ., data = d)
  expect_identical(fit$problem$columns$name[fit$copies$feature], c("copy", "ty", "tz"))
  expect_identical(fit$problem$columns$name[fit$copies$of], c("a", "sv", "sw"))
  expect_false(any(c("copy", "t") %in% fit$path$name))
  expect_output(print(fit), "equal to a chosen one and left out: copy (a), t (s)",
                fixed = TRUE)
  expect_true(verify(fit, d)$ok)
  # with other columns for the levels, and once a covariate is taken out
  d$t <- factor(d$s, c("w", "u", "v"))
  d$r <- factor(ifelse(d$s == "u", rep(c("u", "v"), 30), d$s))
  fit <- greedy_rls(y ~ ., data = d)
  expect_identical(unique(group_names(fit$problem, fit$copies$feature[-1])), "t")
  given <- greedy_rls(y ~ ., data = d, start = "tu")
  expect_identical(unique(group_names(given$problem, given$copies$feature[-1])), "s")
  d$v <- d$s == "v"
  expect_setequal(greedy_rls(y ~ s + r + b, d, adjust = ~ v)$copies$feature, integer())
})

test_that("an l1 path with folds goes on as long as its error falls", {
  set.seed(6)
  x <- matrix(rnorm(100 * 8), 100)
  y <- 100 * x[, 1] + x[, 2] + x[, 3] + 0.1 * rnorm(100)
  fit <- l1_path(x, y, folds = 5)
  expect_true(all(c("V2", "V3") %in% selected(fit)))
  expect_lt(min(fit$path$criterion), 0.02)
  expect_identical(fit$unsolved, 0L)
  ended <- l1_path(x, y)
  expect_gt(ended$unsolved, 0)
  expect_output(print(ended), "as 99.9 % is explained")
  wide <- matrix(rnorm(30 * 60), 30)
  exact <- wide[, 1] * 10 + wide[, 2] / 10
  ids <- rep(1:5, 6)
  further <- l1_path(wide, exact, folds = ids, nlambda = 20)
  expect_lt(min(further$path$lambda), 0.01 * further$lambda_max)
  expect_lt(min(further$path$criterion), 1e-4)
  whole <- l1_path(wide, exact, folds = ids, lambda = further$path$lambda)
  expect_equal(further$path$criterion, whole$path$criterion, tolerance = 1e-4)
  kept <- l1_path(wide, exact, folds = ids, nlambda = 20, lambda_min_ratio = 0.1)
  expect_equal(min(kept$path$lambda), 0.1 * kept$lambda_max)
  # collinear columns explain nothing until lambda is very small
  year <- 1991:2020
  t <- (year - 2005.5) / 10
  trend <- data.frame(y = 1 + 2 * t - 3 * t^2 + 0.3 * rnorm(30), year, square = year^2)
  expect_lt(min(l1_path(y ~ ., trend, folds = 10)$path$criterion), 0.2)
})

test_that("an l1 path that is judged chooses its lambda", {
  set.seed(7)
  x <- matrix(rnorm(40 * 60), 40)
  y <- x[, 1] + rnorm(40)
  result <- cross_validate(x, y, l1_path, nlambda = 20, outer = 4)
  expect_match(result$inner, "10-fold")
  expect_equal(result$fit$call$folds, 10)
})

test_that("the rank test is Spearman's and Wilcoxon's, with rows of a group as one unit", {
  set.seed(1)
  x <- rnorm(30)
  y <- x / 2 + rnorm(30)
  expect_equal(rank_test(x, y), cor.test(x, y, method = "spearman", exact = FALSE)$p.value)
  class <- rep(0:1, 15)
  expect_equal(rank_test(x + class, class), wilcox.test(x + class ~ class)$p.value)
  expect_equal(rank_test(1:5, 1:5), 2 / 120)
  expect_equal(rank_test(1:8, rep(0:1, each = 4)), 2 / choose(8, 4))
  expect_identical(rank_test(rep(1, 30), y), 1)
  expect_equal(unit_means(c(1, 5, 3, 7), c(9, 2, 9, 2)), c("9" = 2, "2" = 6))
  columns <- cbind(x, noise = rnorm(30))
  related <- function(..., folds = 5) {
    pb <- as_problem(...)
    is_related(pb, folds_of(pb, folds))
  }
  strong <- 5 * x + y
  expect_true(related(columns, strong))
  expect_true(related(exp(9 * columns), exp(9 * strong)))
  expect_false(related(columns[, "noise", drop = FALSE], strong))
  expect_false(related(columns, strong, adjust = rnorm(30)))
  expect_false(related(columns, strong, intercept = FALSE))
  twice <- rep(1:4, c(8, 8, 7, 7))
  copies <- columns[twice, ] + rnorm(60) / 99
  expect_true(related(copies, strong[twice]))
  expect_false(related(copies, strong[twice], groups = twice))
})

test_that("the rank test reads a column of any storage", {
  set.seed(1)
  x <- matrix(rnorm(800), 40)
  y <- 3 * x[, 3] + rnorm(40)
  for (given in list(x, float_matrix(x), write_file_matrix(x, tempfile()),
                     Matrix::Matrix(x * (abs(x) > 0.5), sparse = TRUE), replace(x, 5, NA))) {
    pb <- as_problem(given, y, missing = "mean")
    expect_true(is_related(pb, folds_of(pb, 5)))
  }
})

test_that("noise is related to a response as rarely as the level says", {
  set.seed(1)
  share <- function(draw) {
    mean(replicate(max(problems_to_try(750)), {
      pb <- suppressMessages(draw())
      is_related(pb, folds_of(pb, 10))
    }))
  }
  skewed <- function() as_problem(matrix(rlnorm(40 * 100, sdlog = 2), 40), rlnorm(40, sdlog = 2))
  classes <- function() as_problem(matrix(rnorm(40 * 100), 40), factor(rep_len(1:2, 40)))
  expect_lt(share(skewed), 2 * related_level)
  expect_lt(share(classes), 2 * related_level)
})

test_that("few rows with a certain relation are not left without a column", {
  set.seed(103)
  x <- matrix(rnorm(160), 8)[1:7, ]
  y <- 3 * x[, 2] + rnorm(7) / 5
  fit <- suppressWarnings(greedy_rls(x, y))
  expect_identical(selected(fit, index = TRUE), 2L)
  errors <- fold_errors(list(array(1, c(2, 2, 1))), 1)
  errors$gains <- list(rbind(c(0, 1), c(0, 9), c(0, 27), 7))
  expect_false(is_clear_gain(errors, 2, c(1, 0.06)))
  expect_true(is_clear_gain(errors, 2, c(1, 0.04)))
  # nothing below 0, as of a criterion of the user, and no order
  expect_false(is_clear_gain(errors, 2, c(-1, -2)))
  expect_false(is_clear_gain(replace(errors, "higher", TRUE), 2, c(1, 0.04)))
  fit <- greedy_rls(survival::Surv(time, cens) ~ treat, MASS::gehan)
  expect_identical(fit$size, 1L)
  fit <- suppressMessages(greedy_rls(y ~ ., MASS::UScrime))
  expect_gt(fit$size, 0L)
  expect_gt(greedy_rls(sr ~ ., LifeCycleSavings)$size, 0L)
  expect_true(suppressMessages(verify(fit, y ~ ., data = MASS::UScrime, claims = 40))$ok)
  set.seed(1)
  x <- matrix(rnorm(60 * 50), 60)
  y <- exp(x[, 1] + rnorm(60, sd = 0.5))
  expect_true(1 %in% selected(greedy_rls(x, y), index = TRUE))
  expect_gt(length(selected(l1_path(x, y, folds = 5, size = "cv"))), 0L)
})
