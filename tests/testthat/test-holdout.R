# Any rows held out of a fit, the basis vectors among them too, against retraining without them.

kernel_rls <- plain_kernel_rls

grid <- 2^c(-15, -7, 0, 8, 15)

# Sets of rows of 26 to hold out: in and out of the basis, fewer and more than the basis has
# vectors, twins, all of the basis and more.
sets_of <- function(basis, m = 26) {
  rows <- if (is.numeric(basis) && !is.matrix(basis)) basis else c(2, 8, 13)
  out <- setdiff(seq_len(m), rows)
  list(out[3], rows[2], c(rows[1], out[2]), out[1:3], rows[-1], rows, c(rows, out[1:2]),
       c(1, m - 1), sample(m, 15), sample(m, m - 6))
}

# The error is measured against the response, because far from all points f is nearly zero.
expect_held_out <- function(fit, case, pb, held, keep, where, tolerance) {
  values <- holdout(fit, held, basis = keep, lambda = grid)
  exact <- oracle_holdout(case, grid, held, keep)
  expect_identical(dim(values), dim(exact))
  error <- apply(abs(unname(values) - exact), 3, max)
  size <- pmax(apply(abs(exact), 3, max), max(abs(pb$rows$y[held, ])))
  expect_lt(max(error / size), tolerance, label = paste(where, keep, "rows", toString(held)))
}

# the predictions as an ordinary array
holdout <- function(...) sparsels::holdout(...)[]

test_that("the worked example, to its printed digits", {
  e <- worked_example()
  fit <- kernel_rls(e$x, e$y, kernel = kernel_gaussian(e$gamma), basis = e$basis,
                    lambda = e$lambda, shift = "paper")
  removed <- cbind(c(1.04815842646, 0.932731694401, 0.642588730095, 0.0807694076444),
                   c(0.891370853771, 0.868183619292, 0.664719550178, 0.913286269431))
  kept <- c(0.958483898449, 0.925999490812, 0.703841365673, -0.0100123360261)
  held <- c(1, 2, 3, 11)
  expect_lt(max(abs(holdout(fit, held)[, , 1] - removed)), 1e-11)
  expect_lt(max(abs(holdout(fit, held, basis = "keep")[, 1, 1] - kept)), 1e-11)
})

test_that("holding out is retraining without the rows, whatever the data and the basis", {
  set.seed(120)
  kinds <- random_settings(16)
  for (one in split(kinds, seq_len(nrow(kinds)))) {
    pb <- random_points(26, one$task, weights = one$weights, covariates = one$covariates,
                        intercept = one$intercept)
    basis <- random_basis(pb, one$basis)
    shift <- if (one$shift == "number") 1e-3 else one$shift
    fit <- kernel_rls(pb, kernel = kernel_gaussian(one$gamma), basis = basis, lambda = 1,
                      shift = shift)
    full <- one$basis == "all" && one$shift == "auto"
    terms <- if (one$basis == "all" && !full) 1:26 else basis
    case <- oracle_case(pb, oracle_gaussian(one$gamma), terms, shift)
    # twins make the kernel matrix singular but for the shift
    singular <- one$basis %in% c("all", "twins") && !full
    tolerance <- if (!singular) 1e-10 else if (one$shift == "number") 1e-8 else 1e-6
    for (held in sets_of(basis)) for (keep in c("remove", "keep")) {
      expect_held_out(fit, case, pb, held, keep, paste(one, collapse = " "), tolerance)
    }
  }
})

test_that("near-singular kernels hold out as well at the default shift", {
  set.seed(121)
  kernels <- list(wide = list(kernel_gaussian(2^-10), oracle_gaussian(2^-10)),
                  medium = list(kernel_gaussian(2^-3), oracle_gaussian(2^-3)),
                  linear = list(kernel_linear(), oracle_linear))
  for (name in names(kernels)) for (kind in c("scattered", "twins", "all")) {
    pb <- random_points(26, "one", intercept = name == "medium")
    basis <- random_basis(pb, kind, 12)
    fit <- kernel_rls(pb, kernel = kernels[[name]][[1]], basis = basis, lambda = 1)
    case <- oracle_case(pb, kernels[[name]][[2]], basis)
    for (held in sets_of(basis)) for (keep in c("remove", "keep")) {
      expect_held_out(fit, case, pb, held, keep, paste(name, kind), 1e-6)
    }
  }
})

