# The columns of x: their possible values, and their names.

# any matrix as a plain numeric or logical matrix, or a dgCMatrix, without a copy of a plain matrix
as_values <- function(x, called = "x") {
  if (inherits(x, "DelayedMatrix")) x <- read_delayed(x, called)
  x <- opened_file(x)
  x <- as_valid(x, called)
  if (inherits(x, "dgCMatrix")) return(x)
  if (inherits(x, "sparseMatrix")) {
    return(methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  if (is_float_matrix(x)) return(sound_float(x, called))
  if (is_file_matrix(x)) return(sound_file(x, called))
  if (isS4(x)) x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) {
    stop_input(sprintf("`%s` must be a numeric matrix, not %s%s", called, describe(x),
                       if (is.character(x)) ": give factors in a data frame" else ""))
  }
  # arithmetic on a class of integers, such as integer64, may differ from arithmetic on integers
  if (is.object(x)) as_doubles(x) else x
}

# a dense matrix converted to doubles, since integer arithmetic may overflow
as_doubles <- function(x) {
  if (is_float_matrix(x) || is_file_matrix(x)) return(x[, , drop = FALSE])
  if (is.matrix(x) && !is.double(x)) storage.mode(x) <- "double"
  x
}

# Refuses a matrix of the Matrix package whose slots are inconsistent, since C trusts the slots when
# it reads memory. Other classes have their own checks.
as_valid <- function(x, called) {
  if (!inherits(x, c("Matrix", "sparseVector"))) return(x)
  said <- methods::validObject(x, test = TRUE)
  if (!isTRUE(said)) {
    stop_input(sprintf("`%s` is not a valid %s: %s", called, class(x), said[1L]))
  }
  x
}

check_values <- function(x, called) {
  check_size(x, called)
  check_finite(x, called)
}

check_size <- function(x, called) {
  if (ncol(x) < 1L) stop_input(sprintf("`%s` must have at least one column to choose from", called))
  if (nrow(x) < 2L) {
    stop_input(sprintf("`%s` must have at least 2 rows, not %d", called, nrow(x)))
  }
}

# Refuses missing and infinite values, or with `gaps` only infinite values.
check_finite <- function(x, called, gaps = FALSE, hint = NULL) {
  bad <- if (inherits(x, "dgCMatrix")) sparse_not_finite(x, gaps) else dense_not_finite(x, gaps)
  if (!bad$count) return(invisible(x))
  column <- if (is.null(colnames(x))) bad$column else sprintf("'%s'", colnames(x)[bad$column])
  kind <- if (gaps) "infinite value" else "missing or infinite value"
  stop_input(sprintf("`%s` has %s (first: row %d, column %s)%s", called,
                     counted(bad$count, kind), bad$row, column,
                     if (bad$missing && !is.null(hint)) paste0(": ", hint) else ""))
}

# the options for missing values
missing_hint <- function(called) {
  paste0(if (called == "data") "`na.action = na.omit` leaves out rows with missing values, ",
         "`missing = \"mean\"` replaces missing numbers by the mean of their column")
}

# whether values are infinite or, without `gaps`, missing
not_finite <- function(gaps) if (gaps) is.infinite else function(values) !is.finite(values)

# The number and the first place of missing and infinite values. Missing ones are counted in C, and
# only columns whose mean is not finite (an infinite or a very large value) are searched, so that x
# is not copied. With `gaps` missing values do not count.
dense_not_finite <- function(x, gaps = FALSE) {
  found <- dense_means(x, rep(1, nrow(x)))
  missing <- if (gaps) 0 * found$missing else found$missing
  infinite <- 0 * missing
  odd <- which(!is.finite(found$mean) & found$missing < nrow(x))
  infinite[odd] <- vapply(odd, function(j) sum(is.infinite(x[, j])), 0L)
  column <- which(missing + infinite > 0)[1L]
  row <- if (!is.na(column)) which(not_finite(gaps)(x[, column]))[1L]
  list(count = sum(missing + infinite), row = row, column = column, missing = any(missing > 0))
}

sparse_not_finite <- function(x, gaps = FALSE) {
  bad <- which(not_finite(gaps)(x@x))
  list(count = length(bad), row = x@i[bad[1L]] + 1L, column = findInterval(bad[1L] - 1L, x@p),
       missing = anyNA(x@x[bad]))
}

# `unit` is the thing that has the names: a column of a matrix, or a row of an experiment
check_names <- function(names, called, unit = "column", unique_by = NULL) {
  if (is.null(names)) return(invisible())
  empty <- which(is.na(names) | names == "")
  if (length(empty)) {
    stop_input(sprintf("`%s` has %s without a name (first: %s %d): name all or none",
                       called, counted(length(empty), unit), unit, empty[1L]))
  }
  twice <- anyDuplicated(names)
  if (twice) {
    if (is.null(unique_by)) {
      unique_by <- sprintf("make.unique(colnames(%s)) gives unique names", called)
    }
    stop_input(sprintf("`%s` has two %ss named '%s' (%d and %d): %s", called, unit, names[twice],
                       match(names[twice], names), twice, unique_by))
  }
}

unique_hint <- function(names) {
  sprintf("`make_unique = TRUE` numbers them, as %s <- make.unique(%s) does", names, names)
}

# The names that occur more than once, by the names that make.unique() gives the columns.
repeated_names <- function(names) {
  repeated <- names %in% names[duplicated(names)]
  if (any(repeated)) stats::setNames(names[repeated], make.unique(names)[repeated])
}

# "V1", "V2" and so on, which take no memory until all names are read
numbered_names <- function(count) .Call(C_numbered_names, count)

given_row_names <- function(data) {
  if (is.data.frame(data) && .row_names_info(data) > 0L) row.names(data)
}
