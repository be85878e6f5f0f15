# No safe test throws out a column that a solution has: on random problems with all that can go
# wrong in them, against solutions whose duality gap is computed again in plain R from the columns.

# A problem solved for some lambdas, the largest first, to a gap of 1e-12 without a screen; NULL
# when the covariates alone separate its classes, or no column is of use.
solved_problem <- function(loss, alpha = 1, ...) {
  pb <- random_l1(loss, m = sample(10:60, 1), n = sample(10:80, 1), ...)
  control <- l1_control(pb, loss, "none", tolerance = 1e-12, alpha = alpha)
  control$null <- null_solution(pb, control)$null
  if (control$null < 1e-6 * sum(pb$rows$weight)) return(NULL)
  control$lambda_max <- largest_lambda(pb, control)
  if (control$lambda_max == 0) return(NULL)
  control$lambda <- control$lambda_max * sort(c(10^runif(3, -2, 0), runif(1, 0.5, 1)), TRUE)
  at <- list(pb = pb, loss = loss, control = control)
  at$solutions <- solve_path(pb, control)
  at$beta <- vapply(at$solutions, function(one) {
    replace(numeric(ncol(pb)), one$features, one$beta)
  }, numeric(ncol(pb)))
  at$duals <- Map(recompute, list(at), control$lambda, at$solutions)
  at
}

# The relative gap of a solution and the products of all columns with its dual point. That of hinge
# is the solver's own; it must balance and keep within its bounds. A ridge adds a row to a column,
# with its root, and to the dual point minus its root times the coefficient.
recompute <- function(at, lambda, solution) {
  ridge <- (1 - at$control$alpha) * lambda
  lambda <- at$control$alpha * lambda
  hinge <- at$loss == "hinge"
  point <- model_point(at$pb, at$loss, solution$features, solution$beta, if (hinge) solution$u)
  r <- if (hinge) solution$r else point$r
  products <- column_products(at$pb, r)
  beta <- replace(numeric(ncol(at$pb)), solution$features, solution$beta)
  largest <- max(abs(products - ridge * beta))
  squares <- ridge * sum(beta^2)
  s <- dual_multiple(at$pb, at$loss, r, largest, lambda, squares)
  dual <- dual_objective(at$pb, at$loss, s * r) - s^2 / 2 * squares
  off <- 0
  if (hinge) {
    share <- dual_share(at$pb, r)
    off <- max(0, -share, share - 1, abs(crossprod(covariate_basis(at$pb), r)))
  }
  list(gap = (point$loss + lambda * point$l1 + squares / 2 - dual) / at$control$null,
       products = abs(products), off = off)
}

# How much worse than the solution without a screen that with one is, at any lambda; and its gap.
screened_path <- function(at, screen) {
  control <- replace(at$control, "screen", screen)
  found <- solve_path(at$pb, control, bound = chord_bound(at$pb, control))
  value <- function(solutions) vapply(solutions, `[[`, 0, "objective")
  worse <- max(abs(value(found) - value(at$solutions))) / at$control$null
  row <- sample(4, 1)
  gap <- recompute(at, control$lambda[row], found[[row]])$gap
  kept <- vapply(found, function(one) one$kept - length(one$features), 0L)
  c(worse = worse, gap = gap, fewer_than_used = max(0, -kept))
}

# A fit to be screened with, of other lambdas; sometimes of models that are no solutions, as if the
# solver had hardly begun: the lambda they are said to solve for then tells nothing.
known_fit <- function(at) {
  lambda <- at$control$lambda_max * 10^runif(3, -1.5, 0.02)
  fit <- l1_path(at$pb, loss = at$loss, alpha = at$control$alpha, lambda = lambda)
  if (runif(1) < 0.5) return(fit)
  far <- runif(1)^2 * 1.3
  fit$solutions <- lapply(fit$solutions, function(one) {
    replace(one, "beta", list(one$beta * far * runif(length(one$beta), 0.8, 1.2)))
  })
  fit
}

# What a mask has against the solutions: columns thrown out that one of them has, at its own lambda
# and at those that rho speaks of, and the largest amount by which a bound is below the product of
# its column with the optimal dual point.
masked <- function(at, rule, fit, row) {
  lambda <- at$control$lambda
  mask <- safe_screen(at$pb, loss = at$loss, alpha = at$control$alpha, lambda = lambda[row],
                      rule = rule, fit = fit)
  spoken <- outer(unname(mask$rho) * mask$lambda_max, lambda, `<`)
  if (rule == "gap" && !is.null(fit)) {
    spoken <- spoken & !mask$keep & rep(lambda <= lambda[row], each = ncol(at$pb))
  }
  list(
    keep = mask$keep,
    wrong = c(lost = sum(!mask$keep & at$beta[, row] != 0), rho = sum(spoken & at$beta != 0),
              short = max(at$duals[[row]]$products - mask$bounds) / mask$lambda_max)
  )
}

