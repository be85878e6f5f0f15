# verify() finds that the figures of fits are those of retraining, and finds figures that were
# changed. What it retrains with is compared with normal equations and with models of the other
# rows.

source("fuzz-values.R", local = TRUE)

made_data <- function(m = 24, n = 9) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  score <- x[, 1] - x[, 4] + rnorm(m)
  list(x = x, y = score, two = cbind(a = score, b = x[, 2] + rnorm(m)),
       classes = factor(ifelse(score > 0, "ill", "well")), w = runif(m, 0.5, 2),
       age = rnorm(m, 50, 5), three = cut(score, c(-Inf, -0.6, 0.6, Inf), c("p", "q", "r")))
}

verify_all <- function(...) verify(..., claims = Inf)

expect_verified <- function(verified) {
  failed <- verified$claims[!verified$claims$ok, ]
  expect(verified$ok, paste(utils::capture.output(print(verified$fit_call), print(failed)),
                            collapse = "\n"))
  expect_true(all(verified$kinds$checked == verified$kinds$available))
}

# The held-out squared error of some columns, by normal equations without each fold.
retrained_error <- function(problem, columns, lambda, id) {
  w <- problem$rows$weight
  x <- sweep(sweep(problem$x, 2L, problem$columns$centre), 2L, problem$columns$scale,
             "/")[, columns, drop = FALSE]
  design <- cbind(problem$z, x)
  penalty <- diag(c(rep(0, ncol(problem$z)), rep(lambda, length(columns))), ncol(design))
  residual <- problem$rows$y
  for (fold in unique(id)) {
    held <- id == fold
    b <- solve(crossprod(design[!held, ], w[!held] * design[!held, ]) + penalty,
               crossprod(design[!held, ], w[!held] * problem$rows$y[!held, ]))
    residual[held, ] <- problem$rows$y[held, ] - design[held, ] %*% b
  }
  sum(w * residual^2) / sum(w) / ncol(problem$rows$y)
}

test_that("the retrainers agree with normal equations and with models of the other rows", {
  set.seed(9)
  for (case in 1:4) {
    pb <- random_problem(20, 6, c("one", "two")[case %% 2 + 1], weights = TRUE,
                         covariates = case > 2, intercept = case != 3)
    folds <- make_folds(pb, if (case < 3) "loo" else 4)
    held_out <- function(leverages) {
      retrain_held_out(pb, retrain_columns(pb, 1:3)$values, ridge_root(2, 3), folds$ids[, 1],
                       leverages)$pred
    }
    expect_equal(retrain_error(pb, "squared", list(held_out(FALSE)), folds)[["value"]],
                 retrained_error(pb, 1:3, 2, folds$ids[, 1]), tolerance = 1e-10)
    if (folds$loo) expect_equal(held_out(TRUE), held_out(FALSE), tolerance = 1e-10)
  }
  pb <- random_problem(12, 6, "binary", weights = TRUE, covariates = TRUE)
  pairs <- retrain_pairs(pb, retrain_columns(pb, 1:3)$values, ridge_root(2, 3))
  w <- pb$rows$weight[pairs$up] * pb$rows$weight[pairs$down]
  expect_equal(sum(w * pair_order(pairs$ahead)) / sum(w), oracle_pairs_out(pb, 1:3, 2))
})

searches_of_columns <- list(
  greedy_rls = greedy_rls, wrapper_rls = wrapper_rls, lowrank_lssvm = lowrank_lssvm,
  random_selection = random_selection, sequential_replacement = sequential_replacement,
  forward_regression = forward_regression, omp = omp, foba = foba, rfe = rfe,
  best_subset = best_subset, poss = poss, scdp = scdp
)

test_that("all claims of fits of columns hold", {
  set.seed(1)
  data <- made_data(18, 7)
  zero <- replace(data$w, c(3, 7), 0)
  sparse <- methods::as(replace(data$x, abs(data$x) < 0.5, 0), "CsparseMatrix")
  for (at in seq_along(searches_of_columns)) {
    method <- searches_of_columns[[at]]
    fit <- suppressWarnings(method(data$x, data$y, k = 2, weights = data$w, adjust = data$age))
    expect_verified(verify_all(fit, data$x, data$y, weights = data$w))
    # classes and two responses by turns
    if (at %% 2) {
      fit <- suppressWarnings(method(data$x, data$three, k = 2, weights = zero, size = "cv",
                                     size_folds = 3))
      expect_verified(verify_all(fit, data$x, data$three))
    } else {
      fit <- suppressWarnings(method(sparse, data$two, k = 2, intercept = FALSE,
                                     standardize = FALSE))
      expect_verified(verify_all(fit, sparse, data$two))
    }
  }
})

