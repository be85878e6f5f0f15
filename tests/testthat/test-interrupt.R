# Ctrl-C returns the steps done so far. The signal is sent from within: by a progress bar, which R
# calls between two looks at the user's keys, and by a criterion.

skip_on_cran()
skip_on_os("windows")

interrupt_me <- function() tools::pskill(Sys.getpid(), tools::SIGINT)

with_bar <- function(bar, code) with_binding("progress_bar", function(...) bar, code)

long_problem <- function(m = 2000, n = 600) {
  set.seed(80)
  x <- matrix(rnorm(m * n), m)
  as_problem(x, x[, 3] - x[, 5] + rnorm(m))
}

test_that("Ctrl-C in the kernel returns the partial path", {
  pb <- long_problem()
  for (folds in list("loo", rep(1:5, 400))) {
    expect_warning(
      fit <- interrupted_at(2, bare_rls(pb, k = 500, lambda = 1, folds = folds)),
      "interrupted: the fit holds the .* steps done so far", class = "sparsels_interrupted"
    )
    expect_identical(fit$status, "interrupted")
    steps <- nrow(fit$path) - 1L
    expect_gte(steps, 2)
    expect_lt(steps, 500)
    # what is computed ahead depends on k, and rounding on that
    whole <- bare_rls(pb, k = steps, lambda = 1, folds = folds)
    expect_equal(fit$path, whole$path, tolerance = 1e-12)
    expect_equal(fit$coefficients[seq_len(steps + 1)], whole$coefficients, tolerance = 1e-12)
    expect_equal(fit$held_out, whole$held_out, tolerance = 1e-12)
    expect_length(predict(fit, pb$x[1:3, ], size = 1), 3)
    expect_error(coef(fit, 500), "the largest size of the fit", class = "sparsels_error_input")
    expect_output(print(fit), "interrupted: this is the path up to there")
  }
})

test_that("Ctrl-C ends the search over lambda too", {
  pb <- long_problem()
  sent <- 0
  bar <- function(done, total, ...) {
    if (done >= 1) {
      sent <<- sent + 1
      send_interrupt()
    }
  }
  # in the first fold of the search: there is nothing to choose a size by
  caught <- tryCatch(with_bar(bar, greedy_rls(pb, k = 500, lambda = c(1, 10, 100))),
                     interrupt = function(condition) "caught")
  expect_identical(caught, "caught")
  expect_identical(sent, 1)
})

test_that("Ctrl-C in the folds of a search chooses by those done, and then returns the path", {
  set.seed(84)
  x <- matrix(rnorm(30 * 8), 30)
  y <- x[, 2] - x[, 5] + rnorm(30)
  calls <- 0
  squared <- function(y, prediction, fold) {
    calls <<- calls + 1
    if (calls == at) send_interrupt()
    mean((y - prediction)^2)
  }
  run <- function() {
    calls <<- 0
    greedy_rls(x, y, k = 4, lambda = c(1, 10), criterion = squared, size_folds = 3)
  }
  at <- Inf
  whole <- run()
  # a search: the start, then every candidate and the model chosen; a fold: a search for each of
  # two lambdas, and their five models scored
  search <- 1 + 9 + 8 + 7 + 6
  fold <- 2 * (search + 5)
  expect_identical(calls, 3 * fold + search)
  for (at in c(1, search + 2, fold, fold + 1, 2 * fold, 3 * fold + 2)) {
    expect_identical(tryCatch(run(), interrupt = function(condition) "caught"), "caught")
  }
  for (at in c(2 * fold + 1, 2 * fold + search + 2, 3 * fold)) {
    expect_warning(fit <- run(), "interrupted after 2 of 3 size folds",
                   class = "sparsels_interrupted")
    expect_identical(fit$lambda_table$lambda, c(10, 1))
    expect_true(all(is.finite(fit$path$cv)))
    expect_identical(fit$status, "complete")
  }
  for (at in 3 * fold + c(11, 20, search)) {
    expect_warning(fit <- run(), "the fit holds the .* steps? done so far",
                   class = "sparsels_interrupted")
    expect_identical(fit$status, "interrupted")
    done <- nrow(fit$path)
    expect_equal(done - 1, sum(at - 3 * fold > cumsum(c(10, 8, 7, 6))))
    expect_identical(fit$path, whole$path[seq_len(done), ])
    expect_identical(fit$lambda, whole$lambda)
  }
})

test_that("Ctrl-C before there is any model is an interrupt", {
  pb <- long_problem(1500, 2500)
  at_once <- function(...) send_interrupt()
  caught <- function(code) tryCatch(code, interrupt = function(condition) "caught")
  expect_identical(
    caught(with_bar(at_once, bare_rls(pb, k = 10, lambda = 1, search = "backward"))), "caught"
  )
  first <- function(y, prediction, fold) at_once()
  expect_identical(caught(bare_rls(matrix(1:12 %% 5, 6), 1:6, criterion = first)), "caught")
  expect_identical(caught(greedy_rls(matrix(1:12 %% 5, 6), 1:6, criterion = first)), "caught")
})

