# Models trained without some rows, and their errors of these rows.

# Training without each part ----------------------------------------------------------------------

# The results of `train` without each part of the rows: train(part) gets a row of `parts` as a list.
# The value is a list with `each`, the results, and `parts`, the parts that were done before Ctrl-C.
# An error begins with the name of the part, if `words` has names. `...` are arguments of
# run_tasks().
held_out <- function(parts, train, words, ...) {
  done <- run_tasks(nrow(parts), function(i) {
    part <- lapply(parts, `[[`, i)
    if (is.null(words)) train(part) else in_context(words[i], train(part))
  }, ...)
  places <- attr(done, "done")
  list(each = done[seq_along(places)], parts = parts[places, ])
}

# The results of `train` without each outer fold, with a warning after Ctrl-C, whether they are
# `complete`, and how their standard error is `measured`, see held_out_se().
outer_held_out <- function(parts, train, progress, BPPARAM) {
  done <- repeat_tasks(nrow(parts), "outer fold", function(i) train(lapply(parts, `[[`, i)),
                       progress, BPPARAM)
  list(each = done[seq_along(done)], parts = parts[attr(done, "done"), ],
       complete = length(done) == nrow(parts), measured = "folds")
}

# The means of values of rows (a matrix of the rows of each part) over the parts that hold a row
# out, for all `m` rows. NA for rows that no part holds out.
mean_over_parts <- function(parts, values, m) {
  total <- matrix(0, m, ncol(values[[1L]]))
  for (i in seq_along(values)) {
    rows <- parts$rows[[i]]
    total[rows, ] <- total[rows, ] + values[[i]]
  }
  count <- tabulate(unlist(parts$rows), m)
  total / ifelse(count > 0L, count, NA)
}

# A line with how many folds, or other parts of the rows, have no value of a measure, if any.
print_unscored <- function(count, total, what, measure) {
  if (count == 0L) return(invisible())
  lack <- switch(measure, auc = "rows of both classes", concordance = "pair of rows to compare",
                 if (is_gain(measure)) "grade above 0" else "row with a weight above 0")
  remark(sprintf("%d of %s could not be scored: no %s", count, counted(total, what), lack))
}

# The folds in which a criterion has no value, for lack of rows or pairs of rows, and the number of
# folds.
count_unscored <- function(problem, folds, name) {
  parts <- held_out_rows(folds, problem$rows$weight > 0)
  if (!name %in% c("auc", "concordance")) return(c(0L, nrow(parts)))
  c(sum(vapply(parts$rows, weight_of_pairs, 0, problem, name) == 0), nrow(parts))
}

# The weight of the pairs of some rows that a criterion compares.
weight_of_pairs <- function(rows, problem, name) {
  part <- scored_rows(problem, rows)
  fold_sum(part, list(name = name), 0 * part$rows$y)[[2L]]
}

# Refuses measures of pairs of rows where no part holds two such rows out.
check_comparable <- function(problem, parts, measures) {
  for (name in intersect(measures, c("auc", "concordance"))) {
    there <- Find(function(rows) weight_of_pairs(rows, problem, name) > 0, parts)
    stop_argument_if(
      is.null(there),
      "%s compares rows that are held out together, and no part of the rows has two rows %s: %s",
      name, if (name == "auc") "of both classes" else "to compare",
      "give folds of several rows, such as `outer = 10`, or another `measure`"
    )
  }
}

# Errors of one part ------------------------------------------------------------------------------

# The sum of a criterion over some rows, held out together, and its weight, from the residuals of
# these rows under one model.
fold_sum <- function(problem, criterion, residual) {
  score <- problem$rows$y - residual
  within <- centre_within(problem, residual)
  if (is_of_rows(criterion)) return(row_sums(problem, criterion, within)[, 1L])
  if (!is.null(criterion$sum)) return(criterion$sum(problem, score))
  switch(criterion$name, auc = right_pairs(seq_len(nrow(score)), problem, score),
         concordance = ordered_pairs(problem, score), user = {
           score <- problem$rows$y - within
           weight <- sum(problem$rows$weight)
           c(weight * criterion$evaluate(problem$rows$y, score, rep(1L, nrow(score))), weight)
         }, discordant_pairs(problem, score))
}

