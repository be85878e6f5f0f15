# What tools/fuzz and test-fuzz.R try on the package: strange values for every argument of every
# function, and objects of every class with one field edited. Three tables (values, calls, objects)
# and the few functions that make cases of them and try one. A call must return, or raise a
# condition whose class begins with "sparsels_", within its time.

# The data that calls and values are about ---------------------------------------------------------

fuzz_world <- function() {
  # packages that other tests attach have functions of the same names, such as rfe()
  world <- new.env(parent = asNamespace("sparsels"))
  set.seed(1)
  x <- matrix(stats::rnorm(72), 12, dimnames = list(NULL, paste0("c", 1:6)))
  world$x <- x
  world$y <- x[, 2] - x[, 5] + stats::rnorm(12) / 4
  world$g <- factor(ifelse(world$y + stats::rnorm(12) > 0, "ill", "well"))
  world$d <- data.frame(x, y = world$y, sex = rep(c("f", "m", "f"), 4))
  world$w <- rep(c(1, 2, 0.5), 4)
  world$age <- stats::rnorm(12)
  # what survival::Surv() makes
  world$times <- structure(cbind(time = c(3, 1:11), status = rep(c(1, 1, 0), 4)), class = "Surv",
                           type = "right", inputAttributes = list())
  world$A <- crossprod(x)
  world$b <- drop(crossprod(x, world$y))
  world$sparse <- methods::as(replace(x, abs(x) < 0.5, 0), "CsparseMatrix")
  world$choose <- function(problem, i, j) problem[i, j]
  world$choose_columns <- function(columns) x[, columns, drop = FALSE]
  # a .bed file of 12 people and 6 variants, and those of their names
  world$cohort <- function() {
    stem <- tempfile("cohort")
    writeBin(as.raw(c(108, 27, 1, rep(c(0xb2, 0xec, 0x8e, 0x3b, 0xc2), length.out = 18))),
             paste0(stem, ".bed"))
    writeLines(paste(1, paste0("c", 1:6), 0, 1:6, "A", "G"), paste0(stem, ".bim"))
    writeLines(paste("fam", 1:12, "0 0 0 -9"), paste0(stem, ".fam"))
    paste0(stem, ".bed")
  }
  world$panel_file <- function() {
    file <- tempfile()
    write_panel(world$carried, file)
    file
  }
  # the picture is made and not drawn
  world$pictured <- function(fit) {
    if (requireNamespace("ggplot2", quietly = TRUE)) is.list(ggplot2::autoplot(fit))
  }
  world$damaged <- function(matrix, name, value) {
    methods::slot(matrix, name, check = FALSE) <- value
    matrix
  }
  for (name in names(fuzz_objects)) {
    eval(bquote(delayedAssign(.(name), .(fuzz_objects[[name]]), world, world)))
  }
  world
}

# Strange values -----------------------------------------------------------------------------------

