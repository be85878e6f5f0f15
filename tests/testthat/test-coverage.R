# A tenth of the draws by which intervals and sets were measured, on each design of the benches.
# Half an hour of CPU each, so in the long form of the tests alone.

# Runs a script of bench/ and gives the values of its draws.
bench_values <- function(script, ...) {
  long <- identical(Sys.getenv("SPARSELS_EXTENDED_TESTS"), "true")
  skip_if_not(long, "SPARSELS_EXTENDED_TESTS=true, which runs the designs of the benches,")
  root <- normalizePath(test_path("..", ".."))
  skip_if_not(file.exists(file.path(root, "bench", script)), "a clone of the repository")
  out <- tempfile()
  dir.create(out)
  old <- setwd(root)
  on.exit({
    setwd(old)
    unlink(out, recursive = TRUE)
  })
  each <- file.path(out, "each.rds")
  status <- system2(file.path(R.home("bin"), "Rscript"), stdout = FALSE, args = c(
    file.path("bench", script), ..., "draws=50", paste0("each=", each), paste0("out=", out)
  ))
  expect_identical(status, 0L)
  readRDS(each)
}

# The mean coverage of 50 data sets may be three standard errors from its limits.
expect_within <- function(covers, least, most = 1, label) {
  covers <- covers[!is.na(covers)]
  near <- 3 * stats::sd(covers) / sqrt(length(covers))
  expect_gt(mean(covers), least - near - 1e-9, label = label)
  expect_lt(mean(covers), most + near + 1e-9, label = label)
}

test_that("predictions at .90 cover .88 to .95 of new rows, and each class of a set .88", {
  for (values in bench_values("coverage.R", "first=5001")) {
    label <- paste(values$part[1], values$data[1])
    if (values$part[1] == "sets") {
      expect_within(values$coverage, 0.88, label = label)
      expect_within(values$rarest, 0.88, label = label)
    } else {
      expect_within(values$coverage, 0.88, 0.95, label)
    }
  }
})

test_that("errors at .95 are covered in .90 of each design and in .93 to .98 on average", {
  values <- bench_values("coverage-error.R", "first=5001", "new=2000")
  # squared errors of heavy tails, which a few rows decide, have no such interval
  heavy <- values$measure == "squared" & values$design %in% c("A6", "B8", "N4", "N5")
  values <- values[!heavy & !is.na(values$covers), ]
  for (own in split(values, list(values$design, values$measure), drop = TRUE)) {
    # so few of 50 in one of a thousand tables where each is covered with probability .90
    least <- stats::qbinom(0.001, nrow(own), 0.9)
    expect_gte(sum(own$covers), least, label = paste(own$design[1], own$measure[1]))
  }
  # designs share no data set, the two measures of a design do
  by_set <- tapply(values$covers, paste(values$design, values$draw), mean)
  expect_within(by_set, 0.93, 0.98, "all designs")
})
