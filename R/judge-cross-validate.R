#' Estimate the prediction error of a method by outer (nested) cross-validation
#'
#' Repeats everything a method does (scaling, choice of lambda and size, selection) inside each
#' outer fold and scores its models on the held-out rows. This gives an honest estimate of the
#' error, also if the method chooses its size by its own cross-validation.
#'
#' In each outer fold centre and scale of the columns are estimated again on the training rows.
#' `method` runs on these rows, with its own inner folds, and makes its choices. Then every model of
#' its path predicts the held-out rows: one model for each size, or for each lambda of [rls()],
#' [kernel_rls()] and [lssvm()]. The measures are means over the held-out rows \eqn{j} with case
#' weights \eqn{w}, for classes the error rate by default, \deqn{\sum_j w_j [\hat c_j \ne c_j] /
#' \sum_j w_j,} for a numeric response the mean squared error, \deqn{\sum_j w_j \|y_j - \hat y_j\|^2
#' / (L \sum_j w_j),} \eqn{L} being the number of responses. A two-class score above 0 predicts the
#' second class. With several classes the largest probability wins, by the calibration of the fit to
#' the training rows, for all its sizes or lambdas (see [class_probabilities]). This is the
#' experiment of Sections 4.2 and 4.3 of the paper.
#'
#' **Inner folds.** Where `outer` is a number from 6 to 11 (or was drawn so by [make_folds()]), and
#' the user gives no `size_folds` (for [l1_path()] no `folds`), the inner folds of an outer fold are
#' the other outer folds. So are the `folds` of a search by a likelihood, if the user gives none.
#' Otherwise the method draws its own. The fit on all rows always draws its own.
#'
#' **Topic pages:** [error_intervals], [outer_cross_validation] (resamples of rsample, measures,
#' baselines), [cv_result] (the result and its methods). The outer folds run on a
#' future plan and can be interrupted, see [parallel_runs].
#'
#' @param x The data, in any form that [as_problem()] takes: a matrix (samples x features), a data
#'   frame, a formula (with `data`), an experiment of Bioconductor, or an earlier problem.
#' @param y The response, as for [as_problem()]. With a problem or a formula it is not needed, and
#'   `method` may come second: `cross_validate(problem, greedy_rls)`.
#' @param method A function: a fitter of this package such as [greedy_rls()] or [kernel_rls()], or
#'   your own `function(problem, ...)` that returns what such a fitter returns, or any object for
#'   which `predict(object, x)` gives a value or class for each row of a matrix `x`.
#' @param ... Arguments by name: arguments of [as_problem()], `r problem_dots()` (not when `x` is
#'   a problem, except `groups`), and arguments of `method`, such as `k`, `lambda`, `size` and
#'   `folds`. [l1_path()] has `folds = 10` by default here, to choose lambda by.
#'   `folds` and `size_folds` are inner folds; folds given row by row, for all rows, are restricted
#'   to the training rows of each outer fold. Row numbers, such as `basis` of [kernel_rls()], count
#'   the training rows. With `kernel = "precomputed"` the columns of `x` are restricted to the
#'   training rows, too.
#' @param data A data frame with the variables of a formula; it may also be given instead of `y`.
#' @param outer The outer folds: a number (10 by default), drawn stratified by class; or any other
#'   value of `folds` in [make_folds()], or its result, for instance grouped by patient; or
#'   resamples of rsample, also if they are no partition, see [outer_cross_validation].
#' @param repeats How many times a number of outer folds is drawn anew; 1 by default.
#' @param measure The measure of error, one or several of `"error"`, `"squared"`, `"absolute"`,
#'   `"auc"`, `"balanced"`, `"brier"`, `"logloss"`, `"concordance"`, `"deviance"`, `"ndcg"` and
#'   `"ndcg@10"`, see [outer_cross_validation]; or functions `(y, prediction, fold)` as for
#'   `criterion` in [greedy_rls()], called for each fold, in a vector or a list. `curves` and
#'   `estimate` are about the first. `NULL`: `"error"` for classes, `"concordance"` for censored
#'   times, rankings and `loss = "ordinal"`, `"deviance"` for methods with a `loss` of counts or
#'   shares, otherwise `"squared"`.
#' @param baselines Models to compare with: `"random"`, a ridge model on as many features drawn at
#'   random, and `"majority"`, the most frequent class of the training rows by weight, or their mean
#'   for a numeric response (0 without an intercept), of counts with an offset their mean rate, and
#'   with covariates the model of the covariates alone, by the loss of the method if that is smooth;
#'   `NULL` for none. A method that selects no features has no random model.
#' @param keep Logical: are the out-of-fold predictions of every model kept, and for
#'   [prediction_intervals] the fits without each outer fold of kernels and of your own methods?
#' @param interval How the interval is measured: `"folds"`, by the inner folds of the fits, without
#'   further fits, or `"pairs"`, by fits without every pair of outer folds, for any method. See
#'   [error_intervals].
#' @param level The confidence level of the intervals.
#' @param progress Logical: is a progress bar with the time left shown? By default in interactive
#'   sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the outer folds, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `cv_result`, which [cv_result] describes.
#'
#' @section Cost: One fit on all rows, and for each outer fold one fit of `method` and one
#' prediction by each model; with `interval = "pairs"` also for each pair of outer folds of a
#' partition. Where the other outer folds are the inner folds of a search of the package, the path
#' without two folds is the same for the fit without the one and for the fit without the other, and
#' is searched once: with ten folds 45 searches instead of 90. That needs a search that depends on
#' its rows alone, without random numbers, drawn `folds`, a `cluster` or a function as criterion.
#' Paths of [l1_path()] are not shared, as their lambdas depend on the rows of the outer fold. Outer
#' folds in different processes share nothing. Each worker requires memory for one training part,
#' for `method` and for a copy of the rows without two folds.
#'
#' @section Errors:
#' `sparsels_error_input` for an unknown argument, folds of the wrong length or a method that is not
#' a function or returns something that cannot predict. An error inside an outer fold keeps its
#' class and says in which fold it was.
#'
#' @references Pahikkala, T., Airola, A. and Salakoski, T. (2010). Linear time feature selection for
#'   regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' @seealso [plot()][plot.sparsels_result]; [make_folds()]; [judge()],
#'   which asks further questions of a method; [compare_methods()], which compares several
#' @examples
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' y <- factor(ifelse(x[, 3] + x[, 8] + rnorm(60) > 0, "ill", "well"))
#' set.seed(1)
#' cvd <- cross_validate(x, y, greedy_rls, k = 5, outer = 5, measure = c("error", "auc"))
#' cvd
#' plot(cvd)
#' predict(cvd, x[1:3, ], type = "class")
#' @srrstats {ML1.2} `folds` and `outer` are parameters beside one table
#' @srrstats {ML1.3} `predict()` takes other rows
#' @srrstats {ML5.3} `cross_validate()`
#' @srrstats {ML5.4} `measure`
#' @srrstats {ML5.4a} `?cross_validate`
#' @srrstats {ML5.4b} a function as `criterion` or `measure`
#' @export
cross_validate <- function(x, y = NULL, method = NULL, ..., data = NULL, outer = 10, repeats = 1,
                           measure = NULL, baselines = c("random", "majority"), keep = FALSE,
                           interval = c("folds", "pairs"), level = 0.95,
                           progress = interactive(), BPPARAM = NULL) {
  known <- c("random", "majority")
  valid <- is.null(baselines) || is.character(baselines) && all(baselines %in% known)
  refuse_unless(valid, "baselines", paste("any of", some_of(known)), baselines)
  check_flag(keep, "keep")
  interval <- choice_or_first(interval, "interval", c("folds", "pairs"))
  check_level(level)
  run <- choosing_run(as_run(x, y, method, ..., data = data))
  if (run$inherits) run$problem <- with_groups_of_folds(run$problem, list(outer))
  measures <- as_measures(measure, run$problem, run_loss(run))
  outer <- at_most_rows(outer, run$problem)
  outer <- in_context("outer folds", outer_parts(run$problem, outer, repeats, run_units(run)))
  check_comparable(run$problem, outer$parts$rows, vapply(measures, `[[`, "", "name"))
  if (interval == "pairs") check_pairs(outer$parts)
  # the fit need not repeat the warning about the same classes
  fit <- suppressWarnings(fit_run(run), if (length(outer$absent)) "sparsels_warning_class" else "")
  all_measures <- c(measures, measures_beside(measures, run$problem))
  run_of <- run_without(run, outer$folds)
  held <- outer_held_out(outer$parts, function(part) {
    score_fold(run_of(part), part, all_measures, baselines, keep)
  }, progress, BPPARAM)
  if (interval == "pairs") held <- with_pairs(held, run_of, all_measures, progress, BPPARAM)
  result <- new_cv_result(held, run, fit, measures, all_measures, keep, outer, level,
                          short_call(match.call()))
  if ("auc" %in% vapply(measures, `[[`, "", "name")) warn_constant(result$problem, learned(result))
  result
}

