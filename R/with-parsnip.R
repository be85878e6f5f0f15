#' Selected features and l1 penalties as engines of parsnip
#'
#' The engines "sparsels", which fits [greedy_rls()], and "sparsels_l1", which fits [l1_path()], of
#' `linear_reg()`, `logistic_reg()`, `multinom_reg()`, `ordinal_reg()`, `poisson_reg()` and
#' `proportional_hazards()` of the package parsnip. They are registered as soon as both packages are
#' loaded.
#'
#' `penalty` is `lambda` of the fitter, in its units: of the order of the number of rows, not
#' divided by it. Without `penalty` the fitter chooses. `mixture` is `alpha` of [l1_path()]; the
#' engine "sparsels" refuses it. All other arguments of the fitter and of [as_problem()] are given
#' to `set_engine()`, such as `size`, `criterion`, `folds`, `search` and `missing`; case weights
#' come from parsnip. Predictors are a data frame: factors are [groups of columns][column_groups],
#' which enter the model of "sparsels" together. Sparse matrices are not accepted.
#'
#' | **Model** | **"sparsels"** | **"sparsels_l1"** | **Predictions** |
#' |---|---|---|---|
#' | `linear_reg()` | squares | squares | "numeric", "pred_int", "raw" |
#' | `logistic_reg()` | squares of class codes | `"logistic"` | "class", "prob", "raw" |
#' | `multinom_reg()` | squares of class codes | `"multinomial"` | "class", "prob", "raw" |
#' | `ordinal_reg()` | | `"ordinal"` | "class", "prob", "raw" |
#' | `poisson_reg()` | `"poisson"` | `"poisson"` | "numeric", "raw" |
#' | `proportional_hazards()` | `"cox"` | `"cox"` | "linear_pred", "survival" |
#'
#' The classifiers of "sparsels" are ridge regressions on class codes, whose probabilities are
#' calibrated ([class_probabilities]). Intervals are [prediction_intervals]. The engine
#' "sparsels_l1" has `folds = 10` unless `set_engine()` has other folds, or `folds = NULL` where a
#' `penalty` is given and no held-out error is wanted.
#'
#' `multinom_reg()` ignores the order of an ordered factor. `ordinal_reg()`, which newer versions of
#' parsnip have, takes it by proportional odds, or with `loss = "ordinal(probit)"` of `set_engine()`
#' by the probit link. Its own arguments of links, odds and thresholds are refused.
#'
#' `proportional_hazards()` has the response `survival::Surv(time, status)`. As in the package
#' censored, "linear_pred" is larger for later events, minus the logarithm of the relative hazard.
#' "survival" requires `eval_time`. There is no prediction of type "time".
#'
#' @section Tuning:
#' `penalty = tune()` and, as an engine argument of "sparsels", `size = tune()` are tuned over a
#' `grid` with columns of these names, by default `dials::penalty()` from 1 to 10000 and
#' `dials::num_terms()`. By default neither needs tuning: the size and lambda are chosen by the
#' cross-validated error of the whole search, at the cost of one fit.
#'
#' @seealso [step_select_sparsels()], which selects columns for any model
#' @examplesIf requireNamespace("parsnip", quietly = TRUE)
#' spec <- parsnip::set_engine(parsnip::linear_reg(), "sparsels", size = 3)
#' fitted <- parsnip::fit(spec, mpg ~ ., mtcars)
#' selected(fitted$fit)
#' predict(fitted, mtcars[1:3, ])
#' @srrstats {ML3.0} In part: data are a stage of their own. Methods are functions with arguments,
#'   and parsnip's engines specify without fitting
#' @srrstats {ML3.0a} In part: `parsnip::set_engine()`
#' @srrstats {ML3.0c} `fit()` of parsnip
#' @srrstats {ML3.0d} parsnip prints it
#' @srrstats {ML6.1} engines and steps in recipes, parsnip, caret and mlr3
#' @name parsnip_engine
NULL

# The models of parsnip: their mode, their loss in each engine that has them, and their own
# arguments, which fitters refuse.
parsnip_models <- list(
  linear_reg = list(mode = "regression", sparsels = "squared", sparsels_l1 = "squared"),
  logistic_reg = list(mode = "classification", sparsels = "squared", sparsels_l1 = "logistic"),
  multinom_reg = list(mode = "classification", sparsels = "squared", sparsels_l1 = "multinomial"),
  ordinal_reg = list(
    mode = "classification", sparsels_l1 = "ordinal",
    refused = c("ordinal_link", "odds_link", "threshold_structure", "parallel_reg")
  ),
  poisson_reg = list(mode = "regression", sparsels = "poisson", sparsels_l1 = "poisson"),
  proportional_hazards = list(mode = "censored regression", sparsels = "cox", sparsels_l1 = "cox")
)

