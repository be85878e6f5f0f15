# Pairs: scores beside products made one by one, pairs of folds beside problems of their rows alone.

quietly <- function(code) {
  suppressWarnings(suppressMessages(code, "sparsels_message_curves"), "sparsels_warning_curves")
}

pair_data <- function(seed, m = 60, n = 4) {
  set.seed(seed)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, letters[seq_len(n)]))
  x[, n] <- rbinom(m, 2, 0.4)
  if (seed %% 2) x[, 1] <- exp(x[, 1])
  w <- if (seed %% 3 == 0) runif(m, 0.5, 2) else rep(1, m)
  if (seed %% 5 == 0) w[sample(m, 3)] <- 0
  y <- x[, 2] * x[, 3] + sin(x[, 1]) + x[, n] / 2 + rnorm(m) / 2
  if (seed %% 4 == 0) x[sample(length(x), 5)] <- NA
  list(x = x, y = y, w = w, ids = sample(rep_len(1:4, m)),
       make = function(rows = seq_len(m), interactions = 3, ...) {
         quietly(as_problem(x[rows, ], y[rows], weights = w[rows], missing = "mean",
                            smooth = c(a = 4, b = 6), interactions = interactions, ...))
       })
}

test_that("scores of pairs are the sums over their products, made one by one", {
  for (seed in 1:6) {
    set.seed(seed)
    m <- 40
    x <- matrix(rexp(m * 4), m)
    x[, 4] <- rbinom(m, 1, 0.5)
    w <- if (seed %% 2) runif(m) else replace(rep(1, m), 3:4, 0)
    r <- matrix(rnorm(m * (1 + seed %% 3)), m)
    factors <- apply(x, 2, oracle_pair_factors, simplify = FALSE)
    padded <- lapply(factors, function(one) cbind(one, if (ncol(one) == 1) 0))
    z <- cbind(sapply(padded, function(one) one[, 1]), sapply(padded, function(one) one[, 2]))
    found <- pair_chances(z, r, w)
    for (i in 1:3) for (j in (i + 1):4) {
      products <- oracle_pair_products(factors[[i]], factors[[j]])
      each <- apply(r, 2, function(one) oracle_pair_score(products, one, w))
      expect_equal(found[i, j], pchisq(sum(each["score", ]), sum(each["df", ]),
                                       lower.tail = FALSE, log.p = TRUE), tolerance = 1e-9)
    }
  }
})

test_that("products of ten rows are those by hand", {
  a <- c(1, 2, 4, 8, 9, 10, 12, 13, 14, 27)
  b <- rep(0:1, 5)
  z <- pmin((a - 10) / sqrt(mean((a - 10)^2)), 3)
  problem <- as_problem(cbind(a, b), c(1, 5, 2, 4, 3, 6, 9, 7, 8, 0),
                        interactions = list(c("a", "b")))
  at <- match("a x b", problem$columns$name)
  expect_equal(problem$x[, at], z * (2 * b - 1), tolerance = 1e-14)
  expect_equal(sum((a - 10)^2), 504)
  expect_identical(problem$columns$name[-(1:2)], c("a x b", "a~1 x b", "a x b~1", "a~1 x b~1"))
  expect_identical(problem$columns$usable, c(TRUE, TRUE, TRUE, TRUE, FALSE, FALSE))
})

test_that("residuals of the additive model are those of retraining without each row", {
  for (seed in c(1, 2, 3, 5, 9)) {
    d <- pair_data(seed, 40)
    problem <- d$make(seq_along(d$y))
    alone <- which(problem$columns$usable & is.na(problem$columns$pair))
    x <- sweep(sweep(problem$x[, alone], 2, problem$columns$centre[alone]), 2,
               sqrt(problem$columns$squares[alone] / sum(d$w)), "/")
    slow <- oracle_additive_residuals(x, d$y, d$w, problem$columns$roughness[alone],
                             4^(1:-5) * sum(d$w))
    expect_equal(drop(additive_residuals(problem)), ifelse(d$w > 0, slow, 0), tolerance = 1e-8)
  }
  # more columns than rows
  set.seed(4)
  x <- matrix(rnorm(200), 10)
  y <- rnorm(10)
  problem <- as_problem(x, y, interactions = 2)
  z <- scale(x) * sqrt(10 / 9)
  expect_equal(drop(additive_residuals(problem)),
               oracle_additive_residuals(z, y, rep(1, 10), rep(1, 20), 4^(1:-5) * 10),
               tolerance = 1e-8)
})

