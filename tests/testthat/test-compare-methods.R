# compare_methods(): the models of each split by hand.

compared_problem <- function(...) random_problem(30, 8, duplicate = FALSE, ...)

first <- function(problem, k) seq_len(k)
last <- function(problem, k) rev(seq_len(ncol(problem)))[seq_len(k)]
forward <- function(problem, k) forward_regression(problem, k = k, lambda = 2)

# R^2 of lm() on these columns, over the rows of a part, about the covariates' model.
oracle_split <- function(pb, features, rows, part) {
  d <- data.frame(pb$rows$y, z = I(pb$z), x = I(as.matrix(pb$x[, features, drop = FALSE])))
  names(d)[1] <- "y"
  w <- pb$rows$weight
  model <- stats::lm(y ~ z + x - 1, d[rows, ], weights = w[rows])
  rest <- stats::lm(y ~ z - 1, d[rows, ], weights = w[rows])
  squares <- function(fit) {
    suppressWarnings(sum(w[part] * (d$y[part] - stats::predict(fit, d[part, ]))^2))
  }
  1 - squares(model) / squares(rest)
}

test_that("R-squared of both parts is that of lm()", {
  set.seed(70)
  for (sparse in c(FALSE, TRUE)) {
    pb <- compared_problem(weights = TRUE, covariates = TRUE, sparse = sparse)
    compared <- compare_methods(pb, methods = list(first = first, last = last, fr = omp), k = 3,
                                splits = 4, test = 0.4)
    expect_identical(dim(compared$scores), c(4L, 3L, 2L))
    for (split in 1:4) {
      rows <- compared$training_rows[[split]]
      expect_length(rows, 18)
      expect_setequal(c(rows, compared$test_rows[[split]]), 1:30)
      for (method in 1:3) {
        features <- compared$chosen[[split, method]]
        expect_length(features, 3)
        exact <- c(oracle_split(pb, features, rows, rows), oracle_split(pb, features, rows, -rows))
        expect_equal(unname(compared$scores[split, method, ]), exact)
      }
      expect_identical(compared$chosen[[split, "first"]], 1:3)
      expect_identical(compared$chosen[[split, "fr"]],
                       selected(omp(pb[rows, ], k = 3), index = TRUE))
    }
  }
})

test_that("a fit is scored as it is, several responses and classes too", {
  set.seed(71)
  for (task in c("two", "binary", "three")) {
    pb <- compared_problem(task)
    compared <- compare_methods(pb, list(forward = forward, greedy = greedy_rls), k = 2,
                                splits = 3, measure = "r_squared")
    for (split in 1:3) {
      rows <- compared$training_rows[[split]]
      fit <- forward(pb[rows, ], 2)
      score <- as.matrix(predict(fit, pb$x[-rows, ]))
      mean <- rep(colMeans(pb$rows$y[rows, , drop = FALSE]), each = length(rows))
      y <- pb$rows$y[-rows, , drop = FALSE]
      means <- rep(colMeans(pb$rows$y[rows, , drop = FALSE]), each = nrow(y))
      exact <- 1 - sum((y - score)^2) / sum((y - means)^2)
      expect_equal(compared$scores[[split, "forward", "test"]], exact)
      exact <- 1 - sum(residuals(fit)^2) / sum((pb$rows$y[rows, ] - mean)^2)
      expect_equal(compared$scores[[split, "forward", "training"]], exact)
    }
  }
})

