# Pictures. Each plot draws the data frame made by plot_data() and returns it, so that what is drawn
# can be tested, and drawn again elsewhere.

# Okabe and Ito's colours, which colour-blind readers can distinguish; the line type and the mark
# distinguish the curves in grey.
curve_style <- data.frame(
  curve = c("inner", "test", "random", "majority", "criterion", "cv"),
  colour = c("#0072B2", "#D55E00", "#009E73", "#555555", "#0072B2", "#CC79A7"),
  line = c(2, 1, 4, 3, 2, 1),
  mark = c(1, 16, 2, NA, 1, 17)
)

plot_data <- function(x, ...) UseMethod("plot_data")

#' @exportS3Method
plot_data.sparse_fit <- function(x, size = NULL, ...) {
  sizes <- size_table(x)
  curves <- c(criterion = "se", cv = "cv_se")[c(TRUE, !is.null(sizes$cv))]
  if (!is.null(sizes$cv)) sizes$criterion <- sizes[[criterion_column(x)]]
  honest <- names(curves)[length(curves)]
  marked <- as_size(x, size)
  best_se <- sizes[[curves[[honest]]]][match(best_size(x), sizes$size)]
  # some criteria have no standard error, hence no such size
  one_se <- if (is.na(best_se)) -1L else best_size(x, "1se")
  pieces <- lapply(names(curves), function(curve) {
    data.frame(
      size = sizes$size, curve = factor(curve, names(curves)), mean = sizes[[curve]],
      se = sizes[[curves[[curve]]]], chosen = curve == honest & sizes$size == marked,
      one_se = curve == honest & sizes$size == one_se
    )
  })
  with_bars(do.call(rbind, pieces))
}

#' @exportS3Method
plot_data.cv_result <- function(x, ...) {
  curves <- intersect(curve_style$curve, names(x$curves))
  pieces <- lapply(curves, function(curve) {
    data.frame(
      x$curves[x$key], curve = factor(curve, curves),
      mean = x$curves[[curve]], se = x$curves[[paste0(curve, "_se")]]
    )
  })
  with_bars(do.call(rbind, pieces))
}

# Held-out and training error of every model, by size or lambda; without folds the latter alone.
#' @exportS3Method
plot_data.kernel_fit <- function(x, ...) {
  key <- path_key(x)
  path <- x$path[order(x$path[[key]]), ]
  columns <- c(held_out = "criterion", training = "training")
  curves <- kernel_styles(x)$curve
  pieces <- lapply(curves, function(curve) {
    data.frame(
      path[intersect(c(key, "prototypes"), names(path))], curve = factor(curve, curves),
      mean = path[[columns[[curve]]]], se = if (curve == "held_out") path$se else NA_real_,
      chosen = curve == curves[1L] & path[[key]] == x[[key]], row.names = NULL
    )
  })
  with_bars(do.call(rbind, pieces))
}

#' @exportS3Method
plot_data.l1_path <- function(x, what = drawn_of(x), ...) {
  if (what == "coefficients") return(coefficient_profiles(x))
  path <- x$path
  chosen <- path$lambda == x$lambda
  one_se <- !chosen & chosen
  # some criteria have no standard error, and training errors none to choose by
  if (!is_training(x) && !is.na(path$se[chosen])) one_se[lambda_row_by(x, "1se")] <- TRUE
  with_bars(data.frame(
    lambda = path$lambda, size = path$size, mean = path$criterion, se = path$se,
    chosen = chosen, one_se = one_se
  ))
}

# what plot() shows by default
drawn_of <- function(fit) {
  if (is_training(fit) && any(fit$path$size > 0L)) "coefficients" else "criterion"
}

# The coefficients of the standardised columns that are in any model, at every lambda.
coefficient_profiles <- function(fit) {
  responses <- colnames(fit$problem$y)
  count <- ncol(fit$problem$y)
  profiles <- lapply(seq_len(count), function(l) {
    table <- response_profiles(fit, l)
    if (count > 1L) table$response <- rep(responses[l], nrow(table))
    table
  })
  do.call(rbind, profiles)
}

