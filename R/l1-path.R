#' Regularisation path of the lasso, l1 logistic, Poisson and Cox regression and the l1 support
#' vector machine
#'
#' Fits least squares (the lasso), logistic regression of two or more classes, also of ordered ones,
#' regression of counts or shares, Cox regression of censored times or a linear support vector
#' machine with an l1 penalty for a path of lambda, with the duality gap of each solution and, with
#' `folds`, its held-out error.
#'
#' For each lambda the solution minimises
#' \deqn{\sum_j w_j f(y_j, v'z_j + \beta'\tilde x_j) + \lambda (\alpha \|\beta\|_1 +
#' \frac{1 - \alpha}{2} \|\beta\|_2^2),}{
#' sum_j w_j f(y_j, v'z_j + beta'xs_j) + lambda (alpha ||beta||_1 + (1 - alpha)/2 ||beta||_2^2),}
#' with \eqn{f(y, s) = (y - s)^2 / 2} (`"squared"`), \eqn{\log(1 + e^{-ys})}{log(1 + exp(-ys))}
#' (`"logistic"`), \eqn{\max(0, 1 - ys)}{max(0, 1 - ys)} (`"hinge"`), or half of the deviance of a
#' count from \eqn{e^{s + o}}{exp(s + o)} with an offset \eqn{o} (`"poisson"`, `"negbin(2)"`) or of
#' a share from \eqn{1 / (1 + e^{-s - o})}{1 / (1 + exp(-s - o))} (`"binomial"`), case weights
#' \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and standardised columns
#' \eqn{\tilde x}{xs}, as in [as_problem()]. Classes are coded -1 and +1, the second level is +1.
#' There is no 1/m: glmnet's lambda is this one divided by `sum(weights)`, with the same `alpha`.
#' For `"squared"` with `alpha` below 1 this holds for a response of variance 1 (divided by m, not
#' m - 1): glmnet scales any other response to it before it squares the coefficients.
#'
#' **The elastic net.** With `alpha` below 1 similar columns share their coefficient, where the l1
#' norm selects one of them, and a model may have more columns than there are rows.
#'
#' **Losses.** [l1_losses] describes the losses of three and more classes, of ordered classes, of
#' counts, of shares and of censored times, and what `predict()` gives for them.
#'
#' **Held-out errors.** With `folds` the path is refitted without each fold, at the same lambdas and
#' with the scales of the columns on all rows. `fit$lambda` is then chosen by the held-out criterion
#' as `size` says, the largest of equally good lambdas. Without `folds` there is no held-out error,
#' and `fit$lambda` is the smallest lambda.
#'
#' **Topic pages:** [l1_losses], [l1_solvers] (solvers, screening, exactness, time and memory),
#' [clusters], [penalty_factors].
#'
#' @inheritParams greedy_rls
#' @param loss The loss: `"squared"`, `"logistic"`, `"hinge"`, `"poisson"`, `"binomial"`,
#'   `"multinomial"`, `"ordinal"`, `"ordinal(probit)"`, `"cox"` or a negative binomial loss such as
#'   `"negbin(2)"`.
#'   `NULL`, the default, is `"cox"` for censored times, and `"squared"` for other responses.
#'   `"logistic"` and `"hinge"` require classes, `"multinomial"` three or more of them, for which
#'   `"logistic"` is the same, and `"ordinal"` and `"ordinal(probit)"` an ordered factor of three or
#'   more. `"poisson"` and `"negbin(2)"` require counts, `"binomial"` shares and `"cox"` censored
#'   times.
#' @param ties For `loss = "cox"`, the approximation for tied events, `"efron"` (the default, as of
#'   [survival::coxph()]) or `"breslow"`.
#' @param alpha The share of the l1 norm in the penalty, above 0 and at most 1. The default of 1 is
#'   the l1 norm alone, less is an elastic net, which requires another loss than `"hinge"`,
#'   `solver = "cd"`, and factors of 0, 1 and Inf in `penalty`.
#' @param grouped Whether the coefficients of a column for all classes share an l2 norm in the
#'   penalty, for `"multinomial"`; `FALSE` by default.
#' @param lambda The penalties, positive numbers, used in decreasing order; `NULL` for `nlambda`
#'   values equally spaced on the log scale from [lambda_max()] down.
#' @param nlambda Number of penalties when `lambda` is `NULL`; 100 by default. The path may end
#'   before the last of them, or with `folds` after it, see [l1_solvers].
#' @param lambda_min_ratio The smallest lambda divided by the largest, a number above 0 and below 1;
#'   `NULL` for 0.01 if there are more columns than rows or for the hinge loss, otherwise 0.0001.
#' @param k `NULL`, or the largest number of columns: the path ends before the first solution with
#'   more columns.
#' @param screen How columns are left out of computations: `"auto"`, `"lazy"`, `"gap"`, `"safe2"`,
#'   `"safe1"` or `"none"`, see [l1_solvers]. The solutions are the same.
#' @param solver `"cd"` for the active-set and coordinate descent methods, or `"ipm"` for interior
#'   points, see [l1_solvers].
#' @param tolerance Largest duality gap, relative to the objective of the null model; a positive
#'   number, 3e-4 by default.
#' @param folds Which rows are held out together, as in [greedy_rls()]; `NULL`, the default, for no
#'   held-out errors.
#' @param size With `folds`, how lambda is chosen: `"min"`, the default, the best held-out
#'   criterion; `"1se"`, the largest lambda within one standard error of it; or `"cv"`, by
#'   [size_rule]: the first lambda unless the best is clearly better; otherwise the largest lambda
#'   that is not clearly worse than the best.
#' @param criterion With `folds`: `"loss"`, the mean of the squared error, of the logistic loss, of
#'   the hinge loss or of the deviance of counts, shares, events or three and more classes;
#'   `"error"`, the misclassification rate, of three and more classes by the largest score; or
#'   `"auc"`, the area under the ROC curve.
#' @param threads Number of OpenMP threads over columns, 1 by default. Results are the same for any
#'   number.
#' @param BPPARAM `NULL`, or how BiocParallel runs the folds, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#' @param cluster `NULL`, or a cluster of R's parallel package over which the columns are spread,
#'   such as `parallel::makeCluster(2)`; without `folds`, see [clusters].
#'
#' @return An object of class `l1_path`, a [sparse_fit]. `path` has a row for every lambda:
#'   `lambda`, `size`, `objective`, `gap`, `dev_ratio` (R-squared, or the explained fraction of the
#'   null model's deviance or hinge loss), `criterion` with `se` (held out, or `dev_ratio` without
#'   `folds`), `squared` and for classes `error`, or of times and ordered classes `concordance`
#'   (held out), and counts of operations: `rounds` over the columns, `products` of columns with the
#'   residual, and `columns_kept` by a safe test.
#'   `coefficients` has the model with the best criterion of every size. `coef()`, `predict()`,
#'   `selected()` and `tidy()` take a `lambda` of the path instead of a size. `lambda_max` is the
#'   smallest lambda for which all coefficients are 0, `null_objective` the null model's objective,
#'   `unsolved` the number of smaller lambdas that the path ended before, and `solutions` a list of
#'   the solutions in working coordinates, one for every lambda. `loss`, `alpha` and `grouped` are
#'   the arguments, where `loss` is `"multinomial"` for logistic regression of three and more
#'   classes. `fitted` and `held_out` are values of the linear predictor for every loss.
#'   `fold_counts` says how many models without a fold have features at the chosen lambda. A Cox
#'   model also has `baseline`, and a fit to ordered classes `cutpoints`, see [l1_losses].
#'
#' @section Errors: As for [greedy_rls()]; a `loss` that does not suit the response or the folds,
#'   see [l1_losses]; `alpha` below 1 with the hinge loss or `solver = "ipm"`; what `solver = "ipm"`
#'   does not have, see [l1_solvers]. Ctrl-C returns the completed solutions, with a warning of
#'   class `sparsels_interrupted`.
#'
#' @references El Ghaoui, L., Viallon, V., Rabbani, T. (2010). Safe feature elimination in sparse
#' supervised learning. Technical report UCB/EECS-2010-126, University of California, Berkeley.
#' @seealso [safe_screen()], [l1_size()] for a model with a given number of columns,
#'   [threshold_coef()], [plot()][plot.sparsels_result]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(50 * 100), 50, dimnames = list(NULL, paste0("gene", 1:100)))
#' y <- x[, 3] - x[, 8] + rnorm(50)
#' fit <- l1_path(x, y, folds = 5)
#' fit
#' selected(fit)
#' best_lambda(fit, "1se")
#' coef(fit, lambda = fit$path$lambda[20])
#'
#' # an elastic net of two classes; ?l1_losses has examples of other losses
#' l1_path(x, factor(y > 0), loss = "logistic", alpha = 0.5, folds = 5, nlambda = 20)
#' @srrstats {RE3.3} `tolerance` of `l1_path()`
#' @srrstats {ML3.6b} squares, logistic, hinge, Poisson, binomial, multinomial, negative binomial,
#'   ordered classes, Cox, and functions of the user
#' @export
l1_path <- function(x, y = NULL, ..., data = NULL, loss = NULL, alpha = 1, grouped = FALSE,
                    lambda = NULL, nlambda = 100, lambda_min_ratio = NULL, ties = "efron",
                    k = NULL, screen = "auto", solver = "cd", tolerance = 3e-4, folds = NULL,
                    size = "min", criterion = "loss", threads = 1, progress = interactive(),
                    BPPARAM = NULL, cluster = NULL) {
  problem <- fitter_problem("l1_path", x, y, ..., data = data)
  problem <- absolute_penalty(loss_problem(problem, loss, ties, threads))
  control <- l1_control(problem, loss, screen, solver, tolerance, threads, alpha, grouped)
  control$progress <- check_flag(progress, "progress")
  control$BPPARAM <- check_bpparam(BPPARAM)
  control <- selection_control(control, problem, folds, criterion, size)
  if (!is.null(check_path_cluster(cluster, control$loss, solver, folds))) {
    shards <- control$shards <- open_path_shards(problem, cluster)
    on.exit(close_shards(shards))
  }
  control$lambda_max <- largest_lambda(problem, control)
  control$lambda <- if (is.null(lambda)) {
    lambda_sequence(problem, control, nlambda, lambda_min_ratio)
  } else {
    sort(unique(check_lambda(lambda)), decreasing = TRUE)
  }
  largest <- sum(problem$columns$usable)
  if (is.null(k)) k <- largest
  k <- check_largest(k, largest, "the number of usable columns")
  control$extends <- is.null(lambda) && is.null(lambda_min_ratio) && length(control$lambda) > 2L
  solved <- solve_until_turned(problem, control, k, whole = !is.null(lambda))
  new_l1_fit(problem, solved$control, solved$solutions, short_call(match.call()),
             held = solved$held)
}

