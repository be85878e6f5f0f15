# lintr over every R file, with the rules of .lintr.
folders <- Filter(dir.exists, c("R", "tests", "tools", "data-raw", "bench", "vignettes"))
found <- 0
for (folder in folders) {
  lints <- lintr::lint_dir(folder, relative_path = FALSE)
  found <- found + length(lints)
  if (length(lints) > 0) print(lints)
}
cat(found, "lints in", paste(folders, collapse = ", "), "\n")
quit(status = if (found > 0) 1 else 0)
