# Training of fixed-size least-squares support vector machines: by sparse conjugate directions
# pursuit, and by the solvers that use all prototypes at once. Terms are the prototypes and,
# numbered after them, the covariates.

# The ridge parameter of the covariates: nu in (34) of the paper, in units of the weights.
covariate_ridge <- function(problem) 1e-8 * weight_unit(problem)

# The pursuit -------------------------------------------------------------------------------------

# The pursuit for every lambda = 1 / gamma. A list of matrices `criterion`, `se` and, for classes,
# `error`: the held-out errors with a row for each size 0, 1, ... and a column for each lambda, NA
# beyond the last size. `paths` are the pursuits on all rows. If `residuals` is TRUE and lambda a
# single value, `residual` is a function of the size that returns its held-out residuals. The list
# also has `interrupted`. Repeated partitions are averaged, up to the smallest last size.
fs_pursue <- function(setup, columns, lambda, residuals = FALSE) {
  ids <- setup$model$folds$ids
  results <- lapply(seq_len(max(1L, ncol(ids))), function(repetition) {
    own <- ids[, repetition]
    if (!is_large(setup)) return(pursue_partition(setup, columns, lambda, residuals, own))
    paths <- lapply(lambda, function(value) drawn_path(setup, columns, value, own))
    bind <- function(part) do.call(cbind, lapply(paths, `[[`, part))
    list(criterion = bind("criterion"), se = bind("se"), error = bind("error"),
         residual = paths[[1L]]$residual, paths = lapply(paths, `[[`, "path"),
         interrupted = any(vapply(paths, `[[`, NA, "interrupted")))
  })
  errors <- c("criterion", "se", if (!is.null(results[[1L]]$error)) "error")
  means <- lapply(stats::setNames(nm = errors), function(name) average(lapply(results, `[[`, name)))
  c(means, list(
    residual = if (residuals && !is.null(ids)) {
      function(size) average(lapply(results, function(result) result$residual(size)))
    },
    paths = results[[1L]]$paths, interrupted = any(vapply(results, `[[`, NA, "interrupted"))
  ))
}

pursue_partition <- function(setup, columns, lambda, residuals, ids) {
  problem <- setup$problem
  model <- setup$model
  rows <- if (is.null(ids)) seq_len(nrow(problem)) else order(ids)
  forced <- length(model$forced)
  k <- model$k + forced
  control <- pursuit_control(k, setup$n + ncol(setup$z), model$score, model$candidates,
                             dependent_term, model$forced, model$lists)
  control$threads <- model$threads
  control <- c(control, list(
    lambda = lambda, classes = problem$coding$task != "regression", window = model$window,
    change = model$change, residuals = residuals && !is.null(ids)
  ))
  answer <- .Call(C_fixed_size, fs_machine(setup, columns, rows, ids), control)
  if (answer$status == "not_positive") stop_no_kernel()
  if (answer$status == "interrupted" && answer$size[1L] <= forced) raise_interrupt()
  null <- setup$null
  # entry s of the answer is the model of s terms, including the forced terms, which come first
  by_size <- function(values, null) {
    rbind(null, matrix(values, k)[seq_len(k) >= forced, , drop = FALSE])
  }
  list(
    criterion = by_size(answer$squared, null$criterion), se = by_size(answer$se, null$se),
    error = if (control$classes) by_size(answer$error, null$error),
    residual = function(size) {
      residual <- problem$rows$y
      if (size + forced == 0L) return(residual)
      residual[rows, ] <- layer(array(answer$residual, c(dim(residual), k)), size + forced)
      residual
    },
    paths = lapply(seq_along(lambda), read_pursuit, answer = answer, k = k),
    interrupted = answer$status == "interrupted"
  )
}

# The system as src/pursuit-fixed-size.c takes it: rows sorted by fold and multiplied by the square
# roots of their weights. K is copied only if it changes.
fs_machine <- function(setup, columns, rows, ids) {
  problem <- setup$problem
  root_w <- sqrt(problem$rows$weight)[rows]
  response <- problem$rows$y[rows, , drop = FALSE]
  K <- columns$K
  if (is.unsorted(rows)) K <- K[rows, , drop = FALSE]
  if (any(root_w != 1)) K <- root_w * K
  list(
    K = K, K_prototypes = columns$K_prototypes, z = root_w * setup$z[rows, , drop = FALSE],
    y = root_w * response, response = response, root_w = root_w,
    start = as.integer(c(0, cumsum(table(ids)))), nu = covariate_ridge(problem)
  )
}

