sizes <- function(folds) unname(sort(tabulate(folds$ids[, 1])))

test_that("leave-one-out draws nothing", {
  set.seed(1)
  before <- .Random.seed
  loo <- make_folds(5, "loo")
  expect_s3_class(loo, c("sparsels_folds", "sparsels_object"), exact = TRUE)
  expect_named(loo, c("ids", "loo", "label", "groups", "together"))
  expect_identical(loo$ids, matrix(1:5))
  expect_true(loo$loo)
  expect_identical(loo$label, "leave-one-out")
  expect_identical(make_folds(5, 5), loo)
  expect_identical(make_folds(5, c("e", "d", "c", "b", "a")), loo)
  expect_identical(.Random.seed, before)
})

test_that("drawn folds are balanced and follow the seed", {
  set.seed(2)
  folds <- make_folds(23, 5)
  expect_identical(sizes(folds), c(4L, 4L, 5L, 5L, 5L))
  expect_false(folds$loo)
  expect_identical(folds$label, "5-fold")
  set.seed(2)
  expect_identical(make_folds(matrix(0, 23, 2), 5), folds)
  expect_identical(dim(make_folds(23, 5, repeats = 3)$ids), c(23L, 3L))
  expect_identical(make_folds(23, 5, repeats = 3)$label, "5-fold, repeated 3 times")
  repeats <- make_folds(23, 5, repeats = 2)$ids
  expect_false(identical(repeats[, 1], repeats[, 2]))
  expect_identical(ncol(make_folds(30)$ids), 1L)
  expect_identical(make_folds(30)$label, "10-fold")
})

test_that("strata are spread evenly, and so are the sizes", {
  set.seed(3)
  strata <- rep(c("a", "b", "c"), c(4, 11, 8))
  folds <- make_folds(23, 5, strata = strata, repeats = 4)
  expect_identical(folds$label, "5-fold, stratified, repeated 4 times")
  for (r in 1:4) {
    counts <- table(folds$ids[, r], strata)
    expect_lte(max(apply(counts, 2, function(count) diff(range(count)))), 1)
    expect_lte(diff(range(rowSums(counts))), 1)
  }
})

test_that("classes of a problem are the default strata", {
  set.seed(4)
  y <- rep(c("no", "yes"), c(20, 10))
  pb <- as_problem(matrix(rnorm(60), 30), y)
  folds <- as_folds(10, pb)
  expect_identical(folds$label, "10-fold, stratified")
  expect_true(all(table(folds$ids, y) == rep(2:1, each = 10)))
  expect_identical(make_folds(pb, 10, strata = FALSE)$label, "10-fold")
  expect_identical(make_folds(pb, 5, groups = rep(1:15, 2))$label,
                   "5-fold, 15 groups kept whole, stratified")
  patients <- make_folds(pb, 5, groups = rep(1:15, each = 2))
  expect_true(all(table(patients$ids, y) == rep(c(4, 2), each = 5)))
  three <- as_problem(matrix(rnorm(60), 30), rep(c("u", "v", "w"), 10))
  expect_true(all(table(as_folds(10, three)$ids, rep(1:3, 10)) == 1))
  expect_identical(as_folds(5, as_problem(matrix(rnorm(60), 30), rnorm(30)))$label, "5-fold")
})

test_that("ten folds are at most the rows or groups of the largest class", {
  x <- matrix(rnorm(48), 24)
  count <- function(y, ..., of = 24) max(make_folds(as_problem(x[1:of, ], y, ...))$ids)
  expect_identical(count(rep(c("a", "b"), c(19, 5))), 10L)
  expect_identical(count(rep(c("a", "b"), 6), of = 12), 6L)
  expect_identical(count(rep(c("a", "b", "c"), c(4, 5, 3)), of = 12), 5L)
  expect_identical(count(rnorm(8), of = 8), 8L)
  # eight patients, four of each class, or with rows of both classes
  expect_identical(count(rep(rep(c("a", "b"), 4), each = 3), groups = rep(1:8, each = 3)), 4L)
  expect_identical(count(rep(c("a", "b", "a"), 8), groups = rep(1:8, each = 3)), 8L)
  few <- as_problem(x[1:12, ], rep(c("a", "b"), 6))
  expect_identical(max(make_folds(few, 11)$ids), 11L)
  validated <- cross_validate(few, method = omp, k = 1, baselines = "majority")
  expect_identical(validated$outer, "6-fold, stratified")
  expect_identical(validated$estimates$null, 0.5)
})