fuzz_values <- alist(
  # nothing and missing; `left_out` stands for an argument that is not given
  left_out, NULL, NA, NA_integer_, NA_real_, NA_character_, NA_complex_, NaN, character(),
  numeric(), logical(), list(), NULL[0], rep(NA, 12), rep(NA_real_, 12), c(1, NA, 3),
  # numbers
  -1, 0, 0.5, 1, 2, 3L, 1.5, 12, 13, 1e9, -1e9, 1e308, 1e-308, 5e-324, Inf, -Inf,
  .Machine$integer.max, -.Machine$integer.max, 2^53, 1e-300, c(1, 2), 12:1, seq_len(12), 1:1e7,
  numeric(12), rep(1e308, 12), rep(1e-308, 12), as.numeric(1:13), c(1e308, -1e308), 1i,
  rep(1i, 12), as.raw(1), as.raw(1:12), c(1, Inf, 1:10), cumprod(rep(1e25, 12)),
  # words
  "a", "", "\u00e9t\u00e9", "loo", "cv", "1se", "min", "criterion", "squared", "logistic", "c1",
  "precomputed", letters[1:12], c("a", NA), as.character(1:12), "random", "greedy", "auc", "error",
  # logical
  TRUE, FALSE, c(TRUE, FALSE), rep(c(TRUE, FALSE), 6), c(TRUE, NA),
  # names
  c(a = 1, a = 2), stats::setNames(1:12, rep(NA, 12)), stats::setNames(list(1, 2), c("", NA)),
  # factors, dates and other classes
  factor("a"), factor(rep(1:3, 4)), factor(c("a", NA)), ordered(1:12), factor(character()),
  as.Date("2020-01-01"), as.Date("2020-01-01") + 0:11, as.difftime(1, units = "days"),
  as.POSIXct(1:12, origin = "1970-01-01"), as.POSIXlt(as.Date("2020-01-01")),
  numeric_version("1.2"), structure(c(1, 2), class = "integer64"), structure(1, class = "odd"),
  structure(list(), class = "odd"), table(c(1, 2)), stats::ts(1:12), I(1), I(x), times,
  replace(times, 1, 0),
  # lists
  list(1), list(1, "a"), list(list(list(1))), list(NULL), list(1:12, NULL), as.list(1:12),
  list(k = 1), pairlist(a = 1), list(rep(1:3, 4), rep(1:2, 6)), list(1:3, list),
  # language, functions, environments
  list, function() 1, function(x) x, function(...) NULL, function(x, y, z) 1, quote, identity,
  quote(a), quote(a + b), expression(a), ~a, y ~ x, y ~ ., ~ 1, globalenv(), new.env(), baseenv(),
  methods::getClass("numeric"), methods::new("externalptr"), greedy_rls, kernel_linear,
  # matrices and frames
  x, x[0, ], x[, 0], matrix(0, 0, 0), x[1, , drop = FALSE], x[, 1, drop = FALSE], x[, 1:3],
  x[1:5, ], matrix(list(), 2, 2), matrix(list(1), 12, 6), matrix("a", 12, 6), matrix(1i, 12, 6),
  matrix(as.raw(1), 12, 6), matrix(NA, 12, 6), replace(x, 5, NA), replace(x, 5, Inf),
  matrix(0, 12, 6), x * 1e308, x * 1e-308, x * 1e160, x * 1e-160, x > 0, array(1:24, c(2, 3, 4)),
  array(1:12, 12), unname(x), structure(x, odd = list), structure(x, class = "odd"),
  structure(x, dimnames = list(NULL, rep("c1", 6))),
  structure(x, dimnames = list(NULL, c(NA, 1:5))), structure(x, dimnames = list(NULL, rep("", 6))),
  diag(6), diag(12), cbind(x, x), 1:72 + 0 * x,
  matrix(1:72, 12), d, data.frame(), data.frame(a = 1:12), data.frame(a = letters[1:12]), d[0, ],
  d[, 0], list2DF(list(a = as.list(1:12))), data.frame(a = I(x)), data.frame(a = c(1:11, NA)),
  data.frame(day = as.Date("2020-01-01") + 0:11), rep(g, 2), g, y, y * 1e200, y * 1e-200,
  # sparse matrices, sound and damaged
  sparse, sparse[0, ], sparse[, 0], sparse[1:5, ], sparse[, 1:2], sparse != 0,
  methods::as(sparse, "TsparseMatrix"), methods::as(sparse, "RsparseMatrix"), sparse * NaN,
  sparse * 1e308, methods::as(sparse[, 1], "sparseVector"), Matrix::Diagonal(12),
  Matrix::Matrix(A, sparse = TRUE), methods::as(A, "CsparseMatrix"),
  Matrix::sparseMatrix(1:2, 1:2, dims = c(12, 6)), Matrix::Matrix(x, sparse = FALSE),
  methods::as(12:1, "pMatrix"), methods::new("dgCMatrix"),
  damaged(sparse, "x", sparse@x[-1]), damaged(sparse, "i", sparse@i + 9L),
  damaged(sparse, "i", rev(sparse@i)), damaged(sparse, "i", sparse@i - 9L),
  damaged(sparse, "i", 0L * sparse@i), damaged(sparse, "p", sparse@p[1:3]),
  damaged(sparse, "p", rev(sparse@p)), damaged(sparse, "Dim", c(3L, 6L)),
  # objects of the package, and what only calls itself one
  numbers, structure(list(), class = c("file_matrix", "matrix_in_place")),
  problem, classes, folds, rls_fit, greedy, gaussian, mask, lasso, cvd, system, expansion,
  pareto, structure(list(), class = "sparsels_problem"),
  structure(list(), class = "sparsels_folds"),
  structure(list(), class = "sparsels_kernel"),
  structure(list(), class = c("sparse_fit", "sparsels_fit")),
  structure(list(), class = c("poss", "sparse_fit")), structure(list(), class = "sparsels_mask"),
  structure(list(), class = c("l1_path", "sparse_fit", "sparsels_fit")),
  structure(list(), class = c("kernel_fit", "sparsels_fit")),
  structure(list(), class = c("vfold_cv", "rset", "data.frame")),
  structure(1, class = "kernel")
)

# A valid call of every exported function, and of methods with arguments of their own --------------
# Every argument given here by name is tried, and every formal one.

