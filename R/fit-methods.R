# The common parts of all fits. A fit holds several models in `coefficients` and a table, `path`,
# with a row for each model. A model has the coefficients of its terms (`beta`) and of the
# covariates. Terms are columns of x or, if the fit has a kernel, basis vectors.

#' Coefficients, predictions and residuals of a fit
#'
#' The coefficients, selected features, predictions and residuals of the models of a fit, by the
#' size of the model or by its lambda.
#'
#' @details A fit has several models, of which one is chosen. All methods accept the `size` or the
#' `lambda` of another model, and `coef()` and `predict()` accept several, as in `size = 1:3`:
#' * a [sparse_fit] has a model of every size;
#' * fits of [l1_path()] and [l1_size()] have one for every lambda, and by `size` the best model
#'   with this number of columns;
#' * a [kernel_fit] has one for every lambda;
#' * a fit of [fs_lssvm()] has one of every size, see [fs_lssvm_fit].
#'
#' @param object A fit.
#' @param size The model wanted: its number of terms (features, or prototypes with the intercept
#'   where the pursuit chooses it), and for a `sparse_fit` `"min"` or `"1se"` for what
#'   [best_size()] gives; `NULL` for the chosen model. For `coef()` and `predict()` also several.
#' @param lambda The model wanted, by one of the values in `fit$path$lambda` (four digits are
#'   enough); `NULL` for the chosen model. For `coef()` and `predict()` also several.
#' @param index Logical: are numbers returned instead of names? They are numbers of columns, of the
#'   rows that are prototypes, or of rows of `fit$basis$points` if prototypes were given as points.
#' @param newdata New observations: a matrix, a data frame, a list of variables or an experiment of
#'   Bioconductor, as for [as_problem()]. Columns are found by name when both have names, and only
#'   the columns of the model are required. For a precomputed kernel the kernel matrix of the new
#'   observations with the m training rows or with the basis vectors of the fit, in their order.
#' @param type For `predict()`: `"response"` and `"link"` are both the value of the linear model
#'   (least squares has no link function), but `"response"` is the probability of the second level
#'   where `loss = "logistic"`, and the mean of counts and shares by a likelihood; `"class"` is the
#'   class: the second level where a two-class score is above 0, the class with the largest
#'   probability for more classes; `"prob"` are the probabilities of the classes, a column for each,
#'   see [class_probabilities]; `"risk"`, of a fit to censored times alone, is the value of the
#'   linear model, which is higher for an earlier event, of a Cox model less its value at the means
#'   of the training rows; `"survival"`, of a Cox model alone, are the probabilities of no event up
#'   to `times`, a column for each; `"terms"`, of one model of columns, of one response, is a matrix
#'   with the part of each column, group of columns or covariate, centred, and the attribute
#'   `constant`, as of [stats::predict.lm()]; `"set"` are the classes that a row may have, see
#'   [prediction_intervals]. For `residuals()`: `"response"`, on the training rows, or `"held_out"`.
#' @param threshold For `type = "class"` of two classes: the second class is predicted if its
#'   probability is above this number. It may be the result of [choose_threshold()], whose event
#'   may be the first class. `NULL`: where the score is above 0.
#' @param calibration How scores become probabilities, `"platt"`, `"isotonic"` or `"none"`; `NULL`:
#'   see [class_probabilities].
#' @param interval,level,scaled `interval = "prediction"`: the prediction with an interval that
#'   contains a new value with probability `level`, 0.9 by default; `"lower"`: with a lower bound;
#'   see [prediction_intervals], also for `scaled`.
#' @param adjust The covariates of the new observations, in the same form as in [as_problem()]; not
#'   required when a formula finds them in `newdata`.
#' @param newoffset The offset of the new observations, a number for each or for all, or a matrix
#'   with a column for each response; required of a fit with an `offset`, see [as_problem()], unless
#'   `newdata` is a problem or has the variables by which the offset was given.
#' @param times For `type = "survival"`, numbers; `NULL` for all times with an event.
#' @param newstrata For `type = "survival"` of a fit with strata, the stratum of each new row; not
#'   required if `newdata` is a problem or has the variables by which the strata were given.
#' @param groups For a fit to data with `center_groups`, the cohort of each new row, a vector, the
#'   name of a column of `newdata` or a one-sided formula. By default all rows are one cohort, see
#'   [center_groups].
#' @param ... Not used.
#'
#' @return `coef()`: named vector, covariates first (0 for an intercept that is not in the model),
#'   then the features in the order chosen or the weights of the basis vectors, named by their rows;
#'   a matrix with a column per response. For several sizes or lambdas a matrix with a column for
#'   each, named by it, and a row for each term of any of the models, 0 where it is not in one; for
#'   several responses an array, terms x responses x models. `selected()`: character (or integer)
#'   vector of the features or prototypes in the order chosen; of fits that choose none it is an
#'   error. `predict()`: one value per row of `newdata` (a matrix for several responses), `NA` with
#'   a warning where a needed value is missing, which a fit with `missing = "mean"` replaces by the
#'   mean of the column in its training rows; for several sizes or lambdas a matrix with a column
#'   for each (for several responses an array, rows x responses x models). Classes are a factor, for
#'   several sizes or lambdas a character matrix; probabilities a matrix with a column for each
#'   class, in the order of the levels; with an `interval` a matrix with the columns `fit`,
#'   `lwr` and `upr`; of `type = "set"` a logical matrix with a column for each class, of class
#'   `prediction_set`, which prints and formats as the names of the classes. `fitted()`: what
#'   `predict()` gives for the training rows, in the fit's field `fitted` a score. `residuals()`:
#'   the response less the fitted or held-out values of the chosen model; classes are -1 or +1, but
#'   0 or 1 with the logistic loss. `nobs()`: the number of rows of positive weight, as of
#'   [lm()]. `weights()`: the case weights.
#'
#' @section Errors: `sparsels_error_input` when the fit has no model of that size or lambda.
#' @seealso [sparse_fit], [kernel_fit] and [fs_lssvm_fit] for what a fit is made of, [tidiers]
#' @examples
#' x <- matrix(rnorm(30 * 8), 30)
#' fit <- greedy_rls(x, x[, 3] + rnorm(30) / 9)
#' selected(fit)
#' coef(fit, size = 1)
#' predict(fit, x[1:3, ], size = 2)
#' predict(fit, x[1:3, ], size = 0:3)
#' coef(fit, size = 0:3)
#' path <- rls(x, x[, 3] + rnorm(30))
#' coef(path, lambda = path$path$lambda[1])
#' residuals(path, "held_out")[1:3]
#' @srrstats {RE1.3a} a fit keeps no x: `?sparsels_fit`
#' @srrstats {RE4.0} `?sparsels_fit`
#' @srrstats {RE4.2} `coef()`
#' @srrstats {RE4.5} `nobs()`
#' @srrstats {ML5.0a} `?sparsels_fit`
#' @srrstats {ML5.2a} `?sparsels_fit`
#' @name sparsels_fit
NULL

