# Searches by products of columns beside the searches that read all rows, and folds whose columns
# are turned beside training from their rows alone.

by_rows <- function(code) with_binding("rows_of_products", Inf, code)
of_many_rows <- function(code) with_binding("placed_rows", 300L, code)

tall_data <- function(seed, m = 600) {
  set.seed(seed)
  x <- cbind(a = rnorm(m), b = rexp(m), c = round(2 * rnorm(m)), d = rnorm(m), e = runif(m))
  list(x = x, y = sin(2 * x[, 1]) + log(0.1 + x[, 2]) + x[, 4] * x[, 5] + rnorm(m) / 2 + 3,
       w = replace(runif(m, 0.5, 2), c(3, 50), 0), z = cbind(u = rnorm(m), v = x[, 1] + rnorm(m)),
       ids = sample(rep_len(1:5, m)))
}

# Everything of two fits but what only the search knows.
expect_same_fit <- function(fit, slow) {
  expect_true(fit$work$by_products)
  expect_false(slow$work$by_products)
  for (part in c("size", "lambda_table", "coefficients", "held_out", "fitted", "estimate",
                 "estimate_error", "terms")) {
    expect_equal(fit[[part]], slow[[part]], tolerance = 1e-8, info = part)
  }
  shown <- setdiff(names(slow$path), "pivot")
  expect_equal(fit$path[shown], slow$path[shown], tolerance = 1e-8)
  expect_equal(fit$fold_models$residual, slow$fold_models$residual, tolerance = 1e-8)
}

both_ways <- function(...) {
  search <- function() {
    suppressMessages(suppressWarnings(greedy_rls(..., k = 3), "sparsels_warning_edge"))
  }
  fit <- search()
  expect_same_fit(fit, by_rows(search()))
  fit
}

test_that("a search by products is the search by rows", {
  d <- tall_data(1)
  other <- rev(d$ids)
  both_ways(d$x, d$y, smooth = TRUE, folds = d$ids, size_folds = other)
  both_ways(d$x, d$y, smooth = c(a = 4, b = 3), folds = d$ids, size_folds = other, weights = d$w,
            adjust = d$z, penalty = c(a = 2, d = 0, e = 0.5))
  groups <- c("g", "h", "g", "", "h")
  both_ways(d$x, cbind(d$y, d$x[, 4]^2), columns_group = groups, folds = d$ids,
            size_folds = d$ids, weights = d$w, penalty = 1:5)
  both_ways(d$x, d$y, columns_group = groups, folds = d$ids, size_folds = d$ids, adjust = d$z,
            standardize = FALSE, start = "d", keep = 2)
})

test_that("folds of many rows keep the knots, and make all else of their own rows", {
  of_many_rows(for (seed in c(1, 4)) {
    d <- tall_data(seed)
    w <- if (seed %% 2) d$w else rep(1, length(d$y))
    problem <- suppressMessages(as_problem(d$x, d$y, weights = w, adjust = if (seed > 2) d$z,
                                           smooth = c(a = 4, b = 6, c = 3)))
    ids <- d$ids %% 3 + 1
    fit <- both_ways(problem, folds = ids, size_folds = ids, size = "min")
    expect_true(verify(fit, problem, claims = 30)$ok)
    scores <- matrix(NA, length(d$y), 4)
    for (fold in 1:3) {
      out <- which(ids == fold)
      part <- problem[-out, ]
      for (name in c("a", "b")) {
        own <- part$curves[[name]]
        whole <- problem$curves[[name]]
        expect_identical(own[c("knots", "range")], whole[c("knots", "range")])
        expect_gt(max(abs(own$values - whole$values)), 1e-4)
        Z <- cbind(1, curve_columns(own, d$x[-out, name]))
        Z[, -(1:2)] <- Z[, -(1:2)] / own$scale
        Z[, 2] <- (Z[, 2] - own$centre) / own$scale
        expect_equal(crossprod(Z, w[-out] * Z) / sum(w[-out]), diag(ncol(Z)), tolerance = 1e-8)
      }
      lambda <- fit$lambda / mean_square(problem) * mean_square(part)
      alone <- suppressWarnings(by_rows(greedy_rls(part, k = 3, folds = ids[-out],
                                                   size = "criterion", lambda = lambda,
                                                   refit = TRUE)))
      scores[out, ] <- vapply(0:3, function(size) {
        suppressMessages(predict(alone, problem[out, ], size = size))
      }, numeric(length(out)))
    }
    expect_equal(fit$path$cv, colSums(w * (d$y - scores)^2) / sum(w), tolerance = 1e-8)
  })
})

