two_classes <- function(m = 40, n = 12) {
  set.seed(11)
  x <- matrix(rnorm(m * n), m, n, dimnames = list(NULL, paste0("g", seq_len(n))))
  list(x = x, y = factor(ifelse(x[, 3] - x[, 7] + rnorm(m) > 0.3, "ill", "well")))
}

numbers <- function(m = 30, n = 8) {
  set.seed(12)
  x <- matrix(rnorm(m * n), m, n)
  list(x = x, y = x[, 2] + x[, 5] + rnorm(m))
}

# the mean over folds of an error (folds) with weights, and its standard error
over_folds <- function(error, weight) retrain_mean(rbind(error * weight, weight))

test_that("classes: the curves are those of a loop written by hand", {
  d <- two_classes()
  set.seed(3)
  w <- runif(40, 0.5, 2)
  set.seed(1)
  cvd <- cross_validate(d$x, greedy_rls, y = d$y, weights = w, k = 4, lambda = 3, outer = 4)

  set.seed(1)
  problem <- as_problem(d$x, d$y, weights = w)
  ids <- make_folds(problem, 4)$ids[, 1]
  streams <- task_streams(4)
  test <- inner <- cv <- random <- majority <- matrix(NA_real_, 5, 4)
  size <- weight <- numeric(4)
  chosen <- list()
  for (f in 1:4) {
    out <- ids == f
    fit <- greedy_rls(d$x[!out, ], d$y[!out], weights = w[!out], k = 4, lambda = 3)
    error <- function(class) weighted.mean(class != d$y[out], w[out])
    rival <- with_stream(streams[[f]], random_selection(problem[!out, ], k = 4, lambda = 3))
    for (s in 0:4) {
      test[s + 1, f] <- error(predict(fit, d$x[out, ], size = s, type = "class"))
      random[s + 1, f] <- error(predict(rival, d$x[out, ], size = s, type = "class"))
      inner[s + 1, f] <- fit$path$error[fit$path$size == s]
      cv[s + 1, f] <- fit$path$cv_error[fit$path$size == s]
    }
    share <- tapply(w[!out], d$y[!out], sum)
    majority[, f] <- error(names(which.max(share)))
    size[f] <- fit$size
    weight[f] <- sum(w[out])
    chosen[[f]] <- selected(fit)
  }
  scored <- list(test = test, random = random, majority = majority, inner = inner, cv = cv)
  for (name in names(scored)) {
    expected <- apply(scored[[name]], 1, over_folds, weight)
    expect_equal(cvd$curves[[name]], expected["value", ])
    expect_equal(cvd$curves[[paste0(name, "_se")]], expected["se", ])
  }
  expect_equal(cvd$curves$size, 0:4)
  expect_equal(cvd$folds$lambda, rep(3, 4))
  expect_equal(cvd$folds$size, size)
  expect_equal(cvd$folds$rows, as.vector(table(ids)))
  at <- cbind(size + 1, 1:4)
  expect_equal(cvd$folds$test, test[at])
  expect_equal(cvd$folds$inner, inner[at])
  expect_equal(cvd$estimate[["mean"]], over_folds(test[at], weight)[[1]])
  expect_equal(cvd$chosen, chosen)
  count <- table(unlist(chosen))
  expect_equal(cvd$frequency$count, as.vector(count[cvd$frequency$name]))
  expect_false(is.unsorted(-cvd$frequency$count))
  expect_equal(cvd$frequency$share, cvd$frequency$count / 4)
  expect_equal(colnames(d$x)[cvd$frequency$feature], cvd$frequency$name)
})

test_that("numbers: mean squared error over several responses, weighted; majority is the mean", {
  d <- numbers()
  y <- cbind(a = d$y, b = rnorm(30))
  w <- rep(1:3, 10)
  ids <- rep(1:3, each = 10)
  cvd <- cross_validate(d$x, bare_rls,
    y = y, weights = w, k = 3, lambda = 2, outer = ids, baselines = "majority",
    standardize_response = FALSE
  )
  test <- majority <- matrix(NA_real_, 4, 3)
  for (f in 1:3) {
    out <- ids == f
    fit <- bare_rls(d$x[!out, ], y[!out, ], weights = w[!out], k = 3, lambda = 2,
                    standardize_response = FALSE)
    error <- function(p) sum(w[out] * (y[out, ] - p)^2) / (2 * sum(w[out]))
    for (s in 0:3) test[s + 1, f] <- error(predict(fit, d$x[out, ], size = s))
    mean <- colSums(w[!out] * y[!out, ]) / sum(w[!out])
    majority[, f] <- error(rep(mean, each = 10))
  }
  expect_equal(cvd$curves$test, drop(test %*% tapply(w, ids, sum)) / sum(w))
  expect_equal(cvd$curves$majority, drop(majority %*% tapply(w, ids, sum)) / sum(w))
  expect_null(cvd$curves$random)
  expect_equal(cvd$measure, "squared")
})

