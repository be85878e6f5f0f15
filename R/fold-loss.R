# The losses of paths with an l1 penalty, a table. src/l1-loss.c has the same names. Another loss is
# another record.

# The loss of each row for the linear predictor f, which the offset is not in.
l1_loss <- function(loss, y, f, offset = 0) losses[[loss]]$value(y, f, offset)

# The losses of every row by a criterion (rows x models), from the residuals of models. The
# criterion of counts, shares and of all classes together is the deviance.
row_losses <- function(problem, name, residual) {
  y <- problem$rows$y
  if (is.null(loss_record(name)$criterion)) return(.Call(C_row_losses, name, y, residual))
  f <- array(as.vector(y) - residual, c(dim(y), length(residual) / length(y)))
  as.vector(vapply(seq_len(dim(f)[3L]), function(model) {
    if (is_joint(name)) return(2 * l1_loss(name, y, layer(f, model)))
    2 * l1_loss(name, y[, 1L], f[, 1L, model], row_offset(problem))
  }, numeric(nrow(y))))
}

# The record of a loss, NULL for other criteria.
loss_record <- function(name) if (is_string(name)) losses[[name]]

# Whether all responses have one model together, such as all classes by a softmax.
is_joint <- function(loss) isTRUE(loss_record(loss)$joint)

# The numbers of the responses that have a model together, for each model.
responses_together <- function(problem, loss) {
  all <- seq_len(ncol(problem$rows$y))
  if (is_joint(loss)) list(all) else as.list(all)
}

# The loss at the linear predictor f: list(loss, slope, diagonal, curve). `slope` is minus the
# derivative by f divided by the weight of each row, `diagonal` of the second derivative, and
# `curve` a function of directions (rows x any) that gives the products with it. A loss that ties
# rows together also has `dual`, see cox_point().
loss_at <- function(problem, loss, f) {
  record <- losses[[loss]]
  if (!is.null(record$at)) return(record$at(problem, f))
  y <- problem$rows$y[, 1L]
  w <- problem$rows$weight
  offset <- row_offset(problem)
  diagonal <- if (!is.null(record$curvature)) w * record$curvature(y, f, offset)
  list(loss = sum(w * record$value(y, f, offset)), slope = record$slope(y, f, offset),
       diagonal = diagonal, curve = function(directions) diagonal * directions)
}

# The loss of an l1 path, by default Cox's for censored times and squares for other responses.
path_loss <- function(problem, loss = NULL) {
  if (!is.null(loss)) loss else if (is_survival(problem)) "cox" else "squared"
}

# The problem as the loss of an l1 path takes it. `ties` are of a Cox model alone.
loss_problem <- function(problem, loss, ties = "efron", threads = 1L) {
  loss <- path_loss(problem, loss)
  check_choice(ties, "ties", c("efron", "breslow"))
  stop_argument_if(ties != "efron" && !is_cox_loss(loss),
                   "`ties = \"%s\"` needs `loss = \"cox\"`, not \"%s\"", ties, loss)
  record <- loss_record(loss)
  if (!is.null(record$problem)) return(record$problem(problem, ties, threads))
  refuse_for_log_times(problem, sprintf("`loss = \"%s\"`", loss), "`loss = \"cox\"`")
  problem
}

# Whether a loss is of ordered classes, by any link.
takes_order <- function(loss) identical(loss_record(loss)$needs, "ordered classes")

# The problem as a loss of ordered classes takes it, unchanged for other losses.
as_ordered <- function(problem, loss) {
  if (takes_order(loss)) losses[[loss]]$problem(problem) else problem
}

# Whether a loss is of the events of times, which compares rows and has no loss of single rows.
is_cox_loss <- function(loss) identical(loss_record(loss)$needs, "times")

# Whether the safe tests of a loss are by the gap of a model alone.
needs_gap <- function(loss) losses[[loss]]$smooth && is.null(losses[[loss]]$steepest)

# The record of the loss of a fit, which is squared without a `loss`.
loss_of <- function(fit) losses[[loss_name(fit)]]

is_squared <- function(fit) loss_name(fit) == "squared"

loss_name <- function(fit) if (is.list(fit) && is_string(fit$loss)) fit$loss else "squared"

# Whether a loss is of numbers whose mean is not the linear predictor, such as counts. Their errors
# are judged at the mean.
judged_at_mean <- function(loss) !is.null(loss_record(loss)$limits)

# Whether a loss ties rows together, so that single rows have none.
ties_rows <- function(loss) !is.null(loss_record(loss)$held_out)

