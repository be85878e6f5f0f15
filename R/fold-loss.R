# The losses of paths with an l1 penalty, a table. src/l1-loss.c has the same names, and
# src/criterion.c the held-out loss of each. Another loss is another record.

# The loss of each row for the linear predictor f, which the offset is not in.
l1_loss <- function(loss, y, f, offset = 0) losses[[loss]]$value(y, f, offset)

# The record of the loss of a fit, which is squared without a `loss`.
loss_of <- function(fit) losses[[if (is.null(fit$loss)) "squared" else fit$loss]]

# The offset of the rows of a problem of one response.
row_offset <- function(problem) {
  if (is.null(problem$rows$offset)) 0 else problem$rows$offset[, 1L]
}

# Dual points of classes ---------------------------------------------------------------------------

# alpha / w of a dual point for logistic or hinge loss, where slightly negative values are rounding
# errors
dual_share <- function(problem, r) {
  share <- problem$rows$y[, 1L] * r / weight_divisor(problem)
  replace(share, share < 0 & share > -1e-10, 0)
}

entropy <- function(p) {
  part <- function(p) ifelse(p > 0, -p * log(p), 0)
  part(p) + ifelse(p < 1, -(1 - p) * log1p(-p), 0)
}

# The largest s, at most `max_s`, for which s r is in the domain of the dual.
largest_share <- function(problem, r, max_s) {
  share <- dual_share(problem, r)
  if (any(share < 0)) 0 else min(max_s, 1 / max(share))
}

# The s in (0, max_s] with the largest value of a concave function, whose slope at s is `rise(s)`.
highest_multiple <- function(rise, max_s) {
  if (rise(max_s) >= 0) return(max_s)
  ends <- c(0, max_s)
  # half of the digits suffice at a maximum
  for (i in 1:40) {
    middle <- mean(ends)
    ends[if (rise(middle) > 0) 1L else 2L] <- middle
  }
  ends[1L]
}

# The s that maximises the sum of w entropy(s share) less s^2 tail / 2.
entropy_multiple <- function(problem, r, max_s, tail) {
  max_s <- largest_share(problem, r, max_s)
  if (max_s == 0) return(0)
  share <- dual_share(problem, r)
  inside <- share > 0
  w <- (problem$rows$weight * share)[inside]
  share <- share[inside]
  highest_multiple(function(s) {
    sum(w * (log1p(-pmin(s * share, 1)) - log(s * share))) - s * tail
  }, max_s)
}

# The table ----------------------------------------------------------------------------------------

# A loss. `value`, `slope` (minus the derivative by f) and `curvature` take the working response y,
# the linear predictor f and the offset of each row, which is not in f. `mean` takes f with the
# offset to the scale of the response, NULL for f itself, and `residual` is on that scale.
#
# `dual(problem, r)` is the value of a dual point, and `multiple(problem, r, max_s, tail)` the s up
# to max_s with the largest value of s r less s^2 tail / 2. A `smooth` loss has one dual point at
# each model, its residual. `ball` is the square of the radius of the dual ball for a gap of 1, and
# `steepest` the largest curvature; NULL where there is none.
#
# `title` is a model with the penalty in words, `explained` the fraction that it explains, and
# `needs` the response, as in `criteria`. `lost` is the score of a class that has all of so much
# weight. `likelihood` is whether the loss is minus the logarithm of a likelihood without unknowns.
new_loss <- function(title, explained, value, needs = NULL, slope = NULL, curvature = NULL,
                     residual = function(y, f, offset) y - f, mean = NULL, dual = NULL,
                     multiple = NULL, smooth = TRUE, ball = NULL, steepest = NULL,
                     lost = function(weight) 1, likelihood = FALSE) {
  as.list(environment())
}

losses <- list(
  squared = new_loss(
    title = c("least squares with an l1 penalty (lasso)", "least squares with"),
    explained = "R-squared",
    value = function(y, f, offset) (y - f)^2 / 2,
    slope = function(y, f, offset) y - f,
    dual = function(problem, r) sum(working_response(problem) * r) - sum(r^2) / 2,
    multiple = function(problem, r, max_s, tail) {
      max(-max_s, min(sum(working_response(problem) * r) / (sum(r^2) + tail), max_s))
    },
    ball = 2, steepest = 1
  ),
  logistic = new_loss(
    title = c("logistic regression with an l1 penalty", "logistic regression with"),
    explained = "deviance explained", needs = "classes",
    value = function(y, f, offset) pmax(-y * f, 0) + log1p(exp(-abs(y * f))),
    slope = function(y, f, offset) y * stats::plogis(-y * f),
    curvature = function(y, f, offset) {
      share <- stats::plogis(-y * f)
      share * (1 - share)
    },
    residual = function(y, f, offset) (y + 1) / 2 - stats::plogis(f),
    mean = stats::plogis,
    dual = function(problem, r) sum(problem$rows$weight * entropy(dual_share(problem, r))),
    multiple = function(problem, r, max_s, tail) entropy_multiple(problem, r, max_s, tail),
    ball = 1 / 2, steepest = 1 / 4, lost = function(weight) log1p(2 * weight), likelihood = TRUE
  ),
  hinge = new_loss(
    title = "support vector machine with an l1 penalty (hinge loss)",
    explained = "hinge loss explained", needs = "classes",
    value = function(y, f, offset) pmax(1 - y * f, 0),
    dual = function(problem, r) sum(problem$rows$weight * dual_share(problem, r)),
    multiple = function(problem, r, max_s, tail) largest_share(problem, r, max_s),
    smooth = FALSE
  )
)
