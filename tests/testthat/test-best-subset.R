# best_subset() against all subsets, each refitted from the data.

# A function that gives R-squared of the model on some columns, by QR of the weighted data as the
# user has them.
refitter <- function(pb, lambda = 0) {
  x <- sweep(sweep(as.matrix(pb$x), 2, pb$columns$centre), 2, pb$columns$scale, "/")
  root_w <- sqrt(pb$rows$weight)
  x <- root_w * x
  z <- root_w * pb$z
  y <- root_w * pb$rows$y
  q <- ncol(z)
  objective <- function(design, y) sum(stats::.lm.fit(design, y, tol = 1e-9)$residuals^2)
  null <- if (q) objective(z, y) else sum(y^2)
  function(columns) {
    s <- length(columns)
    design <- cbind(z, x[, columns, drop = FALSE])
    if (lambda > 0) {
      design <- rbind(design, cbind(matrix(0, s, q), diag(sqrt(lambda), s)))
      y <- rbind(y, matrix(0, s, ncol(y)))
    }
    1 - objective(design, y) / null
  }
}

# the largest R-squared of each size, over all sets of usable columns
enumerate <- function(pb, k, lambda = 0) {
  usable <- which(pb$columns$usable)
  refit <- refitter(pb, lambda)
  vapply(seq_len(k), function(s) {
    max(utils::combn(length(usable), s, function(set) refit(usable[set])))
  }, 0)
}

expect_best <- function(pb, k, lambda = 0) {
  fit <- best_subset(pb, k = k, lambda = lambda)
  proof <- fit$proof
  sizes <- seq_len(nrow(proof))
  best <- enumerate(pb, k, lambda)
  expect_lt(relative_error(proof$r_squared, best[sizes]), 1e-9)
  expect_identical(proof$size, sizes)
  expect_identical(proof$gap, numeric(length(sizes)))
  expect_identical(proof$bound, proof$r_squared)
  expect_identical(fit$path$criterion[-1], proof$r_squared)
  expect_identical(fit$path$size, c(0L, sizes))
  refit <- refitter(pb, lambda)
  found <- vapply(sizes, function(s) refit(selected(fit, s, index = TRUE)), 0)
  expect_lt(relative_error(found, proof$r_squared), 1e-9)
  sets <- lapply(sizes, function(s) selected(fit, s, index = TRUE))
  expect_identical(lengths(sets), sizes)
  expect_false(any(vapply(sets, is.unsorted, NA, strictly = TRUE)))
  if (lambda == 0 && identical(pb$x[, 2], pb$x[, 5])) {
    expect_false(any(vapply(sets, function(set) all(c(2, 5) %in% set), NA)))
  }
  if (length(sizes) < k) expect_lt(max(best) - max(proof$r_squared), 1e-9)
  invisible(fit)
}

test_that("every size equals full enumeration", {
  set.seed(401)
  cases <- random_cover(8, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
                        covariates = c(FALSE, TRUE), intercept = c(TRUE, FALSE),
                        sparse = c(FALSE, TRUE), duplicate = c(TRUE, FALSE),
                        trap = c(TRUE, FALSE), lambda = c(0, 0, 0.3, 20), n = 6:9)
  for (i in seq_len(nrow(cases))) {
    case <- as.list(cases[i, ])
    pb <- do.call(random_problem, c(list(m = 20), case[names(case) != "lambda"]))
    expect_best(pb, min(5, sum(pb$columns$usable)), case$lambda)
  }
})

test_that("the branching sizes equal full enumeration", {
  set.seed(402)
  for (lambda in c(0, 0, 2)) {
    common <- rnorm(40)
    x <- matrix(rnorm(40 * 12), 40) + common
    pb <- as_problem(x, x %*% rnorm(12) + 6 * rnorm(40))
    fit <- expect_best(pb, 6, lambda)
    expect_gt(fit$proof$nodes[6], 1)
  }
})

