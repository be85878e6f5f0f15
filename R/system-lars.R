# Sparse solutions of a linear system: the lasso path, sparse conjugate directions pursuit and
# matching pursuit. They share R/system.R.

# Lasso path and least angle regression -----------------------------------------------------------

#' Lasso path and least angle regression for a linear system
#'
#' Computes the path of solutions of \eqn{A w = b} with an l1 penalty, knot by knot, from \eqn{w =
#' 0} to a given number of components.
#'
#' For `type = "lasso"` every \eqn{w} on the path minimises
#' \deqn{w'Aw / 2 - b'w + \lambda \|w\|_1}{w'Aw / 2 - b'w + lambda ||w||_1}
#' for its \eqn{\lambda}. With the residual \eqn{c = A w - b}, which is the gradient of the first
#' two terms, that is \eqn{c_j = -\lambda\, \mathrm{sign}(w_j)}{c_j = -lambda sign(w_j)} where
#' \eqn{w_j} is not 0 and \eqn{|c_j| \le \lambda}{|c_j| <= lambda} elsewhere. On the active
#' components S, with signs s,
#' \deqn{w_S = A_{SS}^{-1} (b_S - \lambda s),}{w_S = A_SS^-1 (b_S - lambda s),}
#' linear in \eqn{\lambda}{lambda} down to the next knot, where a component is added because its
#' \eqn{|c_j|} equals \eqn{\lambda}{lambda}, or dropped because its \eqn{w_j} becomes 0. With `type
#' = "lar"`, least angle regression, none is dropped.
#'
#' With \eqn{A = X'X} and \eqn{b = X'y} for N rows this is the lasso, and \eqn{\lambda} is N times
#' glmnet's lambda, whose loss is divided by N (without its intercept and standardising, and with
#' its `thresh` small). For data rather than systems see [l1_path()].
#'
#' A row of the path has the action of a step and the values at the knot at its end: `lambda`,
#' `objective` (without the penalty) and `residual`. So `lambda` of step 0 is the largest
#' \eqn{|b_j|}, and a component is added at the lambda of the row before. The path ends with the
#' knot where a component beyond k would be added, or with \eqn{\lambda = 0}{lambda = 0};
#' [coef.system_fit()] returns the solution at any lambda down to there.
#'
#' With `debias` the model of a size is the exact solution on a support of that size,
#' \eqn{w_S = A_{SS}^{-1} b_S}{w_S = A_SS^-1 b_S}, and if the path has several supports of that
#' size, the one with the lowest objective. Without, it is the solution at the last knot with that
#' many components.
#'
#' A component that is linearly dependent on S (Schur complement at most 1e-12 of its diagonal) is
#' not added, since it cannot lower the objective. If `A` is singular and b not in its range, there
#' is no minimum for small \eqn{\lambda}{lambda}; the path ends before, with a warning of class
#' `sparsels_warning_singular`. Ties, within a relative 1e-12, go to the lowest component, and
#' lambdas below 1e-12 of the first are 0.
#'
#' @inheritParams matching_pursuit
#' @param b The right-hand side, a numeric vector of length D.
#' @param k Largest number of active components, between 1 and D; `NULL`, the default: D, at most
#'   10.
#' @param type `"lasso"` (the default), or `"lar"` for least angle regression, which drops no
#'   component.
#' @return An object of class `system_fit`, see [system_fit]; its path also has the column `lambda`,
#'   and `fit$knots` the solution at each row: `components` and `beta`. Its status is `"early_stop"`
#'   when the path ended with fewer than k components, and `"move_limit"` after 50 `k` steps.
#'
#' @section Cost: \eqn{O(kD + k^2)} time for each addition or drop, with k active components; O(kD)
#'   memory besides `A`.
#'
#' @inheritSection matching_pursuit Errors
#'
#' @references Efron, B., Hastie, T., Johnstone, I., Tibshirani, R. (2004). Least angle regression.
#' The Annals of Statistics 32, 407-499. \doi{10.1214/009053604000000067}
#'
#' Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K. (2011). Sparse
#' conjugate directions pursuit with application to fixed-size kernel models. Machine Learning 85,
#' 109-148. \doi{10.1007/s10994-011-5253-8}
#'
#' @seealso [l1_path()], [scdp()], [matching_pursuit()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 12), 40)
#' A <- crossprod(x)
#' b <- crossprod(x, x[, 3] - x[, 8] + rnorm(40) / 4)
#' fit <- lars_path(A, b, k = 4)
#' fit
#' coef(fit, size = 2)
#' # the lasso itself, between two knots
#' coef(fit, lambda = 20)
#' @export
lars_path <- function(A, b, ..., k = NULL, type = c("lasso", "lar"), debias = TRUE) {
  check_dots(..., known = c("k", "type", "debias"))
  system <- as_system(A, b)
  stop_input_if(system$L > 1L, "`b` must be a single right side for lars_path(), not %d", system$L)
  k <- largest_size(k, system$D, 10L, "the order of `A`")
  control <- list(k = k, type = choice_or_first(type, "type", c("lasso", "lar")),
                  debias = check_flag(debias, "debias"), moves = 50L * k)
  path <- follow_path(system, control)
  steps <- stacked(path$log, c(step_columns, "lambda"))
  # the model of each size with the lowest objective: the exact solution on its support, or the
  # penalised solution at its knot
  models <- lapply(0:max(steps$size), function(s) {
    rows <- which(steps$size == s)
    own <- lapply(path$log[rows], function(row) {
      if (debias) row$exact else row[c("beta", "objective", "residual")]
    })
    objective <- vapply(own, `[[`, 0, "objective")
    # objectives of the same support differ by rounding errors
    best <- which(objective - min(objective) <= 1e-12 * abs(min(objective)))[1L]
    c(own[[best]], list(components = path$log[[rows[best]]]$components, row = rows[best]))
  })
  fit <- new_system_fit("lars_path", system, steps, models, control, path$status,
                        short_call(match.call()))
  fit$knots <- lapply(path$log, `[`, c("components", "beta"))
  seal(fit)
}

