#' Formulas, terms and design matrices of problems and fits
#'
#' R's modelling functions for a problem and for the models of a fit of columns. They serve to fit
#' the selected variables by another function, such as [stats::lm()] or [stats::glm()], or to check
#' a prediction by hand.
#'
#' @param x,object,formula A problem, a fit (for the models of columns a [sparse_fit]), or a result
#'   of [cross_validate()], whose fit on all rows is taken.
#' @param size,lambda Which model of the fit, as in [coef()][sparsels_fit].
#' @param newdata,adjust New observations and their covariates, as in [predict()][sparsels_fit]. A
#'   fit keeps no data: give the data that it was fitted to.
#' @param data The data frame that the fit was made from, or other rows of its variables.
#' @param formula. For `update()`, changes to the formula that the problem of the fit was made from,
#'   as in [stats::update.formula()].
#' @param evaluate Logical: is the new call evaluated, or returned?
#' @param ... `size`, `lambda`. For `update()`, arguments of the call to change or add.
#'
#' @details `formula()` of a problem is the formula it was made from, and an error if it was made
#'   without. `formula()` of a fit contains the response, the covariates, the variables of the
#'   selected columns, and an offset of variables in `data`. The variable of a column that is one
#'   level of a factor is the whole factor, so that [stats::lm()] has all its levels.
#'
#'   `model.matrix()` of a problem has its covariates (the intercept first) and all candidate
#'   columns; `model.matrix()` of a fit has the columns of the model, in the order of
#'   [coef()][sparsels_fit], so that their product is the prediction. Sparse columns stay sparse.
#'
#'   `model.frame()` of a fit has the response, the covariates and the variables of the selected
#'   columns in `data`. Of a fit to a matrix it has the selected columns.
#'
#'   `update()` makes the call of a fit again. A changed formula keeps all candidates of the old
#'   one, whichever the fit has chosen.
#'
#' @return `formula()`: a formula. `update()`: a fit, or its call. `terms()`: the terms of the
#'   formula. `model.matrix()`: a matrix with a row for each observation. `model.frame()`: a data
#'   frame with a row for each observation. `variable.names()`: the
#'   names of the candidate columns of a problem, or of the coefficients of the model of a fit.
#' @seealso [as_problem()], [sparsels_fit]
#' @examples
#' fit <- greedy_rls(mpg ~ ., mtcars, k = 4)
#' formula(fit)
#' lm(formula(fit, size = 2), mtcars)
#' x <- model.matrix(fit, mtcars, size = 2)
#' all.equal(drop(x %*% coef(fit, size = 2)), predict(fit, mtcars, size = 2))
#' @srrstats {RE4.4} `formula()`
#' @srrstats {RE4.13} `model.matrix()`, `model.frame()` of the data given again
#' @name formula.sparsels_fit
NULL

#' @rdname formula.sparsels_fit
#' @export
formula.sparsels_problem <- function(x, ...) {
  check_sealed(x)
  stop_input_if(is.null(x$coding$formula), "the problem was not made from a formula")
  x$coding$formula
}

#' @rdname formula.sparsels_fit
#' @export
formula.sparsels_fit <- function(x, ...) stats::formula(x$problem)

#' @rdname formula.sparsels_fit
#' @export
formula.sparse_fit <- function(x, size = NULL, lambda = NULL, ...) {
  check_method_call(..., object = x, known = c("size", "lambda"))
  problem <- x$problem
  columns <- needed_columns(problem, model_of(x, size, lambda)$features)
  column_formula(problem, columns, problem$coding$adjust_design)
}

