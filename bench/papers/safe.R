# The experiments of El Ghaoui, Viallon, Rabbani (2010), Safe feature elimination in sparse
# supervised learning, Section 7 and Appendix D, in kind: columns left by the tests and the memory
# they take (their Figure 3), time of the interior point with and without them (Figure 4), the same
# on many subsets (Figure 5), the search for a model with 20, 50 or 100 columns (Figure 6), and the
# rules that set small coefficients of interior points to zero (Figures 7 and 8). Figure 3 is also
# drawn for simulated texts in the number of the paper, 1,000,000 with 127,025 words.
#
#   Rscript bench/papers/safe.R DIR [part ...] [times=3] [subsets=23] [texts=1000000]
#                               [out=bench/results/papers]
#
# The parts are screen, time, subsets, search, threshold and abstracts, the simulated texts, whose
# figures are saved in a file of their own, safe-abstracts.txt. DIR holds the data sets as .rds
# files (bench/README.md says what is in each and where to get it). subsets=5, times=1 and
# texts=20000 give a quick look; all takes about 15 minutes, abstracts 6 GB.
# Seconds are those of the processor. The exact solutions are those of solver = "cd".
#
# Sources: R/l1-*.R src/l1*

library(sparsels)
library(Matrix)
source("bench/common.R")

# the word whose count is the response; its column is taken out of x
words <- list(text_nyt_headlines18k = "china", text_20newsgroups = "windows",
              text_reuters21578 = "oil", uci_bow_kos = 841)
parts <- c("screen", "time", "subsets", "search", "threshold", "abstracts")

line <- command_line(list(times = "3", subsets = "23", texts = "1000000",
                          out = "bench/results/papers"))
if (!length(line$words)) stop("usage: Rscript bench/papers/safe.R DIR [part ...]")
directory <- line$words[1]
wanted <- if (length(line$words) > 1) line$words[-1] else parts
stopifnot(wanted %in% parts, file.exists(file.path(directory, paste0(names(words), ".rds"))))
times <- as.integer(line$options$times)
subsets_n <- as.integer(line$options$subsets)

tolerance <- 1e-6
letters_of <- c(all = "all columns", none = "no test", safe1 = "SAFE1", safe2 = "SAFE2",
                gap = "Gap Safe", solution = "solution")
looks <- data.frame(
  colour = c("black", "black", colours[["blue"]], colours[["green"]], "#E69F00", colours[["red"]]),
  mark = c(NA, 4, 1, 17, 5, 16), line = c(3, 1, 2, 1, 4, 1), row.names = names(letters_of)
)

# Text --------------------------------------------------------------------------------------------

read_text <- function(name) {
  data <- readRDS(file.path(directory, paste0(name, ".rds")))
  data$name <- name
  with_word(data, words[[name]])
}

# the count of a word as the response, in some of the rows and with the words that occur there
with_word <- function(data, word, rows = seq_len(nrow(data$X))) {
  x <- data$X[rows, , drop = FALSE]
  own <- if (is.character(word)) match(word, colnames(x)) else word
  y <- as.numeric(x[, own])
  x <- x[, -own]
  x <- x[, Matrix::colSums(x != 0) > 0]
  list(name = data$name, word = word, x = x, y = y)
}

as_lasso <- function(text, intercept = FALSE) {
  as_problem(text$x, text$y, intercept = intercept, standardize = FALSE)
}

title_of <- function(text) {
  word <- if (is.numeric(text$word)) paste("word", text$word) else text$word
  sprintf("%s, response %s: %d x %d", text$name, word, nrow(text$x), ncol(text$x))
}

# Solutions and times -----------------------------------------------------------------------------

cpu <- function(call) {
  gc(full = FALSE)
  from <- proc.time()
  call()
  sum((proc.time() - from)[1:2])
}

# how many exact solutions did not reach their gap, of how many
open_gaps <- c(open = 0, all = 0)
exact <- function(call) {
  fit <- suppressWarnings(call)
  wide <- fit$path$gap > fit$control$tolerance * fit$null_objective
  open_gaps <<- open_gaps + c(sum(wide), length(wide))
  fit
}

exact_path <- function(problem, lambda, tolerance = 1e-10) {
  exact(l1_path(problem, lambda = lambda, tolerance = tolerance, progress = FALSE))
}

interior <- function(problem, lambda, ...) {
  suppressWarnings(l1_path(problem, lambda = lambda, solver = "ipm", tolerance = tolerance,
                           progress = FALSE, ...))
}

# A test from the solution for lambda0 (safe2, gap) or from none.
screen_at <- function(problem, lambda, rule, fit, lambda0) {
  if (rule == "safe1" || is.na(lambda0)) return(safe_screen(problem, lambda = lambda))
  safe_screen(problem, lambda = lambda, rule = rule, fit = fit, lambda0 = lambda0)
}

