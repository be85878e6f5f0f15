# Speed of kernel_rls() on n basis vectors and of its held-out errors: leave-one-out for a grid of
# lambda (the paper's Table 1) and ten folds with basis vectors removed, in multiples of one
# training, against the algorithm of Cawley and Talbot (2004) and retraining for every lambda; and
# on all rows, in multiples of one Cholesky solve, with R's BLAS and others.
#
#   Rscript bench/kernel-rls.R [basis] [m=5000] [n=500,...,2000] [lambdas=20] [folds_n=1000]
#                              [times=3] [out=bench/results]
#   Rscript bench/kernel-rls.R rows [rows=1000,2000,4000] [blas=FILE,...] [out=bench/results]
#
# About 20 minutes with the defaults, of which `rows` takes 3. A quick look: Rscript
# bench/kernel-rls.R m=1000 n=100,200 folds_n=200 rows=300,600 out=/tmp. Compare times of one run
# only: repetitions of the calls compared are interleaved, and medians of elapsed times (of `rows`
# CPU seconds, too) are reported.
#
# `rows` needs 1.5 GB for 4000 rows. It runs again with each library of `blas` loaded before R's
# own, such as that of Debian's libopenblas0-pthread, with one thread and with two.
#
# Sources: R/kernel-*.R R/data-kernel.R src/ridge*

library(sparsels)
source("bench/common.R")

parts <- c("basis", "rows")
line <- command_line(list(
  m = "5000", n = "500,1000,1500,2000", lambdas = "20", folds_n = "1000", times = "3",
  rows = "1000,2000,4000", blas = "", out = "bench/results"
))
given <- line$options
wanted <- if (length(line$words)) line$words else parts
stopifnot(wanted %in% c(parts, "here"))
m <- as.integer(given$m)
sizes <- numbers(given$n)
folds_n <- as.integer(given$folds_n)
times <- as.integer(given$times)
grid <- 2^(as.integer(given$lambdas) / 2 - seq_len(as.integer(given$lambdas)))
fold_grid <- 2^(-15:15)
kernel <- kernel_gaussian(1 / 20)

set.seed(1)
x <- matrix(rnorm(m * 20), m)
y <- sin(x[, 1]) + x[, 2] * x[, 3] / 2 + rnorm(m) / 2

# Sparse RLS in pieces ----------------------------------------------------------------------------

# The computations of kernel_rls() for one lambda without held-out errors: kernel columns,
# decomposition, model.
inside <- asNamespace("sparsels")
problem <- inside$kernel_problem(as_problem(x, y, intercept = FALSE, standardize = FALSE), kernel)

columns <- function(rows) {
  inside$kernel_columns(problem, kernel, inside$rows_basis(rows, problem, kernel))
}

training <- function(rows) {
  made <- inside$expansion(problem, kernel, inside$rows_basis(rows, problem, kernel), "auto")
  of_terms <- inside$covariate_solver(problem)(made$K)
  beta <- inside$term_weights(made$spectrum, 1)[[1L]]
  list(beta = beta,
       covariates = inside$covariate_solver(problem)(problem$rows$y) - of_terms %*% beta)
}

fit <- function(rows, lambda) {
  kernel_rls(x, y, kernel = kernel, basis = rows, lambda = lambda, intercept = FALSE,
             standardize = FALSE)
}

# Methods for comparison ------------------------------------------------------------------------

# K (m x n), the shifted kernel matrix of the basis and K'K, computed once for all lambdas.
matrices <- function(rows, shift) {
  K <- columns(rows)
  list(K = K, Kt = t(K), KBB = K[rows, ] + diag(shift, length(rows)))
}

# Leave-one-out of every lambda by Cawley and Talbot (2004), O(m n^2) for each, basis vectors kept:
# residual / (1 - leverage), the leverages from P = K'K + lambda KBB by a triangular solve.
cawley_talbot <- function(at, lambda) {
  G <- crossprod(at$K)
  products <- crossprod(at$K, y)
  vapply(lambda, function(l) {
    R <- chol(G + l * at$KBB)
    Z <- backsolve(R, at$Kt, transpose = TRUE)
    fitted <- crossprod(Z, backsolve(R, products, transpose = TRUE))
    mean(((y - fitted) / (1 - colSums(Z^2)))^2)
  }, 0)
}

