#' Judge a method by outer cross-validation
#'
#' Repeats everything a method does (scaling, choice of lambda, selection) inside each outer fold
#' and scores the models of every size on the rows held out: an honest estimate, beside the
#' selection criterion, which is optimistic because it was minimised.
#'
#' In each outer fold the training rows become a problem of their own, so centre and scale of the
#' columns are estimated again; `method` runs on it, with its own inner folds, and chooses `lambda`
#' itself when `lambda = NULL`; then the model of every size predicts the held-out rows. For classes
#' the measure is the error rate,
#' \deqn{\sum_j w_j [\hat c_j \ne c_j] / \sum_j w_j,}
#' for numbers the mean squared error,
#' \deqn{\sum_j w_j \|y_j - \hat y_j\|^2 / (L \sum_j w_j),}
#' sums over the held-out rows \eqn{j}, \eqn{w} the case weights, \eqn{L} the number of outputs. A
#' two-class score above 0 means the second class; of several classes the largest score wins, the
#' first one when equal. This is the experiment of Sections 4.2 and 4.3 of the paper.
#'
#' The outer folds run on the plan set by `future::plan()` when the package future.apply is
#' installed, else one after the other. Each has its own stream of random numbers: `set.seed()`
#' before the call gives the same result under any plan. Ctrl-C returns the folds already done, with
#' a warning of class `sparsels_interrupted`.
#'
#' @param x What [as_problem()] takes: a numeric matrix or `dgCMatrix` (samples x features), a data
#'   frame, a formula (with `data`), a SummarizedExperiment, or a problem made before.
#' @param method A function: a fitter of this package such as [greedy_rls()], or your own
#'   `function(problem, ...)` that returns what such a fitter returns.
#' @param ... Named arguments for [as_problem()] (`weights`, `adjust`, `intercept`, `standardize`;
#'   not when `x` is a problem) and for `method` (`k`, `lambda`, `folds`, `criterion`, ...). `folds`
#'   are the inner folds; those given row by row, for all rows, are cut down to the training rows of
#'   each outer fold.
#' @param y The response: see [as_problem()].
#' @param data Data frame of the variables of a formula.
#' @param outer The outer folds: what [make_folds()] takes as `folds`, or its result (for instance
#'   grouped by patient). A number is stratified by class. Default 10.
#' @param repeats Number of times a numeric `outer` is drawn anew; default 1.
#' @param baselines Any of `"random"` (the same number of features chosen at random, in a ridge
#'   model with the same lambda, or 1e-8 times the sum of the weights where that is 0; the lambda of
#'   an l1 penalty is another, so beside [l1_path()] it is the one that [greedy_rls()] would choose)
#'   and `"majority"` (the most frequent class of the training rows, by weight; for numbers their
#'   mean); `NULL` for none.
#'
#' @return An object of class `cv_result`, a list:
#' * `curves`: data frame, a row per size reached in every fold, with `size`, and the means over the
#'   outer folds `inner` (the method's own held-out figure, if it has one), `test`, `random` and
#'   `majority`, each with its standard error `inner_se`, ...: standard deviation over folds /
#'   sqrt(number of folds). A fold that has no model of a size but smaller ones gives the largest of
#'   these.
#' * `folds`: data frame, a row per outer fold, with `repetition`, `fold`, `rows` (held out),
#'   `lambda`, `size` (chosen by the inner criterion), and at that size `inner`, `test`, `random`,
#'   `majority`.
#' * `estimate`: named double, `mean` and `se` of `folds$test`: the honest error of the method.
#' * `chosen`: list with a character vector per outer fold, the names in the order chosen.
#' * `frequency`: data frame `feature` (column number), `name`, `count` and `share` of the outer
#'   folds that chose it; most frequent first.
#' * `measure` (`"error"` or `"squared"`), `method`, `call`, `status` (`"complete"` or
#'   `"interrupted"`), `problem` (without its x), and in words `outer` and `inner`, the folds.
#'
#' Standard errors treat the outer folds as independent; with `repeats` above 1 they are too small.
#'
#' @section Cost:
#' The number of outer folds times the cost of `method` and of as many predictions as there are
#' sizes; memory, that of one training part per worker on top of what `method` needs.
#'
#' @section Errors:
#' `sparsels_error_input` for an unknown argument, folds of the wrong length or a method that is not
#' a function or returns something else than a fit. An error inside an outer fold keeps its class
#' and says in which fold it was.
#'
#' @references Pahikkala, T., Airola, A. and Salakoski, T. (2010). Linear time feature selection for
#'   regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#' @seealso [plot.cv_result()], [greedy_rls()], [make_folds()]
#' @examples
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' y <- factor(ifelse(x[, 3] + x[, 8] + rnorm(60) > 0, "ill", "well"))
#' set.seed(1)
#' judged <- cross_validate(x, greedy_rls, y = y, k = 5, outer = 5)
#' judged
#' plot(judged)
#' @export
cross_validate <- function(x, method, ..., y = NULL, data = NULL, outer = 10, repeats = 1,
                           baselines = c("random", "majority")) {
  if (!is.function(method)) refuse("method", "a function such as greedy_rls", method)
  check_method_dots(method, ...)
  check_baselines(baselines)
  given <- split_arguments(list(...))
  # symbols, so that no message and no name of a response deparses the data
  own <- list(quote(x), quote(y), data = quote(data))
  problem <- do.call(as_problem, c(own, given$problem))
  if (problem$response == "y") problem$response <- response_name(substitute(y))
  outer <- in_context("outer folds", make_folds(problem, outer, repeats = repeats))
  inner <- given$method$folds
  inner <- if (is_by_row(inner)) as_folds(inner, problem)

  parts <- held_out_rows(outer)
  judged <- run_tasks(nrow(parts), function(i) {
    in_context(
      paste("outer fold", i),
      judge_fold(problem, parts$rows[[i]], method, given$method, inner, baselines)
    )
  })
  if (attr(judged, "interrupted")) warn_interrupted(length(judged), nrow(parts), "outer fold")
  new_cv_result(judged, parts, problem,
    method = method_name(substitute(method)), outer = outer$label, call = match.call()
  )
}

