# Minimisation of a function of a few parameters that is expensive to evaluate. `f` takes a matrix
# with points in rows and returns a value for each, so that points with a common kernel width can
# share their computations. Each search returns the point `best`, its `value`, the number of
# `evaluations`, the `table` of all points in the order tried and the `status`.

# Runs `search`, a function of `values_at`, which returns the values of points. The search ends when
# it returns, when the number of `evaluations` is reached, or by Ctrl-C. All points tried are
# recorded.
searching <- function(f, evaluations, search) {
  points <- NULL
  values <- numeric()
  spent <- structure(class = c("search_spent", "condition"), list(message = "", call = NULL))
  bar <- if (interactive()) cli::cli_progress_bar("Tuning", total = evaluations)
  values_at <- function(trial) {
    trial <- trial[seq_len(min(nrow(trial), evaluations - length(values))), , drop = FALSE]
    value <- f(trial)
    points <<- rbind(points, trial)
    values <<- c(values, value)
    if (!is.null(bar)) cli::cli_progress_update(id = bar, set = length(values))
    if (length(values) == evaluations) stop(spent)
    finite_energy(value)
  }
  status <- tryCatch({
    search(values_at)
    "complete"
  }, search_spent = function(condition) "complete", interrupt = function(condition) "interrupted")
  if (!length(values)) raise_interrupt()
  best <- which.min(finite_energy(values))
  list(best = points[best, ], value = values[best], evaluations = length(values),
       table = data.frame(points, value = values), status = status)
}

# values that could not be computed are replaced by a value larger than all others
finite_energy <- function(values) ifelse(is.finite(values), values, 1e100)

# Coupled simulated annealing with variance control, acceptance CSA-M (Xavier-de-Souza, Suykens,
# Vandewalle, Bolle 2010): `states` chains in a box, list(lower, upper), the first from `start` and
# the others from random points. The probability that a chain accepts a larger value increases with
# its own value relative to the values of all chains. `heat`, in units of the values, is the
# acceptance temperature, adapted so that the variance of the probabilities stays near its maximum.
# The steps have scale 1 in the first `inner` rounds, then 1/2, 1/3, ...
coupled_annealing <- function(f, start, box, evaluations, states = 5L, inner = 20L, heat = 1) {
  target <- 0.99 * (states - 1) / states^2
  searching(f, evaluations, function(values_at) {
    x <- rbind(start, random_points(states - 1L, box), deparse.level = 0L)
    energy <- values_at(x)
    round <- 0L
    repeat {
      # all random numbers of a round are drawn before its values are computed, so that the order of
      # computation does not matter
      y <- cauchy_steps(x, 1 / (1 + round %/% inner), box)
      uniform <- stats::runif(states)
      probability <- exp((energy - max(energy)) / heat)
      probability <- probability / sum(probability)
      proposed <- values_at(y)
      moves <- proposed < energy | uniform < probability
      x[moves, ] <- y[moves, ]
      energy[moves] <- proposed[moves]
      too_even <- mean(probability^2) - 1 / states^2 < target
      heat <- heat * (if (too_even) 0.95 else 1.05)
      round <- round + 1L
    }
  })
}

random_points <- function(count, box) {
  range <- box$upper - box$lower
  t(box$lower + range * matrix(stats::runif(count * length(range)), length(range)))
}

# A Cauchy step from each row of x, truncated to the box: the quantile of a uniform number between
# the probabilities of the bounds.
cauchy_steps <- function(x, scale, box) {
  lower <- rep(box$lower, each = nrow(x))
  upper <- rep(box$upper, each = nrow(x))
  share <- stats::runif(length(x), stats::pcauchy(lower, x, scale), stats::pcauchy(upper, x, scale))
  x[] <- pmin(pmax(stats::qcauchy(share, x, scale), lower), upper)
  x
}

# The simplex method of Nelder and Mead (1965) by stats::optim(), whose first step is 0.1, which
# sets the scale of u. In addition, points outside the box are moved to its boundary, and
# searching() ends the search when the number of evaluations is reached.
nelder_mead <- function(f, start, evaluations, box = list(lower = -Inf, upper = Inf), step = 0.5,
                        tolerance = 1e-6) {
  inwards <- ifelse(start + step > box$upper, -step, step)
  searching(f, evaluations, function(values_at) {
    value <- function(u) {
      values_at(rbind(pmin(pmax(start + 10 * inwards * u, box$lower), box$upper)))
    }
    control <- list(maxit = .Machine$integer.max, reltol = tolerance, warn.1d.NelderMead = FALSE)
    stats::optim(0 * start, value, method = "Nelder-Mead", control = control)
  })
}

# All combinations of the values of the axes, a named list. The last axis varies fastest, and all of
# its values are evaluated in one call of `f`.
grid_search <- function(f, axes) {
  grid <- as.matrix(expand.grid(rev(axes)))[, rev(seq_along(axes)), drop = FALSE]
  runs <- split(seq_len(nrow(grid)), (seq_len(nrow(grid)) - 1L) %/% length(axes[[length(axes)]]))
  searching(f, nrow(grid), function(values_at) {
    for (run in runs) values_at(grid[run, , drop = FALSE])
  })
}
