#' Models of growing size
#'
#' What every selection method of the package returns: the best model of each size, the held-out
#' figures of every model on the way, and the methods that print, plot and use them.
#'
#' @details A fit is a plain list that never holds `x`; `saveRDS()` keeps all of it. With m rows, L
#' outputs and q covariates:
#'
#' * `path`: data frame with a row for every step: `step` (0 is the start), `action` (`"start"`,
#'   `"add"`, `"drop"`, or `"found"` where sets are not made one from the other), `feature` (column
#'   number), `name`, `size` of the model after the step, and its held-out figures: `criterion`
#'   (what the search looked at; of the best-subset methods, such as [poss()], the training
#'   \eqn{R^2}) with its standard error `se` over folds, `squared`, the mean squared error
#'   \eqn{\sum_j w_j \|r_j\|^2 / (L \sum_j w_j)}{sum_j w_j ||r_j||^2 / (L sum_j w_j)}, and for
#'   classes `error`, the share of rows in the wrong class. Repeated folds are averaged. `se` is
#'   that of a weighted mean of fold means; it takes the folds as independent, which they nearly
#'   are. It is `NA` for a user's function and for leave-pair-out AUC.
#' * `coefficients`: element s + 1 is the best model of size s, or `NULL`: `features` (column
#'   numbers in the order chosen), `beta` (s x L) and `covariates` (q x L) on the user's scale,
#'   `step`.
#'   Where the whole procedure was repeated in folds (`size = "cv"`, `"1se"` or a number), its
#'   held-out criterion `cv` with `cv_se`, and for classes its error rate `cv_error` with
#'   `cv_error_se`: of the best model of each size, scored on rows that were not there when it was
#'   chosen. After a refit `criterion`, `se`, `squared` and `error` are those of the refitted
#'   models, `refit_lambda` is their lambda and `search_criterion` what the search went by.
#' * `size`, the chosen size, and `size_by`, how it was chosen. `estimate` (`mean`, `se`): the
#'   criterion of the procedure with its choice of size and lambda, chosen by the other folds and
#'   scored on each; `estimate_error`, the same as an error rate. `size_folds`, the folds of the
#'   procedure.
#' * `held_out` and `fitted` (m x L): predictions of the rows at the chosen size, by models without
#'   them and by the fit; `fitted_sizes` (m x L x sizes) those of all sizes, of fits whose search
#'   was repeated in folds, up to a million numbers. Where the procedure was repeated in folds,
#'   `held_out` comes from the searches without each row; with `size = "criterion"` the features
#'   were chosen with it. Rows of weight 0 are predicted by the fit.
#' * `lambda`, `lambda_rule`, and `lambda_table` with a row for every lambda tried: its best size
#'   and `cv` there.
#' * `alternatives`: with `keep`, the best candidates not chosen at each step.
#' * `work`: of [greedy_rls()], what the search took; see its section on cost.
#' * `status`: `"complete"`, `"early_stop"`, `"interrupted"`, `"move_limit"` or `"node_limit"`.
#' * `criterion`, `folds`, `control`, `call`, `method`, and `problem` without its x.
#'
#' @param object,x A fit.
#' @param size The model wanted: its number of features, `"min"` or `"1se"` for what [best_size()]
#'   says, or `NULL` for the chosen size.
#' @param lambda For fits of [l1_path()] and [l1_size()], which may have several models of one size:
#'   one of the path's values (four digits are enough) in the place of a size; `NULL` for the chosen
#'   one.
#' @param index Whether to return column numbers in the place of names.
#' @param newdata New observations: a matrix, data frame or `SummarizedExperiment`. Columns are
#'   found by name when both have names, and only those of the model are needed.
#' @param type For `predict()`: `"response"` and `"link"` are both the value of the linear model
#'   (least squares has no link function), but `"response"` is the probability of the second level
#'   where `loss = "logistic"`; `"class"` is the class: the second level where a two-class score is
#'   above 0, the largest score for more classes. For `residuals()`: `"response"`, on the training
#'   rows, or `"held_out"`.
#' @param adjust The covariates of the new observations, in the form that [as_problem()] was given;
#'   not needed when a formula finds them in `newdata`.
#' @param rule `"min"`: the size or lambda with the smallest error; `"1se"`: the smallest size, or
#'   the largest lambda, whose error is within one standard error of it.
#' @param by By which figure of the path: `"cv"`, the cross-validated error of the whole procedure,
#'   or `"criterion"`, by which the features were chosen. The first where the fit has it.
#' @param ... Not used.
#'
#' @return `selected()`: character (or integer) vector in the order chosen. `coef()`: named vector,
#'   covariates first, or a matrix with a column per output. `predict()`: one value per row of
#'   `newdata` (a matrix for several outputs), `NA` with a warning where a needed value is missing.
#'   `fitted()`: what `predict()` has for the training rows, in the fit's field `fitted` a score.
#'   `residuals()`: the response less such values; of classes it is -1 or +1, but 0 or 1 where
#'   `loss = "logistic"`. `best_size()`, and `best_lambda()` for an l1 path with held-out errors: a
#'   number. `summary()`: a data frame of the best model of every size with the coefficients of the
#'   chosen one.
#'
#' @examples
#' x <- matrix(rnorm(30 * 8), 30)
#' fit <- greedy_rls(x, x[, 3] + rnorm(30) / 9)
#' selected(fit)
#' coef(fit, size = 1)
#' predict(fit, x[1:3, ], size = 2)
#' best_size(fit, "1se")
#' @name sparse_fit
NULL

