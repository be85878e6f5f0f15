# No safe test throws out a column that a solution has: on random problems with all that can go
# wrong in them, against solutions whose duality gap is computed again in plain R from the columns.

# A problem solved for some lambdas, the largest first, to a gap of 1e-12 without a screen; NULL
# when the covariates alone separate its classes.
solved_problem <- function(loss, ...) {
  pb <- random_l1(loss, m = sample(10:60, 1), n = sample(10:80, 1), ...)
  control <- l1_control(pb, loss, "none", tolerance = 1e-12)
  control$null <- null_solution(pb, control)$null
  if (control$null < 1e-6 * sum(pb$weights)) return(NULL)
  control$lambda_max <- largest_lambda(pb, control)
  control$lambda <- control$lambda_max * sort(c(10^runif(3, -2, 0), runif(1, 0.5, 1)), TRUE)
  at <- list(pb = pb, loss = loss, control = control)
  at$solutions <- solve_path(pb, control)
  at$beta <- vapply(at$solutions, function(one) {
    replace(numeric(ncol(pb)), one$features, one$beta)
  }, numeric(ncol(pb)))
  at$duals <- Map(recompute, list(at), control$lambda, at$solutions)
  at
}

# The relative gap of a solution and the products of all columns with its dual point. That of hinge
# is the solver's own; it must balance and keep within its bounds.
recompute <- function(at, lambda, solution) {
  hinge <- at$loss == "hinge"
  point <- model_point(at$pb, at$loss, solution$features, solution$beta, if (hinge) solution$u)
  r <- if (hinge) solution$r else point$r
  products <- abs(column_products(at$pb, r))
  dual <- dual_value(at$pb, at$loss, r, max(products), lambda)
  off <- 0
  if (hinge) {
    share <- dual_share(at$pb, r)
    off <- max(0, -share, share - 1, abs(crossprod(covariate_basis(at$pb), r)))
  }
  list(gap = (point$loss + lambda * point$l1 - dual) / at$control$null, products = products,
       off = off)
}

# How much worse than the solution without a screen that with one is, at any lambda; and its gap.
screened_path <- function(at, screen) {
  control <- replace(at$control, "screen", screen)
  found <- solve_path(at$pb, control)
  value <- function(solutions) vapply(solutions, `[[`, 0, "objective")
  worse <- max(abs(value(found) - value(at$solutions))) / at$control$null
  row <- sample(4, 1)
  gap <- recompute(at, control$lambda[row], found[[row]])$gap
  kept <- vapply(found, function(one) one$kept - length(one$features), 0L)
  c(worse = worse, gap = gap, fewer_than_used = max(0, -kept))
}

# A fit to be screened with, of other lambdas; sometimes of models that are no solutions.
known_fit <- function(at) {
  lambda <- at$control$lambda_max * 10^runif(3, -1.5, 0.02)
  fit <- l1_path(at$pb, loss = at$loss, lambda = lambda)
  if (runif(1) < 0.5) return(fit)
  fit$solutions <- lapply(fit$solutions, function(one) {
    replace(one, "beta", list(one$beta * runif(length(one$beta), 0.5, 1.3)))
  })
  fit
}

# What a mask has against the solutions: columns thrown out that one of them has, at its own lambda
# and at those that rho speaks of, and the largest amount by which a bound is below the product of
# its column with the optimal dual point.
masked <- function(at, rule, fit, row) {
  lambda <- at$control$lambda
  mask <- safe_screen(at$pb, loss = at$loss, lambda = lambda[row], rule = rule, fit = fit)
  spoken <- outer(unname(mask$rho) * mask$lambda_max, lambda, `<`)
  if (rule == "gap" && !is.null(fit)) {
    spoken <- spoken & !mask$keep & rep(lambda <= lambda[row], each = ncol(at$pb))
  }
  list(
    keep = mask$keep,
    wrong = c(lost = sum(!mask$keep & at$beta[, row] != 0), rho = sum(spoken & at$beta != 0),
              short = max(at$duals[[row]]$products - mask$bounds) / mask$lambda_max)
  )
}

# Runs N problems; a data frame with a row for each of the checks that failed, and how many columns
# each rule threw out.
try_problems <- function(loss, N, rules) {
  failed <- NULL
  count <- list(problems = 0, columns = 0, zero = 0, safe1 = 0, safe2 = 0, gap = 0)
  note <- function(case, what, value, most) {
    bad <- !(value <= most)
    if (any(bad)) {
      failed <<- rbind(failed, data.frame(case, what = paste(what, names(value)[bad]),
                                          value = value[bad]))
    }
  }
  for (case in seq_len(N)) {
    set.seed(case)
    at <- solved_problem(loss)
    if (is.null(at)) next
    note(case, "solution", vapply(at$duals, `[[`, c(gap = 0), "gap"), 2e-12)
    note(case, "dual point", vapply(at$duals, `[[`, c(off = 0), "off"), 1e-10)
    for (screen in c("lazy", "safe1", "safe2", "gap")) {
      note(case, screen, screened_path(at, screen), c(4e-12, 2e-12, 0))
    }
    fit <- known_fit(at)
    row <- sample(4, 1)
    keep <- list()
    for (rule in rules(case)) {
      found <- masked(at, rule, if (rule == "safe2" || rule == "gap" && case %% 10 > 0) fit, row)
      note(case, rule, found$wrong, c(0, 0, 1e-9))
      keep[[rule]] <- found$keep
      count[[rule]] <- count[[rule]] + sum(!found$keep)
    }
    count$problems <- count$problems + 1
    count$columns <- count$columns + ncol(at$pb)
    count$zero <- count$zero + sum(at$beta[, row] == 0)
  }
  list(failed = failed, count = count)
}
