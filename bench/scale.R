# Data larger than memory: time, readings of x and memory.
#
#   Rscript bench/scale.R wide|bed|counts|rows dir=/some/folder [small] [threads=2] [out=...]
#
# wide: greedy_rls(k = 20) by leave-one-out on 300 rows and 12.5 million columns in a file of
# doubles (30 GB, which the script writes), beside plain readings of that file.
# bed: greedy_rls(k = 50) on genotypes of 20,000 people at 500,000 SNPs in PLINK's .bed (2.5 GB), by
# leave-one-out and by families, correlation with the response of 4,000 people of other families;
# and on the first SNPs beside bigstatsr::big_spLinReg() and biglasso::biglasso(), where these
# packages are installed.
# counts: 38,000 cells, 32,000 genes, 8 % of the counts not 0, 30 classes, folds of donors.
# rows: kernel_rls() on 2 million rows, see bench/scale-rows.R.
#
# `small`: about a thousandth of the values, in seconds; printed, and saved only where `out` says.
# Each step runs in a process of its own, whose memory beside the page cache is looked at ten times
# a second; Linux only. Files are made in `dir` and taken away at the end: 30 GB, 20 GB, 1.2 GB and
# 0.3 GB.
#
# Sources: R/data-files.R R/search-greedy.R src/greedy* src/r-file.c src/products* src/matrix.h

library(sparsels)
library(Matrix)
source("bench/common.R")
source("bench/scale-data.R")

parts <- c("wide", "bed", "counts", "rows")
line <- command_line(list(dir = "", threads = "2", step = "", out = ""))
given <- line$options
threads <- as.integer(given$threads)
small <- "small" %in% line$words
part <- setdiff(line$words, "small")
if (length(part) != 1 || !part %in% parts || !dir.exists(given$dir)) {
  stop("usage: Rscript bench/scale.R ", paste(parts, collapse = "|"), " dir=/some/folder [small]")
}

in_folder <- function(name) file.path(given$dir, name)
made <- function() readRDS(in_folder("make.rds"))$value

# The value of a function and how long it took, in seconds, and those of the processors, which are
# the same on a busy machine.
timed <- function(call) {
  value <- NULL
  before <- proc.time()
  seconds <- elapsed(function() value <<- call())
  used <- proc.time() - before
  list(value = value, seconds = seconds, cpu = sum(used[-3]))
}

# Wide --------------------------------------------------------------------------------------------

wide_size <- if (small) list(rows = 300, columns = 12500) else list(rows = 300, columns = 12.5e6)

wide <- list(
  make = function() {
    write_wide(in_folder("wide.bin"), wide_size$rows, wide_size$columns)
  },
  # One plain reading of the file, without looking at what is in it.
  read = function() {
    connection <- file(in_folder("wide.bin"), "rb")
    on.exit(close(connection))
    timed(function() while (length(readBin(connection, "raw", 2^26))) NULL)$seconds
  },
  search = function() {
    data <- made()
    problem <- timed(function() as_problem(data$x, data$y, threads = threads))
    search <- timed(function() {
      greedy_rls(problem$value, k = 20, lambda = wide_size$rows, size = "criterion",
                 threads = threads)
    })
    list(problem = problem$seconds, search = search$seconds, cpu = search$cpu,
         work = search$value$work,
         found = sum(causal_columns(wide_size$columns) %in% search$value$path$feature))
  }
)

