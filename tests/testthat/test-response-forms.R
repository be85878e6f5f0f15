# The forms in which a response and columns are given, and what is said about them.

example_rows <- function(m = 20, n = 5) {
  set.seed(1)
  matrix(rnorm(m * n), m)
}

test_that("samples in columns are recognised", {
  x <- example_rows(100, 20)
  expect_error(as_problem(x, factor(rep(c("a", "b"), 10))),
               "rows of `x`, not 20: its 20 columns may be the samples, then give t\\(x\\)")
  expect_error(as_problem(x, rnorm(19)), "of `x`, not 19$")
})

test_that("integer64 are numbers", {
  skip_if_not_installed("bit64")
  x <- example_rows()
  y <- c(-2^40, 3, -5, 7, 2^33, rep(c(12345, -99999, 0), 5))
  long <- bit64::as.integer64(y)
  expect_identical(doubles_of(long), y)
  expect_identical(doubles_of(bit64::as.integer64(c(NA, 1))), c(NA, 1))
  expect_equal(as_problem(x, long)$rows$y[, 1], y)
  expect_equal(as_problem(y ~ ., data.frame(y = long, x))$rows$y[, 1], y)
  w <- rep(1:2, 10)
  expect_equal(as_problem(x, y, weights = bit64::as.integer64(w))$rows$weight, w)
  expect_equal(as_problem(x, x[, 1], offset = long)$rows$offset[, 1], y)
  expect_equal(as_problem(data.frame(a = long, x), x[, 1])$x[, "a"], y)
  classes <- as_problem(x, bit64::as.integer64(w), task = "classification")
  expect_identical(classes$coding$levels, c("1", "2"))
  expect_equal(as_problem(x, x[, 1], adjust = data.frame(long))$z[, 2], y)
})

test_that("integer64 beside other numbers of a data frame are numbers", {
  skip_if_not_installed("bit64")
  x <- example_rows()
  d <- data.frame(n = round(100 * x[, 1]) + 300, u = x[, 2], v = x[, 3])
  long <- transform(d, n = bit64::as.integer64(n))
  alike <- function(of) expect_equal(of(long), of(d))
  alike(function(d) as_problem(x, d[1:2])$rows$y)
  alike(function(d) as_problem(x, x[, 1:2], offset = d[1:2])$rows$offset)
  # a product or a matrix with integer64 is rounded
  for (formula in list(cbind(n, u) ~ v, u ~ I(v * n), u ~ v + splines::ns(n, 3), u ~ n:v)) {
    alike(function(d) coef(rls(formula, d, lambda = 1)))
    alike(function(d) unname(predict(rls(formula, d, lambda = 1), long)))
  }
})

test_that("tibbles keep the classes of a factor in I()", {
  skip_if_not_installed("tibble")
  # vctrs takes rows of such a factor as integers
  d <- tibble::tibble(y = I(factor(rep(c("a", "b"), 10))), a = example_rows()[, 1])
  expect_identical(as_problem(y ~ a, d, subset = 1:15)$coding$levels, c("a", "b"))
})

test_that("numbers and text with a class of their own are what they are", {
  x <- example_rows()
  # as.double(), `==` and unique() may have no method of the class
  labelled <- function(values) {
    structure(values, labels = c(no = values[1], yes = values[2]), class = c("labelled", "strict"))
  }
  registerS3method("as.double", "strict", function(x, ...) stop("no method"))
  registerS3method("unique", "strict", function(x, ...) stop("no method"))
  codes <- rep(c(1, 2, 2, 1), 5)
  for (values in list(codes, as.integer(codes), as.character(codes))) {
    plain <- data.frame(y = x[, 1], a = values, b = x[, 2])
    own <- plain
    own$a <- labelled(values)
    expect_identical(as_problem(y ~ ., own)$x, as_problem(y ~ ., plain)$x)
    fit <- greedy_rls(own[-1], own$y, k = 2, lambda = 1, size = 2)
    expect_identical(predict(fit, own), predict(fit, plain))
    expect_identical(as_problem(x, labelled(values), task = "classification")$rows,
                     as_problem(x, values, task = "classification")$rows)
  }
})

