# kernel_rls() and rls() from rows in blocks, against the same fits with all terms in memory and
# against retraining

kernel_rls <- plain_kernel_rls

grid <- 2^c(-15, -4, 0, 7, 15)

in_blocks <- function(code) with_binding("most_term_values", 10, code)

in_file <- function(x, ...) write_file_matrix(x, tempfile("rows", fileext = ".bin"), ...)

# The largest difference of any number of two fits, relative to the largest of its kind.
apart <- function(one, other) {
  of_models <- function(fit, field) unlist(lapply(fit$coefficients, `[[`, field))
  max(vapply(setdiff(names(one$path), "error"), function(column) {
    relative_error(one$path[[column]], other$path[[column]])
  }, 0), relative_error(one$held_out, other$held_out), relative_error(one$fitted, other$fitted),
  relative_error(of_models(one, "beta"), of_models(other, "beta")),
  relative_error(of_models(one, "covariates"), of_models(other, "covariates")))
}

# folds that are retrained on triangles, folds that are taken away, and both
some_folds <- function(m) {
  half <- m %/% 2
  list("loo", rep_len(1:3, m), rep_len(1:(m %/% 4), m), c(rep(1, half), 1 + seq_len(m - half)),
       list(rep_len(1:2, m), rep_len(1:20, m)))
}

example_points <- function(m, ...) {
  set.seed(180)
  random_points(m, ...)
}

test_that("fits in blocks are those with all terms at once", {
  set.seed(179)
  points <- matrix(rnorm(12), 4)
  turn <- 0
  for (task in c("one", "two", "three")) {
    odd <- task != "one"
    pb <- example_points(240, task, weights = odd, covariates = odd, intercept = task == "two")
    for (folds in some_folds(240)) {
      expand <- function(kernel, basis, ...) {
        unwarned(pb, kernel = kernel, basis = basis, folds = folds, lambda = grid, ...)
      }
      fits <- list(
        function() expand(kernel_gaussian(0.4), c(240, 3, 77, 8, 9), threads = 2),
        function() expand(kernel_polynomial(2), points, shift = 1e-3),
        function() expand(kernel_gaussian(0.4), 2:8, shift = "paper"),
        function() rls(pb, folds = folds, lambda = grid)
      )
      # two by turns: of the five kinds of folds and three tasks every fit has all
      turn <- turn + 1
      for (fit in fits[1:2 * 2 - turn %% 2]) {
        whole <- fit()
        blocks <- in_blocks(fit())
        expect_null(whole$spectrum$source)
        expect_null(blocks$spectrum$phi)
        expect_lt(apart(blocks, whole), 1e-10)
        expect_equal(blocks$path$error, whole$path$error, tolerance = 1e-13)
        expect_identical(blocks$lambda, whole$lambda)
      }
    }
  }
})

test_that("every fold is retrained exactly, with its basis vectors and its covariates", {
  pb <- example_points(90, "binary", weights = TRUE, covariates = TRUE)
  basis <- c(5, 90, 33, 34)
  case <- oracle_case(pb, oracle_gaussian(0.6), basis)
  for (ids in list(1:90, rep(1:3, 30), rep(1:2, c(40, 50)), c(rep(1, 60), 1 + 1:30))) {
    fit <- in_blocks(unwarned(pb, kernel = kernel_gaussian(0.6), basis = basis, folds = ids,
                              lambda = grid))
    expect_false(is.null(fit$spectrum$source))
    exact <- vapply(grid, function(l) oracle_cv_figure(case, l, fit$folds), c(0, 0))
    expect_lt(relative_error(fit$path$criterion, exact["value", ]), 1e-10)
    expect_lt(relative_error(fit$path$se, exact["se", ]), 1e-10)
    held <- oracle_partition(case, fit$lambda, fit$folds$ids[, 1L])
    expect_lt(relative_error(fit$held_out, held), 1e-10)
  }
})

