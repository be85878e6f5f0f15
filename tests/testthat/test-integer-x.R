# Integers and logicals in x: kept as they are, and everything comes out as from the same doubles.

# Numbers whose squares and sums are too large for an integer, some negative; columns 2 and 5 are
# equal, 7 is constant.
whole_x <- function(m = 25L, n = 9L) {
  set.seed(7)
  x <- matrix(sample(-60000:60000, m * n, replace = TRUE), m)
  colnames(x) <- paste0("g", seq_len(n))
  x[, 5] <- x[, 2]
  x[, 7] <- 50000L
  x
}

number_of <- function(x) {
  set.seed(8)
  drop(scale(x[, 1] - x[, 3] + 0)) + rnorm(nrow(x)) / 2
}

class_of_rows <- function(x) factor(ifelse(number_of(x) > 0, "yes", "no"))

# `fit` is a function of x; `also` of what it returns, to look at more
expect_same_from_doubles <- function(fit, x = whole_x(), logical = TRUE) {
  for (values in list(x, if (logical) x > 0)) {
    if (is.null(values)) next
    expect_false(is.double(values))
    of <- function(x) {
      set.seed(1)
      fit(x)
    }
    expect_identical(of(values), of(values + 0), ignore_function_env = TRUE,
                     label = paste("the fit to a matrix of type", typeof(values)))
  }
}

test_that("a problem holds the very matrix and knows the same of it", {
  x <- whole_x()
  y <- class_of_rows(x)
  set.seed(2)
  w <- runif(nrow(x), 0.5, 2)
  age <- rnorm(nrow(x))
  for (values in list(x, x > 0)) {
    dimnames(values) <- list(paste0("row", seq_len(nrow(x))), colnames(x))
    for (intercept in c(TRUE, FALSE)) {
      make <- function(x) as_problem(x, y, weights = w, adjust = age, intercept = intercept)
      pb <- make(values)
      expect_identical(pb$x, values)
      expect_identical(without_x(pb), without_x(make(values + 0)))
      expect_identical(pb$columns$usable[7], !intercept)
      part <- pb[-(1:3), c("g1", "g2", "g7")]
      expect_identical(part$x, values[-(1:3), c(1, 2, 7)])
      expect_identical(without_x(part), without_x(make(values + 0)[-(1:3), c(1, 2, 7)]))
      expect_identical(capture.output(pb), capture.output(make(values + 0)))
    }
  }
})

test_that("covariates collinear with a column of integers exclude it", {
  x <- whole_x()
  pb <- as_problem(x, number_of(x), adjust = cbind(x[, 3], x[, 1] - x[, 4]))
  expect_identical(unname(which(!pb$columns$usable)), c(3L, 7L))
})

test_that("residual sums of squares given the covariates are those of the columns in memory", {
  x <- whole_x(300L, 4000L)
  pb <- as_problem(x, number_of(x), adjust = cos(seq_len(300)), weights = rep(1:2, 150))
  basis <- covariate_basis(pb)
  centred <- sqrt(pb$rows$weight) * (x - rep(pb$columns$centre, each = 300))
  left <- colSums(centred^2) - colSums(crossprod(basis, centred)^2)
  expect_equal(pb$columns$rss[pb$columns$usable], left[pb$columns$usable], ignore_attr = TRUE,
               tolerance = 1e-10)
  expect_identical(as_problem(x + 0, number_of(x), adjust = cos(seq_len(300)),
                              weights = rep(1:2, 150))$columns$rss, pb$columns$rss)
  expect_equal(products_of_rows(pb), tcrossprod(working_matrix(pb)))
})

test_that("no copy of x is made", {
  x <- matrix(seq_len(2e6) %% 99991L, 1000)
  y <- sin(seq_len(1000))
  peak <- function(expr) {
    before <- sum(gc(reset = TRUE)[, 2])
    force(expr)
    sum(gc()[, 6]) - before
  }
  # in megabytes; doubles would take twice that
  size <- as.numeric(object.size(x)) / 2^20
  expect_lt(peak(as_problem(x, y)), size)
  expect_lt(peak(as_problem(x > 5L, y)), 2 * size)
  expect_gt(peak(as_problem(x + 0, y)), 1.9 * size)
})

test_that("a class of its own and S4 matrices are as before", {
  x <- whole_x()
  y <- number_of(x)
  expect_identical(as_values(I(x)), x)
  dense <- Matrix::Matrix(x > 0, sparse = FALSE)
  expect_identical(without_x(as_problem(dense, y)), without_x(as_problem((x > 0) + 0, y)))
})

