# Selection probabilities against a loop written down, bounds against published figures and brute
# force, and simulation.

made <- function(m = 60, n = 80, effects = c(3, 20)) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  list(x = x, y = rowSums(x[, effects, drop = FALSE]) + rnorm(m))
}

test_that("probabilities are those of a loop over halves", {
  set.seed(1)
  data <- made()
  set.seed(2)
  found <- stability_selection(data$x, data$y, greedy_rls, pairs = 6, q = 4, lambda = 10)
  set.seed(2)
  pb <- as_problem(data$x, data$y)
  count <- numeric(80)
  for (stream in task_streams(6)) {
    first <- with_stream(stream, half_of(pb))
    expect_length(first, 30)
    for (rows in list(first, setdiff(1:60, first))) {
      fit <- greedy_rls(data$x[rows, ], data$y[rows], k = 4, lambda = 10, size = "criterion",
                        refit = FALSE)
      chosen <- selected(fit, size = 4, index = TRUE)
      count[chosen] <- count[chosen] + 1
    }
  }
  expect_equal(unname(found$probability), count / 12)
  expect_identical(names(found$probability), colnames(data$x))
  expect_setequal(selected(found), colnames(data$x)[count / 12 >= 0.6])
  expect_identical(selected(found, index = TRUE), found$stable$feature)
  expect_equal(found$stability, stability(found$chosen, 80))
})

test_that("halves are disjoint, as large as each other, and have half of each class", {
  set.seed(3)
  pb <- as_problem(matrix(rnorm(200), 40), factor(rep(c("a", "b"), c(11, 29))))
  for (i in 1:20) {
    first <- half_of(pb)
    expect_length(first, 20)
    expect_true(sum(first <= 11) %in% c(5, 6))
  }
})

test_that("groups stay whole, in halves as equal as they allow", {
  set.seed(11)
  x <- matrix(rnorm(120), 60)
  patient <- sample(rep(1:20, 3))
  rare <- patient %in% 1:5
  for (y in list(rnorm(60), factor(rare), factor(rep(1:2, 30)))) {
    pb <- as_problem(x, y)
    firsts <- replicate(40, half_of(pb, patient), simplify = FALSE)
    for (first in firsts) {
      expect_false(any(patient[first] %in% patient[-first]))
      expect_length(first, 30)
    }
    if (identical(y, factor(rare))) {
      expect_true(all(vapply(firsts, function(first) sum(rare[first]) %in% c(6, 9), NA)))
    }
    expect_gt(length(unique(firsts)), 35)
    # every two patients are apart in about 10 of 19 splits
    apart <- vapply(firsts, function(first) sum(6:7 %in% patient[first]) == 1L, NA)
    expect_lt(abs(mean(apart) - 10 / 19), 0.3)
  }
  unequal <- rep(1:12, c(1:6, 6:1))
  pb <- as_problem(x[1:42, ], rnorm(42))
  for (i in 1:20) expect_true(abs(length(half_of(pb, unequal)) - 21) <= 3)
})

test_that("groups are those of the folds unless others are given", {
  set.seed(12)
  data <- made()
  patient <- rep(1:20, each = 3)
  folds <- make_folds(60, 5, groups = patient)
  run <- function(...) {
    set.seed(13)
    stability_selection(data$x, data$y, greedy_rls, pairs = 4, q = 3, lambda = 10, ...)
  }
  grouped <- run(folds = folds)
  expect_identical(grouped$groups, 20L)
  expect_identical(grouped$chosen, run(folds = folds, groups = patient)$chosen)
  expect_null(run(folds = folds, groups = FALSE)$groups)
  expect_null(run()$groups)
  set.seed(13)
  streams <- task_streams(4)
  pb <- as_problem(data$x, data$y)
  for (i in 1:4) {
    first <- with_stream(streams[[i]], half_of(pb, patient))
    fit <- bare_rls(data$x[first, ], data$y[first], k = 3, lambda = 10,
                    folds = folds$ids[first, 1])
    expect_identical(grouped$chosen[[2 * i - 1]], sort(selected(fit, size = 3, index = TRUE)))
  }
  weights <- rep(c(0, 1), c(9, 51))
  weighted <- run(groups = patient, weights = weights)
  expect_identical(weighted$groups, 17L)
})

test_that("bounds are the published ones", {
  expect_equal(unname(chance_bounds(10, 2000, 0.6, 50)),
               c(0.25, 0.1315789474, 0.0330349422), tolerance = 1e-8)
  expect_equal(unname(chance_bounds(20, 2000, 0.75, 50)),
               c(0.4, 0.2040816327, 0.0477223985), tolerance = 1e-8)
  expect_equal(unname(chance_bounds(30, 7129, 0.8, 50)),
               c(0.2104081919, 0.1039664007, 0.0199582906), tolerance = 1e-8)
  expect_equal(concave_tail(1e-4, 0.8, 50, -1 / 2), 6.2655e-06, tolerance = 1e-4)
})