fuzz_calls <- alist(
  as_problem(x, y, weights = w, adjust = age),
  as_problem(y ~ ., data = d, adjust = ~ sex),
  as_problem(d[1:6], y, adjust = d["sex"]),
  as_problem(holed, y, missing = "mean"),
  as_problem(x, y, within = rep(1:4, 3)),
  float_matrix(x),
  file_matrix(numbers$path, nrow = 12, ncol = 6, type = "int16", dimnames = dimnames(x)),
  file_matrix(numbers$path, nrow = 24, ncol = 6, type = "uint8", codes = 0:2),
  bed_matrix(cohort()), as_file_matrix(numbers),
  write_file_matrix(x, path = tempfile(), type = "float", dimnames = NULL, block = 4),
  write_file_matrix(choose_columns, path = tempfile(), nrow = 12, ncol = 6),
  greedy_rls(numbers, y, k = 2, lambda = 1, size = 1),
  make_folds(problem, 3),
  make_folds(12, 3, groups = rep(1:6, 2)),
  step_select_sparsels(structure(list(steps = NULL), class = "recipe"), size = 2),
  greedy_rls(x, y, k = 2, lambda = 1, size = "criterion", weights = w, adjust = age,
             intercept = TRUE, standardize = TRUE),
  greedy_rls(x, g, k = 2, lambda = c(1, 2), size_folds = 3, search = "floating", folds = 4),
  greedy_rls(y ~ ., data = d, k = 2, lambda = 1, size = "criterion"),
  greedy_rls(x, y, k = 3, lambda = 1, size = "criterion", start = c("c4", "c1")),
  greedy_rls(x, y, k = 3, lambda = 1, size = "criterion", cost = 1:6, budget = 9),
  wrapper_rls(x, y, k = 1, lambda = 1),
  lowrank_lssvm(x, y, k = 2, lambda = 1),
  random_selection(x, y, k = 2, lambda = 1),
  sequential_replacement(x, y, k = 2),
  forward_regression(x, y, k = 2),
  omp(x, y, k = 2),
  foba(x, y, k = 2),
  rfe(x, y, k = 2),
  best_subset(x, y, k = 2),
  poss(x, y, k = 2, iterations = 50, restarts = 1),
  poss(x, y, k = 2, iterations = 50, restarts = 1, cost = 1:6, budget = 9),
  rls(x, y, lambda = 1, folds = 3, adjust = age),
  kernel_rls(x, y, kernel = gaussian, lambda = 1, folds = 3),
  kernel_rls(x, y, kernel = gaussian, basis = 4, lambda = c(1, 2), weights = w),
  lssvm(x, g, kernel = gaussian, gamma = 1),
  fs_lssvm(x, g, kernel = gaussian, gamma = 1, prototypes = 5, folds = 3, k = 3),
  fs_lssvm(x, g, kernel = gaussian, gamma = 1, prototypes = 5, folds = 3, solver = "full"),
  tune_lssvm(x, y, method = "grid", budget = 4, folds = 3, prototypes = 4, k = 2),
  tune_lssvm(x, y, solver = "lssvm", budget = 6, folds = 3),
  holdout(rls_fit, rows = 1:2),
  cv_error(expansion, folds = 3),
  cv_variance(x, y, kernel = gaussian, n = 3, folds = 3, lambda = 1, repeats = 2),
  kernel_gaussian(gamma = 1),
  kernel_gaussian(sigma2 = 1),
  kernel_polynomial(degree = 2),
  kernel_linear(),
  select_basis(x, n = 3, method = "random"),
  select_basis(x, n = 3, method = "greedy", y = y, kernel = gaussian),
  select_basis(x, n = 3, method = "k_center"),
  select_basis(x, n = 3, method = "renyi", kernel = gaussian),
  select_basis(x, n = 3, method = "kmeans"),
  select_basis(x, n = 3, method = "loo", y = y, kernel = gaussian, folds = 3, basis = "keep"),
  select_basis(x, n = 3, method = "cluster_mean"),
  nystrom_features(x, prototypes = 1:4, kernel = gaussian),
  scdp(x, y, k = 2),
  scdp(x, y, k = 2, solver = "qr", score = "ols"),
  scdp(A = A, b = b, k = 2),
  matching_pursuit(A, b, k = 2),
  lars_path(A, b, k = 2),
  l1_path(x, y, nlambda = 4),
  l1_path(x, g, loss = "logistic", lambda = c(1, 0.5), folds = 3),
  l1_path(x, g, loss = "hinge", nlambda = 3, screen = "gap"),
  l1_path(x, y, solver = "ipm", nlambda = 3),
  l1_path(x, round(abs(y)), loss = "poisson", nlambda = 3),
  greedy_rls(x, round(abs(y)), loss = "poisson", k = 2, lambda = 3, size_folds = 3),
  l1_path(x, g, loss = "logistic", alpha = 0.5, nlambda = 3),
  l1_path(x, factor(rep(1:3, 4)), loss = "multinomial", grouped = TRUE, nlambda = 3),
  l1_path(x, cbind(y, x[, 1]), standardize_response = FALSE, nlambda = 3),
  l1_size(x, y, size = 2),
  lambda_max(x, y),
  lambda_max(x, g, loss = "logistic"),
  safe_screen(x, y, lambda = 1),
  safe_screen(x, y, lambda = 1, rule = "safe2", fit = lasso, lambda0 = 2),
  safe_screen(x, y, lambda = 1, columns = list(x[, 1:3], x[, 4:6])),
  exclude(mask),
  threshold_coef(interior, rule = "tr", alpha = 2),
  best_lambda(lasso_cv, rule = "min"),
  best_size(greedy, rule = "min", by = "criterion"),
  best_size(cvd, rule = "1se"),
  selected(greedy, size = 1, index = FALSE, lambda = NULL),
  selected(lasso, size = NULL, index = TRUE, lambda = lasso$lambda),
  selected(system, size = 1),
  selected(cvd, size = 1),
  selected(machine),
  cross_validate(x, y, greedy_rls, outer = 3, k = 1, lambda = 1, size = "criterion", folds = "loo",
                 weights = w),
  cross_validate(problem, rls, outer = 3, lambda = 1),
  stability_selection(x, y, omp, pairs = 2, q = 1, threshold = 0.7, groups = rep(1:6, 2)),
  stability(list(1:2, 2:3), n = 6),
  permutation_test(x, y, greedy_rls, k = 1, permutations = 3, strata = sign(age), lambda = 1),
  judge(problem, method = omp, k = 1, outer = 3, permutations = 3, pairs = 2, repeats = 0, keep = 2,
        claims = 3, groups = rep(1:6, 2), seed = 1),
  judge(greedy, problem, outer = 3, permutations = 0, pairs = 2, repeats = 0, seed = 1),
  report(judge(problem, omp, k = 1, outer = 0, permutations = 0, pairs = 0, repeats = 0, seed = 1),
         file = "page.pdf", title = "a page", overwrite = FALSE),
  learning_curve(x, y, omp, k = 1, sizes = c(5, 7, 9), repeats = 3, test = 0.2, groups = age,
                 measure = "absolute"),
  permutation_test(x, y, omp, k = 1, permutations = 3, groups = rep(1:6, 2)),
  added_value(x, y, base = "c2", lambda = 1, folds = 3, permutations = 3, permute = "rows",
              level = 0.9, shrink_base = TRUE),
  rls(x, y, lambda = 1, blocks = list(a = 1:2, b = 3:6)),
  as_problem(x, y, penalty = c(c1 = 0, c2 = Inf, c3 = 2)),
  as_problem(y ~ c1 * c2, data = d, hierarchy = "strong"),
  as_problem(x, y, hierarchy = list(c1 = c("c2", "c3"), c4 = "c1")),
  exchange(greedy, x, y, data = NULL, size = 2, keep = 2, improve = TRUE, lambda = 1,
           criterion = "squared", folds = "loo"),
  certify(greedy, x, y, data = NULL, size = 1:2, criterion = "penalised", nodes = 50),
  alternatives(proof, within = 0.1, size = 2, without = "c1", cost = 1:6, nodes = 50),
  verify(greedy, x, y, claims = 3),
  verify(framed, d[c(1:6, 8)], g, claims = 3),
  risk_groups(survived, groups = 2),
  as_problem(x, g, weights = w, class_weights = c(ill = 2, well = 1)),
  predict(classed, x, type = "prob", calibration = "isotonic"),
  predict(classed, x, type = "class", threshold = 0.4, calibration = "platt"),
  choose_threshold(classed, cost = c(ill = 5, well = 1), sensitivity = NULL, event = "ill",
                   threshold = NULL, calibration = "platt"),
  choose_threshold(classed, sensitivity = c(ill = 0.9)),
  cross_validate(x, g, omp, k = 1, outer = 3, measure = c("brier", "logloss")),
  variable_importance(greedy),
  panel_error(x, y, features = c("c2", "c5"), random = 3, folds = "loo", lambda = NULL,
              criterion = "squared"),
  verify(lasso_cv, x, g, claims = 3),
  verify(expansion, x, y, claims = 3),
  verify(machine, x, g, claims = 3),
  verify(system, A, b, claims = 3),
  compare_methods(x, y, methods = list(omp = omp), k = 1, splits = 2),
  compare_methods(x, y, methods = list(omp = omp), k = 1, splits = 2, test = 0.3,
                  measure = "absolute"),
  as_panel(framed, size = 1, lambda = NULL, threshold = NULL, calibration = NULL),
  as_panel(classed, threshold = 0.4, calibration = "platt"),
  write_panel(carried, file = tempfile()), read_panel(file = panel_file()),
  panel_code(carried, language = "c", name = "f", file = tempfile()),
  transfer(x, y, rls, groups = rep(1:2, 6), measure = "squared", lambda = 1),
  predict(carried, newdata = d, type = "link", interval = "none", level = 0.9),
  # methods
  choose(problem, i = 1:6, j = 1:2),
  predict(greedy, newdata = x, size = 1, type = "link", adjust = NULL, lambda = NULL),
  predict(adjusted, newdata = x, size = NULL, type = "response", adjust = age),
  predict(classed, newdata = x, type = "class"),
  predict(framed, newdata = d),
  predict(lasso, newdata = x, lambda = lasso$lambda),
  predict(expansion, newdata = x, lambda = NULL, type = "link", adjust = NULL),
  predict(rls_fit, newdata = sparse),
  predict(machine, newdata = x, size = NULL, type = "class"),
  predict(cvd, newdata = x, size = 1),
  predict(nystrom, newdata = x),
  coef(greedy, size = 1, lambda = NULL), coef(lasso, lambda = lasso$lambda),
  coef(expansion, lambda = 1), coef(machine, size = 1), coef(system, size = 1),
  coef(knots, lambda = 1), coef(cvd, size = 1),
  fitted(greedy, size = 1), fitted(machine, size = 1),
  residuals(greedy, type = "response"), residuals(expansion, type = "held_out"),
  print(greedy, n = 2), print(lasso, n = 2), print(system, n = 2),
  tidy(greedy, size = 1), tidy(system, size = 1, lambda = NULL), tidy(expansion, lambda = NULL),
  tidy(cvd), tidy(machine, size = 1), glance(greedy), glance(expansion), glance(machine),
  augment(greedy, data = d, newdata = x), augment(expansion, data = d, newdata = x),
  augment(cvd, data = d, newdata = x),
  update(pareto, iterations = 60)
)

