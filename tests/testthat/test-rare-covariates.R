# Covariates that some training rows do not determine, such as a site of few rows.

# 40 rows of four sites, of which the last has `rare` rows
example_sites <- function(rare) {
  set.seed(1)
  x <- matrix(rnorm(40 * 6), 40)
  site <- factor(rep(letters[1:4], c(15, 14, 11 - rare, rare)))
  list(x = x, y = x[, 1] + (site == "d") + rnorm(40) / 3, adjust = data.frame(site))
}

sites_problem <- function(d, ...) as_problem(d$x, d$y, adjust = d$adjust, ...)

quietly <- function(expr) suppressWarnings(suppressMessages(expr))

test_that("every number agrees with training again, where folds lose a covariate", {
  alone <- sites_problem(example_sites(1))
  several <- sites_problem(example_sites(4))
  folds <- replace(rep_len(1:5, 40), 37:40, 2)
  methods <- list(
    function(p, folds) greedy_rls(p, k = 3, folds = folds),
    function(p, folds) greedy_rls(p, k = 3, folds = folds, size = "criterion"),
    function(p, folds) greedy_rls(p, k = 3, folds = folds, search = "floating", size = "criterion"),
    function(p, folds) greedy_rls(p, k = 3, lambda = 1, folds = folds, size = "criterion"),
    function(p, folds) l1_path(p, folds = folds, nlambda = 5),
    function(p, folds) rls(p, folds = folds, lambda = c(0.1, 10)),
    function(p, folds) kernel_rls(p, kernel = kernel_gaussian(0.3), lambda = 1, folds = folds),
    function(p, folds) {
      kernel_rls(p, kernel = kernel_gaussian(0.3), lambda = 1, folds = folds, basis = 8)
    }
  )
  cases <- list(list(alone, "loo"), list(several, folds), list(several, "loo"))
  for (i in seq_along(methods)) {
    # two of the three by turns
    for (case in cases[-(i %% 3 + 1)]) {
      fit <- quietly(methods[[i]](case[[1L]], case[[2L]]))
      expect_false(anyNA(fit$path$criterion), label = paste("method", i))
      claims <- verify(fit, case[[1L]], claims = Inf)$claims
      expect_true(all(claims$ok), label = paste("method", i))
    }
  }
  for (method in list(best_subset, sequential_replacement, poss, rfe, omp, foba)) {
    fit <- quietly(method(alone, k = 2))
    expect_true(all(verify(fit, alone, claims = Inf)$claims$ok))
    expect_identical(which(is.na(fit$held_out)), 40L)
  }
  for (method in list(wrapper_rls, lowrank_lssvm)) {
    fit <- quietly(method(alone, k = 2, lambda = 1))
    expect_identical(which(is.na(fit$held_out)), 40L)
  }
})

test_that("naive and fast searches agree where folds lose a covariate", {
  d <- example_sites(1)
  p <- sites_problem(d)
  fast <- quietly(greedy_rls(p, k = 2, lambda = 1, size = "criterion", refit = FALSE))
  slow <- quietly(wrapper_rls(p, k = 2, lambda = 1))
  expect_equal(slow$path$criterion, fast$path$criterion)
})

test_that("a row whose covariate no other row determines has no part in the search", {
  d <- example_sites(1)
  p <- sites_problem(d, standardize = FALSE)
  fit <- quietly(rls(p, lambda = 1))
  without <- rls(d$x[-40, ], d$y[-40], adjust = p$z[-40, 2:3], standardize = FALSE, lambda = 1)
  expect_equal(40 * fit$path$criterion, 39 * without$path$criterion)
})

test_that("a model of other rows predicts without the covariate", {
  d <- example_sites(4)
  p <- sites_problem(d)
  folds <- replace(rep_len(1:4, 40), 37:40, 3)
  said <- capture_messages(cv <- cross_validate(p, method = rls, lambda = 2, outer = folds,
                                                baselines = NULL))
  expect_match(said, "'sited' follows from the others in the training rows of 1 of 4 parts")
  expect_length(said, 1L)
  z <- p$z[, c("siteb", "sitec")]
  rows <- which(folds == 3)
  other <- rls(d$x[-rows, ], d$y[-rows], adjust = z[-rows, ], lambda = 2)
  expect_equal(cv$held_out[rows, 1L], unname(predict(other, d$x[rows, ], adjust = z[rows, ])))
  train <- quietly(p[-rows, ])
  expect_identical(colnames(train$z), c("(Intercept)", "siteb", "sitec"))
  expect_message(of_part <- rls(train, lambda = 2), "'sited' follows from the others in these rows")
  # a few rows as new data keep their covariates
  fit <- quietly(rls(p, lambda = 2))
  expect_equal(predict(fit, p[39:40, ]), predict(fit, p)[39:40])
  new <- predict(of_part, d$x[rows, ], adjust = d$adjust[rows, , drop = FALSE])
  expect_equal(unname(new), cv$held_out[rows, 1L])
})

