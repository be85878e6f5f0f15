#' Fits of ridge and kernel ridge regression for a path of lambda
#'
#' What [rls()] and [kernel_rls()] return: a model on all features, or a kernel expansion on basis
#' vectors, for every lambda, with the exact held-out error of each.
#'
#' @details A fit is a plain list, which `saveRDS()` keeps whole. It contains its basis vectors and
#' the decomposition by which rows are held out, about m x min(m, n) doubles, but not `x`. If these
#' doubles would be too many (see [kernel_rls()], Many rows) it contains `x` or the path of its file
#' instead, and reads the rows again to hold some out. With m rows, n terms (features or basis
#' vectors), L responses, q covariates:
#'
#' * `path`: data frame with a row for every lambda: `lambda`; the held-out `criterion`, the
#'   weighted mean squared error, and its standard error `se` over folds; for classes `error`, the
#'   misclassification rate; `training`, the weighted mean squared error on the training
#'   rows.
#' * `lambda`: the best lambda by the criterion. Its error is slightly optimistic, because it is the
#'   smallest of several. The leave-one-out error may have several minima along lambda, the smallest
#'   of them where a model interpolates rows that are nearly copies. Five folds, drawn without
#'   random numbers, then choose among the minima, which are in `minima`.
#' * `coefficients`: a list with a model for every lambda: `beta` (n x L), dual weights of the basis
#'   vectors, or of the features on the user's scale; `covariates` (q x L).
#' * `held_out`, `fitted` (m x L): predictions of the rows at the best lambda.
#' * `kernel`, and `kernel_table` with a row for every kernel width tried.
#' * `basis`: `rows` (row numbers, `NULL` for points), `points` (n x columns, the user's values),
#'   `all` (whether all rows are in).
#' * `shift`: `value` and `where` it was added, `"regulariser"`, `"kernel"` or `"none"`.
#' * `fold_choices`: the choices of lambda and width without each part of the rows, for prediction
#'   intervals. `sets` (m x repetitions) has the set of each row: its fold, or one of ten sets drawn
#'   by a separate stream of random numbers where there are more than 20 folds, as in leave-one-out.
#'   For each set `lambda` and `width` (a row of `kernel_table`) have the smallest held-out error of
#'   the other rows. `spectra` has the decomposition of each of these widths but the fit's own. The
#'   ratios of `rls(blocks = )` are always chosen by all rows. `NULL` where rows are read in blocks.
#' * `status`: `"complete"` or `"interrupted"` (some kernel widths were not tried).
#' * `criterion`, `features` (of `rls()`), `spectrum`, `folds`, `threads`, `method`, `call`, and
#'   `problem` without its x.
#'
#' @references Pahikkala, T., Suominen, H., Boberg, J. (2012). Efficient cross-validation for
#' kernelized least-squares regression with sparse basis expansions. Machine Learning 87, 381-407.
#' \doi{10.1007/s10994-012-5287-6}
#' @seealso [sparsels_fit] for coefficients, predictions and residuals of a fit, [holdout()],
#'   [cv_error()], [plot()][plot.sparsels_result]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 2), 60)
#' fit <- kernel_rls(x, x[, 1] * x[, 2] + rnorm(60) / 9, kernel = kernel_polynomial(2), basis = 10)
#' fit
#' coef(fit)
#' predict(fit, x[1:3, ])
#' residuals(fit, "held_out")[1:3]
#' @name kernel_fit
NULL

# A fit from its models and the result of evaluate_spectrum(), `evaluated`. `...` are other fields.
new_kernel_fit <- function(method, problem, control, evaluated, models, call, ..., choices,
                           status = "complete") {
  fit <- seal(with_user_units(structure(list(
    method = method, path = evaluated$path, lambda = evaluated$lambda, coefficients = models,
    held_out = evaluated$held_out, fitted = evaluated$fitted, ..., spectrum = evaluated$spectrum,
    minima = evaluated$minima, criterion = squared_criterion(problem, control$folds),
    folds = control$folds, threads = control$threads, fold_choices = choices, call = call,
    status = status, problem = without_x(problem)
  ), class = c(fit_class(method), "kernel_fit", "sparsels_fit", "sparsels_result"))))
  widths <- NROW(fit$kernel_table)
  warn_unfinished(fit, paste("best of the", counted(widths, "kernel width")), widths)
}

# The criterion of all kernel fits. Without folds it is the criterion of the training rows.
squared_criterion <- function(problem, folds) {
  words <- squared_label(problem)
  label <- if (is.null(folds)) paste("training", words) else held_out_label(words, folds$label)
  list(name = "squared", higher = FALSE, words = words, label = label)
}

