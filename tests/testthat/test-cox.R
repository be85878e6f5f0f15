# Cox models of l1_path()

# the largest difference, absolute
expect_near <- function(value, expected, by) {
  expect_lte(max(0, abs(unname(value) - unname(expected))), by)
}

quiet_cox <- function(...) {
  suppressWarnings(suppressMessages(l1_path(..., loss = "cox", progress = FALSE)))
}

# The objective, the largest |a_k'v - ridge b_k|, and the gap by the mixture of the page.
plain_gap <- function(sums, A, f, b, lambda, alpha) {
  v <- plain_residual(sums, f)
  c <- drop(crossprod(A, v)) - lambda * (1 - alpha) * b
  s <- min(1, alpha * lambda / max(abs(c)))
  E <- t(t(sums$C) * exp(f - max(f)))
  p <- (1 - s) * sums$Q + s * sums$M * E / rowSums(E)
  used <- p > 0
  objective <- plain_value(sums, f) + lambda * (alpha * sum(abs(b)) + (1 - alpha) / 2 * sum(b^2))
  dual <- -sum(p[used] * log((p / (sums$C * sums$M))[used])) - sums$level -
    s^2 * lambda * (1 - alpha) * sum(b^2) / 2
  list(objective = objective, gap = objective - dual, c = c, v = v, s = s, dual = dual)
}

test_that("an example by hand: largest lambda, objectives, coefficients, dual values", {
  skip_if_not_installed("survival")
  d <- by_hand()
  kinds <- list(
    list(y = Surv(d$time, d$status), w = NULL, stratum = NULL, ties = "breslow",
         null = 11.366742955, top = 21.011111111, objective = c(10.419357974, 7.780327558),
         b = list(c(x1 = 0.187074996),
                  c(x1 = 0.4624027, x3 = -0.059384645, x4 = -0.076868174)),
         point = c(15.367664655, 8.816157869, 0.541863566)),
    list(y = Surv(d$time, d$status), w = d$w, stratum = NULL, ties = "efron",
         null = 12.978932677, top = 23.917661, objective = c(11.709300986, 8.247724815),
         b = list(c(x1 = 0.213098399),
                  c(x1 = 0.50886379, x3 = -0.069675392, x4 = -0.128344795)),
         point = c(18.662434809, 8.861755321, 0.481648934)),
    list(y = Surv(d$start, d$time, d$status), w = d$w, stratum = d$stratum, ties = "breslow",
         null = 7.434423251, top = 21.61984127, objective = c(6.546089631, 4.263306996),
         b = list(c(x1 = 0.167120411),
                  c(x1 = 0.368675485, x2 = 0.089464355, x3 = -0.048857275)),
         point = c(11.570170762, 5.975389766, 0.600004337))
  )
  for (kind in kinds) {
    pb <- as_problem(d$x, kind$y, weights = kind$w, strata = kind$stratum, standardize = FALSE)
    top <- lambda_max(pb, loss = "cox", ties = kind$ties)
    expect_equal(top, kind$top, tolerance = 1e-10)
    fit <- l1_path(pb, loss = "cox", ties = kind$ties, lambda = top / c(2, 10), tolerance = 1e-15)
    expect_equal(fit$null_objective, kind$null, tolerance = 1e-10)
    expect_equal(fit$path$objective, kind$objective, tolerance = 1e-9)
    for (i in 1:2) {
      expect_equal(coef(fit, lambda = fit$path$lambda[i]), kind$b[[i]], tolerance = 5e-8)
    }
    # the gap at coefficients that are not optimal
    cox <- as_cox(pb, kind$ties)
    point <- model_point(cox, "cox", 1:4, c(0.1, -0.2, 0, 0.05))
    s <- top / 2 / max(abs(column_products(cox, point$r)))
    found <- c(point$loss + top / 2 * point$l1,
               dual_objective(cox, "cox", point$r, s, point$f), s)
    expect_equal(found, kind$point, tolerance = 1e-9)
  }
})