test_that("each training set has the pairs that it screens, in matrices with names and without", {
  of_many_rows(for (named in c(TRUE, FALSE)) {
    d <- tall_data(7)
    x <- if (named) d$x else unname(d$x)
    y <- d$y + d$x[, 1] * d$x[, 2]
    fit <- both_ways(x, y, smooth = c(2, 4)[named + 1L], folds = d$ids, size_folds = d$ids,
                     interactions = list(2, df = 2 + named), weights = d$w)
    expect_false("pairs" %in% fit$control$left_out)
    # the same where pairs and curves are left out
    lines <- both_ways(x, 2 * x[, 1] - x[, 4] + rnorm(nrow(x)), smooth = TRUE, folds = d$ids,
                       size_folds = d$ids, interactions = 2, weights = d$w)
    expect_identical(lines$control$left_out, c("pairs", "curves"))
    pairs <- lapply(fit$fold_models$state, function(state) pair_names(state$pairs))
    expect_gt(length(unique(pairs)), 1L)
  })
})

test_that("classes are searched by products, with their error rates", {
  of_many_rows({
    d <- tall_data(5)
    two <- factor(d$y > 3)
    three <- cut(d$y, c(-Inf, 2.5, 3.5, Inf))
    both_ways(d$x, two, smooth = c(a = 4, b = 6), folds = d$ids, size_folds = d$ids)
    both_ways(d$x, three, smooth = c(a = 4, b = 6), folds = d$ids, size_folds = d$ids,
              weights = d$w)
  })
})

test_that("curves of many rows are searched by the folds of the size, the same by any threads", {
  of_many_rows({
    d <- tall_data(6)
    problem <- as_problem(d$x, d$y, smooth = TRUE)
    fit <- greedy_rls(problem, size_folds = 4)
    expect_identical(fit$folds$ids, fit$size_folds$ids)
    expect_output(print(fit), "held-out mean squared error (4-fold)", fixed = TRUE)
    expect_true(fit$work$by_products)
    kept <- setdiff(names(fit), c("call", "control"))
    expect_identical(greedy_rls(problem, size_folds = 4, threads = 2)[kept], fit[kept])
    search <- function(problem, ...) {
      suppressWarnings(greedy_rls(problem, k = 1, size_folds = 4, ...))
    }
    for (own in list(search(problem, folds = "loo"), search(problem, size = "criterion"),
                     search(problem, criterion = "absolute"), search(problem[1:100, ]))) {
      expect_true(own$folds$loo)
      expect_false(own$work$by_products)
    }
    part <- problem[1:250, ]
    own <- greedy_rls(part, size_folds = 4)
    expect_true(own$work$by_products)
    expect_true(verify(own, part)$ok)
  })
})

test_that("training sets that products do not determine are trained from their rows", {
  of_many_rows({
    d <- tall_data(7)
    gaps <- replace(d$x, c(5, 700), NA)
    both_ways(gaps, d$y, smooth = TRUE, missing = "mean", folds = d$ids, size_folds = d$ids)
    both_ways(d$x, d$y, smooth = TRUE, interactions = list(c("d", "e")), folds = d$ids,
              size_folds = d$ids)
    # without one fold a column is constant, and a curve has fewer values
    rare <- cbind(d$x, f = ifelse(d$ids == 2, rnorm(600), 0), g = ifelse(d$ids == 3, 3, d$x[, 3]))
    both_ways(rare, d$y, smooth = c(a = 3, g = 4), folds = d$ids, size_folds = d$ids)
    # the rows of a part are all within one piece
    problem <- as_problem(d$x, d$y, smooth = TRUE)
    few <- order(d$x[, "a"])[1:80]
    alone <- as_problem(d$x[few, ], d$y[few], smooth = TRUE)
    expect_equal(problem[few, ]$curves$a$knots, alone$curves$a$knots)
  })
})

