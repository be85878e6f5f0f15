# Pairs in models: formulas, parts, shapes, pictures, panels, what is refused.

surface <- function(seed = 1, m = 90) {
  set.seed(seed)
  d <- data.frame(a = runif(m, -2, 2), b = rnorm(m), c = rnorm(m), e = rexp(m))
  d$y <- 2 * d$a * d$b + sin(2 * d$c) + rnorm(m) / 3
  d
}

test_that("s() of two variables is a pair, by itself and left out", {
  d <- surface()
  problem <- as_problem(y ~ s(c) + s(a, b), d)
  expect_setequal(data_names(problem), c("c", "a", "b"))
  expect_identical(names(problem$curves), "c")
  expect_identical(pair_names(problem$pairs), "a x b")
  same <- as_problem(d[c("c", "a", "b")], d$y, smooth = "c", interactions = list(c("b", "a")))
  expect_equal(as.matrix(problem$x)[, same$columns$name], as.matrix(same$x), ignore_attr = TRUE)
  fit <- greedy_rls(y ~ s(c) + s(a, b) + e, d, size = 2, k = 2)
  expect_identical(selected(fit), c("a x b", "c"))
  expect_identical(deparse1(formula(fit)), "y ~ s(a, b) + s(c)")
  expect_identical(names(coef(fit))[2:5], c("a x b", "a~1 x b", "a x b~1", "a~1 x b~1"))
  expect_null(as_problem(y ~ s(c) + a + b + s(a, b) - s(a, b), d)$pairs)
  screened <- greedy_rls(y ~ s(.), d, interactions = 2)
  expect_true("s(a, b)" %in% attr(terms(screened), "term.labels"))
  refit <- greedy_rls(formula(screened), d)
  expect_true("a x b" %in% selected(refit))
  logs <- as_problem(y ~ s(log(e)) + a + s(a, log(e)), d)
  expect_identical(pair_names(logs$pairs), "log(e) x a")
})

test_that("the functions of each column of a pair are given by `df`, and given again", {
  d <- surface()
  q <- 4
  problem <- as_problem(y ~ s(a, b, df = q) + s(c, e), d, interactions = list(c("a", "c"), df = 3))
  expect_identical(problem$pairs$functions, c(4L, 2L, 3L))
  expect_identical(tabulate(problem$columns$pair), c(16L, 4L, 9L))
  expect_output(print(problem), "3 pairs of columns, 2 to 4 functions of each: a x b, c x e, a x c")
  x <- as.matrix(d[c("a", "b", "c", "e")])
  same <- as_problem(x, d$y, interactions = list(c("a", "b"), c("c", "e"), c("a", "c"),
                                                 df = c(4, 2, 3)))
  expect_equal(same$x[, problem$columns$name], problem$x, ignore_attr = TRUE)
  again <- do.call(as_problem, c(list(x, d$y), given_properties(same)))
  for (part in c("x", "columns", "pairs")) expect_identical(again[[part]], same[[part]])
  some <- problem[, !problem$columns$pair %in% 1]
  expect_identical(some$pairs$functions, c(2L, 3L))
  fit <- greedy_rls(y ~ s(c) + s(a, b, df = 3), d, size = 2, k = 2)
  expect_identical(deparse1(formula(fit)), "y ~ s(a, b, df = 3) + s(c)")
  expect_equal(predict(greedy_rls(formula(fit), d, size = 2, k = 2), d), predict(fit, d))
  alone <- update(fit, . ~ . - s(a, b), size = 1, start = "c")
  expect_identical(deparse1(formula(alone)), "y ~ s(c)")
  parts <- predict(fit, d, type = "terms")
  expect_equal(rowSums(parts) + attr(parts, "constant"), predict(fit, d), ignore_attr = TRUE)
  panel <- picture_of(fit, what = "terms")$panels[["a x b (pair)"]]
  part <- predict(fit, data.frame(a = panel$data$x, b = panel$data$x2, c = 0, e = 1),
                  type = "terms")
  expect_equal(panel$data$value, part[, "a x b"], ignore_attr = TRUE)
  expect_true(verify(fit, d, claims = 30)$ok)
  screened <- as_problem(y ~ s(.), d, interactions = list(TRUE, df = 3))
  expect_identical(given_pairs(screened), list(6L, df = 3L))
  expect_identical(as_problem(y ~ s(.), d, interactions = list(df = 3))$pairs, screened$pairs)
  plain <- as_problem(y ~ s(.), d, interactions = TRUE)
  expect_identical(pair_names(plain$pairs), pair_names(screened$pairs))
  halves <- stability_selection(screened, greedy_rls, pairs = 2, q = 2, progress = FALSE)
  expect_true(all(halves$problem$pairs$functions == 3L))
})