test_that("groups stay together", {
  set.seed(5)
  groups <- rep(letters[1:7], c(6, 1, 1, 2, 2, 4, 4))
  for (count in 2:7) {
    folds <- make_folds(20, count, groups = groups)
    expect_true(all(rowSums(table(groups, folds$ids) > 0) == 1))
    expect_length(unique(folds$ids), count)
  }
  expect_lte(diff(range(tabulate(make_folds(20, 3, groups = groups)$ids))), 1)
  each <- make_folds(20, "loo", groups = groups)
  expect_identical(each$ids[, 1], rep(1:7, c(6, 1, 1, 2, 2, 4, 4)))
  expect_identical(each$label, "leave-one-group-out, 7 groups")
  expect_false(each$loo)
  patients <- rep(1:20, each = 3)
  repeats <- make_folds(60, 4, groups = patients, repeats = 2)$ids
  expect_false(identical(repeats[, 1], repeats[, 2]))
  arm <- rep(c("treated", "control"), each = 30)
  both <- make_folds(60, 5, groups = patients, strata = arm)
  expect_true(all(table(both$ids, arm) == 6))
})

test_that("given ids are folds in order of appearance", {
  folds <- make_folds(6, c("z", "a", "z", "a", "m", "m"))
  expect_identical(folds$ids, matrix(c(1L, 2L, 1L, 2L, 3L, 3L)))
  expect_identical(folds$label, "3 given folds")
  expect_identical(make_folds(6, factor(c(9, 7, 9, 7, 8, 8)))$ids, folds$ids)
  several <- make_folds(4, list(c(1, 1, 2, 2), 4:1))
  expect_identical(several$ids, cbind(c(1L, 1L, 2L, 2L), 1:4))
  expect_identical(several$label, "2 to 4 given folds, 2 partitions")
  expect_false(several$loo)
  pb <- as_problem(matrix(c(1, 4, 2, 3)), 1:4)
  expect_identical(as_folds(several, pb), several)
})

test_that("rsample objects are taken over", {
  skip_if_not_installed("rsample")
  set.seed(6)
  v <- rsample::vfold_cv(mtcars, 4, repeats = 2)
  folds <- make_folds(v)
  expect_identical(folds$label, "4 given folds, 2 partitions")
  held_out <- rsample::complement(v$splits[[7]])
  expect_setequal(which(folds$ids[, 2] == folds$ids[held_out[1], 2]), held_out)
  expect_identical(make_folds(32, v), folds)
  expect_true(make_folds(rsample::loo_cv(mtcars))$loo)
  # of all rows of the data, some of which are left out
  gaps <- transform(mtcars, mpg = replace(mpg, 3, NA))
  by <- function(folds, ...) {
    l1_path(mpg ~ ., gaps, na.action = na.omit, subset = -(1:2), folds = folds, ...)$held_out
  }
  expect_identical(by(v), by(folds))
  grouped <- rsample::group_vfold_cv(cbind(mtcars, site = rep(1:8, 4)), group = site, v = 4)
  expect_identical(by(grouped), by(make_folds(grouped)))
})

test_that("folds print their sizes", {
  expect_snapshot({
    make_folds(5, "loo")
    make_folds(6, c(1, 1, 2, 2, 3, 3))
    make_folds(7, 3)
  })
})

test_that("covariates that a fold alone determines are found", {
  y <- c(1, 5, 2, 4, 3, 6)
  batch <- data.frame(batch = c("a", "a", "b", "b", "c", "c"))
  pb <- as_problem(matrix(c(2, 7, 1, 8, 2, 9)), y, adjust = batch)
  expect_null(fold_basis_check(pb, as_folds("loo", pb)))
  expect_null(fold_basis_check(pb, as_folds(c(1, 2, 1, 2, 1, 2), pb)))
  expect_null(fold_basis_check(as_problem(pb$x, y), as_folds(batch$batch, pb)))
  expect_message(fold_basis_check(pb, as_folds(batch$batch, pb)),
                 "follow from the others without 3 of 3 folds \\(first: rows 1, 2\\)",
                 class = "sparsels_message_covariates")
  expect_error(refuse_lost_covariates(pb, as_folds(batch$batch, pb)),
               "without fold 1 \\(rows 1, 2\\)")
  expect_error(refuse_lost_covariates(pb, as_folds(list(1:6, batch$batch), pb)), "without fold 1")
  alone <- as_problem(pb$x, y, adjust = c(0, 0, 0, 1, 0, 0), weights = 1:6)
  expect_message(fold_basis_check(alone, as_folds("loo", alone)),
                 "'adjust' follows from the others without 1 of 6 folds \\(first: row 4\\)")
})