# Checks -------------------------------------------------------------------------------------------

# Adds to `control` how lambda is chosen: by a criterion on held-out rows, or without folds by the
# explained fraction of the null model's deviance.
selection_control <- function(control, problem, folds, criterion, size = "min") {
  check_choice(criterion, "criterion", c("loss", "error", "auc"))
  control$rule <- check_choice(size, "size", c("cv", "min", "1se"))
  stop_argument_if(is.null(folds) && size != "min",
                   "`size = \"%s\"` needs held-out errors: give `folds`", size)
  if (is.null(folds)) return(control)
  control$folds <- as_folds(folds, problem)
  fold_basis_check(problem, control$folds)
  record <- losses[[control$loss]]
  record$check_folds(problem, control$folds, control$loss)
  stop_argument_if(!is.null(record$held_out) && is.null(record$each) && size == "cv",
                   "`size = \"cv\"` tests the losses of rows, which `loss = \"%s\"` has not: %s",
                   control$loss, "take \"min\" or \"1se\"")
  stop_input_if(criterion == "auc" && control$folds$loo,
                "`criterion = \"auc\"` needs folds of several rows here, not leave-one-out")
  control$criterion <- if (criterion == "loss" && !"search" %in% criteria[[control$loss]]$use) {
    loss_criterion(control$loss, control$folds)
  } else {
    as_criterion(if (criterion == "loss") "squared" else criterion, problem, control$folds)
  }
  control
}

