# greedy_rls() of counts and shares: loss = "poisson" and "binomial"

expect_near <- function(value, expected, by) {
  expect_lte(max(abs(unname(value) - unname(expected))), by)
}

quiet_search <- function(..., loss = "poisson") {
  suppressWarnings(suppressMessages(greedy_rls(..., loss = loss, progress = FALSE)))
}

counts_with_exposure <- function(m = 60, n = 12, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  o <- log(runif(m, 0.5, 3))
  list(x = x, o = o, w = runif(m, 0.5, 2), z = data.frame(age = rnorm(m)),
       y = rpois(m, exp(0.5 + 0.5 * x[, 1] - 0.4 * x[, 2] + o)))
}

test_that("an example by hand: columns, objectives and leave-one-out deviances", {
  x <- outer(1:10, 1:4, function(i, j) (i^2 * j + 3 * i + j^3) %% 11 - 5)
  w <- c(1, 2, 1, 1, 0.5, 1, 1, 2, 1, 1)
  pb <- as_problem(x, c(1, 0, 4, 2, 3, 0, 2, 1, 7, 5), weights = w, standardize = FALSE,
                   offset = log(c(1, 2, 1, 3, 2, 1, 1, 2, 2, 1)))
  fit <- greedy_rls(pb, loss = "poisson", lambda = 1, k = 2, size = "criterion", refit = FALSE,
                    folds = "loo")
  expect_identical(fit$path$feature, c(NA, 1L, 2L))
  expect_equal(fit$path$criterion * sum(w), c(40.379654218, 11.704103030, 13.116190491),
               tolerance = 1e-10)
  penalty <- vapply(fit$coefficients, function(model) sum(model$beta^2), 0)
  deviances <- vapply(0:2, function(size) deviance(fit, size, newdata = pb), 0)
  expect_equal((deviances + penalty) / 2, c(15.930238842, 3.856907399, 3.288056902),
               tolerance = 1e-9)
})

test_that("negative binomial counts: the example, theta, and a search with it twice", {
  x <- outer(1:10, 1:4, function(i, j) (i^2 * j + 3 * i + j^3) %% 11 - 5)
  w <- c(1, 2, 1, 1, 0.5, 1, 1, 2, 1, 1)
  pb <- as_problem(x, c(1, 0, 4, 2, 3, 0, 2, 1, 7, 5), weights = w, standardize = FALSE,
                   offset = log(c(1, 2, 1, 3, 2, 1, 1, 2, 2, 1)))
  fit <- greedy_rls(pb, loss = "negbin(2)", lambda = 1, k = 2, size = "criterion", refit = FALSE,
                    folds = "loo")
  expect_identical(fit$path$feature, c(NA, 1L, 2L))
  expect_equal(fit$path$criterion * sum(w), c(21.157072037, 6.945986149, 9.511072669),
               tolerance = 1e-9)
  penalty <- vapply(fit$coefficients, function(model) sum(model$beta^2), 0)
  deviances <- vapply(0:2, function(size) deviance(fit, size, newdata = pb), 0)
  expect_equal((deviances + penalty) / 2, c(8.553035129, 2.222393927, 2.158078931),
               tolerance = 1e-9)
  expect_true(verify(fit, pb, claims = 80)$ok)
  d <- counts_with_exposure(80, 20, seed = 12)
  y <- rnbinom(80, 1.5, mu = exp(1 + d$o + 0.9 * d$x[, 1] - 0.7 * d$x[, 2]))
  fit <- quiet_search(d$x, y, offset = d$o, weights = d$w, loss = "negbin", k = 3)
  theta <- parameter_of(fit$loss)
  expect_output(print(summary(fit)), "by maximum likelihood at the model of a first search")
  # the second search is by theta at the model of the first, which is by theta at the null model
  first <- quiet_search(d$x, y, offset = d$o, weights = d$w, k = 3,
                        loss = with_null_parameter(as_problem(d$x, y, offset = d$o,
                                                              weights = d$w), "negbin"))
  likelihood <- function(theta) {
    sum(d$w * dnbinom(y, size = theta, mu = fitted(first), log = TRUE))
  }
  expect_gt(likelihood(theta), likelihood(0.999 * theta))
  expect_gt(likelihood(theta), likelihood(1.001 * theta))
  again <- quiet_search(d$x, y, offset = d$o, weights = d$w, loss = fit$loss, k = 3)
  expect_identical(again$path, fit$path)
  expect_true(verify(fit, d$x, y, offset = d$o, weights = d$w, claims = 30)$ok)
  expect_equal(predict(fit, d$x, newoffset = d$o),
               exp(predict(fit, d$x, newoffset = d$o, type = "link")))
  skip_if_not_installed("MASS")
  own <- parameter_of(with_null_parameter(as_problem(d$x, y, offset = d$o), "negbin"))
  expect_equal(own, MASS::glm.nb(y ~ offset(d$o))$theta, tolerance = 1e-5)
  expect_message(greedy_rls(d$x, rep(3:4, 40), loss = "negbin", k = 1, size = 1),
                 "vary no more than Poisson")
  expect_error(quiet_search(d$x, y, loss = "negbin(0)"), "must be a number from 0.001")
})

