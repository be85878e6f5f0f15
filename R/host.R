# What R and its user are to long work: a progress bar, Ctrl-C and what it leaves, and how a search
# may end.

# A function (done, total) that moves a progress bar, or NULL.
progress_bar <- function(wanted, label, frame = parent.frame()) {
  if (!wanted) return(NULL)
  id <- cli::cli_progress_bar(label, total = 1, .envir = frame)
  function(done, total) cli::cli_progress_update(set = done, total = total, id = id, .envir = frame)
}

# how a search ended, in the order of the kernels
statuses <- c("complete", "early_stop", "interrupted", "move_limit")

# stops as Ctrl-C does, where a kernel of C has seen it and nothing is done that could be kept
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
# processor, and returns the previous value; `NULL` changes nothing. Results agree up to rounding
# error.
use_simd <- function(width = NULL) .Call(C_use_simd, width)