test_that("with covariates the null model is the model of the covariates alone, as in judge()", {
  set.seed(21)
  m <- 120
  x <- matrix(rnorm(m * 6), m, dimnames = list(NULL, paste0("g", 1:6)))
  d <- data.frame(age = rnorm(m), site = gl(3, 1, m), off = rnorm(m) / 3, w = rep(1:3, 40))
  d$y <- 3 * d$age + x[, 1] + rnorm(m)
  d$two <- d$y > 0
  d$count <- rpois(m, exp(d$age / 2 + x[, 1] / 3 + d$off))
  d$time <- rexp(m, exp(d$age - x[, 1]))
  d$status <- rbinom(m, 1, 0.8)
  ids <- rep(1:4, 30)
  # sums of losses and weights of a model of the covariates, by R's own fitters
  null <- function(fit, sums) {
    each <- sapply(1:4, function(f) {
      sums(fit(d[ids != f, ]), d[ids == f, ])
    })
    sum(each[1, ]) / sum(each[2, ])
  }
  own <- function(y, method, ...) {
    pb <- as_problem(x, y, adjust = d[c("age", "site")], weights = d$w)
    suppressWarnings(cross_validate(pb, method, outer = ids, baselines = "majority", ...))
  }
  squares <- null(function(train) lm(y ~ age + site, train, weights = w), function(fit, test) {
    c(sum(test$w * (test$y - predict(fit, test))^2), sum(test$w))
  })
  search <- function(y) own(y, greedy_rls, k = 2, lambda = 5, size = "criterion", refit = FALSE)
  numbers <- search(d$y)
  expect_equal(numbers$estimates$null, squares)
  expect_equal(unique(signif(numbers$curves$majority, 10)), signif(squares, 10))
  expect_output(print(numbers), "null model, the covariates alone", fixed = TRUE)
  expect_equal(search(factor(d$two))$estimates$null,
               null(function(train) lm(2 * two - 1 ~ age + site, train, weights = w),
                    function(fit, test) {
                      c(sum(test$w * ((predict(fit, test) > 0) != test$two)), sum(test$w))
                    }))
  counts <- null(function(train) {
    glm(count ~ age + site + offset(off), poisson, train, weights = w, epsilon = 1e-13)
  }, function(fit, test) {
    mean <- predict(fit, test, type = "response")
    c(sum(test$w * poisson()$dev.resids(test$count, mean, 1)), sum(test$w))
  })
  of_counts <- as_problem(x, d$count, adjust = d[c("age", "site")], weights = d$w,
                          offset = d$off, task = "regression")
  poisson_fit <- suppressWarnings(cross_validate(of_counts, l1_path, loss = "poisson", folds = 3,
                                                 nlambda = 5, outer = ids))
  expect_equal(poisson_fit$estimates$null, counts, tolerance = 1e-7)
  times <- null(function(train) {
    survival::coxph(survival::Surv(time, status) ~ age + site, train, weights = w)
  }, function(fit, test) {
    test$score <- predict(fit, test, type = "lp", reference = "zero")
    pairs <- survival::concordance(survival::Surv(time, status) ~ score, test, weights = test$w,
                                   reverse = TRUE)$count
    c(pairs[["concordant"]] + pairs[["tied.x"]] / 2, sum(pairs[1:3]))
  })
  cox <- own(survival::Surv(d$time, d$status), l1_path, folds = 3, nlambda = 5)
  expect_equal(cox$estimates$null, times)
  expect_equal(cox$estimates$difference, cox$estimates$mean - times)
  # the interval of a difference from a null model that ties no pairs is about the difference
  middle <- mean(unlist(cox$estimates[c("difference_lower", "difference_upper")]))
  expect_equal(middle, cox$estimates$difference, tolerance = 1e-6)
  pb <- as_problem(x, d$y, adjust = d[c("age", "site")], weights = d$w)
  page <- suppressWarnings(judge(bare_rls(pb, k = 2, lambda = 5), pb, outer = ids,
                                 permutations = 0, pairs = 0, repeats = 0, proof = 0, claims = 0))
  expect_equal(page$error$null, squares)
})

test_that("with covariates the null probabilities are a calibrated model of the covariates", {
  set.seed(22)
  m <- 120
  x <- matrix(rnorm(m * 4), m)
  d <- data.frame(age = rnorm(m), w = rep(1:3, 40))
  d$two <- factor(ifelse(d$age + x[, 1] + rnorm(m) > 0, "ill", "well"))
  d$three <- factor(cut(d$age + rnorm(m), c(-Inf, -0.7, 0.7, Inf), c("a", "b", "c")))
  ids <- rep(1:4, 30)
  measures <- c("error", "brier", "logloss")
  # the three measures of probabilities from a function of training and test rows
  expected <- function(y, of) {
    p <- matrix(0, m, nlevels(y))
    for (f in 1:4) p[ids == f, ] <- of(d[ids != f, ], d[ids == f, ])
    own <- cbind(seq_len(m), as.integer(y))
    rows <- cbind(max.col(p) != own[, 2], rowSums((p - (col(p) == own[, 2]))^2) / 2, -log(p[own]))
    colSums(d$w * rows) / sum(d$w)
  }
  null <- function(y, ...) {
    pb <- as_problem(x, y, adjust = d["age"], weights = d$w)
    cvd <- suppressWarnings(cross_validate(pb, ..., outer = ids, measure = measures,
                                           baselines = "majority"))
    expect_output(print(cvd), "null model, the covariates alone", fixed = TRUE)
    cvd$estimates$null
  }
  logistic <- function(train, test) {
    fit <- suppressWarnings(glm(two ~ age, binomial, train, weights = w))
    p <- predict(fit, test, type = "response")
    cbind(1 - p, p)
  }
  expect_equal(null(d$two, l1_path, loss = "logistic"), expected(d$two, logistic),
               tolerance = 1e-7)
  # least squares is calibrated on rows held out, here one at a time
  calibrated <- function(train, test) {
    fit <- lm(2 * (two == "well") - 1 ~ age, train, weights = w)
    held_out <- fit$fitted - residuals(fit) * hatvalues(fit) / (1 - hatvalues(fit))
    p <- platt_map(held_out, train$two == "well", train$w / mean(train$w))(predict(fit, test))
    cbind(1 - p, p)
  }
  squares <- null(d$two, rls)
  expect_equal(squares[2:3], expected(d$two, calibrated)[2:3], tolerance = 1e-7)
  skip_if_not_installed("nnet")
  softmax <- function(train, test) {
    fit <- nnet::multinom(three ~ age, train, weights = w, trace = FALSE, reltol = 1e-15)
    predict(fit, test, type = "probs")
  }
  expect_equal(null(d$three, l1_path, loss = "multinomial"), expected(d$three, softmax),
               tolerance = 1e-5)
})

test_that("the lines of errors are no wider than the console", {
  set.seed(24)
  x <- matrix(rnorm(180), 60)
  cvd <- cross_validate(x, x[, 1] + rnorm(60), rls, groups = rep(1:20, each = 3), outer = 3)
  said <- capture.output(print(cvd))
  expect_lte(max(nchar(said)), getOption("width"))
  expect_match(paste(trimws(said), collapse = " "),
               "the method's own criterion (leave-one-group-out, 13 groups)", fixed = TRUE)
  # an error above the honest one is not called optimistic
  inner <- cvd$at_choice$inner
  expect_identical(grepl("optimistic", paste(said, collapse = " ")), inner < cvd$estimates$mean)
  cvd <- cross_validate(matrix(rnorm(1200), 40), rnorm(40), greedy_rls, k = 3, size = 3, outer = 3)
  expect_lt(cvd$at_choice$inner, cvd$estimates$mean)
  expect_output(print(cvd), "optimistic")
})

