bare_sets <- function(k) {
  function(train, lambda, ids) {
    fit <- bare_rls(train, k = k, lambda = lambda, folds = ids, progress = FALSE)
    lapply(fit$coefficients, `[[`, "features")
  }
}

default_lambdas <- function(pb) {
  second <- min(1, max(1 / 4, sum(pb$columns$usable) / nrow(pb)))
  function(train) c(16, second) * retrain_mean_square(train)
}
default_refit <- 16^(-3:1)

all_sums <- function(pb, parts, name = "squared") {
  lapply(seq_along(parts[[1]]$scores), function(at) {
    lapply(seq_len(dim(parts[[1]]$scores[[at]])[3]) - 1, function(size) {
      loop_sums(pb, parts, at, size, name)
    })
  })
}

expect_curve <- function(fit, pb, parts, at) {
  sizes <- fit$path[match(seq_len(dim(parts[[1]]$scores[[at]])[3]) - 1, fit$path$size), ]
  expected <- loop_curve(pb, parts, at)
  expect_lt(relative_error(sizes$cv, expected["value", ]), 1e-9)
  expect_lt(relative_error(sizes$cv_se, expected["se", ]), 1e-7)
  if (pb$coding$task != "regression") {
    expect_equal(sizes$cv_error, loop_curve(pb, parts, at, "error")["value", ])
  }
}

test_that("the curve is that of a loop that subsets and searches each training part", {
  set.seed(1)
  cases <- random_cover(4, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
                        standardize = c(TRUE, FALSE))
  cases$task <- as.character(cases$task)
  for (row in seq_len(nrow(cases))) {
    pb <- do.call(random_problem, c(list(20, 8, duplicate = FALSE), as.list(cases[row, ])))
    ids <- sample(rep(1:5, length.out = 20))
    fit <- suppressWarnings(greedy_rls(pb, k = 3, size_folds = ids), "sparsels_warning_edge")
    parts <- loop_scores(pb, ids, default_lambdas(pb), bare_sets(3), default_refit)
    sums <- all_sums(pb, parts)
    choice <- oracle_choice(sums, "cv", oracle_slack(pb), clear = oracle_clear(pb, parts))
    expect_equal(fit$size, choice[1])
    expect_equal(fit$lambda, default_lambdas(pb)(pb)[choice[2]])
    expect_curve(fit, pb, parts, choice[2])
    smallest <- vapply(1:2, function(at) min(loop_curve(pb, parts, at)["value", ]), 0)
    expect_equal(fit$lambda_table$cv, smallest)
    for (rule in c("min", "1se")) {
      other <- suppressWarnings(greedy_rls(pb, k = 3, size_folds = ids, size = rule),
                                "sparsels_warning_edge")
      expect_equal(c(other$size, match(other$lambda, other$lambda_table$lambda)),
                   oracle_choice(sums, rule))
    }
  }
})

test_that("groups, a given lambda without a refit, and unequal folds go the same way", {
  set.seed(2)
  for (task in c("one", "binary")) {
    pb <- random_problem(36, 8, task, weights = TRUE)
    patient <- rep(1:12, each = 3)
    ids <- rep(sample(rep(1:4, c(1, 3, 3, 5))), each = 3)
    fit <- greedy_rls(pb, k = 3, lambda = 2, folds = patient, size_folds = ids, size = "min")
    parts <- loop_scores(pb, ids, function(train) 2, bare_sets(3), inner = patient)
    expect_curve(fit, pb, parts, 1)
    expect_null(fit$path$refit_lambda)
    expect_equal(fit$size, oracle_choice(all_sums(pb, parts), "min")[1])
    refitted <- greedy_rls(pb, k = 3, lambda = 2, refit = TRUE, folds = patient, size_folds = ids)
    parts <- loop_scores(pb, ids, function(train) 2, bare_sets(3), default_refit, patient)
    expect_curve(refitted, pb, parts, 1)
  }
})

