# The pictures of fits and cross-validations, and the methods that draw any picture.

#' Plot fits and results
#'
#' `plot()` draws a fit or a result with base graphics, `ggplot2::autoplot()` makes a ggplot object
#' of the same picture.
#'
#' @details
#' * A search for features ([greedy_rls()] and the other fits of class [sparse_fit]): the criterion
#'   that chose the features and, where the whole search was repeated in folds, its cross-validated
#'   error, against the number of features from 0 on, with bars of one standard error. Marked are
#'   the chosen size and the smallest one within a standard error of the best. `size` is the size to
#'   mark instead of the chosen one: a number, `"min"` or `"1se"`. `proof`, a result of [certify()]
#'   for these sizes, adds the bounds below which no set of columns has a leave-one-out error, for a
#'   fit whose errors are of one lambda (`refit = FALSE`). The criterion has been minimised
#'   over features, so it is optimistic: with many more features than rows it tends to 0 even if no
#'   feature is related to the response. The cross-validated error is the error of models whose
#'   features were chosen without the rows they are scored on.
#' * [l1_path()], [l1_size()]: the held-out criterion of every lambda with bars of one standard
#'   error, or the coefficients as lambda falls. `what` is `"criterion"` or `"coefficients"`. The
#'   default is the criterion when the fit has held-out errors. Without held-out errors the
#'   criterion is `dev_ratio`, R-squared or the fraction of deviance explained. lambda is on a
#'   logarithmic axis, `-log10(lambda)`, and falls from left to right. The numbers along the top
#'   count the columns of the models. Marked are the lambda with the best criterion and the largest
#'   within a standard error of it. Coefficients refer to the standardised columns, which the
#'   penalty compares. Up to seven of the largest at the smallest lambda have a colour and a name.
#' * [rls()], [kernel_rls()], [lssvm()]: the held-out error of every lambda, with bars of one
#'   standard error over folds, beside the error on the training rows. The smallest held-out error
#'   is marked.
#' * [fs_lssvm()]: with `what = "criterion"` the same errors of every size, with `what = "boundary"`
#'   the [decision boundary][fs_lssvm_fit] in the plane of two features.
#' * Any fit with [prediction_intervals]: `what = "intervals"` draws the observed values of the rows
#'   against their held-out predictions, with the intervals of `level`, by default 0.9.
#' * [greedy_rls()] with [curves]: `what = "terms"` draws the part of each term of the chosen model
#'   over the range of its column, at most 12 of them (`most`), all on one scale. The band has two
#'   standard errors by the jackknife over the models without each fold, and ends where it leaves
#'   the scale. With the training rows as `newdata` there are a rug and a point for each row, the
#'   term plus the residual of the row when it was held out. A title with "line" says that the
#'   held-out error without the directions of the curve is no higher. A pair has areas of equal
#'   height over its two columns, the first one from left to right, blue below and orange above 0,
#'   with the same heights for all pairs. With `newdata` it has the rows, and areas where a row is
#'   within a tenth of both ranges.
#' * [cross_validate()]: the method's own held-out error, the error on the outer test folds and the
#'   baselines, against the number of selected features: means over the outer folds, bars of one
#'   standard error. With `what = "folds"` the test error of every outer fold with its interval, the
#'   error of its null model and the mean of all: a forest plot where folds are groups of rows.
#' * [tune_lssvm()]: the points that were tried on logarithmic axes, coloured by the rank of their
#'   held-out error, the best marked. If one parameter was tuned, the error is on the vertical axis.
#' * [cv_variance()]: mean and variance over repeats of the error of each approach against lambda,
#'   as Figures 1 to 4 of its paper do. A single repeat has no variance: its panel is left out.
#' * [permutation_test()], [stability_selection()], [learning_curve()], [exchange()],
#'   [panel_error()], [added_value()], [compare_methods()], [risk_groups()], [judge()],
#'   [matching_pursuit()] and [lars_path()]: see there. `autoplot()` does not draw a judgement, but
#'   its parts.
#'
#' @param x,object A fit, or the result of a function of the package. For problems see
#'   [summary.sparsels_problem].
#' @param ... Arguments of the picture, as in Details. Other arguments are graphical parameters for
#'   [graphics::plot.default()], such as `main`, `xlim`, `ylim`. `autoplot()` heeds titles, limits
#'   and the colour of the points.
#' @return `plot()`: invisibly the data frame drawn. `autoplot()`: a ggplot object of these data.
#' * Of a search: a row per size and curve: `size`, `curve` (factor: criterion, cv), `mean`, `se`,
#'   `chosen` and `one_se` (logical, the sizes marked), `lower`, `upper` (the bar).
#' * Of an l1 path: for the criterion a row per lambda: `lambda`, `size`, `mean` (the criterion),
#'   `se`, `chosen` and `one_se` (logical, what is marked), `lower`, `upper` (the bar); for the
#'   coefficients a row per lambda and column that is in any model: `lambda`, `size` (of the model),
#'   `feature` (column number), `name`, `coefficient`, and for several responses or classes
#'   `response`.
#' * Of ridge regression, least-squares support vector machines and [fs_lssvm()]: a row per lambda
#'   or size and curve: `lambda` or `size` with `prototypes` (how many of them are in), `curve`
#'   (factor: held_out, training), `mean`, `se`, `chosen` (whether marked), `lower`, `upper`.
#' * Of the boundary a row per point: `part` (factor: grid, row, prototype), `first` and `second`
#'   (the features), `score` (the value of the model there), `observed` (the response of a training
#'   row, otherwise `NA`).
#' * Of terms a row per term and place of its range: `term`, `x`, `value`, `lower`, `upper`.
#' * Of intervals a row per training row: `observed`, `predicted` (held out), `lower`, `upper`, and
#'   `inside` (logical).
#' * Of [cross_validate()]: a row per size (or lambda) and curve: `size`, `curve` (factor: inner,
#'   test, random, majority, cv), `mean`, `se`, `lower`, `upper`; with `what = "folds"` its table
#'   `folds` with the `name` of each row.
#' * Of [tune_lssvm()]: a row per point in the order tried: `gamma`, `sigma2`, `value` (the error;
#'   `NA`, drawn as a cross, where the model could not be computed), `stage`, and `best` (`TRUE` for
#'   the point marked). Of [cv_variance()]: its `table`.
#' @references Pahikkala, T., Airola, A. and Salakoski, T. (2010). Linear time feature selection for
#'   regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' @seealso [best_size()], [best_lambda()], [cross_validate()], [cv_error()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' y <- x[, 3] - x[, 8] + rnorm(60)
#' fit <- greedy_rls(x, y)
#' plot(fit)
#' path <- l1_path(x, y, folds = 5)
#' plot(path)
#' plot(path, what = "coefficients")
#' plot(kernel_rls(x[, 3, drop = FALSE], y, kernel = kernel_gaussian(4), basis = 40))
#' if (requireNamespace("ggplot2", quietly = TRUE)) picture <- ggplot2::autoplot(fit)
#' @aliases autoplot
#' @srrstats {RE6.0} `plot()` of every result
#' @srrstats {RE6.2} In part: the default is the error by size. Fitted or held-out values with
#'   intervals are `plot(what = "intervals")`
#' @importFrom graphics plot
#' @export
plot.sparsels_result <- function(x, ...) {
  check_sealed(x)
  draw_made(picture_of(x, ...))
}