# Warns how many models there are in a fit that was interrupted. One without any step is no result:
# it would say that nothing is better than no column.
warn_unfinished <- function(fit, words, done = nrow(fit$path) - 1L) {
  if (fit$status == "interrupted" && done == 0L) raise_interrupt()
  warn_if(fit$status == "interrupted", "sparsels_interrupted",
          "interrupted: the fit holds the %s done so far", words)
  fit
}

# Which model -------------------------------------------------------------------------------------

# The key of the models in `coefficients`: element s + 1 has size s, or there is one per lambda.
path_key <- function(fit) if (is.null(fit$size)) "lambda" else "size"

# The model of a size or of a lambda, or the chosen model if neither is given.
model_of <- function(fit, size = NULL, lambda = NULL) {
  check_one_model(fit, size, lambda)
  if (path_key(fit) == "size" && is.null(lambda)) return(model_of_size(fit, size))
  model_of_row(fit, lambda_row(fit$path$lambda, if (is.null(lambda)) fit$lambda else lambda))
}

# The columns of the model that a fit chose, or of its model of some size. NULL if the method, which
# may be a user's function, does not choose columns.
chosen_features <- function(fit, size = NULL) {
  if (inherits(fit, "sparse_fit")) model_of(fit, size)$features
}

# The same with the line of each curve in place of its columns.
chosen_sources <- function(fit, size = NULL) {
  features <- chosen_features(fit, size)
  if (!is.null(features)) sources_of(fit$problem, features)
}

# Whether the features of a fit were chosen with the rows that were held out afterwards.
chose_with_rows_held_out <- function(fit) {
  inherits(fit, "sparse_fit") && !inherits(fit, "l1_path") && is.null(fit$size_folds)
}

sources_of <- function(problem, columns) unique(source_places(problem)[columns])

# The names of these columns, and of pairs, of which other fits may have others in the same places.
chosen_names <- function(fit, size = NULL) {
  sources <- chosen_sources(fit, size)
  if (!is.null(sources)) source_names(fit$problem)[sources]
}

# The columns of chosen_sources(), by name where pairs in the same places differ between fits.
chosen_labels <- function(fit, size = NULL) {
  sources <- chosen_sources(fit, size)
  if (is.null(sources) || !has_screened_pairs(fit$problem)) sources else chosen_names(fit, size)
}

# the word for what the size of a fit counts
chosen_word <- function(fit, otherwise = "feature") {
  if (inherits(fit, "sparse_fit")) size_word(fit$problem) else otherwise
}

# The rows with a score of rows held out. Rows of weight 0 have scores of the fit itself.
held_out_places <- function(fit) {
  if (is.null(fit$held_out)) return(integer())
  which(case_weights(fit$problem) > 0 & !is.na(rowSums(fit$held_out)))
}

has_held_out <- function(fit) length(held_out_places(fit)) > 0L

# The ridge parameter of the models of a fit, or NULL for the l1 penalty.
ridge_of <- function(fit) if (!inherits(fit, "l1_path")) fit$lambda

# The models of one or several sizes or lambdas, under their names.
models_asked <- function(fit, size = NULL, lambda = NULL) {
  asked <- asked_by(size, lambda)
  check_one_model(fit, size, lambda)
  models <- lapply(asked, function(one) {
    if (is.null(lambda)) model_of(fit, size = one) else model_of(fit, lambda = one)
  })
  stats::setNames(models, names_asked(asked))
}