test_that("null models that err more than one class for all rows are remarked on", {
  set.seed(1)
  x <- matrix(rnorm(400), 40)
  y <- factor(rep(c("a", "b"), each = 20))
  words <- "one class for all rows has an error rate of 0.5; the null model errs more, as"
  text <- function(object) gsub("\\s+", " ", paste(capture.output(print(object)), collapse = " "))
  batch <- factor(rep(1:4, 10))
  fit <- greedy_rls(x, y, adjust = batch)
  expect_identical(fit$size, 0L)
  expect_gt(fit$path$cv_error[1], 0.7)
  expect_match(text(fit), words, fixed = TRUE)
  path <- l1_path(x, y, loss = "logistic", adjust = batch, folds = 10, lambda = c(9, 8.5))
  expect_match(text(path), words, fixed = TRUE)
  expect_match(text(greedy_rls(x, y, size = 0, size_folds = "loo")), words, fixed = TRUE)
  few <- c(1:8, 21:28)
  cvd <- cross_validate(x[few, ], y[few], greedy_rls, k = 2, size = 1, outer = "loo")
  expect_identical(cvd$estimates$null, 1)
  expect_match(text(cvd), words, fixed = TRUE)
  # not where folds have the classes in proportion, nor of other models
  expect_no_match(text(cross_validate(x, y, greedy_rls, k = 2, size = 1, outer = 10)), words)
  x[, 1] <- x[, 1] + 4 * (y == "a")
  expect_no_match(text(greedy_rls(x, y, adjust = batch)), words)
  # with weights of classes by the weighted shares
  rare <- as_problem(x, factor(rep(c("a", "b"), c(5, 35))), class_weights = "balanced")
  expect_null(one_class_words(rare, 0.5))
  expect_match(one_class_words(rare, 0.7), "error rate of 0.5;")
  expect_null(one_class_words(as_problem(x, rnorm(40)), 0.7))
})

test_that("without an intercept the null model of numbers is 0, and R-squared is from 0", {
  set.seed(23)
  m <- 60
  x <- matrix(rnorm(m * 3), m)
  w <- rep(1:3, 20)
  y <- 4 + x[, 1] + rnorm(m)
  squares <- sum(w * y^2) / sum(w)
  cvd <- cross_validate(x, y, rls, weights = w, intercept = FALSE, outer = 4)
  expect_equal(cvd$estimates$null, squares)
  expect_output(print(cvd), paste("R-squared", signif(1 - cvd$estimates$mean / squares, 3)),
                fixed = TRUE)
  expect_output(print(cvd), "null model, without columns or intercept", fixed = TRUE)
  fit <- rls(x, y, weights = w, intercept = FALSE)
  expect_equal(glance(fit)$held_out.r.squared, 1 - sum(w * (y - fit$held_out)^2) / sum(w * y^2))
  count <- rpois(m, 3)
  counts <- cross_validate(x, count, l1_path, loss = "poisson", intercept = FALSE, outer = 4)
  expect_equal(counts$estimates$null, mean(poisson()$dev.resids(count, rep(1, m), 1)))
})

test_that("several measures, the AUC within folds among them, from the predictions that are kept", {
  d <- two_classes()
  set.seed(4)
  w <- runif(40, 0.5, 2)
  ids <- make_folds(as_problem(d$x, d$y), 4)$ids[, 1]
  third <- function(y, prediction, fold) mean(abs(y - prediction)^3)
  cvd <- cross_validate(d$x, d$y, bare_rls, weights = w, k = 3, lambda = 1, outer = ids,
                           measure = list("auc", "error", "balanced", "squared", cubic = third),
                           keep = TRUE)
  pb <- as_problem(d$x, d$y, weights = w)
  expect_equal(dim(cvd$predictions), c(40, 1, 4, 1))
  for (s in 1:4) {
    score <- matrix(cvd$predictions[, , s, 1])
    for (measure in c("auc", "error", "squared")) {
      expected <- retrain_mean(retrain_sums(pb, measure, score, ids))
      expect_equal(cvd$measures[[measure]]$test[s], expected[["value"]])
      expect_equal(cvd$measures[[measure]]$test_se[s], expected[["se"]])
    }
    wrong <- sign(score[, 1]) != pb$rows$y[, 1]
    of_class <-
      vapply(c(-1, 1), function(y) weighted.mean(wrong[pb$rows$y == y], w[pb$rows$y == y]), 0)
    expect_equal(cvd$measures$balanced$test[s], mean(of_class))
    cubic <- vapply(split(1:40, ids), function(rows) mean(abs(pb$rows$y[rows] - score[rows])^3), 0)
    expect_equal(cvd$measures$cubic$test[s],
                 weighted.mean(cubic, tapply(w, ids, sum)))
  }
  expect_equal(cvd$measure, "auc")
  expect_true(cvd$higher)
  expect_equal(best_size(cvd), which.max(cvd$curves$test) - 1)
  expect_equal(cvd$estimates$measure, c("auc", "error", "balanced", "squared", "cubic"))
  expect_equal(cvd$estimate, unlist(cvd$estimates[1, names(cvd$estimate)]))
  fold <- lapply(1:4, function(f) bare_rls(pb[ids != f, ], k = 3, lambda = 1))
  for (f in 1:4) {
    own <- predict(fold[[f]], d$x[ids == f, ])
    expect_equal(cvd$held_out[ids == f, 1], unname(own))
  }
})

