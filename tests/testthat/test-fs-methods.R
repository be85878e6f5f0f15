# The methods of fits of fs_lssvm(): models by hand from their coefficients, what is printed, the
# data that are drawn, and every refusal.

fs_data <- function(m = 40) {
  set.seed(141)
  x <- cbind(a = runif(m, -2, 2), b = 10 * runif(m, -2, 2))
  signal <- sin(2 * x[, "a"]) + (x[, "b"] / 10)^2
  list(x = x, new = cbind(a = c(-1.5, 0, 1), b = c(12, 0, -7)), one = signal + rnorm(m) / 5,
       two = cbind(up = signal + rnorm(m) / 5, down = rnorm(m) - signal),
       binary = factor(ifelse(signal + rnorm(m) / 5 > 1, "in", "out")),
       three = cut(rank(signal), c(0, 0.3, 0.7, 1) * m, c("low", "mid", "high")))
}

fs_fit <- function(task = "binary", ..., x = NULL) {
  data <- fs_data()
  y <- data[[task]]
  if (is.null(x)) x <- data$x
  set.seed(142)
  fs_lssvm(x, y, ..., kernel = kernel_gaussian(sigma2 = 2), gamma = 10, folds = 5)
}

# what a model says of new points, from its coefficients alone: `terms` are covariates and kernel
by_hand <- function(fit, new, size, z = matrix(1, nrow(new))) {
  x <- fs_data()$x
  rows <- selected(fit, size, index = TRUE)
  k <- oracle_kernel(oracle_gaussian(1 / 2), oracle_standardised(x, rep(1, nrow(x)), new),
                     oracle_standardised(x, rep(1, nrow(x)), x[rows, , drop = FALSE]))
  cbind(z, k) %*% as.matrix(coef(fit, size))
}

# Models ------------------------------------------------------------------------------------------

test_that("coefficients are the model, for every task and size", {
  data <- fs_data()
  for (task in c("one", "two", "binary", "three")) {
    fit <- fs_fit(task)
    expect_gt(fit$size, 3)
    expect_identical(coef(fit), coef(fit, fit$size))
    expect_identical(predict(fit, data$new), predict(fit, data$new, size = fit$size))
    for (size in c(0, 1, 3, fit$size)) {
      model <- fit$coefficients[[size + 1]]
      score <- predict(fit, data$new, size)
      expect_lt(relative_error(unname(as.matrix(score)), unname(by_hand(fit, data$new, size))),
                1e-12)
      expect_identical(predict(fit, data$new, size, type = "link"), score)
      if (task == "binary") {
        expect_identical(predict(fit, data$new, size, type = "class"),
                         factor(ifelse(score > 0, "out", "in"), c("in", "out")))
      }
      if (task == "three") {
        rule <- if (size > 0) class_rule(fit) else function(score) max.col(score, "first")
        expect_identical(as.integer(predict(fit, data$new, size, type = "class")), rule(score))
      }
    }
    expect_lt(relative_error(as.matrix(fitted(fit)), as.matrix(predict(fit, data$x))), 1e-12)
    expect_identical(nobs(fit), 40L)
    # errors are those of responses divided by their standard deviations
    unit <- if (task == "two") rep(fit$problem$coding$response_scale, each = 40) else 1
    held_out <- residuals(fit, "held_out") / unit
    expect_equal(held_out, drop(fit$problem$rows$y - kept_values(fit, "held_out")))
    expect_equal(mean((residuals(fit) / unit)^2), fit$path$training[fit$path$size == fit$size])
    expect_equal(mean(held_out^2), fit$path$criterion[fit$path$size == fit$size])
  }
})

test_that("coefficients have the names of covariates and prototypes", {
  fit <- fs_fit()
  path <- fit$path
  in_by <- path$name[path$size > 0 & path$size <= 4]
  expect_true("(Intercept)" %in% path$name[path$size <= 4])
  expect_identical(names(coef(fit, 4)), c("(Intercept)", setdiff(in_by, "(Intercept)")))
  expect_identical(selected(fit, 4), setdiff(in_by, "(Intercept)"))
  expect_identical(selected(fit, 4, index = TRUE), as.integer(selected(fit, 4)))
  expect_identical(selected(fit), selected(fit, fit$size))
  # before it came in
  came <- path$size[which(path$name == "(Intercept)")]
  expect_gt(came, 0)
  expect_identical(coef(fit, came - 1)[["(Intercept)"]], 0)
  expect_true(coef(fit, came)[["(Intercept)"]] != 0)

  named <- fs_data()$x
  rownames(named) <- paste0("row", 1:40)
  again <- fs_fit(x = named)
  expect_identical(selected(again), paste0("row", selected(fit)))
  expect_identical(selected(again, index = TRUE), selected(fit, index = TRUE))
  expect_identical(names(fitted(again)), rownames(named))

  several <- coef(fs_fit("two"), 3)
  expect_identical(colnames(several), c("up", "down"))
  expect_identical(dim(several), c(3L, 2L))
  expect_identical(colnames(coef(fs_fit("three"))), c("low", "mid", "high"))
})

