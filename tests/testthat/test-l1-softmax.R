# l1_path() of three and more classes with one softmax model: loss = "multinomial"

# the largest difference, absolute
expect_near <- function(value, expected, by) {
  expect_lte(max(abs(unname(value) - unname(expected))), by)
}

quiet_path <- function(..., loss = "multinomial") l1_path(..., loss = loss, progress = FALSE)

design <- function() {
  x <- outer(1:10, 1:4, function(i, j) (i^2 * j + 3 * i + j^3) %% 11 - 5)
  colnames(x) <- paste0("x", 1:4)
  list(x = x, y = factor(c("a", "a", "b", "c", "c", "b", "c", "a", "b", "c")))
}

shares <- function(f) {
  e <- exp(f - apply(f, 1L, max))
  e / rowSums(e)
}

norms_of <- function(b, grouped) if (grouped) sqrt(rowSums(b^2)) else abs(b)

# Objective, duality gap and optimality conditions by plain sums: X standardised, B columns x
# classes, Z covariates.
plain_point <- function(X, y, f, B, lambda, alpha, grouped, w, Z) {
  Y <- outer(as.integer(y), seq_len(ncol(f)), "==") + 0
  p <- shares(f)
  l1 <- alpha * lambda
  ridge <- (1 - alpha) * lambda
  V <- w * (Y - p)
  C <- crossprod(X, V) - ridge * B
  s <- min(1, l1 / max(norms_of(C, grouped)))
  a <- (1 - s) * Y + s * p
  loss <- -sum(w * log(rowSums(Y * p)))
  objective <- loss + l1 * sum(norms_of(B, grouped)) + ridge / 2 * sum(B^2)
  dual <- -sum(w * ifelse(a > 0, a * log(a), 0)) - s^2 * ridge / 2 * sum(B^2)
  norm <- norms_of(B, grouped)
  slope <- B / ifelse(norm > 0, norm, 1)
  used <- matrix(norm > 0, nrow(B), ncol(B))
  list(objective = objective, gap = objective - dual, s = s, dual = dual, loss = loss,
       balance = max(abs(crossprod(Z, V))),
       broken = max(0, norms_of(C, grouped) / l1 - 1, abs(C - l1 * slope)[used] / l1))
}

every_column <- function(fit, row) {
  B <- matrix(0, length(fit$problem$columns$name), ncol(fit$problem$rows$y))
  B[fit$solutions[[row]]$features, ] <- fit$solutions[[row]]$beta
  B
}

plain_standard <- function(x, w, scaled) {
  x <- x - rep(colSums(w * x) / sum(w), each = nrow(x))
  s <- if (scaled) sqrt(colSums(w * x^2) / sum(w)) else rep(1, ncol(x))
  x / rep(ifelse(s > 0, s, 1), each = nrow(x))
}

# A problem of a number: columns of counts, correlated or sparse ones, weights, a covariate,
# separate or grouped penalties, elastic nets.
draw_classes <- function(number) {
  set.seed(number)
  m <- sample(20:60, 1)
  n <- sample(5:40, 1)
  K <- sample(3:6, 1)
  x <- matrix(rnorm(m * n), m)
  kind <- number %% 4
  if (kind == 1) x <- matrix(rpois(m * n, 1), m)
  if (kind == 2) for (j in 2:n) x[, j] <- 0.8 * x[, j - 1] + 0.6 * x[, j]
  if (kind == 3) x[abs(x) < 0.9] <- 0
  colnames(x) <- paste0("g", 1:n)
  score <- x[, 1:3] %*% matrix(rnorm(3 * K), 3) + 1.5 * matrix(rnorm(m * K), m)
  y <- factor(apply(score, 1, which.max), levels = 1:K)
  y[1:(3 * K)] <- rep(1:K, 3)
  list(x = x, y = y, given = if (kind == 3) Matrix::Matrix(x, sparse = TRUE) else x,
       w = if (number %% 3 == 0) sample(c(0.5, 1, 2), m, TRUE) else rep(1, m),
       z = if (number %% 7 < 3) data.frame(age = rnorm(m)), scaled = number %% 11 > 3,
       alpha = if (number %% 5 == 0) runif(1, 0.2, 0.9) else 1, grouped = number %% 2 == 0)
}

