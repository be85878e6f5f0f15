#' Fits with a model of every size
#'
#' The value of methods that select features: the best model of each size, with its held-out error.
#'
#' @details A fit is a plain list, which `saveRDS()` keeps whole. It does not hold `x`. With m rows,
#' L responses and q covariates:
#'
#' * `path`: data frame with a row for every step: `step` (0 is the start), `action` (`"start"`,
#'   `"add"`, `"drop"`, or `"found"` if sets are not nested), `feature` (column number), `name`,
#'   `size` of the model after the step, and its held-out errors: `criterion` (by which the search
#'   chose; of the best-subset methods, such as [poss()], the training \eqn{R^2}) with its standard
#'   error `se` over folds, `squared`, the mean squared error \eqn{\sum_j w_j \|r_j\|^2 / (L \sum_j
#'   w_j)}{sum_j w_j ||r_j||^2 / (L sum_j w_j)}, and for classes `error`, the misclassification
#'   rate, of three and more classes by the largest score. Repeated folds are averaged. `se` is the
#'   standard error of a weighted mean of fold means, and treats the folds as independent, which
#'   nearly holds. It is `NA` for a user's function and for leave-pair-out AUC. With the `cost` of
#'   [greedy_rls()], `price` is the price of the model. With [groups][column_groups] that are
#'   selected together, `size` counts groups, `name` is the name of the group, `feature` its first
#'   column, and `columns` the number of columns added or dropped.
#'
#'   If the whole procedure was repeated in folds (`size = "cv"`, `"1se"` or a number), the
#'   path also has the held-out criterion `cv` with `cv_se`, which for censored times is the
#'   concordance, for classes the error rate `cv_error` with `cv_error_se`, and for rankings the
#'   concordance `cv_concordance` with `cv_concordance_se`.
#'   They belong to the best model of each size, selected without the rows it
#'   is scored on. After a refit `criterion`, `se`, `squared` and `error` belong to the refitted
#'   models, `refit_lambda` is their lambda and `search_criterion` the criterion of the search. Of
#'   counts and shares `squared` is the error of their predicted means, `tried` the number of
#'   candidates whose models were made, and `exact` whether no other candidate was better. These
#'   fits have their `loss`, with theta in brackets: `"negbin(1.6)"`. Of Cox models `criterion` is
#'   the held-out partial deviance per event, and `search_criterion` of the search by log times,
#'   whose `criterion` and `folds` are in `searched`. `baseline` has their cumulative hazards at the
#'   means of the training rows.
#' * `coefficients`: element s + 1 is the best model of size s, or `NULL`: `features` (column
#'   numbers in the order chosen), `beta` (s x L) and `covariates` (q x L) on the user's scale,
#'   `step`.
#' * `size`, the chosen size, and `size_by`, how it was chosen. `estimate` (`mean`, `se`): the
#'   criterion of the procedure with its choice of size and lambda, chosen by the other folds and
#'   scored on each; `estimate_error`, the same as an error rate, and `estimate_concordance`.
#'   `size_folds`, the folds of the procedure.
#' * `held_out` and `fitted` (m x L): predictions of the rows at the chosen size, in the user's
#'   units, by models trained without them and by the fit. `fitted_sizes` (m x L x sizes) has the
#'   fitted values of all sizes, if the search was repeated in folds, up to a million numbers. If
#'   the procedure was repeated in folds, `held_out` comes from the searches without each row. With
#'   `size = "criterion"` the features were selected with the row. Rows of weight 0 are predicted by
#'   the fit.
#' * `fold_models`, from which [prediction_intervals] are made: `models`, for each fold the model
#'   without it, of the size and lambda that the other folds choose; `pairs`, a row for each `row`
#'   and fold (`part`) that holds it out; `residual`, the response of the row less its prediction by
#'   this model; if used, `state`, the column means that replace missing values and the [curves] of
#'   its columns; `folds`, which are ten where the size was chosen by more than 20 folds.
#' * `lambda`, `lambda_rule`, and `lambda_table` with a row for every lambda tried: its best size
#'   and `cv` there.
#' * `cv_with`: where pairs or [curves] are left out, the cross-validated errors with them, by name.
#' * `copies`: of [greedy_rls()], the columns (`feature`) that are copies of others (`of`), which
#'   the search did not add, see [size_rule].
#' * `dependent`: of [greedy_rls()], the columns (`feature`) that the search left out, since `size`
#'   of its columns determine them, see [size_rule]. In a forward search these are the first `size`
#'   chosen ones.
#' * `equal`: the columns (`feature`) that equal a column of a model of the path (`of`) up to sign,
#'   scale and covariates. `print()` names them.
#' * `alternatives`: with `keep`, the best candidates not chosen at each step.
#' * `work`: of [greedy_rls()], the operations of the search, see [search_cost].
#' * `status`: `"complete"`, `"early_stop"`, `"interrupted"`, `"move_limit"` or `"node_limit"`.
#' * `criterion`, `folds`, `control`, `call`, `method`, and `problem` without its x.
#'
#' @param object A fit.
#' @param rule `"min"`: the size or lambda with the smallest error; `"1se"`: the smallest size, or
#'   the largest lambda, whose error is within one standard error of it.
#' @param by Which error of the path: `"cv"`, the cross-validated error of the whole procedure, or
#'   `"criterion"`, by which the features were chosen. By default the first, if the fit has it.
#' @param ... Not used.
#'
#' @return `best_size()`, and `best_lambda()` for an l1 path with held-out errors: a number.
#'
#' @seealso [sparsels_fit] for coefficients, predictions and residuals of a fit,
#'   [plot()][plot.sparsels_result]
#' @examples
#' x <- matrix(rnorm(30 * 8), 30)
#' fit <- greedy_rls(x, x[, 3] + rnorm(30) / 9)
#' fit
#' summary(fit)
#' best_size(fit, "1se")
#' @name sparse_fit
NULL