test_that("covariates come first, and new ones are asked for", {
  data <- fs_data()
  age <- cbind(age = cos(1:40))
  fit <- fs_fit("one", adjust = age, intercept = "forced")
  expect_identical(names(coef(fit, 0)), c("(Intercept)", "age"))
  # no prototypes: the regression on the covariates, but for their small penalty
  expect_lt(relative_error(unname(coef(fit, 0)), unname(coef(lm(data$one ~ age)))), 1e-8)
  new_age <- cbind(age = c(0.3, -1, 2))
  expect_lt(relative_error(predict(fit, data$new, size = 5, adjust = new_age),
                           by_hand(fit, data$new, 5, cbind(1, new_age))), 1e-12)
  expect_equal(unname(predict(fit, data$x, adjust = age)), unname(fitted(fit)))
  expect_error(predict(fit, data$new), "adjust", class = "sparsels_error_newdata")
  plain <- fs_fit("one", intercept = "none")
  expect_identical(names(coef(plain, 2)), plain$path$name[2:3])
  expect_identical(unname(predict(plain, data$new, size = 0)), c(0, 0, 0))
})

test_that("new data come in any form, and missing values are predicted as missing", {
  data <- fs_data()
  frame <- data.frame(data$x, y = data$one)
  set.seed(143)
  fit <- fs_lssvm(y ~ a + b, data = frame, kernel = kernel_gaussian(1), gamma = 5)
  expect_equal(unname(predict(fit, frame)), unname(fitted(fit)))
  expect_equal(unname(predict(fit, data$new[, 2:1])), unname(predict(fit, data$new)))
  hole <- replace(data$new, 2, NA)
  expect_warning(score <- predict(fit, hole), "row 2", class = "sparsels_warning_missing")
  expect_equal(score[-2], predict(fit, data$new)[-2])
  expect_true(is.na(score[2]))
})

test_that("a kernel without values for no points is asked for none", {
  needs_points <- function(x, z) {
    stopifnot(nrow(z) > 0)
    x %*% t(z) + 1
  }
  data <- fs_data()
  fit <- fs_lssvm(data$x, data$one, kernel = needs_points, gamma = 1, k = 3, folds = NULL)
  none <- predict(fit, data$new, size = 0)
  expect_identical(unname(none), c(0, 0, 0))
})

test_that("a precomputed kernel, dense and sparse", {
  data <- fs_data()
  K <- oracle_kernel(oracle_gaussian(1), data$x)
  between <- oracle_kernel(oracle_gaussian(1), data$new, data$x)
  fitted_to <- function(K) {
    set.seed(144)
    fs_lssvm(K, data$one, kernel = "precomputed", gamma = 10, prototypes = 1:20, folds = 5,
             standardize = FALSE)
  }
  fit <- fitted_to(K)
  set.seed(144)
  points <- fs_lssvm(data$x, data$one, kernel = kernel_gaussian(1), gamma = 10, prototypes = 1:20,
                     folds = 5, standardize = FALSE)
  expect_equal(unname(coef(fit)), unname(coef(points)))
  expect_equal(unname(predict(fit, between)), unname(predict(points, data$new)))
  expect_equal(unname(predict(fit, between, size = 2)), unname(predict(points, data$new, size = 2)))
  expect_equal(predict(fit, between[, fit$basis$rows], size = 2), predict(fit, between, size = 2))
  expect_equal(unname(predict(fit, K)), unname(fitted(fit)))
  # rows of different groups have nothing to do with each other
  K <- K * outer(data$x[, "a"] > 0, data$x[, "a"] > 0, "==")
  sparse <- fitted_to(methods::as(K, "CsparseMatrix"))
  expect_equal(coef(sparse), coef(fitted_to(K)))
  expect_equal(predict(sparse, methods::as(between, "CsparseMatrix"), size = 3),
               predict(sparse, between, size = 3))
  expect_equal(fitted(sparse), fitted(fitted_to(K)))
})

