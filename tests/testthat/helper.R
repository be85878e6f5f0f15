# What several test files share.

#' @srrstats {G5.5} `set.seed()` in every test that draws
#' @srrstats {G5.10} `SPARSELS_EXTENDED_TESTS=true`, see `CONTRIBUTING.md`
for (file in list.files(pattern = "^oracle-.*[.]R$")) source(file, local = TRUE)

# testthat takes a millisecond to compare two values, and there are thousands: it does so only
# where they are not the same to the last bit.
expect_identical <- function(object, expected, ..., label = deparse1(substitute(object)),
                             expected.label = deparse1(substitute(expected))) { # nolint
  if (identical(object, expected)) return(succeed())
  testthat::expect_identical(object, expected, ..., label = label, expected.label = expected.label)
}

# The rule of testthat, of which the comparison takes milliseconds: the numbers that differ do so by
# less than the tolerance on average.
expect_equal <- function(object, expected, ..., tolerance = testthat_tolerance(),
                         label = deparse1(substitute(object)),
                         expected.label = deparse1(substitute(expected))) { # nolint
  if (are_near(object, expected, tolerance)) return(succeed())
  testthat::expect_equal(object, expected, ..., tolerance = tolerance, label = label,
                         expected.label = expected.label)
}

# testthat 3.1.6 passes over messages here.
expect_no_message <- function(code, class = "message") {
  said <- character()
  withCallingHandlers(code, message = function(condition) {
    if (inherits(condition, class)) said <<- c(said, conditionMessage(condition))
    invokeRestart("muffleMessage")
  })
  expect_identical(said, character(), label = "messages", expected.label = "none")
}

# Lists and data frames are near if all of their parts are.
are_near <- function(value, expected, tolerance) {
  if (identical(value, expected)) return(TRUE)
  alike <- typeof(value) == typeof(expected) && length(value) == length(expected) &&
    identical(attributes(value), attributes(expected))
  if (!alike) return(FALSE)
  if (is.list(value)) {
    return(all(mapply(are_near, unclass(value), unclass(expected), MoreArgs = list(tolerance))))
  }
  if (!is.double(value) || is.object(value)) return(FALSE)
  absent <- is.na(value)
  if (!identical(absent, is.na(expected))) return(FALSE)
  differ <- which(!absent & value != expected)
  is.numeric(tolerance) && isTRUE(
    mean(abs(value[differ] - expected[differ])) < tolerance * mean(abs(expected[differ]))
  )
}

expect_true <- function(object, ..., label = deparse1(substitute(object))) {
  if (identical(object, TRUE)) return(succeed())
  testthat::expect_true(object, ..., label = label)
}

# Notes the processor's time of each test, which testthat does not know of its parallel processes.
test_that <- function(desc, code) {
  call <- sys.call()
  before <- proc.time()
  on.exit(note_time(call, sum((proc.time() - before)[-3L])))
  call[[1L]] <- quote(testthat::test_that)
  eval(call, parent.frame())
}

# a line for tests/testthat.R, which names the slowest files, in a file of this process
note_time <- function(call, seconds) {
  if (!nzchar(Sys.getenv("TEST_TIMES"))) return()
  file <- sub("^test-(.*)[.]R$", "\\1", basename(utils::getSrcFilename(call)))
  cat(file, seconds, "\n", file = file.path(Sys.getenv("TEST_TIMES"), Sys.getpid()), append = TRUE)
}

# The numbers of the random problems of a test: all of them with SPARSELS_EXTENDED_TESTS=true, which
# takes several times as long, otherwise the first fifth or `few`.
problems_to_try <- function(all, few = ceiling(all / 5)) {
  extended <- identical(Sys.getenv("SPARSELS_EXTENDED_TESTS"), "true")
  seq_len(if (extended) all else few)
}

# Runs code with another value in the place of something of the package.
with_binding <- function(name, value, code) {
  space <- asNamespace("sparsels")
  put <- function(value) {
    unlockBinding(name, space)
    assign(name, value, space)
    lockBinding(name, space)
  }
  old <- space[[name]]
  on.exit(put(old))
  put(value)
  code
}

# Sends Ctrl-C to this process, and gives R the time to see it.
send_interrupt <- function() {
  tools::pskill(Sys.getpid(), tools::SIGINT)
  for (i in 1:5000) identity(i)
}

# Runs code whose progress bar sends Ctrl-C each time that so much or more is done.
interrupted_at <- function(least, code) {
  bar <- function(done, ...) if (done >= least) send_interrupt()
  with_binding("progress_bar", function(...) bar, code)
}