#' @rdname sparse_fit
#' @export
best_size.sparse_fit <- function(object, rule = "min", by = NULL, ...) {
  check_method_call(..., object = object, known = "by")
  check_choice(rule, "rule", c("min", "1se"))
  sizes <- size_table(object)
  if (is.null(by)) by <- if (is.null(sizes$cv)) "criterion" else "cv"
  check_choice(by, "by", c("cv", "criterion"))
  stop_argument_if(by == "cv" && is.null(sizes$cv),
                   paste("`by = \"cv\"` needs a fit whose search was repeated in folds:",
                         "fit it with `size = \"cv\"`"))
  own <- is_training(object) || object$size_by %in% c("criterion", "min")
  if (by == "criterion" && rule == "min" && is.null(sizes$cv) && own) return(object$size)
  loss <- criterion_loss(object[[if (by == "cv") "cv_criterion" else "criterion"]], sizes[[by]])
  se <- sizes[[if (by == "cv") "cv_se" else "se"]]
  if (rule == "1se" && is.na(se[choose_row(loss)])) stop_no_se(object)
  sizes$size[choose_row(loss, rule, se)]
}

stop_no_se <- function(fit) {
  stop_input("`rule = \"1se\"` needs a standard error, which the %s does not have",
             fit$criterion$label)
}

# Printing ----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.sparse_fit <- function(x, n = NULL, whole = FALSE, ...) {
  predicted <- held_out_classes(x)
  print_page(
    whole, n, function(n) path_rows(x, n),
    always = say(x$method, ": ", fit_title(x)),
    always = print_choice(x, predicted),
    rare = print_own_error(x),
    needed = print_selected(x),
    needed = print_terms(x),
    needed = print_simpler(x),
    always = print_unscored_folds(x),
    always = print_copies(x),
    needed = print_price(x),
    always = if (x$size > 0L) print_constant(x$problem, predicted),
    wanted = if (x$size > 0L) print_classes(x$problem, predicted, whole),
    needed = print_responses(x$problem, kept_values(x, "held_out"), printed_square(x),
                             if (is.null(x$path$cv)) "" else "cross-validated "),
    wanted = print_spread(x),
    needed = print_rows_of(x$problem),
    always = print_properties(x$problem, "always"),
    needed = print_properties(x$problem, "needed"),
    wanted = print_properties(x$problem, "wanted"),
    wanted = if (is_cox(x$problem)) print_cox(x),
    wanted = say(lambda_words(x)),
    needed = for (words in search_words(x)) say(words),
    always = if (x$status != "complete") say(status_words(x))
  )
}