test_that("all claims hold for every criterion, search and scheme of folds", {
  set.seed(2)
  data <- made_data()
  whole <- round(4 * data$x)
  storage.mode(whole) <- "integer"
  fits <- suppressWarnings(list(
    greedy_rls(whole, data$classes, k = 2, criterion = "auc", keep = 3, lambda = 2),
    greedy_rls(whole, data$classes, k = 2, criterion = "balanced", search = "floating"),
    greedy_rls(whole, data$classes, k = 3, criterion = "error", folds = 4, lambda = c(1, 9)),
    greedy_rls(whole, data$classes, k = 3, folds = make_folds(24, 3, repeats = 2), lambda = 1,
               criterion = "auc", size = "criterion"),
    greedy_rls(whole, data$classes, k = 3, search = "backward", lambda = "full", keep = 2),
    greedy_rls(whole, data$classes, k = 3, search = "forward_backward", criterion = "absolute"),
    forward_regression(whole, data$classes, k = 3, lambda = 2),
    scdp(whole, data$classes, k = 3, lambda = 2, score = "normalised"),
    scdp(whole, data$classes, k = 3, score = "ols", solver = "qr"),
    rfe(whole, data$classes, k = 2, lambda = 1, step = 2),
    best_subset(whole, data$classes, k = 3, lambda = 1)
  ))
  for (fit in fits) expect_verified(verify_all(fit, whole, data$classes))
  wide <- made_data(14, 40)
  for (fit in list(greedy_rls(wide$x, wide$y, k = 6, lambda = 1e-6, size = "criterion"),
                   rfe(wide$x, wide$y, k = 4), omp(wide$x, wide$y, k = 8))) {
    expect_true(verify(fit, wide$x, wide$y, claims = 200)$ok)
  }
})

# a number of an object, changed by 1e-6 of itself
nudged <- function(values) {
  at <- which(is.finite(values) & values != 0)
  at <- at[sample.int(length(at), 1L)]
  replace(values, at, values[at] * (1 + 1e-6))
}

# The fit once for each field of figures, of which one is changed.
nudged_fits <- function(fit, fields) {
  paths <- Filter(function(path) {
    value <- Reduce(`[[`, path, unclass(fit))
    is.double(value) && any(is.finite(value) & value != 0) && path[[1L]] %in% fields
  }, field_paths(fit))
  fits <- lapply(paths, function(path) {
    set_field(fit, path, nudged(Reduce(`[[`, path, unclass(fit))))
  })
  stats::setNames(fits, vapply(paths, function(path) paste(unlist(path), collapse = "$"), ""))
}

expect_all_found <- function(fits, ..., but = character()) {
  found <- vapply(fits, function(fit) {
    tryCatch(!verify_all(fit, ...)$ok, sparsels_error_object = function(e) TRUE)
  }, NA)
  expect_identical(setdiff(names(fits)[!found], but), character())
  expect_gt(sum(found), 4)
}

figures <- c("path", "coefficients", "held_out", "fitted", "lambda", "lambda_table", "estimate",
             "estimate_error", "fitted_sizes", "alternatives", "proof", "archive", "gamma",
             "kernel_table", "null_objective")

# counts, and a gap that is rounding
of_the_work <- c("path$gap", "path$rounds", "path$products", "path$columns_kept",
                 "kernel_table$gamma", "kernel_table$sigma2")

test_that("a figure that was changed by a millionth is found in any field", {
  set.seed(3)
  data <- made_data(16, 6)
  refitted <- suppressWarnings(greedy_rls(data$x, data$classes, k = 1, keep = 2, size_folds = 2,
                                          adjust = data$age))
  expect_all_found(nudged_fits(refitted, figures), data$x, data$classes)
  proven <- best_subset(data$x, data$y, k = 2)
  expect_all_found(nudged_fits(proven, figures), data$x, data$y, but = "proof$nodes")
  archived <- poss(data$x, data$y, k = 1, restarts = 1, iterations = 50)
  expect_all_found(nudged_fits(archived, figures), data$x, data$y)
})

