# file_matrix(): columns in a file, read where they lie

new_path <- function() tempfile("columns", fileext = ".bin")

# whole numbers that every type can hold, two of which are the response but for noise
example_counts <- function() {
  set.seed(61)
  x <- matrix(rpois(30 * 900, 20), 30, dimnames = list(paste0("r", 1:30), paste0("g", 1:900)))
  list(x = x + 0, y = x[, 3] - x[, 7] + rnorm(30), g = factor(x[, 3] > x[, 7]))
}

in_file <- function(x, type = "double", ...) write_file_matrix(x, new_path(), type, ...)

# the package must be installed for another process to find it
has_package <- function() file.exists(system.file("Meta", "package.rds", package = "sparsels"))

test_that("values come back, of every type", {
  d <- example_counts()
  for (type in names(file_types)) {
    file <- in_file(d$x, type)
    expect_identical(as.matrix(file), d$x)
    expect_identical(dim(file), dim(d$x))
    expect_identical(file$size, file_types[[type]]$bytes * length(d$x))
    expect_identical(file[c(2, 5), c("g3", "g1")], d$x[c(2, 5), c("g3", "g1")])
    expect_identical(file["r3", ], d$x["r3", ])
    expect_identical(file[-1, 4], d$x[-1, 4])
    expect_identical(file[, 900, drop = FALSE], d$x[, 900, drop = FALSE])
    expect_identical(file[, integer(), drop = FALSE], d$x[, integer(), drop = FALSE])
    again <- file_matrix(file$path, 30, 900, type)
    expect_identical(as.matrix(again), unname(d$x))
  }
  fractions <- d$x / 7
  expect_identical(as.matrix(in_file(fractions)), fractions)
  expect_identical(as.matrix(in_file(fractions, "float")), as.matrix(float_matrix(fractions)))
})

test_that("the ends of each type and its missing values are kept, others are refused", {
  low <- c(int32 = -2147483647, int16 = -32768, uint16 = 0, uint8 = 0)
  high <- c(int32 = 2147483647, int16 = 32767, uint16 = 65535, uint8 = 255)
  for (type in names(low)) {
    ends <- rbind(low[[type]], high[[type]], 0)
    expect_identical(as.matrix(in_file(ends, type)), ends)
    for (off in list(ends - 1, ends + 1, ends + 0.5, ends * Inf)) {
      expect_error(in_file(off, type), "cannot hold the value", class = "sparsels_error_input")
    }
  }
  gaps <- matrix(c(NA, 1, NaN, Inf), 2)
  expect_identical(as.matrix(in_file(gaps)), gaps)
  expect_identical(is.na(as.matrix(in_file(gaps, "float"))), is.na(gaps))
  expect_identical(as.matrix(in_file(matrix(c(NA, 3L), 2), "int32")), matrix(c(NA, 3), 2))
  expect_error(in_file(matrix(c(NA, 3L), 2), "uint8"), "the value NA in row 1, column 1")
  expect_error(in_file(matrix(1e39), "float"), "cannot hold the value 1e\\+39")
})

test_that("codes stand for values", {
  d <- example_counts()
  dosages <- seq(0, 2, by = 0.01)
  x <- matrix(dosages[d$x %% 201 + 1], 30, dimnames = dimnames(d$x))
  file <- in_file(x, "uint8", codes = dosages)
  expect_identical(file$size, 27000)
  expect_identical(as.matrix(file), x)
  gaps <- replace(x, c(3, 800), c(NA, NaN))
  with_gaps <- in_file(gaps, "uint8", codes = dosages)
  expect_identical(as.matrix(with_gaps), replace(x, c(3, 800), NA))
  expect_error(as_problem(with_gaps, d$y), "has 2 missing or infinite values \\(first: row 3, ")
  same <- file_matrix(file$path, 30, 900, "uint8", codes = dosages)
  expect_identical(as.matrix(same), unname(x))
  fits <- list(
    function(x) greedy_rls(x, d$y, k = 6), function(x) l1_path(x, d$y, nlambda = 20),
    function(x) greedy_rls(x, d$g, k = 4, lambda = 1, folds = rep(1:5, 6), size = 3),
    function(x) l1_path(x, d$g, loss = "logistic", nlambda = 10)
  )
  for (fit in fits) expect_identical(coef(fit(file)), coef(fit(x)))
  expect_snapshot({
    writeLines(utils::capture.output(print(file))[1L])
    refusal(in_file(x + 0.005, "uint8", codes = dosages))
    refusal(in_file(matrix(c(0, NA), 1), "uint8", codes = 0:255))
    refusal(in_file(x, "int16", codes = dosages))
    refusal(file_matrix(file$path, 30, 900, "uint8", codes = letters))
    refusal(file_matrix(file$path, 30, 900, "uint8", codes = 0:256))
  })
})