test_that("random problems: steps by trying all columns, held-out deviance by retraining", {
  for (loss in c("poisson", "binomial")) {
    set.seed(40)
    proven <- steps <- 0
    for (number in problems_to_try(40)) {
      d <- draw_means(number, loss)
      scaled <- number %% 7 > 0
      penalty <- if (number %% 5 == 2) runif(ncol(d$x), 0.2, 3) else rep(1, ncol(d$x))
      ids <- sample(rep_len(1:4, length(d$y)))
      # all means have a finite link without each fold
      ids[head(which(d$w > 0 & d$y > 0), 2)] <- 1:2
      if (loss == "binomial") ids[head(which(d$w > 0 & d$y < 1), 2)] <- 1:2
      lambda <- sum(d$w) * 16 * 64^-sample(0:2, 1)
      x <- if (number %% 3 == 0) Matrix::Matrix(d$x, sparse = TRUE) else d$x
      if (number %% 12 == 4 && all(x == round(x))) storage.mode(x) <- "integer"
      fit <- quiet_search(x, d$y, offset = if (any(d$o != 0)) d$o, weights = d$w, adjust = d$z,
                          penalty = if (any(penalty != 1)) penalty, standardize = scaled,
                          lambda = lambda, k = min(3, ncol(x)), size = "criterion",
                          refit = FALSE, folds = ids, loss = loss)
      design <- likelihood_design(d, scaled, penalty)
      model <- function(set) {
        likelihood_model(loss, design$z, design$x[, set, drop = FALSE], d$y, d$o, d$w, lambda)
      }
      null <- model(integer())$objective
      set <- integer()
      for (row in seq_len(nrow(fit$path))) {
        chosen <- fit$path$feature[row]
        if (!is.na(chosen)) {
          others <- setdiff(which(fit$problem$columns$usable), set)
          values <- vapply(others, function(j) model(c(set, j))$objective, 0)
          own <- values[match(chosen, others)]
          if (fit$path$exact[row]) expect_lte(own, min(values) + 1e-11 * null)
          steps <- steps + 1
          proven <- proven + fit$path$exact[row]
          set <- c(set, chosen)
        }
        out <- likelihood_left_out(loss, design$z, design$x[, set, drop = FALSE], d$y, d$o, d$w,
                                   lambda, ids)
        rows <- d$w > 0
        error <- sum((d$w * deviance_rows(loss, d$y, out + d$o))[rows]) / sum(d$w)
        expect_near(fit$path$criterion[row], error, 1e-9 * max(1, error))
        if (length(set) == fit$size) expect_near(fit$held_out[rows], (out + d$o)[rows], 1e-8)
      }
    }
    expect_gt(proven, 0.7 * steps)
  }
})

