# The criteria once more, in plain R: for the methods that are not in C, which are also the tests'
# twins of the kernel.

# Value and standard error of a criterion from held-out residuals in the user's units, a list with
# an m x L matrix for each repeat. The figures of several repeats are averaged.
judge <- function(problem, folds, criterion, residuals) {
  each <- lapply(seq_along(residuals), function(repetition) {
    residual <- residuals[[repetition]]
    if (criterion$name == "user") {
      return(c(value = criterion_value(criterion, criterion$judge(residual, repetition)), se = NA))
    }
    judge_folds(problem, criterion, residual, folds$ids[, repetition])
  })
  as.list(Reduce(`+`, each) / length(each))
}

judge_folds <- function(problem, criterion, residual, ids) {
  parts <- if (criterion$name == "auc") {
    vapply(split(seq_along(ids), ids), right_pairs, c(0, 0), problem, problem$y - residual)
  } else {
    loss <- row_loss(problem, criterion$name, residual)
    t(rowsum(cbind(problem$weights * loss, problem$weights), ids))
  }
  parts <- parts[, parts[2L, ] > 0, drop = FALSE]
  mean <- sum(parts[1L, ]) / sum(parts[2L, ])
  off <- parts[1L, ] / parts[2L, ] - mean
  n <- ncol(parts)
  se <- if (n > 1L) sqrt(sum(parts[2L, ] * off^2) / sum(parts[2L, ]) / (n - 1L)) else NA_real_
  c(value = mean, se = se)
}

# the losses of an l1 path are those of the score, y - residual
row_loss <- function(problem, name, residual) {
  switch(name,
    squared = rowMeans(residual^2),
    absolute = rowMeans(abs(residual)),
    error = as.double(class_of(problem, problem$y - residual) !=
                        problem$levels[class_index(problem)]),
    logistic = , hinge = l1_loss(name, problem$y[, 1L], problem$y[, 1L] - residual[, 1L])
  )
}

# Weight of the pairs of a positive and a negative row in the right order (a tie counts half), and
# of all pairs.
right_pairs <- function(rows, problem, score) {
  up <- rows[problem$y[rows, 1L] > 0]
  down <- setdiff(rows, up)
  weight <- outer(problem$weights[up], problem$weights[down])
  ahead <- outer(score[up, 1L], score[down, 1L], "-")
  c(sum(weight * (ahead > score_tie)) + sum(weight * (abs(ahead) <= score_tie)) / 2, sum(weight))
}
