#' What could replace a feature?
#'
#' The exact held-out criterion of every set that differs from the set of a fit by one feature
#' dropped, added, or swapped for another. It shows how much each feature contributes, which columns
#' can replace it, and whether the search has missed a better set of this size.
#'
#' Each number equals the criterion of retraining the set without each fold in turn, by the
#' criterion, folds, case weights and covariates of the fit, for all responses. Columns that move
#' together, such as the columns of a factor or of a curve, are one feature. The criterion also
#' chose the set, so it compares sets but does not estimate their errors: for errors see
#' [cross_validate()]. A set is called exchange-optimal if no swap of one feature for another
#' improves its criterion by more than rounding (1e-10 of the criterion of the null model or of the
#' set, whichever is larger). With many candidates the best one improves the criterion by chance
#' alone: this is no reason to add it.
#'
#' **lambda.** All sets are compared at one ridge parameter, by default the lambda of the
#' coefficients of the set: its `refit_lambda` in `fit$path`, or `fit$lambda` where nothing was
#' refitted. The criterion of the present set is then its `criterion` in `fit$path`.
#'
#' **Other fits.** Any fit of the package that selects columns is accepted. A fit without a ridge
#' parameter, such as a fit of [best_subset()] or [l1_path()], requires `lambda`. If its criterion
#' is computed on the training rows, the held-out mean squared error is used instead, leave-one-out
#' by default.
#'
#' **`improve = TRUE`** makes the best swap repeatedly until none improves the criterion. The result
#' is exchange-optimal, but need not be the best set of its size. The criterion becomes more
#' optimistic with every swap, and the set need not predict better. [selected()] gives its features,
#' for instance for [rls()] on these columns.
#'
#' @param fit A fit that selects columns, such as a fit of [greedy_rls()].
#' @param x,y,data The data that the fit was made from, see [verify()]: where no response is
#'   given, `x` is as [predict()][predict.sparsels_fit] takes it. For `print()` and
#'   `plot()`, `x` is the result.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`; those not given are as the
#'   fit has them. For `plot()`, graphical parameters such as `main`.
#' @param size The set: its number of features, as in [coef()][coef.sparsels_fit]; `NULL` for the
#'   chosen one.
#' @param keep Number of substitutes for each feature, the best ones, and of additions; `NULL` or
#'   `Inf` for all columns.
#' @param improve Logical: are swaps made until none helps?
#' @param lambda,criterion,folds The ridge parameter, the criterion and the folds, as in
#'   [greedy_rls()]; by default the settings of the fit. A `criterion` function must be given again,
#'   because fits do not keep it.
#' @param threads Number of OpenMP threads over columns, 1 by default.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the features, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return A data frame of class `exchange`, best first, with the columns
#' * `drop`, `add`: names of the feature dropped and of the column added, `NA` if there is none.
#'   Both are `NA` in the row of the present set;
#' * `criterion`: the criterion of the set after the exchange.
#'
#' The attribute `"set"` is a list: `features`, the set by number, after swaps if there were any;
#' `criterion`, of the set, and `null`, of the null model; `optimal`, whether no swap improves it
#' (`NA` after Ctrl-C); `swaps`, a data frame of the swaps made, with the criterion after each;
#' further `lambda`, `measure` (the criterion in words), `keep`, `method`, `status`, `problem` and
#' `call`. Rows of the result
#' (`result[1:3, ]`) are a plain data frame.
#'
#' `plot()` draws the features of the set by their substitutes, coloured by the change of the
#' criterion in percent of the criterion of the set. It returns invisibly the data frame drawn: the
#' 30 substitutes with the smallest change at most.
#'
#' @section Cost: For a set of k features, k + 1 searches from k - 1 and k given columns to the next
#'   one, which skip candidates as in [greedy_rls()]. They run on a future plan and can be
#'   interrupted, see [parallel_runs].
#'
#' @section Errors: `sparsels_error_input` for bad arguments and for data that differ from the data
#'   of the fit: other columns, rows, responses, weights or covariates, columns with another mean or
#'   scale.
#'
#' @seealso [stability_selection()], how often each column is chosen; [panel_error()], the error of
#'   any list of columns; [judge()], this and more in one call
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' x[, 8] <- x[, 7] + rnorm(40) / 5
#' y <- x[, 7] - x[, 50] + rnorm(40) / 2
#' fit <- greedy_rls(x, y, k = 5)
#' others <- exchange(fit, x, size = 3)
#' others
#' head(others)
#' plot(others)
#' better <- exchange(fit, x, size = 3, improve = TRUE)
#' rls(x[, selected(better)], y)
#' @export
exchange <- function(fit, x, y = NULL, ..., data = NULL, size = NULL, keep = 10, improve = FALSE,
                     lambda = NULL, criterion = NULL, folds = NULL, threads = 1,
                     progress = interactive(), BPPARAM = NULL) {
  check_given(fit, "fit")
  if (is.null(data)) check_given(x, "x")
  check_dots(..., known = c(names(formals(exchange)), problem_arguments),
             allowed = problem_arguments)
  check_made(fit, "fit", "sparse_fit", "a fit that chooses columns, such as a fit of greedy_rls()")
  threads <- check_count(threads, "threads")
  problem <- searched_problem(problem_in_order(fit, x, y, ..., data = data), fit$control)
  refuse_hierarchy(problem, "exchange()",
                   "its swaps would leave them without these. Give a fit without `hierarchy`")
  refuse_likelihood(loss_name(fit), "exchange()", "give a fit with `loss = \"squared\"`")
  model <- model_of(fit, size)
  control <- exchange_control(fit, model, problem, keep, lambda, criterion, folds, threads)
  check_flag(improve, "improve")
  check_flag(progress, "progress")
  check_bpparam(BPPARAM)
  features <- distinct_units(problem, model$features)
  control$like <- like_columns(problem, fit$copies)
  found <- exchanged(problem, control, features, improve, progress, BPPARAM)
  new_exchange(found, problem, control, fit$method, short_call(match.call()))
}

