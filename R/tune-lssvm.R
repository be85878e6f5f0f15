#' Tune the regularisation constant and the kernel width
#'
#' Finds gamma and the width \eqn{\sigma^2}{sigma^2} of a Gaussian kernel with which [fs_lssvm()] or
#' [lssvm()] has the smallest cross-validated error.
#'
#' The objective is the held-out mean squared error on folds that are drawn once and serve every
#' point; for `solver = "scdp"` that of the size with the smallest,
#' \deqn{\min_{\gamma, \sigma^2} \min_s E_s(\gamma, \sigma^2), \qquad k(x, z) = \exp(-\| x - z \|^2
#' / \sigma^2).}{min over gamma and sigma^2 of min over s of E_s(gamma, sigma^2),
#' k(x, z) = exp(-||x - z||^2 / sigma^2).}
#' The search is over \eqn{\log_2 \gamma}{log2 gamma} and \eqn{\log_2 \sigma^2}{log2 sigma^2} in a
#' box: gamma from 2^-10 to 2^20, \eqn{\sigma^2}{sigma^2} from 2^-8 to 2^8 times the median squared
#' distance of two rows (as the kernel sees them; of up to 500 rows spread over the data, distances
#' of zero left out). It starts at gamma = 1 and the median. With a kernel given only gamma is
#' tuned, with gamma given only \eqn{\sigma^2}{sigma^2}.
#'
#' * `"csa+simplex"`: three fifths of the budget go to coupled simulated annealing, five chains that
#'   choose together how readily each of them moves to a worse point, the first of them from the
#'   start and the others from anywhere in the box; the rest goes to the simplex of Nelder and Mead
#'   from the best point so far, with a first step of half a unit, until the values of the simplex
#'   agree to 1e-6. Draws with R's random numbers, so `set.seed()` before the call reproduces it.
#' * `"grid"`: a regular grid that fills the box, with about as many points as the budget has. All
#'   gammas of one width share the kernel matrix and what is computed from it, which makes a point
#'   of a grid much cheaper than one of the other search.
#'
#' The smallest of many held-out errors is optimistic. Where the size is chosen too, it already
#' regularises, and the best gamma may be very large: it is then no good gamma for a model on all
#' prototypes.
#'
#' @inheritParams kernel_rls
#' @param x,y,data The data, in any form that [as_problem()] takes; for `kernel = "precomputed"`,
#'   `x` is the m x m kernel matrix.
#' @param method `"csa+simplex"` or `"grid"`, see Details.
#' @param kernel `NULL` for a Gaussian kernel whose width is tuned, or the kernel to use, in any
#'   form that [kernels] describes, with a single width.
#' @param gamma `NULL`, or the gamma to use: a positive number, one over the weight of the penalty.
#' @param solver Whose error it is: `"scdp"`, `"full"` or `"nystrom"`, the solvers of [fs_lssvm()],
#'   or `"lssvm"` for [lssvm()], the model on all rows.
#' @param prototypes,select,k,score,candidates,window,change As in [fs_lssvm()]; not used for
#'   `solver = "lssvm"`.
#' @param intercept `"candidate"`, `"forced"` or `"none"`, as in [fs_lssvm()]; for
#'   `solver = "lssvm"` the first two are the same.
#' @param folds Which rows are held out together, in any form that [make_folds()] takes; 10 folds
#'   drawn at random by default.
#' @param budget The number of points (pairs of gamma and \eqn{\sigma^2}{sigma^2}) to try, at least
#'   1. It is never exceeded.
#' @param standardize Whether columns are centred and brought to unit scale (both weighted, on all
#'   rows) before the kernel sees them. A problem says so itself.
#'
#' @return A list of class `lssvm_tuning`:
#' * `gamma`, and `sigma2` (`NULL` with a kernel given), the best point, and its `value`;
#' * `kernel`: the kernel with that width;
#' * `table`: data frame with a row for every point in the order tried: `gamma`, `sigma2` (`NA` with
#'   a kernel given), `value` (`NA` where the model could not be computed), `stage` (`"csa"`,
#'   `"simplex"` or `"grid"`);
#' * `folds`, and `prototypes` (row numbers or points) unless `solver = "lssvm"`: to be given to the
#'   fitter, so that its errors are those seen here;
#' * `box`: `lower` and `upper`, the ends of the search;
#' * `method`, `solver`, `call`, `status` (`"complete"` or `"interrupted"`) and `problem` without
#'   its x.
#'
#' `plot()` draws the points tried and returns the data frame drawn, invisibly.
#'
#' @section Cost: The budget times the cross-validation of one model, see [fs_lssvm()]; for
#'   `solver = "lssvm"` with m rows O(m^3) for each width and O(m^3 / folds) for each gamma. Squared
#'   distances are computed once. Ctrl-C keeps the best point so far, with a warning of class
#'   `sparsels_interrupted`, but waits for a decomposition by LAPACK to end.
#'
#' @section Errors: Of class `sparsels_error_input`: kernel and gamma both given, rows of `x` that
#'   are all equal, and what [fs_lssvm()] and [as_problem()] refuse.
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
                       change = 1e-4, standardize = TRUE, threads = 1) {
  solver <- choice_or_first(solver, "solver", c("scdp", "full", "nystrom", "lssvm"))
  model <- fs_model(prototypes, select, if (solver == "lssvm") "full" else solver, k, folds,
                    intercept, score, candidates, window = window, change = change,
                    threads = threads)
  model$solver <- solver
  problem <- fitter_problem(x, y, ..., data = data,
                            intercept = unless_stated(x, model$intercept != "none",
                                                      missing(intercept) ||
                                                        agrees(x, model$intercept)),
                            standardize = unless_stated(x, standardize, missing(standardize)))
  check_all_trained(problem)
  tuning <- tuned(problem, kernel, gamma, method, budget, model)
  tuning$call <- short_call(match.call())
  tuning
}