test_that("questions about a method go on, and say in one message what is left out", {
  d <- example_sites(2)
  p <- sites_problem(d)
  ask <- list(
    function() stability_selection(p, greedy_rls, q = 2, pairs = 4),
    function() added_value(p, method = rls, folds = make_folds(40, 4), permutations = 0),
    function() learning_curve(p, rls, sizes = c(12, 20, 28), repeats = 3),
    function() compare_methods(p, methods = list(rls, greedy_rls), splits = 3)
  )
  for (question in ask) {
    set.seed(1)
    said <- capture_messages(suppressWarnings(question()))
    expect_lte(length(said), 1L)
    if (length(said)) expect_match(said, "left out there")
  }
})

test_that("columns without penalty are left out as covariates are", {
  d <- example_sites(1)
  x <- cbind(z = as.double(d$adjust$site == "d"), d$x)
  colnames(x)[-1] <- paste0("g", 1:6)
  p <- as_problem(x, d$y, penalty = c(z = 0))
  said <- capture_messages(fit <- greedy_rls(p, k = 2))
  expect_match(said, "'z' follows from the others")
  expect_true(all(verify(fit, p, claims = Inf)$claims$ok))
  expect_length(predict(fit, x[1:3, ]), 3L)
})

test_that("covariates that depend on each other in all rows stay an error", {
  d <- example_sites(1)
  d$adjust$again <- d$adjust$site
  expect_error(sites_problem(d), "are not linearly independent", class = "sparsels_error_input")
})

test_that("a row whose covariate is lost without it has no held-out prediction", {
  d <- example_sites(1)
  several <- example_sites(3)
  y <- factor(ifelse(several$y > median(several$y), "u", "v"))
  methods <- list(
    function(p, folds) greedy_rls(p, k = 3, folds = folds, size = "criterion"),
    function(p, folds) rls(p, folds = folds),
    function(p, folds) kernel_rls(p, kernel = kernel_gaussian(0.3), lambda = 1, folds = folds)
  )
  for (method in methods) {
    fit <- quietly(method(sites_problem(d), "loo"))
    expect_identical(which(is.na(fit$held_out)), 40L)
    expect_identical(which(is.na(residuals(fit, "held_out"))), 40L)
    expect_output(print(fit))
    fit <- quietly(method(as_problem(several$x, y, adjust = several$adjust),
                          replace(rep_len(1:5, 40), 38:40, 2)))
    expect_identical(which(is.na(fit$held_out)), 38:40)
    expect_false(anyNA(predict(fit, several$x, adjust = several$adjust, type = "prob")))
  }
})

test_that("a column that is constant without a fold is not chosen there, and warns of nothing", {
  set.seed(2)
  rare <- replace(numeric(40), 3:5, 1)
  x <- cbind(matrix(rnorm(160), 40), rare = rare, lone = replace(numeric(40), 7, 1))
  colnames(x)[1:4] <- paste0("g", 1:4)
  y <- x[, 1] + 3 * rare + rnorm(40) / 3
  folds <- rep(1:8, each = 5)
  fits <- list(
    function(...) greedy_rls(x, y, k = 3, size_folds = folds, folds = folds, ...),
    function(...) greedy_rls(x, y, folds = folds, search = "backward", size = "criterion", ...),
    function(...) greedy_rls(x, y, k = 3, folds = folds, search = "floating", size = "criterion"),
    function(...) l1_path(x, y, folds = folds, nlambda = 9), function(...) rls(x, y, folds = folds)
  )
  for (fit in fits) {
    expect_silent(fit <- fit())
    expect_false(anyNA(fit$path$criterion))
    expect_true(all(verify(fit, x, y, claims = Inf)$claims$ok))
  }
  for (method in list(forward_regression, omp, foba, rfe, best_subset, poss)) {
    expect_silent(fit <- method(x, y, k = 3, size_folds = folds))
    expect_false(anyNA(fit$held_out))
  }
  expect_false("rare" %in% selected(greedy_rls(x[-(1:5), ], y[-(1:5)], k = 3, size = 3)))
})

test_that("holdout() and cv_error() leave out a lost covariate, also in blocks of rows", {
  p <- sites_problem(example_sites(1))
  fit <- quietly(rls(p, lambda = c(0.1, 10)))
  expect_message(error <- cv_error(fit), "'sited' follows from the others without 1 of 40 folds")
  expect_equal(error$criterion, fit$path$criterion)
  expect_message(held <- holdout(fit, 39:40), "without these rows and is left out there")
  expect_identical(is.na(held[, 1L, 1L]), c(FALSE, TRUE))
  expect_output(print(held), "mean squared error of these rows")
  blocks <- with_binding("most_term_values", 10, quietly(rls(p, lambda = c(0.1, 10))))
  expect_equal(quietly(cv_error(blocks))$criterion, fit$path$criterion)
  expect_equal(unclass(quietly(holdout(blocks, 39:40)))[, 1L, ], held[, 1L, ])
  expect_identical(which(is.na(blocks$held_out)), 40L)
  expect_error(fs_lssvm(p, kernel = kernel_gaussian(0.1), gamma = 1, folds = "loo", prototypes = 5),
               "without fold 40 .*: merge rare levels, or give `folds` that divide their rows")
})

