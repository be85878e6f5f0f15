# Missing values replaced by means, against values that were replaced by hand.

#' @srrstats {ML1.7b} `?missing_values`, `tests/testthat/test-missing.R`
#' @srrstats {ML7.2} `tests/testthat/test-missing.R`
set.seed(61)
m <- 48
n <- 12
complete <- matrix(rnorm(m * n, 3), m, dimnames = list(NULL, paste0("g", seq_len(n))))
y <- complete[, 2] - complete[, 7] + rnorm(m) / 2
x <- complete
x[sample(m * n, 60)] <- c(NA, NaN)
colnames(x) <- colnames(complete)

# The mean of each column over the rows that have a value, one row after the other.
means_by_hand <- function(x, w = rep(1, nrow(x))) {
  means <- numeric(ncol(x))
  for (j in seq_len(ncol(x))) {
    total <- weight <- 0
    for (i in seq_len(nrow(x))) {
      if (is.na(x[i, j]) || w[i] == 0) next
      total <- total + w[i] * x[i, j]
      weight <- weight + w[i]
    }
    if (weight > 0) means[j] <- total / weight
  }
  means
}

replaced <- function(x, means) {
  for (j in seq_len(ncol(x))) for (i in seq_len(nrow(x))) if (is.na(x[i, j])) x[i, j] <- means[j]
  x
}

by_hand <- function(x, w = rep(1, nrow(x))) replaced(x, means_by_hand(x, w))

expect_completed <- function(problem, x, w = rep(1, nrow(x))) {
  expect_equal(unname(as.matrix(problem$x)), unname(by_hand(x, w)), tolerance = 1e-14)
  expect_equal(problem$columns$mean, means_by_hand(x, w), tolerance = 1e-14)
  expect_identical(problem$columns$missing, unname(as.integer(colSums(is.na(x)))))
}

test_that("missing values are replaced by the means of their columns", {
  expect_completed(as_problem(x, y, missing = "mean"), x)
  pb <- as_problem(x, y, missing = "mean")
  whole <- as_problem(by_hand(x), y)
  for (field in c("centre", "squares", "rss", "scale", "products", "usable")) {
    expect_equal(pb[[field]], whole[[field]], tolerance = 1e-12)
  }
  expect_identical(as.matrix(pb$gaps), unname(is.na(x)))
  expect_true(anyNA(x))
  counts <- round(x)
  storage.mode(counts) <- "integer"
  expect_completed(as_problem(counts, y, missing = "mean"), counts)
  expect_completed(as_problem(x > 3, y, missing = "mean"), (x > 3) + 0)
  expect_completed(as_problem(x, y, missing = "mean", intercept = FALSE), x)
  expect_completed(as_problem(as.data.frame(x), y, missing = "mean"), x)
  expect_completed(as_problem(y ~ ., data.frame(y, x), missing = "mean"), x)
  expect_completed(as_problem(y ~ log(g1) + g2:g3, data.frame(y, exp(x)), missing = "mean"),
                   cbind(x[, 1], exp(x[, 2] + x[, 3])))
})

test_that("a problem without missing values is as any other", {
  pb <- as_problem(complete, y, missing = "mean")
  expect_null(pb$gaps)
  expect_identical(pb$columns$missing, integer(n))
  expect_identical(pb$x, complete)
  expect_equal(pb$columns$mean, pb$columns$centre)
  fit <- greedy_rls(pb, k = 3, lambda = 2, size = 2)
  expect_identical(coef(fit), coef(greedy_rls(complete, y, k = 3, lambda = 2, size = 2)))
  expect_false(any(grepl("missing", capture.output(print(fit)))))
})

test_that("rows of weight 0 do not count", {
  w <- rep(c(0, 1, 2.5), length.out = m)
  pb <- as_problem(x, y, weights = w, missing = "mean")
  expect_completed(pb, x, w)
  expect_equal(pb$columns$centre, means_by_hand(x, w), tolerance = 1e-13)
  changed <- reweighted(pb, rev(w))
  expect_completed(changed, x, rev(w))
  expect_equal(unclass(changed)[c("centre", "squares", "products")],
               unclass(as_problem(x, y, weights = rev(w), missing = "mean"))[
                 c("centre", "squares", "products")])
  fit <- greedy_rls(pb, k = 3, lambda = 1, size = 3)
  rows <- which(w == 0)
  expect_equal(fit$fitted[rows, 1], predict(fit, replaced(x, pb$columns$mean)[rows, ]),
               ignore_attr = TRUE)
  expect_true(verify(fit, x, claims = Inf)$ok)
})