test_that("the pairs that are offered have the best scores", {
  for (seed in c(1, 2, 7, 11)) {
    d <- pair_data(seed, 80)
    problem <- quietly(as_problem(d$x, d$y, smooth = TRUE, interactions = 3))
    factors <- apply(d$x, 2, oracle_pair_factors, simplify = FALSE)
    pairs <- utils::combn(4, 2)
    chance <- apply(pairs, 2, function(ij) {
      found <- oracle_pair_score(oracle_pair_products(factors[[ij[1]]], factors[[ij[2]]]),
                            drop(additive_residuals(problem)), rep(1, 80))
      pchisq(found[1], found[2], lower.tail = FALSE, log.p = TRUE)
    })
    top <- order(chance)[1:3]
    expect_identical(pair_names(problem$pairs),
                     paste(letters[pairs[1, top]], "x", letters[pairs[2, top]]))
    expect_equal(problem$pairs$p, chance[top], tolerance = 1e-8)
    at <- which(problem$columns$pair == 1 & problem$columns$usable)
    expect_equal(problem$x[, at],
                 oracle_pair_products(factors[[pairs[1, top[1]]]], factors[[pairs[2, top[1]]]]),
                 tolerance = 1e-7, ignore_attr = TRUE)
  }
})

test_that("searches in folds screen the pairs of the rows without the fold", {
  others <- 0
  for (seed in problems_to_try(60, 6)) {
    d <- pair_data(seed)
    make <- function(rows = seq_along(d$y)) {
      d$make(rows, interactions = list(3, df = 2 + seed %% 3))
    }
    problem <- make()
    fit <- suppressWarnings(greedy_rls(problem, k = 3, lambda = 2, refit = FALSE, size = "min",
                                       size_folds = d$ids))
    scores <- matrix(NA, length(d$y), 4)
    for (fold in 1:4) {
      out <- which(d$ids == fold)
      alone <- make(-out)
      searched <- searched_problem(alone, fit$control)$columns$usable
      own <- bare_rls(alone[, searched], k = 3, lambda = 2)
      scores[out, ] <- suppressMessages(vapply(0:3, function(size) {
        predict(own, d$x[out, ], size = size)
      }, numeric(length(out))), "sparsels_message_beyond")
      part <- problem[-out, ]
      expect_identical(part$pairs, alone$pairs)
      expect_equal(part$x, alone$x, tolerance = 1e-12, ignore_attr = TRUE)
      expect_equal(part$columns, alone$columns, tolerance = 1e-9)
      expect_identical(part$coding$column_groups$names, alone$coding$column_groups$names)
      others <- others + !identical(pair_names(alone$pairs), pair_names(problem$pairs))
    }
    expect_equal(fit$path$cv, colSums(d$w * (d$y - scores)^2) / sum(d$w), tolerance = 1e-9)
    if (seed %% 10 == 1) expect_true(verify(fit, problem, claims = 30)$ok)
  }
  # folds do differ in the pairs that they offer
  expect_gt(others, 0)
})

test_that("outer folds screen pairs anew, and results name the pairs of each fold", {
  for (seed in 3:5) {
    d <- pair_data(seed)
    halves <- d$ids %% 2 + 1
    cvd <- cross_validate(d$make(), greedy_rls, outer = halves, k = 3, lambda = 2, refit = FALSE,
                          size = 3, size_folds = 3, baselines = NULL)
    scores <- 0 * d$y
    for (fold in 1:2) {
      out <- which(halves == fold)
      own <- greedy_rls(d$make(-out), k = 3, lambda = 2, refit = FALSE, size = 3, size_folds = 3)
      scores[out] <- suppressMessages(predict(own, d$x[out, ]), "sparsels_message_beyond")
      expect_identical(cvd$chosen[[match(fold, unique(halves))]], selected(own))
    }
    expect_equal(drop(cvd$held_out), scores, tolerance = 1e-9)
    counted <- table(unlist(cvd$chosen))
    expect_identical(cvd$frequency$count, as.vector(counted[cvd$frequency$name]))
  }
})

