# Columns that ask for others: choices and errors beside retraining every allowed set from scratch.

# Whether a set has, for each of its columns, every usable column of the terms within its term, by
# the variables in their labels.
is_hierarchical <- function(problem, set) {
  terms <- problem$coding$design$columns$term
  variables <- strsplit(terms, ":", fixed = TRUE)
  needed <- lapply(set, function(j) {
    which(vapply(variables, function(v) {
      length(v) < length(variables[[j]]) && all(v %in% variables[[j]])
    }, NA) & problem$columns$usable)
  })
  all(unlist(needed) %in% set)
}

expect_best_allowed <- function(...) expect_best_moves(..., is_allowed = is_hierarchical)

made_frame <- function(seed, m = 30, L = 1) {
  set.seed(seed)
  d <- data.frame(a = rnorm(m), b = rnorm(m), c = rnorm(m),
                  s = factor(sample(rep(c("u", "v", "w"), length.out = m))), age = rnorm(m),
                  w = runif(m, 0.5, 2))
  d$y <- matrix(rnorm(m * L), m) + 2 * d$a * d$b + d$a + (d$s == "w") * d$c + d$age
  if (L == 1) d$y <- drop(d$y)
  d
}

test_that("main effects come before their interaction", {
  set.seed(1)
  d <- data.frame(a = rnorm(60), b = rnorm(60), c = rnorm(60))
  d$y <- 3 * d$a * d$b + d$a / 2 + d$b / 2 + rnorm(60) / 4
  path <- function(...) {
    greedy_rls(y ~ (a + b + c)^2, d, lambda = 1, size = "criterion", ...)$path$name[-1L]
  }
  expect_identical(path(k = 1), "a:b")
  names <- path(k = 6, hierarchy = "strong")
  expect_gt(match("a:b", names), max(match(c("a", "b"), names)))
  expect_setequal(names, c("a", "b", "c", "a:b", "a:c", "b:c"))
})

test_that("every step makes the best move that the hierarchy allows", {
  for (seed in 1:4) {
    d <- made_frame(seed, L = 1 + (seed == 3))
    pb <- if (seed %% 2) {
      as_problem(y ~ (a + b + c + s)^2, d, hierarchy = "strong", weights = w, adjust = ~ age)
    } else {
      as_problem(y ~ s * a * b + b:c + c, d, hierarchy = "strong", penalty = c(a = 2, "a:b" = 0.5))
    }
    folds <- list(rep(1:3, 10), rep(1:6, each = 5))
    for (search in c("forward", "floating", "forward_backward")) {
      fit <- greedy_rls(pb, k = 6, lambda = 2, size = "criterion", search = search,
                        folds = if (search == "floating") "loo" else folds)
      expect_best_allowed(fit, pb)
      expect_true(verify(fit, pb, claims = 20)$ok)
    }
    backward <- greedy_rls(pb, lambda = 2, size = "criterion", search = "backward", folds = 5)
    expect_best_allowed(backward, pb)
  }
  classes <- as_problem(s ~ (a + b + c)^2, made_frame(5), hierarchy = "strong")
  fit <- greedy_rls(classes, k = 6, lambda = 1, size = "criterion", folds = 4)
  expect_best_allowed(fit, classes)
})

test_that("levels one by one ask for all columns of the terms within theirs", {
  d <- made_frame(6)
  pb <- as_problem(y ~ s * c + a, d, hierarchy = "strong", columns_group = FALSE)
  fit <- greedy_rls(pb, k = 6, lambda = 2, size = "criterion")
  expect_best_allowed(fit, pb)
  expect_identical(tail(fit$path$name, 2L) %in% c("sv:c", "sw:c"), c(TRUE, TRUE))
})

test_that("covariates and excluded columns count as members", {
  d <- made_frame(7)
  d$flat <- 1
  pb <- as_problem(y ~ a * b + flat * c, d, hierarchy = "strong", penalty = c(a = 0))
  fit <- greedy_rls(pb, k = 4, lambda = 2, size = "criterion")
  expect_best_allowed(fit, pb)
  # a:b asks for b alone
  expect_lt(match("b", fit$path$name), match("a:b", fit$path$name))
  adjusted <- as_problem(y ~ a:b + b, d, adjust = ~ a, hierarchy = "strong")
  expect_identical(adjusted$hierarchy[1:2], list(column = 2L, needs = 1L))
})