test_that("a problem from an experiment or array of integers is the same", {
  x <- whole_x()
  y <- number_of(x)
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    delayed <- as_problem(DelayedArray::DelayedArray(x), y)
    expect_equal(delayed$x, x)
    expect_identical(without_x(delayed), without_x(as_problem(x + 0, y)))
  }
  skip_if_not_installed("SummarizedExperiment")
  experiment <- function(values) {
    SummarizedExperiment::SummarizedExperiment(list(t(values)), colData = data.frame(y))
  }
  pb <- as_problem(experiment(x), "y")
  expect_type(pb$x, "integer")
  expect_identical(without_x(pb), without_x(as_problem(experiment(x + 0), "y")))
  fit <- bare_rls(pb, k = 3, lambda = 1)
  expect_identical(predict(fit, experiment(x)), predict(fit, experiment(x + 0)))
})

test_that("missing values are refused in the same words", {
  words <- function(x, of = function(x) as_problem(x, number_of(whole_x()))) {
    tryCatch(of(x), sparsels_error_input = conditionMessage)
  }
  x <- whole_x()
  x[7, 3] <- x[9, 3] <- x[2, 8] <- NA
  expect_identical(words(x), words(x + 0))
  expect_identical(words(x > 0), words(x + 0))
  expect_identical(words(unname(x)), words(unname(x) + 0))
  expect_match(words(x), "`x` has 3 missing or infinite values (first: row 7, column 'g3'): ",
               fixed = TRUE)
  every <- matrix(NA, 25, 2)
  expect_identical(words(every), words(every + 0))
  expect_identical(words(x, function(x) select_basis(x, 2)),
                   words(x + 0, function(x) select_basis(x, 2)))
  A <- diag(3L)
  A[2, 3] <- NA
  expect_identical(words(A, function(A) scdp(A = A, b = 1:3)),
                   words(A + 0, function(A) scdp(A = A, b = 1:3)))
})

test_that("greedy_rls() chooses the same", {
  for (search in c("forward", "backward", "floating", "forward_backward")) {
    for (folds in c("loo", "5")) {
      expect_same_from_doubles(function(x) {
        set.seed(3)
        bare_rls(x, number_of(x), weights = runif(nrow(x), 0.5, 2), adjust = rnorm(nrow(x)),
                 search = search, folds = if (folds == "loo") folds else 5, k = 4)
      })
    }
  }
  expect_same_from_doubles(function(x) greedy_rls(x, class_of_rows(x), criterion = "auc", keep = 3))
  expect_same_from_doubles(function(x) {
    bare_rls(x, number_of(x), standardize = FALSE, intercept = FALSE, lambda = c(1, 1e10))
  })
  wide <- whole_x(8L, 40L)
  expect_same_from_doubles(function(x) suppressWarnings(bare_rls(x, number_of(x), k = 5)), wide)
})

test_that("the other searches choose the same", {
  methods <- list(forward_regression, omp, foba, rfe, best_subset, scdp)
  for (method in methods) {
    expect_same_from_doubles(function(x) method(x, number_of(x), k = 3))
    expect_same_from_doubles(function(x) method(x, number_of(x), k = 3), whole_x(8L, 20L))
  }
  for (method in list(random_selection, wrapper_rls, lowrank_lssvm)) {
    expect_same_from_doubles(function(x) method(x, class_of_rows(x), k = 3))
  }
  expect_same_from_doubles(function(x) poss(x, number_of(x), k = 3, iterations = 500))
  expect_same_from_doubles(function(x) scdp(x, number_of(x), k = 3, solver = "qr"))
})

test_that("l1 models are the same", {
  for (loss in c("squared", "logistic", "hinge")) {
    response <- if (loss == "squared") number_of else class_of_rows
    path <- function(x, ...) {
      l1_path(x, response(x), loss = loss, nlambda = 8, lambda_min_ratio = 0.1, ...)
    }
    expect_same_from_doubles(function(x) path(x, adjust = cos(seq_len(nrow(x)))))
    expect_same_from_doubles(function(x) path(x, folds = 3))
    expect_same_from_doubles(function(x) path(x, screen = "gap"))
    expect_same_from_doubles(function(x) lambda_max(x, response(x), loss = loss))
    expect_same_from_doubles(function(x) l1_size(x, response(x), size = 3, loss = loss))
    # a problem that is given holds integers still
    expect_same_from_doubles(function(x) {
      pb <- as_problem(x, response(x))
      list(lambda_max(pb, loss = loss), l1_path(pb, loss = loss, nlambda = 4)$path)
    })
    if (loss == "hinge") next
    expect_same_from_doubles(function(x) {
      fit <- path(x, solver = "ipm", tolerance = 1e-4)
      list(fit, threshold_coef(fit), threshold_coef(fit, "kkt"))
    })
  }
})

