# fs_lssvm() against building every fold's system from its rows and solving anew at every step.

# a fit on few rows without early stopping
machine_fit <- function(..., change = 0) fs_lssvm(..., change = change)

# The weights of all terms of a machine, prototypes with the row numbers `rows` and then covariates.
term_values <- function(fit, size, rows) {
  model <- fit$coefficients[[size + 1]]
  w <- matrix(0, length(rows) + nrow(model$covariates), ncol(model$beta))
  w[match(fit$basis$rows[model$features], rows), ] <- model$beta
  w[length(rows) + seq_len(nrow(model$covariates)), ] <- model$covariates
  w
}

# prototypes in the order taken, then names of covariates
taken_terms <- function(path, rows, pb) {
  names <- c(as.character(rows), colnames(pb$z))
  match(path$name[-1], names)
}

small_fit <- function(...) {
  small <- small_machine()
  machine_fit(small$x, small$y, kernel = kernel_gaussian(sigma2 = small$sigma2),
              gamma = small$gamma, prototypes = small$prototypes, folds = small$folds,
              standardize = FALSE, ...)
}

test_that("the worked example has the numbers of the specification", {
  fit <- small_fit()
  expect_identical(fit$path$name, c(NA, "3", "(Intercept)", "18", "5", "1", "8", "17"))
  expect_identical(fit$path$prototype, c(NA, 1L, NA, 2:6))
  expect_identical(fit$path$prototypes, c(0L, 1L, 1:6))
  expect_identical(fit$path$size, 0:7)
  error <- c(1.04623760588, 0.933874978834, 0.695636405285, 0.64604460017, 0.653340685225,
             0.601827256626, 0.588776299799)
  expect_lt(max(abs(fit$path$criterion[-1] - error)), 1e-9)
  expect_lt(abs(fit$path$se[8] * sqrt(4) - 0.430843343101), 1e-9)
  expect_identical(fit$size, 6L)
  third <- fit$coefficients[[4]]
  expect_identical(fit$basis$rows[third$features], c(3L, 18L))
  expect_lt(max(abs(third$beta - c(-2.12580304598, -1.79602139841))), 1e-9)
  expect_lt(abs(third$covariates - 0.600009876979), 1e-9)
  last <- fit$coefficients[[8]]
  expect_identical(fit$basis$rows[last$features], c(3L, 18L, 5L, 1L, 8L, 17L))
  w <- c(1.66701194217, -0.344944813765, -0.425189472383, 2.20450672457, -0.11266653459,
         0.666406229687, -0.885597595334)
  expect_lt(max(abs(term_values(fit, 7, small_machine()$prototypes) - w)), 1e-9)
})

test_that("k-center chooses the prototypes of the worked example", {
  small <- small_machine()
  seed <- Find(function(seed) {
    set.seed(seed)
    sample.int(24, 1) == 1
  }, 1:1000)
  kernel <- kernel_gaussian(sigma2 = small$sigma2)
  for (known in list(NULL, kernel)) {
    set.seed(seed)
    expect_equal(select_basis(small$x, 6, "k_center", kernel = known), small$prototypes)
  }
  # the number of them, and the share
  for (wanted in c(6, 0.24)) {
    set.seed(seed)
    fit <- machine_fit(small$x, small$y, kernel = kernel, gamma = small$gamma,
                       prototypes = wanted, folds = small$folds, standardize = FALSE)
    expect_identical(fit$path, small_fit()$path)
    expect_identical(fit$coefficients, small_fit()$coefficients)
  }
  gap <- outer(1:24, small$prototypes, Vectorize(function(i, j) {
    sum((small$x[i, ] - small$x[j, ])^2)
  }))
  expect_equal(max(apply(gap, 1, min)), 0.0980488043425, tolerance = 1e-11)
  own <- oracle_kernel(oracle_gaussian(10), small$x[small$prototypes, ])
  expect_equal(-log(mean(own)), 1.47565859781, tolerance = 1e-11)
})

# Every size --------------------------------------------------------------------------------------

random_machines <- function(N = 12) {
  random_cover(N, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
               covariates = c(TRUE, FALSE), intercept = c("candidate", "forced", "none"),
               score = c("residual", "normalised", "ols"), standardize = c(TRUE, FALSE),
               gamma = c(0.4, 30), kernel = c("gaussian", "polynomial"))
}

machine_kernel <- function(name) {
  switch(name,
    gaussian = list(mine = kernel_gaussian(0.3), exact = oracle_gaussian(0.3)),
    polynomial = list(mine = kernel_polynomial(3, 0.2, 1), exact = oracle_polynomial(3, 0.2, 1)),
    linear = list(mine = kernel_linear(), exact = oracle_linear)
  )
}

machine_problem <- function(case, m = 26) {
  random_problem(m, 3, case$task, case$weights, case$covariates, case$intercept != "none",
                 standardize = case$standardize)
}

