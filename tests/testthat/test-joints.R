# Random combinations of properties of the data, methods and routes. Whatever the combination, two
# routes to the same number agree, every claim of a fit is retrained, and what is refused is refused
# by the package.

# Responses of a sum f of columns.
responses <- list(
  numbers = function(f) f, small = function(f) 1e-8 * f,
  two = function(f) factor(ifelse(f > 0, "ill", "well")),
  three = function(f) factor(findInterval(f, c(-0.5, 0.6)), 0:2, c("lo", "mid", "hi")),
  ordered = function(f) {
    factor(findInterval(f, c(-0.5, 0.6)), 0:2, c("lo", "mid", "hi"), ordered = TRUE)
  },
  several = function(f) cbind(u = f, v = f + stats::rnorm(length(f))),
  counts = function(f) stats::rpois(length(f), exp(0.5 + f / 2)),
  times = function(f) survival::Surv(draw_times(f), stats::rbinom(length(f), 1, 0.7)),
  entered = function(f) {
    start <- round(stats::runif(length(f), 0, 5))
    survival::Surv(start, start + draw_times(f), stats::rbinom(length(f), 1, 0.7))
  }
)
draw_times <- function(f) round(20 * stats::rexp(length(f), exp(f / 2)) + 1)

# Arguments of as_problem() for m rows and n columns: how often each is given, and its value.
properties <- list(
  weights = list(0.3, function(m, n) sample(c(0, 1, 1, 2, 0.5), m, TRUE)),
  groups = list(0.25, function(m, n) paste0("p", sample(m %/% 4, m, TRUE))),
  adjust = list(0.25, function(m, n) data.frame(age = stats::rnorm(m), site = gl(2, 1, m))),
  penalty = list(0.2, function(m, n) sample(c(0, 1, 1, 1, 2), n, TRUE)),
  columns_group = list(0.15, function(m, n) paste0("G", (seq_len(n) - 1) %/% 3)),
  missing = list(0.2, function(m, n) "mean"),
  smooth = list(0.15, function(m, n) TRUE),
  interactions = list(0.15, function(m, n) TRUE),
  within = list(0.1, function(m, n) rep(seq_len(m), each = 4)[seq_len(m)]),
  strata = list(0.1, function(m, n) rep_len(1:2, m)),
  class_weights = list(0.1, function(m, n) "balanced"),
  standardize = list(0.1, function(m, n) FALSE),
  intercept = list(0.1, function(m, n) FALSE),
  offset = list(0.1, function(m, n) stats::rnorm(m)),
  center_groups = list(0.3, function(m, n) sample(c("columns", "scale"), 1)),
  hierarchy = list(0.05, function(m, n) "strong"),
  standardize_response = list(0.1, function(m, n) FALSE)
)

# Data of a random kind: list(x, y, own: further arguments of as_problem(), kind).
draw_data <- function() {
  m <- sample(c(20, 30, 45), 1)
  n <- sample(c(3, 6, 12), 1)
  x <- matrix(stats::rnorm(m * n), m, dimnames = list(NULL, paste0("v", seq_len(n))))
  kind <- sample(names(responses), 1)
  y <- responses[[kind]](x[, 1] + x[, 3] + stats::rnorm(m) / 2)
  given <- Filter(function(property) stats::runif(1) < property[[1]], properties)
  own <- lapply(given, function(property) property[[2]](m, n))
  if (!kind %in% c("times", "entered")) own$strata <- NULL
  if (!kind %in% c("two", "three")) own$class_weights <- NULL
  if (kind %in% c("two", "three", "ordered")) own$offset <- NULL
  if (is.null(own$groups)) own$center_groups <- NULL
  sparse <- stats::runif(1) < 0.15
  if (!is.null(own$missing)) x[sample(m * n, m * n %/% 30)] <- NA else
    if (sparse) x <- Matrix::Matrix(replace(x, abs(x) < 0.4, 0), sparse = TRUE)
  list(x = x, y = y, own = own, kind = kind)
}

