#' How far can a list of columns be trusted?
#'
#' Examines one method on one data set: how large is the error on new samples, is it better than
#' chance, would the same columns be selected again, what could replace them, would more samples
#' help, and are the numbers right? [report()] makes a page of the results.
#'
#' The parts are, in this order:
#' * **Error.** [cross_validate()] repeats the whole method without each of `outer` folds. The 95 %
#'   confidence interval is of the error of this fit on new rows, see [error_intervals], and
#'   so is the interval of the difference from the null model. Where each fold is a group of rows,
#'   the smallest and the largest error of a group follow, and the group in which the error is worst
#'   relative to the null model. All groups are in `$cross_validation$folds`.
#' * **Chance.** [permutation_test()] repeats the selection on `permutations` permuted responses.
#' * **Stability.** [stability_selection()] repeats the selection on both halves of `pairs` random
#'   splits, with the arguments of the method except `k` and `size`.
#' * **Substitutes.** [exchange()] computes the error without each selected column and with another
#'   column in its place. It uses the ridge parameter of the coefficients, or a quarter of the mean
#'   sum of squares of a column if they have none.
#' * **Proof.** [certify()] proves that no other set of this size has a smaller penalised or
#'   leave-one-out error at the lambda of the search, within `proof` nodes of its tree.
#' * **More samples.** [learning_curve()] repeats the method on fewer rows, `repeats` times. The
#'   curve is fitted to the honest error of the outer folds, too, so that both agree.
#' * **Numbers.** [verify()] recomputes a sample of the reported numbers independently, `claims` of
#'   them.
#'
#' A number of 0 skips a part. Parts that do not apply are skipped, and `print()` lists them: a fit
#' without features has no substitutes, and a kernel machine selects no columns. If a part ends with
#' an error, the other parts are kept, and a warning of class `sparsels_warning_part` names the
#' part.
#'
#' **Random numbers.** Every part has its own stream, which depends on `seed` alone: the same seed
#' gives the same result, whichever parts are skipped, and the state of R's generator does not
#' change. The parts run on a future plan, see [parallel_runs].
#'
#' **Interrupts.** Ctrl-C returns the parts done, with a warning of class `sparsels_interrupted`.
#'
#' @param x,y,data The data, in any form of [as_problem()]: a matrix and its response, a formula and
#'   data, an experiment of Bioconductor and the name of its response, or an earlier problem. Or `x`
#'   is a fit of this package, and `y`, `response` and `data` are its data, as [exchange()] takes
#'   them: the columns alone are enough. The method and its arguments are then taken from the call
#'   of the fit. For `print()` and `plot()`, `x` is the result.
#' @param response Where `x` is a fit: the response, if it is given again.
#' @param method A function such as [greedy_rls], the default.
#' @param ... Further arguments of the method, and of [as_problem()]: `r problem_dots()`. Must be
#'   empty where `x` is a fit, and for `print()` and `plot()`.
#' @param outer Number of outer folds, or folds as [make_folds()] takes them.
#' @param permutations,pairs,repeats Numbers of permutations, of random splits into halves, and of
#'   repeats of the learning curve.
#' @param keep Number of substitutes of each column.
#' @param proof Number of nodes of the tree of [certify()] for each error.
#' @param claims Number of reported numbers that are verified.
#' @param measure One or several measures of the error, as in [cross_validate()]. The learning curve
#'   has the first.
#' @param groups Where `x` is a fit: groups of rows of the problem `y`, see [row_groups]. `NULL`:
#'   the groups that the problem has. Otherwise `groups` is one of the arguments in `...`.
#' @param seed A whole number, or `NULL` for one that R's generator draws.
#' @param progress Logical: are progress bars shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the parts, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `judgement`, a list:
#' * `error`: data frame with a row for each measure: `measure`, `words` (what it is called),
#'   `estimate`, `lower`, `upper` (`NA` if Ctrl-C left one fold), its standard error `se`, and
#'   `null`, the error of the model without columns of `x` (the null model), with the `difference`
#'   from it, `difference_lower` and `difference_upper`; `NULL` if skipped.
#' * `features`: data frame, a row for each column that the fit has chosen, in its order: `feature`
#'   (number), `name`, `probability`, the share of the halves that selected it, `dropped`, the
#'   criterion without it relative to the criterion with it, `substitute`, the column that replaces
#'   it best, and `swapped`, the relative criterion then, `NA` if the part is skipped; `effect`, the
#'   coefficient times the standard deviation of the column, of classes positive towards the second;
#'   and for classes `mean.` and a class, the mean of the column in its rows. [Curves][curves] and
#'   pairs have no `effect`, and pairs no means.
#' * `fit`, and the results of the parts: `cross_validation`, `permutation`, `stability`,
#'   `exchange`, `proof` (without the data), `learning_curve`, `verification`, `NULL` where left
#'   out.
#' * `left_out`: named character, why a part was left out.
#' * `folds`: the outer folds, as [make_folds()] has them; `groups`, a number for each row, or
#'   `NULL`.
#' * `method`, `arguments` (of the method, in words), `seed`, `versions` (of R and sparsels),
#'   `problem` (without its x), `status` (`"complete"` or `"interrupted"`), `call`.
#'
#' `plot()` draws the pictures of the parts on one sheet, and returns `x` invisibly.
#'
#' @section Cost: About `outer + 1 + 6 * repeats` fits of the method with all its choices, and
#'   `permutations + 2 * pairs` searches, the latter on half of the rows.
#'
#' @section Errors: `sparsels_error_input` for bad arguments, for a method that fails on all rows,
#'   for a problem whose data differ from the data of the fit, and for a fit whose call has
#'   arguments that no longer exist or have changed value since.
#'
#' @seealso [report()], and the functions of the parts
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 50), 60, dimnames = list(NULL, paste0("gene", 1:50)))
#' y <- x[, 7] - x[, 30] + rnorm(60)
#' judged <- judge(x, y, k = 3, size_folds = 3, outer = 3, permutations = 9, pairs = 3,
#'                 repeats = 1)
#' judged
#' judged$permutation
#' @export
judge <- function(x, ...) {
  check_given(x, "x")
  UseMethod("judge")
}

