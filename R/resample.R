# Repeated random parts of the rows, some for training and the others for scoring, as
# learning_curve() and compare_methods() use them.

# Rows --------------------------------------------------------------------------------------------

# Values that all parts have in common: the largest number of held-out rows, which a group may
# exceed, the `largest` training set that every repeat has, the `ratio` of test rows to training
# rows, and the group of every row, if there are groups.
resampling_plan <- function(problem, test, groups) {
  rows <- trained_rows(problem)
  test_rows <- check_test(test, rows)
  members <- if (!is.null(groups)) tabulate(groups[trained_places(problem)])
  if (!is.null(groups) && sum(members > 0L) < 2L) stop_input("`groups` must have at least 2 groups")
  list(test_rows = test_rows, largest = rows - max(test_rows, members),
       ratio = test_rows / (rows - test_rows), groups = groups)
}

# the number of test rows
check_test <- function(test, rows) {
  fine <- is_number(test) && test > 0 && test < 1
  if (!fine) refuse("test", "a share of the rows, above 0 and below 1", test)
  test_rows <- round(test * rows)
  if (test_rows < 2 || rows - test_rows < 2) {
    stop_input(sprintf("`test` must leave two rows to each part, but is %s of %d rows",
                       format(test), rows))
  }
  test_rows
}

# The rows in an order in which any first part is a training set and the last part is held out. The
# order is random, with the classes in proportion in every part, or with the rows of each group
# together.
shuffled_rows <- function(problem, groups) {
  rows <- trained_places(problem)
  shuffled <- rows[sample.int(length(rows))]
  if (!is.null(groups)) return(shuffled[order(sample.int(max(groups))[groups[shuffled]])])
  if (problem$task == "regression") return(shuffled)
  class <- class_index(problem)[shuffled]
  count <- tabulate(class)
  # evenly spaced from a random start
  place <- stats::ave(shuffled, class, FUN = seq_along) - stats::runif(length(count))[class]
  shuffled[order(place / count[class])]
}

# the number of held-out rows at the end of an order: whole groups, at least one
held_out_count <- function(order, plan) {
  if (is.null(plan$groups)) return(plan$test_rows)
  ends <- cumsum(rev(rle(plan$groups[order])$lengths))
  max(ends[1L], ends[ends <= plan$test_rows])
}

# Scores ------------------------------------------------------------------------------------------

# the one measure given by the user
one_measure <- function(measure, problem) {
  measures <- as_measures(measure, problem)
  if (length(measures) > 1L) {
    stop_input("`measure` must be one measure, not several", "sparsels_error_argument")
  }
  measures[[1L]]
}

# A measure of predictions for the rows of a problem, or R-squared relative to predictions of the
# null model. NA where there is none.
measured <- function(measure, problem, score, null = NULL) {
  if (measure$name == "r_squared") {
    squares <- function(score) {
      sum(problem$weights * centre_within(problem, problem$y - score)^2)
    }
    return(1 - squares(score) / squares(null))
  }
  sums <- fold_sum(problem, measure, problem$y - score)
  if (sums[2L] > 0) sums[[1L]] / sums[[2L]] else NA_real_
}

# The scores of some rows by the model that the fit of a part chose.
chosen_scores <- function(part, rows) {
  path <- path_scores(part$fit, part$problem, rows)
  layer(path$scores, path$chosen)
}

# The scores of some rows by a model of the covariates alone, fitted to the training rows.
null_scores <- function(part, rows) {
  part$problem$z[rows, , drop = FALSE] %*% covariate_solver(part$train)(part$train$y)
}

# The variance of a mean over repeats of random parts, estimated from the variance of its values, is
# larger by this factor than for independent values. `ratio` is test rows to training rows. Nadeau
# and Bengio (2003).
resampling_factor <- function(repeats, ratio) 1 + repeats * ratio

resampling_se <- function(values, ratio) {
  repeats <- nrow(values)
  sqrt(apply(values, 2L, stats::var) / repeats * resampling_factor(repeats, ratio))
}
