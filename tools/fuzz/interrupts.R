# Ctrl-C at random times: a call must end in an interrupt or keep what is done with a warning of
# class "sparsels_interrupted", and the next call must give what it always does.
#   Rscript tools/fuzz/interrupts.R [hits] [seed]    100 hits, unless told
library(sparsels)

told <- as.numeric(commandArgs(TRUE))
hits <- if (length(told) > 0L) told[1L] else 100
seed <- if (length(told) > 1L) told[2L] else 1

set.seed(seed)
x <- matrix(rnorm(300 * 400), 300)
y <- x[, 1] - x[, 2] + rnorm(300)
pb <- as_problem(x, y)
small <- pb[, 1:40]
A <- crossprod(x[, 1:200]) + diag(200)
kernel <- kernel_gaussian(1 / 400)

calls <- list(
  greedy_rls = function() greedy_rls(pb, k = 30)$path,
  bare = function() greedy_rls(pb, k = 200, lambda = 1, size = "criterion", folds = 5)$path,
  backward = function() greedy_rls(pb, k = 5, lambda = 1, size = 5, search = "backward")$path,
  full = function() greedy_rls(pb, k = 3, lambda = "full", size = "criterion")$path,
  l1_path = function() l1_path(pb, folds = 5)$path,
  poss = function() poss(small, k = 5, iterations = 2e5)$archive,
  best_subset = function() best_subset(small, k = 6)$path,
  foba = function() foba(pb, k = 30, size = "cv")$path,
  rls = function() rls(pb)$path,
  kernel_rls = function() kernel_rls(pb, kernel = kernel_gaussian(2^(-10:-7)), basis = 100)$path,
  fs_lssvm = function() fs_lssvm(x, y, kernel = kernel, gamma = 1, k = 60, prototypes = 150)$path,
  tune_lssvm = function() tune_lssvm(x[, 1:5], y, budget = 20)$table,
  scdp = function() scdp(A, A[, 1] + A[, 5], k = 150)$path,
  cross_validate = function() cross_validate(pb, omp, k = 5, outer = 5)$curves,
  compare_methods = function() compare_methods(small, k = 3, splits = 20)$scores,
  select_basis = function() select_basis(pb, 20, method = "greedy", kernel = kernel),
  centres = function() select_basis(pb, 60, method = "loo", folds = 5, kernel = kernel)
)

repeated <- function(call) {
  set.seed(seed)
  call()
}

# the time it takes, and what it gives
usual <- lapply(calls, function(call) {
  time <- system.time(value <- repeated(call))[["elapsed"]]
  list(value = value, time = time)
})

send_after <- function(seconds) {
  system(sprintf("(sleep %.3f; kill -INT %d) &", seconds, Sys.getpid()))
}

# how one call ends that is interrupted after a while; the signal may come when it is over
hit <- function(name) {
  how <- "late"
  tryCatch({
    send_after(stats::runif(1L, 0, 0.9 * usual[[name]]$time))
    withCallingHandlers(repeated(calls[[name]]), warning = function(condition) {
      if (inherits(condition, "sparsels_interrupted")) how <<- "kept"
      invokeRestart("muffleWarning")
    })
    if (how == "late") Sys.sleep(usual[[name]]$time + 5)
  }, interrupt = function(condition) if (how == "late") how <<- "interrupt",
  error = function(condition) how <<- paste("error:", conditionMessage(condition)))
  how
}

ends <- list()
wrong <- 0L
drawn <- 0L
set.seed(seed)
order <- sample(rep_len(names(calls), 10L * hits))
started <- proc.time()[["elapsed"]]
while (sum(lengths(lapply(ends, grep, pattern = "late", invert = TRUE))) < hits) {
  drawn <- drawn + 1L
  name <- order[drawn]
  set.seed(seed + drawn)
  ends[[name]] <- c(ends[[name]], hit(name))
  same <- isTRUE(all.equal(repeated(calls[[name]]), usual[[name]]$value, tolerance = 1e-12))
  if (!same) {
    wrong <- wrong + 1L
    cat("after an interrupt another value:", name, "\n")
  }
}
for (name in names(ends)) {
  count <- table(ends[[name]])
  cat(sprintf("%-16s %s\n", name, paste(names(count), count, collapse = ", ")))
}
errors <- sum(startsWith(unlist(ends), "error"))
cat(sprintf("%d calls, %d hit while they ran; %d errors, %d next calls wrong; %.0f s\n", drawn,
            sum(unlist(ends) != "late"), errors, wrong, proc.time()[["elapsed"]] - started))
quit(status = errors + wrong > 0L)
