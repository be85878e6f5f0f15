# 6 x 4 with names; column d is constant
#' @srrstats {ML7.1} `tests/testthat/test-problem.R`: rescaled columns, with and without
#'   `standardize`
small <- function() {
  cbind(a = c(1, 2, 3, 4, 5, 6), b = c(1, 0, 0, 1, 0, 4), c = c(2, -1, 0, 3, 1, 1), d = 0.1)
}
classes <- factor(c("no", "yes", "no", "yes", "yes", "no"))
fields <- c("x", "rows", "columns", "z", "coding", "compiled")

test_that("a problem has the documented fields, centre and scale by hand", {
  pb <- as_problem(small(), classes)
  expect_s3_class(pb, c("sparsels_problem", "sparsels_object"), exact = TRUE)
  expect_named(pb, fields)
  expect_identical(dim(pb), c(6L, 4L))
  expect_equal(pb$columns$centre, c(3.5, 1, 1, 0.1))
  expect_equal(pb$columns$squares, c(17.5, 12, 10, 0))
  expect_equal(pb$columns$rss, c(17.5, 12, 10, 0))
  expect_equal(pb$columns$products, matrix(c(1, -4, 0, 0)))
  expect_equal(pb$columns$scale, sqrt(c(35 / 12, 2, 10 / 6, 1)))
  expect_identical(pb$columns$usable, c(TRUE, TRUE, TRUE, FALSE))
  expect_identical(unname(pb$z), matrix(1, 6, 1))
  expect_identical(pb$rows$weight, rep(1, 6))
  expect_identical(pb$columns$name, c("a", "b", "c", "d"))
  expect_identical(pb$coding$response, "classes")
})

test_that("columns are measured alike on any number of threads", {
  set.seed(91)
  for (n in c(1, 2, 3, 5, 11)) {
    x <- matrix(rpois(7 * n, 5) + seq_len(7), 7)
    for (values in list(x, x + 0.1)) {
      pb <- as_problem(values, rnorm(7), weights = 1:7)
      measured <- c("centre", "squares", "rss", "products", "scale", "usable")
      for (threads in 2:3) {
        again <- as_problem(values, pb$rows$y, weights = 1:7, threads = threads)
        expect_identical(unclass(again)[measured], unclass(pb)[measured])
      }
    }
  }
  expect_error(as_problem(x, 1:7, threads = 0), "`threads` must be a whole number",
               class = "sparsels_error_argument")
  expect_identical(as_problem(pb, threads = 2), pb)
})

test_that("columns of one value are excluded, whatever the rounding of their mean", {
  set.seed(93)
  for (draw in 1:60) {
    rows <- sample(5:40, 1)
    x <- cbind(rnorm(rows), matrix(rep(c(0.1, 1 / 3, 1e6 + 1 / 7), each = rows), rows))
    expect_silent(pb <- as_problem(x, rnorm(rows), weights = runif(rows)))
    expect_identical(pb$columns$usable, c(TRUE, FALSE, FALSE, FALSE))
    expect_true(all(pb$columns$squares >= 0))
  }
})

test_that("residual sums of squares of columns, and their products with the response", {
  set.seed(92)
  x <- matrix(rpois(1300 * 9, 2), 1300) # more than a block of rows
  x[, 4] <- 1e6L + x[, 4]
  age <- x[, 2] + rnorm(1300, sd = 1e-3)
  sparse <- Matrix::Matrix(x * 1, sparse = TRUE)
  y <- unname(cbind(rnorm(1300), age))
  for (values in list(x, x * 1, methods::as(sparse, "CsparseMatrix"))) {
    for (intercept in c(TRUE, FALSE)) {
      for (adjust in list(NULL, cbind(age, same = x[, 9]))) {
        pb <- as_problem(values, y, weights = runif(1300), intercept = intercept, adjust = adjust)
        columns <- working_matrix(pb, seq_len(9))
        expect_equal(pb$columns$rss / pb$columns$scale^2, colSums(columns^2), tolerance = 1e-9)
        expect_equal(pb$columns$products / pb$columns$scale,
                     crossprod(columns, working_response(pb)),
                     tolerance = 1e-9)
        expect_identical(pb$columns$usable[9], is.null(adjust))
      }
    }
  }
})

