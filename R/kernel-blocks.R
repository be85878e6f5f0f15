# Ridge regression on rows whose terms (columns, or kernels with the basis vectors) are not all held
# in memory. The rows are read in blocks, as often as necessary.
#
# The R factor of some rows is the upper triangular factor of the QR decomposition of their
# covariates, terms and responses side by side. Training requires nothing else from these rows. The
# R factor of two sets of rows is computed from the R factors of both. So a model without a fold is
# trained on the R factors of the other folds. The condition number of the terms is not squared, as
# it would be by their products K'K.

reads_blocks <- function(problem, terms) {
  tall <- nrow(problem) > ncol(problem$z) + terms + ncol(problem$rows$y)
  many <- is_file_matrix(problem$x) || as.double(nrow(problem)) * terms > most_term_values
  # rows that are centred together may be in several blocks
  tall && many && is.null(stated_by_properties(problem, "joint"))
}

is_in_blocks <- function(spectrum) !is.null(spectrum$source)

# Terms -------------------------------------------------------------------------------------------

# The source of the terms of any rows is a list of `x` and of `columns`, `centre` and `scale` of
# columns of x, or of `kernel`, `points` (the basis vectors in the form that the kernel takes),
# `diagonal` (the kernel of each with itself) and `scaling`, the scaling of x in the form of a
# problem.

# The terms of some rows, a plain matrix. `owner` has for each row the number of the basis vector
# that it is, else 0.
source_terms <- function(source, rows, owner) {
  if (is.null(source$kernel)) {
    x <- unname(as.matrix(source$x[rows, source$columns, drop = FALSE]))
    stop_input_if(!all(is.finite(colSums(x))), "`x` has missing or infinite values")
    return(moved(x, source$centre) / rep(source$scale, each = nrow(x)))
  }
  K <- if (is_precomputed(source$kernel)) {
    unname(as.matrix(source$x[rows, source$columns, drop = FALSE]))
  } else {
    x <- kernel_points(source$scaling, as_doubles(source$x[rows, , drop = FALSE]))
    kernel_matrix(source$kernel, x, source$points)
  }
  own <- which(owner > 0L)
  replace(K, cbind(own, owner[own]), source$diagonal[owner[own]])
}

# The covariates, terms and responses of some rows side by side, in working coordinates, except that
# the terms are not projected.
working_rows <- function(spectrum, rows) {
  terms <- source_terms(spectrum$source, rows, spectrum$basis[rows])
  cbind(spectrum$z_basis[rows, , drop = FALSE], spectrum$root_w[rows] * terms,
        spectrum$y[rows, , drop = FALSE])
}

working_width <- function(spectrum) {
  ncol(spectrum$z_basis) + ncol(spectrum$source$penalty) + ncol(spectrum$y)
}

# Triangles ---------------------------------------------------------------------------------------

stacked_triangle <- function(above, below) .Call(C_triangle, above, below)

# The R factor of each set of rows. `set` has the set of each row.
triangles_of <- function(spectrum, set, sets) {
  p <- working_width(spectrum)
  m <- length(set)
  size <- rows_at_a_time(p)
  triangles <- rep(list(matrix(0, 0L, p)), sets)
  bar <- progress_bar(interactive(), "Training")
  for (block in block_ranges(m, size * sets)) {
    for (part in split(block, set[block])) {
      s <- set[part[1L]]
      for (some in block_ranges(length(part), size)) {
        triangles[[s]] <- stacked_triangle(triangles[[s]], working_rows(spectrum, part[some]))
      }
    }
    if (!is.null(bar)) bar(max(block), m)
  }
  triangles
}

