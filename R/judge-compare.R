#' Compare methods on random splits or on outer folds
#'
#' Splits the rows at random, or into outer folds, runs every method on the training part of each
#' split, and compares the models on the test part: their error, whether differences are more than
#' chance, and the size, stability and time of each method.
#'
#' In each split centre and scale of the columns are estimated on the training rows alone, and the
#' shares of the classes are the same in both parts. Every method chooses its own size (or lambda)
#' on the training rows. With `k`, models of size `k`, or the largest smaller size, are compared
#' instead, each with its own `lambda`. A fit without sizes is compared by its chosen model. If a
#' method returns column numbers, the model is least squares on these columns and the covariates.
#'
#' **R-squared**, the default for a numeric response, is for rows \eqn{j} of a part, case weights
#' \eqn{w} and predictions \eqn{\hat y} \deqn{R^2 = 1 - \sum_j w_j \| y_j - \hat y_j \|^2 / \sum_j
#' w_j \| y_j - \hat y_j^0 \|^2,}{ R^2 = 1 - sum_j w_j ||y_j - yhat_j||^2 / sum_j w_j ||y_j -
#' yhat0_j||^2,} where \eqn{\hat y^0}{yhat0} is the prediction of the covariates alone, fitted to
#' the training rows: with an intercept only, the training mean. A model that predicts no better has
#' a test \eqn{R^2} of 0. Classes are coded -1 and 1.
#'
#' **Differences.** All methods are compared with the first one, split by split on the same splits.
#' Splits share rows, and a paired t-test that treats them as independent finds far too many
#' differences. The standard errors are therefore computed as in Nadeau and Bengio (2003): with J
#' splits of \eqn{n_1} training and \eqn{n_2} test rows and the variance \eqn{s^2} over splits,
#' \deqn{\sqrt{(1 / J + n_2 / n_1) \, s^2},}{sqrt((1 / J + n_2 / n_1) s^2),} and p-values by a t
#' distribution with J - 1 degrees of freedom. In simulations of two equally good methods with ten
#' splits the p-values were below 0.05 in 6 % of the data sets, p-values of the paired t-test in 23
#' %. The p-values are not adjusted for several comparisons.
#'
#' **On outer folds.** With `outer = 10` each row is tested once, as in [cross_validate()], and the
#' standard errors and intervals of errors and differences are the ones of [error_intervals]: over
#' the rows held out, and over the folds by the errors without each fold. `interval = "pairs"`
#' measures them also for methods whose fits hold nothing out, such as functions of your own, by
#' \eqn{K(K - 1)/2} more fits of every method. Otherwise the interval of a difference from such a
#' method is by the corrected standard error over folds and may be too narrow, which `print()`
#' says. R-squared is for random splits.
#'
#' **By group.** Where each outer fold is one group of rows, such as a study (with `groups` and
#' `outer = "loo"`), `print()` has the error of every method and the null model in every group.
#'
#' **Several losses.** Each method predicts by its own loss, and the measure must be the same number
#' for all. Classes have the error rate, the log loss and the Brier score, also ordered classes by
#' any link beside squares or a softmax. Times have the concordance. Counts have R-squared and,
#' where all losses are of counts, the deviance by the Poisson loss. Squares have no deviance.
#'
#' **Quick by default.** The methods compared by default are [greedy_rls()], [l1_path()],
#' [forward_regression()], [omp()], [foba()], [rfe()] and [poss()]. Without `k` all choose their
#' size by cross-validation with five folds instead of ten, `rfe()` drops a tenth of the columns in
#' each round, and `poss()` makes a single search of a hundred thousand iterations.
#'
#' `k = 8`, `splits = 100`, `test = 0.5` and `measure = "r_squared"` repeat the experiment of Qian,
#' Yu and Zhou (2015), but for variables that they normalise on all rows.
#'
#' The splits run on a future plan and can be interrupted, see [parallel_runs].
#'
#' @param x,y,data The data, in any form of [as_problem()]: a matrix and its response, a formula and
#'   data, an experiment of Bioconductor and the name of its response, or an earlier problem, after
#'   which `methods` may follow at once. For `plot()`, `x` is the result of `compare_methods()`.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`. Any other name is an error.
#'   For `plot()`, graphical parameters, such as `xlim`, the range of the measure.
#' @param methods A list of methods, each with a name of its own: a function of the package such as
#'   `greedy_rls`; a list of such a function and arguments for it, `list(poss, restarts = 3)`; or
#'   your own `function(problem, k)` or `function(problem)` of the problem of the training rows. It
#'   returns a fit of this package, any object for which `predict(object, x)` gives a value or class
#'   for each row of a matrix `x`, or column numbers, at most `k` if that is given. Functions of the
#'   package need no name. `NULL` for the default ones, see Details.
#' @param k `NULL`, or the size of the models compared, at most the smaller of the usable columns
#'   and the training rows less the covariates less one. Methods with an argument `k` are
#'   called with it, and those that would choose their size by cross-validation with
#'   `size = "criterion"`, unless their own arguments say otherwise.
#' @param splits Number of random splits into a training and a test part.
#' @param test Share of the rows in the test part, above 0 and below 1; it is rounded to whole rows
#'   and each part has two of them at least.
#' @param outer `NULL` for random splits, or outer folds as in [cross_validate()], such as 10.
#' @param interval With `outer`: `"folds"` or `"pairs"`, as in [cross_validate()].
#' @param level The confidence level of the intervals.
#' @param measure `"r_squared"` or one of the measures of [cross_validate()], such as `"error"` and
#'   `"auc"`; `NULL`: `"error"` for classes, `"concordance"` for censored times and rankings, else
#'   `"r_squared"`, or with `outer` `"squared"`.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the splits, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `method_comparison`, a list:
#' * `table`: data frame, a row for each method: `method`; `test`, the mean of the measure over the
#'   test parts, and `se`, its standard error; `training`, the mean over the training parts;
#'   `difference`, `test` minus the value of the first method, `se_difference`, the ends of its
#'   interval, `lower` and `upper`, and `p`; `measured`, how the standard error of the difference
#'   was measured: by `"splits"`, or with `outer` by `"folds"`, `"pairs"` or `"rows"`; `win`, `tie`
#'   and `loss`, the number of splits in which the method is better than, equal to (up to 1e-9) and
#'   worse than the first one; `size`, the mean number of columns; `stability` of the columns
#'   chosen, see [stability()]; `seconds` a fit takes, on average. A value that does not exist is
#'   `NA`: p if differences do not vary, the size of a fit that selects no columns.
#' * `folds`: with `outer` a data frame, a row for each method and outer fold: `method`,
#'   `repetition`, `fold`, `group`, where each fold is a group of rows, `rows` (held out), `test`
#'   with its interval over these rows, `lower` and `upper`, and `majority`, the error of the null
#'   model.
#' * `scores`: array splits x methods x 2 (training, test) of the measure.
#' * `chosen`: list matrix splits x methods of column numbers, such as `chosen[[3, "omp"]]`; `NULL`
#'   for a fit that chooses no columns.
#' * `seconds`: matrix splits x methods.
#' * `training_rows`, `test_rows`: lists with the rows of each split.
#' * `k`, `quick` (whether the methods are the default ones), `outer` (the outer folds in words),
#'   `level`, `measure`, `words` (what it is called), `higher` (whether more is better), `call`,
#'   `status` (`"complete"` or `"interrupted"`), `problem` (without its x).
#'
#' `plot()` draws a box for each method and part over the splits, and beside it the differences from
#' the first method with their intervals, and returns invisibly the data frame of the boxes:
#' `split`, `method` and `part` (factors), `score`. With `what = "folds"` it draws `folds`: where
#' folds are groups of rows, a forest plot.
#'
#' @section Cost: `splits` times the cost of all methods. Each worker requires memory for one
#' training part and for the methods. In an interactive session a time of more than ten seconds is
#' estimated after the first split, and printed.
#'
#' @section Errors: `sparsels_error_input` for bad arguments and for a method that returns something
#' else. An error inside a method keeps its class and says in which split it was.
#'
#' @references Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine
#' Learning 52, 239-281. \doi{10.1023/A:1024068626366}
#'
#' Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization. Advances in Neural
#' Information Processing Systems 28, 1774-1782.
#'
#' @seealso [cross_validate()], which estimates the error of one method at every size; [judge()],
#'   which asks further questions of one method
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60)
#' y <- x[, 3] - x[, 8] + x[, 11] / 2 + rnorm(60)
#' methods <- list(greedy = greedy_rls, lasso = list(l1_path, folds = 5))
#' methods$correlated <- function(problem) {
#'   order(-abs(cor(problem$x, problem$rows$y)))[1:3]
#' }
#' compared <- compare_methods(x, y, methods, splits = 3)
#' compared
#' plot(compared)
#' @srrstats {ML3.2} one problem, many fitters: `compare_methods()`
#' @export
compare_methods <- function(x, y = NULL, methods = NULL, ..., data = NULL, k = NULL, splits = 10,
                            test = 0.2, outer = NULL, interval = c("folds", "pairs"),
                            level = 0.95, measure = NULL, progress = interactive(),
                            BPPARAM = NULL) {
  if (is.null(methods) && (is.function(y) || is.list(y) && any(vapply(y, is_method_entry, NA)))) {
    methods <- y
    y <- NULL
  }
  # the first loss that a method is given
  given <- if (is.list(methods)) lapply(Filter(is.list, methods), `[[`, "loss")
  loss <- Find(Negate(is.null), given)
  problem <- for_loss(loss, fitter_problem("compare_methods", x, y, ..., data = data))
  check_flag(progress, "progress")
  check_bpparam(BPPARAM)
  check_level(level)
  interval <- choice_or_first(interval, "interval", c("folds", "pairs"))
  splits <- check_repeats(splits, "splits")
  if (is.null(outer)) {
    stop_argument_if(interval == "pairs", "`interval = \"pairs\"` needs outer folds: give `outer`")
    if (is.null(measure) && measure_of(problem) == "squared") measure <- "r_squared"
  } else {
    given <- intersect(c("splits", "test"), names(match.call()))
    stop_argument_if(length(given), "`%s` is for random splits: leave out `outer`", given[1L])
    stop_argument_if(identical(measure, "r_squared"),
                     "`measure = \"r_squared\"` is for random splits: with `outer` give %s",
                     "\"squared\"")
  }
  own <- if (is.null(methods)) stated_by_properties(problem, "compared")
  quick <- is.null(methods) && is.null(own)
  if (quick) methods <- quick_methods(k)
  methods <- as_methods(if (is.null(own)) methods else mget(own, inherits = TRUE))
  loss <- common_loss(methods, problem, measure)
  problem <- as_ordered(problem, loss)
  if (is.null(measure)) measure <- measure_of(problem, loss)
  problem <- with_groups_of_folds(problem, unlist(unname(methods), recursive = FALSE))
  if (is.null(outer)) {
    plan <- resampling_plan(problem, test, method_units(problem, methods))
  } else {
    problem <- with_groups_of_folds(problem, list(outer))
    plan <- outer_plan(problem, outer, method_units(problem, methods), interval)
  }
  bound <- subset_bound(problem, plan$largest)
  if (!is.null(k)) k <- check_largest(k, bound$upper, bound$what)
  runs <- Map(comparison_run, methods, names(methods),
              MoreArgs = list(problem = problem, k = k, measure = measure))
  measure <- runs[[1L]]$measure
  words <- unique(vapply(runs, function(run) run$measure$words, ""))
  stop_argument_if(length(words) > 1L, "`measure = \"%s\"` is another number for each loss: %s",
                   measure$name, some_of(words))
  found <- if (is.null(outer)) {
    scored <- train_on_splits(problem, plan, splits, "split", function(trained, rows) {
      score_methods(runs, list(training = sort(trained), test = rows), k)
    }, progress, BPPARAM)
    list(scored = scored, compared = compared_scores(scores_of_splits(scored), plan$ratio, level))
  } else {
    check_comparable(problem, plan$parts$rows, measure$name)
    splits <- nrow(plan$parts)
    compare_on_folds(runs, plan, measure, k, interval, level, progress, BPPARAM)
  }
  new_comparison(found, problem, measure, k, splits, quick, level, short_call(match.call()),
                 plan$label)
}

