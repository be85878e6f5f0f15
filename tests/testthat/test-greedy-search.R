# Which feature is chosen: against trying every move, and against the baselines.

searches <- c("forward", "backward", "floating", "forward_backward")

test_that("every move of every search is the one its rule asks for", {
  set.seed(30)
  for (search in searches) for (seed in 1:5) {
    pb <- random_problem(13, 9, c("one", "two", "binary", "three")[1 + seed %% 4],
                         weights = seed %% 2 == 0, covariates = seed %% 3 == 0)
    folds <- if (seed %% 2) make_folds(pb, "loo") else unequal_folds(pb)
    fit <- bare_rls(pb, k = 5, lambda = 0.1, folds = folds, search = search)
    expect_identical(signed_moves(fit$path), oracle_search(pb, search, 5, 0.1, folds),
                     label = paste(search, seed))
  }
})

test_that("a column that only stood in for others is dropped", {
  set.seed(30)
  dropped <- c(floating = 0, forward_backward = 0)
  for (search in names(dropped)) for (seed in 1:4) {
    pb <- random_problem(16, 8, c("one", "two")[1 + seed %% 2], weights = seed > 2, trap = TRUE)
    folds <- if (seed %% 2) make_folds(pb, "loo") else unequal_folds(pb)
    fit <- bare_rls(pb, k = 5, lambda = 0.1, folds = folds, search = search)
    moves <- signed_moves(fit$path)
    expect_identical(moves, oracle_search(pb, search, 5, 0.1, folds))
    dropped[search] <- dropped[search] + all(c(4, -4) %in% moves)
  }
  expect_gte(min(dropped), 3)
})

test_that("ties of another criterion are broken by the squared error", {
  set.seed(31)
  for (search in searches) for (task in c("binary", "three")) {
    pb <- random_problem(14, 8, task)
    folds <- unequal_folds(pb)
    fit <- bare_rls(pb, k = 4, lambda = 1, folds = folds, search = search, criterion = "error")
    expect_identical(signed_moves(fit$path), oracle_search(pb, search, 4, 1, folds, "error"),
                     label = paste(search, task))
  }
})

test_that("ties go to the lowest column", {
  set.seed(32)
  x <- matrix(rnorm(20 * 3), 20)[, c(1, 2, 3, 2, 1, 3)]
  y <- x[, 3] + x[, 2] / 2 + rnorm(20) / 5
  for (folds in list("loo", rep(1:5, 4))) {
    expect_identical(selected(bare_rls(x, y, k = 1, lambda = 1, folds = folds), 1), "V3")
    reversed <- bare_rls(x[, 6:1], y, k = 1, lambda = 1, folds = folds)
    expect_identical(selected(reversed, 1), "V1")
    back <- bare_rls(x, y, k = 6, lambda = 1, folds = folds, search = "backward")
    expect_lte(back$path$feature[2], 3)
  }
})

test_that("`keep` holds the exact criterion of the best other candidates", {
  set.seed(33)
  for (name in c("squared", "auc")) for (loo in c(TRUE, FALSE)) {
    if (name == "auc" && loo) next
    pb <- random_problem(14, 8, "binary", weights = TRUE)
    folds <- if (loo) make_folds(pb, "loo") else make_folds(pb, rep_len(1:3, 14))
    fit <- bare_rls(pb, k = 3, lambda = 1, folds = folds, keep = 4, criterion = name)
    sets <- oracle_sets(fit$path)
    for (step in 1:3) {
      others <- fit$alternatives[fit$alternatives$step == step, ]
      expect_identical(others$rank, 1:4)
      left <- setdiff(which(pb$columns$usable), sets[[step + 1]])
      exact <- vapply(left, function(i) {
        oracle_figure(pb, c(sets[[step]], i), 1, folds, name)[["value"]]
      }, 0)
      expect_equal(others$criterion, exact[match(others$feature, left)], tolerance = 1e-9)
      loss <- if (name == "auc") -exact else exact
      expect_equal(sort(loss)[1:4], if (name == "auc") -others$criterion else others$criterion,
                   tolerance = 1e-9)
      expect_identical(others$name, pb$columns$name[others$feature])
    }
  }
})

test_that("`keep` gives what there is", {
  set.seed(34)
  x <- matrix(rnorm(30), 10)
  fit <- bare_rls(x, rnorm(10), k = 3, lambda = 1, keep = 50)
  expect_identical(as.vector(table(fit$alternatives$step)), c(2L, 1L))
  expect_null(bare_rls(x, rnorm(10), k = 3, lambda = 1)$alternatives)
})

