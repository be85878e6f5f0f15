# p-values of the whole selection against a loop written down, and where nothing is true.

made <- function(m = 30, n = 40, signal = 0) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  list(x = x, y = signal * x[, 3] + rnorm(m))
}

# the orders that permutation_test() draws after set.seed(seed)
drawn_orders <- function(seed, count, y, groups = NULL, strata = NULL, ...) {
  pb <- as_problem(matrix(rnorm(NROW(y) * 2), NROW(y)), y, ...)
  exchange <- exchange_of(null_response(pb), groups, strata)
  set.seed(seed)
  lapply(task_streams(count), function(stream) with_stream(stream, permuted_rows(exchange)))
}

# the test without searches for many responses in one call
one_by_one <- function(...) {
  with_binding("is_shared_search", function(...) FALSE, permutation_test(...))
}

relative <- function(fit) min(fit$path$criterion) / fit$path$criterion[1]

test_that("the p-value is that of a loop over problems made anew", {
  set.seed(1)
  data <- made(signal = 0.7)
  w <- runif(30, 0.5, 2)
  set.seed(5)
  tested <- permutation_test(data$x, data$y, greedy_rls, weights = w, k = 4, lambda = 3,
                             permutations = 20)
  by_hand <- vapply(drawn_orders(5, 20, data$y, weights = w), function(order) {
    relative(greedy_rls(data$x, data$y[order], weights = w[order], k = 4, lambda = 3,
                        size = "criterion", refit = FALSE))
  }, 0)
  expect_equal(tested$null, by_hand, tolerance = 1e-12)
  own <- greedy_rls(data$x, data$y, weights = w, k = 4, lambda = 3, size = "criterion",
                    refit = FALSE)
  expect_equal(tested$statistic, relative(own), tolerance = 1e-12)
  expect_identical(tested$p.value, (1 + sum(by_hand <= relative(own))) / 21)
  expect_identical(dim(tested$null_by_size), c(20L, 5L))
  expect_equal(tested$by_size$p.value[1], 1)
  for (s in 2:5) {
    as_small <- tested$null_by_size[, s] <= tested$by_size$statistic[s]
    expect_equal(tested$by_size$p.value[s], (1 + sum(as_small)) / 21)
  }
})

test_that("strata keep their responses, and covariates their effect", {
  set.seed(2)
  data <- made()
  strata <- rep(c("a", "b", "c"), c(5, 15, 10))
  orders <- drawn_orders(3, 10, data$y, strata = match(strata, unique(strata)))
  for (order in orders) expect_identical(strata[order], strata)
  expect_true(all(vapply(orders, function(order) identical(sort(order), 1:30), NA)))
  set.seed(3)
  tested <- permutation_test(data$x, data$y, greedy_rls, strata = strata, k = 2, permutations = 10)
  by_hand <- vapply(orders, function(order) {
    relative(greedy_rls(data$x, data$y[order], k = 2, size = "criterion", refit = FALSE))
  }, 0)
  expect_equal(tested$null, by_hand, tolerance = 1e-12)

  age <- rnorm(30)
  y <- data$y + 4 * age
  set.seed(4)
  adjusted <- permutation_test(data$x, y, greedy_rls, adjust = age, k = 2, permutations = 10)
  null <- lm(y ~ age)
  by_hand <- vapply(drawn_orders(4, 10, y, adjust = age), function(order) {
    moved <- fitted(null) + residuals(null)[order]
    relative(greedy_rls(data$x, moved, adjust = age, k = 2, size = "criterion", refit = FALSE))
  }, 0)
  expect_equal(adjusted$null, by_hand, tolerance = 1e-10)
})

test_that("groups with one response each exchange it whatever their numbers of rows", {
  set.seed(12)
  data <- made()
  patient <- rep(c(4, 9, 2, 7, 1, 3, 8, 6, 5, 10), c(1:5, 5:1))
  groups <- match(patient, unique(patient))
  ill <- factor(rep(c("no", "yes"), 5)[groups])
  orders <- drawn_orders(13, 30, ill, groups)
  for (order in orders) {
    shares <- tapply(ill[order] == "yes", groups, mean)
    expect_true(all(shares %in% 0:1))
    expect_equal(sum(shares), 5)
  }
  expect_gt(length(unique(vapply(orders, function(order) sum(ill[order] == "yes"), 0L))), 1)
  set.seed(13)
  tested <- permutation_test(data$x, ill, greedy_rls, k = 2, groups = patient, permutations = 30)
  by_hand <- vapply(orders, function(order) {
    relative(bare_rls(data$x, ill[order], k = 2, groups = patient))
  }, 0)
  expect_equal(tested$null, by_hand, tolerance = 1e-12)
  # within strata, of which the second has a single group
  strata <- match(groups, 10, nomatch = 0) + 1
  for (order in drawn_orders(14, 9, ill, groups, strata)) {
    expect_identical(strata[order], strata)
    expect_true(all(groups[order][strata == 2] == 10))
  }
})

