# Groups of columns: choices, errors and coefficients beside retraining every group from scratch.

made_problem <- function(seed, m = 24, classes = FALSE, weights = FALSE, L = 1, z = FALSE) {
  set.seed(seed)
  x <- matrix(rnorm(m * 11), m, dimnames = list(NULL, letters[1:11]))
  x[, 3] <- x[, 2] + rnorm(m) / 10
  y <- x[, 1:4] %*% matrix(rnorm(4 * L), 4) + rnorm(m * L)
  response <- if (classes) factor(y > 0) else y
  as_problem(x, response, adjust = if (z) rnorm(m),
             weights = if (weights) runif(m, 0.5, 2),
             columns_group = c("p", "p", "p", "q", "q", NA, "r", "r", "r", "r", ""))
}

test_that("every step moves the best group", {
  for (seed in 1:3) {
    pb <- made_problem(seed, weights = seed > 1, L = 1 + (seed == 3), z = seed %% 2 == 0)
    for (folds in list("loo", 4, list(rep(1:3, 8), rep(1:6, each = 4)))) {
      fit <- greedy_rls(pb, k = 4, lambda = 2, size = "criterion", folds = folds)
      expect_best_moves(fit, pb)
    }
    expect_best_moves(greedy_rls(pb, lambda = 2, size = "criterion", search = "backward"), pb)
    floating <- greedy_rls(pb, k = 4, lambda = 2, size = "criterion", search = "floating")
    expect_best_moves(floating, pb)
  }
  pb <- made_problem(5, classes = TRUE, weights = TRUE)
  expect_best_moves(greedy_rls(pb, k = 4, lambda = 2, size = "criterion", criterion = "error"), pb)
})

test_that("a group of many columns moves as its columns one by one", {
  set.seed(20)
  m <- 150
  d <- data.frame(site = factor(rep_len(1:21, m)), ward = factor(sample(10, m, TRUE)),
                  age = rnorm(m), dose = rnorm(m))
  pb <- as_problem(d, rnorm(21)[d$site] + d$age + rnorm(m), weights = runif(m, 0.5, 2))
  for (folds in list("loo", rep_len(1:5, m), list(rep_len(1:4, m), rep_len(1:7, m)))) {
    path <- function(threads) {
      greedy_rls(pb, k = 4, lambda = 2, size = "criterion", folds = folds, threads = threads)
    }
    fit <- path(1)
    expect_best_moves(fit, pb)
    expect_identical(path(2)[c("path", "coefficients")], fit[c("path", "coefficients")])
    for (size in 1:4) {
      trained <- oracle_ridge(pb, fit$coefficients[[size + 1L]]$features, 2)$pred
      expect_equal(predict(fit, d, size = size), drop(trained), tolerance = 1e-9,
                   ignore_attr = TRUE)
    }
  }
  expect_true(verify(greedy_rls(pb, k = 4), pb, claims = 20)$ok)
})

test_that("a fit holds whole groups, and k counts them", {
  pb <- made_problem(6)
  fit <- greedy_rls(pb, k = 5)
  expect_lte(max(fit$path$size), 5L)
  for (model in Filter(Negate(is.null), fit$coefficients)) {
    of <- pb$columns$group[model$features]
    expect_true(all(tabulate(of, 3L) %in% c(0L, 3L, 2L, 4L)))
  }
  expect_identical(fit$path$name[-1L], unname(vapply(fit$path$feature[-1L], function(j) {
    if (j %in% c(6L, 11L)) letters[j] else c("p", "q", "r")[pb$columns$group[j]]
  }, "")))
  expect_true(verify(fit, pb, claims = 60)$ok)
  expect_identical(length(selected(fit, 2)), sum(fit$path$columns[2:3]))
  terms <- generics::tidy(fit, size = 2)
  expect_identical(terms$group[-1L], c("p", "q", "r", NA)[match(
    pb$columns$group[fit$coefficients[[3]]$features], c(1:3, 0))])
  expect_equal(predict(fit, pb$x), drop(fitted(fit)), ignore_attr = TRUE)
  expect_equal(residuals(fit, "held_out"), drop(pb$rows$y - fit$held_out), ignore_attr = TRUE)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  expect_equal(predict(readRDS(file), pb$x), predict(fit, pb$x))
})

