# Paths of an l1 penalty against other programs, against each other, and against their definition.

quick <- function(..., tolerance = 1e-8) l1_path(..., tolerance = tolerance, progress = FALSE)

# data for each loss with a few true columns, of unequal scale
some_data <- function(loss, m = 60, n = 25, sparse = FALSE, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  if (sparse) x[abs(x) < 0.8] <- 0
  x <- x * rep(exp(rnorm(n) / 2), each = m)
  score <- drop(scale(x[, 1:4]) %*% c(1, -1, 0.7, 0.5)) + rnorm(m)
  y <- if (loss == "squared") score else factor(score > 0.3, labels = c("no", "yes"))
  if (sparse) x <- methods::as(x, "CsparseMatrix")
  list(x = x, y = y, w = runif(m, 0.3, 3), age = rnorm(m))
}

# on the user's scale, a column for each lambda: the covariates and all columns of x
all_coefficients <- function(fit) {
  vapply(fit$solutions, function(one) {
    model <- solution_model(fit$problem, one)
    beta <- replace(numeric(length(fit$problem$columns$name)), model$features, model$beta)
    c(model$covariates, beta)
  }, numeric(ncol(fit$problem$z) + length(fit$problem$columns$name)))
}

expect_near <- function(value, expected, tolerance) {
  expect_lt(relative_error(unname(value), unname(expected)), tolerance)
}

# Other programs -----------------------------------------------------------------------------------

# glmnet's lambda is ours over the sum of the weights, a penalty factor of 0 makes a covariate, and
# the factors are scaled to a mean of 1. It takes the columns on the scale that they are to have.
glmnet_coefficients <- function(fit, d, w, adjust, intercept) {
  n <- ncol(d$x)
  x <- cbind(if (adjust) d$age, d$x %*% Matrix::Diagonal(x = 1 / fit$problem$columns$scale))
  theirs <- glmnet::glmnet(
    if (inherits(d$x, "CsparseMatrix")) methods::as(x, "CsparseMatrix") else as.matrix(x), d$y,
    if (fit$loss == "squared") "gaussian" else "binomial", weights = w,
    lambda = fit$path$lambda / sum(w) * n / ncol(x), standardize = FALSE, intercept = intercept,
    thresh = 1e-16, maxit = 1e7, penalty.factor = rep(0:1, c(adjust, n))
  )
  scale <- c(rep(1, adjust), fit$problem$columns$scale)
  rbind(if (intercept) theirs$a0, as.matrix(theirs$beta) / scale)
}

test_that("solutions are glmnet's", {
  skip_if_not_installed("glmnet")
  set.seed(1)
  cases <- random_cover(
    16, loss = c("squared", "logistic"), weights = c(FALSE, TRUE), adjust = c(FALSE, TRUE),
    standardize = c(FALSE, TRUE), intercept = c(TRUE, FALSE), sparse = c(FALSE, TRUE)
  )
  for (row in seq_len(nrow(cases))) {
    case <- cases[row, ]
    d <- some_data(case$loss, sparse = case$sparse, seed = row)
    w <- if (case$weights) d$w else rep(1, 60)
    fit <- quick(d$x, d$y, loss = case$loss, weights = w, standardize = case$standardize,
                 intercept = case$intercept, adjust = if (case$adjust) cbind(age = d$age),
                 nlambda = 8, lambda_min_ratio = 0.02, tolerance = 1e-13)
    theirs <- glmnet_coefficients(fit, d, w, case$adjust, case$intercept)
    expect_near(all_coefficients(fit), theirs, 1e-6)
  }
})

test_that("glmnet standardises alike", {
  skip_if_not_installed("glmnet")
  for (loss in c("squared", "logistic")) {
    d <- some_data(loss)
    fit <- quick(d$x, d$y, loss = loss, weights = d$w, nlambda = 8, tolerance = 1e-13,
                 lambda_min_ratio = 0.02)
    theirs <- glmnet::glmnet(d$x, d$y, if (loss == "squared") "gaussian" else "binomial",
                             weights = d$w, lambda = fit$path$lambda / sum(d$w), thresh = 1e-16,
                             maxit = 1e7)
    expect_near(all_coefficients(fit), rbind(theirs$a0, as.matrix(theirs$beta)), 1e-6)
  }
})