# The grid -----------------------------------------------------------------------------------------

lambda_sequence <- function(problem, control, nlambda, ratio) {
  check_repeats(nlambda, "nlambda")
  if (control$lambda_max <= 0) {
    # At every lambda the null model is the solution, and at this one also without any fold: no
    # product of a column with the null model's residuals is above the product of their norms.
    control["shards"] <- list(NULL)
    norms <- vapply(responses_together(problem, control$loss), function(l) {
      sqrt(sum(null_solution(one_response(problem, l), control)$r^2))
    }, 0)
    return(max(norms) * max(working_norms(problem)) / control$alpha)
  }
  if (is.null(ratio)) {
    more_columns <- sum(problem$columns$usable) > trained_rows(problem)
    ratio <- if (more_columns || !losses[[control$loss]]$smooth) 0.01 else 1e-4
  }
  lambda <- control$lambda_max * exp(seq(0, log(check_ratio(ratio)), length.out = nlambda))
  # at lambda_max itself the solution of the hinge loss is not unique
  if (!losses[[control$loss]]$smooth) lambda[1L] <- lambda[1L] * (1 + 1e-9)
  lambda
}

check_ratio <- function(ratio) {
  valid <- is_number(ratio) && ratio > 0 && ratio < 1
  refuse_unless(valid, "lambda_min_ratio", "a number above 0 and below 1", ratio)
  ratio
}

# Solving ------------------------------------------------------------------------------------------

# A list of the `solutions` with at most k columns, `control` with their lambdas, and `held`, the
# value of held_out_paths(), NULL without folds or after Ctrl-C. Default lambdas end where nothing
# more is explained, or with folds where the held-out error has turned. With fewer columns than rows
# no default lambda is left out before: a few collinear columns explain nothing until lambda is very
# small.
solve_until_turned <- function(problem, control, k, whole) {
  tall <- sum(problem$columns$usable) < trained_rows(problem)
  solutions <- solve_path(problem, control, bound = chord_bound(problem, control), max_size = k,
                          whole = whole || !is.null(control$folds) && tall)
  control["shards"] <- list(NULL)
  ended <- isTRUE(attr(solutions, "ended"))
  few <- few_columns(solutions, k)
  stop_argument_if(isFALSE(few[1L]),
                   "the first solution has %s, more than `k`: `lambda` begins too low",
                   counted(length(solutions[[1L]]$features), "column"))
  open <- control$extends && all(few) && (ended || length(solutions) == length(control$lambda))
  grid <- control$lambda
  control$unsolved <- if (ended) length(grid) - length(solutions) else 0L
  if (ended || !all(few)) control$lambda <- grid[which(few)]
  solved <- list(solutions = solutions[few], control = control,
                 held = if (length(solutions) >= length(control$lambda)) {
                   held_out_paths(problem, control)
                 })
  while (open && !is.null(solved$held)) {
    errors <- lambda_errors(problem, solved$control, solved$held)
    # the path goes on if its last solution has the smallest error, not if no fold has an error
    if (!isTRUE(choose_model(errors, "min")$size == length(solved$solutions) - 1L)) break
    longer <- extend_path(problem, solved, grid, k)
    if (is.null(longer$held)) break
    open <- longer$open
    solved <- longer
  }
  solved
}

few_columns <- function(solutions, k) cumsum(lengths(lapply(solutions, `[[`, "features")) > k) == 0L

# The list of solve_until_turned() with half as many more lambdas, which go on from the last one as
# the `grid` does.
extend_path <- function(problem, solved, grid, k) {
  control <- solved$control
  count <- length(solved$solutions)
  ratio <- grid[3L] / grid[2L]
  more <- control$lambda[count] * ratio^seq_len(max(10L, count %/% 2L))
  more <- more[more >= least_lambda * control$lambda_max]
  added <- if (length(more)) {
    solve_path(problem, control, more, solved$solutions[[count]], max_size = k)
  }
  added <- added[few_columns(added, k)]
  control$lambda <- c(control$lambda, more[seq_along(added)])
  control$unsolved <- max(0L, length(grid) - length(control$lambda))
  list(solutions = c(solved$solutions, added), control = control,
       held = if (length(added)) held_out_paths(problem, control),
       open = length(added) == length(more))
}

