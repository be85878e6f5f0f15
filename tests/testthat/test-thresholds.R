# Steps and hinges: columns beside plain formulas, folds beside retraining from the rows alone.

# The thresholds of a column by their definition, slowly.
slow_thresholds <- function(x, w, K, basis) {
  values <- sort(unique(x[w > 0]))
  inner <- values[values < max(values) & (basis == "steps" | values > min(values))]
  weight <- vapply(inner, function(v) sum(w[x == v]), 0)
  if (length(inner) > K) {
    often <- weight > sum(weight) / (K - 1)
    share <- seq(1, K, length.out = max(2, K - sum(often))) / (K + 1) * sum(weight[!often])
    up_to <- cumsum(weight[!often])
    rest <- vapply(share, function(s) inner[!often][which(up_to >= s * (1 - 1e-12))[1]], 0)
    inner <- sort(unique(c(inner[often], rest)))
  }
  rows <- vapply(inner, function(v) sum(x[w > 0] <= v), 0L)
  inner <- inner[rows >= 5 & sum(w > 0) - rows >= 5]
  if (basis == "hinges") return(inner)
  vapply(inner, function(v) (v + min(values[values > v])) / 2, 0)
}

plain_thresholds <- function(x, t, basis) {
  if (basis == "steps") outer(x, t, function(x, t) 1 * (x >= t)) else
    outer(x, t, function(x, t) ifelse(x > t, x - t, 0))
}

drawn_column <- function(m, kind) {
  v <- rnorm(m)
  switch(kind, v, exp(2 * v), round(3 * v), pmax(v, 0), 1e-9 * v)
}

# A column with weights, and a basis of thresholds.
drawn_case <- function(draw) {
  m <- sample(30:200, 1)
  v <- drawn_column(m, 1 + draw %% 5)
  w <- if (draw %% 2) runif(m, 0.2, 3) else sample(0:1, m, TRUE, c(0.1, 0.9))
  list(m = m, v = v, w = w, basis = c("steps", "hinges")[1 + draw %% 2])
}

test_that("columns are steps and hinges by their plain formulas, in the range of the rows", {
  set.seed(1)
  for (draw in problems_to_try(60)) {
    case <- drawn_case(draw)
    m <- case$m
    v <- case$v
    w <- case$w
    df <- sample(3:20, 1)
    basis <- case$basis
    curve <- curve_of(v, w, df, basis = basis)
    t <- slow_thresholds(v, w, df - 1, basis)
    expect_equal(curve$knots, t, tolerance = 1e-14)
    new <- c(v, 3 * v)
    within <- pmin(pmax(new, min(v[w > 0])), max(v[w > 0]))
    plain <- cbind(within, plain_thresholds(within, t, basis))
    expect_equal(curve_columns(curve, new), plain, tolerance = 1e-14, ignore_attr = TRUE)
    expect_equal(curve$means, weighted_means(plain[seq_len(m), -1, drop = FALSE], w),
                 ignore_attr = TRUE)
    for (k in seq_along(t)) {
      expect_equal(piece_values(curve_pieces(curve, k), new), plain[, k + 1], tolerance = 1e-13)
    }
  }
})

test_that("thresholds beside a curve are the ones of the column, the curve is the same", {
  set.seed(2)
  for (draw in problems_to_try(60)) {
    case <- drawn_case(draw)
    m <- case$m
    v <- case$v
    w <- case$w
    df <- sample(2:7, 1)
    basis <- case$basis
    spline <- curve_of(v, w, df)
    thresholds <- curve_of(v, w, 12L, basis = basis)
    both <- curve_of(v, w, df, basis = paste0("curve+", basis), beside = 11L)
    new <- c(v, 3 * v)
    columns <- curve_columns(both, new)
    had <- length(spline$d)
    expect_identical(columns[, seq_len(1 + had)], curve_columns(spline, new)[, seq_len(1 + had)])
    expect_true(all(columns[, seq_len(df - 1 - had) + 1 + had] == 0))
    last <- df + seq_along(thresholds$knots)
    expect_identical(columns[, last], curve_columns(thresholds, new)[, -1])
    expect_identical(which(has_direction(both, 0:30)), c(seq_len(1 + had), last))
    expect_equal(both$means, weighted_means(columns[seq_len(m), -1], w), tolerance = 1e-9,
                 ignore_attr = TRUE)
    for (k in c(seq_len(df), last) - 1) {
      expect_equal(piece_values(curve_pieces(both, k), new), columns[, k + 1], tolerance = 1e-9)
    }
  }
})

