# The arguments and the coefficients of a pursuit in C (src/pursuit.h), for systems and fixed-size
# machines.

# The arguments of a pursuit. `first` are components that are added first.
pursuit_control <- function(k, D, score, candidates, dependent, first = integer(),
                            lists = drawn_lists(D, candidates, k)) {
  # evaluated first, since it checks `candidates`
  force(lists)
  list(
    k = k, score = score, dependent = dependent,
    first = as.integer(first) - 1L, drawn = if (is.null(candidates)) 0L else as.integer(candidates),
    candidates = lists, threads = 1L, user_loss = NULL,
    progress = progress_bar(interactive(), "Pursuing")
  )
}

# A matrix of random components with a column for each step. It has enough rows that `candidates` of
# the components are outside the support.
drawn_lists <- function(D, candidates, k) {
  if (is.null(candidates)) return(matrix(0L, 0L, 0L))
  width <- min(D, check_count(candidates, "candidates") + as.double(k))
  matrix(vapply(seq_len(k), function(step) sample.int(D, width), integer(width)) - 1L, width)
}

# w_S for the first `size` components of a pursuit, size x L
leading_solution <- function(pursuit, size) {
  steps <- seq_len(size)
  if (!size) return(pursuit$z[steps, , drop = FALSE])
  backsolve(pursuit$factor[steps, steps, drop = FALSE], pursuit$z[steps, , drop = FALSE],
            upper.tri = FALSE, transpose = TRUE)
}
