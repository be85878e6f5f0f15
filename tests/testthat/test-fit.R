# A fit of each kind, with its covariates.
#' @srrstats {RE1.3} row, column and level names. `tests/testthat/test-fit.R`
#' @srrstats {RE7.3} `tests/testthat/test-fit.R`
#' @srrstats {RE7.4} `tests/testthat/test-fit.R`, `tools/newcomer.R`
some_fits <- function() {
  set.seed(71)
  x <- matrix(rnorm(30 * 6), 30, dimnames = list(NULL, paste0("g", 1:6)))
  g <- factor(ifelse(x[, 2] - x[, 4] + rnorm(30) > 0, "well", "ill"))
  pb <- as_problem(x, g, adjust = cbind(age = rnorm(30)))
  kernel <- kernel_gaussian(0.2)
  list(
    greedy = greedy_rls(pb, k = 3, lambda = 1, size_folds = 3),
    foba = foba(pb, k = 3),
    l1 = l1_path(pb, loss = "logistic", nlambda = 8, folds = 4),
    size = l1_size(pb, size = 3),
    rls = rls(pb, lambda = c(0.1, 1, 10)),
    kernel = kernel_rls(pb, kernel = kernel, basis = 8, lambda = c(0.1, 1)),
    lssvm = lssvm(pb, kernel = kernel, gamma = c(1, 10)),
    fs = fs_lssvm(pb, kernel = kernel, gamma = 10, prototypes = 8, folds = 4, k = 5),
    none = fs_lssvm(pb, kernel = kernel, gamma = 10, prototypes = 8, folds = NULL, k = 5)
  )
}

# the values of `by` of which a fit has a model
values_of <- function(fit, by) if (by == "size") model_sizes(fit) else fit$path$lambda

test_that("glance() and tidy() have the same columns for every fit", {
  fits <- some_fits()
  system <- matching_pursuit(diag(3), 1:3, k = 2)
  types <- lapply(c(fits, list(system)), function(fit) vapply(glance(fit), typeof, ""))
  expect_length(unique(types), 1)
  expect_length(unique(lapply(fits, function(fit) names(tidy(fit)))), 1)
  for (fit in fits) {
    row <- glance(fit)
    expect_identical(row$method, fit$method)
    expect_identical(row$value, chosen_row(fit)$criterion)
    expect_identical(row$se, chosen_row(fit)$se)
    expect_true(all(c("(Intercept)", "age") %in% tidy(fit)$term))
  }
})

test_that("a model is chosen by what tells the models of a fit apart", {
  for (fit in some_fits()) {
    keys <- c(size = !is.null(fit$size), lambda = !is.null(fit$path$lambda))
    for (key in names(keys)[keys]) {
      for (value in values_of(fit, key)) {
        model <- do.call(coef, stats::setNames(list(fit, value), c("", key)))
        expect_length(model, 2 + length(model_terms(fit, do.call(model_of, stats::setNames(
          list(fit, value), c("fit", key)
        )))))
      }
      chosen <- stats::setNames(list(fit, fit[[key]]), c("", key))
      expect_identical(do.call(coef, chosen), coef(fit))
      expect_identical(do.call(tidy, chosen), tidy(fit))
      expect_identical(do.call(fitted, chosen), fitted(fit))
    }
    for (key in names(keys)[!keys]) {
      for (generic in list(coef, tidy, fitted)) {
        expect_error(do.call(generic, stats::setNames(list(fit, 1), c("", key))), "choose one by",
                     class = "sparsels_error_argument")
      }
    }
  }
})

test_that("several models give a column each", {
  new <- matrix(rnorm(18), 3, dimnames = list(c("p", "q", "r"), paste0("g", 1:6)))
  age <- cbind(age = c(1, -1, 0))
  for (fit in some_fits()) {
    for (key in c("size"[!is.null(fit$size)], "lambda"[!is.null(fit$path$lambda)])) {
      values <- values_of(fit, key)
      with <- function(value, generic, ...) {
        do.call(generic, c(list(fit, ...), stats::setNames(list(value), key)))
      }
      # a single value is not a choice among several
      if (length(values) == 1L) next
      for (type in c("response", "link")) {
        all <- with(values, predict, newdata = new, adjust = age, type = type)
        one <- vapply(values, with, c(p = 0, q = 0, r = 0), predict, newdata = new, adjust = age,
                      type = type)
        expect_equal(all, one, tolerance = 1e-12, ignore_attr = TRUE)
        expect_equal(as.numeric(colnames(all)), values, tolerance = 1e-5)
        expect_identical(rownames(all), rownames(new))
      }
      classes <- with(values, predict, newdata = new, adjust = age, type = "class")
      one <- vapply(values, function(value) {
        as.character(with(value, predict, newdata = new, adjust = age, type = "class"))
      }, character(3))
      expect_identical(unname(classes), unname(one))
      expect_identical(dimnames(classes), dimnames(all))
      together <- with(values, coef)
      expect_identical(colnames(together), colnames(all))
      for (i in seq_along(values)) {
        alone <- with(values[i], coef)
        expect_identical(together[names(alone), i], alone)
        expect_true(all(together[setdiff(rownames(together), names(alone)), i] == 0))
      }
    }
  }
})

