skip_if_not_installed("survival")

# Times with ties, some of them censored.
random_times <- function(m) {
  survival::Surv(round(rexp(m) + 0.05, 2), rbinom(m, 1, 0.6))
}

# Minus the expected logarithm of each time, by survival::survfit() of the rows of positive weight.
oracle_times <- function(y, weights = rep(1, nrow(y))) {
  curve <- survival::survfit(y[weights > 0] ~ 1, weights = weights[weights > 0])
  mass <- -diff(c(1, curve$surv))
  last <- length(mass)
  mass[last] <- mass[last] + curve$surv[last]
  -vapply(seq_len(nrow(y)), function(i) {
    beyond <- curve$time > y[i, "time"] & mass > 1e-12
    if (y[i, "status"] == 1 || !any(beyond)) return(log(y[[i, "time"]]))
    sum(mass[beyond] * log(curve$time[beyond])) / sum(mass[beyond])
  }, 0)
}

# Share of the comparable pairs in the right order, pair by pair.
oracle_concordance <- function(y, score, weights = rep(1, nrow(y))) {
  right <- all <- 0
  for (i in seq_len(nrow(y))) for (j in seq_len(nrow(y))) {
    earlier <- y[i, "time"] < y[j, "time"] ||
      y[i, "time"] == y[j, "time"] && y[i, "status"] > y[j, "status"]
    if (y[i, "status"] == 1 && earlier) {
      w <- weights[i] * weights[j]
      all <- all + w
      right <- right + w * (if (score[i] == score[j]) 0.5 else score[i] > score[j])
    }
  }
  c(right, all)
}

test_that("the working response and the concordance have the values worked out by hand", {
  y <- survival::Surv(c(5, 8, 3, 8, 12, 2, 9, 4), c(1, 0, 1, 1, 1, 0, 0, 1))
  score <- c(3, 1, 4, 1, 5, 9, 2, 6)
  pb <- as_problem(cbind(score), y)
  expect_equal(-pb$rows$y[, 1], c(1.6094379124, 2.4849066498, 1.0986122887, 2.0794415417,
                             2.4849066498, 1.9469294362, 2.4849066498, 1.3862943611),
               tolerance = 1e-10)
  pairs <- ordered_pairs(pb, cbind(score))
  expect_equal(pairs[1] / pairs[2], 0.6944444444, tolerance = 1e-9)
  expect_equal(pairs, oracle_concordance(y, score))
})

test_that("the concordance is one of few and of many rows, and of times that differ by rounding", {
  set.seed(2)
  y <- random_times(400)
  score <- round(rnorm(400), 1)
  pb <- as_problem(cbind(score), y)
  expect_false(compares_all_pairs(pb$rows))
  all_pairs <- compared_shares(pb$rows, tied_ranks(score))
  expect_equal(colSums(all_pairs), ordered_pairs(pb, cbind(score)))
  expect_equal(time_shares(pb, cbind(score)), all_pairs, ignore_attr = TRUE)
  # of strata, late entries and weights, with a missing score
  start <- runif(60)
  late <- survival::Surv(start, start + rexp(60), rbinom(60, 1, 0.7))
  pb <- as_problem(cbind(score[1:60]), late, strata = rep(1:3, 20),
                   weights = rep(c(1, 0, 2, 3), 15))
  w <- pb$rows$weight
  own <- t(vapply(1:60, function(i) {
    pair <- function(i, j) {
      of <- late[i, "status"] == 1 && late[j, "start"] < late[i, "stop"] &&
        (late[j, "stop"] > late[i, "stop"] ||
           late[j, "stop"] == late[i, "stop"] && late[j, "status"] == 0)
      if (!of) return(c(0, 0))
      c(if (score[i] == score[j]) 0.5 else score[i] > score[j], 1) * w[i] * w[j] / 2
    }
    others <- setdiff(which(rep(1:3, 20) == rep(1:3, 20)[i]), i)
    rowSums(vapply(others, function(j) pair(i, j) + pair(j, i), c(0, 0)))
  }, c(0, 0)))
  shares <- time_shares(pb, cbind(score[1:60]))
  expect_equal(unname(shares), own)
  expect_equal(colSums(shares), ordered_pairs(pb, cbind(score[1:60])))
  missing <- time_shares(pb, cbind(c(NA, score[2:60])))
  expect_identical(missing[, 1], rep(NA_real_, 60))
  expect_equal(missing[, 2], own[, 2])
  y <- survival::Surv(c(0.1 + 0.2, 0.3, 1, 2), c(1, 1, 1, 0))
  expect_identical(ordered_pairs(as_problem(cbind(1:4), y), cbind(4:1)), c(5, 5))
})