test_that("models are those of glm() where lambda is next to nothing, also without each fold", {
  d <- counts_with_exposure()
  ids <- rep(1:5, 12)
  fit <- greedy_rls(d$x, d$y, offset = d$o, weights = d$w, adjust = d$z, loss = "poisson",
                    lambda = 1e-10, k = 3, size = "criterion", refit = FALSE, folds = ids)
  model <- fit$coefficients[[4]]
  data <- data.frame(y = d$y, age = d$z$age, d$x[, model$features])
  data$o <- d$o
  data$w <- d$w
  formula <- y ~ . - o - w + offset(o)
  strict <- list(epsilon = 1e-14, maxit = 100)
  by_glm <- suppressWarnings(glm(formula, poisson, data, weights = w, control = strict))
  expect_near(coef(fit, size = 3), coef(by_glm)[names(coef(fit, size = 3))], 1e-7)
  held <- vapply(1:5, function(fold) {
    without <- suppressWarnings(glm(formula, poisson, data[ids != fold, ], weights = w,
                                    control = strict))
    f <- predict(without, data[ids == fold, ])
    sum((d$w * deviance_rows("poisson", d$y, replace(0 * d$y, ids == fold, f)))[ids == fold])
  }, 0)
  expect_near(fit$path$criterion[4], sum(held) / sum(d$w), 1e-7)
})

test_that("rows that a covariate separates leave the search of the other rows", {
  set.seed(9)
  x <- scale(matrix(rnorm(80 * 5), 80)) * sqrt(80 / 79)
  d <- data.frame(ward = factor(sample(rep(letters[1:4], c(30, 30, 15, 5)))))
  others <- d$ward != "d"
  count <- ifelse(others, rpois(80, exp(0.3 + 0.5 * x[, 1])), 0)
  share <- pmin(count / 8, 1)
  skip_if_not_installed("survival")
  times <- survival::Surv(rexp(80, exp(x[, 1])), others & rep(c(TRUE, TRUE, FALSE, TRUE), 20))
  folds <- rep(1:5, 16)
  for (case in list(list("poisson", count), list("binomial", share), list("negbin(2)", count),
                    list("cox", times))) {
    loss <- case[[1L]]
    y <- case[[2L]]
    search <- function(rows, threads = 1) {
      y <- if (is.matrix(y)) y[rows, ] else y[rows]
      greedy_rls(x[rows, ], y, adjust = droplevels(d[rows, , drop = FALSE]), loss = loss, k = 3,
                 lambda = 20, refit = FALSE, size = "criterion", standardize = FALSE,
                 folds = folds[rows], criterion = loss, threads = threads)
    }
    expect_warning(fit <- search(1:80), "'wardd'", class = "sparsels_warning_separation")
    own <- search(which(others))
    expect_identical(fit$path$feature, own$path$feature)
    coefficients <- names(coef(own, size = 3))
    expect_near(coef(fit, size = 3)[coefficients], coef(own, size = 3), 1e-6)
    far <- predict(fit, x[!others, ], adjust = d[!others, , drop = FALSE], type = "link")
    expect_lt(max(far), -15)
    if (loss != "cox") {
      expect_near(fit$held_out[others], own$held_out, 1e-6)
      expect_near(fit$path$criterion * 80, own$path$criterion * 75, 1e-5)
    }
    expect_identical(suppressWarnings(search(1:80, threads = 2))[c("path", "held_out")],
                     fit[c("path", "held_out")])
    expect_true(suppressWarnings(verify(fit, x, y, adjust = d, claims = 30))$ok)
    if (loss == "poisson") {
      # named once, not for each fold
      warned <- capture_warnings(cross_validate(x, y, greedy_rls, adjust = d, loss = loss, k = 1,
                                                lambda = 20, refit = FALSE, size = 1, outer = 3))
      expect_length(grep("separates", warned), 1L)
    }
    fit$path$criterion <- 1.001 * fit$path$criterion
    expect_false(suppressWarnings(verify(fit, x, y, adjust = d, claims = 20))$ok)
  }
})