# The ridge problem of an R factor in its eigen coordinates, on the terms `kept`. `values`, `back`
# and `t` are as in a spectrum. `of_y` and `of_terms` are the coefficients of the covariates for the
# response and for the terms. `on_terms` is the response along each coordinate, and `rest` has the
# sums of squares along none. Without a basis that can be held out, coordinates whose root is only
# rounding error, at most `digits` of the largest, are left out.
solved_triangle <- function(triangle, penalty, q, kept = seq_len(ncol(penalty)), digits = 0) {
  n <- ncol(penalty)
  z <- seq_len(q)
  own <- q + seq_len(n)
  y <- seq_len(ncol(triangle))[-c(z, own)]
  if (length(kept) < n) {
    penalty <- stacked_triangle(penalty[, kept, drop = FALSE], penalty[0L, kept, drop = FALSE])
  }
  terms <- triangle[own, q + kept, drop = FALSE]
  parts <- if (length(kept)) svd(t(backsolve(penalty, t(terms), transpose = TRUE))) else
    list(d = numeric(), u = terms, v = matrix(0, 0L, 0L))
  real <- digits == 0 | parts$d > digits * max(parts$d, 0)
  U <- parts$u[, real, drop = FALSE]
  V <- parts$v[, real, drop = FALSE]
  response <- triangle[own, y, drop = FALSE]
  on_terms <- crossprod(U, response)
  list(values = parts$d[real]^2, back = solve_upper(penalty, V),
       t = parts$d[real] * on_terms, on_terms = on_terms,
       rest = colSums((response - U %*% on_terms)^2) + colSums(triangle[y, y, drop = FALSE]^2),
       of_terms = solve_upper(triangle[z, z, drop = FALSE], triangle[z, q + kept, drop = FALSE]),
       of_y = solve_upper(triangle[z, z, drop = FALSE], triangle[z, y, drop = FALSE]))
}

# backsolve() refuses an empty system
solve_upper <- function(R, b) if (nrow(R)) backsolve(R, b) else b

# Training ----------------------------------------------------------------------------------------

# A ridge problem in blocks: list(spectrum, of_terms, sets, triangles). `of_terms` are the
# coefficients of the terms on the covariates. `sets` are the sets of the first partition in
# `folds`, if each has its R factor in `triangles`. `penalty` is the upper Cholesky factor of the
# penalty, and `rows` are the rows of the basis vectors.
block_problem <- function(problem, source, penalty, rows = NULL, folds = NULL, linear = FALSE) {
  work <- working(problem)
  m <- nrow(problem)
  spectrum <- list(y = work$y, z_basis = work$q, root_w = work$root_w,
                   intercept_only = has_intercept_only(problem),
                   basis = match(seq_len(m), rows, 0L), source = c(source, list(penalty = penalty)))
  sets <- if (!is.null(folds)) fold_sets(folds$ids[, 1L])
  by_set <- !is.null(sets) && is_retrained(spectrum, sets)
  triangles <- if (by_set) triangles_of(spectrum, set_of_rows(sets, m), set_count(sets)) else
    triangles_of(spectrum, rep(1L, m), 1L)
  digits <- if (linear) .Machine$double.eps * sqrt(max(dim(problem))) else 0
  solved <- solved_triangle(Reduce(stacked_triangle, triangles), penalty, ncol(work$q),
                            digits = digits)
  spectrum[c("t", "values", "back")] <- solved[c("t", "values", "back")]
  spectrum$source$of_terms <- solved$of_terms
  spectrum[c("complete", "linear")] <- list(FALSE, linear)
  factor <- decomposed_covariates(problem)$factor
  list(spectrum = spectrum, of_terms = solve_upper(factor, solved$of_terms), solved = solved,
       triangles = if (by_set) triangles)
}

# The spectrum of some rows. Its `phi` belongs to these rows, its `values` and `t` to all rows.
spectrum_of_rows <- function(spectrum, rows) {
  source <- spectrum$source
  values <- working_rows(spectrum, rows)
  q <- ncol(spectrum$z_basis)
  own <- q + seq_len(ncol(source$penalty))
  z <- values[, seq_len(q), drop = FALSE]
  spectrum$phi <- (values[, own, drop = FALSE] - z %*% source$of_terms) %*% spectrum$back
  spectrum$z_basis <- if (is.null(spectrum$held)) z else spectrum$held[rows, , drop = FALSE]
  spectrum$held <- NULL
  spectrum$y <- values[, -c(seq_len(q), own), drop = FALSE]
  spectrum$root_w <- spectrum$root_w[rows]
  spectrum$basis <- spectrum$basis[rows]
  spectrum$source <- NULL
  spectrum
}

# Sets of rows held out ---------------------------------------------------------------------------

# list(order: the rows of one set after the other, start: the number of rows before each set, and of
# all sets)
row_sets <- function(sets) {
  list(order = as.integer(unlist(sets)), start = as.integer(c(0, cumsum(lengths(sets)))))
}