# The dual weights of every lambda by a factorisation for each, without any held-out error.
train_again <- function(at, lambda) {
  G <- crossprod(at$K)
  products <- crossprod(at$K, y)
  vapply(lambda, function(l) solve_spd(G + l * at$KBB, products), products[, 1])
}

# Folds with basis vectors removed, retrained for each fold and lambda. K'K of a training set is
# that of all rows less that of the fold.
train_again_folds <- function(at, rows, ids, lambda) {
  G <- crossprod(at$K)
  squared <- vapply(unique(ids), function(fold) {
    held_out <- which(ids == fold)
    keep <- which(ids[rows] != fold)
    K <- at$K[held_out, ]
    G <- (G - crossprod(K))[keep, keep]
    KBB <- at$KBB[keep, keep]
    products <- crossprod(at$K[-held_out, keep], y[-held_out])
    weights <- vapply(lambda, function(l) solve_spd(G + l * KBB, products), products[, 1])
    colSums((y[held_out] - K[, keep] %*% weights)^2)
  }, numeric(length(lambda)))
  rowSums(squared) / m
}

solve_spd <- function(P, b) {
  R <- chol(P)
  backsolve(R, backsolve(R, b, transpose = TRUE))[, 1]
}

# Measure -----------------------------------------------------------------------------------------

off <- function(a, b) max(abs(a / b - 1))

# One column of the table, with `times` repetitions for a small basis and one for a large one; for a
# large basis the algorithm of Cawley and Talbot is run for two lambdas, and the time extrapolated
# to the grid.
measure <- function(n, rows) {
  small <- n <= folds_n
  repetitions <- if (small) times else 1L
  kept <- NULL
  ours <- interleaved(list(
    columns = function() columns(rows), train = function() training(rows),
    one = function() fit(rows, 1), grid = function() kept <<- fit(rows, grid)
  ), repetitions)
  loo <- interleaved(list(
    one = function() cv_error(kept, "loo", lambda = 1),
    grid = function() cv_error(kept, "loo", lambda = grid)
  ), times)
  at <- matrices(rows, kept$shift$value)
  theirs <- interleaved(list(
    one = function() cawley_talbot(at, 1), three = function() cawley_talbot(at, c(1, 2, 4))
  ), repetitions)
  each <- (theirs["three"] - theirs["one"]) / 2
  again <- interleaved(list(again = function() train_again(at, grid)), 1L)
  agree <- off(cv_error(kept, "loo", basis = "keep", lambda = c(0.01, 1))$criterion,
               cawley_talbot(at, c(0.01, 1)))
  message(sprintf("n = %d done", n))
  c(
    columns = ours[["columns"]], train = ours[["train"]], one = ours[["one"]],
    grid = ours[["grid"]], loo_one = loo[["one"]], loo_grid = loo[["grid"]],
    their_one = theirs[["one"]], their_grid = theirs[["one"]] + (length(grid) - 1) * each[[1]],
    again = again[["again"]], agree = agree
  )
}

# Ten folds with basis vectors removed, against one training and against retraining.
measure_folds <- function(rows) {
  at_one <- fit(rows, fold_grid)
  at_two <- at_one
  at_two$threads <- 2L
  folds <- make_folds(m, 10)
  with_one <- with_two <- NULL
  seconds <- interleaved(list(
    train = function() training(rows),
    one = function() with_one <<- cv_error(at_one, folds),
    two = function() with_two <<- cv_error(at_two, folds)
  ), times)
  at <- matrices(rows, at_one$shift$value)
  wanted <- NULL
  again <- interleaved(list(
    again = function() wanted <<- train_again_folds(at, rows, folds$ids[, 1], fold_grid)
  ), 1L)
  list(seconds = c(seconds, again), same = identical(with_one, with_two),
       agree = off(with_one$criterion, wanted))
}

row <- function(label, values, digits = 2) {
  cells <- paste(sprintf("%8.*f", digits, values), collapse = " ")
  say("%s", sprintf("%-52s %s", label, cells))
}