# Arguments ---------------------------------------------------------------------------------------

# The control of the searches of one step. A criterion that the user does not give is the criterion
# of the fit, where a search can use it.
exchange_control <- function(fit, model, problem, keep, lambda, criterion, folds, threads) {
  folds <- if (is.null(folds) && !is.null(fit$folds)) fit$folds else
    as_folds(if (is.null(folds)) "loo" else folds, problem)
  fold_basis_check(problem, folds)
  usable <- length(distinct_units(problem))
  whole <- is.null(keep) || is_number(keep) && keep == Inf
  keep <- if (whole) usable else min(check_count(keep, "keep"), usable)
  stop_argument_if(is.null(lambda) && !isTRUE(ridge_of(fit) > 0),
                   "`lambda` must be given: %s() has none above 0 to compare sets at", fit$method)
  lambda <- if (is.null(lambda)) lambda_of_model(fit, model) else check_positive(lambda, "lambda")
  if (is.null(criterion)) {
    name <- fit$criterion$name
    stop_argument_if(name == "user", "`criterion` must be given: %s",
                     "a fit does not keep the function it was searched by")
    criterion <- if ("search" %in% criteria[[name]]$use) name else "squared"
  }
  list(search = "forward", keep = keep, patience = 0L, lambda = lambda, folds = folds,
       threads = threads, progress = FALSE, criterion = as_criterion(criterion, problem, folds))
}

# Exchanges ---------------------------------------------------------------------------------------

# The exchanges of a set, with `improve` of the set after all swaps that help: list(features, table,
# null, swaps, status).
exchanged <- function(problem, control, features, improve, progress, BPPARAM) {
  found <- exchanges_of(problem, control, features, progress, BPPARAM)
  if (is.null(found)) raise_interrupt()
  while (improve && found$status == "complete") {
    swap <- helpful_swap(found, control$criterion)
    if (is.null(swap)) break
    features <- replace(found$features, found$features == swap$drop, swap$add)
    following <- exchanges_of(problem, control, features, progress, BPPARAM)
    if (is.null(following)) {
      found$status <- "interrupted"
      break
    }
    following$swaps <- rbind(found$swaps, swap)
    found <- following
  }
  if (found$status == "interrupted") warn_interrupted(found$done, length(found$features), "feature")
  warn_precision(found$path)
  found
}