fold_sets <- function(ids) {
  sizes <- tabulate(ids)
  list(order = order(ids), start = as.integer(c(0, cumsum(sizes[sizes > 0L]))))
}

set_count <- function(sets) length(sets$start) - 1L

# the number of the set of every row, where rows in no set have the next number
set_of_rows <- function(sets, m) {
  set <- rep(set_count(sets) + 1L, m)
  set[sets$order] <- rep(seq_len(set_count(sets)), diff(sets$start))
  set
}

# Whether models without the sets are trained on R factors. R factors then take less memory than the
# terms of the largest set, which the other method uses.
is_retrained <- function(spectrum, sets) {
  triangles <- (set_count(sets) + 1) * working_width(spectrum)^2
  triangles < as.double(max(diff(sets$start))) * ncol(spectrum$source$penalty)
}

# A plan that holds sets out: `models`, one for each set, where they are retrained.
holdout_plan <- function(spectrum, sets, lambda, remove = TRUE, threads = 1L, triangles = NULL) {
  plan <- list(spectrum = spectrum, sets = sets, lambda = lambda, remove = remove,
               threads = threads)
  if (is_retrained(spectrum, sets)) return(retrained_plan(plan, triangles))
  held <- held_spectrum(spectrum, sets)
  plan$spectrum$held <- held$z_basis
  plan$spectrum$basis <- held$basis
  plan
}

retrained_plan <- function(plan, triangles = NULL) {
  spectrum <- plan$spectrum
  sets <- plan$sets
  plan$set <- set_of_rows(sets, nrow(spectrum$y))
  stop_input_if(!identical(held_spectrum(spectrum, sets), spectrum),
                paste("a covariate in `adjust` cannot be estimated without a fold, which models of",
                      "rows that are read in blocks do not support: use other `folds`"))
  if (is.null(triangles)) triangles <- triangles_of(spectrum, plan$set, max(plan$set))
  owner <- split(spectrum$basis, factor(plan$set, seq_len(set_count(sets))))
  n <- ncol(spectrum$source$penalty)
  # the R factor of all rows outside a set: of the sets before it and of the sets after it
  before <- triangles[[1L]][0L, , drop = FALSE]
  after <- Reduce(stacked_triangle, triangles[-1L], before, right = TRUE, accumulate = TRUE)
  plan$models <- vector("list", set_count(sets))
  for (s in seq_along(plan$models)) {
    kept <- if (plan$remove) setdiff(seq_len(n), owner[[s]]) else seq_len(n)
    solved <- solved_triangle(stacked_triangle(before, after[[s]]), spectrum$source$penalty,
                              ncol(spectrum$z_basis), kept)
    plan$models[[s]] <- solved_coefficients(solved, plan$lambda, n, kept)
    before <- stacked_triangle(before, triangles[[s]])
  }
  plan
}

# The coefficients of covariates and of n terms ((q + n) x L x lambda) in working coordinates, from
# the value of solved_triangle() on the terms `kept`.
solved_coefficients <- function(solved, lambda, n = nrow(solved$back), kept = seq_len(n)) {
  L <- ncol(solved$of_y)
  beta <- matrix(0, n, L * length(lambda))
  beta[kept, ] <- solved$back %*% shrunken(solved, lambda)
  of_terms <- solved$of_terms %*% beta[kept, , drop = FALSE]
  covariates <- rep(as.vector(solved$of_y), length(lambda)) - of_terms
  array(rbind(covariates, beta), c(nrow(solved$of_y) + n, L, length(lambda)))
}