test_that("groups whose responses differ exchange them with groups of their size, in order", {
  set.seed(15)
  data <- made()
  shuffled <- sample(30)
  patient <- rep(letters[1:9], c(2, 2, 2, 3, 3, 5, 4, 4, 5))[shuffled]
  groups <- match(patient, unique(patient))
  size <- tabulate(groups)
  for (weights in list(NULL, runif(30, 0.5, 2))) {
    orders <- drawn_orders(16, 20, data$y, groups, weights = weights)
    for (order in orders) {
      expect_identical(sort(order), 1:30)
      source <- tapply(groups[order], groups, unique)
      expect_type(source, "integer")
      expect_identical(size[source], size)
      for (g in 1:9) expect_identical(order[groups == g], which(groups == source[g]))
    }
    set.seed(16)
    tested <- permutation_test(data$x, data$y, greedy_rls, k = 2, groups = patient, lambda = 5,
                               weights = weights, permutations = 20)
    by_hand <- vapply(orders, function(order) {
      relative(bare_rls(data$x, data$y[order], k = 2, weights = weights[order], lambda = 5,
                        groups = patient))
    }, 0)
    expect_equal(tested$null, by_hand, tolerance = 1e-12)
  }
  # where weights differ, a response that is constant in every group stays with its weight
  ill <- factor(groups > 5)
  for (order in drawn_orders(17, 9, ill, groups, weights = runif(30))) {
    expect_identical(sort(order), 1:30)
  }
})

test_that("groups are those of the folds unless others are given", {
  set.seed(18)
  data <- made()
  patient <- rep(1:10, each = 3)
  folds <- make_folds(30, 5, groups = patient)
  run <- function(...) {
    set.seed(19)
    permutation_test(data$x, data$y, greedy_rls, k = 2, permutations = 9, ...)
  }
  grouped <- run(folds = folds)
  expect_match(grouped$permuted, "of 10 groups")
  expect_identical(grouped$null, run(folds = folds, groups = patient)$null)
  expect_identical(run(folds = folds, groups = FALSE)$permuted, "responses")
  expect_match(run(size_folds = folds)$permuted, "of 10 groups")
  expect_match(run(folds = "loo", groups = rep(1:15, 2))$permuted, "of 15 groups")
  expect_error(run(folds = folds, groups = rep(1:15, 2)), "`folds` must hold whole groups")
  expect_identical(run(folds = folds$ids[, 1])$permuted, "responses")
})

test_that("the number of different permutations is counted", {
  set.seed(20)
  counted <- function(y, groups = NULL, strata = NULL, ...) {
    null <- null_response(as_problem(matrix(rnorm(2 * length(y)), length(y)), y, ...))
    exchange <- exchange_of(null, groups, strata)
    drawn <- replicate(2000, paste(permuted_response(null, permuted_rows(exchange)),
                                   collapse = " "))
    expect_identical(length(unique(drawn)), as.integer(count_permutations(null, exchange)))
    count_permutations(null, exchange)
  }
  expect_equal(counted(c(1.5, 2, 3, 4, 4)), 60)
  expect_equal(counted(factor(rep(1:2, 3))), 20)
  expect_equal(counted(1:8 / 3, strata = rep(1:4, each = 2)), 16)
  expect_equal(counted(factor(c(1, 1, 2, 1, 1, 2)), c(1, 1, 2, 3, 3, 4)), 6)
  expect_equal(counted(1:9 / 7, c(1, 1, 2, 2, 3, 3, 4, 4, 4)), 6)
  words <- function(y) {
    null <- null_response(as_problem(matrix(rnorm(12), 6), y))
    permuted_words(null, exchange_of(null, NULL, rep(1:3, each = 2)), 9)
  }
  expect_match(words(rep(1:3 / 7, each = 2)), " [(]only 1 different one[)]$")
  expect_match(words(1:6 / 7), " [(]only 8 different ones[)]$")
})

