# Which file may use which.
#
# R: the word before the first hyphen of a file's name is its room. A file uses files of its own
# room and of earlier rooms. Files whose functions call each other, directly or by way of others,
# form a ring. A ring has at most three files. No object is made at load time from what another
# file defines, so that R may read the files in any order. No figure of tools/measures.R is above
# its ceiling.
#
# C: a family, the word before the first hyphen of a file's name, uses itself and the shared files
# and no other family. Of the border, r-<family>.c uses this family and the shared files, and the
# other files use the shared files. Only the border includes R's headers. No two families give a
# static function the same name.
#
#   Rscript tools/lint-structure.R    tries the rules on made cases, then looks at the package

most_files <- 3L

# in the order in which a room may use the rooms before it
rooms <- c("base", "data", "fold", "fit", "kernel", "l1", "search", "system", "lssvm", "verify",
           "judge", "with", "sparsels", "topics")

source("tools/structure.R")
source("tools/measures.R")

# Rings -------------------------------------------------------------------------------------------

# The lines of a ring: its files and, for one that is too large, the uses that close it.
ring_lines <- function(ring, uses) {
  files <- sprintf("ring of %d: %s", length(ring), paste(ring, collapse = ", "))
  if (length(ring) <= most_files) return(files)
  inside <- uses[uses$from %in% ring & uses$to %in% ring, ]
  names <- tapply(inside$name, paste(inside$from, "->", inside$to), paste, collapse = ", ")
  c(files, sprintf("  %s: %s", names(names), names))
}

# Rooms -------------------------------------------------------------------------------------------

room_of <- function(file) match(sub("[-.].*", "", file), rooms)