test_that("other criteria choose by their own held-out figure", {
  set.seed(3)
  pb <- random_problem(40, 8, "binary", weights = TRUE)
  ids <- make_folds(pb, 5)$ids[, 1]
  for (criterion in c("absolute", "error", "auc")) {
    inner <- make_folds(pb, 4)
    sets <- function(train, lambda, ids) {
      fit <- bare_rls(train, k = 3, lambda = lambda, folds = ids, criterion = criterion)
      lapply(fit$coefficients, `[[`, "features")
    }
    fit <- suppressWarnings(greedy_rls(pb, k = 3, lambda = 1, folds = inner, size_folds = ids,
                                       size = "min", criterion = criterion))
    parts <- loop_scores(pb, ids, function(train) 1, sets, inner = inner$ids[, 1])
    expected <- loop_curve(pb, parts, 1, criterion)["value", ]
    expect_equal(fit$path$cv, expected)
    expect_equal(fit$size, if (criterion == "auc") which.max(expected) - 1L else
      which.min(expected) - 1L)
  }
  gap <- function(y, prediction, fold) mean(abs(y - prediction)^3)
  fit <- greedy_rls(pb, k = 2, lambda = 1, size_folds = ids, criterion = gap)
  expect_true(all(is.finite(fit$path$cv)))
})

test_that("repeated partitions are averaged", {
  set.seed(4)
  pb <- random_problem(30, 6)
  folds <- make_folds(pb, 3, repeats = 2)
  both <- greedy_rls(pb, k = 3, lambda = 1, size_folds = folds)
  each <- lapply(1:2, function(r) greedy_rls(pb, k = 3, lambda = 1, size_folds = folds$ids[, r]))
  expect_equal(both$path$cv, (each[[1]]$path$cv + each[[2]]$path$cv) / 2)
  expect_equal(both$path$cv_se, (each[[1]]$path$cv_se + each[[2]]$path$cv_se) / 2)
})

test_that("the estimate is chosen by the other folds and scored on each", {
  set.seed(5)
  pb <- random_problem(40, 9, "binary", duplicate = FALSE)
  ids <- make_folds(pb, 5)$ids[, 1]
  parts <- loop_scores(pb, ids, default_lambdas(pb), bare_sets(4), default_refit)
  sums <- all_sums(pb, parts)
  rate <- all_sums(pb, parts, "error")
  for (rule in c("cv", "min", "1se")) {
    fit <- suppressWarnings(greedy_rls(pb, k = 4, size_folds = ids, size = rule))
    scored <- lapply(1:5, function(fold) {
      others <- lapply(sums, lapply, function(one) one[-fold, , drop = FALSE])
      at <- oracle_choice(others, rule, oracle_slack(pb),
                          clear = oracle_clear(pb, parts[-fold]))
      list(sums[[at[2]]][[at[1] + 1]][fold, ], rate[[at[2]]][[at[1] + 1]][fold, ])
    })
    for (figure in 1:2) {
      expected <- retrain_mean(t(do.call(rbind, lapply(scored, `[[`, figure))))
      told <- if (figure == 1) fit$estimate else fit$estimate_error
      expect_equal(unname(told), unname(expected))
      expect_named(told, c("mean", "se"))
    }
  }
})

test_that("rows of weight 0 are rows left out, and are predicted", {
  set.seed(6)
  for (task in c("one", "binary", "three")) {
    pb <- random_problem(40, 12, task, covariates = TRUE)
    y <- if (task == "one") pb$rows$y[, 1] else factor(pb$coding$levels[class_index(pb)])
    w <- replace(runif(40, 0.5, 2), c(1, 17, 40), 0)
    on <- w > 0
    z <- pb$z[, 2]
    fitters <- list(
      function(...) suppressWarnings(greedy_rls(..., k = 4), "sparsels_warning_edge"),
      function(...) greedy_rls(..., lambda = 1, search = "floating", k = 6, size = "criterion"),
      function(...) greedy_rls(..., lambda = 1, k = 4, size = "criterion", criterion = "absolute"),
      function(...) omp(..., k = 4), function(...) rfe(..., k = 4),
      function(...) foba(..., k = 4, lambda = 0.1)
    )
    for (fitter in fitters) {
      all <- fitter(pb$x, y, weights = w, adjust = z)
      left <- fitter(pb$x[on, ], y[on], weights = w[on], adjust = z[on])
      expect_equal(all$path, left$path, tolerance = 1e-12)
      expect_equal(all$coefficients, left$coefficients, tolerance = 1e-12)
      expect_equal(all$size, left$size)
      expect_equal(all$held_out[on, ], left$held_out[1:37, ], tolerance = 1e-12)
      new <- predict(left, pb$x[!on, ], adjust = z[!on])
      expect_equal(unname(all$fitted[!on, ]), unname(as.matrix(new)[, seq_len(ncol(pb$rows$y))]),
                   tolerance = 1e-10)
      expect_equal(all$held_out[!on, ], all$fitted[!on, ])
    }
  }
})

