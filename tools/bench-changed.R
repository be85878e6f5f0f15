# Runs the scripts of bench/ whose sources changed since their results were saved:
#
#   make bench-changed DATA=DIR                    or Rscript tools/bench-changed.R DIR
#   Rscript tools/bench-changed.R list             which these are
#
# The second line of a result has the command that made it and the hash of what it measures
# (bench/sources.R). DIR is the directory of data that bench/README.md describes. Commands that need
# it are left out without it. A script that fails does not stop the others.

source("bench/sources.R")

words <- commandArgs(trailingOnly = TRUE)
only_list <- "list" %in% words
directory <- setdiff(words, "list")
if (length(directory) > 1L || !all(dir.exists(directory))) {
  stop("usage: Rscript tools/bench-changed.R [list] [DIR], where DIR is a directory")
}

stamp_pattern <- "^Rscript (bench/\\S+)( .*)?; sources ([0-9a-f]{12})$"

# list(result, script, words, hash); NULL for a result without a stamp
stamp_of <- function(result) {
  line <- grep(stamp_pattern, readLines(result, n = 3L, warn = FALSE), value = TRUE)
  if (!length(line)) return(NULL)
  part <- function(i) sub(stamp_pattern, paste0("\\", i), line[1L])
  list(result = result, script = part(1L), words = strsplit(trimws(part(2L)), " +")[[1L]],
       hash = part(3L))
}

results <- list.files("bench/results", "[.]txt$", recursive = TRUE, full.names = TRUE)
stamps <- Filter(Negate(is.null), lapply(results, stamp_of))
scripts <- unique(vapply(stamps, `[[`, "", "script"))
now <- lapply(stats::setNames(scripts, scripts), sources_hash)
changed <- Filter(function(one) !identical(now[[one$script]], one$hash), stamps)
command_of <- function(one) paste(c(one$script, one$words), collapse = " ")
commands <- unique(vapply(changed, command_of, ""))
cat(sprintf("%d of %d results with a hash are of other sources; %d commands\n", length(changed),
            length(stamps), length(commands)))

failed <- character()
for (command in commands) {
  needs <- grepl("\\bDIR\\b", command)
  run <- !only_list && !(needs && !length(directory))
  cat(if (!only_list && !run) "left out, needs DIR: ", command, "\n", sep = "")
  if (!run) next
  arguments <- strsplit(command, " ", fixed = TRUE)[[1L]]
  if (needs) arguments <- sub("\\bDIR\\b", directory, arguments)
  if (system2(file.path(R.home("bin"), "Rscript"), shQuote(arguments)) != 0L) {
    failed <- c(failed, command)
  }
}
if (length(failed)) {
  cat("failed:", failed, sep = "\n  ")
  quit(status = 1L)
}