#' @rdname plot.sparsels_result
#' @exportS3Method ggplot2::autoplot
autoplot.sparsels_result <- function(object, ...) {
  check_sealed(object)
  draw_gg(picture_of(object, ...))
}

# The picture of a result. Every fit has a picture of its intervals, and one with curves a picture
# of its terms.
picture_of <- function(x, ...) {
  what <- list(...)$what
  draw <- if (identical(what, "intervals")) interval_picture else
    if (identical(what, "terms")) terms_picture
  if (is.null(draw)) {
    # a result with only one picture of its own takes no `what`
    methods <- lapply(class(x), utils::getS3method, f = "picture", optional = TRUE,
                      envir = environment(picture_of))
    takes <- unlist(lapply(Filter(is.function, methods), function(draw) names(formals(draw))))
    stop_argument_if(!is.null(what) && !"what" %in% takes,
                     "`what` must be \"intervals\" or \"terms\" for this result, or be left out")
    return(picture(x, ...))
  }
  refuse_unless(inherits(x, "sparsels_fit"), "x", sprintf("a fit, for `what = \"%s\"`", what), x)
  (function(..., what) draw(x, ...))(...)
}

# The search for features -------------------------------------------------------------------------

# Okabe and Ito's colours, which colour-blind readers can distinguish. The line type and the mark
# distinguish the curves in grey.
curve_style <- data.frame(
  curve = c("inner", "test", "random", "majority", "criterion", "cv"),
  colour = c("#0072B2", "#D55E00", "#009E73", "#555555", "#0072B2", "#CC79A7"),
  line = c(2, 1, 4, 3, 2, 1), mark = c(1, 16, 2, NA, 1, 17)
)

