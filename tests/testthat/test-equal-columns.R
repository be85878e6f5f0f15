# Columns that equal chosen ones are named by every method that chooses columns.

set.seed(1)
plain <- matrix(rnorm(60 * 20), 60, dimnames = list(NULL, paste0("x", 1:20)))
y <- 2 * plain[, 1] + plain[, 2] + rnorm(60)
x <- cbind(plain, twice = 2 * plain[, 1], minus = 1 - plain[, 2],
           near = plain[, 1] + rnorm(60) / 1e4)
shown <- function(fit) paste(trimws(capture.output(print(fit, n = 0))), collapse = " ")

test_that("every method names the columns that equal chosen ones", {
  fits <- list(
    forward_regression(x, y, k = 5), omp(x, y, k = 5), foba(x, y, k = 5), rfe(x, y, k = 5),
    poss(x, y, k = 4), best_subset(x, y, k = 3), l1_path(x, y), l1_path(x, y, folds = 5),
    random_selection(x, y, k = 15), lowrank_lssvm(x, y, k = 5), wrapper_rls(x, y, k = 4),
    greedy_rls(x, y, lambda = 100)
  )
  for (fit in fits) {
    of <- c(x1 = "twice", twice = "x1", x2 = "minus", minus = "x2")
    chosen <- selected(fit)
    words <- shown(fit)
    for (name in intersect(names(of), chosen)) {
      beside <- sprintf("%s (%s)", c(of[name], name), c(name, of[name]))
      expect_true(any(vapply(beside, grepl, NA, words, fixed = TRUE)), label = fit$method)
    }
    both <- all(c("x1", "twice") %in% chosen) || all(c("x2", "minus") %in% chosen)
    expect_identical(grepl("equal up to scale to another chosen one", words), both)
    expect_false("near" %in% fit$problem$columns$name[c(fit$equal$feature, fit$equal$of)])
  }
  # left out copies are named once
  fit <- greedy_rls(x, y)
  expect_length(gregexpr("twice (x1)", shown(fit), fixed = TRUE)[[1]], 1L)
  expect_match(shown(exchange(fit, x, y)), "twice (x1)", fixed = TRUE)
  stable <- stability_selection(x, y, forward_regression, q = 3, pairs = 20)
  expect_match(shown(stable), "minus (x2)", fixed = TRUE)
  expect_no_match(shown(forward_regression(plain, y, k = 5)), "equal")
})

test_that("equal columns are found in all forms of data", {
  named <- function(..., method = forward_regression) {
    fit <- method(..., k = 3)
    expect_match(shown(fit), "equal up to scale")
    fit$problem$columns$name[fit$equal$feature]
  }
  x <- x[, colnames(x) != "near"]
  path <- tempfile()
  on.exit(unlink(path))
  for (form in list(Matrix::Matrix(x, sparse = TRUE), as.data.frame(x),
                    write_file_matrix(x, path))) {
    expect_setequal(named(form, y), c("twice", "minus"))
  }
  # but for the covariates, the rows of weight 0 and the groups whose means are taken out
  age <- rnorm(60)
  expect_identical(named(cbind(plain, sum = plain[, 1] + age), y, adjust = cbind(age = age)), "sum")
  rows <- rbind(x, x[1:10, 22:1])
  expect_setequal(named(rows, c(y, y[1:10]), weights = rep(1:0, c(60, 10))), c("twice", "minus"))
  g <- rep(1:20, 3)
  moved <- cbind(plain, moved = plain[, 1] + g)
  expect_identical(named(moved, y, within = g, lambda = 1, method = greedy_rls), "moved")
  # the levels of two factors
  d <- data.frame(y, sex = rep(c("f", "m"), 30), male = rep(0:1, 30), plain)
  d$y <- d$y + 3 * d$male
  expect_identical(named(y ~ ., d), "male")
})

test_that("each of several equal columns is named", {
  x <- cbind(plain[, 1:3], twice = 2 * plain[, 1], minus = -plain[, 1], half = plain[, 1] / 2)
  for (fit in list(forward_regression(x, y, k = 2), l1_path(x, y, lambda = 1))) {
    own <- intersect(c("x1", "twice", "minus", "half"), selected(fit))
    others <- setdiff(c("x1", "twice", "minus", "half"), own[1])
    for (name in sprintf("%s (%s)", others, own[1])) {
      expect_match(shown(fit), name, fixed = TRUE, label = fit$method)
    }
  }
})

test_that("a selection without a stable column names no equal columns", {
  set.seed(1)
  x <- matrix(rnorm(200), 40)
  x <- cbind(x, -2 * x[, 1])
  found <- stability_selection(x, rnorm(40), greedy_rls, q = 2, lambda = 1, pairs = 4,
                               threshold = 0.99)
  expect_gt(nrow(found$equal), 0)
  expect_length(found$stable$feature, 0)
  expect_output(print(found), "no column with a selection probability")
})
