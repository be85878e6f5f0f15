# Penalised and leave-one-out errors of all sets of a size, each set trained by its normal equations
# on the weighted data.

# The columns of a problem as its models use them. The penalty factors are in their scale.
trained_columns <- function(pb) {
  x <- as.matrix(pb$x)
  (x - rep(pb$columns$centre, each = nrow(x))) / rep(pb$columns$scale, each = nrow(x))
}

# The error of each row by the ridge model of some columns without it is its residual divided by 1
# less its leverage, except where the model without the row is trained anew (`anew`).
trained_errors <- function(pb, lambda, columns, anew = FALSE, x = trained_columns(pb)) {
  w <- pb$rows$weight
  A <- cbind(pb$z, x[, columns, drop = FALSE])
  D <- diag(c(rep(0, ncol(pb$z)), rep(lambda, length(columns))), ncol(A))
  y <- pb$rows$y
  solved <- function(rows) {
    solve(crossprod(A[rows, , drop = FALSE], w[rows] * A[rows, ]) + D,
          crossprod(A[rows, , drop = FALSE], w[rows] * y[rows, ]))
  }
  every <- seq_len(nrow(A))
  B <- solved(every)
  residual <- y - A %*% B
  held_out <- if (anew) {
    t(vapply(every, function(i) y[i, ] - drop(A[i, ] %*% solved(-i)), numeric(ncol(y))))
  } else {
    residual / (1 - w * rowSums(A * t(solve(crossprod(A, w * A) + D, t(A)))))
  }
  if (ncol(y) == 1L) held_out <- matrix(held_out, nrow(y))
  c(penalised = sum(w * residual^2) + sum(D %*% B^2), squared = sum(w * held_out^2))
}

# All sets of k units that contain some: list(sets, penalised, squared). `units` has the columns of
# each unit.
all_sets <- function(pb, lambda, k, units = as.list(which(pb$columns$usable)), given = integer()) {
  sets <- utils::combn(length(units), k)
  sets <- sets[, apply(sets, 2L, function(set) all(given %in% set)), drop = FALSE]
  x <- trained_columns(pb)
  errors <- apply(sets, 2L, function(set) trained_errors(pb, lambda, unlist(units[set]), x = x))
  list(sets = sets, penalised = errors["penalised", ], squared = errors["squared", ])
}
