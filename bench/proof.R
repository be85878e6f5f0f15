# What certify(), alternatives() and best_subset() prove, and how long they take.
#
#   Rscript bench/proof.R [DIR] [genes held near made squares] [only=colon,golub | only=packages]
#                         [nodes=20000] [out=bench/results]
#
# DIR has gene sets as .rds files (X, y); without it the parts `genes`, `held` and `near` are left
# out. All times are CPU seconds of one thread, the greedy search apart. "of null" is relative to
# the penalised error of the null model.
#   genes    penalised error of sets of 5, 10 and 20 at lambda 16, 4, 1 and 1/4 times the rows, and
#            whether the set of forward_regression() is the best
#   held     the same of the leave-one-out error and greedy_rls(), sets of 3, 5 and 10
#   near     the columns in all, some and none of the sets within 1 % of the fall
#   made     made data of many columns or rows
#   squares  best_subset() without a penalty, beside leaps and bounds
#
# Sources: R/search-best.R R/search-certify.R src/subset*

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
source("bench/common.R")

line <- command_line(list(only = "all", nodes = "20000", out = "bench/results"))
parts <- c("genes", "held", "near", "made", "squares")
directory <- setdiff(line$words, parts)
wanted <- intersect(parts, line$words)
if (!length(wanted)) wanted <- if (length(directory)) parts else c("made", "squares")
nodes <- as.numeric(line$options$nodes)

# Gene sets ---------------------------------------------------------------------------------------

gene_sets <- c(colon = "colon_alon", golub = "golub", riboflavin = "riboflavin",
               prostate = "prostate_singh", khan = "khan_srbct", vdv = "breast_vdv")
if (!line$options$only %in% c("all", "packages")) {
  gene_sets <- gene_sets[strsplit(line$options$only, ",", fixed = TRUE)[[1]]]
}

# Sets that packages ship, where these are installed.
package_sets <- list(
  `golub (multtest)` = list("multtest", function() {
    utils::data("golub", package = "multtest", envir = environment())
    as_problem(t(golub), factor(golub.cl))
  }),
  `gasoline (pls)` = list("pls", function() {
    utils::data("gasoline", package = "pls", envir = environment())
    as_problem(unclass(gasoline$NIR), gasoline$octane)
  }),
  `yarn (pls)` = list("pls", function() {
    utils::data("yarn", package = "pls", envir = environment())
    as_problem(unclass(yarn$NIR), yarn$density)
  })
)
package_sets <- Filter(function(set) requireNamespace(set[[1L]], quietly = TRUE), package_sets)
all_sets <- c(names(gene_sets), names(package_sets))
if (line$options$only == "packages") all_sets <- names(package_sets)

read_problem <- function(name) {
  if (name %in% names(package_sets)) return(suppressMessages(package_sets[[name]][[2L]]()))
  file <- gene_sets[[name]]
  data <- readRDS(file.path(directory, paste0(file, ".rds")))
  suppressMessages(as_problem(as.matrix(data$X), data$y))
}

seconds <- function(expr) {
  from <- proc.time()
  value <- suppressWarnings(suppressMessages(expr))
  list(value = value, seconds = sum((proc.time() - from)[1:2]))
}

# The greedy set of k columns at a lambda, by the error that is proved.
greedy_fit <- function(pb, k, lambda, criterion = "penalised") {
  suppressWarnings(suppressMessages(
    if (criterion == "squared") greedy_rls(pb, k = k, lambda = lambda, size = k, progress = FALSE)
    else forward_regression(pb, k = k, lambda = lambda)
  ))
}

proof_row <- function(name, pb, k, share, criterion) {
  fit <- greedy_fit(pb, k, share * nrow(pb), criterion)
  done <- seconds(certify(fit, pb, criterion = criterion, nodes = nodes, progress = FALSE))
  proof <- done$value$proofs
  data.frame(set = name, rows = nrow(pb), columns = sum(pb$columns$usable), lambda = share, k = k,
             proved = proof$proved, `gap, % of null` = 100 * proof$gap,
             undecided = proof$undecided, nodes = proof$nodes, seconds = done$seconds,
             `greedy is best` = !proof$better, check.names = FALSE)
}

table_of <- function(criterion, sizes, shares) {
  rows <- lapply(all_sets, function(name) {
    pb <- read_problem(name)
    do.call(rbind, lapply(shares, function(share) {
      do.call(rbind, lapply(sizes, function(k) proof_row(name, pb, k, share, criterion)))
    }))
  })
  do.call(rbind, rows)
}

