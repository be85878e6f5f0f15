# Systems A w = b: what is accepted, and the fit that every method returns.

test_that("a system in any form is the same system", {
  set.seed(801)
  made <- random_system(6)
  A <- made$A
  A[abs(A) < 2] <- 0
  diag(A) <- 10:15
  names <- paste0("g", 1:6)
  dimnames(A) <- list(names, names)
  dense <- as_system(A, made$b)
  expect_identical(dense$A, A)
  expect_identical(dense[c("D", "L", "names")], list(D = 6L, L = 1L, names = names))
  expect_identical(dense$diagonal, unname(diag(A)))
  expect_identical(unname(dense$b), made$b)
  sparse <- general_sparse(A)
  for (form in list(sparse, Matrix::forceSymmetric(sparse), methods::as(sparse, "TsparseMatrix"))) {
    system <- as_system(form, made$b)
    expect_s4_class(system$A, "dgCMatrix")
    expect_equal(system[c("D", "L", "names", "diagonal", "b")],
                 dense[c("D", "L", "names", "diagonal", "b")])
    expect_identical(system_columns(system, c(4, 2)), unname(A[, c(4, 2)]))
  }
  expect_identical(system_columns(as_system(Matrix::Matrix(A, sparse = FALSE), made$b), 3),
                   unname(A[, 3, drop = FALSE]))
  columns <- as_system(function(j) A[, j], made$b)
  expect_null(columns$diagonal)
  expect_identical(columns$names, paste0("V", 1:6))
  expect_identical(system_columns(columns, c(4, 2)), unname(A[, c(4, 2)]))
  named <- stats::setNames(made$b[, 1], letters[1:6])
  rows <- as_system(function(j) sparse[, j, drop = FALSE], named)
  expect_identical(system_columns(rows, 3), unname(A[, 3, drop = FALSE]))
  expect_identical(rows$names, letters[1:6])
  whole <- matrix(c(2L, 1L, 1L, 3L), 2)
  expect_identical(as_system(whole, 1:2)$A, whole + 0)
  expect_identical(as_system(matrix(4), 2)[c("D", "L")], list(D = 1L, L = 1L))
})

test_that("asymmetry is found wherever it is, dense and sparse", {
  set.seed(802)
  # several blocks of columns
  A <- crossprod(matrix(rnorm(1100^2), 1100))
  expect_null(asymmetry(A))
  places <- list(c(1, 2), c(700, 3), c(5, 1100), c(1099, 1098))
  for (at in places) {
    off <- A
    off[at[1], at[2]] <- off[at[1], at[2]] + 1
    expect_setequal(asymmetry(off), at)
  }
  A[abs(A) < 60] <- 0
  sparse <- general_sparse(A)
  expect_null(asymmetry(sparse))
  for (at in places) {
    off <- sparse
    off[at[1], at[2]] <- off[at[1], at[2]] + 1
    expect_setequal(asymmetry(off), at)
  }
  tiny <- A
  tiny[1, 2] <- tiny[1, 2] + 1e-9
  expect_null(asymmetry(tiny))
  expect_null(asymmetry(general_sparse(tiny)))
  expect_null(asymmetry(general_sparse(matrix(0, 3, 3))))
})

test_that("values that are not finite are found wherever they are, dense and sparse", {
  A <- diag(3) + 1
  places <- list(c(1, 1), c(3, 3), c(1, 3), c(3, 1))
  for (value in c(NA, NaN, Inf, -Inf)) {
    for (at in places) {
      one <- both <- A
      one[at[1], at[2]] <- value
      both[rbind(at, rev(at))] <- value
      for (odd in list(one, both, general_sparse(one), general_sparse(both))) {
        expect_error(as_system(odd, 1:3), "missing or infinite value",
                     class = "sparsels_error_input")
      }
    }
    expect_error(as_system(matrix(value), 1), "missing or infinite value",
                 class = "sparsels_error_input")
  }
})