# The names of the chosen columns, where no sentence about terms has them.
print_selected <- function(fit) {
  if (fit$size == 0L || !is.null(fit$terms)) return(invisible())
  chosen <- unit_names(fit$problem, model_of(fit)$features)
  say("chosen: ", some_of(unique(chosen), 8L, ""))
}

print_price <- function(fit) {
  if (is.null(fit$path$price)) return(invisible())
  budget <- fit$control$budget
  say("price of the model: ", show_value(chosen_row(fit)$price),
      if (isTRUE(is.finite(budget))) paste(", the budget is", show_value(budget)))
}

# The kinds of terms that the choice between lines, curves and pairs left out.
print_simpler <- function(fit) {
  for (kind in names(fit$cv_with)) {
    say(kind, if (kind == "curves") " are lines" else " are left out",
        ": they do not clearly improve the cross-validated ", fit$cv_criterion$words, " (",
        shown(fit$cv_with[[kind]]), " with ", kind, ")")
  }
}

# The mean squared error that print() shows of the chosen model, or NULL.
printed_square <- function(fit) {
  row <- chosen_row(fit)
  if (!is.null(row$cv)) return(if (fit$cv_criterion$name == "squared") row$cv)
  if (is_training(fit)) row$squared else if (fit$criterion$name == "squared") row$criterion
}

# A description of how far a search went, if it may be incomplete, otherwise NULL.
search_words <- function(fit) UseMethod("search_words")

#' @exportS3Method
search_words.default <- function(fit) NULL

lambda_words <- function(fit) {
  tried <- fit$lambda_table$lambda
  rule <- if (length(tried) > 1L) {
    sprintf("chosen from %s by the cross-validated %s", values_words(tried), fit$cv_criterion$words)
  } else if (fit$lambda == 0) {
    "no penalty"
  } else {
    fit$lambda_rule
  }
  refit_lambda <- chosen_row(fit)$refit_lambda
  refit <- if (isTRUE(refit_lambda > 0)) {
    sprintf("; coefficients refitted by %sridge regression with lambda %s",
            if (is_cox(fit$problem)) "Cox " else "", shown_parameter(refit_lambda))
  }
  paste0("lambda: ", shown_parameter(fit$lambda), ", ", rule, refit)
}

# The name of a method for a title, or a longer description where it is short.
method_title <- function(fit) {
  if (!is.null(fit$front)) return("best subset at every price (Pareto optimisation)")
  title <- method_titles[fit$method]
  if (is.na(title)) gsub("_", " ", fit$method) else title
}

method_titles <- c(
  poss = "best subset of every size (Pareto optimisation)",
  best_subset = "best subset of every size (branch and bound)",
  omp = "orthogonal matching pursuit", foba = "forward-backward search",
  rfe = "recursive elimination of features", scdp = "sparse pursuit",
  lowrank_lssvm = "forward search (low-rank updates)",
  random_selection = "features in random order", kernel_rls = "kernel ridge regression",
  rls = "ridge regression", lssvm = "LS-SVM"
)

fit_title <- function(fit) {
  search <- fit$control$search
  if (is.null(search)) return(paste(method_title(fit), "by the", fit$criterion$label))
  title <- paste(sub("_", "-", search), "search")
  if (!is_squared(fit)) return(paste(title, "for", loss_of(fit)$title[2L], "a ridge penalty"))
  form <- if (is.null(fit$path$price)) "%s by the %s" else "%s by the gain in %s per price"
  sprintf(form, title, fit$criterion$label)
}

