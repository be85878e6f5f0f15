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

# The problem for a method that moves single columns. Groups that the user gave and a hierarchy are
# refused by name. Groups of factors are ignored with a message. `who` is the method, such as
# "omp()".
single_columns <- function(problem, who) {
  refuse_hierarchy(problem, who)
  groups <- problem$column_groups
  if (is.null(groups)) return(problem)
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
