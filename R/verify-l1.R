# What a path with an l1 penalty claims, by its optimality conditions, for verify(): objective, dual
# point and gap in plain R, as R/duality.R has them.

#' @exportS3Method
claims_of.l1_path <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  bench <- l1_bench(fit, problem_of_fit(fit, x, y, ..., data = data))
  list(kinds = Filter(Negate(is.null), c(
    objective_claims(bench), optimality_claims(bench), solution_coefficient_claims(bench),
    l1_error_claims(bench), l1_row_claims(bench), list(l1_path_claim(bench))
  )), unchecked = c(if (!bench$exact) {
    "more than that figures of thresholded solutions are bounds"
  }, if (fit$loss == "hinge") {
    c(if (ncol(fit$problem$z) > 1L) "the null model of the hinge loss with several covariates",
      if (!all(bench$certain)) {
        sprintf("the optimum at %s, where the rows on the margin leave the dual point open",
                counted(sum(!bench$certain), "lambda"))
      }, if (!is.null(fit$folds)) "the optima without each fold")
  }))
}

l1_bench <- function(fit, problem) {
  bench <- list(fit = fit, problem = problem, folds = fit$folds)
  bench$exact <- is.null(fit$path$threshold)
  bench$rms <- response_rms(problem)
  bench$offset <- centring_cost(response_offset(problem) *
    max(1, abs(problem$centre / problem$scale)[problem$usable]))
  bench$point <- remembered(function(row) {
    solution_point(problem, fit, fit$path$lambda[row], model_of_row(fit, row))
  })
  bench$certain <- vapply(seq_len(nrow(fit$path)), function(row) {
    fit$loss != "hinge" || all(vapply(seq_len(ncol(problem$y)), function(l) {
      is_determined(one_response(problem, l),
                    model_of_response(model_of_row(fit, row), l))
    }, NA))
  }, NA)
  bench$null <- remembered(function(all) {
    if (fit$loss == "hinge" && ncol(problem$z) > 1L) return(fit$null_objective)
    sum(vapply(seq_len(ncol(problem$y)), function(l) {
      model_point(one_response(problem, l), fit$loss, integer(), numeric())$loss
    }, 0))
  })
  if (!is.null(fit$folds)) {
    bench$parts <- held_out_rows(fit$folds, problem$weights > 0)
    bench$fold <- remembered(function(part) fold_solutions(bench, bench$parts$rows[[part]]))
    bench$held_out <- remembered(function(row) held_out_of_row(bench, row))
  }
  bench
}

# A model at a lambda: its values f (m x responses), loss, objective, the products of all columns
# with its dual point, less what the ridge takes from them, with the signs of the coefficients
# (columns x responses), and the duality gap. `model` is on the user's scale.
solution_point <- function(problem, fit, lambda, model) {
  points <- lapply(seq_len(ncol(problem$y)), function(l) {
    response_point(one_response(problem, l), fit, lambda, model_of_response(model, l))
  })
  total <- function(name) sum(vapply(points, `[[`, 0, name))
  bound <- function(name) do.call(cbind, lapply(points, `[[`, name))
  list(f = bound("f"), loss = total("loss"), objective = total("objective"), gap = total("gap"),
       products = bound("products"), signs = bound("signs"))
}

# the part of a model that is of one response
model_of_response <- function(model, l) {
  used <- if (ncol(model$beta) == 1L) seq_along(model$features) else which(model$beta[, l] != 0)
  list(features = model$features[used], beta = model$beta[used, l, drop = FALSE],
       covariates = model$covariates[, l, drop = FALSE])
}

# The point of a single response.
response_point <- function(problem, fit, lambda, model) {
  loss <- fit$loss
  alpha <- fit$alpha
  x <- plain_columns(problem, model$features)
  f <- drop(x %*% model$beta + problem$z %*% model$covariates)
  y <- problem$y[, 1L]
  w <- problem$weights
  scaled <- drop(model$beta) * problem$scale[model$features]
  value <- sum(w * own_loss(loss, y, f))
  r <- switch(loss,
    squared = sqrt(w) * (y - f),
    logistic = sqrt(w) * y * stats::plogis(-y * f),
    hinge = hinge_point(problem, f, lambda, model$features, sign(scaled))
  )
  if (ncol(problem$z)) r <- qr.resid(qr(sqrt(w) * problem$z, tol = 1e-12), r)
  products <- column_products(problem, r)
  products[model$features] <- products[model$features] - lambda * (1 - alpha) * scaled
  objective <- value + lambda * (alpha * sum(abs(scaled)) + (1 - alpha) / 2 * sum(scaled^2))
  tail <- if (alpha < 1) lambda * (1 - alpha) * sum(scaled^2) else 0
  dual <- dual_value(problem, loss, r, max(abs(products)), alpha * lambda, tail)
  list(f = f, loss = value, objective = objective, products = products, gap = objective - dual,
       signs = replace(numeric(ncol(problem)), model$features, sign(scaled)))
}