#' @rdname formula.sparsels_fit
#' @export
update.sparsels_fit <- function(object, formula., ..., evaluate = TRUE) {
  check_sealed(object)
  call <- stats::getCall(object)
  given <- as.list(substitute(list(...)))[-1L]
  # a formula that was made in a function or a loop has no name here
  made <- object$problem$coding$formula
  if (!is.null(made)) names(call)[names(call) == "y"] <- "data"
  if ("data" %in% names(call) && !is_call_of(call$x, "~")) call$x <- made
  call[names(given)] <- given
  if (!missing(formula.)) {
    refuse_unless(inherits(formula., "formula"), "formula.", "a formula such as . ~ . - age",
                  formula.)
    # `.` may represent the variables of data in the old formula
    side <- function(new, old) do.call(substitute, list(new, list(. = old)))
    call$x <- stats::formula(object$problem)
    if (length(formula.) == 3L) call$x[[2L]] <- side(formula.[[2L]], call$x[[2L]])
    call$x[[3L]] <- side(formula.[[length(formula.)]], call$x[[3L]])
  }
  if (!evaluate) return(call)
  lacking <- described_arguments(call)
  stop_input_if(length(lacking),
                "the call of the fit does not name its `%s`, which was given as a value: %s",
                lacking[1L], sprintf("update(fit, %s = )", lacking[1L]))
  eval.parent(call)
}

#' @rdname formula.sparsels_fit
#' @export
terms.sparsels_problem <- function(x, ...) {
  formula(x)
  stats::terms(column_formula(x, seq_len(ncol(x))))
}

#' @rdname formula.sparsels_fit
#' @export
terms.sparsels_fit <- function(x, ...) stats::terms(stats::formula(x, ...))

#' @rdname formula.sparsels_fit
#' @export
model.frame.sparsels_fit <- function(formula, data, ...) {
  check_sealed(formula)
  if (missing(data)) stop_input("a fit keeps no data: give `data`, the data it was fitted to")
  data <- as_frame(as_new_data(data))
  if (!is.data.frame(data)) data <- as.data.frame(data)
  terms <- stats::terms(formula, ...)
  # without a formula only the columns of the fit are known by their names
  if (is.null(formula$problem$coding$formula)) terms <- stats::delete.response(terms)
  user_value(stats::model.frame(terms, data), "`data` does not give the variables of the fit")
}

#' @rdname formula.sparsels_fit
#' @export
model.frame.sparsels_problem <- function(formula, ...) {
  check_sealed(formula)
  stop_input("a problem has columns and no variables: %s",
             "model.matrix() has the columns, model.frame(formula(problem), data) the variables")
}

# Design matrices ---------------------------------------------------------------------------------

#' @rdname formula.sparsels_fit
#' @export
model.matrix.sparsels_problem <- function(object, ...) {
  check_sealed(object)
  columns <- setdiff(seq_len(ncol(object)), unpenalised(object))
  x <- new_data_matrix(object, object, columns)
  named_columns(object$z, x, object$columns$name[columns], object$rows$name)
}

#' @rdname formula.sparsels_fit
#' @export
model.matrix.sparse_fit <- function(object, newdata, size = NULL, lambda = NULL, adjust = NULL,
                                    ...) {
  check_method_call(..., object = object, known = c("newdata", "size", "lambda", "adjust"))
  if (missing(newdata)) stop_input("a fit keeps no data: give `newdata`, the data it was fitted to")
  problem <- object$problem
  features <- model_of(object, size, lambda)$features
  newdata <- as_new_data(newdata)
  x <- new_data_matrix(problem, newdata, features)
  named_columns(new_covariates(problem, newdata, adjust), x, problem$columns$name[features],
                rownames(newdata))
}

named_columns <- function(z, x, names, row_names) {
  x <- cbind(z, x)
  dimnames(x) <- list(row_names, c(colnames(z), names))
  x
}

#' @rdname formula.sparsels_fit
#' @export
variable.names.sparsels_problem <- function(object, ...) check_sealed(object)$columns$name

#' @rdname formula.sparsels_fit
#' @export
variable.names.sparse_fit <- function(object, size = NULL, lambda = NULL, ...) {
  check_method_call(..., object = object, known = c("size", "lambda"))
  problem <- object$problem
  c(colnames(problem$z), problem$columns$name[model_of(object, size, lambda)$features])
}
