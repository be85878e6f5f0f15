# What a fit of columns claims, and how it is retrained.

#' @exportS3Method
claims_of.sparse_fit <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  bench <- sparse_bench(fit, problem_of_fit(fit, x, y, ..., data = data))
  kinds <- c(error_claims(bench), coefficient_claims(bench), prediction_claims(bench),
             choice_claims(bench), list(path_claim(bench)), step_claims(bench),
             procedure_claims(bench))
  list(kinds = Filter(Negate(is.null), kinds), unchecked = unchecked_words(bench))
}

unchecked_words <- function(bench) {
  fit <- bench$fit
  c(if (!is_known_criterion(fit$criterion$name)) {
    "values of the `criterion` function, which the fit does not keep"
  }, if (!is.null(fit$path$price)) {
    "that no other column was better at a step, by what it gains per price"
  }, if (!is.null(fit$size_folds) && !bench$repeatable) {
    "errors and predictions of the whole procedure, whose search draws at random"
  }, if (fit$status == "interrupted" && !is.null(fit$size_folds)) {
    "errors of the whole procedure, which was interrupted"
  })
}

# The bench ----------------------------------------------------------------------------------------

# What the claims of a fit have in common: the fit, the problem, the set after each row of the path,
# and functions that remember what they retrained.
sparse_bench <- function(fit, problem) {
  if (is_ranked(problem)) problem <- regression_of_ranking(problem)
  bench <- list(fit = fit, problem = problem, sets = path_sets(fit), names = problem$names,
                repeatable = is_repeatable(fit))
  bench$trained <- remembered(function(set, lambda) {
    columns <- own_columns(problem, set)
    root <- ridge_root(lambda, length(set))
    model <- trained_by_qr(problem, columns$values, root)
    c(model, columns, condition = condition_of(problem, columns, lambda))
  })
  bench$held_out <- remembered(function(set, lambda) {
    columns <- own_columns(problem, set)
    root <- ridge_root(lambda, length(set))
    each <- lapply(seq_len(ncol(fit$folds$ids)), function(repetition) {
      held_out_by_qr(problem, columns$values, root, fit$folds$ids[, repetition])
    })
    digits <- max(vapply(each, `[[`, 0, "digits"))
    list(pred = lapply(each, `[[`, "pred"),
         condition = digits * condition_of(problem, columns, lambda))
  })
  bench$null <- null_errors(bench)
  bench
}

# A function of numbers that keeps its values.
remembered <- function(f) {
  kept <- new.env()
  function(...) {
    key <- paste0(vapply(list(...), function(one) {
      paste(format(one, digits = 17), collapse = " ")
    }, ""), ";", collapse = "")
    if (is.null(kept[[key]])) assign(key, f(...), kept)
    kept[[key]]
  }
}

# The set after each row of the path, NULL where no model has it.
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
  set <- if (path$size[1L] > 0L) start else integer()
  sets[[1L]] <- set
  for (row in seq_len(nrow(path))[-1L]) {
    feature <- path$feature[row]
    moved <- unit_columns(fit$problem, feature)
    set <- if (path$action[row] == "add") union(set, moved) else setdiff(set, moved)
    sets[row] <- list(set)
  }
  sets
}

# the lambda that the figures of a row are of
row_lambda <- function(fit, row) {
  refit <- fit$path$refit_lambda[row]
  if (length(refit) && !is.na(refit)) refit else fit$lambda
}

null_errors <- function(bench) {
  problem <- bench$problem
  name <- function(criterion) if (is_known_criterion(criterion)) criterion else "squared"
  list(criterion = set_error(bench, integer(), 1, name(bench$fit$criterion$name))[["value"]],
       squared = set_error(bench, integer(), 1, "squared")[["value"]],
       rms = sqrt(sum(problem$weights * scale(problem$y, scale = FALSE)^2) /
                    (ncol(problem$y) * sum(problem$weights))))
}