# distributions with f^r convex, drawn at random, of the mean wanted: none has a larger tail
test_that("no r-concave distribution has a larger tail", {
  set.seed(4)
  B <- 12
  for (r in c(-1 / 2, -1 / 4)) {
    for (t in c(0.25, 0.5, 0.9)) {
      bound <- vapply(c(0.05, 0.1, 0.2), concave_tail, 0, t = t, B = B, r = r)
      for (trial in problems_to_try(80, 40)) {
        g <- cumsum(c(runif(1, 0.01, 1), cumsum(rexp(B)^sample(1:4, 1))))
        f <- g^(1 / r) / sum(g^(1 / r))
        eta <- sum(f * (0:B)) / B
        limit <- concave_tail(eta, t, B, r)
        expect_lte(sum(f[0:B >= t * B - 1e-9]), limit + 1e-9)
      }
      expect_true(all(diff(bound) > 0))
    }
  }
})

test_that("the default q has a bound of at most one chance selection", {
  set.seed(5)
  data <- made(m = 200, n = 60)
  found <- stability_selection(data$x, data$y, omp, pairs = 10)
  expect_lte(found$bounds[["r_concave"]], 1)
  expect_gt(r_concave_bound(found$q + 1L, 60, 0.6, 10), 1)
  expect_true(all(c("g3", "g20") %in% selected(found)))
})

test_that("false selections stay within the bounds", {
  skip_on_cran()
  set.seed(6)
  false <- replicate(max(problems_to_try(40)), {
    data <- made(m = 50, n = 100, effects = 1:2)
    found <- stability_selection(data$x, data$y, greedy_rls, pairs = 10, q = 6)
    c(sum(!found$stable$name %in% c("g1", "g2")), found$bounds[["meinshausen_buehlmann"]])
  })
  expect_lte(mean(false[1, ]), false[2, 1])
})

test_that("stability is 1 for equal lists, about 0 for random ones, and that of the formula", {
  expect_equal(stability(list(1:3, 3:1, 1:3), 50), 1)
  set.seed(7)
  random <- replicate(200, stability(replicate(10, sample(40, 5), simplify = FALSE), 40))
  expect_lt(abs(mean(random)), 0.02)
  sets <- list(c(1, 2), c(2, 3, 5), integer(), c("2", "9"))
  Z <- t(vapply(sets, function(set) as.numeric(1:10 %in% set), numeric(10)))
  k <- mean(rowSums(Z))
  expect_equal(stability(sets, 10), 1 - mean(apply(Z, 2, var)) / (k / 10 * (1 - k / 10)))
  expect_identical(stability(list(integer(), integer()), 10), NA_real_)
})

test_that("signs and ranks are those of the coefficients on the halves", {
  set.seed(11)
  data <- made()
  fits <- list()
  keeps <- function(problem, k) {
    fit <- omp(problem, k = k)
    fits[[length(fits) + 1]] <<- fit
    fit
  }
  found <- stability_selection(data$x, data$y, keeps, pairs = 5, q = 3)
  for (half in 1:10) {
    model <- fits[[half]]$coefficients[[4]]
    own <- found$halves[found$halves$half == half, ]
    at <- match(own$feature, model$features)
    expect_identical(own$sign, unname(sign(model$beta[at, 1])))
    size <- abs(model$beta[at, 1]) * found$problem$columns$scale[own$feature]
    expect_equal(own$rank, rank(-size), ignore_attr = TRUE)
  }
  own <- found$halves[found$halves$feature == found$stable$feature[1], ]
  expect_identical(found$stable$positive[1], mean(own$sign > 0))
  expect_equal(found$stable$rank[1], sort(own$rank)[ceiling(nrow(own) / 2)])
  drawn <- plot(found, what = "ranks")
  expect_identical(drawn$rank[1], found$stable$rank[1])
  numbers <- stability_selection(data$x, data$y, function(problem, k) 1:2, pairs = 2, q = 2)
  expect_true(all(is.na(numbers$stable$rank)))
  expect_error(plot(numbers, what = "ranks"), "coefficients", class = "sparsels_error_argument")
})

test_that("correlated columns are named beside a stable one", {
  set.seed(8)
  data <- made()
  data$x[, 4] <- data$x[, 3] + 0.1 * rnorm(60)
  found <- stability_selection(data$x, data$y, omp, pairs = 10, q = 5)
  expect_match(found$stable$correlated[found$stable$name == "g3"], "g4")
})

