# Whether a change costs time: calls of every kind by two installed versions of the package, in
# turn, in new processes each time; the median ratio of a row and its quartiles.
#
#   Rscript bench/versions.R old=LIBRARY new=LIBRARY [times=15] [out=DIR] [words of the rows wanted]
#
# LIBRARY is a folder with sparsels installed: git worktree add /tmp/old REVISION, then
# R CMD INSTALL --library=LIBRARY /tmp/old.

source("bench/common.R")
line <- command_line(list(old = "", new = "", times = "15", out = "bench/results"))
given <- line$options
if (!nzchar(given$old) || !nzchar(given$new)) stop("give old= and new=, two libraries")

# What is measured: made once in each process, then called again and again.
rows <- alist(
  "greedy 5000 x 1000, k = 50" = greedy(dense, k = 50, size = "criterion", refit = FALSE),
  "the same, every candidate" = greedy(dense, k = 20, criterion = "absolute", size = "criterion"),
  "the same, ten folds" = greedy(small, k = 20, folds = 10, size = "criterion", refit = FALSE),
  "greedy, AUC in ten folds" = greedy(tall_classes, k = 2, folds = 10, criterion = "auc",
                                      size = "criterion", refit = FALSE),
  "greedy, AUC, leave-pair-out" = greedy(pairs, k = 2, criterion = "auc", size = "criterion",
                                         refit = FALSE),
  "greedy, zero-one error" = greedy(tall_classes, k = 20, criterion = "error", size = "criterion",
                                    refit = FALSE),
  "greedy, error of three classes" = greedy(three_classes, k = 20, criterion = "error",
                                            size = "criterion", refit = FALSE),
  "greedy, absolute in ten folds" = greedy(small, k = 20, folds = 10, criterion = "absolute",
                                           size = "criterion", refit = FALSE),
  "greedy, integers" = greedy(whole, k = 30, size = "criterion", refit = FALSE),
  "greedy, sparse" = greedy(sparse, k = 30, size = "criterion", refit = FALSE),
  "greedy, floating" = greedy(small, k = 20, search = "floating", size = "criterion"),
  "greedy, 100 x 5000, the default" = sparsels::greedy_rls(genes, k = 10),
  "greedy, 5000 x 100, the default" = sparsels::greedy_rls(tall),
  "greedy, 20 covariates, the default" = sparsels::greedy_rls(adjusted, k = 20),
  "lasso 1000 x 5000" = sparsels::l1_path(wide),
  "lasso, sparse" = sparsels::l1_path(sparse),
  "lasso, integers" = sparsels::l1_path(whole),
  "logistic 500 x 2000" = sparsels::l1_path(classes, loss = "logistic"),
  "logistic, sparse" = sparsels::l1_path(sparse_classes, loss = "logistic"),
  "hinge 200 x 1000" = sparsels::l1_path(few_classes, loss = "hinge"),
  "lasso, five folds" = sparsels::l1_path(few, folds = 5),
  "lasso, two folds" = sparsels::l1_path(few, folds = 2),
  "lasso, sparse, five folds" = sparsels::l1_path(sparse, folds = 5),
  "safe screening 1000 x 5000" = sparsels::safe_screen(wide, lambda = level),
  "cross-validation of greedy" = sparsels::cross_validate(few, sparsels::greedy_rls, k = 5,
                                                          outer = 3),
  "judging, 62 x 2000, a number" = sparsels::judge(patients, seed = 1, progress = FALSE),
  "judging, 62 x 2000, two classes" = sparsels::judge(two_patients, seed = 1, progress = FALSE),
  "best 6 of 30 columns, proven" = sparsels::best_subset(thirty, k = 6),
  "forward regression 1000 x 500" = sparsels::forward_regression(small, k = 30),
  "ridge regression 1000 x 500" = sparsels::rls(small),
  "kernel, 200 of 2000 rows" = sparsels::kernel_rls(surface, kernel = gaussian, basis = 1:200),
  "kernel, all of 500 rows" = sparsels::kernel_rls(surface[1:500, ], kernel = gaussian),
  "its error in ten other folds" = sparsels::cv_error(kernel_fit, folds_of_rows),
  "k-center basis of 50 rows" = sparsels::select_basis(surface, 50, "k_center",
                                                         kernel = gaussian),
  "scdp, order 500, 50 nonzeros" = sparsels::scdp(A = system, b = right_side, k = 50),
  "machine on prototypes, 300 rows" = sparsels::fs_lssvm(surface_classes, kernel = gaussian)
)

