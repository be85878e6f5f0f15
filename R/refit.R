# Coefficients of chosen columns at another ridge parameter than the parameter of the search. A
# large parameter is good for choosing columns. The coefficients use the parameter with the smallest
# held-out error.

# in multiples of the mean sum of squares of a column
refit_multiples <- 16^(-3:1)

# A search whose paths are refitted. Where no folds choose among the paths (control$sizing), the
# predictions are also the predictions of the refitted model.
with_refit <- function(search) {
  force(search)
  function(problem, control) {
    paths <- lapply(search(problem, control), refit_path, problem, control)
    if (!is.null(control$sizing$folds)) return(paths)
    lapply(paths, refitted_values, problem, control)
  }
}

# The models of a path with the coefficients of the best of several ridge parameters, by the squared
# error held out by the same folds, and the errors of these models. `refit_lambda` of the path is
# this parameter, and `search_criterion` is the criterion of the search.
refit_path <- function(path, problem, control) {
  sizes <- which(!vapply(path$models, is.null, NA))[-1L] - 1L
  path$path$search_criterion <- path$path$criterion
  path$path$refit_lambda <- NA_real_
  if (!length(sizes) || path$status == "interrupted") return(path)
  sets <- lapply(path$models[sizes + 1L], `[[`, "features")
  refitted <- if (is_nested(sets)) {
    refit_leading(problem, control, sets[[length(sets)]], sizes)
  } else {
    lapply(seq_along(sets), function(i) refit_leading(problem, control, sets[[i]], sizes[i])[[1L]])
  }
  path$models[sizes + 1L] <- Map(function(model, one) replace(model, "beta", list(one$beta)),
                                 path$models[sizes + 1L], refitted)
  rows <- vapply(path$models[c(0L, sizes) + 1L], `[[`, 0L, "row")
  path$path$refit_lambda[rows[-1L]] <- vapply(refitted, `[[`, 0, "lambda")
  for (column in names(refitted[[1L]]$errors)) {
    path$path[[column]][rows[-1L]] <- vapply(refitted, function(one) one$errors[[column]], 0)
  }
  loss <- criterion_loss(control$criterion, path$path$criterion[rows])
  path$size <- c(0L, sizes)[choose_row(loss)]
  path
}

# whether every set is an initial part of the largest, the last set
is_nested <- function(sets) {
  largest <- sets[[length(sets)]]
  all(vapply(sets, function(set) identical(set, largest[seq_along(set)]), NA))
}

# The leading columns of `features`, for each of `sizes`, at the best of `lambdas`: list(lambda,
# beta, errors). Adding the columns in this order gives all sizes for one lambda.
refit_leading <- function(problem, control, features, sizes,
                          lambdas = refit_multiples * mean_square(problem)) {
  narrow <- only_columns(problem, features)
  control[c("search", "k", "keep", "patience", "progress")] <-
    list("forward", count_units(narrow), 0L, 0L, FALSE)
  control$cost <- NULL
  data <- search_data(narrow)
  settings <- greedy_settings(narrow, control, lambdas[1L], seq_along(features), "none", NULL)
  answers <- lapply(lambdas, function(lambda) {
    settings$lambda <- lambda
    answer <- check_answer(.Call(C_greedy_rls, data, settings), narrow, control, lambda)
    if (answer$status == "interrupted") raise_interrupt()
    answer
  })
  error <- vapply(answers, function(answer) answer$squared[sizes + 1L], numeric(length(sizes)))
  best <- apply(matrix(error, length(sizes)), 1L, choose_row, simplest = order(-lambdas))
  Map(function(size, l) {
    list(lambda = lambdas[l], beta = unpack_model(size, answers[[l]], ncol(narrow$y))$beta,
         errors = answer_errors(answers[[l]], size + 1L, narrow, control))
  }, sizes, best)
}

# A problem of some columns, with their scale in the whole problem. These columns require no others.
only_columns <- function(problem, columns) {
  problem <- part_of_x(problem, seq_len(nrow(problem)), columns)
  for (field in c("names", "centre", "squares", "rss", "scale", "usable")) {
    problem[[field]] <- problem[[field]][columns]
  }
  problem$products <- problem$products[columns, , drop = FALSE]
  problem$column_groups <- some_column_groups(problem$column_groups, columns)
  problem$hierarchy <- NULL
  problem
}

# The path with the held-out predictions and fitted values of its refitted model.
refitted_values <- function(path, problem, control) {
  if (path$size < 1L || path$status == "interrupted") return(path)
  model <- path$models[[path$size + 1L]]
  lambda <- path$path$refit_lambda[model$row]
  values <- ridge_values(problem, model$features, lambda, control$folds)
  path[names(values)] <- values
  path
}

# Predictions of the rows by the ridge model of some columns: by the models without each fold,
# averaged over repeats, and by the model of all rows.
ridge_values <- function(problem, features, lambda, folds) {
  spectrum <- linear_spectrum(only_columns(problem, features))
  held_out <- held_out_folds(spectrum, folds, lambda)
  list(held_out = scores_of(problem, layer(average(held_out), 1L)),
       fitted = scores_of(problem, layer(training_residuals(spectrum, lambda), 1L)))
}