# Whether a criterion is a mean over rows.
is_of_rows <- function(criterion) {
  is.null(criterion$sum) && !criterion$name %in% c("auc", "concordance", "user") &&
    !identical(criterion$group_loss, "concordance")
}

# The sums of a criterion of rows and its weight (2 x models), from residuals_of() models.
row_sums <- function(problem, criterion, residual) {
  w <- row_weights(problem, criterion)
  sums <- if (is.null(loss_record(criterion$name)$criterion))
    .Call(C_row_loss_sums, criterion$name, problem$rows$y, residual, w) else
      colSums(w * matrix(row_losses(problem, criterion$name, residual), length(w)))
  rbind(sums, sum(w), deparse.level = 0L)
}

# The sum of a criterion and its weight (2 x models) over the rows of a problem, from the scores of
# models. Models without columns, if scores have the attribute "empty", have the criterion `plain`
# of a criterion that has one.
score_sums <- function(scores, problem, criterion, residual = residuals_of(problem, scores)) {
  plain <- isTRUE(any(attr(scores, "empty"))) && !is.null(criterion$plain)
  if (!plain && is_of_rows(criterion)) return(row_sums(problem, criterion, residual))
  vapply(seq_len(dim(scores)[3L]), function(s) {
    used <- if (plain && attr(scores, "empty")[s]) criterion$plain else criterion
    fold_sum(problem, used, problem$rows$y - layer(scores, s))
  }, c(0, 0))
}

# How models are compared with the first in each fold: functions of residuals_of() models, the
# problem of the rows held out and their numbers. gains() has the gains over the first by units of
# rows, and where folds are a few large groups the gains of single rows by residuals about their
# mean (8 x models). losses() has the weighted losses by which gains are judged, rows x models.
gain_scorer <- function(problem, folds, loss) {
  unit <- gain_units(problem, folds)
  limit <- huber_limit(problem)
  within <- are_few_and_large(problem, folds, loss)
  list(gains = function(residual, scored, rows) {
    w <- scored$rows$weight
    plain <- is.null(unit) && loss == "squared"
    of_units <- if (plain) gain_moments(residual, w, huber = limit) else
      gain_moments(gain_losses(scored, loss, residual, limit), w, unit[rows])
    if (!within) return(of_units)
    about <- residual - rep(colSums(w * residual) / sum(w), each = nrow(residual))
    rbind(of_units, gain_moments(about, w, huber = limit))
  }, losses = function(residual, scored, rows) {
    scored$rows$weight * gain_losses(scored, loss, residual, limit)
  })
}

# Errors of all rows ------------------------------------------------------------------------------

# A criterion from the held-out residuals of all rows in the user's units: `residuals` has an array
# rows x responses x models for each partition of `folds`. `...` are arguments of fold_errors().
residual_errors <- function(problem, folds, criterion, residuals, ...) {
  models <- length(residuals[[1L]]) / length(problem$rows$y)
  null <- null_sums(problem, criterion, folds)
  sums <- lapply(seq_along(residuals), function(repetition) {
    of_models <- array(residuals[[repetition]], c(dim(problem$rows$y), models))
    if (judged_at_mean(criterion$name) || identical(criterion, squared_error) &&
          ncol(problem$rows$y) == 1L && is.null(free_units(problem))) {
      # the deviance of numbers, or their squares, of all models at once
      residual <- matrix(of_models, nrow(problem))
      y <- problem$rows$y[, 1L]
      w <- problem$rows$weight
      each <- if (criterion$name == "squared") residual^2 else
        2 * l1_loss(criterion$name, y, y - residual, row_offset(problem))
      sums <- rowsum(cbind(w * each, w), folds$ids[, repetition])
      own <- seq_len(models)
      by_fold <- c(sums[, own], rep(sums[, models + 1L], models))
      return(aperm(array(by_fold, c(nrow(sums), models, 2L)), c(3L, 1L, 2L)))
    }
    simplify2array(lapply(seq_len(models), function(l) {
      residual_sums(problem, criterion, layer(of_models, l), folds$ids[, repetition], repetition)
    }))
  })
  count <- vapply(sums, ncol, 0L)
  fold_errors(lapply(sums, aperm, c(1L, 3L, 2L)), rep(seq_along(count), count),
              isTRUE(criterion$higher), ..., shape = c(models, 1L), over = criterion$over,
              null = rep(null, length(sums)))
}