test_that("an example by hand: largest lambda, objectives, coefficients, dual values", {
  d <- design()
  pb <- as_problem(d$x, d$y, standardize = FALSE)
  expected <- list(
    list(top = 13, objective = c(10.044021963, 6.052677997),
         half = cbind(c(-0.111457133, -0.007108413, -0.202121692, 0), 0, 0),
         tenth = cbind(c(-0.187762027, -0.306572723, -0.340309249, 0), c(0, 0, 0, 0.333675476),
                       c(0.375618452, 0, 0.284511117, 0)),
         rough = c(16.170147788, 8.447621639, 0.554745429)),
    list(top = 16.673332001, objective = c(9.970766463, 5.938469395),
         half = cbind(c(-0.0784966, 0, -0.133124418, 0), c(0.0140383, 0, 0.034366632, 0),
                      c(0.064458299, 0, 0.098757786, 0)),
         rough = c(15.746586931, 8.192168388, 0.519814460))
  )
  for (grouped in c(FALSE, TRUE)) {
    known <- expected[[1 + grouped]]
    top <- lambda_max(pb, loss = "multinomial", grouped = grouped)
    expect_equal(top, known$top, tolerance = 1e-9)
    fit <- quiet_path(pb, lambda = top / c(2, 10), tolerance = 1e-12, grouped = grouped)
    expect_equal(fit$null_objective, 10.888999753, tolerance = 1e-10)
    expect_equal(fit$path$objective, known$objective, tolerance = 1e-9)
    expect_near(every_column(fit, 1), known$half, 1e-8)
    if (!grouped) expect_near(every_column(fit, 2), known$tenth, 1e-8)
    # at coefficients that are not optimal, with optimal intercepts
    B <- c(0.1, -0.2, 0, 0.05) %o% c(1, 0, -1)
    point <- model_point(pb, "multinomial", 1:4, B)
    largest <- max(norms_of(column_products(pb, point$r), grouped))
    s <- top / 2 / largest
    expect_near(c(point$loss + top / 2 * sum(norms_of(B, grouped)),
                  dual_objective(pb, "multinomial", s * point$r), s), known$rough, 1e-8)
    expect_gte(dual_value(pb, "multinomial", point$r, largest, top / 2), known$rough[2] - 1e-8)
  }
})

test_that("random problems: gaps, optimality conditions and screens by plain sums", {
  kept <- every <- 0
  for (number in problems_to_try(75, 8)) {
    d <- draw_classes(number)
    path <- function(...) {
      quiet_path(d$given, d$y, weights = d$w, adjust = d$z, alpha = d$alpha, grouped = d$grouped,
                 nlambda = 6, lambda_min_ratio = 0.02, standardize = d$scaled, ...)
    }
    fit <- path(tolerance = 1e-12)
    X <- plain_standard(d$x, d$w, d$scaled)
    Z <- cbind(rep(1, nrow(X)), if (!is.null(d$z)) d$z$age)
    null <- fit$null_objective
    for (row in seq_len(nrow(fit$path))) {
      lambda <- fit$path$lambda[row]
      f <- predict(fit, d$x, lambda = lambda, type = "link", adjust = d$z)
      at <- plain_point(X, d$y, f, every_column(fit, row), lambda, d$alpha, d$grouped, d$w, Z)
      expect_near(at$objective, fit$path$objective[row], 1e-12 * null)
      expect_true(at$gap >= -1e-12 * null && at$gap <= 2e-12 * null)
      expect_lte(at$balance, 1e-12 * sum(d$w))
      expect_lte(at$broken, 1e-4)
    }
    # what the safe test leaves out is in no solution
    mask <- path(screen = "gap", tolerance = 1e-12)
    expect_near(mask$path$objective, fit$path$objective, 1e-11 * null)
    expect_true(all(mask$path$columns_kept >= fit$path$size))
    rough <- path(screen = "gap", tolerance = 1e-6)
    expect_true(all(rough$path$objective - fit$path$objective <= 1.01e-6 * null))
    kept <- kept + sum(mask$path$columns_kept)
    every <- every + ncol(X) * nrow(fit$path)
  }
  expect_lt(kept, 0.9 * every)
})