test_that("a sparse matrix may store missing values", {
  thin <- x
  thin[!is.na(x) & abs(x - 3) < 0.8] <- 0
  thin[, 5] <- NA
  thin[1:3, 5] <- 2
  thin[, 6] <- ifelse(seq_len(m) %% 2, NA, 0)
  sparse <- methods::as(Matrix::Matrix(thin, sparse = TRUE), "CsparseMatrix")
  w <- rep(c(1, 2, 3), length.out = m)
  pb <- as_problem(sparse, y, weights = w, missing = "mean")
  expect_s4_class(pb$x, "dgCMatrix")
  expect_completed(pb, thin, w)
  expect_identical(length(pb$x@x), length(sparse@x))
  expect_false(pb$columns$usable[6])
  rows <- c(40:2, 7, 7)
  cols <- c(8, 1:6)
  expect_completed(pb[rows, cols], thin[rows, cols], w[rows])
  expect_completed(reweighted(pb, rev(w)), thin, rev(w))
  dense <- greedy_rls(as_problem(thin, y, weights = w, missing = "mean"), k = 4, lambda = 2)
  fit <- greedy_rls(pb, k = 4, lambda = 2)
  expect_equal(coef(fit), coef(dense), tolerance = 1e-10)
  expect_equal(predict(fit, sparse), predict(dense, thin), tolerance = 1e-10)
  expect_true(verify(fit, sparse, claims = Inf)$ok)
  pb$x <- Matrix::drop0(pb$x)
  expect_error(pb[1:9, ], "edited", class = "sparsels_error_object")
})

test_that("means are those of the rows taken", {
  pb <- as_problem(x, y, missing = "mean")
  rows <- c(3, 3, 30:5, 41, 48)
  cols <- c(9, 2, 5, 7)
  part <- pb[rows, cols]
  expect_completed(part, x[rows, cols])
  expect_equal(part$columns$centre, means_by_hand(x[rows, cols]), tolerance = 1e-13)
  # again of a part, and of columns alone
  expect_completed(part[4:20, c(3, 1)], x[rows, cols][4:20, c(3, 1)])
  expect_completed(pb[, cols], x[, cols])
})

test_that("a column without values is excluded", {
  empty <- x
  empty[-(1:4), 3] <- NA
  empty[, 5] <- NA
  pb <- as_problem(empty, y, missing = "mean")
  expect_identical(which(!pb$columns$usable), 5L)
  expect_identical(which(!pb[5:m, ]$columns$usable), c(3L, 5L))
  expect_completed(pb, empty)
  expect_output(print(pb), "1 column without a value, in no model\n97 missing values in 11 col")
  expect_false(anyNA(predict(greedy_rls(pb, k = 3, lambda = 1), empty)))
  expect_snapshot(refusal(as_problem(empty[, 5, drop = FALSE], y, missing = "mean")))
})

test_that("cross_validate() replaces by the means of each training set", {
  folds <- rep(1:4, length.out = m)
  found <- cross_validate(x, y, greedy_rls, k = 4, lambda = 3, size = 2, outer = folds,
                          missing = "mean")
  by_fold <- y * NA
  for (fold in 1:4) {
    out <- folds == fold
    means <- means_by_hand(x[!out, ])
    fit <- greedy_rls(replaced(x[!out, ], means), y[!out], k = 4, lambda = 3, size = 2)
    by_fold[out] <- predict(fit, replaced(x[out, ], means))
  }
  expect_equal(found$held_out[, 1], by_fold, tolerance = 1e-10)
  expect_false(isTRUE(all.equal(
    by_fold, cross_validate(by_hand(x), y, greedy_rls, k = 4, lambda = 3, size = 2,
                            outer = folds)$held_out[, 1]
  )))
  # a method of the user's, which sees complete matrices alone
  own <- function(problem) lm(y ~ g2 + g7, data.frame(y = problem$rows$y[, 1], problem$x))
  seen <- function(fit, x) predict(fit, as.data.frame(x))
  method <- function(problem) structure(list(fit = own(problem)), class = "own_fit")
  registerS3method("predict", "own_fit", function(object, x, ...) seen(object$fit, x))
  found <- cross_validate(x, y, method, outer = folds, missing = "mean", baselines = NULL)
  for (fold in 1:4) {
    out <- folds == fold
    means <- means_by_hand(x[!out, ])
    fit <- lm(y ~ g2 + g7, data.frame(y = y[!out], replaced(x[!out, ], means)))
    by_fold[out] <- predict(fit, as.data.frame(replaced(x[out, ], means)))
  }
  expect_equal(found$held_out[, 1], by_fold, tolerance = 1e-10)
})

