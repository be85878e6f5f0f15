# Curves: smooth functions of columns. A column with a curve is followed by further columns, its
# directions, which are functions of it: natural cubic splines of growing roughness with growing
# penalty. A problem has `columns$curve`, the name of the column that each column is a function of
# (its line), `columns$direction` (0 for the line, then 1, 2, ...), `columns$roughness`, by which
# its penalty is multiplied, and `curves`, a record for each line. The records are made of the rows
# of positive weight, as centres, scales and means are, whenever a problem gets other rows or
# weights. Of many rows the knots and the range remain as they were first placed, for they are
# functions of x alone and differ little in a part. Beyond the range of its rows a column counts as
# the end of the range. Where that changes rows of weight 0, `source` has the lines as they were
# given.

# One curve ---------------------------------------------------------------------------------------

# the degrees of freedom of a curve, its line among them
curve_df <- 6L

# Knots are quantiles between these. The curve is a line beyond them.
knot_ends <- c(0.02, 0.98)

# the penalty of a direction is this power of its roughness, in multiples of the first direction
roughness_power <- 1 / 2

most_roughness <- 1e4

# from so many rows on, parts of the rows keep the knots and the range
placed_rows <- 10000L

# The curve of the values x of a column with weights w: `knots` (K), `values` of its directions at
# the knots (K x r), `second`, their second derivatives in standard units, `d`, the roughness of
# each, `factors` of the penalty of the line and the directions, and the weighted `centre` and
# `scale` and the `range` of x. The directions have mean 0 and variance 1. Each is the smoothest
# function of the knots that is orthogonal to the line and the directions before it. There are two
# less than there are knots. `origin` has the values of the directions at 0 for a sparse x, from
# which they are subtracted, and `means` the means of the columns of the directions. `placed` tells
# whether other rows keep the knots and the range. They are taken from the curve `kept`, if it is
# given and the rows determine its directions. By another `basis` than "curve" the directions are
# steps or hinges, or there are some `beside` splines, in a record of their own.
curve_of <- function(x, w, df = curve_df, sparse = FALSE, ends = knot_ends,
                     power = roughness_power, kept = NULL, basis = "curve", beside = 0L) {
  if (basis %in% names(beside_basis)) {
    curve <- curve_of(x, w, df, sparse, ends, power, kept)
    own <- curve_of(x, w, beside + 1L, sparse, kept = if (curve$placed) kept$beside,
                    basis = beside_basis[[basis]])
    curve$beside <- own
    none <- df - 1L - length(curve$d)
    curve$means <- c(curve$means, numeric(none), own$means)
    curve$factors <- c(curve$factors, rep(1, none), own$factors[-1L])
    return(replace(curve, "basis", basis))
  }
  counted <- w > 0 & is.finite(x)
  x <- as.double(if (all(counted)) x else x[counted])
  w <- as.double(if (all(counted)) w else w[counted])
  if (!is.null(kept)) x <- pmin(pmax(x, kept$range[1L]), kept$range[2L])
  total <- sum(w)
  centre <- sum(w * x) / total
  centre <- centre + sum(w * (x - centre)) / total
  unit <- max(abs(x - centre), 0)
  scale <- unit * sqrt(sum(w * ((x - centre) / unit)^2) / total)
  curve <- list(knots = numeric(), values = matrix(0, 0L, 0L), second = matrix(0, 0L, 0L),
                d = numeric(), factors = 1, df = df, centre = centre, scale = scale,
                range = if (is.null(kept)) range(x, if (sparse) 0) else kept$range,
                origin = numeric(), means = numeric(), placed = !is.null(kept), basis = basis)
  if (basis != "curve") return(with_thresholds(curve, x, w, sparse, kept))
  knots <- if (isTRUE(scale > 0)) if (is.null(kept)) knots_of(x, w, df + 1L, ends) else kept$knots
  if (length(knots) < 3L) return(curve)
  curve$knots <- knots
  parts <- spline_parts(diff(knots) / scale)
  products <- .Call(C_spline_products, x, w, knots, scale, diag(length(knots)), parts$second)
  products <- products / total
  if (!is.null(kept) && rcond(products) < 1e-10) return(curve_of(x, w, df, sparse, ends, power))
  # the first values of most columns tell that not all are knots
  of_knots <- function(x) all(x %in% knots)
  curve$placed <- curve$placed ||
    length(x) >= placed_rows && !(of_knots(utils::head(x, 100L)) && of_knots(x))
  # the functions at the knots (K x r) that S v = d G v gives, for the weighted products G of the
  # splines and their roughness S, in order of growing d > 0, positive at the last knot
  found <- pencil_directions(products, parts$roughness, smooth = 2L)
  up <- ifelse(found$values[length(knots), ] < 0, -1, 1)
  curve$d <- found$d
  curve$values <- found$values * rep(up, each = length(knots))
  curve$second <- parts$second %*% curve$values
  curve$factors <- direction_factors(found$d, power)
  curve$origin <- if (sparse) drop(spline_values(curve, 0)) else 0 * found$d
  curve$means <- -curve$origin * scale
  curve
}

