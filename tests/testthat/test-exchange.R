# Every exchange against retraining from scratch, and a local search against a slow twin.

# a fit whose model of that size has these columns
fit_of_set <- function(pb, features, ...) {
  fit <- bare_rls(pb, k = length(features), ...)
  fit$size <- 0L
  fit$coefficients[[length(features) + 1]]$features <- features
  fit
}

# The criterion after each exchange of a result, by retraining.
retrained <- function(others, pb, features, lambda, folds, name) {
  mapply(function(drop, add) {
    set <- c(setdiff(features, match(drop, pb$columns$name)),
             if (!is.na(add)) match(add, pb$columns$name))
    oracle_figure(pb, set, lambda, folds, name)[["value"]]
  }, others$drop, others$add)
}

test_that("the numbers of a small example are those worked out by hand", {
  i <- 1:12
  x <- cbind(sin(i), cos(2 * i), (i %% 5) / 5, sqrt(i))
  pb <- as_problem(x, ((7 * i) %% 11) / 3, standardize = FALSE)
  others <- exchange(fit_of_set(pb, c(1L, 3L), lambda = 0.5), pb, size = 2)
  figure <- function(drop, add) {
    sprintf("%.10f", others$criterion[others$drop %in% drop & others$add %in% add])
  }
  expect_identical(figure("V1", "V2"), "0.3386629114")
  expect_identical(figure("V1", "V4"), "1.3496934259")
  expect_identical(figure("V3", "V2"), "0.3549602368")
  expect_identical(figure("V3", "V4"), "1.6887092163")
  expect_identical(figure("V1", NA), "1.2288501758")
  expect_identical(figure("V3", NA), "1.5129164762")
})

test_that("all exchanges equal retraining", {
  set.seed(1)
  cases <- random_cover(12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
                        folds = c("loo", "five", "repeated"), lambda = c(0.01, 1, 30),
                        criterion = c("squared", "absolute", "error", "squared"))
  for (row in seq_len(nrow(cases))) {
    case <- cases[row, ]
    pb <- random_problem(18, 9, case$task, case$weights, case$covariates, sparse = case$sparse)
    folds <- switch(case$folds, loo = make_folds(pb, "loo"), five = unequal_folds(pb),
                    repeated = unequal_folds(pb, 2))
    name <- if (case$criterion == "error" &&
                pb$coding$task == "regression") "squared" else case$criterion
    fit <- suppressWarnings(bare_rls(pb, k = 3, lambda = case$lambda, folds = folds,
                                     criterion = name))
    others <- exchange(fit, pb, size = 3, keep = NULL)
    # itself, 3 drops, 5 additions and 15 swaps: column 7 is constant
    expect_identical(nrow(others), 24L)
    features <- selected(fit, 3, index = TRUE)
    expect_lt(relative_error(others$criterion,
                             retrained(others, pb, features, case$lambda, folds, name)), 1e-9)
    # sorted but for rounding, as duplicates tie
    expect_true(all(diff(others$criterion) > -1e-10 * attr(others, "set")$null))
    own <- is.na(others$drop) & is.na(others$add)
    expect_equal(others$criterion[own], fit$path$criterion[4], tolerance = 1e-12)
    expect_identical(attr(others, "set")$null, fit$path$criterion[1])
  }
})

test_that("areas under the curve are exact, too, and the largest comes first", {
  set.seed(2)
  pb <- random_problem(14, 6, "binary", duplicate = FALSE)
  fit <- bare_rls(pb, k = 2, lambda = 1, criterion = "auc")
  others <- exchange(fit, pb, size = 2, keep = NULL)
  features <- selected(fit, 2, index = TRUE)
  by_hand <- mapply(function(drop, add) {
    set <- c(setdiff(features, match(drop, pb$columns$name)),
             if (!is.na(add)) match(add, pb$columns$name))
    oracle_pairs_out(pb, set, 1)
  }, others$drop, others$add)
  expect_equal(others$criterion, unname(by_hand), tolerance = 1e-10)
  expect_false(is.unsorted(-others$criterion))
})