test_that("more columns than rows, and a response that is fitted exactly", {
  set.seed(403)
  x <- matrix(rnorm(8 * 9), 8)
  expect_best(as_problem(x, rnorm(8)), 5)
  expect_best(as_problem(x, rnorm(8)), 6, lambda = 0.5)
  expect_best(as_problem(x, x[, 2] - x[, 9]), 5)
  expect_identical(selected(best_subset(x, x[, 2] - x[, 9], k = 2), index = TRUE), c(2L, 9L))
  wide <- matrix(rnorm(40 * 200), 40)
  fit <- best_subset(wide, wide[, 30] - wide[, 150] + rnorm(40) / 9, k = 2)
  expect_identical(selected(fit, index = TRUE), c(30L, 150L))
})

test_that("Proposition 1 of Qian, Yu and Zhou: the best pair is X1, X3", {
  set.seed(404)
  delta <- 0.6
  r2 <- 0.03
  r3 <- 0.5
  parts <- qr.Q(qr(cbind(1, matrix(rnorm(80), 20))))[, -1] # the last is noise
  X1 <- parts[, 1]
  X2 <- r2 * X1 + sqrt(1 - r2^2) * parts[, 2]
  X3 <- r3 * X2 + sqrt(1 - r3^2) * parts[, 3]
  x <- cbind(X1, X2, X3)
  b <- c(1, 1.03, 1.02) * delta # covariances with the response
  z <- x %*% solve(crossprod(x), b)
  z <- z + parts[, 4] * sqrt(1 - sum(z^2))
  fit <- best_subset(x, z, k = 3)
  expect_identical(selected(fit, 1), "X2")
  expect_identical(selected(fit, 2), c("X1", "X3"))
  expect_equal(fit$proof$r_squared[2] / delta^2, 2.0103, tolerance = 1e-4)
  pairs <- c(utils::combn(3, 2, refitter(as_problem(x, z))))
  expect_equal(pairs / delta^2, c(2.0009, 2.0103, 1.4009), tolerance = 1e-4)
})

test_that("agrees with lm()", {
  set.seed(405)
  d <- data.frame(matrix(rnorm(30 * 7), 30), y = rnorm(30))
  w <- runif(30, 0.5, 2)
  fit <- best_subset(y ~ ., data = d, weights = w, k = 4)
  for (s in 1:4) {
    model <- stats::lm(stats::reformulate(selected(fit, s), "y"), d, weights = w)
    expect_equal(fit$proof$r_squared[s], summary(model)$r.squared, tolerance = 1e-10)
    expect_equal(coef(fit, size = s), coef(model), tolerance = 1e-10)
  }
  expect_length(predict(fit, d[1:3, ], size = 2), 3)
})

test_that("identical columns: the lowest is taken, and copies never together", {
  set.seed(406)
  x <- matrix(rnorm(25 * 5), 25)
  y <- x %*% c(3, 2, 1, 0, 0) + rnorm(25)
  many <- cbind(x, -2 * x, x[, 3:1], 4)
  fit <- best_subset(many, y, k = 13)
  expect_identical(nrow(fit$proof), 5L)
  plain <- best_subset(x, y, k = 5)
  expect_equal(fit$proof$r_squared, plain$proof$r_squared, tolerance = 1e-12)
  for (s in 1:5) {
    expect_identical(selected(fit, s, index = TRUE), selected(plain, s, index = TRUE))
  }
  expect_identical(fit$status, "complete")
  # with a penalty a copy has a use; of copies the lowest come first
  fit <- expect_best(as_problem(cbind(x[, 5:3], x[, c(3, 3, 1)]), y), 4, lambda = 5)
  expect_false(any(vapply(1:4, function(s) {
    set <- selected(fit, s, index = TRUE)
    any(diff(c(3:5 %in% set, FALSE)) > 0)
  }, NA)))
})

test_that("covariates and an offset of the columns change nothing they should not", {
  set.seed(407)
  x <- matrix(rnorm(40 * 10), 40)
  y <- x[, 1] - x[, 7] + rnorm(40)
  fit <- best_subset(x, y, k = 6)
  order <- sample(10)
  moved <- best_subset((100 + 5 * x)[, order], 3 - 2 * y, k = 6)
  expect_equal(moved$proof$r_squared, fit$proof$r_squared, tolerance = 1e-10)
  for (s in 1:6) {
    expect_setequal(order[selected(moved, s, index = TRUE)], selected(fit, s, index = TRUE))
  }
})

