#' Compare methods of subset selection on random splits
#'
#' Splits the rows at random many times, runs every method on the training part of each split, and
#' compares the training and test \eqn{R^2} of their models of one size: the experiment of Qian, Yu
#' and Zhou (2015).
#'
#' In each split the training rows become a problem of their own, so centre and scale of the columns
#' are estimated on them alone. For a method that returns a fit, its model of size `k` is used, with
#' its own `lambda`; for a method that returns column numbers, least squares on these columns and
#' the covariates. If there is no model of size `k`, the largest smaller one is used, and of a fit
#' without sizes the model that it chose. For rows \eqn{j} of a part, case weights \eqn{w} and
#' predictions \eqn{\hat y},
#' \deqn{R^2 = 1 - \sum_j w_j \| y_j - \hat y_j \|^2 / \sum_j w_j \| y_j - \hat y_j^0 \|^2,}{
#' R^2 = 1 - sum_j w_j ||y_j - yhat_j||^2 / sum_j w_j ||y_j - yhat0_j||^2,}
#' where \eqn{\hat y^0}{yhat0} is the prediction of the covariates alone, fitted to the training
#' rows: with an intercept only, the training mean. A model that predicts no better has a test
#' \eqn{R^2} of 0. The paper normalises all variables once, on all rows, and reports 1 less the mean
#' squared error; here the test rows are not used in training, and the variance is that of the rows
#' of the part about the training mean. Classes are compared by the \eqn{R^2} of their -1/+1 codes.
#'
#' The p-value of a method is that of a two-sided paired t-test against the first method over the
#' splits. The splits share rows, so their differences are not independent and the test of the
#' paper, used here, is optimistic.
#'
#' The splits run on the plan set by `future::plan()` when the package future.apply is installed,
#' else one after the other. Each has its own stream of random numbers: `set.seed()` before the call
#' gives the same result under any plan. Ctrl-C returns the splits already done, with a warning of
#' class `sparsels_interrupted`.
#'
#' @param x,y,data The data, in any form that [as_problem()] takes: a matrix (dense or sparse) and
#'   its response; a formula and data; an experiment of Bioconductor, such as a
#'   `SummarizedExperiment`, and the name of its response; or an earlier problem. For `plot()`, `x`
#'   is the result of `compare_methods()`.
#' @param ... Further arguments of [as_problem()]: `weights`, `subset`, `na.action`, `adjust`,
#'   `intercept`, `standardize`, `task`, `assay`, `make_unique`. Any other name is an error. For
#'   `plot()`, arguments of [graphics::boxplot()], such as `ylim` and `main`.
#' @param methods A named list of functions, called as `method(problem, k = k)` with the problem of
#'   the training rows. By default [poss()], [forward_regression()], [omp()], [foba()] and [rfe()];
#'   with more than 1000 usable columns, to take seconds, `poss()` with 3 searches and `rfe()` with
#'   `step = 0.1`, as `print()` says. A function returns at most `k` column numbers, or a fit: of
#'   this package, or
#'   any object for which `predict(object, x)` gives a value or class for each row of a matrix `x`.
#' @param k The size of the models compared, between 1 and the smaller of the usable columns and the
#'   training rows less the covariates less one.
#' @param splits Number of random splits into a training and a test part; 20 by default, the paper
#'   has 100.
#' @param test Share of the rows in the test part, above 0 and below 1; it is rounded to whole rows
#'   and each part has two of them at least.
#'
#' @return An object of class `method_comparison`, a list:
#' * `table`: data frame, a row per method: `method`; for the training part `training` (mean),
#'   `training_sd`, `training_p` (the t-test), `training_win`, `training_tie` and `training_loss`,
#'   the number of splits in which the method is above, equal (up to 1e-9) and below the first
#'   method; and the same for `test`. p is `NA` for the first method and where the differences do
#'   not vary.
#' * `r_squared`: array splits x methods x 2 (training, test).
#' * `chosen`: list matrix splits x methods of column numbers, such as `chosen[[3, "omp"]]`; `NULL`
#'   for a fit that chooses no columns.
#' * `training_rows`: list with the training rows of each split.
#' * `k`, `quick` (whether the methods are those for many columns), `call`, `status`
#'   (`"complete"` or `"interrupted"`), `problem` (without its x).
#'
#' `plot()` draws a box per method for the training and the test part, over the splits, and returns
#' invisibly the data frame drawn: `split`, `method` and `part` (factors), `r_squared`.
#'
#' @section Cost: `splits` times the cost of all methods; memory, that of one training part per
#' worker on top of what the methods need. In an interactive session the time is estimated after the
#' first split, and said where it is more than ten seconds.
#'
#' @section Errors: `sparsels_error_input` for bad arguments and for a method that returns something
#' else. An error inside a method keeps its class and says in which split it was.
#'
#' @references Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization.
#' Advances in Neural Information Processing Systems 28, 1774-1782.
#'
#' @seealso [cross_validate()], which estimates the error of one method at every size
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60)
#' y <- x[, 3] - x[, 8] + x[, 11] / 2 + rnorm(60)
#' methods <- list(forward = forward_regression, foba = foba)
#' methods$ridge <- function(problem, k) forward_regression(problem, k = k, lambda = 5)
#' # the largest support of the lasso with no more than k columns
#' if (requireNamespace("glmnet", quietly = TRUE)) {
#'   methods$lasso <- function(problem, k) {
#'     path <- glmnet::glmnet(problem$x, problem$y[, 1], weights = problem$weights)
#'     which(path$beta[, max(which(path$df <= k))] != 0)
#'   }
#' }
#' compared <- compare_methods(x, y, methods = methods, k = 3, splits = 10)
#' compared
#' plot(compared)
#' @export
compare_methods <- function(x, y = NULL, ..., data = NULL,
                            methods = NULL, k, splits = 20, test = 0.5) {
  problem <- fitter_problem(x, y, ..., data = data)
  quick <- is.null(methods) && sum(problem$usable) > many_columns
  if (is.null(methods)) methods <- default_methods(quick)
  check_methods(methods)
  splits <- check_repeats(splits, "splits")
  test_rows <- check_test(test, nrow(problem))
  if (missing(k)) stop_input("`k` must be given: the size of the models to compare")
  bound <- subset_bound(problem, nrow(problem) - test_rows)
  k <- check_count(k, "k", bound$upper, bound$what)
  runs <- lapply(methods, comparison_run, problem, k)
  scored <- repeat_tasks(splits, "split", function(i) {
    rows <- sort(sample.int(nrow(problem), nrow(problem) - test_rows))
    of_methods <- lapply(stats::setNames(nm = names(runs)), function(name) {
      in_context(sprintf("method '%s'", name), score_split(runs[[name]], rows, k))
    })
    list(rows = rows, methods = of_methods)
  })
  new_comparison(scored, problem, k, splits, quick, short_call(match.call()))
}

