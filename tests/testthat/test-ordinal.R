# Ordered classes by proportional odds, l1_path(loss = "ordinal")

draw_classes <- function(m, n, k = 3) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("v", seq_len(n))))
  score <- x[, 1] - x[, 2] + stats::rlogis(m)
  level <- findInterval(score, stats::quantile(score, seq_len(k - 1) / k)) + 1
  level[seq_len(2 * k)] <- rep(seq_len(k), 2)
  list(x = x, y = factor(letters[level], letters[seq_len(k)], ordered = TRUE),
       w = sample(c(0.5, 1, 2), m, TRUE))
}

quiet_ordinal <- function(...) {
  suppressWarnings(suppressMessages(l1_path(..., loss = "ordinal", progress = FALSE)))
}

# minus the logarithm of the probability of each class
class_losses <- function(y, f, cuts) {
  ends <- c(-Inf, cuts, Inf)
  -log(stats::plogis(ends[as.integer(y) + 1] - f) - stats::plogis(ends[as.integer(y)] - f))
}

test_that("an example by hand: largest lambda, objectives, coefficients, dual values", {
  x <- outer(1:10, 1:4, function(i, j) (i^2 * j + 3 * i + j^3) %% 11 - 5)
  y <- factor(c(2, 1, 3, 2, 2, 1, 1, 1, 3, 3), ordered = TRUE)
  pb <- suppressMessages(as_problem(x, y, standardize = FALSE))
  expect_equal(lambda_max(pb, loss = "ordinal"), 18, tolerance = 1e-12)
  fit <- l1_path(pb, loss = "ordinal", lambda = 18 / c(2, 10), tolerance = 1e-15)
  expect_equal(fit$null_objective, 10.888999753, tolerance = 1e-10)
  expect_equal(fit$path$objective, c(9.483821934, 5.023943196), tolerance = 1e-9)
  expect_equal(coef(fit, lambda = 9), c(V1 = 0.326203988), tolerance = 1e-8)
  expect_equal(unname(coef(fit, lambda = 1.8)),
               c(0.985579237, -0.06244947, -0.13793986, 0.254515055), tolerance = 1e-8)
  ordinal <- as_ordinal(pb)
  point <- model_point(ordinal, "ordinal", 1:4, c(0.1, -0.2, 0, 0.05))
  s <- 9 / max(abs(column_products(ordinal, point$r)))
  expect_equal(c(point$loss + 9 * point$l1, dual_objective(ordinal, "ordinal", point$r, s, point$f),
                 s), c(12.888484764, 8.591490879, 0.54872463), tolerance = 1e-9)
})

test_that("without a penalty it is the model of MASS::polr()", {
  skip_if_not_installed("MASS")
  set.seed(21)
  for (k in c(3, 5)) {
    d <- draw_classes(150, 3, k)
    age <- rnorm(150)
    frame <- data.frame(y = d$y, d$x, age = age)
    exact <- function(formula) {
      suppressWarnings(MASS::polr(formula, frame, weights = d$w,
                                  control = list(reltol = 1e-15, maxit = 1e4)))
    }
    theirs <- exact(y ~ .)
    ours <- quiet_ordinal(y ~ v1 + v2 + v3, frame, weights = d$w, adjust = ~age, lambda = 1e-6,
                          tolerance = 1e-13)
    expect_equal(coef(ours)[c("v1", "v2", "v3", "age")], coef(theirs), tolerance = 1e-6)
    expect_equal(ours$cutpoints[, 1], theirs$zeta, tolerance = 1e-6)
    expect_equal(deviance(ours), deviance(theirs), tolerance = 1e-10)
    shares <- predict(ours, frame[1:9, ], type = "prob")
    expect_equal(shares, predict(theirs, frame[1:9, ], type = "probs"), tolerance = 1e-6,
                 ignore_attr = TRUE)
    class <- predict(ours, frame, type = "class")
    expect_identical(unname(class), factor(predict(theirs, frame), levels(d$y), ordered = TRUE))
    null <- quiet_ordinal(y ~ v1 + v2 + v3, frame, weights = d$w, nlambda = 2)
    expect_equal(as.numeric(logLik(null, size = 0)), as.numeric(logLik(exact(y ~ 1))),
                 tolerance = 1e-8)
  }
})