# All that the fit says of every size against the oracle; returns the terms taken.
expect_machine <- function(fit, pb, machine, rows, case, ...) {
  q <- ncol(pb$z)
  forced <- machine$n + setdiff(seq_len(q), if (case$intercept == "candidate") 1)
  before <- length(forced)
  k <- fit$control$k + before
  taken <- oracle_machine_path(machine, k, score = case$score, first = forced, ...)
  sizes <- seq_len(length(taken$S) - before + 1) + before
  S <- taken$S[setdiff(seq_along(taken$S), seq_len(before))]
  expect_identical(taken_terms(fit$path, rows, pb), as.integer(S))
  figures <- oracle_machine_errors(machine, k, fit$folds, score = case$score, first = forced, ...)
  expect_equal(fit$path$criterion, unname(figures["value", sizes]), tolerance = 1e-8)
  expect_equal(fit$path$se, unname(figures["se", sizes]), tolerance = 1e-7)
  if (pb$coding$task != "regression") {
    wrong <- oracle_machine_errors(machine, k, fit$folds, "error", score = case$score,
                                    first = forced, ...)
    expect_equal(fit$path$error, unname(wrong["value", sizes]), tolerance = 1e-10)
  } else {
    expect_null(fit$path$error)
  }
  for (size in fit$path$size) {
    exact <- taken$w[[size + before + 1]]
    w <- term_values(fit, size, rows)
    expect_lt(max(abs(w - exact)), 1e-7 * max(1, abs(exact)))
    training <- sum(pb$rows$weight * (pb$rows$y - machine$terms %*% exact)^2)
    expect_equal(fit$path$training[size + 1], training / (ncol(pb$rows$y) * sum(pb$rows$weight)),
                 tolerance = 1e-9)
    expect_identical(fit$coefficients[[size + 1]]$step, size)
    expect_identical(length(fit$coefficients[[size + 1]]$features), fit$path$prototypes[size + 1])
  }
  w <- taken$w[[fit$size + before + 1]]
  expect_equal(unname(fit$fitted), unname(machine$terms %*% w), tolerance = 1e-8)
  out <- apply(fit$folds$ids, 2, function(ids) {
    as.vector(oracle_machine_out(machine, k, ids, score = case$score, first = forced,
                                 ...)[[fit$size + before + 1]])
  })
  expect_equal(as.vector(fit$held_out), rowMeans(out), tolerance = 1e-8)
  invisible(taken$S)
}

test_that("every size of every fold is that of its own system", {
  set.seed(950)
  cases <- random_machines()
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- machine_problem(case)
    rows <- sample(26, 7)
    kernel <- machine_kernel(case$kernel)
    folds <- unequal_folds(pb, repeats = 1 + row %% 2)
    fit <- machine_fit(pb, kernel = kernel$mine, gamma = case$gamma, prototypes = rows,
                       folds = folds, intercept = case$intercept, score = case$score)
    expect_s3_class(fit, c("fs_lssvm", "kernel_fit", "sparsels_fit", "sparsels_result"),
    exact = TRUE)
    machine <- oracle_machine(pb, kernel$exact, rows, case$gamma)
    expect_machine(fit, pb, machine, rows, case)
    expect_identical(fit$control$k, 7L + (case$intercept == "candidate"))
    expect_identical(fit$gamma, case$gamma)
    expect_identical(fit$lambda, 1 / case$gamma)
  }
})

test_that("the intercept comes when it is best, first, or never", {
  set.seed(951)
  x <- matrix(rnorm(60), 30)
  y <- 3 + sin(x[, 1]) + rnorm(30) / 9
  fit <- function(intercept, y, ...) {
    machine_fit(x, y, kernel = kernel_gaussian(1), gamma = 5, prototypes = 1:8,
                folds = rep(1:5, 6), intercept = intercept, ...)
  }
  # all rows are explained by it at once, or none
  expect_identical(fit("candidate", y)$path$name[2], "(Intercept)")
  last <- fit("candidate", y - mean(y))$path
  expect_gt(which(last$name == "(Intercept)"), 2)
  forced <- fit("forced", y)
  expect_identical(nrow(forced$path), 9L)
  expect_false("(Intercept)" %in% forced$path$name)
  expect_identical(forced$path$prototypes, 0:8)
  expect_equal(forced$coefficients[[1]]$covariates[1], mean(y), tolerance = 1e-8)
  none <- fit("none", y)
  expect_identical(nrow(none$path), 9L)
  expect_identical(nrow(none$coefficients[[9]]$covariates), 0L)
  expect_equal(forced$path$criterion[2], none$path$criterion[2] / 30, tolerance = 2)
  # a problem says so itself
  pb <- as_problem(x, y, intercept = FALSE)
  expect_error(machine_fit(pb, kernel = kernel_gaussian(1), gamma = 5, intercept = "forced"),
               "`intercept`", class = "sparsels_error_input")
  own <- machine_fit(pb, kernel = kernel_gaussian(1), gamma = 5, prototypes = 1:8,
                     folds = rep(1:5, 6))
  expect_identical(own$path, none$path)
})

# Theorem 1 ---------------------------------------------------------------------------------------

# (27): ridge regression on the features K U Lambda^(-1/2) with the intercept, in plain R; the
# predictions and the intercept
oracle_nystrom <- function(pb, k, rows, gamma) {
  machine <- oracle_machine(pb, k, rows, gamma)
  n <- machine$n
  own <- machine$penalty[seq_len(n), seq_len(n)] * gamma
  parts <- eigen(own, symmetric = TRUE)
  phi <- machine$terms[, seq_len(n)] %*% parts$vectors %*% diag(parts$values^-0.5)
  terms <- cbind(phi, machine$terms[, -seq_len(n)])
  q <- ncol(pb$z)
  nu <- 1e-8 * mean(pb$rows$weight)
  A <- crossprod(terms, pb$rows$weight * terms) + diag(rep(c(1 / gamma, nu), c(n, q)), n + q)
  w <- solve(A, crossprod(terms, pb$rows$weight * pb$rows$y))
  list(fitted = unname(terms %*% w), covariates = w[n + seq_len(q), , drop = FALSE])
}

