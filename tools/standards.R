# Writes docs/standards.md from the tags of rOpenSci's standards in the sources, R/ and
# tests/testthat/:
#
#   Rscript tools/standards.R          writes the page
#   Rscript tools/standards.R check    fails if that would change it
#
# A standard is tagged once: `@srrstats` where it is met, or in part, `@srrstatsNA` where it does
# not apply and `@srrstatsTODO` where it is not met, with the reason.

page <- "docs/standards.md"
chapters <- c(G = "General", RE = "Regression and supervised learning", ML = "Machine learning")
states <- c("met", "in part", "not applicable", "not met")

tags_of <- function(file) {
  lines <- readLines(file)
  # a tag goes on in indented lines
  for (i in rev(grep("^#'   ", lines))) {
    lines[i - 1L] <- paste(lines[i - 1L], sub("^#'   ", "", lines[i]))
  }
  pattern <- "^#' @srrstats(NA|TODO)? [{]([^}]*)[}] (.*)$"
  parts <- regmatches(lines, regexec(pattern, lines))
  parts <- do.call(rbind, parts[lengths(parts) > 0L])
  if (is.null(parts)) return(NULL)
  partly <- grepl("^In part: ", parts[, 4L])
  state <- c("met", states[3:4])[match(parts[, 2L], c("", "NA", "TODO"))]
  state[partly] <- "in part"
  data.frame(standard = parts[, 3L], state = state, text = sub("^In part: ", "", parts[, 4L]),
             file = file)
}

files <- sort(c(Sys.glob("R/*.R"), Sys.glob("tests/testthat/*.R")))
tags <- do.call(rbind, lapply(files, tags_of))
twice <- unique(tags$standard[duplicated(tags$standard)])
if (length(twice)) stop("tagged twice: ", toString(twice))

# G2.4 before G2.4a before G2.10
number <- regmatches(tags$standard, regexec("^([A-Z]+)([0-9]+)[.]([0-9]+)([a-z]?)$", tags$standard))
number <- do.call(rbind, number)
tags$chapter <- factor(chapters[number[, 2L]], chapters)
level <- matrix(as.integer(number[, 3:4]), ncol = 2L)
tags <- tags[order(tags$chapter, level[, 1L], level[, 2L], number[, 5L]), ]

counts <- table(tags$chapter, factor(tags$state, states))
row_of <- function(name, counts) {
  sprintf("| %s | %s | %d |", name, paste(counts, collapse = " | "), sum(counts))
}
text <- c(
  "# rOpenSci's standards for statistical software",
  "",
  paste("Where the standards of [rOpenSci](https://stats-devguide.ropensci.org/standards.html) are",
        "met, or why not: general (G),"),
  paste("regression and supervised learning (RE) and machine learning (ML). The texts of the",
        "standards are there. `tools/standards.R` makes this"),
  paste("page of the `@srrstats` tags in the sources. roxygen2 passes over these tags",
        "(`man/roxygen/meta.R`), and the package srr reads them."),
  "",
  sprintf("| | %s | all |", paste(states, collapse = " | ")),
  "|---|---|---|---|---|---|",
  vapply(rownames(counts), function(name) row_of(name, counts[name, ]), ""),
  row_of("**together**", colSums(counts)),
  unlist(lapply(split(tags, tags$chapter), function(of) {
    c("", paste("##", of$chapter[1L]), "",
      "| | | where, or why not | tagged in |", "|---|---|---|---|",
      sprintf("| %s | %s | %s | `%s` |", of$standard, of$state, of$text, of$file))
  }))
)
text <- unname(text)
if (identical(commandArgs(TRUE), "check")) {
  if (!identical(readLines(page), text)) stop(page, " is not what tools/standards.R writes")
} else {
  writeLines(text, page)
}
cat(sprintf("%d standards: %s\n", nrow(tags),
            paste(colSums(counts), colnames(counts), collapse = ", ")))