# The held-out errors of every lambda of a spectrum: the path, and the predictions at the best
# lambda. `trained` is the result of block_problem() where the spectrum is in blocks.
evaluate_spectrum <- function(spectrum, problem, control, trained = NULL) {
  lambda <- control$lambda
  folds <- control$folds
  found <- if (is_in_blocks(spectrum)) {
    evaluate_blocks(trained, problem, control)
  } else {
    residual <- held_out_folds(spectrum, folds, lambda, control$threads)
    training <- training_residuals(spectrum, lambda)
    list(errors = error_table(problem, folds, residual),
         training = mean_squared(problem, training),
         outside = outside_errors(problem, control$sets, residual),
         held_out = function(best) layer(average(residual), best),
         fitted = function(best) layer(training, best))
  }
  path <- data.frame(lambda = lambda, found$errors, training = found$training)
  minima <- if (!is_in_blocks(spectrum)) minima_left_out(problem, folds, path)
  if (length(minima) > 1L) {
    # by few folds (docs/decisions.md)
    units <- row_units(problem)
    few <- new_folds(rep_len(seq_len(minima_folds), max(units))[units], "folds")
    control[c("lambda", "folds")] <- list(lambda[minima], few)
    best <- minima[choose_row(spectrum_errors(spectrum, problem, control)$criterion)]
    found$outside[, -basin_of(path, best)] <- Inf
  } else {
    best <- choose_row(path$criterion, simplest = order(-lambda))
  }
  list(spectrum = spectrum, path = path, lambda = lambda[best], value = path$criterion[best],
       outside = found$outside, minima = if (length(minima) > 1L) lambda[minima],
       held_out = scores_unless_lost(problem, folds, found$held_out(best)),
       fitted = scores_of(problem, found$fitted(best)))
}

# The rows of a path around a minimum of the criterion, up to the next maximum on either side.
basin_of <- function(path, best) {
  in_order <- order(-path$lambda)
  at <- match(best, in_order)
  criterion <- path$criterion[in_order]
  rising <- function(places) places[cumsum(c(0, diff(criterion[places])) < 0) == 0L]
  in_order[c(rising(rev(seq_len(at))), rising(seq.int(at, length(in_order))))]
}

# The rows of a path at which the error of rows left out one by one has a minimum along lambda, of
# the largest lambda first. At a small lambda a model may interpolate rows that are nearly copies,
# such as genotypes with many imputed values, or as many rows as columns. That error may then have a
# second, narrow minimum, where it does not predict the error of new rows. NULL for other folds.
minima_left_out <- function(problem, folds, path) {
  if (ncol(folds$ids) > 1L || max(folds$ids) < max(row_units(problem))) return(NULL)
  order <- order(-path$lambda)
  runs <- rle(signif(path$criterion[order], 10L))
  steps <- diff(c(Inf, runs$values, Inf))
  lowest <- utils::head(steps, -1L) < 0 & steps[-1L] > 0
  order[(cumsum(runs$lengths) - runs$lengths + 1L)[lowest]]
}

# how many folds choose among several minima
minima_folds <- 5L

# The held-out errors of every lambda of a spectrum, as error_table() has them.
spectrum_errors <- function(spectrum, problem, control) {
  held_out <- held_out_folds(spectrum, control$folds, control$lambda, control$threads)
  error_table(problem, control$folds, held_out)
}

# Holding out -------------------------------------------------------------------------------------

