# Linear systems A w = b and their sparse solutions: code shared by scdp(), matching_pursuit() and
# lars_path().

#' Sparse solutions of a linear system
#'
#' The value of [scdp()] with `A` and `b`, [matching_pursuit()] and [lars_path()]: solutions of
#' \eqn{A w = b} with few nonzero entries, one for each number of entries, and their methods.
#'
#' @details The system has a symmetric positive definite matrix \eqn{A} (D x D) and one or several
#' right-hand sides \eqn{b} (D x L). Its solution minimises the objective
#' \deqn{w'Aw / 2 - b'w,}{w'Aw / 2 - b'w,}
#' summed over the right-hand sides; the residual is the norm of \eqn{c = A w - b}, which is also
#' the gradient. Where \eqn{A = X'X} and \eqn{b = X'y}, the objective is half of the residual sum of
#' squares less \eqn{\|y\|^2 / 2}{||y||^2 / 2}.
#'
#' A fit is a plain list without `A` and `b`:
#' * `path`: data frame with a row for every step: `step` (0 is the start, \eqn{w = 0}), `action`
#'   (`"start"`, `"add"`, `"drop"`, or `"move"` where a component of the model changes), `component`
#'   (its number), `name`, `size` (components in after the step), `objective` and `residual` after
#'   the step, and for [lars_path()] `lambda`.
#' * `coefficients`: element s + 1 is the model of size s with the lowest objective, or `NULL`:
#'   `components` (numbers, in the order chosen), `beta` (s x L), `objective`, `residual` and `step`
#'   (its row of the path).
#' * `size`: the largest size, the default of the methods below.
#' * `status`: `"complete"`; `"early_stop"` when no further component changes anything;
#'   `"move_limit"`; `"interrupted"`.
#' * `names` of the components (V1, V2, ... when `A` and `b` have none), their number `D`, `method`,
#'   `control`, `call`.
#'
#' @param object A fit.
#' @param size Number of components of the model; `NULL` for the largest. For `coef()` also several.
#' @param lambda For fits of [lars_path()] instead of `size`: any number from the last lambda
#'   of the path upwards. The model is then the penalised one, between two steps too, whether or not
#'   the fit has `debias`.
#' @param index Logical: are numbers returned instead of names?
#' @param ... Not used.
#'
#' @return `coef()`: named vector with all D entries, zeros included; a D x L matrix for several
#'   right-hand sides; with a column for each of several models. `selected()`: names (or numbers) of
#'   the components in the order chosen. `plot()` draws the objective of the model of every size and
#'   returns invisibly what it drew: a data frame with `size`, `mean` (the objective), `residual`,
#'   `lower` and `upper` (equal to `mean`). `tidy()`: a data frame with a row per component of the
#'   model, `right_side` (only for several), `term`, `order`, `estimate`. `glance()`: one row as of
#'   any other fit, see [tidiers]: `features` is D, `responses` the number of right-hand sides,
#'   `criterion` the objective. `as.data.frame()`: the path, a row per step, with `chosen` (logical,
#'   whether it made the model of the largest size).
#'
#' @section Errors: Of class `sparsels_error_input`: a size that the fit does not have, a `lambda`
#' for a fit without one or below the end of its path.
#'
#' @references Karsmakers, P., Pelckmans, K., De Brabanter, K., Van hamme, H., Suykens, J. A. K.
#' (2011). Sparse conjugate directions pursuit with application to fixed-size kernel models. Machine
#' Learning 85, 109-148. \doi{10.1007/s10994-011-5253-8}
#'
#' @seealso [scdp()], [matching_pursuit()], [lars_path()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 12), 40)
#' A <- crossprod(x) + diag(12) / 100
#' b <- crossprod(x, x[, 3] - x[, 8] + rnorm(40) / 4)
#' fit <- matching_pursuit(A, b, k = 4)
#' fit
#' selected(fit, size = 2)
#' coef(fit, size = 2)
#' tidy(fit)
#' plot(fit)
#' @name system_fit
NULL

# The system --------------------------------------------------------------------------------------