stop_no_kernel <- function() {
  stop_input("`kernel` is not positive semidefinite on the prototypes: is it a kernel?",
             class = "sparsels_error_singular")
}

# The held-out errors as error_table() has them, NA where nothing is held out.
errors_or_na <- function(problem, folds, residuals) {
  if (is.null(residuals)) return(list(criterion = NA_real_, se = NA_real_, error = NA_real_))
  error_table(problem, folds, residuals)
}

# K (m x n) and the kernel matrix of the prototypes, with functions that give columns of the one and
# parts of the other. If the matrices are too large, the functions alone.
fs_columns <- function(setup, kernel) {
  if (is_large(setup)) return(drawn_columns(setup, kernel))
  kernels <- if (is.null(setup$distances)) kernel_pair(setup$problem, kernel, setup$basis) else
    lapply(setup$distances, function(squared) exp(-kernel$parameters$gamma * squared))
  c(kernels, values = function(j) kernels$K[, j, drop = FALSE],
    between = function(i, j) kernels$K_prototypes[i, j, drop = FALSE])
}

# K (m x n) and the kernel matrix of the n prototypes
kernel_pair <- function(problem, kernel, basis) {
  K <- kernel_columns(problem, kernel, basis)
  list(K = K, K_prototypes = basis_kernel_matrix(problem, kernel, basis, K))
}

# The trained model, of this and of train_at_once(): list(path, models, size, used: prototypes,
# residual: held-out residuals, status).
train_pursuit <- function(setup, columns, lambda) {
  pursuit <- fs_pursue(setup, columns, lambda, residuals = TRUE)
  path <- pursuit$paths[[1L]]
  forced <- length(setup$model$forced)
  sizes <- 0:(path$size - forced)
  errors <- lapply(pursuit[c("criterion", "se", "error")], function(values) values[sizes + 1L])
  # without held-out errors the largest size
  size <- max(sizes)
  if (!is.null(setup$model$folds)) {
    sd <- errors$se * sqrt(max(setup$model$folds$ids))
    size <- choose_row(errors$criterion, "1se", setup$model$size_rule * sd) - 1L
  }
  models <- lapply(sizes, function(s) {
    steps <- s + forced
    fs_weights(setup, path$chosen[seq_len(steps)], leading_solution(path, steps), s)
  })
  terms <- path$chosen[seq_len(size + forced)]
  if (setup$model$refit && length(terms)) {
    beta <- refit_by_qr(setup, columns, terms, lambda)
    models[[size + 1L]] <- fs_weights(setup, terms, beta, size)
  }
  status <- if (max(sizes) < setup$model$k) "early_stop" else "complete"
  list(
    path = fs_path(setup, path$chosen[sizes[-1L] + forced], errors,
                   training_errors(setup, columns, path)[sizes + forced + 1L]),
    models = models, size = size, used = path$chosen[path$chosen <= setup$n],
    residual = if (!is.null(pursuit$residual)) pursuit$residual(size),
    status = if (pursuit$interrupted) "interrupted" else status
  )
}

# The model with weights `beta` of `terms`. Its features are positions among the prototypes used, in
# the order they were added.
fs_weights <- function(setup, terms, beta, size) {
  is_prototype <- terms <= setup$n
  covariates <- matrix(0, ncol(setup$z), ncol(setup$problem$rows$y))
  covariates[terms[!is_prototype] - setup$n, ] <- beta[!is_prototype, ]
  covariates <- setup$back %*% covariates
  dimnames(covariates) <- list(colnames(setup$problem$z), colnames(setup$problem$rows$y))
  list(features = seq_len(sum(is_prototype)), beta = beta[is_prototype, , drop = FALSE],
       covariates = covariates, step = size)
}

# The path: the term added at each step, and the errors of sizes 0, 1, ...
fs_path <- function(setup, added, errors, training) {
  sizes <- 0:length(added)
  is_prototype <- added <= setup$n
  names <- c(basis_names(setup$problem, setup$basis), colnames(setup$problem$z))
  path <- data.frame(
    step = sizes, action = rep(c("start", "add"), c(1L, length(added))),
    prototype = c(NA, ifelse(is_prototype, cumsum(is_prototype), NA)), name = c(NA, names[added]),
    size = sizes, prototypes = c(0L, cumsum(is_prototype)), criterion = errors$criterion,
    se = errors$se
  )
  if (!is.null(errors$error)) path$error <- errors$error
  path$training <- training
  path
}

