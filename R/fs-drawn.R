# The pursuit with few candidates at each step, for kernel matrices too large for memory. Kernel
# columns are computed for the candidates of a step only. The matrix of the system is computed for
# chosen terms only.

# the largest number of entries of a kernel matrix that is computed as a whole: a gigabyte
whole_kernel <- 2^27

is_large <- function(setup) {
  draws <- setup$model$solver == "scdp" && !is.null(setup$model$candidates)
  draws && as.double(nrow(setup$problem)) * setup$n > whole_kernel
}

# Functions that compute kernel columns of prototypes j, and the kernel between prototypes i and j,
# when called.
asked_columns <- function(setup, kernel) {
  problem <- setup$problem
  basis <- setup$basis
  if (!is_precomputed(kernel)) {
    basis$points <- kernel_points(problem, basis$points)
    problem$x <- kernel_points(problem, problem$x)
    problem$standardize <- FALSE
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
      kernels[same] <- kernel_diagonal(kernel, some(i)$points)[row(kernels)[same]]
      kernels
    }
  )
}

# The pursuit on one partition for every lambda, with the value of pursue_partition().
drawn_partition <- function(setup, columns, lambda, ids) {
  results <- lapply(lambda, function(value) drawn_path(setup, columns, value, ids))
  bind <- function(part) do.call(cbind, lapply(results, `[[`, part))
  list(
    criterion = bind("criterion"), se = bind("se"), error = bind("error"),
    residual = results[[1L]]$residual, paths = lapply(results, `[[`, "path"),
    interrupted = any(vapply(results, `[[`, NA, "interrupted"))
  )
}

drawn_path <- function(setup, columns, lambda, ids) {
  model <- setup$model
  forced <- length(model$forced)
  steps <- model$k + forced
  folds <- if (is.null(ids)) 0L else 0:max(ids)
  cache <- new.env()
  runs <- lapply(folds, new_drawn_run, setup = setup, ids = ids)
  errors_of_sizes <- list()
  residuals <- list()
  interrupted <- FALSE
  bar <- progress_bar(interactive(), "Pursuing")
  tryCatch(while (length(errors_of_sizes) < steps) {
    if (!is.null(bar)) bar(length(errors_of_sizes), steps)
    runs <- step_drawn(setup, columns, lambda, runs, cache)
    done <- length(errors_of_sizes) + 1L
    if (length(runs[[1L]]$terms) < done) break
    residual <- if (length(folds) > 1L) list(drawn_residual(setup$problem, runs, ids))
    residuals[done] <- if (is.null(residual)) list(NULL) else residual
    errors_of_sizes[[done]] <- errors_or_na(setup$problem, list(ids = as.matrix(ids)), residual)
    errors <- vapply(errors_of_sizes, `[[`, 0, "criterion")
    if (is_level(model, errors[seq_len(done) > forced])) break
  }, interrupt = function(condition) interrupted <<- TRUE)
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
    error = if (setup$problem$task != "regression") by_size("error"),
    residual = function(size) {
      if (size + forced == 0L) setup$problem$y else residuals[[size + forced]]
    },
    path = list(size = done, chosen = full_run$terms[steps_done],
                factor = full_run$factor[steps_done, steps_done, drop = FALSE],
                z = full_run$z[steps_done, , drop = FALSE]),
    interrupted = interrupted
  )
}

# A pursuit without a fold, or on all rows (fold 0), before its first step. `g` are its case
# weights, 0 for held-out rows.
new_drawn_run <- function(fold, setup, ids) {
  problem <- setup$problem
  list(
    g = if (fold == 0L) problem$weights else problem$weights * (ids != fold), terms = integer(),
    factor = matrix(0, 0L, 0L), z = matrix(0, 0L, ncol(problem$y)), value = 0 * problem$y
  )
}

# One step of every run. A run without a candidate that changes the model is returned unchanged.
step_drawn <- function(setup, columns, lambda, runs, cache) {
  lists <- lapply(runs, drawn_candidates, model = setup$model)
  all <- unique(unlist(lists))
  values <- term_values(setup, columns, all)
  Map(function(run, list) {
    choose_drawn(setup, columns, lambda, run, list, values[, match(list, all), drop = FALSE], cache)
  }, runs, lists)
}

# the terms that a run may add at its next step
drawn_candidates <- function(run, model) {
  step <- length(run$terms) + 1L
  if (step <= length(model$forced)) return(model$forced[step])
  candidates <- setdiff(model$lists[, step] + 1L, run$terms)
  utils::head(candidates, model$candidates)
}

choose_drawn <- function(setup, columns, lambda, run, list, values, cache) {
  between <- term_penalty(setup, columns, lambda, list, run$terms)
  diagonal <- colSums(run$g * values^2) + diag(term_penalty(setup, columns, lambda, list, list))
  weights <- leading_solution(run, length(run$terms))
  gradient <- between %*% weights - crossprod(values, run$g * (setup$problem$y - run$value))
  score <- rowSums(gradient^2)
  if (setup$model$score == "normalised") score <- score / diagonal
  if (setup$model$score == "ols") {
    score <- score / drawn_pivots(run, values, diagonal, between, cache)
  }
  negligible <- (.Machine$double.eps * max(abs(crossprod(values, run$g * setup$problem$y))))^2
  score[rowSums(gradient^2) <= negligible] <- 0
  while (max(score, 0) > 0) {
    best <- first_most(score)
    extended <- add_drawn(run, list[best], values[, best], diagonal[best], between[best, ],
                          -unname(gradient[best, ]), cache)
    if (!is.null(extended)) return(extended)
    score[best] <- 0
  }
  run
}

# diagonal of the Schur complement given the terms of the run, Inf where it is rounding error
drawn_pivots <- function(run, values, diagonal, between, cache) {
  products <- lapply(run$terms, function(j) crossprod(values, run$g * term_of(cache, j)))
  products <- if (length(products)) {
    t(do.call(cbind, products) + between)
  } else {
    matrix(0, 0L, length(diagonal))
  }
  pivots <- diagonal - colSums(solve_lower(run$factor, products)^2)
  ifelse(pivots > dependent_term * diagonal, pivots, Inf)
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
  penalty <- covariate_ridge * outer(i, j, "==")
  first <- i <= setup$n
  second <- j <= setup$n
  if (any(first) && any(second)) {
    penalty[first, second] <- lambda * columns$between(i[first], j[second])
  }
  penalty
}

# held-out residuals, each row from the run that was trained without it
drawn_residual <- function(problem, runs, ids) {
  residual <- problem$y
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
