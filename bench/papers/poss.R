# The experiments of Qian, Yu, Zhou (2015), Subset selection by Pareto optimization, Section 5: the
# training R^2 of the methods at k = 8 (their Table 2), training and test R^2 by size (Figures 1 and
# 3), R^2 by running time (Figure 2) and the l2 penalty on sonar (Figure 4).
#
#   Rscript bench/papers/poss.R DIR [data set ...] [share=1] [cores=1] [out=bench/results/papers]
#
# DIR holds the data sets as .rds files (bench/README.md says what is in each and where to get it).
# Without names all nine are run and the figures are saved; cores=2 takes about 12 minutes. Any
# other name is that of a file of DIR, for a table like that of the others. share=0.1 is a quick
# look with a tenth of the splits. The figures do not depend on the number of cores. The lasso comes
# from glmnet, MCP and SCAD from ncvreg, where these packages are installed.
#
# Sources: R/search-poss.R src/subset*

library(sparsels)
source("bench/common.R")

k <- 8L

# `optimum`: in how many of the splits the best subset is sought and proven; `sizes`: in how many
# splits all sizes from 3 are compared; `runs`: how many runs of POSS are followed in time; `part`:
# not the paper's columns, so not counted as agreeing or not.
data_sets <- list(
  housing = list(splits = 100, optimum = 100),
  eunite2001 = list(splits = 100, optimum = 100),
  svmguide3 = list(splits = 100, optimum = 100, sizes = 40),
  ionosphere = list(splits = 100, optimum = 100),
  sonar = list(splits = 100, optimum = 100, sizes = 50, ridge = 50),
  coil2000 = list(splits = 20, optimum = 20),
  mushrooms = list(splits = 20, optimum = 20),
  gisette = list(file = "gisette_6000x1000", splits = 10, step = 0.1, runs = 30,
                 part = "1000 of the 5000 columns"),
  farm_ads = list(splits = 10, large = TRUE, runs = 6)
)

# Table 2, training R^2 and its standard deviation over 100 splits.
paper_methods <- c("OMP", "FoBa", "MCP", "FR", "RFE", "POSS", "OPT")
paper_table <- list(
  housing = c(.7415, .7423, .7354, .7429, .7388, .7437, .7437),
  eunite2001 = c(.8349, .8442, .8320, .8348, .8424, .8482, .8484),
  svmguide3 = c(.2557, .2601, .2397, .2615, .2136, .2701, .2705),
  ionosphere = c(.5921, .5929, .5740, .5920, .5832, .5990, .5995),
  sonar = c(.5112, .5138, .4496, .5171, .4321, .5365, NA),
  triazines = c(.4073, .4107, .3793, .4150, .3615, .4301, NA),
  coil2000 = c(.0619, .0619, .0570, .0624, .0363, .0627, NA),
  mushrooms = c(.9909, .9909, .8652, .9909, .6813, .9912, NA),
  clean1 = c(.4132, .4145, .3563, .4169, .1596, .4368, NA),
  w5a = c(.3313, .3341, .2694, .3319, .3342, .3376, NA),
  gisette = c(.6731, .6747, .5709, .7001, .5360, .7265, NA),
  farm_ads = c(.4170, .4170, .3771, .4196, NA, .4217, NA)
)
paper_sd <- list(
  housing = c(.0300, .0301, .0297, .0300, .0304, .0297, .0297),
  eunite2001 = c(.0150, .0144, .0150, .0143, .0153, .0132, .0132),
  svmguide3 = c(.0270, .0279, .0237, .0260, .0325, .0257, .0255),
  ionosphere = c(.0353, .0346, .0348, .0352, .0415, .0329, .0326),
  sonar = c(.0425, .0432, .0482, .0440, .0636, .0410, NA),
  triazines = c(.0591, .0600, .0584, .0592, .0712, .0603, NA),
  coil2000 = c(.0075, .0075, .0075, .0076, .0141, .0076, NA),
  mushrooms = c(.0022, .0022, .0474, .0021, .1294, .0020, NA),
  clean1 = c(.0315, .0309, .0364, .0299, .0562, .0300, NA),
  w5a = c(.0246, .0258, .0385, .0247, .0276, .0267, NA),
  gisette = c(.0134, .0145, .0123, .0116, .0318, .0098, NA),
  farm_ads = c(.0113, .0113, .0110, .0101, NA, .0100, NA)
)
in_paper <- function(table, name, methods) {
  if (is.null(table[[name]])) return(rep(NA_real_, length(methods)))
  table[[name]][match(methods, paper_methods)]
}