test_that("random problems: gaps, optimality conditions, screens, storage, the same in R and C", {
  set.seed(22)
  for (number in problems_to_try(40)) {
    d <- draw_classes(sample(20:50, 1), sample(5:20, 1), sample(3:5, 1))
    alpha <- if (number %% 3 == 0) 0.6 else 1
    z <- if (number %% 2 == 0) cbind(age = rnorm(nrow(d$x)))
    pb <- suppressMessages(as_problem(d$x, d$y, weights = d$w, adjust = z))
    top <- lambda_max(pb, loss = "ordinal", alpha = alpha)
    lambda <- top * c(1 + 1e-6, 0.999, 0.4, 0.1)
    fit <- quiet_ordinal(pb, lambda = lambda, alpha = alpha, tolerance = 1e-13)
    expect_identical(fit$path$size[1:2] > 0, c(FALSE, TRUE))
    expect_true(all(fit$path$gap >= -1e-13 * fit$null_objective))
    expect_true(all(fit$path$gap <= 2e-13 * fit$null_objective))
    ordinal <- as_ordinal(pb)
    for (row in 3:4) {
      solution <- fit$solutions[[row]]
      point <- model_point(ordinal, "ordinal", solution$features, solution$beta)
      v <- column_products(ordinal, point$r)
      beta <- replace(numeric(ncol(d$x)), solution$features, solution$beta)
      c <- v - lambda[row] * (1 - alpha) * beta
      expect_true(max(abs(c)) <= alpha * lambda[row] * (1 + 1e-6))
      expect_equal(c[beta != 0], (alpha * lambda[row] * sign(beta))[beta != 0], tolerance = 1e-6)
      # no cutpoint can be better
      cuts <- fit$cutpoints[, row]
      f <- predict(fit, d$x, lambda = lambda[row], adjust = z)
      up <- stats::plogis(outer(-f, cuts, `+`))
      share <- cbind(0, up, 1)
      level <- as.integer(d$y)
      p <- share[cbind(seq_along(level), level + 1)] - share[cbind(seq_along(level), level)]
      bent <- up * (1 - up) / p
      slope <- colSums(d$w * bent * (outer(level, seq_along(cuts), `==`) -
                                       outer(level - 1, seq_along(cuts), `==`)))
      expect_true(all(abs(slope) < 1e-8 * sum(d$w)))
      expect_equal(sum(d$w * class_losses(d$y, f, cuts)), point$loss, tolerance = 1e-12)
      penalty <- lambda[row] * (alpha * sum(abs(beta)) + (1 - alpha) / 2 * sum(beta^2))
      expect_equal(fit$path$objective[row], point$loss + penalty, tolerance = 1e-12)
    }
    for (screen in c("gap", "none")) {
      other <- quiet_ordinal(pb, lambda = lambda, alpha = alpha, tolerance = 1e-13, screen = screen)
      expect_equal(other$path$objective, fit$path$objective, tolerance = 1e-12)
    }
    kept <- safe_screen(pb, loss = "ordinal", lambda = lambda[3], alpha = alpha,
                        fit = quiet_ordinal(pb, lambda = lambda[3] * 1.2, alpha = alpha))$keep
    expect_true(all(fit$solutions[[3]]$features %in% which(kept)))
    sparse <- as(d$x * (abs(d$x) > 0.7), "CsparseMatrix")
    arguments <- list(d$y, weights = d$w, lambda = lambda[3:4], alpha = alpha, tolerance = 1e-13)
    expect_equal(do.call(quiet_ordinal, c(list(sparse), arguments))$path$objective,
                 do.call(quiet_ordinal, c(list(as.matrix(sparse)), arguments))$path$objective,
                 tolerance = 1e-12)
  }
  twice <- quiet_ordinal(rbind(d$x, d$x), c(d$y, d$y), weights = c(d$w, d$w) / 2, lambda = lambda,
                         tolerance = 1e-13)
  once <- quiet_ordinal(d$x, d$y, weights = d$w, lambda = lambda, tolerance = 1e-13)
  expect_equal(twice$path$objective, once$path$objective, tolerance = 1e-12)
  expect_identical(quiet_ordinal(pb, nlambda = 5, threads = 2)$solutions,
                   quiet_ordinal(pb, nlambda = 5)$solutions)
})

