# The arguments `smooth` and `interactions` of as_problem(), and the terms s() of formulas: which
# columns have curves and pairs, and the screening of pairs.

# `smooth` of as_problem() for a problem whose columns are all as given: the problem with the
# directions of curves behind their lines.
with_curves <- function(problem, smooth, basis = NULL, called = "x") {
  wanted <- with_basis(smooth_columns(smooth, problem), basis, problem)
  if (!nrow(wanted)) return(problem)
  check_functions_of(problem, "smooth", called)
  wanted <- within_values(wanted, problem)
  if (!nrow(wanted)) return(problem)
  check_curve_rows(problem, wanted)
  wanted <- wanted[order(wanted$place), ]
  names <- problem$columns$name
  count <- replace(rep(0L, length(names)), wanted$place, wanted$df - 1L + wanted$beside)
  of <- rep(seq_along(names), count + 1L)
  direction <- sequence(count + 1L) - 1L
  columns <- some_rows(problem$columns, of)
  suffix <- ifelse(direction > 0L, paste0("~", direction), "")
  columns$name <- distinct_names(paste0(names[of], suffix), direction > 0L)
  columns$curve <- ifelse(count[of] > 0L, names[of], NA)
  columns$direction <- direction
  problem <- with_spread(problem, columns, of)
  problem$curves <- stats::setNames(Map(list, df = wanted$df, basis = wanted$basis,
                                        beside = wanted$beside),
                                    names[wanted$place])
  problem
}

# The problem with these columns, which are functions of its columns `of` and begin with the values
# of its columns `places`.
with_spread <- function(problem, columns, of, places = of) {
  x <- if (is_computed(problem$x)) problem$x else as_doubles(problem$x)
  # many columns are computed as they are read
  if (is.matrix(x) && as.double(nrow(x)) * length(places) > most_stored) x <- computed_matrix(x)
  problem$x <- some_part(x, columns = places)
  problem$columns <- columns
  if (problem$coding$named) colnames(problem$x) <- columns$name
  if (!is.null(problem$coding$design)) {
    problem$coding$design <- subset_design(problem$coding$design, of)
    problem$coding$design$columns$name <- columns$name
  }
  problem
}

# The columns with curves by `smooth`: place, degrees of freedom `df` and `basis`, NA if they are
# not given, and whether the column was `named`.
smooth_columns <- function(smooth, problem) {
  none <- data.frame(place = integer(), df = integer(), named = logical(), basis = character())
  if (is.null(smooth) || isFALSE(smooth)) return(none)
  if (inherits(smooth, "smooth_terms")) return(smooth_terms(smooth, problem))
  named <- is.character(smooth) || !is.null(names(smooth))
  valid <- isTRUE(smooth) || is.character(smooth) || is.numeric(smooth) && !is.object(smooth)
  if (!valid || !named && length(smooth) != 1L) {
    refuse("smooth", paste("TRUE, the names of columns, a number of degrees of freedom,",
                           "or numbers by name, such as c(age = 4)"), smooth)
  }
  df <- if (is.numeric(smooth)) unname(smooth) else rep(NA_integer_, length(smooth))
  bad <- if (is.numeric(smooth)) which(is.na(df) | df < 2 | df != round(df))
  stop_argument_if(length(bad),
                   "`smooth` must have whole numbers of 2 or more degrees of freedom, not %s: %s",
                   format(df[bad[1L]]), "1 is the column itself")
  given <- if (is.character(smooth)) smooth else names(smooth)
  places <- if (named) smooth_places(given, problem) else which(is_numeric_column(problem))
  data.frame(place = places, df = as.integer(rep_len(df, length(places))),
             named = rep(named, length(places)), basis = rep(NA_character_, length(places)))
}

# The same for the terms s() of a formula. A column takes the first of those by name, or otherwise
# the first.
smooth_terms <- function(smooth, problem) {
  each <- lapply(smooth, function(one) {
    found <- smooth_columns(one$smooth, problem)
    if (!is.null(one$among)) found <- found[problem$columns$name[found$place] %in% one$among, ]
    if (!is.null(one$basis)) found$basis[] <- check_basis(one$basis, "basis` of `s()")
    found
  })
  found <- do.call(rbind, each)
  found <- found[order(!found$named), ]
  found[!duplicated(found$place), ]
}