test_that("skipping candidates changes nothing, nor do threads and the form of the data", {
  set.seed(3)
  x <- matrix(rnorm(400 * 70), 400, dimnames = list(NULL, paste0("g", 1:70)))
  y <- x[, 1] - x[, 2] + x[, 3] / 4 + rnorm(400)
  fit <- bare_rls(x, y, k = 4, lambda = 10)
  others <- exchange(fit, x, size = 4, keep = 3)
  expect_identical(nrow(others), 1L + 4L + 3L + 12L)
  set.seed(4)
  threaded <- exchange(fit, x, size = 4, keep = 3, threads = 2)
  expect_identical(threaded[], others[])
  every <- with_binding("skipping_pays", function(problem) FALSE,
                        exchange(fit, x, size = 4, keep = NULL))
  for (member in c(NA, selected(fit, 4))) {
    best <- every[every$drop %in% member & !is.na(every$add), ][1:3, ]
    found <- others[others$drop %in% member & !is.na(others$add), ]
    expect_identical(found$add, best$add)
    expect_equal(found$criterion, best$criterion, tolerance = 1e-12)
  }
  expect_identical(nrow(every), 1L + 4L + 66L + 4L * 66L)
  pb <- as_problem(x, y)
  shuffled <- x[, sample(70)]
  d <- data.frame(y, x)
  expect_identical(exchange(fit, pb, size = 4, keep = 3)[], others[])
  expect_identical(exchange(fit, x, y, size = 4, keep = 3)[], others[])
  expect_identical(exchange(fit, shuffled, size = 4, keep = 3)[], others[])
  expect_identical(exchange(fit, y ~ ., d, size = 4, keep = 3)[], others[])
  expect_identical(exchange(fit, y ~ ., data = d, size = 4, keep = 3)[], others[])
})

# The best swap again and again, every set retrained.
slow_exchange <- function(pb, features, lambda, folds) {
  swaps <- list()
  repeat {
    own <- oracle_squared(pb, features, lambda, folds)
    pairs <- expand.grid(drop = features, add = setdiff(which(pb$columns$usable), features))
    value <- mapply(function(drop, add) {
      oracle_squared(pb, c(setdiff(features, drop), add), lambda, folds)
    }, pairs$drop, pairs$add)
    best <- which.min(value)
    if (value[best] > own - 1e-9 * own) return(list(features = features, swaps = swaps))
    swaps <- c(swaps, list(c(pairs$drop[best], pairs$add[best], value[best])))
    features <- replace(features, features == pairs$drop[best], pairs$add[best])
  }
}

test_that("improving ends where the slow twin ends, by the same swaps", {
  set.seed(5)
  made <- 0
  for (task in c("one", "two", "binary")) {
    pb <- random_problem(20, 9, task, weights = TRUE, duplicate = FALSE)
    folds <- if (task == "two") make_folds(pb, 5) else make_folds(pb, "loo")
    fit <- fit_of_set(pb, c(9L, 6L, 8L), lambda = 2, folds = folds)
    better <- exchange(fit, pb, size = 3, improve = TRUE)
    slow <- slow_exchange(pb, c(9L, 6L, 8L), 2, folds)
    set <- attr(better, "set")
    expect_identical(set$features, slow$features)
    expect_true(set$optimal)
    expect_identical(nrow(set$swaps), length(slow$swaps))
    expect_equal(set$swaps$criterion, vapply(slow$swaps, `[`, 0, 3), tolerance = 1e-9)
    expect_identical(set$swaps$drop, pb$columns$name[vapply(slow$swaps, `[`, 0, 1)])
    expect_false(is.unsorted(-set$swaps$criterion, strictly = TRUE))
    expect_identical(selected(better), pb$columns$name[slow$features])
    again <- exchange(fit_of_set(pb, set$features, lambda = 2, folds = folds), pb, size = 3)
    expect_true(attr(again, "set")$optimal)
    expect_equal(again$criterion, better$criterion, tolerance = 1e-12)
    made <- made + nrow(set$swaps)
  }
  expect_gt(made, 3)
})

