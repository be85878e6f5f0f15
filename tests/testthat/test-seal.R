# Objects that were edited or damaged are refused; objects as the package made them never are.

skip_on_cran()

source("fuzz-values.R", local = TRUE)

world <- fuzz_world()

# All that a user does with any object.
all_uses <- list(print, summary, function(x) print(summary(x)), plot, tidy, glance, as.data.frame)

# The errors of these uses of an object, or nothing.
trouble_with <- function(object, uses = all_uses) {
  told <- lapply(uses, function(use) {
    tryCatch({
      utils::capture.output(suppressMessages(suppressWarnings(use(object))))
      NULL
    }, sparsels_error_object = function(e) conditionMessage(e), error = function(e) NULL)
  })
  c(unlist(told), if (!inherits(object, "file_matrix")) {
    tryCatch({
      check_sealed(object)
      NULL
    }, error = conditionMessage)
  })
}

expect_passes <- function(object, info) {
  path <- tempfile()
  on.exit(unlink(path))
  saveRDS(object, path)
  expect_identical(trouble_with(object), NULL, info = info)
  expect_identical(trouble_with(readRDS(path), list(print)), NULL, info = paste(info, "read again"))
}

# a method that Ctrl-C ends after so many calls
ended_after <- function(calls, method) {
  done <- 0
  function(...) {
    done <<- done + 1
    if (done > calls) raise_interrupt()
    method(...)
  }
}

test_that("objects of every class pass their own door", {
  for (name in names(fuzz_objects)) {
    object <- suppressWarnings(world[[name]])
    if (is.list(object)) expect_passes(object, name)
  }
  for (name in c("greedy", "expansion", "machine", "mask", "problem", "cvd")) {
    expect_no_error(check_sealed(summary(world[[name]])))
  }
})

test_that("objects in rare states do, too", {
  set.seed(3)
  x <- matrix(rnorm(24 * 6), 24)
  y <- x[, 1] + rnorm(24)
  g <- factor(y > 0)
  pb <- as_problem(x, y)
  query <- rep(1:12, each = 2)
  states <- alist(
    interrupted = cross_validate(pb, ended_after(3, omp), k = 2, outer = 4),
    one_fold = cross_validate(pb, ended_after(2, omp), k = 2, outer = 4),
    few_repeats = learning_curve(pb, ended_after(9, omp), k = 1, repeats = 4),
    few_permutations = permutation_test(pb, ended_after(5, omp), k = 1, permutations = 20),
    few_halves = stability_selection(pb, ended_after(7, omp), q = 1, pairs = 9),
    no_column = greedy_rls(x, rnorm(24), size = 0), no_solution = l1_path(pb, lambda = 1e9),
    excluded = safe_screen(pb, lambda = 1e9), one_solution = l1_path(pb, lambda = 1, folds = "loo"),
    nan = greedy_rls(pb, k = 2, size = 1, criterion = function(residual, ...) {
      if (any(residual == 0)) 0 else NaN
    }),
    two_rows = pb[1:2, ], one_row = pb[1L, ], one_column = pb[, 1L],
    of_two_rows = rls(pb[1:3, ], lambda = 1), of_one_column = greedy_rls(pb[, 2L]),
    no_pair = greedy_rls(x, y, within = query, criterion = "concordance", folds = "loo", k = 2),
    ranked = greedy_rls(x, y, within = query, k = 2, size_folds = 3),
    one_class_out = greedy_rls(x, replace(g, 1:23, "TRUE"), k = 1, size = 1),
    grouped = greedy_rls(x, y, columns_group = c(1, 1, 2, 2, 3, 3), k = 2),
    split = rls(pb, blocks = list(a = 1:3, b = 4:6), lambda = 1),
    stopped = best_subset(pb, k = 3, nodes = 1), no_term = matching_pursuit(diag(3), 1:3, k = 3),
    thresholded = threshold_coef(l1_path(pb, solver = "ipm", nlambda = 3)),
    again = update(poss(pb, k = 2, iterations = 20), iterations = 40),
    given_folds = make_folds(pb, rep(1:2, 12)), one_kernel = kernel_gaussian(1:3),
    priced = greedy_rls(pb, k = 2, cost = 1:6, budget = 5),
    panel = as_panel(greedy_rls(pb, k = 2)), empty_panel = as_panel(l1_path(pb, lambda = 1e9)),
    moved = transfer(pb, rls, groups = rep(1:2, each = 12)),
    moved_once = transfer(pb, ended_after(2, omp), k = 1, groups = rep(1:3, 8))
  )
  made <- 0
  for (name in names(states)) {
    object <- tryCatch(suppressMessages(suppressWarnings(eval(states[[name]]))),
                       sparsels_error_object = function(e) fail(paste(name, conditionMessage(e))),
                       sparsels_error = function(e) NULL)
    made <- made + !is.null(object)
    if (is.list(object)) expect_passes(object, name)
  }
  # a state that is refused before anything is made is no state
  expect_gte(made, length(states) - 4)
  # x, y or both on another scale, by turns
  methods <- list(function(...) greedy_rls(..., k = 2), l1_path, rls, omp)
  for (i in 1:4) for (j in 1:4) {
    scale <- c(1e-150, 1e-60, 1e100, 1e150)[i]
    data <- list(list(x * scale, y), list(x, y * scale), list(x * scale, y * scale))
    data <- data[[(i + j) %% 3 + 1]]
    object <- tryCatch(suppressWarnings(methods[[j]](data[[1L]], data[[2L]])), error = identity)
    expect_false(inherits(object, "sparsels_error_object"))
    if (!inherits(object, "error")) expect_passes(object, format(scale))
  }
})

