# Curves: the basis beside splinefun() and mgcv, folds beside retraining from the rows alone.

example <- cbind(a = c(1:9, 11, 13, 16), b = (5 * 1:12) %% 13,
                 c = c(0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 0))
example_y <- c(9, 4, 3, 1, 1, 2, 1, 5, 4, 9, 12, 15)

quietly <- function(code) {
  suppressWarnings(suppressMessages(code, "sparsels_message_curves"), "sparsels_warning_curves")
}

# the columns of a curve in standard units
unit_columns <- function(curve, x) {
  columns <- curve_columns(curve, x)
  columns[, 1] <- columns[, 1] - curve$centre
  columns / curve$scale
}

test_that("knots, roughness and columns are those of twelve rows by hand", {
  made <- apply(example, 2, function(v) curve_of(v, rep(1, 12), 4L, ends = c(0, 1)),
                simplify = FALSE)
  expect_identical(made$a$knots, c(1, 3, 6, 9, 16))
  expect_identical(made$b$knots, c(1, 3, 6, 9, 12))
  expect_identical(made$c$knots, c(0, 1, 2, 3))
  expect_equal(made$a$d, c(9.645988536, 86.669159619, 559.835374922), tolerance = 1e-11)
  expect_equal(made$b$d, c(12.218520311, 96.948631329, 402.216651518), tolerance = 1e-11)
  expect_equal(made$c$d, c(19.370098834, 201.561525320), tolerance = 1e-11)
  expect_equal(made$a$factors, c(1, 1, 2.997498138, 7.618277673), tolerance = 1e-10)
  expect_equal(made$b$factors, c(1, 1, 2.816835813, 5.737473802), tolerance = 1e-10)
  expect_equal(made$c$factors, c(1, 1, 3.225803433), tolerance = 1e-10)
  expect_equal(unit_columns(made$a, example[, "a"])[, 2], tolerance = 1e-8,
               c(1.512452658, .964412687, .434765874, -.056382897, -.482081830, -.813667402,
                 -1.026491759, -1.111969715, -1.065531758, -.590719950, .274050228, 1.961163865))
  expect_equal(unit_columns(made$c, 0:3)[, 2], tolerance = 1e-8,
               c(.230970663, -2.282225595, -1.671756707, 1.875246336))
  for (name in colnames(example)) {
    slow <- oracle_curve(example[, name], 5, c(0, 1))
    expect_equal(unit_columns(made[[name]], example[, name]), slow$X, tolerance = 1e-12,
                 ignore_attr = TRUE)
    expect_equal(made[[name]]$factors, slow$p, tolerance = 1e-12)
    expect_equal(made[[name]]$knots, slow$knots, tolerance = 1e-13, ignore_attr = TRUE)
  }
})

test_that("a search over these curves has the errors that were computed by retraining", {
  with_binding("knot_ends", c(0, 1), {
    problem <- quietly(as_problem(example, example_y, smooth = c(a = 4, b = 4, c = 3)))
    path <- bare_rls(problem, k = 3, lambda = 3)$path
    errors <- vapply(c("a", "b", "c"), function(one) {
      bare_rls(problem, lambda = 3, start = one, k = 1)$path$criterion[2]
    }, 0)
    second <- bare_rls(problem, lambda = 3, start = c("a", "b"), k = 2)$path$criterion[3]
  })
  expect_identical(path$name[-1], c("a", "c", "b"))
  expect_equal(path$criterion, c(23.900826446, 5.478116754, 5.769292265, 9.144688466),
               tolerance = 1e-10)
  expect_equal(errors, c(a = 5.478116754, b = 34.669434836, c = 24.148858139), tolerance = 1e-10)
  expect_equal(second, 8.679748950, tolerance = 1e-10)
})

# A column of one of several kinds: skewed, of few values, with many zeros, of any size.
drawn_column <- function(m, kind) {
  v <- rnorm(m)
  switch(kind, v, exp(2 * v), round(2 * v), pmax(v, 0), 1e3 + v, 1e-9 * v, rt(m, 2))
}

