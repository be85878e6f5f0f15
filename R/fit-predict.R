# Predictions of new rows by any fit, of every type. Of Cox models also survival curves, by the
# baseline hazard of the training rows, and groups of risk. Intervals of predictions and sets of
# classes follow, by the models trained without each part of the rows.

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
refuse_other_model <- function(fit, models, predicted, kept = NULL) {
  key <- if (is.null(fit$path$lambda)) "size" else "lambda"
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

# Intervals ---------------------------------------------------------------------------------------

# The models trained without each part of the rows, and by these intervals of predictions and sets
# of classes.

#' Prediction intervals and sets of classes
#'
#' `predict()` of a fit gives with `interval = "prediction"` the interval in which a new value lies
#' with probability `level`, and with `type = "set"` the classes that a new row may have. Neither
#' needs a further fit, and both hold in small samples, also after a choice of columns.
#'
#' @details The intervals are CV+ (Barber and others 2021): row \eqn{i} of the training rows was
#' held out in fold \eqn{k(i)}, and \eqn{\mu_{-k(i)}}{mu_-k(i)} is the model trained without this
#' fold. With \eqn{R_i = |y_i - \mu_{-k(i)}(x_i)|}{R_i = |y_i - mu_-k(i)(x_i)|} and \eqn{\alpha =
#' 1 -}{alpha = 1 -} `level` the interval of a new row x of m training rows is from the
#' \eqn{\lfloor \alpha (m + 1) \rfloor}{floor(alpha (m + 1))}-th smallest of
#' \eqn{\mu_{-k(i)}(x) - R_i}{mu_-k(i)(x) - R_i} to the \eqn{\lceil (1 - \alpha)(m + 1)
#' \rceil}{ceiling((1 - alpha)(m + 1))}-th smallest of \eqn{\mu_{-k(i)}(x) + R_i}{mu_-k(i)(x) +
#' R_i}. It contains the value of a new row with a probability of about `level`, whatever the
#' distribution of the values, if the new row and the training rows are exchangeable. The
#' probability is over training sets and new rows together, not for each x. In theory it is at least
#' about \eqn{1 - 2 \alpha}{1 - 2 alpha} for models without any choice. In practice it is near
#' `level`: at a level of .9 between .89 and .94 for each of 31 kinds of data with a choice of
#' columns, counts and shares among them, and of 8 of ridge and kernel models, in 500 draws each
#' (bench/coverage.R).
#'
#' The models without each fold are the ones that chose the size. Each has the size and lambda
#' that the *other* folds choose, so that the rows of a fold do not choose among the models that
#' predict them. Where more than 20 folds chose a size by the default rule, such as `size_folds =
#' "loo"`, the models are the ones of the ten folds that test whether any column is better than
#' none. Fits of [rls()], [kernel_rls()] and [lssvm()] have the models without each row, or without
#' each of their `folds`, by exact algebra.
#' `predict(cross_validate(...), newdata, interval = "prediction")` has the models of the outer
#' folds, for any method.
#'
#' Rows of a group that is held out whole count together as one unit, a row of a group of n with
#' mass 1 / n: the new row is of a new group. Case weights are importances or counts: row i has a
#' mass proportional to its weight, and the new row the mass 1 / (1 + (sum w)^2 / sum w^2).
#'
#' **Levels.** A level of 0.9 needs 9 units, 0.95 needs 19 and 0.99 needs 99. With fewer the
#' interval is infinite, with a warning of class `sparsels_warning_level`.
#'
#' **Spread.** The interval of every row has about the same width. Where the spread of the response
#' follows its mean, `scaled = TRUE` makes the width follow the prediction: \eqn{\log(R_i + 0.1\,
#' \mathrm{median}(R))}{log(R_i + 0.1 median(R))} is regressed on the held-out prediction, and both
#' ends are in units of this spread. Where the logarithm of the response is natural, it is better.
#'
#' **Counts and shares.** Fits with a `loss` such as `"poisson"` have intervals of the counts or
#' shares about their predicted means. \eqn{R_i} and the ends are in units of the standard deviation
#' of the loss at the mean, with a tenth of its median variance added, so that the width follows the
#' mean. They hold whatever the distribution. New rows need their `newoffset` where the fit has an
#' offset.
#'
#' **Censored times.** No interval with two ends holds, because the values of censored rows are not
#' known. `interval = "lower"` has a lower bound of the time of the event, in the units of the
#' times. It holds whatever the censoring, because the time of censoring is at most the time of the
#' event. It is conservative by the share of the censored rows. Cox models have the bound alone
#' (`lwr`), because they predict no time.
#'
#' **Sets of classes.** `type = "set"` has the classes c with \deqn{\frac{1 + \#\{i\ \mathrm{in}\ c:
#' s_i \ge s_{k(i)}(x, c)\}}{1 + m_c} > \alpha,}{(1 + #{i in c: s_i >= s_k(i)(x, c)}) / (1 + m_c) >
#' alpha,} where \eqn{m_c} rows are of class c, \eqn{s_{k(i)}(x, c)}{s_k(i)(x, c)} is the largest
#' score of another class less the score of c by the model without the fold of row i, and
#' \eqn{s_i}{s_i} is this number of row i and its own class. Each class is in the set of its new
#' rows with a probability of about `level`. A set of several classes says that the data do not
#' distinguish them for this row. An empty set says that the row is unlike the rows of any class. A
#' class of fewer than \eqn{1 / \alpha - 1}{1 / alpha - 1} rows is in every set.
#'
#' @section Errors: `sparsels_error_input` for fits without models of folds, whose search was not
#'   repeated (`size = "criterion"`, [poss()], [fs_lssvm()] and others: use [cross_validate()]),
#'   fits that Ctrl-C left without some folds, sizes and lambdas other than the chosen one, several
#'   numeric responses, rankings, and `interval = "confidence"`: intervals of a mean do not hold
#'   where columns were chosen on the same rows.
#'
#' @section Cost: The predictions of the fold models, and for each new row a search in the sorted
#'   residuals of each fold.
#'
#' @references Barber, R. F., Candes, E. J., Ramdas, A., Tibshirani, R. J. (2021). Predictive
#' inference with the jackknife+. Annals of Statistics 49, 486-507. \doi{10.1214/20-AOS1965}
#'
#' Vovk, V., Nouretdinov, I., Manokhin, V., Gammerman, A. (2018). Cross-conformal predictive
#' distributions. Proceedings of Machine Learning Research 91, 37-51.
#' @seealso [predict()][predict.sparsels_fit], [cross_validate()] and [judge()] for the error of the
#'   method and its interval
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 40), 60)
#' y <- 2 * x[, 3] - x[, 8] + rnorm(60)
#' fit <- greedy_rls(x, y)
#' new <- matrix(rnorm(3 * 40), 3)
#' predict(fit, new, interval = "prediction", level = 0.8)
#'
#' ill <- factor(ifelse(y > 0, "ill", "well"))
#' predict(greedy_rls(x, ill), new, type = "set")
#' @srrstats {G1.3} help pages define their quantities by formulas. `?prediction_intervals`,
#'   `?size_rule`
#' @srrstats {RE1.4} `?prediction_intervals`, `?class_probabilities`: what holds without an
#'   assumption, and what does not
#' @srrstats {RE4.14} `predict(interval = "prediction")`
#' @name prediction_intervals
NULL

