# The standard error and the interval of a held-out error.

# Rows --------------------------------------------------------------------------------------------

# What each row adds to the sum of a measure and to its weight (rows x 2), from scores of rows held
# out together: of a measure of pairs half of what its pairs add, of a ranking the sums of a query
# at its first row. NULL for a measure that is no sum over rows or pairs.
row_shares <- function(problem, measure, score) {
  compared <- compared_rows(problem)
  if (length(compared) && measure$name != "user") {
    shares <- matrix(0, nrow(problem), 2L)
    for (rows in compared) {
      shares[rows[1L], ] <- fold_sum(scored_rows(problem, rows), measure,
                                     (problem$rows$y - score)[rows, , drop = FALSE])
    }
    return(shares)
  }
  if (measure$name == "user" || is_gain(measure$name) || !is.null(measure$held_out)) return(NULL)
  if (is_of_pairs(measure, problem)) return(pair_shares(problem, measure, score))
  of_probabilities <- measure$name %in% c("brier", "logloss")
  w <- if (of_probabilities) case_weights(problem) else row_weights(problem, measure)
  losses <- if (!is.null(measure$loss)) measure$loss(problem, score) else
    row_losses(problem, measure$name, problem$rows$y - score)
  cbind(w * losses, w)
}

# Whether row_shares() halves what the pairs of rows add.
is_of_pairs <- function(measure, problem) {
  measure$name %in% c("auc", "concordance") && !length(compared_rows(problem))
}

# Of three and more classes the shares are for the mean of the areas of all pairs of classes.
pair_shares <- function(problem, measure, score) {
  w <- problem$rows$weight
  if (!is.null(measure$scores)) score <- measure$scores(score)
  if (measure$name == "concordance" && is_survival(problem)) return(time_shares(problem, score))
  if (measure$name == "concordance") {
    return(number_shares(compared_responses(problem), score[, 1L] + row_offset(problem), w,
                         score_tie_of(problem)))
  }
  class <- class_index(problem)
  rows <- split(seq_along(class), factor(class, seq_along(problem$coding$levels)))
  if (ncol(score) == 1L) return(class_shares(rows[[2L]], rows[[1L]], score[, 1L], w))
  each <- utils::combn(ncol(score), 2L, function(pair) {
    one <- rows[[pair[1L]]]
    other <- rows[[pair[2L]]]
    class_shares(one, other, score[, pair[1L]], w) + class_shares(other, one, score[, pair[2L]], w)
  }, simplify = FALSE)
  each <- Filter(function(shares) sum(shares[, 2L]) > 0, each)
  if (!length(each)) return(matrix(0, length(class), 2L))
  area <- vapply(each, function(shares) sum(shares[, 1L]) / sum(shares[, 2L]), 0)
  total <- sum(vapply(each, function(shares) sum(shares[, 2L]), 0)) / 2
  weight <- total * average(lapply(each, function(shares) shares[, 2L] / sum(shares[, 2L])))
  off <- total * average(Map(function(shares, area) {
    (shares[, 1L] - area * shares[, 2L]) / sum(shares[, 2L])
  }, each, area))
  cbind(off + mean(area) * weight, weight)
}

# Half of what the pairs of each row add to the weight of pairs in the right order and to the weight
# of all pairs, of pairs of two classes. The rows `higher` should have the higher scores. Pairs with
# scores that differ by at most `tie` count half. The scores of each class are sorted once.
class_shares <- function(higher, lower, score, weight, tie = score_tie) {
  if (anyNA(score)) {
    none <- class_shares(higher, lower, 0 * weight, weight)
    return(replace(none, cbind(seq_along(score), 1L), NA))
  }
  shares <- matrix(0, length(score), 2L)
  add <- function(own, others, score) {
    others <- others[order(score[others])]
    before <- c(0, cumsum(weight[others]))
    mass <- function(end, strict) before[findInterval(end, score[others], left.open = strict) + 1L]
    right <- (mass(score[own] - tie, TRUE) + mass(score[own] + tie, FALSE)) / 2
    cbind(right, before[length(before)]) * weight[own] / 2
  }
  shares[higher, ] <- add(higher, lower, score)
  shares[lower, ] <- add(lower, higher, -score)
  shares
}