test_that("what is no vector of numbers is refused with the way to one", {
  x <- example_rows()
  y <- x[, 1]
  refused <- function(call, with) expect_error(call, with, class = "sparsels_error_input")
  refused(as_problem(x, complex(20, y)), "Re\\(\\) or Mod\\(\\) makes numbers of it")
  refused(as_problem(x, Matrix::Matrix(y)), "as.vector\\(\\) makes a vector of it")
  refused(as_problem(x, rbind(y, y)), "its 20 columns may be the samples, then give t\\(y\\)")
  refused(as_problem(x, cbind(y > 0, y > 1)), "not a logical matrix.*: adding 0 makes numbers")
  expect_identical(dim(as_problem(x, cbind(y > 0, y > 1) + 0)$rows$y), c(20L, 2L))
  written <- format(cbind(y, -y))
  refused(as_problem(x, written), "type.convert\\(, as.is = TRUE\\) makes numbers")
  expect_identical(dim(as_problem(x, type.convert(written, as.is = TRUE))$rows$y), c(20L, 2L))
  refused(as_problem(x, y, adjust = rbind(y, 1 / y)), "20 rows, .* not 2: give t\\(adjust\\)")
  frame <- "as.data.frame\\(as.matrix\\(\\)\\) makes a data frame of it"
  text <- cbind(rep(c("a", "b"), 10), rep(c("c", "d"), each = 10))
  for (z in list(text, Matrix::Matrix(x[, 1:2], sparse = TRUE))) {
    refused(as_problem(x, y, adjust = z), frame)
  }
  refused(as_problem(x, y, adjust = list(x[, 1])), "as.data.frame\\(\\) makes a data frame of it")
  expect_identical(colnames(as_problem(x, y, adjust = as.data.frame(text))$z)[-1L], c("V1b", "V2d"))
  resamples <- structure(list(), class = c("vfold_cv", "rset", "data.frame"))
  refused(as_problem(resamples, y), "give these as `folds`, their data as `x`")
  refused(as_problem(as.list(data.frame(x)), y), "do.call\\(cbind, x\\) makes a matrix")
  refused(as_problem("y ~ .", data.frame(y, x)), "as.formula\\(\\) makes a formula of text")
  odd <- replace(x, 3, -Inf)
  for (missing in c("error", "mean")) {
    refused(as_problem(odd, y, missing = missing), "1 infinite value .*: NA in their place can be")
  }
  refused(as_problem(x, log(abs(replace(y, 2, 0)))), "1 infinite value .*: NA in their place")
  refused(as_problem(replace(odd, 9, NA), y), "2 missing or infinite values .*na.omit")
  fit <- greedy_rls(data.frame(x), y, k = 1, lambda = 1, size = 1)
  new <- data.frame(x)
  new[[1]] <- format(new[[1]])
  expect_error(predict(fit, new), "as.numeric\\(as.character\\(\\)\\) makes numbers of it")
})

test_that("arrays of one dimension are vectors", {
  x <- example_rows()
  means <- tapply(x[, 1], 1:20, mean)
  expect_equal(as_problem(x, means)$rows$y[, 1], x[, 1])
  expect_equal(as_problem(x, x[, 2], weights = abs(means))$rows$weight, abs(x[, 1]))
  groups <- tapply(rep(1:5, 4), 1:20, mean)
  expect_identical(nlevels(as_problem(x, x[, 2], groups = groups)$rows$group), 5L)
  d <- data.frame(a = x[, 1])
  d$a <- means
  expect_equal(as_problem(d, x[, 2])$x[, "a"], x[, 1])
})

test_that("a constant response has models without an intercept", {
  x <- example_rows() + 0.3
  one <- rep(1, 20)
  fit <- best_subset(x, one, k = 5, intercept = FALSE)
  expect_equal(unname(coef(fit, size = 5)), unname(coef(lm(one ~ x - 1))))
  for (method in list(greedy_rls, rls, omp, foba, forward_regression, rfe, poss)) {
    fit <- suppressWarnings(method(x, one, intercept = FALSE))
    expect_true(all(is.finite(unlist(coef(fit)))))
    expect_output(print(fit))
  }
  fit <- l1_path(x, one, intercept = FALSE, lambda = 1)
  expect_true(all(verify(fit, x, one, intercept = FALSE)$claims$ok))
  expect_error(as_problem(x, one), "`one` must vary|`y` must vary")
  expect_error(as_problem(x, 0 * one, intercept = FALSE), "must vary")
})