test_that("the choice of size replaces by the means of each training part", {
  folds <- rep(1:4, length.out = m)
  fit <- greedy_rls(x, y, k = 4, lambda = 3, size = 3, size_folds = folds, refit = FALSE,
                    missing = "mean", weights = rep(1:2, length.out = m))
  w <- rep(1:2, length.out = m)
  sums <- matrix(0, 5, 4)
  held_out <- y * NA
  for (fold in 1:4) {
    out <- folds == fold
    means <- means_by_hand(x[!out, ], w[!out])
    part <- bare_rls(replaced(x[!out, ], means), y[!out], weights = w[!out], k = 4, lambda = 3)
    scores <- predict(part, replaced(x[out, ], means), size = 0:4)
    sums[, fold] <- colSums(w[out] * (y[out] - scores)^2)
    held_out[out] <- scores[, 4]
  }
  expect_equal(fit$path$cv, rowSums(sums) / sum(w), tolerance = 1e-10)
  expect_equal(fit$held_out[, 1], held_out, tolerance = 1e-10)
  expect_equal(unname(fit$fitted[, 1]), unname(predict(fit, by_hand(x, w))))
  expect_true(verify(fit, x, claims = Inf)$ok)
})

test_that("the folds of l1_path() replace by the means of each training part", {
  folds <- rep(1:4, length.out = m)
  fit <- l1_path(x, y, folds = folds, nlambda = 8, missing = "mean", tolerance = 1e-10)
  scale <- as_problem(x, y, missing = "mean")$columns$scale
  error <- matrix(0, nrow(fit$path), 4)
  for (fold in 1:4) {
    out <- folds == fold
    means <- means_by_hand(x[!out, ])
    of_scale <- function(x) replaced(x, means) / rep(scale, each = nrow(x))
    part <- l1_path(of_scale(x[!out, ]), y[!out], lambda = fit$path$lambda, standardize = FALSE,
                    tolerance = 1e-10)
    error[, fold] <- colSums((y[out] - predict(part, of_scale(x[out, ]),
                                               lambda = fit$path$lambda))^2)
  }
  expect_equal(fit$path$criterion, rowSums(error) / m, tolerance = 1e-6)
  expect_true(verify(fit, x, claims = Inf)$ok)
})