test_that("random problems: gaps, optimality conditions, screens and held-out deviance", {
  skip_if_not_installed("survival")
  set.seed(60)
  dropped <- 0
  for (number in problems_to_try(50)) {
    d <- draw_times(number)
    x <- switch(1 + number %% 4, d$x, Matrix::Matrix(d$x, sparse = TRUE), float_matrix(d$x), d$x)
    pb <- suppressMessages(as_problem(x, as_times(d), weights = d$w, strata = d$stratum,
                                      offset = d$o, adjust = d$z, standardize = number %% 2 == 0))
    path <- function(...) quiet_cox(pb, ties = d$ties, alpha = d$alpha, ...)
    fit <- path(nlambda = 5, lambda_min_ratio = 0.05, tolerance = 1e-12)
    sums <- plain_sums(d)
    A <- sweep(sweep(as.matrix(pb$x[, ]) + 0, 2, pb$columns$centre), 2, pb$columns$scale, "/")
    null <- fit$null_objective
    for (row in seq_len(nrow(fit$path))) {
      solution <- fit$solutions[[row]]
      b <- replace(numeric(ncol(A)), solution$features, solution$beta)
      lambda <- fit$path$lambda[row]
      f <- predict(fit, as.matrix(pb$x[, ]) + 0, lambda = lambda, adjust = d$z,
                   newoffset = if (!is.null(d$o)) 0)
      at <- plain_gap(sums, A, f, b, lambda, d$alpha)
      expect_near(at$objective, fit$path$objective[row], 1e-12 * max(1, null))
      expect_true(at$gap >= -1e-13 * null && at$gap <= 2e-12 * null)
      expect_true(fit$path$gap[row] >= -1e-13 * null && fit$path$gap[row] <= 1e-12 * null)
      if (!is.null(d$z)) expect_near(crossprod(d$z, at$v), 0, 1e-8)
      on <- b != 0
      expect_near(at$c[on], d$alpha * lambda * sign(b[on]), 1e-4 * lambda)
      expect_true(all(abs(at$c) <= d$alpha * lambda * (1 + 1e-6)))
    }
    # what the safe tests leave out is in no solution
    mask <- path(lambda = fit$path$lambda, screen = "gap", tolerance = 1e-12)
    expect_near(mask$path$objective, fit$path$objective, 1e-11 * null)
    rough <- path(lambda = fit$path$lambda[1:3], tolerance = 1e-4)
    for (known in list(NULL, rough)) {
      safe <- safe_screen(pb, lambda = fit$path$lambda[3], loss = "cox", ties = d$ties,
                          alpha = d$alpha, rule = "gap", fit = known)
      expect_true(all(safe$keep[fit$solutions[[3]]$features]))
      dropped <- dropped + sum(!safe$keep)
    }
    # the deviance of all rows less the deviance of the training rows, at the model without a fold
    if (!number %in% c(1, 3, 7, 9, 13, 15)) next
    folds <- rep_len(1:3, nrow(pb))
    held <- path(lambda = fit$path$lambda[2:3], folds = folds, tolerance = 1e-13)
    each <- vapply(1:3, function(fold) {
      train <- rows_of_times(d, folds != fold)
      alone <- quiet_cox(x[folds != fold, ], as_times(train), weights = train$w, ties = d$ties,
                         strata = train$stratum, adjust = train$z, offset = train$o,
                         alpha = d$alpha, standardize = FALSE, lambda = held$path$lambda,
                         tolerance = 1e-13)
      vapply(1:2, function(row) {
        f <- predict(alone, x, lambda = alone$path$lambda[row], adjust = d$z,
                     newoffset = if (!is.null(d$o)) 0)
        2 * (plain_value(sums, f) - plain_value(plain_sums(train), f[folds != fold]))
      }, 0)
    }, c(0, 0))
    expect_near(held$path$criterion, rowSums(each) / sum(d$w * d$event), 1e-8)
  }
  expect_gt(dropped, 4 * number)
})