test_that("centre and scale are weighted, and about zero without intercept", {
  x <- cbind(c(0, 1, 4), c(2, 2, 5))
  w <- c(1, 2, 1)
  pb <- as_problem(x, c(1, 2, 4), weights = w)
  expect_equal(pb$columns$centre, c(1.5, 2.75))
  expect_equal(pb$columns$scale, sqrt(c((2.25 + 2 * 0.25 + 6.25) / 4, (3 * 0.5625 + 5.0625) / 4)))
  bare <- as_problem(x, c(1, 2, 4), weights = w, intercept = FALSE, standardize = FALSE)
  expect_identical(bare$columns$centre, c(0, 0))
  expect_equal(bare$columns$squares, c(18, 37))
  expect_identical(bare$columns$scale, c(1, 1))
  expect_identical(dim(bare$z), c(3L, 0L))
  scaled <- as_problem(x, c(1, 2, 4), intercept = FALSE)
  expect_equal(scaled$columns$scale, sqrt(c(17, 33) / 3))
})

test_that("a matrix of doubles, integers or logicals is kept as it is", {
  x <- small()
  expect_identical(as_problem(x, classes)$x, x)
  whole <- matrix(c(1L, 2L, 5L, 0L, 1L, 1L), 3)
  expect_identical(as_problem(whole, 1:3)$x, whole)
  expect_identical(as_problem(whole > 1, 1:3)$x, whole > 1)
  expect_identical(as_problem(whole, 1:3)$columns$name, c("V1", "V2"))
  expect_false(as_problem(whole, 1:3)$coding$named)
})

test_that("responses are coded", {
  x <- small()
  expect_identical(as_problem(x, classes)$rows$y, matrix(c(-1, 1, -1, 1, 1, -1)))
  expect_identical(as_problem(x, as.character(classes))$rows$y, as_problem(x, classes)$rows$y)
  expect_identical(as_problem(x, classes == "yes")$rows$y, as_problem(x, classes)$rows$y)
  expect_identical(as_problem(x, classes == "yes")$coding$levels, c("FALSE", "TRUE"))

  three <- as_problem(x, factor(c("u", "v", "w", "u", "v", "w"), levels = c("w", "x", "v", "u")))
  expect_identical(three$coding$task, "multiclass")
  expect_identical(three$coding$levels, c("w", "v", "u"))
  expect_identical(three$rows$y[1:2, ], rbind(c(w = -1, v = -1, u = 1), c(-1, 1, -1)))

  outputs <- cbind(s = 1:6, t = c(2, 2, 1, 1, 0, 0))
  expect_identical(as_problem(x, outputs, standardize_response = FALSE)$rows$y, outputs + 0)
  expect_identical(as_problem(x, as.data.frame(outputs), standardize_response = FALSE)$rows$y,
                   outputs + 0)
  expect_identical(as_problem(x, data.frame(k = classes))$coding$task, "binary")
  expect_identical(as_problem(x, matrix(1:6))$rows$y, matrix(1:6 + 0))
})

test_that("columns of rounding noise are excluded, small signals are not", {
  set.seed(1)
  m <- 40
  noise <- rnorm(m)
  age <- rnorm(m, 50, 10)
  x <- cbind(
    third = 1 / 3, sum = 0.1 * 3, jitter = 0.3 + rep(c(0, 2e-16), m / 2), zero = 0,
    tiny = 1e6 + 1e-4 * noise, small = 1e-30 * noise, age = 3 * age - 7, near = age + 1e-6 * noise
  )
  w <- runif(m)
  expected <- c(FALSE, FALSE, FALSE, FALSE, TRUE, TRUE, FALSE, TRUE)
  for (weights in list(NULL, w)) {
    pb <- as_problem(x, noise, weights = weights, adjust = age)
    expect_identical(pb$columns$usable, expected)
    sparse <- as_problem(Matrix::Matrix(x, sparse = TRUE), noise, weights = weights, adjust = age)
    expect_identical(sparse$columns$usable, expected)
  }
  expect_true(all(is.finite(pb$columns$scale)) && all(pb$columns$scale > 0))
  bare <- as_problem(x, noise, intercept = FALSE)
  expect_identical(bare$columns$usable, x[1, ] != 0, ignore_attr = TRUE)
  through_age <- as_problem(cbind(twice = 2 * age, noise), noise, intercept = FALSE, adjust = age)
  expect_identical(through_age$columns$usable, c(FALSE, TRUE))
})