# The groups of rows that random splits keep whole: groups and queries of the problem, or otherwise
# the rows that the folds of a method keep together.
method_units <- function(problem, methods) {
  if (!is.null(whole_units(problem))) return(whole_units(problem))
  given <- unlist(lapply(unname(methods), `[`, c("folds", "size_folds")), recursive = FALSE)
  given <- Filter(function(folds) !is.null(folds) && is_by_row(folds), given)
  Find(Negate(is.null), lapply(given, function(folds) kept_together(as_folds(folds, problem))))
}

# The methods compared by default, with arguments that make them quick.
quick_methods <- function(k) {
  sizing <- if (is.null(k)) list(size = "cv", size_folds = 5)
  list(
    greedy_rls = c(list(greedy_rls), sizing),
    l1_path = c(list(l1_path), if (is.null(k)) list(folds = 5)),
    forward_regression = c(list(forward_regression), sizing), omp = c(list(omp), sizing),
    foba = c(list(foba), sizing), rfe = c(list(rfe, step = 0.1), sizing),
    poss = c(list(poss, restarts = 1, iterations = 1e5), sizing)
  )
}

# Arguments ---------------------------------------------------------------------------------------

# The first of the losses of all methods where all are likelihoods of the same kind of response,
# otherwise "squared".
common_loss <- function(methods, problem, measure) {
  losses <- unique(vapply(methods, function(one) {
    run_loss(list(method = one[[1L]], arguments = one[-1L], problem = problem))
  }, ""))
  kinds <- unique(lapply(losses, function(loss) loss_record(loss)$needs))
  if (length(kinds) == 1L && is_likelihood(losses[1L])) return(losses[1L])
  stop_argument_if(length(losses) > 1L && identical(measure, "deviance"),
                   "`measure = \"deviance\"` compares losses of one kind of response, not %s: %s",
                   some_of(losses, Inf, "\""), if (has_classes(problem)) "give \"logloss\"" else
                     "leave `measure` out")
  "squared"
}

