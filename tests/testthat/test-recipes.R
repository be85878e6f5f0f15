skip_if_not_installed("recipes")

rec_of <- function(..., formula = mpg ~ ., data = mtcars) {
  step_select_sparsels(recipes::recipe(formula, data), recipes::all_predictors(), ...)
}

predictors <- as.matrix(mtcars[-1])

test_that("the columns are those of the direct call", {
  rec <- recipes::prep(rec_of())
  fit <- greedy_rls(predictors, mtcars$mpg)
  step <- rec$steps[[1]]
  expect_identical(step$fit$path, fit$path)
  expect_identical(step$removals, setdiff(colnames(predictors), selected(fit)))
  baked <- recipes::bake(rec, mtcars)
  expect_setequal(names(baked), c(selected(fit), "mpg"))
  expect_equal(baked$wt, mtcars$wt)
  # the outcome is not needed
  expect_setequal(names(recipes::bake(rec, mtcars[1:2, -1])), selected(fit))
  expect_equal(dim(recipes::bake(rec, mtcars[0, -1])), c(0L, fit$size))
})

test_that("rows that a column labels stay together", {
  data <- cbind(mtcars, pair = rep(1:16, each = 2))
  rec <- recipes::update_role(recipes::recipe(mpg ~ ., data), pair, new_role = "group")
  rec <- step_select_sparsels(rec, recipes::all_predictors(), groups = "pair", size = 3)
  fit <- recipes::prep(rec)$steps[[1]]$fit
  expect_identical(fit$folds$label, "leave-one-group-out, 16 groups")
  expect_equal(fit$path, greedy_rls(predictors, mtcars$mpg, groups = data$pair, size = 3)$path)
  lost <- step_select_sparsels(rec, recipes::all_predictors(), groups = "patient")
  expect_error(recipes::prep(lost), "must name a column of the recipe")
})

test_that("size, lambda, options and every method of columns are passed on", {
  removed <- function(...) recipes::prep(rec_of(...))$steps[[1]]$removals
  without <- function(fit) setdiff(colnames(predictors), selected(fit))
  folds <- rep(1:8, 4)
  expect_identical(
    removed(size = 3, lambda = 2, options = list(folds = folds, search = "floating")),
    without(greedy_rls(predictors, mtcars$mpg, size = 3, lambda = 2, folds = folds,
                       search = "floating"))
  )
  for (method in list(forward_regression, best_subset, l1_size)) {
    expect_identical(removed(method = method, size = 4),
                     without(method(predictors, mtcars$mpg, size = 4)))
  }
  expect_identical(removed(method = l1_path, lambda = 20),
                   without(l1_path(predictors, mtcars$mpg, lambda = 20)))
  expect_identical(removed(size = 2, options = list(standardize = FALSE)),
                   without(greedy_rls(predictors, mtcars$mpg, size = 2, standardize = FALSE)))
})

test_that("classes, several outcomes and outcomes by name", {
  rec <- rec_of(formula = Species ~ ., data = iris, size = 2)
  fit <- greedy_rls(as.matrix(iris[1:4]), iris$Species, size = 2)
  expect_setequal(names(recipes::juice(recipes::prep(rec))), c(selected(fit), "Species"))

  two <- recipes::prep(rec_of(formula = mpg + qsec ~ ., size = 3))
  fit <- greedy_rls(predictors[, -6], as.matrix(mtcars[c("mpg", "qsec")]), size = 3)
  expect_setequal(names(recipes::juice(two)), c(selected(fit), "mpg", "qsec"))

  named <- recipes::recipe(mtcars)
  named <- step_select_sparsels(named, -mpg, outcome = "mpg", size = 3)
  expect_setequal(names(recipes::juice(recipes::prep(named))),
                  c(selected(greedy_rls(predictors, mtcars$mpg, size = 3)), "mpg"))
})

test_that("case weights are those of the fit", {
  skip_if_not_installed("hardhat")
  data <- mtcars
  data$w <- hardhat::frequency_weights(rep(1:2, 16))
  rec <- recipes::prep(rec_of(data = data, size = 3))
  fit <- greedy_rls(predictors, mtcars$mpg, weights = rep(1:2, 16), size = 3)
  expect_equal(rec$steps[[1]]$fit$path, fit$path)
  expect_true(rec$steps[[1]]$case_weights)
  expect_false("w" %in% rec$steps[[1]]$fit$problem$columns$name)
})

test_that("in resamples the selection is repeated, as by hand", {
  skip_if_not_installed("rsample")
  set.seed(1)
  resamples <- rsample::vfold_cv(mtcars, 4)
  rec <- rec_of(size = 2)
  for (split in resamples$splits) {
    rows <- split$in_id
    trained <- recipes::prep(rec, rsample::analysis(split), fresh = TRUE)
    by_hand <- greedy_rls(predictors[rows, ], mtcars$mpg[rows], size = 2)
    expect_identical(trained$steps[[1]]$fit$path, by_hand$path)
  }
})