test_that("several models of several responses give an array, as glmnet does", {
  set.seed(73)
  x <- matrix(rnorm(24 * 4), 24)
  fit <- omp(x, cbind(a = x[, 1], b = x[, 2]) + rnorm(48) / 3, k = 3)
  predicted <- predict(fit, x, size = 0:2)
  expect_identical(dimnames(predicted), list(NULL, c("a", "b"), c("0", "1", "2")))
  expect_identical(predicted[, , "2"], predict(fit, x, size = 2))
  terms <- coef(fit, size = 0:2)
  expect_identical(dimnames(terms)[2:3], dimnames(predicted)[2:3])
  expect_identical(terms[1:2, , "1"], coef(fit, size = 1))
  expect_identical(dim(predict(fit, x[1, , drop = FALSE], size = 1:2)), c(1L, 2L, 2L))
  classes <- greedy_rls(x, cut(x[, 1], 3, c("p", "q", "r")), k = 3, lambda = 1, size = 3)
  several <- predict(classes, x, size = 0:3, type = "class")
  expect_identical(several[, "3"], as.character(predict(classes, x, size = 3, type = "class")))
  expect_snapshot({
    refusal(predict(fit, x, size = c(1, 9)))
    refusal(predict(fit, x, size = c(1, NA)))
    refusal(coef(fit, size = 1:2, lambda = 1))
    refusal(selected(fit, size = 1:2))
  })
  system <- scdp(A = crossprod(x), b = crossprod(x, x[, 2:3]), k = 2)
  expect_identical(coef(system, size = 0:2)[, , "1"], coef(system, size = 1))
  path <- lars_path(crossprod(x), crossprod(x, x[, 1] - x[, 2]))
  lambda <- mean(path$path$lambda[2:3])
  expect_identical(coef(path, lambda = c(lambda, 99))[, 1], coef(path, lambda = lambda))
  cvd <- cross_validate(x, x[, 1], bare_rls, k = 2, lambda = 1, outer = 3)
  expect_identical(predict(cvd, x, size = 1:2), predict(cvd$fit, x, size = 1:2))
  expect_identical(predict(cvd, x, size = c("min", "1se"))[, 1], predict(cvd, x, size = "min"))
})

test_that("a missing value spoils only the models that need it", {
  x <- matrix(rnorm(40), 20, dimnames = list(NULL, c("a", "b")))
  fit <- forward_regression(x, 2 * x[, 1] + x[, 2] + rnorm(20), k = 2)
  new <- rbind(c(a = 1, b = NA))
  expect_warning(both <- predict(fit, new, size = 1:2), class = "sparsels_warning_missing")
  expect_identical(unname(is.na(both[1, ])), c(FALSE, TRUE))
  expect_silent(predict(fit, new, size = 1))
})

test_that("the models of any fit score the rows of its problem as predict() does", {
  set.seed(72)
  x <- matrix(rnorm(24 * 4), 24)
  age <- rnorm(24)
  pb <- as_problem(x, cbind(x[, 1], x[, 2]^2) + rnorm(48) / 3, adjust = cbind(age = age))
  kernel <- kernel_gaussian(0.2)
  fits <- list(
    omp(pb, k = 3), rls(pb, lambda = c(1, 2)), kernel_rls(pb, kernel = kernel, lambda = c(1, 2)),
    fs_lssvm(pb, kernel = kernel, gamma = 10, prototypes = 6, folds = 3)
  )
  rows <- c(3, 8, 20)
  for (fit in fits) {
    path <- path_scores(fit, working_copy(pb), rows)
    expect_identical(path$values[path$chosen], fit[[path$key]])
    expect_identical(nrow(path$errors), length(path$values))
    for (i in seq_along(path$values)) {
      model <- stats::setNames(list(path$values[i]), path$key)
      predicted <- do.call(predict, c(list(fit, x[rows, ], adjust = cbind(age = age[rows])), model))
      scores <- in_user_units(pb, path$scores[, , i])
      expect_equal(scores, unname(predicted), tolerance = 1e-12)
    }
  }
})

test_that("fitted values of other models are refused where a fit has none", {
  fits <- some_fits()
  expect_snapshot({
    refusal(fitted(fits$foba, size = 1))
    refusal(fitted(fits$rls, lambda = 0.1))
    refusal(fitted(fits$l1, lambda = fits$l1$lambda_max))
    refusal(coef(fits$rls, size = 2))
    refusal(predict(fits$fs, matrix(0, 1, 6), lambda = 1))
    refusal(coef(fits$l1, size = 1, lambda = 1))
  })
})

test_that("arguments that a method does not have are refused, not ignored", {
  fit <- rls(as.matrix(mtcars[2:4]), mtcars$mpg, lambda = c(1, 10))
  refused <- function(call) {
    expect_error(call, "unknown argument", class = "sparsels_error_argument")
  }
  refused(fitted(fit, type = "class"))
  refused(residuals(fit, lambda = 1))
  # the lambda of glmnet is not the beginning of `size`
  refused(coef(fit, s = 1))
  refused(predict(fit, as.matrix(mtcars[2:4]), s = 1))
  expect_error(predict(fit, newx = mtcars), "new rows are `newdata`")
  expect_error(glance(fit, digits = 3), "there are no further arguments")
})

test_that("intervals of coefficients are refused with the reason", {
  set.seed(1)
  x <- matrix(rnorm(60 * 10), 60)
  y <- x[, 1] + rnorm(60)
  for (fit in list(bare_rls(x, y, k = 3), l1_path(x, y, lambda = 5))) {
    for (of in list(confint, vcov)) {
      expect_error(of(fit), "rows do not hold: stability_selection\\(\\) .* exchange\\(\\)",
                   class = "sparsels_error_input")
    }
  }
  expect_error(confint(rls(x, y)), "that are shrunk do not hold", class = "sparsels_error_input")
})
