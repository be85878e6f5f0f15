# Columns that require others, as an interaction requires its main effects: strong heredity.
# Searches that support a hierarchy add a column only with all columns that it requires. The
# required columns then stay as long as the column does.

# problem$hierarchy is NULL or list(column, needs, by_terms). column[p] requires needs[p] and all
# columns that needs[p] requires. by_terms is whether these are the terms of a formula. Some columns
# cannot be chosen by a search: covariates and combinations of them. These count as members of every
# model.

# From arguments ----------------------------------------------------------------------------------

# `hierarchy` of as_problem() for a problem with columns, groups and penalty.
with_hierarchy <- function(problem, hierarchy) {
  if (identical(hierarchy, "none")) return(problem)
  by_terms <- identical(hierarchy, "strong")
  pairs <- closed_needs(if (by_terms) term_needs(problem) else listed_needs(hierarchy, problem))
  if (!length(pairs$column)) return(problem)
  check_can_be_met(pairs, problem)
  problem$hierarchy <- c(pairs, by_terms = by_terms)
  problem
}

# The pairs of column and required column, each once, with the pairs that follow from others.
closed_needs <- function(pairs) {
  repeat {
    of_needed <- split(pairs$needs, pairs$column)[as.character(pairs$needs)]
    column <- c(pairs$column, rep(pairs$column, lengths(of_needed)))
    needs <- c(pairs$needs, unlist(of_needed, use.names = FALSE))
    distinct <- which(!duplicated(complex(real = column, imaginary = needs)))
    closed <- list(column = column[distinct], needs = needs[distinct])
    if (length(distinct) == length(pairs$column)) break
    pairs <- closed
  }
  lapply(closed, `[`, order(closed$column, closed$needs))
}

# The pairs of a named list: the names of columns or terms, and the columns that each requires.
listed_needs <- function(needs, problem) {
  if (!is.list(needs) || is.object(needs)) {
    refuse("hierarchy", "\"none\", \"strong\" or a named list of what columns ask for", needs)
  }
  asking <- names(needs)
  if (length(needs) && (is.null(asking) || anyNA(asking) || any(asking == ""))) {
    stop_input("`hierarchy` must have the name of a column or a term for each element of the list",
               "sparsels_error_argument")
  }
  pairs <- Map(function(name, needs) {
    columns <- in_context("the names of `hierarchy`", columns_given(name, problem))
    needs <- in_context(sprintf("`hierarchy` of '%s'", name), columns_given(needs, problem))
    all_pairs(columns, needs)
  }, asking, needs)
  joined_pairs(pairs)
}

# The pairs of the interactions of a formula: each column requires the columns of the terms with one
# variable less.
term_needs <- function(problem) {
  sets <- term_variables(problem$design)
  of_several <- lengths(sets) > 1L
  if (!any(of_several)) {
    stop_input(paste("`hierarchy = \"strong\"` is for a formula with interactions, such as",
                     "`y ~ a * b`: give a list of what each column asks for"),
               "sparsels_error_argument")
  }
  asking <- rep(which(of_several), lengths(sets)[of_several])
  smaller <- unlist(lapply(sets[of_several], function(set) {
    lapply(seq_along(set), function(one) set[-one])
  }), recursive = FALSE, use.names = FALSE)
  needed <- match(set_keys(smaller), set_keys(sets))
  absent <- which(is.na(needed))
  adjusted <- set_keys(lapply(term_variables(problem$adjust_design), sort))
  lost <- absent[!set_keys(lapply(smaller[absent], sort)) %in% adjusted]
  if (length(lost)) {
    asks <- asking[lost[1L]]
    stop_input(sprintf(
      "`hierarchy = \"strong\"`: '%s' asks for '%s', which is no term of the formula: write `%s`",
      names(sets)[asks], paste(smaller[[lost[1L]]], collapse = ":"),
      paste(sets[[asks]], collapse = " * ")
    ), "sparsels_error_argument")
  }
  present <- !is.na(needed)
  columns <- split(seq_len(ncol(problem)), factor(problem$design$columns$term, names(sets)))
  joined_pairs(Map(all_pairs, columns[asking[present]], columns[needed[present]]))
}

# The variables of each term of a design, by its label.
term_variables <- function(design) {
  if (!is.null(design$terms)) {
    factors <- attr(design$terms, "factors")
    used <- which(factors > 0L, arr.ind = TRUE, useNames = FALSE)
    return(stats::setNames(split(rownames(factors)[used[, 1L]], used[, 2L]),
                           unquoted(colnames(factors), rownames(factors))))
  }
  variables <- if (is.null(design$columns)) design$names else design$columns$variable
  as.list(stats::setNames(nm = unique(variables)))
}

set_keys <- function(sets) vapply(sets, paste, "", collapse = "\n", USE.NAMES = FALSE)