# The rows held out and the rows trained on, fold by fold. `parts` is the result of held_out_rows()
# with the rows to train on, how often each is used, and a `layer` for each set of folds that do not
# overlap. `label` describes the folds in words. `absent` has the classes that are not trained on in
# some fold.
outer_parts <- function(problem, outer, repeats, units = NULL) {
  m <- nrow(problem)
  if (inherits(outer, "rset") && !is_partition(outer)) {
    parts <- resample_parts(outer, m)
    check_whole_parts(problem, parts)
    parts$layer <- parts$fold
    parts$count <- nrow(parts)
    label <- paste(counted(nrow(parts), "resample"), "of rsample,", class(outer)[1L])
    return(list(parts = parts, label = label, absent = warn_not_drawn(problem, parts$trained)))
  }
  # rows that only probably belong together are kept together if there are enough groups
  likely <- is.null(whole_units(problem)) && is_number(outer) && length(unique(units)) >= outer
  folds <- make_folds(problem, outer, groups = if (likely) units, repeats = repeats)
  if (likely) folds <- new_folds(folds$ids, label_as_given(folds$label), folds$groups)
  fold_basis_check(problem, folds, said = TRUE)
  ids <- counted_folds(folds$ids, trained_labels(seq_len(m), problem))
  parts <- trained_parts(held_out_rows(new_folds(ids, folds$label)), m)
  parts$times <- rep(1, nrow(parts))
  list(parts = parts, folds = folds, label = folds$label, absent = warn_absent(problem, folds))
}

# The parts of partitions of m rows with the rows to train on.
trained_parts <- function(parts, m) {
  parts$layer <- parts$repetition
  parts$trained <- lapply(parts$rows, function(rows) seq_len(m)[-rows])
  parts$count <- as.integer(stats::ave(parts$fold, parts$repetition, FUN = length))
  parts
}