# Whether a loss is a likelihood of numbers, times or ordered classes, whose models minimise no
# squared error.
is_likelihood <- function(loss) judged_at_mean(loss) || ties_rows(loss)

# Whether the model of the covariates alone is by the loss itself. By the hinge loss it may not be
# unique, so that it is by squares.
has_own_null <- function(loss) isTRUE(loss_record(loss)$smooth) && loss != "squared"

# Refuses a likelihood where squared errors are compared.
refuse_likelihood <- function(loss, who, instead) {
  stop_argument_if(is_likelihood(loss),
                   "%s compares squared errors, which `loss = \"%s\"` does not minimise: %s", who,
                   loss, instead)
}

# Scores (rows x responses x models) as they are judged: of counts the means, less the offset.
judged_values <- function(problem, loss, score) {
  if (!judged_at_mean(loss)) return(score)
  as.vector(problem$rows$y) - judged_residuals(problem, loss, score)
}

# The residuals of scores by which the errors of a fit are judged, rows x responses x models.
judged_residuals <- function(problem, loss, score) {
  y <- as.vector(problem$rows$y)
  if (!judged_at_mean(loss)) return(y - score)
  losses[[loss]]$residual(y, score, row_offset(problem))
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

# The same of means from 0 to `most` by their link. The dual point of s r leaves the means `from` -
# s `change`.
mean_multiple <- function(problem, from, change, most, link, max_s, tail) {
  # rounding in rows without a weight must not limit s
  change <- change * (problem$rows$weight > 0)
  max_s <- min(max_s, (from / change)[change > 0], ((from - most) / change)[change < 0])
  weight <- problem$rows$weight * change
  moved <- change != 0
  rise <- function(s) sum((weight * link(from - s * change))[moved]) - s * tail
  if (max_s == 0) 0 else highest_multiple(rise, max_s)
}

# Counts -------------------------------------------------------------------------------------------

# Half of the deviance of counts from exp(f), whose difference has no digits near 0 otherwise.
half_deviance <- function(count, f) {
  base <- ifelse(count > 0, count, 1)
  x <- f - log(base)
  # exp(x) - 1 - x, near 0 by its series
  series <- x^2 * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x / 5040)))))
  loss <- base * ifelse(abs(x) < 1e-2, series, expm1(x) - x)
  none <- rep_len(count == 0, length(f))
  replace(loss, none, exp(f)[none])
}

# The means that may be of a dual point of counts: they are what it leaves of the counts.
dual_means <- function(problem, r) {
  problem$rows$y[, 1L] + row_offset(problem) - r / weight_divisor(problem)
}

# With the counts y and the means a of the dual point the sum of w (a - y - a log(a / y)), plus the
# product of its change with the saturated model.
count_dual <- function(problem, r) {
  offset <- row_offset(problem)
  count <- problem$rows$y[, 1L] + offset
  base <- ifelse(count > 0, count, 1)
  change <- r / weight_divisor(problem)
  mean <- pmax(dual_means(problem, r), 0)
  term <- ifelse(count > 0, -change, mean) - ifelse(mean > 0, mean * log(mean / base), 0)
  sum(problem$rows$weight * (term + change * (log(base) - offset)))
}

# Shares -------------------------------------------------------------------------------------------

# Half of the deviance of shares of one trial from plogis(f).
share_deviance <- function(share, f) {
  pmax(f, 0) - share * f + log1p(exp(-abs(f))) - share_entropy(share)
}

# The entropy of shares that may be outside 0 and 1 by rounding.
share_entropy <- function(share) entropy(pmin(pmax(share, 0), 1))

# Classes together ---------------------------------------------------------------------------------

# Probabilities in proportion to the exponentials of each row of links, rows x classes, or rows x
# classes x models.
link_shares <- function(link) {
  if (length(dim(link)) == 3L) {
    each <- lapply(seq_len(dim(link)[3L]), function(l) link_shares(layer(link, l)))
    return(array(unlist(each), dim(link), dimnames(link)))
  }
  exponential <- exp(link - row_largest(link))
  # rowSums() has more digits than a panel in another language
  exponential / Reduce(`+`, lapply(seq_len(ncol(link)), function(k) exponential[, k]))
}

row_largest <- function(values, ...) {
  do.call(pmax, c(lapply(seq_len(ncol(values)), function(k) values[, k]), ...))
}

# Minus the log likelihood of the class of each row, which has a value above 0 in y.
class_deviance <- function(y, link) {
  top <- row_largest(link)
  log(base::rowSums(exp(link - top))) + top - base::rowSums(link * (y > 0))
}

