# The error of a list of columns, and of random ones, against retraining from scratch.

# Figures of a list of columns by retraining, at the lambda with the smallest squared error.
retrained_panel <- function(pb, features, folds, name,
                            lambdas = 16^(-3:1) * mean_square(pb)) {
  squared <- vapply(lambdas, function(lambda) oracle_squared(pb, features, lambda, folds), 0)
  lambda <- lambdas[which.min(squared)]
  c(oracle_figure(pb, features, lambda, folds, name), lambda = lambda)
}

# the lists that panel_error() draws after set.seed(seed)
drawn_lists <- function(seed, count, usable, size) {
  set.seed(seed)
  lapply(task_streams(count), function(stream) {
    with_stream(stream, usable[sample.int(length(usable), size)])
  })
}

test_that("panel and random lists equal retraining", {
  set.seed(1)
  cases <- random_cover(12, task = c("one", "two", "binary", "three"), weights = c(TRUE, FALSE),
                        covariates = c(TRUE, FALSE), sparse = c(TRUE, FALSE),
                        folds = c("loo", "five", "repeated"), given = c(TRUE, FALSE),
                        criterion = c("squared", "absolute", "error", "auc"))
  for (row in seq_len(nrow(cases))) {
    case <- cases[row, ]
    pb <- random_problem(20, 9, case$task, case$weights, case$covariates, sparse = case$sparse)
    folds <- switch(case$folds, loo = make_folds(pb, "loo"), five = make_folds(pb, 5),
                    repeated = make_folds(pb, 4, repeats = 2))
    name <- case$criterion
    if (name == "error" && pb$coding$task == "regression") name <- "squared"
    if (name == "auc" && (pb$coding$task != "binary" || folds$loo)) name <- "absolute"
    panel <- c(8L, 2L, 1L)
    set.seed(row)
    got <- suppressWarnings(panel_error(pb, panel, random = 4, folds = folds, criterion = name,
                                        lambda = if (case$given) 0.7))
    lambdas <- if (case$given) 0.7 else 16^(-3:1) * mean_square(pb)
    slow <- retrained_panel(pb, panel, folds, name, lambdas)
    expect_equal(got$lambda, slow[["lambda"]])
    expect_equal(got$error, slow[["value"]], tolerance = 1e-9)
    if (name != "auc") expect_equal(got$se, slow[["se"]], tolerance = 1e-8)
    expect_equal(got$null, oracle_figure(pb, integer(), 1, folds, name)[["value"]],
                 tolerance = 1e-9)
    held_out <- lapply(seq_len(ncol(folds$ids)), function(repetition) {
      oracle_held_out(pb, panel, slow[["lambda"]], folds$ids[, repetition])
    })
    expect_equal(unname(got$held_out), Reduce(`+`, held_out) / length(held_out), tolerance = 1e-8)
    random <- vapply(drawn_lists(row, 4, which(pb$columns$usable), 3), function(columns) {
      retrained_panel(pb, columns, folds, name, lambdas)[["value"]]
    }, 0)
    expect_equal(got$random, random, tolerance = 1e-9)
    better_by <- (if (name == "auc") 1 else -1) * (random - got$error)
    # a duplicated column makes ties
    expect_equal(got$p.value, (1 + sum(better_by > -1e-9)) / 5)
  }
})

test_that("a panel by name, by number, of a problem and of a formula is the same", {
  set.seed(2)
  x <- matrix(rnorm(30 * 12), 30, dimnames = list(NULL, paste0("g", 1:12)))
  y <- x[, 3] + rnorm(30)
  results <- list(
    panel_error(x, y, c("g3", "g1"), random = 0), panel_error(x, y, c(3, 1), random = 0),
    panel_error(as_problem(x, y), c("g3", "g1"), random = 0),
    panel_error(as_problem(x, y), features = c(3, 1), random = 0),
    panel_error(y ~ ., data.frame(y, x), c("g3", "g1"), random = 0),
    panel_error(y ~ ., data = data.frame(y, x), features = c("g3", "g1"), random = 0)
  )
  for (one in results) {
    expect_equal(one$error, results[[1]]$error, tolerance = 1e-14)
    expect_identical(selected(one), c("g3", "g1"))
    expect_identical(one$p.value, NA_real_)
  }
  # what a refit of the same columns says
  fit <- greedy_rls(x, y, k = 2, size = "criterion", refit = TRUE)
  own <- panel_error(x, y, selected(fit, 2), random = 0)
  expect_equal(own$error, fit$path$criterion[3], tolerance = 1e-12)
  expect_equal(own$lambda, fit$path$refit_lambda[3])
  every <- panel_error(x, y, 1:12, random = 3)
  expect_equal(every$random, rep(every$error, 3), tolerance = 1e-9)
  expect_identical(every$p.value, 1)
})