line <- command_line(list(share = "1", cores = "1", out = "bench/results/papers"))
if (!length(line$words)) stop("usage: Rscript bench/papers/poss.R DIR [data set ...]")
directory <- line$words[1]
wanted <- if (length(line$words) > 1) line$words[-1] else names(data_sets)

settings <- function(name) {
  utils::modifyList(list(name = name, file = name, splits = 100, optimum = 0, step = 1,
                         large = FALSE), as.list(data_sets[[name]]))
}
file_of <- function(name) file.path(directory, paste0(settings(name)$file, ".rds"))
stopifnot(file.exists(vapply(wanted, file_of, "")))

times <- function(count) max(3L, as.integer(round(count * as.numeric(line$options$share))))

# Two classes are regressed on as -1 and 1, as in the paper.
read_problem <- function(name) {
  data <- readRDS(file_of(name))
  x <- data$X
  if (is.matrix(x)) storage.mode(x) <- "double"
  classes <- unique(data$y)
  y <- if (length(classes) == 2) 2 * as.integer(factor(data$y)) - 3 else as.numeric(data$y)
  as_problem(x, y)
}

# Methods -----------------------------------------------------------------------------------------

has <- function(package) requireNamespace(package, quietly = TRUE)

# The largest support with at most k columns on a path of lambda.
support <- function(beta, k) {
  count <- colSums(beta != 0)
  fits <- which(count <= k)
  which(beta[, max(fits[count[fits] == max(count[fits])])] != 0)
}

lasso <- function(problem, k) {
  path <- glmnet::glmnet(problem$x, problem$y[, 1], dfmax = 4 * k)
  support(as.matrix(path$beta), k)
}

folded <- function(penalty) {
  function(problem, k) {
    usable <- which(problem$usable)
    x <- as.matrix(problem$x[, usable])
    path <- suppressWarnings(ncvreg::ncvreg(x, problem$y[, 1], penalty = penalty, dfmax = 4 * k))
    usable[support(path$beta[-1, , drop = FALSE], k)]
  }
}

# One search finds all sizes up to 8, so it is kept for the smaller ones, which come later. A split
# is known by a sum over its matrix with weights that let no two splits agree.
known <- new.env()
optimum <- function(lambda = 0) {
  function(problem, k) {
    sums <- as.vector(problem$x %*% sin(seq_len(ncol(problem))))
    key <- sprintf("%.12g %g", sum(sums * sin(seq_along(sums))), lambda)
    if (is.null(known[[key]])) {
      known[[key]] <- best_subset(problem, k = k, lambda = lambda, progress = FALSE)
    }
    stopifnot(known[[key]]$proof$gap == 0)
    known[[key]]
  }
}

# T of the paper; poss() by itself makes no more than a million flips
all_iterations <- function(problem, k) floor(2 * exp(1) * k^2 * sum(problem$usable))

paper_poss <- function(restarts, lambda = 0) {
  function(problem, k) {
    poss(problem, k = k, lambda = lambda, iterations = all_iterations(problem, k),
         restarts = restarts, progress = FALSE)
  }
}

methods_of <- function(set, lambda = 0) {
  list(
    POSS = paper_poss(1, lambda),
    FR = function(problem, k) forward_regression(problem, k = k, lambda = lambda),
    FoBa = function(problem, k) foba(problem, k = k, lambda = lambda),
    OMP = function(problem, k) omp(problem, k = k, lambda = lambda),
    RFE = if (!set$large) function(problem, k) rfe(problem, k = k, lambda = lambda, step = set$step)
  )
}

