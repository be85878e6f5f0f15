# Rankings within queries, beside models of written-out pairs of rows.

# Unequal queries in no order, a covariate that moves with them, a column constant in each.
ranking_data <- function(queries = 12, n = 6, weights = TRUE) {
  size <- c(1L, sample(2:8, queries - 1L, TRUE))
  query <- sample(rep(seq_len(queries), size))
  m <- length(query)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("x", seq_len(n)))) +
    3 * rnorm(queries)[query]
  x[, n] <- query / 7
  list(x = x, query = query, v = if (weights) runif(m, 0.5, 2) else rep(1, m),
       z = cbind(age = rnorm(m) + query),
       y = round(x[, 1] - x[, 2] + rnorm(m) + 5 * rnorm(queries)[query], 1))
}

ranking_problem <- function(d, ...) {
  as_problem(d$x, d$y, weights = d$v, adjust = d$z, within = d$query, ...)
}

test_that("a ranking has the numbers that were worked out for it", {
  i <- 1:12
  x <- cbind(sin(i), cos(2 * i), (i %% 5) / 5)
  y <- ((7 * i) %% 11) / 3
  query <- rep(1:3, 3:5)
  pb <- as_problem(x, y, weights = 1 + (i %% 3) / 2, within = query, standardize = FALSE)
  beta <- c(-0.0203380756, 1.1820127893, 0.4465398915)
  held_out <- c(0.7234727339, -0.4524669822, -0.1802751366, 0.2758131200, 0.0162563837,
                0.2091871157, -0.4369463754, 0.2141913444, 0.5760876200, -0.5154897143,
                -0.3247957474, 0.4183557576)
  linear <- rls(pb, lambda = 0.5)
  expect_lt(max(abs(coef(linear) - beta)), 5e-11)
  kernel <- kernel_rls(pb, kernel = kernel_linear(), lambda = 0.5)
  search <- bare_rls(pb, k = 3, lambda = 0.5)
  expect_lt(max(abs(coef(search, size = 3)[c("V1", "V2", "V3")] - beta)), 5e-11)
  expect_lt(max(abs(residuals(linear, "held_out") - held_out)), 5e-11)
  expect_lt(max(abs(residuals(kernel, "held_out") - held_out)), 5e-11)
  expect_lt(abs(search$path$criterion[4] - 0.1600047078), 5e-11)
  expect_lt(abs(linear$path$criterion - 0.1600047078), 5e-11)
  expect_equal(search$folds$label, "leave-query-out")
  # 17 of 19 pairs, counted without weights
  counted <- pb
  counted$rows$weight[] <- 1
  expect_equal(ranked_pairs(counted, cbind(y - held_out)), c(17, 19))
})

test_that("searches equal models of pairs, with weights, covariates and folds of several queries", {
  set.seed(1)
  for (case in 1:4) {
    d <- ranking_data()
    pb <- ranking_problem(d, standardize = case %% 2 == 0)
    expect_false(pb$columns$usable[[6]])
    ids <- if (case <= 2) d$query else d$query %% 4
    for (criterion in c("squared", "concordance")) {
      fit <- bare_rls(pb, k = 3, lambda = 0.7, folds = if (case <= 2) "loo" else ids,
                      criterion = criterion)
      for (size in c(1, 3)) {
        set <- selected(fit, size = size, index = TRUE)
        columns <-
          cbind(d$z, d$x[, set, drop = FALSE] / rep(pb$columns$scale[set], each = nrow(d$x)))
        b <- oracle_ranker(columns, d$y, d$query, d$v, 1, 0.7)
        expect_equal(unname(coef(fit, size = size)), c(b[1], b[-1] / pb$columns$scale[set]),
                     tolerance = 1e-10)
        score <- oracle_held_out_scores(columns, d$y, d$query, d$v, 1, 0.7, ids)
        own <- if (criterion == "squared") oracle_pair_loss else oracle_order
        expect_equal(fit$path$criterion[size + 1], own(score, d$y, d$query, d$v),
                     tolerance = 1e-10)
        expect_equal(fit$path$squared[size + 1], oracle_pair_loss(score, d$y, d$query, d$v),
                     tolerance = 1e-10)
      }
    }
  }
})

