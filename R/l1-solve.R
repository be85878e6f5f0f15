# Solving problems with an l1 penalty: the arguments that all of their methods share, the solutions
# for given lambdas, the null model, and the interior point method.

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

# Interior point ----------------------------------------------------------------------------------

# Interior-point solutions of models with an l1 penalty, in plain R on BLAS: l1_ls of Kim and others
# (2007) for squares, l1_logreg of Koh and others (2007) for the logistic loss.
#
# A bound on |beta_k| is a variable, and a logarithmic barrier, whose weight decreases with the
# duality gap, keeps |beta_k| below it. The variables are the distances above = bound + beta and
# below = bound - beta instead of beta and bound: near the optimum one of the two is much smaller
# than the bound and would lose its digits as a difference. The covariates always have the optimal
# coefficients for the current beta. For squares the columns are residualised on them once. For
# the logistic loss each Newton step residualises the columns with its own weights.

# Solutions for each lambda in turn, or the completed solutions if interrupted.
interior_path <- function(problem, control, lambda) {
  solutions <- vector("list", length(lambda))
  state <- NULL
  bar <- progress_bar(control$progress, "Solving the path")
  for (i in seq_along(lambda)) {
    result <- until_stopped(interior_solve(problem, control, lambda[i], state),
                            function(condition) NULL)
    if (is.null(result)) break
    solutions[[i]] <- result$solution
    state <- result$state
    if (!is.null(bar)) bar(i, length(lambda))
  }
  without_null(solutions)
}

# list(solution: for one lambda, state: for the next lambda)
interior_solve <- function(problem, control, lambda, state = NULL) {
  if (is.null(state)) state <- interior_state(problem, control)
  kept <- screened_columns(problem, control, lambda, state)
  result <- newton_steps(problem, control, lambda, kept, state)
  # Quantities computed from x, so that coefficients can be removed later without x. `corr` are the
  # products a_k'r of the columns with the residual. `second_order` is for each coefficient an upper
  # bound of the second-order increase of the loss when it and all smaller coefficients are removed.
  # `kkt` is an upper bound of the increase of the loss by (37).
  beta <- result$beta
  corr <- result$all[result$features]
  removed <- kkt_removed(corr, lambda)
  curvature <- losses[[control$loss]]$steepest
  change <- sqrt(problem$rows$weight) *
    l1_scores(problem, result$features[removed], beta[removed])
  # |sum a_k beta_k|^2 for each column, the sum being over it and all columns with no larger |beta|
  sorted <- order(abs(beta))
  sums <- if (inherits(problem$x, "dgCMatrix")) sparse_sums else dense_sums
  squares <- replace(beta, sorted, sums(problem, result$features[sorted], beta[sorted]))
  solution <- c(result[c("features", "beta", "u", "r", "objective", "gap", "max_abs_corr", "rounds",
                         "products")],
                list(kept = length(kept), null = state$null, corr = corr,
                     second_order = curvature / 2 * squares,
                     kkt = curvature / 2 * sum(change^2) + sum((beta * corr)[removed])))
  # The safe tests need only r and `most` of the points between the first and the last.
  count <- length(state$points)
  if (count > 1L) state$points[[count]]$all <- NULL
  if (control$screen != "safe2") count <- min(count, 1L)
  state$points <- c(state$points[seq_len(count)], list(result[point_parts]))
  list(solution = solution, state = state)
}

# The state of the path. `null` is the objective of the null model, and `norm` the norms of the
# columns. `points` are the models so far with their dual points. The first is the null model.
interior_state <- function(problem, control) {
  empty <- model_point(problem, control$loss, integer(), numeric())
  empty$all <- column_products(problem, empty$r)
  empty$max_abs_corr <- max(abs(empty$all))
  list(null = empty$loss, points = list(empty[point_parts]),
       norm = if (control$screen != "none") working_norms(problem))
}

point_parts <- c("loss", "l1", "r", "all", "max_abs_corr")

# Screening ----------------------------------------------------------------------------------------

# The columns that the chosen test does not exclude. A test bounds |a_k'r| of the optimal r, from
# the product for a known r and a bound of the distance between the two. A column is excluded if the
# bound is below lambda.
screened_columns <- function(problem, control, lambda, state) {
  usable <- which(problem$columns$usable)
  last <- state$points[[length(state$points)]]
  corr_bound <- switch(control$screen,
    none = return(usable),
    gap = {
      # The dual is strongly concave (with constant 1 for squares and 4 for logistic), so that the
      # optimal r is in a ball about the dual point of the last model, by its duality gap. Fercoq
      # and others 2015, Ndiaye and others 2017.
      s <- dual_multiple(problem, control$loss, last$r, last$max_abs_corr, lambda)
      gap <- last$loss + lambda * last$l1 - dual_objective(problem, control$loss, s * last$r)
      gap <- max(gap, 0) + 1e-14 * state$null
      ball_corr_bound(state, s * last$all, s * last$r, sqrt(losses[[control$loss]]$ball * gap))
    },
    safe1 = safe_corr_bound(problem, control, lambda, state, state$points[1L]),
    safe2 = safe_corr_bound(problem, control, lambda, state, state$points)
  )
  usable[!(lambda > corr_bound[usable] * (1 + 1e-10))]
}

