# l1_path() of counts and shares: loss = "poisson", "binomial" and "negbin(theta)"

#' @srrstats {ML7.8} `tests/testthat/test-l1-means.R`, `tests/testthat/test-l1-methods.R`,
#'   `tests/testthat/test-cox.R`, `tests/testthat/test-ordinal.R`
#' @srrstats {ML7.9} In part: losses, penalties and storage are crossed, not all of them
#' @srrstats {ML7.9a} In part: `expand.grid()` and loops
kinds <- c("poisson", "binomial", "negbin(2)")

# the largest difference, absolute
expect_near <- function(value, expected, by) {
  expect_lte(max(abs(unname(value) - unname(expected))), by)
}

# the coefficients of all columns at a lambda, by the intercept and the columns
every_coef <- function(fit, x, lambda = fit$lambda) {
  found <- coef(fit, lambda = lambda)
  all <- stats::setNames(numeric(ncol(x) + 1), c("(Intercept)", colnames(x)))
  replace(all, names(found), found)
}

quiet_path <- function(..., loss = "poisson") {
  suppressMessages(l1_path(..., loss = loss, progress = FALSE))
}

design <- function() {
  x <- outer(1:10, 1:4, function(i, j) (i^2 * j + 3 * i + j^3) %% 11 - 5)
  colnames(x) <- paste0("x", 1:4)
  list(x = x, y = c(1, 0, 4, 2, 3, 0, 2, 1, 7, 5), o = log(c(1, 2, 1, 3, 2, 1, 1, 2, 2, 1)),
       w = c(1, 2, 1, 1, 0.5, 1, 1, 2, 1, 1))
}

simulated <- function(m = 60, n = 12, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  o <- log(runif(m, 0.5, 3))
  list(x = x, o = o, w = runif(m, 0.5, 2), z = data.frame(age = rnorm(m)),
       y = rpois(m, exp(0.5 * x[, 1] - 0.4 * x[, 2] + o)))
}

test_that("an example by hand: largest lambda, objectives, coefficients", {
  d <- design()
  pb <- as_problem(d$x, d$y, offset = d$o, weights = d$w, standardize = FALSE)
  top <- lambda_max(pb, loss = "poisson")
  expect_equal(top, 90.552631579, tolerance = 1e-11)
  fit <- l1_path(pb, loss = "poisson", lambda = top / c(2, 10), tolerance = 1e-12)
  expect_equal(fit$null_objective, 15.930238842, tolerance = 1e-10)
  expect_equal(fit$path$objective, c(13.124819774, 6.346530708), tolerance = 1e-9)
  expect_identical(fit$path$size, c(1L, 1L))
  expect_equal(unname(coef(fit, lambda = fit$path$lambda[1])["x1"]), 0.125993083,
               tolerance = 1e-8)
  expect_equal(unname(coef(fit, lambda = fit$path$lambda[2])["x1"]), 0.257682921,
               tolerance = 1e-8)
  # the gap at coefficients that are not optimal, covariates optimal
  problem <- as_problem(d$x, d$y, offset = d$o, weights = d$w, standardize = FALSE)
  beta <- c(0.1, -0.2, 0, 0.05)
  point <- model_point(problem, "poisson", 1:4, beta)
  largest <- max(abs(column_products(problem, point$r)))
  s <- top / 2 / largest
  expect_equal(s, 0.485943079, tolerance = 1e-8)
  expect_equal(point$loss + top / 2 * point$l1, 33.480420976, tolerance = 1e-10)
  expect_equal(dual_objective(problem, "poisson", s * point$r), 10.225682370, tolerance = 1e-9)
  # the best multiple is no worse
  expect_gte(dual_value(problem, "poisson", point$r, largest, top / 2), 10.225682369)
})

