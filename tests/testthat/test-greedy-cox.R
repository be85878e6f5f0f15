# greedy_rls(loss = "cox"): columns by the partial likelihood or by log times, Cox models of them

expect_near <- function(value, expected, by) {
  expect_lte(max(0, abs(unname(value) - unname(expected))), by)
}

quiet_search <- function(...) {
  suppressWarnings(suppressMessages(greedy_rls(..., loss = "cox", progress = FALSE)))
}

# the columns of the covariates and of x as the search takes them
design_of <- function(d) cbind(d$z, plain_standard(d$x, d$w, TRUE))

test_that("an example by hand: columns, objectives and leave-one-out deviances", {
  skip_if_not_installed("survival")
  d <- by_hand()
  kinds <- list(
    list(y = Surv(d$time, d$status), w = NULL, stratum = NULL, ties = "breslow",
         columns = c(1L, 4L), objective = c(11.366742955, 7.184307851, 6.714344813),
         out = c(32.671903384, 26.526694242, 28.117092534)),
    list(y = Surv(d$time, d$status), w = d$w, stratum = NULL, ties = "efron",
         columns = c(1L, 4L), objective = c(12.978932677, 7.738898648, 6.869110081),
         out = c(38.007806528, 30.667441947, 30.164598926)),
    list(y = Surv(d$start, d$time, d$status), w = d$w, stratum = d$stratum, ties = "breslow",
         columns = c(1L, 3L), objective = c(7.434423251, 3.613651998, 3.364288787),
         out = c(24.483523468, 26.407400218, 31.783971025))
  )
  for (kind in kinds) {
    pb <- as_problem(d$x, kind$y, weights = kind$w, strata = kind$stratum, standardize = FALSE)
    fit <- quiet_search(pb, ties = kind$ties, criterion = "cox", lambda = 1, k = 2,
                        size = "criterion", refit = FALSE, folds = "loo")
    expect_identical(fit$path$feature, c(NA, kind$columns))
    events <- sum(pb$rows$weight * pb$rows$event)
    expect_equal(fit$path$criterion * events, kind$out, tolerance = 1e-9)
    squares <- vapply(fit$coefficients, function(model) sum(model$beta^2), 0)
    deviances <- vapply(0:2, function(size) deviance(fit, size, newdata = pb), 0)
    expect_equal((deviances + squares) / 2, kind$objective, tolerance = 1e-9)
  }
})

test_that("random problems: steps by trying all columns, held-out deviance by retraining", {
  skip_if_not_installed("survival")
  set.seed(70)
  proven <- steps <- 0
  for (number in problems_to_try(30)) {
    d <- draw_times(number, 24 + number %% 12, 4 + number %% 5)
    # every training part has events of every stratum that compare rows
    ids <- integer(length(d$time))
    ids[order(d$event, d$time)] <- rep_len(1:3, length(ids))
    lambda <- sum(d$w * d$event) * 4^-sample(0:2, 1)
    x <- if (number %% 3 == 0) Matrix::Matrix(d$x, sparse = TRUE) else d$x
    fit <- quiet_search(x, as_times(d), weights = d$w, adjust = d$z, strata = d$stratum,
                        offset = d$o, ties = d$ties, criterion = "cox", lambda = lambda, k = 3,
                        size = "criterion", refit = FALSE, folds = ids)
    sums <- plain_sums(d)
    C <- design_of(d)
    q <- NCOL(d$z) * !is.null(d$z)
    penalty <- rep(c(0, lambda), c(q, ncol(d$x)))
    value_of <- function(set) {
      own <- c(seq_len(q), q + set)
      plain_cox_model(sums, C[, own, drop = FALSE], penalty[own])$objective
    }
    null <- value_of(integer())
    set <- integer()
    for (row in seq_len(nrow(fit$path))) {
      chosen <- fit$path$feature[row]
      if (!is.na(chosen)) {
        others <- setdiff(which(fit$problem$columns$usable), set)
        values <- vapply(others, function(j) value_of(c(set, j)), 0)
        # ten candidates at most are tried, which these problems do not have
        expect_lte(values[match(chosen, others)], min(values) + 1e-11 * null)
        steps <- steps + 1
        proven <- proven + fit$path$exact[row]
        set <- c(set, chosen)
      }
      own <- c(seq_len(q), q + set)
      out <- plain_cox_out(d, C[, own, drop = FALSE], penalty[own], ids)
      expect_near(fit$path$criterion[row], out, 1e-8 * max(1, abs(out)))
    }
  }
  expect_gt(proven, 0.5 * steps)
})