test_that("both equal survfit() and the pairs, with weights, ties and rows of weight 0", {
  set.seed(1)
  for (i in 1:20) {
    y <- random_times(15)
    w <- if (i %% 2) rep(1, 15) else sample(c(0, 0.5, 1, 2), 15, TRUE)
    if (!any(y[w > 0, "status"] == 1)) next
    pb <- as_problem(matrix(rnorm(30), 15), y, weights = w)
    expect_equal(pb$rows$y[, 1], oracle_times(y, w))
    score <- round(rnorm(15), 1)
    expect_equal(ordered_pairs(pb, cbind(score)), oracle_concordance(y, score, w))
  }
})

test_that("training parts have working responses of their own", {
  set.seed(2)
  x <- matrix(rnorm(40 * 6), 40)
  y <- random_times(40)
  pb <- as_problem(x, y)
  rows <- sample(40, 25)
  expect_equal(pb[rows, ]$rows$y[, 1], oracle_times(y[rows]))
  part <- as_problem(x[rows, ], y[rows])
  part$coding$response <- "y"
  expect_identical(pb[rows, ], part)
  weights <- replace(rep(1, 40), -rows, 0)
  expect_equal(reweighted(pb, weights)$rows$y, as_problem(x, y, weights = weights)$rows$y)

  ids <- rep(1:4, 10)
  cv <- cross_validate(pb, bare_rls, k = 3, lambda = 2, outer = ids)
  fit <- bare_rls(pb, k = 3, lambda = 2, size_folds = ids)
  again <- greedy_rls(pb, k = 3, lambda = 2, refit = FALSE, size = 2, size_folds = ids)
  for (size in 0:3) {
    sums <- matrix(0, 2, 4)
    for (fold in 1:4) {
      out <- ids == fold
      one <- bare_rls(x[!out, ], y[!out], k = 3, lambda = 2)
      score <- predict(one, x[out, ], size = size)
      sums[, fold] <- oracle_concordance(y[out], score)
    }
    at <- cv$curves$size == size
    expect_equal(cv$curves$test[at], sum(sums[1, ]) / sum(sums[2, ]))
    at <- again$path$size == size
    expect_equal(again$path$cv[at], sum(sums[1, ]) / sum(sums[2, ]))
  }
  expect_identical(cv$measure, "concordance")
})

test_that("formula, data and matrix give the same problem, and `.` leaves out time and status", {
  set.seed(3)
  d <- data.frame(time = rexp(20), status = rbinom(20, 1, 0.7), a = rnorm(20), b = rnorm(20))
  Surv <- survival::Surv # nolint: object_name_linter.
  pb <- as_problem(Surv(time, status) ~ ., d)
  expect_identical(pb$columns$name, c("a", "b"))
  expect_identical(pb$rows$y, as_problem(d[3:4], Surv(d$time, d$status))$rows$y)
  expect_identical(pb$coding$response, "Surv(time, status)")
  expect_snapshot(print(pb))
})

test_that("fits predict risks, are verified and judged", {
  set.seed(4)
  x <- matrix(rnorm(60 * 10), 60)
  y <- survival::Surv(exp(-x[, 3] + rnorm(60) / 2), rbinom(60, 1, 0.7))
  fit <- greedy_rls(x, y, k = 4)
  expect_identical(predict(fit, x, type = "risk"), predict(fit, x))
  expect_true(cor(predict(fit, x, type = "risk"), x[, 3]) > 0.9)
  checked <- verify(fit, x, y, claims = 200)
  expect_identical(checked$status, "complete")
  expect_true(all(checked$claims$ok))
  expect_true("cross-validated criterion" %in% checked$claims$claim)
  expect_identical(fit$cv_criterion$name, "concordance")
  tested <- permutation_test(x, y, greedy_rls, k = 2, permutations = 19)
  expect_equal(tested$p.value, 1 / 20)
  expect_snapshot(print(fit))
})

