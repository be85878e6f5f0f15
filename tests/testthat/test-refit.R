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
    # a backward search with a refit begins without a column that equals another one
    start <- if (NROW(fit$dependent)) setdiff(which(pb$columns$usable), fit$dependent$feature)
    bare <- bare_rls(pb, k = 4, lambda = 20, folds = folds, search = searches[row], start = start)
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

test_that("nearly dependent columns are refitted at the deeper of two minima along lambda", {
  set.seed(5)
  year <- 2000 + sample(20, 60, TRUE)
  d <- data.frame(year, square = year^2, other = rnorm(60))
  folds <- make_folds(60, 10)
  held_out <- function(make, error) {
    mean(vapply(seq_len(60), function(row) {
      train <- folds$ids[, 1] != folds$ids[row, 1]
      error(predict(make(d[train, ]), d[row, ], type = "response"), d$y[row])
    }, 0))
  }
  plain <- y ~ year + square
  of_squares <- function(fitted, y) (y - fitted)^2
  of_counts <- function(fitted, y) 2 * (fitted - y + if (y > 0) y * log(y / fitted) else 0)
  expect_found <- function(make, error, ...) {
    fit <- greedy_rls(y ~ ., data = d, folds = folds, size_folds = folds, ...)
    expect_setequal(selected(fit, 2), c("year", "square"))
    error <- held_out(make, error)
    expect_equal(fit$path$criterion[3], error, tolerance = 0.05)
    # each training part finds it, and the third column does not hide it
    expect_equal(fit$path$cv[3], error, tolerance = 0.05)
    expect_lt(fit$path$cv[4], 1.2 * error)
  }
  d$y <- (year - 2010)^2 + rnorm(60)
  expect_found(function(data) stats::lm(plain, data), of_squares)
  d$y <- rpois(60, exp(1 + ((year - 2010) / 8)^2))
  expect_found(function(data) stats::glm(plain, stats::poisson(), data), of_counts,
               loss = "poisson")
})
