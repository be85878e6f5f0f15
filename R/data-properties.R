# The optional properties of data. Each property has one record under the name of the argument of
# as_problem() that gives it. The records print a problem, make it again from its data, refuse the
# methods that do not support a property, and make the table of the help page.

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
#' have no penalty factors, and `lambda = 0` none but 0, 1 and `Inf` (see [penalty_factors]).
#'
#' @evalRd property_table()
#' @seealso [as_problem()], [row_groups], [ranking], [column_groups], [hierarchy]
#' @name data_properties
NULL

# The records, in the order in which a problem is printed. `given`: the value of the argument with
# which as_problem() makes the property again, NULL without it. `has`: whether a problem has the
# property, by default whether `given` is not NULL. `print`: prints the property of a problem that
# has it, `kind`: when print() of a fit does so, "needed" without it. `lacking`: the methods that do
# not support the property, `words`: the property in words.
# `no_intervals`: why predictions have none, `no_level`: why models have no likelihood,
# `no_calibration`: why scores have none. `joint`: rows that are centred and scored together, in
# words. `joined`: how rows belong together, in words. `compared`: methods to compare by default.
# `criteria`: for each argument the criteria that an error names, `of` what they are, why, and the
# names that are `allowed`. `settle`: a function of a problem with the property and the name of such
# a method, which stops or gives a problem that the method takes.
property_records <- function() {
  if (is.null(made_records$all)) made_records$all <- c(response_records(), design_records())
  made_records$all
}

# The records are made once, when all files are loaded.
made_records <- new.env(parent = emptyenv())

response_records <- function() {
  list(
    assay = list(
      given = function(problem) problem$coding$assay,
      print = function(problem) say("assay: ", assay_words(problem$coding$assay))
    ),
    task = list(given = function(problem) {
      if (has_classes(problem)) "classification" else "regression"
    }),
    y = list(kind = "always", has = function(problem) TRUE, print = print_response),
    within = ranking_record(),
    groups = list(
      given = function(problem) if (!is.null(problem$coding$center_groups)) problem$rows$group,
      has = function(problem) !is.null(problem$rows$group),
      print = function(problem) {
        sizes <- trained_counts(problem, problem$rows$group)
        say(sprintf("rows in %s of %s, which every partition keeps whole",
                    counted(length(sizes), "group"), counted_range(range(sizes), "row")))
      },
      words = "groups of rows", joined = "in groups",
      settle = function(problem, who) {
        stop_input("%s holds out single rows and cannot keep `groups` whole: %s", who,
                   "leave out `groups`", class = "sparsels_error_groups")
      },
      lacking = c("lowrank_lssvm", "cv_variance")
    ),
    center_groups = list(
      given = function(problem) problem$coding$center_groups,
      print = function(problem) {
        say("columns centred", if (problem$coding$center_groups == "scale") " and scaled",
            " within groups of rows")
      },
      words = "columns centred within groups of rows",
      settle = function(problem, who) {
        stop_input("%s predicts each row alone, but columns are centred within groups of rows: %s",
                   who, "predict() of the fit has the cohort", class = "sparsels_error_panel")
      },
      lacking = c("as_panel", "lowrank_lssvm", "cv_variance")
    ),
    strata = times_record(
      "strata of censored times",
      given = function(problem) problem$rows$stratum,
      print = function(problem) {
        sizes <- trained_counts(problem, problem$rows$stratum)
        say(sprintf("rows in %d strat%s of %s, with baseline hazards of their own", length(sizes),
                    if (length(sizes) == 1L) "um" else "a", counted_range(range(sizes), "row")))
      }
    ),
    start = times_record("times of entry, `Surv(start, stop, status)`", has = is_truncated),
    no_logs = times_record("times without logarithms", has = has_no_logs),
    risk_offset = times_record("an offset of censored times", has = has_risk_offset),
    ordinal = ordinal_record(),
    offset = list(given = function(problem) problem$rows$offset),
    standardize_response = list(given = function(problem) !is.null(problem$coding$response_scale)),
    make_unique = list(given = function(problem) if (length(problem$coding$renamed)) TRUE)
  )
}

# What methods that work on the logarithms of times do not take.
times_record <- function(words, ...) {
  list(..., words = words, settle = refuse_for_log_times, lacking = setdiff(fitters, cox_methods))
}

