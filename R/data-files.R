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
  stop_input_if(!is.matrix(x) || !(is.numeric(x) || is.logical(x)),
                "`x` must be a numeric matrix, not %s%s", describe(x), matrix_hint(x))
  m <- nrow(x)
  bytes <- raw(4 * as.double(length(x)))
  for (block in column_blocks(m, ncol(x))) {
    values <- as.double(x[, block])
    stop_input_if(any(is.finite(values) & abs(values) > largest_float),
                  "`x` has values beyond 3.4e38, which single precision cannot hold")
    bytes[float_bytes(m, block)] <- writeBin(values, raw(), size = 4L)
  }
  structure(list(bytes = bytes, dim = dim(x), dimnames = dimnames(x)),
            class = in_place("float_matrix"))
}

largest_float <- (2 - 2^-23) * 2^127

# where consecutive columns are
float_bytes <- function(m, columns) {
  seq.int(4 * m * (columns[1L] - 1) + 1, length.out = 4 * m * length(columns))
}

is_float_matrix <- function(x) inherits(x, "float_matrix")

# Refuses a float matrix whose parts do not fit each other.
sound_float <- function(x, called) {
  part <- unclass(x)
  sound <- is.raw(part$bytes) && is.integer(part$dim) && length(part$dim) == 2L &&
    !anyNA(part$dim) && length(part$bytes) == 4 * prod(part$dim) && is_fill(part$fill, part$dim[2L])
  stop_input_if(!sound, "`%s` is not a valid float_matrix: make it again", called)
  x
}

#' @export
dim.matrix_in_place <- function(x) unclass(x)$dim

#' @export
dimnames.matrix_in_place <- function(x) unclass(x)$dimnames

#' @export
`dimnames<-.matrix_in_place` <- function(x, value) {
  parts <- unclass(x)
  parts["dimnames"] <- list(check_dimnames(value, parts$dim))
  structure(parts, class = class(x))
}

#' @export
`[.matrix_in_place` <- function(x, i, j, ..., drop = TRUE) {
  given <- nargs() - (if (missing(drop)) 0L else 1L)
  stop_input_if(given != 3L, "a %s has rows and columns: `x[rows, ]`, `x[, columns]`", class(x)[1L])
  names <- dimnames(if (is_file_matrix(x)) sound_file(x) else x)
  rows <- index_of(i, nrow(x), names[[1L]])
  columns <- index_of(j, ncol(x), names[[2L]])
  if (is_file_matrix(x)) check_taken(x, length(rows), length(columns))
  values <- values_in_place(x, rows, columns)
  if (drop) base::drop(values) else values
}

# Rows and columns of a matrix that is read in place, completed by the column means that it holds.
values_in_place <- function(x, rows, columns) {
  values <- .Call(C_values_in_place, x, rows, columns)
  parts <- unclass(x)
  if (!is.null(parts$fill)) values <- complete_by(values, parts$fill[columns])
  names <- parts$dimnames
  if (!is.null(names)) dimnames(values) <- list(names[[1L]][rows], names[[2L]][columns])
  values
}

# the numbers that an index of rows or columns means, as for a matrix
index_of <- function(index, size, names) {
  if (missing(index)) return(seq_len(size))
  if (is.factor(index)) index <- as.character(index)
  known <- is.numeric(index) || is.character(index) || is.logical(index)
  stop_input_if(!known, "invalid subscript, %s", describe(index))
  stop_input_if(is.numeric(index) && any(index < 0, na.rm = TRUE) && any(is.na(index) | index > 0),
                "subscripts cannot mix positive and negative numbers")
  numbers <- if (is.character(index)) match(index, names) else seq_len(size)[index]
  stop_input_if(anyNA(numbers), "subscript out of bounds")
  numbers
}

#' @export
as.matrix.matrix_in_place <- function(x, ...) {
  if (is_file_matrix(x)) x <- sound_file(x)
  values_in_place(x, seq_len(nrow(x)), seq_len(ncol(x)))
}

#' @export
Ops.matrix_in_place <- function(e1, e2) { # nolint: object_name_linter.
  refuse_computing(if (inherits(e1, "matrix_in_place")) e1 else e2, .Generic)
}

#' @export
Math.matrix_in_place <- function(x, ...) refuse_computing(x, .Generic) # nolint: object_name_linter.

#' @export
Summary.matrix_in_place <- function(..., na.rm) { # nolint: object_name_linter.
  refuse_computing(..1, .Generic)
}

#' @exportS3Method base::t
t.matrix_in_place <- function(x) refuse_computing(x, "t")

#' @export
mean.matrix_in_place <- function(x, ...) refuse_computing(x, "mean")

# The methods of the package read such a matrix. Functions of R compute with its copy in memory.
refuse_computing <- function(x, name) {
  stop_input("`%s` does not take a %s: as.matrix() makes a matrix in memory of it", name,
             class(x)[1L])
}

