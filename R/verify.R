#' Verify the figures of a fit by retraining
#'
#' Draws claims of a fit, such as "the held-out error of size 4 is 0.31" or "no other column would
#' have been better at step 3", recomputes the models from scratch by an independent method, and
#' compares.
#'
#' Models are trained again in plain R, without the formulas and the C code that made the fit: ridge
#' models by a QR decomposition of the rows augmented by the square root of the penalty,
#' leave-one-out predictions from the leverages of its orthogonal factor, predictions of each fold
#' by a model of the other rows. The centres and scales of the data are computed again, too. Two
#' things are computed by the code of the fit again: the columns that a search selects without a
#' fold, and the l1 path without one.
#'
#' **What it proves.** The checked numbers equal retraining, up to the tolerance. A changed number,
#' by an error of the program or by editing, is found if it is checked, and `claims = Inf` checks
#' all. **What it does not prove.** The model or its size may be poor, and an error on these rows
#' may differ from the error on new rows: see [cross_validate()].
#'
#' **Claims.** The kinds take turns until `claims` are drawn, so each kind is drawn:
#' * Fits of columns: the errors of the path (`criterion`) and their standard errors, and the errors
#'   before a refit, by which the search chose (`criterion of the search`); the coefficients of
#'   every size, by retraining and by their gradient \eqn{X_S' W (y - Z b - X_S B) - \lambda B =
#'   0}{X_S' W (y - Z b - X_S B) - lambda B = 0}; fitted values and held-out predictions of the
#'   rows; the parameter of a refit. For a stepwise search also that no other column was better at a
#'   step, the runners-up being drawn first. For [best_subset()] and [sequential_replacement()] also
#'   that no exchange of two columns is better. If the procedure was repeated in folds, the search
#'   of a fold is run again for its columns and lambda, and its models are retrained.
#'   Cross-validated errors require this for all folds, and take as long as the fit.
#' * Paths of [l1_path()]: the objective, a duality gap by the dual point of the residuals, and
#'   columns whose product with it may not exceed lambda. Solutions are not computed again, but
#'   shown to be optimal. Solutions without a fold are computed by the code of the fit, and their
#'   gaps are checked.
#' * Kernel expansions: errors, coefficients and predictions by retraining with the kernel's values.
#' * Solutions of systems: objective, residual, and the equations that the components satisfy.
#'
#' **Tolerance.** A deviation is relative to the number, or to a hundredth of a typical number if
#' it is smaller. Coefficients of a kernel deviate relative to the largest of them. A deviation may
#' be \eqn{\max(10^{-10}, 100 \epsilon \kappa)}{max(1e-10, 100 eps cond)}, with the rounding unit
#' \eqn{\epsilon}{eps} and the condition number \eqn{(\sigma_{\max}^2 + \lambda) /
#' (\sigma_{\min}^2 + \lambda)}{ (s_max^2 + lambda) / (s_min^2 + lambda)} of the standardised
#' columns. It may be larger if centring loses digits, because values are large relative to their
#' variation, and if a held-out row is fitted almost exactly. A column is better at a step if its
#' criterion is better by more than 1e-12 of the criterion of the null model. An l1 path is checked
#' at its own tolerance.
#'
#' @param fit A fit of this package, not a result of [cross_validate()], whose field `fit` is one.
#' @param x,y,data The data that the fit was made from, in the same form: a matrix and its response,
#'   a formula and data, an experiment and the name of its response, or a problem. Where no response
#'   is given, `x` is as [predict()][predict.sparsels_fit] takes it, and rows in another order are
#'   found by their fitted values. Of a solution of a system `A` and `b`.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`; those not given are as the
#'   fit has them. With a formula `x` the formula `adjust` is given again, because its variables are
#'   not columns.
#' @param claims Number of claims drawn, by R's generator; `Inf` for all.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#'
#' @return An object of class `verification`, a list:
#' * `ok`: whether every claim holds.
#' * `claims`: data frame, a row for each claim: `claim` (in words), `size`, `lambda`, `feature`
#'   (the name of a column, component or basis vector), `row` (of the data), `claimed`, `retrained`,
#'   `deviation` (relative), `tolerance`, `ok`.
#' * `kinds`: data frame of the kinds of claims: `claim`, `checked` and `available`.
#' * `largest`: the largest deviation relative to its tolerance.
#' * `unchecked`: numbers that cannot be verified, in words.
#' * `method`, `fit_call`, `status` (`"complete"` or `"interrupted"`), `call`.
#'
#' A wrong number is not an error: `ok` is `FALSE`.
#'
#' @section Cost: O(m s^2) for an error of a model of s columns by leave-one-out with m rows, O(m n)
#' to compare the data, and a search for each fold that a claim is about.
#'
#' @section Errors: `sparsels_error_input` if the data differ from the data of the fit: other
#' columns, rows, responses, weights or covariates, columns with another mean or scale.
#'
#' @seealso [cross_validate()], how good a model is; [permutation_test()], whether it is better than
#'   chance; [judge()], both and more in one call
#' @examples
#' x <- matrix(rnorm(30 * 20), 30, dimnames = list(NULL, paste0("gene", 1:20)))
#' y <- x[, 7] - x[, 15] + rnorm(30) / 2
#' fit <- greedy_rls(x, y, k = 3, size_folds = 3)
#' verify(fit, x, y)
#'
#' fit$path$criterion[3] <- 0.999 * fit$path$criterion[3]
#' verify(fit, x, y, claims = Inf)$ok
#' @srrstats {G5.4a} plain R twins of every C kernel. `verify()` gives them to users
#' @srrstats {G5.9} In part: see below
#' @srrstats {G5.9a} In part: `verify()` states its tolerance for rounding. Permuted rows and
#'   columns and rescaled columns are tested
#' @srrstats {RE2.4b} a column that equals the response is chosen first, and `verify()` states the
#'   precision lost
#' @export
verify <- function(fit, x, y = NULL, ..., data = NULL, claims = 20, progress = interactive()) {
  check_given(fit, "fit")
  if (!inherits(fit, "certificate") && is.null(data)) check_given(x, "x")
  if (inherits(fit, "sparsels_result")) check_sealed(fit)
  check_flag(progress, "progress")
  refuse_unless(is_number(claims) && claims >= 1 && (claims == round(claims)), "claims",
                "a whole number of at least 1, or Inf", claims)
  checks <- checks_of(fit, x, y, ..., data = data)
  # parts of the rows leave out covariates, as the fit has said
  with_left_out(new_verification(fit, checks, claims, progress, short_call(match.call())))$value
}

