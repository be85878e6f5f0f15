# Functions shared by greedy-rls.R, greedy-folds.R and greedy-agree.R: the paper's Algorithm 3,
# compiled from reference.c, the search of greedy_rls() without its checks, with and without bounds,
# data, and the comparison of two searches.

load_reference <- function() {
  home <- tempfile("reference")
  dir.create(home)
  file.copy("bench/reference.c", home)
  openmp <- "$(SHLIB_OPENMP_CFLAGS)"
  writeLines(paste(c("PKG_CFLAGS =", "PKG_LIBS ="), openmp), file.path(home, "Makevars"))
  back <- setwd(home)
  on.exit(setwd(back))
  said <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "reference.c"), stdout = TRUE,
                  stderr = TRUE)
  library_file <- file.path(home, paste0("reference", .Platform$dynlib.ext))
  if (!file.exists(library_file)) stop("cannot compile bench/reference.c:\n", said)
  dyn.load(library_file)
}

# list(S = features in the order chosen, e = sums of squared leave-one-out errors); of sums that
# differ by no more than the tolerance the lowest column's is taken
reference <- function(x, y, k, lambda = 1, tolerance = 0) {
  .Call("reference_greedy_rls", x, y, as.integer(k), lambda, tolerance)
}

# The control list that greedy_rls() makes from its arguments.
search_control <- function(problem, k, lambda = 1, threads = 1L, folds = "loo") {
  control <- sparsels:::path_control(problem, k, lambda, folds, "squared")
  c(control, list(search = "forward", keep = 0L, threads = threads, progress = FALSE))
}

# The search alone. `skipping = "none"`: every candidate is evaluated at every step; "bounds": only
# candidates not ruled out by their bounds; by default as in greedy_rls(), which does not use bounds
# on small data.
search_alone <- function(problem, control, ...) {
  sparsels:::greedy_path(problem, control, control$lambda, ...)
}

# greedy_rls() with every candidate evaluated.
evaluate_all <- function(x, y, k, ..., lambda = 1) {
  problem <- as_problem(x, y, ...)
  control <- search_control(problem, k, lambda)
  path <- search_alone(problem, control, skipping = "none")
  sparsels:::new_sparse_fit("greedy_rls", problem, path, control, NULL)
}

# The vector widths, in doubles, that this processor supports.
lane_widths <- function() {
  before <- sparsels:::use_simd(NULL)
  on.exit(sparsels:::use_simd(before))
  had <- vapply(c(1L, 2L, 4L, 8L), function(width) {
    sparsels:::use_simd(width)
    sparsels:::use_simd(NULL)
  }, 0L)
  unique(had)
}

# The value of a call made with vectors of `width` doubles.
with_simd <- function(width, call) {
  before <- sparsels:::use_simd(width)
  on.exit(sparsels:::use_simd(before))
  call()
}

# per cent of the candidates
evaluated <- function(work) 100 * work$evaluated / work$candidates

# Simulated data ----------------------------------------------------------------------------------

# Two normal distributions, one for each class, with different means of the first hundred features.
two_normals <- function(m, n) {
  y <- rep(c(-1, 1), length.out = m)
  x <- matrix(rnorm(m * n), m, n)
  for (j in seq_len(min(n, 100L))) x[, j] <- x[, j] + y * 0.3 / sqrt(j)
  list(x = x, y = y)
}

# Blocks of twenty columns correlated 0.8; ten of the columns, of ten blocks, make up the response.
gene_like <- function(m, n, noise, classes = FALSE) {
  blocks <- matrix(rnorm(m * ceiling(n / 20)), m)
  x <- matrix(rnorm(m * n, sd = sqrt(0.2)), m)
  x <- x + sqrt(0.8) * blocks[, rep(seq_len(ncol(blocks)), each = 20)[seq_len(n)]]
  y <- rowSums(x[, seq(1, n, length.out = 10)]) + noise * sqrt(10) * rnorm(m)
  as_problem(x, if (classes) factor(y > 0) else y)
}

# No signal, or none after a few steps. With fewer than 25000 values bounds are not used.
noise_only <- function(draw, m, n, ...) as_problem(matrix(draw(m * n), m), rnorm(m), ...)
heavy <- function(count) rt(count, 1.5)
rare <- function(count) as.double(rbinom(count, 1, 0.02))

