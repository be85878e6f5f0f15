# Pareto search: what its archives hold, and that they depend on the seed alone.

r_squared <- function(pb, set, lambda = 0) {
  x <- oracle_columns(pb, set)
  root_w <- sqrt(pb$rows$weight)
  total <- sum(qr.resid(qr(root_w * pb$z), root_w * pb$rows$y)^2)
  model <- oracle_ridge(pb, set, lambda)
  left <- root_w * (pb$rows$y - model$pred)
  1 - (sum(left^2) + lambda * sum(model$B^2)) / total
}

# the best set of a size, by trying all
best_of_size <- function(pb, size, lambda = 0) {
  usable <- which(pb$columns$usable)
  sets <- lapply(utils::combn(length(usable), size, simplify = FALSE), function(i) usable[i])
  max(vapply(sets, function(set) {
    if (qr(oracle_columns(pb, set))$rank < size) return(-Inf)
    r_squared(pb, set, lambda)
  }, 0))
}

search <- function(pb, ..., seed = 5) {
  set.seed(seed)
  poss(pb, ...)
}

test_that("every archived set has the R-squared of its columns, and none dominates another", {
  set.seed(131)
  cases <- random_cover(10, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), intercept = c(TRUE, FALSE),
                        sparse = c(TRUE, FALSE), lambda = c(0, 0, 2),
                        isolation = c("none", "first"), mutation = c("exchange", "flip"))
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    pb <- random_problem(30, 8, case$task, weights = case$weights, covariates = case$covariates,
                         intercept = case$intercept, sparse = case$sparse)
    fit <- search(pb, k = 3, lambda = case$lambda, isolation = case$isolation, restarts = 2,
                  mutation = case$mutation)
    where <- paste(names(case), unlist(case), collapse = " ")
    archive <- fit$archive
    exact <- vapply(archive$columns, function(set) r_squared(pb, set, case$lambda), 0)
    expect_equal(archive$criterion, exact, tolerance = 1e-8, label = where)
    expect_identical(archive$size, lengths(archive$columns))
    expect_lte(max(archive$size), if (case$mutation == "flip") 5 else 4)
    expect_false(any(vapply(archive$columns, anyDuplicated, 0L) > 0))
    expect_true(all(unlist(archive$columns) %in% which(pb$columns$usable)))
    first <- if (case$isolation == "first") vapply(archive$columns, `[`, 0L, 1) else 0
    for (group in split(archive, list(archive$search, first), drop = TRUE)) {
      group <- group[order(group$size), ]
      expect_identical(anyDuplicated(group$size), 0L)
      expect_true(all(diff(group$criterion) > 0), label = where)
    }
    # a column and its double add nothing to each other
    both <- vapply(archive$columns, function(set) all(c(2, 5) %in% set), NA)
    if (case$lambda == 0) expect_false(any(both))
    best <- tapply(archive$criterion, archive$size, max)
    expect_equal(fit$path$criterion[-1], as.vector(best), tolerance = 1e-8)
    expect_equal(fit$path$squared[nrow(fit$path)], oracle_squared(
      pb, fit$coefficients[[max(archive$size) + 1]]$features, max(case$lambda, 1e-12), fit$folds
    ), tolerance = 1e-6)
  }
})

test_that("the best subsets are found, and fitted", {
  set.seed(132)
  for (sparse in c(TRUE, FALSE)) {
    pb <- random_problem(40, 9, trap = TRUE, sparse = sparse, weights = TRUE)
    fit <- search(pb, k = 3)
    best <- vapply(1:3, function(size) best_of_size(pb, size), 0)
    expect_equal(fit$path$criterion[2:4], best, tolerance = 1e-9)
    expect_identical(fit$size, 3L)
    expect_identical(fit$iterations, 90)
    flips <- search(pb, k = 3, mutation = "flip")
    expect_equal(flips$path$criterion[2:4], best, tolerance = 1e-9)
    expect_identical(flips$iterations, floor(2 * exp(1) * 9 * sum(pb$columns$usable)))
    set <- fit$coefficients[[4]]$features
    model <- oracle_ridge(pb, set, 1e-14)
    expect_equal(unname(fitted(fit)), drop(model$pred), tolerance = 1e-8)
    expect_equal(predict(fit, pb$x), fitted(fit))
    expect_identical(selected(fit, 2), pb$columns$name[fit$coefficients[[3]]$features])
  }
})