test_that("folds with rows of weight 0 are exact in every engine", {
  set.seed(7)
  pb <- random_problem(30, 8, "binary", weights = TRUE)
  w <- replace(pb$rows$weight, c(2, 5, 30), 0)
  some <- reweighted(pb, w)
  left <- pb[w > 0, ]
  for (criterion in c("squared", "error", "auc")) {
    for (search in c("forward", "backward", "floating", "forward_backward")) {
      folds <- make_folds(pb, 4, repeats = 2)
      arguments <- list(k = 4, lambda = 0.5, criterion = criterion, search = search)
      own <- do.call(bare_rls, c(list(some, folds = folds), arguments))
      cut <- do.call(bare_rls, c(list(left, folds = cut_folds(folds, which(w > 0))), arguments))
      expect_equal(own$path, cut$path, tolerance = 1e-10)
      expect_equal(own$coefficients, cut$coefficients, tolerance = 1e-10)
    }
  }
})

test_that("no fold sees a response that it holds out", {
  set.seed(8)
  for (task in c("one", "binary", "three")) {
    pb <- random_problem(40, 30, task)
    rows <- sample(40, 8)
    other <- pb
    other$rows$y[rows, ] <- pb$rows$y[rev(rows), ]
    control <- path_control(pb, NULL, NULL, "loo", "squared", "cv")
    control[c("search", "keep", "threads", "k")] <- list("forward", 0L, 1L, 6L)
    search <- with_refit(each_lambda(greedy_path))
    without <- function(problem) {
      score <- fold_scorer(problem, control$criterion, control$sizing$folds, "squared")
      search_without(problem, list(rows = rows), control, search, seq_along(control$lambda), score)
    }
    one <- without(pb)
    two <- without(other)
    expect_identical(one$models, two$models)
    expect_false(identical(one$sums, two$sums))
  }
})

test_that("threads, plans and R's generator change nothing", {
  set.seed(9)
  x <- matrix(rnorm(60 * 300), 60)
  y <- x[, 1] - x[, 2] + rnorm(60)
  seed <- .Random.seed
  fit <- greedy_rls(x, y, k = 6)
  expect_identical(.Random.seed, seed)
  set.seed(10)
  same <- function(other) {
    fields <- c("path", "coefficients", "size", "lambda", "estimate", "held_out", "fitted")
    expect_identical(unclass(other)[fields], unclass(fit)[fields])
  }
  same(greedy_rls(x, y, k = 6))
  same(greedy_rls(x, y, k = 6, threads = 2))
  skip_if_not_installed("future.apply")
  old <- future::plan(future::multicore, workers = 2)
  on.exit(future::plan(old))
  same(greedy_rls(x, y, k = 6))
})

test_that("a session that has drawn nothing is left so", {
  old <- get0(".Random.seed", globalenv())
  on.exit(if (!is.null(old)) assign(".Random.seed", old, globalenv()))
  if (!is.null(old)) rm(".Random.seed", envir = globalenv())
  with_stream(fixed_stream, runif(1))
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
  expect_equal(RNGkind()[1], "Mersenne-Twister")
})

test_that("folds of the procedure are stratified and keep groups together", {
  set.seed(11)
  pb <- random_problem(60, 6, "binary")
  patient <- sample(rep(1:20, 3))
  folds <- procedure_folds(pb, 10, make_folds(pb, patient))
  expect_true(all(tapply(folds$ids[, 1], patient, function(id) length(unique(id))) == 1))
  grouped <- make_folds(pb, 5, groups = patient, repeats = 2)
  expect_equal(grouped$groups, match(patient, unique(patient)))
  folds <- procedure_folds(pb, 10, grouped)
  expect_true(all(tapply(folds$ids[, 1], patient, function(id) length(unique(id))) == 1))
  expect_equal(max(folds$ids), 10)
  plain <- procedure_folds(pb, 10, make_folds(pb, "loo"))
  ill <- table(plain$ids, pb$rows$y)
  expect_lte(max(ill[, 1]) - min(ill[, 1]), 1)
  few <- procedure_folds(pb, 10, make_folds(pb, rep(1:3, 20)))
  expect_equal(max(few$ids), 3)
})