# Calls take(set, place, residual, whole) for all rows held out, part by part: the set of each row,
# its place in the order of the sets, its residuals (rows x L x lambda) in the user's units, and
# whether all rows of these sets are in this part. `chosen` tells which lambdas.
each_held_out <- function(plan, take, chosen = seq_along(plan$lambda)) {
  if (!is.null(plan$models)) return(predict_each(plan, take, chosen))
  # Small sets are downdated from the spectrum of all rows. Where that loses too many digits their
  # models are retrained.
  start <- plan$sets$start
  block <- start[-length(start)] %/% rows_at_a_time(working_width(plan$spectrum))
  from <- which(!duplicated(block))
  to <- c(from[-1L] - 1L, length(block))
  lost <- integer()
  bar <- progress_bar(interactive(), "Holding out")
  for (b in seq_along(from)) {
    sets <- from[b]:to[b]
    place <- (start[from[b]] + 1L):start[to[b] + 1L]
    own_start <- start[c(sets, to[b] + 1L)] - start[from[b]]
    answer <- taken_away(spectrum_of_rows(plan$spectrum, plan$sets$order[place]),
                         list(order = seq_along(place), start = own_start), plan$lambda[chosen],
                         plan$remove, plan$threads)
    set <- rep(sets, diff(own_start))
    lost <- c(lost, sets[answer$lost])
    kept <- !set %in% lost
    take(set[kept], place[kept], answer$residual[kept, , , drop = FALSE], TRUE)
    if (!is.null(bar)) bar(max(place), length(plan$sets$order))
  }
  if (length(lost)) retrain_lost(plan, lost, take, chosen)
}

retrain_lost <- function(plan, lost, take, chosen) {
  start <- plan$sets$start
  places <- lapply(lost, function(s) seq.int(start[s] + 1L, start[s + 1L]))
  plan$sets <- row_sets(lapply(places, function(place) plan$sets$order[place]))
  places <- unlist(places)
  predict_each(retrained_plan(plan), function(set, place, residual, whole) {
    take(lost[set], places[place], residual, whole)
  }, chosen)
}

predict_each <- function(plan, take, chosen) {
  spectrum <- plan$spectrum
  place_of <- integer(length(plan$set))
  place_of[plan$sets$order] <- seq_along(plan$sets$order)
  rows <- which(place_of > 0L)
  size <- rows_at_a_time(working_width(spectrum))
  bar <- progress_bar(interactive(), "Holding out")
  for (block in block_ranges(length(rows), size)) {
    some <- rows[block]
    for (part in split(some, plan$set[some])) {
      s <- plan$set[part[1L]]
      residual <- model_residuals(spectrum, part, plan$models[[s]][, , chosen, drop = FALSE])
      take(rep(s, length(part)), place_of[part], residual, FALSE)
    }
    if (!is.null(bar)) bar(max(block), length(rows))
  }
}

# residuals of rows by coefficients in working coordinates, in the user's units: rows x L x lambda
model_residuals <- function(spectrum, rows, coefficients) {
  values <- working_rows(spectrum, rows)
  used <- seq_len(nrow(coefficients))
  fit <- values[, used, drop = FALSE] %*% matrix(coefficients, length(used))
  residual <- (as.vector(values[, -used]) - fit) / spectrum$root_w[rows]
  array(residual, c(length(rows), dim(coefficients)[-1L]))
}

# the residuals of all held-out rows: (rows in the order of the sets) x L x lambda
collected_residuals <- function(plan, chosen = seq_along(plan$lambda)) {
  out <- array(0, c(length(plan$sets$order), ncol(plan$spectrum$y), length(chosen)))
  each_held_out(plan, function(set, place, residual, whole) out[place, , ] <<- residual, chosen)
  out
}

# Errors ------------------------------------------------------------------------------------------

# The weighted mean over folds of any number of losses and its standard error, as in fold_mean(),
# for folds that come a few at a time: add(fold of each row, its weight and losses times its weight,
# whether these are all rows of their folds).
fold_means <- function() {
  total <- NULL
  open <- NULL
  close_folds <- function(sums) {
    sums <- sums[sums[, 1L] > 0, , drop = FALSE]
    if (!nrow(sums)) return(invisible())
    weight <- sum(sums[, 1L])
    mean <- colSums(sums[, -1L, drop = FALSE]) / weight
    off <- sums[, -1L, drop = FALSE] / sums[, 1L] - rep(mean, each = nrow(sums))
    more <- list(folds = nrow(sums), weight = weight, mean = mean,
                 squares = colSums(sums[, 1L] * off^2))
    if (!is.null(total)) {
      weight <- total$weight + more$weight
      apart <- more$mean - total$mean
      more <- list(folds = total$folds + more$folds, weight = weight,
                   mean = total$mean + apart * (more$weight / weight),
                   squares = total$squares + more$squares +
                     apart^2 * (total$weight * more$weight / weight))
    }
    total <<- more
  }
  list(
    add = function(fold, values, whole) {
      sums <- rowsum(values, fold, reorder = FALSE)
      if (whole) return(close_folds(sums))
      sums <- rbind(open, sums)
      open <<- rowsum(sums, rownames(sums), reorder = FALSE)
    },
    result = function() {
      if (!is.null(open)) close_folds(open)
      n <- total$folds
      se <- if (n > 1L) sqrt(total$squares / total$weight / (n - 1L)) else NA_real_ * total$mean
      without_rounding(total$mean, se)
    }
  )
}