#' @exportS3Method
picture.sparse_fit <- function(x, size = NULL, proof = NULL, ...) {
  sizes <- size_table(x)
  curves <- c(criterion = "se", cv = "cv_se")[c(TRUE, !is.null(sizes$cv))]
  if (!is.null(sizes$cv)) sizes$criterion <- sizes[[criterion_column(x)]]
  honest <- names(curves)[length(curves)]
  marked <- as_size(x, size)
  best_se <- sizes[[curves[[honest]]]][match(best_size(x), sizes$size)]
  # some criteria have no standard error, so there is no such size
  one_se <- if (is.na(best_se)) -1L else best_size(x, "1se")
  pieces <- lapply(names(curves), function(curve) {
    data.frame(
      size = sizes$size, curve = factor(curve, names(curves)), mean = sizes[[curve]],
      se = sizes[[curves[[curve]]]], chosen = curve == honest & sizes$size == marked,
      one_se = curve == honest & sizes$size == one_se
    )
  })
  data <- with_bars(do.call(rbind, pieces))
  label <- if (nlevels(data$curve) > 1L) x$cv_criterion$words else x$criterion$label
  layers <- c(drawn_curves(data$size, data, fit_styles(x, data)),
              marks(data, data$size, function(row, label) paste0(label, ": ", row$size)),
              if (!is.null(proof)) proof_layer(x, proof))
  new_picture(data, layers, list(main = plot_title(x), xlab = size_axis(x), ylab = label),
              list(...))
}

# The least leave-one-out errors of sets of each size, or their bounds, from a certificate of the
# fit.
proof_layer <- function(fit, proof) {
  check_made(proof, "proof", "certificate", "a result of certify()")
  refitted <- any(fit$path$refit_lambda != fit$lambda, na.rm = TRUE)
  stop_argument_if(refitted || proof$lambda != fit$lambda || fit$criterion$name != "squared" ||
                     !isTRUE(fit$folds$loo),
                   paste("`proof` is about leave-one-out mean squared errors at the lambda of the",
                         "search, which are not the errors drawn: see plot(proof), or make the fit",
                         "with `refit = FALSE`"))
  rows <- proof$proofs[proof$proofs$criterion == "squared", ]
  as_layer("line", rows$size, rows$bound, lty = 3, lwd = 2, label = "no set is below")
}

# the style and the label of each curve of a fit
fit_styles <- function(fit, data) {
  styles <- curve_style[curve_style$curve %in% levels(data$curve), ]
  # the cross-validated curve, alone with the criterion, has the same colour as in other pictures
  honest <- c("colour", "line", "mark")
  styles[styles$curve == "cv", honest] <- curve_style[curve_style$curve == "test", honest]
  note <- if (!is_training(fit)) "chose the features" else
    if (nlevels(data$curve) > 1L) "features of all rows"
  scheme <- if (is.null(note)) fit$criterion$label else sprintf("%s (%s)", fit$folds$label, note)
  styles$label <- c(criterion = scheme, cv = "cross-validation of the search")[styles$curve]
  styles
}

# The curves of the data frame `data`, the first of the styles on top.
drawn_curves <- function(position, data, styles) {
  unlist(lapply(seq_len(nrow(styles)), function(i) {
    rows <- data$curve == styles$curve[i]
    curve_layers(position[rows], data[rows, ], styles[i, ], styles$label[i])
  }), recursive = FALSE)
}