test_that("anything that is read by columns can be written", {
  d <- example_counts()
  sparse <- methods::as(replace(d$x, d$x < 20, 0), "CsparseMatrix")
  expect_identical(as.matrix(in_file(sparse, "uint8")), as.matrix(sparse))
  expect_identical(as.matrix(in_file(float_matrix(d$x), "int16")), d$x)
  expect_identical(as.matrix(in_file(in_file(d$x, "uint8"), "double", block = 7)), d$x)
  expect_identical(as.matrix(in_file(d$x > 20, "uint8")), (d$x > 20) + 0)
  asked <- list()
  made <- in_file(function(columns) {
    asked <<- c(asked, list(columns))
    unname(d$x[, columns, drop = FALSE])
  }, nrow = 30, ncol = 900, block = 400, dimnames = dimnames(d$x))
  expect_identical(asked, list(1:400, 401:800, 801:900))
  expect_identical(as.matrix(made), d$x)
  skip_if_not_installed("DelayedArray")
  expect_identical(as.matrix(in_file(DelayedArray::DelayedArray(d$x), "int32")), d$x)
})

test_that("every type gives the bits of the same values in memory", {
  d <- example_counts()
  set.seed(62)
  age <- rnorm(30)
  w <- runif(30, 0.5, 2)
  fits <- list(
    function(x) greedy_rls(x, d$y, k = 6, weights = w),
    function(x) greedy_rls(x, d$g, k = 4, lambda = 1, adjust = age, folds = rep(1:5, 6), size = 3),
    function(x) greedy_rls(x, d$y, k = 3, lambda = 1, criterion = "absolute", size = "criterion"),
    function(x) greedy_rls(x, d$y, k = 4, lambda = 1, search = "floating", size = "criterion"),
    function(x) l1_path(x, d$y, adjust = cbind(age), nlambda = 20),
    function(x) l1_path(x, d$g, loss = "logistic", nlambda = 10),
    function(x) l1_path(x, d$g, loss = "hinge", nlambda = 5)
  )
  in_memory <- lapply(fits, function(fit) fit(d$x))
  kept <- function(...) {
    unclass(safe_screen(..., lambda = 20))[c("keep", "bounds", "lambda_max")]
  }
  kept_in_memory <- kept(d$x, d$y)
  for (type in names(file_types)) {
    file <- in_file(d$x, type)
    for (i in seq_along(fits)) {
      fit <- fits[[i]](file)
      expect_identical(fit$path, in_memory[[i]]$path)
      expect_identical(coef(fit), coef(in_memory[[i]]))
    }
    first <- in_memory[[1L]]
    expect_identical(predict(first, file), predict(first, d$x))
    expect_identical(kept(file, d$y), kept_in_memory)
    expect_identical(kept(as_problem(file, d$y)), kept_in_memory)
  }
})

test_that("screening reads a file by blocks", {
  d <- example_counts()
  file <- in_file(d$x, "uint8")
  blocks <- column_blocks
  kept <- function(loss, y) safe_screen(file, y, lambda = 5, loss = loss)
  for (loss in c("squared", "logistic", "hinge")) {
    y <- if (loss == "squared") d$y else d$g
    whole <- kept(loss, y)
    small <- with_binding("column_blocks", function(rows, columns, values) blocks(1, columns, 70), {
      kept(loss, y)
    })
    expect_identical(small$keep, whole$keep)
    expect_equal(small$bounds, whole$bounds, tolerance = 1e-12)
  }
})

