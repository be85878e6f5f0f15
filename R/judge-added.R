#' Do columns add to a base model?
#'
#' Estimates and tests the *added predictive value* of columns, such as genes, beyond base
#' variables, such as clinical variables (Boulesteix and Sauerbrei 2011). The two models are
#' compared by paired held-out errors on the same folds, with a confidence interval, and by a
#' permutation test.
#'
#' The base variables are the covariates of the problem (`adjust`), its columns with `penalty` 0,
#' and the columns given by `base`. They have no penalty in either model. All other columns are
#' added. The base model is least squares on the base variables. The full model is fitted by
#' `method`, by default ridge regression, [rls()]. With [greedy_rls] it contains the base variables
#' and some selected columns. With `shrink_base` both models are ridge regression: the columns of
#' `base` are shrunk, too, and the full model has one lambda for the base and one for the added
#' columns, see the blocks of [rls()].
#'
#' **Held-out errors.** Both models are trained without each fold. Lambda, scales and columns are
#' chosen again in each training part, so no error is optimistic. The loss of a row is its squared
#' error, a mean over the repeats of the folds and over several responses. (Classes are coded -1 and
#' +1, and a quarter of the loss is the Brier score of (1 + score) / 2.) `difference` is the
#' weighted mean over the rows of the loss of the base model minus the loss of the full model: it is
#' above 0 if the columns add. Its interval is for the models on new rows. Its variance is the sum
#' of the variance of the paired differences of rows, or of groups if `folds` have groups, and half
#' of the variance of the jackknife over folds, as in [cross_validate()]. Methods whose fits hold
#' nothing out need `interval = "pairs"` for the jackknife.
#'
#' **Permutation test.** The statistic is the smallest held-out error on the path of the full model
#' relative to the error of the base model, \eqn{T = \min_s \mathrm{error}_s / \mathrm{error}_0}{
#' T = min over s of error_s / error_0}, by leave-one-out or the criterion of the method. Choices
#' are made again for every permutation, and methods with an argument `refit` run as in
#' [permutation_test()]. The p-value is \eqn{(1 + \#\{T_b \le T\}) / (P + 1)}{(1 + #{T_b <= T}) /
#' (P + 1)} of \eqn{P} permutations.
#' * `permute = "residuals"`: the null hypothesis is that the response is a linear function of the
#'   base variables plus errors that are exchangeable and independent of the added columns *given*
#'   the base variables; added and base variables may be correlated. The residuals of the base model
#'   are permuted (Freedman and Lane 1983). This is exact except for the estimation of the base
#'   model. It is the default if the response is numeric and the base is not shrunk, and not
#'   available for classes.
#' * `permute = "rows"`: the null hypothesis is that the added columns are independent of the
#'   response *and* the base variables together, and their rows exchangeable. The rows of the added
#'   columns are permuted against all other data. This is exact for any number of rows, any
#'   distribution, classes and weights. If added and base variables are correlated, this null
#'   hypothesis is false, and the test is only an approximate test of the first one.
#'
#' In a simulation of 50 rows, three base variables with an effect and 100 columns without (ridge
#' regression with `lambda = 2^(-4:12)`, 5 folds, 400 data sets), the test of residuals at the 5 %
#' level rejected in 3.3 % (standard error 0.9 %) if the columns were independent of the base, and
#' in 3.8 % (0.9 %) if they were correlated with it. The 95 % interval was above 0 in 0.7 % and 0 %
#' of 150 data sets of each kind, so it is conservative about a gain. It contained the mean
#' difference of all data sets in 73 % and 72 %, because the difference depends on the lambda that
#' each data set chooses. With effects of 0.4 of five columns, independent of the base, the test
#' rejected in 34 % (4.7 %, 100 data sets).
#'
#' @param x,y,data The data, in any form that [as_problem()] takes. For `print()` and `plot()`, `x`
#'   is the result.
#' @param base Columns of `x` that belong to the base model: names, terms of a formula, numbers or a
#'   logical vector. `NULL` where `adjust` or `penalty` give all of them.
#' @param method The method of the full model: [rls], the default, or a method with a path of models
#'   that begins with the base model, such as [greedy_rls].
#' @param ... Further arguments of the method and of [as_problem()]: `r problem_dots()`.
#' @param shrink_base Logical: have the columns of `base` a ridge penalty of their own?
#' @param folds Outer folds, see [make_folds()]; `NULL` for 10 folds, repeated 5 times.
#' @param interval How the interval is measured, `"folds"` or `"pairs"`, as in [cross_validate()].
#' @param level The confidence level of the interval.
#' @param permutations Number of permutations; 0 for no test.
#' @param permute `"residuals"` or `"rows"`, see Details; `NULL` for residuals where they can be
#'   permuted.
#' @param strata As in [permutation_test()]: rows of one stratum are exchangeable.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the folds and permutations.
#'
#' @return An object of class `added_value`, a list:
#' * `table`: data frame of one row: the held-out errors of the `base` and the `full` model, their
#'   `difference`, its standard error `se`, its interval, `lower` and `upper`, and how this was
#'   `measured` (`"folds"`, `"pairs"`, or `"rows"` where it may be too narrow); for classes a second
#'   row with error rates (column `measure`).
#' * `losses`: data frame, a row for each row of the data: its loss by the `base` and `full` model.
#' * `p.value`, `statistic`, `null` (of each permutation), `permute`, `permuted` (in words); `NULL`
#'   without a test.
#' * `method`, `base` (names of the base variables), `added` (number of the added columns, where
#'   groups, curves and pairs count as one), `level`, `folds` (their label), `problem` (without its
#'   x), `status`, `call`.
#'
#' `plot()` draws the difference of each row against the loss by the base model, and returns
#' invisibly the data frame drawn.
#' @section Cost: A fit of the method for each outer fold (50 by default) and for each permutation.
#'   With `rls` and `permute = "residuals"` one eigenvalue decomposition serves all permutations.
#' @section Errors: `sparsels_error_input` for a problem without base variables or added columns,
#'   and as [permutation_test()].
#' @references Boulesteix, A.-L., Sauerbrei, W. (2011). Added predictive value of high-throughput
#' molecular data to clinical data and its validation. Briefings in Bioinformatics 12, 215-229.
#' \doi{10.1093/bib/bbq085}
#'
#' Freedman, D., Lane, D. (1983). A nonstochastic interpretation of reported significance levels.
#' Journal of Business and Economic Statistics 1, 292-298. \doi{10.1080/07350015.1983.10509354}
#' @seealso [permutation_test()], [cross_validate()], [compare_methods()]
#' @examples
#' set.seed(1)
#' genes <- matrix(rnorm(60 * 50), 60, dimnames = list(NULL, paste0("gene", 1:50)))
#' age <- rnorm(60)
#' outcome <- age + genes[, 1] + genes[, 2] + rnorm(60)
#' added_value(genes, outcome, adjust = cbind(age), folds = 5, permutations = 49)
#' @export
added_value <- function(x, y = NULL, method = NULL, ..., data = NULL, base = NULL,
                        shrink_base = FALSE, folds = NULL, interval = c("folds", "pairs"),
                        level = 0.95, permutations = 999, permute = NULL, strata = NULL,
                        progress = interactive(), BPPARAM = NULL) {
  check_flag(shrink_base, "shrink_base")
  check_level(level)
  interval <- choice_or_first(interval, "interval", c("folds", "pairs"))
  stop_argument_if(interval == "pairs" && shrink_base,
                   "`interval = \"pairs\"` is not needed with `shrink_base`: %s",
                   "the fits hold every row out")
  permutations <- check_count(permutations, "permutations", 1e6, lower = 0L)
  run <- as_run(x, y, method, ..., data = data, by_default = "rls")
  if (run$inherits) run$problem <- with_groups_of_folds(run$problem, list(folds))
  refuse_likelihood(run_loss(run), "added_value()", paste(
    "use `loss = \"squared\"`, or cross_validate() with the base variables as `adjust`,",
    "which its null model has"
  ))
  stop_argument_if(run_loss(run) != "squared",
                   "added_value() compares squared errors of class codes, %s: give %s",
                   sprintf("which `loss = \"%s\"` does not minimise", run_loss(run)),
                   "`loss = \"squared\"`")
  pair <- nested_pair(run, base, shrink_base)
  permute <- check_permute(permute, pair)
  problem <- pair$full$problem
  folds <- if (is.null(folds)) make_folds(problem, 10, repeats = 5) else as_folds(folds, problem)
  if (permutations > 0L) {
    strata <- check_strata(strata, problem)
    null <- if (permute == "residuals") null_response(problem) else
      list(problem = problem, residuals = matrix(seq_len(nrow(problem))), words = "rows")
    exchange <- exchange_of(null, whole_units(problem), strata)
  }
  losses <- paired_losses(pair, folds, interval, progress, BPPARAM)
  tested <- if (permutations > 0L) {
    test_pair(pair, permute, null, exchange, permutations, progress, BPPARAM)
  }
  new_added_value(pair, folds, losses, tested, level, short_call(match.call()))
}

