# A problem before any fit: its size, its response, and the association of each single column with
# the response.

#' Look at a problem
#'
#' `summary()` describes the data of a problem in words and numbers; `plot()` draws how strongly
#' each column is associated with the response by itself, strongest first.
#'
#' The association of a column is its correlation with a numeric response, for several responses the
#' largest in absolute value. For censored times it is the correlation with minus the logarithms of
#' the times, so that larger values are earlier events. For two classes it is Cohen's d, the
#' difference of the class means (second minus first level) in standard deviations within the
#' classes. For more classes it is the correlation ratio, the square root of the share of the
#' column's variance between classes. Case weights count. Correlations are partial given the
#' covariates of the problem. No pass over the data is needed.
#'
#' `expected` is the association expected for a column of that rank if no column were associated
#' with the response, for independent columns of normal values. If the first ranks are far above it,
#' single columns are informative; if not, columns may still be informative together. An error
#' estimated on the rows by which columns were chosen is optimistic, also after a choice by this
#' picture: leave the choice to a method inside [cross_validate()].
#'
#' @param x,object A problem of [as_problem()].
#' @param ... For pictures, `labels`, the number of columns, the strongest, whose names are drawn (8
#'   by default). For `plot()`, also graphical parameters for [graphics::plot.default()], such as
#'   `main` or `ylim`.
#' @return `plot()`: invisibly the data frame drawn, a row per column that is not excluded,
#'   strongest first: `rank`, `feature` (column number), `name`, `association`, `expected` (`NA` for
#'   several responses). `summary()`: a list of class `sparsels_summary`, with `result` (the problem
#'   without its x), `response_table` (of classes their rows and their shares by case weights, of
#'   numbers their quantiles and mean, a row each), `scale` (quantiles of the standard deviations of
#'   the columns, in the units of the data) and `strongest` (the first rows of that data frame).
#' @seealso [as_problem()]
#' @examples
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' pb <- as_problem(x, factor(ifelse(x[, 3] - x[, 8] + rnorm(40) > 0, "ill", "well")))
#' summary(pb)
#' plot(pb)
#' @name summary.sparsels_problem
NULL

# Associations ------------------------------------------------------------------------------------

# The columns by the size of their association.
ranked_columns <- function(problem) {
  check_has_x(problem, "this")
  columns <- which(problem$columns$usable)
  association <- associations(problem, columns)
  sorted <- order(-abs(association))
  data.frame(rank = seq_along(sorted), feature = columns[sorted],
             name = problem$columns$name[columns[sorted]], association = association[sorted],
             expected = expected_associations(problem, length(sorted)))
}

associations <- function(problem, columns) {
  products <- problem$columns$products[columns, , drop = FALSE]
  rss <- problem$columns$rss[columns]
  response <- crossprod(working_response(problem))
  if (problem$coding$task == "multiclass") {
    # the codes of the classes add up to a constant
    decomposed <- eigen(response, symmetric = TRUE)
    kept <- decomposed$values > 1e-10 * decomposed$values[1L]
    vectors <- decomposed$vectors[, kept, drop = FALSE]
    inverse <- vectors %*% (t(vectors) / decomposed$values[kept])
    return(sqrt(pmin(rowSums((products %*% inverse) * products) / rss, 1)))
  }
  r <- products / sqrt(outer(rss, diag(response)))
  r <- pmin(pmax(r, -1), 1)
  if (problem$coding$task == "binary") return(mean_differences(r[, 1L], problem, response[1L]))
  r[cbind(seq_along(columns), max.col(abs(r), "first"))]
}

# Correlations with the codes -1 and +1 as differences of the means in standard deviations within
# the classes. `total` is the sum of squares of the codes.
mean_differences <- function(r, problem, total) {
  2 * r * sqrt((free_rows(problem) - 1) / total / (1 - r^2))
}

# The expected values of the strongest, second, ... of `count` independent columns without
# association. The share of the variance explained has a beta distribution.
expected_associations <- function(problem, count) {
  responses <- ncol(problem$rows$y)
  if (problem$coding$task == "regression" && responses > 1L) return(rep(NA_real_, count))
  explained <- if (problem$coding$task == "multiclass") responses - 1 else 1
  unexplained <- free_rows(problem) - explained
  if (unexplained <= 0) return(rep(NA_real_, count))
  upper <- (seq_len(count) - 0.5) / count
  share <- stats::qbeta(upper, explained / 2, unexplained / 2, lower.tail = FALSE)
  if (problem$coding$task != "binary") return(sqrt(share))
  mean_differences(sqrt(share), problem, sum(working_response(problem)^2))
}

association_label <- function(problem) {
  switch(problem$coding$task,
    regression = if (ncol(problem$rows$y) > 1L) "largest correlation with a response" else
      paste("correlation with", if (is_survival(problem)) paste(words_of_times(problem), "of"),
            problem$coding$response),
    binary = "difference of class means, in standard deviations",
    multiclass = paste("correlation ratio with", problem$coding$response)
  )
}

# Drawing -----------------------------------------------------------------------------------------

