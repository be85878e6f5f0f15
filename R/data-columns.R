# Properties of columns: groups, hierarchy, penalty factors and prices.

# From arguments ----------------------------------------------------------------------------------

# `columns_group`, `group_rule` and `hierarchy` of as_problem() for a problem with names, design and
# penalty.
with_column_relations <- function(problem, columns_group, group_rule, hierarchy) {
  check_choice(group_rule, "group_rule", group_rules)
  stated <- !is.null(columns_group) || group_rule == "one"
  labels <- if (isFALSE(columns_group)) NULL else if (is.null(columns_group)) {
    of_terms <- design_groups(problem$coding$design)
    if (length(of_terms)) replace(of_terms, is_beside_curves(problem), "")
  } else {
    sources <- data_names(problem)
    group_labels(columns_group, sources)[match(source_names(problem), sources)]
  }
  if (!isFALSE(columns_group)) labels <- curve_groups(problem, labels, group_rule)
  problem <- put_column_groups(problem, labels, group_rule, stated)
  stop_argument_if(group_rule == "one" && is.null(problem$coding$column_groups),
                   paste("`group_rule = \"one\"` needs groups of two columns or more:",
                         "give `columns_group`"))
  with_hierarchy(problem, hierarchy)
}

# The labels with the columns of a curve, and of a pair, as one group. A curve has the group of its
# line if the line has one.
curve_groups <- function(problem, labels, group_rule) {
  if (!has_curves(problem) && !has_pairs(problem)) return(labels)
  stop_argument_if(group_rule == "one",
                   "`group_rule = \"one\"` takes single columns, `%s` makes terms of several",
                   if (has_curves(problem)) "smooth" else "interactions")
  if (is.null(labels)) labels <- rep("", ncol(problem))
  of_pair <- is_of_pair(problem)
  labels[of_pair] <- source_names(problem)[of_pair]
  curve <- problem$columns$curve
  if (is.null(curve)) return(labels)
  curve[is_beside_curves(problem)] <- NA
  alone <- !is.na(curve) & (is.na(labels) | labels == "")
  taken <- intersect(curve[alone], labels)
  stop_argument_if(length(taken),
                   "`columns_group` has a group '%s', and the curve of that column is not in it",
                   taken[1L])
  ifelse(alone, curve, labels)
}

# The group's label of each column, "" for none.
group_labels <- function(groups, names) {
  groups <- plain_variable(groups)
  if (is.list(groups) && !is.object(groups)) return(labels_of_sets(groups, names))
  known <- is.character(groups) || is.factor(groups) || is.numeric(groups) && !is.object(groups)
  refuse_unless(known && is.null(dim(groups)), "columns_group",
                paste("FALSE, a group for each column (names or numbers),",
                      "or a named list of groups"), groups)
  labels <- stats::setNames(as.character(groups), names(groups))
  if (is.null(names(labels))) {
    stop_argument_if(length(labels) != length(names),
                     "`columns_group` must have names or a group for each of the %s, not %d",
                     counted(length(names), "column"), length(labels))
    return(labels)
  }
  unknown <- setdiff(names(labels), names)
  stop_argument_if(length(unknown),
                   "`columns_group` has a group for column '%s', which does not exist", unknown[1L])
  twice <- anyDuplicated(names(labels))
  stop_argument_if(twice, "`columns_group` has two groups for column '%s'", names(labels)[twice])
  unname(labels[names])
}

# The group's label of each column, from a named list of sets of columns, which may not overlap.
labels_of_sets <- function(sets, names) {
  given <- names(sets)
  stop_argument_if(is.null(given) || anyNA(given) || any(given == "") || anyDuplicated(given),
                   "`columns_group` must have a name of its own for each group of the list")
  labels <- rep("", length(names))
  for (group in given) {
    columns <- in_context(sprintf("group '%s' of `columns_group`", group),
                          positions(sets[[group]], length(names), names, "column"))
    shared <- columns[labels[columns] != ""]
    stop_argument_if(length(shared),
                     "`columns_group` has column '%s' in two groups, '%s' and '%s': %s",
                     names[shared[1L]], labels[shared[1L]], group, "groups may not overlap")
    stop_argument_if(anyDuplicated(columns), "group '%s' of `columns_group` has column '%s' twice",
                     group, names[columns[anyDuplicated(columns)]])
    labels[columns] <- group
  }
  labels
}

