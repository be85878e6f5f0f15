# Criteria of groups of rows, such as studies: the error of each divided by the null model's.

# The held-out residuals of ridge regression on some columns by the definition: coefficients without
# each study, columns scaled by all rows.
study_residuals <- function(d, columns, lambda, z = NULL) {
  m <- nrow(d$x)
  scale <- apply(d$x, 2, function(v) sqrt(weighted.mean((v - weighted.mean(v, d$w))^2, d$w)))
  Z <- cbind(rep(1, m), z)
  A <- cbind(Z, t(t(d$x[, columns, drop = FALSE]) / scale[columns]))
  D <- diag(rep(c(0, lambda), c(ncol(Z), length(columns))), ncol(A))
  out <- numeric(m)
  for (study in unique(d$study)) {
    own <- d$study == study
    B <- A[!own, , drop = FALSE]
    beta <- solve(crossprod(B, d$w[!own] * B) + D, crossprod(B, d$w[!own] * d$code[!own]))
    out[own] <- d$code[own] - A[own, , drop = FALSE] %*% beta
  }
  out
}

# The weight of the pairs of some rows that scores put in the wrong order, a tie counting half.
wrong_pairs <- function(y, score, w) {
  sum <- 0
  for (i in seq_along(y)) {
    for (j in which(y < y[i])) {
      ahead <- score[i] - score[j]
      sum <- sum + w[i] * w[j] * (if (abs(ahead) <= 1e-10) 0.5 else ahead < 0)
    }
  }
  sum
}

study_criterion <- function(d, columns, lambda, criterion, z = NULL) {
  loss <- if (grepl("absolute", criterion)) abs else if (grepl("error", criterion)) {
    function(r) as.double((d$code - r > 1e-10) != (d$code > 0))
  } else {
    function(r) r^2
  }
  errors <- function(columns) {
    residual <- study_residuals(d, columns, lambda, z)
    each <- d$w * loss(residual)
    vapply(unique(d$study), function(study) {
      own <- d$study == study
      if (!grepl("concordance", criterion)) return(sum(each[own]))
      wrong_pairs(d$code[own], (d$code - residual)[own], d$w[own])
    }, 0)
  }
  null <- errors(integer())
  ratio <- (errors(columns) / null)[null > 0]
  if (grepl("worst", criterion)) max(ratio) else mean(ratio) + sd(ratio)
}

draw_studies <- function(number) {
  set.seed(number)
  studies <- 3 + number %% 4
  study <- sample(rep_len(seq_len(studies), 8 * studies + number %% 7))
  m <- length(study)
  x <- matrix(rnorm(m * 12), m)
  code <- x[, 1] + x[, 2] * (study %% 2) + rnorm(m)
  classes <- number %% 3 == 0
  if (classes) code <- ifelse(code > 0, 1, -1)
  list(x = x, study = paste0("s", study), code = code,
       y = if (classes) factor(ifelse(code > 0, "b", "a")) else code,
       w = if (number %% 2) runif(m, 0.5, 2) else rep(1, m),
       z = if (number %% 5 == 0) cbind(age = rnorm(m)))
}

criteria_of_studies <- function(classes) {
  c("worst", "mean_sd", "worst_concordance", "mean_sd_concordance",
    if (classes) c("worst_error", "mean_sd_error") else c("worst_absolute", "mean_sd_absolute"))
}

test_that("every step is the best of all columns, retrained without each study", {
  for (number in problems_to_try(200)) {
    d <- draw_studies(number)
    all <- criteria_of_studies(is.factor(d$y))
    criterion <- all[1 + (number %/% 3 + number) %% length(all)]
    lambda <- c(0.1, 3, 40)[1 + number %% 3]
    fit <- suppressMessages(greedy_rls(d$x, d$y, groups = d$study, weights = d$w, adjust = d$z,
                                       criterion = criterion, lambda = lambda, k = 3,
                                       size = "criterion", refit = FALSE))
    chosen <- fit$path$feature[-1]
    for (step in 1:3) {
      before <- chosen[seq_len(step - 1)]
      value <- rep(Inf, 12)
      for (j in setdiff(1:12, before)) {
        value[j] <- study_criterion(d, c(before, j), lambda, criterion, d$z)
      }
      expect_equal(fit$path$criterion[step + 1], min(value), tolerance = 1e-9)
      # an error rate has ties, which the squared error breaks
      expect_lte(value[chosen[step]], min(value) + 1e-9)
    }
    expect_equal(fit$path$criterion[1], study_criterion(d, integer(), lambda, criterion, d$z))
    expect_true(all(is.na(fit$path$se)))
  }
})