test_that("Ctrl-C keeps the pairs done", {
  set.seed(9)
  data <- made()
  count <- 0
  stops <- function(problem, k) {
    count <<- count + 1
    if (count == 6) raise_interrupt()
    omp(problem, k = k)
  }
  expect_warning(found <- stability_selection(data$x, data$y, stops, pairs = 20, q = 2),
                 class = "sparsels_interrupted")
  expect_identical(found$pairs, 2L)
  expect_length(found$chosen, 4)
})

test_that("what is printed, drawn and refused", {
  set.seed(10)
  data <- made()
  found <- stability_selection(data$x, data$y, greedy_rls, pairs = 10, q = 3)
  grouped <- stability_selection(data$x, data$y, omp, pairs = 15, q = 1, groups = rep(1:5, 12))
  drawn <- plot(found, main = "a title")
  expect_identical(drawn$probability, sort(drawn$probability, decreasing = TRUE))
  expect_identical(generics::glance(found)$stable, nrow(found$stable))
  expect_identical(sum(generics::tidy(found)$stable), nrow(found$stable))
  expect_snapshot({
    print(found)
    print(grouped)
    refusal(stability_selection(data$x, data$y, rls))
    refusal(stability_selection(data$x, data$y, greedy_rls, k = 3))
    refusal(stability_selection(data$x, data$y, greedy_rls, q = 0))
    refusal(stability_selection(data$x, data$y, greedy_rls, threshold = 0.5))
    refusal(stability_selection(data$x[1:4, ], data$y[1:4], greedy_rls))
    refusal(stability_selection(data$x, data$y, greedy_rls, groups = rep(1, 60)))
    refusal(stability_selection(data$x, data$y, greedy_rls, groups = 1:3))
    refusal(stability_selection(data$x, data$y, greedy_rls, q = 20,
                                groups = rep(1:4, c(30, 10, 10, 10))))
    refusal(selected(found, size = 2))
    refusal(stability(list(1:2), 5))
    refusal(stability(list(1:2, 3:8), 5))
  })
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(found)), "ggplot_built")
})

test_that("what are no column numbers is refused", {
  set.seed(30)
  pb <- as_problem(matrix(rnorm(20 * 6), 20), rnorm(20))
  for (answer in list(c(1, 1), 7, 0, -1, 1.5, c(2, NA))) {
    expect_error(stability_selection(pb, function(x, k) answer, pairs = 2, q = 1),
                 "different column numbers from 1 to 6", class = "sparsels_error_method")
  }
  none <- stability_selection(pb, function(x, k) integer(), pairs = 2, q = 1)
  expect_identical(sum(none$probability), 0)
})

test_that("the unimodal bound is given where its theorem holds", {
  # Shah and Samworth 2013, Theorem 2: thresholds from 1 / 2 + 1 / B on
  for (pairs in 1:9) expect_identical(chance_bounds(5, 50, 0.6, pairs)[["unimodal"]], NA_real_)
  expect_equal(chance_bounds(5, 50, 0.6, 10)[["unimodal"]], 0.01 * 50 / (2 * (0.2 - 0.05)))
  expect_identical(chance_bounds(5, 50, 0.55, 5)[["unimodal"]], NA_real_)
  bounds <- vapply(1:30, function(pairs) chance_bounds(5, 50, 0.75, pairs), numeric(3))
  expect_true(all(is.finite(bounds) & bounds > 0 | is.na(bounds)))
  expect_false(anyNA(bounds["unimodal", 4:30]))
})

test_that("a method that returns more than q columns has the bounds of that number", {
  set.seed(1)
  x <- matrix(rnorm(45 * 50), 45)
  y <- rnorm(45)
  expect_warning(found <- stability_selection(x, y, function(problem, k) 1:9, q = 2, pairs = 10),
                 "9 columns on a half, more than `q` = 2", class = "sparsels_warning_size")
  expect_identical(found$q, 9L)
  expect_equal(found$bounds[["meinshausen_buehlmann"]], 9^2 / (0.2 * 50))
  expect_output(print(found), "chose 9 columns on each half")
})

test_that("no size is chosen on a half, which may have too few groups for folds", {
  set.seed(8)
  x <- matrix(rnorm(60 * 6), 60)
  pb <- as_problem(x, x[, 2] + rnorm(60), groups = rep(1:4, 15))
  found <- stability_selection(pb, omp, pairs = 3, q = 2)
  expect_identical(lengths(found$chosen), rep(2L, 6))
  expect_error(stability_selection(pb, fs_lssvm, pairs = 1), "a path of models by size",
               class = "sparsels_error_method")
  expect_error(permutation_test(pb, fs_lssvm, permutations = 2), "a path of models with their",
               class = "sparsels_error_method")
})