penalties <- function(set, scad = FALSE) {
  list(MCP = if (has("ncvreg") && !set$large) folded("MCP"),
       SCAD = if (has("ncvreg") && scad) folded("SCAD"), lasso = if (has("glmnet")) lasso)
}

present <- function(methods) Filter(Negate(is.null), methods)

# The same seed gives the same splits, whatever the methods and k.
compare <- function(problem, methods, splits, k) {
  set.seed(2015)
  compare_methods(problem, methods = present(methods), k = k, splits = splits, test = 0.5)
}

# Table 2 -----------------------------------------------------------------------------------------

se <- function(values) sd(values) / sqrt(length(values))

# One row: a method beside POSS on the same splits.
table_row <- function(name, method, result) {
  training <- result$scores[, , "training"]
  test <- result$scores[, , "test"]
  less <- training[, "POSS"] - training[, method]
  ahead <- sign(less) * (abs(less) > 1e-9)
  p <- if (sd(less) > 0) t.test(less)$p.value else NA
  theirs <- in_paper(paper_table, name, c(method, "POSS"))
  first <- method == "POSS"
  data.frame(
    data = name, method = method, splits = nrow(training), paper = theirs[1],
    paper_sd = in_paper(paper_sd, name, method), here = mean(training[, method]),
    sd = sd(training[, method]), paper_less = if (first) NA else theirs[2] - theirs[1],
    less = if (first) NA else mean(less), less_se = if (first) NA else se(less),
    words = if (first) "" else paste(sum(ahead > 0), sum(ahead == 0), sum(ahead < 0), sep = "/"),
    p = if (first) NA else p, test = mean(test[, method]), test_sd = sd(test[, method]),
    test_less = if (first) NA else mean(test[, "POSS"] - test[, method]),
    test_se = if (first) NA else se(test[, "POSS"] - test[, method])
  )
}

make_table <- function(set, problem) {
  methods <- methods_of(set)
  if (!set$large) methods[["POSS x 10"]] <- paper_poss(10)
  methods$exchange <- function(problem, k) poss(problem, k = k, progress = FALSE)
  methods <- c(methods, penalties(set))
  together <- set$optimum >= set$splits
  if (together) methods$OPT <- optimum()
  result <- compare(problem, methods, times(set$splits), k)
  rows <- lapply(colnames(result$chosen), table_row, name = set$name, result = result)
  if (set$optimum > 0 && !together) {
    result <- compare(problem, c(methods["POSS"], OPT = optimum()), times(set$optimum), k)
    rows <- c(rows, list(table_row(set$name, "OPT", result)))
  }
  do.call(rbind, rows)
}

figure <- function(value, digits = 4, sign = FALSE) {
  format <- paste0(if (sign) "%+.", if (!sign) "%.", digits, "f")
  ifelse(is.na(value), "-", sprintf(format, value))
}

# how far two means with their standard errors are apart, in standard errors
apart <- function(a, b, error) figure((a - b) / error, 1, TRUE)

# The standard error of our mean difference less the paper's. Theirs, between two figures rounded to
# four digits, is taken to vary over its 100 splits as ours.
difference_error <- function(table) {
  rounding <- 2 * 1e-4^2 / 12
  sqrt(table$less_se^2 * (1 + table$splits / 100) + rounding)
}

