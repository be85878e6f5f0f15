# Labels of rows: the queries of a ranking and the groups of rows, such as the samples of a patient.
# The rows of a group are in the same part of every partition that a function draws.

#' Rows that belong together
#'
#' Rows of one patient, family, animal, plate or hospital are alike. An error estimate that trains
#' on some of them and tests on others is too small: the model recognises the patient. Groups of
#' rows are given once, by the argument `groups` of [as_problem()], and every function then keeps
#' them whole.
#'
#' `groups` is a vector with one value per row, the name of a column of `data`, of the data frame
#' `x` or of the sample data of an experiment, or a one-sided formula such as `~ patient`
#' (`~ site + patient`: the combinations of both). With a formula `x` it may be an expression, as
#' `weights` may. It follows `subset` and `na.action`. Variables in it are not candidates. `FALSE`
#' removes the groups.
#'
#' The groups are kept whole by the folds of a search (`folds`), the folds for the choice of size
#' (`size_folds`), the outer folds of [cross_validate()] and [judge()], the random splits of
#' [compare_methods()] and [learning_curve()], and the halves of [stability_selection()].
#' [permutation_test()] and [added_value()] exchange whole groups, and the interval of
#' [added_value()] counts groups, not rows. Leave-one-out becomes leave-one-group-out, and `print()`
#' says so. [class_probabilities] are calibrated on the scores held out by these folds.
#'
#' **Other ways.** All functions that judge a method take `groups` among their arguments, also for a
#' problem. Folds made by `make_folds(x, groups = patient)` and grouped resamples of rsample say the
#' groups, too, wherever they are given (`folds`, `size_folds`, `outer`), for a problem without
#' groups. A number of folds above the number of groups gives as many folds as there are groups.
#' Folds given as ids, one for each row, do not say why rows are in one fold: folds for the
#' choice of size and random parts of the rows keep such rows together where they can, and tests and
#' intervals count single rows. Give `groups`.
#'
#' The learners of mlr3 take the groups from the role `group` of a column of the task, and
#' [step_select_sparsels()] from the column that its argument `groups` names.
#'
#' With a ranking ([ranking]) every query must lie in one group. Partitions keep the groups whole,
#' and so the queries.
#'
#' @section Errors: `sparsels_error_input` for a single group, missing labels, and for folds given
#'   that split a group. `sparsels_error_groups` by methods that hold out single rows only:
#'   [lowrank_lssvm()] and [cv_variance()].
#'
#' @seealso [make_folds()], [cross_validate()]
#' @examples
#' set.seed(1)
#' patient <- rep(1:12, each = 3)
#' x <- matrix(rnorm(12 * 20), 12)[patient, ] + matrix(rnorm(36 * 20, sd = 0.2), 36)
#' y <- factor(rep(c("ill", "well"), 6))[patient]
#' # x is independent of y, so an error rate below 0.5, as in the first line, is too small
#' cross_validate(x, y, rls, baselines = NULL)$estimate
#' cross_validate(x, y, rls, groups = patient, baselines = NULL)$estimate
#' problem <- as_problem(x, y, groups = patient)
#' problem
#' @name row_groups
NULL

# As given ----------------------------------------------------------------------------------------

# A factor with levels in order of appearance from an argument of as_problem(): a vector, the name
# of a column of `data`, or a one-sided formula in it. NULL if there is none.
read_row_labels <- function(labels, name, data, rows) {
  if (is.null(labels) || isFALSE(labels)) return(NULL)
  if (rows > 1L) labels <- labels_in(data, labels, name)
  if (is.factor(labels)) labels <- as.character(labels)
  place <- check_row_labels(labels, name, rows)
  factor(place, labels = as.character(labels[!duplicated(place)]))
}

# labels by the name of a column or a formula, as a vector
labels_in <- function(data, labels, name) {
  if (inherits(labels, "formula")) return(formula_labels(labels, name, data))
  if (is_string(labels)) named_labels(labels, name, data) else labels
}

formula_labels <- function(formula, name, data) {
  if (length(formula) != 2L) {
    stop_input(sprintf("the formula `%s` must be one-sided, such as `~ %s`", name,
                       c(within = "query", groups = "patient")[[name]]))
  }
  unknown <- Filter(function(variable) {
    !variable %in% names(data) && !exists(variable, environment(formula))
  }, all.vars(formula))
  if (length(unknown)) stop_input(sprintf("`%s`: no variable %s in `data`", name, some_of(unknown)))
  values <- lapply(label_terms(formula[[2L]]), eval, data, environment(formula))
  if (length(values) == 1L) values[[1L]] else interaction(values, drop = TRUE, sep = " / ")
}

