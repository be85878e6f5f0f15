# The criteria a search can minimise or maximise: what they are called, and their value in plain R
# for the methods that are not in C and for the rows of a fold.

# A criterion as every fitter holds it. The kernel minimises a loss: `criterion_value()` turns it
# into the user's figure.
as_criterion <- function(criterion, problem, folds) {
  if (is.function(criterion)) return(user_criterion(criterion, problem, folds))
  check_choice(criterion, "criterion", c("squared", "error", "absolute", "auc"))
  if (criterion == "error" && problem$task == "regression") {
    stop_input(paste("`criterion = \"error\"` needs classes, but the response is numeric:",
                     "give it as a factor, or use \"squared\" or \"absolute\""))
  }
  if (criterion == "auc") check_auc(problem, folds)
  higher <- criterion == "auc"
  scheme <- if (higher && folds$loo) "leave-pair-out" else folds$label
  list(name = criterion, code = match(criterion, c("squared", "error", "absolute", "auc")) - 1L,
       higher = higher, words = criterion_words[[criterion]],
       label = held_out_label(criterion_words[[criterion]], scheme), judge = NULL)
}

criterion_words <- c(squared = "squared error", error = "error rate", absolute = "absolute error",
                     auc = "AUC", balanced = "balanced error rate", logistic = "logistic loss",
                     hinge = "hinge loss")

# "leave-one-out squared error", "held-out squared error (10-fold, stratified)"
held_out_label <- function(figure, scheme) {
  if (startsWith(scheme, "leave-") && !grepl(" ", scheme)) return(paste(scheme, figure))
  sprintf("held-out %s (%s)", figure, scheme)
}

check_auc <- function(problem, folds) {
  if (problem$task != "binary") {
    stop_input(sprintf("`criterion = \"auc\"` needs a response with two classes, not %s",
                       if (problem$task == "regression") "numbers" else "more"))
  }
  if (folds$loo) return(invisible())
  classes <- problem$y[, 1L] > 0
  mixed <- function(ids) any(tapply(classes, ids, function(one) any(one) && !all(one)))
  both <- apply(folds$ids, 2L, mixed)
  if (!all(both)) stop_input("`criterion = \"auc\"` needs a fold with rows of both classes")
}

# `judge` is what a kernel calls with the held-out residuals of all rows; rows of weight 0 are left
# out.
user_criterion <- function(criterion, problem, folds) {
  better <- attr(criterion, "better", exact = TRUE)
  if (is.null(better)) better <- "lower"
  check_choice(better, "attr(criterion, \"better\")", c("lower", "higher"))
  if (arguments_of(criterion) < 3) {
    stop_input("a `criterion` function must take three arguments: y, prediction, fold")
  }
  sign <- if (better == "higher") -1 else 1
  plain <- function(values) if (ncol(values) == 1L) values[, 1L] else values
  evaluate <- function(y, prediction, fold) {
    value <- criterion(plain(y), plain(prediction), fold)
    if (!is_number(value) || !is.finite(value)) {
      stop_input(sprintf("the `criterion` function must return one finite number, not %s",
                         describe(value)))
    }
    value
  }
  judge <- function(residual, repetition) {
    rows <- problem$weights > 0
    prediction <- problem$y - as.vector(residual)
    sign * evaluate(problem$y[rows, , drop = FALSE], prediction[rows, , drop = FALSE],
                    folds$ids[rows, repetition])
  }
  words <- "value of the `criterion` function"
  list(name = "user", code = 4L, higher = better == "higher", words = words,
       label = held_out_label(words, folds$label), judge = judge, evaluate = evaluate)
}

# The user's figure of a loss of the kernel.
criterion_value <- function(criterion, loss) {
  if (criterion$name == "auc") 1 - loss else if (criterion$higher) -loss else loss
}

# What a search minimises, from the user's figure.
criterion_loss <- function(criterion, value) {
  if (criterion$higher) -value else value
}

# Values ------------------------------------------------------------------------------------------