test_that("the next column is the best of all by either criterion", {
  set.seed(2)
  d <- ranking_data(8)
  pb <- ranking_problem(d, standardize = FALSE)
  for (criterion in c("squared", "concordance")) {
    fit <- bare_rls(pb, k = 2, lambda = 0.3, criterion = criterion, keep = 5)
    first <- fit$path$feature[2]
    value <- vapply(setdiff(1:5, first), function(j) {
      score <- oracle_held_out_scores(cbind(d$z, d$x[, c(first, j)]), d$y, d$query, d$v, 1, 0.3,
                                      d$query)
      if (criterion == "squared") oracle_pair_loss(score, d$y, d$query, d$v) else
        1 - oracle_order(score, d$y, d$query, d$v)
    }, 0)
    best <- if (criterion == "squared") fit$path$criterion[3] else 1 - fit$path$criterion[3]
    expect_equal(best, min(value), tolerance = 1e-10)
  }
})

test_that("every search is that on data centred by hand, also where candidates are skipped", {
  set.seed(3)
  d <- ranking_data(40, 90, weights = FALSE)
  pb <- as_problem(d$x, d$y, within = d$query)
  about <- function(v) v - ave(v, d$query)
  centred <- as_problem(apply(d$x[, -90], 2, about), about(d$y), intercept = FALSE)
  expect_true(prod(dim(pb)) < 25000)
  for (search in c("forward", "backward", "floating", "forward_backward")) {
    fit <- bare_rls(pb, k = 4, lambda = 2, search = search)
    own <- bare_rls(centred, k = 4, lambda = 2, search = search, folds = d$query)
    expect_identical(fit$path$name, own$path$name)
    expect_equal(fit$path$criterion, own$path$criterion, tolerance = 1e-10)
  }
  with_binding("skipping_pays", function(problem) TRUE, {
    fit <- bare_rls(pb, k = 6, lambda = 2)
    own <- bare_rls(centred, k = 6, lambda = 2, folds = d$query)
  })
  expect_identical(fit$path$name, own$path$name)
  expect_equal(fit$path$criterion, own$path$criterion, tolerance = 1e-10)
})

test_that("kernel expansions are centred within queries", {
  set.seed(4)
  d <- ranking_data(7, 3)
  pb <- ranking_problem(d, standardize = FALSE)
  d$x <- d$x[, 1:2]
  pb <- pb[, 1:2]
  kernel <- kernel_gaussian(0.2)
  K <- kernel_matrix(kernel, d$x, d$x)
  rows <- seq_along(d$y)
  for (basis in list(rows, c(3, 8, 14))) {
    fit <- kernel_rls(pb, kernel = kernel, lambda = 0.4, basis = basis,
                      shift = if (length(basis) > 3) "auto" else 0)
    # coefficients a with the penalty lambda a'Ka are B = C a, K = C'C
    C <- chol(K[basis, basis] + diag(1e-11, length(basis)))
    columns <- cbind(d$z, K[, basis] %*% solve(C))
    b <- oracle_ranker(columns, d$y, d$query, d$v, 1, 0.4)
    expect_equal(unname(fitted(fit)), centre_within(pb, drop(columns %*% b)), tolerance = 1e-6)
    expect_equal(unname(coef(fit)[1]), b[1], tolerance = 1e-6)
    if (length(basis) > 3) {
      score <- oracle_held_out_scores(columns, d$y, d$query, d$v, 1, 0.4, d$query)
      expect_equal(unname(d$y - residuals(fit, "held_out") - centre_within(pb, score)),
                   d$y - centre_within(pb, d$y), tolerance = 1e-6)
      expect_equal(fit$path$criterion, oracle_pair_loss(score, d$y, d$query, d$v),
                   tolerance = 1e-6)
      expect_equal(cv_error(fit, criterion = "concordance")$criterion,
                   oracle_order(score, d$y, d$query, d$v), tolerance = 1e-8)
      own <- which(d$query == 5)
      expect_equal(c(holdout(fit, own)), score[own] - weighted.mean(score[own], d$v[own]),
                   tolerance = 1e-6)
    }
  }
})