#' @export
print.matrix_in_place <- function(x, ...) {
  parts <- unclass(if (is_file_matrix(x)) sound_file(x) else x)
  kind <- if (is_computed(x)) "computed when read" else "single precision"
  if (is_file_matrix(x)) {
    size <- if (parts$size < 1e8) bytes_words(parts$size) else sprintf("%.3g GB", parts$size / 1e9)
    kind <- paste0(type_words(parts$type), ", ", size)
  }
  cat(sprintf("%s: %d x %d, %s\n", class(x)[1L], nrow(x), ncol(x), kind))
  if (is_file_matrix(x)) cat(sprintf("in %s\n", parts$path))
  invisible(x)
}

# Computed matrix ----------------------------------------------------------------------------------

# Many columns that are functions of few columns, computed as they are read. A computed_matrix has
# the `source`, a matrix of doubles, the columns of it that each column is a function `of` (2 x n,
# the second 0 for a single one), the `functions` in pieces, as curve_pieces() has them, and for
# each column the numbers `by` of its functions (2 x n, 0 for none). A column of two is the product
# of both. C reads it as any dense matrix (src/matrix.h).

# so many values at most are stored where columns are functions of others
most_stored <- 1e7

computed_matrix <- function(x) {
  of <- rbind(seq_len(ncol(x)), 0L, deparse.level = 0L)
  structure(list(source = x, of = of, by = 0L * of, functions = list(), dim = dim(x),
                 dimnames = dimnames(x)), class = in_place("computed_matrix"))
}

# the squares of columns of a single function
squared_columns <- function(x) {
  parts <- unclass(x)
  parts$of[2L, ] <- parts$of[1L, ]
  parts$by[2L, ] <- parts$by[1L, ]
  structure(parts, class = class(x))
}

# Products of columns with each other, by each column of v (columns x columns x columns of v).
weighted_products <- function(x, v) uninterrupted(.Call(C_weighted_products, x, v))

# x with the columns of the source as given, instead of their functions
without_functions <- function(x) {
  parts <- unclass(x)
  parts$of[2L, ] <- 0L
  parts[c("by", "functions")] <- list(0L * parts$of, list())
  parts$fill <- NULL
  structure(parts, class = class(x))
}

# File matrix --------------------------------------------------------------------------------------

