# The objects of the package, field by field. Objects are plain lists that users may edit and files
# may damage; check_object() checks one when a function is called with it, so that neither R nor C
# finds a field of another type, length or range than it expects.

# Stops unless each field of x is as the table says for the first class of x that is in it.
check_object <- function(x) {
  kind <- c(intersect(class(x), names(object_fields)), NA)[1L]
  bad <- if (is.na(kind)) NA else first_bad_field(x, object_fields[[kind]], object_sizes[[kind]])
  if (!length(bad)) return(invisible(x))
  what <- sprintf("an object of class '%s'", if (is.na(kind)) class(x)[1L] else kind)
  if (!is.na(bad)) what <- sprintf("the field `%s` of %s", bad, what)
  stop_input(sprintf("%s is not as it was made: was the object edited? Make it again", what),
             "sparsels_error_object")
}

# `sizes`: numbers of rows and so on, made of the fields, that the conditions of others use
first_bad_field <- function(x, fields, sizes = NULL) {
  if (!is.list(x) || is.null(names(x))) return(NA_character_)
  values <- list2env(unclass(x)[names(x) != ""], parent = topenv())
  # a field that is not there is not taken from elsewhere
  for (name in setdiff(names(fields), names(x))) assign(name, NULL, values)
  for (size in names(sizes)) {
    assign(size, tryCatch(eval(sizes[[size]], values), error = function(e) NA), values)
  }
  # a condition that fails does not hold
  tryCatch({
    for (name in names(fields)) if (!isTRUE(eval(fields[[name]], values))) return(name)
    character()
  }, error = function(e) name)
}

# Conditions --------------------------------------------------------------------------------------

is_flag <- function(x) isTRUE(x) || isFALSE(x)

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

# numbers, missing ones only where `gaps` allows
has_numbers <- function(x, length = NULL, gaps = FALSE) {
  is.numeric(x) && !is.object(x) && (is.null(length) || length(x) == length) &&
    (gaps || all(is.finite(x)))
}

has_matrix <- function(x, rows, columns, gaps = FALSE) {
  is.double(x) && identical(dim(x), as.integer(c(rows, columns))) && has_numbers(x, gaps = gaps)
}

has_integers <- function(x, lower = 1L, upper = Inf) {
  has_numbers(x) && all(x >= lower & x <= upper & x == round(x))
}

has_words <- function(x, length = NULL) {
  is.character(x) && !anyNA(x) && (is.null(length) || length(x) == length)
}

has_distinct_words <- function(x) {
  .Call(C_are_numbered, x) || has_words(x) && !anyDuplicated(x)
}

# a data frame with these columns: numbers, numbers that may be missing, words
has_table <- function(x, numbers, gaps = character(), words = character()) {
  all_are <- function(columns, condition, ...) {
    all(columns %in% names(x)) && all(vapply(unclass(x)[columns], condition, NA, ...))
  }
  is.data.frame(x) && all(lengths(x) == nrow(x)) && all_are(numbers, has_numbers) &&
    all_are(gaps, function(one) {
      all(is.na(one)) || has_numbers(one, gaps = TRUE) && !any(is.infinite(one))
    }) &&
    all_are(words, is.character) && all_are(names(x), function(one) is.atomic(one) || is.list(one))
}

has_fields <- function(x, names) is.list(x) && all(names %in% names(x))

is_good <- function(x, class) {
  inherits(x, class) && !length(first_bad_field(x, object_fields[[class]], object_sizes[[class]]))
}

is_none_or <- function(x, condition) is.null(x) || condition

# Models of terms 1 to n: numbers of the terms, weights (a column per response), those of the
# covariates, and the step of the path.
are_models <- function(models, n, L, q, steps) {
  fine <- function(model) {
    count <- length(model$features)
    is.null(model) || all(
      has_integers(model$features, 1L, n), !anyDuplicated(model$features),
      has_matrix(model$beta, count, L), has_matrix(model$covariates, q, L),
      has_integers(model$step, 0L, steps - 1L), is.integer(model$step), length(model$step) == 1L
    )
  }
  is.list(models) && length(models) > 0L && all(vapply(models, fine, NA))
}

# groups of n columns
is_column_groups <- function(groups, n) {
  is.list(groups) && has_integers(groups$of, 0L, length(groups$names)) &&
    length(groups$of) == n && has_words(groups$names) && !anyDuplicated(groups$names) &&
    all(tabulate(groups$of, length(groups$names)) > 1L) && is_string(groups$rule) &&
    groups$rule %in% group_rules && is_flag(groups$stated)
}

# columns among n that ask for others
is_hierarchy <- function(hierarchy, n) {
  is.list(hierarchy) && has_integers(hierarchy$column, 1L, n) &&
    has_integers(hierarchy$needs, 1L, n) && length(hierarchy$column) > 0L &&
    length(hierarchy$column) == length(hierarchy$needs) &&
    all(hierarchy$column != hierarchy$needs) && is_flag(hierarchy$by_terms)
}