# The chosen size, its error, and how good an estimate this error is.
print_choice <- function(fit, predicted) {
  row <- chosen_row(fit)
  if (!is.null(row$cv)) return(print_cv(fit, row))
  say(size_of_words(fit), ": ", held_out_words(fit, row, predicted),
      if (is_training(fit)) paste0(", ", fit$criterion$label, " ", shown(row$criterion)))
  if (fit$size == 0L) remark_one_class(fit, error_rate_of(fit, row, predicted))
  remark(optimistic_words(chosen_by_words(fit)))
  # another size may have a held-out error that is smaller by more than a tenth
  column <- if (is_training(fit)) "squared" else "criterion"
  table <- size_table(fit)
  loss <- if (column == "squared") table$squared else criterion_loss(fit$criterion, table$criterion)
  best <- which.min(loss)
  own <- loss[match(fit$size, table$size)]
  if (!length(best) || !isTRUE(own - loss[best] > 0.1 * abs(own))) return(invisible())
  words <- if (column == "squared") squared_label(fit$problem) else fit$criterion$words
  remark(sprintf("another size has %s %s: %s", held_out_label(words, fit$folds$label),
                 shown(table[[column]][best]), counted(table$size[best], size_word(fit$problem))))
}

# The size with the held-out error of the whole procedure, and the error of the procedure that chose
# this size.
print_cv <- function(fit, row) {
  measure <- reported_measure(fit)
  say(sprintf("%s chosen, cross-validated %s %s%s", size_of_words(fit), measure$words,
              shown(row[[measure$column]]), se_words(row[[paste0(measure$column, "_se")]])))
  why <- rule_words(fit, measure)
  if (!is.null(why)) remark(why)
  done <- c(if (fit$problem$coding$standardize) "scaling",
            if (length(fit$lambda_table$lambda) > 1L) "lambda", "search",
            if (!is.null(fit$path$refit_lambda)) "refit")
  remark(paste(done, collapse = ", "), " redone without each fold (", fit$size_folds$label, ")")
  estimate <- fit[[sub("cv", "estimate", measure$column)]]
  if (!is.null(estimate) && !is.numeric(fit$size_by)) {
    remark(sprintf("cross-fitted %s%s, sizes chosen by the other folds",
                   shown(estimate[["mean"]]), se_words(estimate[["se"]])))
  }
  if (fit$size == 0L) remark_one_class(fit, row$cv_error)
}

# The criterion that chose the columns of the chosen model.
print_own_error <- function(fit) {
  row <- chosen_row(fit)
  if (is.null(row$cv) || fit$size == 0L) return(invisible())
  measure <- reported_measure(fit)
  words <- if (measure$name == "error" && !is_by_probability(fit)) {
    paste(measure$words, shown(row$error))
  } else {
    paste(if (is_training(fit)) squared_label(fit$problem) else fit$criterion$words,
          shown(row[[criterion_column(fit)]]))
  }
  own <- held_out_label(words, fit$folds$label, measure$pairs && fit$folds$loo)
  say(sprintf("%s: optimistic, as %s", own, chosen_by_words(fit)))
}

remark_one_class <- function(fit, rate) {
  words <- one_class_words(fit$problem, rate)
  if (!is.null(words)) remark(words)
}

# The number of folds without a value of the printed error. Leave-one-out pairs are not folds.
print_unscored_folds <- function(fit) {
  repeated <- !is.null(fit$size_folds)
  folds <- if (repeated) fit$size_folds else fit$folds
  name <- if (!repeated) fit$criterion$name else sub("^cv_?", "", reported_measure(fit)$column)
  if (name == "") name <- fit$cv_criterion$name
  if (is.null(folds) || folds$loo && !repeated) return(invisible())
  count <- count_unscored(fit$problem, folds, name)
  print_unscored(count[1L], count[2L], if (repeated) "size fold" else "fold", name)
}

# The columns that equal chosen ones or nearly so, or are linear combinations of them, and were
# not added, and other columns that equal chosen ones.
print_copies <- function(fit) {
  chosen <- model_of(fit)$features
  copies <- fit$copies[fit$copies$of %in% chosen, ]
  say_columns(beside_names(fit$problem, copies$feature, copies$of), counted_word(fit$problem),
              "equal or nearly equal to a chosen one and left out")
  forward <- identical(fit$control$search, "forward")
  dependent <- fit$dependent$feature[!forward | fit$dependent$size <= length(chosen)]
  say_columns(if (length(dependent)) unit_names(fit$problem, dependent), "column", paste(
    if (forward) "determined by the chosen ones" else "determined by others", "and left out"
  ))
  equal <- fit$equal[!fit$equal$feature %in% fit$copies$feature, ]
  print_equal(fit$problem, equal, chosen)
}