test_that("each method chooses its size where none is given, with its own arguments", {
  set.seed(81)
  pb <- compared_problem("binary", weights = TRUE)
  class <- factor(pb$coding$levels[1 + (pb$rows$y > 0)])
  methods <- list(greedy_rls, lasso = list(l1_path, folds = 4, size = "1se"),
                  two = function(problem) c(2, 4))
  compared <- compare_methods(pb, methods = methods, splits = 3)
  area <- compare_methods(pb, methods = list(rls, greedy_rls), splits = 3, measure = "auc")
  expect_identical(compared$table$method, c("greedy_rls", "lasso", "two"))
  expect_identical(compared$measure, "error")
  for (split in 1:3) {
    rows <- compared$training_rows[[split]]
    train <- pb[rows, ]
    out <- as.matrix(pb$x)[-rows, ]
    # the numbers of rows of the classes are in proportion
    expect_lt(abs(mean(class[rows] == "ill") - mean(class == "ill")), 1 / 24)
    # folds of the lasso are drawn
    greedy <- greedy_rls(train)
    wrong <- predict(greedy, out, type = "class") != class[-rows]
    expect_equal(compared$scores[[split, "greedy_rls", "test"]],
                 sum((pb$rows$weight[-rows] * wrong)) / sum(pb$rows$weight[-rows]))
    expect_identical(compared$chosen[[split, "greedy_rls"]], selected(greedy, index = TRUE))
    expect_identical(compared$chosen[[split, "two"]], c(2L, 4L))
    rows <- area$training_rows[[split]]
    score <- drop(predict(rls(pb[rows, ]), as.matrix(pb$x)[-rows, ], type = "link"))
    w <- pb$rows$weight[-rows]
    up <- class[-rows] == pb$coding$levels[2]
    pairs <- outer(w[up], w[!up])
    exact <- sum(pairs * outer(score[up], score[!up], function(a, b) (a > b) + (a == b) / 2)) /
      sum(pairs)
    expect_equal(area$scores[[split, "rls", "test"]], exact)
  }
  sizes <- lengths(compared$chosen[, "greedy_rls"])
  expect_identical(compared$table$size, c(mean(sizes), mean(lengths(compared$chosen[, "lasso"])),
                                          2))
  expect_identical(compared$table$stability[1], stability(compared$chosen[, "greedy_rls"],
                                                          sum(pb$columns$usable)))
  expect_identical(compared$table$stability[3], 1)
  expect_identical(area$table$size[1], NA_real_)
  expect_identical(area$table$stability[1], NA_real_)
  expect_identical(compared$table$seconds, unname(colMeans(compared$seconds)))
})

test_that("fits of any kind are compared: by size where they have one, else as they chose", {
  set.seed(78)
  pb <- compared_problem()
  kernel <- kernel_gaussian(0.1)
  methods <- list(
    l1 = l1_path, ridge = rls,
    machine = list(fs_lssvm, k = 5, kernel = kernel, gamma = 1, folds = 3)
  )
  compared <- compare_methods(pb, methods = methods, k = 3, splits = 2)
  for (split in 1:2) {
    rows <- compared$training_rows[[split]]
    train <- pb[rows, ]
    full <- l1_path(train)
    largest <- max(full$path$size[cumsum(full$path$size > 3) == 0])
    scores <- list(predict(full, pb$x, size = largest), predict(rls(train), pb$x))
    for (method in 1:2) {
      off <- (pb$rows$y - scores[[method]])[-rows]
      exact <- 1 - sum(off^2) / sum((pb$rows$y[-rows] - mean(pb$rows$y[rows]))^2)
      expect_equal(compared$scores[[split, method, "test"]], exact)
    }
    expect_length(compared$chosen[[split, "l1"]], largest)
    expect_null(compared$chosen[[split, "ridge"]])
  }
})

test_that("differences have the standard errors of Nadeau and Bengio", {
  set.seed(72)
  pb <- compared_problem()
  methods <- list(forward = forward, same = forward, first = first)
  for (measure in c("r_squared", "squared")) {
    compared <- compare_methods(pb, methods = methods, k = 3, splits = 8, measure = measure)
    table <- compared$table
    test <- compared$scores[, , "test"]
    off <- test[, 3] - test[, 1]
    expect_equal(table$test, unname(colMeans(test)))
    expect_equal(table$training, unname(colMeans(compared$scores[, , "training"])))
    expect_equal(table$se, unname(sqrt((1 / 8 + 6 / 24) * apply(test, 2, var))))
    expect_equal(table$difference, c(0, 0, mean(off)))
    se <- sqrt((1 / 8 + 6 / 24) * var(off))
    expect_equal(table$se_difference, c(0, 0, se))
    expect_equal(table$p, c(NA, NA, 2 * pt(-abs(mean(off)) / se, 7)))
    counts <- as.matrix(table[c("win", "tie", "loss")])
    expect_equal(unname(counts[2, ]), c(0, 8, 0))
    better <- if (measure == "r_squared") off > 0 else off < 0
    expect_equal(unname(counts[3, ]), c(sum(better), 0, sum(!better)))
  }
  # three differences by hand: 1, 2, 6 with mean 3 and variance 7, four to one rows
  scores <- array(0, c(3, 2, 2), list(NULL, c("a", "b"), c("training", "test")))
  scores[, 2, "test"] <- c(1, 2, 6)
  by_hand <- compared_scores(scores, 1 / 4)[2, ]
  expect_equal(by_hand$se_difference, sqrt((1 / 3 + 1 / 4) * 7))
  t <- 3 / sqrt(49 / 12)
  # the t distribution with 2 degrees of freedom
  expect_equal(by_hand$p, 1 - t / sqrt(2 + t^2))
  one <- compare_methods(pb, methods = methods["first"], k = 3, splits = 1)
  expect_identical(one$table$se, NA_real_)
})