test_that("glmnet, coxph and its baseline agree", {
  skip_if_not_installed("survival")
  skip_if_not_installed("glmnet")
  set.seed(61)
  d <- draw_times(6, 60, 12)
  y <- as_times(d)
  w <- runif(60, 0.5, 2)
  for (alpha in c(1, 0.6)) {
    fit <- quiet_cox(d$x, y, weights = w, ties = "breslow", alpha = alpha, nlambda = 12,
                     lambda_min_ratio = 0.02, tolerance = 1e-12, standardize = FALSE)
    theirs <- glmnet::glmnet(d$x, y, family = "cox", weights = w, alpha = alpha,
                             standardize = FALSE, thresh = 1e-20, maxit = 1e7,
                             lambda = fit$path$lambda / sum(w))
    ours <- vapply(fit$path$lambda, function(lambda) {
      found <- coef(fit, lambda = lambda)
      replace(stats::setNames(numeric(12), colnames(d$x)), names(found), found)
    }, numeric(12))
    expect_near(ours, as.matrix(theirs$beta), 1e-6)
  }
  for (number in c(1, 3, 5, 7, 12, 18)) {
    d <- draw_times(number, 60, 4)
    fit <- quiet_cox(d$x, as_times(d), weights = d$w, strata = d$stratum, ties = d$ties,
                     offset = d$o, lambda = 1e-8, tolerance = 1e-13)
    y <- as_times(d)
    o <- if (is.null(d$o)) numeric(60) else d$o
    stratum <- if (is.null(d$stratum)) rep(1, 60) else d$stratum
    strata <- survival::strata
    theirs <- survival::coxph(y ~ d$x + offset(o) + strata(stratum), weights = d$w,
                              ties = d$ties,
                              control = survival::coxph.control(eps = 1e-11, iter.max = 50))
    expect_near(coef(fit)[colnames(d$x)], coef(theirs), 1e-6)
    expect_near(residuals(fit), residuals(theirs, weighted = FALSE), 1e-6)
    base <- survival::basehaz(theirs, centered = FALSE)
    for (s in unique(stratum)) {
      hazard <- if (is.null(base$strata)) base else
        base[base$strata == paste0("stratum=", s) | base$strata == s, ]
      at <- hazard$time[hazard$hazard > 0]
      survival <- predict(fit, d$x[1:2, ], type = "survival", times = at,
                          newstrata = if (!is.null(d$stratum)) rep(s, 2),
                          newoffset = if (!is.null(d$o)) c(1, 2))
      # the hazards of basehaz() are at the mean of the offset
      moved <- if (!is.null(d$o)) c(1, 2) - mean(o) else 0
      risk <- exp(drop(d$x[1:2, ] %*% coef(theirs)) + moved)
      expect_near(survival, exp(-outer(risk, hazard$hazard[hazard$hazard > 0])), 1e-6)
    }
  }
  null <- quiet_cox(d$x, as_times(d), lambda = 1e5)
  expect_equal(as.numeric(logLik(null)),
               as.numeric(logLik(survival::coxph(as_times(d) ~ 1))), tolerance = 1e-10)
})

test_that("times that differ by rounding are ties, as for coxph()", {
  set.seed(37)
  x <- matrix(rnorm(240), 80, dimnames = list(NULL, c("a", "b", "c")))
  time <- ceiling(10 * rexp(80, exp(x[, 1]))) / 10 + 1
  computed <- time * (1 + c(0, 3e-16))
  expect_gt(sum(computed != time), 5)
  status <- rep(c(1, 1, 0), length.out = 80)
  start <- round(time - 1.1 * runif(80), 1) - 0.1
  for (ties in c("efron", "breslow")) {
    for (y in list(survival::Surv(computed, status),
                   survival::Surv(start + 0.7 - 0.7, computed, status))) {
      fit <- quiet_cox(x, y, lambda = 1e-8, tolerance = 1e-13, ties = ties)
      cox <- survival::coxph(y ~ x, ties = ties)
      expect_equal(unname(coef(fit)[colnames(x)]), unname(coef(cox)), tolerance = 1e-5)
    }
    fit <- quiet_cox(x, survival::Surv(computed, status), ties = ties, lambda = 1)
    expect_equal(unname(predict(fit, x, type = "survival", times = time)),
                 unname(predict(fit, x, type = "survival", times = computed)))
  }
  # also in other units, and where times are made log times
  expect_equal(coef(rls(x, survival::Surv(computed, status))),
               coef(rls(x, survival::Surv(time, status))))
  tiny <- as_problem(x, survival::Surv(computed * 1e-12, status))
  expect_identical(lengths(lapply(tiny$rows, unique))[["time"]], length(unique(time)))
  expect_error(as_problem(x, survival::Surv(time - 1e-10, time, status)),
               "80 intervals without length but for rounding", class = "sparsels_error_input")
})

