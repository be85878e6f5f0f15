# Probabilities calibrated on held-out scores.

set.seed(1)
m <- 80
x <- matrix(rnorm(m * 10), m, dimnames = list(NULL, paste0("g", 1:10)))
class <- factor(ifelse(x[, 1] - x[, 4] + rnorm(m) > 0.8, "ill", "well"), c("well", "ill"))
kind <- cut(x[, 2] + rnorm(m) / 2, c(-Inf, -0.5, 0.6, Inf), c("c", "a", "b"))
cases <- rep(c(1, 2, 0.5, 0), m / 4)
new <- matrix(rnorm(50), 5, dimnames = list(NULL, colnames(x)))

# Logistic regression with Platt's targets by glm(): the probabilities of `score`.
oracle_platt <- function(held_out, positive, weights, score = held_out) {
  used <- weights > 0
  d <- data.frame(f = held_out, w = weights / mean(weights[used]))[used, ]
  n <- tapply(d$w, factor(positive[used], c(FALSE, TRUE)), sum)
  d$target <- ifelse(positive[used], (n[[2]] + 1) / (n[[2]] + 2), 1 / (n[[1]] + 2))
  fit <- glm(target ~ f, quasibinomial, d, weights = w,
             control = list(epsilon = 1e-16, maxit = 200))
  unname(predict(fit, data.frame(f = score), type = "response"))
}

test_that("Platt's calibration is that of glm(), with weights", {
  for (w in list(rep(1, m), cases, 100 * cases)) {
    fit <- bare_rls(x, class, weights = w, k = 3)
    p <- predict(fit, new, type = "prob")
    expect_identical(dimnames(p), list(NULL, c("well", "ill")))
    expect_equal(unname(p[, "ill"]),
                 oracle_platt(fit$held_out[, 1], class == "ill", w, predict(fit, new)),
                 tolerance = 1e-8)
    expect_equal(rowSums(p), rep(1, 5))
  }
  expect_equal(predict(bare_rls(x, class, k = 3, lambda = 1), new, type = "prob"),
               predict(bare_rls(x, class, k = 3, lambda = 50, weights = rep(50, m)), new,
                       type = "prob"))
})

test_that("Newton's method finds the minimum where classes are separated, few or far off", {
  for (draw in 1:20) {
    n <- sample(c(5, 30, 200), 1)
    score <- rnorm(n) * 10^runif(1, -6, 6) + 10^runif(1, -3, 3)
    positive <- rank(score + draw / 10 * rnorm(n) * sd(score)) > n * runif(1, 0.1, 0.9)
    weights <- runif(n)
    p <- platt_map(score, positive, weights / mean(weights))(score)
    expected <- suppressWarnings(oracle_platt(as.vector(scale(score)), positive, weights))
    rising <- isTRUE(suppressWarnings(cor(score, expected)) > 0)
    if (rising) expect_equal(p, expected, tolerance = 1e-8) else expect_equal(sd(p), 0)
  }
})

test_that("isotonic calibration is that of isoreg(), between scores on lines", {
  fit <- bare_rls(x, class, k = 3)
  score <- fit$held_out[, 1]
  p <- calibrated(fit, "isotonic")(fit$held_out)[, 2]
  expect_equal(p[order(score)], isoreg(score, class == "ill")$yf)
  tied <- round(score, 1)
  expect_equal(isotonic_map(tied, class == "ill", rep(1, m))(tied)[order(tied)],
               isoreg(tied, class == "ill")$yf)
  middle <- mean(sort(score)[40:41])
  map <- isotonic_map(score, class == "ill", rep(1, m))
  expect_equal(map(middle), mean(map(sort(score)[40:41])))
  expect_equal(map(c(-99, 99, NA)), c(range(p), NA))

  # whole weights are rows that come several times
  w <- rep(c(1, 3), m / 2)
  again <- rep(seq_len(m), w)
  expect_equal(isotonic_map(score, class == "ill", w)(score),
               isoreg(score[again], class[again] == "ill")$yf[match(score, sort(score[again]))])
  # the minimum of the weighted sum of squares, by the bounds of all blocks
  y <- rbinom(12, 1, 0.5)
  v <- runif(12)
  block <- function(i, j) weighted.mean(y[i:j], v[i:j])
  expect_equal(pool_violators(y, v), sapply(1:12, function(k) {
    max(sapply(1:k, function(i) min(sapply(k:12, function(j) block(i, j)))))
  }))
})