# The path of the lasso ---------------------------------------------------------------------------

# list(log: an entry for each row of the path, status)
follow_path <- function(system, control) {
  support <- new_support(system)
  state <- list(lambda = Inf, sign = numeric(), explained = integer(), dropped = NULL,
             floor = 1e-12 * max(abs(system$b)))
  step <- list(action = "start", component = NA_integer_)
  log <- list()
  status <- NULL
  until_stopped(while (is.null(status)) {
    # the solutions for this support and its signs: w_S = z - lambda d and b - A w = e + lambda a
    set <- support$set
    solved <- support$solve_system(cbind(system$b[set], state$sign))
    products <- support$times(solved)
    line <- list(set = set, sign = state$sign, z = solved[, 1L], d = solved[, 2L],
                 e = system$b[, 1L] - products[, 1L], a = products[, 2L])
    entered <- enter_next(system, support, line, state, control, length(log) + 1L)
    knot <- entered$knot
    state$explained <- entered$explained
    log[[length(log) + 1L]] <- logged_knot(system, step, line, knot, control$type)
    full <- length(set) == control$k
    if (knot$action == "end" || full && knot$action == "add") {
      status <- if (full) "complete" else "early_stop"
    } else if (length(log) > control$moves) {
      status <- "move_limit"
    }
    state <- pass_knot(state, support, knot)
    step <- knot
  }, function(condition) {
    if (!length(log)) raise_interrupt()
    status <<- "interrupted"
  })
  list(log = log, status = status)
}

