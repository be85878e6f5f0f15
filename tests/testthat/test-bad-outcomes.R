# Responses and covariates that a likelihood has no model of, for every method that takes it: each
# is an error with a class, a message, or a documented result.

counts_by <- function(loss = "poisson") {
  quiet <- function(...) suppressMessages(...)
  list(
    l1_path = function(...) quiet(l1_path(..., loss = loss, nlambda = 4, progress = FALSE)),
    l1_size = function(...) quiet(l1_size(..., loss = loss, size = 1)),
    lambda_max = function(...) quiet(lambda_max(..., loss = loss)),
    safe_screen = function(...) quiet(safe_screen(..., loss = loss, lambda = 1)),
    greedy_rls = function(...) {
      quiet(greedy_rls(..., loss = loss, k = 1, lambda = 1, folds = 3, size = "criterion",
                       progress = FALSE))
    },
    random_selection = function(...) {
      quiet(random_selection(..., loss = loss, k = 1, lambda = 1, folds = 3, progress = FALSE))
    },
    panel_error = function(...) {
      quiet(panel_error(..., features = 1, loss = loss, random = 2, folds = 3, progress = FALSE))
    }
  )
}

set.seed(80)
x <- matrix(rnorm(90), 30, 3)
counts <- rpois(30, 2) + 1

test_that("counts below 0, all 0 or without a finite offset are refused", {
  of <- counts_by()
  for (name in names(of)) {
    run <- of[[name]]
    refused <- function(call, class, words) {
      expect_error(call, words, class = class, info = name)
    }
    refused(run(x, replace(counts, 3, -1)), "sparsels_error_input",
            "needs counts of at least 0, but `y` is -1 in row 3")
    refused(run(x, 0 * counts), "sparsels_error_input", "must vary, but is 0 in every row")
    refused(run(x, counts, offset = rep(c(0, 400), 15)), "sparsels_error_input",
            "offsets from -300 to 300, but `offset` is 400 in row 2")
    refused(run(x, counts, offset = rep(c(0, -Inf), 15)), "sparsels_error_input",
            "`offset` must be finite, but is not in row 2")
    refused(run(x, counts, offset = rep(c(0, NA), 15)), "sparsels_error_input",
            "`offset` must be finite, but is not in row 2")
    refused(run(x, replace(counts, 1:30, rep(c(0, 2), c(20, 10))),
                weights = rep(c(1, 0), c(20, 10))), "sparsels_error_input", "must vary|all counts")
    expect_no_error(far <- run(x, counts, offset = rep(c(-290, 290), 15)))
    expect_no_error(large <- run(x, counts * 1e8))
    for (made in list(far, large)) {
      values <- if (inherits(made, "sparsels_fit")) unlist(coef(made)) else made
      if (is.numeric(values)) expect_true(all(is.finite(values)), info = name)
    }
  }
  expect_message(l1_path(x, counts + 0.5, loss = "poisson", nlambda = 3),
                 "`y` is not whole in 30 rows", class = "sparsels_message_counts")
})

test_that("shares outside 0 and 1 are refused, and offsets that overflow", {
  share <- rep(c(0, 0.5, 1), 10)
  of <- counts_by("binomial")
  for (name in names(of)) {
    expect_error(of[[name]](x, share > 0), "give two classes as 0 and 1", info = name,
                 class = "sparsels_error_input")
    run <- of[[name]]
    expect_error(run(x, share * 2), "needs shares from 0 to 1, but `y` is 2 in row 3",
                 class = "sparsels_error_input", info = name)
    expect_error(run(x, 0 * share + 1), "must vary, but is 1 in every row",
                 class = "sparsels_error_input", info = name)
    expect_error(run(x, share, offset = rep(-301, 30)), "`offset` is -301 in row 1",
                 class = "sparsels_error_input", info = name)
  }
})

test_that("theta of dispersed counts must be a number within its range", {
  for (theta in c("0", "-1", "x", "1e9", "")) {
    expect_error(greedy_rls(x, counts, loss = sprintf("negbin(%s)", theta)),
                 "must be a number from 0.001 to 10000", class = "sparsels_error_argument")
  }
})

