#' Fits of fixed-size least-squares support vector machines
#'
#' What [fs_lssvm()] returns: a kernel expansion on few prototypes for every size, the held-out
#' error of each, and the methods that print, plot and use them.
#'
#' @details A fit is a plain list, which `saveRDS()` keeps whole. It holds the prototypes of its
#' models but not `x`. With m rows, L responses and q covariates:
#'
#' * `path`: data frame with a row for every size: `step` (0 is the start), `action` (`"start"`,
#'   `"add"`, or `"found"` where a solver takes all prototypes at once), `prototype` (its number in
#'   `basis`, `NA` for the intercept), `name`, `size`, `prototypes` (how many of them are in);
#'   the held-out `criterion`, the weighted mean squared error, and its standard error `se` over
#'   folds; for classes `error`, the misclassification rate; `training`, the weighted mean
#'   squared error on the training rows. Classes are coded -1 and +1. Without folds the held-out
#'   errors are `NA`.
#' * `coefficients`: element s + 1 is the model of size s, or `NULL`: `features` (numbers of its
#'   prototypes in `basis`, in the order chosen), `beta` (their weights, a column per response),
#'   `covariates` (q x L, zeros for an intercept that is not in), `step`.
#' * `size`, the chosen size; `held_out` and `fitted` (m x L), its predictions of the rows.
#' * `gamma` and `lambda`, which is `1 / gamma`; `kernel`; `tuning`, the result of [tune_lssvm()]
#'   where gamma or the kernel were not given.
#' * `basis`: `rows` (row numbers of the prototypes, `NULL` for points), `points` (the user's
#'   values, a row each; `NULL` for a precomputed kernel), in the order chosen, and `available`, the
#'   number of prototypes there were to choose from.
#' * `status`: `"complete"`, `"early_stop"` (the error was level, or no term was left that changes
#'   anything) or `"interrupted"`.
#' * `folds`, `criterion`, `control`, `call`, `method`, and `problem` without its x.
#'
#' [holdout()] and [cv_error()] do not accept these fits: without some rows the pursuit would have
#' selected other prototypes.
#'
#' @param x A fit.
#' @param ... Not used.
#'
#' @inherit scdp references
#' @seealso [sparsels_fit] for coefficients, predictions and residuals of a fit, [plot.fs_lssvm()],
#'   [tidiers]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -1, 1), 100)
#' fit <- fs_lssvm(x, sin(3 * x[, 1]) + x[, 2]^2, kernel = kernel_gaussian(sigma2 = 1), gamma = 100)
#' fit
#' selected(fit, size = 3)
#' coef(fit, size = 3)
#' predict(fit, x[1:3, ], size = 3)
#' residuals(fit, "held_out")[1:3]
#' @name fs_lssvm_fit
NULL

# Printing ----------------------------------------------------------------------------------------

#' @rdname fs_lssvm_fit
#' @export
print.fs_lssvm <- function(x, ...) {
  check_sealed(x)
  say("fs_lssvm: LS-SVM on ", prototype_words(x))
  print_fs_size(x)
  print_classes(x$problem, x$held_out)
  print_responses(x$problem, x$held_out)
  print_data(x$problem)
  cat("kernel: ", kernel_words(in_sigma2(x$kernel)), found_words(x, "sigma2"), "\n", sep = "")
  cat("gamma: ", shown_parameter(x$gamma), ", lambda = 1 / gamma = ", shown_parameter(x$lambda),
      found_words(x, "gamma"), "\n", sep = "")
  if (x$status == "interrupted") cat(status_words(x), "\n", sep = "")
  if (x$status == "early_stop") say(stop_words(x))
  invisible(x)
}

stop_words <- function(fit) {
  why <- if (fit$control$change > 0 && !is.null(fit$folds)) {
    "the error was level or nothing else to gain (`change = 0` goes on)"
  } else {
    "no term is left that changes anything"
  }
  sprintf("stopped early, at size %d: %s", max(fit$path$size), why)
}

prototype_words <- function(fit) {
  solver <- fit$control$solver
  count <- chosen_row(fit)$prototypes
  paste0(
    if (solver == "scdp") paste(count, "of "), counted(fit$basis$available, "prototype"),
    if (has_intercept(fit)) " and the intercept",
    switch(solver, full = ", all at once", nystrom = ", by their Nystrom features")
  )
}

