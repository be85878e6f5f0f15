# Predictions of new rows by any fit, of every type.

#' @rdname sparsels_fit
#' @export
predict.sparsels_fit <- function(object, newdata, size = NULL,
                                 type = c("response", "class", "link", "risk", "prob", "terms",
                                          "set", "survival"),
                                 adjust = NULL, lambda = NULL, ..., newoffset = NULL,
                                 threshold = NULL, calibration = NULL, interval = "none",
                                 level = 0.9, scaled = FALSE, times = NULL, newstrata = NULL,
                                 groups = NULL) {
  check_method_call(..., object = object, known = names(formals(predict.sparsels_fit)))
  if (missing(newdata)) stop_no_newdata()
  newdata <- as_new_data(newdata)
  object <- with_cohorts(object, groups, newdata)
  if (is_set_valued(type = type, interval = interval)) {
    return(predict_set_valued(object, object, newdata, size, lambda = lambda, type = type,
                              adjust = adjust, newoffset = newoffset, threshold = threshold,
                              calibration = calibration, interval = interval, level = level,
                              scaled = scaled))
  }
  models <- models_asked(object, size, lambda)
  if (identical(type, "terms")) return(scores_of_terms(object, models, newdata, adjust))
  score <- scores_of_models(object, models, newdata, adjust)
  if (identical(type, "survival")) {
    return(survival_curves(object, models, score, newdata, times, newstrata))
  }
  stop_argument_if(!is.null(times) || !is.null(newstrata),
                   "`times` and `newstrata` need `type = \"survival\"`")
  offset <- new_offset(object$problem, newdata, newoffset, nrow(score))
  score <- in_user_units(object$problem, score, offset)
  respond(object, models, score, type, new_row_names(newdata), threshold, calibration)
}

# The part of each term in the predictions of one model (rows x terms), centred as predict() of lm()
# has them. Columns of a group are one term, as are columns of a variable of `adjust`. The attribute
# "constant" is the prediction where every term is 0.
scores_of_terms <- function(fit, models, newdata, adjust) {
  problem <- fit$problem
  stop_argument_if(length(models) > 1L || ncol(problem$rows$y) > 1L || !is.null(fit$kernel),
                   "`type = \"terms\"` is of one model of columns, of one response: give one `%s`",
                   path_key(fit))
  columns <- model_terms(fit, models[[1L]])
  covariates <- models[[1L]]$covariates[, 1L]
  z <- new_covariates(problem, newdata, adjust)[, names(covariates), drop = FALSE]
  x <- cbind(z, as.matrix(new_data_matrix(problem, newdata, columns)))
  centre <- c(weighted_means(problem$z[, names(covariates), drop = FALSE], problem$rows$weight),
              problem$columns$centre[columns])
  slope <- c(covariates, models[[1L]]$beta[, 1L])
  variable <- problem$coding$adjust_design$columns
  term <- c(ifelse(names(covariates) %in% variable$name,
                   variable$variable[match(names(covariates), variable$name)], names(covariates)),
            ifelse(is_threshold(problem)[columns], source_names(problem)[columns],
                   unit_names(problem, columns)))
  values <- (x - rep(centre, each = nrow(x))) * rep(slope, each = nrow(x))
  fixed <- term == "(Intercept)"
  values <- t(rowsum(t(values[, !fixed, drop = FALSE]), term[!fixed], reorder = FALSE))
  rownames(values) <- new_row_names(newdata)
  structure(values, constant = sum(centre * slope))
}

stop_no_newdata <- function() {
  stop_input("`newdata` must be given: fitted() has the values of the training rows, %s",
             "augment() their held-out predictions and classes")
}

# Scores of models (rows x L x models) as the requested type of prediction, with the names of the
# rows and models.
respond <- function(fit, models, score, type, rows, threshold = NULL, calibration = NULL) {
  problem <- fit$problem
  type <- choice_or_first(type, "type", eval(formals(predict.sparsels_fit)$type))
  check_type(problem, type, threshold, calibration)
  warn_missing_rows(score)
  if (type == "prob" || type == "class" && is_ordinal(problem)) {
    p <- probabilities_of(fit, score, models, calibration)
    if (type == "prob") return(drop_models(p, rows, class_names(problem), names(models)))
    return(classes_of(problem, p, function(p, model) max.col(p, "first"), models, rows))
  }
  if (type == "class" && !is.null(threshold)) {
    threshold <- as_threshold(threshold, calibration, problem)
    p <- probabilities_of(fit, score, models, threshold$calibration)
    above <- p[, threshold$event, , drop = FALSE] - threshold$value > score_tie
    score <- ifelse(above == (threshold$event == 2L), 1, -1)
  }
  if (type == "class") {
    rule <- if (is.null(threshold)) class_rule(fit)
    # a model without columns has the class of the largest score
    of_model <- function(score, model) {
      if (is.null(rule) || is_empty_model(model)) class_number(problem, score) else rule(score)
    }
    return(classes_of(problem, score, of_model, models, rows))
  }
  if (type == "risk" && is_cox(problem)) {
    reference <- vapply(models, function(model) reference_score(problem, model), 0)
    score <- score - rep(reference, each = nrow(score))
  }
  drop_models(if (type == "response") as_response(fit, score) else score, rows,
              colnames(problem$rows$y), names(models))
}

# Probabilities (rows x classes x models) from the scores of some models of a fit (rows x L x
# models).
probabilities_of <- function(fit, score, models, calibration) {
  problem <- fit$problem
  if (is_ordinal(problem)) {
    shares <- function(score, l) {
      ordinal_shares(problem, score[, 1L], fit$cutpoints[, models[[l]]$step + 1L])
    }
  } else {
    key <- path_key(fit)
    chosen <- length(models) == 1L && models[[1L]]$step == model_of(fit)$step
    stop_argument_if(
      calibration_kind(fit, calibration) != "none" && !chosen,
      "probabilities are of the chosen %s, %s, of which alone the fit has held-out scores: %s", key,
      format(fit[[key]], digits = 4), sprintf("make a fit with the `%s` wanted", key)
    )
    map <- calibrated(fit, calibration)
    shares <- function(score, l) map(score)
  }
  each <- lapply(seq_along(models), function(l) shares(layer(score, l), l))
  array(unlist(each), c(nrow(score), length(class_names(problem)), length(each)))
}

check_type <- function(problem, type, threshold, calibration) {
  stop_input_if(type == "risk" && !is_survival(problem),
                "`type = \"risk\"` needs a fit to censored times, Surv(time, status)")
  stop_argument_if(is_ordinal(problem) && (!is.null(threshold) || !is.null(calibration)),
                   "`threshold` and `calibration` are for classes without order")
  stop_input_if(type %in% c("class", "prob") && !has_classes(problem),
                "`type = \"%s\"` needs a fit with classes, but the response is numeric", type)
  stop_argument_if(is.null(threshold) && !is.null(calibration) && type != "prob",
                   "`calibration` needs `type = \"prob\"` or a `threshold`")
  stop_argument_if(!is.null(threshold) && type != "class",
                   "`threshold` needs `type = \"class\"`")
  if (!is.null(threshold)) check_two_classes(problem, "`threshold`")
}

# The class of each row by a rule: a factor, or for several models a character matrix.
classes_of <- function(problem, score, rule, models, rows) {
  each <- lapply(seq_along(models), function(l) rule(layer(score, l), models[[l]]))
  if (length(each) == 1L) return(stats::setNames(as_classes(problem, each[[1L]]), rows))
  matrix(class_names(problem)[unlist(each)], nrow(score), dimnames = list(rows, names(models)))
}