# An object of every class, and what can be done with each -----------------------------------------

fuzz_objects <- alist(
  numbers = write_file_matrix(round(x), tempfile(), "int16"), on_disk = as_problem(numbers, y),
  holed = replace(x, c(2, 31), NA), filled = as_problem(holed, y, missing = "mean"),
  calls = bed_matrix(cohort()),
  problem = as_problem(x, y), classes = as_problem(d[c(1:6, 8)], g, weights = w, adjust = age),
  folds = make_folds(12, 3, repeats = 2), gaussian = kernel_gaussian(gamma = 0.1),
  polynomial = kernel_polynomial(2), greedy = greedy_rls(x, y, k = 3, lambda = 1, size_folds = 3),
  classed = greedy_rls(x, g, k = 2, lambda = 1, size = "criterion"),
  adjusted = greedy_rls(x, y, k = 2, lambda = 1, size = "criterion", adjust = age),
  framed = greedy_rls(d[c(1:6, 8)], g, k = 2, lambda = 1, size = "criterion"),
  pareto = poss(x, y, k = 2, iterations = 50, restarts = 1), subset = best_subset(x, y, k = 2),
  lasso = l1_path(x, y, nlambda = 5), lasso_cv = l1_path(x, g, loss = "logistic", nlambda = 4,
                                                         lambda_min_ratio = 0.1, folds = 3),
  interior = l1_path(x, y, solver = "ipm", nlambda = 3), sized = l1_size(x, y, size = 2),
  mask = safe_screen(x, y, lambda = 1), rls_fit = rls(x, y, lambda = c(1, 2)),
  expansion = kernel_rls(x, y, kernel = gaussian, lambda = c(1, 2), basis = 1:5, folds = 3),
  full = lssvm(x, g, kernel = gaussian, gamma = c(1, 2)),
  machine = fs_lssvm(x, g, kernel = gaussian, gamma = 1, prototypes = 1:5, folds = 3, k = 3),
  tuning = tune_lssvm(x, y, method = "grid", budget = 4, folds = 3, prototypes = 1:4, k = 2),
  nystrom = nystrom_features(x, 1:4, gaussian), system = scdp(A = A, b = b, k = 2),
  knots = lars_path(A, b, k = 2), cvd = cross_validate(x, y, greedy_rls, outer = 3, k = 2,
                                                          lambda = 1, size = "criterion"),
  halves = stability_selection(x, y, omp, pairs = 3),
  chance = permutation_test(x, y, greedy_rls, k = 2, lambda = 1, permutations = 3),
  gained = added_value(x, y, base = 1:2, lambda = 1, folds = 3, permutations = 3),
  judged = judge(problem, omp, k = 1, outer = 3, permutations = 3, pairs = 2, repeats = 0, keep = 2,
                 claims = 3, seed = 1),
  learnt = learning_curve(x, y, omp, k = 1, sizes = c(5, 7, 9), repeats = 3),
  swapped = exchange(classed, x, size = 2, keep = 2), proof = certify(greedy, x, y, size = 2),
  near = alternatives(proof, within = 0.2),
  verified = verify(greedy, x, y),
  panel = panel_error(x, g, 1:2, random = 4), carried = as_panel(framed),
  moved = transfer(x, y, omp, k = 1, groups = rep(1:2, 6)),
  survived = greedy_rls(x, times, k = 2, size_folds = 3),
  queries = as_problem(x, y, within = rep(1:4, 3)),
  asking = as_problem(x, y, hierarchy = list(c2 = c("c1", "c3"))),
  ranked = greedy_rls(queries, k = 2, size_folds = 2, criterion = "concordance"),
  compared = compare_methods(x, y, methods = list(omp = omp, foba = foba), k = 1, splits = 2),
  compared = compare_methods(x, y, methods = list(omp, foba), k = 1, splits = 3),
  variance = cv_variance(x, y, kernel = gaussian, n = 3, folds = 3, lambda = 1, repeats = 2)
)