test_that("columns of a curve are orthogonal, of mean 0 and variance 1", {
  set.seed(1)
  for (draw in problems_to_try(60)) {
    m <- sample(30:200, 1)
    v <- drawn_column(m, 1 + draw %% 7)
    w <- if (draw %% 2) runif(m, 0.2, 3) else rep(1, m)
    df <- sample(2:8, 1)
    curve <- curve_of(v, w, df)
    Z <- cbind(1, unit_columns(curve, v))
    expect_equal(crossprod(Z, w * Z) / sum(w), diag(ncol(Z)), tolerance = 1e-8)
    expect_false(is.unsorted(curve$d))
    expect_true(all(curve$knots %in% v))
    expect_lte(length(curve$knots), df + 1)
    if (draw %% 2) next
    slow <- oracle_curve(v, df + 1)
    expect_equal(unname(Z[, -1]), unname(slow$X), tolerance = 1e-6)
    expect_equal(curve$factors, pmin(slow$p, 1e4), tolerance = 1e-6)
  }
})

test_that("a curve follows its column through units, copies of rows and weights", {
  set.seed(2)
  v <- rexp(50)
  curve <- curve_of(v, rep(1, 50))
  Z <- unit_columns(curve, v)
  turned <- curve_of(3 - 1e5 * v, rep(1, 50), ends = c(0, 1))
  straight <- curve_of(v, rep(1, 50), ends = c(0, 1))
  moved <- curve_of(1e4 * v - 7, rep(1, 50))
  expect_equal(moved$factors, curve$factors, tolerance = 1e-9)
  expect_equal(unit_columns(moved, 1e4 * v - 7), Z, tolerance = 1e-8)
  expect_equal(range(turned$knots), 3 - 1e5 * rev(range(straight$knots)))
  w <- rep(1:2, 25)
  expect_equal(curve_of(v, w)[c("knots", "d", "factors", "centre", "scale")],
               curve_of(rep(v, w), rep(1, 75))[c("knots", "d", "factors", "centre", "scale")],
               tolerance = 1e-11)
  # .6 of 50 rows is the 30th
  expect_identical(knots_of(as.double(1:50), rep(1, 50), 3, c(0.2, 1)), c(10, 30, 50))
})

test_that("with the roughness itself as penalty, a ridge model is the penalised spline of mgcv", {
  skip_if_not_installed("mgcv")
  set.seed(3)
  for (draw in 1:10) {
    v <- if (draw %% 2) rnorm(80) else runif(80)
    y <- sin(v) + rnorm(80) / 4
    w <- runif(80, 0.5, 2)
    curve <- curve_of(v, w, 6L, power = 1)
    lambda <- exp(runif(1, -3, 6))
    X <- cbind(1, unit_columns(curve, v))
    P <- diag(lambda * c(0, 0, curve$factors[-1]))
    ours <- X %*% solve(crossprod(X, w * X) + P, crossprod(X, w * y))
    t <- (v - curve$centre) / curve$scale
    knots <- (curve$knots - curve$centre) / curve$scale
    spline <- mgcv::smoothCon(mgcv::s(t, bs = "cr", k = length(knots)), data.frame(t),
                              knots = list(t = knots), scale.penalty = FALSE)[[1]]
    expect_lt(max(curve$factors), 1e4)
    theirs <- spline$X %*% solve(crossprod(spline$X, w * spline$X) +
                                   lambda / curve$d[1] * spline$S[[1]],
                                 crossprod(spline$X, w * y))
    expect_equal(drop(ours), drop(theirs), tolerance = 1e-8)
  }
})

# Folds -------------------------------------------------------------------------------------------

drawn_data <- function(seed) {
  set.seed(seed)
  m <- sample(40:70, 1)
  n <- sample(2:4, 1)
  x <- vapply(seq_len(n), function(j) drawn_column(m, 1 + (seed + j) %% 7), numeric(m))
  colnames(x) <- letters[seq_len(n)]
  y <- sin(2 * x[, 1] / sd(x[, 1])) + x[, 2] / sd(x[, 2]) + rnorm(m) / 3
  w <- if (seed %% 2) runif(m, 0.5, 2) else rep(1, m)
  if (seed %% 5 == 0) w[sample(m, 3)] <- 0
  if (seed %% 3 == 0) x[sample(length(x), 4)] <- NA
  df <- stats::setNames(sample(3:6, n, TRUE), colnames(x))
  list(x = x, y = y, w = w, ids = sample(rep_len(1:4, m)), make = function(rows = seq_len(m)) {
    quietly(as_problem(x[rows, ], y[rows], weights = w[rows], missing = "mean", smooth = df))
  })
}