#' Matrix in a file
#'
#' Opens a file of plain numbers, column after column, as a matrix that is read in place.
#' [as_problem()] takes it like any other matrix, so `x` may be many times larger than memory.
#' `write_file_matrix()` makes such a file from anything that can be read some columns at a time.
#'
#' Nothing is loaded: the file is mapped into memory, read-only. The operating system reads the used
#' parts and keeps as much as fits into free memory. Every type is converted to double, which is
#' exact, so a fit equals the fit of the same values in memory, to the last bit. Models of some of
#' the rows, as in [cross_validate()], agree to rounding: of a file the other rows have weight 0,
#' where a matrix in memory is cut. Integer types take a half, a quarter or an eighth of the space
#' of doubles; counts up to 255 fit in `"uint8"`.
#' With `codes`, each byte is the code of one of up to 256 values, such as dosages of 0, 0.01, ...,
#' 2, one of which may be missing. Genotypes of PLINK take two bits: [bed_matrix()]. Matrices of
#' bigstatsr and bigmemory are opened by [as_file_matrix()].
#'
#' **What reads columns in place:** `as_problem()`, [greedy_rls()], [random_selection()],
#' [forward_regression()], [omp()], [foba()], [l1_path()] with `solver = "cd"`, [l1_size()],
#' [lambda_max()] and [safe_screen()]; [cross_validate()], [permutation_test()],
#' [stability_selection()], [learning_curve()], [compare_methods()] and [judge()] of these methods;
#' [exchange()], [panel_error()] and [verify()]; and `predict()`, for which a file can also be
#' `newdata`. A model that is trained on some of the rows uses the same `x` with weight 0 on the
#' other rows, so nothing is copied.
#'
#' **What needs `x` in memory:** kernel methods and `rls()`, unless they have fewer basis vectors
#' or columns than rows and read these in blocks, `l1_path(solver = "ipm")`, the other searches,
#' `lambda = "full"`, and `problem[rows, columns]`; and a method of your own in [cross_validate()]
#' and similar functions, which receives training rows as an ordinary matrix.
#' They accept up to 1e8 values, 0.8 GB as doubles. More values are an error that names the function
#' and the size. `x[rows, columns]` has the same limit, and `as.matrix(x)` has none.
#'
#' The file is found by its path, and its size and time of last change are checked each time it is
#' used. The object holds nothing else, so it can be saved by `saveRDS()`, read in another session,
#' and sent to the workers of a future plan, of parallel or of BiocParallel. Each worker opens the
#' file itself, which must have the same path there. A file that was moved, changed or touched must
#' be opened again by `file_matrix()`. It is closed when R's garbage collector finds the object
#' unused.
#'
#' *Never shorten a file in use.* The file is checked before each computation, not within it.
#' Reading beyond the end of a file that is shortened meanwhile ends the R session (signal SIGBUS).
#' Values that are overwritten meanwhile are used as they are at that moment.
#'
#' @param path Path of the file. `write_file_matrix()` makes a new one and never replaces a file.
#' @param nrow,ncol Number of rows and columns. The size of the file must be the product of these
#'   and the bytes of a value. For `write_file_matrix()`, only if `x` is a function.
#' @param type How a value is stored, in little-endian order: `"double"` (8 bytes), `"float"` (4),
#'   `"int32"` (4, with R's missing value), `"int16"` (2, -32768 to 32767), `"uint16"` (2, 0 to
#'   65535) or `"uint8"` (1, 0 to 255); the last three have no missing value. R's own `writeBin()`
#'   and NumPy's `tofile()` of a matrix in Fortran order make such files.
#' @param codes With type `"uint8"`, up to 256 numbers: the values that the bytes 0, 1, 2, ... stand
#'   for, `NA` for a missing one. Bytes beyond them are missing. `write_file_matrix()` refuses a
#'   value that is not exactly one of them.
#' @param dimnames `NULL`, or a list of row names and column names, each a character vector or
#'   `NULL`. `write_file_matrix()` uses the names of `x` by default.
#'
#' @return An object of class `file_matrix`, a list of `path`, `type` (`"codes"` for bytes with
#'   `codes`), `dim`, `dimnames`, `codes` (the value of each code, or `NULL`), `size` (in bytes),
#'   `modified` (when the file was last changed, in seconds since 1970) and `map` (the open file).
#'   It has `dim()`, `dimnames()`, `as.matrix()` and `x[i, j]`, which give R's own matrices.
#' @section Cost: Opening takes no time and no memory. [as_problem()] reads the file once and keeps
#'   about 100 bytes a column. [greedy_rls()] reads it 3 to 25 times for each search of 20 to 50
#'   features, counted by `fit$work$passes` and its progress bar, and requires `(k + 8) n` doubles
#'   and up to 2 GB for the columns that it evaluates. Other criteria than the squared error and
#'   searches that drop columns read it once for each step. [forward_regression()] and [omp()] read
#'   the file once for each column chosen, [l1_path()] a few times for each lambda. A file that fits
#'   into free memory is read from the disk only once.
#'
#'   `write_file_matrix()` holds one block of columns at a time.
#' @section Errors: Of class `sparsels_error_input`, with the path: a file that does not exist,
#'   whose size differs from `nrow`, `ncol` and `type`, or that has changed since it was opened;
#'   values that the type cannot hold; parts of `x` too large for memory.
#' @seealso [bed_matrix()] and [as_file_matrix()] for files of other programs, [float_matrix()] for
#'   half the memory without a file, [safe_screen()].
#' @examples
#' x <- matrix(rpois(1000, 3), 20, dimnames = list(NULL, paste0("gene", 1:50)))
#' path <- tempfile(fileext = ".bin")
#' counts <- write_file_matrix(x, path, type = "uint8")
#' counts
#' counts[1:2, c("gene3", "gene7")]
#' fit <- greedy_rls(counts, x[, 3] - x[, 7] + rnorm(20), k = 3, lambda = 1, size = 2)
#' predict(fit, counts)[1:3]
#'
#' # the same file, opened in another session, and one made block by block
#' again <- file_matrix(path, 20, 50, "uint8", dimnames = dimnames(x))
#' sums <- write_file_matrix(function(columns) outer(1:20, columns, "+"), tempfile(),
#'   type = "int16", nrow = 20, ncol = 1000)
#' sums[1:2, 999:1000]
#'
#' # dosages, a byte each
#' dosages <- (0:200) / 100
#' imputed <- write_file_matrix(matrix(sample(dosages, 200, TRUE), 20), tempfile(), "uint8",
#'   codes = dosages)
#' imputed[1:2, 1:5]
#' @export
file_matrix <- function(path, nrow, ncol, type = "double", codes = NULL, dimnames = NULL) {
  check_given(path, "path")
  check_given(nrow, "nrow")
  check_given(ncol, "ncol")
  check_path(path)
  check_choice(type, "type", names(file_types))
  codes <- check_codes(codes, type)
  dim <- c(check_count(nrow, "nrow", lower = 0L), check_count(ncol, "ncol", lower = 0L))
  new_file_matrix(path, dim, if (is.null(codes)) type else "codes", codes, dimnames)
}

new_file_matrix <- function(path, dim, type, codes = NULL, dimnames = NULL) {
  check_little_endian()
  facts <- file_facts(path)
  stop_input_if(is.na(facts$size), "there is no file '%s'", path)
  wanted <- file_bytes(type, dim)
  stop_input_if(facts$size != wanted, "'%s' has %s, but %d x %d values of type \"%s\" take %s",
                path, bytes_words(facts$size), dim[1L], dim[2L], type_words(type),
                bytes_words(wanted))
  structure(list(
    path = normalizePath(path, "/"), type = type, dim = dim,
    dimnames = check_dimnames(dimnames, dim), codes = codes, size = facts$size,
    modified = facts$modified, map = .Call(C_new_map)
  ), class = in_place("file_matrix"))
}

