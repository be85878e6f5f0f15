# Searches by products: of data with many rows x is read once, for the products of its columns,
# covariates and responses with each other in the rows of each fold. A search, its held-out errors,
# its refits, and the same without a fold then take no time that depends on the number of rows
# (src/greedy-products.c). `control$products` has `folds`, their number, `of`, the products, packed
# by packed_place() (entries x folds and all rows), `weight`, the weights of the folds, `variables`,
# the columns, covariates and responses of the problem among the ones that were multiplied, `of_y`,
# what the covariates explain of the response, `shared`, whether the folds of the size are the folds
# of the search, and of the training set `without`, the fold that it lacks or 0, and `turn`, what
# multiplies the columns of its units (the most in a unit x columns).

# rows for each variable, and for each column of the largest unit in each fold
rows_of_products <- 5L

# the number of products that are kept, half a gigabyte
most_products <- 2^26

# The products for a search, NULL where it needs the rows themselves. Where pairs are screened anew
# in each training set, `pairs` has the pairs of each, and `wide` is a problem with the pairs of all
# of them, whose columns were multiplied. `parts` keeps what part_by_products() has made.
products_of <- function(problem, control) {
  if (is.null(control$sizing$folds) || !can_use_products(problem, control)) return(NULL)
  # the columns of a training set are functions of the given ones that products determine: not means
  # of missing values, pairs of curves of its own rows, nor the weights of balanced classes
  shared <- is.null(column_state(problem)$mean) && problem$coding$standardize &&
    problem$coding$intercept && !identical(problem$coding$class_weights, "balanced") &&
    (!has_pairs(problem) || problem$pairs$placed) &&
    identical(as.vector(control$folds$ids), as.vector(control$sizing$folds$ids))
  products <- if (shared && has_screened_pairs(problem)) screened_products(problem, control)
  if (is.null(products)) {
    products <- search_products(problem, control, multiplied(problem, control))
    products$shared <- shared && !has_screened_pairs(problem)
  }
  products$parts <- new.env(parent = emptyenv())
  products
}

# The same of a problem whose pairs are screened anew in each training set, NULL where products do
# not determine these pairs, or are too many. x is read for the products of the other columns, and
# then for the products with the pairs of all training sets.
screened_products <- function(problem, control) {
  alone <- part_of(problem, columns = which(problem$columns$usable & !is_of_pair(problem)))
  pairs <- pairs_without(problem, alone,
                         search_products(alone, control, multiplied(alone, control)))
  wide <- if (!is.null(pairs)) with_all_pairs(problem, pairs)
  if (is.null(wide) || !can_hold_products(wide, max(control$folds$ids))) return(NULL)
  products <- search_products(wide, control, multiplied(wide, control))
  own <- with_own_pairs(problem, wide, problem$pairs)
  products[c("shared", "pairs", "wide")] <- list(TRUE, pairs, wide)
  some_products(products, wide, own$places)
}

multiplied <- function(problem, control) {
  fold_products(problem, control$folds, control$threads,
                progress_bar(control$progress, "Multiplying columns"))
}

# The products of all rows as a search takes them.
search_products <- function(problem, control, products) {
  of_y <- crossprod(covariate_basis(problem), root_weights(problem) * problem$rows$y)
  c(products, list(variables = seq_len(count_variables(problem)), of_y = of_y,
                   ids = control$folds$ids[, 1L], shared = FALSE, without = 0L, turn = NULL))
}

# For each of some responses the products of a search: the columns are multiplied with all responses
# at once. `several` is the problem with all of them.
products_of_responses <- function(several, control, responses) {
  several$columns$products <- matrix(0, ncol(several), ncol(several$rows$y))
  products <- multiplied(several, control)
  others <- seq_len(count_variables(several) - ncol(several$rows$y))
  from <- length(others) + cumsum(c(0L, vapply(responses, ncol, 0L)))
  lapply(seq_along(responses), function(i) {
    several$rows$y <- responses[[i]]
    own <- search_products(several, control, products)
    replace(own, "variables", list(c(others, from[i] + seq_len(ncol(responses[[i]])))))
  })
}

can_hold_products <- function(problem, folds) {
  count <- count_variables(problem)
  packed_place(count, count) * (folds + 1) <= most_products
}

largest_unit <- function(problem, columns = seq_len(ncol(problem))) {
  max(1L, tabulate(groups_of_columns(problem)[columns[problem$columns$usable[columns]]]))
}

