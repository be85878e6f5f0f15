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
#' * `coefficients`: element s + 1 is the best model of size s, or `NULL`: `features` (column
#'   numbers in the order chosen), `beta` (s x L) and `covariates` (q x L) on the user's scale,
#'   `step`. If the whole procedure was repeated in folds (`size = "cv"`, `"1se"` or a number), the
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
#' * `copies`: of [greedy_rls()], the columns (`feature`) that are copies of others (`of`), which
#'   the search did not add, see [size_rule].
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

# The fit of a method from its path. `chosen` is the result of choose_in_folds() if the whole
# procedure was repeated. `to_user` takes the models of the method to the user's scale.
new_sparse_fit <- function(method, problem, path, control, call, chosen = NULL,
                           to_user = user_coefficients) {
  rule <- control$sizing$rule
  check_unchanged(problem, unique(unlist(lapply(path$models, `[[`, "features"))))
  fit <- structure(list(
    method = method, path = path$path, coefficients = to_user(problem, path$models),
    size = path$size, held_out = path$held_out, fitted = path$fitted,
    lambda = path$lambda, lambda_rule = control$lambda_rule,
    lambda_table = list2DF(list(
      lambda = path$lambda, size = path$size,
      criterion = path$path$criterion[path$models[[path$size + 1L]]$row]
    )),
    size_by = if (is.null(rule)) "criterion" else rule,
    criterion = control$criterion[intersect(c("name", "higher", "words", "label"),
                                            names(control$criterion))],
    cv_criterion = chosen_by(problem, control$criterion)[c("name", "higher", "words")],
    folds = control$folds, found = path$found, alternatives = path$alternatives,
    copies = path$copies, work = path$work, status = path$status,
    control = control[setdiff(names(control), internal_control)],
    call = call, problem = without_x(problem)
  ), class = c(fit_class(method), "sparse_fit", "sparsels_fit", "sparsels_result"))
  fit[c("loss", "searched")] <- control[c("loss", "searched")]
  fit <- if (is.null(chosen)) fill_unweighted(fit, problem) else take_choice(fit, problem, chosen)
  fit$baseline <- baseline_of(problem, fit$coefficients[[fit$size + 1L]])
  if (fit$criterion$name == "auc" && fit$size > 0L) warn_constant(problem, held_out_classes(fit))
  seal(warn_unfinished(with_user_units(fit), done_words(fit$path)))
}

internal_control <- c("criterion", "folds", "copies", "clear", "lambda_rule", "lambda_values",
                      "lambda_given", "most_lambdas", "sizing", "grows", "largest", "BPPARAM",
                      "shards", "products")

# The fit with the size that the folds of the whole procedure choose, the errors of every size in
# these folds, and predictions of each row by the models without it.
take_choice <- function(fit, problem, chosen) {
  if (is.numeric(fit$size_by) || fit$size_by != "criterion") {
    sizes <- model_sizes(fit)
    fit$size <- max(sizes[sizes <= chosen$size])
  }
  scored <- model_sizes(fit)
  scored <- scored[scored < nrow(chosen$path$cv)]
  rows <- model_rows(fit$coefficients[scored + 1L])
  for (error in names(chosen$path)) {
    columns <- c(error, paste0(error, "_se"))
    fit$path[columns] <- NA_real_
    fit$path[rows, columns] <- chosen$path[[error]][scored + 1L, seq_along(columns)]
  }
  fit$lambda_table <- chosen$table
  fit$best <- chosen$best
  fit$estimate <- chosen$estimate$cv
  fit$estimate_error <- chosen$estimate$cv_error
  fit$estimate_concordance <- chosen$estimate$cv_concordance
  fit$size_folds <- chosen$folds
  few <- length(problem$rows$y) * length(fit$coefficients) <= 1e6
  fitted <- scores_of_rows(problem, model_scores(
    fit$coefficients[if (few) TRUE else fit$size + 1L], problem
  ))
  fit$fitted <- layer(fitted, if (few) fit$size + 1L else 1L)
  if (few) fit$fitted_sizes <- fitted
  fit$held_out <- held_out_predictions(problem, chosen, fit$fitted)
  if (!is.null(chosen$cross_fitted) && nrow(chosen$parts) == chosen$wanted) {
    # the models without few rows each have all chosen with nearly the same errors
    of <- if (is.null(chosen$ten) || chosen$size == 0L) chosen else chosen$ten
    rows <- of$parts$rows
    scores <- scores_of_parts(problem, rows, of$cross_fitted, of$state)
    scores <- judged_parts(problem, loss_name(fit), rows, scores)
    fit$fold_models <- models_without(problem, rows, of$cross_fitted, scores, of$state)
    fit$fold_models$folds <- of$folds
  }
  with_class_errors(fit, problem, chosen)
}

# Rows of weight 0 are predicted by the model, which was not trained on them.
fill_unweighted <- function(fit, problem) {
  rows <- which(problem$rows$weight == 0)
  if (!length(rows)) return(fit)
  scores <- layer(model_scores(fit$coefficients[fit$size + 1L], problem), 1L)
  if (is_ranked(problem)) scores <- scores_of_rows(problem, scores)
  fit$held_out[rows, ] <- fit$fitted[rows, ] <- scores[rows, ]
  fit
}