test_that("on outer folds errors and differences have the standard errors of cross_validate()", {
  set.seed(6)
  m <- 30
  x <- matrix(rnorm(m * 6), m)
  y <- x[, 2] + x[, 4] / 2 + rnorm(m)
  pb <- as_problem(x, y)
  folds <- make_folds(pb, 6)
  id <- folds$ids[, 1]
  methods <- list(greedy = list(greedy_rls, k = 3), ridge = list(rls, lambda = c(1, 10)))
  compared <- compare_methods(pb, methods = methods, outer = folds)
  alone <- list(cross_validate(pb, greedy_rls, k = 3, outer = folds),
                cross_validate(pb, rls, lambda = c(1, 10), outer = folds))
  expect_equal(compared$table$test, vapply(alone, function(one) one$estimate[["mean"]], 0))
  expect_equal(compared$table$se, vapply(alone, function(one) one$estimate[["se"]], 0))
  expect_identical(compared$table$measured, c("folds", "folds"))

  # the difference, by the rows and by the errors without each fold
  loss <- vapply(alone, function(one) drop(one$held_out - y)^2, numeric(m))
  theta <- t(vapply(1:6, function(o) {
    in_fold <- id != o
    greedy <- suppressWarnings(
      greedy_rls(x[in_fold, ], y[in_fold], k = 3, size_folds = id[in_fold]),
      "sparsels_warning_edge"
    )
    fits <- list(greedy, rls(x[in_fold, ], y[in_fold], lambda = c(1, 10)))
    vapply(fits, function(fit) mean((fit$held_out - y[in_fold])^2), 0)
  }, c(0, 0)))
  less <- theta[, 2] - theta[, 1]
  difference <- mean(loss[, 2] - loss[, 1])
  se <- sqrt(var(loss[, 2] - loss[, 1]) / m + 5 / 6 * sum((less - mean(less))^2) / 2)
  expect_equal(compared$table$difference, c(0, difference))
  expect_equal(compared$table$se_difference[2], se)
  expect_equal(compared$table$upper[2], difference + qt(0.975, m - 1) * se)
  expect_equal(compared$table$p[2], 2 * pt(-abs(difference) / se, m - 1))
  expect_identical(compared$test_rows, unname(split(1:m, id)))

  # column numbers of a function of one's own, by pairs of folds
  first <- function(problem) which.max(abs(cor(problem$x, problem$rows$y)))
  own <- list(first = first, ridge = list(rls, lambda = 10))
  rows <- compare_methods(pb, methods = own, outer = folds)
  expect_identical(rows$table$measured[2], "rows")
  expect_output(print(rows), "interval of 'ridge' may be too narrow")
  pairs <- compare_methods(pb, methods = own, outer = folds, interval = "pairs", level = 0.8)
  without <- function(out) {
    j <- first(list(x = x[!out, ], rows = list(y = y[!out])))
    fit <- lm.fit(cbind(1, x[!out, j]), y[!out])
    list(first = (cbind(1, x[, j]) %*% coef(fit))[, 1],
         ridge = predict(rls(x[!out, ], y[!out], lambda = 10), x))
  }
  less <- vapply(1:6, function(o) {
    mean(unlist(lapply(setdiff(1:6, o), function(j) {
      scores <- without(id %in% c(o, j))
      ((scores$ridge - y)^2 - (scores$first - y)^2)[id == j]
    })))
  }, 0)
  each <- unlist(lapply(1:6, function(o) {
    scores <- without(id == o)
    ((scores$ridge - y)^2 - (scores$first - y)^2)[id == o]
  }))
  jackknife <- sqrt(5 / 6 * sum((less - mean(less))^2))
  se <- max(sd(each) / sqrt(m), jackknife)
  expect_equal(pairs$table$difference[2], mean(each))
  expect_equal(pairs$table$se_difference[2], se)
  expect_equal(pairs$table$lower[2], mean(each) - qt(0.9, m - 1) * se)

  # areas under the curve within folds, and groups of rows
  pb <- as_problem(x, y > 0)
  area <- compare_methods(pb, methods = methods, outer = folds, measure = "auc")
  alone <- cross_validate(pb, rls, lambda = c(1, 10), outer = folds, measure = "auc")
  expect_equal(area$table$test[2], alone$estimate[["mean"]])
  expect_equal(area$table$se[2], alone$estimate[["se"]])
  grouped <- compare_methods(x, y, methods = methods, outer = 5, groups = rep(1:15, 2))
  expect_true(all(lengths(lapply(grouped$test_rows, intersect, 1:15)) * 2 ==
                    lengths(grouped$test_rows)))
  expect_error(compare_methods(pb, methods = methods, outer = folds, splits = 3), "random splits",
               class = "sparsels_error_argument")
  expect_error(compare_methods(pb, methods = methods, interval = "pairs"), "give `outer`",
               class = "sparsels_error_argument")
  expect_error(compare_methods(pb, methods = methods, outer = folds, measure = "r_squared"),
               "give \"squared\"", class = "sparsels_error_argument")
})