# Methods without support for groups --------------------------------------------------------------

# The problem for a method that moves single columns. Groups that the user gave are refused by name.
# Groups of factors are ignored with a message. `who` is the method, such as "omp()".
single_columns <- function(problem, who) {
  groups <- problem$coding$column_groups
  if (is.null(groups)) return(problem)
  stop_argument_if(groups$stated, "%s chooses single columns, but `columns_group` has %s: %s", who,
                   counted(length(groups$names), "group"),
                   "use greedy_rls(), or `columns_group = FALSE`")
  message_sparsels(sprintf("%s takes the columns of %s one by one: %s", who,
                           some_of(groups$names, 3L),
                           "greedy_rls() takes each as a whole"),
                   "sparsels_message_groups")
  without_groups(problem)
}

without_groups <- function(problem) put_column_groups(problem, NULL)

# Groups of columns: the dummies of a factor, the probes of a gene, the genes of a pathway. Methods
# that support groups move their columns together, or choose at most one of them. A column without a
# group is moved by itself, like any group.

group_rules <- c("together", "one")

# The problem with the groups of another problem of the same columns.
with_groups_of <- function(problem, other) {
  problem$columns$group <- other$columns$group
  problem$coding$column_groups <- other$coding$column_groups
  problem
}

# Units -------------------------------------------------------------------------------------------

moves_together <- function(problem) {
  is.list(problem) && identical(problem$coding$column_groups$rule, "together")
}

# whether a model has at most one column of each group
chooses_one <- function(problem) identical(problem$coding$column_groups$rule, "one")

# the number of the group of each column, 0 for none
groups_of_columns <- function(problem) {
  if (is.null(problem$columns$group)) integer(ncol(problem)) else problem$columns$group
}

# The group or column that is moved, for each of some columns: the first usable column of its group,
# or the column itself.
units_of <- function(problem, columns) {
  if (!moves_together(problem)) return(columns)
  of <- problem$columns$group
  first <- match(seq_along(problem$coding$column_groups$names),
                 replace(of, !problem$columns$usable, 0L))
  ifelse(of[columns] > 0L & problem$columns$usable[columns], first[pmax(of[columns], 1L)], columns)
}

distinct_units <- function(problem, columns = which(problem$columns$usable)) {
  unique(units_of(problem, columns))
}

# The usable columns that move together with one column.
unit_columns <- function(problem, column) {
  if (!moves_together(problem)) return(column)
  group <- problem$columns$group[column]
  if (group > 0L) which(problem$columns$group == group & problem$columns$usable) else column
}

# some columns and the columns that move with them
whole_groups <- function(problem, columns) {
  unlist(lapply(distinct_units(problem, columns), unit_columns, problem = problem))
}

# The largest size of a model of some usable columns: the number of groups, where a column without a
# group counts as one. If a model has at most one column of each group, it is the number of groups
# from which a column can be chosen.
count_units <- function(problem, columns = which(problem$columns$usable)) {
  if (is.null(problem$coding$column_groups)) return(length(columns))
  group <- problem$columns$group[columns]
  sum(group == 0L) + length(setdiff(unique(group), 0L))
}

# the name of the group of each column, NA for a column without, or NULL without groups
group_names <- function(problem, columns) {
  groups <- problem$coding$column_groups
  if (!is.null(groups)) c(NA, groups$names)[problem$columns$group[columns] + 1L]
}

# the name of the group that moves with each column, or of the column itself
unit_names <- function(problem, columns) {
  names <- problem$columns$name[columns]
  if (!moves_together(problem)) return(names)
  group <- group_names(problem, columns)
  ifelse(is.na(group), names, group)
}

