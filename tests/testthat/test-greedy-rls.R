# Every number of a path against retraining from scratch.

#' @srrstats {ML7.10} `tests/testthat/test-greedy-rls.R` compares every step with its oracle
case_problem <- function(case) {
  shape <- if (case$wide) c(12, 15) else c(17, 8)
  pb <- random_problem(shape[1], shape[2], case$task, case$weights, case$covariates, case$intercept,
                       case$sparse, duplicate = case$lambda > 1e-5)
  list(pb = pb, folds = folds_of_kind(pb, case$folds))
}

# The largest relative error of each part of a fit.
path_errors <- function(fit, pb, folds, lambda, start = integer()) {
  sets <- oracle_sets(fit$path, start)
  exact <- lapply(sets, function(set) oracle_figure(pb, set, lambda, folds))
  value <- vapply(exact, `[[`, 0, "value")
  errors <- c(
    size = max(abs(lengths(sets) - fit$path$size)),
    criterion = max(abs(fit$path$criterion / value - 1)),
    squared = max(abs(fit$path$squared / value - 1)),
    se = max(abs(fit$path$se - vapply(exact, `[[`, 0, "se")) / value)
  )
  if (pb$coding$task == "regression") return(errors)
  wrong <- vapply(sets, function(set) oracle_figure(pb, set, lambda, folds, "error")[["value"]], 0)
  c(errors, error = max(abs(fit$path$error - wrong)))
}

model_errors <- function(fit, pb, folds, lambda, sets) {
  models <- Filter(Negate(is.null), fit$coefficients)
  worst <- 0
  for (model in models) {
    exact <- oracle_ridge(pb, model$features, lambda)
    scale <- pb$columns$scale[model$features]
    worst <- max(worst, relative_error(unname(model$beta) * scale, exact$B),
                 !setequal(model$features, sets[[model$step + 1]]))
  }
  worst
}

# held_out, fitted and predictions of new rows at the chosen size
prediction_errors <- function(fit, pb, folds, lambda) {
  set <- fit$coefficients[[fit$size + 1]]$features
  held_out <- 0
  for (r in seq_len(ncol(folds$ids))) {
    held_out <- held_out + oracle_held_out(pb, set, lambda, folds$ids[, r]) / ncol(folds$ids)
  }
  exact <- oracle_ridge(pb, set, lambda)
  new <- sample(nrow(pb))[1:3]
  covariates <- pb$z[new, colnames(pb$z) != "(Intercept)", drop = FALSE]
  predicted <- predict(fit, pb$x[new, ], adjust = if (ncol(covariates)) covariates)
  c(held_out = relative_error(unname(fit$held_out), held_out),
    fitted = relative_error(unname(fit$fitted), exact$pred),
    predict = relative_error(unname(as.matrix(predicted)), exact$pred[new, , drop = FALSE]))
}

check_case <- function(case, tolerance = 1e-8) {
  made <- case_problem(case)
  pb <- made$pb
  k <- min(5, sum(pb$columns$usable))
  fit <- bare_rls(pb, k = k, lambda = case$lambda, folds = made$folds, search = case$search)
  start <- if (case$search == "backward") which(pb$columns$usable) else integer()
  errors <- c(path_errors(fit, pb, made$folds, case$lambda, start),
              model = model_errors(fit, pb, made$folds, case$lambda, oracle_sets(fit$path, start)),
              prediction_errors(fit, pb, made$folds, case$lambda))
  bad <- errors[!(errors < tolerance)]
  label <- paste(names(case), vapply(case, format, ""), sep = "=", collapse = " ")
  expect(length(bad) == 0 && fit$status == "complete",
         sprintf("%s: %s %s", label, fit$status,
                 paste(names(bad), format(bad, digits = 2), collapse = ", ")))
  invisible(errors)
}

tasks <- c("one", "two", "binary", "three")
searches <- c("forward", "backward", "floating", "forward_backward")

test_that("each row of a path equals retraining without each fold", {
  set.seed(20)
  cases <- random_cover(
    64, task = tasks, wide = c(FALSE, TRUE), weights = c(FALSE, TRUE), covariates = c(FALSE, TRUE),
    intercept = c(TRUE, FALSE), sparse = c(FALSE, TRUE), lambda = c(1e-3, 1, 1e6),
    folds = c("loo", "unequal", "repeated"), search = searches
  )
  # every two levels meet
  met <- utils::combn(names(cases), 2, function(two) min(table(cases[two])))
  expect_gt(min(met), 0)
  for (i in seq_len(nrow(cases))) check_case(cases[i, ])
})