# The same of all pairs of numbers, of which the larger should have the higher score.
number_shares <- function(y, score, weight, tie) {
  shares <- lapply(value_blocks(seq_along(score), length(score)), function(rows) {
    wanted <- sign(outer(y[rows], y, `-`))
    ahead <- outer(score[rows], score, `-`) * wanted
    pairs <- outer(weight[rows], weight) * abs(wanted) / 2
    right <- (ahead > tie) + 0.5 * (abs(ahead) <= tie)
    cbind(rowSums(right * pairs), rowSums(pairs))
  })
  do.call(rbind, shares)
}

# Standard errors ---------------------------------------------------------------------------------

# The standard error of a sum of shares divided by their weight, over units of rows, of which those
# with a `counted` row count. `pairs` tells whether shares are halves of what pairs add.
unit_se <- function(shares, unit, pairs = FALSE, counted = TRUE) {
  total <- unname(colSums(shares))
  pull <- rowsum(shares[, 1L] - total[1L] / total[2L] * shares[, 2L], unit)
  count <- length(unique(unit[counted]))
  if (count < 2L || total[2L] == 0) return(NA_real_)
  (1 + pairs) * sqrt(count / (count - 1) * sum(pull^2)) / total[2L]
}

# The jackknife standard error from the errors of the data without each of `count` folds, of which
# some may be missing.
jackknife_se <- function(errors, count = length(errors)) {
  errors <- errors[!is.na(errors)]
  if (length(errors) < 2L) NA_real_ else sqrt((count - 1)^2 / count * stats::var(errors))
}

# The standard error of a mean over folds or random parts whose models share training rows (Nadeau
# and Bengio 2003). `ratio` is the number of rows held out to the number trained on.
corrected_se <- function(values, ratio) {
  values <- values[!is.na(values)]
  if (length(values) < 2L) NA_real_ else sqrt((1 / length(values) + ratio) * stats::var(values))
}

# The standard error of a held-out error: a list with `se`, `row_se`, `jackknife_se`, the number of
# `units` of rows, the degrees of freedom `df`, and how it was `measured`. This is "folds", from the
# errors of the data without each outer fold by the inner folds, "pairs", from these errors by the
# models without two folds, or "rows" without such errors. `shares` (rows x 2) and `sums` (2) are
# lists over the parts, and `inner` has the error without each part, or is NULL. Standard errors are
# root mean squares over the partitions, as a further partition tells nothing about other data.
held_out_se <- function(shares, sums, inner, parts, unit, weight, of_pairs = FALSE,
                        measured = "folds") {
  value <- vapply(sums, function(sum) if (sum[2L] > 0) sum[[1L]] / sum[[2L]] else NA_real_, 0)
  by_rows <- !any(vapply(shares, is.null, NA))
  weighted_count <- function(sets) vapply(sets, function(rows) sum(weight[rows] > 0), 0L)
  each <- vapply(split(seq_along(sums), parts$repetition), function(own) {
    rows <- unlist(parts$rows[own])
    ratio <- mean(weighted_count(parts$rows[own]) / weighted_count(parts$trained[own]))
    row <- if (!by_rows) corrected_se(value[own], 0) else
      unit_se(do.call(rbind, shares[own]), unit[rows], of_pairs, weight[rows] > 0)
    jackknife <- if (is.null(inner)) NA_real_ else jackknife_se(inner[own], parts$count[own[1L]])
    c(row = row, jackknife = jackknife, corrected = corrected_se(value[own], ratio))
  }, numeric(3L))
  se <- sqrt(rowMeans(each^2, na.rm = TRUE))
  se[is.nan(se)] <- NA_real_
  folds <- max(table(parts$repetition[!is.na(value)]))
  if (is.na(se[["jackknife"]])) measured <- "rows"
  rows <- unique(unlist(parts$rows))
  units <- if (by_rows) effective_units(unit[rows], weight[rows]) else folds
  # By the rows held out and by the rows trained on. Half of the variance of the jackknife over
  # inner folds is added to the variance over rows. The jackknife over pairs and the corrected
  # standard error over folds include the variance over rows.
  both <- c(se[["row"]], switch(measured, folds = se[["jackknife"]] / sqrt(2),
                                pairs = se[["jackknife"]], rows = se[["corrected"]]))
  both <- both[!is.na(both)]
  combined <- if (!length(both)) NA_real_ else if (measured == "folds") sqrt(sum(both^2)) else
    max(both)
  list(se = combined, row_se = se[["row"]], jackknife_se = se[["jackknife"]],
       units = units, df = if (measured == "rows") folds - 1 else units - 1, measured = measured)
}