test_that("paths to small lambdas converge, also where the columns are noise", {
  for (seed in c(2, 5, 6, 9, 11)) {
    set.seed(seed)
    y <- sample(iris$Species)
    for (grouped in c(FALSE, TRUE)) {
      expect_silent(fit <- quiet_path(iris[1:4], y, nlambda = 4, grouped = grouped))
      expect_lte(max(fit$path$gap), 3e-4 * fit$null_objective)
    }
  }
})

test_that("files and integers have the paths of numbers, shifted covariates the same", {
  d <- draw_classes(1)
  whole <- quiet_path(d$x, d$y, nlambda = 8, tolerance = 1e-10)
  integers <- d$x
  storage.mode(integers) <- "integer"
  file <- tempfile(fileext = ".bin")
  on.exit(unlink(file))
  for (x in list(integers, write_file_matrix(integers, file), Matrix::Matrix(d$x, sparse = TRUE))) {
    fit <- quiet_path(x, d$y, nlambda = 8, tolerance = 1e-10)
    expect_equal(fit$path$objective, whole$path$objective, tolerance = 1e-9)
    expect_equal(coef(fit), coef(whole), tolerance = 1e-4)
  }
  expect_equal(quiet_path(d$x, d$y, nlambda = 8, threads = 2)$path,
               quiet_path(d$x, d$y, nlambda = 8)$path)
  # a penalty of 0 makes a column a covariate, and one of 2 halves its scale
  free <- quiet_path(d$x, d$y, nlambda = 4, lambda_min_ratio = 0.01, tolerance = 1e-10,
                     penalty = replace(rep(1, ncol(d$x)), 2, 0))
  given <- quiet_path(d$x[, -2], d$y, adjust = data.frame(g2 = d$x[, 2]), lambda = free$path$lambda,
                      tolerance = 1e-10)
  expect_equal(free$path$objective, given$path$objective, tolerance = 1e-9)
  expect_equal(free$null_objective, given$null_objective)
})

test_that("glmnet agrees, separate and grouped", {
  skip_if_not_installed("glmnet")
  for (number in c(2, 4, 10, 16, 30)) {
    d <- draw_classes(number)
    for (grouped in c(FALSE, TRUE)) {
      fit <- quiet_path(d$x, d$y, weights = d$w, alpha = d$alpha, grouped = grouped, nlambda = 8,
                        lambda_min_ratio = 0.02, standardize = FALSE, tolerance = 1e-12)
      theirs <- suppressWarnings(glmnet::glmnet(
        d$x, d$y, family = "multinomial", weights = d$w, alpha = d$alpha,
        type.multinomial = if (grouped) "grouped" else "ungrouped", standardize = FALSE,
        thresh = 1e-16, maxit = 1e6, lambda = fit$path$lambda / sum(d$w)
      ))
      for (row in seq_along(theirs$lambda)) {
        B <- vapply(theirs$beta, function(beta) as.matrix(beta)[, row], d$x[1, ])
        # of an even number of classes, coefficients are unique but for a common part
        even <- !grouped && d$alpha == 1 && ncol(B) %% 2 == 0
        if (even) B <- round(B, 8)
        expect_near(every_column(fit, row), if (even) without_common_part(B) else B, 2e-5)
        f <- rep(theirs$a0[, row], each = nrow(d$x)) + d$x %*% B
        own <- predict(fit, d$x, lambda = fit$path$lambda[row])
        expect_near(own, shares(f), 1e-6)
      }
    }
  }
})

