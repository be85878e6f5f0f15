# Fixed-size least-squares support vector machines, and the tuning of their constants.

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
#' one), with case weights \eqn{w} and \eqn{\nu = 10^{-8} \bar w}{nu = 1e-8 mean(w)}. Classes are
#' coded -1 and +1, several classes by a column each. All columns share the prototypes.
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
#'   that is not positive semidefinite, and one class only.
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
                     change = 1e-4, refit = FALSE,
                     standardize = !identical(kernel, "precomputed"), threads = 1) {
  model <- fs_model(prototypes, select, solver, k, folds, intercept, score, candidates, size_rule,
                    window, change, refit, threads)
  problem <- fitter_problem("fs_lssvm", x, y, ..., data = data,
                            intercept = fs_intercept(x, model$intercept, missing(intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  problem <- with_doubles(problem)
  if (!is.null(folds)) model$folds <- at_most_rows(folds, problem)
  if (!is.null(kernel)) kernel <- single_kernel(kernel)
  if (identical(kernel$name, "precomputed")) problem <- square_kernel(problem)
  if (!is.null(gamma)) gamma <- check_positive(gamma, "gamma")
  tuning <- NULL
  if (is.null(kernel) || is.null(gamma)) {
    # tuned and fitted on the same folds and prototypes
    if (is.null(folds)) model$folds <- at_most_rows(10, problem)
    model$folds <- as_folds(model$folds, problem)
    model$basis <- fs_prototypes(problem, kernel, model)
    tuning <- tuned(problem, kernel, gamma, "csa+simplex", 50L, model)
    if (is.null(folds)) model["folds"] <- list(NULL)
    kernel <- tuning$kernel
    gamma <- tuning$gamma
  }
  setup <- fs_setup(problem, kernel, model)
  train <- if (model$solver == "scdp") train_pursuit else train_at_once
  made <- train(setup, fs_columns(setup, kernel), 1 / gamma)
  new_fs_fit(setup, kernel, gamma, made, tuning, short_call(match.call()))
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
    solver = choice_or_first(solver, "solver", c("scdp", "full", "nystrom")), k = k, folds = folds,
    intercept = choice_or_first(intercept, "intercept", c("candidate", "forced", "none")),
    score = choice_or_first(score, "score", scdp_scores), candidates = candidates,
    size_rule = check_positive(size_rule, "size_rule", or_zero = TRUE),
    window = check_count(window, "window"),
    change = check_positive(change, "change", or_zero = TRUE),
    refit = check_flag(refit, "refit"), threads = check_count(threads, "threads")
  )
}

# Whether there is an intercept. NULL where a problem `x` tells, unless `intercept` differs from it.
fs_intercept <- function(x, intercept, by_default) {
  wanted <- intercept != "none"
  agrees <- inherits(x, "sparsels_problem") && x$coding$intercept == wanted
  unless_stated(x, wanted, by_default || agrees)
}

# Prototypes as a basis: list(rows, points, all), each different from the others.
fs_prototypes <- function(problem, kernel, model) {
  if (!is.null(model$basis)) return(model$basis)
  prototypes <- model$prototypes
  given <- !is.numeric(prototypes) || length(prototypes) != 1L || !is.null(dim(prototypes)) ||
    inherits(prototypes, "sparsels_basis")
  if (!given) {
    # a share or number of the rows
    is_share <- is_number(prototypes) && prototypes > 0 && prototypes < 1
    count <- if (is_share) max(1L, as.integer(round(prototypes * nrow(problem)))) else
      check_count(prototypes, "prototypes", nrow(problem), "the number of rows")
    # distances are between rows of x, since in the space of a narrow kernel all rows are equally
    # far apart
    needed <- model$select == "renyi" || !is.null(kernel) && is_precomputed(kernel)
    if (model$select %in% c("kmeans", "cluster_mean")) {
      count <- min(count, sum(!duplicated(as.matrix(problem$x))))
    }
    prototypes <- select_basis(problem, count, model$select, kernel = if (needed) kernel)
  }
  if (is.null(kernel)) kernel <- kernel_linear()
  # as_basis() would take a single row number as a number of rows to draw
  lone <- length(prototypes) == 1L && is.null(dim(prototypes))
  basis <- if (!lone) as_basis(prototypes, problem, kernel, "prototypes") else
    rows_basis(basis_rows(prototypes, problem, "prototypes"), problem, kernel)
  if (is.null(basis$points)) return(basis)
  # names that remain when some of the points are not used
  if (is.null(basis$rows)) rownames(basis$points) <- basis_names(problem, basis)
  distinct <- which(!duplicated(as.matrix(basis$points)))
  list(rows = basis$rows[distinct], points = basis$points[distinct, , drop = FALSE], all = FALSE)
}

# The parts that are the same for every gamma, and for every width of a Gaussian kernel (`kernel` is
# then NULL): the prototypes and the terms, prototypes first and then covariates. `distances` are
# squared distances.
fs_setup <- function(problem, kernel, model) {
  problem <- seen_by_kernel(problem, kernel)
  basis <- fs_prototypes(problem, kernel, model)
  model["folds"] <- list(if (!is.null(model$folds)) as_folds(model$folds, problem))
  if (!is.null(model$folds)) refuse_lost_covariates(problem, model$folds)
  n <- basis_size(basis)
  candidate <- model$intercept == "candidate" && problem$coding$intercept
  forced <- setdiff(seq_len(ncol(problem$z)), if (candidate) 1L)
  model$forced <- n + forced
  model$k <- largest_size(model$k, n + candidate, 500L, "the number of components")
  model$lists <- drawn_lists(n + ncol(problem$z), model$candidates, model$k + length(model$forced))
  null_residual <- if (!is.null(model$folds)) rep(list(problem$rows$y), ncol(model$folds$ids))
  setup <- c(list(problem = problem, basis = basis, model = model, n = n,
                  null = if (!length(forced)) errors_or_na(problem, model$folds, null_residual)),
             covariate_terms(problem, forced))
  if (is.null(kernel) && !is_large(setup)) {
    setup$distances <- kernel_pair(problem, distance_kernel(), basis)
  }
  setup
}

# the columns as the kernel takes them: a kernel whose width is searched for is Gaussian
seen_by_kernel <- function(problem, kernel) {
  if (is.null(kernel)) kernel_scale(problem, shift = TRUE) else kernel_problem(problem, kernel)
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
    criterion = squared_criterion(problem, setup$model$folds),
    held_out = if (is.null(made$residual)) NA * problem$rows$y else problem$rows$y - made$residual,
    fitted = NULL, folds = setup$model$folds, tuning = tuning,
    control = setup$model[setdiff(names(setup$model), not_control)],
    call = call, status = made$status, problem = without_x(problem)
  ), class = c("fs_lssvm", "kernel_fit", "sparsels_fit", "sparsels_result"))
  fit$fitted <- term_scores(fit, problem$x, model$beta, model$features) +
    problem$z %*% model$covariates
  seal(warn_unfinished(with_user_units(fit), counted(nrow(fit$path) - 1L, "size")))
}