test_that("held-out deviances are those of models trained from scratch", {
  set.seed(23)
  d <- draw_classes(60, 6, 4)
  folds <- rep(1:4, 15)
  fit <- quiet_ordinal(d$x, d$y, weights = d$w, lambda = c(4, 1), folds = folds, tolerance = 1e-13,
                       standardize = FALSE)
  # twice the loss of some rows by a model of others
  deviance <- function(trained, rows, lambda, f = NULL) {
    alone <- quiet_ordinal(d$x[trained, ], d$y[trained], weights = d$w[trained], lambda = lambda,
                           tolerance = 1e-13, standardize = FALSE)
    2 * sum(d$w[rows] * class_losses(d$y, predict(alone, d$x), alone$cutpoints)[rows])
  }
  sums <- vapply(c(4, 1), function(lambda) {
    sum(vapply(1:4, function(fold) deviance(folds != fold, folds == fold, lambda), 0))
  }, 0)
  expect_equal(fit$path$criterion, sums / sum(d$w), tolerance = 1e-8)
  checked <- verify(fit, d$x, d$y, weights = d$w, standardize = FALSE, claims = Inf)
  expect_true(all(checked$claims$holds))
  judged <- cross_validate(d$x, d$y, l1_path, loss = "ordinal", weights = d$w, lambda = 1,
                           tolerance = 1e-13, outer = folds, standardize = FALSE,
                           measure = c("deviance", "concordance"), progress = FALSE)
  expect_equal(judged$estimate[["mean"]], sums[2] / sum(d$w), tolerance = 1e-8)
  # the classes, and how far they are from the observed ones
  apart <- unlist(lapply(1:4, function(fold) {
    own <- folds != fold
    alone <- quiet_ordinal(d$x[own, ], d$y[own], weights = d$w[own], lambda = 1, tolerance = 1e-13,
                           standardize = FALSE)
    class <- predict(alone, d$x[!own, ], type = "class")
    d$w[!own] * abs(as.integer(class) - as.integer(d$y[!own]))
  }))
  counted <- cross_validate(d$x, d$y, l1_path, loss = "ordinal", weights = d$w, lambda = 1,
                            tolerance = 1e-13, outer = folds, standardize = FALSE,
                            measure = c("error", "absolute"), progress = FALSE)
  weight <- unlist(lapply(1:4, function(fold) d$w[folds == fold]))
  expect_equal(counted$estimates$mean, c(sum(weight[apart > 0]), sum(apart)) / sum(d$w),
               tolerance = 1e-8)
  # the probabilities by the cutpoints of the training rows
  brier <- sum(vapply(1:4, function(fold) {
    own <- folds != fold
    alone <- quiet_ordinal(d$x[own, ], d$y[own], weights = d$w[own], lambda = 1, tolerance = 1e-13,
                           standardize = FALSE)
    cuts <- best_cutpoints(alone$problem, as.matrix(predict(alone, d$x[own, ])))
    p <- ordinal_shares(alone$problem, predict(alone, d$x[!own, ]), cuts[, 1])
    sum(d$w[!own] * rowSums((p - outer(as.integer(d$y[!own]), 1:4, `==`))^2) / 2)
  }, 0))
  losses <- cross_validate(d$x, d$y, l1_path, loss = "ordinal", weights = d$w, lambda = 1,
                           tolerance = 1e-13, outer = folds, standardize = FALSE,
                           measure = c("logloss", "brier"), progress = FALSE)
  expect_equal(losses$estimates$mean, c(sums[2] / 2, brier) / sum(d$w), tolerance = 1e-8)
  # the null model has the shares of the classes
  share <- vapply(1:4, function(fold) {
    total <- tapply((d$w * (folds != fold)), d$y, sum)
    sum((-2 * d$w * log(total / sum(total))[d$y])[folds == fold])
  }, 0)
  expect_equal(judged$at_choice$majority, sum(share) / sum(d$w), tolerance = 1e-8)
  methods <- list(a = list(l1_path, loss = "ordinal", lambda = 1, tolerance = 1e-13),
                  b = list(l1_path, loss = "ordinal", lambda = 4))
  compared <- compare_methods(d$x, d$y, weights = d$w, standardize = FALSE, methods = methods,
                              splits = 2, measure = "deviance", progress = FALSE)
  own <- compared$training_rows[[2]]
  other <- compared$test_rows[[2]]
  expect_equal(unname(compared$scores[2, "a", ]),
               c(deviance(own, own, 1) / sum(d$w[own]), deviance(own, other, 1) / sum(d$w[other])),
               tolerance = 1e-8)
  # beside methods by other losses, which have their values of the same splits
  methods$c <- list(l1_path, loss = "multinomial", lambda = 1)
  methods$d <- list(l1_path, loss = "ordinal(probit)", lambda = 1)
  beside <- function(methods, ...) {
    suppressMessages(compare_methods(d$x, d$y, weights = d$w, standardize = FALSE,
                                     methods = methods, progress = FALSE, ...))
  }
  set.seed(3)
  mixed <- beside(methods, measure = "logloss", splits = 2)
  own <- mixed$training_rows[[2]]
  expect_equal(mixed$scores[[2, "a", "test"]],
               deviance(own, mixed$test_rows[[2]], 1) / 2 / sum(d$w[mixed$test_rows[[2]]]),
               tolerance = 1e-8)
  for (name in c("c", "d")) {
    set.seed(3)
    alone <- beside(methods[name], measure = "logloss", splits = 2)
    expect_equal(mixed$scores[, name, ], alone$scores[, name, ])
  }
  expect_identical(beside(methods, splits = 2)$measure, "error")
  expect_identical(beside(methods[c("a", "d")], splits = 2)$measure, "concordance")
  on_folds <- suppressWarnings(beside(methods, measure = "brier", outer = 3))
  expect_false(anyNA(on_folds$table[-1, c("lower", "upper")]))
  moved <- transfer(d$x, d$y, l1_path, loss = "ordinal", weights = d$w, lambda = 1,
                    tolerance = 1e-13, standardize = FALSE, groups = rep(1:2, each = 30),
                    measure = "deviance", progress = FALSE)
  expect_equal(moved$error[1, 2], deviance(1:30, 31:60, 1) / sum(d$w[31:60]), tolerance = 1e-8)
})

