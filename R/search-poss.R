#' Subset selection by Pareto optimisation
#'
#' Searches for the best subset of every size by randomised bi-objective optimisation of fit and
#' size: an archive of the best set found for each size is improved by adding and removing columns
#' at random.
#'
#' For a set \eqn{S} of columns the gain is
#' \deqn{R^2_S = 1 - \min_{b, B} \Big( \sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 +
#' \lambda \| B \|_F^2 \Big) / \sum_j w_j \| y_j - \hat b' z_j \|^2,}{
#' R^2_S = 1 - min_{b,B} ( sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||^2 )
#' / sum_j w_j || y_j - bhat' z_j ||^2,}
#' with weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and standardised
#' columns, as in [as_problem()]: for \eqn{\lambda = 0}, R-squared, partial given the covariates if
#' there are any. The paper divides its sums by the number of rows: its lambda is this one divided
#' by `sum(weights)`.
#'
#' **The search** is Algorithm 2 of the paper. In each iteration a set is drawn from the archive and
#' changed at random, and the result is archived unless it is dominated by a set of the archive: one
#' as good and smaller, or better and no larger. `restarts` independent searches run, each with
#' `iterations` iterations, and the best set of each size is kept. How a set is changed is the
#' `mutation`.
#'
#' **Exchange** is the default and not of the paper: a random number of columns of the set is
#' replaced by random others. Then the best swap of a column in the set for one outside it is made
#' repeatedly, until none increases \eqn{R^2}. The archive is offered the result, the result without
#' its least useful column, and, as long as these are archived, the result with the best columns
#' added one by one. Sets of up to k + 1 columns are archived.
#'
#' **Flip** is the paper's: every column is added to the set or removed from it with probability 1/n
#' (n usable columns). Sets of 2k or more columns are never archived. `floor(2 e k^2 n)` iterations
#' find, in expectation, a set of at most k columns with \eqn{R^2} at least \eqn{1 -
#' e^{-\gamma}}{1 - exp(-gamma)} times the largest, \eqn{\gamma}{gamma} being the submodularity
#' ratio (Theorem 1). With many columns this takes long, so without `iterations` at most a million
#' are made, and `print()` reports it. `restarts = 1` is the paper's single run. With `isolation =
#' "first"` only sets with the same first column compete, as in Theorem 2 for designs with
#' exponentially decaying correlations; the archive is then about n times as large and the search
#' slower.
#'
#' On thousands of genes ten searches by exchange find sets at least as good as ten searches of
#' `floor(2 e k^2 n)` flips, in a fraction of their time (bench/limits.R has the comparison). The
#' theorems do not cover exchanges. Neither proves that a set is the best.
#'
#' With `cost` the second objective is the price of a set, in which an assay counts once: a set is
#' dominated by one that is as good and cheaper, or better and not more expensive. Sets of up to `k`
#' columns that cost at most twice the `budget` (Qian et al. 2017) are archived, up to about 1000 in
#' each search. Further sets are left out. `fit$front` has the sets within the budget that no other
#' set dominates, from the cheapest to the best. The models of the fit are the best set of each size
#' on the front. By default the best of all is chosen.
#'
#' R's random numbers are used: the result depends on `set.seed()` before the call and on
#' `restarts`, not on `threads`.
#'
#' `update(fit, iterations = )` continues the searches of a fit as if they had not ended, by the
#' same mutation. It evaluates the call again, so the data must still exist under the same names.
#'
#' @inheritParams greedy_rls
#' @param k The largest size: sets of up to k + 1 columns are archived by exchanges, of up to 2k - 1
#'   by flips, with `cost` of up to k. It is at most the number of usable columns, and the number of
#'   rows less the covariates less one; `NULL` for the smaller of 10 and this bound.
#' @param lambda Ridge parameter, a number of at least 0; 0 by default.
#' @param iterations Number of iterations of each search, at least 1. `NULL`: `30 k` exchanges, or
#'   the paper's `floor(2 e k^2 n)` flips, but at most 1e6.
#' @param size,size_folds How the size is chosen: `"cv"`, by the squared error of the whole search
#'   repeated in ten folds, `"1se"`, or a number, see [size_rule]; `"criterion"`, the default, is
#'   the largest size of at most `k`, since the training error decreases with the size.
#' @param restarts Number of independent searches; 10 by default.
#' @param mutation How sets are changed, `"exchange"` or `"flip"`, see Details. `NULL`: as in the
#'   fit given as `start`; otherwise `"flip"`, the paper's, if `iterations`, `isolation = "first"`
#'   or `cost` is given, else `"exchange"`, which has no `cost`.
#' @param isolation `"none"` (the default) or `"first"`, see Details.
#' @param cost,budget Prices of the columns, see [column_prices], and the largest price of a set:
#'   sets are then compared by their price instead of their size, see Details.
#' @param start Where to begin: `NULL` for the empty set; a list of sets of columns (numbers or
#'   names) with which the archive of every search begins, except sets that others dominate or that
#'   cost more than twice the `budget`; or an earlier fit with the same columns, `k`, `lambda`,
#'   `isolation`, `cost` and `budget`, whose searches are continued.
#' @param threads Number of OpenMP threads over the searches, 1 by default.
#'
#' @return An object of class `poss`, a [sparse_fit]. Its `path` has a row for
#'   the best set of each size that was found: `criterion` is \eqn{R^2}; `squared` (and `error` for
#'   classes) the leave-one-out error of that set, which does not account for the selection.
#'   `archive` is a data frame with a row for every archived set of every search: `search`, `size`,
#'   `criterion` and the list column `columns`. With `cost`, `front` is a data frame with a row for
#'   each set of the front: `price`, `size`, `criterion`, `squared` (and `error`) as in `path`, and
#'   `columns`. `iterations` is the number of iterations of each
#'   search, `rng_state` the state of their random number generators.
#'
#' @section Cost: A flip takes O(1) to O(k^2) once X'X is known; an exchange O(n k) for each swap,
#'   and O(m n) for the products of a column that was in no set before. On 102 x 12600 with
#'   `k = 10` the default takes seconds, ten full searches by flips half a minute. X'X is computed
#'   for up to 5792 usable columns, in O(m n^2) time and n^2 doubles; for more, its entries are
#'   computed when they are needed, and columns used often are cached, in up to 256 MB. Ctrl-C
#'   returns the archives found so far, with a warning of class `sparsels_interrupted`.
#'
#' @section Errors: As for [greedy_rls()]; `lambda` below 0, `iterations` below 1, a `start` with
#'   other columns or with an excluded one.
#'
#' @references Qian, C., Yu, Y., Zhou, Z.-H. (2015). Subset selection by Pareto optimization.
#' Advances in Neural Information Processing Systems 28, 1774-1782.
#'
#' Qian, C., Shi, J.-C., Yu, Y., Tang, K. (2017). On subset selection with general cost constraints.
#' Proceedings of the 26th International Joint Conference on Artificial Intelligence, 2613-2619.
#' @seealso [best_subset()] for a proof of optimality, [forward_regression()], [compare_methods()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 12), 60, dimnames = list(NULL, letters[1:12]))
#' y <- x[, 2] - x[, 5] + x[, 9] + rnorm(60)
#' fit <- poss(x, y, k = 3)
#' fit
#' selected(fit, 3)
#'
#' # the algorithm of the paper, with all of its iterations
#' poss(x, y, k = 3, mutation = "flip", restarts = 1)
#'
#' # what each further expense buys
#' front <- poss(x, y, k = 5, cost = rep(c(1, 4), 6), budget = 12)$front
#' plot(criterion ~ price, front, type = "s")
#' @export
poss <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = 0, iterations = NULL,
                 restarts = 10, mutation = NULL, isolation = "none", start = NULL, cost = NULL,
                 budget = Inf, size = "criterion", size_folds = 10, threads = 1,
                 progress = interactive(), BPPARAM = NULL) {
  problem <- fitter_problem("poss", x, y, ..., data = data)
  control <- subset_control(problem, k, lambda, size, size_folds)
  control$isolation <- check_choice(isolation, "isolation", c("none", "first"))
  control$cost <- check_cost(cost, problem)
  control$budget <- check_budget(budget, control$cost, problem)
  stop_argument_if(!is.null(control$cost) && control$isolation != "none",
                   "`cost` is for `isolation = \"none\"` alone")
  control$mutation <- poss_mutation(mutation, control, iterations, start)
  # bench/limits.R shows how the default numbers were chosen
  control$iterations <- if (!is.null(iterations)) check_count(iterations, "iterations") else
    if (control$mutation == "exchange") 30 * control$k else
      min(paper_iterations(problem, control), max_iterations)
  control$max_size <- largest_set(problem, control)
  control$threads <- check_count(threads, "threads")
  control$progress <- check_flag(progress, "progress")
  max_restarts <- max_archive_entries %/% (control$max_size * archive_capacity(problem, control))
  restarts <- check_repeats(restarts, "restarts", max_restarts, "a gigabyte of sets")
  state <- poss_start(start, problem, control, restarts)
  # only the search on all rows continues from `start`, not the searches without the rows of a fold
  full_problem <- problem
  fit <- sized_fit("poss", problem, control, function(problem, control) {
    control$max_size <- largest_set(problem, control)
    if (!identical(problem$rows$weight, full_problem$rows$weight)) {
      state <- poss_start(NULL, problem, control, restarts)
    }
    search <- poss_search(problem, control, state)
    search$iterations <- state$done + search$done
    path <- poss_path(problem, control, search)
    search$front <- path$front
    path$front <- NULL
    list(c(path, list(found = search)))
  }, short_call(match.call()), random = TRUE, BPPARAM = BPPARAM)
  found <- c("archive", "iterations", "rng_state", if (!is.null(control$cost)) "front")
  fit[found] <- fit$found[found]
  fit$found <- NULL
  seal(fit)
}