# At most K knots: all values if they are few, otherwise values of more than a share 1 / (K - 1) of
# the weight and quantiles of the other values. Quantiles are values of x that have at least this
# share of the weight up to them, but for rounding. Values that the rounding of their range does not
# tell apart are one knot.
knots_of <- function(x, w, K, ends = knot_ends) {
  knots <- sort(unique(.Call(C_quantile_knots, x, w, order(x), as.double(K), ends)))
  apart <- .Machine$double.eps * (knots[length(knots)] / 2 - knots[1L] / 2)
  knots[c(TRUE, diff(knots) / 2 > apart)]
}

# Of the natural cubic splines that are 1 at one knot and 0 at the others, from the differences h of
# the knots: their `second` derivatives at the knots (K x K), and their `roughness`, the integrals
# of products of second derivatives.
spline_parts <- function(h) {
  inner <- seq_len(length(h) - 1L)
  steps <- matrix(0, length(inner), length(h) + 1L)
  steps[cbind(inner, inner)] <- 1 / h[inner]
  steps[cbind(inner, inner + 1L)] <- -1 / h[inner] - 1 / h[inner + 1L]
  steps[cbind(inner, inner + 2L)] <- 1 / h[inner + 1L]
  between <- diag((h[inner] + h[inner + 1L]) / 3, length(inner))
  above <- inner[-1L]
  between[cbind(above - 1L, above)] <- between[cbind(above, above - 1L)] <- h[above] / 6
  bends <- solve(between, steps, tol = 0) # diagonally dominant
  list(second = rbind(0, bends, 0), roughness = crossprod(steps, bends))
}

# The solutions of S v = d G v with v'G v = 1 in order of growing d, but for the first ones, which
# are `smooth`.
pencil_directions <- function(G, S, smooth = 1L) {
  root <- chol(G)
  turned <- backsolve(root, t(backsolve(root, S, transpose = TRUE)), transpose = TRUE)
  found <- eigen((turned + t(turned)) / 2, symmetric = TRUE)
  rough <- rev(seq_len(ncol(G) - smooth))
  list(d = found$values[rough], values = backsolve(root, found$vectors[, rough, drop = FALSE]))
}

# The factors of the penalty of a line and of directions of roughness d.
direction_factors <- function(d, power = roughness_power) {
  c(1, pmin((d / d[1L])^power, most_roughness))
}

# The values of splines at x (length of x by splines), lines outside the knots.
spline_values <- function(curve, x) {
  .Call(C_spline_values, x, curve$knots, curve$scale, curve$values, curve$second)
}

# The columns of a curve at x: the line, which is x in the range of the curve, and its directions
# times the scale of x, so that all have the units of x.
curve_columns <- function(curve, x) {
  line <- pmin(pmax(x, curve$range[1L]), curve$range[2L])
  if (!is.null(curve$beside)) {
    own <- curve_columns(replace(curve, "beside", list(NULL)), x)
    none <- matrix(0, length(x), curve$df - ncol(own))
    return(cbind(own, none, curve_columns(curve$beside, x)[, -1L, drop = FALSE]))
  }
  if (!length(curve$d)) return(matrix(line))
  smooth <- is_spline(curve)
  values <- if (smooth) spline_values(curve, line) else threshold_values(curve, line)
  values <- values - rep(curve$origin, each = length(line))
  cbind(line, if (smooth) values * curve$scale else values, deparse.level = 0L)
}

