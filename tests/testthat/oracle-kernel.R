# Slow and obvious: retrain the kernel model without the rows held out, for every set of rows, with
# kernels written from their definitions, by the retrainer of verify().

# Kernels of two points, and the kernel of every pair of rows, one after the other.
oracle_gaussian <- function(gamma) function(x, z) exp(-gamma * sum((x - z)^2))

oracle_polynomial <- function(degree, scale, offset) {
  function(x, z) (scale * sum(x * z) + offset)^degree
}

oracle_linear <- function(x, z) sum(x * z)

oracle_normalised <- function(k) function(x, z) k(x, z) / sqrt(k(x, x) * k(z, z))

oracle_kernel <- function(k, x, z = x) {
  out <- matrix(0, nrow(x), nrow(z))
  for (i in seq_len(nrow(x))) for (j in seq_len(nrow(z))) out[i, j] <- k(x[i, ], z[j, ])
  out
}

# Centred by the weighted mean and divided by the weighted root mean square deviation.
oracle_standardised <- function(x, w, new = x) {
  mean <- colSums(w * x) / sum(w)
  rms <- sqrt(colSums(w * sweep(x, 2, mean)^2) / sum(w))
  sweep(sweep(new, 2, mean), 2, rms, "/")
}

# A kernel model to retrain: `design` (a row for every row of the problem, then one for every new
# point; a column for every basis vector), the matrix of the penalty, and for each row the number of
# the basis vector that it is, or 0. `basis` holds row numbers or a matrix of points. Without a
# basis f is any function of the kernel's space: the rows of `design` are then coordinates of the
# rows and the new points in that space, and the penalty is the plain sum of squares.
oracle_case <- function(pb, k, basis = NULL, shift = "auto", new = NULL) {
  x <- unname(as.matrix(pb$x))
  m <- nrow(x)
  points <- rbind(x, new)
  case <- list(rows = list(y = unname(pb$rows$y), weight = pb$rows$weight), z = unname(pb$z),
               member = integer(m))
  if (is.null(basis)) {
    parts <- eigen(oracle_kernel(k, points), symmetric = TRUE)
    case$design <- parts$vectors %*% diag(sqrt(pmax(parts$values, 0)))
    case$penalty <- diag(nrow(points))
    return(case)
  }
  chosen <- if (is.matrix(basis)) unname(basis) else x[basis, , drop = FALSE]
  case$design <- oracle_kernel(k, points, chosen)
  if (!is.matrix(basis)) case$member[basis] <- seq_along(basis)
  oracle_shifted(case, oracle_kernel(k, chosen), shift)
}

# "auto": what the Cholesky factor needs; "paper": the shift is part of the kernel of a row with
# itself; a number: added to the penalty.
oracle_shifted <- function(case, penalty, shift) {
  n <- ncol(penalty)
  if (shift == "paper") {
    own <- cbind(which(case$member > 0), case$member[case$member > 0])
    case$design[own] <- case$design[own] + 1e-7
    shift <- 1e-7
  }
  if (shift == "auto") {
    shift <- 1e-10 * mean(diag(penalty))
    while (inherits(try(chol(penalty + diag(shift, n)), silent = TRUE), "try-error")) {
      shift <- 10 * shift
    }
  }
  case$penalty <- penalty + diag(shift, n)
  case
}

# Minimises sum_j w_j ||y_j - z_j b - k_j a||^2 + lambda tr(a' P a) over some rows and basis
# vectors.
oracle_train <- function(case, lambda, rows = seq_len(nrow(case$rows$y)),
                         terms = seq_len(ncol(case$design))) {
  x <- case$design[seq_len(nrow(case$rows$y)), terms, drop = FALSE]
  root <- if (length(terms)) chol(case$penalty[terms, terms]) else matrix(0, 0, 0)
  model <- retrain_ridge(case, x, sqrt(lambda) * root, rows)
  list(terms = terms, b = model$b, a = model$B)
}