# The loss of classes at the links f, as loss_at() has it: directions are rows x classes, stacked.
class_point <- function(problem, f) {
  y <- problem$rows$y
  w <- problem$rows$weight
  share <- link_shares(f)
  curve <- function(directions) {
    apply(directions, 2L, function(d) {
      d <- matrix(d, nrow(share))
      w * share * (d - base::rowSums(share * d))
    })
  }
  list(loss = sum(w * class_deviance(y, f)), slope = (y > 0) - share, curve = curve)
}

# From the indicators to the probabilities. Indicators of 0 cannot fall, nor can indicators of 1
# rise, but by rounding errors.
class_change <- function(problem, r) {
  change <- r / weight_divisor(problem)
  rounding <- abs(change) < 1e-10 & (change > 0) != (problem$rows$y > 0)
  replace(change, rounding, 0)
}

# Negative binomial counts -------------------------------------------------------------------------

# The values of theta that are allowed. At the last one counts are Poisson in effect.
theta_range <- c(1e-3, 1e4)

# The record for a theta. It is the loss of shares y / (y + theta) of y + theta trials, theta being
# their odds at a linear predictor of 0. Without a theta it is for what does not depend on theta.
negbin_loss <- function(theta = 1) {
  by_share <- function(of) {
    function(y, f, offset) {
      trials <- y + offset + theta
      trials * of((y + offset) / trials, f + offset - log(theta))
    }
  }
  of_trials <- function(of) {
    function(problem, ...) {
      of(problem, ..., trials = problem$rows$y[, 1L] + row_offset(problem) + theta,
         offset = row_offset(problem) - log(theta))
    }
  }
  words <- sprintf("negative binomial regression (theta %.4g) with", theta)
  new_mean_loss(
    title = c(paste(words, "an l1 penalty"), words),
    needs = "counts", limits = c(0, Inf), whole = TRUE,
    variance = function(mean) mean + mean^2 / theta,
    criterion = "mean negative binomial deviance", compared = "poisson",
    parameter = list(
      name = "theta", value = theta, range = theta_range,
      fit = function(problem, mean) {
        count <- problem$rows$y[, 1L] + row_offset(problem)
        weight <- problem$rows$weight
        value <- function(log_theta) {
          theta <- exp(log_theta)
          sum(weight * (lgamma(count + theta) - lgamma(theta) + theta * log_theta -
                          (count + theta) * log(mean + theta)))
        }
        found <- exp(stats::optimize(value, log(theta_range), maximum = TRUE, tol = 1e-9)$maximum)
        # the end of the range is approached, not met
        if (found > 0.99 * theta_range[2L]) theta_range[2L] else found
      },
      words = "the variance is mean + mean^2 / theta",
      last = "the counts vary no more than Poisson counts do: %s, `loss = \"poisson\"` in effect"
    ),
    value = by_share(share_deviance),
    slope = by_share(function(share, f) share - stats::plogis(f)),
    curvature = by_share(function(share, f) stats::plogis(f) * stats::plogis(-f)),
    residual = losses$poisson$residual, mean = exp, link = log, start = losses$poisson$start,
    ratio = losses$poisson$ratio,
    dual = of_trials(losses$binomial$dual), multiple = of_trials(losses$binomial$multiple),
    likelihood = sum_of_rows(function(y, offset, weight) {
      count <- y + offset
      share <- count / (count + theta)
      weight * (lgamma(count + theta) - lgamma(theta) - lgamma(count + 1) -
                  (count + theta) * entropy(share))
    })
  )
}

# Parameters ---------------------------------------------------------------------------------------

# A loss with a parameter is a function of it in the table, and has it in its name: "negbin(2)".

# a name with a parameter, and without one
with_parameter <- function(loss, value) pointed("%s(%.17g)", loss, value)

loss_family <- function(loss) sub("\\(.*", "", loss)

# The parameter in the name of a loss, NA where there is none.
parameter_of <- function(loss) {
  if (!is_string(loss) || !is.function(.subset2(losses, loss_family(loss)))) return(NA_real_)
  suppressWarnings(as.numeric(sub("^[^(]*\\((.*)\\)$", "\\1", loss)))
}

# Whether a loss has a parameter that is not in its name.
lacks_parameter <- function(loss) {
  !is.null(loss_record(loss)$parameter) && is.na(parameter_of(loss))
}

# A loss as C takes it, with a parameter of 0 where it has none.
loss_settings <- function(loss) {
  value <- parameter_of(loss)
  list(loss = if (is.na(value)) loss else loss_family(loss), parameter = sum(value, na.rm = TRUE))
}

