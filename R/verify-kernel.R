# The checks of kernel expansions and of fits of all columns, for verify().

#' @exportS3Method
claims_of.kernel_fit <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  problem <- kernel_data(fit, problem_of_fit(fit, x, y, ..., data = data))
  design <- if (is.null(fit$kernel)) narrow_design(column_design(problem, fit$features)) else
    kernel_design(fit, problem, fit$kernel)
  checker <- design_checker(fit, problem, design)
  lambda <- fit$path$lambda
  predicted <- function(at, column) checker$predicted(lambda[at], column)
  trained <- function(at) checker$trained(lambda[at])
  of_rows <- function(words, values, column) {
    row_kind(words, list(values), function(at) of_partitions(checker$predicted(fit$lambda, column)),
             checker$rms, lambda = fit$lambda)
  }
  list(kinds = c(
    error_kinds(fit$path, kernel_claims, predicted, problem, fit$folds, unit = checker$rms^2,
                size = NA),
    list(gamma_kind(c(fit$gamma, fit$path$gamma), c(fit$lambda, lambda))),
    coefficient_kinds(fit$coefficients, trained, lambda = lambda,
                      terms = if (!is.null(fit$kernel)) basis_names(fit$problem, fit$basis)),
    list(of_rows("fitted value", fit$fitted, "training"),
         of_rows("held-out prediction", fit$held_out, "criterion")),
    width_kinds(checker)
  ))
}

kernel_claims <- c(criterion = "mean squared error", se = "standard error",
                   error = "error rate", training = "mean squared error in sample")

gamma_kind <- function(gamma, lambda) {
  plain_kind("gamma, which is 1 / lambda", gamma, function(at) 1 / lambda[at])
}

# The data with the centre and scale that the kernel uses, which are computed from the data.
kernel_data <- function(fit, problem) {
  problem <- with_doubles(problem)
  problem <- regression_of_ranking(problem)
  if (!is.null(fit$kernel)) {
    problem$centre <- fit$problem$centre
    problem$scale <- fit$problem$scale
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
  if (shift$where == "kernel") {
    diagonal <- cbind(basis$rows, seq_along(basis$rows))
    K[diagonal] <- K[diagonal] + shift$value
  }
  list(x = K, gram = gram, owner = basis$rows, back = identity)
}

# Functions of lambda that store their retrained results: the model, and the predictions of each
# partition, or in sample for the column "training".
design_checker <- function(fit, problem, design) {
  rms <- response_rms(problem)
  trained <- remembered(function(lambda) {
    model <- retrain_design(problem, design, lambda)
    c(model, list(unit = list(beta = max(abs(model$beta)), covariates = covariate_units(problem))))
  })
  held_out <- remembered(function(lambda) {
    out <- retrain_design_out(problem, design, lambda, fit$folds$ids)
    # fits use the kernel matrix with lambda on its diagonal, which loses more digits than its root
    out$condition <- max(10 * out$condition, 1e5)
    out
  })
  list(fit = fit, problem = problem, rms = rms, trained = trained,
       predicted = function(lambda, column) {
         if (column != "training") return(held_out(lambda))
         model <- trained(lambda)
         list(pred = list(model$pred), condition = model$condition)
       })
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
    list(plain_kind("lambda of a kernel's width", lambda, function(at) {
      nearest(lambda[at], fit$path$lambda)
    }, lambda = NA)))
}
