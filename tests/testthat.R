library(testthat)
library(sparsels)

# CRAN runs these files: they take less than a minute together and call every exported function.
# NOT_CRAN=true runs all files, or with QUICK these and those that it names.
# SPARSELS_EXTENDED_TESTS=true runs all files with all of their random problems.
quick <- c("backing-file", "baselines", "certify", "class-weights", "criterion", "cv-variance",
           "duality", "elastic-net", "first-calls", "fit", "float-matrix", "folds", "formula",
           "importance", "l1-size", "lambda", "matching-pursuit", "messages-l1", "numbered-names",
           "nystrom-features", "panel-error", "plot", "poss-price", "print", "rfe", "rls",
           "search", "sequential-replacement", "threshold", "tidiers")
if (identical(Sys.getenv("SPARSELS_EXTENDED_TESTS"), "true")) Sys.setenv(NOT_CRAN = "true")
not_cran <- identical(Sys.getenv("NOT_CRAN"), "true")
further <- Sys.getenv("QUICK", NA)
files <- if (not_cran && !is.na(further)) {
  c(quick, strsplit(further, "\\s+")[[1]])
} else if (!not_cran) {
  quick
}

# In two processes; where lines are counted, and on CRAN, in one.
Sys.setenv(TESTTHAT_PARALLEL = not_cran && Sys.getenv("R_COVR") != "true")

times <- tempfile()
dir.create(times)
Sys.setenv(TEST_TIMES = times)
results <- test_check("sparsels", filter = if (!is.null(files)) {
  sprintf("^(%s)$", paste(setdiff(files, ""), collapse = "|"))
})

# a file of each process
cpu <- do.call(rbind, lapply(list.files(times, full.names = TRUE), read.table,
                             col.names = c("file", "seconds")))
cpu <- head(sort(tapply(cpu$seconds, cpu$file, sum), decreasing = TRUE), 10)
cat("slowest files, seconds of CPU:", toString(sprintf("%s %.1f", names(cpu), cpu)), "\n")
invisible(results)
