# Every refusal of the front end, pinned: what it must be, what it was, where.

#' @srrstats {G5.2} snapshots in `tests/testthat/_snaps`. Errors, warnings and messages have classes
#' @srrstats {G5.2a} In part: a message that several functions share is written once, and therefore
#'   not unique
#' @srrstats {G5.2b} In part: arguments are covered one by one. Not every message has a test of its
#'   own
#' @srrstats {RE7.2} In part: as G5.2b
x <- cbind(TP53 = c(1, 2, 3, 4, 5), MYC = c(2, 1, 2, 1, 9))
y <- c(1, 3, 2, 5, 4)
d <- data.frame(x, y = y, g = c("a", "b", "a", "b", "c"))

test_that("conditions carry their classes and no call", {
  error <- tryCatch(stop_argument("no"), error = identity)
  expect_s3_class(error, c("sparsels_error_argument", "sparsels_error_input", "sparsels_error",
                           "error", "condition"), exact = TRUE)
  expect_null(conditionCall(error))
  warned <- tryCatch(warn_sparsels("careful", "sparsels_interrupted"), warning = identity)
  expect_s3_class(warned, c("sparsels_interrupted", "sparsels_warning", "warning", "condition"),
                  exact = TRUE)
})

test_that("values of x", {
  holes <- replace(x, cbind(c(4, 2, 5), c(1, 2, 2)), c(NA, Inf, NaN))
  expect_snapshot({
    refusal(as_problem(holes, y))
    refusal(as_problem(unname(holes[, 2, drop = FALSE]), y))
    refusal(as_problem(Matrix::Matrix(holes, sparse = TRUE), y))
    refusal(as_problem(as.data.frame(holes), y))
    refusal(as_problem(y ~ ., data = replace(d, "MYC", c(1, NA, 2, 3, 4))))
    refusal(as_problem(x[1, , drop = FALSE], 1))
    refusal(as_problem(x[, 0], y))
    refusal(as_problem(cbind(a = rep(0.1, 5), b = 0), y))
    refusal(as_problem(x[, 1, drop = FALSE], y, adjust = 2 * x[, 1]))
    refusal(as_problem(matrix(letters[1:10], 5), y))
    refusal(as_problem(matrix(1i, 5, 2), y))
    refusal(as_problem(1e200 * x, y))
  })
})

test_that("kinds and names of x", {
  expect_snapshot({
    refusal(as_problem(x[, 1], y))
    refusal(as_problem(NULL, y))
    refusal(as_problem(list(1, 2), y))
    refusal(as_problem(mean, y))
    refusal(as_problem("x.csv", y))
    refusal(as_problem(array(0, c(2, 2, 2)), y))
    refusal(as_problem(x[, c(1, 2, 1)], y))
    refusal(as_problem(`names<-`(data.frame(x), c("a", NA)), y))
    refusal(as_problem(data.frame(day = as.Date("2020-01-01") + 0:4), y))
    refusal(as_problem(list2DF(list(m = x)), y))
    refusal(as_problem(as_problem(x, y), weights = 1:5, intercept = FALSE))
  })
})

test_that("texts that are none in their encoding", {
  skip_if_not(l10n_info()[["UTF-8"]])
  bad <- c("CRP (\xb5g)", "age")
  y <- c(1, 2, 4, 3, 5)
  told <- function(code) {
    expect_error(code, "is no text in the encoding of this session .*CRP \\(.xb5g\\)",
                 class = "sparsels_error_input")
  }
  z <- structure(x, dimnames = list(NULL, bad))
  frame <- stats::setNames(as.data.frame(unname(x)), bad)
  told(as_problem(z, y))
  told(as_problem(frame, y))
  told(as_problem(y ~ ., cbind(frame, y = y)))
  told(as_problem(y ~ age, cbind(frame, y = y)))
  told(as_problem(x, y, adjust = z))
  told(as_problem(x, z))
  told(as_problem(x, factor(bad[c(1, 2, 1, 2, 2)])))
  told(as_problem(x, bad[c(1, 2, 1, 2, 2)]))
  told(as_problem(data.frame(f = factor(bad[c(1, 2, 1, 2, 2)], rev(bad))), y))
  told(as_problem(structure(x, dimnames = list(bad[c(1, 2, 2, 2, 2)], NULL)), y))
  latin <- "CRP (\xb5g)"
  Encoding(latin) <- "latin1"
  expect_identical(as_problem(structure(x, dimnames = list(NULL, c(latin, "age"))),
                              y)$columns$name[1], "CRP (\u00b5g)")
})