# Whether the errors of a search follow from products, and many rows make them worth it.
can_use_products <- function(problem, control) {
  folds <- control$folds
  # single columns may be steps and hinges, but not directions of curves, nor one of a group
  units <- !chooses_one(problem) &&
    (any(groups_of_columns(problem) > 0L) || !any(vapply(problem$curves, is_spline, NA)))
  plain <- units && is_squared(control) && !is_survival(problem) &&
    is.null(stated_by_properties(problem, "joint"))
  forward <- identical(control$criterion$name, "squared") && control$search == "forward" &&
    is.null(control$cost)
  plain && forward && ncol(folds$ids) == 1L && !folds$loo &&
    nrow(problem) >= rows_of_products *
      max(count_variables(problem), max(folds$ids) * largest_unit(problem)) &&
    can_hold_products(problem, max(folds$ids)) &&
    identical(fold_basis(problem, folds), covariate_basis(problem))
}

# Whether there are so many rows that ten folds choose as leave-one-out does. Curves then have so
# many that parts of the rows keep their knots, or are of such a part.
is_of_many_rows <- function(problem) {
  if (!has_curves(problem)) return(trained_rows(problem) >= many_rows)
  placed <- vapply(problem$curves, function(curve) isTRUE(curve$placed), NA)
  any(placed) || trained_rows(problem) >= placed_rows
}

many_rows <- 1000L

# The products of some columns.
some_products <- function(products, problem, columns) {
  if (is.null(products)) return(NULL)
  products["turn"] <- list(products$turn[, columns, drop = FALSE])
  products$variables <- products$variables[c(columns, after_columns(problem, products))]
  products
}

# the covariates and responses among the variables of a problem
after_columns <- function(problem, products) ncol(problem) + seq_len(sum(dim(products$of_y)))

# The answer of a search with the coefficients of the given columns, and of all of the response.
# Each of its models has the first columns of the largest.
of_given_columns <- function(answer, problem, products) {
  if (is.null(products)) return(answer)
  sizes <- length(answer$model_entry)
  answer$u <- matrix(answer$u + as.vector(products$of_y), ncol = sizes)
  if (is.null(products$turn)) return(answer)
  most <- length(answer$model) / sizes
  count <- replace(answer$model_columns, answer$model_entry < 0L, 0L)
  features <- matrix(answer$model, most)[seq_len(max(count)), which.max(count)] + 1L
  beta <- array(answer$beta, c(most, length(answer$beta) / length(answer$model), sizes))
  there <- outer(seq_along(features), count, "<=")
  unit <- unit_places(problem)
  for (l in seq_len(dim(beta)[2L])) {
    turned <- matrix(beta[seq_along(features), l, ], length(features))
    turned[!there] <- 0
    given <- 0 * turned
    for (p in seq_len(nrow(unit$columns))) {
      other <- match(unit$columns[p, features], features)
      own <- which(!is.na(other))
      by <- products$turn[cbind(unit$place[features[own]], features[other[own]])]
      given[own, ] <- given[own, ] + by * turned[other[own], ]
    }
    beta[seq_along(features), l, ] <- given
  }
  replace(answer, "beta", list(as.vector(beta)))
}

# The products for searches whose functions of some kinds are left out.
products_without <- function(products, left_out) {
  if (is.null(products)) return(NULL)
  if ("pairs" %in% left_out) products[c("pairs", "wide")] <- NULL
  products$parts <- new.env(parent = emptyenv())
  products
}

# The unit of each column: `columns` (the most in a unit x columns), and its `place` among them.
unit_places <- function(problem) {
  columns <- matrix(NA_integer_, largest_unit(problem), ncol(problem))
  columns[1L, ] <- seq_len(ncol(problem))
  place <- rep(1L, ncol(problem))
  group <- replace(groups_of_columns(problem), !problem$columns$usable, 0L)
  for (own in split(seq_along(group), replace(group, group == 0L, NA))) {
    columns[seq_along(own), own] <- own
    place[own] <- seq_along(own)
  }
  list(columns = columns, place = place)
}

# Training sets without a fold --------------------------------------------------------------------