# Value and standard error of a criterion of a set, over the folds of the fit.
set_error <- function(bench, set, lambda, name) {
  problem <- bench$problem
  folds <- bench$fit$folds
  if (name == "r_squared") return(c(value = training_gain(bench, set, lambda), se = NA_real_))
  if (name == "auc" && folds$loo) {
    pairs <- pairs_by_qr(problem, own_columns(problem, set)$values, ridge_root(lambda, length(set)))
    weight <- problem$weights[pairs$up] * problem$weights[pairs$down]
    return(c(value = sum(weight * own_order(pairs$ahead)) / sum(weight), se = NA_real_))
  }
  own_error(problem, name, bench$held_out(set, lambda)$pred, folds)
}

# 1 less the penalised residual sum of squares relative to that of the null model
training_gain <- function(bench, set, lambda) {
  squares <- function(model) sum(bench$problem$weights * (bench$problem$y - model$pred)^2)
  model <- bench$trained(set, lambda)
  1 - (squares(model) + lambda * sum(model$B^2)) / squares(bench$trained(integer(), 0))
}

# Errors -------------------------------------------------------------------------------------------

# Every figure of the path: the criterion, its standard error, and others.
error_claims <- function(bench) {
  fit <- bench$fit
  name <- fit$criterion$name
  columns <- list(criterion = name, se = name, squared = "squared", error = "error",
                  search_criterion = name)
  columns <- columns[names(columns) %in% names(fit$path) & vapply(columns, is_known_criterion, NA)]
  kinds <- lapply(names(columns), function(column) {
    rows <- which(!is.na(fit$path[[column]]) & !vapply(bench$sets, is.null, NA))
    claim_kind(claim_names[[column]], length(rows), function(i) {
      row <- rows[i]
      lambda <- if (column == "search_criterion") fit$lambda else row_lambda(fit, row)
      set_claim(bench, bench$sets[[row]], lambda, fit$path[[column]][row], columns[[column]],
                if (column == "se") "se" else "value")
    })
  })
  c(kinds, list(alternative_claims(bench), archive_claims(bench), proof_claims(bench)))
}

claim_names <- c(criterion = "criterion", se = "standard error", squared = "mean squared error",
                 error = "error rate", search_criterion = "criterion of the search")

# The claim that a set has an error.
set_claim <- function(bench, set, lambda, claimed, name, part = "value", ...) {
  found <- set_error(bench, set, lambda, name)[[part]]
  condition <- if (name == "r_squared") bench$trained(set, lambda)$condition else
    bench$held_out(set, lambda)$condition
  null <- if (name == "r_squared") 1 else bench$null[[if (name == "squared") "squared" else
    "criterion"]]
  new_claim(claimed, found, tolerance_of(condition), 1e-3 * abs(null), size = length(set),
            lambda = lambda, ...)
}

# the criteria of runners-up
alternative_claims <- function(bench) {
  fit <- bench$fit
  others <- fit$alternatives
  if (is.null(others) || !is_known_criterion(fit$criterion$name)) return(NULL)
  claim_kind("criterion of a runner-up", nrow(others), function(i) {
    set <- moved_set(bench, others$step[i] + 1L, others$feature[i])
    set_claim(bench, set, fit$lambda, others$criterion[i], fit$criterion$name,
              feature = others$name[i])
  })
}

# the set of a step if it had moved another column
moved_set <- function(bench, row, feature) {
  before <- bench$sets[[row - 1L]]
  moved <- unit_columns(bench$fit$problem, feature)
  if (bench$fit$path$action[row] == "add") c(before, moved) else setdiff(before, moved)
}

archive_claims <- function(bench) {
  archive <- bench$fit$archive
  if (is.null(archive)) return(NULL)
  claim_kind("R-squared of an archived set", nrow(archive), function(i) {
    set_claim(bench, archive$columns[[i]], bench$fit$lambda, archive$criterion[i], "r_squared")
  })
}

proof_claims <- function(bench) {
  proof <- bench$fit$proof
  if (is.null(proof)) return(NULL)
  rows <- match(proof$size, bench$fit$path$size)
  proven <- bench$fit$path$action[rows] == "found"
  columns <- c("r_squared", "bound")
  places <- rbind(expand.grid(row = seq_along(rows), column = 1L),
                  expand.grid(row = which(proven), column = 2L))
  claim_kind("R-squared of a proof", nrow(places), function(i) {
    row <- places$row[i]
    set_claim(bench, bench$sets[[rows[row]]], bench$fit$lambda,
              proof[[columns[places$column[i]]]][row], "r_squared")
  })
}