test_that("a permutation takes times, states and weights along", {
  set.seed(5)
  x <- matrix(rnorm(80), 20)
  y <- random_times(20)
  w <- runif(20, 0.5, 2)
  pb <- as_problem(x, y, weights = w)
  order <- sample(20)
  permuted <- permuted_problem(null_response(pb), order)
  expect_equal(permuted$rows$y, as_problem(x, y[order], weights = w[order])$rows$y)
  part <- permuted[1:15, ]
  expect_equal(part$rows$y, as_problem(x[1:15, ], y[order][1:15], weights = w[order][1:15])$rows$y)
})

test_that("bad times are refused", {
  x <- matrix(rnorm(12), 6)
  Surv <- survival::Surv # nolint: object_name_linter.
  expect_snapshot({
    refusal(as_problem(x, Surv(c(1, 2, -1, 4, 5, 6), rep(1, 6))))
    refusal(greedy_rls(x, Surv(c(1, 2, 0, 4, 5, 6), rep(1, 6))))
    refusal(as_problem(x, Surv(1:6, rep(0, 6))))
    refusal(as_problem(x, Surv(1:6, c(1, 0, 0, 0, 0, 0)), weights = c(0, 1, 1, 1, 1, 1)))
    refusal(as_problem(x, Surv(c(1, NA, 3:6), rep(1, 6))))
    refusal(as_problem(x, Surv(1:6, 2:7, rep(0, 6))))
    refusal(as_problem(x, Surv(1:6, rep(1, 6), type = "left")))
    refusal(greedy_rls(x, Surv(1:6, 2:7, rep(1, 6))))
    refusal(l1_path(x, Surv(1:6, 2:7, rep(1, 6)), loss = "squared"))
    refusal(as_problem(x, Surv(1:5, rep(1, 5))))
    refusal(as_problem(x, Surv(1:6, rep(1, 6)), task = "classification"))
    refusal(rls(x, Surv(rep(2, 6), c(1, 0, 1, 1, 1, 0))))
    refusal(as_problem(x, Surv(1:6, rep(0:1, c(5, 1)))))
    refusal(predict(bare_rls(x, 1:6 + 0.5, k = 1, lambda = 1), x, type = "risk"))
    refusal(cross_validate(x, gl(2, 3), bare_rls, k = 1, measure = "concordance"))
    refusal(cross_validate(x, cbind(1:6, 6:1 + 0.1), bare_rls, k = 1, measure = "concordance"))
    refusal(as_problem(x, Surv(1:6, c(1, 0, 0, 1, 1, 1)))[2:3, ])
  })
})

test_that("risk groups are cut by held-out predictions, and drawn by survfit()", {
  set.seed(6)
  x <- matrix(rnorm(60 * 5), 60)
  y <- survival::Surv(exp(-x[, 3] + rnorm(60) / 2), rbinom(60, 1, 0.7))
  fit <- greedy_rls(x, y, k = 3)
  two <- risk_groups(fit)
  expect_identical(two$risk, fit$held_out[, 1])
  expect_identical(two$group == "high", two$risk > stats::quantile(two$risk, 0.5, type = 1))
  expect_equal(as.vector(table(risk_groups(fit, 3)$group)), c(20, 20, 20))
  expect_identical(risk_groups(fit, 0.5), two)
  # rows of them are a plain data frame
  expect_identical(class(utils::head(two)), "data.frame")
  expect_identical(subset(two, group == "high")$risk, two$risk[two$group == "high"])
  edited <- replace(two, "group", list(as.character(two$group)))
  expect_error(print(edited), "edit as.data.frame[(][)] of it", class = "sparsels_error_object")
  drawn <- plot(two)
  high <- survival::survfit(y[two$group == "high"] ~ 1)
  expect_equal(drawn$surv[drawn$group == "high"][-1], high$surv)
  cv <- cross_validate(x, y, bare_rls, k = 2, lambda = 1, outer = 5)
  expect_identical(risk_groups(cv)$risk, cv$held_out[, 1])
  expect_output(print(summary(risk_groups(fit, 3))), "median = time by which half")
  expect_snapshot({
    print(risk_groups(fit, 3))
    refusal(risk_groups(fit, 1))
    refusal(risk_groups(fit, c(0.5, 0.2)))
    refusal(risk_groups(bare_rls(x, x[, 1] + rnorm(60), k = 1, lambda = 1)))
    refusal(risk_groups(replace(fit, "held_out", list(0 * fit$held_out))))
  })
  expect_error(risk_groups(as_problem(x, x[, 1])), "must be a fit or a result of cross_validate()",
               fixed = TRUE, class = "sparsels_error_argument")
})