# A direction of a curve, 0 for its line, in pieces: a variable is moved into `range`, and from each
# `start` on the value is a polynomial of the distance from it, a row of `pieces` (constant, linear,
# square, cube).
curve_pieces <- function(curve, direction) {
  ends <- curve$range
  if (!has_direction(curve, direction)) return(zero_pieces(curve))
  if (direction >= first_threshold(curve)) {
    own <- thresholds_in(curve)
    number <- direction - first_threshold(curve) + 1L
    above <- if (own$basis == "steps") c(1, 0, 0, 0) else c(0, 1, 0, 0)
    pieces <- rbind(0, above, deparse.level = 0L)
    pieces[, 1L] <- pieces[, 1L] - own$origin[number]
    return(list(range = own$range, start = c(own$range[1L], own$knots[number]), pieces = pieces))
  }
  if (direction == 0L) {
    return(list(range = ends, start = ends[1L], pieces = matrix(c(ends[1L], 1, 0, 0), 1L)))
  }
  knots <- curve$knots
  last <- length(knots)
  v <- curve$values[, direction]
  bend <- curve$second[, direction]
  h <- diff(knots) / curve$scale
  inner <- seq_len(last - 1L)
  slope <- diff(v) / h - h * (2 * bend[inner] + bend[-1L]) / 6
  pieces <- cbind(v[inner], slope, bend[inner] / 2, diff(bend) / (6 * h))
  beyond <- (ends - knots[c(1L, last)]) / curve$scale
  end_slope <- diff(v)[last - 1L] / h[last - 1L] + h[last - 1L] * bend[last - 1L] / 6
  pieces <- rbind(c(v[1L] + slope[1L] * beyond[1L], slope[1L], 0, 0), pieces,
                  c(v[last], end_slope, 0, 0), deparse.level = 0L)
  pieces[, 1L] <- pieces[, 1L] - curve$origin[direction]
  unit <- curve$scale^c(1, 0, -1, -2)
  list(range = ends, start = c(ends[1L], knots),
       pieces = unname(pieces * rep(unit, each = nrow(pieces))))
}

# the function that is 0, in pieces
zero_pieces <- function(curve) {
  list(range = curve$range, start = curve$range[1L], pieces = matrix(0, 1L, 4L))
}

piece_values <- function(curve, x) {
  x <- pmin(pmax(x, curve$range[1L]), curve$range[2L])
  i <- pmax(findInterval(x, curve$start), 1L)
  p <- curve$pieces[i, , drop = FALSE]
  t <- x - curve$start[i]
  ((p[, 4L] * t + p[, 3L]) * t + p[, 2L]) * t + p[, 1L]
}

# Steps and hinges --------------------------------------------------------------------------------

# Thresholds: functions of columns that change at single values. The directions of a column with
# steps are 1 from a threshold on and 0 below it, and of a column with hinges the distance above a
# threshold. Their records are like the ones of curves, with the thresholds as `knots`, but each is
# a unit of its own, without roughness.

# the degrees of freedom of each basis of functions of a column, its line among them
basis_df <- c(curve = curve_df, steps = 16L, hinges = 16L, `curve+steps` = curve_df,
              `curve+hinges` = curve_df)

# the basis of the thresholds beside a curve
beside_basis <- c(`curve+steps` = "steps", `curve+hinges` = "hinges")

# so many rows at least are on both sides of a threshold
threshold_rows <- 5L

# whether the first directions of a record of `curves` are splines
is_spline <- function(curve) startsWith(curve$basis, "curve")

# the record of the thresholds of a column, NULL for none
thresholds_in <- function(curve) if (is_spline(curve)) curve$beside else curve

# The number of the first direction that is a threshold. Thresholds follow all directions that a
# curve may have.
first_threshold <- function(curve) {
  if (!is_spline(curve)) 1L else if (curve$basis == "curve") Inf else curve$df
}