test_that("responses without a name have their number", {
  x <- example_rows()
  y <- cbind(a = x[, 1], x[, 2], x[, 3] + x[, 4])
  colnames(y)[3] <- NA
  fit <- rls(x, y, lambda = 1)
  expect_identical(unique(tidy(fit)$response), c("a", "y2", "y3"))
  expect_identical(names(augment(fit))[c(1:3, 5)], c("a", "y2", "y3", ".fitted.y2"))
  expect_output(print(fit), "\\(a [0-9.]+, y2 [0-9.-]+, y3 ")
  expect_equal(coef(fit), coef(rls(x, unname(y), lambda = 1)), ignore_attr = TRUE)
})

test_that("a column of several responses that is no number is named", {
  x <- example_rows()
  d <- data.frame(u = x[, 1], class = rep(c("a", "b"), length.out = nrow(x)))
  expect_error(as_problem(x, d), "column 'class' of `y` must be numeric, as several responses are",
               class = "sparsels_error_input")
  expect_identical(as_problem(x, d["class"])$coding$levels, c("a", "b"))
})

test_that("one of several responses may be constant", {
  x <- example_rows()
  y <- x[, 1] + x[, 2] / 5
  for (constant in c(0, 7)) {
    both <- cbind(y, constant)
    fit <- suppressWarnings(greedy_rls(x, both, k = 2, size = 1))
    expect_identical(model_of(fit)$features, 1L)
    expect_equal(unname(predict(fit, x)[, 2]), rep(constant, 20))
    expect_output(print(fit), "NA")
    fit <- omp(x, both, k = 2)
    expect_true(all(is.finite(fit$path$criterion)))
  }
  expect_error(as_problem(x, cbind(0 * y, 1)), "must vary")
})

test_that("numbers given as text are refused", {
  set.seed(1)
  x <- matrix(rnorm(60), 20)
  y <- round(rnorm(20), 2)
  for (given in list(as.character(y), factor(y))) {
    expect_error(greedy_rls(x, given), "different numbers in 20 rows: give as.numeric",
                 class = "sparsels_error_input")
    expect_error(l1_path(y ~ ., data.frame(x, y = given)), "different numbers in 20 rows")
    expect_s3_class(suppressWarnings(as_problem(x, given, task = "classification")),
                    "sparsels_problem")
  }
  expect_s3_class(as_problem(x, as.character(rep(1:5, 4))), "sparsels_problem")
  expect_s3_class(suppressWarnings(as_problem(x, letters[1:20])), "sparsels_problem")
})

test_that("weights of classes that may count rows are said", {
  x <- example_rows()
  classes <- rep(c("a", "b"), 10)
  expect_message(rls(x, classes, weights = 20:1), "whole numbers, up to 20: if they count rows",
                 class = "sparsels_message_weights")
  expect_no_message(as_problem(x, classes, weights = 20:1 / 2))
  expect_no_message(as_problem(x, classes, weights = rep(0:1, each = 10)))
  expect_no_message(as_problem(x, classes, weights = rep(c(1, 5), 10)))
  expect_no_message(as_problem(x, classes, weights = 20:1, groups = rep(1:10, 2)))
  expect_no_message(as_problem(x, rnorm(20), weights = 20:1))
})

test_that("two columns that may be times or counts, and ordered factors, are said", {
  x <- example_rows()
  y <- cbind(time = 1:20 + 0.5, status = rep(0:1, 10))
  said <- function(y, words) {
    expect_message(as_problem(x, y), words, class = "sparsels_message_task")
  }
  said(y, "the second with two values, .* for censored times give survival::Surv\\(time, status\\)")
  said(as.data.frame(y[, 2:1] + 1), "the first with two values, .* survival::Surv")
  expect_no_message(as_problem(x, y, task = "regression"))
  said(cbind(success = 1:20, failure = 2 * 20:1) / 2, "the share of successes, .* \"binomial\"")
  said(cbind(1:20, 20:1), "for successes and failures")
  said(cbind(0:19, 2 * 20:1), "for successes and failures")
  for (y in list(cbind(1:20, 2 * 20:1), cbind(1:20, 20:1) / 2, cbind(x[, 1], rep(0:1, 10)))) {
    expect_no_message(as_problem(x, y))
  }
  stage <- cut(x[, 1], c(-Inf, -0.5, 0.5, Inf), ordered_result = TRUE)
  expect_message(as_problem(x, stage), "3 classes without order are assumed: for their order give")
  expect_no_message(as_problem(x, stage, task = "classification"))
})

