# The arguments and the coefficients of a pursuit in C (src/pursuit.h), for systems and fixed-size
# machines.

scdp_scores <- c("residual", "normalised", "ols")

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

# The largest number of components to choose: k, or the default, of those `available`, in words.
largest_size <- function(k, available, default, words) {
  if (is.null(k)) min(available, default) else check_count(k, "k", available, words)
}

# A matrix of random components with a column for each step. It has enough rows that `candidates` of
# the components are outside the support.
drawn_lists <- function(D, candidates, k) {
  if (is.null(candidates)) return(matrix(0L, 0L, 0L))
  width <- min(D, check_count(candidates, "candidates") + as.double(k))
  matrix(vapply(seq_len(k), function(step) sample.int(D, width), integer(width)) - 1L, width)
}

# Pursuit number g of an answer from C: its size, the chosen components, L of A_SS = LL' and
# z = L^-1 b_S. At most k components were chosen.
read_pursuit <- function(answer, k, g = 1L) {
  size <- answer$size[g]
  steps <- seq_len(size)
  of_pursuit <- function(values) {
    columns <- length(values) / (k * length(answer$size))
    matrix(values, k)[steps, (g - 1L) * columns + seq_len(columns), drop = FALSE]
  }
  list(size = size, chosen = of_pursuit(answer$chosen)[, 1L] + 1L,
       factor = of_pursuit(answer$factor)[, steps, drop = FALSE], z = of_pursuit(answer$z))
}

# w_S for the first `size` components of a pursuit, size x L
leading_solution <- function(pursuit, size) {
  steps <- seq_len(size)
  if (!size) return(pursuit$z[steps, , drop = FALSE])
  backsolve(pursuit$factor[steps, steps, drop = FALSE], pursuit$z[steps, , drop = FALSE],
            upper.tri = FALSE, transpose = TRUE)
}
