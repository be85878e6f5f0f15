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

# Recipes ------------------------------------------------------------------------------------------

#' Select columns in a recipe
#'
#' A step of a recipe of the package recipes that keeps the columns which a method of this package
#' selects for the outcome, and removes the others. It is trained again whenever the recipe is, as
#' in each resample of `tune::fit_resamples()`, so the selection is part of the resampling.
#'
#' `prep()` fits `method` to the columns selected by `...`, which must be numeric
#' (`recipes::step_dummy()` makes them so), and the outcome; `bake()` removes the columns that are
#' not in the model of the chosen size. The outcome is not needed to bake. Case weights of the
#' recipe are case weights of the fit, importance and frequency weights alike. If the method selects
#' no column, all are removed, with a warning of class `sparsels_warning_empty`.
#'
#' One fit has the models of all sizes, but tune trains a recipe for every value of `size = tune()`.
#' The method's own choice of the size, the default, takes one.
#'
#' @param recipe A recipe.
#' @param ... Selectors of the columns to choose among, such as `recipes::all_predictors()`.
#' @param role Not used: no column is made.
#' @param trained Whether the step has been trained; set by `prep()`.
#' @param groups `NULL`, or the name of the column that says which rows belong together, such as the
#'   samples of a patient: they are kept together in the folds of the method, see [row_groups]. Give
#'   the column a role of its own, by `update_role()`, so that it is not among the predictors.
#' @param outcome The names of the outcome or outcomes; `NULL`, the default: the columns whose role
#'   is "outcome". Several must be numeric.
#' @param method What selects: a fitter of columns such as [greedy_rls()], the default,
#'   [forward_regression()], [poss()] or [best_subset()]; [l1_path()] with `folds` or one `lambda`;
#'   [l1_size()] for a `size`; or your own function as for [cross_validate()] whose result
#'   [selected()] takes.
#' @param size,lambda The arguments of `method` of these names, which may be `tune()`; `NULL` leaves
#'   the choice to the method.
#' @param options A named list of further arguments of `method` or of [as_problem()], such as
#'   `list(folds = 10, missing = "mean")`.
#' @param fit The fit; set by `prep()`.
#' @param removals The names of the columns to remove; set by `prep()`.
#' @param skip Whether the step is skipped when new data are baked.
#' @param id A unique name of the step.
#'
#' @return The recipe with the step added. The trained step has the fit in `fit`. Its `tidy()` has a
#'   row per column with `terms`, `removed`, `order` (in which it was chosen, `NA` where it was
#'   not) and `id`; before training, a row per selector.
#'
#' @section Tuning: `size` and `lambda` are tunable by `dials::num_terms()` and by
#' `dials::penalty()` from 1 to 10000: lambda of [greedy_rls()] is of the order of the number of
#' rows.
#'
#' @section Errors:
#' `sparsels_error_input` without an outcome, for outcomes that are not in the data, among the
#' columns to choose from or several that are not numeric, and for unknown arguments; errors of
#' `method` as it makes them.
#' @seealso [greedy_rls()], [selected()]; [cross_validate()], which needs no other package
#' @examplesIf interactive() && requireNamespace("recipes", quietly = TRUE)
#' rec <- recipes::recipe(mpg ~ ., mtcars)
#' rec <- recipes::step_normalize(rec, recipes::all_predictors())
#' rec <- step_select_sparsels(rec, recipes::all_predictors(), size = 3)
#' rec <- recipes::prep(rec)
#' names(recipes::bake(rec, mtcars[1:3, ]))
#' tidy(rec, 2)
#' @srrstats {G2.14c} `missing = "mean"`, with means of training rows. `step_select_sparsels()`
#'   after any imputation of recipes
#' @srrstats {ML1.7a} In part: means only. Other imputation by recipes before
#'   `step_select_sparsels()`
#' @export
step_select_sparsels <- function(recipe, ..., role = NA, trained = FALSE, outcome = NULL,
                                 groups = NULL, method = greedy_rls, size = NULL, lambda = NULL,
                                 options = list(), fit = NULL, removals = NULL, skip = FALSE,
                                 id = recipes::rand_id("select_sparsels")) {
  need_package("recipes")
  check_given(recipe, "recipe")
  refuse_unless(inherits(recipe, "recipe"), "recipe", "a recipe", recipe)
  check_flag(trained, "trained")
  check_flag(skip, "skip")
  refuse_unless(is_string(id), "id", "a string", id)
  if (!is_string(role) && !identical(role, NA)) refuse("role", "a string or NA", role)
  check_method(method)
  named <- is.list(options) && length(unique(names(options))) == length(options) &&
    !"" %in% names(options)
  refuse_unless(named, "options", "a list of arguments with their names", options)
  own <- intersect(names(options), c("size", "lambda", "weights"))
  stop_argument_if(length(own), "`options` must not have %s: %s", some_of(own, quote = "`"),
                   if ("weights" %in% own) "the recipe has case weights" else
                     "the step has an argument for it")
  recipes::add_step(recipe, recipes::step(
    subclass = "select_sparsels", terms = rlang::enquos(...), role = role, trained = trained,
    outcome = outcome, groups = groups, method = method, size = size, lambda = lambda,
    options = options, fit = fit, removals = removals, skip = skip, id = id, case_weights = NULL
  ))
}