test_that("the pursuit at its end, all prototypes at once and the features are one machine", {
  set.seed(952)
  cases <- random_machines()
  cases$kernel <- "gaussian"
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- machine_problem(case)
    rows <- sample(26, 7)
    fit <- function(...) {
      machine_fit(pb, kernel = kernel_gaussian(0.3), gamma = case$gamma, prototypes = rows,
                  folds = folds, intercept = case$intercept, size_rule = 0, ...)
    }
    folds <- unequal_folds(pb, repeats = 2)
    exact <- oracle_nystrom(pb, oracle_gaussian(0.3), rows, case$gamma)
    machine <- oracle_machine(pb, oracle_gaussian(0.3), rows, case$gamma)
    pursuit <- fit(score = case$score)
    last <- pursuit$path[nrow(pursuit$path), ]
    expect_identical(last$prototypes, 7L)
    w <- term_values(pursuit, last$size, rows)
    expect_lt(relative_error(machine$terms %*% w, exact$fitted), 1e-7)
    for (solver in c("full", "nystrom")) {
      whole <- fit(solver = solver)
      expect_lt(relative_error(whole$fitted, exact$fitted), 1e-7)
      model <- whole$coefficients[[8]]
      expect_lt(relative_error(rbind(model$beta, model$covariates), w), 1e-6)
      expect_equal(unname(model$covariates), unname(exact$covariates), tolerance = 1e-6)
      expect_identical(whole$size, 7L)
      expect_identical(whole$basis$rows, rows)
      figures <- c("prototypes", "criterion", "se", "training",
                   if (pb$coding$task != "regression") "error")
      expect_equal(whole$path[figures], last[figures], tolerance = 1e-7, ignore_attr = TRUE)
      expect_null(whole$coefficients[[3]])
    }
  }
})

test_that("with all rows as prototypes it is the machine on all rows", {
  set.seed(953)
  pb <- random_problem(20, 3, "binary", weights = TRUE)
  for (solver in c("full", "nystrom")) {
    fit <- fs_lssvm(pb, kernel = kernel_gaussian(2), gamma = 3, prototypes = NULL, folds = NULL,
                    solver = solver)
    whole <- lssvm(pb, kernel = kernel_gaussian(2), gamma = 3)
    expect_lt(relative_error(fit$fitted, fitted(whole)), 1e-6)
  }
  fit <- fs_lssvm(pb, kernel = kernel_gaussian(2), gamma = 3, prototypes = NULL, folds = NULL)
  expect_identical(fit$basis$available, 20L)
  expect_lt(relative_error(fit$fitted, fitted(whole)), 1e-6)
})

# Folds, stopping and size ------------------------------------------------------------------------

test_that("folds in any form", {
  set.seed(954)
  pb <- random_problem(24, 3, "binary")
  fit <- function(folds, ...) {
    machine_fit(pb, kernel = kernel_gaussian(0.3), gamma = 3, prototypes = c(2, 9, 4, 20, 11),
                folds = folds, ...)
  }
  set.seed(1)
  drawn <- fit(6)
  set.seed(1)
  expect_identical(drawn$folds, make_folds(pb, 6))
  expect_identical(fit(drawn$folds)$path, drawn$path)
  expect_equal(fit(drawn$folds$ids[, 1])$path, drawn$path)
  words <- c("c", "a", "b")[(1:24) %% 3 + 1]
  expect_equal(fit(words)$path, fit(match(words, unique(words)))$path)
  twice <- make_folds(pb, 6, repeats = 2)
  each <- lapply(1:2, function(r) fit(twice$ids[, r])$path)
  both <- fit(twice)
  for (figure in c("criterion", "se", "error")) {
    expect_equal(both$path[[figure]], (each[[1]][[figure]] + each[[2]][[figure]]) / 2)
  }
  expect_equal(both$path$training, each[[1]]$training)
  loo <- fit("loo")
  expect_equal(loo$path, fit(1:24)$path)
  machine <- oracle_machine(pb, oracle_gaussian(0.3), c(2, 9, 4, 20, 11), 3)
  figures <- oracle_machine_errors(machine, 6, make_folds(24, "loo"))
  expect_equal(loo$path$criterion, unname(figures["value", ]), tolerance = 1e-9)
  expect_equal(loo$path$se, unname(figures["se", ]), tolerance = 1e-8)
})

test_that("without folds the size is the largest, and nothing is said to be held out", {
  set.seed(955)
  for (task in c("two", "three")) {
    pb <- random_problem(24, 3, task)
    fit <- function(...) {
      fs_lssvm(pb, kernel = kernel_gaussian(0.3), gamma = 3, prototypes = 1:5, ...)
    }
    none <- fit(folds = NULL)
    expect_identical(none$size, 6L)
    nothing <- rep(NA_real_, 7)
    expect_identical(none$path$criterion, nothing)
    expect_identical(none$path$se, nothing)
    expect_identical(none$path$error, if (task == "three") nothing)
    expect_equal(none$path$training, fit(folds = 4, change = 0)$path$training)
    expect_true(all(is.na(none$held_out)))
    expect_identical(dim(none$held_out), dim(pb$rows$y))
    expect_null(none$folds)
    expect_null(none$tuning)
    expect_identical(fit(folds = NULL, k = 3)$size, 3L)
    expect_identical(fit(folds = NULL, k = 3)$coefficients, none$coefficients[1:4])
  }
})