# The result of predict() with these arguments is an interval or a set of classes.
is_set_valued <- function(type = NULL, interval = "none", ...) {
  identical(type, "set") || !identical(interval, "none")
}

# The intervals or sets of new rows by the models of `object`, a fit or a cross-validation. `fit` is
# the fit on all rows.
predict_set_valued <- function(object, fit, newdata, size = NULL, lambda = NULL, type = NULL,
                               adjust = NULL, newoffset = NULL, threshold = NULL,
                               calibration = NULL, interval = "none", level = 0.9, scaled = FALSE) {
  newdata <- as_new_data(newdata)
  problem <- object$problem
  interval <- check_interval(interval, type, problem)
  loss <- loss_name(fit)
  check_level(level)
  check_flag(scaled, "scaled")
  stop_argument_if(scaled && interval != "prediction", "`scaled` needs `interval = \"prediction\"`")
  stop_argument_if(scaled && judged_at_mean(loss),
                   "`scaled` is for squares: intervals of `loss = \"%s\"` have its spread", loss)
  stop_argument_if(!is.null(threshold) || !is.null(calibration),
                   "`threshold` and `calibration` have no meaning for %s",
                   if (interval == "none") "sets" else "intervals")
  if (!is.null(size) || !is.null(lambda)) {
    # models of folds are of the chosen size and lambda alone
    refuse_other_model(fit, models_asked(fit, size, lambda), "intervals and sets are")
  }
  without <- predictions_without(object, newdata, adjust)
  without$unit <- units_without(object)
  score <- chosen_new_scores(fit, problem, newdata, adjust)
  warn_missing_rows(score)
  if (interval == "none") {
    return(prediction_set(problem, without, layer(score, 1L), level, names_of_rows(newdata)))
  }
  warn_level(level, pair_masses(problem, without$pairs, without$unit)$own)
  offset <- new_offset(problem, newdata, newoffset, nrow(score))
  if (judged_at_mean(loss)) {
    add <- if (is.null(offset)) 0 * score else offset
    without <- at_means(without, problem, loss, add)
    score <- losses[[loss]]$mean(score + as.vector(add))
  }
  ends <- interval_ends(problem, without, score[, 1L, 1L], interval, level, scaled, loss)
  if (!judged_at_mean(loss)) ends <- in_user_units(problem, ends, offset)
  if (is_survival(problem)) ends <- exp(ends)
  dimnames(ends) <- list(names_of_rows(newdata), c("fit", "lwr", "upr")[seq_len(ncol(ends))])
  # a Cox model predicts no time
  if (is_cox(problem)) ends[, "lwr", drop = FALSE] else ends
}

