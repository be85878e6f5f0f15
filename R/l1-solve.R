# Solving problems with an l1 penalty: the arguments that all of their methods share, the solutions
# for given lambdas, the null model.

screens <- c("lazy", "none", "safe1", "safe2", "gap")

# Checks -------------------------------------------------------------------------------------------

l1_control <- function(problem, loss = NULL, screen = "auto", solver = "cd", tolerance = 1e-8,
                       threads = 1, alpha = 1, grouped = FALSE) {
  loss <- check_loss(path_loss(problem, loss), names(losses))
  task <- problem$coding$task
  # logistic regression of three and more classes is multinomial
  if (loss == "logistic" && task == "multiclass") loss <- "multinomial"
  stop_argument_if(loss == "multinomial" && task == "binary",
                   "`loss = \"multinomial\"` needs three or more classes, but `y` has two: %s",
                   "take `loss = \"logistic\"`")
  record <- losses[[loss]]
  stop_argument_if(lacks_parameter(loss),
                   "`loss = \"%s\"` needs %s in its name here, such as \"%s(2)\": %s", loss,
                   record$parameter$name, loss,
                   sprintf("`greedy_rls(loss = \"%s\")` finds one", loss))
  record$check(problem, loss)
  stop_argument_if(check_flag(grouped, "grouped") && !is_joint(loss),
                   "`grouped = TRUE` needs `loss = \"multinomial\"` and three or more classes: %s",
                   "a column has one coefficient here")
  check_choice(solver, "solver", c("cd", "ipm"))
  if (solver == "ipm") {
    check_all_trained(problem)
    check_single_response(problem, "`solver = \"ipm\"`")
  }
  check_choice(screen, "screen", c("auto", screens))
  if (solver == "ipm" && is.null(record$steepest)) stop_loss("`solver = \"ipm\"`", "steepest", loss)
  stop_argument_if(solver == "ipm" && screen == "lazy", "`screen = \"lazy\"` needs %s",
                   "`solver = \"cd\"`: an interior point uses all columns")
  stop_argument_if(screen %in% c("safe1", "safe2") && needs_gap(loss),
                   "`screen = \"%s\"` has no test for `loss = \"%s\"`: take \"gap\"", screen, loss)
  if (screen == "auto") screen <- if (solver == "ipm") "gap" else "lazy"
  check_alpha(alpha, problem, loss, solver)
  list(loss = loss, alpha = alpha, grouped = grouped, screen = screen, solver = solver,
       tolerance = check_positive(tolerance, "tolerance"),
       threads = check_count(threads, "threads"), progress = FALSE)
}

# Refuses a loss that does not have what something needs of its record.
stop_loss <- function(what, field, loss) {
  serving <- loss_choices(function(record) !is.null(record[[field]]) && !isFALSE(record[[field]]))
  stop_argument("%s needs %s, not \"%s\"", what, serving, loss)
}

check_alpha <- function(alpha, problem, loss, solver) {
  refuse_unless(is_number(alpha) && alpha > 0 && alpha <= 1, "alpha",
                "a number above 0 and at most 1 (`rls()` has the ridge penalty alone)", alpha)
  if (alpha == 1) return(invisible())
  if (!losses[[loss]]$smooth) stop_loss("`alpha` below 1", "smooth", loss)
  stop_argument_if(solver == "ipm", "`alpha` below 1 needs `solver = \"cd\"`, not \"ipm\"")
  # A factor of the penalty is applied through the scale of its column. For the ridge this would
  # square the factor.
  stop_argument_if(has_factors(problem),
                   "`alpha` below 1 takes factors of 0, 1 and Inf in `penalty` only")
}

# The weight of the squared l2 norm relative to the l1 norm. The penalty is alpha lambda (|beta|_1 +
# ridge_share / 2 |beta|_2^2).
ridge_share <- function(alpha) (1 - alpha) / alpha

# The amount by which the ridge reduces the dual value of s r, times 2 / s^2. r belongs to a
# solution for `lambda` with coefficients beta, and the dual value is taken at the penalty `at`. The
# amount is the square of the dual point in the rows that the ridge adds (docs/elastic-net.md).
ridge_tail <- function(alpha, lambda, beta, at) {
  if (alpha < 1) (1 - alpha) * lambda^2 * sum(beta^2) / at else 0
}

# the penalty of coefficients in working coordinates (columns x responses for several responses)
penalty_of <- function(control, lambda, beta) {
  share <- ridge_share(control$alpha)
  squares <- if (share > 0) sum(beta^2) else 0
  norms <- if (isTRUE(control$grouped)) sqrt(rowSums(as.matrix(beta)^2)) else abs(beta)
  lambda * control$alpha * (sum(norms) + share / 2 * squares)
}