test_that("halves screen their own pairs where values are missing", {
  set.seed(10)
  x <- matrix(rnorm(60 * 5), 60, dimnames = list(NULL, letters[1:5]))
  pb <- as_problem(replace(x, c(3, 77, 205), NA), x[, 1] * x[, 2] + rnorm(60) / 2,
                   missing = "mean", interactions = TRUE)
  found <- stability_selection(pb, greedy_rls, pairs = 3, q = 1)
  expect_true("a x b" %in% found$stable$name)
})

test_that("pairs are counted by name on every half, and bounds count all that are screened", {
  set.seed(12)
  x <- matrix(rnorm(80 * 12), 80, dimnames = list(NULL, paste0("v", 1:12)))
  finer <- list(TRUE, df = 3)
  pb <- as_problem(x, x[, 9] * x[, 11] + x[, 2] + rnorm(80) / 2, interactions = finer)
  set.seed(3)
  found <- stability_selection(pb, greedy_rls, pairs = 4, q = 4, progress = FALSE)
  set.seed(3)
  terms <- lapply(unlist(lapply(task_streams(4), function(stream) {
    first <- with_stream(stream, half_of(pb))
    list(first, setdiff(1:80, first))
  }), recursive = FALSE), function(rows) {
    half <- as_problem(x[rows, ], pb$rows$y[rows], interactions = finer)
    fit <- greedy_rls(half, k = 4, lambda = null_values(pb, "squared")$unit / 4, refit = FALSE,
                      size = "criterion")
    unit_names(fit$problem, distinct_units(fit$problem, model_of(fit, 4)$features))
  })
  named <- lapply(found$chosen, function(feature) unit_names(found$problem, feature))
  expect_identical(lapply(named, sort), lapply(terms, sort))
  expect_true("v9 x v11" %in% found$stable$name)
  expect_equal(found$bounds[["meinshausen_buehlmann"]], 4^2 / (0.2 * (12 + choose(12, 2))))
  expect_equal(found$stability, stability(terms, 12 + choose(12, 2)))
  table <- tidy(found)
  expect_false(any(is.nan(table$positive)))
})

test_that("bounds hold for columns that are drawn at random, also more than half of them", {
  # of one pair a column is stable where both independent halves have it, q / p each
  for (q in 2:4) {
    bounds <- sparsels:::chance_bounds(q, 5, 0.6, 1)
    expected <- 5 * (q / 5)^2
    expect_gte(min(bounds, na.rm = TRUE), expected - 1e-9)
    expect_lte(max(bounds, na.rm = TRUE), 5)
  }
  # independent pairs: the number of halves that have a column is binomial
  for (q in 1:4) for (B in c(2, 5, 20)) for (tau in c(0.6, 0.75, 0.9)) {
    chance <- 5 * pbinom(ceiling(2 * B * tau - 1e-9) - 1, 2 * B, q / 5, lower.tail = FALSE)
    if (q / 5 <= tau) expect_gte(min(sparsels:::chance_bounds(q, 5, tau, B), na.rm = TRUE),
                                 chance - 1e-9)
  }
})

test_that("halves of a table of low rank have no column that others determine", {
  set.seed(31)
  z <- matrix(rnorm(100 * 3), 100)
  x <- cbind(z, z %*% matrix(rnorm(27), 3), z[, 2])
  y <- z[, 1] + z[, 2] + rnorm(100) / 3
  chosen <- stability_selection(x, y, greedy_rls, pairs = 5, q = 6)
  ranks <- vapply(chosen$chosen, function(set) qr(x[, set])$rank, 0L)
  expect_identical(ranks, lengths(chosen$chosen))
  expect_output(print(chosen), "chose up to 6 columns on each half", fixed = TRUE)
  full <- stability_selection(x[, 1:3], y, greedy_rls, pairs = 5, q = 2)
  expect_output(print(full), "chose 2 columns on each half", fixed = TRUE)
})

test_that("a method that sets the argument that it is called with is refused by name", {
  set.seed(32)
  x <- matrix(rnorm(200), 40)
  own <- function(problem, ...) greedy_rls(problem, k = 2, ...)
  expect_error(stability_selection(x, x[, 1], own, pairs = 2),
               "`method` is called with `k` and also sets it", class = "sparsels_error_argument")
  expect_error(cross_validate(x, x[, 1], own, k = 1), "`k` and also sets it",
               class = "sparsels_error_argument")
})
