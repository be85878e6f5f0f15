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
#'   `loss = "logistic"` or `"multinomial"` have. It is their default, except with class weights. It
#'   requires no held-out rows. The l1 penalty shrinks these probabilities towards the shares of the
#'   classes.
#'
#' For three and more classes every class has a score. `"platt"` is then multinomial logistic
#' regression on the scores of all classes: the probability of class k is in proportion to
#' \eqn{\exp(a_k + \sum_l b_{lk} f_l)}{exp(a_k + sum_l b_lk f_l)}. The targets of a row of class c
#' are \eqn{(N_c + 1) / (N_c + 2)}{(N_c + 1) / (N_c + 2)} for its class, and the rest in equal
#' shares for the others. The loss has the penalty \eqn{0.005 \sum b_{lk}^2}{0.005 sum b_lk^2},
#' which keeps the slopes finite. Slopes are 0 in directions of the scores in which higher
#' held-out scores are not associated with the classes. If there are no others, the probabilities
#' are the shares of the classes. `"isotonic"` calibrates
#' each class against the rest and divides the probabilities of a row by their sum.
#'
#' @section Three and more classes: The class of a row, in `predict(type = "class")`, `print()`,
#' [augment()][tidiers], [cross_validate()] and [judge()], is the class with the largest probability
#' by `"platt"`, times its class weight if there are class weights. The largest score would hide a
#' class whose rows lie between others: a linear function cannot be largest in the middle, although
#' all scores together tell the classes apart. This is why regression on class indicators is
#' followed by a discriminant in the space of the fitted scores (Hastie, Tibshirani and Buja 1994),
#' for which least squares on all columns gives linear discriminant analysis. The discriminant here
#' is the logistic one, on held-out scores. On 35 data sets, with five outer folds and
#' [greedy_rls()], the error rate was lower by .06 on average (standard error .01) than by the
#' largest score, and nowhere higher by more than .01. The log loss was lower by .09 (.02) than by
#' calibration of each class against the rest. For [rls()] the error was lower by .05 (.01) and the
#' log loss by .08 (.02). For the Gaussian kernel of [lssvm()] the error was lower by .01 (.01) and
#' the log loss by .04 (.02), as its scores hide few classes (bench/classes.R).
#'
#' The slopes are from the held-out scores of the chosen size or lambda. They also give the classes
#' of other sizes and lambdas. In the errors of a fit by folds (`cv_error`, `estimate_error`), in
#' the table of `summary()` and in `augment()` the class of a row is from slopes that were estimated
#' without the fold of the row. The largest score is the class where nothing was held out, of models
#' without columns, and for `loss = "logistic"` without class weights, whose largest score has the
#' largest probability. Searches count errors by the largest score, too: `criterion = "error"` or
#' `"balanced"`, and the column `error` of `path`. So do [added_value()] and [panel_error()].
#'
#' @details
#' Rows count by their case weights, scaled to a mean of 1. Rows of weight 0 do not count.
#'
#' @section What was held out: Scores of a row are predicted by models trained without it. If the
#' search was repeated in folds, as by default in [greedy_rls()], its columns were also selected
#' without the row, and only their number or lambda by all rows. With `size = "criterion"`, and in
#' methods such as [poss()], [best_subset()] and [fs_lssvm()], the columns or prototypes were
#' selected by all rows, and held-out scores are too good. This hardly affects the two numbers of
#' the calibration of two classes: on eight data sets the log loss of new rows was the same (a
#' difference of 0.002, standard error 0.004) as with the scores of outer folds, which use no
#' held-out row at all. But probabilities *of the rows themselves*, from `augment()`, look better
#' than probabilities of new rows. `predict()`, `augment()` and `choose_threshold()` of a result of
#' [cross_validate()] calibrate on its outer folds.
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
#' **Two classes and probabilities.** Of two classes `predict(type = "class")` is the sign of the
#' score, which was fitted to the codes -1 and 1. The calibration has an intercept of its own, so
#' that where classes are rare or overlap, the other class may have the larger probability. With
#' `threshold = 0.5`, or the value of [choose_threshold()], the class is the class by the
#' probability.
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
#' Hastie, T., Tibshirani, R., Buja, A. (1994). Flexible discriminant analysis by optimal scoring.
#' Journal of the American Statistical Association 89, 1255-1270.
#' \doi{10.1080/01621459.1994.10476866}
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