# whether directions, 0 for the line, are functions that the rows of a record determine
has_direction <- function(curve, direction) {
  first <- first_threshold(curve)
  ifelse(direction < first, direction <= length(curve$d),
         direction < first + length(thresholds_in(curve)$knots))
}

# whether each column is a direction of steps or hinges
is_threshold <- function(problem) {
  if (!has_curves(problem)) return(logical(ncol(problem)))
  first <- vapply(problem$curves, first_threshold, 0)[problem$columns$curve]
  unname(!is.na(first) & problem$columns$direction >= first)
}

# whether each column is of a column with thresholds, and of no curve
is_beside_curves <- function(problem) {
  if (!has_curves(problem)) return(logical(ncol(problem)))
  splines <- vapply(problem$curves, is_spline, NA)[problem$columns$curve]
  is_threshold(problem) | splines %in% FALSE
}

# The record of a column, begun in curve_of(), with its thresholds: of all rows or kept ones.
with_thresholds <- function(curve, x, w, sparse, kept) {
  curve$knots <- if (is.null(kept)) thresholds_of(x, w, curve$df - 1L, curve$basis) else kept$knots
  curve$placed <- curve$placed || length(x) >= placed_rows
  count <- length(curve$knots)
  curve$d <- numeric(count)
  curve$factors <- rep(1, count + 1L)
  curve$origin <- if (sparse) drop(threshold_values(curve, 0)) else numeric(count)
  curve$means <- colSums(w * curve_columns(curve, x)[, -1L, drop = FALSE]) / sum(w)
  curve
}

# At most K thresholds. They are all values, or quantiles of equal distances, as knots of curves
# are. Hinges leave out both ends. Steps are halfway from there to the next value.
thresholds_of <- function(x, w, K, basis) {
  inner <- x < max(x) & (basis == "steps" | x > min(x))
  at <- if (any(inner)) knots_of(x[inner], w[inner], K, c(1, K) / (K + 1)) else numeric()
  below <- vapply(at, function(t) sum(x <= t), 0L)
  at <- at[below >= threshold_rows & length(x) - below >= threshold_rows]
  if (basis == "hinges") return(at)
  after <- vapply(at, function(t) min(x[x > t]), 0)
  middle <- at + (after - at) / 2
  ifelse(middle > at, middle, after)
}

# The values of steps or hinges at x (length of x by thresholds).
threshold_values <- function(curve, x) {
  if (curve$basis == "steps") outer(x, curve$knots, ">=") + 0 else
    pmax(outer(x, curve$knots, "-"), 0)
}

# The problem with the names of its thresholds, such as "rm>=6.2" of a step and "rm>6.2" of a hinge.
named_thresholds <- function(problem) {
  at <- which(is_threshold(problem))
  if (!length(at)) return(problem)
  columns <- some_rows(problem$columns, at)
  names <- paste0(columns$curve, "~", columns$direction)
  for (name in unique(columns$curve)) {
    curve <- problem$curves[[name]]
    own <- which(columns$curve == name & has_direction(curve, columns$direction))
    sign <- if (thresholds_in(curve)$basis == "steps") ">=" else ">"
    at_knots <- thresholds_in(curve)$knots[columns$direction[own] - first_threshold(curve) + 1L]
    names[own] <- paste0(name, sign, formatC(at_knots, digits = 5L, width = 1L))
  }
  others <- problem$columns$name[-at]
  renamed_places(problem, at, make.unique(c(others, names))[-seq_along(others)])
}

# The curves of a problem -------------------------------------------------------------------------

has_curves <- function(problem) !is.null(problem$curves)

# whether a model of the problem has terms, which are curves, pairs and other columns
has_terms <- function(problem) has_curves(problem) || has_pairs(problem)

# The place of the column that each column is a function of: itself without a curve. Of the columns
# of a pair it is the first of them.
source_places <- function(problem) {
  places <- seq_len(ncol(problem))
  curve <- problem$columns$curve
  if (!is.null(curve)) places <- ifelse(is.na(curve), places, match(curve, problem$columns$name))
  pair <- problem$columns$pair
  if (is.null(pair)) places else ifelse(is.na(pair), places, match(pair, pair))
}

