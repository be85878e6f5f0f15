# Searches for the lowest value of a function of a few numbers whose values are dear. `f` takes a
# matrix with points in rows and gives a value for each, so that points with much in common can
# share their work. Each search returns the point `best`, its `value`, the number of `evaluations`,
# the `table` of all points in the order tried and the `status`.

# A search is a function of `values_at`, which it asks for the values of points. It ends by itself,
# when `evaluations` are spent, or by Ctrl-C; the points tried are kept in any case.
searching <- function(f, evaluations, search) {
  points <- NULL
  values <- numeric()
  spent <- structure(class = c("search_spent", "condition"), list(message = "", call = NULL))
  bar <- if (interactive()) cli::cli_progress_bar("Tuning", total = evaluations)
  values_at <- function(at) {
    at <- at[seq_len(min(nrow(at), evaluations - length(values))), , drop = FALSE]
    new <- f(at)
    points <<- rbind(points, at)
    values <<- c(values, new)
    if (!is.null(bar)) cli::cli_progress_update(id = bar, set = length(values))
    if (length(values) == evaluations) stop(spent)
    finite_energy(new)
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

# what cannot be computed is worse than anything that can
finite_energy <- function(values) ifelse(is.finite(values), values, 1e100)

# Coupled simulated annealing with variance control, acceptance CSA-M (Xavier-de-Souza, Suykens,
# Vandewalle, Bolle 2010): `states` chains in a box, list(lower, upper), the first from `start` and
# the others from anywhere. A chain goes uphill the more readily the larger its value is among those
# of all chains; `heat`, in units of the values, says how much more, and is changed so that the
# variance of these chances stays near the largest that there is. The steps have scale 1 in the
# first `inner` rounds, then 1/2, 1/3, ...
coupled_annealing <- function(f, start, box, evaluations, states = 5L, inner = 20L, heat = 1) {
  target <- 0.99 * (states - 1) / states^2
  searching(f, evaluations, function(values_at) {
    x <- rbind(start, random_points(states - 1L, box), deparse.level = 0L)
    energy <- values_at(x)
    round <- 0L
    repeat {
      # all random numbers of a round come before its values, which may then be had in any order
      y <- cauchy_steps(x, 1 / (1 + round %/% inner), box)
      luck <- stats::runif(states)
      chance <- exp((energy - max(energy)) / heat)
      chance <- chance / sum(chance)
      probed <- values_at(y)
      moves <- probed < energy | luck < chance
      x[moves, ] <- y[moves, ]
      energy[moves] <- probed[moves]
      cooler <- mean(chance^2) - 1 / states^2 < target
      heat <- heat * (if (cooler) 0.95 else 1.05)
      round <- round + 1L
    }
  })
}

random_points <- function(count, box) {
  range <- box$upper - box$lower
  t(box$lower + range * matrix(stats::runif(count * length(range)), length(range)))
}

# A Cauchy step from each row of x within the box: the quantile of a uniform number between the
# probabilities of the box's sides, which is drawing until the point is inside, in one draw.
cauchy_steps <- function(x, scale, box) {
  lower <- rep(box$lower, each = nrow(x))
  upper <- rep(box$upper, each = nrow(x))
  share <- stats::runif(length(x), stats::pcauchy(lower, x, scale), stats::pcauchy(upper, x, scale))
  x[] <- pmin(pmax(stats::qcauchy(share, x, scale), lower), upper)
  x
}

# The simplex of Nelder and Mead (1965) by stats::optim(), which comes as low with as few values as
# the textbook's form and is looked after by others. What optim() does not offer goes around it: its
# first step is a tenth, hence the scale of u; points outside the box are moved to its side; and
# `searching` stops it when the evaluations are spent.
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

# All combinations of the values of the axes, a named list. The last axis runs fastest, and `f` sees
# all of its values at once.
grid_search <- function(f, axes) {
  grid <- as.matrix(expand.grid(rev(axes)))[, rev(seq_along(axes)), drop = FALSE]
  runs <- split(seq_len(nrow(grid)), (seq_len(nrow(grid)) - 1L) %/% length(axes[[length(axes)]]))
  searching(f, nrow(grid), function(values_at) {
    for (run in runs) values_at(grid[run, , drop = FALSE])
  })
}
