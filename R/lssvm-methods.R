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
#' `plot(fit, what = "boundary")`, for two features (columns, not covariates) in the user's units,
#' draws of two classes the line where the score is 0, of a numeric response contours of the
#' prediction, for the chosen model or `size`. Covariates are at their weighted means. The
#' prototypes of the model are circled. A fit does not hold its rows: rows to draw are given as
#' `newdata`, in any form that [predict()][predict.sparsels_fit] takes. Rows that the fit was made
#' from are coloured by their class, others are grey. The picture covers them and all prototypes of
#' the fit. Other than two features, three classes or more and several responses are refused.
#'
#' [holdout()] and [cv_error()] do not accept these fits: without some rows the pursuit would have
#' selected other prototypes.
#'
#'
#' @inherit scdp references
#' @seealso [sparsels_fit] for coefficients, predictions and residuals of a fit,
#'   [plot()][plot.sparsels_result],
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
#' plot(fit, what = "boundary", newdata = x, size = 6)
#' @name fs_lssvm_fit
NULL

# Printing ----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.fs_lssvm <- function(x, ...) {
  say("fs_lssvm: LS-SVM on ", prototype_words(x))
  found_words <- function(name) {
    if (name %in% names(x$tuning$range$lower)) " (tuned)" else " (given)"
  }
  predicted <- held_out_classes(x)
  print_fs_size(x, predicted)
  print_classes(x$problem, predicted)
  print_responses(x$problem, kept_values(x, "held_out"), chosen_row(x)$criterion)
  print_data(x$problem)
  cat("kernel: ", kernel_words(in_sigma2(x$kernel)), found_words("sigma2"), "\n", sep = "")
  cat("gamma: ", shown_parameter(x$gamma), ", lambda = 1 / gamma = ", shown_parameter(x$lambda),
      found_words("gamma"), "\n", sep = "")
  if (x$status == "interrupted") cat(status_words(x), "\n", sep = "")
  if (x$status == "early_stop") {
    say(sprintf("stopped early, at size %d: %s", max(x$path$size),
                if (x$control$change > 0 && !is.null(x$folds))
                  "the error was level or nothing else to gain (`change = 0` goes on)" else
                    "no term is left that changes anything"))
  }
}

prototype_words <- function(fit) {
  solver <- fit$control$solver
  count <- chosen_row(fit)$prototypes
  candidate <- solver == "scdp" && fit$control$intercept == "candidate"
  added <- fit$path$action == "add" & is.na(fit$path$prototype) & fit$path$size <= fit$size
  paste0(
    if (solver == "scdp") paste(count, "of "), counted(fit$basis$available, "prototype"),
    if (fit$problem$coding$intercept && (!candidate || any(added))) " and the intercept",
    switch(solver, full = ", all at once", nystrom = ", by their Nystrom features")
  )
}

# the chosen size, its error, and how it was chosen
print_fs_size <- function(fit, predicted) {
  chosen <- chosen_row(fit)
  if (is.null(fit$folds)) {
    return(say(sprintf("size %d, the largest: no rows were held out, %s %s", fit$size,
                       fit$criterion$label, shown(chosen$training))))
  }
  largest <- nrow(fit$path) > 1L && fit$size == max(fit$path$size)
  say(sprintf("size %d%s: %s", fit$size, if (largest) ", the largest" else "",
              held_out_words(fit, chosen, predicted)))
  if (nrow(fit$path) == 1L) return(invisible())
  best <- fit$path[which.min(fit$path$criterion), ]
  remark(if (best$size == fit$size) {
    "the smallest error of all sizes"
  } else {
    sprintf("the smallest size within %s standard deviations of the smallest error, %s at size %d",
            format(fit$control$size_rule), shown(best$criterion), best$size)
  })
}

#' @exportS3Method
details.fs_lssvm <- function(x) {
  path <- size_table(x)
  path$name[is.na(path$name)] <- ""
  errors <- c("criterion", "se", "error", "training")
  text <- shown_table(path[intersect(c("size", "name", "prototypes", errors), names(path))], errors)
  fit_details(x, fitting_names(text))
}

# Pictures ----------------------------------------------------------------------------------------

#' @exportS3Method
picture.fs_lssvm <- function(x, what = c("criterion", "boundary"),
                             size = NULL, newdata = NULL, ...) {
  what <- choice_or_first(what, "what", c("criterion", "boundary"))
  if (what == "criterion") return(picture.kernel_fit(x, ...))
  data <- boundary_data(x, size, newdata)
  names <- x$problem$columns$name
  grid <- data[data$part == "grid", ]
  prototypes <- data[data$part == "prototype", ]
  layers <- c(
    as_layer("points", prototypes$first, prototypes$second, pch = 1, cex = 1.8, lwd = 2,
             label = counted(nrow(prototypes), "prototype")),
    contour_layers(grid, contour_heights(x, data), x$problem$coding$task == "binary"),
    # the rows drawn, and the prototypes that are rows
    row_layers(x, data[data$part == "row" | data$part == "prototype" & !is.na(data$observed), ])
  )
  words <- list(main = plot_title(x), xlab = names[1L], ylab = names[2L],
                xlim = range(grid$first), ylim = range(grid$second))
  new_picture(data, layers, words, list(...), axes = NULL)
}

