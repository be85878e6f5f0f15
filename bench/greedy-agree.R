# Checks on real data that bounds do not change the selection: greedy_rls() is compared with the
# paper's Algorithm 3 in C and with the search that evaluates every candidate at every step.
#
#   Rscript bench/greedy-agree.R DIR [data set ...] [values=1e7] [k=30] [lambda=0.01,1,100]
#                                [out=bench/results]
#
# DIR holds the data sets as .rds files, each a list(X = , y = ): X a matrix or a dgCMatrix, samples
# in rows. bench/README.md lists the ones used; any others can be used. Without names all files of
# DIR are used, in about 10 minutes, and the table is saved. From a large data set rows are sampled,
# so that rows x columns x responses is at most values= (but at least 200 rows).
#
# y is used as it is; three to twenty consecutive whole numbers are classes. If y is constant or
# missing, the column of X with the most nonzeros is used instead.
#
# Sources: R/search-greedy.R src/greedy* src/simd*

library(sparsels)
source("bench/common.R")
source("bench/greedy-common.R")

line <- command_line(list(values = "1e7", k = "30", lambda = "0.01,1,100", out = "bench/results"))
if (!length(line$words)) stop("usage: Rscript bench/greedy-agree.R DIR [data set ...]")
directory <- line$words[1]
found <- sub("[.]rds$", "", list.files(directory, "[.]rds$"))
wanted <- if (length(line$words) > 1) line$words[-1] else found
stopifnot(dir.exists(directory), length(wanted) > 0, wanted %in% found)
lambdas <- numbers(line$options$lambda)
most_values <- as.numeric(line$options$values)
most_k <- as.integer(line$options$k)
widths <- lane_widths()

# Data --------------------------------------------------------------------------------------------

# Centred and scaled columns and the first response, for a model without intercept.
plain_data <- function(problem) {
  usable <- which(problem$columns$usable)
  x <- as.matrix(problem$x[, usable])
  dimnames(x) <- NULL
  x <- sweep(x, 2, problem$columns$centre[usable])
  x <- sweep(x, 2, problem$columns$scale[usable], "/")
  y <- problem$rows$y[, 1]
  list(x = x, y = y - mean(y))
}

# Comparisons -------------------------------------------------------------------------------------

# The search with each instruction set, on one thread and on two, against `other(width)`.
compare_sets <- function(where, problem, k, lambda, against, other) {
  traces <- list()
  results <- list()
  bits <- TRUE
  for (width in widths) {
    paths <- lapply(1:2, function(threads) {
      control <- search_control(problem, k, lambda, threads)
      with_simd(width, function() search_alone(problem, control, skipping = "bounds"))
    })
    here <- sprintf("%s, lambda %g, %d in a vector", where, lambda, width)
    if (!identical(paths[[1]], paths[[2]])) {
      bits <- FALSE
      disagree(here, ": one and two threads are not identical")
    }
    trace <- trace_of(paths[[1]])
    wanted <- other(width)
    result <- compare(trace, wanted)
    note(paste0(here, ", against ", against), trace, wanted, result)
    traces <- c(traces, list(trace))
    results <- c(results, list(result))
  }
  list(same = worst(vapply(results, `[[`, "", "same")), off = max(vapply(results, `[[`, 0, "off")),
       bits = bits, sets = compare_traces(where, lambda, traces), path = paths[[1]])
}

# The instruction sets among each other.
compare_traces <- function(where, lambda, traces) {
  last <- length(traces)
  found <- vapply(seq_len(last - 1L), function(i) {
    result <- compare(traces[[i]], traces[[last]])
    here <- sprintf("%s, lambda %g, %d in a vector against %d", where, lambda, widths[i],
                    widths[last])
    note(here, traces[[i]], traces[[last]], result)
    result$same
  }, "")
  worst(c("TRUE", found))
}

# greedy_rls() with its defaults: intercept, standardised columns, all responses
against_dense <- function(name, problem, k, lambda) {
  compare_sets(name, problem, k, lambda, "every candidate", function(width) {
    control <- search_control(problem, k, lambda)
    trace_of(with_simd(width, function() search_alone(problem, control, skipping = "none")))
  })
}