# The shares, sums and inner errors of the difference between two held-out errors of the same rows,
# each a list of them.
difference_of <- function(one, other) {
  list(
    shares = Map(function(one, other) {
      if (!is.null(one) && !is.null(other)) cbind(one[, 1L] - other[, 1L], one[, 2L])
    }, one$shares, other$shares),
    sums = Map(function(one, other) c(one[1L] - other[1L], one[2L]), one$sums, other$sums),
    inner = if (!is.null(one$inner) && !is.null(other$inner)) one$inner - other$inner
  )
}

# The effective number of units of rows, which have the mean weight of their rows.
effective_units <- function(unit, weight) {
  counted <- weight > 0
  of_unit <- rowsum(cbind(weight, 1)[counted, , drop = FALSE], unit[counted])
  of_unit <- of_unit[, 1L] / of_unit[, 2L]
  sum(of_unit)^2 / sum(of_unit^2)
}

# Intervals ---------------------------------------------------------------------------------------

# The interval of a measure from its value and standard error: Wilson's for rates, by t on the logit
# scale for shares of pairs in the right order, otherwise by t. `found` is a value of held_out_se().
# `size` is the size of the errors, next to which a standard error of rounding is none.
interval_of <- function(measure, value, found, level, size = abs(value)) {
  se <- found$se
  if (is.na(value) || is.na(se) || found$df <= 0) return(c(NA_real_, NA_real_))
  quantile <- stats::qt((1 + level) / 2, found$df)
  extreme <- value %in% c(0, 1)
  pairs <- measure$name %in% c("auc", "concordance")
  # as of scores that are all equal
  if (pairs && se < 1e-9 && !extreme) return(c(NA_real_, NA_real_))
  if (measure$name %in% c("error", "balanced") || pairs && extreme) {
    count <- if (extreme) found$units else value * (1 - value) / se^2
    return(wilson_interval(value, count, quantile))
  }
  if (pairs) {
    return(stats::plogis(stats::qlogis(value) + c(-1, 1) * quantile * se / (value * (1 - value))))
  }
  # losses without any difference do not say how they differ
  if (se <= 1e-12 * size) return(c(NA_real_, NA_real_))
  of_losses <- c("squared", "absolute", "brier", "logloss", "deviance")
  bounds <- if (measure$name %in% of_losses) c(0, Inf) else
    if (is_gain(measure$name)) c(0, 1) else c(-Inf, Inf)
  ends <- value + c(-1, 1) * quantile * se
  c(max(ends[1L], bounds[1L]), min(ends[2L], bounds[2L]))
}

# A sum divided by its weight, NaN without weight.
mean_of_sums <- function(sums) if (sums[[2L]] > 0) sums[[1L]] / sums[[2L]] else NaN

wilson_interval <- function(p, n, z = stats::qnorm(0.975)) {
  middle <- p + z^2 / (2 * n)
  half <- z * sqrt(p * (1 - p) / n + z^2 / (4 * n^2))
  ends <- (middle + c(-1, 1) * half) / (1 + z^2 / n)
  # an end at 0 or 1 is one without rounding
  c(if (p > 0) ends[1L] else 0, if (p < 1) ends[2L] else 1)
}

# The most frequent class -------------------------------------------------------------------------

# How much smaller the share of the other classes in the sample is, on average, than the error of
# the most frequent class of a sample on new rows, for `rows` rows with these shares of the classes.
majority_optimism <- function(share, rows) {
  if (length(share) == 2L) {
    counts <- rbind(0:rows, rows:0)
    chance <- stats::dbinom(0:rows, rows, share[1L])
  } else {
    counts <- with_stream(fixed_stream, stats::rmultinom(1000L, rows, share))
    chance <- rep(1 / ncol(counts), ncol(counts))
  }
  largest <- apply(counts, 2L, max)
  most <- counts == rep(largest, each = nrow(counts))
  error <- 1 - colSums(most * share) / colSums(most)
  sum(chance * (error - (1 - largest / rows)))
}