test_that("hinge objectives are those of the linear programme", {
  skip_if_not_installed("Rglpk")
  for (case in problems_to_try(24, 12)) {
    set.seed(case)
    pb <- random_l1("hinge", minority = c(0.5, 0.3)[case %% 2 + 1])
    largest <- tryCatch(lambda_max(pb, loss = "hinge"), sparsels_error_input = function(e) 0)
    if (largest == 0) next
    lambda <- largest * c(0.7, 0.2, 0.03)
    fit <- quick(pb, loss = "hinge", lambda = lambda, tolerance = 1e-12)
    expect_near(fit$path$objective, vapply(lambda, function(one) {
      oracle_optimum(pb, "hinge", one)$objective
    }, 0), 1e-9)
    # exact: a column pays below it, none above it
    best <- vapply(largest * c(1 - 1e-4, 1 + 1e-9), function(one) {
      oracle_optimum(pb, "hinge", one)$objective
    }, 0)
    expect_lt(best[1], fit$null_objective * (1 - 1e-8))
    expect_gt(best[2], fit$null_objective * (1 - 1e-12))
  }
})

test_that("solutions are those of slow programs, with all that a problem can have", {
  for (case in problems_to_try(30, 16)) {
    loss <- c("squared", "logistic")[case %% 2 + 1]
    set.seed(100 + case)
    pb <- random_l1(loss, minority = c(0.5, 0.2)[case %% 2 + 1])
    fit <- quick(pb, loss = loss, nlambda = 5, lambda_min_ratio = 0.03, tolerance = 1e-12)
    expect_near(fit$path$objective, vapply(fit$path$lambda, function(one) {
      oracle_optimum(pb, loss, one)$objective
    }, 0), 1e-10)
  }
})

# Optimality ---------------------------------------------------------------------------------------

test_that("every solution fulfils the optimality conditions", {
  for (loss in c("squared", "logistic")) {
    for (sparse in c(FALSE, TRUE)) {
      d <- some_data(loss, sparse = sparse, seed = 3)
      fit <- quick(d$x, d$y, loss = loss, weights = d$w, adjust = cbind(age = d$age), nlambda = 10,
                   tolerance = 1e-13)
      pb <- as_problem(d$x, d$y, weights = d$w, adjust = cbind(age = d$age))
      X <- oracle_l1(pb)$X
      z <- cbind(1, d$age)
      coefficients <- all_coefficients(fit)
      y <- pb$rows$y[, 1]
      expect_gt(nrow(fit$path), 7)
      for (row in seq_len(nrow(fit$path))) {
        lambda <- fit$path$lambda[row]
        f <- drop(cbind(z, as.matrix(d$x)) %*% coefficients[, row])
        pull <- d$w * (if (loss == "squared") y - f else y * plogis(-y * f))
        expect_lt(max(abs(crossprod(z, pull))), 1e-6 * fit$lambda_max)
        products <- drop(crossprod(X, pull))
        expect_lt(max(abs(products)), lambda * (1 + 1e-6))
        at <- fit$solutions[[row]]
        expect_equal(products[at$features], lambda * sign(at$beta), tolerance = 1e-5)
        loss_at <- sum(d$w * (if (loss == "squared") (y - f)^2 / 2 else log1p(exp(-y * f))))
        expect_equal(fit$path$objective[row], loss_at + lambda * sum(abs(at$beta)))
        expect_equal(fit$path$dev_ratio[row], 1 - loss_at / fit$null_objective)
      }
    }
  }
})

# One answer ---------------------------------------------------------------------------------------

test_that("all screens give the same solutions", {
  for (loss in losses) {
    d <- some_data(loss, n = 90)
    lambda <- lambda_max(d$x, d$y, loss = loss) * c(1.1, 1, 0.8, 0.5, 0.3, 0.1, 0.03)
    reference <- quick(d$x, d$y, loss = loss, lambda = lambda, screen = "none", tolerance = 1e-13)
    for (screen in c("auto", screens)) {
      fit <- quick(d$x, d$y, loss = loss, lambda = lambda, screen = screen, tolerance = 1e-13)
      expect_near(fit$path$objective, reference$path$objective, 1e-12)
      # of the hinge loss at lambda_max there are several
      same <- if (loss == "hinge") -2 else TRUE
      expect_near(all_coefficients(fit)[, same], all_coefficients(reference)[, same], 1e-6)
    }
    expect_identical(quick(d$x, d$y, loss = loss, lambda = lambda)$path,
                     quick(d$x, d$y, loss = loss, lambda = lambda, screen = "lazy")$path)
  }
})

