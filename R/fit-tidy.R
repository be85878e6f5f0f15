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
#' @param x A fit, or the result of another function of the package.
#' @param data The data frame the fit was made from, m rows in the same order, or `NULL`.
#' @param row.names,optional As for [as.data.frame()].
#' @param newdata New observations, see [predict.sparsels_fit()]; then `augment()` has these rows.
#' @param interval,level,conf.level For `augment()`: `"prediction"` adds [prediction_intervals] of
#'   this level, for classes the sets of classes. `conf.level` is broom's name of `level`.
#' @param ... For `tidy()` of a fit, `size` or `lambda`: the model, as in
#'   [coef()][coef.sparsels_fit], by default the chosen one; and `exponentiate`: are the estimates
#'   ratios instead of their logarithms (`FALSE` by default), of hazards for `loss = "cox"`, of odds
#'   for classes and shares by a likelihood, of rates for counts? `conf.int = TRUE` is refused with
#'   the reason: the terms were chosen on these rows. For `augment()` with `newdata`,
#'   `adjust` and `newoffset` of [predict()][predict.sparsels_fit]. Otherwise not used, and must be
#'   empty.
#'
#' @return Plain data frames.
#' * `tidy()` of a fit: `response` (only with several), `term` (the intercept and covariates,
#'   then the features or prototypes in the order chosen, or basis vectors by their rows), `order`
#'   (`NA` for terms that were not chosen), `group` (where the problem has groups of columns),
#'   `estimate` on the user's scale; of ordered classes `coef.type`, "coefficient" or for the
#'   cutpoints "scale", as broom has it; with several numeric responses, for the chosen model,
#'   `held_out.r.squared`, the R-squared of the held-out predictions of each response, as in [lm()]
#'   from 0 without an intercept (`NA` for other models).
#' * `glance()` of a fit: one row with the same columns for all fits, so rows of several fits can be
#'   combined. A value that a fit does not have is `NA`:
#'   * `method`, `task` (regression, binary, multiclass or ordinal), `nobs` (rows of positive
#'     weight), `features` (candidate columns), `responses` (columns of the coded response, one per
#'     class for three and more);
#'   * `size` (features or basis vectors of the chosen model; with the intercept where the pursuit
#'     of [fs_lssvm()] chooses it) and the `lambda` of the search, before a refit;
#'   * `criterion` (its name) with its `value` and standard error `se`, for the chosen model;
#'   * `deviance`, see [deviance()][deviance.sparsels_fit];
#'   * `held_out.r.squared`, for numeric responses, the mean over these;
#'   * `status`.
#' * `augment()`: `data`, or without it the response, then `.group`, the group of the row, if the
#'   data have `groups`, `.fitted`, `.held_out` and `.resid` (the
#'   response less `.fitted`), one column each for several (`.fitted.a`, ...), of Cox models risks
#'   and martingale residuals; for classes also
#'   `.pred_class`, the class of `.held_out`, and `.pred_` with the name of each class, its
#'   probability calibrated on `.held_out` (see [class_probabilities]), as yardstick takes them.
#'   Scores and residuals of classes refer to the codes -1 and +1. With `loss = "logistic"` the
#'   predictions are probabilities of the second level, and the residuals are 0 or 1 minus the
#'   probability. Of counts and shares the predictions are means. A fit without held-out errors has
#'   `NA` there. With `interval = "prediction"` also `.lower` and `.upper`, or for classes `.set`,
#'   such as `"ALL|AML"`, by models without the sample, whose size and lambda were chosen without
#'   it, too. With `newdata` the new rows with `.fitted` and these columns.
#' * `as.data.frame()` of a fit: its path, `fit$path`: a row per lambda, or a row per step of a
#'   search; `chosen` (logical) is the row of the chosen model. Of a cross-validation: its curves, a
#'   row per measure and size (or lambda), with `measure` and the columns of `curves`; `NA` where a
#'   measure has no such curve. Of other results: the table of `tidy()`.
#' * `tidy()` of a cross-validation: a row per measure, size (or lambda) and curve with `measure`,
#'   `size`, `curve`, `estimate`, `std.error`. `augment()`: as of its fit on all rows, but
#'   `.held_out` is predicted by the outer fold without the sample, with the size chosen there.
#' * `tidy()` of [exchange()]: its rows; `glance()`: the set, its criterion and whether it is
#'   `optimal`, that is, no swap improves it.
#' * `tidy()` of [panel_error()]: a row per list of columns with its `error`.
#' * `tidy()` of a permutation test: its `by_size`; of a stability selection: `term`, `probability`,
#'   whether it is `stable`, the share of `positive` coefficients and the mean `rank`, for every
#'   column.
#' * `tidy()` of a comparison of methods: its `table`; `glance()`: the method with the best mean,
#'   which is a little optimistic as the best of several.
#' * `tidy()` of a learning curve: its `table`; `glance()`: the error of the largest training set,
#'   and `a`, `b` and `c` of the fitted curve.
#' * `tidy()` of [safe_screen()]: a row per column with `term`, `keep`, `rho` and `bound`; of
#'   [tune_lssvm()]: a row per point tried, `best` being the one chosen; of [cv_variance()]: a row
#'   per approach and lambda; of [risk_groups()]: a row per group with its rows and events.
#'   `glance()` of each: one row.
#' * `glance()` of a cross-validation: one row with `method`, `measure`, `estimate`, `std.error`,
#'   `lower` and `upper` (honest, at the size each fold chose), `inner` (optimistic; `NA` when the
#'   method has no held-out error of its own), `nobs`, `features`, `folds`, `status`.
#' @section Errors:
#' `sparsels_error_input` when the fit has no model of that size or lambda or `data` has not m rows.
#' @references Pahikkala, T., Airola, A. and Salakoski, T. (2010). Linear time feature selection for
#'   regularized least-squares. \doi{10.48550/arXiv.1003.3570}
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
#' @srrstats {RE4.7} `fit$path$gap`, `fit$status`, `glance()`
#' @srrstats {RE4.8} `augment()`, `model.frame()`
#' @srrstats {RE4.9} `fitted()`, `augment()`
#' @srrstats {RE4.10} `residuals()`, and held-out ones in `augment()`
#' @srrstats {RE4.11} `glance()`, `deviance()`, held-out R-squared
#' @name tidiers
NULL