test_that("a covariate that is lost with a fold says nothing of its rows, as of squares", {
  d <- counts_with_exposure(seed = 10)
  level <- data.frame(level = factor(replace(rep(c("a", "b"), 30), 7, "c")))
  folds <- rep(1:6, 10)
  search <- function(rows, ...) {
    quiet_search(scale(d$x)[rows, ], d$y[rows], adjust = droplevels(level[rows, , drop = FALSE]),
                 folds = folds[rows], k = 3, lambda = 5, refit = FALSE, standardize = FALSE, ...)
  }
  fit <- search(1:60, size = "criterion")
  own <- search((1:60)[-7], size = "criterion")
  expect_identical(fit$path$feature, own$path$feature)
  expect_near(fit$held_out[-7], own$held_out, 1e-7)
  expect_identical(fit$held_out[7], NA_real_)
  # the level of a single row fits it
  expect_near(fit$path$criterion * 60, own$path$criterion * 59, 1e-6)
  # counts of a level that are all in one fold, or 0 without it
  zero <- replace(d$y, c(1, 13), c(3, 0))
  for (level in list(replace(rep("a", 60), c(1, 7, 13), "b"), replace(rep("a", 60), 1:2, "b"))) {
    fit <- quiet_search(d$x, zero, adjust = data.frame(level), k = 2)
    expect_true(all(is.finite(fit$path$criterion)))
    expect_true(suppressMessages(verify(fit, d$x, zero, adjust = data.frame(level),
                                        claims = 60))$ok)
  }
})

test_that("the result is the same for any number of threads, and in files", {
  d <- counts_with_exposure(70, 90, seed = 3)
  search <- function(x, ...) {
    fit <- quiet_search(x, d$y, offset = d$o, weights = d$w, adjust = d$z, size_folds = 4, k = 6,
                        ...)
    fit[c("path", "coefficients", "held_out", "fitted", "size", "lambda")]
  }
  one <- search(d$x)
  expect_identical(search(d$x, threads = 2), one)
  file <- write_file_matrix(d$x, tempfile())
  expect_equal(search(file), one, tolerance = 1e-12)
  sparse <- d$x
  sparse[abs(sparse) < 1] <- 0
  expect_equal(search(Matrix::Matrix(sparse, sparse = TRUE)), search(sparse), tolerance = 1e-9)
})

test_that("given columns come first, unpenalised and excluded ones are not searched", {
  d <- counts_with_exposure(seed = 4)
  fit <- quiet_search(d$x, d$y, offset = d$o, start = c("g7", "g9"), k = 4, size = "criterion")
  expect_identical(fit$path$name[2:3], c("g7", "g9"))
  expect_identical(is.na(fit$path$exact), c(TRUE, TRUE, TRUE, FALSE, FALSE))
  expect_output(print(fit), "began with 2 given columns")
  penalty <- replace(rep(1, 12), 1:2, c(0, Inf))
  fit <- quiet_search(d$x, d$y, offset = d$o, penalty = penalty, k = 3, size = "criterion")
  expect_false(any(c("g1", "g2") %in% fit$path$name))
  expect_true("g1" %in% rownames(fit$coefficients[[1]]$covariates))
  # copies
  fit <- quiet_search(cbind(d$x, copy = 2 * d$x[, 1]), d$y, offset = d$o, k = 5)
  expect_false("copy" %in% fit$path$name)
  fit <- quiet_search(cbind(copy = 2 * d$x[, 1], d$x), d$y, offset = d$o, k = 1, refit = FALSE,
                      lambda = 30, size = "criterion")
  expect_identical(fit$path$name[2], "copy")
})