# The types that a user names: bytes of a value, the values that can be stored, whether only whole
# numbers can be stored, and whether missing values can.
file_types <- list(
  double = list(bytes = 8, low = -Inf, high = Inf, whole = FALSE, missing = TRUE),
  float = list(bytes = 4, low = -Inf, high = Inf, whole = FALSE, missing = TRUE),
  int32 = list(bytes = 4, low = -2147483647, high = 2147483647, whole = TRUE, missing = TRUE),
  int16 = list(bytes = 2, low = -32768, high = 32767, whole = TRUE, missing = FALSE),
  uint16 = list(bytes = 2, low = 0, high = 65535, whole = TRUE, missing = FALSE),
  uint8 = list(bytes = 1, low = 0, high = 255, whole = TRUE, missing = FALSE)
)

bed_header <- 3 # bytes before the first column of a .bed file

# the bytes of a file
file_bytes <- function(type, dim) {
  dim <- as.double(dim)
  if (type == "bed") return(bed_header + ceiling(dim[1L] / 4) * dim[2L])
  prod(dim) * switch(type, codes = 1, "int16 or missing" = 2, file_types[[type]]$bytes)
}

stored_types <- c(names(file_types), "codes", "bed", "int16 or missing")

type_words <- function(type) {
  switch(type, codes = "uint8 codes", bed = "PLINK calls", "int16 or missing" = "int16", type)
}

# Checks ------------------------------------------------------------------------------------------

# values of 256 codes, NA for codes without a value
check_codes <- function(codes, type) {
  if (is.null(codes)) return(NULL)
  stop_input_if(type != "uint8", "`codes` go with `type = \"uint8\"`, not \"%s\"", type)
  valid <- is.numeric(codes) && !is.object(codes) && length(codes) %in% 1:256 &&
    !any(is.infinite(codes)) && !all(is.na(codes))
  refuse_unless(valid, "codes", "up to 256 numbers, the values of the codes 0, 1, 2, ...", codes)
  codes <- as.double(codes)
  codes[is.na(codes)] <- NA
  c(codes, rep(NA, 256L - length(codes)))
}

check_path <- function(path) refuse_unless(is_path(path), "path", "the path of a file", path)

is_path <- function(path) is_string(path) && path != "" && Encoding(path) != "bytes"

check_little_endian <- function() {
  stop_input_if(.Platform$endian != "little",
                "files are little-endian, as this machine is not: they cannot be read in place")
}

# list(size, modified): the size in bytes, NA if the file does not exist, and the time in seconds
# since 1970
file_facts <- function(path) {
  facts <- suppressWarnings(file.info(path, extra_cols = FALSE))
  list(size = if (isFALSE(facts$isdir)) facts$size else NA_real_, modified = as.double(facts$mtime))
}

bytes_words <- function(bytes) counted(bytes, "byte", sprintf("%.0f", bytes))

check_dimnames <- function(dimnames, dim) {
  if (is.null(dimnames)) return(NULL)
  must <- "NULL or a list of %d row names and %d column names, or NULL in their place"
  refuse_unless(is_dimnames(dimnames, dim), "dimnames", sprintf(must, dim[1L], dim[2L]), dimnames)
  if (is.null(dimnames[[1L]]) && is.null(dimnames[[2L]])) NULL else dimnames
}

is_dimnames <- function(dimnames, dim) {
  fits <- function(names, size) is.null(names) || is.character(names) && length(names) == size
  is.list(dimnames) && length(dimnames) == 2L && fits(dimnames[[1L]], dim[1L]) &&
    fits(dimnames[[2L]], dim[2L])
}

is_file_matrix <- function(x) inherits(x, "file_matrix")

sound_file <- function(x, called = "x") {
  part <- unclass(x)
  sound <- is.list(part) && is_path(part$path) && is_path(part$type) &&
    part$type %in% stored_types && is.double(part$codes) == (part$type %in% c("codes", "bed")) &&
    length(part$codes) == switch(part$type, codes = 256L, bed = 4L, 0L) &&
    is.integer(part$dim) && length(part$dim) == 2L && !anyNA(part$dim) && all(part$dim >= 0L) &&
    (is.null(part$dimnames) || is_dimnames(part$dimnames, part$dim)) &&
    is_number(part$size) && part$size == file_bytes(part$type, part$dim) &&
    is_number(part$modified) && typeof(part$map) == "externalptr" &&
    is_fill(part$fill, part$dim[2L])
  stop_input_if(!sound, "`%s` is not a valid file_matrix: open it again by file_matrix()", called)
  x
}

# Refuses a file that has changed since it was opened. C calls this before it reads.
check_file <- function(x) {
  x <- unclass(x)
  now <- file_facts(x$path)
  if (is.na(now$size)) {
    stop_changed(x, NULL)
  } else if (now$size != x$size) {
    stop_changed(x, sprintf("it has %s, not %s", bytes_words(now$size), bytes_words(x$size)))
  } else if (now$modified != x$modified) {
    times <- as.POSIXct(c(now$modified, x$modified), origin = "1970-01-01")
    times <- format(times, "%Y-%m-%d %H:%M:%OS3")
    stop_changed(x, sprintf("it was written at %s, not %s", times[1L], times[2L]))
  }
}