# The columns with curves, with the basis of each by `smooth_basis` where it is not given otherwise,
# and whether the degrees of freedom were `stated`.
with_basis <- function(wanted, basis, problem) {
  if (is.null(basis)) basis <- "curve"
  stop_argument_if(!identical(basis, "curve") && !nrow(wanted),
                   "`smooth_basis` is for columns with curves: give `smooth`, too")
  valid <- is.character(basis) && (length(basis) == 1L || !is.null(names(basis)))
  refuse_unless(valid, "smooth_basis",
                paste("\"curve\", \"steps\", \"hinges\", \"curve+steps\" or \"curve+hinges\",",
                      "or these by name, such as c(age = \"steps\")"), basis)
  check_basis(basis, "smooth_basis")
  own <- wanted$place
  named <- if (!is.null(names(basis))) smooth_places(names(basis), problem, "smooth_basis")
  lone <- setdiff(named, own)
  stop_argument_if(length(lone), "`smooth_basis` has '%s', which has no curve: give it in `smooth`",
                   problem$columns$name[lone[1L]])
  by <- if (is.null(named)) rep(basis, length(own)) else unname(basis[match(own, named)])
  open <- is.na(wanted$basis)
  wanted$basis[open] <- ifelse(is.na(by), "curve", by)[open]
  wanted$stated <- !is.na(wanted$df)
  wanted$df <- ifelse(wanted$stated, wanted$df, basis_df[wanted$basis])
  wanted
}

check_basis <- function(basis, called) {
  for (one in basis) check_choice(one, called, names(basis_df))
  basis
}

# whether each column is of numbers, not of a factor
is_numeric_column <- function(problem) {
  !rep_len(coded_columns(problem$coding$design), ncol(problem))
}

# The places of columns by name or by a term of one column.
smooth_places <- function(given, problem, called = "smooth") {
  numeric <- which(is_numeric_column(problem))
  terms <- column_term_names(problem)
  twice <- given[anyDuplicated(given)]
  stop_argument_if(length(twice), "`%s` has '%s' twice", called, twice)
  vapply(given, function(name) {
    place <- which(problem$columns$name == name)
    if (!length(place)) place <- which(terms == name)
    stop_argument_if(!length(place), "`%s` has '%s', which is no column of the data", called, name)
    stop_argument_if(length(place) > 1L || !place %in% numeric,
                     "`%s` has '%s', which is %s: a curve is of one column of numbers", called,
                     name, if (place[1L] %in% numeric) "several columns" else "a factor")
    place
  }, 0L, USE.NAMES = FALSE)
}

# Refuses data whose columns cannot have the curves or pairs of an argument.
check_functions_of <- function(problem, argument, called) {
  stop_argument_if(is_read_in_place(problem$x) && !is_computed(problem$x),
                   "`%s` needs a matrix of doubles in memory, or a sparse one: read `%s` by %s",
                   argument, called, "as.matrix()")
  stop_argument_if(!is_centred(problem),
                   "`%s` needs an intercept: a curve is about the mean of its column", argument)
}

# The degrees of freedom as far as the values of the columns allow them. Columns of at most six
# values remain lines unless they are named.
within_values <- function(wanted, problem) {
  trained <- which(problem$rows$weight > 0)
  count_values <- function(rows, place) {
    x <- problem$x[rows, place]
    length(unique(x[is.finite(x)]))
  }
  values <- vapply(wanted$place, function(place) {
    # the first rows of most columns have more values than matter
    some <- count_values(utils::head(trained, 1000L), place)
    if (some > 100L && some > max(wanted$df) + 1L) some else count_values(trained, place)
  }, 0L)
  few <- wanted$named & values < 3L
  message_if(any(few), "sparsels_message_curves",
             "`smooth`: %s %s fewer than three values and %s",
             some_of(problem$columns$name[wanted$place[few]], 5L),
             if (sum(few) == 1L) "has" else "have",
             if (sum(few) == 1L) "remains a line" else "remain lines")
  # steps between all values and the line are as many as the values
  most <- values - (wanted$basis != "steps")
  low <- wanted$named & wanted$stated & !few & wanted$df > most
  message_if(any(low), "sparsels_message_curves",
             "`smooth`: '%s' has %s values, so its curve has %s of freedom",
             problem$columns$name[wanted$place[low]][1L], values[low][1L],
             counted(most[low][1L], "degree"))
  wanted$df <- as.integer(pmin(wanted$df, pmax(most, 1L)))
  beside <- unname(basis_df[beside_basis[wanted$basis]]) - 1L
  wanted$beside <- ifelse(is.na(beside), 0L, pmin(beside, values - 1L))
  wanted[values >= ifelse(wanted$named, 3L, line_values + 1L), ]
}