# the arguments of predict() for intervals and sets
set_arguments <- c("size", "lambda", "type", "adjust", "newoffset", "threshold", "calibration",
                   "interval", "level", "scaled")

check_interval <- function(interval, type, problem) {
  stop_argument_if(identical(interval, "confidence"),
                   paste("`interval = \"confidence\"`, of a mean, does not hold where columns were",
                         "chosen on the same rows or coefficients are shrunk: `interval =",
                         "\"prediction\"`, of a new value, does"))
  check_choice(interval, "interval", c("none", "prediction", "lower"))
  classes <- problem$coding$task != "regression"
  why <- stated_by_properties(problem, "no_intervals")
  stop_argument_if(!is.null(why), why)
  if (interval == "none") {
    stop_argument_if(!classes, "`type = \"set\"` needs a fit with classes: numbers have `interval`")
    return(interval)
  }
  valid <- is.null(type) || length(type) > 1L || identical(type, "response")
  stop_argument_if(!valid, "give either `type` or `interval`, not both")
  stop_argument_if(classes, "classes have no `interval`: `type = \"set\"` has the classes of a row")
  stop_argument_if(ncol(problem$rows$y) > 1L,
                   "`interval` needs a single response, and the fit has %d", ncol(problem$rows$y))
  stop_argument_if(is_survival(problem) && interval == "prediction",
                   paste("an interval of censored times does not hold, as the times of censored",
                         "rows are not known: `interval = \"lower\"` has a lower bound that holds"))
  interval
}

check_level <- function(level) {
  refuse_unless(is_number(level) && level > 0 && level < 1, "level", "a number above 0 and below 1",
                level)
  level
}

# Masses -------------------------------------------------------------------------------------------

# The masses of pairs of a training row and a part that held it out, and `own`, the mass of a new
# row. Units, which are rows or groups of rows that are held out whole, are exchangeable with the
# unit of the new row. A unit has the mean case weight of its rows.
pair_masses <- function(problem, pairs, unit = seq_len(nrow(problem))) {
  weight <- case_weights(problem)[pairs$row]
  times <- tabulate(pairs$row, nrow(problem))[pairs$row]
  total <- rowsum(cbind(weight / times, 1 / times), unit[pairs$row])
  of_unit <- total[, 1L] / total[, 2L]
  own <- 1 / (1 + sum(of_unit)^2 / sum(of_unit^2))
  at <- match(unit[pairs$row], as.integer(rownames(total)))
  list(pairs = (1 - own) / sum(of_unit) * (weight / times) / total[at, 2L], own = own)
}

