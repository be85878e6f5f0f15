# The checks of fits of columns, for verify().

#' @exportS3Method
claims_of.sparse_fit <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  checker <- column_checker(fit, problem_of_fit(fit, x, y, ..., data = data))
  list(kinds = c(set_kinds(checker), model_kinds(checker), choice_kinds(checker),
                 list(path_kind(checker)), step_kinds(checker), procedure_kinds(checker)),
       unchecked = unchecked_words(checker))
}

unchecked_words <- function(checker) {
  fit <- checker$fit
  c(if (!is_known_criterion(fit$criterion$name)) {
    "values of the `criterion` function, which the fit does not keep"
  }, if (!is.null(fit$path$price)) {
    "that no other column was better at a step, by what it gains per price"
  }, if (!is.null(fit$size_folds) && !is_repeatable(fit)) {
    "errors and predictions of the whole procedure, whose search draws at random"
  }, if (fit$status == "interrupted" && !is.null(fit$size_folds)) {
    "errors of the whole procedure, which was interrupted"
  })
}

# The common parts of the checks of a fit: the fit, the problem, the set and lambda of each row of
# the path, and functions that store their retrained results.
column_checker <- function(fit, problem) {
  problem <- regression_of_ranking(problem)
  refitted <- fit$path$refit_lambda
  if (is.null(refitted)) refitted <- NA
  checker <- list(fit = fit, problem = problem, sets = path_sets(fit), names = problem$names,
                  lambda = rep_len(ifelse(is.na(refitted), fit$lambda, refitted), nrow(fit$path)),
                  rms = response_rms(problem), residual = covariate_residual(problem))
  checker$trained <- remembered(function(set, lambda) {
    design <- column_design(problem, set)
    model <- retrain_design(problem, design, lambda, checker$residual)
    typical <- checker$rms / sqrt(colMeans(design$x^2))
    of_z <- covariate_units(problem)
    if (problem$intercept) of_z[1L] <- of_z[1L] * max(1, design$offset)
    c(model, list(unit = list(beta = pmax(max(0, abs(model$B)), typical) / design$scale,
                              covariates = of_z)))
  })
  checker$held_out <- remembered(function(set, lambda) {
    retrain_design_out(problem, column_design(problem, set), lambda, fit$folds$ids,
                       checker$residual)
  })
  checker$null <- remembered(function(name) {
    if (name == "r_squared") 1 else abs(set_error(checker, integer(), 1, name)[["value"]])
  })
  checker$mean_square <- remembered(function(all) retrain_mean_square(problem, checker$residual))
  checker
}

# The set after each row of the path, NULL where no model has this set.
path_sets <- function(fit) {
  path <- fit$path
  sets <- vector("list", nrow(path))
  if (!all(path$action %in% c("start", "add", "drop"))) {
    for (model in Filter(Negate(is.null), fit$coefficients)) {
      sets[[model$step + 1L]] <- model$features
    }
    return(sets)
  }
  start <- if (length(fit$control$start)) fit$control$start else which(fit$problem$usable)
  sets[[1L]] <- if (path$size[1L] > 0L) start else integer()
  for (row in seq_len(nrow(path))[-1L]) {
    sets[row] <- list(moved_set(fit, sets[[row - 1L]], row, path$feature[row]))
  }
  sets
}

# The set of a row of the path from the set before it, if the row moved `feature`.
moved_set <- function(fit, before, row, feature) {
  moved <- unit_columns(fit$problem, feature)
  if (fit$path$action[row] == "add") union(before, moved) else setdiff(before, moved)
}

# Errors of sets ----------------------------------------------------------------------------------

# Value and standard error of a criterion of a set, over the folds of the fit.
set_error <- function(checker, set, lambda, name) {
  problem <- checker$problem
  folds <- checker$fit$folds
  if (name == "r_squared") return(c(value = training_gain(checker, set, lambda), se = NA_real_))
  if (name == "auc" && folds$loo) {
    pairs <- retrain_pairs(problem, retrain_columns(problem, set)$values,
                           ridge_root(lambda, length(set)))
    weight <- problem$weights[pairs$up] * problem$weights[pairs$down]
    return(c(value = sum(weight * pair_order(pairs$ahead)) / sum(weight), se = NA_real_))
  }
  retrain_error(problem, name, checker$held_out(set, lambda)$pred, folds)
}

