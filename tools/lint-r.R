# lintr over every R file, with the rules of .lintr, and no name of the package defined twice.
folders <- Filter(dir.exists, c("R", "tests", "tools", "data-raw", "bench", "vignettes"))
found <- 0
for (folder in folders) {
  lints <- lintr::lint_dir(folder, relative_path = FALSE)
  found <- found + length(lints)
  if (length(lints) > 0) print(lints)
}

defined_names <- function(file) {
  assigned <- Filter(function(code) is.call(code) && identical(code[[1]], quote(`<-`)), parse(file))
  vapply(assigned, function(code) paste(as.character(code[[2]]), collapse = " "), "")
}
names <- unlist(lapply(list.files("R", full.names = TRUE), defined_names))
twice <- unique(names[duplicated(names)])
if (length(twice) > 0) cat("defined twice:", paste(twice, collapse = ", "), "\n")
found <- found + length(twice)

cat(found, "lints in", paste(folders, collapse = ", "), "\n")
quit(status = if (found > 0) 1 else 0)