test_that("pure noise gives no feature, and print says so", {
  set.seed(12)
  chosen <- vapply(problems_to_try(20), function(i) {
    greedy_rls(matrix(rnorm(60 * 300), 60), rnorm(60))$size
  }, 0L)
  expect_gte(mean(chosen == 0L), 0.7)
  set.seed(13)
  x <- matrix(rnorm(40 * 50), 40)
  outcome <- factor(rep(c("ill", "well"), 20))
  fit <- greedy_rls(x, outcome)
  expect_equal(fit$size, 0L)
  expect_snapshot(print(fit, n = 3))
  expect_equal(selected(fit), character())
  expect_equal(unname(predict(fit, x[1:2, ])), rep(unname(coef(fit)), 2))
})

test_that("what print says of a size that was chosen", {
  set.seed(14)
  x <- matrix(rnorm(60 * 40), 60, dimnames = list(NULL, paste0("gene", 1:40)))
  outcome <- factor(ifelse(x[, 3] - x[, 8] + rnorm(60) / 2 > 0, "ill", "well"))
  expect_snapshot({
    print(greedy_rls(x, outcome), n = 3)
    print(greedy_rls(x, x[, 3] + rnorm(60), size = "1se"), n = 0)
    print(greedy_rls(x, outcome, size = 3, lambda = 2), n = 0)
    print(greedy_rls(x, outcome, size = "criterion", k = 4), n = 0)
    print(greedy_rls(x, outcome, k = 4, lambda = 4, criterion = "auc", folds = 1:60 %% 5), n = 0)
    print(omp(x, outcome), n = 0)
  })
})

test_that("sizes by rule are taken wherever a size is", {
  set.seed(15)
  x <- matrix(rnorm(60 * 40), 60)
  y <- x[, 1] + x[, 2] / 2 + rnorm(60)
  fit <- greedy_rls(x, y)
  sizes <- fit$path
  expect_equal(best_size(fit), sizes$size[which.min(sizes$cv)])
  allowed <- min(sizes$cv) + sizes$cv_se[which.min(sizes$cv)]
  expect_equal(best_size(fit, "1se"), min(sizes$size[sizes$cv <= allowed]))
  expect_equal(best_size(fit, by = "criterion"), sizes$size[which.min(sizes$criterion)])
  for (rule in c("min", "1se")) {
    s <- best_size(fit, rule)
    expect_equal(coef(fit, rule), coef(fit, s))
    expect_equal(selected(fit, rule), selected(fit, s))
    expect_equal(predict(fit, x, size = rule), predict(fit, x, size = s))
    expect_equal(fitted(fit, rule), predict(fit, x, size = s))
    expect_equal(tidy(fit, rule), tidy(fit, s))
    expect_equal(subset(picture(fit, rule)$data, chosen)$size, s)
  }
  expect_snapshot(error = TRUE, {
    coef(fit, "best")
    best_size(fit, "2se")
    best_size(fit, by = "loo")
    best_size(bare_rls(x, y, k = 3, lambda = 1), by = "cv")
    greedy_rls(x, y, size = "best")
    greedy_rls(x, y, size = -1)
    greedy_rls(x, y, size = 41)
    greedy_rls(x, y, size = 5, k = 4)
    greedy_rls(x, y, size_folds = 1)
    greedy_rls(x, y, size_folds = 1:7)
    greedy_rls(x, y, refit = "yes")
  })
})

test_that("size = 'criterion' and a number are what they were", {
  set.seed(16)
  x <- matrix(rnorm(60 * 40), 60)
  y <- x[, 1] + x[, 2] / 2 + rnorm(60)
  bare <- greedy_rls(x, y, lambda = 10, size = "criterion")
  expect_null(bare$path$cv)
  expect_null(bare$estimate)
  expect_equal(bare$size, bare$path$size[which.min(bare$path$criterion)])
  sized <- greedy_rls(x, y, lambda = 10, size = 7)
  expect_equal(sized$size, 7)
  expect_equal(sized$path[names(bare$path)], bare$path[1:8, ], tolerance = 1e-10)
  expect_equal(sized$coefficients[1:8], bare$coefficients[1:8], tolerance = 1e-10)
  expect_equal(fitted(sized, 3), predict(sized, x, size = 3))
  expect_error(fitted(bare, 3), "predict(fit, x, size = 3)", fixed = TRUE)
  none <- greedy_rls(x, y, size = 0)
  expect_equal(none$size, 0)
  expect_equal(none$fitted[, 1], rep(mean(y), 60))
})