test_that("intervals of new rows are by the pairs of each fold", {
  for (seed in c(1, 4)) {
    d <- pair_data(seed)
    fit <- suppressWarnings(greedy_rls(d$make(), k = 3, lambda = 2, refit = FALSE, size = 3,
                                       size_folds = d$ids))
    new <- d$x[1:6, ]
    without <- predictions_without(fit, new)
    found <- without$at(1:6)
    for (part in 1:4) {
      own <- bare_rls(d$make(-without$pairs$row[without$pairs$part == part]), k = 3, lambda = 2)
      expect_equal(found[, 1, part], suppressMessages(predict(own, new, size = 3)),
                   tolerance = 1e-9, ignore_attr = TRUE)
    }
  }
})

test_that("a permuted response has the pairs that it screens", {
  d <- pair_data(2)
  problem <- d$make()
  null <- null_response(problem, "squared")
  for (draw in 1:5) {
    set.seed(draw)
    order <- sample(60)
    alone <- quietly(as_problem(d$x, d$y[order], smooth = c(a = 4, b = 6), missing = "mean",
                                interactions = 3))
    expect_identical(permuted_problem(null, order)$pairs, alone$pairs)
  }
  run <- new_run(greedy_rls, problem, list(size = "criterion", refit = FALSE, lambda = 2))
  expect_false(is_shared_search(run, bare_rls(problem, lambda = 2)))
  expect_true(is_shared_search(
    new_run(greedy_rls, d$make(interactions = NULL), run$arguments), bare_rls(problem, lambda = 2)
  ))
})

test_that("selections on halves are counted by the pairs that each half has screened", {
  d <- pair_data(2)
  problem <- d$make()
  set.seed(3)
  found <- stability_selection(problem, greedy_rls, pairs = 4, q = 3, threshold = 0.6)
  set.seed(3)
  each <- repeat_tasks(4, "pair", function(i) {
    first <- half_of(problem)
    lapply(list(first, setdiff(1:60, first)), function(rows) {
      selected(greedy_rls(d$make(rows), k = 3, lambda = mean_square(problem) / 4,
                          size = "criterion", refit = FALSE), size = 3)
    })
  }, FALSE, NULL)
  chosen <- unlist(each[1:4], recursive = FALSE)
  expect_setequal(unlist(lapply(seq_along(chosen), function(half) {
    setdiff(chosen[[half]], found$problem$columns$name[found$chosen[[half]]])
  })), character())
  share <- table(unlist(chosen)) / 8
  expect_equal(unname(found$probability[names(share)]), as.vector(share))
})

test_that("a column that is constant in a fold is in no pair there", {
  set.seed(12)
  x <- cbind(a = rnorm(40), b = rnorm(40), c = rep(c(0, 1), c(30, 10)), d = rnorm(40))
  y <- x[, "a"] * x[, "b"] + rnorm(40) / 4
  problem <- as_problem(x, y, interactions = 6)
  part <- problem[1:30, ]
  alone <- as_problem(x[1:30, ], y[1:30], interactions = 6)
  expect_identical(part$pairs, alone$pairs)
  without <- !grepl("c", pair_names(part$pairs))
  expect_identical(without, rep(c(TRUE, FALSE), each = 3))
  expect_false(any(part$columns$usable[which(part$columns$pair > 3)]))
  fit <- suppressWarnings(greedy_rls(problem, size_folds = rep(1:4, each = 10), k = 2))
  expect_true(all(is.finite(fit$path$cv)))
})

test_that("pairs that are given are these in all rows", {
  d <- pair_data(7)
  given <- list(c("b", "a"), c("c", "d"))
  problem <- d$make(interactions = given)
  expect_identical(pair_names(problem$pairs), c("a x b", "c x d"))
  expect_identical(pair_names(problem[1:40, ]$pairs), c("a x b", "c x d"))
  some <- problem[, c("a", "a~1", "a~2", "a~3", "c", "d",
                      problem$columns$name[which(problem$columns$pair == 2)])]
  expect_identical(pair_names(some$pairs), "c x d")
  expect_equal(some$x[, 7], problem$x[, match("c x d", problem$columns$name)],
               ignore_attr = TRUE)
  screened <- d$make()
  kept <- screened[, c("a", "c", "d", "b")]
  expect_null(kept$pairs)
  expect_error(problem[, "a x b"], "take 'a', too", class = "sparsels_error_input")
})

