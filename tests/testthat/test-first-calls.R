# The functions whose own tests take long, each on data where what must come out is known. With the
# other files that tests/testthat.R names, they let CRAN call every function in little time.

signal_data <- function(rows = 60, columns = 40) {
  set.seed(1)
  x <- matrix(rnorm(rows * columns), rows,
              dimnames = list(paste0("row", seq_len(rows)), paste0("gene", seq_len(columns))))
  list(x = x, y = x[, 7] - x[, 30] + rnorm(rows) / 5)
}

test_that("searches that exchange and drop find the two columns of the response", {
  d <- signal_data()
  for (method in list(foba, sequential_replacement)) {
    expect_setequal(selected(method(d$x, d$y, k = 2), 2), c("gene7", "gene30"))
  }
})

test_that("the two columns of the response are proved to be the best, and have no alternative", {
  d <- signal_data()
  proof <- certify(greedy_rls(d$x, d$y, k = 2, size = 2), d$x, d$y)
  expect_true(all(proof$proofs$proved))
  expect_false(any(proof$proofs$better))
  near <- alternatives(proof)
  expect_identical(near$count, 1)
  expect_setequal(near$sets$columns[[1]], c("gene7", "gene30"))
})

test_that("judge() finds a strong signal in every part, and report() makes a page of it", {
  d <- signal_data()
  judged <- judge(d$x, d$y, k = 2, size = "criterion", permutations = 19, pairs = 3, repeats = 2,
                  seed = 1)
  expect_equal(judged$permutation$p.value, 1 / 20)
  expect_setequal(selected(judged$fit), c("gene7", "gene30"))
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  page <- report(judged, tempfile(fileext = ".html"))
  text <- read_page(page)
  expect_match(text, "gene30")
  expect_match(text, "Prediction of d\\$y by")
})

test_that("a strong signal is beyond all permutations, stable, and learnt with the rows", {
  d <- signal_data()
  tested <- permutation_test(d$x, d$y, bare_rls, k = 2, permutations = 19)
  expect_equal(tested$p.value, 1 / 20)
  chosen <- stability_selection(d$x, d$y, bare_rls, pairs = 5, q = 2)
  expect_setequal(selected(chosen), c("gene7", "gene30"))
  expect_equal(stability(list(1:3, 1:3, 1:3), n = 9), 1)
  curve <- learning_curve(d$x, d$y, greedy_rls, k = 2, size = "criterion", repeats = 3,
                          sizes = c(8, 20, 48))
  expect_lt(curve$table$relative[3], 0.1)
})

test_that("a row held out is predicted by the model without it", {
  d <- signal_data()
  lambda <- 3
  fit <- rls(d$x, d$y, lambda = lambda, standardize = FALSE)
  without <- predict(rls(d$x[-5, ], d$y[-5], lambda = lambda, standardize = FALSE),
                     d$x[5, , drop = FALSE])
  expect_equal(as.numeric(holdout(fit, 5)), as.numeric(without))
  expect_equal(cv_error(fit, "loo")$criterion, mean((d$y - fit$held_out)^2))
})

test_that("lambda, the width and the method are those of the least error", {
  d <- signal_data()
  fit <- l1_path(d$x, d$y, folds = 5)
  expect_equal(best_lambda(fit, "min"), fit$path$lambda[which.min(fit$path$criterion)])
  tuning <- tune_lssvm(d$x[, c(7, 30)], factor(d$y > 0), solver = "lssvm", method = "grid",
                       folds = 5, budget = 8)
  expect_equal(tuning$value, min(tuning$table$value))
  methods <- list(right = function(problem) c(7, 30), wrong = function(problem) c(8, 31))
  compared <- compare_methods(d$x, d$y, methods = methods, k = 2, splits = 3)
  expect_gt(compared$table$test[1], compared$table$test[2])
})