test_that("dependent, unusable and missing columns have no effect", {
  set.seed(73)
  x <- matrix(rnorm(40 * 5), 40)
  x[, 4] <- x[, 1]
  x[, 5] <- c(1, rep(0, 39))
  pb <- as_problem(x, rnorm(40))
  methods <- list(one = function(problem, k) 1, more = function(problem, k) c(1, 4, 5),
                  none = function(problem, k) integer())
  compared <- compare_methods(pb, methods = methods, k = 3, splits = 6, test = 0.5)
  without_row_1 <- !vapply(compared$training_rows, function(rows) 1 %in% rows, NA)
  values <- compared$scores[, , "training"]
  expect_equal(values[without_row_1, "one"], values[without_row_1, "more"])
  expect_equal(unname(compared$scores[, "none", ]), matrix(0, 6, 2))
  expect_identical(compared$table$stability[3], NA_real_)
  # a model of the largest size there is
  short <- compare_methods(pb[, c(1, 4)], methods = list(omp = omp), k = 2, splits = 2)
  expect_identical(lengths(short$chosen)[1:2], c(1L, 1L))
})

test_that("the seed makes the splits, and the methods do not disturb them", {
  set.seed(74)
  pb <- compared_problem()
  drawing <- function(problem, k) sample(ncol(problem), k)
  compare <- function(...) {
    set.seed(9)
    compare_methods(pb, methods = list(...), k = 2, splits = 3)
  }
  one <- compare(drawn = drawing, first = first)
  two <- compare(drawn = drawing, first = first)
  timed <- c("call", "seconds", "table")
  expect_identical(one[setdiff(names(one), timed)], two[setdiff(names(two), timed)])
  three <- compare(first = first)
  expect_identical(three$training_rows, one$training_rows)
  expect_identical(three$scores[, "first", ], one$scores[, "first", ])
})

test_that("groups are not divided", {
  set.seed(82)
  pb <- compared_problem()
  groups <- rep(c("a", "b", "c", "d", "e"), c(9, 3, 5, 7, 6))
  compared <- compare_methods(pb, methods = list(omp), k = 2, splits = 12, test = 0.3,
                              groups = groups)
  tested <- lapply(compared$test_rows, function(rows) unique(groups[rows]))
  for (split in 1:12) {
    rows <- compared$test_rows[[split]]
    expect_setequal(which(groups %in% tested[[split]]), rows)
    expect_setequal(c(rows, compared$training_rows[[split]]), 1:30)
    expect_true(length(rows) <= 9)
    fit <- omp(pb[-rows, ], k = 2)
    expect_identical(compared$chosen[[split, "omp"]], selected(fit, index = TRUE))
  }
  expect_setequal(unlist(tested), unique(groups))
  expect_equal(compared$table$se, sd(compared$scores[, , "test"]) * sqrt(1 / 12 + 9 / 21))
})