test_that("safe tests keep the same columns", {
  for (loss in c("squared", "logistic", "hinge")) {
    response <- if (loss == "squared") number_of else class_of_rows
    expect_same_from_doubles(function(x) {
      y <- response(x)
      age <- cos(seq_len(nrow(x)))
      fit <- l1_path(x, y, loss = loss, adjust = age, nlambda = 5, tolerance = 1e-8)
      screen <- function(x, ...) {
        safe_screen(x, y, adjust = age, lambda = min(fit$path$lambda) * 0.9, loss = loss, ...)
      }
      list(screen(x), screen(x, rule = "gap"), screen(x, rule = "safe2", fit = fit),
           screen(function(j) x[, j], columns = colnames(x)))
    })
  }
})

# a kernel of the user's, for numbers as large as those of x, that would overflow with integers
own_kernel <- function(x) {
  gamma <- 0.3 / max(abs(x))^2
  function(x, z) {
    exp(-gamma * (outer(rowSums(x * x), rowSums(z * z), "+") - 2 * tcrossprod(x, z)))
  }
}

test_that("kernel models are the same", {
  for (standardize in c(TRUE, FALSE)) {
    kernels <- if (standardize) {
      list(function(x) kernel_gaussian(c(0.1, 1)), function(x) kernel_polynomial(2))
    } else {
      list(function(x) kernel_gaussian(0.3 / max(x)^2), function(x) kernel_linear(normalize = TRUE),
           own_kernel)
    }
    for (kernel in kernels) {
      expect_same_from_doubles(function(x) {
        fit <- unwarned(x, number_of(x), kernel = kernel(x), basis = c(1, 5, 9, 2), folds = 4,
                          standardize = standardize)
        pb <- as_problem(x, number_of(x), intercept = FALSE)
        list(fit, predict(fit, x[1:3, ]), predict(fit, pb), holdout(fit, c(1, 7)))
      })
      expect_same_from_doubles(function(x) {
        of_points <- unwarned(x, number_of(x), kernel = kernel(x), basis = x[1:4, ],
                                standardize = standardize)
        list(of_points, predict(of_points, x))
      })
    }
  }
  expect_same_from_doubles(function(x) {
    fit <- rls(x, class_of_rows(x), folds = 4)
    list(fit, predict(fit, x, type = "class"))
  })
  expect_same_from_doubles(function(x) rls(x, number_of(x)), whole_x(8L, 20L))
  expect_same_from_doubles(function(x) {
    suppressWarnings(lssvm(x, class_of_rows(x), gamma = c(1, 10)), "sparsels_warning_edge")
  })
  expect_same_from_doubles(function(x) {
    cv_variance(x, number_of(x), kernel = own_kernel(x), n = 5, folds = 3, repeats = 2)
  })
})

test_that("fixed-size machines are the same", {
  for (solver in c("scdp", "full", "nystrom")) {
    for (select in c("k_center", "kmeans")) {
      expect_same_from_doubles(function(x) {
        fit <- fs_lssvm(x, class_of_rows(x), kernel = own_kernel(x), gamma = 10, prototypes = 6,
                        select = select, solver = solver, folds = 3, standardize = FALSE)
        list(fit, predict(fit, x[1:4, ]))
      })
    }
  }
  expect_same_from_doubles(function(x) {
    fs_lssvm(x, class_of_rows(x), kernel = own_kernel(x), prototypes = 5, folds = 3,
             standardize = FALSE)
  })
  for (solver in c("scdp", "lssvm")) {
    expect_same_from_doubles(function(x) {
      tune_lssvm(x, number_of(x), solver = solver, method = "grid", budget = 9, folds = 3)
    })
  }
  with_binding("whole_kernel", 10, expect_same_from_doubles(function(x) {
    fs_lssvm(x, number_of(x), kernel = own_kernel(x), gamma = 10, prototypes = NULL, candidates = 5,
             folds = 3, standardize = FALSE)
  }))
  expect_same_from_doubles(function(x) {
    phi <- nystrom_features(x, 1:6, own_kernel(x))
    list(phi, predict(phi, x[3:4, ]), nystrom_features(as_problem(x, number_of(x)), 1:6,
                                                       kernel_gaussian(1)))
  })
})

