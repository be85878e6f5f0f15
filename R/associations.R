# What a problem shows before anything is fitted: its size, its response, and how strongly each
# column is associated with the response by itself.

#' Look at a problem
#'
#' `summary()` describes the data of a problem in words and numbers; `plot()` draws how strongly
#' each column is associated with the response by itself, strongest first.
#'
#' The association of a column is its correlation with a numeric response, for several responses the
#' largest in absolute value. For two classes it is Cohen's d, the difference of the class means
#' (second minus first level) in standard deviations within the classes. For more classes it is the
#' correlation ratio, the square root of the share of the column's variance between classes. Case
#' weights count. Correlations are partial given the covariates of the problem. No pass over the
#' data is needed.
#'
#' `expected` is the association expected for a column of that rank if no column were associated
#' with the response, for independent columns of normal values. If the first ranks are far above it,
#' single columns are informative; if not, columns may still be informative together. An error
#' estimated on the rows by which columns were chosen is optimistic, also after a choice by this
#' picture: leave the choice to a method inside [cross_validate()].
#'
#' @param x,object A problem of [as_problem()].
#' @param labels Number of columns, the strongest, whose names are drawn.
#' @param ... For `plot()`, graphical parameters for [graphics::plot.default()], such as `main` or
#'   `ylim`; else not used.
#' @return `plot()`: invisibly the data frame drawn, a row per column that is not excluded,
#'   strongest first: `rank`, `feature` (column number), `name`, `association`, `expected` (`NA` for
#'   several responses). `summary()`: a list with `rows`, `columns`, `excluded` (names), `sparse`,
#'   `task`, `response`, `response_table` (of classes their rows, of numbers their quantiles and
#'   mean, a row each), `covariates` (names), `weights` (their range, `NULL` where all are 1),
#'   `missing` (of each column how many values are missing, `NULL` unless `missing = "mean"`),
#'   `scale` (quantiles of the standard deviations of the columns, in the units of the data),
#'   `strongest` (the first rows of that data frame).
#' @seealso [as_problem()]
#' @examples
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' pb <- as_problem(x, factor(ifelse(x[, 3] - x[, 8] + rnorm(40) > 0, "ill", "well")))
#' summary(pb)
#' plot(pb)
#' @name summary.sparsels_problem
NULL

# Associations ------------------------------------------------------------------------------------

#' @exportS3Method
plot_data.sparsels_problem <- function(x, ...) { # nolint: object_name_linter.
  if (is.null(x$products)) {
    stop_input("this is the problem stored in a fit, which has no data matrix")
  }
  columns <- which(x$usable)
  association <- associations(x, columns)
  sorted <- order(-abs(association))
  data.frame(rank = seq_along(sorted), feature = columns[sorted], name = x$names[columns[sorted]],
             association = association[sorted],
             expected = expected_associations(x, length(sorted)))
}

associations <- function(problem, columns) {
  products <- problem$products[columns, , drop = FALSE]
  rss <- problem$rss[columns]
  response <- crossprod(working_response(problem))
  if (problem$task == "multiclass") {
    # the codes of the classes add up to a constant
    share <- rowSums((products %*% pseudo_inverse(response)) * products) / rss
    return(sqrt(pmin(share, 1)))
  }
  r <- products / sqrt(outer(rss, diag(response)))
  r <- pmin(pmax(r, -1), 1)
  if (problem$task == "binary") return(mean_differences(r[, 1L], problem, response[1L]))
  r[cbind(seq_along(columns), max.col(abs(r), "first"))]
}

# Correlations with the codes -1 and +1 as differences of the means in standard deviations within
# the classes; `total` is the sum of squares of the codes.
mean_differences <- function(r, problem, total) {
  2 * r * sqrt((free_rows(problem) - 1) / total / (1 - r^2))
}

pseudo_inverse <- function(S) {
  decomposed <- eigen(S, symmetric = TRUE)
  kept <- decomposed$values > 1e-10 * decomposed$values[1L]
  vectors <- decomposed$vectors[, kept, drop = FALSE]
  vectors %*% (t(vectors) / decomposed$values[kept])
}

# What the strongest, second, ... of `count` independent columns without association would have: the
# share of the variance explained has a beta distribution.
expected_associations <- function(problem, count) {
  responses <- ncol(problem$y)
  if (problem$task == "regression" && responses > 1L) return(rep(NA_real_, count))
  explained <- if (problem$task == "multiclass") responses - 1 else 1
  unexplained <- free_rows(problem) - explained
  if (unexplained <= 0) return(rep(NA_real_, count))
  upper <- (seq_len(count) - 0.5) / count
  share <- stats::qbeta(upper, explained / 2, unexplained / 2, lower.tail = FALSE)
  if (problem$task != "binary") return(sqrt(share))
  total <- sum(working_response(problem)^2)
  mean_differences(sqrt(share), problem, total)
}