# the name of this column, or of the pair
source_names <- function(problem) {
  names <- problem$columns$name
  curve <- problem$columns$curve
  if (!is.null(curve)) names <- ifelse(is.na(curve), names, curve)
  pair <- problem$columns$pair
  if (is.null(pair)) names else ifelse(is.na(pair), names, pair_names(problem$pairs)[pair])
}

# the names of the columns of the data, of which the others are functions
data_names <- function(problem) unique(source_names(problem)[!is_of_pair(problem)])

# The places of the columns of the data from which some columns are computed: for each column that
# is no pair its source, then the columns of the pairs.
read_places <- function(problem, columns, pairs = problem$pairs) {
  place <- pair_places(problem)[columns]
  c(source_places(problem)[columns[is.na(place)]],
    match(paired_names(pairs, place), problem$columns$name))
}

# Some columns of a problem from the values x at read_places().
computed_columns <- function(problem, x, columns) {
  if (!has_terms(problem)) return(x)
  is_pair <- is_of_pair(problem)[columns]
  plain <- seq_len(sum(!is_pair))
  lines <- setdiff(seq_len(ncol(x)), plain)
  names <- paired_names(problem$pairs, pair_places(problem)[columns])
  pairs <- some_rows(problem$columns, columns[is_pair])
  if (is_computed(x)) {
    # all columns in their order, then the lines of pairs
    at <- replace(rep(1L, length(columns)), !is_pair, plain)
    own <- at_curves(problem$curves, some_part(x, columns = c(at, lines)),
                     some_rows(problem$columns, columns))
    if (any(is_pair)) {
      own <- with_pair_functions(own, which(is_pair), problem$pairs, pairs, names,
                                 length(at) + seq_along(lines))
    }
    return(some_part(own, columns = seq_along(at)))
  }
  own <- at_curves(problem$curves, some_part(x, columns = plain),
                   some_rows(problem$columns, columns[!is_pair]))
  if (!any(is_pair)) return(own)
  lines <- as.matrix(x[, lines, drop = FALSE])
  colnames(lines) <- names
  values <- pair_columns(problem$pairs, lines, pairs)
  if (inherits(own, "dgCMatrix")) values <- methods::as(values, "CsparseMatrix")
  if (!length(plain)) return(values)
  values <- cbind(unname(own), values)
  if (is.unsorted(is_pair)) {
    values <- values[, order(c(which(!is_pair), which(is_pair))), drop = FALSE]
  }
  values
}

# The columns of a problem from the values x of their sources: `columns` is a part of its table.
# Only the stored values of a sparse x change.
at_curves <- function(curves, x, columns) {
  if (is_computed(x)) {
    at <- which(!is.na(columns$curve))
    return(with_functions(x, at, lapply(at, function(j) {
      curve <- curves[[columns$curve[j]]]
      if (columns$direction[j] > 0L) return(curve_pieces(curve, columns$direction[j]))
      list(range = curve$range, start = 0[0L], pieces = 0[0L])
    })))
  }
  curved <- which(!is.na(columns$curve))
  if (!length(curved)) return(x)
  places <- split(curved, columns$curve[curved])
  values <- Map(function(own, name) {
    values <- curve_columns(curves[[name]], column_entries(x, own[1L]))
    values <- cbind(values, 0 * values[, 1L]) # for directions that the curve does not have
    values[, pmin(columns$direction[own] + 1L, ncol(values))]
  }, places, names(places))
  with_entries(x, unlist(places), unlist(values, use.names = FALSE))
}

# The problem with the curves of its rows of positive weight. Its x is as given.
made_curves <- function(problem) {
  if (!has_curves(problem)) return(problem)
  sparse <- inherits(problem$x, "dgCMatrix")
  places <- match(names(problem$curves), problem$columns$name)
  problem$curves <- Map(function(curve, place) {
    # the number of thresholds beside a curve, or a record of them
    beside <- curve$beside
    curve_of(problem$x[, place] + 0, problem$rows$weight, curve$df, sparse,
             kept = if (isTRUE(curve$placed)) curve, basis = curve$basis,
             beside = if (is.list(beside)) beside$df - 1L else beside)
  }, problem$curves, places)
  problem <- named_thresholds(problem)
  columns <- problem$columns
  curved <- which(!is.na(columns$curve))
  factors <- vapply(curved, function(j) {
    problem$curves[[columns$curve[j]]]$factors[columns$direction[j] + 1L]
  }, 0)
  # directions that these rows do not have are 0
  factors[is.na(factors)] <- 1
  problem$columns$roughness <- replace(rep(1, nrow(columns)), curved, factors)
  put_curves(problem, problem$curves)
}