test_that("responses", {
  expect_snapshot({
    refusal(as_problem(x))
    refusal(as_problem(x, y[-1]))
    refusal(as_problem(x, replace(y, 2:3, NA)))
    refusal(as_problem(x, factor(c("a", NA, "b", "a", "b"))))
    refusal(as_problem(x, rep(7.25, 5)))
    refusal(as_problem(x, cbind(0 * y, 1)))
    refusal(as_problem(x, rep("tumour", 5)))
    refusal(as_problem(x, rep(TRUE, 5)))
    refusal(as_problem(x, y, task = "class"))
    refusal(as_problem(x, letters[1:5], task = "regression"))
    refusal(as_problem(x, d$g == "a", task = "regression"))
    refusal(as_problem(x, cbind(y, x), task = "classification"))
    refusal(as_problem(x, as.Date("2020-01-01") + 0:4))
    refusal(as_problem(x, list(1, 2, 3, 4, 5)))
    refusal(as_problem(x, d[c("y", "g")]))
    refusal(as_problem(g ~ TP53, data = replace(d, "g", "a")))
  })
})

test_that("formulas", {
  expect_snapshot({
    refusal(as_problem(y ~ TP53, data = d, adjust = ~ 0 + MYC))
    refusal(as_problem(y ~ 0, data = d))
    refusal(as_problem(y ~ TP53 - offset(MYC), data = d))
    refusal(as_problem(~TP53, data = d))
    refusal(as_problem(y ~ ., y, data = d))
    refusal(as_problem(y ~ .))
    refusal(as_problem(y ~ nothere, data = d))
    refusal(as_problem(nothere ~ TP53, data = d))
    refusal(as_problem(y ~ TP53, data = x))
    refusal(as_problem(y ~ 1, data = d))
    refusal(as_problem(y ~ TP53:one, data = cbind(d, one = "k")))
  })
})

test_that("formulas that R cannot read or compute", {
  data <- data.frame(y = c(1, 2, 4, 3, 5), a = 1:5)
  told <- function(code, words) expect_error(code, words, class = "sparsels_error_input")
  told(as_problem(y ~ NULL, data), "NULL")
  told(as_problem(y ~ NA, data), "no valid right side")
  told(as_problem(y ~ a, data, adjust = ~NA), "no valid right side")
  told(as_problem(y ~ no_such(a), data), "no function 'no_such'")
  told(as_problem(no_such(y) ~ a, data), "could not find function")
  told(as_problem(stats::setNames(data, c(NA, "a")), 1:5), "1 column without a name")
})

test_that("weights and covariates", {
  expect_snapshot({
    refusal(as_problem(x, y, weights = c(1, 1, -1, 1, 1)))
    refusal(as_problem(x, y, weights = c(0, 0, 1, 0, 0)))
    refusal(as_problem(x, y, weights = rep(0, 5)))
    refusal(as_problem(x, c(1, 1, 2, 1, 3), weights = c(1, 1, 0, 1, 0)))
    refusal(as_problem(x, y, weights = c(1, NA, 1, 1, 1)))
    refusal(as_problem(x, y, weights = c(1, 1)))
    refusal(as_problem(x, y, weights = "equal"))
    refusal(as_problem(x, y, adjust = 1:4))
    refusal(as_problem(x, y, adjust = c(1, 2, NA, 4, Inf)))
    refusal(as_problem(x, y, adjust = letters[1:5]))
    refusal(as_problem(x, y, adjust = cbind(u = y, v = y + 1)))
    refusal(as_problem(x, y, adjust = cbind(u = y, u = y^2)))
    refusal(as_problem(x, y, adjust = rep(3, 5)))
    refusal(as_problem(x, y, adjust = g ~ y))
    refusal(as_problem(x, y, adjust = ~absent))
    refusal(as_problem(x, y, intercept = NA))
    refusal(as_problem(x, y, standardize = "yes"))
  })
})

