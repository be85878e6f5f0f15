#' Sparse conjugate directions pursuit for linear systems and models
#'
#' Computes sparse approximate solutions of a symmetric positive definite system, with one more
#' nonzero at every step, or selects columns of a linear model in the same way.
#'
#' Each step adds a component to the support \eqn{S}, by the residual \eqn{c = A w - b}, and solves
#' \eqn{A_{SS} w_S = b_S}{A_SS w_S = b_S}; the other entries of \eqn{w} are zero. This \eqn{w}
#' minimises
#' \deqn{w' A w / 2 - b' w}{w'Aw / 2 - b'w}
#' over the vectors that are zero outside \eqn{S}. After D steps it is the solution of the system.
#' The conjugate directions of the paper are computed as rows of the Cholesky factor of
#' \eqn{A_{SS}}{A_SS}, which is equivalent.
#'
#' The component added has the largest score, with
#' * `score = "residual"`: \eqn{|c_i|}, as in the paper, with the residual of the current step;
#' * `"normalised"`: \eqn{c_i^2 / A_{ii}}{c_i^2 / A_ii}, orthogonal matching pursuit with columns of
#'   unit length;
#' * `"ols"`: \eqn{c_i^2 / d_i}, where \eqn{d_i} is the Schur complement of \eqn{A_{ii}}{A_ii} given
#'   \eqn{S}: twice the decrease of the objective (orthogonal least squares, forward regression). On
#'   random systems the last two find better models of most sizes, at the same cost.
#'
#' Ties, scores within a relative 1e-12 of the largest, go to the lowest component. A component with
#' \eqn{d_i} below 1e-12 \eqn{A_{ii}}{A_ii} (1e-10 for a problem), linearly dependent on \eqn{S}, is
#' never added.
#'
#' **A problem**: with `x` and `y` the system is \eqn{A = X'X + \lambda I}{A = X'X + lambda I},
#' \eqn{b = X'y}, with the standardised, weighted columns and the response residualised on the
#' covariates, so that the model of every size minimises
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2.}{
#' sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2.}
#' `solver = "cholesky"` computes the columns of A for components when they are added; `"qr"` works
#' on the rows of the data without A, which takes twice the time and keeps twice as many digits if
#' columns are nearly dependent. The coefficients come from a QR decomposition of the rows in both
#' cases. `"ols"` is [forward_regression()]. `"normalised"` is [omp()] where lambda is 0; with
#' `standardize` and no covariates it is [omp()] for every lambda, and so is `"residual"`.
#'
#' **Candidates**: with `candidates = 59` each step considers 59 components drawn at random from
#' those outside \eqn{S} (SCDPP): with probability 0.95 the best of them is among the best 5 %. In
#' the paper some models were much worse. R's random numbers are drawn before the first step.
#' Candidates do not save time here, since the residual is updated at all components. They do in
#' [fs_lssvm()], for kernel matrices larger than memory.
#'
#' @param x,y,data The data, in any form that [as_problem()] takes. Must not be given with `A`.
#' @param ... Further arguments of [as_problem()]: `r problem_dots()`. Any other name is an error.
#' @param A A symmetric positive definite matrix (D x D), dense or sparse, or a function that
#'   returns column j of it.
#' @param b The right-hand side: a numeric vector of length D, or a matrix (D x L), whose columns
#'   share the components.
#' @param k Largest number of components: between 1 and D or, for a problem, the smaller of the
#'   number of usable columns and the number of rows less the covariates less one. `NULL`, the
#'   default: that bound, at most 10.
#' @param score The score by which a component is added: `"residual"` (the default), `"normalised"`
#'   or `"ols"`, see Details; the last two need the diagonal of `A`, so that `A` cannot be a
#'   function.
#' @param candidates `NULL`, the default, to consider all components at each step, or the number to
#'   draw.
#' @param lambda For a problem: the ridge parameter, a number of at least 0; 0 by default.
#' @param solver For a problem: `"cholesky"` (the default) or `"qr"`, see Details. `candidates`
#'   needs the former.
#' @param size,size_folds For a problem: how its size is chosen, see [size_rule]. `"criterion"`, the
#'   default, is the largest size of at most `k`.
#' @param BPPARAM `NULL`, or how BiocParallel runs the folds of `size_folds`, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return For a problem a [sparse_fit]. For a system a [system_fit]: `coef(fit, size)` is a vector
#'   of length D.
#'
#' @section Cost: O(D k^2) time and k columns of `A` for a system; for a problem with m rows and n
#'   columns O(mnk + nk^2), and O(mk^2) for the leave-one-out errors. Memory beyond the data: D k
#'   doubles.
#'
#' @section Errors: Of class `sparsels_error_input`, naming the argument; `sparsels_error_singular`
#'   for a matrix that is not positive definite, naming the step and component at which this was
#'   found. The columns that a function `A` returns are checked: they must be finite and consistent
#'   with symmetry.
#'
#' @references Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K.
#' (2011). Sparse conjugate directions pursuit with application to fixed-size kernel models. Machine
#' Learning 85, 109-148. \doi{10.1007/s10994-011-5253-8}
#' @seealso [matching_pursuit()] and [lars_path()] for the same systems; [fs_lssvm()], where the
#'   components are prototypes
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 12), 40)
#' y <- x[, 3] - x[, 8] + rnorm(40) / 4
#' fit <- scdp(A = crossprod(x) + diag(12) / 100, b = crossprod(x, y), k = 4)
#' fit
#' coef(fit, size = 2)
#' scdp(x, y, k = 4, score = "ols")
#' @export
scdp <- function(x, y = NULL, ..., data = NULL, A = NULL, b = NULL, k = NULL,
                 score = c("residual", "normalised", "ols"), candidates = NULL, lambda = 0,
                 solver = c("cholesky", "qr"), size = "criterion", size_folds = 10,
                 BPPARAM = NULL) {
  score <- choice_or_first(score, "score", scdp_scores)
  solver <- choice_or_first(solver, "solver", c("cholesky", "qr"))
  if (!is.null(A) || !is.null(b)) {
    if (!missing(x)) stop_input("give either a problem, `x` and `y`, or a system, `A` and `b`")
    check_dots(..., known = setdiff(names(formals(scdp)), of_problems))
    given <- intersect(names(match.call()), of_problems)
    if (length(given)) {
      stop_input(sprintf("`%s` is for a problem, not for a system `A`, `b`%s", given[1L],
                         if (given[1L] == "lambda") ": add it to the diagonal of `A`" else ""),
                 "sparsels_error_argument")
    }
    return(solve_sparsely(A, b, k, score, candidates, short_call(match.call())))
  }
  problem <- fitter_problem("scdp", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  control$score <- score
  if (solver == "qr" && !is.null(candidates)) {
    stop_input("`candidates` need `solver = \"cholesky\"`", "sparsels_error_argument")
  }
  search <- if (solver == "qr") {
    function(problem, control) {
      list(pursuit_path(problem, control, pursue(problem, control, row_scores[[score]])))
    }
  } else {
    function(problem, control) list(columns_path(problem, control, candidates))
  }
  sized_fit("scdp", problem, control, search, short_call(match.call()),
            random = !is.null(candidates), BPPARAM = BPPARAM)
}

of_problems <- c("x", "y", "data", "lambda", "solver", "size", "size_folds", "BPPARAM")

scdp_scores <- c("residual", "normalised", "ols")

# the scores for solver "qr", as functions of the state in R/forward-regression.R
row_scores <- list(
  residual = function(s) rowSums(s$r^2),
  normalised = function(s) rowSums(s$r^2) / s$penalised,
  ols = function(s) gain_score(s)
)

# A system ----------------------------------------------------------------------------------------

solve_sparsely <- function(A, b, k, score, candidates, call) {
  if (is.null(A) || is.null(b)) stop_input("a system needs both `A` and `b`")
  system <- as_system(A, b)
  if (is.function(A) && score != "residual") {
    stop_input(sprintf("`score = \"%s\"` needs the diagonal of `A`, which a function does not give",
                       score), "sparsels_error_argument")
  }
  control <- pursuit_control(system_size(k, system), system$D, score, candidates, dependent_term)
  arguments <- list(b = system$b, diagonal = system$diagonal,
                columns = if (is.function(A)) watched_columns(system) else system$A)
  pursuit <- follow_pursuit(arguments, control, system$names)
  size <- 0:pursuit$size
  objective <- c(0, -cumsum(rowSums(pursuit$z^2)) / 2)
  residual <- c(sqrt(sum(system$b^2)), pursuit$resid_norm)
  models <- lapply(size, function(s) {
    list(components = pursuit$chosen[seq_len(s)], beta = leading_solution(pursuit, s),
         objective = objective[s + 1L], residual = residual[s + 1L], row = s + 1L)
  })
  new_system_fit("scdp", system, adding_steps(pursuit$chosen, objective, residual), models,
                 list(k = control$k, score = score, candidates = candidates), pursuit$status, call)
}

# A problem ---------------------------------------------------------------------------------------

columns_path <- function(problem, control, candidates) {
  usable <- sum(problem$usable)
  # if more than a quarter of the columns are required, all of X'X is computed at once
  terms <- gram_terms(problem, whole = usable <= whole_gram && 4 * control$k > usable)
  terms$ridge <- control$lambda
  terms$diagonal <- terms$diagonal + control$lambda
  terms["columns"] <- list(NULL)
  chosen <- which(problem$usable)
  pursuit <- follow_pursuit(
    terms, pursuit_control(control$k, usable, control$score, candidates, dependent),
    problem$names[chosen]
  )
  chosen <- chosen[pursuit$chosen]
  sets <- lapply(0:pursuit$size, function(s) chosen[seq_len(s)])
  steps <- data.frame(action = rep(c("start", "add"), c(1L, pursuit$size)), feature = c(NA, chosen))
  status <- if (pursuit$status == "interrupted") "interrupted" else "complete"
  subset_path(problem, control, sets, steps, pursuit$size, status)
}

# The pursuit -------------------------------------------------------------------------------------

# The arguments of src/scdp.c. `first` are components that are added first.
pursuit_control <- function(k, D, score, candidates, dependent, first = integer(),
                            lists = drawn_lists(D, candidates, k)) {
  # evaluated first, since it checks `candidates`
  force(lists)
  list(
    k = k, score = score, dependent = dependent,
    first = as.integer(first) - 1L, drawn = if (is.null(candidates)) 0L else as.integer(candidates),
    candidates = lists, threads = 1L, user_loss = NULL,
    progress = progress_bar(interactive(), "Pursuing")
  )
}

# A matrix of random components with a column for each step. It has enough rows that `candidates` of
# the components are outside the support.
drawn_lists <- function(D, candidates, k) {
  if (is.null(candidates)) return(matrix(0L, 0L, 0L))
  width <- min(D, check_count(candidates, "candidates") + as.double(k))
  matrix(vapply(seq_len(k), function(step) sample.int(D, width), integer(width)) - 1L, width)
}

# list(status, size, chosen, factor: L of A_SS = LL', z = L^-1 b_S, resid_norm: norm of the residual
# after each step)
follow_pursuit <- function(arguments, control, names) {
  answer <- .Call(C_scdp, arguments, control)
  size <- answer$size
  if (answer$status == "not_positive") stop_indefinite(size, answer$worst, answer$pivot, names)
  steps <- seq_len(size)
  z <- matrix(answer$z, control$k)[steps, , drop = FALSE]
  factor <- matrix(answer$factor, control$k)[steps, steps, drop = FALSE]
  list(status = answer$status, size = size, chosen = answer$chosen[steps] + 1L, factor = factor,
       z = z, resid_norm = answer$resid_norm[steps])
}

# w_S for the first `size` components of a pursuit, size x L
leading_solution <- function(pursuit, size) {
  steps <- seq_len(size)
  if (!size) return(pursuit$z[steps, , drop = FALSE])
  backsolve(pursuit$factor[steps, steps, drop = FALSE], pursuit$z[steps, , drop = FALSE],
            upper.tri = FALSE, transpose = TRUE)
}