# A function that turns scores of the chosen model (rows x L) into probabilities (rows x classes),
# calibrated on the held-out scores of some rows. Its attribute "form" has the function as numbers:
# `kind` "logistic" or "softmax" with `intercept` and `slope`, or "isotonic" with `maps`. `near` is
# the function of hardly other rows, from which regression on many scores starts.
calibrated <- function(fit, calibration = NULL, rows = scored_places(fit), near = NULL) {
  problem <- fit$problem
  kind <- calibration_kind(fit, calibration)
  if (kind == "none") {
    if (problem$coding$task == "binary") {
      return(with_form(function(score) of_two_classes(stats::plogis(score[, 1L])), "logistic",
                       intercept = 0, slope = matrix(1)))
    }
    classes <- length(problem$coding$levels)
    return(with_form(link_shares, "softmax", intercept = numeric(classes), slope = diag(classes)))
  }
  score <- fit$held_out[rows, , drop = FALSE]
  class <- class_index(problem)[rows]
  weights <- case_weights(problem)[rows]
  weights <- weights / mean(weights)
  if (problem$coding$task == "binary") {
    new_map <- if (kind == "platt") platt_map else isotonic_map
    map <- new_map(score[, 1L], class == 2L, weights)
    return(structure(function(score) of_two_classes(map(score[, 1L])), form = attr(map, "form")))
  }
  if (kind == "platt") return(joint_map(score, class, weights, attr(near, "form")))
  maps <- lapply(seq_along(problem$coding$levels),
                 function(k) isotonic_map(score[, k], class == k, weights))
  with_form(function(score) {
    each <- vapply(seq_along(maps), function(k) maps[[k]](score[, k]), numeric(nrow(score)))
    as_shares(matrix(each, nrow(score)))
  }, "isotonic", maps = lapply(maps, function(map) attr(map, "form")$maps[[1L]]))
}

with_form <- function(map, kind, ...) structure(map, form = list(kind = kind, ...))

# The requested calibration. The default is the model's own, if it has one and the classes have no
# weights.
calibration_kind <- function(fit, calibration) {
  own <- !is.null(loss_of(fit)$likelihood)
  if (is.null(calibration)) {
    return(if (own && is.null(fit$problem$coding$class_weights)) "none" else "platt")
  }
  check_choice(calibration, "calibration", c("platt", "isotonic", "none"))
  stop_argument_if(calibration == "none" && !own,
                   paste("`calibration = \"none\"` needs a model that gives probabilities itself,",
                         "`l1_path(loss = \"logistic\")`: take \"platt\" or \"isotonic\""))
  calibration
}

# the rows whose held-out scores calibrate a fit
scored_places <- function(fit) {
  rows <- held_out_places(fit)
  if (length(rows)) return(rows)
  has_folds <- "folds" %in% names(formals(get0(fit$method, topenv(), mode = "function")))
  stop_argument("probabilities are calibrated on scores of rows held out, which this fit %s: %s",
                "does not have", if (has_folds) "give `folds` when it is made" else
                  "use cross_validate(), which has them")
}

of_two_classes <- function(second) cbind(1 - second, second)

# rows of non-negative values divided by their sum, or equal shares where all are 0
as_shares <- function(values) {
  sums <- rowSums(values)
  none <- !is.na(sums) & sums == 0
  values[none, ] <- 1
  values / ifelse(none, ncol(values), sums)
}

# Maps of the scores of several classes ------------------------------------------------------------

# Platt's calibration of three and more classes: multinomial logistic regression of his targets on
# the scores of all classes, in the directions in which higher held-out scores are associated with
# the classes. If there are none, the probabilities are the shares of the classes. `near` is the
# form of the map of nearly the same rows.
joint_map <- function(score, class, weights, near = NULL) {
  own <- outer(class, seq_len(ncol(score)), `==`)
  counts <- colSums(weights * own)
  other <- 1 / (counts[class] + 2)
  target <- ifelse(own, (counts[class] + 1) * other, other / (ncol(score) - 1))
  centre <- colSums(weights * score) / sum(weights)
  away <- function(score) score - rep(centre, each = nrow(score))
  space <- associated_space(away(score), target, weights)
  if (!ncol(space)) {
    share <- colSums(weights * target) / sum(weights)
    return(with_form(function(score) matrix(share, nrow(score), ncol(score), byrow = TRUE),
                     "softmax", intercept = unname(log(share)), slope = diag(0, length(share))))
  }
  design <- function(score) cbind(rep_len(1, nrow(score)), away(score) %*% space)
  start <- if (!is.null(near))
    rbind(near$intercept + drop(centre %*% near$slope), crossprod(space, near$slope))
  b <- fit_multinomial(design(score), target, weights, start)
  slope <- space %*% b[-1L, , drop = FALSE]
  with_form(function(score) link_shares(design(score) %*% b), "softmax",
            intercept = drop(b[1L, ] - centre %*% slope), slope = unname(slope))
}

# An orthonormal basis (classes x directions) of the directions in which centred scores increase
# with the targets. In a direction in which a model has learnt nothing, held-out scores go against
# the classes: the model without a row is shifted away from the row.
associated_space <- function(score, target, weights) {
  product <- crossprod(score, weights * target)
  found <- eigen((product + t(product)) / 2, symmetric = TRUE)
  found$vectors[, found$values > 1e-9 * max(found$values, 0), drop = FALSE]
}

