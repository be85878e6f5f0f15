# The R code as data: what its files define and use, for lint-structure.R and measures.R.

# What the files define ---------------------------------------------------------------------------

# A row per top-level assignment of the files of a folder: `file`, `name`, `value` (its code),
# `lines` (how many lines of code it has) and `uses` (the names that it takes from outside itself).
read_definitions <- function(folder) {
  files <- list.files(folder, "[.]R$", full.names = TRUE)
  do.call(rbind, lapply(files, file_definitions))
}

file_definitions <- function(file) {
  parsed <- parse(file, keep.source = TRUE)
  assigned <- vapply(as.list(parsed), is_assignment, NA)
  code_lines <- cumsum(is_code(readLines(file)))
  span <- vapply(attr(parsed, "srcref")[assigned], function(ref) {
    code_lines[ref[3L]] - c(0L, code_lines)[ref[1L]]
  }, 0L)
  parsed <- as.list(parsed)[assigned]
  rows <- data.frame(file = rep(basename(file), length(parsed)))
  rows$name <- vapply(parsed, function(code) as.character(code[[2L]]), "")
  rows$value <- lapply(parsed, `[[`, 3L)
  rows$lines <- span
  rows$uses <- lapply(rows$value, outside_names)
  rows
}

# whether lines have code, not only a comment
is_code <- function(lines) !grepl("^\\s*(#|$)", lines)

is_assignment <- function(code) {
  is.call(code) && identical(code[[1L]], quote(`<-`)) && is.name(code[[2L]])
}

is_function <- function(value) is.call(value) && identical(value[[1L]], quote(`function`))

# The names that code takes from outside itself: neither the local ones of its functions nor the
# entries of an alist(), which are fields of the object that the list describes.
outside_names <- function(value) {
  dots <- formals(function(...) NULL)
  wrapped <- if (is_function(value)) value else call("function", dots, value)
  setdiff(codetools::findGlobals(eval(wrapped, baseenv())), entry_names(value))
}

entry_names <- function(code) {
  if (!is.call(code)) return(NULL)
  own <- if (identical(code[[1L]], quote(alist))) names(code)
  c(own, unlist(lapply(as.list(code), function(part) {
    if (!missing(part)) entry_names(part)
  })))
}

# Which file uses which ----------------------------------------------------------------------------

# A row per name that a file uses and another defines: `from`, `to`, `name`.
uses_between <- function(definitions) {
  uses <- definitions$uses
  table <- data.frame(from = rep(definitions$file, lengths(uses)), name = unlist(uses))
  table$to <- definitions$file[match(table$name, definitions$name)]
  unique(table[!is.na(table$to) & table$to != table$from, c("from", "to", "name")])
}

# The sets of files that reach each other, the largest first.
find_rings <- function(uses) {
  files <- sort(unique(c(uses$from, uses$to)))
  reaches <- closure(table(factor(uses$from, files), factor(uses$to, files)) > 0)
  mutual <- reaches & t(reaches)
  rings <- unique(lapply(files[diag(mutual)], function(file) files[mutual[file, ]]))
  rings[order(-lengths(rings))]
}

# the transitive closure of a relation, a logical matrix
closure <- function(relation) {
  for (via in seq_len(nrow(relation))) {
    relation <- relation | outer(relation[, via], relation[via, ], "&")
  }
  relation
}