test_that("Ctrl-C in a user's criterion returns the partial path", {
  set.seed(81)
  x <- matrix(rnorm(30 * 8), 30)
  y <- x[, 2] + rnorm(30)
  calls <- 0
  squared <- function(y, prediction, fold) {
    calls <<- calls + 1
    if (calls == at) send_interrupt()
    mean((y - prediction)^2)
  }
  at <- Inf
  whole <- bare_rls(x, y, k = 4, lambda = 1, criterion = squared)
  # the start, then every candidate and the model chosen
  expect_identical(calls, 1 + 9 + 8 + 7 + 6)
  for (at in c(2, 9, 10)) {
    calls <- 0
    caught <- tryCatch(bare_rls(x, y, k = 4, lambda = 1, criterion = squared),
                       interrupt = function(condition) "caught")
    expect_identical(caught, "caught")
  }
  for (at in c(11, 15, 20, 31)) {
    calls <- 0
    expect_warning(fit <- bare_rls(x, y, k = 4, lambda = 1, criterion = squared),
                   class = "sparsels_interrupted")
    done <- nrow(fit$path)
    expect_identical(fit$path, whole$path[seq_len(done), ])
    expect_equal(done - 1, sum(at > cumsum(c(10, 8, 7, 6))))
  }
})

test_that("Ctrl-C between two calls of a criterion does not lose the work", {
  set.seed(82)
  x <- matrix(rnorm(10 * 40), 10)
  y <- rnorm(10)
  calls <- 0
  # the signal is seen when R next looks, wherever that is
  cheap <- function(y, prediction, fold) {
    calls <<- calls + 1
    if (calls == at) interrupt_me()
    sum((y - prediction)^2)
  }
  for (at in c(seq(45, 850, by = 47), 861)) { # the last call of all
    calls <- 0
    expect_warning(fit <- bare_rls(x, y, k = 40, lambda = 1, criterion = cheap),
                   class = "sparsels_interrupted")
    expect_identical(fit$status, "interrupted")
  }
})

test_that("Ctrl-C that R has not seen when a kernel ends does not lose its work", {
  set.seed(83)
  made <- crossprod(matrix(rnorm(20 * 8), 20))
  asked <- 0
  column <- function(j) {
    asked <<- asked + 1
    if (asked == 8) interrupt_me()
    made[, j]
  }
  b <- rnorm(8)
  # R looks for signals once in about a thousand calls: seldom before this column is given, whatever
  # number of calls came first
  sizes <- vapply(1:9, function(i) {
    for (call in seq_len(97L * i)) identity(call)
    asked <<- 0
    expect_warning(fit <- scdp(A = column, b = b, k = 8), class = "sparsels_interrupted")
    expect_identical(fit$status, "interrupted")
    fit$size
  }, 0L)
  expect_true(all(sizes %in% 7:8))
  expect_true(any(sizes == 8))

  # R is asked every tenth of a second, so the end of the kernel may come first or not
  x <- matrix(rnorm(60 * 300), 60)
  y <- drop(x[, 1:9] %*% rnorm(9)) + rnorm(60)
  rows <- matrix(rnorm(4000), 1000)
  waves <- sin(2 * rows[, 1]) + rows[, 2] * rows[, 3] + rnorm(1000) / 4
  fitters <- list(
    function() poss(x, y, k = 8, iterations = 4e5),
    function() best_subset(x[, 10:90], y, k = 7),
    function() l1_path(x, y, nlambda = 500, lambda_min_ratio = 1e-4, folds = 5),
    function() {
      fs_lssvm(rows, waves, kernel = kernel_gaussian(1), gamma = 10, prototypes = 1:1000, k = 150,
               folds = 5)
    }
  )
  signals <- 0
  for (fitter in fitters) {
    sent <- FALSE
    bar <- function(done, total, ...) {
      sent <<- TRUE
      interrupt_me()
    }
    caught <- NULL
    fit <- withCallingHandlers(with_bar(bar, fitter()), sparsels_interrupted = function(w) {
      caught <<- w
      tryInvokeRestart("muffleWarning")
    })
    if (!sent) next # a quick machine
    signals <- signals + 1
    expect_s3_class(caught, "sparsels_interrupted")
    expect_identical(fit$status, "interrupted")
  }
  # a test that sent none has shown nothing
  expect_gt(signals, 0)
})

test_that("long work says how long it will take, once, after a second", {
  time <- 0
  say <- time_sayer("Searching", now = function() time)
  time <- 0.9
  expect_silent(say(1, 1000))
  time <- 2
  expect_silent(say(0, 1000))
  expect_message(say(20, 1000), "^Searching will take about 2 minutes",
                 class = "sparsels_message_time")
  expect_silent(say(21, 1000))
  time <- 0
  say <- time_sayer("Searching", now = function() time)
  time <- 2
  expect_silent(say(2, 12))
})