test_that("the order of the rows does not matter", {
  set.seed(956)
  pb <- random_problem(22, 3, "three", weights = TRUE, covariates = TRUE)
  ids <- rep_len(1:5, 22)
  order <- sample(22)
  rows <- c(3, 14, 8, 1, 20)
  fit <- machine_fit(pb, kernel = kernel_gaussian(0.4), gamma = 2, prototypes = rows, folds = ids)
  again <- machine_fit(pb[order, ], kernel = kernel_gaussian(0.4), gamma = 2,
                       prototypes = match(rows, order), folds = ids[order])
  expect_equal(again$path[c("criterion", "se", "error", "training")],
               fit$path[c("criterion", "se", "error", "training")], tolerance = 1e-9)
  expect_identical(order[again$basis$rows], fit$basis$rows)
  expect_equal(again$held_out, fit$held_out[order, ], tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(again$fitted, fit$fitted[order, ], tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("it stops where the error has stayed level", {
  set.seed(957)
  stopped <- 0
  for (intercept in c("candidate", "forced", "none")) {
    pb <- random_problem(40, 3, "binary", intercept = intercept != "none")
    fit <- function(...) {
      fs_lssvm(pb, kernel = kernel_gaussian(0.5), gamma = 20, prototypes = 1:25, size_rule = 0,
               folds = rep(1:4, 10), intercept = intercept, ...)
    }
    whole <- fit(change = 0)
    expect_identical(fit(change = 1e-300)$path, whole$path)
    errors <- whole$path$criterion[-1]
    for (window in c(1, 4, 9)) for (change in c(1e-3, 0.02, 0.2)) {
      end <- oracle_level(errors, window, change)
      stopped <- stopped + (end < max(whole$path$size))
      one <- fit(window = window, change = change)
      expect_identical(max(one$path$size), as.integer(end))
      expect_identical(one$path, whole$path[seq_len(end + 1), ])
      at_end <- end == max(whole$path$size)
      expect_identical(one$status, if (at_end) "complete" else "early_stop")
      expect_identical(one$coefficients, whole$coefficients[seq_len(end + 1)])
      expect_equal(one$size, which.min(one$path$criterion) - 1)
    }
  }
  expect_gt(stopped, 8)
  expect_identical(nrow(fit(window = 30, change = 1e6)$path), nrow(whole$path))
})

test_that("partitions stop one by one, and are averaged as far as all of them went", {
  set.seed(974)
  pb <- random_problem(40, 3, "binary")
  fit <- function(folds) {
    fs_lssvm(pb, kernel = kernel_gaussian(0.5), gamma = 20, prototypes = 1:25, folds = folds,
             window = 3, change = 0.02, size_rule = 0)
  }
  folds <- replicate(6, sample(rep(1:4, 10)), simplify = FALSE)
  ends <- vapply(folds, function(ids) nrow(fit(ids)$path), 0L)
  for (pair in list(order(ends)[c(1, 6)], order(ends)[c(6, 1)])) {
    expect_false(ends[pair[1]] == ends[pair[2]])
    one <- fit(folds[pair])
    # the models are those of the first
    expect_identical(nrow(one$path), ends[pair[1]])
    expect_identical(which(!is.na(one$path$criterion)), seq_len(min(ends[pair])))
    expect_identical(which(!is.na(one$path$error)), seq_len(min(ends[pair])))
    expect_equal(one$size, which.min(one$path$criterion) - 1)
    expect_false(anyNA(one$held_out))
  }
})

test_that("covariates that come first are no sizes to stop at", {
  set.seed(958)
  x <- matrix(rnorm(80), 40)
  z <- matrix(rnorm(160), 40)
  fit <- function(...) {
    fs_lssvm(x, x[, 1] * x[, 2], adjust = z, kernel = kernel_gaussian(0.5), gamma = 1,
             prototypes = 1:9, folds = rep(1:4, 10), intercept = "forced", ...)
  }
  whole <- fit(change = 0)$path
  for (window in c(1, 2, 3, 6)) {
    expect_identical(fit(window = window, change = 1e6)$path, whole[seq_len(window + 2), ])
    end <- oracle_level(whole$criterion[-1], window, 0.1)
    expect_identical(fit(window = window, change = 0.1)$path, whole[seq_len(end + 1), ])
  }
})

test_that("neither the units nor the place of a covariate matter", {
  set.seed(21)
  x <- matrix(rnorm(80), 40)
  age <- rnorm(40)
  y <- x[, 1]^2 + age + rnorm(40) / 4
  fitted_with <- function(age) {
    machine_fit(x, y, kernel = kernel_gaussian(sigma2 = 2), gamma = 5, adjust = age,
                folds = rep(1:4, 10), prototypes = 1:12, intercept = "forced")
  }
  fit <- fitted_with(age)
  for (other in list(age * 1e-6, age * 1e6, age + 1e6)) {
    same <- fitted_with(other)
    expect_identical(same$path$name, fit$path$name)
    expect_equal(same$path$criterion, fit$path$criterion, tolerance = 1e-8)
    expect_equal(fitted(same), fitted(fit), tolerance = 1e-8)
  }
  expect_equal(coef(fitted_with(age * 1e-6))[["adjust"]] * 1e-6, coef(fit)[["adjust"]],
               tolerance = 1e-8)
})

test_that("the size is the smallest within so many standard deviations of the best", {
  set.seed(959)
  sizes <- integer()
  for (repetition in 1:6) {
    pb <- random_problem(40, 3, sample(c("binary", "one"), 1))
    folds <- make_folds(pb, 5, repeats = 1 + repetition %% 2)
    rows <- sample(40, 12)
    for (rule in c(0, 0.1, 1, 1000)) {
      fit <- machine_fit(pb, kernel = kernel_gaussian(0.5), gamma = 20, prototypes = rows,
                         folds = folds, size_rule = rule)
      error <- fit$path$criterion
      best <- which.min(error)
      # equal folds: the standard deviation of their means
      sd <- mean(apply(folds$ids, 2, function(ids) {
        out <- oracle_machine_out(oracle_machine(pb, oracle_gaussian(0.5), rows, 20), 13, ids)
        stats::sd(tapply((pb$rows$y - out[[best]])^2, ids, mean))
      }))
      within <- which(error <= error[best] + rule * sd)
      expect_identical(fit$size, min(within) - 1L)
      sizes <- c(sizes, fit$size)
    }
  }
  expect_gt(length(unique(sizes)), 5)
})

test_that("k bounds the size, and the default is all components up to 500", {
  set.seed(960)
  x <- matrix(rnorm(60), 30)
  y <- sin(x[, 1])
  fit <- function(...) {
    machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = 1:9, folds = 5, ...)
  }
  whole <- fit()
  expect_identical(max(whole$path$size), 10L)
  expect_identical(max(fit(intercept = "forced")$path$size), 9L)
  set.seed(1)
  few <- fit(k = 4)
  set.seed(1)
  expect_identical(few$path, fit()$path[1:5, ])
  expect_identical(largest_size(NULL, 501L, 500L, "components"), 500L)
})

# Refit -------------------------------------------------------------------------------------------

test_that("a refit is least squares on the stacked rows", {
  set.seed(961)
  cases <- random_machines(10)
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- machine_problem(case)
    rows <- sample(26, 7)
    kernel <- machine_kernel(case$kernel)
    fit <- function(...) {
      machine_fit(pb, kernel = kernel$mine, gamma = case$gamma, prototypes = rows,
                  folds = rep_len(1:5, 26), score = case$score,
                  intercept = case$intercept, ...)
    }
    plain <- fit()
    again <- fit(refit = TRUE)
    machine <- oracle_machine(pb, kernel$exact, rows, case$gamma)
    w <- term_values(again, again$size, rows)
    terms <- which(rowSums(abs(w)) > 0)
    if (!length(terms)) next
    root <- chol(machine$penalty[terms, terms, drop = FALSE] + diag(0, length(terms)))
    stacked <- qr(rbind(sqrt(pb$rows$weight) * machine$terms[, terms, drop = FALSE], root), tol = 0)
    exact <- qr.coef(stacked, rbind(sqrt(pb$rows$weight) * unname(pb$rows$y),
                                    matrix(0, length(terms), ncol(pb$rows$y))))
    expect_lt(relative_error(w[terms, ], exact), 1e-9)
    expect_lt(relative_error(w, term_values(plain, plain$size, rows)), 1e-7)
    expect_identical(again$path, plain$path)
    expect_identical(again$held_out, plain$held_out)
    expect_identical(again$coefficients[-(plain$size + 1)], plain$coefficients[-(plain$size + 1)])
    expect_equal(unname(again$fitted), unname(machine$terms %*% w), tolerance = 1e-9)
  }
})

test_that("a refit of a model without prototypes, and of one without terms", {
  set.seed(963)
  x <- matrix(rnorm(60), 30)
  z <- rnorm(30)
  fit <- function(y, refit, ...) {
    machine_fit(x, y, kernel = kernel_gaussian(5), gamma = 1e4, prototypes = 1:8, refit = refit,
                folds = rep(1:5, 6), ...)
  }
  y <- 2 + z + rnorm(30) / 9
  covariates <- fit(y, TRUE, intercept = "forced", adjust = z, size_rule = 10)
  expect_identical(covariates$size, 0L)
  expect_equal(unname(covariates$coefficients[[1]]$covariates[, 1]), unname(coef(lm(y ~ z))),
               tolerance = 1e-8)
  plain <- fit(y, FALSE, intercept = "forced", adjust = z, size_rule = 10)
  expect_equal(covariates$fitted, plain$fitted)
  noise <- fit(rep(c(-1, 1), 15), TRUE, size_rule = 10)
  expect_identical(noise$size, 0L)
  expect_identical(unname(noise$fitted), matrix(0, 30))
})

test_that("a refit keeps digits that the system has lost", {
  set.seed(962)
  x <- matrix(runif(120), 60)
  y <- sin(6 * x[, 1]) + x[, 2]
  pb <- as_problem(x, y)
  fit <- function(...) {
    machine_fit(pb, kernel = kernel_gaussian(0.5), gamma = 1e9, prototypes = 1:20, k = 20,
                folds = NULL, intercept = "forced", ...)
  }
  # the objective is smallest at the solution
  machine <- oracle_machine(pb, oracle_gaussian(0.5), 1:20, 1e9)
  objective <- function(fit) {
    w <- term_values(fit, fit$size, 1:20)
    sum((y - machine$terms %*% w)^2) + sum(w * (machine$penalty %*% w))
  }
  expect_lte(objective(fit(refit = TRUE)), objective(fit()) * (1 + 1e-12))
  expect_lt(abs(objective(fit()) / objective(fit(refit = TRUE)) - 1), 0.1)
})

# Prototypes --------------------------------------------------------------------------------------

test_that("prototypes in any form", {
  set.seed(963)
  x <- matrix(rnorm(80), 40, dimnames = list(paste0("s", 1:40), c("a", "b")))
  y <- sin(x[, 1]) + x[, 2]
  fit <- function(prototypes, ...) {
    machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = prototypes,
                folds = rep(1:5, 8), ...)
  }
  rows <- c(7, 31, 2, 19)
  given <- fit(rows)
  expect_identical(given$basis$available, 4L)
  expect_setequal(given$basis$rows, rows)
  expect_identical(given$basis$points, x[given$basis$rows, ])
  names <- paste0("s", given$basis$rows)[given$path$prototype[-1]]
  expect_identical(given$path$name[-1], ifelse(is.na(names), "(Intercept)", names))
  expect_identical(fit(paste0("s", rows))$path, given$path)
  logical <- fit(seq_len(40) %in% rows)
  expect_equal(logical$path, given$path, tolerance = 1e-10)
  points <- fit(x[rows, ])
  expect_null(points$basis$rows)
  expect_equal(points$path[-4], given$path[-4], tolerance = 1e-10)
  expect_identical(points$path$name, given$path$name)
  expect_equal(fit(as.data.frame(x[rows, ]))$path[-4], points$path[-4])
  expect_equal(points$fitted, given$fitted, tolerance = 1e-10)
  unnamed <- fit(unname(x[rows, ]))
  expect_setequal(unnamed$path$name[-1], c("(Intercept)", paste0("point", 1:4)))
  elsewhere <- x[rows, ] + 0.1
  away <- fit(elsewhere)
  machine <- oracle_machine(as_problem(x, y), oracle_gaussian(0.5), elsewhere, 3)
  expect_equal(away$path$criterion, unname(oracle_machine_errors(machine, 5, away$folds)[1, ]),
               tolerance = 1e-9)
  all <- fit(NULL)
  expect_identical(all$basis$available, 40L)
  expect_equal(all$path, fit(1:40)$path)
  # shares and numbers
  for (select in c("k_center", "random", "renyi")) {
    set.seed(5)
    share <- fit(0.2, select = select)
    set.seed(5)
    number <- fit(8, select = select)
    expect_identical(share$path, number$path)
    expect_identical(number$basis$available, 8L)
    set.seed(5)
    chosen <- select_basis(as_problem(x, y), 8, select, kernel = kernel_gaussian(0.5))
    expect_setequal(number$basis$rows, chosen)
  }
  set.seed(5)
  for (select in c("kmeans", "cluster_mean")) {
    set.seed(5)
    centres <- fit(6, select = select)
    expect_null(centres$basis$rows)
    expect_identical(dim(centres$basis$points), c(6L, 2L))
    set.seed(5)
    points <- select_basis(as_problem(x, y), 6, select)
    expect_equal(fit(points)$path, centres$path)
    # of five different rows no more than five clusters
    expect_identical(machine_fit(x[rep(1:5, 8), ], y, kernel = kernel_gaussian(0.5), gamma = 3,
                                 prototypes = 0.5, select = select)$basis$available, 5L)
  }
  expect_identical(fit(0.001)$basis$available, 1L)
  expect_identical(fit(0.999)$basis$available, 40L)
  expect_identical(fit(0.26)$basis$available, 10L)
  set.seed(5)
  default <- fs_lssvm(x, y, kernel = kernel_gaussian(0.5), gamma = 3, folds = 5)
  expect_identical(default$basis$available, 12L)
})

test_that("k-center measures distances of the columns, or those of a kernel matrix", {
  set.seed(977)
  x <- matrix(rnorm(120), 60)
  y <- sin(x[, 1])
  chosen <- function(x, kernel) {
    set.seed(5)
    sort(machine_fit(x, y, kernel = kernel, gamma = 1e3, prototypes = 8, folds = rep(1:5, 12),
                     standardize = FALSE)$basis$rows)
  }
  centres <- function(...) {
    set.seed(5)
    sort(select_basis(..., method = "k_center"))
  }
  # a kernel so narrow that all rows are as far apart
  expect_identical(chosen(x, kernel_gaussian(1e4)), centres(x, 8))
  K <- kernel_polynomial(3)$values(x, x)
  expect_identical(chosen(K, "precomputed"), centres(K, 8, kernel = "precomputed"))
  expect_false(identical(centres(K, 8, kernel = "precomputed"), centres(K, 8)))
})

test_that("a single row or point is one, not a number of rows", {
  set.seed(964)
  x <- matrix(rnorm(30))
  y <- sin(x)
  fit <- function(prototypes) {
    machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = prototypes,
                folds = rep(1:5, 6), standardize = FALSE)
  }
  point <- fit(matrix(0.4))
  expect_identical(point$basis$available, 1L)
  expect_equal(point$basis$points, matrix(0.4), ignore_attr = TRUE)
  expect_identical(fit(data.frame(V1 = 3))$basis$available, 1L)
  named <- x
  rownames(named) <- paste0("s", 1:30)
  one <- machine_fit(named, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = "s7",
                     folds = rep(1:5, 6), standardize = FALSE)
  expect_identical(one$basis$rows, 7L)
})