test_that("the result stands for the fit on all rows", {
  d <- numbers()
  set.seed(5)
  cvd <- cross_validate(d$x, d$y, greedy_rls, lambda = 1, k = 5, outer = 3)
  fit <- greedy_rls(d$x, d$y, lambda = 1, k = 5)
  expect_equal(coef(cvd), coef(fit))
  expect_equal(selected(cvd, 2), selected(fit, 2))
  expect_equal(predict(cvd, d$x[1:3, ]), predict(fit, d$x[1:3, ]))
  curves <- cvd$curves
  best <- which.min(curves$test)
  expect_equal(best_size(cvd), curves$size[best])
  expect_equal(best_size(cvd, "1se"),
               min(curves$size[curves$test <= curves$test[best] + curves$test_se[best]]))
  expect_equal(coef(cvd, "1se"), coef(fit, best_size(cvd, "1se")))
  expect_equal(predict(cvd, d$x, size = "min"), predict(fit, d$x, size = best_size(cvd)))
  expect_equal(fitted(cvd), fitted(fit))
  expect_equal(nobs(cvd), 30)
  added <- augment(cvd)
  expect_equal(added$.held_out, cvd$held_out[, 1])
  expect_equal(added$.fitted, unname(fitted(fit)))
  expect_equal(unique(tidy(cvd)$curve), factor(c("inner", "test", "random", "majority", "cv"),
                                                 curve_style$curve[c(1:4, 6)]))
  expect_equal(glance(cvd)$estimate, cvd$estimate[["mean"]])
  expect_s3_class(summary(cvd), "sparsels_summary")
})

test_that("the result predicts as the fit on all rows, for every kind of response", {
  d <- numbers()
  score <- drop(d$x[, 1] - d$x[, 2])
  two <- factor(c("a", "b")[1 + (score > 0)])
  responses <- list(
    numbers = score, several = cbind(one = score, other = -score), two = two,
    three = factor(c("p", "q", "r")[cut(rank(score), 3, labels = FALSE)]),
    times = survival::Surv(exp(score), rep(c(1, 1, 0), length.out = length(score)))
  )
  methods <- list(list(greedy_rls, k = 2, lambda = 1, size = "criterion", refit = FALSE),
                  list(l1_path, nlambda = 5, folds = 3), list(rls, lambda = 1),
                  list(kernel_rls, lambda = 1))
  for (y in responses) for (method in methods) {
    set.seed(1)
    cvd <- suppressWarnings(suppressMessages(
      do.call(cross_validate, c(list(d$x, y), method, list(outer = 3, baselines = NULL)))
    ))
    expect_equal(predict(cvd, d$x[1:3, ]), predict(cvd$fit, d$x[1:3, ]))
    if (is.factor(y)) {
      # probabilities and classes are calibrated by the outer folds
      expect_equal(levels(predict(cvd, d$x, type = "class")), levels(y))
      expect_equal(rowSums(predict(cvd, d$x, type = "prob")), rep(1, nrow(d$x)),
                   ignore_attr = TRUE)
    }
  }
})

test_that("kernel fits are scored by lambda, fixed-size ones by size", {
  d <- numbers()
  ids <- rep(1:3, each = 10)
  lambda <- 2^(-2:2)
  settings <- list(list(), list(kernel = kernel_gaussian(0.1)),
                   list(kernel = kernel_gaussian(0.1), basis = 1:8))
  for (own in settings) {
    fitter <- if (length(own)) kernel_rls else rls
    cvd <- do.call(cross_validate, c(list(d$x, d$y, fitter, lambda = lambda, outer = ids), own))
    expect_equal(cvd$curves$lambda, lambda)
    error <- vapply(1:3, function(f) {
      fit <- do.call(fitter, c(list(d$x[ids != f, ], d$y[ids != f], lambda = lambda), own))
      vapply(lambda, function(l) {
        mean((d$y[ids == f] - predict(fit, d$x[ids == f, ], lambda = l))^2)
      }, 0)
    }, lambda)
    expect_equal(cvd$curves$test, rowMeans(error))
    expect_null(cvd$curves$random)
    expect_equal(predict(cvd, d$x[1:2, ]), predict(cvd$fit, d$x[1:2, ]))
  }
  cvd <- cross_validate(d$x, d$y, fs_lssvm, gamma = 1, kernel = kernel_gaussian(0.1),
                           outer = ids, prototypes = 1:10, folds = 3)
  expect_named(cvd$curves[1], "size")
  expect_error(best_size(cross_validate(d$x, d$y, rls, outer = 3)), "no size")
})

test_that("a precomputed kernel is cut to the training rows", {
  d <- numbers()
  ids <- rep(1:3, each = 10)
  kernel <- kernel_gaussian(0.1)
  K <- kernel$values(d$x, d$x)
  for (own in list(list(), list(basis = 1:8))) {
    cv <- function(...) {
      do.call(cross_validate, c(list(..., y = d$y, lambda = 2^(-2:2), outer = ids), own))
    }
    given <- cv(K, method = kernel_rls, kernel = "precomputed")
    computed <- cv(d$x, method = kernel_rls, kernel = kernel, standardize = FALSE)
    expect_equal(given$curves, computed$curves)
    expect_equal(given$held_out, computed$held_out)
  }
  settings <- list(y = d$y, gamma = 2, prototypes = 1:10, folds = 3, outer = ids,
                   standardize = FALSE)
  curves <- function(x, kernel) {
    set.seed(9)
    do.call(cross_validate, c(list(x, method = fs_lssvm, kernel = kernel), settings))$curves
  }
  expect_equal(curves(K, "precomputed"), curves(d$x, kernel))
})

test_that("folds without a size in common are scored at what each chose", {
  d <- numbers()
  ids <- rep(1:3, each = 10)
  # the one solution of each fold has 4, 3 and 2 columns, and there are no smaller models
  cvd <- cross_validate(d$x, d$y, l1_size, size = 3, outer = ids, baselines = NULL)
  fits <- lapply(1:3, function(f) l1_size(d$x[ids != f, ], d$y[ids != f], size = 3))
  expect_identical(vapply(fits, `[[`, 0L, "size"), 4:2)
  error <- vapply(1:3, function(f) {
    mean((d$y[ids == f] - predict(fits[[f]], d$x[ids == f, ]))^2)
  }, 0)
  expect_equal(cvd$key, "model")
  expect_equal(cvd$curves$test, mean(error))
  expect_equal(cvd$folds$test, error)
  expect_equal(lengths(cvd$chosen), 4:2)
})

test_that("a share of the rows as prototypes, trained at once, has another size in each fold", {
  d <- numbers()
  cvd <- cross_validate(d$x, d$y, fs_lssvm, solver = "full", prototypes = 0.5, gamma = 1,
                        kernel = kernel_gaussian(0.2), folds = 3, outer = rep(1:3, c(8, 10, 12)))
  expect_equal(cvd$key, "model")
  expect_equal(cvd$curves$test, mean((d$y - cvd$held_out)^2))
})