test_that("a list says what the columns of a matrix ask for", {
  set.seed(8)
  x <- matrix(rnorm(400), 50, dimnames = list(NULL, letters[1:8]))
  y <- x[, "h"] + x[, "d"] + rnorm(50)
  needs <- list(h = "g", g = c("e", "f"), d = 1)
  pb <- as_problem(x, y, hierarchy = needs)
  expect_identical(pb$hierarchy, list(column = c(4L, 7L, 7L, 8L, 8L, 8L),
                                      needs = c(1L, 5L, 6L, 5L, 6L, 7L), by_terms = FALSE))
  for (search in c("forward", "floating", "backward")) {
    fit <- greedy_rls(pb, k = 8, lambda = 1, size = "criterion", search = search)
    for (model in Filter(Negate(is.null), fit$coefficients)) {
      set <- model$features
      expect_true(all(pb$hierarchy$needs[pb$hierarchy$column %in% set] %in% set))
    }
  }
  expect_identical(as_problem(x, y, hierarchy = list())$hierarchy, NULL)
  same <- as_problem(y ~ a * b, data.frame(x, y), hierarchy = list("a:b" = c("a", "b")))
  expect_identical(same$hierarchy[1:2],
                   as_problem(y ~ a * b, data.frame(x, y), hierarchy = "strong")$hierarchy[1:2])
  stage <- data.frame(stage = gl(3, 1, 50), dose = x[, 1])
  by_term <- as_problem(stage, y, hierarchy = list(dose = "stage"))
  expect_identical(by_term$hierarchy$needs, 1:2)
})

test_that("a hierarchy that is met anyway changes nothing, and groups may have what they ask for", {
  d <- made_frame(9)
  plain <- greedy_rls(y ~ a + b + a:b, d, search = "backward", lambda = 2, size = "criterion")
  pb <- as_problem(y ~ a + b + a:b, d, columns_group = list(all = 1:3), hierarchy = "strong")
  fit <- greedy_rls(pb, k = 1, lambda = 2, size = "criterion")
  expect_equal(fit$path$criterion[2L], plain$path$criterion[1L])
  x <- model.matrix(~ 0 + a + b + c, d)
  loose <- as_problem(x, d$y, hierarchy = list(c = "a"), penalty = c(a = 0))
  free <- as_problem(x, d$y, penalty = c(a = 0))
  for (search in c("forward", "floating", "backward")) {
    path <- function(pb) greedy_rls(pb, k = 2, lambda = 2, size = "criterion", search = search)$path
    expect_identical(path(loose), path(free))
  }
})

test_that("at most one column of a group goes with a hierarchy", {
  set.seed(10)
  probes <- matrix(rnorm(60 * 6), 60, dimnames = list(NULL, paste0("p", 1:6)))
  x <- cbind(probes, probes * rnorm(60))
  colnames(x)[7:12] <- paste0("t", 1:6)
  y <- x[, 8] + x[, 10] + rnorm(60) / 2
  pb <- as_problem(x, y, columns_group = rep(1:6, each = 2), group_rule = "one",
                   hierarchy = stats::setNames(as.list(1:6), colnames(x)[7:12]))
  fit <- greedy_rls(pb, k = 6, lambda = 2, size = "criterion")
  for (model in fit$coefficients) {
    set <- model$features
    expect_identical(anyDuplicated(pb$columns$group[set]), 0L)
    expect_true(all((set[set > 6] - 6L) %in% set))
  }
  expect_true(verify(fit, pb, claims = 40)$ok)
  drawn <- random_selection(pb, k = 4, size = 4)$coefficients[[5]]$features
  expect_true(all((drawn[drawn > 6] - 6L) %in% drawn))
})

test_that("candidates that wait are skipped and followed like any other", {
  set.seed(11)
  m <- 120
  x <- matrix(rnorm(m * 300), m, dimnames = list(NULL, paste0("g", 1:300)))
  x[, 201:300] <- x[, 1:100] * x[, 101:200]
  y <- x[, 1] + x[, 101] + 2 * x[, 201] + x[, 2] / 2 + x[, 202] + rnorm(m)
  needs <- stats::setNames(Map(c, 1:100, 101:200), colnames(x)[201:300])
  pb <- as_problem(x, y, hierarchy = needs)
  for (folds in list("loo", rep(1:6, 20))) {
    control <- list(lambda = 20, size = "criterion", k = 12, folds = folds)
    fit <- do.call(greedy_rls, c(list(pb), control))
    slow <- do.call(greedy_rls, c(list(pb, keep = 300), control)) # no candidate is skipped
    expect_lt(fit$work$evaluated, slow$work$evaluated)
    expect_identical(fit$path$feature, slow$path$feature)
    expect_equal(fit$path$criterion, slow$path$criterion)
    expect_true(all(c(1L, 101L, 201L) %in% fit$path$feature))
    two <- do.call(greedy_rls, c(list(pb, threads = 2), control))
    expect_identical(fit$path, two$path)
  }
  file <- write_file_matrix(x, tempfile())
  on_disk <- greedy_rls(file, y, hierarchy = needs, lambda = 20, size = "criterion", k = 6,
                        folds = rep(1:6, 20))
  expect_identical(on_disk$path$feature, fit$path$feature[1:7])
  priced <- greedy_rls(pb, cost = rep(1:3, each = 100), budget = 12, k = 8, lambda = 20,
                       size = "criterion")
  set <- priced$path$feature[-1L]
  expect_true(all(unlist(lapply(set[set > 200], function(j) j - c(200L, 100L))) %in% set))
})