test_that("searches for many responses in one call give what single ones do", {
  set.seed(21)
  m <- 40
  x <- matrix(rnorm(m * 300), m)
  y <- x[, 1] + 2 * rnorm(m)
  classes <- cut(rank(y), c(0, 12, 27, m))
  patient <- rep(1:10, each = 4)
  runs <- list(
    list(x, y, permutations = 105), list(x, cbind(y, rnorm(m)), weights = rep(2, m)),
    list(Matrix::Matrix(x * (x > 0.7), sparse = TRUE), y, folds = make_folds(m, 5)),
    list(x, classes, criterion = "error"), list(x, classes, criterion = "balanced",
                                                             folds = rep(1:8, 5), groups = FALSE),
    list(x, y, adjust = rnorm(m), strata = rep(1:2, 20), criterion = "absolute"),
    list(x, y, folds = make_folds(m, 5, groups = patient), lambda = 3, standardize = FALSE),
    list(x, classes == levels(classes)[1], groups = patient, keep = 2, threads = 2),
    list(x, y, start = c(30, 5, 17)), list(x, y, start = 9, folds = make_folds(m, 5), lambda = 1),
    list(x, y, start = 9, cost = seq(1, 3, length.out = ncol(x)), budget = 6)
  )
  batches <- ceiling(105 / responses_at_once) + length(runs) - 1
  called <- 0
  counting <- function(...) {
    called <<- called + 1
    many(...)
  }
  many <- greedy_paths
  for (run in runs) {
    run <- c(run, list(method = greedy_rls, k = 4),
             if (is.null(run$permutations)) list(permutations = 3))
    set.seed(22)
    together <- with_binding("greedy_paths", counting, do.call(permutation_test, run))
    set.seed(22)
    single <- do.call(one_by_one, run)
    expect_equal(together$null, single$null, tolerance = 1e-12)
    expect_equal(together$null_by_size, single$null_by_size, tolerance = 1e-12)
    expect_identical(together$p.value, single$p.value)
    expect_identical(together$by_size$p.value, single$by_size$p.value)
  }
  expect_identical(called, batches)
  # whatever else the response may change is left to single calls
  for (other in list(list(search = "floating"), list(lambda = c(1, 10)), list(lambda = "full"),
                     list(refit = TRUE), list(size = "cv"), list(weights = runif(m)),
                     list(folds = 5))) {
    run <- c(list(x[, 1:70], y, greedy_rls, k = 2, permutations = 1), other)
    suppressWarnings(with_binding("greedy_paths", counting, do.call(permutation_test, run)))
  }
  suppressWarnings(permutation_test(x[, 1:70], y > 0, greedy_rls, k = 2, criterion = "auc",
                                    permutations = 1))
  permutation_test(x[, 1:70], y, function(...) bare_rls(..., k = 2), permutations = 1)
  expect_identical(called, batches)
})

test_that("permutations of columns that move together share one set of products", {
  set.seed(24)
  m <- 400
  x <- matrix(rnorm(m * 4), m)
  y <- sin(x[, 1]) + 2 * rnorm(m)
  age <- rnorm(m)
  cut <- 0
  counting <- function(...) {
    cut <<- cut + 1
    by_responses(...)
  }
  by_responses <- products_of_responses
  for (run in list(list(x, y), list(x, y, adjust = age), list(x, cbind(y, rnorm(m))),
                   list(x, y > 0))) {
    run <- c(run, list(method = greedy_rls, smooth = TRUE, folds = make_folds(m, 4), k = 3,
                       permutations = 4))
    set.seed(25)
    together <- with_binding("products_of_responses", counting, do.call(permutation_test, run))
    set.seed(25)
    single <- do.call(one_by_one, run)
    expect_equal(together$null_by_size, single$null_by_size, tolerance = 1e-10)
    expect_equal(together$by_size, single$by_size, tolerance = 1e-10)
  }
  expect_identical(cut, 4)
  # by default folds take the place of leave-one-out where products know their errors
  of_many <- with_binding("placed_rows", 400L, permutation_test(x, y, greedy_rls, smooth = TRUE,
                                                                k = 2, permutations = 2))
  expect_identical(of_many$fit$folds$label, "10-fold")
})

