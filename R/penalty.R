# Penalty factors multiply the penalty of each column. A problem has `penalty`, a factor for each
# column, or NULL where all are 1. A column of factor 0 is a covariate under its own name. A column
# of factor Inf is excluded. Any other column is divided by its scale and by a function of the
# factor, so that a plain penalty on working columns gives the required penalty. For a squared
# penalty the divisor is sqrt(p), which makes lambda p b^2 of lambda b^2. For an absolute penalty it
# is p, which makes lambda p |b| of lambda |b|. `absolute` tells which penalty is used.

# As given ----------------------------------------------------------------------------------------

with_penalty <- function(problem, penalty, names) {
  terms <- column_term_names(problem$design, names)
  problem$penalty <- check_penalty(penalty, names, terms)
  check_unpenalised(problem$penalty, names, colnames(problem$z))
  problem
}

# A factor for each column, from numbers for all columns or for some of the names of columns and of
# terms. `terms` are the names of the terms that the columns belong to.
check_penalty <- function(penalty, names, terms) {
  if (!is.numeric(penalty) || is.object(penalty) || !is.null(dim(penalty))) {
    refuse("penalty", "a numeric vector", penalty)
  }
  bad <- which(is.na(penalty) | penalty < 0)
  if (length(bad)) {
    stop_input(sprintf("`penalty` must be at least 0, 0 for columns without penalty, but %s is %s",
                       if (is.null(names(penalty))) sprintf("that of column %d", bad[1L]) else
                         sprintf("that of '%s'", names(penalty)[bad[1L]]),
                       format(penalty[[bad[1L]]])), "sparsels_error_argument")
  }
  factors <- if (is.null(names(penalty))) {
    all_factors(penalty, length(names))
  } else {
    named_factors(penalty, names, terms)
  }
  if (all(factors == 1)) return(NULL)
  tiny <- which(factors > 0 & factors < 1e-8 | is.finite(factors) & factors > 1e8)
  if (length(tiny)) {
    stop_input(sprintf("`penalty` must be 0, Inf or between 1e-8 and 1e+8, but that of '%s' is %s",
                       names[tiny[1L]], format(factors[tiny[1L]])), "sparsels_error_argument")
  }
  factors
}

all_factors <- function(penalty, columns) {
  if (length(penalty) != columns) {
    stop_input(sprintf("`penalty` must have one value for each of the %d columns, not %d: %s",
                       columns, length(penalty), "name the values to give those of some columns"),
               "sparsels_error_argument")
  }
  as.double(penalty)
}

# The name of a column takes precedence over the name of its term. Columns without either have the
# factor 1.
named_factors <- function(penalty, names, terms) {
  given <- names(penalty)
  twice <- given[anyDuplicated(given)]
  if (length(twice)) {
    stop_input(sprintf("`penalty` has two values named '%s'", twice), "sparsels_error_argument")
  }
  unknown <- setdiff(given, c(names, terms))
  if (length(unknown)) {
    stop_input(sprintf("`penalty` has values for %s, which is no column and no term of the data",
                       some_of(unknown, 1L)), "sparsels_error_argument")
  }
  factors <- unname(penalty[match(names, given)])
  of_term <- unname(penalty[match(terms, given)])
  factors <- ifelse(is.na(factors), of_term, factors)
  as.double(ifelse(is.na(factors), 1, factors))
}

# the term that each column belongs to: the variable of a frame, the term of a formula
column_term_names <- function(design, names) {
  columns <- design$columns
  if (is.null(columns)) return(names)
  if (is.null(columns$term)) columns$variable else columns$term
}

# The numbers of columns that are given by name, number or a logical vector, or by their term.
columns_given <- function(given, problem) {
  terms <- column_term_names(problem$design, problem$names)
  of_terms <- if (is.character(given)) which(terms %in% given & !problem$names %in% given)
  others <- if (is.character(given)) setdiff(given, terms[of_terms]) else given
  chosen <- if (length(others)) positions(others, ncol(problem), problem$names, "column")
  sort(unique(c(of_terms, chosen)))
}