response_profiles <- function(fit, l) {
  used <- sort(unique(unlist(lapply(fit$solutions, `[[`, "features"))))
  beta <- vapply(fit$solutions, function(one) {
    replace(numeric(length(used)), match(one$features, used), as.matrix(one$beta)[, l])
  }, numeric(length(used)))
  count <- nrow(fit$path)
  data.frame(
    lambda = rep(fit$path$lambda, length(used)), size = rep(fit$path$size, length(used)),
    feature = rep(used, each = count), name = rep(fit$problem$names[used], each = count),
    coefficient = as.vector(t(matrix(beta, length(used), count)))
  )
}

with_bars <- function(data) {
  se <- ifelse(is.na(data$se), 0, data$se)
  data$lower <- data$mean - se
  data$upper <- data$mean + se
  data
}

curve_names <- function(x) {
  c(
    inner = paste0(x$inner, " (optimistic)"), test = "test", cv = "inner cross-validation",
    random = "random selection", majority = majority_words(x$problem$task)
  )
}

#' Plot the error against the size of the model
#'
#' Draws the criterion that chose the features and, where the whole search was repeated in folds,
#' its cross-validated error, against the number of features from 0 on, with bars of one standard
#' error. Marked are the chosen size and the smallest one within a standard error of the best.
#'
#' The criterion has been minimised over features, so it is optimistic: with many more features than
#' rows it tends to 0 even if no feature is related to the response. The cross-validated error is
#' honest: its models and their features were chosen without the rows they are scored on. A fit with
#' `size = "criterion"` has only the first curve.
#'
#' @param x A fit of class `sparse_fit`.
#' @param size The size to mark instead of the chosen one: a number, `"min"` or `"1se"`.
#' @param ... Graphical parameters for [graphics::plot.default()], such as `main`, `xlim`, `ylim`,
#'   `log`.
#' @return Invisibly the data frame drawn, a row per size and curve: `size`, `curve` (factor:
#'   criterion, cv), `mean`, `se`, `chosen` and `one_se` (logical, the sizes marked), `lower`,
#'   `upper` (the bar).
#' @references Pahikkala, T., Airola, A. and Salakoski, T. (2010). Linear time feature selection for
#'   regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' @seealso [best_size()], [cross_validate()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' fit <- greedy_rls(x, x[, 3] - x[, 8] + rnorm(60))
#' plot(fit)
#' @export
plot.sparse_fit <- function(x, size = NULL, ...) {
  check_sealed(x)
  data <- plot_data(x, size)
  styles <- fit_styles(x, data)
  words <- list(main = plot_title(x), xlab = size_axis(x), ylab = error_label(x, data))
  empty_plot(data$size, data, words, ...)
  draw_curves(data$size, data, styles)
  marked <- marked_sizes(data)
  graphics::points(mean ~ size, marked, pch = marked$pch, cex = marked$cex)
  legend_above(c(styles$label, paste0(marked$label, ": ", marked$size)),
    col = c(styles$colour, rep("black", nrow(marked))), pch = c(styles$mark, marked$pch),
    lty = c(styles$line, rep(NA, nrow(marked))), lwd = 2, seg.len = 3
  )
  invisible(data)
}

# how the curves of a fit are drawn, and what they are
fit_styles <- function(fit, data) {
  styles <- curve_style[curve_style$curve %in% levels(data$curve), ]
  # alone with the criterion, the honest curve has the colour that it has everywhere
  honest <- c("colour", "line", "mark")
  styles[styles$curve == "cv", honest] <- curve_style[curve_style$curve == "test", honest]
  note <- if (!is_training(fit)) "chose the features" else
    if (nlevels(data$curve) > 1L) "features of all rows"
  scheme <- if (is.null(note)) fit$criterion$label else sprintf("%s (%s)", fit$folds$label, note)
  styles$label <- c(criterion = scheme, cv = "cross-validation of the search")[styles$curve]
  styles
}

error_label <- function(fit, data) {
  if (nlevels(data$curve) > 1L) fit$cv_criterion$words else fit$criterion$label
}

marked_sizes <- function(data) {
  rows <- c(which(data$chosen), which(data$one_se))
  style <- data.frame(label = c("chosen", "within one standard error"), pch = c(1, 0), cex = 2.4)
  cbind(data[rows, ], style[seq_along(rows), ])
}