# Tuning for a problem, for tune_lssvm() and for the fitters that are not told gamma or the kernel.
# `model` is that of fs_model(), or for solver "lssvm" a list with folds and threads besides.
tuned <- function(problem, kernel, gamma, method, budget, model) {
  method <- choice_or_first(method, "method", c("csa+simplex", "grid"))
  budget <- check_count(budget, "budget")
  if (!is.null(gamma)) gamma <- check_positive(gamma, "gamma")
  if (!is.null(kernel)) kernel <- single_kernel(kernel)
  if (!is.null(kernel) && !is.null(gamma)) {
    stop_input("`kernel` and `gamma` are both given: there is nothing to tune",
               "sparsels_error_argument")
  }
  problem <- seen_by_kernel(problem, kernel)
  model$folds <- as_folds(model$folds, problem)
  if (model$solver != "lssvm") model$basis <- fs_prototypes(problem, kernel, model)
  objective <- if (model$solver == "lssvm") ridge_objective else pursuit_objective
  box <- tuning_box(problem, kernel, gamma)
  found <- search_box(at_points(objective(problem, kernel, model), gamma), box, method, budget,
                      heat = null_error(problem))
  new_tuning(problem, kernel, gamma, method, model, box, found)
}

# the search in coordinates log2(sigma2), log2(gamma), those of them that are tuned
tuning_box <- function(problem, kernel, gamma) {
  start <- c(sigma2 = if (is.null(kernel)) log2(typical_distance(problem)),
             gamma = if (is.null(gamma)) 0)
  list(start = start, lower = start + c(sigma2 = -8, gamma = -10)[names(start)],
       upper = start + c(sigma2 = 8, gamma = 20)[names(start)])
}

# The median squared distance of two rows. Equal ones are left out, since they know no width.
typical_distance <- function(problem) {
  rows <- spread_rows(nrow(problem), 500L)
  points <- kernel_points(problem, problem$x[rows, , drop = FALSE])
  distances <- kernel_matrix(distance_kernel, points, points)
  distances <- distances[lower.tri(distances) & distances > 0]
  if (!length(distances)) stop_input("`x` has equal rows only: give a `kernel`")
  stats::median(distances)
}

# the error of the weighted mean
null_error <- function(problem) {
  centred <- problem$y - rep(colSums(problem$weights * problem$y) / sum(problem$weights),
                             each = nrow(problem))
  sum(problem$weights * centred^2) / (ncol(centred) * sum(problem$weights))
}

# Objectives --------------------------------------------------------------------------------------
# Functions of one sigma2 (NA for a kernel that is given) and several gammas: held-out mean squared
# errors.

