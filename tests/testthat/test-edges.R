# Input that used to end R, to exhaust memory, or to change a result without a word.

#' @srrstats {G5.3} `tests/testthat/test-edges.R`, `tests/testthat/test-fuzz.R`
#' @srrstats {G5.8} `tests/testthat/test-edges.R`
#' @srrstats {G5.8a} no rows, no columns, no rows to predict
#' @srrstats {G5.8c} constant columns are set aside and listed, columns of missing values refused
#' @srrstats {G5.8d} more columns than rows is the usual case here
#' @srrstats {RE7.0} `tests/testthat/test-edges.R`: a copy of a column
#' @srrstats {RE7.1} `tests/testthat/test-edges.R`
sparse_x <- function(rows = 20, columns = 6) {
  set.seed(51)
  Matrix::rsparsematrix(rows, columns, 0.5)
}

damaged_sparse <- function(x) {
  first <- x@i[x@p[2L] + 1:2]
  swapped <- function(i) replace(i, x@p[2L] + 1:2, rev(first))
  slot_changed <- function(name, value) {
    attr(x, name) <- value
    x
  }
  list(
    `short x` = slot_changed("x", x@x[1:3]), `short i` = slot_changed("i", x@i[1:3]),
    `short p` = slot_changed("p", x@p[1:3]), `falling p` = slot_changed("p", rev(x@p)),
    `row out of range` = slot_changed("i", replace(x@i, 2L, 999999999L)),
    `negative row` = slot_changed("i", replace(x@i, 2L, -1L)),
    `row twice` = slot_changed("i", replace(x@i, x@p[2L] + 2L, first[1L])),
    `rows out of order` = slot_changed("i", swapped(x@i)),
    `doubles for rows` = slot_changed("i", as.double(x@i)), `no rows` = slot_changed("i", NULL),
    `long x` = slot_changed("x", c(x@x, 1)), `wrong size` = slot_changed("Dim", c(3L, 3L))
  )
}

test_that("a sparse matrix that contradicts itself is refused wherever one is taken", {
  x <- sparse_x()
  y <- x[, 1] + seq_len(20)
  A <- crossprod(matrix(rnorm(400), 20)) + diag(20)
  plain <- as.matrix(x)
  kernel <- kernel_linear()
  fit <- greedy_rls(plain, y)
  expansion <- kernel_rls(plain, y, kernel = kernel, lambda = 1)
  given <- rls(x, y, lambda = 1)
  doors <- list(
    as_problem = function(x) as_problem(x, y), greedy_rls = function(x) greedy_rls(x, y),
    l1_path = function(x) l1_path(x, y), select_basis = function(x) select_basis(x, 3),
    kernel_rls = function(x) kernel_rls(x, y, kernel = kernel),
    basis = function(x) kernel_rls(plain, y, kernel = kernel, basis = x),
    predict = function(x) predict(fit, x), `kernel predict` = function(x) predict(expansion, x),
    `rls predict` = function(x) predict(given, x), scdp = function(x) scdp(x, y),
    nystrom_features = function(x) nystrom_features(x, 3, kernel = kernel),
    safe_screen = function(x) safe_screen(x, y, lambda = 1),
    make = function(x) cross_validate(x, y, greedy_rls)
  )
  for (damage in names(damaged_sparse(x))) {
    bad <- damaged_sparse(x)[[damage]]
    for (door in names(doors)) {
      expect_error(doors[[door]](bad), class = "sparsels_error_input", info = paste(damage, door))
    }
  }
  for (bad in damaged_sparse(sparse_x(20, 2)[, 2:1])[c("short x", "row out of range")]) {
    expect_error(matching_pursuit(A, bad), "`b` is not a valid dgCMatrix",
                 class = "sparsels_error_input")
    expect_error(lars_path(A, bad), class = "sparsels_error_input")
  }
  triplets <- methods::as(x, "TsparseMatrix")
  attr(triplets, "i") <- replace(triplets@i, 1L, 999999999L)
  expect_error(as_problem(triplets, y), "not a valid dgTMatrix", class = "sparsels_error_input")
})

test_that("a problem whose sparse x was edited is refused", {
  x <- sparse_x()
  pb <- as_problem(x, seq_len(20))
  attr(pb$x, "i") <- replace(pb$x@i, 1L, 999999999L)
  expect_error(greedy_rls(pb), "`x`", class = "sparsels_error_object")
  expect_error(select_basis(pb, 3), class = "sparsels_error_object")
})

