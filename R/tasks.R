# Independent tasks, each with a separate stream of random numbers: the outer loops of the package.

# The results of task(1), ..., task(n), as run_tasks() makes them. An error names the `what` that it
# is from. An interrupt leaves the results before it, with a warning, and is passed on when there
# are none.
repeat_tasks <- function(n, what, task, progress = interactive(), BPPARAM = NULL) {
  label <- paste0(toupper(substr(what, 1L, 1L)), substring(what, 2L), "s")
  results <- run_tasks(n, function(i) in_context(paste(what, i), task(i)), label,
                       progress = progress, BPPARAM = BPPARAM)
  if (length(results) < n) warn_interrupted(length(results), n, what)
  results
}

# The list of task(1), ..., task(n). BiocParallel runs the tasks if BPPARAM is given. Otherwise the
# user's future plan runs them if future.apply is installed, the plan is not sequential and tasks
# may run in other processes (`apart`). Otherwise they run one after the other. With `random` every
# task draws from a separate L'Ecuyer stream, so the result depends only on R's generator at the
# call, not on the plan or the number of workers. Without `random` R's generator is not changed. An
# interrupt keeps the tasks done before it, and the attribute "done" has their numbers.
run_tasks <- function(n, task, label = "Outer folds", random = TRUE, progress = interactive(),
                      BPPARAM = NULL, apart = TRUE) {
  streams <- if (random) task_streams(n)
  run <- function(i) {
    tryCatch(
      if (random) with_stream(streams[[i]], task(i)) else task(i),
      interrupt = identity
    )
  }
  results <- if (!is.null(BPPARAM)) {
    run_on_bioc(n, run, BPPARAM)
  } else if (apart && has_parallel_plan()) {
    future.apply::future_lapply(
      seq_len(n), run,
      future.seed = NULL, future.packages = "sparsels"
    )
  } else {
    run_serially(n, run, label, progress)
  }
  stopped <- vapply(results, inherits, logical(1), what = "condition")
  structure(results[!stopped], done = which(!stopped))
}

run_serially <- function(n, run, label, progress) {
  results <- list()
  bar <- progress_bar(progress, label)
  for (i in seq_len(n)) {
    results[i] <- list(run(i))
    if (inherits(results[[i]], "condition")) break
    stopped <- tryCatch(between_tasks(bar, i, n), interrupt = identity)
    if (is.null(stopped)) next
    if (i == n) results[i] <- list(stopped)
    break
  }
  results
}

# Raises a Ctrl-C that came meanwhile here, where the results are complete, and not later.
between_tasks <- function(bar, i, n) {
  if (!is.null(bar)) bar(i, n)
  Sys.sleep(0)
  NULL
}

# BiocParallel wraps errors of its workers. Here the first error keeps its class.
run_on_bioc <- function(n, run, BPPARAM) {
  kept <- function(i) tryCatch(run(i), error = function(e) structure(list(e), class = "task_error"))
  results <- BiocParallel::bplapply(seq_len(n), kept, BPPARAM = BPPARAM)
  failed <- Find(function(result) inherits(result, "task_error"), results)
  if (!is.null(failed)) stop(failed[[1L]])
  results
}

# whether run_tasks() shares tasks among processes
runs_apart <- function(BPPARAM) !is.null(BPPARAM) || has_parallel_plan()

check_bpparam <- function(BPPARAM) {
  if (is.null(BPPARAM)) return(NULL)
  if (!inherits(BPPARAM, "BiocParallelParam")) {
    refuse("BPPARAM", "NULL or such as BiocParallel::MulticoreParam(2)", BPPARAM)
  }
  need_package("BiocParallel")
  BPPARAM
}

# A sequential plan gains nothing from future and would be subject to its limit on exported data.
has_parallel_plan <- function() {
  requireNamespace("future.apply", quietly = TRUE) && !inherits(future::plan(), "sequential")
}

# n streams from one draw of R's generator, whatever its kind. 10407 is .Random.seed[1] of
# "L'Ecuyer-CMRG" with R's default normals and sampling.
task_streams <- function(n) {
  first <- c(10407L, sample.int(.Machine$integer.max, 6))
  streams <- list(first)
  for (i in seq_len(n - 1)) streams[[i + 1]] <- parallel::nextRNGStream(streams[[i]])
  streams
}

with_stream <- function(stream, expr) {
  old <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  on.exit(restore_generator(old))
  assign(".Random.seed", stream, envir = globalenv())
  expr
}

# The first element of .Random.seed holds the kinds of generators, so restoring it restores them. A
# session without random numbers so far keeps this state.
restore_generator <- function(old) {
  if (!is.null(old)) return(assign(".Random.seed", old, envir = globalenv()))
  RNGkind("default", "default", "default")
  rm(".Random.seed", envir = globalenv())
}

# A separate stream for folds that are the same in every call, with the usual start of the
# generator.
fixed_stream <- c(10407L, rep(12345L, 6L))