# A test, then the interior point for what it leaves.
solve_after <- function(problem, lambda, rule, fit, lambda0) {
  if (rule == "none") return(interior(problem, lambda, screen = "none"))
  mask <- screen_at(problem, lambda, rule, fit, lambda0)
  interior(problem[, mask$keep], lambda, screen = "none")
}

# Columns that each test leaves, for the lambdas of an exact path, each from the one before. Stops
# if a column of a solution is ever dropped.
kept_columns <- function(problem, fit, rules = c("safe1", "safe2", "gap")) {
  lambda <- fit$path$lambda
  lapply(stats::setNames(rules, rules), function(rule) {
    vapply(seq_along(lambda), function(i) {
      lambda0 <- if (i > 1) lambda[i - 1] else NA
      keep <- screen_at(problem, lambda[i], rule, fit, lambda0)$keep
      stopifnot(keep[fit$solutions[[i]]$features])
      unname(keep)
    }, logical(ncol(problem)))
  })
}

shown <- function(table, digits = NULL) {
  width <- options(width = 200)
  on.exit(options(width))
  capture.output(print(table, row.names = FALSE, digits = digits))
}

save_picture <- function(name, width, height, draw) {
  picture(file.path(line$options$out, sprintf("safe-%s.png", name)), width, height, draw)
}

panels <- function(count, rows = 1) {
  options(scipen = 9)
  par(mfrow = c(rows, count / rows), mar = c(4.6, 5.2, 2.2, 1), mgp = c(3.2, 0.7, 0), las = 1)
}

# Lines of some methods; values has a column for each.
draw_lines <- function(x, values, log = "xy", ...) {
  look <- looks[colnames(values), ]
  matplot(x, values, type = "o", log = log, pch = look$mark, lty = look$line, lwd = 1.7,
          col = look$colour, cex = 0.8, ...)
}

key <- function(where, methods) {
  look <- looks[methods, ]
  legend(where, letters_of[methods], pch = look$mark, lty = look$line, lwd = 1.7, col = look$colour,
         bty = "n", cex = 0.9, seg.len = 3)
}

# Figure 3: what has to be loaded -----------------------------------------------------------------

ratios <- 10^(-(1:20) / 10)

# of columns of a dgCMatrix: 12 bytes a nonzero, 4 a column
megabytes <- function(x, keep = rep(TRUE, ncol(x))) sum((12 * diff(x@p) + 4)[keep]) / 1e6

screen_table <- function(text, intercept) {
  problem <- as_lasso(text, intercept)
  fit <- exact_path(problem, ratios * lambda_max(problem))
  kept <- kept_columns(problem, fit)
  size <- data.frame(solution = fit$path$size, lapply(kept, colSums))
  size <- size[c("safe1", "safe2", "gap", "solution")]
  memory <- vapply(kept, apply, numeric(length(ratios)), 2L, function(keep) megabytes(text$x, keep))
  memory <- cbind(memory, solution = vapply(fit$solutions, function(one) {
    megabytes(text$x, seq_len(ncol(text$x)) %in% one$features)
  }, 0))
  list(problem = problem, fit = fit, size = size, memory = memory)
}

# The smallest lambda at which a test leaves no more than a part of the memory.
reach_lines <- function(table, all, part) {
  vapply(c("safe1", "safe2", "gap"), function(rule) {
    row <- max(0L, which(cummax(table$memory[, rule]) <= part * all))
    if (!row) return(sprintf("  %-8s at none of them", letters_of[[rule]]))
    sprintf("  %-8s down to %.3f lambda_max, %d of %d columns, for a solution with %d",
            letters_of[[rule]], ratios[row], table$size[row, rule], ncol(table$problem),
            table$size$solution[row])
  }, "")
}

# x is handed out by blocks of columns, as it would be from a file.
streamed <- function(text, lambda) {
  reads <- largest <- 0
  source <- function(columns) {
    block <- text$x[, columns, drop = FALSE]
    reads <<- reads + 1
    largest <<- max(largest, megabytes(block))
    block
  }
  seconds <- cpu(function() {
    mask <<- safe_screen(source, text$y, lambda = lambda, columns = ncol(text$x),
                         intercept = FALSE, standardize = FALSE)
  })
  list(keep = unname(mask$keep), rho = unname(mask$rho), reads = reads, largest = largest,
       seconds = seconds)
}
mask <- NULL

screen_lines <- function(text, table, intercept) {
  all <- megabytes(text$x)
  rows <- seq(2, 20, by = 2)
  measured <- cbind(`lambda/lambda_max` = sprintf("%.3f", ratios), table$size,
                    format(round(table$memory[, 1:3], 2), nsmall = 2))
  names(measured)[6:8] <- paste("MB", c("safe1", "safe2", "gap"))
  c("", sprintf("%s, %s; x has %.2f MB", title_of(text),
                if (intercept) "intercept" else "no intercept", all),
    shown(measured[rows, ]), "10 % of x in memory are enough for", reach_lines(table, all, 0.1))
}

