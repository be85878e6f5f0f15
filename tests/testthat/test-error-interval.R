# parts as cross_validate() has them
parts_of <- function(ids, count = max(ids)) {
  rows <- unname(split(seq_along(ids), ids))
  list2DF(list(repetition = rep(1L, length(rows)), fold = seq_along(rows), rows = rows,
               trained = lapply(rows, function(one) setdiff(seq_along(ids), one)),
               layer = rep(1L, length(rows)), count = rep(count, length(rows))))
}

test_that("standard errors and intervals from losses written down", {
  loss <- c(0.2, 1.1, 0.4, 0.9, 2.5, 0.3, 0.7, 1.6, 0.1, 0.8)
  parts <- parts_of(rep(1:5, each = 2))
  shares <- lapply(parts$rows, function(rows) cbind(loss[rows], 1))
  by <- function(inner, ...) {
    found <- held_out_se(shares, lapply(shares, colSums), inner, parts, 1:10, rep(1, 10), ...)
    c(found, list(ends = interval_of(list(name = "squared"), mean(loss), found, 0.95)))
  }
  stable <- by(c(0.91, 0.88, 0.95, 0.72, 0.9))
  expect_equal(stable$row_se, 0.2324746103, tolerance = 1e-9)
  expect_equal(stable$jackknife_se, 0.1586946754, tolerance = 1e-9)
  ends_of <- function(row, jackknife) {
    pmax(mean(loss) + c(-1, 1) * qt(0.975, 9) * sqrt(row^2 + jackknife^2 / 2), 0)
  }
  expect_equal(stable$ends, ends_of(0.2324746103, 0.1586946754), tolerance = 1e-9)
  unstable <- by(c(2.1, 0.5, 0.9, 0.2, 1.4))
  expect_equal(unstable$jackknife_se, 1.3469966592, tolerance = 1e-9)
  expect_equal(unstable$ends, ends_of(0.2324746103, 1.3469966592), tolerance = 1e-9)
  pairs <- by(c(2.1, 0.5, 0.9, 0.2, 1.4), measured = "pairs")
  expect_equal(pairs$se, 1.3469966592, tolerance = 1e-9)
  corrected <- by(NULL)
  expect_identical(corrected$measured, "rows")
  expect_equal(corrected$se, 0.2666458325, tolerance = 1e-9)
  expect_equal(corrected$ends, pmax(mean(loss) + c(-1, 1) * qt(0.975, 4) * corrected$se, 0))
  expect_equal(interval_of(list(name = "error"), 0.2, list(se = 0.06, units = 60, df = 59), 0.95),
               c(0.1071591666, 0.3424273660), tolerance = 1e-9)
  wide <- list(se = 1, units = 60, df = 59)
  for (name in c("squared", "deviance")) {
    expect_identical(interval_of(list(name = name), 0.2, wide, 0.95)[1], 0)
  }
  expect_lt(interval_of(list(name = "difference"), 0.2, wide, 0.95)[1], 0)
  # losses without any difference
  expect_identical(interval_of(list(name = "squared"), 0.3, replace(wide, "se", 0), 0.95),
                   c(NA_real_, NA_real_))
  # groups of rows count as units, case weights by their effective number
  unit <- rep(1:5, each = 2)
  grouped <- held_out_se(shares, lapply(shares, colSums), NULL, parts, unit, rep(1, 10))
  expect_equal(grouped$row_se, sd(tapply(loss, unit, mean)) / sqrt(5))
  expect_equal(effective_units(1:4, c(1, 2, 3, 0)), 36 / 14)
  expect_equal(effective_units(c(1, 1, 1, 2), rep(2, 4)), 2)
})

test_that("another partition does not narrow the interval", {
  set.seed(1)
  loss <- rexp(12)
  parts <- parts_of(rep(1:4, 3))
  shares <- lapply(parts$rows, function(rows) cbind(loss[rows], 1))
  once <- held_out_se(shares, lapply(shares, colSums), 1:4, parts, 1:12, rep(1, 12))
  again <- parts
  again$repetition <- 2L
  twice <- held_out_se(c(shares, shares), lapply(c(shares, shares), colSums), c(1:4, 1:4),
                       rbind(parts, again), 1:12, rep(1, 12))
  expect_equal(twice[1:5], once[1:5])
})