test_that("numbers of repetitions have bounds that the message gives", {
  set.seed(52)
  x <- matrix(rnorm(60), 20)
  y <- x[, 1] + rnorm(20)
  expect_error(make_folds(20, 5, repeats = 1e9), "`repeats` must be .* between 1 and 10000",
               class = "sparsels_error_argument")
  expect_error(make_folds(1e6, 5, repeats = 101), "100 \\(a hundred million fold ids\\)",
               class = "sparsels_error_argument")
  expect_error(l1_path(x, y, nlambda = 1e9), "`nlambda` must be .* 10000",
               class = "sparsels_error_argument")
  expect_identical(bare_rls(x, y, lambda = 1, keep = 1e9)$alternatives,
                   bare_rls(x, y, lambda = 1, keep = 3)$alternatives)
  expect_error(poss(x, y, k = 2, restarts = 1e9), "`restarts` must be .* 10000",
               class = "sparsels_error_argument")
  expect_error(compare_methods(x, y, k = 2, splits = 1e9), "`splits` must be .* 10000",
               class = "sparsels_error_argument")
  expect_error(cv_variance(x, y, n = 3, kernel = kernel_linear(), repeats = 1e9), "10000",
               class = "sparsels_error_argument")
  wide <- matrix(rnorm(4000), 20)
  expect_error(poss(wide, y, k = 9, isolation = "first", restarts = 9999), "a gigabyte of sets",
               class = "sparsels_error_argument")
})

test_that("a search that finds no memory raises a classed error", {
  expect_error(stop_memory(3e9), "cannot allocate 3.0 GB", class = "sparsels_error_memory")
})

test_that("R's own lack of memory is a classed error of every fitter, fold and user's function", {
  set.seed(1)
  x <- matrix(rnorm(80), 20)
  y <- rnorm(20)
  lacking <- function(...) numeric(1e15)
  # in R's words, without its search for free memory, which takes seconds
  huge <- function(...) stop("cannot allocate vector of size 7450580.6 Gb", call. = FALSE)
  calls <- list(
    function() kernel_rls(x, y, kernel = lacking),
    function() greedy_rls(x, y, k = 2, criterion = function(y, prediction, fold) huge()),
    function() with_binding("linear_spectrum", huge, rls(x, y)),
    function() with_binding("linear_spectrum", huge, rls(y ~ ., data.frame(x, y))),
    function() cross_validate(x, y, function(problem, ...) huge(), outer = 3),
    function() with_binding("linear_spectrum", huge, learning_curve(x, y, rls, repeats = 2))
  )
  for (call in calls) {
    expect_error(call(), "cannot allocate vector of size", class = "sparsels_error_memory")
  }
  expect_identical(rls(x, y)$call, quote(rls(x = x, y = y)))
})

test_that("every function that a user calls with data ends with the package's own errors", {
  plain <- c("best_lambda", "caret_greedy_rls", "exclude", "kernel_gaussian", "kernel_linear",
             "kernel_polynomial", "step_select_sparsels")
  for (name in setdiff(getNamespaceExports("sparsels"), plain)) {
    fun <- getExportedValue("sparsels", name)
    calls <- if (is.function(fun)) all.names(body(fun))
    if (!"UseMethod" %in% calls) expect_true("entered" %in% calls[1L], info = name)
  }
  fit <- bare_rls(x <- matrix(rnorm(60), 20), x[, 1], k = 2, lambda = 1)
  of_host <- list(sparsels_error_time = "reached elapsed time limit",
                  sparsels_error_memory = "memory exhausted (limit reached?)")
  for (class in names(of_host)) {
    fails <- function(...) stop(gettext(of_host[[class]], domain = "R"), call. = FALSE)
    expect_error(with_binding("new_data_matrix", fails, predict(fit, x)), class = class)
    expect_error(with_binding("column_blocks", fails, float_matrix(x)), class = class)
    expect_error(with_binding("new_problem", fails, as_problem(x, x[, 1])), class = class)
    expect_error(with_binding("linear_spectrum", fails, rls(x, x[, 1])), class = class)
  }
})

