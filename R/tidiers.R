#' @importFrom generics tidy
#' @export
generics::tidy

#' @importFrom generics glance
#' @export
generics::glance

#' @importFrom generics augment
#' @export
generics::augment

#' Fits and judgements as data frames
#'
#' `tidy()` gives a row per term of one model, `glance()` one row for the whole fit,
#' `augment()` a row per sample with its fitted and held-out predictions.
#'
#' Held-out predictions are those of models trained without the sample (the mean over repeats).
#' Where the search was repeated in folds, as by default in [greedy_rls()], its features were chosen
#' without the sample too, and only the size was chosen with it; with `size = "criterion"` the
#' features were chosen with it, and errors computed from `.held_out` are optimistic:
#' [cross_validate()] gives an honest estimate.
#'
#' @param x A fit of class `sparse_fit` or `kernel_fit`, or the result of [cross_validate()].
#' @param lambda One of the path's values, for a `kernel_fit` or a fit of [l1_path()]; `NULL` for
#'   the chosen one.
#' @param size Size of the model, for a `sparse_fit` the number of its features, `"min"` or `"1se"`;
#'   `NULL` for the chosen size of the fit.
#' @param data The data frame the fit was made from, m rows in the same order, or `NULL`.
#' @param ... Not used; must be empty.
#'
#' @return Plain data frames.
#' * `tidy()` of a fit: `output` (only with several outputs), `term` (the intercept and covariates,
#'   then the features in the order chosen), `order` (`NA` for covariates), `estimate` on the user's
#'   scale.
#' * `glance()` of a fit: one row with `method`, `nobs`, `features` (available), `size`, `criterion`
#'   (its name), `value` (of the chosen model), `lambda`, `status`; for fits of [l1_path()] also
#'   `loss` and `gap`, the duality gap of that model.
#' * `augment()`: `data`, or without it the response, then `.fitted`, `.held_out` and `.resid` (the
#'   response less `.held_out`), for several outputs one column each (`.fitted.a`, ...); for classes
#'   also `.class`, the class of `.held_out`. Scores and residuals of classes are those of the codes
#'   -1 and +1; with `loss = "logistic"` the predictions are probabilities of the second level,
#'   which the residuals take from 0 or 1. A fit without held-out errors has `NA` there.
#' * `tidy()` of a `kernel_fit`: `output` (only with several outputs), `term` (intercept and
#'   covariates, then features or basis vectors by their rows), `estimate`.
#' * `glance()` of a `kernel_fit`: one row with `method`, `nobs`, `terms`, `lambda`, `criterion`
#'   (the held-out mean squared error there), `se`, `training`, `status`.
#' * `tidy()` of a fit of [fs_lssvm()] also has `order` (of the prototypes, `NA` for covariates);
#'   `glance()` has `size`, `prototypes` (how many of them are in) and `gamma` in the place of
#'   `terms`.
#' * `tidy()` of a cross-validation: a row per measure, size (or lambda) and curve with `measure`,
#'   `size`, `curve`, `estimate`, `std.error`. `augment()`: as of its fit on all rows, but
#'   `.held_out` is predicted by the outer fold without the sample, with the size chosen there.
#' * `glance()` of a cross-validation: one row with `method`, `measure`, `estimate` and `std.error`
#'   (honest, at the size each fold chose), `inner` (optimistic; `NA` when the method has no
#'   held-out figure of its own), `nobs`, `features`, `folds`, `status`.
#' @section Errors:
#' `sparsels_error_input` when the fit has no model of that size or lambda or `data` has not m rows.
#' @inherit cross_validate references
#' @seealso [coef.sparse_fit()], [selected()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' fit <- greedy_rls(x, x[, 3] - x[, 8] + rnorm(60))
#' tidy(fit, size = 2)
#' glance(fit)
#' head(augment(fit))
#' @name tidiers
NULL

#' @rdname tidiers
#' @method tidy sparse_fit
#' @export
tidy.sparse_fit <- function(x, size = NULL, lambda = NULL, ...) {
  check_object(x)
  check_dots(..., known = c("size", "lambda"))
  model <- model_of(x, size, lambda)
  order <- c(rep(NA_integer_, ncol(x$problem$z)), seq_along(model$features))
  tidy_model(x$problem, model, x$problem$names[model$features], order = order)
}

# a row per term and output: the covariates, then the others by name; `...` are columns per term
tidy_model <- function(problem, model, names, ...) {
  terms <- data.frame(term = c(colnames(problem$z), names), ...)
  outputs <- output_names(problem)
  table <- data.frame(
    output = rep(outputs, each = nrow(terms)), terms[rep(seq_len(nrow(terms)), length(outputs)), ,
                                                     drop = FALSE],
    estimate = as.vector(rbind(model$covariates, model$beta)), row.names = NULL
  )
  if (length(outputs) > 1L) table else table[-1L]
}