# The checks of the numbers that a fit reports about its data: list(kinds, unchecked).
checks_of <- function(fit, x, y, ..., data) UseMethod("checks_of")

#' @exportS3Method
checks_of.default <- function(fit, x, y, ..., data) {
  hint <- if (inherits(fit, "cv_result")) ": give its field `fit`" else ""
  stop_argument("`fit` must be a fit of this package, not %s%s", describe(fit), hint)
}

# A kind of checks, a row of the table that the fit's class makes, described by `words`. `claimed`
# is a number for each thing that is retrained (a row of the path, a model), or a list with an array
# for each. retrain(at, cell) recomputes the thing `at`. It returns the value, or a list of the
# values that differ from these defaults, each recycled over the cells of the array: value,
# condition or tolerance, unit (a typical value), deviation (if it is not the difference), claimed
# (if `claimed` is NULL and there are `counts` of each thing), size, lambda, feature, row. Those in
# `...` have a value for each thing. draw(n) gives numbers of n checks, if some are preferred.
check_kind <- function(words, claimed, retrain, size = NA, lambda = NA, ...,
                       counts = if (is.list(claimed)) lengths(claimed) else !is.na(claimed),
                       draw = NULL) {
  last <- cumsum(as.double(counts))
  list(words = words, claimed = claimed, retrain = retrain,
       defaults = list(size = size, lambda = lambda, ...), last = last, count = max(0, last),
       draw = draw)
}