# Print and summary -------------------------------------------------------------------------------

#' Print and summarise results
#'
#' `print()` shows what a fit or another result of the package found, of a fit in at most twelve
#' lines of the usual width, unless the properties of its data take more. `summary()` also shows its
#' whole tables, what their columns mean, and of a fit the sentences that `print()` has no lines
#' for, such as how it was made, its error by class and the spread of its predictions.
#'
#' @param x,object A fit, or the result of another function of the package. `x` may also be a
#'   summary.
#' @param n The number of rows to print of a table that may be long. By default these are the first
#'   8 to 20 rows, and of the path of a fit as many rows about the chosen model as fit the twelve
#'   lines. The row of the chosen model is among the rows that are printed. With more rows a fit has
#'   more than twelve lines.
#' @param ... Not used.
#' @return `print()`: `x`, invisibly. `summary()`: an object of class `sparsels_summary`, a list of
#'   the `result`, its `tables` as printed, and the `meaning` of their columns in words. Of a fit it
#'   also has `path`, the rows of the path that have a model, and `coefficients`. Of a mask of
#'   [safe_screen()] it also has `columns` (how many are kept, dropped and excluded), `kept` (how
#'   many columns the rule would keep at other lambdas, `NULL` for a mask made with a fit) and
#'   `largest` (the kept columns with the largest bounds).
#' @seealso [tidy()][tidiers] and [plot()][plot.sparsels_result] of the same results,
#'   [summary()][summary.sparsels_problem] of a problem.
#' @examples
#' x <- matrix(rnorm(40 * 10), 40)
#' fit <- greedy_rls(x, x[, 3] - x[, 8] + rnorm(40))
#' print(fit, n = 3)
#' summary(fit)
#' @srrstats {RE4.17} `print()`
#' @srrstats {RE4.18} `summary()`
#' @srrstats {ML5.0b} `print()`
#' @export
print.sparsels_result <- function(x, n, ...) {
  check_sealed(x)
  if (missing(n)) {
    print_result(x)
  } else {
    refuse_unless(is_number(n) && n >= 0, "n", "a number of at least 0", n)
    print_result(x, n = min(floor(n), .Machine$integer.max))
  }
  invisible(x)
}

