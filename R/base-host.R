# The connection of long work to R and its user: a progress bar, Ctrl-C and the result after it, and
# the ways in which a search may end.

# A function (done, total, columns) that moves a progress bar and says how long it will take, or
# NULL. `steady` is whether equal parts of the work take about equal times. Otherwise no time is
# given. `column_bytes` has the bytes of a column in a file. The bar then shows how much of the file
# was read.
progress_bar <- function(wanted, label, frame = parent.frame(), steady = TRUE,
                         column_bytes = NULL) {
  if (!wanted) return(NULL)
  format <- if (!steady || !is.null(column_bytes)) {
    "{cli::pb_name}{cli::pb_bar} {cli::pb_percent} {cli::pb_status}"
  }
  id <- cli::cli_progress_bar(label, total = 1, format = format, auto_terminate = FALSE,
                              .envir = frame)
  say_time <- if (steady) time_sayer(label) else function(done, total) NULL
  function(done, total, columns = 0) {
    say_time(done, total)
    status <- if (!is.null(column_bytes)) sprintf("%.1f GB read", 1e-9 * columns * column_bytes)
    # a search that drops columns makes more moves than its target size
    cli::cli_progress_update(set = min(done, total), total = total, status = status, id = id,
                             .envir = frame)
  }
}

# A function (done, total) that says once, after the first second of work, how long the rest will
# take, if that is more than ten seconds. `now` gives the time in seconds.
time_sayer <- function(label, now = function() proc.time()[["elapsed"]]) {
  from <- now()
  waits <- TRUE
  function(done, total) {
    spent <- now() - from
    if (!waits || spent < 1 || done <= 0) return(invisible())
    waits <<- FALSE
    seconds <- spent * (total - done) / done
    message_if(seconds > 10, "sparsels_message_time",
               "%s will take about %s; Ctrl-C returns what is done by then", label,
               format_seconds(seconds))
  }
}

# actions of steps whose set does not come from the set before
set_actions <- c("found", "stopped")

# stops as Ctrl-C does, for a kernel of C that has seen Ctrl-C and has no result to keep
raise_interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

warn_interrupted <- function(done, wanted, what) {
  if (done == 0L) raise_interrupt()
  message <- sprintf("interrupted after %d of %s", done, counted(wanted, what))
  warn_sparsels(paste0(message, ": the result is based on these"), "sparsels_interrupted")
}

# The value of code, or of `stopped` where Ctrl-C or a time limit ends it. `...` are handlers of
# other conditions.
until_stopped <- function(expr, stopped, ...) tryCatch(until_limit(expr), interrupt = stopped, ...)

# Runs a loop. Whether Ctrl-C or a time limit ended it, so that its last whole step is kept.
was_stopped <- function(loop) inherits(until_stopped(loop, identity), "interrupt")

# Runs code whose time setTimeLimit() may limit. Its end by the limit is an interrupt, after which
# the work done is kept, and an error when the function that the user called ends.
until_limit <- function(expr) {
  withCallingHandlers(expr, error = function(e) {
    if (!is_time_limit(e)) return()
    stop_at_end(e)
    raise_interrupt()
  })
}

is_time_limit <- function(condition) {
  limits <- c("reached elapsed time limit", "reached CPU time limit",
              "reached session elapsed time limit", "reached session CPU time limit")
  any(vapply(gettext(limits, domain = "R"), grepl, NA, conditionMessage(condition), fixed = TRUE))
}

# The error as an error of the package where R found no memory or reached a time limit. Regular
# expressions are not used, as R ends where their compiler finds no memory.
as_host_error <- function(error) {
  text <- c("cannot allocate vector of size %0.1f Gb", "vector memory exhausted (limit reached?)",
            "cannot allocate memory block of size %0.1f Gb", "memory exhausted (limit reached?)",
            "vector memory limit of %0.1f Gb reached, see mem.maxVSize()")
  known <- vapply(strsplit(c(text, gettext(text, domain = "R")), "%", fixed = TRUE), `[[`, "", 1L)
  message <- conditionMessage(error)
  if (inherits(error, "sparsels_error")) return(error)
  if (any(startsWith(message, known))) return(error_of(message, "sparsels_error_memory"))
  if (is_time_limit(error)) error_of(message, "sparsels_error_time") else error
}