# The requested sizes or lambdas. A value that is not a plain vector is one element, which is
# refused later. NULL is one element too, the choice of the fit.
asked_by <- function(size, lambda) {
  asked <- if (is.null(lambda)) size else lambda
  if (is.atomic(asked) && !is.object(asked) && length(asked) > 0L) as.list(asked) else list(asked)
}

names_asked <- function(asked) vapply(asked, function(one) format(one, digits = 6L)[1L], "")

# The ridge parameter of the coefficients of a model: of its refit, or of the search.
lambda_of_model <- function(fit, model) {
  refit <- fit$path$refit_lambda[model$step + 1L]
  if (length(refit) && !is.na(refit)) refit else fit$lambda
}

# The model of a row of a path of lambda. For l1 paths it is made from the solution in that row.
model_of_row <- function(fit, row) UseMethod("model_of_row")

#' @exportS3Method
model_of_row.default <- function(fit, row) models_of(fit)[[row]]

# All models, each with the `step` of its path. A path of lambda has one model in every row.
models_of <- function(fit) {
  models <- fit$coefficients
  if (path_key(fit) == "size") models else Map(c, models, step = seq_along(models) - 1L)
}

check_one_model <- function(fit, size, lambda) {
  problem <- if (!is.null(lambda) && is.null(fit$path$lambda)) {
    sprintf("every model of the fit has the same lambda, %s: choose one by `size`",
            format(fit$lambda, digits = 4))
  } else if (!is.null(size) && path_key(fit) == "lambda") {
    "every model of the fit has the same terms: choose one by `lambda`, not by `size`"
  } else if (!is.null(size) && !is.null(lambda)) {
    "give either `size` or `lambda`, not both"
  }
  stop_argument_if(!is.null(problem), problem)
}

model_of_size <- function(fit, size = NULL) {
  size <- as_size(fit, size)
  largest <- length(fit$coefficients) - 1L
  check_count(size, "size", largest, "the largest size of the fit", lower = 0L)
  model <- fit$coefficients[[size + 1L]]
  if (!is.null(model)) return(model)
  sizes <- model_sizes(fit)
  stop_input("the fit has no model of size %d: its %s", size,
             if (length(sizes) == 1L) sprintf("only size is %d", sizes) else
               sprintf("sizes are %d to %d", min(sizes), max(sizes)))
}

# A size as a number, from the chosen size, a rule or a number.
as_size <- function(fit, size) {
  if (is.null(size)) return(fit$size)
  # best_size() has methods for these
  rules <- inherits(fit, c("sparse_fit", "cv_result"))
  must <- if (rules) "a number, \"min\" or \"1se\"" else "a number"
  by_rule <- rules && is_string(size) && size %in% c("min", "1se")
  refuse_unless(by_rule || is_number(size), "size", must, size)
  if (by_rule) best_size(fit, size) else size
}

# The row of a path for a lambda that may have been copied from print().
lambda_row <- function(values, lambda) {
  check_lambda(lambda)
  must <- "one of the path's values (fit$path$lambda)"
  refuse_unless(length(lambda) == 1L, "lambda", must, lambda)
  row <- which.min(abs(values / lambda - 1))
  if (abs(values[row] / lambda - 1) <= 5e-4) return(row)
  near <- utils::head(values[order(abs(log(values / lambda)))], 2L)
  stop_input("`lambda` must be %s, not %s: the nearest %s %s", must, describe(lambda),
             if (length(near) > 1L) "are" else "is",
             paste(format(sort(near), digits = 4, trim = TRUE), collapse = " and "))
}

# the sizes that have a model
model_sizes <- function(fit) which(!vapply(fit$coefficients, is.null, NA)) - 1L

# the sizes from the smallest model to the largest
path_sizes <- function(fit) model_sizes(fit)[1L]:(length(fit$coefficients) - 1L)

# a model for every size, where a missing model is the model of the largest size below
fill_models <- function(models, largest) {
  there <- which(!vapply(models, is.null, NA))
  below <- findInterval(seq_len(largest + 1L), there)
  replace(models[there[pmax(below, 1L)]], below == 0L, list(NULL))
}

model_rows <- function(models) vapply(models, `[[`, 0L, "step") + 1L

# the row of the chosen model in the path
chosen_row <- function(fit) fit$path[model_rows(list(model_of(fit))), ]

# the rows of the path that have a model, for a path of sizes the best row of each size
size_table <- function(fit) fit$path[model_rows(without_null(models_of(fit))), ]

# The class of the fits of a method: its name, except for names that are classes with methods in
# caret or kernlab, which would then apply to our fits.
fit_class <- function(method) if (method %in% c("rfe", "lssvm")) paste0(method, "_fit") else method

# Terms -------------------------------------------------------------------------------------------

# The terms of a model, by number: the terms that it lists or, if none were chosen, all terms.
model_terms <- function(fit, model) {
  if (!is.null(model$features)) return(model$features)
  if (is.null(fit$kernel)) fit$features else seq_len(basis_size(fit$basis))
}

term_names <- function(fit, terms) {
  names <- if (is.null(fit$kernel)) fit$problem$columns$name else
    basis_names(fit$problem, fit$basis)
  names[terms]
}