# C calls this if there is another file at the path than the file that is open.
stop_replaced <- function(x) stop_changed(x, "another file took its place")

# `how` the file changed, or NULL if it is gone
stop_changed <- function(x, how) {
  stop_input("the file '%s' of a file_matrix %s: open it again, and make the problem again",
             unclass(x)$path,
             if (is.null(how)) "is not there any more" else paste("has changed:", how))
}

# C calls this if the system does not give the file, or no addresses for it
stop_unmapped <- function(x) {
  x <- unclass(x)
  stop_input_if(file.access(x$path, 4L) < 0L, "the file '%s' of a file_matrix cannot be read: %s",
                x$path, "open it again by file_matrix()")
  message <- sprintf("the file '%s' of a file_matrix cannot be mapped: there is no space for %s",
                     x$path, bytes_words(x$size))
  stop(error_of(message, "sparsels_error_memory"))
}

# Refuses to read more than `max_realised` values of a file into memory.
check_taken <- function(x, rows, columns, who = asking_function()) {
  values <- as.double(rows) * columns
  stop_input_if(
    values > max_realised,
    "%s needs %.0f x %.0f values of the file '%s' in memory, %.3g GB as doubles: %s %.3g GB, %s",
    who, rows, columns, unclass(x)$path, 8e-9 * values, "it takes at most",
    8e-9 * max_realised, "so keep fewer columns first, or give as.matrix() of it if all are meant"
  )
}

# the function of the package that the user called
asking_function <- function() {
  for (i in seq_len(sys.nframe())) {
    fun <- sys.function(i)
    if (!identical(environment(fun), topenv())) next
    name <- sub("(.)[.].*", "\\1", as.character(own_name(fun)))
    return(if (name == "[") "`[`" else paste0(name, "()"))
  }
}

# Writing -----------------------------------------------------------------------------------------

#' @rdname file_matrix
#' @param x What to write: a numeric, integer or logical matrix, a sparse matrix of the Matrix
#'   package, a [float_matrix()] or another `file_matrix`, a `DelayedMatrix` such as one in an HDF5
#'   file; or a function of column numbers that returns a matrix of these columns, for data from
#'   other sources, such as Parquet files or a data base.
#' @param ... Must be empty.
#' @param block Number of columns that are read and written at a time; by default columns with 1e7
#'   values in total, for a `DelayedMatrix` up to 1e8 values, so that complete chunks of its file
#'   are read.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @export
write_file_matrix <- function(x, path, type = "double", ..., codes = NULL, nrow = NULL,
                              ncol = NULL, dimnames = NULL, block = NULL,
                              progress = interactive()) {
  check_given(x, "x")
  check_given(path, "path")
  check_dots(..., known = names(formals(write_file_matrix)))
  check_choice(type, "type", names(file_types))
  values <- check_codes(codes, type)
  check_little_endian()
  dim <- written_dim(x, nrow, ncol)
  if (is.null(dimnames) && !is.function(x)) dimnames <- dimnames(x)
  dimnames <- check_dimnames(dimnames, dim)
  if (!is.null(block)) {
    block <- check_count(block, "block")
  } else {
    # About 1e7 values at a time. If `x` is a DelayedMatrix whose file is in chunks, reading a part
    # of a chunk takes as long as reading the chunk, so whole chunks are read if memory allows it.
    block <- max(1, written_values %/% max(dim[1L], 1))
    chunk <- if (inherits(x, "DelayedMatrix")) DelayedArray::chunkdim(x)[2L]
    whole <- if (!is.null(chunk)) chunk * ceiling(block / chunk)
    if (!is.null(whole) && whole * dim[1L] <= max_realised) block <- whole
  }
  check_new_path(path)
  bar <- progress_bar(check_flag(progress, "progress"), "Writing the file")
  write_blocks(x, path, type, values, dim, block, bar)
  file_matrix(path, dim[1L], dim[2L], type, codes, dimnames)
}

written_dim <- function(x, nrow, ncol) {
  if (is.function(x) && arguments_of(x)) {
    return(c(check_count(nrow, "nrow", lower = 0L), check_count(ncol, "ncol", lower = 0L)))
  }
  if (is_file_matrix(x)) sound_file(x)
  if (inherits(x, "big.matrix")) check_attached(x)
  stop_input_if(length(dim(x)) != 2L || is.data.frame(x),
                "`x` must be a matrix or a function of column numbers, not %s%s", describe(x),
                matrix_hint(x))
  stop_argument_if(!is.null(nrow) || !is.null(ncol),
                   "`nrow` and `ncol` are only for an `x` that is a function")
  as.integer(dim(x))
}

written_values <- 1e7

check_new_path <- function(path) {
  check_path(path)
  stop_input_if(grepl("[/\\\\]$", path) || dir.exists(path),
                "`path` must name a file, not a folder: '%s'", path)
  stop_input_if(file.exists(path),
                "there is a file '%s': give another `path`, or unlink() it first", path)
  stop_input_if(!dir.exists(dirname(path)), "there is no folder '%s' to write `path` to",
                dirname(path))
}

