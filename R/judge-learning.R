#' Would more samples help?
#'
#' Estimates the error of a method as a function of the number of training rows: everything the
#' method does is repeated on random parts of the rows, of several sizes, and scored on held-out
#' rows. A curve fitted to the errors forecasts the error with more rows.
#'
#' In each repeat a share `test` of the rows is held out at random. Nested training sets are drawn
#' from the other rows, and all are scored on the same held-out rows, at the size or lambda that the
#' method chooses. Errors therefore differ only by the number of rows. The shares of the classes are
#' the same in every part. With `groups` no group is both trained on and held out, and every part
#' has whole groups: a training set is the first of them that have at least the number of rows.
#'
#' The fitted curve is an inverse power law of the number n of training rows,
#' \deqn{\mathrm{error}(n) = a + b\,n^{-c}, \quad a, b \ge 0, \quad 0 < c \le 2,}{ error(n) = a + b
#' n^-c, a, b >= 0, 0 < c <= 2,} by least squares with weights \eqn{n^2}: a is the limit of the
#' error for many rows. Such laws hold for many rows, so larger training sets have more weight.
#' Training sets whose error is more than twice the error of the null model have none, except the
#' largest three. If larger values of a measure are better, 1 minus the area under the ROC curve, or
#' the negative of your own function, is fitted.
#'
#' **Uncertainty.** Repeats share rows, so their errors vary less than errors on new samples. The
#' standard error at a number of rows is therefore the larger one of two of [error_intervals]: over
#' the rows held out, and the corrected one over the repeats (Nadeau and Bengio 2003), with J
#' repeats \eqn{\sqrt{(1 / J + t / (1 - t)) s^2}}{sqrt((1 / J + t / (1 - t)) s^2)}, t being the
#' share of the rows held out and \eqn{s^2} the variance over repeats. Random parts have no folds to
#' be left out in turn, so the jackknife of [cross_validate()] does not apply to them. Intervals of
#' 90 % are by Wilson for rates, on the logit scale for areas under the ROC curve, and otherwise by
#' t. The band holds 90 % of the curves fitted to a thousand bootstrap samples of the repeats, with
#' deviations widened to these standard errors. [judge()] adds the error of its outer folds, with
#' their standard error, to the curve.
#'
#' **The forecast is an extrapolation.** It assumes that the error continues to fall like the fitted
#' curve and that new rows come from the same source. The band does not include violations of these
#' assumptions. In simulations with 80 rows it contained the true error of twice as many rows in
#' three of four data sets. With few rows for the number of columns the curve may be far off: an
#' error that is constant at first, until the method finds the right columns, does not follow a
#' power law. Look at the picture, and give `sizes` from where the error falls.
#'
#' The repeats run on a future plan and can be interrupted, see [parallel_runs].
#'
#' @inheritParams permutation_test
#' @param method A function such as [greedy_rls], as for [cross_validate()].
#' @param ... Further arguments of the method, and of [as_problem()]: `r problem_dots()`. For
#'   `plot()`, graphical parameters such as `ylim` and `main`.
#' @param sizes The numbers of training rows, at least three; `NULL` for six from a tenth of the
#'   largest training set on, but at least 10, what the classes, the covariates and an argument `k`
#'   of the method need, and the rows of three `groups`, each larger by the same factor. Rows of
#'   weight 0 do not count.
#' @param repeats Number of repeats.
#' @param test Share of the rows held out in each repeat, above 0 and below 1; it is rounded to
#'   whole rows.
#' @param measure A measure of error of [cross_validate()]; `NULL`: `"error"` for classes,
#'   `"deviance"` for methods with a `loss` of counts or shares, `"concordance"` for censored times
#'   and ordered classes, otherwise `"squared"`. The deviance
#'   of events is here the deviance of the rows held out alone, per event, since risk sets that
#'   include the training rows would grow with their number.
#' @param BPPARAM `NULL`, or how BiocParallel runs the repeats, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#' @param object The result.
#' @param rows Numbers of training rows, not below the smallest of `sizes`; `NULL` for all rows of
#'   the data, one and a half times, and twice as many.
#'
#' @return An object of class `learning_curve`, a list:
#' * `table`: data frame, a row for each number of training rows: `rows`, with `groups` their mean
#'   over the repeats, rounded, and `groups`, the mean number of groups; `error`, the mean over the
#'   repeats, `se`, its standard error, `lower` and `upper`, its 90 % interval, `null`, the error of
#'   the model without columns of `x` (the null model) fitted to the same rows, and `relative`, the
#'   error divided by it (of an area under the ROC curve, 1 less the area; of your own function of
#'   which more is better, the difference).
#' * `errors`: matrix, repeats by numbers of rows; `NA` where the rows held out have no value of the
#'   measure, as an area under the ROC curve of one class: such repeats do not count.
#' * `fitted`: named vector, a, b and c of the curve.
#' * `forecast`: data frame `rows`, `error`, `lower`, `upper`: of all rows, one and a half times and
#'   twice as many. `predict()` gives the same for any `rows`.
#' * `draws`: matrix, a row of a, b and c for each bootstrap sample; none of a single repeat.
#' * `test_rows` (held out), `grouped` (whether there are `groups`), `method`, `measure`, `words`
#'   (what it is called), `higher` (whether more is better), `problem` (without its x), `status`
#'   (`"complete"` or `"interrupted"`), `call`.
#'
#' `plot()` draws the errors with their intervals, the fitted curve with its band, and the forecast
#' dashed, with the numbers of groups along the top, and returns invisibly the data frame drawn:
#' `part` (a factor: measured, fitted, forecast), `rows`, `error`, `lower`, `upper`.
#'
#' @section Cost: A fit for each repeat and number of rows.
#'
#' @section Errors: `sparsels_error_input` for bad arguments and where there are too few rows. An
#' error inside a method keeps its class and says in which repeat and at how many rows it was.
#'
#' @references Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine
#' Learning 52, 239-281. \doi{10.1023/A:1024068626366}
#'
#' Mukherjee, S., Tamayo, P., Rogers, S. and others (2003). Estimating dataset size requirements for
#' classifying DNA microarray data. Journal of Computational Biology 10, 119-142.
#' \doi{10.1089/106652703321825928}
#'
#' @seealso [cross_validate()], the error with the rows there are; [permutation_test()], whether it
#'   is better than chance; [judge()], both and more in one call
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(120 * 50), 120)
#' y <- x[, 7] - x[, 20] + rnorm(120)
#' curve <- learning_curve(x, y, greedy_rls, k = 5, size = "criterion")
#' curve
#' predict(curve, rows = 500)
#' plot(curve)
#' @export
learning_curve <- function(x, y = NULL, method = NULL, ..., data = NULL, sizes = NULL,
                           repeats = 10, test = 0.2, measure = NULL,
                           progress = interactive(), BPPARAM = NULL) {
  run <- choosing_run(as_run(x, y, method, ..., data = data))
  settle_properties(run$problem, "learning_curve")
  repeats <- check_repeats(repeats, "repeats")
  measure <- measure_alone(one_measure(measure, run$problem, run_loss(run)), run$problem)
  plan <- resampling_plan(run$problem, test, run_units(run))
  plan$sizes <- if (is.null(sizes)) default_sizes(run, plan) else check_sizes(sizes, plan)
  done <- train_on_splits(run$problem, plan, repeats, "repeat", function(trained, rows) {
    score_sizes(run, plan, measure, trained, rows)
  }, progress, BPPARAM)
  new_learning_curve(run, plan, measure, done, repeats, short_call(match.call()))
}