test_that("other columns, names and moves than those of the search are found", {
  set.seed(4)
  data <- made_data()
  fit <- greedy_rls(data$x, data$y, k = 3, lambda = 2, size = "criterion")
  swapped <- fit
  swapped$coefficients[[3]]$features <- c(8L, 9L)
  expect_false(verify_all(swapped, data$x, data$y)$ok)
  renamed <- fit
  renamed$path$name[2] <- "g9"
  expect_false(verify_all(renamed, data$x, data$y)$ok)
  # a search that takes the worst column at a step, with figures that are true
  worst <- random_selection(data$x, data$y, k = 2, lambda = 2)
  worst$method <- "greedy_rls"
  expect_false(verify_all(worst, data$x, data$y)$ok)
  step <- verify_all(worst, data$x, data$y)$claims
  expect_identical(unique(step$claim[!step$ok]), "no better column at a step")
})

test_that("data that are not those of the fit are refused", {
  set.seed(5)
  data <- made_data()
  fit <- greedy_rls(data$x, data$y, k = 2, lambda = 1, size = "criterion", weights = data$w)
  other <- data$x
  other[5, 7] <- other[5, 7] + 1e-6
  expect_snapshot({
    refusal(verify(fit, other, data$y))
    refusal(verify(fit, data$x, replace(data$y, 3, 0)))
    refusal(verify(fit, data$x[, 9:1], data$y))
    refusal(verify(fit, data$x[, -2], data$y))
    refusal(verify(fit, data$x, data$classes))
    refusal(verify(fit, data$x, data$y, weights = rev(data$w)))
    refusal(verify(fit, data$x, data$y, adjust = data$age))
    refusal(verify(fit, data$x, data$y, intercept = FALSE))
    refusal(verify(fit, data$x, data$y, claims = 0))
    refusal(verify(1, data$x, data$y))
    refusal(verify(fit, fit$problem))
  })
})

test_that("claims are drawn from each kind, and by R's generator", {
  set.seed(6)
  data <- made_data()
  fit <- suppressWarnings(greedy_rls(data$x, data$y, k = 2, lambda = 1, size_folds = 3))
  set.seed(7)
  first <- verify(fit, data$x, data$y, claims = 30)
  set.seed(7)
  expect_identical(verify(fit, data$x, data$y, claims = 30), first)
  expect_true(all(first$kinds$checked > 0))
  expect_identical(nrow(verify(fit, data$x, data$y, claims = 3)$claims), 3L)
  expect_identical(tidy(first), first$claims)
  expect_true(glance(first)$ok)
  problem <- as_problem(data$x, data$y)
  expect_true(verify(fit, problem)$ok)
  expect_true(verify(fit, data$x[, 9:1])$ok)
  expect_error(verify(fit, data$x[24:1, ]), "rows in another order")
})

test_that("a verification says what was checked, and what failed", {
  set.seed(8)
  data <- made_data()
  fit <- greedy_rls(data$x, data$y, k = 2, lambda = 1, size = "criterion")
  trimmed <- function(lines) sub(" +$", "", lines)
  # rounding differs from one processor to another: claims that hold get deviations to be printed
  same_rounding <- function(verification) {
    table <- verification$claims
    made <- table$tolerance * seq_len(nrow(table)) / (2 * nrow(table))
    verification$claims$deviation <- ifelse(table$ok, made, table$deviation)
    verification
  }
  expect_snapshot(print(same_rounding(verify(fit, data$x, data$y, claims = 15))),
                  transform = trimmed)
  fit$path$criterion[2] <- 0.5
  expect_snapshot(print(same_rounding(verify_all(fit, data$x, data$y))), transform = trimmed)
  drawn <- random_selection(data$x, data$y, k = 2, size_folds = 3, size = "cv")
  expect_match(verify(drawn, data$x, data$y)$unchecked, "draws at random")
})

# The fits that the calls of the fuzz tests make, with the data of each: a method that is added
# there is verified here.
fits_of_calls <- function(world) {
  fits <- lapply(fuzz_calls, function(call) {
    method <- eval(call[[1L]], world)
    arguments <- names(formals(args(method)))
    of_data <- arguments[1L] %in% c("x", "A") && any(c("y", "b") %in% arguments)
    if (!of_data) return(NULL)
    call <- match.call(method, call)
    fit <- tryCatch(suppressMessages(suppressWarnings(eval(call, world))),
                    sparsels_error = function(e) NULL)
    if (!inherits(fit, c("sparsels_fit", "system_fit"))) return(NULL)
    given <- as.list(call)[intersect(names(call), c("x", "y", "A", "b", "data", "adjust"))]
    names(given)[names(given) %in% c("A", "b")] <- c("x", "y")[c("A", "b") %in% names(given)]
    list(fit = fit, data = lapply(given, eval, world))
  })
  Filter(Negate(is.null), fits)
}