test_that("predictions held out are by all pairs of a path that grew in several rounds", {
  # the pairs of the second round are of other columns
  set.seed(1)
  x <- matrix(rnorm(400 * 60), 400, dimnames = list(NULL, paste0("v", 1:60)))
  odd <- 2 * (1:30) - 1
  y <- drop((x[, odd] * x[, odd + 1]) %*% seq(1, 0.7, length.out = 30)) + rnorm(400) / 8
  pairs <- lapply(odd, function(j) paste0("v", j + 0:1))
  fit <- quietly(greedy_rls(x, y, interactions = pairs, lambda = 10))
  expect_gt(fit$size, 20L)
  expect_equal(mean((y - fit$held_out)^2), fit$path$cv[fit$size + 1], tolerance = 1e-8)
})

test_that("pairs of a sparse matrix are made in silence, and are the pairs of its values", {
  set.seed(8)
  x <- matrix(rnorm(180), 30, dimnames = list(NULL, letters[1:6]))
  x[abs(x) < 0.4] <- 0
  y <- x[, 1] * x[, 2] + rnorm(30) / 4
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_no_message(pb <- as_problem(sparse, y, interactions = TRUE))
  expect_equal(as.matrix(pb$x), as_problem(x, y, interactions = TRUE)$x, ignore_attr = TRUE)
})

test_that("pairs of more functions are ridge models of their products, made one by one", {
  d <- pair_data(2, 80)
  frame <- data.frame(d$x, y = d$y)[complete.cases(d$x), ]
  frame$c <- exp(frame$c)
  for (q in 2:4) {
    problem <- as_problem(y ~ s(b, c, df = q) + s(a, d, df = 3), frame)
    made <- function(one, other, q) {
      curve <- function(v) if (length(unique(v)) > 6) oracle_curve(v)$p[seq_len(q)] else 1
      list(x = oracle_pair_products(oracle_pair_factors(one, q), oracle_pair_factors(other, q)),
           p = as.vector(curve(one) %o% curve(other)))
    }
    pairs <- list(made(frame$b, frame$c, q), made(frame$a, frame$d, 3))
    x <- cbind(as.matrix(frame[c("b", "c", "a", "d")]), pairs[[1]]$x, pairs[[2]]$x)
    p <- c(1, 1, 1, 1, pairs[[1]]$p, pairs[[2]]$p)
    usable <- problem$columns$usable
    expect_equal(sort(problem$columns$roughness[usable]), sort(p), tolerance = 1e-8)
    # every column of a pair is the product that its name says, with the penalty of both factors
    at <- match(c("b~1 x c", "b x c~1"), problem$columns$name)
    expect_equal(problem$x[, at], pairs[[1]]$x[, c(2, q + 1)], tolerance = 1e-8,
                 ignore_attr = TRUE)
    z <- scale(x) * sqrt(nrow(x) / (nrow(x) - 1))
    beta <- solve(crossprod(z) + diag(3 * p), crossprod(z, frame$y - mean(frame$y)))
    fitted <- mean(frame$y) + drop(z %*% beta)
    fit <- rls(problem, lambda = 3)
    expect_equal(predict(fit, frame), fitted, tolerance = 1e-8, ignore_attr = TRUE)
    hat <- z %*% solve(crossprod(z) + diag(3 * p), t(z))
    loo <- mean(((frame$y - fitted) / (1 - 1 / nrow(z) - diag(hat)))^2)
    expect_equal(panel_error(problem, features = unique(source_names(problem)), lambda = 3)$error,
                 loo, tolerance = 1e-8)
  }
  terms <- vapply(candidate_terms(problem, seq_len(ncol(problem))), deparse1, "")
  expect_setequal(terms, c("a", "b", "c", "d", "s(b, c, df = 4)", "s(a, d, df = 3)"))
  # the first products are the same whatever their number
  factors <- product_factors(1:16)
  for (q in 1:4) {
    expect_setequal(paste(factors[seq_len(q^2), 1], factors[seq_len(q^2), 2]),
                    outer(1:q, 1:q, paste))
  }
  few <- as_problem(y ~ s(b, df = 2) + s(b, c, df = 4), frame)
  names <- few$columns$name[few$columns$usable & is_of_pair(few)]
  expect_false(any(grepl("b~[23]", names)))
  expect_true("b~1 x c~3" %in% names)
})