optimistic <- "selection criterion, optimistic"
mark_colour <- "#D55E00"

#' Plot an outer cross-validation
#'
#' Draws, against the number of selected features, the method's own held-out error, the error on
#' the outer test folds and the baselines: means over the outer folds, bars of one standard error.
#'
#' @param x The result of [cross_validate()].
#' @param ... Graphical parameters for [graphics::plot.default()], such as `main`, `xlim`, `ylim`,
#'   `log`.
#' @return Invisibly the data frame drawn, a row per size (or lambda) and curve: `size`, `curve`
#'   (factor: inner, test, random, majority, cv), `mean`, `se`, `lower`, `upper` (the bar).
#' @inherit cross_validate references examples
#' @seealso [cross_validate()]
#' @export
plot.cv_result <- function(x, ...) {
  check_sealed(x)
  data <- plot_data(x)
  position <- key_position(x$key, data)
  styles <- curve_style[curve_style$curve %in% levels(data$curve), ]
  words <- list(main = plot_title(x), ylab = error_axis(x), xlab = key_axis(x))
  empty_plot(position, data, words, ...)
  shift <- dodge(position) * (match(data$curve, styles$curve) - 2)
  draw_curves(position + shift, data, styles[rev(seq_len(nrow(styles))), ])
  legend_above(curve_names(x)[styles$curve],
    col = styles$colour, lty = styles$line, pch = styles$mark, lwd = 2, seg.len = 3
  )
  invisible(data)
}

# the horizontal position of the models, and the title of the axis
key_position <- function(key, data) if (key == "lambda") log2(data$lambda) else data[[key]]

size_axis <- function(fit) sprintf("selected %ss", chosen_word(fit))

key_axis <- function(x) {
  switch(x$key, size = size_axis(x$fit), lambda = "log2(lambda)", "model")
}

#' Plot the held-out error against lambda
#'
#' Draws the held-out error of every lambda, with bars of one standard error over folds, beside the
#' error on the training rows, and marks the smallest held-out error.
#'
#' @param x A fit of [rls()], [kernel_rls()] or [lssvm()].
#' @param ... Graphical parameters for [graphics::plot.default()], such as `main`, `xlim`, `ylim`,
#'   `log`.
#' @return Invisibly the data frame drawn, a row per lambda and curve: `lambda`, `curve` (factor:
#'   held_out, training), `mean`, `se`, `chosen` (whether marked), `lower`, `upper` (the bar).
#' @inherit kernel_rls references
#' @seealso [kernel_fit], [cv_error()]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -5, 5))
#' y <- sin(x[, 1]) + rnorm(200) / 2
#' plot(kernel_rls(x, y, kernel = kernel_gaussian(4), basis = 40))
#' @export
plot.kernel_fit <- function(x, ...) {
  check_sealed(x)
  data <- plot_data(x)
  draw_errors(x, data, ...)
  invisible(data)
}

draw_errors <- function(fit, data, ...) {
  position <- key_position(path_key(fit), data)
  styles <- kernel_styles(fit)
  words <- list(main = plot_title(fit), ylab = squared_axis(fit), xlab = errors_axis(fit))
  empty_plot(position, data, words, ...)
  draw_curves(position, data, styles[rev(seq_len(nrow(styles))), ])
  graphics::points(position[data$chosen], data$mean[data$chosen], pch = 16, cex = 1.3,
                   col = mark_colour)
  legend_above(c(styles$label, chosen_label(fit)), col = c(styles$colour, mark_colour),
    lty = c(styles$line, NA), pch = c(styles$mark, 16), lwd = 2, seg.len = 3
  )
}

kernel_styles <- function(fit) {
  held_out <- !is.null(fit$folds)
  styles <- data.frame(
    curve = c("held_out", "training"), label = c(if (held_out) fit$folds$label else "", "training"),
    colour = c("#0072B2", "#555555"), line = c(1, 2), mark = c(1, NA)
  )
  styles[c(held_out, TRUE), ]
}

errors_axis <- function(fit) {
  if (path_key(fit) == "lambda") return("log2(lambda)")
  if (all(fit$path$size == fit$path$prototypes)) "prototypes" else
    "size (prototypes and the intercept)"
}