# Values of some terms for new data times their weights, rows x L. A file is read some rows at a
# time.
term_scores <- function(fit, newdata, beta, terms = seq_len(nrow(beta))) {
  x <- if (inherits(newdata, "sparsels_problem")) problem_x(newdata) else newdata
  if (is_file_matrix(x)) {
    scores <- lapply(block_ranges(nrow(x), rows_at_a_time(ncol(x))), function(rows) {
      term_scores(fit, x[rows, , drop = FALSE], beta, terms)
    })
    return(do.call(rbind, scores))
  }
  if (!is.null(fit$kernel)) return(point_scores(fit, new_points(fit, x), beta, terms))
  as.matrix(new_data_matrix(fit$problem, newdata, terms) %*% beta)
}

basis_names <- function(problem, basis) {
  names <- if (is.null(basis$rows)) rownames(basis$points) else problem$rows$name[basis$rows]
  if (!is.null(names)) return(names)
  if (is.null(basis$rows)) paste0("point", seq_len(nrow(basis$points))) else
    as.character(basis$rows)
}

# New data in the form that the kernel takes. For a precomputed kernel they are its values.
new_points <- function(fit, newdata) {
  problem <- fit$problem
  if (!is_precomputed(fit$kernel)) {
    return(kernel_points(problem, new_data_matrix(problem, newdata, seq_len(ncol(problem)))))
  }
  m <- nrow(problem)
  rows <- fit$basis$rows
  newdata <- if (inherits(newdata, "sparsels_problem")) newdata$x else as_valid(newdata, "newdata")
  is_matrix <- is.matrix(newdata) || inherits(newdata, "Matrix")
  by_row <- !problem$coding$named && !is.null(problem$rows$name)
  names <- if (by_row) problem$rows$name else problem$columns$name
  by_name <- is_matrix && !is.null(colnames(newdata)) && all(names[rows] %in% colnames(newdata))
  stop_newdata_if(!by_name && !(is_matrix && ncol(newdata) %in% c(m, length(rows))),
                  "`newdata` must be a kernel matrix with a column for each of the %d %s, not %s",
                  m, "training rows or for each basis vector", describe(newdata))
  places <- if (by_name) match(names[rows], colnames(newdata)) else if (ncol(newdata) == m) rows
  if (!is.null(places)) newdata <- newdata[, places, drop = FALSE]
  as.matrix(as_values(newdata, "newdata"))
}

# Kernel values of points with some basis vectors times their weights, rows x L: in blocks of rows,
# so that the whole kernel matrix is never in memory.
point_scores <- function(fit, x, beta, terms) {
  if (is_precomputed(fit$kernel)) return(x[, terms, drop = FALSE] %*% beta)
  if (!length(terms)) return(matrix(0, nrow(x), ncol(beta)))
  points <- kernel_points(fit$problem, fit$basis$points[terms, , drop = FALSE])
  score <- matrix(NA_real_, nrow(x), ncol(beta))
  for (rows in value_blocks(which(is.finite(rowSums(x))), nrow(points))) {
    score[rows, ] <- kernel_matrix(fit$kernel, x[rows, , drop = FALSE], points) %*% beta
  }
  score
}

# Scores of models of columns for some rows of a problem: rows x L x models, NA where there is no
# model. `by` is what the columns take from the rows that the models were trained on, see
# column_state(). Without `rows` they are all rows with the columns as the problem has them, which
# are read in place unless they are sparse. Otherwise the columns are read in blocks, and the
# covariates are added with the first block.
model_scores <- function(models, problem, rows = NULL, by = column_state(problem)) {
  used <- used_features(models)
  if (is.null(rows)) {
    if (!inherits(problem$x, "sparseMatrix")) {
      return(column_scores(models, problem$x, used, problem$z, whole = TRUE))
    }
    rows <- seq_len(nrow(problem))
  }
  blocks <- column_blocks(length(rows), length(used), 4e6)
  z <- covariates_by(problem, rows, by)
  scores <- NULL
  for (block in if (length(blocks)) blocks else list(integer())) {
    x <- part_by(problem, rows, used[block], by)
    kept <- if (is_computed(x)) is.null(unclass(x)$fill) else inherits(x, "sparseMatrix")
    if (!kept) x <- as.matrix(x)
    among <- lapply(models, function(model) {
      if (is.null(model)) return(NULL)
      own <- model$features %in% used[block]
      list(features = model$features[own], beta = model$beta[own, , drop = FALSE],
           covariates = model$covariates)
    })
    own <- column_scores(among, x, used[block], z)
    scores <- if (is.null(scores)) own else scores + own
    z <- 0 * z
  }
  scores
}

# The linear predictor, without the offset, at the means of the training rows, with which risks are
# compared.
reference_score <- function(problem, model) {
  z <- problem$z[, rownames(model$covariates), drop = FALSE]
  sum(problem$columns$centre[model$features] * model$beta[, 1L]) +
    sum(weighted_means(z, problem$rows$weight) * model$covariates[, 1L])
}

used_features <- function(models) {
  used <- unique(unlist(lapply(models, `[[`, "features")))
  used[order(used)]
}