test_that("a concordance is that of survival::concordance(), in small and large queries", {
  skip_if_not_installed("survival")
  set.seed(5)
  for (m in c(20, 45, 400)) {
    y <- round(rnorm(m), if (m == 45) 2 else 1)
    score <- round(y + rnorm(m), 1)
    query <- sample(1:3, m, TRUE)
    w <- runif(m)
    strata <- survival::strata
    own <- survival::concordance(y ~ score + strata(query), weights = w, timewt = "n")
    pb <- as_problem(cbind(score), y, weights = w, within = query)
    pairs <- ranked_pairs(pb, cbind(score))
    count <- colSums(rbind(own$count))
    expect_equal(pairs, unname(c(count["concordant"] + count["tied.x"] / 2,
                                 sum(count[c("concordant", "discordant", "tied.x")]))))
    expect_equal(pairs[1] / pairs[2], oracle_order(score, y, query, w))
    expect_equal(ordered_pairs(as_problem(cbind(score), y, weights = w), cbind(score)),
                 unname(with(list(count = survival::concordance(y ~ score, weights = w)$count),
                             c(count[1] + count[3] / 2, sum(count[1:3])))))
  }
})

test_that("a search by concordance serves any numbers, in folds of many rows", {
  set.seed(6)
  x <- matrix(rnorm(150 * 5), 150)
  y <- round(exp(x[, 2] + rnorm(150)), 1)
  folds <- rep_len(1:3, 150)
  fit <- bare_rls(x, y, k = 2, lambda = 1, folds = folds, criterion = "concordance")
  set <- selected(fit, size = 2, index = TRUE)
  score <- numeric(150)
  for (f in 1:3) {
    part <- rls(as_problem(x[, set], y, standardize = FALSE)[folds != f, ], lambda = 1)
    scaled <- as_problem(x[, set] / rep(fit$problem$columns$scale[set], each = 150), y,
                         standardize = FALSE)[folds != f, ]
    part <- rls(scaled, lambda = 1)
    score[folds == f] <- predict(part, x[folds == f, set] /
                                   rep(fit$problem$columns$scale[set], each = 50))
  }
  expect_equal(fit$path$criterion[3], oracle_order(score, y, folds, rep(1, 150)))
  expect_true(all(diff(fit$path$criterion[1:2]) > 0))
  # of two classes it is the area under the curve
  class <- factor(y > 1)
  codes <- 2 * (y > 1) - 1
  auc <- bare_rls(x, class, k = 3, lambda = 1, folds = folds, criterion = "auc")
  own <- bare_rls(x, codes, k = 3, lambda = 1, folds = folds, criterion = "concordance",
                  task = "regression")
  expect_equal(own$path$criterion, auc$path$criterion)
  expect_identical(own$path$name, auc$path$name)
})

test_that("x of any kind gives the same, by any number of threads", {
  set.seed(7)
  d <- ranking_data(15, 70)
  d$x <- round(d$x * (abs(d$x) > 1)) + 0
  d$x[, 70] <- d$query
  fit_to <- function(x, ...) {
    pb <- as_problem(x, d$y, weights = d$v, adjust = d$z, within = d$query)
    list(pb = pb, fit = bare_rls(pb, k = 4, lambda = 1, ...), linear = rls(pb, lambda = 1))
  }
  dense <- fit_to(d$x)
  path <- tempfile()
  on.exit(unlink(path))
  whole <- d$x
  storage.mode(whole) <- "integer"
  others <- list(Matrix::Matrix(d$x, sparse = TRUE), float_matrix(d$x), whole,
                 write_file_matrix(d$x, path, "double"))
  for (x in others) {
    other <- fit_to(x)
    expect_equal(other$pb$columns$rss, dense$pb$columns$rss, tolerance = 1e-12)
    expect_identical(other$pb$columns$usable, dense$pb$columns$usable)
    expect_equal(other$pb$columns$scale, dense$pb$columns$scale, tolerance = 1e-12)
    expect_equal(other$fit$path, dense$fit$path, tolerance = 1e-10)
    expect_equal(unname(coef(other$linear)), unname(coef(dense$linear)), tolerance = 1e-8)
  }
  expect_s4_class(fit_to(others[[1]])$pb$x, "dgCMatrix")
  expect_identical(fit_to(d$x, threads = 2)$fit$path, dense$fit$path)
  with_binding("skipping_pays", function(problem) TRUE, {
    for (x in c(list(d$x), others)) {
      expect_equal(fit_to(x)$fit$path, dense$fit$path, tolerance = 1e-9)
    }
  })
})