test_that("threads do not matter to the last bit", {
  for (loss in losses) {
    for (screen in screens) {
      # by turns, so that every loss and every screen has both
      d <- some_data(loss, n = 90, sparse = (match(loss, losses) + match(screen, screens)) %% 2 > 0)
      fits <- lapply(1:2, function(threads) {
        fit <- quick(d$x, d$y, loss = loss, nlambda = 5, screen = screen, threads = threads)
        fit[c("path", "solutions", "coefficients")]
      })
      expect_identical(fits[[1]], fits[[2]])
    }
  }
})

test_that("sparse is dense, a frame is a matrix, a formula says the same", {
  for (loss in losses) {
    d <- some_data(loss, sparse = TRUE)
    dense <- as.matrix(d$x)
    frame <- data.frame(dense, y = d$y)
    same <- function(...) quick(..., loss = loss, nlambda = 8, tolerance = 1e-13)
    reference <- all_coefficients(same(dense, d$y))
    for (fit in list(same(d$x, d$y), same(frame[-26], d$y), same(y ~ ., data = frame),
                     same(as_problem(dense, d$y)))) {
      expect_near(all_coefficients(fit), reference, 1e-9)
    }
  }
})

test_that("the order of rows and columns does not matter", {
  for (loss in losses) {
    d <- some_data(loss)
    rows <- sample(60)
    columns <- sample(25)
    fit <- quick(d$x, d$y, loss = loss, weights = d$w, nlambda = 8, tolerance = 1e-13)
    other <- quick(d$x[rows, columns], d$y[rows], loss = loss, weights = d$w[rows],
                   lambda = fit$path$lambda, tolerance = 1e-13)
    expect_near(other$path$objective, fit$path$objective, 1e-10)
    expect_near(all_coefficients(other)[-1, ], all_coefficients(fit)[-1, ][columns, ], 1e-6)
  }
})

test_that("weights are copies of rows", {
  for (loss in losses) {
    d <- some_data(loss)
    times <- rep(1:3, 20)
    copied <- rep(1:60, times)
    fit <- quick(d$x, d$y, loss = loss, weights = times, nlambda = 8, tolerance = 1e-13)
    other <- quick(d$x[copied, ], d$y[copied], loss = loss, lambda = fit$path$lambda,
                   tolerance = 1e-13)
    expect_near(other$path$objective, fit$path$objective, 1e-10)
    expect_near(other$lambda_max, fit$lambda_max, 1e-9)
  }
})

# The grid -----------------------------------------------------------------------------------------

test_that("penalties are used once each, from the largest down", {
  for (loss in losses) {
    d <- some_data(loss)
    largest <- lambda_max(d$x, d$y, loss = loss)
    fit <- quick(d$x, d$y, loss = loss, lambda = largest * c(0.1, 0.7, 0.1, 3, 0.7))
    expect_identical(fit$path$lambda, largest * c(3, 0.7, 0.1))
    expect_identical(fit$lambda_max, largest)
    # above the largest the model has no columns, and that is no error
    expect_identical(fit$path$size[1], 0L)
    expect_equal(fit$path$objective[1], fit$null_objective)
    expect_identical(fit$path$action, c("start", "found", "found"))
    one <- quick(d$x, d$y, loss = loss, lambda = largest * 0.1, tolerance = 1e-13)
    expect_near(one$path$objective, fit$path$objective[3], 1e-7)
    zero <- quick(d$x, d$y, loss = loss, lambda = 1e6 * largest)
    expect_identical(zero$size, 0L)
    expect_identical(selected(zero), character())
  }
})

test_that("the grid is even on the log scale, from the largest lambda", {
  for (loss in losses) {
    d <- some_data(loss)
    fit <- quick(d$x, d$y, loss = loss, nlambda = 7, lambda_min_ratio = 0.2)
    expect_equal(fit$path$lambda, fit$lambda_max * 0.2^((0:6) / 6), tolerance = 1e-8)
    expect_identical(fit$path$size[1], 0L)
    expect_gt(fit$path$size[2], 0)
    only <- quick(d$x, d$y, loss = loss, nlambda = 1)
    expect_equal(only$path$lambda, fit$lambda_max, tolerance = 1e-8)
    expect_identical(only$size, 0L)
    wide <- quick(d$x[1:20, ], d$y[1:20], loss = loss, nlambda = 2)
    expect_equal(min(wide$path$lambda) / wide$lambda_max, 0.01, tolerance = 1e-8)
  }
  d <- some_data("squared")
  expect_equal(min(quick(d$x, d$y, nlambda = 3)$path$lambda), 1e-4 * lambda_max(d$x, d$y))
})