# Puts together the fit of a method from its path. `chosen` is what choose_in_folds() says where the
# whole procedure was repeated. `to_user` takes the models of the method to the user's scale.
new_sparse_fit <- function(method, problem, path, control, call, chosen = NULL,
                           to_user = user_coefficients) {
  rule <- control$sizing$rule
  fit <- structure(list(
    method = method, path = path$path, coefficients = to_user(problem, path$models),
    size = path$size, held_out = path$held_out, fitted = path$fitted,
    lambda = path$lambda, lambda_rule = control$lambda_rule,
    lambda_table = data.frame(lambda = path$lambda, size = path$size,
                              criterion = path$path$criterion[path$models[[path$size + 1L]]$row]),
    size_by = if (is.null(rule)) "criterion" else rule,
    criterion = control$criterion[intersect(c("name", "higher", "words", "label"),
                                            names(control$criterion))],
    cv_criterion = held_out_criterion(control$criterion)[c("name", "higher", "words")],
    folds = control$folds, found = path$found, alternatives = path$alternatives,
    work = path$work, status = path$status,
    control = control[setdiff(names(control), internal_control)],
    call = call, problem = without_x(problem)
  ), class = c(method, "sparse_fit"))
  fit <- if (is.null(chosen)) fill_unweighted(fit, problem) else take_choice(fit, problem, chosen)
  if (fit$status == "interrupted") {
    warn_sparsels(sprintf("interrupted: the fit holds the %s done so far", done_words(fit$path)),
                  "sparsels_interrupted")
  }
  fit
}

internal_control <- c("criterion", "folds", "lambda_rule", "lambda_values", "lambda_given",
                      "sizing", "grows", "largest")

# What the folds of the whole procedure say: the size, the held-out figures of every size, and
# predictions of each row by the models without it.
take_choice <- function(fit, problem, chosen) {
  if (is.numeric(fit$size_by) || fit$size_by != "criterion") {
    there <- which(!vapply(fit$coefficients, is.null, NA)) - 1L
    fit$size <- max(there[there <= chosen$size])
  }
  rows <- vapply(fit$coefficients, function(model) {
    if (is.null(model)) NA_integer_ else model$step + 1L
  }, 0L)
  told <- which(!is.na(rows))
  told <- told[told <= nrow(chosen$path$cv)]
  for (figure in names(chosen$path)) {
    columns <- c(figure, paste0(figure, "_se"))
    fit$path[columns] <- NA_real_
    fit$path[rows[told], columns] <- chosen$path[[figure]][told, seq_along(columns)]
  }
  fit$lambda_table <- chosen$table
  fit$best <- chosen$best
  fit$estimate <- chosen$estimate$cv
  fit$estimate_error <- chosen$estimate$cv_error
  fit$size_folds <- chosen$folds
  few <- length(problem$y) * length(fit$coefficients) <= 1e6
  fitted <- model_scores(fit$coefficients[if (few) TRUE else fit$size + 1L], problem)
  fit$fitted <- layer(fitted, if (few) fit$size + 1L else 1L)
  if (few) fit$fitted_sizes <- fitted
  fit$held_out <- held_out_predictions(problem, chosen, fit$fitted)
  fit
}