# The errors of all solutions over the folds, by the residuals of rows or by the sums that a loss
# without losses of rows has for each fold. `...` are arguments of fold_errors().
lambda_errors <- function(problem, control, held, ...) {
  if (!is.null(held$each[[1L]]$sums)) {
    sums <- lapply(held$each, `[[`, "sums")
    return(fold_errors(lapply(sums, array, c(dim(sums[[1L]]), 1L)), held$parts$repetition,
                       isTRUE(control$criterion$higher), ...))
  }
  residuals <- lapply(held$scores, function(score) as.vector(problem$rows$y) - score)
  residual_errors(problem, control$folds, control$criterion, residuals, ...)
}

# the smallest default lambda, divided by the largest
least_lambda <- 1e-7

# A lower bound of the optimum for the hinge loss, used before the first solution. The optimum is
# concave in lambda, so below lambda_max it is above the chord from 0 to the objective of the null
# model.
chord_bound <- function(problem, control) {
  if (losses[[control$loss]]$smooth || !control$screen %in% c("safe1", "safe2")) return(-Inf)
  if (ncol(problem$rows$y) > 1L) {
    return(lapply(seq_len(ncol(problem$rows$y)), function(l) {
      chord_bound(one_response(problem, l), control)
    }))
  }
  null_solution(problem, control)$null * pmin(1, control$lambda / control$lambda_max) * (1 - 1e-9)
}

# The models of all solutions side by side: `used`, the columns of x that any of them uses, and
# `beta` and `covariates` as solution_models() has them.
models_side_by_side <- function(problem, solutions) {
  used <- used_features(solutions)
  factor <- decomposed_covariates(problem)$factor
  c(list(used = used), solution_models(problem, solutions, used, factor))
}

# The linear predictor of some rows of the `data`, a problem with the same columns, or of all rows
# of the problem, for every one of these models: rows x responses x models.
solution_scores <- function(problem, models, data = problem, rows = NULL) {
  rownames(models$covariates) <- colnames(problem$z)
  model <- list(features = models$used, beta = models$beta, covariates = models$covariates)
  scores <- model_scores(list(model), data, rows, column_state(problem))
  L <- ncol(problem$rows$y)
  array(scores, c(nrow(scores), L, ncol(scores) / L))
}

# The linear predictor of the rows that a solution was trained on. For least squares it is the
# response less the residual, which avoids a copy of the columns.
trained_scores <- function(problem, control, solution) {
  r <- if (control$loss == "squared" && control$solver == "cd") solution[["r"]]
  if (is.null(r) || any(problem$rows$weight == 0)) {
    return(layer(solution_scores(problem, models_side_by_side(problem, list(solution))), 1L))
  }
  problem$rows$y - r / sqrt(problem$rows$weight)
}

# Held out -----------------------------------------------------------------------------------------

# The paths without each fold, or NULL if interrupted: the `parts` of the rows, `each`, the value of
# paths_without() for each part, and `scores`, the linear predictor of all rows by the path without
# their fold, a list with an array m x responses x lambdas for every repeat, 0 for rows of weight 0.
held_out_paths <- function(problem, control) {
  if (is.null(control$folds)) return(NULL)
  parts <- held_out_rows(control$folds, problem$rows$weight > 0)
  apart <- !is.null(control$BPPARAM) || has_parallel_plan() || differs_by_rows(problem)
  together <- fold_batches(nrow(parts), apart)
  batches <- list2DF(list(rows = lapply(together, function(folds) parts$rows[folds])))
  held <- held_out(batches, function(batch) paths_without(problem, control, batch$rows), NULL,
                   "Paths without each fold", random = FALSE, control$progress, control$BPPARAM)
  if (length(held$each) < nrow(batches)) return(NULL)
  each <- unlist(held$each, recursive = FALSE)
  scores <- lapply(unique(parts$repetition), function(repetition) {
    score <- array(0, c(dim(problem$rows$y), length(control$lambda)))
    for (i in which(parts$repetition == repetition)) score[parts$rows[[i]], , ] <- each[[i]]$scores
    score
  })
  list(parts = parts, each = each, scores = scores)
}

# The numbers of the folds whose paths are computed together, in lists of about equal length. A list
# has at most ten folds, as each fold has its own vectors of all columns. Folds are computed one by
# one where they run in other processes, or where different column means replace missing values, so
# that the folds have no x in common.
fold_batches <- function(n, one_by_one) {
  side_by_side <- if (one_by_one) 1L else 10L
  unname(split(seq_len(n), sort(rep_len(seq_len(ceiling(n / side_by_side)), n))))
}

# For each of some sets of rows the path without them: `scores`, the linear predictor of these rows
# (rows x responses x lambdas), the `models` of all lambdas side by side, unless a class was lost,
# and what state_by() keeps for these models.
paths_without <- function(problem, control, each) {
  control$progress <- FALSE
  train <- lapply(each, function(rows) {
    with_left_out(without_rows(problem, rows, control$threads))$value
  })
  lost <- lapply(train, lost_classes, control$loss)
  solvable <- lengths(lost) < ncol(problem$rows$y)
  solved <- vector("list", length(each))
  if (any(solvable)) {
    solved[solvable] <- solve_paths(Map(without_lost_classes, train, lost)[solvable], control)
  }
  if (any(lengths(solved[solvable]) < length(control$lambda))) raise_interrupt()
  Map(function(train, lost, solutions, rows) {
    scores <- array(0, c(length(rows), ncol(train$rows$y), length(control$lambda)))
    if (length(solutions)) {
      models <- models_side_by_side(train, solutions)
      rownames(models$covariates) <- colnames(train$z)
      if (!ties_rows(control$loss)) scores[] <- solution_scores(train, models, problem, rows)
    }
    tied <- if (ties_rows(control$loss)) tied_errors(problem, train, control, models, rows)
    if (!is.null(tied)) scores[] <- tied$scores
    # a class without a training row, or with all of them, has the logarithm of the odds of half a
    # row against the others, or for other losses the coded class
    weighed <- which(train$rows$weight > 0)
    for (l in lost) scores[, l, ] <- train$rows$y[weighed[1L], l] *
      losses[[control$loss]]$lost(sum(train$rows$weight))
    list(scores = scores, sums = tied$sums, losses = tied$losses,
         models = if (!length(lost)) models,
         state = if (length(solutions)) state_by(train, list(list(list(features = models$used)))))
  }, train, lost, solved, each)
}

