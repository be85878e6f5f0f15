# Checks of the certificates of certify(): the errors of the best sets by training, and the bounds
# of all sets in extended precision.

#' @exportS3Method
checks_of.certificate <- function(fit, x, y, ..., data) { # nolint: object_name_linter.
  check_sealed(fit)
  if (!missing(x)) stop_argument("a certificate has its data: give verify() the certificate alone")
  source <- certified_source(fit$problem, fit$lambda, fit$given)
  problem <- regression_of_ranking(fit$problem)
  residual <- covariate_residual(problem)
  proofs <- fit$proofs
  error_kind <- check_kind("error of the best set", proofs$value, function(at, ...) {
    design <- column_design(problem, fit$columns[[at]])
    squares <- function(pred) sum(problem$rows$weight * (problem$rows$y - pred)^2)
    if (proofs$criterion[at] == "penalised") {
      model <- retrain_design(problem, design, fit$lambda, residual)
      return(list(value = squares(model$pred) + fit$lambda * sum(model$B^2),
                  condition = model$condition))
    }
    rows <- matrix(seq_len(nrow(problem)))
    held_out <- retrain_design_out(problem, design, fit$lambda, rows, residual)
    list(value = squares(held_out$pred[[1L]]) / squared_divisor(problem),
         condition = held_out$condition)
  }, proofs$size, fit$lambda)
  nodes <- sum(proofs$nodes)
  list(kinds = c(list(error_kind), if (fit$lambda > 0) bound_kinds(fit, source)), unchecked = c(
    if (nodes > 0) sprintf("the bounds of %s", counted_nodes(nodes)),
    if (fit$lambda == 0) "the bounds without a penalty"
  ))
}

# The bounds of the sizes, and how many columns they settle.
bound_kinds <- function(certificate, source) {
  proofs <- certificate$proofs
  roots <- certificate$roots
  size <- vapply(roots, `[[`, 0L, "k")
  again <- remembered(function(i) extended_root(source, roots[[i]]))
  bound <- vapply(roots, `[[`, 0, "bound")
  list(check_kind("no set is below the bound", bound, function(at, ...) {
    found <- again(at)$bound
    list(value = found, deviation = max(0, bound[at] - found) / source$total, tolerance = 1e-13)
  }, size, certificate$lambda),
  check_kind("columns settled by the bound", proofs$certain_in + proofs$certain_out,
             function(at, ...) {
    limit <- proofs$limit[at] - proof_margin(source) / 2
    settled <- lengths(screened_units(source, again(match(proofs$size[at], size)), limit))
    found <- settled[["inside"]] + settled[["outside"]]
    claimed <- proofs$certain_in[at] + proofs$certain_out[at]
    list(value = found, deviation = max(0, claimed - found))
  }, proofs$size, certificate$lambda))
}

# A root whose bound and gains are computed in extended precision, less their rounding.
extended_root <- function(source, root) {
  gain <- numeric(length(source$first))
  for (block in column_blocks(nrow(root$A), length(gain))) {
    part <- unit_part(source, block)
    of_columns <- .Call(C_certificate_gains, part$X, root$A)
    gain[block] <- rowsum(of_columns, part$of) * (1 + 1e-15)
  }
  root$gain <- gain
  taken <- c(gain[source$given], utils::head(sort(gain[source$free], decreasing = TRUE),
                                             root$k - length(source$given)))
  root$bound <- .Call(C_certificate_constant, root$A, source$y) - sum(taken) * (1 + 1e-15)
  root
}