# Rows of weight 0 are predicted by the model, which was not trained on them.
fill_unweighted <- function(fit, problem) {
  rows <- which(problem$weights == 0)
  if (!length(rows)) return(fit)
  scores <- model_scores(fit$coefficients[fit$size + 1L], problem, rows)
  fit$held_out[rows, ] <- fit$fitted[rows, ] <- layer(scores, 1L)
  fit
}

done_words <- function(path) {
  if (!is.null(path$lambda)) return(counted(nrow(path), "lambda"))
  counted(nrow(path) - 1L, if ("found" %in% path$action) "size" else "step")
}

# Coefficients of working columns -> of the user's columns, with those of the covariates.
user_coefficients <- function(problem, models) {
  used <- unique(unlist(lapply(models, `[[`, "features")))
  scale <- problem$scale
  place <- replace(integer(length(scale)), used, seq_along(used))
  on_covariates <- covariate_solver(problem)
  of_y <- on_covariates(problem$y)
  of_x <- on_covariates(problem$x, used)
  name_models(problem, models, function(model) {
    beta <- model$beta / scale[model$features]
    own <- of_x[, place[model$features], drop = FALSE]
    list(beta = beta, covariates = of_y - own %*% beta)
  })
}

# Models as a fit holds them. `to_user` takes the coefficients of one to the user's scale.
name_models <- function(problem, models, to_user = identity) {
  names <- problem$names
  covariates <- colnames(problem$z)
  outputs <- colnames(problem$y)
  lapply(models, function(model) {
    if (is.null(model)) return(NULL)
    own <- to_user(model)
    dimnames(own$covariates) <- list(covariates, outputs)
    dimnames(own$beta) <- list(names[model$features], outputs)
    list(features = model$features, beta = own$beta, covariates = own$covariates,
         step = model$row - 1L)
  })
}

# The best model of one size or, where the path is one of lambda, the model of one lambda.
model_of <- function(fit, size = NULL, lambda = NULL) {
  if (!is.null(lambda)) {
    check_one_wish(fit, size)
    row <- lambda_row(fit$path$lambda, lambda)
    model <- c(solution_model(fit$problem, fit$solutions[[row]]), row = row)
    return(name_models(fit$problem, list(model))[[1L]])
  }
  size <- as_size(fit, size)
  largest <- length(fit$coefficients) - 1L
  check_count(size, "size", largest, "the largest size of the fit", lower = 0L)
  model <- fit$coefficients[[size + 1L]]
  if (is.null(model)) {
    sizes <- which(!vapply(fit$coefficients, is.null, NA)) - 1L
    stop_input(sprintf("the fit has no model of size %d: its %s", size, if (length(sizes) == 1L) {
      sprintf("only size is %d", sizes)
    } else {
      sprintf("sizes are %d to %d", min(sizes), max(sizes))
    }))
  }
  model
}

# The size that is meant: the chosen one, that of a rule, or a number.
as_size <- function(fit, size) {
  if (is.null(size)) return(fit$size)
  # other fits have no error of the whole procedure to go by
  rules <- inherits(fit, c("sparse_fit", "cv_result"))
  if (is.character(size) && rules) return(best_size(fit, check_size_word(size)))
  if (!is_number(size)) {
    refuse("size", if (rules) "a number, \"min\" or \"1se\"" else "a number", size)
  }
  size
}

check_size_word <- function(size) {
  if (length(size) != 1L || !size %in% c("min", "1se")) {
    refuse("size", "a number, \"min\" or \"1se\"", size)
  }
  size
}

# `size` beside a `lambda`
check_one_wish <- function(fit, size) {
  if (is.null(fit$solutions)) {
    stop_input(sprintf("every model of the fit has the same lambda, %s: choose one by `size`",
                       format(fit$lambda, digits = 4)))
  }
  if (!is.null(size)) stop_input("give either `size` or `lambda`, not both")
}

