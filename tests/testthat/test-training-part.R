# Training on some rows of a matrix in a file, which is the same matrix with weight 0 elsewhere.

# whole numbers, two columns of which are the response but for noise; column 9 is constant, and
# column 10 without the first row
example_parts <- function(weights = NULL) {
  set.seed(71)
  x <- matrix(rpois(40 * 120, 20), 40, dimnames = list(NULL, paste0("g", 1:120))) + 0
  x[, 9] <- 5
  x[, 10] <- c(1, rep(0, 39))
  score <- x[, 3] - x[, 7] + rnorm(40)
  list(x = x, y = score, g = factor(ifelse(score > 0, "ill", "well")),
       h = cut(rank(score), c(0, 13, 26, 40), c("p", "q", "r")), age = cbind(age = rnorm(40)),
       weights = list(NULL, runif(40, 0.5, 2), replace(runif(40, 0.5, 2), c(3, 11, 30), 0)))
}

as_file <- function(x) write_file_matrix(x, tempfile(fileext = ".bin"), "uint8")

# what a result holds but for its data, its call and times
figures <- function(result) {
  result <- unclass(result)
  result[c("problem", "call", "fit", "seconds")] <- NULL
  result$table$seconds <- NULL
  result
}

# The call, a function of a problem, gives the same of a file as of the matrix in memory, though no
# more than a few columns of the file may be in memory.
expect_same_parts <- function(call, d, y, label, adjust = NULL, weights = d$weights,
                              tolerance = 1e-10) {
  file <- as_file(d$x)
  for (w in weights) {
    of <- function(x) {
      set.seed(72)
      suppressWarnings(call(as_problem(x, y, weights = w, adjust = adjust)))
    }
    in_memory <- figures(of(d$x))
    in_file <- figures(with_binding("max_realised", 40 * 30, of(file)))
    expect_equal(in_file, in_memory, tolerance = tolerance, label = label)
  }
}

test_that("parts of a file are trained on as parts in memory are, for numbers", {
  d <- example_parts()
  ids <- rep(1:8, 5)
  methods <- list(
    list(greedy_rls, size_folds = 2), list(greedy_rls, k = 4, folds = ids, size_folds = 3),
    list(greedy_rls, k = 3, lambda = 1, size_folds = ids, refit = FALSE),
    list(greedy_rls, k = 4, folds = make_folds(40, 5, groups = rep(1:20, 2)), size_folds = 2),
    list(greedy_rls, k = 3, lambda = 2, size = "criterion", search = "floating", folds = 4,
         criterion = function(y, prediction, fold) mean((y - prediction)^2 * fold)),
    list(random_selection, k = 5), list(forward_regression, k = 3, size = "cv", size_folds = 3),
    list(omp, k = 3, lambda = 2), list(foba, k = 3),
    list(l1_path, nlambda = 8), list(l1_path, nlambda = 8, folds = 5, size = "cv"),
    list(l1_path, nlambda = 6, folds = "loo", screen = "gap"), list(l1_size, size = 4)
  )
  for (i in seq_along(methods)) {
    validate <- function(problem) {
      do.call(cross_validate, c(list(problem), methods[[i]], outer = 2, keep = TRUE))
    }
    # Each kind of weights with a third of the methods. Method 1 has as many columns as 20 training
    # rows allow, whose errors lose digits.
    expect_same_parts(validate, d, d$y, paste("method", i), d$age, d$weights[(i - 1) %% 3 + 1],
                      tolerance = if (i == 1L) 1e-8 else 1e-10)
  }
})

