#' Models of growing size
#'
#' What every selection method of the package returns: the best model of each size, the held-out
#' figures of every model on the way, and the methods that print, plot and use them.
#'
#' @details A fit is a plain list that never holds `x`; `saveRDS()` keeps all of it. With m rows, L
#' outputs and q covariates:
#'
#' * `path`: data frame with a row for every step: `step` (0 is the start), `action` (`"start"`,
#'   `"add"`, `"drop"`, or `"found"` where sets are not made one from the other), `feature` (column
#'   number), `name`, `size` of the model after the step, and its held-out figures: `criterion`
#'   (what the search looked at; of the best-subset methods, such as [poss()], the training
#'   \eqn{R^2}) with its standard error `se` over folds, `squared`, the mean squared error
#'   \eqn{\sum_j w_j \|r_j\|^2 / (L \sum_j w_j)}{sum_j w_j ||r_j||^2 / (L sum_j w_j)}, and for
#'   classes `error`, the share of rows in the wrong class. Repeated folds are averaged. `se` is
#'   that of a weighted mean of fold means; it takes the folds as independent, which they nearly
#'   are. It is `NA` for a user's function and for leave-pair-out AUC.
#' * `coefficients`: element s + 1 is the best model of size s, or `NULL`: `features` (column
#'   numbers in the order chosen), `beta` (s x L) and `covariates` (q x L) on the user's scale,
#'   `step`.
#' * `size`, the chosen size: the best by the criterion. `held_out` and `fitted` (m x L): its
#'   predictions of the rows, held out and not.
#' * `lambda`, `lambda_rule`, and `lambda_table` with a row for every lambda tried.
#' * `alternatives`: with `keep`, the best candidates not chosen at each step.
#' * `status`: `"complete"`, `"early_stop"`, `"interrupted"`, `"move_limit"` or `"node_limit"`.
#' * `criterion`, `folds`, `control`, `call`, `method`, and `problem` without its x.
#'
#' @param object,x A fit.
#' @param size Number of features of the model wanted; `NULL` for the chosen size.
#' @param index Whether to return column numbers in the place of names.
#' @param newdata New observations: a matrix, data frame or `SummarizedExperiment`. Columns are
#'   found by name when both have names, and only those of the model are needed.
#' @param type For `predict()`: `"response"` and `"link"` are both the value of the linear model
#'   (least squares has no link function), `"class"` the class: the second level where a two-class
#'   score is above 0, the largest score for more classes. For `residuals()`: `"response"`, on the
#'   training rows, or `"held_out"`.
#' @param adjust The covariates of the new observations, in the form that [as_problem()] was given;
#'   not needed when a formula finds them in `newdata`.
#' @param rule `"min"`: the size with the best criterion; `"1se"`: the smallest size whose
#'   criterion is within one standard error of it.
#' @param ... Not used.
#'
#' @return `selected()`: character (or integer) vector in the order chosen. `coef()`: named vector,
#'   covariates first, or a matrix with a column per output. `predict()`: one value per row of
#'   `newdata` (a matrix for several outputs), `NA` with a warning where a needed value is missing.
#'   `best_size()`: a number. `summary()`: a data frame of the best model of every size with the
#'   coefficients of the chosen one.
#'
#' @examples
#' x <- matrix(rnorm(30 * 8), 30)
#' fit <- greedy_rls(x, x[, 3] + rnorm(30) / 9, k = 4)
#' selected(fit)
#' coef(fit, size = 1)
#' predict(fit, x[1:3, ], size = 2)
#' best_size(fit, "1se")
#' @name sparse_fit
NULL