test_that("the last of memory is an error, too", {
  skip_on_os(c("windows", "mac"))
  code <- paste("held <- NULL; own <- asNamespace('sparsels')$as_host_error",
                "tryCatch(withCallingHandlers(repeat held <- list(held), error = function(e)",
                "stop(own(e))), error = function(e) { held <<- NULL; cat(class(e)[1]) })",
                sep = "\n")
  writeLines(code, script <- tempfile())
  run <- sprintf("ulimit -v 700000; '%s' '%s'", file.path(R.home("bin"), "Rscript"), script)
  said <- suppressWarnings(system2("sh", c("-c", shQuote(run)), stdout = TRUE, stderr = TRUE))
  expect_identical(said, "sparsels_error_memory")
})

test_that("values that cannot be squared are refused, in the response as in x", {
  set.seed(53)
  x <- matrix(rnorm(60), 20)
  y <- x[, 1] + rnorm(20)
  kernel <- kernel_gaussian(1)
  methods <- list(
    greedy_rls, forward_regression, omp, foba, rfe, best_subset, l1_path, rls, as_problem,
    function(x, y) poss(x, y, k = 2), function(x, y) kernel_rls(x, y, kernel = kernel),
    function(x, y) lssvm(x, y, kernel = kernel, gamma = 1),
    function(x, y) fs_lssvm(x, y, kernel = kernel, gamma = 1, k = 2),
    function(x, y) cv_variance(x, y, n = 3, kernel = kernel, repeats = 2),
    function(x, y) safe_screen(x, y, lambda = 1)
  )
  for (method in methods) {
    expect_error(method(x, 1e160 * y), "`.*` has values too large to square",
                 class = "sparsels_error_input")
    expect_error(method(x, 1e-160 * y), "`.*` has values too small to square",
                 class = "sparsels_error_input")
    expect_error(method(1e160 * x, y), "`x.*` has values too large to square",
                 class = "sparsels_error_input")
    expect_error(method(1e-155 * x, y), "`x.*` has values too small to square",
                 class = "sparsels_error_input")
  }
  expect_error(as_problem(1e80 * x, y, standardize = FALSE), "too large to square",
               class = "sparsels_error_input")
  expect_error(as_problem(x, y, weights = rep(c(1, 1e200), 10)), "weight 2 is 1e\\+200",
               class = "sparsels_error_input")
})

# within the bounds nothing is lost: the units do not matter
test_that("figures are the same in very large and very small units", {
  set.seed(54)
  x <- matrix(rnorm(300), 30)
  y <- x[, 1] + rnorm(30)
  fits <- list(
    function(x, y, lambda, ...) bare_rls(x, y, lambda = lambda, ...),
    function(x, y, lambda, ...) bare_rls(x, y, lambda = lambda, k = 5, search = "floating", ...),
    function(x, y, lambda, ...) omp(x, y, lambda = lambda, k = 3, size = "criterion", ...),
    function(x, y, lambda, ...) best_subset(x, y, lambda = lambda, k = 3, ...)
  )
  for (fit in fits) {
    figures <- function(...) fit(...)$path$squared
    usual <- figures(x, y, 1)
    for (unit in 10^c(-130, -60, 60, 130)) {
      expect_equal(figures(x, unit * y, 1) / unit / unit, usual, tolerance = 1e-10)
      expect_equal(figures(unit * x, y, 1), usual, tolerance = 1e-10)
      expect_equal(figures(x, y, 1e-60, weights = rep(1e-60, 30)), usual, tolerance = 1e-10)
    }
    plain <- figures(x, y, 1, standardize = FALSE)
    for (unit in 10^c(-130, -60, 60)) {
      expect_equal(figures(unit * x, y, unit^2, standardize = FALSE), plain, tolerance = 1e-10)
    }
  }
})

