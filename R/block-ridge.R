# Ridge regression with one lambda for each block of columns, chosen by held-out errors. A model
# equals a model of rls() with penalty factors: block b has the lambda of the first block times its
# ratio. For each vector of ratios, one decomposition gives the held-out errors of every lambda of
# the first block. The decomposed matrix is a sum of matrices that are computed once for each block.

# Blocks as given ---------------------------------------------------------------------------------

# A list of column numbers under the names of the blocks, from a list of columns or a vector with
# the block of every column. Each column that is penalised must be in one block.
check_blocks <- function(blocks, problem) {
  columns <- if (is.list(blocks) && !is.data.frame(blocks)) {
    listed_blocks(blocks, problem)
  } else {
    labelled_blocks(blocks, problem)
  }
  count <- tabulate(unlist(columns), ncol(problem))
  twice <- which(count > 1L)
  if (length(twice)) {
    stop_input(sprintf("`blocks` has column '%s' twice", problem$names[twice[1L]]),
               "sparsels_error_argument")
  }
  lacking <- which(count == 0L & problem$usable)
  if (length(lacking)) {
    stop_input(sprintf("`blocks` must have every column, but lacks %s",
                       some_of(problem$names[lacking])), "sparsels_error_argument")
  }
  columns
}

listed_blocks <- function(blocks, problem) {
  named <- names(blocks)
  if (!length(blocks) || is.null(named) || any(named == "") || anyDuplicated(named)) {
    stop_input(paste("`blocks` must be a list with a different name for each block, such as",
                     "list(clinic = c(\"age\", \"sex\"), genes = 3:100)"),
               "sparsels_error_argument")
  }
  lapply(stats::setNames(named, named), function(name) {
    in_context(sprintf("block '%s' of `blocks`", name), columns_given(blocks[[name]], problem))
  })
}

labelled_blocks <- function(blocks, problem) {
  if (!is.atomic(blocks) || length(blocks) != ncol(problem) || anyNA(blocks)) {
    stop_input(sprintf("`blocks` must be a named list of columns, or %s %d columns, not %s",
                       "a vector with the block of each of the", ncol(problem), describe(blocks)),
               "sparsels_error_argument")
  }
  split(seq_len(ncol(problem)), factor(blocks, unique(blocks)))
}

# Refuses a problem so tall that its rows are read in blocks.
check_held_in_memory <- function(problem) {
  if (!reads_blocks(problem, sum(problem$usable))) return(invisible())
  stop_input(paste("`blocks` needs all columns in memory, and `x` is so tall that its rows are",
                   "read in parts: use fewer rows, or `penalty` with factors of your own"),
             "sparsels_error_argument")
}

# The search --------------------------------------------------------------------------------------

# The ratios that are tried: the lambda of a block divided by the lambda of the first block.
block_ratios <- 2^(-15:15)

# The best ratios, and every model tried: list(columns, ratio, lambda, tried). With two blocks every
# ratio is tried. With more blocks the search starts from equal lambdas. Each block in turn takes
# the best ratio given the other blocks, until no ratio changes. Of equally good ratios the nearest
# to the present ratio is taken.
search_blocks <- function(problem, columns, control) {
  products <- block_products(problem, columns)
  tried <- list()
  errors_at <- function(ratio) {
    key <- paste(ratio, collapse = " ")
    if (is.null(tried[[key]])) tried[[key]] <<- ratio_errors(problem, products, ratio, control)
    tried[[key]]$criterion
  }
  best <- stats::setNames(rep(1, length(columns)), names(columns))
  error <- min(errors_at(best))
  repeat {
    before <- best
    for (block in names(columns)[-1L]) {
      for (value in block_ratios[order(abs(log(block_ratios / best[[block]])))]) {
        ratio <- replace(best, block, value)
        if (min(errors_at(ratio)) < error) {
          best <- ratio
          error <- min(errors_at(ratio))
        }
      }
    }
    if (length(columns) < 3L || identical(before, best)) break
  }
  of_best <- tried[[paste(best, collapse = " ")]]
  row <- choose_row(of_best$criterion, simplest = order(-of_best[[1L]]))
  list(columns = columns, ratio = best, lambda = unlist(of_best[row, names(columns)]),
       tried = do.call(rbind, unname(tried)))
}

# The held-out errors of every lambda of the first block: a data frame with the lambda of each block
# under its name, and the errors.
ratio_errors <- function(problem, products, ratio, control) {
  spectrum <- blocks_spectrum(problem, products, ratio)
  data.frame(outer(control$lambda, ratio), spectrum_errors(spectrum, problem, control),
             check.names = FALSE)
}

# With more columns than rows, XX' of each block (m x m), otherwise X and X'X. `block` has the block
# of each usable column.
block_products <- function(problem, columns) {
  usable <- which(problem$usable)
  block <- rep(seq_along(columns), lengths(columns))[match(usable, unlist(columns))]
  if (nrow(problem) > length(usable)) {
    x <- working_matrix(problem, usable)
    return(list(block = block, x = x, gram = crossprod(x)))
  }
  list(rows = lapply(seq_along(columns), function(b) {
    problem$usable <- replace(logical(ncol(problem)), usable[block == b], TRUE)
    products_of_rows(problem)
  }))
}

blocks_spectrum <- function(problem, products, ratio) {
  if (is.null(products$x)) {
    return(spectrum_of_products(problem, Reduce(`+`, Map(`/`, products$rows, ratio))))
  }
  by <- 1 / sqrt(ratio[products$block])
  spectrum_of_products(problem, products$gram * outer(by, by),
                       products$x * rep(by, each = nrow(problem)))
}

# The problem in which the penalty of each block is multiplied by its ratio.
with_block_ratios <- function(problem, blocks) {
  ratio <- rep(1, ncol(problem))
  ratio[unlist(blocks$columns)] <- rep(blocks$ratio, lengths(blocks$columns))
  if (all(ratio == 1)) return(problem)
  without <- problem$scale / penalty_divisor(problem)
  problem$penalty <- (if (is.null(problem$penalty)) 1 else problem$penalty) * ratio
  problem$scale <- without * penalty_divisor(problem)
  problem
}

# Words -------------------------------------------------------------------------------------------

blocks_words <- function(blocks) {
  each <- sprintf("%s %s (%s)", names(blocks$lambda), vapply(blocks$lambda, shown_parameter, ""),
                  vapply(lengths(blocks$columns), counted, "", "column"))
  sprintf("lambda of each block: %s; %s models tried", paste(each, collapse = ", "),
          format(nrow(blocks$tried), big.mark = ","))
}