# 1 less the penalised residual sum of squares divided by the residual sum of squares of the null
# model
training_gain <- function(checker, set, lambda) {
  squares <- function(model) sum(checker$problem$weights * (checker$problem$y - model$pred)^2)
  model <- checker$trained(set, lambda)
  1 - (squares(model) + lambda * sum(model$B^2)) / squares(checker$trained(integer(), 0))
}

# A check of the errors of sets, with a number for each of `sets`.
set_kind <- function(checker, words, claimed, sets, name, lambda = checker$fit$lambda,
                     part = "value", feature = NA) {
  if (is.null(claimed) || !is_known_criterion(name)) return(NULL)
  model <- if (name == "r_squared") checker$trained else checker$held_out
  claim_kind(words, claimed, function(at, cell) {
    set <- sets[[at]]
    by <- recycled(lambda, at)
    list(value = set_error(checker, set, by, name)[[part]], condition = model(set, by)$condition,
         unit = checker$null(name), size = length(set), lambda = by,
         feature = recycled(feature, at))
  }, counts = !is.na(claimed) & !vapply(sets, is.null, NA))
}

# The errors of the path, of runners-up, of archives and of proofs.
set_kinds <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  name <- fit$criterion$name
  of_path <- function(words, column, name, lambda = checker$lambda, part = "value") {
    set_kind(checker, words, path[[column]], checker$sets, name, lambda, part)
  }
  others <- fit$alternatives
  moved <- lapply(seq_along(others$step), function(i) {
    row <- others$step[i] + 1L
    moved_set(fit, checker$sets[[row - 1L]], row, others$feature[i])
  })
  proof <- fit$proof
  of_proof <- match(proof$size, path$size)
  bound <- ifelse(path$action[of_proof] == "found", proof$bound, NA)
  list(
    of_path("criterion", "criterion", name),
    of_path("standard error", "se", name, part = "se"),
    of_path("mean squared error", "squared", "squared"),
    of_path("error rate", "error", "error"),
    of_path("criterion of the search", "search_criterion", name, fit$lambda),
    set_kind(checker, "criterion of a runner-up", others$criterion, moved, name,
             feature = others$name),
    set_kind(checker, "R-squared of an archived set", fit$archive$criterion, fit$archive$columns,
             "r_squared"),
    if (!is.null(proof)) {
      set_kind(checker, "R-squared of a proof", c(proof$r_squared, bound),
               rep(checker$sets[of_proof], 2L), "r_squared")
    }
  )
}

# Models and the parameters -----------------------------------------------------------------------

# Coefficients, by retraining and by their gradient, and predictions of the rows, in sample and,
# unless the procedure was repeated in folds, held out.
model_kinds <- function(checker) {
  fit <- checker$fit
  models <- Filter(Negate(is.null), fit$coefficients)
  size <- lengths(lapply(models, `[[`, "features"))
  rows <- vapply(models, `[[`, 0, "step") + 1L
  lambda <- checker$lambda[rows]
  trained <- function(at) checker$trained(models[[at]]$features, lambda[at])
  chosen <- match(fit$size, model_sizes(fit))
  several <- if (is.null(fit$fitted_sizes)) list() else
    lapply(model_sizes(fit) + 1L, layer, values = fit$fitted_sizes)
  held_out <- function(at) {
    out <- of_partitions(checker$held_out(models[[chosen]]$features, lambda[chosen]))
    idle <- checker$problem$weights == 0
    out$pred[idle, ] <- trained(chosen)$pred[idle, ]
    out
  }
  c(coefficient_kinds(models, trained, size, lambda), list(
    claim_kind("gradient", rep(0, length(models)), function(at, cell) {
      gradient(checker, models[[at]], lambda[at])
    }, size, lambda),
    row_kind("fitted value", list(fit$fitted), function(at) trained(chosen), checker$rms,
             fit$size, lambda[chosen]),
    row_kind("fitted value of another size", several, trained, checker$rms, model_sizes(fit),
             lambda),
    if (is.null(fit$size_folds)) {
      row_kind("held-out prediction", list(fit$held_out), held_out, checker$rms, fit$size,
               lambda[chosen])
    }
  ))
}