# values of some terms, m x length(terms)
term_values <- function(setup, columns, terms) {
  is_prototype <- terms <= setup$n
  values <- matrix(0, nrow(setup$problem), length(terms))
  if (any(is_prototype)) values[, is_prototype] <- columns$values(terms[is_prototype])
  values[, !is_prototype] <- setup$z[, terms[!is_prototype] - setup$n]
  values
}

# weighted mean squared training error after 0, 1, ... steps of a path
training_errors <- function(setup, columns, path) {
  problem <- setup$problem
  directions <- t(solve_lower(path$factor, t(term_values(setup, columns, path$chosen))))
  residual <- problem$rows$y
  errors <- mean_squared(problem, residual)
  for (step in seq_len(path$size)) {
    residual <- residual - outer(directions[, step], path$z[step, ])
    errors <- c(errors, mean_squared(problem, residual))
  }
  errors
}

# Weights of some terms by a QR decomposition of the rows augmented by a square root of the penalty.
refit_by_qr <- function(setup, columns, terms, lambda) {
  problem <- setup$problem
  root_w <- sqrt(problem$rows$weight)
  penalty <- diag(sqrt(covariate_ridge(problem)), length(terms))
  prototypes <- which(terms <= setup$n)
  if (length(prototypes)) {
    decomposed <- eigen(columns$between(terms[prototypes], terms[prototypes]), symmetric = TRUE)
    root <- sqrt(lambda * pmax(decomposed$values, 0)) * t(decomposed$vectors)
    penalty[prototypes, prototypes] <- root
  }
  values <- root_w * term_values(setup, columns, terms)
  zeros <- matrix(0, length(terms), ncol(problem$rows$y))
  qr.coef(qr(rbind(values, penalty), LAPACK = TRUE), rbind(root_w * problem$rows$y, zeros))
}

# All prototypes at once --------------------------------------------------------------------------

# Trains on all prototypes at once: on the kernel of the prototypes, or on the features of the
# Nystrom approximation.
train_at_once <- function(setup, columns, lambda) {
  solved <- solver_at_once(setup, columns)(lambda)
  errors <- if (is.null(solved$held_out)) data.frame(criterion = NA_real_, se = NA_real_) else
    error_table(setup$problem, setup$model$folds, solved$held_out)
  path <- data.frame(step = 0L, action = "found", prototype = NA_integer_, name = NA_character_,
                     size = setup$n, prototypes = setup$n, errors, training = solved$training)
  models <- vector("list", setup$n + 1L)
  models[[setup$n + 1L]] <- fs_weights(setup, seq_len(nrow(solved$beta)), solved$beta, 0L)
  list(path = path, models = models, size = setup$n, used = seq_len(setup$n),
       residual = if (!is.null(solved$held_out)) average(solved$held_out), status = "complete")
}

# A function of lambda that returns the weights of all terms, the training error and the held-out
# residuals. Computations that do not depend on lambda are done once, before.
solver_at_once <- function(setup, columns) {
  problem <- setup$problem
  nystrom <- setup$model$solver == "nystrom"
  map <- if (nystrom) nystrom_map(columns$K_prototypes) else diag(setup$n)
  penalty <- if (nystrom) diag(ncol(map)) else columns$K_prototypes
  penalised <- seq_len(ncol(map))
  root_w <- sqrt(problem$rows$weight)
  y <- root_w * problem$rows$y
  terms <- root_w * cbind(if (nystrom) columns$K %*% map else columns$K, setup$z)
  gram <- crossprod(terms)
  diag(gram)[-penalised] <- diag(gram)[-penalised] + covariate_ridge(problem)
  ids <- setup$model$folds$ids
  function(lambda) {
    gram[penalised, penalised] <- gram[penalised, penalised] + lambda * penalty
    R <- tryCatch(chol(gram), error = function(e) stop_dependent())
    Q <- t(backsolve(R, t(terms), transpose = TRUE))
    residual <- y - Q %*% crossprod(Q, y)
    weights <- backsolve(R, crossprod(Q, y))
    list(
      beta = rbind(map %*% weights[penalised, , drop = FALSE], weights[-penalised, , drop = FALSE]),
      training = sum(residual^2) / (ncol(y) * sum(problem$rows$weight)),
      # The held-out residuals on the user's scale, for each repeat. The penalty does not depend on
      # the fold, so they are (I - (QQ')_HH)^-1 times the training residuals of a fold H.
      held_out = if (!is.null(ids)) lapply(seq_len(ncol(ids)), function(repetition) {
        for (rows in split(seq_along(root_w), ids[, repetition])) {
          hat <- tcrossprod(Q[rows, , drop = FALSE])
          residual[rows, ] <- solve(diag(length(rows)) - hat, residual[rows, , drop = FALSE])
        }
        residual / root_w
      })
    )
  }
}