# Value and standard error of a criterion from held-out residuals in the user's units, a list with
# an m x L matrix for each repeat. The figures of several repeats are averaged.
judge <- function(problem, folds, criterion, residuals) {
  each <- lapply(seq_along(residuals), function(repetition) {
    residual <- residuals[[repetition]]
    if (criterion$name == "user") {
      return(c(value = criterion_value(criterion, criterion$judge(residual, repetition)), se = NA))
    }
    ids <- folds$ids[, repetition]
    fold_mean(if (criterion$name == "auc") {
      vapply(split(seq_along(ids), ids), right_pairs, c(0, 0), problem, problem$y - residual)
    } else {
      loss <- row_loss(problem, criterion$name, residual)
      t(rowsum(cbind(problem$weights * loss, problem$weights), ids))
    })
  })
  as.list(Reduce(`+`, each) / length(each))
}

# The weighted mean over folds, from the sum and the weight of each (2 x folds), and its standard
# error. Folds without weight do not count.
fold_mean <- function(sums) {
  sums <- sums[, sums[2L, ] > 0, drop = FALSE]
  weight <- sum(sums[2L, ])
  mean <- sum(sums[1L, ]) / weight
  off <- sums[1L, ] / sums[2L, ] - mean
  n <- ncol(sums)
  c(value = mean, se = if (n > 1L) sqrt(sum(sums[2L, ] * off^2) / weight / (n - 1L)) else NA_real_)
}

# The sum of a criterion over some rows, held out together, and the weight it stands for: of their
# residuals under one model.
fold_sum <- function(problem, criterion, residual) {
  if (criterion$name == "auc") {
    return(right_pairs(seq_len(nrow(residual)), problem, problem$y - residual))
  }
  weight <- sum(problem$weights)
  if (criterion$name == "user") {
    fold <- rep(1L, nrow(residual))
    return(c(weight * criterion$evaluate(problem$y, problem$y - residual, fold), weight))
  }
  w <- problem$weights
  # every class counts alike, over all rows
  if (criterion$name == "balanced") w <- w / criterion$share[class_index(problem)]
  c(sum(w * row_loss(problem, criterion$name, residual)), sum(w))
}

# the losses of an l1 path are those of the score, y - residual
row_loss <- function(problem, name, residual) {
  switch(name,
    squared = rowMeans(residual^2),
    absolute = rowMeans(abs(residual)),
    error = , balanced = {
      as.double(class_number(problem, problem$y - residual) != class_index(problem))
    },
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

# Classes -----------------------------------------------------------------------------------------

# Scores nearer than this are equal, as in src/criterion.c, and equal scores go to the first class.
score_tie <- 1e-10

# The class of each row of scores, a factor.
class_of <- function(problem, score) {
  factor(problem$levels[class_number(problem, score)], levels = problem$levels)
}

class_number <- function(problem, score) {
  if (problem$task == "binary") 1L + (score[, 1L] > score_tie) else first_largest(score)
}

first_largest <- function(score) {
  highest <- do.call(pmax, lapply(seq_len(ncol(score)), function(l) score[, l]))
  first <- max.col(!is.na(score) & score >= highest - score_tie, "first")
  replace(first, is.na(highest), NA_integer_)
}

# m x L of an m x L x c array
layer <- function(values, l) array(values[, , l], dim(values)[1:2])

# the sum of a criterion and its weight (2 x models) over the rows of a problem, from the scores of
# models
score_sums <- function(scores, problem, criterion) {
  vapply(seq_len(dim(scores)[3L]), function(s) {
    fold_sum(problem, criterion, problem$y - layer(scores, s))
  }, c(0, 0))
}

# by which held-out figure a size is chosen: the squared error where the search went by training
# rows
held_out_criterion <- function(criterion) {
  if (criterion$name != "r_squared") return(criterion)
  list(name = "squared", higher = FALSE, words = criterion_words[["squared"]])
}

l1_loss <- function(loss, y, f) {
  switch(loss,
    squared = (y - f)^2 / 2,
    logistic = pmax(-y * f, 0) + log1p(exp(-abs(y * f))),
    hinge = pmax(1 - y * f, 0)
  )
}