# The penalty of the slopes for scores of codes -1 and 1, half of which multiplies their sum of
# squares. It keeps the slopes finite where scores hardly vary or separate the classes.
slope_penalty <- 0.01

# Multinomial logistic regression of targets (rows x classes) on the columns of x, of which the
# first is 1: coefficients (columns of x x classes) of sum 0 over the classes. Newton's method from
# the coefficients b, or from the shares of the classes, with steps that are halved until the loss
# falls.
fit_multinomial <- function(x, target, weights, b) {
  if (is.null(b)) {
    share <- log(colSums(weights * target) / sum(weights))
    b <- rbind(share - mean(share), matrix(0, ncol(x) - 1L, ncol(target)))
  }
  penalty <- slope_penalty * (row(b) > 1L)
  loss <- function(b) {
    p <- link_shares(x %*% b)
    sum(penalty * b^2) / 2 - sum(weights * target * log(pmax(p, 1e-300)))
  }
  for (round in 1:100) {
    p <- link_shares(x %*% b)
    gradient <- crossprod(x, weights * (p - target)) + penalty * b
    largest <- max(abs(gradient)) / nrow(x)
    if (largest <= 1e-11) break
    # far from the minimum a rough step does as well
    step <- multinomial_step(x, p, weights, penalty, gradient, max(1e-8, min(0.01, largest)))
    size <- step_size(loss, b, step, sum(gradient * step))
    if (size <= 1e-10) break
    b <- b - size * step
  }
  b
}

# The share of a Newton step, halved until the loss falls by a part of the `fall` of the linear
# function that the gradient gives. Near the minimum the loss falls by less than its rounding.
step_size <- function(loss, b, step, fall) {
  size <- 1
  least <- loss(b) * (1 + 1e-13)
  while (size > 1e-10 && loss(b - size * step) > least - 1e-4 * size * fall) size <- size / 2
  size
}

# The gradient divided by the second derivatives of the loss, by conjugate gradients until the
# preconditioned square of the residual is a share `enough` of the square of the gradient. The
# second derivatives within each class are the preconditioner. All sums over the classes are 0, as a
# constant in all classes changes no probability.
multinomial_step <- function(x, p, weights, penalty, gradient, enough) {
  inverse <- lapply(seq_len(ncol(p)), function(k) {
    solve(crossprod(x, weights * p[, k] * (1 - p[, k]) * x) + diag(penalty[, k] + 1e-12 * nrow(x)))
  })
  precondition <- function(r) {
    each <- vapply(seq_along(inverse), function(k) drop(inverse[[k]] %*% r[, k]), r[, 1L])
    each - rowMeans(each)
  }
  product <- function(v) {
    link <- p * (x %*% v)
    crossprod(x, weights * (link - p * rowSums(link))) + penalty * v
  }
  step <- 0 * gradient
  residual <- gradient
  direction <- ahead <- precondition(residual)
  square <- sum(residual * ahead)
  least <- enough * square
  for (round in seq_len(2L * length(gradient))) {
    image <- product(direction)
    along <- square / sum(direction * image)
    step <- step + along * direction
    residual <- residual - along * image
    ahead <- precondition(residual)
    before <- square
    square <- sum(residual * ahead)
    if (square <= least) break
    direction <- ahead + square / before * direction
  }
  step
}

# Maps of one score -------------------------------------------------------------------------------

# Each map returns a function of scores. It is given the held-out scores of rows, whether the rows
# belong to the class (`positive`), and weights of mean 1.

platt_map <- function(score, positive, weights) {
  counts <- c(sum(weights[!positive]), sum(weights[positive]))
  target <- ifelse(positive, (counts[2L] + 1) / (counts[2L] + 2), 1 / (counts[1L] + 2))
  line <- fit_logistic(score, target, weights)
  with_form(function(score) stats::plogis(line[1L] + line[2L] * score), "logistic",
            intercept = line[1L], slope = matrix(line[2L]))
}

# Logistic regression of targets in (0, 1) on one score, with a non-negative slope: intercept and
# slope, by Newton's method with steps that are halved until the loss falls (Lin, Lin and Weng
# 2007).
fit_logistic <- function(score, target, weights) {
  flat <- c(stats::qlogis(stats::weighted.mean(target, weights)), 0)
  centre <- stats::weighted.mean(score, weights)
  spread <- sqrt(stats::weighted.mean((score - centre)^2, weights))
  if (spread <= score_tie) return(flat)
  x <- cbind(1, (score - centre) / spread)
  loss <- function(b) {
    link <- drop(x %*% b)
    sum(weights * (pmax(link, 0) - target * link + log1p(exp(-abs(link)))))
  }
  b <- flat
  for (round in 1:100) {
    p <- stats::plogis(drop(x %*% b))
    gradient <- crossprod(x, weights * (p - target))
    hessian <- crossprod(x, weights * p * (1 - p) * x) + diag(1e-12, 2L)
    step <- drop(solve(hessian, gradient))
    size <- step_size(loss, b, step, sum(gradient * step))
    b <- b - size * step
    if (max(abs(gradient)) <= 1e-13 * length(score) || size <= 1e-10) break
  }
  if (b[2L] <= 0) flat else c(b[1L] - b[2L] * centre / spread, b[2L] / spread)
}

