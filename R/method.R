# A method, run once on some rows: what cross_validate() and compare_methods() share.

# A user's own method with `...` may take any name; the fitters of the package pass theirs to
# as_problem(), so all of theirs are known. `known`: the other arguments of the caller.
check_method_dots <- function(method, ..., known) {
  own <- setdiff(names(formals(method)), c("x", "y", "data", "..."))
  open <- "..." %in% names(formals(method)) && !identical(environment(method), topenv())
  allowed <- c(own, problem_arguments)
  check_dots(..., known = c(allowed, "data", known),
             allowed = if (open) names(list(...)) else allowed)
}

split_arguments <- function(arguments) {
  to_problem <- names(arguments) %in% problem_arguments
  list(problem = arguments[to_problem], method = arguments[!to_problem])
}

# arguments for do.call(), which would evaluate those that are language
quoted <- function(arguments) {
  lapply(arguments, function(value) if (is.language(value)) call("quote", value) else value)
}

method_name <- function(expression) {
  if (is.call(expression) && is.name(expression[[1L]]) &&
      as.character(expression[[1L]]) %in% c("::", ":::")) {
    expression <- expression[[3L]]
  }
  if (is.name(expression)) as.character(expression) else "a function"
}

# What the method makes of a problem, without a progress bar of its own. A fit that Ctrl-C cut short
# is an interrupt like any other.
run_method <- function(method, problem, arguments) {
  if ("progress" %in% names(formals(method))) arguments$progress <- FALSE
  withCallingHandlers(
    do.call(method, c(list(quote(problem)), quoted(arguments))),
    sparsels_interrupted = function(condition) {
      if (inherits(condition, "warning")) raise_interrupt()
    }
  )
}

# How often each column was chosen, most frequent first.
choice_frequency <- function(chosen, names) {
  count <- table(unlist(chosen))
  feature <- as.integer(names(count))
  table <- data.frame(
    feature = feature, name = names[feature], count = as.vector(count),
    share = as.vector(count) / length(chosen)
  )
  table <- table[order(-table$count, table$feature), ]
  row.names(table) <- NULL
  table
}

# The models of a fit on other rows ---------------------------------------------------------------

# Scores of every model of a fit for some rows of a problem: list(key, values, chosen, scores,
# figures). The models go by `key`, "size" or "lambda", with these values; `chosen` is the place of
# the fit's own choice; scores are rows x L x models; `figures`, a row per model, what the fit says
# of them.
path_scores <- function(fit, problem, rows) {
  if (inherits(fit, c("sparse_fit", "kernel_fit"))) check_object(fit)
  UseMethod("path_scores")
}

#' @exportS3Method
path_scores.sparse_fit <- function(fit, problem, rows) {
  sizes <- path_sizes(fit)
  models <- fill_models(fit$coefficients, max(sizes))[sizes + 1L]
  list(key = "size", values = sizes, chosen = match(fit$size, sizes),
       scores = model_scores(models, problem, rows),
       figures = fit$path[vapply(models, `[[`, 0L, "step") + 1L, ])
}

# from the smallest model on
path_sizes <- function(fit) {
  largest <- length(fit$coefficients) - 1L
  (which(!vapply(fit$coefficients, is.null, NA))[1L] - 1L):largest
}

#' @exportS3Method
path_scores.kernel_fit <- function(fit, problem, rows) {
  models <- fit$coefficients
  L <- ncol(problem$y)
  beta <- do.call(cbind, lapply(models, `[[`, "beta"))
  covariates <- do.call(cbind, lapply(models, `[[`, "covariates"))
  scores <- expand(fit, rows_alone(problem, rows), beta) +
    problem$z[rows, , drop = FALSE] %*% covariates
  list(key = "lambda", values = fit$path$lambda, chosen = match(fit$lambda, fit$path$lambda),
       scores = array(scores, c(length(rows), L, length(models))),
       figures = c(list(squared = fit$path$criterion), fit$path["error"[!is.null(fit$path$error)]]))
}

#' @exportS3Method
path_scores.fs_lssvm <- function(fit, problem, rows) {
  sizes <- path_sizes(fit)
  models <- fill_models(fit$coefficients, max(sizes))[sizes + 1L]
  scores <- vapply(models, function(model) {
    expand(fit, rows_alone(problem, rows), model$beta, model$features) +
      problem$z[rows, , drop = FALSE] %*% model$covariates
  }, matrix(0, length(rows), ncol(problem$y)))
  list(key = "size", values = sizes, chosen = match(fit$size, sizes),
       scores = array(scores, c(length(rows), ncol(problem$y), length(models))), figures = list())
}

# Any other fit is one model, which predict() is asked for.
#' @exportS3Method
path_scores.default <- function(fit, problem, rows) {
  told <- tryCatch(stats::predict(fit, problem$x[rows, , drop = FALSE]), error = function(e) {
    stop_input(sprintf("`method` must return a fit that predict() knows, not %s (%s)",
                       describe(fit), conditionMessage(e)))
  })
  scores <- prediction_scores(told, problem)
  if (NROW(scores) != length(rows) || NCOL(scores) != ncol(problem$y)) {
    stop_input(sprintf("predict() of the fit must give %s for %s, not %s",
                       if (ncol(problem$y) == 1L) "a value" else counted(ncol(problem$y), "column"),
                       counted(length(rows), "row"), describe(told)))
  }
  list(key = "model", values = 1L, chosen = 1L,
       scores = array(scores, c(length(rows), ncol(problem$y), 1L)), figures = list())
}

# classes as the codes of the response
prediction_scores <- function(told, problem) {
  if (is.numeric(told) || problem$task == "regression") return(as.matrix(told) + 0)
  index <- match(as.character(told), problem$levels)
  if (problem$task == "binary") return(as.matrix(2 * index - 3))
  2 * outer(index, seq_along(problem$levels), "==") - 1
}

# some rows as new data, which are not measured
rows_alone <- function(problem, rows) {
  part <- scored_rows(problem, rows)
  part$x <- problem$x[rows, , drop = FALSE]
  part
}
