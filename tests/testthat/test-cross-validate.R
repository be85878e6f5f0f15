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

se_of <- function(x) sd(x) / sqrt(length(x))

test_that("classes: the curves are those of a loop written by hand", {
  d <- two_classes()
  w <- runif(40, 0.5, 2)
  set.seed(1)
  judged <- cross_validate(d$x, greedy_rls, y = d$y, weights = w, k = 4, outer = 4)

  set.seed(1)
  problem <- as_problem(d$x, d$y, weights = w)
  ids <- make_folds(problem, 4)$ids[, 1]
  streams <- task_streams(4)
  test <- inner <- random <- majority <- matrix(NA_real_, 5, 4)
  lambda <- size <- numeric(4)
  chosen <- list()
  for (f in 1:4) {
    out <- ids == f
    fit <- greedy_rls(d$x[!out, ], d$y[!out], weights = w[!out], k = 4)
    error <- function(class) weighted.mean(class != d$y[out], w[out])
    rival <- with_stream(
      streams[[f]],
      random_selection(problem[!out, ], k = 4, lambda = fit$lambda)
    )
    for (s in 0:4) {
      test[s + 1, f] <- error(predict(fit, d$x[out, ], size = s, type = "class"))
      random[s + 1, f] <- error(predict(rival, d$x[out, ], size = s, type = "class"))
      inner[s + 1, f] <- fit$path$error[fit$path$size == s]
    }
    share <- tapply(w[!out], d$y[!out], sum)
    majority[, f] <- error(names(which.max(share)))
    lambda[f] <- fit$lambda
    size[f] <- fit$size
    chosen[[f]] <- selected(fit)
  }
  by_hand <- list(inner = inner, test = test, random = random, majority = majority)
  for (curve in names(by_hand)) {
    expect_equal(judged$curves[[curve]], rowMeans(by_hand[[curve]]))
    expect_equal(judged$curves[[paste0(curve, "_se")]], apply(by_hand[[curve]], 1, se_of))
  }
  expect_equal(judged$curves$size, 0:4)
  expect_equal(judged$folds$lambda, lambda)
  expect_equal(judged$folds$size, size)
  expect_equal(judged$folds$rows, as.vector(table(ids)))
  expect_equal(judged$folds$test, test[cbind(size + 1, 1:4)])
  expect_equal(judged$folds$inner, inner[cbind(size + 1, 1:4)])
  expect_equal(judged$estimate, c(mean = mean(judged$folds$test), se = se_of(judged$folds$test)))
  expect_equal(judged$chosen, chosen)
  count <- table(unlist(chosen))
  expect_equal(judged$frequency$count, as.vector(count[judged$frequency$name]))
  expect_false(is.unsorted(-judged$frequency$count))
  expect_equal(judged$frequency$share, judged$frequency$count / 4)
  expect_equal(colnames(d$x)[judged$frequency$feature], judged$frequency$name)
})

test_that("numbers: mean squared error over several outputs, weighted; majority is the mean", {
  d <- numbers()
  y <- cbind(a = d$y, b = rnorm(30))
  w <- rep(1:3, 10)
  ids <- rep(1:3, each = 10)
  judged <- cross_validate(d$x, greedy_rls,
    y = y, weights = w, k = 3, lambda = 2, outer = ids, baselines = "majority"
  )
  test <- majority <- matrix(NA_real_, 4, 3)
  for (f in 1:3) {
    out <- ids == f
    fit <- greedy_rls(d$x[!out, ], y[!out, ], weights = w[!out], k = 3, lambda = 2)
    error <- function(p) sum(w[out] * (y[out, ] - p)^2) / (2 * sum(w[out]))
    for (s in 0:3) test[s + 1, f] <- error(predict(fit, d$x[out, ], size = s))
    mean <- colSums(w[!out] * y[!out, ]) / sum(w[!out])
    majority[, f] <- error(rep(mean, each = 10))
  }
  expect_equal(judged$curves$test, rowMeans(test))
  expect_equal(judged$curves$majority, rowMeans(majority))
  expect_null(judged$curves$random)
  expect_equal(judged$measure, "squared")
})

test_that("several classes are judged by the largest score", {
  set.seed(2)
  x <- matrix(rnorm(45 * 6), 45, 6)
  y <- factor(c("a", "b", "c")[1 + (x[, 1] > 0) + (x[, 2] > 0.5)])
  ids <- rep(1:3, 15)
  judged <- cross_validate(x, greedy_rls, y = y, k = 3, lambda = 1, outer = ids, baselines = NULL)
  test <- sapply(1:3, function(f) {
    fit <- greedy_rls(x[ids != f, ], y[ids != f], k = 3, lambda = 1)
    mean(predict(fit, x[ids == f, ], size = 3, type = "class") != y[ids == f])
  })
  expect_equal(judged$curves$test[4], mean(test))
  expect_equal(names(judged$curves), c("size", "inner", "inner_se", "test", "test_se"))
})