# Runs N problems; a data frame with a row for each of the checks that failed, and how many columns
# each rule threw out.
try_problems <- function(loss, N, rules, alpha = function(case) 1) {
  failed <- NULL
  count <- list(problems = 0, columns = 0, zero = 0, safe1 = 0, safe2 = 0, gap = 0)
  note <- function(case, what, value, most) {
    bad <- !(value <= most)
    if (any(bad)) {
      failed <<- rbind(failed, data.frame(case, what = paste(what, names(value)[bad]),
                                          value = value[bad]))
    }
  }
  for (case in seq_len(N)) {
    set.seed(case)
    at <- solved_problem(loss, alpha(case))
    if (is.null(at)) next
    note(case, "solution", vapply(at$duals, `[[`, c(gap = 0), "gap"), 2e-12)
    note(case, "dual point", vapply(at$duals, `[[`, c(off = 0), "off"), 1e-10)
    for (screen in c("lazy", "safe1", "safe2", "gap")) {
      note(case, screen, screened_path(at, screen), c(4e-12, 2e-12, 0))
    }
    fit <- known_fit(at)
    row <- sample(4, 1)
    keep <- list()
    for (rule in rules(case)) {
      found <- masked(at, rule, if (rule == "safe2" || rule == "gap" && case %% 10 > 0) fit, row)
      note(case, rule, found$wrong, c(0, 0, 1e-9))
      keep[[rule]] <- found$keep
      count[[rule]] <- count[[rule]] + sum(!found$keep)
    }
    if (all(c("safe2", "gap") %in% names(keep)) && case %% 10 > 0) {
      note(case, "gap", c(`keeps what safe2 does not` = sum(keep$gap & !keep$safe2)), 0)
    }
    count$problems <- count$problems + 1
    count$columns <- count$columns + ncol(at$pb)
    count$zero <- count$zero + sum(at$beta[, row] == 0)
  }
  list(failed = failed, count = count)
}

# Over N problems nothing failed, every rule threw out something, and "gap" no less than "safe2".
expect_safe <- function(loss, all, rules, ...) {
  N <- max(problems_to_try(all))
  tried <- try_problems(loss, N, rules, ...)
  expect_null(tried$failed)
  count <- tried$count
  expect_gte(count$problems, 0.98 * N)
  expect_gt(count$zero, 0.6 * count$columns)
  for (rule in c("safe1", "safe2", "gap")) expect_gt(count[[rule]], 0.03 * count$columns)
}

test_that("squares: no column of a solution is thrown out", {
  expect_safe("squared", 100, function(case) c(if (case %% 3 == 0) "safe1", "safe2", "gap"))
})

test_that("logistic: no column of a solution is thrown out", {
  expect_safe("logistic", 100, function(case) c(if (case %% 2) "safe1" else "safe2", "gap"))
})

test_that("hinge: no column of a solution is thrown out", {
  expect_safe("hinge", 100, function(case) c(if (case %% 3 == 0) "safe1", "safe2", "gap"))
})

test_that("elastic nets: no column of a solution is thrown out", {
  alpha <- function(case) c(0.95, 0.5, 0.1)[case %% 3 + 1]
  expect_safe("squared", 75, function(case) c(if (case %% 2) "safe1", "safe2", "gap"), alpha)
  expect_safe("logistic", 60, function(case) c(if (case %% 2) "safe1" else "safe2", "gap"), alpha)
})

test_that("elastic nets are those of slow programs", {
  for (loss in c("squared", "logistic")) {
    for (case in problems_to_try(8, 4)) {
      set.seed(3100 + case)
      alpha <- c(0.9, 0.5, 0.2, 0.02)[case %% 4 + 1]
      at <- solved_problem(loss, alpha)
      if (is.null(at)) next
      for (row in c(1, 4)) {
        best <- oracle_optimum(at$pb, loss, at$control$lambda[row], alpha)
        expect_lt(abs(at$solutions[[row]]$objective - best$objective) / at$control$null, 1e-9)
        expect_lt(max(abs(at$beta[, row] - best$beta)), 1e-4 * max(1, abs(best$beta)))
      }
    }
  }
})

test_that("the solutions are those of slow programs", {
  for (loss in losses) {
    if (loss == "hinge") skip_if_not_installed("Rglpk")
    for (case in problems_to_try(12, 6)) {
      set.seed(3000 + case)
      at <- solved_problem(loss)
      if (is.null(at)) next
      for (row in c(1, 4)) {
        best <- oracle_optimum(at$pb, loss, at$control$lambda[row])
        expect_lt(abs(at$solutions[[row]]$objective - best$objective) / at$control$null, 1e-9)
      }
    }
  }
})

# the share of columns thrown out
thrown_out <- function(pb, loss, lambda, ...) {
  mean(!safe_screen(pb, loss = loss, lambda = lambda, ...)$keep[pb$columns$usable])
}

