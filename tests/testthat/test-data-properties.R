# The table of properties and methods is what the methods do.

test_that("each method refuses the properties that it lacks and takes the others", {
  skip_if_not_installed("survival")
  set.seed(41)
  m <- 24
  x <- matrix(rnorm(m * 4), m, dimnames = list(NULL, c("a", "b", "c", "d")))
  y <- x[, 1] - x[, 2] + rnorm(m) / 4
  made <- list(
    within = as_problem(x, y, within = rep(1:6, each = 4)),
    hierarchy = as_problem(x, y, hierarchy = list(d = "a")),
    columns_group = as_problem(x, y, columns_group = c("u", "u", "", "")),
    smooth = as_problem(x, y, smooth = 3),
    interactions = as_problem(x, y, interactions = 2),
    groups = as_problem(x, y, groups = rep(1:8, 3)),
    center_groups = as_problem(x, y, groups = rep(1:8, 3), center_groups = "columns"),
    weights = as_problem(x, y, weights = rep(c(0, 1), c(4, 20))),
    strata = as_problem(x, survival::Surv(exp(y), rep(c(1, 1, 0), 8)), strata = rep(1:3, 8)),
    risk_offset = as_problem(x, survival::Surv(exp(y), rep(c(1, 1, 0), 8)), offset = y),
    start = as_problem(x, survival::Surv(0 * y, exp(y), rep(c(1, 1, 0), 8))),
    no_logs = as_problem(x, survival::Surv(replace(exp(y), 1, 0), rep(c(1, 1, 0), 8))),
    ordinal = seal(as_ordinal(working_copy(
      as_problem(x, cut(y, 3, ordered_result = TRUE), task = "classification")
    )))
  )
  records <- Filter(function(record) !is.null(record$lacking), property_records())
  expect_setequal(names(made), names(records))
  given <- list(
    l1_size = list(size = 2), safe_screen = list(lambda = 1),
    fs_lssvm = list(kernel = kernel_gaussian(0.1), gamma = 1, prototypes = 6),
    tune_lssvm = list(kernel = kernel_gaussian(0.1), prototypes = 6, method = "grid", budget = 4),
    kernel_rls = list(kernel = kernel_gaussian(0.1)),
    lssvm = list(kernel = kernel_gaussian(0.1), gamma = 1),
    cv_variance = list(kernel = kernel_linear(), n = 4, repeats = 2)
  )
  for (method in fitters) {
    run <- get(method, asNamespace("sparsels"))
    arguments <- given[[method]]
    if ("k" %in% names(formals(run)) && !method %in% c("fs_lssvm", "tune_lssvm")) arguments$k <- 2
    for (property in names(records)) {
      problem <- made[[property]]
      of_times <- property %in% c("strata", "start", "no_logs", "risk_offset") &&
        method %in% cox_methods
      # by default the loss of an l1 path
      own <- if (of_times && !is.null(formals(run)$loss)) list(loss = "cox") else
        if (property == "ordinal" && "loss" %in% names(formals(run))) list(loss = "ordinal")
      call <- function() {
        suppressMessages(suppressWarnings(do.call(run, c(list(problem), arguments, own))))
      }
      if (method %in% records[[property]]$lacking) {
        expect_error(call(), class = "sparsels_error_input", info = paste(method, property))
      } else {
        expect_no_error(call())
      }
    }
  }
})

test_that("factors are taken column by column where groups of columns are not supported", {
  set.seed(42)
  d <- data.frame(f = factor(rep(c("u", "v", "w"), 8)), a = rnorm(24))
  expect_message(omp(d, rnorm(24), k = 1, size = 1), class = "sparsels_message_groups")
})