test_that("scores are those of training again without each row", {
  fit <- rls(x, class, lambda = 3, standardize = FALSE)
  again <- sapply(seq_len(m), function(i) {
    predict(rls(x[-i, ], class[-i], lambda = 3, standardize = FALSE), x[i, , drop = FALSE])
  })
  expect_equal(fit$held_out[, 1], unname(again))
  expect_equal(unname(predict(fit, new, type = "prob")[, 2]),
               oracle_platt(again, class == "ill", rep(1, m), predict(fit, new)),
               tolerance = 1e-8)
})

test_that("every classifier has probabilities that sum to 1, classes in the order of the levels", {
  gaussian <- kernel_gaussian(0.1)
  fits <- list(
    greedy_rls(x, kind, k = 4), rls(x, kind), kernel_rls(x, kind, kernel = gaussian, basis = 20),
    lssvm(x, kind, kernel = gaussian, gamma = 1), omp(x, kind, k = 3),
    fs_lssvm(x, kind, kernel = gaussian, gamma = 1), scdp(x, kind, k = 3),
    forward_regression(x, kind, k = 3), random_selection(x, kind, k = 3),
    l1_path(x, class, folds = 5, nlambda = 20),
    l1_path(x, class, loss = "hinge", folds = 5, nlambda = 20),
    l1_path(x, class, loss = "logistic", nlambda = 20),
    l1_path(x, kind, loss = "logistic", nlambda = 20), l1_path(x, kind, folds = 5, nlambda = 20)
  )
  for (fit in Filter(function(fit) inherits(fit, "sparsels_fit"), fits)) {
    levels <- fit$problem$coding$levels
    for (calibration in list(NULL, if (is.null(fit$folds)) "none" else "isotonic")) {
      p <- predict(fit, new, type = "prob", calibration = calibration)
      expect_identical(colnames(p), levels)
      expect_equal(rowSums(p), rep(1, 5))
      expect_true(all(p >= 0 & p <= 1))
    }
    rest <- setdiff(names(augment(fit)), names(observed(fit$problem)))
    expect_identical(utils::tail(rest, length(levels) + 1L),
                     c(".pred_class", paste0(".pred_", levels)))
  }
})

test_that("several classes are calibrated together, or one by one and divided by their sum", {
  kind <- factor(c("c", "a", "b")[max.col(x[, 1:3] + rnorm(3 * m) / 2)], c("c", "a", "b"))
  fit <- rls(x, kind, lambda = 3)
  expect_equal(unname(predict(fit, new, type = "prob")),
               joint_map(fit$held_out, as.integer(kind), rep(1, m))(unname(predict(fit, new))))
  each <- sapply(1:3, function(k) {
    isotonic_map(fit$held_out[, k], as.integer(kind) == k, rep(1, m))(predict(fit, new)[, k])
  })
  expect_equal(unname(predict(fit, new, type = "prob", calibration = "isotonic")),
               as_shares(each))
  expect_equal(as_shares(rbind(c(1, 3), 0, NA)), rbind(c(0.25, 0.75), 0.5, NA))
})

test_that("held-out scores that go against the classes give their shares", {
  set.seed(3)
  noise <- factor(rep(c("a", "b"), c(30, 50)))
  fit <- greedy_rls(x, noise, size = 0)
  map <- platt_map(-as.numeric(noise), noise == "b", rep(1, m))
  # half a row of each class is added by the targets
  share <- (50 * 51 / 52 + 30 / 32) / 80
  expect_equal(map(c(-1, 0, 1)), rep(share, 3))
  expect_equal(isotonic_map(-as.numeric(noise), noise == "b", rep(1, m))(1), 50 / 80)
  expect_equal(unname(predict(fit, new, type = "prob")[, 2]), rep(share, 5))
})