# columns of so few values remain lines unless they are named
line_values <- 6L

# Says where curves do not pay, and warns where rows are few.
check_curve_rows <- function(problem, wanted) {
  rows <- trained_rows(problem)
  message_if(length(unique(source_names(problem))) > rows, "sparsels_message_curves",
             "`smooth` with more columns than rows: curves of so many columns do not pay, %s",
             "as columns chosen by their lines predict as well or better")
  largest <- max(0L, wanted$df[is_spline(wanted)])
  warn_if(rows < 4 * largest, "sparsels_warning_curves",
          "curves of %d degrees of freedom from %d rows: give fewer, as in `smooth = 2`", largest,
          rows)
}

# Pairs -------------------------------------------------------------------------------------------

# the number of pairs that a problem offers
offered_pairs <- 40L

# the largest number of columns of which all pairs are screened
most_screened <- 200L

# `interactions` of as_problem() for a problem with the directions of its curves: the problem with
# the columns of each pair, which are 0 until pairs are found.
with_pair_places <- function(problem, interactions, called = "x") {
  if (is.null(interactions) || isFALSE(interactions)) return(problem)
  given <- split_functions(interactions)
  pairs <- if (is.list(given$pairs)) listed_pairs(given$pairs, problem) else
    screened_pairs(given$pairs, problem)
  pairs$functions <- check_functions(given$df, length(pairs$first), pairs$screened)
  check_functions_of(problem, "interactions", called)
  names <- pairs$among
  pairs$among <- NULL
  pairs$df <- vapply(stats::setNames(nm = names), function(name) {
    own <- spline_of(problem, name)$df
    if (!is.null(own)) return(own)
    x <- problem$x[problem$rows$weight > 0, match(name, problem$columns$name)]
    if (length(unique(x[is.finite(x)])) > line_values) curve_df else 1L
  }, 0L)
  count <- pairs$functions^2L
  own <- ncol(problem)
  of <- c(seq_len(own), rep(match(names[1L], problem$columns$name), sum(count)))
  columns <- some_rows(problem$columns, of)
  columns$pair <- c(rep(NA, own), rep(seq_along(count), count))
  columns$product <- c(rep(NA, own), sequence(count))
  new <- own + seq_len(sum(count))
  plain <- list(curve = NA, direction = 0L, penalty = 1)
  for (name in intersect(names(plain), names(columns))) columns[[name]][new] <- plain[[name]]
  problem <- with_spread(problem, columns, of, source_places(problem)[of])
  problem$pairs <- pairs
  if (!is_computed(problem$x)) {
    problem$x <- replaced_columns(problem$x, new, matrix(0, nrow(problem), length(new)))
  }
  named_pairs(problem, new)
}

# `interactions` without its element `df`, the functions of each column, NULL where it has none.
split_functions <- function(interactions) {
  at <- which(names(interactions) == "df")
  if (!is.list(interactions) || length(at) != 1L) return(list(pairs = interactions, df = NULL))
  pairs <- unname(interactions[-at])
  # all pairs are screened where none are given
  alone <- length(pairs) <= 1L && !is.character(unlist(pairs))
  list(pairs = if (alone) c(unlist(pairs), TRUE)[1L] else pairs, df = interactions[[at]])
}