test_that("random problems: gaps, optimality conditions and screens by plain sums", {
  for (loss in kinds) {
    set.seed(20)
    kept <- every <- 0
    for (number in problems_to_try(100, 10)) {
      d <- draw_means(number, loss)
      x <- if (number %% 3 == 0) Matrix::Matrix(d$x, sparse = TRUE) else d$x
      scaled <- number %% 7 > 0
      o <- if (any(d$o != 0)) d$o
      path <- function(...) {
        quiet_path(x, d$y, offset = o, weights = d$w, adjust = d$z, alpha = d$alpha, nlambda = 6,
                   lambda_min_ratio = 0.02, standardize = scaled, loss = loss, ...)
      }
      fit <- path(tolerance = 1e-12)
      X <- plain_standard(d$x, d$w, scaled)
      z <- cbind(rep(1, length(d$y)), d$z)
      null <- fit$null_objective
      at <- vapply(seq_len(nrow(fit$path)), function(row) {
        solution <- fit$solutions[[row]]
        beta <- replace(numeric(ncol(X)), solution$features, solution$beta)
        lambda <- fit$path$lambda[row]
        f <- drop(predict(fit, d$x, lambda = lambda, type = "link", adjust = d$z, newoffset = o))
        unlist(mean_point(loss, X, d$y, f, beta, lambda, d$alpha, d$w, d$o, z))
      }, c(objective = 0, gap = 0, balance = 0, broken = 0))
      expect_near(at["objective", ], fit$path$objective, 1e-11 * max(1, null))
      expect_true(all(at["gap", ] >= -1e-12 * null & at["gap", ] <= 3e-12 * null))
      expect_lte(max(at["balance", ]), 1e-9 * sum(d$w * (1 + d$y)))
      expect_lte(max(at["broken", ]), 1e-3)
      # what the safe test leaves out is in no solution
      mask <- path(screen = "gap", tolerance = 1e-12)
      expect_near(mask$path$objective, fit$path$objective, 1e-11 * max(1, null))
      expect_true(all(mask$path$columns_kept >= fit$path$size))
      rough <- path(screen = "gap", tolerance = 1e-6)
      expect_true(all(rough$path$objective - fit$path$objective <= 1.01e-6 * null))
      kept <- kept + sum(mask$path$columns_kept)
      every <- every + ncol(X) * nrow(fit$path)
    }
    expect_lt(kept, 0.95 * every)
  }
})

test_that("paths of many rows end at the gap however much the curvature changes", {
  set.seed(22)
  m <- 600
  n <- 60
  shared <- matrix(rnorm(m * 3), m)
  x <- matrix(rnorm(m * n), m) + shared[, rep(1:3, length.out = n)]
  x[, 50:60] <- round(x[, 50:60])
  z <- rnorm(m)
  w <- runif(m, 0.2, 3)
  f <- 2 * x[, 1] - 1.5 * x[, 2] + x[, 53] + z / 2
  mean <- exp(f / 2)
  classes <- rbinom(m, 1, plogis(2 * f))
  times <- survival::Surv(ceiling(20 * rexp(m, mean)), rbinom(m, 1, 0.7))
  y <- list(poisson = rpois(m, mean), "negbin(2)" = rnbinom(m, 2, mu = mean),
            binomial = rbinom(m, 6, plogis(f)) / 6, logistic = factor(classes), cox = times)
  factors <- rep(c(1, 1, 0.5, 2), length.out = n)
  for (loss in names(y)) {
    path <- function(x, ...) {
      quiet_path(x, y[[loss]], weights = w, adjust = z, penalty = factors, loss = loss,
                 nlambda = 12, lambda_min_ratio = 1e-3, tolerance = 1e-10, ...)
    }
    # of sparse columns the quadratic model has no Gram matrix
    by_gram <- path(x)
    by_columns <- path(Matrix::Matrix(x, sparse = TRUE))
    null <- by_gram$null_objective
    expect_identical(by_gram$status, "complete")
    expect_gte(max(by_gram$path$size), 50)
    expect_lte(max(by_gram$path$gap), 1e-10 * null)
    expect_near(by_gram$path$objective, by_columns$path$objective, 1.01e-10 * null)
    # one lambda alone, from nothing: all columns come into the matrix at once
    alone <- path(x, lambda = by_gram$path$lambda[c(4, 12)])
    expect_near(alone$path$objective, by_gram$path$objective[c(4, 12)], 1.01e-10 * null)
  }
})

