# The checks of paths with an l1 penalty, by their optimality conditions, for verify().

#' @exportS3Method
checks_of.l1_path <- function(fit, x, y, ..., data) {
  checker <- l1_checker(fit, problem_of_fit(fit, x, y, ..., data = data))
  kinds <- c(objective_kinds(checker), optimality_kinds(checker), solution_kinds(checker),
             l1_error_kinds(checker), l1_row_kinds(checker), list(l1_path_kind(checker)))
  list(kinds = kinds, unchecked = c(if (!checker$exact) {
    "more than that figures of thresholded solutions are bounds"
  }, if (!loss_of(fit)$smooth) {
    c(if (ncol(fit$problem$z) > 1L) "the null model of the hinge loss with several covariates",
      if (!all(checker$certain)) {
        sprintf("the optimum at %s, where the rows on the margin leave the dual point open",
                counted(sum(!checker$certain), "lambda"))
      }, if (!is.null(fit$folds)) "the optima without each fold")
  }))
}

# The common parts of the checks: whether solutions are `exact`, not thresholded, which of them are
# `certain` to have a dual point, and functions that store the points and held-out predictions.
l1_checker <- function(fit, problem) {
  checker <- list(fit = fit, problem = problem, exact = is.null(fit$path$threshold),
                  rms = response_rms(problem), residual = covariate_residual(problem))
  checker$condition <- centring_cost(response_offset(problem) *
    max(1, abs(problem$columns$centre / problem$columns$scale)[problem$columns$usable]))
  checker$point <- remembered(function(row) {
    solution_point(problem, fit, fit$path$lambda[row], model_of_row(fit, row), checker$residual)
  })
  responses <- responses_together(problem, fit$loss)
  checker$certain <- vapply(seq_len(nrow(fit$path)), function(row) {
    loss_of(fit)$smooth || all(vapply(responses, function(l) {
      is_determined(one_response(problem, l), model_of_response(model_of_row(fit, row), l))
    }, NA))
  }, NA)
  checker$null <- remembered(function(all) {
    if (!loss_of(fit)$smooth && ncol(problem$z) > 1L) return(fit$null_objective)
    sum(vapply(responses, function(l) {
      model_point(one_response(problem, l), fit$loss, integer(), numeric())$loss
    }, 0))
  })
  if (is.null(fit$folds)) return(checker)
  checker$parts <- held_out_rows(fit$folds, problem$rows$weight > 0)
  checker$fold <- remembered(function(part) fold_solutions(checker, checker$parts$rows[[part]]))
  checker$held_out <- remembered(function(row) {
    pred <- lapply(unique(checker$parts$repetition), function(repetition) {
      # rows of weight 0 are in no part
      pred <- as_kept(problem, checker$point(row)$f)
      for (part in which(checker$parts$repetition == repetition)) {
        pred[checker$parts$rows[[part]], ] <- layer(checker$fold(part)$scores, row)
      }
      pred
    })
    list(pred = pred, condition = checker$condition)
  })
  checker
}

# The objective ------------------------------------------------------------------------------------

objective_kinds <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  # a thresholded solution has bounds of these values
  kind <- function(words, column, value, unit, excess) {
    check_kind(words, path[[column]], function(at, cell) {
      own <- value(checker$point(at))
      bound <- max(0, excess * (own - path[[column]][at])) / max(abs(own), 1e-3)
      list(value = own, unit = unit(), deviation = if (!checker$exact) bound)
    }, path$size, path$lambda, condition = checker$condition)
  }
  null <- function() checker$null(1)
  list(
    kind("objective", "objective", function(point) point$objective, null, 1),
    kind("explained fraction", "dev_ratio", function(point) 1 - share_of(point$loss, null(), 1),
         function() 1, -1),
    check_kind("objective of the null model", fit$null_objective, function(...) null(),
               condition = checker$condition)
  )
}