# The two models ----------------------------------------------------------------------------------

# The runs of both models: list(full, base, names, added, shrunk). `base` is NULL if the base model
# is least squares on the covariates of the problem. `added` has column numbers.
nested_pair <- function(run, base, shrunk) {
  problem <- run$problem
  columns <- if (is.null(base)) integer() else in_context("`base`", columns_given(base, problem))
  if (shrunk) {
    stop_argument_if(!identical(run$method, rls),
                     "`shrink_base = TRUE` is for `method = rls`, a lambda for each block")
    added <- setdiff(which(problem$columns$usable), columns)
    stop_argument_if(!length(columns) || !length(added),
                     "`shrink_base = TRUE` needs columns of both kinds: name the base by `base`")
    label <- ifelse(seq_len(ncol(problem)) %in% columns, "base", "added")
    full <- new_run(rls, problem, c(run$arguments, list(blocks = label)), "rls")
    base <- new_run(rls, problem[, columns], run$arguments, "rls")
    return(list(full = full, base = base, names = problem$columns$name[columns], added = added,
                shrunk = TRUE))
  }
  if (length(columns)) {
    # the base has no penalty
    problem <- measure_columns(put_factors(problem, replace(given_factors(problem), columns, 0)))
    covariate_basis(problem)
    stop_argument_if(!any(problem$columns$usable), "no column is left to add to the base")
  }
  run$problem <- problem
  names <- setdiff(colnames(problem$z), "(Intercept)")
  stop_argument_if(!length(names),
                   paste("there is no base model: name its columns by `base`, or give the base",
                         "variables by `adjust`"))
  list(full = run, base = NULL, names = names, added = which(problem$columns$usable),
       shrunk = FALSE)
}

