# Prediction intervals and sets of classes, against the definitions by plain loops.

# The ends of an interval from predictions `mu` of a new row and residuals `r` of the training rows,
# by order statistics, or by masses where these are given.
order_ends <- function(mu, r, level) {
  k <- ceiling(level * (length(r) + 1) - 1e-9)
  upper <- function(v) if (k > length(v)) Inf else sort(v)[k]
  c(-upper(r - mu), upper(mu + r))
}

mass_ends <- function(mu, r, mass, level) {
  upper <- function(v) {
    sorted <- order(v)
    k <- which(cumsum(mass[sorted]) >= level - 1e-9)[1]
    if (is.na(k)) Inf else v[sorted][k]
  }
  c(-upper(r - mu), upper(mu + r))
}

# Ridge regression on columns 1 and 3 of twelve rows, each retrained without its fold.
twelve <- local({
  i <- 1:12
  x <- cbind(sin(i), cos(2 * i), (i %% 5) / 5, sqrt(i))
  y <- ((7 * i) %% 11) / 3
  new <- c(0.3, 0.1, 0.4, 2)
  held <- function(fold, w = rep(1, 12)) {
    mu <- score <- numeric(12)
    for (k in unique(fold)) {
      train <- which(fold != k)
      design <- cbind(1, x[, c(1, 3)])
      own <- design[train, ]
      b <- solve(crossprod(own, w[train] * own) + diag(c(0, 0.5, 0.5)),
                 crossprod(own, w[train] * y[train]))
      mu[fold == k] <- sum(c(1, new[c(1, 3)]) * b)
      score[fold == k] <- design[fold == k, ] %*% b
    }
    list(mu = mu, score = score)
  }
  list(x = x, y = y, held = held)
})

# The interval that the package makes of these predictions.
ends_of <- function(fold, level, w = rep(1, 12), unit = 1:12, interval = "prediction") {
  held <- twelve$held(fold, w)
  problem <- as_problem(twelve$x, twelve$y, weights = w)
  without <- list(
    at = function(rows) array(held$mu, c(1, 1, 12)), pairs = data.frame(row = 1:12, part = 1:12),
    held = matrix(held$score), unit = unit
  )
  # the prediction itself is within every interval here
  sparsels:::interval_ends(problem, without, mean(held$mu), interval, level, FALSE)[1, -1]
}

test_that("the ends of intervals are the order statistics of the definition", {
  i <- 1:12
  near <- function(object, expected) expect_equal(unname(object), expected, tolerance = 1e-9)
  near(ends_of(i %% 4, 0.5), c(0.6485434524, 2.6459013823))
  near(ends_of(i %% 4, 0.8), c(-0.1483720744, 3.5551217753))
  near(ends_of(i %% 4, 0.9), c(-0.1675549008, 4.1079072885))
  expect_identical(ends_of(i %% 4, 0.95), c(-Inf, Inf))
  near(ends_of(i, 0.8), c(-0.1111997139, 3.7956431876))
  near(ends_of(i, 0.8, 0.5 + i / 8), c(-0.2115920064, 3.7794515686))
  groups <- rep(1:4, c(1, 2, 3, 6))
  near(ends_of(groups, 0.6), c(0.7255077699, 2.6388763968))
  near(ends_of(groups, 0.6, unit = groups), c(0.3207524850, 3.1887503379))
  expect_identical(ends_of(groups, 0.9, unit = groups), c(-Inf, Inf))
  held <- twelve$held(i)
  lower <- sort(held$mu + twelve$y - held$score)[floor(0.2 * 13 + 1e-9)]
  near(ends_of(i, 0.8, interval = "lower"), lower)
})

test_that("the spread follows the prediction where it is scaled", {
  held <- c(1, 2, 3, 4, 5, 6)
  size <- exp(0.5 * held)
  spread <- sparsels:::fitted_spread(held, size)
  floor <- median(size) / 10
  slope <- coef(lm(log(size + floor) ~ held))[[2]]
  expect_equal(spread(c(0, 3, 9)), exp(slope * c(1, 3, 6)))
  expect_identical(sparsels:::fitted_spread(held, 0 * size)(held), rep(1, 6))
})