test_that("searches that skip candidates find the same path, also where digits are lost", {
  for (number in problems_to_try(60)) {
    set.seed(number)
    studies <- 3 + number %% 6
    m <- c(60, 120, 200)[1 + number %% 3]
    study <- sample(rep_len(seq_len(studies), m))
    x <- matrix(rnorm(m * 450), m)
    if (number %% 2) x[, 11:20] <- x[, 1:10] + 1e-4 * rnorm(10 * m)
    if (number %% 5 == 0) x[, 30] <- x[, 1]
    y <- x[, 1:5] %*% rnorm(5) + c(0.01, 1)[1 + number %% 2] * rnorm(m)
    if (number %% 4 == 0) y <- cbind(y, rnorm(m))
    problem <- as_problem(x, y, groups = study, weights = if (number %% 2) runif(m))
    lambda <- 10^(number %% 8 - 5)
    for (criterion in c("worst", "mean_sd")) {
      control <- c(path_control(problem, 10, lambda, "loo", criterion), search = "forward",
                   keep = 2L, threads = 1L, progress = FALSE)
      paths <- lapply(c("none", "bounds"), function(skipping) {
        suppressWarnings(greedy_path(problem, control, lambda, integer(), skipping))
      })
      expect_identical(paths[[1]]$path$feature, paths[[2]]$path$feature)
      expect_equal(paths[[1]]$path$criterion, paths[[2]]$path$criterion, tolerance = 1e-8)
      expect_identical(paths[[1]]$alternatives$feature, paths[[2]]$alternatives$feature)
      expect_identical(paths[[2]]$work$recurrence_from, 1L)
    }
  }
})

test_that("folds of several studies, repeated, and the other searches agree with retraining", {
  d <- draw_studies(10)
  folds <- make_folds(nrow(d$x), 2, groups = d$study, repeats = 2)
  for (criterion in criteria_of_studies(FALSE)) {
    for (search in c("forward", "floating", "backward")) {
      of <- function(method, ...) {
        method(d$x[, 1:6], d$y, groups = d$study, weights = d$w, folds = folds, lambda = 2, k = 4,
               criterion = criterion, search = search, size = "criterion", ...)
      }
      fit <- of(greedy_rls, refit = FALSE)
      slow <- of(wrapper_rls)
      expect_identical(fit$path$feature, slow$path$feature)
      expect_equal(fit$path$criterion, slow$path$criterion, tolerance = 1e-9)
    }
  }
})

test_that("the size rule, the refit and the estimate use the criterion, and verify() agrees", {
  set.seed(3)
  study <- rep(1:6, each = 20)
  x <- matrix(rnorm(120 * 30), 120, dimnames = list(NULL, paste0("g", 1:30)))
  y <- x[, 1] + x[, 2] + rnorm(120) / 2
  problem <- as_problem(x, y, groups = study)
  for (criterion in c("worst_concordance", "worst", "mean_sd_absolute")) {
    fit <- greedy_rls(problem, criterion = criterion, k = 4, lambda = 5, refit = TRUE)
    expect_true(verify(fit, problem, claims = 40, progress = FALSE)$ok)
    expect_setequal(selected(fit)[1:2], c("g1", "g2"))
    expect_identical(fit$size_folds$label, "leave-one-group-out, 6 groups")
    # the errors of searches without each study
    ratio <- vapply(1:6, function(own) {
      rows <- study != own
      part <- greedy_rls(problem[rows, ], criterion = criterion, k = 2, lambda = 5, size = 2,
                         refit = TRUE)
      r <- y[!rows] - predict(part, x[!rows, ])
      null <- y[!rows] - mean(y[rows])
      if (criterion == "worst") return(sum(r^2) / sum(null^2))
      if (criterion == "mean_sd_absolute") return(sum(abs(r)) / sum(abs(null)))
      wrong_pairs(y[!rows], y[!rows] - r, rep(1, 20)) / (20 * 19 / 4)
    }, 0)
    expect_equal(fit$path$cv[3], if (criterion == "mean_sd_absolute") mean(ratio) + sd(ratio) else
      max(ratio))
    expect_true(all(is.na(fit$path$cv_se)))
  }
  default <- greedy_rls(problem, criterion = "worst")
  expect_true(verify(default, problem, claims = 40, progress = FALSE)$ok)
  others <- exchange(fit, problem, size = 2)
  expect_equal(attr(others, "set")$criterion, fit$path$criterion[3])
  panel <- panel_error(problem, c("g1", "g2"), criterion = "worst", random = 9)
  expect_equal(panel$null, 1)
  expect_identical(panel$p.value, 0.1)
  tested <- permutation_test(problem, greedy_rls, permutations = 9, k = 2, size = 2,
                             criterion = "worst")
  expect_equal(tested$p.value, 0.1)
})