# Inner folds -----------------------------------------------------------------------------------

# A function of an outer fold that gives the run without this fold. Folds that were drawn, about as
# many as a method draws by itself, are shared: the inner folds of the run are then the other folds
# of the partition, and the runs of a fitter of the package store the paths without two folds for
# each other.
run_without <- function(run, folds) {
  drawn <- !is.null(folds) && grepl("^[0-9]+-fold", folds$label)
  are_shared <- drawn && max(folds$ids[, 1L]) %in% 6:11
  if (!length(run$inner) || !are_shared) return(function(part) run)
  store <- new.env(parent = emptyenv())
  run$by_row <- union(run$by_row, run$inner)
  function(part) {
    own <- new_folds(folds$ids[, part$repetition], folds$label, folds$groups, folds$together)
    run$arguments[run$inner] <- list(own)
    if ("size_folds" %in% run$inner && identical(environment(run$method), topenv())) {
      run$arguments$size_folds$shared <- list(store = store, rows = seq_len(nrow(own$ids)))
    }
    run
  }
}

# One outer fold --------------------------------------------------------------------------------

# Everything is learned from the rows that are not held out. `sums` has for each measure and curve
# the sum and the weight of every model (2 x models), `shares` for each measure the row_shares() of
# the chosen model and of the null model, and `theta` their inner_errors().
score_fold <- function(run, outer, measures, baselines, keep = FALSE) {
  rows <- outer$rows
  part <- fit_rows(run, outer$trained, outer$times)
  fit <- part$fit
  train <- part$train
  path <- path_scores(fit, part$problem, rows)
  # the fits and the null model that the scores come from
  sources <- list(test = fit)
  if ("random" %in% baselines && !is.null(chosen_features(fit))) {
    if (!length(properties_of(train, "random_selection"))) sources$random <- random_fit(part)
  }
  if ("majority" %in% baselines) sources$majority <- part_null(part)
  scores_of <- function(rows, test = path_scores(fit, part$problem, rows)$scores) {
    scores <- list(test = test)
    if (!is.null(sources$random)) {
      models <- sources$random$coefficients[path_sizes(fit) + 1L]
      scores$random <- judged_scores(sources$random, scored_rows(part$problem, rows),
                                     model_scores(models, part$problem, rows))
    }
    if (!is.null(sources$majority)) scores$majority <- null_scores(part, rows)
    scores
  }
  scores <- scores_of(rows, path$scores)
  heldout <- scored_rows(run$problem, rows)
  model <- kept_model(fit, keep)
  at_choice <- list(test = path$scores[, , path$chosen, drop = FALSE], majority = scores$majority)
  list(
    shares = lapply(measures, function(measure) {
      Map(function(scores, source) {
        if (!is.null(scores)) row_shares(heldout, measure_for(measure, source), layer(scores, 1L))
      }, at_choice, list(fit, part_null(part)))
    }),
    most = if (train$coding$task != "regression") {
      class_number(train, layer(mean_scores(train, 1L), 1L))
    },
    theta = inner_errors(measures, fit, train),
    level = if (is_cox(fit$problem)) reference_score(fit$problem, model_of(fit)),
    key = path$key, values = path$values, chosen = path$chosen, scores = path$scores,
    class = if (train$coding$task != "regression") {
      class_rule(fit, train)(layer(path$scores, path$chosen))
    },
    sums = lapply(measures, function(measure) {
      found <- sums_of_part(measure, part, run$problem, rows, scores_of, scores, sources)
      lapply(found, function(sums) {
        # one model for all places of a path
        sums[, rep_len(seq_len(ncol(sums)), length(path$values)), drop = FALSE]
      })
    }),
    inner = lapply(measures, inner_error, path, fit), folds = fit$folds$label,
    lambda = if (is.null(fit$lambda)) NA_real_ else fit$lambda, features = chosen_sources(fit),
    names = chosen_names(fit),
    model = model, state = if (is_column_model(model)) state_by(part$train, list(list(model)))
  )
}

# What a cross-validation keeps of the fit without an outer fold, to predict new rows: the chosen
# model, if its terms are columns, otherwise the fit where the user wants to keep it.
kept_model <- function(fit, keep) {
  if (!inherits(fit, "sparsels_fit") || !is.null(fit$kernel)) return(if (keep) fit)
  model <- model_of(fit)
  list(features = model_terms(fit, model), beta = model$beta, covariates = model$covariates)
}

# As many random features as the models of a fit have, with the same ridge parameter and the inner
# folds of the method.
random_fit <- function(part) {
  fit <- part$fit
  part$train <- with_groups_of(part$train, fit$problem)
  lambda <- random_lambda(fit, part$train)
  suppressWarnings(do.call(random_selection, c(
    list(quote(part$train), k = max(length(fit$coefficients) - 1L, 1L), lambda = lambda,
         refit = is.null(lambda) || !is.null(fit$path$refit_lambda), progress = FALSE),
    if (!is.null(part$folds)) list(folds = part$folds),
    if (is_likelihood(loss_name(fit))) list(loss = fit$loss),
    if (is_cox(fit$problem)) list(ties = fit$problem$coding$ties)
  )), own_warnings)
}

# The ridge parameter of the random features. With NULL, random_selection() chooses it.
random_lambda <- function(fit, train) {
  lambda <- ridge_of(fit)
  if (isTRUE(lambda == 0)) 1e-8 * sum(train$rows$weight) else lambda
}

