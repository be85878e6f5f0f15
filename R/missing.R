# Missing values of x, which `missing = "mean"` replaces by the means of their columns. The means
# are weighted means of the observed values, so rows of weight 0 do not count. They are computed
# again whenever a problem gets other rows or weights.
#
# A problem has `fill`, the column means, `missing`, the number of missing values in each column,
# and an x that is complete. For x in memory `gaps` holds the places of the replaced values. For x
# read in place the matrix holds the means, and the functions that read it replace missing values.

# Making x complete -------------------------------------------------------------------------------

# The problem completed by these column means. Without `gaps` x is as given, and the columns that
# have missing values by the counts of the problem are searched.
put_means <- function(problem, means) {
  problem$fill <- means
  if (!any(problem$missing > 0L)) return(problem)
  if (is_read_in_place(problem$x)) {
    problem$x <- carrying(problem$x, means)
  } else {
    if (is.null(problem$gaps)) problem$gaps <- gaps_of(problem$x, which(problem$missing > 0L))
    problem$x <- fill_gaps(problem$x, problem$gaps, means)
  }
  problem
}

# list(mean: weighted mean of the observed values of each column, NaN where none has a weight,
# missing: the number of missing values)
column_means <- function(problem, threads = 1L) {
  x <- as_given(problem)$x
  if (inherits(x, "dgCMatrix")) sparse_means(x, problem$weights)
  else dense_means(x, problem$weights, threads)
}

dense_means <- function(x, w, threads = 1L) {
  means <- .Call(C_column_means, x, w, threads)
  if (is.null(means)) raise_interrupt() else means
}

sparse_means <- function(x, w) {
  sums <- function(values) {
    x@x <- as.double(values)
    unname(Matrix::colSums(x))
  }
  row_w <- w[x@i + 1L]
  lacking <- is.na(x@x)
  there_w <- ifelse(lacking, 0, row_w)
  zeros_w <- ifelse(diff(x@p) == nrow(x), 0, pmax(sum(w) - sums(row_w), 0))
  list(mean = sums(there_w * ifelse(lacking, 0, x@x)) / (zeros_w + sums(there_w)),
       missing = sums(lacking))
}

# Refuses missing values in columns of factors, which have no mean.
check_coded <- function(problem, called) {
  bad <- which(coded_columns(problem$design) & problem$missing > 0L)
  if (!length(bad)) return(invisible())
  row <- which(is.na(problem$x[, bad[1L]]))[1L]
  stop_input(sprintf(
    "`%s` has missing values in columns of factors (first: row %d, column '%s'), %s: %s",
    called, row, problem$names[bad[1L]], "which have no mean", "leave out these rows"
  ))
}

# A matrix that is read in place holds the column means that replace its missing values.
is_read_in_place <- function(x) inherits(x, c("file_matrix", "float_matrix"))

carrying <- function(x, means) {
  parts <- unclass(x)
  parts$fill <- means
  structure(parts, class = class(x))
}

# Columns that were read from a matrix in place, completed by the column means that it holds.
as_carried <- function(x, values, columns) {
  means <- unclass(x)$fill
  if (is.null(means)) values else complete_by(values, means[columns])
}

is_fill <- function(fill, columns) {
  is.null(fill) || is.double(fill) && length(fill) == columns && all(is.finite(fill))
}

# Where values are missing ------------------------------------------------------------------------

# The places of missing values as a sparse matrix of the Matrix package, from x as given. Only some
# columns are searched.
gaps_of <- function(x, columns = seq_len(ncol(x))) {
  if (inherits(x, "dgCMatrix")) {
    at <- which(is.na(x@x))
    rows <- x@i[at]
    counts <- tabulate(findInterval(at - 1L, x@p), ncol(x))
  } else {
    rows <- lapply(columns, function(j) which(is.na(x[, j])) - 1L)
    counts <- replace(integer(ncol(x)), columns, lengths(rows))
    rows <- as.integer(unlist(rows))
  }
  Matrix::sparseMatrix(i = rows, p = c(0L, cumsum(counts)), dims = dim(x), index1 = FALSE)
}