test_that("plain columns of many rows are searched by the folds of the size, in every form", {
  set.seed(8)
  m <- 1100
  x <- matrix(rbinom(8 * m, 1, 0.4) * round(rnorm(8 * m), 3), m)
  colnames(x) <- letters[1:8]
  x[, "h"] <- x[, "a"] - x[, "b"]
  y <- x[, "a"] - x[, "c"] + rnorm(m)
  # the products of columns far from 0 are not exact before centring
  forms <- list(float_matrix(x), methods::as(x, "CsparseMatrix"),
                methods::as(x + 1e4, "CsparseMatrix"),
                write_file_matrix(x, tempfile()))
  settings <- list(list(y), list(cbind(y, x[, "d"] + rnorm(m)), weights = runif(m)),
                   list(cut(y, 3), adjust = cbind(u = rnorm(m)), class_weights = "balanced"),
                   list(y > 1, class_weights = c("FALSE" = 1, "TRUE" = 3)),
                   list(y, groups = sample(60, m, TRUE), weights = rep_len(19:0 / 5, m),
                        offset = rnorm(m)),
                   list(y, columns_group = rep(c("k", "l", "m", "n"), 2)))
  for (setting in settings) {
    search <- function(x, ...) {
      suppressMessages(suppressWarnings(do.call(greedy_rls, c(list(x), setting, list(..., k = 4)))))
    }
    fit <- search(x, size_folds = 3)
    expect_identical(fit$folds$ids, fit$size_folds$ids)
    expect_same_fit(fit, by_rows(search(x, folds = fit$size_folds, size_folds = fit$size_folds)))
    for (form in forms) {
      own <- search(form, size_folds = 3)
      expect_true(own$work$by_products)
      expect_equal(own$path$cv, fit$path$cv, tolerance = 1e-5)
      expect_equal(own$held_out, fit$held_out, tolerance = 1e-5)
    }
  }
})

test_that("a fold of one row is multiplied in every form, and groups of which one may enter not", {
  set.seed(10)
  x <- matrix(rbinom(6000, 2, 0.4), 1000, dimnames = list(NULL, letters[1:6]))
  y <- x[, 1] - x[, 2] + rnorm(1000)
  ids <- c(1, rep(2:4, 333))
  search <- function(x, ...) greedy_rls(x, y, k = 3, folds = ids, size_folds = ids, ...)
  fit <- search(x)
  expect_same_fit(fit, by_rows(search(x)))
  for (form in list(x + 0, methods::as(x + 0, "CsparseMatrix"))) {
    expect_equal(search(form)$held_out, fit$held_out)
  }
  one <- suppressMessages(greedy_rls(x, y, columns_group = c("u", "u", "v", "v", "w", "w"),
                                     group_rule = "one"))
  expect_true(one$folds$loo)
})

test_that("fewer rows, or no folds of the size, are searched by leave-one-out", {
  d <- tall_data(9, m = 1000)
  expect_true(greedy_rls(d$x, d$y, size = "criterion")$folds$loo)
  expect_true(greedy_rls(d$x[-1, ], d$y[-1])$folds$loo)
  expect_true(greedy_rls(d$x, d$y, weights = replace(rep(1, 1000), 1, 0))$folds$loo)
  expect_true(greedy_rls(d$x, d$y, criterion = "absolute")$folds$loo)
  fit <- greedy_rls(d$x, d$y)
  expect_false(fit$folds$loo)
  expect_true(verify(fit, d$x, d$y)$ok)
})

test_that("models without each of ten folds, of more size folds, are trained on the other rows", {
  set.seed(11)
  x <- matrix(rnorm(4800), 1200)
  y <- x[, 1] + x[, 2] / 3 + rnorm(1200)
  fit <- greedy_rls(x, y, lambda = 3, size_folds = 24)
  expect_equal(max(fit$size_folds$ids), 24)
  kept <- fit$fold_models
  expect_equal(max(kept$pairs$part), 10)
  for (part in c(1, 10)) {
    model <- kept$models[[part]]
    rows <- kept$pairs$row[kept$pairs$part == part]
    own <- scale(x[-rows, model$features], scale = FALSE)
    unit <- sqrt(colMeans(own^2))
    own <- own / rep(unit, each = nrow(own))
    beta <- solve(crossprod(own) + diag(3, ncol(own)), crossprod(own, y[-rows]))
    expect_equal(unname(drop(model$beta)), drop(beta) / unit)
  }
})