# Refuses several responses, or more than two classes, for methods with a single response.
check_single_response <- function(problem, what) {
  L <- ncol(problem$rows$y)
  stop_input_if(L > 1L, "%s takes a single response or two classes, but `y` has %d %s", what, L,
                if (problem$coding$task == "multiclass") "classes" else "columns")
}

# Solving ------------------------------------------------------------------------------------------

# A list with a solution for every lambda, or for the first ones. The list is shorter if
# interrupted. With the attribute `ended` it stops at the first solution with more than `max_size`
# columns, or unless `whole` where nothing more is explained (the interior point method ignores
# both). A solution has `features`, `beta` in working coordinates, `u`, the coefficients of the
# basis of the covariates, and its dual point and duality gap. For several responses join_paths()
# makes the solution. `bound` has lower bounds of the optimum, for several responses a list.
solve_path <- function(problem, control, lambda = control$lambda, start = NULL, bound = -Inf,
                       max_size = .Machine$integer.max, whole = TRUE) {
  models <- responses_together(problem, control$loss)
  several <- length(models) > 1L
  each <- lapply(models, function(l) {
    problem <- one_response(problem, l)
    if (control$solver == "ipm") return(interior_path(weighted_rows(problem), control, lambda))
    if (!is.null(control$shards)) return(solve_by_shards(problem, control, lambda, max_size))
    # the part of the solution that belongs to this response
    if (several && is.matrix(start$beta)) {
      used <- which(start$beta[, l] != 0)
      start <- list(features = start$features[used], beta = start$beta[used, l], u = start$u[, l])
    }
    if (is.list(bound)) bound <- bound[[l]]
    solve_together(list(working(problem)), control, lambda, start, bound, max_size,
                   whole || several)[[1L]]
  })
  if (several) join_paths(each) else each[[1L]]
}

# A path ends where more than `enough` of the null model's deviance is explained, or where reducing
# lambda by a third has increased the explained deviance by less than a share of `least_change`.
path_end <- list(enough = 0.999, least_change = 5e-5)

# solve_path() of several problems with the same x, which is read for several problems at once. The
# solutions equal the solutions of solve_path() to the tolerance, but have no dual points.
solve_paths <- function(problems, control) {
  if (control$solver == "ipm") return(lapply(problems, solve_path, control))
  each <- lapply(responses_together(problems[[1L]], control$loss), function(l) {
    works <- lapply(problems, function(problem) working(one_response(problem, l)))
    solve_together(works, control, control$lambda, with_r = FALSE)
  })
  if (length(each) == 1L) return(each[[1L]])
  lapply(seq_along(problems), function(i) join_paths(lapply(each, `[[`, i)))
}

# The solutions of several responses, lambda by lambda: the columns that any response uses,
# coefficients (columns x responses, covariates x responses), the sum of the objectives, and the sum
# of the duality gaps, which bounds the gap of the sum.
join_paths <- function(each) {
  lapply(seq_len(min(lengths(each))), function(i) {
    own <- lapply(each, `[[`, i)
    features <- unique(unlist(lapply(own, `[[`, "features")))
    beta <- vapply(own, function(one) {
      replace(numeric(length(features)), match(one$features, features), one$beta)
    }, numeric(length(features)))
    u <- vapply(own, `[[`, numeric(length(own[[1L]]$u)), "u")
    by_response <- function(values, rows) matrix(values, rows, length(own))
    figure <- function(name) vapply(own, `[[`, 0, name)
    total <- function(name) sum(figure(name))
    list(features = features, beta = by_response(beta, length(features)),
         u = by_response(u, length(own[[1L]]$u)), objective = total("objective"),
         gap = total("gap"), null = total("null"), rounds = total("rounds"),
         products = total("products"), kept = max(figure("kept")),
         max_abs_corr = max(figure("max_abs_corr")))
  })
}