test_that("parts of a file are trained on as parts in memory are, for classes", {
  d <- example_parts()
  search <- list(greedy_rls, k = 3, size_folds = 3)
  methods <- list(
    c(search, criterion = "auc", folds = 5), c(search, criterion = "balanced", folds = 5),
    c(search, criterion = "error"), list(greedy_rls, k = 2, lambda = 1, criterion = "auc"),
    list(l1_path, loss = "logistic", nlambda = 6, folds = 4, criterion = "auc", tolerance = 1e-13),
    list(l1_path, loss = "hinge", nlambda = 5, folds = 4)
  )
  for (i in seq_along(methods)) {
    validate <- function(problem) {
      do.call(cross_validate, c(list(problem), methods[[i]],
                                list(outer = 2, measure = c("error", "auc"))))
    }
    expect_same_parts(validate, d, d$g, paste("method", i), weights = d$weights[(i - 1) %% 3 + 1],
                      tolerance = if (i == 5L) 1e-7 else 1e-10)
  }
  several <- function(problem) {
    cross_validate(problem, greedy_rls, k = 3, criterion = "balanced", size_folds = 3, outer = 2)
  }
  expect_same_parts(several, d, d$h, "three classes", weights = d$weights[3])
})

test_that("what trains on random parts of the rows does so in a file", {
  d <- example_parts()
  calls <- list(
    function(pb) stability_selection(pb, greedy_rls, pairs = 2),
    function(pb) stability_selection(pb, omp, pairs = 2, q = 3, groups = rep(1:20, 2)),
    function(pb) learning_curve(pb, greedy_rls, k = 3, lambda = 1, size_folds = 2, repeats = 1),
    function(pb) {
      compare_methods(pb, methods = list(omp, lasso = list(l1_path, folds = 3, nlambda = 5)),
                      splits = 2)
    },
    function(pb) {
      judge(pb, k = 3, size_folds = 3, permutations = 2, pairs = 1, repeats = 0, proof = 0,
            outer = 2, seed = 3)[c("error", "features", "left_out")]
    }
  )
  for (i in seq_along(calls)) {
    expect_same_parts(calls[[i]], d, d$y, paste("call", i), weights = d$weights[(i - 1) %% 3 + 1])
  }
})

test_that("folds in training parts are those of the rows alone", {
  d <- example_parts()
  rows <- (1:40)[-c(2, 5, 20:29)]
  weights <- replace(numeric(40), rows, 1)
  trained <- as_problem(d$x, d$g, weights = weights)
  alone <- as_problem(d$x, d$g)[rows, ]
  drawn <- function(problem, folds) {
    set.seed(73)
    as_folds(folds, problem)
  }
  for (count in list(5, 28, "loo", rep(1:4, 10))) {
    whole <- drawn(trained, count)
    few <- drawn(alone, if (length(count) > 1L) count[rows] else count)
    by_appearance <- function(ids) match(ids, unique(ids))
    expect_identical(by_appearance(whole$ids[rows, 1]), by_appearance(few$ids[, 1]))
    expect_identical(whole[c("loo", "label")], few[c("loo", "label")])
  }
  expect_identical(drawn(trained, 5)$ids, drawn(as_problem(d$x, d$g), drawn(trained, 5))$ids)
  given <- make_folds(40, list(rep(4:1, 10), rep(8:1, each = 5)))
  kept <- cut_folds(given, rows, 1:40)
  expect_identical(kept$ids[rows, ], cut_folds(given, rows)$ids)
  expect_equal(apply(kept$ids, 2, max), c(4, 8))
})

test_that("weights of 0 leave rows out of l1 paths", {
  d <- example_parts()
  idle <- c(2, 5, 20:29)
  w <- replace(d$weights[[2]], idle, 0)
  ids <- rep(1:5, 8)
  for (loss in c("squared", "logistic", "hinge")) {
    y <- if (loss == "squared") d$y else d$g
    for (screen in c("lazy", "gap", "safe1", "safe2")) {
      path <- function(x, y, w, ids, age) {
        l1_path(x, y, loss = loss, screen = screen, weights = w, adjust = cbind(age = age),
                nlambda = 6, tolerance = 1e-12, folds = if (screen == "lazy") ids)
      }
      whole <- path(d$x, y, w, ids, d$age)
      alone <- path(d$x[-idle, ], y[-idle], w[-idle], ids[-idle], d$age[-idle])
      columns <- c("lambda", "size", "objective", "criterion")
      expect_equal(whole$path[columns], alone$path[columns], tolerance = 1e-7)
      expect_equal(coef(whole)[names(coef(alone))], coef(alone), tolerance = 1e-5)
      if (screen != "lazy") next
      expect_equal(whole$held_out[-idle, ], alone$held_out[, 1], tolerance = 1e-5)
      expect_identical(whole$held_out[idle, ], whole$fitted[idle, ])
      expect_true(verify(whole, as_problem(d$x, y, weights = w, adjust = d$age), claims = 50)$ok)
    }
  }
  expect_error(l1_path(d$x, d$y, weights = w, solver = "ipm"), "`weights` must be positive")
})

