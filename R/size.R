# The number of columns and lambda, chosen by the error of the whole procedure (scaling, lambda,
# search, refit) repeated in folds. The criterion that chose the columns decides neither.
#
# A `search` is a function (problem, control) that gives a path for every lambda of control$lambda.
# Without the rows of a fold it runs on the same x with weight 0 on them, so no fold copies x.

# The choice of size in every fitter of a path: `rule`, "cv", "min", "1se", "criterion" or a number,
# and `folds`, the folds of the whole procedure, or NULL where it is not repeated.
size_control <- function(problem, size, size_folds, folds, k = NULL, lambdas = 1L) {
  size <- check_size_rule(size, problem, k)
  repeated <- size != "criterion" || lambdas > 1L
  list(rule = size, folds = if (repeated) procedure_folds(problem, size_folds, folds))
}

check_size_rule <- function(size, problem, k) {
  if (!is.numeric(size)) {
    rules <- c("cv", "min", "1se", "criterion")
    if (!(is.character(size) && length(size) == 1L && size %in% rules)) {
      refuse("size", paste("one of", some_of(rules, Inf, "\""), "or a number"), size)
    }
    return(size)
  }
  upper <- if (is.null(k)) sum(problem$usable) else k
  check_count(size, "size", upper, if (is.null(k)) "the number of usable columns" else "`k`", 0L)
}

# Folds of the whole procedure. A number of folds is drawn stratified, with the groups of the user's
# folds kept together, from a separate stream. So the same call gives the same folds and R's
# generator is not changed. Rows of weight 0 are in no fold. They are assigned to the first, which
# changes nothing.
procedure_folds <- function(problem, size_folds, folds) {
  if (!is_number(size_folds)) return(in_context("`size_folds`", folds_of(problem, size_folds)))
  trained <- problem$weights > 0
  if (sum(trained) < 3L) {
    stop_input("2 rows are too few to repeat the search in folds: use `size = \"criterion\"`")
  }
  whole <- whole_units(problem)
  if (is.null(whole)) whole <- kept_together(folds)
  groups <- whole[trained]
  upper <- if (is.null(groups)) sum(trained) else length(unique(groups))
  check_count(size_folds, "size_folds", lower = 2L)
  if (upper < 2L) stop_input("`folds` has a single group: it leaves no row to train on")
  count <- min(size_folds, upper)
  strata <- problem$task != "regression" && count < sum(trained)
  if (strata) strata <- class_index(problem)[trained]
  drawn <- with_stream(fixed_stream, folds_of(sum(trained), count, groups, strata))
  ids <- replace(rep(1L, nrow(problem)), trained, drawn$ids)
  by_query <- is_ranked(problem) && is.null(problem$group)
  label <- if (by_query) query_label(drawn$label) else drawn$label
  new_folds(ids, if (drawn$loo) "leave-one-out" else label, whole)
}

# The fit of a path method ------------------------------------------------------------------------

# Searches, chooses the size by the rule in control$sizing, and makes the fit. `random` tells
# whether the search draws random numbers.
sized_fit <- function(method, problem, control, search, call, random = FALSE, BPPARAM = NULL) {
  check_bpparam(BPPARAM)
  if (is.null(control$sizing$folds)) {
    path <- complete_path(search, problem, control)
    warn_precision(path)
    return(new_sparse_fit(method, problem, path, control, call))
  }
  chosen <- choose_in_folds(problem, control, search, random, BPPARAM)
  chosen$table <- list2DF(c(list(lambda = control$lambda), chosen$table))
  chosen$folds <- control$sizing$folds
  control[c("k", "patience")] <- list(chosen$k, 0L)
  control$lambda <- control$lambda[chosen$lambda]
  path <- complete_path(search, problem, control)
  warn_precision(path)
  warn_edges(problem, control, chosen)
  new_sparse_fit(method, problem, path, control, call, chosen)
}