warn_interrupted <- function(done, wanted, what) {
  message <- sprintf("interrupted after %d of %s", done, counted(wanted, what))
  if (done == 0L) stop(errorCondition(message, class = c("sparsels_interrupted", "sparsels_error")))
  warn_sparsels(paste0(message, ": the result is that of these"), "sparsels_interrupted")
}

# Arguments -------------------------------------------------------------------------------------

# A user's own method with `...` may take any name; the fitters of the package hand theirs to
# as_problem(), so all of theirs are known.
check_method_dots <- function(method, ...) {
  own <- setdiff(names(formals(method)), c("x", "y", "data", "..."))
  open <- "..." %in% names(formals(method)) && !identical(environment(method), topenv())
  allowed <- c(own, problem_arguments)
  known <- c(allowed, "data", "outer", "repeats", "baselines")
  check_dots(..., known = known, allowed = if (open) names(list(...)) else allowed)
}

split_arguments <- function(arguments) {
  to_problem <- names(arguments) %in% problem_arguments
  list(problem = arguments[to_problem], method = arguments[!to_problem])
}

check_baselines <- function(baselines) {
  known <- c("random", "majority")
  if (!all(baselines %in% known)) refuse("baselines", paste("any of", some_of(known)), baselines)
}

# Folds given row by row, not by their number.
is_by_row <- function(folds) is.list(folds) || length(folds) > 1L

method_name <- function(expression) {
  if (is.call(expression) && as.character(expression[[1]])[1] %in% c("::", ":::")) {
    expression <- expression[[3]]
  }
  if (is.name(expression)) as.character(expression) else "a function"
}

# Folds -----------------------------------------------------------------------------------------

# One row per outer fold; `rows` is a list column of the rows held out.
held_out_rows <- function(folds) {
  parts <- lapply(seq_len(ncol(folds$ids)), function(r) {
    rows <- split(seq_len(nrow(folds$ids)), folds$ids[, r])
    part <- data.frame(repetition = r, fold = seq_along(rows))
    part$rows <- unname(rows)
    part
  })
  do.call(rbind, parts)
}