# The functions of each column of some pairs, one number or a number for each pair.
check_functions <- function(df, count, screened) {
  if (is.null(df)) df <- pair_functions
  valid <- is.numeric(df) && !is.object(df) && length(df) %in% c(1L, if (!screened) count)
  bad <- if (valid) df[!df %in% pair_functions:most_functions] else list(df)
  stop_argument_if(length(bad),
                   "`df` of pairs must be %d to %d, the functions of each column%s, not %s",
                   pair_functions, most_functions,
                   if (screened) "" else ", or such a number for each pair", describe(bad[[1L]]))
  rep_len(as.integer(df), count)
}

screened_pairs <- function(interactions, problem) {
  valid <- isTRUE(interactions) || is.numeric(interactions) && !is.object(interactions) &&
    length(interactions) == 1L
  refuse_unless(valid, "interactions",
                paste("TRUE, how many pairs are offered,",
                      "or a list of pairs, such as list(c(\"age\", \"dose\"))"), interactions)
  count <- if (isTRUE(interactions)) offered_pairs else check_count(interactions, "interactions")
  columns <- which(is_numeric_column(problem) & source_places(problem) == seq_len(ncol(problem)) &
                     given_factors(problem) < Inf)
  stop_argument_if(length(columns) > most_screened,
                   "`interactions` of %d columns would screen %s pairs, %s: %s", length(columns),
                   whole_number(choose(length(columns), 2)),
                   sprintf("which is for %d columns or fewer", most_screened),
                   "give pairs by name, as in list(c(\"age\", \"dose\"))")
  stop_argument_if(length(columns) < 2L,
                   "`interactions` needs two columns of numbers or more, not %d", length(columns))
  none <- rep(NA_character_, min(count, choose(length(columns), 2)))
  list(first = none, second = none, p = rep(NA_real_, length(none)), screened = TRUE,
       among = problem$columns$name[columns])
}

listed_pairs <- function(interactions, problem) {
  stop_argument_if(!length(interactions), "`interactions` is an empty list: give pairs, or TRUE")
  places <- vapply(interactions, function(pair) {
    if (!is.character(pair) || length(pair) != 2L || anyNA(pair)) {
      refuse("interactions", "a list of pairs of names of columns", pair)
    }
    stop_argument_if(pair[1L] == pair[2L], "`interactions` has the pair of '%s' and itself: %s",
                     pair[1L], "give `smooth` for a curve")
    sort(smooth_places(pair, problem, "interactions"))
  }, integer(2L))
  twice <- which(duplicated(t(places)))[1L]
  name <- problem$columns$name
  stop_argument_if(!is.na(twice), "`interactions` has the pair of '%s' and '%s' twice",
                   name[places[1L, twice]], name[places[2L, twice]])
  list(first = name[places[1L, ]], second = name[places[2L, ]],
       p = rep(NA_real_, ncol(places)), screened = FALSE, among = unique(name[t(places)]))
}

# Screening of pairs -------------------------------------------------------------------------------

# Screening of pairs: scores of all pairs of columns by residuals of models of the other columns.

# The logarithm of the probability by chance of the score of each pair of columns (n x n), from
# their factors z (rows x 2 n: all lines, then all first directions), held-out residuals r (rows x
# responses) and weights w. The score of a product c is (sum w r c)^2 / (s^2 sum w (c - mean)^2),
# and the score of a pair is the sum over its products and the responses. Without an effect it is
# about chi-squared. No product is made: the sums are products of matrices.
pair_chances <- function(z, r, w) {
  own <- crossprod(z^2, w * z^2)
  along <- vapply(seq_len(ncol(r)), function(l) crossprod(z, w * r[, l] * z), own)
  chances_of(crossprod(z, w * z), own, along, r, w)
}

# The same from sums over the rows, for each two factors, of w times their product, its square
# (`own`), and the product times r (`along`, an array with a matrix for each response).
chances_of <- function(sums, own, along, r, w) {
  total <- sum(w)
  squares <- own - sums^2 / total
  varies <- squares > 1e-8 * own & own > 0
  score <- 0 * own
  for (l in seq_len(ncol(r))) {
    mean <- sum(w * r[, l]) / total
    variance <- sum(w * (r[, l] - mean)^2) / sum(w > 0)
    if (variance == 0) next
    score <- score + (along[, , l] - mean * sums)^2 / ifelse(varies, squares, Inf) / variance
  }
  of_pairs <- function(values) {
    line <- seq_len(ncol(own) / 2L)
    values[line, line] + values[line, -line] + values[-line, line] + values[-line, -line]
  }
  df <- ncol(r) * of_pairs(varies)
  ifelse(df > 0, stats::pchisq(of_pairs(score), df, lower.tail = FALSE, log.p = TRUE), 0)
}