test_that("centre and scale are estimated on the training rows alone", {
  d <- numbers()
  ids <- rep(1:3, each = 10)
  seen <- list()
  spy <- function(problem, ...) {
    seen[[length(seen) + 1]] <<- list(centre = problem$centre, scale = problem$scale)
    greedy_rls(problem, ...)
  }
  cross_validate(d$x, spy, y = d$y, k = 2, lambda = 1, outer = ids, baselines = NULL)
  for (f in 1:3) {
    train <- d$x[ids != f, ]
    expect_equal(seen[[f]]$centre, colMeans(train))
    expect_equal(seen[[f]]$scale, apply(train, 2, function(v) sqrt(mean((v - mean(v))^2))))
  }
})

test_that("a problem, a matrix and a formula give the same", {
  d <- numbers()
  frame <- data.frame(y = d$y, d$x)
  of <- function(...) {
    set.seed(4)
    cross_validate(..., method = greedy_rls, k = 3, lambda = 1, outer = 3)[c("curves", "folds")]
  }
  expect_equal(of(as_problem(d$x, d$y)), of(d$x, y = d$y))
  expect_equal(of(y ~ ., data = frame), of(d$x, y = d$y))
})

test_that("set.seed() reproduces, and the generator is left where one draw leaves it", {
  d <- numbers()
  run <- function() {
    cross_validate(d$x, greedy_rls, y = d$y, k = 2, lambda = 1, outer = 3, repeats = 2)
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
    cross_validate(d$x, greedy_rls, y = d$y, k = 3, outer = 4)
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
    greedy_rls(problem, ..., folds = folds)
  }
  outer <- make_folds(30, 5, groups = patient)
  cross_validate(d$x, spy,
    y = d$y, k = 2, lambda = 1, folds = make_folds(30, "loo", groups = patient), outer = outer
  )
  for (f in 1:5) {
    kept <- patient[outer$ids[, 1] != f]
    expect_equal(seen[[f]]$ids[, 1], match(kept, unique(kept)))
  }
  expect_error(
    cross_validate(d$x, greedy_rls, y = d$y, folds = rep(1:2, 15), outer = rep(1:2, 15)),
    "one inner fold", class = "sparsels_error_input"
  )
})

test_that("sizes are those reached in every fold", {
  fold <- function(error) data.frame(size = seq_along(error) - 1, inner = error / 2, test = error)
  curves <- mean_curves(list(fold(c(4, 2, 1, 0)), fold(c(2, NA, 3))))
  expect_equal(curves$size, c(0, 2))
  expect_equal(curves$test, c(3, 2))
  expect_equal(curves$test_se, c(1, 1))
})

test_that("an interrupt keeps the folds done, an error its class", {
  d <- numbers()
  calls <- 0
  stopping <- function(problem, ...) {
    calls <<- calls + 1
    if (calls == 3) signalCondition(structure(list(), class = c("interrupt", "condition")))
    greedy_rls(problem, ...)
  }
  expect_warning(
    judged <- cross_validate(d$x, stopping, y = d$y, k = 2, lambda = 1, outer = 5),
    "after 2 of 5 outer folds",
    class = "sparsels_interrupted"
  )
  expect_equal(judged$status, "interrupted")
  expect_equal(nrow(judged$folds), 2)
  calls <- 2
  expect_error(
    cross_validate(d$x, stopping, y = d$y, k = 2, lambda = 1, outer = 5),
    "interrupted after 0", class = "sparsels_interrupted"
  )
  partial <- function(problem, ...) {
    warn_sparsels("interrupted", "sparsels_interrupted")
  }
  expect_error(
    cross_validate(d$x, partial, y = d$y, outer = 5),
    class = "sparsels_interrupted"
  )
})

test_that("what is wrong is said plainly", {
  d <- numbers()
  judge <- function(...) cross_validate(d$x, y = d$y, ...)
  expect_snapshot(error = TRUE, {
    judge("greedy_rls")
    judge(greedy_rls, kk = 3)
    judge(greedy_rls, wieghts = 1:30)
    judge(greedy_rls, 3)
    judge(greedy_rls, baselines = "best")
    judge(greedy_rls, outer = 1)
    judge(greedy_rls, outer = 1:7)
    judge(greedy_rls, k = 99, outer = 3)
    judge(function(problem, ...) 1, outer = 3)
    cross_validate(as_problem(d$x, d$y), greedy_rls, weights = 1:30)
  })
})

made_by_hand <- function(task = "binary", folds = 3, features = list(c(2L, 1L), 2L, c(2L, 3L))) {
  d <- two_classes()
  y <- if (task == "binary") d$y else as.numeric(d$y)
  problem <- as_problem(d$x, y)
  problem$response <- "outcome"
  judged <- lapply(seq_len(folds), function(i) {
    curves <- data.frame(size = 0:2, inner = c(0.4, 0.2, 0.1), test = c(0.4, 0.3, 0.2 + i / 20))
    curves$random <- c(0.4, 0.5, 0.4)
    curves$majority <- 0.4
    list(
      curves = curves, lambda = 2^i, size = length(features[[i]]), inner = "leave-one-out",
      features = features[[i]]
    )
  })
  parts <- held_out_rows(make_folds(40, rep_len(seq_len(folds), 40)))
  new_cv_result(judged, parts, problem,
    method = "greedy_rls", outer = "3-fold", call = quote(cross_validate())
  )
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
