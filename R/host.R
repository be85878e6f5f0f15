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
    if (seconds > 10) {
      message_sparsels(sprintf("%s will take about %s; Ctrl-C returns what is done by then",
                               label, format_seconds(seconds)), "sparsels_message_time")
    }
  }
}

# actions of steps whose set does not come from the set before
set_actions <- c("found", "stopped")

# how a search ended, in the order of the kernels
statuses <- c("complete", "early_stop", "interrupted", "move_limit")

# stops as Ctrl-C does, for a kernel of C that has seen Ctrl-C and has no result to keep
raise_interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

warn_interrupted <- function(done, wanted, what) {
  if (done == 0L) raise_interrupt()
  message <- sprintf("interrupted after %d of %s", done, counted(wanted, what))
  warn_sparsels(paste0(message, ": the result is that of these"), "sparsels_interrupted")
}

# Sets the largest number of doubles per vector instruction (1, 2, 4 or 8), limited by the
# processor, and returns the previous value. `NULL` changes nothing. Results agree up to rounding
# error.
use_simd <- function(width = NULL) .Call(C_use_simd, width)