# The scores of the rows held out, the held-out sums of a loss that ties rows together and, for
# `size = "cv"`, its losses of the rows held out.
tied_errors <- function(problem, train, control, models, rows) {
  record <- losses[[control$loss]]
  all <- matrix(solution_scores(train, models), nrow(problem))
  losses <- if (control$rule == "cv") record$each(problem, train, all)[rows, , drop = FALSE]
  list(scores = if (is_cox(problem)) held_out_scores(problem, all, rows) else all[rows, ],
       sums = record$held_out(problem, train, all), losses = losses)
}

# The responses of classes that have all training rows, or none. Least squares of several classes
# takes these as any other response.
lost_classes <- function(train, loss) {
  if (is_joint(loss)) return(integer())
  classes <- train$coding$task == "binary" || train$coding$task == "multiclass" && loss != "squared"
  if (!classes) return(integer())
  y <- train$rows$y[train$rows$weight > 0, , drop = FALSE]
  which(colSums(y > 0) == 0 | colSums(y > 0) == nrow(y))
}

# The problem with another response in place of lost ones, so that the others can be solved.
without_lost_classes <- function(train, lost) {
  other <- setdiff(seq_len(ncol(train$rows$y)), lost)
  if (!length(lost) || !length(other)) return(train)
  train$rows$y[, lost] <- train$rows$y[, other[1L]]
  train$columns$products[, lost] <- train$columns$products[, other[1L]]
  train
}

# The problem with weight 0 on some rows instead of without them, so that x is not copied. The
# scales are computed from all rows.
without_rows <- function(problem, rows, threads = 1L) {
  train <- reweighted(problem, replace(case_weights(problem), rows, 0), threads)
  train$columns$usable <- train$columns$usable & problem$columns$usable
  train$columns$scale <- problem$columns$scale
  train
}

# The fit ------------------------------------------------------------------------------------------

# The fit. `chosen` is the row of the path whose lambda is chosen. The default is the row chosen by
# the errors of `held`, the value of held_out_paths(), or the last row.
new_l1_fit <- function(problem, control, solutions, call, chosen = NULL, held = NULL) {
  if (!length(solutions)) raise_interrupt()
  stopped <- length(solutions) < length(control$lambda)
  control$lambda <- control$lambda[seq_along(solutions)]
  null <- solutions[[1L]]$null
  fact <- function(name) vapply(solutions, `[[`, numeric(1), name)
  size <- lengths(lapply(solutions, `[[`, "features"))
  path <- data.frame(
    step = seq_along(solutions) - 1L, action = ifelse(size > 0L, "found", "start"),
    feature = NA_integer_, name = NA_character_, size = size, lambda = control$lambda,
    objective = fact("objective"), gap = fact("gap"), rounds = fact("rounds"),
    products = fact("products"), columns_kept = fact("kept")
  )
  penalty <- mapply(function(lambda, one) penalty_of(control, lambda, one$beta), path$lambda,
                    solutions)
  path$dev_ratio <- 1 - share_of(path$objective - penalty, null, 1)
  evaluated <- evaluate_solutions(problem, control, path, held)
  path <- evaluated$path
  control$criterion <- evaluated$criterion
  row <- if (is.null(chosen)) evaluated$row else chosen
  score <- trained_scores(problem, control, solutions[[row]])
  fit <- new_sparse_fit("l1_path", problem, list(
    lambda = control$lambda[row], path = path, size = path$size[row],
    models = models_of_sizes(problem, solutions, path, control$criterion, row),
    held_out = evaluated$held_out(row), fitted = score,
    status = if (stopped || is.null(held) && !is.null(control$folds)) "interrupted" else "complete"
  ), control, call, to_user = name_models)
  own <- c("loss", "alpha", "grouped", "lambda_max", "unsolved")
  fit[own] <- control[own]
  # about no mean, also of rows of weight 0
  if (is_cox(problem)) fit$fitted[] <- in_user_units(problem, score, problem$rows$offset)
  fit$null_objective <- null
  # made for a loss that keeps something of them
  fit <- with_kept(fit, problem, solution_scores(problem, models_side_by_side(problem, solutions)))
  fit$fold_models <- evaluated$fold_models
  columns <- (row - 1L) * ncol(problem$rows$y) + seq_len(ncol(problem$rows$y))
  filled <- vapply(held$each, function(each) any(each$models$beta[, columns] != 0), NA)
  fit$fold_counts <- c(folds = length(filled), with_features = sum(filled))
  fit$lambda_table <- path[c("lambda", "size", "criterion")]
  if (!is.null(control$rule)) fit$size_by <- control$rule
  kept <- c("features", "beta", "u", "corr", "second_order", "kkt")
  fit$solutions <- lapply(solutions, function(one) one[names(one) %in% kept])
  if (is_separable(control$loss)) warn_separated(problem, control$loss)
  seal(warn_gap(fit, control$tolerance * null))
}

