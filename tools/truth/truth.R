# Random fits of every method that has a held-out error, against retraining in long doubles:
#   Rscript tools/truth/truth.R [fits] [seed]        (make truth)
# What is compared, and in which units, is said in tests/testthat/oracle-truth.R. Fails when an
# error of more than 10^6 units came without a warning of class sparsels_warning_precision.

options(warn = 1)
suppressMessages(library(sparsels))
arguments <- as.numeric(commandArgs(trailingOnly = TRUE))
fits <- if (length(arguments) > 0L) arguments[1L] else 2000
seed <- if (length(arguments) > 1L) arguments[2L] else 1

here <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
root <- normalizePath(file.path(dirname(here), "../.."))
oracles <- new.env(parent = asNamespace("sparsels"))
for (name in c("oracle-retrain.R", "oracle-truth.R")) {
  source(file.path(root, "tests/testthat", name), local = oracles)
}
attach(oracles)

# the C code, compiled where nothing is kept
local({
  work <- tempfile()
  dir.create(work)
  file.copy(file.path(root, "tools/truth/retrain.c"), work)
  library <- file.path(work, paste0("retrain", .Platform$dynlib.ext))
  source <- file.path(work, "retrain.c")
  status <- system2(file.path(R.home("bin"), "R"),
                    c("CMD", "SHLIB", "-o", shQuote(library), shQuote(source)), stdout = FALSE)
  if (status != 0) stop("tools/truth/retrain.c does not compile")
  dyn.load(library)
})
if (.C("digits", 0L)[[1L]] < 64L) stop("long double has no more digits than double here")

retrain <- function(x, pb, lambda, ids) {
  m <- nrow(pb$rows$y)
  made <- .C("ridge_held_out", c(m, ncol(x), ncol(pb$z), ncol(pb$rows$y), max(ids)), as.double(x),
             as.double(pb$z), as.double(pb$rows$y), pb$rows$weight, lambda, as.integer(ids),
             residual = as.double(pb$rows$y), beta = numeric(ncol(x) * ncol(pb$rows$y)))
  list(residual = matrix(made$residual, m), B = matrix(made$beta, ncol(x)))
}

retrain_kernel <- function(K, pb, lambda, ids) {
  made <- .C("kernel_held_out", c(nrow(pb$rows$y), ncol(pb$z), max(ids)), as.double(K),
             as.double(pb$z), as.double(pb$rows$y), pb$rows$weight, lambda, as.integer(ids),
             residual = as.double(pb$rows$y))
  list(residual = matrix(made$residual))
}

set.seed(seed)
table <- do.call(rbind, lapply(seq_len(fits), function(i) {
  own <- sample.int(1e9, 1)
  after <- sample.int(1e9, 1)
  set.seed(own)
  case <- truth_case()
  made <- truth_fit(case)
  error <- truth_error(case, made, retrain, retrain_kernel)
  set.seed(after)
  refusal <- if (is.character(made$fit)) made$fit else NA
  data.frame(seed = own, method = case$method,
             search = if (case$method == "greedy_rls") case$search else "",
             loo = case$folds$loo, kind = case$kind, spread = case$spread, m = nrow(case$problem),
             n = ncol(case$problem), lambda = case$lambda, warned = made$warned, error, refusal)
}))

done <- table[is.na(table$refusal), ]
table$group <- trimws(paste(table$method, table$search))
summary <- do.call(rbind, lapply(split(table, table$group), function(part) {
  quiet <- part[is.na(part$refusal) & !part$warned, ]
  data.frame(fits = nrow(part), refused = sum(!is.na(part$refusal)), warned = sum(part$warned),
             median = stats::median(quiet$error), largest = max(quiet$error))
}))
print(format(summary, digits = 2))
bad <- done[!done$warned & !(done$error <= 1e6), ]
cat(sprintf("%d fits, %d refused, %d with a warning; %d off by more than 6 digits without one\n",
            nrow(table), sum(!is.na(table$refusal)), sum(table$warned), nrow(bad)))
if (any(!is.na(table$refusal))) print(table(table$refusal[!is.na(table$refusal)]))
if (nrow(bad)) {
  print(bad[order(-bad$error), ], digits = 3)
  quit(status = 1)
}
