# What a fixed-size machine claims, and how it is retrained for verify(). Terms are the prototypes
# and, numbered after them, the covariates, which have a ridge parameter of their own.

#' @exportS3Method
claims_of.fs_lssvm <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  problem <- kernel_data(fit, problem_of_fit(fit, x, y, ..., data = data))
  bench <- machine_bench(fit, problem)
  list(kinds = Filter(Negate(is.null), c(
    machine_error_claims(bench), machine_coefficient_claims(bench), machine_row_claims(bench),
    list(claim_kind("gamma, which is 1 / lambda", 1L, function(i) {
      new_claim(fit$gamma, 1 / fit$lambda, 1e-10)
    }))
  )), unchecked = c(
    "that the prototypes are those of the selection",
    if (!is.null(fit$folds) && !bench$repeatable) {
      "held-out errors and predictions, whose pursuits had prototypes that the fit does not keep"
    },
    if (!is.null(fit$tuning)) "the choice of the kernel's width and of gamma"
  ))
}

machine_bench <- function(fit, problem) {
  K <- kernel_columns(problem, fit$kernel, fit$basis)
  bench <- list(
    fit = fit, problem = problem, n = ncol(K), K = K,
    own = basis_kernel_matrix(problem, fit$kernel, fit$basis, K),
    pursued = fit$control$solver == "scdp", rms = response_rms(problem),
    # the pursuits of the folds chose among all prototypes
    repeatable = !is.null(fit$folds) && (fit$control$solver != "scdp" ||
      ncol(K) == fit$basis$available && is.null(fit$control$candidates))
  )
  free <- if (fit$control$intercept == "candidate" && problem$intercept) 1L
  bench$candidate <- if (bench$pursued) free
  bench$forced <- setdiff(seq_len(ncol(problem$z)), bench$candidate)
  bench[c("z", "back")] <- covariate_terms(problem, setdiff(seq_len(ncol(problem$z)), free))
  bench$bare <- problem
  bench$bare$z <- problem$z[, 0L, drop = FALSE]
  bench$design <- remembered(function(terms) machine_design(bench, terms))
  bench$trained <- remembered(function(size) trained_machine(bench, machine_terms(bench, size)))
  bench$fold_path <- remembered(function(repetition, fold) {
    followed_pursuit(bench, which(fit$folds$ids[, repetition] != fold))
  })
  bench$held_out <- remembered(function(size) held_out_machine(bench, size))
  bench
}

# The terms of a size: the prototypes so far, the covariates that are forced, and the intercept when
# it is among the terms added.
machine_terms <- function(bench, size) {
  prototypes <- seq_len(bench$fit$path$prototypes[match(size, bench$fit$path$size)])
  added <- bench$pursued && length(prototypes) < size
  c(prototypes, bench$n + c(if (added) bench$candidate, bench$forced))
}

# list(x, penalty: a square root of it, map: of the coefficients of x to those of the prototypes,
# condition)
machine_design <- function(bench, terms) {
  prototypes <- terms[terms <= bench$n]
  covariates <- terms[terms > bench$n] - bench$n
  gram <- bench$own[prototypes, prototypes, drop = FALSE]
  map <- diag(length(prototypes))
  root <- map
  if (bench$fit$control$solver == "nystrom") {
    map <- nystrom_map(gram)
    root <- diag(ncol(map))
  } else if (length(prototypes)) {
    parts <- eigen(gram, symmetric = TRUE)
    root <- t(parts$vectors) * sqrt(pmax(parts$values, 0))
  }
  p <- ncol(map)
  q <- length(covariates)
  penalty <- matrix(0, p + q, p + q)
  penalty[seq_len(p), seq_len(p)] <- sqrt(bench$fit$lambda) * root
  penalty[cbind(p + seq_len(q), p + seq_len(q))] <- sqrt(covariate_ridge)
  x <- cbind(bench$K[, prototypes, drop = FALSE] %*% map, bench$z[, covariates, drop = FALSE])
  values <- 1
  if (ncol(x)) values <- svd(rbind(sqrt(bench$problem$weights) * x, penalty), 0L, 0L)$d^2
  list(x = x, penalty = penalty, map = map, covariates = covariates,
       # the normal equations cost more digits than the decomposition here
       condition = max(centring_cost(response_offset(bench$problem)) * max(values) /
                         max(min(values), 1e-16 * max(values)), 1e5))
}

trained_machine <- function(bench, terms) {
  design <- bench$design(terms)
  model <- trained_by_qr(bench$bare, design$x, design$penalty)
  p <- ncol(design$map)
  b <- matrix(0, ncol(bench$problem$z), ncol(bench$problem$y))
  b[design$covariates, ] <- model$B[p + seq_along(design$covariates), ]
  list(beta = design$map %*% model$B[seq_len(p), , drop = FALSE], b = bench$back %*% b,
       pred = model$pred, condition = design$condition)
}