#' @exportS3Method recipes::prep
prep.step_select_sparsels <- function(x, training, info = NULL, ...) { # nolint: object_name_linter.
  columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  recipes::check_type(training[, columns], types = c("double", "integer"))
  outcome <- step_outcome(x$outcome, columns, training, info)
  weights <- recipes::get_case_weights(info, training)
  x$case_weights <- recipes::are_weights_used(weights)
  x$trained <- TRUE
  x$removals <- character()
  if (length(columns)) {
    groups <- x$groups
    if (!is.null(groups)) {
      stop_input_if(!is_string(groups) || !groups %in% names(training),
                    "`groups` must name a column of the recipe, not %s", describe(groups))
      groups <- as.character(training[[groups]])
    }
    x$fit <- fit_step(x, training[columns], training[outcome], weights, groups)
    chosen <- selected(x$fit)
    warn_if(!length(chosen), "sparsels_warning_empty",
            "step '%s' chose no column: all %d are removed", x$id, length(columns))
    x$removals <- setdiff(columns, chosen)
  }
  x
}

# The fit of the step's method to columns and outcomes in data frames.
fit_step <- function(step, columns, outcome, weights, groups) {
  x <- as.matrix(columns)
  y <- if (length(outcome) > 1L) as.matrix(outcome) else outcome[[1L]]
  given <- c(step[c("size", "lambda")], step$options,
             list(weights = as.double(weights), groups = groups))
  given <- given[lengths(given) > 0L]
  fit_run(do.call(as_run, c(
    list(quote(x), quote(y), step$method), quoted(given),
    list(data = NULL, expressions = list(y = as.name(names(outcome)[1L])), known = "options")
  )))
}

# The names of the outcome: as given, or the columns with the role of an outcome.
step_outcome <- function(outcome, columns, training, info) {
  if (is.null(outcome)) {
    outcome <- info$variable[info$role %in% "outcome"]
    stop_input_if(!length(outcome),
                  "the recipe has no column of role 'outcome': name one by `outcome`")
  }
  refuse_unless(is.character(outcome), "outcome", "the names of columns", outcome)
  absent <- setdiff(outcome, names(training))
  stop_input_if(length(absent), "`outcome` must be of the recipe's columns, but %s is not",
                some_of(absent))
  both <- intersect(outcome, columns)
  stop_input_if(length(both), "%s is an outcome and cannot be among the columns to select from",
                some_of(both))
  numeric <- vapply(training[outcome], is.numeric, NA)
  stop_input_if(length(outcome) > 1L && !all(numeric),
                "several outcomes must be numeric, but %s is not", some_of(outcome[!numeric]))
  outcome
}

#' @exportS3Method recipes::bake
bake.step_select_sparsels <- function(object, new_data, ...) { # nolint: object_name_linter.
  new_data[!names(new_data) %in% object$removals]
}

#' @export
print.step_select_sparsels <- function(x, width = max(20, getOption("width") - 36), ...) {
  title <- paste("Selection by sparsels", if (x$trained) "removing " else "among ")
  recipes::print_step(x$removals, x$terms, x$trained, title, width, case_weights = x$case_weights)
  invisible(x)
}

#' @export
tidy.step_select_sparsels <- function(x, ...) {
  table <- data.frame(terms = recipes::sel2char(x$terms), removed = NA, order = NA_integer_)
  if (recipes::is_trained(x)) {
    columns <- if (is.null(x$fit)) character() else x$fit$problem$columns$name
    table <- data.frame(terms = columns, removed = columns %in% x$removals,
                        order = if (length(columns)) match(columns, selected(x$fit)) else integer())
  }
  table$id <- rep(x$id, nrow(table))
  as_tibble_class(table)
}

#' @exportS3Method generics::tunable
tunable.step_select_sparsels <- function(x, ...) { # nolint: object_name_linter.
  table <- data.frame(name = c("size", "lambda"))
  table$call_info <- lapply(c("size", "penalty"), dials_call)
  table[c("source", "component", "component_id")] <- list("recipe", "step_select_sparsels", x$id)
  as_tibble_class(table)
}

#' @exportS3Method generics::required_pkgs
required_pkgs.step_select_sparsels <- function(x, ...) { # nolint: object_name_linter.
  "sparsels"
}
