# Prints the share of R and C lines that the tests run, per file and in total.  make coverage
Sys.setenv(NOT_CRAN = "true")
lines <- covr::tally_coverage(covr::package_coverage(type = "tests", quiet = TRUE), by = "line")

share <- function(hit) sprintf("%6.1f %%  %5d of %5d", 100 * mean(hit), sum(hit), length(hit))
report <- function(language, pattern) {
  of_language <- lines[grepl(pattern, lines$filename), ]
  hit <- split(of_language$value > 0, of_language$filename)
  cat("\n", sprintf("%-28s %s\n", names(hit), vapply(hit, share, "")), sep = "")
  cat(sprintf("%-28s %s\n", paste("all", language), share(of_language$value > 0)))
}
report("R", "\\.R$")
report("C", "\\.[ch]$")