test_that("covariates that separate classes or explain counts are refused or named", {
  separating <- rep(c(-1, 1), each = 15) * (1 + abs(x[, 1]))
  class <- factor(separating > 0)
  for (run in list(
    function(...) greedy_rls(x, as.numeric(class) - 1, loss = "binomial", k = 1, ...),
    function(...) l1_path(x, class, loss = "logistic", nlambda = 4, ...),
    function(...) l1_path(x, as.numeric(class) - 1, loss = "binomial", nlambda = 4, ...),
    function(...) lambda_max(x, class, loss = "logistic", ...),
    function(...) l1_size(x, class, loss = "logistic", size = 1, ...),
    function(...) safe_screen(x, class, loss = "logistic", lambda = 1, rule = "gap", ...),
    function(...) l1_path(x, gl(3, 10), loss = "multinomial", nlambda = 4, adjust = gl(3, 10))
  )) {
    expect_error(suppressMessages(run(adjust = separating)),
                 "the covariates alone (separate the classes|explain `y`)",
                 class = "sparsels_error_input")
  }
  # some rows alone
  few <- factor(rep(1:2, c(6, 24)))
  expect_warning(l1_path(x, replace(counts, 1:6, 0), loss = "poisson", nlambda = 3, adjust = few,
                         progress = FALSE),
                 "covariate 'adjust2' separates 6 rows", class = "sparsels_warning_separation")
  expect_warning(greedy_rls(x, replace(counts, 1:6, 0), loss = "poisson", adjust = few, k = 1),
                 "covariate 'adjust2' separates 6 rows", class = "sparsels_warning_separation")
  skip_if_not_installed("survival")
  time <- seq_len(30) + 0.5
  event <- replace(rep(1, 30), 1:6, 0)
  for (times in list(survival::Surv(time, event), survival::Surv(time / 2, time, event))) {
    expect_warning(greedy_rls(x, times, loss = "cox", adjust = few, k = 1, size = 1),
                   "covariate 'adjust2' orders the times", class = "sparsels_warning_separation")
  }
  # a column that separates has a finite coefficient at every lambda
  fit <- l1_path(cbind(x, separating), class, loss = "logistic", nlambda = 20)
  expect_true(all(fit$path$gap <= 3e-4 * fit$null_objective & fit$path$gap >= -1e-10))
  expect_true(all(is.finite(coef(fit))))
})

test_that("one class, classes without a row and one event are refused", {
  for (loss in c("logistic", "hinge", "multinomial")) {
    expect_error(l1_path(x, factor(rep("a", 30)), loss = loss), "at least two classes",
                 class = "sparsels_error_input")
  }
  expect_error(l1_path(x, gl(3, 10), loss = "multinomial", weights = rep(c(1, 0), c(20, 10))),
               "no row of positive weight|class", class = "sparsels_error_input")
  expect_error(suppressWarnings(l1_path(x, gl(3, 10), loss = "multinomial",
                                        folds = rep(1:3, each = 10))),
               "all rows of class '1' are in fold 1", class = "sparsels_error_input")
})

test_that("times without an event, with one or with thousands at a time", {
  skip_if_not_installed("survival")
  Surv <- survival::Surv # nolint: object_name_linter.
  time <- rexp(30)
  event <- rep(c(1, 0, 1), 10)
  for (run in list(function(...) l1_path(..., nlambda = 3),
                   function(...) lambda_max(...),
                   function(...) greedy_rls(..., loss = "cox", k = 1, size_folds = 3),
                   function(...) greedy_rls(..., loss = "cox", criterion = "cox", k = 1),
                   function(...) random_selection(..., loss = "cox", k = 1),
                   function(...) greedy_rls(..., k = 1, size_folds = 3))) {
    refused <- function(y, words) {
      expect_error(suppressMessages(run(x, y)), words, class = "sparsels_error_input")
    }
    refused(Surv(time, 0 * event), "has no event in the 30 rows trained on")
    refused(Surv(replace(time, 3, -1), event), "1 time below 0 \\(first: row 3, -1\\)")
    refused(Surv(replace(time, 3, NA), event), "missing or infinite")
  }
  expect_error(l1_path(x, Surv(time, replace(0 * event, 4, 1)), folds = 3), "no event",
               class = "sparsels_error_input")
  expect_error(greedy_rls(x, Surv(time, replace(0 * event, 4, 1)), loss = "cox"), "event",
               class = "sparsels_error_input")
  # few events, which are in folds without a later time where there are many folds
  for (seed in c(1, 39)) {
    set.seed(seed)
    few <- matrix(rnorm(120), 20)
    fit <- suppressWarnings(greedy_rls(few, Surv(rexp(20), sample(rep(1:0, c(4, 16))))))
    expect_lt(max(fit$size_folds$ids), 4)
  }
  # a single event alone at risk compares nothing
  expect_error(l1_path(x, Surv(c(1:29, 40), c(rep(0, 29), 1))), class = "sparsels_error_input")
  many <- matrix(rnorm(8000), 4000, 2)
  tied <- Surv(rep(1:2, 2000), rep(c(1, 1, 0, 1), 1000))
  fit <- l1_path(many, tied, nlambda = 4)
  expect_true(all(fit$path$gap <= 3e-4 * fit$null_objective))
  exact <- survival::coxph(tied ~ many, method = "efron")
  free <- l1_path(many, tied, lambda = 1e-6, tolerance = 1e-7)
  expect_equal(unname(drop(coef(free))), unname(coef(exact)), tolerance = 1e-5)
})

test_that("means that overflow are infinite, not missing", {
  fit <- l1_path(x, counts, loss = "poisson", lambda = 1e-3)
  means <- predict(fit, 1e6 * x, type = "response")
  expect_false(anyNA(means))
  expect_true(all(means >= 0) && any(means == Inf))
})