test_that("columns far from 0 lose no digits, and those constant in each query are excluded", {
  set.seed(8)
  d <- ranking_data(20, 4)
  far <- d
  far$x <- d$x + 1e7
  far$x[, 4] <- 0.1 * d$query
  near <- bare_rls(ranking_problem(d), k = 3, lambda = 1)
  expect_equal(bare_rls(ranking_problem(far), k = 3, lambda = 1)$path$criterion,
               near$path$criterion, tolerance = 1e-7)
  expect_identical(ranking_problem(far)$columns$usable, c(TRUE, TRUE, TRUE, FALSE))
  # nor where queries lie far apart and candidates are skipped
  query <- rep(1:60, each = 5)
  x <- matrix(rnorm(300 * 90), 300)
  y <- x[, 1] - x[, 5] + rnorm(300)
  near <- bare_rls(x, y, within = query, k = 5, lambda = 1)
  far <- bare_rls(x + 1e5 * matrix(rnorm(60 * 90), 60)[query, ], y, within = query, k = 5,
                  lambda = 1)
  expect_identical(far$path$name, near$path$name)
  expect_equal(far$path$criterion, near$path$criterion, tolerance = 1e-9)
})

test_that("rows of weight 0 are as if they were not there, and have scores", {
  set.seed(9)
  d <- ranking_data(15, 4)
  idle <- c(2, 5, which(d$query == 7))
  weighted <- d
  weighted$v[idle] <- 0
  kept <- lapply(d, function(part) {
    if (is.matrix(part)) part[-idle, , drop = FALSE] else part[-idle]
  })
  fit <- bare_rls(ranking_problem(weighted), k = 3, lambda = 1)
  own <- bare_rls(ranking_problem(kept), k = 3, lambda = 1)
  expect_equal(fit$path$criterion, own$path$criterion)
  expect_equal(coef(fit), coef(own))
  expect_equal(unname(residuals(fit, "held_out")[-idle]), unname(residuals(own, "held_out")))
  score <- predict(fit, d$x, adjust = d$z)
  expect_equal(unname(fitted(fit)), unname(centre_within(fit$problem, score)))
})

