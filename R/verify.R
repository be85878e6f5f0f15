#' Verify the figures of a fit by retraining
#'
#' Draws claims of a fit, such as "the held-out error of size 4 is 0.31" or "no other column would
#' have been better at step 3", trains the models that they are about from scratch, in another way
#' than the fit did, and compares.
#'
#' Models are trained again in plain R, without the formulas and the C code that made the fit: ridge
#' models by a QR decomposition of the rows augmented by the square root of the penalty,
#' leave-one-out predictions from the leverages of its orthogonal factor, predictions of folds by a
#' model of the other rows each. The data are measured anew, too. Two things are asked of the code
#' of the fit once more: which columns a search chooses without a fold, and the l1 path without one.
#'
#' **What it proves.** That the figures checked are those of retraining, up to the tolerance. A
#' figure that was changed, by an error of the program or of a hand, is found if it is among those
#' checked; `claims = Inf` checks all. **What it does not prove.** That the model is good, that its
#' size is a good one, or that an error on these rows is that on new ones: for this see
#' [cross_validate()].
#'
#' **Claims.** The kinds there are take turns until `claims` are drawn, so that each is among them:
#' * Fits of columns: the errors of the path and their standard errors; the coefficients of every
#'   size, by retraining and by their gradient
#'   \eqn{X_S' W (y - Z b - X_S B) - \lambda B = 0}{X_S' W (y - Z b - X_S B) - lambda B = 0};
#'   fitted values and held-out predictions of the rows; the parameter of a refit. Of a search step
#'   by step also that no other column was better at a step, the runners-up being drawn first; of
#'   [best_subset()] and [sequential_replacement()] that no exchange of two columns is. Where the
#'   procedure was repeated in folds, a fold's search is run again to learn its columns and lambda,
#'   and its models are retrained; cross-validated errors need this for all folds, and take as long
#'   as the fit did.
#' * Paths of [l1_path()]: the objective, a duality gap by the dual point of the residuals, and
#'   columns whose product with it may not exceed lambda: solutions are not found again, but shown
#'   to be optimal. Those without a fold are computed as the fit did, and their gaps checked.
#' * Kernel expansions: errors, coefficients and predictions by retraining with the kernel's values.
#' * Solutions of systems: objective, residual, and the equations that the components satisfy.
#'
#' **Tolerance.** A deviation is relative to the figure, or to a thousandth of a typical one where
#' it is smaller. It may be
#' \eqn{\max(10^{-10}, 100 \epsilon \kappa)}{max(1e-10, 100 eps cond)}, with the rounding unit
#' \eqn{\epsilon}{eps} and the condition number
#' \eqn{(\sigma_{\max}^2 + \lambda) / (\sigma_{\min}^2 + \lambda)}{
#' (s_max^2 + lambda) / (s_min^2 + lambda)} of the columns, standardised; more where centring costs
#' digits, the values being large beside what varies of them, and where a row is held out that is
#' fitted almost exactly. A column is better at a
#' step if its criterion is by more than 1e-12 of the null model's. A path of l1 is held to the
#' tolerance it was given.
#'
#' @param fit A fit of this package, not a result of [cross_validate()], whose field `fit` is one.
#' @param x,y,data The data that the fit was made from, in the same form: a matrix and its response,
#'   a formula and data, an experiment and the name of its response, or a problem. Where no response
#'   is given, `x` is as [predict()][predict.sparsels_fit] takes it, and rows in another order are
#'   found by their fitted values. Of a solution of a system `A` and `b`.
#' @param ... Further arguments of [as_problem()], such as `weights`; those not given are as the fit
#'   has them. With a formula `x` the formula `adjust` is given again, as its variables are no
#'   columns.
#' @param claims How many claims are drawn, by R's generator; `Inf` for all there are.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#'
#' @return An object of class `verification`, a list:
#' * `ok`: whether every claim holds.
#' * `claims`: data frame, a row for each claim: `claim` (in words), `size`, `lambda`, `feature`
#'   (the name of a column, component or basis vector), `row` (of the data), `claimed`, `retrained`,
#'   `deviation` (relative), `tolerance`, `ok`.
#' * `kinds`: data frame of the kinds of claims: `claim`, `checked` and `available`.
#' * `largest`: the largest deviation relative to its tolerance.
#' * `unchecked`: what cannot be verified, in words.
#' * `method`, `fit_call`, `status` (`"complete"` or `"interrupted"`), `call`.
#'
#' A figure that is wrong is no error: `ok` is `FALSE`.
#'
#' @section Cost: O(m s^2) for an error of a model of s columns by leave-one-out with m rows, O(m n)
#' to compare the data, and a search for each fold that a claim is about.
#'
#' @section Errors: `sparsels_error_input` if the data are not those of the fit: other columns,
#' rows, responses, weights or covariates, columns with another mean or scale.
#'
#' @seealso [cross_validate()], how good a model is; [permutation_test()], whether it is better than
#'   chance; [judge()], both and more in one call
#' @examples
#' x <- matrix(rnorm(40 * 60), 40, dimnames = list(NULL, paste0("gene", 1:60)))
#' y <- x[, 7] - x[, 50] + rnorm(40) / 2
#' fit <- greedy_rls(x, y, k = 5)
#' verify(fit, x, y)
#'
#' fit$path$criterion[3] <- 0.999 * fit$path$criterion[3]
#' verify(fit, x, y, claims = Inf)$ok
#' @export
verify <- function(fit, x, y = NULL, ..., data = NULL, claims = 20, progress = interactive()) {
  check_given(fit, "fit")
  check_given(x, "x")
  check_flag(progress, "progress")
  if (!(is_number(claims) && claims >= 1 && (claims == round(claims)))) {
    refuse("claims", "a whole number of at least 1, or Inf", claims)
  }
  book <- claims_of(fit, x, y, ..., data = data)
  new_verification(fit, book, claims, progress, short_call(match.call()))
}