chosen_label <- function(fit) {
  if (path_key(fit) == "size") return(sprintf("chosen, size = %d", fit$size))
  sprintf("smallest, lambda = %s", format(fit$lambda, digits = 3))
}

#' Plot a regularisation path
#'
#' Draws the held-out criterion of every lambda with bars of one standard error, or the coefficients
#' as lambda falls.
#'
#' lambda is on a logarithmic axis and falls from left to right, so the models grow from left to
#' right, as in [plot.sparse_fit()]. The numbers along the top count their columns. Marked are the
#' lambda with the best criterion and the largest within a standard error of it. Coefficients are on
#' the scale of the standardised columns, which the penalty compares. Up to eight of the largest at
#' the smallest lambda have a colour and a name.
#'
#' @param x A fit of [l1_path()] or [l1_size()].
#' @param what What to draw: `"criterion"` or `"coefficients"`; `NULL` for the first when the fit
#'   has held-out errors, otherwise the second. Without held-out errors the criterion is
#'   `dev_ratio`, R-squared or the fraction of deviance explained.
#' @param ... Graphical parameters for [graphics::plot.default()], such as `main`, `xlim`, `ylim`.
#'   The horizontal axis has the scale of `-log10(lambda)`.
#' @return Invisibly the data frame drawn: for the criterion a row per lambda: `lambda`, `size`,
#'   `mean` (the criterion), `se`, `chosen` and `one_se` (logical, what is marked), `lower`, `upper`
#'   (the bar); for the coefficients a row per lambda and column that is in any model: `lambda`,
#'   `size` (of the model), `feature` (column number), `name`, `coefficient`, and for several
#'   responses or classes `response`.
#' @seealso [l1_path()], [best_lambda()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' fit <- l1_path(x, x[, 3] - x[, 8] + rnorm(60), folds = 5)
#' plot(fit)
#' plot(fit, what = "coefficients")
#' @export
plot.l1_path <- function(x, what = NULL, ...) {
  check_sealed(x)
  what <- check_drawn(x, what)
  data <- plot_data(x, what)
  if (what == "criterion") draw_criterion(x, data, ...) else draw_profiles(x, data, ...)
  invisible(data)
}

check_drawn <- function(fit, what) {
  if (is.null(what)) return(drawn_of(fit))
  check_choice(what, "what", c("criterion", "coefficients"))
}

# the horizontal position of a lambda
lambda_position <- function(lambda) -log10(lambda)

lambda_labels <- function(lambda) vapply(lambda, format, "", digits = 3)

# round values of lambda over a range of places
lambda_ticks <- function(ends) {
  if (diff(ends) == 0) return(10^-ends[1L])
  grDevices::axisTicks(rev(-ends), log = TRUE)
}

draw_criterion <- function(fit, data, ...) {
  position <- lambda_position(data$lambda)
  words <- list(main = plot_title(fit), xlab = "lambda", ylab = fit$criterion$label,
                sub = if (!is_training(fit)) optimistic)
  lambda_plot(position, data, data$size, words, ...)
  draw_curve(position, data, list(colour = curve_style$colour[1L], line = 1, mark = 1))
  marked <- marked_sizes(data)
  graphics::points(lambda_position(marked$lambda), marked$mean, pch = marked$pch, cex = marked$cex,
                   col = mark_colour)
  legend_above(sprintf("%s: %s (size %d)", marked$label, lambda_labels(marked$lambda), marked$size),
               pch = marked$pch, col = mark_colour)
}

profile_label <- "coefficient (standardised columns)"

# Okabe and Ito's colours once more, but for the yellow, which is too light for lines
profile_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