test_that("a path ends where it has no more to say, unless lambda is given", {
  for (loss in losses) {
    for (case in c("explained", "unchanged")) {
      set.seed(8)
      x <- matrix(rnorm(60 * 40), 60, 40)[, if (case == "explained") 1:40 else 1:2]
      score <- drop(x[, 1:2] %*% c(2, -1)) + (case == "unchanged") * rnorm(60)
      y <- if (loss == "squared") score else factor(score > 0)
      fit <- quick(x, y, loss = loss, nlambda = 60, lambda_min_ratio = 1e-6)
      lambda <- fit$lambda_max * (1 + 1e-9 * (loss == "hinge")) * 1e-6^((0:59) / 59)
      whole <- quick(x, y, loss = loss, lambda = lambda)
      expect_equal(whole$path$lambda, lambda)
      explained <- whole$path$dev_ratio
      # that of the last lambda at least one and a half times as large, 0 before it
      before <- vapply(lambda, function(l) max(0, explained[lambda >= 1.5 * l]), 0)
      fallen <- lambda <= max(lambda) / 1.5
      over <- explained > 0.999 | fallen & explained - before < 5e-5 * explained
      expect_identical(nrow(fit$path), which(over)[1L])
      expect_equal(fit$path$objective, whole$path$objective[seq_len(nrow(fit$path))])
      expect_identical(fit$status, "complete")
    }
  }
})

test_that("a finer grid ends at about the same lambda", {
  set.seed(9)
  x <- matrix(rnorm(200 * 20), 200)
  y <- x[, 1] - x[, 2] + rnorm(200)
  last <- vapply(c(30, 100, 1000), function(n) min(quick(x, y, nlambda = n)$path$lambda), 0)
  expect_lt(max(last) / min(last), 1.8)
})

test_that("lambda_max is exact", {
  for (loss in losses) {
    for (seed in 1:5) {
      d <- some_data(loss, sparse = seed %% 2 > 0, seed = seed)
      given <- list(d$x, d$y, loss = loss, weights = d$w, adjust = cbind(age = d$age))
      largest <- do.call(lambda_max, given)
      fit <- do.call(quick, c(given, list(lambda = largest * c(1 + 1e-7, 1 - 1e-7),
                                          tolerance = 1e-15, screen = "none"))) |>
        suppressWarnings()
      expect_identical(fit$path$size[1], 0L)
      expect_gt(fit$path$size[2], 0L)
    }
  }
})

# Large models -------------------------------------------------------------------------------------

test_that("large sparse models reach the tolerance", {
  set.seed(4)
  x <- Matrix::rsparsematrix(400, 600, 0.05)
  y <- as.vector(x %*% rnorm(600)) + rnorm(400)
  for (screen in c("lazy", "gap")) {
    fit <- quick(x, y, nlambda = 12, lambda_min_ratio = 1e-4, tolerance = 1e-10, screen = screen)
    # more than are kept in a factor, and than there was room for at first
    expect_gt(max(fit$path$size), 300)
    expect_lte(max(fit$path$gap), 1e-10 * fit$null_objective)
    pb <- as_problem(x, y)
    for (row in nrow(fit$path) - c(3, 1, 0)) {
      at <- fit$solutions[[row]]
      expect_lte(duality_gap(pb, "squared", fit$path$lambda[row], at$features, at$beta)$relative,
                 1.01e-10)
    }
  }
})

test_that("dense models outgrow their room", {
  set.seed(5)
  x <- matrix(rnorm(700 * 320), 700)
  for (loss in c("squared", "logistic")) {
    y <- if (loss == "squared") rnorm(700) else factor(rnorm(700) > 0)
    fit <- quick(x, y, loss = loss, nlambda = 8, lambda_min_ratio = 0.01)
    expect_gt(max(fit$path$size), 256)
    pb <- as_problem(x, y)
    last <- nrow(fit$path)
    at <- fit$solutions[[last]]
    expect_lte(duality_gap(pb, loss, fit$path$lambda[last], at$features, at$beta)$relative, 1.01e-8)
  }
})

# Held out -----------------------------------------------------------------------------------------

# Scores of held-out rows from l1_path() on the others, with the columns on the scale of all rows.
slow_scores <- function(d, loss, ids, lambda) {
  scale <- as_problem(d$x, d$y)$columns$scale
  x <- sweep(d$x, 2, scale, "/")
  scores <- matrix(0, nrow(x), length(lambda))
  for (fold in unique(ids)) {
    out <- ids == fold
    fit <- quick(x[!out, ], d$y[!out], loss = loss, lambda = lambda, standardize = FALSE,
                 tolerance = 1e-13)
    scores[out, ] <- cbind(1, x[out, , drop = FALSE]) %*% all_coefficients(fit)
  }
  scores
}

