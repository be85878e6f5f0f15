# The checks of kernel expansions, of fits of all columns and of sparse solutions of systems, for
# verify().

#' @exportS3Method
checks_of.kernel_fit <- function(fit, x, y, ..., data) {
  problem <- kernel_data(fit, problem_of_fit(fit, x, y, ..., data = data))
  design <- if (is.null(fit$kernel)) narrow_design(column_design(problem, fit$features)) else
    kernel_design(fit, problem, fit$kernel)
  checker <- design_checker(fit, problem, design)
  lambda <- fit$path$lambda
  predicted <- function(at, column) checker$predicted(lambda[at], column)
  of_rows <- function(words, values, column) {
    row_kind(words, list(values), function(at) of_partitions(checker$predicted(fit$lambda, column)),
             checker$rms, lambda = fit$lambda)
  }
  list(kinds = c(
    error_kinds(fit$path, expansion_columns, predicted, problem, fit$folds, unit = checker$rms^2,
                size = NA),
    list(check_kind("gamma, which is 1 / lambda", c(fit$gamma, fit$path$gamma),
                    function(at, ...) 1 / c(fit$lambda, lambda)[at])),
    coefficient_kinds(fit$coefficients, function(at) checker$trained(lambda[at]), lambda = lambda,
                      terms = if (!is.null(fit$kernel)) basis_names(fit$problem, fit$basis)),
    list(of_rows("fitted value", kept_values(fit, "fitted"), "training"),
         of_rows("held-out prediction", kept_values(fit, "held_out"), "criterion")),
    width_kinds(checker)
  ))
}

expansion_columns <- c(criterion = "mean squared error", se = "standard error",
                       error = "error rate", training = "mean squared error in sample")

# The data with the centre and scale that the kernel uses, which are computed from the data.
kernel_data <- function(fit, problem) {
  problem <- regression_of_ranking(with_doubles(problem))
  if (!is.null(fit$kernel)) {
    problem$columns$centre <- fit$problem$columns$centre
    problem$columns$scale <- fit$problem$columns$scale
  }
  problem
}

# A kernel on some basis vectors, or on all rows in the coordinates of its eigenvectors.
kernel_design <- function(fit, problem, kernel) {
  basis <- fit$basis
  K <- kernel_columns(problem, kernel, basis)
  shift <- fit$shift
  if (basis$all && shift$where == "none") {
    parts <- eigen(K[, order(basis$rows)] / 2 + t(K[, order(basis$rows)]) / 2, symmetric = TRUE)
    root <- parts$vectors * rep(sqrt(pmax(parts$values, 0)), each = nrow(K))
    return(list(x = root, rows = basis$rows))
  }
  gram <- basis_kernel_matrix(problem, kernel, basis, K) + diag(shift$value, ncol(K))
  K <- with_kernel_shift(K, basis$rows, shift)
  list(x = K, gram = gram, owner = basis$rows, back = identity, size = sqrt(colMeans(K^2)),
       scale = 1)
}

# Functions of lambda that store their retrained results: the model, and the predictions of each
# partition, or in sample for the column "training".
design_checker <- function(fit, problem, design) {
  trained <- remembered(function(lambda) retrain_design(problem, design, lambda))
  held_out <- remembered(function(lambda) {
    out <- retrain_design_out(problem, design, lambda, fit$folds$ids)
    # fits use the kernel matrix with lambda on its diagonal, which loses more digits than its root
    out$condition <- max(10 * out$condition, 1e5)
    out
  })
  list(fit = fit, problem = problem, rms = response_rms(problem), trained = trained,
       predicted = predicted_by(trained, held_out))
}

# A function of a model and a column of the path: the predictions that the column is computed from.
predicted_by <- function(trained, held_out) {
  function(at, column) {
    if (column != "training") return(held_out(at))
    model <- trained(at)
    list(pred = list(model$pred), condition = model$condition)
  }
}