test_that("searches in folds are the searches of the rows without the fold", {
  for (seed in problems_to_try(60, 8)) {
    d <- drawn_data(seed)
    problem <- d$make()
    fit <- suppressWarnings(greedy_rls(problem, k = 2, lambda = 2, refit = FALSE, size = "min",
                                       size_folds = d$ids), "sparsels_warning_edge")
    scores <- matrix(NA, length(d$y), 3)
    for (fold in 1:4) {
      out <- which(d$ids == fold)
      alone <- d$make(-out)
      lines <- is.null(fit$cv_with) | !is_direction(alone)
      own <- bare_rls(alone[, lines], k = 2, lambda = 2)
      scores[out, ] <- suppressMessages(vapply(0:2, function(size) {
        predict(own, d$x[out, ], size = size)
      }, numeric(length(out))), "sparsels_message_beyond")
      part <- problem[-out, ]
      expect_equal(as.matrix(part$x)[, alone$columns$name], as.matrix(alone$x), tolerance = 1e-12,
                   ignore_attr = TRUE)
    }
    expect_equal(fit$path$cv, colSums(d$w * (d$y - scores)^2) / sum(d$w), tolerance = 1e-9)
    if (seed %% 10 == 1) expect_true(verify(fit, problem, claims = 30)$ok)
  }
})

test_that("a problem with other weights has the curves of its rows, whatever rows had weight 0", {
  for (seed in c(5, 10, 15)) {
    d <- drawn_data(seed)
    problem <- d$make()
    d$w[] <- rev(d$w) + 0.5
    again <- reweighted(problem, d$w)
    whole <- quietly(as_problem(d$x, d$y, weights = d$w, missing = "mean",
                                smooth = given_curves(problem)))
    expect_equal(again$x, whole$x, tolerance = 1e-13)
    expect_equal(again$columns, whole$columns, tolerance = 1e-10)
  }
})

test_that("cross_validate() makes curves anew, and the folds of a search do not", {
  d <- drawn_data(4)
  problem <- d$make()
  fit <- bare_rls(problem, k = 2, lambda = 2, folds = d$ids)
  shown <- as_problem(problem$x, d$y, weights = d$w, standardize = TRUE,
                      columns_group = problem$columns$curve, penalty = problem$columns$roughness)
  expect_equal(fit$path$criterion, bare_rls(shown, k = 2, lambda = 2, folds = d$ids)$path$criterion)
  cvd <- cross_validate(problem, greedy_rls, outer = d$ids, k = 2, lambda = 2, refit = FALSE,
                        size = 2, baselines = NULL)
  scores <- 0 * d$y
  for (fold in 1:4) {
    out <- which(d$ids == fold)
    own <- greedy_rls(d$make(-out), k = 2, lambda = 2, refit = FALSE, size = 2)
    scores[out] <- suppressMessages(predict(own, d$x[out, ]))
  }
  expect_equal(drop(cvd$held_out), scores, tolerance = 1e-10)
})

test_that("outer folds of ridge models on curves are retrained, with means and beyond the range", {
  for (seed in c(3, 6, 9, 4)) {
    d <- drawn_data(seed)
    expect_no_message(cvd <- cross_validate(d$make(), rls, outer = d$ids, lambda = 3,
                                            baselines = NULL), class = "sparsels_message_beyond")
    scores <- 0 * d$y
    for (fold in 1:4) {
      out <- which(d$ids == fold)
      own <- rls(d$make(-out), lambda = 3)
      scores[out] <- suppressMessages(predict(own, d$x[out, ]), "sparsels_message_beyond")
    }
    expect_equal(drop(cvd$held_out), scores, tolerance = 1e-9)
  }
})

