# Runs the tests that CRAN runs, with the package as it is installed. They must take less than a
# minute of the processor's time together, and call every exported function.
#
#   Rscript tools/cran-tests.R
folder <- tempfile()
dir.create(folder)
file.copy("tests", folder, recursive = TRUE)
setwd(file.path(folder, "tests"))

results <- as.data.frame(source("testthat.R")$value)
cpu <- sum(proc.time()[c("user.self", "sys.self", "user.child", "sys.child")])

files <- unique(results$file)
code <- lapply(file.path("testthat", c(files, "helper.R")), parse, keep.source = FALSE)
called <- unique(unlist(lapply(code, all.names)))
not_called <- setdiff(getNamespaceExports("sparsels"), called)

if (length(not_called) > 0L) cat("no test on CRAN calls", toString(not_called), "\n")
cat(nrow(results), "tests in", length(files), "files on CRAN:", round(cpu), "s of the processor\n")
quit(status = length(not_called) > 0L || cpu > 60)