test_that("a duplicate is a tie, not an improvement", {
  set.seed(6)
  x <- matrix(rnorm(60), 20)
  pb <- as_problem(cbind(x, x[, 1], 1), x[, 1] + rnorm(20) / 4)
  better <- exchange(bare_rls(pb, k = 1, lambda = 1e-3), pb, size = 1, improve = TRUE)
  expect_true(attr(better, "set")$optimal)
  expect_identical(selected(better), "V1")
  expect_equal(picture(better)$data$cost[1], 0, tolerance = 1e-6)
  # all usable columns: nothing to add, nothing to swap
  all <- exchange(bare_rls(pb, k = 4, lambda = 1), pb, size = 4)
  expect_identical(nrow(all), 5L)
  none <- exchange(bare_rls(pb, k = 4, lambda = 1), pb, size = 0, keep = 2)
  expect_identical(none$add, c("V1", "V4", NA))
  expect_error(plot(none), class = "sparsels_error_input")
})

test_that("fits by other methods, criteria and lambdas", {
  set.seed(7)
  pb <- random_problem(30, 8, duplicate = FALSE)
  folds <- make_folds(pb, "loo")
  for (fit in list(best_subset(pb, k = 3), l1_path(pb, nlambda = 50), omp(pb, k = 3))) {
    expect_error(exchange(fit, pb, size = 3), "`lambda` must be given")
    others <- exchange(fit, pb, size = 3, lambda = 0.3, keep = 2)
    expect_equal(others$criterion,
                 unname(retrained(others, pb, selected(fit, 3, index = TRUE), 0.3, folds,
                                  "squared")), tolerance = 1e-9)
  }
  refitted <- greedy_rls(pb, k = 3, size = 3)
  for (size in 1:3) {
    set <- attr(exchange(refitted, pb, size = size), "set")
    expect_identical(set$lambda, refitted$path$refit_lambda[size + 1])
    expect_equal(set$criterion, refitted$path$criterion[size + 1], tolerance = 1e-12)
  }
  worst <- function(y, prediction, fold) max(abs(y - prediction))
  own <- bare_rls(pb, k = 2, lambda = 1, criterion = worst)
  expect_error(exchange(own, pb), "`criterion` must be given")
  others <- exchange(own, pb, size = 2, criterion = worst)
  expect_equal(attr(others, "set")$criterion, own$path$criterion[3], tolerance = 1e-12)
  absolute <- exchange(own, pb, size = 2, criterion = "absolute", folds = 5, lambda = 2, keep = 1)
  expect_identical(attr(absolute, "set")$measure$name, "absolute")
})

test_that("what a feature is worth is its worth to the fit, whose coefficients are refitted", {
  loo <- function(...) {
    fit <- lm(y ~ ...)
    mean((resid(fit) / (1 - hatvalues(fit)))^2)
  }
  # a difference of two close columns, which a search at a large lambda cannot use
  set.seed(3)
  a <- rnorm(200)
  b <- a + rnorm(200) / 10
  c <- rnorm(200)
  y <- 10 * a - 10 * b + 0.6 * c + rnorm(200) * 0.3
  d <- data.frame(a, b, c)
  fit <- greedy_rls(d, y, size = 3)
  others <- exchange(fit, d, y)
  members <- member_table(others)
  worth <- c(a = loo(cbind(b, c)), b = loo(cbind(a, c)), c = loo(cbind(a, b)))
  expect_equal(members$dropped, unname(worth[members$feature]), tolerance = 0.6)
  expect_identical(members$feature[3], "c")
  judged <- judge(d, y, size = 3, seed = 1, outer = 3, permutations = 0, pairs = 0, repeats = 0,
                  proof = 0, claims = 0)
  own <- fit$path$criterion[4]
  expect_equal(judged$features$dropped * own,
               members$dropped[match(judged$features$name, members$feature)])
})