measure_basis <- function() {
  say("")
  say(paste0("kernel_rls(), m = %d rows of 20 columns, Gaussian kernel, basis vectors at ",
             "random, one thread."), m)
  say(paste0("Elapsed seconds: medians of %d interleaved runs up to n = %d, single runs ",
             "beyond (except"), times,
      folds_n)
  say(paste0("\"once trained\", always medians of %d); whole calls, checks of the input ",
             "included. Training includes"),
      times)
  say("the kernel columns; Cawley and Talbot and \"trained again\" are given them")
  bases <- lapply(sizes, function(n) sample.int(m, n))
  table <- mapply(measure, sizes, bases)

  long <- length(grid)
  say("")
  row("basis vectors n", sizes, 0)
  row("kernel columns", table["columns", ])
  row("one training", table["train", ])
  row("training and LOO, 1 lambda", table["one", ])
  row(sprintf("training and LOO, %d lambdas", long), table["grid", ])
  row("LOO once trained, 1 lambda", table["loo_one", ])
  row(sprintf("LOO once trained, %d lambdas", long), table["loo_grid", ])
  row("Cawley and Talbot: LOO, 1 lambda", table["their_one", ])
  row(sprintf("Cawley and Talbot: LOO, %d lambdas (*)", long), table["their_grid", ])
  row(sprintf("trained again for %d lambdas, no LOO", long), table["again", ])
  say("")
  say("as multiples of one training")
  row(sprintf("training and LOO, %d lambdas (goal: 1.3 or less)", long),
      table["grid", ] / table["train", ])
  row(sprintf("1 + LOO once trained, %d lambdas", long), 1 + table["loo_grid", ] / table["train", ])
  row(sprintf("Cawley and Talbot, %d lambdas", long), table["their_grid", ] / table["train", ])
  say("")
  row(sprintf("Cawley and Talbot / kernel_rls, 1 lambda"), table["their_one", ] / table["one", ])
  row(sprintf("Cawley and Talbot / kernel_rls, %d lambdas", long),
      table["their_grid", ] / table["grid", ])
  say("slope of one training by n on log-log axes, last two: %.2f (2 is quadratic)",
      diff(log(tail(table["train", ], 2))) / diff(log(tail(sizes, 2))))
  say(paste0("LOO errors with basis vectors kept agree with Cawley and Talbot's to %.1e ",
             "(kernel_rls() itself"),
      max(table["agree", ]))
  say("removes them, as their algorithm cannot)")
  say(paste0("(*) Three lambdas were run, the others are given the time of the last two. ",
             "K'K is made once for all"))
  say("    of them, which the paper's baseline does not do: it takes the row of 1 lambda for each.")

  basis <- if (folds_n %in% sizes) bases[[match(folds_n, sizes)]] else sample.int(m, folds_n)
  by_fold <- measure_folds(basis)
  seconds <- by_fold$seconds
  say("")
  say("ten folds with basis vectors removed, %d lambdas, n = %d; medians of %d", length(fold_grid),
      folds_n, times)
  say("%-52s %8s %8s", "", "seconds", "ratio")
  say("%-52s %8.2f", "one training", seconds["train"])
  say("%-52s %8.2f %8.2f   %s", "cv_error, one thread", seconds["one"],
      seconds["one"] / seconds["train"], "times one training (goal: 3 or less)")
  say("%-52s %8.2f %8.2f   %s", "cv_error, two threads", seconds["two"],
      seconds["one"] / seconds["two"], "times faster than one thread")
  say("%-52s %8.2f %8.2f   %s", "trained again for each fold and lambda (once)", seconds["again"],
      seconds["again"] / seconds["one"], "times the time of cv_error")
  say("errors agree with training again to %.1e; two threads identical: %s", by_fold$agree,
      by_fold$same)
  say(paste0("(training again is R with Cholesky and shares K'K over lambdas and, less the ",
             "fold, over folds)"))
}

# All rows ----------------------------------------------------------------------------------------

# CPU and elapsed seconds of a call, which is repeated until it has used a fifth of a second
both <- function(call) {
  gc()
  from <- proc.time()
  for (count in 1:1000) {
    call()
    used <- proc.time() - from
    if (sum(used[1:2]) > 0.2) break
  }
  c(sum(used[1:2]), used[[3]]) / count
}