test_that("matrices, frames, formulas and sparse matrices have the same pairs", {
  d <- surface(2)
  x <- as.matrix(d[1:4])
  x[abs(x) < 0.2] <- 0
  d[1:4] <- as.data.frame(x)
  search <- function(...) greedy_rls(..., k = 3, size = 3, size_folds = 3)
  fit <- search(x, d$y, smooth = TRUE, interactions = 3)
  expect_equal(predict(search(d[1:4], d$y, smooth = TRUE, interactions = 3), d), predict(fit, x),
               ignore_attr = TRUE)
  expect_equal(predict(search(y ~ s(.), d, interactions = 3), d), predict(fit, x),
               ignore_attr = TRUE)
  sparse <- methods::as(x, "CsparseMatrix")
  of_sparse <- as_problem(sparse, d$y, smooth = TRUE, interactions = 3)
  expect_s4_class(of_sparse$x, "dgCMatrix")
  own <- search(of_sparse)
  expect_equal(predict(own, x), predict(fit, x), tolerance = 1e-8)
  expect_equal(predict(own, sparse), predict(fit, x), tolerance = 1e-8)
  expect_equal(own$path$cv, fit$path$cv, tolerance = 1e-8)
  finer <- list(c("a", "b"), c("c", "e"), df = 4:3)
  expect_equal(predict(search(sparse, d$y, interactions = finer), x),
               predict(search(x, d$y, interactions = finer), x), tolerance = 1e-8)
  bare <- search(unname(x), d$y, smooth = TRUE, interactions = 3)
  expect_equal(predict(bare, unname(x)), predict(fit, x), ignore_attr = TRUE)
})

test_that("a pair has a part, the error without it, and words", {
  d <- surface(3)
  problem <- as_problem(y ~ s(.), d, interactions = 3)
  fit <- greedy_rls(problem, k = 3, size = 2)
  parts <- predict(fit, d, type = "terms")
  expect_equal(rowSums(parts) + attr(parts, "constant"), predict(fit, d), ignore_attr = TRUE)
  expect_equal(colMeans(parts), c(0, 0), ignore_attr = TRUE)
  place <- match("a x b", pair_names(problem$pairs))
  expect_equal(pair_part(fit$problem, model_of(fit), place, as.matrix(d[c("a", "b")])),
               parts[, "a x b"], ignore_attr = TRUE)
  row <- fit$path[match(fit$size, fit$path$size), ]
  features <- model_of(fit)$features
  of_pair <- which(problem$columns$pair == place)
  error <- function(columns) oracle_squared(problem, columns, row$refit_lambda, fit$folds)
  term <- fit$terms[fit$terms$term == "a x b", ]
  expect_equal(term$error, error(setdiff(features, of_pair)) / error(features), tolerance = 1e-8)
  expect_identical(term$kind, "pair")
  said <- paste(capture.output(print(fit, n = 0)), collapse = " ")
  expect_match(said, "y waves with c (curve); pair a x b", fixed = TRUE)
  only <- greedy_rls(problem, k = 1, size = 1)
  expect_match(paste(capture.output(print(only)), collapse = " "), "y depends on the pair a x b",
               fixed = TRUE)
  expect_equal(only$terms$error, only$path$squared[1] / only$path$squared[2], tolerance = 1e-8)
})

test_that("new rows beyond a curve are counted whatever pairs come before it", {
  d <- surface(5)
  fit <- greedy_rls(y ~ s(c) + s(e) + s(a, b), d, k = 3, size = 3, lambda = 1, refit = FALSE)
  expect_identical(selected(fit)[1], "a x b")
  expect_silent(predict(fit, d, type = "terms"))
  new <- d[c(1, 1, 2, 3), ]
  new$c[2:3] <- 90
  expect_message(predict(fit, new), "2 rows of `newdata` are beyond the training range of 'c'",
                 class = "sparsels_message_beyond")
})