# A list of the `path` with its criterion and standard errors, the `criterion`, the `row` chosen,
# `held_out`, a function of a row of the path that returns its held-out scores, and `fold_models`,
# the models without each fold at the lambda that the other folds choose. Nothing is held out
# without `folds` or if the path was interrupted.
evaluate_solutions <- function(problem, control, path, held) {
  if (is.null(held)) {
    path[c("criterion", "se")] <- list(path$dev_ratio, NA_real_)
    path[[losses[[control$loss]]$beside]] <- NA_real_
    if (problem$coding$task != "regression") path$error <- NA_real_
    return(list(path = path, held_out = function(row) replace(problem$rows$y, TRUE, NA_real_),
                criterion = list(name = "dev_ratio", higher = TRUE,
                                 label = paste("training", losses[[control$loss]]$explained)),
                row = nrow(path)))
  }
  by_rule <- control$rule == "cv"
  errors <- lambda_errors(problem, control, held, slack_of(problem), path$size,
                        gains = if (by_rule) path_gains(problem, control, held),
                        clear = if (by_rule && is_related(problem, control$folds)) TRUE)
  row <- choose_model(errors, control$rule)$size + 1L
  stop_input_if(is.na(row), "no model has an error in all folds, %s: %s, or leave out covariates",
                "as events without a fold determine a coefficient", "give fewer `folds`")
  path[c("criterion", "se")] <- lapply(error_curve(errors), as.vector)
  path <- with_other_errors(problem, control, path, held)
  held_out <- function(row) {
    each <- vapply(held$scores, function(score) as.vector(layer(score, row)),
                   numeric(length(problem$rows$y)))
    replace(problem$rows$y, TRUE, rowMeans(each))
  }
  list(path = path, held_out = held_out, criterion = control$criterion, row = row,
       fold_models = cross_fitted_paths(problem, control, held, errors))
}

# The path with errors beside its criterion: the mean squared error, for classes the error rate, and
# for times the concordance instead.
with_other_errors <- function(problem, control, path, held) {
  if (losses[[control$loss]]$beside == "concordance") {
    parts <- held$parts
    sums <- Map(function(rows, each) {
      score_sums(each$scores, scored_rows(problem, rows), list(name = "concordance"))
    }, parts$rows, held$each)
    errors <- fold_errors(lapply(sums, array, c(dim(sums[[1L]]), 1L)), parts$repetition, TRUE)
    path$concordance <- as.vector(error_curve(errors)$value)
    return(path)
  }
  judged <- lapply(held$scores, function(score) judged_residuals(problem, control$loss, score))
  table <- error_table(problem, control$folds, judged)
  path$squared <- table$criterion
  path$error <- table$error
  path
}

# The models of the paths without each fold at the lambda that the other folds choose, or NULL where
# these cannot choose or a fold has no model of some class.
cross_fitted_paths <- function(problem, control, held, errors) {
  if (any(vapply(held$each, function(path) is.null(path$models), NA))) return(NULL)
  parts <- held$parts
  # errors of rows also have the folds in which no row has a weight
  folds <- apply(control$folds$ids, 2L, function(id) sort(unique(id)), simplify = FALSE)
  numbers <- paste(rep(seq_along(folds), lengths(folds)), unlist(folds))
  places <- if (ties_rows(control$loss)) seq_len(nrow(parts)) else
    match(paste(parts$repetition, parts$fold), numbers)
  rows <- cross_fitted_choices(errors, control$rule)[places, "size"] + 1
  if (anyNA(rows)) return(NULL)
  models <- Map(function(path, row) {
    columns <- (row - 1L) * ncol(problem$rows$y) + seq_len(ncol(problem$rows$y))
    beta <- path$models$beta[, columns, drop = FALSE]
    own <- rowSums(beta != 0) > 0
    list(features = path$models$used[own], beta = beta[own, , drop = FALSE],
         covariates = path$models$covariates[, columns, drop = FALSE])
  }, held$each, rows)
  scores <- Map(function(path, row) layer(path$scores, row), held$each, rows)
  scores <- judged_parts(problem, control$loss, parts$rows, scores)
  models_without(problem, parts$rows, models, scores, lapply(held$each, `[[`, "state"))
}

# The gains of all solutions over the first, for each fold, by the loss of the path.
path_gains <- function(problem, control, held) {
  unit <- gain_units(problem, control$folds)
  if (ties_rows(control$loss)) {
    return(Map(function(rows, each) {
      gain_moments(each$losses, problem$rows$weight[rows], unit[rows])
    }, held$parts$rows, held$each))
  }
  residuals <- lapply(held$scores, function(score) as.vector(problem$rows$y) - score)
  lists <- lapply(seq_along(residuals), function(repetition) {
    losses <- gain_losses(problem, control$loss, residuals[[repetition]], huber_limit(problem))
    lapply(split(seq_len(nrow(problem)), control$folds$ids[, repetition]), function(rows) {
      gain_moments(losses[rows, , drop = FALSE], problem$rows$weight[rows], unit[rows])
    })
  })
  unlist(lists, recursive = FALSE)
}

# The model of each size is the model with the best criterion, and of equal models the one with the
# largest lambda. For the size of the row `chosen` it is the model of that row.
models_of_sizes <- function(problem, solutions, path, criterion, chosen) {
  loss <- criterion_loss(criterion, path$criterion)
  best_first <- order(seq_along(loss) != chosen, loss)
  rows <- best_first[!duplicated(path$size[best_first])]
  factor <- decomposed_covariates(problem)$factor
  models <- vector("list", max(path$size) + 1L)
  models[path$size[rows] + 1L] <- lapply(rows, function(row) {
    c(solution_model(problem, solutions[[row]], factor), row = row)
  })
  models
}

