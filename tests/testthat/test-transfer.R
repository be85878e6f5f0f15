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

test_that("errors of any size are printed with their digits", {
  d <- transfer_data()
  for (unit in c(1e-12, 1e9)) {
    moved <- transfer(d$x, d$y * unit, rls, groups = d$study, lambda = 1, progress = FALSE)
    row <- grep("^west", utils::capture.output(print(moved)), value = TRUE)
    printed <- as.numeric(strsplit(row, " +")[[1L]][2:4])
    expect_equal(printed, unname(moved$error["west", ]), tolerance = 0.01)
    expect_lt(nchar(row), 60)
  }
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

test_that("every method has its error in every group, as by a loop over the groups", {
  d <- transfer_data()
  w <- rep(c(1, 2), length.out = 105)
  both <- list(columns = function(problem) c(3, 8), ridge = list(rls, lambda = 5))
  compared <- compare_methods(d$x, d$y, weights = w, methods = both, outer = "loo",
                              groups = d$study)
  frame <- data.frame(y = d$y, d$x)
  for (i in seq_len(6)) {
    row <- compared$folds[i, ]
    out <- d$study == row$group
    predicted <- if (row$method == "columns") {
      predict(stats::lm(y ~ X3 + X8, frame[!out, ], weights = w[!out]), frame[out, ])
    } else {
      predict(rls(d$x[!out, ], d$y[!out], weights = w[!out], lambda = 5), d$x[out, ])
    }
    loss <- (d$y[out] - predicted)^2
    own <- w[out] / sum(w[out])
    error <- sum(own * loss)
    expect_equal(row$test, error)
    expect_equal(row$majority, sum(own * (d$y[out] - weighted.mean(d$y[!out], w[!out]))^2))
    n <- sum(out)
    se <- sqrt(n / (n - 1) * sum((own * (loss - error))^2))
    df <- sum(w[out])^2 / sum(w[out]^2) - 1
    expect_equal(c(row$lower, row$upper),
                 pmax(error + c(-1, 1) * stats::qt(0.975, df) * se, 0))
    expect_identical(row$rows, n)
  }
  # a cross-validation of one of them has the same table
  alone <- cross_validate(d$x, d$y, rls, weights = w, groups = d$study, outer = "loo", lambda = 5)
  shared <- c("group", "rows", "test", "majority", "lower", "upper")
  expect_equal(compared$folds[4:6, shared], alone$folds[shared], ignore_attr = TRUE)
  worst <- with(alone$folds, group[which.max(test / majority)])
  expect_output(print(alone), sprintf("worst, relative to\\s+the null model, in '%s'", worst))
  expect_output(print(compared), sprintf("worst, relative to .* ridge in\\s+'%s'", worst))
  expect_output(print(compared), "group rows +null columns ridge")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- plot(compared, what = "folds")
  expect_identical(drawn$name, rep(c("north (40)", "south (35)", "west (30)"), 2))
  expect_identical(drawn$test, compared$folds$test)
  # folds that are no groups, and random splits
  plain <- compare_methods(d$x, d$y, methods = both, outer = 4)
  expect_null(plain$folds$group)
  expect_output(print(plain), "test rows:\n.*\nthe models:")
  splits <- compare_methods(d$x, d$y, methods = both, splits = 2)
  expect_null(splits$folds)
  expect_error(plot(splits, what = "folds"), "give `outer`", class = "sparsels_error_argument")
})

test_that("a judgement names the group that is worst relative to its null model", {
  d <- transfer_data()
  judged <- judge(d$x, d$y, rls, lambda = 5, groups = d$study, permutations = 0, pairs = 0,
                  repeats = 0, keep = 0, proof = 0, claims = 0, seed = 1)
  folds <- judged$cross_validation$folds
  expect_setequal(folds$group, d$study)
  lines <- judgement_lines(judged)
  expect_identical(names(lines), c("error", "by group"))
  worst <- folds[which.max(folds$test / folds$majority), ]
  expect_identical(lines[["by group"]], sprintf(
    "%s to %s in 3 groups, %s, in '%s' (%d rows): %s (95 %% interval %s to %s), null model %s",
    shown(min(folds$test)), shown(max(folds$test)),
    "each held out whole; worst, relative to the null model", worst$group, worst$rows,
    shown(worst$test), shown(worst$lower), shown(worst$upper), shown(worst$majority)
  ))
  alone <- judge(d$x, d$y, rls, lambda = 5, outer = 3, permutations = 0, pairs = 0, repeats = 0,
                 keep = 0, proof = 0, claims = 0, seed = 1)
  expect_identical(names(judgement_lines(alone)), "error")
})

test_that("groups without a null error or without pairs are not the worst", {
  folds <- data.frame(repetition = 1L, group = c("a", "b", "c"), rows = 9L, test = c(0.5, 0.2, 0.1),
                      lower = 0, upper = 1, majority = c(0, 0.1, 0.2))
  x <- list(measure = "error", higher = FALSE, level = 0.95, folds = folds)
  expect_match(group_words(x), "in 'b'")
  folds$majority <- NULL
  expect_match(group_words(replace(x, "folds", list(folds))), "worst in 'a' .* 1\\)$")
  folds$test <- c(0.4, NaN, 0.9)
  x <- list(measure = "auc", higher = TRUE, level = 0.95, folds = folds)
  expect_match(group_words(x), "^0.4 to 0.9 in 2 groups.* in 'a'")
  expect_null(group_words(replace(x, "folds", list(folds[1:2, ]))))
})

test_that("l1_path() has fewer folds by default in a group of few rows", {
  set.seed(1)
  x <- matrix(rnorm(30 * 6), 30)
  y <- x[, 1] + rnorm(30)
  study <- rep(c("u", "v", "w"), c(13, 12, 5))
  moved <- transfer(x, y, l1_path, groups = study, progress = FALSE)
  expect_true(all(is.finite(moved$error)))
  # no column is chosen from five rows
  expect_length(moved$chosen$w, 0)
  expect_equal(moved$error[["w", "u"]], mean((y[study == "u"] - mean(y[study == "w"]))^2))
})

test_that("a group too small to train on is named with its rows", {
  set.seed(4)
  x <- matrix(rnorm(40), 20, dimnames = list(NULL, c("a", "b")))
  group <- c("only", rep(c("s", "t"), length.out = 19))
  expect_error(transfer(x, x[, 1] + rnorm(20), forward_regression, groups = group,
                        progress = FALSE),
               "^group 'only', to train on alone \\(1 row\\): 1 training row, but",
               class = "sparsels_error_input")
})