done_words <- function(path) {
  if (!is.null(path$lambda)) return(counted(nrow(path), "lambda"))
  counted(nrow(path) - 1L, if ("found" %in% path$action) "size" else "step")
}

# Coefficients of the user's columns and of the covariates from coefficients of working columns.
# `of_x`, if known, has the coefficients on the covariates of the columns used, in the order of
# these columns.
user_coefficients <- function(problem, models, of_x = NULL) {
  used <- unique(unlist(lapply(models, `[[`, "features")))
  of_y <- covariate_solver(problem)(problem$rows$y)
  if (is.null(of_x)) of_x <- columns_on_covariates(problem, used)
  name_models(problem, models, function(model) {
    beta <- model$beta / problem$columns$scale[model$features]
    if (!is.null(model$u)) {
      return(list(beta = beta, covariates = covariates_of(problem, model$u, model$features, beta)))
    }
    of_terms <- of_x[, match(model$features, used), drop = FALSE]
    list(beta = beta, covariates = of_y - of_terms %*% beta)
  })
}

# The coefficients of columns of x on the covariates. On an intercept alone they are the means of
# the columns.
columns_on_covariates <- function(problem, columns) {
  if (problem$coding$intercept && ncol(problem$z) == 1L) {
    return(matrix(problem$columns$centre[columns], 1L))
  }
  covariate_solver(problem)(problem$x, columns)
}

# Models in the form that a fit stores. `to_user` brings the coefficients of one model to the user's
# scale.
name_models <- function(problem, models, to_user = identity) {
  used <- logical(ncol(problem))
  for (model in models) used[model$features] <- TRUE
  place <- cumsum(used)
  names <- problem$columns$name[which(used)]
  covariates <- colnames(problem$z)
  responses <- colnames(problem$rows$y)
  lapply(models, function(model) {
    if (is.null(model)) return(NULL)
    scaled <- to_user(model)
    dimnames(scaled$covariates) <- list(covariates, responses)
    dimnames(scaled$beta) <- list(names[place[model$features]], responses)
    list(features = model$features, beta = scaled$beta, covariates = scaled$covariates,
         step = model$row - 1L)
  })
}

