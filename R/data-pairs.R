# Pairs: products of the curves of two columns. A problem with `pairs` has a place for each pair
# that it offers, and for each place four columns: the products of the line and the first direction
# of one column with the line and the first direction of the other one, in standard units and
# clipped. `columns$pair` is the place and `columns$product` the number of the product. Which pair
# is in which place is learned from the rows of positive weight, their responses among them, as
# curves and means are: pairs are screened anew whenever a problem gets other rows, weights or
# responses. So a model of part of the rows has its columns by number, and the pairs of its own
# places in what its columns take from the training rows.

# `pairs` has `first` and `second`, the names of the columns of each place, `p`, the logarithm of
# the probability of their score by chance, `screened`, FALSE for pairs that were given, and by the
# name of each column that may be in a pair its degrees of freedom `df` and its curve (`basis`).
# `placed` tells whether parts of the rows keep these curves.

# the values in standard units beyond which a factor of a product does not change
product_limit <- 3

has_pairs <- function(problem) !is.null(problem$pairs)

# whether pairs are chosen by the responses
has_screened_pairs <- function(problem) isTRUE(problem$pairs$screened)

# the place of the pair of each column, NA for other columns
pair_places <- function(problem) {
  if (has_pairs(problem)) problem$columns$pair else rep(NA_integer_, ncol(problem))
}

# whether each column is of a pair
is_of_pair <- function(problem) !is.na(pair_places(problem))

# The problem that a search with these controls may choose from: where pairs are left out, the
# problem of the other columns.
searched_problem <- function(problem, control) {
  if (isFALSE(control$pairs)) problem$columns$usable[is_of_pair(problem)] <- FALSE
  problem
}

# the curve of a column of which pairs are made, NULL if the column has none
spline_of <- function(problem, name) {
  curve <- problem$curves[[name]]
  if (!is.null(curve) && is_spline(curve)) curve
}

pair_names <- function(pairs) paste(pairs$first, "x", pairs$second)

# the names of the columns that the pairs of some places are made of
paired_names <- function(pairs, places) {
  places <- unique(places[!is.na(places)])
  unique(c(pairs$first[places], pairs$second[places]))
}

# Values ------------------------------------------------------------------------------------------

# The line and the first direction of a curve at x in standard units, clipped. NA where x is.
clipped_basis <- function(curve, x) {
  if (!isTRUE(curve$scale > 0)) return(matrix(0 * x))
  columns <- curve_columns(curve, x)
  values <- cbind((columns[, 1L] - curve$centre) / curve$scale,
                  if (length(curve$d)) columns[, 2L] / curve$scale + curve$origin[1L],
                  deparse.level = 0L)
  pmin(pmax(values, -product_limit), product_limit)
}

# The line (direction 0) or first direction of clipped_basis() in pieces, as curve_pieces() has
# them.
clipped_pieces <- function(curve, direction) {
  whole <- curve_pieces(curve, direction)
  by <- if (direction == 0L) curve$centre else -curve$origin[1L] * curve$scale
  whole$pieces[, 1L] <- whole$pieces[, 1L] - by
  whole$pieces <- whole$pieces / curve$scale
  ends <- c(whole$start[-1L], Inf)
  each <- lapply(seq_along(whole$start), function(k) {
    clipped_piece(whole$pieces[k, ], min(ends[k], whole$range[2L]) - whole$start[k])
  })
  from <- rep(whole$start, lengths(lapply(each, `[[`, "at")))
  list(range = whole$range, start = from + unlist(lapply(each, `[[`, "at")),
       pieces = do.call(rbind, lapply(each, `[[`, "pieces")))
}

# A cubic polynomial p of t from 0 to `length`, clipped: pieces that begin `at` where it crosses a
# limit.
clipped_piece <- function(p, length) {
  roots <- unlist(lapply(c(-1, 1) * product_limit, function(limit) {
    found <- polyroot(c(p[1L] - limit, p[-1L]))
    Re(found)[abs(Im(found)) < 1e-8 * (1 + abs(found))]
  }))
  at <- c(0, sort(unique(roots[roots > 0 & roots < length])))
  middle <- (at + c(at[-1L], max(length, at))) / 2
  value <- p[1L] + middle * (p[2L] + middle * (p[3L] + middle * p[4L]))
  pieces <- cbind(p[1L] + at * (p[2L] + at * (p[3L] + at * p[4L])),
                  p[2L] + at * (2 * p[3L] + 3 * at * p[4L]), p[3L] + 3 * at * p[4L], p[4L])
  beyond <- abs(value) > product_limit
  pieces[beyond, ] <- cbind(sign(value) * product_limit, 0, 0, 0)[beyond, ]
  list(at = at, pieces = unname(pieces))
}

# The factors of product 1, 2, 3 or 4: 1 is the line and 2 the first direction of a column.
product_factors <- function(product) cbind((product - 1L) %% 2L, (product - 1L) %/% 2L) + 1L

# The factors of products at x: clipped_basis(), where a line without directions has one of 0.
pair_factors_at <- function(curve, x) {
  values <- clipped_basis(curve, x)
  if (ncol(values) == 1L) cbind(values, 0 * values) else values
}