test_that("rows of weight 0 are predicted by the model of the others", {
  set.seed(3)
  x <- matrix(rnorm(25 * 4), 25)
  y <- x[, 1] + rnorm(25)
  some <- panel_error(x, y, 1:2, random = 0, lambda = 3, weights = rep(c(1, 0), c(20, 5)))
  fit <- rls(as_problem(x[1:20, ], y[1:20])[, 1:2], lambda = 3)
  expect_equal(some$held_out[1:20, ], as.vector(fit$held_out), tolerance = 1e-10)
  expect_equal(some$held_out[21:25, ], predict(fit, x[21:25, 1:2]), tolerance = 1e-10,
               ignore_attr = TRUE)
})

test_that("a true panel beats random ones, a random one does not; the seed decides", {
  set.seed(4)
  x <- matrix(rnorm(60 * 100), 60)
  y <- x[, 1] - x[, 2] + rnorm(60)
  set.seed(5)
  good <- panel_error(x, y, 1:2, random = 50)
  set.seed(5)
  expect_identical(panel_error(x, y, 1:2, random = 50)$random, good$random)
  expect_identical(good$p.value, 1 / 51)
  expect_gt(panel_error(x, y, 3:4, random = 50)$p.value, 0.1)
})

test_that("Ctrl-C keeps the random lists done", {
  set.seed(6)
  pb <- random_problem(20, 8)
  count <- 0
  refit <- refit_leading
  stops <- function(...) {
    count <<- count + 1
    if (count == 5) raise_interrupt()
    refit(...)
  }
  with_binding("refit_leading", stops, {
    expect_warning(panel <- panel_error(pb, 1:2), class = "sparsels_interrupted")
  })
  expect_length(panel$random, 3)
  expect_identical(panel$status, "interrupted")
})

test_that("what is printed, drawn and refused", {
  set.seed(7)
  x <- matrix(rnorm(40 * 30), 40, dimnames = list(NULL, paste0("gene", 1:30)))
  tumour <- factor(ifelse(x[, 7] - x[, 20] + rnorm(40) / 2 > 0, "yes", "no"))
  panel <- panel_error(x, tumour, c("gene7", "gene20"), random = 20)
  expect_identical(plot(panel, main = "a title"), generics::tidy(panel))
  expect_identical(generics::tidy(panel)$error, c(panel$error, panel$null, panel$random))
  expect_identical(generics::glance(panel)$value, panel$error)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(panel)), "ggplot_built")
  none <- panel_error(x, tumour, 7, random = 0, folds = 5, criterion = "auc")
  expect_snapshot({
    print(panel)
    print(panel_error(x, x[, 7]^2, 1:2, random = 0, lambda = 5))
    refusal(panel_error(x, tumour))
    refusal(panel_error(x, tumour, "TP53"))
    refusal(panel_error(x, tumour, c(1, 2, 1)))
    refusal(panel_error(cbind(x, one = 1), tumour, "one"))
    refusal(panel_error(x, tumour, 1, random = -1))
    refusal(panel_error(x, tumour, 1, lambda = 0))
    refusal(panel_error(x, tumour, 1, Random = 3))
    refusal(plot(none))
    refusal(selected(none, 2))
  })
})

test_that("folds of a panel that cannot be scored are counted", {
  set.seed(5)
  x <- matrix(rnorm(30 * 4), 30)
  class <- factor(rep(c("a", "b"), c(4, 26)))
  folds <- make_folds(30, rep(1:3, c(8, 11, 11)))
  panel <- suppressWarnings(panel_error(x, class, 1:2, folds = folds, criterion = "auc",
                                        random = 0))
  expect_output(print(panel), "2 of 3 folds could not be scored: no rows of both classes")
  expect_no_match(capture.output(print(panel_error(x, class, 1:2, random = 0))), "be scored")
})

test_that("a panel of a likelihood has the held-out deviance of a search that took it", {
  skip_if_not_installed("survival")
  set.seed(6)
  x <- matrix(rnorm(48 * 4), 48)
  time <- rexp(48, exp(x[, 1] - x[, 2]))
  site <- rep(1:2, 24)
  for (case in list(
    list("cox", survival::Surv(time, rep(c(1, 1, 0), 16)), NULL),
    list("cox", survival::Surv(0 * time, time, rep(c(1, 0, 1), 16)), site),
    list("poisson", rpois(48, exp(x[, 1] - x[, 2])), NULL)
  )) {
    pb <- as_problem(x, case[[2]], strata = case[[3]])
    panel <- panel_error(pb, 1:2, loss = case[[1]], folds = rep(1:4, 12), lambda = 3, random = 0)
    fit <- greedy_rls(pb, loss = case[[1]], criterion = case[[1]], folds = rep(1:4, 12), k = 2,
                      lambda = 3, size = "criterion", refit = FALSE)
    expect_setequal(fit$path$feature[-1], 1:2)
    expect_equal(c(panel$null, panel$error, panel$se),
                 c(fit$path$criterion[c(1, 3)], fit$path$se[3]), tolerance = 1e-6)
  }
})