run_screen <- function() {
  text_lines <- c("Figure 3. Columns left by the tests, each from the solution for the lambda",
                  "before (which is 10^0.1 times as large; every second one is shown), and MB",
                  "of x to be loaded.")
  for (name in names(words)) {
    text <- read_text(name)
    for (intercept in c(FALSE, TRUE)) {
      table <- screen_table(text, intercept)
      text_lines <- c(text_lines, screen_lines(text, table, intercept))
      if (!intercept) text_lines <- c(text_lines, printed_lines(text, table))
      if (name == "text_20newsgroups" && !intercept) {
        text_lines <- c(text_lines, memory_figure(text, table))
      }
    }
  }
  text_lines
}

# (14) as it is printed has the square of the radius, in the units of y.
printed_lines <- function(text, table) {
  lambda <- table$fit$path$lambda
  products <- abs(Matrix::crossprod(text$x, text$y)[, 1])
  norms <- sqrt(Matrix::colSums(text$x^2))
  count <- vapply(c(1, sqrt(sum(text$y^2))), function(unit) {
    measured <- vapply(seq_along(lambda)[-1], function(i) {
      dual <- text$y - as.vector(text$x %*% dense_beta(table$fit, i - 1))
      s <- min(sum(text$y * dual) / sum(dual^2), lambda[i] / lambda[i - 1])
      square <- sum((text$y - s * dual)^2) / unit^2
      keep <- products / unit + square * norms >= lambda[i] / unit
      c(sum(keep), sum(!keep[table$fit$solutions[[i]]$features]))
    }, c(0, 0))
    c(measured[1, c(5, 9)], sum(measured[2, ]))
  }, numeric(3))
  sprintf("(14) as printed, without the root, %s: %.0f and %.0f columns at %.3f and %.3f, %s",
          c("y as it is", "y of length 1"), count[1, ], count[2, ], ratios[6], ratios[10],
          sprintf("%.0f columns of solutions dropped", count[3, ]))
}

dense_beta <- function(fit, i) {
  solution <- fit$solutions[[i]]
  replace(numeric(ncol(fit$problem)), solution$features, solution$beta)
}

memory_figure <- function(text, table) {
  all <- megabytes(text$x)
  problem <- table$problem
  lambda <- table$fit$path$lambda
  from_file <- streamed(text, lambda[5])
  whole <- safe_screen(problem, lambda = lambda[5])
  stopifnot(identical(from_file$keep, unname(whole$keep)))
  at <- which(ratios > 0.09)
  seconds <- seconds_after(table, at, c("safe1", "safe2"), times)
  size <- table$size$solution[at]
  save_picture("memory", 1100, 460, function() {
    panels(2)
    draw_lines(ratios, cbind(all = all, table$memory), xlab = "lambda / lambda_max",
               ylab = "MB of x to be loaded", main = "Memory", ylim = c(1e-3, all))
    key("bottomleft", c("all", "safe1", "safe2", "gap", "solution"))
    draw_lines(size, seconds, log = "x", xlab = "columns in the solution",
               ylab = "seconds, test and interior point", main = "Time after a test",
               ylim = c(0, max(seconds)))
    key("topleft", c("safe1", "safe2"))
  })
  c(sprintf("SAFE1 from a function that hands out columns: %d blocks, the largest %.2f MB; %.2f s;",
            from_file$reads, from_file$largest, from_file$seconds),
    sprintf("%d columns at %.3f lambda_max, the same as with x in memory",
            sum(from_file$keep), ratios[5]),
    "seconds of the interior point, with the test:",
    shown(data.frame(`lambda/lambda_max` = sprintf("%.3f", ratios[at]), solution = size,
                     round(seconds, 3), check.names = FALSE)))
}

# Seconds of the interior point, with the test, at some of the lambdas.
seconds_after <- function(table, at, rules, times) {
  lambda <- table$fit$path$lambda
  seconds <- lapply(at, function(i) {
    calls <- lapply(stats::setNames(rules, rules), function(rule) {
      function() solve_after(table$problem, lambda[i], rule, table$fit, c(NA, lambda)[i])
    })
    interleaved(calls, times, cpu)
  })
  do.call(rbind, seconds)
}

# Figure 3 in the number of the paper -------------------------------------------------------------

