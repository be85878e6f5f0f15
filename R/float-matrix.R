#' Single-precision matrix
#'
#' Stores a numeric matrix in four bytes a value, half of what R takes. [as_problem()] reads it in
#' place, so that data too large for memory as doubles may fit.
#'
#' Values are rounded to the nearest of 24 binary digits, a relative error of at most
#' \eqn{2^{-24}}{2^-24} or 6e-8; all computation with them is in double precision. So results are
#' exact for the rounded matrix: `as_problem(float_matrix(x), y)` equals
#' `as_problem(as.matrix(float_matrix(x)), y)`. Searches and l1 paths read columns in place. Methods
#' that need more than columns make a copy in doubles of what they need: kernel methods of all of
#' `x`, `forward_regression()` and the other searches by the training error of the usable columns.
#'
#' @param x A numeric or logical matrix, m x n, whose finite values are below 3.4e38 in size.
#'   Missing values are kept, and refused by [as_problem()].
#' @return An object of class `float_matrix`, a list of `bytes` (a raw vector, column by column),
#'   `dim` and `dimnames`. It has `dim()`, `dimnames()`, `as.matrix()` and `x[i, j]`, which give R's
#'   own matrices.
#' @section Cost: 4 m n bytes beside `x`, and O(mn) time.
#' @section Errors: Of class `sparsels_error_input` when `x` is no numeric matrix or too large in
#'   value.
#' @examples
#' x <- matrix(rnorm(1000), 20, dimnames = list(NULL, paste0("gene", 1:50)))
#' half <- float_matrix(x)
#' half
#' greedy_rls(half, x[, 3] - x[, 7], k = 3, lambda = 1, size = 2)
#' @export
float_matrix <- function(x) {
  check_given(x, "x")
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    stop_input(sprintf("`x` must be a numeric matrix, not %s%s", describe(x), drop_hint(x)))
  }
  m <- nrow(x)
  bytes <- raw(4 * as.double(length(x)))
  for (block in column_blocks(m, ncol(x))) {
    values <- as.double(x[, block])
    if (any(is.finite(values) & abs(values) > largest_float)) {
      stop_input("`x` has values beyond 3.4e38, which single precision cannot hold")
    }
    bytes[float_bytes(m, block)] <- writeBin(values, raw(), size = 4L)
  }
  structure(list(bytes = bytes, dim = dim(x), dimnames = dimnames(x)), class = "float_matrix")
}

largest_float <- (2 - 2^-23) * 2^127

# where consecutive columns are
float_bytes <- function(m, columns) {
  seq.int(4 * m * (columns[1L] - 1) + 1, length.out = 4 * m * length(columns))
}

is_float_matrix <- function(x) inherits(x, "float_matrix")

sound_float <- function(x, called) {
  if (is_sound_float(x)) return(x)
  stop_input(sprintf("`%s` is not a valid float_matrix: make it again", called))
}

# whether the parts of a float matrix fit each other
is_sound_float <- function(x) {
  x <- unclass(x)
  is.raw(x$bytes) && is.integer(x$dim) && length(x$dim) == 2L && !anyNA(x$dim) &&
    length(x$bytes) == 4 * prod(x$dim) && is_fill(x$fill, x$dim[2L])
}

#' @export
dim.float_matrix <- function(x) unclass(x)$dim

#' @export
dimnames.float_matrix <- function(x) unclass(x)$dimnames

#' @export
`dimnames<-.float_matrix` <- function(x, value) {
  parts <- unclass(x)
  parts["dimnames"] <- list(value)
  structure(parts, class = "float_matrix")
}

#' @export
`[.float_matrix` <- function(x, i, j, ..., drop = TRUE) {
  given <- nargs() - (if (missing(drop)) 0L else 1L)
  if (given != 3L) {
    stop_input("a float_matrix has rows and columns: `x[rows, ]`, `x[, columns]`")
  }
  names <- dimnames(x)
  rows <- index_of(i, nrow(x), names[[1L]])
  columns <- index_of(j, ncol(x), names[[2L]])
  values <- vapply(columns, function(column) float_column(x, column)[rows], numeric(length(rows)))
  values <- as_carried(x, matrix(values, length(rows)), columns)
  if (!is.null(names)) dimnames(values) <- list(names[[1L]][rows], names[[2L]][columns])
  if (drop) base::drop(values) else values
}

# the numbers that an index of rows or columns means, as for a matrix
index_of <- function(index, size, names) {
  if (missing(index)) return(seq_len(size))
  if (is.factor(index)) index <- as.character(index)
  numbers <- if (is.character(index)) match(index, names) else seq_len(size)[index]
  if (anyNA(numbers)) stop_input("subscript out of bounds")
  numbers
}

float_column <- function(x, column) {
  m <- nrow(x)
  readBin(unclass(x)$bytes[float_bytes(m, column)], "double", m, size = 4L)
}

#' @export
as.matrix.float_matrix <- function(x, ...) x[, , drop = FALSE]

#' @export
print.float_matrix <- function(x, ...) {
  cat(sprintf("float_matrix: %d x %d, single precision\n", nrow(x), ncol(x)))
  invisible(x)
}