test_that("parts, folds and repetitions keep a hierarchy", {
  d <- made_frame(12, m = 45)
  pb <- as_problem(y ~ (a + b + c + s)^2, d, hierarchy = "strong")
  expect_identical(pb[1:20, ]$hierarchy, pb$hierarchy)
  expect_identical(pb[, c("b", "a:b", "a")]$hierarchy,
                   list(column = c(2L, 2L), needs = c(3L, 1L), by_terms = TRUE))
  expect_identical(pb[, c("b", "a:b")]$hierarchy$needs, 1L)
  expect_null(pb[, c("a", "b")]$hierarchy)
  seen <- list()
  spy <- function(x, ...) {
    fit <- greedy_rls(x, ..., k = 6, size = 6)
    seen[[length(seen) + 1L]] <<- fit$coefficients[[7L]]$features
    expect_identical(fit$problem$hierarchy, pb$hierarchy)
    fit
  }
  cross_validate(pb, spy, outer = 3)
  for (set in seen) expect_true(is_hierarchical(pb, set))
  expect_true(length(seen) >= 3L)
  fit <- greedy_rls(pb)
  expect_true(verify(fit, pb, claims = 40)$ok)
  expect_true(verify(fit, y ~ (a + b + c + s)^2, data = d, claims = 20)$ok)
  for (model in fit$coefficients) expect_true(is_hierarchical(pb, model$features))
  drawn <- random_selection(pb, k = 7)
  for (model in drawn$coefficients) expect_true(is_hierarchical(pb, model$features))
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  expect_equal(predict(readRDS(file), d[1:5, ]), drop(fitted(fit))[1:5], ignore_attr = TRUE)
  tested <- permutation_test(pb, greedy_rls, permutations = 9, k = 3)
  expect_identical(max(tested$by_size$size), 3L)
  stable <- stability_selection(pb, greedy_rls, pairs = 4, q = 4)
  for (one in stable$chosen) {
    expect_true(is_hierarchical(pb, unlist(lapply(unlist(one), unit_columns, problem = pb))))
  }
})

test_that("start begins with columns that have what they ask for", {
  d <- made_frame(13)
  pb <- as_problem(y ~ (a + b + c)^2, d, hierarchy = "strong")
  fit <- greedy_rls(pb, start = c("c", "b", "b:c"), k = 6, lambda = 2, size = "criterion")
  expect_best_allowed(fit, pb, given = 3L)
  pruned <- greedy_rls(pb, start = c("b:c", "c", "b", "a"), search = "backward", lambda = 2,
                       size = "criterion")
  for (model in pruned$coefficients) expect_true(is_hierarchical(pb, model$features))
})

test_that("what cannot be honoured is refused by name, and a hierarchy is printed in words", {
  d <- made_frame(14)
  x <- as.matrix(d[c("a", "b", "c")])
  y <- d$y
  expect_snapshot({
    pb <- as_problem(y ~ (a + b + c)^2, d, hierarchy = "strong")
    pb
    pb[, c("a", "b", "a:b")]
    greedy_rls(pb, k = 3, lambda = 2, size = "criterion")
    as_problem(x, y, hierarchy = list(c = c("a", "b")))
    refusal(as_problem(x, y, hierarchy = "strong"))
    refusal(as_problem(y ~ a + b, d, hierarchy = "strong"))
    refusal(as_problem(y ~ a * b + a:c, d, hierarchy = "strong"))
    refusal(as_problem(y ~ a + b + c + a:b:c, d, hierarchy = "strong"))
    refusal(as_problem(x, y, hierarchy = "weak"))
    refusal(as_problem(x, y, hierarchy = TRUE))
    refusal(as_problem(x, y, hierarchy = data.frame(column = "c", needs = "a")))
    refusal(as_problem(x, y, hierarchy = list("a")))
    refusal(as_problem(x, y, hierarchy = list(zz = "a")))
    refusal(as_problem(x, y, hierarchy = list(c = "zz")))
    refusal(as_problem(x, y, hierarchy = list(c = TRUE)))
    refusal(as_problem(x, y, hierarchy = list(c = "c")))
    refusal(as_problem(x, y, hierarchy = list(c = "b", b = "a", a = "c")))
    refusal(as_problem(x, y, hierarchy = list(c = "a"), penalty = c(a = Inf)))
    refusal(as_problem(y ~ s * c, d, hierarchy = "strong", group_rule = "one"))
    refusal(as_problem(cbind(x, d = y), y, columns_group = c(1, 2, 1, 2),
                       hierarchy = list(a = "b", d = "c")))
    refusal(greedy_rls(pb, hierarchy = "none"))
    refusal(greedy_rls(pb, start = c("a:b", "a", "b")))
    refusal(greedy_rls(pb, start = c("a", "a:b"), search = "backward"))
    refusal(greedy_rls(pb, cluster = 2))
    refusal(omp(pb))
    refusal(l1_path(pb))
    refusal(best_subset(pb))
    refusal(rfe(pb))
    refusal(poss(pb, k = 2))
    refusal(exchange(greedy_rls(pb, k = 2, size = 2), pb))
    counts <- as_problem(round(exp(y)) ~ a * b, d, hierarchy = "strong", task = "regression")
    refusal(greedy_rls(counts, loss = "poisson"))
  })
})