# Which of a path's values is meant by one that may have been copied from print().
lambda_row <- function(values, lambda) {
  check_lambda(lambda)
  must <- "one of the path's values (fit$path$lambda)"
  if (length(lambda) != 1L) refuse("lambda", must, lambda)
  row <- which.min(abs(values / lambda - 1))
  if (abs(values[row] / lambda - 1) <= 5e-4) return(row)
  near <- utils::head(values[order(abs(log(values / lambda)))], 2L)
  stop_input(sprintf("`lambda` must be %s, not %s: the nearest %s %s", must, describe(lambda),
                     if (length(near) > 1L) "are" else "is",
                     paste(format(sort(near), digits = 4, trim = TRUE), collapse = " and ")))
}

# the path's row of the chosen model
chosen_row <- function(fit) fit$path[model_of(fit)$step + 1L, ]

# One row of the path for the best model of every size.
size_table <- function(fit) {
  models <- Filter(Negate(is.null), fit$coefficients)
  fit$path[vapply(models, `[[`, 0L, "step") + 1L, ]
}

#' @rdname sparse_fit
#' @export
selected <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_given(object, "object")
  UseMethod("selected")
}

#' @export
selected.sparse_fit <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_object(object)
  features <- model_of(object, size, lambda)$features
  if (check_flag(index, "index")) features else object$problem$names[features]
}

#' @export
selected.default <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  refuse("object", "a fit that chooses features, components or prototypes", object)
}

#' @rdname sparse_fit
#' @export
best_size <- function(object, rule = "min", ...) {
  check_given(object, "object")
  UseMethod("best_size")
}

#' @export
best_size.default <- function(object, rule = "min", ...) { # nolint: object_name_linter.
  refuse("object", "a fit with models of several sizes or a result of cross_validate()", object)
}

#' @rdname sparse_fit
#' @export
best_size.sparse_fit <- function(object, rule = "min", by = NULL, ...) {
  check_object(object)
  check_dots(..., known = "by")
  check_choice(rule, "rule", c("min", "1se"))
  sizes <- size_table(object)
  if (is.null(by)) by <- if (is.null(sizes$cv)) "criterion" else "cv"
  check_choice(by, "by", c("cv", "criterion"))
  if (by == "cv" && is.null(sizes$cv)) {
    stop_input(paste("`by = \"cv\"` needs a fit whose search was repeated in folds:",
                     "fit it with `size = \"cv\"`"), "sparsels_error_argument")
  }
  own <- is_training(object) || object$size_by %in% c("criterion", "min")
  if (by == "criterion" && rule == "min" && is.null(sizes$cv) && own) return(object$size)
  loss <- criterion_loss(object[[if (by == "cv") "cv_criterion" else "criterion"]], sizes[[by]])
  best <- which.min(loss)
  if (rule == "min") return(sizes$size[best])
  se <- sizes[[if (by == "cv") "cv_se" else "se"]][best]
  if (is.na(se)) stop_no_se(object)
  min(sizes$size[which(loss <= loss[best] + se)])
}

stop_no_se <- function(fit) {
  stop_input(sprintf("`rule = \"1se\"` needs a standard error, which the %s does not have",
                     fit$criterion$label))
}

#' @rdname sparse_fit
#' @export
coef.sparse_fit <- function(object, size = NULL, lambda = NULL, ...) {
  check_object(object)
  check_dots(..., known = names(formals(coef.sparse_fit)))
  model <- model_of(object, size, lambda)
  drop_output(rbind(model$covariates, model$beta))
}

#' @rdname sparse_fit
#' @export
predict.sparse_fit <- function(object, newdata, size = NULL, type = c("response", "class", "link"),
                               adjust = NULL, lambda = NULL, ...) {
  check_object(object)
  if (missing(newdata)) stop_no_newdata()
  check_dots(..., known = names(formals(predict.sparse_fit)))
  model <- model_of(object, size, lambda)
  x <- new_data_matrix(object$problem, newdata, model$features)
  z <- new_covariates(object$problem, newdata, adjust)
  respond(object$problem, as.matrix(x %*% model$beta) + z %*% model$covariates, type,
          new_row_names(newdata), object$loss)
}

stop_no_newdata <- function() {
  stop_input("`newdata` must be given: fitted() has the values of the training rows")
}

new_row_names <- function(newdata) {
  if (inherits(newdata, "SummarizedExperiment")) colnames(newdata) else rownames(newdata)
}