# Scores of models (rows x L x models) from the values x of the columns `used`, or where `whole`
# from all columns of a problem.
column_scores <- function(models, x, used, z, whole = FALSE) {
  responses <- ncol(Find(Negate(is.null), models)$beta)
  size <- c(nrow(z), responses, length(models))
  # what is not finite, as in no problem, counts in the models of its column alone
  computed <- is_computed(x)
  if (!whole && length(models) > 1L && !is.finite(sum(if (computed) unclass(x)$source else x))) {
    return(array(unlist(lapply(models, function(model) {
      if (is.null(model)) return(rep(NA_real_, nrow(z) * responses))
      own <- x[, match(model$features, used), drop = FALSE]
      column_scores(list(model), own, model$features, z)
    })), size))
  }
  beta <- matrix(0, length(used), responses * length(models))
  covariates <- matrix(0, ncol(z), responses * length(models))
  for (i in seq_along(models)) {
    model <- models[[i]]
    at <- (i - 1L) * responses + seq_len(responses)
    if (is.null(model)) {
      beta[, at] <- covariates[, at] <- NA
      next
    }
    beta[match(model$features, used), at] <- model$beta
    # a model of a part of the data may have fewer covariates
    fewer <- nrow(model$covariates) < ncol(z)
    own <- if (fewer) match(rownames(model$covariates), colnames(z)) else seq_len(ncol(z))
    covariates[own, at] <- model$covariates
  }
  if (!computed && !whole) x <- as_doubles(x)
  scores <- linear_scores(x, if (whole) used else seq_along(used), beta, z, covariates)
  # the product leaves out columns that a response does not use
  if (!whole && responses > 1L && !is.finite(sum(x))) {
    scores[rep(is.na(Matrix::rowSums(x)), responses)] <- NA
  }
  dim(scores) <- size
  scores
}

# Scores of the models of any fit for new data (rows x L x models). The models of a path of lambda
# have the same terms.
scores_of_models <- function(fit, models, newdata, adjust = NULL) {
  if (inherits(fit, "sparse_fit")) {
    used <- used_features(models)
    x <- new_data_matrix(fit$problem, newdata, used)
    return(column_scores(models, x, used, new_covariates(fit$problem, newdata, adjust)))
  }
  bound <- function(field, models) do.call(cbind, lapply(models, `[[`, field))
  of_terms <- function(models) {
    term_scores(fit, newdata, bound("beta", models), model_terms(fit, models[[1L]]))
  }
  scores <- if (path_key(fit) == "lambda") of_terms(models) else
    do.call(cbind, lapply(models, function(model) of_terms(list(model))))
  scores <- scores + new_covariates(fit$problem, newdata, adjust) %*% bound("covariates", models)
  array(scores, c(nrow(scores), ncol(fit$problem$rows$y), length(models)))
}

# the fit on all rows with the predictions of the outer folds as its held-out predictions
fit_of_folds <- function(object) {
  fit <- object$fit
  if (!inherits(fit, "sparsels_fit")) return(fit)
  fit$held_out <- object$held_out
  seal_again(fit)
}

# What a fit or a cross-validation keeps of them: `models`, the model without each part; `state`,
# for each model the result of state_by(), if any; `pairs`, a row for each training `row` and each
# `part` that holds it out; `residual` (pairs x L), the response of the row less its prediction by
# the model without the part, in the user's units, of counts and shares at their means. `scores` has
# the predictions (rows x L) of the `rows` of each part.
models_without <- function(problem, rows, models, scores, state = NULL) {
  pairs <- row_part_pairs(rows)
  residual <- problem$rows$y[pairs$row, , drop = FALSE] - do.call(rbind, scores)
  list(models = models, state = if (!all(lengths(state) == 0L)) state, pairs = pairs,
       residual = in_user_units(problem, residual))
}

row_part_pairs <- function(rows) {
  data.frame(row = unlist(rows), part = rep(seq_along(rows), lengths(rows)))
}

# The scores of the rows of each part as they are judged.
judged_parts <- function(problem, loss, rows, scores) {
  Map(function(rows, score) {
    layer(judged_values(scored_rows(problem, rows), loss, array(score, c(dim(score), 1L))), 1L)
  }, rows, scores)
}

# Scores of the rows of each part by the model of the part (rows x L), where `state`
# has the results of state_by() for its training rows, and `known` has results of
# part_by_products(), whose columns are made already.
scores_of_parts <- function(problem, rows, models, state, known = list(NULL)) {
  Map(function(rows, model, part, known) {
    scored <- if (is_cox(problem)) seq_len(nrow(problem)) else rows
    scores <- if (is.null(known)) model_scores(list(model), problem, scored,
                                               state_without(problem, part)) else
      model_scores(of_places(list(model), known$places), known$given, scored)
    (if (is_cox(problem)) held_out_scores else scores_of_rows)(problem, layer(scores, 1L), rows)
  }, rows, models, if (is.null(state)) list(NULL) else state, known)
}

# models of columns that are in some places of others, as models of these
of_places <- function(models, places) {
  lapply(models, function(model) {
    if (!is.null(model)) replace(model, "features", list(places[model$features]))
  })
}

# The models on other rows ------------------------------------------------------------------------

# Scores of every model of a fit for some rows of a problem: list(key, values, chosen, scores,
# errors). `key` is "size" or "lambda", and `values` are the sizes or lambdas of the models.
# `chosen` is the index of the model that the fit chose. `scores` are rows x L x models. `errors`
# has a row per model, the errors of the path.
path_scores <- function(fit, problem, rows) UseMethod("path_scores")