test_that("an offset of censored times is a known part of the risk, by every way to give it", {
  skip_if_not_installed("survival")
  set.seed(69)
  d <- data.frame(a = rnorm(120), b = rnorm(120), o = rnorm(120) + 2, site = rep(1:2, 60))
  d$time <- ceiling(5 * rexp(120, exp(d$a + d$o - 2)))
  d$status <- rep(c(1, 1, 0), 40)
  y <- Surv(d$time, d$status)
  strata <- survival::strata
  formula <- Surv(time, status) ~ a + b + offset(o) + strata(site)
  fit <- l1_path(formula, d, lambda = 1e-9)
  theirs <- survival::coxph(formula, d)
  expect_equal(coef(fit), coef(theirs), tolerance = 1e-6)
  x <- as.matrix(d[c("a", "b")])
  for (offset in list(d$o, "o", ~ o)) {
    same <- l1_path(x, y, offset = offset, strata = d$site, data = d, lambda = 1e-9)
    expect_equal(coef(same), coef(fit))
  }
  expect_equal(predict(fit, d), drop(x %*% coef(fit)) + d$o, ignore_attr = TRUE)
  expect_equal(predict(fit, d), predict(same, x, newoffset = d$o), ignore_attr = TRUE)
  expect_error(predict(same, x), "`newoffset`", class = "sparsels_error_argument")
  expect_equal(predict(fit, d, type = "risk"),
               predict(theirs, d, type = "lp", reference = "sample"), tolerance = 1e-6,
               ignore_attr = TRUE)
  panel <- predict(as_panel(fit), d)
  expect_equal(panel, predict(fit, d, type = "risk"), ignore_attr = TRUE)
  expect_equal(deparse1(formula(fit)), deparse1(formula))
  plain <- l1_path(x, y, offset = d$o, lambda = 1, folds = 4)
  expect_equal(generics::augment(plain)$.fitted, predict(plain, x, newoffset = d$o, type = "risk"))
  # held-out scores and errors by retraining
  ids <- rep_len(1:4, 120)
  judged <- cross_validate(formula, d, l1_path, lambda = 2, folds = NULL, outer = ids)
  each <- vapply(1:4, function(fold) {
    risk <- predict(l1_path(formula, d[ids != fold, ], lambda = 2), d[ids == fold, ])
    own <- d[ids == fold, ]
    survival::concordance(Surv(time, status) ~ risk + strata(site), own, reverse = TRUE)$concordance
  }, 0)
  expect_equal(judged$folds$test, each, tolerance = 1e-10)
  null <- vapply(1:4, function(fold) {
    own <- d[ids == fold, ]
    survival::concordance(Surv(time, status) ~ o + strata(site), own, reverse = TRUE)$concordance
  }, 0)
  expect_equal(judged$folds$majority, null, tolerance = 1e-10)
  # a permuted time takes its offset along
  turned <- permuted_problem(null_response(as_problem(x, y, offset = d$o), "cox"), 120:1)
  expect_identical(turned$rows$time, rev(d$time))
  expect_identical(turned$rows$offset[, 1], rev(d$o))
  for (run in list(greedy_rls, rls, omp, kernel_rls)) {
    expect_error(run(x, y, offset = d$o), "`offset` is of the risk: take .*loss = \"cox\"",
                 class = "sparsels_error_input")
  }
})

test_that("predictions, prints and folds of a Cox fit", {
  skip_if_not_installed("survival")
  set.seed(62)
  d <- data.frame(a = rnorm(90), b = rnorm(90), c = rnorm(90), status = rep(c(1, 1, 0), 30),
                  site = gl(3, 30))
  d$time <- ceiling(rexp(90, exp(d$a)) * 9)
  fit <- l1_path(Surv(time, status) ~ a + b + c + strata(site), d, loss = "cox", folds = 3,
                 nlambda = 8)
  matrix <- l1_path(as.matrix(d[1:3]), Surv(d$time, d$status), strata = d$site, loss = "cox",
                    folds = fit$folds, nlambda = 8)
  expect_equal(fit$path, matrix$path)
  expect_snapshot(print(fit))
  link <- predict(fit, d)
  expect_equal(predict(fit, d, type = "risk"), link - mean(link))
  survival <- predict(fit, d[1:5, ], type = "survival", times = c(0, 3, 9))
  expect_identical(dim(survival), c(5L, 3L))
  expect_true(all(survival[, 1] == 1) && all(diff(t(survival)) <= 0))
  expect_equal(predict(matrix, as.matrix(d[1:5, 1:3]), type = "survival", times = 3,
                       newstrata = d$site[1:5])[, 1], survival[, 2], ignore_attr = TRUE)
  expect_equal(deviance(fit, lambda = fit$lambda),
               deviance(fit, lambda = fit$lambda, newdata = d), tolerance = 1e-6)
  verified <- verify(fit, d, claims = 60, progress = FALSE)
  expect_true(verified$ok)
  # rows of weight 0 leave every risk set
  w <- rep(c(1, 0), c(60, 30))
  whole <- quiet_cox(as.matrix(d[1:3]), Surv(d$time, d$status), weights = w, nlambda = 4,
                     standardize = FALSE)
  part <- quiet_cox(as.matrix(d[1:60, 1:3]), Surv(d$time, d$status)[1:60], nlambda = 4,
                    standardize = FALSE)
  expect_equal(whole$path$objective, part$path$objective, tolerance = 1e-6)
  judged <- cross_validate(as.matrix(d[1:3]), Surv(d$time / 2, d$time, d$status), l1_path,
                           loss = "cox", nlambda = 5, outer = 3, folds = 3, progress = FALSE)
  expect_identical(judged$measure, "concordance")
})

