#' Sparse conjugate directions pursuit
#'
#' Solves a symmetric positive definite system with one more nonzero at every step, or selects the
#' columns of a linear model by it.
#'
#' A step takes the component of \eqn{A w = b} where the residual \eqn{c = A w - b} says that most
#' is to be gained, and solves \eqn{A_{SS} w_S = b_S}{A_SS w_S = b_S} for all that were taken,
#' \eqn{S}; the rest of \eqn{w} is zero. That is the minimum of
#' \deqn{w' A w / 2 - b' w}{w'Aw / 2 - b'w}
#' over the vectors that are zero outside \eqn{S}. After as many steps as there are components it is
#' the solution. The directions of the paper are conjugate; a Cholesky factor of \eqn{A_{SS}}{A_SS}
#' that grows by a row holds the same numbers, and is what is computed.
#'
#' The component taken has the largest
#' * `score = "residual"`: \eqn{|c_i|}, as in the paper, with the residual of the present step;
#' * `"normalised"`: \eqn{c_i^2 / A_{ii}}{c_i^2 / A_ii}, orthogonal matching pursuit with columns of
#'   unit length;
#' * `"ols"`: \eqn{c_i^2 / d_i}, \eqn{d_i} being what the components taken leave of
#'   \eqn{A_{ii}}{A_ii}: half of it is by how much the objective falls (orthogonal least squares,
#'   forward regression). On random systems the last two find better models of most sizes, at no
#'   cost.
#'
#' Ties, scores within 1e-12 of the largest, go to the first component. One that the others explain
#' up to 1e-12 of \eqn{A_{ii}}{A_ii} (1e-10 for a problem) is never taken.
#'
#' **A problem**: with `x` and `y` the system is \eqn{A = X'X + \lambda I}{A = X'X + lambda I},
#' \eqn{b = X'y} in the standardised columns, after the covariates were taken out, so that the model
#' of every size minimises
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2.}{
#' sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2.}
#' `solver = "cholesky"` forms the columns of A as they are taken; `"qr"` never forms A but works on
#' the rows, which costs twice the time and keeps twice the digits where columns are nearly
#' dependent. The coefficients come from a QR decomposition of the rows either way. `"ols"` is
#' [forward_regression()]. `"normalised"` is [omp()] where lambda is 0; with `standardize` and no
#' covariates it is [omp()] for every lambda, and so is `"residual"`.
#'
#' **Candidates**: with `candidates = 59` each step looks at 59 components drawn at random from
#' those left (SCDPP): with a probability of 0.95 the best of them is among the best 5 %. The paper
#' warns of models that are much worse now and then. The draws depend on the step alone. Here they
#' make another choice, not a faster one, since the residual is followed at all components; for
#' kernel matrices too large to hold, see [fs_lssvm()].
#'
#' @param x,y,data The data, in any form that [as_problem()] takes. Not with `A`.
#' @param ... Passed to [as_problem()]: `weights`, `adjust`, `intercept`, `standardize`.
#' @param A A symmetric positive definite matrix (D x D), dense or sparse, or a function that
#'   returns column j of it.
#' @param b The right side: D numbers, or a matrix (D x L) whose columns share their components.
#' @param k How many components are wanted: a number between 1 and D or, for a problem, the smaller
#'   of the usable columns and the rows less the covariates less one. `NULL`: that, at most 10.
#' @param score `"residual"`, `"normalised"` or `"ols"`; the last two need the diagonal of `A`,
#'   which a function does not give.
#' @param candidates `NULL` for all components at each step, or a number of them.
#' @param lambda The ridge parameter of a problem, a number of at least 0.
#' @param solver For a problem: `"cholesky"` or `"qr"`. `candidates` need the former.
#' @param size,size_folds For a problem: how its size is chosen, see [greedy_rls()]. `"criterion"`,
#'   the default, is `k`.
#'
#' @return For a problem a [sparse_fit]. For a system a [system_fit]: `coef(fit, size)` has D
#'   entries.
#'
#' @section Cost: O(D k^2) and k columns of `A` for a system; for a problem with m rows and n
#'   columns O(mnk + nk^2), and O(mk^2) for the figures. Memory beyond the data: D k doubles.
#'
#' @section Errors: Of class `sparsels_error_input`, naming the argument; `sparsels_error_singular`
#'   for a matrix that is not positive definite, with the step and the component at which it shows.
#'   A function that gives columns is watched as it goes: they must be finite and symmetric.
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
                 solver = c("cholesky", "qr"), size = "criterion", size_folds = 10) {
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
  problem <- fitter_problem(x, y, ..., data = data)
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
            random = !is.null(candidates))
}