# Runs the code of a function that a user calls. It ends with an error of the package where R finds
# no memory or reaches a time limit, and says each warning and message of the package once.
entered <- function(expr) {
  said <- character()
  once <- function(condition) {
    text <- conditionMessage(condition)
    if (text %in% said) tryInvokeRestart(computeRestarts(condition)[[1L]])
    said <<- c(said, text)
  }
  withCallingHandlers(expr, error = function(e) {
    classed <- as_host_error(e)
    if (!identical(classed, e)) stop(classed)
  }, sparsels_warning = once, sparsels_message = once)
}

# The function of the package that the user called ends with this error, whatever comes between. C
# calls this if R's look for Ctrl-C ends in an error.
stop_at_end <- function(condition) {
  own <- Find(function(i) identical(environment(sys.function(i)), topenv()), seq_len(sys.nframe()))
  # a time limit is an error of the package with the work done as its field `result`
  end <- function(result) {
    if (!is_time_limit(condition)) stop(condition)
    note <- if (!is.null(result)) ": the field `result` of this error has the work done by then"
    stop(error_of(paste0(conditionMessage(condition), note), "sparsels_error_time",
                  result = result))
  }
  do.call(on.exit, list(as.call(list(end, quote(returnValue(NULL)))), TRUE), envir = sys.frame(own))
}

# Sets the largest number of doubles per vector instruction (1, 2, 4 or 8), limited by the
# processor, and returns the previous value. `NULL` changes nothing. Results agree up to rounding
# error.
use_simd <- function(width = NULL) .Call(C_use_simd, width)

# Seal ---------------------------------------------------------------------------------------------

# The seal of an object: the types, lengths, dimensions and names of all its parts, as a number for
# each field. Objects are plain lists that users may edit and files may damage. Constructors seal
# objects, and check_sealed() compares the seal where a user gives an object to a function. Values
# of the same type and length are not compared. C checks the values that it reads.

seal <- function(x) {
  attr(x, "seal") <- made_shape(x)
  x
}

# The shape of x. With the namespace in it, readRDS() loads the package, which has the methods.
made_shape <- function(x) {
  shape <- .Call(C_shape, x)
  if (!is.null(shape)) attr(shape, "package") <- topenv()
  shape
}

# A working copy, which the package changes and check_sealed() accepts.
working_copy <- function(x) {
  attr(x, "seal") <- "working copy"
  x
}

# Stops if a field of x has changed since x was made. Fields may be added.
check_sealed <- function(x) {
  made <- attr(x, "seal", exact = TRUE)
  if (is_working_copy(x)) return(invisible(x))
  now <- made_shape(x)
  if (is.integer(made) && identical(now, made)) return(invisible(x))
  same <- names(now)[now == made[names(now)]]
  other <- if (is.integer(made)) setdiff(names(made), c(same, "call")) else NA
  if (length(other)) {
    what <- sprintf("an object of class '%s'", class(x)[1L])
    stop_edited(other[1L], what, if (is.data.frame(x)) ", and edit as.data.frame() of it" else "")
  }
  invisible(x)
}

# Objects that are no results: problems, folds, kernels, summaries, and matrices in place.
#' @export
print.sparsels_object <- function(x, ...) {
  check_sealed(x)
  print_result(x)
  invisible(x)
}

# Prints the words of an object, of a result with `n` rows of its table if it has a long one.
print_result <- function(x, ...) UseMethod("print_result")

# Refuses an argument that is not an object of a class of the package, or that was edited.
check_made <- function(x, name, class, must) {
  refuse_unless(inherits(x, class), name, must, x)
  check_sealed(x)
}