#' @rdname judge
#' @export
judge.default <- function(x, y = NULL, method = NULL, ..., data = NULL, outer = 10,
                          permutations = 200, pairs = 50, repeats = 5, keep = 5, proof = 500,
                          claims = 20, measure = NULL, seed = NULL, progress = interactive(),
                          BPPARAM = NULL) {
  run <- choosing_run(as_run(x, y, method, ..., data = data, by_default = "greedy_rls"))
  settle_properties(run$problem, "judge")
  if (run$inherits) run$problem <- with_groups_of_folds(run$problem, list(outer))
  control <- judge_control(run, mget(unname(part_settings)), measure, seed, progress, BPPARAM)
  judge_run(run, NULL, control, judge_call(match.call()))
}

#' @rdname judge
#' @export
judge.sparsels_fit <- function(x, y = NULL, response = NULL, ..., data = NULL, outer = 10,
                               permutations = 200, pairs = 50, repeats = 5, keep = 5, proof = 500,
                               claims = 20, measure = NULL, groups = NULL, seed = NULL,
                               progress = interactive(), BPPARAM = NULL) {
  check_method_call(..., object = x, known = names(formals(judge.sparsels_fit)))
  if (is.null(y)) {
    y <- data
    data <- NULL
  }
  stop_argument_if(is.null(y),
                   "a fit is judged with its data, as exchange() takes them: judge(fit, x)")
  run <- run_of_fit(x, problem_in_order(x, y, response, data = data), parent.frame())
  if (!is.null(groups)) run$problem <- with_row_groups(run$problem, groups)
  control <- judge_control(run, mget(unname(part_settings)), measure, seed, progress, BPPARAM)
  judge_run(run, x, control, judge_call(match.call()))
}

# a call of the generic, not of its method
judge_call <- function(call) short_call(replace(call, 1L, list(quote(judge))))

# Arguments ---------------------------------------------------------------------------------------

# the names of the parts in sentences
part_words <- c(
  cross_validation = "the cross-validation", permutation = "the permutation test",
  stability = "the stability selection", exchange = "the substitutes",
  proof = "the proof", learning_curve = "the learning curve", verification = "the verification"
)

# the argument of each part: the outer folds, or a number of repetitions
part_settings <- c(cross_validation = "outer", exchange = "keep", permutation = "permutations",
                   stability = "pairs", learning_curve = "repeats", proof = "proof",
                   verification = "claims")

# The settings that the parts share, and the number of repetitions of each, 0 for none.
judge_control <- function(run, given, measure, seed, progress, BPPARAM) {
  measures <- as_measures(measure, run$problem, run_loss(run))
  seed <- if (is.null(seed)) sample.int(.Machine$integer.max, 1L) else
    check_count(seed, "seed", lower = 0L)
  streams <- with_stream(seed_stream(seed), task_streams(length(part_words) + 1L))
  names(streams) <- c(setdiff(names(part_words), "proof"), "folds", "fit")
  streams$proof <- fixed_stream # which draws nothing
  counts <- setdiff(part_settings, "outer")
  given[counts] <- Map(check_count, given[counts], counts, upper = 1e6, lower = 0L)
  given["outer"] <- list(with_stream(streams$folds, judge_folds(given$outer, run, measures)))
  if (is.null(measure)) measure <- measure_of(run$problem, run_loss(run))
  if (is.function(measure)) measure <- list(measure)
  c(given, list(measure = measure, groups = whole_units(run$problem), seed = seed,
                streams = streams, progress = check_flag(progress, "progress"),
                BPPARAM = check_bpparam(BPPARAM)))
}