# The methods compared by default, which on many columns are to take seconds.
default_methods <- function(quick) {
  methods <- list(poss = poss, forward_regression = forward_regression, omp = omp, foba = foba,
                  rfe = rfe)
  if (!quick) return(methods)
  methods$poss <- function(problem, k) poss(problem, k = k, restarts = 3)
  methods$rfe <- function(problem, k) rfe(problem, k = k, step = 0.1)
  methods
}

many_columns <- 1000L

# Arguments ---------------------------------------------------------------------------------------

check_methods <- function(methods) {
  must <- "a list of functions, each with a name of its own"
  fine <- is.list(methods) && length(methods) && all(vapply(methods, is.function, NA))
  if (!fine) refuse("methods", must, methods)
  if (any(vapply(methods, arguments_of, 0) < 2)) {
    stop_input("`methods` must be functions of a problem and `k`: one takes fewer arguments",
               "sparsels_error_argument")
  }
  names <- names(methods)
  if (is.null(names) || any(names %in% c("", NA)) || anyDuplicated(names)) {
    stop_input(sprintf("`methods` must be %s", must), "sparsels_error_argument")
  }
}

# the number of test rows
check_test <- function(test, rows) {
  fine <- is_number(test) && test > 0 && test < 1
  if (!fine) refuse("test", "a share of the rows, above 0 and below 1", test)
  test_rows <- round(test * rows)
  if (test_rows < 2 || rows - test_rows < 2) {
    stop_input(sprintf("`test` must leave two rows to each part, but is %s of %d rows",
                       format(test), rows))
  }
  test_rows
}

