#' Estimate the prediction error of a method by outer (nested) cross-validation
#'
#' Repeats everything a method does (scaling, choice of lambda and size, selection) inside each
#' outer fold and scores its models on the rows held out: an honest estimate of the error, also
#' where the method chooses its size by its own cross-validation.
#'
#' In each outer fold the training rows become a problem of their own, so centre and scale of the
#' columns are estimated again; `method` runs on it, with its own inner folds, and makes its choices
#' there; then every model of its path predicts the held-out rows: of each size, or of each lambda
#' for [rls()], [kernel_rls()] and [lssvm()]. The measures are means over the held-out rows \eqn{j}
#' with case weights \eqn{w}, for classes the error rate by default,
#' \deqn{\sum_j w_j [\hat c_j \ne c_j] / \sum_j w_j,}
#' for a numeric response the mean squared error,
#' \deqn{\sum_j w_j \|y_j - \hat y_j\|^2 / (L \sum_j w_j),}
#' \eqn{L} being the number of responses. A two-class score above 0 means the second class; of
#' several classes the largest score wins, the first one when equal. This is the experiment of
#' Sections 4.2 and 4.3 of the paper.
#'
#' The outer folds run on the plan set by `future::plan()` when the package future.apply is
#' installed, else one after the other. Each has its own stream of random numbers: `set.seed()`
#' before the call gives the same result under any plan. Ctrl-C returns the folds already done, with
#' a warning of class `sparsels_interrupted`.
#'
#' @param x The data, in any form that [as_problem()] takes: a matrix (samples x features), a data
#'   frame, a formula (with `data`), an experiment of Bioconductor, or an earlier problem.
#' @param y The response, as for [as_problem()]. With a problem or a formula it is not needed, and
#'   `method` may come second: `cross_validate(problem, greedy_rls)`.
#' @param method A function: a fitter of this package such as [greedy_rls()] or [kernel_rls()], or
#'   your own `function(problem, ...)` that returns what such a fitter returns, or any object for
#'   which `predict(object, x)` gives a value or class for each row of a matrix `x`.
#' @param ... Arguments by name: those of [as_problem()], such as `weights`, `adjust` and `assay`
#'   (not when `x` is a problem), and those of `method`, such as `k`, `lambda`, `size` and `folds`.
#'   `folds` and `size_folds` are inner folds; folds given row by row, for all rows, are restricted
#'   to the training rows of each outer fold. Row numbers, such as `basis` of [kernel_rls()], count
#'   the training rows. With `kernel = "precomputed"` the columns of `x` are restricted to the
#'   training rows, too. For `predict()`, `coef()` and so on: arguments of that method for the fit
#'   on all rows.
#' @param data A data frame with the variables of a formula; it may also be given instead of `y`.
#' @param outer The outer folds: a number (10 by default), drawn stratified by class; or any other
#'   value of `folds` in [make_folds()], or its result, for instance grouped by patient; or
#'   resamples of rsample that are no partition, see Resamples.
#' @param repeats How many times a number of outer folds is drawn anew; 1 by default.
#' @param measure The measure of error, one or several of `"error"`, the misclassification rate;
#'   `"squared"`, the mean squared error; `"absolute"`, the mean absolute error; `"auc"`, the area
#'   under the ROC curve, over pairs within a fold and never across folds, whose models differ;
#'   `"balanced"`, the mean of the classes' misclassification rates; `"brier"` and `"logloss"`, the
#'   Brier score and the logarithmic loss of probabilities, see Probabilities; `"concordance"`, of
#'   numbers or censored times, the share of the comparable pairs within a fold (of a ranking within
#'   a query) in the right order; `"ndcg"` or `"ndcg@10"`, of grades, see [as_problem()]; or
#'   functions `(y, prediction, fold)` as for `criterion` in [greedy_rls()], called for each fold,
#'   in a vector or a list. `curves` and `estimate` are about the first. `NULL`: `"error"` for
#'   classes, `"concordance"` for censored times and rankings, otherwise `"squared"`.
#' @param baselines Models to compare with: `"random"`, a ridge model on as many features drawn at
#'   random, and `"majority"`, the most frequent class of the training rows by weight, or their mean
#'   for a numeric response; `NULL` for none. The random model has the lambda of the method and is
#'   refitted if the method refits; its lambda is 1e-8 times the sum of the weights where that of
#'   the method is 0, and beside [l1_path()], whose lambda is an l1 penalty, that which
#'   [random_selection()] chooses. It is left out for a method that selects no features.
#' @param keep Logical: are the out-of-fold predictions of every model kept?
#' @param progress Logical: is a progress bar with the time left shown? By default in interactive
#'   sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the outer folds, such as
#'   `BiocParallel::MulticoreParam(2)`; it goes before a future plan.
#' @param object The result of `cross_validate()`.
#' @param newdata New observations, see [predict.sparsels_fit()]. With `type = "prob"` scores are
#'   calibrated on those of the outer folds.
#' @param size The model wanted: a number, `"min"` or `"1se"` by the test error of the outer folds;
#'   `NULL` for the size that the method chose on all rows. For `coef()` and `predict()` also
#'   several.
#' @param rule `"min"`, the size with the smallest test error, or `"1se"`, the smallest size within
#'   one standard error of it.
#' @param index,lambda See [selected()].
#'
#' @return An object of class `cv_result`, a list:
#' * `curves`: data frame, a row per size (or lambda) reached in every fold: the size; `inner`, the
#'   method's own criterion, and `cv`, its own cross-validation, where it has them; `test`, the
#'   error on the outer folds; `random` and `majority`; each with its standard error, `inner_se`,
#'   ... . Means over the outer folds, weighted by their rows (`inner` and `cv`: plain means). A
#'   fold that has no model of a size but smaller ones gives the largest of these. Where the folds
#'   have no size in common there is one row, for the models that they chose.
#' * `measures`: such a data frame for every measure; `estimates`: a row per measure, as `estimate`.
#' * `folds`: data frame, a row per outer fold, with `repetition`, `fold`, `rows` (held out),
#'   `lambda`, `size` (chosen there), and at that size `inner`, `test`, `random`, `majority`.
#' * `estimate`: named double, `mean` and `se` of the test error at the size that each fold chose:
#'   the honest error of the method with its choices.
#' * `fit`: the method on all rows, which `predict()`, `coef()`, `selected()` and `fitted()` of the
#'   result use.
#' * `held_out` (m x L): out-of-fold predictions at the size each fold chose; with `keep`,
#'   `predictions` of every model (m x L x models x repetitions).
#' * `chosen`: list with a character vector per outer fold, the names in the order chosen.
#' * `frequency`: data frame `feature` (column number), `name`, `count` and `share` of the outer
#'   folds that chose it; most frequent first.
#' * `measure` (the first), `method`, `call`, `status` (`"complete"` or `"interrupted"`), `problem`
#'   (without its x), and in words `outer` and `inner`, the folds.
#'
#' `best_size()` and `size = "min"` or `"1se"` use the test error; the smallest of several
#' errors is a little optimistic itself. Standard errors treat the outer folds as independent; with
#' `repeats` above 1 they are too small.
#'
#' @section Resamples:
#' `outer` takes the resamples of rsample as they are, if each holds out rows that it does not train
#' on: `vfold_cv()`, `group_vfold_cv()`, `loo_cv()`, and those that are no partition of the rows, as
#' `bootstraps()`, `mc_cv()`, `validation_split()`, `rolling_origin()` and their versions for
#' groups. A row that a bootstrap sample has several times is trained on once, with as many times
#' its case weight, so that the inner folds of the method never have one copy of a row on either
#' side; `method` must take case weights. Errors are means over the resamples, weighted by the rows
#' held out; their standard errors take the resamples for independent and are too small where
#' training parts overlap. A bootstrap sample has only 63 % of the rows, which makes the error
#' somewhat too large. `held_out` is a mean over the resamples that hold the row out, `NA` where
#' none does; `predictions` has a layer for each resample. Refused by name are resamples without
#' held-out rows, such as `permutations()`; those that hold out what they train on, such as
#' `apparent()`; and `nested_cv()`, whose inner resamples would not be used. [make_folds()], and
#' with it all that needs a partition (the exact held-out errors of one fit, `size_folds`), takes
#' partitions only.
#'
#' @section Probabilities:
#' For `"brier"` and `"logloss"` scores become probabilities by [class_probabilities]: Platt's
#' calibration (or the model's own probabilities, with the logistic loss), made afresh in each outer
#' fold from its training rows, on the held-out scores of the model chosen there. Models of other
#' sizes or lambdas are read by the same calibration. Both are as in yardstick: the Brier score is
#' half the sum of squares over the classes, so that for two classes it is the mean squared error of
#' the probability of one; the log loss is minus the mean logarithm of the probability of the class
#' that the row has, no less than 2.2e-16. Rows count by their case weights, without class weights.
#' The null model gives every class its share of the training rows.
#'
#' @section Cost:
#' One fit on all rows, and the number of outer folds times the cost of `method` and of as many
#' predictions as there are models; memory, that of one training part per worker on top of what
#' `method` needs.
#'
#' @section Errors:
#' `sparsels_error_input` for an unknown argument, folds of the wrong length or a method that is not
#' a function or returns something that cannot predict. An error inside an outer fold keeps its
#' class and says in which fold it was.
#'
#' @references Pahikkala, T., Airola, A. and Salakoski, T. (2010). Linear time feature selection for
#'   regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' @seealso [plot()][plot.sparsels_result], [make_folds()]; [judge()], which asks further questions
#'   of a method;
#'   [compare_methods()], which compares several
#' @examples
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' y <- factor(ifelse(x[, 3] + x[, 8] + rnorm(60) > 0, "ill", "well"))
#' set.seed(1)
#' cvd <- cross_validate(x, y, greedy_rls, k = 5, outer = 5, measure = c("error", "auc"))
#' cvd
#' plot(cvd)
#' predict(cvd, x[1:3, ], type = "class")
#' @export
cross_validate <- function(x, y = NULL, method = NULL, ..., data = NULL, outer = 10, repeats = 1,
                           measure = NULL, baselines = c("random", "majority"), keep = FALSE,
                           progress = interactive(), BPPARAM = NULL) {
  check_given(x, "x")
  check_baselines(baselines)
  check_flag(keep, "keep")
  check_flag(progress, "progress")
  check_bpparam(BPPARAM)
  run <- as_run(x, y, method, ..., data = data,
                said = list(y = substitute(y), method = substitute(method)),
                known = c("outer", "repeats", "measure", "baselines", "keep", "progress",
                          "BPPARAM"))
  measures <- as_measures(measure, run$problem)
  outer <- in_context("outer folds", outer_parts(run$problem, outer, repeats))
  # of the same classes the fit need not say it again
  fit <- suppressWarnings(fit_run(run), if (length(outer$absent)) "sparsels_warning_class" else "")
  parts <- outer$parts
  scored <- repeat_tasks(nrow(parts), "outer fold", function(i) {
    score_fold(run, lapply(parts, `[[`, i), measures, baselines)
  }, progress, BPPARAM)
  result <- new_cv_result(scored, parts, run, fit, measures, keep, outer$label,
                          short_call(match.call()))
  if ("auc" %in% vapply(measures, `[[`, "", "name")) warn_constant(result$problem, learned(result))
  result
}