test_that("the concordance of strata and late entry counts pairs at risk together", {
  skip_if_not_installed("survival")
  set.seed(63)
  for (number in c(1, 2, 3, 5, 9)) {
    d <- draw_times(number, 30, 3)
    pb <- as_problem(d$x, as_times(d), weights = d$w, strata = d$stratum, offset = d$o)
    score <- round(d$x[, 1, drop = FALSE], 1)
    expect_equal(ordered_pairs(pb, score), concordant_pairs(1:30, pb, score[, 1]))
  }
})

test_that("times of 0 and one time for all rows, as conditional logistic regression has", {
  skip_if_not_installed("survival")
  set.seed(66)
  x <- matrix(rnorm(240), 80, 3, dimnames = list(NULL, c("a", "b", "c")))
  set <- factor(rep(1:20, each = 4))
  case <- rep(c(1, 0, 0, 0), 20)
  times <- Surv(round(rexp(80, exp(x[, 1])), 1), rbinom(80, 1, 0.7))
  expect_true(any(times[, 1] == 0))
  matched <- Surv(rep(1, 80), case)
  strata <- survival::strata
  by_conditional <- survival::coxph(matched ~ x + strata(set))
  for (case in list(list(times, NULL, survival::coxph(times ~ x)),
                    list(matched, NULL, survival::coxph(matched ~ x)),
                    list(matched, set, by_conditional))) {
    y <- case[[1L]]
    path <- quiet_cox(x, y, strata = case[[2L]], lambda = 1e-8, tolerance = 1e-11)
    expect_equal(coef(path)[colnames(x)], coef(case[[3L]]), tolerance = 1e-6, ignore_attr = TRUE)
    search <- greedy_rls(x, y, strata = case[[2L]], loss = "cox", lambda = 1e-8, refit = FALSE,
                         size = 3, k = 3)
    expect_equal(coef(search)[colnames(x)], coef(case[[3L]]), tolerance = 1e-6,
                 ignore_attr = TRUE)
    expect_true(verify(search, x, y, strata = case[[2L]], claims = 30)$ok)
    judged <- cross_validate(x, y, l1_path, strata = case[[2L]], nlambda = 5, folds = 3,
                             outer = 4, groups = case[[2L]])
    expect_true(is.finite(judged$estimate[["mean"]]))
    for (run in list(greedy_rls, rls, omp, kernel_rls)) {
      expect_error(run(x, y, strata = case[[2L]]), "loss = \"cox\"",
                   class = "sparsels_error_input")
    }
  }
  # parts without a time of 0 are parts of such data
  expect_false(has_plain_times(as_problem(x, times)[times[, 1] > 0, ]))
})

test_that("many ties, separation and wide ranges", {
  skip_if_not_installed("survival")
  set.seed(64)
  x <- matrix(rnorm(3000), 1000, 3)
  tied <- quiet_cox(x, Surv(rep(1:2, 500), rep(c(1, 1, 0, 1), 250)), nlambda = 5)
  expect_true(all(tied$path$gap <= 3e-4 * tied$null_objective & tied$path$gap >= -1e-10))
  # a column that orders the times
  x <- matrix(rnorm(60), 20, 3)
  ordered <- quiet_cox(cbind(x, -(1:20)), Surv(1:20, rep(1, 20)), nlambda = 30,
                       lambda_min_ratio = 1e-8)
  expect_true(all(ordered$path$gap <= 3e-4 * ordered$null_objective))
  expect_gt(max(ordered$path$dev_ratio), 0.99)
  wide <- numeric()
  for (seed in 1:20) {
    set.seed(seed)
    x <- matrix(rnorm(15 * 30), 15)
    fit <- quiet_cox(x, Surv(rexp(15), rep(c(1, 1, 0), 5)), nlambda = 8, lambda_min_ratio = 1e-5)
    wide <- c(wide, max(fit$path$gap) / fit$null_objective)
  }
  expect_true(all(wide <= 3e-4))
  expect_warning(l1_path(x, Surv(1:15, rep(c(1, 1, 0), 5)), loss = "cox", nlambda = 6,
                         adjust = rep(c(1, 0), c(2, 13)), progress = FALSE),
                 class = "sparsels_warning_separation")
})

