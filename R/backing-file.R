#' Matrices of bigstatsr and bigmemory, and genotypes of PLINK
#'
#' Opens the file behind a matrix of another package as a [file_matrix()], which is read in place.
#' [as_problem()], and every function that takes data, does so itself: `greedy_rls(fbm, y)` needs no
#' call of this function.
#'
#' * An `FBM` of bigstatsr: of doubles, floats, integers, or unsigned integers of one or two bytes;
#'   an `FBM.code256` has the values of its `code256`, as bigsnpr's genotypes and dosages have.
#' * A `big.matrix` of bigmemory that is backed by a file, or its descriptor, as
#'   `bigmemory::describe()` gives it and `dget()` reads it: of doubles, floats, integers, short
#'   integers, bytes (`"char"`) or `"raw"`. Missing values are missing. A part of a matrix
#'   (`sub.big.matrix()`) and one of `separated` columns are not read in place.
#' * The path of a `.bed` file, see [bed_matrix()].
#'
#' Values that the other package writes into the file afterwards are a change of the file, which is
#' an error: see [file_matrix()].
#'
#' @param x A matrix of one of these kinds, the path of a `.bed` file, or a `file_matrix`, which is
#'   returned as it is.
#' @return A [file_matrix()].
#' @section Errors: Of class `sparsels_error_input`: a matrix that has no file, whose type is not
#'   listed above, or whose file is not there or of another size.
#' @examples
#' \dontrun{
#' fbm <- bigstatsr::as_FBM(matrix(rnorm(2000), 20))
#' as_file_matrix(fbm)
#' greedy_rls(fbm, rnorm(20), k = 2, lambda = 1, size = 1)
#' }
#' @export
as_file_matrix <- function(x) {
  check_given(x, "x")
  UseMethod("as_file_matrix")
}

#' @export
as_file_matrix.default <- function(x) {
  stop_input(sprintf("`x` must be an FBM, a big.matrix or the path of a .bed file, not %s%s",
                     describe(x), if (length(dim(x)) == 2L) ": write_file_matrix() writes it" else
                       ""))
}

#' @export
as_file_matrix.file_matrix <- function(x) sound_file(x)

#' @export
as_file_matrix.character <- function(x) {
  if (is_bed_path(x)) bed_matrix(x) else as_file_matrix.default(x)
}

# nolint start: object_name_linter. Classes of other packages.

#' @export
as_file_matrix.FBM <- function(x) {
  kind <- names(x$type)
  codes <- if (inherits(x, "FBM.code256")) check_codes(x$code256, "uint8")
  type <- if (is.null(codes)) stored_type(kind, fbm_types, "an FBM") else "codes"
  new_file_matrix(x$backingfile, as.integer(c(x$nrow, x$ncol)), type, codes)
}

#' @export
as_file_matrix.FBM.code256 <- as_file_matrix.FBM

#' @export
as_file_matrix.big.matrix <- function(x) {
  need_package("bigmemory")
  describe_big <- getExportedValue("bigmemory", "describe")
  as_file_matrix(describe_big(x))
}

#' @export
as_file_matrix.big.matrix.descriptor <- function(x) {
  facts <- x@description
  whole <- facts$nrow == facts$totalRows && facts$ncol == facts$totalCols
  if (facts$sharedType != "FileBacked" || !whole || isTRUE(facts$separated)) {
    stop_input(sprintf("a big.matrix is read in place if it is backed by a file, whole and %s: %s",
                       "not separated", "write_file_matrix() writes any other to a file"))
  }
  type <- stored_type(facts$type, big_matrix_types, "a big.matrix")
  new_file_matrix(file.path(facts$dirname, facts$filename), as.integer(c(facts$nrow, facts$ncol)),
                  type, if (type == "codes") signed_bytes, list(facts$rowNames, facts$colNames))
}

# nolint end

# the types by the names of each package
fbm_types <- c(double = "double", float = "float", integer = "int32", "unsigned short" = "uint16",
               "unsigned char" = "uint8")
big_matrix_types <- c(double = "double", float = "float", integer = "int32",
                      short = "int16 or missing", char = "codes", raw = "uint8")

# bytes that are read as signed numbers, of which the lowest is missing
signed_bytes <- c(0:127, NA, -127:-1) + 0

stored_type <- function(kind, types, what) {
  if (is_string(kind) && kind %in% names(types)) return(types[[kind]])
  stop_input(sprintf("%s is read in place if its type is one of %s, not %s", what,
                     some_of(names(types), 10L, "\""), describe(kind)))
}

backed_classes <- c("FBM", "FBM.code256", "big.matrix", "big.matrix.descriptor")

# The contents of a file of another program as a file_matrix. Any other `x` is returned unchanged.
opened_file <- function(x) {
  if (inherits(x, backed_classes) || is_bed_path(x)) as_file_matrix(x) else x
}