# x with its missing values replaced by a value for each column
fill_gaps <- function(x, gaps, values) {
  columns <- rep.int(seq_len(ncol(x)), diff(gaps@p))
  if (inherits(x, "dgCMatrix")) {
    x@x[stored_at(x, gaps@i, columns)] <- values[columns]
    return(x)
  }
  storage.mode(x) <- "double"
  x[gaps@i + 1 + (columns - 1) * as.double(nrow(x))] <- values[columns]
  x
}

# where the entries of some rows (from 0) and columns of a sparse matrix are stored
stored_at <- function(x, rows, columns) {
  places <- function(rows, columns) rows + (columns - 1) * as.double(nrow(x))
  at <- match(places(rows, columns), places(x@i, rep.int(seq_len(ncol(x)), diff(x@p))))
  if (anyNA(at)) stop_input("`x` of the problem was edited: make it again", "sparsels_error_object")
  at
}

# x as given and its parts -------------------------------------------------------------------------

# The problem with its x as given. It keeps the places of missing values.
as_given <- function(problem) {
  if (is_read_in_place(problem$x)) problem$x <- carrying(problem$x, NULL)
  if (!is.null(problem$gaps)) {
    problem$x <- fill_gaps(problem$x, problem$gaps, rep(NA_real_, ncol(problem$x)))
  }
  problem
}

# The problem with some rows and columns of its x, completed by the column means of the problem.
part_of_x <- function(problem, rows, columns) {
  carried <- is_read_in_place(problem$x) && any(problem$missing > 0L)
  x <- (if (carried) as_given(problem) else problem)$x[rows, columns, drop = FALSE]
  problem$gaps <- if (carried) gaps_of(x) else problem$gaps[rows, columns, drop = FALSE]
  problem$x <- x
  if (is.null(problem$fill)) return(problem)
  problem$missing <- if (is.null(problem$gaps)) integer(ncol(x)) else diff(problem$gaps@p)
  means <- problem$fill[columns]
  if (carried) return(put_means(problem, means))
  problem$fill <- means
  problem
}

# Columns among the covariates ---------------------------------------------------------------------

# The problem with its columns of factor 0 among the covariates, with their current values.
with_unpenalised <- function(problem) {
  columns <- unpenalised(problem)
  if (!length(columns)) return(problem)
  given <- problem$z[, given_covariates(problem), drop = FALSE]
  rows <- seq_len(nrow(problem))
  problem$z <- cbind(given, column_covariates(problem, rows, problem$fill))
  problem
}

# The columns of factor 0 in some rows, with missing values replaced by these column means.
column_covariates <- function(problem, rows, means) {
  columns <- unpenalised(problem)
  z <- as.matrix(values_filled_by(problem, rows, columns, means)) + 0
  dimnames(z) <- list(NULL, problem$names[columns])
  z
}

# The covariates of some rows, with missing values of columns among them replaced by these means.
covariates_filled_by <- function(problem, rows, means) {
  z <- problem$z[rows, , drop = FALSE]
  if (is.null(means) || !length(unpenalised(problem))) return(z)
  columns <- column_covariates(problem, rows, means)
  z[, colnames(columns)] <- columns
  z
}

# By the means of a training set ------------------------------------------------------------------

# The problem with the column means of a training set of the same columns, for computations on rows
# that were held out.
filled_like <- function(problem, train) {
  if (is.null(problem$fill)) problem else with_unpenalised(put_means(problem, train$fill))
}

# Some columns of some rows, completed by column means, which have an element for each column of the
# problem.
values_filled_by <- function(problem, rows, columns, means) {
  part <- part_of_x(problem, rows, columns)
  if (is.null(means)) part$x else put_means(part, means[columns])$x
}

# New data of some columns of a problem. Columns of factors have no mean and are not changed.
complete_new <- function(problem, x, columns) {
  if (is.null(problem$fill)) return(x)
  means <- problem$fill[columns]
  means[coded_columns(subset_design(problem$design, columns))] <- NA
  complete_by(x, means)
}

complete_by <- function(x, means) {
  if (anyNA(if (is.matrix(x)) x else x@x)) fill_gaps(x, gaps_of(x), means) else x
}

# Words --------------------------------------------------------------------------------------------

# "1,234 missing values in 56 columns, replaced by column means"
missing_words <- function(missing) {
  sprintf("%s missing value%s in %s, replaced by column means", whole_number(sum(missing)),
          if (sum(missing) == 1) "" else "s", counted(sum(missing > 0), "column"))
}
