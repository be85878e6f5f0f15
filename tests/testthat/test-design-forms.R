# Variables as columns: missing values of factors, names that clash, levels without rows, offsets in
# formulas, and formulas of matrix columns.

#' @srrstats {G2.11} `tests/testthat/test-design-forms.R`: dates, times and other classes are
#'   converted or refused by name
example_frame <- function() {
  set.seed(1)
  d <- data.frame(f = factor(rep(c("a", "b", NA), 10)), z = rnorm(30))
  d$y <- d$z + is.na(d$f) + rnorm(30) / 9
  d
}

test_that("missing values of factors are a level, if NA is one or means replace missing values", {
  d <- example_frame()
  explicit <- transform(d, f = addNA(f))
  wanted <- c("fb", "fmissing", "z")
  for (p in list(as_problem(y ~ f + z, explicit), as_problem(y ~ f + z, d, missing = "mean"),
                 as_problem(d[c("f", "z")], d$y, missing = "mean"),
                 as_problem(explicit[c("f", "z")], d$y))) {
    expect_identical(p$columns$name, wanted)
    expect_equal(unname(p$x[, 2]), as.double(is.na(d$f)))
  }
  p <- as_problem(y ~ f * z, d, missing = "mean")
  expect_true("fmissing:z" %in% p$columns$name)
  fit <- rls(y ~ f + z, d, missing = "mean", lambda = 1)
  expect_equal(predict(fit, d), fitted(fit), ignore_attr = TRUE)
  expect_identical(colnames(as_problem(cbind(d$z), d$y, adjust = ~ f, data = explicit)$z),
                   c("(Intercept)", "fb", "fmissing"))
  expect_error(as_problem(y ~ f + z, d), "missing")
})

test_that("columns of factors that have the name of a variable get another", {
  d <- example_frame()
  d$f <- factor(rep(1:3, 10))
  names(d)[1:2] <- c("V1", "V12")
  expect_identical(as_problem(y ~ ., d)$columns$name, c("V1.2", "V13", "V12"))
  p <- as_problem(y ~ V1 * V12, d)
  expect_identical(p$columns$name[1:3], c("V12.1", "V13", "V12"))
  expect_equal(unname(p$x[, 3]), d$V12)
  fit <- rls(y ~ ., d, lambda = 1)
  expect_equal(predict(fit, d), fitted(fit), ignore_attr = TRUE)
  expect_error(as_problem(data.frame(a = 1:4, a = 2:5, check.names = FALSE), c(1, 3, 2, 5)),
               "two columns named 'a'")
})

test_that("new values in levels that no training row has give a warning", {
  d <- example_frame()
  d$f <- factor(rep(c("a", "b"), 15), levels = c("a", "b", "c"))
  for (formula in list(y ~ f + z, y ~ f * z)) {
    fit <- rls(formula, d, lambda = 1)
    new <- data.frame(f = c("a", "c"), z = 1)
    expect_warning(p <- predict(fit, new), "levels that no training row has: 'c'",
                   class = "sparsels_warning_level")
    expect_no_warning(predict(fit, new[1, ]))
  }
  expect_error(predict(fit, data.frame(f = "d", z = 1)), "levels not seen before")
})

test_that("an offset of the formula is found in new data", {
  d <- example_frame()
  d$o <- seq_len(30) / 10
  fit <- rls(y ~ z + offset(o) + offset(log(o)), d, lambda = 1)
  expect_equal(predict(fit, d), fitted(fit), ignore_attr = TRUE)
  expect_equal(predict(fit, d), predict(fit, d, newoffset = d$o + log(d$o)))
  expect_error(predict(fit, d["z"]), "give the offset of the new rows")
})

test_that("an offset of a name is found in new data of every kind", {
  d <- example_frame()
  d$o <- seq_len(30) / 10
  x <- cbind(z = d$z)
  expected <- predict(rls(x, d$y, offset = d$o, lambda = 1), x[3:7, , drop = FALSE],
                      newoffset = d$o[3:7])
  equal <- function(fit, new) expect_equal(predict(fit, new), expected, ignore_attr = TRUE)
  for (named in list("o", ~ o)) {
    equal(rls(d[c("z", "o")], d$y, offset = named, lambda = 1), d[3:7, ])
    equal(rls(x, d$y, data = d, offset = named, lambda = 1), d[3:7, ])
    equal(rls(y ~ z, d, offset = named, lambda = 1), d[3:7, ])
    skip_if_not_installed("SummarizedExperiment")
    samples <- d[c("y", "o")]
    rownames(samples) <- rownames(x) <- paste0("s", 1:30)
    experiment <- SummarizedExperiment::SummarizedExperiment(list(t(x)), colData = samples)
    equal(rls(experiment, "y", offset = named, lambda = 1), experiment[, 3:7])
  }
  fit <- rls(d[c("z", "o")], d$y, offset = "o", lambda = 1)
  expect_error(predict(fit, d["z"]), "give the offset of the new rows")
})