# Every set that differs from this set by a feature, in column numbers. A group of columns that move
# together is a feature under the number of its first column. NULL if Ctrl-C came before
# the criterion of the set itself.
exchanges_of <- function(problem, control, features, progress, BPPARAM) {
  # the whole set, for additions, then the set without each of its features
  given <- c(list(features), lapply(seq_along(features), function(j) features[-j]))
  # the criterion of each, and of it with each of the best others: a search of one step
  steps <- run_tasks(length(given), function(i) {
    count <- length(given[[i]])
    control$k <- min(count + 1L, count_units(problem))
    path <- greedy_path(problem, control, control$lambda, whole_groups(problem, given[[i]]))
    if (path$status == "interrupted") raise_interrupt()
    columns <- c("feature", "criterion")
    others <- rbind(path$path[-seq_len(count + 1L), columns],
                    path$alternatives[path$alternatives$step == count + 1L, columns])
    list(criterion = path$path$criterion[count + 1L], others = others,
         null = path$path$criterion[1L], path = path[c("path", "pivot")])
  }, "Exchanging features", random = FALSE, progress = progress, BPPARAM = BPPARAM)
  done <- attr(steps, "done")
  if (!1L %in% done) return(NULL)
  rows <- Map(function(step, left_out) {
    # a copy of a column of the set would only undo the shrinkage of its coefficient
    like <- control$like[setdiff(features, left_out)]
    open <- !step$others$feature %in% left_out & !control$like[step$others$feature] %in% like
    step$others <- utils::head(step$others[open, ], control$keep)
    data.frame(drop = left_out, add = c(NA_integer_, step$others$feature),
               criterion = c(step$criterion, step$others$criterion))
  }, steps, c(NA_integer_, features)[done])
  list(features = features, table = do.call(rbind, rows), null = steps[[1L]]$null,
       path = steps[[1L]]$path, swaps = NULL, done = length(done) - 1L,
       status = if (length(done) < length(given)) "interrupted" else "complete")
}

# differences of a criterion that may be rounding
exchange_tie <- 1e-10

# The best swap, if it improves the criterion by more than rounding.
helpful_swap <- function(found, criterion) {
  swap <- best_swap(found$table, criterion)
  own <- found$table$criterion[1L]
  gain <- criterion_loss(criterion, own) - criterion_loss(criterion, swap$criterion)
  if (nrow(swap) && gain > tie_of(found)) swap
}

tie_of <- function(found) exchange_tie * max(abs(found$table$criterion[1L]), abs(found$null))

best_swap <- function(table, criterion) {
  swaps <- table[!is.na(table$drop) & !is.na(table$add), ]
  utils::head(swaps[order(criterion_loss(criterion, swaps$criterion)), ], 1L)
}

# The result --------------------------------------------------------------------------------------

new_exchange <- function(found, problem, control, method, call) {
  criterion <- control$criterion
  named <- function(table) {
    data.frame(drop = unit_names(problem, table$drop), add = unit_names(problem, table$add),
               criterion = table$criterion)
  }
  loss <- criterion_loss(criterion, found$table$criterion)
  # losses that differ by rounding keep their order
  sorted <- sort(loss)
  rank <- cumsum(c(TRUE, diff(sorted) > tie_of(found)))
  table <- found$table[order(rank[match(loss, sorted)]), ]
  no_swap <- data.frame(drop = integer(), add = integer(), criterion = numeric())
  set <- list(
    features = found$features, criterion = found$table$criterion[1L], null = found$null,
    optimal = if (found$status == "complete") is.null(helpful_swap(found, criterion)) else NA,
    swaps = named(rbind(no_swap, found$swaps)), lambda = control$lambda,
    measure = criterion[c("name", "higher", "words", "label")], keep = control$keep,
    method = method, status = found$status, equal = equal_columns(problem, found$features),
    problem = without_x(problem), call = call
  )
  seal(structure(named(table), set = set, class = c("exchange", "sparsels_result", "data.frame")))
}

# The set of an exchange. A result that was edited may have lost it.
exchange_set <- function(x) {
  check_sealed(x)
  set <- attr(x, "set")
  needed <- c("features", "criterion", "swaps", "measure", "problem", "status")
  stop_input_if(!is.list(set) || !all(needed %in% names(set)),
                "the object has lost its attribute \"set\": was it edited? Make it again",
                class = "sparsels_error_object")
  set
}

# For each feature of the set, the criterion when the feature is dropped, and when its best
# substitute replaces it. The most important feature is first.
member_table <- function(x) {
  set <- exchange_set(x)
  table <- x[!is.na(x$drop), ]
  without <- table[is.na(table$add), ]
  without <- without[rev(seq_len(nrow(without))), ]
  swaps <- table[!is.na(table$add), ]
  best <- match(without$drop, swaps$drop)
  list2DF(list(feature = without$drop, dropped = without$criterion,
               substitute = ifelse(is.na(best), "", swaps$add[best]),
               swapped = swaps$criterion[best]))
}