# The sums of a criterion over the rows of each fold, or of each group for a criterion of groups,
# and their weights (2 x folds). A function of the user is called once for all folds.
residual_sums <- function(problem, criterion, residual, ids, repetition) {
  residual <- centre_within(problem, residual)
  if (criterion$name == "user") {
    return(rbind(criterion_value(criterion, criterion$loss(residual, repetition)), 1))
  }
  if (criterion$name %in% c("auc", "concordance")) {
    score <- problem$rows$y - residual
    return(vapply(split(seq_along(ids), ids), function(rows) {
      if (criterion$name == "auc") return(right_pairs(rows, problem, score))
      ranked_pairs(scored_rows(problem, rows), score[rows, , drop = FALSE])
    }, c(0, 0)))
  }
  if (!is.null(criterion$over)) return(group_sums(problem, criterion$group_loss, residual))
  w <- row_weights(problem, criterion)
  t(rowsum(cbind(w * row_losses(problem, criterion$name, residual), w), ids))
}

# The value and the standard error of a criterion for each model, means over the partitions.
evaluate_folds <- function(problem, folds, criterion, residuals) {
  lapply(error_curve(residual_errors(problem, folds, criterion, residuals)), as.vector)
}

# The `criterion` of each model, its standard error `se` and, for classes, the `error` rate.
error_table <- function(problem, folds, residuals, criterion = squared_error) {
  found <- evaluate_folds(problem, folds, criterion, residuals)
  table <- data.frame(criterion = found$value, se = found$se)
  if (problem$coding$task != "regression") {
    table$error <- evaluate_folds(problem, folds, list(name = "error"), residuals)$value
  }
  table
}

# Errors of models and the choice ------------------------------------------------------------------

# The errors of models over folds, and the model that a rule chooses by these errors.

# Errors over folds -------------------------------------------------------------------------------

# A criterion of every model in every fold: `sum`, the sums over the rows held out, (sizes x
# lambdas) x folds, and `weight`, the weight of each fold, 0 for a fold that cannot be scored.
# `sums` is a list of arrays, 2 x sizes x lambdas for each fold. `gains` is a list of the values of
# gain_moments() for each fold, which the default rule requires. `columns` is the number of columns
# of each size, `slack` is slack_of() the problem, `variance` is pair_variance() of each fold where
# the criterion is the concordance of times, and `clear` is is_clear_gain() in other folds. For a
# criterion of groups, `over` is what it takes over the folds, each of which is a group, the weights
# are the sums `null` of the null model, by default the model without columns, and `losses` are
# gain_scorer()'s losses of each fold.
fold_errors <- function(sums, repetition, higher = FALSE, slack = 1, columns = NULL,
                        shape = c(dim(sums[[1L]])[-1L], 1L)[1:2], gains = NULL, variance = NULL,
                        clear = NULL, over = NULL, null = NULL, losses = NULL) {
  sums <- array(unlist(sums), c(2L, prod(shape), length(repetition)))
  weight <- if (is.null(over)) sums[2L, 1L, ] else if (is.null(null)) sums[1L, 1L, ] else null
  list(sum = matrix(sums[1L, , ], prod(shape)), weight = weight, repetition = repetition,
       shape = shape, higher = higher, slack = slack, gains = gains, variance = variance,
       clear = clear, over = over,
       rises = if (!is.null(losses)) {
         matrix(unlist(lapply(losses, rise_chances, shape[1L])), prod(shape))
       },
       columns = if (is.null(columns)) seq_len(shape[1L]) - 1L else columns)
}

some_folds <- function(errors, folds) {
  tables <- intersect(c("sum", "rises"), names(without_null(errors)))
  errors[tables] <- lapply(errors[tables], function(table) table[, folds, drop = FALSE])
  of_folds <- intersect(c("weight", "repetition", "gains", "variance"), names(without_null(errors)))
  replace(errors, of_folds, lapply(errors[of_folds], `[`, folds))
}