test_that("a method of one's own may return anything that predicts", {
  d <- two_classes()
  own <- function(problem, column) {
    structure(list(column = column, centre = mean(problem$x[, column])), class = "one_column")
  }
  predict_one <- function(object, newdata, ...) newdata[, object$column] - object$centre
  registerS3method("predict", "one_column", predict_one, asNamespace("stats"))
  ids <- rep(1:4, 10)
  cvd <- cross_validate(d$x, d$y, own, column = 3, outer = ids, measure = "auc")
  score <- unlist(lapply(1:4, function(f) d$x[ids == f, 3]))
  pb <- as_problem(d$x, d$y)
  expect_equal(cvd$estimate[["mean"]],
               retrain_mean(retrain_sums(pb, "auc", d$x[, 3, drop = FALSE], ids))[["value"]])
  expect_output(print(cvd), "area under the ROC curve")
  classes <- function(object, newdata, ...) {
    factor(ifelse(newdata[, object$column] > 0, "well", "ill"), c("well", "ill"))
  }
  registerS3method("predict", "one_column", classes, asNamespace("stats"))
  cvd <- cross_validate(d$x, d$y, own, column = 3, outer = ids)
  expect_equal(cvd$estimate[["mean"]], mean((d$x[, 3] > 0) != (d$y == "well")))
})

test_that("several classes are scored by the largest probability", {
  set.seed(2)
  x <- matrix(rnorm(45 * 6), 45, 6)
  y <- factor(c("a", "b", "c")[1 + (x[, 1] > 0) + (x[, 2] > 0.5)])
  ids <- rep(1:3, 15)
  cvd <- cross_validate(x, y, greedy_rls, k = 3, lambda = 1, size = 3, size_folds = 5,
                        outer = ids, baselines = NULL)
  test <- sapply(1:3, function(f) {
    fit <- greedy_rls(x[ids != f, ], y[ids != f], k = 3, lambda = 1, size = 3, size_folds = 5)
    mean(predict(fit, x[ids == f, ], size = 3, type = "class") != y[ids == f])
  })
  expect_equal(cvd$curves$test[4], mean(test))
  # the error of leave-one-out is of the largest score
  expect_equal(names(cvd$curves), c("size", "cv", "cv_se", "test", "test_se"))
})

test_that("centre and scale are estimated on the training rows alone", {
  d <- numbers()
  ids <- rep(1:3, each = 10)
  seen <- list()
  spy <- function(problem, ...) {
    seen[[length(seen) + 1]] <<- list(centre = problem$columns$centre,
                                      scale = problem$columns$scale)
    bare_rls(problem, ...)
  }
  cross_validate(d$x, spy, y = d$y, k = 2, lambda = 1, outer = ids, baselines = NULL)
  for (f in 1:3) {
    train <- d$x[ids != f, ]
    # the first is that of all rows
    expect_equal(seen[[f + 1]]$centre, colMeans(train))
    expect_equal(seen[[f + 1]]$scale, apply(train, 2, function(v) sqrt(mean((v - mean(v))^2))))
  }
})

test_that("a problem, a matrix and a formula give the same", {
  d <- numbers()
  frame <- data.frame(y = d$y, d$x)
  of <- function(...) {
    set.seed(4)
    cross_validate(..., method = bare_rls, k = 3, lambda = 1, outer = 3)[c("curves", "folds")]
  }
  expect_equal(of(as_problem(d$x, d$y)), of(d$x, y = d$y))
  expect_equal(of(y ~ ., data = frame), of(d$x, y = d$y))
  expect_equal(of(y ~ ., frame), of(d$x, d$y))
  set.seed(4)
  short <- cross_validate(as_problem(d$x, d$y), bare_rls, k = 3, lambda = 1, outer = 3)
  expect_equal(short[c("curves", "folds")], of(d$x, d$y))
  expect_equal(short$method, "bare_rls")
})

test_that("set.seed() reproduces, and the generator is left where one draw leaves it", {
  d <- numbers()
  run <- function() {
    cross_validate(d$x, bare_rls, y = d$y, k = 2, lambda = 1, outer = 3, repeats = 2)
  }
  set.seed(5)
  first <- run()
  set.seed(5)
  expect_equal(run(), first)
  expect_false(isTRUE(all.equal(run()$curves$random, first$curves$random)))
  expect_equal(nrow(first$folds), 6)
  expect_equal(first$folds$repetition, rep(1:2, each = 3))

  for (kind in c("Mersenne-Twister", "Wichmann-Hill")) {
    old <- RNGkind(kind)
    set.seed(6)
    run_tasks(3, function(i) runif(5))
    after <- .Random.seed
    set.seed(6)
    sample.int(.Machine$integer.max, 6)
    expect_identical(after, .Random.seed)
    expect_equal(RNGkind()[1], kind)
    RNGkind(old[1])
  }
})

test_that("tasks have streams of their own, the same under any plan", {
  skip_if_not_installed("future.apply")
  skip_on_cran()
  draw <- function(i) c(i, runif(2), rnorm(1), sample(10))
  set.seed(7)
  serial <- run_tasks(5, draw)
  expect_length(unique(lapply(serial, `[`, 2)), 5)
  # workers load the installed package, which devtools::load_all() is not
  installed <- file.exists(system.file("Meta", "package.rds", package = "sparsels"))
  skip_if_not(installed || future::supportsMulticore(), "a plan that can see the package")
  strategy <- if (installed) future::multisession else future::multicore
  old <- future::plan(strategy, workers = 2)
  on.exit(future::plan(old))
  set.seed(7)
  expect_identical(run_tasks(5, draw), serial)
  d <- two_classes()
  run <- function() {
    set.seed(8)
    cross_validate(d$x, greedy_rls, y = d$y, k = 5, outer = 4)
  }
  parallel <- run()
  failing <- function(i) stop_input("no good")
  expect_error(run_tasks(2, failing), "no good", class = "sparsels_error_input")
  future::plan(future::sequential)
  expect_equal(run(), parallel)
})