# The table of the widths tried, with the error of each at its lambda, one of the lambdas of the
# path.
width_kinds <- function(checker) {
  fit <- checker$fit
  table <- fit$kernel_table
  if (is.null(table)) return(NULL)
  in_sigma2 <- !is.null(table$sigma2)
  lambda <- if (in_sigma2) 1 / table$gamma else table$lambda
  width <- if (in_sigma2) 1 / table$sigma2 else table$gamma
  # the fit keeps only the shift of the chosen kernel
  kept <- is.na(width) | fit$shift$where == "none"
  if (length(fit$kernel$parameters$gamma)) {
    kept <- kept | abs(width / fit$kernel$parameters$gamma - 1) < 1e-4
  }
  predicted <- function(at, column) {
    kernel <- if (is.na(width[at])) fit$kernel else
      kernel_gaussian(width[at], normalize = fit$kernel$normalize)
    design <- kernel_design(fit, checker$problem, kernel)
    design_checker(fit, checker$problem, design)$predicted(lambda[at], column)
  }
  criterion <- data.frame(criterion = ifelse(kept, table$criterion, NA))
  c(error_kinds(criterion, c(criterion = "error of a kernel's width"), predicted, checker$problem,
                fit$folds, unit = checker$rms^2, size = NA, lambda = lambda),
    list(check_kind("lambda of a kernel's width", lambda, function(at, ...) {
      nearest(lambda[at], fit$path$lambda)
    })))
}

# Verify machine -----------------------------------------------------------------------------------

# The checks of fixed-size machines, for verify(), and how the machines are retrained. Terms are the
# prototypes and, numbered after them, the covariates, which have a separate ridge parameter.

#' @exportS3Method
checks_of.fs_lssvm <- function(fit, x, y, ..., data) {
  problem <- kernel_data(fit, problem_of_fit(fit, x, y, ..., data = data))
  machine <- machine_checker(fit, problem)
  sizes <- model_sizes(fit)
  predicted <- function(at, column) machine$predicted(fit$path$size[at], column)
  held_out <- function(at) of_partitions(machine$predicted(fit$size, "criterion"))
  words <- expansion_columns[c("training", if (machine$repeatable) c("criterion", "se", "error"))]
  list(kinds = c(
    error_kinds(fit$path, words, predicted, problem, fit$folds, unit = machine$rms^2,
                lambda = fit$lambda),
    coefficient_kinds(fit$coefficients[sizes + 1L], function(at) machine$trained(sizes[at]), sizes,
                      fit$lambda, basis_names(fit$problem, fit$basis)),
    list(row_kind("fitted value", list(kept_values(fit, "fitted")),
                  function(at) machine$trained(fit$size), machine$rms, fit$size, fit$lambda),
         if (machine$repeatable) {
           row_kind("held-out prediction", list(kept_values(fit, "held_out")), held_out,
                    machine$rms, fit$size, fit$lambda)
         },
         check_kind("gamma, which is 1 / lambda", fit$gamma, function(at, ...) 1 / fit$lambda[at]))
  ), unchecked = c(
    "that the selection gives these prototypes",
    if (!is.null(fit$folds) && !machine$repeatable) {
      "held-out errors and predictions, whose pursuits had prototypes that the fit does not keep"
    },
    if (!is.null(fit$tuning)) "the choice of the kernel's width and of gamma"
  ))
}

machine_checker <- function(fit, problem) {
  K <- kernel_columns(problem, fit$kernel, fit$basis)
  machine <- list(
    fit = fit, problem = problem, n = ncol(K), K = K,
    gram = basis_kernel_matrix(problem, fit$kernel, fit$basis, K),
    pursued = fit$control$solver == "scdp", rms = response_rms(problem),
    # the pursuits of the folds chose among all prototypes
    repeatable = !is.null(fit$folds) && (fit$control$solver != "scdp" ||
      ncol(K) == fit$basis$available && is.null(fit$control$candidates))
  )
  free <- if (fit$control$intercept == "candidate" && problem$coding$intercept) 1L
  machine$candidate <- if (machine$pursued) free
  machine$forced <- setdiff(seq_len(ncol(problem$z)), machine$candidate)
  machine[c("z", "back")] <- covariate_terms(problem, setdiff(seq_len(ncol(problem$z)), free))
  machine$bare <- problem
  machine$bare$z <- problem$z[, 0L, drop = FALSE]
  machine$design <- remembered(function(terms) machine_design(machine, terms))
  machine$trained <- remembered(function(size) retrain_machine(machine, size))
  machine$fold_path <- remembered(function(repetition, fold) {
    followed_pursuit(machine, which(fit$folds$ids[, repetition] != fold))
  })
  held_out <- remembered(function(size) retrain_machine_out(machine, size))
  machine$predicted <- predicted_by(machine$trained, held_out)
  machine
}