# The next knot. The component added there has entered the support. A component that is linearly
# dependent on the support is skipped and recorded: its |c_j| stays equal to lambda if b is in the
# range of A. Otherwise the penalised objective has no minimum for smaller lambda and the path ends.
enter_next <- function(system, support, line, state, control, step) {
  repeat {
    knot <- next_knot(line, state, control$type)
    j <- knot$component
    if (knot$action != "add" || support$enter(j, step)) break
    if (abs(line$e[j]) > 1e-8 * max(abs(system$b))) {
      warn_if(length(line$set) < control$k, "sparsels_warning_singular",
              "the path ends at lambda = %s: %s (step %d, component '%s')",
              format(knot$lambda, digits = 4), "`A` is numerically singular there", step,
              system$names[j])
      knot$action <- "end"
      break
    }
    state$explained <- c(state$explained, j)
  }
  list(knot = knot, explained = state$explained)
}

# The largest lambda, at most the current one, at which an entry of e + lambda a equals +lambda or
# -lambda, or at which an entry of w_S becomes 0.
next_knot <- function(line, state, type) {
  entry <- cbind(positive_ratio(line$e, 1 - line$a), positive_ratio(-line$e, 1 + line$a))
  entry[c(line$set, state$explained), ] <- 0
  # a component that has just been dropped has |c_j| = lambda
  dropped <- state$dropped
  if (length(dropped)) entry[dropped$component, if (dropped$sign > 0) 1L else 2L] <- 0
  entry <- pmin(entry, state$lambda)
  leaving <- numeric()
  if (type == "lasso") {
    leaving <- pmin(positive_ratio(-line$sign * line$z, -line$sign * line$d), state$lambda)
  }
  lambda <- max(entry, leaving)
  if (lambda <= state$floor) return(list(lambda = 0, action = "end"))
  tied <- which(leaving >= (1 - 1e-12) * lambda)
  if (length(tied)) {
    index <- tied[which.min(line$set[tied])]
    return(list(lambda = lambda, action = "drop", component = line$set[index], index = index,
                sign = line$sign[index]))
  }
  j <- first_most(pmax(entry[, 1L], entry[, 2L]))
  list(lambda = lambda, action = "add", component = j,
       sign = if (entry[j, 1L] >= entry[j, 2L]) 1 else -1)
}

# top / bottom where both are positive, else 0
positive_ratio <- function(top, bottom) replace(top / bottom, top <= 0 | bottom <= 0, 0)

# The row of the path at the end of a step, with its penalised and its exact solution.
logged_knot <- function(system, step, line, knot, type) {
  w <- line$z - knot$lambda * line$d
  # when several components are added at once, an entry of the other sign is rounding error on the
  # lasso path
  w[c(knot$index, if (type == "lasso") which(line$sign * w < 0))] <- 0
  residual <- line$e + knot$lambda * line$a
  b <- system$b[line$set, 1L]
  list(
    action = step$action, component = step$component, size = length(line$set),
    objective = -sum(w * (residual[line$set] + b)) / 2, residual = sqrt(sum(residual^2)),
    lambda = knot$lambda, components = line$set, beta = as.matrix(w),
    exact = list(beta = as.matrix(line$z), objective = -sum(line$z * b) / 2,
                 residual = sqrt(sum(line$e^2)))
  )
}

pass_knot <- function(state, support, knot) {
  state$lambda <- knot$lambda
  state$dropped <- NULL
  if (knot$action == "add") state$sign <- c(state$sign, knot$sign)
  if (knot$action == "drop") {
    support$leave(knot$index)
    state$sign <- state$sign[-knot$index]
    state$dropped <- knot
    # components dependent on the larger support may be added again
    state$explained <- integer()
  }
  state
}