test_that("the models of greedy_rls() without each fold have the choice of the other folds", {
  set.seed(1)
  x <- matrix(rnorm(40 * 6), 40)
  y <- x[, 1] + x[, 2] / 2 + rnorm(40)
  new <- matrix(rnorm(3 * 6), 3)
  ids <- rep(1:5, 8)
  fit <- greedy_rls(x, y, k = 4, lambda = 2, size = "min", size_folds = ids, refit = FALSE)
  errors <- mu <- array(NA, c(5, 5, 3))
  errors <- errors[, , 1]
  scores <- matrix(NA, 40, 5)
  for (k in 1:5) {
    train <- ids != k
    part <- greedy_rls(x[train, ], y[train], k = 4, lambda = 2, size = "criterion", refit = FALSE)
    scores[!train, ] <- predict(part, x[!train, ], size = 0:4)
    mu[k, , ] <- t(predict(part, new, size = 0:4))
  }
  sums <- rowsum((y - scores)^2, ids)
  chosen <- vapply(1:5, function(k) which.min(colSums(sums[-k, ])), 1L)
  held <- scores[cbind(1:40, chosen[ids])]
  expect_equal(fit$fold_models$residual[order(fit$fold_models$pairs$row), 1], y - held)
  for (level in c(0.5, 0.8, 0.95)) {
    ends <- predict(fit, new, interval = "prediction", level = level)
    for (i in 1:3) {
      of_folds <- vapply(1:5, function(k) mu[k, chosen[k], i], 0)
      expect_equal(unname(ends[i, 2:3]), order_ends(of_folds[ids], abs(y - held), level))
    }
    expect_identical(ends[, "fit"], predict(fit, new))
  }
})

test_that("a size chosen by leave-one-out has the intervals of ten folds", {
  set.seed(13)
  x <- matrix(rnorm(30 * 8), 30)
  y <- 2 * x[, 1] + x[, 2] + rnorm(30)
  loo <- suppressWarnings(greedy_rls(x, y, k = 3, lambda = 2, size_folds = "loo"))
  ten <- suppressWarnings(greedy_rls(x, y, k = 3, lambda = 2, size_folds = 10))
  expect_gt(loo$size, 0)
  expect_identical(loo$fold_models, ten$fold_models)
  expect_output(print(summary(loo)), "[(]CV[+], 10-fold[)]")
})

test_that("the models of l1_path() without each fold have the lambda of the other folds", {
  set.seed(2)
  x <- matrix(rnorm(40 * 12), 40)
  y <- x[, 1] - x[, 2] + rnorm(40)
  new <- matrix(rnorm(2 * 12), 2)
  ids <- rep(1:4, 10)
  lambda <- c(10, 6, 3, 1.5, 0.7)
  fit <- l1_path(x, y, lambda = lambda, folds = ids, tolerance = 1e-10)
  scores <- matrix(NA, 40, 5)
  mu <- array(NA, c(4, 5, 2))
  # the scales of all rows
  scales <- apply(x, 2, sd) * sqrt(39 / 40)
  z <- sweep(x, 2, scales, "/")
  for (k in 1:4) {
    train <- ids != k
    part <- l1_path(z[train, ], y[train], standardize = FALSE, lambda = lambda, tolerance = 1e-10)
    scores[!train, ] <- predict(part, z[!train, ], lambda = lambda)
    mu[k, , ] <- t(predict(part, sweep(new, 2, scales, "/"), lambda = lambda))
  }
  sums <- rowsum((y - scores)^2, ids)
  chosen <- vapply(1:4, function(k) which.min(colSums(sums[-k, ])), 1L)
  held <- scores[cbind(1:40, chosen[ids])]
  ends <- predict(fit, new, interval = "prediction")
  for (i in 1:2) {
    of_folds <- vapply(1:4, function(k) mu[k, chosen[k], i], 0)
    expect_equal(unname(ends[i, 2:3]), order_ends(of_folds[ids], abs(y - held), 0.9),
                 tolerance = 1e-6)
  }
})

