# Objects that were edited or damaged.

objects <- function() {
  set.seed(31)
  x <- matrix(rnorm(30 * 6), 30)
  y <- x[, 1] + rnorm(30) / 2
  tumour <- factor(y > 0)
  pb <- as_problem(x, tumour)
  A <- crossprod(x) + diag(6)
  kernel <- kernel_gaussian(1)
  list(
    problem = pb, folds = make_folds(pb, 3), greedy_rls = greedy_rls(pb),
    l1_path = l1_path(pb, folds = 5, nlambda = 4), poss = poss(pb, k = 2, iterations = 50),
    best_subset = best_subset(pb, k = 2), rls = rls(pb, lambda = 1:2),
    kernel_rls = kernel_rls(x, y, kernel = kernel, basis = 5, lambda = 1:2),
    fs_lssvm = fs_lssvm(x, tumour, kernel = kernel, gamma = 1, k = 3, prototypes = 8),
    cross_validate = cross_validate(pb, greedy_rls, outer = 2, k = 2, size = 2),
    learning_curve = learning_curve(x, y, omp, k = 2, repeats = 2),
    compare_methods = compare_methods(x, y, k = 2, splits = 2, methods = list(omp = omp)),
    cv_variance = cv_variance(x, y, n = 4, kernel = kernel, folds = 3, repeats = 2, lambda = 1),
    kernel = kernel, nystrom_features = nystrom_features(x, 4, kernel = kernel),
    safe_screen = safe_screen(x, y, lambda = 1), of_problem = summary(pb),
    of_mask = summary(safe_screen(x, y, lambda = 1)),
    certified = safe_screen(x, y, lambda = 1, rule = "gap", fit = l1_path(x, y, nlambda = 4)),
    scdp = scdp(x, y, k = 2),
    matching_pursuit = matching_pursuit(A, A[, 1], k = 2), lars_path = lars_path(A, A[, 1]),
    tune_lssvm = tune_lssvm(x, tumour, budget = 4)
  )
}

damages <- list(
  gone = function(value) NULL,
  short = function(value) value[-1L],
  long = function(value) c(value, value[1L]),
  character = function(value) as.character(seq_along(value)),
  missing = function(value) replace(value, TRUE, NA),
  huge = function(value) if (is.list(value)) list() else replace(value, TRUE, 1e9L),
  function_ = function(value) sum
)

test_that("objects as they are made pass", {
  for (object in objects()) expect_identical(check_object(object), object)
})

test_that("an object with a damaged field is used as before or refused by name", {
  made <- objects()
  troubles <- character()
  for (kind in names(made)) {
    for (field in names(made[[kind]])) {
      for (damage in names(damages)) {
        damaged <- made[[kind]]
        value <- tryCatch(damages[[damage]](damaged[[field]]), error = function(e) NULL)
        damaged[field] <- list(value)
        answer <- tryCatch({
          utils::capture.output(suppressWarnings(print(damaged)))
          NULL
        }, error = identity)
        fine <- is.null(answer) || inherits(answer, "sparsels_error")
        if (!fine) troubles <- c(troubles, sprintf("%s$%s, %s", kind, field, damage))
      }
    }
  }
  expect_identical(troubles, character())
})

test_that("fields that C reads are refused before it does", {
  made <- objects()
  pb <- made$problem
  for (field in c("scale", "centre", "usable", "weights", "z", "rss", "products", "y", "x")) {
    damaged <- pb
    damaged[[field]] <- damaged[[field]][-1L]
    expect_error(greedy_rls(damaged), class = "sparsels_error_object", info = field)
    expect_error(rls(damaged), class = "sparsels_error_object", info = field)
  }
  folds <- made$folds
  folds$ids <- folds$ids[, 0L]
  expect_error(greedy_rls(pb, folds = folds), class = "sparsels_error_object")
  folds <- made$folds
  folds$loo <- TRUE
  expect_error(greedy_rls(pb, folds = folds), class = "sparsels_error_object")
  fit <- made$kernel_rls
  fit$spectrum$basis <- NULL
  expect_error(cv_error(fit, 5), "`spectrum`", class = "sparsels_error_object")
  expect_error(holdout(fit, 1:3), "`spectrum`", class = "sparsels_error_object")
  fit <- made$kernel_rls
  fit$threads <- 1e9
  expect_equal(cv_error(fit, "loo"), cv_error(made$kernel_rls, "loo"))
})