# Warns if the choice is at the end of the values tried, where a better value may lie beyond, or if
# Ctrl-C stopped the search.
warn_edges <- function(problem, control, chosen) {
  word <- "sparsels_warning_edge"
  if (chosen$interrupted && nrow(chosen$parts) < chosen$wanted) {
    warn_interrupted(nrow(chosen$parts), chosen$wanted, "size fold")
  } else if (chosen$interrupted) {
    warn_sparsels(sprintf("interrupted: the size is chosen from 0 to %d, larger ones are untried",
                          chosen$k), "sparsels_interrupted")
  }
  more <- chosen$k < control$largest(problem)
  if (!is.numeric(control$sizing$rule) && chosen$size == chosen$k && more) {
    warn_sparsels(sprintf("the chosen size is the largest tried, %d: %s",
                          chosen$k, "a larger `k` may be better"), word)
  }
  tried <- chosen$table$lambda
  if (control$lambda_given && length(tried) > 2L && control$lambda %in% range(tried)) {
    warn_sparsels(sprintf("lambda = %s is the %s of those given: others may be better",
                          format(control$lambda, digits = 4),
                          if (control$lambda == max(tried)) "largest" else "smallest"), word)
  }
}

# Warns if held-out errors have few correct digits. Held-out errors are divided by pivots (1 minus a
# leverage). Near 0 the pivots lose digits, where a row is fitted almost exactly when it is in the
# training set.
warn_precision <- function(path) {
  poor <- which(path$pivot < 1e-6)
  if (!length(poor)) return(invisible())
  digits <- floor(-log10(.Machine$double.eps / max(min(path$pivot), .Machine$double.eps)))
  warn_sparsels(sprintf(
    "held-out errors from step %d on have about %d correct digits, as %s: use %s",
    path$path$step[poor[1L]], digits, "some rows are fitted almost exactly",
    "a larger `lambda`, fewer columns or less unequal `weights`"
  ), "sparsels_warning_precision")
}

# The path on all rows. After Ctrl-C before the first model there is no result.
complete_path <- function(search, problem, control) {
  path <- search(problem, control)[[1L]]
  if (path$size < 0L) raise_interrupt()
  path
}

# Repeats the search without each fold in turn, for larger and larger sizes until the held-out error
# has not improved for a while, unless the user gave the largest size.
choose_in_folds <- function(problem, control, search, random, BPPARAM = NULL) {
  parts <- held_out_rows(control$sizing$folds, problem$weights > 0)
  upper <- control$k
  if (control$grows) control$k <- min(upper, first_k + length(control$start))
  chosen <- NULL
  repeat {
    held <- held_out(parts, function(part) search_without(problem, part, control, search),
                     fold_words(parts), "Repeating the search in folds", random, control$progress,
                     BPPARAM, apart = is.null(control$shards))
    # a partition with only one completed fold contains no information about the choice
    repetition <- held$parts$repetition
    several <- stats::ave(repetition, repetition, FUN = length) > 1L
    # after Ctrl-C the results for fewer columns are kept
    stopped <- sum(several) < nrow(parts)
    if (stopped && (!is.null(chosen) || sum(several) < 2L)) break
    chosen <- choice_of(problem, control, held$each[several], held$parts[several, ])
    chosen[c("k", "interrupted", "wanted")] <- list(control$k, stopped, nrow(parts))
    enough <- !control$grows || control$k == upper || chosen$best <= control$k - improve_within
    if (enough || stopped) return(chosen)
    parts$found <- lapply(held$each, `[[`, "found")
    control$k <- min(2L * control$k, upper)
  }
  if (is.null(chosen)) {
    stop_lost(control$shards$lost)
    raise_interrupt()
  }
  chosen$interrupted <- TRUE
  chosen
}

improve_within <- 10L

fold_words <- function(parts) {
  if (max(parts$repetition) == 1L) return(paste("size fold", parts$fold))
  sprintf("size fold %d of partition %d", parts$fold, parts$repetition)
}

# One fold: the models of each lambda and size on the user's scale, for each criterion the sum over
# the rows held out and its weight (2 x sizes x lambdas), and the columns that a forward search has
# `found` for each lambda, from which a search for larger sizes continues. With `missing = "mean"`
# also the means of the columns of the models.
search_without <- function(problem, part, control, search) {
  rows <- part$rows
  train <- reweighted(problem, replace(case_weights(problem), rows, 0))
  check_folds_left(control$folds, trained_places(train))
  fold_basis_check(train, control$folds)
  control$lambda <- control$lambda_values(train)
  control$patience <- 0L
  largest <- control$k
  control$k <- min(control$k, control$largest(train))
  control$progress <- FALSE
  control$found <- part$found
  paths <- if (control$k > 0L) search(train, control) else null_paths(train, control)
  if (length(paths) < length(control$lambda) || paths[[length(paths)]]$status == "interrupted") {
    raise_interrupt()
  }
  models <- lapply(paths, function(path) {
    fill_models(user_coefficients(train, path$models), largest)
  })
  scored <- scored_rows(problem, rows)
  scores <- lapply(models, model_scores, train, rows)
  sums <- lapply(path_criteria(problem, control$criterion), function(criterion) {
    vapply(scores, score_sums, matrix(0, 2L, largest + 1L), problem = scored, criterion = criterion)
  })
  found <- if (identical(control$search, "forward")) {
    lapply(paths, function(path) path$models[[length(path$models)]]$features)
  }
  list(models = models, sums = sums, found = found, means = means_of(train, models))
}