# The problem, whose lines are as given, with its columns by these curves.
put_curves <- function(problem, curves) {
  problem$curves <- curves
  if (!is_computed(problem$x)) {
    lines <- match(names(curves), problem$columns$name)
    moved <- Map(function(curve, j) {
      x <- column_entries(problem$x, j)
      any(x < curve$range[1L] | x > curve$range[2L], na.rm = TRUE)
    }, curves, lines)
    problem$source <- if (any(unlist(moved))) problem$x[, lines, drop = FALSE]
  }
  problem$x <- at_curves(curves, problem$x, problem$columns)
  problem
}

# The problem with other names of some columns, in all places that have names of columns.
renamed_places <- function(problem, at, names) {
  problem$columns$name[at] <- names
  if (problem$coding$named && !is.null(problem$x)) colnames(problem$x)[at] <- names
  if (!is.null(problem$coding$design)) problem$coding$design$columns$name[at] <- names
  problem
}

# Whether each column is a direction that the rows of a problem do not have, or a product of a pair.
is_no_direction <- function(problem) {
  no_product <- is_of_pair(problem)
  if (!has_curves(problem)) return(no_product)
  for (name in names(problem$curves)) {
    own <- which(problem$columns$curve == name)
    no_product[own] <- !has_direction(problem$curves[[name]], problem$columns$direction[own])
  }
  no_product
}

# Refuses columns of which some are functions of others that are not among them.
check_lines <- function(problem, columns) {
  of_pair <- is_of_pair(problem)[columns]
  lost <- columns[!source_places(problem)[columns] %in% columns & !of_pair]
  stop_input_if(length(lost), "column '%s' is a direction of the curve of '%s': take '%s', too",
                problem$columns$name[lost[1L]], source_names(problem)[lost[1L]],
                source_names(problem)[lost[1L]])
  for (j in columns[of_pair]) {
    away <- setdiff(read_places(problem, j), columns)
    if (!length(away)) next
    stop_input("column '%s' is of the pair of '%s' and '%s': take '%s', too",
               problem$columns$name[j], problem$pairs$first[problem$columns$pair[j]],
               problem$pairs$second[problem$columns$pair[j]], problem$columns$name[away[1L]])
  }
}

# Says how many rows of new data x of some columns are beyond the range of a curve.
say_beyond <- function(problem, x, columns) {
  if (!has_curves(problem)) return(invisible())
  curve <- problem$columns$curve[columns[is.na(pair_places(problem)[columns])]]
  lines <- which(!is.na(curve) & !duplicated(curve))
  beyond <- lapply(lines, function(j) {
    range <- problem$curves[[curve[j]]]$range
    which(x[, j] < range[1L] | x[, j] > range[2L])
  })
  count <- length(unique(unlist(beyond)))
  message_if(count > 0L, "sparsels_message_beyond",
             "%s of `newdata` %s beyond the training range of %s: a curve is constant there",
             counted(count, "row"), if (count == 1L) "is" else "are",
             some_of(curve[lines[lengths(beyond) > 0L]], 5L))
}

# Words -------------------------------------------------------------------------------------------

# The degrees of freedom of all curves by name, with which as_problem() makes them again.
given_curves <- function(problem) if (has_curves(problem)) vapply(problem$curves, `[[`, 0L, "df")

curves_words <- function(problem) {
  basis <- vapply(problem$curves, `[[`, "", "basis")
  vapply(unique(basis), function(one) {
    df <- given_curves(problem)[basis == one]
    sprintf("%s of %s (%s of freedom): %s",
            sub("+", " and ", sub("curve", "curves", one), fixed = TRUE),
            counted(length(df), "column"), counted_range(range(df), "degree"),
            some_of(names(df), 8L, ""))
  }, "")
}