#' @rdname summary.sparsels_problem
#' @export
plot.sparsels_object <- function(x, ...) draw_made(picture(x, ...))

#' @rdname summary.sparsels_problem
#' @exportS3Method ggplot2::autoplot
autoplot.sparsels_object <- function(object, ...) draw_gg(picture(object, ...))

#' @exportS3Method
picture.sparsels_problem <- function(x, labels = 8, ...) {
  check_sealed(x)
  labels <- check_count(labels, "labels", lower = 0L)
  data <- ranked_columns(x)
  height <- abs(data$association)
  position <- log10(data$rank)
  named <- seq_len(min(labels, nrow(data)))
  # the names are at the right of their points
  end <- max(position, position[named] / 0.7)
  signs <- switch(x$coding$task, regression = c("positive", "negative"),
                  binary = paste("higher in", rev(x$coding$levels)), multiclass = "a column")
  styles <- data.frame(label = signs, colour = c(mark_colour, "#0072B2"), mark = c(16, 1))
  sign <- if (x$coding$task == "multiclass") rep(1L, nrow(data)) else 1L + (data$association < 0)
  # all of the first hundred points, then points whose logarithms differ
  count <- nrow(data)
  drawn <- c(seq_len(min(count, 100L)), 10^seq(2, max(2, log10(count)), 0.005))
  drawn <- unique(pmin(count, round(drawn)))
  points <- lapply(unique(sign), function(i) {
    rows <- drawn[sign[drawn] == i]
    as_layer("points", position[rows], height[rows], col = styles$colour[i], pch = styles$mark[i],
             cex = 0.8, label = styles$label[i])
  })
  layers <- c(
    as_layer("names", position[named], height[named], x2 = max(position[named], 0) + 0.08 * end,
             text = data$name[named], col = styles$colour[sign[named]], group = "up"),
    unlist(points, recursive = FALSE),
    if (!anyNA(data$expected)) {
      as_layer("line", position, data$expected, lty = 2, lwd = 2, col = "#555555",
               label = "expected if no column is associated")
    }
  )
  ticks <- lambda_ticks(-range(position))
  label <- association_label(x)
  words <- list(main = sprintf("%s: %s", x$coding$response, data_words(x)), sub = problem_note(x),
                xlim = c(0, end), ylim = c(0, 1.05 * max(height, data$expected, na.rm = TRUE)),
                xlab = "rank of the column (logarithmic)",
                ylab = if (x$coding$task == "multiclass") label else paste0("|", label, "|"))
  new_picture(data, layers, words, list(...),
              list(x = ticks_at(log10(ticks), format(ticks, scientific = FALSE, trim = TRUE))))
}

# class balance, covariates and excluded columns, for the line below a picture
problem_note <- function(problem) {
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  parts <- c(
    if (problem$coding$task != "regression") {
      counts <- class_counts(problem, trained_places(problem))
      paste(names(counts), counts, sep = ": ", collapse = ", ")
    },
    if (length(covariates)) paste("adjusted for", some_of(covariates, 3L, "")),
    if (!all(problem$columns$usable)) counted(sum(!problem$columns$usable), "excluded column")
  )
  paste(parts, collapse = "; ")
}

# Summary -----------------------------------------------------------------------------------------

#' @rdname summary.sparsels_problem
#' @export
summary.sparsels_problem <- function(object, ...) {
  check_method_call(..., object = object, known = character())
  rows <- trained_places(object)
  if (object$coding$task == "regression") {
    values <- user_response(object)[rows, , drop = FALSE]
    response <- data.frame(
      response = response_names(object), t(apply(values, 2L, function(y) {
        c(unclass(summary(y)), SD = stats::sd(y))
      })), check.names = FALSE, row.names = NULL
    )
    what <- if (is_survival(object)) words_of_times(object) else "response"
  } else {
    counts <- class_counts(object, rows)
    response <- data.frame(class = names(counts), rows = unname(counts),
                           share = prop.table(class_sums(object)))
    largest <- max(prop.table(class_sums(object, object$rows$weight)))
    what <- sprintf("rows by class (always the largest class: error rate %s)", shown(1 - largest))
  }
  # also where columns are not standardised
  squares <- object$columns$squares[object$columns$usable]
  scale <- stats::quantile(sqrt(squares / sum(object$rows$weight)))
  tables <- c(named_list(what, response), list("standard deviations of the columns" = scale))
  strongest <- if (!is.null(object$columns$products)) utils::head(ranked_columns(object), 5L)
  expected <- !is.null(strongest) && !anyNA(strongest$expected)
  if (!is.null(strongest)) {
    title <- sprintf("columns with the strongest association by themselves (%s)",
                     association_label(object))
    tables[[title]] <- strongest[c("name", "association", if (expected) "expected")]
  }
  seal(structure(list(
    result = without_x(object), tables = tables, response_table = response, scale = scale,
    strongest = strongest, meaning = if (expected) {
      "expected = at that rank if no column were associated with the response"
    }
  ), class = c("sparsels_summary", "sparsels_object")))
}
