# Three and more classes by the largest probability.

# classes in a row along one column, the others noise
in_a_row <- function(m, classes = 3L, columns = 6L, cycle = seq_len(classes)) {
  class <- rep_len(cycle, m)
  x <- matrix(rnorm(m * columns), m)
  x[, 2L] <- x[, 2L] + 3 * class
  list(x = x, y = factor(letters[class]))
}

# the targets of rows, and the loss of multinomial regression on the columns of z, in plain R
plain_targets <- function(class, w, classes) {
  counts <- vapply(seq_len(classes), function(k) sum(w[class == k]), 0)
  t(vapply(class, function(own) {
    target <- rep(1 / (counts[own] + 2) / (classes - 1), classes)
    replace(target, own, (counts[own] + 1) / (counts[own] + 2))
  }, numeric(classes)))
}

plain_multinomial <- function(z, target, w, b) {
  link <- cbind(1, z) %*% b
  p <- exp(link) / rowSums(exp(link))
  0.005 * sum(b[-1L, ]^2) - sum(w * target * log(p))
}

test_that("probabilities of several classes minimise the loss of multinomial regression", {
  set.seed(1)
  class <- sample(4L, 70L, TRUE)
  score <- matrix(rnorm(280L, sd = 0.6), 70L) + outer(class, 1:4, "==")
  score[, 4L] <- -rowSums(score[, 1:3])
  w <- runif(70L, 0.5, 2)
  w <- w / mean(w)
  p <- joint_map(score, class, w)(score)
  expect_equal(rowSums(p), rep(1, 70L))
  target <- plain_targets(class, w, 4L)
  away <- scale(score, colSums(w * score) / sum(w), FALSE)
  z <- away %*% associated_space(away, target, w)
  expect_identical(ncol(z), 3L)
  loss <- function(b) plain_multinomial(z, target, w, matrix(b, 4L))
  best <- optim(rep(0, 16L), loss, method = "BFGS", control = list(maxit = 2000L, reltol = 1e-15))
  link <- cbind(1, z) %*% matrix(best$par, 4L)
  expect_equal(p, exp(link) / rowSums(exp(link)), tolerance = 1e-4)
  # the loss of these probabilities is no higher, and a step to any side makes it higher
  b <- coef(lm(log(p) ~ z))
  b <- b - rowMeans(b)
  expect_lte(loss(b), best$value + 1e-9)
  for (at in seq_along(b)) {
    for (by in c(-1e-3, 1e-3)) expect_gt(loss(replace(b, at, b[at] + by)), loss(b))
  }
  # in another order of the rows
  order <- sample(70L)
  expect_equal(joint_map(score[order, ], class[order], w[order])(score), p, tolerance = 1e-9)
})

test_that("the probabilities of many classes do not depend on where their regression starts", {
  set.seed(8)
  class <- rep(1:15, length.out = 300L)
  score <- 2 * outer(class, 1:15, "==") - 1 + matrix(rnorm(4500L), 300L)
  w <- rep(1, 300L)
  far <- joint_map(score, class, w)
  some <- joint_map(score[1:270, ], class[1:270], w[1:270])
  near <- joint_map(score, class, w, attr(some, "form"))
  expect_equal(near(score), far(score), tolerance = 1e-9)
  expect_gt(max(abs(some(score) - far(score))), 1e-4)
  # the loss is level there
  target <- plain_targets(class, w, 15L)
  away <- scale(score, TRUE, FALSE)
  z <- cbind(1, away %*% associated_space(away, target, w))
  b <- qr.coef(qr(z), log(far(score)))
  slope <- crossprod(z, far(score) - target) +
    slope_penalty * (row(b) > 1) * (b - rowMeans(b))
  expect_lt(max(abs(slope)), 1e-8)
})

test_that("scores that go against the classes give the shares of the classes", {
  class <- rep(1:3, c(30L, 20L, 10L))
  score <- -outer(class, 1:3, "==")
  p <- joint_map(score, class, rep(1, 60L))(score[1:4, ])
  share <- colMeans(plain_targets(class, rep(1, 60L), 3L))
  expect_equal(p, matrix(share, 4L, 3L, byrow = TRUE), tolerance = 1e-9)
})