# A table of losses, in which a function makes the record for the parameter in a name.
#' @export
`[[.loss_table` <- function(x, i) {
  # most names are of a record, which is found without a look at the name
  if (is.list(record <- .subset2(x, i))) return(record)
  # the record that was made last is kept, as it is asked for many times in a row
  made <- attr(x, "made")
  if (!identical(made$name, i)) {
    value <- parameter_of(i)
    made$record <- if (!is.na(value)) .subset2(x, loss_family(i))(value) else
      if (is.function(record)) record()
    made$name <- i
  }
  made$record
}

# Checks -------------------------------------------------------------------------------------------

# One of the losses that are known, with the parameter where it is in the name.
check_loss <- function(loss, known) {
  family <- if (is_string(loss)) loss_family(loss)
  parameter <- loss_record(family)$parameter
  if (is.null(parameter) || loss == family) return(check_choice(loss, "loss", known))
  value <- parameter_of(loss)
  if (isTRUE(value >= parameter$range[1L] && value <= parameter$range[2L])) return(loss)
  stop_argument("%s in `loss = \"%s(%s)\"` must be a number from %s to %s, not %s",
                parameter$name, family, parameter$name, format(parameter$range[1L]),
                format(parameter$range[2L]), sub("\\)$", "", sub("^[^(]*\\(", "", loss)))
}

# The losses of the records with some property, in words.
loss_choices <- function(has) {
  words <- sprintf("\"%s\"", Filter(function(name) has(losses[[name]]), names(losses)))
  words[1L] <- sprintf("`loss = %s`", words[1L])
  last <- length(words)
  paste(paste(words[-last], collapse = ", "), "or", words[last])
}

# The message about numbers that may be counts, if nobody has said what their loss is: whole, at
# least 0, some of them small and some the same, and with a larger variance than mean.
say_count_response <- function(problem) {
  plain <- predicts_numbers(problem) && ncol(problem$rows$y) == 1L && is.null(problem$rows$offset)
  if (!plain) return(invisible())
  w <- problem$rows$weight
  y <- problem$rows$y[, 1L]
  mean <- sum(w * y) / sum(w)
  variance <- sum(w * (y - mean)^2) / sum(w)
  counts <- all(y >= 0 & y == round(y)) && length(unique(y)) > 2L && min(y) <= mean / 4 &&
    anyDuplicated(y) && variance > mean
  message_if(
    counts, "sparsels_message_counts",
    "the response is whole numbers of at least 0 with a larger variance (%s) than mean (%s): %s",
    shown(variance), shown(mean),
    sprintf("for counts give %s, for other numbers \"squared\"",
            loss_choices(function(record) identical(record$needs, "counts")))
  )
}

# Refuses numbers where a loss needs classes, and classes without a row: their intercept would be
# infinite.
check_every_class <- function(problem, loss) {
  stop_input_if(!has_classes(problem),
                "`loss = \"%s\"` needs a response with classes, but `y` is numeric: %s", loss,
                "give it as a factor")
  absent <- names(which(class_counts(problem, problem$rows$weight > 0) == 0L))
  stop_input_if(length(absent),
                "class '%s' of `y` has no row of positive weight, and `loss = \"%s\"` %s",
                absent[1L], loss,
                "needs one: leave the class out, or give folds that are stratified by the classes")
}

# Refuses responses of the wrong kind, and offsets and weights that leave them no finite mean.
check_limited <- function(problem, loss) {
  what <- sprintf("`loss = \"%s\"`", loss)
  record <- losses[[loss]]
  classes <- problem$coding$task != "regression"
  count <- ncol(problem$rows$y)
  given <- if (is_survival(problem)) "censored times" else if (classes) "classes" else
    if (count > 1L) sprintf("%d columns", count)
  stop_input_if(!is.null(given), "%s needs %s in one column, but `y` has %s%s", what, record$needs,
                given, if (identical(given, "classes") && identical(record$needs, "shares"))
                  ": give two classes as 0 and 1, or l1_path() `loss = \"logistic\"`" else
                  record$hint)
  offset <- row_offset(problem)
  y <- observed_response(problem, record$limits)
  allowed <- if (is.finite(record$limits[2L])) "from %d to %d" else "of at least %d"
  bad <- which(y < record$limits[1L] | y > record$limits[2L])
  stop_input_if(length(bad), "%s needs %s %s, but `y` is %s in row %d%s", what, record$needs,
                do.call(sprintf, c(list(allowed), Filter(is.finite, record$limits))),
                format(y[bad[1L]]), bad[1L], record$hint)
  far <- which(abs(offset) > largest_offset)
  stop_input_if(length(far), "%s needs offsets from -%d to %d, but `offset` is %s in row %d", what,
                largest_offset, largest_offset, format(offset[far[1L]]), far[1L])
  trained <- y[problem$rows$weight > 0]
  stop_input_if(any(vapply(record$limits, function(limit) all(trained == limit), NA)),
                "all %s with a positive weight are %s: their mean has no finite link", record$needs,
                format(trained[1L]))
  broken <- if (record$whole) which(abs(y - round(y)) > 1e-9 * pmax(1, abs(offset)))
  message_if(length(broken), "sparsels_message_counts",
             "`y` is not whole in %s (first: row %d): %s", counted(length(broken), "row"),
             broken[1L],
             "for rates give the counts, with the logarithms of their exposures as `offset`")
}

