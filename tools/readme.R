# Runs the R blocks of README.md as they stand, in order:  Rscript tools/readme.R
#
# A block that begins with library(sparsels) starts with no objects; any other must begin with the
# comment `goes_on` and has those of the block above. A warning is an error. A block that attaches
# a package that is not installed is skipped, and its rest with it.

goes_on <- "# goes on from the block above"

# The blocks of R code: a list of lines, named by the number of the first.
read_blocks <- function(file) {
  lines <- readLines(file)
  starts <- which(lines == "```r")
  ends <- vapply(starts, function(start) min(which(lines == "```" & seq_along(lines) > start)), 1)
  blocks <- Map(function(start, end) lines[(start + 1):(end - 1)], starts, ends)
  setNames(blocks, starts + 1)
}

# The packages that a block attaches and that are not installed.
absent_packages <- function(block) {
  attached <- regmatches(block, regexpr("(?<=^library\\()[A-Za-z0-9.]+", block, perl = TRUE))
  attached[!nzchar(vapply(attached, function(package) system.file(package = package), ""))]
}

# Runs a block in an environment, echoing it, and prints its seconds.
run_block <- function(block, line, objects) {
  started <- proc.time()[["elapsed"]]
  cat("\n---- README.md, line", line, "\n")
  source(exprs = parse(text = block), local = objects, echo = TRUE, spaced = FALSE)
  cat("----", round(proc.time()[["elapsed"]] - started, 1), "s\n")
}

options(warn = 2)
grDevices::pdf(NULL)
blocks <- read_blocks("README.md")
skipped <- 0
for (line in names(blocks)) {
  block <- blocks[[line]]
  fresh <- block[1] == "library(sparsels)"
  if (!fresh && block[1] != goes_on) {
    stop("README.md, line ", line, ": a block begins with library(sparsels) or with ", goes_on)
  }
  if (fresh) {
    objects <- new.env()
    absent <- absent_packages(block)
  }
  if (length(absent)) {
    cat("\n---- README.md, line", line, "skipped, needs", absent, "\n")
    skipped <- skipped + 1
  } else {
    run_block(block, line, objects)
  }
}
cat(length(blocks), "blocks,", skipped, "skipped\n")
