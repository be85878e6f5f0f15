# Of several classes, each against the rest, and of several responses: against a path of each.
# Classes with the logistic loss have one model together, see test-l1-softmax.R.

apart <- c("squared", "hinge")

class_data <- function(m = 60, n = 15, sparse = FALSE) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", 1:n)))
  classes <- factor(c("a", "b", "c")[max.col(x[, 1:3] + matrix(rnorm(3 * m), m) / 2)])
  if (sparse) x <- Matrix::Matrix(x * (abs(x) > 0.7), sparse = TRUE)
  list(x = x, y = classes, w = runif(m, 0.5, 2), z = cbind(age = rnorm(m)))
}

# coefficients of all columns and the intercept for one response of a fit
full_coefficients <- function(fit, lambda, response = NULL) {
  given <- coef(fit, lambda = lambda)
  if (!is.null(response)) given <- given[, response]
  all <- stats::setNames(numeric(fit_columns(fit) + 2L),
                         c("(Intercept)", "age", fit$problem$columns$name))
  replace(all, names(given), given)
}

fit_columns <- function(fit) length(fit$problem$columns$name)

# the class with the largest score, of those equal but for rounding the first
largest_class <- function(scores, levels) {
  factor(levels[apply(scores, 1, function(row) which(row >= max(row) - 1e-10)[1])], levels)
}

test_that("each class has its path against the rest, on the same lambdas", {
  set.seed(21)
  for (loss in apart) {
    for (sparse in c(FALSE, TRUE)) {
      d <- class_data(sparse = sparse)
      alpha <- if (loss == "hinge") 1 else 0.7
      fit <- l1_path(d$x, d$y, loss = loss, alpha = alpha, nlambda = 5, weights = d$w,
                     adjust = d$z, tolerance = 1e-11)
      own <- lapply(levels(d$y), function(class) {
        l1_path(d$x, factor(ifelse(d$y == class, "yes", "no"), c("no", "yes")), loss = loss,
                alpha = alpha, lambda = fit$path$lambda, weights = d$w, adjust = d$z,
                tolerance = 1e-11)
      })
      sums <- function(name) Reduce(`+`, lapply(own, function(one) one$path[[name]]))
      expect_equal(fit$path$objective, sums("objective"), tolerance = 1e-12)
      expect_equal(fit$path$gap, sums("gap"), tolerance = 1e-12)
      expect_equal(fit$lambda_max, max(vapply(own, `[[`, 0, "lambda_max")))
      expect_equal(fit$null_objective, sum(vapply(own, `[[`, 0, "null_objective")))
      for (row in c(2, 5)) {
        lambda <- fit$path$lambda[row]
        used <- unique(unlist(lapply(own, function(one) one$solutions[[row]]$features)))
        expect_setequal(fit$solutions[[row]]$features, used)
        for (l in 1:3) {
          expect_identical(full_coefficients(fit, lambda, levels(d$y)[l]),
                           full_coefficients(own[[l]], lambda))
        }
        scores <- vapply(own, predict, numeric(60), d$x, type = "link", lambda = lambda,
                         adjust = d$z)
        expect_equal(unname(predict(fit, d$x, type = "link", lambda = lambda, adjust = d$z)),
                     unname(scores))
        expect_identical(unname(predict(fit, d$x, type = "class", lambda = lambda, adjust = d$z)),
                         largest_class(scores, levels(d$y)))
      }
    }
  }
})

test_that("held-out errors of classes are those of retraining, and the claims of a fit hold", {
  set.seed(22)
  for (loss in apart) {
    d <- class_data()
    fit <- l1_path(d$x, d$y, loss = loss, folds = 3, nlambda = 6, weights = d$w, tolerance = 1e-11)
    pb <- as_problem(d$x, d$y, weights = d$w)
    scores <- array(0, c(60, 3, 6))
    for (rows in split(1:60, fit$folds$ids[, 1])) {
      train <- l1_path(without_rows(pb, rows), loss = loss, lambda = fit$path$lambda,
                       tolerance = 1e-11)
      for (row in 1:6) {
        scores[rows, , row] <- predict(train, d$x[rows, ], type = "link",
                                       lambda = fit$path$lambda[row])
      }
    }
    for (row in 1:6) {
      margin <- pb$rows$y * scores[, , row]
      rows_loss <- rowMeans(switch(loss, squared = (pb$rows$y - scores[, , row])^2,
                                   hinge = pmax(1 - margin, 0)))
      expect_equal(fit$path$criterion[row], weighted.mean(rows_loss, d$w), tolerance = 1e-7)
      wrong <- largest_class(scores[, , row], levels(d$y)) != d$y
      expect_equal(fit$path$error[row], weighted.mean(wrong, d$w))
    }
    row <- which(fit$path$lambda == fit$lambda)
    expect_identical(row, which(is_smallest(fit$path$criterion))[1])
    expect_equal(unname(fit$held_out), scores[, , row], tolerance = 1e-6)
    expect_true(verify(fit, d$x, d$y, weights = d$w, claims = Inf)$ok)
  }
})

