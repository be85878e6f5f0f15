# The runner of run.sh. Cases are tried in child processes, so that one which ends R is a report
# like any other: a child writes the number of a case down before it begins.
#   Rscript fuzz.R <folder> [seconds] [seed]    all of it
#   Rscript fuzz.R <folder> case <id>           one case
#   Rscript fuzz.R <folder> child <seed> <first place in the order> <seconds>
source("tests/testthat/fuzz-values.R")
told <- commandArgs(TRUE)
folder <- told[1L]
at_file <- file.path(folder, "at")
found_file <- file.path(folder, "found")
says_file <- file.path(folder, "says")

seconds_for_a_call <- 20
seconds_for_a_child <- 60

# Cases --------------------------------------------------------------------------------------------

# The number of a case is that of its argument and value, or beyond these of its field and edit.
all_cases <- function(world) {
  arguments <- argument_places()
  fields <- field_places(world)
  list(arguments = arguments, fields = fields,
       values = nrow(arguments) * length(fuzz_values),
       count = nrow(arguments) * length(fuzz_values) + length(fields$path) * length(fuzz_edits))
}

# Numbers of all cases: first every argument with some value, then rounds in which every argument
# gets another value, and among them rounds of edits of every field.
order_of_cases <- function(cases, seed) {
  set.seed(seed)
  rounds <- function(places, kinds) {
    first <- sample.int(kinds, places, replace = TRUE)
    kind <- (outer(first, seq_len(kinds), "+") - 2L) %% kinds + 1L
    round <- (col(kind) - 1 + stats::runif(length(kind))) / kinds
    list(id = (row(kind) - 1L) * kinds + kind, round = round)
  }
  arguments <- rounds(nrow(cases$arguments), length(fuzz_values))
  arguments$round[, 1L] <- arguments$round[, 1L] - 1
  fields <- rounds(length(cases$fields$path), length(fuzz_edits))
  c(arguments$id, cases$values + fields$id)[order(c(arguments$round, fields$round))]
}

# what a case is: a call, an argument and its value, or an object, a field and its edit
case_parts <- function(id, cases) {
  value <- id <= cases$values
  if (!value) id <- id - cases$values
  kinds <- if (value) fuzz_values else names(fuzz_edits)
  place <- (id - 1L) %/% length(kinds) + 1L
  kind <- kinds[[(id - 1L) %% length(kinds) + 1L]]
  if (!value) return(list(cases$fields$object[place], cases$fields$path[[place]], kind))
  list(fuzz_calls[[cases$arguments$call[place]]], cases$arguments$argument[place], kind)
}

try_case <- function(id, cases, world) {
  try_it <- if (id <= cases$values) try_value else try_edit
  do.call(try_it, c(case_parts(id, cases), world, seconds_for_a_call), quote = TRUE)
}

case_words <- function(id, cases, world) {
  parts <- case_parts(id, cases)
  if (id > cases$values) return(do.call(edit_words, parts))
  call <- do.call(attacked_call, c(parts, world), quote = TRUE)
  paste(deparse(call, 500L), collapse = " ")
}

# A child ------------------------------------------------------------------------------------------

run_child <- function(seed, from, seconds) {
  grDevices::pdf(NULL)
  world <- fuzz_world()
  cases <- all_cases(world)
  order <- order_of_cases(cases, seed)
  ends <- proc.time()[["elapsed"]] + seconds
  place <- from
  while (place <= length(order) && proc.time()[["elapsed"]] < ends) {
    writeLines(format(c(place, order[place]), scientific = FALSE, trim = TRUE), at_file)
    found <- try_case(order[place], cases, world)
    if (!is.null(found) && nrow(found)) {
      lines <- paste(order[place], found$call, gsub("[\t\n]", " ", found$what), sep = "\t")
      cat(lines, file = found_file, sep = "\n", append = TRUE)
    }
    place <- place + 1L
  }
  writeLines(c(format(place, scientific = FALSE), "done"), at_file)
}

child <- function(..., seconds) {
  suppressWarnings(system2(
    "Rscript", c("--vanilla", "tools/fuzz/fuzz.R", folder, ...), stdout = says_file,
    stderr = says_file, timeout = seconds, stdin = ""
  ))
}

# All ----------------------------------------------------------------------------------------------

run_all <- function(seconds, seed) {
  unlink(c(at_file, found_file))
  world <- fuzz_world()
  cases <- all_cases(world)
  cat(sprintf("seed %d, %d s, %d cases\n", seed, seconds, cases$count))
  ends <- proc.time()[["elapsed"]] + seconds
  from <- 1L
  repeat {
    left <- ends - proc.time()[["elapsed"]]
    if (left <= 0 || from > cases$count) break
    time <- min(left, seconds_for_a_child)
    unlink(at_file)
    status <- child("child", seed, from, time, seconds = time + 3 * seconds_for_a_call)
    at <- if (file.exists(at_file)) readLines(at_file) else character()
    if (!length(at)) stop("no case was tried:\n", paste(readLines(says_file), collapse = "\n"))
    from <- as.integer(at[1L])
    if (at[2L] == "done") next
    id <- as.integer(at[2L])
    said <- grep("ERROR: |runtime error|caught|    #[0-3] ", readLines(says_file, warn = FALSE),
                 value = TRUE)
    what <- sprintf("R ended with status %d: %s", status,
                    paste(trimws(utils::head(said, 8L)), collapse = " "))
    cat(paste(id, case_words(id, cases, world), what, sep = "\t"), file = found_file, sep = "\n",
        append = TRUE)
    from <- from + 1L
  }
  report(from - 1L, cases)
}

# one line for each message of each function: its first call, and how many there were
report <- function(tried, cases) {
  lines <- if (file.exists(found_file)) readLines(found_file) else character()
  words <- as.character(unlist(strsplit(lines, "\t")))
  found <- as.data.frame(matrix(words, ncol = 3L, byrow = TRUE))
  if (nrow(found)) {
    key <- paste(sub("[(].*", "", found[[2L]]), gsub("[0-9.]+", "#", found[[3L]]))
    times <- table(key)
    first <- found[!duplicated(key), ]
    cat(sprintf("case %s (%d like it): %s\n    %s\n", first[[1L]], times[unique(key)], first[[2L]],
                first[[3L]]), sep = "")
  }
  edits <- sum(as.integer(found[[1L]]) > cases$values)
  cat("one again: tools/fuzz/run.sh case ID\n")
  cat(sprintf("%d of %d cases tried; failed: %d arguments, %d calls of edited objects\n", tried,
              cases$count, nrow(found) - edits, edits))
  quit(status = nrow(found) > 0L)
}

library(sparsels)
if (identical(told[2L], "case")) {
  world <- fuzz_world()
  cases <- all_cases(world)
  cat(case_words(as.integer(told[3L]), cases, world), "\n")
  print(try_case(as.integer(told[3L]), cases, world))
} else if (identical(told[2L], "child")) {
  run_child(as.integer(told[3L]), as.integer(told[4L]), as.numeric(told[5L]))
} else {
  given <- as.numeric(told[-1L])
  run_all(if (length(given)) given[1L] else 120,
          if (length(given) > 1L) given[2L] else as.integer(Sys.Date()))
}