test_that("intervals of new rows are by the curves of each fold", {
  for (seed in c(3, 4)) {
    d <- drawn_data(seed)
    fit <- suppressWarnings(greedy_rls(d$make(), k = 2, lambda = 2, refit = FALSE, size = 2,
                                       size_folds = d$ids))
    new <- d$x[1:6, ]
    without <- predictions_without(fit, new)
    found <- without$at(1:6)
    for (part in 1:4) {
      own <- bare_rls(d$make(-without$pairs$row[without$pairs$part == part]), k = 2, lambda = 2)
      expect_equal(found[, 1, part], suppressMessages(predict(own, new, size = 2)),
                   tolerance = 1e-9, ignore_attr = TRUE)
    }
  }
})

# Data --------------------------------------------------------------------------------------------

test_that("matrices, frames, formulas and sparse matrices have the same curves", {
  set.seed(7)
  x <- matrix(rnorm(300), 60, dimnames = list(NULL, letters[1:5]))
  x[x < -0.5] <- 0
  y <- x[, 1]^2 + x[, 2] + rnorm(60) / 3
  d <- data.frame(x, y)
  search <- function(...) greedy_rls(..., k = 3, size = 3, size_folds = 3)
  fit <- search(x, y, smooth = TRUE)
  expect_equal(predict(search(d[1:5], y, smooth = TRUE), d), predict(fit, x), ignore_attr = TRUE)
  expect_equal(predict(search(y ~ s(.), d), d), predict(fit, x), ignore_attr = TRUE)
  expect_equal(predict(search(y ~ s(a) + s(b) + s(c) + s(d) + s(e), d), d), predict(fit, x),
               ignore_attr = TRUE)
  sparse <- methods::as(x, "CsparseMatrix")
  of_sparse <- as_problem(sparse, y, smooth = TRUE)
  expect_s4_class(of_sparse$x, "dgCMatrix")
  expect_equal(diff(of_sparse$x@p)[1:6], rep(sum(x[, 1] != 0), 6))
  own <- search(of_sparse)
  expect_equal(predict(own, x), predict(fit, x), tolerance = 1e-8)
  expect_equal(predict(own, sparse), predict(fit, x), tolerance = 1e-8)
  expect_equal(predict(search(unname(x), y, smooth = TRUE), unname(x)), predict(fit, x),
               ignore_attr = TRUE)
})

test_that("data without names are given again as data with names are", {
  set.seed(1)
  x <- matrix(rnorm(160), 40, dimnames = list(NULL, paste0("V", 1:4)))
  y <- x[, 1] + x[, 2]^2 + rnorm(40)
  for (given in list(list(smooth = TRUE), list(smooth = TRUE, smooth_basis = "steps"),
                     list(interactions = TRUE))) {
    fit_of <- function(x) {
      quietly(do.call(greedy_rls, c(list(x, y, size = 2, folds = "loo",
                                         size_folds = rep(1:4, 10)), given)))
    }
    named <- fit_of(x)
    unnamed <- fit_of(unname(x))
    expect_identical(tidy(exchange(unnamed, unname(x), y)), tidy(exchange(named, x, y)))
    own <- quietly(do.call(as_problem, c(list(unname(x), y), given)))
    expect_equal(predict(unnamed, own), predict(named, x))
  }
})

test_that("selected() and formula() are by term, coef() by column", {
  d <- data.frame(example, y = example_y + 0.1, f = gl(2, 6))
  fit <- quietly(greedy_rls(y ~ s(a, df = 4) + b + f, d, size = 2, k = 2, start = c("a", "b"),
                            task = "regression"))
  expect_setequal(selected(fit), c("a", "b"))
  expect_identical(selected(fit, index = TRUE), match(selected(fit), c("a", "b", "f2")))
  expect_true("s(a, df = 4)" %in% attr(terms(fit), "term.labels"))
  expect_setequal(names(coef(fit)), c("(Intercept)", "a", "a~1", "a~2", "a~3", "b"))
  expect_identical(deparse1(formula(fit$problem)), "y ~ s(a, df = 4) + b + f")
  parts <- predict(fit, d, type = "terms")
  expect_setequal(colnames(parts), c("a", "b"))
  expect_equal(rowSums(parts) + attr(parts, "constant"), predict(fit, d), ignore_attr = TRUE)
  expect_equal(colMeans(parts), c(0, 0), ignore_attr = TRUE)
  expect_identical(update(fit, . ~ . - s(a), evaluate = FALSE)$x, y ~ s(a, df = 4) + b + f - s(a),
                   ignore_formula_env = TRUE)
  smaller <- quietly(update(fit, . ~ . - s(a, df = 4), k = 1, start = NULL, size = 1))
  expect_identical(smaller$problem$columns$name, c("b", "f2"))
})

