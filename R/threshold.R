# Thresholds of the probability of the second class, and the errors of rows held out.

#' Choose the threshold of a classifier of two classes
#'
#' The probability above which a row is classified as the second class, chosen by the costs of
#' errors or by a required sensitivity, or given. The result includes the held-out sensitivity,
#' specificity and cost.
#'
#' @details The second level of the response is the event (`event_level = "second"` of yardstick):
#' sensitivity is the share of its rows that are classified correctly, and specificity the share of
#' the other rows that are. Probabilities come from the held-out scores of the fit, see
#' [class_probabilities]. All shares are weighted by case weights, without class weights.
#'
#' By `cost` the threshold is the cost of a false positive, divided by the sum of both costs. If
#' calibrated probabilities are right, no other threshold costs less. On most of the data sets
#' tried, the threshold with the smallest cost on the held-out rows cost more on new rows, because
#' it follows chance.
#'
#' With `sensitivity` it is the largest threshold that reaches the sensitivity on the held-out rows,
#' which gives the largest specificity. Both are then slightly optimistic, more so with few rows of
#' a class.
#'
#' @param object A fit with two classes, or the result of [cross_validate()] of such fits, whose
#'   held-out scores come from the outer folds.
#' @param cost What the two errors cost, `c(false_positive = , false_negative = )`, of which one may
#'   be 0.
#' @param sensitivity The required sensitivity, above 0 and at most 1; `NULL`: the threshold is
#'   chosen by `cost`.
#' @param threshold A threshold between 0 and 1, whose errors are computed; `NULL`: one is chosen.
#' @param calibration As in [class_probabilities].
#'
#' @return A data frame with one row: `threshold`; the held-out `sensitivity` and `specificity`;
#'   `cost`, the mean over the rows; `calibration`. `predict(type = "class")` takes it, or a number,
#'   as `threshold`.
#' @section Errors: `sparsels_error_input` for a fit without two classes or without held-out scores,
#'   for both `sensitivity` and `threshold`, and for values that are no costs or shares.
#' @seealso [class_probabilities]; `vignette("probabilities")`
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(200 * 20), 200)
#' ill <- factor(ifelse(x[, 3] + x[, 8] + rnorm(200) > 1.5, "ill", "well"), c("well", "ill"))
#' fit <- greedy_rls(x[1:150, ], ill[1:150])
#' choose_threshold(fit)
#' chosen <- choose_threshold(fit, cost = c(false_positive = 1, false_negative = 5))
#' chosen
#' table(ill[151:200], predict(fit, x[151:200, ], type = "class", threshold = chosen))
#' choose_threshold(fit, sensitivity = 0.95)
#' @export
choose_threshold <- function(object, cost = c(false_positive = 1, false_negative = 1),
                             sensitivity = NULL, threshold = NULL, calibration = NULL) {
  check_given(object, "object")
  fit <- two_class_fit(object)
  cost <- check_error_costs(cost)
  if (!is.null(sensitivity) && !is.null(threshold)) {
    stop_input("give either `sensitivity` or `threshold`, not both", "sparsels_error_argument")
  }
  rows <- scored_places(fit)
  p <- calibrated(fit, calibration)(fit$held_out[rows, , drop = FALSE])[, 2L]
  event <- class_index(fit$problem)[rows] == 2L
  if (!any(event) || all(event)) stop_input("the rows held out are all of one class")
  weights <- case_weights(fit$problem)[rows]
  if (!is.null(threshold)) {
    tried <- check_share(threshold, "threshold")
  } else if (!is.null(sensitivity)) {
    check_share(sensitivity, "sensitivity")
    tried <- thresholds_between(p)
  } else {
    tried <- cost[[1L]] / sum(cost)
  }
  errors <- threshold_errors(tried, p, event, weights, cost)
  wanted <- if (is.null(sensitivity)) 0 else sensitivity - 1e-12
  data.frame(errors[max(which(errors$sensitivity >= wanted)), ],
             calibration = calibration_kind(fit, calibration), row.names = NULL)
}

# 0, the midpoints between probabilities that differ, and 1
thresholds_between <- function(p) {
  p <- sort(unique(p))
  c(0, (p[-1L] + p[-length(p)]) / 2, 1)
}

# A row for every threshold, in ascending order.
threshold_errors <- function(thresholds, p, event, weights, cost) {
  above <- function(rows) {
    order <- order(p[rows])
    total <- c(0, cumsum(weights[rows][order]))
    total[length(total)] - total[findInterval(thresholds, p[rows][order]) + 1L]
  }
  found <- above(which(event))
  wrong <- above(which(!event))
  events <- sum(weights[event])
  others <- sum(weights[!event])
  data.frame(
    threshold = thresholds, sensitivity = found / events, specificity = 1 - wrong / others,
    cost = (cost[[1L]] * wrong + cost[[2L]] * (events - found)) / (events + others)
  )
}

two_class_fit <- function(object) {
  fit <- if (inherits(object, "cv_result")) fit_of_folds(object) else object
  if (!inherits(fit, "sparsels_fit")) {
    refuse("object", "a fit of a classifier or a result of cross_validate()", object)
  }
  check_sealed(object)
  check_two_classes(fit$problem, "a threshold")
  fit
}

check_error_costs <- function(cost) {
  names <- c("false_positive", "false_negative")
  fine <- is.numeric(cost) && !is.object(cost) && length(cost) == 2L &&
    setequal(names(cost), names) && all(is.finite(cost) & cost >= 0) && sum(cost) > 0
  must <- "c(false_positive = , false_negative = ), numbers of at least 0 and not both 0"
  if (!fine) refuse("cost", must, cost)
  cost[names]
}

check_share <- function(x, name) {
  if (!(is_number(x) && x >= 0 && x <= 1)) refuse(name, "a number between 0 and 1", x)
  as.double(x)
}
