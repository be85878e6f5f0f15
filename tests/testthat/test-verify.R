# verify() finds that the figures of fits are those of retraining, and finds figures that were
# changed. What it retrains with is compared with nothing here but the fits: it shares no numerics
# with them.

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

searches_of_columns <- list(
  greedy_rls = greedy_rls, wrapper_rls = wrapper_rls, lowrank_lssvm = lowrank_lssvm,
  random_selection = random_selection, sequential_replacement = sequential_replacement,
  forward_regression = forward_regression, omp = omp, foba = foba, rfe = rfe,
  best_subset = best_subset, poss = poss, scdp = scdp
)

test_that("all claims of fits of columns hold", {
  set.seed(1)
  data <- made_data()
  zero <- replace(data$w, c(3, 7), 0)
  sparse <- methods::as(replace(data$x, abs(data$x) < 0.5, 0), "CsparseMatrix")
  for (method in searches_of_columns) {
    fit <- suppressWarnings(method(data$x, data$y, k = 2, weights = data$w, adjust = data$age))
    expect_verified(verify_all(fit, data$x, data$y, weights = data$w))
    fit <- suppressWarnings(method(data$x, data$three, k = 2, weights = zero, size = "cv",
                                   size_folds = 3))
    expect_verified(verify_all(fit, data$x, data$three))
    fit <- suppressWarnings(method(sparse, data$two, k = 2, intercept = FALSE,
                                   standardize = FALSE))
    expect_verified(verify_all(fit, sparse, data$two))
  }
})

test_that("all claims hold for every criterion, search and scheme of folds", {
  set.seed(2)
  data <- made_data()
  whole <- round(4 * data$x)
  storage.mode(whole) <- "integer"
  fits <- list(
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
  )
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
  found <- vapply(fits, function(fit) !verify_all(fit, ...)$ok, NA)
  expect_identical(setdiff(names(fits)[!found], but), character())
  expect_gt(sum(found), 4)
}

figures <- c("path", "coefficients", "held_out", "fitted", "lambda", "lambda_table", "estimate",
             "estimate_error", "fitted_sizes", "alternatives", "proof", "archive")

test_that("a figure that was changed by a millionth is found in any field", {
  set.seed(3)
  data <- made_data()
  refitted <- greedy_rls(data$x, data$three, k = 2, keep = 2, size_folds = 3, adjust = data$age)
  expect_all_found(nudged_fits(refitted, figures), data$x, data$three)
  plain <- greedy_rls(data$x, data$two, k = 3, size = "criterion", refit = FALSE, folds = 4)
  expect_all_found(nudged_fits(plain, figures), data$x, data$two)
  proven <- best_subset(data$x, data$y, k = 2)
  expect_all_found(nudged_fits(proven, figures), data$x, data$y, but = "proof$nodes")
  archived <- poss(data$x, data$y, k = 2, restarts = 2)
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
  fit <- greedy_rls(data$x, data$y, k = 2, lambda = 1, size_folds = 3)
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
})

test_that("a verification says what was checked, and what failed", {
  set.seed(8)
  data <- made_data()
  fit <- greedy_rls(data$x, data$y, k = 2, lambda = 1, size = "criterion")
  hidden <- function(lines) gsub("[0-9.]+e-[0-9]+", "<tiny>", gsub(" +$", "", lines))
  expect_snapshot(print(verify(fit, data$x, data$y, claims = 15)), transform = hidden)
  fit$path$criterion[2] <- 0.5
  expect_snapshot(print(verify_all(fit, data$x, data$y)), transform = hidden)
  drawn <- random_selection(data$x, data$y, k = 2, size_folds = 3, size = "cv")
  expect_match(verify(drawn, data$x, data$y)$unchecked, "draws at random")
})