show_table <- function(table) {
  level_se <- sqrt(table$sd^2 / table$splits + table$paper_sd^2 / 100)
  shown <- data.frame(
    method = table$method, splits = table$splits,
    paper = ifelse(is.na(table$paper), "-", sprintf("%.4f (%.4f)", table$paper, table$paper_sd)),
    here = sprintf("%.4f (%.4f)", table$here, table$sd),
    z = apart(table$here, table$paper, level_se),
    `POSS less it: paper` = figure(table$paper_less, 4, TRUE),
    here = ifelse(is.na(table$less), "-", sprintf("%+.4f (%.4f)", table$less, table$less_se)),
    z = apart(table$less, table$paper_less, difference_error(table)),
    `w/t/l` = table$words, p = ifelse(is.na(table$p), "-", format.pval(table$p, 1, eps = 1e-4)),
    `test R2` = sprintf("%.4f (%.4f)", table$test, table$test_sd),
    `POSS less it` = ifelse(is.na(table$test_less), "-",
                            sprintf("%+.4f (%.4f)", table$test_less, table$test_se)),
    check.names = FALSE
  )
  width <- options(width = 250)
  on.exit(options(width))
  capture.output(print(shown, row.names = FALSE))
}

# Figures 1, 3 and 4: by size ---------------------------------------------------------------------

style <- data.frame(
  method = c("OPT", "POSS", "FR", "FoBa", "OMP", "RFE", "MCP", "SCAD", "lasso"),
  colour = c("black", colours[["red"]], colours[["blue"]], colours[["green"]], "#E69F00", "#777777",
             "#CC79A7", "#56B4E9", "#8B6914"),
  mark = c(4, 16, 1, 2, 5, 0, 6, 3, 8), line = c(2, 1, 1, 1, 1, 1, 4, 4, 4)
)

# Panels of sizes x methods, with one legend to their right.
draw_sizes <- function(panels, sizes, labels, what) {
  layout(matrix(1:3, 1), widths = c(1, 1, 0.26))
  par(mar = c(4, 5, 1.4, 1), oma = c(0, 0, 2, 0), mgp = c(3.4, 0.8, 0), las = 1, cex = 0.9)
  used <- style[match(colnames(panels[[1]]), style$method), ]
  for (i in seq_along(panels)) {
    matplot(sizes, panels[[i]], type = "b", col = used$colour, pch = used$mark, lty = used$line,
            lwd = 1.6, cex = 0.9, xlab = "", ylab = labels[i])
    mtext("k", 1, 2.3, cex = 0.9)
  }
  par(mar = c(0, 0, 0, 0))
  plot.new()
  legend("left", used$method, col = used$colour, pch = used$mark, lty = used$line, lwd = 1.6,
         bty = "n", seg.len = 2.6)
  mtext(what, outer = TRUE, font = 2, line = 0.4)
}

save_picture <- function(name, width, height, draw) {
  picture(file.path(line$options$out, sprintf("poss-%s.png", name)), width, height, draw)
}

# from the largest size down, for the sake of optimum()
over_sizes <- function(problem, methods, splits, sizes) {
  results <- lapply(rev(sizes), function(size) compare(problem, methods, splits, size))
  rev(results)
}

by_size <- function(values, sizes, digits = 4) {
  values <- formatC(values, digits = digits, format = "f")
  shown <- data.frame(k = sizes, values, check.names = FALSE)
  capture.output(print(shown, row.names = FALSE))
}

size_figure <- function(set, problem) {
  sizes <- 3:k
  splits <- times(set$sizes)
  methods <- c(OPT = optimum(), methods_of(set), penalties(set, scad = TRUE))
  results <- over_sizes(problem, methods, splits, sizes)
  part <- function(name) {
    t(vapply(results, function(one) colMeans(one$scores[, , name]),
             numeric(length(present(methods)))))
  }
  panels <- list(part("training"), part("test"))
  what <- sprintf("%s, means over %d half splits", set$name, splits)
  save_picture(set$name, 1200, 480, function() {
    draw_sizes(panels, sizes, c("training R-squared", "test R-squared"), what)
  })
  c("", sprintf("Figures 1 and 3. %s: training R-squared", what), by_size(panels[[1]], sizes),
    "test R-squared", by_size(panels[[2]], sizes))
}