test_that("the queries go where the rows go", {
  set.seed(10)
  d <- ranking_data(10, 4)
  pb <- ranking_problem(d)
  part <- pb[d$query %in% 2:6, 1:3]
  expect_identical(as.character(part$rows$query), as.character(d$query[d$query %in% 2:6]))
  expect_identical(nlevels(part$rows$query), 5L)
  fit <- greedy_rls(pb, k = 3, size = 3, lambda = 1)
  path <- tempfile()
  on.exit(unlink(path))
  saveRDS(fit, path)
  expect_identical(predict(readRDS(path), d$x[1:3, ], adjust = d$z[1:3, , drop = FALSE]),
                   predict(fit, d$x[1:3, ], adjust = d$z[1:3, , drop = FALSE]))
  expect_equal(unname(predict(fit, d$x, adjust = d$z)),
               drop(cbind(d$z, d$x[, selected(fit)]) %*% coef(fit)))
  expect_named(coef(fit), c("age", selected(fit)))
  # a problem is new data to any fit
  other <- greedy_rls(d$x, d$y, k = 1, size = 1)
  expect_identical(unname(predict(other, as_problem(d$x, d$y, within = d$query))),
                   unname(predict(other, d$x)))
  data <- data.frame(d$x, y = d$y, age = d$z[, 1], query = letters[d$query])
  same <- list(
    as_problem(y ~ ., data, within = query, adjust = ~ age),
    as_problem(y ~ ., data, within = ~ query, adjust = ~ age),
    as_problem(y ~ ., data, within = "query", adjust = ~ age),
    as_problem(data[1:4], data$y, data = data, within = ~ query, adjust = ~ age),
    as_problem(data[1:4], data$y, data = data, within = "query", adjust = ~ age)
  )
  for (one in same) {
    expect_identical(one$columns$name, paste0("x", 1:4))
    expect_identical(one$rows$query, same[[1]]$rows$query)
    expect_equal(one$columns$rss, same[[1]]$columns$rss)
  }
  rows <- d$query != 3
  cut <- as_problem(y ~ ., data, within = query, adjust = ~ age, subset = query != "c")
  expect_identical(as.character(cut$rows$query), data$query[rows])
  fit <- greedy_rls(y ~ x1 + x2, data, within = query, k = 2, size = 2)
  expect_equal(coef(fit), coef(greedy_rls(data[c("x1", "x2")], data$y, within = data$query, k = 2,
                                          size = 2)))
})

test_that("cross-validation, comparison and permutation keep queries whole", {
  set.seed(11)
  d <- ranking_data(16, 5)
  pb <- ranking_problem(d)
  outer <- d$query %% 4
  cv <- cross_validate(pb, rls, lambda = 1, outer = outer,
                       measure = c("concordance", "squared", "ndcg@3")[1:2])
  columns <- function(rows) {
    scale <- pb[rows, ]$columns$scale
    cbind(d$z, d$x[, 1:4] / rep(scale[1:4], each = nrow(d$x)))
  }
  score <- numeric(length(d$y))
  for (rows in split(seq_along(d$y), outer)) {
    at <- columns(-rows)
    b <- oracle_ranker(at, d$y, d$query, d$v, 1, 1, seq_along(d$y)[-rows])
    score[rows] <- at[rows, ] %*% b
  }
  expect_equal(cv$estimate[["mean"]], oracle_order(score, d$y, d$query, d$v))
  expect_equal(cv$estimates$mean[2], oracle_pair_loss(score, d$y, d$query, d$v))
  expect_equal(unname(predict(cv$fit, d$x, adjust = d$z) - predict(rls(pb, lambda = 1), d$x,
                                                                    adjust = d$z)),
               numeric(length(d$y)))
  test <- permutation_test(pb, greedy_rls, k = 2, lambda = 1, permutations = 9)
  expect_match(test$permuted, "within each of 16 strata")
  compared <- compare_methods(pb, methods = list(greedy_rls = list(greedy_rls, k = 2), rls = rls),
                              splits = 2)
  for (rows in compared$test_rows) {
    expect_false(any(d$query[rows] %in% d$query[-rows]))
  }
  expect_identical(compared$measure, "concordance")
})

test_that("NDCG is as worked out by hand", {
  y <- c(3, 2, 0, 1, 0, 0, 2, 1)
  query <- c(1, 1, 1, 1, 2, 2, 3, 3)
  pb <- as_problem(cbind(1:8 + 0), y, within = query, task = "regression")
  score <- cbind(c(4, 3, 2, 1, 1, 2, 1, 1))
  discount <- 1 / log2(2:5)
  first <- sum(c(7, 3, 0, 1) * discount) / sum(c(7, 3, 1, 0) * discount)
  third <- sum(c(2, 2) * discount[1:2]) / sum(c(3, 1) * discount[1:2])
  expect_equal(gain_sums(pb, score), c(first + third, 2))
  expect_equal(gain_sums(pb, score, 2), c(1 + third, 2))
  classes <- as_problem(cbind(1:8 + 0), factor(y > 0), within = query)
  expect_equal(gain_sums(classes, score, 1)[2], 2)
  expect_identical(classes$coding$task, "regression")
})