# What a fit claims about its data: list(kinds, unchecked).
claims_of <- function(fit, x, y, ..., data) UseMethod("claims_of")

#' @exportS3Method
claims_of.default <- function(fit, x, y, ..., data) {
  hint <- if (inherits(fit, "cv_result")) ": give its field `fit`" else ""
  stop_input(sprintf("`fit` must be a fit of this package, not %s%s", describe(fit), hint),
             "sparsels_error_argument")
}

# A kind of claims: its words; how many there are; check(i), which retrains the i-th and returns a
# new_claim(); draw(n), numbers of n of them, where some are to be preferred.
claim_kind <- function(words, count, check, draw = NULL) {
  list(words = words, count = count, check = check, draw = draw)
}

# A kind of claims, `counts` of them about each of several things: check(at, i) retrains the i-th
# about the thing `at`.
claims_of_each <- function(words, counts, check, draw = NULL) {
  last <- cumsum(as.double(counts))
  claim_kind(words, max(0, last), function(i) {
    at <- findInterval(i - 1, last) + 1L
    check(at, i - c(0, last)[at])
  }, draw)
}

# What was found of a claim. `scale` is what a deviation is relative to, where that is more than the
# figure itself; `deviation` may be given where it is not the difference.
new_claim <- function(claimed, retrained, tolerance, scale = 0, deviation = NULL,
                      size = NA, lambda = NA, feature = NA, row = NA) {
  if (is.null(deviation)) {
    unit <- max(abs(retrained), scale, 1e-300)
    deviation <- abs(claimed - retrained) / unit
    if (is.na(claimed) && is.na(retrained)) deviation <- 0
  }
  list(
    size = as.integer(size), lambda = as.double(lambda), feature = as.character(feature),
    row = as.integer(row), claimed = as.double(claimed), retrained = as.double(retrained),
    deviation = as.double(deviation), tolerance = as.double(tolerance),
    ok = !is.na(deviation) && deviation <= tolerance
  )
}

