#' Variance of a cross-validated error over random basis vectors
#'
#' Estimates the error of learning with n randomly chosen basis vectors by N-fold cross-validation
#' in three ways, many times over, and gives mean and variance of each estimate for every lambda.
#'
#' In all three every prediction is made by a model on n basis vectors that was trained without the
#' fold (Section 6.2 of the paper):
#'
#' 1. n N / (N - 1) basis vectors (rounded) are drawn once and spread evenly over the folds; each
#'    fold is held out with its basis vectors removed. One training; part of the basis changes from
#'    fold to fold.
#' 2. n basis vectors are drawn once and never held out; only the other rows are scored. One
#'    training; the basis stays the same.
#' 3. n basis vectors are drawn anew from the training rows of every fold. N trainings.
#'
#' If basis vectors are chosen with the help of `y`, approaches 1 and 2 have used the held-out rows,
#' and are optimistic. Approach 3 chooses within the training rows and is not. The variance
#' \eqn{\sum_i (e_i - \bar e)^2 / (r - 1)}{sum_i (e_i - mean)^2 / (r - 1)} over r repeats is due to
#' the basis and the folds. New data from the same source would add to it.
#'
#' The repeats run on a future plan and can be interrupted, see [parallel_runs].
#'
#' @inheritParams kernel_rls
#' @param kernel As in [kernel_rls()], with a single width.
#' @param n Number of basis vectors of every model.
#' @param folds Number of folds N, which are drawn anew in each repeat.
#' @param approach The ways to cross-validate: any of 1, 2 and 3, see Details.
#' @param repeats Number of repeats r, each with a new random basis and new folds.
#' @param select How the basis is chosen: `NULL` for at random, or a function `(problem, n)` that
#'   returns n row numbers of a problem (see [as_problem()]), such as `function(problem, n)
#'   select_basis(problem, n, "greedy", kernel = kernel_gaussian(1))`.
#' @param BPPARAM `NULL`, or how BiocParallel runs the repeats, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return A list of class `cv_variance`: `table`, a data frame with a row per approach and lambda:
#'   `approach`, `lambda`, `mean` and `variance` of the weighted mean squared error over the repeats
#'   (`NA` for a single one); `errors`, the errors themselves (repeats x lambda x approach); `n`,
#'   `folds`, `status`, `call`, and `problem` without its x.
#' @section Cost: For each repeat the cost of [kernel_rls()] and [cv_error()] with n basis vectors,
#'   N times for approach 3.
#' @section Errors: As for [kernel_rls()]; more basis vectors than a training part has rows.
#' @inherit kernel_rls references
#' @seealso [plot()][plot.sparsels_result], [cv_error()]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(200, -5, 5))
#' y <- sin(x[, 1]) + rnorm(200) / 2
#' varied <- cv_variance(x, y, kernel = kernel_gaussian(1), n = 9, folds = 5,
#'                       lambda = 2^(-4:4), repeats = 10)
#' varied
#' plot(varied)
#' @export
cv_variance <- function(x, y = NULL, ..., data = NULL, kernel = NULL, n = NULL, folds = 10,
                        lambda = NULL, approach = 1:3, repeats = 100, select = NULL,
                        intercept = TRUE, standardize = !identical(kernel, "precomputed"),
                        shift = "auto", BPPARAM = NULL) {
  problem <- fitter_problem("cv_variance", x, y, ..., data = data,
                            intercept = unless_stated(x, intercept, missing(intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  kernel <- single_kernel(kernel)
  problem <- kernel_problem(problem, kernel)
  check_shift(shift)
  repeats <- check_repeats(repeats, "repeats")
  folds <- at_most_rows(folds, problem)
  control <- variance_control(problem, n, folds, lambda, approach, select)
  check_bpparam(BPPARAM)
  train <- function(rows) {
    expansion(problem, kernel, rows_basis(rows, problem, kernel), shift)$spectrum
  }
  errors <- repeat_tasks(repeats, "repeat", function(i) {
    vapply(approach, function(one) {
      approaches[[one]](problem, control, train)
    }, numeric(length(control$lambda)))
  }, BPPARAM = BPPARAM)
  new_cv_variance(errors, problem, control, repeats, short_call(match.call()))
}

variance_control <- function(problem, n, folds, lambda, approach, select) {
  m <- nrow(problem)
  folds <- check_count(folds, "folds", m, "the number of rows", lower = 2L)
  n <- check_count(n, "n", m - ceiling(m / folds), "the rows of the smallest training part")
  valid <- has_numbers(approach) && length(approach) && all(approach %in% 1:3)
  refuse_unless(valid && !anyDuplicated(approach), "approach", "any of 1, 2 and 3", approach)
  refuse_unless(is.null(select) || is.function(select) && arguments_of(select) >= 2L, "select",
                "NULL or a function (problem, n)", select)
  # row numbers of a problem, at random or by the user's function
  selected_rows <- function(problem, n) {
    if (is.null(select)) return(sample.int(nrow(problem), n))
    rows <- select(problem, n)
    valid <- is.numeric(rows) && length(rows) == n && all(rows %in% seq_len(nrow(problem)))
    stop_input_if(!valid || anyDuplicated(rows),
                  "`select` must return %d different row numbers from 1 to %d, not %s", n,
                  nrow(problem), describe(rows))
    as.integer(rows)
  }
  lambda <- check_lambda(lambda)
  list(n = n, folds = folds, lambda = if (is.null(lambda)) lambda_grid(problem) else lambda,
       approach = as.integer(approach), select = selected_rows)
}

# The three approaches ----------------------------------------------------------------------------

# Each approach draws basis and folds and returns the error of every lambda. train(rows) is the
# spectrum on that basis.
approaches <- list(
  function(problem, control, train) {
    N <- control$folds
    n <- min(nrow(problem), round(control$n * N / (N - 1)))
    basis <- control$select(problem, n)
    rest <- setdiff(seq_len(nrow(problem)), basis)
    sets <- Map(c, deal(basis, N), rev(deal(rest, N)))
    residual <- held_out_residuals(train(basis), sets, control$lambda)
    mean_squared(scored_rows(problem, unlist(sets)), residual)
  },
  function(problem, control, train) {
    basis <- control$select(problem, control$n)
    rest <- setdiff(seq_len(nrow(problem)), basis)
    sets <- deal(rest, min(control$folds, length(rest)))
    residual <- held_out_residuals(train(basis), sets, control$lambda, remove = FALSE)
    mean_squared(scored_rows(problem, unlist(sets)), residual)
  },
  function(problem, control, train) {
    # for a basis outside the fold, holding out from a model on all rows equals training without the
    # fold
    squared <- vapply(deal(seq_len(nrow(problem)), control$folds), function(heldout) {
      training <- seq_len(nrow(problem))[-heldout]
      basis <- training[control$select(problem[training, ], control$n)]
      residual <- held_out_residuals(train(basis), list(heldout), control$lambda)
      colSums(problem$rows$weight[heldout] * residual^2, dims = 2L)
    }, numeric(length(control$lambda)))
    rowSums(matrix(squared, length(control$lambda))) / (ncol(problem$rows$y) *
                                                        sum(problem$rows$weight))
  }
)

# rows dealt out at random into N sets of nearly equal size
deal <- function(rows, N) {
  dealt <- rows[sample.int(length(rows))]
  unname(split(dealt, factor(rep_len(seq_len(N), length(rows)), seq_len(N))))
}

# The result --------------------------------------------------------------------------------------

# `errors`: for each repeat that was done, lambda x approach
new_cv_variance <- function(errors, problem, control, repeats, call) {
  done <- length(errors)
  lambda <- control$lambda
  errors <- array(unlist(errors), c(length(lambda), length(control$approach), done))
  errors <- aperm(errors, c(3L, 1L, 2L))
  dimnames(errors) <- list(NULL, format(lambda, trim = TRUE), control$approach)
  table <- data.frame(
    approach = rep(control$approach, each = length(lambda)),
    lambda = rep(lambda, length(control$approach)),
    mean = as.vector(colMeans(errors)), variance = as.vector(apply(errors, 2:3, stats::var))
  )
  new_result("cv_variance", list(
    table = table, errors = errors, n = control$n, folds = control$folds
  ), problem, call, done == repeats)
}

#' @exportS3Method
print_result.cv_variance <- function(x, ...) {
  say(sprintf("cv_variance: %d-fold mean squared error with %s, drawn %s", x$folds,
              counted(x$n, "basis vector"), counted(dim(x$errors)[1L], "time")))
  print_data(x$problem)
  if (x$status == "interrupted") cat("interrupted: fewer repeats than required\n")
  cat("where the mean over repeats is smallest:\n")
  best <- lapply(split(x$table, x$table$approach), function(one) one[which.min(one$mean), ])
  print(shown_table(do.call(rbind, best), c("mean", "variance")), row.names = FALSE)
}

#' @exportS3Method
record.cv_variance <- function(x) {
  size <- dim(x$errors)
  list(rows = data.frame(x$table[c("approach", "lambda")], estimate = x$table$mean,
                         variance = x$table$variance),
       row = data.frame(approaches = size[3L], lambdas = size[2L], repeats = size[1L], size = x$n),
       meaning = meaning_words(c(
         approach = paste("1 holds basis vectors out with their folds, 2 never, 3 draws them anew",
                          "without each fold"),
         mean = "mean squared error, averaged over repeats", variance = "its variance over repeats"
       ), names(x$table), x$problem))
}

#' @exportS3Method
picture.cv_variance <- function(x, ...) {
  data <- x$table[order(x$table$lambda), ]
  styles <- approach_style[sort(unique(data$approach)), ]
  statistics <- c("mean", if (dim(x$errors)[1L] > 1L) "variance")
  panels <- lapply(statistics, function(statistic) {
    curves <- lapply(seq_len(nrow(styles)), function(i) {
      rows <- data[data$approach == styles$approach[i], ]
      rows$lower <- rows$upper <- rows$mean <- rows[[statistic]]
      curve_layers(log2(rows$lambda), rows, styles[i, ], paste("approach", styles$approach[i]))
    })
    label <- sprintf("%s of the mean squared error of %s", statistic, x$problem$coding$response)
    new_picture(data, unlist(curves, recursive = FALSE),
                list(main = "", ylab = label, xlab = "log2(lambda)"), list(...))
  })
  new_panels(x$table, stats::setNames(panels, statistics))
}

approach_style <- data.frame(
  approach = 1:3, colour = c("#0072B2", "#D55E00", "#009E73"), line = c(1, 2, 4),
  mark = c(1, 16, 2)
)