report_wide <- function() {
  write <- measured("make")
  before <- measured("read")$value
  search <- measured("search")
  after <- measured("read")$value
  one_pass <- mean(c(before, after))
  found <- search$value
  say("%.0f rows, %.0f columns, %.1f GB of doubles in a file, written in %.0f s; %.0f GB of memory",
      wide_size$rows, wide_size$columns, 8e-9 * wide_size$rows * wide_size$columns, write$seconds,
      machine_memory())
  heading("greedy_rls(k = 20, lambda = %.0f), leave-one-out, %d threads", wide_size$rows, threads)
  say("%-42s %9s %9s %12s", "", "seconds", "readings", "s a reading")
  row <- function(what, seconds, readings) {
    say("%-42s %9.1f %9.1f %12.1f", what, seconds, readings, seconds / readings)
  }
  row("one plain reading of the file", one_pass, 1)
  row("as_problem()", found$problem, 1)
  row("greedy_rls()", found$search, found$work$passes)
  say("greedy_rls() uses %.1f s of the processors", found$cpu)
  say("both together take as long as %.1f plain readings",
      (found$problem + found$search) / one_pass)
  say("candidates evaluated: %.0f, %.2f %% of them all", found$work$evaluated,
      100 * found$work$evaluated / found$work$candidates)
  say("of the 10 columns that make up the response %d are in the model", found$found)
  say("peak memory beside the page cache: %.2f GB (goal: 6)", search$peak)
}

# Genotypes ---------------------------------------------------------------------------------------

bed_size <- if (small) {
  list(people = 800, new = 400, snps = 12500, cut = 1000, k = 10)
} else {
  list(people = 20000, new = 4000, snps = 500000, cut = 20000, k = 50)
}

# One call of greedy_rls() on people of the cohort, and how well it predicts new people.
select_snps <- function(data, folds) {
  cohort <- data$cohort
  problem <- timed(function() {
    as_problem(paste0(cohort$path, ".bed"), cohort$y, adjust = cohort$covariates,
               missing = "mean", threads = threads)
  })
  search <- timed(function() {
    greedy_rls(problem$value, k = bed_size$k, lambda = cohort$people, size = "criterion",
               folds = folds, threads = threads)
  })
  fit <- search$value
  predicted <- predict(fit, paste0(data$new$path, ".bed"), size = bed_size$k,
                       adjust = data$new$covariates)
  list(problem = problem$seconds, search = search$seconds, cpu = search$cpu, work = fit$work,
       snps = bed_size$k,
       correlation = beyond_covariates(predicted, data$new))
}

# The correlation of prediction and response, the covariates' part taken out of both.
beyond_covariates <- function(predicted, data) {
  residual <- function(v) stats::lm.fit(cbind(1, data$covariates), v)$residuals
  cor(residual(predicted), residual(data$y))
}

# 0, 1 or 2 of some columns of an open file, a missing call being the most common value.
called <- function(file, columns) {
  x <- file[, columns, drop = FALSE]
  gaps <- which(is.na(x), arr.ind = TRUE)
  x[gaps] <- round(colMeans(x, na.rm = TRUE))[gaps[, 2]]
  x
}

open_bed <- function(data) bed_matrix(paste0(data$path, ".bed"))

by_blocks <- function(data, work) {
  file <- open_bed(data)
  columns <- seq_len(data$snps)
  for (block in split(columns, (columns - 1) %/% 1000)) work(block, called(file, block))
}

genotypes_of_bigstatsr <- function(data) {
  x <- bigstatsr::FBM.code256(data$people, data$snps, code = c(0:2, rep(NA, 253)),
                              backingfile = paste0(data$path, "-fbm"))
  by_blocks(data, function(block, values) x[, block] <<- as.raw(values))
  x
}

genotypes_of_bigmemory <- function(data) {
  name <- basename(data$path)
  x <- bigmemory::filebacked.big.matrix(data$people, data$snps, backingpath = given$dir,
                                        backingfile = paste0(name, ".big"),
                                        descriptorfile = paste0(name, ".desc"))
  by_blocks(data, function(block, values) x[, block] <<- values)
  x
}

# Ten models by bigstatsr, each on nine tenths of the rows; their mean predicts.
select_by_bigstatsr <- function(data) {
  converted <- timed(function() genotypes_of_bigstatsr(data$cohort))
  new <- genotypes_of_bigstatsr(data$new)
  search <- timed(function() {
    bigstatsr::big_spLinReg(converted$value, data$cohort$y, covar.train = data$cohort$covariates,
                            pf.covar = rep(0, 10), dfmax = bed_size$k + 10, ncores = threads,
                            warn = FALSE)
  })
  fit <- search$value
  predicted <- predict(fit, new, covar.row = data$new$covariates)
  beta <- summary(fit, best.only = TRUE)$beta[[1]]
  list(problem = converted$seconds, search = search$seconds, cpu = search$cpu,
       snps = sum(utils::head(beta, -10) != 0),
       correlation = beyond_covariates(predicted, data$new))
}

