# Probabilities of the classes from scores, calibrated on the held-out scores of a fit.

#' Probabilities of the classes, thresholds and class weights
#'
#' How `predict(fit, newdata, type = "prob")` turns the scores of a classifier into probabilities,
#' and what class weights do to them.
#'
#' @details Least squares and the hinge loss give scores, not probabilities. They are calibrated on
#' the held-out scores of the fit, `fit$held_out`: each is predicted by a model trained without the
#' row, at the chosen size or lambda. Nothing is trained again.
#'
#' * `calibration = "platt"`, the default: the probability is \eqn{1 / (1 + \exp(-a - b f))}{1 /
#'   (1 + exp(-a - b f))} of the score \eqn{f}, by logistic regression on the held-out scores with
#'   Platt's targets, \eqn{(N_+ + 1) / (N_+ + 2)}{ (N+ + 1) / (N+ + 2)} for rows of the second class
#'   and \eqn{1 / (N_- + 2)}{1 / (N- + 2)} for the others, which keep probabilities away from 0
#'   and 1. \eqn{b} is never negative: if higher held-out scores are not associated with the second
#'   class, the probabilities are the shares of the classes.
#' * `"isotonic"`: the increasing function of the held-out scores that is nearest to the classes, by
#'   pooling adjacent violators, as [stats::isoreg()] computes it; linear between the scores,
#'   constant beyond them. It assumes less and requires more rows, several hundred. It gives
#'   probabilities of 0 and 1, for which the logarithmic loss is very large.
#' * `"none"`: the probabilities of the model itself, which only [l1_path()] and [l1_size()] with
#'   `loss = "logistic"` have. It is their default, except with class weights. It requires no
#'   held-out rows. The l1 penalty shrinks these probabilities towards the shares of the classes.
#'
#' For three and more classes every class has a score and is calibrated against the rest; the
#' probabilities of a row are then divided by their sum.
#'
#' Rows count by their case weights, scaled to a mean of 1. Rows of weight 0 do not count.
#'
#' @section What was held out: Scores of a row are predicted by models trained without it. If the
#' search was repeated in folds, as by default in [greedy_rls()], its columns were also selected
#' without the row, and only their number or lambda by all rows. With `size = "criterion"`, and in
#' methods such as [poss()], [best_subset()] and [fs_lssvm()], the columns or prototypes were
#' selected by all rows, and held-out scores are too good. This hardly affects the two numbers of
#' the calibration: on eight data sets the log loss of new rows was the same (a difference of 0.002,
#' standard error 0.004) as with the scores of outer folds, which use no held-out row at all. But
#' probabilities *of the rows themselves*, from `augment()`, look better than probabilities of new
#' rows. `predict()`, `augment()` and `choose_threshold()` of a result of [cross_validate()]
#' calibrate on its outer folds.
#'
#' @section Class weights: `class_weights` of [as_problem()] multiply the case weights of each class
#' while a model is trained and judged: with `"balanced"` all classes have the same total weight, by
#' the factor W / (K W_c) for a class of weight W_c among K classes of total weight W. The errors of
#' the models are weighted, too, so with `"balanced"` the error rate of a fit is the balanced error
#' rate. Probabilities are calibrated with the case weights alone, for data with the class
#' frequencies of the training rows. A class of 2 % of the rows gets probabilities around 2 %,
#' whatever its class weight. Balancing weights are computed again in every training part. Within
#' one search leave-one-out and fold errors use the weights computed from all its rows.
#'
#' @section Errors: `sparsels_error_input` for a fit of numbers or without held-out scores, for a
#' size or lambda other than the chosen one, for which the fit has no held-out scores, and for
#' `"none"` without the logistic loss.
#'
#' @references Platt, J. (2000). Probabilities for SV machines. In: Advances in Large Margin
#' Classifiers, MIT Press, 61-74.
#'
#' Lin, H.-T., Lin, C.-J., Weng, R. C. (2007). A note on Platt's probabilistic outputs for support
#' vector machines. Machine Learning 68, 267-276. \doi{10.1007/s10994-007-5018-6}
#'
#' Zadrozny, B., Elkan, C. (2002). Transforming classifier scores into accurate multiclass
#' probability estimates. Proceedings of the 8th ACM SIGKDD, 694-699. \doi{10.1145/775047.775151}
#' @seealso [choose_threshold()]; [cross_validate()] with `measure = c("brier", "logloss")`;
#'   [augment()][tidiers], whose columns `.pred_...` yardstick and pROC take;
#'   `vignette("probabilities")`
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(200 * 20), 200)
#' ill <- factor(ifelse(x[, 3] + x[, 8] + rnorm(200) > 1.5, "ill", "well"), c("well", "ill"))
#' fit <- greedy_rls(x[1:150, ], ill[1:150])
#' predict(fit, x[151:154, ], type = "prob")
#' predict(fit, x[151:154, ], type = "prob", calibration = "isotonic")
#' choose_threshold(fit, sensitivity = 0.9)
#' @name class_probabilities
NULL

