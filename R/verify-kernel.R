# What fits of kernel expansions and of all columns claim, and how they are retrained for verify().

# The terms of a model as a design: list(x: m x p; gram: p x p, which makes the penalty
# lambda B'gram B; owner: the row whose basis vector a column is, held out with it, else 0; back:
# what takes coefficients of columns to those of the terms, NULL where these are dual ones).

#' @exportS3Method
claims_of.kernel_fit <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  problem <- kernel_data(fit, problem_of_fit(fit, x, y, ..., data = data))
  design <- if (is.null(fit$kernel)) column_design(fit, problem) else
    kernel_design(fit, problem, fit$kernel)
  bench <- design_bench(fit, problem, design)
  lambda <- fit$path$lambda
  kinds <- c(lambda_error_claims(bench, lambda), term_claims(bench, fit$coefficients, lambda),
             row_claims(bench, fit$lambda), width_claims(bench))
  list(kinds = Filter(Negate(is.null), kinds), unchecked = NULL)
}

# The data with the centre and scale that the kernel takes them with, which are those of the data.
kernel_data <- function(fit, problem) {
  problem <- with_doubles(problem)
  if (is_ranked(problem)) problem <- regression_of_ranking(problem)
  if (!is.null(fit$kernel)) {
    problem$centre <- fit$problem$centre
    problem$scale <- fit$problem$scale
  }
  problem
}

# Columns standardised, or where they are more than the rows the triangle of their QR decomposition.
column_design <- function(fit, problem) {
  columns <- own_columns(problem, fit$features)
  x <- columns$values
  turn <- diag(ncol(x))
  if (ncol(x) > nrow(x)) {
    parts <- qr(t(x), tol = 1e-300)
    turn <- qr.Q(parts)
    x <- t(qr.R(parts))
    x[parts$pivot, ] <- x
  }
  list(x = x, gram = diag(ncol(x)), owner = integer(ncol(x)), back = turn / columns$scale,
       shift = columns$centre, offset = max(abs(columns$centre / columns$scale)),
       names = problem$names[fit$features])
}

# A kernel on some basis vectors, or on all rows in the coordinates of its eigenvectors.
kernel_design <- function(fit, problem, kernel) {
  basis <- fit$basis
  K <- kernel_columns(problem, kernel, basis)
  shift <- fit$shift
  names <- basis_names(fit$problem, basis)
  if (basis$all && shift$where == "none") {
    parts <- eigen(K[, order(basis$rows)] / 2 + t(K[, order(basis$rows)]) / 2, symmetric = TRUE)
    root <- parts$vectors * rep(sqrt(pmax(parts$values, 0)), each = nrow(K))
    return(list(x = root, gram = diag(ncol(root)), owner = integer(ncol(root)), back = NULL,
                rows = basis$rows, names = names))
  }
  gram <- basis_kernel_matrix(problem, kernel, basis, K) + diag(shift$value, ncol(K))
  if (shift$where == "kernel") {
    diagonal <- cbind(basis$rows, seq_along(basis$rows))
    K[diagonal] <- K[diagonal] + shift$value
  }
  list(x = K, gram = gram, owner = if (is.null(basis$rows)) integer(ncol(K)) else basis$rows,
       back = diag(ncol(K)), names = names)
}

design_bench <- function(fit, problem, design) {
  bench <- list(fit = fit, problem = problem, names = design$names, design = design)
  root_of <- function(lambda, kept) {
    gram <- design$gram[kept, kept, drop = FALSE]
    sqrt(lambda) * if (ncol(gram)) chol(gram) else gram
  }
  bench$trained <- remembered(function(lambda) {
    model <- trained_by_qr(problem, design$x, root_of(lambda, TRUE))
    beta <- if (is.null(design$back)) {
      ((problem$weights * (problem$y - model$pred)) / lambda)[design$rows, , drop = FALSE]
    } else {
      design$back %*% model$B
    }
    b <- model$b
    if (!is.null(design$shift) && problem$intercept) b[1L, ] <- b[1L, ] - design$shift %*% beta
    # dual coefficients are residuals: the smaller these are, the fewer digits they have
    rest <- if (is.null(design$back)) problem$y - model$pred else problem$y
    digits <- max(abs(problem$y)) / max(abs(rest))
    list(beta = beta, b = b, pred = model$pred,
         condition = design_condition(problem, design, lambda), digits = digits)
  })
  bench$held_out <- remembered(function(lambda) {
    each <- lapply(seq_len(ncol(fit$folds$ids)), function(repetition) {
      held_out_design(problem, design, function(kept) root_of(lambda, kept),
                      fit$folds$ids[, repetition])
    })
    # the kernel matrix with lambda on its diagonal, which fits use, costs more digits than its root
    digits <- 10 * max(vapply(each, `[[`, 0, "digits"))
    list(pred = lapply(each, `[[`, "pred"),
         condition = max(digits * design_condition(problem, design, lambda), 1e5))
  })
  bench$rms <- response_rms(problem)
  bench
}

# Rows whose basis vectors go with them are predicted by a model without these.
held_out_design <- function(problem, design, root_of, ids) {
  if (!any(design$owner > 0L)) {
    return(held_out_by_qr(problem, design$x, root_of(TRUE), ids))
  }
  alone <- !anyDuplicated(ids)
  out <- if (alone) held_out_by_qr(problem, design$x, root_of(TRUE), ids) else
    list(pred = unname(problem$y) * NA, digits = 1)
  for (rows in split(seq_along(ids), ids)) {
    kept <- !design$owner %in% rows
    if (alone && all(kept)) next
    model <- trained_by_qr(problem, design$x[, kept, drop = FALSE], root_of(kept),
                           seq_along(ids)[-rows])
    out$pred[rows, ] <- model$pred[rows, ]
  }
  out
}