test_that("cross_validate() has intervals by the outer models of any method", {
  set.seed(3)
  x <- matrix(rnorm(30 * 5), 30)
  y <- x[, 1] + rnorm(30)
  new <- matrix(rnorm(2 * 5), 2)
  ids <- rep(1:5, 6)
  methods <- list(
    sparse = list(greedy_rls, k = 2, lambda = 1, size = 1),
    ridge = list(rls, lambda = c(1, 10)),
    kernel = list(kernel_rls, kernel = kernel_gaussian(0.1), lambda = 1)
  )
  for (name in names(methods)) {
    method <- methods[[name]]
    arguments <- c(list(x, y, method = method[[1]], outer = ids, keep = name == "kernel"),
                   method[-1])
    cvd <- do.call(cross_validate, arguments)
    mu <- matrix(NA, 5, 2)
    held <- numeric(30)
    for (k in 1:5) {
      train <- ids != k
      part <- do.call(method[[1]], c(list(x[train, ], y[train]), method[-1]))
      mu[k, ] <- predict(part, new)
      held[!train] <- predict(part, x[!train, ])
    }
    ends <- predict(cvd, new, interval = "prediction", level = 0.8)
    for (i in 1:2) {
      expect_equal(unname(ends[i, 2:3]), order_ends(mu[ids, i], abs(y - held), 0.8))
    }
  }
  own <- function(problem) {
    structure(list(mean = mean(problem$rows$y)), class = "constant_of_test")
  }
  constant <- function(object, x, ...) rep(object$mean, nrow(x))
  registerS3method("predict", "constant_of_test", constant)
  cvd <- cross_validate(x, y, own, outer = ids, keep = TRUE)
  means <- vapply(1:5, function(k) mean(y[ids != k]), 0)
  expect_equal(unname(predict(cvd, new, interval = "prediction")[1, 2:3]),
               order_ends(means[ids], abs(y - means[ids]), 0.9))
  expect_error(predict(cross_validate(x, y, own, outer = ids), new, interval = "prediction"),
               "keep = TRUE", class = "sparsels_error_argument")
})

test_that("units of the response, offsets and groups go through an interval", {
  set.seed(4)
  x <- matrix(rnorm(40 * 6), 40)
  y <- x[, 1] + rnorm(40)
  new <- matrix(rnorm(2 * 6), 2)
  ids <- rep(1:5, 8)
  of <- function(y, ...) greedy_rls(x, y, k = 3, lambda = 2, size_folds = ids, ...)
  ends <- predict(of(y), new, interval = "prediction")
  expect_equal(predict(of(1000 * y), new, interval = "prediction"), 1000 * ends)
  expect_equal(predict(of(y, standardize_response = TRUE), new, interval = "prediction"), ends)
  shift <- seq_len(40) / 7
  moved <- of(y + shift, offset = shift)
  moved <- predict(moved, new, interval = "prediction", newoffset = c(5, -5))
  expect_equal(moved, ends + c(5, -5))
  groups <- rep(1:10, 4)
  fit <- greedy_rls(x, y, k = 3, lambda = 2, groups = groups, size_folds = 5)
  mass <- rep(1 / (11 * 4), 40)
  by_rows <- predict(fit, new, interval = "prediction", level = 0.8)
  kept <- fit$fold_models
  for (i in 1:2) {
    mu <- vapply(kept$models, function(model) {
      sum(new[i, model$features] * model$beta) + model$covariates[1]
    }, 0)
    expect_equal(unname(by_rows[i, 2:3]),
                 mass_ends(mu[kept$pairs$part], abs(kept$residual[, 1]), mass, 0.8))
  }
  expect_warning(predict(fit, new, interval = "prediction", level = 0.95), "needs 19 rows, or",
                 class = "sparsels_warning_level")
})