test_that("pairs are drawn over their two columns where rows are", {
  d <- surface(4)
  d$b[d$a > 1] <- -abs(d$b[d$a > 1])
  fit <- greedy_rls(y ~ s(.), d, interactions = 3, k = 3, size = 3)
  made <- picture_of(fit, what = "terms", newdata = d)
  expect_setequal(names(made$panels), sprintf("%s (%s)", fit$terms$term, fit$terms$kind))
  panel <- made$panels[["a x b (pair)"]]
  expect_identical(panel$settings[c("xlab", "ylab")], list(xlab = "a", ylab = "b"))
  cells <- panel$data[!is.na(panel$data$value), ]
  near <- vapply(seq_len(nrow(cells)), function(i) {
    min(pmax(abs(cells$x[i] - d$a) / diff(range(d$a)), abs(cells$x2[i] - d$b) / diff(range(d$b))))
  }, 0)
  expect_lt(max(near), 0.13)
  expect_lt(nrow(cells), 1600)
  part <- predict(fit, data.frame(a = cells$x, b = cells$x2, c = 0, e = 1), type = "terms")
  expect_equal(cells$value, part[, "a x b"], ignore_attr = TRUE)
  # without the rows everywhere
  alone <- picture_of(fit, what = "terms")$panels[["a x b (pair)"]]
  expect_false(anyNA(alone$data$value))
  # each value of a line stands in a gap of the line, where the part of the pair is this value
  drawn <- lapply(alone$layers, `[[`, "at")
  names(drawn) <- vapply(alone$layers, `[[`, "", "kind")
  expect_gt(nrow(drawn$text), 0L)
  expect_identical(sum(is.na(drawn$line$x)), 3L * nrow(drawn$text))
  expect_true(all(drawn$text$y %in% drawn$line$y[is.na(drawn$line$x)]))
  there <- data.frame(a = drawn$text$x, b = drawn$text$y, c = 0, e = 1)
  expect_equal(predict(fit, there, type = "terms")[, "a x b"], as.numeric(drawn$text$text),
               tolerance = 0.05, ignore_attr = TRUE)
  pdf(NULL)
  drawn <- plot(fit, what = "terms", newdata = d)
  dev.off()
  expect_identical(nrow(drawn), nrow(made$data))
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_s3_class(ggplot2::autoplot(fit, what = "terms", newdata = d), "ggplot")
  }
})

test_that("clipped pieces are the clipped functions", {
  set.seed(5)
  for (draw in 1:20) {
    x <- if (draw %% 2) exp(2 * rnorm(60)) else rt(60, 2)
    curve <- curve_of(x, rep(1, 60), if (draw %% 5) 6L else 1L)
    grid <- sort(c(x, seq(min(x) - 1, max(x) + 1, length.out = 200)))
    values <- clipped_basis(curve, grid, 4L)
    for (direction in seq_len(ncol(values)) - 1L) {
      pieces <- clipped_pieces(curve, direction)
      expect_false(is.unsorted(pieces$start))
      expect_equal(piece_values(pieces, grid), values[, direction + 1L], tolerance = 1e-7)
    }
  }
})

test_that("exchange(), panel_error(), judge() and ridge models take pairs", {
  d <- surface(6)
  problem <- as_problem(y ~ s(.), d, interactions = 3)
  fit <- greedy_rls(problem, k = 3, size = 2, lambda = 5, size_folds = 3)
  swaps <- exchange(fit, problem)
  expect_setequal(stats::na.omit(swaps$drop), selected(fit))
  expect_equal(exchange(fit, d)$criterion, swaps$criterion)
  panel <- panel_error(problem, features = c("a x b", "c"), lambda = 2)
  columns <- which(source_names(problem) %in% c("a x b", "c"))
  expect_equal(panel$error, oracle_squared(problem, columns, 2, panel$folds), tolerance = 1e-9)
  expect_true(verify(rls(problem, lambda = 2), problem, claims = 8)$ok)
  set.seed(1)
  found <- suppressMessages(suppressWarnings(
    judge(problem, greedy_rls, k = 2, lambda = 5, size = 2, size_folds = 3, outer = 2,
          permutations = 2, pairs = 2, repeats = 1, claims = 5, proof = 0, progress = FALSE)
  ))
  expect_s3_class(found, "judgement")
  expect_true("a x b" %in% found$features$name)
})