test_that("points keep their names, whichever are used", {
  data <- fs_data()
  points <- rbind(data$x[1:6, ], data$x[2, ], data$x[7:9, ])
  fit <- fs_fit("one", prototypes = points)
  taken <- setdiff(fit$path$name[-1], "(Intercept)")
  expect_setequal(taken, paste0("point", c(1:6, 8:10)))
  expect_identical(rownames(fit$basis$points), taken)
  expect_identical(selected(fit, 4), setdiff(fit$path$name[2:5], "(Intercept)"))
  expect_identical(names(coef(fit, 4))[-1], selected(fit, 4))
  number <- selected(fit, 4, index = TRUE)
  expect_identical(rownames(fit$basis$points)[number], selected(fit, 4))
  places <- as.integer(sub("point", "", selected(fit, 4)))
  expect_equal(unname(fit$basis$points[number, ]), unname(points[places, ]))
  rownames(points) <- letters[1:10]
  again <- fs_fit("one", prototypes = points)
  expect_identical(selected(again), letters[as.integer(sub("point", "", selected(fit)))])
})

test_that("a fit that held nothing out has all methods", {
  data <- fs_data()
  fit <- fs_lssvm(data$x, data$binary, kernel = kernel_gaussian(1), gamma = 10, folds = NULL)
  expect_true(all(is.na(residuals(fit, "held_out"))))
  expect_true(all(is.na(augment(fit)[c(".held_out", ".pred_class")])))
  expect_false(anyNA(fitted(fit)))
  expect_identical(glance(fit)$value, NA_real_)
  expect_snapshot(fit)
})

test_that("a fit without its x is small and survives a file", {
  data <- fs_data()
  fit <- fs_fit("three")
  expect_null(fit$problem$x)
  path <- tempfile(fileext = ".rds")
  on.exit(unlink(path))
  saveRDS(fit, path)
  again <- readRDS(path)
  expect_identical(predict(again, data$new, type = "class"), predict(fit, data$new, type = "class"))
  expect_identical(coef(again, 2), coef(fit, 2))
  expect_identical(capture.output(print(again)), capture.output(print(fit)))
})

test_that("the solvers that take all prototypes have one size", {
  data <- fs_data()
  full <- fs_fit("one", solver = "full")
  nystrom <- fs_fit("one", solver = "nystrom")
  expect_identical(full$size, 12L)
  expect_length(coef(full), 13)
  expect_lt(relative_error(predict(nystrom, data$new), predict(full, data$new)), 1e-6)
  expect_snapshot({
    print(full)
    print(nystrom)
    refusal(predict(full, data$new, size = 3))
  })
  expect_identical(plot(full)$size, c(12L, 12L))
})

# Printing ----------------------------------------------------------------------------------------

test_that("what is printed", {
  data <- fs_data()
  fit <- fs_fit()
  inside <- data$binary
  interrupted <- fit
  interrupted$status <- "interrupted"
  set.seed(145)
  tuned <- fs_lssvm(data$x, inside, gamma = 10, folds = rep(1:4, 10), k = 5)
  one <- data$one
  set.seed(145)
  both <- fs_lssvm(data$x, one, folds = rep(1:4, 10), k = 6, size_rule = 0)
  given <- fs_lssvm(data$x, one, kernel = kernel_polynomial(2), gamma = 1e-3, prototypes = 1:9,
                    folds = "loo", intercept = "none")
  expect_snapshot({
    print(fit)
    print(interrupted)
    summary(fs_fit("two", k = 4))
    summary(fs_fit("three", k = 5, size_rule = 0.5))
    print(given)
  })
  # the width that was found has the digits of an optimiser
  shown <- capture.output(print(tuned))
  expect_match(shown, "^kernel: gaussian, sigma2 = .* \\(tuned\\)$", all = FALSE)
  expect_match(shown, "^gamma: 10, lambda = 1 / gamma = 0.1 \\(given\\)$", all = FALSE)
  expect_match(capture.output(print(both)), "^gamma: .*\\(tuned\\)$", all = FALSE)
  expect_match(capture.output(print(both)), "smallest error of all sizes", all = FALSE)
  capture.output(expect_invisible(print(fit)))
})

test_that("the intercept is printed when it is in", {
  fit <- fs_fit("one")
  came <- fit$path$size[which(fit$path$name == "(Intercept)")]
  words_at <- function(size) prototype_words(replace(fit, "size", size))
  expect_match(words_at(as.integer(came)), "of 12 prototypes and the intercept$")
  expect_match(words_at(as.integer(came) - 1L), "of 12 prototypes$")
  expect_match(prototype_words(fs_fit("one", intercept = "forced")), "and the intercept$")
  expect_match(prototype_words(fs_fit("one", intercept = "none")), "prototypes$")
})

# As data frames ----------------------------------------------------------------------------------