test_that("folds larger than the basis, and many of them", {
  set.seed(122)
  pb <- random_points(90, "two", weights = TRUE, intercept = TRUE)
  basis <- random_basis(pb, "scattered", 5)
  fit <- kernel_rls(pb, kernel = kernel_gaussian(2), basis = basis, lambda = 1)
  case <- oracle_case(pb, oracle_gaussian(2), basis)
  for (held in list(1:60, c(basis, sample(setdiff(1:90, basis), 50)), sample(90, 80))) {
    for (keep in c("remove", "keep")) expect_held_out(fit, case, pb, held, keep, "large", 1e-10)
  }
})

test_that("without basis vectors the covariates alone predict, or zero does", {
  set.seed(123)
  for (intercept in c(FALSE, TRUE)) for (covariates in c(FALSE, TRUE)) {
    pb <- random_points(20, "two", weights = TRUE, intercept = intercept, covariates = covariates)
    fit <- suppressWarnings(
      kernel_rls(pb, kernel = kernel_gaussian(1), basis = c(3, 5), lambda = grid),
      "sparsels_warning_edge"
    )
    held <- c(5, 9, 3)
    values <- holdout(fit, held)
    if (ncol(pb$z) == 0) {
      expect_lt(max(abs(values)), 1e-15)
    } else {
      line <- lm.wfit(pb$z[-held, , drop = FALSE], pb$rows$y[-held, ], pb$rows$weight[-held])
      exact <- unname(pb$z[held, , drop = FALSE] %*% as.matrix(line$coefficients))
      for (l in 1:5) expect_equal(unname(values[, , l]), exact)
    }
  }
})

test_that("points that are no rows stay in the basis, as rows do when they are kept", {
  set.seed(124)
  pb <- random_points(20, "one", intercept = TRUE)
  rows <- c(4, 8, 12, 16)
  of_rows <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = rows, lambda = grid)
  of_points <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = unname(pb$x)[rows, ],
                          lambda = grid)
  held <- c(8, 1, 16, 2)
  expect_equal(holdout(of_points, held), holdout(of_rows, held, basis = "keep"))
  expect_equal(holdout(of_points, held, basis = "keep"), holdout(of_points, held))
  expect_gt(max(abs(holdout(of_points, held) - holdout(of_rows, held))), 1e-3)
})

test_that("a kept vector that no other row comes near, and small lambda", {
  # without its loss nothing bends the model towards row 10: it predicts zero there
  x <- matrix(c(1:9, 100))
  fit <- kernel_rls(x, sin(1:10), kernel = kernel_gaussian(1), basis = c(2, 5, 10), shift = 0)
  # one at a time, because one small lambda changes the way for all
  for (lambda in 10^-(2:14)) {
    expect_lt(max(abs(holdout(fit, 10, basis = "keep", lambda = lambda))), 1e-9,
              label = paste("lambda", lambda))
  }
})

test_that("with all rows as the basis and no shift, keeping and removing are the same", {
  set.seed(125)
  for (intercept in c(FALSE, TRUE)) {
    pb <- random_points(22, "two", weights = TRUE, intercept = intercept)
    fit <- kernel_rls(pb, kernel = kernel_gaussian(0.5), lambda = grid)
    for (held in list(3, c(1, 21), 4:20)) {
      expect_equal(holdout(fit, held, basis = "keep"), holdout(fit, held), tolerance = 1e-10)
    }
  }
})

test_that("a fit without the rows predicts them the same", {
  set.seed(126)
  x <- matrix(rnorm(60), 20)
  y <- rnorm(20) + x[, 1]
  held <- c(3, 7, 11, 20)
  left <- setdiff(1:20, held)
  for (basis in list(NULL, c(3, 5, 8, 11, 13))) {
    # a number, because "auto" depends on which vectors are left
    shift <- if (is.null(basis)) "auto" else 1e-8
    fit <- unwarned(x, y, kernel = kernel_gaussian(1), basis = basis, shift = shift)
    rest <- unwarned(x[left, ], y[left], kernel = kernel_gaussian(1), shift = shift,
                       basis = if (!is.null(basis)) match(setdiff(basis, held), left))
    for (lambda in 2^c(-15, 0, 10)) {
      expect_equal(holdout(fit, held, lambda = lambda)[, 1, 1],
                   predict(rest, x[held, ], lambda = lambda))
    }
  }
})