test_that("many rows of few folds have the ends and the sets that a sort of all pairs has", {
  set.seed(14)
  m <- 420
  x <- matrix(rnorm(m * 5), m)
  y <- round(x[, 1] + rnorm(m), 1) # ties
  ids <- rep(1:4, length.out = m)
  weights <- sample(c(0.5, 1, 3), m, TRUE)
  new <- rbind(matrix(rnorm(6 * 5), 6), x[1, ])
  of <- function(y) {
    greedy_rls(x, y, k = 2, lambda = 2, size = 2, size_folds = ids, weights = weights)
  }
  fit <- of(y)
  kept <- fit$fold_models
  expect_gt(nrow(kept$pairs), 50 * max(kept$pairs$part))
  own <- 1 / (1 + sum(weights)^2 / sum(weights^2))
  mass <- ((1 - own) * weights / sum(weights))[kept$pairs$row]
  # of the models of the folds
  scores <- function(fit, row) {
    vapply(fit$fold_models$models, function(model) {
      sum(new[row, model$features] * model$beta) + model$covariates[1]
    }, 0)
  }
  for (level in c(0.5, 0.9)) {
    got <- predict(fit, new, interval = "prediction", level = level)
    for (i in seq_len(nrow(new))) {
      want <- mass_ends(scores(fit, i)[kept$pairs$part], abs(kept$residual[, 1]), mass, level)
      expect_equal(unname(got[i, 2:3]), want, tolerance = 1e-12)
    }
  }
  class <- factor(y > 0.3)
  by_class <- of(class)
  sets <- unclass(predict(by_class, new, type = "set", level = 0.8))
  pairs <- by_class$fold_models$pairs
  side <- c(-1, 1)[as.integer(class)]
  held <- side[pairs$row] - by_class$fold_models$residual[, 1]
  for (i in seq_len(nrow(new))) for (l in 1:2) {
    of_class <- as.integer(class)[pairs$row] == l
    w <- weights[pairs$row][of_class]
    own <- 1 / (1 + sum(w)^2 / sum(w^2))
    # the score of the other class less the score of this one
    off <- c(1, -1)[l] * held[of_class]
    new_off <- c(1, -1)[l] * scores(by_class, i)[pairs$part[of_class]]
    value <- own + (1 - own) * sum(w[off >= new_off - 1e-12]) / sum(w)
    expect_identical(sets[[i, l]], value > 0.2)
  }
})

test_that("a part whose prediction is missing and infinite residuals count as infinitely far", {
  set.seed(15)
  part <- rep(1:2, 200)
  value <- c(rep(Inf, 50), abs(rnorm(350)))
  centre <- cbind(rnorm(3), c(0, NA, 1))
  scale <- cbind(1:3, 2) + 0
  mass <- rep(1 / 401, 400)
  for (level in c(0.3, 0.6, 0.95)) {
    want <- vapply(1:3, function(i) {
      v <- centre[i, part] + scale[i, part] * value
      sorted <- sort(replace(v, is.na(v), Inf))
      sorted[which(cumsum(mass) >= level)[1]]
    }, 0)
    expect_equal(pair_quantile(centre, scale, part, value, mass, level), want, tolerance = 1e-14)
  }
  expect_identical(pair_quantile(centre, scale, part, value, mass, 1), rep(Inf, 3))
  # values that are all the same, at 0 as of a perfect fit, far from 0, or that cancel
  for (at in list(c(0, 0), c(1e6, 0), c(-5, 5), c(3, 0.5))) {
    same <- pair_quantile(cbind(at[1], at[1]), cbind(1, 1), part, rep(at[2], 400), mass, 0.9)
    expect_identical(same, sum(at))
  }
  expect_identical(pair_quantile(centre, scale, part, rep(Inf, 400), mass, 0.9), rep(Inf, 3))
  # far from 0 beside their spread
  far <- pair_quantile(centre + 1e8, scale, part, value, mass, 0.6)
  expect_equal(far - 1e8, pair_quantile(centre, scale, part, value, mass, 0.6), tolerance = 1e-6)
})

