# Matrices that are read some columns at a time.

# column numbers in blocks of about `values` matrix entries each, as far as these may be in memory
column_blocks <- function(rows, columns, values = 1e5) {
  size <- max(1L, min(values, max_realised) %/% max(rows, 1L))
  lapply(seq_len(ceiling(columns / size)), function(block) {
    seq.int((block - 1L) * size + 1L, min(block * size, columns))
  })
}

# The most values of a DelayedMatrix that are read into memory unasked, 800 MB as doubles. Of a
# sparse one only the values that are not 0 count.
max_realised <- 1e8

# A DelayedMatrix in memory: a plain matrix, or a sparse one of the Matrix package.
read_delayed <- function(x, called) {
  need_package("DelayedArray")
  if (!ncol(x)) return(as.matrix(x))
  blocks <- column_blocks(nrow(x), ncol(x), 1e7)
  if (DelayedArray::is_sparse(x)) return(read_sparse(x, blocks, called))
  size <- prod(as.double(dim(x)))
  if (size > max_realised) stop_delayed(x, called, sprintf("%.3g GB in memory", 8e-9 * size))
  values <- NULL
  for (block in blocks) {
    part <- as.matrix(x[, block, drop = FALSE])
    if (is.null(values)) values <- matrix(part[0L][1L], nrow(x), ncol(x), dimnames = dimnames(x))
    values[, block] <- part
  }
  values
}

read_sparse <- function(x, blocks, called) {
  stored <- 0
  parts <- lapply(blocks, function(block) {
    part <- methods::as(x[, block, drop = FALSE], "dgCMatrix")
    stored <<- stored + length(part@x)
    if (stored > max_realised) {
      stop_delayed(x, called, sprintf("sparse, more than %.3g GB in memory", 12e-9 * stored))
    }
    part
  })
  do.call(cbind, unname(parts))
}

stop_delayed <- function(x, called, size) {
  stop_input(sprintf(
    "`%s` is a DelayedMatrix of %.0f x %.0f values, %s: %s, or as.matrix() if all are meant",
    called, nrow(x), ncol(x), size, "first keep fewer features, such as those that vary most"
  ))
}

# at most `n` of `count` rows, the first and the last among them
spread_rows <- function(count, n) round(seq(1, count, length.out = min(n, count)))