# How many rows -----------------------------------------------------------------------------------

check_sizes <- function(sizes, plan) {
  valid <- has_numbers(sizes) && all(sizes >= 2 & sizes <= plan$largest & sizes == round(sizes)) &&
    length(unique(group_counts(sizes, plan))) > 2L
  if (!valid) {
    apart <- if (!is.null(plan$groups)) paste(", of three or more numbers of groups, which have",
                                              shown(plan$group_rows), "rows on average")
    refuse("sizes", paste0("three or more different whole numbers between 2 and ", plan$largest,
                           " (the largest training set)", apart), sizes)
  }
  sort(unique(as.integer(sizes)))
}

# About how many groups have so many rows. Without groups each row is one.
group_counts <- function(sizes, plan) round(sizes / c(plan$group_rows, 1)[1L])

default_sizes <- function(run, plan) {
  problem <- run$problem
  largest <- plan$largest
  k <- if (is_number(run$arguments$k)) run$arguments$k else 0
  strata <- row_strata_of(problem)
  rarest <- if (is.null(strata)) 1 else min(tabulate(strata)) / nrow(problem)
  # a method that repeats its search without each group needs three, and of events more, as not each
  # of them has a later time in its fold
  least <- if (is_survival(problem)) 5 else 3
  lower <- max(10, largest / 10, k + ncol(problem$z) + 2, least / rarest, 3 * plan$group_rows)
  sizes <- unique(group_counts(exp(seq(log(lower), log(largest), length.out = 6L)), plan))
  if (!is.null(plan$groups)) sizes <- floor(pmin(pmax(sizes * plan$group_rows, lower), largest))
  stop_input_if(lower > largest || length(sizes) < 3L,
                "the largest training set, %d rows%s, is too small for a learning curve%s: %s",
                largest,
                if (is.null(plan$groups)) "" else
                  sprintf(" or about %s", counted(group_counts(largest, plan), "group")),
                if (least / rarest <= largest) "" else
                  sprintf(", which has %d %s or more by default", least,
                          if (is_survival(problem)) "events" else "rows of each class"),
                "give `sizes`, or a smaller `test`")
  as.integer(sizes)
}