test_that("the default fit is honest, the same in every call, and verified by retraining", {
  d <- counts_with_exposure(seed = 5)
  set.seed(1)
  before <- .Random.seed
  fit <- greedy_rls(d$x, d$y, offset = d$o, weights = d$w, adjust = d$z, loss = "poisson")
  expect_identical(.Random.seed, before)
  expect_identical(fit$folds$label, "10-fold")
  expect_true(all(c("g1", "g2") %in% selected(fit)))
  expect_identical(fit$criterion$name, "poisson")
  expect_true(all(fit$path$exact[-1]))
  expect_output(print(fit), "cross-validated mean Poisson deviance")
  expect_output(print(summary(fit)), "exact greedy steps: no other column is better")
  checked <- verify(fit, d$x, d$y, offset = d$o, weights = d$w, adjust = d$z, claims = 40)
  expect_true(checked$ok)
  expect_true(all(c("no better column at a step", "lambda of a refit", "cross-fitted error",
                    "held-out prediction of a fold's model") %in% checked$kinds$claim))
  wrong <- fit
  wrong$path$criterion <- 0.999 * wrong$path$criterion
  expect_false(verify(wrong, d$x, d$y, offset = d$o, weights = d$w, adjust = d$z,
                      claims = 20)$ok)
  share <- d$y / (d$y + 3)
  shares <- greedy_rls(d$x, share, weights = d$y + 3, loss = "binomial", k = 4, refit = FALSE,
                       lambda = c(300, 20), folds = "loo")
  expect_true(verify(shares, d$x, share, weights = d$y + 3, claims = 20)$ok)
})

test_that("predictions, residuals, tidiers and deviances are on the scale of the counts", {
  d <- counts_with_exposure(seed = 6)
  fit <- quiet_search(d$x, d$y, offset = d$o)
  link <- predict(fit, d$x, newoffset = d$o, type = "link")
  expect_near(link, drop(cbind(1, d$x[, selected(fit)]) %*% coef(fit)) + d$o, 1e-12)
  expect_equal(predict(fit, d$x, newoffset = d$o), exp(link))
  expect_equal(unname(fitted(fit)), unname(exp(link)))
  expect_equal(unname(residuals(fit)), unname(d$y - exp(link)))
  expect_error(predict(fit, d$x), "newoffset")
  expect_equal(deviance(fit), sum(deviance_rows("poisson", d$y, link)))
  expect_identical(glance(fit)$criterion, "poisson")
  expect_identical(tidy(fit)$term, c("(Intercept)", selected(fit)))
  expect_error(predict(fit, d$x, newoffset = d$o, interval = "prediction", scaled = TRUE),
               "have its spread")
})

test_that("outer folds have the mean deviance of the counts and of a constant rate", {
  d <- counts_with_exposure(seed = 7)
  ids <- rep(1:4, 15)
  pb <- as_problem(d$x, d$y, offset = d$o, weights = d$w)
  cvd <- cross_validate(pb, greedy_rls, loss = "poisson", k = 3, outer = ids, lambda = 40,
                        refit = FALSE)
  expect_identical(cvd$measure, "deviance")
  by_hand <- vapply(1:4, function(fold) {
    out <- ids == fold
    fit <- suppressWarnings(greedy_rls(pb[!out, ], loss = "poisson", k = 3, lambda = 40,
                                       refit = FALSE))
    f <- predict(fit, d$x[out, ], newoffset = d$o[out], type = "link")
    rate <- log(sum((d$w * d$y)[!out]) / sum((d$w * exp(d$o))[!out]))
    c(sum(d$w[out] * deviance_rows("poisson", d$y[out], f)),
      sum(d$w[out] * deviance_rows("poisson", d$y[out], rate + d$o[out])))
  }, c(0, 0))
  found <- cvd$estimates
  expect_equal(cvd$estimate[["mean"]], sum(by_hand[1, ]) / sum(d$w), tolerance = 1e-8)
  curves <- as.data.frame(cvd)
  expect_equal(unique(round(curves$majority, 9)), round(sum(by_hand[2, ]) / sum(d$w), 9))
  expect_error(cross_validate(pb, greedy_rls, measure = "deviance", outer = 3),
               "needs a method with `loss = \"poisson\"`")
  path <- cross_validate(pb, l1_path, loss = "poisson", measure = c("deviance", "squared"),
                         outer = 3, lambda = 5)
  expect_identical(names(path$measures), c("deviance", "squared"))
})