test_that("above lambda_max every column goes, and there is no solution with one", {
  set.seed(41)
  for (loss in losses) {
    for (kind in c("plain", "scales", "sparse", "nasty", "shifted")) {
      pb <- random_l1(loss, m = 30L, n = 25L, kind = kind, minority = 0.2, adjust = FALSE)
      largest <- lambda_max(pb, loss = loss)
      above <- largest * c(1.5, 1 + 1e-8)
      fit <- l1_path(pb, loss = loss, lambda = above)
      expect_identical(fit$path$size, c(0L, 0L))
      for (lambda in above) {
        for (rule in c("safe1", "gap")) {
          expect_identical(thrown_out(pb, loss, lambda, rule = rule), 1)
        }
        expect_identical(thrown_out(pb, loss, lambda, rule = "safe2", fit = fit), 1)
      }
    }
  }
})

# Few of one class within a cloud of the other: the model that calls all the other is the best.
test_that("no column may be of use to the hinge loss at any lambda", {
  set.seed(45)
  x <- matrix(rnorm(60 * 2), 60)
  inside <- rank(rowSums(x^2)) <= 5
  pb <- as_problem(x, factor(inside))
  expect_identical(lambda_max(pb, loss = "hinge"), 0)
  for (screen in screens) {
    fit <- l1_path(pb, loss = "hinge", lambda = c(1, 0.01), screen = screen)
    expect_identical(fit$path$size, c(0L, 0L))
  }
  for (rule in c("safe1", "gap")) {
    mask <- safe_screen(pb, loss = "hinge", lambda = 0.01, rule = rule)
    expect_false(any(mask$keep))
    expect_identical(unname(mask$rho), c(0, 0))
  }
  expect_identical(l1_path(pb, loss = "hinge")$path$size, 0L)
  expect_error(l1_size(pb, loss = "hinge", size = 1), "no column improves",
               class = "sparsels_error_input")
})

# A hair below lambda_max a column has a tiny coefficient; its bound is lambda_max or a hair more.
test_that("just below lambda_max the column that enters is kept", {
  set.seed(42)
  for (loss in losses) {
    for (kind in c("plain", "scales", "sparse", "nasty", "shifted")) {
      pb <- random_l1(loss, m = 30L, n = 25L, kind = kind, minority = 0.2, adjust = FALSE)
      largest <- lambda_max(pb, loss = loss)
      known <- l1_path(pb, loss = loss, lambda = largest * c(1.1, 1, 0.9))
      for (below in c(1e-5, 1e-9)) {
        lambda <- largest * (1 - below)
        control <- l1_control(pb, loss, "none", tolerance = 1e-14)
        entered <- solve_path(pb, control, lambda)[[1]]$features
        for (rule in c("safe1", "safe2", "gap")) {
          keep <- safe_screen(pb, loss = loss, lambda = lambda, rule = rule,
                              fit = if (rule != "safe1") known)$keep
          expect_true(all(keep[entered]))
        }
      }
    }
  }
})

# Orthogonal columns of whole numbers: lambda is exactly as large as products and bounds, and of
# equal columns either may be in a solution.
test_that("ties are not decided by rounding", {
  x <- cbind(c(1, 1, -1, -1), c(1, -1, 1, -1), c(1, -1, -1, 1))
  x <- cbind(x, x[, 1], -x[, 2])
  y <- c(8, 2, 2, -4)
  pb <- as_problem(x, y, standardize = FALSE)
  expect_identical(lambda_max(pb), 12)
  for (lambda in c(12, 8, 4, 1)) {
    products <- abs(drop(crossprod(x, y - mean(y))))
    for (screen in screens) {
      fit <- l1_path(pb, lambda = lambda, screen = screen, tolerance = 1e-12)
      beta <- replace(numeric(5), fit$solutions[[1]]$features, fit$solutions[[1]]$beta)
      best <- sign(drop(crossprod(x[, 1:3], y))) * pmax(products[1:3] - lambda, 0) / 4
      expect_equal(c(beta[1] + beta[4], beta[2] - beta[5], beta[3]), best)
    }
    for (rule in c("safe1", "gap")) {
      keep <- safe_screen(pb, lambda = lambda, rule = rule)$keep
      expect_true(all(keep[products >= lambda]))
    }
  }
})

test_that("the screens of a path throw out columns, and safe ones never too many", {
  set.seed(43)
  x <- matrix(rnorm(40 * 300), 40)
  score <- x[, 1] - x[, 2] + rnorm(40)
  for (loss in losses) {
    y <- if (loss == "squared") score else factor(score > 0)
    largest <- lambda_max(x, y, loss = loss)
    lambda <- largest * seq(0.95, 0.6, -0.05)
    kept <- vapply(c("none", "safe1", "safe2", "gap"), function(screen) {
      l1_path(x, y, loss = loss, screen = screen, lambda = lambda)$path$columns_kept
    }, numeric(8))
    expect_true(all(kept[, "none"] == 300))
    expect_lt(kept[1, "safe1"], 250)
    expect_true(all(kept[, "safe2"] <= kept[, "safe1"]))
    expect_lt(mean(kept[, "gap"]), mean(kept[, "safe1"]))
  }
})