# One repeat --------------------------------------------------------------------------------------

# The measure of the method and of the null model on the rows held out, at every number of training
# rows, and how many rows and groups are trained on (`values`, 4 x sizes), and the row_shares() of
# the method (`shares`, a list). The first rows of `trained` are the smaller training sets.
score_sizes <- function(run, plan, measure, trained, rows) {
  group <- if (is.null(plan$groups)) seq_along(trained) else plan$groups[trained]
  ends <- cumsum(rle(group)$lengths)
  heldout <- scored_rows(run$problem, rows)
  each <- lapply(plan$sizes, function(size) {
    groups <- which(ends >= size)[1L]
    size <- ends[groups]
    part <- in_context(sprintf("%d training rows", size),
                       fit_rows(run, sort(trained[seq_len(size)])))
    scores_of <- function(rows) scores_beside_null(part, rows)
    scores <- scores_of(rows)
    errors <- measured(measure, scores_of, judged_alone(part), run$problem, rows, scores)
    list(values = c(errors, size, groups),
         shares = row_shares(heldout, measure_for(measure, part$fit), layer(scores[[1L]], 1L)))
  })
  list(values = vapply(each, `[[`, numeric(4L), "values"), shares = lapply(each, `[[`, "shares"))
}

# The fitted curve --------------------------------------------------------------------------------

power_grid <- seq(2, 0.01, by = -0.01)

# error = a + b rows^-c, by least squares with weights count rows^2, a >= lowest and b >= 0, to each
# curve of `errors` (curves x numbers of rows): a matrix with the columns a, b and c. For every c on
# a grid the best a and b have a closed form. Of equally good values the largest c is taken.
fit_power_law <- function(rows, errors, lowest = 0, count = 1) {
  best <- matrix(Inf, nrow(errors), 4L, dimnames = list(NULL, c("a", "b", "c", "loss")))
  weights <- count * rows^2 / sum(count * rows^2)
  mean <- drop(errors %*% weights)
  for (c in power_grid) {
    term <- (rows / max(rows))^-c
    off <- term - sum(weights * term)
    b <- pmax(drop(errors %*% (weights * off)) / sum(weights * off^2), 0)
    a <- mean - b * sum(weights * term)
    low <- a < lowest
    a[low] <- lowest
    b[low] <- pmax(drop((errors[low, , drop = FALSE] - lowest) %*% (weights * term)), 0) /
      sum(weights * term^2)
    loss <- drop((errors - a - outer(b, term))^2 %*% weights)
    better <- loss < best[, "loss"] * (1 - 1e-9)
    best[better, ] <- cbind(a, b * max(rows)^c, c, loss)[better, ]
  }
  best[, c("a", "b", "c"), drop = FALSE]
}

# errors of curves (a row of `fitted` each) at numbers of rows
power_law <- function(fitted, rows) {
  fitted[, "a"] + fitted[, "b"] * outer(fitted[, "c"], rows, function(c, n) n^-c)
}