warn_gap <- function(fit, allowed) {
  unconverged <- which(!(fit$path$gap <= allowed))
  worst <- unconverged[which.max(fit$path$gap[unconverged])]
  warn_if(
    length(unconverged), "sparsels_warning_convergence",
    "%s of %d did not reach the tolerance: the largest duality gap is %s at lambda = %s, not %s",
    counted(length(unconverged), "solution"), nrow(fit$path),
    format(fit$path$gap[worst], digits = 3),
    format(fit$path$lambda[worst], digits = 4), format(allowed, digits = 3)
  )
  fit
}

# L1 methods ---------------------------------------------------------------------------------------

# Methods for the fits of l1_path() and l1_size(), in addition to the methods of every sparse_fit.

#' @rdname sparse_fit
#' @export
best_lambda <- function(object, rule = "min") {
  check_given(object, "object")
  check_made(object, "object", "l1_path", "a fit of l1_path()")
  check_choice(rule, "rule", c("min", "1se"))
  stop_input_if(is_training(object),
                "the fit has no held-out errors to choose a lambda by: give l1_path() `folds`")
  if (rule == "1se" && is.na(object$path$se[lambda_row_by(object, "min")])) stop_no_se(object)
  object$path$lambda[lambda_row_by(object, rule)]
}

#' @exportS3Method
model_of_row.l1_path <- function(fit, row) {
  model <- c(solution_model(fit$problem, fit$solutions[[row]]), row = row)
  name_models(fit$problem, list(model))[[1L]]
}

# Printing -----------------------------------------------------------------------------------------

#' @exportS3Method
print_result.l1_path <- function(x, n = NULL, whole = FALSE, ...) {
  predicted <- held_out_classes(x)
  print_page(
    whole, n, if (nrow(x$path) > 1L) function(n) lambda_rows(x, n),
    always = say(x$method, ": ", l1_title(x)),
    always = print_lambda_choice(x, predicted),
    needed = print_selected(x),
    wanted = if (is_cox(x$problem)) print_cox(x),
    wanted = loss_of(x)$print(x, model_of(x)$step + 1L),
    always = print_unscored_folds(x),
    always = print_copies(x),
    needed = print_responses(x$problem, judged_held_out(x), printed_square(x)),
    always = if (x$size > 0L) print_constant(x$problem, predicted),
    wanted = if (x$size > 0L) print_classes(x$problem, predicted, whole),
    wanted = print_spread(x),
    needed = print_rows_of(x$problem),
    always = print_properties(x$problem, "always"),
    needed = print_properties(x$problem, "needed"),
    wanted = print_properties(x$problem, "wanted"),
    always = print_path_end(x),
    wanted = print_lambda_range(x),
    always = if (x$status == "interrupted") {
      say("interrupted: this is the path up to there",
          if (!is.null(x$folds)) ", without held-out errors")
    }
  )
}

l1_title <- function(fit) {
  against <- fit$problem$coding$task == "multiclass" && !is_joint(fit$loss)
  title <- losses[[fit$loss]]$title
  paste0(if (fit$alpha == 1) title[1L] else
    paste(title[2L], sprintf("an elastic net penalty (alpha %s)", shown_parameter(fit$alpha))),
    if (isTRUE(fit$grouped)) ", grouped by columns", if (against) ", each class against the rest")
}

#' @exportS3Method
details.l1_path <- function(x) {
  columns <- intersect(lambda_columns(x), names(x$path))
  text <- shown_table(size_table(x)[columns], setdiff(columns, "size"))
  fit_details(x, text, "best model of every size")
}

print_lambda_range <- function(fit) {
  lambda <- fit$path$lambda
  say("lambda: ", values_words(lambda), "; from ", shown_parameter(fit$lambda_max),
      " on (lambda_max) all coefficients are 0")
  gap <- share_of(max(fit$path$gap), fit$null_objective)
  # a smaller gap is rounding error
  gap <- if (gap < 1e-12) "below 1e-12" else format(gap, digits = 2)
  say(if (length(lambda) > 1L) "largest duality gap: " else "duality gap: ", gap,
      " of the objective of the null model")
}

# Where a path ended early.
print_path_end <- function(fit) {
  if (fit$unsolved == 0L) return(invisible())
  say("the path ended before ", counted(fit$unsolved, "smaller lambda"),
      if (max(fit$path$dev_ratio) > path_end$enough) ", as 99.9 % is explained" else
        ", as little more was explained at the last ones")
}

# the chosen model, and the rule by which it was chosen
print_lambda_choice <- function(fit, predicted) {
  row <- chosen_row(fit)
  several <- nrow(fit$path) > 1L
  error <- if (is_training(fit)) paste(fit$criterion$label, shown(row$criterion)) else
    held_out_words(fit, row, predicted)
  held_out <- several && !is_training(fit) && !inherits(fit, "l1_size")
  end <- if (held_out && row$size > 0L) at_the_end(fit$lambda, fit$path$lambda, "the path") else ""
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
  rule <- switch(fit$size_by, min = "best ",
                 cv = if (row$size > 0L) "not clearly worse than the best, " else
                   "no model with features is clearly better, ",
                 "1se" = "largest within one standard error of the best, ")
  say(rule, model)
  count <- fit$fold_counts
  if (row$size == 0L && count["with_features"] > 0L) {
    remark(sprintf("without %d of the %s the model has features at this lambda",
                   count["with_features"], counted(count["folds"], "fold")))
  }
  if (row$size == 0L) remark_one_class(fit, error_rate_of(fit, row, predicted))
  remark(optimistic_words("it chose lambda"))
  if (fit$size_by == "min" && !is.na(row$se)) {
    row <- fit$path[lambda_row_by(fit, "1se"), ]
    remark(sprintf("largest lambda within one standard error: %s, %s",
                   shown_parameter(row$lambda), size_of_words(list(size = row$size))))
  }
}