judge_folds <- function(outer, run, measures) {
  units <- run_units(run)
  if (is_number(outer)) {
    if (outer == 0) return(NULL)
    most <- count_labels(if (is.null(units)) seq_len(nrow(run$problem)) else units, run$problem)
    outer <- min(check_count(outer, "outer", lower = 2L), most)
  }
  drawn <- is_number(outer) || identical(outer, "loo")
  likely <- if (drawn && is.null(whole_units(run$problem))) units
  folds <- in_context("`outer`", make_folds(run$problem, outer, groups = likely))
  if (!is.null(likely)) folds <- new_folds(folds$ids, label_as_given(folds$label), folds$groups)
  check_comparable(run$problem, held_out_rows(folds)$rows, vapply(measures, `[[`, "", "name"))
  folds
}

# The method and the arguments of the call that made a fit, evaluated where judge() was called.
run_of_fit <- function(fit, problem, envir) {
  stop_input_if(is.null(fit$call), "the fit does not hold the call that made it")
  known <- function(expression, what) {
    tryCatch(eval(expression, envir), error = function(e) {
      stop_argument("%s of the call that made the fit is not known any more: %s", what,
                    "give judge() the problem, the method and its arguments")
    })
  }
  method <- known(fit$call[[1L]], "the method")
  given <- as.list(fit$call)[-1L]
  own <- setdiff(names(formals(method)), c("x", "y", "data", "progress", "BPPARAM", "..."))
  given <- given[names(given) %in% own]
  arguments <- Map(known, given, sprintf("`%s`", names(given)))
  run <- new_run(method, problem, arguments, fit$method)
  check_same_settings(fit, run)
  run
}

# Names in the call of a fit may have changed value since. The fit is made again to compare its
# settings.
check_same_settings <- function(fit, run) {
  if (!identical(fit$status, "complete")) return(invisible())
  # the folds of the fit are used in place of folds that its call draws
  for (name in intersect(c("folds", "size_folds"), names(run$arguments))) {
    given <- run$arguments[[name]]
    drawn <- is_number(given) || inherits(given, "sparsels_folds") && is.call(fit$call[[name]]) &&
      identical(given$label, fit[[name]]$label)
    if (drawn && inherits(fit[[name]], "sparsels_folds")) run$arguments[[name]] <- fit[[name]]
  }
  again <- tryCatch(suppressWarnings(with_stream(fixed_stream, fit_run(run))),
                    sparsels_error = identity)
  settings <- function(one) {
    one$control[c("progress", "threads")] <- NULL
    unclass(one)[intersect(c("method", "lambda", "control", "folds", "size_folds"), names(one))]
  }
  if (inherits(again, "sparsels_fit") && isTRUE(all.equal(settings(again), settings(fit)))) {
    return(invisible())
  }
  stop_argument(paste("the call of the fit makes another one now, as names in it stand for",
                      "something else: give judge() the problem, the method and its arguments"))
}

# The parts ---------------------------------------------------------------------------------------

judge_run <- function(run, fit, control, call) {
  if (is.null(fit)) fit <- with_stream(control$streams$fit, fit_run(run))
  parts <- judge_parts(run, fit, control)
  done <- list()
  left_out <- character()
  interrupted <- FALSE
  for (name in names(parts)) {
    part <- if (interrupted) "interrupted" else parts[[name]]
    # Warnings of a choice at the end of the values tried are for the fit on all rows.
    if (is.function(part)) part <- until_stopped(
      with_stream(control$streams[[name]],
                  suppressWarnings(part(), c(own_warnings, "sparsels_interrupted"))),
      function(e) "interrupted",
      sparsels_error_method = conditionMessage,
      error = function(e) {
        warn_sparsels(sprintf("left out: %s, by an error: %s", part_words[[name]],
                              conditionMessage(e)), "sparsels_warning_part")
        conditionMessage(e)
      }
    )
    if (is.character(part)) left_out[name] <- part else done[[name]] <- part
    interrupted <- if (is.character(part)) part == "interrupted" else
      "interrupted" %in% c(part$status, attr(part, "set")$status)
  }
  if (interrupted && !length(done)) raise_interrupt()
  warn_if(interrupted, "sparsels_interrupted", "interrupted: the result has %s",
          counted(length(done), "part"))
  new_judgement(run, fit, done, left_out, control, interrupted, call)
}