test_that("columns that make the response add to one that does not", {
  d <- signal_data()
  added <- added_value(d$x, d$y, adjust = cbind(age = d$x[, 1]), folds = 5,
                       permutations = 19)
  expect_equal(added$p.value, 1 / 20)
})

test_that("a matrix in a file gives the fit of the same matrix in memory", {
  d <- signal_data()
  path <- tempfile()
  on.exit(unlink(path))
  filed <- write_file_matrix(d$x, path)
  expect_identical(coef(bare_rls(filed, d$y, k = 2)), coef(bare_rls(d$x, d$y, k = 2)))
  expect_identical(file_matrix(path, 60, 40)[3:4, 7], unname(d$x[3:4, 7]))
})

test_that("genotypes are read two bits each", {
  bed <- tempfile(fileext = ".bed")
  on.exit(unlink(bed))
  writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0x1c, 0x3a)), bed)
  writeLines(c("1 rs1 0 100 A G", "1 rs2 0 200 C T"), sub("bed$", "bim", bed))
  writeLines(paste("fam", c("ann", "bob", "cy"), "0 0 0 -9"), sub("bed$", "fam", bed))
  expect_equal(unname(bed_matrix(bed)[, ]), cbind(c(2, 0, NA), c(1, 1, 0)))
})

test_that("thresholds follow costs, and coefficients below theirs go", {
  d <- signal_data()
  fit <- bare_rls(d$x, factor(ifelse(d$y > 0, "ill", "well"), c("well", "ill")), k = 2)
  costs <- c(false_positive = 1, false_negative = 4)
  expect_equal(choose_threshold(fit, cost = costs, event = "ill")$threshold, 1 / 5)
  path <- l1_path(d$x, d$y, lambda = 20, solver = "ipm")
  expect_setequal(selected(threshold_coef(path), lambda = 20), c("gene7", "gene30"))
})

test_that("what safe_screen() drops is zero in the lasso", {
  d <- signal_data()
  pb <- as_problem(d$x, d$y)
  dropped <- exclude(safe_screen(pb, lambda = 0.8 * lambda_max(pb)))
  fit <- l1_path(pb, lambda = 0.8 * lambda_max(pb))
  expect_gt(length(dropped), 0)
  expect_length(intersect(selected(fit, lambda = fit$lambda), colnames(d$x)[dropped]), 0)
})

test_that("the group of the higher risk has the shorter times", {
  skip_if_not_installed("survival")
  d <- signal_data()
  fit <- greedy_rls(d$x, survival::Surv(exp(d$y), rep(1, 60)), k = 2, size = 2)
  groups <- risk_groups(fit)
  median_time <- tapply(groups$time, groups$group, median)
  expect_lt(median_time[["high"]], median_time[["low"]])
})

test_that("augment() has the predictions of the fit", {
  d <- signal_data()
  fit <- bare_rls(d$x, d$y, k = 2)
  expect_equal(augment(fit)$.fitted, unname(fitted(fit)))
})

test_that("a recipe's step and caret's model find the two columns of the response", {
  d <- signal_data()
  fit <- caret_greedy_rls$fit(d$x, d$y, NULL, data.frame(size = 2, lambda = 1), NULL, TRUE,
                              FALSE)
  expect_setequal(selected(fit, 2), c("gene7", "gene30"))
  skip_if_not_installed("recipes")
  rec <- recipes::recipe(y ~ ., data.frame(y = d$y, d$x))
  rec <- recipes::prep(step_select_sparsels(rec, recipes::all_predictors(), size = 2))
  expect_setequal(names(recipes::bake(rec, NULL)), c("gene7", "gene30", "y"))
})

test_that("the data set keeps its name beside survival's", {
  own <- utils::data(package = "sparsels")$results[, "Item"]
  skip_if_not_installed("survival")
  expect_length(intersect(own, utils::data(package = "survival")$results[, "Item"]), 0)
  skip_if(!length(own))
  expect_identical(dim(sparsels::colon_genes$x), c(62L, 2000L))
})
