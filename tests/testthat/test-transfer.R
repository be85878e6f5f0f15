# Training on one group of rows and testing on every other.

transfer_data <- function() {
  set.seed(2)
  study <- rep(c("north", "south", "west"), c(40, 35, 30))
  x <- matrix(rnorm(105 * 12), 105)
  list(x = x, study = study, y = x[, 3] - x[, 8] * (study != "west") + rnorm(105) / 2)
}

plot_of_transfer <- function(moved) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(moved)
}

test_that("the errors are as by hand", {
  d <- transfer_data()
  moved <- transfer(d$x, d$y, rls, groups = d$study, progress = FALSE)
  for (i in unique(d$study)) {
    own <- d$study == i
    fit <- rls(d$x[own, ], d$y[own])
    for (j in setdiff(unique(d$study), i)) {
      there <- d$study == j
      error <- mean((d$y[there] - predict(fit, d$x[there, ]))^2)
      expect_equal(moved$error[i, j], error, tolerance = 1e-10)
      expect_equal(moved$null[i, j], mean((d$y[there] - mean(d$y[own]))^2), tolerance = 1e-10)
    }
    expect_equal(moved$error[i, i], mean(residuals(fit, "held_out")^2), tolerance = 1e-10)
  }
  expect_identical(moved$rows, c(north = 40L, south = 35L, west = 30L))
  rows <- tidy(moved)
  expect_identical(rows$error, as.vector(moved$error))
  expect_identical(rows$rows[rows$tested_on == "west"], rep(30L, 3))
})

test_that("a search has its columns, classes their areas", {
  d <- transfer_data()
  colnames(d$x) <- paste0("gene", 1:12)
  ill <- factor(ifelse(d$y > 0, "ill", "well"))
  set.seed(1)
  moved <- transfer(d$x, ill, greedy_rls, groups = d$study, measure = "auc", progress = FALSE)
  expect_true("gene3" %in% moved$chosen$west)
  expect_true(moved$higher)
  own <- d$study == "west"
  expect_equal(unname(moved$null["west", "north"]), 0.5)
  expect_snapshot(moved)
  expect_s3_class(plot_of_transfer(moved), "data.frame")
})

test_that("groups are required, and a group that cannot be trained on is named", {
  d <- transfer_data()
  expect_error(transfer(d$x, d$y, rls), "two groups or more", class = "sparsels_error_argument")
  only <- factor(ifelse(d$study == "south" | d$y > 0, "a", "b"))
  expect_error(transfer(d$x, only, l1_path, loss = "logistic", groups = d$study,
                        progress = FALSE), "group 'south'")
})

test_that("a cross-validation has the interval of every group, over its rows", {
  d <- transfer_data()
  ill <- factor(ifelse(d$y > 0, "ill", "well"))
  cvd <- cross_validate(d$x, ill, rls, lambda = 5, groups = d$study, outer = "loo",
                        progress = FALSE)
  expect_identical(cvd$folds$group, c("north", "south", "west"))
  for (i in 1:3) {
    rows <- d$study == cvd$folds$group[i]
    wrong <- (cvd$held_out[rows] > 0) != (ill[rows] == "well")
    expect_equal(cvd$folds$test[i], mean(wrong))
    n <- sum(rows)
    se <- sqrt(stats::var(wrong) / n)
    p <- mean(wrong)
    expect_equal(unlist(cvd$folds[i, c("lower", "upper")], use.names = FALSE),
                 wilson_interval(p, p * (1 - p) / se^2, stats::qt(0.975, n - 1)))
  }
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(cvd, what = "folds")$name, c("north (40)", "south (35)", "west (30)"))
  expect_error(plot(cvd, what = "rows"), "must be")
  # folds that are no groups have none
  expect_null(cross_validate(d$x, d$y, rls, lambda = 5, outer = 4, progress = FALSE)$folds$group)
})