# Marks of the chosen model and of the smallest model within a standard error. `words` makes the
# text of the legend from a row of the data and a label.
marks <- function(data, position, words, colour = "black") {
  styles <- data.frame(column = c("chosen", "one_se"), pch = c(1, 0),
                       label = c("chosen", "within one standard error"))
  unlist(lapply(1:2, function(i) {
    row <- which(data[[styles$column[i]]])
    if (!length(row)) return(NULL)
    as_layer("points", position[row], data$mean[row], col = colour, pch = styles$pch[i], cex = 2.4,
             label = words(data[row, ], styles$label[i]))
  }), recursive = FALSE)
}

#' @exportS3Method
picture.cv_result <- function(x, ..., what = "curves") {
  check_choice(what, "what", c("curves", "folds"))
  if (what == "folds") return(fold_picture(x, plot_title(x), ...))
  data <- cv_curves(x)
  position <- key_position(x$key, data)
  styles <- curve_style[curve_style$curve %in% levels(data$curve), ]
  styles$label <- curve_names(x)[styles$curve]
  axis <- switch(x$key, size = size_axis(x$fit), lambda = "log2(lambda)", "model")
  shift <- bar_shift(position, match(data$curve, styles$curve))
  new_picture(data, drawn_curves(position + shift, data, styles),
              list(main = plot_title(x), ylab = error_axis(x), xlab = axis), list(...))
}

# The error of every outer fold with its interval, of one method or several, beside the null model
# and, of one method, the mean over all folds.
fold_picture <- function(x, title, ...) {
  data <- x$folds
  names <- if (is.null(data$group)) paste("fold", data$fold) else data$group
  data$name <- sprintf("%s (%d)", names, data$rows)
  label <- sprintf("held out, %s %% interval over its rows", format(100 * x$level))
  method <- if (is.null(data$method)) factor(rep(label, nrow(data))) else data$method
  count <- nlevels(method)
  colours <- if (count == 1L) mark_colour else rep_len(profile_colours, count)
  # the methods of a fold are side by side, from top to bottom
  folds <- nrow(data) / count
  middle <- rep(rev(seq_len(folds)), count)
  place <- middle - (as.integer(method) - (count + 1) / 2) * 0.6 / count
  of_method <- function(one) {
    own <- which(as.integer(method) == one)
    label <- levels(method)[one]
    c(as_layer("points", data$test[own], place[own], pch = 15, col = colours[one], label = label,
               main = count == 1L),
      as_layer("segments", data$lower[own], place[own], x2 = data$upper[own], y2 = place[own],
               lwd = 2, col = colours[one], label = label))
  }
  first <- seq_len(folds)
  layers <- c(
    unlist(lapply(seq_len(count), of_method), recursive = FALSE),
    if (!is.null(data$majority)) as_layer("points", data$majority[first], middle[first], pch = 5,
                                          col = "#555555", label = "null model"),
    if (count == 1L) as_layer("up", x$estimate[["mean"]], lty = 2, col = "#555555",
                              label = "mean of all")
  )
  new_picture(data, layers, list(main = title, xlab = error_axis(x), ylab = "",
                                 ylim = c(0.5, folds + 0.5)), list(...),
              axes = list(y = c(ticks_at(middle[first], data$name[first]), named = TRUE)))
}

# Curves are shifted horizontally so that their bars do not overlap, by at most a tenth of a step.
bar_shift <- function(position, curve) {
  step <- diff(sort(unique(position)))
  count <- max(curve)
  if (!length(step) || count < 2L) return(0 * position)
  apart <- min(0.006 * diff(range(position)), 0.2 * min(step) / (count - 1))
  apart * (curve - (count + 1) / 2)
}

# A row per model and curve of the measure of a cross-validation.
cv_curves <- function(x, measured = x$curves) {
  curves <- intersect(curve_style$curve, names(measured))
  with_bars(do.call(rbind, lapply(curves, function(curve) {
    data.frame(measured[x$key], curve = factor(curve, curves), mean = measured[[curve]],
               se = measured[[paste0(curve, "_se")]])
  })))
}