# The fitted curve and the curves of bootstrap samples of the repeats. `losses` are repeats x sizes,
# and `se` has the standard errors of their means, to which the samples are widened. `outer` is a
# point measured elsewhere, a list of its `rows`, `error` with `se`, and its `count` relative to a
# size.
fit_curves <- function(rows, losses, se, lowest, draws = 1000L, outer = NULL) {
  repeats <- nrow(losses)
  mean <- colMeans(losses)
  count <- c(rep(1, length(rows)), outer$count)
  all_rows <- c(rows, outer$rows)
  fitted <- fit_power_law(all_rows, t(c(mean, outer$error)), lowest, count)
  if (repeats < 2L) return(list(fitted = fitted, draws = fitted[0L, , drop = FALSE]))
  drawn <- t(stats::rmultinom(draws, repeats, rep(1, repeats))) / repeats
  of_samples <- sqrt(apply(losses, 2L, stats::var) * (repeats - 1)) / repeats
  widened <- ifelse(of_samples > 0, se / of_samples, 0)
  off <- drawn %*% losses - rep(mean, each = draws)
  means <- rep(mean, each = draws) + rep(widened, each = draws) * off
  if (!is.null(outer)) means <- cbind(means, stats::rnorm(draws, outer$error, outer$se))
  list(fitted = fitted, draws = fit_power_law(all_rows, means, lowest, count))
}

# The sizes that a curve is fitted to, from the errors relative to the null model. A law for many
# rows does not hold for training sets that are too small for the method.
fitted_sizes <- function(relative, measure) {
  count <- length(relative)
  which(measure == "user" | is.na(relative) | relative <= 2 | seq_len(count) > count - 3L)
}

# The curve fitted to the error of an outer cross-validation, too, if it is the same measure. A
# point counts by the rows that it tests.
join_outer <- function(curve, cv) {
  if (is.null(curve) || is.null(cv) || curve$words != cv$words) return(curve)
  measure <- list(name = curve$measure, higher = curve$higher)
  errors <- as_error(measure, curve$errors[stats::complete.cases(curve$errors), , drop = FALSE])
  m <- trained_rows(curve$problem)
  se <- cv$estimate[["se"]]
  curve$outer <- data.frame(
    rows = m - m / min(table(cv$folds$repetition)),
    error = as_error(measure, cv$estimate[["mean"]]),
    se = if (is.na(se)) 0 else se, estimate = cv$estimate[["mean"]],
    count = m * ncol(errors) / (nrow(errors) * curve$test_rows)
  )
  lowest <- if (curve$measure == "user") -Inf else 0
  fits <- fitted_sizes(curve$table$relative, curve$measure)
  joined <- with_stream(fixed_stream, fit_curves(
    curve$table$rows[fits], errors[, fits, drop = FALSE], curve$table$se[fits], lowest,
    outer = curve$outer
  ))
  curve[c("fitted", "draws")] <- list(joined$fitted[1L, ], joined$draws)
  curve$forecast <- forecast_of(curve, curve$forecast$rows)
  seal(curve)
}

# The result --------------------------------------------------------------------------------------

new_learning_curve <- function(run, plan, measure, done, wanted, call) {
  values <- vapply(done, function(one) one$result$values, matrix(0, 4L, length(plan$sizes)))
  of_repeats <- function(row) t(matrix(values[row, , ], length(plan$sizes)))
  errors <- of_repeats(1L)
  counted <- stats::complete.cases(errors, of_repeats(2L))
  check_any_scored(counted)
  mean_of <- function(row) colMeans(of_repeats(row)[counted, , drop = FALSE])
  scored <- errors[counted, , drop = FALSE]
  mean <- mean_of(1L)
  null <- mean_of(2L)
  rows <- as.integer(round(mean_of(3L)))
  table <- data.frame(rows = rows)
  if (!is.null(plan$groups)) table$groups <- mean_of(4L)
  # errors have a smallest value, which a user's function may not have
  lowest <- if (measure$name == "user") -Inf else 0
  intervals <- curve_intervals(run$problem, plan, measure, done[counted], scored)
  relative <- relative_error(measure, mean, null)
  fits <- fitted_sizes(relative, measure$name)
  curves <- fit_curves(rows[fits], as_error(measure, scored)[, fits, drop = FALSE],
                       intervals$se[fits], lowest)
  result <- new_result("learning_curve", list(
    table = cbind(table, error = mean, intervals, null = null, relative = relative),
    errors = errors, fitted = curves$fitted[1L, ], forecast = NULL, draws = curves$draws,
    test_rows = plan$test_rows, grouped = !is.null(plan$groups),
    method = run$name, measure = measure$name, words = measure$words, higher = measure$higher
  ), run$problem, call, length(done) == wanted)
  result$forecast <- forecast_of(result, ceiling(c(1, 1.5, 2) * trained_rows(run$problem)))
  seal(result)
}