# The penalised mean squared error on the training rows, with variables of mean 0 and variance 1.
ridge_rss <- function(problem, rows, columns, lambda) {
  normal <- function(x) {
    x <- scale(x, scale = FALSE)
    x / rep(sqrt(colMeans(x^2)), each = nrow(x))
  }
  x <- normal(problem$x[rows, columns, drop = FALSE])
  y <- normal(problem$y[rows, , drop = FALSE])
  b <- crossprod(x, y) / nrow(x)
  1 - sum(b * solve(crossprod(x) / nrow(x) + diag(lambda, ncol(x)), b))
}

# lambda of the paper times the number of training rows is that of the package.
ridge_figure <- function(set, problem) {
  sizes <- 3:k
  splits <- times(set$ridge)
  lambda <- 0.9615
  ours <- lambda * (nrow(problem) - round(nrow(problem) / 2))
  methods <- c(OPT = optimum(ours), methods_of(set, ours))
  results <- over_sizes(problem, methods, splits, sizes)
  rss <- t(vapply(results, function(one) {
    errors <- mapply(ridge_rss, columns = one$chosen, rows = one$training_rows[row(one$chosen)],
                     MoreArgs = list(problem = problem, lambda = lambda))
    colMeans(matrix(errors, splits, dimnames = list(NULL, colnames(one$chosen))))
  }, numeric(length(methods))))
  test <- t(vapply(results, function(one) colMeans(one$scores[, , "test"]),
                   numeric(length(methods))))
  what <- sprintf("%s with an l2 penalty of %.4f, means over %d half splits", set$name, lambda,
                  splits)
  save_picture("ridge", 1200, 480, function() {
    draw_sizes(list(rss, test), sizes, c("training RSS (penalised)", "test R-squared"), what)
  })
  last <- results[[length(results)]]$scores[, , "test"]
  less <- last[, "POSS"] - last[, c("FR", "FoBa", "OMP", "RFE")]
  c("", sprintf("Figure 4. %s: training RSS", what), by_size(rss, sizes), "test R-squared",
    by_size(test, sizes),
    sprintf("test R-squared at k = 8, POSS less %s: %+.4f (standard error %.4f)", colnames(less),
            colMeans(less), apply(less, 2, se)))
}

# Figure 2: by running time -----------------------------------------------------------------------

# Several runs on all rows, stopped and gone on with at each stage; the best set of 8 or fewer.
time_figure <- function(set, problem) {
  n <- sum(problem$usable)
  bound <- all_iterations(problem, k)
  share <- c(seq(0.01, 0.06, 0.01), seq(0.08, 0.4, 0.02), seq(0.5, 1, 0.1))
  runs <- times(set$runs)
  set.seed(2)
  fit <- NULL
  reached <- vapply(diff(c(0, round(share * bound))), function(iterations) {
    start <- fit
    fit <<- poss(problem, k = k, restarts = runs, iterations = iterations, start = start,
                 progress = FALSE)
    small <- fit$archive[fit$archive$size <= k, ]
    found <- tapply(small$criterion, factor(small$search, seq_len(runs)), max)
    found[is.na(found)] <- 0
    c(mean(found), range(found))
  }, numeric(3))
  greedy <- forward_regression(problem, k = k)
  forward <- greedy$path$criterion[k + 1]
  at <- share * bound / (k * n)
  of <- if (is.null(set$part)) "" else sprintf(" (%s)", set$part)
  what <- sprintf("%s%s: %d x %d, k = 8", set$name, of, nrow(problem), n)
  save_picture(paste0("time-", set$name), 760, 480, function() {
    par(mar = c(4, 5, 2.6, 1), mgp = c(3.4, 0.8, 0), las = 1)
    plot(range(0, at), range(reached[, share > 0.03], forward), type = "n", xlab = "",
         ylab = "training R-squared", main = what)
    mtext("evaluations, in kn", 1, 2.4)
    polygon(c(at, rev(at)), c(reached[2, ], rev(reached[3, ])), border = NA,
            col = adjustcolor(colours["red"], 0.18))
    lines(at, reached[1, ], col = colours["red"], lwd = 2)
    abline(h = forward, col = colours["blue"], lty = 2, lwd = 2)
    legend("bottomright", c(sprintf("POSS, mean and range of %d runs", runs), "forward regression"),
           col = colours[c("red", "blue")], lty = 1:2, lwd = 2, bty = "n")
  })
  above <- which(reached[1, ] > forward)
  first <- if (length(above)) sprintf("first above it at %.0f %% of T", 100 * share[above[1]]) else
    "never above it"
  show <- share %in% c(0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1)
  c("", sprintf("Figure 2. %s; T = %.0f = %.1f kn; mean of %d runs on all rows", what, bound,
                bound / (k * n), runs),
    sprintf("forward regression %.4f; the mean of POSS is %s", forward, first),
    sprintf("at %3.0f %% of T: mean %.4f, runs %.4f to %.4f, above forward regression by %+.4f",
            100 * share, reached[1, ], reached[2, ], reached[3, ], reached[1, ] - forward)[show])
}