# Texts in the number of the paper's abstracts. Words follow Zipf's law, steeper for rare ones and
# without the most frequent, the stop words; a third of the words of a text belong to its topic, one
# of 200 with 500 words each. The response is the count of word 2000, the first of the first topic.
# The matrix is filled in from blocks of texts, so that it is in memory once.
abstracts <- function(texts, n = 127025L, word = 2000L) {
  set.seed(2010)
  common <- 1 / ((seq_len(n) + 60) * (1 + seq_len(n) / 1e4))
  topics <- matrix(sample.int(n, 200 * 500, TRUE, common), 200)
  topics[1, 1] <- word
  y <- numeric(texts)
  blocks <- split(seq_len(texts), (seq_len(texts) - 1) %/% 10000)
  drawn <- lapply(unname(blocks), function(rows) {
    block <- draw_texts(length(rows), common, topics)
    own <- block$word == word
    y[rows[block$text[own]]] <<- block$count[own]
    list(word = block$word[!own] - (block$word[!own] > word), row = rows[1] - 2L + block$text[!own],
         count = as.raw(pmin(block$count[!own], 255L)))
  })
  list(name = "simulated abstracts", word = word, x = by_columns(drawn, texts, n - 1L), y = y)
}

# word, text and count of some texts, by word and then text
draw_texts <- function(texts, common, topics) {
  tokens <- pmax(5, round(80 * exp(rnorm(texts, sd = 0.4))))
  text <- rep(seq_len(texts), tokens)
  word <- sample.int(length(common), length(text), TRUE, common)
  topical <- which(runif(length(text)) < 0.3)
  topic <- sample.int(nrow(topics), texts, TRUE)[text[topical]]
  rank <- sample.int(ncol(topics), length(topical), TRUE, 1 / (seq_len(ncol(topics)) + 5))
  word[topical] <- topics[cbind(topic, rank)]
  key <- sort.int((word - 1L) * texts + text - 1L, method = "radix")
  first <- which(c(TRUE, diff(key) != 0L))
  list(word = key[first] %/% texts + 1L, text = key[first] %% texts + 1L,
       count = diff(c(first, length(key) + 1L)))
}

# a dgCMatrix of blocks of rows
by_columns <- function(drawn, texts, n) {
  counts <- lapply(drawn, function(block) tabulate(block$word, n))
  p <- c(0L, cumsum(Reduce(`+`, counts)))
  i <- integer(p[n + 1])
  x <- numeric(p[n + 1])
  from <- p[-(n + 1)]
  for (b in seq_along(drawn)) {
    block <- drawn[[b]]
    at <- seq_along(block$word) + (from - cumsum(counts[[b]]) + counts[[b]])[block$word]
    i[at] <- block$row
    x[at] <- as.numeric(block$count)
    from <- from + counts[[b]]
    drawn[b] <- list(NULL)
  }
  methods::new("dgCMatrix", i = i, p = p, x = x, Dim = c(texts, n))
}

# The cosine of the response and the column whose product with it is lambda_max
cosine_of <- function(text) {
  products <- abs(as.vector(Matrix::crossprod(text$x, text$y)))
  column <- text$x[, which.max(products)]
  max(products) / sqrt(sum(text$y^2) * sum(column^2))
}

run_abstracts <- function(at = c(2, 4)) {
  text <- abstracts(as.integer(line$options$texts))
  table <- screen_table(text, FALSE)
  all <- megabytes(text$x)
  save_picture("abstracts", 1100, 460, function() {
    panels(2)
    draw_lines(ratios, cbind(all = ncol(text$x), table$size), xlab = "lambda / lambda_max",
               ylab = "columns", main = "Columns left", ylim = c(1, ncol(text$x)))
    draw_lines(ratios, cbind(all = all, table$memory), xlab = "lambda / lambda_max",
               ylab = "MB of x to be loaded", main = "Memory", ylim = c(1, all))
    key("bottomleft", c("all", "safe1", "safe2", "gap", "solution"))
  })
  c("Figure 3, simulated texts (the paper: 1,000,000 x 127,025 with 82.2 million nonzeros)",
    sprintf("%.1f million nonzeros; a word is in %.0f texts on average, in %.0f in the median,",
            length(text$x@i) / 1e6, length(text$x@i) / ncol(text$x), median(diff(text$x@p))),
    sprintf("the most frequent in %.0f %% of them", 100 * max(diff(text$x@p)) / nrow(text$x)),
    screen_lines(text, table, FALSE), "25 % of x in memory are enough for",
    reach_lines(table, all, 0.25), "50 % of x in memory are enough for",
    reach_lines(table, all, 0.5), "seconds of the interior point, with the test, once:",
    shown(data.frame(`lambda/lambda_max` = sprintf("%.3f", ratios[at]),
                     solution = table$size$solution[at],
                     round(seconds_after(table, at, "safe2", 1), 1), check.names = FALSE)),
    "cosine of the response and the column that makes lambda_max: here, then in the real texts",
    sprintf("  %-22s %.3f", c(text$name, names(words)),
            c(cosine_of(text), vapply(names(words), function(name) cosine_of(read_text(name)), 0))),
    memory_lines())
}