# A function of the folds of each partition, averaged over the partitions. Folds that cannot be
# scored do not count, nor does a partition without another fold. `whole` tells that the function
# takes them, too.
over_partitions <- function(errors, of, whole = FALSE) {
  scored <- errors$weight > 0
  each <- lapply(unique(errors$repetition[scored | !any(scored)]), function(r) {
    own <- errors$repetition == r & (scored | whole)
    of(if (all(own)) errors else some_folds(errors, own))
  })
  average(each)
}

average <- function(values) Reduce(`+`, values) / length(values)

# The weighted means over folds and their standard errors (2 x models), from the sums of each model
# (models x folds) and the weights of the folds. A fold without weight has no error: its sum is 0,
# or what rows without an event add to a deviance of events.
fold_mean <- function(sums, weight) {
  counted <- weight > 0
  total <- sum(weight)
  mean <- rowSums(sums) / total
  if (!all(counted)) sums <- sums[, counted, drop = FALSE]
  weight <- weight[counted]
  each <- rep(weight, each = nrow(sums))
  off <- sums / each - mean
  unit <- exact_unit(off)
  n <- length(weight)
  se <- if (n > 1L) unit * sqrt(rowSums(each * (off / unit)^2) / total / (n - 1L)) else NA_real_
  without_rounding(mean, se)
}

# Means and standard errors (2 x models). Errors that differ by rounding alone have none.
without_rounding <- function(mean, se) rbind(value = mean, se = se * (se > 1e-12 * abs(mean)))

# The values of a criterion of groups, from the sums of each model (models x groups) and of the null
# model. They have no standard error.
group_values <- function(errors) {
  ratios <- errors$sum / rep(errors$weight, each = nrow(errors$sum))
  rbind(value = over_groups[[errors$over]](ratios), se = NA_real_)
}

# Means over the folds and their standard errors, sizes x lambdas, as fold_mean() has them, or the
# values of a criterion of groups.
error_curve <- function(errors) {
  means <- over_partitions(errors, function(part) {
    if (is.null(errors$over)) fold_mean(part$sum, part$weight) else group_values(part)
  }, whole = is.null(errors$over))
  lapply(list(value = means[1L, ], se = means[2L, ]), matrix, errors$shape[1L])
}

# By how much the loss of each model is above the loss of the model at `place` (size and lambda),
# and the standard error of the difference, from the differences in each fold. For a criterion of
# groups, this is the standard error of the mean difference of their ratios.
paired_excess <- function(errors, place) {
  model <- place[[1L]] + errors$shape[1L] * (place[[2L]] - 1L)
  excess <- over_partitions(errors, function(part) {
    own <- if (!is.null(errors$over)) group_values(part)[1L, ]
    if (!is.null(own)) {
      part$sum <- part$sum / rep(part$weight, each = nrow(part$sum))
      part$weight <- rep(1, ncol(part$sum))
    }
    worse <- criterion_loss(errors, part$sum - rep(part$sum[model, ], each = nrow(part$sum)))
    n <- ncol(worse)
    off <- worse - rowMeans(worse)
    unit <- exact_unit(off)
    spread <- if (n > 1L) unit * sqrt(n * rowSums((off / unit)^2) / (n - 1L)) else 0
    found <- rbind(rowSums(worse), spread) / sum(part$weight)
    if (!is.null(own)) found[1L, ] <- own - own[model]
    found
  })
  lapply(list(value = excess[1L, ], se = excess[2L, ]), matrix, errors$shape[1L])
}

# The choice --------------------------------------------------------------------------------------

# The row of a path that a rule chooses by the losses of its models: "min", the smallest loss, or
# "1se", the simplest model within one standard error `se` of the smallest, where there is one. The
# rows begin with the simplest model, or `simplest` is their order. Losses that differ by rounding
# are equal, and the simplest of equal models is the best. NA where no model has a loss.
choose_row <- function(loss, rule = "min", se = NA, simplest = seq_along(loss)) {
  loss <- loss[simplest]
  best <- which(is_smallest(loss))[1L]
  limit <- loss[best] + rep_len(se, length(loss))[simplest][best]
  if (rule == "1se" && !is.na(limit)) best <- which(loss <= limit)[1L]
  simplest[best]
}