has_intercept <- function(fit) {
  if (!fit$problem$intercept) return(FALSE)
  if (fit$control$solver != "scdp" || fit$control$intercept != "candidate") return(TRUE)
  any(fit$path$action == "add" & is.na(fit$path$prototype) & fit$path$size <= fit$size)
}

# a Gaussian kernel in the words of an LS-SVM
in_sigma2 <- function(kernel) {
  if (kernel$name == "gaussian") kernel$parameters <- list(sigma2 = 1 / kernel$parameters$gamma)
  kernel
}

found_words <- function(fit, name) {
  if (name %in% names(fit$tuning$range$lower)) " (tuned)" else " (given)"
}

# the chosen size, its error, and how it was chosen
print_fs_size <- function(fit) {
  chosen <- chosen_row(fit)
  if (is.null(fit$folds)) {
    return(say(sprintf("size %d, the largest: no rows were held out, %s %s", fit$size,
                       fit$criterion$label, shown(chosen$training))))
  }
  largest <- nrow(fit$path) > 1L && fit$size == max(fit$path$size)
  say(sprintf("size %d%s: %s", fit$size, if (largest) ", the largest" else "",
              held_out_words(fit, chosen)))
  if (nrow(fit$path) == 1L) return(invisible())
  best <- fit$path[which.min(fit$path$criterion), ]
  remark(if (best$size == fit$size) {
    "the smallest error of all sizes"
  } else {
    sprintf("the smallest size within %s standard deviations of the smallest error, %s at size %d",
            format(fit$control$size_rule), shown(best$criterion), best$size)
  })
}

#' @export
print.summary.fs_lssvm <- function(x, ...) {
  check_sealed(x)
  print(x$fit)
  x$path$name[is.na(x$path$name)] <- ""
  columns <- c("size", "name", "prototypes", "criterion", "se", "error", "training")
  columns <- intersect(columns, names(x$path))
  text <- shown_table(x$path[columns], columns[-(1:3)])
  print_rows(fitting_names(text), nrow(x$path), "size", column_meanings(x$fit),
             x$fit$problem)
  cat(sprintf("coefficients at size %d:\n", x$fit$size))
  print(x$coefficients, digits = 4)
  invisible(x)
}

# Pictures ----------------------------------------------------------------------------------------

#' Plot a fixed-size least-squares support vector machine
#'
#' Draws the error of every size, or the decision boundary in the plane of two features with the
#' prototypes that make it.
#'
#' `what = "criterion"`: the held-out error with bars of one standard error over folds, beside the
#' error on the training rows; the chosen size is marked. Where the pursuit chooses the intercept it
#' is counted in the size.
#'
#' `what = "boundary"`, for two features (columns, not covariates) in the user's units: of two
#' classes the line where the score is 0, of a numeric response contours of the prediction.
#' Covariates are at their weighted means. The prototypes of the model are circled. A fit does not
#' hold its rows, so these are drawn when they are given; the picture covers them and all prototypes
#' of the fit.
#'
#' @param x A fit of [fs_lssvm()].
#' @param what What to draw: `"criterion"`, the error against the size, or `"boundary"`, the
#'   decision boundary.
#' @param size For the boundary: the size of the model; `NULL` for the chosen one.
#' @param newdata For the boundary: rows to draw as points, in any form that
#'   [predict()][predict.sparsels_fit] takes. The rows that the fit was made from are coloured by
#'   their class; others are grey. `NULL` for none.
#' @param ... Graphical parameters for [graphics::plot.default()], such as `main`, `xlim`, `ylim`.
#' @return Invisibly the data frame drawn. Of the criterion a row per curve and size: `size`,
#'   `prototypes` (how many of them are in), `curve` (factor: held_out, training), `mean`, `se`,
#'   `chosen` (whether marked), `lower`, `upper` (the bar). Of the boundary a row per point: `part`
#'   (factor: grid, row, prototype), `first` and `second` (the features), `score` (the value of the
#'   model there), `observed` (the response of a training row, otherwise `NA`).
#' @section Errors: `sparsels_error_input` when the fit has no model of that size, and for a
#'   boundary of other than two features, of three classes or more, or of several responses.
#' @inherit scdp references
#' @seealso [fs_lssvm_fit]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(300, -1, 1), 150)
#' inside <- factor(ifelse(rowSums(x^2) + rnorm(150) / 9 < 0.5, "in", "out"))
#' fit <- fs_lssvm(x, inside, kernel = kernel_gaussian(sigma2 = 1), gamma = 10)
#' plot(fit)
#' plot(fit, what = "boundary", newdata = x)
#' plot(fit, what = "boundary", newdata = x, size = 6)
#' @export
plot.fs_lssvm <- function(x, what = c("criterion", "boundary"), size = NULL, newdata = NULL, ...) {
  check_sealed(x)
  what <- choice_or_first(what, "what", c("criterion", "boundary"))
  data <- plot_data(x, what, size, newdata)
  if (what == "criterion") draw_errors(x, data, ...) else draw_boundary(x, data, ...)
  invisible(data)
}

