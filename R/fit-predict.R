# Predictions of new rows by any fit, of every type. Of Cox models also survival curves, by the
# baseline hazard of the training rows, and groups of risk.

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
  offset <- new_offset(object$problem, newdata, newoffset, nrow(score))
  score <- in_user_units(object$problem, score, offset)
  if (identical(type, "survival")) {
    return(survival_curves(object, models, score, newdata, times, newstrata))
  }
  stop_argument_if(!is.null(times) || !is.null(newstrata),
                   "`times` and `newstrata` need `type = \"survival\"`")
  respond(object, models, score, type, names_of_rows(newdata), threshold, calibration)
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
  rownames(values) <- names_of_rows(newdata)
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
  # a difference of infinite values
  score[is.nan(score)] <- NA
  if (type == "prob" || type == "class" && !is.null(loss_of(fit)$shares)) {
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

# Refuses predictions that need what a fit has of its chosen model alone.
refuse_other_model <- function(fit, models, predicted, kept = NULL,
                               key = if (is.null(fit$path$lambda)) "size" else "lambda") {
  stop_argument_if(length(models) > 1L || models[[1L]]$step != model_of(fit)$step,
                   "%s of the chosen %s, %s%s: make a fit with the `%s` wanted", predicted, key,
                   format(fit[[key]], digits = 4),
                   if (is.null(kept)) "" else paste(", of which alone the fit has", kept), key)
}

# Probabilities (rows x classes x models) from the scores of some models of a fit (rows x L x
# models).
probabilities_of <- function(fit, score, models, calibration) {
  problem <- fit$problem
  own <- loss_of(fit)$shares
  if (!is.null(own)) {
    shares <- function(score, l) own(fit, score[, 1L], models[[l]]$step + 1L)
  } else {
    if (calibration_kind(fit, calibration) != "none") {
      refuse_other_model(fit, models, "probabilities are", "held-out scores")
    }
    map <- calibrated(fit, calibration)
    shares <- function(score, l) map(score)
  }
  each <- lapply(seq_along(models), function(l) shares(layer(score, l), l))
  array(unlist(each), c(nrow(score), length(class_names(problem)), length(each)))
}

check_type <- function(problem, type, threshold, calibration) {
  stop_input_if(type == "risk" && !is_survival(problem),
                "`type = \"risk\"` needs a fit to censored times, Surv(time, status)")
  refused <- stated_by_properties(problem, "no_calibration")
  stop_argument_if(!is.null(refused) && (!is.null(threshold) || !is.null(calibration)), refused)
  stop_input_if(type %in% c("class", "prob") && !has_classes(problem),
                "`type = \"%s\"` needs a fit with classes, but the response is numeric", type)
  stop_argument_if(is.null(threshold) && !is.null(calibration) && type != "prob",
                   "`calibration` needs `type = \"prob\"` or a `threshold`")
  stop_argument_if(!is.null(threshold) && type != "class", "`threshold` needs `type = \"class\"`")
  if (!is.null(threshold)) check_two_classes(problem, "`threshold`")
}

# The class of each row by a rule: a factor, or for several models a character matrix.
classes_of <- function(problem, score, rule, models, rows) {
  each <- lapply(seq_along(models), function(l) rule(layer(score, l), models[[l]]))
  if (length(each) == 1L) return(stats::setNames(as_classes(problem, each[[1L]]), rows))
  matrix(class_names(problem)[unlist(each)], nrow(score), dimnames = list(rows, names(models)))
}

# Survival curves ----------------------------------------------------------------------------------

# The probabilities that the event of new rows is later than each of some times (rows x times): by
# Breslow's estimate of the baseline hazard, which deals with ties as the model did.
survival_curves <- function(fit, models, score, newdata, times, newstrata) {
  stop_input_if(!is_cox(fit$problem),
                "`type = \"survival\"` needs a fit with `loss = \"cox\"`, which has a hazard")
  refuse_other_model(fit, models, "`type = \"survival\"` is", "the risks of the training rows")
  baseline <- fit$baseline
  if (is.null(times)) times <- sort(unique(baseline$time))
  valid <- is.numeric(times) && !is.object(times) && length(times) > 0L && all(is.finite(times))
  refuse_unless(valid, "times", "finite numbers", times)
  stratum <- new_strata(fit$problem, newdata, newstrata, nrow(score))
  warn_missing_rows(score)
  relative <- score[, 1L, 1L] - reference_score(fit$problem, models[[1L]])
  until <- times + rounding_of_times(baseline$time)
  curves <- matrix(1, nrow(score), length(times),
                   dimnames = list(names_of_rows(newdata), format(times, trim = TRUE)))
  for (own in split(seq_len(nrow(score)), stratum)) {
    of <- baseline[baseline$stratum == stratum[own[1L]], ]
    hazard <- c(0, of$hazard)[findInterval(until, of$time) + 1L]
    curves[own, ] <- exp(-exp(outer(relative[own], log(hazard), "+")))
  }
  curves[is.na(relative) | is.na(stratum), ] <- NA
  curves
}

# The stratum of new rows as a number.
new_strata <- function(problem, newdata, newstrata, rows) {
  if (!is_stratified(problem)) {
    stop_argument_if(!is.null(newstrata), "the fit has no strata: `newstrata` cannot be given")
    return(rep(1L, rows))
  }
  if (is.null(newstrata)) newstrata <- found_values(newdata, "stratum", problem$coding$strata)
  stop_argument_if(is.null(newstrata),
                   "the fit has strata: give the stratum of each new row as `newstrata`")
  stop_argument_if(length(newstrata) != rows,
                   "`newstrata` must have a value for each of the %d rows, not %d", rows,
                   length(newstrata))
  known <- levels(problem$rows$stratum)
  number <- match(as.character(newstrata), known)
  bad <- which(is.na(number) & !is.na(newstrata))
  stop_argument_if(length(bad), "`newstrata` must be strata of the fit, %s, but is '%s' in row %d",
                   some_of(known), as.character(newstrata)[bad[1L]], bad[1L])
  number
}

# Risk groups --------------------------------------------------------------------------------------

# Rows of censored times in groups of low to high risk, and their Kaplan-Meier curves.

#' Kaplan-Meier curves of risk groups
#'
#' Cuts the rows into groups of low to high risk by predictions of models that were trained without
#' them, and draws the Kaplan-Meier curve of each group. Groups by the fitted values of the rows
#' themselves would differ even if nothing can be predicted.
#'
#' Each row is predicted by the whole procedure, repeated in folds without the row
#' ([cross_validate()], or the choice of the size, see [sparse_fit]). Predictions of different folds
#' come from different models, so groups differ somewhat less than groups by one model on new rows.
#' The risk by a Cox model is about the mean of the rows it was trained on, so that risks by
#' different models are comparable. For a test of whether there is any association see
#' [permutation_test()]: a log-rank test between such groups is not exact, as training sets share
#' rows.
#'
#' @param object The result of [cross_validate()], or a fit whose size was chosen in folds, such as
#'   a fit of [greedy_rls()]; the response must be `Surv(time, status)`.
#' @param groups Number of groups of about equal size, or the quantiles of the risk at which to cut,
#'   between 0 and 1.
#' @return A data frame of class `risk_groups` with a row for each row of the data, where rows of
#'   weight 0 have no part in the cuts, the curves and the counts: `start` (if rows enter late),
#'   `time`, `event`, `weight` (if weights differ), `risk` (the held-out prediction, higher for an
#'   earlier event) and `group` (an ordered factor).
#'   `survival::survfit(survival::Surv(time, event) ~ group, data = result)` accepts it. `plot()`
#'   draws the curves, and returns them invisibly: a data frame with `group`, `time`, `surv`.
#' @section Errors: `sparsels_error_input` where the response is not of censored times, where there
#'   are no held-out predictions, or fewer different ones than groups, and for a fit whose features
#'   were chosen on all rows (`size = "criterion"`).
#' @seealso [as_problem()] for what stands for censored times
#' @examples
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   set.seed(1)
#'   x <- matrix(rnorm(100 * 30), 100)
#'   time <- exp(-x[, 4] + rnorm(100))
#'   fit <- greedy_rls(x, survival::Surv(pmin(time, 2), time < 2), k = 5)
#'   low_high <- risk_groups(fit)
#'   low_high
#'   plot(low_high)
#' }
#' @export
risk_groups <- function(object, groups = 2) {
  check_given(object, "object")
  refuse_unless(inherits(object, c("sparsels_fit", "cv_result")), "object",
                "a fit or a result of cross_validate()", object)
  check_sealed(object)
  stop_input_if(!is_survival(object$problem), "`object` must be of a response Surv(time, status)")
  trained <- held_out_places(object)
  stop_input_if(!length(trained), "`object` has no predictions of rows held out")
  stop_input_if(chose_with_rows_held_out(object),
                "the features of `object` were chosen on all rows, %s: %s",
                "so that groups differ even if nothing can be predicted",
                "give a fit with `size = \"cv\"`, or the result of cross_validate()")
  rows <- object$problem$rows
  risk <- object$held_out[, 1L]
  # as quantiles
  at <- groups
  if (is_number(groups) && groups >= 2 && groups == round(groups)) {
    if (groups > length(trained)) stop_uncut(groups)
    at <- seq_len(groups - 1) / groups
  }
  valid <- has_numbers(at) && length(at) > 0L && all(at > 0 & at < 1) &&
    !is.unsorted(at, strictly = TRUE)
  refuse_unless(valid, "groups", "a number of groups, 2 or more, or rising quantiles", groups)
  mass <- rows$weight[trained] / sum(rows$weight[trained])
  place <- vapply(at, function(level) mass_quantile(risk[trained], mass, level), 0)
  if (is.unsorted(c(place, max(risk[trained])), strictly = TRUE)) stop_uncut(length(at) + 1L)
  group <- findInterval(risk, place, left.open = TRUE) + 1L
  count <- length(place) + 1L
  labels <- if (count == 2L) c("low", "high") else if (count == 3L) c("low", "middle", "high") else
    as.character(seq_len(count))
  known <- c(if (is_truncated(object$problem)) "start", "time", "event",
             if (length(unique(rows$weight)) > 1L) "weight")
  result <- data.frame(rows[known], risk = risk,
                       group = factor(labels[group], labels, ordered = TRUE))
  rownames(result) <- rows$name
  seal(structure(result, class = c("risk_groups", "sparsels_result", "data.frame")))
}

stop_uncut <- function(groups) {
  stop_input("the risks held out cannot be cut into %g groups: too many are equal", groups)
}

#' @exportS3Method
print_result.risk_groups <- function(x, ...) {
  counts <- risk_counts(x)
  counts$median <- vapply(counted_groups(x), function(part) {
    curve <- survival_curve(part)
    shown(curve$time[curve$surv <= 0.5 + 1e-12][1L])
  }, "")
  names(counts)[2L] <- "rows"
  say(counted(sum(counts$rows), "row"), " by the risk held out:")
  print(counts, row.names = FALSE)
}

# The rows of each group that have a weight above 0.
counted_groups <- function(x) {
  split(x, if (is.null(x$weight)) x$group else replace(x$group, x$weight == 0, NA))
}

# The rows and the events of each group.
risk_counts <- function(x) {
  groups <- counted_groups(x)
  data.frame(group = factor(levels(x$group), levels(x$group), ordered = TRUE),
             nobs = vapply(groups, nrow, 0L), row.names = NULL,
             events = vapply(groups, function(part) sum(part$event), 0L))
}

# The Kaplan-Meier curve of some rows, from 1 at time 0.
survival_curve <- function(part) {
  need_package("survival")
  times <- do.call(survival::Surv, unname(as.list(part[intersect(c("start", "time", "event"),
                                                                 names(part))])))
  weights <- if (is.null(part$weight)) rep(1, nrow(part)) else part$weight
  found <- survival::survfit(times ~ 1, weights = weights)
  data.frame(time = c(0, found$time), surv = c(1, found$surv))
}

#' @exportS3Method
record.risk_groups <- function(x) {
  rows <- risk_counts(x)
  list(rows = rows,
       row = data.frame(groups = nrow(rows), nobs = sum(rows$nobs), events = sum(rows$events)),
       complete = TRUE, meaning = paste("median = time by which half have had the event, by the",
                                        "Kaplan-Meier curve; NA: fewer had it"))
}

#' @exportS3Method
picture.risk_groups <- function(x, ...) {
  groups <- counted_groups(x)
  curves <- lapply(groups, survival_curve)
  data <- do.call(rbind, lapply(names(curves), function(name) {
    data.frame(group = name, curves[[name]])
  }))
  data$group <- factor(data$group, levels(x$group))
  colours <- grDevices::hcl.colors(length(curves) + 1L, "viridis")
  sizes <- sprintf("%s (%d)", names(groups), vapply(groups, nrow, 0L))
  steps <- lapply(seq_along(curves), function(i) {
    time <- rep(curves[[i]]$time, each = 2L)[-1L]
    as_layer("line", time, utils::head(rep(curves[[i]]$surv, each = 2L), -1L), col = colours[i],
             lwd = 2, label = sizes[i])
  })
  censored <- do.call(rbind, unname(groups))
  censored <- censored[!censored$event, ]
  group <- as.integer(censored$group)
  height <- vapply(seq_along(group), function(i) {
    curve <- curves[[group[i]]]
    curve$surv[findInterval(censored$time[i], curve$time)]
  }, 0)
  layers <- c(
    unlist(steps, recursive = FALSE),
    as_layer("points", censored$time, height, pch = 3, cex = 0.7, col = "grey40",
             label = "censored")
  )
  words <- list(main = "Kaplan-Meier curves by the risk held out", xlab = "time",
                ylab = "share without the event", ylim = c(0, 1))
  new_picture(data, layers, words, list(...), axes = NULL)
}