test_that("sizes after a clear rise of the error of a group are left out", {
  set.seed(31)
  # four sizes of two lambdas in three groups
  losses <- lapply(c(20, 25, 30), function(rows) {
    matrix(rexp(rows * 8), rows) + 0.2 * rep(c(2, 1, 0, 1), each = rows)
  })
  losses[[2]][, 3] <- losses[[2]][, 2]
  chances <- vapply(losses, function(of_rows) {
    vapply(1:8, function(model) {
      smaller <- (if (model > 4) 5 else 1):model
      best <- smaller[which.min(colSums(of_rows[, smaller, drop = FALSE]))]
      above <- of_rows[, model] - of_rows[, best]
      if (all(above == 0)) 1 else t.test(above, alternative = "greater")$p.value
    }, 0)
  }, numeric(8))
  sums <- lapply(losses, function(of_rows) {
    array(rbind(colSums(of_rows), nrow(of_rows)), c(2, 4, 2))
  })
  errors <- fold_errors(sums, rep(1, 3), clear = TRUE, over = "worst", losses = losses)
  expect_equal(errors$rises, chances)
  expect_equal(some_folds(errors, c(TRUE, FALSE, TRUE))$rises, chances[, -2])
  clearest <- matrix(apply(chances, 1, min), 4)
  for (first in which(clearest < 1)) {
    level <- 3 * clearest[first] * 1.001
    left_out <- apply(clearest < level / 3, 2, function(clear) cumsum(clear) > 0)
    with_binding("rise_level", level, {
      expect_true(all(is.infinite(model_losses(errors, "cv")) == left_out))
      expect_true(all(is.finite(model_losses(errors, "min"))))
    })
  }
  expect_identical(rise_chances(losses[[1]][1, , drop = FALSE], 4), rep(1, 8))
})

test_that("decoys that cover all studies together are not chosen", {
  set.seed(35)
  study <- rep(1:8, each = 40)
  x <- matrix(rnorm(320 * 60), 320, dimnames = list(NULL, paste0("g", 1:60)))
  y <- rowSums(x[, 1:3]) / 2 + rnorm(320)
  for (j in 4:15) {
    own <- study %in% sample(8, 5)
    x[own, j] <- 0.6 * y[own] + 0.6 * x[own, j]
  }
  fit_of <- function(level) {
    with_binding("rise_level", level,
                 greedy_rls(x, y, groups = study, criterion = "worst", k = 12))
  }
  fit <- fit_of(rise_level)
  expect_true(all(selected(fit, index = TRUE) <= 3))
  expect_gt(sum(selected(fit_of(0), index = TRUE) %in% 4:15), 1)
  expect_true(verify(fit, x, y, claims = 100, progress = FALSE)$ok)
})

