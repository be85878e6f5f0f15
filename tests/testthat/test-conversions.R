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