association_label <- function(problem) {
  switch(problem$task,
    regression = if (ncol(problem$y) > 1L) "largest correlation with a response" else
      paste("correlation with", problem$response),
    binary = "difference of class means, in standard deviations",
    multiclass = paste("correlation ratio with", problem$response)
  )
}

height_label <- function(problem) {
  label <- association_label(problem)
  if (problem$task == "multiclass") label else paste0("|", label, "|")
}

# what the sign of an association means
sign_labels <- function(problem) {
  switch(problem$task,
    regression = c("positive", "negative"),
    binary = paste("higher in", rev(problem$levels)),
    multiclass = "a column"
  )
}

# Drawing -----------------------------------------------------------------------------------------

#' @rdname summary.sparsels_problem
#' @export
plot.sparsels_problem <- function(x, labels = 8, ...) {
  check_sealed(x)
  labels <- check_count(labels, "labels", lower = 0L)
  data <- plot_data(x)
  height <- abs(data$association)
  position <- log10(data$rank)
  top <- max(height, data$expected, na.rm = TRUE)
  named <- min(labels, nrow(data))
  # the names are at the right of their points
  end <- max(position, if (named) position[named] / 0.7)
  words <- list(main = sprintf("%s: %s", x$response, data_words(x)), ylim = c(0, 1.05 * top),
                xlim = c(0, end),
                ylab = height_label(x),
                xlab = "rank of the column (logarithmic)", sub = problem_note(x))
  empty_plot(position, list(lower = 0, upper = height), words, ..., integers = FALSE)
  ticks <- lambda_ticks(-range(position))
  graphics::axis(1, log10(ticks), format(ticks, scientific = FALSE, trim = TRUE))
  styles <- sign_styles(x)
  graphics::lines(position, data$expected, lty = 2, lwd = 2, col = "#555555")
  style <- styles[if (nrow(styles) > 1L) 1L + (data$association < 0) else rep(1L, nrow(data)), ]
  # points that would lie on each other are not drawn
  drawn <- spread_ranks(nrow(data))
  graphics::points(position[drawn], height[drawn], pch = style$mark[drawn],
                   col = style$colour[drawn], cex = 0.8)
  draw_names(position, height, utils::head(data$name, labels), style$colour)
  legend <- data.frame(styles, line = NA)
  if (!anyNA(data$expected)) legend[nrow(legend) + 1L, ] <- list(expected_words, "#555555", NA, 2)
  legend_above(legend$label, col = legend$colour, pch = legend$mark, lty = legend$line, lwd = 2)
  invisible(data)
}

expected_words <- "expected if no column is associated"

sign_styles <- function(problem) {
  labels <- sign_labels(problem)
  data.frame(label = labels, colour = curve_style$colour[c(2L, 1L)][seq_along(labels)],
             mark = c(16, 1)[seq_along(labels)])
}

# Ranks that are drawn of `count`: all of the first hundred, then such that their logarithms differ.
spread_ranks <- function(count) {
  unique(pmin(count, round(c(seq_len(min(count, 100L)), 10^seq(2, max(2, log10(count)), 0.005)))))
}

# Names in a column at the right of the strongest points, with lines to them: not below the points,
# where others are.
draw_names <- function(position, height, names, colour) {
  if (!length(names)) return()
  first <- seq_along(names)
  ends <- graphics::par("usr")
  gap <- 1.4 * graphics::strheight("M", cex = 0.85)
  steps <- gap * first
  heights <- rev(cummax(rev(height[first] + steps))) - steps
  heights <- heights - max(0, heights[1L] - ends[4L] + gap)
  across <- ends[2L] - ends[1L]
  side <- position[length(first)] + 0.08 * across
  graphics::segments(position[first] + 0.008 * across, height[first], side, heights,
                     col = "#BBBBBB")
  graphics::text(side, heights, names, pos = 4, offset = 0.2, cex = 0.85, col = colour[first])
}