# The model on all rows: one eigenproblem for all gammas.
ridge_objective <- function(problem, kernel, model) {
  fold_basis_check(problem, model$folds)
  between <- if (is.null(kernel)) distance_kernel else kernel
  every <- rows_basis(seq_len(nrow(problem)), problem, between)
  values <- kernel_columns(problem, between, every)
  spectrum <- if (!is.null(kernel)) full_spectrum(problem, values)
  function(sigma2, gamma) {
    if (is.null(kernel)) spectrum <- full_spectrum(problem, exp(-values / sigma2))
    held_out <- held_out_folds(spectrum, model$folds, 1 / gamma, model$threads)
    judge_path(problem, model$folds, held_out, "squared")$criterion
  }
}

# Models on prototypes: the smallest error over their sizes.
pursuit_objective <- function(problem, kernel, model) {
  setup <- fs_setup(problem, kernel, model)
  columns <- if (!is.null(kernel)) fs_columns(setup, kernel)
  function(sigma2, gamma) {
    if (is.null(kernel)) columns <- fs_columns(setup, kernel_gaussian(1 / sigma2))
    if (model$solver != "scdp") return(errors_at_once(setup, columns, 1 / gamma))
    found <- fs_pursue(setup, columns, 1 / gamma)
    # some sizes only are no fair figure
    if (found$interrupted) raise_interrupt()
    apply(found$squared, 2L, min, Inf, na.rm = TRUE)
  }
}

# NA where the system is singular
errors_at_once <- function(setup, columns, lambda) {
  solve_for <- solver_at_once(setup, columns)
  vapply(lambda, function(one) {
    tryCatch(
      held_out_figures(setup$problem, setup$model$folds, solve_for(one)$held_out)$squared,
      sparsels_error_singular = function(condition) NA_real_
    )
  }, 0)
}

# the objective as the searches ask for it: a matrix of points, with as many calls as widths
at_points <- function(objective, gamma) {
  function(points) {
    at <- list(sigma2 = NA_real_, gamma = gamma)
    at[colnames(points)] <- as.list(as.data.frame(2^points))
    at <- as.data.frame(at)
    values <- numeric(nrow(at))
    for (rows in split(seq_len(nrow(at)), match(at$sigma2, unique(at$sigma2)))) {
      values[rows] <- tryCatch(
        objective(at$sigma2[rows[1L]], at$gamma[rows]),
        sparsels_error_singular = function(condition) NA_real_
      )
    }
    values
  }
}

# Search ------------------------------------------------------------------------------------------

# list(best, the row of the best point, table, status)
search_box <- function(f, box, method, budget, heat) {
  if (method == "grid") return(staged(grid = grid_search(f, grid_axes(box, budget))))
  csa <- coupled_annealing(f, box$start, box, ceiling(0.6 * budget), inner = 5L, heat = heat)
  left <- budget - csa$evaluations
  if (left == 0 || csa$status == "interrupted") return(staged(csa = csa))
  staged(csa = csa, simplex = nelder_mead(f, csa$best, left, box))
}

# Equal steps on both axes as nearly as the number of points allows; an axis of one point has the
# start.
grid_axes <- function(box, budget) {
  range <- box$upper - box$lower
  points <- budget
  if (length(range) == 2L) {
    widths <- max(1, floor(sqrt(budget * range[[1L]] / range[[2L]])))
    points <- c(widths, budget %/% widths)
  }
  axis <- function(start, lower, upper, n) {
    if (n == 1) start else seq(lower, upper, length.out = n)
  }
  Map(axis, box$start, box$lower, box$upper, points)
}

# the searches one after the other as one
staged <- function(...) {
  stages <- list(...)
  tables <- Map(function(one, stage) cbind(one$table, stage = stage), stages, names(stages))
  table <- do.call(rbind, unname(tables))
  best <- which.min(finite_energy(table$value))
  list(best = best, table = table, status = stages[[length(stages)]]$status)
}

new_tuning <- function(problem, kernel, gamma, method, model, box, found) {
  points <- found$table
  table <- data.frame(gamma = if (is.null(gamma)) 2^points$gamma else gamma,
                      sigma2 = if (is.null(kernel)) 2^points$sigma2 else NA_real_,
                      value = ifelse(is.finite(points$value), points$value, NA),
                      stage = points$stage)
  best <- table[found$best, ]
  if (is.na(best$value)) {
    if (model$solver == "full") stop_dependent()
    stop_input("no point tried has a model that can be computed: is `kernel` a kernel?",
               "sparsels_error_singular")
  }
  if (found$status == "interrupted") {
    warn_sparsels(sprintf("interrupted: the tuning holds the best of the %s tried so far",
                          counted(nrow(table), "point")), "sparsels_interrupted")
  }
  structure(list(
    gamma = best$gamma, sigma2 = if (is.null(kernel)) best$sigma2,
    kernel = if (is.null(kernel)) kernel_gaussian(1 / best$sigma2) else kernel,
    value = best$value, table = table, method = method, solver = model$solver,
    folds = model$folds, prototypes = given_again(model$basis),
    box = list(lower = 2^box$lower, upper = 2^box$upper), call = NULL,
    status = found$status, problem = without_x(problem)
  ), class = "lssvm_tuning")
}