stop_dependent <- function() {
  stop_input(paste("the system of all prototypes is numerically singular: if `kernel` is a kernel,",
                   "`solver = \"nystrom\"` drops dependent directions"),
             class = "sparsels_error_singular")
}

# Large kernels -----------------------------------------------------------------------------------

# The pursuit with few candidates at each step, for kernel matrices too large for memory. Kernel
# columns are computed for the candidates of a step only. The matrix of the system is computed for
# chosen terms only.

# the largest number of entries of a kernel matrix that is computed as a whole: a gigabyte
whole_kernel <- 2^27

is_large <- function(setup) {
  draws <- setup$model$solver == "scdp" && !is.null(setup$model$candidates)
  draws && as.double(nrow(setup$problem)) * setup$n > whole_kernel
}

# functions that compute kernel columns of prototypes j, and the kernel between prototypes i and j
drawn_columns <- function(setup, kernel) {
  problem <- setup$problem
  basis <- setup$basis
  if (!is_precomputed(kernel)) {
    basis$points <- kernel_points(problem, basis$points)
    problem$x <- kernel_points(problem, problem$x)
    problem$coding$standardize <- FALSE
  }
  some <- function(j) list(rows = basis$rows[j], points = basis$points[j, , drop = FALSE])
  list(
    values = function(j) kernel_columns(problem, kernel, some(j)),
    between = function(i, j) {
      if (is_precomputed(kernel)) {
        return(as.matrix(problem$x[basis$rows[i], basis$rows[j], drop = FALSE]))
      }
      kernels <- kernel_matrix(kernel, some(i)$points, some(j)$points)
      same <- outer(i, j, "==")
      replace(kernels, same, kernel_diagonal(kernel, some(i)$points)[row(kernels)[same]])
    }
  )
}

# The pursuit on one partition for one lambda.
drawn_path <- function(setup, columns, lambda, ids) {
  model <- setup$model
  forced <- length(model$forced)
  steps <- model$k + forced
  folds <- if (is.null(ids)) 0L else 0:max(ids)
  cache <- new.env()
  # A pursuit without each fold, or on all rows (fold 0), before its first step. `g` are its case
  # weights, 0 for held-out rows.
  y <- setup$problem$rows$y
  runs <- lapply(folds, function(fold) {
    list(g = setup$problem$rows$weight * if (fold == 0L) 1 else ids != fold, terms = integer(),
         factor = matrix(0, 0L, 0L), z = matrix(0, 0L, ncol(y)), value = 0 * y)
  })
  errors_of_sizes <- list()
  residuals <- list()
  interrupted <- FALSE
  bar <- progress_bar(interactive(), "Pursuing")
  until_stopped(while (length(errors_of_sizes) < steps) {
    if (!is.null(bar)) bar(length(errors_of_sizes), steps)
    runs <- step_drawn(setup, columns, lambda, runs, cache)
    done <- length(errors_of_sizes) + 1L
    if (length(runs[[1L]]$terms) < done) break
    residual <- if (length(folds) > 1L) list(drawn_residual(setup$problem, runs, ids))
    residuals <- c(residuals, residual)
    errors_of_sizes[[done]] <- errors_or_na(setup$problem, list(ids = as.matrix(ids)), residual)
    errors <- vapply(errors_of_sizes, `[[`, 0, "criterion")
    if (is_level(model, errors[seq_len(done) > forced])) break
  }, function(condition) interrupted <<- TRUE)
  done <- length(errors_of_sizes)
  if (interrupted && done <= forced) raise_interrupt()
  null <- if (forced == 0L) list(setup$null)
  by_size <- function(name) {
    values <- vapply(c(null, errors_of_sizes[seq_len(done) >= forced]), `[[`, 0, name)
    c(values, rep(NA_real_, model$k + 1L - length(values)))
  }
  steps_done <- seq_len(done)
  full_run <- runs[[1L]]
  list(
    criterion = by_size("criterion"), se = by_size("se"),
    error = if (setup$problem$coding$task != "regression") by_size("error"),
    residual = function(size) {
      if (size + forced == 0L) y else residuals[[size + forced]]
    },
    path = list(size = done, chosen = full_run$terms[steps_done],
                factor = full_run$factor[steps_done, steps_done, drop = FALSE],
                z = full_run$z[steps_done, , drop = FALSE]),
    interrupted = interrupted
  )
}