# class balance, covariates and excluded columns, for the line below a picture
problem_note <- function(problem) {
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  parts <- c(
    if (problem$task != "regression") {
      counts <- class_counts(problem)
      paste(names(counts), counts, sep = ": ", collapse = ", ")
    },
    if (length(covariates)) paste("adjusted for", some_of(covariates, 3L, "")),
    if (!all(problem$usable)) counted(sum(!problem$usable), "excluded column")
  )
  paste(parts, collapse = "; ")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.sparsels_problem <- function(object, labels = 8, ...) { # nolint: object_name_linter.
  check_sealed(object)
  labels <- check_count(labels, "labels", lower = 0L)
  data <- plot_data(object)
  styles <- sign_styles(object)
  data$sign <- styles$label[if (nrow(styles) > 1L) 1L + (data$association < 0) else 1L]
  named <- utils::head(data, labels)
  .data <- ggplot2::.data
  ggplot2::ggplot(data[spread_ranks(nrow(data)), ],
                  ggplot2::aes(.data$rank, abs(.data$association))) +
    (if (nrow(data) > 1L && !anyNA(data$expected)) {
      ggplot2::geom_line(ggplot2::aes(y = .data$expected), linetype = 2)
    }) +
    ggplot2::geom_point(ggplot2::aes(colour = .data$sign, shape = .data$sign)) +
    ggplot2::geom_text(ggplot2::aes(label = .data$name), named, angle = 40, hjust = -0.15,
                       size = 3) +
    ggplot2::expand_limits(y = c(0, 1.1 * max(abs(data$association)))) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_colour_manual(NULL, values = stats::setNames(styles$colour, styles$label)) +
    ggplot2::scale_shape_manual(NULL, values = stats::setNames(styles$mark, styles$label)) +
    ggplot2::labs(title = sprintf("%s: %s", object$response, data_words(object)),
                  subtitle = problem_note(object), x = "rank of the column",
                  y = height_label(object),
                  caption = if (!anyNA(data$expected)) paste("dashed:", expected_words)) +
    ggplot2::theme(legend.position = "bottom")
}

# Summary -----------------------------------------------------------------------------------------

#' @rdname summary.sparsels_problem
#' @export
summary.sparsels_problem <- function(object, ...) {
  check_sealed(object)
  check_dots(..., known = character())
  strongest <- if (!is.null(object$products)) utils::head(plot_data(object), 5L)
  seal(structure(list(
    rows = nrow(object), columns = ncol(object),
    excluded = object$names[!object$usable & !is_set_apart(object)],
    why_excluded = excluded_words(object),
    sparse = inherits(object$x, "dgCMatrix"), task = object$task, response = object$response,
    response_table = response_table(object),
    covariates = as.character(setdiff(colnames(object$z), "(Intercept)")),
    weights = if (any(object$weights != 1)) range(object$weights), missing = object$missing,
    scale = stats::quantile(column_scales(object)), strongest = strongest,
    label = association_label(object)
  ), class = "summary.sparsels_problem"))
}

# standard deviations of the columns, also where they are not standardised
column_scales <- function(problem) {
  sqrt(problem$squares[problem$usable] / sum(problem$weights))
}

response_table <- function(problem) {
  if (problem$task != "regression") {
    counts <- class_counts(problem)
    return(data.frame(class = names(counts), rows = unname(counts),
                      share = unname(counts) / nrow(problem)))
  }
  data.frame(response = response_names(problem), t(apply(user_response(problem), 2L, function(y) {
    c(unclass(summary(y)), SD = stats::sd(y))
  })), check.names = FALSE, row.names = NULL)
}

#' @export
print.summary.sparsels_problem <- function(x, ...) {
  check_sealed(x)
  cat(sprintf("problem of %s and %s%s\n", counted(x$rows, "row"), counted(x$columns, "column"),
              if (x$sparse) ", sparse" else ""))
  what <- switch(x$task, regression = "numeric", binary = "two classes",
                 multiclass = sprintf("%d classes", nrow(x$response_table)))
  cat(sprintf("response %s: %s\n", x$response, what))
  table <- x$response_table
  if (x$task != "regression") table$share <- sprintf("%.1f %%", 100 * table$share)
  print(table, row.names = FALSE, digits = 4)
  if (x$task != "regression") {
    cat(sprintf("always the largest class: error rate %s\n",
                format(1 - max(x$response_table$share), digits = 3)))
  }
  if (length(x$covariates)) cat("adjusted for: ", some_of(x$covariates, 8L, ""), "\n", sep = "")
  if (length(x$weights)) {
    cat(sprintf("weights: %s to %s\n", format(x$weights[1L]), format(x$weights[2L])))
  }
  if (any(x$missing > 0L)) say(missing_words(x$missing))
  cat(sprintf("standard deviations of the columns: %s to %s, median %s\n",
              format(x$scale[[1L]], digits = 3), format(x$scale[[5L]], digits = 3),
              format(x$scale[[3L]], digits = 3)))
  if (length(x$excluded)) {
    cat(sprintf("excluded: %s, %s (%s)\n",
                counted(length(x$excluded), "column"), x$why_excluded, some_of(x$excluded, 5L, "")))
  }
  if (!is.null(x$strongest)) {
    say(sprintf("columns with the strongest association by themselves (%s):", x$label))
    several <- anyNA(x$strongest$expected)
    print(x$strongest[c("name", "association", if (!several) "expected")], row.names = FALSE,
          digits = 3)
    if (!several) cat("expected: at that rank if no column were associated with the response\n")
  }
  invisible(x)
}