# The method's own estimates of the same measure for every model, from the criterion that chose the
# models and, if the search was repeated in folds, from these folds.
inner_error <- function(measure, path, fit) {
  is_of <- function(criterion) {
    identical(criterion$name, measure$name) ||
      identical(loss_record(criterion$name)$criterion, measure$words)
  }
  own <- if (measure$name %in% c("squared", "error")) measure$name else
    if (is_of(fit$criterion)) "criterion"
  # a Cox search has its sizes by concordance
  by_size <- is.null(fit$cv_criterion) || is_of(fit$cv_criterion)
  cv <- if (measure$name == "error") "cv_error" else if (is_of(fit$criterion) && by_size) "cv"
  columns <- c(inner = own, cv = cv)
  columns <- columns[columns %in% names(path$errors)]
  own <- stats::setNames(as.list(path$errors[columns]), names(columns))
  Filter(function(values) !all(is.na(values)), own)
}

# The result ------------------------------------------------------------------------------------

new_cv_result <- function(held, run, fit, measures, all_measures, keep, outer, level, call) {
  problem <- run$problem
  parts <- held$parts
  scored <- held$each
  models <- lapply(scored, `[[`, "model")
  places <- shared_places(scored)
  chosen <- lapply(scored, `[[`, "names")
  measured <- stats::setNames(nm = names(measures))
  values <- stats::setNames(data.frame(places$values), places$key)
  tables <- lapply(measured, function(name) cbind(values, curve_table(held, name, places$index)))
  at_choice <- curve_table(held, names(measures)[1L], chosen_places(scored))
  # the scores of the rows of each fold by the model that the fold chose, about the level of a Cox
  # model, its score at the means of its training rows
  scores <- Map(function(rows, fold) {
    score <- layer(fold$scores, fold$chosen)
    if (is.null(fold$level)) scores_of_rows(problem, score, rows) else score - fold$level
  }, parts$rows, scored)
  held_out <- mean_over_parts(parts, scores, nrow(problem))
  found <- estimate_table(held, all_measures, problem, outer, level)
  estimates <- found$table[seq_along(measures), ]
  result <- new_result("cv_result", list(
    method = run$name, curves = tables[[1L]],
    folds = fold_table(held, problem, measures[[1L]], names(measures)[1L], level, c(
      list(lambda = vapply(scored, `[[`, 0, "lambda")), if (places$key == "size") {
        list(size = vapply(scored, function(fold) fold$values[fold$chosen], 0L))
      }
    )),
    estimate = unlist(estimates[1L, c("mean", "se", "lower", "upper", "row_se", "jackknife_se")]),
    at_choice = at_choice, chosen = lapply(chosen, as.character),
    frequency = choice_frequency(chosen, problem$columns$name),
    measure = names(measures)[1L], measures = tables, estimates = estimates,
    beside = found$table[-seq_along(measures), ], level = level, interval = found$interval,
    higher = measures[[1L]]$higher, words = measures[[1L]]$words, key = places$key,
    held_out = held_out, held_out_class = outer_classes(problem, parts, scored, held_out),
    fit = fit, outer = outer$label, inner = scored[[1L]]$folds,
    # NULL where the models were not kept or Ctrl-C left some out
    fold_models = if (held$complete && !any(vapply(models, is.null, NA))) {
      models_without(problem, parts$rows, models, scores, lapply(scored, `[[`, "state"))
    }
  ), problem, call, held$complete)
  if (keep) {
    predictions <- all_predictions(scored, parts, problem, places)
    result$predictions <- in_user_units(problem, predictions, problem$rows$offset)
  }
  seal(with_user_units(result))
}

# The means over the folds of every curve of a measure and their standard errors, a row for each
# column of `index`.
curve_table <- function(held, name, index) {
  first <- held$each[[1L]]
  table <- lapply(c(names(first$inner[[name]]), names(first$sums[[name]])), function(curve) {
    means <- error_curve(curve_errors(held, name, curve, index))
    stats::setNames(lapply(means, as.vector), c(curve, paste0(curve, "_se")))
  })
  list2DF(do.call(c, table))
}

# The errors of one curve of a measure, for the models whose places in each fold are a column of
# `index` (models x folds). The errors of the method are weighted as its test errors are.
curve_errors <- function(held, name, curve, index) {
  sums <- lapply(seq_along(held$each), function(i) {
    fold <- held$each[[i]]
    sums <- fold$sums[[name]][[curve]]
    if (is.null(sums)) {
      weight <- fold$sums[[name]]$test[2L, ]
      sums <- rbind(ifelse(weight > 0, fold$inner[[name]][[curve]] * weight, 0), weight)
    }
    sums[, index[, i], drop = FALSE]
  })
  fold_errors(sums, held$parts$repetition)
}

# The values of the key that every fold has, and the place of each in each fold (values x folds).
# Folds with no value in common use the model that each fold chose.
shared_places <- function(scored) {
  values <- Reduce(intersect, lapply(scored, `[[`, "values"))
  if (!length(values)) return(list(key = "model", values = 1L, index = chosen_places(scored)))
  index <- vapply(scored, function(fold) match(values, fold$values), integer(length(values)))
  list(key = scored[[1L]]$key, values = values, index = matrix(index, length(values)))
}

chosen_places <- function(scored) matrix(vapply(scored, `[[`, 0L, "chosen"), 1L)