draw_profiles <- function(fit, data, ...) {
  ends <- profile_ends(data)
  position <- lambda_position(fit$path$lambda)
  size <- fit$path$size
  bars <- data.frame(lower = min(0, data$coefficient), upper = max(0, data$coefficient))
  words <- list(main = plot_title(fit), xlab = "lambda", ylab = profile_label,
                xlim = range(position) + c(0, 0.2) * diff(range(position)))
  lambda_plot(position, bars, size, words, ...)
  graphics::abline(h = 0, col = "#BBBBBB")
  line <- profile_line(data)
  for (i in rev(seq_len(nrow(ends)))) {
    end <- ends[i, ]
    beta <- data$coefficient[line == end$line]
    graphics::lines(position, beta, col = end$colour, lwd = if (is.na(end$label)) 1 else 2)
  }
  named <- ends[!is.na(ends$label), ]
  if (!nrow(named)) return()
  heights <- spread_labels(named$coefficient, 1.1 * graphics::strheight("M"))
  graphics::text(max(position), heights, named$label, pos = 4, col = named$colour, cex = 0.85)
}

# a name for the line of each coefficient
profile_line <- function(data) paste(data$feature, data$response)

# One row per column of a path, and response: its coefficient at the smallest lambda; the largest
# with a colour and a label, and first.
profile_ends <- function(data) {
  ends <- data[data$lambda == min(data$lambda, Inf), ]
  ends <- ends[order(-abs(ends$coefficient)), ]
  named <- seq_len(nrow(ends)) <= length(profile_colours) & ends$coefficient != 0
  ends$colour <- ifelse(named, profile_colours[seq_len(nrow(ends))], "#BBBBBB")
  label <- if (is.null(ends$response)) ends$name else sprintf("%s, %s", ends$name, ends$response)
  ends$label <- ifelse(named, label, NA)
  ends$line <- profile_line(ends)
  ends
}

# Heights near the wanted ones and at least `gap` apart.
spread_labels <- function(height, gap) {
  if (length(height) < 2L) return(height)
  sorted <- order(height)
  # x - gap * (its rank) must not fall: the nearest such sequence is the isotonic regression
  steps <- gap * seq_along(height)
  replace(height, sorted, stats::isoreg(height[sorted] - steps)$yf + steps)
}

# An empty plot over -log10(lambda), labelled by lambda, and inside the frame by the sizes.
lambda_plot <- function(position, data, size, words, ...) {
  margin <- 0.08 * diff(range(data$lower, data$upper))
  words$ylim <- range(data$lower, data$upper) + c(0, margin)
  empty_plot(position, data, words, ..., integers = FALSE)
  ticks <- lambda_ticks(range(position))
  graphics::axis(1, lambda_position(ticks), lambda_labels(ticks))
  shown <- spread_rows(length(position), 12L)
  graphics::axis(3, position[shown], size[shown], tcl = 0.25, mgp = c(0, -1.3, 0), cex.axis = 0.8)
}

plot_title <- function(x) {
  sprintf("%s: %s, %s", x$method, x$problem$response, data_words(x$problem))
}

comparison_title <- function(x) {
  sprintf("%s: %s, %s", x$problem$response, counted(nrow(x$scores), "random split"),
          if (is.null(x$k)) "each method's own size" else paste("models of size", x$k))
}

error_axis <- function(x) {
  if (x$measure == "squared") squared_units(x$problem) else measure_label(x)
}

squared_units <- function(problem) {
  if (!is.null(problem$response_scale)) return("mean squared error (variances of the responses)")
  sprintf("mean squared error (squared units of %s)", problem$response)
}

squared_axis <- function(fit) {
  if (fit$problem$task == "regression") return(squared_units(fit$problem))
  "mean squared error (classes are -1 and +1)"
}

# `words` are the default main, ylab, sub and xlab; `...` is what the user asks for instead.
# `integers`: the horizontal axis is labelled at whole numbers.
empty_plot <- function(position, data, words, ..., integers = TRUE) {
  asked <- plot_settings(position, data, words, ...)
  # the title stands above the two lines that legend_above() may need
  title <- asked$main
  asked$main <- NULL
  do.call(graphics::plot.default, asked)
  graphics::title(title, line = 2.4, cex.main = 1.1)
  if (!integers) return(invisible())
  ticks <- graphics::axTicks(1)
  graphics::axis(1, ticks[ticks == round(ticks)])
}

plot_settings <- function(position, data, words, ...) {
  defaults <- list(x = range(position), y = range(data$lower, data$upper), type = "n", xaxt = "n",
                   xlab = "selected features")
  utils::modifyList(utils::modifyList(defaults, words), list(...))
}