test_that("the error of a procedure repeated in folds is what its path says", {
  set.seed(23)
  data <- made(signal = 1)
  data$y <- data$y / 3
  for (method in list(forward_regression, function(...) greedy_rls(..., refit = FALSE))) {
    fit <- suppressWarnings(method(data$x, data$y, k = 3, size = "cv"))
    tested <- suppressWarnings(permutation_test(data$x, data$y, method, k = 3, size = "cv",
                                                permutations = 2))
    expect_equal(tested$statistic, min(fit$path$cv) / fit$path$cv[1])
    expect_output(print(tested), "error: cross-validated mean squared error relative to")
  }
})

test_that("where nothing is true p-values are uniform", {
  skip_on_cran()
  set.seed(6)
  p <- replicate(120, {
    data <- made(24, 30)
    permutation_test(data$x, data$y, greedy_rls, k = 3, permutations = 9)$p.value
  })
  # every tenth is as likely: the mean is 0.55, its standard error 0.026
  expect_lt(abs(mean(p) - 0.55), 0.08)
  expect_lt(mean(p <= 0.1), 0.19)
  expect_gt(mean(p <= 0.5), 0.36)
})

test_that("a signal is found, by any method with a path, and the seed decides", {
  set.seed(7)
  data <- made(signal = 2)
  for (method in list(greedy_rls, forward_regression, omp)) {
    set.seed(8)
    one <- permutation_test(data$x, data$y, method, k = 3, permutations = 19)
    expect_identical(one$p.value, 1 / 20)
    set.seed(8)
    again <- permutation_test(data$x, data$y, method, k = 3, permutations = 19)
    expect_identical(one$null, again$null)
  }
  lasso <- permutation_test(data$x, data$y, l1_path, folds = 5, permutations = 9)
  expect_identical(lasso$p.value, 1 / 10)
  classes <- factor(data$y > 0)
  auc <- permutation_test(data$x, classes, greedy_rls, criterion = "auc", folds = 5, k = 2,
                          permutations = 19)
  expect_identical(auc$p.value, 1 / 20)
  own <- function(y, prediction, fold) mean(sign(y) == sign(prediction))
  attr(own, "better") <- "higher"
  gain <- permutation_test(data$x, classes, greedy_rls, criterion = own, folds = 5, k = 2,
                           permutations = 9)
  expect_lt(gain$statistic, 0)
})

test_that("a criterion of one's own counts by its differences, whatever its sign", {
  set.seed(26)
  data <- made(m = 20, n = 6, signal = 1)
  squared <- function(y, prediction, fold) mean((y - prediction)^2)
  p_value <- function(criterion) {
    set.seed(27)
    permutation_test(data$x, data$y, greedy_rls, criterion = criterion, k = 2, lambda = 5,
                     permutations = 30)
  }
  # leave-one-out, the null model's error is the same for every permutation
  plain <- p_value("squared")
  lower <- p_value(function(...) squared(...) - 100)
  higher <- p_value(structure(function(...) 100 - squared(...), better = "higher"))
  expect_identical(lower$by_size$p.value, plain$by_size$p.value)
  expect_identical(higher$by_size$p.value, plain$by_size$p.value)
  expect_equal(lower$null, higher$null, tolerance = 1e-9)
  expect_lt(lower$statistic, 0)
  expect_output(print(lower), "minus its value for")
})

test_that("sizes by default leave room for the columns that the search begins with", {
  set.seed(28)
  data <- made()
  many <- permutation_test(data$x, data$y, greedy_rls, start = 1:25, permutations = 2)
  expect_identical(many$by_size$size, 0:25)
  pruned <- permutation_test(data$x, data$y, greedy_rls, start = 1:3, search = "backward",
                             permutations = 2)
  expect_identical(pruned$by_size$size, 0:3)
})

test_that("sizes by default count groups of columns", {
  cars <- transform(mtcars, carb = factor(carb), gear = factor(gear))
  tested <- permutation_test(mpg ~ ., data = cars, greedy_rls, permutations = 9)
  expect_identical(max(tested$by_size$size), 10L)
  expect_equal(tested$p.value, 1 / 10)
})

