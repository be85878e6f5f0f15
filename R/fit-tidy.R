#' @importFrom generics tidy
#' @export
generics::tidy

#' @importFrom generics glance
#' @export
generics::glance

#' @importFrom generics augment
#' @export
generics::augment

#' Fits and cross-validations as data frames
#'
#' `tidy()` gives a row per term of one model, `glance()` one row for the whole fit,
#' `augment()` a row per sample with its fitted and held-out predictions.
#'
#' Held-out predictions come from models trained without the sample (the mean over repeats). If the
#' search was repeated in folds, as by default in [greedy_rls()], its features were also selected
#' without the sample, and only the size with it. With `size = "criterion"` the features were
#' selected with the sample, and errors computed from `.held_out` are optimistic: [cross_validate()]
#' gives an honest estimate.
#'
#' @param x A fit, or the result of [cross_validate()], [permutation_test()],
#'   [stability_selection()], [exchange()] or [panel_error()].
#' @param size,lambda The model of a fit, as in [coef()][coef.sparsels_fit]; `NULL` for the chosen
#'   one.
#' @param data The data frame the fit was made from, m rows in the same order, or `NULL`.
#' @param row.names,optional As for [as.data.frame()].
#' @param ... Not used; must be empty.
#'
#' @return Plain data frames.
#' * `tidy()` of a fit: `response` (only with several), `term` (the intercept and covariates,
#'   then the features or prototypes in the order chosen, or basis vectors by their rows), `order`
#'   (`NA` for terms that were not chosen), `group` (where the problem has groups of columns),
#'   `estimate` on the user's scale; with several numeric responses, for the chosen model,
#'   `held_out.r.squared`, the R-squared of the held-out predictions of each response (`NA` for
#'   other models).
#' * `glance()` of a fit: one row with the same columns for all fits, so rows of several fits can be
#'   combined. A value that a fit does not have is `NA`:
#'   * `method`, `task` (regression, binary or multiclass), `nobs` (rows), `features` (candidate
#'     columns), `responses` (columns of the coded response, one per class for three and more);
#'   * `size` (features or basis vectors of the chosen model; with the intercept where the pursuit
#'     of [fs_lssvm()] chooses it) and its `lambda`;
#'   * `criterion` (its name) with its `value` and standard error `se`, for the chosen model;
#'   * `deviance`, see [deviance()][deviance.sparsels_fit];
#'   * `held_out.r.squared`, for numeric responses, the mean over these;
#'   * `status`.
#' * `augment()`: `data`, or without it the response, then `.fitted`, `.held_out` and `.resid` (the
#'   response less `.fitted`), one column each for several (`.fitted.a`, ...); for classes also
#'   `.pred_class`, the class of `.held_out`, and `.pred_` with the name of each class, its
#'   probability calibrated on `.held_out` (see [class_probabilities]), as yardstick takes them.
#'   Scores and residuals of classes refer to the codes -1 and +1. With `loss = "logistic"` the
#'   predictions are probabilities of the second level, and the residuals are 0 or 1 minus the
#'   probability. A fit without held-out errors has `NA` there.
#' * `as.data.frame()` of a fit: its path, `fit$path`: a row per lambda, or a row per step of a
#'   search; `chosen` (logical) is the row of the chosen model. Of a cross-validation: its curves, a
#'   row per measure and size (or lambda), with `measure` and the columns of `curves`; `NA` where a
#'   measure has no such curve.
#' * `tidy()` of a cross-validation: a row per measure, size (or lambda) and curve with `measure`,
#'   `size`, `curve`, `estimate`, `std.error`. `augment()`: as of its fit on all rows, but
#'   `.held_out` is predicted by the outer fold without the sample, with the size chosen there.
#' * `tidy()` of [exchange()]: its rows; `glance()`: the set, its criterion and whether it is
#'   `optimal`, that is, no swap improves it.
#' * `tidy()` of [panel_error()]: a row per list of columns with its `error`.
#' * `tidy()` of a permutation test: its `by_size`; of a stability selection: `term`, `probability`
#'   and whether it is `stable`, for every column.
#' * `tidy()` of a comparison of methods: its `table`; `glance()`: the method with the best mean,
#'   which is a little optimistic as the best of several.
#' * `tidy()` of a learning curve: its `table`; `glance()`: the error of the largest training set,
#'   and `a`, `b` and `c` of the fitted curve.
#' * `tidy()` of [safe_screen()]: a row per column with `term`, `keep`, `rho` and `bound`; of
#'   [tune_lssvm()]: a row per point tried, `best` being the one chosen; of [cv_variance()]: a row
#'   per approach and lambda; of [risk_groups()]: a row per group with its rows and events.
#'   `glance()` of each: one row.
#' * `glance()` of a cross-validation: one row with `method`, `measure`, `estimate` and `std.error`
#'   (honest, at the size each fold chose), `inner` (optimistic; `NA` when the method has no
#'   held-out error of its own), `nobs`, `features`, `folds`, `status`.
#' @section Errors:
#' `sparsels_error_input` when the fit has no model of that size or lambda or `data` has not m rows.
#' @inherit cross_validate references
#' @seealso [sparsels_fit]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' fit <- greedy_rls(x, x[, 3] - x[, 8] + rnorm(60))
#' tidy(fit, size = 2)
#' glance(fit)
#' head(augment(fit))
#' as.data.frame(fit)[1:3, c("name", "size", "cv", "chosen")]
#'
#' ill <- factor(ifelse(x[, 3] + x[, 8] + rnorm(60) > 0, "ill", "well"), c("well", "ill"))
#' held_out <- augment(greedy_rls(x, ill))
#' head(held_out)
#' if (requireNamespace("yardstick", quietly = TRUE)) {
#'   yardstick::roc_auc(held_out, ill, .pred_ill, event_level = "second")
#' }
#' @name tidiers
NULL