# One step of every run. A run without a candidate that changes the model is returned unchanged.
step_drawn <- function(setup, columns, lambda, runs, cache) {
  model <- setup$model
  # the terms that each run may add
  lists <- lapply(runs, function(run) {
    step <- length(run$terms) + 1L
    if (step <= length(model$forced)) return(model$forced[step])
    utils::head(setdiff(model$lists[, step] + 1L, run$terms), model$candidates)
  })
  all <- unique(unlist(lists))
  values <- term_values(setup, columns, all)
  y <- setup$problem$rows$y
  Map(function(run, terms) {
    values <- values[, match(terms, all), drop = FALSE]
    between <- term_penalty(setup, columns, lambda, terms, run$terms)
    diagonal <- colSums(run$g * values^2) + diag(term_penalty(setup, columns, lambda, terms, terms))
    weights <- leading_solution(run, length(run$terms))
    gradient <- between %*% weights - crossprod(values, run$g * (y - run$value))
    squares <- rowSums(gradient^2)
    score <- squares
    if (model$score == "normalised") score <- score / diagonal
    if (model$score == "ols") {
      # diagonal of the Schur complement given the terms of the run, Inf where it is rounding error
      products <- lapply(run$terms, function(j) crossprod(values, run$g * term_of(cache, j)))
      products <- if (length(products)) t(do.call(cbind, products) + between) else
        matrix(0, 0L, length(diagonal))
      pivots <- diagonal - colSums(solve_lower(run$factor, products)^2)
      score <- score / ifelse(pivots > dependent_term * diagonal, pivots, Inf)
    }
    negligible <- (.Machine$double.eps * max(abs(crossprod(values, run$g * y))))^2
    score[squares <= negligible] <- 0
    while (max(score, 0) > 0) {
      best <- first_most(score)
      extended <- add_drawn(run, terms[best], values[, best], diagonal[best], between[best, ],
                            -unname(gradient[best, ]), cache)
      if (!is.null(extended)) return(extended)
      score[best] <- 0
    }
    run
  }, runs, lists)
}

# The run with one more term. NULL if the term is linearly dependent on the terms of the run.
add_drawn <- function(run, term, values, diagonal, between, residual, cache) {
  products <- vapply(run$terms, function(j) sum(run$g * term_of(cache, j) * values), 0) + between
  l <- solve_lower(run$factor, as.matrix(products))
  pivot <- diagonal - sum(l^2)
  # the pivot is more negative than rounding error can make it
  if (pivot < -1e-2 * diagonal) stop_no_kernel()
  if (pivot <= dependent_term * diagonal) return(NULL)
  assign(as.character(term), values, envir = cache)
  run$terms <- c(run$terms, term)
  run$factor <- rbind(cbind(run$factor, 0 * l), c(l, sqrt(pivot)))
  run$z <- rbind(run$z, residual / sqrt(pivot))
  weights <- leading_solution(run, length(run$terms))
  run$value <- 0 * run$value
  for (j in seq_along(run$terms)) {
    run$value <- run$value + outer(term_of(cache, run$terms[j]), weights[j, ])
  }
  run
}

term_of <- function(cache, term) get(as.character(term), envir = cache, inherits = FALSE)

# the penalty between terms
term_penalty <- function(setup, columns, lambda, i, j) {
  penalty <- covariate_ridge(setup$problem) * outer(i, j, "==")
  first <- i <= setup$n
  second <- j <= setup$n
  if (any(first) && any(second)) {
    penalty[first, second] <- lambda * columns$between(i[first], j[second])
  }
  penalty
}

# held-out residuals, each row from the run that was trained without it
drawn_residual <- function(problem, runs, ids) {
  residual <- problem$rows$y
  for (fold in seq_len(max(ids))) {
    rows <- ids == fold
    residual[rows, ] <- residual[rows, ] - runs[[fold + 1L]]$value[rows, ]
  }
  residual
}

# The stopping rule, (38) of the paper, from the errors of sizes 1, 2, ...
is_level <- function(model, errors) {
  size <- length(errors)
  if (model$change <= 0 || size <= model$window || anyNA(errors)) return(FALSE)
  mean <- mean(errors[size - seq_len(model$window)])
  abs(mean - errors[size]) < model$change * abs(errors[size])
}

# Covariates --------------------------------------------------------------------------------------