# A pair has the value centre + scale * value, with `centre` and `scale` of its part, the columns of
# these matrices. For each row of the matrices the smallest value at which the masses of the values
# up to it reach `level`, Inf where they never do.
pair_quantile <- function(centre, scale, part, value, mass, level) {
  if (!has_few_parts(part)) {
    values <- centre[, part, drop = FALSE] +
      scale[, part, drop = FALSE] * rep(value, each = nrow(centre))
    return(apply(values, 1L, mass_quantile, mass, level))
  }
  ordered <- parts_in_order(part, value, mass)
  # of each part what stands at its first value above `end`
  above <- function(end, what) {
    lapply(seq_along(ordered), function(p) {
      ordered[[p]][[what]][findInterval((end - centre[, p]) / scale[, p], ordered[[p]]$value) + 1L]
    })
  }
  ends <- range(0, value[is.finite(value)])
  # more than rounding takes from a value, so that no value is up to `low` and all are up to `high`
  rounding <- 1e-12 * row_largest(abs(centre) + scale * max(abs(ends)), na.rm = TRUE) + 1e-300
  low <- -row_largest(-centre - scale * ends[1L], na.rm = TRUE) - rounding
  high <- row_largest(centre + scale * ends[2L], na.rm = TRUE) + rounding
  for (halved in seq_len(50L)) {
    middle <- low + (high - low) / 2
    reached <- rowSums(do.call(cbind, above(middle, "below")), na.rm = TRUE) >= level - 1e-9
    high[reached] <- middle[reached]
    low[!reached] <- middle[!reached]
  }
  values <- centre + scale * do.call(cbind, above(low, "value"))
  -row_largest(-values, na.rm = TRUE)
}

# To search the sorted values of each part takes less time than to sort the values of all.
has_few_parts <- function(part) length(part) > 50L * max(part)

# The values of the pairs of each part in increasing order, Inf after them, and for each of these
# `below`, the mass of the values before it.
parts_in_order <- function(part, value, mass) {
  lapply(unname(split(seq_along(part), factor(part, seq_len(max(part, 0L))))), function(pairs) {
    pairs <- pairs[order(value[pairs])]
    list(value = c(value[pairs], Inf), below = c(0, cumsum(mass[pairs])))
  })
}

# Warns that an interval is infinite, where the mass `own` of the new row is above 1 - level.
warn_level <- function(level, own) {
  warn_if(1 - own < level - 1e-9, "sparsels_warning_level",
          "an interval of level %s needs %.0f rows, or groups of rows, not %s: it is infinite",
          format(level), ceiling(level / (1 - level) - 1e-9), shown(1 / own - 1))
}

# Intervals ----------------------------------------------------------------------------------------

# The prediction of each new row and the ends of its interval, in working units, for censored times
# in logarithms of time, for counts and shares at their means. `score` has the predictions by the
# fit on all rows.
interval_ends <- function(problem, without, score, interval, level, scaled, loss = "squared") {
  sign <- if (is_survival(problem)) -1 else 1
  held <- sign * without$held[, 1L]
  residual <- interval_response(problem, loss)[without$pairs$row] - held
  # a row whose covariate is lost with it may have any residual
  residual[is.na(residual)] <- -Inf
  spread <- if (scaled) fitted_spread(held, abs(residual)) else spread_of_loss(loss, held)
  residual <- residual / ifelse(is.na(held), 1, spread(held))
  mass <- pair_masses(problem, without$pairs, without$unit)$pairs
  ends <- cbind(sign * score, matrix(NA_real_, length(score), 2L - (interval == "lower")))
  part <- without$pairs$part
  values <- if (has_few_parts(part)) max(part) else length(part)
  for (rows in value_blocks(which(!is.na(score)), values)) {
    centre <- sign * matrix(without$at(rows), length(rows))
    scale <- 0 * centre + spread(centre)
    quantile <- function(centre, width) pair_quantile(centre, scale, part, width, mass, level)
    if (interval == "lower") {
      ends[rows, 2L] <- -quantile(-centre, -residual)
    } else {
      ends[rows, 2L] <- pmin(-quantile(-centre, abs(residual)), ends[rows, 1L])
      ends[rows, 3L] <- pmax(quantile(centre, abs(residual)), ends[rows, 1L])
    }
  }
  limits <- losses[[loss]]$limits
  if (is.null(limits)) ends else pmin(pmax(ends, limits[1L]), limits[2L])
}

# The values that predictions are compared with: of counts and shares with their offset, of censored
# times the logarithms of the times seen.
interval_response <- function(problem, loss) {
  if (is_survival(problem)) return(log(problem$rows$time))
  problem$rows$y[, 1L] + if (judged_at_mean(loss)) row_offset(problem) else 0
}