test_that("predictions are of classes, in every form", {
  set.seed(24)
  d <- draw_classes(60, 5)
  fit <- quiet_ordinal(d$x, d$y, nlambda = 8, folds = 3)
  share <- predict(fit, d$x, type = "prob", lambda = fit$path$lambda)
  expect_identical(dim(share), c(60L, 3L, 8L))
  expect_equal(apply(share, c(1, 3), sum), matrix(1, 60, 8), ignore_attr = TRUE)
  expect_identical(dimnames(share)[[2]], levels(d$y))
  class <- predict(fit, d$x, type = "class")
  expect_true(is.ordered(class))
  chosen <- predict(fit, d$x, type = "prob")
  expect_identical(as.integer(class), max.col(chosen, "first"))
  tidied <- tidy(fit, exponentiate = TRUE)
  cuts <- fit$cutpoints[, fit$path$lambda == fit$lambda]
  expect_equal(tidied$estimate, unname(exp(c(coef(fit), cuts))))
  expect_identical(tail(tidied[c("term", "coef.type")], 2)$term, c("a|b", "b|c"))
  expect_identical(tidied$coef.type == "scale", is.na(tidied$order))
  expect_identical(glance(fit)$task, "ordinal")
  # held-out classes are by the cutpoints that are best for the rows of the other folds
  rows <- augment(fit)
  expect_identical(rows[[1]], d$y)
  folds <- fit$folds$ids[, 1]
  by_hand <- vapply(which(folds == 1)[1:3], function(row) {
    cuts <- stats::optim(c(-1, 0), function(a) {
      sum(class_losses(d$y, fit$held_out, c(a[1], a[1] + exp(a[2])))[folds != 1])
    }, control = list(reltol = 1e-14, maxit = 5000))$par
    class_losses(d$y, fit$held_out, c(cuts[1], cuts[1] + exp(cuts[2])))[row]
  }, 0)
  shown <- as.matrix(rows[paste0(".pred_", letters[1:3])])
  own <- shown[cbind(seq_along(d$y), as.integer(d$y))]
  expect_equal(own[which(folds == 1)[1:3]], exp(-by_hand), tolerance = 1e-5)
  expect_identical(as.integer(rows$.pred_class), max.col(shown, "first"))
  new <- augment(fit, newdata = d$x[1:4, ])
  expect_equal(as.matrix(new[paste0(".pred_", letters[1:3])]),
               predict(fit, d$x[1:4, ], type = "prob"), ignore_attr = TRUE)
  expect_output(print(summary(fit)), "rows by class and held-out prediction")
  expect_true(all(is.na(augment(l1_path(d$x, d$y, loss = "ordinal"))$.pred_class)))
  expect_output(print(summary(fit)), "cutpoints of the linear predictor: a\\|b -?[0-9.]+, b\\|c ")
  expect_output(print(fit), "3 ordered classes \\(rows\\): a \\(")
  expect_identical(l1_size(d$x, d$y, loss = "ordinal", size = 2, range = 0)$size, 2L)
  expect_s3_class(judge(fit, d$x, d$y, outer = 3, permutations = 0, pairs = 0, repeats = 0,
                        claims = 3, progress = FALSE), "judgement")
})