#' @rdname tidiers
#' @method tidy sparsels_fit
#' @export
tidy.sparsels_fit <- function(x, size = NULL, lambda = NULL, ...) {
  check_sealed(x)
  check_dots(..., known = c("size", "lambda"))
  problem <- x$problem
  model <- model_of(x, size, lambda)
  terms <- model_terms(x, model)
  # a model without a list of its terms did not choose them
  order <- if (is.null(model$features)) rep(NA_integer_, length(terms)) else seq_along(terms)
  rows <- data.frame(term = c(colnames(problem$z), term_names(x, terms)),
                     order = c(rep(NA_integer_, ncol(problem$z)), order))
  if (!is.null(problem$coding$column_groups) && !is.null(model$features)) {
    of <- problem$columns$group[model$features]
    rows$group <- c(rep(NA, ncol(problem$z)), c(NA, problem$coding$column_groups$names)[of + 1L])
  }
  responses <- response_names(problem)
  table <- data.frame(
    response = rep(responses, each = nrow(rows)),
    rows[rep(seq_len(nrow(rows)), length(responses)), ],
    estimate = as.vector(in_user_units(problem, rbind(model$covariates, model$beta))),
    row.names = NULL
  )
  if (length(responses) == 1L) return(table[-1L])
  r_squared <- if (is_chosen(x, model)) response_r_squared(problem, x$held_out)
  table$held_out.r.squared <- rep(if (is.null(r_squared)) NA_real_ else r_squared,
                                  each = nrow(rows))
  table
}

# whether a model is the chosen one, the only one with held-out predictions in a fit
is_chosen <- function(fit, model) identical(model, model_of(fit))

#' @rdname tidiers
#' @method glance sparsels_fit
#' @export
glance.sparsels_fit <- function(x, ...) {
  check_sealed(x)
  check_dots(..., known = character())
  problem <- x$problem
  chosen <- chosen_row(x)
  glance_row(
    x$method, task = problem$coding$task, nobs = nrow(problem), features = ncol(problem),
    responses = ncol(problem$rows$y), lambda = x$lambda,
    size = if (is.null(x$size)) length(model_terms(x, model_of(x))) else x$size,
    criterion = x$criterion$name, value = chosen$criterion, se = chosen$se,
    deviance = if (identical(x$loss, "hinge")) NA else stats::deviance(x), status = x$status,
    r_squared = mean_or_na(held_out_r_squared(problem, x$held_out))
  )
}

mean_or_na <- function(values) if (is.null(values)) NA_real_ else mean(values)

# The columns of glance(), the same for all fits. A part that a fit does not have is NULL or NA.
glance_row <- function(method, task = NULL, nobs = NULL, features, responses, size, lambda = NULL,
                       criterion, value, se = NULL, deviance = NULL, status, r_squared = NULL) {
  whole <- function(value) if (is.null(value)) NA_integer_ else as.integer(value)
  number <- function(value) if (is.null(value)) NA_real_ else as.double(value)
  data.frame(
    method = method, task = if (is.null(task)) NA_character_ else task, nobs = whole(nobs),
    features = whole(features), responses = whole(responses), size = whole(size),
    lambda = number(lambda), criterion = criterion, value = number(value), se = number(se),
    deviance = number(deviance), held_out.r.squared = number(r_squared), status = status
  )
}