test_that("masks hold all columns of the solutions, from lambda down to each column's reach", {
  for (loss in kinds) {
    set.seed(21)
    dropped <- reached <- 0
    for (number in problems_to_try(40, 4)) {
      d <- draw_means(number, loss)
      d$w <- pmax(d$w, 0.5)
      x <- if (number %% 3 == 0) Matrix::Matrix(d$x, sparse = TRUE) else d$x
      given <- list(x, d$y, offset = if (any(d$o != 0)) d$o, weights = d$w, adjust = d$z,
                    alpha = d$alpha, loss = loss)
      fit <- do.call(quiet_path, c(given, nlambda = 6, lambda_min_ratio = 0.05, tolerance = 1e-6))
      for (known in list(NULL, fit)) {
        lambda <- fit$lambda_max * c(0.95, 0.4)[1 + !is.null(known)]
        mask <- suppressMessages(do.call(safe_screen, c(given, list(lambda = lambda, rule = "gap",
                                                                    fit = known))))
        lambdas <- c(lambda, fit$lambda_max * c(0.9, 0.7, 0.5))
        exact <- do.call(quiet_path, c(given, list(lambda = lambdas, tolerance = 1e-11)))
        for (row in seq_along(exact$solutions)) {
          own <- exact$path$lambda[row]
          used <- exact$solutions[[row]]$features
          # without a fit up to lambda_max, with one up to the lambda of the mask
          if (is.null(known) || own <= lambda) {
            expect_true(all(mask$rho[used] * fit$lambda_max >= own * (1 - 1e-9)))
          }
          if (own == lambda) expect_true(all(mask$keep[used]))
        }
        dropped <- dropped + sum(!mask$keep)
        reached <- reached + sum(mask$rho < 0.9)
      }
    }
    expect_gt(dropped, 3 * number)
    expect_gt(reached, 3 * number)
  }
})

test_that("glmnet and glm agree", {
  skip_if_not_installed("glmnet")
  for (alpha in c(1, 0.6)) {
    d <- simulated()
    fit <- quiet_path(d$x, d$y, offset = d$o, weights = d$w, alpha = alpha, nlambda = 20,
                      tolerance = 1e-12, standardize = FALSE)
    theirs <- glmnet::glmnet(d$x, d$y, family = "poisson", offset = d$o, weights = d$w,
                             alpha = alpha, standardize = FALSE, thresh = 1e-20, maxit = 1e7,
                             lambda = fit$path$lambda / sum(d$w))
    ours <- vapply(fit$path$lambda, function(lambda) every_coef(fit, d$x, lambda)[-1], d$x[1, ])
    expect_near(unname(ours), unname(as.matrix(theirs$beta)), 1e-6)
  }
  d <- simulated()
  # the end of the path is a generalised linear model
  fit <- quiet_path(d$x[, 1:4], d$y, offset = d$o, weights = d$w, adjust = d$z, lambda = 1e-6,
                    tolerance = 1e-10)
  model <- suppressWarnings(glm(d$y ~ d$z$age + d$x[, 1:4], poisson, offset = d$o, weights = d$w,
                                control = list(epsilon = 1e-14)))
  expect_near(unname(coef(fit)), unname(coef(model)), 1e-6)
  expect_equal(deviance(fit), deviance(model), tolerance = 1e-9)
})