# a method that is asked for models up to size k, and not to choose among them
comparison_run <- function(method, problem, k) {
  chooses <- "size_folds" %in% names(formals(method))
  new_run(method, problem, c(list(k = k), if (chooses) list(size = "criterion")))
}

# One split ---------------------------------------------------------------------------------------

# What a method makes of the training rows: the columns of its model and the R^2 of both parts,
# against the covariates alone.
score_split <- function(run, rows, k) {
  part <- fit_rows(run, rows)
  found <- compared_model(part, k)
  null <- null_scores(part, seq_len(nrow(run$problem)))
  squares <- function(score, rows) {
    off <- part$problem$y[rows, , drop = FALSE] - score[rows, , drop = FALSE]
    sum(part$problem$weights[rows] * off^2)
  }
  r_squared <- function(rows) 1 - squares(found$score, rows) / squares(null, rows)
  list(features = found$features, training = r_squared(rows), test = r_squared(-rows))
}

# The scores of some rows by the covariates alone, fitted to the training rows.
null_scores <- function(part, rows) {
  part$problem$z[rows, , drop = FALSE] %*% covariate_solver(part$train)(part$train$y)
}

# The columns and the scores of all rows of the model of size k, or the largest one below; a fit
# whose models have no size stands for the model that it chose.
compared_model <- function(part, k) {
  fit <- part$fit
  every <- seq_len(nrow(part$problem))
  if (is.numeric(fit)) {
    model <- least_squares(part$train, method_columns(fit, part$train, k))
    return(list(features = model$features,
                score = layer(model_scores(list(model), part$problem, every), 1L)))
  }
  path <- path_scores(fit, part$problem, every)
  place <- if (path$key == "size") which(path$values <= k) else path$chosen
  if (!length(place)) stop_input(sprintf("the fit has no model of at most %d terms", k))
  list(features = if (inherits(fit, "sparse_fit")) model_of(fit, path$values[max(place)])$features,
       score = layer(path$scores, max(place)))
}

method_columns <- function(columns, train, k) {
  fine <- length(columns) <= k && all(columns %in% seq_len(ncol(train))) && !anyDuplicated(columns)
  if (!fine) {
    stop_input(sprintf("a method must return a fit or at most %d different column numbers, not %s",
                       k, describe(columns)))
  }
  as.integer(columns)
}

# Columns that cannot be used or depend on others have the coefficient 0.
least_squares <- function(problem, columns) {
  work <- working(problem)
  used <- columns[problem$usable[columns]]
  beta <- matrix(0, length(columns), ncol(work$y))
  if (length(used)) {
    decomposed <- qr(working_matrix(problem, used, work$q), tol = sqrt(dependent))
    beta[columns %in% used, ] <- qr.coef(decomposed, work$y)
    beta[is.na(beta)] <- 0
  }
  user_coefficients(problem, list(list(features = columns, beta = beta, row = 1L)))[[1L]]
}

# The result --------------------------------------------------------------------------------------

new_comparison <- function(scored, problem, k, splits, quick, call) {
  of_splits <- lapply(scored, `[[`, "methods")
  methods <- names(of_splits[[1L]])
  both <- function(split) vapply(split, function(one) c(one$training, one$test), c(0, 0))
  r_squared <- aperm(vapply(of_splits, both, matrix(0, 2L, length(methods))), 3:1)
  dimnames(r_squared) <- list(NULL, methods, c("training", "test"))
  chosen <- do.call(rbind, lapply(of_splits, lapply, `[[`, "features"))
  table <- cbind(data.frame(method = methods), part_table(r_squared, "training"),
                 part_table(r_squared, "test"), row.names = NULL)
  structure(list(
    table = table, r_squared = r_squared, chosen = chosen,
    training_rows = lapply(scored, `[[`, "rows"), k = k, quick = quick, call = call,
    status = if (length(scored) < splits) "interrupted" else "complete",
    problem = without_x(problem)
  ), class = "method_comparison")
}