calibrations <- c("platt", "isotonic", "none")

# A function that turns scores of the chosen model (rows x L) into probabilities (rows x classes).
calibrated <- function(fit, calibration = NULL) {
  problem <- fit$problem
  kind <- calibration_kind(fit, calibration)
  if (kind == "none") return(own_probabilities(problem))
  rows <- scored_places(fit)
  score <- fit$held_out[rows, , drop = FALSE]
  class <- class_index(problem)[rows]
  weights <- case_weights(problem)[rows]
  weights <- weights / mean(weights)
  new_map <- list(platt = platt_map, isotonic = isotonic_map)[[kind]]
  if (problem$task == "binary") {
    map <- new_map(score[, 1L], class == 2L, weights)
    return(function(score) of_two_classes(map(score[, 1L])))
  }
  maps <- lapply(seq_along(problem$levels), function(k) new_map(score[, k], class == k, weights))
  function(score) {
    each <- vapply(seq_along(maps), function(k) maps[[k]](score[, k]), numeric(nrow(score)))
    as_shares(matrix(each, nrow(score)))
  }
}

# the probabilities of the logistic loss
own_probabilities <- function(problem) {
  if (problem$task == "binary") return(function(score) of_two_classes(stats::plogis(score[, 1L])))
  function(score) as_shares(stats::plogis(score))
}

# The requested calibration. The default is the model's own, if it has one and the classes have no
# weights.
calibration_kind <- function(fit, calibration) {
  own <- identical(fit$loss, "logistic")
  if (is.null(calibration)) {
    return(if (own && is.null(fit$problem$class_weights)) "none" else "platt")
  }
  check_choice(calibration, "calibration", calibrations)
  if (calibration == "none" && !own) {
    stop_input(paste("`calibration = \"none\"` needs a model that gives probabilities itself,",
                     "`l1_path(loss = \"logistic\")`: take \"platt\" or \"isotonic\""),
               "sparsels_error_argument")
  }
  calibration
}

# the rows whose held-out scores calibrate a fit
scored_places <- function(fit) {
  rows <- which(case_weights(fit$problem) > 0 & !is.na(rowSums(fit$held_out)))
  if (length(rows)) return(rows)
  has_folds <- "folds" %in% names(formals(get0(fit$method, topenv(), mode = "function")))
  stop_input(paste0(
    "probabilities are calibrated on scores of rows held out, which this fit does not have: ",
    if (has_folds) "give `folds` when it is made" else "use cross_validate(), which has them"
  ), "sparsels_error_argument")
}

of_two_classes <- function(second) cbind(1 - second, second)

# rows of non-negative values divided by their sum, or equal shares where all are 0
as_shares <- function(values) {
  sums <- rowSums(values)
  none <- !is.na(sums) & sums == 0
  values[none, ] <- 1
  values / ifelse(none, ncol(values), sums)
}

# Maps of one score -------------------------------------------------------------------------------

# Each map returns a function of scores. It is given the held-out scores of rows, whether the rows
# belong to the class (`positive`), and weights of mean 1.

platt_map <- function(score, positive, weights) {
  counts <- c(sum(weights[!positive]), sum(weights[positive]))
  target <- ifelse(positive, (counts[2L] + 1) / (counts[2L] + 2), 1 / (counts[1L] + 2))
  line <- fit_logistic(score, target, weights)
  function(score) stats::plogis(line[1L] + line[2L] * score)
}

# Logistic regression of targets in (0, 1) on one score, with a non-negative slope: intercept and
# slope, by Newton's method with steps that are halved until the loss falls (Lin, Lin and Weng
# 2007).
fit_logistic <- function(score, target, weights) {
  share <- stats::weighted.mean(target, weights)
  flat <- c(stats::qlogis(share), 0)
  centre <- stats::weighted.mean(score, weights)
  spread <- sqrt(stats::weighted.mean((score - centre)^2, weights))
  if (spread <= score_tie) return(flat)
  x <- cbind(1, (score - centre) / spread)
  loss <- function(b) logistic_loss(drop(x %*% b), target, weights)
  b <- flat
  for (round in 1:100) {
    p <- stats::plogis(drop(x %*% b))
    gradient <- crossprod(x, weights * (p - target))
    hessian <- crossprod(x, weights * p * (1 - p) * x) + diag(1e-12, 2L)
    step <- drop(solve(hessian, gradient))
    fall <- sum(gradient * step)
    size <- 1
    # near the minimum the loss falls by less than its rounding
    least <- loss(b) * (1 + 1e-13)
    while (size > 1e-10 && loss(b - size * step) > least - 1e-4 * size * fall) size <- size / 2
    b <- b - size * step
    if (max(abs(gradient)) <= 1e-13 * length(score) || size <= 1e-10) break
  }
  if (b[2L] <= 0) return(flat)
  c(b[1L] - b[2L] * centre / spread, b[2L] / spread)
}