# Puts together the fit of a method from its paths, one for each lambda tried: the best criterion
# wins.
new_sparse_fit <- function(method, problem, paths, control, call) {
  value <- vapply(paths, function(path) path$path$criterion[path$models[[path$size + 1L]]$row], 0)
  chosen <- which.min(criterion_loss(control$criterion, value))
  best <- paths[[chosen]]
  fit <- structure(list(
    method = method, path = best$path, coefficients = user_coefficients(problem, best$models),
    size = best$size, held_out = best$held_out, fitted = best$fitted,
    lambda = best$lambda, lambda_rule = control$lambda_rule,
    lambda_table = data.frame(lambda = vapply(paths, `[[`, 0, "lambda"),
                              size = vapply(paths, `[[`, 0L, "size"), criterion = value),
    criterion = control$criterion[c("name", "higher", "label")], folds = control$folds,
    alternatives = best$alternatives, status = paths[[length(paths)]]$status,
    control = control[setdiff(names(control), c("criterion", "folds", "lambda_rule"))],
    call = call, problem = without_x(problem)
  ), class = c(method, "sparse_fit"))
  if (fit$status == "interrupted") {
    what <- if ("found" %in% fit$path$action) "size" else "step"
    warn_sparsels(sprintf("interrupted: the fit holds the %s done so far",
                          counted(nrow(fit$path) - 1L, what)), "sparsels_interrupted")
  }
  fit
}

# Coefficients of working columns -> of the user's columns, with those of the covariates.
user_coefficients <- function(problem, models) {
  used <- sort(unique(unlist(lapply(models, `[[`, "features"))))
  on_covariates <- covariate_solver(problem)
  of_y <- on_covariates(problem$y)
  of_x <- on_covariates(problem$x[, used, drop = FALSE])
  lapply(models, function(model) {
    if (is.null(model)) return(NULL)
    beta <- model$beta / problem$scale[model$features]
    covariates <- of_y - of_x[, match(model$features, used), drop = FALSE] %*% beta
    dimnames(covariates) <- list(colnames(problem$z), colnames(problem$y))
    dimnames(beta) <- list(problem$names[model$features], colnames(problem$y))
    list(features = model$features, beta = beta, covariates = covariates, step = model$row - 1L)
  })
}

# A function of columns (m x any): their weighted least-squares coefficients on the covariates.
covariate_solver <- function(problem) {
  root_w <- sqrt(problem$weights)
  decomposed <- qr(root_w * problem$z, tol = 1e-10)
  function(columns) {
    if (!ncol(problem$z)) return(matrix(0, 0L, ncol(columns)))
    projected <- as.matrix(Matrix::crossprod(qr.Q(decomposed), root_w * columns))
    backsolve(qr.R(decomposed), projected)
  }
}

# The best model of one size.
model_of <- function(fit, size = NULL) {
  if (is.null(size)) size <- fit$size
  largest <- length(fit$coefficients) - 1L
  check_count(size, "size", largest, "the largest size of the fit", lower = 0L)
  model <- fit$coefficients[[size + 1L]]
  if (is.null(model)) {
    sizes <- which(!vapply(fit$coefficients, is.null, NA)) - 1L
    stop_input(sprintf("the fit has no model of size %d: its sizes are %d to %d", size, min(sizes),
                       max(sizes)))
  }
  model
}

# One row of the path for the best model of every size.
size_table <- function(fit) {
  models <- Filter(Negate(is.null), fit$coefficients)
  fit$path[vapply(models, `[[`, 0L, "step") + 1L, ]
}

#' @rdname sparse_fit
#' @export
selected <- function(object, size = NULL, index = FALSE) UseMethod("selected")

#' @export
selected.sparse_fit <- function(object, size = NULL, index = FALSE) {
  features <- model_of(object, size)$features
  if (check_flag(index, "index")) features else object$problem$names[features]
}

#' @rdname sparse_fit
#' @export
best_size <- function(object, rule = "min") {
  check_choice(rule, "rule", c("min", "1se"))
  if (rule == "min") return(object$size)
  sizes <- size_table(object)
  best <- sizes[sizes$size == object$size, ]
  if (is.na(best$se)) {
    stop_input(sprintf("`rule = \"1se\"` needs a standard error, which the %s does not have",
                       object$criterion$label))
  }
  loss <- criterion_loss(object$criterion, sizes$criterion)
  min(sizes$size[loss <= criterion_loss(object$criterion, best$criterion) + best$se])
}

#' @rdname sparse_fit
#' @export
coef.sparse_fit <- function(object, size = NULL, ...) {
  model <- model_of(object, size)
  drop_output(rbind(model$covariates, model$beta))
}