test_that("print, tidy, tunable and required_pkgs are as recipes wants them", {
  rec <- rec_of(size = 3, id = "few")
  expect_equal(tidy(rec, 1)$terms, "recipes::all_predictors()")
  # new versions of recipes print as messages do
  printed <- function(step) {
    out <- character()
    said <- capture_messages(out <- utils::capture.output(print(step)))
    paste(c(out, said), collapse = "")
  }
  expect_match(printed(rec$steps[[1]]), "Selection by sparsels among:? rec")
  trained <- recipes::prep(rec)
  table <- tidy(trained, 1)
  expect_s3_class(table, "tbl_df")
  expect_equal(table$terms, colnames(predictors))
  expect_equal(table$terms[order(table$order)][1:3],
               selected(greedy_rls(predictors, mtcars$mpg, size = 3)))
  expect_equal(table$removed, is.na(table$order))
  expect_equal(unique(table$id), "few")
  tuned <- generics::tunable(rec$steps[[1]])
  expect_equal(tuned$name, c("size", "lambda"))
  expect_equal(tuned$component_id, c("few", "few"))
  for (made_by in tuned$call_info) expect_true(all(c("pkg", "fun") %in% names(made_by)))
  expect_equal(recipes::required_pkgs(rec$steps[[1]]), "sparsels")
  removed <- toString(table$terms[table$removed][1:2])
  expect_match(printed(trained$steps[[1]]), paste("removing:?", removed))
})

test_that("tune_grid() of the step's size is a loop over the resamples by hand", {
  for (package in c("tune", "yardstick")) skip_if_not_installed(package)
  set.seed(2)
  resamples <- rsample::vfold_cv(mtcars, 3)
  set <- hardhat::extract_parameter_set_dials(rec_of(lambda = hardhat::tune()))
  expect_equal(unlist(dials::range_get(set$object[[1]])), c(lower = 1, upper = 10000))
  rec <- rec_of(size = hardhat::tune())
  tuned <- tune::tune_grid(parsnip::linear_reg(), rec, resamples, grid = data.frame(size = 1:3),
                           metrics = yardstick::metric_set(yardstick::rmse))
  means <- tune::collect_metrics(tuned)
  for (size in 1:3) {
    errors <- vapply(resamples$splits, function(split) {
      train <- rsample::analysis(split)
      held_out <- rsample::assessment(split)
      chosen <- selected(greedy_rls(mpg ~ ., train, size = size))
      line <- lm(train$mpg ~ ., train[chosen])
      sqrt(mean((held_out$mpg - predict(line, held_out))^2))
    }, 0)
    expect_equal(means$mean[means$size == size], mean(errors))
  }
  final <- recipes::prep(tune::finalize_recipe(rec, tune::select_best(tuned, metric = "rmse")))
  expect_equal(final$steps[[1]]$fit$size, means$size[which.min(means$mean)])
})

test_that("a step of no columns removes none, and one that chooses none says so", {
  none <- recipes::prep(step_select_sparsels(recipes::recipe(mpg ~ ., mtcars),
                                             recipes::has_role("absent")))
  expect_equal(ncol(recipes::juice(none)), 11)
  expect_equal(nrow(tidy(none, 1)), 0)
  expect_warning(empty <- recipes::prep(rec_of(size = 0)), "chose no column: all 10 are removed",
                 class = "sparsels_warning_empty")
  expect_equal(names(recipes::juice(empty)), "mpg")
})

test_that("bad arguments are refused by name", {
  expect_snapshot(error = TRUE, {
    step_select_sparsels()
    step_select_sparsels(mtcars)
    rec_of(method = "greedy_rls")
    rec_of(options = 3)
    rec_of(options = list(size = 3))
    rec_of(options = list(weights = 1:32))
    rec_of(k = 3)
  })
  prepared <- function(...) recipes::prep(rec_of(...))
  expect_error(prepared(outcome = "price"), "'price' is not")
  expect_error(prepared(outcome = "cyl"), "'cyl' is an outcome")
  expect_error(prepared(outcome = 1), "names of columns")
  expect_error(prepared(options = list(lamda = 1)), "lamda")
  expect_error(prepared(size = 30), "size")
  expect_error(recipes::prep(step_select_sparsels(recipes::recipe(mtcars), -mpg)),
               "no column of role 'outcome'")
  expect_error(prepared(formula = Species + Sepal.Width ~ ., data = iris), "'Species' is not")
})