# Scores (rows x L) as the type of prediction asked for; `loss` is that of an l1 fit.
respond <- function(problem, score, type, rows = NULL, loss = NULL) {
  type <- choice_or_first(type, "type", c("response", "class", "link"))
  if (type == "class" && problem$task == "regression") {
    stop_input("`type = \"class\"` needs a fit with classes, but the response is numeric")
  }
  missing <- which(is.na(rowSums(score)))
  if (length(missing)) {
    warn_sparsels(sprintf("`newdata` has missing values in %s (first: row %d): NA is predicted",
                          counted(length(missing), "row"), missing[1L]), "sparsels_warning_missing")
  }
  dimnames(score) <- list(rows, colnames(problem$y))
  if (type == "class") return(stats::setNames(class_of(problem, score), rows))
  drop_output(if (type == "response") as_response(score, loss) else score)
}

# Scores on the scale of the response: for the logistic loss probabilities of the second class.
as_response <- function(score, loss) {
  if (identical(loss, "logistic")) stats::plogis(score) else score
}

# the coded response on that scale
response_of <- function(fit) {
  if (identical(fit$loss, "logistic")) (fit$problem$y + 1) / 2 else fit$problem$y
}

# A matrix with one column as a named vector.
drop_output <- function(values) {
  if (ncol(values) == 1L) stats::setNames(values[, 1L], rownames(values)) else values
}

# Scores of models for some rows of a problem: rows x L x models, NA where there is no model.
model_scores <- function(models, problem, rows = seq_len(nrow(problem))) {
  used <- sort(unique(unlist(lapply(models, `[[`, "features"))))
  x <- as.matrix(problem$x[rows, used, drop = FALSE])
  z <- problem$z[rows, , drop = FALSE]
  outputs <- ncol(Find(Negate(is.null), models)$beta)
  scores <- vapply(models, function(model) {
    if (is.null(model)) return(matrix(NA_real_, nrow(x), outputs))
    z %*% model$covariates + x[, match(model$features, used), drop = FALSE] %*% model$beta
  }, matrix(0, nrow(x), outputs))
  array(scores, c(nrow(x), outputs, length(models)))
}

#' @rdname sparse_fit
#' @export
fitted.sparse_fit <- function(object, size = NULL, ...) {
  check_object(object)
  rows_of(object$problem, as_response(fitted_scores(object, as_size(object, size)), object$loss))
}

# Scores of the training rows at one size. A fit has no x: it keeps those of the chosen size and,
# where its search was repeated in folds and they are no more than a million numbers, of the others.
fitted_scores <- function(fit, size) {
  model_of(fit, size)
  if (size == fit$size) return(fit$fitted)
  if (is.null(fit$fitted_sizes)) {
    stop_input(sprintf(
      "the fit keeps the fitted values of size %d alone: predict(fit, x, size = %d)", fit$size, size
    ))
  }
  layer(fit$fitted_sizes, size + 1L)
}

#' @rdname sparse_fit
#' @export
residuals.sparse_fit <- function(object, type = c("response", "held_out"), ...) {
  check_object(object)
  type <- choice_or_first(type, "type", c("response", "held_out"))
  score <- if (type == "held_out") object$held_out else object$fitted
  rows_of(object$problem, response_of(object) - as_response(score, object$loss))
}

# Values of the training rows, under their names.
rows_of <- function(problem, values) {
  dimnames(values) <- list(problem$row_names, colnames(problem$y))
  drop_output(values)
}

#' @rdname sparse_fit
#' @export
nobs.sparse_fit <- function(object, ...) {
  check_object(object)
  nrow(object$problem)
}

# Printing ----------------------------------------------------------------------------------------

#' @rdname sparse_fit
#' @param n Number of rows of the path to print.
#' @export
print.sparse_fit <- function(x, n = 6L, ...) {
  check_object(x)
  n <- check_shown(n)
  cat(sprintf("%s: %s\n", x$method, fit_title(x)))
  print_data(x$problem)
  cat(lambda_words(x), sep = "\n")
  cat(best_words(x), sep = "\n")
  if (x$status != "complete") cat(status_words(x), "\n", sep = "")
  if (n > 0L) print_path(x, n)
  invisible(x)
}