# Whether a value is a function, or a list of a function and its arguments.
is_method_entry <- function(value) {
  is.function(value) || is.list(value) && length(value) > 0L && is.function(value[[1L]])
}

# The methods by name, each a list of a function and its arguments.
as_methods <- function(methods) {
  must <- "a list of functions, or of lists of a function and its arguments"
  refuse_unless(is.list(methods) && !is.object(methods), "methods", must, methods)
  stop_input_if(!length(methods), "`methods` must be %s, not empty", must)
  valid <- vapply(methods, is_method_entry, NA)
  if (!all(valid)) {
    first <- which(!valid)[1L]
    stop_argument("`methods` must be %s, but element %d is %s", must, first,
                  describe(methods[[first]]))
  }
  bare <- vapply(methods, is.function, NA)
  methods[bare] <- lapply(methods[bare], list)
  names <- names(methods)
  if (is.null(names)) names <- character(length(methods))
  nameless <- names %in% c("", NA)
  names[nameless] <- vapply(methods[nameless], function(one) as.character(own_name(one[[1L]])), "")
  stop_argument_if("a function" %in% names || anyDuplicated(names),
                   "`methods` must have a name for each method, and no name twice")
  stats::setNames(methods, names)
}

# A method with its arguments and the measure, of the response as its loss takes it. With k, the
# method fits models up to that size and does not choose among them.
comparison_run <- function(method, name, problem, k, measure) {
  arguments <- method[-1L]
  method <- method[[1L]]
  in_context(sprintf("method '%s'", name), {
    check_method(method)
    do.call(check_method_dots, c(list(quote(method)), quoted(arguments), list(known = "k")))
  })
  takes <- names(formals(args(method)))
  open <- "..." %in% takes && !identical(environment(method), topenv())
  needs <- "k" %in% takes && identical(as.character(formals(method)$k), "")
  stop_argument_if(is.null(k) && needs && is.null(arguments$k),
                   "`k` must be given: method '%s' needs it", name)
  wanted <- if (!is.null(k)) {
    c(if ("k" %in% takes || open) list(k = k),
      if ("size_folds" %in% takes) list(size = "criterion"))
  }
  run <- choosing_run(with_defaults(new_run(method, problem, arguments, name), wanted))
  run$measure <- if (identical(measure, "r_squared"))
    list(name = "r_squared", higher = TRUE, words = r_squared_words(run$problem)) else
      one_measure(measure, run$problem, run_loss(run))
  run
}