# The response as it was given: an offset that was taken from it and added again leaves rounding,
# which must not move it off a limit.
observed_response <- function(problem, limits) {
  y <- problem$rows$y[, 1L] + row_offset(problem)
  for (limit in limits) y[abs(y - limit) <= 1e-12 * pmax(1, abs(row_offset(problem)))] <- limit
  y
}

# Refuses folds that hold out all responses but those at a limit, such as all counts above 0. The
# mean of the others has no finite link.
check_fold_limits <- function(problem, folds, loss) {
  record <- losses[[loss]]
  y <- observed_response(problem, record$limits)
  for (limit in record$limits) {
    inside <- which(problem$rows$weight > 0 & y != limit)
    ids <- folds$ids[inside, , drop = FALSE]
    if (!any(apply(ids, 2L, function(ids) all(ids == ids[1L])))) next
    stop_input("all %s other than %s are in one fold (first: row %d): %s", record$needs,
               format(limit), inside[1L], "the mean of the others has no finite link")
  }
}

# exp() of larger offsets and of coefficients with them overflows
largest_offset <- 300L

# Refuses folds that hold out all rows of a class. Without them its intercept would be infinite.
check_fold_classes <- function(problem, folds, loss) {
  class <- class_index(problem)
  classes <- class_names(problem)
  for (ids in as.data.frame(folds$ids)) {
    for (k in seq_along(classes)) {
      own <- ids[problem$rows$weight > 0 & class == k]
      if (!all(own == own[1L])) next
      stop_input("all rows of class '%s' are in fold %s, and without them `loss = \"%s\"` %s: %s",
                 classes[k], format(own[1L]), loss, "has no model of it",
                 if (length(own) > 1L) "give folds with rows of it in two, or leave it out" else
                   "leave out the class, which has a single row")
    }
  }
}

# Refuses folds without which no event is left that compares rows.
check_fold_events <- function(problem, folds, loss) {
  parts <- held_out_rows(folds, problem$rows$weight > 0)
  for (i in seq_len(nrow(parts))) {
    left <- put_weights(problem, replace(case_weights(problem), parts$rows[[i]], 0))
    if (any(left$rows$event & left$rows$weight > 0) && any(informs(left))) next
    stop_input("without fold %s no event is left to train on: %s", parts$fold[i],
               if (sum(informs(problem)) > 1L)
                 "give folds stratified by status, as a number of folds is" else
                 paste("there is one event with others at risk in all, and folds need two: without",
                       "`folds` there is a path alone"))
  }
}

# The table ----------------------------------------------------------------------------------------