test_that("choices and standard errors are the same in very large and very small units", {
  set.seed(1)
  x <- matrix(rnorm(400), 40)
  y <- x[, 1] + rnorm(40)
  fits <- list(
    greedy_rls = function(y) greedy_rls(x, y, k = 3),
    folds = function(y) greedy_rls(x, y, k = 3, folds = rep(1:5, 8), size_folds = rep(1:4, 10)),
    rls = function(y) rls(x, y), l1_path = function(y) l1_path(x, y, folds = rep(1:5, 8)),
    fs_lssvm = function(y) {
      fs_lssvm(x, y, kernel = kernel_gaussian(0.1), gamma = 1, prototypes = 1:9,
               folds = rep(1:5, 8))
    }
  )
  for (name in names(fits)) {
    usual <- suppressWarnings(fits[[name]](y))
    for (unit in 2^c(-400, -270, 270, 400)) {
      fit <- suppressWarnings(fits[[name]](unit * y))
      expect_identical(fit$size, usual$size)
      expect_equal(fit$path$se / unit / unit, usual$path$se, tolerance = 1e-10, label = name)
      expect_equal(predict(fit, x) / unit, predict(usual, x), tolerance = 1e-8, label = name)
      expect_output(print(fit))
    }
  }
})

test_that("a problem as new data has the covariates of the fit, by name", {
  set.seed(55)
  x <- matrix(rnorm(90), 30)
  age <- rnorm(30)
  sex <- rep(0:1, 15)
  y <- x[, 1] + age + rnorm(30) / 5
  fit <- greedy_rls(x, y, adjust = data.frame(age))
  predicted <- predict(fit, x, adjust = data.frame(age))
  expect_equal(predict(fit, as_problem(x, y, adjust = data.frame(sex, age))), predicted)
  expect_error(predict(fit, as_problem(x, y, adjust = data.frame(sex))),
               "not adjusted for 'age', as the fit is", class = "sparsels_error_newdata")
  expect_error(predict(fit, as_problem(x, y)), "'age'", class = "sparsels_error_newdata")
  expect_equal(predict(fit, as_problem(x, y, adjust = data.frame(age), intercept = FALSE)),
               predicted)
})

test_that("no fit holds the data, also when do.call() puts them into the call", {
  set.seed(56)
  x <- matrix(rnorm(40000), 40)
  y <- x[, 1] + rnorm(40)
  kernel <- kernel_gaussian(1e-3)
  fits <- list(
    do.call(greedy_rls, list(x, y, k = 2, folds = make_folds(40, 5))),
    do.call("greedy_rls", list(data.frame(x), y, k = 2)),
    do.call(l1_path, list(x, y, nlambda = 3)), do.call(l1_size, list(x, y, size = 2)),
    do.call(rls, list(x, y, lambda = c(1, 2))),
    do.call(kernel_rls, list(x, y, kernel = kernel, basis = 3, lambda = 1)),
    do.call(fs_lssvm, list(x, y, kernel = kernel, gamma = 1, k = 2)),
    do.call(cross_validate, list(x, y, greedy_rls, k = 2, outer = 2)),
    do.call(compare_methods, list(x, y, methods = list(omp = omp), k = 2, splits = 2)),
    do.call(scdp, list(crossprod(x[, 1:20]) + diag(20), y[1:20], k = 2))
  )
  for (fit in fits) {
    expect_lt(as.numeric(object.size(fit$call)), 8000)
    expect_false(any(grepl("list\\(|structure\\(", deparse(fit$call))))
  }
  expect_identical(fits[[1L]]$call, quote(greedy_rls(
    x = `<numeric matrix (40 x 1000)>`, y = `<numeric vector of length 40>`, k = 2,
    folds = `<object of class 'sparsels_folds'>`
  )))
  expect_identical(fits[[5L]]$call$lambda, c(1, 2))
  plain <- x[, 1:8]
  found <- do.call(poss, list(plain, y, k = 2, iterations = 20))
  expect_error(update(found), "does not name its data", class = "sparsels_error_input")
})

test_that("a method may be the value of any call", {
  set.seed(57)
  x <- matrix(rnorm(90), 30)
  y <- x[, 1] + rnorm(30)
  usual <- cross_validate(x, y, rls, lambda = 1:3, outer = rep(1:3, 10))
  for (cvd in list(
    cross_validate(x, y, base::identity(rls), lambda = 1:3, outer = rep(1:3, 10)),
    cross_validate(as_problem(x, y), base::identity(rls), lambda = 1:3, outer = rep(1:3, 10)),
    cross_validate(x, y, (function() rls)(), lambda = 1:3, outer = rep(1:3, 10))
  )) {
    expect_identical(cvd$method, "a function")
    expect_equal(cvd$curves$test, usual$curves$test)
  }
  expect_identical(method_name(quote(sparsels::greedy_rls)), "greedy_rls")
})