# `it` is the object; what is listed for a class is done with every object of it
fuzz_methods <- list(
  file_matrix = alist(
    print(it), it[1:2, 1:3], as.matrix(it), as_problem(it, y), safe_screen(it, y, lambda = 1)
  ),
  sparsels_problem = alist(
    print(it), summary(it), plot(it), dim(it), it[1:6, 1:2], as_problem(it), make_folds(it, 3),
    greedy_rls(it, k = 2, lambda = 1, size_folds = 3), greedy_rls(it, k = 2, search = "floating"),
    wrapper_rls(it, k = 1, lambda = 1), rls(it, lambda = 1), omp(it, k = 1),
    kernel_rls(it, kernel = gaussian, lambda = 1), best_subset(it, k = 2),
    poss(it, k = 2, iterations = 20, restarts = 1), l1_path(it, nlambda = 3),
    l1_path(it, loss = "logistic", nlambda = 3), l1_path(it, loss = "hinge", nlambda = 3),
    safe_screen(it, lambda = 1), scdp(it, k = 2), select_basis(it, 3, "k_center"),
    fs_lssvm(it, kernel = gaussian, gamma = 1, prototypes = 1:5, folds = 3, k = 2),
    cross_validate(it, omp, k = 1, outer = 3), predict(greedy, it)
  ),
  sparsels_folds = alist(
    print(it), make_folds(12, it), greedy_rls(x, g, k = 1, lambda = 1, folds = it),
    greedy_rls(x, y, k = 1, size_folds = it), rls(x, y, lambda = 1, folds = it),
    l1_path(x, y, nlambda = 3, folds = it), cv_error(rls_fit, it),
    fs_lssvm(x, y, kernel = gaussian, gamma = 1, prototypes = 1:5, folds = it, k = 2),
    cross_validate(x, y, omp, k = 1, outer = it)
  ),
  sparsels_kernel = alist(
    print(it), kernel_rls(x, y, kernel = it, lambda = 1), lssvm(x, y, kernel = it, gamma = 1),
    select_basis(x, 3, "renyi", kernel = it), nystrom_features(x, 1:3, it),
    fs_lssvm(x, y, kernel = it, gamma = 1, prototypes = 1:5, folds = 3, k = 2)
  ),
  sparse_fit = alist(
    print(it), summary(it), print(summary(it)), coef(it), coef(it, size = 1), predict(it, x),
    predict(it, d), fitted(it), fitted(it, size = 1), residuals(it),
    residuals(it, type = "held_out"), nobs(it), selected(it), best_size(it), best_size(it, "1se"),
    plot(it), pictured(it), tidy(it), glance(it), augment(it, data = d), predict(it, x, size = 0:1),
    coef(it, size = 0:1), deviance(it, size = 0:1), logLik(it), as.data.frame(it),
    predict(it, x, type = "prob"), choose_threshold(it), sigma(it), weights(it)
  ),
  stability_selection = alist(
    print(it), plot(it), pictured(it), tidy(it), glance(it), selected(it)
  ),
  added_value = alist(print(it), plot(it), pictured(it), tidy(it), glance(it)),
  permutation_test = alist(print(it), plot(it), pictured(it), tidy(it), glance(it)),
  judgement = alist(print(it), plot(it), tidy(it), glance(it)),
  learning_curve = alist(
    print(it), plot(it), pictured(it), tidy(it), glance(it), predict(it, rows = 20)
  ),
  exchange = alist(print(it), plot(it), pictured(it), tidy(it), glance(it), selected(it)),
  certificate = alist(
    print(it), plot(it), pictured(it), tidy(it), glance(it), selected(it), alternatives(it),
    verify(it)
  ),
  alternatives = alist(print(it), plot(it), pictured(it), tidy(it), glance(it)),
  verification = alist(print(it), tidy(it), glance(it)),
  panel_error = alist(print(it), plot(it), pictured(it), tidy(it), glance(it), selected(it)),
  sparsels_panel = alist(
    print(it), tidy(it), glance(it), as.data.frame(it), predict(it, d), as_panel(it),
    write_panel(it, tempfile()), panel_code(it, "sql", file = tempfile())
  ),
  transfer = alist(print(it), summary(it), plot(it), pictured(it), tidy(it), glance(it)),
  poss = alist(update(it, iterations = 20), poss(x, y, k = 2, iterations = 20, start = it)),
  l1_path = alist(best_lambda(it), coef(it, lambda = it$lambda), threshold_coef(it),
                  safe_screen(x, y, lambda = 1, rule = "safe2", fit = it)),
  kernel_fit = alist(
    print(it), summary(it), print(summary(it)), coef(it), predict(it, x), fitted(it), residuals(it),
    nobs(it), plot(it), pictured(it), tidy(it), glance(it), augment(it, data = d),
    predict(it, x, type = "prob"), choose_threshold(it), holdout(it, 1:2), cv_error(it, 3),
    deviance(it), as.data.frame(it)
  ),
  fs_lssvm = alist(selected(it), coef(it, size = 1), predict(it, x, size = 1)),
  lssvm_tuning = alist(print(it), plot(it), tidy(it), glance(it)),
  nystrom_features = alist(print(it), predict(it, x)),
  system_fit = alist(print(it), coef(it), coef(it, size = 1), selected(it), plot(it), tidy(it),
                     glance(it), coef(it, lambda = 1), coef(it, size = 0:1), as.data.frame(it)),
  sparsels_mask = alist(print(it), exclude(it), summary(it), print(summary(it)),
                        tidy(it), glance(it)),
  cv_result = alist(
    print(it), summary(it), print(summary(it)), plot(it), pictured(it), coef(it), predict(it, x),
    fitted(it), selected(it), best_size(it), nobs(it), tidy(it), glance(it), augment(it, data = d),
    as.data.frame(it)
  ),
  method_comparison = alist(print(it), plot(it), pictured(it), tidy(it), glance(it)),
  cv_variance = alist(print(it), plot(it), tidy(it), glance(it))
)