# The model of the path by biglasso with k columns, or the largest that has fewer. It has no
# covariates: the response is what they leave of it.
select_by_biglasso <- function(data) {
  converted <- timed(function() genotypes_of_bigmemory(data$cohort))
  y <- stats::lm.fit(cbind(1, data$cohort$covariates), data$cohort$y)$residuals
  search <- timed(function() {
    biglasso::biglasso(converted$value, y, dfmax = bed_size$k + 10, ncores = threads, warn = FALSE)
  })
  beta <- search$value$beta[-1, ]
  size <- Matrix::colSums(beta != 0)
  beta <- beta[, which.max(size * (size <= bed_size$k))]
  chosen <- which(beta != 0)
  predicted <- called(open_bed(data$new), chosen) %*% beta[chosen]
  list(problem = converted$seconds, search = search$seconds, cpu = search$cpu,
       snps = length(chosen),
       correlation = beyond_covariates(predicted[, 1], data$new))
}

bed <- list(
  make = function() {
    write_cohort(given$dir, bed_size$people, bed_size$new, bed_size$snps, bed_size$cut)
  },
  loo = function() select_snps(made()$all, "loo"),
  families = function() select_snps(made()$all, made()$all$cohort$family),
  tenths = function() select_snps(made()$all, made()$all$cohort$family %% 10),
  cut = function() select_snps(made()$cut, "loo"),
  cut_bigstatsr = function() select_by_bigstatsr(made()$cut),
  cut_biglasso = function() select_by_biglasso(made()$cut),
  bigstatsr = function() select_by_bigstatsr(made()$all)
)

report_bed <- function() {
  write <- measured("make")
  say("%d people, %d SNPs, %.2f GB of .bed, simulated in %.0f s; %d people of other families",
      bed_size$people, bed_size$snps, 1e-9 * bed_size$people * bed_size$snps / 4, write$seconds,
      bed_size$new)
  titles <- function(text) {
    heading("%s", text)
    say("%-40s %8s %8s %8s %8s %6s %6s %12s", "", "before s", "search s", "its CPU", "readings",
        "GB", "SNPs", "correlation")
  }
  row <- function(what, step) {
    done <- measured(step)
    passes <- done$value$work$passes
    say("%-40s %8.1f %8.1f %8.1f %8s %6.2f %6d %12.3f", what, done$value$problem,
        done$value$search, done$value$cpu,
        if (is.null(passes)) "" else sprintf("%.1f", passes), done$peak, done$value$snps,
        done$value$correlation)
  }
  titles(sprintf("greedy_rls(k = %d, lambda = %d), 10 covariates, %d threads (goal: 300 s, 3 GB)",
                 bed_size$k, bed_size$people, threads))
  row("leave-one-out", "loo")
  row("leave-family-out", "families")
  row("ten folds of whole families", "tenths")
  titles(sprintf("the first %d SNPs, from which another response is made", bed_size$cut))
  row("greedy_rls(), leave-one-out", "cut")
  bigstatsr <- requireNamespace("bigstatsr", quietly = TRUE)
  if (bigstatsr) row("bigstatsr::big_spLinReg(), mean of 10", "cut_bigstatsr")
  if (requireNamespace("biglasso", quietly = TRUE)) row("biglasso(), the path", "cut_biglasso")
  if (bigstatsr) {
    titles("all SNPs")
    row("bigstatsr::big_spLinReg(), mean of 10", "bigstatsr")
  }
  say("before: as_problem(), or the conversion of the .bed to the peer's own file")
  say("GB: peak memory beside the page cache; correlation: with the response of the new people,")
  say("the covariates taken out of both; CPU and memory are those of the searching process, not")
  say("those of the workers of big_spLinReg()")
}

# Counts ------------------------------------------------------------------------------------------