# The largest memory of this process so far, where the system tells.
memory_lines <- function() {
  if (!file.exists("/proc/self/status")) return(character())
  peak <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  sprintf("most memory of the process: %.1f GB", as.numeric(gsub("[^0-9]", "", peak)) / 2^20)
}

# Figure 4: time ----------------------------------------------------------------------------------

run_time <- function() {
  text <- read_text("text_nyt_headlines18k")
  table <- screen_table(text, FALSE)
  problem <- table$problem
  lambda <- table$fit$path$lambda
  methods <- c("none", "safe1", "safe2", "gap")
  seconds <- t(vapply(seq_along(lambda), function(i) {
    calls <- lapply(stats::setNames(methods, methods), function(rule) {
      function() solve_after(problem, lambda[i], rule, table$fit, c(NA, lambda)[i])
    })
    interleaved(calls, times, cpu)
  }, numeric(4)))
  size <- table$size$solution
  save_picture("time", 1100, 460, function() {
    panels(2)
    draw_lines(ratios, cbind(all = ncol(problem), table$size), xlab = "lambda / lambda_max",
               ylab = "columns", main = "Columns left", ylim = c(0.2, ncol(problem)))
    key("bottomleft", c("all", "safe1", "safe2", "gap", "solution"))
    draw_lines(size, seconds, log = "x", xlab = "columns in the solution",
               ylab = "seconds, test and interior point", main = "Time",
               ylim = c(0, max(seconds)))
    key("bottomright", methods)
  })
  c("", sprintf("Figure 4. %s, no intercept", title_of(text)),
    sprintf("seconds of test and interior point (medians of %d), and how many times faster", times),
    "than without a test",
    shown(data.frame(`lambda/lambda_max` = sprintf("%.3f", ratios), table$size, round(seconds, 3),
                     ratio = round(seconds[, 1] / seconds[, -1], 1), check.names = FALSE)),
    "", total_lines())
}

# Whole paths, as the fitter does them with its own tests.
total_lines <- function() {
  screens <- c("none", "safe1", "safe2", "gap")
  totals <- lapply(names(words), function(name) {
    problem <- as_lasso(read_text(name))
    lambda <- 10^(-(1:5) / 5) * lambda_max(problem)
    fits <- list()
    seconds <- vapply(screens, function(screen) {
      cpu(function() fits[[screen]] <<- interior(problem, lambda, screen = screen))
    }, 0)
    exact_seconds <- cpu(function() fit <<- exact_path(problem, lambda))
    far <- vapply(fits, function(one) max(abs(one$path$objective - fit$path$objective)), 0)
    stopifnot(far <= 2 * tolerance * fit$null_objective)
    data.frame(data = name, t(round(seconds, 2)), cd = round(exact_seconds, 3),
               `sum kept` = paste(vapply(fits, function(one) sum(one$path$columns_kept), 0),
                                  collapse = " "), check.names = FALSE)
  })
  c("one call of l1_path(solver = \"ipm\", screen = ) for 5 lambdas from .63 to .10 lambda_max:",
    "seconds; those of solver = \"cd\" with its own screen; columns kept, summed over lambda",
    shown(do.call(rbind, totals)))
}
fit <- NULL

# Figures 5 and 6: many subsets -------------------------------------------------------------------

# Headlines of two years each, the words that occur in them, and "economy", which all years have.
subsets <- function() {
  data <- readRDS(file.path(directory, "text_nyt_headlines18k.rds"))
  data$name <- "text_nyt_headlines18k"
  period <- pmax(0, data$y - 1980) %/% 2
  lapply(utils::head(split(seq_along(period), period), subsets_n), function(rows) {
    with_word(data, "economy", rows)
  })
}

grid <- 10^(-(1:15) / 5)

run_subset <- function(text) {
  problem <- as_lasso(text)
  lambda <- grid * lambda_max(problem)
  fit <- exact_path(problem, lambda)
  kept <- kept_columns(problem, fit, c("safe1", "safe2"))
  rules <- c(none = "none", safe1 = "safe1", safe2 = "safe2")
  seconds <- vapply(seq_along(lambda), function(i) {
    vapply(rules, function(rule) {
      cpu(function() solve_after(problem, lambda[i], rule, fit, c(NA, lambda)[i]))
    }, 0)
  }, numeric(3))
  data.frame(ratio = grid, size = fit$path$size, n = ncol(problem), m = nrow(problem),
             lapply(kept, colSums), time = t(seconds), total = apply(seconds, 1, cumsum),
             row.names = NULL)
}

bins <- c(0, 5, 10, 20, 50, 100, 200, Inf)
bin_names <- c("1-5", "6-10", "11-20", "21-50", "51-100", "101-200", "> 200")

by_bin <- function(values, size) {
  groups <- split(values, cut(size, bins, bin_names))
  t(vapply(groups, function(group) {
    if (length(group)) stats::quantile(group, c(0.25, 0.5, 0.75)) else rep(NA_real_, 3)
  }, numeric(3)))
}