# every one of some columns with every required column
all_pairs <- function(columns, needs) {
  list(column = rep(columns, length(needs)), needs = rep(needs, each = length(columns)))
}

joined_pairs <- function(pairs) {
  list(column = as.integer(unlist(lapply(pairs, `[[`, "column"))),
       needs = as.integer(unlist(lapply(pairs, `[[`, "needs"))))
}

# Refuses a hierarchy that no search could meet.
check_can_be_met <- function(pairs, problem) {
  fail <- function(...) stop_input(sprintf(...), "sparsels_error_argument")
  problem$hierarchy <- pairs
  problem$usable[] <- TRUE
  of_units <- closed_needs(needs_of_units(problem))
  circular <- c(pairs$column[pairs$column == pairs$needs],
                of_units$column[of_units$column == of_units$needs])
  if (length(circular)) {
    fail("`hierarchy` has '%s' ask for itself, at once or by way of what it asks for",
         unit_names(problem, circular[1L]))
  }
  never <- which(problem$penalty[pairs$needs] == Inf)
  if (length(never)) {
    fail("`hierarchy` has '%s' ask for '%s', which `penalty` Inf keeps out of every model",
         problem$names[pairs$column[never[1L]]], problem$names[pairs$needs[never[1L]]])
  }
  if (!identical(problem$column_groups$rule, "one")) return(invisible())
  column <- c(unique(pairs$column), pairs$column)
  of <- problem$column_groups$of[c(unique(pairs$column), pairs$needs)]
  clash <- which(of > 0L & duplicated(data.frame(column, of)))
  if (length(clash)) {
    fail("`hierarchy` has '%s' ask for more columns of group '%s' than the one of `group_rule`",
         problem$names[column[clash[1L]]], problem$column_groups$names[of[clash[1L]]])
  }
}

# Hierarchies of a problem ------------------------------------------------------------------------

# The hierarchy among some columns. Columns outside these are not required.
some_hierarchy <- function(hierarchy, columns) {
  column <- match(hierarchy$column, columns)
  needs <- match(hierarchy$needs, columns)
  kept <- !is.na(column) & !is.na(needs)
  if (!any(kept)) return(NULL)
  list(column = column[kept], needs = needs[kept], by_terms = hierarchy$by_terms)
}

# The required columns as C reads them: needs[start[i] .. start[i + 1]) of column i.
needs_settings <- function(problem) {
  none <- list(needs_start = integer(), needs = integer())
  if (is.null(problem$hierarchy)) return(none)
  pairs <- needs_of_units(problem)
  if (!length(pairs$needs)) return(none)
  list(needs_start = c(0L, cumsum(tabulate(pairs$column, ncol(problem)))),
       needs = pairs$needs[order(pairs$column)] - 1L)
}

# Refuses options that a search under a hierarchy does not support.
check_hierarchy_search <- function(problem, control, cluster = NULL) {
  if (is.null(problem$hierarchy)) return(invisible())
  fail <- function(...) stop_input(sprintf(...), "sparsels_error_argument")
  if (!is.null(cluster)) fail("`cluster` is for columns that ask for no others by `hierarchy`")
  units <- unique(units_of(problem, control$start))
  pairs <- needs_of_units(problem)
  from <- match(pairs$column, units)
  place <- match(pairs$needs, units)
  pruned <- control$search == "backward"
  unmet <- which(!is.na(from) & (is.na(place) | !pruned & place > from))
  if (length(unmet)) {
    fail("`start` has '%s', which asks for '%s' by `hierarchy`: give that %s",
         unit_names(problem, pairs$column[unmet[1L]]), unit_names(problem, pairs$needs[unmet[1L]]),
         if (pruned) "too" else "before it")
  }
}

# Refuses a hierarchy by name, for functions without support for it. `who` is the function, such as
# "omp()".
refuse_hierarchy <- function(problem, who) {
  if (is.null(problem$hierarchy)) return(invisible())
  stop_input(sprintf("%s cannot honour `hierarchy`, by which columns ask for others: %s", who,
                     "use greedy_rls(), or leave it out"), "sparsels_error_argument")
}

# Words -------------------------------------------------------------------------------------------

hierarchy_words <- function(problem) {
  columns <- unique(problem$hierarchy$column)
  asking <- if (problem$hierarchy$by_terms) {
    unique(column_term_names(problem$design, problem$names)[columns])
  } else {
    problem$names[columns]
  }
  one <- length(asking) == 1L
  sprintf("%s %s for %s: %s",
          counted(length(asking), if (problem$hierarchy$by_terms) "interaction" else "column"),
          if (one) "asks" else "ask",
          if (!problem$hierarchy$by_terms) "others" else if (one) "its main effects" else
            "their main effects",
          some_of(asking, 5L, ""))
}
