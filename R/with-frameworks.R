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
#' come from parsnip. A formula has its interactions, `offset()` and curves `s()` as for the fitter.
#' Rows with missing values are an error unless `set_engine()` has `missing` or `na.action`. Factors
#' are [groups of columns][column_groups], which enter the model of "sparsels" together.
#' Sparse matrices are not accepted.
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

# The models of parsnip by the records of losses: their mode, their loss in each engine that has
# them, with an l1 penalty the loss of the record, and their own arguments, which fitters refuse.
parsnip_models <- function() {
  of_loss <- function(name) lapply(losses[[name]]$parsnip, c, sparsels_l1 = name)
  unlist(lapply(names(losses), of_loss), recursive = FALSE)
}

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
  models <- parsnip_models()
  for (model in intersect(names(models), parsnip::get_model_env()$models)) {
    own <- intersect(names(parsnip_engines), names(models[[model]]))
    for (eng in setdiff(own, parsnip::show_engines(model)$engine)) register_engine(model, eng)
  }
}

register_engine <- function(model, eng) {
  own <- parsnip_models()[[model]]
  mode <- own$mode
  loss <- own[[eng]]
  engine <- parsnip_engines[[eng]]
  parsnip::set_model_engine(model, mode, eng)
  parsnip::set_dependency(model, eng, "sparsels", mode)
  args <- c(engine$args, stats::setNames(own$refused, own$refused))
  for (arg in names(args)) {
    parsnip::set_model_arg(model, eng, arg, args[[arg]], dials_call(arg), has_submodel = FALSE)
  }
  # a data frame of predictors would lose the interactions and the offset of a formula
  parsnip::set_fit(model, mode, eng, list(
    interface = "formula", data = c(formula = "x", data = "data", weights = "weights"),
    protect = c("formula", "data", "weights"), func = c(pkg = "sparsels", fun = engine$fun),
    defaults = c(if (loss != "squared") list(loss = loss), engine$defaults)
  ))
  parsnip::set_encoding(model, mode, eng, list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  predictions <- engine_predictions(mode, loss)
  for (type in names(predictions)) parsnip::set_pred(model, mode, eng, type, predictions[[type]])
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
  names <- setdiff(names(rlang::enquos(...)), "")
  stop_argument_if(length(names), "`%s` is no argument of the step: %s", names[1L],
                   "`options` has the arguments of the method, such as list(k = 10)")
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
  refuse_unless(is.character(outcome), "outcome", "the names of columns, such as \"y\"", outcome)
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

# caret --------------------------------------------------------------------------------------------

#' Greedy feature selection as a model of caret
#'
#' What `caret::train()` takes for `method`: [greedy_rls()] with the number of features and lambda
#' chosen by caret's resampling, for regression, two and several classes.
#'
#' The tuning parameters are `size`, the number of features, and `lambda`, the ridge parameter, as
#' in [greedy_rls()]. One fit has the models of all sizes, so only the largest size of each lambda
#' is fitted in each resample (caret's sub-models). The default grid has all sizes up to 20, or up
#' to the number of columns or half the number of rows. It has `tuneLength` values of lambda from
#' 1/4 to 16 times the number of rows.
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
  by_row <- intersect(names(list(...)), c("adjust", "groups", "offset", "strata", "within"))
  stop_argument_if(length(by_row), "`%s` has a value for each row, and caret gives all: %s",
                   by_row[1L], if (by_row[1L] == "groups")
                     "trainControl(index = groupKFold()) keeps groups together" else
                     "give columns of x, with `penalty = 0` if they are in every model")
  fit_of <- function(...) {
    suppressMessages(
      greedy_rls(x, y, weights = weights, lambda = lambda, refit = refit, ..., progress = FALSE),
      # what is assumed of the data is said once, by the final model
      if (last) "" else "sparsels_message"
    )
  }
  size <- min(size, max(1L, count_varying(x)))
  probabilities <- probabilities || nlevels(y) > 2L
  if (!last && !probabilities) return(fit_of(k = size, size = "criterion", ...))
  fit <- fit_of(size = size, ...)
  if (!last) {
    attr(fit, "smaller") <- lapply(seq_len(size) - 1L, function(size) fit_of(size = size, ...))
  }
  fit
}

# The number of columns of a matrix or a data frame that are not constant.
count_varying <- function(x) {
  sum(vapply(seq_len(ncol(x)), function(j) {
    length(unique(if (is.data.frame(x)) x[[j]] else x[, j])) > 1L
  }, NA))
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

# mlr3 ---------------------------------------------------------------------------------------------

#' Greedy feature selection as learners and a filter of mlr3
#'
#' [greedy_rls()] as the learners "regr.greedy_rls" and "classif.greedy_rls" of the package mlr3 and
#' as the filter "greedy_rls" of mlr3filters. They are in the dictionaries of these packages as soon
#' as both are loaded.
#'
#' **Learners.** Their parameters are the arguments `size`, `lambda`, `criterion`, `folds`,
#' `search`, `refit` and `missing` of [greedy_rls()], with its defaults: the size and lambda are
#' then chosen by the cross-validated error of the whole search. They are typed, so `size` is tuned
#' by `paradox::to_tune(1, 20)`, for instance, and `lambda` by `to_tune(1, 1000, logscale = TRUE)`.
#' `folds` is a number or `"loo"`. Missing values of numbers require `missing = "mean"`. Case
#' weights are the weights of the task; its offset is not used. Factors and character columns are
#' [groups of columns][column_groups], which enter the model together. Ordered factors are coded as
#' factors are, without their order, also as the target: [l1_path()] with `loss = "ordinal"` takes
#' it. The model of a trained learner is the [sparse_fit]. Its `selected_features()` are the
#' features of the task in the model, in the order chosen, and `importance()` has their
#' [variable_importance()], the largest first. Predictions are of type "response" and for classes
#' "prob" ([class_probabilities]).
#'
#' **The filter.** The first `nfeat` features, in the order in which the search adds them, have
#' scores from 1 down. Other features have none. Its parameters are `lambda`, `criterion` and
#' `folds`. Features must be numeric. Case weights are the weights of the task.
#'
#' @seealso [cross_validate()], which needs no other package
#' @examplesIf requireNamespace("mlr3", quietly = TRUE)
#' learner <- mlr3::lrn("regr.greedy_rls", size = 3)
#' task <- mlr3::as_task_regr(mtcars, target = "mpg")
#' learner$train(task)
#' learner$selected_features()
#' learner$predict(task, row_ids = 1:3)
#' @name mlr3_learners
NULL

# R6 objects refer to their own fields by these names.
utils::globalVariables(c("self", "private", "super"))

register_mlr3 <- function(...) {
  mlr3::mlr_learners$add("regr.greedy_rls", function() mlr3_learner("regr"))
  mlr3::mlr_learners$add("classif.greedy_rls", function() mlr3_learner("classif"))
}

# A learner for tasks of type "regr" or "classif". Its class inherits from a class of mlr3, so it is
# made here and not when this package is loaded.
mlr3_learner <- function(type) {
  classes <- type == "classif"
  R6::R6Class(
    paste0("Learner", if (classes) "Classif" else "Regr", "GreedyRLS"),
    inherit = if (classes) mlr3::LearnerClassif else mlr3::LearnerRegr,
    cloneable = TRUE,
    public = list(
      initialize = function() {
        super$initialize(
          id = paste0(type, ".greedy_rls"), packages = "sparsels", param_set = learner_parameters(),
          feature_types = c("logical", "integer", "numeric", "character", "factor", "ordered"),
          predict_types = c("response", if (classes) "prob"),
          properties = c("weights", "missings", "selected_features", "importance",
                         if (classes) c("twoclass", "multiclass")),
          label = "Greedy regularised least-squares", man = "sparsels::mlr3_learners"
        )
      },
      selected_features = function() {
        check_trained(self)
        unique(variables_of(self$model$problem, model_of(self$model)$features))
      },
      importance = function() {
        check_trained(self)
        feature_importance(self$model)
      }
    ),
    private = list(
      .train = function(task) {
        fit_task(task, self$param_set$get_values(tags = "train"), private$.get_weights(task))
      },
      .predict = function(task) {
        newdata <- task_features(task)
        if (self$predict_type == "prob") {
          return(list(prob = stats::predict(self$model, newdata, type = "prob")))
        }
        type <- if (classes) "class" else "response"
        list(response = unname(stats::predict(self$model, newdata, type = type)))
      }
    )
  )$new()
}

check_trained <- function(learner) {
  stop_input_if(is.null(learner$model), "the learner is not trained: it has no features yet")
}

mlr3_filter <- function() {
  R6::R6Class(
    "FilterGreedyRLS",
    inherit = mlr3filters::Filter,
    public = list(
      initialize = function() {
        super$initialize(
          id = "greedy_rls", task_types = c("regr", "classif"),
          param_set = do.call(paradox::ps, search_parameters()),
          feature_types = c("integer", "numeric"), packages = "sparsels",
          label = "Order of greedy selection", man = "sparsels::mlr3_learners"
        )
      }
    ),
    private = list(
      .calculate = function(task, nfeat) {
        k <- min(nfeat, count_varying(task_features(task)))
        fit <- fit_task(task, c(self$param_set$get_values(), k = k, size = "criterion"),
                        task$weights_learner$weight)
        chosen <- selected(fit, size = max(fit$path$size))
        stats::setNames(seq(1, 0, length.out = length(chosen)), chosen)
      }
    )
  )$new()
}

search_parameters <- function() {
  list(lambda = paradox::p_dbl(0, tags = "train"),
       criterion = paradox::p_uty(custom_check = function(x) {
         # what is wrong with a value, or TRUE
         names <- criteria_of_use$search
         if (is.function(x) || is_string(x) && x %in% names) return(TRUE)
         sprintf("must be a function or one of %s", some_of(names, Inf, "\""))
       }, tags = "train"),
       folds = paradox::p_int(2, special_vals = list("loo"), tags = "train"))
}

learner_parameters <- function() {
  do.call(paradox::ps, c(search_parameters(), list(
    size = paradox::p_int(0, special_vals = list("cv", "min", "1se", "criterion"), tags = "train"),
    refit = paradox::p_lgl(tags = "train"),
    search = paradox::p_fct(c("forward", "backward", "floating", "forward_backward"),
                            tags = "train"),
    missing = paradox::p_fct(c("error", "mean"), tags = "train")
  )))
}

task_features <- function(task) as.data.frame(task$data(cols = task$feature_names))

# The fit to a task with the values of its parameters.
fit_task <- function(task, values, weights = NULL) {
  do.call(greedy_rls, c(
    list(quote(task_features(task)), quote(task$truth()), weights = quote(weights)), values,
    if (!is.null(task$groups)) list(groups = quote(task$groups$group)), progress = FALSE
  ))
}