# Coefficients -------------------------------------------------------------------------------------

coefficient_claims <- function(bench) {
  fit <- bench$fit
  models <- Filter(Negate(is.null), fit$coefficients)
  terms <- lapply(c("beta", "covariates"), function(part) {
    do.call(rbind, lapply(seq_along(models), function(i) {
      values <- models[[i]][[part]]
      expand.grid(model = rep(i, length(values) > 0L), term = seq_len(nrow(values)),
                  response = seq_len(ncol(values)))
    }))
  })
  kind <- function(words, terms, compare) {
    claim_kind(words, nrow(terms), function(i) {
      model <- models[[terms$model[i]]]
      lambda <- row_lambda(fit, model$step + 1L)
      compare(model, bench$trained(model$features, lambda), lambda, terms$term[i],
              terms$response[i])
    })
  }
  list(
    kind("coefficient", terms[[1L]], function(model, own, lambda, term, response) {
      values <- own$B[, response] / own$scale
      new_claim(model$beta[term, response], values[term], tolerance_of(own$condition),
                1e-3 * max(abs(own$B), bench$null$rms / sqrt(mean(own$values[, term]^2))) /
                  own$scale[term],
                size = length(model$features), lambda = lambda,
                feature = bench$names[model$features[term]])
    }),
    kind("coefficient of a covariate", terms[[2L]], function(model, own, lambda, term, response) {
      unit <- bench$null$rms / sqrt(mean(bench$problem$z[, term]^2))
      value <- own$b[term, response]
      if (bench$problem$intercept && term == 1L) {
        unit <- unit * max(1, abs(own$centre / own$scale))
        value <- value - sum(own$centre * own$B[, response] / own$scale)
      }
      new_claim(model$covariates[term, response], value, tolerance_of(own$condition),
                1e-3 * unit, size = length(model$features), lambda = lambda,
                feature = colnames(bench$problem$z)[term])
    }),
    claim_kind("gradient", length(models), function(i) gradient_claim(bench, models[[i]]))
  )
}

# The derivatives of the objective in the coefficients and the covariates, by the residuals that the
# fit's own coefficients leave.
gradient_claim <- function(bench, model) {
  problem <- bench$problem
  lambda <- row_lambda(bench$fit, model$step + 1L)
  own <- bench$trained(model$features, lambda)
  x <- plain_columns(problem, model$features)
  residual <- problem$weights * (problem$y - x %*% model$beta - problem$z %*% model$covariates)
  slope <- rbind(crossprod(own$values, residual) - lambda * model$beta * own$scale,
                 crossprod(problem$z, residual))
  size <- sqrt(c(colSums(problem$weights * own$values^2), colSums(problem$weights * problem$z^2)))
  all <- sqrt(sum(problem$weights * problem$y^2))
  new_claim(0, max(0, abs(slope) / pmax(size, 1e-300)) / all, tolerance_of(own$condition), 1,
            size = length(model$features), lambda = lambda)
}

# Predictions --------------------------------------------------------------------------------------

# Of the chosen model: in sample and, unless the procedure was repeated in folds, held out.
prediction_claims <- function(bench) {
  fit <- bench$fit
  problem <- bench$problem
  chosen <- model_of(fit)
  lambda <- row_lambda(fit, chosen$step + 1L)
  own <- function() bench$trained(chosen$features, lambda)
  of_size <- function(words, values, size, predictions) {
    cells <- length(values)
    claim_kind(words, cells, function(i) {
      found <- predictions()
      at <- arrayInd(i, dim(values))
      new_claim(values[i], found$pred[i], tolerance_of(found$condition), 1e-3 * bench$null$rms,
                size = size, lambda = found$lambda, row = at[1L])
    })
  }
  several <- lapply(seq_len(max(0, dim(fit$fitted_sizes)[3L])), function(s) {
    model <- fit$coefficients[[s]]
    if (is.null(model)) return(NULL)
    of_size("fitted value of another size", layer(fit$fitted_sizes, s), s - 1L, function() {
      lambda <- row_lambda(fit, model$step + 1L)
      c(bench$trained(model$features, lambda), lambda = lambda)
    })
  })
  held_out <- function() {
    out <- bench$held_out(chosen$features, lambda)
    pred <- mean_prediction(out$pred)
    idle <- problem$weights == 0
    pred[idle, ] <- own()$pred[idle, ]
    list(pred = pred, condition = out$condition, lambda = lambda)
  }
  list(
    of_size("fitted value", fit$fitted, fit$size, function() c(own(), lambda = lambda)),
    joined_kinds(Filter(Negate(is.null), several)),
    if (is.null(fit$size_folds)) {
      of_size("held-out prediction", fit$held_out, fit$size, held_out)
    }
  )
}