test_that("shares: glmnet and glm agree, and two classes are shares of 0 and 1", {
  d <- simulated()
  trials <- rep(1:6, 10)
  hits <- rbinom(60, trials, plogis(d$x[, 1] - d$x[, 2] / 2 + d$o))
  share <- hits / trials
  fit <- quiet_path(d$x, share, offset = d$o, weights = trials, lambda = 1e-6, tolerance = 1e-10,
                    loss = "binomial", adjust = d$z)
  model <- glm(cbind(hits, trials - hits) ~ d$z$age + d$x, binomial, offset = d$o,
               control = list(epsilon = 1e-14))
  expect_near(coef(fit), coef(model), 1e-5)
  expect_equal(deviance(fit), deviance(model), tolerance = 1e-8)
  null <- quiet_path(d$x, share, weights = trials, lambda = 1e9, loss = "binomial")
  expect_equal(as.numeric(logLik(null)),
               as.numeric(logLik(glm(cbind(hits, trials - hits) ~ 1, binomial))))
  fit <- quiet_path(d$x, share, offset = d$o, weights = trials, folds = 4, nlambda = 10,
                    loss = "binomial")
  expect_equal(predict(fit, d$x, newoffset = d$o),
               plogis(predict(fit, d$x, newoffset = d$o, type = "link")))
  checked <- verify(fit, d$x, share, offset = d$o, weights = trials, claims = 300)
  expect_true(checked$ok)
  whole <- as.numeric(share > 0.5)
  shares <- quiet_path(d$x, whole, folds = rep(1:4, 15), tolerance = 1e-10, loss = "binomial")
  classes <- quiet_path(d$x, factor(whole), folds = rep(1:4, 15), tolerance = 1e-10,
                        loss = "logistic")
  expect_equal(shares$path$objective, classes$path$objective, tolerance = 1e-8)
  expect_equal(shares$path$criterion, 2 * classes$path$criterion, tolerance = 1e-6)
  expect_error(quiet_path(d$x, hits, loss = "binomial"), "needs shares from 0 to 1")
  skip_if_not_installed("glmnet")
  fit <- quiet_path(d$x, share, offset = d$o, weights = trials, alpha = 0.6, nlambda = 20,
                    tolerance = 1e-12, standardize = FALSE, loss = "binomial")
  theirs <- glmnet::glmnet(d$x, cbind(trials - hits, hits), family = "binomial", offset = d$o,
                           alpha = 0.6, standardize = FALSE, thresh = 1e-20, maxit = 1e7,
                           lambda = fit$path$lambda / sum(trials))
  ours <- vapply(fit$path$lambda, function(lambda) every_coef(fit, d$x, lambda)[-1], d$x[1, ])
  expect_near(ours, as.matrix(theirs$beta), 1e-6)
})