# The fitter of each engine, its own defaults and its names of parsnip's arguments. greedy_rls()
# refuses a mixture, which parsnip would otherwise drop silently.
parsnip_engines <- list(
  sparsels = list(fun = "greedy_rls", defaults = list(),
                  args = c(penalty = "lambda", mixture = "mixture", size = "size")),
  sparsels_l1 = list(fun = "l1_path", defaults = list(folds = 10),
                     args = c(penalty = "lambda", mixture = "alpha"))
)

# What the objects of dials have beside the argument's name. Lambda is not divided by the number of
# rows, so dials' usual range is too small.
dials_objects <- list(penalty = list(range = c(0, 4)), size = list(fun = "num_terms"))

# The call that makes the object of an argument, as parsnip and recipes read it.
dials_call <- function(arg) {
  utils::modifyList(list(pkg = "dials", fun = arg), as.list(dials_objects[[arg]]))
}

register_parsnip <- function(...) {
  for (model in intersect(names(parsnip_models), parsnip::get_model_env()$models)) {
    own <- intersect(names(parsnip_engines), names(parsnip_models[[model]]))
    for (eng in setdiff(own, parsnip::show_engines(model)$engine)) register_engine(model, eng)
  }
}

register_engine <- function(model, eng) {
  mode <- parsnip_models[[model]]$mode
  loss <- parsnip_models[[model]][[eng]]
  engine <- parsnip_engines[[eng]]
  parsnip::set_model_engine(model, mode, eng)
  parsnip::set_dependency(model, eng, "sparsels", mode)
  refused <- parsnip_models[[model]]$refused
  args <- c(engine$args, stats::setNames(refused, refused))
  for (arg in names(args)) {
    parsnip::set_model_arg(model, eng, arg, args[[arg]], dials_call(arg), has_submodel = FALSE)
  }
  censored <- mode == "censored regression"
  interface <- if (censored) {
    list(interface = "formula", data = c(formula = "x", data = "data", weights = "weights"),
         protect = c("formula", "data", "weights"))
  } else {
    list(interface = "data.frame", protect = c("x", "y", "weights"))
  }
  parsnip::set_fit(model, mode, eng, c(interface, list(
    func = c(pkg = "sparsels", fun = engine$fun),
    defaults = c(if (loss != "squared") list(loss = loss), engine$defaults)
  )))
  parsnip::set_encoding(model, mode, eng, list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  predictions <- engine_predictions(mode, loss)
  for (type in names(predictions)) {
    parsnip::set_pred(model, mode, eng, type, predictions[[type]])
  }
}

# The predictions of a mode by their types in parsnip.
engine_predictions <- function(mode, loss) {
  by <- function(..., post = NULL) {
    list(pre = NULL, post = post, func = c(fun = "predict"),
         args = list(object = quote(object$fit), newdata = quote(new_data), ...))
  }
  switch(mode,
    regression = c(list(numeric = by(type = "response"), raw = by(type = "link")),
                   if (loss == "squared") {
                     list(pred_int = by(interval = "prediction", level = quote(level),
                                        post = function(x, object) {
                       as_tibble_class(data.frame(.pred_lower = x[, "lwr"],
                                                  .pred_upper = x[, "upr"]))
                     }))
                   }),
    classification = list(class = by(type = "class"), raw = by(type = "link"),
                          prob = by(type = "prob", post = function(x, object) {
                            as_tibble_class(as.data.frame(x))
                          })),
    # a larger linear predictor is a later event in parsnip
    list(linear_pred = by(type = "link", post = function(x, object) -unname(x)),
         survival = by(type = "survival", times = quote(eval_time), post = survival_tables))
  )
}

# Survival curves (rows x times) as a column of tables, each with a row for each time.
survival_tables <- function(curves, object) {
  times <- as.numeric(colnames(curves))
  tables <- lapply(seq_len(nrow(curves)), function(row) {
    as_tibble_class(data.frame(.eval_time = times, .pred_survival = unname(curves[row, ])))
  })
  as_tibble_class(list2DF(list(.pred = tables)))
}