# What is made of a field.
fuzz_edits <- list(
  removed = function(v) NULL,
  shorter = function(v) if (is.data.frame(v) || is.matrix(v)) v[-1L, , drop = FALSE] else v[-1L],
  narrower = function(v) if (length(dim(v)) == 2L) v[, -1L, drop = FALSE] else v[0L],
  longer = function(v) if (length(dim(v)) == 2L) rbind(v, v) else c(v, v[1L]),
  text = function(v) if (is.character(v)) 1 else "a",
  texts = function(v) replace(v, seq_along(v), "a"),
  listed = function(v) as.list(v),
  missing = function(v) replace(v, seq_along(v), NA),
  infinite = function(v) replace(v, 1L, Inf),
  negative = function(v) replace(v, 1L, -1),
  large = function(v) replace(v, length(v), 1e9),
  whole = function(v) replace(v, seq_along(v), 1000000L),
  number = function(v) 7,
  fun = function(v) sum,
  plain = function(v) unclass(unlist(v))
)

# Cases --------------------------------------------------------------------------------------------

# every argument of every call, as data frame: `call` (its number) and `argument`
argument_places <- function(calls = fuzz_calls) {
  world <- fuzz_world()
  of_call <- function(call) {
    f <- eval(call[[1L]], world)
    given <- names(match.call(args(f), call, expand.dots = TRUE))[-1L]
    # what a generic of another package does with objects of others is not ours
    ours <- as.character(call[[1L]]) %in% getNamespaceExports("sparsels")
    ours <- ours && !as.character(call[[1L]]) %in% c("tidy", "glance", "augment")
    all <- setdiff(union(given, names(formals(args(f)))), c("...", ""))
    if (ours) all else all[-1L]
  }
  arguments <- lapply(calls, of_call)
  data.frame(call = rep(seq_along(calls), lengths(arguments)), argument = unlist(arguments))
}