# The optimism of models without columns, which predict the most frequent class, on the rows of a
# problem. `most` has the most frequent class without each part. Where a part changes it, as it may
# where two classes are about equal, the held-out error is not optimistic. The corrected error is at
# most the error for classes of equal size, which are taken to be so by design.
optimism_of <- function(problem, most) {
  if (problem$coding$task == "regression" || !has_intercept_only(problem)) return(0)
  trained <- problem$rows$weight > 0
  class <- class_index(problem)[trained]
  w <- problem$rows$weight[trained]
  share <- as.vector(tapply(w, factor(class, seq_along(problem$coding$levels)), sum, default = 0))
  if (any(most != which.max(share))) return(0)
  unit <- whole_units(problem)[trained]
  whole <- !is.null(unit) && all(tapply(class, unit, function(one) all(one == one[1L])))
  rows <- round(effective_units(if (whole) unit else seq_along(w), w))
  share <- share / sum(w)
  # the sample overstates the largest share, which the first value corrects
  first <- majority_optimism(share, rows)
  min(majority_optimism(less_unequal(share, first), rows), max(share) - 1 / length(share))
}

# Shares of classes of which the largest is smaller by `by`, or as large as the next one if that is
# larger, and the others are larger in proportion.
less_unequal <- function(share, by) {
  top <- which.max(share)
  rest <- share[-top] / sum(share[-top])
  share[top] <- max(share[top] - by, max(rest) / (1 + max(rest)))
  share[-top] <- (1 - share[top]) * rest
  share
}

# Errors without an outer fold --------------------------------------------------------------------

# The errors of the method and of the null model (a row each) on the training rows of an outer fold,
# held out by the inner folds of its fit, for each measure. NULL where the fit held none out with
# its choices.
inner_errors <- function(measures, fit, train) {
  held <- inner_held_out(fit, train)
  if (is.null(held)) return(NULL)
  errors <- vapply(measures, function(measure) {
    null <- measure_for(measure, part_null(list(fit = fit, train = train)))
    held_errors(list(measure_for(measure, fit), null), held, train)
  }, numeric(2L))
  array(errors, c(2L, length(measures)), list(c("test", "majority"), names(measures)))
}

held_errors <- function(measures, held, train) {
  # losses of rows are summed over all inner folds at once
  together <- if (all(vapply(measures, is_of_rows, NA))) 1L else held$together
  sums <- lapply(split(seq_along(held$row), together), function(set) {
    of_set <- scored_rows(train, held$row[set])
    mapply(function(measure, scores) {
      fold_sum(of_set, measure, of_set$rows$y - scores[set, , drop = FALSE])
    }, measures, held[c("score", "null")])
  })
  total <- Reduce(`+`, sums)
  ifelse(total[2L, ] > 0, total[1L, ] / total[2L, ], NA_real_)
}

# The scores of rows held out by the inner folds of a fit, by the models without them at the size
# and lambda of the fit, and by the null model: `row`, `score` and `null`, and `together`, which
# rows are scored together. NULL where no fold repeated the choice of columns.
inner_held_out <- function(fit, train) {
  repeated <- inherits(fit, "sparsels_fit") && !is.null(fit$held_out) &&
    (!is.null(fit$fold_models) || fit$method %in% c("rls", "kernel_rls", "lssvm"))
  if (!repeated) return(NULL)
  folds <- if (is.null(fit$size_folds)) fit$folds else fit$size_folds
  score <- judged_held_out(fit)
  row <- intersect(trained_places(train), which(!is.na(rowSums(score))))
  together <- if (folds$loo) rep(1L, length(row)) else folds$ids[row, 1L]
  list(row = row, together = together, score = score[row, , drop = FALSE],
       null = null_held_out_scores(fit, train, folds, row))
}

# The scores of some rows by the null models of a fit without the fold of each row.
null_held_out_scores <- function(fit, train, folds, row) {
  part <- folds$ids[row, 1L]
  constant <- has_intercept_only(train)
  loss <- loss_name(fit)
  if (is_likelihood(loss) || has_own_null(loss) && !constant) {
    null <- matrix(0, length(row), ncol(train$rows$y))
    others <- fit$problem
    for (own in split(seq_along(row), part)) {
      others$rows$weight <- replace(train$rows$weight, row[own], 0)
      fit$problem <- without_dependent(others)
      null[own, ] <- null_scores(list(fit = fit, train = fit$problem, problem = train), row[own])
    }
    return(null)
  }
  y <- train$rows$y
  if (!constant) return((y - null_residuals(train, folds))[row, , drop = FALSE])
  if (!has_mean_null(train)) return(0 * y[row, , drop = FALSE])
  w <- train$rows$weight
  part <- match(part, unique(part))
  lost <- rowsum(cbind(w * y, w)[row, , drop = FALSE], part, reorder = FALSE)
  left <- rep(colSums(cbind(w * y, w)), each = nrow(lost)) - lost
  null <- left[, -ncol(left), drop = FALSE] / left[, ncol(left)]
  null[part, , drop = FALSE]
}

