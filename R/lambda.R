# The ridge parameter of a search, when the user does not give one.

# Multiples of the mean sum of squares of a column. With a large lambda a search chooses columns
# that are good by themselves, with a small lambda columns that are good together. A large lambda
# suits data with many more columns than rows. A small one suits tall data and strong signals. The
# multiples decrease, as pick() requires.
lambda_multiples <- c(16, 1 / 4)

# The meaning of `lambda`: its values, a function of a problem that gives the values for a training
# part, and the rule in words. Without `grid` there are no folds to choose by.
lambda_choice <- function(lambda, problem, grid) {
  if (identical(lambda, "full")) return(full_choice(problem, grid))
  if (is.null(lambda)) {
    multiples <- if (grid) lambda_multiples else max(lambda_multiples)
    values <- function(problem) multiples * mean_square(problem)
    words <- sprintf("the default, %s times the mean sum of squares of a column", format(multiples))
    rule <- if (grid) "chosen by cross-validation" else words
  } else {
    lambda <- sort(unique(check_lambda(lambda)), decreasing = TRUE)
    values <- function(problem) lambda
    rule <- if (length(lambda) > 1L) "chosen by cross-validation" else "given"
  }
  list(lambda = values(problem), values = values, rule = rule)
}

# The mean sum of squares of the usable working columns: the number of rows when they are
# standardised and there are no weights and no covariates.
mean_square <- function(problem) {
  mean((problem$rss / problem$scale^2)[problem$usable])
}

# The paper's choice ------------------------------------------------------------------------------

full_choice <- function(problem, grid) {
  # without each fold it is made again
  announce_full(problem, if (grid) 11 else 1)
  lambda <- ridge_lambda(problem)
  edge <- lambda %in% range(lambda_grid)
  rule <- paste0("chosen by leave-one-out with all columns", if (edge) ", the end of the grid")
  list(lambda = lambda, values = ridge_lambda, rule = rule)
}

announce_full <- function(problem, times) {
  seconds <- times * full_operations(problem) / full_speed
  if (seconds > 120) {
    stop_input(sprintf(paste(
      "`lambda = \"full\"` would take about %s, for a ridge model of %d rows on all %d columns:",
      "give a number, or leave `lambda` out"
    ), format_seconds(seconds), trained_rows(problem), sum(problem$usable)),
    "sparsels_error_argument")
  }
  if (seconds > 5) {
    message(sprintf("lambda = \"full\": leave-one-out with all columns takes about %s",
                    format_seconds(seconds)))
  }
}

# Operations of ridge_lambda(): products of the columns or of the rows, whichever are fewer, their
# eigenvectors, and the residuals for every lambda.
full_operations <- function(problem) {
  m <- as.double(trained_rows(problem))
  n <- as.double(sum(problem$usable))
  r <- min(m, n)
  m * n * r + 10 * r^3 + 2 * length(lambda_grid) * m * r
}

# operations a second of the plain BLAS that comes with R
full_speed <- 2e9

lambda_grid <- 2^(-15:15)

# The best leave-one-out squared error with all columns. Adjacent values of the grid differ by a
# factor of two, so the digits that the Gram matrix loses do not matter.
ridge_lambda <- function(problem) {
  problem <- weighted_rows(problem)
  sets <- as.list(seq_len(nrow(problem)))
  residuals <- held_out_residuals(gram_spectrum(problem), sets, lambda_grid)
  losses <- colSums(problem$weights * residuals^2, dims = 2L)
  lambda_grid[choose_row(losses, simplest = order(-lambda_grid))]
}