# Predictions of counts and shares without each part, as predictions_without() has them, at their
# means. `offset` is the offset of the new rows.
at_means <- function(without, problem, loss, offset = NULL) {
  without$held <- without$held + (row_offset(problem) + 0 * problem$rows$y[, 1L])[without$pairs$row]
  link <- without$at
  if (!is.null(link)) without$at <- function(rows) losses[[loss]]$mean(link(rows) + offset[rows])
  without
}

# The spread of the response as a function of its prediction: of counts and shares their standard
# deviation by the loss. A tenth of the median variance is added, as means near a limit have a
# variance near 0.
spread_of_loss <- function(loss, held) {
  variance <- losses[[loss]]$variance
  if (is.null(variance)) return(function(score) 1)
  least <- stats::median(variance(held), na.rm = TRUE) / 10
  function(score) sqrt(variance(score) + least)
}

# The spread of the response as a function of its prediction, from held-out predictions and the
# sizes of their residuals. The function is constant beyond the range of these predictions.
fitted_spread <- function(held, size) {
  known <- !is.na(held)
  held <- held[known]
  size <- size[known]
  floor <- stats::median(size) / 10
  slope <- if (floor > 0) stats::coef(stats::lm.fit(cbind(1, held), log(size + floor)))[[2L]] else 0
  if (is.na(slope)) slope <- 0
  function(score) exp(slope * pmin(pmax(score, min(held)), max(held)))
}

# Sets of classes ----------------------------------------------------------------------------------

# How far rows are from being assigned to each class, rows x classes: the largest score of another
# class less the score of the class.
distance_to_classes <- function(score) {
  if (ncol(score) == 1L) return(cbind(score, -score))
  # the first of the largest scores, any where they are missing
  top <- max.col(score, "first")
  top <- cbind(seq_along(top), ifelse(is.na(top), 1L, top))
  distance <- score[top] - score
  replace(distance, top, row_largest(replace(score, top, -Inf)) - score[top])
}

# The classes whose value is above 1 - level, for each new row.
prediction_set <- function(problem, without, score, level, names) {
  levels <- problem$coding$levels
  class <- class_number(problem, problem$rows$y)[without$pairs$row]
  own <- distance_to_classes(without$held)[cbind(seq_along(class), class)]
  own[is.na(own)] <- Inf
  # an own distance is as far as the distance of a new row: in increasing order of -own
  each <- lapply(seq_along(levels), function(l) {
    pairs <- without$pairs[class == l, ]
    masses <- pair_masses(problem, pairs, without$unit)
    list(own = masses$own, parts = parts_in_order(pairs$part, -own[class == l], masses$pairs))
  })
  few <- levels[vapply(each, `[[`, 0, "own") > 1 - level + 1e-9]
  warn_if(length(few), "sparsels_warning_level",
          if (length(few) == 1L) "class %s has too few rows for sets of level %s and is in all" else
            "classes %s have too few rows for sets of level %s and are in all",
          some_of(few), format(level))
  inside <- matrix(NA, nrow(score), length(levels), dimnames = list(names, levels))
  values <- max(without$pairs$part) * length(levels)
  for (rows in value_blocks(which(!is.na(rowSums(score))), values)) {
    scores <- aperm(without$at(rows), c(1L, 3L, 2L))
    distance <- array(distance_to_classes(matrix(scores, ncol = dim(scores)[3L])),
                      c(dim(scores)[1:2], length(levels)))
    for (l in seq_along(levels)) {
      mass <- each[[l]]$own
      for (p in seq_along(each[[l]]$parts)) {
        ordered <- each[[l]]$parts[[p]]
        mass <- mass + ordered$below[findInterval(score_tie - distance[, p, l], ordered$value) + 1L]
      }
      inside[rows, l] <- mass > 1 - level + 1e-9
    }
  }
  structure(inside, level = level, class = "prediction_set")
}

#' @export
format.prediction_set <- function(x, collapse = " or ", ...) {
  words <- apply(unclass(x), 1L, function(inside) {
    if (anyNA(inside)) return(NA_character_)
    if (any(inside)) paste(colnames(x)[inside], collapse = collapse) else "none"
  })
  stats::setNames(as.character(words), rownames(x))
}