# The solutions of each of `works`, working() of problems with the same x. Their dual points are
# optional, as they take memory. The solvers in C read doubles only.
solve_together <- function(works, control, lambda, start = NULL, bound = -Inf,
                           max_size = .Machine$integer.max, whole = TRUE, with_r = TRUE) {
  usable <- vapply(works, function(work) sum(work$usable), 0L)
  outputs <- ncol(works[[1L]]$y)
  if (!is.null(start) && outputs > 1L) {
    # the numbers that C gives the coefficients, see solution_by_columns()
    numbers <- outer(seq_len(outputs), (start$features - 1L) * outputs, `+`)
    beta <- t(start$beta)
    kept <- control$grouped | beta != 0
    start <- list(features = as.integer(numbers[kept]), beta = as.double(beta[kept]))
  }
  paths <- .Call(C_l1_paths, works, c(loss_settings(control$loss), list(
    screen = control$screen, tolerance = control$tolerance,
    lambda = as.double(control$alpha * lambda), start = start,
    ridge = ridge_share(control$alpha), grouped = as.integer(control$grouped),
    bound = rep_len(as.double(bound), length(lambda)), max_size = as.integer(max_size),
    enough = if (whole) Inf else path_end$enough,
    least_change = if (whole) -Inf else path_end$least_change,
    # Memory for active coefficients at first. If there are more, the solver starts again from the
    # last solution with twice as many. Sparse columns use memory only when filled. Of many rows the
    # Newton engine keeps products of as many columns as a quarter of the rows, up to 600.
    max_active = min(max(usable) * outputs,
                     if (inherits(works[[1L]]$x, "sparseMatrix")) 4096L else
                       max(256L, outputs, min(600L, nrow(works[[1L]]$y) %/% 4L))),
    with_r = with_r, threads = control$threads,
    progress = progress_bar(control$progress, "Solving the path"), user_loss = NULL
  )))
  lapply(paths, function(path) {
    solutions <- without_null(path)
    if (outputs > 1L) {
      solutions <- lapply(solutions, solution_by_columns, outputs,
                          control$alpha == 1 && !control$grouped)
    }
    structure(solutions, ended = attr(path, "ended"))
  })
}

# The coefficients of several outputs are numbered in C column by column, with the outputs of a
# column next to each other. With the l1 norm alone, a column's coefficients may be `free` of a
# common part.
solution_by_columns <- function(solution, outputs, free) {
  column <- (solution$features - 1L) %/% outputs + 1L
  used <- unique(column)
  beta <- matrix(0, length(used), outputs)
  beta[cbind(match(column, used), (solution$features - 1L) %% outputs + 1L)] <- solution$beta
  solution[c("features", "beta")] <- list(used, if (free) without_common_part(beta) else beta)
  solution$u <- matrix(solution$u, ncol = outputs)
  if (!is.null(solution$r)) solution$r <- matrix(solution$r, ncol = outputs)
  solution
}

# A constant between the two middle values of the coefficients of a column, of an even number of
# outputs, may be taken from all of them: neither the loss nor the l1 norm changes. The middle value
# that leaves more zeros is taken, of two alike the lower one.
without_common_part <- function(beta) {
  half <- ncol(beta) %/% 2L
  if (ncol(beta) > 2L * half) return(beta)
  # in the other rows both middle values are 0
  open <- which(rowSums(beta < 0) >= half | rowSums(beta > 0) >= half)
  beta[open, ] <- t(apply(beta[open, , drop = FALSE], 1L, function(row) {
    middle <- sort(row)[half + 0:1]
    row - middle[1L + (sum(row == middle[2L]) > sum(row == middle[1L]))]
  }))
  beta
}

# The solution of the null model. Its `max_abs_corr` is the largest |a_k'r| of any column.
null_solution <- function(problem, control) {
  control[c("screen", "solver", "progress", "alpha")] <- list("none", "cd", FALSE, 1)
  solve_path(problem, control, lambda = .Machine$double.xmax)[[1L]]
}

# The problem with one column, for the null model, which does not depend on it.
one_plain_column <- function(problem) {
  put_columns(problem, matrix(as.double(seq_len(nrow(problem)))))
}

# A model on the user's scale from a solution in working coordinates. `factor` is the R factor of
# the covariates (see covariate_parts()). It gives the coefficients of the covariates from the
# coefficients of their basis.
solution_model <- function(problem, solution, factor = decomposed_covariates(problem)$factor) {
  model <- solution_models(problem, list(solution), solution$features, factor)
  c(list(features = solution$features), model)
}

# The models of several solutions side by side, with a column for every response of each: `beta` of
# the columns `used` of x and `covariates`.
solution_models <- function(problem, solutions, used, factor) {
  L <- ncol(problem$rows$y)
  beta <- matrix(0, length(used), L * length(solutions))
  for (i in seq_along(solutions)) {
    beta[match(solutions[[i]]$features, used), (i - 1L) * L + seq_len(L)] <- solutions[[i]]$beta
  }
  beta <- beta / problem$columns$scale[used]
  u <- unlist(lapply(solutions, `[[`, "u"))
  list(beta = beta, covariates = covariates_of(problem, u, used, beta, factor))
}

# Several responses, or one class against the rest for each class. Each response has its own problem
# with an l1 penalty, and the solution of a lambda joins the solutions of the responses.

# L1 cluster ---------------------------------------------------------------------------------------

# The path of l1_path() with the columns of x spread over the processes of a cluster, as in R/data-
# cluster.R. The calling process solves for a few lambdas at a time on few columns, the working set.
# The workers multiply all their columns with the residuals of these solutions at once. Columns that
# break the optimality conditions at any of these lambdas join the working set, until none does.

