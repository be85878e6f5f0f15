# Safe elimination: the bounds against programmes and searches, and no column lost.

screen_problem <- function(loss, m = 30, n = 25, ..., share = 0.5) {
  pb <- random_problem(m, n, ...)
  if (loss == "squared") return(pb)
  high <- rank(pb$rows$y[, 1]) > m * share
  as_problem(pb$x, factor(ifelse(high, "ill", "well")), weights = pb$rows$weight,
             adjust = if ("age" %in% colnames(pb$z)) pb$z[, "age", drop = FALSE],
             intercept = pb$coding$intercept, standardize = pb$coding$standardize)
}


cases <- function(N) {
  random_cover(N, weights = c(TRUE, FALSE), covariates = c(FALSE, FALSE, TRUE),
               intercept = c(TRUE, TRUE, FALSE), sparse = c(TRUE, FALSE), share = c(0.5, 0.8))
}

case_problem <- function(case, loss, ...) {
  screen_problem(loss, ..., weights = case$weights, covariates = case$covariates,
                 intercept = case$intercept, sparse = case$sparse, share = case$share,
                 standardize = case$share == 0.5)
}

test_that("hinge bounds are those of the linear programme", {
  skip_if_not_installed("Rglpk")
  set.seed(201)
  all <- cases(8)
  for (i in seq_len(nrow(all))) {
    pb <- case_problem(all[i, ], "hinge", m = 20, n = 9)
    most <- lambda_max(pb, loss = "hinge")
    mask <- safe_screen(pb, lambda = 0.7 * most, loss = "hinge")
    control <- l1_control(pb, "hinge")
    null <- null_solution(pb, control)$null
    exact <- vapply(which(pb$columns$usable), function(k) oracle_hinge_bound(pb, k, 0.7 * null), 0)
    expect_equal(unname(mask$bounds[pb$columns$usable]), exact, tolerance = 1e-7)
  }
})

test_that("the largest lambda of hinge is that of the linear programme", {
  skip_if_not_installed("Rglpk")
  set.seed(202)
  all <- cases(10)
  for (i in seq_len(nrow(all))) {
    pb <- case_problem(all[i, ], "hinge", m = 24, n = 9)
    expect_equal(lambda_max(pb, loss = "hinge"), oracle_hinge_lambda_max(pb), tolerance = 1e-8)
  }
})

test_that("logistic bounds are the maxima", {
  set.seed(203)
  all <- cases(8)
  for (i in seq_len(nrow(all))) {
    pb <- case_problem(all[i, ], "logistic", n = 9)
    most <- lambda_max(pb, loss = "logistic")
    mask <- safe_screen(pb, lambda = 0.8 * most, loss = "logistic")
    null <- null_solution(pb, l1_control(pb, "logistic"))
    gamma <- dual_value(pb, "logistic", null$r, most, 0.8 * most)
    exact <- vapply(which(pb$columns$usable), function(k) oracle_logistic_bound(pb, k, gamma), 0)
    expect_equal(unname(mask$bounds[pb$columns$usable]), exact, tolerance = 1e-6)
  }
})

test_that("the bounds and rho of squares are the paper's", {
  set.seed(204)
  all <- cases(6)
  for (i in seq_len(nrow(all))) {
    pb <- case_problem(all[i, ], "squared")
    a <- working_matrix(pb)
    y <- drop(working(pb)$y)
    product <- drop(abs(crossprod(a, y)))
    norm <- sqrt(colSums(a^2))
    long <- sqrt(sum(y^2))
    most <- max(product)
    expect_equal(lambda_max(pb), most)
    mask <- safe_screen(pb, lambda = 0.9 * most)
    expect_equal(unname(mask$bounds[pb$columns$usable]), product + norm * long * 0.1,
                 tolerance = 1e-8)
    rho <- (long * norm + product) / (long * norm + most)
    expect_equal(unname(mask$rho[pb$columns$usable]), pmin(rho, 1), tolerance = 1e-6)
    fit <- l1_path(pb, lambda = c(0.95, 0.8, 0.5) * most)
    model <- fit$solutions[[2]]
    r <- model_point(pb, "squared", model$features, model$beta)$r
    point <- max(abs(crossprod(a, r)))
    a0 <- sum(r^2)
    b0 <- sum(y * r)
    width <- sqrt(a0 * max(b0 / a0 - 0.7 * most / point, 0)^2 + long^2 - b0^2 / a0)
    mask <- safe_screen(pb, lambda = 0.7 * most, rule = "safe2", fit = fit,
                        lambda0 = 0.8 * most)
    null <- product + norm * long * 0.3
    expect_equal(unname(mask$bounds[pb$columns$usable]), pmin(product + norm * width, null),
                 tolerance = 1e-8)
  }
})