#' @exportS3Method
print_result.exchange <- function(x, n = 20, ...) {
  set <- exchange_set(x)
  size <- length(set$features)
  word <- size_word(set$problem)
  say("exchanges of ", counted(size, word), " chosen by ", set$method)
  print_data(set$problem)
  swaps <- set$swaps
  if (nrow(swaps)) {
    each <- sprintf("%s for %s (%s)", swaps$add, swaps$drop, shown(swaps$criterion))
    say(counted(nrow(swaps), "swap"), " made: ", some_of(each, 5L, ""))
  }
  say(set$measure$label, " ", shown(set$criterion), " of the set, ", shown(set$null),
      " of the null model, at lambda ", shown_parameter(set$lambda))
  remark("it compares sets, and is optimistic: the features were chosen on these rows")
  if (size) say(verdict_words(x, set))
  print_equal(set$problem, set$equal, set$features)
  if (isTRUE(set$optimal) && set$method != "l1_path" && nrow(best_swap(x[], set$measure))) {
    remark("certify() tells whether a set that differs in more features is better")
  }
  members <- member_table(x)
  if (nrow(members) && n > 0L) {
    text <- shown_table(utils::head(members, n), c("dropped", "swapped"))
    print(fitting_names(text, "feature"), row.names = FALSE)
    print_more(nrow(members) - nrow(text), word)
  }
  print_best(x[is.na(x$add) & !is.na(x$drop), ], paste("one", word, "less"), "without", "drop")
  print_best(x[is.na(x$drop) & !is.na(x$add), ], paste("one", word, "more"), "with", "add")
  print_interrupted(set$status, paste0(word, "s"))
}

# The first of some rows, best first, in words.
print_best <- function(rows, what, how, column) {
  if (nrow(rows)) {
    say(what, ": at best ", shown(rows$criterion[1L]), ", ", how, " ", rows[[column]][1L])
  }
}

verdict_words <- function(x, set) {
  improves <- if (set$measure$higher) "raises it" else "lowers it"
  if (is.na(set$optimal)) return(sprintf("whether a swap %s is not known", improves))
  best <- best_swap(as.data.frame(x), set$measure)
  if (!nrow(best)) return("no swap is possible: every usable column is in the set")
  what <- sprintf("%s for %s, gives %s", best$add, best$drop,
                  shown_apart(best$criterion, set$criterion)[1L])
  if (set$optimal) {
    return(sprintf("no swap of one %s %s; the best, %s", size_word(set$problem), improves, what))
  }
  sprintf("a swap %s: the best, %s (`improve = TRUE` makes swaps until none does)", improves, what)
}

#' @exportS3Method
selected.exchange <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  set <- exchange_set(object)
  selected_of_set(set$features, unit_names(set$problem, seq_len(ncol(set$problem))), size, index,
                  lambda, "an exchange is of one set")
}

#' @exportS3Method
record.exchange <- function(x) {
  set <- exchange_set(x)
  list(rows = x[], complete = TRUE,
       row = data.frame(method = set$method, size = length(set$features), lambda = set$lambda,
                        criterion = set$measure$name, value = set$criterion,
                        optimal = set$optimal, swaps = nrow(set$swaps),
                        nobs = trained_rows(set$problem),
                        status = set$status),
       meaning = paste("dropped =", set$measure$words, "without the feature; swapped = with its",
                       "best substitute in its place"))
}

# Importance --------------------------------------------------------------------------------------

#' Importance of variables
#'
#' How much each variable of a model moves its predictions, or by how much the held-out error rises
#' without it.
#'
#' **Of a fit** the importance of a variable is the absolute value of its coefficient times the
#' standard deviation of its column in the training rows, in units of the prediction, and of several
#' numeric responses in units of their standard deviations. A variable
#' with several columns, such as a factor or a curve, several responses and several classes have
#' several such values, of which the importance is the square root of the sum of squares. The
#' coefficients of correlated columns share their importance. `caret::varImp()` of a model of
#' [caret_greedy_rls] and `importance()` of the learners of [mlr3][mlr3_learners] are the same
#' numbers.
#'
#' **Of an exchange** the importance of a variable is by how much the held-out error of the set
#' rises if the variable is dropped and nothing replaces it, as [exchange()] computes it by
#' retraining without each fold. The importance is negative where the set is better without the
#' variable.
#'
#' Neither is a test of a variable, because the variables were chosen on the same rows.
#'
#' @param object A fit of columns, or the result of [exchange()].
#' @return A data frame with the columns `variable` and `importance`, the largest first. Variables
#'   that are not in the chosen model have no row.
#' @section Errors: `sparsels_error_input` for other objects, and for fits with a kernel, whose
#'   coefficients are of rows.
#' @seealso [exchange()], [stability_selection()]
#' @examples
#' fit <- greedy_rls(mpg ~ ., mtcars, size = 3)
#' variable_importance(fit)
#' variable_importance(exchange(fit, mtcars, keep = 1))
#' @export
variable_importance <- function(object) {
  check_given(object, "object")
  UseMethod("variable_importance")
}