test_that("groups and single columns together are counted as terms", {
  cars <- transform(mtcars, cyl = factor(cyl))
  fit <- greedy_rls(mpg ~ ., cars, lambda = 10, size = 3)
  text <- capture.output(print(summary(fit)))
  count <- sum(fit$path$columns[1:4])
  expect_match(text, sprintf("3 terms (%d columns) chosen", count), fixed = TRUE, all = FALSE)
  expect_match(text, "1 group (2 columns), in a model as a whole", fixed = TRUE, all = FALSE)
  expect_output(print(greedy_rls(mpg ~ cyl, cars, lambda = 10, size = 1)),
                "1 group (2 columns) chosen", fixed = TRUE)
  judged <- suppressWarnings(judge(fit, cars, permutations = 0, pairs = 0, repeats = 0))
  expect_output(print(judged), sprintf("3 terms (%d columns) chosen", count), fixed = TRUE)
})

test_that("groups of single columns are no groups, to the last bit", {
  x <- made_problem(7)$x
  y <- x[, 1] + rnorm(24)
  for (search in c("forward", "floating", "backward")) {
    alone <- greedy_rls(x, y, columns_group = colnames(x), search = search, k = 4)
    plain <- greedy_rls(x, y, search = search, k = 4)
    expect_identical(alone[c("path", "coefficients", "held_out")],
                     plain[c("path", "coefficients", "held_out")])
  }
})

test_that("any number of threads gives the same bits", {
  pb <- made_problem(8, m = 40)
  for (folds in list("loo", rep(1:5, 8))) {
    path <- function(threads) {
      greedy_rls(pb, k = 4, folds = folds, threads = threads, lambda = 2, size = "criterion")$path
    }
    expect_identical(path(1), path(2))
  }
})

test_that("duplicates in a group cost no digits in silence", {
  pb <- made_problem(9)
  x <- cbind(pb$x, copy = pb$x[, 2], sum = pb$x[, 1] + pb$x[, 2])
  twice <- as_problem(x, pb$rows$y, columns_group = list(p = c(1:3, 12, 13), q = 4:5))
  for (lambda in c(1, 1e-3)) {
    fit <- greedy_rls(twice, k = 4, lambda = lambda, size = "criterion", folds = 4)
    for (row in seq_len(nrow(fit$path))[-1L]) {
      columns <- fit$coefficients[[fit$path$size[row] + 1L]]$features
      expect_equal(fit$path$criterion[row], oracle_squared(twice, columns, lambda, fit$folds),
                   tolerance = 1e-7)
    }
  }
})

test_that("at most one column of a group is chosen", {
  set.seed(10)
  x <- matrix(rnorm(60 * 600), 60, dimnames = list(NULL, paste0("g", 1:600)))
  y <- x[, 1] + x[, 2] + rnorm(60) / 2
  group <- rep(1:150, each = 4)
  for (folds in list("loo", rep(1:6, 10))) {
    fit <- greedy_rls(x, y, columns_group = group, group_rule = "one", k = 8, folds = folds,
                      lambda = 20, size = "criterion")
    taken <- group[fit$coefficients[[9]]$features]
    expect_identical(anyDuplicated(taken), 0L)
    set <- integer()
    for (row in 2:4) {
      open <- which(!group %in% group[set])
      others <- greedy_rls(x[, c(set, open)], y, start = seq_along(set), k = length(set) + 1L,
                           folds = folds, lambda = 20, size = "criterion")
      expect_identical(fit$path$name[row], others$path$name[length(set) + 2L])
      set <- c(set, fit$path$feature[row])
    }
  }
  expect_true(verify(fit, x, y, claims = 20)$ok)
})