#' Predictions of held-out rows without refitting
#'
#' Predicts rows by the model trained without them, exactly and without training again.
#'
#' The rows are removed from the training set. With `basis = "remove"` held-out basis vectors are
#' also removed from the basis, and a held-out row is predicted like a new observation. With
#' `"keep"` they remain basis vectors without a loss. The error is then too small, or for groups of
#' similar rows far too large or too small. Both are the same without rows in the basis (fits of
#' [rls()], bases given as points). They are also the same with all rows as basis and no shift,
#' because a basis vector without a loss then has weight zero.
#'
#' When all basis vectors are held out, the covariates alone predict, estimated on the remaining
#' training rows. Without covariates the prediction is 0. Rows of a covariate that the remaining
#' rows do not determine, such as a whole batch, have the prediction `NA`.
#'
#' @param fit A fit of [rls()], [kernel_rls()] or [lssvm()].
#' @param rows The rows held out together: numbers, names, or a logical vector with a value per row.
#' @param basis What becomes of held-out basis vectors: `"remove"` or `"keep"`, see Details.
#' @param lambda Positive ridge parameters, from the fit's path or others; `NULL` for the path.
#'
#' @return The predictions, an array: rows in the order given x responses x lambda. It prints as a
#'   summary, the predictions at the fit's lambda beside the observed values. Its parts, `[`, and
#'   the results of arithmetic are ordinary arrays.
#' @section Cost: For h rows, r = min(m, n) and c lambdas O(min(c h^2 r, h r^2 + r^3)).
#' @section Errors: `sparsels_error_input` for rows that do not exist or are repeated, and for all
#'   rows.
#' @inherit kernel_rls references
#' @seealso [cv_error()] for errors over folds
#' @examples
#' x <- matrix(rnorm(40), 40)
#' fit <- kernel_rls(x, sin(x[, 1]), kernel = kernel_gaussian(1), basis = 1:10)
#' holdout(fit, 9:12, lambda = 0.5)
#' holdout(fit, 9:12, basis = "keep", lambda = 0.5)
#' path <- holdout(fit, 9:12)
#' path
#' path[, 1, 1:3]
#' @export
holdout <- function(fit, rows, basis = "remove", lambda = NULL) {
  check_kernel_fit(fit)
  if (missing(rows)) stop_input("`rows` is missing: which rows are to be held out?")
  problem <- fit$problem
  rows <- positions(rows, nrow(problem), problem$rows$name, "row")
  stop_input_if(anyDuplicated(rows), "`rows` must not repeat rows, but row %d is there twice",
                rows[anyDuplicated(rows)])
  stop_input_if(length(rows) == nrow(problem),
                "`rows` must leave a row to train on, but all of them are held out")
  check_held_sets(problem, list(rows))
  check_whole_rows(problem, rows)
  check_choice(basis, "basis", c("remove", "keep"))
  lambda <- path_or(lambda, fit)
  residual <- held_out_residuals(fit$spectrum, list(rows), lambda, basis == "remove")
  own <- scored_rows(problem, rows)
  observed <- scores_of(own, residual = 0)
  prediction <- array(observed, dim(residual)) - residual
  prediction[rows %in% rows_of_lost(problem, list(rows)), , ] <- NA
  prediction <- in_user_units(own, prediction, own$rows$offset)
  names <- list(problem$rows$name[rows], colnames(problem$rows$y), format(lambda, trim = TRUE))
  dimnames(prediction) <- names
  structure(prediction, rows = rows, observed = in_user_units(own, observed, own$rows$offset),
            weights = own$rows$weight, lambda = lambda, chosen = fit$lambda,
            class = "sparsels_holdout")
}

plain_array <- function(x) array(x, dim(x), dimnames(x))

#' @export
`[.sparsels_holdout` <- function(x, ...) plain_array(x)[...]

#' @export
Ops.sparsels_holdout <- function(e1, e2) {
  if (inherits(e1, "sparsels_holdout")) e1 <- plain_array(e1)
  if (missing(e2)) return(get(.Generic)(e1))
  if (inherits(e2, "sparsels_holdout")) e2 <- plain_array(e2)
  get(.Generic)(e1, e2)
}

#' @export
Math.sparsels_holdout <- function(x, ...) get(.Generic)(plain_array(x), ...)

#' @export
print.sparsels_holdout <- function(x, ...) {
  given <- attributes(x)
  size <- dim(x)
  values <- plain_array(x)
  cat(sprintf("held-out predictions: %s x %s x %s, an array\n", counted(size[1L], "row"),
              counted(size[2L], "response"), counted(size[3L], "lambda")))
  scored <- !is.na(rowSums(layer(values, 1L)))
  w <- given$weights[scored]
  squared <- vapply(seq_len(size[3L]), function(l) {
    sum(w * (given$observed - layer(values, l))[scored, ]^2) / (size[2L] * sum(w))
  }, 0)
  at <- which.min(abs(log(given$lambda / given$chosen)))
  cat("mean squared error of these rows:\n")
  for (l in unique(c(at, which.min(squared)))) {
    cat(sprintf("  %s at lambda %s%s%s\n", format(squared[l], digits = 4L),
                format(given$lambda[l], digits = 4L),
                if (given$lambda[l] == given$chosen) " (the fit's)" else "",
                if (size[3L] > 1L && l %in% which.min(squared)) ", the smallest" else ""))
  }
  labels <- if (size[2L] > 1L) paste0(" ", utils::head(c(dimnames(x)[[2L]], seq_len(size[2L])),
                                                       size[2L]))
  cat(sprintf("at lambda %s:\n", format(given$lambda[at], digits = 4L)))
  table <- data.frame(given$observed, layer(values, at))
  names(table) <- c(paste0("observed", labels), paste0("predicted", labels))
  row.names(table) <- if (is.null(dimnames(x)[[1L]])) given$rows else dimnames(x)[[1L]]
  print(utils::head(table), digits = 4L)
  print_more(size[1L] - 6L, "row")
  invisible(x)
}

