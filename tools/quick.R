# The tests of the package that are quick: all files but those that take seconds, which
# tools/check.sh runs.
slow <- c("best-subset", "containers", "cross-validate", "cv-error", "edges", "forward-regression",
          "fs-drawn", "fs-lssvm", "fs-methods", "fuzz", "greedy-lazy", "greedy-search", "holdout",
          "integer-x", "interior-point", "interrupt", "kernel", "kernel-rls", "l1-methods",
          "l1-path", "l1-safety", "lars-path", "lssvm", "poss", "problem",
          "safe-screen", "scdp", "search", "select-basis", "size", "sparse-fit", "system",
          "threads", "threshold-coef", "truth", "tune-lssvm")
all <- sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", "^test-.*[.]R$"))
stopifnot(slow %in% all)
invisible(testthat::test_dir(
  "tests/testthat", package = "sparsels", load_package = "installed", reporter = "check",
  filter = sprintf("^(%s)$", paste(setdiff(all, slow), collapse = "|"))
))