test_that("parts and conversions of objects pass", {
  set.seed(4)
  x <- matrix(rnorm(24 * 6), 24, dimnames = list(paste0("r", 1:24), paste0("c", 1:6)))
  x[1, 1] <- NA
  pb <- as_problem(x, rnorm(24), missing = "mean")
  expect_no_error(as_problem(pb[1:20, ][, c("c1", "c4")][2:10, ]))
  expect_no_error(greedy_rls(pb[2:20, 1:4], k = 2, size = 1))
  fit <- rls(pb)
  expect_no_error(print(fit$problem)) |> capture.output()
  fit$call <- NULL
  fit$note <- "mine"
  expect_no_error(predict(fit, x[2:3, ]))
})

test_that("an edit of a type, a length or a name is refused by the name of the field", {
  edits <- list(
    gone = function(value) NULL, short = function(value) value[-1L],
    long = function(value) c(value, value[1L]), a_function = function(value) sum,
    text = function(value) if (is.character(value)) 1 else "a",
    renamed = function(value) {
      if (is.list(value)) names(value) <- rev(paste0("a", seq_along(value)))
      value
    }
  )
  at <- 0L
  for (name in c("problem", "folds", "gaussian", "greedy", "lasso", "expansion", "machine", "cvd",
                 "judged", "learnt", "variance", "mask", "tuning", "system", "panel", "halves")) {
    object <- world[[name]]
    for (field in setdiff(names(object), "call")) {
      label <- paste0(name, "$", field)
      # one of the edits that change something, by turns
      at <- at + 1L
      made <- lapply(edits[(at + seq_along(edits)) %% length(edits) + 1L], function(edit) {
        # what cannot be cut, such as a function, is taken away
        tryCatch(edit(object[[field]]), error = function(e) NULL)
      })
      value <- Find(function(it) !identical(it, object[[field]]), made)
      damaged <- object
      damaged[field] <- list(value)
      expect_error(check_sealed(damaged), paste0("`", field, "` of an object"),
                   class = "sparsels_error_object", info = label)
      expect_error(capture.output(print(damaged)), class = "sparsels_error_object", info = label)
    }
  }
  fit <- world$greedy
  fit$problem$z <- fit$problem$z[-1L, , drop = FALSE]
  expect_error(predict(fit, world$x), "`problem` of an object", class = "sparsels_error_object")
  fit <- world$greedy
  dim(fit$fitted) <- rev(dim(fit$fitted))
  expect_error(fitted(fit), "`fitted` of an object", class = "sparsels_error_object")
  fit <- world$greedy
  fit$control <- "greedy"
  expect_error(verify(fit, world$problem), "`control` of an object",
               class = "sparsels_error_object")
  fit <- world$greedy
  fit$problem$columns$squares[1L] <- 0
  expect_error(verify(fit, world$problem), "has another mean or scale",
               class = "sparsels_error_argument")
  expect_error(predict(structure(list(), class = class(fit)), world$x),
               class = "sparsels_error_object")
})

test_that("a value that became missing is refused", {
  missing <- list(status = NA_character_, lambda = NA_real_, k = NA_integer_)
  for (name in c("greedy", "lasso", "expansion")) {
    for (field in intersect(names(missing), names(world[[name]]))) {
      damaged <- world[[name]]
      damaged[[field]][1L] <- missing[[field]]
      for (use in list(print, plot, coef, function(fit) predict(fit, world$x))) {
        expect_error(capture.output(use(damaged)), class = "sparsels_error_object", info = field)
      }
    }
  }
  damaged <- world$greedy
  damaged$problem$columns$usable[2L] <- NA
  expect_error(exchange(damaged, world$x, world$y), "`problem` of an object",
               class = "sparsels_error_object")
})