test_that("unknown and unnamed arguments", {
  fitter <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = NULL) {
    fitter_problem("greedy_rls", x, y, ..., data = data)
  }
  expect_snapshot({
    refusal(fitter(x, y, lamda = 1))
    refusal(fitter(x, y, weight = 1:5))
    refusal(fitter(x, y, K = 3))
    refusal(fitter(x, y, bootstrap = TRUE))
    refusal(fitter(x, y, 20))
    refusal(as_problem(x, y, standardise = FALSE))
    refusal(make_folds(6, 3, group = 1:6))
  })
})

test_that("tuning arguments", {
  expect_snapshot({
    refusal(check_count(0, "k", 24, "the number of usable columns"))
    refusal(check_count(2.5, "k"))
    refusal(check_count(NA, "keep", lower = 0L))
    refusal(check_count("ten", "threads"))
    refusal(check_flag(NULL, "progress"))
    refusal(check_choice("fwd", "search", c("forward", "backward")))
    refusal(check_choice(factor("a"), "rule", "min"))
    refusal(check_lambda(c(1, 0)))
    refusal(check_lambda(NaN))
    refusal(check_lambda("auto"))
    refusal(check_lambda(numeric()))
  })
  expect_identical(check_count(3, "k"), 3L)
  expect_identical(check_choice("a", "rule", c("a", "b")), "a")
  expect_false(check_flag(FALSE, "progress"))
  expect_identical(check_lambda(1:2), c(1, 2))
  expect_null(check_lambda(NULL))
})

test_that("folds", {
  expect_snapshot({
    refusal(make_folds(6, 1))
    refusal(make_folds(6, 7))
    refusal(make_folds(6, 2.5))
    refusal(make_folds(1, "loo"))
    refusal(make_folds(1:6, 2))
    refusal(make_folds("six", 2))
    refusal(make_folds(6, 1:5))
    refusal(make_folds(6, rep("a", 6)))
    refusal(make_folds(6, c(1, 2, NA, 1, 2, NA)))
    refusal(make_folds(6, "lou"))
    refusal(make_folds(6, NULL))
    refusal(make_folds(6, list()))
    refusal(make_folds(6, list(1:6, 1:5)))
    refusal(make_folds(6, 4, groups = c(1, 1, 2, 2, 3, 3)))
    refusal(make_folds(6, "loo", groups = rep(1, 6)))
    refusal(make_folds(6, 2, groups = 1:3))
    refusal(make_folds(6, 2, strata = list(1)))
    refusal(make_folds(6, "loo", strata = 1:6))
    refusal(make_folds(6, "loo", repeats = 2))
    refusal(make_folds(6, 3, repeats = 0))
    refusal(make_folds(6, c(1, 1, 2, 2, 3, 3), groups = 1:6, repeats = 2))
    refusal(make_folds(5, make_folds(6, "loo")))
  })
})

test_that("rsample objects that are no partition", {
  skip_if_not_installed("rsample")
  expect_error(make_folds(rsample::bootstraps(mtcars, 2)), "hold out each row exactly once",
               class = "sparsels_error_input")
  expect_error(make_folds(31, rsample::vfold_cv(mtcars, 4)), "each of the 31 rows, not 32")
})

test_that("parts of a problem", {
  pb <- as_problem(x, y)
  expect_snapshot({
    refusal(pb[1])
    refusal(pb[6, ])
    refusal(pb[, "BRCA1"])
    refusal(pb["s1", ])
    refusal(pb[0, ])
    refusal(pb[, -(1:2)])
    refusal(pb[, c(1, 1)])
    refusal(pb[c(TRUE, FALSE), ])
    refusal(pb[c(-1, 2), ])
    refusal(pb[c(0, 1, 9), ])
    refusal(pb[NA, ])
    refusal(pb[, list(1)])
    refusal(without_x(pb)[1, ])
  })
})

