# Functions shared by greedy-rls.R and greedy-agree.R: the paper's Algorithm 3, compiled from
# reference.c, and the search of greedy_rls() without its checks, with and without bounds.

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

# The search alone. `skipping = "none"`: every candidate is evaluated at every step, O(kmn); TRUE: only
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