#' @exportS3Method
plot_data.fs_lssvm <- function(x, what = "criterion", # nolint: object_name_linter.
                               size = NULL, newdata = NULL, ...) {
  if (what == "boundary") boundary_data(x, size, newdata) else plot_data.kernel_fit(x)
}

boundary_data <- function(fit, size, newdata) {
  check_plane(fit)
  problem <- fit$problem
  model <- model_of(fit, size)
  points <- unname(as.matrix(fit$basis$points))
  rows <- points[0L, , drop = FALSE]
  if (!is.null(newdata)) rows <- unname(as.matrix(new_data_matrix(problem, newdata, 1:2)))
  data <- rbind(
    plane_points("grid", plane_grid(problem, rbind(points, rows))),
    plane_points("row", rows, training_rows(fit, rows)),
    plane_points("prototype", points[model$features, , drop = FALSE],
                 fit$basis$rows[model$features])
  )
  means <- colSums(problem$weights * problem$z) / sum(problem$weights)
  score <- term_scores(fit, cbind(data$first, data$second), model$beta, model$features) +
    sum(means * model$covariates)
  data.frame(part = factor(data$part, c("grid", "row", "prototype")), data[-c(1L, 4L)],
             score = score[, 1L], observed = observed(problem)[[1L]][data$row])
}

# points of the plane; `row` are their numbers when they are training rows
plane_points <- function(part, points, row = NULL) {
  if (is.null(row)) row <- NA_integer_
  data.frame(part = rep(part, nrow(points)), first = points[, 1L], second = points[, 2L],
             row = rep_len(row, nrow(points)))
}

check_plane <- function(fit) {
  must <- "`what = \"boundary\"` needs"
  if (is.null(fit$basis$points)) {
    stop_input(paste(must, "prototypes with features: the kernel is precomputed"))
  }
  if (ncol(fit$problem) != 2L) {
    stop_input(sprintf("%s two features, not %d", must, ncol(fit$problem)))
  }
  responses <- ncol(fit$problem$y)
  if (responses > 1L) {
    what <- if (fit$problem$task == "multiclass") "two classes" else "a single response"
    stop_input(sprintf("%s %s, not %d", must, what, responses))
  }
}

# a grid from a little before the first of the points to a little after the last, in both directions
plane_grid <- function(problem, points) {
  if (!nrow(points)) {
    stop_input("the fit has no prototypes to draw: give `newdata`, rows to draw")
  }
  axis_over <- function(j) {
    ends <- range(points[, j], na.rm = TRUE)
    margin <- if (diff(ends) > 0) 0.1 * diff(ends) else problem$scale[j]
    seq(ends[1L] - margin, ends[2L] + margin, length.out = 101L)
  }
  as.matrix(expand.grid(axis_over(1L), axis_over(2L)))
}

# The numbers of `rows` when they are the training rows, which the fitted values show; otherwise NA.
training_rows <- function(fit, rows) {
  unknown <- rep(NA_integer_, nrow(rows))
  if (nrow(rows) != nrow(fit$problem)) return(unknown)
  model <- model_of(fit)
  score <- term_scores(fit, rows, model$beta, model$features) +
    fit$problem$z %*% model$covariates
  same <- isTRUE(all.equal(score, fit$fitted, check.attributes = FALSE))
  if (same) seq_along(unknown) else unknown
}

# the rows drawn, and the prototypes that are rows
seen_points <- function(data) {
  data[data$part == "row" | data$part == "prototype" & !is.na(data$observed), ]
}

