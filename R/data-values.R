# The columns of x: their possible values, and their names.

# any matrix as a plain numeric or logical matrix, or a dgCMatrix, without a copy of a plain matrix
#' @srrstats {G2.4} `R/data-values.R`, `R/data-response.R`: integer, logical, factor and character
#'   become numbers or classes once
#' @srrstats {G2.4b} `R/data-values.R`
#' @srrstats {G2.13} `R/data-values.R`. `tests/testthat/test-missing.R`
#' @srrstats {G2.16} infinite values are refused with their place. NaN is missing
as_values <- function(x, called = "x") {
  if (inherits(x, "DelayedMatrix")) x <- read_delayed(x, called)
  x <- as_valid(opened_file(x), called)
  if (inherits(x, "dgCMatrix")) return(x)
  if (inherits(x, "sparseMatrix")) {
    return(methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  if (is_computed(x)) return(as.matrix(x))
  if (is_float_matrix(x)) return(sound_float(x, called))
  if (is_file_matrix(x)) return(sound_file(x, called))
  # a class that extends matrix, or another
  if (isS4(x)) {
    refusal <- sprintf("`%s` must be a numeric matrix, not %s", called, describe(x))
    x <- if (is.matrix(x)) array(x@.Data, dim(x), dimnames(x)) else
      user_value(as.matrix(x), refusal)
  }
  stop_input_if(!is.numeric(x) && !is.logical(x), "`%s` must be a numeric matrix, not %s%s", called,
                describe(x), if (is.character(x)) ": give factors in a data frame" else "")
  plain_matrix(x)
}

# an S3 class of numbers or logical values with rows and columns, such as AsIs, table, noquote, ts
is_classed_matrix <- function(x) {
  is.object(x) && !isS4(x) && is.matrix(x) && (is.numeric(x) || is.logical(x))
}

# Such a matrix without its class. Anything else is unchanged.
plain_matrix <- function(x) {
  if (!is_classed_matrix(x)) return(x)
  if (inherits(x, "integer64")) return(doubles_of(x))
  array(as.vector(unclass(x)), dim(x), dimnames(x))
}

# a dense matrix converted to doubles, since integer arithmetic may overflow
as_doubles <- function(x) {
  if (is_read_in_place(x)) return(x[, , drop = FALSE])
  if (is.matrix(x) && !is.double(x)) storage.mode(x) <- "double"
  x
}

# Refuses a matrix of the Matrix package whose slots are inconsistent, since C trusts the slots when
# it reads memory. Other classes have their own checks.
as_valid <- function(x, called) {
  if (!inherits(x, c("Matrix", "sparseVector"))) return(x)
  problems <- methods::validObject(x, test = TRUE)
  stop_input_if(!isTRUE(problems), "`%s` is not a valid %s: %s", called, class(x), problems[1L])
  x
}

check_size <- function(x, called) {
  stop_input_if(ncol(x) < 1L, "`%s` must have at least one column to choose from", called)
  stop_input_if(nrow(x) < 2L, "`%s` must have at least 2 rows, not %d", called, nrow(x))
}

# Refuses missing and infinite values, or with `gaps` only infinite values.
check_finite <- function(x, called, gaps = FALSE, hint = NULL, source = colnames(x)) {
  bad <- if (inherits(x, "dgCMatrix")) sparse_not_finite(x, gaps) else dense_not_finite(x, gaps)
  if (!sum(bad$count)) return(invisible(x))
  column <- if (is.null(source)) bad$column else sprintf("'%s'", source[bad$column])
  kind <- if (bad$missing) "missing or infinite value" else "infinite value"
  count <- sum(if (anyDuplicated(source)) bad$count[!duplicated(source)] else bad$count)
  if (!identical(source[bad$column], colnames(x)[bad$column])) {
    hint <- paste0(hint, ", and makes missing values a level of factors")
  }
  stop_input("`%s` has %s (first: row %d, column %s)%s", called, counted(count, kind), bad$row,
             column, if (is.null(hint) && !gaps) "" else if (bad$missing) paste0(": ", hint) else
               infinite_hint)
}

infinite_hint <- paste(": NA in their place can be left out or replaced (`na.action`, `missing`),",
                       "and log(x + 1) is finite at 0")

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
  list(count = missing + infinite, row = row, column = column, missing = any(missing > 0))
}

sparse_not_finite <- function(x, gaps = FALSE) {
  bad <- which(not_finite(gaps)(x@x))
  list(count = length(bad), row = x@i[bad[1L]] + 1L, column = findInterval(bad[1L] - 1L, x@p),
       missing = anyNA(x@x[bad]))
}

# The message about columns that range over orders of magnitude, as counts do, where hardly any
# column has negative values: at least a tenth of the columns that reach 10. Of large data some rows
# and columns are read, and none where the moments show that all values are small.
say_counts <- function(problem, called) {
  columns <- problem$columns
  usable <- which(columns$usable)
  weight <- problem$rows$weight
  reach <- columns$centre + sqrt(columns$squares / min(weight[weight > 0]))
  if (!any(reach[usable] >= 1000)) return(invisible())
  some <- usable[spread_rows(length(usable), 100L)]
  rows <- which(weight > 0)
  x <- as.matrix(problem$x[rows[spread_rows(length(rows), 1000L)], some, drop = FALSE])
  # a kernel matrix is no data
  if (nrow(x) == ncol(x) && isSymmetric(unname(x))) return(invisible())
  least <- apply(x, 2L, min)
  most <- apply(x, 2L, max)
  # whole numbers in many columns, beside indicators, are more likely to be counts
  many <- sum(most > 1) >= 50L
  ratio <- (most + 1) / (least + 1)
  wide <- least >= 0 & most >= 1000 & ratio >= (if (many && all(x == round(x))) 2 else 10)
  # few columns are of many kinds, of which whole numbers may be counts
  if (!many) wide <- wide & colSums(x != round(x)) == 0
  widest <- which(wide)[which.max(ratio[wide])]
  message_if(mean(least >= 0) >= 0.9 && any(wide) && sum(wide) >= sum(most >= 10) / 10,
             "sparsels_message_counts",
             "columns of `%s` range over orders of magnitude (such as '%s', %s to %s): %s", called,
             columns$name[some[widest]], shown_parameter(least[widest]),
             shown_parameter(most[widest]),
             "counts and intensities are mostly taken as log2(x + 1)")
}

# Names in which a column without a name is called by its number, as cbind(age, x) leaves blanks.
filled_names <- function(names) {
  empty <- which(is.na(names) | names == "")
  if (length(empty)) replace(names, empty, paste0("V", empty)) else names
}

# `unit` is the thing that has the names: a column of a matrix, or a row of an experiment
check_names <- function(names, called, unit = "column", unique_by = NULL) {
  if (is.null(names)) return(invisible())
  empty <- which(is.na(names) | names == "")
  stop_input_if(length(empty), "`%s` has %s without a name (first: %s %d): %s", called,
                counted(length(empty), unit), unit, empty[1L],
                "names(data) <- make.names(names(data), unique = TRUE) names them")
  check_encoding(names, sprintf("a name of `%s`", called), unit)
  twice <- anyDuplicated(names)
  hint <- sprintf("make.unique(colnames(%s)) gives unique names", called)
  stop_input_if(twice, "`%s` has two %ss named '%s' (%d and %d): %s", called, unit, names[twice],
                match(names[twice], names), twice, if (is.null(unique_by)) hint else unique_by)
}

unique_hint <- function(names) {
  sprintf("`make_unique = TRUE` numbers them, as %s <- make.unique(%s) does", names, names)
}

# "V1", "V2" and so on, which take no memory until all names are read
numbered_names <- function(count) .Call(C_numbered_names, count)

given_row_names <- function(data) {
  if (is.data.frame(data) && .row_names_info(data) > 0L) row.names(data)
}

# Whether numbers may be codes of classes: at most ten different whole values, each of which occurs
# twice or more on average.
has_few_codes <- function(y) {
  codes <- unique(as.vector(y))
  length(codes) > 1L && length(codes) <= 10L && 2L * length(codes) < length(y) &&
    all(codes == round(codes))
}

# Missing values -----------------------------------------------------------------------------------

# Missing values of x, which `missing = "mean"` replaces by the means of their columns. The means
# are weighted means of the observed values, so rows of weight 0 do not count. They are computed
# again whenever a problem gets other rows or weights.
#
# A problem has `fill`, the column means, `missing`, the number of missing values in each column,
# and an x that is complete. For x in memory `gaps` holds the places of the replaced values. For x
# read in place the matrix holds the means, and the functions that read it replace missing values.

# Making x complete -------------------------------------------------------------------------------

# The problem with this x, whose columns have names and nothing else.
with_x <- function(problem, x) {
  problem$gaps <- NULL
  problem$x <- x
  problem$coding$named <- !is.null(colnames(x))
  names <- if (problem$coding$named) colnames(x) else numbered_names(ncol(x))
  problem$columns <- new_table(list(name = names), ncol(x))
  if (problem$coding$missing == "mean") problem$columns$mean <- 0
  problem
}

# The problem completed by these column means. Without `gaps` x is as given, and the columns that
# have missing values by the counts of the problem are searched.
put_means <- function(problem, means) {
  problem$columns$mean <- means
  if (!any(problem$columns$missing > 0L)) return(problem)
  if (is_read_in_place(problem$x)) {
    problem$x <- carrying(problem$x, means)
  } else {
    if (is.null(problem$gaps)) problem$gaps <-
      gaps_of(problem$x, which(problem$columns$missing > 0L))
    problem$x <- fill_gaps(problem$x, problem$gaps, means)
  }
  problem
}

# The places of replaced values in some columns of a problem, as completed_x() takes them.
gaps_in <- function(problem, columns) {
  if (!is.null(problem$gaps)) list(gaps = problem$gaps[, columns, drop = FALSE])
}

# The x of columns that are held apart from their problem, with missing values replaced by these
# means.
completed_x <- function(held, means) {
  if (is.null(means)) return(held$x)
  if (is_read_in_place(held$x)) return(carrying(held$x, means))
  if (is.null(held$gaps)) held$x else fill_gaps(held$x, held$gaps, means)
}

# The problem with what its columns but pairs take from its rows: curves, and means for missing
# values.
complete_columns <- function(problem, called, threads) {
  if (is.null(column_state(problem))) return(problem)
  problem <- made_curves(as_given(problem))
  if (is.null(problem$columns$mean)) return(problem)
  x <- problem$x
  found <- if (inherits(x, "dgCMatrix")) sparse_means(x, problem$rows$weight) else
    dense_means(x, problem$rows$weight, threads)
  if (!all(is.finite(found$mean))) check_finite(x, called, gaps = TRUE)
  problem$columns$missing <- replace(as.integer(found$missing), is_of_pair(problem), 0L)
  of_factors <- which(coded_columns(problem$coding$design) & problem$columns$missing > 0L)
  stop_input_if(length(of_factors),
                "`%s` has missing values in columns of factors (first: row %d, column '%s'), %s",
                called, which(is.na(x[, of_factors[1L]]))[1L],
                problem$columns$name[of_factors[1L]],
                "which have no mean: leave out these rows")
  # A column without values is constant. Sums that overflow are refused with the squares.
  put_means(problem, ifelse(is.finite(found$mean), found$mean, 0))
}

# The problem, whose other columns are those of its own rows or of a training set, with the columns
# of these pairs. Missing values become `means`, of each column of the problem, or without them the
# means of the rows.
put_pairs <- function(problem, pairs, means = NULL) {
  at <- which(is_of_pair(problem))
  columns <- some_rows(problem$columns, at)
  used <- paired_names(pairs, columns$pair)
  filled <- !is.null(problem$columns$mean)
  problem$pairs <- pairs
  if (any(pairs$functions > 2L)) {
    # the first direction has the factor of the line
    problem$columns$roughness <- replace(roughness_of(problem), at, pair_penalties(pairs, columns))
  }
  if (is_computed(problem$x)) {
    problem$x <- with_pair_functions(problem$x, at, pairs, columns, used,
                                     match(used, problem$columns$name))
    if (filled) {
      if (is.null(means)) {
        means <- dense_means(carrying(problem$x, NULL), problem$rows$weight)$mean
      }
      own <- ifelse(is.finite(means[at]), means[at], 0)
      problem <- put_means(problem, replace(problem$columns$mean, at, own))
    }
    return(with_pair_names(problem))
  }
  values <- pair_columns(pairs, lines_as_given(problem, used), columns)
  if (filled) {
    there <- !is.na(values)
    w <- problem$rows$weight
    own <- if (is.null(means)) colSums(w * ifelse(there, values, 0)) / colSums(w * there) else
      means[at]
    own[!is.finite(own)] <- 0
    values[!there] <- own[col(values)[!there]]
    problem$columns$mean[at] <- own
  }
  problem$x <- replaced_columns(problem$x, at, values)
  with_pair_names(problem)
}

# The problem with the names of its pairs, in all places that have names of columns and groups.
with_pair_names <- function(problem) {
  at <- which(is_of_pair(problem))
  names <- pair_names(problem$pairs)[problem$columns$pair[at]]
  with_group_names(named_pairs(problem, at), at, names)
}

dense_means <- function(x, w, threads = 1L) uninterrupted(.Call(C_column_means, x, w, threads))

sparse_means <- function(x, w) {
  sums <- function(values) {
    x@x <- as.double(values)
    unname(colSums(x))
  }
  row_w <- w[x@i + 1L]
  lacking <- is.na(x@x)
  there_w <- ifelse(lacking, 0, row_w)
  zeros_w <- ifelse(diff(x@p) == nrow(x), 0, pmax(sum(w) - sums(row_w), 0))
  list(mean = sums(there_w * ifelse(lacking, 0, x@x)) / (zeros_w + sums(there_w)),
       missing = sums(lacking))
}

# A matrix that is read in place holds the column means that replace its missing values.
carrying <- function(x, means) {
  parts <- unclass(x)
  parts$fill <- means
  structure(parts, class = class(x))
}

# x as given and its parts -------------------------------------------------------------------------

# The problem with its x as given. It keeps the places of missing values.
as_given <- function(problem) {
  lines <- if (!is.null(problem$source)) match(names(problem$curves), problem$columns$name)
  for (i in seq_along(lines)) {
    problem$x <- with_entries(problem$x, lines[i], column_entries(problem$source, i))
  }
  if (is_computed(problem$x)) problem$x <- without_functions(problem$x)
  if (is_read_in_place(problem$x)) problem$x <- carrying(problem$x, NULL)
  if (!is.null(problem$gaps)) {
    problem$x <- fill_gaps(problem$x, problem$gaps, rep(NA_real_, ncol(problem$x)))
    problem$gaps <- NULL
  }
  problem
}

# The values of columns by name, with NA where they are missing (rows x names).
lines_as_given <- function(problem, names) {
  places <- match(names, problem$columns$name)
  x <- if (is_read_in_place(problem$x)) carrying(problem$x, NULL) else problem$x
  x <- as.matrix(x[, places, drop = FALSE]) + 0
  dimnames(x) <- list(NULL, names)
  if (is.null(problem$gaps)) return(x)
  fill_gaps(x, problem$gaps[, places, drop = FALSE], rep(NA_real_, length(places)))
}

# The problem with some rows of its x and some of its columns, completed by the column means of the
# problem.
part_of_x <- function(problem, rows, columns) {
  computed <- is_computed(problem$x)
  carried <- is_read_in_place(problem$x) && !computed && any(problem$columns$missing > 0L)
  x <- some_part((if (carried) as_given(problem) else problem)$x, rows, columns)
  problem$gaps <- if (carried) gaps_of(x) else problem$gaps[rows, columns, drop = FALSE]
  problem$x <- x
  if (has_curves(problem)) {
    kept <- names(problem$curves) %in% problem$columns$name[columns]
    problem$source <- problem$source[rows, kept, drop = FALSE]
    problem$curves <- problem$curves[kept]
  }
  problem$columns <- some_rows(problem$columns, columns)
  problem <- regrouped(problem)
  if (is.null(problem$columns$mean) || computed) return(problem)
  problem$columns$missing <-
    if (is.null(problem$gaps)) rep(0L, length(columns)) else diff(problem$gaps@p)
  if (carried) put_means(problem, problem$columns$mean) else problem
}

# The problem with some of its rows and columns, by default all. Centre and scale do not change.
part_of <- function(problem, rows = NULL, columns = seq_len(ncol(problem))) {
  if (is.null(rows)) return(part_of_x(problem, seq_len(nrow(problem)), columns))
  scored_rows(part_of_x(problem, rows, columns), rows)
}

# Columns among the covariates ---------------------------------------------------------------------

# The problem with its columns of factor 0 among the covariates, with their current values.
with_unpenalised <- function(problem) {
  if (!length(unpenalised(problem))) return(problem)
  given <- problem$z[, given_covariates(problem), drop = FALSE]
  rows <- seq_len(nrow(problem))
  problem$z <- cbind(given, column_covariates(problem, rows, column_state(problem)))
  problem
}

# The columns of factor 0 in some rows, as column_state() from a training set.
column_covariates <- function(problem, rows, by) {
  columns <- unpenalised(problem)
  z <- as.matrix(values_by(problem, rows, columns, by)) + 0
  dimnames(z) <- list(NULL, problem$columns$name[columns])
  z
}

# The covariates of some rows, with columns among them as column_state() from a training set.
covariates_by <- function(problem, rows, by) {
  z <- problem$z[rows, , drop = FALSE]
  if (is.null(by) || !length(unpenalised(problem))) return(z)
  columns <- column_covariates(problem, rows, by)
  there <- intersect(colnames(columns), colnames(z))
  z[, there] <- columns[, there]
  z
}

# As learned from a training set ------------------------------------------------------------------

# What the columns of a problem take from its training rows: list(mean, curves, pairs) with the
# means that replace missing values, the curves and the pairs, or NULL without any of these.
column_state <- function(problem) {
  if (is.null(problem$columns$mean) && !has_curves(problem) && !has_pairs(problem)) return(NULL)
  list(mean = problem$columns$mean, curves = problem$curves, pairs = problem$pairs)
}

# Whether the values of columns differ between sets of training rows.
differs_by_rows <- function(problem) any(problem$columns$missing > 0L) || has_terms(problem)

# What the columns take from the training rows of a part, of which state_by() has kept some.
state_without <- function(problem, part) {
  # nothing was kept where the columns are the ones of the problem
  if (!length(part)) return(NULL)
  mean <- problem$columns$mean
  list(mean = if (!is.null(mean)) replace(mean, part$features, part$values), curves = part$curves,
       pairs = part$pairs)
}

# The problem with what was learned from a training set, for new data.
put_state <- function(problem, by) {
  problem$columns$mean <- by$mean
  problem$curves <- by$curves
  problem$pairs <- by$pairs
  problem
}

# The problem with its columns as learned from a training set of the same columns, for computations
# on rows that were held out.
filled_like <- function(problem, train) {
  by <- column_state(train)
  if (is.null(by)) return(problem)
  if (has_curves(problem)) problem <- put_curves(as_given(problem), by$curves)
  if (!is.null(by$mean)) problem <- put_means(problem, by$mean)
  if (has_pairs(problem)) problem <- put_pairs(problem, by$pairs, by$mean)
  with_unpenalised(problem)
}

# Some columns of some rows as learned from a training set. `by` has an element for each column of
# the problem.
values_by <- function(problem, rows, columns, by) {
  x <- part_by(problem, rows, columns, by)
  if (is_computed(x)) as.matrix(x) else x
}

# The same, which may be computed as they are read.
part_by <- function(problem, rows, columns, by) {
  remade <- !identical(by[["curves"]], problem$curves) || !identical(by[["pairs"]], problem$pairs)
  if (!is.null(by) && remade) {
    places <- read_places(problem, columns, by$pairs)
    part <- as_given(part_of_x(problem, rows, unique(places)))
    x <- if (is_computed(part$x)) part$x else as_doubles(part$x)
    x <- some_part(x, columns = match(places, unique(places)))
    problem <- put_state(problem, by)
    if (is.null(by$mean)) return(computed_columns(problem, x, columns))
    return(complete_new(problem, x, columns))
  }
  part <- part_of_x(problem, rows, columns)
  if (!is.null(by$mean)) part <- put_means(part, by$mean[columns])
  part$x
}

# New data at the read_places() of some columns of a problem as these columns. Columns of factors
# have no mean and are not changed.
complete_new <- function(problem, x, columns) {
  x <- computed_columns(problem, x, columns)
  if (is_computed(x)) x <- as.matrix(x)
  if (is.null(problem$columns$mean)) x else complete_by(x, means_of_new(problem, columns))
}

# The means that replace missing values of columns in new data, NA where nothing does.
means_of_new <- function(problem, columns) {
  if (is.null(problem$columns$mean)) return(rep(NA_real_, length(columns)))
  means <- problem$columns$mean
  means[coded_columns(problem$coding$design)] <- NA
  means[columns]
}

# Plain values -------------------------------------------------------------------------------------

plain_columns <- function(problem, columns) {
  x <- as.matrix(problem$x[, columns, drop = FALSE]) + 0
  dimnames(x) <- NULL
  x
}

# The weighted mean of each column. The second pass corrects the rounding of the first.
weighted_means <- function(x, w) {
  centre <- colSums(w * x) / sum(w)
  centre + colSums(w * (x - rep(centre, each = nrow(x)))) / sum(w)
}