test_that("a support keeps its factor while components come and go", {
  set.seed(803)
  made <- random_system(40)
  support <- new_support(as_system(made$A, made$b))
  inside <- integer()
  for (turn in 1:60) {
    if (length(inside) > 2 && runif(1) < 0.35) {
      place <- sample(length(inside), 1)
      support$leave(place)
      inside <- inside[-place]
    } else {
      left <- setdiff(1:40, inside)
      j <- left[sample(length(left), 1)]
      expect_true(support$enter(j, turn))
      inside <- c(inside, j)
    }
    if (length(inside) == 40) break
    expect_identical(support$set, inside)
    size <- length(inside)
    R <- support$factor[seq_len(size), seq_len(size), drop = FALSE]
    expect_identical(R[lower.tri(R)], numeric(size * (size - 1) / 2))
    expect_equal(crossprod(R), made$A[inside, inside, drop = FALSE], tolerance = 1e-12)
    beta <- rnorm(size)
    expect_equal(support$times(as.matrix(beta)), made$A[, inside, drop = FALSE] %*% beta,
                 tolerance = 1e-12)
    expect_equal(support$solve_system(made$b[inside]),
                 solve(made$A[inside, inside], made$b[inside, , drop = FALSE]), tolerance = 1e-9)
  }
  # the largest had to make room, more than once
  expect_gt(ncol(support$columns), 16)
})

test_that("the methods of a fit", {
  set.seed(804)
  made <- random_system(7)
  dimnames(made$A) <- rep(list(paste0("g", 1:7)), 2)
  fit <- matching_pursuit(made$A, made$b, k = 5)
  expect_s3_class(fit, c("matching_pursuit", "system_fit", "sparsels_result"), exact = TRUE)
  expect_identical(fit$size, 5L)
  expect_null(fit$A)
  for (size in 0:5) {
    w <- coef(fit, size = size)
    S <- selected(fit, size = size, index = TRUE)
    expect_identical(names(w), fit$names)
    expect_identical(selected(fit, size = size), paste0("g", S, recycle0 = TRUE))
    expect_identical(sort(unname(which(w != 0))), sort(S))
    model <- fit$coefficients[[size + 1L]]
    expect_equal(model$objective, oracle_objective(made$A, made$b, as.matrix(w)))
    expect_equal(model$residual, sqrt(sum((made$A %*% w - made$b)^2)), tolerance = 1e-9)
    expect_identical(fit$path$size[model$step + 1L], size)
    expect_identical(tidy(fit, size = size),
                     data.frame(term = fit$names[S], order = seq_len(size),
                                estimate = unname(w[S])))
  }
  expect_identical(coef(fit), coef(fit, size = 5))
  expect_identical(fit$path$name, fit$names[fit$path$component])
  expect_identical(
    glance(fit),
    data.frame(method = "matching_pursuit", task = NA_character_, nobs = NA_integer_, features = 7L,
               responses = 1L, size = 5L, lambda = NA_real_, criterion = "objective",
               value = fit$coefficients[[6]]$objective, se = NA_real_, deviance = NA_real_,
               held_out.r.squared = NA_real_,
               status = "complete")
  )
  drawn <- plot(fit, main = "mine")
  expect_identical(drawn$size, 0:5)
  expect_identical(drawn$mean, vapply(fit$coefficients, `[[`, 0, "objective"))
  expect_identical(drawn$lower, drawn$mean)
})

test_that("several right sides", {
  set.seed(805)
  made <- random_system(6, L = 2)
  colnames(made$b) <- c("dose", "time")
  fit <- matching_pursuit(made$A, made$b, k = 3)
  w <- coef(fit)
  expect_identical(dimnames(w), list(paste0("V", 1:6), c("dose", "time")))
  S <- selected(fit, index = TRUE)
  expect_equal(w[S, ], solve(made$A[S, S], made$b[S, ]), ignore_attr = TRUE)
  expect_equal(fit$coefficients[[4]]$objective, oracle_objective(made$A, made$b, w))
  expect_equal(tidy(fit), data.frame(right_side = rep(c("dose", "time"), each = 3),
                                     term = rep(paste0("V", S), 2), order = rep(1:3, 2),
                                     estimate = as.vector(w[S, ])))
  colnames(made$b) <- NULL
  expect_identical(tidy(matching_pursuit(made$A, made$b, k = 1))$right_side, c("b1", "b2"))
})

test_that("what a fit prints", {
  small <- small_system()
  dimnames(small$A) <- rep(list(c("TP53", "MYC", "KRAS", "BRCA1", "EGFR")), 2)
  expect_output(print(summary(matching_pursuit(small$A, small$b, k = 2))),
                "objective = w'Aw / 2 - b'w; residual = norm of b - A w", fixed = TRUE)
  expect_snapshot({
    matching_pursuit(small$A, small$b, k = 2)
    matching_pursuit(small$A, cbind(small$b, 1:5), k = 5, moves = 3, debias = FALSE)
    lars_path(small$A, small$b, k = 4)
    lars_path(small$A, small$b, k = 4, debias = FALSE)
    print(lars_path(small$A, small$b, k = 3), n = 2)
    print(lars_path(small$A, small$b, k = 3), n = 0)
    lars_path(diag(3), c(2, 0, 0))
  })
})