test_that("shares of pairs add up to the pairs, and their standard error is the one of DeLong", {
  set.seed(2)
  m <- 24
  x <- matrix(rnorm(m * 3), m)
  w <- sample(c(0, 1, 2.5), m, TRUE)
  score <- matrix(round(rnorm(m), 1))
  two <- as_problem(x, factor(rep(1:2, 12)), weights = w)
  auc <- as_measure("auc", two)
  shares <- row_shares(two, auc, score)
  expect_equal(colSums(shares), fold_sum(two, auc, two$rows$y - score))
  plain <- as_problem(x, factor(rep(1:2, 12)))
  shares <- row_shares(plain, auc, score)
  positive <- plain$rows$y[, 1] > 0
  right <- outer(score[positive], score[!positive], function(a, b) (a > b) + (a == b) / 2)
  area <- mean(right)
  delong <- sqrt(sum((rowMeans(right) - area)^2) / 144 + sum((colMeans(right) - area)^2) / 144)
  expect_equal(unit_se(shares, seq_len(m), TRUE), delong * sqrt(m / (m - 1)))

  numbers <- as_problem(x, round(rnorm(m), 1), weights = w)
  concordance <- as_measure("concordance", numbers)
  expect_equal(colSums(row_shares(numbers, concordance, score)),
               fold_sum(numbers, concordance, numbers$rows$y - score))
  three <- as_problem(x, factor(rep(1:3, 8)), weights = w)
  scores <- matrix(rnorm(m * 3), m)
  expect_equal(unname(colSums(row_shares(three, as_measure("auc", three), scores))),
               class_pairs(three, scores))
  skip_if_not_installed("survival")
  times <- as_problem(x, survival::Surv(sample(9, m, TRUE), rep(c(1, 1, 0), 8)), weights = w)
  expect_equal(colSums(row_shares(times, as_measure("concordance", times), score)),
               fold_sum(times, as_measure("concordance", times), times$rows$y - score))
  queries <- as_problem(x, rep(0:3, 6), within = rep(1:6, each = 4))
  for (name in c("concordance", "ndcg", "squared")) {
    measure <- as_measure(name, queries)
    expect_equal(colSums(row_shares(queries, measure, score)),
                 fold_sum(queries, measure, queries$rows$y - score))
  }
})

test_that("drawn outer folds are the inner folds, and their choices give the interval", {
  set.seed(3)
  m <- 36
  x <- matrix(rnorm(m * 12), m)
  y <- x[, 2] - x[, 5] / 2 + rnorm(m)
  pb <- as_problem(x, y)
  folds <- make_folds(pb, 6)
  id <- folds$ids[, 1]
  cvd <- cross_validate(pb, greedy_rls, k = 6, outer = folds, measure = c("squared", "absolute"))
  given <- cross_validate(pb, greedy_rls, k = 6, outer = id, size_folds = id,
                          measure = c("squared", "absolute"))
  same <- c("estimates", "held_out", "interval")
  expect_equal(cvd[same], given[same])
  expect_equal(sort(cvd$folds$test), sort(given$folds$test))
  # the fit on all rows is the fit of the method
  expect_equal(coef(cvd), coef(greedy_rls(pb, k = 6)))

  loss <- constant <- numeric(m)
  theta <- theta_absolute <- theta_null <- chosen_apart <- numeric(6)
  for (o in 1:6) {
    out <- id == o
    fit <- greedy_rls(x[!out, ], y[!out], k = 6, size_folds = id[!out])
    theta[o] <- mean((y[!out] - fit$held_out)^2)
    chosen_apart[o] <- fit$estimate[["mean"]]
    theta_absolute[o] <- mean(abs(y[!out] - fit$held_out))
    loss[out] <- (y[out] - predict(fit, x[out, ]))^2
    constant[out] <- (y[out] - mean(y[!out]))^2
    theta_null[o] <- mean(unlist(lapply(setdiff(1:6, o), function(j) {
      (y[id == j] - mean(y[!id %in% c(o, j)]))^2
    })))
  }
  # not with the choice of the other inner folds for each
  expect_gt(max(abs(chosen_apart - theta)), 0.01)
  jackknife <- function(theta) sqrt(5 / 6 * sum((theta - mean(theta))^2))
  expect_equal(cvd$estimates$row_se[1], sd(loss) / 6)
  expect_equal(cvd$estimates$jackknife_se, c(jackknife(theta), jackknife(theta_absolute)))
  se <- sqrt(var(loss) / 36 + jackknife(theta)^2 / 2)
  expect_equal(cvd$estimates$upper[1], mean(loss) + qt(0.975, 35) * se)
  expect_equal(cvd$estimates$difference[1], mean(loss - constant))
  expect_equal(cvd$estimates$difference_se[1],
               sqrt(var(loss - constant) / 36 + jackknife(theta - theta_null)^2 / 2))
  narrow <- cross_validate(pb, greedy_rls, k = 6, outer = folds, level = 0.5)
  expect_equal(narrow$estimate[["upper"]], mean(loss) + qt(0.75, 35) * se)
  expect_identical(glance(narrow)$upper, narrow$estimate[["upper"]])
  # folds that the user gives stay as they are
  own <- cross_validate(pb, greedy_rls, k = 6, outer = folds, size_folds = 3)
  expect_false(isTRUE(all.equal(own$folds, cvd$folds)))
})

