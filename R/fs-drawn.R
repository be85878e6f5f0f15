# The pursuit that looks at few candidates, for kernel matrices too large to hold: the kernel of a
# step's candidates is made for that step, their residuals come from those of the rows, and of the
# system only the entries between the terms taken are ever known.

# up to how many values the kernel matrix is made whole: a gigabyte
whole_kernel <- 2^27

is_large <- function(setup) {
  draws <- setup$model$solver == "scdp" && !is.null(setup$model$candidates)
  draws && as.double(nrow(setup$problem)) * setup$n > whole_kernel
}

# Values of some terms and kernels of some prototypes, made when they are asked for.
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
      own <- kernel_matrix(kernel, some(i)$points, some(j)$points)
      same <- outer(i, j, "==")
      own[same] <- kernel_diagonal(kernel, some(i)$points)[row(own)[same]]
      own
    }
  )
}

# As pursue_partition(), one lambda after the other.
drawn_partition <- function(setup, columns, lambda, ids) {
  each <- lapply(lambda, function(one) drawn_path(setup, columns, one, ids))
  together <- function(part) do.call(cbind, lapply(each, `[[`, part))
  list(
    squared = together("squared"), se = together("se"), error = together("error"),
    residual = each[[1L]]$residual, paths = lapply(each, `[[`, "path"),
    interrupted = any(vapply(each, `[[`, NA, "interrupted"))
  )
}

drawn_path <- function(setup, columns, lambda, ids) {
  model <- setup$model
  before <- length(model$forced)
  steps <- model$k + before
  folds <- if (is.null(ids)) 0L else 0:max(ids)
  cache <- new.env()
  runs <- lapply(folds, new_drawn_run, setup = setup, ids = ids)
  figures <- list()
  residuals <- list()
  interrupted <- FALSE
  bar <- progress_bar(interactive(), "Pursuing")
  tryCatch(while (length(figures) < steps) {
    if (!is.null(bar)) bar(length(figures), steps)
    runs <- step_drawn(setup, columns, lambda, runs, cache)
    done <- length(figures) + 1L
    if (length(runs[[1L]]$terms) < done) break
    residual <- if (length(folds) > 1L) drawn_residual(setup$problem, runs, ids)
    residuals[done] <- list(residual)
    figures[[done]] <- drawn_figures(setup$problem, residual, ids)
    errors <- vapply(figures, `[[`, 0, "squared")
    if (is_level(model, errors[seq_len(done) > before])) break
  }, interrupt = function(condition) interrupted <<- TRUE)
  done <- length(figures)
  if (interrupted && done <= before) raise_interrupt()
  null <- if (before == 0L) list(null_figures(setup$problem, model$folds))
  by_size <- function(name) {
    values <- vapply(c(null, figures[seq_len(done) >= before]), `[[`, 0, name)
    c(values, rep(NA_real_, model$k + 1L - length(values)))
  }
  taken <- seq_len(done)
  first <- runs[[1L]]
  list(
    squared = by_size("squared"), se = by_size("se"),
    error = if (setup$problem$task != "regression") by_size("error"),
    residual = function(size) {
      if (size + before == 0L) setup$problem$y else residuals[[size + before]]
    },
    path = list(size = done, chosen = first$terms[taken],
                factor = first$factor[taken, taken, drop = FALSE],
                z = first$z[taken, , drop = FALSE]),
    interrupted = interrupted
  )
}

# The pursuit without a fold, or on all rows (fold 0): `g` the weights of the rows it trains on.
new_drawn_run <- function(fold, setup, ids) {
  problem <- setup$problem
  list(
    g = if (fold == 0L) problem$weights else problem$weights * (ids != fold), terms = integer(),
    factor = matrix(0, 0L, 0L), z = matrix(0, 0L, ncol(problem$y)), value = 0 * problem$y
  )
}