quietly <- function(code) {
  suppressWarnings(suppressMessages(code, "sparsels_message_curves"), "sparsels_warning_curves")
}

drawn_data <- function(seed) {
  set.seed(seed)
  m <- sample(40:70, 1)
  x <- vapply(1:3, function(j) drawn_column(m, 1 + (seed + j) %% 5), numeric(m))
  colnames(x) <- letters[1:3]
  y <- 2 * (x[, 1] > median(x[, 1])) + x[, 2] / sd(x[, 2]) + rnorm(m) / 3
  w <- if (seed %% 2) runif(m, 0.5, 2) else rep(1, m)
  if (seed %% 5 == 0) w[sample(m, 3)] <- 0
  if (seed %% 3 == 0) x[sample(length(x), 4)] <- NA
  df <- stats::setNames(sample(4:9, 3, TRUE), colnames(x))
  basis <- stats::setNames(sample(names(basis_df), 3, TRUE, c(1, 2, 2, 2, 2)), colnames(x))
  list(x = x, y = y, w = w, ids = sample(rep_len(1:4, m)), make = function(rows = seq_len(m)) {
    quietly(as_problem(x[rows, ], y[rows], weights = w[rows], missing = "mean", smooth = df,
                       smooth_basis = basis))
  })
}

quiet_rls <- function(...) {
  suppressWarnings(greedy_rls(..., refit = FALSE), "sparsels_warning_edge")
}

test_that("searches in folds are the searches of the rows without the fold", {
  for (seed in problems_to_try(60, 8)) {
    d <- drawn_data(seed)
    problem <- d$make()
    fit <- quiet_rls(problem, k = 3, lambda = 2, size = "min", size_folds = d$ids)
    scores <- matrix(NA, length(d$y), 4)
    for (fold in 1:4) {
      out <- which(d$ids == fold)
      alone <- d$make(-out)
      own <- bare_rls(alone, k = 3, lambda = 2)
      scores[out, ] <- suppressMessages(vapply(0:3, function(size) {
        predict(own, d$x[out, ], size = size)
      }, numeric(length(out))), "sparsels_message_beyond")
      part <- problem[-out, ]
      same <- intersect(alone$columns$name, part$columns$name)
      expect_true(all(alone$columns$name[alone$columns$usable] %in% same))
      expect_equal(as.matrix(part$x)[, same], as.matrix(alone$x)[, same], tolerance = 1e-12,
                   ignore_attr = TRUE)
    }
    expect_equal(fit$path$cv, colSums(d$w * (d$y - scores)^2) / sum(d$w), tolerance = 1e-9)
    if (seed %% 10 == 1) expect_true(verify(fit, problem, claims = 30)$ok)
  }
})

test_that("cross_validate() makes thresholds anew, and the folds of a search do not", {
  d <- drawn_data(4)
  problem <- d$make()
  fit <- bare_rls(problem, k = 3, lambda = 2, folds = d$ids)
  group <- ifelse(is_threshold(problem), problem$columns$name, problem$columns$curve)
  shown <- as_problem(problem$x, d$y, weights = d$w, columns_group = group,
                      penalty = problem$columns$roughness)
  expect_equal(fit$path$criterion, bare_rls(shown, k = 3, lambda = 2, folds = d$ids)$path$criterion)
  cvd <- cross_validate(problem, greedy_rls, outer = d$ids, k = 3, lambda = 2, refit = FALSE,
                        size = 2, baselines = NULL)
  scores <- 0 * d$y
  for (fold in 1:4) {
    out <- which(d$ids == fold)
    own <- quiet_rls(d$make(-out), k = 3, lambda = 2, size = 2)
    scores[out] <- suppressMessages(predict(own, d$x[out, ]))
  }
  expect_equal(drop(cvd$held_out), scores, tolerance = 1e-10)
})