test_that("tidy(), glance() and augment()", {
  data <- fs_data()
  fit <- fs_fit()
  table <- tidy(fit, size = 3)
  expect_identical(names(table), c("term", "order", "estimate"))
  expect_identical(table$term, names(coef(fit, 3)))
  expect_identical(table$estimate, unname(coef(fit, 3)))
  expect_identical(table$order, c(NA, seq_along(selected(fit, 3))))
  expect_identical(tidy(fit), tidy(fit, fit$size))
  several <- tidy(fs_fit("two"), size = 2)
  expect_identical(unique(several$response), c("up", "down"))
  expect_identical(several$estimate, as.vector(coef(fs_fit("two"), 2)))

  row <- fit$path[fit$path$size == fit$size, ]
  expect_equal(glance(fit), data.frame(
    method = "fs_lssvm", task = "binary", nobs = 40L, features = 2L, responses = 1L,
    size = fit$size, lambda = 0.1, criterion = "squared", value = row$criterion, se = row$se,
    deviance = sum((fit$problem$rows$y - fit$fitted)^2), held_out.r.squared = NA_real_,
    status = "complete"
  ))
  with_data <- augment(fit, data.frame(id = 1:40))
  expect_identical(names(with_data), c("id", ".fitted", ".held_out", ".resid", ".pred_class",
                                       ".pred_in", ".pred_out"))
  expect_identical(with_data$.resid, unname(residuals(fit)))
  expect_equal(mean(with_data$.pred_class != data$binary), row$error)
})

# Pictures ----------------------------------------------------------------------------------------

test_that("the errors of all sizes are drawn, the chosen one marked", {
  fit <- fs_fit()
  data <- withVisible(plot(fit))
  expect_false(data$visible)
  data <- data$value
  held_out <- data[data$curve == "held_out", ]
  expect_identical(held_out$size, fit$path$size)
  expect_identical(held_out$prototypes, fit$path$prototypes)
  expect_identical(held_out$mean, fit$path$criterion)
  expect_equal(held_out$upper - held_out$mean, fit$path$se)
  expect_identical(data$mean[data$curve == "training"], fit$path$training)
  expect_identical(data$size[data$chosen], fit$size)
  expect_identical(data$curve[data$chosen], factor("held_out", c("held_out", "training")))
  expect_match(errors_axis(fit), "intercept")
  expect_identical(errors_axis(fs_fit(intercept = "forced")), "prototypes")

  x <- fs_data()$x
  bare <- fs_lssvm(x, fs_data()$one, kernel = kernel_gaussian(1), gamma = 1, folds = NULL)
  alone <- plot(bare)
  expect_identical(levels(alone$curve), "training")
  expect_identical(alone$mean, bare$path$training)
  expect_identical(alone$size[alone$chosen], bare$size)
})

test_that("the boundary is drawn over the prototypes, on the user's scale", {
  x <- fs_data()$x
  fit <- fs_fit()
  data <- plot(fit, what = "boundary", size = 4)
  grid <- data[data$part == "grid", ]
  expect_identical(nrow(grid), 10201L)
  at <- cbind(a = grid$first, b = grid$second)
  expect_lt(relative_error(grid$score, predict(fit, at, size = 4)), 1e-12)
  # a tenth of their range beyond all prototypes of the fit
  for (feature in 1:2) {
    ends <- range(fit$basis$points[, feature])
    expect_equal(range(at[, feature]), ends + c(-0.1, 0.1) * diff(ends))
  }
  own <- data[data$part == "prototype", ]
  rows <- selected(fit, 4, index = TRUE)
  expect_equal(unname(cbind(own$first, own$second)), unname(x[rows, ]))
  expect_identical(own$observed, fs_data()$binary[rows])
  expect_false("row" %in% data$part)
  expect_identical(plot(fit, what = "boundary"),
                   plot(fit, what = "boundary", size = fit$size))
})

test_that("rows are drawn with their classes when they are those of the fit", {
  data <- fs_data()
  fit <- fs_fit()
  drawn_rows <- function(newdata, from = fit) {
    all <- plot(from, what = "boundary", newdata = newdata)
    all[all$part == "row", ]
  }
  rows <- drawn_rows(data$x)
  expect_identical(rows$first, unname(data$x[, "a"]))
  expect_identical(rows$second, unname(data$x[, "b"]))
  expect_identical(rows$observed, data$binary)
  expect_equal(rows$score, unname(fitted(fit)))
  expect_identical(drawn_rows(data.frame(data$x[, 2:1])), rows)
  # as many rows, but others; and fewer
  expect_true(all(is.na(drawn_rows(data$x[40:1, ])$observed)))
  expect_true(all(is.na(drawn_rows(data$new)$observed)))
  # prototypes that are no rows do not tell which rows they are means of
  means <- fs_fit(select = "cluster_mean")
  expect_identical(drawn_rows(data$x, means)$observed, data$binary)
  expect_true(all(is.na(drawn_rows(data$x[40:1, ], means)$observed)))
  expect_identical(drawn_rows(replace(data$x, cbind(1, 1), NA))$first[2:40], rows$first[2:40])
  beyond <- plot(fit, what = "boundary", newdata = rbind(data$x, c(90, 0)))
  expect_gt(max(beyond$first[beyond$part == "grid"]), 90)
  numbers <- fs_fit("one")
  expect_identical(drawn_rows(data$x, numbers)$observed, data$one)
})