# The optimum is below the objective by at most the gap of the path or its tolerance, and no product
# of a column with the dual point is above lambda.
optimality_kinds <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  usable <- which(fit$problem$columns$usable)
  rows <- which(checker$certain)
  inner <- identical(fit$control$solver, "ipm")
  # the dual point of an interior point solution is better than the dual point from its residuals
  allowed <- (if (inner) 10 else 1.5) * pmax(path$gap, fit$control$tolerance * fit$null_objective)
  list(
    check_kind("duality gap", ifelse(checker$certain, path$gap, NA), function(at, cell) {
      gap <- checker$point(at)$gap
      if (!is.null(path$removed)) {
        # The residuals of a model from which threshold_coef() removed columns give a poor dual
        # point. The dual point of a solution by another method bounds the distance to the optimum.
        control <- l1_control(checker$problem, fit$loss, tolerance = 1e-10)
        best <- solve_path(checker$problem, control, lambda = path$lambda[at])[[1L]]
        gap <- checker$point(at)$objective - (best$objective - best$gap)
      }
      list(value = gap, deviation = share_of(max(0, gap - allowed[at]), fit$null_objective))
    }, path$size, path$lambda, condition = checker$condition),
    check_kind("product of a column with the dual point", NULL, function(at, cell) {
      column_product(checker, rows[at], usable[cell], inner)
    }, path$size[rows], path$lambda[rows], counts = rep(length(usable), length(rows)),
    draw = function(n) {
      # half of the columns are in the model
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

# The product of a column is lambda, with its sign, if the column is in the model, and otherwise no
# more. An interior point solution has small coefficients where the exact solution has none.
column_product <- function(checker, row, column, inner) {
  problem <- checker$problem
  point <- checker$point(row)
  lambda <- checker$fit$alpha * checker$fit$path$lambda[row]
  each <- point$products[column, ]
  signs <- point$signs[column, ]
  grouped <- isTRUE(checker$fit$grouped)
  norms <- if (grouped) rep(sqrt(sum(each^2)), length(each)) else abs(each)
  is_zero <- if (grouped) rep(all(signs == 0), length(each)) else signs == 0
  wanted <- ifelse(inner | is_zero, each * pmin(1, lambda / norms), lambda * signs)
  worst <- which.max(abs(each - wanted))
  # a gap bounds the distance of the dual point from the best one
  size <- sqrt(problem$columns$rss[column]) / problem$columns$scale[column]
  gap <- max(point$gap, 1e-15 * checker$null(1))
  # the largest curvature of a row of weight 1
  loss <- loss_name(checker$fit)
  steep <- max(1, if (!is_cox_loss(loss))
    plain_curvature(loss, problem$rows$y, point$f, row_offset(problem)) else
      problem$rows$event - plain_cox(problem, point$f[, 1L])$slope / weight_divisor(problem))
  off <- sqrt(2 * gap * steep * max(problem$rows$weight, 1)) * size
  list(claimed = wanted[worst], value = each[worst], tolerance = max(1e-10, 2 * off / lambda),
       unit = 1000 * lambda, feature = problem$columns$name[column])
}

# Coefficients -------------------------------------------------------------------------------------

# The coefficients of a size equal the coefficients of its solution, with optimal covariates.
solution_kinds <- function(checker) {
  fit <- checker$fit
  problem <- checker$problem
  models <- without_null(fit$coefficients)
  rows <- model_rows(models)
  coefficient_kinds(models, remembered(function(at) {
    model <- models[[at]]
    solution <- fit$solutions[[rows[at]]]
    beta <- as.matrix(solution$beta)[match(model$features, solution$features), , drop = FALSE]
    covariates <- model_of_row(fit, rows[at])$covariates
    condition <- checker$condition
    if (fit$loss == "squared") {
      score <- plain_columns(problem, model$features) %*% model$beta
      covariates <- retrain_ridge(with_response(problem, problem$rows$y - score),
                                  score[, 0L, drop = FALSE], ridge_root(0, 0L))$b
      condition <- max(condition, abs(score) / checker$rms)
    }
    list(beta = beta / retrain_columns(problem, model$features)$scale, covariates = covariates,
         unit = list(beta = 0, covariates = covariate_units(problem)), beta_condition = 1,
         condition = condition)
  }), lengths(lapply(models, `[[`, "features")), fit$path$lambda[rows])
}

# Held out -----------------------------------------------------------------------------------------

# The path without some rows, as the fit computed it, with the scores of these rows and the duality
# gap of each solution relative to the null model.
fold_solutions <- function(checker, rows) {
  problem <- checker$problem
  train <- without_rows(problem, rows)
  lost <- lost_classes(train, checker$fit$loss)
  if (length(lost) == ncol(problem$rows$y)) {
    # the other rows are of one class, of which there is no model
    responses <- seq_len(ncol(train$rows$y))
    own <- vapply(responses, function(l) plain_lost_score(train, l, checker$fit$loss), 0)
    shape <- c(length(rows), length(responses), length(checker$fit$path$lambda))
    return(list(train = train, scores = array(rep(own, each = shape[1L]), shape)))
  }
  solutions <- solve_path(without_lost_classes(train, lost), checker$fit$control,
                          lambda = checker$fit$path$lambda)
  models <- lapply(solutions, function(solution) solution_model(train, solution))
  completed <- filled_like(problem, train)
  score <- function(model, rows) {
    all <- plain_columns(completed, model$features) %*% model$beta +
      completed$z[, colnames(train$z), drop = FALSE] %*% model$covariates
    as_kept(train, all)[rows, , drop = FALSE]
  }
  scores <- vapply(models, score, matrix(0, length(rows), ncol(problem$rows$y)), rows)
  # vapply() drops the dimensions of single numbers
  scores <- array(scores, c(length(rows), ncol(problem$rows$y), length(models)))
  for (l in lost) scores[, l, ] <- plain_lost_score(train, l, checker$fit$loss)
  list(train = train, models = models, scores = scores, residual = covariate_residual(train),
       deviance = function(at) {
         f <- score(models[[at]], seq_len(nrow(problem)))[, 1L]
         plain_held_out(problem, checker$fit$loss, rows, f)
       })
}

# The held-out deviance of a Cox model at a row of the path, and its standard error.
held_out_deviance <- function(checker, at) {
  parts <- checker$parts
  rowMeans(vapply(unique(parts$repetition), function(repetition) {
    sums <- vapply(which(parts$repetition == repetition), function(part) {
      checker$fold(part)$deviance(at)
    }, c(0, 0))
    retrain_mean(sums)
  }, c(value = 0, se = 0)))
}

l1_error_kinds <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  if (is_training(fit)) {
    return(list(check_kind("criterion", c(path$criterion, fit$lambda_table$criterion),
                           function(at, cell) {
      row <- (at - 1L) %% nrow(path) + 1L
      own <- 1 - share_of(checker$point(row)$loss, checker$null(1), 1)
      list(value = own, deviation = if (!checker$exact) max(0, path$dev_ratio[row] - own))
    }, path$size, path$lambda, unit = 1, condition = checker$condition)))
  }
  # the folds hold out the path before a threshold
  parts <- if (loss_of(fit)$smooth) which(!vapply(checker$parts$rows, function(rows) {
    train <- checker$problem
    train$rows$weight[rows] <- 0
    length(lost_classes(train, fit$loss)) > 0L
  }, NA))
  own <- if (!is.null(loss_of(fit)$held_out)) c("criterion", "se")
  c(error_kinds(path, column_words[setdiff(names(column_words), own)],
                function(at, column) judged_errors(checker, at, column), checker$problem,
                fit$folds, fit$criterion$name),
    lapply(own, function(column) {
      check_kind(column_words[[column]], path[[column]], function(at, cell) {
        found <- held_out_deviance(checker, at)
        list(value = found[[if (column == "se") "se" else "value"]],
             condition = checker$condition, unit = found[["value"]])
      }, path$size, path$lambda)
    }),
    list(
      check_kind("criterion at a lambda", fit$lambda_table$criterion,
                 function(at, ...) path$criterion[at], lambda = path$lambda),
      check_kind("duality gap without a fold", NULL, function(at, cell) {
        fold <- checker$fold(parts[cell])
        own <- solution_point(fold$train, fit, path$lambda[at], fold$models[[at]], fold$residual)
        gap <- share_of(own$gap, fit$null_objective)
        list(claimed = 0, value = gap, deviation = abs(gap),
             tolerance = max(1e-10, 10 * fit$control$tolerance))
      }, lambda = path$lambda, counts = rep(length(parts), nrow(path)))
    ))
}

# The held-out predictions of a row of the path for a column of its errors: of counts the mean
# squared error is judged at their means.
judged_errors <- function(checker, at, column) {
  held <- checker$held_out(at)
  if (column == "squared") {
    held$pred <- lapply(held$pred, function(score) {
      judged_scores(checker$fit, checker$problem, score)
    })
  }
  held
}

column_words <- c(criterion = "criterion", se = "standard error", squared = "mean squared error",
                  error = "error rate", concordance = "concordance")

# Predictions of the rows at the chosen lambda.
l1_row_kinds <- function(checker) {
  fit <- checker$fit
  row <- which.min(abs(fit$path$lambda - fit$lambda))
  of_rows <- function(words, values, predicted) {
    row_kind(words, list(values), predicted, checker$rms, fit$size, fit$lambda)
  }
  list(
    if (checker$exact) of_rows("fitted value", kept_values(fit, "fitted"), function(at) {
      list(pred = checker$point(row)$f, condition = checker$condition)
    }),
    if (!is.null(checker$held_out)) {
      of_rows("held-out prediction", kept_values(fit, "held_out"), function(at) {
        of_partitions(checker$held_out(row))
      })
    }
  )
}

# Sizes in the path, its lambdas and the chosen ones agree with the solutions, as a number of rows.
l1_path_kind <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  check_kind("rows of the path that agree with the solutions", nrow(path), function(...) {
    good <- path$size == lengths(lapply(fit$solutions, `[[`, "features"))
    good <- good & path$lambda == fit$control$lambda[seq_along(good)]
    good <- good & fit$lambda_table$lambda == path$lambda & fit$lambda_table$size == path$size
    good[1L] <- good[1L] && fit$lambda %in% path$lambda
    for (size in model_sizes(fit)) {
      model <- fit$coefficients[[size + 1L]]
      row <- model$step + 1L
      good[row] <- good[row] && setequal(model$features, fit$solutions[[row]]$features)
    }
    sum(good)
  })
}
