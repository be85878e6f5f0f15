# compare_methods(): the models of each split by hand.

compared_problem <- function(...) random_problem(30, 8, duplicate = FALSE, ...)

first <- function(problem, k) seq_len(k)
last <- function(problem, k) rev(seq_len(ncol(problem)))[seq_len(k)]
forward <- function(problem, k) forward_regression(problem, k = k, lambda = 2)

# R^2 of lm() on these columns, over the rows of a part, about the covariates' model.
oracle_split <- function(pb, features, rows, part) {
  d <- data.frame(pb$y, z = I(pb$z), x = I(as.matrix(pb$x[, features, drop = FALSE])))
  names(d)[1] <- "y"
  w <- pb$weights
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
    expect_identical(dim(compared$r_squared), c(4L, 3L, 2L))
    for (split in 1:4) {
      rows <- compared$training_rows[[split]]
      expect_length(rows, 18)
      for (method in 1:3) {
        features <- compared$chosen[[split, method]]
        expect_length(features, 3)
        exact <- c(oracle_split(pb, features, rows, rows), oracle_split(pb, features, rows, -rows))
        expect_equal(unname(compared$r_squared[split, method, ]), exact)
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
    compared <- compare_methods(pb, methods = list(forward = forward, greedy = greedy_rls), k = 2,
                                splits = 3)
    for (split in 1:3) {
      rows <- compared$training_rows[[split]]
      fit <- forward(pb[rows, ], 2)
      score <- as.matrix(predict(fit, pb$x[-rows, ]))
      mean <- rep(colMeans(pb$y[rows, , drop = FALSE]), each = length(rows))
      y <- pb$y[-rows, , drop = FALSE]
      exact <- 1 - sum((y - score)^2) / sum((y - mean)^2)
      expect_equal(compared$r_squared[[split, "forward", "test"]], exact)
      exact <- 1 - sum(residuals(fit)^2) / sum((pb$y[rows, ] - mean)^2)
      expect_equal(compared$r_squared[[split, "forward", "training"]], exact)
    }
  }
})

test_that("fits of any kind are compared: by size where they have one, else as they chose", {
  set.seed(78)
  pb <- compared_problem()
  kernel <- kernel_gaussian(0.1)
  methods <- list(
    l1 = l1_path, ridge = function(problem, k) rls(problem),
    machine = function(problem, k) fs_lssvm(problem, k = 5, kernel = kernel, gamma = 1, folds = 3)
  )
  compared <- compare_methods(pb, methods = methods, k = 3, splits = 2)
  for (split in 1:2) {
    rows <- compared$training_rows[[split]]
    train <- pb[rows, ]
    fits <- lapply(methods, function(method) method(train, k = 3))
    full <- l1_path(train)
    largest <- max(full$path$size[cumsum(full$path$size > 3) == 0])
    scores <- list(predict(full, pb$x, size = largest), predict(fits$ridge, pb$x))
    for (method in 1:2) {
      off <- (pb$y - scores[[method]])[-rows]
      exact <- 1 - sum(off^2) / sum((pb$y[-rows] - mean(pb$y[rows]))^2)
      expect_equal(compared$r_squared[[split, method, "test"]], exact)
    }
    expect_length(compared$chosen[[split, "l1"]], largest)
    expect_null(compared$chosen[[split, "ridge"]])
  }
})

test_that("the table has means, t-tests and counts against the first method", {
  set.seed(72)
  pb <- compared_problem()
  methods <- list(forward = forward, same = forward, first = first)
  compared <- compare_methods(pb, methods = methods, k = 3, splits = 8)
  table <- compared$table
  for (part in c("training", "test")) {
    values <- compared$r_squared[, , part]
    expect_equal(table[[part]], unname(colMeans(values)))
    expect_equal(table[[paste0(part, "_sd")]], unname(apply(values, 2, sd)))
    test <- stats::t.test(values[, 1], values[, 3], paired = TRUE)
    expect_equal(table[[paste0(part, "_p")]], c(NA, NA, test$p.value))
    counts <- as.matrix(table[paste0(part, c("_win", "_tie", "_loss"))])
    expect_equal(rowSums(counts), rep(8, 3))
    expect_equal(unname(counts[1, ]), c(0, 8, 0))
    expect_equal(unname(counts[2, ]), c(0, 8, 0))
    expect_equal(counts[[3, 1]], sum(values[, 3] > values[, 1] + 1e-9))
  }
  one <- compare_methods(pb, methods = methods["first"], k = 3, splits = 1)
  expect_identical(one$table$training_sd, NA_real_)
})