test_that("prototypes that are equal count once", {
  set.seed(965)
  x <- matrix(rnorm(60), 30)
  x[11, ] <- x[4, ]
  x[25, ] <- x[4, ]
  x[8, ] <- x[2, ]
  y <- rnorm(30)
  fit <- function(prototypes, ...) {
    machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = prototypes,
                folds = rep(1:5, 6), ...)
  }
  twins <- fit(c(2, 4, 8, 11, 25, 30))
  expect_identical(twins$basis$available, 3L)
  expect_setequal(twins$basis$rows, c(2, 4, 30))
  expect_identical(twins$path, fit(c(2, 4, 30))$path)
  expect_equal(fit(x[c(2, 4, 8, 11, 25, 30), ])$path[-4], twins$path[-4], tolerance = 1e-10)
  expect_identical(fit(NULL)$basis$available, 27L)
  for (solver in c("full", "nystrom")) {
    expect_equal(fit(c(2, 4, 8, 11, 25, 30), solver = solver)$fitted,
                 fit(c(2, 4, 30), solver = solver)$fitted)
  }
  # of a kernel matrix the rows are not known, but what the others explain is not taken
  K <- kernel_gaussian(0.5)$values(x, x)
  again <- machine_fit(K, y, kernel = "precomputed", gamma = 3, prototypes = c(2, 4, 8, 11, 25, 30),
                       folds = rep(1:5, 6), standardize = FALSE)
  plain <- fit(c(2, 4, 30), standardize = FALSE)
  expect_identical(again$basis$available, 6L)
  expect_equal(again$path, plain$path, tolerance = 1e-9)
  expect_identical(again$basis$rows, plain$basis$rows)
})