# The groups or columns that each group or column requires, as far as a search can choose them, by
# first columns.
needs_of_units <- function(problem) {
  pairs <- problem$hierarchy
  open <- problem$columns$usable[pairs$column] & problem$columns$usable[pairs$needs]
  column <- units_of(problem, pairs$column[open])
  needs <- units_of(problem, pairs$needs[open])
  list(column = column[column != needs], needs = needs[column != needs])
}

# The groups or columns, among `units`, that can join a set of columns.
joining_units <- function(problem, set, units) {
  if (chooses_one(problem)) {
    group <- problem$columns$group
    units <- units[!group[units] %in% setdiff(group[set], 0L)]
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
  groups <- problem$coding$column_groups
  none <- list(group_rule = "none", group_of = integer(), group_start = 0L,
               group_columns = integer(), most_columns = as.integer(k))
  if (is.null(groups)) return(none)
  of <- ifelse(problem$columns$usable, problem$columns$group, 0L)
  size <- tabulate(of, length(groups$names))
  several <- which(size > 1L)
  if (!length(several)) return(none)
  of <- match(of, several, 0L)
  sizes <- sort(c(size[several], rep(1L, sum(problem$columns$usable & of == 0L))),
                decreasing = TRUE)
  together <- groups$rule == "together"
  list(group_rule = groups$rule, group_of = of - 1L,
       group_start = as.integer(c(0L, cumsum(size[several]))),
       group_columns = order(of)[sum(of == 0L) + seq_len(sum(of > 0L))] - 1L,
       most_columns = as.integer(if (together) sum(utils::head(sizes, k)) else k))
}

# Words -------------------------------------------------------------------------------------------

# The word for what a size counts. Groups and single columns together are terms.
size_word <- function(problem) {
  if (!moves_together(problem)) return("feature")
  if (has_terms(problem) || any(problem$columns$group == 0L)) "term" else "group"
}

# the word for counted columns, or for groups that move together
counted_word <- function(problem) if (moves_together(problem)) size_word(problem) else "column"

# "3 groups (7 columns)"
sized_words <- function(problem, size, columns) {
  words <- counted(size, size_word(problem))
  grouped <- moves_together(problem) && !has_terms(problem)
  if (grouped) sprintf("%s (%s)", words, counted(columns, "column")) else words
}

# The record of groups of columns, see property_records(). Groups that are one curve or pair are
# among the words about these.
columns_group_record <- function() {
  list(
    kind = "wanted", has = function(problem) !is.null(problem$coding$column_groups),
    print = function(problem) {
      groups <- problem$coding$column_groups
      size <- tabulate(problem$columns$group, length(groups$names))
      curve <- groups$names %in% c(names(problem$curves), pair_names(problem$pairs))
      if (all(curve)) return(invisible())
      size <- size[!curve]
      each <- sprintf("%s (%d)", groups$names[!curve], size)
      rule <- if (groups$rule == "together") "in a model as a whole or not at all" else
        "with at most one column in a model"
      say(sprintf("%s (%s), %s%s: %s", counted(length(size), "group"), counted(sum(size), "column"),
                  if (length(size) > 1L) "each " else "", rule, some_of(each, 5L, "")))
    },
    words = "groups of columns", settle = single_columns, lacking = single_column_methods
  )
}

# Hierarchy ----------------------------------------------------------------------------------------

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
  refuse_unless(is.list(needs) && !is.object(needs), "hierarchy",
                "\"none\", \"strong\" or a named list of required columns", needs)
  asking <- names(needs)
  stop_argument_if(length(needs) && (is.null(asking) || anyNA(asking) || any(asking == "")),
                   paste("`hierarchy` must have the name of a column or a term for each element",
                         "of the list"))
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
  keys <- function(sets) vapply(sets, paste, "", collapse = "\n", USE.NAMES = FALSE)
  sets <- term_variables(problem$coding$design)
  of_several <- lengths(sets) > 1L
  stop_argument_if(!any(of_several),
                   paste("`hierarchy = \"strong\"` is for a formula with interactions, such as",
                         "`y ~ a * b`: give a list of the columns that each column requires"))
  asking <- rep(which(of_several), lengths(sets)[of_several])
  smaller <- unlist(lapply(sets[of_several], function(set) {
    lapply(seq_along(set), function(one) set[-one])
  }), recursive = FALSE, use.names = FALSE)
  needed <- match(keys(smaller), keys(sets))
  absent <- which(is.na(needed))
  adjusted <- keys(lapply(term_variables(problem$coding$adjust_design), sort))
  lost <- absent[!keys(lapply(smaller[absent], sort)) %in% adjusted]
  asks <- asking[lost[1L]]
  stop_argument_if(
    length(lost),
    "`hierarchy = \"strong\"`: '%s' requires '%s', which is no term of the formula: write `%s`",
    names(sets)[asks], paste(smaller[[lost[1L]]], collapse = ":"),
    paste(sets[[asks]], collapse = " * ")
  )
  present <- !is.na(needed)
  columns <- split(seq_len(ncol(problem)), factor(problem$coding$design$columns$term, names(sets)))
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
  names <- problem$columns$name
  problem$hierarchy <- pairs
  problem$columns$usable[] <- TRUE
  of_units <- closed_needs(needs_of_units(problem))
  circular <- c(pairs$column[pairs$column == pairs$needs],
                of_units$column[of_units$column == of_units$needs])
  stop_argument_if(length(circular),
                   "`hierarchy` makes '%s' require itself, directly or through other columns",
                   unit_names(problem, circular[1L]))
  never <- which(problem$columns$penalty[pairs$needs] == Inf)
  stop_argument_if(
    length(never),
    "`hierarchy` makes '%s' require '%s', which `penalty` Inf keeps out of every model",
    names[pairs$column[never[1L]]], names[pairs$needs[never[1L]]]
  )
  if (!chooses_one(problem)) return(invisible())
  column <- c(unique(pairs$column), pairs$column)
  of <- problem$columns$group[c(unique(pairs$column), pairs$needs)]
  clash <- which(of > 0L & duplicated(data.frame(column, of)))
  stop_argument_if(length(clash),
                   "`hierarchy` makes '%s' require columns of group '%s', %s",
                   names[column[clash[1L]]], problem$coding$column_groups$names[of[clash[1L]]],
                   "of which `group_rule` allows one")
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
  pairs <- needs_of_units(problem)
  if (!length(pairs$needs)) return(list(needs_start = integer(), needs = integer()))
  list(needs_start = c(0L, cumsum(tabulate(pairs$column, ncol(problem)))),
       needs = pairs$needs[order(pairs$column)] - 1L)
}