test_that("risk groups are not cut by features that were chosen with the rows", {
  set.seed(1)
  x <- matrix(rnorm(60 * 300), 60)
  noise <- survival::Surv(rexp(60), rep(1, 60))
  for (method in list(forward_regression, omp, bare_rls)) {
    expect_error(risk_groups(method(x, noise, k = 3)), "chosen on all rows",
                 class = "sparsels_error_input")
  }
  # such groups of noise would differ
  risk <- greedy_rls(x, noise, k = 8, size = "criterion")$held_out[, 1]
  expect_gt(survival::survdiff(noise ~ I(risk > median(risk)))$chisq, 6)
  times <- survival::Surv(exp(x[, 1] + rnorm(60) / 4), rep(1, 60))
  for (fit in list(rls(x, noise), l1_path(x, times, folds = 3, nlambda = 5),
                   forward_regression(x, times, k = 2, size = 2))) {
    expect_s3_class(risk_groups(fit), "risk_groups")
  }
})

test_that("risk groups have a row for each row of the data, also of weight 0", {
  set.seed(1)
  x <- matrix(rnorm(250), 50)
  time <- rexp(50) * exp(-x[, 1])
  event <- rbinom(50, 1, 0.7)
  weights <- replace(rep(1, 50), c(3, 9), 0)
  fit <- greedy_rls(x, survival::Surv(time, event), weights = weights, k = 3, size_folds = 5,
                    size = 2)
  groups <- risk_groups(fit)
  expect_identical(dim(groups), c(50L, 5L))
  expect_identical(rownames(groups), as.character(1:50))
  expect_equal(groups$time, time)
  expect_equal(groups$risk, fit$held_out[, 1])
  expect_identical(as.vector(table(groups$group[weights > 0])), c(24L, 24L))
})

test_that("parts of the rows have events in proportion", {
  skip_if_not_installed("survival")
  set.seed(1)
  x <- matrix(rnorm(300), 60)
  event <- rep(c(1, 0, 0, 0, 0, 0), 10)
  p <- as_problem(x, survival::Surv(rexp(60), event))
  for (folds in list(make_folds(p, 5), greedy_rls(p, k = 1, size_folds = 5)$size_folds)) {
    expect_equal(as.vector(tapply(event, folds$ids[, 1], sum)), rep(2, 5))
  }
  for (i in 1:5) expect_identical(sum(event[half_of(p)]), 5)
  curve <- learning_curve(p, method = greedy_rls, k = 1, size = 1, lambda = 1, repeats = 3)
  expect_identical(curve$status, "complete")
})

test_that("a column of strong effect is chosen where most rows are censored", {
  # 42 tumours in 300 rats, 40 of them of females: the Cox model has a p-value of 3e-5
  rats <- survival::rats
  fit <- greedy_rls(survival::Surv(time, status) ~ ., rats)
  expect_true("sexm" %in% selected(fit))
  expect_gt(fit$path$cv[fit$size + 1L], 0.7)
  set.seed(3)
  rats$sex <- sample(rats$sex)
  rats$litter <- sample(rats$litter)
  rats$rx <- sample(rats$rx)
  expect_identical(greedy_rls(survival::Surv(time, status) ~ ., rats)$size, 0L)
})