test_that("a variance study may hold out every row on its own", {
  set.seed(58)
  x <- matrix(rnorm(24), 12)
  y <- x[, 1] + rnorm(12)
  kernel <- kernel_gaussian(1)
  studied <- cv_variance(x, y, n = 4, folds = 12, kernel = kernel, lambda = 1, repeats = 3)
  expect_true(all(is.finite(studied$errors)))
  # approach 1 with the basis given: leave-one-out of that fit
  rows <- 1:4
  one <- cv_variance(x, y, n = 4, folds = 12, kernel = kernel, lambda = 1, repeats = 1,
                     approach = 1, select = function(problem, n) rows)
  fit <- kernel_rls(x, y, kernel = kernel, basis = rows, lambda = 1)
  expect_equal(as.vector(one$errors), cv_error(fit, "loo")$criterion, tolerance = 1e-10)
  # approach 2: the rows beside the basis, each on its own
  two <- cv_variance(x, y, n = 4, folds = 12, kernel = kernel, lambda = 1, repeats = 1,
                     approach = 2, select = function(problem, n) rows)
  expect_equal(as.vector(two$errors), cv_error(fit, "loo", basis = "skip")$criterion,
               tolerance = 1e-10)
})

test_that("a response that equals a column is explained by it, a copy adds nothing", {
  set.seed(9)
  x <- matrix(rnorm(40 * 5), 40)
  x <- cbind(x, x[, 3])
  fit <- greedy_rls(x, x[, 3], k = 3, lambda = 1e-6, size = 1)
  expect_identical(selected(fit, size = 1, index = TRUE), 3L)
  expect_lt(fit$path$criterion[2] / fit$path$criterion[1], 1e-12)
  expect_equal(unname(predict(fit, x, size = 3)), x[, 3], tolerance = 1e-6)
})

test_that("a size above what there is ends there, with one message, in every method", {
  set.seed(3)
  x <- cbind(matrix(rnorm(120), 30), flat = 1)
  y <- x[, 1] - x[, 2] + rnorm(30)
  A <- crossprod(x[, 1:4])
  b <- drop(crossprod(x[, 1:4], y))
  columns <- "the largest size is 4, the number of usable columns"
  rows <- "the largest size is 3, the number of rows less covariates and one"
  order <- "the largest size is 4, the order of `A`"
  methods <- list(greedy_rls, forward_regression, omp, foba, rfe, best_subset, random_selection,
                  l1_path, poss)
  cases <- c(lapply(methods, function(method) list(function(...) method(x, y, ...), columns)), list(
    list(function(...) greedy_rls(x, y, start = 1:2, search = "backward", ...),
         "the largest size is 2, the number of columns of `start`"),
    list(function(...) greedy_rls(x, rpois(30, 3), loss = "negbin", size = "criterion", ...),
         columns),
    list(function(...) greedy_rls(as_problem(x, y, columns_group = c(1, 1, 2, 2, 3)), ...),
         "the largest size is 2, the number of usable groups"),
    list(function(...) omp(x[1:5, ], y[1:5], ...), rows),
    list(function(...) cross_validate(x, y, bare_rls, outer = 3, ...), columns),
    list(function(...) compare_methods(x, y, splits = 1, methods = list(omp, rfe), ...), columns),
    list(function(...) scdp(x, y, ...), columns),
    list(function(...) scdp(A = A, b = b, ...), order),
    list(function(...) matching_pursuit(A, b, ...), order),
    list(function(...) lars_path(A, b, ...), order),
    list(function(...) fs_lssvm(x, y, prototypes = 10, ...),
         "the largest size is 11, the number of components")
  ))
  for (case in cases) {
    for (k in c(99, Inf)) {
      said <- character()
      set.seed(1)
      suppressWarnings(withCallingHandlers(fit <- case[[1L]](k = k), message = function(m) {
        if (inherits(m, "sparsels_message_size")) said <<- c(said, conditionMessage(m))
        invokeRestart("muffleMessage")
      }))
      expect_identical(said, sprintf("`k` is %s: %s\n", k, case[[2L]]))
    }
    set.seed(1)
    upper <- as.numeric(sub(".* is ([0-9]+),.*", "\\1", case[[2L]]))
    own <- suppressWarnings(suppressMessages(case[[1L]](k = upper)))
    expect_identical(fit$path, own$path)
  }
})