# The columns that equal another one of some chosen columns, among the pairs of equal_columns().
print_equal <- function(problem, equal, chosen) {
  sets <- lapply(unique(equal$of), function(of) {
    all <- c(of, equal$feature[equal$of == of])
    own <- intersect(chosen, all)
    if (length(own)) data.frame(feature = setdiff(all, own[1L]), of = own[1L])
  })
  pairs <- do.call(rbind, sets)
  for (of_set in c(TRUE, FALSE)) {
    rows <- pairs[pairs$feature %in% chosen == of_set, ]
    say_columns(beside_names(problem, rows$feature, rows$of), counted_word(problem), paste(
      "equal up to scale to", if (of_set) "another chosen one" else "a chosen one and not chosen"
    ))
  }
}

# columns, or groups that move together, each with another one in parentheses
beside_names <- function(problem, feature, of) {
  if (length(feature)) {
    names <- list(unit_names(problem, feature), unit_names(problem, of))
    unique(sprintf("%s (%s)", names[[1L]], names[[2L]])[names[[1L]] != names[[2L]]])
  }
}

say_columns <- function(names, word, why) {
  if (length(names)) say(counted(length(names), word), " ", why, ": ", some_of(names, quote = ""))
}

# the reason for this size, with the size of the smallest error, unless the user gave the size
rule_words <- function(fit, measure) {
  if (is.numeric(fit$size_by)) return(NULL)
  # the best model of all lambdas, with its error if the path has it
  features <- counted(fit$best, size_word(fit$problem))
  tried <- fit$lambda_table
  lambda <- tried$lambda[which.min(criterion_loss(fit$cv_criterion, tried$cv))]
  smallest <- if (lambda != fit$lambda) paste(features, "at lambda", shown_parameter(lambda)) else
    best_words(fit, measure, features)
  if (fit$size == 0L) {
    word <- size_word(fit$problem)
    alone <- fit$best == 0L || fit$size_by != "cv"
    return(if (alone) sprintf("no %s is better than none", word) else
      sprintf("none is clearly better than no %s: %s", word, smallest))
  }
  if (!fit$size_by %in% c("cv", "1se") || fit$best == fit$size) return(NULL)
  what <- if (fit$size_by == "cv") "not clearly worse than the best" else
    "the fewest within one standard error of the best"
  sprintf("%s, %s", what, smallest)
}

# The error of the best size. By the criterion, beside the chosen size, where the measure that is
# printed is not better at the best size.
best_words <- function(fit, measure, features) {
  sizes <- size_table(fit)
  rows <- match(c(fit$best, fit$size), sizes$size)
  value <- sizes[[measure$column]][rows]
  printed <- if (is.null(criteria[[measure$name]])) fit$cv_criterion else criteria[[measure$name]]
  if (isTRUE(diff(criterion_loss(printed, value)) > 0)) {
    return(paste(shown(value[1L]), "with", features))
  }
  value <- vapply(sizes$cv[rows], shown, "")
  sprintf("%s %s with %s, %s with %s", fit$cv_criterion$words, value[1L], features, value[2L],
          if (fit$size == 0L) "none" else fit$size)
}

size_of_words <- function(fit) {
  if (fit$size == 0L) return(paste("no", size_word(fit$problem)))
  sized_words(fit$problem, fit$size, length(model_of(fit)$features))
}

# The measure that print() shows, and its column of the path: for classes the error rate, for
# rankings the concordance, where the criterion was the squared error.
reported_measure <- function(fit) {
  own <- fit$cv_criterion
  name <- measure_of(fit$problem)
  of_largest <- own$name == "error" && is_by_probability(fit)
  if (own$name == "squared" && name != "squared" || of_largest) {
    return(list(name = name, words = criteria[[name]]$words, pairs = FALSE,
                column = paste0("cv_", name)))
  }
  list(name = "criterion", words = own$words, pairs = own$name == "auc", column = "cv")
}