test_that("missing values and lost covariates are those of each fold", {
  set.seed(5)
  x <- matrix(rnorm(40 * 4), 40, dimnames = list(NULL, letters[1:4]))
  y <- 3 * x[, 1] + rnorm(40)
  x[1:4, 1] <- NA
  ids <- rep(1:5, 8)
  rare <- as.numeric(seq_len(40) == 5)
  fit <- suppressMessages(
    greedy_rls(x, y, k = 2, lambda = 1, size = 1, size_folds = ids, missing = "mean",
               adjust = cbind(rare), refit = FALSE)
  )
  new <- rbind(c(NA, 0, 0, 0), c(1, 0, 0, 0))
  colnames(new) <- letters[1:4]
  ends <- predict(fit, new, interval = "prediction", adjust = cbind(rare = c(0, 0)))
  mu <- matrix(NA, 5, 2)
  held <- numeric(40)
  for (k in 1:5) {
    train <- ids != k
    part <- suppressMessages(
      greedy_rls(x[train, ], y[train], k = 2, lambda = 1, size = 1, missing = "mean",
                 adjust = if (k == 5) NULL else cbind(rare = rare[train]), refit = FALSE)
    )
    given <- function(rare) if (k == 5) NULL else cbind(rare)
    mu[k, ] <- predict(part, new, adjust = given(c(0, 0)))
    held[!train] <- predict(part, x[!train, ], adjust = given(rare[!train]))
  }
  for (i in 1:2) {
    expect_equal(unname(ends[i, 2:3]), order_ends(mu[ids, i], abs(y - held), 0.9))
  }
})

test_that("a lower bound of censored times is by the times seen", {
  skip_if_not_installed("survival")
  set.seed(6)
  x <- matrix(rnorm(50 * 5), 50)
  time <- exp(-x[, 1] + rnorm(50) / 2)
  event <- rbinom(50, 1, 0.7)
  new <- matrix(rnorm(2 * 5), 2)
  fit <- greedy_rls(x, survival::Surv(time, event), k = 5, lambda = 1)
  kept <- fit$fold_models
  bound <- predict(fit, new, interval = "lower")
  expect_identical(colnames(bound), c("fit", "lwr"))
  score <- fit$problem$rows$y[kept$pairs$row, 1] - kept$residual[, 1]
  for (i in 1:2) {
    mu <- vapply(kept$models, function(model) {
      sum(new[i, model$features] * model$beta) + model$covariates[1]
    }, 0)[kept$pairs$part]
    sums <- -mu + log(time[kept$pairs$row]) + score
    expect_equal(bound[[i, "lwr"]], exp(sort(sums)[floor(0.1 * 51 + 1e-9)]))
  }
  expect_equal(bound[, "fit"], exp(-predict(fit, new)))
  cox <- l1_path(x, survival::Surv(time, event), loss = "cox", lambda = c(8, 4),
                 folds = rep(1:5, 10))
  bound <- predict(cox, new, interval = "lower", level = 0.8)
  expect_identical(colnames(bound), "lwr")
  kept <- cox$fold_models
  held <- cox$problem$rows$y[kept$pairs$row, 1] - kept$residual[, 1]
  mu <- vapply(kept$models, function(model) sum(new[1, model$features] * model$beta), 0)
  sums <- -mu[kept$pairs$part] + log(time[kept$pairs$row]) + held
  expect_equal(bound[[1]], exp(sort(sums)[floor(0.2 * 51 + 1e-9)]))
})

test_that("sets of classes are by the rows of each class", {
  score <- c(-1.2, -0.4, 0.3, -0.9, 1.1, 0.2, 0.8, -0.1)
  problem <- as_problem(matrix(rnorm(16), 8), factor(rep(c("a", "b"), each = 4)))
  without <- list(at = function(rows) array(c(0.45, 0.15), c(1, 1, 2)),
                  pairs = data.frame(row = 1:8, part = rep(1:2, 4)), held = matrix(score),
                  unit = 1:8)
  set_of <- function(level) {
    sparsels:::prediction_set(problem, without, matrix(0.3), level, NULL)
  }
  # the values of the classes are 0.2 and 0.4
  inside <- function(level) {
    as.vector(unclass(suppressWarnings(set_of(level), "sparsels_warning_level")))
  }
  expect_identical(inside(0.55), c(FALSE, FALSE))
  expect_identical(inside(0.61), c(FALSE, TRUE))
  expect_identical(inside(0.79), c(FALSE, TRUE))
  expect_identical(inside(0.81), c(TRUE, TRUE))
  expect_warning(set_of(0.9), "too few rows", class = "sparsels_warning_level")
})