isotonic_map <- function(score, positive, weights) {
  group <- tied_ranks(score)
  total <- rowsum(weights, group)[, 1L]
  at <- rowsum(weights * score, group)[, 1L] / total
  level <- pool_violators(rowsum(weights * positive, group)[, 1L] / total, total)
  with_form(function(score) interpolated(at, level, score), "isotonic",
            maps = list(list(at = at, level = level)))
}

# The value at each score of the line between points, constant beyond them.
interpolated <- function(at, level, score) {
  if (length(at) == 1L) return(ifelse(is.na(score), NA_real_, level))
  stats::approx(at, level, score, rule = 2L)$y
}

level_tie <- 1e-12

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
    # means that are equal but for rounding are one
    while (last > 1L && mean[last - 1L] >= mean[last] - level_tie) {
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

check_two_classes <- function(problem, what) {
  stop_argument_if(problem$coding$task != "binary", "%s needs a fit with two classes, not %s", what,
                   if (problem$coding$task == "regression") "numbers" else
                     paste(length(problem$coding$levels), "classes"))
}

# The threshold of predict(), a number for the second class or the result of choose_threshold():
# list(value, calibration, event), the last the number of the class.
as_threshold <- function(threshold, calibration, problem) {
  event <- 2L
  if (is.data.frame(threshold) && all(c("threshold", "calibration") %in% names(threshold))) {
    if (is.null(calibration)) calibration <- threshold$calibration
    event <- event_number(problem, threshold$event)
    threshold <- threshold$threshold
  }
  refuse_unless(is_number(threshold) && threshold >= 0 && threshold <= 1, "threshold",
                "a number between 0 and 1 or the result of choose_threshold()", threshold)
  list(value = threshold, calibration = calibration, event = event)
}

# the number of the class that is the event, by default the second
event_number <- function(problem, event) {
  if (is.null(event)) return(2L)
  levels <- problem$coding$levels
  if (is.factor(event)) event <- as.character(event)
  refuse_unless(is_string(event) && event %in% levels, "event",
                paste("one of the classes,", some_of(levels)), event)
  match(event, levels)
}

# Measures ----------------------------------------------------------------------------------------

# A measure for the models of one fit. An error rate is by the rule of the fit, with `plain`, the
# measure of models without columns. A measure of probabilities gets a function that sums it over
# the rows of a problem, by the calibration of the chosen model. `fit` may be a part_null().
measure_for <- function(measure, fit) {
  if (!is.null(measure$held_out)) return(measure)
  if (measure$name %in% c("error", "balanced")) {
    if (!has_class_rule(fit)) return(measure)
    rule <- class_rule(fit)
    of_rows <- function(problem, score) as.double(rule(score) != class_index(problem))
    return(with_row_loss(c(measure, list(plain = measure)), of_rows,
                         function(problem) row_weights(problem, measure)))
  }
  if (measure$name == "auc" && is_joint(loss_name(fit))) {
    # the links of a class can be compared between rows as probabilities alone
    measure$scores <- link_shares
    measure$sum <- function(problem, score) class_pairs(problem, link_shares(score))
    return(measure)
  }
  if (!measure$name %in% c("brier", "logloss")) return(measure)
  map <- if (inherits(fit, "part_null")) {
    fit$calibrated()
  } else {
    has_map <- inherits(fit, "sparsels_fit") &&
      (calibration_kind(fit, NULL) == "none" || has_held_out(fit))
    stop_argument_if(!has_map, "`measure = \"%s\"` needs %s, not %s", measure$name,
                     "a fit of this package with held-out scores",
                     "what `method` gives: give a function as `measure`")
    calibrated(fit)
  }
  with_row_loss(measure, function(problem, score) {
    probability_loss(problem, measure$name, map(score))
  }, case_weights)
}

# The Brier score or the log loss of probabilities of each row. Both follow yardstick, where the
# Brier score is half the sum of squares over the classes.
probability_loss <- function(problem, name, p) {
  own <- cbind(seq_len(nrow(p)), class_index(problem))
  if (name == "brier") return(rowSums((p - replace(0 * p, own, 1))^2) / 2)
  -log(pmax(p[own], .Machine$double.eps))
}

# Threshold ----------------------------------------------------------------------------------------

# Thresholds of the probability of a class, the event, and the errors of rows held out.

#' Choose the threshold of a classifier of two classes
#'
#' The probability above which a row is classified as the event, one of the two classes, chosen by
#' the costs of errors or by a required sensitivity, or given. The result includes the held-out
#' sensitivity, specificity and cost.
#'
#' @details Sensitivity is the share of the rows of the event that are classified correctly, and
#' specificity the share of the other rows that are. The event is the class named by `event`, by
#' `names(sensitivity)`, or by default the second level of the response, often the last of the
#' alphabet (`event_level = "second"` of yardstick). A message says so where the two classes are not
#' treated alike. Probabilities come from the held-out scores of the fit, see
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
#' @param cost What the two errors cost, of which one may be 0: `c(false_positive = ,
#'   false_negative = )`, or by the names of the classes what a misclassified row of each costs,
#'   such as `c(ill = 5, well = 1)`.
#' @param sensitivity The required sensitivity, above 0 and at most 1, with or without the name of
#'   the event, such as `c(ill = 0.9)`; `NULL`: the threshold is chosen by `cost`.
#' @param threshold A threshold between 0 and 1, whose errors are computed; `NULL`: one is chosen.
#' @param calibration As in [class_probabilities].
#' @param event The class that is the event; `NULL` for the second level of the response.
#'
#' @return A data frame with one row: `threshold`, of the probability of the event; the held-out
#'   `sensitivity` and `specificity`; `cost`, the mean over the rows; `calibration`; `event`.
#'   `predict(type = "class")` takes it, or a number for the second level, as `threshold`.
#' @section Errors: `sparsels_error_input` for a fit without two classes or without held-out scores,
#'   for both `sensitivity` and `threshold`, and for values that are no costs or shares.
#' @seealso [class_probabilities]; `vignette("probabilities")`
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(200 * 20), 200)
#' ill <- factor(ifelse(x[, 3] + x[, 8] + rnorm(200) > 1.5, "ill", "well"), c("well", "ill"))
#' fit <- greedy_rls(x[1:150, ], ill[1:150])
#' choose_threshold(fit)
#' chosen <- choose_threshold(fit, cost = c(ill = 5, well = 1), event = "ill")
#' chosen
#' table(ill[151:200], predict(fit, x[151:200, ], type = "class", threshold = chosen))
#' choose_threshold(fit, sensitivity = c(ill = 0.95))
#' @export
choose_threshold <- function(object, cost = c(false_positive = 1, false_negative = 1),
                             sensitivity = NULL, threshold = NULL, calibration = NULL,
                             event = NULL) {
  check_given(object, "object")
  fit <- two_class_fit(object)
  levels <- fit$problem$coding$levels
  by_class <- setequal(names(cost), levels)
  named <- names(sensitivity)
  number <- event_number(fit$problem, if (is.null(named)) event else named)
  stop_argument_if(!is.null(named) && !is.null(event) && event_number(fit$problem, event) != number,
                   "`event` is '%s', but `sensitivity` is of '%s'", event, named)
  cost <- check_error_costs(cost, levels, number)
  message_if(is.null(event) && is.null(named) &&
               (!is.null(sensitivity) || cost[[1L]] != cost[[2L]] && !by_class),
             "sparsels_message_event",
             "the event (positive class) is '%s': for '%s' give `event = \"%s\"`",
             levels[number], levels[-number], levels[-number])
  stop_argument_if(!is.null(sensitivity) && !is.null(threshold),
                   "give either `sensitivity` or `threshold`, not both")
  rows <- scored_places(fit)
  p <- calibrated(fit, calibration)(fit$held_out[rows, , drop = FALSE])[, number]
  event <- class_index(fit$problem)[rows] == number
  stop_input_if(!any(event) || all(event), "the rows held out are all of one class")
  weights <- case_weights(fit$problem)[rows]
  if (!is.null(threshold)) {
    tried <- check_share(threshold, "threshold")
  } else if (!is.null(sensitivity)) {
    sensitivity <- check_share(sensitivity, "sensitivity")
    # 0, the midpoints between probabilities that differ by more than rounding, and 1
    each <- sort(p)
    apart <- diff(each) > level_tie
    tried <- c(0, ((each[-1L] + each[-length(each)]) / 2)[apart], 1)
  } else {
    tried <- cost[[1L]] / sum(cost)
  }
  errors <- threshold_errors(tried, p, event, weights, cost)
  wanted <- if (is.null(sensitivity)) 0 else sensitivity - 1e-12
  data.frame(errors[max(which(errors$sensitivity >= wanted)), ],
             calibration = calibration_kind(fit, calibration), event = levels[number],
             row.names = NULL)
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
  data.frame(threshold = thresholds, sensitivity = found / events, specificity = 1 - wrong / others,
             cost = (cost[[1L]] * wrong + cost[[2L]] * (events - found)) / (events + others))
}

