# The terms of models with curves: shapes, errors as lines, parts beside retraining, the picture.

made_terms <- function(seed = 1, m = 80) {
  set.seed(seed)
  d <- data.frame(a = runif(m, -2, 2), b = rexp(m), c = rnorm(m), n = rnorm(m))
  d$y <- d$a^2 + 0.8 * d$c + log(1 + d$b) + rnorm(m) / 3
  d
}

test_that("shapes are said in words", {
  x <- seq(0, 10, length.out = 201)
  shape <- function(value) sprintf(shape_of(x, value), "x")
  expect_identical(shape(x), "rises with x")
  expect_identical(shape(-x^1.1), "falls with x")
  expect_identical(shape(pmax(x - 6, 0)), "rises with x from 6.4 on")
  expect_identical(shape(pmin(x, 4)), "rises with x up to 3.6")
  expect_identical(shape(-pmin(pmax(x - 4, 0), 2)), "falls with x from 4.2 on up to 5.8")
  expect_identical(shape((x - 3)^2), "dips at x = 3")
  expect_identical(shape(-(x - 7)^2), "peaks at x = 7")
  expect_identical(shape(sin(x)), "waves with x")
  # small swings do not count
  expect_identical(shape(x + 0.4 * sin(2 * x)), "rises with x")
  expect_identical(shape(0 * x), "does not change with x")
})

test_that("a term is a line where the held-out error without its directions is no higher", {
  for (seed in 1:4) {
    d <- made_terms(seed)
    problem <- as_problem(y ~ s(.), d)
    fit <- greedy_rls(problem, folds = if (seed > 2) 5 else "loo")
    features <- fit$coefficients[[fit$size + 1]]$features
    row <- fit$path[match(fit$size, fit$path$size), ]
    error <- function(columns) oracle_squared(problem, columns, row$refit_lambda, fit$folds)
    own <- error(features)
    for (name in fit$terms$term) {
      directions <- which(problem$columns$curve %in% name & problem$columns$direction > 0)
      of_line <- error(setdiff(features, directions)) / own
      term <- fit$terms[fit$terms$term == name, ]
      expect_equal(term$error, of_line, tolerance = 1e-8)
      expect_identical(term$kind, if (of_line > 1) "curve" else "line")
    }
    expect_match(fit$terms$shape[fit$terms$term == "a"], "dips at a = ")
  }
})

test_that("rows of weight 0 do not count for the shapes and errors of terms", {
  d <- made_terms(9)
  w <- rep(c(1, 0), c(70, 10))
  fit <- greedy_rls(y ~ s(.), d, weights = w)
  alone <- greedy_rls(y ~ s(.), d[1:70, ])
  expect_equal(fit$terms, alone$terms, tolerance = 1e-9)
  expect_true(verify(fit, y ~ s(.), data = d, weights = w)$ok)
})

test_that("parts of terms add up to predictions, and the band is a jackknife over folds", {
  d <- made_terms(5)
  ids <- rep_len(1:6, nrow(d))
  fit <- suppressWarnings(greedy_rls(y ~ s(a) + s(b) + c, d, k = 3, size = 3, lambda = 1,
                                     refit = FALSE, size_folds = ids))
  parts <- predict(fit, d, type = "terms")
  model <- model_of(fit)
  for (name in c("a", "b", "c")) {
    expect_equal(part_of_term(fit$problem, model, name, d[[name]]), parts[, name],
                 ignore_attr = TRUE)
  }
  grid <- seq(min(d$a), max(d$a), length.out = 11)
  without <- vapply(1:6, function(fold) {
    own <- bare_rls(y ~ s(a) + s(b) + c, d[ids != fold, ], k = 3, lambda = 1)
    new <- data.frame(a = grid, b = 1, c = 0)
    suppressMessages(predict(own, new, size = 3, type = "terms"))[, "a"]
  }, grid)
  expect_equal(part_error(fit, "a", grid),
               sqrt(5 / 6 * rowSums((without - rowMeans(without))^2)), tolerance = 1e-8,
               ignore_attr = TRUE)
})