# Folds of all rows, cut down to some; numbered anew, since a fold may have lost all its rows.
cut_folds <- function(folds, rows) {
  ids <- apply(folds$ids[rows, , drop = FALSE], 2L, function(id) match(id, unique(id)))
  if (any(apply(ids, 2L, max) < 2L)) {
    stop_input("`folds` leaves one inner fold only among the training rows")
  }
  new_folds(ids, folds$label)
}

# An error keeps its class and says where it came from.
in_context <- function(where, expr) {
  tryCatch(expr, error = function(e) {
    e$message <- paste0(where, ": ", conditionMessage(e))
    stop(e)
  })
}

# One outer fold --------------------------------------------------------------------------------

# All is learned from the rows not held out. `curves` has a row per size, NA below the smallest
# model.
judge_fold <- function(problem, held_out, method, arguments, inner, baselines) {
  train <- problem[-held_out, ]
  if (!is.null(inner)) arguments$folds <- cut_folds(inner, seq_len(nrow(problem$x))[-held_out])
  if ("progress" %in% names(formals(method))) arguments$progress <- FALSE
  fit <- do.call(method, c(list(quote(train)), arguments))
  if (!inherits(fit, "sparse_fit")) {
    stop_input(sprintf("`method` must return a sparse_fit, not %s", describe(fit)))
  }
  test_error <- function(fit) {
    x <- problem$x[held_out, , drop = FALSE]
    z <- problem$z[held_out, , drop = FALSE]
    held_out_error(problem, held_out, predict_sizes(fit, x, z))
  }
  curves <- data.frame(size = seq_along(fit$coefficients) - 1)
  inner <- inner_error(fit)
  if (!all(is.na(inner))) curves$inner <- inner
  curves$test <- test_error(fit)
  if ("random" %in% baselines) {
    same <- list(quote(train), k = max(curves$size, 1), lambda = rival_lambda(fit, train),
                 progress = FALSE)
    folds <- Filter(Negate(is.null), arguments["folds"])
    rival <- do.call(random_selection, c(same, folds))
    curves$random <- test_error(rival)[seq_len(nrow(curves))]
  }
  if ("majority" %in% baselines) curves$majority <- majority_error(problem, train, held_out)
  list(
    curves = fill_sizes(curves), lambda = fit$lambda, size = fit$size, inner = fit$folds$label,
    features = model_of(fit)$features
  )
}

# The ridge parameter of the random features: NULL lets random_selection() choose it.
rival_lambda <- function(fit, train) {
  if (inherits(fit, "l1_path")) return(NULL)
  if (fit$lambda > 0) fit$lambda else 1e-8 * sum(train$weights)
}

# the sizes without a model get the figures of the largest one below
fill_sizes <- function(curves) {
  there <- which(!is.na(curves$test))
  from <- findInterval(seq_len(nrow(curves)), there)
  curves[from > 0, -1] <- curves[there[from], -1]
  curves
}

inner_error <- function(fit) {
  sizes <- size_table(fit)
  error <- rep(NA_real_, length(fit$coefficients))
  error[sizes$size + 1L] <- sizes[[measure_of(fit$problem)]]
  error
}

measure_of <- function(problem) if (problem$task == "regression") "squared" else "error"

# The error on some rows of the problem of each slice of an array rows x L x models.
held_out_error <- function(problem, rows, prediction) {
  y <- problem$y[rows, , drop = FALSE]
  w <- problem$weights[rows]
  apply(prediction, 3L, function(slice) {
    score <- matrix(slice, nrow(y))
    if (problem$task == "regression") return(sum(w * (y - score)^2) / (ncol(y) * sum(w)))
    sum(w * (class_of(problem, score) != class_of(problem, y))) / sum(w)
  })
}

# The majority class of the training rows, coded as y is; for numbers the mean: with codes -1/+1
# either is read off the weighted mean of y.
majority_error <- function(problem, train, held_out) {
  constant <- colSums(train$weights * train$y) / sum(train$weights)
  prediction <- array(rep(constant, each = length(held_out)), c(length(held_out), ncol(train$y), 1))
  held_out_error(problem, held_out, prediction)
}

# The result ------------------------------------------------------------------------------------