check_permute <- function(permute, pair) {
  can <- pair$full$problem$coding$task == "regression" && !pair$shrunk
  if (is.null(permute)) return(if (can) "residuals" else "rows")
  check_choice(permute, "permute", c("residuals", "rows"))
  stop_argument_if(permute == "residuals" && !can,
                   "`permute = \"residuals\"` needs a numeric response and an unpenalised base: %s",
                   "use \"rows\"")
  permute
}

# Held-out losses ---------------------------------------------------------------------------------

# The losses of every row by both models, means over the repeats (`losses`, m x 2), and the value of
# held_out_se() for their difference (`found`), a list of both for each measure in `each`.
paired_losses <- function(pair, folds, interval, progress, BPPARAM) {
  problem <- pair$full$problem
  measures <- list(squared = squared_error)
  if (problem$coding$task != "regression") measures$error <- list(name = "error")
  parts <- trained_parts(held_out_rows(folds, problem$rows$weight > 0), nrow(problem))
  if (interval == "pairs") check_pairs(parts)
  held <- outer_held_out(parts, function(part) {
    both <- fold_pair(pair, part$rows)
    rows <- scored_rows(problem, part$rows)
    lapply(measures, function(measure) {
      list(inner = if (!is.null(both$inner)) held_errors(list(measure, measure), both$inner,
                                                         both$train),
           losses = do.call(cbind, lapply(both$scores, function(score) {
             row_losses(rows, measure$name, rows$rows$y - layer(score, 1L))
           })))
    })
  }, progress, BPPARAM)
  if (interval == "pairs") {
    held <- with_pairs(held, function(part) pair$full, measures, progress, BPPARAM)
  }
  unit <- row_units(problem, folds)
  each <- lapply(stats::setNames(nm = names(measures)), function(name) {
    by_part <- lapply(held$each, `[[`, name)
    losses <- lapply(by_part, `[[`, "losses")
    means <- mean_over_parts(held$parts, losses, nrow(problem))
    dimnames(means) <- list(NULL, c("base", "full"))
    w <- problem$rows$weight
    shares <- Map(function(rows, loss) cbind(w[rows] * (loss[, 1L] - loss[, 2L]), w[rows]),
                  held$parts$rows, losses)
    inner <- unlist(if (held$measured != "pairs")
      lapply(by_part, function(one) one$inner[2L] - one$inner[1L]) else
        lapply(held$each, function(one) one$theta["majority", name] - one$theta["test", name]))
    if (length(inner) < length(by_part)) inner <- NULL
    list(losses = means, found = held_out_se(shares, lapply(shares, colSums), inner, held$parts,
                                             unit, w, measured = held$measured))
  })
  list(each = each, complete = held$complete)
}