test_that("probit is the model of MASS::polr(), with gaps, optimality and safe tests", {
  skip_if_not_installed("MASS")
  set.seed(28)
  quiet_probit <- function(...) {
    suppressWarnings(suppressMessages(l1_path(..., loss = "ordinal(probit)", progress = FALSE)))
  }
  d <- draw_classes(150, 3, 4)
  frame <- data.frame(y = d$y, d$x)
  theirs <- suppressWarnings(MASS::polr(y ~ ., frame, weights = d$w, method = "probit",
                                        control = list(reltol = 1e-15, maxit = 1e4)))
  ours <- quiet_probit(y ~ ., frame, weights = d$w, lambda = 1e-6, tolerance = 1e-13)
  expect_equal(coef(ours)[names(coef(theirs))], coef(theirs), tolerance = 1e-5)
  expect_equal(ours$cutpoints[, 1], theirs$zeta, tolerance = 1e-5)
  expect_equal(deviance(ours), deviance(theirs), tolerance = 1e-10)
  expect_equal(predict(ours, frame[1:9, ], type = "prob"),
               predict(theirs, frame[1:9, ], type = "probs"), tolerance = 1e-5,
               ignore_attr = TRUE)
  expect_error(tidy(ours, exponentiate = TRUE), "logarithms")
  for (number in problems_to_try(20)) {
    d <- draw_classes(sample(20:50, 1), sample(5:20, 1), sample(3:5, 1))
    alpha <- if (number %% 3 == 0) 0.6 else 1
    pb <- suppressMessages(as_problem(d$x, d$y, weights = d$w))
    lambda <- lambda_max(pb, loss = "ordinal(probit)", alpha = alpha) * c(1 + 1e-6, 0.999, 0.4, 0.1)
    fit <- quiet_probit(pb, lambda = lambda, alpha = alpha, tolerance = 1e-12)
    expect_identical(fit$path$size[1:2] > 0, c(FALSE, TRUE))
    expect_true(all(fit$path$gap >= -1e-13 * fit$null_objective))
    expect_true(all(fit$path$gap <= 2e-12 * fit$null_objective))
    for (screen in c("gap", "none")) {
      other <- quiet_probit(pb, lambda = lambda, alpha = alpha, tolerance = 1e-12, screen = screen)
      expect_equal(other$path$objective, fit$path$objective, tolerance = 1e-11)
    }
    kept <- safe_screen(pb, loss = "ordinal(probit)", lambda = lambda[3], alpha = alpha,
                        fit = quiet_probit(pb, lambda = lambda[3] * 1.2, alpha = alpha))$keep
    expect_true(all(fit$solutions[[3]]$features %in% which(kept)))
  }
  fit <- quiet_probit(d$x, d$y, weights = d$w, nlambda = 5, folds = 3)
  expect_true(all(verify(fit, d$x, d$y, weights = d$w, claims = Inf)$claims$holds))
  far <- quiet_probit(cbind(far = c(1e4, -1e4, rnorm(48))), d$y[rep_len(seq_along(d$y), 50)],
                      lambda = 1e-3, standardize = FALSE)
  expect_true(all(is.finite(unlist(far$path[c("objective", "gap")]))))
})