test_that("a fold that has all rows of positive weight is named", {
  few <- as_problem(matrix(c(2, 7, 1, 8, 2, 9)), c(1, 5, 2, 4, 3, 6), weights = c(0, 0, 2, 1, 0, 0))
  pairs <- c(1, 1, 2, 2, 3, 3)
  lost <- "no row has a positive weight without fold 2 \\(rows 3, 4\\)"
  expect_error(fold_basis_check(few, as_folds(pairs, few)), lost, class = "sparsels_error_input")
  expect_error(greedy_rls(few, folds = pairs, k = 1), lost, class = "sparsels_error_input")
  expect_null(fold_basis_check(few, as_folds("loo", few)))
  without <- as_problem(few$x, few$rows$y[, 1], weights = few$rows$weight, intercept = FALSE)
  expect_null(fold_basis_check(without, as_folds(pairs, without)))
})

test_that("no fold has all rows of a class if the groups can be dealt otherwise", {
  class <- rep(1:4, c(2, 2, 3, 4))
  in_both <- function(folds) all(tapply(folds, class, function(own) length(unique(own))) > 1)
  deals <- vapply(1:60, function(seed) {
    set.seed(seed)
    groups <- sample(7, 11, TRUE)
    groups <- match(groups, unique(groups))
    ways <- as.matrix(expand.grid(rep(list(1:2), max(groups))))
    c(can = any(apply(ways, 1L, function(fold) in_both(fold[groups]))),
      once = in_both(deal_groups(groups, class, 2, 1L)[groups]),
      is = in_both(deal_groups(groups, class, 2)[groups]))
  }, logical(3))
  expect_identical(deals["is", ], deals["can", ])
  expect_lt(sum(deals["once", ]), sum(deals["is", ]))
})

test_that("groups are dealt as by the plain rule", {
  plain <- function(groups, strata, count) {
    members <- unclass(table(groups, strata))
    shares <- sweep(members, 2L, colSums(members), "/")
    dealt <- matrix(0, count, ncol(members))
    fold <- integer(nrow(members))
    for (group in order(-floor(log2(rowSums(members))), sample.int(nrow(members)))) {
      fold[group] <- order(dealt %*% shares[group, ], rowSums(dealt))[1L]
      dealt[fold[group], ] <- dealt[fold[group], ] + members[group, ]
    }
    fold
  }
  for (strata in c(1, 3)) {
    set.seed(strata)
    groups <- c(1:40, sample(40, 200, TRUE))
    stratum <- sample(strata, 240, TRUE)
    set.seed(9)
    expected <- plain(groups, stratum, 7)
    set.seed(9)
    expect_identical(deal_groups(groups, stratum, 7), expected)
  }
  # some groups lie in one stratum
  stratum <- ifelse(groups <= 30, groups %% 3, stratum)
  set.seed(9)
  expected <- plain(groups, match(stratum, unique(stratum)), 7)
  set.seed(9)
  expect_identical(deal_groups(groups, stratum, 7), expected)
})

test_that("two hundred thousand groups are cut into equal folds, also by strata", {
  groups <- sample.int(2e5)
  stratum <- rep(1:2, 1e5)
  expect_identical(tabulate(make_folds(2e5, 5, groups = groups)$ids), rep(40000L, 5))
  ids <- make_folds(2e5, 5, groups = groups, strata = stratum)$ids[, 1]
  expect_true(all(table(ids, stratum) == 20000))
})

test_that("folds whose rows have no weight are as data without these rows", {
  set.seed(8)
  x <- matrix(rnorm(60 * 5), 60)
  y <- x[, 1] + rnorm(60)
  group <- rep(1:12, each = 5)
  w <- as.numeric(!group %in% c(2, 7))
  k <- w > 0
  run <- function(rows, outer, ...) {
    suppressWarnings(cross_validate(x[rows, ], y[rows], greedy_rls, k = 2, size = "criterion", ...,
                                    outer = outer, baselines = NULL))
  }
  all <- rep(TRUE, 60)
  for (outer in list(function(rows) "loo", function(rows) group[rows],
                     function(rows) make_folds(sum(rows), "loo", groups = group[rows]),
                     function(rows) make_folds(sum(rows), group[rows]))) {
    with <- run(all, outer(all), weights = w)
    without <- run(k, outer(k))
    expect_identical(nrow(with$folds), nrow(without$folds))
    expect_equal(with$estimate, without$estimate)
    expect_equal(with$frequency, without$frequency)
    expect_false(anyNA(with$held_out))
  }
  path <- l1_path(x, y, weights = w, folds = group)
  expect_identical(path$folds$label, "10 given folds")
  expect_equal(path$path$criterion, l1_path(x[k, ], y[k], folds = group[k])$path$criterion)
  expect_error(run(all, as.integer(k), weights = w), "no row has a positive weight without",
               class = "sparsels_error_input")
})