#' @exportS3Method
record.cv_result <- function(x) {
  tables <- lapply(names(x$measures), function(measure) {
    data <- cv_curves(x, x$measures[[measure]])
    data.frame(measure = measure, data[x$key], curve = data$curve, estimate = data$mean,
               std.error = data$se)
  })
  inner <- if (is.null(x$folds$inner)) NA_real_ else mean(x$folds$inner)
  columns <- unique(unlist(lapply(x$measures, names)))
  curves <- Map(function(measure, curves) {
    curves[setdiff(columns, names(curves))] <- NA_real_
    data.frame(measure = measure, curves[columns])
  }, names(x$measures), x$measures)
  list(rows = do.call(rbind, tables), frame = do.call(rbind, unname(curves)), complete = TRUE,
       row = data.frame(method = x$method, measure = x$measure, estimate = x$estimate[["mean"]],
                        std.error = x$estimate[["se"]], lower = x$estimate[["lower"]],
                        upper = x$estimate[["upper"]], inner = inner, nobs = stats::nobs(x),
                        features = ncol(x$problem), folds = nrow(x$folds), status = x$status))
}

curve_names <- function(x) {
  c(inner = paste0(x$inner, " (optimistic)"), test = "test", cv = "inner cross-validation",
    random = "random selection", majority = majority_words(x$problem, x$measure))
}

# the horizontal position of the models, and the title of the axis
key_position <- function(key, data) if (key == "lambda") log2(data$lambda) else data[[key]]

size_axis <- function(fit) sprintf("selected %ss", chosen_word(fit))

# Kernel fits -------------------------------------------------------------------------------------

# Held-out and training error of every model, by size or lambda. Without folds there is only the
# training error.
#' @exportS3Method
picture.kernel_fit <- function(x, ...) {
  key <- path_key(x)
  path <- x$path[order(x$path[[key]]), ]
  columns <- c(held_out = "criterion", training = "training")
  held_out <- !is.null(x$folds)
  styles <- data.frame(
    curve = c("held_out", "training"), label = c(if (held_out) x$folds$label else "", "training"),
    colour = c("#0072B2", "#555555"), line = c(1, 2), mark = c(1, NA)
  )
  styles <- styles[c(held_out, TRUE), ]
  pieces <- lapply(styles$curve, function(curve) {
    data.frame(
      path[intersect(c(key, "prototypes"), names(path))], curve = factor(curve, styles$curve),
      mean = path[[columns[[curve]]]], se = if (curve == "held_out") path$se else NA_real_,
      chosen = curve == styles$curve[1L] & path[[key]] == x[[key]], row.names = NULL
    )
  })
  data <- with_bars(do.call(rbind, pieces))
  position <- key_position(key, data)
  label <- if (key == "size") sprintf("chosen, size = %d", x$size) else
    sprintf("smallest, lambda = %s", format(x$lambda, digits = 3))
  chosen <- as_layer("points", position[data$chosen], data$mean[data$chosen], cex = 1.3,
                     col = mark_colour, label = label)
  unit <- if (x$problem$coding$task == "regression") squared_units(x$problem) else
    "mean squared error (classes are -1 and +1)"
  new_picture(data, c(chosen, drawn_curves(position, data, styles)),
              list(main = plot_title(x), ylab = unit, xlab = errors_axis(x)), list(...))
}

errors_axis <- function(fit) {
  if (path_key(fit) == "lambda") return("log2(lambda)")
  if (all(fit$path$size == fit$path$prototypes)) "prototypes" else
    "size (prototypes and the intercept)"
}

# Paths of lambda ---------------------------------------------------------------------------------

#' @exportS3Method
picture.l1_path <- function(x, what = NULL, ...) {
  if (is.null(what)) {
    what <- if (is_training(x) && any(x$path$size > 0L)) "coefficients" else "criterion"
  }
  check_choice(what, "what", c("criterion", "coefficients"))
  position <- lambda_position(x$path$lambda)
  ticks <- lambda_ticks(range(position))
  shown <- spread_rows(length(position), 12L)
  axes <- list(x = ticks_at(lambda_position(ticks), lambda_labels(ticks)),
               top = ticks_at(position[shown], x$path$size[shown]))
  draw <- if (what == "criterion") criterion_picture else profile_picture
  draw(x, position, axes, list(...))
}

# the horizontal position of a lambda
lambda_position <- function(lambda) -log10(lambda)

