# Independent tasks, each with its own stream of random numbers: the outer loops of the package.

# The list of task(1), ..., task(n), run on the user's future plan when future.apply is there and
# the plan is not sequential, one after the other otherwise. Every task draws from its own
# L'Ecuyer stream, so the result depends on R's generator at the call and on nothing else: not on
# the plan, not on the number of workers. An interrupt keeps the tasks done before it: the list is
# then shorter, and its attribute "interrupted" is TRUE.
run_tasks <- function(n, task) {
  streams <- task_streams(n)
  run <- function(i) {
    tryCatch(
      with_stream(streams[[i]], task(i)),
      interrupt = identity, sparsels_interrupted = identity
    )
  }
  results <- if (has_parallel_plan()) {
    future.apply::future_lapply(
      seq_len(n), run,
      future.seed = NULL, future.packages = "sparsels"
    )
  } else {
    run_serially(n, run)
  }
  stopped <- vapply(results, inherits, logical(1), what = "condition")
  structure(results[!stopped], interrupted = any(stopped))
}

run_serially <- function(n, run) {
  results <- list()
  bar <- if (interactive()) cli::cli_progress_bar("Outer folds", total = n)
  for (i in seq_len(n)) {
    results[i] <- list(run(i))
    if (inherits(results[[i]], "condition")) break
    if (!is.null(bar)) cli::cli_progress_update(id = bar)
  }
  results
}

# A sequential plan gains nothing from future and would be held to its limit on exported data.
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

# The first element of .Random.seed holds the kinds: putting it back restores them as well.
with_stream <- function(stream, expr) {
  global <- globalenv()
  if (!exists(".Random.seed", envir = global, inherits = FALSE)) stats::runif(1)
  old <- get(".Random.seed", envir = global, inherits = FALSE)
  on.exit(assign(".Random.seed", old, envir = global))
  assign(".Random.seed", stream, envir = global)
  expr
}