test_that("sets of three classes equal their definition", {
  set.seed(7)
  fit <- greedy_rls(iris[, -5], iris$Species, k = 3, size = 2)
  new <- iris[c(1, 55, 71, 107, 134), -5]
  sets <- predict(fit, new, type = "set")
  kept <- fit$fold_models
  class <- as.integer(iris$Species)[kept$pairs$row]
  codes <- 2 * outer(class, 1:3, "==") - 1
  held <- codes - kept$residual
  far <- function(f, c) max(f[-c]) - f[c]
  own <- vapply(seq_along(class), function(i) far(held[i, ], class[i]), 0)
  for (i in 1:5) {
    scores <- vapply(kept$models, function(model) {
      drop(unlist(new[i, model$features]) %*% model$beta + model$covariates[1, ])
    }, numeric(3))
    for (c in 1:3) {
      rows <- which(class == c)
      at_least <- vapply(rows, function(r) {
        own[r] >= far(scores[, kept$pairs$part[r]], c) - 1e-10
      }, NA)
      expect_identical(unclass(sets)[[i, c]], (1 + sum(at_least)) / 51 > 0.1)
    }
  }
  expect_identical(format(sets)[["1"]], "setosa")
  empty <- greedy_rls(matrix(rnorm(60 * 5), 60), gl(2, 30), size = 0, lambda = 1, k = 1)
  expect_identical(unname(format(predict(empty, matrix(0, 1, 5), type = "set"))), "1 or 2")
})

test_that("intervals of counts and shares are in units of the spread of their loss", {
  set.seed(12)
  m <- 40
  x <- matrix(rnorm(m * 5), m)
  new <- matrix(rnorm(3 * 5), 3)
  ids <- rep(1:5, 8)
  exposure <- runif(m, 1, 3)
  more <- c(1, 2, 0.5)
  trials <- sample(5:20, m, TRUE)
  kinds <- list(
    poisson = list(y = rpois(m, exposure * exp(x[, 2] / 2)), offset = log(exposure), mean = exp,
                   variance = identity, limits = c(0, Inf)),
    "negbin(2)" = list(y = rnbinom(m, mu = exposure * exp(x[, 2]), size = 2),
                       offset = log(exposure), mean = exp,
                       variance = function(mu) mu + mu^2 / 2, limits = c(0, Inf)),
    binomial = list(y = rbinom(m, trials, plogis(x[, 2] + 2)) / trials, offset = NULL,
                    mean = plogis, variance = function(mu) mu * (1 - mu), limits = c(0, 1))
  )
  for (loss in names(kinds)) {
    kind <- kinds[[loss]]
    add <- if (is.null(kind$offset)) 0 * new[, 1] else log(more)
    own <- if (is.null(kind$offset)) numeric(m) else kind$offset
    fit <- greedy_rls(x, kind$y, task = "regression", loss = loss, offset = kind$offset, k = 1,
                      lambda = 2, size = 1, size_folds = ids, folds = ids, refit = FALSE)
    held <- numeric(m)
    at <- matrix(0, m, 3)
    for (k in 1:5) {
      train <- ids != k
      part <- greedy_rls(x[train, ], kind$y[train], task = "regression", loss = loss,
                         offset = kind$offset[train], k = 1, lambda = 2, size = "criterion",
                         folds = ids[train], refit = FALSE)
      model <- part$coefficients[[2]]
      link <- function(x) model$covariates[[1]] + x[, model$features] * model$beta[[1]]
      held[!train] <- kind$mean(link(x[!train, ]) + own[!train])
      at[!train, ] <- rep(kind$mean(link(new) + add), each = sum(!train))
    }
    expect_equal(fit$fold_models$residual[order(fit$fold_models$pairs$row), 1], kind$y - held)
    spread <- function(mu) sqrt(kind$variance(mu) + median(kind$variance(held)) / 10)
    size <- abs(kind$y - held) / spread(held)
    predicted <- function(...) {
      if (is.null(kind$offset)) predict(fit, new, ...) else
        predict(fit, new, newoffset = log(more), ...)
    }
    ends <- predicted(interval = "prediction", level = 0.8)
    expect_equal(ends[, "fit"], predicted())
    rank <- ceiling(0.8 * (m + 1) - 1e-9)
    for (i in 1:3) {
      width <- spread(at[, i]) * size
      by_hand <- c(-sort(width - at[, i])[rank], sort(width + at[, i])[rank])
      expect_equal(unname(ends[i, 2:3]), pmin(pmax(by_hand, kind$limits[1]), kind$limits[2]))
    }
    signed <- (kind$y - held) / spread(held)
    low <- -sort(-at[, 1] - spread(at[, 1]) * signed)[rank]
    expect_equal(predicted(interval = "lower", level = 0.8)[1, "lwr"], max(low, 0),
                 ignore_attr = TRUE)
    # the training rows, and a cross-validation of the same folds
    augmented <- generics::augment(fit, interval = "prediction", level = 0.8)
    expect_true(all(augmented$.lower >= kind$limits[1] & augmented$.lower <= held + 1e-12))
    expect_true(all(augmented$.upper <= kind$limits[2] & augmented$.upper >= held - 1e-12))
    cvd <- cross_validate(x, kind$y, greedy_rls, task = "regression", loss = loss,
                          offset = kind$offset, outer = ids, k = 1, lambda = 2,
                          size = 1, size_folds = ids, folds = ids, refit = FALSE,
                          baselines = NULL)
    expect_equal(cvd$fold_models$residual[order(cvd$fold_models$pairs$row), 1], kind$y - held)
    expect_output(print(summary(fit)), "standard\\s+deviations\\s+of\\s+the\\s+predicted\\s+mean")
  }
  expect_error(predict(fit, new, interval = "prediction", scaled = TRUE), "have its spread",
               class = "sparsels_error_argument")
  path <- l1_path(x, kinds$poisson$y, loss = "poisson", folds = ids)
  ends <- predict(path, new, interval = "prediction")
  expect_true(all(ends[, "lwr"] <= ends[, "fit"] & ends[, "fit"] <= ends[, "upr"]))
})