test_that("inner folds given row by row are cut down to the training rows", {
  d <- numbers()
  patient <- rep(1:10, each = 3)
  seen <- list()
  spy <- function(problem, ..., folds) {
    seen[[length(seen) + 1]] <<- folds
    bare_rls(problem, ..., folds = folds)
  }
  outer <- make_folds(30, 5, groups = patient)
  cross_validate(d$x, spy,
    y = d$y, k = 2, lambda = 1, folds = make_folds(30, "loo", groups = patient), outer = outer
  )
  for (f in 1:5) {
    kept <- patient[outer$ids[, 1] != f]
    expect_equal(seen[[f + 1]]$ids[, 1], match(kept, unique(kept)))
  }
  sized <- cross_validate(d$x, d$y, greedy_rls, k = 5, lambda = 1, folds = patient,
                          size_folds = patient, outer = outer)
  for (f in 1:5) {
    out <- outer$ids[, 1] == f
    own <- greedy_rls(d$x[!out, ], d$y[!out], k = 5, lambda = 1, folds = patient[!out],
                      size_folds = patient[!out])
    expect_equal(sized$folds$size[f], own$size)
    expect_equal(sized$held_out[out, 1], unname(predict(own, d$x[out, ])))
  }
  expect_error(
    cross_validate(d$x, bare_rls, y = d$y, k = 2, lambda = 1, folds = rep(1:2, 15),
                   outer = rep(1:2, 15)),
    "one inner fold", class = "sparsels_error_input"
  )
})

test_that("sizes are those reached in every fold", {
  fold <- function(error) {
    sums <- rbind(error, 1)
    list(key = "size", values = seq_along(error) - 1L,
         inner = list(error = list(inner = error / 2)), sums = list(error = list(test = sums)))
  }
  held <- list(each = list(fold(c(4, 2, 1, 0)), fold(c(2, 4, 3))),
               parts = data.frame(repetition = c(1, 1)))
  places <- shared_places(held$each)
  expect_equal(places$values, 0:2)
  curves <- curve_table(held, "error", places$index)
  expect_equal(curves$test, c(3, 3, 2))
  expect_equal(curves$test_se, c(1, 1, 1))
  expect_equal(curves$inner, c(1.5, 1.5, 1))
})

test_that("rows have names", {
  set.seed(41)
  x <- matrix(rnorm(60), 12, dimnames = list(paste0("s", 1:12), NULL))
  y <- x[, 1] + rnorm(12)
  for (method in list(rls, l1_path)) {
    set.seed(1)
    named <- cross_validate(x, y, method, outer = 3)
    set.seed(1)
    expect_equal(named$estimate, cross_validate(unname(x), y, method, outer = 3)$estimate)
  }
})

test_that("an interrupt keeps the folds done, an error its class", {
  d <- numbers()
  calls <- 0
  stopping <- function(problem, ...) {
    calls <<- calls + 1
    if (calls == 4) signalCondition(structure(list(), class = c("interrupt", "condition")))
    bare_rls(problem, ...)
  }
  expect_warning(
    cvd <- cross_validate(d$x, stopping, y = d$y, k = 2, lambda = 1, outer = 5),
    "after 2 of 5 outer folds",
    class = "sparsels_interrupted"
  )
  expect_equal(cvd$status, "interrupted")
  expect_equal(nrow(cvd$folds), 2)
  calls <- 2
  caught <- function(code) tryCatch(code, interrupt = function(condition) "caught")
  expect_identical(
    caught(cross_validate(d$x, stopping, y = d$y, k = 2, lambda = 1, outer = 5)), "caught"
  )
  partial <- function(problem, ...) {
    warn_sparsels("interrupted", "sparsels_interrupted")
  }
  expect_identical(caught(cross_validate(d$x, partial, y = d$y, outer = 5)), "caught")
})

test_that("what is wrong is said plainly", {
  d <- numbers()
  cv <- function(...) cross_validate(d$x, y = d$y, ...)
  expect_snapshot(error = TRUE, {
    cv("greedy_rls")
    cv(greedy_rls, kk = 3)
    cv(greedy_rls, wieghts = 1:30)
    cv(greedy_rls, 3)
    cv(greedy_rls, baselines = "best")
    cv(greedy_rls, outer = 1)
    cv(greedy_rls, outer = 1:7)
    cv(function(problem, ...) 1, outer = 3)
    cv(function(x, y, ...) greedy_rls(x, y, ...), outer = 3)
    cross_validate(as_problem(d$x, d$y), greedy_rls, weights = 1:30)
  })
})

made_by_hand <- function(task = "binary", folds = 3, features = list(c(2L, 1L), 2L, c(2L, 3L))) {
  d <- two_classes()
  y <- if (task == "binary") d$y else as.numeric(d$y)
  problem <- as_problem(d$x, y, task = if (task == "binary") "classification" else task)
  problem$coding$response <- "outcome"
  parts <- held_out_rows(make_folds(40, rep_len(seq_len(folds), 40)))
  parts$trained <- lapply(parts$rows, function(rows) seq_len(40)[-rows])
  parts$count <- folds
  name <- measure_of(problem)
  scored <- lapply(seq_len(folds), function(i) {
    errors <- list(test = c(0.4, 0.3, 0.2 + i / 20), random = c(0.4, 0.5, 0.4),
                   majority = rep(0.4, 3))
    weight <- length(parts$rows[[i]])
    sums <- lapply(errors, function(error) rbind(error * weight, weight))
    list(
      key = "size", values = 0:2, chosen = length(features[[i]]) + 1L, lambda = 2^i,
      scores = array(0, c(weight, 1L, 3L)), sums = stats::setNames(list(sums), name),
      inner = stats::setNames(list(list(inner = c(0.4, 0.2, 0.1), cv = c(0.4, 0.3, 0.2))), name),
      folds = "leave-one-out", features = features[[i]],
      names = c("g1", "g2", "g3")[features[[i]]]
    )
  })
  fit <- structure(list(), class = c("sparse_fit", "sparsels_fit"))
  run <- list(problem = problem, name = "greedy_rls")
  new_cv_result(list(each = scored, parts = parts, complete = nrow(parts) == folds), run, fit,
                as_measures(NULL, problem), as_measures(NULL, problem), keep = FALSE,
                outer = list(label = "3-fold"), level = 0.95, call = quote(cross_validate()))
}

test_that("print names things", {
  expect_snapshot({
    made_by_hand()
    made_by_hand("regression", features = list(1L, 2L, 3L))
  })
})