#' @export
variable_importance.default <- function(object) {
  refuse("object", "a fit that has columns, or the result of exchange()", object)
}

#' @export
variable_importance.sparsels_fit <- function(object) {
  check_sealed(object)
  stop_input_if(!is.null(object$kernel),
                "the fit has a kernel: its coefficients are of rows, and no column has one")
  importance_table(feature_importance(object))
}

#' @export
variable_importance.exchange <- function(object) {
  set <- exchange_set(object)
  members <- member_table(object)
  error <- as_error(set$measure, c(set$criterion, members$dropped))
  rise <- stats::setNames(error[-1L] - error[1L], members$feature)
  importance_table(sort(rise, decreasing = TRUE))
}

importance_table <- function(importance) {
  data.frame(variable = as.character(names(importance)), importance = unname(importance))
}

# The importance of the variables of the chosen model, the largest first, with their names.
feature_importance <- function(fit) {
  problem <- fit$problem
  model <- model_of(fit)
  chosen <- model_terms(fit, model)
  effect <- model$beta * sqrt(problem$columns$squares[chosen] / sum(problem$rows$weight))
  sums <- rowsum(rowSums(effect^2), variables_of(problem, chosen), reorder = FALSE)
  sort(sqrt(sums[, 1L]), decreasing = TRUE)
}

# The names of the variables that columns are made of: of a factor or of a curve the same for all
# their columns.
variables_of <- function(problem, columns) {
  terms <- column_terms(problem$coding$design, problem, columns)
  vapply(terms, function(term) if (is.name(term)) as.character(term) else deparse1(term), "")
}

# Picture -----------------------------------------------------------------------------------------

dropped_label <- "(dropped)"

# The features of the set (most important first) by their substitutes (best first). `col` is a
# palette from the largest improvement to the largest cost.
#' @exportS3Method
picture.exchange <- function(x, col = NULL, ...) {
  if (is.null(col)) col <- grDevices::colorRampPalette(cost_colours)(101L)
  set <- exchange_set(x)
  rows <- x[!is.na(x$drop), ]
  stop_input_if(!nrow(rows), "the set has no features: there is nothing to draw")
  rows$add[is.na(rows$add)] <- dropped_label
  substitutes <- utils::head(unique(c(dropped_label, rows$add)), 31L)
  rows <- rows[rows$add %in% substitutes, ]
  error <- as_error(set$measure, c(set$criterion, rows$criterion))
  rows$cost <- 100 * (error[-1L] - error[1L]) / (if (error[1L] == 0) 1 else abs(error[1L]))
  rows$drop <- factor(rows$drop, member_table(x)$feature)
  rows$add <- factor(rows$add, substitutes)
  row.names(rows) <- NULL
  across <- as.integer(rows$add)
  height <- nlevels(rows$drop) + 1L - as.integer(rows$drop)
  # whether a cost in percent is rounding
  tie <- abs(rows$cost) < 100 * exchange_tie
  # Costs as shares of the largest cost, improvements as shares of the largest improvement. They
  # differ by orders of magnitude, hence the root.
  cost <- ifelse(tie, 0, rows$cost)
  share <- sqrt(cost / ifelse(cost < 0, min(cost, -1e-8), max(cost, 1e-8)))
  shade <- 1 + round((ifelse(cost < 0, -1, 1) * share + 1) / 2 * (length(col) - 1))
  digits <- marked("%+.*f", ifelse(abs(rows$cost) < 9.95, 1L, 0L), rows$cost)
  cells <- as_layer("rects", across - 0.5, height - 0.5, x2 = across + 0.5, y2 = height + 0.5,
                    col = col[shade], text = ifelse(tie, "0", digits))
  names <- function(factor) ticks_of(shortened(factor, 20L, 8L))
  words <- list(main = sprintf("change of the %s, in %s", set$measure$words, "%"),
                xlab = sprintf("substitute (blank: not among the best %d)", set$keep), ylab = "",
                xaxs = "i", yaxs = "i")
  new_picture(rows, cells, words, list(...),
              list(x = names(levels(rows$add)), y = names(rev(levels(rows$drop)))))
}

# from an improvement over no change to the largest cost
cost_colours <- c("#0072B2", "#FFF7EC", "#B30000")