test_that("covariates lost with some rows are found where nearly all directions have length 1", {
  set.seed(1)
  f <- factor(sample(400, 2000, TRUE))
  lone <- names(which.min(table(f)))
  basis <- qr.Q(qr(stats::model.matrix(~f)))
  rows <- union(which(f == lone), 1:200)
  lost <- sparsels:::lost_directions(basis, rows)
  expect_identical(dim(lost), c(ncol(basis), sum(!levels(f)[table(f) > 0] %in% f[-rows])))
  expect_lt(max(abs(basis[-rows, ] %*% lost)), 1e-12)
  expect_equal(crossprod(lost), diag(ncol(lost)))
})

test_that("a level that only rows of weight 0 have is left out, as where they are left out", {
  set.seed(2)
  x <- matrix(rnorm(150), 30, dimnames = list(NULL, letters[1:5]))
  y <- x[, 1] + rnorm(30)
  site <- factor(c("r", rep(c("p", "q"), length.out = 29)))
  w <- rep(0:1, c(1, 29))
  at <- 2:30
  folds <- rep(1:5, 6)
  for (method in list(greedy_rls, l1_path)) {
    expect_message(fit <- method(x, y, adjust = site, weights = w, folds = folds),
                   "covariate 'adjustr' follows", class = "sparsels_message_covariates")
    part <- method(x[at, ], y[at], adjust = droplevels(site[at]), folds = folds[at])
    expect_equal(coef(fit), coef(part))
    expect_equal(fit$held_out[at, ], part$held_out[, 1])
    # the level is predicted as the first one
    new <- function(level) predict(fit, x[1:2, ], adjust = factor(rep(level, 2), levels(site)))
    expect_identical(new("r"), new("p"))
    expect_identical(verify(fit, x)$status, "complete")
  }
  # rows that na.omit() leaves out of an x in place have weight 0
  gaps <- replace(y, 1, NA)
  by <- function(x) {
    suppressMessages(rfe(x, gaps, adjust = site, na.action = na.omit, size = "criterion"))
  }
  expect_identical(selected(by(float_matrix(x))), selected(by(x)))
  expect_error(as_problem(x, y, adjust = cbind(site == "p", site == "p"), weights = w),
               "are not linearly independent: 'adjust2' follows", class = "sparsels_error_input")
})

test_that("a part without some covariates keeps the decomposition of the others", {
  set.seed(4)
  site <- factor(rep_len(1:12, 40))
  p <- as_problem(matrix(rnorm(80), 40), rnorm(40), adjust = data.frame(age = rnorm(40), site))
  rows <- which(!site %in% levels(site)[c(3, 12)])
  calls <- new.env()
  calls$n <- 0L
  trace("qr", tracer = bquote(assign("n", .(calls)$n + 1L, .(calls))), print = FALSE,
        where = asNamespace("sparsels"))
  part <- quietly(p[rows, ])
  untrace("qr", where = asNamespace("sparsels"))
  expect_identical(calls$n, 1L)
  expect_identical(sort(setdiff(colnames(p$z), colnames(part$z))), c("site12", "site3"))
  parts <- part$compiled$covariates
  expect_equal(parts, sparsels:::covariate_parts(part))
  expect_equal(parts$basis %*% parts$factor, unname(part$z), ignore_attr = TRUE)
})

test_that("the covariates lost with folds have the names that a decomposition without each has", {
  set.seed(5)
  d <- data.frame(age = rnorm(60, 50), site = factor(sample(20, 60, TRUE)),
                  batch = factor(sample(5, 60, TRUE)))
  p <- as_problem(matrix(rnorm(120), 60), rnorm(60), adjust = d)
  for (folds in list(as.list(1:60), split(1:60, rep(1:6, 10)))) {
    lost <- unique(unlist(lapply(folds, function(rows) {
      parts <- qr(p$z[-rows, ], tol = 1e-10)
      colnames(p$z)[parts$pivot[-seq_len(parts$rank)]]
    })))
    said <- tryCatch(sparsels:::say_lost_sets(p, folds), message = identity)
    expect_setequal(said$covariates, lost)
  }
  # sets of two partitions share directions
  twice <- c(folds, lapply(folds, rev))
  basis <- sparsels:::covariate_basis(p)
  held <- sparsels:::held_basis(basis, folds)
  expect_equal(sparsels:::held_basis(basis, twice), held)
  expect_lt(sum(svd(held)$d > 0.5), ncol(basis))
})
