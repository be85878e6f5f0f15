# Proofs that no other set of columns has a smaller error, which certify(), alternatives() and
# best_subset() share.
#
# In working coordinates, each column divided by the root of lambda, a set S has the penalised error
# F(S) = tr Y'(I + X_S X_S')^-1 Y. For every A (m x L)
#   F(S) >= 2 <A, Y> - |A|^2 - sum of the gains of S, the gain of a unit being |X_u'A|^2,
# and the largest gains bound all sets of a size at once. A unit is a column, or the columns of a
# group that move together. Units are numbered here from 1.

# What the proofs about a problem at one lambda read. `given` are columns of every set. The other
# units are `free`.
proof_source <- function(problem, lambda, given = integer(), cluster = NULL) {
  terms <- terms_in_place(problem)
  y <- working_response(problem)
  of <- units_of(problem, terms$columns)
  first <- unique(of)
  source <- list(
    problem = problem, lambda = lambda, terms = terms, y = y, total = sum(y^2),
    of = match(of, first), first = first, given = match(distinct_units(problem, given), first),
    leverage = rowSums(fold_basis(problem)^2), cluster = cluster, state = new_state()
  )
  source$norm <- sqrt(rowsum(terms$diagonal, source$of)[, 1L] / lambda)
  source$free <- setdiff(seq_along(first), source$given)
  if (length(source$given)) {
    # columns of every set change the metric of the rows: F(I and S) is
    # tr (T Y)'(I + T X_S X_S' T)^-1 (T Y) with T = (I + X_I X_I')^(-1/2), which multiplies the
    # directions u by `shrink`
    parts <- svd(unit_part(source, source$given)$X, nv = 0L)
    source$lift <- list(u = parts$u, shrink = 1 / sqrt(1 + parts$d^2))
  }
  source
}

# The number of columns read, and whether Ctrl-C has stopped a tree.
new_state <- function() list2env(list(columns = 0, stopped = FALSE), parent = emptyenv())

# The same with a diagonal D taken out of Q = X'X + lambda I, for fewer columns than rows, and
# without a penalty, too: R = Q - D is semidefinite, and columns whose products are
# D^(-1/2) R D^(-1/2) have the same error in every set. NULL where the columns are dependent.
extracted_source <- function(problem, lambda) {
  terms <- gram_terms(problem, whole = TRUE)
  Q <- terms$whole + diag(lambda, length(terms$columns))
  D <- extracted_diagonal(Q)
  if (is.null(D)) return(NULL)
  root <- sqrt(D)
  units <- seq_along(D)
  list(problem = problem, lambda = lambda, total = terms$total, first = terms$columns, of = units,
       given = integer(), free = units, state = new_state(),
       whole = (Q - diag(D, length(D))) / outer(root, root), b = terms$b / root)
}

extracted_columns <- 2000L

# What the other columns must leave of a column's sum of squares.
nearly_dependent <- 1e-8

# The largest multiple of 1 / diag(Q^-1) that leaves Q - D semidefinite, proved by a Cholesky
# factor.
extracted_diagonal <- function(Q) {
  factor <- tryCatch(chol(Q), error = function(e) NULL)
  if (is.null(factor)) return(NULL)
  inverse <- chol2inv(factor)
  weight <- 1 / diag(inverse)
  if (any(weight < nearly_dependent * diag(Q))) return(NULL)
  largest <- max(eigen(sqrt(outer(weight, weight)) * inverse, TRUE, only.values = TRUE)$values)
  rounding <- 4 * (nrow(Q) + 1) * 1.1e-16 * sum(diag(Q))
  for (share in c(0.9999, 0.999, 0.99, 0.9)) {
    D <- share * weight / largest
    rest <- Q - diag(D + rounding, nrow(Q))
    if (min(D) > 0 && !is.null(tryCatch(chol(rest), error = function(e) NULL))) return(D)
  }
  NULL
}

# The columns of some units, in the order of the units: list(X, start, of), where unit u has the
# columns from start[u] + 1 on, and `of` is the unit of each column.
unit_part <- function(source, units) {
  of <- match(source$of, units)
  at <- order(of, na.last = NA)
  columns <- source$terms$columns[at]
  list(X = working_matrix(source$problem, columns) / sqrt(source$lambda), of = of[at],
       start = c(0L, cumsum(tabulate(of[at], length(units)))))
}

