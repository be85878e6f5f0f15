# Functions shared by the scripts of bench/, which are run from the root of the repository.

if (!requireNamespace("sparsels", quietly = TRUE)) {
  stop("the package sparsels is not installed: R CMD INSTALL . (or point R_LIBS at its library)")
}
if (!file.exists("bench/common.R")) stop("run this from the root of the repository")
source("bench/sources.R")

# Splits the command line: `name=value` gives options, the rest are plain words. Unknown names are
# refused.
command_line <- function(defaults = list()) {
  words <- commandArgs(trailingOnly = TRUE)
  named <- grepl("=", words, fixed = TRUE)
  name <- sub("=.*", "", words[named])
  if (!all(name %in% names(defaults))) {
    stop("unknown option ", setdiff(name, names(defaults))[1], "=; known: ",
         paste0(names(defaults), "=", collapse = " "))
  }
  given <- as.list(sub("^[^=]*=", "", words[named]))
  names(given) <- name
  options <- utils::modifyList(defaults, given)
  if (!is.null(options$out)) dir.create(options$out, showWarnings = FALSE, recursive = TRUE)
  list(words = words[!named], options = options)
}

# The numbers of a list like 1000,2000
numbers <- function(text) as.numeric(strsplit(as.character(text), ",", fixed = TRUE)[[1]])

first_line <- function(command, arguments) {
  out <- suppressWarnings(tryCatch(system2(command, arguments, stdout = TRUE, stderr = FALSE),
                                   error = function(e) character()))
  if (length(out)) out[1] else "unknown"
}

processor <- function() {
  if (file.exists("/proc/cpuinfo")) {
    model <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)
    if (length(model)) return(sub(".*: *", "", model[1]))
  }
  unname(Sys.info()["machine"])
}

# A line that describes the machine and software of a measurement, and a line that says what it
# measures (bench/sources.R).
machine_line <- function() {
  compiler <- strsplit(first_line(file.path(R.home("bin"), "R"), c("CMD", "config", "CC")), " ")
  machine <- sprintf("%s, %d cores; %s; %s; BLAS %s; sparsels %s, %s", processor(),
                     parallel::detectCores(), R.version.string,
                     first_line(compiler[[1]][1], "--version"), basename(La_library()),
                     utils::packageVersion("sparsels"), format(Sys.Date()))
  paste(c(machine, sources_line()), collapse = "\n")
}

# The load average of the last minute; "unknown" without /proc.
load_average <- function() {
  if (!file.exists("/proc/loadavg")) return("unknown")
  strsplit(readLines("/proc/loadavg"), " ")[[1]][1]
}

# Seconds of each function (rows), called in turn, `times` times (columns), every other time in the
# opposite order; clock(call) takes the time of one call.
rounds <- function(calls, times, clock = elapsed) {
  seconds <- vapply(seq_len(times), function(i) {
    order <- if (i %% 2) seq_along(calls) else rev(seq_along(calls))
    vapply(calls[order], clock, 0)[order]
  }, numeric(length(calls)))
  matrix(seconds, length(calls), dimnames = list(names(calls), NULL))
}

# The median over rounds() of the seconds of each function.
interleaved <- function(calls, times, clock = elapsed) apply(rounds(calls, times, clock), 1, median)

elapsed <- function(call) {
  gc()
  from <- Sys.time()
  call()
  as.double(difftime(Sys.time(), from, units = "secs"))
}

# CPU seconds of a call, which is repeated until it has used a tenth of a second
cpu <- function(call) {
  gc()
  from <- proc.time()
  for (count in 1:10000) {
    call()
    used <- sum((proc.time() - from)[1:2])
    if (used > 0.1) break
  }
  used / count
}

# Prints a line, and keeps it in `lines` to be saved.
lines <- character()
say <- function(...) {
  text <- sprintf(...)
  writeLines(text)
  lines <<- c(lines, text)
}

heading <- function(text, ...) {
  say("")
  say(text, ...)
}

say_table <- function(table, digits = 4) {
  width <- options(width = 200)
  on.exit(options(width))
  shown <- capture.output(print(format(table, digits = digits), row.names = FALSE))
  writeLines(shown)
  lines <<- c(lines, shown)
}

# Okabe and Ito's colours, as in the plots of the package.
colours <- c(blue = "#0072B2", red = "#D55E00", green = "#009E73", grey = "#555555")

# Draws into a png of few colours.
picture <- function(file, width, height, draw) {
  grDevices::png(file, width, height, res = 100, type = "cairo", antialias = "gray")
  on.exit(grDevices::dev.off())
  draw()
}

# Probabilities from scores by Platt's calibration of each class against the rest, divided by their
# sum, from the held-out scores of a fit.
against_rest <- function(fit) {
  class <- max.col(fit$problem$rows$y)
  weights <- rep(1, length(class))
  maps <- lapply(seq_len(ncol(fit$held_out)), function(k) {
    sparsels:::platt_map(fit$held_out[, k], class == k, weights)
  })
  function(score) {
    p <- vapply(seq_along(maps), function(k) maps[[k]](score[, k]), numeric(nrow(score)))
    p / rowSums(p)
  }
}