# For each part a function that does it, or a text with the reason why it is left out.
judge_parts <- function(run, fit, control) {
  # One of the package's experiments with the method of the run. The call is removed, since it would
  # show no more than the method.
  experiment <- function(of, ..., arguments = run$arguments) {
    function() {
      result <- do.call(of, c(list(quote(run$problem), quote(run$method)), quoted(arguments),
                              list(..., progress = control$progress, BPPARAM = control$BPPARAM)))
      result$method <- run$name
      result["call"] <- list(NULL)
      seal(result)
    }
  }
  # groups that the user has switched off are not taken from folds either
  groups <- if (is.null(control$groups)) FALSE
  any_size <- run$arguments[setdiff(names(run$arguments), c("k", "size"))]
  parts <- list(
    # folds that the run draws are the outer folds here
    cross_validation = experiment(cross_validate, groups = groups, outer = control$outer,
                                  measure = control$measure,
                                  arguments = run$arguments[setdiff(names(run$arguments),
                                                                    run$inner)]),
    permutation = experiment(permutation_test, groups = groups,
                             permutations = control$permutations),
    stability = experiment(stability_selection, groups = groups, pairs = control$pairs,
                           arguments = any_size),
    # a fit without a ridge parameter has the one of the halves in stability_selection()
    exchange = function() {
      lambda <- if (!isTRUE(ridge_of(fit) > 0)) mean_square(run$problem) / 4
      exchange(fit, run$problem, keep = control$keep, progress = control$progress,
               lambda = lambda, BPPARAM = control$BPPARAM)
    },
    proof = function() {
      proof <- certify(fit, run$problem, nodes = control$proof, progress = control$progress)
      proof$problem <- without_x(proof$problem)
      seal(proof)
    },
    learning_curve = experiment(learning_curve, groups = groups, repeats = control$repeats,
                                measure = control$measure[[1L]]),
    verification = function() {
      verify(fit, run$problem, claims = control$claims, progress = control$progress)
    }
  )
  reasons <- reasons_against(run, fit, control)
  replace(parts, names(reasons), reasons)
}

# Why parts are left out, by their names.
reasons_against <- function(run, fit, control) {
  skipped <- vapply(control[part_settings], function(setting) {
    is.null(setting) || identical(setting, 0L)
  }, NA)
  unlearned <- vapply(properties_of(run$problem, "learning_curve"), `[[`, "", "words")
  unsuited <- c(
    if (!inherits(fit, "sparsels_fit")) c(verification = "the method is not one of the package"),
    if (length(unlearned)) c(learning_curve = sprintf("it does not support %s", unlearned[1L])),
    if (is.null(chosen_features(fit))) {
      c(permutation = "the method has no path of columns",
        stability = "the method selects no columns", exchange = "the method selects no columns",
        proof = "the method selects no columns")
    } else {
      takes <- names(formals(args(run$method)))
      none <- if (!length(chosen_features(fit))) "the fit has chosen no feature"
      search <- column_search(run)
      c(permutation = why_not_permuted(search$problem, run_loss(search)),
        if (!any(c("k", "...") %in% takes)) c(stability = "the method has no argument `k`"),
        c(exchange = c(if (!is.null(fit$problem$hierarchy)) "columns require others",
                       if (is_likelihood(loss_name(fit))) "the method minimises no squared error",
                       none)[1L],
          proof = c(none, why_not_certified(fit))[1L]))
    }
  )
  skipped <- setdiff(names(part_settings)[skipped], names(unsuited))
  as.list(c(unsuited, stats::setNames(rep("not requested", length(skipped)), skipped)))
}

# The result --------------------------------------------------------------------------------------

new_judgement <- function(run, fit, done, left_out, control, interrupted, call) {
  cv <- done$cross_validation
  result <- list(
    # the honest error by each measure, with its interval and its difference from the null model
    error = if (!is.null(cv)) data.frame(
      measure = cv$estimates$measure,
      words = replace(measure_words(cv$estimates$measure), 1L, cv$words),
      estimate = cv$estimates$mean,
      cv$estimates[c("lower", "upper", "se", "null", "difference", "difference_lower",
                     "difference_upper")], row.names = NULL
    ),
    features = cbind(feature_table(fit, done$stability, done$exchange),
                     direction_table(fit, run$problem)), fit = fit
  )
  result[names(part_words)] <- list(NULL)
  result[names(done)] <- done
  result["learning_curve"] <- list(join_outer(done$learning_curve, cv))
  new_result("judgement", c(result, list(
    left_out = left_out, folds = control$outer, groups = control$groups, method = run$name,
    arguments = vapply(run$arguments, describe, ""), seed = control$seed,
    versions = c(R = as.character(getRversion()),
                 sparsels = as.character(utils::packageVersion("sparsels")))
  )), run$problem, call, !interrupted)
}