test_that("holdout() and cv_error() go through the rows again", {
  pb <- example_points(90, "binary", weights = TRUE, intercept = TRUE)
  basis <- c(5, 90, 33, 34)
  case <- oracle_case(pb, oracle_gaussian(0.6), basis)
  fit <- in_blocks(unwarned(pb, kernel = kernel_gaussian(0.6), basis = basis, folds = 5,
                            lambda = grid))
  for (way in c("remove", "keep")) {
    for (rows in list(7, c(5, 8), 60:20, c(1:33, 90))) {
      exact <- oracle_holdout(case, grid, rows, way)
      expect_lt(relative_error(unname(holdout(fit, rows, way)[]), exact), 1e-10)
    }
  }
  for (way in c("remove", "keep", "skip")) for (name in c("absolute", "auc", "balanced")) {
    ids <- rep(1:3, 30)
    values <- cv_error(fit, ids, way, name)
    if (name == "balanced") {
      whole <- unwarned(pb, kernel = kernel_gaussian(0.6), basis = basis, folds = 5, lambda = grid)
      expect_equal(values, cv_error(whole, ids, way, name), tolerance = 1e-10)
      next
    }
    exact <- vapply(grid, function(l) {
      oracle_cv_figure(case, l, make_folds(90, ids), way, name)
    }, c(0, 0))
    expect_lt(relative_error(values$criterion, exact["value", ]), 1e-10)
    expect_lt(relative_error(values$se, exact["se", ]), 1e-10)
  }
  expect_equal(cv_error(fit, rep(1:3, 30), criterion = function(y, p, fold) mean((y - p)^2),
                        lambda = 1)$criterion,
               mean((pb$rows$y - oracle_partition(case, 1, rep(1:3, 30)))^2), tolerance = 1e-10)
})

test_that("sets that weigh too much to be taken away are retrained", {
  pb <- example_points(90, "one", intercept = TRUE)
  pb$rows$weight[c(5, 40)] <- 1e9
  pb <- as_problem(unclass(pb)$x, as.vector(pb$rows$y), weights = pb$rows$weight,
                   standardize = FALSE)
  case <- oracle_case(pb, oracle_gaussian(0.6), c(5, 33, 34))
  ids <- list(1:90, rep(1:30, 3))
  retrained <- 0
  original <- retrain_lost
  counting <- function(plan, lost, ...) {
    retrained <<- retrained + length(lost)
    original(plan, lost, ...)
  }
  with_binding("retrain_lost", counting, for (one in ids) {
    fit <- in_blocks(unwarned(pb, kernel = kernel_gaussian(0.6), basis = c(5, 33, 34),
                              folds = one, lambda = c(0.5, 8)))
    exact <- vapply(fit$path$lambda, function(l) oracle_cv_figure(case, l, fit$folds), c(0, 0))
    expect_lt(relative_error(fit$path$criterion, exact["value", ]), 1e-8)
  })
  expect_gt(retrained, 0)
})

test_that("a file gives the bits of the same values in memory, and so do blocks of new data", {
  pb <- example_points(240, "one", weights = TRUE)
  x <- round(unname(pb$x) * 8)
  y <- as.vector(pb$rows$y)
  new <- round(matrix(rnorm(60 * 3) * 8, 60))
  for (type in c("double", "int16")) {
    file <- in_file(x, type)
    quarters <- rep(1:4, 60)
    rbf <- kernel_gaussian(0.02)
    for (fit in list(
      function(x) unwarned(x, y, kernel = rbf, basis = 3:9, folds = quarters, standardize = TRUE),
      function(x) unwarned(x, y, basis = c(9, 1, 77), lambda = 1),
      function(x) rls(x, y, folds = quarters)
    )) {
      blocks <- in_blocks(fit(x))
      filed <- fit(file)
      expect_false(is.null(filed$spectrum$source))
      expect_lt(apart(filed, blocks), 1e-12)
      expect_identical(in_blocks(fit(file)$path), blocks$path)
      expect_equal(predict(filed, in_file(new, type)), predict(blocks, new), tolerance = 1e-13)
      expect_equal(cv_error(filed, 4:1 + 0 * y), cv_error(blocks, 4:1 + 0 * y), tolerance = 1e-12)
      kept <- tempfile()
      saveRDS(filed, kept)
      expect_identical(holdout(readRDS(kept), 7:9)[], holdout(filed, 7:9)[])
    }
  }
})