# The condition number of the columns, with the penalty turned to a multiple of lambda.
design_condition <- function(problem, design, lambda) {
  own <- chol(design$gram)
  x <- sqrt(problem$weights) * t(backsolve(own, t(design$x), transpose = TRUE))
  values <- svd(x, 0L, 0L)$d^2
  spread <- svd(design$gram, 0L, 0L)$d
  offset <- centring_cost(max(response_offset(problem), design$offset))
  least <- if (ncol(x) > nrow(x)) 0 else min(values)
  offset * max((max(values) + lambda) / (least + lambda), max(spread) / min(spread))
}

# Errors -------------------------------------------------------------------------------------------

lambda_error_claims <- function(bench, lambda) {
  fit <- bench$fit
  columns <- intersect(c("criterion", "se", "error", "training"), names(fit$path))
  kinds <- lapply(columns, function(column) {
    rows <- which(!is.na(fit$path[[column]]))
    claim_kind(kernel_claim_names[[column]], length(rows), function(i) {
      row <- rows[i]
      own <- design_error(bench, lambda[row], column)
      new_claim(fit$path[[column]][row], own$value, tolerance_of(own$condition),
                1e-3 * bench$rms^2, lambda = lambda[row])
    })
  })
  gamma <- fit$path$gamma
  c(kinds, list(if (!is.null(gamma)) {
    claim_kind("gamma, which is 1 / lambda", length(gamma) + 1L, function(i) {
      new_claim(c(fit$gamma, gamma)[i], 1 / c(fit$lambda, lambda)[i], 1e-10)
    })
  }))
}

kernel_claim_names <- c(criterion = "mean squared error", se = "standard error",
                        error = "error rate", training = "mean squared error in sample")

# the held-out error of a lambda, or that in sample
design_error <- function(bench, lambda, column) {
  problem <- bench$problem
  if (column == "training") {
    model <- bench$trained(lambda)
    sums <- own_fold_sums(problem, "squared", model$pred, rep(1L, nrow(problem)))
    return(list(value = sums[1L] / sums[2L], condition = model$condition))
  }
  out <- bench$held_out(lambda)
  name <- if (column == "error") "error" else "squared"
  error <- own_error(problem, name, out$pred, bench$fit$folds)
  list(value = error[[if (column == "se") "se" else "value"]], condition = out$condition)
}

# Coefficients -------------------------------------------------------------------------------------

term_claims <- function(bench, models, lambda) {
  terms <- nrow(models[[1L]]$beta)
  list(
    claims_of_each("coefficient", lengths(lapply(models, `[[`, "beta")), function(l, cell) {
      own <- bench$trained(lambda[l])
      new_claim(models[[l]]$beta[cell], own$beta[cell],
                tolerance_of(max(own$condition, 1e3 * own$digits)),
                1e-3 * max(abs(own$beta)), lambda = lambda[l],
                feature = bench$names[(cell - 1) %% terms + 1])
    }),
    claims_of_each("coefficient of a covariate", lengths(lapply(models, `[[`, "covariates")),
                   function(l, cell) {
      own <- bench$trained(lambda[l])
      term <- (cell - 1) %% ncol(bench$problem$z) + 1
      z <- bench$problem$z[, term]
      new_claim(models[[l]]$covariates[cell], own$b[cell], tolerance_of(own$condition),
                1e-3 * bench$rms / sqrt(mean(z^2)), lambda = lambda[l],
                feature = colnames(bench$problem$z)[term])
    })
  )
}

# Predictions of the rows at the chosen lambda.
row_claims <- function(bench, lambda) {
  fit <- bench$fit
  of_rows <- function(words, values, predictions) {
    claim_kind(words, length(values), function(i) {
      own <- predictions()
      new_claim(values[i], own$pred[i], tolerance_of(own$condition), 1e-3 * bench$rms,
                lambda = lambda, row = arrayInd(i, dim(values))[1L])
    })
  }
  list(
    of_rows("fitted value", fit$fitted, function() bench$trained(lambda)),
    of_rows("held-out prediction", fit$held_out, function() {
      out <- bench$held_out(lambda)
      list(pred = mean_prediction(out$pred), condition = out$condition)
    })
  )
}

# The table of the widths tried: the error of each at its lambda, which is one of the path's.
width_claims <- function(bench) {
  fit <- bench$fit
  table <- fit$kernel_table
  if (is.null(table)) return(NULL)
  in_sigma2 <- !is.null(table$sigma2)
  lambda <- if (in_sigma2) 1 / table$gamma else table$lambda
  width <- if (in_sigma2) 1 / table$sigma2 else table$gamma
  kernel <- function(row) {
    if (is.na(width[row])) return(fit$kernel)
    kernel_gaussian(width[row], normalize = fit$kernel$normalize)
  }
  # the shift that the fit keeps is that of the kernel chosen
  kept <- is.na(width) | fit$shift$where == "none"
  if (length(fit$kernel$parameters$gamma)) {
    kept <- kept | abs(width / fit$kernel$parameters$gamma - 1) < 1e-4
  }
  rows <- which(kept)
  list(
    claim_kind("error of a kernel's width", length(rows), function(i) {
      row <- rows[i]
      design <- kernel_design(fit, bench$problem, kernel(row))
      error <- design_error(design_bench(fit, bench$problem, design), lambda[row], "criterion")
      new_claim(table$criterion[row], error$value, tolerance_of(error$condition),
                1e-3 * bench$rms^2, lambda = lambda[row])
    }),
    claim_kind("lambda of a kernel's width", nrow(table), function(row) {
      new_claim(lambda[row], nearest(lambda[row], fit$path$lambda), 1e-10)
    })
  )
}