# Run ---------------------------------------------------------------------------------------------

run <- function(name) {
  set <- settings(name)
  problem <- read_problem(name)
  from <- Sys.time()
  title <- sprintf("%s: %d x %d (%d columns vary)%s", name, nrow(problem), ncol(problem),
                   sum(problem$usable), if (is.null(set$part)) "" else paste(",", set$part))
  table <- make_table(set, problem)
  text <- c(title, show_table(table))
  if (!is.null(set$sizes)) text <- c(text, size_figure(set, problem))
  if (!is.null(set$ridge)) text <- c(text, ridge_figure(set, problem))
  if (!is.null(set$runs)) text <- c(text, time_figure(set, problem))
  message(sprintf("%s: %.1f minutes", name, difftime(Sys.time(), from, units = "mins")))
  list(table = table, text = c(text, ""))
}

# How many of the comparisons with the paper agree.
summary_lines <- function(table) {
  rivals <- table[!is.na(table$less), ]
  parts <- names(Filter(function(set) !is.null(set$part), data_sets))
  known <- rivals[!is.na(rivals$paper_less) & !rivals$data %in% parts, ]
  z <- (known$less - known$paper_less) / difference_error(known)
  greedy <- rivals[rivals$method %in% c("FR", "FoBa", "OMP", "RFE"), ]
  clear <- greedy$less > 0 & greedy$p < 0.05
  c(
    sprintf("POSS less FR, FoBa, OMP, RFE: above 0 in %d of %d comparisons, in %d with p < 0.05",
            sum(greedy$less > 0), nrow(greedy), sum(clear, na.rm = TRUE)),
    "paired differences within 2.5 standard errors of the paper's, data sets with all columns:",
    vapply(unique(known$method), function(method) {
      one <- known$method == method
      sprintf("  %-6s %d of %d", method, sum(abs(z[one]) < 2.5), sum(one))
    }, "")
  )
}

notes <- c(
  "Training and test R-squared at k = 8: mean (standard deviation) over random half splits. POSS",
  "is the paper's single run of T = floor(2 e k^2 n) iterations, POSS x 10 the best of ten,",
  "exchange the package's default: ten searches of 30 k exchanges. z: here less paper in",
  "standard errors of the difference of the two means; that of the paired differences takes",
  "theirs to vary as ours, and to be rounded. POSS less it: mean (standard error) of the paired",
  "difference; w/t/l: splits in which POSS is above, equal, below; p: paired t-test. OPT is",
  "proven to be the best subset. MCP, SCAD and lasso: least squares on the largest support of at",
  "most 8 columns on the path.",
  ""
)

done <- parallel::mclapply(rev(wanted), run, mc.cores = as.integer(line$options$cores),
                           mc.preschedule = FALSE)
failed <- Filter(function(one) inherits(one, "try-error"), done)
if (length(failed)) stop(failed[[1]])
done <- rev(done)
text <- c(machine_line(), "", notes, unlist(lapply(done, `[[`, "text")),
          summary_lines(do.call(rbind, lapply(done, `[[`, "table"))))
writeLines(text)
if (setequal(wanted, names(data_sets))) {
  writeLines(text, file.path(line$options$out, "poss.txt"))
}