# How a set is changed. A continued fit keeps its mutation. Otherwise exchanges are used, except
# with options that exist only in the paper: a number of iterations, isolation or prices.
poss_mutation <- function(mutation, control, iterations, start) {
  priced <- !is.null(control$cost)
  if (is.null(mutation) && inherits(start, "poss")) mutation <- start$control$mutation
  if (is.null(mutation)) {
    paper <- !is.null(iterations) || control$isolation != "none" || priced
    return(if (paper) "flip" else "exchange")
  }
  mutation <- check_choice(mutation, "mutation", c("exchange", "flip"))
  stop_argument_if(mutation == "exchange" && priced,
                   "exchanges know no prices: leave `mutation` or `cost` out")
  mutation
}

# the number of iterations of Theorem 1, and the largest default number of flips
paper_iterations <- function(problem, control) {
  floor(2 * exp(1) * control$k^2 * sum(problem$columns$usable))
}

max_iterations <- 1e6

# the lengths of the searches, and the length of the paper's searches
#' @exportS3Method
search_words.poss <- function(fit) {
  searches <- ncol(fit$rng_state)
  kind <- if (identical(fit$control$mutation, "exchange")) "exchanges" else "iterations"
  words <- sprintf("%d %s of %s %s", searches, if (searches == 1L) "search" else "searches",
                   whole_number(fit$iterations), kind)
  if (kind == "exchanges") return(words)
  front <- nrow(fit$front)
  if (!is.null(front)) {
    return(sprintf("%s; %s on the front of R-squared and price, in fit$front", words,
                   if (front) counted(front, "set") else "no set is"))
  }
  paper <- paper_iterations(fit$problem, fit$control)
  if (fit$iterations >= paper) return(words)
  sprintf("%s, fewer than the %s of the paper (2 e k^2 n)", words, whole_number(paper))
}