run_subsets <- function() {
  results <- lapply(subsets(), run_subset)
  rows <- do.call(rbind, results)
  last <- rows[rows$ratio == min(grid), ]
  share <- lapply(c(safe1 = "safe1", safe2 = "safe2", solution = "size"), function(column) {
    values <- vapply(results, function(one) one[[column]] / one$n, numeric(length(grid)))
    cbind(mean = rowMeans(values), low = apply(values, 1, min), high = apply(values, 1, max))
  })
  part <- function(name) {
    list(each = by_bin(100 * rows[[paste0("time.", name)]] / rows$time.none, rows$size),
         so_far = by_bin(100 * rows[[paste0("total.", name)]] / rows$total.none, rows$size))
  }
  percent <- list(safe1 = part("safe1"), safe2 = part("safe2"))
  save_picture("subsets", 1100, 460, function() {
    panels(2)
    draw_shares(share)
    draw_percent(percent$safe2)
  })
  counts <- as.vector(table(cut(rows$size, bins, bin_names)))
  medians <- lapply(percent, function(one) lapply(one, function(values) round(values[, 2])))
  c("", sprintf("Figure 5. %d subsets of two years of text_nyt_headlines18k, response economy:",
                length(results)),
    sprintf("%d to %d rows, %d to %d words, no intercept", min(rows$m), max(rows$m), min(rows$n),
            max(rows$n)),
    "percent of the columns: mean (smallest to largest)",
    shown(data.frame(`lambda/lambda_max` = sprintf("%.4f", grid), lapply(share, function(one) {
      apply(100 * one, 1, function(v) sprintf("%.1f (%.1f to %.1f)", v[1], v[2], v[3]))
    }), check.names = FALSE)),
    "time after a test in percent of that without: medians of each model and of the path so far",
    shown(data.frame(columns = bin_names, models = counts, medians)),
    sprintf("a path of %d lambdas, mean over the subsets: %.2f s without a test,", length(grid),
            mean(last$total.none)),
    sprintf("%.2f s after SAFE1, %.2f s after SAFE2", mean(last$total.safe1),
            mean(last$total.safe2)))
}

draw_shares <- function(share) {
  plot(range(grid), c(1e-4, 1), type = "n", log = "xy", xlab = "lambda / lambda_max", yaxt = "n",
       ylab = "% of the columns", main = "Columns left: mean and range")
  axis(2, 10^(-4:0), c("0.01", "0.1", "1", "10", "100"))
  for (name in names(share)) {
    one <- pmax(share[[name]], 1e-4)
    polygon(c(grid, rev(grid)), c(one[, "low"], rev(one[, "high"])), border = NA,
            col = adjustcolor(looks[name, "colour"], 0.15))
    lines(grid, one[, "mean"], type = "o", pch = looks[name, "mark"], lty = looks[name, "line"],
          lwd = 1.7, col = looks[name, "colour"], cex = 0.8)
  }
  key("bottomleft", names(share))
}

draw_percent <- function(percent) {
  at <- seq_along(bin_names)
  plot(range(at), c(0, max(125, percent$each, na.rm = TRUE)), type = "n", xaxt = "n",
       xlab = "columns in the solution", ylab = "time after SAFE2, % of that without",
       main = "Time: median and quartiles")
  axis(1, at, bin_names, cex.axis = 0.75, gap.axis = 0)
  abline(h = 100, lty = 3)
  draw <- function(values, shift, colour, mark, line) {
    segments(at + shift, values[, 1], at + shift, values[, 3], col = colour)
    lines(at + shift, values[, 2], type = "b", pch = mark, lty = line, lwd = 1.7, col = colour)
  }
  draw(percent$each, -0.07, colours[["blue"]], 16, 1)
  draw(percent$so_far, 0.07, colours[["green"]], 2, 2)
  legend("bottomright", c("each model", "the path so far"), col = colours[c("blue", "green")],
         pch = c(16, 2), lty = 1:2, lwd = 1.7, bty = "n")
}

# Figure 6: the lambdas that a search tries, solved by the interior point. SAFE2 starts from the
# nearest lambda tried before.
search_times <- function(problem, size, search) {
  found <- exact(l1_size(problem, size = size, search = search, tolerance = 1e-10))
  lambda <- found$searched$lambda
  seconds <- vapply(seq_along(lambda), function(i) {
    before <- lambda[seq_len(i - 1)]
    lambda0 <- if (i > 1) before[which.min(abs(log(before / lambda[i])))] else NA
    vapply(c(none = "none", safe1 = "safe1", safe2 = "safe2"), function(rule) {
      cpu(function() solve_after(problem, lambda[i], rule, found, lambda0))
    }, 0)
  }, numeric(3))
  data.frame(size = size, search = search, found = found$size, steps = length(lambda),
             t(rowSums(seconds)))
}