test_that("the columns of a factor are a group in frames and formulas", {
  set.seed(11)
  d <- data.frame(stage = factor(sample(c("I", "II", "III"), 50, TRUE)), sex = rep(c("f", "m"), 25),
                  age = rnorm(50), dose = rnorm(50))
  y <- (d$stage == "III") + d$age + rnorm(50) / 2
  pb <- as_problem(d, y)
  expect_identical(pb$coding$column_groups,
                   list(names = "stage", rule = "together", stated = FALSE))
  expect_null(as_problem(d, y, columns_group = FALSE)$coding$column_groups)
  by_formula <- as_problem(y ~ stage * dose + log(age^2), cbind(d, y))
  expect_identical(by_formula$coding$column_groups$names, c("stage", "stage:dose"))
  expect_identical(by_formula$columns$group, c(1L, 1L, 0L, 0L, 2L, 2L))
  fit <- greedy_rls(pb, k = 2, size = 2)
  expect_setequal(selected(fit, 2), c("stageII", "stageIII", "age"))
  expect_equal(predict(fit, d[1:4, ], size = 2), fitted(fit, size = 2)[1:4], ignore_attr = TRUE)
  expect_message(path <- omp(pb, k = 2), class = "sparsels_message_groups")
  expect_null(path$problem$coding$column_groups)
  expect_silent(rls(pb))
})

test_that("parts of a problem keep its groups", {
  pb <- made_problem(12)
  expect_identical(pb[1:20, ]$coding$column_groups, pb$coding$column_groups)
  expect_identical(pb[, 2:6]$columns$group, c(1L, 1L, 2L, 2L, 0L))
  expect_null(pb[, c(1, 4, 6)]$coding$column_groups)
  pb <- made_problem(13, m = 40)
  cvd <- cross_validate(pb, greedy_rls, outer = 4, k = 3, size = 2)
  units <- oracle_units(pb)
  expect_true(all(lengths(lapply(units, intersect, cvd$frequency$feature)) %in% c(0, 1:4)))
  expect_true(all(table(cvd$frequency$count[cvd$frequency$name %in% c("d", "e")]) %in% c(0, 2)))
  stable <- stability_selection(pb, greedy_rls, pairs = 6, q = 2)
  expect_true(all(unlist(stable$chosen) %in% c(1, 4, 6, 7, 11)))
  expect_true(all(lengths(stable$chosen) == 2L))
  expect_equal(unname(stable$probability[1:3]), rep(mean(unlist(lapply(
    stable$chosen, function(one) 1 %in% one
  ))), 3))
  tested <- permutation_test(pb, greedy_rls, permutations = 9, k = 3)
  expect_identical(max(tested$by_size$size), 3L)
  drawn <- random_selection(pb, k = 2)
  expect_true(count_units(pb, drawn$coefficients[[3]]$features) == 2L)
})

test_that("start takes whole groups", {
  pb <- made_problem(14)
  fit <- greedy_rls(pb, start = "e", k = 3, lambda = 2, size = "criterion")
  expect_setequal(fit$coefficients[[2]]$features, 4:5)
  pruned <- greedy_rls(pb, start = c("a", "e"), search = "backward", lambda = 2,
                       size = "criterion")
  expect_identical(pruned$path$size, 2:0)
})

test_that("what groups cannot be is refused by name, and they are printed in words", {
  pb <- made_problem(15)
  x <- pb$x
  y <- drop(pb$rows$y)
  expect_snapshot({
    pb
    greedy_rls(pb, k = 3, lambda = 2, size = "criterion")
    refusal(as_problem(x, y, columns_group = list(p = c("a", "b"), q = c("b", "c"))))
    refusal(as_problem(x, y, columns_group = list(p = c("a", "zz"))))
    refusal(as_problem(x, y, columns_group = list(p = c("a", "a"))))
    refusal(as_problem(x, y, columns_group = list(c("a", "b"))))
    refusal(as_problem(x, y, columns_group = 1:3))
    refusal(as_problem(x, y, columns_group = c(zz = "p")))
    refusal(as_problem(x, y, columns_group = TRUE))
    refusal(as_problem(x, y, group_rule = "one"))
    refusal(as_problem(x, y, columns_group = rep(1:2, 6)[-1], group_rule = "two"))
    refusal(greedy_rls(pb, columns_group = FALSE))
    refusal(greedy_rls(pb, cost = rep(1, 11)))
    refusal(omp(pb))
    refusal(l1_path(pb))
    one <- as_problem(x, y, columns_group = list(p = c("a", "b")), group_rule = "one")
    refusal(greedy_rls(one, search = "backward"))
    refusal(greedy_rls(one, start = c("a", "b")))
  })
})