#' @export
print.prediction_set <- function(x, ...) {
  cat(sprintf("sets of classes, each with the class of its row with probability %s:\n",
              format(attr(x, "level"))))
  print(format(x), quote = FALSE)
  invisible(x)
}

# Of the training rows ----------------------------------------------------------------------------

# Intervals (.lower, .upper) or sets (.set) of the training rows, a row each, about the held-out
# predictions.
own_intervals <- function(object, level) {
  problem <- object$problem
  if (problem$coding$task != "regression") {
    return(data.frame(.set = format(own_sets(object, level), collapse = "|")))
  }
  loss <- loss_name(fit_on_all(object))
  without <- predictions_of_own_rows(object)
  warn_level(level, pair_masses(problem, without$pairs, without$unit)$own)
  ends <- interval_ends(problem, without, without$score[, 1L], "prediction", level, FALSE, loss)
  if (!judged_at_mean(loss)) ends <- in_user_units(problem, ends, problem$rows$offset)
  data.frame(.lower = ends[, 2L], .upper = ends[, 3L])
}

own_sets <- function(object, level) {
  without <- predictions_of_own_rows(object)
  prediction_set(object$problem, without, without$score, level, NULL)
}

# Whether a fit has intervals or sets of all its rows.
has_intervals <- function(fit) {
  problem <- fit$problem
  !(is.null(fit$fold_models) && is.null(fit$fold_choices)) &&
    (problem$coding$task != "regression" || predicts_numbers(problem) && ncol(problem$rows$y) == 1L)
}

# The fit on all rows of a fit or of a cross-validation.
fit_on_all <- function(object) if (is.null(object[["fit"]])) object else object[["fit"]]

# Prints how far new values are from their predictions, or how many classes a set has.
print_spread <- function(fit) {
  if (!has_intervals(fit)) return(invisible())
  if (fit$problem$coding$task != "regression") {
    few <- NULL
    sets <- withCallingHandlers(own_sets(fit, 0.9), sparsels_warning_level = function(condition) {
      few <<- paste0("; ", conditionMessage(condition))
      invokeRestart("muffleWarning")
    })
    size <- rowSums(unclass(sets))
    share <- function(count) sprintf("%.0f %%", 100 * mean(size == count, na.rm = TRUE))
    return(say("sets of classes of level ", format(0.9), ": a single class for ", share(1),
               " of the rows", if (0 %in% size) paste(", no class for", share(0)), few))
  }
  loss <- loss_name(fit_on_all(fit))
  half <- half_widths(fit, c(0.5, 0.9))
  within <- shown(half)
  of <- if (!judged_at_mean(loss)) "of the prediction" else
    paste(sub(" regression.*", "", losses[[loss]]$title[2L]),
          "standard deviations of the predicted mean")
  say(sprintf("prediction error: half of new values within %s %s%s (CV+, %s)", within[1L], of,
              if (half[2L] < Inf) paste(", 90 % within", within[2L]) else "",
              folds_without(fit)$label))
}

# How far new values are from their predictions with some probabilities, in the user's units, of
# counts and shares in units of their spread. Inf where the rows do not allow a probability.
half_widths <- function(fit, levels) {
  problem <- fit$problem
  loss <- loss_name(fit_on_all(fit))
  without <- predictions_of_own_rows(fit)
  held <- without$held[, 1L]
  residual <- interval_response(problem, loss)[without$pairs$row] - held
  size <- abs(residual) / spread_of_loss(loss, held)(held)
  size[is.na(size)] <- Inf
  mass <- pair_masses(problem, without$pairs, without$unit)$pairs
  half <- vapply(levels, function(level) mass_quantile(size, mass, level), 0)
  if (judged_at_mean(loss)) half else in_user_units(problem, as.matrix(half))[, 1L]
}