check_baselines <- function(baselines) {
  known <- c("random", "majority")
  fine <- is.null(baselines) || is.character(baselines) && all(baselines %in% known)
  if (!fine) refuse("baselines", paste("any of", some_of(known)), baselines)
}

# What is held out and trained on, fold by fold: `parts` as held_out_rows() has them, with the rows
# to train on and how often each, and a `layer` for each set of folds that do not overlap; `label`,
# the folds in words; `absent`, classes that are not trained on somewhere.
outer_parts <- function(problem, outer, repeats) {
  m <- nrow(problem)
  if (inherits(outer, "rset") && !is_partition(outer)) {
    parts <- resample_parts(outer, m)
    parts$layer <- parts$fold
    label <- paste(counted(nrow(parts), "resample"), "of rsample,", class(outer)[1L])
    return(list(parts = parts, label = label, absent = warn_not_drawn(problem, parts$trained)))
  }
  folds <- make_folds(problem, outer, repeats = repeats)
  parts <- held_out_rows(folds)
  parts$layer <- parts$repetition
  parts$trained <- lapply(parts$rows, function(rows) seq_len(m)[-rows])
  parts$times <- rep(1, nrow(parts))
  list(parts = parts, label = folds$label, absent = warn_absent(problem, folds))
}

# One outer fold --------------------------------------------------------------------------------