# The gains of some units (units x matrices) for several matrices A (m x L), in one pass over their
# columns.
unit_gains <- function(source, matrices, units = seq_along(source$first)) {
  at <- which(source$of %in% units)
  source$state$columns <- source$state$columns + length(at)
  blocks <- list(at)
  if (!is.null(source$cluster) || is_file_matrix(source$terms$x)) {
    blocks <- lapply(column_blocks(nrow(source$y), length(at), 4e6), function(block) at[block])
  }
  A <- do.call(cbind, matrices)
  terms <- source$terms
  squares <- each_block(list(blocks = blocks, cluster = source$cluster), function(block) {
    if (length(block) < length(source$of)) {
      terms[c("x", "columns", "scale")] <- list(terms$x[, terms$columns[block], drop = FALSE],
                                                seq_along(block), terms$scale[block])
    }
    cross_columns(terms, A)^2
  })
  matrix_of <- rep(seq_along(matrices), each = ncol(source$y))
  of_columns <- do.call(rbind, squares) %*% (outer(matrix_of, seq_along(matrices), "==") + 0)
  unname(rowsum(of_columns, source$of[at])) / source$lambda
}

# The lower bound of the penalised errors of all sets of `k` units.
dual_bound <- function(source, A, gain, k) {
  given <- source$given
  largest <- utils::head(sort(gain[source$free], decreasing = TRUE), k - length(given))
  2 * sum(A * source$y) - sum(A^2) - sum(gain[given]) - sum(largest)
}

lifted <- function(source, values) {
  lift <- source$lift
  if (is.null(lift)) return(values)
  values - lift$u %*% ((1 - lift$shrink) * crossprod(lift$u, values))
}

# Sets --------------------------------------------------------------------------------------------

# The numbers of the units of some columns.
set_units <- function(source, columns) match(distinct_units(source$problem, columns), source$first)

# list(penalised, squared: the sum of squared leave-one-out residuals, A: the residuals) of a set.
set_errors <- function(source, units) {
  if (!is.null(source$whole)) {
    factor <- chol(source$whole[units, units, drop = FALSE] + diag(1, length(units)))
    effect <- backsolve(factor, source$b[units, , drop = FALSE], transpose = TRUE)
    return(list(penalised = source$total - sum(effect^2)))
  }
  X <- unit_part(source, units)$X
  s <- ncol(X)
  basis <- qr.Q(qr(rbind(X, diag(1, s)), tol = 0))[seq_len(nrow(X)), , drop = FALSE]
  effect <- crossprod(basis, source$y)
  A <- source$y - basis %*% effect
  list(penalised = source$total - sum(effect^2), A = A,
       squared = sum((A / (1 - source$leverage - rowSums(basis^2)))^2))
}

# The root ----------------------------------------------------------------------------------------

# The largest lower bound of each size: list(k, bound, A, gain). The dual is maximised over some
# active units. Units with too large a gain join them until there is none, all sizes sharing each
# pass over x. `sets` has a known set of each size.
proof_roots <- function(source, sizes, sets) {
  if (!is.null(source$whole)) return(lapply(sizes, whole_root, source = source))
  # the bounds by the residuals of the known sets
  A <- lapply(sets, function(set) set_errors(source, set)$A)
  gain <- unit_gains(source, A)
  roots <- Map(function(k, set, A, i) {
    share <- replace(numeric(length(source$first)), set, 1)
    raised(source, list(k = k, bound = -Inf, share = share), A, gain[, i])
  }, sizes, sets, A, seq_along(A))
  # the units of the known sets, those with the largest gains, and with the largest products with Y
  largest <- function(values, count) {
    source$free[utils::head(order(values[source$free], decreasing = TRUE), count)]
  }
  products <- rowsum(rowSums(source$terms$b^2), source$of)
  by_gain <- lapply(roots, function(root) largest(root$gain, 200L))
  active <- intersect(unique(c(unlist(sets), unlist(by_gain), largest(products, 50L))), source$free)
  open <- which(sizes > length(source$given))
  while (length(open)) {
    part <- unit_part(source, active)
    solved <- lapply(roots[open], solved_root, source = source, part = part, active = active)
    gain <- priced(source, roots[open], solved, active)
    # units that are not active although their gain is above the least in the support
    waiting <- setdiff(source$free, active)
    joining <- unlist(Map(function(one, gain) {
      above <- waiting[gain[waiting] > one$least]
      utils::head(above[order(gain[above], decreasing = TRUE)], 150L)
    }, solved, gain))
    roots[open] <- Map(raised, list(source), roots[open], lapply(solved, `[[`, "A"), gain)
    for (i in seq_along(open)) roots[[open[i]]]$share[active] <- solved[[i]]$share
    gap <- mapply(function(one, root) one$value - root$bound, solved, roots[open])
    open <- open[gap > 1e-9 * source$total]
    if (!length(joining)) break
    active <- c(active, unique(joining))
  }
  roots
}