# Sparse conjugate directions pursuit -------------------------------------------------------------

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
    stop_argument_if(length(given), "`%s` is for a problem, not for a system `A`, `b`%s", given[1L],
                     if (given[1L] == "lambda") ": add it to the diagonal of `A`" else "")
    return(solve_sparsely(A, b, k, score, candidates, short_call(match.call())))
  }
  problem <- fitter_problem("scdp", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  control$score <- score
  stop_argument_if(solver == "qr" && !is.null(candidates),
                   "`candidates` need `solver = \"cholesky\"`")
  search <- if (solver == "qr") pursuit_by(row_scores[[score]]) else
    function(problem, control) list(columns_path(problem, control, candidates))
  sized_fit("scdp", problem, control, search, short_call(match.call()),
            random = !is.null(candidates), BPPARAM = BPPARAM)
}

of_problems <- c("x", "y", "data", "lambda", "solver", "size", "size_folds", "BPPARAM")

# the scores for solver "qr", as functions of the state in R/search-stepwise.R
row_scores <- list(
  residual = function(s) rowSums(s$r^2),
  normalised = function(s) rowSums(s$r^2) / s$penalised,
  ols = function(s) gain_score(s)
)

# The pursuit of a system -------------------------------------------------------------------------

solve_sparsely <- function(A, b, k, score, candidates, call) {
  stop_input_if(is.null(A) || is.null(b), "a system needs both `A` and `b`")
  system <- as_system(A, b)
  stop_argument_if(is.function(A) && score != "residual",
                   "`score = \"%s\"` needs the diagonal of `A`, which a function does not give",
                   score)
  k <- largest_size(k, system$D, 10L, "the order of `A`")
  control <- pursuit_control(k, system$D, score, candidates, dependent_term)
  arguments <- list(b = system$b, diagonal = system$diagonal,
                columns = if (is.function(A)) watched_columns(system) else system$A)
  pursuit <- follow_pursuit(arguments, control, system$names)
  steps <- list(action = rep(c("start", "add"), c(1L, pursuit$size)),
                component = c(NA, pursuit$chosen), size = 0:pursuit$size,
                objective = c(0, -cumsum(rowSums(pursuit$z^2)) / 2),
                residual = c(sqrt(sum(system$b^2)), pursuit$resid_norm))
  models <- lapply(steps$size, function(s) {
    list(components = pursuit$chosen[seq_len(s)], beta = leading_solution(pursuit, s),
         objective = steps$objective[s + 1L], residual = steps$residual[s + 1L], row = s + 1L)
  })
  new_system_fit("scdp", system, steps, models,
                 list(k = control$k, score = score, candidates = candidates), pursuit$status, call)
}

# The pursuit of a problem ------------------------------------------------------------------------

columns_path <- function(problem, control, candidates) {
  usable <- sum(problem$columns$usable)
  # if more than a quarter of the columns are required, all of X'X is computed at once
  terms <- gram_terms(problem, whole = usable <= whole_gram && 4 * control$k > usable)
  terms$ridge <- control$lambda
  terms$diagonal <- terms$diagonal + control$lambda
  terms["columns"] <- list(NULL)
  chosen <- which(problem$columns$usable)
  pursuit <- follow_pursuit(
    terms, pursuit_control(control$k, usable, control$score, candidates, dependent),
    problem$columns$name[chosen]
  )
  chosen <- chosen[pursuit$chosen]
  sets <- lapply(0:pursuit$size, function(s) chosen[seq_len(s)])
  status <- if (pursuit$status == "interrupted") "interrupted" else "complete"
  subset_path(problem, control, sets, pursuit$size, status,
              action = rep(c("start", "add"), c(1L, pursuit$size)), feature = c(NA, chosen))
}

# The pursuit in C --------------------------------------------------------------------------------

# the pursuit with its `status` and the norm of the residual after each step, `resid_norm`
follow_pursuit <- function(arguments, control, names) {
  answer <- .Call(C_scdp, arguments, control)
  if (answer$status == "not_positive") {
    stop_indefinite(answer$size, answer$worst, answer$pivot, names)
  }
  c(read_pursuit(answer, control$k),
    list(status = answer$status, resid_norm = answer$resid_norm[seq_len(answer$size)]))
}