slow_losses <- function(loss, y, f) {
  switch(loss, squared = (y - f)^2, logistic = log(1 + exp(-y * f)), hinge = pmax(1 - y * f, 0))
}

test_that("held-out errors are those of refitting", {
  for (loss in losses) {
    d <- some_data(loss, m = 24, n = 8)
    y <- if (loss == "squared") d$y else ifelse(d$y == "yes", 1, -1)
    lambda <- lambda_max(d$x, d$y, loss = loss) * c(0.8, 0.4, 0.15)
    ids <- list(rep(1:3, 8), rep(c(2, 1, 3), c(7, 9, 8)))
    tight <- function(...) quick(d$x, d$y, loss = loss, lambda = lambda, tolerance = 1e-13, ...)
    scores <- lapply(1:2, function(repetition) slow_scores(d, loss, ids[[repetition]], lambda))
    fit <- tight(folds = ids)
    expected <- vapply(scores, function(one) colMeans(slow_losses(loss, y, one)), lambda)
    expect_near(fit$path$criterion, rowMeans(expected), 1e-6)
    best <- which.min(rowMeans(expected))
    expect_identical(fit$lambda, lambda[best])
    expect_near(drop(fit$held_out), (scores[[1]] + scores[[2]])[, best] / 2, 1e-6)
    loo <- slow_scores(d, loss, 1:24, lambda)
    fit <- tight(folds = "loo")
    expect_near(fit$path$criterion, colMeans(slow_losses(loss, y, loo)), 1e-6)
    expect_near(fit$path$squared, colMeans((y - loo)^2), 1e-6)
    if (loss == "squared") next
    wrong <- function(one) colMeans(sign(one) != y)
    fit <- tight(folds = ids, criterion = "error")
    expect_equal(fit$path$criterion, (wrong(scores[[1]]) + wrong(scores[[2]])) / 2)
    # all pairs of rows of one fold
    pairs <- outer(y, y, `>`) & outer(ids[[1]], ids[[1]], `==`)
    auc <- apply(scores[[1]], 2, function(score) {
      ahead <- outer(score, score, `-`)[pairs]
      mean((ahead > 0) + (ahead == 0) / 2)
    })
    fit <- tight(folds = ids[[1]], criterion = "auc")
    expect_equal(fit$path$criterion, auc)
  }
})

# What can go wrong --------------------------------------------------------------------------------

test_that("paths side by side are the paths by themselves", {
  set.seed(9)
  x <- matrix(rnorm(60 * 100), 60) + rnorm(60)
  y <- x[, 1] - x[, 2] + rnorm(60)
  classes <- factor(y > 0)
  sparse <- Matrix::Matrix(x * (abs(x) > 1.5), sparse = TRUE)
  gaps <- replace(x, sample(length(x), 200), NA)
  gone <- replace(x, cbind(1:9, 4), 7) # constant without the first fold
  gone[10:60, 4] <- 0
  weights <- runif(60, 0, 2) * (runif(60) > 0.1)
  problems <- list(as_problem(x, y), as_problem(x, classes), as_problem(sparse, y),
                   as_problem(gaps, y, missing = "mean"), as_problem(gone, y, weights = weights),
                   as_problem(x, cbind(y, x[, 3])), as_problem(x, y, adjust = runif(60)),
                   as_problem(sparse, cut(y, 3)), as_problem(x, y, intercept = FALSE))
  rows <- split(1:60, rep(1:5, c(9, 9, 15, 15, 12)))
  for (at in seq_along(problems)) {
    problem <- problems[[at]]
    scores_of <- function(control, rows) {
      lapply(paths_without(problem, control, rows), `[[`, "scores")
    }
    # both penalties for the first two problems, then one by turns
    for (alpha in if (at < 3) c(1, 0.6) else c(1, 0.6)[at %% 2 + 1]) {
      loss <- if (problem$coding$task == "regression") "squared" else "logistic"
      control <- l1_control(problem, loss, alpha = alpha)
      largest <- largest_lambda(problem, control)
      for (tolerance in c(3e-4, 0.01, 1e-11)) { # a wait changes no step, however loose
        control$tolerance <- tolerance
        control$lambda <- largest * (if (tolerance > 1e-11) c(0.3, 0.02) else 0.6^(0:5))
        alone <- lapply(rows, function(one) scores_of(control, list(one))[[1]])
        expect_equal(scores_of(control, rows), alone,
                     tolerance = if (tolerance > 1e-11) 1e-9 else 1e-4)
      }
      control$threads <- 2L
      expect_identical(scores_of(control, rows), scores_of(replace(control, "threads", 1L), rows))
    }
  }
})