test_that("C refuses values that it would read by", {
  pb <- world$problem
  fields <- list(c("rows", "weight"), c("rows", "y"), c("columns", "centre"), c("columns", "scale"),
                 c("columns", "squares"), c("columns", "rss"), c("columns", "products"), "z")
  for (field in fields) {
    damaged <- pb
    damaged[[field]][1L] <- NaN
    expect_error(greedy_rls(damaged, k = 2, size = 1), info = toString(field))
    expect_error(l1_path(damaged), info = toString(field))
  }
  folds <- world$folds
  for (value in c(NA, 0L, -1L, 99L, .Machine$integer.max)) {
    folds$ids[2L] <- value
    expect_error(greedy_rls(pb, folds = folds, k = 2, size = 1), class = "sparsels_error_object")
  }
  folds <- world$folds
  folds$loo <- TRUE
  expect_error(greedy_rls(pb, folds = folds, k = 2, size = 1), class = "sparsels_error_object")
  sparse <- as_problem(world$sparse, world$y)
  for (slot in c("i", "p")) {
    for (value in c(NA, -1L, 99L)) {
      damaged <- sparse
      methods::slot(damaged$x, slot)[2L] <- value
      expect_error(greedy_rls(damaged, k = 2, size = 1), class = "sparsels_error_object")
      expect_error(l1_path(damaged), class = "sparsels_error_object")
    }
  }
})

test_that("an object that another session reads loads the package, which prints and predicts", {
  for (name in names(fuzz_objects)) {
    object <- suppressWarnings(world[[name]])
    made <- attr(object, "seal")
    if (!is.null(made)) expect_identical(attr(made, "package"), asNamespace("sparsels"))
  }
  path <- tempfile()
  on.exit(unlink(path))
  saveRDS(list(fit = world$greedy, cvd = world$cvd, x = world$x), path)
  code <- sprintf("it <- readRDS('%s'); print(it$fit); print(it$cvd); cat(predict(it$fit, it$x))",
                  path)
  shown <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE,
                   env = paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)))
  expect_identical(shown[1L], "greedy_rls: forward search by the leave-one-out mean squared error")
  expect_match(shown, "^cross-validation of greedy_rls", all = FALSE)
  expect_equal(scan(text = shown[length(shown)], quiet = TRUE),
               unname(predict(world$greedy, world$x)), tolerance = 1e-6)
})

test_that("prints have the decimal mark of R, and code always has a point", {
  objects <- list()
  for (name in names(fuzz_objects)) objects[[name]] <- suppressWarnings(world[[name]])
  objects <- Filter(is.list, objects)
  code <- function() {
    lapply(c("python", "sql", "excel"), function(language) {
      utils::capture.output(panel_code(world$framed, language))
    })
  }
  plain <- code()
  numbers <- function(text) grep("^(#|--)", text, invert = TRUE, value = TRUE)
  before <- options(OutDec = ",")
  on.exit(options(before))
  for (name in names(objects)) {
    for (use in list(print, function(x) print(summary(x)))) {
      expect_no_warning(text <- utils::capture.output(use(objects[[name]])))
      expect_no_match(text, "[0-9][.][0-9]", info = name)
    }
  }
  expect_identical(lapply(code(), numbers), lapply(plain, numbers))
  expect_identical(whole_number(1234567), "1 234 567")
  locale <- Sys.getlocale("LC_NUMERIC")
  on.exit(Sys.setlocale("LC_NUMERIC", locale), add = TRUE)
  if (suppressWarnings(Sys.setlocale("LC_NUMERIC", "de_DE.UTF-8")) == "") skip("no German locale")
  expect_identical(lapply(code(), numbers), lapply(plain, numbers))
  expect_identical(with_parameter("negbin", 0.5), "negbin(0.5)")
})

test_that("a problem whose columns were edited into no matrix is refused by every use", {
  x <- matrix(c(0, 1, 0, 2, 3, 0, 1, 0, 4, 0, 5, 1, 2, 0, 1, 0, 7, 3), 6)
  y <- c(1, 3, 2, 5, 4, 6)
  uses <- list(rls, l1_path, best_subset, kernel_rls, function(problem) greedy_rls(problem, k = 1),
               function(problem) problem[1:4, ], function(problem) problem[, 1:2],
               function(problem) predict(rls(x, y), problem))
  expect_refused <- function(problem) {
    for (use in uses) expect_error(use(problem), class = "sparsels_error_object")
  }
  for (value in c(NaN, Inf, 1e200)) {
    problem <- as_problem(x, y)
    problem$x[2, 1] <- value
    expect_refused(problem)
  }
  sparse <- as_problem(methods::as(x, "CsparseMatrix"), y)
  edits <- list(i = c(1L, 90L), i = c(1L, -1L), i = c(2L, 0L), p = c(2L, 90L), p = c(4L, 3L),
                x = c(1, Inf))
  for (edit in seq_along(edits)) {
    problem <- sparse
    to <- edits[[edit]]
    slot <- methods::slot(problem$x, names(edits)[edit])
    slot[to[1]] <- to[2]
    methods::slot(problem$x, names(edits)[edit], check = FALSE) <- slot
    expect_refused(problem)
  }
})