# A (D x D) and b (D, or D x L), checked: list of D, L, b (D x L), A (a double matrix, a dgCMatrix
# or the function j -> column j), diagonal (D, NULL when only columns are known) and names (D).
as_system <- function(A, b) {
  check_given(A, "A")
  check_given(b, "b")
  columns_only <- is.function(A)
  stop_argument_if(columns_only && !arguments_of(A),
                   "`A` must be a function of the number of a column, but takes no argument")
  if (!columns_only) A <- square_matrix(A)
  b <- right_sides(b, if (!columns_only) nrow(A))
  names <- list(if (!columns_only) colnames(A), rownames(b), paste0("V", seq_len(nrow(b))))
  rownames(b) <- NULL
  system <- list(D = nrow(b), L = ncol(b), b = b, A = A)
  if (!columns_only) {
    system$diagonal <- unname(diag(A))
    low <- which(system$diagonal <= 0)
    stop_input_if(length(low), "`A` must be positive definite, but A[%d, %d] = %s", low[1L],
                  low[1L], format(system$diagonal[low[1L]]), class = "sparsels_error_singular")
  }
  system$names <- Filter(length, names)[[1L]]
  system
}

square_matrix <- function(A) {
  refuse_unless(!is.data.frame(A) && length(dim(A)) == 2L && !is.character(A), "A",
                "a numeric matrix, or a function that returns its column j", A)
  A <- as_doubles(as_values(A, "A"))
  stop_input_if(nrow(A) != ncol(A) || !nrow(A), "`A` must be square, not %d x %d", nrow(A), ncol(A))
  off <- asymmetry(A)
  # A dense matrix is read once. An entry that is not finite is also unequal to its mirror image.
  if (length(off) || !is.matrix(A) || !all(is.finite(diag(A)))) {
    bad <- if (is.matrix(A)) dense_not_finite(A) else sparse_not_finite(A)
    count <- sum(bad$count)
    stop_input_if(count, "`A` has %s (first: A[%d, %d])",
                  counted(count, "missing or infinite value"), bad$row, bad$column)
  }
  if (length(off)) stop_asymmetric(off[1L], off[2L], A[off[1L], off[2L]], A[off[2L], off[1L]])
  A
}

stop_asymmetric <- function(i, j, above, below) {
  stop_input("`A` must be symmetric, but A[%d, %d] = %s and A[%d, %d] = %s", i, j,
             format(above, digits = 12L), j, i, format(below, digits = 12L))
}

right_sides <- function(b, D) {
  refuse_unless(is_numbers(b) && length(dim(b)) <= 2L && length(b), "b",
                "a numeric vector, or a matrix with a column for each right side", b)
  b <- as.matrix(as_valid(b, "b"))
  storage.mode(b) <- "double"
  stop_input_if(!is.null(D) && nrow(b) != D,
                "`b` must have one value for each of the %s of `A`, not %d", counted(D, "row"),
                nrow(b))
  bad <- which(!is.finite(b))
  stop_input_if(length(bad), "`b` has %s (first: row %d)",
                counted(length(bad), "missing or infinite value"), (bad[1L] - 1L) %% nrow(b) + 1L)
  b
}

# a vector or matrix of numbers, including matrices of the Matrix package
is_numbers <- function(x) {
  is.numeric(x) && !is.data.frame(x) || inherits(x, c("Matrix", "sparseVector"))
}

# columns S of A, a plain D x length(S) matrix
system_columns <- function(system, S) {
  if (!is.function(system$A)) return(unname(as.matrix(system$A[, S, drop = FALSE])))
  vapply(S, function(j) one_column(system, j), numeric(system$D))
}

one_column <- function(system, j) {
  column <- as_valid(system$A(j), sprintf("A(%d)", j))
  valid <- is_numbers(column) && length(column) == system$D
  if (valid) column <- as.double(column)
  if (valid && all(is.finite(column))) return(column)
  given <- if (valid) counted(sum(!is.finite(column)), "missing or infinite value") else
    describe(column)
  stop_argument("`A(%d)` must be a column of %s, not %s", j, counted(system$D, "finite number"),
                given)
}

# the position of the first of the largest scores, where scores within 1e-12 are equal
first_most <- function(score) which(score >= (1 - 1e-12) * max(score))[1L]