#' @exportS3Method
path_scores.sparsels_fit <- function(fit, problem, rows) {
  check_sealed(fit)
  key <- path_key(fit)
  models <- models_of(fit)
  values <- fit$path$lambda
  if (key == "size") {
    values <- path_sizes(fit)
    models <- fill_models(models, max(values))[values + 1L]
  }
  errors <- fit$path[model_rows(models), ]
  if (is.null(errors$squared)) errors$squared <- errors$criterion
  # these error rates are of the class of the largest score
  if (is_by_probability(fit)) {
    errors$error <- NULL
    if (identical(fit$criterion$name, "balanced")) errors[c("criterion", "cv")] <- NULL
  }
  scores <- if (inherits(fit, "sparse_fit")) model_scores(models, problem, rows) else
    scores_of_models(fit, models, part_of(problem, rows))
  scores <- judged_scores(fit, scored_rows(problem, rows), scores)
  attr(scores, "empty") <- vapply(models, is_empty_model, NA)
  list(key = key, values = values, chosen = match(fit[[key]], values), scores = scores,
       errors = errors)
}

# Any other fit has one model, which predict() evaluates.
#' @exportS3Method
path_scores.default <- function(fit, problem, rows) {
  predicted <- tryCatch(stats::predict(fit, problem$x[rows, , drop = FALSE]), error = function(e) {
    stop_input("`method` must return a fit that predict() knows, not %s (%s)", describe(fit),
               conditionMessage(e))
  })
  scores <- prediction_scores(predicted, problem)
  stop_input_if(NROW(scores) != length(rows) || NCOL(scores) != ncol(problem$rows$y),
                "predict() of the fit must give %s for %s, not %s",
                if (ncol(problem$rows$y) == 1L) "a value" else
                  counted(ncol(problem$rows$y), "column"), counted(length(rows), "row"),
                describe(predicted))
  list(key = "model", values = 1L, chosen = 1L,
       scores = array(scores, c(length(rows), ncol(problem$rows$y), 1L)), errors = list())
}

# classes as the codes of the response
prediction_scores <- function(predicted, problem) {
  if (is.numeric(predicted) || problem$coding$task == "regression") return(as.matrix(predicted) + 0)
  index <- match(as.character(predicted), problem$coding$levels)
  if (problem$coding$task == "binary") return(as.matrix(2 * index - 3))
  2 * outer(index, seq_along(problem$coding$levels), "==") - 1
}

# Methods -----------------------------------------------------------------------------------------

#' @rdname sparsels_fit
#' @export
coef.sparsels_fit <- function(object, size = NULL, lambda = NULL, ...) {
  check_method_call(..., object = object, known = names(formals(coef.sparsels_fit)))
  problem <- object$problem
  models <- models_asked(object, size, lambda)
  terms <- unique(unlist(lapply(models, model_terms, fit = object)))
  size <- c(ncol(problem$z) + length(terms), ncol(problem$rows$y))
  values <- vapply(models, function(model) {
    beta <- matrix(0, length(terms), ncol(problem$rows$y))
    beta[match(model_terms(object, model), terms), ] <- model$beta
    in_user_units(problem, rbind(model$covariates, beta))
  }, matrix(0, size[1L], size[2L]))
  drop_models(array(values, c(size, length(models))),
              c(colnames(problem$z), term_names(object, terms)), colnames(problem$rows$y),
              names(models))
}

#' @rdname sparsels_fit
#' @export
selected <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_given(object, "object")
  UseMethod("selected")
}

#' @export
selected.sparsels_fit <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_sealed(object)
  if (path_key(object) == "lambda") return(selected.default(object))
  terms <- model_of(object, size, lambda)$features
  if (is.null(object$kernel)) {
    sources <- source_names(object$problem)
    chosen <- unique(sources[terms])
    return(if (check_flag(index, "index")) match(chosen, unique(sources)) else chosen)
  }
  if (!check_flag(index, "index")) return(term_names(object, terms))
  if (is.null(object$basis$rows)) terms else object$basis$rows[terms]
}

# The result of selected() for a result with one set of columns.
selected_of_set <- function(features, names, size, index, lambda, why) {
  stop_argument_if(!is.null(size) || !is.null(lambda),
                   paste("`size` and `lambda` have no meaning here:", why))
  if (check_flag(index, "index")) features else names[features]
}

#' @export
selected.default <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  refuse("object", "a fit that chooses features, components or prototypes", object)
}

#' @srrstats {ML4.1} `fit$path`
#' @srrstats {ML4.1a} `coef(size = )` of every step
#' @srrstats {ML4.1b} `fit$path$criterion`
#' @srrstats {ML4.1c} `alternatives` of a step with `keep`
#' @srrstats {ML4.2} `?sparse_fit`, with examples
#' @srrstats {ML5.0} one fit
#' @rdname sparse_fit
#' @export
best_size <- function(object, rule = "min", ...) {
  check_given(object, "object")
  UseMethod("best_size")
}

#' @export
best_size.default <- function(object, rule = "min", ...) {
  refuse("object", "a fit with models of several sizes or a result of cross_validate()", object)
}

warn_missing_rows <- function(score) {
  missing <- which(is.na(rowSums(score)))
  warn_if(length(missing), "sparsels_warning_missing",
          "`newdata` has missing or infinite values in %s (first: row %d): NA is predicted",
          counted(length(missing), "row"), missing[1L])
}