# The errors of several partitions, averaged as evaluate_folds() does, and for each the residuals if
# they are no more than `most_term_values`. Criteria are sums over rows.
plan_table <- function(plans, problem, criterion) {
  criteria <- c(list(criterion),
                if (problem$coding$task != "regression") list(list(name = "error")))
  done <- lapply(plans, function(plan) {
    means <- lapply(criteria, function(one) fold_means())
    size <- c(length(plan$sets$order), ncol(problem$rows$y), length(plan$lambda))
    kept <- if (prod(size) <= most_term_values) array(0, size)
    each_held_out(plan, function(set, place, residual, whole) {
      if (!is.null(kept)) kept[place, , ] <<- residual
      part <- scored_rows(problem, plan$sets$order[place])
      for (k in seq_along(criteria)) {
        w <- row_weights(part, criteria[[k]])
        losses <- row_losses(part, criteria[[k]]$name, residual)
        means[[k]]$add(set, cbind(w, w * matrix(losses, length(w))), whole)
      }
    })
    list(errors = lapply(means, function(one) one$result()), residual = kept)
  })
  values <- lapply(seq_along(criteria), function(k) {
    average(lapply(done, function(one) one$errors[[k]]))
  })
  table <- data.frame(criterion = values[[1L]][1L, ], se = values[[1L]][2L, ], row.names = NULL)
  if (length(criteria) > 1L) table$error <- values[[2L]][1L, ]
  list(table = table, residuals = lapply(done, `[[`, "residual"))
}

# The errors of evaluate_spectrum() in blocks, for every lambda: held out and on the training rows,
# with functions of the row of the best lambda that return its residuals. `trained` is the result of
# block_problem().
evaluate_blocks <- function(trained, problem, control) {
  lambda <- control$lambda
  spectrum <- trained$spectrum
  solved <- trained$solved
  plans <- lapply(seq_len(ncol(control$folds$ids)), function(repetition) {
    holdout_plan(spectrum, fold_sets(control$folds$ids[, repetition]), lambda,
                 threads = control$threads, triangles = if (repetition == 1L) trained$triangles)
  })
  done <- plan_table(plans, problem, squared_error)
  squares <- vapply(lambda, function(one) {
    sum((one / (solved$values + one) * solved$on_terms)^2) + sum(solved$rest)
  }, 0)
  list(errors = done$table, training = squares / (ncol(problem$rows$y) * sum(problem$rows$weight)),
       held_out = function(best) {
         average(Map(function(plan, residual) {
           residual <- if (is.null(residual)) collected_residuals(plan, best) else
             residual[, , best, drop = FALSE]
           layer(residual, 1L)[order(plan$sets$order), , drop = FALSE]
         }, plans, done$residuals))
       },
       fitted = function(best) {
         coefficients <- solved_coefficients(solved, lambda[best])
         residual <- spectrum$y
         for (rows in block_ranges(nrow(residual), rows_at_a_time(working_width(spectrum)))) {
           residual[rows, ] <- layer(model_residuals(spectrum, rows, coefficients), 1L)
         }
         residual
       })
}

# The result of cv_error() for a fit in blocks. `scored` are the held-out rows, by `folds` of them.
block_errors <- function(fit, scored, folds, basis, criterion, lambda) {
  problem <- fit$problem
  criterion <- as_criterion(criterion, scored_rows(problem, scored), folds)
  plans <- lapply(seq_len(ncol(folds$ids)), function(repetition) {
    sets <- fold_sets(folds$ids[, repetition])
    sets$order <- scored[sets$order]
    holdout_plan(fit$spectrum, sets, lambda, basis == "remove", fit$threads)
  })
  plan_table(plans, problem, criterion)$table
}
