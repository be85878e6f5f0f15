# Tuning: the points against models fitted one by one, the search's promises, and every refusal.

tuning_problem <- function(m = 40, ...) {
  set.seed(101)
  x <- cbind(a = runif(m, -2, 2), b = 10 * runif(m, -2, 2), c = rnorm(m))
  y <- sin(2 * x[, "a"]) + (x[, "b"] / 10)^2 + rnorm(m) / 5
  as_problem(x, y, standardize = TRUE, ...)
}

# the held-out error of the model on all rows, by kernel_rls()
one_by_one <- function(pb, kernel, gamma, folds) {
  fit <- suppressWarnings(kernel_rls(pb, kernel = kernel, lambda = 1 / gamma, folds = folds),
                          "sparsels_warning_edge")
  fit$path$criterion
}

pb_means <- function(pb) colSums(pb$rows$weight * pb$x) / sum(pb$rows$weight)
pb_roots <- function(pb) {
  off <- pb$x - rep(pb_means(pb), each = nrow(pb$x))
  sqrt(colSums(pb$rows$weight * off^2) / sum(pb$rows$weight))
}

test_that("a grid for the model on all rows is brute force", {
  for (covariates in c(FALSE, TRUE)) {
    pb <- tuning_problem(weights = rep(1:2, 20), adjust = if (covariates) cbind(sin(1:40)))
    for (folds in list("loo", rep(1:4, each = 10))) {
      found <- tune_lssvm(pb, solver = "lssvm", method = "grid", folds = folds, budget = 20)
      table <- found$table
      expect_lte(nrow(table), 20)
      expect_identical(unique(table$stage), "grid")
      # the ends of the box
      d <- dist(scale(pb$x, pb_means(pb), pb_roots(pb)))^2
      expect_equal(range(table$gamma), 2^c(-10, 20) / 1.5)
      expect_equal(range(table$sigma2), median(d) * 2^c(-8, 8))
      brute <- mapply(function(gamma, sigma2) {
        one_by_one(pb, kernel_gaussian(1 / sigma2), gamma, folds)
      }, table$gamma, table$sigma2)
      # to rounding, magnified by the largest gamma
      expect_lt(max(abs(table$value / brute - 1)), 1e-6)
      best <- which.min(brute)
      expect_equal(c(found$gamma, found$sigma2), c(table$gamma[best], table$sigma2[best]))
      expect_identical(found$value, table$value[best])
      expect_equal(found$kernel$parameters$gamma, 1 / found$sigma2)
    }
  }
})

test_that("a second grid is between the neighbours of the best point of the first", {
  pb <- tuning_problem()
  found <- tune_lssvm(pb, solver = "lssvm", method = "grid", folds = "loo", budget = 80)
  table <- found$table
  first <- table[table$stage == "grid", ]
  second <- table[table$stage == "refined", ]
  expect_lte(nrow(first), 40)
  expect_lte(nrow(table), 80)
  expect_gt(nrow(second), 30)
  best <- first[which.min(first$value), ]
  for (name in c("gamma", "sigma2")) {
    axis <- sort(unique(log2(first[[name]])))
    step <- axis[2] - axis[1]
    off <- log2(second[[name]]) - log2(best[[name]])
    expect_lte(max(abs(off)), step + 1e-9)
    expect_lt(min(diff(sort(unique(round(off, 9))))), step)
  }
  brute <- mapply(function(gamma, sigma2) {
    one_by_one(pb, kernel_gaussian(1 / sigma2), gamma, "loo")
  }, second$gamma, second$sigma2)
  expect_equal(second$value, brute, tolerance = 1e-6)
  expect_identical(found$value, min(table$value))
  one <- tune_lssvm(pb, solver = "lssvm", method = "grid", folds = "loo", budget = 40, gamma = 2)
  expect_identical(as.vector(table(one$table$stage)), c(20L, 20L))
})

test_that("a grid for the pursuit is fs_lssvm() one by one, the smallest over sizes", {
  pb <- tuning_problem()
  x <- pb$x
  y <- pb$rows$y[, 1]
  folds <- make_folds(pb, rep(1:4, 10))
  for (solver in c("scdp", "full", "nystrom")) {
    found <- tune_lssvm(x, y, solver = solver, prototypes = 1:8, method = "grid", folds = folds,
                        budget = 9, score = "ols", intercept = "forced")
    brute <- mapply(function(gamma, sigma2) {
      fit <- fs_lssvm(x, y, kernel = kernel_gaussian(1 / sigma2), gamma = gamma, prototypes = 1:8,
                      solver = solver, folds = folds, score = "ols", intercept = "forced")
      min(fit$path$criterion)
    }, found$table$gamma, found$table$sigma2)
    expect_equal(found$table$value, brute, tolerance = 1e-6)
    expect_identical(found$solver, solver)
    by_problem <- tune_lssvm(pb, solver = solver, prototypes = 1:8, method = "grid", folds = folds,
                             budget = 9, score = "ols", intercept = "forced")
    expect_identical(by_problem$table, found$table)
  }
})