test_that("matrices, frames, formulas, sparse and computed matrices have the same thresholds", {
  set.seed(7)
  x <- matrix(rnorm(300), 60, dimnames = list(NULL, letters[1:5]))
  x[x < -0.5] <- 0
  y <- 2 * (x[, 1] > 0.3) + pmax(x[, 2], 0.5) + rnorm(60) / 3
  d <- data.frame(x, y)
  for (basis in c("steps", "hinges", "curve+steps", "curve+hinges")) {
    search <- function(...) greedy_rls(..., k = 3, size = 3, lambda = 2, refit = FALSE)
    fit <- search(x, y, smooth = 8, smooth_basis = basis)
    same <- function(other, new = x) {
      expect_equal(predict(other, new), predict(fit, x), tolerance = 1e-8, ignore_attr = TRUE)
    }
    same(search(d[1:5], y, smooth = 8, smooth_basis = basis), d)
    same(search(y ~ s(., df = 8, basis = basis), d), d)
    same(search(y ~ s(a, df = 8, basis = basis) + b + c + d + e, d,
                smooth = c(a = 8, b = 8, c = 8, d = 8, e = 8), smooth_basis = basis), d)
    sparse <- methods::as(x, "CsparseMatrix")
    of_sparse <- as_problem(sparse, y, smooth = 8, smooth_basis = basis)
    expect_s4_class(of_sparse$x, "dgCMatrix")
    of_first <- which(of_sparse$columns$curve == "a")
    expect_equal(diff(of_sparse$x@p)[of_first], 0 * of_first + sum(x[, 1] != 0))
    same(search(of_sparse))
    with_binding("most_stored", 100, {
      computed <- as_problem(x, y, smooth = 8, smooth_basis = basis)
      expect_true(is_computed(computed$x))
      same(search(computed))
    })
  }
})

test_that("thresholds of many rows are searched by products, as by rows", {
  with_binding("placed_rows", 200L, {
    set.seed(11)
    x <- matrix(rnorm(1800), 450, dimnames = list(NULL, letters[1:4]))
    x[, 2] <- round(2 * x[, 2])
    y <- 2 * (x[, 1] > 0.3) + abs(x[, 2]) + rnorm(450) / 3
    for (basis in list("steps", "hinges", c(a = "steps"), "curve+hinges", c(a = "curve+steps"))) {
      problem <- as_problem(x, y, smooth = 6, smooth_basis = basis, weights = runif(450, 0.5, 2))
      search <- function(...) {
        suppressWarnings(greedy_rls(problem, k = 3, size_folds = 3, ...), "sparsels_warning_edge")
      }
      fit <- search()
      expect_true(fit$work$by_products)
      expect_true(verify(fit, problem, claims = 15)$ok)
      rows <- with_binding("most_products", 0, search(folds = fit$folds))
      expect_false(rows$work$by_products)
      for (part in c("criterion", "cv")) {
        expect_equal(rows$path[[part]], fit$path[[part]], tolerance = 1e-8)
      }
      expect_equal(coef(rows), coef(fit), tolerance = 1e-7)
      expect_identical(problem[-(1:100), ]$curves$a$knots, problem$curves$a$knots)
    }
  })
})

test_that("terms, panels, words and formulas are of the columns, coef() of thresholds", {
  set.seed(12)
  d <- data.frame(age = runif(200, 20, 80), dose = rexp(200), noise = rnorm(200))
  d$y <- 2 * (d$age > 50) + 2 * pmax(d$dose - 1, 0) + rnorm(200) / 3
  fit <- greedy_rls(y ~ s(age, basis = "steps") + s(dose, df = 9, basis = "hinges") + noise, d)
  expect_identical(fit$terms$kind, c("hinges", "steps"))
  expect_match(fit$terms$shape[2], "^rises at age = (49|50|51)$")
  expect_match(names(coef(fit))[2], "^dose>")
  expect_setequal(selected(fit), c("age", "dose"))
  expect_identical(deparse1(formula(fit)[[3]]),
                   "s(dose, df = 9, basis = \"hinges\") + s(age, basis = \"steps\")")
  parts <- predict(fit, d, type = "terms")
  expect_setequal(colnames(parts), c("age", "dose"))
  expect_equal(rowSums(parts) + attr(parts, "constant"), predict(fit, d), ignore_attr = TRUE)
  expect_equal(colMeans(parts), c(0, 0), ignore_attr = TRUE)
  expect_equal(part_of_term(fit$problem, model_of(fit), "age", d$age), parts[, "age"],
               ignore_attr = TRUE)
  expect_equal(predict(as_panel(fit), d), predict(fit, d), ignore_attr = TRUE)
  pdf(NULL)
  on.exit(dev.off())
  drawn <- plot(fit, what = "terms", newdata = d)
  age <- drawn[drawn$term == "age", ]
  expect_equal(age$value, part_of_term(fit$problem, model_of(fit), "age", age$x))
  expect_output(print(fit$problem), "steps of 1 column (16 degrees of freedom): age", fixed = TRUE)
  both <- as_problem(y ~ s(.), d, smooth_basis = c(dose = "steps"), interactions = TRUE)
  expect_identical(given_basis(both), c(dose = "steps"))
  expect_identical(both$pairs$basis$dose$basis, "curve")
  none <- vapply(1:5, function(draw) {
    greedy_rls(sample(y) ~ s(., basis = "steps"), d, k = 5, size_folds = 5)$size
  }, 0)
  expect_gte(sum(none == 0), 4)
})