check_kernel_fit <- function(fit) {
  check_given(fit, "fit")
  stop_input_if(inherits(fit, "fs_lssvm"),
                paste("`fit` is of fs_lssvm(), which chose its prototypes by all rows and would",
                      "choose others without some; its `folds` hold rows out: see fit$path and",
                      "fit$held_out"))
  check_made(fit, "fit", "kernel_fit", "a fit of rls() or kernel_rls()")
}

path_or <- function(lambda, fit) {
  lambda <- check_lambda(lambda)
  if (is.null(lambda)) fit$path$lambda else lambda
}

#' Cross-validated error of a fit for any folds, without refitting
#'
#' The exact held-out error of every lambda for any partition of the rows, without training again.
#'
#' With `basis = "remove"` held-out basis vectors leave training set and basis, so the model
#' contains no information from a held-out row. With `"keep"` they stay basis vectors, without a
#' loss. With `"skip"` they stay in the training set and are never scored: the error is a mean over
#' the other rows. With independent rows and a small basis, `"skip"` estimates the error of the
#' present model. With groups of rows only `"remove"` is safe (Section 6.4 of the paper).
#'
#' @param fit A fit of [rls()], [kernel_rls()] or [lssvm()].
#' @param folds Which rows are held out together, in any form that [make_folds()] takes or its
#'   value; by default the folds of the fit.
#' @param basis What becomes of held-out basis vectors: `"remove"`, `"keep"` or `"skip"`, see
#'   Details.
#' @param criterion As in [greedy_rls()]: `"squared"`, `"error"`, `"absolute"`, `"auc"` or a
#'   function.
#' @param lambda Positive ridge parameters, from the fit's path or others; `NULL` for the path.
#' @return A data frame with a row for every lambda: `lambda`, `criterion`, its standard error `se`
#'   over folds (`NA` for a function and for leave-pair-out AUC), and for classes `error`. Repeats
#'   are averaged.
#' @section Cost: As [holdout()] for every fold: leave-one-out O(m r c) for r = min(m, n) and c
#'   lambdas, N folds at most O(m r^2 + N r^3) for all lambdas. If the rows are read in blocks, the
#'   AUC and a function as `criterion` require the predictions of all rows for all lambdas in
#'   memory, up to 1e8 of them.
#' @section Errors: `sparsels_error_input` for folds of the wrong length, `"skip"` when every row is
#'   a basis vector, and what [make_folds()] refuses.
#' @inherit kernel_rls references
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60), 60)
#' fit <- kernel_rls(x, sin(x[, 1]), kernel = kernel_gaussian(1), basis = 10, lambda = c(0.1, 1))
#' cv_error(fit, make_folds(60, 10))
#' cv_error(fit, "loo", basis = "skip", criterion = "absolute")
#' @export
cv_error <- function(fit, folds = fit$folds, basis = "remove", criterion = "squared",
                     lambda = NULL) {
  check_kernel_fit(fit)
  folds <- as_folds(folds, fit$problem)
  check_choice(basis, "basis", c("remove", "keep", "skip"))
  lambda <- path_or(lambda, fit)
  scored <- seq_len(nrow(fit$problem))
  joint <- if (basis == "skip") stated_by_properties(fit$problem, "joint")
  stop_argument_if(!is.null(joint),
                   "`basis = \"skip\"` would score parts of %s: use \"remove\" or \"keep\"", joint)
  if (basis == "skip") scored <- setdiff(scored, fit$basis$rows)
  stop_input_if(!length(scored),
                "`basis = \"skip\"` leaves no row to score: every row is a basis vector")
  problem <- scored_rows(fit$problem, scored)
  folds$ids <- folds$ids[scored, , drop = FALSE]
  sets <- apply(folds$ids, 2L, function(ids) unname(split(scored, ids)), simplify = FALSE)
  check_held_sets(fit$problem, unlist(sets, recursive = FALSE))
  if (is_in_blocks(fit$spectrum)) {
    # a sum over rows can be computed from parts of them
    if (!is.function(criterion) && !identical(criterion, "auc") &&
          !identical(criterion, "concordance")) {
      return(data.frame(lambda, block_errors(fit, scored, folds, basis, criterion, lambda)))
    }
    count <- as.double(nrow(fit$problem)) * ncol(fit$problem$rows$y) * length(lambda)
    stop_input_if(count > max_realised,
                  "this `criterion` needs the predictions of all rows for %s in memory, %s: %s",
                  counted(length(lambda), "lambda"), sprintf("%.3g GB", 8e-9 * count), "give fewer")
  }
  hold_out <- function(sets) {
    held_out_residuals(fit$spectrum, sets, lambda, basis == "remove", fit$threads)
  }
  if (identical(criterion, "auc") && folds$loo) {
    check_auc(problem, folds)
    return(data.frame(lambda, criterion = pairs_left_out(problem, scored, hold_out, fit),
                      se = NA_real_))
  }
  residuals <- lapply(sets, function(sets) hold_out(sets)[order(unlist(sets)), , , drop = FALSE])
  data.frame(lambda, error_table(problem, folds, residuals,
                                 as_criterion(criterion, problem, folds)))
}