test_that("the balls of the gap rule have the radius of the gap", {
  set.seed(213)
  for (loss in c("squared", "logistic")) {
    pb <- screen_problem(loss, m = 40, n = 12, weights = TRUE, covariates = TRUE)
    a <- working_matrix(pb)
    norm <- sqrt(colSums(a^2))
    most <- lambda_max(pb, loss = loss)
    fit <- l1_path(pb, loss = loss, lambda = 0.8 * most, tolerance = 1e-4)
    ball <- function(solution, lambda) {
      at <- model_point(pb, loss, solution$features, solution$beta)
      product <- drop(abs(crossprod(a, at$r)))
      s <- min(1, lambda / max(product))
      gap <- at$loss + lambda * at$l1 - if (loss == "squared") {
        sum(working(pb)$y * s * at$r) - sum((s * at$r)^2) / 2
      } else {
        p <- s * pb$rows$y[, 1] * at$r / sqrt(pb$rows$weight)
        -sum(pb$rows$weight * (p * log(p) + (1 - p) * log(1 - p)))
      }
      # -g of a sum of w f with f'' <= 1/4 is strongly concave with modulus 4, of squares with 1
      s * product + norm * sqrt(2 * gap / (if (loss == "squared") 1 else 4))
    }
    for (share in c(0.75, 0.6)) {
      lambda <- share * most
      mask <- safe_screen(pb, loss = loss, lambda = lambda, rule = "gap", fit = fit)
      null <- ball(list(features = integer(), beta = numeric()), lambda)
      exact <- pmin(ball(fit$solutions[[1]], lambda), null)
      bounds <- unname(mask$bounds[pb$columns$usable])
      if (loss == "squared") {
        two <- safe_screen(pb, lambda = lambda, rule = "safe2", fit = fit)$bounds[pb$columns$usable]
        exact <- pmin(exact, unname(two))
      }
      expect_equal(bounds, exact, tolerance = 1e-5)
    }
  }
})

test_that("the gap rule of hinge is a linear programme about the model", {
  skip_if_not_installed("Rglpk")
  set.seed(214)
  all <- cases(6)
  for (i in seq_len(nrow(all))) {
    pb <- case_problem(all[i, ], "hinge", m = 24, n = 9)
    most <- lambda_max(pb, loss = "hinge")
    fit <- l1_path(pb, loss = "hinge", lambda = 0.6 * most)
    lambda <- 0.5 * most
    mask <- safe_screen(pb, loss = "hinge", lambda = lambda, rule = "gap", fit = fit)
    one <- fit$solutions[[1]]
    f <- model_point(pb, "hinge", one$features, one$beta, one$u)$f
    h <- 1 - pb$rows$y[, 1] * f
    loss <- sum(pb$rows$weight * pmax(h, 0))
    value <- (fit$path$objective - fit$path$gap) * 0.5 / 0.6
    gap <- loss + lambda * sum(abs(one$beta)) - value
    null <- null_solution(pb, l1_control(pb, "hinge"))
    null_h <- 1 - pb$rows$y[, 1] * drop(working(pb)$q %*% null$u) / sqrt(pb$rows$weight)
    exact <- vapply(which(pb$columns$usable), function(k) {
      c(oracle_hinge_bound(pb, k, loss - gap, h), oracle_hinge_bound(pb, k, value),
        oracle_hinge_bound(pb, k, sum(pb$rows$weight * pmax(null_h, 0)) - null$null + value,
                           null_h))
    }, numeric(3))
    exact <- apply(exact, 2, min)
    expect_true(all(mask$bounds[pb$columns$usable] >= exact * (1 - 1e-9)))
    expect_true(all(mask$bounds[pb$columns$usable] <= exact * (1 + 3e-3)))
  }
})