# many columns that help a little
hard_problem <- function() {
  set.seed(408)
  x <- matrix(rnorm(60 * 30), 60) + rnorm(60) / 2
  as_problem(x, x %*% rnorm(30) + 10 * rnorm(60))
}

test_that("a limit of nodes leaves valid bounds", {
  pb <- hard_problem()
  whole <- best_subset(pb, k = 8)
  expect_identical(whole$status, "complete")
  gaps <- numeric()
  for (nodes in c(1, 2, 5, 20, 50)) {
    fit <- best_subset(pb, k = 8, nodes = nodes)
    proof <- fit$proof
    expect_identical(fit$status, "node_limit")
    expect_true(all(proof$nodes <= nodes))
    expect_true(all(proof$r_squared <= whole$proof$r_squared + 1e-12))
    expect_true(all(proof$bound >= whole$proof$r_squared - 1e-12))
    expect_identical(proof$gap, proof$bound - proof$r_squared)
    expect_identical(proof$gap[1:3], numeric(3))
    expect_gt(proof$gap[8], 0)
    expect_true(all(diff(proof$bound) >= 0))
    gaps <- c(gaps, proof$gap[8])
  }
  expect_lt(gaps[5], gaps[1])
  expect_output(print(fit), "stopped at 50 nodes a size: the sets? of size .* not proven")
  expect_identical(fit$path$action, c("start", ifelse(fit$proof$gap == 0, "found", "stopped")))
  expect_identical(unique(whole$path$action), c("start", "found"))
  expect_identical(best_subset(pb, k = 8, nodes = max(whole$proof$nodes))$proof, whole$proof)
  # the default limit is said, too
  with_binding("default_nodes", function(n, k) 40, expect_warning(
    by_default <- best_subset(pb, k = 8), "stopped at 40 nodes a size",
    class = "sparsels_warning_limit"
  ))
  expect_output(print(by_default), "stopped at 40 nodes a size")
})

test_that("the default number of nodes takes seconds, and is refused where it is hopeless", {
  expect_identical(default_nodes(20L, 10L), 2.5e7)
  expect_identical(default_nodes(668L, 10L), 670)
  expect_error(default_nodes(669L, 4L), "668 columns or fewer", class = "sparsels_error_argument")
  set.seed(411)
  x <- matrix(rnorm(30 * 700), 30)
  y <- rnorm(30)
  expect_snapshot(refusal(best_subset(x, y)))
  expect_identical(best_subset(x, y, k = 2)$status, "complete")
  expect_silent(few <- best_subset(x, y, k = 4, nodes = 2))
  expect_identical(few$status, "node_limit")
  # a limit that the user did not give is said
  with_binding("default_nodes", function(n, k) 2, {
    expect_warning(fit <- best_subset(x, y, k = 4), "the set of size 4 is not proven",
                   class = "sparsels_warning_limit")
    expect_silent(best_subset(x, y, k = 3))
  })
  expect_identical(fit$path, few$path)
  expect_identical(runs_of(c(4L, 6L, 7L, 9L)), "4, 6 to 7, 9")
})

test_that("Ctrl-C leaves the best sets found, with valid bounds", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(409)
  x <- matrix(rnorm(40 * 80), 40) # a search of hours
  y <- rnorm(40)
  bar <- function(done, total, ...) {
    expect_true(done >= 0 && done <= total)
    send_interrupt()
  }
  expect_warning(
    fit <- with_binding("progress_bar", function(...) bar, best_subset(x, y, k = 12)),
    class = "sparsels_interrupted"
  )
  expect_identical(fit$status, "interrupted")
  expect_identical(nrow(fit$proof), 12L)
  expect_gt(fit$proof$gap[12], 0)
  expect_identical(fit$path$action[13], "stopped")
  expect_output(print(fit), "interrupted: the sets of size .* to 12 are not proven")
  expect_lte(max(fit$proof$bound), 1)
  # the sets proven before the first look at the keyboard, on a busy machine those of one column
  expect_identical(fit$proof$gap[1], 0)
  expect_false(is.unsorted(fit$proof$gap > 0))
  expect_length(selected(fit, 12), 12)
})