test_that("a vector of lambda is chosen from by the held-out error, also for size = 'criterion'", {
  set.seed(17)
  pb <- random_problem(40, 9)
  lambdas <- c(0.01, 10, 400)
  ids <- sample(rep(1:5, 8))
  fit <- suppressWarnings(greedy_rls(pb, k = 4, lambda = lambdas, size_folds = ids, size = "min"))
  parts <- loop_scores(pb, ids, function(train) rev(lambdas), bare_sets(4))
  choice <- oracle_choice(all_sums(pb, parts), "min")
  expect_equal(c(fit$size, fit$lambda), c(choice[1], rev(lambdas)[choice[2]]))
  by_criterion <- suppressWarnings(greedy_rls(pb, k = 4, lambda = lambdas, size_folds = ids,
                                              size = "criterion"))
  expect_equal(by_criterion$lambda, fit$lambda)
  expect_equal(by_criterion$size, which.min(by_criterion$path$criterion) - 1L)
})

test_that("predictions held out are of the size by the criterion, where folds choose lambda", {
  set.seed(1)
  x <- matrix(rnorm(40 * 6), 40)
  y <- x[, 1] + rnorm(40)
  # 10 is also a quarter of the mean square, a default
  fit <- greedy_rls(x, y, lambda = c(1, 10), size = "criterion")
  expect_identical(c(fit$size, fit$best), c(2L, 1L))
  expect_equal(mean((fit$held_out - y)^2), fit$path$cv[fit$size + 1])
  expect_true(verify(fit, x, y, claims = Inf)$ok)
})

test_that("larger sizes are tried as long as they help", {
  set.seed(18)
  x <- matrix(rnorm(150 * 60), 150)
  few <- greedy_rls(x, x[, 1] + rnorm(150))
  expect_equal(few$control$k, 20)
  expect_no_warning(many <- greedy_rls(x, rowSums(x[, 1:30]) + rnorm(150)))
  expect_equal(many$control$k, 40)
  expect_gte(best_size(many), 28)
  # a list of 60 has no error that is clearly smaller
  all <- greedy_rls(x, rowSums(x[, 1:30]) + rnorm(150), k = 60)$path$cv
  expect_lt(min(all[1:41]) - min(all), 0.05 * (all[1] - min(all)))
})

test_that("larger sizes are tried where they may be clearly better", {
  # of a gain of 100 over 20 sizes the last ten have 2 or 3, and the next 20 are worth 5 or more
  expect_true(may_pay(c(200, 150, rep(103, 9), 103:101, rep(100, 7)), 40))
  expect_false(may_pay(c(200, 150, rep(102, 9), 102:101, rep(100, 8)), 40))
  # 10 more sizes are worth half as much as 20
  expect_false(may_pay(c(200, 150, rep(103, 9), 103:101, rep(100, 7)), 30))
  # neither where the last ten are no better, nor where no size is better than none
  expect_false(may_pay(c(200, 100, rep(101, 19)), 40))
  expect_false(may_pay(c(1, 1 + 1:20), 40))
  expect_message(say_growth(40L, 80L, 50), "at size 40: sizes up to 80 will take 2 minutes or more",
                 class = "sparsels_message_time")
  expect_silent(say_growth(40L, 80L, 5))
})

test_that("of a flat curve a list of at least 20 is taken that is not clearly worse", {
  set.seed(26)
  found <- vapply(1:30, function(i) {
    slack <- c(1, 0.3)[1 + i %% 2]
    # the loss of eight folds falls up to a size of its own and is flat from there
    sums <- lapply(1:2, function(l) {
      mean <- 10 - c(0.02, 0.3, 3)[1 + i %% 3] * sqrt(pmin(0:60, sample(5:60, 1)))
      lapply(mean, function(value) cbind(value + rnorm(8) / 2, 1))
    })
    folds <- lapply(1:8, function(fold) {
      array(unlist(lapply(sums, lapply, function(of) of[fold, ])), c(2, 61, 2))
    })
    clear <- i %% 5 > 0
    at <- choose_model(fold_errors(folds, rep(1, 8), FALSE, slack, clear = clear), "cv")
    expect_equal(c(at$size, at$lambda),
                 oracle_choice(sums, "cv", slack, clear = function(...) clear))
    at$size
  }, 0)
  expect_true(any(found == 0) && any(found > 0 & found < 20) && any(found > 20))
})