# models of all terms, one for every row of the path
are_full_models <- function(models, n, L, q, rows) {
  fine <- function(model) {
    is.null(model$features) && has_matrix(model$beta, n, L) && has_matrix(model$covariates, q, L)
  }
  is.list(models) && length(models) == rows && all(vapply(models, fine, NA))
}

# whether element s + 1 of the models has s terms, or groups of them
are_by_size <- function(models, problem) {
  sizes <- vapply(models, function(model) count_units(problem, model$features), 0L)
  all(sizes == seq_along(models) - 1L | vapply(models, is.null, NA))
}

has_model <- function(models, size) {
  has_integers(size, 0L, length(models) - 1L) && length(size) == 1L && !is.null(models[[size + 1L]])
}

has_criterion <- function(x, label = TRUE) {
  is.list(x) && is_string(x$name) && is_flag(x$higher) && (!label || is_string(x$label)) &&
    is_none_or(x$words, is_string(x$words))
}

# the losses of an l1 path, in the order of the kernels
losses <- c("squared", "logistic", "hinge")

has_kept_problem <- function(problem) is_good(problem, "sparsels_problem") && is.null(problem$x)

judgement_parts <- c("cross_validation", "permutation", "stability", "exchange", "learning_curve",
                     "verification")

# The table ---------------------------------------------------------------------------------------

problem_sizes <- alist(m = nrow(problem$y), L = ncol(problem$y), n = length(problem$names),
                       q = ncol(problem$z), classes = problem$task != "regression")

# classes whose conditions use the sizes of the problem
problem_kinds <- c("sparse_fit", "poss", "best_subset", "l1_path", "l1_size", "kernel_fit",
                   "lssvm_fit", "fs_lssvm", "cv_result", "permutation_test",
                   "stability_selection", "learning_curve", "judgement", "panel_error",
                   "added_value")

object_sizes <- c(
  list(sparsels_problem = alist(m = length(weights), n = length(names), L = ncol(y)),
       sparsels_folds = alist(m = nrow(ids))),
  stats::setNames(rep(list(problem_sizes), length(problem_kinds)), problem_kinds)
)

# What all fits share. A fit of one kind says more of some of them: of two conditions with one name
# the first counts.
fit_fields <- alist(
  problem = has_kept_problem(problem),
  method = is_string(method),
  criterion = has_criterion(criterion),
  held_out = has_matrix(held_out, m, L, gaps = TRUE),
  fitted = has_matrix(fitted, m, L),
  lambda = has_numbers(lambda, 1L) && lambda >= 0,
  folds = is_none_or(folds, is_good(folds, "sparsels_folds") && nrow(folds$ids) == m),
  status = is_string(status) && status %in% c(statuses, "node_limit"),
  call = is_none_or(call, is.call(call))
)

# fits of columns
sparse_fields <- c(fit_fields, alist(
  coefficients = are_models(coefficients, n, L, q, nrow(path)) &&
    are_by_size(coefficients, problem) &&
    all(path$size[path$action %in% set_actions] < length(coefficients)),
  size = has_model(coefficients, size),
  lambda_rule = is_none_or(lambda_rule, is_string(lambda_rule)),
  lambda_table = has_table(lambda_table, c("lambda", "size"),
                           setdiff(names(lambda_table), c("lambda", "size"))) &&
    nrow(lambda_table) > 0L,
  size_by = is_string(size_by) || has_integers(size_by, 0L),
  cv_criterion = has_criterion(cv_criterion, label = FALSE),
  alternatives = is_none_or(alternatives, has_table(alternatives, c("step", "rank", "feature"))),
  work = is_none_or(work, has_fields(work, c("candidates", "evaluated", "passes",
                                             "recurrence_from", "dense_from", "reread_from"))),
  control = is.list(control) && is_none_or(control$search, is_string(control$search)) &&
    is_none_or(control$patience, has_integers(control$patience, 0L))
))

# fits of columns whose size is chosen among those of a search
sized_fields <- c(alist(
  path = has_path(path, c("step", "size"),
                  c("criterion", "se", "feature", "squared", if (classes) "error")) &&
    any(is.finite(path$criterion)),
  folds = is_good(folds, "sparsels_folds") && nrow(folds$ids) == m,
  size_folds = is_none_or(size_folds, is_good(size_folds, "sparsels_folds")),
  best = is.null(size_folds) || has_integers(best, 0L) && length(best) == 1L &&
    any(!is.na(path$cv)),
  estimate = is_none_or(estimate, has_numbers(estimate, 2L, gaps = TRUE) &&
                          setequal(names(estimate), c("mean", "se"))),
  estimate_concordance = is_none_or(estimate_concordance,
                                    has_numbers(estimate_concordance, 2L, gaps = TRUE)),
  estimate_error = is_none_or(estimate_error, has_numbers(estimate_error, 2L, gaps = TRUE) &&
                                setequal(names(estimate_error), c("mean", "se"))),
  fitted_sizes = is_none_or(fitted_sizes, has_numbers(fitted_sizes, gaps = TRUE) &&
                              identical(dim(fitted_sizes), c(m, L, length(coefficients))))
), sparse_fields)