# where contours are drawn: between the classes, or at round predictions
contour_heights <- function(fit, data) {
  score <- data$score[data$part == "grid"]
  heights <- if (fit$problem$task == "binary") 0 else pretty(score, 10L)
  heights[heights > min(score) & heights < max(score)]
}

# marks of the two classes, or of the rows of a numeric response; and of rows that have none
point_styles <- function(fit) {
  if (fit$problem$task == "regression") return(data.frame(label = "row", pch = 16, colour = grey))
  data.frame(label = fit$problem$levels, pch = c(16, 17), colour = c("#0072B2", mark_colour))
}

grey <- "#999999"

draw_boundary <- function(fit, data, ...) {
  names <- fit$problem$names
  grid <- data[data$part == "grid", ]
  words <- list(main = plot_title(fit), xlab = names[1L], ylab = names[2L], xaxt = "s")
  limits <- list(lower = grid$second, upper = grid$second)
  empty_plot(grid$first, limits, words, ..., integers = FALSE)
  styles <- point_styles(fit)
  classes <- is.factor(data$observed)
  seen <- seen_points(data)
  style <- if (classes) styles[as.integer(seen$observed), ] else styles[rep(1L, nrow(seen)), ]
  graphics::points(seen$first, seen$second, pch = ifelse(is.na(style$pch), 16, style$pch),
                   col = ifelse(is.na(style$colour), grey, style$colour), cex = 0.7)
  heights <- contour_heights(fit, data)
  across <- unique(grid$first)
  if (length(heights)) {
    graphics::contour(across, unique(grid$second), matrix(grid$score, length(across)),
                      levels = heights, drawlabels = !classes, lwd = if (classes) 2 else 1,
                      add = TRUE)
  }
  prototypes <- data[data$part == "prototype", ]
  graphics::points(prototypes$first, prototypes$second, cex = 1.8, lwd = 2)
  shown <- if (nrow(seen)) styles[styles$label %in% seen$observed | !classes, ]
  legend_above(
    c(shown$label, counted(nrow(prototypes), "prototype"),
      if (classes) "boundary" else "prediction"),
    pch = c(shown$pch, 1, NA), col = c(shown$colour, "black", "black"),
    lty = c(rep(NA, NROW(shown) + 1L), 1), lwd = 2
  )
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.fs_lssvm <- function(object, # nolint: object_name_linter.
                              what = c("criterion", "boundary"), size = NULL, newdata = NULL,
                              ...) {
  check_sealed(object)
  what <- choice_or_first(what, "what", c("criterion", "boundary"))
  data <- plot_data(object, what, size, newdata)
  picture <- if (what == "criterion") gg_errors(object, data) else gg_boundary(object, data)
  picture + ggplot2::labs(title = plot_title(object)) + ggplot2::theme(legend.position = "bottom")
}

gg_boundary <- function(fit, data) {
  part_of <- function(part) data[data$part == part, ]
  heights <- contour_heights(fit, data)
  styles <- point_styles(fit)
  .data <- ggplot2::.data
  rows <- if (is.factor(data$observed)) {
    list(
      ggplot2::geom_point(ggplot2::aes(colour = .data$observed, shape = .data$observed),
                          seen_points(data)),
      ggplot2::scale_colour_manual(NULL, values = styles$colour, na.value = grey),
      ggplot2::scale_shape_manual(NULL, values = styles$pch, na.value = 16)
    )
  } else {
    ggplot2::geom_point(data = seen_points(data), colour = grey)
  }
  lines <- if (!length(heights)) {
    NULL
  } else if (is.factor(data$observed)) {
    ggplot2::geom_contour(ggplot2::aes(z = .data$score), part_of("grid"), breaks = heights,
                          colour = "black")
  } else {
    level <- ggplot2::aes(z = .data$score, colour = ggplot2::after_stat(.data$level))
    ggplot2::geom_contour(level, part_of("grid"), breaks = heights)
  }
  ggplot2::ggplot(data, ggplot2::aes(.data$first, .data$second)) +
    rows +
    lines +
    ggplot2::geom_point(data = part_of("prototype"), shape = 1, size = 4) +
    ggplot2::labs(x = fit$problem$names[1L], y = fit$problem$names[2L], colour = "prediction",
                  subtitle = sprintf("%s (circles)", counted(nrow(part_of("prototype")),
                                                             "prototype")))
}