test_that("the name of the method is what the user wrote", {
  expect_equal(method_name(quote(greedy_rls)), "greedy_rls")
  expect_equal(method_name(quote(sparsels::greedy_rls)), "greedy_rls")
  expect_equal(method_name(quote(function(x) x)), "a function")
})

# a cross-validation by resamples, beside fits by hand with counts as weights
by_resamples <- function(rset, x, y, w, ...) {
  trained <- lapply(rset$splits, function(split) tabulate(as.integer(split, data = "analysis"), 32))
  heldout <- lapply(rset$splits, function(split) as.integer(split, data = "assessment"))
  Map(function(count, rows) {
    use <- which(count > 0)
    fit <- greedy_rls(x[use, ], y[use], weights = (w * count)[use], ...)
    predicted <- predict(fit, x[rows, , drop = FALSE])
    list(rows = rows, predicted = predicted,
         sum = sum(w[rows] * (y[rows] - predicted)^2), weight = sum(w[rows]))
  }, trained, heldout)
}

test_that("resamples that are no partition train on their rows, with repeats as weights", {
  skip_if_not_installed("rsample")
  x <- as.matrix(mtcars[-1])
  y <- mtcars$mpg
  w <- rep(c(1, 2), 16)
  set.seed(7)
  all <- list(
    rsample::bootstraps(mtcars, times = 4), rsample::mc_cv(mtcars, times = 3),
    rsample::validation_split(mtcars), rsample::rolling_origin(mtcars, initial = 26, assess = 2),
    rsample::group_mc_cv(mtcars, "carb", times = 2)
  )
  for (rset in all) {
    cvd <- cross_validate(x, y, greedy_rls, weights = w, k = 2, size = 2, lambda = 3, outer = rset,
                          keep = TRUE)
    hand <- by_resamples(rset, x, y, w, k = 2, size = 2, lambda = 3)
    sums <- vapply(hand, function(part) c(part$sum, part$weight), numeric(2))
    expect_equal(cvd$folds$test, sums[1, ] / sums[2, ])
    expect_equal(cvd$estimate[["mean"]], sum(sums[1, ]) / sum(sums[2, ]))
    expect_equal(cvd$folds$rows, lengths(lapply(hand, `[[`, "rows")))
    held <- unique(unlist(lapply(hand, `[[`, "rows")))
    expect_identical(which(!is.na(cvd$held_out[, 1])), sort(held))
    expect_equal(dim(cvd$predictions)[4], nrow(rset))
    last <- hand[[length(hand)]]
    expect_equal(unname(cvd$predictions[last$rows, 1, "2", length(hand)]), unname(last$predicted))
    expect_output(print(cvd), class(rset)[1])
  }
  expect_equal(nrow(augment(cvd)), 32)
})

test_that("a bootstrap of classes, with missing values, and of a kernel method", {
  skip_if_not_installed("rsample")
  set.seed(8)
  rset <- rsample::bootstraps(iris, times = 2)
  x <- as.matrix(iris[1:4])
  x[3, 2] <- NA
  cvd <- cross_validate(x, iris$Species, greedy_rls, missing = "mean", size = 2, lambda = 1,
                        outer = rset)
  for (i in 1:2) {
    count <- tabulate(rset$splits[[i]]$in_id, 150)
    use <- count > 0
    fit <- greedy_rls(x[use, ], iris$Species[use], weights = count[use], missing = "mean", size = 2,
                      lambda = 1)
    expect_equal(cvd$folds$test[i],
                 mean(predict(fit, x[!use, ], type = "class") != iris$Species[!use]))
  }
  kernel <- kernel_gaussian(0.1)
  cvd <- cross_validate(as.matrix(iris[1:3]), iris$Petal.Width, kernel_rls, kernel = kernel,
                        lambda = 1, outer = rset)
  count <- tabulate(rset$splits[[2]]$in_id, 150)
  use <- count > 0
  fit <- kernel_rls(as.matrix(iris[use, 1:3]), iris$Petal.Width[use], weights = count[use],
                    kernel = kernel, lambda = 1)
  error <- iris$Petal.Width[!use] - predict(fit, as.matrix(iris[!use, 1:3]))
  expect_equal(cvd$folds$test[2], mean(error^2))
})

test_that("a partition of rsample gives what its folds give", {
  skip_if_not_installed("rsample")
  d <- numbers()
  set.seed(9)
  rset <- rsample::vfold_cv(data.frame(d$x), 3, repeats = 2)
  values <- function(outer) {
    cross_validate(d$x, d$y, greedy_rls, size = 2, lambda = 1, outer = outer,
                   baselines = NULL)$curves
  }
  expect_identical(values(rset), values(make_folds(rset)))
})

test_that("resamples that hold out nothing, too much or are nested are refused by name", {
  skip_if_not_installed("rsample")
  refused <- function(rset, what) {
    expect_error(cross_validate(as.matrix(mtcars[-1]), mtcars$mpg, greedy_rls, outer = rset), what,
                 class = "sparsels_error_input")
  }
  set.seed(10)
  refused(rsample::apparent(mtcars), "holds out rows that it trains on")
  refused(rsample::bootstraps(mtcars, 2, apparent = TRUE), "'Apparent' .* trains on")
  refused(rsample::permutations(mtcars, mpg, times = 2), "change the data")
  refused(rsample::nested_cv(mtcars, rsample::vfold_cv(v = 3), rsample::bootstraps(times = 2)),
          "inner resamples")
  refused(rsample::bootstraps(mtcars[-1, ], 2), "of 31 rows, but there are 32")
  few <- rsample::manual_rset(list(rsample::make_splits(list(analysis = 1L, assessment = 2:3),
                                                        mtcars)), "one")
  refused(few, "'one' .* fewer than 2 rows")
  lost <- rsample::manual_rset(list(rsample::make_splits(
    list(analysis = 51:150, assessment = 1:50), iris
  )), "split")
  expect_warning(cross_validate(as.matrix(iris[1:4]), iris$Species, greedy_rls, size = 1,
                                lambda = 1, outer = lost),
                 "'setosa' is in no row", class = "sparsels_warning_class")
})

