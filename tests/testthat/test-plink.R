# bed_matrix(): genotypes of PLINK, two bits each

example_calls <- function(m = 39, n = 500) {
  set.seed(71)
  x <- matrix(rbinom(m * n, 2, 0.4) + 0, m,
              dimnames = list(paste0("p", seq_len(m)), paste0("rs", seq_len(n))))
  list(x = x, y = x[, 3] - x[, 1] + rnorm(m), g = factor(x[, 3] > 1),
       family = rep(1:13, each = 3)[seq_len(m)])
}

told <- function(expr) {
  message <- tryCatch({
    expr
    "none"
  }, sparsels_error_input = conditionMessage)
  cat(gsub("[^' ]*cohort[^' .]*", "COHORT", message), "\n")
}

test_that("copies of A1 come back, of any number of rows", {
  for (m in 2:9) {
    d <- example_calls(m, 5)
    x <- d$x
    x[2, 3] <- NA
    bed <- bed_matrix(write_bed(x))
    expect_identical(as.matrix(bed), x)
    expect_identical(bed[2, ], x[2, ])
    expect_identical(bed[, c("rs5", "rs3")], x[, c(5, 3)])
  }
  # bytes as the format's description has them: homozygous A1, missing, heterozygous, homozygous A2
  path <- write_bed(matrix(0, 4, 1))
  writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xe4)), path)
  expect_identical(unname(bed_matrix(path)[, ]), c(2, NA, 1, 0))
})

test_that("a search reads calls to the bits of the same values in memory", {
  d <- example_calls()
  path <- write_bed(d$x)
  set.seed(72)
  age <- cbind(age = rnorm(39))
  w <- runif(39, 0.5, 2)
  fits <- list(
    function(x) greedy_rls(x, d$y, k = 6, weights = w),
    function(x) greedy_rls(x, d$g, k = 4, lambda = 1, adjust = age, folds = d$family, size = 3),
    function(x) greedy_rls(x, d$y, k = 3, lambda = 1, criterion = "absolute", size = "criterion"),
    function(x) omp(x, d$y, k = 4), function(x) l1_path(x, d$y, adjust = age, nlambda = 20),
    function(x) l1_path(x, d$g, loss = "logistic", nlambda = 10),
    function(x) l1_path(x, d$g, loss = "hinge", nlambda = 5)
  )
  kept <- function(x) unclass(safe_screen(x, d$y, lambda = 20))[c("keep", "bounds", "lambda_max")]
  for (fit in fits) {
    in_memory <- fit(d$x)
    from_file <- fit(path)
    if (in_memory$method != "omp") { # whose products are added in blocks of a file
      expect_identical(from_file$path, in_memory$path)
      expect_identical(coef(from_file), coef(in_memory))
    }
    expect_equal(from_file$path, in_memory$path)
    adjust <- if (ncol(in_memory$problem$z) > 1L) age
    expect_identical(predict(in_memory, path, adjust = adjust),
                     predict(in_memory, d$x, adjust = adjust))
  }
  expect_identical(kept(path), kept(d$x))
  problem <- as_problem(path, d$y)
  expect_identical(problem$rows$name, rownames(d$x))
  expect_identical(problem$coding$response, "d$y")
  expect_identical(problem[1:9, 4:5]$x, d$x[1:9, 4:5])
})

test_that("a missing call is named", {
  d <- example_calls()
  gap <- d$x
  gap[5, 8] <- NA
  path <- write_bed(gap)
  expect_error(as_problem(path, d$y), "first: row 5, column 'rs8'", class = "sparsels_error_input")
})