test_that("sparse equals dense", {
  set.seed(2)
  sparse <- Matrix::rsparsematrix(30, 12, 0.2)
  sparse[, 3] <- 0
  sparse[, 4] <- 2
  y <- rnorm(30)
  for (intercept in c(TRUE, FALSE)) {
    a <- as_problem(sparse, y, weights = 1:30, adjust = y^2, intercept = intercept)
    b <- as_problem(as.matrix(sparse), y, weights = 1:30, adjust = y^2, intercept = intercept)
    expect_s4_class(a$x, "dgCMatrix")
    expect_equal(a$columns$centre, b$columns$centre)
    expect_equal(a$columns$scale, b$columns$scale)
    expect_identical(a$columns$usable, b$columns$usable)
    expect_equal(working_matrix(a), working_matrix(b))
    expect_equal(working(a)$y, working(b)$y)
  }
  logical <- sparse != 0
  expect_equal(as.matrix(as_problem(logical, y)$x), as.matrix(logical) + 0)
  dense <- Matrix::Matrix(as.matrix(sparse), sparse = FALSE)
  expect_identical(as_problem(dense, y)$x, unname(as.matrix(sparse)))
})

test_that("blocks of columns change nothing", {
  set.seed(3)
  x <- matrix(rnorm(1100 * 1000), 1100)
  expect_length(column_blocks(1100, 1000), 12)
  pb <- as_problem(x, x[, 1])
  expect_equal(pb$columns$centre, colMeans(x))
  expect_equal(pb$columns$scale[995:1000],
               sqrt(colMeans(x[, 995:1000]^2) - colMeans(x[, 995:1000])^2))
})

test_that("formula = matrix = frame", {
  x <- small()
  d <- data.frame(x, classes)
  a <- as_problem(x, classes)
  b <- as_problem(as.data.frame(x), classes)
  formulas <- list(
    classes ~ ., classes ~ a + b + c + d, classes ~ (a + b) + (c + d), classes ~ . - a + a,
    classes ~ 1 + .
  )
  for (formula in formulas) {
    f <- as_problem(formula, data = d)
    expect_setequal(f$columns$name, a$columns$name)
    expect_identical(f$x[, a$columns$name], a$x)
    expect_identical(f$rows$y, a$rows$y)
    expect_identical(f$coding$response, "classes")
  }
  expect_identical(b$x, a$x)
  expect_identical(b$columns$usable, a$columns$usable)
  expect_identical(as_problem(classes ~ . - d, data = d)$columns$name, c("a", "b", "c"))
})

test_that("numbers are classes when they are said to be", {
  x <- matrix(sin(1:24), 12)
  for (codes in list(rep(0:1, 6), rep(c(1, -1), 6), rep(c(10, 2, 3), 4), rep(c(0.5, 2), 6))) {
    pb <- as_problem(x, codes, task = "classification")
    expect_identical(pb$coding$levels, as.character(sort(unique(codes))))
    expect_identical(pb$rows$y, as_problem(x, factor(codes))$rows$y)
    expect_identical(as_problem(y ~ ., data.frame(x, y = codes), task = "classification")$rows$y,
                     pb$rows$y)
    numeric <- as_problem(x, codes, task = "regression")
    expect_identical(numeric$rows$y, matrix(as.double(codes)))
    expect_identical(numeric$coding$task, "regression")
  }
  expect_identical(as_problem(x, letters[rep(1:2, 6)], task = "classification")$coding$task,
                   "binary")
})

test_that("whole numbers of few values are said to be taken for regression, once", {
  x <- matrix(sin(1:63), 21)
  said <- function(code) {
    count <- 0
    withCallingHandlers(code, sparsels_message_task = function(condition) {
      count <<- count + 1
      invokeRestart("muffleMessage")
    })
    count
  }
  codes <- rep(1:3, 7)
  expect_identical(said(pb <- as_problem(x, codes)), 1)
  expect_identical(said(as_problem(y ~ ., data.frame(x, y = codes), intercept = FALSE)), 1)
  expect_identical(said(greedy_rls(x, codes, k = 2)), 1)
  expect_identical(said(cross_validate(x, codes, greedy_rls, k = 2, outer = 2)), 1)
  expect_identical(said(safe_screen(function(j) x[, j], codes, lambda = 1, columns = 3)), 1)
  expect_identical(said(greedy_rls(pb, k = 1, size = 1)), 0)
  expect_identical(said(pb[1:14, 2:3]), 0)
  expect_identical(said(as_problem(x, codes, task = "regression")), 0)
  expect_identical(said(as_problem(x, factor(codes))), 0)
  expect_identical(said(as_problem(x, cbind(codes, codes))), 0)
  # up to ten values, all whole, and fewer than half the rows
  expect_identical(said(as_problem(x, rep(1:10, length.out = 21))), 1)
  expect_identical(said(as_problem(x, rep(1:11, length.out = 21))), 0)
  expect_identical(said(as_problem(x[1:20, ], rep(1:10, 2))), 0)
  expect_identical(said(as_problem(x, codes / 2)), 0)
  expect_snapshot({
    pb <- as_problem(x, rep(c(0, 1, 1), 7))
    pb <- as_problem(grade ~ ., data.frame(x, grade = codes))
  })
})