test_that("the training rows have the interval of a row that meets no model of its own", {
  set.seed(8)
  x <- matrix(rnorm(50 * 6), 50)
  fit <- greedy_rls(x, x[, 1] + rnorm(50), k = 3)
  own <- augment(fit, interval = "prediction", level = 0.8)
  kept <- fit$fold_models
  r <- abs(kept$residual[, 1])
  held <- fit$problem$rows$y[, 1] - kept$residual[order(kept$pairs$row), 1]
  reach <- sort(r)[ceiling(0.8 * 51)]
  expect_equal(own$.lower, held - reach)
  expect_equal(own$.upper, held + reach)
  expect_identical(augment(fit, newdata = x[1:2, ], interval = "prediction")$.upper,
                   unname(predict(fit, x[1:2, ], interval = "prediction")[, "upr"]))
  grDevices::pdf(NULL)
  drawn <- plot(fit, what = "intervals")
  grDevices::dev.off()
  expect_identical(drawn$lower, augment(fit, interval = "prediction")$.lower)
  sets <- augment(greedy_rls(iris[, -5], iris$Species), interval = "prediction")$.set
  expect_true(all(c("setosa", "versicolor", "virginica") %in% sets))
  # names of classes with the words of a set in them
  odd <- factor(iris$Species, labels = c("a or b", "none", "c|d"))
  fit <- greedy_rls(iris[, -5], odd)
  expect_identical(augment(fit, interval = "prediction")$.set,
                   gsub("virginica", "c|d", gsub("versicolor", "none",
                                                 gsub("setosa", "a or b", sets))))
  single <- sets %in% levels(iris$Species)
  expect_output(print(summary(fit)), sprintf("a single class for %.0f %%", 100 * mean(single)))
})

test_that("new rows are augmented with their covariates, in a matrix or data frame", {
  set.seed(12)
  x <- matrix(rnorm(40 * 4), 40)
  age <- rnorm(40)
  fit <- greedy_rls(x, x[, 1] + age + rnorm(40), k = 3, adjust = cbind(age))
  new <- cbind(age = c(1, 2))
  made <- augment(fit, newdata = x[1:2, ], interval = "prediction", adjust = new)
  expect_equal(made$.fitted, unname(predict(fit, x[1:2, ], adjust = new)))
  expect_equal(made$.lower, unname(predict(fit, x[1:2, ], interval = "prediction",
                                           adjust = new)[, "lwr"]))
  expect_error(augment(fit, newdata = 1:3), "a matrix or data frame",
               class = "sparsels_error_argument")
})