summary_of <- function(table) {
  for (share in unique(table$lambda)) {
    rows <- table[table$lambda == share, ]
    say("lambda %s x rows: %d of %d proved, %d within .3 s; seconds median %.3f, largest %.2f; %s",
        format(share), sum(rows$proved), nrow(rows), sum(rows$proved & rows$seconds <= 0.3),
        median(rows$seconds), max(rows$seconds),
        sprintf("the greedy set is the best of %d of the %d",
                sum(rows$`greedy is best`[rows$proved]), sum(rows$proved)))
  }
}

if ("genes" %in% wanted) {
  heading("penalised error: no other set of k columns has a smaller one (at most %s nodes)",
          format(nodes))
  table <- table_of("penalised", c(5, 10, 20), c(16, 4, 1, 0.25))
  say_table(table, digits = 3)
  summary_of(table)
}

if ("held" %in% wanted) {
  heading("leave-one-out error: no other set of k columns has a smaller one")
  table <- table_of("squared", c(3, 5, 10), c(16, 4))
  say_table(table, digits = 3)
  summary_of(table)
}

if ("near" %in% wanted) {
  heading("sets within 1 %% of the fall of the penalised error, lambda 4 x rows")
  rows <- lapply(all_sets, function(name) {
    pb <- read_problem(name)
    do.call(rbind, lapply(c(5, 10, 20), function(k) {
      fit <- greedy_fit(pb, k, 4 * nrow(pb))
      proof <- suppressWarnings(certify(fit, pb, criterion = "penalised", progress = FALSE))
      done <- seconds(alternatives(proof, progress = FALSE))
      near <- done$value
      count <- function(status) sum(near$features$status == status)
      data.frame(set = name, k = k, sets = near$count, counted = near$counted, all = count("all"),
                 some = count("some"), open = count("open"), none = near$none,
                 seconds = done$seconds)
    }))
  })
  say_table(do.call(rbind, rows), digits = 3)
}

# Made data ---------------------------------------------------------------------------------------

# Columns of an autoregression, ten of which explain half of the variance.
autoregression <- function(m, n, rho) {
  set.seed(1)
  x <- matrix(rnorm(m * n), m)
  for (j in seq_len(n)[-1L]) x[, j] <- rho * x[, j - 1L] + sqrt(1 - rho^2) * x[, j]
  signal <- rowSums(x[, round(seq(1, n, length.out = 10))])
  list(x = x, y = signal + sd(signal) * rnorm(m))
}

if ("made" %in% wanted) {
  heading("made data, correlation .9 of neighbours, ten true columns: penalised error")
  rows <- Map(function(m, n, k, share) {
    data <- autoregression(m, n, 0.9)
    proof_row("made", as_problem(data$x, data$y), k, share, "penalised")
  }, c(1000, 1000, 100, 100, 500, 500, 5000, 5000),
  c(300, 2000, 1000, 1000, 20000, 20000, 5000, 5000), c(10, 10, 10, 20, 10, 20, 10, 20),
  c(1, 1, 4, 1, 4, 4, 1, 1))
  say_table(do.call(rbind, rows), digits = 3)
}

if ("squares" %in% wanted) {
  heading("best_subset() without a penalty, sizes 1 to k: CPU seconds, and of leaps and bounds")
  has_leaps <- requireNamespace("leaps", quietly = TRUE)
  leaps <- function(pb, k) {
    control <- sparsels:::subset_control(pb, k, 0)
    control$progress <- FALSE
    sparsels:::leaps_path(pb, control)
  }
  rows <- Map(function(m, n, rho, k) {
    data <- autoregression(m, n, rho)
    pb <- as_problem(data$x, data$y)
    ours <- seconds(best_subset(pb, k = k, progress = FALSE))
    own <- seconds(leaps(pb, k))
    # with more columns the package takes minutes
    package <- if (n > 60 || !has_leaps) NA else seconds(
      leaps::regsubsets(data$x, data$y, nvmax = k, method = "exhaustive", really.big = TRUE)
    )$seconds
    proof <- ours$value$proof
    data.frame(rows = m, columns = n, correlation = rho, k = k, tree = ours$value$tree,
               proved = sprintf("%d of %d", sum(proof$gap == 0), k),
               nodes = sum(proof$nodes), seconds = ours$seconds, `leaps and bounds` = own$seconds,
               `proved so` = sum(own$value$found$proof$gap == 0),
               `package leaps` = package, check.names = FALSE)
  }, c(1000, 1000, 1000, 1000, 1000, 200, 200), c(300, 300, 600, 100, 300, 60, 30),
  c(0.1, 0.5, 0.1, 0.9, 0.9, 0.9, 0.9), c(10, 10, 10, 10, 5, 8, 8))
  say_table(do.call(rbind, rows), digits = 3)
}

file <- if (setequal(wanted, parts)) "proof.txt" else paste0("proof-", wanted[1], ".txt")
writeLines(c(machine_line(), lines), file.path(line$options$out, file))