sizes <- c(20, 50, 100)
searches <- c("standard", "custom")

run_search <- function() {
  some <- subsets()
  # every third is enough
  rows <- do.call(rbind, lapply(some[seq(min(3, length(some)), length(some), 3)], function(text) {
    problem <- as_lasso(text)
    do.call(rbind, lapply(searches, function(search) {
      do.call(rbind, lapply(sizes, search_times, problem = problem, search = search))
    }))
  }))
  reached <- abs(rows$found - rows$size) <= 2
  rows$safe1_ratio <- rows$none / rows$safe1
  rows$safe2_ratio <- rows$none / rows$safe2
  save_picture("search", 1100, 440, function() {
    panels(2)
    for (search in searches) draw_ratios(rows[rows$search == search, ], search)
  })
  measured <- do.call(rbind, lapply(split(rows, list(rows$size, rows$search)), function(one) {
    spread <- function(values) {
      sprintf("%.2f (%.2f to %.2f)", stats::median(values), min(values), max(values))
    }
    data.frame(size = one$size[1], search = one$search[1], steps = round(mean(one$steps), 1),
               none = round(mean(one$none), 2), safe1 = round(mean(one$safe1), 2),
               safe2 = round(mean(one$safe2), 2), `none/safe1` = spread(one$safe1_ratio),
               `none/safe2` = spread(one$safe2_ratio), check.names = FALSE)
  }))
  c("", sprintf("Figure 6. Every third of these subsets: %d searches for 20, 50, 100 columns,",
                length(reached)),
    sprintf("%d of which ended within 2 of them", sum(reached)),
    "solutions tried and seconds (means); ratios of time, median (smallest to largest)",
    shown(measured))
}

draw_ratios <- function(rows, search) {
  values <- c(rbind(split(rows$safe1_ratio, rows$size), split(rows$safe2_ratio, rows$size)))
  at <- c(1, 2, 4, 5, 7, 8)
  boxplot(values, at = at, xaxt = "n", ylim = c(0, 1.4 * max(rows$safe1_ratio, rows$safe2_ratio)),
          col = c("white", "grey75"), xlab = "columns wanted", main = paste(search, "search"),
          ylab = "time without a test / time after it")
  axis(1, c(1.5, 4.5, 7.5), sizes)
  abline(h = 1, lty = 3)
  legend("topright", c("after SAFE1", "after SAFE2"), fill = c("white", "grey75"), bty = "n")
}

# Figures 7 and 8: small coefficients -------------------------------------------------------------

# Appendix D
simulated <- function(m, n, seed) {
  set.seed(seed)
  x <- matrix(stats::rnorm(m * n), m)
  s <- min(m, n / 2)
  y <- rowSums(x[, seq_len(s)]) * (0.1 + 1 / s) + stats::rnorm(m, sd = sqrt(0.2))
  as_problem(x, y, standardize = FALSE)
}

alphas <- c(1.5, 2, 3, 4, 5)
rule_names <- c("KKT", paste0("TR(", alphas, ")"))

# Columns that each rule leaves, less those of the exact solution, for an interior point whose gap
# is `epsilon` of the optimum.
threshold_case <- function(problem, what, ratio) {
  lambda <- ratio * lambda_max(problem)
  fit <- exact_path(problem, lambda, 1e-12)
  by_gap <- lapply(c(1e-4, 1e-8), function(epsilon) {
    measured <- vapply(seq_along(lambda), function(i) {
      allowed <- epsilon * fit$path$objective[i] / fit$null_objective
      seconds <- cpu(function() {
        point <<- suppressWarnings(l1_path(problem, lambda = lambda[i], solver = "ipm",
                                           screen = "none", tolerance = allowed))
      })
      rules <- c(list(threshold_coef(point, "kkt")),
                 lapply(alphas, function(alpha) threshold_coef(point, alpha = alpha)))
      worst <- vapply(rules, function(one) one$path$objective / fit$path$objective[i] - 1, 0)
      c(vapply(rules, function(one) one$path$size, 0L), seconds, worst,
        max(point$path$gap) / fit$path$objective[i])
    }, numeric(14))
    list(size = t(measured[1:6, ]), seconds = measured[7, ], excess = t(measured[8:13, ]),
         gap = measured[14, ])
  })
  list(what = what, ratio = ratio, n = ncol(problem), exact = fit$path$size, fit = fit,
       problem = problem, by_gap = stats::setNames(by_gap, c("1e-4", "1e-8")))
}
point <- NULL