# The pairs of outer folds ------------------------------------------------------------------------

# Refuses pairs of parts that are not the folds of partitions, or partitions of two folds.
check_pairs <- function(parts) {
  stop_argument_if(any(parts$layer != parts$repetition | parts$count < 3L),
                   "`interval = \"pairs\"` needs three or more outer folds that do not overlap")
}

# The results of all outer folds, where `theta` has the errors of the data without each: means over
# the other folds of the partition, by the models without both. `scores_of` gives the scores of some
# rows by the fit of a part and, as "majority", by the model that it is compared with.
with_pairs <- function(held, run_of, measures, progress, BPPARAM, scores_of = scores_beside_null) {
  if (!held$complete) return(held)
  parts <- held$parts
  pairs <- do.call(rbind, lapply(split(seq_len(nrow(parts)), parts$repetition), function(own) {
    t(utils::combn(own, 2L))
  }))
  done <- repeat_tasks(nrow(pairs), "pair of outer folds", function(i) {
    both <- pairs[i, ]
    rows <- parts$rows[both]
    run <- run_of(lapply(parts, `[[`, both[1L]))
    part <- fit_rows(run, setdiff(parts$trained[[both[1L]]], rows[[2L]]))
    of_part <- function(rows) scores_of(part, rows)
    lapply(rows, function(rows) pair_sums(part, measures, of_part, run$problem, rows))
  }, progress, BPPARAM)
  if (length(done) < nrow(pairs)) return(held)
  for (o in seq_len(nrow(parts))) {
    without <- which(pairs == o, arr.ind = TRUE)
    # of a pair the sums over the rows of the other fold
    total <- Reduce(`+`, Map(function(pair, place) done[[pair]][[3L - place]], without[, 1L],
                             without[, 2L]))
    theta <- array(total[1L, , ] / total[2L, , ], dim(total)[-1L], dimnames(total)[-1L])
    held$each[[o]]["theta"] <- list(replace(theta, is.nan(theta), NA_real_))
  }
  held$measured <- "pairs"
  held
}

# The scores of some rows by a model of a part, by default the chosen one, and by its null model.
scores_beside_null <- function(part, rows, test = chosen_scores(part, rows)) {
  list(test = test, majority = null_scores(part, rows))
}

# The sums of each measure over some rows and their weights, 2 x scores x measures. `scores_of`
# gives the scores of any rows.
pair_sums <- function(part, measures, scores_of, problem, rows) {
  scores <- scores_of(rows)
  sums <- vapply(measures, function(measure) {
    vapply(sums_of_part(measure, part, problem, rows, scores_of, scores), `[`, c(0, 0), 1:2)
  }, matrix(0, 2L, length(scores)))
  array(sums, c(2L, length(scores), length(measures)), list(NULL, names(scores), names(measures)))
}

# The table of estimates --------------------------------------------------------------------------

# The measures that are said beside the given ones: the absolute error, whose interval holds where
# the squared error comes from a few rows, and the balanced error, whose value without columns is
# known.
measures_beside <- function(measures, problem) {
  names <- vapply(measures, `[[`, "", "name")
  beside <- c(squared = "absolute", error = "balanced")[names[1L]]
  restricted <- !is.null(stated_by_properties(problem, "criteria"))
  if (is.na(beside) || beside %in% names || restricted) return(list())
  if (beside == "absolute" && problem$coding$task != "regression") return(list())
  stats::setNames(list(as_measure(beside, problem)), beside)
}