# Kernels, forms, threads -------------------------------------------------------------------------

test_that("kernels of all kinds", {
  set.seed(966)
  pb <- random_problem(26, 3, "two", weights = TRUE, standardize = FALSE)
  x <- pb$x
  rows <- c(3, 9, 14, 22, 6)
  fit <- function(x, kernel) {
    machine_fit(x, pb$rows$y, weights = pb$rows$weight, kernel = kernel, gamma = 2,
                prototypes = rows,
                folds = rep_len(1:4, 26), standardize = FALSE, standardize_response = FALSE)
  }
  for (name in c("gaussian", "polynomial", "linear")) {
    kernel <- machine_kernel(name)
    one <- fit(x, kernel$mine)
    machine <- oracle_machine(pb, kernel$exact, rows, 2)
    figures <- oracle_machine_errors(machine, 6, one$folds)
    sizes <- seq_len(nrow(one$path))
    # the linear kernel has no more prototypes than columns
    expect_identical(max(one$path$prototypes), if (name == "linear") 3L else 5L)
    expect_equal(one$path$criterion, unname(figures["value", sizes]), tolerance = 1e-7)
    K <- kernel$mine$values(x, x)
    expect_equal(fit(K, "precomputed")$path, one$path, tolerance = 1e-8)
    expect_equal(fit(K, "precomputed")$fitted, one$fitted, tolerance = 1e-8)
    values <- function(x, z) kernel$mine$values(x, z)
    expect_equal(fit(x, values)$path, one$path, tolerance = 1e-8)
  }
})