test_that("factors become the columns of model.matrix", {
  d <- data.frame(
    y = c(1, 3, 2, 5, 4, 6), a = 1:6, g = factor(rep(c("u", "v", "w"), 2)), flag = c(TRUE, FALSE),
    s = rep(c("k", "l"), each = 3)
  )
  numeric <- transform(d, flag = flag + 0)
  for (formula in list(y ~ ., y ~ a + g + s + flag, y ~ a * g + s + log(a) + flag)) {
    pb <- as_problem(formula, data = d)
    full <- model.matrix(formula, numeric)[, -1]
    expect_identical(pb$columns$name, colnames(full))
    expect_equal(unname(pb$x), unname(full), ignore_attr = TRUE)
  }
  bare <- as_problem(y ~ a + g + s, data = d, intercept = FALSE)
  expect_identical(bare$columns$name, colnames(model.matrix(y ~ a + g + s - 1, d)))
  bare <- as_problem(y ~ log(a) + g + s, data = d, intercept = FALSE)
  expect_identical(bare$columns$name, colnames(model.matrix(y ~ log(a) + g + s - 1, d)))
})

test_that("a formula finds variables and functions where it was written", {
  set.seed(21)
  make <- function() {
    x <- matrix(rnorm(18), 6)
    y <- c(1, 4, 2, 5, 3, 6)
    base <- 2
    power <- function(v) v^base
    ballast <- numeric(1e5)
    as_problem(y ~ power(x) + x[, 1])
  }
  pb <- make()
  expect_identical(dim(pb), c(6L, 4L))
  expect_equal(unname(pb$x[, 1]), unname(pb$x[, 4]^2))
  held <- ls(environment(pb$coding$design$terms))
  expect_false("ballast" %in% held)
  expect_false("x" %in% held)
  new <- data.frame(row.names = 1:2)
  new$x <- matrix(1:6, 2)
  again <- new_data_matrix(pb, new, 1:4)
  expect_equal(unname(again), cbind(c(1, 4), c(9, 16), c(25, 36), c(1, 2)))
})

test_that("responses of a formula may be expressions", {
  d <- data.frame(p = c(1, 2, 4, 8), q = c(1, 0, 1, 1), a = 4:1, b = c(0, 1, 0, 5))
  pb <- as_problem(cbind(p, q) ~ ., data = d, standardize_response = FALSE)
  expect_identical(pb$columns$name, c("a", "b"))
  expect_identical(pb$rows$y, as.matrix(d[1:2]), ignore_attr = TRUE)
  logged <- as_problem(log2(p) ~ a + b, data = d)
  expect_identical(logged$rows$y, matrix(c(0, 1, 2, 3)))
  expect_identical(logged$coding$response, "log2(p)")
  expect_identical(as_problem(factor(q) ~ a + b, data = d)$coding$levels, c("0", "1"))
})

test_that("formulas with very many numeric columns are quick", {
  set.seed(22)
  wide <- as.data.frame(matrix(rnorm(20 * 5000), 20))
  wide$y <- rnorm(20)
  # in processor time, which others on the machine lengthen little
  seconds <- sum(system.time(pb <- as_problem(y ~ . - V1, data = wide))[1:2])
  expect_lt(seconds, 2)
  expect_identical(ncol(pb), 4999L)
})