test_that("data without groups to compare are refused, and groups that say little are named", {
  d <- draw_studies(1)
  expect_error(greedy_rls(d$x, d$y, criterion = "worst"), "give `groups`",
               class = "sparsels_error_input")
  expect_error(greedy_rls(d$x, d$y, groups = seq_along(d$y), criterion = "worst"),
               "each has one row", class = "sparsels_error_input")
  expect_error(greedy_rls(d$x, d$y, groups = rep(1:2, length.out = length(d$y)),
                          criterion = "worst"), "three groups", class = "sparsels_error_input")
  expect_error(greedy_rls(d$x, d$y, groups = d$study, criterion = "worst", size = "1se"),
               "lacks", class = "sparsels_error_input")
  expect_error(greedy_rls(d$x, d$y, groups = d$study, criterion = "mean_sd", size_folds = 2),
               NA)
  folds <- make_folds(length(d$y), 2, groups = d$study)
  expect_error(greedy_rls(d$x, d$y, groups = d$study, criterion = "worst", size_folds = folds),
               "one group at a time", class = "sparsels_error_input")
  expect_error(greedy_rls(d$x, d$y, groups = d$study, criterion = "worst_error"), "classes",
               class = "sparsels_error_input")
  # a study of one class, which the null model predicts: no ratio
  study <- rep(1:4, each = 8)
  y <- factor(ifelse(study == 1, "a", ifelse(seq_along(study) %% 3 == 0, "b", "a")))
  set.seed(1)
  x <- matrix(rnorm(32 * 5), 32)
  expect_message(fit <- greedy_rls(x, y, groups = study, criterion = "worst_error", k = 2,
                                   size = "criterion", lambda = 1, refit = FALSE),
                 "leaves out '1'", class = "sparsels_message_groups")
  code <- list(x = x, code = ifelse(y == "b", 1, -1), w = rep(1, 32), study = study)
  expect_equal(fit$path$criterion[3],
               study_criterion(code, fit$path$feature[2:3], 1, "worst_error"))
  # of a study with one class the squared error has a ratio
  expect_message(greedy_rls(x, y, groups = study, criterion = "worst", k = 2, lambda = 1,
                            size = "criterion"), NA)
  expect_message(greedy_rls(x, rnorm(32), groups = c(1, study[-1] + 1), criterion = "worst", k = 2,
                            lambda = 1, size = "criterion"), "has 1 row",
                 class = "sparsels_message_groups")
})

test_that("the concordance within groups leaves out groups without pairs and ties a constant", {
  d <- draw_studies(1)
  first <- d$study == d$study[1]
  y <- 1e9 * replace(d$y, first, 2)
  expect_message(fit <- greedy_rls(d$x, y, groups = d$study, criterion = "worst_concordance", k = 2,
                                   lambda = 1, size = "criterion", refit = FALSE),
                 "in which no two rows have different responses", class = "sparsels_message_groups")
  code <- list(x = d$x, code = y / 1e9, w = rep(1, length(y)), study = d$study)
  expect_equal(fit$path$criterion[3],
               study_criterion(code, fit$path$feature[2:3], 1, "worst_concordance"))
  of <- function(y, criterion) {
    suppressMessages(greedy_rls(d$x, y, groups = d$study, criterion = criterion, k = 1, lambda = 1,
                                size = "criterion"))
  }
  expect_error(of(as.integer(factor(d$study)), "mean_sd_concordance"),
               "in any group no two rows have different", class = "sparsels_error_input")
  expect_error(of(factor(rep_len(1:3, length(d$y))), "worst_concordance"),
               "numbers or two classes, not more", class = "sparsels_error_input")
  expect_error(of(cbind(d$y, 1 - d$y), "worst_concordance"), "not several",
               class = "sparsels_error_input")
})

test_that("of two classes the concordance within groups is the area under their ROC curves", {
  d <- draw_studies(3)
  fit <- suppressMessages(greedy_rls(d$x, d$y, groups = d$study, criterion = "worst_concordance",
                                     lambda = 3, k = 2, size = 2, refit = FALSE))
  code <- d$code
  wrong <- vapply(split(seq_along(code), d$study), function(own) {
    residual <- study_residuals(replace(d, "w", list(rep(1, length(code)))),
                                fit$path$feature[2:3], 3, NULL)
    score <- (code - residual)[own]
    upper <- score[code[own] > 0]
    lower <- score[code[own] < 0]
    mean(outer(upper, lower, "<") + outer(upper, lower, "==") / 2)
  }, 0)
  expect_equal(fit$path$criterion[3], 2 * max(wrong))
})
