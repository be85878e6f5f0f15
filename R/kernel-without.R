# Predictions of new rows by the models trained without each part of the rows, without training
# again. The parts are the folds of a fit, single rows if it leaves out one.

# The choice of each part -------------------------------------------------------------------------

# The model without a part has the lambda and the kernel width with the smallest held-out error of
# the other rows. The parts are in sets, and a set takes one choice, by the rows outside the set.

# The set of each row, m x repetitions, with numbers of its own in each repetition. Sets are the
# folds, or ten sets of folds where there are more than twenty.
choice_sets <- function(problem, folds) {
  before <- 0L
  for (repetition in seq_len(ncol(folds$ids))) {
    ids <- folds$ids[, repetition]
    if (max(ids) > 20L) {
      groups <- if (!folds$loo) ids
      strata <- if (folds$loo) row_strata_of(problem)
      ids <- with_stream(fixed_stream, folds_of(nrow(problem), 10L, groups, strata))$ids[, 1L]
    }
    folds$ids[, repetition] <- before + ids
    before <- before + max(ids)
  }
  folds$ids
}

# The sum of squared held-out residuals of the rows outside each set, sets x lambda.
outside_errors <- function(problem, sets, residuals) {
  each <- Map(function(ids, residual) {
    squares <- apply(residual^2, c(1L, 3L), sum)
    outer(seq(min(ids), max(ids)), ids, "!=") %*% (problem$rows$weight * squares)
  }, as.data.frame(sets), residuals)
  do.call(rbind, unname(each))
}

# The best lambda and width of each set, after one more width was tried: list(error, lambda, width:
# the number of the width, spectra: of the widths that some set takes). `result` is a trial of
# best_trial().
better_choices <- function(before, result, width = 1L) {
  tried <- result$evaluated
  if (is.null(tried$outside)) return(NULL)
  best <- apply(tried$outside, 1L, choose_row, simplest = order(-tried$path$lambda))
  error <- tried$outside[cbind(seq_along(best), best)]
  after <- before
  if (is.null(before)) {
    none <- rep(Inf, length(best))
    after <- list(error = none, lambda = none, width = none, spectra = list())
  }
  better <- which(is.null(before) | error < after$error)
  after$error[better] <- error[better]
  after$lambda[better] <- tried$path$lambda[best[better]]
  after$width[better] <- width
  after$spectra[[width]] <- list(kernel = result$kernel, spectrum = tried$spectrum)
  after$spectra[-unique(after$width)] <- list(NULL)
  after
}

# What a fit keeps of the choices: `sets`, `lambda` and `width` of each set, and the spectra of
# other widths than its own.
kept_choices <- function(choices, sets, own) {
  if (is.null(choices)) return(NULL)
  choices$spectra[own] <- list(NULL)
  c(list(sets = sets), choices[c("lambda", "width", "spectra")])
}

# New rows ----------------------------------------------------------------------------------------

# A new row with terms k and covariates z has in a spectrum, with sqrt(w) Z = Q R:
#
#   coordinates    g = back' k - on_covariates' z  and  zeta = R^-T z
#   prediction     mu = g' D t + z' of_y  for D = 1 / (values + lambda)
#   weights in it  l_i = root_w_i (phi_i' D g + q_i' zeta)  of each response i
#
# The prediction without a part H is mu - l_H' r_H for r_H the residuals of H by the model without
# it. Trained on all rows, with its predictions of H as responses, that model would be the same. If
# basis vectors leave with H, then in mu and l the vector D^(1/2) g is less its projection on their
# rows of back D^(1/2), so that they have no coefficient.

#' @exportS3Method
predictions_without.kernel_fit <- function(fit, newdata, adjust = NULL) {
  stop_input_if(is_in_blocks(fit$spectrum),
                paste("the rows of this fit are read in blocks, so that it has no weights of the",
                      "rows in a prediction: give the result of cross_validate() instead, as in",
                      "predict(cross_validate(...), newdata, interval = \"prediction\")"))
  problem <- fit$problem
  parts <- held_out_rows(fit$folds)
  models <- choice_models(fit, parts)
  residual <- vector("list", nrow(parts))
  for (model in models) residual[model$parts] <- model$residual
  pairs <- row_part_pairs(parts$rows)
  held <- unname(problem$rows$y[pairs$row, , drop = FALSE]) - do.call(rbind, residual)
  held[pairs$row %in% rows_of_lost(problem, parts$rows), ] <- NA
  list(at = if (!is.null(newdata)) new_scores(fit, models, nrow(parts), newdata, adjust),
       pairs = pairs, held = held)
}