test_that("covariates come as vector, matrix, frame or formula", {
  d <- data.frame(small(), y = c(2, 4, 1, 5, 3, 3), sex = c("f", "m", "m", "f", "f", "m"))
  z <- cbind(1, d$c, d$sex == "m")
  formula <- as_problem(y ~ ., data = d, adjust = ~ c + sex)
  expect_identical(formula$columns$name, c("a", "b", "d"))
  expect_identical(colnames(formula$z), c("(Intercept)", "c", "sexm"))
  x <- small()[, c("a", "b", "d")]
  frame <- as_problem(x, d$y, adjust = d[c("c", "sex")])
  mixed <- as_problem(x, d$y, data = d, adjust = ~ c + sex)
  matrix <- as_problem(x, d$y, adjust = z[, -1])
  for (pb in list(formula, frame, mixed, matrix)) {
    expect_equal(unname(pb$z), z)
    expect_equal(pb$columns$scale, formula$columns$scale)
    expect_identical(pb$columns$usable, formula$columns$usable)
  }
  age <- 1:6 + 0
  expect_identical(colnames(as_problem(x, d$y, adjust = age^2)$z), c("(Intercept)", "adjust"))
  outside <- as_problem(x, d$y, adjust = ~ log(age))
  expect_equal(outside$z[, 2], log(age))
  full <- as_problem(x, d$y, adjust = d["sex"], intercept = FALSE)
  expect_identical(colnames(full$z), c("sexf", "sexm"))
})

test_that("working coordinates are orthogonal to the covariates", {
  set.seed(4)
  x <- matrix(rnorm(60, 1000), 12)
  age <- rnorm(12, 50)
  w <- runif(12) * 10
  pb <- as_problem(x, rnorm(12), weights = w, adjust = age)
  k <- working(pb)
  z <- sqrt(w) * cbind(1, age)
  expect_equal(crossprod(k$q), diag(2))
  expect_lt(max(abs(crossprod(z, k$y))), 1e-10)
  expect_lt(max(abs(crossprod(k$q, working_matrix(pb)))), 1e-13)
  byhand <- lm.wfit(cbind(1, age), scale(x, pb$columns$centre, pb$columns$scale), w)$residuals *
    sqrt(w)
  expect_equal(working_matrix(pb), byhand, ignore_attr = TRUE)
  expect_identical(k$usable, rep(1L, 5))
  expect_identical(k$inv_scale, 1 / pb$columns$scale)
  none <- working(as_problem(x, rnorm(12), intercept = FALSE))
  expect_identical(dim(none$q), c(12L, 0L))
})

test_that("a part of a problem is the problem of that part", {
  set.seed(5)
  d <- data.frame(matrix(rnorm(60), 12), g = factor(rep(c("u", "v", "w"), 4)), age = rnorm(12))
  d$y <- rnorm(12)
  row.names(d) <- letters[1:12]
  pb <- as_problem(y ~ ., data = d, adjust = ~ age, weights = 1:12)
  rows <- c(2, 3, 5, 7, 8, 11)
  part <- pb[rows, ]
  again <- as_problem(y ~ ., data = d[rows, ], adjust = ~ age, weights = rows)
  for (field in c("rows", "columns", "z")) {
    expect_equal(part[[field]], again[[field]], ignore_attr = TRUE)
  }
  logical <- seq_len(12) %in% rows
  expect_identical(pb[logical, ], part)
  expect_identical(pb[letters[rows], ], part)
  expect_identical(pb[-setdiff(1:12, rows), ], part)
  expect_identical(pb[, ], pb)
  columns <- pb[, c("gw", "X2")]
  expect_identical(columns$columns$name, c("gw", "X2"))
  expect_identical(columns$x, pb$x[, c(7, 2)])
  expect_equal(new_data_matrix(columns, d[1:3, c("g", "X2")], 1:2), columns$x[1:3, ],
               ignore_attr = TRUE)
  expect_identical(pb[, -(3:7)]$columns$name, c("X1", "X2"))
  expect_identical(pb[3, ]$columns$usable, rep(FALSE, 7))
})

test_that("a problem stays a problem", {
  pb <- as_problem(small(), classes)
  expect_identical(as_problem(pb), pb)
  bare <- without_x(pb)
  expect_named(bare, setdiff(fields, "compiled"))
  expect_null(bare$x)
  expect_identical(dim(bare), c(6L, 4L))
})