test_that("forward regression and matching pursuit leave x in its file", {
  d <- example_counts()
  far <- d$x + 1e4
  set.seed(63)
  w <- runif(30, 0.5, 2)
  calls <- list(
    function(x) forward_regression(x, d$y, k = 6),
    function(x) forward_regression(x, d$g, k = 4, weights = w, adjust = cbind(a = sin(1:30))),
    function(x) omp(x, d$y, k = 5, lambda = 2), function(x) foba(x, d$y, k = 4),
    function(x) omp(x, d$y, k = 4, intercept = FALSE, size = "criterion")
  )
  file <- in_file(far)
  taken <- function(...) stop("columns were copied")
  for (fit in calls) {
    on_disk <- with_binding("gram_terms", taken, fit(file))
    in_memory <- fit(far)
    expect_identical(on_disk$path$feature, in_memory$path$feature)
    expect_equal(coef(on_disk), coef(in_memory), tolerance = 1e-7)
    expect_equal(on_disk$path$criterion, in_memory$path$criterion, tolerance = 1e-9)
  }
})

test_that("what takes rows or all of x does so up to a size, and says what would be more", {
  d <- example_counts()
  file <- in_file(d$x, "uint8")
  gaussian <- kernel_gaussian(1e-4)
  by_kernel <- function(x) kernel_rls(x, d$y, kernel = gaussian, lambda = 1)
  expect_identical(by_kernel(file)$path, by_kernel(d$x)$path)
  expect_identical(as_problem(file, d$y)[2:9, 3:5]$x, d$x[2:9, 3:5])
  problem <- as_problem(file, d$y)
  told <- function(expr) {
    message <- tryCatch(expr, error = function(e) {
      expect_s3_class(e, "sparsels_error_input")
      gsub(file$path, "FILE", conditionMessage(e), fixed = TRUE)
    })
    cat(message, "\n")
  }
  with_binding("max_realised", 1000, expect_snapshot({
    told(problem[1:20, ])
    told(file[, 1:40])
    told(l1_path(file, d$y, solver = "ipm", nlambda = 3))
    told(kernel_rls(file, d$y, kernel = gaussian))
    told(rls(file, d$y))
    told(best_subset(file, d$y, k = 2))
    told(wrapper_rls(file, d$y, k = 1, lambda = 1))
    told(predict(rls(d$x, d$y, lambda = 1), file))
  }))
  expect_identical(with_binding("max_realised", 1000, as.matrix(file)), d$x)
})

test_that("a search keeps no more of a large file than bounds take", {
  d <- example_counts()
  file <- in_file(d$x, "int16")
  path <- function(x, ...) greedy_rls(x, d$y, lambda = 1, size = "criterion", ...)$path
  as_large <- function(code) with_binding("most_candidate_values", 1000, code)
  expect_identical(as_large(path(file, k = 5)), path(d$x, k = 5))
  expect_equal(as_large(path(file[, 1:60], k = 5)), path(d$x[, 1:60], k = 5))
  few <- in_file(d$x[, 1:40], "int16")
  expect_equal(as_large(path(few, k = 5)), path(d$x[, 1:40], k = 5))
  all_given <- as_large(path(file, k = 2, start = c("g7", "g3")))
  expect_equal(all_given, path(d$x, k = 2, start = c("g7", "g3")))
  by_folds <- list(k = 2, start = c("g7", "g3"), folds = rep(1:5, 6))
  expect_equal(as_large(do.call(path, c(list(file), by_folds))),
               do.call(path, c(list(d$x), by_folds)))
  for (search in c("floating", "forward_backward")) {
    expect_equal(as_large(path(file, k = 5, search = search)), path(d$x, k = 5, search = search))
  }
  expect_equal(as_large(path(file, k = 5, criterion = "absolute")),
               path(d$x, k = 5, criterion = "absolute"))
  expect_snapshot(as_large(refusal(path(file, k = 5, search = "backward"))))
})