# The seal of an object that was changed, unless it is a working copy.
seal_again <- function(x) if (is_working_copy(x)) x else seal(x)

is_working_copy <- function(x) identical(attr(x, "seal", exact = TRUE), "working copy")

# Blocks -------------------------------------------------------------------------------------------

# Matrices that are read some columns at a time, of the class "matrix_in_place".

is_read_in_place <- function(x) inherits(x, "matrix_in_place")

# the classes of such a matrix of one kind
in_place <- function(kind) c(kind, "matrix_in_place", "sparsels_object")

is_computed <- function(x) inherits(x, "computed_matrix")

# the values of a column, of a sparse column the stored ones
column_entries <- function(x, j) if (is.matrix(x)) x[, j] else x@x[entry_places(x, j)]

# The matrix with other values of some columns, or of the stored entries of sparse columns. Entries
# that are 0 stay stored, as the columns of a curve have the same entries. `[<-` of a sparse matrix
# would drop them.
with_entries <- function(x, columns, values) {
  if (is.matrix(x)) x[, columns] <- values else x@x[entry_places(x, columns)] <- values
  x
}

entry_places <- function(x, columns) sequence(x@p[columns + 1L] - x@p[columns], x@p[columns] + 1L)

# Some rows, all by default, and columns of any x. Computed columns are not stored by that.
some_part <- function(x, rows = NULL, columns) {
  if (!is_computed(x)) {
    return(if (is.null(rows)) x[, columns, drop = FALSE] else x[rows, columns, drop = FALSE])
  }
  parts <- unclass(x)
  of <- parts$of[, columns, drop = FALSE]
  read <- sort(unique(of[of > 0L]))
  if (!is.null(rows) || length(read) < ncol(parts$source)) {
    parts$source <- parts$source[if (is.null(rows)) TRUE else rows, read, drop = FALSE]
  }
  parts$of <- array(match(of, c(0L, read)) - 1L, dim(of))
  parts$by <- parts$by[, columns, drop = FALSE]
  parts$dim <- c(nrow(parts$source), length(columns))
  parts["dimnames"] <- list(if (!is.null(parts$dimnames)) {
    list(rownames(parts$source), parts$dimnames[[2L]][columns])
  })
  parts$fill <- parts$fill[columns]
  structure(parts, class = class(x))
}

# A computed matrix with the columns `at` by these functions in pieces, the numbers of which are
# `by`. With two rows columns are products of functions `of` columns of the source.
with_functions <- function(x, at, functions, by = seq_along(functions), of = NULL) {
  parts <- unclass(x)
  by <- matrix(by + length(parts$functions), ncol = length(at))
  parts$functions <- c(parts$functions, functions)
  parts$by[seq_len(nrow(by)), at] <- by
  if (!is.null(of)) parts$of[, at] <- of
  structure(parts, class = class(x))
}

# column numbers in blocks of about `values` matrix entries each, as far as these may be in memory
column_blocks <- function(rows, columns, values = 1e5) {
  block_ranges(columns, max(1L, min(values, max_realised) %/% max(rows, 1L)))
}

# The most values of a DelayedMatrix that are read into memory unasked, 800 MB as doubles. Of a
# sparse one only the values that are not 0 count.
max_realised <- 1e8