test_that("new matrices are matched by name, or by position without names", {
  x <- small()
  pb <- without_x(as_problem(x, classes))
  expect_identical(new_data_matrix(pb, x[1:2, ], c(3, 1)), x[1:2, c("c", "a")])
  more <- cbind(z = 9, x[1:2, c("c", "a")])
  expect_identical(new_data_matrix(pb, more, c(3, 1)), x[1:2, c("c", "a")])
  expect_equal(new_data_matrix(pb, unname(x), 2:3), unname(x[, 2:3]))
  expect_identical(new_data_matrix(pb, x[0, ], 2:3), x[0, 2:3])
  expect_identical(new_data_matrix(pb, x[1, , drop = FALSE], integer()), x[1, 0, drop = FALSE])
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_s4_class(new_data_matrix(pb, sparse, c(3, 1)), "dgCMatrix")
  expect_equal(as.matrix(new_data_matrix(pb, sparse, c(3, 1))), x[, c(3, 1)])
  x[2, "a"] <- NA
  expect_identical(new_data_matrix(pb, x, 1)[, 1], x[, "a"])
  frame <- data.frame(c = 1:2, a = c(TRUE, NA))
  expect_equal(new_data_matrix(pb, frame, c(1, 3)), cbind(a = c(1, NA), c = c(1, 2)))
  unnamed <- without_x(as_problem(unname(small()), classes))
  expect_equal(new_data_matrix(unnamed, as.data.frame(small()), 3:2), unname(small()[, 3:2]),
               ignore_attr = TRUE)
  expect_identical(new_data_matrix(pb, as_problem(small(), classes)[2:3, ], 4:3), small()[2:3, 4:3])
})

test_that("new frames pass the design of the old ones", {
  d <- data.frame(
    y = c(1, 3, 2, 5, 4, 6), a = c(1, 2, 3, 5, 8, 13), g = factor(rep(c("u", "v", "w"), 2)),
    s = rep(c("k", "l"), each = 3), n = c(4, 2, 6, 1, 3, 5)
  )
  for (formula in list(y ~ ., y ~ poly(a, 2) + g:n + s, y ~ log(a) * s + g)) {
    pb <- as_problem(formula, data = d)
    all <- seq_len(ncol(pb))
    expect_equal(new_data_matrix(without_x(pb), d[4:6, ], all), pb$x[4:6, ], ignore_attr = TRUE)
    expect_equal(new_data_matrix(pb, d[6, -1], all), pb$x[6, , drop = FALSE], ignore_attr = TRUE)
    expect_identical(dim(new_data_matrix(pb, d[0, ], all)), c(0L, ncol(pb)))
  }
  partly <- new_data_matrix(pb, data.frame(g = c("w", NA, "u")), match("gw", pb$columns$name))
  expect_identical(unname(partly), matrix(c(1, NA, 0)))
  expect_error(new_data_matrix(pb, d["g"], 1), "lacks 1 needed column: 'a'")
  loaded <- unserialize(serialize(without_x(pb), NULL))
  expect_equal(new_data_matrix(loaded, d, 1:3), pb$x[, 1:3], ignore_attr = TRUE)
})

test_that("new covariates are built as the old ones", {
  d <- data.frame(small(), y = c(2, 4, 1, 5, 3, 3), sex = c("f", "m", "m", "f", "f", "m"))
  x <- small()[, c("a", "b")]
  formula <- as_problem(y ~ a + b, data = d, adjust = ~ log(a) + sex)
  rows <- c(5, 2)
  expect_equal(new_covariates(formula, d[rows, ]), formula$z[rows, ])
  expect_equal(new_covariates(formula, x[rows, ], adjust = d[rows, ]), formula$z[rows, ])
  expect_equal(new_covariates(formula, d[rows, ], adjust = ~ a + sex), formula$z[rows, ])
  expect_equal(new_covariates(formula, formula[rows, ]), formula$z[rows, ])
  matrix <- as_problem(x, d$y, adjust = cbind(u = d$c, v = d$a^2))
  new <- cbind(v = 1:2, u = 3:4)
  expect_equal(new_covariates(matrix, x[1:2, ], new), cbind("(Intercept)" = 1, new[, 2:1]))
  frame <- as_problem(x, d$y, adjust = d["sex"], intercept = FALSE)
  expect_equal(new_covariates(frame, x[rows, ], data.frame(sex = c("m", "m"))),
               cbind(sexf = c(0, 0), sexm = c(1, 1)))
  plain <- as_problem(x, d$y)
  expect_equal(new_covariates(plain, x[0, ]), plain$z[0, , drop = FALSE])
  expect_identical(dim(new_covariates(as_problem(x, d$y, intercept = FALSE), x)), c(6L, 0L))
})