# Held-out predictions of the rows with their intervals against the observed values.
interval_picture <- function(fit, level = 0.9, ...) {
  check_level(level)
  check_interval("prediction", NULL, fit$problem)
  problem <- fit$problem
  own <- own_intervals(fit, level)
  held <- predictions_of_own_rows(fit)$score
  if (!judged_at_mean(loss_name(fit_on_all(fit)))) {
    held <- in_user_units(problem, held, problem$rows$offset)
  }
  data <- data.frame(observed = user_response(problem)[, 1L], predicted = held[, 1L],
                     lower = own$.lower, upper = own$.upper)
  data$inside <- data$observed >= data$lower & data$observed <= data$upper
  data <- data[!is.na(data$predicted), ]
  ends <- range(data$predicted)
  layers <- c(
    as_layer("segments", data$predicted, data$lower, x2 = data$predicted, y2 = data$upper,
             col = "#BBBBBB"),
    as_layer("line", ends, ends, col = "#555555", lty = 2, label = "observed = predicted"),
    unlist(lapply(c(TRUE, FALSE), function(inside) {
      rows <- data$inside == inside
      if (!any(rows)) return(NULL)
      as_layer("points", data$predicted[rows], data$observed[rows], pch = if (inside) 16 else 4,
               col = if (inside) "#0072B2" else "#D55E00", cex = 0.8,
               label = sprintf("%s: %d of %d", if (inside) "inside" else "outside", sum(rows),
                               length(rows)))
    }), recursive = FALSE)
  )
  new_picture(data, layers, list(
    main = sprintf("prediction intervals of level %s", format(level)),
    xlab = "held-out prediction", ylab = problem$coding$response
  ), list(...), axes = list())
}

# Models without each part -------------------------------------------------------------------------

# Predictions of new rows by the models without each part: a list with `at`, a function of some rows
# of `newdata` that gives their scores (rows x L x parts), `pairs` as in models_without(), and
# `held`, the scores of the rows of the pairs by the models without them (pairs x L). Without
# `newdata` there is no `at`.
predictions_without <- function(fit, newdata, adjust = NULL) UseMethod("predictions_without")

#' @exportS3Method
predictions_without.sparsels_fit <- function(fit, newdata, adjust = NULL) {
  stop_no_models_without(fit)
}

#' @exportS3Method
predictions_without.sparse_fit <- function(fit, newdata, adjust = NULL) {
  if (is.null(fit$fold_models)) stop_no_models_without(fit)
  scores <- if (!is.null(newdata)) {
    scores_of_column_models(fit$fold_models, fit$problem, newdata, adjust)
  }
  by_kept_models(fit$fold_models, fit$problem, scores)
}

#' @exportS3Method
predictions_without.cv_result <- function(fit, newdata, adjust = NULL) {
  kept <- fit$fold_models
  stop_argument_if(is.null(kept), paste(
    "intervals and sets need the models of the outer folds:",
    if (fit$status == "interrupted") "the cross-validation was interrupted" else
      "give cross_validate() `keep = TRUE`, which keeps the fits of this method"
  ))
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
  scores_by <- function(models, problem) {
    used <- used_features(models)
    x <- complete_new(problem, new_values(problem, newdata, used), used)
    column_scores(models, x, used, new_covariates(problem, newdata, adjust))
  }
  if (is.null(kept$state)) return(scores_by(kept$models, problem))
  each <- Map(function(model, part) {
    scores_by(list(model), put_state(problem, state_without(problem, part)))
  }, kept$models, kept$state)
  array(unlist(each), c(dim(each[[1L]])[-3L], length(each)))
}

# The value of predictions_without() for the training rows as new rows. A row must not meet a model
# that it was trained on: all its predictions are its held-out prediction, the mean over its parts.
predictions_of_own_rows <- function(object) {
  loss <- loss_name(fit_on_all(object))
  without <- predictions_without(object, NULL)
  if (judged_at_mean(loss)) without <- at_means(without, object$problem, loss)
  rows <- factor(without$pairs$row, seq_len(nrow(object$problem)))
  total <- rowsum(without$held, rows)
  score <- matrix(NA_real_, nrow(object$problem), ncol(total))
  score[as.integer(rownames(total)), ] <- total / tabulate(rows)[as.integer(rownames(total))]
  # the same prediction is compared with every pair
  without$pairs$part[] <- 1L
  without$at <- function(rows) array(score[rows, ], c(length(rows), ncol(score), 1L))
  c(without, list(score = score, unit = units_without(object)))
}

# The folds whose parts the models were trained without, or another record of them, with a `label`.
folds_without <- function(object) {
  Find(Negate(is.null), list(object$fold_models$folds, object$size_folds, object$folds))
}

# The units of rows of these parts.
units_without <- function(object) {
  folds <- folds_without(object)
  row_units(object$problem, if (inherits(folds, "sparsels_folds")) folds)
}