#' @rdname tidiers
#' @method augment sparsels_fit
#' @export
augment.sparsels_fit <- function(x, data = NULL, ...) {
  check_sealed(x)
  check_dots(..., known = "data")
  problem <- x$problem
  if (is.null(data)) data <- observed(problem)
  if (!is.data.frame(data) || nrow(data) != nrow(problem)) {
    given <- if (is.data.frame(data)) counted(nrow(data), "row") else describe(data)
    must <- sprintf("`data` must be a data frame with the %d rows of the fit", nrow(problem))
    stop_input(sprintf("%s, not %s", must, given), "sparsels_error_argument")
  }
  fitted <- as_response(x$fitted, x$loss)
  in_units <- function(score) in_user_units(problem, score, problem$rows$offset)
  resid <- centre_within(problem, response_of(x) - fitted)
  parts <- list(.fitted = in_units(fitted), .held_out = in_units(as_response(x$held_out, x$loss)),
                .resid = in_user_units(problem, resid))
  columns <- do.call(cbind, lapply(names(parts), function(name) {
    responses <- response_names(problem)
    names <- if (length(responses) > 1L) paste0(name, ".", responses) else name
    stats::setNames(as.data.frame(parts[[name]]), names)
  }))
  if (problem$coding$task != "regression") columns <- cbind(columns, predicted_classes(x))
  cbind(data, columns)
}

# the class of each row and its probabilities, by held-out scores
predicted_classes <- function(fit) {
  p <- as.data.frame(held_out_probabilities(fit))
  names(p) <- paste0(".pred_", fit$problem$coding$levels)
  cbind(.pred_class = class_of(fit$problem, fit$held_out), p)
}

response_names <- function(problem) {
  if (!is.null(colnames(problem$rows$y))) return(colnames(problem$rows$y))
  count <- ncol(problem$rows$y)
  if (count == 1L) problem$coding$response else paste0(problem$coding$response, seq_len(count))
}

# The response as the user gave it.
observed <- function(problem) {
  if (problem$coding$task == "regression") {
    return(stats::setNames(as.data.frame(user_response(problem)), response_names(problem)))
  }
  stats::setNames(data.frame(class_of(problem, problem$rows$y)), problem$coding$response)
}

# The record of a result: `rows`, the table of tidy(), and `row`, the line of glance(). Where
# `complete` is not TRUE, glance() adds the number of rows of the problem and the status.
record <- function(x) UseMethod("record")

# The words of a result, for print().
print_result <- function(x, ...) UseMethod("print_result")

#' @export
print.sparsels_result <- function(x, ...) {
  check_sealed(x)
  print_result(x, ...)
  invisible(x)
}

#' @rdname tidiers
#' @export
tidy.sparsels_result <- function(x, ...) {
  check_sealed(x)
  check_dots(..., known = character())
  record(x)$rows
}

#' @rdname tidiers
#' @export
glance.sparsels_result <- function(x, ...) {
  check_sealed(x)
  check_dots(..., known = character())
  made <- record(x)
  if (isTRUE(made$complete)) return(made$row)
  data.frame(made$row, nobs = nrow(x$problem), status = x$status, row.names = NULL)
}

#' @rdname tidiers
#' @method augment cv_result
#' @export
augment.cv_result <- function(x, data = NULL, ...) {
  check_sealed(x)
  check_dots(..., known = "data")
  if (is.null(x$fit$fitted)) stop_input("the fit of this method has no fitted values to show")
  augment(fit_of_folds(x), data)
}

# Paths and curves --------------------------------------------------------------------------------

#' @rdname tidiers
#' @export
as.data.frame.sparsels_fit <- function(x, row.names = NULL, # nolint: object_name_linter.
                                       optional = FALSE, ...) {
  check_sealed(x)
  path_frame(x$path, model_rows(list(model_of(x))), row.names, ...)
}

path_frame <- function(path, chosen, row_names, ...) {
  check_dots(..., known = c("row.names", "optional"))
  path$chosen <- seq_len(nrow(path)) == chosen
  as.data.frame(path, row.names = row_names)
}

#' @rdname tidiers
#' @export
as.data.frame.cv_result <- function(x, row.names = NULL, # nolint: object_name_linter.
                                    optional = FALSE, ...) {
  check_sealed(x)
  check_dots(..., known = c("row.names", "optional"))
  columns <- unique(unlist(lapply(x$measures, names)))
  tables <- Map(function(measure, curves) {
    curves[setdiff(columns, names(curves))] <- NA_real_
    data.frame(measure = measure, curves[columns])
  }, names(x$measures), x$measures)
  as.data.frame(do.call(rbind, unname(tables)), row.names = row.names)
}