test_that("dispersed counts: glm and glmnet agree, and every method of a fit takes them", {
  d <- simulated()
  set.seed(3)
  y <- rnbinom(60, 2, mu = exp(0.5 * d$x[, 1] - 0.4 * d$x[, 2] + d$o))
  given <- list(d$x, y, offset = d$o, weights = d$w, loss = "negbin(2)")
  path <- function(...) do.call(quiet_path, c(given, list(...)))
  fit <- path(adjust = d$z, lambda = 1e-6, tolerance = 1e-10)
  skip_if_not_installed("MASS")
  model <- glm(y ~ d$z$age + d$x, MASS::negative.binomial(2), offset = d$o, weights = d$w,
               control = list(epsilon = 1e-14, maxit = 100))
  expect_near(coef(fit), coef(model), 1e-5)
  expect_equal(deviance(fit), deviance(model), tolerance = 1e-9)
  null <- quiet_path(d$x, y, offset = d$o, loss = "negbin(2)", lambda = 1e9)
  alone <- glm(y ~ 1, MASS::negative.binomial(2), offset = d$o)
  expect_equal(as.numeric(logLik(null)),
               sum(dnbinom(y, size = 2, mu = fitted(alone), log = TRUE)))
  fit <- path(folds = rep(1:4, 15), nlambda = 10, penalty = rep(c(1, 2, 0.5), 4))
  link <- predict(fit, d$x, newoffset = d$o, type = "link")
  expect_equal(predict(fit, d$x, newoffset = d$o), exp(link))
  expect_equal(residuals(fit), y - exp(link))
  expect_equal(fit$path$criterion[match(fit$lambda, fit$path$lambda)],
               2 * half_of_deviance(y, fit$held_out[, 1], d$w, "negbin(2)") / sum(d$w))
  expect_true(verify(fit, d$x, y, offset = d$o, weights = d$w, penalty = rep(c(1, 2, 0.5), 4),
                     claims = 300)$ok)
  expect_equal(do.call(lambda_max, c(given, penalty = list(rep(c(1, 2, 0.5), 4)))), fit$lambda_max)
  expect_identical(suppressMessages(do.call(l1_size, c(given, size = 4, range = 0)))$size, 4L)
  cvd <- suppressMessages(do.call(cross_validate, c(
    given, list(l1_path, nlambda = 5, folds = 3, outer = 3, measure = "deviance")
  )))
  expect_match(capture_output(print(cvd)), "mean Poisson deviance")
  expect_error(path(screen = "safe1"), "has no test", class = "sparsels_error_argument")
  expect_error(quiet_path(d$x, y, loss = "negbin"), "needs theta in its name",
               class = "sparsels_error_argument")
  expect_match(capture_output(print(fit)), "regression \\(theta 2\\) with an l1 penalty")
  skip_if_not_installed("glmnet")
  fit <- path(nlambda = 5, lambda_min_ratio = 0.05, tolerance = 1e-12, standardize = FALSE)
  theirs <- glmnet::glmnet(d$x, y, MASS::negative.binomial(2), d$w, d$o, standardize = FALSE,
                           thresh = 1e-14, lambda = fit$path$lambda / sum(d$w))
  ours <- vapply(fit$path$lambda, function(lambda) every_coef(fit, d$x, lambda)[-1], d$x[1, ])
  expect_near(ours, as.matrix(theirs$beta), 1e-3)
})

test_that("held-out deviances are those of paths on the other rows", {
  d <- simulated(40, 8, 2)
  folds <- rep(1:4, 10)
  fit <- quiet_path(d$x, d$y, offset = d$o, weights = d$w, folds = folds, nlambda = 8,
                    lambda_min_ratio = 0.05, tolerance = 1e-12, standardize = FALSE)
  f <- matrix(0, 40, nrow(fit$path))
  for (fold in 1:4) {
    out <- folds == fold
    one <- quiet_path(d$x[!out, ], d$y[!out], offset = d$o[!out], weights = d$w[!out],
                      lambda = fit$path$lambda, tolerance = 1e-12, standardize = FALSE)
    f[out, ] <- vapply(one$path$lambda, function(lambda) {
      predict(one, d$x[out, ], lambda = lambda, type = "link", newoffset = d$o[out])
    }, numeric(sum(out)))
  }
  deviance <- apply(f, 2, function(f) 2 * half_of_deviance(d$y, f, d$w) / sum(d$w))
  expect_equal(fit$path$criterion, deviance, tolerance = 1e-8)
  squared <- colSums(d$w * (d$y - exp(f))^2) / sum(d$w)
  expect_equal(fit$path$squared, squared, tolerance = 1e-8)
  expect_identical(fit$lambda, fit$path$lambda[which.min(deviance)])
})