# The results for each chosen column, in the order chosen: how often it is chosen, and the criterion
# without it and with its best substitute, relative to the criterion of the set.
feature_table <- function(fit, stability, exchange) {
  features <- chosen_sources(fit)
  names <- if (length(features)) fit$problem$columns$name[features]
  none <- rep(NA_real_, length(names))
  table <- data.frame(feature = as.integer(features), name = as.character(names),
                      probability = none, dropped = none, substitute = as.character(none),
                      swapped = none)
  if (!is.null(stability)) {
    # pairs are in other places in the halves, or in no place if no half selected them
    pairs <- has_screened_pairs(fit$problem)
    share <- unname(stability$probability[if (pairs) table$name else features])
    table$probability <- if (pairs) ifelse(is.na(share), 0, share) else share
  }
  if (!is.null(exchange)) {
    set <- attr(exchange, "set")
    members <- member_table(exchange)
    members <- members[match(unit_names(fit$problem, features), members$feature), ]
    table[c("dropped", "swapped")] <- lapply(members[c("dropped", "swapped")], function(value) {
      as_error(set$measure, value) / as_error(set$measure, set$criterion)
    })
    table$substitute <- ifelse(members$substitute == "", NA, members$substitute)
  }
  table
}

# The direction of each chosen column: `effect`, its coefficient times its standard deviation, for
# one response or two classes, and for classes its mean in the rows of each. Curves and pairs have
# no coefficient of their own, and pairs no mean.
direction_table <- function(fit, problem) {
  features <- chosen_sources(fit)
  if (!length(features)) return(data.frame(row.names = seq_along(features)))
  w <- case_weights(problem)
  x <- as.matrix(values_by(problem, seq_len(nrow(problem)), features, column_state(problem))) + 0
  mean_of <- function(x, w) unname(colSums(w * x) / sum(w))
  table <- data.frame(effect = rep(NA_real_, length(features)))
  model <- model_of(fit)
  beta <- model$beta[match(features, model$features), , drop = FALSE]
  if (ncol(beta) == 1L) {
    spread <- sqrt(mean_of((x - rep(mean_of(x, w), each = nrow(x)))^2, w))
    alone <- tabulate(source_places(fit$problem))[features] == 1L
    table$effect <- ifelse(alone, beta[, 1L] * spread, NA)
  }
  pair <- !is.na(pair_places(problem)[features])
  for (k in seq_along(problem$coding$levels)) {
    name <- paste0("mean.", problem$coding$levels[k])
    table[[name]] <- ifelse(pair, NA, mean_of(x, w * (class_index(problem) == k)))
  }
  table
}

# Print and picture -------------------------------------------------------------------------------

#' @exportS3Method
print_result.judgement <- function(x, n = 20, ...) {
  say("judgement of ", x$method)
  print_data(x$problem)
  lines <- judgement_lines(x)
  for (part in names(lines)) say(part, ": ", lines[[part]])
  print_features(x, n)
  for (name in names(x$left_out)) {
    say("left out: ", part_words[[name]], " (", x$left_out[[name]], ")")
  }
  say("seed: ", x$seed)
  print_interrupted(x$status, "parts")
}

# The parts in a sentence each, by their headings.
judgement_lines <- function(x) {
  lines <- parts_in_words(x, part_sentences)
  lines <- stats::setNames(lines, c(
    cross_validation = "error", permutation = "chance", stability = "stability",
    exchange = "substitutes", proof = "proof", learning_curve = "more samples",
    verification = "figures"
  )[names(lines)])
  by_group <- group_words(x$cross_validation)
  if (is.null(by_group)) lines else append(lines, list("by group" = by_group), 1L)
}

# The texts of the parts that a judgement has, by functions of the judgement.
parts_in_words <- function(x, functions) {
  lapply(functions[!vapply(x[names(functions)], is.null, NA)], function(words) words(x))
}

part_sentences <- list(
  cross_validation = function(x) {
    error <- x$error
    cv <- x$cross_validation
    scales <- if (error$measure[1L] == "squared") squared_words(x$problem, error$estimate[1L])
    each <- vapply(seq_len(nrow(error)), function(i) {
      paste(error$words[i], estimate_words(cv, cv$estimates[i, ]))
    }, "")
    paste(c(each, scales, interval_notes(cv),
            sprintf("all was repeated without each fold (%s)", x$folds$label)), collapse = "; ")
  },
  permutation = function(x) {
    p_value <- x$permutation$p.value
    count <- length(x$permutation$null)
    as_small <- count_as_small(p_value, count)
    sprintf("p-value %s; %s of %d permutations of the %s gave as small an error, the %s",
            format(p_value, digits = 2), if (as_small) as_small else "none", count,
            x$permutation$permuted, statistic_words(x$permutation$fit))
  },
  stability = function(x) {
    stability <- x$stability
    count <- nrow(stability$stable)
    word <- counted_word(stability$problem)
    sprintf(paste("%s in at least %s of the halves of the rows, on each of which %s %s chosen;",
                  "stability of the lists: %s"),
            if (count) sprintf("%s %s", counted(count, word), if (count == 1L) "is" else "are")
            else paste("no", word, "is"), shown(stability$threshold),
            q_words(stability), if (stability$q == 1L) "is" else "are",
            agreement_words(stability))
  },
  exchange = function(x) {
    set <- attr(x$exchange, "set")
    sprintf("%s of the set %s, at lambda %s; %s", set$measure$label, shown(set$criterion),
            shown_parameter(set$lambda), verdict_words(x$exchange, set))
  },
  proof = function(x) claim_words(x$proof),
  learning_curve = function(x) {
    forecast <- x$learning_curve$forecast
    # a single repeat has no band
    known <- !anyNA(forecast$lower)
    band <- if (known) sprintf(" (%s)", paste(vapply(
      forecast$lower, shown, ""), "to", vapply(forecast$upper, shown, ""))) else ""
    value <- sprintf("%s with %s rows%s", vapply(forecast$error, shown, ""), forecast$rows, band)
    sprintf("%s %s, an extrapolation%s", x$learning_curve$words, paste(value, collapse = ", "),
            if (known) " with a band of 90 %" else "")
  },
  verification = function(x) {
    agree <- x$verification$claims$ok
    count <- counted(length(agree), "figure")
    if (all(agree)) paste(count, "of the fit retrained, none differs by more than rounding") else
      sprintf("%d of %s DIFFER from retraining", sum(!agree), count)
  }
)