#' @rdname sparse_fit
#' @export
predict.sparse_fit <- function(object, newdata, size = NULL, type = c("response", "class", "link"),
                               adjust = NULL, ...) {
  if (missing(newdata)) stop_no_newdata()
  check_dots(..., known = names(formals(predict.sparse_fit)))
  predict_model(object$problem, model_of(object, size), newdata, type, adjust)
}

stop_no_newdata <- function() {
  stop_input("`newdata` must be given: fitted() has the values of the training rows")
}

predict_model <- function(problem, model, newdata, type, adjust) {
  x <- new_data_matrix(problem, newdata, model$features)
  z <- new_covariates(problem, newdata, adjust)
  respond(problem, as.matrix(x %*% model$beta) + z %*% model$covariates, type,
          new_row_names(newdata))
}

new_row_names <- function(newdata) {
  if (inherits(newdata, "SummarizedExperiment")) colnames(newdata) else rownames(newdata)
}

# Scores (rows x L) as the type of prediction asked for.
respond <- function(problem, score, type, rows = NULL) {
  type <- check_choice(type[1L], "type", c("response", "class", "link"))
  if (type == "class" && problem$task == "regression") {
    stop_input("`type = \"class\"` needs a fit with classes, but the response is numeric")
  }
  missing <- which(is.na(rowSums(score)))
  if (length(missing)) {
    warn_sparsels(sprintf("`newdata` has missing values in %s (first: row %d): NA is predicted",
                          counted(length(missing), "row"), missing[1L]), "sparsels_warning_missing")
  }
  dimnames(score) <- list(rows, colnames(problem$y))
  if (type == "class") stats::setNames(class_of(problem, score), rows) else drop_output(score)
}

# The class of each row of scores, a factor. Scores nearer than `score_tie` are equal, as
# in src/criterion.c, and equal scores go to the first class.
score_tie <- 1e-10

class_of <- function(problem, score) {
  index <- if (problem$task == "binary") 1L + (score[, 1L] > score_tie) else first_largest(score)
  factor(problem$levels[index], levels = problem$levels)
}

first_largest <- function(score) {
  vapply(seq_len(nrow(score)), function(j) {
    if (anyNA(score[j, ])) NA_integer_ else which(score[j, ] >= max(score[j, ]) - score_tie)[1L]
  }, 0L)
}

# A matrix with one column as a named vector.
drop_output <- function(values) {
  if (ncol(values) == 1L) stats::setNames(values[, 1L], rownames(values)) else values
}

# Scores of all sizes for raw columns x and covariates z: rows x L x (largest size + 1), NA where
# there is no model.
predict_sizes <- function(fit, x, z) {
  used <- sort(unique(unlist(lapply(fit$coefficients, `[[`, "features"))))
  x <- as.matrix(x[, used, drop = FALSE])
  scores <- vapply(fit$coefficients, function(model) {
    if (is.null(model)) return(matrix(NA_real_, nrow(x), ncol(fit$problem$y)))
    z %*% model$covariates + x[, match(model$features, used), drop = FALSE] %*% model$beta
  }, matrix(0, nrow(x), ncol(fit$problem$y)))
  array(scores, c(nrow(x), ncol(fit$problem$y), length(fit$coefficients)))
}

#' @rdname sparse_fit
#' @export
fitted.sparse_fit <- function(object, ...) rows_of(object$problem, object$fitted)

#' @rdname sparse_fit
#' @export
residuals.sparse_fit <- function(object, type = c("response", "held_out"), ...) {
  type <- check_choice(type[1L], "type", c("response", "held_out"))
  prediction <- if (type == "held_out") object$held_out else object$fitted
  rows_of(object$problem, object$problem$y - prediction)
}

# Values of the training rows, under their names.
rows_of <- function(problem, values) {
  dimnames(values) <- list(problem$row_names, colnames(problem$y))
  drop_output(values)
}

#' @rdname sparse_fit
#' @export
nobs.sparse_fit <- function(object, ...) nrow(object$problem)

# Printing ----------------------------------------------------------------------------------------