test_that("verify() finds every claim of rankings true, and exchanges are searches", {
  set.seed(14)
  d <- ranking_data(10, 5)
  pb <- ranking_problem(d)
  fits <- suppressWarnings(list(
    greedy_rls(pb, k = 2, size_folds = 4), bare_rls(pb, k = 3, criterion = "concordance"),
    bare_rls(pb, search = "floating"), rls(pb, lambda = c(0.5, 2)),
    kernel_rls(pb, kernel = kernel_gaussian(0.1), lambda = 1)
  ))
  for (fit in fits) expect_true(verify(fit, pb, claims = 30, progress = FALSE)$ok)
  plain <- bare_rls(d$x, d$y, k = 2, criterion = "concordance", folds = d$query %% 4)
  expect_true(verify(plain, d$x, d$y, progress = FALSE)$ok)
  broken <- fits[[2]]
  broken$path$criterion[2] <- broken$path$criterion[2] * 1.001
  expect_false(verify(broken, pb, claims = 1e4, progress = FALSE)$ok)
  expect_snapshot(refusal(verify(fits[[2]], as_problem(d$x, d$y, weights = d$v, adjust = d$z))))
  others <- exchange(fits[[2]], pb, size = 2, lambda = fits[[2]]$lambda)
  swap <- which(!is.na(others$drop) & !is.na(others$add))[1]
  set <- setdiff(c(selected(fits[[2]], size = 2), others$add[swap]), others$drop[swap])
  columns <-
    cbind(d$z, d$x[, set] / rep(pb$columns$scale[match(set, pb$columns$name)], each = nrow(d$x)))
  score <- oracle_held_out_scores(columns, d$y, d$query, d$v, 1, fits[[2]]$lambda, d$query)
  expect_equal(others$criterion[swap], oracle_order(score, d$y, d$query, d$v))
  expect_identical(problem_of_fit(fits[[1]], d$x, d$y)$rows$query, pb$rows$query)
})

test_that("columns without penalty are covariates about the means of queries, in folds too", {
  set.seed(15)
  d <- data.frame(matrix(rnorm(40 * 5), 40), query = rep(1:10, each = 4))
  y <- d$X1 + rnorm(40) + d$query
  pb <- as_problem(as.matrix(d[1:5]), y, within = d$query, penalty = c(0, 0, 1, 1, 1))
  fit <- greedy_rls(pb, size_folds = 5)
  adjusted <- as_problem(as.matrix(d[3:5]), y, within = d$query, adjust = as.matrix(d[1:2]))
  expect_equal(fit$path$cv, greedy_rls(adjusted, size_folds = fit$size_folds)$path$cv)
  # the model without columns by hand, about the means of queries
  centred <- apply(cbind(as.matrix(d[1:2]), y), 2, function(v) v - ave(v, d$query))
  off <- unlist(lapply(split(1:40, fit$size_folds$ids), function(rows) {
    b <- lm.fit(centred[-rows, 1:2], centred[-rows, 3])$coefficients
    centred[rows, 3] - centred[rows, 1:2] %*% b
  }))
  expect_equal(fit$path$cv[1], mean(off^2))
  expect_true(verify(fit, pb, claims = Inf)$ok)
})

test_that("a file gives what memory gives, the procedure in folds included", {
  set.seed(15)
  d <- ranking_data(12, 5)
  path <- tempfile()
  on.exit(unlink(path))
  in_file <- as_problem(write_file_matrix(d$x, path, "double"), d$y, weights = d$v, adjust = d$z,
                        within = d$query)
  pb <- ranking_problem(d)
  outer <- d$query %% 3
  own <- suppressWarnings(cross_validate(pb, greedy_rls, k = 2, outer = outer, size_folds = 3))
  other <- suppressWarnings(cross_validate(in_file, greedy_rls, k = 2, outer = outer,
                                           size_folds = 3))
  expect_equal(other$estimate, own$estimate)
  expect_equal(other$held_out, own$held_out)
  expect_equal(other$fit$path, own$fit$path)
  expect_equal(other$fit$held_out, own$fit$held_out)
})