test_that("strata of a name or formula are found in new data of every kind", {
  skip_if_not_installed("survival")
  set.seed(8)
  d <- data.frame(z = rnorm(60), w = rnorm(60), s = rep(c("u", "v"), 30), h = rep(1:3, 20))
  d$time <- rexp(60) * exp(-d$z)
  d$event <- rep(c(1, 1, 0), 20)
  x <- as.matrix(d[c("z", "w")])
  y <- survival::Surv(d$time, d$event)
  fit <- function(...) l1_path(..., loss = "cox", lambda = 0.01)
  curves <- function(fit, ...) unname(predict(fit, ..., type = "survival", times = c(0.2, 0.5)))
  both <- paste(d$s, d$h, sep = " / ")
  for (one in list(list("s", d$s), list(~ s, d$s), list(~ s + h, both))) {
    named <- one[[1]]
    stratum <- one[[2]]
    expected <- curves(fit(x, y, strata = stratum), x[3:7, ], newstrata = stratum[3:7])
    equal <- function(fit, new) expect_equal(curves(fit, new), expected)
    labels <- if (is.character(named)) named else all.vars(named)
    equal(fit(d[c("z", "w", labels)], y, strata = named), d[3:7, ])
    equal(fit(x, y, data = d, strata = named), d[3:7, ])
    formula <- fit(survival::Surv(time, event) ~ z + w, d, strata = named)
    equal(formula, d[3:7, ])
    # the formula of a fit makes it again
    equal(fit(formula(formula), d), d[3:7, ])
    skip_if_not_installed("SummarizedExperiment")
    rownames(d) <- rownames(x) <- paste0("r", 1:60)
    experiment <- SummarizedExperiment::SummarizedExperiment(list(t(x)), colData = d[3:6])
    equal(fit(experiment, y, strata = named), experiment[, 3:7])
  }
  frame <- fit(d[c("z", "w", "s")], y, strata = "s")
  expect_error(curves(frame, d[c("z", "w")]), "give the stratum of each new row")
})

test_that("the formula of a fit has the chosen columns of a matrix", {
  d <- example_frame()
  d$M <- matrix(rnorm(300), 30, dimnames = list(NULL, paste0("w", 1:10)))
  d$y <- d$M[, 3] - d$M[, 7] + rnorm(30) / 9
  fit <- greedy_rls(y ~ M + z, d, k = 2, size = 2)
  wanted <- coef(lm(d$y ~ d$M[, model_of(fit)$features]))
  expect_equal(unname(coef(lm(formula(fit), d))), unname(wanted))
  dimnames(d$M) <- NULL
  fit <- greedy_rls(y ~ M + z, d, k = 2, size = 2)
  expect_equal(unname(coef(lm(formula(fit), d))), unname(wanted))
})

test_that("columns of a new kernel matrix are found by name", {
  set.seed(1)
  x <- matrix(rnorm(60), 20, dimnames = list(paste0("s", 1:20), NULL))
  K <- exp(-as.matrix(dist(x))^2 / 3)
  for (basis in list(NULL, 5)) {
    fit <- kernel_rls(K, x[, 1], kernel = "precomputed", lambda = 0.1, basis = basis)
    expect_equal(predict(fit, K[1:2, 20:1]), predict(fit, K[1:2, ]))
    expect_equal(predict(fit, unname(K[1:2, ])), predict(fit, K[1:2, ]), ignore_attr = TRUE)
  }
})

test_that("the columns of splines and polynomials are a group", {
  skip_if_not_installed("splines")
  d <- example_frame()
  d$w <- rev(d$z)^2
  ns <- splines::ns
  p <- as_problem(y ~ ns(z, 3) + poly(w, 2) + log(w + 1), d)
  expect_identical(p$coding$column_groups$names, c("ns(z, 3)", "poly(w, 2)"))
  expect_identical(p$columns$group, c(1L, 1L, 1L, 2L, 2L, 0L))
  d$M <- matrix(rnorm(90), 30)
  expect_null(as_problem(y ~ M + log(abs(M)), d)$coding$column_groups)
  expect_error(as_problem(y ~ smooth_of(z) + w, d), "no function 'smooth_of'",
               class = "sparsels_error_input")
})

test_that("a column whose squares underflow counts as constant beside others", {
  d <- example_frame()
  x <- cbind(d$z, rev(d$z), 0)
  x[3, 3] <- 1e-161
  p <- as_problem(x, d$y)
  expect_identical(p$columns$usable, c(TRUE, TRUE, FALSE))
  fit <- greedy_rls(p, k = 2, size = 1)
  expect_true(all(verify(fit, p)$claims$ok))
  # the values as they are given again
  expect_true(verify(fit, x, d$y)$ok)
  expect_error(as_problem(x * 1e-161, d$y), "too small to square")
})

