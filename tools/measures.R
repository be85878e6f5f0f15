# The height of the R code in figures, and the ceiling of each: a figure above its ceiling fails
# `make test`. A change that lowers a figure lowers its ceiling.
#
#   Rscript tools/measures.R    prints every figure beside its ceiling

# Ceilings ----------------------------------------------------------------------------------------

# `median` and `longest` lines of a function keep the others from being bought by long functions.
ceilings <- c(
  "lines of code" = 29014, "files" = 76,
  "floors" = 12,
  "median lines of a function" = 12, "longest function" = 68,
  "definitions reached by greedy_rls" = 939,
  "definitions reached by l1_path" = 816,
  "definitions reached by cross_validate" = 1016,
  "definitions reached by judge.default" = 1335,
  "inner functions with one user" = 790,
  "files that ask for ranking" = 4,
  "files that ask for groups of columns" = 4,
  "files that ask for penalty" = 4,
  "files that ask for missing means" = 2,
  "files that ask for the kind of a fit" = 3,
  "print methods" = 7, "plot methods" = 2, "autoplot methods" = 2,
  "\"that of\" per 1000 words of comments" = 1,
  "semicolons per 1000 words of comments" = 3,
  "\"that of\" and \"asks for\" in help and messages" = 0,
  "words of the longest help page of four" = 1500
)

# code by which a definition asks for an optional property of the data, or for the kind of a fit
property_patterns <- c(
  "ranking" = "is_ranked\\(|\\$query\\b|centre_within\\(",
  "groups of columns" = "column_groups|columns\\$group|moves_together|\\bunits_of\\(",
  "penalty" = "columns\\$penalty|\\bunpenalised\\(",
  "missing means" = "columns\\$(mean|missing)\\b|\\$gaps|part_of_x\\(",
  "the kind of a fit" = "inherits\\([a-z$]+, \"(sparse_fit|l1_path|kernel_fit|fs_lssvm)"
)

# Figures -----------------------------------------------------------------------------------------

# The figures of a package: a folder with R/ and NAMESPACE.
measure <- function(folder, definitions = read_definitions(file.path(folder, "R"))) {
  registered <- read_registered(file.path(folder, "NAMESPACE"))
  sources <- lapply(list.files(file.path(folder, "R"), "[.]R$", full.names = TRUE), readLines)
  c("lines of code" = sum(vapply(sources, function(lines) sum(is_code(lines)), 0L)),
    "files" = length(sources), "floors" = count_floors(uses_between(definitions)),
    function_figures(definitions), reach_figures(definitions),
    "inner functions with one user" = count_single_users(definitions, registered),
    property_figures(definitions), method_figures(registered), comment_figures(unlist(sources)),
    "words of the longest help page of four" = longest_page(file.path(folder, "man")))
}

# words, as text, of the help pages that a new user reads first: usage and examples count
longest_page <- function(folder) {
  pages <- file.path(folder, paste0(c("greedy_rls", "as_problem", "l1_path", "fs_lssvm"), ".Rd"))
  max(0L, vapply(pages[file.exists(pages)], function(page) {
    text <- utils::capture.output(tools::Rd2txt(page))
    length(unlist(regmatches(text, gregexpr("[^[:space:]]+", text))))
  }, 0L))
}

# the names that NAMESPACE exports or registers
read_registered <- function(file) {
  lines <- gsub("\"", "", readLines(file))
  exports <- sub("export\\((.*)\\)", "\\1", grep("^export\\(", lines, value = TRUE))
  methods <- grep("^S3method", lines, value = TRUE)
  c(exports, sub("S3method\\(([^,]+),([^,)]+).*", "\\1.\\2", methods))
}

function_figures <- function(definitions) {
  lines <- definitions$lines[vapply(definitions$value, is_function, NA)]
  c("median lines of a function" = stats::median(lines), "longest function" = max(lines))
}

# The longest chain of files of which each uses the next, a ring counting as one file.
count_floors <- function(uses) {
  files <- sort(unique(c(uses$from, uses$to)))
  direct <- table(factor(uses$from, files), factor(uses$to, files)) > 0
  reaches <- closure(direct)
  same_ring <- reaches & t(reaches) | diag(length(files)) > 0
  below <- reaches & !same_ring
  floors <- rep(1L, length(files))
  # a file that reaches more files is never below one that reaches fewer
  for (i in order(rowSums(below))) floors[i] <- 1L + max(0L, floors[below[i, ]])
  max(1L, floors)
}