# with the package's rule for ties, which the paper does not specify
against_reference <- function(name, plain, k, lambda) {
  found <- reference(plain$x, plain$y, k, lambda, tolerance = 1e-12 * sum(plain$y^2))
  found <- list(feature = found$S, error = found$e / length(plain$y))
  problem <- as_problem(plain$x, plain$y, intercept = FALSE, standardize = FALSE)
  compare_sets(paste(name, "centred and scaled"), problem, k, lambda, "Algorithm 3",
               function(width) found)
}

# greedy_rls() itself, without forced choices
called <- function(problem, k, lambda) {
  fit <- greedy_rls(problem, k = k, lambda = lambda, size = "criterion", progress = FALSE)
  path <- search_alone(problem, search_control(problem, k, lambda))
  identical(fit$path, path$path) && identical(fit$work, path$work)
}

# Run ---------------------------------------------------------------------------------------------

row_format <- "%-22s %6s %6s %3s %3s | %5s %8s | %5s %8s | %5s %7s | %-14s %-14s %s"

one_set <- function(name) {
  data <- read_data(directory, name, most_values)
  problem <- as_problem(data$x, data$y)
  k <- min(most_k, sum(problem$columns$usable), nrow(problem$x) - 1L)
  plain <- plain_data(problem)
  dense <- lapply(lambdas, function(lambda) against_dense(name, problem, k, lambda))
  printed <- lapply(lambdas, function(lambda) against_reference(name, plain, k, lambda))
  front <- vapply(lambdas, function(lambda) called(problem, k, lambda), NA)
  if (!all(front)) disagree(name, ": greedy_rls() is not the search alone")
  both <- c(dense, printed)
  field <- function(results, what) vapply(results, `[[`, results[[1]][[what]], what)
  work <- lapply(dense, function(result) result$path$work)
  say(row_format, name, paste0(nrow(problem$x), if (nrow(problem$x) < data$available) "*"),
      ncol(problem$x), ncol(problem$rows$y), k,
      worst(field(printed, "same")), sprintf("%.1e", max(field(printed, "off"))),
      worst(field(dense, "same")), sprintf("%.1e", max(field(dense, "off"))),
      worst(field(both, "sets")), all(field(both, "bits")),
      slashes(vapply(work, function(w) sprintf("%.1f", 100 * w$evaluated / w$candidates), "")),
      slashes(vapply(work, function(w) sprintf("%.1f", w$passes), "")),
      slashes(vapply(work, function(w) if (is.na(w$dense_from)) "-" else paste(w$dense_from), "")))
}

load_reference()
say("%s", machine_line())
say("")
say("lambda = %s; up to %d features; * rows were drawn", line$options$lambda, most_k)
say("Algorithm 3: one response (the first), columns centred and scaled, no intercept; errors that")
say("differ by no more than 1e-12 of the response's mean square are equal and go to the lowest")
say("column, as in the package. every candidate: as greedy_rls() is called, all responses.")
say("same: the selections; tie: they differ where errors agree to %g, nothing after that step",
    tie)
say("is compared.")
say("off: largest relative difference of the errors of equal models. sets: vectors of %s doubles",
    paste(widths, collapse = ", "))
say("select the same. threads: one and two are identical, bit for bit. Then for each lambda the")
say("candidates evaluated, passes over x and the step from which every candidate was evaluated.")
say("Candidates are skipped in small data, too, where greedy_rls() would not try.")
say("")
say(row_format, "", "", "", "", "", "Algor", "ithm 3", "every", "candid.", "", "", "evaluated %",
    "passes", "all from")
say(row_format, "data", "m", "n", "out", "k", "same", "off", "same", "off", "sets", "threads", "",
    "", "")
for (name in wanted) one_set(name)
say("")
say_disagreements()

if (length(line$words) == 1L) writeLines(lines, file.path(line$options$out, "greedy-agree.txt"))
