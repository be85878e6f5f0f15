# Train on one group of rows, such as a study, and test on every other.

#' Train on these, test on those
#'
#' Runs the whole method on the rows of each group, such as the patients of a study or a hospital,
#' and tests its model on the rows of every other group. It shows which studies agree, which one
#' is unlike the others, and in which no model holds elsewhere.
#'
#' @inheritParams cross_validate
#' @param ... Arguments of `method` and of [as_problem()], among them `groups`, which are required:
#'   see [row_groups].
#' @param measure One measure of [cross_validate()]; `NULL` for its default.
#'
#' @details Within a group the rows count as single rows: the folds of the method do not keep
#' anything whole there. A group in which the method cannot be trained, such as a study of cases
#' only, is an error that names it: leave it out by `subset`.
#'
#' The error of a model in its own group is of rows held out, by the folds in which the method
#' repeats its choices. It is `NA` for a method without such folds.
#'
#' The deviance of events in another group is of its rows alone, per event, so that the models of
#' all training groups are compared on the same risk sets.
#'
#' The model of the training group is applied as it is: columns of another group that are shifted or
#' scaled otherwise, as by another laboratory, show as an error.
#'
#' @return An object of class `transfer`, a list:
#' * `error`: matrix of the measure, groups to train on (rows) x groups to test on.
#' * `null`: the same for the null model of the training group.
#' * `rows`: the number of rows of each group; `chosen`: the names of the columns that were chosen
#'   in each, `NULL` for a method that chooses none.
#' * `measure`, `words`, `higher` (whether more is better), `method`, `call`, `status`, `problem`
#'   (without its x).
#'
#' `plot()` draws the matrix, blue where the model is better than its null model and red where it is
#' worse, and returns the table of `tidy()`: a row for each pair with `trained_on`, `tested_on`,
#' `error`, `null` and `rows`.
#'
#' @section Cost: One fit of `method` for each group.
#' @section Errors: `sparsels_error_input` without two groups.
#' @seealso [cross_validate()] with `groups` and `outer = "loo"`, which trains on all other groups
#' @examples
#' set.seed(2)
#' study <- rep(c("north", "south", "west"), each = 40)
#' x <- matrix(rnorm(120 * 30), 120)
#' y <- x[, 3] - x[, 8] * (study != "west") + rnorm(120) / 2
#' moved <- transfer(x, y, greedy_rls, groups = study, progress = FALSE)
#' moved
#' plot(moved)
#' @export
transfer <- function(x, y = NULL, method = NULL, ..., data = NULL, measure = NULL,
                     progress = interactive(), BPPARAM = NULL) {
  run <- as_run(x, y, method, ..., data = data)
  trained <- trained_places(run$problem)
  group <- run$problem$rows$group
  rows <- if (!is.null(group)) split(trained, factor(group[trained]))
  stop_argument_if(length(rows) < 2L,
                   "transfer() needs rows in two groups or more: give `groups`, %s",
                   "such as the study of each row")
  run$problem$rows$group <- NULL
  measure <- measure_alone(one_measure(measure, run$problem, run_loss(run)), run$problem)
  call <- short_call(match.call())
  done <- repeat_tasks(length(rows), "group", function(i) transfer_from(run, rows, i, measure),
                       progress, BPPARAM, sprintf("'%s'", names(rows)))
  names <- names(rows)
  trained <- names[seq_along(done)]
  of_row <- function(k) {
    errors <- vapply(done, function(one) one$errors[k, ], numeric(length(rows)))
    structure(t(errors), dimnames = list(trained, names))
  }
  new_result("transfer", list(
    error = of_row(1L), null = of_row(2L), rows = lengths(rows),
    chosen = stats::setNames(lapply(done, `[[`, "chosen"), trained),
    method = run$name, measure = measure$name, words = measure$words, higher = measure$higher
  ), run$problem, call, length(done) == length(rows))
}

# The errors of the fit to a group in every group, and of its null model: 2 x groups, with the
# features that the fit chose.
transfer_from <- function(run, rows, i, measure) {
  measures <- stats::setNames(list(measure), measure$name)
  run <- choosing_run(run, length(rows[[i]]))
  part <- fit_rows(run, rows[[i]])
  errors <- vapply(seq_along(rows), function(j) {
    if (j == i) {
      own <- inner_errors(measures, part$fit, part$train)
      return(if (is.null(own)) c(NA_real_, NA_real_) else own[, 1L])
    }
    sums <- pair_sums(judged_alone(part), measures, function(rows) scores_beside_null(part, rows),
                      run$problem, rows[[j]])[, , 1L]
    ifelse(sums[2L, ] > 0, sums[1L, ] / sums[2L, ], NA_real_)
  }, numeric(2L))
  list(errors = errors, chosen = chosen_names(part$fit))
}

#' @exportS3Method
print_result.transfer <- function(x, ...) {
  say(sprintf("%s trained on each of %s and tested on every other:", x$method,
              counted(length(x$rows), "group")))
  say(measure_label(x), ", trained on the group of the row, tested on the group of the column:")
  table <- shown(x$error)
  table[is.na(x$error)] <- ""
  print(noquote(cbind(table, rows = format(x$rows[rownames(table)]),
                      columns = format(lengths(x$chosen)))), right = TRUE)
  if (!all(is.na(diag(x$error)))) remark("in the same group: of rows held out")
  elsewhere <- row(x$error) != col(x$error) & !is.na(x$error)
  worse <- if (x$higher) x$error <= x$null else x$error >= x$null
  say(sprintf("in %d of %s on other groups the model is no better than its null model",
              sum(worse[elsewhere]), counted(sum(elsewhere), "test")))
  print_interrupted(x$status, "groups")
}

#' @exportS3Method
record.transfer <- function(x) {
  places <- expand.grid(trained_on = rownames(x$error), tested_on = colnames(x$error),
                        stringsAsFactors = FALSE)
  list(rows = data.frame(places, error = as.vector(x$error), null = as.vector(x$null),
                         rows = unname(x$rows[places$tested_on])),
       row = data.frame(method = x$method, measure = x$measure, groups = length(x$rows),
                        mean = mean(x$error[row(x$error) != col(x$error)], na.rm = TRUE)),
       meaning = "error = of the group trained on; null = of its null model")
}

#' @exportS3Method
picture.transfer <- function(x, ...) {
  data <- record(x)$rows
  # how much better than the null model, from -1 to 1
  gain <- (data$null - data$error) / pmax(abs(data$null), abs(data$error), 1e-300)
  if (x$higher) gain <- -gain
  gain[is.na(gain)] <- 0
  colour <- ifelse(is.na(data$error), "#DDDDDD",
                   blended(c("#D55E00", "white", "#0072B2"), (pmin(pmax(gain, -1), 1) + 1) / 2))
  column <- match(data$tested_on, colnames(x$error))
  row <- match(data$trained_on, rev(rownames(x$error)))
  tiles <- as_layer("rects", column - 0.5, row - 0.5, x2 = column + 0.5, y2 = row + 0.5,
                    col = colour,
                    text = ifelse(is.na(data$error), "", trimws(format(data$error, digits = 3L))))
  new_picture(data, tiles, list(main = paste0(x$words, ": trained on (row), tested on (column)"),
                                xlab = "", ylab = ""), list(...),
              axes = list(x = ticks_of(colnames(x$error)), y = ticks_of(rev(rownames(x$error)))))
}