# The standard error of the mean error at each number of rows, and its interval of 90 %, a row each.
# All repeats are one set of parts, of which a row may be in several.
curve_intervals <- function(problem, plan, measure, done, errors) {
  unit <- if (is.null(plan$groups)) seq_len(nrow(problem)) else plan$groups
  parts <- list2DF(list(rows = lapply(done, `[[`, "rows"), trained = lapply(done, `[[`, "trained"),
                        repetition = rep(1L, length(done))))
  of_sizes <- vapply(seq_along(plan$sizes), function(size) {
    shares <- lapply(done, function(one) one$result$shares[[size]])
    sums <- lapply(errors[, size], c, 1)
    found <- held_out_se(shares, sums, NULL, parts, unit, problem$rows$weight,
                         is_of_pairs(measure, problem))
    c(found$se, interval_of(measure, mean(errors[, size]), found, 0.9))
  }, numeric(3L))
  data.frame(se = of_sizes[1L, ], lower = of_sizes[2L, ], upper = of_sizes[3L, ])
}

# The fitted curve at numbers of rows, with the band that holds 90 % of the bootstrap samples.
forecast_of <- function(x, rows) {
  measure <- list(name = x$measure, higher = x$higher)
  band <- apply(as_error(measure, power_law(x$draws, rows)), 2L, stats::quantile, c(0.05, 0.95),
                names = FALSE)
  data.frame(rows = rows, error = as_error(measure, power_law(t(x$fitted), rows)[1L, ]),
             lower = band[1L, ], upper = band[2L, ])
}

#' @rdname learning_curve
#' @export
predict.learning_curve <- function(object, rows = NULL, ...) {
  check_method_call(..., object = object, known = "rows")
  if (is.null(rows)) return(object$forecast)
  smallest <- object$table$rows[1L]
  valid <- has_numbers(rows) && length(rows) && all(rows >= smallest)
  must <- sprintf("numbers of at least %d, the smallest measured", smallest)
  refuse_unless(valid, "rows", must, rows)
  forecast_of(object, rows)
}

# Print and picture -------------------------------------------------------------------------------

#' @exportS3Method
print_result.learning_curve <- function(x, ...) {
  repeats <- counted_repeats(x)
  say("learning curve of ", x$method, ": all of it repeated on random parts of the rows, ",
      counted(repeats, "time"), ", and scored on ", if (x$grouped) "whole groups of about ",
      counted(x$test_rows, "row"), " held out")
  print_data(x$problem)
  print_unscored(nrow(x$errors) - repeats, nrow(x$errors), "repeat", x$measure)
  say(measure_label(x), ":")
  table <- x$table
  table[-1L] <- lapply(table[-1L], signif, 3L)
  if (x$higher) names(table)[names(table) == "error"] <- "value"
  print(shown_table(table, names(table)[-1L]), row.names = FALSE)
  fitted <- vapply(x$fitted, format, "", digits = 3L)
  fits <- fitted_sizes(x$table$relative, x$measure)
  say(sprintf("fitted curve: %s + %s / rows^%s", fitted[["a"]], fitted[["b"]], fitted[["c"]]),
      if (length(fits) < nrow(x$table)) sprintf(", from %s rows on", x$table$rows[fits[1L]]),
      if (of_one(x)) ", of 1 less the value" else if (x$higher) ", of the negative")
  say("forecast, an extrapolation", if (nrow(x$draws)) ", with a band of 90 %", ":")
  largest <- max(abs(x$forecast$error))
  value <- function(column) with_decimals(x$forecast[[column]], decimals_of(largest), largest)
  band <- if (nrow(x$draws)) sprintf(" (%s to %s)", value("lower"), value("upper")) else ""
  cat(sprintf("  %s rows: %s%s   %s\n", format(x$forecast$rows), value("error"), band,
              c("all rows there are", "one and a half times as many", "twice as many")), sep = "")
  remark("it holds if the error goes on falling as the curve does and new rows are like these")
  print_interrupted(x$status, "repeats")
}

counted_repeats <- function(x) sum(stats::complete.cases(x$errors))

# whether 1 is the best possible value
of_one <- function(x) x$higher && is_share(list(name = x$measure))

