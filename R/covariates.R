# Covariates: unpenalised columns of a problem, the intercept among them.

# list(z = m x q with the intercept first, design)
adjust_columns <- function(adjust, data, rows, intercept) {
  design <- adjust_design(adjust, data, intercept)
  none <- !is.null(design) && !length(design$names) && !NROW(design$columns)
  if (none) stop_input("`adjust` must have at least one column")
  if (inherits(adjust, "formula")) {
    z <- design_matrix(design, data, "data", environment(adjust))
  } else {
    z <- adjust_values(design, adjust, rows)
  }
  if (!is.null(design)) check_covariates(z, rows)
  list(z = with_intercept(z, rows, intercept), design = design)
}

# the form in which `adjust` was given: a design for a formula or frame, the names for a matrix
adjust_design <- function(adjust, data, intercept) {
  if (is.null(adjust)) return(NULL)
  if (inherits(adjust, "formula")) {
    if (length(adjust) != 2L) stop_input("the formula `adjust` must be one-sided, such as `~ age`")
    env <- environment(adjust)
    design <- formula_design(adjust[[2L]], env, data, names(data), intercept, "data")
    return(c(design, kind = "formula"))
  }
  if (is.data.frame(adjust)) return(c(frame_design(adjust, intercept, "adjust"), kind = "frame"))
  z <- adjust_matrix(adjust)
  check_names(colnames(z), "adjust")
  list(names = matrix_names(z), kind = "matrix")
}

adjust_matrix <- function(adjust) {
  if (!is.numeric(adjust) && !is.logical(adjust) || is.object(adjust)) {
    stop_input(sprintf("`adjust` must be numeric, a data frame or a one-sided formula, not %s",
                       describe(adjust)))
  }
  as.matrix(adjust) + 0
}

matrix_names <- function(z) {
  if (!is.null(colnames(z)) || !ncol(z)) return(colnames(z))
  if (ncol(z) == 1L) "adjust" else paste0("adjust", seq_len(ncol(z)))
}

# covariates from a matrix or a frame with the variables of the design
adjust_values <- function(design, adjust, rows) {
  if (is.null(design)) return(matrix(0, rows, 0L))
  if (design$kind != "matrix") return(design_matrix(design, adjust, "adjust"))
  z <- adjust_matrix(adjust)
  colnames(z) <- matrix_names(z)
  if (!all(design$names %in% colnames(z)) || anyDuplicated(colnames(z))) {
    stop_newdata("`adjust` must have the columns %s, each once", some_of(design$names, Inf))
  }
  z[, design$names, drop = FALSE]
}

check_covariates <- function(z, rows) {
  if (nrow(z) != rows) {
    stop_input(sprintf("`adjust` must have %d rows, one per observation, not %d", rows, nrow(z)))
  }
  bad <- which(rowSums(!is.finite(z)) > 0)
  if (length(bad)) {
    stop_input(sprintf("`adjust` has %s with missing or infinite values (first: row %d)",
                       counted(length(bad), "row"), bad[1L]))
  }
}

# Refuses covariates whose weighted sum of squares overflows.
check_covariate_squares <- function(z, weights) {
  large <- which(!is.finite(colSums(weights * z^2)))
  if (length(large)) {
    stop_input(sprintf("`adjust` has values too large to square (first: column '%s')",
                       colnames(z)[large[1L]]))
  }
}

with_intercept <- function(z, rows, intercept) {
  rownames(z) <- NULL
  if (!intercept) return(z)
  cbind("(Intercept)" = rep(1, rows), z)
}

# Compiled ----------------------------------------------------------------------------------------

# The problem with the values that its weights, covariates and queries determine: roots of the
# weights and the decomposed covariates. These are computed once for a training set and kept in it
# beside their inputs.
compile_rows <- function(problem) {
  if (is_compiled(problem)) return(problem)
  problem$compiled <- list(
    made_of = row_sources(problem), root_w = sqrt(problem$weights),
    covariates = covariate_parts(problem)
  )
  problem
}

row_sources <- function(problem) unclass(problem)[c("weights", "z", "query")]

# whether the weights, covariates and queries are still the values that the problem was compiled
# with
is_compiled <- function(problem) {
  !is.null(problem$compiled) && identical(problem$compiled$made_of, row_sources(problem))
}

# The decomposition sqrt(w) Z = Q R as list(basis, factor, aliased). `basis` is Q, m x q and
# orthonormal. `factor` is R. `aliased` are the covariates that are combinations of the others.
covariate_parts <- function(problem) {
  none <- character()
  if (!ncol(problem$z)) return(list(basis = problem$z, factor = matrix(0, 0L, 0L), aliased = none))
  weighted <- weighted_covariates(problem)
  if (ncol(weighted) == problem$intercept) {
    length <- sqrt(sum(problem$weights))
    return(list(basis = unname(weighted) / length, factor = matrix(length), aliased = none))
  }
  decomposed <- qr(weighted, tol = 1e-10)
  list(basis = qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE],
       factor = qr.R(decomposed), aliased = aliased_columns(decomposed, problem$z))
}

# the columns of z that its QR decomposition leaves out
aliased_columns <- function(decomposed, z) {
  colnames(z)[decomposed$pivot[seq_along(decomposed$pivot) > decomposed$rank]]
}

weighted_covariates <- function(problem) sqrt(problem$weights) * centred_covariates(problem)

# the decomposed covariates, where `strict` refuses dependent covariates
decomposed_covariates <- function(problem, strict = TRUE) {
  parts <- compile_rows(problem)$compiled$covariates
  if (strict) stop_aliased(parts$aliased, problem)
  parts
}

covariate_basis <- function(problem, strict = TRUE) decomposed_covariates(problem, strict)$basis

root_weights <- function(problem) compile_rows(problem)$compiled$root_w

# the number of trained rows less the degrees of freedom of the covariates or the means of queries
free_rows <- function(problem) {
  means <- length(unique(problem$query[problem$weights > 0]))
  trained_rows(problem) - ncol(problem$z) - means
}

stop_aliased <- function(aliased, problem, where = "") {
  if (!length(aliased)) return(invisible())
  stop_input(sprintf(
    "the covariates %s are not linearly independent%s: %s follow%s from the others",
    if (length(unpenalised(problem))) "(columns of `penalty` 0 among them)" else "in `adjust`",
    where, some_of(aliased), if (length(aliased) == 1L) "s" else ""
  ))
}

# A function of columns of x (m x any): their weighted least-squares coefficients on the covariates.
covariate_solver <- function(problem) {
  none <- function(x, columns = seq_len(ncol(x))) matrix(0, 0L, length(columns))
  if (!ncol(problem$z)) return(none)
  parts <- decomposed_covariates(problem)
  weighted <- root_weights(problem) * parts$basis
  function(x, columns = seq_len(ncol(x))) {
    used <- x[, columns, drop = FALSE]
    backsolve(parts$factor, as.matrix(Matrix::crossprod(weighted, used)))
  }
}