# The columns of pairs, rows x columns, from the values x of columns by name. `columns` are some
# rows of the table of columns.
pair_columns <- function(pairs, x, columns) {
  basis <- lapply(stats::setNames(nm = paired_names(pairs, columns$pair)), function(name) {
    pair_factors_at(pairs$basis[[name]], x[, match(name, colnames(x))] + 0)
  })
  factors <- product_factors(columns$product)
  values <- vapply(seq_len(nrow(columns)), function(j) {
    place <- columns$pair[j]
    basis[[pairs$first[place]]][, factors[j, 1L]] * basis[[pairs$second[place]]][, factors[j, 2L]]
  }, numeric(nrow(x)))
  matrix(values, nrow(x))
}

# The columns of pairs from columns x of these names, which may be computed as they are read.
pair_values <- function(pairs, x, names, columns) {
  if (!is_computed(x)) {
    x <- as.matrix(x)
    colnames(x) <- names
    return(pair_columns(pairs, x, columns))
  }
  at <- length(names) + seq_len(nrow(columns))
  x <- some_part(x, columns = c(seq_along(names), rep(1L, length(at))))
  as.matrix(some_part(with_pair_functions(x, at, pairs, columns, names), columns = at))
}

# A computed matrix whose columns `at` are products of pairs of its columns `places`, which have
# these names.
with_pair_functions <- function(x, at, pairs, columns, names, places = seq_along(names)) {
  paired <- match(rbind(pairs$first[columns$pair], pairs$second[columns$pair]), names)
  by <- 2L * paired - 2L + t(product_factors(columns$product))
  with_functions(x, at, factor_functions(pairs, names), by, unclass(x)$of[1L, places[paired]])
}

# The two factors of each of some columns, one column after the other, in pieces.
factor_functions <- function(pairs, names) {
  each <- lapply(pairs$basis[names], function(curve) {
    had <- if (isTRUE(curve$scale > 0)) min(length(curve$d), 1L) else -1L
    lapply(0:1, function(direction) {
      if (direction > had) zero_pieces(curve) else clipped_pieces(curve, direction)
    })
  })
  unlist(unname(each), recursive = FALSE)
}

# Of a problem ------------------------------------------------------------------------------------

# The problem with the names of its pairs, in all places that have names of columns.
named_pairs <- function(problem, at) {
  columns <- some_rows(problem$columns, at)
  part <- c("", "~1")
  factors <- product_factors(columns$product)
  first <- paste0(problem$pairs$first[columns$pair], part[factors[, 1L]])
  second <- paste0(problem$pairs$second[columns$pair], part[factors[, 2L]])
  renamed_places(problem, at, paste(first, "x", second))
}

# x with other values of the columns `at`
replaced_columns <- function(x, at, values) {
  if (is.matrix(x)) {
    x[, at] <- values
    return(x)
  }
  others <- setdiff(seq_len(ncol(x)), at)
  names <- colnames(x)
  x <- cbind(unname(x[, others, drop = FALSE]), methods::as(values, "CsparseMatrix"))
  x <- x[, order(c(others, at)), drop = FALSE]
  colnames(x) <- names
  x
}

# All columns of a problem from the values x at their read_places(). Pairs are 0 until they are
# found.
widened <- function(problem, x) {
  if (!has_pairs(problem)) return(x)
  of_pair <- is_of_pair(problem)
  wide <- replaced_columns(x[, ifelse(of_pair, 1L, cumsum(!of_pair)), drop = FALSE],
                           which(of_pair), matrix(0, nrow(x), sum(of_pair)))
  colnames(wide) <- if (!is.null(colnames(x))) problem$columns$name
  wide
}

# The problem of some columns, among which pairs remain the ones they are.
settled_pairs <- function(problem, columns) {
  if (!has_pairs(problem) || setequal(columns, seq_len(ncol(problem)))) return(problem)
  places <- sort(unique(problem$columns$pair[columns]))
  if (!length(places)) {
    problem$pairs <- NULL
    problem$columns[c("pair", "product")] <- NULL
    return(problem)
  }
  pairs <- problem$pairs
  pairs[c("first", "second", "p")] <- lapply(pairs[c("first", "second", "p")], `[`, places)
  pairs$screened <- FALSE
  pairs$df <- pairs$df[names(pairs$df) %in% c(pairs$first, pairs$second)]
  problem$pairs <- pairs
  problem$columns$pair <- match(problem$columns$pair, places)
  problem
}

# Words -------------------------------------------------------------------------------------------

# The value of `interactions` with which as_problem() makes the pairs again.
given_pairs <- function(problem) {
  pairs <- problem$pairs
  if (is.null(pairs)) return(NULL)
  if (pairs$screened) return(length(pairs$first))
  unname(Map(c, pairs$first, pairs$second))
}

pairs_words <- function(problem) {
  pairs <- problem$pairs
  from <- if (pairs$screened) paste(", screened from", whole_number(choose(length(pairs$df), 2)))
  sprintf("%s of columns%s: %s", counted(length(pairs$first), "pair"), paste0(from, ""),
          some_of(pair_names(pairs), 5L, ""))
}