# Outer folds -------------------------------------------------------------------------------------

# The outer folds and the largest number of rows that every training part has.
outer_plan <- function(problem, outer, units, interval) {
  outer <- at_most_rows(outer, problem)
  plan <- in_context("outer folds", outer_parts(problem, outer, 1, units))
  stop_argument_if(is.null(plan$folds),
                   "`outer` must be folds, which hold every row out once, not %s", plan$label)
  if (interval == "pairs") check_pairs(plan$parts)
  plan$largest <- trained_rows(problem) - max(lengths(with_weight(plan$parts$rows, problem)))
  plan
}

# The methods on outer folds: `scored` as train_on_splits() has it, and `compared`, the table of
# their errors and differences.
compare_on_folds <- function(runs, plan, measure, k, interval, level, progress, BPPARAM) {
  problem <- runs[[1L]]$problem
  run_of <- lapply(runs, run_without, plan$folds)
  held <- outer_held_out(plan$parts, function(part) {
    of_part <- lapply(run_of, function(run) run(part))
    score_methods(of_part, list(training = part$trained, test = part$rows), k, TRUE)
  }, progress, BPPARAM)
  of_methods <- lapply(stats::setNames(nm = names(runs)), function(name) {
    own <- replace(held, "each", list(lapply(held$each, `[[`, name)))
    if (interval == "folds") return(own)
    in_context(sprintf("method '%s'", name), with_pairs(
      own, run_of[[name]], list(runs[[name]]$measure), progress, BPPARAM,
      function(part, rows) list(test = compared_model(part, k)$score[rows, , , drop = FALSE])
    ))
  })
  unit <- row_units(problem, plan$folds)
  rows <- lapply(held$parts[c("trained", "rows")], with_weight, problem)
  scored <- lapply(seq_along(held$each), function(i) {
    list(trained = rows$trained[[i]], rows = rows$rows[[i]], result = held$each[[i]])
  })
  # a row for every method and outer fold: the error with its interval, and the null model's
  folds <- lapply(names(of_methods), function(name) {
    cbind(method = factor(name, names(of_methods)),
          fold_table(of_methods[[name]], problem, measure, 1L, level))
  })
  list(scored = scored, compared = compared_folds(of_methods, problem, measure, unit, level),
       folds = do.call(rbind, folds))
}

# The errors of all methods over outer folds, and their differences from the first method.
compared_folds <- function(of_methods, problem, measure, unit, level) {
  se_of <- function(held, of) se_of_parts(of, held, measure, problem, unit)
  of <- lapply(of_methods, of_folds, 1L, "test")
  mean_of <- function(sums) mean_of_sums(Reduce(`+`, sums))
  rows <- Map(function(held, one) {
    less <- difference_of(one, of[[1L]])
    difference <- mean_of(less$sums)
    found <- se_of(held, less)
    ends <- interval_of(list(name = "difference"), difference, found, level, abs(mean_of(one$sums)))
    p <- 2 * stats::pt(-abs(difference) / found$se, found$df)
    data.frame(test = mean_of(one$sums), se = se_of(held, one)$se, difference = difference,
               se_difference = found$se, lower = ends[1L], upper = ends[2L],
               p = if (is.na(ends[1L])) NA_real_ else p, measured = found$measured)
  }, of_methods, of)
  do.call(rbind, rows)
}

# One split ---------------------------------------------------------------------------------------

score_methods <- function(runs, parts, k, on_folds = FALSE) {
  lapply(runs, function(run) {
    in_context(sprintf("method '%s'", run$name), score_method(run, parts, k, on_folds))
  })
}

# The columns of the model, the measure on both parts of a split, and the time of the fit. On folds
# also the shares and sums of the test part and the inner_errors(), as score_fold() has them, for
# the only measure and model.
score_method <- function(run, parts, k, on_folds = FALSE) {
  measure <- run$measure
  start <- proc.time()[["elapsed"]]
  part <- fit_rows(run, parts$training)
  seconds <- proc.time()[["elapsed"]] - start
  found <- compared_model(part, k)
  scores <- vapply(parts, function(rows) {
    scores_of <- function(rows) {
      c(list(found$score[rows, , , drop = FALSE]),
        if (measure$name == "r_squared") list(null_scores(part, rows)))
    }
    measured(measure, scores_of, part, run$problem, rows)[[1L]]
  }, 0)
  result <- list(features = found$features, scores = scores, seconds = seconds)
  if (!on_folds) return(result)
  both <- function(rows) scores_beside_null(part, rows, found$score[rows, , , drop = FALSE])
  shares <- row_shares(scored_rows(run$problem, parts$test), measure_for(measure, part$fit),
                       layer(found$score[parts$test, , , drop = FALSE], 1L))
  c(result, list(
    shares = list(list(test = shares)), chosen = 1L,
    sums = list(sums_of_part(measure, part, run$problem, parts$test, both)),
    theta = if (is.null(k)) inner_errors(list(measure), part$fit, part$train)
  ))
}

