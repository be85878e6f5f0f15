# lintr over every R file, with the rules of .lintr; no function with many branches, and no name of
# the package defined twice. What was found clean before is not looked at again: the names of the
# files in .check/lintr say what the R file, the rules and lintr's version were.
folders <- Filter(dir.exists, c("R", "tests", "tools", "data-raw", "bench", "vignettes"))
files <- list.files(folders, "[.](R|Rmd)$", recursive = TRUE, full.names = TRUE)
found <- 0

rules <- tools::md5sum(c(".lintr", "NAMESPACE", "tools/lint-r.R"))
rules <- paste(substr(rules, 1, 8), collapse = "-")
version <- utils::packageVersion("lintr")
clean <- file.path(".check/lintr", paste(tools::md5sum(files), rules, version, sep = "-"))
dir.create(".check/lintr", showWarnings = FALSE, recursive = TRUE)
unlink(setdiff(list.files(".check/lintr", full.names = TRUE), clean))

# lintr looks at every expression of a file anew, which is slow. So a file is first looked at as one
# expression; only where that has lints, or the file ends in an empty line, at each for the places.
# Tabs are looked for here, for which lintr takes a third of its time.
linters <- eval(str2lang(read.dcf(".lintr")[1, "linters"]), asNamespace("lintr"))
linters <- linters[!names(linters) %in% c("no_tab_linter", "whitespace_linter")]

# S3 methods have the names that R wants of them.
source("tools/measures.R")
methods <- sub(".*::", "", read_registered("NAMESPACE"))
wrong <- function(lints) {
  Filter(function(lint) {
    lint$linter != "object_name_linter" || !sub(" <- .*", "", lint$line) %in% methods
  }, lints)
}

lint <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  tabs <- any(grepl("^\\s*\t", lines))
  if (endsWith(file, ".R") && nzchar(lines[length(lines)]) && !tabs) {
    whole <- c("repeat {", lines, "}")
    lints <- wrong(lintr::lint(text = whole, linters = linters, parse_settings = FALSE))
    if (length(lints) == 0) return(lints)
  }
  wrong(lintr::lint(file))
}

for (i in which(!file.exists(clean))) {
  lints <- lint(files[i])
  found <- found + length(lints)
  if (length(lints) > 0) print(lints) else file.create(clean[i])
}

# A row for every top-level assignment of a file: the name, and the branches of the code.
definitions <- function(file) {
  assigned <- Filter(function(code) is.call(code) && identical(code[[1]], quote(`<-`)), parse(file))
  name <- function(code) paste(as.character(code[[2]]), collapse = " ")
  branches <- function(code) sum(all.names(code) %in% c("if", "for", "while", "repeat"))
  data.frame(file = rep(file, length(assigned)), name = vapply(assigned, name, ""),
             branches = vapply(assigned, branches, 0))
}
defined <- do.call(rbind, lapply(grep("[.]R$", files, value = TRUE), definitions))

many <- defined[defined$branches > 15, ]
if (nrow(many) > 0) cat("more than 15 branches:", paste(many$file, many$name), sep = "\n")
names <- defined$name[dirname(defined$file) == "R"]
twice <- unique(names[duplicated(names)])
if (length(twice) > 0) cat("defined twice:", paste(twice, collapse = ", "), "\n")

# The refusals in code whose text has more or fewer places for values than values follow. A class
# without a name would be such a value. Some begin with a condition.
plain <- c("stop_input", "stop_argument", "stop_newdata")
refusals <- c(plain, paste0(plain, "_if"))
unfitting <- function(code) {
  if (!is.call(code) && !is.pairlist(code)) return(NULL)
  inner <- unlist(lapply(as.list(code), function(part) if (!missing(part)) unfitting(part)))
  if (!is.name(code[[1]]) || !as.character(code[[1]]) %in% refusals) return(inner)
  given <- as.list(code)[-1]
  if (!is.null(names(given))) given <- given[names(given) == ""]
  if (!as.character(code[[1]]) %in% plain) given <- given[-1]
  of_sprintf <- is.call(given[[1]]) && identical(given[[1]][[1]], quote(sprintf))
  text <- if (of_sprintf) "" else paste(Filter(is.character, as.list(given[[1]])), collapse = " ")
  places <- gregexpr("%[^%]", gsub("%%", "", text, fixed = TRUE))[[1]]
  c(inner, if (sum(places > 0) != length(given) - 1) deparse1(code))
}
unfit <- unlist(lapply(grep("^R/.*[.]R$", files, value = TRUE), function(file) {
  unlist(lapply(as.list(parse(file)), unfitting))
}))
if (length(unfit) > 0) cat("values that do not fit their text:", unfit, sep = "\n")
found <- found + nrow(many) + length(twice) + length(unfit)

cat(found, "lints in", paste(folders, collapse = ", "), "\n")
quit(status = if (found > 0) 1 else 0)