test_that("a formula, a frame, a sparse matrix and a problem are the same data", {
  set.seed(967)
  x <- matrix(rnorm(90), 30)
  x[abs(x) < 0.6] <- 0
  colnames(x) <- c("a", "b", "c")
  d <- data.frame(x, age = rnorm(30), y = cut(rank(x[, 1] * x[, 2] + rnorm(30)), c(0, 9, 21, 30),
                                              c("low", "mid", "high")))
  w <- runif(30, 0.5, 2)
  fit <- function(...) {
    machine_fit(..., weights = w, kernel = kernel_gaussian(0.4), gamma = 2, prototypes = 1:6,
                folds = rep(1:5, 6))
  }
  one <- fit(x, d$y, adjust = d["age"])
  same <- list(
    fit(y ~ a + b + c, data = d, adjust = ~ age), fit(d[1:3], d$y, adjust = d["age"]),
    fit(methods::as(x, "CsparseMatrix"), d$y, adjust = d["age"]),
    machine_fit(as_problem(x, d$y, adjust = d["age"], weights = w), kernel = kernel_gaussian(0.4),
                gamma = 2, prototypes = 1:6, folds = rep(1:5, 6))
  )
  for (other in same) {
    expect_equal(other$path, one$path, tolerance = 1e-9)
    expect_equal(other$fitted, one$fitted, tolerance = 1e-9, ignore_attr = TRUE)
    expect_equal(other$held_out, one$held_out, tolerance = 1e-9, ignore_attr = TRUE)
    expect_equal(other$coefficients, one$coefficients, tolerance = 1e-8, ignore_attr = TRUE)
  }
})

test_that("standardised columns are the default", {
  set.seed(968)
  x <- matrix(rnorm(60), 30) %*% diag(c(100, 0.01))
  y <- sin(x[, 1] / 100) + x[, 2] * 100
  fit <- function(x, ...) {
    machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = 1:8,
                folds = rep(1:5, 6), ...)
  }
  own <- oracle_standardised(x, rep(1, 30))
  expect_equal(fit(x)$path, fit(own, standardize = FALSE)$path, tolerance = 1e-9)
  expect_false(isTRUE(all.equal(fit(x)$path, fit(x, standardize = FALSE)$path)))
})

test_that("threads change nothing", {
  set.seed(969)
  # more terms than a block of 64, more rows than a chunk of 2048
  for (m in c(300, 2500)) {
    x <- matrix(rnorm(2 * m), m)
    y <- factor(x[, 1] * x[, 2] + rnorm(m) / 3 > 0)
    fit <- function(threads, intercept = "candidate") {
      made <- machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = 1:90, k = 12,
                          folds = rep_len(1:7, m), intercept = intercept, threads = threads)
      made$call <- made$control$threads <- NULL
      made
    }
    for (intercept in c("candidate", "forced")) {
      expect_identical(fit(2, intercept), fit(1, intercept))
    }
  }
  machine <- oracle_machine(as_problem(x, y), oracle_gaussian(0.5), 1:90, 3)
  exact <- oracle_machine_path(machine, 12)
  expect_lt(relative_error(term_values(fit(2), 12, 1:90), exact$w[[13]]), 1e-6)
})

test_that("a weight is so many equal rows", {
  set.seed(970)
  x <- matrix(rnorm(50), 25)
  y <- factor(x[, 1] + rnorm(25) > 0)
  w <- rep(c(1, 3, 2, 1, 1), 5)
  rows <- c(2, 9, 17, 20)
  folds <- rep(1:5, each = 5)
  fit <- machine_fit(x, y, weights = w, kernel = kernel_gaussian(0.5), gamma = 2,
                     prototypes = rows, folds = folds)
  copies <- rep(1:25, w)
  again <- machine_fit(x[copies, ], y[copies], kernel = kernel_gaussian(0.5), gamma = 2,
                       prototypes = match(rows, copies), folds = folds[copies])
  figures <- c("prototypes", "criterion", "se", "error", "training")
  expect_equal(again$path[figures], fit$path[figures], tolerance = 1e-9)
})