# prototypes as an argument has them
given_again <- function(basis) if (is.null(basis$rows)) basis$points else basis$rows

# Methods -----------------------------------------------------------------------------------------

#' @export
print.lssvm_tuning <- function(x, ...) {
  check_object(x)
  cat(sprintf("tune_lssvm: %s by %s, %s tried\n", x$solver, x$method,
              counted(nrow(x$table), "point")))
  print_data(x$problem)
  if (is.null(x$sigma2)) cat("kernel: ", kernel_words(x$kernel), "\n", sep = "")
  for (name in rev(names(x$box$lower))) {
    ends <- c(x$box$lower[[name]], x$box$upper[[name]])
    near <- any(abs(log2(x[[name]] / ends)) < 1e-6)
    cat(name, ": ", format(x[[name]], digits = 4), if (near) " (at the end of its range)", "\n",
        sep = "")
  }
  cat(held_out_label("squared error", x$folds$label), ": ", format(x$value, digits = 4), "\n",
      sep = "")
  if (x$status == "interrupted") cat("interrupted: not every point was tried\n")
  invisible(x)
}

#' @exportS3Method
plot_data.lssvm_tuning <- function(x, ...) { # nolint: object_name_linter.
  cbind(x$table, best = seq_len(nrow(x$table)) == which.min(x$table$value))
}

#' Plot the points of a tuning
#'
#' Draws the points that [tune_lssvm()] tried on logarithmic axes, coloured by the rank of their
#' held-out error, and marks the best. With one number tuned the error is the vertical axis.
#'
#' @param x The result of [tune_lssvm()].
#' @param ... Graphical parameters for [graphics::plot.default()], such as `main`, `xlim`, `ylim`.
#' @return Invisibly the data frame drawn, a row per point in the order tried: `gamma`, `sigma2`,
#'   `value` (the error, `NA` and a cross where there is none), `stage`, and `best` (whether
#'   marked).
#' @inherit tune_lssvm references
#' @seealso [tune_lssvm()]
#' @examples
#' x <- matrix(sin(1:80), 40)
#' plot(tune_lssvm(x, x[, 1] * x[, 2], solver = "lssvm", folds = "loo", budget = 20))
#' @export
plot.lssvm_tuning <- function(x, ...) {
  check_object(x)
  data <- plot_data(x)
  both <- length(x$box$lower) == 2L
  across <- if (both) "gamma" else names(x$box$lower)
  at <- log2(data[[across]])
  height <- if (both) log2(data$sigma2) else data$value
  error <- held_out_label("squared error", x$folds$label)
  words <- list(main = plot_title(list(method = "tune_lssvm", problem = x$problem)),
                xlab = sprintf("log2(%s)", across), ylab = if (both) "log2(sigma2)" else error)
  ends <- range(height, na.rm = TRUE)
  empty_plot(at, list(lower = ends[1L], upper = ends[2L]), words, ...)
  colour <- rank_colours(data$value)
  # the best on top
  drawn <- rev(order(data$value))
  graphics::points(at[drawn], height[drawn], pch = ifelse(is.na(colour), 4, 16)[drawn],
                   col = ifelse(is.na(colour), "#555555", colour)[drawn])
  graphics::points(at[data$best], height[data$best], cex = 2.2, lwd = 2, col = mark_colour)
  shown <- order(data$value)[c(1L, (sum(!is.na(colour)) + 1L) %/% 2L, sum(!is.na(colour)))]
  values <- vapply(data$value[shown], format, "", digits = 3)
  legend_above(paste(c("smallest:", "median:", "largest:"), values), pch = 16, col = colour[shown])
  invisible(data)
}

# a colour for each value, dark for the smallest; NA for NA
rank_colours <- function(values) {
  place <- rank(values, na.last = "keep", ties.method = "min")
  grDevices::hcl.colors(length(values), "viridis")[place]
}