# The columns of A that a function returns, each compared with the earlier ones, as A must be
# symmetric.
watched_columns <- function(system) {
  seen <- list()
  chosen <- integer()
  function(j) {
    column <- one_column(system, j)
    before <- vapply(seen, `[`, 0, j)
    unequal <- which(abs(column[chosen] - before) > 1e-8 * max(abs(column)))
    if (length(unequal)) {
      i <- chosen[unequal[1L]]
      stop_asymmetric(i, j, column[i], before[unequal[1L]])
    }
    seen <<- c(seen, list(column))
    chosen <<- c(chosen, j)
    column
  }
}

stop_indefinite <- function(size, component, pivot, names) {
  stop_input("`A` is not positive definite: at step %d the pivot of component '%s' is %s",
             size + 1L, names[component], format(pivot, digits = 3),
             class = "sparsels_error_singular")
}

# The support -------------------------------------------------------------------------------------

# The components S that a search has chosen, with their columns of A and the upper triangular factor
# R of R'R = A_SS. Both matrices have spare columns, which are 0, and change in place in an
# environment.
new_support <- function(system) {
  given <- system
  if (is.function(system$A)) system$A <- watched_columns(given)
  set <- integer()
  capacity <- min(system$D, 16L)
  columns <- matrix(0, system$D, capacity)
  factor <- matrix(0, capacity, capacity)

  # Adds component j to the support. An error names the `step`. FALSE, without a change, when j
  # depends on the chosen components.
  enter <- function(j, step) {
    column <- system_columns(system, j)
    diagonal <- column[j]
    size <- length(set)
    across <- solve_factor(column[set], transpose = TRUE)
    pivot <- diagonal - sum(across^2)
    if (diagonal <= 0 || pivot < -1e-8 * diagonal) {
      stop_indefinite(step - 1L, j, pivot, system$names)
    }
    if (pivot <= dependent_term * diagonal) return(FALSE)
    if (size == capacity) grow()
    set[size + 1L] <<- j
    columns[, size + 1L] <<- column
    factor[seq_len(size), size + 1L] <<- across
    factor[size + 1L, size + 1L] <<- sqrt(pivot)
    TRUE
  }

  grow <- function() {
    more <- min(capacity, system$D - capacity)
    columns <<- cbind(columns, matrix(0, system$D, more))
    factor <<- rbind(cbind(factor, matrix(0, capacity, more)), matrix(0, more, capacity + more))
    capacity <<- capacity + more
  }

  # Removes component number `index` of S. R without its column is triangular except for one entry
  # below the diagonal of each later column. Rotations of two rows set these entries to 0.
  leave <- function(index) {
    size <- length(set)
    later <- seq_len(size - index) + index
    columns[, later - 1L] <<- columns[, later]
    columns[, size] <<- 0
    factor[, later - 1L] <<- factor[, later]
    factor[, size] <<- 0
    for (row in later - 1L) {
      rest <- row:(size - 1L)
      pair <- factor[row + 0:1, row]
      turn <- rbind(pair, c(-pair[2L], pair[1L])) / sqrt(sum(pair^2))
      factor[row + 0:1, rest] <<- turn %*% factor[row + 0:1, rest, drop = FALSE]
      factor[row + 1L, row] <<- 0
    }
    set <<- set[-index]
  }

  # R^-1 right or, transposed, R'^-1 right, for the leading `size` components
  solve_factor <- function(right, transpose = FALSE, size = length(set)) {
    right <- as.matrix(right)
    if (!size) return(right)
    backsolve(factor, right, k = size, transpose = transpose)
  }

  # A_SS^-1 right
  solve_system <- function(right) solve_factor(solve_factor(right, transpose = TRUE))

  # A[, S] beta, where fewer rows of beta belong to the leading components
  times <- function(beta) columns %*% rbind(beta, matrix(0, capacity - nrow(beta), ncol(beta)))

  environment()
}

# A component depends on the chosen ones when its pivot is at most this share of its diagonal.
dependent_term <- 1e-12

# The fit -----------------------------------------------------------------------------------------