is_smallest <- function(loss) {
  smallest <- min(loss, Inf, na.rm = TRUE)
  loss <= smallest + 1e-12 * abs(smallest)
}

# The size and the place of the lambda that a rule chooses. Lambdas are in decreasing order. "min"
# is the smallest error. Of equal errors it takes the fewest columns, then the largest lambda. "1se"
# is the smallest size within one standard error of the smallest error. A number has the best lambda
# for that size.
choose_model <- function(errors, rule) {
  loss <- model_losses(errors, rule)
  if (is.numeric(rule)) {
    return(list(size = rule, lambda = choose_row(loss[min(rule + 1L, nrow(loss)), ])))
  }
  best <- which(is_smallest(loss), arr.ind = TRUE)
  best <- best[order(best[, 1L], best[, 2L])[1L], ]
  if (rule == "cv") return(choose_sparingly(errors, loss, best))
  lambda <- best[[2L]]
  list(size = choose_row(loss[, lambda], rule, error_curve(errors)$se[, lambda]) - 1L,
       lambda = lambda)
}

# The losses of all models (sizes x lambdas) among which a rule chooses. The default rule leaves out
# a size at which the loss of a group has clearly risen, and all larger sizes. A column that
# predicts in some studies only raises the error of the others, though several such columns together
# may lower the errors of all.
model_losses <- function(errors, rule) {
  loss <- criterion_loss(errors, error_curve(errors)$value)
  if (identical(rule, "cv") && !is.null(errors$rises)) {
    risen <- apply(errors$rises < rise_level / ncol(errors$rises), 1L, any)
    loss[apply(matrix(risen, errors$shape[1L]), 2L, cumsum) > 0] <- Inf
  }
  loss
}

# The p-values of the losses of models in a group, by t tests over its rows: whether each loss is
# above the smallest loss of the smaller models of the same lambda. `losses` are rows x models, of
# several lambdas with so many `sizes` each.
rise_chances <- function(losses, sizes) {
  total <- matrix(colSums(losses), sizes)
  smallest <- apply(total, 2L, function(of_sizes) match(cummin(of_sizes), of_sizes))
  best <- as.vector(smallest) + sizes * (rep(seq_len(ncol(total)), each = sizes) - 1L)
  above <- losses - losses[, best, drop = FALSE]
  rise <- colSums(above)
  count <- nrow(losses)
  if (count < 2L) return(rep(1, length(rise)))
  spread <- sqrt(count / (count - 1) * colSums((above - rep(rise / count, each = count))^2))
  # a rise by rounding is none
  ifelse(rise > 1e-9 * total[best], stats::pt(-rise / spread, count - 1), 1)
}

# the level of this test for all groups together
rise_level <- 0.05

# The gain of every model over the model without columns, on rows held out together: the sums over
# units of rows (rows, or groups that `unit` numbers) of the gain, its square and its cube, and the
# number of units (4 x models). `losses` (rows x models) begin with the model without columns. With
# `huber` these are residuals, whose losses are huber_losses().
gain_moments <- function(losses, weight, unit = NULL, huber = NULL) {
  if (is.null(unit)) return(.Call(C_gain_moments, losses, weight, huber))
  counted <- weight > 0
  gains <- rowsum((weight * (losses[, 1L] - losses))[counted, , drop = FALSE], unit[counted])
  .Call(C_gain_moments, -cbind(0, gains), rep(1, nrow(gains)), NULL)[, -1L, drop = FALSE]
}

# The units of rows of these sums: groups or queries, or otherwise groups that folds keep together,
# unless each fold is one of them. NULL for rows.
gain_units <- function(problem, folds) {
  unit <- whole_units(problem)
  if (!is.null(unit)) return(unit)
  unit <- kept_together(folds)
  if (length(unique(unit)) > length(unique(folds$ids[, 1L]))) unit
}

# The same with each row as a unit where rows are not kept together.
row_units <- function(problem, folds = NULL) {
  unit <- gain_units(problem, folds)
  if (is.null(unit)) seq_len(nrow(problem)) else unit
}

# The losses of rows by which a gain is judged, rows x models, from residuals (rows x responses x
# models).
gain_losses <- function(problem, loss, residual, limit) {
  if (loss == "squared") return(huber_losses(residual, limit))
  matrix(row_losses(problem, loss, residual), nrow(residual))
}