test_that("clusters and sizes", {
  skip_if_not_installed("survival")
  set.seed(65)
  d <- draw_times(3, 50, 10)
  sized <- suppressMessages(l1_size(d$x, as_times(d), loss = "cox", size = 4, range = 0))
  expect_identical(sized$size, 4L)
  cluster <- parallel::makeCluster(2)
  on.exit(parallel::stopCluster(cluster))
  for (ties in c("efron", "breslow")) {
    alone <- quiet_cox(d$x, as_times(d), ties = ties, nlambda = 5, tolerance = 1e-9)
    spread <- quiet_cox(d$x, as_times(d), ties = ties, nlambda = 5, tolerance = 1e-9,
                        cluster = cluster)
    expect_equal(spread$path$objective, alone$path$objective, tolerance = 1e-8)
    expect_true(all(spread$path$gap <= 1e-9 * spread$null_objective))
  }
})

test_that("what a Cox model cannot do is refused by name", {
  skip_if_not_installed("survival")
  set.seed(66)
  x <- matrix(rnorm(60), 20, 3)
  y <- Surv(1:20, rep(c(1, 1, 0, 1), 5))
  expect_snapshot({
    refusal(l1_path(x, 1:20 / 3, loss = "cox"))
    refusal(l1_path(x, y, loss = "cox", ties = "exact"))
    refusal(l1_path(x, y, loss = "squared", ties = "breslow"))
    refusal(l1_path(x, y, loss = "cox", intercept = FALSE))
    refusal(l1_path(x, y, loss = "cox", screen = "safe1"))
    refusal(l1_path(x, y, loss = "cox", solver = "ipm"))
    refusal(l1_path(x, y, loss = "cox", folds = 5, size = "cv"))
    refusal(l1_path(x, Surv(1:20, 1:20 < 4), loss = "cox", folds = rep(1:4, each = 5)))
    refusal(l1_path(x, Surv(1:20, 1:20 < 2), loss = "cox", folds = 4))
    refusal(l1_path(x, y, loss = "cox", strata = gl(2, 10), adjust = gl(2, 10)))
    refusal(l1_path(x, Surv(0:19, 1:20, rep(1, 20)), loss = "cox"))
    refusal(l1_path(x, y, loss = "squared", strata = gl(2, 10)))
    refusal(l1_path(x, 1:20 / 3, strata = gl(2, 10)))
    refusal(suppressWarnings(as_problem(x, Surv(c(5, 1:19), 2:21, rep(1, 20)))))
    fit <- l1_path(x, y, loss = "cox", nlambda = 3)
    refusal(predict(fit, x, type = "survival", lambda = fit$path$lambda[1]))
    refusal(predict(fit, x, times = 3))
    refusal(predict(fit, x, type = "survival", newstrata = 1))
    refusal(residuals(fit, "held_out"))
    refusal(predict(l1_path(x, y, loss = "cox", strata = gl(2, 10), nlambda = 3), x,
                    type = "survival"))
  })
})

test_that("the partial likelihood is the loss of censored times by default", {
  skip_if_not_installed("survival")
  set.seed(68)
  d <- draw_times(3, 40, 6)
  pb <- as_problem(d$x, as_times(d))
  alike <- function(one, other) {
    one$call <- other$call <- NULL
    expect_equal(one, other, ignore_attr = "seal")
  }
  alike(l1_path(pb, nlambda = 5), l1_path(pb, loss = "cox", nlambda = 5))
  alike(l1_size(pb, size = 3), l1_size(pb, size = 3, loss = "cox"))
  expect_identical(lambda_max(pb), lambda_max(pb, loss = "cox"))
  expect_identical(lambda_max(pb, ties = "breslow"),
                   lambda_max(pb, loss = "cox", ties = "breslow"))
  alike(safe_screen(pb, lambda = 3), safe_screen(pb, lambda = 3, loss = "cox", rule = "gap"))
  streamed <- safe_screen(function(columns) d$x[, columns], as_times(d), lambda = 3,
                          columns = colnames(d$x))
  expect_identical(streamed$loss, "cox")
  expect_equal(streamed$keep, safe_screen(pb, lambda = 3)$keep)
  judged <- cross_validate(pb, l1_path, nlambda = 4, folds = 3, outer = 3, measure = "deviance",
                           progress = FALSE)
  expect_identical(judged$words, "partial deviance per event")
  # squares of other responses, and where they are given
  expect_identical(l1_path(d$x, d$time, nlambda = 3)$loss, "squared")
  expect_identical(l1_path(pb, nlambda = 3, loss = "squared")$loss, "squared")
  expect_snapshot({
    refusal(l1_path(pb, nlambda = 3, folds = 5, size = "cv"))
    refusal(l1_path(pb, nlambda = 3, solver = "ipm"))
    refusal(l1_path(d$x, as_times(d), intercept = FALSE))
    refusal(cross_validate(pb, greedy_rls, measure = "deviance"))
  })
})