# the columns of a path
step_columns <- c("action", "component", "size", "objective", "residual")

# Matching pursuit --------------------------------------------------------------------------------

#' Matching pursuit and forward stagewise regression
#'
#' Approximate the solution of \eqn{A w = b} by updating one component at a time, the component with
#' the largest residual.
#'
#' With \eqn{c = A w - b}, the gradient of \eqn{w'Aw / 2 - b'w}, a move updates the component j with
#' the largest \eqn{|c_j|}, which lowers the objective:
#' \deqn{w_j \leftarrow w_j - s\, c_j / A_{jj}, \qquad c \leftarrow c - s\, c_j A_{\cdot j} /
#' A_{jj},}{w_j <- w_j - s c_j / A_jj, c <- c - s c_j A[, j] / A_jj,} where s is `shrinkage`: 1
#' minimises the objective along the component (matching pursuit), small values give forward
#' stagewise regression. Unlike in [scdp()], the chosen components are not solved for jointly, so a
#' component is updated again (action `"move"`) whenever its residual is the largest. For several
#' right-hand sides the rows of c are compared by their norm, and all entries of a row are updated.
#'
#' With `debias` the model of size s is the solution on the first s components, \eqn{w_S =
#' A_{SS}^{-1} b_S}{w_S = A_SS^-1 b_S}, and the search ends when k are chosen. Without, it is w
#' after the last move with s components, and the search goes on until a component beyond k would be
#' added. `objective` and `residual` belong to w after each move in the path, and to the models in
#' `coefficients`.
#'
#' A component that is linearly dependent on the chosen ones (Schur complement at most 1e-12 of its
#' diagonal) is never chosen; the search ends when no \eqn{|c_j|} exceeds 1e-14 times the largest at
#' the start. Ties, within a relative 1e-12 of the largest, go to the lowest component.
#'
#' @param A The matrix, symmetric and positive definite: a numeric matrix (D x D), dense or of the
#'   Matrix package, or a function that returns column j when called with j. A function is called
#'   only for the components that are chosen.
#' @param b The right-hand side, a numeric vector of length D; or a matrix (D x L) of several
#'   right-hand sides, which share the components.
#' @param ... Must be empty: the arguments below are given by name.
#' @param k Largest number of components chosen, between 1 and D; `NULL`, the default: D, at most
#'   10.
#' @param shrinkage The step length s as a fraction of the full step, a number above 0 and up to 1;
#'   1 by default.
#' @param debias Logical: are the coefficients of each model the exact solution on its components?
#' @param moves Largest number of moves; `NULL`, the default: 10 `k`. Small values of `shrinkage`
#'   need more. If the limit is reached, the status is `"move_limit"`.
#'
#' @return An object of class `system_fit`, see [system_fit].
#'
#' @section Cost: O(DL) time for each move, O(kD) memory besides `A`; a dense `A` is not copied.
#'   `debias` takes \eqn{O(k^2 D L)}{O(k^2 D L)} more.
#'
#' @section Errors: Of class `sparsels_error_input`: `A` not square, not symmetric (which entries)
#' or not finite, `b` of another length, a tuning argument out of its range. Of class
#' `sparsels_error_singular`: `A` is found not to be positive definite, naming the step and the
#' component.
#'
#' @references Mallat, S. G., Zhang, Z. (1993). Matching pursuits with time-frequency dictionaries.
#' IEEE Transactions on Signal Processing 41, 3397-3415. \doi{10.1109/78.258082}
#'
#' Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K. (2011). Sparse
#' conjugate directions pursuit with application to fixed-size kernel models. Machine Learning 85,
#' 109-148. \doi{10.1007/s10994-011-5253-8}
#'
#' @seealso [scdp()], [lars_path()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 12), 40)
#' A <- crossprod(x) + diag(12) / 100
#' b <- crossprod(x, x[, 3] - x[, 8] + rnorm(40) / 4)
#' fit <- matching_pursuit(A, b, k = 4)
#' fit
#' # forward stagewise search
#' matching_pursuit(A, b, k = 4, shrinkage = 0.1, moves = 500, debias = FALSE)
#' @export
matching_pursuit <- function(A, b, ..., k = NULL, shrinkage = 1, debias = TRUE, moves = NULL) {
  check_dots(..., known = c("k", "shrinkage", "debias", "moves"))
  system <- as_system(A, b)
  k <- largest_size(k, system$D, 10L, "the order of `A`")
  refuse_unless(is_number(shrinkage) && shrinkage > 0 && shrinkage <= 1, "shrinkage",
                "a number above 0 and up to 1", shrinkage)
  if (is.null(moves)) moves <- 10 * k
  control <- list(k = k, shrinkage = as.double(shrinkage), debias = check_flag(debias, "debias"),
                  moves = check_count(moves, "moves"))
  search <- pursue_moves(system, control)
  models <- search$models
  if (debias) {
    # the exact solutions on the components chosen after each addition
    rows <- c(1L, which(search$steps$action == "add"))
    S <- search$support$set[seq_len(length(rows) - 1L)]
    z <- search$support$solve_factor(system$b[S, , drop = FALSE], transpose = TRUE,
                                     size = length(S))
    models <- lapply(0:length(S), function(size) {
      leading <- seq_len(size)
      beta <- search$support$solve_factor(z[leading, , drop = FALSE], size = size)
      gradient <- search$support$times(beta) - system$b
      c(list(components = S[leading], beta = beta, row = rows[size + 1L]),
        objective_and_residual(system, S[leading], beta, gradient))
    })
  }
  new_system_fit("matching_pursuit", system, search$steps, models, control, search$status,
                 short_call(match.call()))
}