# An upper bound of |a_k'r| of the optimal r, if it is within `radius` of the given r with these
# products.
ball_corr_bound <- function(state, products, r, radius) {
  slack <- length(r) * .Machine$double.eps * sqrt(sum(r^2))
  abs(products) + (radius + slack) * state$norm
}

# Bounds of El Ghaoui and others, Theorems 1 (from the null model) and 2, and Section 4.3: the dual
# value of every point is a lower bound gamma of the optimum. For squares, the region is a ball
# about y of radius ||y - s r|| = sqrt(y'y - 2 gamma).
safe_corr_bound <- function(problem, control, lambda, state, points) {
  multiples <- vapply(points, function(point) {
    dual_multiple(problem, control$loss, point$r, point$max_abs_corr, lambda)
  }, 0)
  scaled <- Map(function(point, s) s * point$r, points, multiples)
  empty <- state$points[[1L]]
  if (control$loss == "squared") {
    radius <- min(vapply(scaled, function(r) sqrt(sum((empty$r - r)^2)), 0))
    return(ball_corr_bound(state, empty$all, empty$r, radius))
  }
  gamma <- max(vapply(scaled, function(r) dual_objective(problem, control$loss, r), 0))
  safe_call("bounds", working(problem), control, gamma = gamma - 1e-12 * state$null,
            enough = lambda)$bounds
}

# Newton's method ---------------------------------------------------------------------------------

scale_columns <- function(x, by) {
  if (!inherits(x, "dgCMatrix")) return(x * rep(by, each = nrow(x)))
  x@x <- x@x * rep.int(by, diff(x@p))
  x
}

# The loss at h = X beta with the optimal coefficients of the covariates: `loss`, the dual point
# `r`, and `root` and `basis`, with which the Hessian is X'PX, P = root (I - basis basis') root.
loss_point <- function(problem, loss, basis, h, u = NULL) {
  root_w <- sqrt(problem$rows$weight)
  y <- problem$rows$y[, 1L]
  if (loss == "squared") {
    r <- drop(project_out(root_w * y - h, basis))
    return(list(loss = sum(r^2) / 2, r = r, root = 1, basis = basis))
  }
  u <- smooth_covariates(problem, loss, h / root_w, basis, u)
  margin <- y * (h + drop(basis %*% u)) / root_w
  share <- stats::plogis(-margin)
  root <- sqrt(share * stats::plogis(margin))
  list(loss = sum(problem$rows$weight * l1_loss(loss, 1, margin)), r = root_w * y * share, u = u,
       root = root, basis = if (ncol(basis)) qr.Q(qr(root * basis)) else basis)
}

times <- function(X, v) as.vector(X %*% v)
back_times <- function(X, v) as.vector(crossprod(X, v))

# Minimises loss + lambda ||beta||_1 over the columns `kept`, until the duality gap with all columns
# is small enough, or no further step reduces it.
newton_steps <- function(problem, control, lambda, kept, state) {
  basis <- covariate_basis(problem)
  # dense and residualised on the covariates, or sparse, multiplied by weights and scale only
  X <- if (!inherits(problem$x, "dgCMatrix")) working_matrix(problem, kept, basis) else
    scale_columns(sqrt(problem$rows$weight) * problem$x[, kept, drop = FALSE],
                  1 / problem$columns$scale[kept])
  iterate <- list(h = numeric(nrow(problem)), beta = numeric(length(kept)), dual = -Inf, size = 1,
                  stale = 0L, products = 0, null = state$null)
  iterate$point <- loss_point(problem, control$loss, basis, iterate$h)
  target <- control$tolerance * state$null
  for (round in 0:max_rounds) {
    point <- iterate$point
    iterate$products <- iterate$products + ncol(X)
    iterate$c <- back_times(X, point$r)
    dual <- dual_value(problem, control$loss, point$r, max(0, abs(iterate$c)), lambda)
    iterate$dual <- max(iterate$dual, dual)
    gap <- point$loss + lambda * sum(abs(iterate$beta)) - iterate$dual
    iterate$stale <- if (is.null(iterate$gap) || gap < iterate$gap) 0L else iterate$stale + 1L
    iterate$gap <- gap
    last <- round == max_rounds || iterate$size < 1e-10 || iterate$stale > 25L
    if (gap <= target || last) {
      result <- certified(problem, control$loss, lambda, kept, iterate)
      iterate$products <- iterate$products + ncol(problem)
      if (result$gap <= control$tolerance * state$null || last) break
      target <- target / 4
    }
    iterate <- newton_step(problem, control$loss, lambda, X, basis, iterate)
  }
  c(result, rounds = round, products = iterate$products)
}