test_that("permutations share the file", {
  d <- example_counts()
  test <- function(x, ...) {
    set.seed(64)
    permutation_test(x, greedy_rls, y = d$y, k = 3, lambda = 1, permutations = 5, ...)
  }
  file <- in_file(d$x, "uint8")
  same <- c("p.value", "statistic", "null", "by_size")
  on_disk <- with_binding("max_realised", 30 * 10, test(file, size = "criterion", refit = FALSE))
  expect_identical(unclass(on_disk)[same],
                   unclass(test(d$x, size = "criterion", refit = FALSE))[same])
  expect_identical(unclass(test(file, size_folds = 3))[same],
                   unclass(test(d$x, size_folds = 3))[same])
})

test_that("another process opens the file itself", {
  skip_on_cran()
  skip_if_not(has_package(), "a process that can see the package")
  d <- example_counts()
  file <- in_file(d$x, "float")
  expect_identical(file[1, 2], d$x[1, 2]) # open here
  saved <- tempfile(fileext = ".rds")
  saveRDS(as_problem(file, d$y), saved)
  expect_identical(readRDS(saved)$x[, 5:6], d$x[, 5:6])
  cluster <- parallel::makePSOCKcluster(1)
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, function(paths) .libPaths(paths), .libPaths())
  read <- parallel::clusterCall(cluster, function(saved, file) {
    list(sparsels::omp(readRDS(saved), k = 2)$path, file[1:3, 1:2])
  }, saved, file)
  expect_identical(read[[1L]], list(omp(as_problem(file, d$y), k = 2)$path, d$x[1:3, 1:2]))
})

test_that("forked workers give what one process gives", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  skip_if_not(future::supportsMulticore())
  d <- example_counts()
  file <- in_file(d$x)
  fit <- function() {
    set.seed(65)
    cross_validate(file, greedy_rls, y = d$y, k = 3, lambda = 1, outer = 2)$estimates
  }
  alone <- fit()
  old <- future::plan(future::multicore, workers = 2)
  on.exit(future::plan(old))
  expect_equal(fit(), alone)
})

test_that("a file that has changed is named", {
  d <- example_counts()
  told <- function(expr) {
    tryCatch({
      expr
      ""
    }, sparsels_error_input = conditionMessage)
  }
  file <- in_file(d$x, "uint8")
  fit <- greedy_rls(file, d$y, k = 2, lambda = 1, size = 2)
  problem <- as_problem(file, d$y)
  Sys.setFileTime(file$path, Sys.time() - 1000)
  expect_match(told(file[, 1]), "has changed: it was written at")
  for (use in list(told(as_problem(file, d$y)), told(greedy_rls(problem, k = 2, lambda = 1)),
                   told(predict(fit, file)), told(l1_path(problem, nlambda = 3)))) {
    expect_match(use, sprintf("the file '%s' of a file_matrix has changed", file$path),
                 fixed = TRUE)
  }
  expect_identical(file_matrix(file$path, 30, 900, "uint8")[, 1], unname(d$x[, 1]))
  writeBin(raw(10), file$path)
  expect_match(told(file[, 1]), "has changed: it has 10 bytes, not 27000 bytes", fixed = TRUE)
  unlink(file$path)
  expect_match(told(problem[, 1:2]), "is not there any more", fixed = TRUE)
  # a map of no such kind
  other <- in_file(d$x)
  other$map <- methods::new("externalptr")
  expect_match(told(other[, 1]), "the field `map` .* was the object edited")
  # a map of another size than the object says
  longer <- in_file(d$x)
  expect_identical(longer[1, 1], d$x[1, 1])
  shorter <- in_file(d$x[, 1:10])
  shorter$map <- longer$map
  expect_match(told(shorter[, 1]), "the field `map` .* was the object edited")
})

test_that("what keeps a file from being mapped is told: permission, or too little memory", {
  file <- in_file(diag(3))
  expect_error(stop_unmapped(file), "cannot be mapped: there is no space for 72 bytes",
               class = "sparsels_error_memory")
  file$path <- tempfile()
  expect_error(stop_unmapped(file), "cannot be read: open it again",
               class = "sparsels_error_input")
})