# The terms of a size: the prototypes so far, the covariates that are forced, and the intercept when
# it is among the terms added.
machine_terms <- function(machine, size) {
  path <- machine$fit$path
  prototypes <- seq_len(path$prototypes[match(size, path$size)])
  added <- machine$pursued && length(prototypes) < size
  c(prototypes, machine$n + c(if (added) machine$candidate, machine$forced))
}

# list(x, root: of the penalty, map: from the coefficients of x to the coefficients of the
# prototypes, condition)
machine_design <- function(machine, terms) {
  prototypes <- terms[terms <= machine$n]
  covariates <- terms[terms > machine$n] - machine$n
  gram <- machine$gram[prototypes, prototypes, drop = FALSE]
  map <- diag(length(prototypes))
  own_root <- map
  if (machine$fit$control$solver == "nystrom") {
    map <- nystrom_map(gram)
    own_root <- diag(ncol(map))
  } else if (length(prototypes)) {
    parts <- eigen(gram, symmetric = TRUE)
    own_root <- t(parts$vectors) * sqrt(pmax(parts$values, 0))
  }
  p <- ncol(map)
  root <- diag(sqrt(covariate_ridge(machine$problem)), p + length(covariates))
  root[seq_len(p), seq_len(p)] <- sqrt(machine$fit$lambda) * own_root
  x <- cbind(machine$K[, prototypes, drop = FALSE] %*% map, machine$z[, covariates, drop = FALSE])
  values <- 1
  if (ncol(x)) values <- svd(rbind(sqrt(machine$problem$rows$weight) * x, root), 0L, 0L)$d^2
  list(x = x, root = root, map = map, covariates = covariates,
       # the normal equations lose more digits than the decomposition used here
       condition = max(centring_cost(response_offset(machine$problem)) * max(values) /
                         max(min(values), 1e-16 * max(values)), 1e5))
}

retrain_machine <- function(machine, size) {
  design <- machine$design(machine_terms(machine, size))
  model <- retrain_ridge(machine$bare, design$x, design$root)
  p <- ncol(design$map)
  beta <- design$map %*% model$B[seq_len(p), , drop = FALSE]
  b <- matrix(0, ncol(machine$problem$z), ncol(machine$problem$rows$y))
  b[design$covariates, ] <- model$B[p + seq_along(design$covariates), ]
  covariates <- machine$back %*% b
  typical <- machine$rms / sqrt(colMeans(machine$K^2))
  unit <- list(beta = max(abs(beta), min(typical)),
               covariates = max(abs(covariates), 1e-3 * machine$rms))
  list(beta = beta, covariates = covariates, pred = model$pred, unit = unit,
       condition = design$condition, beta_condition = design$condition)
}

# Each fold, predicted by a machine of the other rows with the terms of its own pursuit.
retrain_machine_out <- function(machine, size) {
  ids <- machine$fit$folds$ids
  condition <- 1
  each <- lapply(seq_len(ncol(ids)), function(repetition) {
    pred <- 0 * unname(machine$problem$rows$y)
    for (fold in unique(ids[, repetition])) {
      rows <- which(ids[, repetition] == fold)
      terms <- machine_terms(machine, size)
      if (machine$pursued) {
        path <- machine$fold_path(repetition, fold)
        terms <- path[seq_len(min(size + length(machine$forced), length(path)))]
      }
      design <- machine$design(sort(terms))
      condition <<- max(condition, design$condition)
      model <- retrain_ridge(machine$bare, design$x, design$root, seq_len(nrow(ids))[-rows])
      pred[rows, ] <- model$pred[rows, ]
    }
    pred
  })
  list(pred = each, condition = 10 * condition)
}