new_cv_result <- function(judged, parts, problem, method, outer, call) {
  status <- if (length(judged) < nrow(parts)) "interrupted" else "complete"
  parts <- parts[seq_along(judged), ]
  chosen <- lapply(judged, `[[`, "features")
  folds <- fold_table(judged, parts)
  structure(list(
    method = method, curves = mean_curves(lapply(judged, `[[`, "curves")), folds = folds,
    estimate = c(mean = mean(folds$test), se = standard_error(folds$test)),
    chosen = lapply(chosen, function(feature) problem$names[feature]),
    frequency = choice_frequency(chosen, problem$names),
    measure = measure_of(problem), outer = outer, inner = judged[[1L]]$inner,
    problem = without_x(problem), call = call, status = status
  ), class = "cv_result")
}

# The mean and standard error over folds of each curve, at the sizes every fold has reached.
mean_curves <- function(curves) {
  shared <- min(vapply(curves, nrow, integer(1)))
  table <- data.frame(size = curves[[1]]$size[seq_len(shared)])
  for (name in names(curves[[1]])[-1]) {
    error <- vapply(curves, function(fold) fold[[name]][seq_len(shared)], numeric(shared))
    dim(error) <- c(shared, length(curves))
    table[[name]] <- rowMeans(error)
    table[[paste0(name, "_se")]] <- apply(error, 1, standard_error)
  }
  table <- table[!is.na(table$test), ]
  row.names(table) <- NULL
  table
}

standard_error <- function(x) stats::sd(x) / sqrt(length(x))

fold_table <- function(judged, parts) {
  at_choice <- lapply(judged, function(fold) fold$curves[fold$curves$size == fold$size, ])
  table <- data.frame(
    repetition = parts$repetition, fold = parts$fold, rows = lengths(parts$rows),
    lambda = vapply(judged, `[[`, numeric(1), "lambda")
  )
  cbind(table, do.call(rbind, at_choice), row.names = NULL)
}

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

#' @export
print.cv_result <- function(x, ...) {
  sizes <- range(x$folds$size)
  cat(
    "outer cross-validation of ", x$method, "\n",
    "data: ", data_words(x$problem), "\n",
    "response: ", response_words(x$problem), "\n",
    "outer folds: ", x$outer, "; scaling, lambda and selection repeated in each\n",
    if (x$status == "interrupted") sprintf("interrupted: %d of them done\n", nrow(x$folds)),
    measure_label(x$measure), " at the size each fold chose (",
    if (sizes[1L] < sizes[2L]) paste(sizes[1L], "to "), counted(sizes[2L], "feature"), "):\n",
    paste0("  ", error_lines(x), "\n"),
    "lambda: ", paste(signif(unique(range(x$folds$lambda)), 4), collapse = " to "), "\n",
    sep = ""
  )
  top <- utils::head(x$frequency, 8L)
  if (nrow(top)) {
    cat(sprintf("chosen most often, of %s: ", counted(nrow(x$folds), "fold")),
      paste0(top$name, " (", top$count, ")", collapse = ", "),
      if (nrow(x$frequency) > nrow(top)) ", ...", "\n",
      sep = ""
    )
  }
  invisible(x)
}

# The figures at the chosen sizes, three significant digits of the largest, and what each is.
error_lines <- function(x) {
  what <- c(
    test = "held-out samples, honest",
    inner = paste0(x$inner, ", selection criterion, optimistic"),
    random = "as many random features", majority = majority_words(x$problem$task)
  )
  what <- what[names(what) %in% names(x$folds)]
  mean <- colMeans(x$folds[names(what)])
  se <- vapply(x$folds[names(what)], standard_error, 0)
  digits <- if (max(mean) > 0) max(0, 2 - floor(log10(max(mean)))) else 3
  plain <- function(value) formatC(value, digits = digits, format = "f")
  paste0(format(plain(mean), justify = "right"), " (se ", plain(se), ")   ", what)
}

data_words <- function(problem) {
  sprintf("%s x %s", counted(nrow(problem), "row"), counted(ncol(problem), "column"))
}

measure_label <- function(measure) {
  if (measure == "error") "error rate (share of samples)" else "mean squared error"
}

majority_words <- function(task) {
  if (task == "regression") "mean of the response" else "majority class"
}