#' @rdname tidiers
#' @method glance sparse_fit
#' @export
glance.sparse_fit <- function(x, ...) {
  check_object(x)
  check_dots(..., known = character())
  chosen <- chosen_row(x)
  out <- data.frame(
    method = x$method, nobs = nrow(x$problem), features = ncol(x$problem),
    size = x$size, criterion = x$criterion$name, value = chosen$criterion, lambda = x$lambda,
    status = x$status
  )
  out[c("loss", "gap")] <- list(x$loss, chosen$gap)
  out
}

#' @rdname tidiers
#' @method augment sparse_fit
#' @export
augment.sparse_fit <- function(x, data = NULL, ...) {
  check_object(x)
  check_dots(..., known = "data")
  problem <- x$problem
  if (is.null(data)) data <- observed(problem)
  if (!is.data.frame(data) || nrow(data) != nrow(problem)) {
    given <- if (is.data.frame(data)) counted(nrow(data), "row") else describe(data)
    must <- sprintf("`data` must be a data frame with the %d rows of the fit", nrow(problem))
    stop_input(sprintf("%s, not %s", must, given), "sparsels_error_argument")
  }
  held_out <- as_response(x$held_out, x$loss)
  parts <- list(.fitted = as_response(x$fitted, x$loss), .held_out = held_out,
                .resid = response_of(x) - held_out)
  columns <- do.call(cbind, lapply(names(parts), function(name) {
    outputs <- output_names(problem)
    names <- if (length(outputs) > 1L) paste0(name, ".", outputs) else name
    stats::setNames(as.data.frame(parts[[name]]), names)
  }))
  if (problem$task != "regression") columns$.class <- class_of(problem, x$held_out)
  cbind(data, columns)
}

#' @rdname tidiers
#' @method tidy kernel_fit
#' @export
tidy.kernel_fit <- function(x, lambda = NULL, ...) {
  check_object(x)
  check_dots(..., known = "lambda")
  tidy_model(x$problem, lambda_model(x, lambda), term_names(x))
}

#' @rdname tidiers
#' @method glance kernel_fit
#' @export
glance.kernel_fit <- function(x, ...) {
  check_object(x)
  check_dots(..., known = character())
  best <- x$path[x$path$lambda == x$lambda, ]
  data.frame(
    method = x$method, nobs = nrow(x$problem), terms = nrow(x$coefficients[[1L]]$beta),
    lambda = x$lambda, criterion = best$criterion, se = best$se, training = best$training,
    status = x$status
  )
}

#' @rdname tidiers
#' @method augment kernel_fit
#' @export
augment.kernel_fit <- function(x, data = NULL, ...) {
  check_object(x)
  check_dots(..., known = "data")
  augment.sparse_fit(x, data)
}

output_names <- function(problem) {
  if (!is.null(colnames(problem$y))) return(colnames(problem$y))
  count <- ncol(problem$y)
  if (count == 1L) problem$response else paste0(problem$response, seq_len(count))
}

# The response as the user gave it.
observed <- function(problem) {
  if (problem$task == "regression") {
    return(stats::setNames(as.data.frame(problem$y), output_names(problem)))
  }
  stats::setNames(data.frame(class_of(problem, problem$y)), problem$response)
}

#' @rdname tidiers
#' @method tidy cv_result
#' @export
tidy.cv_result <- function(x, ...) {
  check_object(x)
  check_dots(..., known = character())
  tables <- lapply(names(x$measures), function(measure) {
    one <- x
    one$curves <- x$measures[[measure]]
    data <- plot_data(one)
    data.frame(measure = measure, data[x$key], curve = data$curve, estimate = data$mean,
               std.error = data$se)
  })
  do.call(rbind, tables)
}

#' @rdname tidiers
#' @method glance cv_result
#' @export
glance.cv_result <- function(x, ...) {
  check_object(x)
  check_dots(..., known = character())
  data.frame(
    method = x$method, measure = x$measure, estimate = x$estimate[["mean"]],
    std.error = x$estimate[["se"]],
    inner = if (is.null(x$folds$inner)) NA_real_ else mean(x$folds$inner),
    nobs = stats::nobs(x), features = ncol(x$problem), folds = nrow(x$folds), status = x$status
  )
}

#' @rdname tidiers
#' @method augment cv_result
#' @export
augment.cv_result <- function(x, data = NULL, ...) {
  check_object(x)
  check_dots(..., known = "data")
  if (is.null(x$fit$fitted)) stop_input("the fit of this method has no fitted values to show")
  judged <- x$fit
  judged$held_out <- x$held_out
  augment.sparse_fit(judged, data)
}