test_that("copies of rows are said, unless groups are given", {
  set.seed(1)
  x <- matrix(rnorm(60), 20)[rep(1:20, 2), ]
  y <- rnorm(20)[rep(1:20, 2)]
  expect_message(as_problem(x, y), "20 rows are copies .*first: rows 1 and 21",
                 class = "sparsels_message_copies")
  expect_no_message(as_problem(x, y, groups = rep(1:20, 2)))
  expect_no_message(as_problem(x, y, groups = FALSE))
  expect_no_message(as_problem(x, rnorm(40)))
  expect_no_message(as_problem(round(x), y))
  # curves have the copies of their columns
  expect_no_message(as_problem(round(x), y, smooth = 3))
  expect_message(as_problem(x, y, smooth = 3), "20 rows are copies",
                 class = "sparsels_message_copies")
})

test_that("variables of terms that depend on the other rows are named", {
  d <- data.frame(z = c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8) + 1:36 / 99, g = c("a", "b"))
  d$w <- sin(1:36)
  d$y <- d$z + cos(1:36)
  named <- function(formula) {
    said <- NULL
    withCallingHandlers(rls(formula, d, lambda = 1), sparsels_warning_rows = function(w) {
      said <<- sub(" of the formula .*", "", conditionMessage(w))
      invokeRestart("muffleWarning")
    })
    said
  }
  for (term in c("rank(z)", "cut(z, 3)", "I(z/max(z))", "I(z - mean(z))", "cumsum(z)",
                 "seq_along(z)", "ave(z, g)", "as.numeric(scale(z))")) {
    expect_identical(named(reformulate(c("w", term), "y")), sprintf("'%s'", term))
  }
  expect_identical(named(y ~ w:rank(z) + order(z)), "'rank(z)', 'order(z)'")
  # these keep what they take from the training rows, or take nothing from them
  for (term in c("scale(z)", "poly(z, 2)", "splines::ns(z, 2)", "log(z)", "I(z > 2)", "factor(g)",
                 "cut(z, c(0, 3, 99))", "relevel(factor(g), 'b')", "z:g", "s(log(z))")) {
    expect_null(named(reformulate(c("w", term), "y")))
  }
  expect_warning(as_problem(d["w"], d$y, data = d, adjust = ~ rank(z)), "'rank\\(z\\)'",
                 class = "sparsels_warning_rows")
  expect_error(greedy_rls(y ~ w + Error(g), d), "`groups` keeps", class = "sparsels_error_input")
})

test_that("a needed variable that newdata has twice is refused", {
  d <- data.frame(y = c(1, 3, 2, 5, 4), a = c(2, 1, 4, 3, 5), b = c(1, 1, 2, 3, 5))
  for (fit in list(rls(y ~ a, d), rls(y ~ log(a), d), rls(d["a"], d$y))) {
    twice <- cbind(d, a = 9)
    expect_error(predict(fit, twice), "two columns named 'a'", class = "sparsels_error_newdata")
    expect_equal(predict(fit, cbind(d, b = 9)), fitted(fit), ignore_attr = TRUE)
  }
})

test_that("a formula whose arithmetic leaves no term says how arithmetic is written", {
  # R reads 1 / wt as a term that is nested in a constant, so that none is left
  expect_identical(attr(terms(mpg ~ 1 / wt), "term.labels"), character())
  for (formula in list(mpg ~ 1 / wt, mpg ~ TRUE)) {
    expect_error(rls(formula, mtcars), "arithmetic is written in I()", fixed = TRUE,
                 class = "sparsels_error_input")
  }
  expect_error(rls(mpg ~ wt, mtcars, adjust = ~ 1 / hp), "arithmetic is written in I()",
               fixed = TRUE, class = "sparsels_error_input")
  expect_equal(fitted(rls(mpg ~ I(1 / wt), mtcars, lambda = 1e-9)),
               fitted(lm(mpg ~ I(1 / wt), mtcars)), tolerance = 1e-7)
  # one value beside one column is no transposed matrix
  expect_error(rls(5 ~ wt, mtcars), "of `data`, not 1$", class = "sparsels_error_input")
})

test_that("contrasts that are not used are said", {
  d <- data.frame(y = c(1, 3, 2, 5, 4, 6, 8, 7, 9), o = factor(rep(c("x", "y", "z"), 3)))
  plain <- coef(rls(y ~ o, d))
  own <- d
  contrasts(own$o) <- contr.sum(3)
  said <- "the contrasts of 'o' of `data` are not used"
  expect_message(fit <- rls(y ~ o, own), said, fixed = TRUE, class = "sparsels_message_contrasts")
  expect_identical(coef(fit), plain)
  expect_message(rls(own["o"], d$y), "of `x` are not used", class = "sparsels_message_contrasts")
  expect_message(rls(y ~ C(o, contr.sum), d), "'C(o, contr.sum)' of `data`", fixed = TRUE,
                 class = "sparsels_message_contrasts")
  expect_silent(predict(fit, own))
  contrasts(own$o) <- contr.treatment(3)
  expect_no_message(rls(y ~ o, own), class = "sparsels_message_contrasts")
  contrasts(own$o) <- "contr.treatment"
  expect_no_message(rls(y ~ o, own), class = "sparsels_message_contrasts")
})