# The i-th check of a kind: the reported value compared with the result of retraining.
run_check <- function(kind, i) {
  at <- findInterval(i - 1, kind$last) + 1L
  cell <- i - c(0, kind$last)[at]
  own <- c(list(claimed = kind$claimed[[at]]), lapply(kind$defaults, recycled, at))
  found <- kind$retrain(at, cell)
  if (!is.list(found)) found <- list(value = found)
  own[names(found)] <- found
  do.call(compared, lapply(Filter(length, own), recycled, cell))
}

recycled <- function(values, i) values[(i - 1) %% length(values) + 1]

compared <- function(claimed = NA, value = NA, condition = 1,
                     tolerance = max(1e-10, 100 * .Machine$double.eps * condition), unit = 0,
                     deviation = NULL, size = NA, lambda = NA, feature = NA, row = NA) {
  if (is.null(deviation)) {
    deviation <- abs(claimed - value) / max(abs(value), unit / 100, 1e-300)
    if (is.na(claimed) && is.na(value)) deviation <- 0
  }
  list(
    size = as.integer(size), lambda = as.double(lambda), feature = as.character(feature),
    row = as.integer(row), claimed = as.double(claimed), retrained = as.double(value),
    deviation = as.double(deviation), tolerance = as.double(tolerance),
    ok = !is.na(deviation) && deviation <= tolerance
  )
}

new_verification <- function(fit, checks, claims, progress, call) {
  kinds <- Filter(function(kind) isTRUE(kind$count > 0), checks$kinds)
  count <- vapply(kinds, `[[`, 0, "count")
  drawn <- Map(function(kind, share) {
    if (share == kind$count) return(seq_len(share))
    if (is.null(kind$draw)) sample.int(kind$count, share) else kind$draw(share)
  }, kinds, drawn_shares(count, claims))
  of_kind <- rep(seq_along(kinds), lengths(drawn))
  number <- unlist(drawn)
  done <- run_serially(length(number), function(i) {
    # values may be so wrong that nothing can be trained with them
    until_stopped(run_check(kinds[[of_kind[i]]], number[i]), identity,
                  error = function(e) compared(deviation = NA))
  }, "Verifying", progress)
  done <- Filter(function(check) !inherits(check, "condition"), done)
  if (!length(done)) raise_interrupt()
  words <- vapply(kinds, `[[`, "", "words")
  of_kind <- of_kind[seq_along(done)]
  table <- data.frame(claim = words[of_kind], stacked(done, names(done[[1L]])))
  if (length(done) < length(number)) warn_interrupted(length(done), length(number), "claim")
  seal(structure(list(
    ok = all(table$ok), claims = table,
    kinds = data.frame(claim = words, checked = tabulate(of_kind, length(kinds)),
                       available = count),
    largest = max(ifelse(is.na(table$deviation), Inf, table$deviation / table$tolerance)),
    unchecked = checks$unchecked,
    method = fit$method, fit_call = fit$call, call = call,
    status = if (length(done) < length(number)) "interrupted" else "complete"
  ), class = c("verification", "sparsels_result")))
}

# The number of checks of each kind among all that are wanted: one in turn as long as there are any.
drawn_shares <- function(count, wanted) {
  share <- 0 * count
  while (wanted > 0 && any(open <- share < count)) {
    each <- max(1, floor(min(wanted / sum(open), (count - share)[open])))
    given <- which(open)
    if (each * length(given) > wanted) given <- given[seq_len(wanted)]
    share[given] <- share[given] + each
    wanted <- wanted - each * length(given)
  }
  share
}

#' @exportS3Method
record.verification <- function(x) {
  list(rows = x$claims, complete = TRUE,
       row = data.frame(method = x$method, ok = x$ok, claims = nrow(x$claims),
                        failed = sum(!x$claims$ok), largest = x$largest, status = x$status))
}