test_that("as many folds as there may be go side by side, ten at a time", {
  set.seed(10)
  x <- matrix(rnorm(23 * 60), 23)
  y <- x[, 1] + rnorm(23)
  expect_identical(lengths(fold_batches(23, FALSE)), c(8L, 8L, 7L))
  expect_identical(unlist(fold_batches(23, FALSE)), 1:23)
  expect_identical(lengths(fold_batches(3, FALSE)), 3L)
  expect_identical(lengths(fold_batches(3, TRUE)), rep(1L, 3))
  fit <- l1_path(x, y, folds = "loo", tolerance = 1e-9)
  one_by_one <- with_binding("differs_by_rows", function(...) TRUE,
                             l1_path(x, y, folds = "loo", tolerance = 1e-9))
  expect_equal(fit$path, one_by_one$path)
  expect_equal(fit$held_out, one_by_one$held_out)
})

test_that("a first lambda far below the largest reaches the tolerance", {
  for (seed in 14:20) {
    set.seed(seed)
    x <- matrix(rnorm(500), 100)
    y <- factor(x[, 1] - x[, 2] + rnorm(100) > 0)
    pb <- as_problem(x, y)
    for (share in 10^-(4:7)) {
      lambda <- share * lambda_max(pb, loss = "logistic")
      fit <- expect_no_warning(quick(pb, loss = "logistic", lambda = lambda))
      expect_lte(fit$path$gap, 1e-8 * fit$null_objective)
    }
  }
})

test_that("a solution that falls short is reported with its gap", {
  d <- some_data("logistic")
  expect_warning(
    fit <- quick(d$x, d$y, loss = "logistic", nlambda = 5, tolerance = 1e-300),
    "did not reach the tolerance: the largest duality gap is .* at lambda = ",
    class = "sparsels_warning_convergence"
  )
  expect_lt(max(fit$path$gap), 1e-9 * fit$null_objective)
})

test_that("Ctrl-C returns the path up to there", {
  skip_on_cran()
  skip_on_os("windows")
  set.seed(6)
  # R is asked every tenth of a second: the path must take a few of them
  x <- matrix(rnorm(400 * 3000), 400)
  score <- drop(x[, 1:20] %*% rnorm(20)) + rnorm(400)
  for (loss in losses) {
    y <- if (loss == "squared") score else factor(score > 0)
    expect_warning(
      fit <- interrupted_at(1e-9, l1_path(x, y, loss = loss, nlambda = 4000, folds = 5,
                                          lambda_min_ratio = 0.002, tolerance = 1e-8)),
      class = "sparsels_interrupted"
    )
    expect_identical(fit$status, "interrupted")
    steps <- nrow(fit$path)
    expect_lt(steps, 4000)
    whole <- quick(x, y, loss = loss, lambda = fit$path$lambda)
    expect_equal(fit$path$objective, whole$path$objective)
    expect_output(print(fit), "interrupted")
  }
})

test_that("a fit survives being saved", {
  for (loss in losses) {
    d <- some_data(loss)
    fit <- quick(d$x, d$y, loss = loss, nlambda = 6, folds = 4)
    file <- tempfile()
    on.exit(unlink(file))
    saveRDS(fit, file)
    again <- readRDS(file)
    expect_identical(predict(again, d$x), predict(fit, d$x))
    expect_identical(coef(again, lambda = fit$path$lambda[3]),
                     coef(fit, lambda = fit$path$lambda[3]))
    expect_output(print(again))
  }
})

test_that("columns that say nothing are left alone", {
  for (loss in losses) {
    d <- some_data(loss)
    x <- cbind(d$x, zero = 0, one = 1, again = d$x[, 1])
    for (screen in screens) {
      fit <- quick(x, d$y, loss = loss, nlambda = 6, screen = screen, tolerance = 1e-12)
      reference <- quick(d$x, d$y, loss = loss, nlambda = 6, screen = screen, tolerance = 1e-12)
      expect_near(fit$path$objective, reference$path$objective, 1e-10)
      expect_false(any(c("zero", "one") %in% unlist(lapply(fit$coefficients, `[[`, "name"))))
    }
  }
})