# These losses of squared errors: squared lengths up to a limit and linear beyond it (Huber), as
# huber_limit() gives it.
huber_losses <- function(residual, huber) .Call(C_huber_losses, residual, huber)

# The limit of Huber's loss: 2.5 robust standard deviations of the residuals of the covariates
# alone. For censored times these are the residuals of events, as the rows that are censored at the
# end of a study have nearly the same value. None for classes and rankings, or if most residuals
# are 0. Losses and `limit` are in a `unit` of the response, so that their cubes are finite.
huber_limit <- function(problem) {
  huber <- c(limit = Inf, unit = exact_unit(problem$rows$y))
  if (problem$coding$task != "regression" || is_ranked(problem)) return(huber)
  trained <- problem$rows$weight > 0
  own <- working_response(problem)[trained, , drop = FALSE] / root_weights(problem)[trained]
  observed <- if (is_survival(problem)) problem$rows$event[trained] else TRUE
  spread <- stats::median(sqrt(rowSums(own[observed, , drop = FALSE]^2))) / stats::qnorm(0.75)
  if (spread > 0) huber[["limit"]] <- 2.5 * spread / huber[["unit"]]
  huber
}

# Whether a model is clearly better than the model without columns, by its gains over units of rows,
# or, of a few large groups, within the groups. `errors$clear` has the answer if other folds gave
# it. With very few rows no test is clear, but hardly any noise has an error below a twentieth.
is_clear_gain <- function(errors, model, loss) {
  if (!is.null(errors$clear)) return(errors$clear)
  if (!errors$higher && isTRUE(loss[model] >= 0 && loss[model] < loss[1L] / 20)) return(TRUE)
  if (length(errors$variance)) {
    # how many more pairs than half are in the right order, in standard deviations of scores in a
    # random order within each fold
    z <- over_partitions(errors, function(part) {
      (rowSums(part$sum) - sum(part$weight) / 2) / sqrt(sum(part$variance))
    })
    typical <- mean(z[rep_len(errors$columns > 0, length(z))])
    return(any(c(z[model], typical) > stats::qnorm(1 - order_levels), na.rm = TRUE))
  }
  moments <- over_partitions(errors, function(part) {
    sums <- rowSums(vapply(part$gains, function(gains) gains[1:4, model], numeric(4L)))
    c(sums[1:3] / sums[4L], sums[4L])
  })
  is_clear_mean(moments) || is_clear_within(errors, model)
}

# Whether the gains of rows about the mean of their group are clear, where each fold is a large
# group (gain_scorer() has these). Their variance is larger by the correlation of gains within
# groups, and one group in four may have a loss. A mean of rows varies 1 + (n - 1) rho times as much
# by it, with n the mean size and rho by the analysis of variance, at least 0.
is_clear_within <- function(errors, model) {
  scored <- errors$weight > 0
  if (sum(scored) < 2L || nrow(errors$gains[[1L]]) < 8L) return(FALSE)
  each <- vapply(errors$gains[scored], function(gains) gains[5:8, model], numeric(4L))
  count <- each[4L, ]
  total <- sum(count)
  of_means <- sum(each[1L, ]^2 / count)
  between <- (of_means - sum(each[1L, ])^2 / total) / (ncol(each) - 1)
  within <- (sum(each[2L, ]) - of_means) / (total - ncol(each))
  size <- (total - sum(count^2) / total) / (ncol(each) - 1)
  rho <- (between - within) / (between + (size - 1) * within)
  inflation <- 1 + (mean(count) - 1) * max(0, rho, na.rm = TRUE)
  sums <- rowSums(each)
  mean(each[1L, ] <= 0) <= 0.25 && is_clear_mean(c(sums[1:3] / sums[4L], sums[4L]), inflation)
}

# Whether gains within groups are looked at: each fold of a single partition is a group, of which
# there are few, and they are large. Queries may be small, as their rows are compared within them.
are_few_and_large <- function(problem, folds, loss) {
  if (loss != "squared" || is.null(whole_units(problem)) || is_survival(problem)) return(FALSE)
  trained <- trained_places(problem)
  count <- length(unique(folds$ids[trained, 1L]))
  large <- is_ranked(problem) || length(trained) >= 20 * count
  count <= 10L && large && are_folds_groups(problem, folds, trained)
}