new_verification <- function(fit, book, claims, progress, call) {
  kinds <- Filter(function(kind) kind$count > 0, book$kinds)
  count <- vapply(kinds, function(kind) as.double(kind$count), 0)
  drawn <- Map(drawn_claims, kinds, drawn_shares(count, claims))
  of_kind <- rep(seq_along(kinds), lengths(drawn))
  number <- unlist(drawn)
  done <- run_serially(length(number), function(i) {
    # figures may be so wrong that nothing can be trained by them
    tryCatch(kinds[[of_kind[i]]]$check(number[i]), interrupt = identity,
             error = function(e) new_claim(NA, NA, 1e-10, deviation = NA))
  }, "Verifying", progress)
  done <- Filter(function(claim) !inherits(claim, "condition"), done)
  if (!length(done)) raise_interrupt()
  words <- vapply(kinds, `[[`, "", "words")
  of_kind <- of_kind[seq_along(done)]
  columns <- lapply(stats::setNames(nm = names(done[[1L]])), function(name) {
    unlist(lapply(done, `[[`, name))
  })
  table <- data.frame(claim = words[of_kind], columns)
  if (length(done) < length(number)) warn_interrupted(length(done), length(number), "claim")
  structure(list(
    ok = all(table$ok), claims = table,
    kinds = data.frame(claim = words, checked = tabulate(of_kind, length(kinds)),
                       available = count),
    largest = max(ifelse(is.na(table$deviation), Inf, table$deviation / table$tolerance)),
    unchecked = book$unchecked,
    method = fit$method, fit_call = fit$call, call = call,
    status = if (length(done) < length(number)) "interrupted" else "complete"
  ), class = c("verification", "sparsels_result"))
}

# How many claims each kind has of all that are wanted: one in turn as long as there are any.
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

drawn_claims <- function(kind, share) {
  if (share == kind$count) return(seq_len(share))
  if (is.null(kind$draw)) sample.int(kind$count, share) else kind$draw(share)
}

#' @exportS3Method
record.verification <- function(x) { # nolint: object_name_linter.
  list(rows = x$claims, complete = TRUE,
       row = data.frame(method = x$method, ok = x$ok, claims = nrow(x$claims),
                        failed = sum(!x$claims$ok), largest = x$largest, status = x$status))
}

# Printing ----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.verification <- function(x, ...) { # nolint: object_name_linter.
  failed <- x$claims[!x$claims$ok, ]
  say("verification of ", shortened(paste(deparse(x$fit_call), collapse = " "), 200L))
  checked <- format(nrow(x$claims), big.mark = ",")
  total <- format(sum(x$kinds$available), big.mark = ",", scientific = FALSE)
  say(sprintf("%s of %s claims retrained from scratch: %s", checked, total, if (x$ok) {
    "all of them hold"
  } else {
    sprintf("%d %s NOT HOLD", nrow(failed), if (nrow(failed) == 1L) "DOES" else "DO")
  }))
  worst <- x$claims[which.max(x$claims$deviation / x$claims$tolerance), ]
  if (nrow(worst)) {
    remark(sprintf("largest deviation %s, relative, where %s is allowed (%s)",
                   format(worst$deviation, digits = 2), format(worst$tolerance, digits = 2),
                   claim_words(worst)))
  }
  if (!x$ok) print_failed(failed)
  table <- x$kinds
  kind <- factor(x$claims$claim, table$claim)
  table$deviation <- as.vector(tapply(x$claims$deviation, kind, max))
  table <- table[table$checked > 0L, ]
  table$deviation <- formatC(table$deviation, digits = 2, format = "g")
  table$available <- format(table$available, big.mark = ",", scientific = FALSE)
  print(table, row.names = FALSE, right = FALSE)
  for (words in x$unchecked) remark("not checked: ", words)
  print_interrupted(x$status, "claims")
}

print_failed <- function(failed) {
  cat("claims that do not hold:\n")
  for (i in seq_len(min(nrow(failed), 8L))) {
    one <- failed[i, ]
    remark(sprintf("%s: claimed %s, retrained %s", claim_words(one),
                   format(one$claimed, digits = 8), format(one$retrained, digits = 8)))
  }
  more <- nrow(failed) - 8L
  if (more > 0L) remark(counted(more, "more claim"), ", see $claims")
}

# "criterion, size 3" and the like
claim_words <- function(claim) {
  paste(c(claim$claim, if (!is.na(claim$size)) paste("size", claim$size),
          if (!is.na(claim$lambda)) paste("lambda", shown_parameter(claim$lambda)),
          if (!is.na(claim$feature)) paste0("'", claim$feature, "'"),
          if (!is.na(claim$row)) paste("row", claim$row)), collapse = ", ")
}