test_that("a fold may leave nothing to explain, and data be tiny", {
  d <- some_data("squared", m = 12, n = 5)
  y <- rep(c(2, 3), c(9, 3))
  fit <- quick(d$x, y, lambda = c(1, 0.1), folds = rep(c(1, 2, 3, 4), each = 3))
  # without the fourth fold the response is 2 in every row
  expect_equal(fit$held_out[10:12, ], rep(2, 3))
  for (loss in losses) {
    y <- if (loss == "squared") c(1, 3) else factor(1:2)
    fit <- quick(cbind(a = c(0, 2)), y, loss = loss, nlambda = 4, tolerance = 1e-12)
    expect_lt(max(fit$path$gap), 1e-12 * fit$null_objective)
    expect_gt(nrow(fit$path), 1)
    expect_identical(fit$path$size, c(0L, rep(1L, nrow(fit$path) - 1L)))
  }
})

# Every class has every row of the design, so that products with the residuals of the null model are
# rounding. Held out, the null model has the means of the other rows.
test_that("a response that a balanced design says nothing about has the null model alone", {
  design <- expand.grid(a = factor(1:3), b = factor(1:4), c = c(-1.3, 0.7, 0.1), class = 1:3)
  x <- model.matrix(~ a + b + c, design)[, -1]
  y <- design$class
  ids <- rep(1:4, length.out = length(y))
  without <- vapply(ids, function(fold) mean(y[ids != fold]), 0)
  given <- list(squared = y, poisson = y, multinomial = factor(y), ordinal = as.ordered(y),
                logistic = factor(y > 1), hinge = factor(y > 1),
                cox = survival::Surv(y, rep(1, length(y))))
  for (loss in names(given)) {
    for (alpha in if (loss == "hinge") 1 else c(1, 0.5)) {
      pb <- suppressMessages(as_problem(x, given[[loss]]))
      expect_identical(lambda_max(pb, loss = loss, alpha = alpha), 0)
      expect_silent(fit <- quick(pb, loss = loss, alpha = alpha, folds = ids))
      expect_identical(c(fit$status, fit$path$size), c("complete", 0L))
      if (loss == "squared") expect_equal(unname(fit$held_out[, 1]), without, tolerance = 1e-12)
      if (loss == "poisson") {
        expect_equal(fit$path$criterion, mean(2 * (y * log(y / without) - y + without)))
      }
      if (loss == "cox") expect_identical(fit$path$concordance, 0.5)
    }
  }
  # one response of several, and each class against the others
  set.seed(8)
  both <- quick(x, cbind(a = y, b = x[, 1] + rnorm(length(y))))
  expect_identical(both$status, "complete")
  classes <- suppressMessages(quick(x, factor(y), loss = "squared"))
  expect_identical(c(classes$status, classes$path$size), c("complete", 0L))
  # lambdas that are given are all solved for, also where rounding decides
  tiny <- suppressMessages(quick(x, factor(y), loss = "squared", lambda = 3e-15 * 0.9^(0:80))) |>
    suppressWarnings()
  expect_identical(c(tiny$status, nrow(tiny$path)), c("complete", 81L))
})

test_that("columns that are nearly the same do no harm", {
  for (apart in 10^-c(3, 6, 8, 9, 10, 12)) {
    set.seed(7)
    x <- matrix(rnorm(50 * 20), 50)
    x <- cbind(x, x + apart * rnorm(1000), x[, 1:10] - x[, 11:20] + apart * rnorm(500))
    y <- x[, 1L] - x[, 2L] + rnorm(50)
    fit <- quick(x, y, nlambda = 25, lambda_min_ratio = 0.001)
    expect_lt(max(fit$path$gap), 1e-8 * fit$null_objective)
  }
})

test_that("`k` ends the path before the first solution with more columns", {
  set.seed(21)
  for (loss in c("squared", "logistic", "hinge")) {
    pb <- random_problem(if (loss == "squared") "one" else "binary", m = 30, n = 12)
    full <- l1_path(pb, loss = loss, nlambda = 20)
    cut <- l1_path(pb, loss = loss, nlambda = 20, k = 4)
    rows <- which(cumsum(full$path$size > 4) == 0)
    expect_lt(length(rows), 20)
    expect_identical(cut$path, full$path[rows, ])
    expect_identical(cut$solutions, full$solutions[rows])
    expect_identical(cut$status, "complete")
    control <- l1_control(pb, loss)
    control$progress <- FALSE
    solved <- solve_path(pb, control, full$path$lambda, max_size = 4)
    expect_length(solved, length(rows) + 1L)
  }
  expect_error(l1_path(pb, loss = "hinge", k = 1, lambda = 0.01), "begins too low",
               class = "sparsels_error_argument")
})