own_loss <- function(loss, y, f) {
  switch(loss,
    squared = (y - f)^2 / 2,
    logistic = log1p(exp(-abs(y * f))) + pmax(-y * f, 0),
    hinge = pmax(1 - y * f, 0)
  )
}

# The dual point of the hinge loss: alpha is w below the margin, 0 above, and at the margin what
# makes the products of the columns in the model lambda and those of the covariates 0.
hinge_point <- function(problem, f, lambda, features, signs) {
  y <- problem$y[, 1L]
  w <- problem$weights
  slack <- 1 - y * f
  margin <- margin_rows(problem, f)
  alpha <- ifelse(slack > 0, w, 0)
  alpha[margin] <- 0
  columns <- cbind(problem$z, own_columns(problem, features)$values) * y
  wanted <- c(numeric(ncol(problem$z)), lambda * signs) - drop(crossprod(columns, alpha))
  if (length(margin)) {
    inner <- t(columns[margin, , drop = FALSE])
    solved <- qr.coef(qr(inner, tol = 1e-9), wanted)
    alpha[margin] <- pmin(pmax(ifelse(is.na(solved), 0, solved), 0), w[margin])
  }
  y * alpha / weight_divisor(problem)
}

margin_rows <- function(problem, f) {
  which(problem$weights > 0 & abs(1 - problem$y[, 1L] * f) <= 1e-7 * max(1, abs(f)))
}

# whether the rows on the margin are no more than the equations for their part of the dual point
is_determined <- function(problem, model) {
  f <- plain_columns(problem, model$features) %*% model$beta + problem$z %*% model$covariates
  length(margin_rows(problem, drop(f))) <= length(model$features) + ncol(problem$z)
}

# The objective ------------------------------------------------------------------------------------

objective_claims <- function(bench) {
  fit <- bench$fit
  path <- fit$path
  tolerance <- tolerance_of(bench$offset)
  null <- function() bench$null(1)
  of_rows <- function(words, column, value) {
    claim_kind(words, nrow(path), function(row) {
      own <- value(bench$point(row))
      claimed <- path[[column]][row]
      # a thresholded solution has bounds of these
      deviation <- if (!bench$exact) {
        max(0, if (column == "objective") own - claimed else claimed - own) / max(abs(own), 1e-3)
      }
      new_claim(claimed, own, tolerance, if (column == "objective") 1e-3 * null() else 1e-3,
                deviation, size = path$size[row], lambda = path$lambda[row])
    })
  }
  list(
    of_rows("objective", "objective", function(point) point$objective),
    of_rows("explained fraction", "dev_ratio", function(point) 1 - point$loss / null()),
    claim_kind("objective of the null model", 1L, function(i) {
      new_claim(fit$null_objective, null(), tolerance)
    })
  )
}

# No optimum is below the objective by more than the gap of the path or its tolerance, and no
# product of a column with the dual point is above lambda.
optimality_claims <- function(bench) {
  fit <- bench$fit
  path <- fit$path
  usable <- which(fit$problem$usable)
  rows <- which(bench$certain)
  inner <- identical(fit$control$solver, "ipm")
  # the dual point of an interior point is better than that of its residuals
  allowed <- function(row) {
    (if (inner) 10 else 1.5) * max(path$gap[row], fit$control$tolerance * fit$null_objective)
  }
  list(
    claim_kind("duality gap", length(rows), function(i) {
      row <- rows[i]
      own <- if (is.null(path$removed)) bench$point(row)$gap else gap_of_cut(bench, row)
      new_claim(path$gap[row], own, tolerance_of(bench$offset),
                deviation = max(0, own - allowed(row)) / fit$null_objective,
                size = path$size[row], lambda = path$lambda[row])
    }),
    claim_kind("product of a column with the dual point", length(rows) * length(usable),
               function(i) {
      row <- rows[(i - 1) %/% length(usable) + 1]
      product_claim(bench, row, usable[(i - 1) %% length(usable) + 1], inner)
    }, function(n) {
      # half of them of columns in the model
      at <- sample.int(length(rows), n, replace = TRUE)
      unique(vapply(at, function(one) {
        own <- match(fit$solutions[[rows[one]]]$features, usable)
        of_model <- length(own) && stats::runif(1L) < 0.5
        (one - 1) * length(usable) + if (of_model) own[sample.int(length(own), 1L)] else
          sample.int(length(usable), 1L)
      }, 0))
    })
  )
}