# The terms that a pursuit on some rows takes, in their order: the forced terms, then each time the
# term with the largest score.
followed_pursuit <- function(machine, rows) {
  problem <- machine$problem
  root_w <- sqrt(problem$rows$weight[rows])
  x <- root_w * cbind(machine$K, machine$z)[rows, , drop = FALSE]
  A <- crossprod(x)
  prototypes <- seq_len(machine$n)
  A[prototypes, prototypes] <- A[prototypes, prototypes] + machine$fit$lambda * machine$gram
  others <- setdiff(seq_len(ncol(A)), prototypes)
  A[cbind(others, others)] <- A[cbind(others, others)] + covariate_ridge(problem)
  b <- crossprod(x, root_w * problem$rows$y[rows, , drop = FALSE])
  system <- list(A = A, b = b, D = ncol(A), L = ncol(b), diagonal = diag(A))
  score <- step_score(list(method = "scdp", control = machine$fit$control))
  set <- machine$n + machine$forced
  steps <- max(machine$fit$path$size) + length(set)
  while (length(set) < steps) {
    solution <- list(components = set, beta = solved_by_qr(system, set, b))
    values <- score(system, rowSums(solution_rest(system, solution)^2), set)
    # scores that differ by rounding tie, and the first of them is added
    order <- setdiff(order(-signif(values, 11L)), set)
    free <- Find(function(j) !is_dependent(system, set, j, dependent_term), order)
    if (!length(free)) break
    set <- c(set, free)
  }
  set
}

# Systems ------------------------------------------------------------------------------------------

# The checks of a sparse solution of A w = b, and how it is solved again for verify().

#' @exportS3Method
checks_of.system_fit <- function(fit, x, y, ..., data) {
  check_method_call(..., object = fit, known = names(formals(verify)))
  stop_argument_if(is.null(y),
                   "a solution of a system is verified with `A` and `b`: verify(fit, A, b)")
  system <- as_system(x, y)
  sides <- ncol(fit$coefficients[[1L]]$beta)
  stop_argument_if(!identical(system$names, fit$names) || system$L != sides,
                   "the system differs from the system of the fit: %s",
                   if (system$L != sides) "`b` has another number of columns" else
                     "its components have other names or are more or fewer")
  rows <- if (is.null(fit$knots)) row_solutions(fit, system) else fit$knots
  models <- without_null(fit$coefficients)
  values <- stacked(models, c("objective", "residual"))
  # the solution of A_SS w = b_S, the coefficients after the moves of a pursuit, or of a knot
  solved <- remembered(function(i) {
    model <- models[[i]]
    if (!isFALSE(fit$control$debias)) return(solved_by_qr(system, model$components, system$b))
    if (!is.null(fit$knots)) return(fit$knots[[model$step + 1L]]$beta)
    at <- max(which(fit$path$size == length(model$components)))
    rows[[at]]$beta[match(model$components, rows[[at]]$components), , drop = FALSE]
  })
  lambda <- if (is.null(fit$path$lambda)) NA else fit$path$lambda
  list(kinds = c(
    value_kinds(fit$path, rows, system, "", lambda),
    value_kinds(values, models, system, " of a model"),
    list(system_kind("coefficient", models, solved, fit, system)),
    if (!is.null(fit$knots)) knot_kinds(fit, system), component_kinds(fit, rows, system)
  ), unchecked = if (is.null(step_score(fit)) && is.null(fit$knots)) {
    "that the search, which draws at random, gives these components"
  })
}

# the condition number of the equations of some components
system_condition <- function(system, S) {
  if (!length(S)) return(1)
  values <- svd(system_columns(system, S)[S, , drop = FALSE], 0L, 0L)$d
  max(values) / max(min(values), 1e-16 * max(values))
}