print_data <- function(problem) {
  cat(sprintf("data: %s x %s\n", counted(nrow(problem), "row"), counted(ncol(problem), "column")))
  cat("response: ", response_words(problem), "\n", sep = "")
}

lambda_words <- function(fit) {
  tried <- fit$lambda_table$lambda
  rule <- fit$lambda_rule
  if (length(tried) > 1L) {
    rule <- paste(rule, "from", paste(vapply(tried, format, "", digits = 4), collapse = ", "))
  }
  refit <- if (is.null(fit$path$refit_lambda)) "" else "; coefficients refitted by ridge regression"
  refit_lambda <- chosen_row(fit)$refit_lambda
  at <- if (isTRUE(refit_lambda > 0)) sprintf(" at lambda %s", format(refit_lambda, digits = 4))
  paste0("lambda: ", format(fit$lambda, digits = 4), ", ", rule, refit, at)
}

fit_title <- function(fit) {
  search <- fit$control$search
  by <- paste("by", fit$criterion$label)
  if (is.null(search) || search == "given") return(by)
  sprintf("%s search %s", sub("_", "-", search), by)
}

best_words <- function(fit) {
  row <- chosen_row(fit)
  if (!is.null(row$cv)) return(cv_words(fit, row))
  error <- error_words(fit, row)
  if (is_training(fit)) {
    figure <- sprintf("size %d: %s %s, leave-one-out squared error %s%s", fit$size,
                      fit$criterion$label, format(row$criterion, digits = 4),
                      format(row$squared, digits = 4), error)
    honest <- "  (the set is chosen on all rows: use cross_validate() for an honest estimate)"
    return(c(figure, honest))
  }
  figure <- sprintf("best size: %d, %s %s%s", fit$size, fit$criterion$label,
                    format(row$criterion, digits = 4), error)
  c(figure, optimistic_words)
}

# The size with the held-out error of the whole procedure, what the criterion that chose the columns
# says of the same model, and the error of the procedure that chose this size.
cv_words <- function(fit, row) {
  measure <- told_measure(fit)
  told <- if (measure$name == "error") row$cv_error else row$cv
  criterion <- if (measure$name == "error") row$error else row[[criterion_column(fit)]]
  why <- if (is_training(fit)) "the features were chosen on all rows" else "it chose the features"
  estimate <- if (measure$name == "error") fit$estimate_error else fit$estimate
  c(
    sprintf("%s, cross-validated %s %s%s", size_of_words(fit), measure$words, shown(told),
            se_words(measure$se(row))),
    rule_words(fit, measure),
    sprintf("  (%s)", procedure_words(fit)),
    if (!is.null(estimate) && !is.numeric(fit$size_by)) {
      sprintf("  with the size chosen by the other folds: %s%s", shown(estimate[["mean"]]),
              se_words(estimate[["se"]]))
    },
    if (fit$size > 0L) {
      sprintf("  %s at that size: %s, flattering as %s",
              held_out_label(measure$words, fit$folds$label), shown(criterion), why)
    }
  )
}

# why this size, beside the one with the smallest error
rule_words <- function(fit, measure) {
  smallest <- best_model_words(fit, measure)
  if (fit$size == 0L) {
    return(if (fit$best == 0L || fit$size_by != "cv") "  (no feature is better than none)" else
      sprintf("  (none is clearly better than no feature: %s)", smallest))
  }
  if (!fit$size_by %in% c("cv", "1se") || fit$best == fit$size) return(NULL)
  what <- if (fit$size_by == "cv") "not clearly worse than the best" else
    "the fewest within one standard error of the best"
  sprintf("  (%s, %s)", what, smallest)
}

# the best model of all lambdas: its error, where that is in the path
best_model_words <- function(fit, measure) {
  features <- counted(fit$best, "feature")
  tried <- fit$lambda_table
  lambda <- tried$lambda[which.min(criterion_loss(fit$cv_criterion, tried$cv))]
  if (lambda != fit$lambda) {
    return(sprintf("%s at lambda %s", features, format(lambda, digits = 4)))
  }
  sizes <- size_table(fit)
  column <- if (measure$name == "error") "cv_error" else "cv"
  sprintf("%s with %s", shown(sizes[[column]][match(fit$best, sizes$size)]), features)
}

shown <- function(value) format(value, digits = 3)