# Scores in the units of the user on the scale of the response.
as_response <- function(fit, score) {
  mean <- loss_of(fit)$mean
  if (is.null(mean)) score else mean(score)
}

# Scores of rows of a problem (rows x L x models) by a fit as they are judged.
judged_scores <- function(fit, problem, scores) judged_values(problem, loss_name(fit), scores)

# The held-out predictions of a fit as they are judged, or NULL.
judged_held_out <- function(fit) {
  kept <- kept_values(fit, "held_out")
  if (!is.null(kept)) judged_scores(fit, fit$problem, kept)
}

# Values of one or several models (rows x L x models) in their fewest dimensions: a vector, a matrix
# with a column per response or per model, or an array.
drop_models <- function(values, rows, responses, models) {
  size <- dim(values)
  dimnames(values) <- list(rows, responses, models)
  if (size[3L] == 1L) return(drop_output(array(values, size[-3L], dimnames(values)[-3L])))
  if (size[2L] == 1L) array(values, size[-2L], dimnames(values)[-2L]) else values
}

# A matrix with one column as a named vector.
drop_output <- function(values) {
  if (ncol(values) == 1L) stats::setNames(values[, 1L], rownames(values)) else values
}

#' @rdname sparsels_fit
#' @export
fitted.sparsels_fit <- function(object, size = NULL, lambda = NULL, ...) {
  check_method_call(..., object = object, known = c("size", "lambda"))
  model <- model_of(object, size, lambda)
  score <- kept_scores(object, model)
  if (is.null(score)) {
    key <- if (is.null(lambda)) path_key(object) else "lambda"
    stop_input("the fit keeps the fitted values of %s %s alone: predict(fit, x, %s = %s)", key,
               format(object[[key]], digits = 4), key,
               format(object$path[[key]][model$step + 1L], digits = 4))
  }
  problem <- object$problem
  # scores of Cox models are kept about a mean, or about none
  if (is_cox(problem)) score <- scores_of_rows(problem, score) + reference_score(problem, model)
  score <- in_user_units(problem, score, problem$rows$offset)
  rows_of(problem, as_response(object, score))
}

# The kept scores of a model, or NULL. A fit has no x. It keeps the scores of the chosen model. If
# its search was repeated in folds and the scores are at most a million numbers, it also keeps the
# scores of the other models.
kept_scores <- function(fit, model) {
  if (model$step == model_of(fit)$step) return(kept_values(fit, "fitted"))
  several <- kept_values(fit, "fitted_sizes")
  if (!is.null(several)) layer(several, fit$path$size[model$step + 1L] + 1L)
}

#' @rdname sparsels_fit
#' @export
residuals.sparsels_fit <- function(object, type = c("response", "held_out"), ...) {
  check_method_call(..., object = object, known = "type")
  type <- choice_or_first(type, "type", c("response", "held_out"))
  stop_argument_if(is_cox(object$problem) && type == "held_out",
                   "a Cox model has martingale residuals of its training rows alone: %s",
                   "fit$held_out are the risks of rows held out")
  score <- kept_values(object, if (type == "held_out") "held_out" else "fitted")
  rows_of(object$problem, loss_of(object)$residuals(object$problem, score))
}

# A result with its predictions of the rows in the user's units, as users read them from it.
with_user_units <- function(fit) {
  offset <- fit$problem$rows$offset
  if (is.null(offset) && is.null(fit$problem$coding$response_scale)) return(fit)
  kept <- intersect(c("held_out", "fitted", "fitted_sizes"), names(fit))
  replace(fit, kept, lapply(fit[kept], in_user_units, problem = fit$problem, offset = offset))
}

# These predictions in working units, or NULL.
kept_values <- function(fit, name) {
  if (!is.null(fit[[name]])) in_working_units(fit$problem, fit[[name]])
}

# Values of the rows, under their names.
rows_of <- function(problem, values) {
  dimnames(values) <- list(problem$rows$name, colnames(problem$rows$y))
  drop_output(with_excluded(problem, values))
}

# Values of the rows (rows x any) with NA for the rows that na.exclude() left out. In an x that is
# read in place these are rows of weight 0.
with_excluded <- function(problem, values) {
  omitted <- stats::na.action(problem)
  excluded <- inherits(omitted, "exclude")
  if (excluded && is.null(problem$kept)) values <- values[-omitted, , drop = FALSE]
  stats::naresid(omitted, values)
}

# Intervals that would not hold -------------------------------------------------------------------

#' @importFrom stats anova
#' @exportS3Method
anova.sparsels_fit <- function(object, ...) {
  stop_input(paste("no test holds where columns were chosen on the same rows or coefficients are",
                   "shrunk: compare_methods() compares methods, and added_value() tests columns",
                   "beside a base model"))
}

# step(), drop1() and add1() call it
#' @importFrom stats extractAIC
#' @exportS3Method
extractAIC.sparsels_fit <- function(fit, ...) anova(fit) # nolint: object_name_linter.

# what users of survival call, whose own message names no way out
#' @exportS3Method survival::survfit
survfit.sparsels_fit <- function(formula, ...) {
  stop_input("predict(type = \"survival\") gives the survival curves of new rows")
}