# A row for every outer fold: the name of a fold that is a group of rows, the `choice` in the fold,
# the errors of the choice, and the interval of its test error over the rows of the fold alone.
fold_table <- function(held, problem, measure, name, level, choice = NULL) {
  at_choice <- lapply(held$each, function(fold) {
    inner <- lapply(fold$inner[[name]], `[`, fold$chosen)
    sums <- lapply(fold$sums[[name]], function(sums) mean_of_sums(sums[, fold$chosen]))
    as.data.frame(c(inner, sums))
  })
  parts <- held$parts
  table <- data.frame(repetition = parts$repetition, fold = parts$fold)
  counted <- with_weight(parts$rows, problem)
  groups <- lapply(ifelse(lengths(counted) > 0L, counted, parts$rows),
                   function(rows) unique(problem$rows$group[rows]))
  if (all(lengths(groups) == 1L)) table$group <- as.character(unlist(groups))
  table$rows <- lengths(counted)
  table[names(choice)] <- choice
  table <- cbind(table, do.call(rbind, at_choice), row.names = NULL)
  ends <- vapply(seq_len(nrow(table)), function(i) {
    shares <- held$each[[i]]$shares[[name]]$test
    if (is.null(shares)) return(c(NA_real_, NA_real_))
    weight <- problem$rows$weight[parts$rows[[i]]]
    unit <- seq_along(weight)
    se <- unit_se(shares, unit, is_of_pairs(measure, problem), weight > 0)
    units <- effective_units(unit, weight)
    interval_of(measure, table$test[i], list(se = se, units = units, df = units - 1), level)
  }, numeric(2L))
  replace(table, c("lower", "upper"), list(ends[1L, ], ends[2L, ]))
}

# Out-of-fold predictions of every model: rows x L x models x repetitions or resamples.
all_predictions <- function(scored, parts, problem, places) {
  layers <- unique(parts$layer)
  out <- array(NA_real_,
               c(nrow(problem), ncol(problem$rows$y), length(places$values), length(layers)),
               list(problem$rows$name, colnames(problem$rows$y), places$values, NULL))
  for (i in seq_along(scored)) {
    out[parts$rows[[i]], , , match(parts$layer[i], layers)] <-
      scored[[i]]$scores[, , places$index[, i], drop = FALSE]
  }
  out
}

# Methods ---------------------------------------------------------------------------------------

#' @exportS3Method
print_result.cv_result <- function(x, ...) {
  say("cross-validation of ", x$method, ": all of it repeated without each outer fold (", x$outer,
      ")")
  at_choice <- switch(x$key, model = "", lambda = " at the lambda each fold chose", sprintf(
    " at the size each fold chose (%s)", counted_range(range(x$folds$size), term_word(x))
  ))
  own <- x$at_choice$test_se
  differ <- !is.null(own) && !is_alike(x$estimates$se[1L], own)
  say(measure_label(x), at_choice, ", with standard errors (se",
      if (differ) ", from the second line on over the folds alone", "):")
  cat(paste0("  ", error_lines(x), "\n"), sep = "")
  print_interval(x)
  Map(print_unscored, x$estimates$unscored, nrow(x$folds), "fold", x$estimates$measure)
  print_constant(x$problem, learned(x))
  print_classes(x$problem, learned(x))
  print_smallest(x)
  print_measures(x)
  print_responses(x$problem, kept_values(x, "held_out"),
                  if (x$measure == "squared") x$estimate[["mean"]])
  print_data(x$problem)
  if (x$status == "interrupted") cat(sprintf("interrupted: %d of them done\n", nrow(x$folds)))
  if (!anyNA(x$folds$lambda)) {
    ends <- unique(vapply(range(x$folds$lambda), shown_parameter, ""))
    cat("lambda of the folds: ", paste(ends, collapse = " to "), "\n", sep = "")
  }
  print_frequency(x)
}

# How often columns were chosen, or groups that move together, whose columns are chosen as often.
print_frequency <- function(x) {
  times <- x$frequency
  known <- !is.na(times$feature)
  times$name[known] <- unit_names(x$problem, times$feature[known])
  times <- times[!duplicated(times$name), ]
  if (!nrow(times)) return(invisible())
  each <- sprintf("%s (%d)", times$name, times$count)
  say("chosen most often, of ", counted(nrow(x$folds), "fold"), ": ", some_of(each, 8L, ""))
}

# the held-out predictions, unless every fold chose no feature
learned <- function(x) if (x$key != "size" || any(x$folds$size > 0L)) x$held_out_class

# The number of the class of each row held out, NULL for numbers: of two classes by the mean score,
# of more by the rule of the fit without the row, in the first partition.
outer_classes <- function(problem, parts, scored, held_out) {
  if (problem$coding$task == "regression") return(NULL)
  class <- class_number(problem, held_out)
  if (problem$coding$task == "binary") return(class)
  for (i in rev(seq_along(scored))) class[parts$rows[[i]]] <- scored[[i]]$class
  class
}

# the interval of the honest estimate
print_interval <- function(x) {
  row <- x$estimates[1L, ]
  if (!is.na(row$lower)) {
    say(interval_words(x$level), " on new rows: ", shown(row$lower), " to ", shown(row$upper), ", ",
        trained_words(x), if (!is.na(row$difference_lower)) {
          paste0("; difference from the null model ", difference_words(row))
        })
  }
  for (note in interval_notes(x)) remark(note)
  by_group <- group_words(x)
  if (!is.null(by_group)) say("by group: ", by_group)
}

