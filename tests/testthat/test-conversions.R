# write_file_matrix() of what other packages read: HDF5 and delayed operations on it

# genes x samples of counts, as they lie in files, with dimnames
genes_by_samples <- function() {
  set.seed(71)
  matrix(rpois(600 * 40, 3), 600, dimnames = list(paste0("g", 1:600), paste0("s", 1:40)))
}

in_hdf5 <- function(x, chunk = NULL, ...) {
  HDF5Array::writeHDF5Array(x, tempfile(fileext = ".h5"), "x", chunkdim = chunk,
                            with.dimnames = TRUE, ...)
}

new_file <- function() tempfile("converted", fileext = ".bin")

# What a progress bar is told, and the columns of each block.
watched <- function(code) {
  told <- NULL
  bar <- function(...) function(done, total, ...) told <<- rbind(told, c(done, total) + 0)
  value <- with_binding("progress_bar", bar, code)
  list(value = value, told = told)
}

test_that("a matrix in HDF5 comes over with its names, samples in rows", {
  skip_if_not_installed("HDF5Array")
  x <- genes_by_samples()
  for (chunk in list(NULL, c(7, 40), c(600, 1), c(50, 11))) {
    stored <- in_hdf5(x, chunk)
    for (type in c("uint8", "double")) {
      expect_identical(as.matrix(write_file_matrix(t(stored), new_file(), type)), t(x) + 0)
    }
  }
  file <- write_file_matrix(stored, new_file(), "int16", block = 3)
  expect_identical(as.matrix(file), x + 0)
  sparse <- in_hdf5(x, as.sparse = TRUE)
  expect_identical(as.matrix(write_file_matrix(t(sparse), new_file(), "uint8")), t(x) + 0)
})

test_that("delayed operations are carried out block by block", {
  skip_if_not_installed("HDF5Array")
  x <- genes_by_samples()
  delayed <- log2(t(in_hdf5(x))[5:36, ] + 1)
  expect_identical(as.matrix(write_file_matrix(delayed, new_file(), block = 100)),
                   log2(t(x)[5:36, ] + 1))
})

test_that("whole chunks are read where they are not too large, and progress is told", {
  skip_if_not_installed("HDF5Array")
  x <- genes_by_samples()
  stored <- t(in_hdf5(x, c(250, 40)))
  written <- function(x, ...) watched(write_file_matrix(x, new_file(), "uint8", ...))
  blocks <- function(...) written(...)$told[, 1]
  # of 40 rows and 250 columns in a chunk
  with_binding("written_values", 40 * 100, {
    expect_identical(blocks(stored), c(250, 500, 600))
    expect_identical(blocks(t(x)), c(100, 200, 300, 400, 500, 600))
    expect_identical(with_binding("max_realised", 40 * 249, blocks(stored)), blocks(t(x)))
  })
  expect_identical(with_binding("written_values", 40 * 260, blocks(stored)), c(500, 600))
  expect_identical(blocks(stored), 600)
  expect_identical(written(stored, block = 350)$told, cbind(c(350, 600), 600))
})

test_that("the model of a converted file is that of the values in memory", {
  skip_if_not_installed("HDF5Array")
  x <- genes_by_samples()
  y <- x["g3", ] - x["g9", ] + sin(1:40)
  file <- write_file_matrix(t(in_hdf5(x)), new_file(), "uint8")
  fit <- bare_rls(file, y, k = 3, lambda = 1)
  in_memory <- bare_rls(t(x), y, k = 3, lambda = 1)
  expect_identical(fit$path, in_memory$path)
  expect_identical(predict(fit, t(in_hdf5(x))), predict(in_memory, t(x)))
})

test_that("a source that fails leaves no file", {
  skip_if_not_installed("HDF5Array")
  stored <- in_hdf5(genes_by_samples())
  path <- new_file()
  expect_error(write_file_matrix(stored - 1L, path, "uint8"), "cannot hold the value -1")
  expect_false(file.exists(path))
  unlink(DelayedArray::seed(stored)@filepath)
  expect_error(suppressWarnings(write_file_matrix(stored, path)))
  expect_false(file.exists(path))
})

test_that("a table by rows of sample, gene and value is read by genes", {
  x <- genes_by_samples()
  long <- data.frame(sample = rep(colnames(x), each = 600), gene = rownames(x), value = c(x))
  set.seed(72)
  long <- long[sample(nrow(long)), ]
  genes <- rownames(x)
  read <- function(columns) {
    part <- long[long$gene %in% genes[columns], ]
    unclass(stats::xtabs(value ~ factor(sample, colnames(x)) + factor(gene, genes[columns]), part))
  }
  file <- write_file_matrix(read, new_file(), "uint8", nrow = 40, ncol = 600, block = 100,
                            dimnames = list(colnames(x), genes))
  expect_identical(as.matrix(file), t(x) + 0)
})

test_that("values that SPSS declares as missing are missing, in every place of a variable", {
  d <- data.frame(y = sin(1:24), a = cos(1:24))
  d$s <- structure(rep(c(1, 2, 9, 95), 6), na_values = 9, na_range = c(90, 99),
                   class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  plain <- replace(d, "s", rep(c(1, 2, NA, NA), 6))
  for (formula in list(y ~ a + s, y ~ a + log(s), s ~ y + a)) {
    expect_error(as_problem(formula, d), "missing", class = "sparsels_error_input")
    given <- rls(formula, d, na.action = na.omit, lambda = 1)
    known <- rls(formula, plain, na.action = na.omit, lambda = 1)
    expect_identical(coef(given), coef(known))
    expect_identical(suppressWarnings(predict(given, d)), suppressWarnings(predict(known, plain)))
  }
  x <- as.matrix(d["a"])
  expect_equal(as_problem(d[c("a", "s")], d$y, missing = "mean")$columns$centre[2], 1.5)
  for (name in c("adjust", "weights", "groups", "offset")) {
    arguments <- stats::setNames(list(d$s), name)
    problem <- do.call(as_problem, c(list(x, d$y, na.action = na.omit), arguments))
    expect_identical(nrow(problem), 12L)
  }
})

test_that("lists, frames and raw values as variables are refused with what makes numbers of them", {
  d <- data.frame(y = sin(1:20), a = cos(1:20))
  variables <- list(as.list(1:20), data.frame(p = 1:20, q = 1:20), as.raw(1:20))
  for (i in 1:3) {
    d$v <- variables[[i]]
    words <- c("unlist", "as.matrix", "as.integer")[i]
    for (formula in list(y ~ a + v, y ~ ., y ~ log(a + 2) + v, y ~ log(a + 2) + .)) {
      expect_error(as_problem(formula, d), paste0("column 'v' of `data` .*", words, "\\(\\)"),
                   class = "sparsels_error_input")
    }
  }
  expect_error(as_problem(d["a"], d$y, adjust = as.list(1:20)), "unlist\\(\\) makes a vector",
               class = "sparsels_error_input")
})