#' @srrstats {RE4.3} `confint()` refuses, with the reason and with what does hold: columns were
#'   chosen on the same rows
#' @importFrom stats confint
#' @exportS3Method
confint.sparsels_fit <- function(object, ...) stop_no_intervals(object)

#' @srrstats {RE4.6} `vcov()` refuses as `confint()` does
#' @importFrom stats vcov
#' @exportS3Method
vcov.sparsels_fit <- function(object, ...) stop_no_intervals(object)

stop_no_intervals <- function(fit) {
  stop_input(if (inherits(fit, "sparse_fit")) {
    paste("intervals of coefficients that were chosen on the same rows do not hold:",
          "stability_selection() says how often each is chosen and with which sign, exchange()",
          "what replaces it; predict(interval = \"prediction\") and cross_validate() have",
          "intervals that do")
  } else {
    paste("intervals of coefficients that are shrunk do not hold:",
          "predict(interval = \"prediction\") and cross_validate() have intervals that do")
  })
}

# Rows --------------------------------------------------------------------------------------------

#' @rdname sparsels_fit
#' @export
nobs.sparsels_fit <- function(object, ...) trained_rows(check_sealed(object)$problem)

#' @importFrom stats weights
#' @exportS3Method
weights.sparsels_fit <- function(object, ...) {
  problem <- check_sealed(object)$problem
  with_excluded(problem, as.matrix(case_weights(problem)))[, 1L]
}

#' @importFrom stats na.action
#' @exportS3Method
na.action.sparsels_fit <- function(object, ...) { # nolint: object_name_linter.
  stats::na.action(check_sealed(object)$problem)
}

# The details of a fit: its path as `text` under a title, and by default its coefficients.
fit_details <- function(fit, text, title = "path", more = NULL) {
  own <- stats::coef(fit)
  if (is.null(more)) {
    more <- c(named_list(sprintf("coefficients at size %d", fit$size), own),
              if (is_cox(fit$problem) && length(own)) named_list("hazard ratios", exp(own)))
  }
  list(path = size_table(fit), coefficients = own, tables = c(named_list(title, text), more),
       meaning = meaning_words(column_meanings(fit), names(text), fit$problem))
}

named_list <- function(name, value) stats::setNames(list(value), name)

# The columns of glance(), the same for all fits. A part that a fit does not have is NULL or NA.
glance_row <- function(method, task = NULL, nobs = NULL, features, responses, size, lambda = NULL,
                       criterion, value, se = NULL, deviance = NULL, status, r_squared = NULL) {
  whole <- function(value) if (is.null(value)) NA_integer_ else as.integer(value)
  number <- function(value) if (is.null(value)) NA_real_ else as.double(value)
  data.frame(
    method = method, task = if (is.null(task)) NA_character_ else task, nobs = whole(nobs),
    features = whole(features), responses = whole(responses), size = whole(size),
    lambda = number(lambda), criterion = criterion, value = number(value), se = number(se),
    deviance = number(deviance), held_out.r.squared = number(r_squared), status = status
  )
}

# The problem of a fitter --------------------------------------------------------------------------

# The problem of a fitter, from the name of the fitter and its own x, y, ... and data, with the
# groups of rows that its own folds keep whole.
fitter_problem <- function(.method, x, y, ..., data = NULL) {
  check_given(x, "x")
  fitter <- setdiff(names(formals(sys.function(sys.parent()))), c("x", "y"))
  threads <- if ("threads" %in% fitter) parent.frame()$threads else 1L
  check_dots(..., known = unique(c(problem_arguments, fitter)), allowed = problem_arguments)
  loss <- if ("loss" %in% fitter) parent.frame()$loss
  problem <- working_copy(for_loss(loss, as_problem(x, y, ..., data = data, threads = threads)))
  problem <- settle_properties(problem, .method)
  if (!is.null(problem$left_out)) say_left_out(colnames(problem$left_out), "in these rows")
  if (!isFALSE(substitute(list(...))$groups)) {
    folds <- mget(intersect(c("folds", "size_folds"), fitter), parent.frame())
    problem <- with_groups_of_folds(problem, folds)
  }
  # as_problem() saw the fitter's name for the response, and the user's expression is one call up
  if (problem$coding$response == "y" && !inherits(x, "formula")) {
    problem$coding$response <- response_name(do.call(substitute, list(quote(y), parent.frame())))
  }
  may_count <- .method %in% c("greedy_rls", "l1_path") && !inherits(x, "sparsels_problem")
  given <- !"loss" %in% fitter || eval(quote(!missing(loss)), parent.frame())
  if (may_count && !given) say_count_response(problem)
  problem
}

# Makes a problem for a loss. Numbers of few values are classes for a loss of classes. With a
# likelihood nobody needs to be told what is assumed of the response.
for_loss <- function(loss, problem) {
  withCallingHandlers(problem, sparsels_message_task = function(condition) {
    if (is_likelihood(loss)) invokeRestart("muffleMessage")
    if (identical(loss_record(loss)$needs, "classes")) tryInvokeRestart("sparsels_classes", loss)
  })
}

# The value of `intercept` or `standardize`. NULL if x is a problem and the argument was not given:
# the value is then taken from the problem.
unless_stated <- function(x, value, by_default) {
  if (!(by_default && inherits(x, "sparsels_problem"))) value
}
