# Kinds of checks that fits of several classes share, for verify(). trained(at) retrains the model
# `at`, and predicted(at) its predictions.

# A function that stores its value for each set of numbers.
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

# The columns of a path with errors, which are the names of `words`. `criterion` is the name of the
# measure in the column "criterion". predicted(at, column) gives the predictions of each partition.
error_kinds <- function(path, words, predicted, problem, folds, criterion = "squared",
                        unit = NULL, size = path$size, lambda = path$lambda) {
  measures <- c(criterion = criterion, se = criterion, squared = "squared", error = "error",
                training = "squared")
  lapply(intersect(names(words), names(path)), function(column) {
    claim_kind(words[[column]], path[[column]], function(at, cell) {
      found <- predicted(at, column)
      if (column == "training") folds <- list(ids = matrix(1L, nrow(problem)))
      error <- retrain_error(problem, measures[[column]], found$pred, folds)
      list(value = error[[if (column == "se") "se" else "value"]], condition = found$condition,
           unit = if (is.null(unit)) error[["value"]] else unit)
    }, size, lambda)
  })
}

# The coefficients of the terms of models, and of their covariates. `terms` are the names of the
# terms, if the coefficients have none.
coefficient_kinds <- function(models, trained, size = NA, lambda = NA, terms = NULL) {
  kind <- function(words, part, condition) {
    claim_kind(words, lapply(models, `[[`, part), function(at, cell) {
      own <- trained(at)
      claimed <- models[[at]][[part]]
      list(value = own[[part]], unit = own$unit[[part]], condition = own[[condition]],
           feature = c(rownames(claimed), if (part == "beta") terms)[seq_len(nrow(claimed))])
    }, size, lambda)
  }
  list(kind("coefficient", "beta", "beta_condition"),
       kind("coefficient of a covariate", "covariates", "condition"))
}

# A value of every row for each response, of one model or several, where `values` is a list of
# matrices.
row_kind <- function(words, values, predicted, unit, size = NA, lambda = NA) {
  claim_kind(words, values, function(at, cell) {
    found <- predicted(at)
    list(value = found$pred, condition = found$condition, unit = unit,
         row = seq_len(nrow(values[[at]])))
  }, size, lambda)
}

# the mean of the predictions of several partitions
of_partitions <- function(out) list(pred = mean_prediction(out$pred), condition = out$condition)

# Numbers that are computed from other numbers of the fit.
plain_kind <- function(words, claimed, value, size = NA, lambda = NA) {
  claim_kind(words, claimed, function(at, cell) list(value = value(at)), size, lambda)
}

# the typical coefficient of each covariate
covariate_units <- function(problem) response_rms(problem) / sqrt(colMeans(problem$z^2))

# a value, or one of `others` that differs from it by less than 1e-4
nearest <- function(value, others) {
  near <- others[abs(others / value - 1) < 1e-4]
  if (length(near)) near[1L] else value
}

# whether verify() can evaluate a criterion, unlike a user's function, which fits do not keep
is_known_criterion <- function(name) name %in% c(names(criteria), "r_squared")