test_that("annealing and simplex share the budget and never exceed it", {
  pb <- tuning_problem(20)
  for (budget in c(1, 2, 3, 7, 20)) {
    for (method in c("csa+simplex", "grid")) {
      set.seed(2)
      found <- tune_lssvm(pb, solver = "lssvm", folds = "loo", method = method, budget = budget)
      expect_lte(nrow(found$table), budget)
      expect_identical(found$value, min(found$table$value))
      best <- found$table[which.min(found$table$value), ]
      expect_identical(c(found$gamma, found$sigma2), c(best$gamma, best$sigma2))
    }
  }
  set.seed(3)
  found <- tune_lssvm(pb, solver = "lssvm", folds = "loo")
  table <- found$table
  expect_identical(rle(table$stage)$values, c("csa", "simplex"))
  expect_identical(sum(table$stage == "csa"), 60L)
  start <- 2^log2(median(dist(scale(pb$x) * sqrt(20 / 19))^2))
  expect_equal(c(table$gamma[1], table$sigma2[1]), c(1, start))
  # the simplex starts from the best of annealing, half a unit away
  csa <- table[table$stage == "csa", ]
  simplex <- table[table$stage == "simplex", ]
  expect_equal(unlist(simplex[1, 1:3]), unlist(csa[which.min(csa$value), 1:3]))
  expect_equal(abs(log2(simplex$sigma2[2] / simplex$sigma2[1])), 0.5)
  expect_equal(abs(log2(simplex$gamma[3] / simplex$gamma[1])), 0.5)
  again <- one_by_one(pb, found$kernel, found$gamma, "loo")
  expect_equal(found$value, again)
})

test_that("with a kernel or gamma given the other is tuned", {
  pb <- tuning_problem()
  kernel <- kernel_polynomial(2)
  set.seed(4)
  found <- tune_lssvm(pb, solver = "lssvm", kernel = kernel, folds = "loo", budget = 30)
  expect_null(found$sigma2)
  expect_true(all(is.na(found$table$sigma2)))
  expect_identical(found$kernel$name, "polynomial")
  brute <- vapply(found$table$gamma, function(gamma) one_by_one(pb, kernel, gamma, "loo"), 0)
  expect_equal(found$table$value, brute, tolerance = 1e-6)
  grid <- tune_lssvm(pb, solver = "lssvm", kernel = kernel, folds = "loo", method = "grid",
                     budget = 31)
  expect_equal(grid$table$gamma, 2^(-10:20))
  expect_lte(found$value, grid$value * 1.001)

  width <- tune_lssvm(pb, solver = "lssvm", gamma = 3, folds = "loo", budget = 30)
  expect_identical(unique(width$table$gamma), 3)
  expect_identical(width$gamma, 3)
  expect_equal(width$value, one_by_one(pb, width$kernel, 3, "loo"))
  expect_identical(names(width$range$lower), "sigma2")
})

test_that("a precomputed kernel is the kernel it was computed by", {
  pb <- tuning_problem()
  x <- scale(pb$x) * sqrt(40 / 39)
  kernel <- kernel_gaussian(0.4)
  direct <- tune_lssvm(pb, solver = "lssvm", kernel = kernel, folds = "loo", method = "grid",
                       budget = 9)
  given <- tune_lssvm(kernel$values(x, x), pb$rows$y, solver = "lssvm", kernel = "precomputed",
                      folds = "loo", method = "grid", budget = 9, standardize = FALSE)
  expect_equal(given$table$value, direct$table$value, tolerance = 1e-6)
})

test_that("a wave in noise is learnt nearly to the noise", {
  set.seed(5)
  x <- matrix(runif(150, -3, 3))
  y <- sin(2 * x[, 1]) + rnorm(150, sd = 0.3)
  for (method in c("csa+simplex", "grid")) {
    found <- tune_lssvm(x, y, solver = "lssvm", folds = 5, budget = 60, method = method)
    expect_gt(found$value, 0.07)
    expect_lt(found$value, 0.11)
    # the standardised half wave is about 0.9 long
    expect_gt(found$sigma2, 0.1)
    expect_lt(found$sigma2, 20)
  }
})