# All is learned from the rows that are not held out. `sums` has for each measure and curve the sum
# and the weight of every model (2 x models).
score_fold <- function(run, outer, measures, baselines) {
  rows <- outer$rows
  part <- fit_rows(run, outer$trained, outer$times)
  fit <- part$fit
  path <- path_scores(fit, part$problem, rows)
  scores <- list(test = path$scores)
  # what the models of the scores are: fits, and the problem of the null model
  sources <- list(test = fit)
  if ("random" %in% baselines && inherits(fit, "sparse_fit")) {
    sources$random <- random_fit(part)
    models <- sources$random$coefficients[path_sizes(fit) + 1L]
    scores$random <- model_scores(models, part$problem, rows)
  }
  if ("majority" %in% baselines) {
    scores$majority <- constant_scores(part, rows)
    sources$majority <- part$train
  }
  heldout <- scored_rows(run$problem, rows)
  list(
    key = path$key, values = path$values, chosen = path$chosen, scores = path$scores,
    sums = lapply(measures, function(measure) {
      Map(function(of, source) {
        spread_models(score_sums(of, heldout, measure_for(measure, source)), path)
      }, scores, sources)
    }),
    inner = lapply(measures, inner_error, path, fit$criterion$name), folds = fit$folds$label,
    lambda = if (is.null(fit$lambda)) NA_real_ else fit$lambda, features = chosen_features(fit)
  )
}

