# Methods for the fits of l1_path() and l1_size(), in addition to the methods of every sparse_fit.

#' @rdname sparse_fit
#' @export
best_lambda <- function(object, rule = "min") {
  check_given(object, "object")
  if (!inherits(object, "l1_path")) refuse("object", "a fit of l1_path()", object)
  check_sealed(object)
  check_choice(rule, "rule", c("min", "1se"))
  if (is_training(object)) {
    stop_input("the fit has no held-out errors to choose a lambda by: give l1_path() `folds`")
  }
  if (rule == "1se" && is.na(object$path$se[lambda_row_by(object, "min")])) stop_no_se(object)
  object$path$lambda[lambda_row_by(object, rule)]
}

# the row of the path that a rule chooses by held-out errors
lambda_row_by <- function(fit, rule) {
  choose_row(criterion_loss(fit$criterion, fit$path$criterion), rule, fit$path$se)
}

#' @exportS3Method
model_of_row.l1_path <- function(fit, row) { # nolint: object_name_linter.
  model <- c(solution_model(fit$problem, fit$solutions[[row]]), row = row)
  name_models(fit$problem, list(model))[[1L]]
}

# Printing -----------------------------------------------------------------------------------------

#' @export
print.l1_path <- function(x, n = 6L, ...) {
  check_sealed(x)
  n <- check_shown(n)
  against <- if (x$problem$task == "multiclass") ", each class against the rest" else ""
  say(x$method, ": ", penalised_words(x$loss, x$alpha), against)
  print_lambda_choice(x)
  print_unscored_folds(x)
  print_responses(x$problem, x$held_out)
  if (x$size > 0L && !is_training(x)) print_classes(x$problem, x$held_out)
  print_data(x$problem)
  print_lambda_range(x)
  if (x$status == "interrupted") cat(interrupted_words(x), "\n", sep = "")
  if (n > 0L) print_lambdas(x, n)
  invisible(x)
}

penalised_words <- function(loss, alpha) {
  net <- sprintf("an elastic net penalty (alpha %s)", shown_parameter(alpha))
  switch(loss,
    squared = paste("least squares with", if (alpha < 1) net else "an l1 penalty (lasso)"),
    logistic = paste("logistic regression with", if (alpha < 1) net else "an l1 penalty"),
    hinge = "support vector machine with an l1 penalty (hinge loss)"
  )
}

print_lambda_range <- function(fit) {
  lambda <- fit$path$lambda
  say("lambda: ", values_words(lambda), "; from ", shown_parameter(fit$lambda_max),
      " on (lambda_max) all coefficients are 0")
  if (fit$unsolved > 0L) {
    say("the path ended before ", counted(fit$unsolved, "smaller lambda"),
        ", which would explain hardly more")
  }
  gap <- max(fit$path$gap) / fit$null_objective
  # a smaller gap is rounding error
  gap <- if (gap < 1e-12) "below 1e-12" else format(gap, digits = 2)
  say(if (length(lambda) > 1L) "largest duality gap: " else "duality gap: ", gap,
      " of the objective of the null model")
}

# the chosen model, and the rule by which it was chosen
print_lambda_choice <- function(fit) {
  row <- chosen_row(fit)
  several <- nrow(fit$path) > 1L
  error <- if (is_training(fit)) paste(fit$criterion$label, shown(row$criterion)) else
    held_out_words(fit, row)
  held_out <- several && !is_training(fit) && !inherits(fit, "l1_size")
  end <- if (held_out) at_the_end(fit$lambda, fit$path$lambda, "the path") else ""
  model <- sprintf("lambda %s%s: %s, %s", shown_parameter(row$lambda), end,
                   size_of_words(list(size = row$size)), error)
  if (inherits(fit, "l1_size")) {
    say(model)
    return(remark(sprintf("target: %s, give or take %d; found with %s",
                          counted(fit$target, "feature"), fit$range,
                          counted(nrow(fit$searched), "solution"))))
  }
  if (is_training(fit)) {
    say(if (several) "smallest ", model)
    if (is.null(fit$folds)) {
      remark("nothing is held out: give `folds` to choose a lambda by held-out errors")
    }
    return(invisible())
  }
  if (!several) return(say(model))
  rule <- switch(fit$size_by, min = "best ", cv = "not clearly worse than the best, ",
                 "1se" = "largest within one standard error of the best, ")
  say(rule, model)
  remark(optimistic_words("it chose lambda"))
  if (fit$size_by == "min" && !is.na(row$se)) {
    row <- fit$path[lambda_row_by(fit, "1se"), ]
    remark(sprintf("largest lambda within one standard error: %s, %s",
                   shown_parameter(row$lambda), size_of_words(list(size = row$size))))
  }
}

interrupted_words <- function(fit) {
  words <- "interrupted: this is the path up to there"
  if (is.null(fit$folds)) words else paste0(words, ", without held-out errors")
}

# Rows spread over the path, and the marked rows.
print_lambdas <- function(fit, n) {
  count <- nrow(fit$path)
  marks <- path_marks(fit)
  rows <- sort(union(spread_rows(count, n), which(marks != "")))
  columns <- intersect(lambda_columns(fit), names(fit$path))
  text <- shown_table(fit$path[rows, columns], setdiff(columns, c("lambda", "size")))
  text$lambda <- shown_parameter(text$lambda)
  if (any(marks != "")) text <- stats::setNames(cbind(text, marks[rows]), c(names(text), ""))
  print_rows(text, count, "lambda", column_meanings(fit),
             fit$problem)
}

# a word for the chosen row, the best row and the row chosen by the one-standard-error rule
path_marks <- function(fit) {
  marks <- character(nrow(fit$path))
  if (length(marks) == 1L) return(marks)
  chosen <- match(fit$lambda, fit$path$lambda)
  if (inherits(fit, "l1_size")) marks[chosen] <- "found"
  if (is_training(fit)) return(marks)
  marks[chosen] <- "chosen"
  if (!is.na(fit$path$se[chosen])) marks[lambda_row_by(fit, "1se")] <- "1se"
  replace(marks, lambda_row_by(fit, "min"), "best")
}