# The curves of `styles`, the last of them on top.
draw_curves <- function(position, data, styles) {
  for (i in seq_len(nrow(styles))) {
    rows <- data$curve == styles$curve[i]
    draw_curve(position[rows], data[rows, ], styles[i, ])
  }
}

# Bars and marks at no more than 31 positions, so that a long path stays legible.
draw_curve <- function(position, data, style) {
  graphics::lines(position, data$mean, col = style$colour, lty = style$line, lwd = 2)
  if (is.na(style$mark)) return()
  marked <- seq(1, nrow(data), by = ceiling(nrow(data) / 31))
  graphics::points(position[marked], data$mean[marked], col = style$colour, pch = style$mark,
                   cex = 0.8)
  graphics::segments(
    position[marked], data$lower[marked], position[marked], data$upper[marked],
    col = grDevices::adjustcolor(style$colour, 0.6)
  )
}

# How far curves are moved from each other, so that their bars do not overlap.
dodge <- function(size) 0.006 * diff(range(size))

# Between the title and the frame, where no data can be; in two lines where one would be too long,
# and smaller where these would leave the picture.
legend_above <- function(text, ...) {
  place <- function(columns, size, plot = TRUE) {
    graphics::legend("bottom", paste0(text, "  "),
      ncol = columns, plot = plot, bty = "n", cex = size, xpd = NA, inset = c(0, 1), ...
    )
  }
  size <- 0.85
  # of the frame, beside which there are margins
  width <- function(columns) {
    place(columns, size, plot = FALSE)$rect$w / diff(graphics::par("usr")[1:2])
  }
  widest <- 1 + 2 * min(graphics::par("mai")[c(2, 4)]) / graphics::par("pin")[1]
  columns <- if (width(length(text)) > 1) ceiling(length(text) / 2) else length(text)
  place(columns, size * min(1, widest / width(columns)))
}

# ggplot2 ---------------------------------------------------------------------------------------

#' Plot fits and cross-validations with ggplot2
#'
#' Makes a ggplot object of the data that [plot.sparse_fit()], [plot.l1_path()],
#' [plot.kernel_fit()], [plot.fs_lssvm()] and [plot.cv_result()] draw.
#'
#' @param object A problem, a fit, or the result of [cross_validate()], [exchange()] and the like.
#' @param what Of a fit of [l1_path()]: as in [plot.l1_path()]; of [fs_lssvm()]: as in
#'   [plot.fs_lssvm()].
#' @param size,newdata As in [plot.fs_lssvm()].
#' @param labels Of a problem: as in [plot()][summary.sparsels_problem].
#' @param ... Not used.
#' @return A ggplot object.
#' @inherit cross_validate references
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   set.seed(1)
#'   x <- matrix(rnorm(60 * 20), 60, 20)
#'   fit <- greedy_rls(x, x[, 3] - x[, 8] + rnorm(60))
#'   ggplot2::autoplot(fit)
#' }
#' @name autoplot
NULL

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.sparse_fit <- function(object, size = NULL, ...) { # nolint: object_name_linter.
  check_sealed(object)
  data <- plot_data(object, size)
  data$position <- data$size
  .data <- ggplot2::.data
  gg_curves(data, fit_styles(object, data)) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$label), marked_sizes(data), colour = "black",
                        size = 4) +
    ggplot2::scale_shape_manual(NULL, values = c(1, 0)) +
    ggplot2::labs(title = plot_title(object), x = size_axis(object),
                  y = error_label(object, data)) +
    ggplot2::theme(legend.position = "bottom", legend.box = "vertical")
}