test_that("the outer folds are the inner folds of a method compared or judged, too", {
  set.seed(5)
  x <- matrix(rnorm(36 * 12), 36)
  y <- x[, 2] - x[, 5] / 2 + rnorm(36)
  folds <- make_folds(36, 6)
  cvd <- cross_validate(x, y, l1_path, outer = folds)
  compared <- compare_methods(x, y, methods = list(l1 = l1_path), outer = folds)
  expect_equal(compared$folds$test, cvd$folds$test)
  given <- compare_methods(x, y, methods = list(l1 = list(l1_path, folds = folds$ids[, 1])),
                           outer = folds)
  expect_equal(sort(given$folds$test), sort(compared$folds$test))
  own <- compare_methods(x, y, methods = list(l1 = list(l1_path, folds = 3)), outer = folds)
  expect_gt(max(abs(own$folds$test - compared$folds$test)), 1e-3)
  judged <- judge(x, y, l1_path, outer = folds, permutations = 0, pairs = 0, repeats = 0,
                  claims = 0, keep = 0, proof = 0)
  expect_equal(judged$cross_validation$folds$test, cvd$folds$test)
})

test_that("the fits without each outer fold share the paths without two folds", {
  set.seed(8)
  m <- 36
  x <- matrix(rnorm(m * 12), m)
  y <- x[, 2] - x[, 5] / 2 + rnorm(m)
  batch <- rep(1:3, 12)
  gaps <- x
  gaps[cbind(sample(m, 6), sample(12, 6))] <- NA
  folds <- make_folds(m, 6)
  id <- folds$ids[, 1]
  copied <- cbind(x, 2 * x[, 2], ifelse(id == 1, x[, 5] + 1, x[, 5]))
  greedy <- function(x, y, ..., lambda = 5) {
    list(x, y, greedy_rls, k = 2, lambda = lambda, refit = TRUE, ...)
  }
  cases <- list(
    greedy(x, y, lambda = c(50, 5)),
    greedy(gaps, y, missing = "mean", search = "floating", folds = rep(1:12, 3)),
    greedy(float_matrix(x), y > 0, weights = rep(c(1, 2, 0.5, 1, 0, 1), 6),
           adjust = factor(batch)),
    greedy(x, rpois(m, exp(y / 2)), loss = "poisson", task = "regression"),
    list(x, y, rfe, k = 2, size = "cv")
  )
  trained <- 0L
  inside <- sparsels:::paths_of_training
  counting <- function(...) {
    trained <<- trained + 1L
    inside(...)
  }
  alone <- function(shared, rows, settings, train) train()
  judged <- function(case) {
    suppressWarnings(do.call(cross_validate, c(case, list(outer = folds, baselines = NULL))),
                     "sparsels_warning_edge")
  }
  for (at in seq_along(cases)) {
    case <- cases[[at]]
    trained <- 0L
    shared <- with_binding("paths_of_training", counting, judged(case))
    # of the fit on all rows and of the pairs
    expect_identical(trained, 10L + 15L)
    expect_identical(with_binding("trained_once", alone, judged(case)), shared)
    # as with weight 0 on the rows of inner folds
    if (!at %in% c(1L, 3L)) next
    given <- judged(c(case, list(size_folds = id)))
    expect_identical(given$chosen, shared$chosen)
    expect_equal(given[c("estimates", "held_out")], shared[c("estimates", "held_out")])
  }
  # a column that is a copy without the first fold alone
  trained <- 0L
  case <- greedy(copied, y)
  shared <- with_binding("paths_of_training", counting, judged(case))
  expect_identical(trained, 10L + 15L + 5L)
  expect_identical(with_binding("trained_once", alone, judged(case)), shared)
  # random columns, functions of the user and methods of one's own share nothing
  own <- function(problem, size_folds = 10) {
    greedy_rls(problem, k = 3, size = 2, lambda = 5, size_folds = size_folds)
  }
  absolute <- function(y, prediction, fold) mean(abs(y - prediction))
  for (case in list(list(x, y, random_selection, k = 2, lambda = 5, size = "cv"),
                    list(x, y, own), greedy(x, y, criterion = absolute))) {
    trained <- 0L
    with_binding("paths_of_training", counting, judged(case))
    expect_identical(trained, 10L + 30L)
  }
})