# one model for all places of a path
spread_models <- function(sums, path) {
  sums[, rep_len(seq_len(ncol(sums)), length(path$values)), drop = FALSE]
}

# As many random features as the models of a fit have, with the same ridge parameter and the inner
# folds of the method.
random_fit <- function(part) {
  fit <- part$fit
  part$train$column_groups <- fit$problem$column_groups
  largest <- length(fit$coefficients) - 1L
  lambda <- random_lambda(fit, part$train)
  refit <- is.null(lambda) || !is.null(fit$path$refit_lambda)
  suppressWarnings(do.call(random_selection, c(
    list(quote(part$train), k = max(largest, 1L), lambda = lambda, refit = refit, progress = FALSE),
    if (!is.null(part$folds)) list(folds = part$folds)
  )), own_warnings)
}

# The ridge parameter of the random features: NULL lets random_selection() choose it.
random_lambda <- function(fit, train) {
  if (inherits(fit, "l1_path")) return(NULL)
  if (fit$lambda > 0) fit$lambda else 1e-8 * sum(train$weights)
}

# The majority class of the training rows, coded as y is; for numbers the mean: with codes -1/+1
# either is read off the weighted mean of y.
constant_scores <- function(part, rows) {
  train <- part$train
  constant <- colSums(train$weights * train$y) / sum(train$weights)
  array(rep(constant, each = length(rows)), c(length(rows), ncol(train$y), 1L))
}

# The method's own estimates of the same measure, of every model: of the criterion that chose them
# and, where the search was repeated in folds, of those.
inner_error <- function(measure, path, criterion) {
  own <- if (measure$name %in% c("squared", "error")) measure$name else
    if (identical(measure$name, criterion)) "criterion"
  cv <- if (measure$name == "error") "cv_error" else if (identical(measure$name, criterion)) "cv"
  columns <- c(inner = own, cv = cv)
  columns <- columns[columns %in% names(path$errors)]
  own <- stats::setNames(as.list(path$errors[columns]), names(columns))
  Filter(function(values) !all(is.na(values)), own)
}

# The result ------------------------------------------------------------------------------------

new_cv_result <- function(scored, parts, run, fit, measures, keep, outer, call) {
  problem <- run$problem
  wanted <- nrow(parts)
  parts <- parts[attr(scored, "done"), ]
  if (!length(shared_places(scored)$values)) scored <- lapply(scored, chosen_alone)
  chosen <- lapply(scored, `[[`, "features")
  tables <- lapply(names(measures), function(name) curves_of(scored, parts, name))
  names(tables) <- names(measures)
  folds <- fold_table(scored, parts, names(measures)[1L])
  estimates <- do.call(rbind, lapply(names(measures), function(name) {
    estimate <- estimate_of(scored, parts, name)
    data.frame(measure = name, mean = estimate[[1L]], se = estimate[[2L]])
  }))
  result <- structure(list(
    method = run$name, curves = tables[[1L]], folds = folds,
    estimate = c(mean = estimates$mean[1L], se = estimates$se[1L]),
    chosen = lapply(chosen, function(feature) problem$names[feature]),
    frequency = choice_frequency(chosen, problem$names),
    measure = names(measures)[1L], measures = tables, estimates = estimates,
    higher = measures[[1L]]$higher, words = measures[[1L]]$words, key = scored[[1L]]$key,
    held_out = chosen_predictions(scored, parts, problem), fit = fit, outer = outer,
    inner = scored[[1L]]$folds, problem = without_x(problem), call = call,
    status = if (nrow(parts) < wanted) "interrupted" else "complete"
  ), class = c("cv_result", "sparsels_result"))
  if (keep) {
    predictions <- all_predictions(scored, parts, problem, result$curves)
    result$predictions <- in_user_units(problem, predictions, problem$offset)
  }
  result
}