# the estimates of several measures
print_measures <- function(x) {
  if (nrow(x$estimates) < 2L) return(invisible())
  table <- list2DF(list(measure = measure_words(x$estimates$measure),
                        mean = shown(x$estimates$mean), "standard error" = shown(x$estimates$se)))
  if (!all(is.na(x$estimates$lower))) {
    ends <- sprintf("%s to %s", shown(x$estimates$lower), shown(x$estimates$upper))
    table[[interval_words(x$level)]] <- ends
  }
  print(table, row.names = FALSE)
}

# the word for the terms that the size of a model counts
term_word <- function(x) chosen_word(x$fit, "term")

# the size or lambda with the best honest error
print_smallest <- function(x) {
  if (x$key == "model" || nrow(x$curves) < 2L) return(invisible())
  row <- best_place(x, "min")
  if (is.na(row)) return(invisible())
  place <- if (x$key == "size") paste("at", counted(x$curves$size[row], term_word(x))) else
    paste("at lambda", shown_parameter(x$curves$lambda[row]))
  # without its standard error over the folds, which differs from the one of the honest estimate
  remark(sprintf("%s of all %ss: %s %s", if (x$higher) "largest" else "smallest", x$key,
                 shown(x$curves$test[row]), place))
}

# The row of the curves that a rule takes: for "1se" the smallest size, or the largest lambda,
# within a standard error of the best.
best_place <- function(x, rule) {
  simplest <- order(if (x$key == "size") x$curves$size else -x$curves$lambda)
  choose_row(criterion_loss(x, x$curves$test), rule, x$curves$test_se, simplest)
}

#' @rdname cv_result
#' @export
best_size.cv_result <- function(object, rule = "min", ...) {
  check_method_call(..., object = object, known = "rule")
  check_choice(rule, "rule", c("min", "1se"))
  stop_input_if(object$key != "size", "the models of this method have no size")
  object$curves$size[best_place(object, rule)]
}

# arguments of a method of the fit, with `size` only if it is wanted
on_fit <- function(generic, object, size, ..., fit = object$fit) {
  check_sealed(object)
  wanted <- list(...)
  if (!is.null(size)) wanted$size <- unlist(lapply(asked_by(size, NULL), as_size, fit = object))
  do.call(generic, c(list(fit), wanted), quote = TRUE)
}

#' @rdname cv_result
#' @export
predict.cv_result <- function(object, newdata, size = NULL, ...) {
  check_sealed(object)
  if (missing(newdata)) stop_no_newdata()
  if (is_set_valued(...)) {
    check_dots(..., known = set_arguments, allowed = set_arguments)
    return(predict_set_valued(object, object$fit, newdata, size, ...))
  }
  on_fit(stats::predict, object, size, newdata = newdata, ..., fit = fit_of_folds(object))
}

#' @rdname cv_result
#' @export
coef.cv_result <- function(object, size = NULL, ...) on_fit(stats::coef, object, size, ...)

#' @rdname cv_result
#' @export
selected.cv_result <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  on_fit(selected, object, size, index = index, lambda = lambda)
}

#' @rdname formula.sparsels_fit
#' @export
formula.cv_result <- function(x, size = NULL, ...) on_fit(stats::formula, x, size, ...)

#' @rdname formula.sparsels_fit
#' @export
terms.cv_result <- function(x, size = NULL, ...) on_fit(stats::terms, x, size, ...)

#' @rdname formula.sparsels_fit
#' @export
model.frame.cv_result <- function(formula, data, size = NULL, ...) {
  if (missing(data)) return(on_fit(stats::model.frame, formula, size))
  on_fit(stats::model.frame, formula, size, data = data, ...)
}

#' @rdname formula.sparsels_fit
#' @export
model.matrix.cv_result <- function(object, newdata, size = NULL, ...) {
  if (missing(newdata)) return(on_fit(stats::model.matrix, object, size))
  on_fit(stats::model.matrix, object, size, newdata = newdata, ...)
}

#' @exportS3Method
confint.cv_result <- function(object, ...) stop_no_intervals(object$fit)

#' @exportS3Method
vcov.cv_result <- confint.cv_result

#' @rdname cv_result
#' @export
fitted.cv_result <- function(object, ...) on_fit(stats::fitted, object, NULL, ...)

#' @rdname cv_result
#' @param type `"response"`: the residuals of the fit on all rows; `"held_out"`: the residuals of
#'   the predictions of the outer folds, at the size chosen in each.
#' @export
residuals.cv_result <- function(object, type = c("response", "held_out"), ...) {
  check_method_call(..., object = object, known = "type")
  stop_input_if(is.null(object$fit$fitted), "the fit of this method has no fitted values to show")
  stats::residuals(fit_of_folds(object), type)
}

#' @rdname cv_result
#' @export
nobs.cv_result <- function(object, ...) trained_rows(check_sealed(object)$problem)

#' @exportS3Method
details.cv_result <- function(x) {
  meaning <- error_meanings(x)
  errors <- c(names(meaning), paste0(names(meaning), "_se"))
  list(tables = list("means over the outer folds" = shown_table(x$curves, errors),
                     "outer folds" = shown_table(x$folds, errors)),
       meaning = c(paste("errors:", measure_label(x)),
                   meaning_words(meaning, names(x$folds), x$problem),
                   paste("lower, upper =", interval_words(x$level),
                         "of test over the rows of the fold")))
}

