#' Subset selection by Pareto optimisation
#'
#' Searches for the best subset of every size by treating fit and size as two objectives: an archive
#' of the best set found for each size is improved by flipping columns in and out at random.
#'
#' For a set \eqn{S} of columns the gain is
#' \deqn{R^2_S = 1 - \min_{b, B} \Big( \sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 +
#' \lambda \| B \|_F^2 \Big) / \sum_j w_j \| y_j - \hat b' z_j \|^2,}{
#' R^2_S = 1 - min_{b,B} ( sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||^2 )
#' / sum_j w_j || y_j - bhat' z_j ||^2,}
#' with weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and standardised
#' columns, as in [as_problem()]: the squared multiple correlation for \eqn{\lambda = 0}, beyond
#' covariates when there are some. The paper divides its sums by the number of rows: its lambda is
#' this one over `sum(weights)`.
#'
#' **The search** is Algorithm 2 of the paper. In each iteration a set is drawn from the archive,
#' every column is flipped in or out with probability 1/n (n usable columns), and the result is
#' archived unless a set of the archive is strictly better: as good and smaller, or better and no
#' larger. Sets of 2k or more columns are never archived. `floor(2 e k^2 n)` iterations find, in
#' expectation, a set of at most k columns with \eqn{R^2} at least \eqn{1 - e^{-\gamma}} of the best
#' (Theorem 1), the best known guarantee, which forward regression has too; in practice the search
#' goes on to better sets.
#'
#' Several short searches find the optimum more often than a long one: `restarts` independent ones
#' run, each with all `iterations`, and the best set of each size is taken. `restarts = 1` is the
#' paper's single run. With `isolation = "first"` only sets with the same first column compete, as
#' Theorem 2 wants for designs of exponentially decaying correlations; the archive is then about n
#' times as large and progress slower.
#'
#' The result depends on `set.seed()` before the call and on `restarts`, not on `threads`.
#'
#' `update(fit, iterations = )` goes on where a fit ended, as if it had not stopped; it evaluates
#' the call again, so that the data must still be there under their names.
#'
#' @inheritParams greedy_rls
#' @param k Size that is aimed at: sets of up to 2k - 1 columns are archived. At most the number of
#'   usable columns, and one less than rows without covariates; `NULL` for the smaller of 10 and
#'   that.
#' @param lambda Ridge parameter of at least 0.
#' @param iterations Number of iterations of each search, at least 1; `NULL` for `floor(2 e k^2 n)`.
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, `"1se"`, or a number, see [greedy_rls()]; `"criterion"`, the default, is
#'   the largest of at most `k`, as the training error only falls.
#' @param restarts Number of independent searches.
#' @param isolation `"none"` or `"first"`.
#' @param start Where to begin: `NULL` for the empty set; a list of sets of columns (numbers or
#'   names) that every search has in its archive from the start; or an earlier fit with the same
#'   columns, `k` and `isolation`, whose searches go on.
#' @param threads Number of OpenMP threads over the searches.
#'
#' @return An object of class `c("poss", "sparse_fit")`, see [sparse_fit]. Its `path` has a row for
#'   the best set of each size that was found: `criterion` is \eqn{R^2}; `squared` (and `error` for
#'   classes) the leave-one-out error of that set, which does not know of the selection. `archive`
#'   is a data frame with a row for every archived set of every search: `search`, `size`,
#'   `criterion` and the list column `columns`. `iterations` is the number that each search has
#'   done.
#'
#' @section Cost: O(1) to O(k^2) an iteration once the products of columns are there. Up to 5792
#'   usable columns X'X is made whole, O(m n^2) time and n^2 doubles; beyond that its entries are
#'   made as they are asked for, and columns asked for often are kept, in up to 256 MB. Ctrl-C
#'   returns the archives found so far, with a warning of class `sparsels_interrupted`.
#'
#' @section Errors: As for [greedy_rls()]; `lambda` below 0, `iterations` below 1, a `start` from
#'   other columns.
#'
#' @references Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization.
#' Advances in Neural Information Processing Systems 28, 1774-1782.
#' @seealso [best_subset()] for a proof of optimality, [forward_regression()], [compare_methods()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 12), 60, dimnames = list(NULL, letters[1:12]))
#' y <- x[, 2] - x[, 5] + x[, 9] + rnorm(60)
#' fit <- poss(x, y, k = 3)
#' fit
#' selected(fit, 3)
#' @export
poss <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, iterations = NULL,
                 restarts = 10, isolation = "none", start = NULL, size = "criterion",
                 size_folds = 10, threads = 1, progress = interactive()) {
  problem <- fitter_problem(x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  control$isolation <- check_choice(isolation, "isolation", c("none", "first"))
  control$iterations <- floor(2 * exp(1) * control$k^2 * sum(problem$usable))
  if (!is.null(iterations)) control$iterations <- check_count(iterations, "iterations")
  control$most <- largest_set(problem, control)
  control$threads <- check_count(threads, "threads")
  control$progress <- check_flag(progress, "progress")
  bound <- most_set_places %/% (control$most * archive_capacity(problem, control))
  restarts <- check_repeats(restarts, "restarts", bound, "a gigabyte of sets")
  state <- poss_start(start, problem, control, restarts)
  # the search on all rows goes on from `start`; without the rows of a fold it begins afresh
  whole <- problem
  fit <- sized_fit("poss", problem, control, function(problem, control) {
    control$most <- largest_set(problem, control)
    if (!identical(problem$weights, whole$weights)) {
      state <- poss_start(NULL, problem, control, restarts)
    }
    found <- poss_search(problem, control, state)
    found$iterations <- state$done + found$done
    list(c(poss_path(problem, control, found), list(found = found)))
  }, short_call(match.call()), random = TRUE)
  fit[c("archive", "iterations", "random")] <- fit$found[c("archive", "iterations", "random")]
  fit$found <- NULL
  fit
}

# of how many columns a set may be
largest_set <- function(problem, control) min(2L * control$k - 1L, control$largest(problem))

# Where the searches begin: generators (8 x searches), sets of each, iterations done before.
poss_start <- function(start, problem, control, restarts) {
  if (inherits(start, "poss")) {
    check_object(start)
    check_same_search(start, problem, control)
    sets <- split(start$archive$columns, factor(start$archive$search, seq_len(ncol(start$random))))
    return(list(random = start$random, sets = unname(sets), done = start$iterations))
  }
  sets <- lapply(if (is.null(start) || is.list(start)) start else list(start), function(set) {
    start_set(set, problem, control)
  })
  list(random = matrix(sample.int(.Machine$integer.max, 8L * restarts), 8L),
       sets = rep(list(sets), restarts), done = 0)
}

check_same_search <- function(start, problem, control) {
  same <- identical(start$problem$names, problem$names) &&
    identical(start$problem$usable, problem$usable) && start$control$k == control$k &&
    start$control$isolation == control$isolation && start$lambda == control$lambda
  if (!same) {
    stop_input("`start` is a fit with other columns, `k`, `lambda` or `isolation`",
               "sparsels_error_argument")
  }
}

start_set <- function(set, problem, control) {
  columns <- positions(set, ncol(problem), problem$names, "column")
  aside <- columns[!problem$usable[columns]]
  if (length(aside)) {
    stop_input(sprintf("`start` has column '%s', which is set aside: it does not vary",
                       problem$names[aside[1L]]), "sparsels_error_argument")
  }
  if (anyDuplicated(columns) || !length(columns) || length(columns) > control$most) {
    stop_input(sprintf("`start` must hold sets of 1 to %d different columns", control$most),
               "sparsels_error_argument")
  }
  columns
}

poss_search <- function(problem, control, state) {
  terms <- gram_terms(problem)
  usable <- terms$columns
  n <- length(usable)
  searches <- ncol(state$random)
  isolated <- control$isolation == "first"
  # sets to start from may be more than an archive holds
  capacity <- max(archive_capacity(problem, control), lengths(state$sets))
  sets <- pack_sets(state$sets, usable, control$most, capacity)
  answer <- .Call(C_poss, terms, list(
    lambda = control$lambda, most = control$most, isolated = as.integer(isolated),
    capacity = as.integer(capacity), iterations = as.double(control$iterations),
    kept = if (is.null(terms$whole)) as.integer(min(n, 2^25 %/% n)) else 0L,
    random = state$random, count = lengths(state$sets), size = sets$size, columns = sets$columns,
    threads = control$threads, progress = progress_bar(control$progress, "Searching subsets"),
    judge = NULL
  ))
  list(
    archive = unpack_sets(answer, usable, control$most, terms$total),
    random = matrix(answer$random, 8L), done = answer$done,
    status = if (answer$status == 2L) "interrupted" else "complete"
  )
}

# how many sets a search keeps at most
archive_capacity <- function(problem, control) {
  n <- sum(problem$usable)
  (if (control$isolation == "first") sum(n - seq_len(control$most) + 1) else control$most) + 2
}

# column numbers in the sets of all searches: a gigabyte
most_set_places <- 2^28

# sets of column numbers as the kernel wants them: usable columns from 0, ascending
pack_sets <- function(sets, usable, most, capacity) {
  size <- matrix(0L, capacity, length(sets))
  columns <- array(0L, c(most, capacity, length(sets)))
  for (search in seq_along(sets)) {
    for (i in seq_along(sets[[search]])) {
      set <- sort(match(sets[[search]][[i]], usable))
      size[i, search] <- length(set)
      columns[seq_along(set), i, search] <- set - 1L
    }
  }
  list(size = size, columns = columns)
}

unpack_sets <- function(answer, usable, most, total) {
  searches <- length(answer$count)
  capacity <- length(answer$size) / searches
  columns <- array(answer$columns, c(most, capacity, searches))
  place <- cbind(sequence(answer$count), rep(seq_len(searches), answer$count))
  size <- matrix(answer$size, capacity)[place]
  archive <- data.frame(search = place[, 2L], size = size,
                        criterion = matrix(answer$gain, capacity)[place] / total)
  archive$columns <- lapply(seq_len(nrow(place)), function(row) {
    usable[columns[seq_len(size[row]), place[row, 1L], place[row, 2L]] + 1L]
  })
  archive
}

# the best set of each size over all searches; the largest of at most k columns is chosen
poss_path <- function(problem, control, found) {
  archive <- found$archive
  archive <- archive[order(archive$size, -archive$criterion, archive$search), ]
  best <- archive[!duplicated(archive$size), ]
  sets <- c(list(integer()), best$columns)
  steps <- data.frame(action = c("start", rep("found", nrow(best))), feature = NA_integer_)
  size <- max(0L, best$size[best$size <= control$k])
  subset_path(problem, control, sets, steps, size, found$status)
}

#' @rdname poss
#' @param object A fit of `poss()`.
#' @method update poss
#' @export
update.poss <- function(object, iterations = NULL, ...) {
  check_object(object)
  check_dots(..., known = "iterations")
  call <- object$call
  if (!is.null(iterations)) check_count(iterations, "iterations")
  method <- tryCatch(eval(call[[1L]], parent.frame()), error = function(e) NULL)
  if (!is.call(call) || !is.function(method)) stop_input("the fit has no call to go on from")
  call$start <- NULL
  if (any(startsWith(vapply(as.list(call), deparse1, "", backtick = FALSE), "<"))) {
    stop_input("the call of the fit does not name its data: use poss(..., start = fit)")
  }
  call$start <- object
  call$iterations <- iterations
  eval(call, parent.frame())
}