test_that("bad input", {
  x <- cbind(a = c(1, 2, 3, 4, 5, 7), b = c(2, 1, 2, 1, 9, 3), flat = 1)
  y <- c(1, 3, 2, 5, 4, 6)
  expect_snapshot({
    refusal(best_subset(x, y, k = 0))
    refusal(best_subset(x[1:2, ], y[1:2]))
    refusal(best_subset(x, y, lambda = -1))
    refusal(best_subset(x, y, lambda = c(0, 1)))
    refusal(best_subset(x, y, lambda = NaN))
    refusal(best_subset(x, y, nodes = 0))
    refusal(best_subset(x, y, nodes = NA))
    refusal(best_subset(x, y, nodes = "all"))
    refusal(best_subset(x, y, progress = 1))
    refusal(best_subset(x, y, 2))
    refusal(best_subset(x, y, node = 5))
    refusal(best_subset(replace(x, 8, NA), y))
    refusal(best_subset(0 * x, y))
  })
  wide <- cbind(x[1:4, 1:2], c = c(1, 0, 0, 1))
  with_binding("whole_gram", 1L, expect_snapshot(refusal(best_subset(wide, y[1:4], k = 1))))
  expect_identical(best_subset(x, y, k = 1)$proof$size, 1L)
})

test_that("too few training rows are counted beside the rows that a column needs", {
  x <- matrix(c(2, 1, 4, 3, 1, 5), 3, dimnames = list(NULL, c("a", "b")))
  y <- c(1, 3, 2)
  expect_error(best_subset(x, y, weights = c(0, 1, 1)), class = "sparsels_error_input",
               "^2 training rows, but the model of one column needs 3: give more rows$")
  expect_error(forward_regression(x, y, adjust = c(1, 5, 2)), class = "sparsels_error_input",
               "^3 training rows, but .* with the covariates needs 4: .* or fewer covariates$")
})

test_that("thousands of columns are proved with a penalty, and hundreds without", {
  set.seed(410)
  x <- matrix(rnorm(50 * 1200), 50)
  y <- x[, 3] - x[, 700] + rnorm(50)
  fit <- best_subset(x, y, k = 4, lambda = 200)
  expect_identical(fit$tree, "dual bounds")
  expect_identical(fit$proof$gap, numeric(4))
  expect_identical(rowSums(fit$proof[c("certain_in", "certain_out", "undecided")]), rep(1200, 4))
  pb <- as_problem(x[, 1:25], y)
  expect_lt(relative_error(best_subset(pb, k = 3, lambda = 50)$proof$r_squared,
                           enumerate(pb, 3, 50)), 1e-9)
  tall <- matrix(rnorm(400 * 120), 400)
  y <- rowSums(tall[, 1:5]) + 4 * rnorm(400)
  fit <- with_binding("leaps_columns", 0L, best_subset(tall, y, k = 6))
  expect_identical(fit$tree, "dual bounds")
  expect_identical(fit$proof$gap, numeric(6))
  # leaps and bounds prove the same sets of correlated columns, of which the bound says little
  common <- matrix(rnorm(60 * 12), 60) + 3 * rnorm(60)
  pb <- as_problem(common, rowSums(common[, 1:4] * c(1, -1, 1, -1)) + rnorm(60))
  control <- subset_control(pb, 6, 0)
  control$progress <- FALSE
  both <- lapply(list(leaps_path, dual_path), function(path) {
    with_binding("leaps_columns", 0L, path(pb, control))$found$proof
  })
  expect_equal(both[[1]]$r_squared, both[[2]]$r_squared, tolerance = 1e-12)
  expect_identical(both[[2]]$gap, numeric(6))
  expect_output(print(best_subset(pb, k = 3)), "proof: by [a-z ]+, all of 3 sizes")
})