test_that("searches that drop stay exact for tiny lambda and huge weights", {
  set.seed(5)
  x <- matrix(rnorm(180), 30)
  y <- x[, 1] - 2 * x[, 4] + rnorm(30) / 2
  # column 6 comes first and is dropped when the columns that it is made of have come
  x[, 6] <- x[, 1] - 2 * x[, 4] + rnorm(30)
  dropped <- c(backward = 0, floating = 0, forward_backward = 0)
  for (search in names(dropped)) for (weight in c(1, 1e12)) for (loo in c(TRUE, FALSE)) {
    pb <- as_problem(x, y, weights = rep(weight, 30))
    folds <- make_folds(pb, if (loo) "loo" else rep(1:5, 6))
    start <- if (search == "backward") 1:6 else integer()
    for (lambda in 10^c(-14, -12, -8, -2, 4)) {
      fit <- bare_rls(pb, k = 5, lambda = lambda, search = search, folds = folds)
      sets <- oracle_sets(fit$path, start)
      errors <- c(path_errors(fit, pb, folds, lambda, start),
                  model_errors(fit, pb, folds, lambda, sets))
      expect_lt(max(errors), 1e-10, label = paste(search, weight, folds$label, lambda))
      dropped[search] <- dropped[search] + ("drop" %in% fit$path$action)
    }
  }
  expect_gt(min(dropped), 0)
})

test_that("forward selection stays exact for tiny lambda", {
  set.seed(21)
  cases <- random_cover(
    24, task = tasks, wide = c(FALSE, TRUE), weights = c(FALSE, TRUE), covariates = c(FALSE, TRUE),
    intercept = c(TRUE, FALSE), sparse = c(FALSE, TRUE), lambda = 1e-6,
    folds = c("loo", "unequal", "repeated"), search = "forward"
  )
  for (i in seq_len(nrow(cases))) {
    suppressWarnings(check_case(cases[i, ]), "sparsels_warning_precision")
  }
})

test_that("held-out errors that have lost digits come with a warning", {
  set.seed(22)
  x <- matrix(rnorm(150), 30)
  y <- x[, 1] + rnorm(30)
  heavy <- function(weight) replace(rep(1, 30), 7, weight)
  for (folds in list("loo", rep(1:10, 3))) {
    expect_no_warning(bare_rls(x, y, k = 3, lambda = 1, folds = folds, weights = heavy(1e6)))
    # 1e12 in one of several rows of a fold leaves the fold's other rows their digits
    expect_warning(bare_rls(x, y, k = 3, lambda = 1, folds = folds, weights = heavy(1e12)),
                   "from step 0 on have about 5 correct", class = "sparsels_warning_precision")
  }
  # as many columns and covariates as rows
  expect_warning(bare_rls(x[1:6, ], y[1:6], k = 5, lambda = 1e-9), "from step 5 on",
                 class = "sparsels_warning_precision")
  expect_no_warning(bare_rls(x[1:6, ], y[1:6], k = 4, lambda = 1e-9))
  expect_warning(greedy_rls(x, y, k = 2, lambda = 1, weights = heavy(1e12)),
                 class = "sparsels_warning_precision")
})

# how often `expr` warns of lost digits
count_lost <- function(expr) {
  count <- 0L
  withCallingHandlers(expr, sparsels_warning_precision = function(condition) {
    count <<- count + 1L
    tryInvokeRestart("muffleWarning")
  })
  count
}

test_that("lost digits are said once, of the fit on all rows", {
  set.seed(24)
  x <- matrix(rnorm(120), 40)
  pb <- as_problem(x, x[, 1] + rnorm(40), weights = replace(rep(1, 40), 7, 1e12))
  expect_identical(count_lost(cross_validate(pb, greedy_rls, k = 2, outer = 3)), 1L)
  judged <- function() {
    judge(pb, greedy_rls, k = 2, outer = 2, permutations = 2, pairs = 2, repeats = 1, claims = 3)
  }
  expect_identical(count_lost(judged()), 1L)
  expect_identical(count_lost(permutation_test(pb, greedy_rls, k = 2, permutations = 2)), 1L)
  # what these report are errors of other rows, and how often a column is chosen
  expect_identical(count_lost(learning_curve(pb, greedy_rls, k = 2, sizes = c(10, 18, 26),
                                             repeats = 2)), 0L)
  expect_identical(count_lost(stability_selection(pb, greedy_rls, q = 2, pairs = 3)), 0L)
})

test_that("lost digits are those of the models up to the chosen one, at their own lambda", {
  set.seed(25)
  x <- matrix(rnorm(12 * 40), 12)
  y <- 9 * x[, 1] + rnorm(12) / 9
  # ten columns and the intercept fit eleven of twelve rows almost exactly
  fit <- function(...) greedy_rls(x, y, k = 11, lambda = 1e-9, size_folds = 4, ...)
  expect_warning(fit(size = "criterion"), "from step 11 on", class = "sparsels_warning_precision")
  expect_identical(count_lost(fit(size = 1)), 0L)
  expect_identical(count_lost(fit(size = 11)), 1L)
  # the refit of columns that explain nothing has a large lambda
  bare <- function(refit) {
    greedy_rls(x[, -1], rnorm(12), k = 11, lambda = 1e-9, size = "criterion", refit = refit,
               start = 1:11)
  }
  expect_identical(count_lost(bare(FALSE)), 1L)
  expect_identical(count_lost(bare(TRUE)), 0L)
})