# The derivatives of the objective in the coefficients and the covariates, from the residuals of the
# coefficients of the fit.
gradient <- function(checker, model, lambda) {
  problem <- checker$problem
  w <- problem$weights
  columns <- retrain_columns(problem, model$features)
  x <- plain_columns(problem, model$features)
  residual <- w * (problem$y - x %*% model$beta - problem$z %*% model$covariates)
  slope <- rbind(crossprod(columns$values, residual) - lambda * model$beta * columns$scale,
                 crossprod(problem$z, residual))
  size <- sqrt(c(colSums(w * columns$values^2), colSums(w * problem$z^2)))
  value <- max(0, abs(slope) / pmax(size, 1e-300)) / sqrt(sum(w * problem$y^2))
  list(value = value, deviation = value,
       condition = checker$trained(model$features, lambda)$condition)
}

# Sizes and names in the path, and columns of the models, agree with the moves, as a number of rows.
path_kind <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  plain_kind("rows of the path with the columns named", nrow(path), function(at) {
    known <- !vapply(checker$sets, is.null, NA)
    sizes <- vapply(checker$sets, count_units, 0L, problem = fit$problem)
    good <- !known | path$size == sizes
    names <- unit_names(fit$problem, path$feature)
    good <- good & (is.na(path$feature) | mapply(identical, path$name, names))
    for (size in model_sizes(fit)) {
      model <- fit$coefficients[[size + 1L]]
      row <- model$step + 1L
      good[row] <- good[row] && count_units(fit$problem, model$features) == size &&
        setequal(model$features, checker$sets[[row]]) &&
        identical(rownames(model$beta), if (size) checker$names[model$features])
    }
    sum(good)
  })
}

# The ridge parameters: the parameter of the search, from the default rule or as given, the
# parameter of a refit, and the table of lambdas of a fit that tried several.
choice_kinds <- function(checker) {
  fit <- checker$fit
  lambdas <- c(fit$lambda, fit$lambda_table$lambda)
  table <- if (is.null(fit$size_folds)) fit$lambda_table
  of_size <- fit$coefficients[table$size + 1L]
  rows <- vapply(of_size, `[[`, 0, "step") + 1L
  list(
    if (!any(lambdas == 0)) plain_kind("lambda", lambdas, function(at) {
      multiple <- default_multiple(checker, lambdas[at])
      if (length(multiple)) multiple * checker$mean_square(1) else
        nearest(lambdas[at], unlist(fit$control$lambda))
    }),
    claim_kind("lambda of a refit", fit$path$refit_lambda, function(at, cell) {
      best <- best_refit(checker, checker$sets[[at]], fit$path$refit_lambda[at])
      list(value = best, lambda = NA)
    }, lengths(checker$sets)),
    set_kind(checker, "criterion at a lambda", table$criterion, lapply(of_size, `[[`, "features"),
             fit$criterion$name, checker$lambda[rows])
  )
}

# The parameter with the smallest held-out error among the parameters that a refit tries. It is the
# reported parameter if the error of that parameter is equal.
best_refit <- function(checker, set, claimed) {
  lambdas <- refit_multiples * checker$mean_square(1)
  errors <- vapply(lambdas, function(lambda) {
    set_error(checker, set, lambda, "squared")[["value"]]
  }, 0)
  near <- which.min(abs(log(lambdas / claimed)))
  lambdas[if (errors[near] <= (1 + 1e-10) * min(errors)) near else which.min(errors)]
}