# The function `at` of predictions_without().
new_scores <- function(fit, models, parts, newdata, adjust) {
  problem <- fit$problem
  z <- new_covariates(problem, newdata, adjust)
  R <- decomposed_covariates(problem)$factor
  zeta <- z %*% solve_upper(R, diag(nrow(R)))
  of_z <- zeta %*% crossprod(fit$spectrum$z_basis, root_weights(problem) * problem$rows$y)
  terms <- new_terms(fit, newdata)
  function(rows) {
    out <- array(0, c(length(rows), ncol(problem$rows$y), parts))
    for (model in models) {
      g <- terms(rows, model) - z[rows, , drop = FALSE] %*% model$spectrum$on_covariates
      out[, , model$parts] <- part_scores(model, g, zeta[rows, , drop = FALSE],
                                          of_z[rows, , drop = FALSE])
    }
    out
  }
}

# For each lambda and width that some part takes: the spectrum, the parts, and for each part its
# rows and their residuals by the model without it.
choice_models <- function(fit, parts) {
  chosen <- fit$fold_choices
  set <- chosen$sets[cbind(vapply(parts$rows, `[`, 0L, 1L), parts$repetition)]
  by_choice <- split(seq_along(set), list(chosen$lambda[set], chosen$width[set]), drop = TRUE)
  lapply(unname(by_choice), function(own) {
    lambda <- chosen$lambda[set[own[1L]]]
    other <- chosen$spectra[[chosen$width[set[own[1L]]]]]
    model <- if (is.null(other)) fit[c("kernel", "spectrum")] else other
    model$spectrum <- spectrum_at(model$spectrum, lambda)
    rows <- parts$rows[own]
    residual <- held_out_residuals(model$spectrum, rows, lambda, threads = fit$threads)
    of_part <- split(seq_len(nrow(residual)), rep(seq_along(rows), lengths(rows)))
    residual <- lapply(of_part, function(place) layer(residual[place, , , drop = FALSE], 1L))
    c(model, list(lambda = lambda, parts = own, rows = rows, residual = residual))
  })
}

# A function of some rows of new data and a model: the terms of the rows times `back`.
new_terms <- function(fit, newdata) {
  x <- if (inherits(newdata, "sparsels_problem")) problem_x(newdata) else newdata
  terms <- model_terms(fit, fit$coefficients[[1L]])
  linear <- is.null(fit$kernel)
  in_file <- is_file_matrix(x)
  divisor <- if (linear) fit$problem$columns$scale[terms] else 1
  if (!in_file) x <- if (linear) new_data_matrix(fit$problem, x, terms) else new_points(fit, x)
  function(rows, model) {
    fit["kernel"] <- list(model$kernel)
    x <- x[rows, , drop = FALSE]
    back <- model$spectrum$back / divisor
    if (in_file) return(term_scores(fit, x, back, terms))
    if (linear) as.matrix(x %*% back) else point_scores(fit, x, back, terms)
  }
}

# Scores of new rows by the model without each of its parts, rows x L x parts. `g` and `zeta` are as
# above, and `of_z` is z' of_y.
part_scores <- function(model, g, zeta, of_z) {
  spectrum <- model$spectrum
  root <- 1 / sqrt(spectrum$values + model$lambda)
  g <- g * rep(root, each = nrow(g))
  mu <- of_z + g %*% (root * spectrum$t)
  all <- unlist(model$rows)
  phi <- spectrum$phi[all, , drop = FALSE] * rep(root, each = length(all))
  weights <- tcrossprod(g, phi) + tcrossprod(zeta, spectrum$z_basis[all, , drop = FALSE])
  scores <- Map(function(rows, residual, last) {
    own <- seq.int(last - length(rows) + 1L, last)
    l <- weights[, own, drop = FALSE]
    basis <- spectrum$basis[rows]
    if (any(basis > 0L)) {
      parts <- qr(root * t(spectrum$back[basis[basis > 0L], , drop = FALSE]), tol = 1e-12)
      leaving <- qr.Q(parts)[, seq_len(parts$rank), drop = FALSE]
      along <- g %*% leaving
      mu <- mu - along %*% crossprod(leaving, root * spectrum$t)
      l <- l - tcrossprod(along, phi[own, , drop = FALSE] %*% leaving)
    }
    mu - l %*% (spectrum$root_w[rows] * residual)
  }, model$rows, model$residual, cumsum(lengths(model$rows)))
  array(unlist(scores), c(dim(mu), length(scores)))
}