logistic_loss <- function(link, target, weights) {
  sum(weights * (pmax(link, 0) - target * link + log1p(exp(-abs(link)))))
}

isotonic_map <- function(score, positive, weights) {
  group <- tied_ranks(score)
  total <- rowsum(weights, group)[, 1L]
  at <- rowsum(weights * score, group)[, 1L] / total
  level <- pool_violators(rowsum(weights * positive, group)[, 1L] / total, total)
  if (length(at) == 1L) return(function(score) ifelse(is.na(score), NA_real_, level))
  function(score) stats::approx(at, level, score, rule = 2L)$y
}

# The nondecreasing values nearest to y by weighted least squares.
pool_violators <- function(y, weights) {
  mean <- weight <- numeric(length(y))
  size <- integer(length(y))
  last <- 0L
  for (i in seq_along(y)) {
    last <- last + 1L
    mean[last] <- y[i]
    weight[last] <- weights[i]
    size[last] <- 1L
    while (last > 1L && mean[last - 1L] >= mean[last]) {
      both <- weight[last - 1L] + weight[last]
      mean[last - 1L] <- (weight[last - 1L] * mean[last - 1L] + weight[last] * mean[last]) / both
      weight[last - 1L] <- both
      size[last - 1L] <- size[last - 1L] + size[last]
      last <- last - 1L
    }
  }
  rep(mean[seq_len(last)], size[seq_len(last)])
}

# Predictions -------------------------------------------------------------------------------------

# Probabilities of the training rows by their held-out scores, rows x classes. NA where there are
# none.
held_out_probabilities <- function(fit) {
  levels <- fit$problem$levels
  if (all(is.na(fit$held_out))) return(matrix(NA_real_, nrow(fit$problem), length(levels)))
  calibrated(fit)(fit$held_out)
}

check_two_classes <- function(problem, what) {
  if (problem$task == "binary") return(invisible())
  stop_input(sprintf("%s needs a fit with two classes, not %s", what,
                     if (problem$task == "regression") "numbers" else
                       paste(length(problem$levels), "classes")), "sparsels_error_argument")
}

# The threshold of predict(), a number or the result of choose_threshold(): list(value,
# calibration).
as_threshold <- function(threshold, calibration) {
  if (is.data.frame(threshold) && all(c("threshold", "calibration") %in% names(threshold))) {
    if (is.null(calibration)) calibration <- threshold$calibration
    threshold <- threshold$threshold
  }
  if (!(is_number(threshold) && threshold >= 0 && threshold <= 1)) {
    refuse("threshold", "a number between 0 and 1 or the result of choose_threshold()", threshold)
  }
  list(value = threshold, calibration = calibration)
}

# Measures ----------------------------------------------------------------------------------------

needs_probabilities <- function(measure) measure$name %in% c("brier", "logloss")

# A measure for the models of one fit. A measure of probabilities gets a function that sums it over
# the rows of a problem, by the calibration of the chosen model. For the null model, given by its
# training problem, the probabilities are the shares of the classes.
measure_for <- function(measure, fit) {
  if (!needs_probabilities(measure)) return(measure)
  map <- if (inherits(fit, "sparsels_problem")) {
    null_map(fit)
  } else if (can_be_calibrated(fit)) {
    calibrated(fit)
  } else {
    stop_input(sprintf(
      "`measure = \"%s\"` needs a fit of this package with held-out scores, not %s", measure$name,
      "what `method` gives: give a function as `measure`"
    ), "sparsels_error_argument")
  }
  measure$sum <- function(problem, score) probability_sum(problem, measure$name, map(score))
  measure
}

can_be_calibrated <- function(fit) {
  if (!inherits(fit, "sparsels_fit")) return(FALSE)
  calibration_kind(fit, NULL) == "none" || !all(is.na(fit$held_out))
}

null_map <- function(problem) {
  class <- factor(problem$levels[class_index(problem)], problem$levels)
  total <- as.vector(tapply(case_weights(problem), class, sum, default = 0))
  shares <- total / sum(total)
  function(score) matrix(shares, nrow(score), length(shares), byrow = TRUE)
}

# The sum of the Brier score or the log loss of probabilities over the rows of a problem, and the
# sum of the weights. Both follow yardstick, where the Brier score is half the sum of squares over
# the classes.
probability_sum <- function(problem, name, p) {
  own <- cbind(seq_len(nrow(p)), class_index(problem))
  loss <- if (name == "brier") {
    rowSums((p - replace(0 * p, own, 1))^2) / 2
  } else {
    -log(pmax(p[own], .Machine$double.eps))
  }
  w <- case_weights(problem)
  c(sum(w * loss), sum(w))
}
