# Optional properties of data that not every method supports. Each property has one record: the
# argument of as_problem() that gives it, what it is, the methods that do not support it, and what
# happens to a problem that has the property there. The records refuse, and they make the table of
# the help page.

#' Which method supports which property of the data
#'
#' All data go through [as_problem()]. Some of its arguments give the data a property that changes
#' what a method has to do. A method that does not support a property of its data refuses the data
#' by an error, which names the property. Factors are the only exception: methods that choose single
#' columns take the columns of a factor one by one, and say so in a message of class
#' `sparsels_message_groups`. Models of all columns, such as kernels, do not depend on groups and
#' hierarchies of columns.
#'
#' Case weights, covariates (`adjust`), offsets, several responses, classes, class weights, missing
#' values and penalty factors are not in the table. All methods support them, except that kernels
#' and `lambda = 0` cannot honour penalty factors other than 0, 1 and `Inf` (see [penalty_factors]).
#'
#' @evalRd property_table()
#' @seealso [as_problem()], [row_groups], [ranking], [column_groups], [hierarchy]
#' @name data_properties
NULL

# `has`: whether a problem has the property. `settle`: a function of such a problem and the name of
# a method that does not support the property, which stops or gives a problem that the method takes.
property_records <- function() {
  list(
    within = list(
      words = "queries of a ranking", has = is_ranked, settle = refuse_ranking,
      lacking = c(setdiff(fitters, c("greedy_rls", "random_selection", "rls", "kernel_rls")),
                  "lambda_max", "panel_error", "judge", "learning_curve")
    ),
    hierarchy = list(
      words = "a hierarchy of columns", settle = refuse_hierarchy,
      has = function(problem) !is.null(problem$hierarchy), lacking = single_column_methods
    ),
    columns_group = list(
      words = "groups of columns", settle = single_columns,
      has = is_grouped, lacking = single_column_methods
    ),
    groups = list(
      words = "groups of rows", settle = refuse_row_groups,
      has = function(problem) !is.null(problem$group), lacking = c("lowrank_lssvm", "cv_variance")
    ),
    idle = list(
      words = "rows of weight 0", settle = check_all_trained,
      has = function(problem) any(problem$weights == 0), lacking = c(kernel_methods, "safe_screen")
    )
  )
}

kernel_methods <- c("rls", "kernel_rls", "lssvm", "fs_lssvm", "tune_lssvm", "cv_variance")

single_column_methods <- c("forward_regression", "omp", "foba", "rfe", "sequential_replacement",
                           "best_subset", "poss", "scdp", "l1_path", "l1_size", "safe_screen",
                           "wrapper_rls", "lowrank_lssvm")

# in the order of the table
fitters <- c("greedy_rls", "random_selection", single_column_methods, kernel_methods)

# The problem as a method takes it. Refuses properties that the method does not support.
settle_properties <- function(problem, method) {
  for (record in property_records()) {
    if (method %in% record$lacking && record$has(problem)) {
      problem <- record$settle(problem, paste0(method, "()"))
    }
  }
  problem
}

# The section of the help page: a row for each method, a column for each property.
property_table <- function() {
  records <- property_records()
  cells <- vapply(records, function(record) ifelse(fitters %in% record$lacking, "no", "yes"),
                  character(length(fitters)))
  head <- sprintf("\\code{%s}", replace(names(records), names(records) == "idle", "weights"))
  words <- sprintf("\\item %s: %s", head, vapply(records, `[[`, "", "words"))
  rows <- c(paste(c("", head), collapse = " \\tab "),
            paste(sprintf("\\code{\\link[=%s]{%s()}}", fitters, fitters),
                  apply(cells, 1L, paste, collapse = " \\tab "), sep = " \\tab "))
  sprintf("\\section{Methods and properties}{\n\\itemize{\n%s\n}\n\\tabular{%s}{\n%s\n}\n}",
          paste(words, collapse = "\n"), strrep("l", 1L + length(records)),
          paste(rows, collapse = " \\cr\n"))
}