test_that("fitters name the response as the user did", {
  fitter <- function(x, y = NULL, ..., data = NULL, k = NULL) {
    fitter_problem("greedy_rls", x, y, ..., data = data)
  }
  x <- small()
  d <- data.frame(x, tumour = classes)
  y <- classes
  expect_identical(fitter(x, classes)$coding$response, "classes")
  expect_identical(fitter(x, d$tumour)$coding$response, "d$tumour")
  expect_identical(fitter(x, y)$coding$response, "y")
  expect_identical(fitter(tumour ~ ., data = d)$coding$response, "tumour")
  expect_identical(fitter(as_problem(x, y))$coding$response, "y")
  expect_identical(fitter(as_problem(x, d$tumour))$coding$response, "d$tumour")
  expect_identical(do.call(fitter, list(x, classes))$coding$response, "y")
  long <- fitter(x, factor(c("no", "yes", "no", "yes", "yes", "no"), levels = c("no", "yes")))
  expect_identical(long$coding$response, "y")
  weighted <- fitter(x, y, weights = 1:6, intercept = FALSE)
  expect_identical(weighted$rows$weight, 1:6 + 0)
  expect_false(weighted$coding$intercept)
})

test_that("problems print in a few lines", {
  x <- small()
  expect_snapshot({
    as_problem(x, classes)
    as_problem(Matrix::Matrix(x, sparse = TRUE), c(1, 2, 4, 3, 6, 5), intercept = FALSE)
    as_problem(unname(x), rep(c("u", "v", "w"), 2), adjust = cbind(age = c(3, 1, 2, 2, 1, 5)),
               weights = 1:6)
    as_problem(x, cbind(1:6, 6:1))
  })
})

test_that("a sparse x is measured as a dense one is", {
  set.seed(81)
  x <- Matrix::rsparsematrix(50, 40, 0.3)
  x[, 7] <- 0 # nothing stored
  x[, 8] <- 1e6 + rnorm(50) # all of it
  w <- replace(runif(50), 1:3, 0)
  v <- matrix(rnorm(100), 50) * sqrt(w)
  v <- v - outer(w, colSums(v)) / sum(w)
  for (intercept in c(FALSE, TRUE)) {
    given <- if (intercept) v else v + 1
    dense <- column_moments(as.matrix(x), w, intercept, given)
    sparse <- column_moments(x, w, intercept, given)
    expect_equal(sparse, dense, tolerance = 1e-14)
    expect_identical(column_moments(x, w, intercept, given, threads = 2L), sparse)
  }
})

test_that("raw counts give one message, and small whole numbers none", {
  set.seed(4)
  counts <- matrix(stats::rnbinom(40 * 60, mu = rep(exp(stats::rnorm(60, 4, 2)), each = 40),
                                  size = 2), 40)
  storage.mode(counts) <- "double"
  y <- rnorm(40)
  file <- write_file_matrix(counts, tempfile(fileext = ".fm"))
  for (x in list(counts, Matrix::Matrix(counts, sparse = TRUE), file)) {
    said <- capture_messages(greedy_rls(x, y, k = 2, folds = 4))
    expect_length(said, 1L)
    expect_match(said, "columns of `x` range over orders of magnitude \\(such as")
  }
  one <- data.frame(age = sample(20:80, 40), people = round(exp(stats::rnorm(40, 9, 2))))
  expect_message(as_problem(one, y), "'people'", class = "sparsels_message_counts")
  silent <- list(
    matrix(sample(0:1, 800, TRUE), 40), matrix(sample(0:2, 800, TRUE), 40),
    matrix(sample(0:255, 800, TRUE), 40), matrix(stats::rpois(800, 4), 40), log2(counts + 1),
    cbind(sample(18:90, 40, TRUE), sample(1950:2020, 40, TRUE)), tcrossprod(matrix(1:80, 40)),
    matrix(rnorm(800), 40),
    # whole numbers beside many indicators
    cbind(weight = seq(1613, 5140, length.out = 40) %/% 1, diag(40)[, rep(1:40, 2)])
  )
  for (x in silent) expect_no_message(as_problem(x, y))
})