# Values of a model at rows of `design`. z holds their covariates.
oracle_values <- function(case, model, rows = seq_len(nrow(case$rows$y)),
                          z = case$z[rows, , drop = FALSE]) {
  cbind(z, case$design[rows, model$terms, drop = FALSE]) %*% rbind(model$b, model$a)
}

# Predictions (rows x L) of rows held out together. "remove": they leave the basis too; "keep":
# their loss alone is dropped.
oracle_out <- function(case, lambda, held, basis = "remove") {
  terms <- seq_len(ncol(case$design))
  if (basis == "remove") terms <- setdiff(terms, case$member[held])
  model <- oracle_train(case, lambda, setdiff(seq_len(nrow(case$rows$y)), held), terms)
  oracle_values(case, model, held)
}

# The same for several lambda: rows x L x lambda.
oracle_holdout <- function(case, lambda, held, basis = "remove") {
  values <- vapply(lambda, function(l) oracle_out(case, l, held, basis),
                   matrix(0, length(held), ncol(case$rows$y)))
  array(values, c(length(held), ncol(case$rows$y), length(lambda)))
}

# Held-out predictions of one partition (m x L). "skip": rows of the basis are never held out, NA.
oracle_partition <- function(case, lambda, ids, basis = "remove") {
  out <- case$rows$y * NA
  for (held in split(seq_along(ids), ids)) {
    if (basis == "skip") held <- held[case$member[held] == 0]
    if (length(held)) out[held, ] <- oracle_out(case, lambda, held, basis)
  }
  out
}

# Criterion and its standard error, both averaged over repeats.
oracle_cv_figure <- function(case, lambda, folds, basis = "remove", name = "squared") {
  each <- apply(folds$ids, 2, function(ids) {
    score <- oracle_partition(case, lambda, ids, basis)
    retrain_mean(retrain_sums(case, name, score, ids, which(!is.na(score[, 1]))))
  })
  rowMeans(each)
}

# Leave-pair-out AUC: retrain without both rows of every pair.
oracle_cv_pairs <- function(case, lambda, basis = "remove") {
  rows <- if (basis == "skip") which(case$member == 0) else seq_along(case$member)
  oracle_pair_auc(case, function(pair) oracle_out(case, lambda, pair, basis)[, 1], rows)
}

# An example without random numbers: 20 points, two outputs, four of the points as the basis; shift
# "paper".
worked_example <- function() {
  i <- 1:20
  x <- cbind(i %% 7 / 7, i %% 5 / 5)
  list(x = x, y = cbind(sin(6 * x[, 1]) + x[, 2], x[, 1] * x[, 2] + i / 20),
       basis = c(2, 5, 11, 16), lambda = 0.5, gamma = 2)
}

# A random problem of points in three dimensions, the last two of them rows 1 and 4 again.
random_points <- function(m, task = "one", ...) {
  pb <- random_problem(m - 2, 3, task, ..., standardize = FALSE)
  pb[c(seq_len(m - 2), 1, 4), ]
}

# N settings in which to compare a fit with retraining.
random_settings <- function(N) {
  random_cover(N, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
               covariates = c(FALSE, TRUE), intercept = c(FALSE, TRUE),
               basis = c("all", "scattered", "twins", "points"),
               shift = c("auto", "paper", "number"), gamma = c(1, 3))
}

# What basis a test asks for, by a word. "twins" has rows that are equal, "scattered" has none.
random_basis <- function(pb, kind, n = 6) {
  m <- nrow(pb)
  switch(kind,
    all = NULL,
    scattered = sample(setdiff(seq_len(m - 2), c(1, 4)), n),
    twins = sample(c(1, m - 1, 4, m, sample(setdiff(seq_len(m - 2), c(1, 4)), n - 4))),
    points = matrix(rnorm(3 * n), n)
  )
}

# The user's form of the covariates of a problem.
adjust_of <- function(pb, rows = seq_len(nrow(pb))) {
  z <- pb$z[rows, colnames(pb$z) != "(Intercept)", drop = FALSE]
  if (ncol(z)) z
}