# Whether a mean gain is clear, from the means of the gains, their squares and their cubes and the
# number of units: a t test with the transformation of Hall (1992) for the skewness of the gains, as
# a few rows of a skewed response gain most. The variance of the mean is multiplied by `inflation`.
is_clear_mean <- function(moments, inflation = 1) {
  mean <- moments[1L]
  variance <- moments[2L] - mean^2
  units <- moments[4L]
  if (units < 2 || variance <= 1e-12 * moments[2L]) return(units > 1 && mean > 0)
  skewness <- (moments[3L] - 3 * mean * moments[2L] + 2 * mean^3) / variance^1.5
  t <- mean * sqrt((units - 1) / variance / inflation)
  by <- skewness / sqrt(units)
  t + by * t^2 / 3 + by^2 * t^3 / 27 + by / 6 > stats::qt(1 - gain_level, units - 1)
}

# The levels of the tests for censored times. The level of the best model is stricter, as the best
# of many models is tested. The mean over all models finds relations of many weak columns.
order_levels <- c(best = 0.00025, mean = 0.1)

# The level of the t test. As the model has the smallest error of all sizes and lambdas, a column is
# chosen from noise about six times as often.
gain_level <- 0.015

# Whether a column is clearly related to a response by Spearman's rank test, which no outlier or
# skewness can cause. The column with the largest correlation is tested, at a level for all columns
# and responses. Rows that folds keep together are one unit. Where covariates or queries tie rows,
# nothing is said.
is_related <- function(problem, folds) {
  level <- problem$coding$intercept
  if (!level && !has_cutpoints(problem) || ncol(problem$z) > level) return(FALSE)
  rows <- trained_places(problem)
  unit <- gain_units(problem, folds)[rows]
  usable <- which(problem$columns$usable)
  fit <- abs(problem$columns$products[usable, , drop = FALSE]) / sqrt(problem$columns$rss[usable])
  p <- vapply(seq_len(ncol(fit)), function(l) {
    top <- values_by(problem, rows, usable[which.max(fit[, l])], column_state(problem))
    rank_test(unit_means(as.vector(top) + 0, unit), unit_means(problem$rows$y[rows, l], unit))
  }, 0)
  min(p) * length(fit) < related_level
}

related_level <- 0.02

# The means of values over units of rows, the values themselves without units.
unit_means <- function(values, unit) {
  if (is.null(unit)) return(values)
  rowsum(values, unit, reorder = FALSE)[, 1L] / tabulate(match(unit, unique(unit)))
}

# The p-value of Spearman's correlation. For two values of y this is Wilcoxon's test, exact for up
# to 50 rows of each. It is at least the share of two permutations.
rank_test <- function(x, y) {
  m <- length(x)
  if (m < 4L || all(x == x[1L]) || all(y == y[1L])) return(1)
  rank <- rank(x)
  upper <- y == max(y)
  count <- c(sum(upper), sum(!upper))
  if (length(unique(y)) == 2L && all(count <= 50L)) {
    above <- sum(rank[upper]) - count[1L] * (count[1L] + 1) / 2
    tail <- floor(min(above, prod(count) - above) + 0.5)
    return(min(1, 2 * stats::pwilcox(tail, count[1L], count[2L])))
  }
  r <- stats::cor(rank, rank(y))
  t <- r * sqrt((m - 2) / max(1 - r^2, .Machine$double.eps))
  max(2 * stats::pt(-abs(t), m - 2), 2 * exp(-lfactorial(m)))
}