# A method that may suit the data: list(name, further arguments).
draw_method <- function(kind) {
  losses <- switch(kind, counts = "poisson", two = "logistic", three = "multinomial",
                   ordered = "ordinal", times = "cox", entered = "cox", "squared")
  name <- sample(c("greedy_rls", "l1_path", "rls", "kernel_rls", "omp", "forward_regression", "rfe",
                   "poss", "lssvm"), 1, prob = c(10, 6, 2, 2, 1, 1, 1, 1, 1))
  loss <- if (name %in% c("greedy_rls", "l1_path") && stats::runif(1) < 0.5) losses
  further <- list(
    greedy_rls = list(list(), list(size = "criterion"), list(lambda = c(1, 10), size = "criterion"),
                      list(lambda = "full"), list(search = "floating"),
                      list(size_folds = "loo", k = 3), list(size_folds = 3, k = 3)),
    l1_path = list(list(folds = 5), list(folds = 3, alpha = 0.5), list(nlambda = 10)),
    poss = list(list(iterations = 500))
  )[[name]]
  own <- if (length(further)) further[[sample(length(further), 1)]]
  list(name = name, own = c(own, if (!is.null(loss)) list(loss = loss)))
}

# The value of some code, or its refusal by the package, without what is said beside.
or_refused <- function(code) {
  suppressWarnings(suppressMessages(tryCatch(code, sparsels_error = identity)))
}

test_that("two routes to a number agree, whatever properties meet", {
  skip_if_not_installed("survival")
  done <- 0
  seeds <- problems_to_try(150, 15)
  for (seed in seeds) {
    set.seed(seed)
    data <- draw_data()
    method <- draw_method(data$kind)
    what <- paste(seed, data$kind, method$name, toString(names(data$own)),
                  toString(names(method$own)))
    problem <- or_refused(do.call(as_problem, c(data[c("x", "y")], data$own)))
    if (inherits(problem, "error")) next
    fit <- or_refused(do.call(method$name, c(list(quote(problem)), method$own)))
    if (inherits(fit, "error")) next
    done <- done + 1
    new <- list(data$x)
    new$adjust <- data$own$adjust
    new$newoffset <- data$own$offset
    if (!is.null(data$own$center_groups)) new$groups <- data$own$groups
    by_problem <- or_refused(predict(fit, problem, type = "link"))
    by_data <- or_refused(do.call(predict, c(list(fit), new, type = "link")))
    expect_equal(by_data, by_problem, info = what, ignore_attr = TRUE, tolerance = 1e-7)
    if (is.null(fit$kernel)) {
      new[[1]] <- new[[1]][, rev(seq_len(ncol(data$x)))]
      turned <- or_refused(do.call(predict, c(list(fit), new, type = "link")))
      expect_equal(turned, by_data, info = what, tolerance = 1e-9)
    }
    # random data are often ill-conditioned, which is for other tests
    claims <- or_refused(verify(fit, problem, claims = 15))$claims
    expect_true(all(claims$deviation <= pmax(claims$tolerance, 1e-7)), info = what)
    file <- tempfile()
    saveRDS(fit, file)
    expect_identical(utils::capture.output(print(readRDS(file))), utils::capture.output(print(fit)))
    panel <- or_refused(as_panel(fit))
    if (!inherits(panel, "error")) {
      write_panel(panel, file)
      variables <- as.data.frame(as.matrix(data$x))
      variables[names(data$own$adjust)] <- data$own$adjust
      variables$offset <- data$own$offset
      travelled <- predict(read_panel(file), variables, type = "link")
      # the level of a Cox model is arbitrary
      about <- function(score) if (is_cox(fit$problem)) score - mean(score) else score
      expect_equal(about(travelled), about(by_problem), info = what, ignore_attr = TRUE,
                   tolerance = 1e-9)
    }
    in_memory <- is.matrix(data$x) && is.null(data$own$center_groups)
    if (in_memory) {
      unlink(file)
      write_file_matrix(data$x, file)
      read <- or_refused(do.call(as_problem, c(list(file_matrix(file), data$y), data$own)))
      of_file <- or_refused(do.call(method$name, c(list(quote(read)), method$own)))
      if (!inherits(of_file, "error")) {
        expect_equal(predict(of_file, read, type = "link"), by_problem, info = what,
                     tolerance = 1e-6)
      }
    }
    unlink(file)
    outer <- or_refused(do.call(cross_validate, c(
      list(quote(problem), get(method$name)), method$own, list(outer = 2, baselines = NULL)
    )))
    if (!inherits(outer, "error")) expect_true(all(is.finite(outer$estimates$mean)), info = what)
  }
  # most combinations are taken
  expect_gt(done, 0.4 * length(seeds))
})