max_rounds <- 400L

# the current solution, with its gap from the products of all columns
certified <- function(problem, loss, lambda, kept, iterate) {
  features <- kept[iterate$beta != 0]
  beta <- iterate$beta[iterate$beta != 0]
  result <- c(list(features = features, beta = beta), model_point(problem, loss, features, beta))
  result$all <- column_products(problem, result$r)
  result$max_abs_corr <- max(abs(result$all))
  result$objective <- result$loss + lambda * result$l1
  dual <- dual_value(problem, loss, result$r, result$max_abs_corr, lambda)
  result$gap <- max(result$objective - dual, 0)
  result
}

# One step for a weight 1 / t of the barrier, where t increases as the gap decreases. Kim and
# others, Algorithm 1, with a larger factor.
newton_step <- function(problem, loss, lambda, X, basis, iterate) {
  k <- ncol(X)
  if (is.null(iterate$t)) {
    iterate$t <- 2 * k / iterate$gap
    # the bound that minimises the barrier function at beta = 0
    iterate$above <- iterate$below <- rep(2 / (iterate$t * lambda), k)
  }
  if (iterate$size >= 0.5) {
    iterate$t <- max(min(2 * k * growth / iterate$gap, growth * iterate$t), iterate$t)
  }
  t <- iterate$t
  above <- iterate$above
  below <- iterate$below
  squares <- above^2 + below^2
  d_beta <- -iterate$c - (1 / above - 1 / below) / t
  d_bound <- lambda - (1 / above + 1 / below) / t
  rhs <- -d_beta - (above^2 - below^2) / squares * d_bound
  iterate$accuracy <- min(0.1, iterate$gap / iterate$null)
  penalty <- 4 / (t * squares)
  # overflow: no step is possible
  if (!all(is.finite(c(penalty, rhs)))) return(replace(iterate, "size", 0))
  iterate <- solve_newton(X, iterate, penalty, rhs)
  step <- iterate$step
  to_above <- above^2 * (2 * step - t * below^2 * d_bound) / squares
  to_below <- -below^2 * (2 * step + t * above^2 * d_bound) / squares
  slope <- sum(d_beta * step) + sum(d_bound * (to_above + to_below)) / 2
  iterate$products <- iterate$products + k
  line_search(problem, loss, lambda, basis, iterate, slope, times(X, step), to_above, to_below)
}

growth <- 5

# Line search along a step: both distances stay positive and the barrier function decreases.
line_search <- function(problem, loss, lambda, basis, iterate, slope, h_step, to_above, to_below) {
  value <- function(point, above, below) {
    point$loss + lambda * sum(above + below) / 2 - (sum(log(above)) + sum(log(below))) / iterate$t
  }
  current <- value(iterate$point, iterate$above, iterate$below)
  size <- min(1, 0.99 / max(0, -to_above / iterate$above, -to_below / iterate$below))
  repeat {
    h <- iterate$h + size * h_step
    above <- iterate$above + size * to_above
    below <- iterate$below + size * to_below
    point <- loss_point(problem, loss, basis, h, iterate$point$u)
    # increases below rounding error are accepted
    decreased <- value(point, above, below) <= current + 0.01 * size * slope + 1e-14 * abs(current)
    if (isTRUE(decreased) || size < 1e-10) break
    size <- size / 2
  }
  # overflow, for a tiny lambda
  if (is.na(decreased)) return(replace(iterate, "size", 0))
  iterate[c("h", "above", "below", "point", "size")] <- list(h, above, below, point, size)
  iterate$beta <- (above - below) / 2
  iterate
}

# Solves (X'PX + diag(D)) step = rhs: by a Cholesky factor in the smaller dimension of X, or by
# conjugate gradients if both are large or the factorisation fails.
solve_newton <- function(X, iterate, D, rhs) {
  diagonal <- function(iterate) {
    if (!is.null(iterate$diagonal) && length(iterate$point$root) == 1L) return(iterate)
    point <- iterate$point
    X <- point$root * X
    explained <- colSums(as.matrix(crossprod(point$basis, X))^2)
    replace(iterate, "diagonal", list(colSums(X^2) - explained))
  }
  if (min(dim(X)) > max_direct) return(conjugate_gradients(X, diagonal(iterate), D, rhs))
  wide <- ncol(X) > nrow(X)
  if (wide) {
    iterate <- diagonal(iterate)
  } else if (is.null(iterate$gram) || length(iterate$point$root) > 1L) {
    weighted <- iterate$point$root * X
    explained <- as.matrix(crossprod(iterate$point$basis, weighted))
    iterate$gram <- as.matrix(crossprod(weighted)) - crossprod(explained)
  }
  step <- tryCatch(if (wide) {
    solve_wide(X, iterate, D, rhs)
  } else {
    solve_factor(chol(iterate$gram + diag(D, ncol(X))), rhs)
  }, error = function(condition) NULL)
  if (is.null(step)) return(conjugate_gradients(X, diagonal(iterate), D, rhs))
  iterate$step <- step
  iterate
}

