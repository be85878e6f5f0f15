# When is a column better than none, where the groups of rows are a few large studies?
#
#   Rscript bench/study-size.R [sims=25] [columns=100] [draws=] [out=bench/results]
#
# The default rule of size chooses no column unless the gain over the model without columns is
# clear, by a t test whose units are groups of rows. With three to six studies this test has few
# units.
# Here the gains of rows in studies held out are kept, and other tests are tried on the same draws:
#
#   groups   the present test, units are groups
#   rows     units are rows, whatever their group
#   inflated units are rows, their variance times 1 + (n - 1) rho, with rho the correlation of gains
#            within groups (analysis of variance, at least 0) and n the mean number of rows
#   within   `rows` for residuals about the mean of their study
#   signs    `rows`, and every study has a gain
#   both     `within`, and every study has a gain by both residuals
#   most     `within` with the variance of `inflated`, and at most one study in four has a loss
#   adopted  `groups` or `most`
#
# Simulated: studies of 30 to 50 rows, with and without study effects on the response (standard
# deviation 1.5) and on columns (standard deviation 0.7), with no effect of any column ("noise"),
# with two columns that explain half of the variance within studies ("half") or nine tenths
# ("most").
# The designs with 3, 5 and 7 studies choose a test, the ones with 4, 6 and 8 confirm it. A test is
# adopted if it names columns in at most 8 % of the draws of every noise design. Then noise whose
# rows follow each other within a study, in the response and in all columns, with an autocorrelation
# of 0.5 or 0.9. Draws are kept in the directory `draws`, and read from there. About ten minutes of
# CPU.

library(sparsels)
source("bench/common.R")

line <- command_line(list(sims = "25", columns = "100", draws = "", out = "bench/results"))
given <- line$options
sims <- as.integer(given$sims)
n <- as.integer(given$columns)
level <- 0.015

# Draws -------------------------------------------------------------------------------------------

simulated <- function(design) {
  study <- rep(seq_len(design$studies), sample(30:50, design$studies, replace = TRUE))
  m <- length(study)
  shift <- matrix(rnorm(design$studies * n, sd = if (design$shifted) 0.7 else 0), design$studies)
  x <- matrix(rnorm(m * n), m) + shift[study, ]
  signal <- c(noise = 0, half = 1, most = 3)[[design$signal]] * (x[, 1] + x[, 2]) / sqrt(2)
  y <- signal + rnorm(m) + rnorm(design$studies, sd = if (design$effects) 1.5 else 0)[study]
  list(x = x, y = y, study = study)
}

# The sums over the rows of a fold of the gains of models, their squares and cubes, and the number
# of rows, of residuals as they are and about their mean.
kept_gains <- function(scores, problem, unit, limit, loss = "squared") {
  own <- sparsels:::residuals_of(problem, scores)
  about <- own - rep(apply(own, 2:3, mean), each = dim(own)[1L])
  rbind(sparsels:::gain_moments(sparsels:::huber_losses(own, limit), problem$rows$weight),
        sparsels:::gain_moments(sparsels:::huber_losses(about, limit), problem$rows$weight))
}

# The moments of each fold (8 x folds) of the model with the smallest error, and whether a rank test
# has said that a column is related to the response.
one_draw <- function(design, d = simulated(design)) {
  kept <- NULL
  seen <- function(errors, model) {
    if (is.null(kept)) {
      kept <<- list(moments = vapply(errors$gains, function(one) one[, model], numeric(8L)),
                    related = isTRUE(errors$clear))
    }
    TRUE
  }
  old <- list(is_clear_gain = sparsels:::is_clear_gain, score_gains = sparsels:::score_gains)
  on.exit(for (name in names(old)) utils::assignInNamespace(name, old[[name]], "sparsels"))
  utils::assignInNamespace("is_clear_gain", seen, "sparsels")
  utils::assignInNamespace("score_gains", kept_gains, "sparsels")
  suppressMessages(suppressWarnings(
    greedy_rls(d$x, d$y, groups = d$study, progress = FALSE, k = 6)
  ))
  kept
}

# Tests -------------------------------------------------------------------------------------------