make_data <- function() {
  set.seed(1)
  normal <- function(m, n) matrix(stats::rnorm(m * n), m)
  signal <- function(x) {
    drop(as.matrix(x[, 1:8]) %*% c(3, -2, 2, -1, 1, 1, -1, 0.5)) + 3 * stats::rnorm(nrow(x))
  }
  problem <- function(x, y = signal(x)) sparsels::as_problem(x, y)
  two <- function(x) problem(x, factor(signal(x) > 0))
  three <- function(x) problem(x, cut(signal(x), c(-Inf, -2, 2, Inf), letters[1:3]))
  many_effects <- function(x) problem(x, drop(x %*% rep(1:0, c(20, 80))) + stats::rnorm(nrow(x)))
  zeros <- function(m, n) Matrix::rsparsematrix(m, n, 0.05)
  x <- matrix(stats::runif(4000, -3, 3), 2000)
  height <- sin(2 * x[, 1]) + x[, 2]^2 / 4 + 0.3 * stats::rnorm(2000)
  surface <- problem(x, height)
  wide <- problem(normal(1000, 5000))
  list(
    surface = surface, thirty = problem(normal(500, 30)),
    surface_classes = problem(x[1:300, ], factor(height[1:300] > 1)),
    gaussian = sparsels::kernel_gaussian(0.5), kernel_fit = sparsels::kernel_rls(
      surface, kernel = sparsels::kernel_gaussian(0.5), basis = 1:200
    ),
    folds_of_rows = sparsels::make_folds(2000, 10), level = 0.7 * sparsels::lambda_max(wide),
    system = crossprod(normal(600, 500)) + diag(200, 500), right_side = stats::rnorm(500),
    greedy = function(...) sparsels::greedy_rls(..., lambda = 1),
    dense = problem(normal(5000, 1000)), small = problem(normal(1000, 500)),
    whole = problem(matrix(sample.int(3L, 2e6, TRUE), 2000)), sparse = problem(zeros(3000, 2000)),
    genes = problem(normal(100, 5000)), wide = wide,
    adjusted = sparsels::as_problem(normal(20000, 60), stats::rnorm(20000),
                                    adjust = normal(20000, 20)),
    classes = two(normal(500, 2000)), sparse_classes = two(zeros(1000, 1000)),
    few_classes = two(normal(200, 1000)), tall_classes = two(normal(5000, 200)),
    patients = problem(normal(62, 2000)), two_patients = two(normal(62, 2000)),
    few = problem(normal(200, 1000)), pairs = two(normal(1000, 100)),
    three_classes = three(normal(5000, 200)), tall = many_effects(normal(5000, 100))
  )
}

worker <- function(library) {
  cluster <- parallel::makePSOCKcluster(1)
  parallel::clusterCall(cluster, function(library) .libPaths(c(library, .libPaths())), library)
  parallel::clusterCall(cluster, function(data) list2env(data(), globalenv()), make_data)
  cluster
}

# Calls that are not counted, of a second of processor time at least: R's heap grows in the first
# calls of a process.
warm_up <- function(code) {
  from <- proc.time()
  while (sum((proc.time() - from)[1:2]) < 1) eval(code, globalenv())
}

# Seconds of processor time of one call, the mean of calls over a tenth of a second at least. What
# earlier calls left is collected before.
time_call <- function(code) {
  gc()
  count <- 0
  from <- proc.time()
  repeat {
    eval(code, globalenv())
    count <- count + 1
    used <- sum((proc.time() - from)[1:2])
    if (used > 0.1) return(used / count)
  }
}

for (word in line$words) rows <- rows[grepl(word, names(rows))]
if (!length(rows)) stop("no row has all of the words ", paste(line$words, collapse = ", "))

# The ratios of all rows in two new processes: where things lie in memory differs from one process
# to the next, by more than what is looked for. The two versions take turns, of quick calls nine
# times, as the speed of a machine differs from one second to the next.
one_round <- function(round) {
  workers <- list(old = worker(given$old), new = worker(given$new))
  on.exit(for (cluster in workers) parallel::stopCluster(cluster))
  seconds <- function(which, code) parallel::clusterCall(workers[[which]], time_call, code)[[1]]
  order <- if (round %% 2) c("old", "new") else c("new", "old")
  vapply(rows, function(code) {
    for (one in order) parallel::clusterCall(workers[[one]], warm_up, code)
    turn <- function() vapply(order, seconds, 0, code)
    turns <- cbind(turn())
    if (max(turns) < 0.5) turns <- cbind(turns, replicate(8, turn()))
    one <- apply(turns, 1, stats::median)
    one[["new"]] / one[["old"]]
  }, 0)
}

ratio <- vapply(seq_len(as.integer(given$times)), one_round, numeric(length(rows)))
quartiles <- apply(matrix(ratio, length(rows)), 1, stats::quantile, c(0.5, 0.25, 0.75))
lines <- c(machine_line(), sprintf("CPU time, new over old: median and quartiles of %s pairs",
                                   given$times),
           sprintf("%-34s %.3f (%.3f to %.3f)", names(rows), quartiles[1, ], quartiles[2, ],
                   quartiles[3, ]))
writeLines(lines)
writeLines(lines, file.path(given$out, "versions.txt"))