test_that("dependent, unusable and missing columns have no effect", {
  set.seed(73)
  x <- matrix(rnorm(40 * 5), 40)
  x[, 4] <- x[, 1]
  x[, 5] <- c(1, rep(0, 39))
  pb <- as_problem(x, rnorm(40))
  methods <- list(one = function(problem, k) 1, more = function(problem, k) c(1, 4, 5),
                  none = function(problem, k) integer())
  compared <- compare_methods(pb, methods = methods, k = 3, splits = 6)
  without_row_1 <- !vapply(compared$training_rows, function(rows) 1 %in% rows, NA)
  values <- compared$r_squared[, , "training"]
  expect_equal(values[without_row_1, "one"], values[without_row_1, "more"])
  expect_equal(unname(compared$r_squared[, "none", ]), matrix(0, 6, 2))
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
  expect_identical(one$r_squared, two$r_squared)
  three <- compare(first = first)
  expect_identical(three$training_rows, one$training_rows)
  expect_identical(three$r_squared[, "first", ], one$r_squared[, "first", ])
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
  expect_identical(nrow(compared$r_squared), 2L)
  expect_output(print(compared), "these splits were done")
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
  data <- plot(compared, main = "two", ylim = c(-1, 1))
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  expect_identical(nrow(data), 16L)
  row <- data[data$split == 3 & data$method == "last" & data$part == "test", ]
  expect_identical(row$r_squared, compared$r_squared[[3, "last", "test"]])
})

test_that("comparisons print, and bad arguments are refused", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 7, 1, 3), b = c(2, 1, 2, 1, 9, 3, 5, 5),
             c = c(0, 0, 1, 0, 1, 1, 0, 1))
  y <- c(1, 3, 2, 5, 4, 6, 2, 1)
  set.seed(77)
  failing <- function(problem, k) stop("no luck")
  expect_snapshot({
    compare_methods(x, y, methods = list(first = first, last = last), k = 2, splits = 5)
    refusal(compare_methods(x, y))
    refusal(compare_methods(x, y, k = 3))
    refusal(compare_methods(x, y, k = 4, test = 0.3))
    refusal(compare_methods(x, y, k = 1, test = 0.75))
    refusal(compare_methods(x, y, k = 1, splits = 0))
    refusal(compare_methods(x, y, k = 1, test = 1))
    refusal(compare_methods(x, y, k = 1, test = 0.1))
    refusal(compare_methods(x, y, k = 1, methods = omp))
    refusal(compare_methods(x, y, k = 1, methods = list(omp)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = omp, a = foba)))
    refusal(compare_methods(x, y, k = 1, methods = list()))
    refusal(compare_methods(x, y, k = 1, methods = list(a = failing)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = function(problem, k) 4)))
    refusal(compare_methods(x, y, k = 1, methods = list(a = function(problem, k) "a")))
    refusal(compare_methods(x, y, k = 2, methods = list(a = function(problem, k) c(1, 1))))
    refusal(compare_methods(x, y, k = 1, split = 5))
  })
})

test_that("with many columns the default methods are quicker ones, which print() says", {
  set.seed(64)
  x <- matrix(rnorm(30 * 12), 30)
  y <- x[, 1] + rnorm(30)
  all <- compare_methods(x, y, k = 2, splits = 2)
  expect_identical(nrow(compare_methods(x, y, k = 2, methods = list(f = omp))$r_squared), 20L)
  with_binding("many_columns", 11L, {
    set.seed(65)
    quick <- compare_methods(x, y, k = 2, splits = 2)
    set.seed(65)
    same <- compare_methods(x, y, k = 2, splits = 2, methods = list(
      poss = function(problem, k) poss(problem, k = k, restarts = 3),
      forward_regression = forward_regression, omp = omp, foba = foba,
      rfe = function(problem, k) rfe(problem, k = k, step = 0.1)
    ))
  })
  expect_identical(quick$r_squared, same$r_squared)
  expect_identical(dimnames(quick$r_squared), dimnames(all$r_squared))
  expect_identical(c(all$quick, quick$quick, same$quick), c(FALSE, TRUE, FALSE))
  expect_output(print(quick), "for speed, poss makes 3 searches, not 10")
})