#' @rdname print.sparsels_result
#' @export
summary.sparsels_result <- function(object, ...) {
  check_method_call(..., object = object, known = character())
  seal(structure(c(list(result = object), details(object)),
                 class = c("sparsels_summary", "sparsels_object")))
}

# What summary() adds to a result: `tables` to print under their titles, `meaning`, their columns in
# words, and other parts for the user.
details <- function(x) UseMethod("details")

#' @exportS3Method
details.default <- function(x) list(meaning = record(x)$meaning)

#' @exportS3Method
print_result.sparsels_summary <- function(x, ...) {
  check_sealed(x$result)
  print_result(x$result, n = if (length(x$tables)) 0 else Inf, whole = TRUE)
  for (title in names(x$tables)) {
    say(title, ":")
    table <- x$tables[[title]]
    if (is.data.frame(table)) print(table, row.names = FALSE, digits = 4) else
      print(table, digits = 4)
  }
  for (words in x$meaning) remark(words)
}

# A result of a class, which keeps the problem without x and the call, and whether Ctrl-C left some
# of its parts out.
new_result <- function(class, fields, problem, call, complete) {
  fields <- c(fields, list(problem = without_x(problem), call = call,
                           status = if (complete) "complete" else "interrupted"))
  seal(structure(fields, class = c(class, "sparsels_result")))
}

# Tables of all results ---------------------------------------------------------------------------

# The record of a result: `row`, the line of glance(), to which the number of rows of the problem
# and the status are added where `complete` is not TRUE; `rows`, the table of tidy(); `frame`, the
# table of as.data.frame() if it is another; and `meaning`, the columns of print() in words.
record <- function(x) UseMethod("record")

# The table of tidy(): of a fit the terms of a model.
term_table <- function(x, ...) UseMethod("term_table")

#' @exportS3Method
term_table.default <- function(x, ...) {
  check_dots(..., known = character())
  record(x)$rows
}

#' @rdname tidiers
#' @export
tidy.sparsels_result <- function(x, ...) {
  check_sealed(x)
  term_table(x, ...)
}

#' @rdname tidiers
#' @export
glance.sparsels_result <- function(x, ...) {
  check_method_call(..., object = x, known = character())
  made <- record(x)
  if (isTRUE(made$complete)) return(made$row)
  data.frame(made$row, nobs = trained_rows(x$problem), status = x$status, row.names = NULL)
}

#' @rdname tidiers
#' @export
as.data.frame.sparsels_result <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (is.data.frame(x)) return(NextMethod())
  check_method_call(..., object = x, known = c("row.names", "optional"))
  made <- record(x)
  as.data.frame(if (is.null(made$frame)) made$rows else made$frame, row.names = row.names)
}

# Rows and columns of a result that is a data frame are a plain one.
#' @export
`[.sparsels_result` <- function(x, ...) {
  part <- NextMethod()
  if (is.data.frame(part)) {
    attributes(part)[c("set", "seal")] <- NULL
    class(part) <- "data.frame"
  }
  part
}

# Fits --------------------------------------------------------------------------------------------