test_that("Ctrl-C keeps the splits done", {
  set.seed(75)
  pb <- compared_problem()
  calls <- 0
  stopping <- function(problem, k) {
    calls <<- calls + 1
    if (calls == 3) signalCondition(structure(class = c("interrupt", "condition"),
                                              list(message = "", call = NULL)))
    1
  }
  expect_warning(
    compared <- compare_methods(pb, methods = list(one = stopping), k = 1, splits = 5),
    "interrupted after 2 of 5 splits", class = "sparsels_interrupted"
  )
  expect_identical(compared$status, "interrupted")
  expect_identical(nrow(compared$scores), 2L)
  expect_output(print(compared), "based on the splits done")
  calls <- 2
  caught <- tryCatch(compare_methods(pb, methods = list(one = stopping), k = 1, splits = 5),
                     interrupt = function(condition) "caught")
  expect_identical(caught, "caught")
})

test_that("the plot draws every split", {
  set.seed(76)
  compared <- compare_methods(compared_problem(), methods = list(first = first, last = last),
                              k = 2, splits = 4)
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  data <- plot(compared, main = "two", xlim = c(-1, 1))
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  expect_identical(nrow(data), 16L)
  row <- data[data$split == 3 & data$method == "last" & data$part == "test", ]
  expect_identical(row$score, compared$scores[[3, "last", "test"]])
  expect_identical(generics::tidy(compared), compared$table)
  expect_identical(generics::glance(compared)$estimate, max(compared$table$test))
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(compared)), "ggplot_built")
})

# without the times
untimed <- function(compared) {
  compared$table$seconds <- 0
  compared
}

test_that("comparisons print, and bad arguments are refused", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 7, 1, 3), b = c(2, 1, 2, 1, 9, 3, 5, 5),
             c = c(0, 0, 1, 0, 1, 1, 0, 1))
  y <- c(1, 3, 2, 5, 4, 6, 2, 1)
  set.seed(77)
  failing <- function(problem, k) stop("no luck")
  expect_snapshot({
    untimed(compare_methods(x, y, methods = list(first = first, last = last), k = 2, splits = 5,
                            test = 0.5))
    refusal(compare_methods(x, y, methods = list(first = first)))
    refusal(compare_methods(x, y, k = 1, test = 0.75))
    refusal(compare_methods(x, y, k = 1, splits = 0))
    refusal(compare_methods(x, y, k = 1, test = 1))
    refusal(compare_methods(x, y, k = 1, test = 0.1))
    refusal(compare_methods(x, y, k = 1, groups = rep(1, 8)))
    refusal(compare_methods(x, y, k = 1, measure = "auc"))
    refusal(compare_methods(x, y, k = 1, measure = c("squared", "absolute")))
    refusal(compare_methods(x, y, k = 1, methods = omp))
    refusal(compare_methods(x, y, k = 1, methods = list(first)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = omp, a = foba)))
    refusal(compare_methods(x, y, k = 1, methods = list()))
    refusal(compare_methods(x, y, k = 1, methods = list(omp, nu = 1)))
    refusal(compare_methods(x, y, k = 1, methods = list(list(poss, restart = 3))))
    refusal(compare_methods(x, y, k = 1, methods = list(a = function() 1)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = failing)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = function(problem, k) 4)))
    refusal(compare_methods(x, y, methods = list(a = function(problem) 1:4)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = function(problem, k) "a")))
    refusal(compare_methods(x, y, k = 2, methods = list(a = function(problem, k) c(1, 1))))
    refusal(compare_methods(x, y, k = 1, split = 5))
  })
})

test_that("the default methods are quick ones, which print() says", {
  set.seed(64)
  x <- matrix(rnorm(40 * 12), 40)
  y <- x[, 1] + rnorm(40)
  compare <- function(...) {
    set.seed(65)
    compare_methods(x, y, splits = 2, ...)
  }
  quick <- compare(k = 2)
  names <- c("greedy_rls", "l1_path", "forward_regression", "omp", "foba", "rfe", "poss")
  expect_identical(quick$table$method, names)
  same <- compare(k = 2, methods = list(
    greedy_rls = function(problem, k) greedy_rls(problem, k = k, size = "criterion"), l1_path,
    forward_regression, omp, foba, rfe = list(rfe, step = 0.1),
    poss = function(problem, k) poss(problem, k = k, restarts = 1, iterations = 1e5)
  ))
  expect_identical(quick$scores, same$scores)
  expect_identical(c(quick$quick, same$quick), c(TRUE, FALSE))
  printed <- function(one) gsub("\\s+", " ", paste(utils::capture.output(one), collapse = " "))
  expect_match(printed(quick), "poss makes a single search of 100,000")
  three <- compare_methods(x, cut(y, 3, labels = c("a", "b", "c")), k = 1, splits = 1)
  expect_identical(three$table$method, names)
  own <- compare()
  expect_identical(own$table$method, names)
  expect_match(printed(own), "sizes are chosen by five folds")
  rows <- own$training_rows[[1]]
  greedy <- greedy_rls(x[rows, ], y[rows], size_folds = 5)
  expect_identical(own$chosen[[1, "greedy_rls"]], selected(greedy, index = TRUE))
})