# AUC of every lambda, each pair of a positive and a negative row held out together
pairs_left_out <- function(problem, scored, hold_out, fit) {
  pairs <- expand.grid(up = which(problem$rows$y > 0), down = which(problem$rows$y < 0))
  stop_input_if(!nrow(pairs), "`criterion = \"auc\"` needs rows of both classes to score")
  both <- rbind(pairs$up, pairs$down)
  sets <- unname(split(scored[both], col(both)))
  check_estimable(fit$problem, sets)
  score <- as.vector(problem$rows$y[both, ]) - hold_out(sets)
  loss <- pair_losses(score[c(TRUE, FALSE), 1L, ], score[c(FALSE, TRUE), 1L, ])
  weight <- problem$rows$weight[pairs$up] * problem$rows$weight[pairs$down]
  colSums(weight * matrix(1 - loss, nrow(pairs))) / sum(weight)
}

# Printing ----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.kernel_fit <- function(x, n, whole = FALSE, ...) {
  print_expansion(x, "lambda", "gamma", whole)
}

# A fit in terms of `lambda` or a parameter derived from it, and of the width of its kernel.
print_expansion <- function(fit, lambda, width, whole) {
  predicted <- held_out_classes(fit)
  tried <- fit$kernel_table[[width]]
  print_page(
    whole, 0, NULL,
    always = say(fit$method, ": ", method_title(fit), " on ", terms_words(fit),
                 if (!is.null(fit$kernel)) paste0(", kernel: ", kernel_words(fit$kernel))),
    always = say(held_out_words(fit, chosen_row(fit), predicted)),
    always = print_constant(fit$problem, predicted),
    wanted = print_classes(fit$problem, predicted, whole),
    needed = print_responses(fit$problem, kept_values(fit, "held_out"), chosen_row(fit)$criterion),
    wanted = print_spread(fit),
    needed = print_rows_of(fit$problem),
    always = print_properties(fit$problem, "always"),
    needed = print_properties(fit$problem, "needed"),
    wanted = print_properties(fit$problem, "wanted"),
    always = say(chosen_words(fit, lambda)),
    needed = if (!is.null(fit$blocks)) print_blocks(fit$blocks),
    always = if (length(tried) > 1L) {
      say(choice_words(width, fit$kernel$parameters[[width]], tried, "those tried"))
    },
    always = if (!is.null(fit$shift) && fit$shift$where != "none") {
      say(sprintf("shift: %s on the diagonal of the %s", shown(fit$shift$value),
                  if (fit$shift$where == "regulariser") "penalty" else "kernel matrix"))
    },
    always = if (fit$status == "interrupted") say("interrupted: not every kernel width was tried")
  )
}

# The lambdas of blocks of columns.
print_blocks <- function(blocks) {
  each <- sprintf("%s %s (%s)", names(blocks$lambda), vapply(blocks$lambda, shown_parameter, ""),
                  vapply(lengths(blocks$columns), counted, "", "column"))
  say("lambda of each block: ", paste(each, collapse = ", "), "; ",
      whole_number(nrow(blocks$tried)), " models tried")
}

terms_words <- function(fit) {
  count <- length(fit$features)
  if (is.null(fit$kernel)) return(if (count == 1L) "the only usable feature" else
    paste("all", counted(count, "usable feature")))
  count <- nrow(fit$coefficients[[1L]]$beta)
  if (fit$basis$all) return("all rows")
  if (is.null(fit$basis$rows)) return(counted(count, "given point"))
  sprintf("%d of %d rows", count, nrow(fit$problem))
}

# "lambda: 0.5, chosen from 0.5, 1 and 2"
choice_words <- function(name, value, tried, what) {
  sprintf("%s: %s%s, chosen from %s", name, shown_parameter(value),
          at_the_end(value, tried, what), values_words(tried))
}

# the chosen value of the column `name` of the path, and how it was chosen
chosen_words <- function(fit, name) {
  tried <- fit$path[[name]]
  value <- chosen_row(fit)[[name]]
  if (length(tried) == 1L) return(sprintf("%s: %s, given", name, shown_parameter(value)))
  text <- paste(choice_words(name, value, tried, "the path"), "by the", fit$criterion$label)
  if (is.null(fit$minima)) return(text)
  sprintf("%s, which has %d minima, and by %d folds among these", text, length(fit$minima),
          minima_folds)
}