test_that("predict() replaces by the means of the training rows", {
  fit <- greedy_rls(x, y, k = 3, lambda = 1, size = 3, missing = "mean")
  means <- means_by_hand(x)
  new <- complete[1:9, ] + 1
  new[, 2] <- NA
  new[3, ] <- NA
  expected <- drop(cbind(1, replaced(new, means)[, selected(fit)]) %*% coef(fit))
  expect_equal(predict(fit, new), expected, tolerance = 1e-12)
  expect_equal(predict(fit, as.data.frame(new)), expected, tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(predict(fit, Matrix::Matrix(new, sparse = TRUE)), expected, tolerance = 1e-12)
  expect_equal(predict(fit, new[, 12:1]), expected, tolerance = 1e-12)
  # a problem has means of its own, which are not those of the fit
  other <- as_problem(rbind(new, complete[1:5, ]), y[1:14], missing = "mean")
  expect_equal(predict(fit, other)[1:9], expected, tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(model.matrix(fit, new)[, -1], replaced(new, means)[, selected(fit)],
               tolerance = 1e-12)
  plain <- greedy_rls(complete, y, k = 3, lambda = 1, size = 3)
  expect_warning(predicted <- predict(plain, new), class = "sparsels_warning_missing")
  expect_true(is.na(predicted[[3]]))
})

test_that("saved fits predict, and problems of before have no means", {
  fit <- greedy_rls(x, y, k = 3, lambda = 1, size = 3, missing = "mean")
  expect_null(fit$problem$gaps)
  path <- tempfile()
  on.exit(unlink(path))
  saveRDS(fit, path)
  expect_identical(predict(readRDS(path), x), predict(fit, x))
  old <- as_problem(complete, y)
  expect_false(any(c("mean", "missing") %in% names(old$columns)))
  fitted <- greedy_rls(old, k = 3, lambda = 1, size = 3)
  expect_identical(fitted$fitted, greedy_rls(complete, y, k = 3, lambda = 1, size = 3)$fitted)
  expect_true(verify(fitted, complete)$ok)
  edited <- as_problem(x, y, missing = "mean")
  edited$columns$mean <- NULL
  expect_error(edited[1:9, ], "`columns`", class = "sparsels_error_object")
})

test_that("factors have no mean", {
  frame <- data.frame(x, kind = rep(c("a", "b", "c"), length.out = m))
  formulas <- list(y ~ ., y ~ g1 + kind, y ~ g2 + g1:kind, y ~ g1 * g2)
  expect_identical(lapply(formulas, function(formula) {
    coded_columns(as_problem(formula, data.frame(y, complete, kind = frame$kind))$coding$design)
  }), list(rep(c(FALSE, TRUE), c(n, 2)), c(FALSE, TRUE, TRUE), c(FALSE, TRUE, TRUE, TRUE),
           logical(3)))
  fit <- greedy_rls(frame, y, k = 5, lambda = 1, size = 5, missing = "mean", start = "kindb")
  expect_true("kindb" %in% selected(fit))
  new <- frame[1:4, ]
  new$g2[1] <- NA
  new$kind[2] <- NA
  expect_warning(predicted <- predict(fit, new), class = "sparsels_warning_missing")
  expect_identical(unname(is.na(predicted)), c(FALSE, TRUE, FALSE, FALSE))
  frame$kind[c(4, 9)] <- NA
  expect_snapshot({
    refusal(as_problem(y ~ g1:kind, data.frame(y, frame), missing = "mean"))
  })
})

test_that("every method takes them", {
  whole <- as_problem(by_hand(x), y)
  pb <- as_problem(x, y, missing = "mean")
  gaussian <- kernel_gaussian(0.1)
  same <- function(fit, other) expect_equal(fit$fitted, other$fitted, tolerance = 1e-8)
  same(kernel_rls(pb, lambda = 1, kernel = gaussian),
       kernel_rls(whole, lambda = 1, kernel = gaussian))
  same(rls(pb), rls(whole))
  same(forward_regression(pb, k = 3), forward_regression(whole, k = 3))
  same(best_subset(pb, k = 3), best_subset(whole, k = 3))
  same(l1_path(pb, nlambda = 5), l1_path(whole, nlambda = 5))
  expect_true(verify(kernel_rls(pb, lambda = 1, kernel = gaussian), x)$ok)
  expect_true(verify(rls(x, y, missing = "mean"), x, y, missing = "mean")$ok)
  expect_true(verify(rls(x, y, missing = "mean"), x, y)$ok)
  expect_true(verify(forward_regression(pb), pb)$ok)
  expect_equal(predict(kernel_rls(pb, lambda = 1, kernel = gaussian), x),
               kernel_rls(whole, lambda = 1, kernel = gaussian)$fitted[, 1], tolerance = 1e-8)
  lambda <- 0.7 * lambda_max(pb)
  expect_equal(safe_screen(pb, lambda = lambda)$bounds,
               safe_screen(function(columns) x[, columns], y, columns = colnames(x),
                           lambda = lambda, missing = "mean")$bounds, tolerance = 1e-12)
})

test_that("outer loops replace by the means of their training rows", {
  pb <- as_problem(x, y, missing = "mean")
  chosen <- list()
  method <- function(problem, ...) {
    chosen[[length(chosen) + 1L]] <<- problem
    greedy_rls(problem, k = 2, lambda = 3, size = 2)
  }
  # the rows of a part are told by their responses
  expect_own_means <- function(problem) {
    expect_completed(problem, x[match(problem$rows$y[, 1], y), ])
  }
  set.seed(1)
  stability_selection(pb, method, pairs = 2, progress = FALSE)
  expect_gt(length(chosen), 3L)
  for (problem in chosen) expect_own_means(problem)
  chosen <- list()
  learning_curve(pb, method, sizes = c(20, 25, 30), repeats = 2, progress = FALSE)
  expect_gt(length(chosen), 5L)
  for (problem in chosen) expect_own_means(problem)
  splits <- compare_methods(pb, methods = list(all = function(problem) {
    greedy_rls(problem, k = 2, lambda = 3, size = 2)
  }), splits = 2, measure = "squared", progress = FALSE)
  for (split in 1:2) {
    rows <- splits$training_rows[[split]]
    test <- splits$test_rows[[split]]
    fit <- greedy_rls(by_hand(x[rows, ]), y[rows], k = 2, lambda = 3, size = 2)
    error <- function(rows, x) mean((y[rows] - predict(fit, x))^2)
    of_test <- replaced(x[test, ], means_by_hand(x[rows, ]))
    expect_equal(unname(splits$scores[split, 1, ]),
                 c(error(rows, by_hand(x[rows, ])), error(test, of_test)), tolerance = 1e-10)
  }
})

test_that("print() and summary() count them, and errors name the place", {
  before <- options(width = 100)
  on.exit(options(before))
  wide <- matrix(rnorm(40 * 60), 40)
  wide[1:39, 1:30] <- NA
  wide[1:31, 31] <- NA
  set.seed(2)
  response <- rnorm(40)
  pb <- as_problem(wide, response, missing = "mean")
  expect_output(print(pb), "1,201 missing values in 31 columns, replaced by column means",
                fixed = TRUE)
  d <- data.frame(a = response, f = rep(c("u", "v", NA, "w"), 10))
  expect_output(print(as_problem(d, response, missing = "mean")),
                "\nmissing values of f: a level 'missing'\n", fixed = TRUE)
  d$f[is.na(d$f)] <- "missing"
  expect_no_match(capture.output(print(as_problem(d, response))), "missing")
  one <- complete
  one[2, 3] <- NA
  pb <- as_problem(one, y, missing = "mean")
  expect_identical(summary(pb)$result$columns$missing, pb$columns$missing)
  infinite <- x
  infinite[5, c(2, 4)] <- c(Inf, -Inf)
  huge <- x * 1e200
  expect_snapshot({
    print(pb)
    print(summary(pb))
    refusal(as_problem(x, y))
    refusal(as_problem(infinite, y, missing = "mean"))
    refusal(as_problem(methods::as(infinite, "CsparseMatrix"), y, missing = "mean"))
    refusal(as_problem(huge, y, missing = "mean"))
    refusal(as_problem(x, y, missing = "median"))
    refusal(as_problem(pb, missing = "mean"))
    refusal(as_problem(y ~ ., data.frame(y, x)))
    refusal(as_problem(x, replace(y, 2, NA), missing = "mean"))
  })
})

test_that("matrices read in place carry the means, to the bits of the same values in memory", {
  whole <- round(4 * x)
  forms <- list(
    float = float_matrix(whole), double = write_file_matrix(whole, tempfile()),
    single = write_file_matrix(whole, tempfile(), "float"),
    integer = write_file_matrix(whole, tempfile(), "int32")
  )
  w <- rep(c(0, 1, 2), length.out = m)
  memory <- as_problem(whole, y, weights = w, missing = "mean")
  fit <- greedy_rls(memory, k = 3, lambda = 1, size = 2)
  path <- l1_path(whole, y, nlambda = 5, missing = "mean")
  others <- function(x) {
    problem <- as_problem(x, y, weights = w, missing = "mean")
    outer <- cross_validate(problem, greedy_rls, k = 3, lambda = 1, size = 2,
                            outer = rep(1:2, length.out = m), baselines = NULL)
    list(safe_screen(x, y, lambda = 5, missing = "mean")$bounds,
         forward_regression(problem, k = 3)$fitted, rls(x, y, missing = "mean")$fitted,
         outer$held_out)
  }
  of_memory <- others(whole)
  for (form in names(forms)) {
    it <- forms[[form]]
    pb <- as_problem(it, y, weights = w, missing = "mean")
    expect_true(is_read_in_place(pb$x), info = form)
    expect_identical(pb$columns, memory$columns, info = form)
    expect_identical(pb$x[3:9, c(7, 2)], memory$x[3:9, c(7, 2)])
    expect_identical(as.matrix(it), whole)
    rows <- c(9:30, 9)
    expect_equal(pb[rows, 3:8], memory[rows, 3:8])
    expect_identical(reweighted(pb, rev(w))$columns$mean, reweighted(memory, rev(w))$columns$mean)
    found <- greedy_rls(pb, k = 3, lambda = 1, size = 2)
    for (field in c("path", "coefficients", "held_out", "fitted")) {
      expect_identical(found[[field]], fit[[field]], info = paste(form, field))
    }
    expect_identical(predict(found, it), predict(fit, whole))
    expect_true(verify(found, it, claims = 10)$ok)
    in_place <- l1_path(it, y, nlambda = 5, missing = "mean")
    expect_identical(in_place$fitted, path$fitted)
    expect_identical(in_place$path, path$path)
    expect_equal(others(it), of_memory, tolerance = 1e-10)
  }
  expect_snapshot(refusal(as_problem(float_matrix(replace(whole, 5, Inf)), y, missing = "mean")))
})

test_that("rows with missing values are left out of any kind of data", {
  set.seed(1)
  x <- matrix(rnorm(200), 40)
  full <- x[, 1] + rnorm(40) / 3
  y <- replace(full, c(3, 7), NA)
  expect_error(as_problem(x, y), "`y` has 2 missing .*: `na.action = na.omit` leaves out rows")
  wanted <- rls(x[-c(3, 7), ], full[-c(3, 7)], lambda = 1)
  fit <- rls(x, y, na.action = na.omit, lambda = 1)
  expect_equal(coef(fit), coef(wanted))
  expect_output(print(fit), "left out: 2 rows with missing values \\(3, 7\\)")
  # arguments with a value for each row follow
  d <- data.frame(batch = replace(rep(c("u", "v"), 20), 5, NA), patient = rep(1:20, 2))
  p <- as_problem(x, y, na.action = na.omit, adjust = "batch", data = d, groups = "patient",
                  weights = 1:40)
  expect_equal(p$rows$weight, (1:40)[-c(3, 5, 7)])
  expect_equal(p$z[, 2], as.double(d$batch[-c(3, 5, 7)] == "v"))
  expect_identical(as.integer(as.character(p$rows$group)), d$patient[-c(3, 5, 7)])
  folds <- rep(1:4, 10)
  by_row <- suppressMessages(greedy_rls(p, folds = d$patient, k = 2))
  expect_identical(nrow(by_row$folds$ids), 37L)
  # missing values of x count, unless they are replaced
  gap <- replace(x, 9, NA)
  expect_identical(dim(as_problem(gap, y, na.action = na.omit)), c(37L, 5L))
  expect_identical(dim(as_problem(gap, y, na.action = na.omit, missing = "mean")), c(38L, 5L))
  expect_identical(dim(as_problem(data.frame(gap), y, na.action = "na.omit")), c(37L, 5L))
  # a formula and verify() know this, too
  frame <- data.frame(y, gap, batch = d$batch)
  by_formula <- rls(y ~ . - batch, frame, adjust = batch, na.action = na.omit, missing = "mean",
                    lambda = 1)
  expect_identical(names(na.action(by_formula$problem)), c("3", "5", "7"))
  expect_equal(coef(by_formula), ignore_attr = "names", coef(rls(
    gap, y, adjust = d$batch, na.action = na.omit, missing = "mean", lambda = 1
  )))
  expect_true(verify(by_formula, y ~ . - batch, frame, adjust = ~ batch)$ok)
  # a matrix that is read in place has rows of weight 0
  p <- as_problem(float_matrix(x), factor(y > 0), na.action = na.omit)
  expect_identical(which(p$rows$weight == 0), c(3L, 7L))
  single <- x
  single[] <- float_matrix(x)[, ]
  fit <- greedy_rls(float_matrix(x), y, na.action = na.omit, lambda = 1, size = 2)
  weights <- replace(rep(1, 40), c(3, 7), 0)
  expect_equal(coef(fit), coef(greedy_rls(single, full, weights = weights, lambda = 1, size = 2)))
  expect_error(as_problem(x, NA * y, na.action = na.omit), "leaves 0 rows")
  empty <- data.frame(y = c(1, 3, 2), a = c(2, 1, 4), never = NA_real_)
  for (x_of in list(y ~ ., y ~ a + never, y ~ log(a) + never)) {
    expect_error(rls(x_of, empty, na.action = na.omit), "leaves 0 rows",
                 class = "sparsels_error_input")
  }
})

test_that("a function as `missing` is refused by name", {
  expect_error(as_problem(diag(4), 1:4, missing = identity), "`missing`",
               class = "sparsels_error_argument")
})

test_that("missing values of a factor are counted once, with the way to keep them", {
  d <- data.frame(y = c(1, 3, 2, 5, 4, 6), g = c("a", NA, "b", "c", NA, "c"), z = c(2, 1, NA, 4:6))
  for (formula in list(y ~ ., y ~ g + log(z))) {
    expect_error(rls(formula, d), "3 missing .*row 2, column 'g'.*a level of factors",
                 class = "sparsels_error_input")
  }
  d$g <- addNA(d$g)
  fit <- rls(y ~ g + z, d, missing = "mean")
  expect_no_warning(again <- predict(fit, d))
  expect_equal(again, fitted(fit), ignore_attr = TRUE)
  expect_error(as_problem(data.frame(z = 1:6, m = I(diag(6))), d$y), "y ~ . takes matrices",
               fixed = TRUE, class = "sparsels_error_input")
})

test_that("new rows whose infinite values have no prediction are NA, by columns and by kernels", {
  set.seed(7)
  x <- matrix(rnorm(120), 40, dimnames = list(paste0("s", 1:40), letters[1:3]))
  y <- x[, 1] - x[, 2] + rnorm(40) / 3
  level <- cut(y, 3, labels = c("lo", "mid", "hi"))
  new <- x[1:4, ]
  new[2, 2] <- NA
  new[3, ] <- Inf
  kernel <- kernel_gaussian(0.1)
  fits <- list(greedy_rls(x, y), rls(x, y), greedy_rls(x, level), kernel_rls(x, y, kernel = kernel),
               lssvm(x, factor(y > 0), kernel = kernel))
  for (fit in fits) {
    expect_warning(found <- predict(fit, new),
                   "missing or infinite values in 2 rows (first: row 2): NA is predicted",
                   fixed = TRUE, class = "sparsels_warning_missing")
    found <- as.matrix(found)
    expect_true(all(is.na(found[2:3, ])) && !any(is.nan(found)))
    expect_equal(found[c(1, 4), ], as.matrix(predict(fit, x))[c(1, 4), ])
  }
})

test_that("variables that a formula does not have count for nothing, whatever names the data", {
  set.seed(5)
  d <- data.frame(matrix(rnorm(120), 30, dimnames = list(NULL, c("y", "a", "b", "idle"))))
  d$w <- runif(30)
  d$patient <- rep(1:10, 3)
  d$idle[1:4] <- NA
  d$b[5] <- NA
  d$y[6] <- NA
  dimension <- function(...) dim(as_problem(..., na.action = na.omit))
  for (weights in list(quote(d$w), quote(w))) {
    expect_identical(eval(call("dimension", y ~ a + b, d, weights = weights)), c(28L, 2L))
  }
  expect_identical(dimension(d$y ~ a + b, d), c(28L, 2L))
  expect_identical(nrow(model.frame(lm(d$y ~ a + b, d, weights = d$w))), 28L)
  expect_identical(dimension(y ~ a + b, d, groups = d$patient, missing = "mean"), c(29L, 2L))
  fit <- forward_regression(d$y ~ a, d, k = 1, weights = d$w, na.action = na.omit)
  expect_equal(unname(coef(fit)), unname(coef(lm(y ~ a, d, weights = w))))
})