# How far a model from which threshold_coef() removed columns is from the optimum, at most. Its
# residuals are no good dual point; that of the solution by another method is.
gap_of_cut <- function(bench, row) {
  fit <- bench$fit
  control <- l1_control(bench$problem, fit$loss, tolerance = 1e-10)
  best <- solve_path(bench$problem, control, lambda = fit$path$lambda[row])[[1L]]
  bench$point(row)$objective - (best$objective - best$gap)
}

# The product of a column is lambda, with its sign, where the column is in the model, and otherwise
# no more. An interior point has small coefficients where the solution has none.
product_claim <- function(bench, row, column, inner) {
  problem <- bench$problem
  point <- bench$point(row)
  lambda <- bench$fit$alpha * bench$fit$path$lambda[row]
  each <- point$products[column, ]
  signs <- point$signs[column, ]
  wanted <- ifelse(inner | signs == 0, sign(each) * pmin(abs(each), lambda), lambda * signs)
  worst <- which.max(abs(each - wanted))
  own <- each[worst]
  wanted <- wanted[worst]
  # a gap bounds how far the dual point is from the best one
  size <- sqrt(problem$rss[column]) / problem$scale[column]
  gap <- max(point$gap, 1e-15 * bench$null(1))
  off <- sqrt(2 * gap * max(problem$weights, 1)) * size
  new_claim(wanted, own, max(1e-10, 2 * off / lambda), lambda, size = bench$fit$path$size[row],
            lambda = bench$fit$path$lambda[row], feature = problem$names[column])
}

# Coefficients -------------------------------------------------------------------------------------

# The coefficients of a size are those of its solution, with the covariates as they are best.
solution_coefficient_claims <- function(bench) {
  fit <- bench$fit
  problem <- bench$problem
  models <- Filter(Negate(is.null), fit$coefficients)
  row_of <- function(model) model$step + 1L
  sizes <- lengths(lapply(models, `[[`, "features"))
  L <- ncol(problem$y)
  shared <- ncol(problem$z)
  list(
    claims_of_each("coefficient", sizes * L, function(at, cell) {
      model <- models[[at]]
      solution <- fit$solutions[[row_of(model)]]
      scale <- own_columns(problem, model$features)$scale
      own <- as.matrix(solution$beta)[match(model$features, solution$features), ] / scale
      new_claim(model$beta[cell], own[cell], 1e-10, size = length(model$features),
                lambda = fit$path$lambda[row_of(model)],
                feature = problem$names[model$features[(cell - 1L) %% length(scale) + 1L]])
    }),
    claims_of_each("coefficient of a covariate", rep(shared * L, length(models)),
                   function(at, cell) {
      model <- models[[at]]
      row <- row_of(model)
      own <- model_of_row(fit, row)$covariates[cell]
      term <- (cell - 1L) %% shared + 1L
      condition <- bench$offset
      if (fit$loss == "squared") {
        x <- plain_columns(problem, model$features)
        root_w <- sqrt(problem$weights)
        rest <- problem$y - x %*% model$beta
        own <- qr.coef(qr(root_w * problem$z, tol = 1e-12), root_w * rest)[cell]
        condition <- max(condition, max(abs(x %*% model$beta)) / bench$rms)
      }
      new_claim(model$covariates[cell], own, tolerance_of(condition),
                1e-3 * bench$rms / sqrt(mean(problem$z[, term]^2)),
                size = length(model$features), lambda = fit$path$lambda[row],
                feature = colnames(problem$z)[term])
    })
  )
}

# Held out -----------------------------------------------------------------------------------------

# The path without some rows, as the fit computed it, with the scores of these rows and the duality
# gap of each solution relative to the null model.
fold_solutions <- function(bench, rows) {
  problem <- bench$problem
  train <- without_rows(problem, rows)
  solutions <- solve_path(train, bench$fit$control, lambda = bench$fit$path$lambda)
  models <- lapply(solutions, function(solution) solution_model(train, solution))
  completed <- filled_like(problem, train)
  scores <- vapply(models, function(model) {
    plain_columns(completed, model$features)[rows, , drop = FALSE] %*% model$beta +
      completed$z[rows, , drop = FALSE] %*% model$covariates
  }, matrix(0, length(rows), ncol(problem$y)))
  list(train = train, models = models, scores = scores)
}