test_that("pairs of outer folds measure what the fits of any method depend on", {
  set.seed(4)
  m <- 20
  x <- matrix(rnorm(m * 4), m)
  y <- x[, 1] + rnorm(m)
  id <- rep(1:4, 5)
  mean_of <- function(problem, ...) rls(problem, lambda = 2)
  cvd <- cross_validate(x, y, mean_of, outer = id, interval = "pairs")
  theta <- vapply(1:4, function(o) {
    mean(unlist(lapply(setdiff(1:4, o), function(j) {
      out <- id %in% c(o, j)
      (y - predict(rls(x[!out, ], y[!out], lambda = 2), x))[id == j]^2
    })))
  }, 0)
  jackknife <- sqrt(3 / 4 * sum((theta - mean(theta))^2))
  expect_equal(cvd$estimate[["jackknife_se"]], jackknife)
  expect_equal(cvd$estimate[["se"]], max(jackknife, cvd$estimate[["row_se"]]))
  expect_identical(cvd$interval$measured, "pairs")
  both <- c("folds", "pairs")
  expect_identical(cross_validate(x, y, rls, outer = id, interval = both)$estimates,
                   cross_validate(x, y, rls, outer = id)$estimates)
  expect_error(cross_validate(x, y, rls, outer = 2, interval = "pairs"), "three or more outer",
               class = "sparsels_error_argument")
  # a method whose fits hold nothing out
  plain <- function(problem, ...) greedy_rls(problem, k = 1, lambda = 1, size = "criterion")
  rows <- cross_validate(x, y, plain, outer = id)
  expect_identical(rows$interval$measured, "rows")
  expect_output(print(rows), "may be too narrow")
})