# A curve with its bars and the marked of its rows; `position` is a function of a row.
gg_marked <- function(data, marked, position) {
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(position(.data), .data$mean)) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
      colour = curve_style$colour[1L], alpha = 0.6
    ) +
    ggplot2::geom_line(colour = curve_style$colour[1L]) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$label), marked, colour = mark_colour, size = 3) +
    ggplot2::scale_shape_manual(NULL, values = c(1, 0))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.l1_path <- function(object, what = NULL, ...) { # nolint: object_name_linter.
  check_sealed(object)
  what <- check_drawn(object, what)
  data <- plot_data(object, what)
  picture <- if (what == "criterion") gg_criterion(object, data) else gg_profiles(object, data)
  position <- lambda_position(object$path$lambda)
  shown <- spread_rows(length(position), 12L)
  picture +
    ggplot2::scale_x_continuous(
      breaks = lambda_position(lambda_ticks(range(position))),
      labels = lambda_labels(lambda_ticks(range(position))),
      # names stand at the end of their lines
      expand = ggplot2::expansion(c(0.05, if (what == "criterion") 0.05 else 0.15)),
      sec.axis = ggplot2::dup_axis(name = "columns", breaks = position[shown],
                                   labels = object$path$size[shown])
    ) +
    ggplot2::labs(title = plot_title(object), x = "lambda") +
    ggplot2::theme(legend.position = "bottom")
}

gg_criterion <- function(fit, data) {
  marked <- marked_sizes(data)
  gg_marked(data, marked, function(row) lambda_position(row$lambda)) +
    ggplot2::labs(y = fit$criterion$label, subtitle = if (!is_training(fit)) optimistic)
}