# Each fold by a machine of the other rows, with the terms of their own pursuit.
held_out_machine <- function(bench, size) {
  ids <- bench$fit$folds$ids
  condition <- 1
  each <- lapply(seq_len(ncol(ids)), function(repetition) {
    pred <- unname(bench$problem$y) * NA
    for (fold in unique(ids[, repetition])) {
      rows <- which(ids[, repetition] == fold)
      terms <- machine_terms(bench, size)
      if (bench$pursued) {
        path <- bench$fold_path(repetition, fold)
        terms <- path[seq_len(min(size + length(bench$forced), length(path)))]
      }
      design <- bench$design(sort(terms))
      condition <<- max(condition, design$condition)
      model <- trained_by_qr(bench$bare, design$x, design$penalty, seq_len(nrow(ids))[-rows])
      pred[rows, ] <- model$pred[rows, ]
    }
    pred
  })
  list(pred = each, condition = 10 * condition)
}

# The terms that a pursuit on some rows takes, in their order: those that are forced, then each time
# the one with the largest score.
followed_pursuit <- function(bench, rows) {
  problem <- bench$problem
  all <- cbind(bench$K, bench$z)
  x <- sqrt(problem$weights[rows]) * all[rows, , drop = FALSE]
  A <- crossprod(x)
  prototypes <- seq_len(bench$n)
  A[prototypes, prototypes] <- A[prototypes, prototypes] + bench$fit$lambda * bench$own
  others <- setdiff(seq_len(ncol(A)), prototypes)
  A[cbind(others, others)] <- A[cbind(others, others)] + covariate_ridge
  b <- crossprod(x, sqrt(problem$weights[rows]) * problem$y[rows, , drop = FALSE])
  system <- list(A = A, b = b, D = ncol(A), L = ncol(b), diagonal = diag(A))
  score <- step_score(list(method = "scdp", control = bench$fit$control))
  set <- bench$n + bench$forced
  steps <- max(bench$fit$path$size) + length(set)
  while (length(set) < steps) {
    beta <- solved_by_qr(system, set, b)
    rest <- knot_rest(system, list(components = set, beta = beta))
    values <- score(system, rowSums(rest^2), set)
    values[set] <- -Inf
    order <- order(-values)
    free <- Find(function(j) values[j] > -Inf && !is_spanned(system, set, j), order)
    if (!length(free)) break
    set <- c(set, free)
  }
  set
}

is_spanned <- function(system, set, j) {
  if (!length(set)) return(FALSE)
  across <- solved_by_qr(system, set, system$A[, j, drop = FALSE])
  system$A[j, j] - sum(across * system$A[set, j]) <= dependent_term * system$A[j, j]
}

# Claims -------------------------------------------------------------------------------------------

machine_error_claims <- function(bench) {
  path <- bench$fit$path
  columns <- intersect(c("training", if (bench$repeatable) c("criterion", "se", "error")),
                       names(path))
  lapply(columns, function(column) {
    rows <- which(!is.na(path[[column]]))
    claim_kind(kernel_claim_names[[column]], length(rows), function(i) {
      size <- path$size[rows[i]]
      own <- design_error(bench, size, column)
      new_claim(path[[column]][rows[i]], own$value, tolerance_of(own$condition),
                1e-3 * bench$rms^2, size = size, lambda = bench$fit$lambda)
    })
  })
}

machine_coefficient_claims <- function(bench) {
  fit <- bench$fit
  sizes <- model_sizes(fit)
  kind <- function(words, part, own_part, names, scale) {
    models <- lapply(fit$coefficients[sizes + 1L], `[[`, part)
    claims_of_each(words, lengths(models), function(at, cell) {
      values <- models[[at]]
      own <- bench$trained(sizes[at])
      new_claim(values[cell], own[[own_part]][cell], tolerance_of(own$condition),
                scale(own), size = sizes[at], lambda = fit$lambda,
                feature = names[(cell - 1) %% nrow(values) + 1])
    })
  }
  list(
    kind("coefficient", "beta", "beta", basis_names(fit$problem, fit$basis),
         function(own) 1e-3 * max(abs(own$beta))),
    kind("coefficient of a covariate", "covariates", "b", colnames(bench$problem$z),
         function(own) 1e-3 * max(abs(own$b), 1e-3 * bench$rms))
  )
}

machine_row_claims <- function(bench) {
  fit <- bench$fit
  of_rows <- function(words, values, predictions) {
    at <- which(!is.na(values))
    claim_kind(words, length(at), function(i) {
      own <- predictions()
      new_claim(values[at[i]], own$pred[at[i]], tolerance_of(own$condition), 1e-3 * bench$rms,
                size = fit$size, lambda = fit$lambda, row = arrayInd(at[i], dim(values))[1L])
    })
  }
  list(
    of_rows("fitted value", fit$fitted, function() bench$trained(fit$size)),
    if (bench$repeatable) of_rows("held-out prediction", fit$held_out, function() {
      out <- bench$held_out(fit$size)
      list(pred = mean_prediction(out$pred), condition = out$condition)
    })
  )
}