# Of a problem ------------------------------------------------------------------------------------

# The columns without penalty, which are covariates.
unpenalised <- function(problem) which(problem$penalty == 0)

# Covariates that are not columns: the intercept and the covariates given by `adjust`.
given_covariates <- function(problem) {
  setdiff(colnames(problem$z), problem$names[unpenalised(problem)])
}

# The problem without some columns of factor 0, which are also removed from the covariates.
without_covariates <- function(problem, columns) {
  if (!length(columns)) return(problem)
  problem$z <- problem$z[, !colnames(problem$z) %in% problem$names[columns], drop = FALSE]
  problem
}

# Whether each column has a factor that excludes it from the selection.
is_set_apart <- function(problem) {
  if (is.null(problem$penalty)) logical(ncol(problem)) else problem$penalty %in% c(0, Inf)
}

# Refuses columns of factor 0 that have the name of a covariate given by `adjust`.
check_unpenalised <- function(factors, names, covariates) {
  twice <- intersect(names[which(factors == 0)], covariates)
  if (length(twice)) {
    stop_input(sprintf("column '%s' has `penalty` 0, and `adjust` has a column of that name",
                       twice[1L]), "sparsels_error_argument")
  }
}

# The divisor of a column in addition to its scale.
penalty_divisor <- function(problem) {
  factors <- problem$penalty
  if (is.null(factors)) return(rep(1, ncol(problem)))
  factors[!problem$usable] <- 1
  if (isTRUE(problem$absolute)) factors else sqrt(factors)
}

# The problem for a penalty on the absolute values of the coefficients, as the l1 methods use.
absolute_penalty <- function(problem) {
  if (is.null(problem$penalty) || isTRUE(problem$absolute)) return(problem)
  squares <- penalty_divisor(problem)
  problem$absolute <- TRUE
  problem$scale <- problem$scale / squares * penalty_divisor(problem)
  problem
}

# The problem with its covariates fixed, whatever columns are taken from it.
settled_covariates <- function(problem) {
  columns <- unpenalised(problem)
  if (!length(columns)) return(problem)
  problem$penalty[columns] <- Inf
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  problem$adjust_design <- list(names = covariates, kind = "matrix")
  problem
}

# Whether factors differ among the columns that are penalised.
has_factors <- function(problem) {
  any(problem$penalty[problem$usable] != 1)
}

# Refuses penalty factors other than 0 and Inf where there is no penalty on columns.
check_no_factors <- function(problem, why) {
  if (!has_factors(problem)) return(invisible())
  stop_input(sprintf("`penalty` cannot be honoured, as %s: give factors of 0, 1 and Inf alone",
                     why), "sparsels_error_argument")
}

# Refuses penalty factors of any kind, for kernels, which have no penalty on columns.
check_no_penalty <- function(problem) {
  if (is.null(problem$penalty)) return(invisible())
  stop_input(paste("`penalty` is for columns, and a kernel has no penalty on single columns:",
                   "give covariates by `adjust`, and leave columns out"), "sparsels_error_argument")
}

# Words -------------------------------------------------------------------------------------------

print_penalty <- function(problem) {
  if (is.null(problem$penalty)) return(invisible())
  names_where <- function(which) some_of(problem$names[which], 8L, "")
  free <- unpenalised(problem)
  never <- which(problem$penalty == Inf)
  if (length(free)) say("without penalty, in every model: ", names_where(free))
  if (length(never)) {
    say(sprintf("never used, penalty Inf: %s (%s)", counted(length(never), "column"),
                some_of(problem$names[never], 5L, "")))
  }
  if (has_factors(problem)) {
    factors <- range(problem$penalty[problem$usable])
    say(sprintf("penalty factors of the columns: %s to %s", shown(factors[1L]), shown(factors[2L])))
  }
}