test_that("new data", {
  pb <- as_problem(x, y)
  wide <- as_problem(matrix(as.double(1:35 %% 11), 5, dimnames = list(NULL, LETTERS[1:7])), y)
  frame <- as_problem(y ~ TP53 + g, data = d)
  rich <- as_problem(y ~ log(TP53) * g, data = d)
  adjusted <- as_problem(y ~ TP53, data = d, adjust = ~MYC)
  by_matrix <- as_problem(x, y, adjust = cbind(u = c(3, 1, 2, 2, 4), v = c(1, 0, 0, 2, 0)))
  expect_snapshot({
    refusal(new_data_matrix(pb, x[1, ], 1))
    refusal(new_data_matrix(pb, NULL, 1))
    refusal(new_data_matrix(pb, x[, "MYC", drop = FALSE], 1:2))
    refusal(new_data_matrix(wide, x, 1:7))
    refusal(new_data_matrix(pb, unname(x[, 1, drop = FALSE]), 1))
    refusal(new_data_matrix(pb, x[, c(1, 1)], 1))
    refusal(new_data_matrix(pb, data.frame(TP53 = "high", MYC = 1), 1))
    refusal(new_data_matrix(pb, matrix("high", 1, 2, dimnames = dimnames(x)), 1))
    refusal(new_data_matrix(frame, data.frame(TP53 = 1, g = "z"), 1:3))
    refusal(new_data_matrix(frame, data.frame(g = "a"), 1))
    refusal(new_data_matrix(rich, data.frame(TP53 = 1, g = "z"), 1:3))
    refusal(new_data_matrix(rich, data.frame(g = "a"), 1))
    refusal(new_covariates(pb, x, adjust = 1:5))
    refusal(new_covariates(adjusted, x))
    refusal(new_covariates(adjusted, d["TP53"]))
    refusal(new_covariates(adjusted, x, adjust = y))
    refusal(new_covariates(adjusted, x, adjust = d[1:2, ]))
    refusal(new_covariates(by_matrix, x))
    refusal(new_covariates(by_matrix, x, adjust = cbind(u = y)))
  })
})

test_that("a fold that holds a whole batch", {
  pb <- as_problem(x, y, adjust = data.frame(batch = c("a", "a", "a", "b", "b")))
  expect_snapshot(refusal(refuse_lost_covariates(pb, as_folds(c(1, 1, 2, 3, 3), pb))))
})

test_that("parts that are not there, and numbers beyond their range", {
  given <- structure(list(), class = c("vfold_cv", "rset", "data.frame"))
  expect_snapshot({
    refusal(as_problem(x, x[, 0]))
    refusal(as_problem(x, d[, 0]))
    refusal(as_problem(x, y, adjust = x[, 0]))
    refusal(as_problem(x, y, adjust = d[, 0]))
    refusal(as_problem(x, y, adjust = ~1))
    refusal(as_problem(x, y, adjust = 1e200 * y))
    refusal(as_problem(x, y, adjust = cbind(age = 1e200 * y)))
    refusal(as_problem(y ~ ., data = structure(list(), class = "data.frame")))
    refusal(as_problem(x, y)[1i, ])
    refusal(as_problem(x, y)[, as.raw(1)])
    refusal(as_problem(x, y)[, as.Date("2020-01-01")])
    refusal(make_folds(Inf))
    refusal(make_folds(2^53))
    refusal(make_folds(3, list(1:3, NULL)))
    refusal(make_folds(4, matrix(list(), 2, 2)))
    refusal(as_folds(given, as_problem(x, y)))
  })
})