# the largest dimension for which a factorisation is faster than conjugate gradients with the
# reference BLAS
max_direct <- 300L

solve_factor <- function(factor, rhs) {
  drop(backsolve(factor, backsolve(factor, rhs, transpose = TRUE)))
}

# Woodbury's identity, which gives an m x m system. It is inaccurate for columns whose D is
# negligible relative to their diagonal, as D becomes for the columns of the solution. These columns
# are eliminated separately.
solve_wide <- function(X, iterate, D, rhs) {
  large <- which(iterate$diagonal > 1e3 * D)
  if (length(large) > nrow(X)) large <- integer()
  small <- setdiff(seq_len(ncol(X)), large)
  point <- iterate$point
  within <- function(values) project_out(point$root * as.matrix(values), point$basis)
  shrunk <- X[, small, drop = FALSE]
  inside <- as.matrix(tcrossprod(scale_columns(shrunk, 1 / sqrt(D[small]))))
  factor <- chol(diag(nrow(X)) + within(t(within(inside))))
  v <- backsolve(factor, within(shrunk %*% (rhs[small] / D[small])), transpose = TRUE)
  step <- numeric(ncol(X))
  if (length(large)) {
    W <- backsolve(factor, within(X[, large, drop = FALSE]), transpose = TRUE)
    step[large] <- solve_factor(chol(crossprod(W) + diag(D[large], length(large))),
                                rhs[large] - crossprod(W, v))
    v <- v + W %*% step[large]
  }
  z <- point$root * project_out(backsolve(factor, v), point$basis)
  replace(step, small, (rhs[small] - back_times(shrunk, z)) / D[small])
}

# Conjugate gradients, started from the last step, with a diagonal preconditioner. Kim and others,
# Section IV.
conjugate_gradients <- function(X, iterate, D, rhs) {
  point <- iterate$point
  multiply <- function(v) {
    back_times(X, point$root * project_out(point$root * times(X, v), point$basis)) + D * v
  }
  preconditioner <- 1 / (iterate$diagonal + D)
  step <- if (is.null(iterate$step)) numeric(length(D)) else iterate$step
  residual <- rhs - multiply(step)
  tolerance <- iterate$accuracy * sqrt(sum(preconditioner * rhs^2))
  direction <- preconditioner * residual
  size <- sum(direction * residual)
  for (round in 1:5000) {
    if (sqrt(size) <= tolerance) break
    product <- multiply(direction)
    step_size <- size / sum(direction * product)
    step <- step + step_size * direction
    residual <- residual - step_size * product
    scaled <- preconditioner * residual
    new <- sum(scaled * residual)
    direction <- scaled + new / size * direction
    size <- new
  }
  iterate$products <- iterate$products + 2 * round * length(D)
  iterate$step <- step
  iterate
}

kkt_removed <- function(corr, lambda) abs(corr) <= 0.9999 * lambda

dense_sums <- function(problem, features, beta) {
  none <- matrix(0, nrow(problem), 0L)
  sum <- numeric(nrow(problem))
  squares <- numeric(length(beta))
  for (block in column_blocks(nrow(problem), length(beta))) {
    columns <- working_matrix(problem, features[block], none)
    for (i in seq_along(block)) {
      sum <- sum + columns[, i] * beta[block[i]]
      squares[block[i]] <- sum(sum^2)
    }
  }
  squares
}

# The sums of dense_sums() for sparse columns, from their nonzeros: a centred sum is sum - level
# root_w.
sparse_sums <- function(problem, features, beta) {
  root_w <- sqrt(problem$rows$weight)
  x <- root_w * problem$x[, features, drop = FALSE]
  beta <- beta / problem$columns$scale[features]
  level <- cumsum(problem$columns$centre[features] * beta)
  sum <- numeric(nrow(problem))
  square <- along <- numeric(length(beta))
  for (k in seq_along(beta)) {
    values <- seq.int(x@p[k] + 1L, length.out = x@p[k + 1L] - x@p[k])
    rows <- x@i[values] + 1L
    step <- x@x[values] * beta[k]
    square[k] <- sum(step * (2 * sum[rows] + step))
    along[k] <- sum(root_w[rows] * step)
    sum[rows] <- sum[rows] + step
  }
  pmax(cumsum(square) - level * (2 * cumsum(along) - level * sum(problem$rows$weight)), 0)
}