glmnet_line <- function(case) {
  if (!requireNamespace("glmnet", quietly = TRUE)) return("glmnet is not installed")
  problem <- case$problem
  m <- nrow(problem)
  path <- glmnet::glmnet(problem$x, problem$y[, 1], lambda = case$fit$path$lambda / m,
                         standardize = FALSE, intercept = problem$intercept, thresh = 1e-14,
                         maxit = 1e6)
  theirs <- as.matrix(path$beta != 0)
  differ <- vapply(seq_len(ncol(theirs)), function(i) {
    length(union(setdiff(which(theirs[, i]), case$fit$solutions[[i]]$features),
                 setdiff(case$fit$solutions[[i]]$features, which(theirs[, i]))))
  }, 0L)
  sprintf("columns in which glmnet (thresh = 1e-14) and the exact solution differ: %s",
          paste(differ, collapse = " "))
}

threshold_lines <- function(case, check) {
  text <- c("", sprintf("%s; columns less those of the exact solution", case$what))
  for (epsilon in names(case$by_gap)) {
    one <- case$by_gap[[epsilon]]
    table <- data.frame(`lambda/lambda_max` = sprintf("%.4f", case$ratio), exact = case$exact,
                        one$size - case$exact, s = round(one$seconds, 2), check.names = FALSE)
    names(table)[3:8] <- rule_names
    over <- apply(one$excess, 2, max) / as.numeric(epsilon)
    text <- c(text, sprintf("gap %s of the optimum (reached: %.0e to %.0e)", epsilon, min(one$gap),
                            max(one$gap)),
              shown(table), sprintf("largest excess over the optimum, in units of %s: %s", epsilon,
                                    paste(rule_names, sprintf("%.3g", over), collapse = ", ")))
  }
  c(text, if (check) glmnet_line(case))
}

draw_case <- function(case, epsilon) {
  values <- (case$by_gap[[epsilon]]$size - case$exact) / case$n
  both <- (rbind(case$by_gap[[1]]$size, case$by_gap[[2]]$size) - case$exact) / case$n
  look <- data.frame(colour = c("black", "#E69F00", colours[["red"]], colours[["blue"]],
                                colours[["green"]], "#777777"), mark = c(4, 1, 16, 2, 5, 0),
                     line = c(2, 1, 1, 1, 1, 1))
  matplot(case$ratio, values, type = "b", log = "x", col = look$colour, pch = look$mark,
          lty = look$line, lwd = 1.6, cex = 0.9, ylim = range(both, 0),
          xlab = "lambda / lambda_max", ylab = "difference / n",
          main = sprintf("%s, gap %s", case$what, epsilon))
  abline(h = 0, lty = 3)
  if (epsilon == "1e-8") {
    legend("bottomleft", rule_names, col = look$colour, pch = look$mark, lty = look$line, lwd = 1.6,
           bty = "n", cex = 0.9, ncol = 2)
  }
}

run_threshold <- function() {
  headlines <- as_lasso(read_text("text_nyt_headlines18k"))
  cases <- list(
    threshold_case(simulated(5000, 2500, 1), "m = 5000, n = 2500", 10^-c(.1, .3, .6, 1, 1.5, 2, 3)),
    threshold_case(simulated(100, 500, 2), "m = 100, n = 500", 10^(-(1:12) / 4)),
    threshold_case(headlines, "headlines, china", 10^(-(1:12) / 4))
  )
  save_picture("threshold", 1100, 1150, function() {
    panels(6, 3)
    for (case in cases) for (epsilon in c("1e-4", "1e-8")) draw_case(case, epsilon)
  })
  c("", "Figures 7 and 8. Rules for small coefficients of interior points",
    unlist(Map(threshold_lines, cases, c(TRUE, TRUE, FALSE))))
}

# Run ---------------------------------------------------------------------------------------------

runs <- list(screen = run_screen, time = run_time, subsets = run_subsets, search = run_search,
             threshold = run_threshold, abstracts = run_abstracts)

# Runs some parts, and saves what they print if they are all that belong to the file.
run_parts <- function(own, file) {
  some <- intersect(own, wanted)
  if (!length(some)) return(invisible())
  lines <<- character()
  open_gaps[] <<- 0
  say("El Ghaoui, Viallon, Rabbani (2010), Section 7 and Appendix D, in kind")
  say("%s", machine_line())
  say("%d repeats, %d subsets, parts %s; seconds are those of the processor", times, subsets_n,
      paste(some, collapse = ", "))
  from <- proc.time()
  for (part in some) {
    say("")
    for (text in runs[[part]]()) say("%s", text)
    message(sprintf("%s: %.1f minutes", part, sum((proc.time() - from)[1:2]) / 60))
  }
  say("")
  say("exact solutions that did not reach their gap: %.0f of %.0f", open_gaps[["open"]],
      open_gaps[["all"]])
  say("%.1f minutes of the processor", sum((proc.time() - from)[1:2]) / 60)
  if (setequal(some, own)) writeLines(lines, file.path(line$options$out, file))
}

run_parts(setdiff(parts, "abstracts"), "safe.txt")
run_parts("abstracts", "safe-abstracts.txt")