# Folds of a kind, for rows that need not be equally many.
folds_of_kind <- function(pb, kind) {
  switch(kind, loo = make_folds(pb, "loo"), unequal = unequal_folds(pb),
         repeated = unequal_folds(pb, repeats = 2))
}

# The search of greedy_rls() alone: no repetition in folds, no refit.
bare_rls <- function(...) greedy_rls(..., size = "criterion", refit = FALSE)

# The errors of cross_validate() are the errors of fits to the training rows of each outer fold.
expect_own_choices <- function(problem, data) {
  folds <- make_folds(problem, 2)
  outer <- cross_validate(problem, greedy_rls, outer = folds, baselines = NULL, size_folds = 3)
  alone <- vapply(1:2, function(fold) {
    held <- folds$ids == fold
    part <- greedy_rls(problem[which(!held), ], size_folds = 3)
    mean((predict(part, data[held, ]) - data$y[held])^2)
  }, 0)
  expect_equal(outer$folds$test, alone)
}

# The page without its pictures: expect_match() escapes every character of its text.
read_page <- function(page) {
  gsub("data:image/png;base64,[^\"]*", "", paste(readLines(page), collapse = " "))
}

# Prints the class and the message of a refusal, for snapshots.
refusal <- function(expr) {
  condition <- tryCatch({
    expr
    NULL
  }, error = identity)
  cat(class(condition)[1L], ": ", conditionMessage(condition), "\n", sep = "")
}

# The difference of each value relative to what is expected of it; absolute where that is nothing.
relative_errors <- function(value, expected) {
  abs(value - expected) / ifelse(abs(expected) > 1e-7, abs(expected), 1)
}

# The largest difference relative to the largest of the expected values.
relative_error <- function(value, expected) {
  max(0, abs(value - expected)) / max(abs(expected), 1e-300)
}

# A random problem with a duplicated column (5 is 2 again) and, with more than six columns, a
# constant one (7). With `trap`, column 4 is near the sum of 1 to 3, of which the response is made:
# the first to be added, and best dropped later.
# task: "one", "two" (outputs, in their own units), "binary" or "three" (classes).
random_problem <- function(m, n, task = "one", weights = FALSE, covariates = FALSE,
                           intercept = TRUE, sparse = FALSE, duplicate = TRUE, trap = FALSE, ...) {
  x <- matrix(rnorm(m * n), m)
  if (sparse) x[abs(x) < 0.7] <- 0
  if (duplicate && n > 4) x[, 5] <- x[, 2]
  if (n > 6) x[, 7] <- if (intercept) 3 else 0
  effects <- if (trap) matrix(1, 3, 2) else matrix(rnorm(6), 3)
  if (trap) x[, 4] <- rowSums(x[, 1:3]) + rnorm(m) / 2
  score <- x[, 1:3] %*% effects + rnorm(2 * m) / (if (trap) 20 else 1)
  y <- switch(task,
    one = score[, 1],
    two = score,
    binary = factor(ifelse(rank(score[, 1]) > m * 0.4, "ill", "well")),
    three = cut(rank(score[, 1]), c(0, 0.3, 0.7, 1) * m, c("a", "b", "c"))
  )
  if (sparse) x <- methods::as(x, "CsparseMatrix")
  as_problem(x, y, intercept = intercept, weights = if (weights) runif(m, 0.5, 2),
             adjust = if (covariates) cbind(age = rnorm(m)), standardize_response = FALSE, ...)
}

# N rows of a grid in which each level of each factor comes equally often, in random company.
random_cover <- function(N, ...) {
  as.data.frame(lapply(list(...), function(levels) sample(rep_len(levels, N))))
}

# One partition of unequal folds, or two of them.
unequal_folds <- function(pb, repeats = 1) {
  ids <- replicate(repeats, sample(rep(1:5, c(1, 2, 2, 3, 4), length.out = 12)))
  make_folds(pb, lapply(seq_len(repeats), function(r) rep_len(ids[, r], nrow(pb))))
}

# kernel_rls() on data in which there may be nothing to predict, which would be a warning
unwarned <- function(...) suppressWarnings(plain_kernel_rls(...), "sparsels_warning_edge")

# the losses of responses that are also classes
losses <- c("squared", "logistic", "hinge")

# kernel_rls() with the models of the paper, without an intercept and on columns as they are. Many
# oracles have no more.
plain_kernel_rls <- function(x, ..., intercept = FALSE, standardize = FALSE) {
  if (inherits(x, "sparsels_problem")) return(sparsels::kernel_rls(x, ...))
  sparsels::kernel_rls(x, ..., intercept = intercept, standardize = standardize)
}