test_that("rows that a covariate separates leave the optimum of the other rows", {
  set.seed(136)
  x <- matrix(rnorm(40 * 20), 40)
  y <- factor(x[, 1] + rnorm(40) > 0, labels = c("a", "b"))
  batch <- data.frame(batch = as.numeric(seq_len(40) %in% which(y == "a")[c(2, 5, 8, 11)]))
  lambda <- lambda_max(x, y, loss = "logistic", adjust = batch) * c(0.5, 0.2, 0.05)
  others <- batch$batch == 0
  scaled <- scale(x) * sqrt(40 / 39)
  own <- l1_path(scaled[others, ], y[others], loss = "logistic", standardize = FALSE,
                 lambda = lambda, tolerance = 1e-10)
  for (solver in c("cd", "ipm")) {
    expect_warning(fit <- l1_path(x, y, loss = "logistic", adjust = batch, lambda = lambda,
                                  solver = solver, tolerance = 1e-8),
                   "the covariate 'batch' separates 4 rows", class = "sparsels_warning_separation")
    expect_equal(fit$path$objective, own$path$objective, tolerance = 1e-7)
    expect_gte(min(fit$path$gap), 0)
    expect_true(all(fit$path$gap < 1e-8 * fit$null_objective))
    expect_true(suppressWarnings(verify(fit, x, y, claims = Inf))$ok)
  }
})

test_that("no dual value is above an optimum where weights of rows are of 16 orders of magnitude", {
  for (seed in c(9, 21, 25, 27, 45)) {
    set.seed(seed)
    x <- matrix(rnorm(36), 12, dimnames = list(NULL, letters[1:3]))
    y <- ifelse(x[, 1] + rnorm(12) > 0, 1, -1)
    batch <- as.double(seq_len(12) %in% which(y == y[1])[1:3])
    w <- 10^runif(12, -8, 8)
    suppressWarnings(
      fit <- l1_path(x, factor(y), loss = "logistic", standardize = FALSE, adjust = batch,
                     weights = w, nlambda = 8, tolerance = 1e-8)
    )
    lambda <- min(fit$path$lambda)
    D <- cbind(1, batch, x[, selected(fit, lambda = lambda), drop = FALSE])
    penalty <- c(0, 0, rep(lambda, ncol(D) - 2))
    s <- function(b) -y * drop(D %*% b)
    value <- function(b) sum(w * (pmax(s(b), 0) + log1p(exp(-abs(s(b)))))) + sum(penalty * abs(b))
    slope <- function(b) penalty * sign(b) - drop(crossprod(D, w * y / (1 + exp(-s(b)))))
    null <- fit$null_objective
    best <- optim(unname(coef(fit, lambda = lambda)), function(b) value(b) / null,
                  function(b) slope(b) / null, method = "BFGS", control = list(reltol = 1e-15))
    last <- nrow(fit$path)
    expect_gte(min(fit$path$gap), 0)
    expect_lte((fit$path$objective[last] - fit$path$gap[last]) / null, best$value * (1 + 1e-9))
  }
})

test_that("held-out losses do not depend on how far separated rows were followed", {
  set.seed(2010)
  x <- matrix(rnorm(60 * 40), 60)
  y <- factor(x[, 1] + rnorm(60) > 0)
  ward <- data.frame(ward = factor(sample(rep(1:12, 5))))
  folds <- sample(rep(1:5, 12))
  lambda <- lambda_max(x, y, loss = "logistic", adjust = ward) * c(0.8, 0.4)
  held <- lapply(c(1e-5, 1e-9), function(tolerance) {
    fit <- suppressWarnings(l1_path(x, y, loss = "logistic", adjust = ward, lambda = lambda,
                                    folds = folds, tolerance = tolerance))
    expect_gte(min(fit$path$gap), 0)
    fit$path$criterion
  })
  expect_equal(held[[1L]], held[[2L]], tolerance = 1e-3)
  # the reference ward separates: all others take part in its direction
  y[ward$ward == 1] <- "TRUE"
  expect_warning(l1_path(x, y, loss = "logistic", adjust = ward, lambda = lambda),
                 "'ward2', 'ward3'")
})