test_that("no column of a solution is lost, at lambda and down to rho", {
  set.seed(205)
  share <- c(1, 0.8, 0.3)
  for (loss in losses) {
    all <- cases(3)
    for (i in seq_len(nrow(all))) {
      pb <- case_problem(all[i, ], loss, m = sample(c(15, 40), 1), n = 30)
      most <- lambda_max(pb, loss = loss)
      fit <- l1_path(pb, loss = loss, lambda = share * most, tolerance = 1e-11)
      rough <- l1_path(pb, loss = loss, lambda = c(0.9, 0.5) * most, tolerance = 1e-3)
      active <- lapply(fit$solutions, function(one) one$features[abs(one$beta) > 1e-9])
      for (at in seq_along(share)) {
        for (rule in c("safe1", "safe2", "gap", "gap with fit")) {
          mask <- safe_screen(pb, loss = loss, lambda = share[at] * most,
                              rule = sub(" .*", "", rule),
                              fit = if (rule %in% c("safe2", "gap with fit")) rough)
          where <- paste(loss, rule, share[at])
          ratio <- mask$lambda / mask$lambda_max
          below <- if (rule == "gap with fit") seq_along(share) >= at else TRUE
          others <- which(rep_len(below, length(share)))
          reached <- vapply(others, function(other) {
            all(mask$rho[active[[other]]] >= share[other] * (1 - 1e-8))
          }, NA)
          expect_true(all(mask$keep[active[[at]]], mask$rho[mask$keep] >= ratio * (1 - 1e-8),
                          mask$rho[!mask$keep] <= ratio * (1 + 1e-5), reached), label = where)
        }
      }
    }
  }
})

test_that("rho is where the rule begins to keep a column", {
  set.seed(206)
  for (loss in losses) {
    pb <- screen_problem(loss, n = 5, weights = TRUE)
    most <- lambda_max(pb, loss = loss)
    fit <- l1_path(pb, loss = loss, lambda = 0.9 * most)
    for (rule in if (loss == "hinge") c("safe1", "safe2") else c("safe1", "safe2", "gap")) {
      screen <- function(lambda) {
        safe_screen(pb, loss = loss, lambda = lambda, rule = rule, fit = if (rule == "safe2") fit,
                    lambda0 = if (rule == "safe2") 0.9 * most)
      }
      rho <- screen(0.9 * most)$rho
      for (k in which(rho > 0.05 & rho < 1 - 1e-4)) {
        # knots of logistic and gap round to the safe side
        slack <- if (loss == "squared" && rule != "gap" || loss == "hinge") 1e-5 else 1e-3
        expect_false(screen(rho[k] * most * (1 + 1e-5))$keep[k])
        expect_true(screen(rho[k] * most * (1 - slack))$keep[k], label = paste(loss, rule))
      }
    }
  }
})