# `steps`: columns with an entry per step, the first of which is the start: action, component, size,
# objective, residual and others of the method. `models`: element s + 1 is the best model of size s
# or NULL: components, beta (s x L), objective, residual, row (of steps).
new_system_fit <- function(method, system, steps, models, control, status, call) {
  path <- list2DF(c(list(step = seq_along(steps$size) - 1L), steps[c("action", "component")],
                    list(name = system$names[steps$component]),
                    steps[setdiff(names(steps), c("action", "component"))]))
  coefficients <- lapply(models, function(model) {
    if (is.null(model)) return(NULL)
    dimnames(model$beta) <- list(system$names[model$components], colnames(system$b))
    c(model[c("components", "beta", "objective", "residual")], step = model$row - 1L)
  })
  fit <- seal(structure(list(
    method = method, path = path, coefficients = coefficients,
    size = length(models) - 1L, names = system$names, D = system$D, control = control, call = call,
    status = status
  ), class = c(method, "system_fit", "sparsels_result")))
  warn_unfinished(fit, done_words(path))
}

# objective and residual of a model, from the gradient A[, components] beta - b
objective_and_residual <- function(system, components, beta, gradient) {
  list(objective = sum(beta * (gradient - system$b)[components, ]) / 2,
       residual = sqrt(sum(gradient^2)))
}

# The model of a size or, for lars_path(), of a lambda: the solution by linear interpolation between
# two knots.
system_model <- function(fit, size, lambda) {
  if (is.null(lambda)) return(model_of_size(fit, size))
  stop_input_if(is.null(fit$knots), "only a fit of lars_path() has models by `lambda`")
  stop_input_if(!is.null(size), "give either `size` or `lambda`, not both")
  refuse_unless(is_number(lambda) && lambda >= 0, "lambda", "a number of at least 0", lambda)
  knots <- fit$path$lambda
  if (lambda >= knots[1L]) return(fit$knots[[1L]])
  stop_input_if(lambda < knots[length(knots)],
                "`lambda` must be at least %s, where the path ends, not %s",
                format(knots[length(knots)], digits = 4), describe(lambda))
  row <- which(knots <= lambda)[1L]
  from <- fit$knots[[row - 1L]]
  to <- fit$knots[[row]]
  share <- (knots[row - 1L] - lambda) / (knots[row - 1L] - knots[row])
  start <- from$beta[match(to$components, from$components)]
  start[is.na(start)] <- 0
  beta <- (1 - share) * start + share * to$beta
  in_model <- beta[, 1L] != 0
  list(components = to$components[in_model], beta = beta[in_model, , drop = FALSE])
}

#' @rdname system_fit
#' @export
coef.system_fit <- function(object, size = NULL, lambda = NULL, ...) {
  check_method_call(..., object = object, known = c("size", "lambda"))
  asked <- asked_by(size, lambda)
  models <- lapply(asked, function(one) {
    if (is.null(lambda)) system_model(object, one, NULL) else system_model(object, size, one)
  })
  first <- models[[1L]]$beta
  w <- vapply(models, function(model) {
    w <- matrix(0, object$D, ncol(first))
    w[model$components, ] <- model$beta
    w
  }, matrix(0, object$D, ncol(first)))
  drop_models(array(w, c(object$D, ncol(first), length(models))), object$names, colnames(first),
              names_asked(asked))
}

#' @rdname system_fit
#' @export
selected.system_fit <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_sealed(object)
  components <- system_model(object, size, lambda)$components
  if (check_flag(index, "index")) components else object$names[components]
}

#' @exportS3Method
print_result.system_fit <- function(x, n = NULL, whole = FALSE, ...) {
  model <- model_of_size(x)
  sides <- ncol(model$beta)
  stopped <- switch(x$status,
    early_stop = "stopped early: no component is left that changes anything",
    interrupted = "interrupted: this is the path up to there",
    move_limit = sprintf("stopped after %d moves, its limit", x$control$moves)
  )
  print_page(
    whole, n, function(n) system_rows(x, n),
    always = say(sprintf("%s: sparse solution of A w = b, %s%s", x$method, counted(x$D, "unknown"),
                         if (sides > 1L) sprintf(", %d right sides", sides) else "")),
    always = say(sprintf("%s: objective %s, residual %s", counted(x$size, "component"),
                         shown(model$objective), shown(model$residual))),
    always = if (!is.null(stopped)) say(stopped)
  )
}