test_that("a file in whose place another was put is named", {
  skip_on_os("windows")
  d <- example_counts()
  file <- in_file(d$x)
  expect_identical(file[2, 3], d$x[[2, 3]])
  other <- in_file(2 * d$x)
  Sys.setFileTime(other$path, .POSIXct(file$modified))
  Sys.setFileTime(file$path, .POSIXct(file$modified))
  file$modified <- file_facts(file$path)$modified
  expect_identical(file[2, 3], d$x[[2, 3]])
  file.rename(other$path, file$path)
  expect_error(file[2, 3], "another file took its place", class = "sparsels_error_input")
})

test_that("values written after the data were checked are named by their column", {
  d <- example_counts()
  file <- in_file(d$x + 0)
  problem <- as_problem(file, d$y)
  changed <- replace(d$x + 0, 30 * 4 + 1:30, 100 + 10 * d$y)
  # as another program may write it: the time of the file is as it was
  writeBin(as.vector(changed), con <- file(file$path, "r+b"))
  close(con)
  Sys.setFileTime(file$path, .POSIXct(file$modified))
  file$modified <- problem$x$modified <- file_facts(file$path)$modified
  problem <- seal(problem)
  for (fit in list(function() greedy_rls(problem, k = 2, lambda = 1, size = "criterion"),
                   function() omp(problem, k = 2, size = "criterion"),
                   function() l1_path(problem, nlambda = 5))) {
    expect_error(fit(), "has changed: column 'g5' has other values",
                 class = "sparsels_error_input")
  }
  expect_identical(as_problem(file, d$y)$columns$centre[5], mean(100 + 10 * d$y))
})

test_that("a disk that is full is told at its first block, and nothing is left", {
  folder <- tempfile("folder")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  asked <- 0
  columns <- function(columns) {
    asked <<- asked + 1
    matrix(1, 10, length(columns))
  }
  path <- file.path(folder, "x.bin")
  write <- function() write_file_matrix(columns, path, nrow = 10, ncol = 100, block = 10)
  room <- function(path) min(file.size(path), 2000)
  expect_error(with_binding("bytes_written", room, write()), "too little space for 8000 bytes",
               class = "sparsels_error_input")
  expect_identical(asked, 3)
  expect_identical(dir(folder), character())
  expect_identical(write()[3, 99], 1)
  expect_identical(dir(folder), "x.bin")
})

test_that("rows far apart are read without those between, in any order", {
  d <- write_file_matrix(matrix(1:20000 %% 251, 20000), tempfile(), "uint8")
  for (rows in list(c(1, 20000), c(20000, 1, 1, 9999), sample(20000), 20000:1, integer(), 4099:4090,
                    c(4100, 1, 4097, 8200, 5, 20000))) {
    expect_identical(d[rows, ], (rows %% 251) + 0)
  }
  path <- tempfile()
  on.exit(unlink(path))
  rows <- 2^31 - 1
  # a file of zeros that takes no room where the system has such files
  skip_if_not(nzchar(Sys.which("truncate")))
  skip_if(system2("truncate", c("-s", "2147483647", path)) != 0)
  long <- file_matrix(path, rows, 1, "uint8")
  gc(reset = TRUE)
  expect_identical(long[c(1, rows), 1], c(0, 0))
  expect_lt(sum(gc()[, 6]), 1000)
})

test_that("a file is closed when nothing refers to it", {
  skip_if_not(file.exists("/proc/self/maps"))
  file <- in_file(example_counts()$x)
  path <- file$path
  is_open <- function() any(endsWith(readLines("/proc/self/maps"), path))
  expect_false(is_open())
  expect_identical(dim(file[, 1:2]), c(30L, 2L))
  expect_true(is_open())
  rm(file)
  gc()
  expect_false(is_open())
})