test_that("the picture has the terms on one scale, and held-out partial residuals", {
  d <- made_terms(6)
  fit <- greedy_rls(y ~ s(.), d)
  made <- picture_of(fit, what = "terms", newdata = d)
  expect_identical(unique(made$data$term), fit$terms$term)
  expect_identical(length(unique(lapply(made$panels, function(panel) panel$settings$ylim))), 1L)
  points <- term_points(fit, model_of(fit), "a", d)[[1]]
  expect_equal(points$y, predict(fit, d, type = "terms")[, "a"] + residuals(fit, "held_out"),
               ignore_attr = TRUE)
  expect_lt(length(picture_of(fit, what = "terms")$panels[[1]]$layers),
            length(made$panels[[1]]$layers))
  # a wide band does not press the curves flat
  value <- data.frame(value = c(0, 4), lower = c(-1, -90), upper = c(1, 9))
  expect_identical(scale_of_terms(value, NULL), c(-1, 5))
  expect_identical(scale_of_terms(value, list(data.frame(y = rep(c(-4, 8), 100)))), c(-7, 9))
  pdf(NULL)
  drawn <- plot(fit, what = "terms", newdata = d, most = 2)
  dev.off()
  expect_identical(nrow(drawn), 202L)
  expect_error(plot(greedy_rls(y ~ ., d), what = "terms"), "with curves",
               class = "sparsels_error_argument")
  expect_error(plot(fit, what = "terms", newdata = d[1:5, ]), "80 training rows",
               class = "sparsels_error_input")
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_s3_class(ggplot2::autoplot(fit, what = "terms", newdata = d), "ggplot")
  }
})

test_that("a fit says what its terms do", {
  d <- made_terms(7)
  fit <- greedy_rls(y ~ s(.), d)
  expect_snapshot(print(fit, n = 0))
  d$up <- factor(ifelse(d$y > median(d$y), "yes", "no"))
  d$y <- NULL
  said <- capture.output(print(greedy_rls(up ~ s(.), d)))
  expect_true(any(grepl("^the score of 'yes' ", said)))
  expect_null(greedy_rls(up ~ ., d)$terms)
})

test_that("curves that do not improve the cross-validated error are lines", {
  set.seed(1)
  d <- data.frame(a = rnorm(80), b = rexp(80), c = runif(80))
  d$y <- 2 * d$a - d$b + rnorm(80) / 2
  problem <- as_problem(y ~ s(.), d)
  fit <- greedy_rls(problem)
  lines <- greedy_rls(y ~ ., d)
  expect_equal(fit$path$criterion, lines$path$criterion)
  expect_equal(coef(fit), coef(lines))
  # within the range of the rows of any fold
  inside <- rowSums(sapply(d[c("a", "b", "c")], function(x) rank(x) %in% c(1:5, 76:80))) == 0
  expect_gt(sum(inside), 40)
  expect_equal(fit$held_out[inside, ], lines$held_out[inside, ])
  expect_equal(predict(fit, d), predict(lines, d))
  expect_named(fit$cv_with, "curves")
  expect_output(print(fit), "curves are lines: they do not clearly improve the cross-validated")
  expect_identical(deparse1(formula(fit)), deparse1(formula(lines)))
  expect_equal(predict(greedy_rls(formula(fit), d, size = 2), d), predict(lines, d, size = 2))
  expect_true(verify(fit, problem, claims = 60)$ok)
  expect_equal(exchange(fit, problem)$swaps, exchange(lines, d)$swaps)
  expect_equal(certify(fit, problem, size = 1)$table, certify(lines, d, size = 1)$table)
  # an unpenalised curve remains a curve
  free <- greedy_rls(y ~ s(.), d, penalty = c(b = 0), size = 1)
  expect_identical(deparse1(formula(free)), "y ~ s(b) + a")
  # with the error of curves in the folds that chose
  curves <- greedy_rls(problem, start = "a", size_folds = fit$size_folds)
  expect_null(curves$cv_with)
  expect_gt(length(coef(curves)), length(coef(fit)))
  # a curve that does is no line
  d$y <- d$y + 3 * cos(4 * d$a)
  expect_null(greedy_rls(y ~ s(.), d)$cv_with)
  # each outer fold chooses for itself
  expect_own_choices(as_problem(y ~ s(.), d), d)
})
