#' Greedy feature selection as an engine of parsnip
#'
#' The engine "sparsels" of `linear_reg()`, `logistic_reg()` and `multinom_reg()` of the package
#' parsnip fits [greedy_rls()]. It is registered as soon as both packages are loaded.
#'
#' `penalty` is `lambda` of [greedy_rls()], of the order of the number of rows; without it
#' [greedy_rls()] chooses. A `mixture` is refused. All other arguments of [greedy_rls()] and
#' [as_problem()] are given to `set_engine()`, such as `size`, `criterion`, `folds`, `search` and
#' `missing`; case weights come from parsnip. Predictors are a data frame: factors are [groups of
#' columns][column_groups], which enter the model together. The engine's `fit` is `greedy_rls(y ~ .,
#' data)`. Sparse matrices are not accepted.
#'
#' Predictions are of types "numeric" and "pred_int" ([prediction_intervals]), or "class" and "prob"
#' (calibrated, [class_probabilities]), and "raw".
#'
#' `logistic_reg()` and `multinom_reg()` name the kind of response, two classes or several. The
#' model is a ridge regression on the class codes in either case, not a logistic regression.
#'
#' @section Tuning:
#' `penalty = tune()` and, as an engine argument, `size = tune()` are tuned over a `grid` with
#' columns of these names. By default neither needs tuning: the size and lambda are chosen by the
#' cross-validated error of the whole search, at the cost of one fit.
#'
#' @seealso [step_select_sparsels()], which selects columns for any model
#' @examplesIf requireNamespace("parsnip", quietly = TRUE)
#' spec <- parsnip::set_engine(parsnip::linear_reg(), "sparsels", size = 3)
#' fitted <- parsnip::fit(spec, mpg ~ ., mtcars)
#' selected(fitted$fit)
#' predict(fitted, mtcars[1:3, ])
#' @name parsnip_engine
NULL

# The models of parsnip by mode.
parsnip_models <- list(regression = "linear_reg",
                       classification = c("logistic_reg", "multinom_reg"))

register_parsnip <- function(...) {
  for (mode in names(parsnip_models)) {
    for (model in parsnip_models[[mode]]) {
      known <- parsnip::show_engines(model)$engine
      if (!"sparsels" %in% known) register_engine(model, mode)
    }
  }
}

register_engine <- function(model, mode) {
  eng <- "sparsels"
  parsnip::set_model_engine(model, mode, eng)
  parsnip::set_dependency(model, eng, "sparsels", mode)
  # greedy_rls() refuses a mixture, which parsnip would otherwise drop silently
  for (arg in c("penalty", "mixture")) {
    parsnip::set_model_arg(model, eng, arg, c(penalty = "lambda", mixture = "mixture")[[arg]],
                           list(pkg = "dials", fun = arg), has_submodel = FALSE)
  }
  parsnip::set_fit(model, mode, eng, list(
    interface = "data.frame", protect = c("x", "y", "weights"),
    func = c(pkg = "sparsels", fun = "greedy_rls"), defaults = list()
  ))
  parsnip::set_encoding(model, mode, eng, list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  types <- if (mode == "regression") c(numeric = "response", raw = "link") else
    c(class = "class", prob = "prob", raw = "link")
  for (type in names(types)) {
    parsnip::set_pred(model, mode, eng, type, engine_prediction(types[[type]]))
  }
  if (mode == "regression") parsnip::set_pred(model, mode, eng, "pred_int", engine_interval())
}

engine_interval <- function() {
  list(pre = NULL,
       post = function(x, object) {
         as_tibble_class(data.frame(.pred_lower = x[, "lwr"], .pred_upper = x[, "upr"]))
       },
       func = c(fun = "predict"),
       args = list(object = quote(object$fit), newdata = quote(new_data), interval = "prediction",
                   level = quote(level)))
}

engine_prediction <- function(type) {
  list(pre = NULL,
       post = if (type == "prob") function(x, object) as_tibble_class(as.data.frame(x)),
       func = c(fun = "predict"),
       args = list(object = quote(object$fit), newdata = quote(new_data), type = type))
}