# The columns and the scores of all rows, for the model of size k or the largest model below k.
# Without k, or if the models of a fit have no size, for the model that the fit chose.
compared_model <- function(part, k) {
  fit <- part$fit
  every <- seq_len(nrow(part$problem))
  if (is.numeric(fit)) {
    most <- if (is.null(k)) ncol(part$train) else k
    valid <- length(fit) <= most && all(fit %in% seq_len(ncol(part$train))) && !anyDuplicated(fit)
    stop_input_if(!valid,
                  "a method must return a fit or at most %d different column numbers, not %s",
                  most, describe(fit))
    model <- least_squares(part$train, as.integer(fit))
    return(list(features = model$features, score = model_scores(list(model), part$problem, every)))
  }
  path <- path_scores(fit, part$problem, every)
  if (is.null(k) || path$key != "size") {
    return(list(features = chosen_labels(fit), score = path$scores[, , path$chosen, drop = FALSE]))
  }
  place <- which(path$values <= k)
  stop_input_if(!length(place), "the fit has no model of at most %d terms", k)
  list(features = chosen_labels(fit, path$values[max(place)]),
       score = path$scores[, , max(place), drop = FALSE])
}

# Columns that cannot be used or depend on others have the coefficient 0.
least_squares <- function(problem, columns) {
  work <- working(problem)
  used <- columns[problem$columns$usable[columns]]
  beta <- matrix(0, length(columns), ncol(work$y))
  if (length(used)) {
    decomposed <- qr(working_matrix(problem, used, work$q), tol = sqrt(dependent))
    beta[columns %in% used, ] <- qr.coef(decomposed, work$y)
    beta[is.na(beta)] <- 0
  }
  user_coefficients(problem, list(list(features = columns, beta = beta, row = 1L)))[[1L]]
}

# The result --------------------------------------------------------------------------------------

# `found` is the value of compare_on_folds(), or on random splits its `scored` and `compared`.
# `outer` describes the outer folds in words.
new_comparison <- function(found, problem, measure, k, wanted, quick, level, call, outer) {
  scored <- found$scored
  of_splits <- lapply(scored, `[[`, "result")
  methods <- names(of_splits[[1L]])
  scores <- scores_of_splits(scored)
  seconds <- t(vapply(of_splits, vapply, numeric(length(methods)), `[[`, 0, "seconds"))
  seconds <- matrix(seconds, ncol = length(methods), dimnames = list(NULL, methods))
  chosen <- do.call(rbind, lapply(of_splits, lapply, `[[`, "features"))
  of_sets <- function(value) {
    apply(chosen, 2L, function(sets) if (any(vapply(sets, is.null, NA))) NA_real_ else value(sets))
  }
  gain <- test_differences(scores)$difference * if (measure$higher) 1 else -1
  table <- data.frame(
    method = methods, found$compared[c("test", "se")],
    training = colMeans(matrix(scores[, , "training"], nrow(scores)), na.rm = TRUE),
    found$compared[c("difference", "se_difference", "lower", "upper", "p", "measured")],
    win = colSums(gain > 0), tie = colSums(gain == 0), loss = colSums(gain < 0),
    size = of_sets(function(sets) mean(lengths(sets))), stability = of_sets(function(sets) {
      if (length(sets) < 2L) NA_real_ else stability(sets, count_offered(problem, sources_of))
    }),
    seconds = colMeans(seconds), row.names = NULL
  )
  new_result("method_comparison", list(
    table = table, folds = found$folds, scores = scores, chosen = chosen, seconds = seconds,
    training_rows = lapply(scored, function(one) sort(one$trained)),
    test_rows = lapply(scored, `[[`, "rows"), k = k, quick = quick, outer = outer, level = level,
    measure = measure$name, words = measure$words, higher = measure$higher
  ), problem, call, length(scored) == wanted)
}

# The measure of all methods on both parts of all splits, splits x methods x 2.
scores_of_splits <- function(scored) {
  of_splits <- lapply(scored, `[[`, "result")
  both <- function(split) vapply(split, `[[`, c(training = 0, test = 0), "scores")
  methods <- names(of_splits[[1L]])
  scores <- aperm(vapply(of_splits, both, matrix(0, 2L, length(methods))), 3:1)
  dimnames(scores) <- list(NULL, methods, c("training", "test"))
  scores
}

# The test scores of splits (splits x methods) less the scores of the first method. A split in which
# a measure has no value does not count.
test_differences <- function(scores) {
  test <- matrix(scores[, , "test"], nrow(scores))
  counted <- stats::complete.cases(test)
  check_any_scored(counted)
  test <- test[counted, , drop = FALSE]
  difference <- test - test[, 1L]
  difference[abs(difference) <= 1e-9 * pmax(abs(test), abs(test[, 1L]))] <- 0
  list(test = test, difference = difference)
}

