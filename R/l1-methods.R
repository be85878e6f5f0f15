# Methods for the fits of l1_path() and l1_size(), beside those of every sparse_fit.

#' @rdname sparse_fit
#' @export
best_lambda <- function(object, rule = "min") {
  check_given(object, "object")
  if (!inherits(object, "l1_path")) refuse("object", "a fit of l1_path()", object)
  check_object(object)
  check_choice(rule, "rule", c("min", "1se"))
  if (is_training(object)) {
    stop_input("the fit has no held-out errors to choose a lambda by: give l1_path() `folds`")
  }
  row <- if (rule == "min") best_row(object$criterion, object$path) else one_se_row(object)
  object$path$lambda[row]
}

# the largest lambda within one standard error of the best
one_se_row <- function(fit) {
  best <- fit$path[best_row(fit$criterion, fit$path), ]
  if (is.na(best$se)) stop_no_se(fit)
  loss <- criterion_loss(fit$criterion, fit$path$criterion)
  which(loss <= criterion_loss(fit$criterion, best$criterion) + best$se)[1L]
}

#' @exportS3Method
model_of_row.l1_path <- function(fit, row) { # nolint: object_name_linter.
  model <- c(solution_model(fit$problem, fit$solutions[[row]]), row = row)
  name_models(fit$problem, list(model))[[1L]]
}

# Printing -----------------------------------------------------------------------------------------

#' @export
print.l1_path <- function(x, n = 6L, ...) {
  check_object(x)
  n <- check_shown(n)
  cat(sprintf("%s: %s\n", x$method, penalised_words(x$loss)))
  print_data(x$problem)
  cat(lambdas_words(x), choice_words(x), sep = "\n")
  if (x$status == "interrupted") cat(interrupted_words(x), "\n", sep = "")
  if (n > 0L) print_lambdas(x, n)
  invisible(x)
}

penalised_words <- function(loss) {
  switch(loss,
    squared = "least squares with an l1 penalty (lasso)",
    logistic = "logistic regression with an l1 penalty",
    hinge = "support vector machine with an l1 penalty (hinge loss)"
  )
}

lambdas_words <- function(fit) {
  show <- function(value) format(value, digits = 4)
  lambda <- fit$path$lambda
  several <- length(lambda) > 1L
  values <- show(lambda[1L])
  if (several) {
    values <- sprintf("%d values, %s to %s", length(lambda), values, show(min(lambda)))
  }
  gap <- max(fit$path$gap) / fit$null_objective
  # below that it is rounding
  gap <- if (gap < 1e-12) "below 1e-12" else format(gap, digits = 2)
  c(sprintf("lambda: %s (lambda_max %s)", values, show(fit$lambda_max)),
    sprintf("%s: %s of the null objective",
            if (several) "largest duality gap" else "duality gap", gap))
}

# the chosen model, and the rule by which it was chosen
choice_words <- function(fit) {
  row <- chosen_row(fit)
  lambda <- format(row$lambda, digits = 4)
  model <- sprintf("size %d, %s %s%s", row$size, fit$criterion$label,
                   format(row$criterion, digits = 4),
                   if (is_training(fit)) "" else error_words(fit, row))
  several <- nrow(fit$path) > 1L
  if (inherits(fit, "l1_size")) {
    found <- sprintf("found with %s: lambda %s, %s", counted(nrow(fit$searched), "solution"),
                     lambda, model)
    return(c(sprintf("target: size %d, give or take %d", fit$target, fit$range), found))
  }
  if (is_training(fit)) {
    hint <- "  (nothing is held out: give `folds` to choose a lambda by held-out errors)"
    return(c(if (several) sprintf("smallest lambda: %s, %s", lambda, model) else model,
             if (is.null(fit$folds)) hint))
  }
  if (!several) return(model)
  end <- at_the_end(fit$lambda, fit$path$lambda, "the path")
  rule <- switch(fit$size_by, min = "best lambda", cv = "lambda not clearly worse than the best",
                 "1se" = "largest lambda within one standard error")
  c(sprintf("%s: %s%s, %s", rule, lambda, end, model),
    if (fit$size_by == "min") one_se_words(fit, row), optimistic_words)
}

one_se_words <- function(fit, best) {
  if (is.na(best$se)) return(NULL)
  row <- fit$path[one_se_row(fit), ]
  sprintf("largest lambda within one standard error: %s, size %d", format(row$lambda, digits = 4),
          row$size)
}

interrupted_words <- function(fit) {
  words <- "interrupted: this is the path up to there"
  if (is.null(fit$folds)) words else paste0(words, ", without held-out errors")
}

# Rows spread over the path, and those that are marked.
print_lambdas <- function(fit, n) {
  count <- nrow(fit$path)
  marks <- path_marks(fit)
  rows <- sort(union(spread_rows(count, n), which(marks != "")))
  text <- fit$path[rows, intersect(lambda_columns(fit), names(fit$path))]
  text[-2L] <- lapply(text[-2L], format, digits = 4)
  if (any(marks != "")) text <- stats::setNames(cbind(text, marks[rows]), c(names(text), ""))
  print_rows(text, count, "lambda")
}

# at most `n` of `count` rows, the first and the last among them
spread_rows <- function(count, n) round(seq(1, count, length.out = min(n, count)))

# a word for the chosen row, the best one, and that of the one-standard-error rule
path_marks <- function(fit) {
  marks <- character(nrow(fit$path))
  if (length(marks) == 1L) return(marks)
  chosen <- match(fit$lambda, fit$path$lambda)
  if (inherits(fit, "l1_size")) marks[chosen] <- "found"
  if (is_training(fit)) return(marks)
  marks[chosen] <- "chosen"
  if (!is.na(fit$path$se[chosen])) marks[one_se_row(fit)] <- "1se"
  replace(marks, best_row(fit$criterion, fit$path), "best")
}