# Hall's t test of a mean from sums over units, as is_clear_gain() has it, with the variance of the
# mean times `inflation`.
clear <- function(sums, inflation = 1) {
  units <- sums[4L]
  moments <- sums[1:3] / units
  mean <- moments[1L]
  variance <- moments[2L] - mean^2
  if (units < 2 || variance <= 1e-12 * moments[2L]) return(units > 1 && mean > 0)
  skewness <- (moments[3L] - 3 * mean * moments[2L] + 2 * mean^3) / variance^1.5
  t <- mean * sqrt((units - 1) / variance / inflation)
  by <- skewness / sqrt(units)
  t + by * t^2 / 3 + by^2 * t^3 / 27 + by / 6 > qt(1 - level, units - 1)
}

group_sums <- function(each) {
  c(sum(each[1L, ]), sum(each[1L, ]^2), sum(each[1L, ]^3), ncol(each))
}

# 1 + (n - 1) rho, from the analysis of variance of gains.
inflation <- function(each) {
  count <- each[4L, ]
  total <- sum(count)
  groups <- ncol(each)
  between <- (sum(each[1L, ]^2 / count) - sum(each[1L, ])^2 / total) / (groups - 1)
  within <- (sum(each[2L, ]) - sum(each[1L, ]^2 / count)) / (total - groups)
  size <- (total - sum(count^2) / total) / (groups - 1)
  rho <- max(0, (between - within) / (between + (size - 1) * within))
  1 + (mean(count) - 1) * rho
}

tests <- function(kept) {
  raw <- kept$moments[1:4, , drop = FALSE]
  about <- kept$moments[5:8, , drop = FALSE]
  all_gain <- all(raw[1L, ] > 0)
  most <- clear(rowSums(about), inflation(about)) && mean(about[1L, ] <= 0) <= 0.25
  c(groups = clear(group_sums(raw)), rows = clear(rowSums(raw)),
    inflated = clear(rowSums(raw), inflation(raw)), within = clear(rowSums(about)),
    signs = clear(rowSums(raw)) && all_gain,
    both = clear(rowSums(about)) && all_gain && all(about[1L, ] > 0),
    most = most, adopted = clear(group_sums(raw)) || most) | kept$related
}

# Runs --------------------------------------------------------------------------------------------

designs <- expand.grid(studies = 3:8, effects = c(FALSE, TRUE), shifted = c(FALSE, TRUE),
                       signal = c("noise", "half", "most"), stringsAsFactors = FALSE)
set.seed(1)
shares <- do.call(rbind, lapply(seq_len(nrow(designs)), function(i) {
  design <- designs[i, ]
  file <- file.path(given$draws, sprintf("%02d.rds", i))
  if (file.exists(file)) return(colMeans(do.call(rbind, lapply(readRDS(file)$drawn, tests))))
  count <- if (design$signal == "noise") 2L * sims else sims
  drawn <- Filter(Negate(is.null), lapply(seq_len(count), function(j) one_draw(design)))
  if (nzchar(given$draws)) saveRDS(list(design = design, drawn = drawn), file)
  colMeans(do.call(rbind, lapply(drawn, tests)))
}))

# Noise in which every row is like the row before it in its study.
followed <- function(studies, by) {
  m <- 40L * studies
  values <- matrix(rnorm(m * (n + 1L)), m)
  for (row in setdiff(seq_len(m), seq(1L, m, 40L))) {
    values[row, ] <- by * values[row - 1L, ] + sqrt(1 - by^2) * values[row, ]
  }
  list(x = values[, -1L], y = values[, 1L], study = rep(seq_len(studies), each = 40L))
}

say("%s", machine_line())
for (half in list(chosen = c(3, 5, 7), confirmed = c(4, 6, 8))) {
  for (signal in unique(designs$signal)) {
    rows <- designs$studies %in% half & designs$signal == signal
    heading("%d, %d and %d studies, %s: %% of draws with a column", half[1L], half[2L], half[3L],
            signal)
    say("")
    say_table(cbind(designs[rows, 1:3], round(100 * shares[rows, ])))
  }
}
set.seed(5)
series <- expand.grid(studies = c(3L, 6L), by = c(0.5, 0.9))
found <- do.call(rbind, lapply(seq_len(nrow(series)), function(i) {
  drawn <- lapply(seq_len(2L * sims), function(j) {
    one_draw(d = followed(series$studies[i], series$by[i]))
  })
  colMeans(do.call(rbind, lapply(drawn, tests)))
}))
heading("autocorrelated noise: %% of draws with a column")
say("")
say_table(cbind(series, round(100 * found)))
writeLines(lines, file.path(given$out, "study-size.txt"))