# The default rule. A model is clearly worse than the best one if its error is higher by two
# standard errors of their difference fold by fold, or by a share of the gain over the model without
# columns. The choice is size 0, unless the gain is clear. Otherwise the choice is the largest
# lambda whose best size has no more columns than the best model and is not clearly worse, unless
# the best size of another lambda has fewer columns and a smaller error, and of this lambda the
# smallest size that is not clearly worse: long curves are flat, and their minimum is not well
# determined.
choose_sparingly <- function(errors, loss, best) {
  if (!is_clear_gain(errors, best[[1L]] + errors$shape[1L] * (best[[2L]] - 1L), loss)) {
    return(list(size = 0L, lambda = best[[2L]]))
  }
  excess <- paired_excess(errors, best)
  gain <- excess$value[1L, best[[2L]]]
  share <- ifelse(errors$columns < first_k, most_lost[["short"]], most_lost[["long"]])
  near <- excess$value <= pmin(errors$slack * clear_lead * excess$se, share * gain)
  own_best <- apply(loss, 2L, choose_row)
  columns <- errors$columns[own_best]
  at <- cbind(own_best, seq_along(own_best))
  dominated <- vapply(seq_along(own_best), function(lambda) {
    any(columns < columns[lambda] & loss[at] < loss[at][lambda], na.rm = TRUE)
  }, NA)
  lambda <- which(near[at] & columns <= errors$columns[best[[1L]]] & !dominated)[1L]
  list(size = which(near[seq_len(own_best[lambda]), lambda])[1L] - 1L, lambda = lambda)
}

# a model is clearly worse if its error is higher by more than this number of standard errors
clear_lead <- 2

# The share of the gain over the model without columns that a list may lose. A short list has fewer
# columns than the first sizes that are tried.
most_lost <- c(short = 1 / 100, long = 1 / 20)

# The loss that a shorter list may have, as a share of a clear loss. It is 1 for wide data and
# decreases with the number of rows per column, as more columns then cost little.
slack_of <- function(problem) sqrt(min(1, sum(problem$columns$usable) / trained_rows(problem)))

# The models that the other folds of its partition choose for each fold (folds x size and lambda),
# or NULL where no folds choose.
cross_fitted_choices <- function(errors, rule) {
  if (identical(rule, "criterion")) return(NULL)
  t(vapply(seq_along(errors$weight), function(fold) {
    others <- errors$repetition == errors$repetition[fold]
    others[fold] <- FALSE
    chosen <- choose_model(some_folds(errors, others), rule)
    c(size = min(chosen$size, errors$shape[1L] - 1), lambda = chosen$lambda)
  }, numeric(2L)))
}

# The errors of the procedure with these choices, each scored on its fold.
cross_fitted <- function(errors, choices) {
  if (is.null(choices)) return(NULL)
  lapply(errors, function(one) {
    models <- choices[, "size"] + 1 + one$shape[1L] * (choices[, "lambda"] - 1)
    one$sum <- matrix(one$sum[cbind(models, seq_along(models))], 1L)
    one$shape <- c(1L, 1L)
    mean <- error_curve(one)
    c(mean = mean$value[1L], se = mean$se[1L])
  })
}

# Measures -----------------------------------------------------------------------------------------

as_measure <- function(measure, problem, loss = "squared") {
  if (is.function(measure)) {
    check_allowed_criterion("user", "measure", problem)
    made <- user_criterion(measure, problem, new_folds(rep(1L, nrow(problem)), "outer"))
    made$words <- "value of the `measure` function"
    return(made)
  }
  if (identical(measure, "deviance")) return(deviance_measure(loss))
  own <- if (is_string(measure)) losses[[loss]]$measure(measure, criteria[[measure]]$words)
  if (is.null(own)) named_criterion(measure, "measure", "measure", problem) else own
}

# The requested measures of a method with a loss, by name. The curves and the estimate use the first
# measure.
as_measures <- function(measure, problem, loss = "squared") {
  if (is.null(measure)) measure <- measure_of(problem, loss)
  if (is.function(measure)) measure <- list(measure)
  valid <- (is.character(measure) || is.list(measure) && !is.object(measure)) && length(measure)
  refuse_unless(valid, "measure", "one or several measures, by name or as functions", measure)
  measure <- as.list(measure)
  made <- lapply(measure, as_measure, problem, loss)
  names <- vapply(made, `[[`, "", "name")
  given <- names(measure)
  if (!is.null(given)) names <- ifelse(given == "", names, given)
  stats::setNames(made, make.unique(names))
}

# the row of the path that a rule chooses by held-out errors
lambda_row_by <- function(fit, rule) {
  choose_row(criterion_loss(fit$criterion, fit$path$criterion), rule, fit$path$se)
}