test_that("the end of the path is multinomial regression", {
  skip_if_not_installed("nnet")
  set.seed(5)
  x <- matrix(rnorm(240), 80, dimnames = list(NULL, c("u", "v", "w")))
  age <- rnorm(80)
  y <- factor(apply(x + matrix(rnorm(240, sd = 2), 80), 1, which.max))
  fit <- quiet_path(x, y, adjust = data.frame(age), lambda = 1e-7, tolerance = 1e-11)
  theirs <- nnet::multinom(y ~ age + x, trace = FALSE, abstol = 1e-14, reltol = 1e-14, maxit = 1e3)
  expect_near(predict(fit, x, adjust = data.frame(age)), fitted(theirs), 1e-5)
  expect_equal(deviance(fit), deviance(theirs), tolerance = 1e-8)
})

test_that("held-out deviances are those of paths on the other rows", {
  d <- draw_classes(6)
  for (grouped in c(FALSE, TRUE)) {
    folds <- make_folds(as_problem(d$x, d$y), 4)
    fit <- quiet_path(d$x, d$y, weights = d$w, folds = folds, nlambda = 8, grouped = grouped,
                      lambda_min_ratio = 0.05, tolerance = 1e-13, standardize = FALSE)
    f <- array(0, c(nrow(d$x), nlevels(d$y), nrow(fit$path)))
    for (rows in split(seq_along(d$y), folds$ids[, 1])) {
      own <- quiet_path(d$x[-rows, ], d$y[-rows], weights = d$w[-rows], lambda = fit$path$lambda,
                        grouped = grouped, tolerance = 1e-13, standardize = FALSE)
      f[rows, , ] <- predict(own, d$x[rows, ], lambda = fit$path$lambda, type = "link")
    }
    own <- cbind(seq_along(d$y), as.integer(d$y))
    for (row in seq_len(nrow(fit$path))) {
      deviance <- -2 * log(shares(f[, , row])[own])
      expect_equal(fit$path$criterion[row], weighted.mean(deviance, d$w), tolerance = 1e-8)
      wrong <- max.col(f[, , row]) != as.integer(d$y)
      expect_equal(fit$path$error[row], weighted.mean(wrong, d$w))
    }
  }
})

test_that("logistic paths of three and more classes are multinomial, and the claims of fits hold", {
  d <- draw_classes(9)
  folds <- make_folds(as_problem(d$x, d$y), 3)
  fit <- quiet_path(d$x, d$y, loss = "logistic", nlambda = 10, folds = folds)
  same <- quiet_path(d$x, d$y, nlambda = 10, folds = folds)
  expect_identical(fit$path, same$path)
  expect_identical(fit$loss, "multinomial")
  expect_true(verify(fit, d$x, d$y, claims = Inf)$ok)
  net <- quiet_path(d$x, d$y, nlambda = 6, folds = 3, alpha = 0.6, grouped = TRUE, weights = d$w)
  expect_true(verify(net, d$x, d$y, weights = d$w, claims = Inf)$ok)
  # a coefficient, an objective and a gap that are not the solution's are found
  wrong <- fit
  wrong$path$objective <- wrong$path$objective * (1 + 1e-6)
  expect_false(verify(wrong, d$x, d$y, claims = 60)$ok)
})