# Means over random splits, and the comparison with the first method.
compared_scores <- function(scores, ratio, level = 0.95) {
  found <- test_differences(scores)
  mean <- colMeans(found$difference)
  se <- apply(found$difference, 2L, corrected_se, ratio)
  degrees <- nrow(found$test) - 1
  half <- if (degrees > 0) stats::qt((1 + level) / 2, degrees) * se else NA_real_ * se
  p <- 2 * stats::pt(-abs(mean) / se, degrees)
  data.frame(test = colMeans(found$test), se = apply(found$test, 2L, corrected_se, ratio),
             difference = mean, se_difference = se, lower = mean - half, upper = mean + half,
             p = ifelse(is.na(se) | se == 0, NA_real_, p), measured = "splits")
}

# Methods -----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.method_comparison <- function(x, ...) {
  what <- if (is.null(x$outer)) "random split" else "outer fold"
  say(sprintf("%s compared on %s (%s to train on, %s to test), %s",
              counted(nrow(x$table), "method"), counted(nrow(x$scores), what),
              counted_range(range(lengths(x$training_rows)), "row"),
              counted_range(range(lengths(x$test_rows)), "row"),
              if (is.null(x$k)) "each at the size it chose" else
                paste("by models of", counted(x$k, "feature"))))
  if (x$quick) {
    remark("for speed, ", if (is.null(x$k)) "sizes are chosen by five folds, ", "rfe drops a ",
           "tenth of the columns a round, and poss makes a single search of 100,000 iterations")
  }
  print_data(x$problem)
  say(measure_label(x), " on the test rows:")
  unscored <- sum(apply(is.na(x$scores[, , "test", drop = FALSE]), 1L, any))
  print_unscored(unscored, nrow(x$scores), if (is.null(x$outer)) "split" else "fold", x$measure)
  print(test_words(x$table, x$level), row.names = FALSE)
  print_groups(x)
  narrow <- x$table$method[-1L][x$table$measured[-1L] == "rows"]
  if (length(narrow)) {
    one <- length(narrow) == 1L
    remark(narrow_words(paste(if (one) "interval of" else "intervals of", some_of(narrow))))
  }
  say("the models:")
  text <- x$table[c("method", "training", "size", "stability", "seconds")]
  text$training <- compared_errors(text$training, x$table$test)
  digits <- c(size = 1L, stability = 2L, seconds = 3L)
  text[names(digits)] <- Map(formatC, text[names(digits)], digits = digits, format = "f")
  text[-1L] <- lapply(text[-1L], function(column) sub("NA|NaN", "", column))
  print(text, row.names = FALSE)
  print_interrupted(x$status, if (is.null(x$outer)) "splits" else "outer folds")
}

# Errors with at least three decimals where the `test` errors of the methods are below 1000.
compared_errors <- function(value, test) {
  largest <- max(abs(test), 0, na.rm = TRUE)
  with_decimals(value, if (largest < 1000) max(3, decimals_of(largest)) else 0, largest)
}

# The errors and differences of a comparison. On outer folds there is an interval in place of the
# standard error of a difference.
test_words <- function(table, level) {
  columns <- c("test", "se", "difference", "se_difference")
  text <- table[c("method", columns, "p", "win", "tie", "loss")]
  text[columns] <- lapply(text[columns], compared_errors, table$test)
  text$p <- ifelse(is.na(text$p), "", format.pval(text$p, digits = 2L, eps = 1e-4))
  on_folds <- table$measured[1L] != "splits"
  if (on_folds) {
    text$se_difference <- ifelse(is.na(table$lower), "",
                                 paste(compared_errors(table$lower, table$test), "to",
                                       compared_errors(table$upper, table$test)))
  }
  text[1L, c("difference", "se_difference", "win", "tie", "loss")] <- ""
  spread <- if (on_folds) interval_words(level) else "se"
  stats::setNames(text, c("method", "test", "se", "difference", spread, names(text)[6:9]))
}

# The error of each method in each group, if groups are held out one at a time, at most `n` of them.
print_groups <- function(x, n = 20L) {
  folds <- folds_of_groups(x$folds)
  if (is.null(folds)) return(invisible())
  each <- split(folds, folds$method)
  text <- c(each[[1L]][c("group", "rows")], null = list(each[[1L]]$majority),
            lapply(each, `[[`, "test"))
  text[-(1:2)] <- lapply(text[-(1:2)], compared_errors, folds$test)
  say("in each group, held out whole:")
  print(utils::head(list2DF(text), n), row.names = FALSE)
  print_more(nrow(each[[1L]]) - n, "group", "$folds")
  worst <- do.call(rbind, lapply(each, worst_group, x = x))
  remark("worst, relative to the null model: ",
         paste0(worst$method, " in '", worst$group, "', ", shown(worst$test),
                vapply(split(worst, worst$method), ends_words, "", x$level), collapse = "; "))
}