test_that("a precomputed kernel and sparse columns are read in blocks, too", {
  pb <- example_points(120, "one")
  K <- exp(-as.matrix(dist(unname(pb$x)))^2)
  one <- function(x, kernel) {
    kernel_rls(x, as.vector(pb$rows$y), kernel = kernel, basis = 7:2, lambda = grid,
               shift = "paper")
  }
  expect_lt(apart(in_blocks(one(K, "precomputed")), one(K, "precomputed")), 1e-9)
  sparse <- methods::as(replace(pb$x, pb$x < 0, 0), "CsparseMatrix")
  rbf <- kernel_gaussian(1)
  expect_lt(apart(in_blocks(one(sparse, rbf)), one(sparse, rbf)), 1e-9)
  linear <- function() rls(sparse, as.vector(pb$rows$y), lambda = grid)
  expect_lt(apart(in_blocks(linear()), linear()), 1e-10)
})

test_that("a triangle is that of the products, whatever the number of rows", {
  set.seed(181)
  for (rows in list(c(0, 0), c(1, 2), c(0, 9), c(4, 0), c(5, 40))) {
    above <- matrix(rnorm(rows[1] * 4), rows[1], 4)
    below <- matrix(rnorm(rows[2] * 4), rows[2], 4)
    R <- stacked_triangle(above, below)
    expect_equal(crossprod(R), crossprod(rbind(above, below)))
    expect_true(all(R[lower.tri(R)] == 0))
  }
})

test_that("means over folds that come a few at a time are those of all at once", {
  set.seed(182)
  fold <- sample(rep(1:7, c(1, 1, 2, 5, 9, 9, 13)))
  w <- runif(40)
  w[fold == 3] <- 0
  losses <- cbind(rexp(40), 1e3 + rnorm(40))
  exact <- fold_mean(t(rowsum(w * losses, fold)), rowsum(w, fold)[, 1L])
  for (parts in list(list(1:7), list(1:3, 4, 5:7), as.list(1:7))) {
    means <- fold_means()
    for (part in parts) {
      rows <- which(fold %in% part)
      means$add(fold[rows], cbind(w, w * losses)[rows, , drop = FALSE], TRUE)
    }
    expect_equal(unname(means$result()), unname(exact), tolerance = 1e-12)
  }
  open <- fold_means()
  for (rows in split(1:40, rep(1:8, 5))) {
    open$add(fold[rows], cbind(w, w * losses)[rows, ], FALSE)
  }
  expect_equal(unname(open$result()), unname(exact), tolerance = 1e-12)
})

test_that("Ctrl-C keeps the kernel widths that are done", {
  pb <- example_points(120, "one")
  calls <- 0
  last <- Inf
  original <- working_rows
  stopping <- function(...) {
    calls <<- calls + 1
    if (calls > last) raise_interrupt()
    original(...)
  }
  fit_widths <- function(gamma) {
    in_blocks(unwarned(pb, kernel = kernel_gaussian(gamma), basis = 1:5, folds = rep(1:3, 40)))
  }
  with_binding("working_rows", stopping, {
    fit_widths(1)
    last <- 2 * calls + 1
    expect_warning(fit <- fit_widths(c(0.1, 10)), class = "sparsels_interrupted")
  })
  expect_identical(fit$status, "interrupted")
  expect_identical(nrow(fit$kernel_table), 1L)
})