# the column with the fit's own held-out error that is comparable with its `cv`
criterion_column <- function(fit) if (is_training(fit)) "squared" else "criterion"

# why the fit's own error is optimistic
chosen_by_words <- function(fit) {
  on_all <- is_training(fit) || !is_squared(fit)
  if (on_all) "the features were chosen on all rows" else "it chose the features"
}

optimistic_words <- function(why) {
  sprintf("optimistic, as %s: use cross_validate()", why)
}

status_words <- function(fit) {
  # the sizes of a stopped search by best_subset()
  sizes <- fit$path$size[fit$path$action == "stopped"]
  open <- if (!length(sizes)) "this is the path up to there" else
    sprintf("the %s not proven to be the best, fit$proof has bounds",
            if (length(sizes) > 1L) sprintf("sets of size %s are", runs_of(sizes)) else
              sprintf("set of size %d is", sizes))
  switch(fit$status,
    early_stop = sprintf("stopped early: no improvement for %d steps (set `k` to go on)",
                         fit$control$patience),
    interrupted = paste0("interrupted: ", open),
    move_limit = "stopped: the search came to its limit of moves without settling",
    node_limit = sprintf("stopped at %s nodes a size: %s",
                         format(c(fit$control$nodes, max(fit$proof$nodes))[1L]), open)
  )
}

# 4, 6 to 9
runs_of <- function(numbers) {
  runs <- split(numbers, cumsum(c(1L, diff(numbers)) != 1L))
  paste(vapply(runs, function(run) paste(unique(range(run)), collapse = " to "), ""),
        collapse = ", ")
}

# `n` rows of the path about the row of the chosen model, with the errors of the whole procedure
# where there are these.
path_rows <- function(fit, n) {
  chosen <- model_rows(list(model_of(fit)))
  shown <- fit$path[rows_about(chosen, nrow(fit$path), n), ]
  moves <- !all(fit$path$action %in% c("start", "add", "found"))
  text <- shown[, c(if (moves) c("step", "action"), "size", "name")]
  text$name <- moved_names(fit, shown)
  columns <- intersect(path_columns(fit), names(shown))
  if (!is.null(shown$cv)) {
    columns <- setdiff(columns, c("criterion", "squared", "se", rate_column(fit)))
  }
  if (!is.null(shown$columns)) text$columns <- shown$columns
  text <- shown_table(cbind(text, shown[columns]), columns)
  list(text = fitting_names(text), total = nrow(fit$path), what = "step")
}

# `n` rows of `count` that lie together, the chosen one and if possible the next one among them.
rows_about <- function(chosen, count, n) {
  last <- min(count, max(chosen + (n > 1L), n))
  seq(max(1L, min(chosen, last - n + 1L)), last)
}

# the columns of the path that are printed
path_columns <- function(fit) {
  c("price", "criterion", if (is_training(fit)) "squared" else "se", rate_column(fit), "cv",
    "cv_se", "cv_error", "cv_concordance")
}

# the columns of a path of lambda that are printed
lambda_columns <- function(fit) {
  c("lambda", "size", if (is_training(fit)) "dev_ratio" else
    c("criterion", "se", rate_column(fit), "concordance"))
}

# the column moved, or all columns of a set that was found at once
moved_names <- function(fit, rows) {
  names <- ifelse(is.na(rows$name), "", rows$name)
  for (row in which(rows$action %in% set_actions)) {
    names[row] <- paste(fit$problem$columns$name[fit$coefficients[[rows$size[row] + 1L]]$features],
                        collapse = " ")
  }
  names
}

#' @exportS3Method
details.sparse_fit <- function(x) {
  path <- size_table(x)
  text <- path[intersect(c("size", "name", "columns", path_columns(x)), names(path))]
  text$name <- moved_names(x, path)
  fit_details(x, fitting_names(shown_table(text, path_columns(x))), "best model of every size")
}
