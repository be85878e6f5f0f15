# The path of l1_path() with the columns of x spread over the processes of a cluster, as in
# R/cluster.R. The calling process solves for a few lambdas at a time on few columns, the working
# set. The workers multiply all their columns with the residuals of these solutions at once. Columns
# that break the optimality conditions at any of these lambdas join the working set, until none
# does.

check_path_cluster <- function(cluster, loss, solver, folds) {
  if (is.null(check_cluster(cluster))) return(NULL)
  if (loss == "hinge" || solver == "ipm") {
    stop_input("`cluster` needs `loss = \"squared\"` or \"logistic\", and `solver = \"cd\"`",
               "sparsels_error_argument")
  }
  if (!is.null(folds)) {
    stop_input(paste("`cluster` is for a path without `folds`: the paths without each fold run on",
                     "its processes by `future::plan(future::cluster, workers = cluster)`"),
               "sparsels_error_argument")
  }
  cluster
}

# Column ranges whose workers hold the centre and scale of their columns.
open_path_shards <- function(problem, cluster, count = length(cluster)) {
  shards <- open_shards(problem, cluster, count)
  parts <- Map(function(from, to) {
    own <- from:to
    list(columns = lapply(unclass(problem)[c("centre", "scale", "usable")], `[`, own),
         root_w = sqrt(problem$weights), means = problem$fill[own])
  }, shards$from, shards$to)
  ask_shards(shards, "prepare", parts)
  shards
}

# solve_path() for one response with `control$shards`. The solutions agree with the solutions of one
# process to the tolerance. After Ctrl-C or the loss of a worker the earlier solutions are returned.
solve_by_shards <- function(problem, control, lambda, max_size) {
  shards <- control$shards
  bar <- progress_bar(control$progress, "Solving the path")
  control[c("shards", "progress")] <- list(NULL, FALSE)
  rows <- l1_working(problem)
  last <- null_by_shards(problem, control, shards)
  at <- max(lambda[1L], last$max_abs_corr / control$alpha)
  solutions <- list()
  while (length(solutions) < length(lambda) && length(last$features) <= max_size) {
    rest <- lambda[seq_along(lambda) > length(solutions)]
    batch <- rest[seq_len(max(1L, sum(rest >= 0.8 * at)))]
    found <- tryCatch(solve_batch(problem, rows, control, shards, batch, last, at),
                      interrupt = function(condition) NULL, sparsels_error_worker = warn_lost)
    if (is.null(found)) break
    solutions <- c(solutions, found)
    last <- found[[length(found)]]
    at <- batch[length(batch)]
    if (!is.null(bar)) bar(length(solutions), length(lambda))
  }
  solutions
}

warn_lost <- function(condition) {
  warn_sparsels(paste0(conditionMessage(condition), ": the path ends there"),
                "sparsels_warning_worker")
  NULL
}

# The null model, whose max_abs_corr is taken over all columns.
null_by_shards <- function(problem, control, shards) {
  null <- null_solution(one_plain_column(problem), control)
  answer <- multiply_shards(shards, control, list(null), Inf, integer())
  null$max_abs_corr <- answer$largest
  null
}

# The solutions for some lambdas, the last of which is not far below `at`, the lambda of the
# solution `last`. The working set begins with the columns that the strong rule keeps.
solve_batch <- function(problem, rows, control, shards, lambda, last, at) {
  weight <- control$alpha * lambda
  kept <- ask_shards(shards, "above", rep(list(2 * min(weight) - control$alpha * at), shards$count))
  set <- sort(union(last$features, numbers_of(shards, kept)))
  if (!length(set)) set <- which(problem$usable)[1L]
  passes <- 0
  repeat {
    start <- last[c("features", "beta")]
    start$features <- match(last$features, set)
    part <- working_part(rows, set, rows$x[, set, drop = FALSE])
    found <- solve_columns(part, control, lambda, start)
    if (length(found) < length(lambda)) raise_interrupt()
    for (i in seq_along(found)) found[[i]]$features <- set[found[[i]]$features]
    answer <- multiply_shards(shards, control, found, weight, set)
    passes <- passes + 1
    found <- Map(function(one, largest, lambda) {
      one$max_abs_corr <- max(one$max_abs_corr, largest)
      one$gap <- one$objective - dual_value(problem, control$loss, one$r, one$max_abs_corr,
                                            control$alpha * lambda,
                                            ridge_tail(control$alpha, lambda, one$beta, lambda))
      one[c("kept", "products")] <- list(ncol(problem), one$products + passes * ncol(problem))
      one
    }, found, answer$largest, lambda)
    open <- vapply(found, `[[`, 0, "gap") > control$tolerance * last$null
    more <- unique(unlist(answer$violated[open]))
    if (!length(more)) return(found)
    set <- sort(c(set, more))
  }
}

# For every solution `largest`, the largest |a_k'r| of the columns outside the set, and `violated`,
# the columns whose |a_k'r| exceeds the weight of the l1 norm.
multiply_shards <- function(shards, control, solutions, weight, set) {
  r <- vapply(solutions, `[[`, solutions[[1L]]$r, "r")
  each <- Map(function(from, to) set[set >= from & set <= to] - from + 1L, shards$from, shards$to)
  answers <- ask_shards(shards, "multiply", each, r, weight)
  violated <- lapply(seq_along(solutions), function(i) {
    numbers_of(shards, lapply(answers, function(answer) answer$violated[[i]]))
  })
  list(largest = do.call(pmax, lapply(answers, `[[`, "largest")), violated = violated)
}

# Column numbers of x from numbers that count from the first column of each column range.
numbers_of <- function(shards, own) {
  as.integer(unlist(Map(function(own, from) own + from - 1L, own, shards$from)))
}