two_class_fit <- function(object) {
  fit <- if (inherits(object, "cv_result")) fit_of_folds(object) else object
  refuse_unless(inherits(fit, "sparsels_fit"), "object",
                "a fit of a classifier or a result of cross_validate()", object)
  check_sealed(object)
  check_two_classes(fit$problem, "a threshold")
  fit
}

# The costs of a false positive and a false negative, given so or by the classes of the rows.
check_error_costs <- function(cost, levels, event) {
  names <- c("false_positive", "false_negative")
  own <- c(levels[-event], levels[event])
  if (length(cost) == 2L && setequal(names(cost), own)) cost <- stats::setNames(cost[own], names)
  valid <- is.numeric(cost) && !is.object(cost) && length(cost) == 2L &&
    setequal(names(cost), names) && all(is.finite(cost) & cost >= 0) && sum(cost) > 0
  must <- paste("c(false_positive = , false_negative = ), or named by the classes, numbers of at",
                "least 0 and not both 0")
  refuse_unless(valid, "cost", must, cost)
  cost[names]
}

check_share <- function(x, name) {
  refuse_unless(is_number(x) && x >= 0 && x <= 1, name, "a number between 0 and 1", x)
  as.double(x)
}

# Deviance -----------------------------------------------------------------------------------------

# Deviance and likelihood of the models of a fit on its training rows.