# The marked rows of the path, and others spread over it, together `n` rows.
lambda_rows <- function(fit, n) {
  count <- nrow(fit$path)
  # a word for the chosen row, the best row and the row of the one-standard-error rule
  marks <- character(count)
  chosen <- match(fit$lambda, fit$path$lambda)
  if (inherits(fit, "l1_size")) marks[chosen] <- "found"
  if (!is_training(fit)) {
    marks[chosen] <- "chosen"
    if (!is.na(fit$path$se[chosen])) marks[lambda_row_by(fit, "1se")] <- "1se"
    marks[lambda_row_by(fit, "min")] <- "best"
  }
  marked <- utils::head(union(chosen, which(marks != "")), n)
  rows <- sort(union(spread_rows(count, n - length(marked)), marked))
  columns <- intersect(lambda_columns(fit), names(fit$path))
  text <- shown_table(fit$path[rows, columns], setdiff(columns, c("lambda", "size")))
  text$lambda <- shown_parameter(text$lambda)
  if (any(marks != "")) text <- stats::setNames(cbind(text, marks[rows]), c(names(text), ""))
  list(text = text, total = count, what = "lambda")
}

# Lambda max ---------------------------------------------------------------------------------------

#' Smallest l1 penalty at which all coefficients are zero
#'
#' The smallest lambda for which all penalised coefficients are 0, with which a regularisation path
#' begins.
#'
#' It is exact, for the objective of [l1_path()]. For losses other than `"hinge"` it is the maximum
#' over k of \eqn{|a_k' r|}, divided by `alpha`, where \eqn{a_k} is column k standardised,
#' multiplied by the square roots of the weights and residualised on the covariates, and \eqn{r} the
#' residual of the null model (with covariates only). Of several classes there is such a product for
#' each, of which with `grouped = TRUE` the l2 norm counts. For `"hinge"` that residual is not
#' unique if the classes have different weights, and lambda_max is the solution of a linear
#' programme, (21) of the paper. It is computed by Newton's method on the optimum as a function of
#' lambda, which is concave and piecewise linear: from a lambda with a solution \eqn{\beta}{beta},
#' the next one is where the tangent, \eqn{loss + \lambda \|\beta\|_1}{loss + lambda ||beta||_1},
#' equals the objective of the null model.
#'
#' @inheritParams l1_path
#'
#' @return A number, on the scale of `lambda` in [l1_path()]; 0 if all coefficients are 0 for every
#'   lambda.
#'
#' @section Cost: One pass over `x`, O(mn) or O(nonzeros) time; for `"hinge"` the solutions for a
#'   few lambdas.
#'
#' @section Errors: As for [l1_path()]; classes that are separated by the covariates alone.
#'
#' @references El Ghaoui, L., Viallon, V., Rabbani, T. (2010). Safe feature elimination in sparse
#' supervised learning. Technical report UCB/EECS-2010-126, University of California, Berkeley.
#' @seealso [l1_path()], [safe_screen()]
#' @examples
#' x <- matrix(rnorm(40 * 6), 40)
#' y <- x[, 2] + rnorm(40)
#' lambda_max(x, y)
#' lambda_max(x, factor(y > 0), loss = "logistic")
#' @export
lambda_max <- function(x, y = NULL, ..., data = NULL, loss = NULL, alpha = 1, grouped = FALSE,
                       ties = "efron") {
  problem <- fitter_problem("lambda_max", x, y, ..., data = data)
  problem <- absolute_penalty(loss_problem(problem, loss, ties))
  largest_lambda(problem, l1_control(problem, loss, alpha = alpha, grouped = grouped))
}

largest_lambda <- function(problem, control) {
  max(vapply(responses_together(problem, control$loss), function(l) {
    problem <- one_response(problem, l)
    if (!losses[[control$loss]]$smooth) return(hinge_lambda_max(problem, control))
    null <- if (is.null(control$shards)) null_solution(problem, control) else
      null_by_shards(problem, control, control$shards)
    if (is_separable(control$loss)) check_not_separated(problem, null$null, control$loss)
    above_rounding(null$max_abs_corr, working_norms(problem), null$r) / control$alpha
  }, 0))
}

# Newton's method for a concave, piecewise linear function. Tangents are above the function, so
# lambda increases up to the last corner, where the solution is the null model.
hinge_lambda_max <- function(problem, control) {
  control[c("screen", "solver", "tolerance", "progress")] <- list("lazy", "cd", 1e-12, FALSE)
  null_model <- null_solution(problem, control)
  null <- null_model$null
  check_not_separated(problem, null, control$loss)
  largest <- above_rounding(null_model$max_abs_corr, working_norms(problem), null_model$r)
  lambda <- largest
  solution <- NULL
  # if all coefficients are 0 at so small a lambda, they are at every lambda
  while (lambda > 1e-9 * largest) {
    solutions <- solve_path(problem, control, lambda, solution)
    if (!length(solutions)) raise_interrupt()
    l1 <- sum(abs(solutions[[1L]]$beta))
    reduction <- null - solutions[[1L]]$objective
    if (l1 > 0 && reduction > 1e-10 * null) {
      solution <- solutions[[1L]]
      lambda <- lambda + reduction / l1
    } else if (is.null(solution)) {
      lambda <- lambda / 2
    } else {
      return(lambda)
    }
  }
  0
}