test_that("other questions are asked of counts by their deviance, or refused", {
  d <- counts_with_exposure(seed = 8)
  pb <- as_problem(d$x, d$y, offset = d$o)
  fit <- greedy_rls(pb, loss = "poisson", k = 3, size = 2)
  set.seed(1)
  tested <- permutation_test(pb, greedy_rls, loss = "poisson", permutations = 19, k = 2)
  expect_equal(tested$p.value, 0.05)
  stable <- stability_selection(pb, greedy_rls, loss = "poisson", pairs = 5, q = 2)
  expect_true(all(c("g1", "g2") %in% selected(stable)))
  curve <- suppressWarnings(learning_curve(pb, greedy_rls, loss = "poisson", repeats = 2, k = 3,
                                           sizes = c(20, 30, 45)))
  expect_identical(curve$measure, "deviance")
  panel <- panel_error(pb, c("g1", "g2"), loss = "poisson", random = 5)
  own <- quiet_search(pb[, c("g1", "g2")], k = 2, size = 2, start = 1:2)
  expect_lt(panel$error, panel$null)
  drawn <- random_selection(pb, loss = "poisson", k = 3)
  expect_identical(drawn$criterion$name, "poisson")
  compared <- compare_methods(pb, methods = list(a = list(greedy_rls, loss = "poisson", k = 2),
                                                 b = list(random_selection, loss = "poisson")),
                              splits = 2, measure = "deviance")
  expect_identical(compared$measure, "deviance")
  # all losses of counts by the Poisson loss
  methods <- list(a = list(greedy_rls, loss = "negbin(3)", k = 2, size = 2),
                  b = list(l1_path, loss = "poisson", lambda = 5))
  compared <- compare_methods(pb, methods = methods, splits = 2, measure = "deviance")
  own <- compared$training_rows[[1]]
  other <- compared$test_rows[[1]]
  alone <- quiet_search(pb[own, ], loss = "negbin(3)", k = 2, size = 2)
  f <- predict(alone, d$x[other, ], newoffset = d$o[other], type = "link")
  expect_equal(compared$scores[[1, "a", "test"]], mean(deviance_rows("poisson", d$y[other], f)),
               tolerance = 1e-8)
  expect_error(compare_methods(pb, methods = c(methods, greedy_rls = greedy_rls),
                               measure = "deviance"), "one kind of response")
  expect_error(exchange(fit, pb), "compares squared errors")
  expect_error(certify(fit, pb), "proofs are of squared errors")
  judged <- suppressWarnings(judge(fit, pb, outer = 3, permutations = 0, pairs = 0, repeats = 0,
                                   claims = 20, seed = 1))
  expect_identical(judged$cross_validation$measure, "deviance")
  expect_true(judged$verification$ok)
})

test_that("what is for squared errors alone is refused by name", {
  d <- counts_with_exposure(seed = 9)
  refused <- function(pattern, ...) {
    expect_error(quiet_search(d$x, d$y, ...), pattern, class = "sparsels_error_input")
  }
  refused("`search = \"floating\"` is for `loss = \"squared\"`", search = "floating")
  refused("`criterion = \"absolute\"` is for", criterion = "absolute")
  refused("`keep` is for", keep = 2)
  refused("`budget` is for", budget = 3)
  refused("`cost` is for", cost = rep(1, 12))
  refused("`lambda = \"full\"` is for", lambda = "full")
  expect_error(quiet_search(d$x, factor(d$y > 1)), "needs counts in one column")
  expect_error(quiet_search(d$x, d$y - 1), "of at least 0")
  expect_error(quiet_search(d$x, 0 * d$y), "must vary")
  expect_error(quiet_search(d$x, d$y, loss = "hinge"), "is for l1_path()", fixed = TRUE)
  expect_error(quiet_search(d$x, d$y, loss = "huber"), "must be one of \"squared\", \"poisson\"")
  lone <- replace(0 * d$y, 1:3, 2)
  expect_error(quiet_search(d$x, lone, folds = replace(rep(2:3, 30), 1:3, 1)), "are in one fold")
})