boundary_data <- function(fit, size, newdata) {
  must <- "`what = \"boundary\"` needs"
  stop_input_if(is.null(fit$basis$points),
                paste(must, "prototypes with features: the kernel is precomputed"))
  stop_input_if(ncol(fit$problem) != 2L, "%s two features, not %d", must, ncol(fit$problem))
  responses <- ncol(fit$problem$rows$y)
  if (responses > 1L) {
    what <- if (fit$problem$coding$task == "multiclass") "two classes" else "a single response"
    stop_input("%s %s, not %d", must, what, responses)
  }
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
  means <- colSums(problem$rows$weight * problem$z) / sum(problem$rows$weight)
  score <- term_scores(fit, cbind(data$first, data$second), model$beta, model$features) +
    sum(means * model$covariates)
  data.frame(part = factor(data$part, c("grid", "row", "prototype")), data[-c(1L, 4L)],
             score = score[, 1L], observed = observed(problem)[[1L]][data$row])
}

# points of the plane, where `row` are their numbers if they are training rows
plane_points <- function(part, points, row = NULL) {
  if (is.null(row)) row <- NA_integer_
  data.frame(part = rep(part, nrow(points)), first = points[, 1L], second = points[, 2L],
             row = rep_len(row, nrow(points)))
}

# a grid from a little before the first of the points to a little after the last, in both directions
plane_grid <- function(problem, points) {
  stop_input_if(!nrow(points), "the fit has no prototypes to draw: give `newdata`, rows to draw")
  axis_over <- function(j) {
    ends <- range(points[, j], na.rm = TRUE)
    margin <- if (diff(ends) > 0) 0.1 * diff(ends) else problem$columns$scale[j]
    seq(ends[1L] - margin, ends[2L] + margin, length.out = 101L)
  }
  as.matrix(expand.grid(axis_over(1L), axis_over(2L)))
}

# The numbers of `rows` if they are the training rows, as the fitted values show. Otherwise NA.
training_rows <- function(fit, rows) {
  if (nrow(rows) != nrow(fit$problem)) return(rep(NA_integer_, nrow(rows)))
  model <- model_of(fit)
  score <- term_scores(fit, rows, model$beta, model$features) +
    fit$problem$z %*% model$covariates
  same <- isTRUE(all.equal(score, kept_values(fit, "fitted"), check.attributes = FALSE))
  if (same) seq_len(nrow(rows)) else rep(NA_integer_, nrow(rows))
}

# where contours are drawn: between the classes, or at round predictions
contour_heights <- function(fit, data) {
  score <- data$score[data$part == "grid"]
  heights <- if (fit$problem$coding$task == "binary") 0 else pretty(score, 10L)
  heights[heights > min(score) & heights < max(score)]
}

contour_layers <- function(grid, heights, classes) {
  across <- unique(grid$first)
  lines <- if (length(heights)) {
    grDevices::contourLines(across, unique(grid$second), matrix(grid$score, length(across)),
                            levels = heights)
  }
  unlist(lapply(lines, function(line) {
    middle <- (length(line$x) + 1L) %/% 2L
    c(if (!classes) as_layer("text", line$x[middle], line$y[middle], text = format(line$level),
                             cex = 0.7),
      as_layer("line", line$x, line$y, lwd = if (classes) 2 else 1,
               label = if (classes) "boundary" else "prediction"))
  }), recursive = FALSE)
}

# Training rows by their class, or training rows of a numeric response, and rows of unknown
# response.
row_layers <- function(fit, rows) {
  known <- !is.na(rows$observed)
  points <- function(rows, colour, pch, label) {
    if (nrow(rows)) as_layer("points", rows$first, rows$second, col = colour, pch = pch, cex = 0.7,
                             label = label)
  }
  grey <- "#999999"
  if (fit$problem$coding$task == "regression") return(points(rows, grey, 16, "row"))
  levels <- fit$problem$coding$levels
  of_class <- function(i) rows[known & rows$observed %in% levels[i], ]
  c(points(of_class(1L), "#0072B2", 16, levels[1L]),
    points(of_class(2L), mark_colour, 17, levels[2L]),
    points(rows[!known, ], grey, 16, NA_character_))
}

# The prototypes were chosen on all rows, and no fold chose its own.
#' @exportS3Method
predictions_without.fs_lssvm <- function(fit, newdata, adjust = NULL) {
  stop_no_models_without(fit)
}