test_that("sparse new data keep the class of a refusal", {
  sparse <- function(x) methods::as(x, "CsparseMatrix")
  fit <- bare_rls(unname(x), y, k = 1, lambda = 1)
  expect_snapshot({
    refusal(predict(fit, sparse(x[, 1, drop = FALSE])))
    refusal(predict(rls(x, y), sparse(x[, 1, drop = FALSE])))
    refusal(kernel_rls(x, y, kernel = kernel_linear(), basis = sparse(cbind(x[, 1]))))
  })
})

test_that("arguments of other packages are answered by what is given here", {
  x <- matrix(rnorm(60), 20)
  y <- rnorm(20)
  expect_error(greedy_rls(x, y, seed = 1), "set.seed", class = "sparsels_error_argument")
  expect_error(greedy_rls(x, y, family = "gaussian"), "`loss` the rest")
  expect_error(rls(x, y, lower = 0), "no bounds")
  expect_error(cross_validate(x, y, rls, K = 5), "`outer` and `folds`")
  expect_error(cross_validate(x, y, rls, measure = function(y, p) 0), "`criterion` or `measure`")
  expect_error(rls(x, y, metric = "auc"), "`criterion` of a search")
  expect_error(best_subset(x, y, force.in = 1), "`adjust` names columns")
  expect_error(l1_path(x, y, trace.it = 1), "it is `progress`")
  # R alone would take it for `sigma2`, which is its inverse
  expect_error(kernel_gaussian(sigma = 0.1), "`gamma`", class = "sparsels_error_argument")
  fit <- greedy_rls(x, y, size = 1)
  expect_error(predict(fit, x, se.fit = TRUE), "interval = \"prediction\"")
  expect_error(anova(fit), "compare_methods", class = "sparsels_error_input")
  expect_error(plot(fit, what = "importance"), "`what` must be",
               class = "sparsels_error_argument")
})

test_that("a column with another value in every row may be the names of the rows", {
  frame <- data.frame(id = paste0("s", 1:20), a = rnorm(20))
  expect_message(as_problem(frame, rnorm(20)), "'id' of `x` has another value in every row",
                 class = "sparsels_message_names")
  expect_message(as_problem(rnorm(20) ~ ., frame), "'id' of `data` has another value in every row",
                 class = "sparsels_message_names")
  expect_silent(as_problem(transform(frame, id = rep_len(letters[1:19], 20)), rnorm(20)))
})

test_that("a column of few rows for each level may be the subjects", {
  frame <- data.frame(id = paste0("s", rep(1:25, each = 3)), a = rnorm(75))
  said <- "'id' of `%s` has 25 levels in 75 rows.*`groups = \"id\"`"
  expect_message(as_problem(frame, rnorm(75)), sprintf(said, "x"),
                 class = "sparsels_message_subjects")
  for (formula in list(rnorm(75) ~ ., rnorm(75) ~ id + log(a^2))) {
    expect_message(as_problem(formula, frame), sprintf(said, "data"),
                   class = "sparsels_message_subjects")
  }
  expect_message(as_problem(rnorm(75) ~ ., transform(frame, plate = paste0("p", 1:75 %/% 2))),
                 "'id', 'plate' of `data` have 25 to 38 levels in 75 rows")
  # levels of many rows, and levels that no row has
  frame$id <- factor(rep_len(1:12, 75), 1:70)
  expect_silent(as_problem(rnorm(75) ~ ., frame, groups = NULL))
  expect_silent(as_problem(rnorm(150) ~ ., data.frame(id = rep(1:25, 6), a = rnorm(150))))
})

test_that("a column of numbers as text is said, in frames and formulas", {
  set.seed(1)
  frame <- data.frame(a = rnorm(20), b = as.character(rnorm(20)))
  for (text in list(frame$b, factor(frame$b))) {
    frame$b <- text
    expect_message(as_problem(frame, rnorm(20)), "'b' of `x` is text of numbers",
                   class = "sparsels_message_numbers")
    expect_message(as_problem(rnorm(20) ~ a + b, data = frame), "'b' of .* is text of numbers",
                   class = "sparsels_message_numbers")
  }
  expect_silent(as_problem(transform(frame, b = rep_len(1:10, 20)), rnorm(20)))
})