# Mean, standard deviation and the comparison with the first method, of one part.
part_table <- function(r_squared, part) {
  values <- matrix(r_squared[, , part], dim(r_squared)[1L])
  ahead <- values - values[, 1L]
  ahead[abs(ahead) <= 1e-9] <- 0
  table <- data.frame(
    mean = colMeans(values), sd = apply(values, 2L, stats::sd), p = apply(ahead, 2L, paired_p),
    win = colSums(ahead > 0), tie = colSums(ahead == 0), loss = colSums(ahead < 0)
  )
  names(table) <- c(part, paste(part, names(table)[-1L], sep = "_"))
  table
}

# The two-sided t-test of a mean difference of 0.
paired_p <- function(difference) {
  n <- length(difference)
  spread <- stats::sd(difference)
  if (n < 2L || spread == 0) return(NA_real_)
  2 * stats::pt(-abs(mean(difference)) / spread * sqrt(n), n - 1)
}

# Methods -----------------------------------------------------------------------------------------

#' @export
print.method_comparison <- function(x, ...) {
  check_object(x)
  train <- length(x$training_rows[[1L]])
  say(sprintf("%s compared by models of %s, on %s (%d rows to train, %d to test)",
              counted(nrow(x$table), "method"), counted(x$k, "feature"),
              counted(length(x$training_rows), "random split"), train, nrow(x$problem) - train))
  if (isTRUE(x$quick)) {
    remark("for speed, poss makes 3 searches, not 10, and rfe drops a tenth of the columns a round")
  }
  if (x$status == "interrupted") cat("interrupted: these splits were done\n")
  for (part in c("test", "training")) {
    cat(sprintf("R-squared on the %s rows:\n", part))
    print(part_words(x$table, part), row.names = FALSE)
  }
  remark(sprintf(
    "mean, sd = mean and standard deviation over splits; p = paired t-test against %s; %s",
    x$table$method[1L], "win, tie, loss = splits with a higher, an equal, a lower R-squared than it"
  ))
  print_data(x$problem)
  invisible(x)
}

part_words <- function(table, part) {
  columns <- paste0(part, c("", "_sd", "_p", "_win", "_tie", "_loss"))
  text <- stats::setNames(table[c("method", columns)],
                          c("method", "mean", "sd", "p", "win", "tie", "loss"))
  text[c("mean", "sd")] <- lapply(text[c("mean", "sd")], formatC, digits = 3L, format = "f")
  text$p <- ifelse(is.na(text$p), "", format.pval(text$p, digits = 2L, eps = 1e-4))
  text
}

#' @exportS3Method
plot_data.method_comparison <- function(x) { # nolint: object_name_linter.
  names <- dimnames(x$r_squared)
  size <- dim(x$r_squared)
  data.frame(
    split = rep(seq_len(size[1L]), size[2L] * size[3L]),
    method = factor(rep(rep(names[[2L]], each = size[1L]), size[3L]), names[[2L]]),
    part = factor(rep(names[[3L]], each = size[1L] * size[2L]), names[[3L]]),
    r_squared = as.vector(x$r_squared)
  )
}

#' @rdname compare_methods
#' @export
plot.method_comparison <- function(x, ...) {
  check_object(x)
  data <- plot_data(x)
  methods <- nlevels(data$method)
  colours <- curve_style$colour[match(c("inner", "test"), curve_style$curve)]
  fill <- grDevices::adjustcolor(colours, 0.4)
  own <- list(
    r_squared ~ part + method, data, at = rep(3 * seq_len(methods), each = 2L) + c(-0.45, 0.45),
    col = fill, border = colours, boxwex = 0.7, xaxt = "n", xlab = "", ylab = "R-squared",
    main = sprintf("%s, models of size %d", x$problem$response, x$k)
  )
  asked <- utils::modifyList(own, list(...))
  title <- asked$main
  asked$main <- NULL
  do.call(graphics::boxplot, asked)
  graphics::title(title, line = 2.4, cex.main = 1.1)
  graphics::axis(1, 3 * seq_len(methods), levels(data$method))
  legend_above(levels(data$part), fill = fill, border = colours)
  invisible(data)
}