test_that("models are those of coxph() where lambda is next to nothing", {
  skip_if_not_installed("survival")
  set.seed(71)
  for (number in c(2, 3, 4, 6)) {
    d <- draw_times(number, 80, 4)
    fit <- quiet_search(d$x, as_times(d), weights = d$w, adjust = d$z, strata = d$stratum,
                        offset = d$o, ties = d$ties, criterion = "cox", lambda = 1e-9, k = 2,
                        size = 2, refit = FALSE, size_folds = 4)
    data <- data.frame(d$x[, selected(fit), drop = FALSE])
    if (!is.null(d$z)) data$age <- d$z[, 1]
    data$y <- as_times(d)
    strata <- survival::strata
    formula <- if (is.null(d$stratum)) y ~ . - o + offset(o) else
      y ~ . - o - stratum + offset(o) + strata(stratum)
    data$stratum <- d$stratum
    data$o <- if (is.null(d$o)) 0 else d$o
    cox <- survival::coxph(formula, data, weights = d$w, ties = d$ties,
                           control = survival::coxph.control(eps = 1e-11, toler.chol = 1e-13))
    expect_equal(coef(fit)[names(coef(cox))], coef(cox), tolerance = 1e-6)
    if (is.null(d$stratum)) {
      curves <- predict(fit, d$x[1:3, ], adjust = d$z[1:3, , drop = FALSE], type = "survival",
                        times = c(0.5, 1, 2), newoffset = d$o[1:3])
      if (d$ties == "efron") {
        own <- summary(survival::survfit(cox, data[1:3, ]), times = c(0.5, 1, 2), extend = TRUE)
        expect_equal(unname(curves), unname(t(own$surv)), tolerance = 1e-5)
      }
      expect_error(predict(fit, d$x, adjust = d$z, type = "survival", newoffset = d$o, size = 1),
                   "of the chosen size, 2, .* make a fit with the `size` wanted",
                   class = "sparsels_error_argument")
    }
  }
})

test_that("columns of a Cox model are found by its log times, each size at its best lambda", {
  skip_if_not_installed("survival")
  set.seed(72)
  d <- draw_times(4, 70, 12)
  y <- as_times(d)
  lambda <- 16 * 70
  fit <- quiet_search(d$x, y, weights = d$w, lambda = lambda, k = 4, size = "criterion")
  squares <- suppressMessages(greedy_rls(d$x, y, weights = d$w, loss = "squared", lambda = lambda,
                                         k = 4, size = "criterion"))
  expect_identical(fit$path$feature, squares$path$feature)
  expect_equal(fit$path$search_criterion, squares$path$criterion)
  C <- plain_standard(d$x, d$w, TRUE)
  ids <- fit$folds$ids[, 1]
  expect_identical(max(ids), 10L)
  lambdas <- sort(unique(fit$path$refit_lambda[-1]))
  expect_equal(log(lambdas / max(lambdas), 16), round(log(lambdas / max(lambdas), 16)))
  for (size in 1:4) {
    set <- fit$coefficients[[size + 1]]$features
    own <- C[, set, drop = FALSE]
    at <- function(lambda) plain_cox_out(d, own, rep(lambda, size), ids)
    chosen <- fit$path$refit_lambda[size + 1]
    expect_near(fit$path$criterion[size + 1], at(chosen), 1e-8)
    expect_gte(min(at(16 * chosen), at(chosen / 16)), 0.999 * at(chosen))
    model <- plain_cox_model(plain_sums(d), own, rep(chosen, size))
    b <- model$b / apply(d$x[, set, drop = FALSE], 2, function(x) {
      sqrt(weighted.mean((x - weighted.mean(x, d$w))^2, d$w))
    })
    expect_equal(unname(coef(fit, size = size)), unname(b), tolerance = 1e-7)
  }
  expect_output(print(fit), "columns searched by the leave-one-out mean squared error of log times")
})

test_that("print() names the folds that a search of log times held out", {
  skip_if_not_installed("survival")
  set.seed(74)
  x <- matrix(rnorm(160), 40)
  times <- survival::Surv(rexp(40, exp(x[, 1])), rep(1, 40))
  fit <- greedy_rls(x, times, loss = "cox", groups = rep(1:20, 2))
  expect_output(print(fit), "of log times\\s+\\(leave-one-group-out, 20 groups\\)")
})