#' @exportS3Method
details.kernel_fit <- function(x) {
  # each value to its own digits, as lambdas are powers of two
  shown_kernel <- function(table) {
    digits <- ifelse(names(table) %in% c("lambda", "gamma", "sigma2"), 4L, 3L)
    replace(table, TRUE, Map(function(one, digits) {
      if (is.double(one)) formatC(one, digits) else one
    }, table, digits))
  }
  widths <- if (NROW(x$kernel_table) > 1L) shown_kernel(x$kernel_table)
  table <- size_table(x)
  if (is.null(rate_column(x))) table$error <- NULL
  fit_details(x, shown_kernel(table), more = c(
    if (!is.null(widths)) list("kernel widths, each at its best lambda" = widths),
    named_list(sprintf("weights at lambda %s", shown_parameter(x$lambda)),
               summary(as.vector(stats::coef(x))))
  ))
}

# Block ridge --------------------------------------------------------------------------------------

# Ridge regression with one lambda for each block of columns, chosen by held-out errors. A model
# equals a model of rls() with penalty factors: block b has the lambda of the first block times its
# ratio. For each vector of ratios, one decomposition gives the held-out errors of every lambda of
# the first block. The decomposed matrix is a sum of matrices that are computed once for each block.

# Blocks as given ---------------------------------------------------------------------------------

# A list of column numbers under the names of the blocks, from a list of columns or a vector with
# the block of every column. Each column that is penalised must be in one block.
check_blocks <- function(blocks, problem) {
  if (is.list(blocks) && !is.data.frame(blocks)) {
    named <- names(blocks)
    stop_argument_if(!length(blocks) || is.null(named) || any(named == "") || anyDuplicated(named),
                     paste("`blocks` must be a list with a different name for each block, such as",
                           "list(clinic = c(\"age\", \"sex\"), genes = 3:100)"))
    columns <- lapply(stats::setNames(named, named), function(name) {
      in_context(sprintf("block '%s' of `blocks`", name), columns_given(blocks[[name]], problem))
    })
  } else {
    stop_argument_if(!is.atomic(blocks) || length(blocks) != ncol(problem) || anyNA(blocks),
                     "`blocks` must be a named list of columns, or %s %d columns, not %s",
                     "a vector with the block of each of the", ncol(problem), describe(blocks))
    columns <- split(seq_len(ncol(problem)), factor(blocks, unique(blocks)))
  }
  count <- tabulate(unlist(columns), ncol(problem))
  twice <- which(count > 1L)
  stop_argument_if(length(twice), "`blocks` has column '%s' twice", problem$columns$name[twice[1L]])
  lacking <- which(count == 0L & problem$columns$usable)
  stop_argument_if(length(lacking), "`blocks` must have every column, but lacks %s",
                   some_of(problem$columns$name[lacking]))
  columns
}

# The search --------------------------------------------------------------------------------------

# The ratios that are tried: the lambda of a block divided by the lambda of the first block.
block_ratios <- 2^(-15:15)

# The best ratios, and every model tried: list(columns, ratio, lambda, tried). With two blocks every
# ratio is tried. With more blocks the search starts from equal lambdas. Each block in turn takes
# the best ratio given the other blocks, until no ratio changes. Of equally good ratios the nearest
# to the present ratio is taken.
search_blocks <- function(problem, columns, control) {
  # with more columns than rows XX' of each block (m x m), otherwise X and X'X
  usable <- which(problem$columns$usable)
  block_of <- rep(seq_along(columns), lengths(columns))[match(usable, unlist(columns))]
  tall <- nrow(problem) > length(usable)
  if (tall) {
    x <- working_matrix(problem, usable)
    gram <- crossprod(x)
  } else {
    products <- lapply(seq_along(columns), function(b) {
      problem$columns$usable <- replace(logical(ncol(problem)), usable[block_of == b], TRUE)
      products_of_rows(problem)
    })
  }
  tried <- list()
  errors_at <- function(ratio) {
    key <- paste(ratio, collapse = " ")
    if (is.null(tried[[key]])) {
      spectrum <- if (tall) {
        by <- 1 / sqrt(ratio[block_of])
        spectrum_of_products(problem, gram * outer(by, by), x * rep(by, each = nrow(problem)))
      } else {
        spectrum_of_products(problem, Reduce(`+`, Map(`/`, products, ratio)))
      }
      # the lambda of each block under its name, and the errors
      tried[[key]] <<- data.frame(outer(control$lambda, ratio),
                                  spectrum_errors(spectrum, problem, control), check.names = FALSE)
    }
    tried[[key]]$criterion
  }
  best <- stats::setNames(rep(1, length(columns)), names(columns))
  error <- min(errors_at(best))
  repeat {
    before <- best
    for (block in names(columns)[-1L]) {
      for (value in block_ratios[order(abs(log(block_ratios / best[[block]])))]) {
        ratio <- replace(best, block, value)
        if (min(errors_at(ratio)) < error) {
          best <- ratio
          error <- min(errors_at(ratio))
        }
      }
    }
    if (length(columns) < 3L || identical(before, best)) break
  }
  of_best <- tried[[paste(best, collapse = " ")]]
  row <- choose_row(of_best$criterion, simplest = order(-of_best[[1L]]))
  list(columns = columns, ratio = best, lambda = unlist(of_best[row, names(columns)]),
       tried = do.call(rbind, unname(tried)))
}

