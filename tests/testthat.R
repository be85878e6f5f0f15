library(testthat)
library(sparsels)

# CRAN runs these files: they take less than a minute together and call every exported function.
# NOT_CRAN=true runs all.
quick <- c("backing-file", "baselines", "class-weights", "criterion", "cv-variance", "duality",
           "elastic-net", "first-calls", "fit", "float-matrix", "folds", "formula", "l1-size",
           "lambda", "matching-pursuit", "messages-l1", "numbered-names", "nystrom-features",
           "panel-error", "plot", "poss-price", "print", "rfe", "rls", "search",
           "sequential-replacement", "threshold", "tidiers")
all <- identical(Sys.getenv("NOT_CRAN"), "true")

# All of them run in two processes; where lines are counted, and on CRAN, in one.
Sys.setenv(TESTTHAT_PARALLEL = all && Sys.getenv("R_COVR") != "true")

test_check("sparsels", filter = if (!all) sprintf("^(%s)$", paste(quick, collapse = "|")))