#' @exportS3Method
term_table.sparsels_fit <- function(x, size = NULL, lambda = NULL, exponentiate = FALSE,
                                    conf.int = FALSE, ...) { # nolint: object_name_linter.
  check_dots(..., known = c("size", "lambda", "exponentiate"))
  if (check_flag(conf.int, "conf.int")) stop_no_intervals(x)
  stop_argument_if(check_flag(exponentiate, "exponentiate") && is.null(loss_of(x)$ratio),
                   "`exponentiate = TRUE` is for coefficients that are logarithms of ratios: %s",
                   sprintf("the ones of `loss = \"%s\"` are not", loss_name(x)))
  problem <- x$problem
  model <- model_of(x, size, lambda)
  terms <- model_terms(x, model)
  # a model without a list of its terms did not choose them
  order <- if (is.null(model$features)) rep(NA_integer_, length(terms)) else seq_along(terms)
  rows <- data.frame(term = c(colnames(problem$z), term_names(x, terms)),
                     order = c(rep(NA_integer_, ncol(problem$z)), order))
  # the features of a model on a basis are rows
  group <- if (!is.null(model$features) && is.null(x$kernel)) group_names(problem, model$features)
  if (!is.null(group)) rows$group <- c(rep(NA, ncol(problem$z)), group)
  responses <- response_names(problem)
  table <- data.frame(
    response = rep(responses, each = nrow(rows)),
    rows[rep(seq_len(nrow(rows)), length(responses)), ],
    estimate = as.vector(in_user_units(problem, rbind(model$covariates, model$beta))),
    row.names = NULL
  )
  table <- loss_of(x)$terms(x, model$step + 1L, table)
  if (exponentiate) table$estimate <- exp(table$estimate)
  if (length(responses) == 1L) return(table[-1L])
  # the chosen model is the only one with held-out predictions in a fit
  r_squared <- if (identical(model, model_of(x))) response_r_squared(problem, judged_held_out(x))
  table$held_out.r.squared <- rep(if (is.null(r_squared)) NA_real_ else r_squared,
                                  each = nrow(rows))
  table
}

#' @exportS3Method
record.sparsels_fit <- function(x) {
  problem <- x$problem
  model <- model_of(x)
  chosen <- chosen_row(x)
  r_squared <- held_out_r_squared(problem, judged_held_out(x))
  frame <- cbind(x$path, chosen = seq_len(nrow(x$path)) == model$step + 1L)
  list(frame = frame, complete = TRUE, row = glance_row(
    x$method, task = c(loss_of(x)$task, problem$coding$task)[1L],
    nobs = trained_rows(problem), features = ncol(problem), responses = ncol(problem$rows$y),
    lambda = x$lambda, size = if (is.null(x$size)) length(model_terms(x, model)) else x$size,
    criterion = x$criterion$name, value = chosen$criterion, se = chosen$se,
    deviance = if (loss_of(x)$smooth) stats::deviance(x) else NA, status = x$status,
    r_squared = if (!is.null(r_squared)) mean(r_squared)
  ))
}

#' @rdname tidiers
#' @method augment sparsels_fit
#' @export
augment.sparsels_fit <- function(x, data = NULL, newdata = NULL, interval = "none", level = 0.9,
                                 ..., conf.level = level) { # nolint: object_name_linter.
  check_sealed(x)
  level <- conf.level
  check_dots(..., known = names(formals(augment.sparsels_fit)),
             allowed = if (!is.null(newdata)) c("adjust", "newoffset", "groups"))
  check_choice(interval, "interval", c("none", "prediction"))
  if (!is.null(newdata)) return(augment_new(x, newdata, interval, level, ...))
  problem <- x$problem
  given <- if (is.null(data)) observed(problem) else data
  data <- without_omitted(problem, given)
  stop_argument_if(!is.data.frame(data) || nrow(data) != nrow(problem),
                   "`data` must be a data frame with the %d rows of the fit, not %s", nrow(problem),
                   if (is.data.frame(data)) counted(nrow(data), "row") else describe(data))
  # as risks, of a Cox model about the means of the training rows
  fitted <- in_user_units(problem, scores_of_rows(problem, kept_values(x, "fitted")),
                          problem$rows$offset)
  parts <- list(.fitted = as_response(x, fitted), .held_out = as_response(x, x$held_out),
                .resid = loss_of(x)$residuals(problem, kept_values(x, "fitted")))
  columns <- do.call(cbind, lapply(names(parts), function(name) {
    stats::setNames(as.data.frame(parts[[name]]), response_columns(problem, name))
  }))
  if (!is.null(problem$rows$group)) columns <- cbind(.group = problem$rows$group, columns)
  if (has_classes(problem)) {
    p <- if (has_held_out(x)) held_out_probabilities(x)
    class <- as_classes(problem, held_out_classes(x, p))
    columns <- cbind(columns, class_columns(problem, class, p))
  }
  if (interval != "none") {
    check_interval(if (problem$coding$task == "regression") interval else "none", NULL, problem)
    columns <- cbind(columns, own_intervals(x, check_level(level)))
  }
  padded <- inherits(stats::na.action(problem), "exclude") && nrow(given) > nrow(data)
  if (!padded) return(with_new_columns(data, columns))
  columns <- columns[stats::naresid(stats::na.action(problem), seq_len(nrow(data))), , drop = FALSE]
  with_new_columns(given, columns, row.names = NULL)
}

