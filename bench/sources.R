# What a script of bench/ measures: the hash that its results carry, by which tools/bench-changed.R
# tells whether it must run again. The last line of a script's header names files of R/ and src/,
# after the word Sources and a colon. The hash is of their code, of the script and of the files of
# bench/ that it takes functions from, without comments and spaces. The machine and its software are
# not part of it.

# All files of a script's hash, in the order of their names. NULL if its header has no sources.
files_measured <- function(script) {
  text <- readLines(script)
  named <- grep("^# Sources: ", text, value = TRUE)
  if (!length(named)) return(NULL)
  globs <- strsplit(sub("^# Sources: ", "", paste(named, collapse = " ")), " +")[[1]]
  files <- grep("[.][RchS]$", Sys.glob(setdiff(globs, c("#", "Sources:"))), value = TRUE)
  helpers <- sub(".*source\\(\"(bench/[^\"]*)\".*", "\\1", grep("source\\(\"bench/", text,
                                                              value = TRUE))
  sort(unique(c(files, script, helpers)), method = "radix")
}

# The code of a file as one text, without spaces at the ends of lines, and without comments: of R
# lines that are nothing else, of C all.
code_of <- function(file) {
  text <- trimws(readLines(file))
  if (grepl("[.]R$", file)) {
    return(paste(text[nzchar(text) & !startsWith(text, "#")], collapse = " "))
  }
  gsub("[[:space:]]+", " ", gsub("(?s)/[*].*?[*]/", "", paste(text, collapse = " "), perl = TRUE))
}

# Twelve digits, NULL without sources.
sources_hash <- function(script) {
  files <- files_measured(script)
  if (is.null(files)) return(NULL)
  copy <- tempfile()
  on.exit(unlink(copy))
  writeLines(paste(files, vapply(files, code_of, "")), copy, useBytes = TRUE)
  substr(unname(tools::md5sum(copy)), 1L, 12L)
}

# The second line of a result, "Rscript bench/l1.R data=DIR; sources 0123456789ab", where DIR stands
# for a directory of data. NULL for a script without sources.
sources_line <- function() {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  hash <- if (length(script)) sources_hash(script)
  if (is.null(hash)) return(NULL)
  words <- commandArgs(trailingOnly = TRUE)
  value <- sub("^(data|dir)=", "", words)
  words[dir.exists(value)] <- sub("[^=]+$", "DIR", words[dir.exists(value)])
  words <- grep("^out=", words, value = TRUE, invert = TRUE)
  sprintf("Rscript %s; sources %s", paste(c(script, words), collapse = " "), hash)
}
