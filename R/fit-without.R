# The models trained without each part of the rows, and their predictions.

# What a fit or a cross-validation keeps of them: `models`, the model without each part; `means`,
# for each model the means of its columns that replace missing values, if any; `pairs`, a row for
# each training `row` and each `part` that holds it out; `residual` (pairs x L), the response of the
# row less its prediction by the model without the part, in the user's units.
# `scores` has the predictions (rows x L) of the `rows` of each part.
models_without <- function(problem, rows, models, scores, means = NULL) {
  pairs <- row_part_pairs(rows)
  residual <- problem$rows$y[pairs$row, , drop = FALSE] - do.call(rbind, scores)
  list(models = models, means = if (!is.null(problem$columns$mean)) means, pairs = pairs,
       residual = in_user_units(problem, residual))
}

row_part_pairs <- function(rows) {
  data.frame(row = unlist(rows), part = rep(seq_along(rows), lengths(rows)))
}

# Scores of the rows of each part by the model of the part (rows x L), where `means` has the column
# means of its training rows.
scores_of_parts <- function(problem, rows, models, means) {
  Map(function(rows, model, fold) {
    means <- if (!is.null(fold)) replace(problem$columns$mean, fold$features, fold$values)
    score <- layer(model_scores(list(model), problem, rows, means), 1L)
    centre_within(scored_rows(problem, rows), score)
  }, rows, models, if (is.null(means)) list(NULL) else means)
}

# Predictions of new rows by the models without each part: a list with `at`, a function of some rows
# of `newdata` that gives their scores (rows x L x parts), `pairs` as in models_without(), and
# `held`, the scores of the rows of the pairs by the models without them (pairs x L). Without
# `newdata` there is no `at`.
predictions_without <- function(fit, newdata, adjust = NULL) UseMethod("predictions_without")

#' @exportS3Method
predictions_without.sparsels_fit <- function(fit, newdata, # nolint: object_name_linter.
                                             adjust = NULL) {
  stop_no_models_without(fit)
}

#' @exportS3Method
predictions_without.sparse_fit <- function(fit, newdata, # nolint: object_name_linter.
                                           adjust = NULL) {
  if (is.null(fit$fold_models)) stop_no_models_without(fit)
  scores <- if (!is.null(newdata)) {
    scores_of_column_models(fit$fold_models, fit$problem, newdata, adjust)
  }
  by_kept_models(fit$fold_models, fit$problem, scores)
}

#' @exportS3Method
predictions_without.cv_result <- function(fit, newdata, # nolint: object_name_linter.
                                          adjust = NULL) {
  kept <- fit$fold_models
  if (is.null(kept)) stop_not_kept(fit)
  scores <- if (is.null(newdata)) NULL else if (is_column_model(kept$models[[1L]])) {
    scores_of_column_models(kept, fit$fit$problem, newdata, adjust)
  } else {
    each <- lapply(kept$models, chosen_new_scores, fit$problem, newdata, adjust)
    array(unlist(each), c(dim(each[[1L]])[-3L], length(each)))
  }
  by_kept_models(kept, fit$problem, scores)
}

# The value of predictions_without() from the scores of all new rows by the models kept.
by_kept_models <- function(kept, problem, scores) {
  residual <- in_working_units(problem, kept$residual, offset = NULL)
  list(at = function(rows) scores[rows, , , drop = FALSE], pairs = kept$pairs,
       held = problem$rows$y[kept$pairs$row, , drop = FALSE] - residual)
}

stop_no_models_without <- function(fit) {
  why <- if (fit$status == "interrupted") {
    "the fit was interrupted before all its folds were done: fit it again"
  } else if (is.null(fit$size_folds) && is.null(fit$folds)) {
    "nothing was held out: give `folds`, or use predict(cross_validate(...), interval = )"
  } else {
    paste("no fold repeated the choice of columns or prototypes, which were chosen on all rows:",
          "fit with `size = \"cv\"`, if there is one, or use",
          "predict(cross_validate(...), interval = )")
  }
  stop_argument(paste("intervals and sets need the models without each fold:", why))
}

stop_not_kept <- function(cvd) {
  stop_argument(paste("intervals and sets need the models of the outer folds:",
                      if (cvd$status == "interrupted") "the cross-validation was interrupted" else
                        "give cross_validate() `keep = TRUE`, which keeps the fits of this method"))
}

# Models of columns, which fits and cross-validations keep without their fit.
is_column_model <- function(model) {
  !is.object(model) && identical(names(model)[1:2], c("features", "beta"))
}

# The scores of new rows by the chosen model of a fit of any method, rows x L x 1.
chosen_new_scores <- function(fit, problem, newdata, adjust) {
  if (inherits(fit, "sparsels_fit")) {
    return(scores_of_models(fit, list(model_of(fit)), newdata, adjust))
  }
  x <- new_data_matrix(problem, newdata, seq_len(ncol(problem)))
  score <- prediction_scores(stats::predict(fit, x), problem)
  array(score, c(dim(score), 1L))
}

# Scores of new rows by the model of columns of each part, rows x L x parts.
scores_of_column_models <- function(kept, problem, newdata, adjust) {
  used <- used_features(kept$models)
  x <- new_values(problem, newdata, used)
  scores_by <- function(models, problem) {
    column_scores(models, complete_new(problem, x, used), used,
                  new_covariates(problem, newdata, adjust))
  }
  if (is.null(problem$columns$mean)) return(scores_by(kept$models, problem))
  each <- Map(function(model, means) {
    problem$columns$mean[means$features] <- means$values
    scores_by(list(model), problem)
  }, kept$models, kept$means)
  array(unlist(each), c(dim(each[[1L]])[-3L], length(each)))
}

# The value of predictions_without() for the training rows as new rows. A row must not meet a model
# that it was trained on: all its predictions are its held-out prediction, the mean over its parts.
predictions_of_own_rows <- function(object) {
  without <- predictions_without(object, NULL)
  rows <- factor(without$pairs$row, seq_len(nrow(object$problem)))
  total <- rowsum(without$held, rows)
  score <- matrix(NA_real_, nrow(object$problem), ncol(total))
  score[as.integer(rownames(total)), ] <- total / tabulate(rows)[as.integer(rownames(total))]
  parts <- max(without$pairs$part)
  without$at <- function(rows) {
    array(score[rows, ], c(length(rows), ncol(score), parts))
  }
  c(without, list(score = score, unit = units_without(object)))
}

# The units of rows of the parts of some folds.
units_without <- function(object) {
  folds <- if (is.null(object$size_folds)) object$folds else object$size_folds
  unit <- if (inherits(folds, "sparsels_folds")) gain_units(object$problem, folds) else
    whole_units(object$problem)
  if (is.null(unit)) seq_len(nrow(object$problem)) else unit
}