# the definitions that each definition uses
definition_uses <- function(definitions) {
  uses <- lapply(definitions$uses, intersect, definitions$name)
  names(uses) <- definitions$name
  Map(setdiff, uses, definitions$name)
}

reach_figures <- function(definitions) {
  uses <- definition_uses(definitions)
  entries <- intersect(c("greedy_rls", "l1_path", "cross_validate", "judge.default"), names(uses))
  reached <- vapply(entries, function(entry) {
    known <- due <- entry
    while (length(due)) {
      due <- setdiff(unlist(uses[due]), known)
      known <- c(known, due)
    }
    length(known)
  }, 0L)
  names(reached) <- sprintf("definitions reached by %s", entries)
  reached
}

# functions, neither exported nor registered, that one other definition uses
count_single_users <- function(definitions, registered) {
  users <- table(factor(unlist(definition_uses(definitions)), definitions$name))
  inner <- vapply(definitions$value, is_function, NA) & !definitions$name %in% registered
  sum(inner & users[definitions$name] == 1L)
}

property_figures <- function(definitions) {
  code <- vapply(definitions$value, function(value) paste(deparse(value), collapse = "\n"), "")
  files <- vapply(property_patterns, function(pattern) {
    length(unique(definitions$file[grepl(pattern, code, perl = TRUE)]))
  }, 0L)
  names(files) <- paste("files that ask for", names(property_patterns))
  files
}

method_figures <- function(registered) {
  generics <- c("print", "plot", "autoplot")
  counts <- vapply(generics, function(generic) {
    sum(grepl(sprintf("^(ggplot2::)?%s[.]", generic), registered))
  }, 0L)
  names(counts) <- paste(generics, "methods")
  counts
}

comment_figures <- function(lines) {
  comments <- grep("^\\s*# ", lines, value = TRUE)
  words <- lengths(regmatches(comments, gregexpr("[A-Za-z]+", comments)))
  rate <- function(pattern) {
    found <- lengths(regmatches(comments, gregexpr(pattern, comments, perl = TRUE)))
    round(1000 * sum(found) / max(1L, sum(words)), 1L)
  }
  c("\"that of\" per 1000 words of comments" = rate("\\b(that|those) of\\b"),
    "semicolons per 1000 words of comments" = rate(";"),
    "\"that of\" and \"asks for\" in help and messages" = sum(grepl(
      "\\b(that|those) of\\b|\\bask(s|ed)? for\\b", setdiff(lines, comments), perl = TRUE
    )))
}

# a line for each figure above its ceiling
above_ceilings <- function(figures, ceilings) {
  above <- names(figures)[names(figures) %in% names(ceilings)]
  above <- above[figures[above] > ceilings[above]]
  sprintf("%s: %g, and at most %g are allowed", above, figures[above], ceilings[above])
}

# Made cases --------------------------------------------------------------------------------------

# Fails unless a package of three files is measured as counted by hand.
try_measures <- function() {
  folder <- tempfile("measures")
  dir.create(file.path(folder, "R"), recursive = TRUE)
  writeLines(c("# words; and that of others", "greedy_rls <- function() {", "  # a comment",
               "  g(1) + g(2)", "}"), file.path(folder, "R", "a.R"))
  writeLines(c("g <- function(x) h(x)", "f <- function() x$query"), file.path(folder, "R", "b.R"))
  writeLines(c("h <- function(x) g(x)", "", "i <- function() f()"), file.path(folder, "R", "c.R"))
  writeLines(c("export(greedy_rls)", "S3method(print,a)", "S3method(ggplot2::autoplot,a)"),
             file.path(folder, "NAMESPACE"))
  dir.create(file.path(folder, "man"))
  writeLines("\\name{g}\\title{Three more words}", file.path(folder, "man", "l1_path.Rd"))
  counted <- c(
    "lines of code" = 7, "files" = 3, "floors" = 2, "longest function" = 3,
    "definitions reached by greedy_rls" = 3, "inner functions with one user" = 2,
    "files that ask for ranking" = 1, "files that ask for penalty" = 0, "print methods" = 1,
    "autoplot methods" = 1, "words of the longest help page of four" = 3,
    "semicolons per 1000 words of comments" = round(1000 / 7, 1)
  )
  figures <- measure(folder)[names(counted)]
  wrong <- names(counted)[is.na(figures) | figures != counted]
  if (length(wrong)) stop("not measured as counted: ", paste(wrong, collapse = ", "))
}

if (sys.nframe() == 0L) {
  source("tools/structure.R")
  figures <- measure(".")
  cat(sprintf("%-42s %7g  of %g\n", names(figures), figures, ceilings[names(figures)]), sep = "")
}