test_that("dense, sparse and streamed x and any number of threads agree", {
  set.seed(207)
  for (loss in losses) {
    pb <- screen_problem(loss, m = 40, n = 30, sparse = TRUE)
    x <- as.matrix(pb$x)
    y <- if (loss == "squared") pb$rows$y[, 1] else factor(pb$rows$y[, 1])
    # both classes alike, or the bound of lambda_max of data in blocks is another
    if (loss == "hinge") y <- factor(rep(c("a", "b"), 20))
    w <- if (loss == "hinge") rep(2, 40) else runif(40, 0.5, 2)
    most <- lambda_max(x, y, weights = w, loss = loss)
    fit <- l1_path(x, y, weights = w, loss = loss, lambda = c(0.95, 0.7) * most)
    for (rule in c("safe1", "safe2", "gap")) {
      given <- if (rule == "safe2") fit
      screen <- function(x, ...) {
        safe_screen(x, y, weights = w, loss = loss, lambda = 0.9 * most, rule = rule, fit = given,
                    ...)
      }
      dense <- screen(x)
      expect_identical(screen(x, threads = 2), dense)
      same <- c("keep", "rho", "bounds", "lambda_max", "usable")
      expect_equal(screen(pb$x)[same], dense[same], tolerance = 1e-7)
      calls <- integer()
      # three blocks, the last one shorter
      read <- function(columns) {
        calls <<- c(calls, columns)
        pb$x[, columns]
      }
      blocks <- function(rows, columns, values = 0) split(1:columns, (1:columns - 1) %/% 13)
      streamed <- with_binding("column_blocks", blocks, screen(read, columns = 30))
      expect_equal(streamed[same], dense[same], tolerance = 1e-7)
      times <- if (loss == "squared" || loss == "logistic" && rule == "gap") 1 else 2
      if (loss == "hinge" && rule == "safe2") times <- 1
      of_fit <- unlist(lapply(fit$solutions, `[[`, "features"))
      expected <- rep(times, 30) + if (rule == "safe2") tabulate(of_fit, 30) else 0
      # the first block is looked at, as the columns may be sparse
      expect_equal(tabulate(calls, 30), expected + (1:30 <= 13))
    }
  }
})

test_that("of a sparse matrix blocks have more columns", {
  set.seed(207)
  x <- Matrix::rsparsematrix(20, 90, 0.05)
  y <- rnorm(20)
  sizes <- integer()
  read <- function(columns) {
    sizes <<- c(sizes, length(columns))
    x[, columns]
  }
  blocks <- function(rows, columns, values) split(1:columns, (1:columns - 1) %/% (80 %/% rows))
  most <- lambda_max(x, y)
  mask <- with_binding("column_blocks", blocks, safe_screen(read, y, lambda = most, columns = 90))
  # 4 columns of 20 rows; 40 of at most 2 nonzeros each
  expect_equal(sizes, c(4, 40, 40, 10))
  expect_equal(mask$keep, safe_screen(x, y, lambda = most)$keep)
})

test_that("a DelayedMatrix is read in blocks, names and all", {
  skip_if_not_installed("DelayedArray")
  set.seed(208)
  x <- matrix(rnorm(600), 20, dimnames = list(NULL, paste0("g", 1:30)))
  y <- rnorm(20)
  most <- lambda_max(x, y, adjust = cbind(1:20))
  mask <- safe_screen(x, y, lambda = 0.9 * most, adjust = cbind(1:20))
  late <- DelayedArray::DelayedArray(x)
  expect_equal(safe_screen(late, y, lambda = 0.9 * most, adjust = cbind(1:20)), mask)
  named <- safe_screen(function(columns) x[, columns], y, lambda = 0.9 * most,
                       adjust = cbind(1:20), columns = colnames(x))
  expect_equal(named, mask)
})

test_that("everything goes just above lambda_max, and the first column stays just below", {
  set.seed(209)
  for (loss in losses) {
    pb <- screen_problem(loss)
    most <- lambda_max(pb, loss = loss)
    for (rule in c("safe1", "gap")) {
      expect_false(any(safe_screen(pb, loss = loss, lambda = most * (1 + 1e-6), rule = rule)$keep))
      below <- safe_screen(pb, loss = loss, lambda = most * (1 - 1e-4), rule = rule)
      expect_true(any(below$keep))
      expect_lt(sum(below$keep), 5)
    }
  }
})