# A row for every model that all folds have, by size or lambda: the mean over the folds, weighted by
# their rows, and its standard error, of each curve.
curves_of <- function(scored, parts, name) {
  places <- shared_places(scored)
  table <- stats::setNames(data.frame(places$values), scored[[1L]]$key)
  for (curve in names(scored[[1L]]$inner[[name]])) {
    value <- vapply(seq_along(scored), function(i) {
      scored[[i]]$inner[[name]][[curve]][places$index[, i]]
    }, numeric(nrow(table)))
    value <- matrix(value, nrow(table))
    table[[curve]] <- rowMeans(value)
    table[[paste0(curve, "_se")]] <- apply(value, 1L, standard_error)
  }
  for (curve in names(scored[[1L]]$sums[[name]])) {
    sums <- lapply(seq_along(scored), function(i) {
      scored[[i]]$sums[[name]][[curve]][, places$index[, i], drop = FALSE]
    })
    mean <- error_curve(fold_errors(sums, parts$repetition))
    table[[curve]] <- mean$value[, 1L]
    table[[paste0(curve, "_se")]] <- mean$se[, 1L]
  }
  table
}

# the values of the key that every fold has, and where each fold has them (values x folds)
shared_places <- function(scored) {
  values <- Reduce(intersect, lapply(scored, `[[`, "values"))
  index <- vapply(scored, function(fold) match(values, fold$values), integer(length(values)))
  list(values = values, index = matrix(index, length(values)))
}

# A fold with its chosen model alone, where the folds have no size in common.
chosen_alone <- function(fold) {
  chosen <- fold$chosen
  fold$scores <- fold$scores[, , chosen, drop = FALSE]
  fold$sums <- lapply(fold$sums, lapply, function(sums) sums[, chosen, drop = FALSE])
  fold$inner <- lapply(fold$inner, lapply, `[`, chosen)
  fold[c("key", "values", "chosen")] <- list("model", 1L, 1L)
  fold
}

standard_error <- function(x) stats::sd(x) / sqrt(length(x))

# a row for every outer fold: what was chosen there, and the errors of the choice
fold_table <- function(scored, parts, name) {
  at_choice <- lapply(scored, function(fold) {
    inner <- lapply(fold$inner[[name]], `[`, fold$chosen)
    sums <- lapply(fold$sums[[name]], function(sums) sums[1L, fold$chosen] / sums[2L, fold$chosen])
    as.data.frame(c(inner, sums))
  })
  table <- data.frame(repetition = parts$repetition, fold = parts$fold, rows = lengths(parts$rows),
                      lambda = vapply(scored, `[[`, 0, "lambda"))
  if (scored[[1L]]$key == "size") {
    table$size <- vapply(scored, function(fold) fold$values[fold$chosen], 0L)
  }
  cbind(table, do.call(rbind, at_choice), row.names = NULL)
}

# the error at the model that each fold chose
estimate_of <- function(scored, parts, name) {
  sums <- lapply(scored, function(fold) fold$sums[[name]]$test[, fold$chosen, drop = FALSE])
  unlist(error_curve(fold_errors(sums, parts$repetition)))
}

# Out-of-fold predictions of the model that each fold chose, m x L, averaged over repetitions.
chosen_predictions <- function(scored, parts, problem) {
  total <- matrix(0, nrow(problem), ncol(problem$y))
  count <- integer(nrow(problem))
  for (i in seq_along(scored)) {
    rows <- parts$rows[[i]]
    score <- layer(scored[[i]]$scores, scored[[i]]$chosen)
    total[rows, ] <- total[rows, ] + centre_within(scored_rows(problem, rows), score)
    count[rows] <- count[rows] + 1L
  }
  total / ifelse(count > 0L, count, NA)
}