test_that("questions of squared errors are refused", {
  set.seed(5)
  x <- matrix(rnorm(40 * 4), 40)
  y <- survival::Surv(rexp(40, exp(x[, 1])), rep(c(1, 1, 0, 1), 10))
  expect_error(added_value(x, y, l1_path, loss = "cox", adjust = rnorm(40)),
               "added_value\\(\\) compares squared errors, which `loss = \"cox\"` does not",
               class = "sparsels_error_argument")
  expect_error(permutation_test(x, y, l1_path, loss = "cox", adjust = rnorm(40)),
               "residuals are permuted, which are no times", class = "sparsels_error_argument")
  fit <- l1_path(x, y, loss = "cox", lambda = 1)
  expect_error(exchange(fit, x, y, lambda = 1), "compares squared errors",
               class = "sparsels_error_argument")
})

test_that("the deviance of events is the deviance of all rows less that of the rows trained on", {
  skip_if_not_installed("survival")
  set.seed(67)
  for (number in c(2, 4, 9)) {
    d <- draw_times(number, 36, 4)
    # a fold without an event
    folds <- rep_len(1:4, 36)
    d$event[folds == 4] <- FALSE
    pb <- suppressMessages(as_problem(d$x, as_times(d), weights = d$w, strata = d$stratum,
                                      offset = d$o, standardize = FALSE))
    held <- quiet_cox(pb, ties = d$ties, lambda = c(2, 1), folds = folds, tolerance = 1e-13)
    judged <- cross_validate(pb, l1_path, loss = "cox", ties = d$ties, lambda = c(2, 1),
                             folds = NULL, tolerance = 1e-13, outer = folds,
                             measure = c("deviance", "concordance"), progress = FALSE)
    whole <- plain_sums(d)
    each <- vapply(1:4, function(fold) {
      train <- rows_of_times(d, folds != fold)
      alone <- quiet_cox(d$x[folds != fold, ], as_times(train), weights = train$w, ties = d$ties,
                         strata = train$stratum, offset = train$o, standardize = FALSE,
                         lambda = c(2, 1), tolerance = 1e-13)
      vapply(1:3, function(row) {
        f <- if (row == 3) numeric(36) else
          predict(alone, d$x, lambda = alone$path$lambda[row],
                  newoffset = if (!is.null(d$o)) 0)
        2 * (plain_value(whole, f) - plain_value(plain_sums(train), f[folds != fold]))
      }, 0)
    }, numeric(3))
    expect_true(any(each[, 4] != 0))
    expected <- rowSums(each) / sum(d$w * d$event)
    expect_near(held$path$criterion, expected[1:2], 1e-8)
    expect_true(verify(held, pb, claims = 30, progress = FALSE)$ok)
    expect_near(judged$estimate[["mean"]], expected[2], 1e-8)
    expect_near(judged$estimates$null[1], expected[3], 1e-8)
    events <- tapply(d$w * d$event, folds, sum)
    expect_near(judged$folds$test[-4], each[2, -4] / events[-4], 1e-8)
    expect_identical(judged$estimates$unscored[1], 1L)
  }
})