gg_profiles <- function(fit, data) {
  ends <- profile_ends(data)
  named <- ends[!is.na(ends$label), ]
  line <- profile_line(data)
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(lambda_position(.data$lambda), .data$coefficient)) +
    ggplot2::geom_line(ggplot2::aes(group = line), colour = ends$colour[match(line, ends$line)]) +
    ggplot2::geom_text(ggplot2::aes(label = .data$label), named, colour = named$colour, hjust = 0,
                       size = 3) +
    ggplot2::labs(y = profile_label)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.stability_selection <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  data <- plot_data(object)
  data$name <- factor(data$name, rev(data$name))
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(.data$probability, .data$name, colour = .data$stable)) +
    ggplot2::geom_vline(xintercept = object$threshold, linetype = 2, colour = "#555555") +
    ggplot2::geom_point() +
    ggplot2::scale_colour_manual("stable", values = c(`TRUE` = "#D55E00", `FALSE` = "#555555")) +
    ggplot2::labs(x = "selection probability", y = NULL)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.permutation_test <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  .data <- ggplot2::.data
  ggplot2::ggplot(plot_data(object), ggplot2::aes(.data$size, .data$statistic)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), fill = "grey88") +
    ggplot2::geom_line(colour = "#D55E00") +
    ggplot2::geom_point(colour = "#D55E00") +
    ggplot2::labs(x = sprintf("number of %ss", chosen_word(object$fit)),
                  y = "error relative to the null model")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.added_value <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  .data <- ggplot2::.data
  table <- object$table[1L, ]
  ggplot2::ggplot(plot_data(object), ggplot2::aes(.data$base, .data$difference)) +
    ggplot2::geom_hline(yintercept = 0, linetype = 3) +
    ggplot2::geom_point(colour = "grey50") +
    ggplot2::geom_hline(yintercept = table$difference, colour = mark_colour) +
    ggplot2::geom_hline(yintercept = c(table$lower, table$upper), colour = mark_colour,
                        linetype = 2) +
    ggplot2::labs(x = "squared error of the base model", y = "less that of the full model")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.learning_curve <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  data <- plot_data(object)
  measured <- data[data$part == "measured", ]
  curve <- data[data$part != "measured", ]
  .data <- ggplot2::.data
  limits <- ggplot2::aes(ymin = .data$lower, ymax = .data$upper)
  ggplot2::ggplot(curve, ggplot2::aes(.data$rows, .data$error)) +
    ggplot2::geom_ribbon(limits, curve[!is.na(curve$lower), ], fill = "grey88") +
    ggplot2::geom_vline(xintercept = trained_rows(object$problem), linetype = 3) +
    ggplot2::geom_line(ggplot2::aes(linetype = .data$part), colour = mark_colour) +
    ggplot2::geom_linerange(limits, measured) +
    ggplot2::geom_point(data = measured) +
    ggplot2::scale_linetype_manual(NULL, values = c(fitted = 1, forecast = 2)) +
    ggplot2::labs(title = plot_title(object), x = "training rows", y = error_axis(object)) +
    ggplot2::theme(legend.position = "bottom")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.exchange <- function(object, ...) { # nolint: object_name_linter.
  data <- plot_data(object)
  if (!nrow(data)) stop_input("the set has no features: there is nothing to draw")
  data$drop <- factor(data$drop, rev(levels(data$drop)))
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(.data$add, .data$drop, fill = cost_shade(.data$cost))) +
    ggplot2::geom_tile(colour = "white") +
    ggplot2::geom_text(ggplot2::aes(label = cost_text(.data$cost)), size = 2.5,
                       colour = ifelse(abs(cost_shade(data$cost)) > 0.6, "white", "black")) +
    ggplot2::scale_fill_gradient2(low = cost_colours[1L], mid = cost_colours[2L],
                                  high = cost_colours[3L], limits = c(-1, 1), guide = "none") +
    ggplot2::labs(title = exchange_title(object), x = substitute_words(object), y = NULL) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.method_comparison <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  data <- plot_data(object)
  data <- data[!is.na(data$score), ]
  data$method <- factor(data$method, rev(levels(data$method)))
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(.data$score, .data$method, fill = .data$part)) +
    ggplot2::geom_boxplot(alpha = 0.4) +
    ggplot2::scale_fill_manual(NULL, values = c(training = "#0072B2", test = "#D55E00")) +
    ggplot2::labs(title = comparison_title(object), x = measure_label(object), y = NULL) +
    ggplot2::theme(legend.position = "bottom")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.panel_error <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  check_random(object)
  data <- plot_data(object)
  marked <- data$list != "random"
  .data <- ggplot2::.data
  ggplot2::ggplot(data[!marked, ], ggplot2::aes(.data$error)) +
    ggplot2::geom_histogram(breaks = panel_breaks(object), fill = "grey80") +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$error, colour = .data$list,
                                     linetype = .data$list), data[marked, ]) +
    ggplot2::scale_colour_manual(NULL, values = c("#D55E00", "#0072B2")) +
    ggplot2::scale_linetype_manual(NULL, values = 1:2) +
    ggplot2::labs(title = panel_title(object), x = object$criterion$label, y = "random lists")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.cv_result <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  data <- plot_data(object)
  data$position <- key_position(object$key, data)
  styles <- curve_style[curve_style$curve %in% levels(data$curve), ]
  names <- unname(curve_names(object)[styles$curve])
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(.data$position, .data$mean,
    colour = .data$curve, linetype = .data$curve
  )) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
      alpha = 0.6, linetype = 1, position = ggplot2::position_dodge(4 * dodge(data$position))
    ) +
    ggplot2::geom_line() +
    ggplot2::scale_colour_manual(NULL, values = styles$colour, labels = names) +
    ggplot2::scale_linetype_manual(NULL, values = styles$line, labels = names) +
    ggplot2::labs(
      title = plot_title(object),
      x = key_axis(object), y = error_axis(object)
    ) +
    ggplot2::theme(legend.position = "bottom")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_fit <- function(object, ...) { # nolint: object_name_linter.
  check_sealed(object)
  gg_errors(object, plot_data(object))
}

# as draw_errors()
gg_errors <- function(fit, data) {
  data$position <- key_position(path_key(fit), data)
  gg_curves(data, kernel_styles(fit)) +
    ggplot2::geom_point(data = data[data$chosen, ], colour = mark_colour, size = 3) +
    ggplot2::labs(title = plot_title(fit), subtitle = chosen_label(fit), x = errors_axis(fit),
                  y = squared_axis(fit)) +
    ggplot2::theme(legend.position = "bottom")
}

# Curves with their bars along the column `position` of the data.
gg_curves <- function(data, styles) {
  .data <- ggplot2::.data
  ggplot2::ggplot(data, ggplot2::aes(.data$position, .data$mean,
    colour = .data$curve, linetype = .data$curve
  )) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper), alpha = 0.6, linetype = 1
    ) +
    ggplot2::geom_line() +
    ggplot2::scale_colour_manual(NULL, values = styles$colour, labels = styles$label) +
    ggplot2::scale_linetype_manual(NULL, values = styles$line, labels = styles$label)
}