# The covariates as terms, `z` (m x q). Forced covariates become orthogonal columns of root mean
# square 1, so that neither their units nor their correlation matter to rounding or to the ridge.
# `back` (q x q) converts the weights of these columns to weights of the covariates.
covariate_terms <- function(problem, forced) {
  z <- unname(problem$z)
  back <- diag(ncol(z))
  if (length(forced)) {
    root_w <- sqrt(problem$rows$weight)
    parts <- qr(root_w * z[, forced, drop = FALSE], tol = 1e-10)
    scale <- sqrt(sum(problem$rows$weight))
    z[, forced] <- qr.Q(parts) * scale / root_w
    back[forced, forced] <- backsolve(qr.R(parts), diag(scale, length(forced)))
  }
  list(z = z, back = back)
}

# Methods of the fits ------------------------------------------------------------------------------

#' Fits of fixed-size least-squares support vector machines
#'
#' What [fs_lssvm()] returns: a kernel expansion on few prototypes for every size, the held-out
#' error of each, and the methods that print, plot and use them.
#'
#' @details A fit is a plain list, which `saveRDS()` keeps whole. It holds the prototypes of its
#' models but not `x`. With m rows, L responses and q covariates:
#'
#' * `path`: data frame with a row for every size: `step` (0 is the start), `action` (`"start"`,
#'   `"add"`, or `"found"` where a solver takes all prototypes at once), `prototype` (its number in
#'   `basis`, `NA` for the intercept), `name`, `size`, `prototypes` (how many of them are in);
#'   the held-out `criterion`, the weighted mean squared error, and its standard error `se` over
#'   folds; for classes `error`, the misclassification rate; `training`, the weighted mean
#'   squared error on the training rows. Classes are coded -1 and +1. Without folds the held-out
#'   errors are `NA`.
#' * `coefficients`: element s + 1 is the model of size s, or `NULL`: `features` (numbers of its
#'   prototypes in `basis`, in the order chosen), `beta` (their weights, a column per response),
#'   `covariates` (q x L, zeros for an intercept that is not in), `step`.
#' * `size`, the chosen size; `held_out` and `fitted` (m x L), its predictions of the rows.
#' * `gamma` and `lambda`, which is `1 / gamma`; `kernel`; `tuning`, the result of [tune_lssvm()]
#'   where gamma or the kernel were not given.
#' * `basis`: `rows` (row numbers of the prototypes, `NULL` for points), `points` (the user's
#'   values, a row each; `NULL` for a precomputed kernel), in the order chosen, and `available`, the
#'   number of prototypes there were to choose from.
#' * `status`: `"complete"`, `"early_stop"` (the error was level, or no term was left that changes
#'   anything) or `"interrupted"`.
#' * `folds`, `criterion`, `control`, `call`, `method`, and `problem` without its x.
#'
#' `plot(fit, what = "boundary")`, for two features (columns, not covariates) in the user's units,
#' draws of two classes the line where the score is 0, of a numeric response contours of the
#' prediction, for the chosen model or `size`. Covariates are at their weighted means. The
#' prototypes of the model are circled. A fit does not hold its rows: rows to draw are given as
#' `newdata`, in any form that [predict()][predict.sparsels_fit] takes. Rows that the fit was made
#' from are coloured by their class, others are grey. The picture covers them and all prototypes of
#' the fit. Other than two features, three classes or more and several responses are refused.
#'
#' [holdout()] and [cv_error()] do not accept these fits: without some rows the pursuit would have
#' selected other prototypes.
#'
#'
#' @inherit scdp references
#' @seealso [sparsels_fit] for coefficients, predictions and residuals of a fit,
#'   [plot()][plot.sparsels_result],
#'   [tidiers]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -1, 1), 100)
#' fit <- fs_lssvm(x, sin(3 * x[, 1]) + x[, 2]^2, kernel = kernel_gaussian(sigma2 = 1), gamma = 100)
#' fit
#' selected(fit, size = 3)
#' coef(fit, size = 3)
#' predict(fit, x[1:3, ], size = 3)
#' residuals(fit, "held_out")[1:3]
#' plot(fit, what = "boundary", newdata = x, size = 6)
#' @name fs_lssvm_fit
NULL

