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
#' @param random Number of random lists, 100 by default; 0 for none.
#' @param folds Which rows are held out together, as in [greedy_rls()].
#' @param lambda Positive ridge parameter. Of several values the one with the smallest held-out
#'   squared error is used. `NULL`: see Details.
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
panel_error <- function(x, y = NULL, features = NULL, ..., data = NULL, random = 100,
                        folds = "loo", lambda = NULL, criterion = "squared",
                        progress = interactive(), BPPARAM = NULL) {
  check_given(x, "x")
  if (inherits(x, "sparsels_problem") && is.null(features)) {
    features <- y
    y <- NULL
  }
  problem <- fitter_problem("panel_error", x, y, ..., data = data)
  features <- panel_columns(features, problem)
  problem$column_groups <- NULL # a panel is given, whatever its columns have in common
  random <- check_count(random, "random", 1e6, lower = 0L)
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  control <- list(folds = folds, threads = 1L,
                  criterion = as_criterion(criterion, problem, folds))
  values <- check_lambda(lambda)
  if (is.null(values)) values <- refit_multiples * mean_square(problem)
  check_flag(progress, "progress")
  check_bpparam(BPPARAM)
  size <- length(features)
  panel <- refit_leading(problem, control, features, c(0L, size), values)
  usable <- which(problem$usable)
  drawn <- if (random > 0L) repeat_tasks(random, "random list", function(i) {
    columns <- usable[sample.int(length(usable), size)]
    refit_leading(problem, control, columns, size, values)[[1L]]$errors$criterion
  }, progress, BPPARAM)
  new_panel_error(problem, control, features, panel, as.double(unlist(drawn)), random,
                  if (is.null(lambda)) NULL else values, short_call(match.call()))
}

# The numbers of the columns of a panel.
panel_columns <- function(features, problem) {
  if (is.null(features)) {
    stop_input("`features` must be given: the names or numbers of columns",
               "sparsels_error_argument")
  }
  columns <- in_context("`features`", positions(features, ncol(problem), problem$names, "column"))
  twice <- columns[anyDuplicated(columns)]
  if (length(twice)) {
    stop_input(sprintf("`features` has column '%s' twice", problem$names[twice]),
               "sparsels_error_argument")
  }
  excluded <- columns[!problem$usable[columns]]
  if (length(excluded)) {
    stop_input(sprintf("`features` has column '%s', which is excluded: %s",
                       problem$names[excluded[1L]],
                       "it is constant or collinear with the covariates"),
               "sparsels_error_argument")
  }
  columns
}

# `panel` is the result of refit_leading() for size 0 and the size of the panel. `given` has the
# lambdas, if the user gave any.
new_panel_error <- function(problem, control, features, panel, random, wanted, given, call) {
  criterion <- control$criterion
  errors <- as.data.frame(panel[[2L]]$errors)
  values <- ridge_values(problem, features, panel[[2L]]$lambda, control$folds)
  seal(structure(list(
    error = errors$criterion, se = errors$se, errors = errors, null = panel[[1L]]$errors$criterion,
    random = random, p.value = if (!length(random)) NA_real_ else
      chance_of(matrix(criterion_loss(criterion, random)),
                criterion_loss(criterion, errors$criterion)),
    features = features, lambda = panel[[2L]]$lambda,
    lambda_rule = if (length(given) == 1L) "given" else "chosen by the held-out squared error",
    held_out = predicted_unweighted(values$held_out, problem, features, panel[[2L]]$beta),
    criterion = criterion[c("name", "higher", "words", "label")], folds = control$folds,
    problem = without_x(problem), call = call,
    status = if (length(random) < wanted) "interrupted" else "complete"
  ), class = c("panel_error", "sparsels_result")))
}

# how often a random list is as good, counting the panel itself
panel_chance <- function(criterion, random, own) {
  if (!length(random)) return(NA_real_)
  chance_of(matrix(criterion_loss(criterion, random)), criterion_loss(criterion, own))
}

# Held-out predictions of the rows. Rows of weight 0 are predicted by the model.
predicted_unweighted <- function(held_out, problem, features, beta) {
  rows <- which(problem$weights == 0)
  if (!length(rows)) return(held_out)
  model <- user_coefficients(problem, list(list(features = features, beta = beta, row = 1L)))
  held_out[rows, ] <- layer(model_scores(model, problem, rows), 1L)
  held_out
}

# Print and picture -------------------------------------------------------------------------------

#' @exportS3Method
print_result.panel_error <- function(x, ...) { # nolint: object_name_linter.
  say("panel of ", counted(length(x$features), "column"), ": ", held_out_words(x, x$errors))
  own <- if (!is.na(x$se)) paste("; standard error of that of the panel:", format(x$se, digits = 2))
  remark(x$criterion$words, " of the null model: ", shown(x$null), own)
  remark("exact for columns that were not chosen on these data, otherwise optimistic")
  print_data(x$problem)
  say("columns: ", some_of(x$problem$names[x$features], 10L, ""))
  say("lambda: ", shown_parameter(x$lambda), ", ", x$lambda_rule)
  count <- length(x$random)
  if (count) {
    say(sprintf("random lists of as many columns: %d of %d are as good (p-value %s), %s",
                count_as_small(x$p.value, count), count,
                format(x$p.value, digits = 2),
                paste("their median is", shown(stats::median(x$random)))))
  }
  print_interrupted(x$status, "random lists")
}

#' @exportS3Method
selected.panel_error <- function(object, size = NULL, # nolint: object_name_linter.
                                 index = FALSE, lambda = NULL) {
  check_sealed(object)
  selected_of_set(object$features, object$problem$names, size, index, lambda,
                  "a panel is one list of columns")
}

#' @exportS3Method
record.panel_error <- function(x) { # nolint: object_name_linter.
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
picture.panel_error <- function(x, breaks = 30L, ...) { # nolint: object_name_linter.
  if (!length(x$random)) stop_input("there are no random lists to draw: `random` was 0")
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