test_that("set.seed() reproduces a tuning, units do not matter and folds are handed on", {
  pb <- tuning_problem()
  run <- function(pb, ...) {
    set.seed(6)
    tune_lssvm(pb, solver = "lssvm", budget = 40, ...)
  }
  first <- run(pb)
  expect_identical(run(pb)$table, first$table)
  other <- run(as_problem(pb$x * rep(c(2, 1e3, 0.1), each = 40) + 7, 1e4 * pb$rows$y + 3,
                          standardize = TRUE))
  expect_equal(other$table$gamma, first$table$gamma, tolerance = 1e-4)
  expect_equal(other$table$sigma2, first$table$sigma2, tolerance = 1e-4)
  expect_equal(other$table$value, 1e8 * first$table$value, tolerance = 1e-4)
  expect_s3_class(first$folds, "sparsels_folds")
  expect_equal(one_by_one(pb, first$kernel, first$gamma, first$folds), first$value)
  # formula, matrix and problem
  frame <- data.frame(pb$x, y = pb$rows$y[, 1])
  expect_identical(run(y ~ ., data = frame)$table, first$table)
  expect_identical(run(pb$x, y = frame$y)$table, first$table)
  set.seed(6)
  before <- .Random.seed
  tune_lssvm(pb, solver = "lssvm", folds = "loo", method = "grid", budget = 6)
  expect_identical(.Random.seed, before)
})

test_that("several responses and sparse columns are tuned as well", {
  set.seed(61)
  pb <- random_problem(30, 4, "two", sparse = TRUE, standardize = FALSE)
  found <- tune_lssvm(pb, solver = "lssvm", folds = "loo", method = "grid", budget = 12)
  brute <- mapply(function(gamma, sigma2) one_by_one(pb, kernel_gaussian(1 / sigma2), gamma, "loo"),
                  found$table$gamma, found$table$sigma2)
  expect_equal(found$table$value, brute, tolerance = 1e-6)
})

test_that("rows that are equal have no say in the width", {
  x <- rbind(matrix(1, 20, 2), cbind(c(1, 3, 3), c(3, 1, 3)))
  pb <- as_problem(x, sin(1:23), standardize = FALSE)
  expect_equal(typical_distance(kernel_scale(pb)), 4)
  pb$x[] <- 1
  expect_error(typical_distance(kernel_scale(pb)), "all rows of `x` are equal",
               class = "sparsels_error_input")
  # at most 500 rows are looked at
  long <- as_problem(cbind(c(1:1200)), sin(1:1200), standardize = FALSE)
  expect_equal(typical_distance(kernel_scale(long)),
               median(dist(round(seq(1, 1200, length.out = 500)))^2))
})

test_that("models that cannot be computed are passed over", {
  pb <- tuning_problem()
  set.seed(7)
  fragile <- function(problem, kernel, model) {
    function(sigma2, gamma) {
      if (sigma2 > 6) stop_singular("the model")
      ifelse(gamma > 2^8, NaN, (log2(gamma) - 9)^2 + sigma2)
    }
  }
  found <- with_binding("ridge_objective", fragile, tune_lssvm(pb, solver = "lssvm"))
  expect_lte(found$sigma2, 6)
  expect_lte(found$gamma, 2^8)
  expect_identical(is.na(found$table$value), found$table$sigma2 > 6 | found$table$gamma > 2^8)
  expect_output(print(found), "gamma: ")
  hopeless <- function(...) function(sigma2, gamma) NA
  expect_error(with_binding("ridge_objective", hopeless, tune_lssvm(pb, solver = "lssvm")),
               "no point tried", class = "sparsels_error_singular")
  # what is wrong for every point is not
  wrong <- function(...) function(sigma2, gamma) stop_input("no kernel")
  expect_error(with_binding("ridge_objective", wrong, tune_lssvm(pb, solver = "lssvm")),
               "no kernel", class = "sparsels_error_input")
})