# the call with another value of an argument
attacked_call <- function(call, argument, value, world) {
  call <- match.call(args(eval(call[[1L]], world)), call, expand.dots = TRUE)
  if (identical(value, quote(left_out))) return(call[!names(call) %in% argument])
  call[argument] <- list(value)
  call
}

# every field of an object down to three levels, as a list of paths of names or numbers
field_paths <- function(object, depth = 3L) {
  if (!is.list(object) || !depth || !length(object)) return(list())
  keys <- if (is.null(names(object)) || anyDuplicated(names(object))) {
    as.list(unique(c(1L, 2L, length(object))[c(1L, 2L, length(object)) <= length(object)]))
  } else {
    as.list(names(object))
  }
  unlist(lapply(keys, function(key) {
    c(list(list(key)), lapply(field_paths(unclass(object)[[key]], depth - 1L), function(path) {
      c(list(key), path)
    }))
  }), recursive = FALSE)
}

field_places <- function(world, objects = names(fuzz_objects)) {
  paths <- lapply(objects, function(name) field_paths(world[[name]]))
  list(object = rep(objects, lengths(paths)), path = unlist(paths, recursive = FALSE))
}

methods_of <- function(object) {
  unlist(unname(fuzz_methods[intersect(names(fuzz_methods), class(object))]), recursive = FALSE)
}