test_that("the boundary of a model with covariates is that at their means", {
  data <- fs_data()
  age <- cbind(age = 1:40 / 9)
  fit <- fs_fit("one", adjust = age, weights = rep(1:2, 20))
  grid <- picture(fit, "boundary")$data
  grid <- grid[grid$part == "grid", ][c(1, 3000, 9000), ]
  mean <- rep(weighted.mean(age, rep(1:2, 20)), 3)
  expect_equal(grid$score, unname(predict(fit, cbind(grid$first, grid$second),
                                          adjust = cbind(age = mean))))
})

test_that("contours are drawn where the score has them", {
  data <- fs_data()
  fit <- fs_fit()
  score <- function(...) data.frame(part = "grid", score = c(...))
  expect_identical(contour_heights(fit, score(-1, 2)), 0)
  expect_length(contour_heights(fit, score(1, 2)), 0)
  expect_length(contour_heights(fit, score(1, 1)), 0)
  expect_identical(contour_heights(fs_fit("one"), score(0, 10)), as.double(1:9))
  # nothing but the intercept, one prototype only
  expect_silent(plot(fit, what = "boundary", size = 0, newdata = data$x))
  alone <- fs_fit("one", prototypes = matrix(c(0, 3), 1))
  grid <- plot(alone, what = "boundary", xlab = "mine")
  expect_equal(range(grid$first), c(-1, 1) * alone$problem$columns$scale[1])
})

test_that("autoplot draws the same data", {
  skip_if_not_installed("ggplot2")
  x <- fs_data()$x
  fit <- fs_fit()
  expect_identical(ggplot2::autoplot(fit)$data, picture(fit)$data)
  for (one in list(fit, fs_fit("one"))) {
    drawing <- ggplot2::autoplot(one, what = "boundary", newdata = x, size = 4)
    expect_identical(drawing$data, picture(one, "boundary", 4, x)$data)
    expect_silent(print(drawing))
    expect_silent(print(ggplot2::autoplot(one, what = "boundary", size = 0)))
  }
  # the line is where the model is 0
  layers <- picture(fit, "boundary", newdata = x)$layers
  line <- Find(function(layer) layer$kind == "line", layers)$at
  expect_lt(max(abs(predict(fit, cbind(a = line$x, b = line$y)))), 0.05)
})

# Refusals ----------------------------------------------------------------------------------------

test_that("refusals", {
  data <- fs_data()
  fit <- fs_fit()
  wide <- fs_fit("one", x = cbind(data$x, c = 1:40))
  set.seed(144)
  precomputed <- fs_lssvm(oracle_kernel(oracle_linear, data$x), data$one, kernel = "precomputed",
                          gamma = 1, standardize = FALSE)
  only_mean <- fs_lssvm(data$x, data$one + 100, kernel = kernel_gaussian(1), gamma = 1, k = 1)
  expect_snapshot({
    refusal(coef(fit, 99))
    refusal(coef(fit, lambda = 1))
    refusal(coef(fit, 1.5))
    refusal(selected(fit, lambda = 1))
    refusal(selected(fit, index = "yes"))
    refusal(predict(fit))
    refusal(predict(fit, data$new, 4, lambda = 1))
    refusal(predict(fit, data$new, sise = 4))
    refusal(predict(fit, data$new, type = "probability"))
    refusal(predict(wide, cbind(data$new, c = 1), type = "class"))
    refusal(tidy(fit, lambda = 1))
    refusal(holdout(fit, 1:2))
    refusal(cv_error(fit, 5))
    refusal(plot(fit, "path"))
    refusal(plot(fit, "boundary", size = 99))
    refusal(plot(wide, "boundary"))
    refusal(plot(fs_fit("three"), "boundary"))
    refusal(plot(fs_fit("two"), "boundary"))
    refusal(plot(precomputed, "boundary"))
    refusal(plot(only_mean, "boundary"))
  })
})