# Out-of-fold predictions of every model: rows x L x models x repetitions, or resamples.
all_predictions <- function(scored, parts, problem, curves) {
  places <- shared_places(scored)
  layers <- unique(parts$layer)
  out <- array(NA_real_, c(nrow(problem), ncol(problem$y), nrow(curves), length(layers)),
               list(problem$row_names, colnames(problem$y), places$values, NULL))
  for (i in seq_along(scored)) {
    out[parts$rows[[i]], , , match(parts$layer[i], layers)] <-
      scored[[i]]$scores[, , places$index[, i], drop = FALSE]
  }
  out
}

# Methods ---------------------------------------------------------------------------------------

#' @exportS3Method
print_result.cv_result <- function(x, ...) { # nolint: object_name_linter.
  say("cross-validation of ", x$method, ": all of it repeated without each outer fold (", x$outer,
      ")")
  say(measure_label(x), chosen_range(x), ", with standard errors (se):")
  cat(paste0("  ", error_lines(x), "\n"), sep = "")
  print_classes(x$problem, learned(x))
  print_smallest(x)
  print_measures(x)
  print_responses(x$problem, x$held_out)
  print_data(x$problem)
  if (x$status == "interrupted") {
    cat(sprintf("interrupted: %d of them done\n", nrow(x$folds)))
  }
  if (!anyNA(x$folds$lambda)) cat(lambda_range(x))
  top <- utils::head(x$frequency, 8L)
  if (nrow(top)) {
    say(
      sprintf("chosen most often, of %s: ", counted(nrow(x$folds), "fold")),
      paste0(top$name, " (", top$count, ")", collapse = ", "),
      if (nrow(x$frequency) > nrow(top)) ", ..."
    )
  }
}

# the held-out predictions, but where every fold chose no feature
learned <- function(x) if (x$key != "size" || any(x$folds$size > 0L)) x$held_out

# the estimates of several measures
print_measures <- function(x) {
  if (nrow(x$estimates) < 2L) return(invisible())
  known <- match(x$estimates$measure, names(criteria))
  words <- vapply(criteria, `[[`, "", "words")[known]
  table <- data.frame(
    measure = ifelse(is.na(known), x$estimates$measure, words), mean = shown(x$estimates$mean),
    se = shown(x$estimates$se)
  )
  names(table)[3L] <- "standard error"
  print(table, row.names = FALSE)
}

chosen_range <- function(x) {
  if (x$key == "model") return("")
  if (x$key == "lambda") return(" at the lambda each fold chose")
  sprintf(" at the size each fold chose (%s)", counted_range(range(x$folds$size), term_word(x)))
}

# what the size of a model counts
term_word <- function(x) if (inherits(x$fit, "sparse_fit")) size_word(x$fit$problem) else "term"

lambda_range <- function(x) {
  values <- vapply(range(x$folds$lambda), shown_parameter, "")
  paste0("lambda of the folds: ", paste(unique(values), collapse = " to "), "\n")
}

# the size or lambda with the best honest error
print_smallest <- function(x) {
  if (x$key == "model" || nrow(x$curves) < 2L) return(invisible())
  row <- best_place(x, "min")
  place <- if (x$key == "size") paste("at", counted(x$curves$size[row], term_word(x))) else
    paste("at lambda", shown_parameter(x$curves$lambda[row]))
  remark(sprintf("%s of all %ss: %s%s %s", if (x$higher) "largest" else "smallest", x$key,
                 shown(x$curves$test[row]), se_words(x$curves$test_se[row]), place))
}

# The row of the curves that a rule takes: for "1se" the smallest size, or the largest lambda,
# within a standard error of the best.
best_place <- function(x, rule) {
  loss <- if (x$higher) -x$curves$test else x$curves$test
  best <- which.min(loss)
  if (rule == "min") return(best)
  within <- which(loss <= loss[best] + x$curves$test_se[best])
  if (x$key == "size") within[1L] else within[which.max(x$curves$lambda[within])]
}

