# Names that are made when they are looked at are ordinary names to everything else.

test_that("they are V1, V2 and so on, whatever is done with them", {
  for (count in c(0, 1, 12, 130)) {
    plain <- sprintf("V%d", seq_len(count))
    names <- numbered_names(count)
    expect_identical(length(names), as.integer(count))
    expect_identical(names[rev(seq_len(count))], rev(plain))
    expect_false(anyNA(names))
    expect_true(.Call(C_are_numbered, names))
    expect_identical(match(plain, names), seq_len(count)) # of an ordinary vector
    expect_identical(sort(names), sort(plain))
    expect_identical(names, plain)
    expect_identical(unserialize(serialize(numbered_names(count), NULL)), plain)
    expect_identical(duplicated(names), rep(FALSE, count))
    expect_identical(c(numbered_names(count), "x"), c(plain, "x"))
  }
  expect_false(.Call(C_are_numbered, paste0("V", 1:3)))
})

test_that("a changed copy leaves them as they were", {
  names <- numbered_names(4)
  other <- names
  other[2] <- "age"
  expect_identical(other, c("V1", "age", "V3", "V4"))
  expect_identical(names, paste0("V", 1:4))
  values <- stats::setNames(1:4, numbered_names(4))
  expect_identical(values[["V3"]], 3L)
  names(values)[4] <- "last"
  expect_identical(names(values), c("V1", "V2", "V3", "last"))
  expect_identical(colnames(matrix(0, 1, 4, dimnames = list(NULL, names))), paste0("V", 1:4))
})

test_that("problems and fits without names have them, and can be saved", {
  set.seed(91)
  x <- matrix(rnorm(200), 20)
  problem <- as_problem(x, rnorm(20))
  expect_true(.Call(C_are_numbered, problem$columns$name))
  expect_identical(problem[, c(3, 8)]$columns$name, c("V3", "V8"))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(problem, file)
  again <- readRDS(file)
  expect_identical(again$columns$name, paste0("V", 1:10))
  fit <- greedy_rls(problem, k = 2, lambda = 1, size = 2)
  expect_identical(coef(greedy_rls(again, k = 2, lambda = 1, size = 2)), coef(fit))
  problem$columns <- problem$columns[-1, ]
  expect_error(greedy_rls(problem), class = "sparsels_error_object")
})
