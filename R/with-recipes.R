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
