# Searches written from their pseudo-code, chain by chain and number by number.

# Coupled simulated annealing. It draws as the package does: for each round first the steps, a
# coordinate after the other and in it chain after chain, then the luck of the chains.
oracle_annealing <- function(f, start, box, rounds, states, inner, heat = 1) {
  d <- length(start)
  x <- matrix(start, states, d, byrow = TRUE)
  for (i in seq_len(states)[-1]) {
    for (c in 1:d) x[i, c] <- box$lower[c] + (box$upper[c] - box$lower[c]) * runif(1)
  }
  energy <- apply(x, 1, f)
  tried <- cbind(x, energy)
  for (round in seq_len(rounds)) {
    temperature <- 1 / ceiling(round / inner)
    y <- x
    for (c in 1:d) {
      for (i in 1:states) {
        # the uniform number u of a step that ends in the box
        at <- function(side) atan((side - x[i, c]) / temperature) / pi + 1 / 2
        u <- at(box$lower[c]) + (at(box$upper[c]) - at(box$lower[c])) * runif(1)
        y[i, c] <- x[i, c] + temperature * tan(pi * (u - 1 / 2))
      }
    }
    luck <- runif(states)
    chance <- exp((energy - max(energy)) / heat) / sum(exp((energy - max(energy)) / heat))
    for (i in 1:states) {
      probe <- f(y[i, ])
      tried <- rbind(tried, c(y[i, ], probe))
      if (probe < energy[i] || luck[i] < chance[i]) {
        x[i, ] <- y[i, ]
        energy[i] <- probe
      }
    }
    variance <- sum(chance^2) / states - 1 / states^2
    heat <- heat * if (variance < 0.99 * (states - 1) / states^2) 1 - 0.05 else 1 + 0.05
  }
  tried
}

# Nelder and Mead's simplex in the textbook's form: reflection 1, expansion 2, contractions 1/2
# outside and inside, shrink 1/2. The values in the order in which they were asked for.
oracle_simplex <- function(f, start, step, tolerance) {
  values <- numeric()
  value <- function(p) {
    values <<- c(values, f(p))
    f(p)
  }
  n <- length(start)
  simplex <- c(list(start), lapply(1:n, function(i) start + step * (1:n == i)))
  v <- vapply(simplex, value, 0)
  repeat {
    simplex <- simplex[order(v)]
    v <- sort(v)
    if (v[n + 1] - v[1] <= tolerance * (abs(v[1]) + tolerance)) return(values)
    centre <- Reduce(`+`, simplex[1:n]) / n
    along <- function(t) centre + t * (simplex[[n + 1]] - centre)
    new <- along(-1)
    at_new <- value(new)
    if (at_new < v[1]) {
      further <- value(along(-2))
      if (further < at_new) new <- along(-2)
      at_new <- min(further, at_new)
    } else if (at_new >= v[n]) {
      inside <- at_new >= v[n + 1]
      bar <- min(at_new, v[n + 1])
      new <- along(if (inside) 1 / 2 else -1 / 2)
      at_new <- value(new)
      if (at_new >= bar) {
        for (i in 1 + 1:n) simplex[[i]] <- (simplex[[1]] + simplex[[i]]) / 2
        v[1 + 1:n] <- vapply(simplex[1 + 1:n], value, 0)
        next
      }
    }
    simplex[[n + 1]] <- new
    v[n + 1] <- at_new
  }
}

# the functions that the searches are tried on, for a matrix of points
rastrigin <- function(points) 10 * ncol(points) + rowSums(points^2 - 10 * cos(2 * pi * points))
rosenbrock <- function(points) {
  100 * (points[, 2] - points[, 1]^2)^2 + (1 - points[, 1])^2
}
of_one <- function(f) function(point) f(rbind(point))