print_features <- function(x, n) {
  table <- x$features
  if (!nrow(table)) {
    if (!is.null(chosen_features(x$fit))) say("the fit has chosen no feature")
    return(invisible())
  }
  known <- vapply(table, function(column) !all(is.na(column)), NA)
  shown <- setdiff(names(table)[known], c("feature", grep("^mean[.]", names(table), value = TRUE)))
  if (length(shown) < 2L) return(say("chosen: ", some_of(table$name, n, "")))
  units <- by_units(table, x$problem)
  text <- utils::head(units[shown], n)
  say(sized_words(x$problem, nrow(units), nrow(table)), " chosen:")
  for (column in intersect(c("dropped", "swapped"), names(text))) {
    text[[column]] <- share_text(text[[column]])
  }
  print_filled(fitting_names(text))
  if (!is.null(text$dropped)) remark("dropped, swapped: error relative to the error of the set")
  if (!is.null(text$effect)) {
    levels <- x$problem$coding$levels
    remark(effect_words(levels), if (length(levels) == 2L) {
      sprintf("; means of '%s' and '%s' are in $features", levels[1L], levels[2L])
    })
  }
  print_more(nrow(units) - nrow(text), size_word(x$problem), "$features")
}

# Shares and relative errors as text, which may be relative to an error of nearly 0.
share_text <- function(value) {
  ifelse(is.na(value) | value < 1e4, formatC(value, digits = 3L, format = "f"),
         formatC(value, digits = 3L, format = "g"))
}

effect_text <- function(value) ifelse(is.na(value), "", marked("%+.3g", value))

effect_words <- function(levels) {
  paste0("effect: of one standard deviation more",
         if (length(levels) == 2L) sprintf(", + towards '%s'", levels[2L]))
}

# The table of chosen columns for a page, as markdown that shows names unchanged.
features_as_text <- function(table) {
  table <- table[!vapply(table, function(column) all(is.na(column)), NA)]
  text <- Map(function(value, name) {
    if (is.character(value)) return(markdown_text(value))
    if (name == "effect") return(effect_text(value))
    if (startsWith(name, "mean.")) formatC(value, digits = 3L, format = "g") else share_text(value)
  }, table, names(table))
  stats::setNames(as.data.frame(text, optional = TRUE), markdown_text(names(table)))
}

# A row for each group or single column of a table of columns: its name with the number of columns,
# and its effects from the smallest to the largest.
by_units <- function(table, problem) {
  unit <- unit_names(problem, table$feature)
  of <- factor(unit, unique(unit))
  units <- table[!duplicated(unit), ]
  several <- tabulate(of) > 1L
  units$name[several] <- sprintf("%s (%d)", levels(of), tabulate(of))[several]
  units$effect <- vapply(split(table$effect, of), function(effect) {
    if (all(is.na(effect))) return("")
    paste(effect_text(unique(range(effect))), collapse = " to ")
  }, "")
  units
}

# the parts that have pictures
drawn_parts <- function(x) without_null(x[names(part_titles)])

part_titles <- c(
  cross_validation = "Error on new rows", permutation = "Better than chance?",
  stability = "Would the same be chosen?", exchange = "What could replace them?",
  learning_curve = "Would more samples help?"
)