# the largest number of columns of an archived set
largest_set <- function(problem, control) {
  if (!is.null(control$cost)) return(min(control$k, control$largest(problem)))
  most <- 2L * control$k - 1L
  if (control$mutation == "exchange") most <- min(most, control$k + 1L)
  min(most, control$largest(problem))
}

# The state in which the searches begin: list(rng_state: the generators, 8 x searches, sets: the
# archive of each search, done: the number of earlier iterations).
poss_start <- function(start, problem, control, restarts) {
  if (inherits(start, "poss")) {
    check_sealed(start)
    same <- identical(start$problem$columns$name, problem$columns$name) &&
      identical(start$problem$columns$usable, problem$columns$usable) &&
      start$control$k == control$k && start$lambda == control$lambda &&
      start$control$isolation == control$isolation &&
      identical(start$control[c("cost", "budget")], control[c("cost", "budget")])
    stop_argument_if(!same, "`start` is a fit with other columns, %s",
                     "`k`, `lambda`, `isolation`, `cost` or `budget`")
    search <- factor(start$archive$search, seq_len(ncol(start$rng_state)))
    # flips archive larger sets than exchanges
    kept <- start$archive$size <= control$max_size
    sets <- split(start$archive$columns[kept], search[kept])
    return(list(rng_state = start$rng_state, sets = unname(sets), done = start$iterations))
  }
  sets <- lapply(if (is.null(start) || is.list(start)) start else list(start), function(set) {
    columns <- given_columns(set, problem)
    if (anyDuplicated(columns) || !length(columns) || length(columns) > control$max_size) {
      stop_argument("`start` must hold sets of 1 to %d different columns", control$max_size)
    }
    columns
  })
  list(rng_state = matrix(sample.int(.Machine$integer.max, 8L * restarts), 8L),
       sets = rep(list(sets), restarts), done = 0)
}

poss_search <- function(problem, control, state) {
  terms <- gram_terms(problem)
  usable <- terms$columns
  n <- length(usable)
  searches <- ncol(state$rng_state)
  # more initial sets may be given than an archive can hold
  capacity <- max(archive_capacity(problem, control), lengths(state$sets))
  archives <- pack_sets(state$sets, usable, control$max_size, capacity)
  prices <- price_settings(problem, control$cost, control$budget)
  answer <- .Call(C_poss, terms, list(
    price = prices$price[usable], assay = prices$assay[usable], max_price = 2 * prices$budget,
    lambda = control$lambda, max_size = control$max_size,
    isolated = as.integer(control$isolation == "first"),
    exchanged = as.integer(control$mutation == "exchange"),
    capacity = as.integer(capacity), iterations = as.double(control$iterations),
    kept = if (is.null(terms$whole)) as.integer(min(n, 2^25 %/% n)) else 0L,
    random = state$rng_state, count = lengths(state$sets), size = archives$size,
    columns = archives$columns, threads = control$threads,
    progress = progress_bar(control$progress, "Searching subsets"), user_loss = NULL
  ))
  list(
    archive = unpack_sets(answer, usable, control$max_size, terms$total),
    rng_state = matrix(answer$random, 8L), done = answer$done,
    status = answer$status
  )
}

