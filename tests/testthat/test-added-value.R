# The value that columns add to a base model, against refitting in plain R.

nested_data <- function(m = 24, n = 6) {
  z <- cbind(age = rnorm(m), size = rnorm(m))
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n)))) + z[, 1] / 2
  list(z = z, x = x, y = drop(z %*% c(1, 1)) + x[, 1] + rnorm(m))
}

# Predictions of `rows` by ridge regression on the other rows, z unpenalised, x with the scale of
# the rows `by`.
oracle_scores <- function(x, z, y, lambda, rows, w = rep(1, length(y)),
                          by = seq_along(y)[-rows]) {
  root_w <- sqrt(w[-rows])
  z <- cbind(1, z)
  if (is.null(x)) return(drop(z[rows, , drop = FALSE] %*%
                                qr.coef(qr(root_w * z[-rows, ]), root_w * y[-rows])))
  centre <- colSums(w[by] * x[by, ]) / sum(w[by])
  scale <- sqrt(colSums(w[by] * (x[by, ] - rep(centre, each = length(by)))^2) / sum(w[by]))
  below <- cbind(matrix(0, ncol(x), ncol(z)), diag(sqrt(lambda) * scale))
  both <- cbind(z, x)
  model <- qr.coef(qr(rbind(root_w * both[-rows, ], below)), c(root_w * y[-rows], 0 * scale))
  drop(both[rows, , drop = FALSE] %*% model)
}

test_that("errors, their difference and its interval are those of refitting without each fold", {
  set.seed(1)
  data <- nested_data()
  w <- runif(24, 0.5, 2)
  folds <- make_folds(24, 4, repeats = 2)
  ids <- folds$ids
  found <- added_value(data$x, data$y, adjust = data$z, weights = w, lambda = 3, folds = folds,
                       permutations = 0, level = 0.9)
  losses <- lapply(list(base = NULL, full = data$x), function(x) {
    rowMeans(vapply(1:2, function(repetition) {
      loss <- numeric(24)
      for (fold in 1:4) {
        rows <- which(ids[, repetition] == fold)
        loss[rows] <- (data$y[rows] - oracle_scores(x, data$z, data$y, 3, rows, w))^2
      }
      loss
    }, numeric(24)))
  })
  expect_equal(found$losses, data.frame(losses), tolerance = 1e-9)
  gain <- losses$base - losses$full
  mean <- sum(w * gain) / sum(w)
  expect_equal(found$table$difference, mean, tolerance = 1e-9)
  # leave-one-out gains without each fold, and the rows of each partition
  se <- vapply(1:2, function(repetition) {
    id <- ids[, repetition]
    inner <- vapply(1:4, function(fold) {
      kept <- which(id != fold)
      gains <- vapply(seq_along(kept), function(i) {
        of <- function(x) {
          oracle_scores(x, data$z[kept, ], data$y[kept], 3, i, w[kept], seq_along(kept))
        }
        (data$y[kept[i]] - of(NULL))^2 - (data$y[kept[i]] - of(data$x[kept, ]))^2
      }, 0)
      sum(w[kept] * gains) / sum(w[kept])
    }, 0)
    own <- lapply(list(NULL, data$x), function(x) {
      loss <- numeric(24)
      for (fold in 1:4) {
        rows <- which(id == fold)
        loss[rows] <- (data$y[rows] - oracle_scores(x, data$z, data$y, 3, rows, w))^2
      }
      loss
    })
    gain <- own[[1]] - own[[2]]
    row <- sqrt(24 / 23 * sum(w^2 * (gain - sum(w * gain) / sum(w))^2)) / sum(w)
    c(row, sqrt(3 / 4 * sum((inner - mean(inner))^2)) / sqrt(2))
  }, numeric(2))
  se <- sqrt(sum(rowMeans(se^2)))
  half <- qt(0.95, sum(w)^2 / sum(w^2) - 1) * se
  expect_equal(unlist(found$table[c("se", "lower", "upper")]),
               c(se = se, lower = mean - half, upper = mean + half), tolerance = 1e-6)
  expect_null(found$p.value)
  # one base, given in three ways
  both <- data.frame(y = data$y, data$z, data$x)
  named <- added_value(y ~ ., both, base = c("age", "size"), weights = w, lambda = 3, folds = folds,
                       permutations = 0)
  free <- added_value(y ~ ., both, penalty = c(age = 0, size = 0), weights = w, lambda = 3,
                      folds = folds, permutations = 0)
  expect_equal(named$losses, found$losses)
  expect_equal(free$losses, found$losses)
  expect_identical(named$added, 6L)
})