test_that("size = \"cv\" tests the gains of rows held out", {
  set.seed(27)
  d <- draw_classes(80, 5)
  folds <- make_folds(80, 5, strata = d$y, repeats = 2)
  fit <- quiet_ordinal(d$x, d$y, weights = d$w, lambda = c(1e3, 8, 4, 2), folds = folds,
                       size = "cv", tolerance = 1e-13, standardize = FALSE)
  # the losses of each row by the models without its fold
  gains <- lapply(1:2, function(repetition) {
    ids <- folds$ids[, repetition]
    each <- vapply(fit$path$lambda, function(lambda) {
      out <- numeric(80)
      for (fold in unique(ids)) {
        own <- ids != fold
        alone <- quiet_ordinal(d$x[own, ], d$y[own], weights = d$w[own], lambda = lambda,
                               tolerance = 1e-13, standardize = FALSE)
        out[!own] <- 2 * class_losses(d$y, predict(alone, d$x), alone$cutpoints)[!own]
      }
      out
    }, numeric(80))
    d$w * (each[, 1] - each)
  })
  best <- which.min(fit$path$criterion)
  moments <- rowMeans(vapply(gains, function(gain) {
    c(mean(gain[, best]), mean(gain[, best]^2), mean(gain[, best]^3), 80)
  }, numeric(4)))
  expect_true(is_clear_mean(moments))
  expect_gt(fit$size, 0)
  noise <- suppressMessages(quiet_ordinal(d$x[sample(80), ], d$y, folds = 5, size = "cv"))
  expect_identical(noise$size, 0L)
  checked <- verify(fit, d$x, d$y, weights = d$w, standardize = FALSE, claims = Inf)
  expect_true(all(checked$claims$holds))
})

test_that("what a loss of ordered classes does not take is refused", {
  set.seed(25)
  d <- draw_classes(40, 3)
  run <- function(...) l1_path(d$x, ..., loss = "ordinal")
  compared <- function(...) {
    compare_methods(d$x, d$y, methods = list(list(l1_path, loss = "ordinal"), b = rls), ...)
  }
  expect_snapshot({
    refusal(run(factor(as.character(d$y))))
    refusal(run(d$x[, 1]))
    refusal(run(factor(d$y > "a", ordered = TRUE)))
    refusal(run(d$y, intercept = FALSE))
    refusal(run(d$y, class_weights = "balanced"))
    refusal(run(d$y, ties = "breslow"))
    refusal(run(d$y, folds = as.integer(d$y)))
    refusal(run(d$y, folds = 4, criterion = "error"))
    refusal(run(d$y, weights = as.numeric(d$y != "b")))
    refusal(run(d$y, adjust = data.frame(level = as.integer(d$y) + 0.5)))
    refusal(predict(run(d$y, lambda = 1), d$x, interval = "prediction"))
    refusal(predict(run(d$y, lambda = 1), d$x, type = "prob", calibration = "platt"))
    refusal(cross_validate(d$x, d$y, l1_path, loss = "ordinal", lambda = 1, measure = "squared"))
    refusal(compared(measure = "absolute"))
    refusal(compared(measure = "deviance"))
    refusal(cross_validate(d$x, d$y, function(pb) l1_path(pb, loss = "ordinal", folds = 4)))
  })
})