# Some columns of a matrix, or of a function of column numbers, as a matrix of R.
written_columns <- function(x, columns, rows) {
  where <- sprintf("columns %d to %d", columns[1L], max(columns))
  values <- in_context(where, user_value(
    if (is.function(x)) x(columns) else x[, columns, drop = FALSE], "`x` fails"
  ))
  if (length(dim(values)) == 2L) {
    values <- user_value(as.matrix(values), "`x` must be a numeric matrix")
  }
  stop_input_if(!(is.numeric(values) || is.logical(values)) ||
                  !identical(dim(values), c(rows, length(columns))),
                "`x` must give a numeric matrix of %d x %d for %s, not %s", rows, length(columns),
                where, describe(values))
  values
}

# The file is written beside the path and renamed when it is complete. It is removed otherwise.
write_blocks <- function(x, path, type, codes, dim, block, bar) {
  beside <- tempfile("sparsels-", dirname(path))
  file <- tryCatch(file(beside, "wb"), warning = function(w) stop_unwritten(path, w))
  on.exit({
    if (!is.null(file)) close(file)
    unlink(beside)
  })
  bytes <- file_types[[type]]$bytes
  for (number in seq_len(ceiling(dim[2L] / block))) {
    columns <- (block * (number - 1) + 1):min(block * number, dim[2L])
    stored <- stored_values(written_columns(x, columns, dim[1L]), type, codes, columns)
    suppressWarnings(writeBin(stored, file, size = bytes, endian = "little"))
    flush(file)
    if (bytes_written(beside) < bytes * dim[1L] * max(columns)) {
      stop_unwritten(path, sprintf("too little space for %s", bytes_words(bytes * prod(dim))))
    }
    if (!is.null(bar)) bar(max(columns), dim[2L])
  }
  close(file)
  file <- NULL
  check_new_path(path)
  tryCatch(file.rename(beside, path), warning = function(w) stop_unwritten(path, w))
}

bytes_written <- function(path) file.size(path)

# `why` is a condition or a text
stop_unwritten <- function(path, why) {
  if (inherits(why, "condition")) why <- sub(".*'(: |, reason)", "", conditionMessage(why))
  stop_input("the file '%s' cannot be written: %s", shortened(path, 200L, 20L), why)
}

# The values of some columns as R writes them, if the type can hold them, or their codes, counted
# from 0.
stored_values <- function(values, type, codes, columns) {
  if (!is.null(codes)) {
    values[is.na(values)] <- NA
    place <- match(values, codes)
    check_stored(values, matrix(!is.na(place), nrow(values)), columns, "`codes` do not have")
    return(place - 1L)
  }
  rule <- file_types[[type]]
  # the usual case, whose check is quick: whole numbers that can be stored, none missing
  plain <- rule$whole && !anyNA(values) && min(values, 0) >= rule$low &&
    max(values, 0) <= rule$high && (!is.double(values) || all(values == round(values)))
  if (!plain) {
    kept <- if (type == "float") {
      !is.finite(values) | abs(values) <= largest_float
    } else if (rule$whole) {
      valid <- values >= rule$low & values <= rule$high & values == round(values)
      ifelse(is.na(values), rule$missing, valid)
    } else {
      TRUE
    }
    check_stored(values, kept, columns, sprintf("type \"%s\" cannot hold", type))
  }
  if (rule$whole) as.integer(values) else as.double(values)
}

check_stored <- function(values, kept, columns, cannot) {
  if (all(kept)) return(invisible())
  bad <- which(!kept, arr.ind = TRUE)[1L, ]
  stop_input("%s the value %s in row %d, column %d of `x`", cannot,
             format(values[bad[1L], bad[2L]], digits = 15L), bad[1L], columns[bad[2L]])
}

# Plink --------------------------------------------------------------------------------------------