test_that("Ctrl-C keeps the features done", {
  set.seed(8)
  pb <- random_problem(20, 8, duplicate = FALSE)
  fit <- bare_rls(pb, k = 4, lambda = 1)
  count <- 0
  search <- greedy_path
  stops <- function(...) {
    count <<- count + 1
    if (count == 4) raise_interrupt()
    search(...)
  }
  with_binding("greedy_path", stops, {
    expect_warning(others <- exchange(fit, pb, size = 4), class = "sparsels_interrupted")
  })
  expect_identical(attr(others, "set")$status, "interrupted")
  expect_identical(attr(others, "set")$optimal, NA)
  expect_length(unique(others$drop), 3)
  expect_output(print(others), "based on the features done")
})

test_that("rows in another order are known by their names where no column is chosen", {
  set.seed(10)
  x <- matrix(rnorm(30 * 12), 30, dimnames = list(paste("patient", 30:1), NULL))
  fit <- greedy_rls(x, rnorm(30), k = 3, lambda = 30, size = 0)
  expect_error(exchange(fit, x[30:1, ], size = 2), "row 1 is 'patient 1', not 'patient 30'",
               class = "sparsels_error_input")
  expect_s3_class(exchange(fit, unname(x), size = 2), "exchange")
})

test_that("x of other rows than y is refused by every question about a fit", {
  set.seed(11)
  x <- matrix(rnorm(200), 40)
  for (y in list(x[, 1] + rnorm(40), factor(x[, 1] > 0))) {
    fit <- greedy_rls(x, y, k = 1, lambda = 1, size = 1)
    for (question in list(exchange, certify, judge)) {
      expect_error(question(fit, x[40:1, ], y), "are rows in another order",
                   class = "sparsels_error_input")
    }
    expect_s3_class(exchange(fit, x, y), "exchange")
  }
})

test_that("what is printed, drawn and refused", {
  set.seed(9)
  x <- matrix(rnorm(40 * 30), 40, dimnames = list(NULL, paste0("gene", 1:30)))
  y <- x[, 7] - x[, 20] + rnorm(40) / 2
  fit <- bare_rls(x, y, k = 4, lambda = 10)
  others <- exchange(fit, x, size = 3, keep = 4)
  drawn <- plot(others, main = "a title")
  expect_identical(nrow(drawn), sum(!is.na(others$drop)))
  own <- attr(others, "set")$criterion
  expect_equal(drawn$cost, 100 * (drawn$criterion / own - 1), tolerance = 1e-12)
  expect_identical(levels(drawn$add)[1], "(dropped)")
  expect_identical(class(others[1:2, ]), "data.frame")
  expect_identical(others$criterion, others[["criterion"]])
  expect_identical(generics::tidy(others), others[])
  expect_identical(generics::glance(others)$value, own)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(others)), "ggplot_built")
  pb <- as_problem(x, y)
  poor <- fit_of_set(pb, c(1L, 7L), lambda = 10)
  expect_output(print(summary(others)), "swapped = with its")
  expect_snapshot({
    print(others)
    print(exchange(poor, pb, size = 2, keep = 1))
    print(exchange(poor, pb, size = 2, keep = 1, improve = TRUE))
    refusal(exchange(rls(x, y), x))
    refusal(exchange(fit))
    refusal(exchange(fit, x, keep = 0))
    refusal(exchange(fit, x, size = 9))
    refusal(exchange(fit, x, improve = 1))
    refusal(exchange(fit, x, lambda = 0))
    refusal(exchange(fit, x[40:1, ]))
    refusal(exchange(fit, 2 * x))
    refusal(exchange(fit, x[-1, ]))
    refusal(exchange(fit, x[, 1:20]))
    refusal(exchange(fit, x, rev(y)))
    refusal(exchange(fit, as_problem(x, y, weights = rep(2, 40))))
    refusal(exchange(fit, x, Keep = 2))
    refusal(print(structure(others, set = NULL)))
  })
})