test_that("pairs that raise the cross-validated error are left out", {
  d <- surface(5)
  d$y <- d$y - 2 * d$a * d$b + d$c
  problem <- as_problem(y ~ s(.), d, interactions = TRUE)
  fit <- greedy_rls(problem)
  alone <- greedy_rls(y ~ s(.), d)
  expect_identical(selected(fit), selected(alone))
  expect_equal(coef(fit), coef(alone))
  expect_equal(fit$path$cv, alone$path$cv)
  expect_equal(predict(fit, d), predict(alone, d))
  expect_output(print(fit), "pairs are left out: they do not clearly improve the cross-validated")
  expect_true(verify(fit, problem, claims = 30)$ok)
  # the multiples of lambda are the multiples of the columns that are left
  wide <- data.frame(matrix(rnorm(60 * 8), 60), y = rnorm(60))
  wide$y <- wide$y + wide$X1 + wide$X2
  fit <- greedy_rls(y ~ s(.), wide, interactions = TRUE)
  expect_setequal(names(fit$cv_with), c("pairs", "curves"))
  expect_equal(fit$lambda_table$lambda, greedy_rls(y ~ ., wide)$lambda_table$lambda)
  expect_true(verify(fit, wide, claims = 30)$ok)
  expect_null(greedy_rls(y ~ s(.), surface(), interactions = TRUE)$cv_with)
  # beside a covariate, about which pairs have other squares than curves
  d$sex <- rep(c(-1, 1), length.out = nrow(d)) + d$a
  fit <- greedy_rls(y ~ s(a) + s(b) + s(c), d, adjust = ~ sex, interactions = TRUE)
  alone <- greedy_rls(y ~ s(a) + s(b) + s(c), d, adjust = ~ sex)
  expect_true("pairs" %in% names(fit$cv_with))
  expect_equal(fit$path[names(fit$path) != "columns"], alone$path[names(fit$path) != "columns"])
  expect_equal(fit$lambda, alone$lambda)
  expect_true(verify(fit, d, claims = 30)$ok)
  # each outer fold chooses for itself
  expect_own_choices(problem, d)
})

test_that("what cannot be a pair is refused by name", {
  d <- surface()
  d$f <- gl(2, 45)
  x <- as.matrix(d[1:4])
  wide <- matrix(rnorm(20 * 201), 20, dimnames = list(NULL, paste0("g", 1:201)))
  expect_snapshot(error = TRUE, {
    as_problem(wide, rnorm(20), interactions = TRUE)
    as_problem(x, d$y, interactions = "a")
    as_problem(x, d$y, interactions = 0)
    as_problem(x, d$y, interactions = list())
    as_problem(x, d$y, interactions = list("a"))
    as_problem(x, d$y, interactions = list(c("a", "z")))
    as_problem(x, d$y, interactions = list(c("a", "a")))
    as_problem(x, d$y, interactions = list(c("a", "b"), c("b", "a")))
    as_problem(d[c("a", "f")], d$y, interactions = list(c("a", "f")))
    as_problem(d[c("a", "f")], d$y, interactions = TRUE)
    as_problem(x, d$y, interactions = TRUE, intercept = FALSE)
    as_problem(float_matrix(x), d$y, interactions = TRUE)
    as_problem(y ~ s(a, b), d, interactions = TRUE)
    as_problem(y ~ s(a, b, c), d)
    as_problem(y ~ s(a, b, df = 5), d)
    as_problem(y ~ s(a, b, df = "3"), d)
    as_problem(y ~ s(a, b, basis = "steps"), d)
    as_problem(x, d$y, interactions = list(TRUE, df = 1))
    as_problem(x, d$y, interactions = list(c("a", "b"), c("a", "c"), df = 2:4))
    as_problem(y ~ s(a, .), d)
    l1_path(x, d$y, interactions = TRUE)
    greedy_rls(x, rep(0:2, 30), interactions = TRUE, loss = "poisson")
  })
  expect_identical(length(as_problem(wide[, 1:200], rnorm(20), interactions = 2)$pairs$first), 2L)
  expect_identical(length(as_problem(x, d$y, interactions = 99)$pairs$first), 6L)
})