test_that("a fit of every method is verified", {
  made <- fits_of_calls(fuzz_world())
  methods <- vapply(made, function(one) one$fit$method, "")
  expect_true(all(c(names(searches_of_columns), "rls", "kernel_rls", "lssvm", "fs_lssvm", "l1_path",
                    "l1_size", "matching_pursuit", "lars_path") %in% methods))
  for (one in made) expect_verified(do.call(verify_all, c(list(one$fit), one$data)))
})

# calls of data in this order: x, y
gaussian <- kernel_gaussian(gamma = 0.1)
kernel_calls <- alist(
  rls(x, three, weights = w, adjust = age, lambda = c(0.1, 5)),
  rls(wide, y, intercept = FALSE, folds = 4, lambda = c(1e-3, 5)),
  kernel_rls(x, two, kernel = gaussian, lambda = c(0.1, 1)),
  kernel_rls(x, classes, kernel = gaussian, basis = 1:6, lambda = c(0.1, 1), weights = w,
             adjust = age, intercept = TRUE, standardize = TRUE),
  kernel_rls(x, y, kernel = gaussian, basis = x[1:5, ] + 0.1, folds = 5, lambda = 1),
  kernel_rls(x, y, kernel = gaussian, basis = 1:8, shift = "paper", folds = 5, lambda = 1),
  kernel_rls(x, y, kernel = kernel_polynomial(2), lambda = 1, shift = 0.01),
  kernel_rls(sparse, y, kernel = kernel_gaussian(c(0.1, 1)), lambda = c(0.1, 1),
             standardize = TRUE, folds = make_folds(24, 3, repeats = 2)),
  kernel_rls(products, y, kernel = "precomputed", lambda = 1),
  lssvm(whole, three, gamma = c(1, 9)),
  fs_lssvm(x, two, kernel = gaussian, gamma = 1),
  fs_lssvm(x, classes, kernel = gaussian, gamma = 9, adjust = age, weights = w, folds = 4),
  fs_lssvm(x, three, kernel = gaussian, gamma = 9, adjust = age, intercept = "forced",
           folds = make_folds(24, 3, repeats = 2), score = "ols"),
  fs_lssvm(x, y, kernel = gaussian, gamma = 2, solver = "full", adjust = age),
  fs_lssvm(x, y, kernel = gaussian, gamma = 2, solver = "nystrom"),
  fs_lssvm(x, y, kernel = gaussian, gamma = 2, refit = TRUE, intercept = "none", folds = NULL),
  fs_lssvm(x, y, kernel = gaussian, gamma = 2, candidates = 3, prototypes = 9)
)

l1_calls <- alist(
  l1_path(x, y, nlambda = 5, weights = w, adjust = age),
  l1_path(wide, y, nlambda = 5, folds = 4),
  l1_path(sparse, classes, nlambda = 4, loss = "logistic", folds = make_folds(24, 3, repeats = 2)),
  l1_path(whole, classes, nlambda = 4, loss = "logistic", weights = w, adjust = age),
  l1_path(x, classes, nlambda = 4, loss = "hinge", folds = 4),
  l1_path(x, classes, nlambda = 4, loss = "hinge", intercept = FALSE, weights = w),
  l1_path(x, classes, nlambda = 4, loss = "hinge", adjust = age),
  l1_path(x, y, nlambda = 4, solver = "ipm"),
  l1_path(x, classes, nlambda = 3, loss = "logistic", solver = "ipm", folds = 3),
  l1_path(x, classes, nlambda = 4, folds = 4, criterion = "auc"),
  l1_size(x, y, size = 3)
)

# the data of these calls
made_world <- function() {
  data <- made_data()
  data$sparse <- methods::as(replace(data$x, abs(data$x) < 0.5, 0), "CsparseMatrix")
  data$whole <- round(4 * data$x)
  storage.mode(data$whole) <- "integer"
  data$wide <- matrix(rnorm(24 * 40), 24)
  data$products <- tcrossprod(data$wide)
  list2env(data, parent = environment(made_world))
}

fit_of <- function(call, world) suppressWarnings(eval(call, world))

verified_call <- function(call, fit, world) {
  verify_all(fit, eval(call[[2L]], world), eval(call[[3L]], world))
}