test_that("an interrupted search says so", {
  system <- as_system(diag(2), 1:2)
  models <- list(
    list(components = integer(), beta = matrix(0, 0, 1), objective = 0, residual = 1, row = 1L),
    list(components = 2L, beta = matrix(2), objective = -2, residual = 0.5, row = 2L)
  )
  steps <- list(action = c("start", "add"), component = c(NA, 2L), size = 0:1,
                objective = c(0, -2), residual = c(1, 0.5))
  made <- function(done) {
    new_system_fit("scdp", system, lapply(steps, `[`, seq_len(done + 1)),
                   models[seq_len(done + 1)], list(), "interrupted", NULL)
  }
  expect_warning(fit <- made(1), "interrupted: the fit holds the 1 step done so far",
                 class = "sparsels_interrupted")
  # without a step there is no result
  expect_identical(class(tryCatch(made(0), interrupt = identity))[1], "interrupt")
  expect_output(print(fit), "interrupted: this is the path up to there")
})

test_that("every refusal of a system", {
  A <- matrix(c(2, 1, 0, 1, 3, 1, 0, 1, 2), 3)
  b <- 1:3
  off <- replace(A, 2, 1.5)
  hole <- replace(A, 6, NA)
  zero <- replace(A, 5, 0)
  fit <- matching_pursuit(A, b, k = 2)
  path <- lars_path(A, b, k = 2)
  expect_snapshot({
    refusal(matching_pursuit(as.data.frame(A), b))
    refusal(matching_pursuit("A", b))
    refusal(matching_pursuit(4, b))
    refusal(matching_pursuit(A + 1i, b))
    refusal(matching_pursuit(A[1:2, ], b))
    refusal(matching_pursuit(A[0, 0], b))
    refusal(matching_pursuit(off, b))
    refusal(matching_pursuit(general_sparse(off), b))
    refusal(matching_pursuit(hole, b))
    refusal(matching_pursuit(general_sparse(hole), b))
    refusal(matching_pursuit(zero, b))
    refusal(matching_pursuit(general_sparse(zero), b))
    refusal(matching_pursuit(-A, b))
    refusal(matching_pursuit(A, 1:2))
    refusal(matching_pursuit(A, NULL))
    refusal(matching_pursuit(A, "b"))
    refusal(matching_pursuit(A, data.frame(b)))
    refusal(matching_pursuit(A, c(1, Inf, NaN)))
    refusal(matching_pursuit(A, cbind(1:3, c(1, 2, NA))))
    refusal(matching_pursuit(function(j) A[, j], numeric()))
    refusal(matching_pursuit(function(j) A[1:2, j], b))
    refusal(matching_pursuit(function(j) hole[, j], c(1, 9, 1)))
    refusal(matching_pursuit(function(j) letters[1:3], b))
    refusal(matching_pursuit(function(j) off[, j], b))
    refusal(coef(fit, size = 3))
    refusal(coef(fit, size = -1))
    refusal(coef(fit, lambda = 1))
    refusal(coef(path, size = 1, lambda = 1))
    refusal(coef(path, lambda = -1))
    refusal(coef(path, lambda = 0.01))
    refusal(coef(fit, sise = 1))
    refusal(selected(fit, index = "names"))
    refusal(tidy(fit, 9))
    refusal(glance(fit, size = 1))
  })
})

test_that("Ctrl-C keeps the steps done", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(932)
  x <- matrix(rnorm(300), 25)
  A <- crossprod(x)
  b <- rnorm(12)
  for (method in list(matching_pursuit, lars_path)) for (debias in c(TRUE, FALSE)) {
    asked <- 0
    column <- function(j) {
      asked <<- asked + 1
      if (asked == 4) send_interrupt()
      A[, j]
    }
    expect_warning(fit <- method(column, b, k = 8, debias = debias),
                   "interrupted: the fit holds the .* done so far", class = "sparsels_interrupted")
    expect_identical(fit$status, "interrupted")
    # a step of the path is whole when the next component is known
    expect_identical(fit$size, if (identical(method, lars_path)) 2L else 3L)
    whole <- method(A, b, k = 8, debias = debias)
    expect_equal(fit$path, whole$path[seq_len(nrow(fit$path)), ])
    for (size in 0:1) expect_equal(coef(fit, size = size), coef(whole, size = size))
    expect_output(print(fit), "interrupted")
  }
})