test_that("the shift of a model without a row does not tell the class of the row", {
  # scores on a line, and held-out scores away from it against the class
  set.seed(2)
  d <- in_a_row(120L)
  fit <- bare_rls(d$x[, 2L, drop = FALSE], d$y, k = 1, lambda = 1)
  class <- as.integer(d$y)
  target <- plain_targets(class, rep(1, 120L), 3L)
  away <- scale(fit$held_out, TRUE, FALSE)
  expect_identical(ncol(associated_space(away, target, rep(1, 120L))), 1L)
  new <- in_a_row(3000L)
  error <- mean(predict(fit, new$x[, 2L, drop = FALSE], type = "class") != new$y)
  expect_lt(error, 4 / 3 * pnorm(-1.5) + 0.02)
  expect_gt(held_out_rate(fit), error - 0.06)
  # other sizes have useful classes, too
  wide <- bare_rls(d$x, d$y, k = 4, lambda = 1)
  for (size in 1:4) expect_lt(mean(predict(wide, new$x, size, type = "class") != new$y), 0.2)
})

test_that("scores that separate the classes or do not vary have finite probabilities", {
  class <- rep(1:3, each = 8L)
  apart <- 2 * outer(class, 1:3, "==") - 1
  p <- joint_map(apart, class, rep(1, 24L))(apart)
  expect_true(all(is.finite(p)))
  expect_identical(max.col(p), class)
  flat <- joint_map(0 * apart, class, rep(1, 24L))(apart)
  expect_equal(flat, matrix(1 / 3, 24L, 3L))
})

test_that("a class between two others is not hidden", {
  set.seed(3)
  train <- in_a_row(150L)
  new <- in_a_row(900L)
  # the errors of the best rule are those beyond the two middles: 4/3 of the normal tail at 1.5
  best <- 4 / 3 * pnorm(-1.5)
  for (fit in list(greedy_rls(train$x, train$y), rls(train$x, train$y),
                   l1_path(train$x, train$y, folds = 5, size = "min"))) {
    score <- predict(fit, new$x, type = "link")
    expect_gt(mean(max.col(score) != as.integer(new$y)), 0.25)
    expect_lt(mean(predict(fit, new$x, type = "class") != new$y), best + 0.04)
  }
})

test_that("the flowers of three species are told apart as by linear discriminant analysis", {
  set.seed(4)
  x <- as.matrix(iris[1:4])
  cvd <- cross_validate(x, iris$Species, greedy_rls, outer = 5, size_folds = 5)
  expect_lt(cvd$estimate[["mean"]], 0.07)
  expect_lt(held_out_rate(rls(x, iris$Species)), 0.04)
})

test_that("the class is the class of the largest probability, times its class weight", {
  set.seed(5)
  d <- in_a_row(90L, cycle = c(1L, 2L, 2L, 3L))
  fit <- greedy_rls(d$x, d$y)
  p <- predict(fit, d$x, type = "prob")
  expect_identical(as.character(predict(fit, d$x, type = "class")), colnames(p)[max.col(p)])
  weighted <- greedy_rls(d$x, d$y, class_weights = c(a = 1, b = 1, c = 6))
  p <- predict(weighted, d$x, type = "prob")
  of_weights <- p * rep(c(1, 1, 6), each = 90L)
  expect_identical(as.character(predict(weighted, d$x, type = "class")),
                   colnames(p)[max.col(of_weights)])
  expect_false(identical(max.col(p), max.col(of_weights)))
})

test_that("errors, tables and classes of a fit agree", {
  set.seed(6)
  d <- in_a_row(80L, 4L)
  fit <- greedy_rls(d$x, d$y)
  own <- augment(fit)
  expect_identical(as.character(own$.pred_class),
                   levels(d$y)[max.col(own[paste0(".pred_", levels(d$y))])])
  rate <- mean(own$.pred_class != d$y)
  row <- fit$path[fit$coefficients[[fit$size + 1L]]$step + 1L, ]
  expect_equal(row$cv_error, rate)
  expect_equal(held_out_rate(fit), rate)
  table <- capture.output(print(fit))
  expect_match(table, paste("cross-validated error rate", format(rate, digits = 3)), all = FALSE)
  expect_true(verify(fit, d$x, claims = 60)$ok)
  # every fold by hand: slopes from the held-out scores of the other folds
  ids <- fit$size_folds$ids[, 1L]
  for (fold in 1:2) {
    others <- which(ids != fold)
    map <- joint_map(fit$held_out[others, ], as.integer(d$y)[others], rep(1, length(others)))
    expect_equal(unname(as.matrix(own[ids == fold, paste0(".pred_", levels(d$y))])),
                 map(fit$held_out[ids == fold, ]))
  }
})

