#' Greedy feature selection as a model of caret
#'
#' What `caret::train()` takes for `method`: [greedy_rls()] with the number of features and lambda
#' chosen by caret's resampling, for regression, two and several classes.
#'
#' The tuning parameters are `size`, the number of features, and `lambda`, the ridge parameter, as
#' in [greedy_rls()]. One fit has the models of all sizes, so only the largest size of each lambda
#' is fitted in each resample (caret's sub-models). The default grid has all sizes up to 20, or up
#' to the number of columns or half the number of rows. It has `tuneLength` values of lambda from
#' 1/4 to 16 times the number of rows, the two values that [greedy_rls()] tries.
#'
#' `weights` of `train()` are case weights; further arguments, such as `criterion`, `folds`,
#' `search` and `missing`, go to [greedy_rls()]. Coefficients are refitted on the chosen features,
#' as by default there, unless `refit = FALSE` is among them. `finalModel` is the [sparse_fit] of
#' `greedy_rls(x, y, size = size, lambda = lambda, refit = TRUE)`, with `plot()`, `coef()` and
#' [selected()]; `caret::predictors()` are its features, and `caret::varImp()` has the
#' [variable_importance()] of all columns, 0 of the others.
#'
#' An ordered factor as the response is of classes without order, which the final model says once.
#' [l1_path()] with `loss = "ordinal"` takes their order.
#'
#' Class probabilities are calibrated on held-out scores ([class_probabilities]), which a fit has
#' only for its chosen size. With `classProbs = TRUE` the search is therefore repeated for every
#' smaller size.
#'
#' @format A list with the elements that caret documents for own models: `label`, `library`, `type`,
#'   `parameters`, `grid`, `loop`, `fit`, `predict`, `prob`, `predictors`, `varImp`, `levels`,
#'   `tags`, `sort`.
#' @section Errors: caret turns an error of [greedy_rls()] in a resample into a warning and a
#' missing value. A size above the number of columns that vary in a resample, as after
#' `preProcess = "pca"`, is the largest size there.
#' @seealso [cross_validate()], which repeats the choice of the size in outer folds, as one call of
#'   `train()` does not: the best error of its grid is a little optimistic
#' @examplesIf interactive() && requireNamespace("caret", quietly = TRUE)
#' set.seed(1)
#' trained <- caret::train(mpg ~ ., mtcars, method = caret_greedy_rls, tuneLength = 2,
#'                         trControl = caret::trainControl("cv", number = 3))
#' trained$bestTune
#' selected(trained$finalModel)
#' predict(trained, mtcars[1:3, ])
#' @export
caret_greedy_rls <- list(
  label = "Greedy Regularised Least-Squares",
  library = "sparsels",
  type = c("Regression", "Classification"),
  parameters = data.frame(parameter = c("size", "lambda"), class = "numeric",
                          label = c("Number of Features", "Ridge Parameter")),
  # all sizes are of one fit for each lambda
  grid = function(x, y, len = NULL, search = "grid") {
    largest <- max(1L, min(ncol(x), 20L, nrow(x) %/% 2L))
    lambda <- function(exponent) nrow(x) * 2^exponent
    if (search == "random") {
      sizes <- sample.int(largest, len, replace = TRUE)
      return(data.frame(size = sizes, lambda = lambda(stats::runif(len, -2, 4))))
    }
    exponents <- if (len == 1L) 4 else seq(-2, 4, length.out = len)
    expand.grid(size = seq_len(largest), lambda = lambda(exponents))
  },
  # the rows of a grid that are fitted, the largest size for each lambda, and those read off these
  loop = function(grid) {
    by_lambda <- split(grid, grid$lambda)
    loop <- do.call(rbind, lapply(by_lambda, function(rows) rows[which.max(rows$size), ]))
    submodels <- lapply(by_lambda, function(rows) {
      data.frame(size = setdiff(rows$size, max(rows$size)))
    })
    list(loop = data.frame(loop, row.names = NULL), submodels = unname(submodels))
  },
  fit = function(x, y, wts, param, lev, last, classProbs, ...) { # nolint: object_name_linter.
    caret_fit(x, y, wts, param$size, param$lambda, last, classProbs, ...)
  },
  predict = function(modelFit, newdata, submodels = NULL) { # nolint: object_name_linter.
    type <- if (modelFit$problem$coding$task == "regression") "response" else "class"
    caret_predicted(modelFit, submodels, function(fit, size) {
      stats::predict(fit, newdata, size = size, type = type)
    })
  },
  prob = function(modelFit, newdata, submodels = NULL) { # nolint: object_name_linter.
    caret_predicted(modelFit, submodels, function(fit, size) {
      as.data.frame(stats::predict(fit, newdata, type = "prob"))
    })
  },
  predictors = function(x, ...) selected(x),
  # the importance of every column, 0 of a column that is not in the model
  varImp = function(object, ...) { # nolint: object_name_linter.
    columns <- unique(variables_of(object$problem, seq_len(ncol(object$problem))))
    found <- feature_importance(object)
    importance <- stats::setNames(numeric(length(columns)), columns)
    importance[names(found)] <- found
    data.frame(Overall = importance)
  },
  levels = function(x) x$problem$coding$levels,
  tags = c("Linear Regression", "Linear Classifier", "L2 Regularization",
           "Implicit Feature Selection", "Accept Case Weights"),
  sort = function(x) x[order(x$size, -x$lambda), ]
)

# The fit of one size. The path alone is enough to predict in a resample. Probabilities, which also
# choose among more than two classes, need a fit of each size, whose held-out scores calibrate them.
caret_fit <- function(x, y, weights, size, lambda, last, probabilities, ..., refit = TRUE) {
  fit_of <- function(...) {
    suppressMessages(
      greedy_rls(x, y, weights = weights, lambda = lambda, refit = refit, ..., progress = FALSE),
      # what is assumed of the response is said once, by the final model
      if (last) "" else "sparsels_message_task"
    )
  }
  varied <- vapply(as.data.frame(x), function(column) length(unique(column)) > 1L, NA)
  size <- min(size, max(1L, sum(varied)))
  probabilities <- probabilities || nlevels(y) > 2L
  if (!last && !probabilities) return(fit_of(k = size, size = "criterion", ...))
  fit <- fit_of(size = size, ...)
  if (!last) {
    attr(fit, "smaller") <- lapply(seq_len(size) - 1L, function(size) fit_of(size = size, ...))
  }
  fit
}

# The predictions by the model that caret tries and, if there are `submodels`, by smaller ones.
caret_predicted <- function(fit, submodels, predict) {
  fits <- c(attr(fit, "smaller"), list(fit))
  predicted <- lapply(c(fit$tuneValue$size, submodels$size), function(size) {
    own <- if (length(fits) > 1L) fits[[min(size + 1L, length(fits))]] else fit
    predict(own, min(size, max(own$path$size)))
  })
  if (is.null(submodels)) predicted[[1L]] else predicted
}