# several kinds of the same words as one
joined_kinds <- function(kinds) {
  if (!length(kinds)) return(NULL)
  claims_of_each(kinds[[1L]]$words, vapply(kinds, `[[`, 0, "count"),
                 function(at, i) kinds[[at]]$check(i))
}

# The path -----------------------------------------------------------------------------------------

# Sizes and names in the path, and columns of the models, agree with the moves: in so many rows.
path_claim <- function(bench) {
  fit <- bench$fit
  claim_kind("rows of the path with the columns named", 1L, function(i) {
    path <- fit$path
    known <- !vapply(bench$sets, is.null, NA)
    sizes <- vapply(bench$sets, count_units, 0L, problem = fit$problem)
    good <- !known | path$size == sizes
    names <- unit_names(fit$problem, path$feature)
    good <- good & (is.na(path$feature) | mapply(identical, path$name, names))
    for (size in model_sizes(fit)) {
      model <- fit$coefficients[[size + 1L]]
      row <- model$step + 1L
      good[row] <- good[row] && count_units(fit$problem, model$features) == size &&
        setequal(model$features, bench$sets[[row]]) &&
        identical(rownames(model$beta), if (size) bench$names[model$features])
    }
    new_claim(nrow(path), sum(good), 1e-10)
  })
}

# The ridge parameters: of the search, as the default is made of the columns or as it was given; of
# a refit; and the table of lambdas of a fit that tried one.
choice_claims <- function(bench) {
  fit <- bench$fit
  rows <- which(!is.na(fit$path$refit_lambda))
  single <- is.null(fit$size_folds) && is_known_criterion(fit$criterion$name)
  lambdas <- c(fit$lambda, fit$lambda_table$lambda)
  list(
    if (!any(lambdas == 0)) claim_kind("lambda", length(lambdas), function(i) {
      multiple <- default_multiple(bench, lambdas[i])
      own <- if (length(multiple)) multiple * own_mean_square(bench$problem) else
        nearest(lambdas[i], unlist(fit$control$lambda))
      new_claim(lambdas[i], own, 1e-10)
    }),
    claim_kind("lambda of a refit", length(rows), function(i) {
      row <- rows[i]
      set <- bench$sets[[row]]
      lambdas <- refit_multiples * own_mean_square(bench$problem)
      errors <- vapply(lambdas, function(lambda) {
        set_error(bench, set, lambda, "squared")[["value"]]
      }, 0)
      claimed <- fit$path$refit_lambda[row]
      near <- which.min(abs(log(lambdas / claimed)))
      best <- if (errors[near] <= (1 + 1e-10) * min(errors)) near else which.min(errors)
      new_claim(claimed, lambdas[best], 1e-10, size = length(set))
    }),
    if (single) claim_kind("criterion at a lambda", nrow(fit$lambda_table), function(i) {
      model <- fit$coefficients[[fit$lambda_table$size[i] + 1L]]
      lambda <- row_lambda(fit, model$step + 1L)
      set_claim(bench, model$features, lambda, fit$lambda_table$criterion[i], fit$criterion$name)
    })
  )
}

# a value, or one of some others that is nearer to it than 1e-4
nearest <- function(value, others) {
  near <- others[abs(others / value - 1) < 1e-4]
  if (length(near)) near[1L] else value
}