test_that("times of 0 are refused with a way out", {
  skip_if_not_installed("survival")
  x <- example_rows()
  y <- survival::Surv(c(0, 0, 3:20), rep(1, 20))
  expect_error(rls(x, y), "but 2 times are 0 \\(first: row 1\\): give half of .*, 1.5, .*\"cox\"")
})

test_that("columns without a name are called by their number", {
  x <- example_rows()
  y <- x[, 1] + x[, 3] / 2
  age <- seq(0, 1, length.out = 20)
  expect_identical(as_problem(cbind(age, x), y)$columns$name, c("age", paste0("V", 2:6)))
  colnames(x) <- c("TP53", NA, "EGFR", "", NA)
  fit <- greedy_rls(x, y, k = 2, size = 2)
  expect_identical(fit$problem$columns$name, c("TP53", "V2", "EGFR", "V4", "V5"))
  expect_equal(predict(fit, x), fitted(fit), ignore_attr = TRUE)
  expect_equal(predict(fit, x[, 5:1][, 5:1]), fitted(fit), ignore_attr = TRUE)
  expect_identical(colnames(as_problem(x[, 1:2], y, adjust = cbind(age, x[, 3]))$z)[3], "V2")
  expect_error(as_problem(y ~ ., `names<-`(data.frame(y, x), c("y", colnames(x)))),
               "`data` has 3 columns without a name", class = "sparsels_error_input")
})

test_that("matrices of S4 classes are matrices", {
  skip_if_not_installed("kernlab")
  x <- example_rows()
  K <- kernlab::kernelMatrix(kernlab::rbfdot(0.3), x)
  plain <- K@.Data
  fit <- function(K) kernel_rls(K, x[, 1], kernel = "precomputed", lambda = 0.1)$path$criterion
  expect_equal(fit(K), fit(plain))
  expect_equal(scdp(A = K, b = x[, 1], k = 2)$path, scdp(A = plain, b = x[, 1], k = 2)$path)
  set.seed(1)
  rows <- select_basis(K, 5, "renyi", kernel = "precomputed")
  set.seed(1)
  expect_equal(rows, select_basis(plain, 5, "renyi", kernel = "precomputed"))
})

test_that("nine rows have nine folds", {
  x <- example_rows(9)
  y <- x[, 1] + x[, 2]
  expect_identical(nrow(cross_validate(x, y, rls)$folds), 9L)
  expect_identical(max(make_folds(9)$ids), 9L)
  expect_error(make_folds(9, 11), "between 2 and 9")
  machine <- suppressWarnings(fs_lssvm(x, y, kernel = kernel_gaussian(1), gamma = 1))
  expect_identical(max(machine$folds$ids), 9L)
})

test_that("a constant response has an R-squared from 0 alone, and one event is named", {
  set.seed(1)
  x <- matrix(rnorm(200), 40)
  fit <- rls(x, rep(1, 40), intercept = FALSE)
  expect_output(print(fit), paste("R-squared", shown(1 - mean((1 - fit$held_out)^2))))
  times <- survival::Surv(rexp(40), rep(0:1, c(39, 1)))
  expect_error(greedy_rls(x, times), "the 1 event would be held out.*size = \"criterion\"",
               class = "sparsels_error_input")
  expect_s3_class(greedy_rls(x, times, size = "criterion"), "greedy_rls")
  latest <- survival::Surv(1:40, rep(0:1, c(39, 1)))
  expect_error(greedy_rls(x, latest), "logarithms of its times.* are the same in all",
               class = "sparsels_error_input")
  expect_s3_class(l1_path(x, times, loss = "cox"), "l1_path")
})