# A loss. `value`, `slope` (minus the derivative by f) and `curvature` take the working response y,
# the linear predictor f and the offset of each row, which is not in f. `mean` takes f with the
# offset to the scale of the response, NULL for f itself, `link` takes it back, and `residual` is on
# that scale.
#
# `dual(problem, r)` is the value of a dual point, and `multiple(problem, r, max_s, tail)` the s up
# to max_s with the largest value of s r less s^2 tail / 2. A `smooth` loss has one dual point at
# each model, its residual. `ball` is the square of the radius of the dual ball for a gap of 1, and
# `steepest` the largest curvature, by which rows alone are tested and interior points move; NULL
# where there is none.
#
# `start(y, weight, offset)` is a constant near the null model.
#
# A `joint` loss takes matrices of y and f with a column for each response. `clustered` is whether
# the columns of its paths may be spread over a cluster, and `searched` whether a likelihood is one
# that greedy search takes.
#
# A loss that ties rows or responses together has `at(problem, f)`, see loss_at(), and one that ties
# rows together `held_out(problem, train, scores)`: the sums of its held-out deviance and their
# weight (2 x models), from scores of all rows by the models of `train`, a problem in which the rows
# held out have weight 0. Where that is a sum of losses of rows, `each(problem, train, scores)` are
# these losses (rows x models).
#
# `check(problem, loss)` refuses responses that the loss does not take, `check_folds(problem, folds,
# loss)` folds without which a training part has no model, and `problem(problem, ties, threads)` is
# the problem as the loss takes it, where that is another one.
#
# `title` is a model with the penalty in words, `explained` the fraction that it explains, and
# `needs` the response, as in `criteria`. `limits` are of numbers whose mean is between them, and
# `whole` is whether they should be whole numbers. `hint` ends the refusal of others, and
# `criterion` are the words for their held-out deviance, `beside` is the error beside it, and
# `compared` another loss whose deviance compares their means. `lost` is the score of a class that
# has all of so much weight. `ratio` is what the exponential of a coefficient is. `separated` says
# what covariates do that explain all rows, and of what they separate the other rows, which then
# have what. `likelihood(problem)` is the log likelihood of the saturated model, NULL where the loss
# is no likelihood without unknowns, and `residuals(problem, score)` are the residuals of rows in
# the units of the user.
#
# `parameter` is of a loss with one: its `name`, its `value` in this record, the `range` of values,
# `fit(problem, mean)`, its maximum likelihood for means of the rows, `words` for what it does, and
# the message `last` about an estimate at the end of the range.
#
# `keep(problem, f)` are the values that a fit keeps of its models beside their coefficients, a list
# made from their linear predictors (rows x models). `print(fit, row)` prints the values of a row of
# the path, and `terms(fit, row, table)` adds them to a table of coefficients. By them the classes
# have the probabilities `shares(fit, score, row)`, NULL where scores have probabilities by
# themselves. `measure(name, words)` is the measure of that name of such a loss, or NULL. `task` is
# the task in glance(), and `parsnip` the models of parsnip, as parsnip_models() has them.
new_loss <- function(title, explained = "deviance explained", value = NULL, needs = NULL,
                     limits = NULL, variance = NULL, whole = FALSE, hint = "", criterion = NULL,
                     slope = NULL, curvature = NULL, residual = function(y, f, offset) y - f,
                     mean = NULL, link = NULL, dual = NULL, multiple = NULL, smooth = TRUE,
                     ball = NULL, steepest = NULL, lost = function(weight) 1, likelihood = NULL,
                     at = NULL, held_out = NULL, each = NULL, ratio = NULL, beside = "squared",
                     compared = NULL, parameter = NULL, task = NULL, shares = NULL, parsnip = NULL,
                     measure = function(name, words) NULL, keep = function(problem, f) list(),
                     print = function(...) invisible(), terms = function(fit, row, table) table,
                     start = function(y, weight, offset) 0, joint = FALSE,
                     clustered = smooth && !joint, searched = TRUE, problem = NULL,
                     check = function(problem, loss) invisible(),
                     check_folds = function(problem, folds, loss) invisible(),
                     separated = c("separate the classes", "class", "probability near 1"),
                     residuals = function(problem, score) {
                       offset <- if (is.null(problem$rows$offset)) 0 else problem$rows$offset
                       each <- residual(problem$rows$y, score, offset)
                       scores_of_rows(problem, in_user_units(problem, each))
                     }) {
  as.list(environment())
}

# A loss of numbers with a mean between limits.
new_mean_loss <- function(..., slope, residual = slope) {
  new_loss(..., slope = slope, residual = residual, check = function(...) check_limited(...),
           check_folds = function(...) check_fold_limits(...),
           separated = c("explain `y`", "rows", "mean near its limit"))
}

# The log likelihood of a saturated model from the log likelihood of its rows.
sum_of_rows <- function(of) {
  function(problem) sum(of(problem$rows$y[, 1L], row_offset(problem), problem$rows$weight))
}