test_that("a curve is constant beyond its training range, with one message", {
  fit <- quietly(greedy_rls(example, example_y, smooth = c(a = 4), size = 1, k = 1))
  new <- example[c(1, 12), ]
  new[, "a"] <- c(-50, 50)
  expect_message(beyond <- predict(fit, new), "2 rows of `newdata` are beyond .* 'a'",
                 class = "sparsels_message_beyond")
  expect_equal(beyond, predict(fit, example[c(1, 12), ]))
  expect_no_message(predict(fit, example))
})

test_that("columns of few values remain lines unless they are named", {
  expect_identical(quietly(given_curves(as_problem(example, example_y, smooth = TRUE))),
                   c(a = 6L, b = 6L))
  expect_message(problem <- as_problem(example, example_y, smooth = c(c = 6)),
                 "'c' has 4 values, so its curve has 3 degrees", class = "sparsels_message_curves")
  expect_identical(given_curves(problem), c(c = 3L))
  expect_message(as_problem(cbind(example, d = 0:1), example_y, smooth = "d"),
                 "fewer than three values", class = "sparsels_message_curves")
  expect_warning(as_problem(example, example_y, smooth = "a"), "6 degrees of freedom from 12 rows",
                 class = "sparsels_warning_curves")
  wide <- matrix(rnorm(200), 10, dimnames = list(NULL, paste0("g", 1:20)))
  expect_message(suppressWarnings(as_problem(wide, rnorm(10), smooth = 2)), "do not pay",
                 class = "sparsels_message_curves")
})

test_that("what cannot be a curve is refused by name", {
  d <- data.frame(example, y = example_y, f = gl(2, 6))
  expect_snapshot(error = TRUE, {
    as_problem(example, example_y, smooth = "z")
    as_problem(example, example_y, smooth = c("a", "a"))
    as_problem(example, example_y, smooth = 1)
    as_problem(example, example_y, smooth = c(a = 2.5))
    as_problem(example, example_y, smooth = list(1))
    as_problem(example, example_y, smooth = TRUE, intercept = FALSE)
    as_problem(float_matrix(example), example_y, smooth = TRUE)
    as_problem(d[c("a", "f")], example_y, smooth = "f")
    as_problem(y ~ s(a, k = 4), d)
    as_problem(y ~ s(a, df = "4"), d)
    as_problem(replace(example, 5, Inf), example_y, smooth = TRUE, missing = "mean")
    as_problem(replace(example, 5, NA), example_y, smooth = TRUE)
    as_problem(y ~ s(a, b, c), d)
    as_problem(y ~ a:s(b), d)
    as_problem(y ~ log(s(b)), d)
    quietly(as_problem(example, example_y, smooth = "a", columns_group = c("g", "g", ""),
                       group_rule = "one"))
    quietly(as_problem(example, example_y, smooth = "a", columns_group = c("", "a", "a")))
    quietly(as_problem(example, example_y, smooth = "a"))[, "a~1"]
    quietly(l1_path(example, example_y, smooth = "a"))
    quietly(greedy_rls(example, example_y, smooth = "a", loss = "poisson"))
    quietly(lssvm(example, example_y, smooth = "a", kernel = kernel_gaussian(1), gamma = 1))
  })
})

test_that("terms of a formula that make several columns are groups, curves among them", {
  set.seed(9)
  d <- data.frame(y = rnorm(40), a = rnorm(40), b = rexp(40), g = gl(4, 10))
  d$M <- matrix(rnorm(80), 40)
  df <- 3
  problem <- as_problem(y ~ splines::ns(a, 3) + poly(b, 2) + s(b, df = df) + cbind(a, b) + g + M, d)
  expect_identical(problem$coding$column_groups$names,
                   c("splines::ns(a, 3)", "poly(b, 2)", "b", "cbind(a, b)", "g"))
  expect_identical(sum(problem$columns$group == 0L), 2L)
  names(d)[3] <- "my var"
  fit <- greedy_rls(y ~ s(`my var`), d, start = "my var", size = 1)
  expect_identical(deparse1(formula(fit)), "y ~ s(`my var`)")
  expect_identical(deparse1(formula(greedy_rls(y ~ s(`my var`), d, size = 1))), "y ~ `my var`")
  expect_identical(predict(fit, d[1:3, ]), predict(fit, d)[1:3])
})