# Printing ----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.fs_lssvm <- function(x, n, whole = FALSE, ...) {
  found_words <- function(name) {
    if (name %in% names(x$tuning$range$lower)) " (tuned)" else " (given)"
  }
  predicted <- held_out_classes(x)
  print_page(
    whole, 0, NULL,
    always = say("fs_lssvm: LS-SVM on ", prototype_words(x)),
    always = print_fs_size(x, predicted),
    always = print_constant(x$problem, predicted),
    wanted = print_classes(x$problem, predicted, whole),
    needed = print_responses(x$problem, kept_values(x, "held_out"), chosen_row(x)$criterion),
    needed = print_rows_of(x$problem),
    always = print_properties(x$problem, "always"),
    needed = print_properties(x$problem, "needed"),
    wanted = print_properties(x$problem, "wanted"),
    needed = say("kernel: ", kernel_words(in_sigma2(x$kernel)), found_words("sigma2")),
    always = say("gamma: ", shown_parameter(x$gamma), ", lambda = 1 / gamma = ",
                 shown_parameter(x$lambda), found_words("gamma")),
    always = if (x$status == "interrupted") say(status_words(x)),
    always = if (x$status == "early_stop") say(early_stop_words(x))
  )
}

early_stop_words <- function(fit) {
  sprintf("stopped early, at size %d: %s", max(fit$path$size),
          if (fit$control$change > 0 && !is.null(fit$folds))
            "the error was level or nothing else to gain (`change = 0` goes on)" else
              "no term is left that changes anything")
}

prototype_words <- function(fit) {
  solver <- fit$control$solver
  count <- chosen_row(fit)$prototypes
  candidate <- solver == "scdp" && fit$control$intercept == "candidate"
  added <- fit$path$action == "add" & is.na(fit$path$prototype) & fit$path$size <= fit$size
  paste0(
    if (solver == "scdp") paste(count, "of "), counted(fit$basis$available, "prototype"),
    if (fit$problem$coding$intercept && (!candidate || any(added))) " and the intercept",
    switch(solver, full = ", all at once", nystrom = ", by their Nystrom features")
  )
}

# the chosen size, its error, and how it was chosen
print_fs_size <- function(fit, predicted) {
  chosen <- chosen_row(fit)
  if (is.null(fit$folds)) {
    return(say(sprintf("size %d, the largest: no rows were held out, %s %s", fit$size,
                       fit$criterion$label, shown(chosen$training))))
  }
  largest <- nrow(fit$path) > 1L && fit$size == max(fit$path$size)
  say(sprintf("size %d%s: %s", fit$size, if (largest) ", the largest" else "",
              held_out_words(fit, chosen, predicted)))
  if (nrow(fit$path) == 1L) return(invisible())
  best <- fit$path[which.min(fit$path$criterion), ]
  remark(if (best$size == fit$size) {
    "the smallest error of all sizes"
  } else {
    sprintf("the smallest size within %s standard deviations of the smallest error, %s at size %d",
            format(fit$control$size_rule), shown(best$criterion), best$size)
  })
}

#' @exportS3Method
details.fs_lssvm <- function(x) {
  path <- size_table(x)
  path$name[is.na(path$name)] <- ""
  errors <- c("criterion", "se", rate_column(x), "training")
  text <- shown_table(path[intersect(c("size", "name", "prototypes", errors), names(path))], errors)
  fit_details(x, fitting_names(text))
}

# Pictures ----------------------------------------------------------------------------------------

#' @exportS3Method
picture.fs_lssvm <- function(x, what = c("criterion", "boundary"),
                             size = NULL, newdata = NULL, ...) {
  what <- choice_or_first(what, "what", c("criterion", "boundary"))
  if (what == "criterion") return(picture.kernel_fit(x, ...))
  data <- boundary_data(x, size, newdata)
  names <- x$problem$columns$name
  grid <- data[data$part == "grid", ]
  prototypes <- data[data$part == "prototype", ]
  layers <- c(
    as_layer("points", prototypes$first, prototypes$second, pch = 1, cex = 1.8, lwd = 2,
             label = counted(nrow(prototypes), "prototype")),
    contour_layers(grid, contour_heights(x, data), x$problem$coding$task == "binary"),
    # the rows drawn, and the prototypes that are rows
    row_layers(x, data[data$part == "row" | data$part == "prototype" & !is.na(data$observed), ])
  )
  words <- list(main = plot_title(x), xlab = names[1L], ylab = names[2L],
                xlim = range(grid$first), ylim = range(grid$second))
  new_picture(data, layers, words, list(...), axes = NULL)
}