test_that("a choice at the end of what was tried is told", {
  set.seed(19)
  x <- matrix(rnorm(60 * 20), 60)
  y <- rowSums(x[, 1:6]) + rnorm(60) / 9
  expect_warning(greedy_rls(x, y, k = 3), "the chosen size is the largest tried, 3",
                 class = "sparsels_warning_edge")
  expect_warning(greedy_rls(x, y, lambda = c(1e3, 1e4, 1e5), size = "min"),
                 "lambda = 1000 is the smallest of those given", class = "sparsels_warning_edge")
  expect_no_warning(greedy_rls(x[, 1:6], y))
})

test_that("every method with a path takes the rule, and a loop gives the same curve", {
  set.seed(20)
  pb <- random_problem(36, 8, weights = TRUE, duplicate = FALSE)
  ids <- sample(rep(1:4, 9))
  methods <- list(
    forward_regression, omp, foba, rfe, best_subset, scdp,
    function(...) scdp(..., solver = "qr"),
    function(...) wrapper_rls(..., shortcut = "dual"), lowrank_lssvm
  )
  for (method in methods) {
    fit <- suppressWarnings(method(pb, k = 3, lambda = 0.5, size = "cv", size_folds = ids))
    sets <- function(train, lambda, ids) {
      found <- method(train, k = 3, lambda = lambda, size = "criterion")
      lapply(found$coefficients[1:4], `[[`, "features")
    }
    parts <- loop_scores(pb, ids, function(train) 0.5, sets)
    sizes <- size_table(fit)
    expect_equal(sizes$cv[match(0:3, sizes$size)], loop_curve(pb, parts, 1)["value", ])
    expect_equal(fit$size, oracle_choice(all_sums(pb, parts), "cv", oracle_slack(pb),
                                         clear = oracle_clear(pb, parts))[1])
    expect_equal(unname(fit$fitted[, 1]), unname(predict(fit, pb)))
  }
})

test_that("random methods with the rule are reproduced by set.seed()", {
  set.seed(21)
  pb <- random_problem(36, 8)
  for (method in list(poss, random_selection, function(...) scdp(..., candidates = 4))) {
    fits <- lapply(1:2, function(i) {
      set.seed(22)
      suppressWarnings(method(pb, k = 3, size = "cv"))
    })
    expect_identical(fits[[1]]$path, fits[[2]]$path)
    expect_true(all(is.finite(size_table(fits[[1]])$cv[1:4])))
  }
})

test_that("held-out predictions are those of the searches without each row", {
  set.seed(23)
  pb <- random_problem(30, 6, "binary")
  ids <- make_folds(pb, 5)$ids[, 1]
  fit <- greedy_rls(pb, k = 3, lambda = 1, size_folds = ids, size = 2)
  for (fold in 1:5) {
    out <- ids == fold
    left <- bare_rls(pb[!out, ], k = 2, lambda = 1)
    told <- predict(left, working_copy(part_of(pb, which(out))), size = 2)
    expect_equal(fit$held_out[out, 1], unname(told))
  }
  error <- weighted.mean(sign(fit$held_out) != pb$rows$y, pb$rows$weight)
  expect_equal(error, fit$path$cv_error[fit$path$size == 2])
})

control_of <- function(pb) {
  control <- path_control(pb, NULL, 1, "loo", "squared", "min")
  control[c("search", "keep", "threads", "progress")] <- list("forward", 0L, 1L, FALSE)
  control
}

test_that("few rows and few groups are met with folds that fit, or a plain word", {
  set.seed(25)
  x <- matrix(rnorm(50), 10)
  fit <- greedy_rls(x, rep(c("a", "b"), 5), lambda = 1)
  expect_true(fit$size_folds$loo)
  expect_error(greedy_rls(rbind(x, x), rnorm(20), folds = rep(1:2, 10)),
               paste("2 given folds are too few to repeat the search in folds:",
                     "use `size = \"criterion\"`"), fixed = TRUE, class = "sparsels_error_input")
  expect_error(greedy_rls(rbind(x, x), rnorm(20), groups = rep(1:2, 10)),
               "2 groups are too few to repeat the search in folds", fixed = TRUE)
  none <- bare_rls(x, rnorm(10), k = 2, lambda = 1)
  expect_equal(unname(predict(none, as.data.frame(x), size = 0)), rep(unname(coef(none, 0)), 10))
})