test_that("equal values are as good below 0, too", {
  expect_identical(chance_of(matrix(c(-2, -1, 0, 2)), -1), 3 / 5)
  expect_identical(chance_of(matrix(c(-2, -1, 0, 2)), 2 * (1 - 1e-12)), 1)
})

test_that("Ctrl-C keeps the permutations searched together before", {
  set.seed(24)
  data <- made()
  count <- 0
  many <- greedy_paths
  for (last in list(many, function(...) many(...)[1:7], function(...) {
    paths <- many(...)
    paths[[length(paths)]]$status <- "interrupted"
    paths
  })) {
    stops <- function(...) {
      count <<- count + 1
      if (count < 3) many(...) else last(...)
    }
    count <- 0
    set.seed(25)
    run <- quote(with_binding("greedy_paths", stops, permutation_test(
      data$x, data$y, greedy_rls, k = 2, permutations = 3 * responses_at_once, progress = FALSE
    )))
    if (identical(last, many)) {
      whole <- eval(run)
    } else {
      expect_warning(tested <- eval(run), "interrupted after 50 of 75 permutations",
                     class = "sparsels_interrupted")
      expect_identical(tested$null, whole$null[1:50])
      expect_identical(tested$status, "interrupted")
    }
  }
})

test_that("Ctrl-C keeps the permutations done", {
  set.seed(9)
  data <- made()
  count <- 0
  stops <- function(problem, k = 2) {
    count <<- count + 1
    if (count == 5) raise_interrupt()
    greedy_rls(problem, k = k, lambda = 1, size = "criterion")
  }
  expect_warning(tested <- permutation_test(data$x, data$y, stops, permutations = 50),
                 class = "sparsels_interrupted")
  expect_length(tested$null, 3)
  expect_identical(tested$status, "interrupted")
})

test_that("what is printed, drawn and refused", {
  set.seed(10)
  data <- made(signal = 1)
  tested <- permutation_test(data$x, data$y, greedy_rls, k = 3, permutations = 19)
  blocks <- rep(1:5, c(8, 8, 8, 3, 3))
  grouped <- suppressWarnings(permutation_test(
    data$x, factor(data$y > 0), greedy_rls, criterion = "auc", k = 2, permutations = 19,
    folds = make_folds(30, 3, groups = blocks)
  ), "sparsels_warning_constant")
  expect_identical(plot(tested, main = "a title"), tested$by_size)
  expect_identical(generics::tidy(tested), tested$by_size)
  expect_identical(generics::glance(tested)$p.value, tested$p.value)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(tested)), "ggplot_built")
  expect_output(print(summary(tested)), "statistic = error of that size")
  expect_identical(as.data.frame(tested), generics::tidy(tested))
  expect_snapshot({
    print(tested)
    print(grouped)
    refusal(permutation_test(data$x, data$y))
    refusal(permutation_test(data$x, data$y, rls))
    refusal(permutation_test(data$x, data$y, function(problem) 1:3))
    refusal(permutation_test(data$x, data$y, greedy_rls, permutations = 0))
    refusal(permutation_test(data$x, data$y, greedy_rls, strata = 1:3))
    refusal(permutation_test(data$x, data$y, greedy_rls, strata = 1:30))
    refusal(permutation_test(data$x, data$y, greedy_rls, groups = c(NA, 2:30)))
    refusal(permutation_test(data$x, data$y, greedy_rls, groups = rep(1:2, c(10, 20))))
    refusal(permutation_test(data$x, rep(1:2 / 3, 15), greedy_rls, groups = rep(1:4, c(5, 9, 7, 9)),
                             strata = rep(1:2, c(14, 16))))
    refusal(permutation_test(data$x, rep(1:2 / 3, 15), greedy_rls, groups = rep(1:2, 15),
                             strata = rep(1:2, 15)))
    refusal(permutation_test(data$x, rep(1:2 / 3, 15), greedy_rls, groups = rep(1:2, 15),
                             strata = rep(1:2, c(14, 16))))
    refusal(permutation_test(data$x, data$y > 0, greedy_rls, adjust = 1:30))
    refusal(permutation_test(data$x, data$y, greedy_rls, size = "none"))
  })
})