# Beside the scores are the differences from the first method with their intervals.
#' @exportS3Method
record.method_comparison <- function(x) {
  best <- x$table[if (x$higher) which.max(x$table$test) else which.min(x$table$test), ]
  list(rows = x$table,
       row = data.frame(methods = nrow(x$table), best = best$method, measure = x$measure,
                        estimate = best$test, std.error = best$se, splits = nrow(x$scores)),
       meaning = c(
         paste("difference = from", x$table$method[1L], "where", if (x$higher) "above 0" else
           "below 0", "is better; se = standard errors of test and of the difference, corrected",
           "for the rows that training parts share; p = t-test of the difference;",
           "win, tie, loss =", if (is.null(x$outer)) "splits" else "folds",
           "in which the method is better, equal, worse"),
         paste("training =", x$words, "on the training rows; size = mean number of columns;",
               "stability = how alike the columns of different splits are, at most 1;",
               "seconds = time of a fit")
       ))
}

#' @exportS3Method
picture.method_comparison <- function(x, ..., what = "splits") {
  check_choice(what, "what", c("splits", "folds"))
  title <- sprintf("%s: %s, %s", x$problem$coding$response,
                   counted(nrow(x$scores), if (is.null(x$outer)) "random split" else "outer fold"),
                   if (is.null(x$k)) "each method's own size" else paste("models of size", x$k))
  if (what == "folds") {
    stop_argument_if(is.null(x$folds), "`what = \"folds\"` needs outer folds: give `outer`")
    return(fold_picture(x, title, ...))
  }
  names <- dimnames(x$scores)
  size <- dim(x$scores)
  data <- data.frame(
    split = rep(seq_len(size[1L]), size[2L] * size[3L]),
    method = factor(rep(rep(names[[2L]], each = size[1L]), size[3L]), names[[2L]]),
    part = factor(rep(names[[3L]], each = size[1L] * size[2L]), names[[3L]]),
    score = as.vector(x$scores)
  )
  # methods from top to bottom
  place <- rev(seq_len(size[2L]))
  boxes <- function(part, shift, colour) {
    rows <- data[data$part == part & !is.na(data$score), ]
    as_layer("boxes", rows$score, place[as.integer(rows$method)] + shift, col = colour,
             border = colour, label = part, main = TRUE)
  }
  axes <- list(y = ticks_of(rev(x$table$method)))
  height <- c(0.5, size[2L] + 0.5)
  scores <- new_picture(
    data, c(boxes("training", -0.17, "#0072B2"), boxes("test", 0.17, "#D55E00")),
    list(main = "", xlab = measure_label(x), ylab = "", ylim = height), list(...), axes
  )
  scores$settings$main <- ""
  table <- x$table[-1L, ]
  label <- paste("with", interval_words(x$level))
  from_first <- c(
    as_layer("points", table$difference, place[-1L], label = label),
    as_layer("segments", table$lower, place[-1L], x2 = table$upper, y2 = place[-1L], lwd = 2,
             label = label),
    as_layer("up", 0, lty = 3, col = "#555555")
  )
  differences <- new_picture(
    data, from_first,
    list(main = "", xlab = paste("difference from", x$table$method[1L]), ylab = "", ylim = height),
    axes = replace(axes, "y", list(ticks_at(NULL, NULL)))
  )
  if (!is.null(list(...)$main)) title <- list(...)$main
  panels <- c(list(scores), if (any(is.finite(x$table$p))) list(differences))
  names(panels) <- vapply(panels, function(panel) panel$settings$xlab, "")
  new_panels(data, panels, title, named = TRUE)
}

# Transfer ----------------------------------------------------------------------------------------

#' Train on these, test on those
#'
#' Runs the whole method on the rows of each group, such as the patients of a study or a hospital,
#' and tests its model on the rows of every other group. It shows which studies agree, which one
#' is unlike the others, and in which no model holds elsewhere.
#'
#' @inheritParams cross_validate
#' @param ... Arguments of `method` and of [as_problem()], among them `groups`, which are required:
#'   see [row_groups].
#' @param measure One measure of [cross_validate()]; `NULL` for its default.
#'
#' @details Within a group the rows count as single rows: the folds of the method do not keep
#' anything whole there. A group in which the method cannot be trained, such as a study of cases
#' only, is an error that names it: leave it out by `subset`.
#'
#' The error of a model in its own group is of rows held out, by the folds in which the method
#' repeats its choices. It is `NA` for a method without such folds.
#'
#' The deviance of events in another group is of its rows alone, per event, so that the models of
#' all training groups are compared on the same risk sets.
#'
#' The model of the training group is applied as it is: columns of another group that are shifted or
#' scaled otherwise, as by another laboratory, show as an error.
#'
#' @return An object of class `transfer`, a list:
#' * `error`: matrix of the measure, groups to train on (rows) x groups to test on.
#' * `null`: the same for the null model of the training group.
#' * `rows`: the number of rows of each group; `chosen`: the names of the columns that were chosen
#'   in each, `NULL` for a method that chooses none.
#' * `measure`, `words`, `higher` (whether more is better), `method`, `call`, `status`, `problem`
#'   (without its x).
#'
#' `plot()` draws the matrix, blue where the model is better than its null model and red where it is
#' worse, and returns the table of `tidy()`: a row for each pair with `trained_on`, `tested_on`,
#' `error`, `null` and `rows`.
#'
#' @section Cost: One fit of `method` for each group.
#' @section Errors: `sparsels_error_input` without two groups.
#' @seealso [cross_validate()] with `groups` and `outer = "loo"`, which trains on all other groups
#' @examples
#' set.seed(2)
#' study <- rep(c("north", "south", "west"), each = 40)
#' x <- matrix(rnorm(120 * 30), 120)
#' y <- x[, 3] - x[, 8] * (study != "west") + rnorm(120) / 2
#' moved <- transfer(x, y, greedy_rls, groups = study, progress = FALSE)
#' moved
#' plot(moved)
#' @export
transfer <- function(x, y = NULL, method = NULL, ..., data = NULL, measure = NULL,
                     progress = interactive(), BPPARAM = NULL) {
  run <- as_run(x, y, method, ..., data = data)
  trained <- trained_places(run$problem)
  group <- run$problem$rows$group
  rows <- if (!is.null(group)) split(trained, factor(group[trained]))
  stop_argument_if(length(rows) < 2L,
                   "transfer() needs rows in two groups or more: give `groups`, %s",
                   "such as the study of each row")
  run$problem$rows$group <- NULL
  measure <- measure_alone(one_measure(measure, run$problem, run_loss(run)), run$problem)
  call <- short_call(match.call())
  done <- repeat_tasks(length(rows), "group", function(i) transfer_from(run, rows, i, measure),
                       progress, BPPARAM, sprintf("'%s', to train on alone (%s)", names(rows),
                                                  vapply(lengths(rows), counted, "", "row")))
  names <- names(rows)
  trained <- names[seq_along(done)]
  of_row <- function(k) {
    errors <- vapply(done, function(one) one$errors[k, ], numeric(length(rows)))
    structure(t(errors), dimnames = list(trained, names))
  }
  new_result("transfer", list(
    error = of_row(1L), null = of_row(2L), rows = lengths(rows),
    chosen = stats::setNames(lapply(done, `[[`, "chosen"), trained),
    method = run$name, measure = measure$name, words = measure$words, higher = measure$higher
  ), run$problem, call, length(done) == length(rows))
}

