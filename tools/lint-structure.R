# Which file may lean on which. The files of R/ whose functions call each other, directly or by way
# of others, form a ring; a ring has at most three files. No object is made at load time from what
# another file defines, so that R may read the files in any order.
#
#   Rscript tools/lint-structure.R    tries the rules on made cases, then looks at the package

most_files <- 3L

# What the files define ---------------------------------------------------------------------------

# A row per top-level assignment of the files of a folder: `file`, `name` and `value`, its code.
read_definitions <- function(folder) {
  files <- list.files(folder, "[.]R$", full.names = TRUE)
  of_file <- lapply(files, function(file) {
    assigned <- Filter(is_assignment, as.list(parse(file, keep.source = FALSE)))
    rows <- data.frame(file = rep(basename(file), length(assigned)))
    rows$name <- vapply(assigned, function(code) as.character(code[[2L]]), "")
    rows$value <- lapply(assigned, `[[`, 3L)
    rows
  })
  do.call(rbind, of_file)
}

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

# Rings -------------------------------------------------------------------------------------------

# A row per name that a file uses and another defines: `from`, `to`, `name`.
uses_between <- function(definitions) {
  used <- lapply(definitions$value, outside_names)
  table <- data.frame(from = rep(definitions$file, lengths(used)), name = unlist(used))
  table$to <- definitions$file[match(table$name, definitions$name)]
  unique(table[!is.na(table$to) & table$to != table$from, c("from", "to", "name")])
}

# The sets of files that reach each other, the largest first.
find_rings <- function(uses) {
  files <- sort(unique(c(uses$from, uses$to)))
  reaches <- table(factor(uses$from, files), factor(uses$to, files)) > 0
  for (via in files) reaches <- reaches | outer(reaches[, via], reaches[via, ], "&")
  mutual <- reaches & t(reaches)
  rings <- unique(lapply(files[diag(mutual)], function(file) files[mutual[file, ]]))
  rings[order(-lengths(rings))]
}

# The lines of a ring: its files and, for one that is too large, the uses that close it.
ring_lines <- function(ring, uses) {
  files <- sprintf("ring of %d: %s", length(ring), paste(ring, collapse = ", "))
  if (length(ring) <= most_files) return(files)
  inside <- uses[uses$from %in% ring & uses$to %in% ring, ]
  names <- tapply(inside$name, paste(inside$from, "->", inside$to), paste, collapse = ", ")
  c(files, sprintf("  %s: %s", names(names), names))
}

# Load order --------------------------------------------------------------------------------------

# The names of other files that a top-level object needs when its file is read: those of its own
# code and of the functions of the file that it mentions, but not of the functions that it makes.
load_needs <- function(i, definitions) {
  in_file <- definitions[definitions$file == definitions$file[i], ]
  value <- definitions$value[[i]]
  seen <- character()
  due <- outside_names(without_later(value))
  # another name for a function does not call it
  if (is.name(value)) in_file$value <- list(NULL)
  while (length(due)) {
    seen <- c(seen, due)
    called <- in_file$value[in_file$name %in% due]
    bodies <- lapply(called, function(value) if (is_function(value)) value[[3L]])
    due <- setdiff(unlist(lapply(bodies, function(body) {
      outside_names(without_later(body))
    })), seen)
  }
  intersect(setdiff(seen, in_file$name), definitions$name)
}

# code without what is evaluated later, if ever
without_later <- function(code) {
  empty <- quote(expr =) # nolint: infix_spaces_linter.
  if (!is.call(code)) return(code)
  if (is.name(code[[1L]]) && as.character(code[[1L]]) %in% c("function", "alist", "quote")) {
    return(NULL)
  }
  as.call(lapply(as.list(code), function(part) {
    if (missing(part)) empty else without_later(part)
  }))
}

load_lines <- function(definitions) {
  objects <- which(!vapply(definitions$value, is_function, NA))
  needs <- lapply(objects, load_needs, definitions)
  made <- lengths(needs) > 0L
  sprintf("%s: `%s` is made at load time from another file's %s", definitions$file[objects[made]],
          definitions$name[objects[made]], vapply(needs[made], paste, "", collapse = ", "))
}

# The whole ---------------------------------------------------------------------------------------

# What is found in a folder of R files: `lines` to print and whether a rule is broken.
look_at_r <- function(folder) {
  definitions <- read_definitions(folder)
  uses <- uses_between(definitions)
  rings <- find_rings(uses)
  at_load <- load_lines(definitions)
  list(lines = c(unlist(lapply(rings, ring_lines, uses)), at_load),
       broken = any(lengths(rings) > most_files) || length(at_load) > 0L)
}

# Each case is files of a folder, as lines of code, and whether they break a rule.
made_cases <- list(
  "two files in a ring" = list(
    code = c(a = "f <- function() g()", b = "g <- function() f()"), broken = FALSE
  ),
  "four files in a ring" = list(
    code = c(a = "f <- function() g()", b = "g <- function() h()",
             c = "h <- function(x) lapply(x, i)", d = "i <- function() f()"), broken = TRUE
  ),
  "local names and arguments close no ring" = list(
    code = c(a = "f <- function() g()", b = "g <- function() h()", c = "h <- function() i()",
             d = "i <- function(f) { g <- 1; f + g }"), broken = FALSE
  ),
  "an object made from another file" = list(
    code = c(a = "f <- function() 1", b = "value <- list(f())"), broken = TRUE
  ),
  "an object made by a function that calls another file" = list(
    code = c(a = "f <- function() 1", b = "g <- function() f()\nvalue <- g()"), broken = TRUE
  ),
  "code that looks into another file later" = list(
    code = c(a = "f <- function() 1", b = "value <- list(function() f())\nlater <- alist(g = f())"),
    broken = FALSE
  )
)

try_cases <- function() {
  for (name in names(made_cases)) {
    case <- made_cases[[name]]
    folder <- tempfile("structure")
    dir.create(folder)
    for (file in names(case$code)) {
      writeLines(case$code[[file]], file.path(folder, paste0(file, ".R")))
    }
    if (look_at_r(folder)$broken != case$broken) stop("a made case is not seen as it is: ", name)
  }
}

main <- function() {
  try_cases()
  found <- look_at_r("R")
  cat(found$lines, sep = "\n")
  cat("structure of R:", if (found$broken) "too large a ring or a load order" else "in order", "\n")
  quit(status = if (found$broken) 1 else 0)
}

main()