test_that("the gap rule keeps no more than SAFE2, and what it keeps gives the same solution", {
  set.seed(210)
  for (loss in losses) {
    pb <- screen_problem(loss, m = 30, n = 80)
    most <- lambda_max(pb, loss = loss)
    fit <- l1_path(pb, loss = loss, lambda = 0.85 * most)
    screen <- function(rule) {
      safe_screen(pb, loss = loss, lambda = 0.75 * most, rule = rule, fit = fit)
    }
    gap <- screen("gap")
    expect_true(all(screen("safe2")$keep[gap$keep]))
    expect_lt(sum(gap$keep), 60)
    all <- l1_path(pb, loss = loss, lambda = gap$lambda)
    some <- l1_path(pb[, gap$keep], loss = loss, lambda = gap$lambda)
    expect_equal(some$path$objective, all$path$objective, tolerance = 1e-7)
    expect_identical(exclude(gap), which(!unname(gap$keep)))
  }
})

test_that("excluded columns are dropped and counted", {
  set.seed(211)
  pb <- screen_problem("logistic")
  for (rule in c("safe1", "gap")) {
    mask <- safe_screen(pb, loss = "logistic", lambda = 1e-3, rule = rule)
    expect_identical(unname(mask$usable), pb$columns$usable)
    expect_identical(unname(which(!mask$keep)), 7L)
    expect_identical(mask$rho[["V7"]], 0)
    expect_true(all(mask$rho[-7] > 0))
  }
})

test_that("no column is kept where none has a product with the response", {
  # each value of y has the same mean of every column, exactly and up to rounding
  for (step in c(1, 0.1)) {
    x <- cbind(a = step * c(-3, 1, 2, -3, 1, 2), b = step * c(2, -7, 5, 2, -7, 5))
    for (loss in c("squared", "logistic", "hinge", "poisson")) {
      y <- if (loss %in% c("logistic", "hinge")) factor(rep(1:2, each = 3)) else rep(1:2, each = 3)
      pb <- suppressMessages(as_problem(x, y))
      mask <- safe_screen(pb, loss = loss, lambda = 1e-3, rule = "gap")
      expect_false(any(mask$keep))
      expect_identical(unname(mask$rho), c(0, 0))
      expect_identical(mask$lambda_max, 0)
      expect_output(print(mask), "lambda: 0.001, and lambda_max is 0", fixed = TRUE)
    }
  }
})

test_that("what is printed", {
  x <- cbind(a = c(1, -1, 1, -1, 2, -2), b = c(1, 1, -1, -1, 0, 0), c = 1)
  y <- c(3, -1, 2, -3, 4, -5)
  expect_snapshot({
    safe_screen(x, y, lambda = 18)
    safe_screen(x, y, lambda = 100)
    safe_screen(x, factor(y > 2), loss = "hinge", lambda = 2, rule = "gap")
    safe_screen(function(i) x[, i], factor(y > 2), loss = "hinge", lambda = 2, columns = 3)
  })
})

