# The lines of vignette("coming-from"): each says that two models are the same, and they are.

#' @srrstats {G5.4b} glmnet, kernlab, survival, MASS, nnet, mgcv, pROC and lm() in the tests.
#'   `vignette("coming-from")`
#' @srrstats {ML7.3} In part: equal predictions are tested against others' classes,
#'   `tests/testthat/test-coming-from.R`. Their functions are not
#' @srrstats {ML7.3a} In part: `vignette("coming-from")` says what glmnet has and the package has
#'   not. `tests/testthat/test-coming-from.R`
#' @srrstats {ML7.3b} In part: as ML7.3a
page <- function(extension) {
  file <- system.file("doc", paste0("coming-from.", extension), package = "sparsels")
  skip_if_not(nzchar(file), "the package has its vignettes")
  file
}

test_that("every claim of the same model is TRUE", {
  claims <- 0
  objects <- new.env()
  for (line in parse(page("R"))) {
    value <- suppressMessages(eval(line, objects))
    if (is.call(line) && identical(line[[1]], quote(same))) {
      claims <- claims + 1
      expect_true(value, label = deparse1(line))
    }
  }
  expect_gte(claims, 1)
})

test_that("what others have and the models here have not is refused by name", {
  x <- as.matrix(mtcars[-1])
  lacking <- list(lower.limits = 0, upper.limits = 1, relax = TRUE, family = "mgaussian",
                  type.measure = "class", dfmax = 3)
  for (name in names(lacking)) {
    expect_error(do.call(l1_path, c(list(x, mtcars$mpg), lacking[name])), name,
                 class = "sparsels_error_argument", fixed = TRUE)
  }
  text <- paste(readLines(page("Rmd")), collapse = " ")
  for (name in c("lower.limits", "relax", "dfmax")) expect_match(text, name, fixed = TRUE)
  # coefficients of several responses share no norm, unlike with "mgaussian"
  expect_error(l1_path(x[, -1], cbind(mtcars$mpg, x[, 1]), grouped = TRUE), "grouped")
})

test_that("the lines of scikit-learn make the same models", {
  python <- c("/usr/bin/python3", Sys.which("python3"))
  python <- Filter(function(path) {
    file.exists(path) && suppressWarnings(
      system2(path, c("-c", shQuote("import sklearn")), stdout = FALSE, stderr = FALSE)
    ) == 0
  }, python)
  if (!length(python)) skip("Python has no scikit-learn")
  lines <- readLines(page("Rmd"))
  start <- which(lines == "```python")
  block <- lines[(start + 1):(start + which(lines[-seq_len(start)] == "```")[1] - 1)]
  folder <- tempfile("sklearn")
  dir.create(folder)
  x <- as.matrix(mtcars[-1])
  z <- scale(x)
  y <- mtcars$mpg
  for (name in c("x", "y", "z")) {
    utils::write.table(format(get(name), digits = 17), file.path(folder, name), quote = FALSE,
                       row.names = FALSE, col.names = FALSE)
  }
  read <- sprintf("%s = numpy.loadtxt('%s')", c("x", "y", "z"),
                  file.path(folder, c("x", "y", "z")))
  write <- sprintf("print(*['%%.12g' %% v for v in %s])", c("ridge", "lasso", "kernel"))
  script <- file.path(folder, "lines.py")
  writeLines(c("import numpy", read, block, write), script)
  theirs <- lapply(strsplit(system2(python[1], script, stdout = TRUE), " "), as.numeric)
  source <- parse(page("R"))
  objects <- list2env(list(x = x, y = y, m = nrow(x)))
  for (name in c("ridge", "lasso", "z", "kernel")) {
    own <- Filter(function(line) {
      is.call(line) && identical(line[[1]], quote(`<-`)) && identical(line[[2]], as.name(name))
    }, source)
    eval(own[[length(own)]], objects)
  }
  expect_equal(theirs[[1]], unname(objects$ridge), tolerance = 1e-8)
  expect_equal(theirs[[2]], unname(objects$lasso), tolerance = 1e-5)
  expect_equal(theirs[[3]], unname(objects$kernel), tolerance = 1e-8)
})

# train() attaches caret and what it depends on, which masks functions of other test files
for (package in intersect(c("package:caret", "package:lattice", "package:ggplot2"), search())) {
  detach(package, character.only = TRUE)
}