# Trying -------------------------------------------------------------------------------------------

# What is wrong with a call, in a line, or NULL. A value of the package is printed, too. A call that
# takes long has to end soon after its time is up, which is processor time, as others on the machine
# lengthen that little. `any_error`: an error of R is no trouble.
trouble_of <- function(call, world, seconds = 10, any_error = FALSE) {
  set.seed(1)
  used <- function() sum(proc.time()[1:2])
  began <- used()
  setTimeLimit(cpu = seconds, transient = TRUE)
  on.exit(setTimeLimit())
  told <- tryCatch({
    utils::capture.output(suppressMessages(suppressWarnings({
      value <- eval(call, world)
      if (is.list(value) && is.object(value)) print(value)
    })))
    NULL
  }, error = function(e) {
    time_is_up <- grepl("CPU time limit", conditionMessage(e)[1L], fixed = TRUE)
    if (!any_error && !time_is_up && !any(startsWith(class(e), "sparsels_"))) {
      paste0(class(e)[1L], ": ", paste(conditionMessage(e), collapse = " "))
    }
  }, interrupt = function(e) "interrupted")
  took <- used() - began
  if (took > 1.5 * seconds) told <- sprintf("took %.0f s", took)
  told
}

# One value for one argument: a data frame of what is wrong, with no row when nothing is. A word
# that is taken for the path of a new file makes one among the temporary files.
try_value <- function(call, argument, value, world, seconds = 10) {
  old <- setwd(tempdir())
  on.exit(setwd(old))
  call <- attacked_call(call, argument, value, world)
  troubles(call, trouble_of(call, world, seconds))
}

# One edit of one field, with all that can be done with the object. The seal does not see an edit
# that keeps types, lengths and names. Such an edit may have any result, but must not end R.
try_edit <- function(name, path, edit, world, seconds = 10) {
  object <- world[[name]]
  place <- new.env(parent = world)
  place$it <- edited(object, path, fuzz_edits[[edit]])
  keeps_shape <- identical(attr(getNamespace("sparsels")$seal(place$it), "seal"),
                           attr(object, "seal"))
  told <- lapply(methods_of(object), function(call) {
    troubles(call, trouble_of(call, place, seconds, any_error = keeps_shape))
  })
  told <- do.call(rbind, told)
  told$call <- paste0(told$call, rep(paste0(" of ", edit_words(name, path, edit)), nrow(told)))
  told
}

edit_words <- function(name, path, edit) {
  sprintf("%s$%s %s", name, paste(vapply(path, format, ""), collapse = "$"), edit)
}

# an edit that the field does not bear leaves a word there
edited <- function(object, path, edit) {
  value <- tryCatch(edit(Reduce(`[[`, path, unclass(object))), error = function(e) "a",
                    warning = function(w) "a")
  tryCatch(set_field(object, path, value), error = function(e) set_field(object, path[1L], "a"))
}

# as `[[<-` along a path, where NULL is a value
set_field <- function(object, path, value) {
  class <- attr(object, "class")
  object <- unclass(object)
  key <- path[[1L]]
  if (length(path) > 1L) value <- set_field(object[[key]], path[-1L], value)
  if (is.null(value)) object[key] <- NULL else object[[key]] <- value
  attr(object, "class") <- class
  object
}

troubles <- function(call, told) {
  data.frame(call = rep(paste(deparse(call, 500L), collapse = " "), length(told)),
             what = as.character(told))
}