# The errors of the chosen models, to three significant digits of the largest error, and the meaning
# of each.
error_lines <- function(x) {
  what <- error_meanings(x)
  what <- what[names(what) %in% names(x$folds)]
  mean <- as.double(unlist(x$at_choice[names(what)]))
  se <- as.double(unlist(x$at_choice[paste0(names(what), "_se")]))
  mean[names(what) == "test"] <- x$estimates$mean[1L]
  se[names(what) == "test"] <- x$estimates$se[1L]
  mean[names(what) == "majority"] <- x$estimates$null[1L]
  # random sets of as many columns are empty where the method's are
  random <- names(what) == "random"
  mean[random] <- mean[random] + x$estimates$mean[1L] - x$estimates$uncorrected[1L]
  largest <- max(abs(mean), 0, na.rm = TRUE)
  common <- decimals_of(largest)
  # the power of ten of the first digit that is not 0, NA for 0
  digit_place <- function(value) {
    there <- is.finite(value) & abs(value) > 1e-12 * largest
    replace(rep(NA_real_, length(value)), there, floor(log10(abs(value[there]))))
  }
  # three digits of a mean that would have one, and one of its standard error
  own <- 2 - digit_place(mean)
  digits <- pmax(common, ifelse(own - 1 > common, own, common), -digit_place(se), na.rm = TRUE)
  plain <- function(value) with_decimals(value, digits, largest)
  padded <- function(text) format(text, justify = "right")
  start <- paste0(padded(plain(mean)), padded(sprintf(" (se %s)", plain(se))), "   ")
  # the lines have an indent of two
  each <- lapply(what, strwrap, getOption("width") - nchar(start[1L]) - 2L)
  unlist(Map(function(start, lines) {
    paste0(c(start, rep(strrep(" ", nchar(start)), length(lines) - 1L)), lines)
  }, start, each), use.names = FALSE)
}

# the meanings of the errors of a cross-validation, by the names of their columns
error_meanings <- function(x) {
  measure <- list(name = x$measure, higher = x$higher)
  better <- as_error(measure, x$at_choice$inner) < as_error(measure, x$estimates$mean[1L])
  c(
    test = "outer folds: the honest estimate",
    cv = "the method's own cross-validation of the whole search",
    inner = paste0("the method's own criterion (", x$inner, ")",
                   if (isTRUE(better)) ", optimistic"),
    random = "as many random features",
    majority = paste0("null model, ", majority_words(x$problem, x$measure))
  )
}

# Resample -----------------------------------------------------------------------------------------

# Repeated random parts of the rows, some for training and the others for scoring, as
# learning_curve() and compare_methods() use them.

# Rows --------------------------------------------------------------------------------------------

# Values that all parts have in common: the largest number of held-out rows, which a group may
# exceed, the `largest` training set that every repeat has, the `ratio` of test rows to training
# rows, and the group of every row, if there are groups, with their mean number of rows.
resampling_plan <- function(problem, test, groups) {
  rows <- trained_rows(problem)
  valid <- is_number(test) && test > 0 && test < 1
  refuse_unless(valid, "test", "a share of the rows, above 0 and below 1", test)
  test_rows <- round(test * rows)
  stop_input_if(test_rows < 2 || rows - test_rows < 2,
                "`test` must leave two rows to each part, but is %s of %d rows", format(test), rows)
  members <- if (!is.null(groups)) tabulate(groups[trained_places(problem)])
  stop_input_if(!is.null(groups) && sum(members > 0L) < 2L, "`groups` must have at least 2 groups")
  list(test_rows = test_rows, largest = rows - max(test_rows, members),
       ratio = test_rows / (rows - test_rows), groups = groups,
       group_rows = if (!is.null(groups)) mean(members[members > 0L]))
}

# The rows in an order in which any first part is a training set and the last part is held out. The
# order is random, with the rows of each group together and the classes in proportion in every part.
# A random row of a group gives its class.
shuffled_rows <- function(problem, groups) {
  rows <- trained_places(problem)
  shuffled <- rows[sample.int(length(rows))]
  unit <- seq_along(shuffled)
  if (!is.null(groups)) {
    shuffled <- shuffled[order(sample.int(max(groups))[groups[shuffled]])]
    unit <- match(groups[shuffled], unique(groups[shuffled]))
  }
  class <- row_strata_of(problem)[shuffled[!duplicated(unit)]]
  if (is.null(class)) return(shuffled)
  count <- tabulate(class)
  # evenly spaced from a random start
  place <- stats::ave(class, class, FUN = seq_along) - stats::runif(length(count))[class]
  shuffled[order((place / count[class])[unit])]
}

# The results of `train` on random splits of the rows, with a warning after Ctrl-C: a list for each
# split with the rows to train on, `trained`, in an order of which any first part is a training set,
# the `rows` held out, and the `result` of train(trained, rows). The rows held out are whole groups,
# at least one.
train_on_splits <- function(problem, plan, count, what, train, progress, BPPARAM) {
  repeat_tasks(count, what, function(i) {
    order <- shuffled_rows(problem, plan$groups)
    test_rows <- plan$test_rows
    if (!is.null(plan$groups)) {
      ends <- cumsum(rev(rle(plan$groups[order])$lengths))
      test_rows <- max(ends[1L], ends[ends <= test_rows])
    }
    part <- list(trained = utils::head(order, -test_rows),
                 rows = sort(utils::tail(order, test_rows)))
    c(part, list(result = train(part$trained, part$rows)))
  }, progress, BPPARAM)
}