# list(support, steps, models: after the last move of each size, status)
pursue_moves <- function(system, control) {
  support <- new_support(system)
  w <- matrix(0, control$k, system$L)
  gradient <- -system$b
  negligible <- 1e-28 * max(rowSums(gradient^2))
  free <- rep(TRUE, system$D)
  log <- models <- list(logged_move("start", NA_integer_, support, w, gradient, system, row = 1L))
  full <- function() length(support$set) == control$k
  converged <- interrupted <- FALSE
  until_stopped(while (length(log) <= control$moves && !(full() && control$debias)) {
    score <- free * rowSums(gradient^2)
    j <- first_most(score)
    index <- match(j, support$set)
    converged <- score[j] <= negligible || is.na(index) && full()
    if (converged) break
    action <- if (is.na(index)) "add" else "move"
    if (is.na(index)) {
      free[j] <- support$enter(j, length(log))
      if (!free[j]) next
      index <- length(support$set)
    }
    column <- support$columns[, index]
    change <- control$shrinkage * gradient[j, ] / column[j]
    w[index, ] <- w[index, ] - change
    gradient <- gradient - tcrossprod(column, change)
    move <- logged_move(action, j, support, w, gradient, system, row = length(log) + 1L)
    models[[move$size + 1L]] <- move
    log[[move$row]] <- move[step_columns]
  }, function(condition) interrupted <<- TRUE)
  # drops the model of a component that was added before its move was interrupted
  models <- models[seq_len(log[[length(log)]]$size + 1L)]
  status <- if (interrupted) "interrupted"
  if (is.null(status) && full() && (converged || control$debias)) status <- "complete"
  if (is.null(status)) status <- if (converged) "early_stop" else "move_limit"
  list(support = support, steps = stacked(log, step_columns), models = models, status = status)
}

# a row of the path and the model after it
logged_move <- function(action, component, support, w, gradient, system, row) {
  S <- support$set
  beta <- w[seq_along(S), , drop = FALSE]
  c(list(action = action, component = component, size = length(S), components = S, beta = beta,
         row = row), objective_and_residual(system, S, beta, gradient))
}