#' @exportS3Method
record.judgement <- function(x) {
  one <- function(value) if (is.null(value)) NA else value
  known <- vapply(x$features, function(column) !all(is.na(column)), NA)
  meaning <- c(probability = "share of halves of the rows that choose it",
               dropped = "held-out error without it, relative to that with it",
               substitute = "the column that replaces it best",
               swapped = "relative error then",
               effect = "coefficient times the standard deviation of the column")
  meaning <- meaning_words(meaning, names(known)[known])
  list(rows = x$features, meaning = meaning, complete = TRUE, row = data.frame(
    method = x$method, measure = one(x$error$measure[1L]), estimate = one(x$error$estimate[1L]),
    lower = one(x$error$lower[1L]), upper = one(x$error$upper[1L]), null = one(x$error$null[1L]),
    p.value = one(x$permutation$p.value), stability = one(x$stability$stability),
    size = nrow(x$features), nobs = trained_rows(x$problem), features = ncol(x$problem),
    verified = one(x$verification$ok), seed = x$seed, status = x$status
  ))
}

#' @exportS3Method
picture.judgement <- function(x, ...) {
  check_dots(..., known = character())
  parts <- drawn_parts(x)
  stop_input_if(!length(parts), "the judgement has no part with a picture: all were left out")
  panels <- Map(function(part, title) picture(part, main = title), parts, part_titles[names(parts)])
  new_panels(x, panels, grid = grDevices::n2mfrow(length(parts)), mar = c(4.1, 4.1, 5.1, 1.1))
}

# Report -------------------------------------------------------------------------------------------

#' Write a page about a judgement
#'
#' Makes a HTML page of the result of [judge()]: its results in sentences, the pictures, a table of
#' the features, a paragraph for the methods section of a paper, the versions, folds and seed to
#' reproduce it, and the works to cite.
#'
#' @param x The result of [judge()].
#' @param file The file to write, its name ending in `.html`.
#' @param title The title of the page; `NULL` for one that names the response.
#' @param overwrite Logical: may a file of this name be replaced?
#'
#' @return Invisibly, the path of the file. The page needs no other file.
#'
#' @section Errors: `sparsels_error_input` if the package rmarkdown or the program pandoc is
#'   missing, if the folder does not exist, and if the file exists without `overwrite`.
#'
#' @seealso [judge()]
#' @examples
#' \donttest{
#' if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) {
#'   set.seed(1)
#'   x <- matrix(rnorm(60 * 100), 60)
#'   judged <- judge(x, x[, 7] + rnorm(60), k = 2, size = "criterion", outer = 3, permutations = 9,
#'                   pairs = 3, repeats = 1, keep = 3, claims = 9)
#'   report(judged, file = tempfile(fileext = ".html"))
#' }
#' }
#' @srrstats {G4.0} In part: `report()` requires a name that ends in `.html`. `write_panel()` and
#'   `write_file_matrix()` keep the name that is given, so that no file has another name than the
#'   user's
#' @export
report <- function(x, file, title = NULL, overwrite = FALSE) {
  check_given(x, "x")
  check_given(file, "file")
  check_made(x, "x", "judgement", "the result of judge()")
  refuse_unless(is_string(file) && grepl("\\.html?$", file, ignore.case = TRUE), "file",
                "the name of a file that ends in .html", file)
  stop_input_if(!dir.exists(dirname(file)), "the folder of `file` is not there: '%s'",
                dirname(file))
  stop_input_if(dir.exists(file), "`file` must name a file, not the folder '%s'", file)
  stop_input_if(!check_flag(overwrite, "overwrite") && file.exists(file),
                "'%s' is there already: `overwrite = TRUE` replaces it", file)
  if (is.null(title)) title <-
    sprintf("Prediction of %s by %s", x$problem$coding$response, x$method)
  refuse_unless(is_string(title), "title", "a string", title)
  need_package("rmarkdown")
  need_package("knitr")
  stop_input_if(!rmarkdown::pandoc_available(),
                "the program pandoc is needed to write a page, and was not found")
  folder <- tempfile("report")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  source <- file.path(folder, "report.Rmd")
  text <- readLines(system.file("report.Rmd", package = "sparsels", mustWork = TRUE))
  # a document in which report() is called has labels of chunks, too, which must differ
  text <- sub("^```[{]r ([a-z]+),", paste0("```{r ", basename(folder), "-\\1,"), text)
  write_text(paste(text, collapse = "\n"), source)
  made <- list(judgement = x, title = title)
  page <- user_value(rmarkdown::render(source, params = made, quiet = TRUE,
                                       envir = new.env(parent = environment(report))),
                     "the page cannot be made")
  # written beside the file, so that a full disk leaves the page that was there
  beside <- tempfile("report", dirname(file))
  on.exit(unlink(beside), add = TRUE)
  written <- suppressWarnings(file.copy(page, beside)) &&
    file.size(beside) == file.size(page) && suppressWarnings(file.rename(beside, file))
  stop_input_if(!written, "the page could not be written to '%s'", file)
  invisible(normalizePath(file))
}