test_that("cross-validation scores the classes that predict() gives", {
  set.seed(7)
  d <- in_a_row(90L)
  folds <- make_folds(90, 3)
  cvd <- cross_validate(d$x, d$y, rls, outer = folds, measure = c("error", "balanced"))
  for (fold in 1:3) {
    out <- folds$ids[, 1L] == fold
    fit <- rls(d$x[!out, ], d$y[!out])
    predicted <- predict(fit, d$x[out, ], type = "class")
    expect_equal(cvd$folds$test[fold], mean(predicted != d$y[out]))
    expect_identical(cvd$held_out_class[out], as.integer(predicted))
  }
  expect_equal(cvd$estimate[["mean"]], mean(cvd$held_out_class != as.integer(d$y)))
  expect_equal(cvd$estimates$mean[2L],
               mean(tapply(cvd$held_out_class != as.integer(d$y), d$y, mean)), tolerance = 0.05)
})

test_that("models without columns have the class of the largest score", {
  set.seed(8)
  d <- in_a_row(100L, cycle = c(1:3, 3L))
  fit <- greedy_rls(d$x, d$y, k = 2, size = 2)
  expect_identical(unique(as.character(predict(fit, d$x, size = 0, type = "class"))), "c")
  expect_equal(fit$path$cv_error[1L], 0.5)
  cvd <- cross_validate(d$x, d$y, greedy_rls, k = 2, size = 1, outer = 3)
  expect_equal(cvd$curves$test[1L], 0.5)
  noise <- greedy_rls(matrix(rnorm(60 * 20), 60), factor(rep(c("a", "b", "b", "c"), 15)))
  expect_identical(noise$size, 0L)
  expect_identical(unique(as.character(predict(noise, matrix(0, 2, 20), type = "class"))), "b")
})

test_that("with the logistic loss the largest score has the largest probability", {
  set.seed(9)
  d <- in_a_row(90L)
  fit <- l1_path(d$x, d$y, loss = "logistic", folds = 5)
  score <- predict(fit, d$x, type = "link")
  p <- predict(fit, d$x, type = "prob")
  class <- as.integer(predict(fit, d$x, type = "class"))
  expect_identical(class, unname(max.col(score)))
  expect_identical(class, unname(max.col(p)))
})

test_that("classes without held-out scores are by the largest score", {
  set.seed(10)
  d <- in_a_row(60L)
  fit <- l1_path(d$x, d$y, nlambda = 5)
  expect_identical(as.integer(predict(fit, d$x, type = "class")),
                   unname(max.col(predict(fit, d$x, type = "link"))))
})

test_that("tables that are printed have no error rate of other classes than the predicted ones", {
  set.seed(12)
  d <- in_a_row(90L)
  printed <- function(fit) {
    capture.output(print(fit), print(summary(fit)))
  }
  for (fit in list(bare_rls(d$x, d$y, k = 2, lambda = 1), rls(d$x, d$y),
                   l1_path(d$x, d$y, folds = 5, nlambda = 5),
                   fs_lssvm(d$x, d$y, kernel = kernel_linear(), gamma = 1, prototypes = 5))) {
    expect_gt(max(abs(fit$path$error - held_out_rate(fit))), 0.05)
    expect_false(any(grepl("^[^=]*criterion[^=]* error( |$)", printed(fit))))
  }
})

test_that("print() has both error rates where the search counted errors by the largest score", {
  set.seed(11)
  d <- in_a_row(90L)
  fit <- bare_rls(d$x, d$y, k = 2, lambda = 1, criterion = "error")
  rate <- format(held_out_rate(fit), digits = 3)
  expect_output(print(fit), "error rate of the largest score 0.[0-9]+")
  expect_output(print(fit), paste("error rate", rate), fixed = TRUE)
  repeated <- greedy_rls(d$x, d$y, k = 2, lambda = 1, size = 2, criterion = "error")
  row <- chosen_row(repeated)
  expect_false(isTRUE(all.equal(row$cv, row$cv_error)))
  expect_equal(row$cv_error, held_out_rate(repeated))
  expect_output(print(repeated), paste("cross-validated error rate", shown(row$cv_error)))
})