# a line for each file without a room, and for each use of a later room
room_lines <- function(definitions, uses) {
  files <- unique(definitions$file)
  later <- uses[which(room_of(uses$from) < room_of(uses$to)), ]
  c(sprintf("%s is in none of the rooms", files[is.na(room_of(files))]),
    sprintf("%s uses `%s` of a later room: %s", later$from, later$name, later$to))
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

# C -----------------------------------------------------------------------------------------------

shared_files <- c("problem", "products", "criterion", "likelihood", "gram", "simd", "spline",
                  "triangle")
border_files <- c("r", "init")

# shared, border or the family's name
family_of <- function(file) {
  word <- sub("[-.].*", "", basename(file))
  ifelse(word %in% shared_files, "shared", ifelse(word %in% border_files, "border", word))
}

# A row per symbol of the compiled files: `file`, `kind` (nm's letter) and `name`.
read_symbols <- function(folder) {
  flags <- system2("R", c("CMD", "config", "--cppflags"), stdout = TRUE)
  of_file <- lapply(list.files(folder, "[.]c$", full.names = TRUE), function(file) {
    object <- tempfile(fileext = ".o")
    failed <- system2("gcc", c("-std=c11 -O0 -w -fno-pic -c", flags, file, "-o", object))
    if (failed) stop(file, " does not compile")
    words <- strsplit(trimws(system2("nm", c("-P", object), stdout = TRUE)), " ")
    data.frame(file = basename(file), kind = vapply(words, `[[`, "", 2L),
               name = vapply(words, `[[`, "", 1L))
  })
  do.call(rbind, of_file)
}

family_lines <- function(symbols) {
  defined <- symbols[grepl("[TDBRC]", symbols$kind), ]
  used <- symbols[symbols$kind == "U" & symbols$name %in% defined$name, ]
  from <- family_of(used$file)
  to <- family_of(defined$file[match(used$name, defined$name)])
  called <- ifelse(from == "border", family_of(sub("^r-", "", used$file)), from)
  astray <- to != from & to != called & to != "shared"
  sprintf("%s uses %s() of %s", used$file[astray], used$name[astray], to[astray])
}

static_lines <- function(symbols, folder) {
  headers <- unlist(lapply(list.files(folder, "[.]h$", full.names = TRUE), readLines))
  inline <- sub(".*[ *](\\w+)\\(.*", "\\1", grep("^static inline .*\\(", headers, value = TRUE))
  own <- symbols[symbols$kind == "t" & !symbols$name %in% inline, ]
  own$family <- family_of(own$file)
  families <- tapply(own$family, own$name, function(all) length(unique(all)))
  twice <- own[own$name %in% names(families)[families > 1], ]
  sprintf("%s: another family has a static %s(), too", twice$file, twice$name)
}

include_lines <- function(folder) {
  files <- list.files(folder, "[.][ch]$", full.names = TRUE)
  files <- files[family_of(files) != "border" & basename(files) != "blas.h"]
  r_header <- paste0("^# *include *[<\"](R|Rinternals|Rmath|Rdefines|Rconfig|Rversion|R_ext/.*)",
                     "(\\.h)?[>\"]")
  includes <- vapply(files, function(file) any(grepl(r_header, readLines(file))), NA)
  sprintf("%s includes a header of R", basename(files[includes]))
}

look_at_c <- function(folder) {
  symbols <- read_symbols(folder)
  lines <- c(family_lines(symbols), static_lines(symbols, folder), include_lines(folder))
  list(lines = lines, broken = length(lines) > 0L)
}

# The whole ---------------------------------------------------------------------------------------

# What is found in a folder of R files: `lines` to print and whether a rule is broken.
look_at_r <- function(folder, definitions = read_definitions(folder)) {
  uses <- uses_between(definitions)
  rings <- find_rings(uses)
  wrong <- c(load_lines(definitions), room_lines(definitions, uses))
  list(lines = c(unlist(lapply(rings, ring_lines, uses)), wrong),
       broken = any(lengths(rings) > most_files) || length(wrong) > 0L)
}

# Each case is files of a folder, as lines of code, and whether they break a rule.
r_cases <- list(
  "two files in a ring" = list(
    code = c("fit-a.R" = "f <- function() g()", "fit-b.R" = "g <- function() f()"), broken = FALSE
  ),
  "four files in a ring" = list(
    code = c("fit-a.R" = "f <- function() g()", "fit-b.R" = "g <- function() h()",
             "fit-c.R" = "h <- function(x) lapply(x, i)", "fit-d.R" = "i <- function() f()"),
    broken = TRUE
  ),
  "local names and arguments close no ring" = list(
    code = c("fit-a.R" = "f <- function() g()", "fit-b.R" = "g <- function() h()",
             "fit-c.R" = "h <- function() i()",
             "fit-d.R" = "i <- function(f) { g <- 1; f + g }"), broken = FALSE
  ),
  "an object made from another file" = list(
    code = c("fit-a.R" = "f <- function() 1", "fit-b.R" = "value <- list(f())"), broken = TRUE
  ),
  "an object made by a function that calls another file" = list(
    code = c("fit-a.R" = "f <- function() 1", "fit-b.R" = "g <- function() f()\nvalue <- g()"),
    broken = TRUE
  ),
  "code that looks into another file later" = list(
    code = c("fit-a.R" = "f <- function() 1",
             "fit-b.R" = "value <- list(function() f())\nlater <- alist(g = f())"),
    broken = FALSE
  ),
  "a room that uses an earlier room" = list(
    code = c("base.R" = "f <- function() 1", "fit-a.R" = "g <- function() f()"), broken = FALSE
  ),
  "a room that uses a later room" = list(
    code = c("base.R" = "f <- function() g()", "fit-a.R" = "g <- function() 1"), broken = TRUE
  ),
  "a file of no room" = list(code = c("other.R" = "f <- function() 1"), broken = TRUE)
)

c_cases <- list(
  "a family that uses itself and what is shared" = list(
    code = c("greedy.c" = "int f(void); int g(void); int h(void) { return f() + g(); }",
             "greedy-cache.c" = "int f(void) { return 1; }",
             "gram.c" = "int g(void) { return 2; }"),
    broken = FALSE
  ),
  "a family that uses another" = list(
    code = c("greedy.c" = "int f(void); int g(void) { return f(); }",
             "l1.c" = "int f(void) { return 1; }"), broken = TRUE
  ),
  "two families with a static function of one name" = list(
    code = c("greedy.c" = "static int f(void) { return 1; } int g(void) { return f(); }",
             "l1.c" = "static int f(void) { return 2; } int h(void) { return f(); }"), broken = TRUE
  ),
  "two files of a family with a static function of one name" = list(
    code = c("l1.c" = "static int f(void) { return 1; } int g(void) { return f(); }",
             "l1-safe.c" = "static int f(void) { return 2; } int h(void) { return f(); }"),
    broken = FALSE
  ),
  "a kernel that knows R" = list(
    code = c("greedy.c" = "#include <Rinternals.h>\nint f(void) { return 1; }"), broken = TRUE
  ),
  "the border, which knows R, and of which a file calls its family" = list(
    code = c("r-l1.c" = "#include <Rinternals.h>\nint f(void); int g(void) { return f(); }",
             "l1.c" = "int f(void) { return 1; }",
             "init.c" = "int g(void); int h(void) { return g(); }"), broken = FALSE
  ),
  "a file of the border that calls another family" = list(
    code = c("r-l1.c" = "int f(void); int g(void) { return f(); }",
             "greedy.c" = "int f(void) { return 1; }"), broken = TRUE
  )
)

try_cases <- function(cases, look_at) {
  for (name in names(cases)) {
    case <- cases[[name]]
    folder <- tempfile("structure")
    dir.create(folder)
    for (file in names(case$code)) writeLines(case$code[[file]], file.path(folder, file))
    if (look_at(folder)$broken != case$broken) stop("a made case is not seen as it is: ", name)
  }
}

look_at_height <- function(folder, definitions) {
  lines <- above_ceilings(measure(folder, definitions), ceilings)
  list(lines = lines, broken = length(lines) > 0L)
}

main <- function() {
  try_cases(r_cases, look_at_r)
  try_cases(c_cases, look_at_c)
  try_measures()
  definitions <- read_definitions("R")
  found <- list(R = look_at_r("R", definitions), height = look_at_height(".", definitions),
                C = look_at_c("src"))
  for (part in found) writeLines(as.character(part$lines))
  broken <- vapply(found, `[[`, NA, "broken")
  cat("structure:", if (any(broken)) "broken in" else "in order in",
      names(found)[if (any(broken)) broken else TRUE], "\n")
  quit(status = if (any(broken)) 1 else 0)
}

main()