test_that("models of many columns are evaluated some columns at a time", {
  d <- example_parts()
  file <- as_file(d$x)
  fit <- l1_path(d$x, d$y, nlambda = 6)
  expect_gt(max(fit$path$size), 20)
  problem <- as_problem(file, d$y)
  models <- models_of(fit)
  blocked <- function(code) with_binding("max_realised", 40 * 7, code)
  expect_equal(blocked(model_scores(models, problem, 3:9)), model_scores(models, problem, 3:9))
  models <- models_side_by_side(fit$problem, fit$solutions)
  expect_equal(blocked(solution_scores(fit$problem, models, problem, 3:9)),
               solution_scores(fit$problem, models, problem, 3:9))
  expect_equal(blocked(l1_path(problem, nlambda = 6))$fitted, fit$fitted)
})

test_that("every function reads a file in place or says what it needs in memory", {
  d <- example_parts()
  file <- as_file(d$x)
  pb <- as_problem(file, d$y)
  classes <- as_problem(file, d$g)
  gaussian <- kernel_gaussian(1e-4)
  fit <- greedy_rls(pb, k = 3, lambda = 5, size = 3)
  lasso <- l1_path(pb, nlambda = 4, lambda_min_ratio = 0.1, folds = rep(1:4, 10))
  own <- function(problem) omp(problem, k = 2)
  quick <- function(...) {
    judge(..., outer = 3, permutations = 5, pairs = 2, repeats = 0, proof = 0, seed = 1)
  }
  in_place <- alist(
    summary(pb), plot(pb), pb[, 1:5], greedy_rls(pb, k = 3, size_folds = 3),
    greedy_rls(pb, k = 2, lambda = 1, search = "floating", size = "criterion"),
    random_selection(pb, k = 2), forward_regression(pb, k = 2), omp(pb, k = 2), foba(pb, k = 2),
    l1_path(classes, nlambda = 4, folds = 4, loss = "hinge"), l1_size(pb, size = 3),
    lambda_max(classes, loss = "hinge"), safe_screen(pb, lambda = 100), quick(pb, omp, k = 2),
    quick(lasso, pb), permutation_test(pb, l1_path, folds = 4, nlambda = 4, permutations = 2),
    exchange(fit, pb), exchange(fit, file), verify(fit, file), verify(lasso, pb, claims = 5),
    panel_error(pb, c("g3", "g7"), random = 2), predict(fit, file)
  )
  in_memory <- alist(
    file[, ], pb[1:30, ], greedy_rls(pb, k = 2, lambda = "full"), wrapper_rls(pb, k = 1),
    lowrank_lssvm(pb, k = 1), sequential_replacement(pb, k = 2), rfe(pb, k = 2),
    best_subset(pb, k = 2), poss(pb, k = 2), rls(pb), kernel_rls(pb, kernel = gaussian),
    lssvm(classes, kernel = gaussian, gamma = 1), tune_lssvm(classes, budget = 3),
    fs_lssvm(classes, kernel = gaussian, gamma = 1, prototypes = 5),
    cv_variance(pb, kernel = gaussian, n = 3, lambda = 1, repeats = 2), select_basis(file, 3),
    nystrom_features(file, 1:4, kernel = gaussian), scdp(pb, k = 2),
    matching_pursuit(file, d$y, k = 2), lars_path(file, d$y, k = 2), l1_path(pb, solver = "ipm"),
    cross_validate(pb, rls, outer = 3), cross_validate(pb, own, outer = 3),
    stability_selection(pb, poss, pairs = 2), learning_curve(pb, kernel_rls),
    compare_methods(pb, splits = 2, k = 2), quick(pb, rfe, k = 2)
  )
  told <- function(call) {
    tryCatch(with_binding("max_realised", 40 * 20, {
      suppressWarnings(eval(call))
      ""
    }), sparsels_error_input = function(e) {
      sub(" of the file .*", "", conditionMessage(e))
    })
  }
  for (call in in_place) expect_identical(told(call), "", label = deparse1(call))
  expect_snapshot(writeLines(vapply(in_memory, told, "")))
})

