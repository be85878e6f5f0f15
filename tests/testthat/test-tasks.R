# Where the independent parts of the work run.

test_that("BiocParallel's workers give what a single process gives", {
  skip_if_not_installed("BiocParallel")
  set.seed(1)
  x <- matrix(rnorm(30 * 8), 30)
  y <- x[, 1] - x[, 2] + rnorm(30)
  pb <- as_problem(x, y)
  fit <- omp(pb, k = 2)
  calls <- alist(
    cross_validate(pb, omp, k = 2, outer = 3), permutation_test(pb, omp, k = 2, permutations = 5),
    permutation_test(pb, greedy_rls, k = 2, permutations = 30),
    stability_selection(pb, omp, pairs = 3), learning_curve(pb, omp, k = 2, repeats = 3),
    compare_methods(pb, methods = list(omp, foba), k = 2, splits = 3),
    exchange(fit, pb, lambda = 1), panel_error(pb, 1:2, random = 5),
    greedy_rls(pb, k = 2, size_folds = 3), random_selection(pb, k = 2, size = "cv"),
    omp(pb, k = 2, size = "cv"), rfe(pb, k = 2, size = "cv", size_folds = 3),
    poss(pb, k = 2, iterations = 50, size = "cv", size_folds = 3), scdp(pb, k = 2, size = "cv"),
    l1_path(pb, nlambda = 5, folds = 3),
    cv_variance(pb, kernel = kernel_linear(), n = 3, folds = 3, lambda = 1, repeats = 2),
    judge(pb, omp, k = 2, outer = 3, permutations = 5, pairs = 2, repeats = 2, seed = 3)
  )
  # forked, so that they see the package as the tests do, and once for all calls
  workers <- BiocParallel::bpstart(BiocParallel::MulticoreParam(2))
  on.exit(BiocParallel::bpstop(workers))
  same <- function(result) {
    result[c("call", "table", "seconds")] <- list(NULL)
    attr(result, "set")$call <- NULL
    result
  }
  for (call in calls) {
    set.seed(2)
    alone <- suppressWarnings(eval(call))
    set.seed(2)
    call$BPPARAM <- quote(workers)
    shared <- suppressWarnings(eval(call))
    expect_identical(same(shared), same(alone), label = deparse1(call))
  }
})

test_that("errors of BiocParallel's workers keep their class, and what is no engine is refused", {
  skip_if_not_installed("BiocParallel")
  fails <- function(i) if (i == 2L) stop_input("the second") else i
  for (workers in list(BiocParallel::SerialParam(), BiocParallel::MulticoreParam(2))) {
    expect_error(repeat_tasks(3L, "task", fails, BPPARAM = workers), "task 2: the second",
                 class = "sparsels_error_input")
    expect_identical(run_tasks(3L, identity, BPPARAM = workers)[1:3], as.list(1:3))
  }
  expect_error(permutation_test(matrix(1:8, 4), 1:4, omp, BPPARAM = 2),
               "`BPPARAM` must be NULL or such as BiocParallel::MulticoreParam\\(2\\), not 2",
               class = "sparsels_error_argument")
})