#' @rdname cross_validate
#' @export
best_size.cv_result <- function(object, rule = "min", ...) { # nolint: object_name_linter.
  check_sealed(object)
  check_dots(..., known = "rule")
  check_choice(rule, "rule", c("min", "1se"))
  if (object$key != "size") stop_input("the models of this method have no size")
  object$curves$size[best_place(object, rule)]
}

# arguments of a method of the fit, `size` among them only where it is wanted
on_fit <- function(generic, object, size, ...) {
  wanted <- list(...)
  if (!is.null(size)) wanted$size <- unlist(lapply(asked_by(size, NULL), as_size, fit = object))
  do.call(generic, c(list(object$fit), wanted), quote = TRUE)
}

#' @rdname cross_validate
#' @export
predict.cv_result <- function(object, newdata, size = NULL, ...) {
  check_sealed(object)
  if (missing(newdata)) stop_no_newdata()
  object$fit <- fit_of_folds(object)
  on_fit(stats::predict, object, size, newdata = newdata, ...)
}

#' @rdname cross_validate
#' @export
coef.cv_result <- function(object, size = NULL, ...) {
  check_sealed(object)
  on_fit(stats::coef, object, size, ...)
}

#' @rdname cross_validate
#' @export
selected.cv_result <- function(object, size = NULL, # nolint: object_name_linter.
                               index = FALSE, lambda = NULL) {
  check_sealed(object)
  on_fit(selected, object, size, index = index, lambda = lambda)
}

#' @rdname cross_validate
#' @export
fitted.cv_result <- function(object, ...) {
  check_sealed(object)
  stats::fitted(object$fit, ...)
}

#' @rdname cross_validate
#' @param type `"response"`: the residuals of the fit on all rows; `"held_out"`: those of the
#'   predictions of the outer folds, at the size each chose.
#' @export
residuals.cv_result <- function(object, type = c("response", "held_out"), ...) {
  check_sealed(object)
  check_dots(..., known = "type")
  if (is.null(object$fit$fitted)) stop_input("the fit of this method has no fitted values to show")
  stats::residuals(fit_of_folds(object), type)
}

#' @rdname cross_validate
#' @export
nobs.cv_result <- function(object, ...) {
  check_sealed(object)
  trained_rows(object$problem)
}

#' @rdname cross_validate
#' @export
summary.cv_result <- function(object, ...) {
  check_sealed(object)
  structure(list(result = object), class = "summary.cv_result")
}

#' @export
print.summary.cv_result <- function(x, ...) {
  check_sealed(x)
  print(x$result)
  meaning <- error_meanings(x$result)
  columns <- c(names(meaning), paste0(names(meaning), "_se"))
  cat("means over the outer folds:\n")
  print(shown_table(x$result$curves, columns), row.names = FALSE)
  cat("outer folds:\n")
  print(shown_table(x$result$folds, columns), row.names = FALSE)
  remark("errors: ", measure_label(x$result))
  print_meaning(meaning, names(x$result$folds), x$result$problem)
  invisible(x)
}

# The errors of the chosen models, to three significant digits of the largest, and what each is.
error_lines <- function(x) {
  what <- error_meanings(x)
  what <- what[names(what) %in% names(x$folds)]
  mean <- colMeans(x$folds[names(what)])
  se <- vapply(x$folds[names(what)], standard_error, 0)
  mean["test"] <- x$estimate[["mean"]]
  se["test"] <- x$estimate[["se"]]
  digits <- if (isTRUE(max(mean) > 0)) max(0, 2 - floor(log10(max(mean)))) else 3
  plain <- function(value) formatC(value, digits = digits, format = "f")
  paste0(format(plain(mean), justify = "right"), " (se ", plain(se), ")   ", what)
}

# what the errors of a cross-validation are, by the names of the columns that hold them
error_meanings <- function(x) {
  c(
    test = "outer folds: the honest estimate",
    cv = "the method's own cross-validation of the whole search",
    inner = paste0("the method's own criterion (", x$inner, "), optimistic"),
    random = "as many random features",
    majority = paste0("null model, ", if (x$measure %in% c("brier", "logloss"))
      "shares of the classes" else majority_words(x$problem$task))
  )
}

measure_label <- function(x) {
  switch(x$measure,
    error = "error rate (share of rows)",
    squared = paste(criteria$squared$words, squared_scale(x$problem)),
    x$words
  )
}

majority_words <- function(task) {
  if (task == "regression") "mean of the response" else "majority class"
}