# Text with any characters, such as the name of a column, as markdown that shows it unchanged.
# Punctuation is replaced by entities.
markdown_text <- function(text) {
  text <- gsub("[[:space:]]+", " ", enc2utf8(as.character(text)))
  vapply(strsplit(text, ""), function(letters) {
    mark <- grepl("^[!-/:-@[-`{-~]$", letters, perl = TRUE)
    letters[mark] <- sprintf("&#%d;", vapply(letters[mark], utf8ToInt, 0L))
    paste(letters, collapse = "")
  }, "")
}

# The description of the fit for the methods section of a paper.
methods_paragraph <- function(x) {
  problem <- x$problem
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  groups <- if (!is.null(x$groups)) {
    sprintf(" Rows of one of %d groups were held out, permuted and drawn together.",
            count_labels(x$groups, problem))
  }
  own <- x$method %in% getNamespaceExports("sparsels")
  software <- sprintf("%s R package sparsels %s in R %s", if (own) " of the" else
    ", and judged by the", x$versions[["sparsels"]], x$versions[["R"]])
  sentences <- c(
    sprintf("Models of %s on %s (%s) were fitted by %s%s%s%s%s.", problem$coding$response,
            counted(ncol(problem), "column"), counted(trained_rows(problem), "row"),
            called_method(x), software,
            if (!length(x$arguments)) "" else
              paste0(", with ", paste(names(x$arguments), "=", x$arguments, collapse = ", ")),
            if (length(covariates)) paste(", adjusted for", some_of(covariates, 8L, "")) else "",
            if (length(unique(problem$rows$weight)) > 1L) ", rows being weighted" else ""),
    groups, unlist(parts_in_words(x, part_methods)),
    sprintf("Random numbers came from L'Ecuyer's generator with the seed %d.", x$seed)
  )
  paste(trimws(sentences), collapse = " ")
}

called_method <- function(x) if (x$method == "a function") x$method else paste0(x$method, "()")

part_methods <- list(
  cross_validation = function(x) {
    how <- switch(x$cross_validation$interval$measured,
      rows = "the standard error over rows, or over folds with a correction for shared rows",
      pairs = paste("the larger of two standard errors, over the rows held out and by the",
                    "jackknife over folds of both training and test"),
      folds = paste("the variance over the rows held out and half of the jackknife variance over",
                    "folds of both training and test")
    )
    sprintf(paste("The %s was estimated by outer cross-validation (%s): all that the method does,",
                  "%schoices and selection, was repeated without each fold; its 95 %%",
                  "interval is by %s."), x$error$words[1L], x$folds$label,
            if (x$problem$coding$standardize) "scaling, " else "", how)
  },
  permutation = function(x) {
    sprintf(paste("The p-value is the share, among the data and %d permutations of the %s, of",
                  "those whose smallest error on the path, relative to the null model's, was as",
                  "small as the observed one; the whole selection was repeated for each."),
            length(x$permutation$null), x$permutation$permuted)
  },
  stability = function(x) {
    sprintf(paste("Selection probabilities are shares of the halves of %d complementary random",
                  "splits on which a column is among the %d chosen; columns from %s on are called",
                  "stable."), x$stability$pairs, x$stability$q, shown(x$stability$threshold))
  },
  exchange = function(x) {
    set <- attr(x$exchange, "set")
    sprintf(paste("For every chosen column the %s without it, and with every other column in its",
                  "place, was computed exactly at lambda %s."), set$measure$label,
            shown_parameter(set$lambda))
  },
  proof = function(x) {
    sprintf(paste("Whether another set of as many columns has a smaller error at lambda %s was",
                  "decided by branch and bound with bounds of the dual."),
            shown_parameter(x$proof$lambda))
  },
  learning_curve = function(x) {
    curve <- x$learning_curve
    sprintf(paste("The learning curve is an inverse power law fitted to the errors of %s of random",
                  "training sets, with %s held out in each%s%s."),
            counted(counted_repeats(curve), "repeat"), counted(curve$test_rows, "row"),
            if (is.null(curve$outer)) "" else ", and to the error of the outer folds",
            if (nrow(curve$draws)) "; its band holds 90 % of bootstrap samples of the repeats" else
              "")
  },
  verification = function(x) {
    sprintf("%s of the fit were retrained by another route; %s.",
            counted(nrow(x$verification$claims), "figure"),
            if (x$verification$ok) "all agreed" else "some did not agree")
  }
)

# The works to cite for a judgement: the entries whose header in CITATION names the package or one
# of the functions used.
cited_works <- function(x) {
  works <- utils::citation("sparsels")
  used <- c(x$method, if (!is.null(x$stability)) "stability_selection",
            if (!is.null(x$learning_curve)) "learning_curve",
            if (any(startsWith(as.character(x$permutation$permuted), "residuals")))
              "permutation_test")
  named <- vapply(works$header, function(header) {
    grepl("package", header) || any(vapply(paste0(used, "()"), grepl, NA, header, fixed = TRUE))
  }, NA)
  works[named]
}