# a path with a row for every step, and of classes with their error rate
has_path <- function(path, numbers, gaps = "se") {
  words <- c("action", "name")
  has_table(path, numbers, union(gaps, setdiff(names(path), c(numbers, words))), words) &&
    nrow(path) > 0L && !anyNA(path$action) && !any(is.infinite(path$se))
}

l1_fields <- c(alist(
  path = has_path(path, c("step", "size", "lambda", "criterion", "objective", "gap", "dev_ratio"),
                  c("se", "squared", if (classes) "error")),
  loss = is_string(loss) && loss %in% losses,
  alpha = has_numbers(alpha, 1L) && alpha > 0 && alpha <= 1,
  lambda = has_numbers(lambda, 1L) && lambda %in% path$lambda && all(path$lambda > 0),
  solutions = is.list(solutions) && length(solutions) == nrow(path) &&
    all(vapply(solutions, is_solution, NA, n, q, L)),
  lambda_max = has_numbers(lambda_max, 1L),
  unsolved = has_integers(unsolved, 0L) && length(unsolved) == 1L,
  null_objective = has_numbers(null_objective, 1L),
  folds = if (is.null(folds)) criterion$name == "dev_ratio" else
    is_good(folds, "sparsels_folds") && nrow(folds$ids) == m
), sparse_fields)

kernel_fields <- c(alist(
  path = has_table(path, c("lambda", "criterion", "training", if (classes) "error"), "se") &&
    nrow(path) > 0L && all(path$lambda > 0),
  lambda = has_numbers(lambda, 1L) && lambda %in% path$lambda,
  kernel = is_none_or(kernel, is_good(kernel, "sparsels_kernel")),
  basis = is_none_or(basis, is_basis(basis, kernel, m, n)),
  features = if (is.null(kernel)) has_integers(features, 1L, n) else is.null(features),
  coefficients = are_full_models(
    coefficients, if (is.null(kernel)) length(features) else basis_size(basis), L, q, nrow(path)
  ),
  spectrum = is_spectrum(spectrum, m, L),
  blocks = is_none_or(blocks, has_fields(blocks, c("columns", "ratio", "lambda", "tried")) &&
                        has_integers(unlist(blocks$columns), 1L, n) &&
                        has_numbers(blocks$ratio, length(blocks$columns)) &&
                        has_numbers(blocks$lambda, length(blocks$columns)) &&
                        has_table(blocks$tried, c(names(blocks$columns), "criterion"), "se")),
  folds = is_good(folds, "sparsels_folds") && nrow(folds$ids) == m,
  kernel_table = is_none_or(kernel_table, has_table(kernel_table, "criterion")),
  shift = is_none_or(shift, has_numbers(shift$value, 1L) && is_string(shift$where)),
  threads = has_integers(threads) && length(threads) == 1L
), fit_fields)