boundary_data <- function(fit, size, newdata) {
  must <- "`what = \"boundary\"` needs"
  stop_input_if(is.null(fit$basis$points),
                paste(must, "prototypes with features: the kernel is precomputed"))
  stop_input_if(ncol(fit$problem) != 2L, "%s two features, not %d", must, ncol(fit$problem))
  responses <- ncol(fit$problem$rows$y)
  if (responses > 1L) {
    what <- if (fit$problem$coding$task == "multiclass") "two classes" else "a single response"
    stop_input("%s %s, not %d", must, what, responses)
  }
  problem <- fit$problem
  model <- model_of(fit, size)
  points <- unname(as.matrix(fit$basis$points))
  rows <- points[0L, , drop = FALSE]
  if (!is.null(newdata)) rows <- unname(as.matrix(new_data_matrix(problem, newdata, 1:2)))
  drawn <- rbind(points, rows)
  stop_input_if(!nrow(drawn), "the fit has no prototypes to draw: give `newdata`, rows to draw")
  # from a little before the first of the points to a little after the last
  axis_over <- function(j) {
    ends <- range(drawn[, j], na.rm = TRUE)
    margin <- if (diff(ends) > 0) 0.1 * diff(ends) else problem$columns$scale[j]
    seq(ends[1L] - margin, ends[2L] + margin, length.out = 101L)
  }
  data <- rbind(
    plane_points("grid", as.matrix(expand.grid(axis_over(1L), axis_over(2L)))),
    plane_points("row", rows, training_rows(fit, rows)),
    plane_points("prototype", points[model$features, , drop = FALSE],
                 fit$basis$rows[model$features])
  )
  means <- colSums(problem$rows$weight * problem$z) / sum(problem$rows$weight)
  score <- term_scores(fit, cbind(data$first, data$second), model$beta, model$features) +
    sum(means * model$covariates)
  data.frame(part = factor(data$part, c("grid", "row", "prototype")), data[-c(1L, 4L)],
             score = score[, 1L], observed = observed(problem)[[1L]][data$row])
}

# points of the plane, where `row` are their numbers if they are training rows
plane_points <- function(part, points, row = NULL) {
  if (is.null(row)) row <- NA_integer_
  data.frame(part = rep(part, nrow(points)), first = points[, 1L], second = points[, 2L],
             row = rep_len(row, nrow(points)))
}

# The numbers of `rows` if they are the training rows, as the fitted values show. Otherwise NA.
training_rows <- function(fit, rows) {
  if (nrow(rows) != nrow(fit$problem)) return(rep(NA_integer_, nrow(rows)))
  model <- model_of(fit)
  score <- term_scores(fit, rows, model$beta, model$features) + fit$problem$z %*% model$covariates
  own <- is_alike(score, kept_values(fit, "fitted"))
  if (own) seq_len(nrow(rows)) else rep(NA_integer_, nrow(rows))
}

# where contours are drawn: between the classes, or at round predictions
contour_heights <- function(fit, data) {
  score <- data$score[data$part == "grid"]
  heights <- if (fit$problem$coding$task == "binary") 0 else pretty(score, 10L)
  heights[heights > min(score) & heights < max(score)]
}

contour_layers <- function(grid, heights, classes) {
  across <- unique(grid$first)
  lines <- if (length(heights)) {
    grDevices::contourLines(across, unique(grid$second), matrix(grid$score, length(across)),
                            levels = heights)
  }
  unlist(lapply(lines, function(line) {
    middle <- (length(line$x) + 1L) %/% 2L
    c(if (!classes) as_layer("text", line$x[middle], line$y[middle], text = format(line$level),
                             cex = 0.7),
      as_layer("line", line$x, line$y, lwd = if (classes) 2 else 1,
               label = if (classes) "boundary" else "prediction"))
  }), recursive = FALSE)
}

# Training rows by their class, or training rows of a numeric response, and rows of unknown
# response.
row_layers <- function(fit, rows) {
  known <- !is.na(rows$observed)
  points <- function(rows, colour, pch, label) {
    if (nrow(rows)) as_layer("points", rows$first, rows$second, col = colour, pch = pch, cex = 0.7,
                             label = label)
  }
  grey <- "#999999"
  if (fit$problem$coding$task == "regression") return(points(rows, grey, 16, "row"))
  levels <- fit$problem$coding$levels
  of_class <- function(i) rows[known & rows$observed %in% levels[i], ]
  c(points(of_class(1L), "#0072B2", 16, levels[1L]),
    points(of_class(2L), mark_colour, 17, levels[2L]),
    points(rows[!known, ], grey, 16, NA_character_))
}

# The prototypes were chosen on all rows, and no fold chose its own.
#' @exportS3Method
predictions_without.fs_lssvm <- function(fit, newdata, adjust = NULL) stop_no_models_without(fit)