#' @exportS3Method
record.learning_curve <- function(x) {
  largest <- x$table[nrow(x$table), ]
  list(rows = x$table,
       row = data.frame(method = x$method, measure = x$measure, rows = largest$rows,
                        estimate = largest$error, std.error = largest$se, as.list(x$fitted),
                        repeats = counted_repeats(x)),
       meaning = paste("rows = trained on; se = standard error, for repeats that share rows;",
                       "lower, upper = 90 % interval;",
                       if (x$grouped) "groups = how many groups have these rows, on average;",
                       "null = error of the null model; relative =",
                       if (!x$higher) "error / null" else if (of_one(x))
                         "(1 - value) / (1 - null)" else "null - value"))
}

#' @exportS3Method
picture.learning_curve <- function(x, ...) {
  measured <- x$table
  alone <- is.na(measured$lower)
  measured[alone, c("lower", "upper")] <- measured$error[alone]
  largest <- max(measured$rows)
  ends <- c(min(measured$rows), max(x$forecast$rows))
  grid <- sort(unique(c(largest, exp(seq(log(ends[1L]), log(ends[2L]), length.out = 60L)))))
  curve <- forecast_of(x, grid)
  pieces <- list(
    measured = measured[c("rows", "error", "lower", "upper")],
    fitted = curve[curve$rows <= largest, ], forecast = curve[curve$rows >= largest, ]
  )
  data <- data.frame(part = factor(rep(names(pieces), vapply(pieces, nrow, 0L)), names(pieces)),
                     do.call(rbind, unname(pieces)), row.names = NULL)
  line <- function(part, lty) {
    as_layer("line", pieces[[part]]$rows, pieces[[part]]$error, col = mark_colour, lty = lty,
             lwd = 2, label = part)
  }
  band <- data[data$part != "measured" & !is.na(data$lower), ]
  bars <- pieces$measured
  layers <- c(
    as_layer("points", bars$rows, bars$error, label = "measured"),
    as_layer("segments", bars$rows, bars$lower, x2 = bars$rows, y2 = bars$upper),
    if (!is.null(x$outer)) {
      as_layer("points", x$outer$rows, x$outer$estimate, pch = 17, label = "outer folds")
    },
    line("fitted", 1), line("forecast", 2),
    as_layer("up", trained_rows(x$problem), col = "#777777", lty = 3, label = "all rows"),
    if (nrow(band)) {
      as_layer("band", band$rows, band$lower, y2 = band$upper, col = "grey88", label = "90 %")
    }
  )
  words <- list(main = plot_title(x), ylab = error_axis(x),
                xlab = paste0("training rows", if (x$grouped) ", and groups along the top"))
  groups <- if (x$grouped) ticks_at(measured$rows, signif(measured$groups, 2L))
  new_picture(data, layers, words, list(...), list(x = "whole", top = groups))
}

# Panel error --------------------------------------------------------------------------------------