of_problems <- c("x", "y", "data", "lambda", "solver", "size", "size_folds")

scdp_scores <- c("residual", "normalised", "ols")

# the scores once more, for the pursuit on rows in R/forward-regression.R
row_scores <- list(
  residual = function(s) rowSums(s$r^2),
  normalised = function(s) rowSums(s$r^2) / s$own,
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
  given <- list(b = system$b, diagonal = system$diagonal,
                columns = if (is.function(A)) watched_columns(system) else system$A)
  found <- follow_pursuit(given, control, system$names)
  size <- 0:found$size
  objective <- c(0, -cumsum(rowSums(found$z^2)) / 2)
  residual <- c(sqrt(sum(system$b^2)), found$left)
  models <- lapply(size, function(s) {
    list(components = found$chosen[seq_len(s)], beta = leading_solution(found, s),
         objective = objective[s + 1L], residual = residual[s + 1L], row = s + 1L)
  })
  new_system_fit("scdp", system, adding_steps(found$chosen, objective, residual), models,
                 list(k = control$k, score = score, candidates = candidates), found$status, call)
}

# A problem ---------------------------------------------------------------------------------------

columns_path <- function(problem, control, candidates) {
  usable <- sum(problem$usable)
  # most columns are asked for: then all at once
  terms <- gram_terms(problem, whole = usable <= whole_gram && 4 * control$k > usable)
  terms$ridge <- control$lambda
  terms$diagonal <- terms$diagonal + control$lambda
  terms["columns"] <- list(NULL)
  chosen <- which(problem$usable)
  found <- follow_pursuit(
    terms, pursuit_control(control$k, usable, control$score, candidates, dependent),
    problem$names[chosen]
  )
  chosen <- chosen[found$chosen]
  sets <- lapply(0:found$size, function(s) chosen[seq_len(s)])
  steps <- data.frame(action = rep(c("start", "add"), c(1L, found$size)), feature = c(NA, chosen))
  status <- if (found$status == "interrupted") "interrupted" else "complete"
  subset_path(problem, control, sets, steps, found$size, status)
}

# The pursuit -------------------------------------------------------------------------------------

# What src/scdp.c wants to know; `first` are components that must come first.
pursuit_control <- function(k, D, score, candidates, dependent, first = integer(),
                            lists = drawn_lists(D, candidates, k)) {
  # which refuses `candidates` that are no number
  force(lists)
  list(
    k = k, score = match(score, scdp_scores) - 1L, dependent = dependent,
    first = as.integer(first) - 1L, drawn = if (is.null(candidates)) 0L else as.integer(candidates),
    candidates = lists, threads = 1L, judge = NULL,
    progress = progress_bar(interactive(), "Pursuing")
  )
}

# A list for each step, long enough to hold `candidates` components that are not taken yet.
drawn_lists <- function(D, candidates, k) {
  if (is.null(candidates)) return(matrix(0L, 0L, 0L))
  width <- min(D, check_count(candidates, "candidates") + as.double(k))
  matrix(vapply(seq_len(k), function(step) sample.int(D, width), integer(width)) - 1L, width)
}

# list(status, size, chosen, factor (L of A_SS = LL'), z = L^-1 b_S, left)
follow_pursuit <- function(given, control, names) {
  answer <- .Call(C_scdp, given, control)
  size <- answer$size
  if (answer$status == -1L) stop_indefinite(size, answer$worst, answer$pivot, names)
  steps <- seq_len(size)
  z <- matrix(answer$z, control$k)[steps, , drop = FALSE]
  factor <- matrix(answer$factor, control$k)[steps, steps, drop = FALSE]
  list(status = c("complete", "early_stop", "interrupted")[answer$status + 1L], size = size,
       chosen = answer$chosen[steps] + 1L, factor = factor, z = z, left = answer$left[steps])
}

# w_S of the first `size` components, size x L
leading_solution <- function(found, size) {
  steps <- seq_len(size)
  if (!size) return(found$z[steps, , drop = FALSE])
  backsolve(found$factor[steps, steps, drop = FALSE], found$z[steps, , drop = FALSE],
            upper.tri = FALSE, transpose = TRUE)
}