test_that("intervals that would not hold are refused with the way out", {
  set.seed(9)
  x <- matrix(rnorm(30 * 5), 30)
  y <- x[, 1] + rnorm(30)
  classes <- gl(2, 15)
  new <- x[1:2, ]
  fit <- greedy_rls(x, y, k = 4, lambda = 1)
  error <- function(...) expect_snapshot_error(predict(...), class = "sparsels_error_input")
  error(fit, new, interval = "confidence")
  error(fit, new, interval = "both")
  error(fit, new, interval = "prediction", level = 95)
  error(fit, new, interval = "prediction", size = 4)
  error(fit, new, interval = "prediction", type = "link")
  error(fit, new, interval = "lower", scaled = TRUE)
  error(fit, new, type = "set")
  error(greedy_rls(x, classes, k = 4, lambda = 1), new, interval = "prediction")
  error(greedy_rls(x, cbind(y, y + x[, 2]), k = 4, lambda = 1), new, interval = "prediction")
  error(greedy_rls(x, y, k = 4, lambda = 1, size = "criterion"), new, interval = "prediction")
  error(l1_path(x, y), new, interval = "prediction")
  path <- l1_path(x, y, folds = 5, lambda = c(2, 1))
  expect_error(predict(path, new, interval = "prediction", lambda = setdiff(c(2, 1), path$lambda)),
               "of the chosen lambda, .*: make a fit with the `lambda` wanted")
  error(fs_lssvm(x, y, kernel = kernel_gaussian(0.1), prototypes = 5), new,
        interval = "prediction")
  error(poss(x, y, k = 3), new, interval = "prediction")
  error(greedy_rls(x, y, k = 4, lambda = 1, within = gl(3, 10)), new, interval = "prediction")
  skip_if_not_installed("survival")
  times <- survival::Surv(exp(y), rep(1, 30))
  error(greedy_rls(x, times, k = 4, lambda = 1), new, interval = "prediction")
})

test_that("new rows lie in the intervals and sets of their level", {
  skip_on_cran()
  designs <- list(
    heavy = function(m) {
      x <- matrix(rnorm(m * 60), m)
      list(x = x, y = x[, 1] + x[, 2] + rt(m, 3))
    },
    noise = function(m) list(x = matrix(rnorm(m * 60), m), y = rexp(m)),
    skewed = function(m) {
      x <- matrix(rlnorm(m * 30), m)
      list(x = x, y = x[, 1] * exp(rnorm(m) / 3))
    },
    classes = function(m) {
      x <- matrix(rnorm(m * 60), m)
      list(x = x, y = factor(x[, 1] + x[, 2] + rnorm(m) > 0.5))
    }
  )
  for (name in names(designs)) {
    set.seed(20)
    covered <- replicate(max(problems_to_try(40, 6)), {
      data <- designs[[name]](50)
      new <- designs[[name]](40)
      fit <- suppressWarnings(greedy_rls(data$x, data$y, k = 5))
      if (is.factor(data$y)) {
        sets <- unclass(predict(fit, new$x, type = "set"))
        mean(sets[cbind(1:40, as.integer(new$y))])
      } else {
        ends <- predict(fit, new$x, interval = "prediction")
        mean(new$y >= ends[, "lwr"] & new$y <= ends[, "upr"])
      }
    })
    # nine tenths, and at most three standard errors from it, or more of a class
    near <- 3 * sd(covered) / sqrt(length(covered))
    expect_gt(mean(covered), 0.9 - near)
    expect_lt(mean(covered), if (name == "classes") 1 else 0.9 + near + 0.02)
  }
})

test_that("print names the classes that are too rare for sets", {
  set.seed(9)
  class <- factor(rep(letters[1:3], c(30, 26, 4)))
  x <- matrix(rnorm(180), 60) + outer(as.integer(class), 1:3, "==")
  said <- paste(trimws(capture.output(print(rls(x, class)))), collapse = " ")
  expect_match(said, "of the rows; class 'c' has too few rows for sets of level 0.9 and is in all")
})