test_that("all claims of kernel expansions and machines hold", {
  set.seed(10)
  world <- made_world()
  for (call in kernel_calls) expect_verified(verified_call(call, fit_of(call, world), world))
})

test_that("all claims of paths with an l1 penalty hold", {
  set.seed(11)
  world <- made_world()
  for (call in l1_calls) expect_verified(verified_call(call, fit_of(call, world), world))
  cut <- threshold_coef(l1_path(world$x, world$y, nlambda = 4, solver = "ipm"))
  expect_verified(verify_all(cut, world$x, world$y))
})

test_that("a changed figure of a kernel expansion, machine or l1 path is found", {
  set.seed(12)
  world <- made_world()
  for (call in c(kernel_calls[c(1, 12)], l1_calls[3])) {
    expect_all_found(nudged_fits(fit_of(call, world), figures), eval(call[[2L]], world),
                     eval(call[[3L]], world), but = of_the_work)
  }
})

test_that("all claims of sparse solutions of systems hold, and changed figures are found", {
  set.seed(13)
  x <- matrix(rnorm(30 * 9), 30)
  A <- crossprod(x)
  b <- crossprod(x, matrix(rnorm(60), 30))
  one <- b[, 1]
  column <- function(j) A[, j]
  fits <- list(
    scdp(A = A, b = b, k = 4), scdp(A = A, b = b, k = 4, score = "ols"),
    scdp(A = A, b = b, k = 4, score = "normalised"), scdp(A = A, b = b, k = 3, candidates = 4),
    matching_pursuit(A, b, k = 4), matching_pursuit(A, b, k = 4, debias = FALSE, shrinkage = 0.5)
  )
  for (fit in fits) expect_verified(verify_all(fit, A, b))
  expect_all_found(nudged_fits(fits[[1]], figures), A, b)
  expect_all_found(nudged_fits(fits[[6]], figures), A, b)
  paths <- list(lars_path(A, one, k = 5), lars_path(A, one, type = "lar", k = 5, debias = FALSE))
  for (fit in paths) expect_verified(verify_all(fit, A, one))
  expect_all_found(nudged_fits(paths[[2]], c(figures, "knots")), A, one)
  expect_verified(verify_all(scdp(A = column, b = one, k = 3), column, one))
  expect_false(verify_all(fits[[1]], A, b + 1e-6)$ok)
  expect_snapshot({
    refusal(verify(fits[[1]], A))
    refusal(verify(fits[[1]], A, one))
    refusal(verify(fits[[1]], A[-1, -1], b[-1, ]))
  })
})

test_that("figures are not held to more digits than centring and rows fitted exactly leave", {
  holds <- function(fit, x, y) {
    checked <- verify(fit, x, y, claims = Inf)
    expect_true(checked$ok, label = checked$claims$claim[!checked$claims$ok][1])
  }
  # one response of two has values large beside its spread
  set.seed(61)
  x <- matrix(rnorm(60 * 6), 60)
  y <- cbind(1e7 + x[, 3], rnorm(60))
  holds(greedy_rls(x, y, k = 3, lambda = 1, size = "criterion"), x, y)
  # a column that is 0 but in a row
  x <- matrix(rnorm(8 * 6), 8)
  x[, 4] <- c(1, numeric(7))
  y <- rnorm(8)
  holds(rls(x, y, lambda = c(4e-9, 3e-3)), x, y)
  # kernels with a small lambda
  for (seed in 1:2) {
    set.seed(seed)
    x <- matrix(rnorm(8 * 15), 8)
    y <- factor(rep(1:2, 4))
    fit <- suppressWarnings(lssvm(x, y, gamma = 2^15), "sparsels_warning_edge")
    holds(fit, x, y)
  }
  # columns that are large beside their spread, of small coefficients
  for (seed in 1:2) {
    set.seed(seed)
    x <- 1e6 + matrix(rnorm(20 * 6), 20)
    y <- x[, 3] - 1e6 + rnorm(20)
    holds(forward_regression(x, y, k = 4, size = 2), x, y)
  }
})

test_that("a wrong error of an expansion on a nearly dependent basis is found", {
  set.seed(1)
  x <- matrix(rnorm(44 * 10), 44) / 100
  y <- 40 * x[, 1] + rnorm(44)
  fit <- kernel_rls(x, y, kernel = kernel_gaussian(0.05), basis = 1:12, lambda = c(0.1, 1))
  expect_true(verify(fit, x, y, claims = Inf)$ok)
  fit$path$criterion[1] <- (1 + 1e-5) * fit$path$criterion[1]
  expect_false(verify(fit, x, y, claims = Inf)$ok)
})

