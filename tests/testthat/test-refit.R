test_that("refitted coefficients and figures are those of retraining, at the best of the lambdas", {
  set.seed(1)
  cases <- random_cover(8, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), standardize = c(TRUE, FALSE))
  cases$task <- as.character(cases$task)
  searches <- rep(c("forward", "floating", "backward", "forward_backward"), 2)
  for (row in seq_len(nrow(cases))) {
    pb <- do.call(random_problem, c(list(30, 8, trap = TRUE), as.list(cases[row, ])))
    folds <- if (row %% 2) make_folds(pb, "loo") else make_folds(pb, 4, repeats = 2)
    fit <- greedy_rls(pb, k = 4, lambda = 20, refit = TRUE, size = "criterion", folds = folds,
                      search = searches[row])
    bare <- bare_rls(pb, k = 4, lambda = 20, folds = folds, search = searches[row])
    expect_equal(fit$path$search_criterion, bare$path$criterion)
    unit <- retrain_mean_square(pb)
    for (size in 1:4) {
      set <- selected(fit, size, index = TRUE)
      expect_equal(set, selected(bare, size, index = TRUE))
      error_of <- function(lambda) oracle_squared(pb, set, lambda, folds)
      best <- falling_lambda(16^(-3:1) * unit, 16^-7 * unit, error_of)
      at <- fit$path[fit$coefficients[[size + 1]]$step + 1, ]
      expect_equal(at$refit_lambda, best)
      expect_equal(at$criterion, error_of(best))
      if (pb$coding$task != "regression") {
        expect_equal(at$error, oracle_figure(pb, set, at$refit_lambda, folds, "error")[["value"]])
      }
      model <- oracle_ridge(pb, set, at$refit_lambda)
      expect_equal(unname(fit$coefficients[[size + 1]]$beta),
                   unname(model$B / pb$columns$scale[set]))
    }
    best <- fit$path[fit$coefficients[[fit$size + 1]]$step + 1, ]
    expect_equal(best$criterion, min(size_table(fit)$criterion))
    set <- selected(fit, index = TRUE)
    held_out <- lapply(seq_len(ncol(folds$ids)), function(r) {
      oracle_held_out(pb, set, best$refit_lambda, folds$ids[, r])
    })
    expect_equal(unname(fit$held_out), Reduce(`+`, held_out) / length(held_out))
    model <- oracle_ridge(pb, set, best$refit_lambda)
    expect_equal(unname(fit$fitted), model$pred)
  }
})

test_that("a refit keeps the user's criterion for the figures", {
  set.seed(2)
  pb <- random_problem(24, 7, "binary")
  fit <- greedy_rls(pb, k = 3, criterion = "auc", lambda = 30, refit = TRUE, size = "criterion")
  for (size in 1:3) {
    at <- fit$path[size + 1, ]
    set <- selected(fit, size, index = TRUE)
    expect_equal(at$criterion, oracle_pairs_out(pb, set, at$refit_lambda))
    expect_equal(at$squared, oracle_squared(pb, set, at$refit_lambda, fit$folds))
  }
})

test_that("columns on their own scale are the columns of the whole problem", {
  set.seed(3)
  for (sparse in c(FALSE, TRUE)) {
    pb <- random_problem(20, 9, covariates = TRUE, sparse = sparse)
    narrow <- only_columns(pb, c(3, 1))
    expect_equal(working_matrix(narrow), working_matrix(pb, c(3, 1)))
    expect_equal(narrow$columns$products, pb$columns$products[c(3, 1), , drop = FALSE])
    expect_equal(dim(narrow), c(20L, 2L))
  }
})