test_that("whole fits are verified, with covariates, strata, late entry, groups and weights", {
  skip_if_not_installed("survival")
  set.seed(73)
  for (number in c(4, 7, 10)) {
    d <- draw_times(number, 50, 6)
    given <- list(d$x, as_times(d), weights = d$w, adjust = d$z, strata = d$stratum,
                  offset = d$o)
    fit <- do.call(quiet_search, c(given, list(ties = d$ties, k = 3, size_folds = 3)))
    has_times <- is.null(d$start) && is.null(d$stratum) && is.null(d$o)
    expect_identical(is.null(fit$searched), !has_times)
    checked <- do.call(verify, c(list(fit), given, list(claims = 12, progress = FALSE)))
    expect_true(checked$ok)
    expect_identical(checked$status, "complete")
  }
})

test_that("scores in a random order have the variance by which a concordance is judged", {
  skip_if_not_installed("survival")
  set.seed(74)
  for (number in c(2, 5)) {
    d <- draw_times(number, 30, 2)
    pb <- as_problem(d$x, as_times(d), weights = d$w, strata = d$stratum)
    right <- replicate(1000, concordant_pairs(1:30, pb, sample(30))[1L])
    expect_equal(pair_variance(pb), var(right), tolerance = 0.15)
  }
})

test_that("print, size rule and refusals", {
  skip_if_not_installed("survival")
  set.seed(75)
  x <- matrix(rnorm(80 * 30), 80, dimnames = list(NULL, paste0("g", 1:30)))
  y <- Surv(rexp(80, exp(1.5 * x[, 2])), rep(c(1, 1, 1, 0), 20))
  fit <- quiet_search(x, y, k = 4)
  expect_identical(fit$cv_criterion$name, "concordance")
  expect_snapshot(print(fit))
  expect_equal(tidy(fit, exponentiate = TRUE)$estimate, exp(unname(coef(fit))))
  expect_output(print(summary(fit)), "hazard ratios")
  expect_snapshot({
    refusal(greedy_rls(x, y, loss = "cox", refit = FALSE))
    refusal(greedy_rls(x, y, loss = "cox", lambda = "full"))
    refusal(greedy_rls(x, y, loss = "cox", keep = 2))
    refusal(greedy_rls(x, y, loss = "cox", criterion = "cox", search = "floating"))
    refusal(greedy_rls(x, y, loss = "cox", strata = gl(2, 40), criterion = "squared"))
    refusal(greedy_rls(x, rnorm(80), loss = "cox"))
    refusal(greedy_rls(x, y, size_folds = "loo"))
    refusal(exchange(fit, x, y, lambda = 1))
  })
})

test_that("a Cox model is judged by its own search, which is of log times", {
  skip_if_not_installed("survival")
  set.seed(13)
  x <- matrix(rnorm(60 * 4), 60, dimnames = list(NULL, letters[1:4]))
  y <- Surv(rexp(60, exp(x[, 1])), rep(c(1, 1, 0), 20))
  # the outer folds are the inner folds of each other, and share searches
  outer <- make_folds(as_problem(x, y), 6)
  run <- cross_validate(x, y, greedy_rls, loss = "cox", k = 2, folds = 3, outer = outer)
  kept <- outer$ids[, 1] != 1
  own <- quiet_search(x[kept, ], y[kept], k = 2, folds = 3, size_folds = outer$ids[kept, 1])
  expect_equal(run$held_out[!kept, ], predict(own, x[!kept, ], type = "risk"))
  halves <- lapply(list("cox", "squared"), function(loss) {
    set.seed(1)
    stability_selection(x, y, greedy_rls, loss = loss, pairs = 3, q = 2)$probability
  })
  expect_identical(halves[[1]], halves[[2]])
  tests <- lapply(list("cox", "squared"), function(loss) {
    set.seed(1)
    permutation_test(x, y, greedy_rls, loss = loss, permutations = 9)$p.value
  })
  expect_identical(tests[[1]], tests[[2]])
  expect_s3_class(stability_selection(x, y, greedy_rls, loss = "cox", criterion = "cox", pairs = 2,
                                      q = 1), "stability_selection")
})

test_that("the default folds of few times have pairs to compare", {
  skip_if_not_installed("survival")
  set.seed(1)
  x <- matrix(rnorm(24), 8)
  fit <- greedy_rls(x, Surv(c(3, 1, 4, 1.5, 9, 2, 6, 5), rep(1, 8)))
  expect_identical(max(fit$size_folds$ids), 4L)
})