# The training set without the rows of a fold: the `problem` without x, whose columns are made of
# these rows, its `products`, and the problem `of` whose columns the products are. They are in some
# `places` of the columns of the problem `given`, which has x. NULL where a column is constant
# there, or a curve has fewer directions.
part_by_products <- function(problem, products, fold) {
  given <- problem
  places <- seq_len(ncol(problem))
  if (!is.null(products$pairs)) {
    given <- products$wide
    own <- with_own_pairs(problem, given, products$pairs[[fold]])
    places <- own$places
    problem <- own$problem
    products$variables <- c(places, after_columns(given, products))
  }
  of <- problem
  usable <- which(problem$columns$usable)
  turned <- turned_without(problem, products, fold, usable)
  if (is.null(turned)) return(NULL)
  problem$rows$weight[products$ids == fold] <- 0
  # only plain columns of the training set are multiples of the given ones
  if (!has_terms(problem)) problem$given_x <- problem$x
  problem[c("x", "source", "compiled")] <- NULL
  if (!is.null(problem$columns$roughness)) problem$columns$roughness[usable] <- turned$factors
  problem$columns$rss[usable] <- turned$squares
  problem$columns$scale <- penalty_divisor(problem)
  products$without <- fold
  products$turn <- turned$by
  part <- list(problem = problem, products = products, of = of, given = given, places = places)
  products$parts[[as.character(fold)]] <- part
  part
}

# Some usable columns of a training set without a fold, all of their curves among them: `by`, what
# multiplies the given columns of a unit (the most in a unit x columns of the problem), the
# `factors` of their penalty and sums of their `squares`. NULL as above.
turned_without <- function(problem, products, fold, usable) {
  moments <- moments_without(problem, products, fold)
  by <- matrix(0, largest_unit(problem), ncol(problem))
  place <- unit_places(problem)$place
  divisor <- penalty_divisor(problem)
  given <- given_factors(problem)
  factors <- squares <- numeric(ncol(problem))
  sets <- column_sets(problem, usable)
  for (own in sets$curves) {
    turned <- turned_curve(problem$curves[[problem$columns$curve[own[1L]]]], moments(own))
    if (is.null(turned)) return(NULL)
    factors[own] <- turned$factors
    squares[own] <- turned$squares
    by[place[own], own] <- divisor[own] * turned$made /
      rep(sqrt(given[own] * turned$factors), each = length(own))
  }
  single <- sets$single
  alone <- moments(single, alone = TRUE)
  if (!are_determined(alone$centred, alone$residual, alone$centred)) return(NULL)
  factors[single] <- roughness_of(problem)[single]
  squares[single] <- alone$total * alone$residual / alone$centred
  by[cbind(place[single], single)] <- divisor[single] /
    sqrt(alone$centred * given[single] * factors[single])
  list(by = by, factors = factors[usable], squares = squares[usable])
}

# Of some columns a set for each of the `curves`, and the columns that are `single`.
column_sets <- function(problem, usable) {
  curve <- problem$columns$curve[usable]
  if (is.null(curve)) curve <- rep(NA, length(usable))
  curve[is_beside_curves(problem)[usable]] <- NA
  sets <- unname(split(usable, curve))
  several <- lengths(sets) > 1L
  list(curves = sets[several], single = c(usable[is.na(curve)], unlist(sets[!several])))
}

# A function of some columns: their products over the rows without a fold as in standard units of
# all rows, about the means (`centred`) and given the covariates (`residual`), for a weight of 1.
# The products of columns that are `alone` are of each with itself.
moments_without <- function(problem, products, fold) {
  last <- products$folds + 1L
  total <- products$weight[last] - products$weight[fold]
  at <- function(places) products$of[places, last] - products$of[places, fold]
  without <- function(i, j) {
    places <- outer(products$variables[i], products$variables[j], packed_place)
    array(at(places), dim(places))
  }
  covariates <- ncol(problem) + seq_len(nrow(products$of_y))
  along <- without(seq_len(ncol(problem)), covariates)
  of_covariates <- without(covariates, covariates)
  explained <- solve(of_covariates)
  divisor <- penalty_divisor(problem)
  function(own, alone = FALSE) {
    g <- along[own, , drop = FALSE]
    if (alone) {
      unit <- divisor[own]^2 / total
      all <- at(packed_place(products$variables[own], products$variables[own]))
      return(list(centred = unit * (all - g[, 1L]^2 / of_covariates[1L, 1L]),
                  residual = unit * (all - rowSums(g %*% explained * g)), total = total))
    }
    unit <- divisor[own] %o% divisor[own] / total
    all <- without(own, own)
    list(centred = unit * (all - tcrossprod(g[, 1L]) / of_covariates[1L, 1L]),
         residual = unit * (all - g %*% explained %*% t(g)), total = total)
  }
}