test_that("the error of models without columns is corrected for their optimism", {
  opt <- function(p, m) majority_optimism(c(p, 1 - p), m)
  expect_equal(c(opt(0.5, 60), opt(0.45, 60), opt(0.3, 60), opt(0.5, 150)),
               c(0.0512890865, 0.0379385564, 0.0002744123, 0.0325192572), tolerance = 1e-9)
  set.seed(5)
  before <- .Random.seed
  expect_equal(majority_optimism(c(0.45, 0.55, 0), 60), opt(0.45, 60), tolerance = 0.1)
  expect_identical(.Random.seed, before)
  x <- matrix(rnorm(60 * 10), 60)
  y <- factor(rep(c("a", "b"), c(24, 36)))
  cvd <- cross_validate(x, y, greedy_rls, k = 2, measure = c("error", "auc"))
  expect_true(all(cvd$folds$size == 0L))
  expect_equal(cvd$estimates$uncorrected[1], 0.4)
  # the optimism at the share that its first value corrects
  corrected <- 0.4 + opt(0.4 + opt(0.4, 60), 60)
  expect_equal(cvd$estimate[["mean"]], corrected)
  expect_equal(cvd$estimates$null[1], corrected)
  expect_equal(less_unequal(c(0.5, 0.3, 0.2), 0.1), c(0.4, 0.36, 0.24))
  expect_equal(less_unequal(c(0.4, 0.6), 0.3), c(0.5, 0.5))
  expect_true(is.na(cvd$estimates$difference_lower[1]))
  expect_identical(glance(cvd)$estimate, cvd$estimate[["mean"]])
  expect_equal(cvd$beside$mean, 0.5)
  expect_output(print(cvd), "no fold chose a feature")
  # no corrected error is above the error for classes of equal size
  near <- cross_validate(x[1:40, ], factor(rep(c("a", "b"), c(21, 19))), greedy_rls, k = 1,
                         size = 0, outer = 6)
  expect_equal(near$estimates[1, c("mean", "uncorrected", "null")],
               data.frame(mean = 0.5, uncorrected = 0.475, null = 0.5))
  expect_equal(near$interval$optimism, 0.025)
  expect_output(print(near), "0.475 before a correction: models without features predict the")
  lines <- capture.output(print(near))
  same <- sub("^ +([0-9.]+) .*", "\\1", grep("outer folds|random|null", lines, value = TRUE))
  expect_identical(unique(same), same[1])
  three <- cross_validate(x[1:40, ], factor(rep(1:3, c(14, 13, 13))), greedy_rls, k = 1,
                          size = 0, outer = 6)
  expect_equal(three$estimates$null[1], 2 / 3)
  # classes of equal size are so by design
  even <- cross_validate(x, factor(rep(1:2, 30)), greedy_rls, k = 1, size = 0, outer = 6)
  expect_equal(even$estimate[["mean"]], 0.5)
  # covariates are in a model without columns
  expect_identical(optimism_of(as_problem(x, y, adjust = rnorm(60)), 2L), 0)
})

test_that("the absolute error is beside a squared error of few rows", {
  set.seed(6)
  x <- matrix(rnorm(30 * 5), 30)
  y <- replace(x[, 1] + rnorm(30) / 2, 1, 40)
  cvd <- cross_validate(x, y, greedy_rls, k = 5)
  expect_gt(cvd$interval$heaviest, 1 / 4)
  expect_output(print(cvd), "of this error: mean absolute error")
  expect_identical(cvd$beside$measure, "absolute")
  expect_equal(cvd$beside$mean, mean(abs(residuals(cvd, type = "held_out"))))
})

test_that("judge() has each measure with its interval", {
  set.seed(7)
  x <- matrix(rnorm(40 * 10), 40)
  y <- factor(ifelse(x[, 1] + rnorm(40) / 2 > 0, "ill", "well"))
  judged <- judge(x, y, k = 2, measure = c("auc", "error"), permutations = 0, pairs = 0,
                  repeats = 1, keep = 0, claims = 0, seed = 1)
  expect_identical(judged$error$measure, c("auc", "error"))
  expect_equal(judged$error$upper, judged$cross_validation$estimates$upper)
  expect_identical(judged$learning_curve$measure, "auc")
  expect_output(print(judged), "error: area under the ROC curve .* error rate")
})

test_that("the shares of rows in the pairs of two classes are those of a comparison of all pairs", {
  set.seed(3)
  for (i in 1:40) {
    m <- sample(5:60, 1)
    # ties, also by less than the tolerance
    score <- round(rnorm(m), sample(0:3, 1)) + 1e-13 * rnorm(m)
    w <- sample(c(0, 1, 0.5, 2), m, TRUE)
    class <- sample(3, m, TRUE)
    want <- t(vapply(seq_len(m), function(i) {
      pairs <- which(class %in% 1:2 & class[i] %in% 1:2 & class != class[i])
      ahead <- (score[i] - score[pairs]) * if (class[i] == 1) 1 else -1
      right <- (ahead > 1e-10) + 0.5 * (abs(ahead) <= 1e-10)
      w[i] / 2 * c(sum(w[pairs] * right), sum(w[pairs]))
    }, c(0, 0)))
    got <- class_shares(which(class == 1), which(class == 2), score, w)
    expect_equal(unname(got), want, tolerance = 1e-12)
    score[2] <- NA
    missing <- class_shares(which(class == 1), which(class == 2), score, w)
    expect_identical(missing[, 1], rep(NA_real_, m))
    expect_equal(missing[, 2], want[, 2])
  }
})