# New rows without each part ----------------------------------------------------------------------

# The models of a list of cases, one for each kernel width, retrained without each fold. They have
# the width and the lambda with the smallest held-out squares of the rows outside its set:
# list(new: scores of the new points x L x folds, held: of the held-out rows, one fold after the
# other). `lambda` decreases. `sets` has the set of each row, like `ids`, by default the folds. Of
# several minima of the error of rows left out one by one, only those lambdas compete that lead down
# to the best minimum by five folds.
oracle_without <- function(cases, lambda, ids, z, sets = ids) {
  ids <- as.matrix(ids)
  sets <- as.matrix(sets)
  m <- nrow(ids)
  each <- lapply(seq_len(ncol(ids)), function(repetition) {
    fold <- ids[, repetition]
    tried <- expand.grid(lambda = lambda, width = seq_along(cases))
    squares_in <- function(fold, l, width) {
      case <- cases[[width]]
      case$rows$weight * rowSums((case$rows$y - oracle_partition(case, l, fold))^2)
    }
    squares <- mapply(squares_in, tried$lambda, tried$width, MoreArgs = list(fold = fold))
    alone <- ncol(ids) == 1 && !anyDuplicated(fold)
    for (width in if (alone) seq_along(cases)) {
      own <- which(tried$width == width)
      by_five <- function(at) {
        sum(squares_in(rep_len(1:5, m), tried$lambda[own[at]], width))
      }
      squares[, own[!oracle_descends(colSums(squares[, own]), by_five)]] <- Inf
    }
    lapply(split(seq_len(m), fold), function(held) {
      outside <- sets[, repetition] != sets[held[1], repetition]
      best <- which.min(signif(colSums(squares[outside, , drop = FALSE]), 12))
      case <- cases[[tried$width[best]]]
      terms <- setdiff(seq_len(ncol(case$design)), case$member[held])
      model <- oracle_train(case, tried$lambda[best], setdiff(seq_len(m), held), terms)
      list(new = oracle_values(case, model, m + seq_len(nrow(z)), z),
           held = oracle_values(case, model, held))
    })
  })
  each <- unlist(each, recursive = FALSE)
  new <- lapply(each, `[[`, "new")
  list(new = array(unlist(new), c(dim(new[[1]]), length(new))),
       held = do.call(rbind, lapply(each, `[[`, "held")))
}

# Whether each of some errors in a row leads down to the minimum of the smallest value of by().
oracle_descends <- function(errors, by) {
  n <- length(errors)
  # the minimum that each place falls to
  foot <- vapply(seq_len(n), function(at) {
    repeat {
      near <- max(1, at - 1):min(n, at + 1)
      lower <- near[which.min(errors[near])]
      if (errors[lower] == errors[at]) return(at)
      at <- lower
    }
  }, 0)
  minima <- unique(foot)
  if (length(minima) == 1) return(rep(TRUE, n))
  best <- minima[which.min(vapply(minima, by, 0))]
  # a maximum between two minima leads to both
  on_way <- function(at) all(diff(errors[at:best]) < 0) || at == best
  vapply(seq_len(n), on_way, NA)
}

# A case of ridge regression on the usable columns, scaled as for all rows.
oracle_columns_case <- function(pb, new) {
  x <- rbind(as.matrix(pb$x), new)[, pb$columns$usable, drop = FALSE]
  if (pb$coding$standardize) {
    # without an intercept columns are divided by their root mean squares
    own <- x[seq_len(nrow(pb)), ]
    if (!pb$coding$intercept) own <- rbind(own, -own)
    x <- oracle_standardised(own, rep_len(pb$rows$weight, nrow(own)), new = x)
  }
  list(rows = list(y = unname(pb$rows$y), weight = pb$rows$weight), z = unname(pb$z),
       member = integer(nrow(pb)), design = unname(x), penalty = diag(ncol(x)))
}