# Whether rows determine columns, of a unit by the eigenvalues of its products.
are_determined <- function(spread, residual, centred) {
  all(spread >= 1e-6) && all(residual >= 1e-6 * centred)
}

# The columns of a curve of a training set from the given ones: the factors by which these are
# multiplied (`made`), `factors` of the penalty, and sums of `squares` given the covariates. NULL
# where these rows do not determine them.
turned_curve <- function(curve, moments) {
  centred <- moments$centred
  spread <- eigen(centred, symmetric = TRUE, only.values = TRUE)$values
  if (!are_determined(spread, diag(moments$residual), diag(centred))) return(NULL)
  found <- pencil_directions(centred, diag(c(0, curve$d)))
  made <- cbind(c(1 / sqrt(centred[1L, 1L]), 0 * curve$d), found$values, deparse.level = 0L)
  list(made = made, factors = direction_factors(found$d),
       squares = moments$total * colSums(made * (moments$residual %*% made)))
}

# Pairs of training sets ---------------------------------------------------------------------------

# The pairs that the training set without each fold offers, from the `products` of the problem of
# the columns that are `alone`. NULL if products do not determine them.
pairs_without <- function(problem, alone, products) {
  trained <- problem$rows$weight > 0
  last <- products$folds + 1L
  unit <- unit_places(alone)$columns
  there <- which(!is.na(unit), arr.ind = TRUE)
  columns <- seq_len(ncol(alone))
  models <- lapply(seq_len(products$folds), function(fold) {
    turned <- turned_without(alone, products, fold, columns)
    if (is.null(turned)) return(NULL)
    # the matrix that turns all columns, from the matrices that turn the columns of each unit
    turn <- matrix(0, ncol(alone), ncol(alone))
    turn[cbind(unit[there], there[, 2L])] <- turned$by[there]
    additive_model(alone, unpacked(products$of[, last] - products$of[, fold]), turn,
                   sum(trained & products$ids != fold),
                   products$weight[last] - products$weight[fold])
  })
  if (any(vapply(models, is.null, NA))) return(NULL)
  lapply(chances_without(problem, alone, models, products$ids), top_pairs, pairs = problem$pairs)
}

# The problem with a place for each of its pairs and of the pairs of several training sets.
with_all_pairs <- function(problem, each) {
  pairs <- problem$pairs
  all <- unique(do.call(rbind, lapply(c(list(pairs), each), function(one) {
    cbind(one$first, one$second)
  })))
  added <- nrow(all) - length(pairs$first)
  pairs[c("first", "second", "p", "functions")] <-
    list(all[, 1L], all[, 2L], rep(NA_real_, nrow(all)), rep(pairs$functions[1L], nrow(all)))
  problem$coding["design"] <- list(NULL)
  at <- which(is_of_pair(problem))
  at <- at[order(problem$columns$pair[at])]
  like <- which(problem$columns$pair == 1L)
  others <- setdiff(seq_len(ncol(problem)), at)
  columns <- c(others, at, rep(like, added))
  place <- rep(seq_len(nrow(all)), each = length(like))
  problem$x <- some_part(problem$x, columns = columns)
  problem$columns <- some_rows(problem$columns, columns)
  problem$columns$pair <- c(rep(NA, length(others)), place)
  problem <- put_pairs(problem, pairs)
  labels <- group_names(problem, seq_along(others))
  problem <- regrouped(problem, c(labels, pair_names(pairs)[place]))
  if (added == 0L) return(problem)
  with_measures_of(problem, length(others) + length(at) + seq_len(added * length(like)), "x", 1L)
}

# The problem without x with the pairs of a training set in its places. They are in some `places` of
# the problem with all pairs, the `wide` one.
with_own_pairs <- function(problem, wide, pairs) {
  at <- which(is_of_pair(problem))
  place <- match(pair_names(pairs), pair_names(wide$pairs))[problem$columns$pair[at]]
  places <- replace(seq_len(ncol(problem)), at,
                    match(paste(place, problem$columns$product[at]),
                          paste(wide$columns$pair, wide$columns$product)))
  own <- some_rows(wide$columns, places)
  kept <- intersect(c("pair", "product", "group"), names(own))
  own[kept] <- problem$columns[kept]
  problem$columns <- own
  problem["x"] <- list(NULL)
  problem$pairs <- pairs
  list(problem = with_pair_names(problem), places = places)
}