# the lambdas of the models whose residuals screen pairs, as multiples of the sum of the weights
additive_lambdas <- 4^(1:-5)

# The leave-one-out residuals (rows x responses, 0 in rows of weight 0) of the ridge model of all
# columns but pairs, at the best of several lambdas.
additive_residuals <- function(problem) {
  alone <- which(problem$columns$usable & !is_of_pair(problem))
  q <- covariate_basis(problem)
  y <- response_given(problem, q)
  x <- if (length(alone)) working_matrix(problem, alone, q) else matrix(0, nrow(y), 1L)
  tall <- ncol(x) <= nrow(x)
  found <- eigen(if (tall) crossprod(x) else tcrossprod(x), symmetric = TRUE)
  values <- pmax(found$values, 0)
  x <- if (tall) x %*% found$vectors else found$vectors * rep(sqrt(values), each = nrow(x))
  t <- crossprod(x, y)
  leverage <- rowSums(q^2)
  best <- NULL
  for (lambda in additive_lambdas * sum(problem$rows$weight)) {
    left <- 1 - leverage - drop(x^2 %*% (1 / (values + lambda)))
    residual <- (y - x %*% (t / (values + lambda))) / ifelse(left > 1e-8, left, Inf)
    if (is.null(best) || sum(residual^2) < sum(best^2)) best <- residual
  }
  best / weight_divisor(problem)
}

# The pairs of a problem whose other columns are measured: screened by their scores, unless they
# were given, with the curves of its rows. Of many rows these curves remain as they were first
# placed, as knots do.
found_pairs <- function(problem) {
  pairs <- problem$pairs
  names <- names(pairs$df)
  if (!isTRUE(pairs$placed)) {
    pairs$placed <- trained_rows(problem) >= placed_rows &&
      any(problem$columns$usable & !is_of_pair(problem))
    pairs$basis <- lapply(stats::setNames(nm = names), function(name) {
      own <- spline_of(problem, name)
      if (!is.null(own)) return(own)
      curve_of(drop(lines_as_given(problem, name)), problem$rows$weight, pairs$df[[name]])
    })
  }
  if (!pairs$screened) return(pairs)
  problem$pairs <- pairs
  if (pairs$placed) return(top_pairs(pairs, placed_chances(problem)))
  x <- lines_as_given(problem, names)
  z <- vapply(seq_along(names), function(j) pair_factors_at(pairs$basis[[j]], x[, j]),
              matrix(0, nrow(x), 2L))
  z <- matrix(aperm(z, c(1L, 3L, 2L)), nrow(x))
  z[is.na(z)] <- 0
  top_pairs(pairs, pair_chances(z, additive_residuals(problem), problem$rows$weight))
}

# The pairs of least probability by chance.
top_pairs <- function(pairs, chance) {
  places <- which(upper.tri(chance), arr.ind = TRUE)
  top <- places[order(chance[places])[seq_along(pairs$first)], , drop = FALSE]
  pairs$first <- names(pairs$df)[top[, 1L]]
  pairs$second <- names(pairs$df)[top[, 2L]]
  pairs$p <- chance[top]
  pairs
}

# Of many rows -------------------------------------------------------------------------------------

# Many rows are screened by the residuals of the model of all of them, at the lambda of the least
# generalised cross-validation: each row moves its own residual by next to nothing. Model and lambda
# follow from products, so that x is read for the residuals alone, for several training sets at
# once.

# The probabilities of pair_chances() of the rows of a problem.
placed_chances <- function(problem) {
  alone <- part_of(problem, columns = which(problem$columns$usable & !is_of_pair(problem)))
  products <- fold_products(alone, list(ids = matrix(1L, nrow(problem), 1L), loo = FALSE))
  model <- additive_model(alone, unpacked(products$of[, 2L]), diag(ncol(alone)),
                          trained_rows(problem), products$weight[2L])
  chances_without(problem, alone, list(model), rep(0L, nrow(problem)))[[1L]]
}