# Ordered classes as a loss of their own takes them.
ordinal_record <- function() {
  list(
    has = has_cutpoints, words = "ordered classes, `loss = \"ordinal\"`",
    no_intervals = "ordered classes have no intervals: give `type = \"prob\"`",
    no_calibration = "`threshold` and `calibration` are for classes without order",
    criteria = list(allowed = "concordance", criterion = "loss",
                    measure = c("concordance", "deviance", "error", "absolute", "brier", "logloss"),
                    of = "`loss = \"ordinal\"`", why = ""),
    settle = function(problem, who) {
      stop_argument("%s takes no fit to ordered classes: %s", who, if (who == "a panel")
        "it has no cutpoints, which predict() of the fit has" else "give its data again")
    },
    lacking = c(setdiff(fitters, c("l1_path", "l1_size", "safe_screen")), "as_panel")
  )
}

print_missing <- function(problem) {
  missing <- problem$columns$missing[source_places(problem) == seq_len(ncol(problem))]
  empty <- sum(missing == nrow(problem))
  missing[missing == nrow(problem)] <- 0
  if (empty) say(counted(empty, "column"), " without a value, in no model")
  if (any(missing > 0L)) {
    say(counted(sum(missing), "missing value", whole_number(sum(missing))), " in ",
        counted(sum(missing > 0), "column"), ", replaced by column means")
  }
  levels <- problem$coding$design$levels
  factors <- names(levels)[vapply(levels, function(own) level_of_missing %in% own, NA)]
  if (length(factors)) {
    say(sprintf("missing values of %s: a level '%s'", some_of(factors, 5L, ""), level_of_missing))
  }
}

design_records <- function() {
  list(
    adjust = list(
      kind = "always",
      given = function(problem) {
        covariates <- setdiff(given_covariates(problem), "(Intercept)")
        if (length(covariates)) problem$z[, covariates, drop = FALSE]
      },
      print = function(problem) {
        say("adjusted for: ", some_of(setdiff(given_covariates(problem), "(Intercept)"), 8L, ""))
      }
    ),
    penalty = penalty_record(),
    weights = list(
      kind = "always",
      given = case_weights, has = function(problem) any(case_weights(problem) != 1),
      print = function(problem) {
        w <- case_weights(problem)
        none <- sum(w == 0)
        say("weights of the rows: ", paste(unique(vapply(range(w), shown, "")), collapse = " to "),
            if (none) sprintf(", 0 for %s, which %s not count", counted(none, "row"),
                              if (none == 1L) "does" else "do"))
      },
      words = "rows of weight 0", settle = check_all_trained,
      lacking = c(kernel_methods, "safe_screen")
    ),
    class_weights = list(
      kind = "always", given = function(problem) problem$coding$class_weights,
      print = function(problem) say(class_weights_words(problem))
    ),
    na.action = list(
      kind = "always",
      has = function(problem) length(problem$na.action) > 0L,
      print = function(problem) {
        omitted <- names(problem$na.action)
        say(sprintf("left out: %s with missing values (%s)", counted(length(omitted), "row"),
                    some_of(omitted, 5L, "")))
      }
    ),
    missing = list(
      given = function(problem) problem$coding$missing,
      has = function(problem) identical(problem$coding$missing, "mean"),
      print = print_missing
    ),
    smooth = list(
      kind = "wanted", given = given_curves, print = function(problem) {
        for (words in curves_words(problem)) say(words)
      },
      words = "curves of columns", settle = refusing("smooth", "curve"),
      lacking = c("greedy_likelihood", single_column_methods, setdiff(kernel_methods, "rls"))
    ),
    smooth_basis = list(given = given_basis),
    interactions = list(
      kind = "wanted", given = given_pairs, print = function(problem) say(pairs_words(problem)),
      words = "pairs of columns", settle = refusing("interactions", "pair"),
      lacking = c("greedy_likelihood", single_column_methods, setdiff(kernel_methods, "rls"))
    ),
    columns_group = columns_group_record(),
    hierarchy = hierarchy_record(),
    intercept = list(
      given = has_given_intercept, has = function(problem) !is_centred(problem),
      print = function(problem) cat("no intercept\n")
    ),
    standardize = list(given = function(problem) problem$coding$standardize)
  )
}