#' How good is a given list of columns?
#'
#' The exact held-out error of the ridge model on a list of columns, such as a published panel of
#' genes, beside the errors of lists of the same length drawn at random.
#'
#' The error equals retraining the model without each fold in turn. With `lambda = NULL` the ridge
#' parameter is the one among `16^(-3:1)` times the mean sum of squares of a column with the
#' smallest held-out squared error, as in a refit of [greedy_rls()]. It is chosen for the list and
#' for each random list.
#'
#' **When it may be trusted.** The error is honest for a panel that was **not chosen on these
#' data**: from the literature, from another cohort or by subject knowledge. For columns chosen on
#' the same rows, such as the result of [selected()], it is optimistic: see [cross_validate()]. The
#' choice among five lambdas makes it slightly optimistic in any case, for the random lists as well.
#' The centre and scale of the columns are computed on all rows.
#'
#' **The random lists** are drawn from the usable columns of the data, each equally likely, and may
#' share columns with the panel. The p-value, \eqn{(1 + \#\{\mathrm{as\ good}\}) / (R + 1)}{(1 +
#' number as good) / (R + 1)} with \eqn{R} lists, tests whether the panel is better than random
#' columns. If many columns are related to the response, as in most data on gene expression and
#' cancer, random lists also predict well, better than the null model (Venet, Dumont and Detours
#' 2011).
#'
#' @inheritParams permutation_test
#' @param features The panel: names or numbers of columns. With a problem for `x` it may come
#'   second.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`. For `plot()`, graphical
#'   parameters such as `main`.
#' @param loss The loss, as in [greedy_rls()]; of `"negbin"` with theta at the null model.
#' @param random Number of random lists, 100 by default; 0 for none.
#' @param folds Which rows are held out together, as in [greedy_rls()].
#' @param lambda Positive ridge parameter. Of several values the one with the smallest held-out
#'   squared error or deviance is used. `NULL`: see Details.
#' @param criterion The error, as in [greedy_rls()].
#' @param BPPARAM `NULL`, or how BiocParallel runs the random lists, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `panel_error`, a list:
#' * `error`, `se`: the criterion of the panel and its standard error over folds (`NA` where it has
#'   none); `errors`, a data frame with one row: `criterion`, `se`, `squared` and, for classes, the
#'   error rate `error`.
#' * `null`: the criterion of the model without columns of `x`.
#' * `random`: the criterion of each random list; `p.value`, see Details.
#' * `features`, the numbers of the columns, `lambda`, `held_out` (m x L, the predictions of each
#'   row by the model without it; rows of weight 0 are predicted by the model of the others).
#' * `criterion`, `folds`, `problem` (without its x), `status` (`"complete"` or `"interrupted"`),
#'   `call`.
#'
#' `plot()` draws a histogram of the random lists with the panel and the null model, and returns
#' invisibly the data frame drawn. [selected()] gives the names of the panel.
#'
#' @section Cost: O(m k^2) for each list of k columns and each lambda. The random lists run on a
#'   future plan and can be interrupted, see [parallel_runs].
#'
#' @section Errors: `sparsels_error_input` for bad arguments, and for columns that do not exist, are
#'   repeated, or are constant.
#'
#' @references Venet, D., Dumont, J. E., Detours, V. (2011). Most random gene expression signatures
#' are significantly associated with breast cancer outcome. PLoS Computational Biology 7, e1002240.
#' \doi{10.1371/journal.pcbi.1002240}
#'
#' @seealso [exchange()], what could replace a feature; [rls()], which fits the model
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' tumour <- factor(ifelse(x[, 7] - x[, 50] + rnorm(40) / 2 > 0, "yes", "no"))
#' panel <- panel_error(x, tumour, c("gene7", "gene20", "gene50"))
#' panel
#' plot(panel)
#' @export
panel_error <- function(x, y = NULL, features = NULL, ..., data = NULL, loss = "squared",
                        random = 100, folds = if (loss == "squared") "loo" else 10, lambda = NULL,
                        criterion = loss, progress = interactive(), BPPARAM = NULL) {
  check_given(x, "x")
  if (inherits(x, "sparsels_problem") && is.null(features)) {
    features <- y
    y <- NULL
  }
  check_search_loss(loss)
  problem <- loss_problem(fitter_problem("panel_error", x, y, ..., data = data), loss)
  problem <- settle_likelihood(problem, loss, list(criterion = criterion))
  loss <- with_null_parameter(problem, loss)
  if (missing(folds) && loss != "squared") folds <- default_folds(problem)
  stop_argument_if(is.null(features), "`features` must be given: the names or numbers of columns")
  features <- distinct_columns(features, problem, "features")
  # a panel is given, whatever its columns share, but a column with a curve is all of the curve, and
  # a pair all of its products
  if (!has_terms(problem)) problem <- without_groups(problem)
  random <- check_count(random, "random", 1e6, lower = 0L)
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  control <- c(list(folds = folds, threads = 1L),
               criterion_control(criterion, problem, folds, loss))
  values <- check_lambda(lambda)
  if (is.null(values)) values <- refit_multiples * null_values(problem, loss)$unit
  check_flag(progress, "progress")
  check_bpparam(BPPARAM)
  size <- count_units(problem, whole_groups(problem, features))
  panel <- refit_leading(problem, control, whole_groups(problem, features), c(0L, size), values)
  units <- distinct_units(problem)
  drawn <- if (random > 0L) repeat_tasks(random, "random list", function(i) {
    columns <- whole_groups(problem, units[sample.int(length(units), size)])
    refit_leading(problem, control, columns, size, values)$criterion
  }, progress, BPPARAM)
  new_panel_error(problem, control, features, panel, as.double(unlist(drawn)), random,
                  if (is.null(lambda)) NULL else values, short_call(match.call()))
}

