# How many threads a call gets; that results do not depend on it is tested with each method.

#' @srrstats {G5.9b} one seed gives one result for any number of threads and processes:
#'   `tests/testthat/test-threads.R`
threads_here <- function(threads, parts) .Call(sparsels:::C_threads_here, threads, parts)

test_that("threads are bounded by the work and by the processors", {
  expect_identical(threads_here(1L, 100L), 1L)
  expect_identical(threads_here(2L, 1L), 1L)
  expect_lte(threads_here(3L, 2L), 2L)
  expect_identical(threads_here(.Machine$integer.max, 1000000L),
                   threads_here(.Machine$integer.max - 1L, 1000000L))
  expect_lte(threads_here(.Machine$integer.max, 1000000L), 4L * parallel::detectCores())
})

test_that("any number of threads is accepted, and changes nothing", {
  set.seed(41)
  x <- matrix(rnorm(60 * 80), 60)
  y <- x[, 1] + rnorm(60)
  A <- crossprod(x) + diag(80)
  kernel <- kernel_gaussian(1 / 80)
  calls <- list(
    function(threads) greedy_rls(x, y, k = 3, threads = threads)$path,
    function(threads) greedy_rls(x, y, k = 3, folds = 5, lambda = 1, threads = threads)$path,
    function(threads) random_selection(x, y, k = 2, threads = threads)$path,
    function(threads) poss(x, y, k = 2, iterations = 99, threads = threads)$path,
    function(threads) rls(x, y, lambda = 1:2, threads = threads)$path,
    function(threads) kernel_rls(x, y, kernel = kernel, lambda = 1, threads = threads)$path,
    function(threads) lssvm(x, y, kernel = kernel, gamma = 1, threads = threads)$path,
    function(threads) fs_lssvm(x, y, kernel = kernel, gamma = 1, k = 3, threads = threads)$path,
    function(threads) l1_path(x, y, nlambda = 4, threads = threads)$path,
    function(threads) l1_size(x, y, size = 3, threads = threads)$path,
    function(threads) safe_screen(x, y, lambda = 9, threads = threads)$bounds,
    function(threads) as_problem(x, y, threads = threads)$columns$squares
  )
  for (call in calls) {
    set.seed(42)
    one <- call(1)
    set.seed(42)
    expect_identical(call(1e9), one)
  }
})

# The parent runs a parallel region of its own before the child is forked; the child is the first to
# load the package. With OpenMP of gcc two threads would then wait for ever.
test_that("a child of a process that has used OpenMP gets one thread", {
  skip_on_cran()
  skip_on_os(c("windows", "mac", "solaris"))
  folder <- tempfile("region")
  dir.create(folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  writeLines(c(
    "#include <R.h>", "void region(int *count) {", "#pragma omp parallel num_threads(2)", "  {",
    "#pragma omp atomic", "    (*count)++;", "  }", "}"
  ), "region.c")
  writeLines("PKG_CFLAGS = $(SHLIB_OPENMP_CFLAGS)\nPKG_LIBS = $(SHLIB_OPENMP_CFLAGS)",
             "Makevars")
  writeLines(c(
    sprintf(".libPaths(c(%s))", paste(dQuote(.libPaths(), FALSE), collapse = ", ")),
    "dyn.load('region.so')", "invisible(.C('region', 0L))",
    "set.seed(1)", "x <- matrix(rnorm(5e5), 500)", "y <- x[, 1] + rnorm(500)",
    "child <- parallel::mcparallel({",
    "  sparsels::greedy_rls(x, y, k = 2, size = 'criterion', threads = 2)",
    "  .Call(sparsels:::C_threads_here, 2L, 100L)", "})",
    "answer <- parallel::mccollect(child, wait = FALSE, timeout = 60)",
    "if (is.null(answer)) tools::pskill(child$pid, tools::SIGKILL)",
    "cat('answer:', answer[[1L]])"
  ), "parent.R")
  run <- function(...) {
    program <- file.path(R.home("bin"), "R")
    suppressWarnings(system2(program, c(...), stdout = TRUE, stderr = TRUE))
  }
  run("CMD", "SHLIB", "region.c")
  skip_if_not(file.exists("region.so"), "no compiler")
  answer <- run("--vanilla", "--no-echo", "-f", "parent.R")
  expect_identical(answer[length(answer)], "answer: 1")
})