#' Genotypes of PLINK
#'
#' Opens a binary genotype file of PLINK, `.bed`, as a matrix of people and variants that is read in
#' place. A genotype takes two bits, so 20,000 people and 500,000 variants are 2.5 GB instead of 80.
#' `as_problem("cohort.bed", y)`, [greedy_rls()] and the other functions that take data open such a
#' path themselves.
#'
#' A value is the number of copies of the first allele of the `.bim` file (A1): 0, 1 or 2, as
#' `plink --recode A` counts. Missing calls are `NA`. The file has the calls of one variant after
#' the other, as `plink --make-bed` and `plink2 --make-bed` write them.
#'
#' Names of rows are the individual ids of the `.fam` file, or `family:individual` where two people
#' have the same individual id. Names of columns are the variant ids of the `.bim` file; a variant
#' without id (`.`), or with a repeated id, is named by its position and alleles,
#' `chromosome:position:A1:A2`. Names that still are not unique are an error of [as_problem()]
#' unless `make_unique = TRUE`.
#'
#' The response and covariates must be in the order of the `.fam` file. Its columns of sex and
#' phenotype, the fifth and the sixth, are not read: `read.table()` reads them. PLINK writes -9 for
#' missing phenotypes, about which a message is given. The alleles of new data are not compared with
#' the alleles of the fit: `plink --a1-allele` makes both count the same alleles.
#'
#' @param path Path of the `.bed` file.
#' @param bim,fam Paths of the files of variants and of people; by default those beside `path` whose
#'   names end in `.bim` and `.fam` instead.
#' @return A [file_matrix()], people in rows and variants in columns. `x[i, j]` gives numbers.
#' @section Cost: Names are read, about 2 seconds and 100 MB for a million variants; no genotypes
#'   are.
#' @section Errors: Of class `sparsels_error_input`, with the path: a file that does not exist, is
#'   no `.bed` file, or has the calls of one person after the other; a `.bim` or `.fam` file that
#'   does not have six columns, or whose number of lines does not suit the `.bed` file; two people
#'   of the same family and individual id.
#' @seealso [file_matrix()] for what reads columns in place.
#' @examples
#' # three people, two variants: 2 0 NA and 1 1 0 copies of A1
#' stem <- tempfile("cohort")
#' bed <- paste0(stem, ".bed")
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0x1c, 0x3a)), bed)
#' writeLines(c("1 rs1 0 100 A G", "1 rs2 0 200 C T"), paste0(stem, ".bim"))
#' writeLines(paste("fam", c("ann", "bob", "cy"), "0 0 0 -9"), paste0(stem, ".fam"))
#' x <- bed_matrix(bed)
#' x
#' x[, ]
#' @export
bed_matrix <- function(path, bim = NULL, fam = NULL) {
  check_given(path, "path")
  check_path(path)
  stop_input_if(is.na(file_facts(path)$size),
                "`path` must name a .bed file: there is no file '%s'%s", path, matrix_hint(path))
  header <- as.integer(readBin(path, "raw", bed_header))
  stop_input_if(length(header) < bed_header || !all(header[1:2] == c(108L, 27L)) || header[3L] > 1L,
                "'%s' is not a .bed file of PLINK 1: it must begin with the bytes 6c 1b 01", path)
  stop_input_if(header[3L] == 0L, "'%s' has the calls of one person after the other: %s", path,
                "`plink --make-bed` writes a file of one variant after the other")
  variants <- beside_bed(path, bim, "bim")
  people <- beside_bed(path, fam, "fam")
  dimnames <- list(person_names(people), variant_names(variants))
  dim <- lengths(dimnames)
  size <- file_facts(path)$size
  wanted <- file_bytes("bed", dim)
  stop_input_if(size != wanted,
                "'%s' has %s, but %d people in '%s' and %d variants in '%s' take %s", path,
                bytes_words(size), dim[1L], people, dim[2L], variants, bytes_words(wanted))
  new_file_matrix(path, dim, "bed", bed_copies, dimnames)
}

# copies of A1 for the codes 0 to 3
bed_copies <- c(2, NA, 1, 0)

is_bed_path <- function(x) is_path(x) && is.null(dim(x)) && endsWith(tolower(x), ".bed")

# the path of the .bim or .fam file
beside_bed <- function(path, given, ending) {
  if (is.null(given)) given <- paste0(sub("[.]bed$", "", path, ignore.case = TRUE), ".", ending)
  refuse_unless(is_path(given), ending, sprintf("the path of a .%s file", ending), given)
  stop_input_if(is.na(file_facts(given)$size),
                "there is no file '%s', of which '%s' needs the names: give `%s`", given, path,
                ending)
  given
}

# Some of the six columns of a .bim or .fam file, as character vectors.
plink_columns <- function(path, columns) {
  what <- rep(list(NULL), 6L)
  what[columns] <- list("")
  refuse <- function(e) {
    stop_input("'%s' must have six columns, separated by blanks or tabs: %s", path,
               conditionMessage(e))
  }
  read <- tryCatch(scan(path, what, quote = "", comment.char = "", na.strings = character(),
                        multi.line = FALSE, quiet = TRUE, encoding = "UTF-8"),
                   error = refuse, warning = refuse)
  read[columns]
}

person_names <- function(path) {
  ids <- plink_columns(path, 1:2)
  stop_input_if(any(ids[[2L]] == "IID"), "'%s' has a line of names, which a .fam file has not: %s",
                path, "leave the line out")
  if (!anyDuplicated(ids[[2L]])) return(ids[[2L]])
  both <- paste(ids[[1L]], ids[[2L]], sep = ":")
  twice <- anyDuplicated(both)
  stop_input_if(twice, "'%s' has two people with the family and individual ids '%s' (%d and %d)",
                path, both[twice], match(both[twice], both), twice)
  both
}

# The message about -9 among the responses of genotypes, which PLINK writes for missing phenotypes.
say_missing_phenotypes <- function(x, y, called) {
  if (!is_file_matrix(x) || unclass(x)$type != "bed") return(invisible())
  y <- plain_variable(y)
  count <- if (is.numeric(y)) sum(y == -9, na.rm = TRUE) else 0L
  message_if(count > 0L, "sparsels_message_phenotypes",
             "`%s` is -9 in %s, as PLINK writes missing phenotypes: %s", called,
             counted(count, "row"), "give NA there, and `na.action = na.omit` leaves them out")
}