# Refuses options that a search under a hierarchy does not support.
check_hierarchy_search <- function(problem, control, cluster = NULL) {
  if (is.null(problem$hierarchy)) return(invisible())
  stop_argument_if(!is.null(cluster), "`cluster` does not support `hierarchy`")
  units <- unique(units_of(problem, control$start))
  pairs <- needs_of_units(problem)
  from <- match(pairs$column, units)
  place <- match(pairs$needs, units)
  pruned <- control$search == "backward"
  unmet <- which(!is.na(from) & (is.na(place) | !pruned & place > from))
  stop_argument_if(length(unmet),
                   "`start` has '%s', which requires '%s' by `hierarchy`: add the required %s",
                   unit_names(problem, pairs$column[unmet[1L]]),
                   unit_names(problem, pairs$needs[unmet[1L]]),
                   if (pruned) "column too" else "column before it")
}

# Refuses a hierarchy by name, for functions without support for it. `who` is the function, such as
# "omp()", and `instead` the way out.
refuse_hierarchy <- function(problem, who, instead = NULL) {
  if (is.null(instead)) {
    other <- if (startsWith(who, "greedy_rls(")) "search by squared errors" else "use greedy_rls()"
    instead <- paste0(other, ", or leave it out")
  }
  stop_argument_if(!is.null(problem$hierarchy),
                   "%s does not support `hierarchy`, where columns require others: %s", who,
                   instead)
}