# The estimates of all measures with their intervals, a row each, and what the words about them
# need: list(table, interval).
estimate_table <- function(held, measures, problem, outer, level) {
  unit <- row_units(problem, outer$folds)
  empty <- vapply(held$each, function(fold) {
    !is.null(fold$features) && fold$values[fold$chosen] == 0L
  }, NA)
  tested <- vapply(held$parts$rows, function(rows) sum(problem$rows$weight[rows]), 0)
  no_column <- mean(tapply(tested * empty, held$parts$repetition, sum) /
                      tapply(tested, held$parts$repetition, sum))
  optimism <- optimism_of(problem, unlist(lapply(held$each, `[[`, "most")))
  rows <- lapply(names(measures), function(name) {
    measure_row(held, name, measures[[name]], problem, unit, level, optimism, no_column)
  })
  first <- rows[[1L]]$found
  # the largest share of a row in the sum of the first measure
  shares <- lapply(held$each, function(fold) fold$shares[[1L]]$test)
  known <- !any(vapply(shares, is.null, NA))
  by_row <- if (known) rowsum(do.call(rbind, shares)[, 1L], unlist(held$parts$rows))
  heaviest <- if (known) share_of(max(by_row), sum(by_row)) else NA_real_
  list(table = do.call(rbind, lapply(rows, `[[`, "row")), interval = list(
    level = level, measured = first$measured, units = first$units, no_column = no_column,
    optimism = optimism, heaviest = heaviest, rows = trained_rows(problem),
    trained = round(mean(lengths(with_weight(held$parts$trained, problem))))
  ))
}

# held_out_se() of the shares, sums and inner errors `of` the parts.
se_of_parts <- function(of, held, measure, problem, unit) {
  held_out_se(of$shares, of$sums, of$inner, held$parts, unit, problem$rows$weight,
              is_of_pairs(measure, problem), held$measured)
}

# The shares and sums of a measure for all folds by the chosen model ("test") or the null model
# ("majority"), and the errors without each fold, NULL where there are none.
of_folds <- function(held, name, curve) {
  inner <- lapply(held$each, function(fold) fold$theta[curve, name])
  list(
    shares = lapply(held$each, function(fold) fold$shares[[name]][[curve]]),
    sums = lapply(held$each, function(fold) fold$sums[[name]][[curve]][, fold$chosen]),
    inner = if (!any(vapply(inner, is.null, NA))) unlist(inner)
  )
}

measure_row <- function(held, name, measure, problem, unit, level, optimism, no_column) {
  of <- function(curve) of_folds(held, name, curve)
  se_of <- function(of) se_of_parts(of, held, measure, problem, unit)
  errors <- curve_errors(held, name, "test", chosen_places(held$each))
  raw <- error_curve(errors)$value[1L]
  mean <- raw + if (measure$name == "error") no_column * optimism else 0
  with_null <- !is.null(held$each[[1L]]$sums[[name]]$majority)
  test <- of("test")
  # without a column in any fold all fits are null models, also in the inner folds
  if (no_column == 1 && with_null) test$inner <- of("majority")$inner
  found <- se_of(test)
  ends <- interval_of(measure, mean, found, level)
  row <- data.frame(
    measure = name, mean = mean, se = found$se, lower = ends[1L], upper = ends[2L],
    row_se = found$row_se, jackknife_se = found$jackknife_se, uncorrected = raw, null = NA_real_,
    difference = NA_real_, difference_se = NA_real_, difference_lower = NA_real_,
    difference_upper = NA_real_, unscored = sum(errors$weight == 0)
  )
  if (with_null) {
    null <- error_curve(curve_errors(held, name, "majority", chosen_places(held$each)))$value[1L]
    if (measure$name == "error") null <- null + optimism
    row$null <- null
    if (no_column < 1) {
      found_less <- se_of(difference_of(test, of("majority")))
      # a null model without covariates ties all pairs
      tied <- measure$name %in% c("auc", "concordance") && has_intercept_only(problem)
      ends <- if (tied) ends - null else
        interval_of(list(name = "difference"), mean - null, found_less, level, abs(null))
      row[c("difference", "difference_se", "difference_lower", "difference_upper")] <-
        c(mean - null, found_less$se, ends)
    }
  }
  list(row = row, found = found)
}

# Words -------------------------------------------------------------------------------------------

measure_words <- function(name) {
  known <- match(name, names(criteria))
  ifelse(is.na(known), name, vapply(criteria, `[[`, "", "words")[known])
}

# "0.13 (95 % interval 0.06 to 0.25) on new rows, by fits to 56 of 62 rows; null model 0.36,
# difference -0.23 (-0.36 to -0.10)", from a row of the estimates of a cross-validation.
estimate_words <- function(x, row) {
  paste0(shown(row$mean), ends_words(row, x$level), " on new rows, ", trained_words(x),
         if (!is.na(row$null)) paste0("; null model ", shown(row$null)),
         if (!is.na(row$null) && !is.na(row$difference_lower)) {
           paste0(", difference ", difference_words(row))
         })
}