# The value of `smooth_basis` with which as_problem() makes steps and hinges again.
given_basis <- function(problem) {
  basis <- vapply(problem$curves, `[[`, "", "basis")
  if (any(basis != "curve")) basis[basis != "curve"]
}

# Pairs --------------------------------------------------------------------------------------------

# Pairs: products of the curves of two columns. A problem with `pairs` has a place for each pair
# that it offers, and for each place columns: the products of the line and the first directions of
# one column with the line and the first directions of the other one, in standard units and clipped.
# `columns$pair` is the place and `columns$product` the number of the product. Which pair
# is in which place is learned from the rows of positive weight, their responses among them, as
# curves and means are: pairs are screened anew whenever a problem gets other rows, weights or
# responses. So a model of part of the rows has its columns by number, and the pairs of its own
# places in what its columns take from the training rows.

# `pairs` has `first` and `second`, the names of the columns of each place, `functions`, how many of
# each column are multiplied, `p`, the logarithm of the probability of their score by chance,
# `screened`, FALSE for pairs that were given, and by the name of each column that may be in a pair
# its degrees of freedom `df` and its curve (`basis`). `placed` tells whether parts of the rows keep
# these curves.

# the values in standard units beyond which a factor of a product does not change
product_limit <- 3

# the functions of each column of a pair, its line among them: by default, and at most
pair_functions <- 2L
most_functions <- 4L

has_pairs <- function(problem) !is.null(problem$pairs)

# whether pairs are chosen by the responses
has_screened_pairs <- function(problem) isTRUE(problem$pairs$screened)

# the place of the pair of each column, NA for other columns
pair_places <- function(problem) {
  if (has_pairs(problem)) problem$columns$pair else rep(NA_integer_, ncol(problem))
}

# whether each column is of a pair
is_of_pair <- function(problem) !is.na(pair_places(problem))

# whether each column is a direction of a curve
is_direction <- function(problem) {
  if (has_curves(problem)) problem$columns$direction > 0L & !is_of_pair(problem) else
    logical(ncol(problem))
}

# The functions of columns that a search from the columns `start` may leave out, the first ones
# first: screened pairs, and the directions of curves unless some are given in `start`.
optional_functions <- function(problem, start = integer()) {
  curves <- has_curves(problem) && is.null(given_basis(problem)) &&
    !any(is_direction(problem)[start])
  c(if (has_screened_pairs(problem)) "pairs", if (curves) "curves")
}