test_that("class weights do not move the shares that probabilities have", {
  heavy <- bare_rls(x, class, class_weights = c(well = 1, ill = 20), k = 3, lambda = 1)
  p <- predict(heavy, new, type = "prob")[, 2]
  expect_equal(unname(p),
               oracle_platt(heavy$held_out[, 1], class == "ill", rep(1, m), predict(heavy, new)),
               tolerance = 1e-8)
  expect_equal(mean(augment(heavy)$.pred_ill), mean(class == "ill"), tolerance = 0.05)
  logistic <- l1_path(x, class, loss = "logistic", folds = 5, class_weights = "balanced")
  expect_equal(predict(logistic, new, type = "prob"),
               predict(logistic, new, type = "prob", calibration = "platt"))
})

test_that("the logistic loss has probabilities of its own, of every lambda", {
  fit <- l1_path(x, class, loss = "logistic", nlambda = 5)
  p <- predict(fit, new, type = "prob", lambda = fit$path$lambda[3:4])
  expect_identical(dim(p), c(5L, 2L, 2L))
  expect_equal(unname(p[, 2, ]), unname(predict(fit, new, lambda = fit$path$lambda[3:4])))
})

test_that("missing values give NA, names of rows stay", {
  fit <- rls(x, kind)
  rownames(new) <- letters[1:5]
  new[2, 3] <- NA
  p <- suppressWarnings(predict(fit, new, type = "prob"))
  expect_identical(rownames(p), letters[1:5])
  expect_identical(which(is.na(p[, 1])), c(b = 2L))
})

test_that("the Brier score and the log loss are those worked out by hand", {
  pb <- as_problem(x, kind, weights = cases, class_weights = "balanced")
  p <- as_shares(matrix(runif(3 * m), m))
  p[1, ] <- replace(numeric(3), 3 - as.integer(kind[1]) %% 3, 1)
  sum_of <- function(problem, name) {
    loss <- function(problem, p) probability_loss(problem, name, p)
    with_row_loss(list(), loss, case_weights)$sum(problem, p)
  }
  brier <- sum_of(pb, "brier")
  truth <- model.matrix(~ kind - 1)
  expect_equal(brier, c(sum(cases * (p - truth)^2) / 2, sum(cases)))
  own <- rowSums(p * truth)
  expect_equal(sum_of(pb, "logloss"),
               c(-sum(cases * log(pmax(own, .Machine$double.eps))), sum(cases)))
  skip_if_not_installed("yardstick")
  pb <- as_problem(x, kind)
  colnames(p) <- levels(kind)
  expect_equal(sum_of(pb, "brier")[1] / m,
               yardstick::brier_class_vec(kind, p))
  expect_equal(sum_of(pb, "logloss")[1] / m,
               yardstick::mn_log_loss_vec(kind, p))
})

test_that("cross_validate() calibrates afresh in each training part", {
  pb <- as_problem(x, kind, weights = cases + 0.5)
  folds <- make_folds(pb, 4)
  cv <- cross_validate(pb, bare_rls, k = 3, lambda = 1, outer = folds,
                       measure = c("logloss", "brier"))
  sums <- sapply(1:4, function(fold) {
    rows <- which(folds$ids[, 1] == fold)
    fit <- bare_rls(pb[-rows, ], k = 3, lambda = 1)
    p <- predict(fit, x[rows, ], type = "prob")
    own <- cbind(seq_along(rows), as.integer(kind)[rows])
    w <- (cases + 0.5)
    share <- tapply(w[-rows], kind[-rows], sum) / sum(w[-rows])
    c(sum(w[rows] * -log(p[own])), sum(w[rows] * rowSums((p - replace(0 * p, own, 1))^2) / 2),
      sum(w[rows] * -log(share[kind[rows]])), sum(w[rows]))
  })
  expect_equal(cv$estimates$mean, rowSums(sums)[1:2] / sum(sums[4, ]))
  expect_equal(cv$curves$majority[1], sum(sums[3, ]) / sum(sums[4, ]))
  # as a method of the result, probabilities are calibrated on the outer folds
  two <- cross_validate(x, class, bare_rls, k = 2, outer = 4, baselines = NULL)
  expect_equal(unname(predict(two, new, type = "prob")[, 2]),
               oracle_platt(two$held_out[, 1], class == "ill", rep(1, m), predict(two, new)),
               tolerance = 1e-8)
  expect_equal(augment(two)$.pred_ill,
               oracle_platt(two$held_out[, 1], class == "ill", rep(1, m)), tolerance = 1e-8)
})