# list(k, a function that makes the problem)
hostile_cases <- list(
  "Cauchy, 100 x 2000" = list(60, function() noise_only(rcauchy, 100, 2000)),
  "Cauchy, 1000 x 100" = list(90, function() noise_only(rcauchy, 1000, 100)),
  "Cauchy, 20000 x 64" = list(50, function() noise_only(rcauchy, 20000, 64)),
  "Cauchy, 20000 x 200" = list(50, function() noise_only(rcauchy, 20000, 200)),
  "t, 1.5 df, 200 x 5000" = list(100, function() noise_only(heavy, 200, 5000)),
  "t, 1.5 df, as it is" = list(100, function() {
    noise_only(heavy, 200, 5000, standardize = FALSE, intercept = FALSE)
  }),
  "normal, 100 x 2000" = list(90, function() noise_only(rnorm, 100, 2000)),
  "normal, 1000 x 100" = list(90, function() noise_only(rnorm, 1000, 100)),
  "normal, 20000 x 64" = list(50, function() noise_only(rnorm, 20000, 64)),
  "0/1, few 1, 300 x 2000" = list(100, function() noise_only(rare, 300, 2000)),
  "normal, 50 x 64" = list(40, function() noise_only(rnorm, 50, 64))
)

# Data sets of a directory ------------------------------------------------------------------------

# list(x, y, available: rows of the file). From a large data set rows are drawn, so that rows x
# columns x responses is at most `most_values` (but at least 200 rows). y is used as it is; three to
# twenty consecutive whole numbers are classes. If y is constant or missing, the column of X with
# the most nonzeros is used instead.
read_data <- function(directory, name, most_values) {
  data <- readRDS(file.path(directory, paste0(name, ".rds")))
  x <- data$X
  y <- data$y
  if (length(unique(c(y))) < 2L) {
    word <- which.max(Matrix::colSums(x != 0))
    y <- x[, word]
    x <- x[, -word, drop = FALSE]
  }
  if (NCOL(y) == 1L && numbers_are_classes(y)) y <- factor(y)
  colnames(x) <- NULL
  draw <- drawn_rows(nrow(x), most_values / (ncol(x) * outputs_of(y)))
  list(x = x[draw, , drop = FALSE], y = if (is.matrix(y)) y[draw, ] else y[draw],
       available = nrow(x))
}

numbers_are_classes <- function(y) {
  values <- sort(unique(y))
  is.numeric(y) && length(values) >= 3L && length(values) <= 20L && all(diff(values) == 1)
}

outputs_of <- function(y) {
  if (is.numeric(y)) return(NCOL(y))
  classes <- length(unique(y))
  if (classes == 2L) 1L else classes
}

drawn_rows <- function(m, rows) {
  rows <- max(200, floor(rows))
  if (rows >= m) return(seq_len(m))
  set.seed(1)
  sort(sample.int(m, rows))
}

# Comparisons -------------------------------------------------------------------------------------

# Selections differ by a tie where the errors of the two columns agree to this relative difference.
tie <- 1e-10

trace_of <- function(path) {
  list(feature = path$path$feature[-1], error = path$path$criterion[-1])
}

# Compares two paths: equal selections, or the first difference; and the largest relative difference
# of the errors of equal models.
compare <- function(one, other) {
  steps <- min(length(one$feature), length(other$feature))
  first <- which(one$feature[seq_len(steps)] != other$feature[seq_len(steps)])[1]
  gap <- abs(one$error[seq_len(steps)] / other$error[seq_len(steps)] - 1)
  alike <- seq_len(if (is.na(first)) steps else first - 1L)
  same <- "FALSE"
  if (is.na(first) && length(one$feature) == length(other$feature)) same <- "TRUE"
  if (!is.na(first) && gap[first] <= tie) same <- "tie"
  list(same = same, step = first, off = max(0, gap[alike]), gap = gap[first])
}

# What note() and disagree() found, to be printed at the end.
disagreements <- character()
disagree <- function(...) disagreements <<- c(disagreements, paste0(...))

note <- function(where, one, other, result) {
  if (result$same == "TRUE") return(invisible())
  step <- result$step
  if (is.na(step)) {
    return(disagree(where, ": ", length(one$feature), " steps against ", length(other$feature)))
  }
  disagree(where, sprintf(
    ": step %d: column %d, error %.12g, against column %d, error %.12g (%.1e apart)%s", step,
    one$feature[step], one$error[step], other$feature[step], other$error[step], result$gap,
    if (result$same == "tie") ", a tie" else ""
  ))
}

worst <- function(same) {
  for (one in c("FALSE", "tie")) if (one %in% same) return(one)
  "TRUE"
}

slashes <- function(values) paste(values, collapse = "/")

say_disagreements <- function() {
  if (length(disagreements)) {
    say("where selections or bits differ:")
    for (one in disagreements) say("%s", one)
  } else {
    say("no selection and no bit differs")
  }
}
