# New data for a problem: columns of x by name, and covariates.

# New data as a matrix of doubles or a dgCMatrix, with the problem's columns `columns` in that
# order. Missing values are replaced if the problem has means for them.
new_data_matrix <- function(problem, newdata, columns) {
  complete_new(problem, new_values(problem, newdata, columns), columns)
}

new_values <- function(problem, newdata, columns) {
  if (inherits(newdata, "sparsels_problem")) newdata <- problem_x(newdata)
  if (is_experiment(newdata)) newdata <- read_experiment(newdata, problem$assay, "newdata")$values
  newdata <- as_valid(newdata, "newdata")
  if (is.data.frame(newdata)) return(new_frame_matrix(problem, newdata, columns))
  if (length(dim(newdata)) != 2L) {
    stop_newdata("`newdata` must be a matrix or data frame, not %s%s", describe(newdata),
                 drop_hint(newdata))
  }
  # evaluated outside `[`, whose S4 methods would replace the class of an error in its arguments
  chosen <- new_positions(problem, newdata, columns)
  as_doubles(as_values(newdata[, chosen, drop = FALSE], "newdata"))
}

# the data matrix of a problem given as new data, which a problem stored in a fit does not have
problem_x <- function(problem) {
  check_sealed(problem)
  if (is.null(problem$x)) {
    stop_newdata("`newdata` is the problem stored in a fit, which has no data matrix")
  }
  as_given(problem)$x
}

# positions in newdata of the wanted columns: by name where both have names, by position otherwise
new_positions <- function(problem, newdata, columns) {
  present <- colnames(newdata)
  if (problem$named && !is.null(present)) {
    needed <- problem$names[columns]
    present <- renamed_columns(present, problem$renamed, needed)
    check_present(needed, present, "newdata")
    twice <- intersect(needed, present[duplicated(present)])
    if (length(twice)) {
      stop_newdata("`newdata` has two columns named '%s'", twice[1L])
    }
    return(match(needed, present))
  }
  if (ncol(newdata) != ncol(problem)) {
    stop_newdata("`newdata` must have the %d columns of the fit, not %d: %s", ncol(problem),
                 ncol(newdata), "without names they are matched by position")
  }
  columns
}

# The names of new columns. Names that the problem's data had more than once are numbered in the
# same way. New data with unique names are not changed.
renamed_columns <- function(present, renamed, needed) {
  for (name in unique(renamed[names(renamed) %in% needed])) {
    numbered <- names(renamed)[renamed == name]
    same <- which(present == name)
    if (length(same) == length(numbered)) {
      present[same] <- numbered
    } else if (length(same) != 1L || !all(numbered %in% present)) {
      stop_newdata("`newdata` has '%s' %s, the data of the fit had it %s: %s", name,
                   counted(length(same), "time"), counted(length(numbered), "time"),
                   "give the same features in the same order, or features of unique names")
    }
  }
  present
}

new_frame_matrix <- function(problem, newdata, columns) {
  if (!is.null(problem$design)) {
    return(design_matrix(subset_design(problem$design, columns), newdata, "newdata"))
  }
  chosen <- unclass(newdata)[new_positions(problem, newdata, columns)]
  names(chosen) <- problem$names[columns]
  design_matrix(plain_design(names(chosen)), list2DF(chosen, nrow(newdata)), "newdata")
}

# Covariates z (rows x q) of new data. `adjust` is as for as_problem(), and newdata holds the
# variables of a formula.
new_covariates <- function(problem, newdata, adjust = NULL) {
  z <- new_given_covariates(problem, newdata, adjust)
  new_unpenalised(problem, newdata, z)
}

# The columns without penalty as covariates of new data, beside `z`, the covariates that are not
# columns.
new_unpenalised <- function(problem, newdata, z) {
  columns <- unpenalised(problem)
  if (!length(columns)) return(z)
  values <- as.matrix(new_data_matrix(problem, newdata, columns))
  dimnames(values) <- list(NULL, problem$names[columns])
  cbind(z, values)[, colnames(problem$z), drop = FALSE]
}

# covariates of new data that are not columns of x
new_given_covariates <- function(problem, newdata, adjust) {
  if (inherits(newdata, "sparsels_problem")) return(problem_covariates(problem, newdata))
  if (is_experiment(newdata)) newdata <- experiment_samples(newdata)
  rows <- nrow(newdata)
  design <- problem$adjust_design
  if (is.null(design) && !is.null(adjust)) {
    stop_newdata("the fit has no covariates: `adjust` cannot be given")
  }
  z <- if (is.null(design)) matrix(0, rows, 0L) else new_adjust(design, newdata, adjust)
  if (nrow(z) != rows) {
    stop_newdata("`adjust` must have %d rows, as `newdata` has, not %d", rows, nrow(z))
  }
  with_intercept(z, rows, problem$intercept)
}

# the covariates of a problem given as new data, matched by name
problem_covariates <- function(problem, newdata) {
  needed <- setdiff(given_covariates(problem), "(Intercept)")
  lacking <- setdiff(needed, colnames(newdata$z))
  if (length(lacking)) {
    stop_newdata("`newdata` is a problem that is not adjusted for %s, as the fit is",
                 some_of(lacking))
  }
  z <- newdata$z[, match(needed, colnames(newdata$z)), drop = FALSE]
  with_intercept(z, nrow(newdata), problem$intercept)
}

new_adjust <- function(design, newdata, adjust) {
  if (inherits(adjust, "formula")) {
    if ("." %in% all.vars(adjust) && !is.data.frame(newdata)) {
      stop_newdata("`adjust` has a `.`, which needs a data frame as `newdata`")
    }
    adjust <- stats::get_all_vars(adjust, if (is.data.frame(newdata)) newdata)
  }
  if (!is.null(adjust)) {
    if (design$kind == "matrix" || is.data.frame(adjust)) return(adjust_values(design, adjust))
    stop_newdata("`adjust` must be a data frame, as when fitted, not %s", describe(adjust))
  }
  if (design$kind == "formula") {
    if (is.data.frame(newdata)) return(design_matrix(design, newdata, "newdata"))
  }
  names <- if (design$kind == "matrix") design$names else design$columns$name
  stop_newdata("`adjust` must be given for new data: the fit is adjusted for %s", some_of(names))
}