#' Deviance and log likelihood of a fit
#'
#' How well a model of a fit describes the rows it was trained on, in the measures of R's modelling
#' functions.
#'
#' Both are computed on the training rows, and are too small for a model whose features were
#' selected by them: the degrees of freedom do not count the selection. AIC and BIC of a selected
#' model are therefore too small. The held-out errors of the path,
#' [as.data.frame()][as.data.frame.sparsels_result], do not have this fault.
#'
#' @param object A fit.
#' @param size,lambda Which models, as in [coef()][sparsels_fit]; `deviance()` also takes several.
#' @param newdata,adjust The data that the fit was made from, and their covariates where
#'   [predict()][sparsels_fit] needs them. Only needed for a model whose fitted values the fit does
#'   not keep; the error message says so.
#' @param ... Not used.
#'
#' @return `deviance()`: the weighted residual sum of squares, as [stats::deviance()] of an `lm`,
#'   over all responses, each divided by its standard deviation if [as_problem()] has standardised
#'   several. Classes are coded -1 and +1. With `loss = "logistic"`, minus twice the log likelihood,
#'   and for counts and shares the deviance, as for a `glm`. The penalty is not in it. For several
#'   models a vector, named by size or lambda.
#'
#'   `logLik()`: the log likelihood of a model that maximises it, as [stats::logLik()] of the `lm`
#'   or `glm` with the same columns: of least squares without a penalty (`lambda = 0`, as
#'   [forward_regression()] and [best_subset()] have by default) for one numeric response, and of
#'   models with covariates only. Its `df` counts the coefficients, and for least squares the
#'   variance. `AIC(fit)` and `BIC(fit)` follow; of another model take `AIC(logLik(fit, size = 2))`.
#'
#' @section Errors: `sparsels_error_input` for the hinge loss, which has no deviance; for `logLik()`
#'   of a penalised model, of classes by least squares and of several responses; and where `newdata`
#'   are needed.
#' @seealso [sparsels_fit], [formula()][formula.sparsels_fit] to fit the chosen columns by
#'   [stats::lm()]
#' @examples
#' fit <- forward_regression(mpg ~ ., mtcars, k = 4)
#' deviance(fit, size = 0:4)
#' logLik(fit)
#' logLik(lm(formula(fit), mtcars))
#' sapply(1:4, function(size) BIC(logLik(fit, size)))
#' @name deviance.sparsels_fit
NULL

#' @rdname deviance.sparsels_fit
#' @importFrom stats deviance
#' @export
deviance.sparsels_fit <- function(object, size = NULL, lambda = NULL, newdata = NULL,
                                  adjust = NULL, ...) {
  check_method_call(..., object = object, known = c("size", "lambda", "newdata", "adjust"))
  stop_input_if(!loss_of(object)$smooth,
                "the hinge loss has no deviance: fit$path has its objective and held-out errors")
  models <- models_asked(object, size, lambda)
  values <- if (is.null(newdata)) {
    vapply(models, kept_deviance, 0, fit = object)
  } else {
    scores <- scores_of_models(object, models, as_new_data(newdata), adjust)
    rows <- nrow(object$problem)
    stop_newdata_if(nrow(scores) != rows,
                    "`newdata` must be the %d rows that the fit was made from, not %d rows", rows,
                    nrow(scores))
    deviance_of_scores(object, scores)
  }
  if (length(models) == 1L) unname(values) else stats::setNames(values, names(models))
}