test_that("the bar lasts as long as a search, which may make more moves than its size", {
  before <- options(cli.progress_show_after = 0, cli.dynamic = FALSE)
  on.exit(options(before))
  set.seed(21)
  x <- matrix(rnorm(1000 * 800), 1000)
  y <- rnorm(1000)
  for (search in c("forward", "floating")) {
    shown <- utils::capture.output(type = "message", {
      fit <- greedy_rls(x, y, k = 40, lambda = 0.01, folds = 10, search = search,
                        size = "criterion", progress = TRUE)
    })
    expect_identical(fit$status, "complete")
  }
  expect_silent(suppressMessages(utils::capture.output(progress_bar(TRUE, "beyond")(3, 2),
                                                       type = "message")))
})

test_that("a time limit is an error with the work done", {
  limited <- function(code) {
    tryCatch(suppressWarnings(code, "sparsels_interrupted"), sparsels_error_time = identity,
             interrupt = function(condition) "an interrupt")
  }
  message <- gettext("reached elapsed time limit", domain = "R")
  ends_at <- function(least, message) {
    function(...) function(done, ...) if (done >= least) stop(message, call. = FALSE)
  }
  pb <- long_problem()
  stopped <- with_binding("progress_bar", ends_at(2, message),
                          limited(bare_rls(pb, k = 500, lambda = 1)))
  expect_s3_class(stopped, c("sparsels_error_time", "sparsels_error", "error", "condition"),
                  exact = TRUE)
  expect_match(conditionMessage(stopped), message, fixed = TRUE)
  steps <- nrow(stopped$result$path) - 1L
  expect_gte(steps, 2L)
  expect_identical(stopped$result$path$feature,
                   bare_rls(pb, k = steps, lambda = 1)$path$feature)
  expect_identical(stopped$result$status, "interrupted")
  # an error of a progress bar is told at the end
  expect_error(suppressWarnings(with_binding("progress_bar", ends_at(2, "no screen"),
                                             bare_rls(pb, k = 500, lambda = 1))), "no screen")

  # R's own limit, in a function of the user that never ends
  y <- rnorm(30)
  x <- matrix(rnorm(240), 30)
  calls <- 0
  endless <- function(y, prediction, ...) {
    calls <<- calls + 1
    while (calls == last) Sys.sleep(0.01)
    mean((y - prediction)^2)
  }
  run <- function(at, code) {
    calls <<- 0
    last <<- at
    on.exit(setTimeLimit())
    limited({
      setTimeLimit(elapsed = 0.3, transient = TRUE)
      code
    })
  }
  last <- Inf
  search <- run(12, bare_rls(x, y, k = 4, lambda = 1, criterion = endless))
  expect_identical(nrow(search$result$path), 2L)
  folds <- run(3, cross_validate(x, y, rls, lambda = 1, outer = 5, measure = endless))
  expect_s3_class(folds, "sparsels_error_time")
  expect_null(run(1, bare_rls(x, y, k = 4, lambda = 1, criterion = endless))$result)
})

test_that("Ctrl-C in a search in R keeps the whole steps done", {
  set.seed(90)
  x <- matrix(rnorm(40 * 12), 40)
  y <- x[, 2] - x[, 5] + x[, 7] / 2 + rnorm(40)
  # a function that each step calls, and the steps in order
  cases <- list(
    wrapper_rls = list("note_model", wrapper_rls),
    lowrank_lssvm = list("note_model", lowrank_lssvm),
    forward_regression = list("add_column", forward_regression),
    omp = list("add_column", omp), foba = list("add_column", foba), rfe = list("drop_from", rfe)
  )
  for (name in names(cases)) {
    run <- function() cases[[name]][[2]](x, y, k = 6, lambda = 1, size = "criterion")
    whole <- run()
    inner <- get(cases[[name]][[1]], asNamespace("sparsels"))
    calls <- 0
    at <- if (name == "rfe") 10 else 4
    stopping <- function(...) {
      calls <<- calls + 1
      if (calls == at) send_interrupt()
      inner(...)
    }
    expect_warning(fit <- with_binding(cases[[name]][[1]], stopping, run()),
                   "the fit holds the .* steps? done so far", class = "sparsels_interrupted")
    expect_identical(fit$status, "interrupted", info = name)
    done <- nrow(fit$path)
    expect_lt(done, nrow(whole$path))
    expect_gt(done, 2)
    expect_identical(fit$path, whole$path[seq_len(done), ], ignore_attr = "seal", info = name)
    size <- fit$path$size[done]
    expect_equal(coef(fit, size = size), coef(whole, size = size), info = name)
    expect_output(print(fit), "interrupted")
    # a time limit is an error with the same work
    calls <- 0
    limit <- function(...) {
      calls <<- calls + 1
      if (calls == at) stop("reached elapsed time limit", call. = FALSE)
      inner(...)
    }
    ended <- expect_error(with_binding(cases[[name]][[1]], limit, suppressWarnings(run())),
                          class = "sparsels_error_time")
    expect_equal(ended$result$path, fit$path, info = name)
  }
  # before a model of size k there is nothing to keep
  at <- 2
  calls <- 0
  caught <- tryCatch(with_binding("drop_from", stopping, run()), interrupt = function(e) "caught")
  expect_identical(caught, "caught")
})
