# Groups of columns as the user gives them, and methods that do not support groups.

# From arguments ----------------------------------------------------------------------------------

# `columns_group` and `group_rule` of as_problem() for a problem with names and design.
with_column_groups <- function(problem, columns_group, group_rule) {
  check_choice(group_rule, "group_rule", group_rules)
  stated <- !is.null(columns_group) || group_rule == "one"
  labels <- if (isFALSE(columns_group)) NULL else if (is.null(columns_group)) {
    design_groups(problem$design)
  } else {
    group_labels(columns_group, problem$names)
  }
  problem$column_groups <- new_column_groups(labels, group_rule, stated)
  if (group_rule == "one" && is.null(problem$column_groups)) {
    stop_input("`group_rule = \"one\"` needs groups of two columns or more: give `columns_group`",
               "sparsels_error_argument")
  }
  problem
}

# The group's label of each column, "" for none.
group_labels <- function(groups, names) {
  if (is.list(groups) && !is.object(groups)) return(labels_of_sets(groups, names))
  known <- is.character(groups) || is.factor(groups) || is.numeric(groups) && !is.object(groups)
  if (!known || !is.null(dim(groups))) {
    refuse("columns_group", paste("FALSE, a group for each column (names or numbers),",
                                  "or a named list of groups"), groups)
  }
  labels <- stats::setNames(as.character(groups), names(groups))
  if (!is.null(names(labels))) return(labels_by_name(labels, names))
  if (length(labels) != length(names)) {
    stop_input(sprintf("`columns_group` must have names or a group for each of the %s, not %d",
                       counted(length(names), "column"), length(labels)),
               "sparsels_error_argument")
  }
  labels
}

labels_by_name <- function(labels, names) {
  unknown <- setdiff(names(labels), names)
  if (length(unknown)) {
    stop_input(sprintf("`columns_group` has a group for column '%s', which there is not",
                       unknown[1L]), "sparsels_error_argument")
  }
  twice <- anyDuplicated(names(labels))
  if (twice) {
    stop_input(sprintf("`columns_group` has two groups for column '%s'", names(labels)[twice]),
               "sparsels_error_argument")
  }
  unname(labels[names])
}

# The group's label of each column, from a named list of sets of columns, which may not overlap.
labels_of_sets <- function(sets, names) {
  given <- names(sets)
  if (is.null(given) || anyNA(given) || any(given == "") || anyDuplicated(given)) {
    stop_input("`columns_group` must have a name of its own for each group of the list",
               "sparsels_error_argument")
  }
  labels <- rep("", length(names))
  for (group in given) {
    columns <- in_context(sprintf("group '%s' of `columns_group`", group),
                          positions(sets[[group]], length(names), names, "column"))
    shared <- columns[labels[columns] != ""]
    if (length(shared)) {
      stop_input(sprintf("`columns_group` has column '%s' in two groups, '%s' and '%s': %s",
                         names[shared[1L]], labels[shared[1L]], group, "groups may not overlap"),
                 "sparsels_error_argument")
    }
    if (anyDuplicated(columns)) {
      stop_input(sprintf("group '%s' of `columns_group` has column '%s' twice", group,
                         names[columns[anyDuplicated(columns)]]), "sparsels_error_argument")
    }
    labels[columns] <- group
  }
  labels
}

# Methods without support for groups --------------------------------------------------------------

is_grouped <- function(problem) !is.null(problem$column_groups)

# The problem for a method that moves single columns. Groups that the user gave are refused by name.
# Groups of factors are ignored with a message. `who` is the method, such as "omp()".
single_columns <- function(problem, who) {
  groups <- problem$column_groups
  if (groups$stated) {
    stop_input(sprintf("%s chooses single columns, but `columns_group` has %s: %s", who,
                       counted(length(groups$names), "group"),
                       "use greedy_rls(), or `columns_group = FALSE`"), "sparsels_error_argument")
  }
  message_sparsels(sprintf("%s takes the columns of %s one by one: %s", who,
                           some_of(groups$names, 3L), "greedy_rls() takes a factor as a whole"),
                   "sparsels_message_groups")
  problem$column_groups <- NULL
  problem
}

# Groups of columns: the dummies of a factor, the probes of a gene, the genes of a pathway. Methods
# that support groups move their columns together, or choose at most one of them. A column without a
# group is moved by itself, like any group.

# problem$column_groups is NULL or list(of, names, rule, stated): the number of each column's group,
# 0 for none, the names of the groups, "together" or "one", and whether the groups are given by the
# user or come from factors. Each group has two columns or more.

group_rules <- c("together", "one")

# Groups from labels. A label of one column is not a group. NULL where no group is left.
new_column_groups <- function(labels, rule, stated) {
  labels <- as.character(labels)
  labels[is.na(labels)] <- ""
  count <- table(labels[labels != ""])
  labels[!labels %in% names(count)[count > 1L]] <- ""
  if (!any(labels != "")) return(NULL)
  names <- unique(labels[labels != ""])
  list(of = match(labels, names, 0L), names = names, rule = rule, stated = stated)
}