# settings that the fit does not keep, or has in other fields
not_control <- c("prototypes", "basis", "folds", "lists", "forced")

# Tuning ------------------------------------------------------------------------------------------

#' Tune the regularisation constant and kernel width of an LS-SVM
#'
#' Finds gamma and the width \eqn{\sigma^2}{sigma^2} of a Gaussian kernel that minimise the
#' cross-validated error of [fs_lssvm()] or [lssvm()].
#'
#' The objective is the held-out mean squared error on folds that are drawn once and used for every
#' point. For `solver = "scdp"` it is the minimum over the size s,
#' \deqn{\min_{\gamma, \sigma^2} \min_s E_s(\gamma, \sigma^2), \qquad k(x, z) = \exp(-\| x - z \|^2
#' / \sigma^2).}{min over gamma and sigma^2 of min over s of E_s(gamma, sigma^2), k(x, z) =
#' exp(-||x - z||^2 / sigma^2).} The search is over \eqn{\log_2 \gamma}{log2 gamma} and \eqn{\log_2
#' \sigma^2}{log2 sigma^2} in a box: gamma from 2^-10 to 2^20, \eqn{\sigma^2}{sigma^2} from 2^-8 to
#' 2^8 times the median squared distance of two rows (after any standardising, of up to 500 rows
#' spread over the data, without distances of zero). It starts at gamma = 1 and the median. With
#' weights of the rows, these gammas are divided by their mean. If `kernel` is given, only gamma is
#' tuned; if `gamma` is given, only \eqn{\sigma^2}{sigma^2}.
#'
#' * `"csa+simplex"`: three fifths of the budget are used by coupled simulated annealing, five
#'   chains whose probabilities of accepting a worse point depend on the values of all of them, the
#'   first started at the start point and the others at random points of the box; the rest by the
#'   simplex method of Nelder and Mead from the best point so far, with a first step of half a unit,
#'   until the values of the simplex agree to a relative 1e-6. It uses R's random numbers, so
#'   `set.seed()` before the call reproduces it.
#' * `"grid"`: a regular grid that covers the box, with at most half of `budget` points, and a
#'   second with the others, which covers the box within one step of the first grid from its best
#'   point; with a budget below 32 the first grid has all points. All gammas of one width share the
#'   kernel matrix and its decomposition, so a point of a grid costs much less than a point of the
#'   other search.
#'
#' The smallest of many held-out errors is optimistic. With `solver = "scdp"` a small size
#' regularises as well, and the best gamma may be very large; it is then not a good choice for a
#' model on all prototypes.
#'
#' @inheritParams kernel_rls
#' @param x,y,data The data, in any form that [as_problem()] takes; for `kernel = "precomputed"`,
#'   `x` is the m x m kernel matrix.
#' @param method `"csa+simplex"` or `"grid"`, see Details.
#' @param kernel `NULL` for a Gaussian kernel whose width is tuned, or the kernel to use, in any
#'   form that [kernels] describes, with a single width.
#' @param gamma `NULL` to tune gamma, or the value to use: a positive number, 1 / `lambda` of
#'   [kernel_rls()].
#' @param solver The model whose error is minimised: `"scdp"`, `"full"` or `"nystrom"`, the solvers
#'   of [fs_lssvm()], or `"lssvm"` for [lssvm()], the model on all rows.
#' @param prototypes,select,k,score,candidates,window,change As in [fs_lssvm()]; not used for
#'   `solver = "lssvm"`.
#' @param intercept `"candidate"`, `"forced"` or `"none"`, as in [fs_lssvm()]; for
#'   `solver = "lssvm"` the first two are the same.
#' @param folds Which rows are held out together, in any form that [make_folds()] takes; 10 folds
#'   drawn at random by default.
#' @param budget The largest number of points (pairs of gamma and \eqn{\sigma^2}{sigma^2}) to
#'   evaluate, between 1 and 10000; 100 by default.
#' @param standardize Logical: are columns centred and divided by their standard deviation (both
#'   weighted, on all rows) before the kernel is computed? Taken from the problem if `x` is one.
#'
#' @return A list of class `lssvm_tuning`:
#' * `gamma`, and `sigma2` (`NULL` with a kernel given), the best point, and its `value`;
#' * `kernel`: the kernel with that width, or the one given;
#' * `table`: data frame with a row for every point in the order tried: `gamma`, `sigma2` (`NA` with
#'   a kernel given), `value` (`NA` where the model could not be computed), `stage` (`"csa"`,
#'   `"simplex"`, `"grid"` or `"refined"`, the second grid);
#' * `folds`, and `prototypes` (row numbers or points) unless `solver = "lssvm"`: given to the
#'   fitter as arguments, they reproduce the errors of the table;
#' * `range`: `lower` and `upper`, the ranges of `sigma2` and `gamma` searched;
#' * `method`, `solver`, `call`, `status` (`"complete"` or `"interrupted"`) and `problem` without
#'   its x.
#'
#' `plot()` draws the points tried and returns the data frame drawn, invisibly.
#'
#' @section Cost: The budget times the cross-validation of one model, see [fs_lssvm()]; for
#'   `solver = "lssvm"` with m rows O(m^3) for each width and O(m^3 / folds) for each gamma. Squared
#'   distances are computed once. Ctrl-C returns the best point so far, with a warning of class
#'   `sparsels_interrupted`, after a decomposition by LAPACK has ended.
#'
#' @section Errors: Of class `sparsels_error_input`: `kernel` and `gamma` both given, rows of `x`
#'   that are all equal, weights of 0, and input that is invalid for [fs_lssvm()] or [as_problem()].
#'
#' @references Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K.
#' (2011). Sparse conjugate directions pursuit with application to fixed-size kernel models. Machine
#' Learning 85, 109-148. \doi{10.1007/s10994-011-5253-8}
#'
#' Xavier-de-Souza, S., Suykens, J. A. K., Vandewalle, J., Bolle, D. (2010). Coupled simulated
#' annealing. IEEE Transactions on Systems, Man, and Cybernetics, Part B 40, 320-335.
#' \doi{10.1109/TSMCB.2009.2020435}
#'
#' Nelder, J. A., Mead, R. (1965). A simplex method for function minimization. The Computer Journal
#' 7, 308-313. \doi{10.1093/comjnl/7.4.308}
#' @seealso [fs_lssvm()], [lssvm()]
#' @examples
#' set.seed(1)
#' x <- matrix(runif(120, -2, 2), 60)
#' y <- factor(rowSums(x^2) + rnorm(60) / 3 > 2)
#' tuning <- tune_lssvm(x, y, solver = "lssvm", method = "grid", folds = 5, budget = 30)
#' tuning
#' plot(tuning)
#' @export
tune_lssvm <- function(x, y = NULL, ..., data = NULL, method = c("csa+simplex", "grid"),
                       kernel = NULL, gamma = NULL, prototypes = 0.3, select = "k_center",
                       solver = c("scdp", "full", "nystrom", "lssvm"), k = NULL, folds = 10,
                       budget = 100, intercept = c("candidate", "forced", "none"),
                       score = c("residual", "normalised", "ols"), candidates = NULL, window = 10,
                       change = 1e-4, standardize = !identical(kernel, "precomputed"),
                       threads = 1) {
  solver <- choice_or_first(solver, "solver", c("scdp", "full", "nystrom", "lssvm"))
  model <- fs_model(prototypes, select, if (solver == "lssvm") "full" else solver, k, folds,
                    intercept, score, candidates, window = window, change = change,
                    threads = threads)
  model$solver <- solver
  problem <- fitter_problem("tune_lssvm", x, y, ..., data = data,
                            intercept = fs_intercept(x, model$intercept, missing(intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  if (!is.null(folds)) model$folds <- at_most_rows(folds, problem)
  tuning <- tuned(problem, kernel, gamma, method, budget, model)
  tuning$call <- short_call(match.call())
  tuning
}

# Tunes a problem, for tune_lssvm() and for fitters called without gamma or kernel. `model` is the
# result of fs_model() and the `solver`. For solver "lssvm" its elements `folds` and `threads` are
# used.
tuned <- function(problem, kernel, gamma, method, budget, model) {
  method <- choice_or_first(method, "method", c("csa+simplex", "grid"))
  budget <- check_repeats(budget, "budget")
  if (!is.null(gamma)) gamma <- check_positive(gamma, "gamma")
  if (!is.null(kernel)) kernel <- single_kernel(kernel)
  stop_argument_if(!is.null(kernel) && !is.null(gamma),
                   "`kernel` and `gamma` are both given: there is nothing to tune")
  problem <- seen_by_kernel(problem, kernel)
  model$folds <- as_folds(model$folds, problem)
  if (model$solver != "lssvm") model$basis <- fs_prototypes(problem, kernel, model)
  objective <- if (model$solver == "lssvm") ridge_objective else pursuit_objective
  # log2(sigma2) and log2(gamma), if they are tuned
  start <- c(sigma2 = if (is.null(kernel)) log2(typical_distance(problem)),
             gamma = if (is.null(gamma)) -log2(weight_unit(problem)))
  box <- list(start = start, lower = start + c(sigma2 = -8, gamma = -10)[names(start)],
              upper = start + c(sigma2 = 8, gamma = 20)[names(start)])
  # the mean squared error of predicting the weighted mean
  centre <- colSums(problem$rows$weight * problem$rows$y) / sum(problem$rows$weight)
  heat <- mean_squared(problem, problem$rows$y - rep(centre, each = nrow(problem)))
  found <- search_box(at_points(objective(problem, kernel, model), gamma), box, method, budget,
                      heat)
  new_tuning(problem, kernel, gamma, method, model, box, found)
}

# Objectives --------------------------------------------------------------------------------------

# Functions of one sigma2 (NA for a given kernel) and several gammas that return the held-out mean
# squared errors.

# The model on all rows: one spectrum for all gammas of a width.
ridge_objective <- function(problem, kernel, model) {
  fold_basis_check(problem, model$folds)
  between_rows <- if (is.null(kernel)) distance_kernel() else kernel
  all_rows <- rows_basis(seq_len(nrow(problem)), problem, between_rows)
  values <- kernel_columns(problem, between_rows, all_rows)
  spectrum <- if (!is.null(kernel)) full_spectrum(problem, values)
  function(sigma2, gamma) {
    lambda <- 1 / gamma
    if (is.null(kernel)) {
      spectrum <- full_spectrum(problem, exp(-values / sigma2), lambda, positive = TRUE)
    }
    spectrum_errors(spectrum, problem, c(list(lambda = lambda), model))$criterion
  }
}

# Models on prototypes: the smallest error over their sizes, NA where the system of a solver that
# uses all prototypes is singular.
pursuit_objective <- function(problem, kernel, model) {
  setup <- fs_setup(problem, kernel, model)
  columns <- if (!is.null(kernel)) fs_columns(setup, kernel)
  function(sigma2, gamma) {
    if (is.null(kernel)) columns <- fs_columns(setup, kernel_gaussian(1 / sigma2))
    if (model$solver != "scdp") {
      solve_for <- solver_at_once(setup, columns)
      return(vapply(1 / gamma, function(lambda) {
        tryCatch(error_table(problem, model$folds, solve_for(lambda)$held_out)$criterion,
                 sparsels_error_singular = function(condition) NA_real_)
      }, 0))
    }
    pursuit <- fs_pursue(setup, columns, 1 / gamma)
    # the minimum over the sizes completed is not comparable with that over all sizes
    if (pursuit$interrupted) raise_interrupt()
    apply(pursuit$criterion, 2L, min, Inf, na.rm = TRUE)
  }
}

# The objective as a function of a matrix of points, in the form that the searches use. `objective`
# is called once for each width.
at_points <- function(objective, gamma) {
  function(points) {
    coordinate <- function(name, given) {
      if (name %in% colnames(points)) unname(2^points[, name]) else rep(given, nrow(points))
    }
    sigma2 <- coordinate("sigma2", NA_real_)
    gamma <- coordinate("gamma", gamma)
    values <- numeric(nrow(points))
    for (rows in split(seq_len(nrow(points)), match(sigma2, unique(sigma2)))) {
      values[rows] <- tryCatch(
        objective(sigma2[rows[1L]], gamma[rows]),
        sparsels_error_singular = function(condition) NA_real_
      )
    }
    values
  }
}

# Points to try -----------------------------------------------------------------------------------

# list(best, the row of the best point, table, status)
search_box <- function(f, box, method, budget, heat) {
  if (method != "grid") {
    csa <- coupled_annealing(f, box$start, box, ceiling(0.6 * budget), inner = 5L, heat = heat)
    remaining <- budget - csa$evaluations
    if (remaining == 0 || csa$status == "interrupted") return(staged(csa = csa))
    return(staged(csa = csa, simplex = nelder_mead(f, csa$best, remaining, box, unit = heat)))
  }
  # A grid over the box, and a finer grid between the neighbours of its best point. A small budget
  # is spent on the first grid alone, which would otherwise miss the region of the best point.
  refined <- budget >= 32
  axes <- grid_axes(box, if (refined) budget %/% 2 else budget)
  coarse <- grid_search(f, axes)
  remaining <- budget - coarse$evaluations
  if (!refined || coarse$status == "interrupted") return(staged(grid = coarse))
  step <- vapply(axes, function(values) c(diff(values), Inf)[1L], 0)
  near <- list(start = coarse$best, lower = pmax(box$lower, coarse$best - step),
               upper = pmin(box$upper, coarse$best + step))
  staged(grid = coarse, refined = grid_search(f, grid_axes(near, remaining)))
}

# The values of each parameter, with steps on both axes as nearly equal as the number of points
# allows. An axis of one point has the start.
grid_axes <- function(box, budget) {
  range <- box$upper - box$lower
  points <- budget
  if (length(range) == 2L) {
    widths <- max(1, floor(sqrt(budget * range[[1L]] / range[[2L]])))
    points <- c(widths, budget %/% widths)
  }
  axis <- function(start, lower, upper, n) if (n == 1) start else seq(lower, upper, length.out = n)
  Map(axis, box$start, box$lower, box$upper, points)
}

# the result of several searches run one after the other
staged <- function(...) {
  stages <- list(...)
  tables <- Map(function(one, stage) cbind(one$table, stage = stage), stages, names(stages))
  table <- do.call(rbind, unname(tables))
  best <- which.min(finite_energy(table$value))
  list(best = best, table = table, status = stages[[length(stages)]]$status)
}

new_tuning <- function(problem, kernel, gamma, method, model, box, search) {
  points <- search$table
  table <- data.frame(gamma = if (is.null(gamma)) 2^points$gamma else gamma,
                      sigma2 = if (is.null(kernel)) 2^points$sigma2 else NA_real_,
                      value = ifelse(is.finite(points$value), points$value, NA),
                      stage = points$stage)
  best <- table[search$best, ]
  if (is.na(best$value)) {
    if (model$solver == "full") stop_dependent()
    stop_input("no point tried has a model that can be computed: is `kernel` a kernel?",
               class = "sparsels_error_singular")
  }
  warn_if(search$status == "interrupted", "sparsels_interrupted",
          "interrupted: the tuning holds the best of the %s tried so far",
          counted(nrow(table), "point"))
  seal(structure(list(
    gamma = best$gamma, sigma2 = if (is.null(kernel)) best$sigma2,
    kernel = if (is.null(kernel)) kernel_gaussian(1 / best$sigma2) else kernel,
    value = best$value, table = table, method = method, solver = model$solver, folds = model$folds,
    prototypes = if (is.null(model$basis$rows)) model$basis$points else model$basis$rows,
    range = list(lower = 2^box$lower, upper = 2^box$upper), call = NULL,
    status = search$status, problem = without_x(problem)
  ), class = c("lssvm_tuning", "sparsels_result")))
}

# Methods of a tuning -----------------------------------------------------------------------------

#' @exportS3Method
print_result.lssvm_tuning <- function(x, ...) {
  say(sprintf("tune_lssvm: solver \"%s\", the best of %s found by %s", x$solver,
              counted(nrow(x$table), "point"), x$method))
  words <- paste0(squared_label(x$problem),
                  if (x$problem$coding$task != "regression") " of the class codes")
  say(held_out_label(paste(words, shown(x$value)), x$folds$label))
  for (name in rev(names(x$range$lower))) {
    ends <- c(x$range$lower[[name]], x$range$upper[[name]])
    near <- any(abs(log2(x[[name]] / ends)) < 1e-6)
    say(sprintf("%s: %s%s, chosen between %s", name, shown_parameter(x[[name]]),
                if (near) " (at the end of its range)" else "", values_words(ends)))
  }
  if (is.null(x$sigma2)) cat("kernel: ", kernel_words(x$kernel), "\n", sep = "")
  print_data(x$problem)
  if (x$status == "interrupted") cat("interrupted: not every point was tried\n")
}

#' @exportS3Method
record.lssvm_tuning <- function(x) {
  list(rows = picture(x)$data, complete = TRUE,
       row = data.frame(method = x$method, solver = x$solver, gamma = x$gamma,
                        sigma2 = if (is.null(x$sigma2)) NA_real_ else mean(x$sigma2),
                        value = x$value, points = nrow(x$table), nobs = trained_rows(x$problem),
                        features = ncol(x$problem), status = x$status))
}

#' @exportS3Method
picture.lssvm_tuning <- function(x, ...) {
  data <- cbind(x$table, best = seq_len(nrow(x$table)) == which.min(x$table$value))
  both <- length(x$range$lower) == 2L
  across <- if (both) "gamma" else names(x$range$lower)
  position <- log2(data[[across]])
  height <- if (both) log2(data$sigma2) else data$value
  colour <- rank_colours(data$value)
  sorted <- order(data$value)
  count <- sum(!is.na(colour))
  keys <- sorted[c(1L, (count + 1L) %/% 2L, count)]
  labels <- paste(c("smallest:", "median:", "largest:"),
                  vapply(data$value[keys], format, "", digits = 3))
  layers <- c(
    as_layer("points", position[data$best], height[data$best], pch = 1, cex = 2.2, lwd = 2,
             col = mark_colour),
    unlist(lapply(1:3, function(i) {
      as_layer("points", position[keys[i]], height[keys[i]], col = colour[keys[i]],
               label = labels[i])
    }), recursive = FALSE),
    # the best curves are drawn last, over the others
    as_layer("points", position[rev(sorted)], height[rev(sorted)],
             pch = ifelse(is.na(colour), 4, 16)[rev(sorted)],
          col = ifelse(is.na(colour), "#555555", colour)[rev(sorted)])
  )
  error <- held_out_label(squared_label(x$problem), x$folds$label)
  words <- list(main = plot_title(list(method = "tune_lssvm", problem = x$problem)),
                xlab = sprintf("log2(%s)", across), ylab = if (both) "log2(sigma2)" else error)
  new_picture(data, layers, words, list(...))
}

# a colour for each value, dark for the smallest, NA for NA
rank_colours <- function(values) {
  place <- rank(values, na.last = "keep", ties.method = "min")
  grDevices::hcl.colors(length(values), "viridis")[place]
}

# Minimisation ------------------------------------------------------------------------------------

# Minimisation of a function of a few parameters that is expensive to evaluate. `f` takes a matrix
# with points in rows and returns a value for each, so that points with a common kernel width can
# share their computations. Each search returns the point `best`, its `value`, the number of
# `evaluations`, the `table` of all points in the order tried and the `status`.

# Runs `search`, a function of `values_at`, which returns the values of points. The search ends when
# it returns, when the number of `evaluations` is reached, or by Ctrl-C. All points tried are
# recorded.
searching <- function(f, evaluations, search) {
  points <- NULL
  values <- numeric()
  spent <- structure(class = c("search_spent", "condition"), list(message = "", call = NULL))
  bar <- if (interactive()) cli::cli_progress_bar("Tuning", total = evaluations)
  values_at <- function(trial) {
    trial <- trial[seq_len(min(nrow(trial), evaluations - length(values))), , drop = FALSE]
    value <- f(trial)
    points <<- rbind(points, trial)
    values <<- c(values, value)
    if (!is.null(bar)) cli::cli_progress_update(id = bar, set = length(values))
    if (length(values) == evaluations) stop(spent)
    finite_energy(value)
  }
  status <- until_stopped({
    search(values_at)
    "complete"
  }, function(condition) "interrupted", search_spent = function(condition) "complete")
  if (!length(values)) raise_interrupt()
  best <- which.min(finite_energy(values))
  list(best = points[best, ], value = values[best], evaluations = length(values),
       table = data.frame(points, value = values), status = status)
}

# values that could not be computed are replaced by a value larger than all others
finite_energy <- function(values) ifelse(is.finite(values), values, 1e100)

# Coupled simulated annealing with variance control, acceptance CSA-M (Xavier-de-Souza, Suykens,
# Vandewalle, Bolle 2010): `states` chains in a box, list(lower, upper), the first from `start` and
# the others from random points. The probability that a chain accepts a larger value increases with
# its own value relative to the values of all chains. `heat`, in units of the values, is the
# acceptance temperature, adapted so that the variance of the probabilities stays near its maximum.
# The steps have scale 1 in the first `inner` rounds, then 1/2, 1/3, ...
coupled_annealing <- function(f, start, box, evaluations, states = 5L, inner = 20L, heat = 1) {
  target <- 0.99 * (states - 1) / states^2
  searching(f, evaluations, function(values_at) {
    range <- box$upper - box$lower
    uniform <- matrix(stats::runif((states - 1L) * length(range)), length(range))
    x <- rbind(start, t(box$lower + range * uniform), deparse.level = 0L)
    energy <- values_at(x)
    round <- 0L
    repeat {
      # all random numbers of a round are drawn before its values are computed, so that the order of
      # computation does not matter
      y <- cauchy_steps(x, 1 / (1 + round %/% inner), box)
      uniform <- stats::runif(states)
      probability <- exp(-share_of(max(energy) - energy, heat))
      probability <- probability / sum(probability)
      proposed <- values_at(y)
      moves <- proposed < energy | uniform < probability
      x[moves, ] <- y[moves, ]
      energy[moves] <- proposed[moves]
      too_even <- mean(probability^2) - 1 / states^2 < target
      heat <- heat * (if (too_even) 0.95 else 1.05)
      round <- round + 1L
    }
  })
}

# A Cauchy step from each row of x, truncated to the box: the quantile of a uniform number between
# the probabilities of the bounds.
cauchy_steps <- function(x, scale, box) {
  lower <- rep(box$lower, each = nrow(x))
  upper <- rep(box$upper, each = nrow(x))
  share <- stats::runif(length(x), stats::pcauchy(lower, x, scale), stats::pcauchy(upper, x, scale))
  x[] <- pmin(pmax(stats::qcauchy(share, x, scale), lower), upper)
  x
}

# The simplex method of Nelder and Mead (1965) by stats::optim(), whose first step is 0.1, which
# sets the scale of u. In addition, points outside the box are moved to its boundary, and
# searching() ends the search when the number of evaluations is reached. `unit` is the unit of the
# values, by which optim() measures what remains to be gained.
nelder_mead <- function(f, start, evaluations, box = list(lower = -Inf, upper = Inf), step = 0.5,
                        tolerance = 1e-6, unit = 1) {
  inwards <- ifelse(start + step > box$upper, -step, step)
  searching(f, evaluations, function(values_at) {
    value <- function(u) {
      values_at(rbind(pmin(pmax(start + 10 * inwards * u, box$lower), box$upper)))
    }
    control <- list(maxit = .Machine$integer.max, reltol = tolerance,
                    fnscale = if (unit > 0) unit else 1, warn.1d.NelderMead = FALSE)
    stats::optim(0 * start, value, method = "Nelder-Mead", control = control)
  })
}

# All combinations of the values of the axes, a named list. The last axis varies fastest, and all of
# its values are evaluated in one call of `f`.
grid_search <- function(f, axes) {
  grid <- as.matrix(expand.grid(rev(axes)))[, rev(seq_along(axes)), drop = FALSE]
  runs <- split(seq_len(nrow(grid)), (seq_len(nrow(grid)) - 1L) %/% length(axes[[length(axes)]]))
  searching(f, nrow(grid), function(values_at) {
    for (run in runs) values_at(grid[run, , drop = FALSE])
  })
}