test_that("sizes at the edge", {
  for (dim in list(c(0L, 3L), c(3L, 0L), c(0L, 0L), c(1L, 1L))) {
    empty <- in_file(matrix(0, dim[1L], dim[2L]))
    expect_identical(dim(empty), dim)
    expect_identical(as.matrix(empty), matrix(0, dim[1L], dim[2L]))
    expect_error(as_problem(empty, numeric(dim[1L])), class = "sparsels_error_input")
  }
  named <- in_file(matrix(1:4 + 0, 2))
  colnames(named) <- c("a", "b")
  expect_identical(named[, "b"], c(3, 4))
  expect_error(colnames(named) <- "a", class = "sparsels_error_input")
  skip_on_cran()
  skip_on_os("windows") # where a file has no holes
  path <- new_path()
  on.exit(unlink(path))
  rows <- 3
  columns <- 1e9
  connection <- file(path, "wb")
  seek(connection, rows * columns - 2, rw = "write")
  writeBin(as.raw(c(7, 9)), connection)
  close(connection)
  wide <- file_matrix(path, rows, columns, "uint8")
  expect_identical(wide[, c(1, 999999999, 1000000000)], cbind(c(0, 0, 0), 0, c(0, 7, 9)))
  tall <- file_matrix(path, columns, rows, "uint8")
  expect_identical(tall$dim, c(1000000000L, 3L))
  expect_error(wide[, ], class = "sparsels_error_input")
})

test_that("what is no such file or matrix is refused", {
  d <- example_counts()
  file <- in_file(d$x, "int32")
  told <- function(expr) {
    message <- tryCatch({
      expr
      "none"
    }, sparsels_error_input = conditionMessage)
    cat(gsub("'[^']*(folder|columns)[^']*'", "FILE", message), "\n")
  }
  damaged <- unclass(file)
  damaged$dim <- c(30L, 901L)
  class(damaged) <- class(file)
  gap <- d$x
  gap[3, 2] <- NA
  folder <- tempfile("folder")
  dir.create(folder)
  square <- function(columns) matrix(0, 2, 2)
  expect_snapshot({
    writeLines(sub("in .*", "in FILE", utils::capture.output(print(file))))
    told(file_matrix(new_path(), 3, 3))
    told(file_matrix(folder, 3, 3))
    told(file_matrix(file$path, 30, 899, "int32"))
    told(file_matrix(file$path, 30, 900))
    told(file_matrix(file$path, 30, -1))
    told(file_matrix(file$path, 30, 900, "int8"))
    told(file_matrix(file$path, 30, 900, "int32", dimnames = list(letters, NULL)))
    told(file_matrix(3, 30, 900))
    told(file[3])
    told(file[, "g901"])
    told(file[, c(-1, 1)])
    told(file[, list(1)])
    told(float_matrix(d$x)[, c(NA, -1)])
    told(as_problem(damaged, d$y))
    told(as_problem(in_file(gap), d$y))
    told(as_problem(in_file(gap, "float"), d$y))
    told(as_problem(in_file(gap, "int32"), d$y))
    told(write_file_matrix(d$x, file$path))
    told(write_file_matrix(d$x, file.path(folder, "a", "b")))
    told(write_file_matrix(1:3, new_path()))
    told(write_file_matrix(data.frame(a = 1), new_path()))
    told(write_file_matrix(matrix("a"), new_path()))
    told(write_file_matrix(d$x, new_path(), nrow = 30))
    told(write_file_matrix(square, new_path(), nrow = 2, ncol = 3))
    told(write_file_matrix(matrix(c(0, 0, 0, 300), 2), new_path(), "uint8"))
    told(write_file_matrix(d$x, new_path(), "double", 30))
  })
  # what was begun is taken away
  expect_identical(dir(folder), character())
  expect_error(write_file_matrix(d$x, file.path(folder, strrep("a", 300))), "cannot be written",
               class = "sparsels_error_input")
  for (path in c(paste0(folder, "/new/"), folder)) {
    expect_error(write_file_matrix(d$x, path), "a file, not a folder",
                 class = "sparsels_error_input")
  }
  expect_error(file_matrix(`Encoding<-`("\xe9", "bytes"), 1, 1), "the path of a file, not",
               class = "sparsels_error_argument")
  path <- new_path()
  expect_error(write_file_matrix(square, path, nrow = 2, ncol = 3, block = 2))
  expect_false(file.exists(path))
})
