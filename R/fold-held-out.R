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

# The results of `train` without each outer fold, with a warning after Ctrl-C.
outer_held_out <- function(parts, train, progress, BPPARAM) {
  count <- nrow(parts)
  held <- held_out(parts, train, paste("outer fold", seq_len(count)), progress = progress,
                   BPPARAM = BPPARAM)
  if (nrow(held$parts) < count) warn_interrupted(nrow(held$parts), count, "outer fold")
  held
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
  parts <- held_out_rows(folds, problem$weights > 0)
  if (!name %in% c("auc", "concordance")) return(c(0L, nrow(parts)))
  weight <- vapply(parts$rows, function(rows) {
    part <- scored_rows(problem, rows)
    fold_sum(part, list(name = name), 0 * part$y)[[2L]]
  }, 0)
  c(sum(weight == 0), nrow(parts))
}

# Errors of one part ------------------------------------------------------------------------------

# The sum of a criterion over some rows, held out together, and its weight, from the residuals of
# these rows under one model.
fold_sum <- function(problem, criterion, residual) {
  if (criterion$name == "auc") {
    return(right_pairs(seq_len(nrow(residual)), problem, problem$y - residual))
  }
  if (!is.null(criterion$sum)) return(criterion$sum(problem, problem$y - residual))
  if (criterion$name == "concordance") return(ordered_pairs(problem, problem$y - residual))
  residual <- centre_within(problem, residual)
  weight <- sum(problem$weights)
  if (criterion$name == "user") {
    fold <- rep(1L, nrow(residual))
    return(c(weight * criterion$evaluate(problem$y, problem$y - residual, fold), weight))
  }
  w <- row_weights(problem, criterion)
  c(sum(w * row_losses(problem, criterion$name, residual)), sum(w))
}

# the sum of a criterion and its weight (2 x models) over the rows of a problem, from the scores of
# models
score_sums <- function(scores, problem, criterion) {
  vapply(seq_len(dim(scores)[3L]), function(s) {
    fold_sum(problem, criterion, problem$y - layer(scores, s))
  }, c(0, 0))
}

# Errors of all rows ------------------------------------------------------------------------------

# A criterion from the held-out residuals of all rows in the user's units: `residuals` has an array
# rows x responses x models for each partition of `folds`. `...` are arguments of fold_errors().
residual_errors <- function(problem, folds, criterion, residuals, ...) {
  models <- length(residuals[[1L]]) / length(problem$y)
  sums <- lapply(seq_along(residuals), function(repetition) {
    of_models <- array(residuals[[repetition]], c(dim(problem$y), models))
    simplify2array(lapply(seq_len(models), function(l) {
      residual_sums(problem, criterion, layer(of_models, l), folds$ids[, repetition], repetition)
    }))
  })
  count <- vapply(sums, ncol, 0L)
  fold_errors(lapply(sums, aperm, c(1L, 3L, 2L)), rep(seq_along(count), count),
              isTRUE(criterion$higher), ..., shape = c(models, 1L))
}

# The sums of a criterion over the rows of each fold, and their weights (2 x folds). A function of
# the user is called once for all folds.
residual_sums <- function(problem, criterion, residual, ids, repetition) {
  residual <- centre_within(problem, residual)
  if (criterion$name == "user") {
    return(rbind(criterion_value(criterion, criterion$loss(residual, repetition)), 1))
  }
  if (criterion$name %in% c("auc", "concordance")) {
    score <- problem$y - residual
    return(vapply(split(seq_along(ids), ids), function(rows) {
      if (criterion$name == "auc") return(right_pairs(rows, problem, score))
      ranked_pairs(scored_rows(problem, rows), score[rows, , drop = FALSE])
    }, c(0, 0)))
  }
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
  if (problem$task != "regression") {
    table$error <- evaluate_folds(problem, folds, list(name = "error"), residuals)$value
  }
  table
}