test_that("a row that alone tells of a column is held out without that column", {
  x <- cbind(sin(1:20), c(rep(0, 19), 1), cos((1:20)^2))
  y <- x[, 1] + 3 * x[, 2] + cos(1:20) / 9
  fit <- search(x, y = y, k = 2)
  expect_identical(fit$coefficients[[3]]$features, c(1L, 2L))
  without <- lm(y ~ x[, 1], subset = -20)
  expect_equal(unname(fit$held_out[20, 1]), sum(coef(without) * c(1, x[20, 1])))
  inner <- lm(y ~ x[, 1], subset = -c(7, 20))
  expect_equal(unname(fit$held_out[7, 1]), sum(coef(inner) * c(1, x[7, 1])))
})

test_that("Proposition 1 of the paper", {
  # X1 = Y1, X_i = r_i X_(i-1) + Y_i with r = 0.03, 0.5; covariances with Z as in the paper
  C <- matrix(c(1, 0.03, 0.015, 0.03, 1, 0.5, 0.015, 0.5, 1), 3)
  delta <- 0.3
  b <- c(1, 1.03, 1.02) * delta
  set.seed(133)
  # 12 rows whose covariances are exactly these
  basis <- qr.Q(qr(cbind(1, matrix(rnorm(48), 12))))[, -1]
  both <- unname(basis %*% chol(rbind(cbind(C, b), c(b, 1))) * sqrt(12))
  fit <- search(both[, 1:3], y = both[, 4], k = 2)
  expect_identical(fit$coefficients[[3]]$features, c(1L, 3L))
  expect_equal(fit$path$criterion[3], 2.0103 * delta^2, tolerance = 1e-4)
  for (seed in 1:20) {
    single <- search(both[, 1:3], y = both[, 4], k = 2, restarts = 1, seed = seed)
    expect_identical(single$coefficients[[3]]$features, c(1L, 3L))
  }
})

test_that("exponentially decaying designs are solved with isolation", {
  set.seed(134)
  for (i in 1:3) {
    n <- 8
    r <- runif(n - 1, 0.3, 0.9)
    C <- diag(n)
    for (a in 1:(n - 1)) for (b in (a + 1):n) C[a, b] <- C[b, a] <- prod(r[a:(b - 1)])
    x <- matrix(rnorm(200 * n), 200) %*% chol(C)
    pb <- as_problem(x, drop(x %*% rnorm(n)) + rnorm(200))
    fit <- search(pb, k = 3, isolation = "first", iterations = 20000, restarts = 1)
    best <- vapply(1:3, function(size) best_of_size(pb, size), 0)
    expect_equal(fit$path$criterion[2:4], best, tolerance = 1e-9)
  }
})

test_that("the search depends on the seed, not on threads, nor on how X'X is made", {
  set.seed(31)
  pb <- random_problem(50, 20, duplicate = FALSE)
  sparse <- working_copy(pb)
  sparse$x <- methods::as(pb$x, "CsparseMatrix")
  for (mutation in c("exchange", "flip")) {
    run <- function(pb, ...) {
      search(pb, k = 4, mutation = mutation, iterations = if (mutation == "flip") 3000 else 60, ...)
    }
    in_parts <- function(...) with_binding("whole_gram", 0L, run(...))
    one <- run(pb)
    expect_identical(run(pb)$archive, one$archive)
    expect_identical(run(pb, threads = 2)$archive, one$archive)
    expect_false(identical(run(pb, seed = 6)$rng_state, one$rng_state))
    expect_equal(run(sparse)$archive, one$archive)
    lazy <- in_parts(pb)
    expect_equal(lazy$archive, one$archive)
    expect_identical(in_parts(pb, threads = 2)$archive, lazy$archive)
    expect_equal(in_parts(sparse)$archive, one$archive)
  }
})