# Words -------------------------------------------------------------------------------------------

# The record of a hierarchy of columns, see property_records().
hierarchy_record <- function() {
  list(
    kind = "wanted", has = function(problem) !is.null(problem$hierarchy),
    print = function(problem) {
      columns <- unique(problem$hierarchy$column)
      by_terms <- problem$hierarchy$by_terms
      asking <- if (by_terms) unique(column_term_names(problem)[columns]) else
        problem$columns$name[columns]
      what <- if (by_terms) "interaction{?s} {?requires its/require their} main effects" else
        "column{?s} {?requires/require} others"
      say(cli::pluralize("{length(asking)} ", what, ": {some_of(asking, 5L, \"\")}"))
    },
    words = "a hierarchy of columns", settle = refuse_hierarchy,
    lacking = c("greedy_likelihood", single_column_methods)
  )
}

# Penalty factors ----------------------------------------------------------------------------------

# Penalty factors multiply the penalty of each column. A problem has `columns$penalty`, a factor for
# each column, or NULL where all are 1. A column of factor 0 is a covariate under its own name. A
# column of factor Inf is excluded. Any other column is divided by its scale and by a function of
# the factor, so that a plain penalty on working columns gives the required penalty. For a squared
# penalty the divisor is sqrt(p), which makes lambda p b^2 of lambda b^2. For an absolute penalty it
# is p, which makes lambda p |b| of lambda |b|. `absolute` tells which penalty is used.

# As given ----------------------------------------------------------------------------------------

# The problem with these factors. Columns of factor 0 may not have the name of a given covariate.
put_factors <- function(problem, factors) {
  twice <- intersect(problem$columns$name[which(factors == 0)], given_covariates(problem))
  stop_argument_if(length(twice),
                   "column '%s' has `penalty` 0, and `adjust` has a column of that name", twice[1L])
  problem$columns$penalty <- factors
  problem
}

# A factor for each column, from numbers for all columns or for some of the names of columns and of
# terms. `terms` are the names of the terms that the columns belong to.
check_penalty <- function(penalty, names, terms) {
  penalty <- plain_variable(penalty)
  refuse_unless(is.numeric(penalty) && !is.object(penalty) && is.null(dim(penalty)), "penalty",
                "a numeric vector", penalty)
  given <- names(penalty)
  bad <- which(is.na(penalty) | penalty < 0)
  stop_argument_if(length(bad),
                   "`penalty` must be at least 0, 0 for columns without penalty, but %s is %s",
                   if (is.null(given)) sprintf("the factor of column %d", bad[1L]) else
                     sprintf("the factor of '%s'", given[bad[1L]]), format(penalty[[bad[1L]]]))
  stop_argument_if(is.null(given) && length(penalty) != length(names),
                   "`penalty` must have one value for each of the %d columns, not %d: %s",
                   length(names), length(penalty), "name the values to give some factors")
  twice <- given[anyDuplicated(given)]
  stop_argument_if(length(twice), "`penalty` has two values named '%s'", twice)
  unknown <- setdiff(given, c(names, terms))
  stop_argument_if(length(unknown),
                   "`penalty` has values for %s, which is no column and no term of the data",
                   some_of(unknown, 1L))
  factors <- as.double(penalty)
  if (!is.null(given)) {
    # the name of a column takes precedence over the name of its term
    place <- ifelse(names %in% given, match(names, given), match(terms, given))
    factors <- ifelse(is.na(place), 1, factors[place])
  }
  if (all(factors == 1)) return(NULL)
  tiny <- which(factors > 0 & factors < 1e-8 | is.finite(factors) & factors > 1e8)
  stop_argument_if(length(tiny),
                   "`penalty` must be 0, Inf or between 1e-8 and 1e+8, but '%s' has %s",
                   names[tiny[1L]], format(factors[tiny[1L]]))
  factors
}

# the term that each column belongs to: the variable of a frame, the term of a formula
column_term_names <- function(problem) {
  columns <- problem$coding$design$columns
  if (is.null(columns)) return(problem$columns$name)
  if (is.null(columns$term)) columns$variable else columns$term
}