test_that("risks held out by different models are comparable, wherever a column has its 0", {
  skip_if_not_installed("survival")
  set.seed(9)
  x <- matrix(rnorm(40 * 6), 40)
  age <- rnorm(40)
  y <- survival::Surv(rexp(40, exp(x[, 1])), rbinom(40, 1, 0.7))
  w <- replace(rep(c(1, 2), 20), c(5, 12), 0)
  folds <- make_folds(40, 5)
  runs <- list(
    l1 = function(...) l1_path(..., loss = "cox", folds = folds, nlambda = 8),
    greedy = function(...) greedy_rls(..., loss = "cox", folds = folds, size_folds = folds, k = 2),
    on_all = function(...) greedy_rls(..., loss = "cox", folds = folds, size = "criterion", k = 3),
    outer = function(...) {
      cross_validate(..., method = l1_path, loss = "cox", lambda = 2, outer = folds)
    }
  )
  for (strata in list(NULL, rep(1:2, 20))) {
    for (name in names(runs)) {
      held <- function(move) {
        pb <- as_problem(x + move, y, adjust = age + move, weights = w, strata = strata)
        runs[[name]](pb)$held_out
      }
      expect_equal(held(50), held(0), tolerance = 1e-8, info = name)
    }
  }
  # of one stratum the risk by the model without the fold, about the means of its training rows
  pb <- as_problem(x, y, adjust = age, standardize = FALSE)
  fit <- l1_path(pb, loss = "cox", folds = folds, lambda = 2, tolerance = 1e-12)
  for (rows in split(1:40, folds$ids)) {
    part <- l1_path(pb[-rows, ], loss = "cox", lambda = 2, tolerance = 1e-12)
    expect_equal(fit$held_out[rows, ], predict(part, pb[rows, ], type = "risk"), tolerance = 1e-5,
                 ignore_attr = TRUE)
  }
  expect_true(verify(runs$l1(pb), pb, claims = 30)$ok)
  pb <- as_problem(x, y, adjust = age, weights = w)
  for (name in c("l1", "greedy", "on_all")) {
    expect_true(verify(runs[[name]](pb), pb, claims = 40)$ok, info = name)
  }
  # the risks of some rows are near 0
  few <- greedy_rls(pb, loss = "cox", folds = folds, size = "criterion", k = 1)
  expect_true(verify(few, pb, claims = Inf)$ok)
})

test_that("prints say that squared errors are of log times, and what loss = \"cox\" tests", {
  skip_if_not_installed("survival")
  set.seed(4)
  x <- matrix(rnorm(120), 40)
  y <- survival::Surv(rexp(40, exp(x[, 1])), rep(c(1, 1, 0, 1), 10))
  for (fit in list(rls(x, y), kernel_rls(x, y, kernel = kernel_gaussian(0.1)))) {
    expect_output(print(fit), "leave-one-out mean squared error of log times [0-9]")
  }
  tested <- permutation_test(x, y, greedy_rls, loss = "cox", permutations = 3)
  said <- paste(trimws(capture.output(print(tested))), collapse = " ")
  expect_match(said, paste("error: leave-one-out mean squared error of log times relative to the",
                           "null model, at lambda 640, by which the columns of the Cox model are"))
  # a search by the likelihood is tested as it is
  tested <- permutation_test(x, y, greedy_rls, loss = "cox", criterion = "cox", permutations = 3)
  expect_no_match(capture.output(print(tested)), "log times")
  expect_output(print(rls(x[, 1, drop = FALSE], x[, 2])), "on the only usable feature\n")
})