# A DelayedMatrix in memory: a plain matrix, or a sparse one of the Matrix package.
read_delayed <- function(x, called) {
  need_package("DelayedArray")
  if (!ncol(x)) return(as.matrix(x))
  refuse_size <- function(stored, words) {
    stop_input_if(
      stored > max_realised,
      "`%s` is a DelayedMatrix of %.0f x %.0f values, %s: %s, or as.matrix() if all are meant",
      called, nrow(x), ncol(x), words, "first keep fewer features, such as those that vary most"
    )
  }
  blocks <- column_blocks(nrow(x), ncol(x), 1e7)
  if (DelayedArray::is_sparse(x)) {
    stored <- 0
    parts <- lapply(blocks, function(block) {
      part <- methods::as(x[, block, drop = FALSE], "dgCMatrix")
      stored <<- stored + length(part@x)
      refuse_size(stored, sprintf("sparse, more than %.3g GB in memory", 12e-9 * stored))
      part
    })
    return(do.call(cbind, unname(parts)))
  }
  size <- prod(as.double(dim(x)))
  refuse_size(size, sprintf("%.3g GB in memory", 8e-9 * size))
  values <- NULL
  for (block in blocks) {
    part <- as.matrix(x[, block, drop = FALSE])
    if (is.null(values)) values <- matrix(part[0L][1L], nrow(x), ncol(x), dimnames = dimnames(x))
    values[, block] <- part
  }
  values
}

# at most `n` of `count` rows, the first and the last among them
spread_rows <- function(count, n) round(seq(1, count, length.out = min(n, count)))

# Matrices of the Matrix package -------------------------------------------------------------------

# A function of base that takes matrices of the Matrix package, too. That package takes longer to
# load than this one, so it is loaded when there is such a matrix.
for_sparse <- function(name) {
  function(x, ...) {
    sparse <- isS4(x) || ...length() > 0L && isS4(..1)
    same <- if (sparse) getExportedValue("Matrix", name) else get(name, baseenv())
    same(x, ...)
  }
}

crossprod <- for_sparse("crossprod")
tcrossprod <- for_sparse("tcrossprod")
rowSums <- for_sparse("rowSums") # nolint: object_name_linter.
colSums <- for_sparse("colSums") # nolint: object_name_linter.
diag <- for_sparse("diag")
t <- for_sparse("t")

# Independent tasks --------------------------------------------------------------------------------

# Independent tasks, each with a separate stream of random numbers: the outer loops of the package.

# The results of task(1), ..., task(n), as run_tasks() makes them. An error names the `what` that it
# is from. An interrupt leaves the results before it, with a warning, and is passed on when there
# are none.
repeat_tasks <- function(n, what, task, progress = interactive(), BPPARAM = NULL,
                         names = seq_len(n)) {
  label <- paste0(toupper(substr(what, 1L, 1L)), substring(what, 2L), "s")
  results <- run_tasks(n, function(i) in_context(paste(what, names[i]), task(i)), label,
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
    until_stopped(with_left_out(if (random) with_stream(streams[[i]], task(i)) else task(i)),
                  identity)
  }
  results <- if (!is.null(BPPARAM)) {
    # BiocParallel wraps errors of its workers. Here the first error keeps its class.
    kept <- function(i) {
      tryCatch(run(i), error = function(e) structure(list(e), class = "task_error"))
    }
    answers <- BiocParallel::bplapply(seq_len(n), kept, BPPARAM = BPPARAM)
    failed <- Find(function(answer) inherits(answer, "task_error"), answers)
    if (!is.null(failed)) stop(failed[[1L]])
    answers
  } else if (apart && has_parallel_plan()) {
    future.apply::future_lapply(seq_len(n), run, future.seed = NULL, future.packages = "sparsels")
  } else {
    run_serially(n, run, label, progress)
  }
  stopped <- vapply(results, inherits, NA, what = "condition")
  results <- results[!stopped]
  left_out <- lapply(results, `[[`, "left_out")
  lost <- sum(lengths(left_out) > 0L)
  if (lost) {
    say_left_out(unique(unlist(left_out)), sprintf("in the training rows of %d of %s", lost,
                                                   counted(length(results), "part")))
  }
  structure(lapply(results, `[[`, "value"), done = which(!stopped))
}

# Covariates that are left out of a part of the rows (see without_dependent()) are said in one
# message for all parts. list(value, left_out: the names of the covariates left out)
with_left_out <- function(expr) {
  left_out <- NULL
  value <- withCallingHandlers(expr, sparsels_message_covariates = function(condition) {
    if (condition$of_part) left_out <<- union(left_out, condition$covariates)
    tryInvokeRestart("muffleMessage")
  })
  list(value = value, left_out = left_out)
}