# The numbers of columns that are given by name, number or a logical vector, or by their term. With
# the line of a curve its directions are given.
columns_given <- function(given, problem) {
  if (!is.character(given)) return(sort(unique(positions(given, ncol(problem), NULL, "column"))))
  terms <- column_term_names(problem)
  directions <- which(source_names(problem) %in% given & !problem$columns$name %in% given)
  of_terms <- setdiff(which(terms %in% given & !problem$columns$name %in% given), directions)
  others <- setdiff(given, terms[of_terms])
  chosen <- if (length(others)) positions(others, ncol(problem), problem$columns$name, "column")
  sort(unique(c(of_terms, chosen, directions)))
}

# Of a problem ------------------------------------------------------------------------------------

# Whether each column has a factor that excludes it from the selection.
is_set_apart <- function(problem) {
  factors <- factors_of(problem)
  factors == 0 | factors == Inf
}

# The divisor of a column in addition to its scale.
penalty_divisor <- function(problem) {
  factors <- replace(factors_of(problem), !problem$columns$usable, 1)
  if (isTRUE(problem$coding$absolute)) factors else sqrt(factors)
}

# The problem for a penalty on the absolute values of the coefficients, as the l1 methods use.
absolute_penalty <- function(problem) {
  if (is.null(problem$columns$penalty) || isTRUE(problem$coding$absolute)) return(problem)
  squares <- penalty_divisor(problem)
  problem$coding$absolute <- TRUE
  problem$columns$scale <- problem$columns$scale / squares * penalty_divisor(problem)
  problem
}

# The problem with its covariates fixed, whatever columns are taken from it.
settled_covariates <- function(problem) {
  columns <- unpenalised(problem)
  if (!length(columns)) return(problem)
  problem$columns$penalty[columns] <- Inf
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  problem$coding$adjust_design <- list(names = covariates, kind = "matrix")
  problem
}

# Whether factors differ among the columns that are penalised.
has_factors <- function(problem) any(problem$columns$penalty[problem$columns$usable] != 1)

# Words -------------------------------------------------------------------------------------------

# The record of penalty factors, see property_records().
penalty_record <- function() {
  list(kind = "wanted", given = function(problem) problem$columns$penalty, print = print_penalty)
}

print_penalty <- function(problem) {
  some_names <- function(columns, most) some_of(problem$columns$name[columns], most, "")
  free <- unpenalised(problem)
  never <- which(problem$columns$penalty == Inf)
  if (length(free)) say("without penalty, in every model: ", some_names(free, 8L))
  if (length(never)) {
    say("never used, penalty Inf: ", counted(length(never), "column"),
        " (", some_names(never, 5L), ")")
  }
  if (has_factors(problem)) {
    factors <- range(problem$columns$penalty[problem$columns$usable])
    say("penalty factors of the columns: ", shown(factors[1L]), " to ", shown(factors[2L]))
  }
}

# The problem in which the penalty of each block is multiplied by its ratio.
with_block_ratios <- function(problem, blocks) {
  ratio <- rep(1, ncol(problem))
  ratio[unlist(blocks$columns)] <- rep(blocks$ratio, lengths(blocks$columns))
  if (all(ratio == 1)) return(problem)
  without <- problem$columns$scale / penalty_divisor(problem)
  problem$columns$penalty <- given_factors(problem) * ratio
  problem$columns$scale <- without * penalty_divisor(problem)
  problem
}

# Prices -------------------------------------------------------------------------------------------

# Prices of columns, and costs of sets of columns. The price of an assay is paid once for any number
# of its columns.