# A loss of ordered classes by a cumulative link, one of `ordinal_links`.
ordinal_loss <- function(link, words, ratio = NULL, ...) {
  new_loss(
    title = c(paste(sub(" with$", "", words), "with an l1 penalty"), words),
    needs = "ordered classes", ratio = ratio,
    criterion = "mean deviance of ordered classes", searched = FALSE,
    multiple = function(problem, r, max_s, tail) min(1, max_s),
    at = function(problem, f) ordinal_point(problem, f), likelihood = function(problem) 0,
    held_out = function(problem, train, scores) ordinal_held_out(problem, train, scores),
    each = function(problem, train, scores) ordinal_each(problem, train, scores),
    problem = function(problem, ties, threads = 1L) as_ordinal(problem, link, threads),
    check = function(...) check_every_class(...),
    check_folds = function(...) check_fold_classes(...), beside = "concordance",
    separated = "order the classes", task = "ordinal",
    measure = function(...) ordinal_measure(...),
    shares = function(fit, score, row) ordinal_shares(fit$problem, score, fit$cutpoints[, row]),
    keep = function(problem, f) {
      classes <- problem$coding$classes
      names <- paste(classes[-length(classes)], classes[-1L], sep = "|")
      list(cutpoints = structure(best_cutpoints(problem, f), dimnames = list(names, NULL)))
    },
    print = function(fit, row) {
      cuts <- fit$cutpoints[, row]
      say("cutpoints of the linear predictor: ",
          some_of(paste(names(cuts), vapply(cuts, shown, "")), 8L, ""))
    },
    # cutpoints are `scale`, as broom has them
    terms = function(fit, row, table) {
      cuts <- fit$cutpoints[, row]
      rows <- table[rep(NA_integer_, length(cuts)), ]
      rows[c("term", "estimate")] <- list(names(cuts), unname(cuts))
      data.frame(rbind(table, rows),
                 coef.type = rep(c("coefficient", "scale"), c(nrow(table), length(cuts))),
                 row.names = NULL)
    },
    residuals = function(problem, score) as.matrix(ordinal_point(problem, score[, 1L])$slope), ...
  )
}