held_out_of_row <- function(bench, row) {
  lapply(unique(bench$parts$repetition), function(repetition) {
    # rows of weight 0 are in no part
    pred <- bench$point(row)$f
    for (part in which(bench$parts$repetition == repetition)) {
      pred[bench$parts$rows[[part]], ] <- layer(bench$fold(part)$scores, row)
    }
    pred
  })
}

l1_error_claims <- function(bench) {
  fit <- bench$fit
  path <- fit$path
  if (is_training(fit)) {
    table <- fit$lambda_table$criterion
    return(list(claim_kind("criterion", 2L * nrow(path), function(i) {
      row <- (i - 1L) %% nrow(path) + 1L
      own <- 1 - bench$point(row)$loss / bench$null(1)
      claimed <- c(path$criterion, table)[i]
      new_claim(claimed, own, tolerance_of(bench$offset), 1e-3,
                deviation = if (!bench$exact) max(0, path$dev_ratio[row] - own),
                size = path$size[row], lambda = path$lambda[row])
    })))
  }
  # the folds hold out what the path was, not what a threshold leaves of it
  name <- fit$criterion$name
  columns <- list(criterion = name, se = name, squared = "squared", error = "error")
  columns <- columns[names(columns) %in% names(path)]
  kinds <- lapply(names(columns), function(column) {
    rows <- which(!is.na(path[[column]]))
    claim_kind(claim_names[[column]], length(rows), function(i) {
      row <- rows[i]
      own <- own_error(bench$problem, columns[[column]], bench$held_out(row), fit$folds)
      new_claim(path[[column]][row], own[[if (column == "se") "se" else "value"]],
                tolerance_of(bench$offset), 1e-3 * own[["value"]], size = path$size[row],
                lambda = path$lambda[row])
    })
  })
  parts <- nrow(bench$parts)
  c(kinds, list(
    claim_kind("criterion at a lambda", nrow(fit$lambda_table), function(row) {
      new_claim(fit$lambda_table$criterion[row], path$criterion[row], 1e-10,
                lambda = path$lambda[row])
    }),
    claims_of_each("duality gap without a fold",
                   rep(if (fit$loss == "hinge") 0 else parts, nrow(path)), function(row, part) {
      fold <- bench$fold(part)
      own <- solution_point(fold$train, fit, path$lambda[row], fold$models[[row]])
      new_claim(0, own$gap / fit$null_objective, max(1e-10, 10 * fit$control$tolerance), 1,
                lambda = path$lambda[row])
    })
  ))
}

# Predictions of the rows at the chosen lambda.
l1_row_claims <- function(bench) {
  fit <- bench$fit
  row <- which.min(abs(fit$path$lambda - fit$lambda))
  of_rows <- function(words, values, own) {
    at <- which(!is.na(values))
    claim_kind(words, length(at), function(i) {
      new_claim(values[at[i]], own()[at[i]], tolerance_of(bench$offset), 1e-3 * bench$rms,
                size = fit$size, lambda = fit$lambda,
                row = (at[i] - 1L) %% nrow(bench$problem) + 1L)
    })
  }
  list(
    if (bench$exact) of_rows("fitted value", fit$fitted, function() bench$point(row)$f),
    if (!is.null(bench$held_out)) of_rows("held-out prediction", fit$held_out, function() {
      mean_prediction(bench$held_out(row))
    })
  )
}

# Sizes in the path, its lambdas and those chosen agree with the solutions: in so many rows.
l1_path_claim <- function(bench) {
  fit <- bench$fit
  claim_kind("rows of the path that agree with the solutions", 1L, function(i) {
    path <- fit$path
    good <- path$size == lengths(lapply(fit$solutions, `[[`, "features"))
    good <- good & path$lambda == fit$control$lambda[seq_along(good)]
    good <- good & fit$lambda_table$lambda == path$lambda & fit$lambda_table$size == path$size
    good[1L] <- good[1L] && fit$lambda %in% path$lambda
    for (size in model_sizes(fit)) {
      model <- fit$coefficients[[size + 1L]]
      row <- model$step + 1L
      good[row] <- good[row] && setequal(model$features, fit$solutions[[row]]$features)
    }
    new_claim(nrow(path), sum(good), 1e-10)
  })
}