test_that("pairs of folds measure the interval of a method whose fits hold nothing out", {
  set.seed(3)
  data <- nested_data(20)
  id <- rep(1:4, 5)
  plain <- function(problem) greedy_rls(problem, k = 2, lambda = 1, size = "criterion")
  added <- function(...) {
    added_value(data$x, data$y, plain, adjust = data$z, folds = id, permutations = 0, ...)
  }
  rows <- added()
  expect_identical(rows$table$measured, "rows")
  expect_output(print(rows), "may be too narrow")
  pairs <- added(interval = "pairs")
  theta <- vapply(1:4, function(o) {
    gain <- numeric(20)
    for (j in setdiff(1:4, o)) {
      out <- id %in% c(o, j)
      full <- greedy_rls(data$x[!out, ], data$y[!out], adjust = data$z[!out, ], k = 2, lambda = 1,
                         size = "criterion")
      base <- lm.fit(cbind(1, data$z)[!out, ], data$y[!out])
      off <- cbind(data$y - cbind(1, data$z) %*% coef(base),
                   data$y - predict(full, data$x, adjust = data$z))
      gain[id == j] <- (off[, 1]^2 - off[, 2]^2)[id == j]
    }
    mean(gain[id != o])
  }, 0)
  gains <- rows$losses$base - rows$losses$full
  se <- max(sqrt(3 / 4 * sum((theta - mean(theta))^2)), sd(gains) / sqrt(20))
  expect_equal(pairs$table$se, se)
  expect_equal(pairs$table$upper, mean(gains) + qt(0.975, 19) * se)
  expect_error(added_value(data$x, data$y, base = 1:2, shrink_base = TRUE, interval = "pairs"),
               "not needed", class = "sparsels_error_argument")
})

test_that("the p-value is that of the permutations, refitted one by one", {
  set.seed(2)
  data <- nested_data()
  lambda <- 2^c(-2, 1, 4)
  # leave-one-out, with the scales of all rows
  statistic <- function(x, y) {
    full <- rls(x, y, adjust = data$z, lambda = lambda)
    base <- lm(y ~ data$z)
    min(full$path$criterion) / mean((residuals(base) / (1 - hatvalues(base)))^2)
  }
  of_run <- function(permute) {
    set.seed(3)
    added_value(data$x, data$y, adjust = data$z, lambda = lambda, permutations = 12, folds = 3,
                permute = permute)
  }
  found <- list(residuals = of_run("residuals"), rows = of_run("rows"))
  base <- lm(data$y ~ data$z)
  for (permute in names(found)) {
    got <- found[[permute]]
    expect_equal(got$statistic, statistic(data$x, data$y), tolerance = 1e-6)
    expect_identical(got$p.value, (1 + sum(got$null <= got$statistic * (1 + 1e-9))) / 13)
    expect_identical(length(got$null), 12L)
    # the orders of the streams that were drawn from
    set.seed(3)
    as_folds(3, as_problem(data$x, data$y))
    task_streams(3)
    orders <- lapply(task_streams(12), function(stream) with_stream(stream, sample.int(24)))
    own <- vapply(orders, function(order) {
      if (permute == "rows") return(statistic(data$x[order, ], data$y))
      statistic(data$x, fitted(base) + residuals(base)[order])
    }, 0)
    expect_equal(got$null, own, tolerance = 1e-6)
  }
})