test_that("probabilities, classes, deviance and methods of a fit", {
  set.seed(7)
  fit <- quiet_path(Species ~ ., iris, folds = 5, nlambda = 20, loss = "logistic")
  link <- predict(fit, iris, type = "link")
  p <- predict(fit, iris, type = "prob")
  expect_equal(unname(p), unname(shares(link)))
  expect_equal(predict(fit, iris), p)
  expect_equal(unname(fitted(fit)), unname(p))
  expect_identical(as.integer(predict(fit, iris, type = "class")), unname(max.col(link)))
  own <- cbind(1:150, as.integer(iris$Species))
  expect_equal(deviance(fit), -2 * sum(log(p[own])))
  expect_equal(deviance(fit, newdata = iris), -2 * sum(log(p[own])))
  expect_equal(unname(residuals(fit)), unname(diag(3)[own[, 2], ] - p))
  several <- predict(fit, iris[1:2, ], lambda = fit$path$lambda[3:5])
  expect_identical(dim(several), c(2L, 3L, 3L))
  expect_equal(apply(several, c(1, 3), sum), matrix(1, 2, 3), ignore_attr = TRUE)
  expect_identical(dim(coef(fit)), c(length(selected(fit)) + 1L, 3L))
  # with separate penalties the median over the classes is 0
  expect_true(all(abs(apply(coef(fit)[-1, ], 1, median)) < 1e-12))
  expect_identical(nrow(generics::tidy(fit)), 3L * nrow(coef(fit)))
  expect_lte(max(quiet_path(Species ~ ., iris, k = 2)$path$size), 2)
  expect_identical(l1_size(Species ~ ., iris, size = 2, range = 0, loss = "logistic")$size, 2L)
  scores <- cross_validate(Species ~ ., iris, l1_path, loss = "multinomial", nlambda = 15,
                           folds = 3, outer = 3, measure = c("error", "logloss"), progress = FALSE)
  expect_lt(scores$estimates$mean[2], 0.4)
})

test_that("what cannot be done is refused", {
  d <- draw_classes(9)
  rare <- factor(replace(as.character(d$y), 1, "rare"))
  w <- replace(rep(1, length(rare)), rare == "rare", 0)
  number <- as.integer(d$y)
  expect_snapshot(error = TRUE, {
    quiet_path(d$x, factor(d$y == "1"))
    quiet_path(d$x, factor(d$y == "1"), loss = "logistic", grouped = TRUE)
    quiet_path(d$x, d$y, loss = "hinge", grouped = TRUE)
    quiet_path(d$x, d$y, grouped = 2)
    quiet_path(d$x, d$x[, 1] / 3)
    quiet_path(d$x, d$y, screen = "safe1")
    quiet_path(d$x, d$y, solver = "ipm")
    safe_screen(d$x, d$y, lambda = 1, loss = "multinomial", rule = "gap")
    quiet_path(d$x, rare, folds = rep(1:3, length.out = length(rare)))
    quiet_path(d$x, rare, weights = w)
    quiet_path(d$x, rep("one", nrow(d$x)))
    quiet_path(d$x, d$y, adjust = data.frame(own = 10 * number, square = number^2))
    l1_path(d$x, d$y, loss = "logistic", cluster = structure(list(1), class = "cluster"))
  })
})

test_that("covariates that separate some rows are named", {
  d <- draw_classes(9)
  z <- data.frame(own = as.numeric(d$y == "1"), age = rnorm(nrow(d$x)))
  expect_warning(quiet_path(d$x, d$y, adjust = z, nlambda = 5), "covariate 'own' separates",
                 class = "sparsels_warning_separation")
})

test_that("a missing value counts in every class, whether the class has its column or not", {
  set.seed(2)
  x <- matrix(rnorm(1800), 150, dimnames = list(NULL, letters[1:12]))
  link <- cbind(0, 2 * x[, 1], 2 * x[, 12]) + rnorm(450)
  fit <- l1_path(x, factor(max.col(link)), loss = "multinomial", lambda = 12)
  expect_true(any(coef(fit) == 0))
  new <- x[1:3, ]
  new[2, "a"] <- new[3, "l"] <- NA
  expected <- predict(fit, x[1:3, ], type = "link")
  expected[2:3, ] <- NA
  for (form in list(new, as.data.frame(new), Matrix::Matrix(new, sparse = TRUE))) {
    expect_equal(suppressWarnings(predict(fit, form, type = "link")), expected, ignore_attr = TRUE)
  }
  panel <- as_panel(fit)
  expect_equal(suppressWarnings(predict(panel, new, type = "link")), expected, ignore_attr = TRUE)
})
