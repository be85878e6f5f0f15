# The data of a fit, which it does not keep, given again to exchange(), verify() or judge(), and its
# formula, model frame and design matrix.

# The problem of a fit, with x. Refuses data that differ from the data of the fit.
problem_of_fit <- function(fit, x, y = NULL, ..., data = NULL) {
  check_sealed(fit)
  if (missing(x) && !is.null(data)) return(problem_of_fit(fit, data, y, ...))
  given <- !is.null(y) || !is.null(data) || ...length()
  alone <- !inherits(x, c("sparsels_problem", "formula"))
  stop_argument_if(alone && is.null(y) && is.null(data) && ...length(),
                   "`%s` goes with the response: %s", names(substitute(list(...)))[2L],
                   "give `y` or the formula too, or `x` alone, as the fit keeps both")
  if (!given && alone) {
    problem <- with_columns(working_copy(fit$problem), x)
    check_same_moments(problem, fit$problem)
    check_same_order(problem, fit)
    return(problem)
  }
  problem <- if (inherits(x, "sparsels_problem")) as_problem(x, y, ..., data = data) else
    problem_again(fit$problem, x, y, ..., data = data)
  problem <- working_copy(problem)
  if (identical(fit$kernel$name, "precomputed")) problem <- square_kernel(problem)
  if (!is.null(fit$blocks) && inherits(x, "sparsels_problem")) {
    problem <- with_block_ratios(problem, fit$blocks)
  }
  own <- loss_of(fit)$problem
  if (!is.null(own)) problem <- own(problem, fit$problem$coding$ties)
  if (isTRUE(fit$problem$coding$absolute)) problem <- absolute_penalty(problem)
  check_same_data(problem, fit$problem)
  problem <- with_groups_of(problem, fit$problem)
  problem$hierarchy <- fit$problem$hierarchy
  problem$rows$group <- fit$problem$rows$group
  problem$coding$response <- fit$problem$coding$response
  problem
}

# The same, where x and y apart are of the same rows.
problem_in_order <- function(fit, x, ...) {
  problem <- problem_of_fit(fit, x, ...)
  if (missing(x) || !inherits(x, "sparsels_problem")) check_same_order(problem, fit)
  problem
}

# A problem with its columns, in any form that predict() takes. Nothing else changes. A file that
# has these columns remains a file.
with_columns <- function(problem, x) {
  columns <- seq_len(ncol(problem))
  x <- without_omitted(problem, x)
  if (!is.null(problem$coding$center_groups)) problem$cohorts <- problem$rows$group
  problem$x <- tryCatch(
    if (is_file_matrix(x) && identical(new_positions(problem, sound_file(x), columns), columns)) x
    else widened(problem, new_values(problem, x, columns)),
    sparsels_error_input = function(e) {
      e$message <- gsub("`newdata`", "`x`", conditionMessage(e), fixed = TRUE)
      stop(e)
    }
  )
  # columns that are functions of one column came with its name
  if (has_curves(problem) && problem$coding$named) colnames(problem$x) <- problem$columns$name
  stop_not_of_fit_if(nrow(problem$x) != nrow(problem$z), "%s, but the fit has %d",
                     counted(nrow(problem$x), "row"), nrow(problem$z))
  check_row_names(rownames(problem$x), problem$rows$name)
  problem$cohorts <- NULL
  measure_columns(problem)
}

# A problem made again from its data. Arguments that are not given keep their values.
problem_again <- function(own, x, y, ..., data) {
  given <- dots_with_data(..., data = if (inherits(x, "formula")) if (is.null(data)) y else data)
  kept <- given_properties(own)
  if (inherits(x, "formula")) {
    parts <- split_terms(x[[length(x)]])
    kept[c(if (length(parts$offset)) "offset", if (!is.null(parts$strata)) "strata")] <- NULL
  }
  rows <- if (inherits(x, "formula")) NROW(if (is.null(data)) y else data) else
    if (is.matrix(x) || is.data.frame(x)) nrow(x)
  other_rows <- isTRUE(rows > 0L && rows != nrow(own))
  if (other_rows && length(own$na.action) && is.null(given$na.action)) {
    given$na.action <- stats::na.omit
  }
  fewer <- other_rows || !is.null(given$subset) || !is.null(given$na.action)
  kept <- kept[setdiff(names(kept), c(names(given), if (fewer) c("weights", "offset")))]
  arguments <- c(list(quote(x), quote(y), data = quote(data)), quoted(given), quoted(kept))
  # what is said of data was said when they were fitted
  problem <- suppressWarnings(suppressMessages(do.call(as_problem, arguments), "sparsels_message"),
                              "sparsels_warning")
  with_response_scale(problem, own$coding$response_scale)
}

stop_not_of_fit_if <- function(condition, ...) {
  stop_argument_if(condition, "the data differ from the data of the fit: %s", sprintf(...))
}