counts_size <- if (small) list(cells = 2000, genes = 600) else list(cells = 38000, genes = 32000)
counts_k <- if (small) 10 else 20

counts <- list(
  make = function() simulate_counts(counts_size$cells, counts_size$genes),
  search = function() {
    data <- made()
    problem <- timed(function() as_problem(data$x, data$type, threads = threads))
    search <- timed(function() {
      greedy_rls(problem$value, k = counts_k, lambda = counts_size$cells, folds = data$donor,
                 size = "criterion", threads = threads)
    })
    fit <- search$value
    list(problem = problem$seconds, search = search$seconds, cpu = search$cpu, work = fit$work,
         share = length(data$x@x) / prod(dim(data$x)), size = as.numeric(object.size(data$x)),
         error = fit$path$error[match(counts_k, fit$path$size)])
  }
)

report_counts <- function() {
  make <- measured("make")
  search <- measured("search")
  found <- search$value
  say("%d cells, %d genes, %.1f %% of the counts not 0, %.2f GB as dgCMatrix, simulated in %.0f s",
      counts_size$cells, counts_size$genes, 100 * found$share, 1e-9 * found$size, make$seconds)
  heading("greedy_rls(k = %d, lambda = %d), 30 classes, 20 donors as folds, %d threads", counts_k,
          counts_size$cells, threads)
  say("as_problem() %.1f s; search %.1f s, %.1f s of the processors", found$problem, found$search,
      found$cpu)
  say("%.1f readings, %.1f %% of the candidates evaluated", found$work$passes,
      100 * found$work$evaluated / found$work$candidates)
  say("misclassified cells of donors left out: %.3f", found$error)
  say("peak memory, x included: %.2f GB (goal: 6)", search$peak)
}

# Rows --------------------------------------------------------------------------------------------

if (part == "rows") source("bench/scale-rows.R")

# Steps in processes of their own -----------------------------------------------------------------

steps <- get(part)

run_step <- function(step) {
  writeLines(as.character(Sys.getpid()), in_folder("process"))
  done <- timed(steps[[step]])
  saveRDS(done, in_folder(paste0(step, ".rds")), compress = FALSE)
}

# list(value, seconds, peak: in GB) of a step.
measured <- function(step) {
  arguments <- c("bench/scale.R", part, if (small) "small", paste0("step=", step),
                 sprintf("%s=%s", c("dir", "threads"), c(given$dir, threads)))
  unlink(in_folder("process"))
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(arguments), env = libraries, wait = FALSE)
  while (!file.exists(in_folder("process"))) Sys.sleep(0.05)
  Sys.sleep(0.05)
  process <- readLines(in_folder("process"))
  peak <- 0
  repeat {
    now <- memory_of(process)
    if (is.na(now)) break
    peak <- max(peak, now)
    Sys.sleep(0.1)
  }
  result <- in_folder(paste0(step, ".rds"))
  if (!file.exists(result)) stop("the step ", step, " failed")
  c(readRDS(result), peak = peak)
}

# GB of a process beside what it has of files; NA once it has ended.
memory_of <- function(process) {
  status <- tryCatch(suppressWarnings(readLines(sprintf("/proc/%s/status", process))),
                     error = function(e) character())
  found <- grep("^Rss(Anon|Shmem):", status, value = TRUE)
  if (length(found)) sum(as.numeric(gsub("[^0-9]", "", found))) * 1024 / 1e9 else NA
}

machine_memory <- function() {
  found <- grep("^MemTotal", readLines("/proc/meminfo"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", found)) * 1024 / 1e9
}

if (given$step != "") {
  run_step(given$step)
} else {
  given$dir <- tempfile("scale-", given$dir)
  dir.create(given$dir)
  say("%s", machine_line())
  tryCatch(get(paste0("report_", part))(), finally = unlink(given$dir, recursive = TRUE))
  say("load average at the end: %s (this script makes up to %d)", load_average(), threads)
  if (given$out == "" && !small) given$out <- "bench/results"
  if (given$out != "") writeLines(lines, file.path(given$out, sprintf("scale-%s.txt", part)))
}