# `panel` is the result of refit_leading() for size 0 and the size of the panel. `given` has the
# lambdas, if the user gave any.
new_panel_error <- function(problem, control, features, panel, random, wanted, given, call) {
  criterion <- control$criterion
  errors <- as.data.frame(lapply(panel[setdiff(names(panel), c("lambda", "models", "pivot"))],
                                 `[`, 2L))
  columns <- whole_groups(problem, features)
  held_out <- refit_values(problem, control, columns, panel$lambda[2L])$held_out
  # the model predicts rows of weight 0
  idle <- which(problem$rows$weight == 0)
  if (length(idle)) {
    model <- c(list(features = columns, row = 1L), panel$models[[2L]])
    held_out[idle, ] <- layer(model_scores(user_coefficients(problem, list(model)), problem, idle),
                              1L)
  }
  new_result("panel_error", list(
    error = errors$criterion, se = errors$se, errors = errors, null = panel$criterion[1L],
    random = random, p.value = if (!length(random)) NA_real_ else
      chance_of(matrix(criterion_loss(criterion, random)),
                criterion_loss(criterion, errors$criterion)),
    features = features, lambda = panel$lambda[2L],
    lambda_rule = if (length(given) == 1L) "given" else
      paste("chosen by the held-out", if (!is_squared(control)) "deviance" else
        if (is_of_groups(criterion$name)) criterion$words else "squared error"),
    held_out = held_out,
    criterion = criterion[c("name", "higher", "words", "label")], folds = control$folds
  ), problem, call, length(random) == wanted)
}

# Print and picture -------------------------------------------------------------------------------

#' @exportS3Method
print_result.panel_error <- function(x, ...) {
  say("panel of ", counted(length(x$features), "column"), ": ", held_out_words(x, x$errors))
  own <- if (!is.na(x$se)) paste("; standard error for the panel:", format(x$se, digits = 2))
  remark(x$criterion$words, " of the null model: ", shown(x$null), own)
  print_unscored_folds(x)
  remark("exact for columns that were not chosen on these data, otherwise optimistic")
  print_data(x$problem)
  say("columns: ", some_of(x$problem$columns$name[x$features], 10L, ""))
  say("lambda: ", shown_parameter(x$lambda), ", ", x$lambda_rule)
  count <- length(x$random)
  if (count) {
    say(sprintf("random lists of as many columns: %d of %d are as good (p-value %s), %s",
                count_as_small(x$p.value, count), count, format(x$p.value, digits = 2),
                paste("their median is", shown(stats::median(x$random)))))
  }
  print_interrupted(x$status, "random lists")
}

#' @exportS3Method
selected.panel_error <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_sealed(object)
  selected_of_set(object$features, object$problem$columns$name, size, index, lambda,
                  "a panel is one list of columns")
}

#' @exportS3Method
record.panel_error <- function(x) {
  list(rows = panel_lists(x),
       row = data.frame(size = length(x$features), lambda = x$lambda,
                        criterion = x$criterion$name, value = x$error, se = x$se, null = x$null,
                        p.value = x$p.value, random = length(x$random)))
}

# the error of each list of columns
panel_lists <- function(x) {
  lists <- c("panel", "null model", "random")
  data.frame(list = factor(rep(lists, c(1L, 1L, length(x$random))), lists),
             error = c(x$error, x$null, x$random))
}

#' @exportS3Method
picture.panel_error <- function(x, breaks = 30L, ...) {
  stop_input_if(!length(x$random), "there are no random lists to draw: `random` was 0")
  if (length(breaks) == 1L) breaks <- pretty(range(x$random), breaks)
  counts <- graphics::hist(x$random, breaks, plot = FALSE)$counts
  layers <- c(
    as_layer("up", x$error, col = mark_colour, lwd = 2, label = "this panel"),
    as_layer("up", x$null, col = "#0072B2", lty = 2, lwd = 2, label = "null model"),
    as_layer("rects", utils::head(breaks, -1L), 0, x2 = breaks[-1L], y2 = counts, col = "grey80",
             label = "random lists", main = TRUE)
  )
  title <- sprintf("%s: p-value %s", counted(length(x$features), "column"),
                   format(x$p.value, digits = 2))
  words <- list(main = title, xlab = x$criterion$label, ylab = "random lists")
  new_picture(panel_lists(x), layers, words, list(...), axes = NULL)
}