test_that("the array has the names of rows, outputs and lambda", {
  set.seed(127)
  x <- matrix(rnorm(24), 12, dimnames = list(letters[1:12], NULL))
  y <- cbind(u = rnorm(12), v = rnorm(12))
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1), basis = 2:5, lambda = c(0.5, 4))
  values <- holdout(fit, c(3, 1))
  expect_identical(dimnames(values), list(c("c", "a"), c("u", "v"), format(c(0.5, 4))))
  expect_identical(holdout(fit, c("c", "a")), values)
  expect_equal(holdout(fit, 1:12 %in% c(1, 3)), values[2:1, , ])
  expect_equal(holdout(fit, -c(2, 4:12)), values[2:1, , ])
  expect_identical(dimnames(holdout(fit, 2, lambda = 1e-3))[[3]], format(1e-3))
  expect_identical(dimnames(holdout(fit, c(3, 1), lambda = 4))[[3]], "4")
  expect_equal(unname(holdout(fit, c(3, 1), lambda = 4)), unname(values)[, , 2, drop = FALSE])
  plain <- kernel_rls(unname(x), y[, 1], kernel = kernel_gaussian(1), basis = 2:5, lambda = 0.5)
  expect_identical(dim(holdout(plain, 1:3)), c(3L, 1L, 1L))
  expect_null(dimnames(holdout(plain, 1:3))[[1]])
  classes <- kernel_rls(x, rep(c("p", "q", "r"), 4), kernel = kernel_gaussian(1), lambda = 1)
  expect_identical(dimnames(holdout(classes, 4))[[2]], c("p", "q", "r"))
})

test_that("the order of the rows asked for does not matter, nor how lambda is ordered", {
  set.seed(128)
  pb <- random_points(20, "one")
  for (basis in list(NULL, 3:9)) {
    fit <- kernel_rls(pb, kernel = kernel_gaussian(1), basis = basis, lambda = 1)
    held <- c(2, 5, 11, 8)
    values <- holdout(fit, held, lambda = grid)
    expect_equal(holdout(fit, rev(held), lambda = rev(grid)), values[4:1, , 5:1, drop = FALSE])
  }
})

test_that("rls holds out any rows too, with few features and with many", {
  set.seed(129)
  for (n in c(5, 40)) for (task in c("two", "binary", "three")) for (odd in c(FALSE, TRUE)) {
    pb <- random_problem(20, n, task, weights = odd, covariates = odd, intercept = odd,
                         sparse = !odd)
    fit <- rls(pb, lambda = c(1e-3, 1, 1e4))
    all <- which(pb$columns$usable)
    for (held in list(4, c(9, 2, 15), 1:8, 5:17)) {
      values <- holdout(fit, held)
      expect_identical(dim(values), c(length(held), ncol(pb$rows$y), 3L))
      for (l in 1:3) {
        model <- oracle_ridge(pb, all, fit$path$lambda[l], -held)
        exact <- model$pred[held, , drop = FALSE]
        expect_lt(relative_error(unname(values)[, , l], drop(exact)), 1e-8,
                  label = paste(n, task, odd, toString(held)))
      }
    }
    expect_equal(unname(holdout(fit, 3, lambda = 1)), unname(holdout(fit, 3))[, , 2, drop = FALSE])
  }
})

test_that("held-out predictions print as a summary and are arrays otherwise", {
  x <- cbind(sin(1:24), cos((1:24)^2))
  rownames(x) <- paste0("s", 1:24)
  y <- x[, 1] + x[, 2]^2
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(1))
  path <- sparsels::holdout(fit, 1:8)
  expect_identical(dim(path), c(8L, 1L, 31L))
  plain <- path[, , , drop = FALSE]
  expect_identical(names(attributes(plain)), c("dim", "dimnames"))
  expect_identical(attributes(path - 1), attributes(plain))
  expect_identical(1 + path, plain + 1)
  expect_identical(path + path, 2 * plain)
  expect_identical(-path, -plain)
  expect_identical(exp(path), exp(plain))
  expect_identical(mean(path), mean(plain))
  expect_identical(path["s2", 1, 15], path[2, 1, 15])
  expect_snapshot({
    path
    sparsels::holdout(fit, 3, lambda = 0.5)
    sparsels::holdout(rls(unname(x), rep(letters[1:3], 8), lambda = 1), 2:3)
  })
})
