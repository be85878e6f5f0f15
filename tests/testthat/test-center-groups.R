# Columns centred, or centred and scaled, within groups of rows.

studies_apart <- function(seed = 1) {
  set.seed(seed)
  study <- sample(rep(c("b", "a", "c", "d"), c(9, 12, 10, 11)))
  place <- matrix(rnorm(4 * 12, sd = 4), 4)[match(study, letters), ]
  scale <- exp(rnorm(4))[match(study, letters)]
  x <- matrix(rnorm(42 * 12), 42, dimnames = list(NULL, paste0("X", 1:12)))
  y <- x[, 3] + x[, 5] + rnorm(42) / 3
  list(x = place + scale * x, y = y, study = study)
}

# centred by hand
by_hand <- function(x, study, scale) {
  for (own in unique(study)) {
    rows <- study == own
    for (j in seq_len(ncol(x))) {
      v <- x[rows, j] - mean(x[rows, j])
      x[rows, j] <- if (scale) v / sqrt(mean(v^2)) else v
    }
  }
  x
}

test_that("fits, predictions and held-out errors are the ones of data centred by hand", {
  d <- studies_apart()
  new <- 9 + 3 * matrix(rnorm(15 * 12), 15, dimnames = list(NULL, paste0("X", 1:12)))
  cohort <- rep(c("e", "f"), c(9, 6))
  for (rule in c("columns", "scale")) {
    plain <- by_hand(d$x, d$study, rule == "scale")
    for (method in list(greedy_rls, rls, l1_path)) {
      set.seed(2)
      own <- method(d$x, d$y, groups = d$study, center_groups = rule)
      set.seed(2)
      hand <- method(plain, d$y, groups = d$study)
      expect_equal(coef(own), coef(hand), tolerance = 1e-9)
      expect_equal(own$held_out, hand$held_out, tolerance = 1e-9)
      expect_equal(predict(own, new), predict(hand, by_hand(new, rep(1, 15), rule == "scale")))
      expect_equal(predict(own, new, groups = cohort),
                   predict(hand, by_hand(new, cohort, rule == "scale")))
      expect_equal(unname(predict(own, data.frame(new, cohort), groups = "cohort")),
                   unname(predict(own, new, groups = cohort)))
    }
    cvd <- cross_validate(d$x, d$y, greedy_rls, groups = d$study, center_groups = rule, outer = 4,
                          k = 3, size = 2, progress = FALSE)
    by <- cross_validate(plain, d$y, greedy_rls, groups = d$study, outer = 4, k = 3, size = 2,
                         progress = FALSE)
    expect_equal(cvd$estimate, by$estimate)
  }
  problem <- as_problem(d$x, d$y, groups = d$study, center_groups = "columns")
  expect_output(print(problem), "columns centred within groups of rows")
  expect_equal(problem[c(4, 9), 2:3]$x, by_hand(d$x, d$study, FALSE)[c(4, 9), 2:3])
  # a problem that is centred is not centred again
  fit <- greedy_rls(problem, k = 2, size = 2)
  expect_identical(as.character(augment(fit)$.group), d$study)
  expect_equal(unname(predict(fit, problem)), unname(drop(fit$fitted)))
  expect_equal(predict(fit, as_problem(d$x, d$y, groups = d$study)), predict(fit, problem))
})

test_that("the data of a fit are given again as they were", {
  d <- studies_apart()
  fit <- greedy_rls(d$x, d$y, groups = d$study, center_groups = "scale", k = 3, size = 2)
  expect_true(verify(fit, d$x, claims = 60, progress = FALSE)$ok)
  expect_true(verify(fit, d$x, d$y, claims = 60, progress = FALSE)$ok)
  expect_s3_class(exchange(fit, d$x, d$y), "exchange")
  expect_error(verify(fit, d$x, d$y, center_groups = "columns"), "another mean or scale",
               class = "sparsels_error_input")
})

test_that("missing values, curves and columns without penalty follow the centring", {
  d <- studies_apart()
  x <- d$x
  x[c(2, 40), 5] <- NA
  fit <- rls(x, d$y, groups = d$study, center_groups = "columns", missing = "mean")
  filled <- x
  for (own in unique(d$study)) {
    rows <- d$study == own
    filled[rows, 5] <- x[rows, 5] - mean(x[rows, 5], na.rm = TRUE)
    filled[rows, -5] <- by_hand(x[rows, -5], rep(1, sum(rows)), FALSE)
  }
  hand <- rls(filled, d$y, groups = d$study, missing = "mean")
  expect_equal(coef(fit), coef(hand))
  expect_equal(predict(fit, x, groups = d$study), unname(predict(hand, filled)),
               ignore_attr = TRUE)
  frame <- data.frame(d$x, y = d$y, study = d$study)
  curved <- greedy_rls(y ~ s(X3) + X5, frame, groups = "study", center_groups = "columns",
                       penalty = c(X5 = 0), k = 1, size = 1)
  plain <- frame
  plain[1:12] <- by_hand(d$x, d$study, FALSE)
  same <- greedy_rls(y ~ s(X3) + X5, plain, groups = "study", penalty = c(X5 = 0), k = 1, size = 1)
  expect_equal(predict(curved, frame, groups = ~ study), predict(same, plain))
})

test_that("what cannot be centred within groups is refused", {
  d <- studies_apart()
  refused <- function(code, words, class = "sparsels_error_input") {
    expect_error(code, words, class = class)
  }
  refused(as_problem(d$x, d$y, center_groups = "columns"), "needs `groups`")
  refused(as_problem(d$x, d$y, groups = d$study, center_groups = "rows"), "center_groups")
  refused(as_problem(Matrix::Matrix(d$x, sparse = TRUE), d$y, groups = d$study,
                     center_groups = "scale"), "dense")
  refused(as_problem(d$x, d$y, groups = c("z", d$study[-1]), center_groups = "columns"),
          "one row in 'z'")
  problem <- as_problem(d$x, d$y, groups = d$study, center_groups = "columns")
  refused(as_problem(problem, groups = FALSE), "centred within groups")
  fit <- greedy_rls(problem, k = 2, size = 2)
  refused(predict(fit, d$x[1, , drop = FALSE]), "one row")
  refused(predict(fit, d$x, groups = 1:3), "42")
  refused(as_panel(fit), "each row alone", "sparsels_error_panel")
  scaled <- as_problem(d$x, d$y, groups = d$study, center_groups = "scale")
  refused(predict(fit, scaled), "center_groups", "sparsels_error_newdata")
  plain <- greedy_rls(d$x, d$y, groups = d$study, k = 2, size = 2)
  refused(predict(plain, d$x, groups = d$study), "center_groups", "sparsels_error_newdata")
})