test_that("a small error keeps its digits beside a large one", {
  set.seed(1)
  x <- matrix(rnorm(60 * 30), 60)
  y <- 10 * x[, 3] + rnorm(60) / 10
  cvd <- cross_validate(x, y, greedy_rls, k = 2, outer = 4)
  line <- grep("honest estimate", capture.output(print(cvd)), value = TRUE)
  said <- as.numeric(sub(".*?([0-9.]+) \\(se ([0-9.]+)\\).*", "\\1", line))
  expect_equal(said, cvd$estimate[["mean"]], tolerance = 0.05)
  expect_match(line, "se 0.00[0-9]+\\)")
})

test_that("the area under the ROC curve of three classes is that of Hand and Till", {
  x <- as.matrix(iris[c(1:25, 51:75, 101:125), 1:4])
  set.seed(1)
  x <- x + rnorm(length(x))
  class <- droplevels(iris$Species[c(1:25, 51:75, 101:125)])
  w <- runif(75, 0.5, 2)
  outer <- rep(1:3, 25)
  cvd <- cross_validate(x, class, greedy_rls, weights = w, k = 2, lambda = 1, size = 2,
                        outer = outer, measure = c("auc", "error"))
  area <- function(score, own, other) {
    right <- outer(score[own], score[other], ">") + outer(score[own], score[other], "==") / 2
    sum(right * outer(w[own], w[other])) / sum(outer(w[own], w[other]))
  }
  score <- cvd$held_out
  each <- vapply(1:3, function(fold) {
    rows <- function(k) which(outer == fold & as.integer(class) == k)
    mean(apply(combn(3, 2), 2, function(pair) {
      i <- rows(pair[1])
      j <- rows(pair[2])
      (area(score[, pair[1]], i, j) + area(score[, pair[2]], j, i)) / 2
    }))
  }, 0)
  expect_equal(cvd$folds$test, each)
  expect_equal(cvd$folds$majority, rep(0.5, 3))
  expect_output(print(cvd), "area under the ROC curve of pairs of classes")
})

test_that("that area is the one of pROC", {
  skip_if_not_installed("pROC")
  set.seed(3)
  x <- as.matrix(iris[1:4]) + rnorm(600)
  outer <- rep(1:3, 50)
  cvd <- cross_validate(x, iris$Species, greedy_rls, k = 2, lambda = 1, size = 2, outer = outer,
                        measure = "auc")
  scores <- `colnames<-`(cvd$held_out, levels(iris$Species))
  expect_equal(cvd$folds$test, vapply(1:3, function(fold) {
    rows <- outer == fold
    as.numeric(suppressMessages(pROC::multiclass.roc(iris$Species[rows], scores[rows, ]))$auc)
  }, 0))
})

test_that("the area under the ROC curve of a softmax is by its probabilities", {
  set.seed(20)
  x <- matrix(rnorm(60 * 4), 60)
  y <- factor(c("a", "b", "c")[1 + (x[, 1] > 0) + (x[, 1] + x[, 2] > 1)])
  cvd <- cross_validate(x, y, l1_path, loss = "multinomial", lambda = 1, outer = 3,
                        measure = "auc", baselines = NULL, keep = TRUE)
  link <- cvd$predictions[, , 1, 1]
  p <- exp(link) / rowSums(exp(link))
  folds <- match(cvd$fold_models$pairs$part, 1:3)[order(cvd$fold_models$pairs$row)]
  area <- function(rows, i, j) {
    one <- p[rows[y[rows] == i], i]
    other <- p[rows[y[rows] == j], i]
    mean(outer(one, other, ">") + outer(one, other, "==") / 2)
  }
  colnames(p) <- levels(y)
  each <- vapply(1:3, function(k) {
    rows <- which(folds == k)
    mean(apply(combn(levels(y), 2), 2, function(pair) {
      (area(rows, pair[1], pair[2]) + area(rows, pair[2], pair[1])) / 2
    }))
  }, 0)
  count <- vapply(1:3, function(k) {
    of <- table(y[folds == k])
    sum(combn(of, 2, prod))
  }, 0)
  expect_equal(cvd$estimate[["mean"]], weighted.mean(each, count))
})

test_that("measures of pairs are refused before the work where no pair is held out", {
  set.seed(2)
  x <- matrix(rnorm(80), 20)
  s <- x[, 1] + rnorm(20)
  y <- factor(s > 0)
  never <- function(...) stop("worked")
  refused <- function(...) {
    expect_error(suppressWarnings(cross_validate(x, ..., method = never)),
                 "no part of the rows has two rows", class = "sparsels_error_argument")
  }
  refused(y, outer = "loo", measure = "auc")
  refused(y, outer = "loo", measure = c("error", "auc"))
  refused(s, outer = "loo", measure = "concordance")
  patient <- as.integer(y)
  refused(y, outer = patient, measure = "auc")
  skip_if_not_installed("survival")
  refused(survival::Surv(exp(s), rep(1, 20)), outer = "loo")
  expect_error(judge(x, survival::Surv(exp(s), rep(1, 20)), never, outer = "loo"),
               "no part of the rows", class = "sparsels_error_argument")
})

test_that("groups of columns that move together are counted as groups", {
  set.seed(34)
  cars <- transform(mtcars, cyl = factor(cyl), gear = factor(gear))
  cvd <- suppressMessages(cross_validate(mpg ~ cyl + gear + wt, cars, greedy_rls, outer = 4))
  text <- paste(capture.output(print(cvd)), collapse = " ")
  count <- cvd$frequency$count[match("cyl6", cvd$frequency$name)]
  expect_match(text, sprintf("cyl (%d)", count), fixed = TRUE)
  expect_no_match(text, "cyl6", fixed = TRUE)
})

test_that("where no fold chose a column, no interval is of how the fits differ", {
  set.seed(35)
  x <- matrix(rnorm(45 * 6), 45)
  grade <- ordered(rep(1:3, 15))
  cvd <- cross_validate(x, grade, l1_path, loss = "ordinal", outer = 3, lambda = c(6, 4), folds = 3)
  expect_identical(cvd$interval$no_column, 1)
  expect_equal(cvd$estimate[["mean"]], 0.5)
  expect_equal(cvd$estimate[["se"]], 0)
  expect_no_match(paste(capture.output(print(cvd)), collapse = " "), "fits of the folds differ")
})