test_that("residuals, deviance and tidy forms are about the means of queries", {
  set.seed(16)
  d <- ranking_data(10, 4)
  fit <- bare_rls(ranking_problem(d), k = 2, lambda = 1)
  about <- function(v) v - ave(d$v * v, d$query, FUN = sum) / ave(d$v, d$query, FUN = sum)
  score <- predict(fit, d$x, adjust = d$z)
  expect_equal(unname(residuals(fit)), about(d$y - score))
  expect_equal(deviance(fit), sum(d$v * about(d$y - score)^2))
  expect_equal(deviance(fit, newdata = d$x, adjust = d$z), deviance(fit))
  table <- augment(fit, data.frame(d$x))
  expect_equal(table$.resid, unname(residuals(fit)))
  expect_equal(table$.fitted, about(unname(score)))
  expect_snapshot(refusal(logLik(bare_rls(ranking_problem(d), k = 1, lambda = 1), size = 0)))
})

test_that("what cannot be ranked is refused", {
  set.seed(12)
  d <- ranking_data(6, 4)
  x <- d$x
  y <- d$y
  q <- d$query
  pb <- as_problem(x, y, within = q)
  expect_snapshot({
    refusal(as_problem(x, y, within = q[-1]))
    refusal(as_problem(x, y, within = replace(q, 3, NA)))
    refusal(as_problem(x, y, within = "query"))
    refusal(as_problem(x, y, data = data.frame(a = q), within = "query"))
    refusal(as_problem(x, y, data = data.frame(a = q), within = ~ query + 1))
    refusal(as_problem(x, y, within = y ~ q))
    refusal(as_problem(x, y, within = seq_along(y)))
    refusal(as_problem(x, y, within = rep("all", length(y))))
    refusal(as_problem(x, q, within = q, task = "regression"))
    refusal(as_problem(x, y, within = q, adjust = cbind(age = q / 7)))
    refusal(as_problem(x, letters[q], within = q))
    refusal(as_problem(cbind(q / 7), y, within = q))
    refusal(greedy_rls(pb, folds = seq_along(y) %% 3))
    refusal(greedy_rls(pb, folds = 7))
    refusal(greedy_rls(pb, criterion = "absolute"))
    refusal(greedy_rls(pb, criterion = function(y, prediction, fold) 0))
    refusal(cross_validate(pb, rls, measure = "absolute"))
    refusal(greedy_rls(x, y, criterion = "concordance"))
    refusal(l1_path(pb))
    refusal(forward_regression(x, y, within = q))
    refusal(learning_curve(pb, rls))
    refusal(judge(pb, greedy_rls))
    refusal(permutation_test(pb, greedy_rls, groups = q))
    refusal(holdout(rls(pb), which(q == 2)[1]))
    refusal(cv_error(rls(pb), basis = "skip"))
    refusal(cross_validate(as_problem(x, -abs(y), within = q), rls, measure = "ndcg"))
  })
})

test_that("a ranking is printed in plain words", {
  set.seed(13)
  d <- ranking_data(6, 4)
  expect_snapshot({
    ranking_problem(d)
    as_problem(d$x, factor(d$y > 0), within = d$query)
    bare_rls(ranking_problem(d), k = 2, lambda = 1)
  })
})

test_that("columns of an effect are chosen within three queries", {
  chosen <- function(effect, criterion) {
    vapply(1:12, function(seed) {
      set.seed(seed)
      query <- rep(1:3, each = 20)
      x <- matrix(rnorm(60 * 10), 60)
      y <- effect * (2 * x[, 1] + x[, 2]) + rnorm(60) + rnorm(3)[query]
      suppressWarnings(greedy_rls(x, round(2 * y), within = query, criterion = criterion)$size)
    }, 0L)
  }
  for (criterion in c("squared", "concordance")) {
    expect_gte(sum(chosen(1, criterion) >= 2), 11)
    expect_gte(sum(chosen(0, criterion) == 0), 10)
  }
})