lambda_labels <- function(lambda) vapply(lambda, format, "", digits = 3)

# round values of lambda over a range of places
lambda_ticks <- function(ends) {
  if (diff(ends) == 0) 10^-ends[1L] else grDevices::axisTicks(rev(-ends), log = TRUE)
}

# limits that leave a margin inside the frame for the sizes
under_sizes <- function(values) range(values) + c(0, 0.08 * diff(range(values)))

optimistic <- "selection criterion, optimistic"
criterion_picture <- function(fit, position, axes, asked) {
  path <- fit$path
  chosen <- path$lambda == fit$lambda
  # some criteria have no standard error, and training errors give no choice
  has_se <- !is_training(fit) && !is.na(path$se[chosen])
  one_se <- seq_along(chosen) %in% if (has_se) lambda_row_by(fit, "1se")
  data <- with_bars(data.frame(path[c("lambda", "size")], mean = path$criterion, se = path$se,
                               chosen = chosen, one_se = one_se))
  words <- function(row, label) {
    sprintf("%s: %s (size %d)", label, lambda_labels(row$lambda), row$size)
  }
  layers <- c(marks(data, position, words, mark_colour), curve_layers(position, data, plain_style))
  words <- list(main = plot_title(fit), xlab = "lambda", ylab = fit$criterion$label,
                ylim = under_sizes(c(data$lower, data$upper)))
  if (!is_training(fit)) words$sub <- optimistic
  new_picture(data, layers, words, asked, axes)
}

# Okabe and Ito's colours without the yellow, which is too light for lines.
profile_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

profile_picture <- function(fit, position, axes, asked) {
  data <- coefficient_profiles(fit)
  ends <- profile_ends(data)
  named <- ends[!is.na(ends$label), ]
  rank <- match(profile_line(data), ends$line)
  width <- diff(range(position))
  last <- max(position)
  layers <- c(
    as_layer("names", rep(last, nrow(named)), named$coefficient, x2 = last + 0.015 * width,
             text = named$label, col = named$colour),
    # the largest are drawn last
    as_layer("line", lambda_position(data$lambda), data$coefficient, group = -rank,
             col = ends$colour[rank], lwd = ifelse(is.na(ends$label[rank]), 1, 2)),
    as_layer("across", y = 0, col = "#BBBBBB")
  )
  words <- list(main = plot_title(fit), xlab = "lambda",
                ylab = "coefficient (standardised columns)",
                xlim = range(position) + c(0, 0.2) * width,
                ylim = under_sizes(c(0, data$coefficient)))
  new_picture(data, layers, words, asked, axes)
}

# The coefficients of the standardised columns that are in any model, at every lambda.
coefficient_profiles <- function(fit) {
  responses <- colnames(fit$problem$rows$y)
  used <- used_features(fit$solutions)
  lambdas <- nrow(fit$path)
  profiles <- lapply(seq_len(ncol(fit$problem$rows$y)), function(l) {
    beta <- vapply(fit$solutions, function(one) {
      replace(numeric(length(used)), match(one$features, used), as.matrix(one$beta)[, l])
    }, numeric(length(used)))
    table <- data.frame(
      lambda = rep(fit$path$lambda, length(used)), size = rep(fit$path$size, length(used)),
      feature = rep(used, each = lambdas),
      name = rep(fit$problem$columns$name[used], each = lambdas),
      coefficient = as.vector(t(matrix(beta, length(used), lambdas)))
    )
    if (ncol(fit$problem$rows$y) > 1L) table$response <- rep(responses[l], nrow(table))
    table
  })
  do.call(rbind, profiles)
}

# a name for the line of each coefficient
profile_line <- function(data) paste(data$feature, data$response)

# One row per response and column of a path, with its coefficient at the smallest lambda. The
# largest coefficients have a colour and a label, and come first.
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

# Words -------------------------------------------------------------------------------------------

error_axis <- function(x) if (x$measure == "squared") squared_units(x$problem) else measure_label(x)

squared_units <- function(problem) {
  if (!is.null(problem$coding$response_scale)) {
    return("mean squared error (variances of the responses)")
  }
  sprintf("mean squared error (squared units of %s)", problem$coding$response)
}