# "-0.23 (-0.36 to -0.10)"
difference_words <- function(row) {
  sprintf("%s (%s to %s)", shown(row$difference), shown(row$difference_lower),
          shown(row$difference_upper))
}

interval_words <- function(level) sprintf("%s %% interval", format(100 * level))

ends_words <- function(row, level) {
  if (is.na(row$lower)) return("")
  sprintf(" (%s %s to %s)", interval_words(level), shown(row$lower), shown(row$upper))
}

trained_words <- function(x) {
  sprintf("by fits to %d of %s", as.integer(x$interval$trained), counted(x$interval$rows, "row"))
}

# The outer folds with an error where several groups of rows were held out one at a time, else NULL.
# Every partition holds out the same groups.
folds_of_groups <- function(folds) {
  if (is.null(folds$group)) return(NULL)
  folds <- folds[folds$repetition == 1L & is.finite(folds$test), ]
  if (length(unique(folds$group)) > 1L) folds
}

# The row of the group with the largest error, relative to the null model's where there is one.
worst_group <- function(x, folds) {
  measure <- list(name = x$measure, higher = x$higher)
  loss <- if (is.null(folds$majority)) as_error(measure, folds$test) else
    relative_error(measure, folds$test, folds$majority)
  # the null model of a group may have no error
  if (any(is.finite(loss))) loss[!is.finite(loss)] <- -Inf
  folds[which.max(loss), ]
}

# "0.2 to 0.71 in 3 groups, each held out whole; worst, relative to the null model, in 'west' (30
# rows): 0.71 (95 % interval 0.5 to 0.9), null model 1.02". NULL where no groups were held out so.
group_words <- function(x) {
  folds <- folds_of_groups(x$folds)
  if (is.null(folds)) return(NULL)
  worst <- worst_group(x, folds)
  range <- range(folds$test)
  null <- !is.null(worst$majority)
  sprintf("%s to %s in %s, each held out whole; worst%s in '%s' (%s): %s%s%s", shown(range[1L]),
          shown(range[2L]), counted(nrow(folds), "group"),
          if (null) ", relative to the null model," else "", worst$group,
          counted(worst$rows, "row"), shown(worst$test), ends_words(worst, x$level),
          if (null) paste(", null model", shown(worst$majority)) else "")
}

narrow_words <- function(what, measures = "`interval = \"pairs\"`") {
  paste("the", what, "may be too narrow, as it was not measured how the fits differ with their",
        "rows:", measures, "measures that")
}

# What a reader of the interval must know, if anything.
interval_notes <- function(x) {
  found <- x$interval
  row <- x$estimates[1L, ]
  from_folds <- row$jackknife_se / if (found$measured == "folds") sqrt(2) else 1
  beside <- function() {
    paste0(measure_words(x$beside$measure), " ", shown(x$beside$mean),
           ends_words(x$beside, x$level))
  }
  c(
    if (found$no_column == 1) sprintf("no fold chose a %s", term_word(x)),
    if (x$measure == "error") one_class_words(x$problem, row$null),
    if (isTRUE(row$mean > row$uncorrected) && shown(row$mean) != shown(row$uncorrected)) {
      sprintf("%s before a correction: models without %ss predict the most frequent class, %s",
              shown(row$uncorrected), term_word(x), "whose share of new rows is smaller")
    },
    if (found$measured == "rows" && !is.na(row$lower)) {
      narrow_words("interval", "cross_validate() with `interval = \"pairs\"`")
    } else if (isTRUE(from_folds > row$row_se)) {
      sprintf("%s, which makes the interval wider than the rows alone would",
              if (length(unique(lapply(x$chosen, sort))) < 2L) "the fits of the folds differ" else
                sprintf("the folds choose different %ss", chosen_word(x$fit)))
    },
    if (nrow(x$beside) && isTRUE(found$heaviest > 1 / 4) && x$measure == "squared") {
      sprintf("one row has %.0f %% of this error: %s", 100 * found$heaviest, beside())
    },
    if (nrow(x$beside) && x$beside$measure == "balanced" && found$no_column > 0) beside()
  )
}