se_words <- function(se) if (is.na(se)) "" else sprintf(" (se %s)", format(se, digits = 2))

size_of_words <- function(fit) if (fit$size == 0L) "no feature" else counted(fit$size, "feature")

procedure_words <- function(fit) {
  what <- c("scaling", if (length(fit$lambda_table$lambda) > 1L) "lambda", "search",
            if (!is.null(fit$path$refit_lambda)) "refit")
  what <- paste(paste(what[-length(what)], collapse = ", "), what[length(what)], sep = " and ")
  sprintf("%s repeated without each fold: %s", what, fit$size_folds$label)
}

# The error that is told of a fit: for classes the error rate where it was not the criterion itself.
told_measure <- function(fit) {
  rate <- fit$problem$task != "regression" && fit$cv_criterion$name == "squared"
  if (rate) return(list(name = "error", words = "error rate", se = function(row) row$cv_error_se))
  list(name = "criterion", words = fit$cv_criterion$words, se = function(row) row$cv_se)
}

# the held-out figure of the fit's own that is comparable with its `cv`
criterion_column <- function(fit) if (is_training(fit)) "squared" else "criterion"

optimistic_words <-
  "  (selection criterion, optimistic: use cross_validate() for an honest estimate)"

error_words <- function(fit, row) {
  if (is.null(row$error) || fit$criterion$name == "error") return("")
  sprintf(" (error rate %s)", format(row$error, digits = 3))
}

# whether the criterion is a figure of the training rows
is_training <- function(fit) fit$criterion$name %in% c("r_squared", "explained")

# the columns of a path by lambda that are printed
lambda_columns <- function(fit) {
  c("lambda", "size", if (is_training(fit)) "explained" else c("criterion", "se", "error"))
}

status_words <- function(fit) {
  switch(fit$status,
    early_stop = sprintf("stopped early: no improvement for %d steps (set `k` to go on)",
                         fit$control$patience),
    interrupted = "interrupted: this is the path up to there",
    move_limit = "stopped: the search came to its limit of moves without settling",
    node_limit = "stopped: a search came to its limit of `nodes`, fit$proof has the gaps"
  )
}

print_path <- function(fit, n) {
  cat("path:\n")
  shown <- utils::head(fit$path, n)
  text <- shown[, c("step", "action", "name", "size")]
  text$name <- moved_names(fit, shown)
  figures <- path_figures(fit)
  for (figure in intersect(figures, names(shown))) {
    text[[figure]] <- format(shown[[figure]], digits = 4)
  }
  print(text, row.names = FALSE, right = TRUE)
  more <- nrow(fit$path) - nrow(shown)
  if (more > 0L) cat(sprintf("... and %s, all in fit$path\n", counted(more, "more step")))
}

path_figures <- function(fit) {
  c("criterion", if (is_training(fit)) "squared" else "se", "error", "cv", "cv_se", "cv_error")
}

# the column moved, or the whole of a set that was found at once
moved_names <- function(fit, rows) {
  names <- ifelse(is.na(rows$name), "", rows$name)
  for (row in which(rows$action == "found")) {
    names[row] <- paste(fit$problem$names[fit$coefficients[[rows$size[row] + 1L]]$features],
                        collapse = " ")
  }
  ifelse(nchar(names) > 40L, paste0(substr(names, 1L, 37L), "..."), names)
}

#' @rdname sparse_fit
#' @export
summary.sparse_fit <- function(object, ...) {
  check_object(object)
  structure(list(fit = object, sizes = size_table(object), coefficients = coef(object)),
            class = "summary.sparse_fit")
}

#' @export
print.summary.sparse_fit <- function(x, ...) {
  check_object(x)
  print(x$fit, n = 0L)
  cat("best model of every size:\n")
  if (inherits(x$fit, "l1_path")) {
    figures <- lambda_columns(x$fit)
  } else {
    figures <- c("name", "size", path_figures(x$fit))
    x$sizes$name <- moved_names(x$fit, x$sizes)
  }
  figures <- intersect(figures, names(x$sizes))
  print(x$sizes[, figures], row.names = FALSE, digits = 4)
  cat(sprintf("coefficients at size %d:\n", x$fit$size))
  print(x$coefficients, digits = 4)
  invisible(x)
}