test_that("values of rows with the names of the rows in another order are refused", {
  set.seed(1)
  x <- matrix(rnorm(80), 20, dimnames = list(letters[1:20], LETTERS[1:4]))
  value <- stats::setNames(seq(1, 20), rownames(x))
  y <- as.numeric(value)
  turned <- rev(value)
  for (x in list(x, as.data.frame(x), Matrix::Matrix(x, sparse = TRUE))) {
    expect_error(as_problem(x, turned), "give y\\[rownames\\(x\\)\\]",
                 class = "sparsels_error_input")
    expect_error(as_problem(x, cbind(turned, 1 / turned)), "y\\[rownames\\(x\\), \\]$")
    for (argument in c("weights", "offset", "within", "groups", "adjust")) {
      given <- list(x, y)
      given[[argument]] <- if (argument == "adjust") as.data.frame(turned) else turned
      expect_error(do.call(as_problem, given), paste0(argument, "\\[rownames\\(x\\)"),
                   class = "sparsels_error_input")
    }
    expect_identical(as_problem(x, value)$rows$y, as_problem(x, y)$rows$y)
    expect_s3_class(as_problem(x, stats::setNames(y, 1:20)), "sparsels_problem")
  }
})

test_that("the name of a column as a response gets the formula that says it", {
  refused <- function(way, ...) {
    expect_error(rls(...), way, fixed = TRUE, class = "sparsels_error_input")
  }
  refused("give the formula mpg ~ .", mtcars, "mpg")
  refused("the formula Surv(mpg, wt) ~ . or cbind(mpg, wt) ~ .", mtcars, c("mpg", "wt"))
  skip_if_not_installed("SummarizedExperiment")
  experiment <- SummarizedExperiment::SummarizedExperiment(t(as.matrix(mtcars)), colData = mtcars)
  refused("the formula ~ Surv(mpg, wt) or ~ cbind(mpg, wt)", experiment, c("mpg", "wt"))
})

test_that("numbers of few values are classes where the loss is of classes", {
  set.seed(3)
  x <- matrix(rnorm(240), 40, dimnames = list(NULL, paste0("v", 1:6)))
  y <- as.integer(x[, 1] + rnorm(40) > 0)
  said <- paste("^`y` is numeric \\(2 values: 0, 1\\), so classes are assumed, as",
                "`loss = \"%s\"` needs them")
  for (loss in c("logistic", "hinge")) {
    expect_message(fit <- l1_path(x, y, loss = loss), sprintf(said, loss),
                   class = "sparsels_message_task")
    expect_identical(fit$solutions, l1_path(x, factor(y), loss = loss)$solutions)
    expect_identical(levels(predict(fit, x, type = "class")), c("0", "1"))
    expect_silent(l1_path(x, y, loss = loss, task = "classification"))
  }
  d <- data.frame(x, y)
  expect_message(by_formula <- l1_path(y ~ ., d, loss = "hinge"), class = "sparsels_message_task")
  expect_identical(by_formula$solutions, fit$solutions)
  folds <- make_folds(40, 3)
  messages <- capture_messages(
    cvd <- cross_validate(x, y, l1_path, loss = "logistic", folds = 3, outer = folds)
  )
  expect_length(grep("classes are assumed", messages), 1L)
  expect_identical(cvd$measure, "error")
  expect_message(compared <- compare_methods(x, y, methods = list(
    greedy_rls, l1_path = list(l1_path, loss = "logistic")
  ), outer = folds), "classes are assumed")
  expect_identical(compared$measure, "error")
  expect_message(l1_path(x, rep(0:3, 10), loss = "logistic"), "4 values: 0, 1, 2, 3")
  expect_error(l1_path(x, x[, 2], loss = "logistic"), "needs a response with classes",
               class = "sparsels_error_input")
  suppressMessages(problem <- as_problem(x, y))
  expect_error(l1_path(problem, loss = "logistic"), "needs a response with classes",
               class = "sparsels_error_input")
})