# The deviance of each model from its scores, rows x L x models.
deviance_of_scores <- function(fit, scores) {
  problem <- fit$problem
  # a loss that ties rows or responses together
  at <- loss_of(fit)$at
  each <- seq_len(dim(scores)[3L])
  if (!is.null(at)) return(vapply(each, function(l) 2 * at(problem, layer(scores, l))$loss, 0))
  y <- as.vector(scores_of(problem, 0))
  offset <- if (is.null(problem$rows$offset)) 0 else as.vector(problem$rows$offset)
  of_rows <- 2 * loss_of(fit)$value(y, scores_of_rows(problem, scores), offset)
  colSums(problem$rows$weight * of_rows, dims = 2L)
}

# The deviance of a model from the contents of a fit: errors of the training rows in the path, or
# fitted values.
kept_deviance <- function(fit, model) {
  row <- fit$path[model$step + 1L, ]
  weights <- fit$problem$rows$weight
  # the ratio of a model whose coefficients were removed afterwards is only a bound
  if (!is.null(row$dev_ratio) && !isTRUE(row$removed > 0L)) {
    return(2 * (1 - row$dev_ratio) * fit$null_objective)
  }
  if (!is.null(row$training)) return(row$training * ncol(fit$problem$rows$y) * sum(weights))
  scores <- kept_scores(fit, model)
  if (!is.null(scores)) return(deviance_of_scores(fit, array(scores, c(dim(scores), 1L))))
  if (fit$criterion$name == "r_squared" && is_unpenalised(fit, model)) {
    return((1 - row$criterion) * sum(working_response(fit$problem)^2))
  }
  stop_input("the fit keeps no fitted values of this model of size %d: %s", length(model$features),
             "give `newdata`, the data it was made from")
}

# Likelihood --------------------------------------------------------------------------------------

#' @rdname deviance.sparsels_fit
#' @importFrom stats logLik
#' @export
logLik.sparsels_fit <- function(object, size = NULL, lambda = NULL,
                                newdata = NULL, adjust = NULL, ...) {
  check_method_call(..., object = object, known = c("size", "lambda", "newdata", "adjust"))
  model <- model_of(object, size, lambda)
  check_likelihood(object, model)
  deviance <- deviance(object, size, lambda, newdata, adjust, ...)
  weights <- object$problem$rows$weight
  weights <- weights[weights > 0]
  m <- length(weights)
  coefficients <- length(model$features) + ncol(object$problem$z)
  likelihood <- loss_of(object)$likelihood
  known <- !is.null(likelihood)
  value <- if (known) likelihood(object$problem) - deviance / 2 else
    (sum(log(weights)) - m * (log(2 * pi) + 1 - log(m) + log(deviance))) / 2
  structure(value, df = coefficients + !known, nobs = m, class = "logLik")
}

#' @importFrom stats sigma
#' @exportS3Method
sigma.sparsels_fit <- function(object, ...) {
  check_sealed(object)
  stop_input_if(!is_unpenalised(object, model_of(object)),
                "no residual standard deviation, as coefficients are shrunk: %s",
                "sd(residuals(fit, \"held_out\")) is the one of rows held out")
  NextMethod()
}

# whether no coefficient of a model is shrunk
is_unpenalised <- function(fit, model) {
  inherits(fit, "sparse_fit") && (!length(model$features) || lambda_of_model(fit, model) == 0)
}

check_likelihood <- function(fit, model) {
  problem <- fit$problem
  instead <- "compare models by their held-out errors, as.data.frame(fit)"
  no_level <- stated_by_properties(problem, "no_level")
  why <- if (!loss_of(fit)$smooth) {
    "the hinge loss is not the logarithm of a likelihood"
  } else if (!is_unpenalised(fit, model)) {
    "the model is penalised, and maximises no likelihood"
  } else if (problem$coding$task != "regression" && is.null(loss_of(fit)$likelihood)) {
    "least squares on the codes of classes maximises no likelihood of the classes"
  } else if (!is.null(no_level)) {
    no_level
  } else if (ncol(problem$rows$y) > 1L) {
    sprintf("the fit has %d responses", ncol(problem$rows$y))
  }
  stop_input_if(!is.null(why), "no log likelihood: %s; %s", why, instead)
}

# Classes ----------------------------------------------------------------------------------------

# The class of scores is the sign of the score of two classes, and of more the largest probability.

# Whether the classes of a fit are the ones with the largest calibrated probability: three or more
# classes, unless the scores are logits, of which the largest has the largest probability.
is_by_probability <- function(fit) {
  inherits(fit, "sparsels_fit") && fit$problem$coding$task == "multiclass" &&
    calibration_kind(fit, NULL) != "none"
}