test_that("exchange() swaps whole groups, each set as it is retrained", {
  for (seed in 1:4) {
    pb <- made_problem(seed, weights = seed > 1, L = 1 + (seed == 3), z = seed %% 2 == 0)
    folds <- if (seed > 2) list(rep(1:3, 8), rep(1:6, each = 4)) else "loo"
    fit <- greedy_rls(pb, k = 3, lambda = 2, size = 2, refit = FALSE, folds = folds)
    others <- exchange(fit, pb, keep = Inf)
    units <- split(seq_len(11), c("p", "p", "p", "q", "q", "f", "r", "r", "r", "r", "k"))
    own <- unique(unit_names(pb, model_of(fit)$features))
    expect_setequal(selected(others), own)
    expect_identical(nrow(others), 1L + 2L + 2L * 3L + 3L)
    for (i in seq_len(nrow(others))) {
      set <- c(setdiff(own, others$drop[i]), if (!is.na(others$add[i])) others$add[i])
      expect_equal(others$criterion[i],
                   oracle_squared(pb, unlist(units[set], use.names = FALSE), 2, fit$folds),
                   tolerance = 1e-9)
    }
  }
  poor <- greedy_rls(pb, k = 2, lambda = 2, size = 2, refit = FALSE, start = c("f", "k"))
  better <- exchange(poor, pb, improve = TRUE)
  expect_true(attr(better, "set")$optimal)
  expect_match(capture.output(print(better))[1], "exchanges of 2 terms")
})

test_that("a search begins with a factor by its name, and a set of columns may name one", {
  set.seed(31)
  d <- data.frame(a = rnorm(60), g = gl(3, 20, labels = c("x", "y", "z")), b = rnorm(60),
                  two = gl(2, 1, 60, labels = c("u", "v")))
  d$y <- d$a + c(0, 1, -1)[d$g] + rnorm(60)
  pb <- as_problem(y ~ ., d)
  search <- function(...) greedy_rls(pb, ..., lambda = 1, k = 3, size = "criterion", refit = FALSE)
  expect_identical(search(start = "g")$path, search(start = "gy")$path)
  expect_identical(search(start = c("b", "g"))$path, search(start = c("b", "gy"))$path)
  expect_identical(search(start = "two")$path, search(start = "twov")$path)
  expect_error(search(start = c("g", NA)), "no column")
  expect_identical(panel_error(pb, c("a", "g"))$error, panel_error(pb, c("a", "gy", "gz"))$error)
  expect_error(search(start = c("g", "gy")), "has column 'gy' twice")
  expect_error(search(start = "h"), "no column \"h\"", class = "sparsels_error_input")
})

test_that("the data of a cross-validation have no groups where its method takes single columns", {
  set.seed(31)
  d <- data.frame(a = rnorm(40), f = factor(rep(c("u", "v", "w", "v"), 10)))
  d$y <- d$a + (d$f == "w") + rnorm(40)
  for (method in list(l1_path, omp)) {
    expect_message(found <- cross_validate(y ~ a + f, d, method = method, outer = 4),
                   "takes the columns of 'f' one by one", class = "sparsels_message_groups")
    expect_no_match(capture.output(print(found)), "as a whole")
    expect_true(all(c("fv", "fw") %in% found$problem$columns$name))
    expect_error(cross_validate(y ~ a + f, d, method = method, columns_group = c(1, 2, 2)),
                 "chooses single columns, but `columns_group` has",
                 class = "sparsels_error_argument")
  }
  expect_output(print(cross_validate(y ~ a + f, d, method = greedy_rls, outer = 4)), "as a whole")
})
