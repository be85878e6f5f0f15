# Basis vectors in the order chosen, and the exact held-out errors of the models on the first of
# them.

# Rows with their path: an integer vector of class `sparsels_basis`. `scoring` is the value of
# basis_scoring().
new_basis <- function(rows, path, method, scoring) {
  structure(rows, path = path, method = method, label = squared_criterion(scoring$folds)$label,
            rows = nrow(scoring$problem), class = "sparsels_basis")
}

# A data frame with a row for each size: `size`, the `row` that was added, `criterion`, `se` and,
# for classes, `error`, as in the path of kernel_rls(). `points` are the rows as the kernel takes
# them.
basis_path <- function(scoring, points, kernel, rows) {
  problem <- scoring$problem
  folds <- scoring$folds
  K <- kernel_between(kernel, points, TRUE, rows)
  own <- K[rows, , drop = FALSE]
  penalty <- shifted_cholesky((own + t(own)) / 2, scoring$shift)
  if (penalty$shift$where == "kernel") {
    diagonal <- cbind(rows, seq_along(rows))
    K[diagonal] <- K[diagonal] + penalty$shift$value
  }
  nested <- nested_models(working(problem), K, penalty$C, rows, scoring$lambda)
  residuals <- lapply(seq_len(ncol(folds$ids)), function(repetition) {
    if (folds$loo) return(nested_single_rows(nested, scoring$remove))
    nested_folds(nested, folds$ids[, repetition], scoring$remove)
  })
  residuals <- lapply(residuals, function(residual) residual / sqrt(problem$weights))
  data.frame(size = seq_along(rows), row = rows,
             error_table(problem, folds, residuals))
}

# The models on the first 1, 2, ..., n basis vectors share one QR decomposition: with K_BB = C'C the
# features K C^-1 of the first s vectors are the first s of all, and so are the columns of Z in
# K C^-1 = Z R, the rows of the penalty left out, whose fit is Z Z'y. The coefficients are W Z'y for
# W = C^-1 R^-1, upper triangular.
nested_models <- function(work, K, C, rows, lambda) {
  n <- ncol(K)
  features <- backsolve(C, t(project_out(work$root_w * K, work$q)), transpose = TRUE)
  parts <- qr(rbind(t(features), diag(sqrt(lambda), n)), tol = 1e-300)
  Z <- qr.Q(parts)[seq_len(nrow(K)), , drop = FALSE]
  list(Z = Z, W = backsolve(C, backsolve(qr.R(parts), diag(n))), t = crossprod(Z, work$y),
       y = work$y, q = work$q, rows = rows)
}

# Leave-one-out residuals of every size in working coordinates, m x L x n. If basis vector i is a
# row that leaves with its basis vector, its residual comes from the model with coefficient i zero.
# With w the row i of W, this model takes Z_i w / |w| from the leverage of the row, squared, and
# from its fit.
nested_single_rows <- function(nested, remove) {
  residual <- nested$y
  d <- 1 - rowSums(nested$q^2)
  squared <- with_own <- numeric(length(nested$rows))
  coefficient <- matrix(0, length(nested$rows), ncol(nested$y))
  out <- array(0, c(dim(nested$y), length(nested$rows)))
  for (size in seq_along(nested$rows)) {
    z <- nested$Z[, size]
    w <- nested$W[, size]
    residual <- residual - outer(z, nested$t[size, ])
    d <- d - z^2
    held <- residual / d
    squared <- squared + w^2
    with_own <- with_own + z[nested$rows] * w
    coefficient <- coefficient + outer(w, nested$t[size, ])
    if (remove) {
      i <- seq_len(size)
      own <- nested$rows[i]
      held[own, ] <- (residual[own, , drop = FALSE] +
                        with_own[i] / squared[i] * coefficient[i, , drop = FALSE]) /
        (d[own] + with_own[i]^2 / squared[i])
    }
    out[, , size] <- held
  }
  out
}

# Held-out residuals of every size for a partition of the rows, m x L x n.
nested_folds <- function(nested, ids, remove) {
  out <- array(0, c(dim(nested$y), length(nested$rows)))
  for (held in split(seq_along(ids), ids)) {
    member <- which(nested$rows %in% held)
    for (size in seq_along(nested$rows)) {
      out[held, , size] <- nested_fold(nested, size, held, if (remove) member[member <= size])
    }
  }
  out
}

# Held-out residuals of some rows (h x L) in the model on the first `size` basis vectors without the
# vectors numbered `removed`. Z_H is projected to the directions in which their coefficients are
# zero.
nested_fold <- function(nested, size, held, removed) {
  first <- seq_len(size)
  Z <- nested$Z[held, first, drop = FALSE]
  if (length(removed)) {
    lost <- qr.Q(qr(t(nested$W[removed, first, drop = FALSE]), tol = 1e-300))
    Z <- if (ncol(lost) < size) Z - tcrossprod(Z %*% lost, lost) else 0 * Z
  }
  residual <- nested$y[held, , drop = FALSE] - Z %*% nested$t[first, , drop = FALSE]
  B <- cbind(nested$q[held, , drop = FALSE], Z)
  if (ncol(B) >= nrow(B)) return(solve(diag(nrow(B)) - tcrossprod(B), residual))
  residual + B %*% solve(diag(ncol(B)) - crossprod(B), crossprod(B, residual))
}

# The object --------------------------------------------------------------------------------------

#' @export
print.sparsels_basis <- function(x, ...) {
  path <- attr(x, "path")
  best <- which.min(path$criterion)
  say(sprintf("%d of %s, by method \"%s\", in the order chosen: %s", length(x),
              counted(attr(x, "rows"), "row"), attr(x, "method"),
              paste(as.integer(x), collapse = ", ")))
  say(sprintf("smallest %s: %s, with the first %d", attr(x, "label"),
              format(path$criterion[best], digits = 4L), path$size[best]))
  print(utils::head(path, 10L), row.names = FALSE, digits = 4L)
  if (nrow(path) > 10L) {
    cat(sprintf("... and %s, all in attr(, \"path\")\n", counted(nrow(path) - 10L, "more size")))
  }
  invisible(x)
}

#' @export
`[.sparsels_basis` <- function(x, ...) as.integer(x)[...]