test_that("methods that choose columns, shrunk bases, classes and groups are compared, too", {
  set.seed(4)
  data <- nested_data()
  x <- cbind(data$z, data$x)
  chosen <- added_value(x, data$y, greedy_rls, base = 1:2, k = 2, size_folds = 3, folds = 3,
                        permutations = 5)
  expect_identical(chosen$base, c("age", "size"))
  by_hand <- permutation_test(as_problem(data$x, data$y, adjust = data$z), greedy_rls, k = 2,
                              permutations = 5)
  expect_equal(chosen$statistic, by_hand$statistic)
  ids <- rep(1:3, 8)
  shrunk <- added_value(x, data$y, base = 1:2, shrink_base = TRUE, folds = ids, permutations = 3,
                        lambda = c(1, 8))
  out <- ids == 2
  pb <- as_problem(x[!out, ], data$y[!out])
  full <- rls(pb, lambda = c(1, 8), blocks = rep(c("base", "added"), c(2, 6)))
  expect_equal(shrunk$losses$full[out], unname((data$y[out] - predict(full, x[out, ]))^2))
  base <- rls(pb[, 1:2], lambda = c(1, 8))
  expect_equal(shrunk$losses$base[out], unname((data$y[out] - predict(base, x[out, 1:2]))^2))
  classes <- factor(ifelse(data$y > 0, "ill", "well"))
  grouped <- added_value(data$x, classes, adjust = data$z, lambda = 3, permutations = 4,
                         folds = make_folds(24, 4, groups = rep(1:8, 3)), groups = rep(1:8, 3))
  expect_identical(grouped$table$measure, c("squared", "error"))
  expect_match(grouped$permuted, "8 groups")
  lacking <- replace(x, cbind(c(1, 6), c(1, 4)), NA)
  filled <- added_value(lacking, data$y, base = 1:2, missing = "mean", lambda = 3, folds = ids,
                        permutations = 2, permute = "rows")
  means <- colMeans(lacking[!out, ], na.rm = TRUE)
  whole <- ifelse(is.na(lacking), rep(means, each = 24), lacking)
  expect_equal(filled$losses$full[out],
               unname((data$y[out] - oracle_scores(whole[, -(1:2)], whole[, 1:2], data$y, 3,
                                                   which(out)))^2))
})

test_that("what is printed, tidied, drawn and refused", {
  set.seed(5)
  data <- nested_data(30)
  found <- added_value(data$x, data$y, adjust = data$z, lambda = 2^(-2:6), permutations = 19)
  expect_snapshot({
    found
    glance(found)
    refusal(added_value(data$x, data$y))
    refusal(added_value(data$x, data$y, base = "g9"))
    refusal(added_value(data$x, data$y, base = 1:6))
    refusal(added_value(data$x, data$y, greedy_rls, base = 1, shrink_base = TRUE))
    refusal(added_value(data$x, data$y, base = 1, permute = "columns"))
    refusal(added_value(data$x, data$y > 0, base = 1, permute = "residuals"))
    refusal(added_value(data$x, data$y, base = 1, level = 95))
  })
  expect_identical(tidy(found), found$table)
  drawn <- plot(found)
  expect_equal(mean(drawn$difference), found$table$difference)
  expect_identical(unserialize(serialize(found, NULL)), found)
})

test_that("models without any difference have no interval, and groups of columns count as one", {
  set.seed(41)
  x <- matrix(rnorm(180), 30)
  constant <- function(problem, ...) greedy_rls(problem, k = 1, size = 0)
  for (y in list(x[, 1] + rnorm(30), factor(rnorm(30) > 0))) {
    found <- added_value(x, y, constant, base = 1, folds = 3, permutations = 0, progress = FALSE)
    expect_identical(found$table$difference, 0 * found$table$base)
    expect_equal(found$table$full, found$table$base, tolerance = 1e-14)
    expect_true(all(is.na(found$table$lower)))
    expect_no_match(capture.output(print(found)), "interval|NA")
  }
  d <- data.frame(y = rnorm(30), age = rnorm(30), f = gl(3, 10), g = rnorm(30))
  found <- added_value(y ~ f + g, d, rls, adjust = ~age, folds = 3, permutations = 0)
  expect_identical(found$added, 2L)
  expect_output(print(found), "added value of 2 terms beside 1 base variable")
})

test_that("losses of classes other than squares of their codes are refused", {
  set.seed(22)
  x <- matrix(rnorm(240), 60, dimnames = list(NULL, letters[1:4]))
  pb <- as_problem(x, gl(3, 1, 60), adjust = rnorm(60))
  expect_error(added_value(pb, l1_path, loss = "multinomial"), "give `loss = \"squared\"`",
               class = "sparsels_error_argument")
  expect_error(added_value(as_problem(x, gl(2, 1, 60), adjust = rnorm(60)), l1_path,
                           loss = "logistic"),
               "does not minimise", class = "sparsels_error_argument")
  expect_error(added_value(as_problem(x, rpois(60, 2), adjust = rnorm(60), task = "regression"),
                           greedy_rls, loss = "poisson"),
               "minimise: use `loss = \"squared\"`, or cross_validate\\(\\) with",
               class = "sparsels_error_argument")
})

test_that("a training part in which no column varies beside the base is named", {
  set.seed(4)
  x <- matrix(rnorm(12), 4)
  class <- factor(c("u", "v", "u", "v"))
  expect_error(added_value(x, class, base = 1, permutations = 5),
               "outer fold 1: every column of `x` is constant or collinear",
               class = "sparsels_error_input")
})
