a_fit <- function(classes = FALSE, ...) {
  set.seed(21)
  x <- matrix(rnorm(30 * 10), 30, 10)
  y <- x[, 2] - x[, 4] + rnorm(30)
  bare_rls(x, if (classes) factor(y > 0) else y, k = 5, lambda = 1, ...)
}

cv_of_classes <- function(...) {
  set.seed(22)
  x <- matrix(rnorm(30 * 10), 30, 10)
  y <- factor(x[, 2] - x[, 4] + rnorm(30) > 0, labels = c("well", "ill"))
  cross_validate(x, greedy_rls, y = y, k = 4, lambda = 1, size = "criterion", outer = 3, ...)
}

test_that("a fit is drawn as its path, chosen and one-standard-error sizes marked", {
  fit <- a_fit()
  data <- withVisible(plot(fit))
  expect_false(data$visible)
  data <- data$value
  expect_identical(levels(data$curve), "criterion")
  expect_equal(data$size, fit$path$size)
  expect_equal(data$mean, fit$path$criterion)
  expect_equal(data$lower, fit$path$criterion - fit$path$se)
  expect_equal(data$upper, fit$path$criterion + fit$path$se)
  expect_equal(data$size[data$chosen], best_size(fit))
  expect_equal(data$size[data$one_se], best_size(fit, "1se"))
})

test_that("a search repeated in folds is drawn with both curves, the marks on the honest one", {
  set.seed(21)
  x <- matrix(rnorm(30 * 10), 30, 10)
  y <- x[, 2] - x[, 4] + rnorm(30)
  fit <- greedy_rls(x, y, k = 5, lambda = 1)
  data <- plot(fit)
  expect_identical(levels(data$curve), c("criterion", "cv"))
  expect_equal(data$mean, c(fit$path$criterion, fit$path$cv))
  expect_equal(data$se, c(fit$path$se, fit$path$cv_se))
  marked <- data[data$chosen | data$one_se, ]
  expect_identical(as.character(unique(marked$curve)), "cv")
  expect_equal(data$size[data$chosen], fit$size)
  expect_equal(data$size[data$one_se], best_size(fit, "1se"))
  expect_equal(plot(fit, size = 2)$chosen, data$curve == "cv" & data$size == 2)
})

test_that("what the user asks for takes the place of its own word only", {
  words <- list(main = "title", ylab = "error", sub = "below")
  data <- data.frame(lower = 1:2, upper = 3:4)
  layer <- as_layer("segments", 1:2, data$lower, x2 = 1:2, y2 = data$upper)
  asked <- new_picture(data, layer, words, list(main = "mine", ylim = c(0, 9)))$settings
  expect_identical(asked$xlim, c(1, 2))
  expect_identical(new_picture(data, layer, words)$settings$ylim, c(1, 4))
  expect_identical(asked[c("main", "ylab", "sub", "ylim")],
                   list(main = "mine", ylab = "error", sub = "below", ylim = c(0, 9)))
  expect_identical(plot(a_fit(), main = "mine", ylab = "loss")$size, 0:5)
})

test_that("a criterion without a standard error has no bars and one mark", {
  fit <- a_fit(classes = TRUE, criterion = "auc")
  data <- plot(fit)
  expect_equal(data$lower, data$mean)
  expect_false(any(data$one_se))
  expect_equal(sum(data$chosen), 1)
})

test_that("a cross-validation is drawn curve by curve", {
  cvd <- cv_of_classes()
  data <- plot(cvd, ylim = c(0, 1), main = "mine")
  expect_equal(levels(data$curve), c("inner", "test", "random", "majority"))
  for (curve in levels(data$curve)) {
    part <- data[data$curve == curve, ]
    expect_equal(part$size, cvd$curves$size)
    expect_equal(part$mean, cvd$curves[[curve]])
    expect_equal(part$upper - part$mean, cvd$curves[[paste0(curve, "_se")]])
  }
  bare <- cv_of_classes(baselines = NULL)
  expect_equal(levels(plot(bare)$curve), c("inner", "test"))
})

test_that("labels have units and par() is left alone", {
  cvd <- cv_of_classes()
  expect_equal(error_axis(cvd), "error rate (share of rows)")
  cvd$measure <- "squared"
  cvd$problem$coding$response <- "height"
  expect_equal(error_axis(cvd), "mean squared error (squared units of height)")
  expect_equal(curve_names(cvd)[["inner"]], "leave-one-out (optimistic)")
  fit <- a_fit()
  graphics::plot.new()
  before <- graphics::par("mar", "xpd", "mgp", "cex", "las")
  plot(fit)
  expect_equal(graphics::par("mar", "xpd", "mgp", "cex", "las"), before)
})