test_that("update() goes on as if the search had not stopped", {
  x <- matrix(sin(1:900), 60)
  y <- cos(1:60) + x[, 3]
  cases <- list(list("flip", "none", 5000, 1234), list("flip", "first", 5000, 1234),
                list("exchange", "none", 50, 13))
  for (case in cases) {
    set.seed(7)
    whole <- poss(x, y, k = 4, iterations = case[[3]], restarts = 3, mutation = case[[1]],
                  isolation = case[[2]])
    set.seed(7)
    part <- poss(x, y, k = 4, iterations = case[[4]], restarts = 3, mutation = case[[1]],
                 isolation = case[[2]])
    before <- .Random.seed
    part <- update(part, iterations = case[[3]] - case[[4]])
    expect_identical(.Random.seed, before)
    expect_identical(part$archive, whole$archive)
    expect_identical(part$rng_state, whole$rng_state)
    expect_identical(part$iterations, whole$iterations)
    expect_equal(part$path, whole$path)
  }
  expect_identical(update(part)$iterations, part$iterations + 30 * 4)
  flips <- poss(x, y, k = 4, iterations = 1234)
  expect_identical(update(flips)$iterations, 1234 + floor(2 * exp(1) * 16 * 15))
})

test_that("a search by the other mutation takes over the sets it has room for", {
  set.seed(36)
  x <- matrix(rnorm(60 * 15), 60)
  y <- x[, 3] - x[, 5] + rnorm(60)
  flips <- poss(x, y, k = 4, iterations = 5000, restarts = 2)
  expect_gt(max(flips$archive$size), 5)
  more <- poss(x, y, k = 4, start = flips, mutation = "exchange", iterations = 20)
  expect_identical(more$iterations, 5020)
  expect_identical(more$control$mutation, "exchange")
  small <- function(fit) fit$path$criterion[fit$path$size <= 4]
  expect_gte(min(small(more) - small(flips)), -1e-12)
  expect_identical(max(more$archive$size), 5L)
})

test_that("exchanges find what few flips miss", {
  # two columns that explain y together and nothing alone, among many that explain a little
  set.seed(35)
  x <- matrix(rnorm(80 * 60), 80)
  x[, 7] <- x[, 40] + rnorm(80) / 20
  y <- 20 * (x[, 7] - x[, 40]) + rnorm(80) / 4
  x[, 1:6] <- y + 3 * rnorm(480)
  expect_identical(forward_regression(x, y, k = 2)$coefficients[[3]]$features[1] %in% 1:6, TRUE)
  fit <- search(x, y = y, k = 2, restarts = 1)
  expect_setequal(fit$coefficients[[3]]$features, c(7L, 40L))
  expect_equal(fit$path$criterion[3], summary(lm(y ~ x[, c(7, 40)]))$r.squared)
})

test_that("sets to start with are in the archive", {
  set.seed(32)
  x <- matrix(rnorm(60 * 10), 60, dimnames = list(NULL, letters[1:10]))
  y <- drop(x[, 1:4] %*% c(3, -2, 2, 1)) + rnorm(60) / 4
  fit <- search(x, y = y, k = 4, start = list(c("d", "a", "b", "c"), 7), iterations = 1,
                restarts = 2)
  expect_equal(max(fit$path$criterion), summary(lm(y ~ x[, 1:4]))$r.squared)
  expect_true(all(table(fit$archive$search) >= 2))
  single <- search(x, y = y, k = 4, start = c("a", "b"), iterations = 1)
  expect_gte(single$path$criterion[3], summary(lm(y ~ x[, 1:2]))$r.squared - 1e-12)
})