# the groups of some columns
some_column_groups <- function(groups, columns) {
  if (is.null(groups)) return(NULL)
  new_column_groups(c("", groups$names)[groups$of[columns] + 1L], groups$rule, groups$stated)
}

# Units -------------------------------------------------------------------------------------------

moves_together <- function(problem) {
  is.list(problem) && identical(problem$column_groups$rule, "together")
}

# The group or column that is moved, for each of some columns: the first usable column of its group,
# or the column itself.
units_of <- function(problem, columns) {
  if (!moves_together(problem)) return(columns)
  of <- problem$column_groups$of
  first <- match(seq_along(problem$column_groups$names), replace(of, !problem$usable, 0L))
  ifelse(of[columns] > 0L & problem$usable[columns], first[pmax(of[columns], 1L)], columns)
}

# The usable columns that move together with one column.
unit_columns <- function(problem, column) {
  if (!moves_together(problem)) return(column)
  group <- problem$column_groups$of[column]
  if (group > 0L) which(problem$column_groups$of == group & problem$usable) else column
}

# some columns and the columns that move with them
whole_groups <- function(problem, columns) {
  unlist(lapply(unique(units_of(problem, columns)), unit_columns, problem = problem))
}

# The largest size of a model of some usable columns: the number of groups, where a column without a
# group counts as one. If a model has at most one column of each group, it is the number of groups
# from which a column can be chosen.
count_units <- function(problem, columns = which(problem$usable)) {
  groups <- problem$column_groups
  if (is.null(groups)) return(length(columns))
  sum(groups$of[columns] == 0L) + length(setdiff(unique(groups$of[columns]), 0L))
}

# the name of the group that moves with each column, or of the column itself
unit_names <- function(problem, columns) {
  if (!moves_together(problem)) return(problem$names[columns])
  group <- problem$column_groups$of[columns]
  ifelse(group > 0L, problem$column_groups$names[pmax(group, 1L)], problem$names[columns])
}

# The groups or columns that each group or column requires, as far as a search can choose them, by
# first columns.
needs_of_units <- function(problem) {
  pairs <- problem$hierarchy
  open <- problem$usable[pairs$column] & problem$usable[pairs$needs]
  column <- units_of(problem, pairs$column[open])
  needs <- units_of(problem, pairs$needs[open])
  list(column = column[column != needs], needs = needs[column != needs])
}

# The groups or columns, among `units`, that can join a set of columns.
joining_units <- function(problem, set, units) {
  groups <- problem$column_groups
  if (identical(groups$rule, "one")) {
    units <- units[!groups$of[units] %in% setdiff(groups$of[set], 0L)]
  }
  if (is.null(problem$hierarchy)) return(units)
  pairs <- needs_of_units(problem)
  setdiff(units, pairs$column[!pairs$needs %in% set])
}

# The groups or columns, among `units`, that can leave a set of columns.
leaving_units <- function(problem, set, units) {
  if (is.null(problem$hierarchy)) return(units)
  pairs <- needs_of_units(problem)
  setdiff(units, pairs$needs[pairs$column %in% set])
}

# Groups in the form that C reads: groups of two usable columns or more, and the largest number of
# columns of a model of size k.
group_settings <- function(problem, k) {
  groups <- problem$column_groups
  none <- list(group_rule = "none", group_of = integer(), group_start = 0L,
               group_columns = integer(), most_columns = as.integer(k))
  if (is.null(groups)) return(none)
  of <- ifelse(problem$usable, groups$of, 0L)
  size <- tabulate(of, length(groups$names))
  several <- which(size > 1L)
  if (!length(several)) return(none)
  of <- match(of, several, 0L)
  sizes <- sort(c(size[several], rep(1L, sum(problem$usable & of == 0L))), decreasing = TRUE)
  together <- groups$rule == "together"
  list(group_rule = groups$rule, group_of = of - 1L,
       group_start = as.integer(c(0L, cumsum(size[several]))),
       group_columns = order(of)[sum(of == 0L) + seq_len(sum(of > 0L))] - 1L,
       most_columns = as.integer(if (together) sum(utils::head(sizes, k)) else k))
}

# Words -------------------------------------------------------------------------------------------

# the word for what a size counts
size_word <- function(problem) if (moves_together(problem)) "group" else "feature"

# the word for counted columns, or for groups that move together
counted_word <- function(problem) if (moves_together(problem)) "group" else "column"

# the word for what the size of a fit counts, where the fit may come from a user's function
chosen_word <- function(fit) {
  if (inherits(fit, "sparse_fit")) size_word(fit$problem) else "feature"
}

# "3 groups (7 columns)"
sized_words <- function(problem, size, columns) {
  words <- counted(size, size_word(problem))
  if (moves_together(problem)) sprintf("%s (%s)", words, counted(columns, "column")) else words
}

column_groups_words <- function(problem) {
  groups <- problem$column_groups
  size <- tabulate(groups$of, length(groups$names))
  each <- sprintf("%s (%d)", groups$names, size)
  rule <- if (groups$rule == "together") "each in a model as a whole or not at all" else
    "at most one column of each in a model"
  sprintf("%s (%s), %s: %s", counted(length(size), "group"), counted(sum(size), "column"), rule,
          some_of(each, 5L, ""))
}