# the largest number of sets in an archive
archive_capacity <- function(problem, control) {
  if (!is.null(control$cost)) return(priced_sets)
  n <- sum(problem$columns$usable)
  size <- control$max_size
  (if (control$isolation == "first") sum(n - seq_len(size) + 1) else size) + 2
}

# the largest number of sets in an archive whose sets are compared by their price
priced_sets <- 1000L

# the largest number of column numbers in the archives of all searches: a gigabyte
max_archive_entries <- 2^28

# sets of column numbers for C: positions among the usable columns, from 0, ascending
pack_sets <- function(sets, usable, max_size, capacity) {
  size <- matrix(0L, capacity, length(sets))
  columns <- array(0L, c(max_size, capacity, length(sets)))
  for (search in seq_along(sets)) {
    for (i in seq_along(sets[[search]])) {
      set <- sort(match(sets[[search]][[i]], usable))
      size[i, search] <- length(set)
      columns[seq_along(set), i, search] <- set - 1L
    }
  }
  list(size = size, columns = columns)
}

unpack_sets <- function(answer, usable, max_size, total) {
  searches <- length(answer$count)
  capacity <- length(answer$size) / searches
  columns <- array(answer$columns, c(max_size, capacity, searches))
  index <- cbind(sequence(answer$count), rep(seq_len(searches), answer$count))
  size <- matrix(answer$size, capacity)[index]
  archive <- data.frame(search = index[, 2L], size = size,
                        criterion = share_of(matrix(answer$gain, capacity)[index], total))
  archive$columns <- lapply(seq_len(nrow(index)), function(row) {
    usable[columns[seq_len(size[row]), index[row, 1L], index[row, 2L]] + 1L]
  })
  archive
}

# The path of the best set of each size over all searches. The chosen size is the largest size of at
# most k.
poss_path <- function(problem, control, search) {
  if (!is.null(control$cost)) return(priced_path(problem, control, search))
  archive <- search$archive
  archive <- archive[order(archive$size, -archive$criterion, archive$search), ]
  best <- archive[!duplicated(archive$size), ]
  size <- max(0L, best$size[best$size <= control$k])
  subset_path(problem, control, c(list(integer()), best$columns), size, search$status)
}

# With prices: `front`, the sets within the budget that no set dominates, by price, and the path of
# the best set of each size. The chosen size is the size of the best set.
priced_path <- function(problem, control, search) {
  archive <- search$archive
  archive$price <- vapply(archive$columns, function(set) price_of(control$cost, set), 0)
  archive <- archive[within_budget(archive$price, control$budget), ]
  archive <- archive[order(archive$price, -archive$criterion, archive$search), ]
  gain <- archive$criterion
  archive <- archive[gain > c(0, cummax(gain))[seq_along(gain)] * (1 + 1e-12), ]
  path <- subset_path(problem, control, c(list(integer()), archive$columns),
                      utils::tail(c(0L, archive$size), 1L), search$status)
  path$path$price <- c(0, archive$price)
  errors <- intersect(c("criterion", "squared", "error"), names(path$path))
  front <- path$path[-1L, c("price", "size", errors)]
  row.names(front) <- NULL
  front$columns <- archive$columns
  there <- which(!vapply(path$models, is.null, NA))
  path$path <- path$path[vapply(path$models[there], `[[`, 0L, "row"), ]
  path$path$step <- seq_along(there) - 1L
  row.names(path$path) <- NULL
  for (i in seq_along(there)) path$models[[there[i]]]$row <- i
  c(path, list(front = front))
}

#' @rdname poss
#' @param object A fit of `poss()`.
#' @method update poss
#' @export
update.poss <- function(object, iterations = NULL, ...) {
  check_method_call(..., object = object, known = "iterations")
  call <- object$call
  if (!is.null(iterations)) check_count(iterations, "iterations")
  method <- tryCatch(eval(call[[1L]], parent.frame()), error = function(e) NULL)
  stop_input_if(!is.call(call) || !is.function(method),
                "the fit has no call that could be evaluated again")
  call$start <- NULL
  stop_input_if(length(described_arguments(call)),
                "the call of the fit does not name its data: use poss(..., start = fit)")
  call$start <- object
  call$mutation <- NULL
  call$iterations <- iterations
  eval(call, parent.frame())
}