test_that("the same basis is selected", {
  for (method in c("random", "greedy", "k_center", "renyi", "kmeans")) {
    expect_same_from_doubles(function(x) {
      kernel <- if (method %in% c("greedy", "renyi")) own_kernel(x)
      pb <- as_problem(x, number_of(x), standardize = FALSE)
      list(select_basis(x, 5, method, kernel = kernel, y = number_of(x)),
           select_basis(pb, 5, method, kernel = kernel))
    })
  }
})

test_that("a kernel matrix of integers is that of doubles", {
  K <- tcrossprod(whole_x() %/% 20L) + 2e8
  storage.mode(K) <- "integer"
  y <- number_of(whole_x())
  run <- function(K) {
    set.seed(1)
    fit <- kernel_rls(K, y, kernel = "precomputed", basis = 1:6, lambda = 1e6)
    machine <- fs_lssvm(K, y, kernel = "precomputed", gamma = 1e-6, prototypes = 8, folds = 3,
                        standardize = FALSE)
    pb <- as_problem(K, y, intercept = FALSE, standardize = FALSE)
    list(fit, predict(fit, K[1:2, ]), machine, predict(machine, K[1:2, ]),
         kernel_rls(pb, kernel = "precomputed", lambda = 1e6),
         select_basis(K, 12, "renyi", kernel = "precomputed"),
         select_basis(pb, 12, "renyi", kernel = "precomputed"),
         select_basis(K, 5, "greedy", kernel = "precomputed", y = y),
         select_basis(K, 5, "k_center", kernel = "precomputed"))
  }
  expect_identical(run(K), run(K + 0), ignore_function_env = TRUE)
  K[2, 5] <- K[2, 5] + 1000000L
  words <- function(K) tryCatch(run(K), error = conditionMessage)
  expect_identical(words(K), words(K + 0))
})

test_that("a system of integers is that of doubles", {
  A <- crossprod(whole_x()[, 1:4] %/% 20L) + diag(1000L, 4L)
  storage.mode(A) <- "integer"
  b <- c(50000L, -20000L, 60000L, 1L)
  run <- function(A, b) {
    list(scdp(A = A, b = b, k = 4), scdp(A = A, b = b, k = 4, score = "ols"),
         matching_pursuit(A, b, k = 3), lars_path(A, b, k = 3),
         scdp(A = function(j) A[, j], b = b, k = 3))
  }
  expect_identical(run(A, b), run(A + 0, b + 0), ignore_function_env = TRUE)
})

test_that("models are scored alike", {
  expect_same_from_doubles(function(x) {
    cross_validate(x, greedy_rls, y = class_of_rows(x), k = 3, size = "criterion", outer = 4)
  })
  expect_same_from_doubles(function(x) {
    cross_validate(as_problem(x, number_of(x)), l1_path, nlambda = 5, folds = 3, outer = 4)
  })
  expect_same_from_doubles(function(x) {
    methods <- list(greedy = greedy_rls, omp = omp, poss = function(problem, k) {
      poss(problem, k = k, iterations = 200)
    })
    compared <- compare_methods(x, number_of(x), methods = methods, k = 2, splits = 3)
    # without the times
    compared[c("scores", "chosen", "training_rows")]
  })
})

test_that("new data of integers are predicted as doubles", {
  x <- whole_x()
  fit <- bare_rls(x, number_of(x), k = 4, lambda = 1)
  expect_identical(predict(fit, x), predict(fit, x + 0))
  expect_identical(predict(fit, x > 0, size = 2), predict(fit, (x > 0) + 0, size = 2))
  expect_equal(unname(predict(fit, x)), unname(fitted(fit)))
  expect_identical(predict(fit, as.data.frame(x)), predict(fit, as.data.frame(x + 0)))
  holed <- x
  holed[2, ] <- NA
  expect_identical(suppressWarnings(predict(fit, holed)), suppressWarnings(predict(fit, holed + 0)))
  expect_identical(capture.output(fit), capture.output(bare_rls(x + 0, number_of(x), k = 4,
                                                                lambda = 1)))
})