# The means of the columns that some models (a list for each lambda) use, if there are any.
means_of <- function(problem, models) {
  if (is.null(problem$fill)) return(NULL)
  used <- c(unpenalised(problem), used_features(unlist(models, recursive = FALSE)))
  list(features = used, values = problem$fill[used])
}

# the paths where a training part has no usable column
null_paths <- function(problem, control) {
  none <- list(features = integer(), beta = matrix(0, 0L, ncol(problem$y)), row = 1L)
  rep(list(list(models = list(none), status = "complete")), length(control$lambda))
}

# The held-out criteria of every size: the criterion of the search and, for classes, the error rate,
# for censored times and rankings the concordance.
path_criteria <- function(problem, criterion) {
  rate <- if (problem$task != "regression") list(name = "error", higher = FALSE)
  orders <- is_survival(problem) || is_ranked(problem) && ncol(problem$y) == 1L
  concordance <- if (orders && criterion$name != "concordance") {
    list(name = "concordance", higher = TRUE)
  }
  Filter(Negate(is.null), list(cv = held_out_criterion(criterion), cv_error = rate,
                               cv_concordance = concordance))
}

# The choice --------------------------------------------------------------------------------------

# The choice by the folds: lambda (its place) and size, the size with the smallest error (`best`),
# the errors of every size, and the errors of the procedure with its choice.
choice_of <- function(problem, control, done, parts) {
  criteria <- path_criteria(problem, control$criterion)
  errors <- lapply(stats::setNames(nm = names(criteria)), function(name) {
    fold_errors(lapply(done, function(fold) fold$sums[[name]]), parts$repetition,
                criteria[[name]]$higher, slack_of(problem))
  })
  check_scored(errors$cv)
  rule <- control$sizing$rule
  chosen <- choose_model(errors$cv, rule)
  best <- if (is.numeric(rule)) chosen else choose_model(errors$cv, "min")
  list(
    lambda = chosen$lambda, size = chosen$size, best = best$size, parts = parts,
    path = lapply(errors, function(one) {
      list2DF(lapply(error_curve(one), function(table) table[, chosen$lambda]))
    }),
    table = best_of_lambda(errors$cv), estimate = cross_fitted(errors, rule),
    models = lapply(done, function(fold) fold$models[[chosen$lambda]]),
    means = lapply(done, `[[`, "means")
  )
}

# An area under the ROC curve requires rows of both classes in a fold. The choice without one fold
# uses the others, so two such folds are required.
check_scored <- function(errors) {
  scored <- rowsum(as.integer(errors$weight > 0), errors$repetition)
  if (all(scored > 1L)) return(invisible())
  stop_input(sprintf("`size_folds` must have rows of both classes in two folds or more, not %s: %s",
                     if (min(scored)) "in one" else "in none",
                     "use fewer folds, or another `size`"))
}

# Predictions of all rows at the chosen size by the models of the folds without them, averaged over
# the partitions. The final model predicts rows of weight 0. Rows of folds that Ctrl-C left out have
# no predictions.
held_out_predictions <- function(problem, chosen, final) {
  scores <- Map(function(rows, models, fold) {
    model <- models[[min(chosen$size + 1L, length(models))]]
    means <- if (!is.null(fold)) replace(problem$fill, fold$features, fold$values)
    score <- layer(model_scores(list(model), problem, rows, means), 1L)
    centre_within(scored_rows(problem, rows), score)
  }, chosen$parts$rows, chosen$models, chosen$means)
  out <- mean_over_parts(chosen$parts, scores, nrow(problem))
  idle <- problem$weights == 0
  out[idle, ] <- final[idle, ]
  out
}