test_that("several responses are standardised, or not, and have errors each", {
  set.seed(23)
  x <- matrix(rnorm(50 * 12), 50)
  y <- cbind(small = x[, 1] + rnorm(50), large = 1e3 * (x[, 2] - x[, 3] + rnorm(50)))
  w <- runif(50, 0.5, 2)
  spread <- sqrt(diag(cov.wt(y, w / sum(w), method = "ML")$cov))
  for (standardised in c(TRUE, FALSE)) {
    scale <- if (standardised) spread else c(1, 1)
    fit <- l1_path(x, y, nlambda = 8, folds = 4, weights = w, alpha = 0.8,
                   standardize_response = standardised)
    expect_equal(fit$problem$coding$response_scale, if (standardised) spread, ignore_attr = TRUE)
    own <- lapply(1:2, function(l) {
      l1_path(x, y[, l] / scale[l], lambda = fit$path$lambda, folds = fit$folds, weights = w,
              alpha = 0.8)
    })
    mean_of <- function(name) (own[[1]]$path[[name]] + own[[2]]$path[[name]]) / 2
    expect_equal(fit$path$objective, 2 * mean_of("objective"))
    expect_equal(fit$path$criterion, mean_of("squared"))
    expect_equal(fit$path$squared, mean_of("squared"))
    if (standardised) expect_equal(fit$path$dev_ratio, mean_of("dev_ratio"))
    row <- which(fit$path$lambda == fit$lambda)
    for (l in 1:2) {
      theirs <- coef(own[[l]], lambda = fit$lambda) * scale[l]
      ours <- coef(fit, lambda = fit$lambda)[, l]
      expect_equal(ours[ours != 0], theirs[names(ours[ours != 0])])
    }
    squared <- vapply(1:2, function(l) own[[l]]$path$squared[row], 0) * scale^2
    held_out <- kept_values(fit, "held_out")
    expect_equal(response_r_squared(fit$problem, held_out), 1 - squared / spread^2,
                 ignore_attr = TRUE)
    expect_equal(deviance(fit), sum(w * ((y - fitted(fit)) / rep(scale, each = 50))^2))
    expect_true(verify(fit, x, y, weights = w, claims = Inf)$ok)
    expect_output(print(fit), "held-out R-squared of the responses: mean")
  }
})

test_that("the methods of a fit work for several classes and responses", {
  set.seed(24)
  d <- class_data(40, 10)
  fits <- list(l1_path(d$x, d$y, loss = "logistic", nlambda = 6, folds = 3, size = "1se"),
               l1_path(d$x, d$y, loss = "hinge", nlambda = 4, screen = "safe2"),
               l1_path(d$x, cbind(u = d$x[, 1], v = rnorm(40)), nlambda = 5, k = 6),
               suppressWarnings(l1_size(d$x, d$y, size = 3, loss = "logistic")))
  for (fit in fits) {
    expect_output(print(fit), "l1_")
    expect_identical(nrow(glance(fit)), 1L)
    expect_true(all(c("response", "term", "estimate") %in% names(tidy(fit))))
    drawn <- plot(fit, what = "coefficients")
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      drawing <- ggplot2::ggplot_build(ggplot2::autoplot(fit, what = "coefficients"))
      expect_true(nrow(drawn) %in% vapply(drawing$data, nrow, 0L))
    }
    count <- length(unique(unlist(lapply(fit$solutions, `[[`, "features"))))
    expect_identical(nrow(drawn), nrow(fit$path) * count * ncol(fit$problem$rows$y))
    expect_identical(dim(fitted(fit)), dim(fit$problem$rows$y))
    expect_silent(check_sealed(fit))
  }
  expect_lte(max(fits[[3]]$path$size), 6)
  result <- cross_validate(d$x, d$y, l1_path, loss = "logistic", nlambda = 4, folds = 3, outer = 2)
  expect_s3_class(result, "cv_result")
  test <- permutation_test(d$x, d$y, l1_path, nlambda = 3, folds = 3, permutations = 3)
  expect_true(test$p.value >= 0.25 && test$p.value <= 1)
  expect_identical(l1_path(d$x, d$y, loss = "logistic", nlambda = 6, threads = 2)$path,
                   l1_path(d$x, d$y, loss = "logistic", nlambda = 6)$path)
})