test_that("classes are named by their levels and scored one by one", {
  set.seed(971)
  pb <- random_problem(30, 3, "three")
  fit <- machine_fit(pb, kernel = kernel_gaussian(0.5), gamma = 5, prototypes = 1:10, folds = 5)
  expect_identical(colnames(fit$fitted), c("a", "b", "c"))
  expect_identical(colnames(fit$coefficients[[5]]$covariates), c("a", "b", "c"))
  expect_identical(dim(fit$coefficients[[5]]$beta)[2], 3L)
  expect_true(all(fit$path$error >= 0 & fit$path$error <= 1))
})

# Candidates and random numbers -------------------------------------------------------------------

test_that("candidates are the same in all folds, and each step takes the best of them", {
  set.seed(972)
  cases <- random_machines(6)
  cases$candidates <- c(1, 3, 5)
  for (row in seq_len(nrow(cases))) {
    case <- as.list(cases[row, ])
    pb <- machine_problem(case)
    rows <- sample(26, 9)
    kernel <- machine_kernel(case$kernel)
    terms <- 9L + ncol(pb$z)
    forced <- ncol(pb$z) - (case$intercept == "candidate")
    steps <- 9L + ncol(pb$z)
    fit <- function(candidates) {
      set.seed(row)
      machine_fit(pb, kernel = kernel$mine, gamma = case$gamma, prototypes = rows,
                  folds = rep_len(1:4, 26), score = case$score, candidates = candidates,
                  intercept = case$intercept)
    }
    chosen <- fit(case$candidates)
    set.seed(row)
    lists <- drawn_lists(terms, case$candidates, steps) + 1L
    machine <- oracle_machine(pb, kernel$exact, rows, case$gamma)
    expect_machine(chosen, pb, machine, rows, case, lists = lists, drawn = case$candidates)
    expect_identical(fit(case$candidates)$path, chosen$path)
    expect_identical(fit(terms)$path, fit(NULL)$path)
    expect_identical(fit(59)$coefficients, fit(NULL)$coefficients)
  }
})

test_that("where nothing is drawn the random numbers stay as they are", {
  small <- small_machine()
  set.seed(973)
  before <- .Random.seed
  small_fit()
  small_fit(solver = "full")
  small_fit(refit = TRUE)
  expect_identical(.Random.seed, before)
})

# The rest ----------------------------------------------------------------------------------------

test_that("the fit holds no x but its prototypes", {
  fit <- small_fit(k = 4)
  expect_null(fit$problem$x)
  expect_identical(dim(fit$basis$points), c(3L, 2L))
  expect_identical(fit$basis$rows, c(3L, 18L, 5L))
  expect_identical(names(fit$control),
                   c("select", "solver", "k", "intercept", "score", "candidates", "size_rule",
                     "window", "change", "refit", "threads"))
  expect_identical(fit$control$k, 4L)
  expect_identical(fit$status, "complete")
})

test_that("what is not given is tuned, on the folds and prototypes of the fit", {
  set.seed(975)
  x <- matrix(rnorm(80), 40)
  y <- factor(x[, 1]^2 + x[, 2]^2 + rnorm(40) / 4 > 1.5)
  fit <- fs_lssvm(x, y, prototypes = 12, folds = 4)
  expect_s3_class(fit$tuning, "lssvm_tuning")
  expect_identical(fit$gamma, fit$tuning$gamma)
  expect_identical(fit$kernel$parameters$gamma, 1 / fit$tuning$sigma2)
  expect_identical(fit$folds, fit$tuning$folds)
  expect_equal(min(fit$path$criterion), fit$tuning$value, tolerance = 1e-9)
  expect_identical(nrow(fit$tuning$table), 50L)
  expect_identical(fit$basis$available, 12L)
  expect_lt(min(fit$path$error), 0.3)
  # one of them alone
  width <- fs_lssvm(x, y, prototypes = 12, folds = 4, gamma = 7)
  expect_identical(width$gamma, 7)
  expect_identical(unique(width$tuning$table$gamma), 7)
  expect_equal(min(width$path$criterion), width$tuning$value, tolerance = 1e-9)
  gamma <- fs_lssvm(x, y, prototypes = 12, folds = 4, kernel = kernel_gaussian(sigma2 = 3))
  expect_identical(gamma$kernel, kernel_gaussian(sigma2 = 3))
  expect_equal(min(gamma$path$criterion), gamma$tuning$value, tolerance = 1e-9)
  # tuning holds rows out even where the fit does not
  none <- fs_lssvm(x, y, prototypes = 12, folds = NULL, gamma = 7)
  expect_null(none$folds)
  expect_s3_class(none$tuning$folds, "sparsels_folds")
  expect_identical(none$size, 13L)
  expect_null(fs_lssvm(x, y, prototypes = 12, gamma = 7, kernel = kernel_gaussian(1))$tuning)
})

test_that("Ctrl-C keeps the sizes that are done", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(976)
  m <- 700
  x <- matrix(rnorm(3 * m), m)
  y <- factor(x[, 1] * x[, 2] + rnorm(m) / 3 > 0)
  long <- function(k) {
    machine_fit(x, y, kernel = kernel_gaussian(0.5), gamma = 3, prototypes = 1:m,
                folds = rep_len(1:10, m), k = k)
  }
  expect_warning(fit <- interrupted_at(2, long(500)),
                 "interrupted: the fit holds the .* sizes? done so far",
                 class = "sparsels_interrupted")
  expect_identical(fit$status, "interrupted")
  done <- nrow(fit$path) - 1L
  expect_gte(done, 2)
  expect_lt(done, 500)
  whole <- long(done)
  # how many columns are made at once depends on k, and rounding on that
  expect_equal(fit$path, whole$path, tolerance = 1e-12)
  expect_equal(fit$coefficients, whole$coefficients, tolerance = 1e-12)
  expect_equal(fit$held_out, whole$held_out, tolerance = 1e-12)
})