test_that("an interrupted search returns its archives", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(33)
  x <- matrix(rnorm(60 * 30), 60)
  y <- drop(x[, 1:4] %*% c(3, -2, 2, 1)) + rnorm(60)
  bar <- function(done, total, ...) {
    calls <<- calls + 1
    if (calls >= 2) send_interrupt()
  }
  for (mutation in c("flip", "exchange")) {
    calls <- 0
    expect_warning(
      fit <- with_binding("progress_bar", function(...) bar, {
        poss(x, y, k = 4, iterations = 1e9, mutation = mutation, restarts = 2, progress = TRUE)
      }),
      class = "sparsels_interrupted"
    )
    expect_identical(fit$status, "interrupted")
    expect_lt(fit$iterations, 1e9)
    expect_equal(fit$path$criterion[5], summary(lm(y ~ x[, 1:4]))$r.squared, tolerance = 0.1)
  }
})

test_that("bad input", {
  x <- matrix(sin(1:60), 12)
  x[, 4] <- 2
  y <- cos(1:12)
  expect_snapshot({
    refusal(poss(x, y, k = 0))
    refusal(poss(x, y, k = 2, lambda = -1))
    refusal(poss(x, y, k = 2, iterations = 0))
    refusal(poss(x, y, k = 2, restarts = 0))
    refusal(poss(x, y, k = 2, isolation = "last"))
    refusal(poss(x, y, k = 2, mutation = "swap"))
    refusal(poss(x, y, k = 2, mutation = "exchange", cost = 1:5))
    refusal(poss(x, y, k = 2, start = 4))
    refusal(poss(x, y, k = 2, start = list(c(1, 1))))
    refusal(poss(x, y, k = 2, start = 1:4))
    refusal(poss(x, y, k = 2, start = 9))
    refusal(poss(x, y, k = 2, start = poss(x, y, k = 3)))
    refusal(poss(x, y, k = 2, folds = 3))
  })
})

test_that("the printed fit", {
  fit <- search(matrix(sin((1:120)^2), 24), y = cos((1:24)^2), k = 2)
  expect_snapshot(fit)
})

test_that("what a search cannot start from", {
  x <- matrix(c(1, 2, 3, 4, 5, 7, 2, 1, 2, 1, 9, 3), 6)
  y <- c(1, 3, 2, 5, 4, 6)
  expect_snapshot({
    refusal(poss(x, y, k = 1, start = list(list(1))))
    refusal(poss(x, y, k = 1, start = list(NULL)))
    refusal(poss(x, y, k = 1, start = sum))
    refusal(poss(x, y, k = 1, start = structure(list(), class = c("poss", "sparse_fit"))))
  })
})

test_that("a search starts from any number of sets", {
  set.seed(37)
  x <- matrix(rnorm(60), 12)
  y <- x[, 2] + rnorm(12)
  run <- function(start) {
    set.seed(1)
    poss(x, y, k = 2, iterations = 1, restarts = 2, start = start)$archive
  }
  expect_identical(run(rep(list(4, 2:3), 20)), run(list(4, 2:3)))
})

test_that("flips are the paper's by default: their number, up to a limit that print() says", {
  set.seed(62)
  x <- matrix(rnorm(30 * 20), 30)
  y <- rnorm(30)
  paper <- floor(2 * exp(1) * 9 * 20)
  fit <- poss(x, y, k = 3, restarts = 2, mutation = "flip")
  expect_identical(fit$iterations, paper)
  expect_identical(poss(x, y, k = 3, isolation = "first")$iterations, paper)
  expect_identical(poss(x, y, k = 3, cost = rep(1, 20))$iterations, paper)
  expect_output(print(fit), "2 searches of 978 iterations\n")
  with_binding("max_iterations", 500, {
    short <- poss(x, y, k = 3, restarts = 1, mutation = "flip")
  })
  expect_identical(short$iterations, 500)
  expect_output(print(short), "1 search of 500 iterations, fewer than the 978 of the paper")
  set.seed(63)
  fit <- with_binding("max_iterations", 500, {
    poss(x, y, k = 3, restarts = 2, mutation = "flip")
  })
  set.seed(63)
  expect_identical(poss(x, y, k = 3, restarts = 2, iterations = 500)$archive, fit$archive)
})