test_that("Ctrl-C in the folds keeps those done, or the sizes done before", {
  set.seed(24)
  pb <- random_problem(60, 30)
  control <- control_of(pb)
  stopping <- function(at) {
    calls <- 0
    function(problem, control) {
      calls <<- calls + 1
      if (calls == at) signalCondition(structure(list(), class = c("interrupt", "condition")))
      each_lambda(greedy_path)(problem, control)
    }
  }
  some <- choose_in_folds(pb, control, stopping(5), FALSE)
  expect_true(some$interrupted)
  expect_equal(nrow(some$parts), 4)
  all <- choose_in_folds(pb, control, stopping(0), FALSE)
  expect_false(all$interrupted)
  expect_equal(some$path$cv$value[1], mean(pb$rows$y[unlist(some$parts$rows), ]^2), tolerance = 0.2)
  expect_warning(sized_fit("greedy_rls", pb, control, stopping(5), NULL),
                 "after 4 of 10 size folds", class = "sparsels_interrupted")
  cut <- suppressWarnings(sized_fit("greedy_rls", pb, control, stopping(5), NULL))
  left_out <- sort(unlist(some$parts$rows))
  expect_equal(which(!is.na(cut$held_out[, 1])), left_out)
  control$sizing$folds <- make_folds(pb, 5, repeats = 2)
  one_more <- choose_in_folds(pb, control, stopping(7), FALSE)
  expect_equal(one_more$parts$repetition, rep(1, 5))
  # forty sizes are asked for when twenty have not been enough
  hard <- as_problem(matrix(rnorm(150 * 60), 150), rnorm(150))
  hard$rows$y <- matrix(rowSums(hard$x[, 1:30]) + rnorm(150))
  hard <- reweighted(hard, hard$rows$weight)
  first <- choose_in_folds(hard, control_of(hard), stopping(12), FALSE)
  expect_true(first$interrupted)
  expect_equal(first$k, 20)
  expect_equal(nrow(first$parts), 10)
})

test_that("a size is not chosen by areas under the ROC curve that no two folds have", {
  set.seed(51)
  x <- matrix(rnorm(60), 10)
  y <- factor(rep(1:2, 5))
  for (folds in list(10, c(1, 1, 2:9))) {
    expect_error(greedy_rls(x, y, k = 2, criterion = "auc", size_folds = folds), "in two folds",
                 class = "sparsels_error_input")
  }
  expect_true(is.finite(greedy_rls(x, y, k = 2, criterion = "auc", size_folds = 5)$estimate[[1]]))
})

test_that("nothing is said of other sizes where the user gave size 0", {
  text <- capture.output(print(greedy_rls(mpg ~ wt + hp, mtcars, size = 0)))
  expect_match(text, "no feature chosen, cross-validated", all = FALSE)
  expect_no_match(text, "better")
})

test_that("sizes that are tried later have the errors of a search of all sizes", {
  set.seed(11)
  x <- matrix(rnorm(50 * 60), 50)
  y <- drop(x[, 1:30] %*% rnorm(30)) + rnorm(50)
  for (refit in c(TRUE, FALSE)) {
    grown <- greedy_rls(x, y, refit = refit)
    k <- grown$control$k
    expect_gt(k, 20)
    at_once <- greedy_rls(x, y, refit = refit, k = k)
    expect_equal(grown$path, at_once$path, tolerance = 1e-10)
    expect_equal(grown$estimate, at_once$estimate, tolerance = 1e-10)
  }
})

test_that("the best size is never shown by a measure at which it is no better than the chosen", {
  seen <- c(criterion = 0, printed = 0)
  for (seed in 1:12) {
    set.seed(seed)
    x <- matrix(rnorm(240), 40)
    y <- factor(ifelse(0.7 * x[, 1] + rnorm(40) > 0.3, "a", "b"))
    fit <- suppressWarnings(greedy_rls(x, y))
    words <- rule_words(fit, reported_measure(fit))
    if (is.null(words) || !grepl("[0-9]", words)) next
    rates <- fit$path$cv_error[match(c(fit$best, fit$size), fit$path$size)]
    by_criterion <- grepl("mean squared error", words)
    expect_identical(by_criterion, rates[1] >= rates[2])
    shown_errors <- as.numeric(regmatches(words, gregexpr("[0-9]*[.][0-9]+", words))[[1]])
    if (by_criterion) expect_lt(shown_errors[1], shown_errors[2])
    seen <- seen + c(by_criterion, !by_criterion)
  }
  expect_true(all(seen > 0))
})