test_that("penalties and groups that are given hold for whole curves", {
  free <- quietly(as_problem(example, example_y, smooth = c(a = 4), penalty = c(a = 0)))
  expect_identical(colnames(free$z), c("(Intercept)", "a", "a~1", "a~2", "a~3"))
  never <- quietly(as_problem(example, example_y, smooth = c(a = 4), penalty = c(a = Inf)))
  expect_identical(never$columns$usable, rep(c(FALSE, TRUE), c(4, 2)))
  joined <- quietly(as_problem(example, example_y, smooth = c(a = 4),
                               columns_group = list(both = c("a", "b"))))
  expect_identical(joined$columns$group, c(1L, 1L, 1L, 1L, 1L, 0L))
  apart <- quietly(as_problem(example, example_y, smooth = c(a = 4), columns_group = FALSE))
  expect_null(apart$columns$group)
  expect_lte(max(bare_rls(apart, k = 2, lambda = 1)$path$size), 2)
  blocks <- quietly(rls(example, example_y, smooth = c(a = 4),
                        blocks = list(u = "a", v = c("b", "c")), lambda = 1))
  expect_true(verify(blocks, quietly(as_problem(example, example_y, smooth = c(a = 4))))$ok)
})

test_that("a panel of columns with curves is a panel of their curves", {
  d <- drawn_data(8)
  problem <- d$make()
  columns <- which(problem$columns$curve %in% c("a", "b"))
  set.seed(1)
  panel <- panel_error(problem, features = c("a", "b"), lambda = 2, random = 3)
  expect_equal(panel$error, oracle_squared(problem, columns, 2, panel$folds), tolerance = 1e-9)
  expect_identical(selected(panel), c("a", "b"))
  expect_true(all(panel$random >= panel$error - 1e-12))
})

test_that("added_value() has whole curves in its base", {
  d <- drawn_data(2)
  problem <- d$make()
  base <- which(problem$columns$curve %in% "a")
  pair <- nested_pair(new_run(rls, working_copy(problem), name = "rls"), "a", FALSE)
  expect_identical(pair$names, problem$columns$name[base])
})

test_that("results that list columns have a row for each curve, and a cluster is refused", {
  d <- drawn_data(8)
  problem <- d$make()
  fit <- greedy_rls(problem)
  expect_identical(problem$columns$name[chosen_sources(fit)], selected(fit))
  table <- direction_table(fit, problem)
  # a curve has no coefficient of its own
  expect_identical(is.na(table$effect), selected(fit) %in% problem$columns$curve)
  expect_error(greedy_rls(problem, columns_group = FALSE, cluster = list()), "given again")
  apart <- quietly(as_problem(d$x, d$y, smooth = 3, missing = "mean", columns_group = FALSE))
  expect_error(greedy_rls(apart, cluster = structure(list(1), class = "cluster")),
               "without curves", class = "sparsels_error_argument")
})

test_that("the default lambdas do not depend on the roughness of curves", {
  set.seed(8)
  x <- matrix(rnorm(400), 100, dimnames = list(NULL, letters[1:4]))
  expect_equal(mean_square(as_problem(x, x[, 1] + rnorm(100), smooth = TRUE)), 100)
})

test_that("a value beside which rounding leaves no difference of the others has no knots between", {
  set.seed(1)
  x <- matrix(rnorm(240), 40, dimnames = list(NULL, letters[1:6]))
  y <- x[, 2]^2 + rnorm(40) / 2
  for (far in 10^c(15.6, 16, 40, 100)) {
    x[1, 1] <- far
    fit <- suppressMessages(greedy_rls(x, y, k = 3, smooth = TRUE))
    expect_identical(selected(fit), "b")
    expect_true(verify(fit, x, y, claims = Inf)$ok)
  }
})