# The gains of all units at each solution, by one pass over the units that matter: a unit whose gain
# cannot exceed the smallest gain in the support of any size keeps an upper bound of its gain.
priced <- function(source, roots, solved, active) {
  upper <- Map(function(root, one) {
    drift <- sqrt(sum((one$A - root$A)^2))
    gain <- ((sqrt(root$gain) + source$norm * drift) * (1 + 1e-12))^2
    replace(gain, active, one$gain)
  }, roots, solved)
  matters <- Map(function(gain, one) which(gain >= one$least), upper, solved)
  units <- sort(setdiff(unlist(matters), active))
  if (!length(units)) return(upper)
  gain <- unit_gains(source, lapply(solved, `[[`, "A"), units)
  lapply(seq_along(upper), function(i) replace(upper[[i]], units, gain[, i]))
}

# The root of one size where X'X is whole, which needs no passes over x.
whole_root <- function(k, source) {
  terms <- part_terms(source, source$free)
  solved <- dual_of(terms, terms$start, k, NULL, source$total)
  gain <- replace(numeric(length(source$first)), source$free, solved$gain)
  list(k = k, bound = solved$bound, gain = gain)
}

# A root with the bound by A, if that is larger than its own.
raised <- function(source, root, A, gain) {
  bound <- dual_bound(source, A, gain, root$k)
  if (bound > root$bound) root[c("bound", "A", "gain")] <- list(bound, A, gain)
  root
}

# The dual over the units of a part: list(value, share, A, gain, least: the smallest gain in the
# support, at most the gain of the last unit that counts).
solved_root <- function(root, source, part, active) {
  X <- lifted(source, part$X)
  y <- lifted(source, source$y)
  found <- dual_of(proof_terms(X, y), part$start, root$k - length(source$given),
                   root$share[active], source$total)
  A <- lifted(source, y - X %*% matrix(found$beta, ncol(X)))
  gain <- rowsum(rowSums(crossprod(part$X, A)^2), part$of)[, 1L]
  k <- root$k - length(source$given)
  least <- min(gain[found$share > 0], sort(gain, decreasing = TRUE)[k], na.rm = TRUE)
  list(value = found$value, share = found$share, A = A, gain = gain, least = least)
}

dual_of <- function(terms, start, k, share, total) {
  uninterrupted(.Call(C_subset_dual, terms, list(
    k = k, unit = start, share = share, tolerance = 1e-10 * total, max_iterations = 500L,
    threads = 1L, user_loss = NULL, progress = NULL
  )))
}

# The columns of a proof as src/gram.c reads them.
proof_terms <- function(X, y) {
  list(m = nrow(X), total = sum(y^2), diagonal = colSums(X^2), b = crossprod(X, y), X = X,
       whole = if (ncol(X) <= 1000L) crossprod(X))
}

# The units of a tree and their terms.
tree_part <- function(source, screened) {
  units <- c(source$given, screened$inside, screened$open)
  list(units = units, terms = part_terms(source, units))
}

# The terms of some units, with their `start`.
part_terms <- function(source, units) {
  if (is.null(source$whole)) {
    part <- unit_part(source, units)
    return(c(proof_terms(part$X, source$y), list(start = part$start)))
  }
  whole <- source$whole[units, units, drop = FALSE]
  list(m = 1L, total = source$total, diagonal = diag(whole), b = source$b[units, , drop = FALSE],
       X = NULL, whole = whole, start = c(0L, seq_along(units)))
}

# Units that are in all sets with a penalised error below a limit, and those that are in none.
screened_units <- function(source, root, limit) {
  free <- source$free
  k <- min(root$k - length(source$given), length(free))
  limit <- limit + proof_margin(source)
  gain <- root$gain[free]
  sorted <- c(Inf, sort(gain, decreasing = TRUE), -Inf)
  last <- sorted[k + 1L]
  following <- sorted[k + 2L]
  inside <- gain > following & root$bound + gain - following > limit
  outside <- gain < last & root$bound + last - gain > limit
  list(inside = free[inside], outside = free[outside], open = free[!inside & !outside])
}

# Errors that differ by less than this may differ by rounding.
proof_margin <- function(source) 1e-12 * source$total

# The tree ----------------------------------------------------------------------------------------

# The largest number of nodes of a tree, where the user gives none.
default_tree <- 20000