# Models without the order and the step in which a search found them: one that comes back to a set
# has two to choose from, equal but for rounding.
by_column <- function(fit) {
  lapply(Filter(Negate(is.null), fit$coefficients), function(model) {
    sorted <- order(model$features)
    list(model$features[sorted], model$beta[sorted, , drop = FALSE], model$covariates)
  })
}

same_path <- function(fit, other, tolerance = 1e-9) {
  parts <- c("step", "action", "feature", "name", "size", "criterion", "squared", "error")
  parts <- intersect(parts, names(fit$path))
  expect_equal(fit$path[parts], other$path[parts], tolerance = tolerance)
  expect_equal(is.na(fit$path$se), is.na(other$path$se))
  expect_equal(fit$path$se, other$path$se, tolerance = tolerance)
  expect_equal(by_column(fit), by_column(other), tolerance = 1e-7)
  for (part in c("size", "lambda", "held_out", "fitted", "status")) {
    expect_equal(fit[[part]], other[[part]], tolerance = 1e-7)
  }
}

test_that("the wrapper makes the same path", {
  set.seed(35)
  for (search in searches) for (task in c("two", "binary")) {
    pb <- random_problem(14, 8, task, weights = TRUE, covariates = task == "two")
    folds <- unequal_folds(pb, 2)
    same_path(bare_rls(pb, k = 4, lambda = 0.5, folds = folds, search = search),
              wrapper_rls(pb, k = 4, lambda = 0.5, folds = folds, search = search))
  }
})

test_that("the wrapper's short cuts and low-rank LS-SVM make the same path", {
  set.seed(36)
  for (task in c("one", "two", "binary", "three")) for (covariates in c(FALSE, TRUE)) {
    pb <- random_problem(12, 9, task, weights = covariates, covariates = covariates,
                         intercept = task != "two")
    fit <- bare_rls(pb, k = 4, lambda = 1)
    for (shortcut in c("none", "primal", "dual")) {
      same_path(fit, wrapper_rls(pb, k = 4, lambda = 1, shortcut = shortcut))
    }
    same_path(fit, lowrank_lssvm(pb, k = 4, lambda = 1))
  }
  pb <- random_problem(12, 6, "binary")
  for (criterion in c("error", "absolute")) {
    fit <- bare_rls(pb, k = 3, lambda = 1, criterion = criterion)
    same_path(fit, lowrank_lssvm(pb, k = 3, lambda = 1, criterion = criterion))
    same_path(fit, wrapper_rls(pb, k = 3, lambda = 1, criterion = criterion, shortcut = "dual"))
  }
})

test_that("backward keeps the models of sizes 0 to k and shows the whole way", {
  set.seed(37)
  x <- matrix(rnorm(20 * 7), 20)
  fit <- bare_rls(x, x[, 1] + rnorm(20), k = 3, lambda = 1, search = "backward")
  expect_identical(fit$path$size, 7:0)
  expect_identical(fit$path$action, c("start", rep("drop", 7)))
  expect_length(fit$coefficients, 4)
  expect_lte(fit$size, 3)
  for (s in 0:3) expect_length(selected(fit, s), s)
  full <- bare_rls(x, x[, 1] + rnorm(20), k = 7, lambda = 1, search = "backward")
  expect_identical(selected(full, 7), paste0("V", 1:7))
})

test_that("k = NULL stops after ten steps without improvement", {
  set.seed(38)
  x <- matrix(rnorm(40 * 60), 40)
  y <- x[, 1] - x[, 2] + rnorm(40)
  free <- bare_rls(x, y, lambda = 4, folds = rep(1:8, 5))
  expect_identical(free$status, "early_stop")
  best <- which.min(free$path$criterion)
  expect_identical(nrow(free$path), best + 10L)
  expect_identical(free$size, best - 1L)
  whole <- bare_rls(x, y, k = nrow(free$path) - 1, lambda = 4, folds = rep(1:8, 5))
  expect_identical(whole$path, free$path)
  expect_identical(whole$status, "complete")
  few <- bare_rls(x[, 1:5], y, lambda = 4)
  expect_identical(few$control$k, 5L)
})

test_that("adding every feature ends at ridge regression with all of them", {
  set.seed(39)
  pb <- random_problem(15, 6, "one", weights = TRUE, duplicate = FALSE)
  all <- rls(pb, lambda = 0.7)
  for (search in searches) {
    fit <- bare_rls(pb, k = 6, lambda = 0.7, search = search)
    expect_equal(coef(fit, 6)[names(coef(all))], coef(all), tolerance = 1e-9)
    expect_equal(fit$path$criterion[fit$path$size == 6][1], all$path$criterion, tolerance = 1e-9)
  }
})