# The user's `cost` as list(price, assay) with an element for each column, or NULL. The assay of a
# column is a number from 0, or -1 where the column is measured alone.
check_cost <- function(cost, problem) {
  if (is.null(cost)) return(NULL)
  table <- cost_table(cost)
  table <- table[cost_rows(table, problem), , drop = FALSE]
  price <- as.double(table$cost)
  bad <- which(!(is.finite(price) & price > 0))
  stop_argument_if(length(bad),
                   "the `cost` of column '%s' must be a positive finite number, not %s",
                   problem$columns$name[bad[1L]], describe(table$cost[bad[1L]]))
  stop_argument_if(!is.finite(max(price) / min(price)),
                   "`cost` has prices too different for one scale")
  assay <- if (is.null(table$assay)) rep(NA_integer_, length(price)) else
    match(table$assay, unique(table$assay[!is.na(table$assay)]))
  for (same in split(seq_along(price), assay)) {
    prices <- unique(price[same])
    stop_argument_if(length(prices) > 1L,
                     "`cost` gives assay '%s' the prices %s and %s: it is paid for once",
                     table$assay[same[1L]], show_value(prices[1L]), show_value(prices[2L]))
  }
  list(price = price, assay = ifelse(is.na(assay), -1L, assay - 1L))
}

# A row for each price: `cost`, and if given `assay` and the column's `name`.
cost_table <- function(cost) {
  if (!is.data.frame(cost)) {
    cost <- plain_variable(cost)
    refuse_unless(is.numeric(cost) && !is.object(cost) && is.null(dim(cost)), "cost",
                  "numbers, or a data frame whose columns are `cost` and perhaps `assay`", cost)
    cost <- new_table(list(cost = as.double(cost), name = names(cost)))
  }
  refuse_unless(is.numeric(cost$cost), "cost$cost", "a column of numbers", cost$cost)
  table <- data.frame(cost = as.double(cost$cost))
  if (!is.null(cost$assay)) table$assay <- as.character(cost$assay)
  named <- .row_names_info(cost) > 0L
  table$name <- if (!is.null(cost$name)) as.character(cost$name) else if (named) row.names(cost)
  table
}

# the row of each column: by name, or in order
cost_rows <- function(table, problem) {
  if (is.null(table$name)) {
    if (nrow(table) == ncol(problem)) return(seq_len(ncol(problem)))
    stop_argument("`cost` must have names or a price for each of the %s, not %d",
                  counted(ncol(problem), "column"), nrow(table))
  }
  rows <- match(problem$columns$name, table$name)
  stop_argument_if(anyNA(rows), "`cost` has no price of column '%s'",
                   problem$columns$name[is.na(rows)][1L])
  twice <- intersect(problem$columns$name, table$name[duplicated(table$name)])
  stop_argument_if(length(twice), "`cost` has two prices of column '%s'", twice[1L])
  rows
}

# The largest cost of a set: Inf, or a number that is at least the price of the cheapest usable
# column and the cost of the columns `start` that the set must contain. NULL without prices.
check_budget <- function(budget, cost, problem, start = integer()) {
  if (identical(budget, Inf)) return(if (!is.null(cost)) Inf)
  budget <- check_positive(budget, "budget")
  stop_argument_if(is.null(cost), "`budget` needs `cost`")
  needed <- c(price_of(cost, start), min(cost$price[problem$columns$usable]))
  what <- c("the columns of `start` cost", "the cheapest column costs")
  short <- which(!within_budget(needed, budget))
  stop_argument_if(length(short), "`budget` is %s, but %s %s", show_value(budget), what[short[1L]],
                   show_value(needed[short[1L]]))
  budget
}

# allows for rounding in sums of prices
within_budget <- function(price, budget) price <= budget * budget_rounding

budget_rounding <- 1 + 1e-9

# the amount that each column of a set adds to the cost of the columns before it
added_prices <- function(cost, columns) {
  assay <- cost$assay[columns]
  cost$price[columns] * (assay < 0L | !duplicated(assay))
}

price_of <- function(cost, columns) sum(added_prices(cost, columns))

# Prices in the form that C reads, in units of the lowest price.
price_settings <- function(problem, cost, budget) {
  if (is.null(cost)) return(list(price = NULL, assay = integer(), budget = Inf))
  unit <- min(cost$price[problem$columns$usable])
  list(price = cost$price / unit, assay = cost$assay, budget = budget / unit * budget_rounding)
}