# Whether a fit has probabilities for its classes. Nothing can be calibrated without rows held out,
# nor where the chosen model has no columns, of which the largest score is the majority.
has_class_rule <- function(fit) {
  is_by_probability(fit) && has_held_out(fit) && !is_empty_model(model_of(fit))
}

is_empty_model <- function(model) "features" %in% names(model) && !length(model$features)

# A function that gives the number of the class of each row of scores (rows x L), calibrated on the
# held-out scores of some rows of the problem of a fit.
class_rule <- function(fit, problem = fit$problem) {
  if (!has_class_rule(fit)) return(function(score) class_number(problem, score))
  map <- calibrated(fit)
  function(score) most_probable(problem, map(score))
}

# The number of the class with the largest probability, times its class weight.
most_probable <- function(problem, p) {
  weight <- if (is.null(problem$coding$class_weights)) 1 else unname(weights_of_classes(problem))
  first_largest(p * rep_len(weight, ncol(p))[col(p)])
}

# the rules without each part of the rows, by which the part is classified
rules_without <- function(fit, parts) {
  all <- calibrated(fit)
  lapply(parts, function(rows) {
    map <- calibrated(fit, rows = places_without(fit, rows), near = all)
    function(score) most_probable(fit$problem, map(score))
  })
}

# The places of the scores that calibrate a fit without some rows. Where Ctrl-C left the scores of
# these rows only, there are no others.
places_without <- function(fit, rows) {
  places <- scored_places(fit)
  others <- setdiff(places, rows)
  if (length(others)) others else places
}

# The number of the class of each row by its held-out score, NULL for numbers. `p` has the
# probabilities of the classes by these scores.
held_out_classes <- function(fit, p = held_out_probabilities(fit)) {
  if (!has_classes(fit$problem) || is.null(fit$held_out)) return(NULL)
  if (!has_held_out(fit)) return(rep(NA_integer_, nrow(fit$problem)))
  ruled <- has_class_rule(fit) || !is.null(loss_of(fit)$shares)
  if (ruled) most_probable(fit$problem, p) else class_number(fit$problem, fit$held_out)
}

# The probabilities of the classes of each row by its held-out score. Of three and more classes they
# are calibrated without the fold of the row, of ordered ones by the best cutpoints.
held_out_probabilities <- function(fit) {
  own <- !is.null(loss_of(fit)$shares)
  if (!has_class_rule(fit) && !own) return(calibrated(fit)(fit$held_out))
  p <- matrix(0, nrow(fit$problem), length(class_names(fit$problem)))
  folds <- if (is.null(fit$size_folds)) fit$folds else fit$size_folds
  ids <- if (is.null(folds)) seq_len(nrow(p)) else folds$ids[, 1L]
  # ten parts where the fit left out one row, or one of more than twenty groups, at a time
  if (length(unique(ids)) > 20L) ids <- (ids - 1L) %% 10L
  all <- if (!own) calibrated(fit)
  for (rows in split(seq_len(nrow(p)), ids)) {
    others <- places_without(fit, rows)
    map <- if (own) own_map(fit, others) else calibrated(fit, rows = others, near = all)
    p[rows, ] <- map(fit$held_out[rows, , drop = FALSE])
  }
  p
}

# A function that gives probabilities of scores by the values that the loss of a fit keeps, made
# from the held-out scores of some rows.
own_map <- function(fit, rows) {
  w <- fit$problem$rows$weight
  held <- rows[!is.na(fit$held_out[rows, ])]
  fit$problem$rows$weight <- replace(0 * w, held, w[held])
  fit <- with_kept(fit, fit$problem, replace(fit$held_out, is.na(fit$held_out), 0))
  function(score) loss_of(fit)$shares(fit, score[, 1L], 1L)
}

# A fit with the values that its loss keeps of the linear predictors of all rows by models.
with_kept <- function(fit, problem, f) {
  kept <- loss_of(fit)$keep(problem, matrix(f, nrow(problem)))
  replace(fit, names(kept), kept)
}

# the error rate of these classes
held_out_rate <- function(fit, predicted = held_out_classes(fit)) {
  w <- replace(fit$problem$rows$weight, is.na(predicted), 0)
  sum(w * (predicted != class_index(fit$problem)), na.rm = TRUE) / sum(w)
}

# A fit whose search was repeated in folds with the error rates of its rule, made without each fold:
# of every size, and of the sizes that the other folds choose.
with_class_errors <- function(fit, problem, chosen) {
  if (!has_class_rule(fit)) return(fit)
  parts <- chosen$parts
  rules <- rules_without(fit, parts$rows)
  errors_of <- function(models) {
    fold_errors(Map(function(rows, rule, models, part) {
      scores <- model_scores(models, problem, rows, state_without(problem, part))
      class_error_sums(scored_rows(problem, rows), scores, rule,
                       lengths(lapply(models, `[[`, "features")))
    }, parts$rows, rules, models, chosen$state), parts$repetition)
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
