# Deviance and likelihood of the models of a fit on its training rows.

#' Deviance and log likelihood of a fit
#'
#' How well a model of a fit describes the rows it was trained on, in the measures of R's modelling
#' functions.
#'
#' Both are computed on the training rows, and are too small for a model whose features were
#' selected by them: the degrees of freedom do not count the selection. AIC and BIC of a selected
#' model are therefore too small. The held-out errors of the path,
#' [as.data.frame()][as.data.frame.sparsels_fit], do not have this fault.
#'
#' @param object A fit.
#' @param size,lambda Which models, as in [coef()][sparsels_fit]; `deviance()` also takes several.
#' @param newdata,adjust The data that the fit was made from, and their covariates where
#'   [predict()][sparsels_fit] needs them. Only needed for a model whose fitted values the fit does
#'   not keep; the error message says so.
#' @param ... Not used.
#'
#' @return `deviance()`: the weighted residual sum of squares, as [stats::deviance()] of an `lm`,
#'   over all responses, each divided by its standard deviation if [as_problem()] has standardised
#'   several. Classes are coded -1 and +1. With `loss = "logistic"`, minus twice the log likelihood,
#'   as for a `glm`. The penalty is not in it. For several models a vector, named by size or lambda.
#'
#'   `logLik()`: the log likelihood of a model that maximises it, as [stats::logLik()] of the `lm`
#'   or `glm` with the same columns: of least squares without a penalty (`lambda = 0`, as
#'   [forward_regression()] and [best_subset()] have by default) for one numeric response, and of
#'   models with covariates only. Its `df` counts the coefficients, and for least squares the
#'   variance. `AIC(fit)` and `BIC(fit)` follow; of another model take `AIC(logLik(fit, size = 2))`.
#'
#' @section Errors: `sparsels_error_input` for the hinge loss, which has no deviance; for `logLik()`
#'   of a penalised model, of classes by least squares and of several responses; and where `newdata`
#'   are needed.
#' @seealso [sparsels_fit], [formula()][formula.sparsels_fit] to fit the chosen columns by
#'   [stats::lm()]
#' @examples
#' fit <- forward_regression(mpg ~ ., mtcars, k = 4)
#' deviance(fit, size = 0:4)
#' logLik(fit)
#' logLik(lm(formula(fit), mtcars))
#' sapply(1:4, function(size) BIC(logLik(fit, size)))
#' @name deviance.sparsels_fit
NULL

#' @rdname deviance.sparsels_fit
#' @importFrom stats deviance
#' @export
deviance.sparsels_fit <- function(object, size = NULL, lambda = NULL, newdata = NULL,
                                  adjust = NULL, ...) {
  check_sealed(object)
  check_dots(..., known = c("size", "lambda", "newdata", "adjust"))
  if (identical(object$loss, "hinge")) {
    stop_input("the hinge loss has no deviance: fit$path has its objective and held-out errors")
  }
  models <- models_asked(object, size, lambda)
  values <- if (is.null(newdata)) {
    vapply(models, kept_deviance, 0, fit = object)
  } else {
    deviance_of_scores(object, training_scores(object, models, newdata, adjust))
  }
  if (length(models) == 1L) unname(values) else stats::setNames(values, names(models))
}

training_scores <- function(fit, models, newdata, adjust) {
  scores <- scores_of_models(fit, models, newdata, adjust)
  rows <- nrow(fit$problem)
  if (nrow(scores) != rows) {
    stop_newdata("`newdata` must be the %d rows that the fit was made from, not %d rows", rows,
                 nrow(scores))
  }
  scores
}

# The deviance of each model from its scores, rows x L x models.
deviance_of_scores <- function(fit, scores) {
  loss <- if (is.null(fit$loss)) "squared" else fit$loss
  y <- centre_within(fit$problem, fit$problem$y)
  of_rows <- 2 * l1_loss(loss, as.vector(y), centre_within(fit$problem, scores))
  colSums(fit$problem$weights * of_rows, dims = 2L)
}

# The deviance of a model from the contents of a fit: errors of the training rows in the path, or
# fitted values.
kept_deviance <- function(fit, model) {
  row <- fit$path[model$step + 1L, ]
  weights <- fit$problem$weights
  # the ratio of a model whose coefficients were removed afterwards is only a bound
  if (!is.null(row$dev_ratio) && !isTRUE(row$removed > 0L)) {
    return(2 * (1 - row$dev_ratio) * fit$null_objective)
  }
  if (!is.null(row$training)) return(row$training * ncol(fit$problem$y) * sum(weights))
  scores <- kept_scores(fit, model)
  if (!is.null(scores)) return(deviance_of_scores(fit, array(scores, c(dim(scores), 1L))))
  if (fit$criterion$name == "r_squared" && is_unpenalised(fit, model)) {
    return((1 - row$criterion) * sum(working_response(fit$problem)^2))
  }
  stop_input(sprintf("the fit keeps no fitted values of this model of size %d: %s",
                     length(model$features), "give `newdata`, the data it was made from"))
}

# Likelihood --------------------------------------------------------------------------------------

#' @rdname deviance.sparsels_fit
#' @importFrom stats logLik
#' @export
logLik.sparsels_fit <- function(object, size = NULL, lambda = NULL,
                                newdata = NULL, adjust = NULL, ...) {
  check_sealed(object)
  model <- model_of(object, size, lambda)
  check_likelihood(object, model)
  deviance <- deviance(object, size, lambda, newdata, adjust, ...)
  weights <- object$problem$weights
  weights <- weights[weights > 0]
  m <- length(weights)
  coefficients <- length(model$features) + ncol(object$problem$z)
  logistic <- identical(object$loss, "logistic")
  value <- if (logistic) -deviance / 2 else
    (sum(log(weights)) - m * (log(2 * pi) + 1 - log(m) + log(deviance))) / 2
  structure(value, df = coefficients + !logistic, nobs = m, class = "logLik")
}

# whether no coefficient of a model is shrunk
is_unpenalised <- function(fit, model) {
  if (inherits(fit, "sparse_fit") && !length(model$features)) return(TRUE)
  refit <- fit$path$refit_lambda[model$step + 1L]
  inherits(fit, "sparse_fit") && fit$lambda == 0 && (is.null(refit) || is.na(refit) || refit == 0)
}

check_likelihood <- function(fit, model) {
  problem <- fit$problem
  logistic <- identical(fit$loss, "logistic")
  instead <- "compare models by their held-out errors, as.data.frame(fit)"
  why <- if (identical(fit$loss, "hinge")) {
    "the hinge loss is not the logarithm of a likelihood"
  } else if (!is_unpenalised(fit, model)) {
    "the model is penalised, and maximises no likelihood"
  } else if (problem$task != "regression" && !logistic) {
    "least squares on the codes of classes maximises no likelihood of the classes"
  } else if (is_ranked(problem)) {
    "a ranking says nothing of the level of a query"
  } else if (ncol(problem$y) > 1L) {
    sprintf("the fit has %d responses", ncol(problem$y))
  }
  if (!is.null(why)) stop_input(sprintf("no log likelihood: %s; %s", why, instead))
}
