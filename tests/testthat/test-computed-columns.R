# Columns that are computed as they are read, beside the same columns in memory, and pairs of many
# rows, which are screened by products.

quietly <- function(code) suppressWarnings(suppressMessages(code))
computed <- function(code) with_binding("most_stored", 0, code)

curved_data <- function(seed, m = 150) {
  set.seed(seed)
  x <- cbind(a = rnorm(m), b = rexp(m), c = round(2 * rnorm(m)), d = rnorm(m), e = rep(0:1, m / 2))
  y <- sin(2 * x[, 1]) + log(0.1 + x[, 2]) + x[, 3] * x[, 4] + rnorm(m) / 2
  w <- replace(runif(m, 0.5, 2), c(3, which.max(x[, 1])), 0)
  list(x = x, y = y, w = if (seed %% 2) w else rep(1, m),
       gaps = replace(x, sample(m * 4, 9), NA), ids = sample(rep_len(1:5, m)))
}

expect_same_columns <- function(one, other) {
  expect_s3_class(one$x, "computed_matrix")
  expect_equal(as.matrix(one$x), as.matrix(other$x), tolerance = 1e-10, ignore_attr = TRUE)
  expect_identical(dimnames(one$x), dimnames(other$x))
  expect_equal(one$columns, other$columns, tolerance = 1e-10)
  expect_equal(one$curves, other$curves, tolerance = 1e-12)
  expect_equal(one$pairs, other$pairs, tolerance = 1e-8)
  expect_identical(one$coding, other$coding)
}

test_that("computed columns are the stored ones, also of parts, weights and new data", {
  for (seed in problems_to_try(6)) {
    d <- curved_data(seed)
    pairs <- list(NULL, 2, list(c("d", "c"), c("a", "e"), df = 4:3))[[seed %% 3 + 1]]
    make <- function() {
      quietly(as_problem(if (seed > 2) d$gaps else d$x, d$y, weights = d$w,
                         smooth = if (seed < 6) TRUE, penalty = c(a = 2, b = 0),
                         interactions = if (seed == 6) 2 else pairs,
                         missing = if (seed > 2) "mean" else "error"))
    }
    stored <- make()
    problem <- computed(make())
    expect_same_columns(problem, stored)
    kept <- c(5:60, 70:150)
    some <- problem$columns$name != "e" & !is_of_pair(problem)
    for (columns in list(seq_len(ncol(problem)), some)) {
      expect_same_columns(problem[kept, columns], stored[kept, columns])
    }
    expect_equal(filled_like(problem, problem[kept, ])$x[, ],
                 as.matrix(filled_like(stored, stored[kept, ])$x), tolerance = 1e-10,
                 ignore_attr = TRUE)
    expect_same_columns(computed(reweighted(problem, replace(d$w, 9, 0))),
                        reweighted(stored, replace(d$w, 9, 0)))
    fits <- lapply(list(problem, stored), function(problem) {
      quietly(greedy_rls(problem, k = 3, size_folds = d$ids))
    })
    for (part in c("size", "coefficients", "held_out", "fitted", "path", "terms")) {
      expect_equal(fits[[1]][[part]], fits[[2]][[part]], tolerance = 1e-8, info = part)
    }
    expect_equal(quietly(predict(fits[[1]], d$x[1:9, ] * 2)),
                 quietly(predict(fits[[2]], d$x[1:9, ] * 2)), tolerance = 1e-8)
    expect_true(verify(fits[[1]], problem, claims = 30)$ok)
    expect_equal(quietly(exchange(fits[[1]], problem))$table,
                 quietly(exchange(fits[[2]], stored))$table, tolerance = 1e-7)
  }
})