check_path_cluster <- function(cluster, loss, solver, folds) {
  if (is.null(check_cluster(cluster))) return(NULL)
  if (!losses[[loss]]$clustered) stop_loss("`cluster`", "clustered", loss)
  stop_argument_if(solver == "ipm", "`cluster` needs `solver = \"cd\"`, not \"ipm\"")
  stop_argument_if(!is.null(folds),
                   paste("`cluster` is for a path without `folds`: the paths without each fold run",
                         "on its processes by `future::plan(future::cluster, workers = cluster)`"))
  cluster
}

# Column ranges whose workers hold the centre and scale of their columns.
open_path_shards <- function(problem, cluster, count = length(cluster)) {
  shards <- open_shards(problem, cluster, count)
  complete <- FALSE
  on.exit(if (!complete) close_shards(shards))
  parts <- Map(function(from, to) {
    own <- from:to
    list(columns = some_rows(problem$columns[c("centre", "scale", "usable")], own),
         root_w = sqrt(problem$rows$weight), means = column_state(problem)$mean[own])
  }, shards$from, shards$to)
  ask_shards(shards, "prepare", parts)
  complete <- TRUE
  shards
}

# solve_path() for one response with `control$shards`. The solutions agree with the solutions of one
# process to the tolerance. After Ctrl-C or the loss of a worker the earlier solutions are returned.
solve_by_shards <- function(problem, control, lambda, max_size) {
  shards <- control$shards
  bar <- progress_bar(control$progress, "Solving the path")
  control[c("shards", "progress")] <- list(NULL, FALSE)
  rows <- working(problem)
  last <- null_by_shards(problem, control, shards)
  at <- max(lambda[1L], last$max_abs_corr / control$alpha)
  solutions <- list()
  while (length(solutions) < length(lambda) && length(last$features) <= max_size) {
    rest <- lambda[seq_along(lambda) > length(solutions)]
    batch <- rest[seq_len(max(1L, sum(rest >= 0.8 * at)))]
    found <- until_stopped(solve_batch(problem, rows, control, shards, batch, last, at),
                           function(condition) NULL, sparsels_error_worker = only_lost)
    if (inherits(found, "sparsels_error_worker")) {
      if (!length(solutions)) stop(found)
      warn_sparsels(paste0(conditionMessage(found), ": the path ends there"),
                    "sparsels_warning_worker")
      found <- NULL
    }
    if (is.null(found) && !length(solutions)) raise_interrupt()
    if (is.null(found)) break
    solutions <- c(solutions, found)
    last <- found[[length(found)]]
    at <- batch[length(batch)]
    if (!is.null(bar)) bar(length(solutions), length(lambda))
  }
  solutions
}

# The linear predictor of a solution, for losses whose dual values depend on it, otherwise NULL.
predictor_of <- function(problem, loss, solution) {
  if (is.null(losses[[loss]]$at)) return(NULL)
  basis <- covariate_basis(problem) / weight_divisor(problem)
  l1_scores(problem, solution$features, solution$beta) + drop(basis %*% solution$u)
}

# The null model, whose max_abs_corr is taken over all columns.
null_by_shards <- function(problem, control, shards) {
  null <- null_solution(one_plain_column(problem), control)
  null$max_abs_corr <- multiply_shards(shards, list(null), Inf, integer())$largest
  null
}

# The solutions for some lambdas, the last of which is not far below `at`, the lambda of the
# solution `last`. The working set begins with the columns that the strong rule keeps.
solve_batch <- function(problem, rows, control, shards, lambda, last, at) {
  weight <- control$alpha * lambda
  kept <- ask_shards(shards, "above", rep(list(2 * min(weight) - control$alpha * at), shards$count))
  set <- sort(union(last$features, numbers_of(shards, kept)))
  if (!length(set)) set <- which(problem$columns$usable)[1L]
  passes <- 0
  repeat {
    start <- last[c("features", "beta")]
    start$features <- match(last$features, set)
    part <- working_part(rows, set, rows$x[, set, drop = FALSE])
    found <- solve_together(list(part), control, lambda, start)[[1L]]
    if (length(found) < length(lambda)) raise_interrupt()
    for (i in seq_along(found)) found[[i]]$features <- set[found[[i]]$features]
    answer <- multiply_shards(shards, found, weight, set)
    passes <- passes + 1
    found <- Map(function(one, largest, lambda) {
      one$max_abs_corr <- max(one$max_abs_corr, largest)
      one$gap <- one$objective - dual_value(problem, control$loss, one$r, one$max_abs_corr,
                                            control$alpha * lambda,
                                            ridge_tail(control$alpha, lambda, one$beta, lambda),
                                            predictor_of(problem, control$loss, one))
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
multiply_shards <- function(shards, solutions, weight, set) {
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
