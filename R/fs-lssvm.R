#' Fixed-size least-squares support vector machines
#'
#' Fits a least-squares support vector machine whose kernel expansion has a few prototypes, selected
#' one by one by sparse conjugate directions pursuit, with the cross-validated error of every size.
#'
#' With prototypes \eqn{x_p}, the model \eqn{f(x) = \sum_{p \in S} a_p k(x, x_p) + \beta' z}{
#' f(x) = sum over p in S of a_p k(x, x_p) + beta' z} minimises
#' \deqn{\gamma \sum_j w_j \| y_j - f(x_j) \|^2 + a' K_{SS}\, a + \nu \gamma \| \beta \|^2}{
#' gamma sum_j w_j || y_j - f(x_j) ||^2 + a' K_SS a + nu gamma ||beta||^2}
#' over the weights of the prototypes in \eqn{S} and of the covariates \eqn{z} (the intercept is
#' one), with case weights \eqn{w} and \eqn{\nu = 10^{-8}}{nu = 1e-8}. Classes are coded -1 and +1,
#' several classes by a column each. All columns share the prototypes.
#'
#' The fit has three steps.
#' * Some rows are selected as available prototypes (`prototypes`, `select`).
#' * [scdp()] adds one available prototype to the model at each step. The pursuit also runs without
#'   each fold, and the models of every size are scored on the rows of the fold: `fit$path`.
#' * The chosen size is the smallest whose error is within `size_rule` standard deviations (over
#'   folds) of the smallest error. The pursuit on all rows gives the models of all sizes.
#'
#' **Honest errors.** Held-out rows are removed from the training rows, but not from the available
#' prototypes. These are selected from all rows of `x`, or are means of them, but not by `y`. The
#' error of the chosen size is slightly optimistic, because the size was chosen by it, and more so
#' for a larger `size_rule`. [cross_validate()] repeats all steps, tuning and means included, in
#' outer folds, and gives an honest estimate.
#'
#' **The intercept.** With `intercept = "candidate"` it is one of the components among which the
#' pursuit chooses, as in the paper. It may enter late or never, and counts in the size. With
#' `"forced"` it enters first and is not counted. Covariates in `adjust` always enter first.
#'
#' **Large data.** The kernel between all rows and all prototypes is held in memory. If it would
#' take more than a gigabyte and `candidates` is given, only the kernel of the candidates of each
#' step is computed, so that any number of rows can be prototypes. The pursuit then ends at a step
#' at which no candidate changes the model. Tuning takes 50 such fits with their folds: on large
#' data call [tune_lssvm()] on some of the rows.
#'
#' **Other solvers.** `"full"` solves for all prototypes at once. `"nystrom"` does so in the
#' features of [nystrom_features()] (the classical fixed-size LS-SVM). Both give the same
#' predictions and have one size.
#'
#' @inheritParams kernel_rls
#' @param kernel A kernel, for instance `kernel_gaussian(sigma2 = 1)`; `NULL` for a Gaussian kernel
#'   whose width [tune_lssvm()] finds.
#' @param gamma The regularisation constant, a positive number: large values fit the training rows
#'   closely. `NULL`: [tune_lssvm()] finds it.
#' @param prototypes The available prototypes: a fraction of the rows (below 1), a number of rows,
#'   row numbers or names, a matrix of points, or `NULL` for all rows. Duplicates are dropped. A
#'   fraction or number uses R's random numbers: `set.seed()` before the call reproduces the rows.
#' @param select How the available prototypes are selected when their number is given, a method of
#'   [select_basis()]: `"k_center"`, `"random"`, `"renyi"` (requires a kernel), `"kmeans"` or
#'   `"cluster_mean"`. The last two give at most as many points as there are different rows.
#' @param solver How the model is fitted: `"scdp"`, prototypes are added one at a time; `"full"`, on
#'   all of them; `"nystrom"`, in Nystrom features of all of them; see Details.
#' @param k The largest size; `NULL` for the number of components, at most 500.
#' @param folds Which rows are held out together, see [make_folds()]. With `NULL` none are, and the
#'   size is the largest.
#' @param size_rule The chosen size is the smallest whose error is at most this number of standard
#'   deviations (over folds) above the smallest error; a number of at least 0.
#' @param intercept `"candidate"`, the intercept is one of the components to choose from;
#'   `"forced"`, it is in every model; or `"none"`; see Details.
#' @param score,candidates As in [scdp()].
#' @param window,change The pursuit stops early at a size whose error differs from the mean of the
#'   `window` sizes before by less than the fraction `change`, (38) of the paper, and never if that
#'   is 0. An error that falls and rises again also crosses that mean. With a smaller `change` the
#'   pursuit is less likely to stop there by chance.
#' @param refit Logical: is the model of the chosen size computed again by a QR decomposition of its
#'   rows, which keeps twice the digits?
#' @param threads Number of OpenMP threads, over folds and prototypes.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`.
#' @return An object of class `fs_lssvm`, see [fs_lssvm_fit].
#'
#' @section Cost: With m rows, d columns, p prototypes, N folds and size k, the kernel takes O(mpd)
#'   time. A column of the system takes O(mp) when a pursuit first uses it, and k to N k columns are
#'   used. The pursuits take O(mpk + N p k^2). Memory is two m x p matrices, and N (p + m / N) k
#'   doubles for the pursuits. With c candidates on large data the kernel takes O(mckd) and the
#'   pursuits O(N m k (c + k)), with at most m (c + N k) doubles.
#'
#' @section Errors: Of class `sparsels_error_input`, naming the argument, among them a kernel matrix
#'   that is not positive semidefinite, one class only, and `k` above the number of components.
#'   Ctrl-C keeps the completed sizes, with a warning of class `sparsels_interrupted`.
#'
#' @inherit scdp references
#' @seealso [lssvm()] on all rows, [kernel_rls()] on a given basis, with exact hold-out of basis
#'   vectors
#' @examples
#' set.seed(1)
#' x <- matrix(runif(300, -1, 1), 150)
#' inside <- factor(ifelse(rowSums(x^2) + rnorm(150) / 9 < 0.5, "in", "out"))
#' fit <- fs_lssvm(x, inside, kernel = kernel_gaussian(sigma2 = 1), gamma = 10)
#' fit
#' selected(fit)
#' predict(fit, rbind(c(0, 0), c(1, 1)), type = "class")
#' @export
fs_lssvm <- function(x, y = NULL, ..., data = NULL, kernel = NULL, gamma = NULL, prototypes = 0.3,
                     select = "k_center", solver = c("scdp", "full", "nystrom"), k = NULL,
                     folds = 10, size_rule = 0.1, intercept = c("candidate", "forced", "none"),
                     score = c("residual", "normalised", "ols"), candidates = NULL, window = 10,
                     change = 1e-4, refit = FALSE, standardize = TRUE, threads = 1) {
  model <- fs_model(prototypes, select, solver, k, folds, intercept, score, candidates, size_rule,
                    window, change, refit, threads)
  problem <- fitter_problem("fs_lssvm", x, y, ..., data = data,
                            intercept = unless_stated(x, model$intercept != "none",
                                                      missing(intercept) ||
                                                        agrees(x, model$intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  problem <- with_doubles(problem)
  if (!is.null(kernel)) kernel <- single_kernel(kernel)
  if (!is.null(gamma)) gamma <- check_positive(gamma, "gamma")
  tuning <- NULL
  if (is.null(kernel) || is.null(gamma)) {
    # tuned and fitted on the same folds and prototypes
    if (is.null(folds)) model$folds <- 10
    model$folds <- as_folds(model$folds, problem)
    model$basis <- fs_prototypes(problem, kernel, model)
    tuning <- tuned(problem, kernel, gamma, "csa+simplex", 50L, model)
    if (is.null(folds)) model["folds"] <- list(NULL)
    kernel <- tuning$kernel
    gamma <- tuning$gamma
  }
  setup <- fs_setup(problem, kernel, model)
  new_fs_fit(setup, kernel, gamma, fs_train(setup, kernel, gamma), tuning, short_call(match.call()))
}

# Arguments ---------------------------------------------------------------------------------------

# The settings of the model except its kernel and gamma. Settings that need no data are checked.
fs_model <- function(prototypes = 0.3, select = "k_center", solver = "scdp", k = NULL, folds = 10,
                     intercept = "candidate", score = "residual", candidates = NULL,
                     size_rule = 0.1, window = 10, change = 1e-4, refit = FALSE, threads = 1) {
  list(
    prototypes = prototypes,
    select = check_choice(select, "select",
                          c("k_center", "random", "renyi", "kmeans", "cluster_mean")),
    solver = choice_or_first(solver, "solver", c("scdp", "full", "nystrom")), k = k,
    folds = folds,
    intercept = choice_or_first(intercept, "intercept", c("candidate", "forced", "none")),
    score = choice_or_first(score, "score", scdp_scores), candidates = candidates,
    size_rule = check_positive(size_rule, "size_rule", or_zero = TRUE),
    window = check_count(window, "window"),
    change = check_positive(change, "change", or_zero = TRUE),
    refit = check_flag(refit, "refit"), threads = check_count(threads, "threads")
  )
}

# whether a problem has an intercept exactly as `intercept` says, so that it may be forced
agrees <- function(x, intercept) {
  inherits(x, "sparsels_problem") && x$intercept == (intercept != "none")
}

# Prototypes as a basis: list(rows, points, all), each different from the others.
fs_prototypes <- function(problem, kernel, model) {
  if (!is.null(model$basis)) return(model$basis)
  prototypes <- model$prototypes
  count <- prototype_count(prototypes, nrow(problem))
  if (!is.null(count)) {
    # distances are between rows of x, since in the space of a narrow kernel all rows are equally
    # far apart
    needed <- model$select == "renyi" || !is.null(kernel) && is_precomputed(kernel)
    if (model$select %in% c("kmeans", "cluster_mean")) count <- min(count, distinct_rows(problem$x))
    prototypes <- select_basis(problem, count, model$select, kernel = if (needed) kernel)
  }
  if (is.null(kernel)) kernel <- kernel_linear()
  # as_basis() would take a single row number as a number of rows to draw
  basis <- if (length(prototypes) == 1L && is.null(dim(prototypes))) {
    rows_basis(basis_rows(prototypes, problem, "prototypes"), problem, kernel)
  } else {
    as_basis(prototypes, problem, kernel, "prototypes")
  }
  if (is.null(basis$points)) return(basis)
  # names that remain when some of the points are not used
  if (is.null(basis$rows)) rownames(basis$points) <- basis_names(problem, basis)
  distinct <- which(!duplicated(as.matrix(basis$points)))
  list(rows = basis$rows[distinct], points = basis$points[distinct, , drop = FALSE], all = FALSE)
}

distinct_rows <- function(x) sum(!duplicated(as.matrix(x)))

# a share or number of the rows as a number, NULL if the prototypes themselves are given
prototype_count <- function(prototypes, rows) {
  given <- !is.numeric(prototypes) || length(prototypes) != 1L || !is.null(dim(prototypes)) ||
    inherits(prototypes, "sparsels_basis")
  if (given) return(NULL)
  if (is_number(prototypes) && prototypes > 0 && prototypes < 1) {
    return(max(1L, as.integer(round(prototypes * rows))))
  }
  check_count(prototypes, "prototypes", rows, "the number of rows")
}

# The parts that are the same for every gamma, and for every width of a Gaussian kernel (`kernel` is
# then NULL): the prototypes and the terms, prototypes first and then covariates. `distances` are
# squared distances.
fs_setup <- function(problem, kernel, model) {
  problem <- seen_by_kernel(problem, kernel)
  basis <- fs_prototypes(problem, kernel, model)
  model["folds"] <- list(if (!is.null(model$folds)) as_folds(model$folds, problem))
  if (!is.null(model$folds)) fold_basis_check(problem, model$folds)
  n <- basis_size(basis)
  candidate <- model$intercept == "candidate" && problem$intercept
  forced <- setdiff(seq_len(ncol(problem$z)), if (candidate) 1L)
  model$forced <- n + forced
  model$k <- fs_size(model$k, n + candidate)
  steps <- model$k + length(model$forced)
  model$lists <- drawn_lists(n + ncol(problem$z), model$candidates, steps)
  null_residual <- if (!is.null(model$folds)) rep(list(problem$y), ncol(model$folds$ids))
  setup <- c(list(problem = problem, basis = basis, model = model, n = n,
                  null = if (!length(forced)) errors_or_na(problem, model$folds, null_residual)),
             covariate_terms(problem, forced))
  if (is.null(kernel) && !is_large(setup)) {
    K <- kernel_columns(problem, distance_kernel(), basis)
    own <- basis_kernel_matrix(problem, distance_kernel(), basis, K)
    setup$distances <- list(K = K, own = own)
  }
  setup
}

# The covariates as terms, `z` (m x q). Forced covariates become orthogonal columns of root mean
# square 1, so that neither their units nor their correlation matter to rounding or to the ridge.
# `back` (q x q) converts the weights of these columns to weights of the covariates.
covariate_terms <- function(problem, forced) {
  z <- unname(problem$z)
  back <- diag(ncol(z))
  if (length(forced)) {
    root_w <- sqrt(problem$weights)
    parts <- qr(root_w * z[, forced, drop = FALSE], tol = 1e-10)
    scale <- sqrt(sum(problem$weights))
    z[, forced] <- qr.Q(parts) * scale / root_w
    back[forced, forced] <- backsolve(qr.R(parts), diag(scale, length(forced)))
  }
  list(z = z, back = back)
}

# the columns as the kernel takes them: a kernel whose width is searched for is Gaussian
seen_by_kernel <- function(problem, kernel) {
  if (is.null(kernel)) kernel_scale(problem, shift = TRUE) else kernel_problem(problem, kernel)
}

fs_size <- function(k, components) {
  if (is.null(k)) return(min(components, 500L))
  check_count(k, "k", components, "the number of components")
}

# The fit -----------------------------------------------------------------------------------------

new_fs_fit <- function(setup, kernel, gamma, made, tuning, call) {
  problem <- setup$problem
  model <- made$models[[made$size + 1L]]
  basis <- setup$basis
  used <- list(rows = basis$rows[made$used],
               points = if (!is.null(basis$points)) basis$points[made$used, , drop = FALSE],
               all = FALSE, available = setup$n)
  fit <- structure(list(
    method = "fs_lssvm", path = made$path, size = made$size, coefficients = made$models,
    gamma = gamma, lambda = 1 / gamma, kernel = kernel, basis = used,
    criterion = squared_criterion(setup$model$folds),
    held_out = if (is.null(made$residual)) NA * problem$y else problem$y - made$residual,
    fitted = NULL, folds = setup$model$folds, tuning = tuning,
    control = setup$model[setdiff(names(setup$model), not_control)],
    call = call, status = made$status, problem = without_x(problem)
  ), class = c("fs_lssvm", "kernel_fit", "sparsels_fit", "sparsels_result"))
  fit$fitted <- term_scores(fit, problem$x, model$beta, model$features) +
    problem$z %*% model$covariates
  seal(warn_unfinished(fit, counted(nrow(fit$path) - 1L, "size")))
}

# settings that the fit does not keep, or has in other fields
not_control <- c("prototypes", "basis", "folds", "lists", "forced")
