# The classes of scores: of two classes the sign of the score, of more the largest probability.

# Whether the classes of a fit are the ones with the largest calibrated probability: three or more
# classes, unless the scores are logits, of which the largest has the largest probability.
is_by_probability <- function(fit) {
  inherits(fit, "sparsels_fit") && fit$problem$coding$task == "multiclass" &&
    calibration_kind(fit, NULL) != "none"
}

# Whether a fit has probabilities for its classes. Nothing can be calibrated without rows held out,
# nor where the chosen model has no columns, of which the largest score is the majority.
has_class_rule <- function(fit) {
  is_by_probability(fit) && !is.null(fit$held_out) && !all(is.na(fit$held_out)) &&
    !is_empty_model(model_of(fit))
}

is_empty_model <- function(model) "features" %in% names(model) && !length(model$features)

# A function that gives the number of the class of each row of scores (rows x L), calibrated on the
# held-out scores of some rows of the problem of a fit.
class_rule <- function(fit, problem = fit$problem, rows = scored_places(fit)) {
  if (!has_class_rule(fit)) return(function(score) class_number(problem, score))
  map <- calibrated(fit, rows = rows)
  function(score) most_probable(problem, map(score))
}

# The number of the class with the largest probability, times its class weight.
most_probable <- function(problem, p) {
  weight <- if (is.null(problem$coding$class_weights)) 1 else unname(weights_of_classes(problem))
  first_largest(p * rep_len(weight, ncol(p))[col(p)])
}

# the rule without some rows, by which these rows are classified
rule_without <- function(fit, rows) class_rule(fit, rows = places_without(fit, rows))

# The places of the scores that calibrate a fit without some rows. Where Ctrl-C left the scores of
# these rows only, there are no others.
places_without <- function(fit, rows) {
  places <- scored_places(fit)
  others <- setdiff(places, rows)
  if (length(others)) others else places
}

# A function of scores and of the model that they come from. A model without columns has the class
# of the largest score.
class_rule_of_models <- function(fit) {
  rule <- class_rule(fit)
  function(score, model) {
    if (is_empty_model(model)) class_number(fit$problem, score) else rule(score)
  }
}

# The number of the class of each row by its held-out score, NULL for numbers.
held_out_classes <- function(fit) {
  if (fit$problem$coding$task == "regression" || is.null(fit$held_out)) return(NULL)
  if (!has_class_rule(fit)) return(class_number(fit$problem, fit$held_out))
  most_probable(fit$problem, held_out_probabilities(fit))
}

# The probabilities of the classes of each row by its held-out score. Of three and more classes they
# are calibrated without the fold of the row.
held_out_probabilities <- function(fit) {
  if (!has_class_rule(fit)) return(calibrated(fit)(fit$held_out))
  p <- 0 * fit$held_out
  for (rows in split(seq_len(nrow(p)), rule_folds(fit))) {
    map <- calibrated(fit, rows = places_without(fit, rows))
    p[rows, ] <- map(fit$held_out[rows, , drop = FALSE])
  }
  p
}

# The folds of the rows for which rules are made: the folds of the fit, or ten parts of the rows
# where it left out one row, or one of more than twenty groups, at a time.
rule_folds <- function(fit) {
  folds <- if (is.null(fit$size_folds)) fit$folds else fit$size_folds
  ids <- folds$ids[, 1L]
  if (is.null(ids)) ids <- seq_len(nrow(fit$problem))
  if (length(unique(ids)) > 20L) (ids - 1L) %% 10L else ids
}

# the error rate of these classes
held_out_rate <- function(fit) {
  predicted <- held_out_classes(fit)
  w <- replace(fit$problem$rows$weight, is.na(predicted), 0)
  sum(w * (predicted != class_index(fit$problem)), na.rm = TRUE) / sum(w)
}

# Errors of models ---------------------------------------------------------------------------------

# A measure of classes for the models of a fit, by its rule. `plain` is the measure of models
# without columns.
by_class_rule <- function(measure, fit) {
  if (!has_class_rule(fit)) return(measure)
  rule <- class_rule(fit)
  measure$plain <- measure
  measure$loss <- function(problem, score) as.double(rule(score) != class_index(problem))
  measure$sum <- function(problem, score) {
    w <- row_weights(problem, measure)
    c(sum(w * measure$loss(problem, score)), sum(w))
  }
  measure
}

# A fit whose search was repeated in folds with the error rates of its rule, made without each fold:
# of every size, and of the sizes that the other folds choose.
with_class_errors <- function(fit, problem, chosen) {
  if (!has_class_rule(fit)) return(fit)
  parts <- chosen$parts
  rules <- lapply(parts$rows, function(rows) rule_without(fit, rows))
  errors_of <- function(models) {
    fold_errors(Map(function(rows, rule, models, means) {
      scores <- model_scores(models, problem, rows, means_without(problem, means))
      class_error_sums(scored_rows(problem, rows), scores, rule,
                       lengths(lapply(models, `[[`, "features")))
    }, parts$rows, rules, models, chosen$means), parts$repetition)
  }
  curve <- error_curve(errors_of(chosen$of_sizes))
  scored <- intersect(model_sizes(fit), seq_along(curve$value) - 1L)
  rows <- model_rows(fit$coefficients[scored + 1L])
  fit$path[rows, c("cv_error", "cv_error_se")] <- list(curve$value[scored + 1L],
                                                       curve$se[scored + 1L])
  if (!is.null(chosen$cross_fitted)) {
    found <- error_curve(errors_of(lapply(chosen$cross_fitted, list)))
    fit$estimate_error <- c(mean = found$value[1L], se = found$se[1L])
  }
  fit
}

# The weight of the rows that a rule puts into another class, and of all rows, for each model (2 x
# models x 1) of scores, rows x L x models, by the number of columns of each model.
class_error_sums <- function(problem, scores, rule, columns) {
  w <- problem$rows$weight
  sums <- vapply(seq_len(dim(scores)[3L]), function(s) {
    score <- layer(scores, s)
    class <- if (columns[s]) rule(score) else class_number(problem, score)
    c(sum(w * (class != class_index(problem))), sum(w))
  }, c(0, 0))
  array(sums, c(2L, dim(scores)[3L], 1L))
}