system_rows <- function(fit, n) {
  text <- fit$path[rows_about(model_of_size(fit)$step + 1L, nrow(fit$path), n), ]
  text$component <- NULL
  text$name[is.na(text$name)] <- ""
  text <- shown_table(text, c("objective", "residual"))
  if (!is.null(text$lambda)) text$lambda <- shown_parameter(text$lambda)
  list(text = text, total = nrow(fit$path), what = "step")
}

#' @exportS3Method
picture.system_fit <- function(x, ...) {
  models <- without_null(x$coefficients)
  objective <- vapply(models, `[[`, 0, "objective")
  data <- with_bars(data.frame(
    size = lengths(lapply(models, `[[`, "components")), mean = objective, se = NA_real_,
    residual = vapply(models, `[[`, 0, "residual")
  ))
  words <- list(main = sprintf("%s: A w = b of order %d", x$method, x$D), xlab = "components",
                ylab = "w'Aw / 2 - b'w")
  new_picture(data, curve_layers(data$size, data, plain_style), words, list(...))
}

#' @exportS3Method
term_table.system_fit <- function(x, size = NULL, lambda = NULL, ...) {
  check_dots(..., known = c("size", "lambda"))
  model <- system_model(x, size, lambda)
  sides <- ncol(model$beta)
  count <- length(model$components)
  names <- colnames(model$beta)
  if (is.null(names)) names <- paste0("b", seq_len(sides))
  table <- data.frame(right_side = rep(names, each = count),
                      term = rep(x$names[model$components], sides),
                      order = rep(seq_len(count), sides), estimate = as.vector(model$beta))
  if (sides > 1L) table else table[-1L]
}

#' @exportS3Method
record.system_fit <- function(x) {
  model <- model_of_size(x)
  list(row = glance_row(x$method, features = x$D, responses = ncol(model$beta), size = x$size,
                        lambda = x$path$lambda[model$step + 1L], criterion = "objective",
                        value = model$objective, status = x$status),
       frame = cbind(x$path, chosen = seq_len(nrow(x$path)) == model$step + 1L), complete = TRUE,
       meaning = "objective = w'Aw / 2 - b'w; residual = norm of b - A w")
}

# Pursuits in C ------------------------------------------------------------------------------------

# The arguments and the coefficients of a pursuit in C (src/pursuit.h), for systems and fixed-size
# machines.

scdp_scores <- c("residual", "normalised", "ols")

# The arguments of a pursuit. `first` are components that are added first.
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

# The largest number of components to choose: k, or the default, of those `available`, in words.
largest_size <- function(k, available, default, words) {
  if (is.null(k)) min(available, default) else check_largest(k, available, words)
}

# A matrix of random components with a column for each step. It has enough rows that `candidates` of
# the components are outside the support.
drawn_lists <- function(D, candidates, k) {
  if (is.null(candidates)) return(matrix(0L, 0L, 0L))
  width <- min(D, check_count(candidates, "candidates") + as.double(k))
  matrix(vapply(seq_len(k), function(step) sample.int(D, width), integer(width)) - 1L, width)
}

# Pursuit number g of an answer from C: its size, the chosen components, L of A_SS = LL' and
# z = L^-1 b_S. At most k components were chosen.
read_pursuit <- function(answer, k, g = 1L) {
  size <- answer$size[g]
  steps <- seq_len(size)
  of_pursuit <- function(values) {
    columns <- length(values) / (k * length(answer$size))
    matrix(values, k)[steps, (g - 1L) * columns + seq_len(columns), drop = FALSE]
  }
  list(size = size, chosen = of_pursuit(answer$chosen)[, 1L] + 1L,
       factor = of_pursuit(answer$factor)[, steps, drop = FALSE], z = of_pursuit(answer$z))
}

# w_S for the first `size` components of a pursuit, size x L
leading_solution <- function(pursuit, size) {
  steps <- seq_len(size)
  if (!size) return(pursuit$z[steps, , drop = FALSE])
  backsolve(pursuit$factor[steps, steps, drop = FALSE], pursuit$z[steps, , drop = FALSE],
            upper.tri = FALSE, transpose = TRUE)
}
