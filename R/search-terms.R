# The terms of a searched model with curves.

# A fit with `terms`, a table of the terms of its chosen model, if the problem has curves or pairs:
# the name of the `term`, its `kind`, "curve", "line", "steps", "hinges" or "pair", its `error` as a
# line, held out, relative to the error of the model, its `shape`, the standard deviation of its
# part (`spread`), and the range of its values (`from`, `to`). A curve is a line if the held-out
# error without its directions, at the same lambda, is no higher. Steps and hinges remain what they
# are. The error of a pair is the error without it.
with_terms <- function(fit, problem, control) {
  wanted <- has_terms(problem) && fit$size > 0L && ncol(problem$rows$y) == 1L
  if (!wanted || fit$status == "interrupted") return(fit)
  model <- model_of(fit)
  lambda <- chosen_row(fit)$refit_lambda
  if (is.null(lambda) || is.na(lambda)) lambda <- fit$lambda
  error_of <- function(features) {
    if (!length(features)) return(fit$path$squared[1L])
    if (!is.null(control$products)) {
      bare <- replace(problem, "x", list(NULL))
      answer <- leading_search(bare, control, features)$answer_at(lambda)
      return(answer$squared[answer$moves + 1L])
    }
    spectrum <- linear_spectrum(only_columns(problem, features))
    # rows of weight 0, and rows that alone determine a covariate, have no held-out residual
    residuals <- lapply(held_out_folds(spectrum, control$folds, lambda), function(residual) {
      replace(residual, !is.finite(residual), 0)
    })
    evaluate_folds(problem, control$folds, squared_error, residuals)$value
  }
  own <- error_of(model$features)
  sources <- source_names(problem)[model$features]
  rows <- lapply(unique(sources), function(name) {
    pair <- match(name, pair_names(problem$pairs))
    if (!is.na(pair)) {
      error <- error_of(model$features[sources != name]) / own
      return(c(list(term = name, kind = "pair", error = error), pair_shape(problem, model, pair)))
    }
    line <- match(name, problem$columns$name)
    directions <- setdiff(model$features[sources == name], line)
    as_line <- union(setdiff(model$features, directions), line)
    error <- if (length(directions)) error_of(as_line) / own else 1
    at_threshold <- is_threshold(problem)[directions]
    kind <- if (isTRUE(error > 1)) "curve" else "line"
    if (any(at_threshold)) {
      kind <- thresholds_in(problem$curves[[name]])$basis
      if (!all(at_threshold)) kind <- paste("curve and", kind)
    }
    c(list(term = name, kind = kind, error = error), term_shape(problem, model, name, kind))
  })
  fit$terms <- do.call(rbind, lapply(rows, as.data.frame))
  seal(fit)
}

# The shape of the part of a variable between its 5 % and 95 % points, its spread and its range. A
# line rises or falls as the part does on the whole.
term_shape <- function(problem, model, name, kind) {
  w <- problem$rows$weight
  x <- problem$x[, match(name, problem$columns$name)] + 0
  part <- part_of_term(problem, model, name, x)
  range <- range(x[w > 0])
  ends <- range(knots_of(x[w > 0], w[w > 0], 2L, c(0.05, 0.95)))
  grid <- seq(ends[1L], ends[2L], length.out = 201L)
  value <- part_of_term(problem, model, name, grid)
  shape <- if (kind != "line" && any(value != value[1L])) shape_of(grid, value) else
    if (sum(w * part * (x - mean(range))) >= 0) "rises with %s" else "falls with %s"
  list(shape = sprintf(shape, name), spread = sqrt(sum(w * part^2) / sum(w)), from = range[1L],
       to = range[2L])
}

# The same of the pair at a place, which has no shape in words.
pair_shape <- function(problem, model, place) {
  w <- problem$rows$weight
  of <- which(problem$columns$pair[model$features] == place)
  own <- list(features = model$features[of], beta = model$beta[of, , drop = FALSE],
              covariates = matrix(0, ncol(problem$z), 1L))
  part <- as.vector(model_scores(list(own), problem)) -
    sum(problem$columns$centre[own$features] * own$beta)
  list(shape = "pair", spread = sqrt(sum(w * part^2) / sum(w)), from = NA_real_, to = NA_real_)
}