test_that("columns that are equal in some folds alone hold, and so do errors of rounding", {
  set.seed(44)
  # two rare columns are copies in the rows of some folds, as in tables of fingerprints
  x <- matrix(rbinom(60 * 30, 1, 0.08), 60)
  x[, 16:30] <- x[, 1:15]
  for (j in 16:30) x[j * 2, j] <- 1 - x[j * 2, j]
  y <- x[, 1] + x[, 2] - x[, 20] + rnorm(60) / 2
  pb <- as_problem(x, y)
  fit <- suppressWarnings(greedy_rls(pb, k = 4))
  parts <- lapply(1:10, function(fold) which(fit$size_folds$ids != fold))
  copies <- function(problem) nrow(column_copies(problem, list(start = integer())))
  expect_gt(max(vapply(parts, function(rows) copies(pb[rows, ]), 0L)), copies(pb))
  expect_true(all(verify(fit, pb, claims = Inf)$claims$ok))
  exact <- data.frame(a = rnorm(40), b = rnorm(40), c = rnorm(40))
  exact$y <- exact$a + exact$b
  expect_true(all(verify(greedy_rls(y ~ ., exact), exact, claims = Inf)$claims$ok))
})

test_that("coefficients that are rounding hold, where no column says anything about the response", {
  design <- as.matrix(expand.grid(a = c(-1, 1), b = c(-1, 1), c = c(-1, 0, 1), y = c(-1, 1)))
  x <- design[, 1:3]
  y <- design[, "y"] + 3
  set.seed(31)
  fits <- suppressWarnings(list(
    rls(x, y, task = "regression"), greedy_rls(x, y, task = "regression"),
    best_subset(x, y, task = "regression"), kernel_rls(x, y, task = "regression"),
    kernel_rls(x, y, task = "regression", basis = 5), lssvm(x, y, task = "regression"),
    fs_lssvm(x, y, task = "regression", solver = "full")
  ))
  for (fit in fits) expect_verified(verify_all(fit, x, y, task = "regression"))
  # classes of a sum whose distances are the same for many rows
  ill <- factor(drop(design %*% c(1, 2, -1, 0.5)) > 0)
  for (method in list(kernel_rls, lssvm)) {
    expect_verified(verify_all(suppressWarnings(method(design, ill)), design, ill))
  }
  # all rows have the same distance, so that the first of the prototypes is added
  expect_verified(verify_all(fs_lssvm(diag(12), ill[1:12]), diag(12), ill[1:12]))
  # a changed figure is found beside them
  fit <- fits[[1L]]
  at <- match(fit$lambda, fit$path$lambda)
  fit$coefficients[[at]]$beta[2L] <- 1e-9
  expect_false(verify_all(fit, x, y, task = "regression")$ok)
})

test_that("what the fit has said of its data is not said again", {
  set.seed(1)
  x <- matrix(rnorm(60), 20)
  y <- x[, 1] + rnorm(20)
  expect_warning(curved <- greedy_rls(x, y, smooth = TRUE, size = 1, folds = "loo"),
                 class = "sparsels_warning_curves")
  expect_message(copied <- rls(rbind(x, x), c(y, y), lambda = 1),
                 class = "sparsels_message_copies")
  expect_silent(verify(curved, x, y))
  expect_silent(verify(copied, rbind(x, x), c(y, y)))
  expect_silent(exchange(curved, x, y))
})

test_that("right fits of few events hold, whose folds leave parts of the rows without one", {
  set.seed(6)
  x <- matrix(rnorm(18), 6)
  times <- survival::Surv(1:6 + 0.1, rep(1:0, 3))
  counts <- rep(c(0, 3, 1), length.out = 4)
  fit <- greedy_rls(x, times, loss = "cox")
  expect_verified(verify_all(fit, x, times))
  for (lambda in list(NULL, 1)) {
    fit <- greedy_rls(x[1:4, ], counts, loss = "poisson", lambda = lambda)
    expect_verified(verify_all(fit, x[1:4, ], counts))
  }
  # a changed figure is found
  at <- match(fit$size, fit$path$size)
  fit$path$cv[at] <- fit$path$cv[at] * 1.01
  expect_false(verify_all(fit, x[1:4, ], counts)$ok)
  expect_error(greedy_rls(x[1:5, ], times[1:5], loss = "cox"),
               "does not repeat the search in folds", class = "sparsels_error_input")
})