test_that("autoplot draws the same data", {
  skip_if_not_installed("ggplot2")
  fit <- a_fit()
  expect_equal(ggplot2::autoplot(fit)$data, picture(fit)$data)
  cvd <- cv_of_classes()
  drawing <- ggplot2::ggplot_build(ggplot2::autoplot(cvd, main = "mine"))
  expect_equal(drawing$plot$data, picture(cvd)$data)
  expect_identical(drawing$plot$labels$title, "mine")
  lines <- Filter(function(layer) "linetype" %in% names(layer) && !"xend" %in% names(layer),
                  drawing$data)
  expect_equal(sort(unlist(lapply(lines, `[[`, "y"))), sort(picture(cvd)$data$mean))
})

test_that("a kernel fit is drawn against lambda, the smallest error marked", {
  set.seed(23)
  x <- matrix(runif(30))
  y <- sin(6 * x[, 1]) + rnorm(30) / 5
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(4), basis = 8, lambda = c(1, 0.01, 0.1))
  data <- withVisible(plot(fit))
  expect_false(data$visible)
  data <- data$value
  held_out <- data[data$curve == "held_out", ]
  path <- fit$path[c(2, 3, 1), ]
  expect_identical(held_out$lambda, path$lambda)
  expect_equal(held_out$mean, path$criterion)
  expect_equal(held_out$upper - held_out$mean, path$se)
  expect_equal(data$mean[data$curve == "training"], path$training)
  expect_identical(data$lambda[data$chosen], fit$lambda)
  expect_silent(plot(rls(x, y, lambda = 1)))
  skip_if_not_installed("ggplot2")
  expect_silent(print(ggplot2::autoplot(fit)))
})

test_that("curves are shifted by no more than a tenth of a step", {
  for (sizes in list(0:40, c(0, 1, 2, 4, 8), 0:1)) {
    position <- rep(sizes, 4)
    shift <- bar_shift(position, rep(1:4, each = length(sizes)))
    expect_lte(max(abs(shift)), 0.1 + 1e-12)
    expect_gt(length(unique(shift)), 1)
  }
  expect_identical(bar_shift(c(1, 1), 1:2), c(0, 0))
})

test_that("names longer than the picture are drawn without their middle", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  names <- c("TP53", paste0(strrep("x", 80), "_at"))
  fitting <- names_within(names, 2)
  expect_lte(names_inches(fitting), 2)
  expect_identical(fitting[1L], "TP53")
  expect_match(fitting[2L], "^x+[.]{3}x+_at$")
  expect_identical(names_within(c("a", "bc"), 2), c("a", "bc"))
})

test_that("a result without any column is drawn as an empty frame", {
  pb <- as_problem(matrix(rnorm(80), 20), rnorm(20))
  none <- stability_selection(pb, function(problem, k) integer(), pairs = 2, q = 1)
  for (draw in c(plot, if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot)) {
    expect_silent(draw(none))
  }
  expect_identical(nrow(plot(none)), 0L)
})

test_that("a device that is too small is refused, and keeps its settings", {
  grDevices::pdf(NULL, 1, 1)
  small <- grDevices::dev.cur()
  on.exit(grDevices::dev.off(small))
  old <- graphics::par(no.readonly = TRUE)
  set.seed(1)
  x <- matrix(rnorm(80), 20)
  pictures <- list(bare_rls(x, x[, 1] + rnorm(20), k = 2, lambda = 1),
                   l1_path(x, x[, 1], nlambda = 5), as_problem(x, x[, 1]))
  for (of in pictures) {
    expect_error(plot(of), "the picture cannot be drawn on this device: figure margins",
                 class = "sparsels_error_input")
  }
  expect_identical(graphics::par(no.readonly = TRUE), old)
})

test_that("an error in making a picture is not told as one of the device", {
  fails <- function(...) stop("no such curve")
  expect_error(with_binding("picture_of", fails, plot(a_fit())), "^no such curve")
})

test_that("an unknown argument is refused before a device is opened", {
  grDevices::graphics.off()
  set.seed(1)
  x <- matrix(rnorm(80), 20)
  pictures <- list(bare_rls(x, x[, 1] + rnorm(20), k = 2, lambda = 1), as_problem(x, x[, 1]),
                   l1_path(x, x[, 1], nlambda = 5), cv_of_classes())
  for (draw in c(plot, if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot)) {
    for (of in pictures) {
      expect_error(draw(of, ylimits = 1:2), "unknown argument `ylimits`",
                   class = "sparsels_error_argument")
    }
    expect_error(draw(rls(x, x[, 1]), what = "intervals", colour = 2), "unknown argument `colour`")
  }
  expect_null(grDevices::dev.list())
})

test_that("objects without a picture say what has one", {
  objects <- list(make_folds(20, 5), kernel_gaussian(1), float_matrix(diag(3)), summary(a_fit()))
  for (object in objects) {
    expect_error(plot(object), "no picture of .*problems, fits and other results have one",
                 class = "sparsels_error_argument")
  }
})