test_that("the honest error and its standard error are of the means", {
  d <- simulated(40, 8, 2)
  ids <- rep(1:4, 10)
  count <- function(rows, ...) {
    quiet_path(d$x[rows, ], d$y[rows], offset = d$o[rows], folds = ids[rows], nlambda = 5, ...)
  }
  cvd <- suppressMessages(cross_validate(
    d$x, d$y, l1_path, loss = "poisson", offset = d$o, nlambda = 5, folds = ids, outer = ids,
    measure = "squared",
    keep = TRUE
  ))
  folds <- lapply(1:4, function(fold) count(ids != fold))
  mean <- numeric(40)
  for (fold in 1:4) {
    mean[ids == fold] <- predict(folds[[fold]], d$x[ids == fold, ], newoffset = d$o[ids == fold])
  }
  expect_equal(cvd$estimate[["mean"]], mean(tapply((d$y - mean)^2, ids, mean)))
  expect_true(all(cvd$predictions > 0))
  theta <- vapply(folds, function(fit) mean(residuals(fit, "held_out")^2), 0)
  expect_equal(cvd$estimate[["jackknife_se"]], sqrt(3^2 / 4 * var(theta)))
})

test_that("integer, sparse and file x, threads and a cluster give the same path", {
  set.seed(4)
  x <- matrix(rpois(50 * 30, 0.7), 50)
  y <- rpois(50, exp(0.4 * x[, 1] - 0.3 * x[, 2]))
  o <- runif(50)
  file <- write_file_matrix(x + 0, tempfile())
  on.exit(unlink(file$path))
  for (loss in c("poisson", "negbin(2)")) {
    path <- function(x, ...) {
      quiet_path(x, y, offset = o, folds = rep(1:5, 10), nlambda = 10, tolerance = 1e-10,
                 loss = loss, ...)
    }
    plain <- path(x + 0)
    for (fit in list(path(x), path(Matrix::Matrix(x, sparse = TRUE)), path(file),
                     path(x + 0, threads = 2), path(x + 0, screen = "none"))) {
      expect_equal(fit$path$objective, plain$path$objective, tolerance = 1e-9)
      expect_equal(fit$path$criterion, plain$path$criterion, tolerance = 1e-6)
      expect_equal(coef(fit), coef(plain), tolerance = 1e-5)
    }
  }
})

test_that("predictions, residuals, deviance and likelihood", {
  d <- simulated()
  fit <- quiet_path(d$x, d$y, offset = d$o, weights = d$w, folds = 4, nlambda = 10)
  link <- predict(fit, d$x, newoffset = d$o, type = "link")
  expect_equal(link, drop(cbind(1, d$x) %*% every_coef(fit, d$x)) + d$o)
  expect_equal(predict(fit, d$x, newoffset = d$o), exp(link))
  expect_equal(fitted(fit), exp(link))
  expect_equal(fit$fitted[, 1], link)
  expect_equal(residuals(fit), d$y - exp(link))
  expect_equal(residuals(fit, "held_out"), d$y - exp(fit$held_out[, 1]))
  augmented <- augment(fit)
  expect_equal(augmented$.fitted, exp(link))
  expect_equal(augmented$.resid, d$y - exp(link))
  expect_equal(deviance(fit), 2 * half_of_deviance(d$y, link, d$w), tolerance = 1e-6)
  expect_equal(deviance(fit, newdata = d$x), 2 * half_of_deviance(d$y, link, d$w))
  null <- quiet_path(d$x, d$y, offset = d$o, lambda = 1e9)
  expect_equal(as.numeric(logLik(null)), as.numeric(logLik(glm(d$y ~ 1, poisson, offset = d$o))))
  expect_error(logLik(fit), "penalised")
  expect_error(predict(fit, d$x), "newoffset")
  ends <- predict(fit, d$x, newoffset = d$o, interval = "prediction")
  expect_equal(ends[, "fit"], exp(link), ignore_attr = TRUE)
  expect_error(predict(fit, d$x, newoffset = d$o, type = "class"), "classes")
  expect_equal(glance(fit)$held_out.r.squared,
               1 - sum(d$w * (d$y - exp(fit$held_out[, 1]))^2) /
                 sum(d$w * ((d$y - d$o) - weighted.mean(d$y - d$o, d$w))^2))
  checked <- verify(fit, d$x, d$y, offset = d$o, weights = d$w, claims = 400)
  expect_true(checked$ok)
})