# The problem that a search with these controls may choose from, without the columns of functions
# that are left out.
searched_problem <- function(problem, control) {
  out <- "pairs" %in% control$left_out & is_of_pair(problem) |
    "curves" %in% control$left_out & is_direction(problem)
  problem$columns$usable[out] <- FALSE
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

# The line and the first directions of a curve, `count` functions as far as it has them, at x in
# standard units, clipped. NA where x is.
clipped_basis <- function(curve, x, count = pair_functions) {
  if (!isTRUE(curve$scale > 0)) return(matrix(0 * x))
  columns <- curve_columns(curve, x)
  own <- seq_len(min(count - 1L, length(curve$d)))
  values <- cbind((columns[, 1L] - curve$centre) / curve$scale,
                  columns[, own + 1L] / curve$scale + rep(curve$origin[own], each = length(x)),
                  deparse.level = 0L)
  pmin(pmax(values, -product_limit), product_limit)
}

# The line (direction 0) or a direction of clipped_basis() in pieces, as curve_pieces() has them.
clipped_pieces <- function(curve, direction) {
  whole <- curve_pieces(curve, direction)
  by <- if (direction == 0L) curve$centre else -curve$origin[direction] * curve$scale
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
  # most pieces are sure not to reach a limit, as they are between their Bezier coefficients
  q <- p * length^(0:3)
  ends <- c(q[1L], q[1L] + q[2L] / 3, q[1L] + (2 * q[2L] + q[3L]) / 3, sum(q))
  if (all(abs(ends) < product_limit)) return(list(at = 0, pieces = matrix(p, 1L)))
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

# The factors of products: 1 is the line and 2 the first direction of a column. Products 1 to q^2
# are of the first q functions of both columns, whatever q is.
product_factors <- function(product) {
  larger <- as.integer(ceiling(sqrt(product)))
  rest <- as.integer(product - (larger - 1L)^2)
  first <- rest < larger
  cbind(ifelse(first, larger, rest - larger + 1L), ifelse(first, rest, larger))
}

# The factors of products at x: clipped_basis(), 0 for directions that the curve does not have.
pair_factors_at <- function(curve, x, count = pair_functions) {
  values <- clipped_basis(curve, x, count)
  cbind(values, 0 * values[, rep(1L, count - ncol(values))], deparse.level = 0L)
}

# The factors of the penalty of columns of pairs, a part of the table of columns.
pair_penalties <- function(pairs, columns) {
  factors <- product_factors(columns$product)
  each <- mapply(function(name, at) pairs$basis[[name]]$factors[at],
                 c(pairs$first[columns$pair], pairs$second[columns$pair]), factors)
  # directions that these rows do not have are 0
  each <- matrix(replace(each, is.na(each), 1), ncol = 2L)
  each[, 1L] * each[, 2L]
}

# The columns of pairs, rows x columns, from the values x of columns by name. `columns` are some
# rows of the table of columns.
pair_columns <- function(pairs, x, columns) {
  factors <- product_factors(columns$product)
  basis <- lapply(stats::setNames(nm = paired_names(pairs, columns$pair)), function(name) {
    pair_factors_at(pairs$basis[[name]], x[, match(name, colnames(x))] + 0, max(factors))
  })
  values <- vapply(seq_len(nrow(columns)), function(j) {
    place <- columns$pair[j]
    basis[[pairs$first[place]]][, factors[j, 1L]] * basis[[pairs$second[place]]][, factors[j, 2L]]
  }, numeric(nrow(x)))
  matrix(values, nrow(x))
}

# A computed matrix whose columns `at` are products of pairs of its columns `places`, which have
# these names.
with_pair_functions <- function(x, at, pairs, columns, names, places = seq_along(names)) {
  paired <- match(rbind(pairs$first[columns$pair], pairs$second[columns$pair]), names)
  factors <- product_factors(columns$product)
  by <- max(factors) * (paired - 1L) + t(factors)
  with_functions(x, at, factor_functions(pairs, names, max(factors)), by,
                 unclass(x)$of[1L, places[paired]])
}

# The factors of each of some columns, one column after the other, in pieces.
factor_functions <- function(pairs, names, count = pair_functions) {
  each <- lapply(pairs$basis[names], function(curve) {
    had <- if (isTRUE(curve$scale > 0)) length(curve$d) else -1L
    lapply(seq_len(count) - 1L, function(direction) {
      if (direction > had) zero_pieces(curve) else clipped_pieces(curve, direction)
    })
  })
  unlist(unname(each), recursive = FALSE)
}

# Of a problem ------------------------------------------------------------------------------------

# The problem with the names of its pairs, in all places that have names of columns.
named_pairs <- function(problem, at) {
  columns <- some_rows(problem$columns, at)
  part <- c("", paste0("~", seq_len(most_functions - 1L)))
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
  x <- x[, others, drop = FALSE]
  dimnames(x) <- list(NULL, NULL)
  x <- cbind(x, methods::as(values, "CsparseMatrix"))[, order(c(others, at)), drop = FALSE]
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
  by_place <- c("first", "second", "functions", "p")
  pairs[by_place] <- lapply(pairs[by_place], `[`, places)
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
  given <- if (pairs$screened) length(pairs$first) else unname(Map(c, pairs$first, pairs$second))
  if (all(pairs$functions == pair_functions)) return(given)
  c(as.list(given), list(df = if (pairs$screened) pairs$functions[1L] else pairs$functions))
}

pairs_words <- function(problem) {
  pairs <- problem$pairs
  from <- if (pairs$screened) paste(", screened from", whole_number(choose(length(pairs$df), 2)))
  functions <- if (any(pairs$functions != pair_functions))
    sprintf(", %s of each", counted_range(range(pairs$functions), "function"))
  sprintf("%s of columns%s%s: %s", counted(length(pairs$first), "pair"), paste0(functions, ""),
          paste0(from, ""), some_of(pair_names(pairs), 5L, ""))
}