# The solution after each row of the path. A pursuit by moves is repeated.
row_solutions <- function(fit, system) {
  path <- fit$path
  if (fit$method != "matching_pursuit") return(fit$coefficients[path$size + 1L])
  S <- integer()
  beta <- matrix(0, 0L, system$L)
  gradient <- -system$b
  lapply(seq_len(nrow(path)), function(row) {
    j <- path$component[row]
    if (!is.na(j)) {
      if (!j %in% S) {
        S <<- c(S, j)
        beta <<- rbind(beta, 0)
      }
      column <- system_columns(system, j)
      change <- fit$control$shrinkage * gradient[j, ] / column[j]
      beta[match(j, S), ] <<- beta[match(j, S), ] - change
      gradient <<- gradient - column %*% rbind(change)
    }
    list(components = S, beta = beta)
  })
}

# objective and residual of solutions
value_kinds <- function(table, solutions, system, of, lambda = NA) {
  size <- lengths(lapply(solutions, `[[`, "components"))
  unit <- list(objective = max(abs(table$objective)), residual = sqrt(sum(system$b^2)))
  lapply(c("objective", "residual"), function(name) {
    check_kind(paste0(name, of), table[[name]], function(at, cell) {
      one <- solutions[[at]]
      S <- one$components
      product <- system_columns(system, S) %*% one$beta
      value <- if (name == "residual") sqrt(sum((system$b - product)^2)) else
        sum(one$beta * (product / 2 - system$b)[S, , drop = FALSE])
      list(value = value, unit = unit[[name]], condition = system_condition(system, S))
    }, size, lambda)
  })
}

# The coefficients of solutions, where solved(at) computes the expected coefficients.
system_kind <- function(words, solutions, solved, fit, system, lambda = NA) {
  check_kind(words, lapply(solutions, `[[`, "beta"), function(at, cell) {
    value <- solved(at)
    S <- solutions[[at]]$components
    list(value = value, unit = max(abs(value)), condition = system_condition(system, S),
         feature = fit$names[S])
  }, lengths(lapply(solutions, `[[`, "components")), lambda)
}

# The knots of a path of lambda: w_S solves A_SS w = b_S - lambda s with s the signs of b - A w, and
# lambda is the largest |b - A w|.
knot_kinds <- function(fit, system) {
  lambda <- fit$path$lambda
  list(
    system_kind("coefficient at a knot", fit$knots, function(at) {
      signs <- sign(solution_rest(system, fit$knots[[at]]))
      solved_by_qr(system, fit$knots[[at]]$components, system$b - lambda[at] * signs)
    }, fit, system, lambda),
    check_kind("lambda of a knot", lambda[seq_along(fit$knots)], function(at, cell) {
      list(value = max(abs(solution_rest(system, fit$knots[[at]]))), unit = max(abs(system$b)),
           condition = system_condition(system, fit$knots[[at]]$components))
    }, lengths(lapply(fit$knots, `[[`, "components")), lambda)
  )
}

# No component had a larger score at a step than the chosen one. Components that depend on the set
# of the step are left out.
component_kinds <- function(fit, rows, system) {
  score <- step_score(fit)
  steps <- which(fit$path$action %in% c("add", "move"))
  if (is.null(score)) return(NULL)
  list(check_kind("no better component at a step", NULL, function(at, cell) {
    before <- rows[[steps[at] - 1L]]
    values <- score(system, rowSums(solution_rest(system, before)^2), before$components)
    chosen <- fit$path$component[steps[at]]
    taken <- if (fit$path$action[steps[at]] == "add") before$components
    others <- setdiff(order(-values), c(chosen, taken))
    better <- others[values[others] > values[chosen]]
    free <- Find(function(j) !is_dependent(system, before$components, j), better)
    list(claimed = values[chosen], value = values[c(free, chosen)[1L]], unit = max(values),
         condition = system_condition(system, before$components), feature = fit$names[chosen])
  }, fit$path$size[steps], counts = rep(1L, length(steps))))
}