test_that("values with classes of other packages are taken as values of rows and columns", {
  set.seed(4)
  x <- example_rows(24, 4)
  y <- rnorm(24)
  values <- rep(1:3, 8)
  expect_taken <- function(classed) {
    for (name in c("weights", "groups", "within", "adjust", "offset")) {
      own <- stats::setNames(list(values), name)
      plain <- suppressMessages(do.call(as_problem, c(list(x, y), own)))
      own[[name]] <- classed(values)
      problem <- suppressMessages(do.call(as_problem, c(list(x, y), own)))
      expect_identical(problem$rows, plain$rows, info = name)
      expect_equal(unname(problem$z), unname(plain$z), info = name)
    }
    gaps <- replace(values, 2, NA)
    for (name in c("y", "weights", "groups", "within", "adjust", "offset")) {
      rows <- function(value) {
        own <- stats::setNames(list(value), name)
        if (name != "y") own$y <- y
        d <- data.frame(x, y)
        d[[name]] <- value
        of_formula <- list(y ~ X1 + X2 + X3 + X4, d, na.action = na.omit)
        if (name != "y") of_formula[[name]] <- if (name == "adjust") ~ adjust else as.name(name)
        list(suppressMessages(do.call(as_problem, c(list(x, na.action = na.omit), own)))[-1, ]$rows,
             suppressMessages(do.call(as_problem, of_formula))[-1, ]$rows)
      }
      expect_identical(rows(classed(gaps)), rows(gaps), info = name)
    }
    expect_identical(make_folds(24, classed(values))$ids, make_folds(24, values)$ids)
    for (name in c("penalty", "columns_group")) {
      own <- stats::setNames(list(c(1, 2, 2, 1)), name)
      plain <- do.call(as_problem, c(list(x, y), own))
      own[[name]] <- classed(own[[name]])
      expect_identical(do.call(as_problem, c(list(x, y), own))$columns, plain$columns, info = name)
    }
    from <- function(start) selected(greedy_rls(x, y, k = 2, lambda = 1, size = 2, start = start))
    expect_identical(from(classed(c(4, 2))), from(c(4, 2)))
  }
  expect_taken(as.data.frame)
  if (requireNamespace("vctrs", quietly = TRUE)) {
    # vctrs, once loaded, refuses to convert labelled values to text
    expect_taken(function(values) {
      structure(values, labels = c(no = 1, yes = 2),
                class = c("haven_labelled", "vctrs_vctr", typeof(values)))
    })
  }
  if (requireNamespace("S4Vectors", quietly = TRUE)) {
    expect_taken(S4Vectors::Rle)
    expect_taken(S4Vectors::DataFrame)
    runs <- S4Vectors::Rle(factor(rep(c("a", "b"), each = 12)))
    expect_identical(as_problem(x, runs)$coding$levels, c("a", "b"))
  }
  if (requireNamespace("bit64", quietly = TRUE)) {
    expect_taken(bit64::as.integer64)
    # labels of 64 bits, of which doubles have 53
    ids <- bit64::as.integer64("9007199254740992") + rep(0:11, each = 2)
    expect_identical(nlevels(as_problem(x, y, groups = ids)$rows$group), 12L)
    expect_length(unique(as.vector(make_folds(24, ids)$ids)), 12L)
  }
})

test_that("timespans, censored times and NA as a class are refused by name", {
  x <- as.data.frame(example_rows(24, 4))
  y <- rnorm(24)
  refused <- function(code, words) {
    expect_error(code, words, fixed = TRUE, class = "sparsels_error_input")
  }
  if (requireNamespace("lubridate", quietly = TRUE)) {
    x$days <- suppressWarnings(lubridate::days(1:24))
    words <- "of class 'Period': as.numeric() makes numbers of it"
    refused(rls(x, y, lambda = 1), words)
    refused(rls(y ~ V1 * days, data = x, lambda = 1), words)
    refused(rls(x[1:4], x$days, lambda = 1), words)
    fit <- rls(x[1:4], y, lambda = 1)
    refused(predict(fit, data.frame(x[2:4], V1 = x$days)), words)
  }
  if (requireNamespace("survival", quietly = TRUE)) {
    times <- survival::Surv(1:24, rep(1, 24))
    x$times <- times
    words <- "column 'times' of `data` must be numeric, logical, a factor or character, not a "
    refused(rls(y ~ V1 + times, data = x, lambda = 1), words)
    refused(rls(y ~ V1 * times, data = x, lambda = 1), words)
    expect_error(risk_groups(greedy_rls(x[1:3], times, k = 1), times), "`groups` must be",
                 class = "sparsels_error")
    fit <- greedy_rls(x[1:3], y, k = 2, lambda = 1, size = 2)
    expect_error(certify(fit, x[1:3], y, size = times), "`size` must be", class = "sparsels_error")
  }
  refused(rls(x[1:4], addNA(factor(rep(c("a", NA, "b"), 8))), lambda = 1),
          "`y` has NA as a level: factor(as.character(y)) makes missing values of it")
})