test_that("pairs of rows with the same responses are permuted within pairs", {
  set.seed(1)
  patient <- rep(1:12, each = 2)
  tissue <- factor(rep(c("normal", "tumour"), 12))
  x <- matrix(rnorm(24 * 60), 24) + rnorm(12)[patient]
  x[, 1:5] <- x[, 1:5] + 2 * (tissue == "tumour")
  shuffled <- sample(24)
  for (rows in list(1:24, shuffled)) {
    pb <- as_problem(x[rows, ], tissue[rows])
    for (order in drawn_orders(3, 20, tissue[rows], match(patient[rows], unique(patient[rows])))) {
      expect_identical(patient[rows][order], patient[rows])
    }
  }
  tested <- permutation_test(x, tissue, greedy_rls, k = 3, groups = patient, permutations = 99)
  expect_match(tested$permuted, "within each of 12 groups (which all have the same responses)",
               fixed = TRUE)
  expect_lt(tested$p.value, 0.02)
  judged <- suppressWarnings(judge(x, tissue, k = 3, groups = patient, seed = 1, outer = 3,
                                   permutations = 99, repeats = 0, pairs = 0, keep = 0, claims = 0),
                             "sparsels_warning_edge")
  expect_lt(judged$permutation$p.value, 0.02)
})

test_that("responses without residuals are permuted within strata of constant covariates", {
  set.seed(41)
  m <- 36
  x <- matrix(rnorm(m * 5), m)
  site <- gl(3, 12)
  responses <- list(
    greedy = list(factor(ifelse(x[, 1] + rnorm(m) > 0, "a", "b")), greedy_rls, NULL),
    counts = list(rpois(m, exp(x[, 2] / 2)), greedy_rls, "poisson"),
    times = list(survival::Surv(rexp(m, exp(x[, 1])), rep(1:0, c(30, 6))), l1_path, "cox")
  )
  for (name in names(responses)) {
    one <- responses[[name]]
    given <- if (name == "times") list(nlambda = 4, folds = rep(1:4, 9)) else
      list(k = 2, lambda = 2, size = "criterion", refit = FALSE)
    given$loss <- one[[3L]]
    run <- function(y) do.call(one[[2L]], c(list(x, y, adjust = site), given))
    test <- function(strata) {
      do.call(permutation_test, c(list(x, one[[1L]], one[[2L]], adjust = site, strata = strata,
                                       permutations = 6), given))
    }
    set.seed(3)
    tested <- suppressWarnings(test(site))
    expect_match(tested$permuted, "^responses, within each of 3 strata")
    orders <- drawn_orders(3, 6, seq_len(m) / 7, strata = as.integer(site))
    by_hand <- vapply(orders, function(order) {
      fit <- suppressWarnings(run(one[[1L]][order]))
      min(fit$path$criterion) / fit$path$criterion[1L]
    }, 0)
    expect_equal(tested$null, by_hand, info = name)
    expect_error(test(rep(1:2, 18)), "`strata` in which these are constant",
                 class = "sparsels_error_argument")
  }
})

test_that("cases with different numbers of controls are permuted within their groups", {
  set.seed(31)
  pair <- rep(1:8, rep(2:3, 4))
  case <- factor(ifelse(duplicated(pair), "control", "case"))
  x <- matrix(rnorm(length(pair) * 4), length(pair))
  run <- function(...) {
    set.seed(32)
    permutation_test(x, case, greedy_rls, k = 2, permutations = 19, ...)
  }
  tested <- run(groups = pair)
  expect_match(tested$permuted, "within each of 8 groups (groups of as many rows have the same",
               fixed = TRUE)
  # every permutation keeps the responses of each group
  null <- null_response(as_problem(x, case, groups = pair))
  exchange <- exchange_of(null, pair, NULL)
  permuted <- replicate(20, as.character(case[permuted_rows(exchange)]))
  expect_gt(length(unique(asplit(permuted, 2L))), 10)
  for (i in 1:20) {
    expect_identical(tapply(permuted[, i] == "case", pair, sum), tapply(case == "case", pair, sum))
  }
  # a group of other responses than those of its size
  other <- replace(case, match(2, pair), "control")
  expect_match(run(groups = replace(pair, 1:2, 9))$permuted, "within each of 8 groups")
  expect_match(permutation_test(x, other, greedy_rls, k = 2, permutations = 9,
                                groups = pair)$permuted, "between groups of the same number")
  # errors of models of one lambda say which
  expect_output(print(tested), sprintf("relative\\s+to the null model, at lambda\\s+%s",
                                       shown_parameter(tested$fit$lambda)))
})