test_that("a permutation test of squares with an offset permutes what the offset leaves", {
  d <- counts_with_exposure(seed = 10)
  set.seed(2)
  tested <- permutation_test(d$x, d$x[, 1] + d$o, greedy_rls, offset = d$o, permutations = 9,
                             k = 2)
  set.seed(2)
  without <- permutation_test(d$x, d$x[, 1] + d$o - d$o, greedy_rls, permutations = 9, k = 2)
  expect_equal(tested$by_size, without$by_size)
})

test_that("numbers that may be counts are said to be, once and rarely", {
  d <- counts_with_exposure(seed = 11)
  briefly <- function(...) greedy_rls(..., k = 2, size = 1)
  said <- function(y, fitter = briefly, ...) {
    given <- character()
    withCallingHandlers(
      suppressWarnings(fitter(d$x, y, ..., progress = FALSE)),
      sparsels_message_counts = function(condition) {
        given <<- c(given, conditionMessage(condition))
        invokeRestart("muffleMessage")
      },
      sparsels_message_task = function(condition) invokeRestart("muffleMessage")
    )
    given
  }
  expect_length(said(d$y), 1L)
  expect_match(said(d$y), "for counts give `loss = \"poisson\"`")
  expect_length(said(d$y, l1_path, nlambda = 3), 1L)
  expect_length(said(d$y, l1_path, folds = 3, nlambda = 3), 1L)
  expect_length(said(d$y, loss = "squared"), 0L)
  expect_length(said(d$y, loss = "poisson"), 0L)
  expect_silent(rls(d$x, d$y))
  set.seed(1)
  others <- list(zero_one = rep(0:1, 30), ratings = rep(1:5, 12), classes = factor(rep(0:5, 10)),
                 signed = d$y - 1, halves = d$y / 2, even = rep(8:12, 12),
                 binary = rep(c(0, 9), 30), horses = 50 + 4 * (1:60), ranks = 1:60)
  for (y in others) expect_length(said(y), 0L)
})

test_that("a factor is in a model as a whole, and each step takes the best group or column", {
  set.seed(21)
  d <- data.frame(a = rnorm(80), b = rnorm(80), g = factor(sample(letters[1:4], 80, TRUE)),
                  h = factor(sample(c("u", "v", "w"), 80, TRUE)))
  d$y <- rpois(80, exp(0.3 + 0.5 * d$a + c(0, 0.6, -0.5, 0.9)[d$g]))
  folds <- rep(1:5, 16)
  pb <- as_problem(y ~ ., d, standardize = FALSE)
  fit <- greedy_rls(pb, loss = "poisson", lambda = 2, k = 4, refit = FALSE, size = "criterion",
                    folds = folds)
  expect_identical(fit$path$columns, c(0L, replace(rep(1L, 4), fit$path$name[-1] == "g", 3L) +
                                         (fit$path$name[-1] == "h")))
  expect_true(all(fit$path$exact[-1]))
  expect_true(verify(fit, pb, claims = Inf)$ok)
  # half of the deviance plus lambda / 2 times the squares of the coefficients of centred columns
  units <- list(a = "a", b = "b", g = c("gb", "gc", "gd"), h = c("hv", "hw"))
  design <- stats::model.matrix(~ a + b + g + h, d)
  objective <- function(chosen, rows = seq_len(80)) {
    x <- design[, c("(Intercept)", unlist(units[chosen])), drop = FALSE]
    value <- function(beta) {
      f <- drop(x[rows, , drop = FALSE] %*% beta)
      sum(exp(f) - d$y[rows] * f) + sum(beta[-1]^2)
    }
    slope <- function(beta) {
      mean <- exp(drop(x[rows, , drop = FALSE] %*% beta))
      drop(crossprod(x[rows, , drop = FALSE], mean - d$y[rows])) + 2 * c(0, beta[-1])
    }
    found <- stats::optim(numeric(ncol(x)), value, slope, method = "BFGS",
                          control = list(reltol = 1e-15, maxit = 1000))
    list(value = found$value, scores = drop(x %*% found$par))
  }
  for (size in 1:4) {
    before <- fit$path$name[seq_len(size - 1L) + 1L]
    values <- vapply(setdiff(names(units), before), function(unit) objective(c(before, unit))$value,
                     0)
    expect_identical(names(which.min(values)), fit$path$name[size + 1L])
  }
  held_out <- fit$held_out
  for (rows in split(1:80, folds)) {
    own <- objective(fit$path$name[seq_len(fit$size) + 1L], setdiff(1:80, rows))
    expect_near(predict(fit, d, type = "link", size = 0)[1], log(mean(d$y)), 1e-9)
    expect_near(held_out[rows], own$scores[rows], 1e-5)
  }
  unpenalised <- greedy_rls(pb, loss = "poisson", lambda = 1e-9, k = 2, size = 2, refit = FALSE)
  expect_setequal(unpenalised$path$name[-1], c("a", "g"))
  expect_near(predict(unpenalised, d), fitted(glm(y ~ a + g, poisson, d)), 1e-7)
})