# One step of every run. A run that finds nothing to gain stays as it is.
step_drawn <- function(setup, columns, lambda, runs, cache) {
  lists <- lapply(runs, drawn_candidates, model = setup$model)
  all <- unique(unlist(lists))
  values <- term_values(setup, columns, all)
  Map(function(run, list) {
    choose_drawn(setup, columns, lambda, run, list, values[, match(list, all), drop = FALSE], cache)
  }, runs, lists)
}

# what a run may take at this step
drawn_candidates <- function(run, model) {
  step <- length(run$terms) + 1L
  if (step <= length(model$forced)) return(model$forced[step])
  left <- setdiff(model$lists[, step] + 1L, run$terms)
  utils::head(left, model$candidates)
}

choose_drawn <- function(setup, columns, lambda, run, list, values, cache) {
  between <- term_penalty(setup, columns, lambda, list, run$terms)
  own <- colSums(run$g * values^2) + diag(term_penalty(setup, columns, lambda, list, list))
  weights <- leading_solution(run, length(run$terms))
  gradient <- between %*% weights - crossprod(values, run$g * (setup$problem$y - run$value))
  score <- rowSums(gradient^2)
  if (setup$model$score == "normalised") score <- score / own
  if (setup$model$score == "ols") score <- score / drawn_pivots(run, values, own, between, cache)
  nothing <- (.Machine$double.eps * max(abs(crossprod(values, run$g * setup$problem$y))))^2
  score[rowSums(gradient^2) <= nothing] <- 0
  while (max(score, 0) > 0) {
    at <- first_most(score)
    taken <- take_drawn(run, list[at], values[, at], own[at], between[at, ],
                        -unname(gradient[at, ]), cache)
    if (!is.null(taken)) return(taken)
    score[at] <- 0
  }
  run
}

# what the terms taken leave of the diagonal; Inf where that is rounding
drawn_pivots <- function(run, values, own, between, cache) {
  across <- lapply(run$terms, function(j) crossprod(values, run$g * term_of(cache, j)))
  across <- if (length(across)) t(do.call(cbind, across) + between) else matrix(0, 0L, length(own))
  pivots <- own - colSums(solve_lower(run$factor, across)^2)
  ifelse(pivots > dependent_term * own, pivots, Inf)
}

# The run with one more term, NULL when that depends on those it has.
take_drawn <- function(run, term, values, own, between, left, cache) {
  across <- vapply(run$terms, function(j) sum(run$g * term_of(cache, j) * values), 0) + between
  l <- solve_lower(run$factor, as.matrix(across))
  pivot <- own - sum(l^2)
  # rounding does not go that far
  if (pivot < -1e-2 * own) stop_no_kernel()
  if (pivot <= dependent_term * own) return(NULL)
  assign(as.character(term), values, envir = cache)
  run$terms <- c(run$terms, term)
  run$factor <- rbind(cbind(run$factor, 0 * l), c(l, sqrt(pivot)))
  run$z <- rbind(run$z, left / sqrt(pivot))
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

# held-out residuals, each row's by the run that was trained without it
drawn_residual <- function(problem, runs, ids) {
  residual <- problem$y
  for (fold in seq_len(max(ids))) {
    rows <- ids == fold
    residual[rows, ] <- residual[rows, ] - runs[[fold + 1L]]$value[rows, ]
  }
  residual
}

drawn_figures <- function(problem, residual, ids) {
  if (is.null(residual)) return(list(squared = NA_real_, se = NA_real_, error = NA_real_))
  held_out_figures(problem, list(ids = as.matrix(ids)), list(residual))
}

# (38), of the errors of sizes 1, 2, ...
is_level <- function(model, errors) {
  size <- length(errors)
  if (model$change <= 0 || size <= model$window || anyNA(errors)) return(FALSE)
  mean <- mean(errors[size - seq_len(model$window)])
  abs(mean - errors[size]) < model$change * abs(errors[size])
}