# Without each part --------------------------------------------------------------------------------

# Predictions of new rows by the models trained without each part of the rows, without training
# again. The parts are the folds of a fit, single rows if it leaves out one.

# The choice of each part -------------------------------------------------------------------------

# The model without a part has the lambda and the kernel width with the smallest held-out error of
# the other rows. The parts are in sets, and a set takes one choice, by the rows outside the set.

# The set of each row, m x repetitions, with numbers of its own in each repetition. Sets are the
# folds, or ten sets of folds where there are more than twenty.
choice_sets <- function(problem, folds) {
  before <- 0L
  for (repetition in seq_len(ncol(folds$ids))) {
    ids <- folds$ids[, repetition]
    if (max(ids) > 20L) {
      groups <- if (!folds$loo) ids
      strata <- if (folds$loo) row_strata_of(problem)
      ids <- with_stream(fixed_stream, folds_of(nrow(problem), 10L, groups, strata))$ids[, 1L]
    }
    folds$ids[, repetition] <- before + ids
    before <- before + max(ids)
  }
  folds$ids
}

# The sum of squared held-out residuals of the rows outside each set, sets x lambda.
outside_errors <- function(problem, sets, residuals) {
  each <- Map(function(ids, residual) {
    squares <- colSums(aperm(residual^2, c(2L, 1L, 3L)))
    outer(seq(min(ids), max(ids)), ids, "!=") %*% (problem$rows$weight * squares)
  }, as.data.frame(sets), residuals)
  do.call(rbind, unname(each))
}

# The best lambda and width of each set, after one more width was tried: list(error, lambda, width:
# the number of the width, spectra: of the widths that some set takes). `result` is a trial of
# best_trial().
better_choices <- function(before, result, width = 1L) {
  tried <- result$evaluated
  if (is.null(tried$outside)) return(NULL)
  best <- apply(tried$outside, 1L, choose_row, simplest = order(-tried$path$lambda))
  error <- tried$outside[cbind(seq_along(best), best)]
  after <- before
  if (is.null(before)) {
    none <- rep(Inf, length(best))
    after <- list(error = none, lambda = none, width = none, spectra = list())
  }
  better <- which(is.null(before) | error < after$error)
  after$error[better] <- error[better]
  after$lambda[better] <- tried$path$lambda[best[better]]
  after$width[better] <- width
  after$spectra[[width]] <- list(kernel = result$kernel, spectrum = tried$spectrum)
  after$spectra[-unique(after$width)] <- list(NULL)
  after
}

# What a fit keeps of the choices: `sets`, `lambda` and `width` of each set, and the spectra of
# other widths than its own.
kept_choices <- function(choices, sets, own) {
  if (is.null(choices)) return(NULL)
  choices$spectra[own] <- list(NULL)
  c(list(sets = sets), choices[c("lambda", "width", "spectra")])
}

# New rows ----------------------------------------------------------------------------------------

# A new row with terms k and covariates z has in a spectrum, with sqrt(w) Z = Q R:
#
#   coordinates    g = back' k - on_covariates' z  and  zeta = R^-T z
#   prediction     mu = g' D t + z' of_y  for D = 1 / (values + lambda)
#   weights in it  l_i = root_w_i (phi_i' D g + q_i' zeta)  of each response i
#
# The prediction without a part H is mu - l_H' r_H for r_H the residuals of H by the model without
# it. Trained on all rows, with its predictions of H as responses, that model would be the same. If
# basis vectors leave with H, then in mu and l the vector D^(1/2) g is less its projection on their
# rows of back D^(1/2), so that they have no coefficient.

#' @exportS3Method
predictions_without.kernel_fit <- function(fit, newdata, adjust = NULL) {
  stop_input_if(is_in_blocks(fit$spectrum),
                paste("the rows of this fit are read in blocks, so that it has no weights of the",
                      "rows in a prediction: give the result of cross_validate() instead, as in",
                      "predict(cross_validate(...), newdata, interval = \"prediction\")"))
  problem <- fit$problem
  parts <- held_out_rows(fit$folds)
  models <- choice_models(fit, parts)
  residual <- vector("list", nrow(parts))
  for (model in models) residual[model$parts] <- model$residual
  pairs <- row_part_pairs(parts$rows)
  held <- unname(problem$rows$y[pairs$row, , drop = FALSE]) - do.call(rbind, residual)
  held[pairs$row %in% rows_of_lost(problem, parts$rows), ] <- NA
  list(at = if (!is.null(newdata)) new_scores(fit, models, nrow(parts), newdata, adjust),
       pairs = pairs, held = held)
}