test_that("data of another number of rows are said to be so, whatever the fit keeps of its rows", {
  x <- matrix(rnorm(300), 30)
  y <- x[, 1] + rnorm(30)
  frame <- data.frame(y, x)
  fit <- greedy_rls(y ~ ., frame, weights = 1:30, size = 1)
  plain <- greedy_rls(x, y, weights = 1:30, offset = 30:1, size = 1)
  expect_error(exchange(plain, x[1:20, ], y[1:20]), "20 rows x 10 columns, but the fit has 30 rows")
  expect_error(exchange(fit, y ~ ., frame[1:20, ]), "20 rows x 10 columns, but the fit")
  expect_error(verify(fit, y ~ ., frame[1:20, ]), "20 rows x 10 columns, but the fit has 30 rows")
})

test_that("the data frame of a fit may be given as `data` alone", {
  set.seed(8)
  d <- data.frame(matrix(rnorm(120), 30), f = gl(2, 1, 30))
  d$y <- d$X1 + rnorm(30)
  d$X2[4] <- NA
  fit <- greedy_rls(y ~ ., data = d, na.action = na.omit, k = 3, lambda = 1, size = 2)
  expect_equal(tidy(exchange(fit, data = d)), tidy(exchange(fit, d)), ignore_attr = TRUE)
  expect_equal(certify(fit, data = d)$proofs, certify(fit, d)$proofs)
  expect_equal(verify(fit, data = d, claims = Inf)$claims, verify(fit, d, claims = Inf)$claims)
  judged <- function(...) {
    judge(fit, ..., outer = 3, permutations = 0, pairs = 0, repeats = 0, proof = 0, claims = 0,
          seed = 1)
  }
  expect_equal(judged(data = d)$features, judged(d)$features)
  expect_error(exchange(fit, data = d[1:20, ]), "rows", class = "sparsels_error_argument")
  for (f in list(exchange, certify, verify)) {
    expect_error(f(fit), "`x` is missing", class = "sparsels_error_argument")
  }
})

test_that("the data of a fit to a subset of rows are given as a whole", {
  set.seed(3)
  d <- data.frame(y = rnorm(30), a = rnorm(30), b = rnorm(30), w = rep(1:3, 10))
  fit <- greedy_rls(y ~ a + b, d, weights = w, subset = a > -1, k = 2, lambda = 1, size = 1)
  table <- function(...) as.data.frame(tidy(exchange(fit, ...)))
  expected <- table(d[d$a > -1, ])
  expect_identical(table(d), expected)
  # its arguments may be expressions of variables of the data
  expect_equal(table(y ~ a + b, d, weights = w, subset = a > -1), expected)
  expect_identical(certify(fit, y ~ a + b, data = d, weights = w, subset = a > -1)$members,
                   certify(fit, d)$members)
  expect_identical(verify(fit, d)$status, "complete")
  expect_identical(nrow(augment(fit, d)), sum(d$a > -1))
  expect_error(exchange(fit, y ~ a + b, d, weights = 3 - w, subset = a > -1),
               "the weight of row 1 is another", class = "sparsels_error_argument")
})

test_that("properties of rows without the response are refused with the way out", {
  set.seed(5)
  data <- data.frame(a = rnorm(30), b = rnorm(30), w = runif(30))
  data$y <- data$a + rnorm(30)
  fit <- greedy_rls(y ~ a + b, data, k = 2, lambda = 1, size = 1, weights = w)
  for (call in list(function() exchange(fit, data, weights = data$w),
                    function() verify(fit, data, weights = w))) {
    expect_error(call(), "`weights` goes with the response: give `y` or the formula too",
                 class = "sparsels_error_argument")
  }
  expect_identical(exchange(fit, data)$path, exchange(fit, y ~ a + b, data, weights = w)$path)
})

test_that("data given again keep the name of the response of the fit", {
  x <- matrix(rnorm(90), 30)
  outcome <- x[, 1] + rnorm(30)
  fit <- greedy_rls(x, outcome, k = 2, lambda = 1, size = 1)
  expect_output(print(exchange(fit, x, outcome)), "response: outcome, numeric")
  none <- best_subset(x, outcome, k = 2, size = 1)
  expect_error(exchange(none, x), "has none above 0", class = "sparsels_error_argument")
  expect_s3_class(exchange(none, x, lambda = 1), "exchange")
})