# Printing ----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.verification <- function(x, ...) {
  failed <- x$claims[!x$claims$ok, ]
  say("verification of ", shortened(paste(deparse(x$fit_call), collapse = " "), 200L))
  checked <- whole_number(nrow(x$claims))
  total <- whole_number(sum(x$kinds$available))
  say(sprintf("%s of %s claims retrained from scratch: %s", checked, total,
              if (x$ok) "all of them hold" else
                sprintf("%d %s NOT HOLD", nrow(failed), if (nrow(failed) == 1L) "DOES" else "DO")))
  worst <- x$claims[which.max(x$claims$deviation / x$claims$tolerance), ]
  if (nrow(worst)) {
    remark(sprintf("largest deviation %s, relative, where %s is allowed (%s)",
                   format(worst$deviation, digits = 2), format(worst$tolerance, digits = 2),
                   check_words(worst)))
  }
  if (!x$ok) cat("claims that do not hold:\n")
  for (i in seq_len(min(nrow(failed), 8L))) {
    remark(sprintf("%s: claimed %s, retrained %s", check_words(failed[i, ]),
                   format(failed$claimed[i], digits = 8), format(failed$retrained[i], digits = 8)))
  }
  if (nrow(failed) > 8L) remark(counted(nrow(failed) - 8L, "more claim"), ", see $claims")
  table <- x$kinds
  table$deviation <- as.vector(tapply(x$claims$deviation, factor(x$claims$claim, table$claim), max))
  table <- table[table$checked > 0L, ]
  table$deviation <- formatC(table$deviation, digits = 2, format = "g")
  table$available <- whole_number(table$available)
  print(table, row.names = FALSE, right = FALSE)
  for (words in x$unchecked) remark("not checked: ", words)
  print_interrupted(x$status, "claims")
}

# "criterion, size 3" and the like
check_words <- function(check) {
  paste(c(check$claim, if (!is.na(check$size)) paste("size", check$size),
          if (!is.na(check$lambda)) paste("lambda", shown_parameter(check$lambda)),
          if (!is.na(check$feature)) paste0("'", check$feature, "'"),
          if (!is.na(check$row)) paste("row", check$row)), collapse = ", ")
}

# Verify kinds -------------------------------------------------------------------------------------

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
                concordance = "concordance", training = "squared")
  lapply(intersect(names(words), names(path)), function(column) {
    check_kind(words[[column]], path[[column]], function(at, cell) {
      found <- predicted(at, column)
      if (column == "training") folds <- list(ids = matrix(1L, nrow(problem)))
      error <- retrain_error(problem, measures[[column]], found$pred, folds)
      part <- if (column == "se") "se" else "value"
      list(value = error[[part]], condition = found$condition,
           unit = (if (is.null(unit)) error[["value"]] else unit) * error_share[[part]])
    }, size, lambda)
  })
}

# What rounding does to an error and to its standard error, relative to the unit of a check. It is
# as large for both, but the standard error may be 0.
error_share <- c(value = 1, se = 1000)

# The coefficients of the terms of models, and of their covariates. `terms` are the names of the
# terms, if the coefficients have none.
coefficient_kinds <- function(models, trained, size = NA, lambda = NA, terms = NULL) {
  kind <- function(words, part, condition) {
    check_kind(words, lapply(models, `[[`, part), function(at, cell) {
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
  check_kind(words, values, function(at, cell) {
    found <- predicted(at)
    # a missing prediction claims nothing
    list(value = replace(found$pred, is.na(values[[at]]), NA), condition = found$condition,
         row = seq_len(nrow(values[[at]])))
  }, size, lambda, unit = unit)
}

# the mean of the predictions of several partitions
of_partitions <- function(out) list(pred = average(out$pred), condition = out$condition)

# the typical coefficient of each covariate
covariate_units <- function(problem) response_rms(problem) / sqrt(colMeans(problem$z^2))

# a value, or one of `others` that differs from it by less than 1e-4
nearest <- function(value, others) {
  near <- others[abs(others / value - 1) < 1e-4]
  if (length(near)) near[1L] else value
}

# whether verify() can evaluate a criterion, unlike a user's function, which fits do not keep
is_known_criterion <- function(name) {
  name %in% c(names(criteria), "r_squared") || !is.null(losses[[name]])
}