variant_names <- function(path) {
  names <- plink_columns(path, 2L)[[1L]]
  unclear <- names == "." | names %in% names[duplicated(names)]
  if (!any(unclear)) return(names)
  place <- lapply(plink_columns(path, c(1L, 4L:6L)), `[`, unclear)
  replace(names, unclear, do.call(paste, c(place, sep = ":")))
}

# Files of bigstatsr and bigmemory -----------------------------------------------------------------

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
  stop_input("`x` must be an FBM, a big.matrix or the path of a .bed file, not %s%s",
             describe(x), if (length(dim(x)) == 2L) ": write_file_matrix() writes it" else "")
}

#' @export
as_file_matrix.file_matrix <- function(x) sound_file(x)

#' @export
as_file_matrix.character <- function(x) {
  if (is_bed_path(x)) bed_matrix(x) else as_file_matrix.default(x)
}

#' @export
as_file_matrix.FBM <- function(x) {
  codes <- if (inherits(x, "FBM.code256")) check_codes(x$code256, "uint8")
  type <- if (is.null(codes)) stored_type(names(x$type), fbm_types, "an FBM") else "codes"
  new_file_matrix(x$backingfile, as.integer(c(x$nrow, x$ncol)), type, codes)
}

#' @export
as_file_matrix.FBM.code256 <- as_file_matrix.FBM

#' @export
as_file_matrix.big.matrix <- function(x) {
  check_attached(x)
  as_file_matrix(getExportedValue("bigmemory", "describe")(x))
}

# Refuses a big.matrix that was saved and lost its address, without which bigmemory ends R.
check_attached <- function(x, called = "x") {
  need_package("bigmemory")
  stop_input_if(getExportedValue("bigmemory", "is.nil")(x@address),
                "`%s` is a big.matrix that was saved and read again, which lost its file: %s",
                called, "give bigmemory::attach.big.matrix() of its descriptor")
}

#' @export
as_file_matrix.big.matrix.descriptor <- function(x) {
  facts <- x@description
  counts <- facts[c("nrow", "ncol", "totalRows", "totalCols")]
  valid <- all(vapply(counts, is_number, NA)) && is_string(facts$sharedType) &&
    (facts$sharedType != "FileBacked" || is_path(facts$dirname) && is_path(facts$filename))
  stop_input_if(!valid, "`x` is not a valid descriptor of a big.matrix: describe() it again")
  whole <- facts$nrow == facts$totalRows && facts$ncol == facts$totalCols
  stop_input_if(facts$sharedType != "FileBacked" || !whole || isTRUE(facts$separated),
                "a big.matrix is read in place if it is backed by a file, whole and %s: %s",
                "not separated", "x[, ] reads any other, write_file_matrix() writes it to a file")
  type <- stored_type(facts$type, big_matrix_types, "a big.matrix")
  new_file_matrix(file.path(facts$dirname, facts$filename), as.integer(c(facts$nrow, facts$ncol)),
                  type, if (type == "codes") signed_bytes, list(facts$rowNames, facts$colNames))
}

# the types by the names of each package
fbm_types <- c(double = "double", float = "float", integer = "int32", "unsigned short" = "uint16",
               "unsigned char" = "uint8")
big_matrix_types <- c(double = "double", float = "float", integer = "int32",
                      short = "int16 or missing", char = "codes", raw = "uint8")

# bytes that are read as signed numbers, of which the lowest is missing
signed_bytes <- c(0:127, NA, -127:-1) + 0

stored_type <- function(kind, types, what) {
  if (is_string(kind) && kind %in% names(types)) return(types[[kind]])
  stop_input("%s is read in place if its type is one of %s, not %s", what,
             some_of(names(types), 10L, "\""), describe(kind))
}

backed_classes <- c("FBM", "FBM.code256", "big.matrix", "big.matrix.descriptor")

# The contents of a file of another program as a file_matrix. Any other `x` is returned unchanged.
opened_file <- function(x) {
  if (inherits(x, backed_classes) || is_bed_path(x)) as_file_matrix(x) else x
}

# Means of missing values that a matrix carries ----------------------------------------------------

is_fill <- function(fill, columns) {
  is.null(fill) || is.double(fill) && length(fill) == columns && all(is.finite(fill))
}

complete_by <- function(x, means) {
  if (anyNA(if (is.matrix(x)) x else x@x)) fill_gaps(x, gaps_of(x), means) else x
}

# x with its missing values replaced by a value for each column
fill_gaps <- function(x, gaps, values) {
  columns_of <- function(sparse) rep.int(seq_len(ncol(x)), diff(sparse@p))
  columns <- columns_of(gaps)
  places <- function(rows, columns) rows + (columns - 1) * as.double(nrow(x))
  if (inherits(x, "dgCMatrix")) {
    at <- match(places(gaps@i, columns), places(x@i, columns_of(x)))
    stop_input_if(anyNA(at), "`x` of the problem was edited: make it again",
                  class = "sparsels_error_object")
    x@x[at] <- values[columns]
    return(x)
  }
  storage.mode(x) <- "double"
  x[places(gaps@i, columns) + 1] <- values[columns]
  x
}

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