#' @rdname sparse_fit
#' @export
best_size.sparse_fit <- function(object, rule = "min", # nolint: object_name_linter.
                                 by = NULL, ...) {
  check_sealed(object)
  check_dots(..., known = "by")
  check_choice(rule, "rule", c("min", "1se"))
  sizes <- size_table(object)
  if (is.null(by)) by <- if (is.null(sizes$cv)) "criterion" else "cv"
  check_choice(by, "by", c("cv", "criterion"))
  if (by == "cv" && is.null(sizes$cv)) {
    stop_argument(paste("`by = \"cv\"` needs a fit whose search was repeated in folds:",
                        "fit it with `size = \"cv\"`"))
  }
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
print_result.sparse_fit <- function(x, n = 6L, ...) { # nolint: object_name_linter.
  say(x$method, ": ", fit_title(x))
  print_choice(x)
  print_terms(x)
  print_unscored_folds(x)
  print_copies(x)
  if (!is.null(x$path$price)) say(price_words(x))
  if (x$size > 0L) print_classes(x$problem, held_out_classes(x))
  print_responses(x$problem, kept_values(x, "held_out"), printed_square(x))
  print_spread(x)
  print_data(x$problem)
  if (is_cox(x$problem)) print_cox(x)
  say(lambda_words(x))
  searched <- search_words(x)
  if (!is.null(searched)) say(searched)
  if (x$status != "complete") say(status_words(x))
  if (n > 0L) print_path(x, n)
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
    sprintf("chosen from %s by the cross-validated %s", values_words(tried),
            fit$cv_criterion$words)
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
  omp = "orthogonal matching pursuit",
  foba = "forward-backward search",
  rfe = "recursive elimination of features",
  scdp = "sparse pursuit",
  lowrank_lssvm = "forward search (low-rank updates)",
  random_selection = "features in random order",
  kernel_rls = "kernel ridge regression",
  rls = "ridge regression",
  lssvm = "LS-SVM"
)

fit_title <- function(fit) {
  search <- fit$control$search
  title <- if (is.null(search)) method_title(fit) else
    paste(sub("_", "-", search), "search")
  if (!is.null(search) && !is_squared(fit)) {
    return(sprintf("%s for %s a ridge penalty", title, loss_of(fit)$title[2L]))
  }
  if (!is.null(fit$path$price) && !is.null(search)) {
    return(paste(title, "by the gain in", fit$criterion$label, "per price"))
  }
  paste(title, "by the", fit$criterion$label)
}

# The chosen size, its error, and how good an estimate this error is.
print_choice <- function(fit) {
  row <- chosen_row(fit)
  if (!is.null(row$cv)) return(print_cv(fit, row))
  say(size_of_words(fit), ": ", held_out_words(fit, row),
      if (is_training(fit)) paste0(", ", fit$criterion$label, " ", shown(row$criterion)))
  remark(optimistic_words(chosen_by_words(fit)))
  remark_smaller(fit)
}

# A remark where another size has a held-out error that is smaller by more than a tenth.
remark_smaller <- function(fit) {
  column <- if (is_training(fit)) "squared" else "criterion"
  table <- size_table(fit)
  loss <- if (column == "squared") table$squared else criterion_loss(fit$criterion, table$criterion)
  best <- which.min(loss)
  own <- loss[match(fit$size, table$size)]
  if (!length(best) || !isTRUE(own - loss[best] > 0.1 * abs(own))) return(invisible())
  words <- if (column == "squared") criteria$squared$words else fit$criterion$words
  remark(sprintf("another size has %s %s: %s", held_out_label(words, fit$folds$label),
                 shown(table[[column]][best]), counted(table$size[best], size_word(fit$problem))))
}

# The size with the held-out error of the whole procedure, the criterion that chose the columns of
# the same model, and the error of the procedure that chose this size.
print_cv <- function(fit, row) {
  measure <- reported_measure(fit)
  say(sprintf("%s chosen, cross-validated %s %s%s", size_of_words(fit), measure$words,
              shown(row[[measure$column]]), se_words(row[[paste0(measure$column, "_se")]])))
  why <- rule_words(fit, measure)
  if (!is.null(why)) remark(why)
  remark(procedure_words(fit))
  estimate <- fit[[sub("cv", "estimate", measure$column)]]
  if (!is.null(estimate) && !is.numeric(fit$size_by)) {
    remark(sprintf("cross-fitted %s %s%s, with the size for each fold chosen by the others",
                   measure$words, shown(estimate[["mean"]]), se_words(estimate[["se"]])))
  }
  if (fit$size == 0L) return(invisible())
  words <- if (measure$name == "error" && !is_by_probability(fit)) {
    paste(measure$words, shown(row$error))
  } else {
    paste(if (is_training(fit)) criteria$squared$words else fit$criterion$words,
          shown(row[[criterion_column(fit)]]))
  }
  own <- held_out_label(words, fit$folds$label, measure$pairs && fit$folds$loo)
  remark(sprintf("%s: optimistic, as %s", own, chosen_by_words(fit)))
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

# The columns that equal a chosen one and were not added.
print_copies <- function(fit) {
  copies <- fit$copies[fit$copies$of %in% model_of(fit)$features, ]
  if (!NROW(copies)) return(invisible())
  name <- fit$problem$columns$name
  say(sprintf("%s equal to a chosen one and left out: %s", counted(nrow(copies), "column"),
              some_of(sprintf("%s (%s)", name[copies$feature], name[copies$of]), quote = "")))
}

# the reason for this size, with the size of the smallest error
rule_words <- function(fit, measure) {
  smallest <- best_model_words(fit, measure)
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

# the best model of all lambdas, with its error if the path has it
best_model_words <- function(fit, measure) {
  features <- counted(fit$best, size_word(fit$problem))
  tried <- fit$lambda_table
  lambda <- tried$lambda[which.min(criterion_loss(fit$cv_criterion, tried$cv))]
  if (lambda != fit$lambda) {
    return(sprintf("%s at lambda %s", features, shown_parameter(lambda)))
  }
  sizes <- size_table(fit)
  sprintf("%s with %s", shown(sizes[[measure$column]][match(fit$best, sizes$size)]), features)
}

size_of_words <- function(fit) {
  if (fit$size == 0L) return(paste("no", size_word(fit$problem)))
  sized_words(fit$problem, fit$size, length(model_of(fit)$features))
}

procedure_words <- function(fit) {
  what <- c("scaling", if (length(fit$lambda_table$lambda) > 1L) "lambda", "search",
            if (!is.null(fit$path$refit_lambda)) "refit")
  what <- paste(paste(what[-length(what)], collapse = ", "), what[length(what)], sep = " and ")
  sprintf("%s were repeated without each fold (%s)", what, fit$size_folds$label)
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
  sprintf("optimistic, as %s: use cross_validate() for an honest estimate", why)
}

status_words <- function(fit) {
  switch(fit$status,
    early_stop = sprintf("stopped early: no improvement for %d steps (set `k` to go on)",
                         fit$control$patience),
    interrupted = paste0("interrupted: ", unproven_words(fit, "this is the path up to there")),
    move_limit = "stopped: the search came to its limit of moves without settling",
    node_limit = sprintf("stopped at %s nodes a size: %s", format(fit$control$nodes),
                         unproven_words(fit))
  )
}

# the sizes of a stopped search by best_subset()
unproven_words <- function(fit, otherwise) {
  sizes <- fit$path$size[fit$path$action == "stopped"]
  if (!length(sizes)) return(otherwise)
  several <- length(sizes) > 1L
  sprintf("the %s not proven to be the best, fit$proof has bounds",
          if (several) sprintf("sets of size %s are", runs_of(sizes)) else
            sprintf("set of size %d is", sizes))
}

# 4, 6 to 9
runs_of <- function(numbers) {
  runs <- split(numbers, cumsum(c(1L, diff(numbers)) != 1L))
  paste(vapply(runs, function(run) paste(unique(range(run)), collapse = " to "), ""),
        collapse = ", ")
}

print_path <- function(fit, n) {
  shown <- utils::head(fit$path, n)
  moves <- !all(fit$path$action %in% c("start", "add", "found"))
  text <- shown[, c(if (moves) c("step", "action"), "size", "name")]
  text$name <- moved_names(fit, shown)
  columns <- intersect(path_columns(fit), names(shown))
  if (!is.null(shown$columns)) text$columns <- shown$columns
  text <- shown_table(cbind(text, shown[columns]), columns)
  print_rows(fitting_names(text), nrow(fit$path), "step")
}

# the columns of the path that are printed
path_columns <- function(fit) {
  c("price", "criterion", if (is_training(fit)) "squared" else "se", "error", "cv", "cv_se",
    "cv_error", "cv_concordance")
}

# the columns of a path of lambda that are printed
lambda_columns <- function(fit) {
  c("lambda", "size", if (is_training(fit)) "dev_ratio" else
    c("criterion", "se", "error", "concordance"))
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
details.sparse_fit <- function(x) { # nolint: object_name_linter.
  path <- size_table(x)
  text <- path[intersect(c("size", "name", "columns", path_columns(x)), names(path))]
  text$name <- moved_names(x, path)
  text <- fitting_names(shown_table(text, path_columns(x)))
  fit_details(x, text, "best model of every size")
}

# Size ---------------------------------------------------------------------------------------------

# The number of columns and lambda, chosen by the error of the whole procedure (scaling, lambda,
# search, refit) repeated in folds. The criterion that chose the columns decides neither.
#
# A `search` is a function (problem, control) that gives a path for every lambda of control$lambda.
# Without the rows of a fold it runs on the same x with weight 0 on them, so no fold copies x.

# The choice of size in every fitter of a path: `rule`, "cv", "min", "1se", "criterion" or a number,
# `folds`, the folds of the whole procedure, or NULL where it is not repeated, and `shared`, which
# with_inner_folds() gives to folds.
size_control <- function(problem, size, size_folds, folds, k = NULL, lambdas = 1L) {
  size <- check_size_rule(size, problem, k)
  repeated <- size != "criterion" || lambdas > 1L
  shared <- if (inherits(size_folds, "sparsels_folds")) size_folds$shared
  if (!is.null(shared)) size_folds$shared <- NULL
  list(rule = size, folds = if (repeated) procedure_folds(problem, size_folds, folds),
       shared = shared)
}

check_size_rule <- function(size, problem, k) {
  if (!is.numeric(size)) {
    rules <- c("cv", "min", "1se", "criterion")
    if (!(is.character(size) && length(size) == 1L && size %in% rules)) {
      refuse("size", paste("one of", some_of(rules, Inf, "\""), "or a number"), size)
    }
    return(size)
  }
  upper <- if (is.null(k)) sum(problem$columns$usable) else k
  check_count(size, "size", upper, if (is.null(k)) "the number of usable columns" else "`k`", 0L)
}

# Folds of the whole procedure. A number of folds is drawn stratified, with the groups of the user's
# folds kept together, from a separate stream. So the same call gives the same folds and R's
# generator is not changed. Rows of weight 0 are in no fold. They are assigned to the first, which
# changes nothing.
procedure_folds <- function(problem, size_folds, folds) {
  if (!is_number(size_folds)) return(in_context("`size_folds`", folds_of(problem, size_folds)))
  trained <- problem$rows$weight > 0
  whole <- whole_units(problem)
  if (is.null(whole)) whole <- kept_together(folds)
  groups <- whole[trained]
  upper <- if (is.null(groups)) sum(trained) else length(unique(groups))
  check_count(size_folds, "size_folds", lower = 2L)
  if (upper < 3L) {
    stop_input("%s %s too few to repeat the search in folds: use `size = \"criterion\"`",
               counted(upper, if (is.null(groups)) "row" else "group"),
               if (upper == 1L) "is" else "are")
  }
  # events are compared with later times of their fold
  pairs <- if (is_survival(problem)) min(sum(trained) %/% 2, sum(problem$rows$event[trained]))
  count <- min(size_folds, upper, if (!is.null(pairs)) max(2, pairs))
  strata <- if (count < sum(trained)) row_strata_of(problem)[trained]
  drawn <- with_stream(fixed_stream, folds_of(sum(trained), count, groups, strata))
  ids <- replace(rep(1L, nrow(problem)), trained, drawn$ids)
  events <- ids[trained & problem$rows$event]
  if (is_survival(problem) && all(events == events[1L])) {
    stop_input("the %s would be held out together, without any to train on: %s",
               counted(length(events), "event"), "use `size = \"criterion\"`")
  }
  new_folds(ids, if (drawn$loo) "leave-one-out" else unit_label(drawn$label, problem), whole)
}

# The fit of a path method ------------------------------------------------------------------------

# Searches, chooses the size by the rule in control$sizing, and makes the fit. `random` tells
# whether the search draws random numbers.
sized_fit <- function(method, problem, control, search, call, random = FALSE, BPPARAM = NULL) {
  check_bpparam(BPPARAM)
  if (is.null(control$sizing$folds)) {
    path <- complete_path(search, problem, control)
    warn_precision(path)
    return(new_sparse_fit(method, problem, path, control, call))
  }
  chosen <- choose_in_folds(problem, control, search, random, BPPARAM)
  control$lambda <- chosen$lambdas
  chosen$table <- list2DF(c(list(lambda = control$lambda), chosen$table))
  chosen$folds <- control$sizing$folds
  control[c("k", "patience")] <- list(chosen$k, 0L)
  control$lambda <- control$lambda[chosen$lambda]
  path <- complete_path(search, problem, control)
  warn_precision(path, chosen$size)
  warn_edges(problem, control, chosen)
  new_sparse_fit(method, problem, path, control, call, chosen)
}

# Warns if the choice is at the end of the values tried, where a better value may lie beyond, or if
# Ctrl-C stopped the search.
warn_edges <- function(problem, control, chosen) {
  word <- "sparsels_warning_edge"
  if (chosen$interrupted && nrow(chosen$parts) < chosen$wanted) {
    warn_interrupted(nrow(chosen$parts), chosen$wanted, "size fold")
  } else if (chosen$interrupted) {
    warn_sparsels(sprintf("interrupted: the size is chosen from 0 to %d, larger ones are untried",
                          chosen$k), "sparsels_interrupted")
  }
  more <- chosen$k < control$largest(problem) && !chosen$settled
  if (!is.numeric(control$sizing$rule) && chosen$size == chosen$k && more) {
    warn_sparsels(sprintf("the chosen size is the largest tried, %d: %s",
                          chosen$k, "a larger `k` may be better"), word)
  }
  tried <- chosen$table$lambda
  if (control$lambda_given && length(tried) > 2L && control$lambda %in% range(tried)) {
    warn_sparsels(sprintf("lambda = %s is the %s of those given: others may be better",
                          format(control$lambda, digits = 4),
                          if (control$lambda == max(tried)) "largest" else "smallest"), word)
  }
}

# Warns if held-out errors have few correct digits. Held-out errors are divided by pivots (1 minus a
# leverage). Near 0 the pivots lose digits, where a row is fitted almost exactly when it is in the
# training set. Steps after the model of a size that folds chose do not count.
warn_precision <- function(path, size = NULL) {
  pivot <- path$pivot
  model <- if (!is.null(size)) path$models[[min(size + 1L, length(path$models))]]
  if (!is.null(model)) pivot <- pivot[seq_len(model$row)]
  poor <- which(pivot < 1e-6)
  if (!length(poor)) return(invisible())
  digits <- floor(-log10(.Machine$double.eps / max(min(pivot), .Machine$double.eps)))
  warn_sparsels(sprintf(
    "held-out errors from step %d on have about %d correct digits, as %s: use %s",
    path$path$step[poor[1L]], digits, "some rows are fitted almost exactly",
    "a larger `lambda`, fewer columns or less unequal `weights`"
  ), "sparsels_warning_precision")
}

# The path on all rows. After Ctrl-C before the first model there is no result.
complete_path <- function(search, problem, control) {
  path <- search(problem, control)[[1L]]
  if (path$size < 0L) raise_interrupt()
  path
}

# Repeats the search without each fold in turn, for larger and larger sizes as long as that may pay,
# unless the user gave the largest size, and for smaller and smaller default lambdas as long as the
# errors are mostly shrinkage.
choose_in_folds <- function(problem, control, search, random, BPPARAM = NULL) {
  parts <- held_out_rows(control$sizing$folds, problem$rows$weight > 0)
  if (random || !can_share_paths(control)) control$sizing$shared <- NULL
  upper <- control$k
  if (control$grows) control$k <- min(upper, first_k + length(control$start))
  repeat_at <- function(places) {
    repeat_search(problem, control, search, parts, places, random, BPPARAM)
  }
  chosen <- NULL
  repeat {
    begun <- proc.time()[["elapsed"]]
    held <- suppressMessages(repeat_at(seq_along(control$lambda)), said_once(chosen))
    # a partition with only one completed fold contains no information about the choice
    repetition <- held$parts$repetition
    several <- stats::ave(repetition, repetition, FUN = length) > 1L
    # after Ctrl-C the results for fewer columns are kept
    stopped <- sum(several) < nrow(parts)
    if (stopped && (!is.null(chosen) || sum(several) < 2L)) break
    first <- is.null(chosen) && !random
    if (first && is_related(problem, control$sizing$folds)) control$clear <- TRUE
    chosen <- choice_of(problem, control, held$each[several], held$parts[several, ])
    while (!stopped && !random && is_mostly_shrinkage(problem, control, chosen, held$each)) {
      place <- length(control$lambda) + 1L
      smaller <- suppressMessages(repeat_at(place), said_once(chosen))
      stopped <- nrow(smaller$parts) < nrow(parts)
      if (stopped) break
      held$each <- Map(join_lambdas, held$each, smaller$each)
      control$lambda <- control$lambda_values(problem)[seq_len(place)]
      chosen <- choice_of(problem, control, held$each, held$parts)
    }
    larger <- min(2L * control$k, upper)
    may_grow <- control$grows && control$k < upper
    enough <- !may_grow || !may_pay(chosen$least, larger)
    ten <- NULL
    ten_suffice <- is.null(control$criterion$over) && are_many(control$sizing)
    if (enough && !stopped && chosen$size > 0L && ten_suffice) {
      ten <- choice_in_ten(problem, control, search, random, BPPARAM)
      stopped <- is.null(ten)
      if (!stopped) control$clear <- ten$size > 0L
      chosen <- choice_of(problem, control, held$each, held$parts)
    }
    chosen["ten"] <- list(ten)
    chosen[c("k", "interrupted", "wanted")] <- list(control$k, stopped, nrow(parts))
    chosen[c("lambdas", "settled")] <- list(control$lambda, may_grow && enough)
    if (enough || stopped) return(chosen)
    parts$found <- lapply(held$each, `[[`, "found")
    say_growth(control$k, larger, proc.time()[["elapsed"]] - begun)
    control$k <- larger
  }
  if (is.null(chosen)) {
    stop_lost(control$shards$lost)
    raise_interrupt()
  }
  chosen$interrupted <- TRUE
  chosen
}

# search_without() each part, at the lambdas of some places.
repeat_search <- function(problem, control, search, parts, places, random, BPPARAM) {
  held_out(parts, function(part) search_without(problem, part, control, search, places),
           fold_words(parts), "Repeating the search in folds", random, control$progress, BPPARAM,
           apart = is.null(control$shards))
}

# Whether a smaller default lambda is to be tried: at the smallest one so far the error of the
# search is more than four times the error of the refitted model, or at most half of the error at
# the lambda before.
is_mostly_shrinkage <- function(problem, control, chosen, each) {
  tried <- length(control$lambda)
  if (!isTRUE(tried < control$most_lambdas)) return(FALSE)
  ratio <- vapply(each, function(fold) fold$shrinkage[chosen$table$size[tried] + 1L, tried], 0)
  loss <- as_error(chosen_by(problem, control$criterion), chosen$table$cv)
  isTRUE(stats::median(ratio, na.rm = TRUE) > 4) || isTRUE(loss[tried] < loss[tried - 1L] / 2)
}

# the results of one fold with the results for smaller lambdas
join_lambdas <- function(fold, smaller) {
  joined <- list(
    models = c(fold$models, smaller$models), found = c(fold$found, smaller$found),
    sums = Map(function(one, other) {
      array(c(one, other), dim(one) + c(0L, 0L, dim(other)[3L]))
    }, fold$sums, smaller$sums),
    gains = cbind(fold$gains, smaller$gains), variance = fold$variance,
    shrinkage = cbind(fold$shrinkage, smaller$shrinkage)
  )
  joined$state <- Map(c, fold$state, smaller$state)
  joined
}

improve_within <- 10L

# Whether a size up to `k` may be clearly better than all so far: whether the error falls by more
# than a shorter list may lose, if every ten sizes bring what the last ten have brought. On convex
# curves they bring less. `loss` has the smallest error of each size so far.
may_pay <- function(loss, k) {
  largest <- length(loss) - 1L
  gain <- loss[1L] - min(loss)
  last_gain <- min(loss[seq_len(max(1L, length(loss) - improve_within))]) - min(loss)
  last_gain * (k - largest) / improve_within > most_lost * gain
}

# Says how long larger sizes will take, if that is long. `seconds` is the time of the sizes so far.
say_growth <- function(k, larger, seconds) {
  if (seconds < 15) return(invisible())
  message_sparsels(sprintf(
    "the cross-validated error still falls at size %d: sizes up to %d will take %s or more, %s", k,
    larger, format_seconds(2 * seconds), sprintf("`k = %d` ends there", k)
  ), "sparsels_message_time")
}

# The class of the messages that the folds of the first search have given.
said_once <- function(chosen) if (is.null(chosen)) "" else "sparsels_message_covariates"

# Whether there are so many folds that the searches without them are almost the same search. Their
# errors are then too much alike to say whether any column is better than none.
are_many <- function(sizing) {
  identical(sizing$rule, "cv") && length(unique(sizing$folds$ids[, 1L])) > 20L
}

# The choice in ten folds, NULL after Ctrl-C.
choice_in_ten <- function(problem, control, search, random, BPPARAM) {
  control$sizing$folds <- procedure_folds(problem, 10L, control$sizing$folds)
  parts <- held_out_rows(control$sizing$folds, problem$rows$weight > 0)
  done <- suppressMessages(
    repeat_search(problem, control, search, parts, seq_along(control$lambda), random, BPPARAM),
    "sparsels_message_covariates"
  )
  if (nrow(done$parts) < nrow(parts)) return(NULL)
  c(choice_of(problem, control, done$each, parts), list(folds = control$sizing$folds))
}

fold_words <- function(parts) {
  if (max(parts$repetition) == 1L) return(paste("size fold", parts$fold))
  sprintf("size fold %d of partition %d", parts$fold, parts$repetition)
}

# One fold: the models of each lambda (at `places` of its values) and size on the user's scale, for
# each criterion the sum over the rows held out and its weight (2 x sizes x lambdas), the gains of
# all models and the shrinkage of their errors, and the columns that a forward search has `found`
# for each lambda, from which a search for larger sizes continues, and the result of state_by().
search_without <- function(problem, part, control, search, places) {
  rows <- part$rows
  control$found <- part$found[places]
  paths <- paths_by_products(problem, part, control, search, places)
  if (is.null(paths)) paths <- paths_trained_without(problem, rows, control, search, places)
  models <- lapply(paths$models, fill_models, control$k)
  scored <- scored_rows(problem, rows)
  scores <- lapply(models, model_scores, problem, rows, state_without(problem, paths$state))
  sums <- lapply(path_criteria(problem, control$criterion), function(criterion) {
    vapply(scores, score_sums, matrix(0, 2L, control$k + 1L), problem = scored,
           criterion = criterion)
  })
  by_pairs <- is_survival(problem) && chosen_by(problem, control$criterion)$name == "concordance"
  unit <- gain_units(problem, control$sizing$folds)[rows]
  gains <- if (!by_pairs) {
    loss <- loss_name(control)
    lapply(scores, score_gains, scored, unit, huber_limit(problem), loss,
           are_few_and_large(problem, control$sizing$folds, loss))
  }
  shrinkage <- vapply(paths$shrinkage, function(shrinkage) {
    c(shrinkage, rep(NA_real_, control$k + 1L))[seq_len(control$k + 1L)]
  }, numeric(control$k + 1L))
  list(models = models, sums = sums, gains = do.call(cbind, as.list(gains)),
       variance = if (by_pairs) pair_variance(scored), found = paths$found, shrinkage = shrinkage,
       state = paths$state)
}

# The paths without a fold of the search itself, NULL where its products do not determine them.
# Their models are of the columns of all rows.
paths_by_products <- function(problem, part, control, search, places) {
  if (!isTRUE(control$products$shared)) return(NULL)
  train <- part_by_products(problem, control$products, part$fold)
  if (is.null(train)) return(NULL)
  control$products <- train$products
  paths_of_training(train$problem, control, search, places, of = train$of)
}

# What search_without() keeps of the paths without some rows, with an element for each lambda. The
# fits without two outer folds share these paths: they are then trained on the other rows alone, in
# the order of the rows, so that it makes no difference which of the folds is the outer one. A
# matrix in a file has all rows in any case.
paths_trained_without <- function(problem, rows, control, search, places) {
  shared <- control$sizing$shared
  kept <- setdiff(trained_places(problem), rows)
  if (is.null(shared) || is_file_matrix(problem$x)) {
    train <- function() reweighted(problem, replace(case_weights(problem), rows, 0))
  } else {
    control$folds <- cut_folds(control$folds, kept)
    train <- function() reweighted(part_of(problem, kept), case_weights(problem)[kept])
  }
  if (is.null(shared)) return(paths_of_training(train(), control, search, places))
  trained_once(shared, kept, c(shared_settings(control), list(places = places)), function() {
    paths_of_training(train(), control, search, places)
  })
}

# The same of a training set, as models of the columns `of` a problem.
paths_of_training <- function(train, control, search, places, of = train) {
  check_folds_left(control$folds, trained_places(train))
  fold_basis_check(train, control$folds, said = TRUE)
  control$lambda <- control$lambda_values(train)[places]
  control$patience <- 0L
  control$k <- min(control$k, control$largest(train))
  control$progress <- FALSE
  if (!is.null(train$x) && !is.null(control$products)) {
    control$products <- products_of(train, control)
  }
  paths <- if (control$k > 0L) search(train, control) else null_paths(train, control)
  if (length(paths) < length(control$lambda) || paths[[length(paths)]]$status == "interrupted") {
    raise_interrupt()
  }
  models <- lapply(paths, function(path) user_coefficients(of, path$models))
  found <- if (identical(control$search, "forward")) {
    lapply(paths, function(path) path$models[[length(path$models)]]$features)
  }
  list(models = models, found = found, shrinkage = lapply(paths, `[[`, "shrinkage"),
       state = if (!is.null(train$x) || has_pairs(of)) state_by(of, models))
}

# Paths that outer folds share ---------------------------------------------------------------------

# Where the inner folds of an outer fold are the other outer folds, the paths without two outer
# folds are needed twice: each of the two is an inner fold of the fit without the other.

# Whether paths depend on the rows that they are trained on, and on nothing else of the data. A
# function of the user has the predictions of all rows, and the processes of a cluster have columns
# of all rows.
can_share_paths <- function(control) is.null(control$shards) && control$criterion$name != "user"

# The settings in which the fits without different outer folds may differ.
shared_settings <- function(control) {
  own <- c(setdiff(internal_control, c("criterion", "folds", "copies")), "lambda", "patience")
  control[setdiff(names(control), own)]
}

# The value of train(), or its value of an earlier call with the same rows and settings. A value is
# kept until it is used again.
trained_once <- function(shared, rows, settings, train) {
  key <- list(rows = shared$rows[rows], settings = settings)
  kept <- shared$store$kept
  there <- which(vapply(kept, function(one) identical(one$key, key), NA))
  if (!length(there)) {
    value <- train()
    shared$store$kept <- c(shared$store$kept, list(list(key = key, value = value)))
    return(value)
  }
  shared$store$kept <- kept[-there]
  kept[[there]]$value
}

# What the columns that some models (a list for each lambda) use take from the rows of a problem:
# `values`, the means that replace missing values of these `features`, their `curves` and `pairs`.
state_by <- function(problem, models) {
  if (is.null(column_state(problem))) return(NULL)
  used <- needed_columns(problem, used_features(unlist(models, recursive = FALSE)))
  list(features = used, values = problem$columns$mean[used],
       curves = problem$curves[names(problem$curves) %in% problem$columns$curve[used]],
       pairs = if (has_pairs(problem)) pairs_for(problem, used))
}

# the paths where a training part has no usable column
null_paths <- function(problem, control) {
  none <- list(features = integer(), beta = matrix(0, 0L, ncol(problem$rows$y)), row = 1L)
  rep(list(list(models = list(none), status = "complete")), length(control$lambda))
}

# The held-out criteria of every size: the one that chooses and, for classes, the error rate, for
# rankings the concordance.
path_criteria <- function(problem, criterion) {
  rate <- if (problem$coding$task != "regression") list(name = "error", higher = FALSE)
  cv <- chosen_by(problem, criterion)
  orders <- measure_of(problem) == "concordance"
  concordance <- if (orders && cv$name != "concordance") list(name = "concordance", higher = TRUE)
  Filter(Negate(is.null), list(cv = cv, cv_error = rate, cv_concordance = concordance))
}

# The held-out criterion that chooses a size: for censored times the concordance, unless the user
# gave a function, and the squared error if the search used the training rows.
chosen_by <- function(problem, criterion) {
  name <- if (is_survival(problem) && criterion$name != "user") "concordance" else
    if (criterion$name == "r_squared") "squared"
  if (is.null(name)) criterion else c(list(name = name), criteria[[name]][c("words", "higher")])
}

# The choice --------------------------------------------------------------------------------------

# The choice by the folds: lambda (its place) and size, the size with the smallest error (`best`),
# the errors of every size, at the chosen lambda and the smallest of all (`least`), and the errors
# of the procedure with its choice.
choice_of <- function(problem, control, done, parts) {
  criteria <- path_criteria(problem, control$criterion)
  errors <- lapply(stats::setNames(nm = names(criteria)), function(name) {
    fold_errors(lapply(done, function(fold) fold$sums[[name]]), parts$repetition,
                criteria[[name]]$higher, slack_of(problem), gains = lapply(done, `[[`, "gains"),
                variance = unlist(lapply(done, `[[`, "variance")), clear = control$clear,
                over = criteria[[name]]$over)
  })
  check_scored(errors$cv, problem)
  rule <- control$sizing$rule
  chosen <- choose_model(errors$cv, rule)
  best <- if (is.numeric(rule)) chosen else choose_model(errors$cv, "min")
  choices <- cross_fitted_choices(errors$cv, rule)
  list(
    lambda = chosen$lambda, size = chosen$size, best = best$size, parts = parts,
    least = apply(criterion_loss(errors$cv, error_curve(errors$cv)$value), 1L, min),
    path = lapply(errors, function(one) {
      list2DF(lapply(error_curve(one), function(table) table[, chosen$lambda]))
    }),
    table = best_of_lambda(errors$cv), estimate = cross_fitted(errors, choices),
    of_sizes = lapply(done, function(fold) fold$models[[chosen$lambda]]),
    models = lapply(done, function(fold) {
      models <- fold$models[[chosen$lambda]]
      models[[min(chosen$size + 1L, length(models))]]
    }),
    cross_fitted = if (!is.null(choices)) {
      Map(function(fold, size, lambda) fold$models[[lambda]][[size + 1]], done,
          choices[, "size"], choices[, "lambda"])
    },
    state = lapply(done, `[[`, "state")
  )
}

# An area under the ROC curve requires rows of both classes in a fold, and a concordance rows that
# can be compared. The choice without one fold uses the others, so two such folds are required.
check_scored <- function(errors, problem) {
  scored <- rowsum(as.integer(errors$weight > 0), errors$repetition)
  if (all(scored > 1L)) return(invisible())
  stop_input("`size_folds` must have %s in two folds or more, not %s: %s",
             if (is_survival(problem)) "times to compare" else if (!is.null(errors$over))
               "groups in which the null model has an error" else "rows of both classes",
             if (min(scored)) "in one" else "in none", "use fewer folds, or another `size`")
}

# Predictions of all rows at the chosen size by the models of the folds without them, averaged over
# the partitions. The final model predicts rows of weight 0. Rows of folds that Ctrl-C left out have
# no predictions.
held_out_predictions <- function(problem, chosen, final) {
  scores <- scores_of_parts(problem, chosen$parts$rows, chosen$models, chosen$state)
  out <- mean_over_parts(chosen$parts, scores, nrow(problem))
  idle <- problem$rows$weight == 0
  out[idle, ] <- final[idle, ]
  out
}

# the price of a fit's model, in words
price_words <- function(fit) {
  budget <- fit$control$budget
  paste0("price of the model: ", show_value(chosen_row(fit)$price),
         if (isTRUE(is.finite(budget))) paste(", the budget is", show_value(budget)))
}

# The models of some sets in one list: of(columns, sizes) returns the models of the first columns,
# for each of `sizes`. It is called once if each set is an initial part of the largest, otherwise
# for each set.
models_of_sets <- function(sets, of, sizes = lengths(sets)) {
  largest <- sets[[which.max(lengths(sets))]]
  leads <- vapply(sets, function(set) identical(set, largest[seq_along(set)]), NA)
  if (all(leads)) return(of(largest, sizes))
  unlist(Map(of, sets, sizes), recursive = FALSE)
}