# the labels of ~ site + patient are the combinations of both
label_terms <- function(code) {
  if (!is.call(code) || !identical(code[[1L]], quote(`+`)) || length(code) != 3L) return(list(code))
  c(label_terms(code[[2L]]), list(code[[3L]]))
}

named_labels <- function(column, name, data) {
  if (is.data.frame(data) && column %in% names(data)) return(data[[column]])
  stop_input(sprintf("`%s` is \"%s\", %s", name, column, if (is.null(data))
    "but there is no `data` with such a column: give one value per row" else
    "which is not a column of `data`"))
}

# Variables of the data that label rows, and are therefore no candidates.
label_variables <- function(arguments) {
  unlist(lapply(arguments, function(labels) {
    if (inherits(labels, "formula")) all.vars(labels) else if (is_string(labels)) labels
  }))
}

# The problem with these groups of rows, FALSE for none. A query lies in one group.
with_row_groups <- function(problem, groups, data = NULL) {
  group <- read_row_labels(groups, "groups", data, nrow(problem))
  if (!is.null(group) && nlevels(droplevels(group[problem$weights > 0])) < 2L) {
    stop_input("`groups` must have at least 2 groups: a single one leaves no row to train on")
  }
  apart <- if (is_ranked(problem) && !is.null(group)) first_apart(problem$query, group)
  if (length(apart)) {
    stop_input(sprintf("`groups` must hold whole queries, but rows %d and %d of query '%s' are %s",
                       apart[1L], apart[2L], problem$query[apart[1L]], "in two groups"))
  }
  problem["group"] <- list(group)
  problem
}

# The first two rows of one group or query that have different labels, or NULL.
first_apart <- function(unit, labels) {
  second <- which(labels != labels[match(unit, unit)])[1L]
  if (!is.na(second)) c(match(unit[second], unit), second)
}

# Of a problem ------------------------------------------------------------------------------------

# The groups of rows that partitions keep whole, or else queries, as a number for each row. NULL
# where each row is by itself.
whole_units <- function(problem) {
  if (is.null(problem$group) && !is.null(problem$query)) return(as.integer(problem$query))
  group_numbers(problem)
}

# the group of each row as a number, or NULL
group_numbers <- function(problem) if (!is.null(problem$group)) as.integer(problem$group)

# the name of the groups of rows that partitions keep whole
unit_name <- function(problem) if (is.null(problem$group)) "query" else "group"

# the groups of some rows, or NULL
groups_of_rows <- function(problem, rows) {
  if (!is.null(problem$group)) problem$group[rows, drop = TRUE]
}

# Refuses folds that separate rows of one query or of one group.
check_whole_units <- function(problem, folds) {
  for (unit in c("query", "group")) {
    if (is.null(problem[[unit]])) next
    for (repetition in seq_len(ncol(folds$ids))) {
      apart <- first_apart(problem[[unit]], folds$ids[, repetition])
      if (!length(apart)) next
      stop_input(sprintf(
        "`folds` must hold whole %s, but rows %d and %d of %s '%s' are in two folds: %s",
        if (unit == "query") "queries" else "groups", apart[1L], apart[2L], unit,
        problem[[unit]][apart[1L]], if (unit == "query") "scores are compared within a query alone"
        else "the model would be tested on a group that it was trained on"
      ))
    }
  }
}

# Refuses resamples that train on some rows of a query or group and hold out other rows of it.
check_whole_parts <- function(problem, parts) {
  unit <- problem[[unit_name(problem)]]
  for (i in seq_len(nrow(parts))) {
    shared <- intersect(unit[parts$rows[[i]]], unit[parts$trained[[i]]])
    if (length(shared)) {
      stop_input(sprintf("resample %d of the rsample object splits %s '%s': %s",
                         i, unit_name(problem), shared[1L], "it trains on rows of it, too"))
    }
  }
}

# "rows in 20 groups of 3 rows, kept whole in every partition"
groups_words <- function(problem) {
  sizes <- range(table(problem$group))
  sprintf("rows in %s of %s, which every partition keeps whole",
          counted(nlevels(problem$group), "group"), counted_range(sizes, "row"))
}

# Refuses groups of rows, for methods that hold out single rows.
refuse_row_groups <- function(problem, who) {
  stop_input(sprintf("%s holds out single rows and cannot keep `groups` whole: %s", who,
                     "leave out `groups`"), "sparsels_error_groups")
}