test_that("Ctrl-C keeps the best so far", {
  pb <- tuning_problem()
  stopping <- function(after) {
    function(...) {
      function(sigma2, gamma) {
        after <<- after - length(gamma)
        if (after < 0) raise_interrupt()
        abs(log2(gamma)) + sigma2
      }
    }
  }
  run <- function(after, ...) {
    set.seed(8)
    with_binding("ridge_objective", stopping(after), tune_lssvm(pb, solver = "lssvm", ...))
  }
  expect_warning(found <- run(12), "the best of the 10 points tried so far",
                 class = "sparsels_interrupted")
  expect_identical(found$status, "interrupted")
  expect_identical(unique(found$table$stage), "csa")
  expect_identical(found$value, min(found$table$value))
  expect_output(print(found), "interrupted: ")
  expect_warning(found <- run(66), "the best of the 66 points", class = "sparsels_interrupted")
  expect_identical(sum(found$table$stage == "simplex"), 6L)
  expect_warning(run(30, method = "grid"), "the best of the 30 points",
                 class = "sparsels_interrupted")
  expect_identical(tryCatch(run(0), interrupt = function(e) "caught"), "caught")
})

test_that("a pursuit that was cut short is no point", {
  pb <- tuning_problem()
  calls <- 0
  short <- function(setup, columns, lambda, ...) {
    calls <<- calls + 1
    errors <- rbind(2, 1 / (calls + lambda), NA)
    list(criterion = errors, interrupted = calls == 4)
  }
  set.seed(12)
  expect_warning(
    found <- with_binding("fs_pursue", short, tune_lssvm(pb, method = "grid", budget = 31)),
    "the best of the 21 points", class = "sparsels_interrupted"
  )
  expect_equal(found$table$value, 1 / (rep(1:3, each = 7) + 1 / found$table$gamma))
})

test_that("a tuning is printed", {
  set.seed(9)
  x <- cbind(sin(1:30), cos(1:30 / 2))
  y <- factor(x[, 1] * x[, 2] > 0)
  expect_snapshot({
    tune_lssvm(x, y, solver = "lssvm", folds = rep(1:5, 6), method = "grid", budget = 12)
    tune_lssvm(x, x[, 1] + x[, 2]^2, solver = "lssvm", kernel = kernel_linear(), folds = "loo",
               method = "grid", budget = 10)
  })
})

test_that("a tuning is drawn as its points", {
  pb <- tuning_problem()
  set.seed(10)
  found <- tune_lssvm(pb, solver = "lssvm", budget = 30)
  data <- withVisible(plot(found, main = "mine"))
  expect_false(data$visible)
  expect_identical(data$value[names(found$table)], found$table)
  expect_identical(which(data$value$best), which.min(found$table$value))
  colours <- rank_colours(c(3, NA, 1, 2))
  expect_identical(colours[2], NA_character_)
  expect_identical(colours[c(3, 4, 1)], grDevices::hcl.colors(4, "viridis")[1:3])
  one <- tune_lssvm(pb, solver = "lssvm", kernel = kernel_linear(), budget = 10)
  expect_identical(nrow(plot(one)), nrow(one$table))
  single <- tune_lssvm(pb, solver = "lssvm", folds = "loo", budget = 1)
  expect_identical(nrow(plot(single)), 1L)
})

test_that("what tuning refuses", {
  pb <- tuning_problem(12)
  x <- pb$x
  y <- pb$rows$y[, 1]
  rbf <- kernel_gaussian(1)
  expect_snapshot({
    refusal(tune_lssvm(pb, method = "simplex"))
    refusal(tune_lssvm(pb, solver = "svm"))
    refusal(tune_lssvm(pb, budget = 0))
    refusal(tune_lssvm(pb, budget = "all"))
    refusal(tune_lssvm(pb, gamma = 0))
    refusal(tune_lssvm(pb, gamma = c(1, 2)))
    refusal(tune_lssvm(pb, kernel = rbf, gamma = 1))
    refusal(tune_lssvm(pb, kernel = kernel_gaussian(c(1, 2))))
    refusal(tune_lssvm(pb, kernel = "gaussian"))
    refusal(tune_lssvm(pb, folds = 1:5, solver = "lssvm"))
    refusal(tune_lssvm(pb, folds = 20, solver = "lssvm"))
    refusal(tune_lssvm(pb, folds = NULL, solver = "lssvm"))
    refusal(tune_lssvm(pb, intercept = TRUE))
    refusal(tune_lssvm(pb, score = "best"))
    refusal(tune_lssvm(pb, threads = 0))
    refusal(tune_lssvm(x, y, buget = 10))
    refusal(tune_lssvm(x, y, rbf))
    refusal(tune_lssvm(x, y[-1]))
  })
})