test_that("counts that are large, or fitted by covariates alone", {
  d <- simulated()
  fit <- quiet_path(d$x, d$y * 1e6, nlambda = 8, tolerance = 1e-9)
  expect_lte(max(fit$path$gap), 1e-9 * fit$null_objective)
  # one count far above the others, about whose fit the loss has hardly any curvature
  fit <- quiet_path(replace(d$x, 60, 9), replace(pmin(d$y, 2), 60, 60), loss = "negbin(1000)",
                    nlambda = 6, tolerance = 1e-9)
  expect_lte(max(fit$path$gap), 2e-9 * fit$null_objective)
  far <- quiet_path(d$x, d$y, offset = d$o + 200, nlambda = 8, tolerance = 1e-9)
  near <- quiet_path(d$x, d$y, offset = d$o, nlambda = 8, tolerance = 1e-9)
  expect_equal(far$path$objective, near$path$objective, tolerance = 1e-7)
  level <- factor(ifelse(seq_along(d$y) %% 6 == 0, "b", "a"))
  y <- ifelse(level == "b", 0, d$y + 1)
  expect_warning(fit <- quiet_path(d$x, y, adjust = data.frame(level), nlambda = 5,
                                   tolerance = 1e-9),
                 "'levelb' separates 10 rows .* from the other rows",
                 class = "sparsels_warning_separation")
  expect_true(all(fit$path$gap <= 1e-9 * fit$null_objective))
})

test_that("responses that are no counts are refused, and rates are remarked on", {
  d <- simulated(20, 3)
  refused <- function(code, words) expect_error(code, words, class = "sparsels_error_input")
  refused(quiet_path(d$x, replace(d$y, 3, -2)), "`y` is -2 in row 3")
  refused(quiet_path(d$x, replace(d$y, 3, Inf)), "infinite")
  refused(quiet_path(d$x, 0 * d$y), "must vary")
  refused(quiet_path(d$x, factor(d$y > 1)), "in one column, but `y` has classes")
  refused(quiet_path(d$x, cbind(d$y, d$y)), "in one column, but `y` has 2 columns")
  refused(quiet_path(d$x, d$y, offset = replace(d$o, 2, 301)), "`offset` is 301 in row 2")
  refused(quiet_path(d$x, d$y, offset = d$o, weights = as.numeric(d$y == 0)), "are 0")
  refused(quiet_path(d$x, as.numeric(seq_along(d$y) == 4), folds = "loo"),
          "in one fold .first: row 4")
  expect_message(l1_path(d$x, d$y + 0.25, loss = "poisson", nlambda = 3),
                 "not whole in 20 rows", class = "sparsels_message_counts")
  refused <- function(code, words) expect_error(code, words, class = "sparsels_error_argument")
  refused(quiet_path(d$x, d$y, solver = "ipm"), "not \"poisson\"")
  refused(quiet_path(d$x, d$y, screen = "safe1"), "take \"gap\"")
  refused(safe_screen(d$x, d$y, loss = "poisson", lambda = 1, rule = "safe1"), "has no test")
  fit <- quiet_path(d$x, d$y, offset = d$o, nlambda = 3)
  refused(safe_screen(d$x, d$y, loss = "poisson", lambda = 1, fit = fit, rule = "gap"),
          "other data")
  # few values are not taken for codes of classes
  expect_no_message(l1_path(d$x, rep(0:1, 10), loss = "poisson", nlambda = 3))
})

test_that("what is printed", {
  local_reproducible_output(width = 80)
  d <- design()
  fit <- quiet_path(d$x, d$y, offset = d$o, lambda = c(40, 20, 10), folds = rep(1:5, 2))
  expect_snapshot(fit)
})