test_that("messages-safe-screen", {
  set.seed(212)
  x <- matrix(rnorm(40), 10, dimnames = list(NULL, letters[1:4]))
  y <- x[, 1] + rnorm(10) / 4
  two <- factor(y > 0)
  fit <- l1_path(x, y, lambda = c(2, 1))
  expect_snapshot({
    refusal(safe_screen(x, y))
    refusal(safe_screen(x, y, lambda = c(1, 2)))
    refusal(safe_screen(x, y, lambda = -1))
    refusal(safe_screen(x, y, lambda = 1, rule = "strong"))
    refusal(safe_screen(x, y, lambda = 1, loss = "logit"))
    refusal(safe_screen(x, y, lambda = 1, lamda0 = 2))
    refusal(safe_screen(x, y, lambda = 1, loss = "hinge"))
    refusal(safe_screen(x, cbind(y, -y), lambda = 1))
    refusal(safe_screen(x, cut(y, 3), lambda = 1, loss = "logistic"))
    refusal(safe_screen(x, y, lambda = 1, rule = "safe2"))
    refusal(safe_screen(x, y, lambda = 1, fit = fit))
    refusal(safe_screen(x, y, lambda = 1, rule = "gap", fit = lm(y ~ x)))
    refusal(safe_screen(x, two, lambda = 1, rule = "gap", loss = "logistic", fit = fit))
    refusal(safe_screen(x, 2 * y, lambda = 1, rule = "gap", fit = fit))
    refusal(safe_screen(2 * x, y, lambda = 1, rule = "gap", fit = fit))
    refusal(safe_screen(x[, 4:1], y, lambda = 1, rule = "gap", fit = fit))
    refusal(safe_screen(x, y, lambda = 1, rule = "gap", lambda0 = 2))
    refusal(safe_screen(x, y, lambda = 1, rule = "gap", fit = fit, lambda0 = 1.5))
    refusal(safe_screen(x, y, lambda = 1, columns = 4))
    refusal(safe_screen(function(i) x[, i], y, lambda = 1))
    refusal(safe_screen(function(i) x[, i], y, lambda = 1, columns = 2.5))
    refusal(safe_screen(function(i) x[, 1:2], y, lambda = 1, columns = 4))
    refusal(safe_screen(function(i) NULL, y, lambda = 1, columns = 4))
    refusal(safe_screen(function(i) x[, rev(i)], y, lambda = 1, columns = letters[1:4]))
    refusal(safe_screen(function(i) x[, i], y, lambda = 1, columns = 4, weight = 1))
    refusal(safe_screen(function(i) matrix(1, 10, length(i)), y, lambda = 1, columns = 4))
    refusal(safe_screen(function(i) x[, i] / 0, y, lambda = 1, columns = letters[1:4]))
    refusal(safe_screen(function(i) x[, i], y, lambda = 1, columns = c("a", "b", "a")))
    refusal(safe_screen(x, two, lambda = 1, loss = "hinge", adjust = y))
    refusal(lambda_max(x, y, loss = "logistic"))
    refusal(exclude(fit))
  })
})

test_that("summary() of a mask says what other lambdas would keep", {
  set.seed(61)
  x <- matrix(rnorm(30 * 40), 30, dimnames = list(NULL, paste0("g", 1:40)))
  x[, 7] <- 1
  pb <- as_problem(x, x[, 3] - x[, 8] + rnorm(30))
  top <- lambda_max(pb)
  made <- summary(safe_screen(pb, lambda = 0.8 * top))
  expect_identical(sum(made$columns), 40L)
  expect_identical(made$columns[["excluded"]], 1L)
  for (i in seq_len(nrow(made$kept))[-1L]) {
    again <- safe_screen(pb, lambda = made$kept$lambda[i] * (1 - 1e-9))
    expect_identical(made$kept$kept[i], sum(again$keep))
  }
  expect_snapshot(made)
  path <- l1_path(pb, nlambda = 5)
  expect_null(summary(safe_screen(pb, lambda = top / 2, rule = "gap", fit = path))$kept)
})

test_that("a float_matrix is screened as its values in memory", {
  set.seed(2)
  x <- as.matrix(float_matrix(matrix(rnorm(40 * 30), 40)))
  y <- factor(x[, 1] > -0.4)
  for (loss in c("squared", "logistic", "hinge")) {
    response <- if (loss == "squared") x[, 1] + x[, 2] else y
    lambda <- 0.9 * lambda_max(x, response, loss = loss)
    memory <- safe_screen(x, response, lambda = lambda, loss = loss)
    single <- safe_screen(float_matrix(x), response, lambda = lambda, loss = loss)
    expect_equal(single$lambda_max, memory$lambda_max, tolerance = 1e-12)
    expect_identical(single$exact, memory$exact)
    expect_identical(single$keep, memory$keep)
    expect_equal(single$bounds, memory$bounds, tolerance = 1e-10)
  }
})