# The function `at` of predictions_without().
new_scores <- function(fit, models, parts, newdata, adjust) {
  problem <- fit$problem
  z <- new_covariates(problem, newdata, adjust)
  R <- decomposed_covariates(problem)$factor
  zeta <- z %*% solve_upper(R, diag(nrow(R)))
  of_z <- zeta %*% crossprod(fit$spectrum$z_basis, root_weights(problem) * problem$rows$y)
  x <- if (inherits(newdata, "sparsels_problem")) problem_x(newdata) else newdata
  terms <- model_terms(fit, fit$coefficients[[1L]])
  linear <- is.null(fit$kernel)
  in_file <- is_file_matrix(x)
  divisor <- if (linear) problem$columns$scale[terms] else 1
  if (!in_file) x <- if (linear) new_data_matrix(problem, newdata, terms) else new_points(fit, x)
  function(rows) {
    x <- x[rows, , drop = FALSE]
    out <- array(0, c(length(rows), ncol(problem$rows$y), parts))
    for (model in models) {
      fit["kernel"] <- list(model$kernel)
      back <- model$spectrum$back / divisor
      # the terms of the rows times `back`
      g <- if (in_file) term_scores(fit, x, back, terms) else
        if (linear) as.matrix(x %*% back) else point_scores(fit, x, back, terms)
      g <- g - z[rows, , drop = FALSE] %*% model$spectrum$on_covariates
      out[, , model$parts] <- part_scores(model, g, zeta[rows, , drop = FALSE],
                                          of_z[rows, , drop = FALSE])
    }
    out
  }
}

# For each lambda and width that some part takes: the spectrum, the parts, and for each part its
# rows and their residuals by the model without it.
choice_models <- function(fit, parts) {
  chosen <- fit$fold_choices
  set <- chosen$sets[cbind(vapply(parts$rows, `[`, 0L, 1L), parts$repetition)]
  by_choice <- split(seq_along(set), list(chosen$lambda[set], chosen$width[set]), drop = TRUE)
  lapply(unname(by_choice), function(own) {
    lambda <- chosen$lambda[set[own[1L]]]
    other <- chosen$spectra[[chosen$width[set[own[1L]]]]]
    model <- if (is.null(other)) fit[c("kernel", "spectrum")] else other
    model$spectrum <- spectrum_at(model$spectrum, lambda)
    rows <- parts$rows[own]
    residual <- held_out_residuals(model$spectrum, rows, lambda, threads = fit$threads)
    of_part <- split(seq_len(nrow(residual)), rep(seq_along(rows), lengths(rows)))
    residual <- lapply(of_part, function(place) layer(residual[place, , , drop = FALSE], 1L))
    c(model, list(lambda = lambda, parts = own, rows = rows, residual = residual))
  })
}

# Scores of new rows by the model without each of its parts, rows x L x parts. `g` and `zeta` are as
# above, and `of_z` is z' of_y.
part_scores <- function(model, g, zeta, of_z) {
  spectrum <- model$spectrum
  root <- 1 / sqrt(spectrum$values + model$lambda)
  g <- g * rep(root, each = nrow(g))
  mu <- of_z + g %*% (root * spectrum$t)
  all <- unlist(model$rows)
  phi <- spectrum$phi[all, , drop = FALSE] * rep(root, each = length(all))
  weights <- tcrossprod(g, phi) + tcrossprod(zeta, spectrum$z_basis[all, , drop = FALSE])
  scores <- Map(function(rows, residual, last) {
    own <- seq.int(last - length(rows) + 1L, last)
    l <- weights[, own, drop = FALSE]
    basis <- spectrum$basis[rows]
    if (any(basis > 0L)) {
      parts <- qr(root * t(spectrum$back[basis[basis > 0L], , drop = FALSE]), tol = 1e-12)
      leaving <- qr.Q(parts)[, seq_len(parts$rank), drop = FALSE]
      along <- g %*% leaving
      mu <- mu - along %*% crossprod(leaving, root * spectrum$t)
      l <- l - tcrossprod(along, phi[own, , drop = FALSE] %*% leaving)
    }
    mu - l %*% (spectrum$root_w[rows] * residual)
  }, model$rows, model$residual, cumsum(lengths(model$rows)))
  array(unlist(scores), c(dim(mu), length(scores)))
}
