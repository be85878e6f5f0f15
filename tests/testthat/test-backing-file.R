# as_file_matrix(): matrices of other packages, by their files

example_values <- function() {
  set.seed(73)
  x <- matrix(rpois(20 * 40, 5) + 0, 20)
  list(x = x, y = x[, 3] - x[, 7] + rnorm(20))
}

# what an FBM says of itself
like_fbm <- function(path, x, type, codes = NULL) {
  structure(list(backingfile = path, nrow = nrow(x), ncol = ncol(x),
                 type = stats::setNames(1L, type), code256 = codes),
            class = c(if (!is.null(codes)) "FBM.code256", "FBM"))
}

test_that("an FBM is read by its file", {
  d <- example_values()
  fit <- greedy_rls(d$x, d$y, k = 3, lambda = 1, size = 2)
  for (kind in names(fbm_types)) {
    file <- write_file_matrix(d$x, tempfile(), fbm_types[[kind]])
    fbm <- like_fbm(file$path, d$x, kind)
    expect_identical(as.matrix(as_file_matrix(fbm)), d$x)
    expect_identical(greedy_rls(fbm, d$y, k = 3, lambda = 1, size = 2)$path, fit$path)
    expect_identical(predict(fit, fbm), predict(fit, d$x))
  }
  codes <- c(0, 0.5, NA, 1, rep(NA, 252))
  bytes <- write_file_matrix(d$x %% 4, tempfile(), "uint8")
  coded <- like_fbm(bytes$path, d$x, "unsigned char", codes)
  expect_identical(as.matrix(as_file_matrix(coded)), matrix(codes[d$x %% 4 + 1], 20))
  expect_identical(safe_screen(fbm, d$y, lambda = 9)$keep, safe_screen(d$x, d$y, lambda = 9)$keep)
})

# A function of a package that the checks need not have.
exported <- function(package, name) getExportedValue(package, name)

test_that("an FBM of bigstatsr itself", {
  skip_if_not_installed("bigstatsr")
  d <- example_values()
  path <- as_problem(d$x, d$y) |> greedy_rls(k = 3, lambda = 1, size = 2) |> getElement("path")
  for (kind in names(fbm_types)) {
    fbm <- exported("bigstatsr", "FBM")(20, 40, type = kind)
    fbm[] <- d$x
    expect_identical(as.matrix(as_file_matrix(fbm)), d$x)
    expect_identical(greedy_rls(fbm, d$y, k = 3, lambda = 1, size = 2)$path, path)
  }
  coded <- exported("bigstatsr", "FBM.code256")(20, 40, code = c(0:2 / 2, rep(NA, 253)))
  coded[] <- as.raw(d$x %% 4)
  expect_identical(as.matrix(as_file_matrix(coded)), matrix(c(0, 0.5, 1, NA)[d$x %% 4 + 1], 20))
})

test_that("a big.matrix of bigmemory itself", {
  skip_if_not_installed("bigmemory")
  old <- options(bigmemory.typecast.warning = FALSE)
  on.exit(options(old))
  d <- example_values()
  gap <- replace(d$x, 7, NA)
  path <- as_problem(d$x, d$y) |> greedy_rls(k = 3, lambda = 1, size = 2) |> getElement("path")
  for (kind in setdiff(names(big_matrix_types), "raw")) {
    folder <- tempfile()
    dir.create(folder)
    big <- suppressWarnings(exported("bigmemory", "filebacked.big.matrix")(
      20, 40, type = kind, backingfile = "x.bin", backingpath = folder, descriptorfile = "x.desc",
      dimnames = list(NULL, paste0("V", 1:40))
    ))
    suppressWarnings(big[, ] <- gap)
    expect_equal(unname(as.matrix(as_file_matrix(big))), gap)
    expect_error(as_problem(big, d$y), "row 7, column 'V1'", class = "sparsels_error_input")
    suppressWarnings(big[, ] <- d$x)
    expect_identical(colnames(as_file_matrix(big)), paste0("V", 1:40))
    expect_equal(greedy_rls(big, d$y, k = 3, lambda = 1, size = 2)$path, path)
    part <- exported("bigmemory", "sub.big.matrix")(big, firstRow = 2, backingpath = folder)
    expect_error(as_file_matrix(part), "whole", class = "sparsels_error_input")
  }
  # one in memory is written to a file, as the refusal says
  in_memory <- exported("bigmemory", "as.big.matrix")(d$x)
  expect_error(as_problem(in_memory, d$y), "backed by a file")
  expect_identical(as.matrix(write_file_matrix(in_memory, tempfile())), d$x)
})

test_that("a big.matrix that was saved has lost its file", {
  skip_if_not_installed("bigmemory")
  folder <- tempfile()
  dir.create(folder)
  big <- exported("bigmemory", "as.big.matrix")(
    example_values()$x, backingfile = "x.bin", backingpath = folder, descriptorfile = "x.desc"
  )
  saved <- unserialize(serialize(big, NULL))
  x <- example_values()$x
  uses <- list(function() as_problem(saved, 1:20), function() write_file_matrix(saved, tempfile()),
               function() as_problem(x, saved), function() as_problem(x, 1:20, adjust = saved))
  for (use in uses) {
    expect_error(use(), "was saved and read again", class = "sparsels_error_input")
  }
})

test_that("a descriptor of bigmemory is read by its fields", {
  d <- example_values()
  x <- d$x
  if (!methods::isClass("big.matrix.descriptor")) {
    methods::setClass("big.matrix.descriptor", slots = c(description = "list"),
                      where = environment())
  }
  described <- function(file, type, ...) {
    facts <- list(sharedType = "FileBacked", filename = basename(file$path),
                  dirname = paste0(dirname(file$path), "/"), totalRows = 20L, totalCols = 40L,
                  rowOffset = c(0, 20), colOffset = c(0, 40), nrow = 20, ncol = 40,
                  rowNames = NULL, colNames = paste0("c", 1:40), type = type, separated = FALSE)
    methods::new("big.matrix.descriptor", description = utils::modifyList(facts, list(...)))
  }
  names <- list(NULL, paste0("c", 1:40))
  short <- write_file_matrix(replace(x, 2, -32768), tempfile(), "int16")
  expect_identical(as.matrix(as_file_matrix(described(short, "short"))),
                   replace(matrix(x, 20, dimnames = names), 2, NA))
  char <- write_file_matrix(replace(x, 1:3, c(128, 129, 255)), tempfile(), "uint8")
  expect_identical(unname(as.matrix(as_file_matrix(described(char, "char")))),
                   replace(x, 1:3, c(NA, -127, -1)))
  expect_snapshot({
    refusal(as_file_matrix(described(char, "char", separated = TRUE)))
    refusal(as_file_matrix(described(char, "char", nrow = 19)))
    refusal(as_file_matrix(described(char, "complex")))
    refusal(as_file_matrix(described(char, "char", nrow = NULL)))
    refusal(as_file_matrix(like_fbm(char$path, x, "complex")))
    refusal(as_file_matrix(x))
    refusal(as_file_matrix("cohort"))
  })
})