test_that("a curve and thresholds of one column are one term, given again by a formula", {
  set.seed(13)
  d <- data.frame(age = runif(300, 20, 80), dose = rexp(300))
  d$y <- sin(d$age / 8) + 2 * (d$age > 50) + d$dose + rnorm(300) / 3
  fit <- greedy_rls(y ~ s(age, basis = "curve+steps") + s(dose), d)
  age <- fit$terms[fit$terms$term == "age", ]
  expect_identical(age$kind, "curve and steps")
  expect_true(all(c("age", "age~1") %in% names(coef(fit))))
  expect_match(names(coef(fit)), "^age>=", all = FALSE)
  expect_identical(formula(fit)[[3]][[2]], quote(s(age, basis = "curve+steps")))
  parts <- predict(fit, d, type = "terms")
  expect_setequal(colnames(parts), selected(fit))
  expect_equal(rowSums(parts) + attr(parts, "constant"), predict(fit, d), ignore_attr = TRUE)
  expect_equal(part_of_term(fit$problem, model_of(fit), "age", d$age), parts[, "age"],
               ignore_attr = TRUE)
  expect_equal(predict(as_panel(fit), d), predict(fit, d), ignore_attr = TRUE)
  expect_true(verify(fit, d)$ok)
  expect_output(print(fit$problem), "curves and steps of 1 column (6 degrees of freedom): age",
                fixed = TRUE)
  both <- as_problem(y ~ s(.), d, smooth_basis = c(age = "curve+hinges"), interactions = TRUE)
  expect_identical(given_basis(both), c(age = "curve+hinges"))
  alone <- as_problem(y ~ s(.), d, interactions = TRUE)
  expect_equal(both$x[, alone$columns$name], alone$x[, alone$columns$name], tolerance = 1e-12)
})

test_that("bases that are none are refused by name", {
  x <- matrix(rnorm(60), 20, dimnames = list(NULL, c("a", "b", "c")))
  d <- data.frame(x, y = rnorm(20))
  expect_snapshot(error = TRUE, {
    as_problem(x, d$y, smooth = TRUE, smooth_basis = "step")
    as_problem(x, d$y, smooth = TRUE, smooth_basis = 3)
    as_problem(x, d$y, smooth = TRUE, smooth_basis = c(q = "steps"))
    as_problem(x, d$y, smooth = "a", smooth_basis = c(b = "steps"))
    as_problem(x, d$y, smooth_basis = "steps")
    as_problem(y ~ s(a, basis = "bumps"), d)
    as_problem(y ~ s(a, b, basis = "steps"), d)
  })
})

test_that("steps, hinges and curves of a sparse matrix are the ones of its values in every fold", {
  set.seed(51)
  x <- matrix(rnorm(120), 30, dimnames = list(NULL, letters[1:4]))
  x[abs(x) < 0.6] <- 0
  y <- pmax(x[, 1] - 0.8, 0) + sin(2 * x[, 2]) + rnorm(30) / 4
  weights <- rep(c(0, 1, 1, 2, 1), 6)
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  for (basis in c("curve", "steps", "hinges", "curve+steps", "curve+hinges")) {
    fits <- lapply(list(x, sparse), function(x) {
      pb <- suppressWarnings(as_problem(x, y, weights = weights, smooth = TRUE,
                                        smooth_basis = basis))
      # the rows of a part without the ones of its parts
      part <- pb[1:24, ]
      expect_no_warning(fit <- greedy_rls(part, size = "min", k = 4, size_folds = 3),
                        class = "simpleWarning")
      fit
    })
    expect_equal(fits[[2]]$held_out, fits[[1]]$held_out, tolerance = 1e-8, info = basis)
    expect_equal(fits[[2]]$path$cv, fits[[1]]$path$cv, tolerance = 1e-8, info = basis)
    expect_identical(fits[[2]]$path$name, fits[[1]]$path$name)
  }
})

test_that("a data frame may be the new data of a fit to a matrix", {
  set.seed(14)
  x <- matrix(rnorm(160), 40, dimnames = list(NULL, letters[1:4]))
  y <- 2 * (x[, 1] > 0) + 2 * (x[, 1] > 1) + x[, 2]^2 + rnorm(40) / 5
  for (basis in c("curve", "steps", "hinges")) {
    fit <- greedy_rls(x, y, smooth = TRUE, smooth_basis = basis, size = "criterion", k = 8)
    expect_equal(unname(predict(fit, as.data.frame(x[1:5, ]))), unname(predict(fit, x[1:5, ])),
                 info = basis)
  }
})