# The errors of the fit to a group in every group, and of its null model: 2 x groups, with the
# features that the fit chose.
transfer_from <- function(run, rows, i, measure) {
  measures <- stats::setNames(list(measure), measure$name)
  run <- choosing_run(run, length(rows[[i]]))
  part <- fit_rows(run, rows[[i]])
  errors <- vapply(seq_along(rows), function(j) {
    if (j == i) {
      own <- inner_errors(measures, part$fit, part$train)
      return(if (is.null(own)) c(NA_real_, NA_real_) else own[, 1L])
    }
    sums <- pair_sums(judged_alone(part), measures, function(rows) scores_beside_null(part, rows),
                      run$problem, rows[[j]])[, , 1L]
    ifelse(sums[2L, ] > 0, sums[1L, ] / sums[2L, ], NA_real_)
  }, numeric(2L))
  list(errors = errors, chosen = chosen_names(part$fit))
}

#' @exportS3Method
print_result.transfer <- function(x, ...) {
  say(sprintf("%s trained on each of %s and tested on every other:", x$method,
              counted(length(x$rows), "group")))
  say(measure_label(x), ", trained on the group of the row, tested on the group of the column:")
  table <- shown(x$error)
  table[is.na(x$error)] <- ""
  print(noquote(cbind(table, rows = format(x$rows[rownames(table)]),
                      columns = format(lengths(x$chosen)))), right = TRUE)
  if (!all(is.na(diag(x$error)))) remark("in the same group: of rows held out")
  elsewhere <- row(x$error) != col(x$error) & !is.na(x$error)
  worse <- if (x$higher) x$error <= x$null else x$error >= x$null
  say(sprintf("in %d of %s on other groups the model is no better than its null model",
              sum(worse[elsewhere]), counted(sum(elsewhere), "test")))
  print_interrupted(x$status, "groups")
}

#' @exportS3Method
record.transfer <- function(x) {
  places <- expand.grid(trained_on = rownames(x$error), tested_on = colnames(x$error),
                        stringsAsFactors = FALSE)
  list(rows = data.frame(places, error = as.vector(x$error), null = as.vector(x$null),
                         rows = unname(x$rows[places$tested_on])),
       row = data.frame(method = x$method, measure = x$measure, groups = length(x$rows),
                        mean = mean(x$error[row(x$error) != col(x$error)], na.rm = TRUE)),
       meaning = "error = of the group trained on; null = of its null model")
}

#' @exportS3Method
picture.transfer <- function(x, ...) {
  data <- record(x)$rows
  # how much better than the null model, from -1 to 1
  gain <- (data$null - data$error) / pmax(abs(data$null), abs(data$error), 1e-300)
  if (x$higher) gain <- -gain
  gain[is.na(gain)] <- 0
  colour <- ifelse(is.na(data$error), "#DDDDDD",
                   blended(c("#D55E00", "white", "#0072B2"), (pmin(pmax(gain, -1), 1) + 1) / 2))
  column <- match(data$tested_on, colnames(x$error))
  row <- match(data$trained_on, rev(rownames(x$error)))
  tiles <- as_layer("rects", column - 0.5, row - 0.5, x2 = column + 0.5, y2 = row + 0.5,
                    col = colour,
                    text = ifelse(is.na(data$error), "", trimws(format(data$error, digits = 3L))))
  new_picture(data, tiles, list(main = paste0(x$words, ": trained on (row), tested on (column)"),
                                xlab = "", ylab = ""), list(...),
              axes = list(x = ticks_of(colnames(x$error)), y = ticks_of(rev(rownames(x$error)))))
}