test_that("other comparisons know the measures", {
  compared <- compare_methods(x, class, methods = list(a = bare_rls, b = rls), k = 2, splits = 3,
                              measure = "brier")
  expect_true(all(compared$scores >= 0 & compared$scores <= 1))
  curve <- learning_curve(x, class, bare_rls, k = 2, repeats = 2, measure = "logloss")
  expect_true(all(curve$errors > 0))
  expect_equal(curve$table$null[1], 0.6, tolerance = 0.2)
})

test_that("what cannot be answered is refused", {
  registerS3method("predict", "one_guess", function(object, newdata, ...) rep(0.3, nrow(newdata)),
                   envir = asNamespace("stats"))
  fit <- bare_rls(x, class, k = 3)
  numbers <- rls(x, x[, 1])
  expect_snapshot({
    refusal(predict(numbers, new, type = "prob"))
    refusal(predict(fit, new, type = "prob", size = 1))
    refusal(predict(rls(x, class), new, type = "prob", lambda = c(1, 2)))
    refusal(predict(fit, new, type = "prob", calibration = "sigmoid"))
    refusal(predict(fit, new, type = "prob", calibration = "none"))
    refusal(predict(fit, new, calibration = "platt"))
    refusal(predict(l1_path(x, class), new, type = "prob"))
    refusal(predict(l1_size(x, class, size = 3), new, type = "prob"))
    refusal(cross_validate(x, x[, 1], rls, measure = "brier"))
    refusal(cross_validate(x, class, function(pb) structure(1, class = "one_guess"),
                           measure = "logloss"))
    refusal(cross_validate(x, class, l1_size, size = 3, measure = "logloss"))
  })
})

test_that("print() has the classes of held-out rows", {
  two <- bare_rls(x, class, k = 3, lambda = 1)
  expect_output(print(summary(two)), "class +well ill\n +well +[0-9]+ +[0-9]+\n +ill")
  class <- rep(1:9, 2)
  tall <- list(coding = list(task = "multiclass", levels = paste0("kind", 1:9)),
               rows = list(y = 2 * diag(9)[class, ] - 1, weight = rep(1, 18)))
  expect_output(print_classes(tall, class), "held-out predictions are right in every row")
  class[c(1, 10)] <- 2:3
  expect_output(print_classes(tall, class), "often: kind1 taken for kind2 (1), kind1", fixed = TRUE)
})

test_that("rows of weight 0 are no rows held out", {
  # without folds nothing is held out, and the fit predicts the rows of weight 0
  for (y in list(class, kind)) {
    fit <- l1_path(x, y, weights = cases, loss = "squared", nlambda = 5)
    plain <- l1_path(x[cases > 0, ], y[cases > 0], weights = cases[cases > 0], loss = "squared",
                     lambda = fit$path$lambda)
    expect_equal(predict(fit, new, type = "class"), predict(plain, new, type = "class"))
    expect_output(print(fit), "nothing is held out")
    expect_true(all(is.na(augment(fit)$.pred_class)))
    expect_null(as_panel(fit)$probability)
    expect_error(predict(fit, new, type = "prob"), "give `folds`", class = "sparsels_error_input")
    expect_error(choose_threshold(fit), class = "sparsels_error_input")
  }
})