check_same_data <- function(problem, own) {
  dot <- "." %in% all.vars(problem$coding$formula) && ncol(problem) > ncol(own)
  stop_not_of_fit_if(!identical(dim(problem), dim(own)), "%s, but the fit has %s%s",
                     data_words(problem), data_words(own), if (dot)
                       ": give its arguments that name variables again, such as `groups`" else "")
  j <- which(problem$columns$name != own$columns$name)[1L]
  stop_not_of_fit_if(!is.na(j), "column %d is '%s', but '%s' in the fit", j,
                     problem$columns$name[j], own$columns$name[j])
  stop_not_of_fit_if(!identical(problem$coding$task, own$coding$task) ||
                       !identical(class_names(problem), class_names(own)),
                     "the response is of another kind or has other classes")
  check_row_names(problem$rows$name, own$rows$name)
  compare_rows(problem$rows$y, own$rows$y, "the response")
  compare_rows(problem$rows$weight, own$rows$weight, "the weight")
  given <- given_properties(problem)
  kept <- given_properties(own)
  stop_not_of_fit_if(!identical(as.integer(given$within), as.integer(kept$within)),
                     "the queries of `within` are others")
  words <- function(z) if (ncol(z)) some_of(colnames(z)) else "none"
  stop_not_of_fit_if(!identical(colnames(problem$z), colnames(own$z)),
                     "the covariates are %s, but %s in the fit", words(problem$z), words(own$z))
  compare_rows(problem$z, own$z, "a covariate")
  for (argument in c("intercept", "standardize", "penalty")) {
    stop_not_of_fit_if(!identical(given[[argument]], kept[[argument]]), "`%s` is another", argument)
  }
  check_same_moments(problem, own)
}

compare_rows <- function(values, own, what) {
  values <- as.matrix(values)
  own <- as.matrix(own)
  stop_not_of_fit_if(!identical(dim(values), dim(own)), "%s has another number of columns", what)
  row <- which(rowSums(abs(values - own) > 1e-14 * abs(own)) > 0)[1L]
  stop_not_of_fit_if(!is.na(row), "%s of row %d is another", what, row)
}

# In a model without columns, only names show that rows are in another order.
check_row_names <- function(given, own) {
  other <- which(given != own)[1L]
  stop_not_of_fit_if(!is.na(other) && setequal(given, own),
                     "row %d is '%s', not '%s', are rows in another order?", other, given[other],
                     own[other])
}

# Rows in another order have the same means and scales, but not the same fitted values.
check_same_order <- function(problem, fit) {
  scores <- scores_of_models(fit, list(model_of(fit)), problem)
  fitted <- kept_values(fit, "fitted")
  off <- abs(scores_of_rows(problem, layer(scores, 1L)) - scores_of_rows(problem, fitted))
  stop_not_of_fit_if(max(off) > 1e-6 * max(abs(fitted), abs(problem$rows$y)),
                     "row %d has another fitted value, are rows in another order?",
                     row(off)[which.max(off)])
}

# Compares means and sums of squares of all columns, in blocks of columns. Kernels leave all columns
# unchanged, or leave some columns uncentred.
check_same_moments <- function(problem, own) {
  w <- problem$rows$weight
  own$columns$scale <- own$columns$scale / penalty_divisor(own)
  for (block in column_blocks(nrow(problem), ncol(problem))) {
    x <- plain_columns(problem, block)
    centre <- weighted_means(x, w)
    about <- x - rep(if (is_centred(problem)) centre else 0 * centre, each = nrow(x))
    squares <- colSums(w * about^2)
    # what is too small to square counts as 0
    size <- sqrt(pmax(colSums(w * x^2) / sum(w), smallest_square))
    rms <- sqrt(sum_of_squares(problem, about)[1L, ] / sum(w))
    centred <- own$columns$centre[block] != 0
    scaled <- own$columns$scale[block] != 1
    # a kernel's scale is about the mean whether there is an intercept or not
    about_mean <- sqrt(colSums(w * (x - rep(centre, each = nrow(x)))^2) / sum(w))
    off <- abs(squares - own$columns$squares[block]) >
      1e-10 * squares + 1e-12 * size * rms * sum(w) |
      centred & abs(centre - own$columns$centre[block]) > 1e-10 * size |
      scaled & pmin(abs(rms - own$columns$scale[block]),
                    abs(about_mean - own$columns$scale[block])) >
        1e-10 * rms + 1e-12 * size
    # a missing value of an edited fit is none of the data
    other <- block[!off %in% FALSE][1L]
    stop_not_of_fit_if(!is.na(other), "column '%s' has another mean or scale",
                       problem$columns$name[other])
  }
}

# Formulas, frames and matrices --------------------------------------------------------------------

#' Formulas, terms and design matrices of problems and fits
#'
#' R's modelling functions for a problem and for the models of a fit of columns. They serve to fit
#' the selected variables by another function, such as [stats::lm()] or [stats::glm()], or to
#' compute a prediction from the coefficients.
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
formula.sparsels_fit <- function(x, ...) {
  problem <- x$problem
  made <- stats::formula(problem)
  # without the data nobody knows the variables of a dot
  if (!"." %in% all.vars(made)) return(made)
  column_formula(problem, seq_len(ncol(problem)), problem$coding$adjust_design)
}

#' @rdname formula.sparsels_fit
#' @export
formula.sparse_fit <- function(x, size = NULL, lambda = NULL, ...) {
  check_method_call(..., object = x, known = c("size", "lambda"))
  problem <- x$problem
  columns <- needed_columns(problem, model_of(x, size, lambda)$features)
  if ("curves" %in% x$control$left_out) {
    free <- problem$columns$curve[unpenalised(problem)]
    problem$curves <- problem$curves[names(problem$curves) %in% free]
  }
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
    of_problem <- inherits(tryCatch(eval.parent(call$x), error = identity), "sparsels_problem")
    call$x <- stats::formula(object$problem)
    if (length(formula.) == 3L) call$x[[2L]] <- side(formula.[[2L]], call$x[[2L]])
    call$x[[3L]] <- side(formula.[[length(formula.)]], call$x[[3L]])
    # the new call would lose its weights, groups and other properties
    stop_input_if(of_problem, "the fit was made from a problem, which keeps no data: %s",
                  sprintf("update(fit, x = as_problem(%s, data))", deparse1(call$x)))
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
  stop_input_if(inherits(data, "sparsels_problem"),
                "a problem has columns and no variables: give the data it was made from")
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