test_that("fitted values of Cox models are predictions, and augment() has times and risks", {
  skip_if_not_installed("survival")
  set.seed(6)
  x <- cbind(a = rnorm(50), year = 1970 + rnorm(50))
  y <- survival::Surv(rexp(50, exp(x[, 1])), rep(c(1, 1, 0, 1, 1), 10))
  for (fit in list(greedy_rls(x, y, loss = "cox", k = 2, size = 2), l1_path(x, y, folds = 5),
                   greedy_rls(x, y, loss = "cox", k = 2, size = "criterion"))) {
    expect_equal(unname(fitted(fit)), unname(predict(fit, x)))
    rows <- augment(fit)
    expect_equal(rows$time, unname(y[, "time"]))
    expect_equal(as.integer(rows$status), unname(y[, "status"]))
    expect_equal(rows$.fitted, unname(predict(fit, x, type = "risk")))
  }
  fit <- greedy_rls(x, y, loss = "cox", k = 2, size = 2)
  expect_equal(unname(fitted(fit, size = 1)), unname(predict(fit, x, size = 1)))
  unknown <- suppressWarnings(survival::Surv(1:50, rep(c(1, 3), 25)))
  expect_error(as_problem(x, unknown), "status of `y` is missing in 25 rows .first: row 2.")
})

test_that("curves of risk groups have late entry and case weights", {
  set.seed(11)
  x <- matrix(rnorm(60 * 4), 60)
  stop <- round(10 * exp(-x[, 1] + rnorm(60) / 2)) + 1
  start <- floor(runif(60) * stop)
  event <- rbinom(60, 1, 0.8)
  weights <- rep(c(1, 2, 0), 20)
  pb <- as_problem(x, survival::Surv(start, stop, event), weights = weights)
  cv <- cross_validate(pb, l1_path, nlambda = 10, folds = 3, outer = rep(1:4, each = 15),
                       progress = FALSE)
  groups <- risk_groups(cv, 3)
  expect_identical(names(groups), c("start", "time", "event", "weight", "risk", "group"))
  # a row of weight 2 is two rows, of weight 0 none
  copies <- groups[rep(1:60, weights), ]
  cuts <- quantile(copies$risk, 1:2 / 3, type = 1, names = FALSE)
  expect_identical(as.integer(groups$group), findInterval(groups$risk, cuts, left.open = TRUE) + 1L)
  grDevices::pdf(NULL)
  drawn <- plot(groups)
  grDevices::dev.off()
  printed <- capture.output(print(groups))
  for (level in levels(groups$group)) {
    of_level <- copies[copies$group == level, ]
    curve <- survival::survfit(survival::Surv(start, time, event) ~ 1, data = of_level)
    own <- drawn[drawn$group == level & drawn$time > 0, ]
    expect_equal(own$surv, curve$surv)
    counted <- groups$group == level & weights > 0
    row <- as.numeric(strsplit(trimws(grep(paste0("^ *", level), printed, value = TRUE)),
                               " +")[[1]][-1])
    expect_equal(row, c(sum(counted), sum(event[counted]),
                        curve$time[curve$surv <= 0.5 + 1e-12][1]))
    expect_identical(tidy(groups)$nobs[match(level, levels(groups$group))], sum(counted))
  }
  expect_error(risk_groups(l1_path(pb)), "no predictions of rows held out",
               class = "sparsels_error_input")
})

test_that("the words of a null model are of its kind", {
  set.seed(9)
  x <- matrix(rnorm(90), 30)
  y <- random_times(30)
  expect_output(print(cross_validate(x, y, rls, outer = 3)), "null model, without columns")
  squared <- cross_validate(x, y, rls, outer = 3, measure = "squared")
  expect_output(print(squared), "null model, mean of the log times")
})

test_that("survfit() names the way to survival curves", {
  fit <- rls(matrix(rnorm(60), 20), random_times(20))
  expect_error(survival::survfit(fit), "predict\\(type = \"survival\"\\)",
               class = "sparsels_error_input")
})

test_that("other kinds of times are refused with a way out before their missing values", {
  x <- matrix(rnorm(24), 8)
  interval <- suppressWarnings(survival::Surv(1:8, c(0, 3:9), type = "interval2"))
  expect_true(anyNA(interval))
  expect_error(greedy_rls(x, interval, na.action = na.omit), "\"interval\": survival::survreg",
               class = "sparsels_error_input")
  several <- survival::Surv(1:8, factor(rep(c("none", "death", "relapse", "death"), 2)))
  expect_error(l1_path(x, several, loss = "cox"), "one kind of event give Surv\\(time, event ==",
               class = "sparsels_error_input")
})