#' @rdname sparse_fit
#' @param n Number of rows of the path to print.
#' @export
print.sparse_fit <- function(x, n = 6L, ...) {
  cat(sprintf("%s: %s\n", x$method, fit_title(x)))
  print_data(x$problem)
  cat(sprintf("lambda: %s, %s\n", format(x$lambda, digits = 4), x$lambda_rule))
  cat(best_words(x), sep = "\n")
  if (x$status != "complete") cat(status_words(x), "\n", sep = "")
  if (n > 0L) print_path(x, n)
  invisible(x)
}

print_data <- function(problem) {
  cat(sprintf("data: %s x %s\n", counted(nrow(problem), "row"), counted(ncol(problem), "column")))
  cat("response: ", response_words(problem), "\n", sep = "")
}

fit_title <- function(fit) {
  search <- fit$control$search
  by <- paste("by", fit$criterion$label)
  if (is.null(search) || search == "given") return(by)
  sprintf("%s search %s", sub("_", "-", search), by)
}

best_words <- function(fit) {
  row <- fit$path[fit$coefficients[[fit$size + 1L]]$step + 1L, ]
  error <- if (!is.null(row$error) && fit$criterion$name != "error") {
    sprintf(" (error rate %s)", format(row$error, digits = 3))
  } else {
    ""
  }
  if (is_training(fit)) {
    figure <- sprintf("size %d: %s %s, leave-one-out squared error %s%s", fit$size,
                      fit$criterion$label, format(row$criterion, digits = 4),
                      format(row$squared, digits = 4), error)
    honest <- "  (the set is chosen on all rows: use cross_validate() for an honest estimate)"
    return(c(figure, honest))
  }
  figure <- sprintf("best size: %d, %s %s%s", fit$size, fit$criterion$label,
                    format(row$criterion, digits = 4), error)
  c(figure, "  (selection criterion, optimistic: use cross_validate() for an honest estimate)")
}

# whether the criterion is a figure of the training rows; the held-out error then stands beside it
is_training <- function(fit) fit$criterion$name == "r_squared"

status_words <- function(fit) {
  switch(fit$status,
    early_stop = sprintf("stopped early: no improvement for %d steps (set `k` to go on)",
                         fit$control$patience),
    interrupted = "interrupted: this is the path up to there",
    move_limit = "stopped: the search came to its limit of moves without settling",
    node_limit = "stopped: a search came to its limit of `nodes`, fit$proof has the gaps"
  )
}

print_path <- function(fit, n) {
  cat("path:\n")
  shown <- utils::head(fit$path, n)
  text <- shown[, c("step", "action", "name", "size")]
  text$name <- moved_names(fit, shown)
  figures <- c("criterion", if (is_training(fit)) "squared" else "se", "error")
  for (figure in intersect(figures, names(shown))) {
    text[[figure]] <- format(shown[[figure]], digits = 4)
  }
  print(text, row.names = FALSE, right = TRUE)
  more <- nrow(fit$path) - nrow(shown)
  if (more > 0L) cat(sprintf("... and %s, all in fit$path\n", counted(more, "more step")))
}

# the column moved, or the whole of a set that was found at once
moved_names <- function(fit, rows) {
  names <- ifelse(is.na(rows$name), "", rows$name)
  for (row in which(rows$action == "found")) {
    names[row] <- paste(fit$problem$names[fit$coefficients[[rows$size[row] + 1L]]$features],
                        collapse = " ")
  }
  ifelse(nchar(names) > 40L, paste0(substr(names, 1L, 37L), "..."), names)
}

#' @rdname sparse_fit
#' @export
summary.sparse_fit <- function(object, ...) {
  structure(list(fit = object, sizes = size_table(object), coefficients = coef(object)),
            class = "summary.sparse_fit")
}

#' @export
print.summary.sparse_fit <- function(x, ...) {
  print(x$fit, n = 0L)
  cat("best model of every size:\n")
  figures <- c("name", "size", "criterion", if (is_training(x$fit)) "squared" else "se", "error")
  x$sizes$name <- moved_names(x$fit, x$sizes)
  figures <- intersect(figures, names(x$sizes))
  print(x$sizes[, figures], row.names = FALSE, digits = 4)
  cat(sprintf("coefficients at size %d:\n", x$fit$size))
  print(x$coefficients, digits = 4)
  invisible(x)
}