# No column explains anything of rows of one class, whatever rounding says.
test_that("training rows of one class have the null model, by every method", {
  set.seed(73)
  x <- matrix(rnorm(120), 20)
  classes <- factor(rep(c("a", "b"), c(1, 19)))
  gaussian <- kernel_gaussian(0.1)
  methods <- list(
    greedy_rls = greedy_rls, random = random_selection, forward = forward_regression, omp = omp,
    foba = foba, rfe = rfe, replacement = sequential_replacement, best = best_subset, scdp = scdp,
    poss = function(problem) poss(problem, iterations = 50), wrapper = wrapper_rls,
    lowrank = lowrank_lssvm, l1 = l1_path, l1_folds = function(problem) l1_path(problem, folds = 4),
    rls = rls, lssvm = function(problem) lssvm(problem, kernel = gaussian),
    fs = function(problem) fs_lssvm(problem, kernel = gaussian, prototypes = 3)
  )
  for (name in names(methods)) {
    # their mean is exact, or is not
    for (rows in list(2:10, 2:14)) {
      problem <- as_problem(x, classes)[rows, ]
      fit <- suppressWarnings(methods[[name]](problem))
      expect_true(all(predict(fit, x, type = "class") == "b"), label = name)
      expect_output(print(fit), "b", label = name)
      # l1_path() has no bound of a path without a column
      expect_false(isFALSE(verify(fit, problem, claims = 10)$ok), label = name)
      gain <- if (is.null(fit$solutions)) fit$path$criterion else fit$path$dev_ratio
      expect_lt(min(abs(gain)), 1e-15, label = name)
    }
  }
})

test_that("a part of one class loses no outer fold, and its warning is said once", {
  set.seed(74)
  x <- matrix(rnorm(240), 40)
  classes <- factor(c("a", "a", rep("b", 38)))
  for (method in list(l1_path, forward_regression, best_subset, rls)) {
    moved <- transfer(x, classes, method, groups = rep(1:4, each = 10))
    expect_true(all(moved$error[2:4, 1] == 0.2))
    cvd <- suppressWarnings(cross_validate(x, classes, method, outer = rep(1:4, each = 10)))
    expect_equal(cvd$estimate[["mean"]], 0.05)
  }
  single <- factor(c("z", rep(c("a", "b"), length.out = 39)))
  for (call in expression(
    fs_lssvm(x, single, kernel = kernel_gaussian(0.1), prototypes = 5),
    added_value(x, single, base = 1:2, folds = 4, permutations = 3),
    cross_validate(x, single, greedy_rls, k = 2, outer = 4)
  )) {
    expect_length(capture_warnings(eval(call)), 1L)
  }
  d <- data.frame(y = x[, 2], a = x[, 1])
  expect_length(capture_messages(
    permutation_test(y ~ poly(a, 2), d, l1_path, folds = 3, permutations = 3)
  ), 1L)
  expect_error(l1_path(as_problem(x, classes)[3:40, ], loss = "logistic"),
               "class 'a' of `y` has no row of positive weight", class = "sparsels_error_input")
})