object_fields <- list( # nolint: cyclocomp_linter.
  sparsels_problem = alist(
    weights = has_numbers(weights) && is.double(weights) && all(weights >= 0) && any(weights > 0),
    names = n > 0L && has_distinct_words(names),
    y = has_matrix(y, m, L) && L > 0L,
    task = is_string(task) && task %in% c("regression", "binary", "multiclass"),
    levels = switch(task, regression = is.null(levels), binary = has_words(levels, 2L),
                    multiclass = has_words(levels, L)) &&
      !anyDuplicated(levels),
    class_weights = is_none_or(class_weights, is_class_weights(class_weights, levels)),
    case_weights = is.null(case_weights) == is.null(class_weights) &&
      is_none_or(case_weights, has_numbers(case_weights, m) && all(case_weights >= 0)),
    query = is_none_or(query, is.factor(query) && length(query) == m && !anyNA(query) &&
                         task == "regression" && !intercept),
    classes = is_none_or(classes, has_words(classes, 2L) && !is.null(query)),
    survival = is_none_or(survival, is_times(survival, m) && task == "regression" && L == 1L),
    response = is_string(response),
    intercept = is_flag(intercept),
    standardize = is_flag(standardize),
    z = has_matrix(z, m, ncol(z)) && (ncol(z) == 0L || has_words(colnames(z), ncol(z))) &&
      intercept == ("(Intercept)" %in% colnames(z)) &&
      (!intercept || all(z[, "(Intercept)"] == 1)) && all(abs(z) < 1 / sqrt(smallest_square)),
    named = is_flag(named),
    row_names = is_none_or(row_names, has_words(row_names, m)),
    x = is_none_or(x, is_values(x, m, n)),
    centre = has_numbers(centre, n) && is.double(centre),
    squares = has_numbers(squares, n) && is.double(squares),
    rss = has_numbers(rss, n) && is.double(rss),
    products = is.null(x) && is.null(products) || has_matrix(products, n, L),
    scale = has_numbers(scale, n) && is.double(scale) && all(scale > 0),
    usable = is.logical(usable) && length(usable) == n && !anyNA(usable),
    penalty = is_none_or(penalty, is.double(penalty) && length(penalty) == n && !anyNA(penalty) &&
                           all(penalty >= 0)),
    absolute = is_none_or(absolute, is_flag(absolute)),
    offset = is_none_or(offset, has_matrix(offset, m, L)),
    response_scale = is_none_or(response_scale, has_numbers(response_scale, L) &&
                                  all(response_scale > 0) && task == "regression"),
    fill = is_fill(fill, n),
    missing = if (is.null(fill)) is.null(missing) else
      has_integers(missing, 0L, m) && length(missing) == n,
    gaps = is_none_or(gaps, is_pattern(gaps, m, missing) && !is.null(x)),
    design = is_none_or(design, is_design(design, names)),
    assay = is_none_or(assay, is_assay(assay)),
    column_groups = is_none_or(column_groups, is_column_groups(column_groups, n)),
    hierarchy = is_none_or(hierarchy, is_hierarchy(hierarchy, n)),
    renamed = is_none_or(renamed, has_words(renamed) && has_words(names(renamed))),
    adjust_design = {
      covariates <- setdiff(colnames(z), c("(Intercept)", names[which(penalty == 0)]))
      if (is.null(adjust_design)) length(covariates) == 0L else
        is_adjust_design(adjust_design, covariates)
    },
    formula = is_none_or(formula, inherits(formula, "formula") && length(formula) == 3L),
    na.action = is_none_or(na.action, has_integers(unclass(na.action)) &&
                              is.character(names(na.action)))
  ),
  sparsels_folds = alist(
    ids = is.integer(ids) && is.matrix(ids) && ncol(ids) > 0L && m > 0L && has_integers(ids) &&
      all(apply(ids, 2L, function(id) length(unique(id)) == max(id))),
    loo = is_flag(loo) && loo == (ncol(ids) == 1L && max(ids) == m),
    label = is_string(label),
    groups = is_none_or(groups, has_integers(groups) && length(groups) == m)
  ),
  l1_path = l1_fields,
  l1_size = c(l1_fields, alist(
    searched = has_table(searched, c("lambda", "size")),
    target = has_integers(target, 0L) && length(target) == 1L,
    range = has_integers(range, 0L) && length(range) == 1L
  )),
  sparse_fit = sized_fields,
  poss = c(alist(
    front = is_none_or(front, has_table(front, c("price", "size", "criterion")) &&
                         is.list(front$columns)),
    control = is.list(control) && is_string(control$isolation) &&
      is_none_or(control$mutation, is_string(control$mutation)) && has_integers(control$k) &&
      length(control$k) == 1L,
    archive = has_table(archive, c("search", "size", "criterion")) && is.list(archive$columns) &&
      all(vapply(archive$columns, has_integers, NA, 1L, n)) &&
      all(lengths(archive$columns) == archive$size),
    iterations = has_numbers(iterations, 1L) && iterations >= 0,
    rng_state = is.integer(rng_state) && is.matrix(rng_state) && nrow(rng_state) == 8L &&
      !anyNA(rng_state)
  ), sized_fields),
  fs_lssvm = c(alist(
    path = has_path(path, c("step", "size", "prototypes", "training"),
                    c("prototype", "criterion", "se", if (classes) "error")),
    coefficients = are_models(coefficients, basis_size(basis), L, q, nrow(path)),
    size = has_model(coefficients, size),
    gamma = has_numbers(gamma, 1L) && gamma > 0,
    lambda = has_numbers(lambda, 1L) && lambda > 0,
    kernel = is_good(kernel, "sparsels_kernel"),
    basis = is_basis(basis, kernel, m, n) && has_integers(basis$available) &&
      length(basis$available) == 1L,
    tuning = is_none_or(tuning, is_good(tuning, "lssvm_tuning")),
    control = is_string(control$solver) && is_string(control$intercept) &&
      has_numbers(control$size_rule, 1L) && has_numbers(control$change, 1L)
  ), fit_fields),
  kernel_fit = kernel_fields,
  lssvm_fit = c(kernel_fields, alist(gamma = has_numbers(gamma, 1L) && gamma > 0)),
  best_subset = c(sized_fields, alist(
    proof = has_table(proof, c("size", "gap"), setdiff(names(proof), c("size", "gap")))
  )),
  summary.sparsels_fit = alist(fit = inherits(fit, "sparsels_fit") && is_summary(fit, coefficients),
                               path = is.data.frame(path)),
  summary.sparsels_problem = alist(
    rows = has_integers(rows) && length(rows) == 1L,
    columns = has_integers(columns) && length(columns) == 1L, excluded = has_words(excluded),
    why_excluded = is_string(why_excluded),
    sparse = is_flag(sparse), task = is_string(task), response = is_string(response),
    response_table = is.data.frame(response_table) &&
      (task == "regression" || has_table(response_table, c("rows", "share"), words = "class")),
    covariates = has_words(covariates), weights = is_none_or(weights, has_numbers(weights, 2L)),
    missing = is_none_or(missing, has_integers(missing, 0L)),
    scale = has_numbers(scale, 5L), label = is_string(label),
    strongest = is_none_or(strongest, has_table(strongest, "association", "expected", "name"))
  ),
  summary.sparsels_mask = alist(
    mask = is_good(mask, "sparsels_mask"), columns = has_integers(columns, 0L),
    kept = is_none_or(kept, has_table(kept, c("share", "lambda", "kept"))),
    largest = has_table(largest, c("bound", "lambda"), words = "name")
  ),
  summary.cv_result = alist(result = inherits(result, "cv_result") && is_summary(result, 0)),
  sparsels_kernel = alist(
    name = is_string(name),
    parameters = is.list(parameters) && all(vapply(parameters, has_numbers, NA)) &&
      all(lengths(parameters) > 0L),
    normalize = is_flag(normalize), shift = is_flag(shift),
    values = is.function(values) || name == "precomputed" || length(parameters$gamma) > 1L,
    diagonal = is.function(diagonal) || is.null(diagonal) && is.null(values),
    column = is_none_or(column, is.function(column))
  ),
  nystrom_features = alist(
    problem = has_kept_problem(problem), kernel = is_good(kernel, "sparsels_kernel"),
    basis = is_basis(basis, kernel, nrow(problem$y), length(problem$names)),
    values = has_numbers(values) && all(values > 0),
    map = has_matrix(map, basis_size(basis), length(values)),
    features = has_matrix(features, nrow(problem$y), length(values)),
    tolerance = has_numbers(tolerance, 1L)
  ),
  sparsels_mask = alist(
    keep = is.logical(keep) && !anyNA(keep),
    rho = has_numbers(rho, length(keep), gaps = TRUE),
    bounds = has_numbers(bounds, length(keep), gaps = TRUE),
    usable = is.logical(usable) && length(usable) == length(keep) && !anyNA(usable),
    lambda = has_numbers(lambda, 1L), lambda_max = has_numbers(lambda_max, 1L),
    lambda0 = is_none_or(lambda0, has_numbers(lambda0) && length(lambda0) > 0L),
    exact = is_flag(exact), loss = is_string(loss), rule = is_string(rule)
  ),
  system_fit = alist(
    D = has_integers(D) && length(D) == 1L, names = has_words(names, D), method = is_string(method),
    path = has_path(path, c("step", "size", "objective", "residual"), "component"),
    coefficients = is.list(coefficients) &&
      all(vapply(coefficients, is_system_model, NA, D, nrow(path))),
    size = has_model(coefficients, size),
    knots = is_none_or(knots, is.list(knots) && length(knots) == nrow(path) &&
                         all(vapply(knots, is_knot, NA, D, ncol(coefficients[[1L]]$beta))) &&
                         has_numbers(path$lambda)),
    control = is.list(control), status = is_string(status) && status %in% statuses,
    call = is_none_or(call, is.call(call))
  ),
  stability_selection = alist(
    problem = has_kept_problem(problem), method = is_string(method),
    probability = has_numbers(unclass(probability), n) && all(probability >= 0 & probability <= 1),
    stable = has_table(stable, c("feature", "probability"), character(), c("name", "correlated")),
    bounds = has_numbers(bounds, 3L, gaps = TRUE) && is.character(names(bounds)),
    stability = has_numbers(stability, 1L, gaps = TRUE), chosen = is.list(chosen),
    q = has_integers(q, 1L, n), threshold = has_numbers(threshold, 1L),
    pairs = has_integers(pairs, 1L) && length(pairs) == 1L,
    groups = is_none_or(groups, has_integers(groups, 2L) && length(groups) == 1L),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  learning_curve = alist(
    problem = has_kept_problem(problem), method = is_string(method), measure = is_string(measure),
    words = is_string(words), higher = is_flag(higher), grouped = is_flag(grouped),
    table = has_table(table, c("rows", "error"), c("se", "null", "relative")) && nrow(table) > 2L,
    errors = has_numbers(errors, gaps = TRUE) && is.matrix(errors) && ncol(errors) == nrow(table),
    fitted = has_numbers(fitted, 3L) && identical(names(fitted), c("a", "b", "c")),
    draws = has_numbers(draws) && is.matrix(draws) && identical(colnames(draws), names(fitted)),
    forecast = has_table(forecast, c("rows", "error"), c("lower", "upper")),
    test_rows = has_integers(test_rows, 1L, m) && length(test_rows) == 1L,
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  permutation_test = alist(
    problem = has_kept_problem(problem), method = is_string(method),
    fit = inherits(fit, "sparsels_fit"), permuted = is_string(permuted),
    p.value = has_numbers(p.value, 1L) && p.value > 0 && p.value <= 1,
    statistic = has_numbers(statistic, 1L),
    by_size = has_table(by_size, c("size", "p.value"), c("statistic", "lower", "upper")),
    null = has_numbers(null) && length(null) > 0L,
    null_by_size = has_matrix(null_by_size, length(null), nrow(by_size), gaps = TRUE),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  added_value = alist(
    problem = has_kept_problem(problem), method = is_string(method), shrunk = is_flag(shrunk),
    table = has_table(table, c("base", "full", "difference", "se", "lower", "upper"),
                      words = "measure") && nrow(table) > 0L,
    losses = has_table(losses, character(), c("base", "full")) && nrow(losses) == m,
    p.value = is_none_or(p.value, has_numbers(p.value, 1L) && p.value > 0 && p.value <= 1 &&
                           has_numbers(statistic, 1L) && has_numbers(null) && is_string(permuted) &&
                           is_string(permute)),
    base = has_words(base), added = has_integers(added) && length(added) == 1L,
    level = has_numbers(level, 1L), folds = is_string(folds),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  panel_error = alist(
    problem = has_kept_problem(problem), criterion = has_criterion(criterion),
    error = has_numbers(error, 1L), se = length(se) == 1L && (is.na(se) || has_numbers(se, 1L)),
    errors = has_table(errors, c("criterion", "squared", if (classes) "error"), "se") &&
      nrow(errors) == 1L,
    null = has_numbers(null, 1L), random = has_numbers(random),
    p.value = if (length(random)) has_numbers(p.value, 1L) && p.value > 0 && p.value <= 1 else
      is.na(p.value),
    features = has_integers(features, 1L, n) && length(features) > 0L,
    lambda = has_numbers(lambda, 1L) && lambda > 0, lambda_rule = is_string(lambda_rule),
    held_out = has_matrix(held_out, m, L),
    folds = is_good(folds, "sparsels_folds") && nrow(folds$ids) == m,
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  exchange = alist(
    drop = is.character(drop) && length(drop) > 0L && setequal(drop[is.na(add)], drop),
    add = is.character(add) && !anyDuplicated(data.frame(drop, add)),
    criterion = has_numbers(criterion, length(drop))
  ),
  risk_groups = alist(group = is.factor(group), time = has_numbers(time, length(group))),
  verification = alist(
    ok = is_flag(ok), largest = has_numbers(largest, 1L, gaps = TRUE),
    claims = nrow(claims) > 0L && is.logical(claims$ok) &&
      has_table(claims, "tolerance",
                c("size", "lambda", "row", "claimed", "retrained", "deviation"),
                c("claim", "feature")),
    kinds = has_table(kinds, c("checked", "available"), words = "claim") &&
      all(claims$claim %in% kinds$claim),
    unchecked = is_none_or(unchecked, has_words(unchecked)),
    method = is_string(method), fit_call = is_none_or(fit_call, is.call(fit_call)),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  judgement = alist(
    problem = has_kept_problem(problem), method = is_string(method),
    arguments = length(arguments) == 0L || has_words(arguments) && has_words(names(arguments)),
    error = is_none_or(error, has_table(error, "estimate", c("lower", "upper", "null"),
                                        c("measure", "words")) && nrow(error) == 1L),
    features = has_table(features, "feature", c("probability", "dropped", "swapped"), "name") &&
      has_integers(features$feature, 1L, n),
    cross_validation = is_none_or(cross_validation, is_good(cross_validation, "cv_result")),
    permutation = is_none_or(permutation, is_good(permutation, "permutation_test")),
    stability = is_none_or(stability, is_good(stability, "stability_selection")),
    exchange = is_none_or(exchange, is_good(exchange, "exchange")),
    learning_curve = is_none_or(learning_curve, is_good(learning_curve, "learning_curve")),
    verification = is_none_or(verification, is_good(verification, "verification")),
    left_out = length(left_out) == 0L ||
      has_words(left_out) && all(names(left_out) %in% judgement_parts),
    folds = is_none_or(folds, is_good(folds, "sparsels_folds") && nrow(folds$ids) == m),
    groups = is_none_or(groups, has_integers(groups) && length(groups) == m),
    seed = has_integers(seed, 0L) && length(seed) == 1L,
    versions = has_words(versions) && all(c("R", "sparsels") %in% names(versions)),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  cv_result = alist(
    problem = has_kept_problem(problem),
    method = is_string(method), key = is_string(key), measure = is_string(measure),
    fit = key == "model" || inherits(fit, "sparsels_fit"),
    outer = is_string(outer), words = is_string(words), higher = is_flag(higher),
    inner = is_none_or(inner, is_string(inner)),
    curves = is_curve_table(curves, key),
    folds = has_table(folds, c("repetition", "fold", "rows", intersect("size", names(folds))),
                      setdiff(names(folds), c("rows", "size"))) && "test" %in% names(folds),
    chosen = is.list(chosen) && length(chosen) == nrow(folds),
    frequency = has_table(frequency, c("feature", "count", "share"), character(), "name"),
    estimate = has_numbers(estimate, 2L, gaps = TRUE) && setequal(names(estimate), c("mean", "se")),
    estimates = has_table(estimates, character(), c("mean", "se"), "measure"),
    measures = is.list(measures) && measure %in% names(measures) &&
      all(vapply(measures, is_curve_table, NA, key)),
    held_out = has_matrix(held_out, m, L, gaps = TRUE),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  method_comparison = alist(
    problem = has_kept_problem(problem),
    table = has_table(table, c("win", "tie", "loss", "seconds"), c(
      "test", "se", "training", "difference", "se_difference", "p", "size", "stability"
    ), "method") && nrow(table) > 0L,
    scores = has_numbers(scores, gaps = TRUE) && length(dim(scores)) == 3L &&
      dim(scores)[2L] == nrow(table) && identical(dimnames(scores)[[3L]], c("training", "test")),
    seconds = has_matrix(seconds, dim(scores)[1L], nrow(table)),
    chosen = is.list(chosen), training_rows = is.list(training_rows) &&
      length(training_rows) == dim(scores)[1L] && all(vapply(training_rows, has_integers, NA)),
    test_rows = is.list(test_rows) && length(test_rows) == length(training_rows),
    k = is_none_or(k, has_integers(k) && length(k) == 1L), quick = is_flag(quick),
    measure = is_string(measure), words = is_string(words), higher = is_flag(higher),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  cv_variance = alist(
    problem = has_kept_problem(problem),
    table = has_table(table, c("approach", "lambda", "mean"), "variance") && nrow(table) > 0L &&
      all(table$approach %in% 1:3 & table$lambda > 0),
    errors = has_numbers(errors, gaps = TRUE) && length(dim(errors)) == 3L,
    n = has_integers(n) && length(n) == 1L, folds = has_integers(folds) && length(folds) == 1L,
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  ),
  lssvm_tuning = alist(
    problem = has_kept_problem(problem),
    gamma = has_numbers(gamma, 1L) && gamma > 0,
    sigma2 = is_none_or(sigma2, has_numbers(sigma2, 1L) && sigma2 > 0),
    kernel = is_good(kernel, "sparsels_kernel"), value = has_numbers(value, 1L),
    table = has_table(table, character(), c("gamma", "sigma2", "value"), "stage") &&
      nrow(table) > 0L &&
      all(table$gamma > 0) && all(table$sigma2 > 0, na.rm = TRUE),
    method = is_string(method), solver = is_string(solver),
    folds = is_good(folds, "sparsels_folds"),
    range = has_fields(range, c("lower", "upper")) && has_numbers(range$lower) &&
      has_numbers(range$upper, length(range$lower)) && has_words(names(range$lower)) &&
      all(range$lower > 0 & range$lower < range$upper) &&
      identical(names(range$lower), names(range$upper)),
    status = is_string(status) && status %in% statuses, call = is_none_or(call, is.call(call))
  )
)

# Parts -------------------------------------------------------------------------------------------

# how a frame becomes the columns of these names (design.R)
is_design <- function(design, names) {
  columns <- design$columns
  fine <- is.data.frame(columns) && has_words(columns$name, length(names)) &&
    is.list(design$levels) && all(vapply(design$levels, has_words, NA))
  if (is.null(design$terms)) {
    return(fine && has_words(columns$variable, length(names)) && is.character(columns$level))
  }
  fine && inherits(design$terms, "terms") && is.list(design$example) && is.list(columns$uses) &&
    has_integers(columns$position) && has_words(columns$term, length(names))
}

is_adjust_design <- function(design, names) {
  if (!is.list(design) || !is_string(design$kind)) return(FALSE)
  if (design$kind == "matrix") return(identical(design$names, names))
  design$kind %in% c("formula", "frame") && is_design(design, names)
}

# the assay of an experiment, by name or number; of several experiments a list by their names
is_assay <- function(x) {
  is_one <- function(x) is_string(x) || has_integers(x) && length(x) == 1L
  is_one(x) || is.list(x) && length(x) > 0L && has_words(names(x), length(x)) &&
    all(vapply(x, function(one) is.null(one) || is_one(one), NA))
}

is_summary <- function(fit, numbers) {
  check_object(fit)
  has_numbers(numbers, gaps = TRUE)
}

is_class_weights <- function(weights, levels) {
  if (is.null(levels) || identical(weights, "balanced")) return(!is.null(levels))
  has_numbers(weights, length(levels)) && setequal(names(weights), levels) && all(weights > 0)
}

# x of a problem, m x n
is_times <- function(survival, m) {
  has_table(survival, "time") && nrow(survival) == m && all(survival$time > 0) &&
    is.logical(survival$event) && !anyNA(survival$event)
}

is_values <- function(x, m, n) {
  plain <- is.matrix(x) && (is.numeric(x) || is.logical(x)) && !is.object(x)
  sparse <- inherits(x, "dgCMatrix") && isTRUE(methods::validObject(x, test = TRUE))
  (plain || sparse || is_float_matrix(x) && is_sound_float(x) ||
     is_file_matrix(x) && is_sound_file(x)) &&
    identical(dim(x), as.integer(c(m, n)))
}

# places in a matrix of m rows, so many in each column
is_pattern <- function(x, m, counts) {
  inherits(x, "ngCMatrix") && isTRUE(methods::validObject(x, test = TRUE)) &&
    identical(dim(x), as.integer(c(m, length(counts)))) && all(diff(x@p) == counts)
}

is_solution <- function(solution, n, q, L) {
  is.list(solution) && all(vapply(solution, is.numeric, NA)) &&
    has_integers(solution$features, 1L, n) && has_numbers(solution$u, q * L) &&
    has_numbers(solution$beta, length(solution$features) * L) &&
    (L == 1L || is.matrix(solution$beta) && is.matrix(solution$u))
}

# curves of cross_validate(), a row for each size or lambda
is_curve_table <- function(curves, key) {
  others <- setdiff(names(curves), key)
  errors <- others[!endsWith(others, "_se")]
  has_table(curves, key, others) && nrow(curves) > 0L && "test" %in% errors &&
    setequal(others, c(errors, paste0(errors, "_se"))) &&
    all(vapply(curves[others], function(one) !any(is.infinite(one)), NA)) &&
    all(vapply(curves[errors], function(one) any(is.finite(one)), NA))
}

is_knot <- function(knot, D, L) {
  is.list(knot) && has_integers(knot$components, 1L, D) &&
    has_matrix(knot$beta, length(knot$components), L)
}

is_system_model <- function(model, D, steps) {
  is.null(model) || all(
    has_integers(model$step, 0L, steps - 1L), length(model$step) == 1L,
    has_integers(model$components, 1L, D), is.matrix(model$beta), has_numbers(model$beta),
    nrow(model$beta) == length(model$components), ncol(model$beta) > 0L,
    has_numbers(model$objective, 1L), has_numbers(model$residual, 1L)
  )
}

is_basis <- function(basis, kernel, m, n) {
  is_none_or(basis$rows, has_integers(basis$rows, 1L, m)) && is_flag(basis$all) &&
    (kernel$name == "precomputed" && !is.null(basis$rows) ||
       is_values(basis$points, basis_size(basis), n))
}

# number of basis vectors
basis_size <- function(basis) if (is.null(basis$rows)) nrow(basis$points) else length(basis$rows)

is_spectrum <- function(spectrum, m, L) {
  r <- length(spectrum$values)
  n <- nrow(spectrum$back)
  in_blocks <- !is.null(spectrum$source)
  with(spectrum, all(
    is.double(values), has_numbers(values), has_matrix(t, r, L),
    if (in_blocks) is_source(source, m, n, ncol(z_basis)) else has_matrix(phi, m, r),
    has_matrix(y, m, L), has_matrix(z_basis, m, ncol(z_basis)), has_matrix(back, n, r),
    is.double(root_w), has_numbers(root_w, m), root_w > 0, is_flag(complete), is_flag(linear),
    is.integer(basis), length(basis) == m, has_integers(basis, 0L, n),
    is_none_or(spectrum$rounding, has_numbers(spectrum$rounding, 1L))
  ))
}

is_source <- function(source, m, n, q) {
  kernel <- source$kernel
  pointless <- is.null(kernel) || kernel$name == "precomputed"
  with(source, all(
    is_values(x, m, ncol(x)), has_matrix(penalty, n, n), has_matrix(of_terms, q, n),
    !pointless || has_integers(columns, 1L, ncol(x)) && length(columns) == n,
    is_none_or(kernel, is_good(kernel, "sparsels_kernel") && has_numbers(diagonal, n)),
    pointless || is_values(points, n, ncol(x)), has_numbers(centre), has_numbers(scale)
  ))
}