# Scores of rows that are held out, by both models, and the rows held out by the inner folds of the
# full model without them (`inner`, see inner_held_out()), with the base model for the null model.
fold_pair <- function(pair, rows) {
  trained <- seq_len(nrow(pair$full$problem))[-rows]
  full <- fit_rows(pair$full, trained)
  base <- if (pair$shrunk) fit_rows(pair$base, trained)
  inner <- inner_held_out(full$fit, full$train)
  if (!is.null(inner) && pair$shrunk) inner$null <- inner_held_out(base$fit, base$train)$score
  list(scores = list(base = if (pair$shrunk) chosen_scores(base, rows) else
    null_scores(full, rows), full = chosen_scores(full, rows)), inner = inner, train = full$train)
}

# The test ----------------------------------------------------------------------------------------

# The part of the result that describes the test, and whether the test is complete. `values` are the
# values that are permuted, see null_response() and exchange_of().
test_pair <- function(pair, permute, values, exchange, permutations, progress, BPPARAM) {
  run <- pair$full
  run$arguments <- quick_run(run)$arguments
  statistic <- pair_statistic(pair, run, run$problem)
  # one decomposition serves every response, where the weights stay
  same <- permute == "residuals" && identical(run$method, rls) &&
    length(unique(run$problem$rows$weight)) == 1L
  spectrum <- if (same) gram_spectrum(run$problem)
  null <- repeat_tasks(permutations, "permutation", function(i) {
    order <- permuted_rows(exchange)
    permuted <- if (permute == "rows") {
      permuted_columns(run$problem, pair$added, order)
    } else if (same) {
      with_response(run$problem, permuted_response(values, order))
    } else {
      permuted_problem(values, order)
    }
    pair_statistic(pair, run, permuted, spectrum)
  }, progress, BPPARAM)
  complete <- length(null) == permutations
  null <- unlist(null)
  what <- permuted_words(values, exchange, permutations)
  if (permute == "rows") {
    what <- sub("^rows", "rows of the added columns against the response and the base", what)
  }
  list(p.value = chance_of(matrix(null), statistic), statistic = statistic, null = null,
       permute = permute, permuted = what, complete = complete)
}

# The smallest held-out error on the path of the full model, relative to the smallest error of the
# base model. `spectrum` is the spectrum of the problem with another response.
pair_statistic <- function(pair, run, problem, spectrum = NULL) {
  if (!identical(run$method, rls)) {
    fit <- suppressWarnings(fit_run(run, problem), own_warnings)
    return(min(relative_errors(fit)$errors, na.rm = TRUE))
  }
  given <- run$arguments
  folds <- if (is.null(given$folds)) "loo" else given$folds
  control <- expansion_control(problem, given$lambda, folds, 1)
  full <- if (pair$shrunk) {
    min(search_blocks(problem, check_blocks(given$blocks, problem), control)$tried$criterion)
  } else {
    if (is.null(spectrum)) spectrum <- gram_spectrum(problem)
    spectrum$y <- working_response(problem)
    spectrum$t <- crossprod(spectrum$phi, spectrum$y)
    min(spectrum_errors(spectrum, problem, control)$criterion)
  }
  # the base model does not depend on a permutation of the rows of the other columns
  base <- if (pair$shrunk) {
    own <- pair$base$problem
    min(spectrum_errors(gram_spectrum(own), own, control)$criterion)
  } else {
    mean_squared(problem, null_residuals(problem, control$folds))
  }
  full / base
}

# The result --------------------------------------------------------------------------------------