# The ridge model of all columns of a problem, which `turn` makes of the given ones, from the
# products of these, the covariates and the responses over training rows of this number and weight:
# coefficients `b` of the given columns and `u` of the covariates.
additive_model <- function(problem, products, turn, rows, weight) {
  x <- seq_len(ncol(problem))
  y <- ncol(products) + 1L - rev(seq_len(ncol(problem$rows$y)))
  q <- setdiff(seq_len(ncol(products)), c(x, y))
  explained <- solve(products[q, q, drop = FALSE], products[q, , drop = FALSE])
  rest <- products - products[, q, drop = FALSE] %*% explained
  found <- eigen(crossprod(turn, rest[x, x] %*% turn), symmetric = TRUE)
  values <- pmax(found$values, 0)
  t <- crossprod(found$vectors, crossprod(turn, rest[x, y, drop = FALSE]))
  total <- sum(diag(rest)[y])
  least <- Inf
  for (lambda in additive_lambdas * weight) {
    beta <- t / (values + lambda)
    left <- rows - length(q) - sum(values / (values + lambda))
    error <- (total - sum(beta * (2 * t - values * beta))) / left^2
    if (left <= 0 || error >= least) next
    least <- error
    b <- turn %*% (found$vectors %*% beta)
  }
  list(b = b, u = explained[, y, drop = FALSE] - explained[, x, drop = FALSE] %*% b)
}

# The residuals of some additive models of the columns of a problem (rows x responses for each), in
# the units of the response.
additive_rest <- function(problem, models) {
  q <- covariate_basis(problem)
  y <- response_given(problem, q) / weight_divisor(problem)
  each <- lapply(stats::setNames(nm = c("b", "u")),
                 function(name) do.call(cbind, lapply(models, `[[`, name)))
  b <- each$b / problem$columns$scale
  scores <- linear_scores(problem$x, seq_len(nrow(b)), b, q / weight_divisor(problem), each$u)
  rest <- as.vector(y) - matrix(scores, nrow(y)) + rep(problem$columns$centre %*% b, each = nrow(y))
  lapply(seq_along(models), function(i) {
    rest[, seq_len(ncol(y)) + (i - 1L) * ncol(y), drop = FALSE]
  })
}

# The probabilities of pair_chances() for some training sets, whose additive `models` are of the
# columns of the problem `alone`: set i is without the rows of fold i.
chances_without <- function(problem, alone, models, ids) {
  w <- problem$rows$weight
  z <- factor_columns(problem)
  rests <- additive_rest(alone, models)
  folds <- unique(ids)
  by_fold <- lapply(folds, function(fold) {
    rows <- which(ids == fold)
    own <- if (length(rows) < nrow(z)) some_part(z, rows, seq_len(ncol(z))) else z
    lapply(list(sums = own, own = squared_columns(own)), weighted_products, as.matrix(w[rows]))
  })
  weights <- lapply(seq_along(models), function(i) w * (ids != i))
  along <- weighted_products(z, do.call(cbind, Map(`*`, weights, rests)))
  lapply(seq_along(models), function(i) {
    over <- function(name) rowSums(Reduce(`+`, lapply(by_fold[folds != i], `[[`, name)), dims = 2L)
    own <- seq_len(ncol(rests[[i]]))
    chances_of(over("sums"), over("own"), along[, , own + (i - 1L) * length(own), drop = FALSE],
               rests[[i]], weights[[i]])
  })
}

# The factors of all pairs as computed columns, 0 where a value is missing: all lines, then all
# first directions.
factor_columns <- function(problem) {
  names <- names(problem$pairs$df)
  count <- length(names)
  z <- if (is_computed(problem$x)) {
    some_part(without_functions(problem$x), columns = match(names, problem$columns$name))
  } else {
    computed_matrix(lines_as_given(problem, names))
  }
  z <- some_part(z, columns = rep(seq_len(count), 2L))
  z <- with_functions(z, seq_len(2L * count), factor_functions(problem$pairs, names),
                      c(2L * seq_len(count) - 1L, 2L * seq_len(count)))
  carrying(z, numeric(2L * count))
}