test_that("groups of counts, shares and times move together, or one column of each", {
  skip_if_not_installed("survival")
  set.seed(22)
  x <- matrix(rnorm(90 * 9), 90, dimnames = list(NULL, paste0("x", 1:9)))
  groups <- rep(c("p", "q", "r"), c(2, 3, 4))
  eta <- x[, 1] / 2 - x[, 2] / 2 + x[, 6] / 2
  responses <- list(poisson = rpois(90, exp(eta)), binomial = rbinom(90, 4, plogis(eta)) / 4,
                    "negbin(2)" = rnbinom(90, 2, mu = exp(eta)),
                    cox = survival::Surv(rexp(90, exp(eta)), rbinom(90, 1, 0.8)))
  for (loss in names(responses)) {
    for (rule in c("together", "one")) {
      pb <- as_problem(x, responses[[loss]], columns_group = groups, group_rule = rule,
                       weights = rep(1:2, 45), adjust = data.frame(age = rnorm(90)))
      search <- function(threads) {
        greedy_rls(pb, loss = loss, criterion = loss, k = 3, folds = rep(1:5, 18), size_folds = 3,
                   lambda = 20, refit = rule == "together",
                   size = if (loss == "poisson") "1se" else "criterion", threads = threads)
      }
      fit <- search(1)
      expect_true(verify(fit, pb, claims = 12)$ok, info = paste(loss, rule))
      chosen <- groups[selected(fit, index = TRUE, size = 2)]
      if (rule == "one") expect_length(unique(chosen), 2) else
        expect_identical(sort(chosen), sort(groups[groups %in% chosen]))
      expect_identical(search(2)$path, fit$path)
    }
  }
})

test_that("claims of counts with the largest theta hold, whose loss nearly cancels", {
  set.seed(23)
  x <- matrix(rnorm(480), 120, dimnames = list(NULL, letters[1:4]))
  pb <- as_problem(x, rpois(120, exp(x[, 1] / 2)), task = "regression", adjust = rnorm(120))
  fit <- greedy_rls(pb, loss = "negbin(10000)", k = 2, size = 2)
  # the score equations of the linear predictor, with the penalty in the units of x
  mean <- drop(fitted(fit))
  slope <- (pb$rows$y[, 1] - mean) / (1 + mean / 1e4)
  expect_lt(max(abs(crossprod(cbind(1, pb$z[, 2]), slope))), 1e-8)
  checked <- verify(fit, pb, claims = 200)
  expect_true(checked$ok)
})