new_added_value <- function(pair, folds, found, tested, level, call) {
  problem <- pair$full$problem
  # the errors of both models with the interval of their difference
  table <- lapply(found$each, function(one) {
    counted <- which(problem$rows$weight > 0 & !is.na(one$losses[, 1L]))
    w <- problem$rows$weight[counted]
    errors <- unname(colSums(w * one$losses[counted, , drop = FALSE]) / sum(w))
    difference <- errors[1L] - errors[2L]
    if (abs(difference) <= 1e-12 * errors[1L]) difference <- 0
    ends <- interval_of(list(name = "difference"), difference, one$found, level, errors[1L])
    data.frame(base = errors[1L], full = errors[2L], difference = difference, se = one$found$se,
               lower = ends[1L], upper = ends[2L], measured = one$found$measured)
  })
  table <- data.frame(measure = names(table), do.call(rbind, table), row.names = NULL)
  new_result("added_value", c(list(table = table, losses = data.frame(found$each$squared$losses)),
              tested[c("p.value", "statistic", "null", "permute", "permuted")], list(
    method = pair$full$name, base = pair$names, shrunk = pair$shrunk,
    added = length(distinct_units(problem, pair$added)), level = level, folds = folds$label
  )), problem, call, found$complete && !isFALSE(tested$complete))
}

#' @exportS3Method
print_result.added_value <- function(x, ...) {
  say(sprintf("added value of %s beside %s (%s), by %s", counted(x$added, counted_word(x$problem)),
              counted(length(x$base), "base variable"), some_of(x$base, 5L, ""), x$method))
  print_data(x$problem)
  table <- x$table
  what <- ifelse(table$measure == "error", "error rate", "mean squared error")
  for (i in seq_along(what)) {
    say(sprintf("%s: %s of the base, %s with the columns; difference %s%s", what[i],
                shown(table$base[i]), shown(table$full[i]), shown(table$difference[i]),
                if (is.na(table$lower[i])) "" else
                  sprintf(", %s %s to %s", interval_words(x$level), shown(table$lower[i]),
                          shown(table$upper[i]))))
  }
  known <- !all(is.na(table$lower))
  remark(sprintf("of rows held out (%s); difference above 0: the columns add%s", x$folds,
                 if (known) "; its interval is for paired differences" else ""))
  if (known && table$measured[1L] == "rows") remark(narrow_words("interval"))
  if (is.null(x$p.value)) return(invisible())
  count <- length(x$null)
  as_small <- count_as_small(x$p.value, count)
  say(sprintf("p-value %s: %d of %s permutations have as small an error relative to the base",
              format(x$p.value, digits = 2), as_small, whole_number(count)))
  remark("error: the smallest on the path by the criterion of the method, ", shown(x$statistic),
         " of the error of the base")
  remark("permuted: ", x$permuted)
  remark("tested: ", if (x$permute == "rows")
    "the columns are independent of the response and the base together" else
      "given the base, the response is independent of the columns")
  print_interrupted(x$status, "folds or permutations")
}

#' @exportS3Method
record.added_value <- function(x) {
  given <- function(value) if (is.null(value)) NA_real_ else value
  list(rows = x$table,
       row = data.frame(method = x$method,
                        x$table[1L, setdiff(names(x$table), c("measure", "measured"))],
                        statistic = given(x$statistic),
                        p.value = given(x$p.value), permutations = length(x$null)))
}

#' @exportS3Method
picture.added_value <- function(x, ...) {
  data <- data.frame(base = x$losses$base, difference = x$losses$base - x$losses$full)
  table <- x$table[1L, ]
  test <- if (!is.null(x$p.value)) paste(", p-value", format(x$p.value, digits = 2))
  words <- list(main = paste0(counted(x$added, counted_word(x$problem)), " beside ",
                              counted(length(x$base), "base variable"), test),
                xlab = "squared error of the base model", ylab = "minus error of the full model")
  layers <- c(
    as_layer("across", y = table$difference, col = mark_colour, lwd = 2, label = "mean difference"),
    as_layer("across", y = c(table$lower, table$upper), col = mark_colour, lty = 2,
             label = interval_words(x$level)),
    as_layer("across", y = 0, lty = 3, col = "#555555"),
    as_layer("points", data$base, data$difference, col = "grey50", pch = 1, main = TRUE)
  )
  new_picture(data, layers, words, list(...), axes = NULL)
}
