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
#' weights are the weights of the task. Factors and character columns are [groups of
#' columns][column_groups], which enter the model together. Ordered factors are coded as factors
#' are, without their order, also as the target: [l1_path()] with `loss = "ordinal"` takes it. The
#' model of a trained learner is the [sparse_fit]. Its `selected_features()` are the features of the
#' task in the model, in the order chosen, and `importance()` has their [variable_importance()], the
#' largest first. Predictions are of type "response" and for classes "prob" ([class_probabilities]).
#'
#' **The filter.** The first `nfeat` features, in the order in which the search adds them, have
#' scores from 1 down. Other features have none. Its parameters are `lambda`, `criterion` and
#' `folds`. Features must be numeric.
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
        model <- model_of(self$model)
        unique(variables_of(self$model$problem, model$features))
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
        fit <- fit_task(task, c(self$param_set$get_values(), k = nfeat, size = "criterion"))
        chosen <- selected(fit, size = nfeat)
        stats::setNames(seq(1, 0, length.out = length(chosen)), chosen)
      }
    )
  )$new()
}

search_parameters <- function() {
  list(lambda = paradox::p_dbl(0, tags = "train"),
       criterion = paradox::p_uty(custom_check = function(x) {
         # what is wrong with a value, or TRUE
         names <- names(Filter(function(one) "search" %in% one$use, criteria))
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
    if (!is.null(task$groups)) list(groups = quote(task$groups$group)),
    progress = FALSE
  ))
}