# Training on all rows of kernel_rls(), one eigenvalue problem, with the leave-one-out errors of all
# lambdas, or of few by a factor for each, beside the dual weights of one lambda without errors.
measure_all_rows <- function(rows) {
  x <- x[rep_len(seq_len(m), rows), ] + rnorm(rows * 20) / 100
  y <- rep_len(y, rows)
  K <- kernel$values(x, x)
  plain <- function(..., intercept = FALSE) {
    kernel_rls(x, y, kernel = kernel, intercept = intercept, standardize = FALSE, ...)
  }
  calls <- list(
    fit = function() plain(),
    intercept = function() plain(intercept = TRUE),
    one = function() plain(lambda = 1),
    three = function() plain(lambda = c(0.5, 1, 2)),
    solve = function() solve_spd(K + diag(1, rows), cbind(y))
  )
  seconds <- replicate(if (rows <= 1000) times else 1, vapply(calls, both, c(0, 0)))
  message(sprintf("%d rows done", rows))
  apply(seconds, 1:2, median)
}

measure_here <- function() {
  rows <- numbers(given$rows)
  seconds <- vapply(rows, measure_all_rows, matrix(0, 2, 5))
  say("  %-50s %s", basename(extSoftVersion()["BLAS"]),
      if (nzchar(Sys.getenv("OPENBLAS_NUM_THREADS"))) {
        sprintf("OPENBLAS_NUM_THREADS=%s", Sys.getenv("OPENBLAS_NUM_THREADS"))
      } else {
        "as R has it"
      })
  row("  rows", rows, 0)
  for (clock in 1:2) {
    own <- matrix(seconds[clock, , ], 5)
    unit <- c("CPU seconds", "elapsed seconds")[clock]
    row(sprintf("  kernel_rls(), %d lambdas, LOO, %s", length(fold_grid), unit), own[1, ])
    row("  the same with an intercept", own[2, ])
    row("  three lambdas, LOO", own[4, ])
    row("  one lambda, LOO", own[3, ], 3)
    row("  one Cholesky solve", own[5, ], 3)
    row("  31 lambdas / one Cholesky solve", own[1, ] / own[5, ], 1)
    row("  one lambda / one Cholesky solve", own[3, ] / own[5, ], 1)
    # 31 lambdas = fixed + eigenvalue problem, and each lambda more of few costs (three - one) / 2
    row("  lambdas that take the time of the eigenvalue problem",
        1 + 2 * (own[1, ] - own[3, ]) / (own[4, ] - own[3, ]), 0)
  }
}

# Runs this script again with a BLAS loaded before R's own.
measure_with <- function(blas, threads) {
  settings <- c(sprintf("LD_PRELOAD=%s", shQuote(blas)),
                sprintf("OPENBLAS_NUM_THREADS=%d", threads),
                paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)))
  arguments <- c("bench/kernel-rls.R", "here", sprintf("rows=%s", given$rows),
                 sprintf("times=%d", times), sprintf("out=%s", given$out))
  for (text in system2(file.path(R.home("bin"), "Rscript"), arguments, stdout = TRUE,
                       env = settings)) say("%s", text)
}

measure_rows <- function() {
  heading("kernel_rls() on all rows, beside one Cholesky solve of K + I; medians of %d up to 1000",
          times)
  say("rows, single runs beyond")
  measure_here()
  for (blas in strsplit(given$blas, ",", fixed = TRUE)[[1]]) {
    for (threads in 1:2) measure_with(blas, threads)
  }
}

# Run ---------------------------------------------------------------------------------------------

run <- function(part) {
  lines <<- character()
  say("%s", machine_line())
  before <- load_average()
  switch(part, basis = measure_basis(), rows = measure_rows())
  say("")
  say("load average at start and end: %s and %s (this script makes 1; where it is higher,",
      before, load_average())
  say("something else was running, which spoils the times of two threads first)")
  name <- c(basis = "kernel-rls.txt", rows = "kernel-rls-rows.txt")[part]
  writeLines(lines, file.path(given$out, name))
}

if (identical(wanted, "here")) measure_here() else for (part in wanted) run(part)
