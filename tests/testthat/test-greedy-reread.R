# greedy_rls() where the columns of C are made again from x at each step and not kept

# The path of one search, with m x n doubles or without.
path_of <- function(pb, ..., k = 5L, lambda = 1, folds = "loo", criterion = "squared",
                    search = "forward", start = integer(), cost = NULL, budget = Inf, keep = 2L,
                    threads = 1L, skipping = "none",
                    most = nrow(pb) * length(start)) {
  control <- path_control(pb, k, lambda, folds, criterion, start = start,
                          pruned = search == "backward" && length(start))
  control$cost <- check_cost(cost, pb)
  control <- c(control, list(search = search, keep = keep, threads = threads, progress = FALSE,
                             budget = check_budget(budget, control$cost, pb, start)))
  with_binding("most_candidate_values", most,
               greedy_path(pb, control, lambda, given = start, skipping = skipping))
}

expect_reread <- function(pb, ..., tolerance = 1e-10, from = 1L) {
  kept <- path_of(pb, ..., most = Inf)
  path <- path_of(pb, ...)
  expect_identical(path$path$feature, kept$path$feature)
  part <- c("path", "size", "models", "held_out", "fitted", "alternatives", "status")
  expect_equal(path[part], kept[part], tolerance = tolerance)
  expect_identical(kept$work$reread_from, NA)
  if (!is.null(from)) {
    expect_identical(path$work[c("dense_from", "reread_from")],
                     list(dense_from = NA, reread_from = from))
    expect_identical(path$work$evaluated, kept$work$evaluated)
  }
  invisible(path)
}

filed <- function(x, y, ..., type = "double") {
  as_problem(write_file_matrix(x, tempfile(fileext = ".bin"), type), y, ...)
}

made_problem <- function(m, n, task = "regression", ...) {
  x <- matrix(rnorm(m * n), m) + matrix(rnorm(m * n / 5), m)[, rep(seq_len(n / 5), each = 5)]
  score <- x[, 1] - x[, 6] + 0.5 * x[, 11] + rnorm(m)
  y <- switch(task, regression = score, binary = score > 0, two = cbind(score, x[, 2] + rnorm(m)),
              three = cut(rank(score), c(0, 0.3, 0.7, 1) * m, c("a", "b", "c")))
  filed(x, y, ...)
}

test_that("every criterion gives the path of the search that keeps its columns", {
  set.seed(31)
  user <- function(held_out, y, weights) mean(abs(held_out - y)^1.5)
  for (folds in list("loo", 5)) {
    for (task in c("regression", "two", "three", "binary")) {
      pb <- made_problem(41, 60, task, adjust = cbind(rnorm(41)), weights = runif(41, 0.5, 2))
      cut <- if (is.character(folds)) folds else make_folds(pb, folds, repeats = 2)
      expect_reread(pb, folds = cut)
      if (task == "regression") {
        for (criterion in list("absolute", user)) {
          expect_reread(pb, folds = cut, criterion = criterion)
        }
      }
      if (task == "binary") {
        for (criterion in c("auc", "error", "balanced")) {
          expect_reread(pb, folds = cut, criterion = criterion)
        }
      }
    }
  }
})

test_that("searches that drop, given columns and prices do, too", {
  set.seed(32)
  pb <- made_problem(41, 60, adjust = cbind(rnorm(41)))
  prices <- data.frame(cost = c(runif(30, 1, 4), rep(3, 30)), assay = rep(c(NA, "chip"), each = 30))
  for (folds in list("loo", make_folds(pb, 5), make_folds(pb, 2))) {
    for (search in c("floating", "forward_backward")) {
      expect_reread(pb, folds = folds, search = search, k = 12L)
      expect_reread(pb, folds = folds, search = search, criterion = "absolute", k = 6L)
      expect_reread(pb, folds = folds, search = search, k = 7L, start = c(4L, 9L, 30L))
    }
    expect_reread(pb, folds = folds, search = "backward", start = seq(2L, 58L, 4L))
    expect_reread(pb, folds = folds, start = c(4L, 9L))
    expect_reread(pb, folds = folds, cost = prices, budget = 9, k = 8L)
    expect_reread(pb, folds = folds, start = c(4L, 9L), cost = prices, budget = 15)
  }
})

test_that("sets of more columns than rows are possible", {
  set.seed(33)
  pb <- made_problem(12, 40)
  for (folds in list("loo", make_folds(pb, 3))) {
    expect_reread(pb, folds = folds, k = 16L, tolerance = 1e-8)
    expect_reread(pb, folds = folds, search = "backward", start = 1:20, k = 16L, tolerance = 1e-8)
  }
})

test_that("the search by bounds goes over to it", {
  set.seed(34)
  noise <- filed(matrix(rnorm(35 * 90), 35), cbind(rnorm(35), rnorm(35)))
  for (folds in list("loo", make_folds(noise, rep_len(1:30, 35)))) {
    path <- expect_reread(noise, k = 30L, lambda = 1e-3, folds = folds, skipping = "bounds",
                          tolerance = 1e-7, from = NULL)
    expect_gt(path$work$reread_from, 1)
    expect_identical(path$work$dense_from, NA)
  }
})

test_that("any number of threads, and any type of values, give the same bits", {
  set.seed(35)
  x <- matrix(rpois(50 * 70, 2), 50)
  y <- x[, 3] - x[, 9] + rnorm(50)
  same <- c("path", "models", "held_out", "work")
  sparse <- as_problem(Matrix::Matrix(x * (x > 2), sparse = TRUE), y)
  for (search in c("forward", "floating")) {
    for (folds in list("loo", make_folds(sparse, 5))) {
      one <- path_of(filed(x, y), search = search, folds = folds)
      for (type in c("uint8", "float")) {
        pb <- filed(x, y, type = type)
        expect_identical(path_of(pb, search = search, folds = folds)[same], one[same])
      }
      expect_identical(path_of(filed(x, y), search = search, folds = folds, threads = 2L)[same],
                       one[same])
      expect_reread(sparse, search = search, folds = folds)
    }
  }
  in_memory <- path_of(as_problem(x, y))
  expect_identical(in_memory$work$dense_from, 1L)
})

test_that("a backward search from too many columns is an error by its size", {
  control <- list(search = "backward")
  x <- structure(list(dim = c(1000L, 400000L)), class = in_place("file_matrix"))
  large <- structure(list(x = x,
                          rows = data.frame(weight = numeric(1000)),
                          columns = data.frame(name = character(400000))),
                     class = "sparsels_problem")
  expect_error(check_backward_values(large, control, integer()),
               "from 400000 columns keeps a double for each of 1000 x 400000 values, 3.2 GB",
               class = "sparsels_error_argument")
  expect_silent(check_backward_values(large, control, 1:100))
})