check_nodes <- function(nodes) {
  if (is.null(nodes)) return(default_tree)
  refuse_unless(is_number(nodes) && nodes >= 1, "nodes", "a number of at least 1", nodes)
  as.double(nodes)
}

# Branch and bound over the open units of a screened size: list(set, value, bound, nodes, status,
# ...), with sets in units. `task` is "penalised" or "squared", the error that is minimised below
# `cutoff`, or "list" for all sets with a penalised error of at most `cutoff`.
search_sets <- function(source, task, k, screened, cutoff, set = integer(), nodes = default_tree,
                        kept = 0L, progress = NULL, part = tree_part(source, screened)) {
  terms <- part$terms
  units <- part$units
  # after Ctrl-C the bound before the tree is enough
  if (source$state$stopped) nodes <- 1
  if (task == "squared") terms[c("Y", "h")] <- list(source$y, source$leverage)
  set <- if (all(set %in% units)) match(set, units) - 1L else integer()
  answer <- .Call(C_subset_tree, terms, list(
    task = match(task, c("penalised", "squared", "list")) - 1L, k = k, unit = terms$start,
    given = match(c(source$given, screened$inside), units) - 1L, set = set, cutoff = cutoff,
    first = 0L, nodes = as.double(nodes), kept = as.integer(kept), threads = 1L, user_loss = NULL,
    progress = progress
  ))
  if (answer$status == "interrupted") source$state$stopped <- TRUE
  answer$set <- if (answer$size > 0L) units[answer$set + 1L] else integer()
  answer$trace <- matrix(answer$trace, 3L)[, seq_len(answer$traced), drop = FALSE]
  listed <- seq_len(answer$listed)
  answer$sets <- matrix(units[answer$sets + 1L], k)[, listed, drop = FALSE]
  answer$values <- answer$values[listed]
  answer
}

# The largest number of sets that are listed.
listed_sets <- 1000L

# whether every set is in the list
is_listed <- function(found) found$status == "complete" && found$count == ncol(found$sets)

# The proof of one size by one criterion, whose value for the set of the fit is `own`. The search
# begins with the best of some `known` sets.
proof_of <- function(source, root, criterion, own, known, nodes, progress) {
  # the first one after exchanges for units with large gains, as the first node of a tree makes them
  first <- known[[1L]]
  largest <- order(root$gain[source$free], decreasing = TRUE)
  open <- setdiff(union(first, source$free[utils::head(largest, 200L)]), source$given)
  found <- search_sets(source, "penalised", root$k, list(open = open), Inf, first, nodes = 1)
  known <- unique(c(known, list(if (length(found$set)) found$set else first)))
  values <- vapply(known, function(set) set_errors(source, set)[[criterion]], 0)
  set <- known[[which.min(values)]]
  value <- min(values)
  # F(S)^2 / `squares` is at most the leave-one-out error of S
  squares <- sum(((1 - source$leverage) * source$y)^2)
  limit <- if (criterion == "squared") sqrt(value * squares) else value
  screened <- screened_units(source, root, limit)
  found <- search_sets(source, criterion, root$k, screened, value, set, nodes, progress = progress)
  if (length(found$set) && found$value < value) {
    set <- found$set
    value <- found$value
  }
  proved <- found$status == "complete"
  at_root <- if (criterion == "squared") max(0, root$bound)^2 / squares else root$bound
  found$trace[2L, ] <- pmax(found$trace[2L, ], at_root)
  list(size = root$k, criterion = criterion, value = value, own = own, limit = limit, set = set,
       bound = if (proved) value else max(found$bound, at_root), proved = proved,
       nodes = found$nodes, better = value < own - max(found$margin, proof_margin(source)),
       screened = lengths(screened), trace = found$trace, status = found$status)
}

# A row for each proof.
proof_table <- function(proofs) {
  of <- function(name, type) vapply(proofs, `[[`, type, name)
  units <- matrix(unlist(lapply(proofs, `[[`, "screened")), 3L)
  list2DF(list(
    size = of("size", 0L), criterion = of("criterion", ""), own = of("own", 0),
    value = of("value", 0), bound = of("bound", 0), proved = of("proved", NA),
    nodes = of("nodes", 0), better = of("better", NA), certain_in = units[1L, ],
    certain_out = units[2L, ], undecided = units[3L, ], limit = of("limit", 0)
  ))
}

proof_status <- function(proofs) {
  status <- vapply(proofs, `[[`, "", "status")
  if ("interrupted" %in% status) return("interrupted")
  if ("move_limit" %in% status) "node_limit" else "complete"
}