test_that("computed columns are read by all instruction sets", {
  d <- curved_data(1)
  problem <- computed(quietly(as_problem(d$x, d$y, smooth = TRUE, interactions = 2)))
  all <- as.matrix(problem$x)
  at <- c(1, 4, 7, ncol(all))
  for (width in c(1, 2, 4, 8)) {
    before <- use_simd(width)
    expect_equal(as.matrix(problem$x), all, tolerance = 1e-13)
    v <- cbind(d$w, d$y)
    expect_equal(column_moments(problem$x, d$w, TRUE, v - rep(colMeans(v), each = 150)),
                 column_moments(all, d$w, TRUE, v - rep(colMeans(v), each = 150)),
                 tolerance = 1e-12)
    found <- weighted_products(some_part(problem$x, columns = at), v)
    expect_equal(found[, , 2], crossprod(all[, at], d$y * all[, at]), tolerance = 1e-12,
                 ignore_attr = TRUE)
    use_simd(before)
  }
  expect_output(print(problem$x), "computed_matrix: 150 x .*, computed when read")
  expect_equal(problem$x[c(9, 2), "a~2"], all[c(9, 2), "a~2"], ignore_attr = TRUE)
})

# The residuals (rows x responses) of the ridge model of columns of variance 1 with penalties p, at
# the lambda of the least generalised cross-validation.
oracle_gcv_residuals <- function(x, y, w, p) {
  z <- cbind(1, x)
  each <- lapply(4^(1:-5) * sum(w), function(lambda) {
    inverse <- solve(crossprod(z, w * z) + diag(lambda * c(0, p)), t(z * w))
    r <- y - z %*% (inverse %*% y)
    list(r = r, gcv = sum(w * r^2) / (sum(w > 0) - sum(diag(inverse %*% z)))^2)
  })
  each[[which.min(vapply(each, `[[`, 0, "gcv"))]]$r
}

test_that("pairs of many rows are screened by products, of each training set anew", {
  others <- 0
  for (seed in 2:3) with_binding("placed_rows", 100L, {
    d <- curved_data(seed, 300)
    make <- function() {
      quietly(as_problem(d$x, d$y, weights = d$w, smooth = TRUE,
                         interactions = list(3, df = seed)))
    }
    problem <- if (seed > 2) computed(make()) else make()
    alone <- which(problem$columns$usable & !is_of_pair(problem))
    x <- scale(as.matrix(problem$x)[, alone], problem$columns$centre[alone],
               sqrt(problem$columns$squares[alone] / sum(d$w)))
    r <- oracle_gcv_residuals(x, d$y, d$w, problem$columns$roughness[alone])
    pairs <- utils::combn(names(problem$pairs$df), 2)
    chance <- apply(pairs, 2, function(ij) {
      factors <- lapply(ij, function(name) clipped_basis(problem$pairs$basis[[name]], d$x[, name]))
      found <- oracle_pair_score(oracle_pair_products(factors[[1]], factors[[2]]), r, d$w)
      stats::pchisq(found[1], found[2], lower.tail = FALSE, log.p = TRUE)
    })
    expect_equal(problem$pairs$p, sort(chance)[1:3], tolerance = 1e-7)
    fit <- quietly(greedy_rls(problem, k = 3, size_folds = d$ids, size = "min"))
    expect_true(fit$work$by_products)
    expect_true(verify(fit, problem, claims = 30)$ok)
    again <- quietly(greedy_rls(problem, k = 3, size_folds = d$ids, size = "min", threads = 2))
    expect_identical(again$coefficients, fit$coefficients)
    scores <- matrix(NA, length(d$y), 4)
    for (fold in 1:5) {
      out <- which(d$ids == fold)
      part <- problem[-out, ]
      expect_identical(part$pairs$basis, problem$pairs$basis)
      others <- others + !identical(pair_names(part$pairs), pair_names(problem$pairs))
      lambda <- fit$lambda / mean_square(problem) * mean_square(part)
      own <- with_binding("rows_of_products", Inf, {
        quietly(greedy_rls(part, k = 3, folds = d$ids[-out], size = "criterion", lambda = lambda,
                           refit = TRUE))
      })
      scores[out, ] <- vapply(0:3, function(size) {
        quietly(predict(own, problem[out, ], size = size))
      }, numeric(length(out)))
    }
    expect_equal(fit$path$cv, colSums(d$w * (d$y - scores)^2) / sum(d$w), tolerance = 1e-8)
  })
  expect_gt(others, 0)
})

test_that("curves and pairs of many pieces are the stored ones", {
  d <- curved_data(2)
  for (df in c(9L, 12L, 20L)) {
    make <- function() {
      quietly(as_problem(d$x, d$y, smooth = df, interactions = list(c("a", "b"), df = 4)))
    }
    expect_same_columns(computed(make()), make())
  }
})