test_that("missing calls take the means of the training rows, to the bits of the same in memory", {
  d <- example_calls()
  gaps <- d$x
  gaps[sample(length(gaps), 900)] <- NA
  gaps[, 7] <- NA # nobody was called: a constant
  path <- write_bed(gaps)
  w <- rep(c(1, 2, 0.5), 13)
  problems <- lapply(list(path, gaps), as_problem, y = d$y, weights = w, missing = "mean")
  expect_identical(problems[[1]]$columns, problems[[2]]$columns)
  called <- !is.na(gaps)
  expect_equal(problems[[1]]$columns$mean[-7], unname(colSums(replace(w * gaps, !called, 0)) /
                                                colSums(w * called))[-7])
  fits <- lapply(problems, greedy_rls, k = 5, lambda = 1, folds = d$family, size = 3)
  expect_identical(fits[[1]]$path, fits[[2]]$path)
  expect_identical(coef(fits[[1]]), coef(fits[[2]]))
  expect_identical(predict(fits[[1]], path), predict(fits[[2]], gaps))
  outer <- lapply(problems, cross_validate, method = greedy_rls, k = 3, lambda = 1, size = 2,
                  size_folds = 3, outer = d$family, baselines = NULL)
  expect_equal(outer[[1]]$held_out, outer[[2]]$held_out, tolerance = 1e-12)
})

test_that("names tell people and variants apart", {
  d <- example_calls(4, 4)
  bed <- bed_matrix(write_bed(d$x, ids = c("rs1", ".", "rs2", "rs2"), people = c(1:3, 3)),
                    fam = {
                      fam <- tempfile()
                      writeLines(paste(c("a", "a", "a", "b"), c(1:3, 3), 0, 0, 0, -9), fam)
                      fam
                    })
  expect_identical(colnames(bed), c("rs1", "1:200:A:G", "1:300:A:G", "1:400:A:G"))
  expect_identical(rownames(bed), c("a:1", "a:2", "a:3", "b:3"))
})

test_that("a byte of 0 in a file of names is refused", {
  path <- write_bed(example_calls(6, 3)$x)
  writeBin(as.raw(c(49, 32, 0, 32, 48)), sub("bed$", "bim", path))
  expect_no_warning(expect_error(bed_matrix(path), "six columns", class = "sparsels_error_input"))
})

test_that("what is no such file is refused", {
  d <- example_calls(6, 3)
  path <- write_bed(d$x)
  stem <- sub("[.]bed$", "", path)
  bytes <- readBin(path, "raw", 100)
  expect_snapshot({
    writeLines(sub("in .*", "in FILE", utils::capture.output(print(bed_matrix(path)))))
    told(bed_matrix("cohort-none.bed"))
    told(as_problem("cohort-none.bed", d$y))
    told(as_problem("some text", d$y))
    told(bed_matrix(path, fam = 3))
    told(bed_matrix(path, bim = "cohort-none.bim"))
    told({
      writeLines(paste("fam", 1:9, "0 0 0 -9"), paste0(stem, ".fam"))
      bed_matrix(path)
    })
    told({
      writeLines(paste("fam", c(1:3, 2, 4:5), "0 0 0 -9"), paste0(stem, ".fam"))
      bed_matrix(path)
    })
    told({
      writeLines(c("fam 1 0 0 0", "fam 2"), paste0(stem, ".fam"))
      bed_matrix(path)
    })
    told({
      writeBin(replace(bytes, 3, as.raw(0)), path)
      bed_matrix(path)
    })
    told({
      writeBin(as.raw(1:9), path)
      bed_matrix(path)
    })
  })
})

test_that("phenotypes of -9 are said, and a line of names is refused", {
  d <- example_calls(n = 20)
  path <- write_bed(d$x)
  for (y in list(rep(c(1, 2, -9), 13), replace(d$y, 4, -9), replace(rep(1:2, 20)[1:39], 4, -9L))) {
    expect_message(as_problem(path, y), "`y` is -9 in [0-9]+ rows?, as PLINK writes missing",
                   class = "sparsels_message_phenotypes")
  }
  expect_no_message(as_problem(d$x, replace(d$y, 4, -9)), class = "sparsels_message_phenotypes")
  expect_no_message(as_problem(path, d$y))
  expect_identical(nrow(as_problem(path, replace(d$y, 4, NA), na.action = na.omit)), 39L)
  fam <- sub("bed$", "fam", path)
  writeLines(c("FID IID PAT MAT SEX PHENOTYPE", readLines(fam)), fam)
  expect_error(bed_matrix(path), "has a line of names", class = "sparsels_error_input")
})