run_serially <- function(n, run, label, progress) {
  results <- list()
  bar <- progress_bar(progress, label)
  for (i in seq_len(n)) {
    results[i] <- list(run(i))
    if (inherits(results[[i]], "condition")) break
    stopped <- until_stopped({
      if (!is.null(bar)) bar(i, n)
      Sys.sleep(0)
      NULL
    }, identity)
    if (is.null(stopped)) next
    if (i == n) results[i] <- list(stopped)
    break
  }
  results
}

check_bpparam <- function(BPPARAM) {
  if (is.null(BPPARAM)) return(NULL)
  refuse_unless(inherits(BPPARAM, "BiocParallelParam"), "BPPARAM",
                "NULL or such as BiocParallel::MulticoreParam(2)", BPPARAM)
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
  streams <- list(c(10407L, sample.int(.Machine$integer.max, 6)))
  for (i in seq_len(n - 1)) streams[[i + 1]] <- parallel::nextRNGStream(streams[[i]])
  streams
}

with_stream <- function(stream, expr) {
  old <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  # the first element of .Random.seed holds the kinds of generators, which are restored with it
  on.exit(if (is.null(old)) {
    RNGkind("default", "default", "default")
    rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", old, envir = globalenv())
  })
  assign(".Random.seed", stream, envir = globalenv())
  expr
}

# A separate stream for folds that are the same in every call, with the usual start of the
# generator.
fixed_stream <- c(10407L, rep(12345L, 6L))

# The stream of a seed. The step to the next stream makes the streams of near seeds unlike.
seed_stream <- function(seed) parallel::nextRNGStream(replace(fixed_stream, 2L, as.integer(seed)))

# bounds of the safe tests for all columns of a problem, by one of three kernels
safe_call <- function(kernel, work, control, ...) {
  uninterrupted(.Call(C_safe_bounds, work, list(
    kernel = kernel, loss = control$loss, ..., threads = control$threads, progress = NULL,
    user_loss = NULL
  )))
}

# The answer of a kernel, or the interrupt that ended it. Some kernels then have no answer.
uninterrupted <- function(answer) {
  stopped <- is.null(answer) || is.list(answer) && identical(answer$status, "interrupted")
  if (stopped) raise_interrupt() else answer
}

# Blocks of rows -----------------------------------------------------------------------------------

# 1, ..., count in blocks of `size`
block_ranges <- function(count, size) {
  first <- seq(1, by = size, length.out = ceiling(count / size))
  Map(seq.int, first, pmin(first + size - 1, count))
}

# The number of rows with `width` values each in a block: large enough that computing their R factor
# costs little more than computing their products.
rows_at_a_time <- function(width) max(4 * width, most_term_values * 0.4 %/% width)

# The number of values of all terms (rows x terms) above which the terms are not all held in memory.
most_term_values <- 1e7

# Tables ------------------------------------------------------------------------------------------

# A data frame of these columns, matrices among them. Columns that are NULL are left out.
new_table <- function(columns, rows = NROW(columns[[1L]])) {
  columns <- without_null(columns)
  attributes(columns) <- list(names = names(columns), row.names = .set_row_names(rows),
                              class = "data.frame")
  columns
}

# The columns of a table from its rows, each of which is a list.
stacked <- function(rows, columns) {
  lapply(stats::setNames(nm = columns), function(name) unlist(lapply(rows, `[[`, name)))
}

without_null <- function(values) values[!vapply(values, is.null, NA)]

# Some rows of a data frame, which has matrices among its columns. Levels without a row are dropped.
some_rows <- function(table, rows) {
  columns <- lapply(table, function(column) {
    if (is.matrix(column)) return(column[rows, , drop = FALSE])
    if (is.factor(column)) column[rows, drop = TRUE] else column[rows]
  })
  new_table(columns, if (length(columns)) NROW(columns[[1L]]) else 0L)
}