# New rows with their predictions and intervals, or the classes, their probabilities and sets.
augment_new <- function(fit, newdata, interval, level, ...) {
  newdata <- as_new_data(newdata)
  samples <- row_data(newdata)
  refuse_unless(length(dim(samples)) == 2L, "newdata", "a matrix or data frame", newdata)
  data <- as.data.frame(if (is.data.frame(samples)) samples else as.matrix(samples))
  type <- if (is_cox(fit$problem)) "risk" else "response"
  predicted <- as.matrix(stats::predict(fit, newdata, type = type, ...))
  columns <- stats::setNames(as.data.frame(predicted), response_columns(fit$problem, ".fitted"))
  if (has_classes(fit$problem)) {
    own <- calibration_kind(fit, NULL) == "none"
    p <- if (own || has_held_out(fit)) stats::predict(fit, newdata, type = "prob", ...)
    class <- stats::predict(fit, newdata, type = "class", ...)
    columns <- cbind(columns, class_columns(fit$problem, class, p))
    if (interval != "none") {
      sets <- stats::predict(fit, newdata, type = "set", level = level, ...)
      columns$.set <- format(sets, collapse = "|")
    }
  } else if (interval != "none") {
    ends <- stats::predict(fit, newdata, interval = interval, level = level, ...)
    columns[c(".lower", ".upper")] <- list(ends[, "lwr"], ends[, "upr"])
  }
  with_new_columns(data, columns, row.names = NULL)
}

# Data with further columns, which take the place of columns of the same names, as another fit's
# augment() adds them.
with_new_columns <- function(data, columns, ...) {
  for (name in intersect(names(data), names(columns))) data[[name]] <- NULL
  cbind(data, columns, ...)
}

# The class of each row and its probabilities, NA where nothing was held out that could calibrate
# them.
class_columns <- function(problem, class, p) {
  classes <- class_names(problem)
  if (is.null(p)) p <- matrix(NA_real_, length(class), length(classes))
  cbind(.pred_class = class, stats::setNames(as.data.frame(p), paste0(".pred_", classes)))
}

# the names of the columns of augment() with a value for each response
response_columns <- function(problem, name) {
  if (ncol(problem$rows$y) == 1L) name else paste0(name, ".", response_names(problem))
}

response_names <- function(problem) {
  if (!is.null(colnames(problem$rows$y))) return(colnames(problem$rows$y))
  count <- ncol(problem$rows$y)
  if (count == 1L) problem$coding$response else paste0(problem$coding$response, seq_len(count))
}

# The response as the user gave it.
observed <- function(problem) {
  if (is_survival(problem)) {
    times <- as.data.frame(problem$rows[intersect(c("start", "time", "event"),
                                                  names(problem$rows))])
    return(stats::setNames(times, sub("event", "status", names(times))))
  }
  if (!has_classes(problem)) {
    return(stats::setNames(as.data.frame(user_response(problem)), response_names(problem)))
  }
  stats::setNames(data.frame(as_classes(problem, class_index(problem))), problem$coding$response)
}

#' @rdname tidiers
#' @method augment cv_result
#' @export
augment.cv_result <- function(x, data = NULL, ...) {
  check_method_call(..., object = x, known = "data")
  stop_input_if(is.null(x$fit$fitted), "the fit of this method has no fitted values to show")
  augment(fit_of_folds(x), data)
}

# A data frame as a tibble, a class of a package that recipes and parsnip load.
as_tibble_class <- function(table) {
  class(table) <- c("tbl_df", "tbl", "data.frame")
  table
}