test_that("parts of the rows are judged by their own partial likelihood", {
  skip_if_not_installed("survival")
  set.seed(3)
  x <- matrix(rnorm(90 * 3), 90)
  y <- survival::Surv(round(rexp(90, exp(x[, 1])) * 4 + 1), rep(c(1, 0, 1), 30))
  group <- rep(c("a", "b", "c"), each = 30)
  # minus twice the log partial likelihood of some rows, less the saturated model's, per event of
  # `counted`
  deviance <- function(rows, f, counted = rows) {
    tied <- table(y[rows][y[rows, 2] == 1, 1])
    saturated <- -sum(lgamma(tied + 1))
    own <- survival::coxph(y[rows] ~ offset(f[rows]))$loglik[1]
    2 * (saturated - own) / sum(y[counted, 2])
  }
  scores <- function(rows) predict(quiet_cox(x[rows, ], y[rows], lambda = 1), x)
  moved <- transfer(x, y, l1_path, lambda = 1, groups = group, measure = "deviance",
                    progress = FALSE)
  for (from in unique(group)) {
    f <- scores(which(group == from))
    for (to in setdiff(unique(group), from)) {
      rows <- which(group == to)
      expect_equal(moved$error[from, to], deviance(rows, f), tolerance = 1e-8)
      expect_equal(moved$null[from, to], deviance(rows, numeric(90)), tolerance = 1e-8)
    }
  }
  expect_output(print(moved), "partial deviance per event among the rows held out")
  methods <- list(l1_path = list(l1_path, lambda = 1),
                  cox = list(l1_path, lambda = 4, loss = "cox"))
  compared <- compare_methods(x, y, methods = methods, splits = 2, measure = "deviance",
                              progress = FALSE)
  for (split in 1:2) {
    trained <- compared$training_rows[[split]]
    held <- compared$test_rows[[split]]
    f <- scores(trained)
    expect_equal(compared$scores[split, "l1_path", "training"], deviance(trained, f),
                 tolerance = 1e-8)
    both <- c(trained, held)
    expected <- deviance(both, f, held) - deviance(trained, f, held)
    expect_equal(compared$scores[split, "l1_path", "test"], expected, tolerance = 1e-8)
  }
  # the covariates alone: the null model of a learning curve
  age <- rnorm(90)
  z <- data.frame(age = age)
  part <- fit_rows(new_run(l1_path, as_problem(x, y, adjust = z), list(lambda = 1)), 1:60)
  null <- survival::coxph(y[1:60] ~ age[1:60])
  expect_equal(diff(null_scores(part, 61:90)[, 1, 1]), diff(age[61:90]) * unname(coef(null)),
               tolerance = 1e-7)
  set.seed(4)
  curve <- learning_curve(x, y, l1_path, lambda = 1, sizes = c(20, 40, 60), repeats = 2,
                          measure = "deviance", progress = FALSE)
  # the rows held out are the same at every number of training rows
  expect_true(all(abs(curve$table$null - curve$table$null[1]) < 1e-8))
  expect_true(all(curve$table$error < curve$table$null))
})

test_that("a fold whose rows all have weight 0 is left out", {
  skip_if_not_installed("survival")
  set.seed(2)
  x <- matrix(rnorm(40 * 4), 40)
  y <- survival::Surv(rexp(40, exp(x[, 1])), rbinom(40, 1, 0.8))
  ids <- rep(c(3, 1:2, 4:8), each = 5)
  kept <- 6:40
  weighted <- l1_path(x, y, loss = "cox", weights = replace(rep(1, 40), 1:5, 0), folds = ids)
  alone <- l1_path(x[kept, ], y[kept], loss = "cox", folds = ids[kept])
  expect_equal(weighted$path$criterion, alone$path$criterion)
  expect_equal(weighted$held_out[kept, ], alone$held_out[, 1], ignore_attr = TRUE)
  expect_length(weighted$fold_models$models, 7)
})

test_that("folds whose models have no error at all are refused", {
  skip_if_not_installed("survival")
  y <- survival::Surv(c(3, 1, 3, 1, 1, 0), c(6, 30, 105, 9, 6, 1), c(0, 1, 1, 1, 1, 1))
  age <- c(0.60089553, 0.09895848, -2.06017287, -0.47288499, 0.69477586, 1.5923729)
  set.seed(1)
  expect_error(suppressWarnings(l1_path(matrix(rnorm(18), 6), y, loss = "cox", adjust = age,
                                        weights = c(1, 1, 1, 1, 0.5, 0.5),
                                        folds = c(1, 3, 2, 4, 1, 5))),
               "no model has an error in all folds", class = "sparsels_error_input")
})

test_that("products of columns in the model are not made again to check its gap", {
  skip_if_not_installed("survival")
  set.seed(5)
  x <- matrix(rnorm(600 * 20), 600)
  y <- survival::Surv(rexp(600, exp(x[, 1] - x[, 2] / 2)), rep(TRUE, 600))
  path <- l1_path(x, y, nlambda = 20, lambda_min_ratio = 1e-3)$path
  whole <- path$size == 20
  expect_gt(sum(whole), 3)
  expect_equal(path$products[whole], rep(0, sum(whole)))
})

test_that("two events are too few for the folds of training parts, which is told", {
  set.seed(1)
  x <- matrix(rnorm(240), 40)
  y <- survival::Surv(rexp(40), seq_len(40) %in% c(3, 20))
  expect_error(cross_validate(x, y, l1_path), "outer fold [0-9]+: .* folds need two: without",
               class = "sparsels_error_input")
  expect_error(cross_validate(x, y, l1_path, lambda = 0.1), "event would be held out .*: more of",
               class = "sparsels_error_input")
})