losses <- structure(class = "loss_table", made = new.env(parent = emptyenv()), list(
  squared = new_loss(
    title = c("least squares with an l1 penalty (lasso)", "least squares with"),
    explained = "R-squared",
    value = function(y, f, offset) (y - f)^2 / 2,
    slope = function(y, f, offset) y - f,
    dual = function(problem, r) sum(working_response(problem) * r) - sum(r^2) / 2,
    multiple = function(problem, r, max_s, tail) {
      max(-max_s, min(sum(working_response(problem) * r) / (sum(r^2) + tail), max_s))
    },
    ball = 2, steepest = 1,
    parsnip = list(linear_reg = list(mode = "regression", sparsels = "squared"))
  ),
  logistic = new_loss(
    title = c("logistic regression with an l1 penalty", "logistic regression with"),
    needs = "classes", value = function(y, f, offset) soft_plus(-y * f),
    slope = function(y, f, offset) y * stats::plogis(-y * f),
    curvature = function(y, f, offset) {
      share <- stats::plogis(-y * f)
      share * (1 - share)
    },
    residual = function(y, f, offset) (y + 1) / 2 - stats::plogis(f),
    mean = function(f) 1 / (1 + exp(-f)),
    dual = function(problem, r) sum(problem$rows$weight * entropy(dual_share(problem, r))),
    multiple = function(problem, r, max_s, tail) entropy_multiple(problem, r, max_s, tail),
    ball = 1 / 2, steepest = 1 / 4, lost = function(weight) log1p(2 * weight),
    ratio = "odds ratio", check = function(...) check_every_class(...),
    likelihood = function(problem) 0,
    parsnip = list(logistic_reg = list(mode = "classification", sparsels = "squared"))
  ),
  hinge = new_loss(
    title = "support vector machine with an l1 penalty (hinge loss)",
    explained = "hinge loss explained", needs = "classes",
    value = function(y, f, offset) pmax(1 - y * f, 0),
    dual = function(problem, r) sum(problem$rows$weight * dual_share(problem, r)),
    multiple = function(problem, r, max_s, tail) largest_share(problem, r, max_s),
    smooth = FALSE, check = function(...) check_every_class(...)
  ),
  poisson = new_mean_loss(
    title = c("Poisson regression with an l1 penalty", "Poisson regression with"),
    needs = "counts", limits = c(0, Inf), whole = TRUE, variance = function(mean) mean,
    criterion = "mean Poisson deviance",
    value = function(y, f, offset) half_deviance(y + offset, f + offset),
    slope = function(y, f, offset) y + offset - exp(f + offset),
    curvature = function(y, f, offset) exp(f + offset),
    mean = exp, link = log, ratio = "rate ratio",
    dual = function(problem, r) count_dual(problem, r),
    multiple = function(problem, r, max_s, tail) {
      mean_multiple(problem, dual_means(problem, 0 * r), r / weight_divisor(problem), Inf,
                    function(mean) log(pmax(mean, .Machine$double.xmin)) - row_offset(problem),
                    max_s, tail)
    },
    likelihood = sum_of_rows(function(y, offset, weight) {
      count <- y + offset
      weight * (xlogx(count) - count - lgamma(count + 1))
    }),
    parsnip = list(poisson_reg = list(mode = "regression", sparsels = "poisson")),
    start = function(y, weight, offset) {
      log(sum(weight * (y + offset)) / sum(weight * (exp(offset) + 0 * y)))
    }
  ),
  binomial = new_mean_loss(
    title = c("binomial regression with an l1 penalty", "binomial regression with"),
    needs = "shares", limits = c(0, 1),
    variance = function(mean) mean * (1 - mean),
    hint = ": give the share of successes, with the numbers of trials as `weights`",
    criterion = "mean binomial deviance",
    value = function(y, f, offset) share_deviance(y + offset, f + offset),
    slope = function(y, f, offset) y + offset - stats::plogis(f + offset),
    curvature = function(y, f, offset) stats::plogis(f + offset) * stats::plogis(-f - offset),
    mean = function(f) 1 / (1 + exp(-f)), link = stats::qlogis, ratio = "odds ratio",
    # The entropy of the means less the entropy of the shares, less the product of the change with
    # the offset. The response is of so many trials.
    dual = function(problem, r, trials = 1, offset = row_offset(problem)) {
      at <- function(r) trials * share_entropy(dual_means(problem, r) / trials)
      gained <- at(r) - at(0 * r)
      sum(problem$rows$weight * (gained - r / weight_divisor(problem) * offset))
    },
    multiple = function(problem, r, max_s, tail, trials = 1, offset = row_offset(problem)) {
      mean_multiple(problem, dual_means(problem, 0 * r), r / weight_divisor(problem), trials,
                    function(mean) {
                      stats::qlogis(pmin(pmax(mean / trials, 1e-300), 1 - 1e-16)) - offset
                    }, max_s, tail)
    },
    likelihood = sum_of_rows(function(y, offset, weight) {
      hits <- weight * (y + offset)
      lgamma(weight + 1) - lgamma(hits + 1) - lgamma(weight - hits + 1) -
        weight * entropy(y + offset)
    }),
    start = function(y, weight, offset) {
      stats::qlogis(sum(weight * (y + offset)) / sum(weight)) -
        sum(weight * (offset + 0 * y)) / sum(weight)
    }
  ),
  multinomial = new_loss(
    title = c("multinomial regression with an l1 penalty", "multinomial regression with"),
    needs = "classes", joint = TRUE, criterion = "mean multinomial deviance",
    value = function(y, f, offset) class_deviance(y, f),
    curvature = function(y, f, offset) {
      share <- link_shares(f)
      row_largest(share * (1 - share))
    },
    residual = function(y, f, offset) (y > 0) - link_shares(f),
    mean = link_shares, ratio = "odds ratio",
    # the entropy of the probabilities, which the dual point leaves of the indicators of the classes
    dual = function(problem, r) {
      share <- (problem$rows$y > 0) - class_change(problem, r)
      sum(problem$rows$weight * ifelse(share > 0, -share * log(share), 0))
    },
    multiple = function(problem, r, max_s, tail) {
      mean_multiple(problem, problem$rows$y > 0, class_change(problem, r), 1,
                    function(mean) log(pmax(mean, .Machine$double.xmin)), max_s, tail)
    },
    at = function(problem, f) class_point(problem, f), likelihood = function(problem) 0,
    check = function(...) check_every_class(...),
    check_folds = function(...) check_fold_classes(...),
    parsnip = list(multinom_reg = list(mode = "classification", sparsels = "squared"))
  ),
  cox = new_loss(
    title = c("Cox regression with an l1 penalty", "Cox regression with"),
    explained = "partial deviance explained", needs = "times",
    criterion = "partial deviance per event", ratio = "hazard ratio",
    multiple = function(problem, r, max_s, tail) min(1, max_s),
    at = function(problem, f) cox_point(problem, f),
    # The log partial likelihood of the saturated model.
    likelihood = function(problem) {
      parts <- cox_sums(problem, risk_sets(problem))
      -sum(parts$part * log(parts$weight[parts$of] * parts$share))
    },
    held_out = function(problem, train, scores) cox_held_out(problem, train, scores),
    problem = function(problem, ties, threads = 1L) as_cox(problem, ties, threads),
    check_folds = function(...) check_fold_events(...), beside = "concordance",
    separated = "order the times",
    parsnip = list(proportional_hazards = list(mode = "censored regression", sparsels = "cox")),
    residuals = function(problem, score) as.matrix(cox_point(problem, score[, 1L])$slope)
  ),
  ordinal = ordinal_loss(
    "logit", "proportional odds regression with", "odds ratio",
    parsnip = list(ordinal_reg = list(mode = "classification", refused = c(
      "ordinal_link", "odds_link", "threshold_structure", "parallel_reg"
    )))
  ),
  `ordinal(probit)` = ordinal_loss("probit", "ordered probit regression with", ball = 2),
  negbin = negbin_loss
))