# Refuses splits of which none can be scored.
check_any_scored <- function(scored) {
  stop_input_if(!any(scored),
                "the rows held out never have a value of the measure: `test` must be larger")
}

# Scores ------------------------------------------------------------------------------------------

# the one measure given by the user
one_measure <- function(measure, problem, loss = "squared") {
  measures <- as_measures(measure, problem, loss)
  stop_argument_if(length(measures) > 1L, "`measure` must be one measure, not several")
  measures[[1L]]
}

# The sums of a measure over some rows, held out together, and their weights (2 x models), for each
# of the `scores` of these rows (rows x responses x models). The scores are from the fits or null
# models in `sources`: by default the fit of a part and its null model. `scores_of` gives the scores
# of any rows: a deviance of events takes the other rows trained on, too.
sums_of_part <- function(measure, part, problem, rows, scores_of, scores = scores_of(rows),
                         sources = list(part$fit, part_null(part))[seq_along(scores)]) {
  if (is.null(measure$held_out)) {
    heldout <- scored_rows(problem, rows)
    return(Map(function(scores, source) {
      score_sums(scores, heldout, measure_for(measure, source))
    }, scores, sources))
  }
  others <- setdiff(part$rows, rows)
  both <- scored_rows(problem, c(others, rows))
  both$coding$ties <- part$fit$problem$coding$ties
  if (is_cox(both)) both$rows$y <- response_of_times(both)
  train <- both
  train$rows$weight[length(others) + seq_along(rows)] <- 0
  lapply(scores_of(c(others, rows)), function(scores) {
    measure$held_out(both, train, matrix(scores, nrow(both$rows)))
  })
}

# A part whose held-out times are judged among themselves. The risk sets of a deviance of events
# then do not depend on the number of rows trained on.
judged_alone <- function(part) {
  if (is_cox_loss(loss_name(part$fit))) part$rows <- integer()
  part
}

measure_alone <- function(measure, problem) {
  if (is.null(measure$held_out) || !is_survival(problem)) return(measure)
  replace(measure, "words", paste(measure$words, "among the rows held out"))
}

# The value of a measure on some rows for each of the scores that `scores_of` gives of any rows, by
# the chosen model of a part and its null model, NA where there is none. R-squared is relative to
# the last scores.
measured <- function(measure, scores_of, part, problem, rows, scores = scores_of(rows)) {
  relative <- measure$name == "r_squared"
  sums <- sums_of_part(if (relative) squared_error else measure, part, problem, rows, scores_of,
                       scores)
  if (!relative) return(vapply(sums, mean_of_sums, 0))
  squares <- vapply(sums, `[[`, 0, 1L)
  1 - squares / squares[length(squares)]
}

# The scores of some rows by the model that the fit of a part chose, rows x responses x 1.
chosen_scores <- function(part, rows) {
  path <- path_scores(part$fit, part$problem, rows)
  path$scores[, , path$chosen, drop = FALSE]
}

# The null model of a part, which measure_for() accepts like a fit: the model of the covariates
# alone by the loss of the fit. Without covariates its scores are mean_scores().
part_null <- function(part) {
  fit <- part$fit
  problem <- part$train
  null <- list(problem = problem, loss = loss_name(fit))
  # A function that gives probabilities: the shares of the classes or, with covariates, by the
  # scores, calibrated on rows that the folds of the fit hold out.
  null$calibrated <- function() {
    if (has_intercept_only(problem)) {
      share <- prop.table(class_sums(problem))
      return(function(score) matrix(share, nrow(score), length(share), byrow = TRUE))
    }
    if (calibration_kind(null, NULL) != "none") {
      folds <- if (is.null(fit$size_folds)) fit$folds else fit$size_folds
      null$held_out <- null_held_out_scores(fit, problem, folds, seq_len(nrow(problem)))
    }
    calibrated(null)
  }
  structure(null, class = "part_null")
}

# The scores of some rows by the null model of a part, rows x responses x 1.
null_scores <- function(part, rows) {
  loss <- loss_name(part$fit)
  if (has_intercept_only(part$train)) return(mean_scores(part$train, rows, loss, part$problem))
  train <- if (is_likelihood(loss)) part$fit$problem else part$train
  of_z <- if (!has_own_null(loss)) covariate_solver(train)(train$rows$y) else
    do.call(cbind, lapply(responses_together(train, loss), function(together) {
      u <- null_covariates(one_response(train, together), loss)$u
      covariates_of(train, u, integer(), matrix(0, 0L, length(together)))
    }))
  scores <- part$problem$z[rows, colnames(train$z), drop = FALSE] %*% of_z
  judged_values(scored_rows(part$problem, rows), loss, array(scores, c(dim(scores), 1L)))
}

# The scores of some rows of a problem by the weighted mean of the training rows, 0 for numbers
# without an intercept, rows x responses x 1; of counts and the like by the model of a constant.
# With codes -1 and 1 they give the majority class, too.
mean_scores <- function(train, rows, loss = "squared", problem = train) {
  if (judged_at_mean(loss)) {
    level <- if (is_centred(train)) constant_level(train, loss) else 0
    return(judged_values(scored_rows(problem, rows), loss, array(level, c(length(rows), 1L, 1L))))
  }
  mean <- null_means(train$rows$y, train)
  array(rep(mean, each = length(rows)), c(length(rows), length(mean), 1L))
}