# The arguments with which as_problem() makes the properties of a problem again.
given_properties <- function(problem) {
  records <- Filter(function(record) !is.null(record$given), property_records())
  without_null(lapply(records, function(record) record$given(problem)))
}

# When print() of a fit prints a property: see print_page().
property_kinds <- c("always", "needed", "wanted")

# Prints the properties of a problem that define its models, of the given kinds, the units of the
# response among them.
print_properties <- function(problem, kinds = property_kinds) {
  for (record in properties_of(problem, "print")) {
    if ((if (is.null(record$kind)) "needed" else record$kind) %in% kinds) record$print(problem)
  }
}

# The records of the properties of a problem: of those with a field, or of those that a method does
# not support. The records are found once for each of these.
properties_of <- function(problem, field_or_method) {
  records <- made_records[[field_or_method]]
  if (is.null(records)) {
    records <- Filter(function(record) field_or_method %in% c(names(record), record$lacking),
                      property_records())
    made_records[[field_or_method]] <- records
  }
  Filter(function(record) {
    if (is.null(record$has)) !is.null(record$given(problem)) else record$has(problem)
  }, records)
}

# What the first property of a problem whose record has this field states in it, or NULL.
stated_by_properties <- function(problem, field) {
  stated <- properties_of(problem, field)
  if (length(stated)) stated[[1L]][[field]]
}

# The refusal of functions of columns by a method.
refusing <- function(argument, what) {
  function(problem, who) {
    method <- sub("\\(.*", "", who)
    why <- if (method %in% kernel_methods) {
      sprintf("a kernel has %ss of its own, leave `%s` out", what, argument)
    } else if (method == "greedy_rls") {
      sprintf("a search by a likelihood takes no %ss, leave it out", what)
    } else {
      sprintf("it takes single columns, so half a %s, use greedy_rls() or leave it out", what)
    }
    stop_argument("%s does not support `%s`: %s", who, argument, why)
  }
}

# The problem as a method takes it. Refuses properties that the method does not support.
# "greedy_likelihood" is greedy_rls() by another loss than squares.
settle_properties <- function(problem, method, who = paste0(method, "()")) {
  for (record in properties_of(problem, method)) problem <- record$settle(problem, who)
  problem
}

# The section of the help page: a row for each method, a column for each property.
property_table <- function() {
  records <- Filter(function(record) !is.null(record$lacking), property_records())
  cells <- vapply(records, function(record) ifelse(fitters %in% record$lacking, "no", "yes"),
                  character(length(fitters)))
  head <- sprintf("\\code{%s}", names(records))
  words <- sprintf("\\item %s: %s", head, vapply(records, `[[`, "", "words"))
  rows <- c(paste(c("", head), collapse = " \\tab "),
            paste(sprintf("\\code{\\link[=%s]{%s()}}", fitters, fitters),
                  apply(cells, 1L, paste, collapse = " \\tab "), sep = " \\tab "))
  sprintf("\\section{Methods and properties}{\n\\itemize{\n%s\n}\n\\tabular{%s}{\n%s\n}\n}",
          paste(words, collapse = "\n"), strrep("l", 1L + length(records)),
          paste(rows, collapse = " \\cr\n"))
}

# Printing a problem -------------------------------------------------------------------------------

#' @exportS3Method
print_result.sparsels_problem <- function(x, ...) {
  say("<sparsels problem> ", data_words(x), if (inherits(x$x, "dgCMatrix")) ", sparse")
  say("response: ", response_words(x))
  print_properties(x)
  if (length(x$coding$renamed)) {
    say(sprintf("made unique: the names of %s (%s)", counted(length(x$coding$renamed), "column"),
                some_of(names(x$coding$renamed), 5L, "")))
  }
  excluded <- x$columns$name[!x$columns$usable & !is_set_apart(x) & !is_no_direction(x)]
  if (length(excluded)) {
    say(sprintf("excluded: %s, %s (%s)", counted(length(excluded), "column"), excluded_words(x),
                some_of(excluded, 5L, "")))
  }
}

print_data <- function(problem) {
  print_rows_of(problem)
  print_properties(problem)
}

print_rows_of <- function(problem) {
  say("data: ", data_words(problem), "; response: ", response_words(problem))
}