test_that("splits that no measure can score are refused", {
  set.seed(1)
  x <- matrix(rnorm(240), 30)
  y <- factor(rep(c("a", "b"), c(28, 2)))
  set.seed(3)
  expect_error(compare_methods(x, y, methods = list(g = rls, r = rls), splits = 2,
                               measure = "auc", test = 0.1),
               "`test` must be larger", class = "sparsels_error_input")
})

test_that("a comparison does not depend on the units of the response", {
  set.seed(31)
  x <- matrix(rnorm(200), 40)
  y <- x[, 1] + rnorm(40)
  compared <- function(unit, ...) {
    set.seed(32)
    compare_methods(x, y * unit, list(a = rls, b = function(...) rls(..., lambda = 1e4)),
                    measure = "squared", progress = FALSE, ...)
  }
  for (further in list(list(splits = 4), list(outer = 4))) {
    plain <- do.call(compared, c(1, further))
    counted <- c("win", "tie", "loss", "p")
    for (unit in c(2^-26, 2^20)) {
      found <- do.call(compared, c(unit, further))
      expect_equal(found$table[counted], plain$table[counted])
      errors <- c("test", "se", "difference", "se_difference", "lower", "upper")
      expect_equal(as.matrix(found$table[errors]) / unit^2, as.matrix(plain$table[errors]))
      # the printed errors have three significant digits
      row <- strsplit(grep("^ +b", capture.output(print(found)), value = TRUE)[1], " +")[[1]]
      expect_equal(as.numeric(row[3]), found$table$test[2], tolerance = 0.005)
    }
  }
  alike <- compare_methods(x, y, list(a = rls, b = rls), splits = 3, progress = FALSE)
  expect_identical(alike$table$tie, c(3, 3))
})

test_that("the stability of a comparison counts the columns and pairs that a method chooses from", {
  set.seed(33)
  x <- matrix(rnorm(240), 60, dimnames = list(NULL, letters[1:4]))
  y <- x[, 1] * x[, 2] + x[, 3] + rnorm(60) / 2
  pb <- as_problem(x, y, interactions = TRUE, smooth = TRUE)
  search <- function(problem) greedy_rls(problem, k = 2, size = 2, lambda = 3)
  found <- compare_methods(pb, methods = list(a = search, b = rls), splits = 3, progress = FALSE)
  sets <- lapply(seq_len(3), function(split) {
    rows <- found$training_rows[[split]]
    chosen_labels(search(as_problem(x[rows, ], y[rows], interactions = TRUE, smooth = TRUE)))
  })
  # four columns and six pairs
  expect_equal(found$table$stability[1], stability(sets, 10))
})

test_that("R-squared relative to covariates says what it is relative to", {
  set.seed(24)
  x <- matrix(rnorm(400), 80)
  age <- rnorm(80)
  pb <- as_problem(x, 3 * age + rnorm(80), adjust = age)
  cmp <- compare_methods(pb, list(ridge = rls, lasso = l1_path), splits = 2)
  expect_output(print(cmp), "R-squared beyond the covariates on the test rows", fixed = TRUE)
  plain <- compare_methods(as_problem(x, age), list(ridge = rls, lasso = l1_path), splits = 2)
  expect_output(print(plain), "R-squared on the test rows", fixed = TRUE)
})

test_that("one function in place of a list of methods is named in the message", {
  pb <- as_problem(mpg ~ ., mtcars)
  expect_error(compare_methods(pb, rls), "`methods` must be a list of functions",
               class = "sparsels_error_argument")
})
