# The experiments of Karsmakers, Pelckmans, De Brabanter, Van hamme, Suykens (2011), Sparse
# conjugate directions pursuit with application to fixed-size kernel models: small random systems
# (their Figure 4), compressed sensing (Figures 5 and 6), the number of prototypes and the decision
# boundary on ripley (Figures 7 and 8), benchmark data (Tables 3 and 4), adult (Table 5, Figures 11
# and 13).
#
#   Rscript bench/papers/scdp.R DIR [random sensing ripley small adult] [runs=3] [partitions=5]
#                               [sets=banana,...] [budget=30] [splits=5] [rows=30148]
#                               [svm_rows=30148] [out=bench/results/papers]
#
# DIR holds the data sets as .rds files (bench/README.md says what is in each and where to get it);
# random and sensing do not read it. Without names all parts are run, in about 20 minutes; the
# figures of adult are saved in scdp-adult.txt, those of the other parts, when all of them are run,
# in scdp.txt. runs= and splits= are repetitions of compressed sensing and of adult, partitions=
# those of each benchmark set (a fifth of it for image and splice, as in the paper; "full": all that
# the file gives), budget= the points tried in tuning; the paper has runs=100, splits=5,
# partitions=100. rows= and svm_rows= take fewer rows of adult to train on. Times are CPU seconds on
# one thread. The SVM is that of kernlab, the random forest that of ranger; without them their rows
# are missing. A quick look: adult splits=1 rows=3000 svm_rows=1000 out=/tmp
#
# Sources: R/system*.R R/lssvm-*.R src/pursuit*

library(sparsels)
source("bench/common.R")
source("bench/raetsch.R")

parts <- c("random", "sensing", "ripley", "small", "adult")
line <- command_line(list(runs = "3", partitions = "5", sets = "", budget = "30", splits = "5",
                          rows = "30148", svm_rows = "30148", out = "bench/results/papers"))
given <- line$options
if (!length(line$words)) stop("usage: Rscript bench/papers/scdp.R DIR [part ...]")
directory <- line$words[1]
wanted <- if (length(line$words) > 1) line$words[-1] else parts
stopifnot(dir.exists(directory), wanted %in% parts)
budget <- as.integer(given$budget)
has_kernlab <- requireNamespace("kernlab", quietly = TRUE)

read_data <- function(name) readRDS(file.path(directory, paste0(name, ".rds")))

save_picture <- function(name, width, height, draw) {
  picture(file.path(given$out, sprintf("scdp-%s.png", name)), width, height, draw)
}

frame <- function(count = 1) {
  par(mfrow = c(1, count), mar = c(5, 5.6, 1.5, 1), mgp = c(3.4, 0.7, 0), las = 1)
}

# Lines of some methods, values with a column for each, and what is what
draw_lines <- function(x, values, key = "topright", ...) {
  colour <- c(unname(colours), "black", "#E69F00")[seq_len(ncol(values))]
  matplot(x, values, type = "o", pch = seq_len(ncol(values)), lty = 1, lwd = 1.6, cex = 0.7,
          col = colour, ...)
  legend(key, colnames(values), pch = seq_len(ncol(values)), lwd = 1.6, col = colour,
         bty = "n", cex = 0.9)
}

# Figure 4 ----------------------------------------------------------------------------------------

# ||X w - y||^2 of the model of every size, by method
random_system <- function(seed, rows = 20, D = 15) {
  set.seed(seed)
  x <- matrix(rnorm(rows * D), rows)
  y <- rnorm(rows)
  A <- crossprod(x) + diag(1e-9, D)
  b <- drop(crossprod(x, y))
  error <- function(fit) {
    vapply(seq_len(D), function(size) {
      if (is.null(fit$coefficients[[size + 1]])) return(NA_real_)
      sum((x %*% coef(fit, size = size) - y)^2)
    }, 0)
  }
  best <- best_subset(x, y, k = D, intercept = FALSE, standardize = FALSE, progress = FALSE)
  cbind(
    exhaustive = vapply(seq_len(D), function(size) {
      sum(lm.fit(x[, selected(best, size = size, index = TRUE), drop = FALSE], y)$residuals^2)
    }, 0),
    SCDP = error(scdp(A = A, b = b, k = D)),
    normalised = error(scdp(A = A, b = b, k = D, score = "normalised")),
    OLS = error(scdp(A = A, b = b, k = D, score = "ols")),
    "LASSO, de-biased" = error(lars_path(A, b, k = D)),
    LASSO = error(lars_path(A, b, k = D, debias = FALSE))
  )
}

part_random <- function(runs = 100) {
  errors <- simplify2array(lapply(seq_len(runs), random_system))
  mean <- apply(errors, 1:2, mean, na.rm = TRUE)
  heading("Figure 4. Random systems 20 x 15, eps = 1e-9, ||Xw - y||^2, means of %d runs", runs)
  say_table(data.frame(size = seq_len(nrow(mean)), mean, check.names = FALSE))
  inner <- 2:13
  order_holds <- function(low, high) mean(mean[inner, low] < mean[inner, high])
  say("the paper prints no figures, but: exhaustive < SCDP < de-biased LASSO < LASSO. Of the sizes")
  say("2 to 13: %.0f %%, %.0f %%, %.0f %%; OLS < SCDP %.0f %%, normalised < SCDP %.0f %%",
      100 * order_holds("exhaustive", "SCDP"), 100 * order_holds("SCDP", "LASSO, de-biased"),
      100 * order_holds("LASSO, de-biased", "LASSO"), 100 * order_holds("OLS", "SCDP"),
      100 * order_holds("normalised", "SCDP"))
  save_picture("random", 800, 500, function() {
    frame()
    draw_lines(seq_len(nrow(mean)), mean, xlab = "components", ylab = "||Xw - y||^2")
  })
}

# Figures 5 and 6 ---------------------------------------------------------------------------------

spikes <- 160
variances <- c(1e-6, 1e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2)

# rows of a Gaussian matrix, made orthonormal
measurements <- function(N = 1024, D = 4096) {
  x <- matrix(rnorm(N * D), N)
  backsolve(chol(tcrossprod(x)), x, transpose = TRUE)
}

spiked <- function(x, variance) {
  w <- numeric(ncol(x))
  w[sample.int(ncol(x), spikes)] <- sample(c(-1, 1), spikes, TRUE)
  list(w = w, y = drop(x %*% w) + rnorm(nrow(x), sd = sqrt(variance)))
}

# A quarter more components than there are spikes: the threshold takes the rest away.
recover_pursuit <- function(x, y) {
  column <- function(j) drop(crossprod(x, x[, j]))
  coef(scdp(A = column, b = drop(crossprod(x, y)), k = 1.25 * spikes))
}

# lambda as in Figueiredo and others (2007): a tenth of the largest product
recover_lasso <- function(x, y) {
  fit <- l1_path(x, y, lambda = 0.1 * max(abs(crossprod(x, y))), intercept = FALSE,
                 standardize = FALSE, tolerance = 1e-6, progress = FALSE)
  w <- numeric(ncol(x))
  w[fit$solutions[[1]]$features] <- fit$solutions[[1]]$beta
  w
}

# share of the spikes among the largest entries, as many as there are spikes
found_share <- function(w, estimate) {
  largest <- order(-abs(estimate))[seq_len(spikes)]
  mean(largest %in% which(w != 0))
}

part_sensing <- function() {
  runs <- as.integer(given$runs)
  methods <- list(SCDP = recover_pursuit, LASSO = recover_lasso)
  found <- array(NA_real_, c(runs, length(variances), 2), list(NULL, variances, names(methods)))
  seconds <- found
  example <- NULL
  for (run in seq_len(runs)) {
    set.seed(run)
    x <- measurements()
    for (v in seq_along(variances)) {
      drawn <- spiked(x, variances[v])
      for (name in names(methods)) {
        estimate <- NULL
        seconds[run, v, name] <- cpu(function() estimate <<- methods[[name]](x, drawn$y))
        found[run, v, name] <- found_share(drawn$w, estimate)
        if (run == 1 && variances[v] == 1e-4 && name == "SCDP") {
          example <- list(original = drawn$w, SCDP = estimate,
                          "least squares" = drop(crossprod(x, drawn$y)))
        }
      }
    }
  }
  report_sensing(found, seconds, runs)
  save_picture("sensing-example", 900, 700, function() draw_signals(example))
}

report_sensing <- function(found, seconds, runs) {
  heading("Figure 6. Compressed sensing: %d spikes, 1024 measurements of 4096, %d runs a variance",
          spikes, runs)
  recovered <- apply(found == 1, 2:3, mean) * 100
  share <- apply(found, 2:3, mean) * 100
  say_table(data.frame(
    variance = format(variances, scientific = TRUE), "SCDP recovered %" = recovered[, 1],
    "LASSO recovered %" = recovered[, 2], "SCDP spikes %" = share[, 1],
    "LASSO spikes %" = share[, 2], "SCDP s" = apply(seconds, 2:3, mean)[, 1],
    "LASSO s" = apply(seconds, 2:3, mean)[, 2], check.names = FALSE
  ))
  say("the paper prints no figures: both recover all for small variances and fall alike for larger")
  save_picture("sensing", 800, 450, function() {
    frame()
    draw_lines(variances, recovered, "bottomleft", log = "x", xlab = "variance of the noise",
               ylab = "signals recovered, %")
  })
}

draw_signals <- function(signals) {
  par(mfrow = c(3, 1), mar = c(2.6, 4, 2, 1), mgp = c(2.4, 0.7, 0), las = 1)
  for (name in names(signals)) {
    plot(signals[[name]], type = "h", xlab = "", ylab = "", main = name, col = colours["blue"])
  }
}

# Figures 7 and 8 ---------------------------------------------------------------------------------

part_ripley <- function() {
  data <- read_data("ripley_synth")
  train <- data$split == 1
  y <- factor(data$y)
  set.seed(2011)
  tuning <- tune(data$X[train, ], y[train], prototypes = NULL, budget = 2 * budget)
  fit <- fs_lssvm(data$X[train, ], y[train], kernel = tuning$kernel, gamma = tuning$gamma,
                  prototypes = NULL, folds = tuning$folds, change = 0)
  heading("Figure 8. ripley, 250 rows, all of them prototypes: gamma %.3g, sigma^2 %.3g, %d chosen",
          fit$gamma, tuning$sigma2, length(selected(fit)))
  say("test error %.1f %% on 1000 rows (the paper prints none)",
      100 * mean(predict(fit, data$X[!train, ], type = "class") != y[!train]))
  save_picture("ripley-boundary", 800, 650, function() {
    frame()
    plot(fit, what = "boundary", newdata = data$X[train, ], main = "ripley")
  })
  part_sizes(data$X[train, ], y[train])
}

# The errors of ten folds for 2, 3, ... prototypes, those of k-center
part_sizes <- function(x, y, most = 40) {
  tuning <- tune(x, y, solver = "full")
  rows <- select_basis(as_problem(x, y), most, "k_center")
  sizes <- 2:most
  sign <- ifelse(y == levels(y)[2], 1, -1)
  errors <- vapply(sizes, function(size) {
    fit <- fs_lssvm(x, y, kernel = tuning$kernel, gamma = tuning$gamma, solver = "nystrom",
                    prototypes = rows[seq_len(size)], folds = tuning$folds)
    tapply(fit$held_out[, 1] * sign < 0, tuning$folds$ids[, 1], mean)
  }, numeric(10))
  mean <- 100 * colMeans(errors)
  near <- sizes[which(mean <= min(mean) + 100 * sd(errors[, which.min(mean)]) / sqrt(10))[1]]
  heading("Figure 7. ripley, error of ten folds by the number of prototypes (k-center), %%")
  shown <- c(2, 5, 8, 11, 15, 20, 30, 40)
  say("  prototypes %s", paste(sprintf("%5d", shown), collapse = ""))
  say("  error      %s", paste(sprintf("%5.1f", mean[match(shown, sizes)]), collapse = ""))
  say("within a standard error of the smallest from %d on (the paper: not much better beyond 11)",
      near)
  save_picture("ripley-sizes", 900, 450, function() {
    frame()
    boxplot(100 * errors, names = sizes, xlab = "prototypes", ylab = "error of a fold, %",
            col = "grey90")
  })
}

tune <- function(x, y, ..., budget = as.integer(given$budget)) {
  tune_lssvm(x, y, ..., budget = budget)
}

# Tables 3 and 4 ----------------------------------------------------------------------------------

# As printed: sizes of the parts, then for each method error in % (its standard deviation) and
# prototypes
printed <- function(text) utils::read.table(header = TRUE, sep = "|", row.names = 1, text = text)

table3 <- printed("
set|train|test|SCDP|SCDP_n|PV|PV_n|SCDPP|SCDPP_n|LSSVM|SVM|SVM_n
banana|400|4900|10.46(0.44)|32.4|10.52(0.42)|34.3|10.58(0.52)|33.3|10.61(0.53)|11.07(0.82)|100.7
breast-cancer|200|77|27.21(4.23)|6.4|26.47(4.51)|13.5|27.04(4.38)|11|27.1(4.72)|26.75(4.88)|125.8
diabetis|468|300|23.73(1.94)|8.9|23.39(1.94)|14.9|23.41(1.88)|14.1|23.36(1.74)|23.49(1.85)|269.9
flare-solar|666|400|34.82(1.88)|13.4|34.01(1.6)|11.6|35(2.08)|13.8|34.25(1.87)|32.59(1.78)|475.9
german|700|300|24.01(2.24)|26|24.3(2.21)|13.8|24.2(2.25)|22.5|23.55(2.22)|24.07(2.23)|382.2
heart|170|100|16.2(3.27)|4.9|16.22(3.25)|6.5|16.71(3.16)|4.8|16.41(3.45)|15.84(3.26)|105.5
image|1300|1010|2.86(0.55)|317.8|3.21(0.79)|308.3|3.3(0.83)|318.2|2.95(0.76)|3.11(0.56)|310.7
ringnorm|400|7000|1.61(0.14)|11.8|1.52(0.12)|6.6|9.91(8.32)|11.9|1.65(0.16)|1.77(0.26)|160.7
splice|1000|2175|11.36(0.58)|311.2|12.54(0.68)|188.1|11.29(0.62)|313|10.57(0.66)|10.76(0.69)|669.6
titanic|150|2051|22.84(0.96)|6.3|22.97(1.3)|5.4|25.32(12.34)|7.4|22.57(1.35)|22.49(0.7)|69.8
twonorm|400|7000|2.66(0.14)|38.2|2.56(0.16)|37.5|2.75(0.22)|26.9|2.82(0.2)|2.89(0.23)|240.3
")

# milliseconds
table4 <- printed("
set|SCDP|PV|SCDPP|LSSVM|SVM
banana|34.6|10.7|38.4|20|6.51
breast-cancer|7.87|1.76|9.13|4.1|3.17
diabetis|43.5|10.8|34.8|27|13.6
flare-solar|98.1|7.62|98.6|63.9|33.7
german|113|22.3|121|75.8|44.2
heart|3.42|1.98|5.49|2.4|2.04
image|910|180|849|321|127
ringnorm|26.9|3.81|30.3|18.1|10.82
splice|669|90.5|535|183|193
titanic|3.56|1.02|5.51|2.41|1.91
twonorm|33.6|10.87|34.3|19.2|14.3
")

# the partitions taken, fewer where there are many rows
partitions_of <- function(data, set) {
  count <- if (given$partitions == "full") {
    max(own_partitions(data), 10L)
  } else {
    as.integer(given$partitions)
  }
  if (given$partitions != "full" && raetsch_sizes[set, "train"] >= 1000) count <- ceiling(count / 5)
  raetsch_partitions(data, set, count)
}

# What is measured of a method on a partition: error in %, prototypes (or support vectors),
# milliseconds of a training with the parameters found
pursuit_method <- function(prototypes, candidates = NULL) {
  function(x, y, x_test, y_test) {
    # the paper's largest models have about that many
    most <- if (is.null(prototypes)) nrow(x) else round(prototypes * nrow(x))
    k <- if (nrow(x) >= 1000) min(320, most)
    tuning <- tune(x, y, prototypes = prototypes, select = "k_center", candidates = candidates,
                   k = k)
    train <- function(...) {
      fs_lssvm(x, y, kernel = tuning$kernel, gamma = tuning$gamma, prototypes = prototypes,
               select = "k_center", candidates = candidates, ...)
    }
    fit <- train(folds = tuning$folds, k = k, change = 0)
    seconds <- cpu(function() train(folds = NULL, k = max(1, fit$size)))
    c(wrong(predict(fit, x_test, type = "class"), y_test), length(selected(fit)), 1000 * seconds)
  }
}

wrong <- function(class, y) 100 * mean(as.character(class) != as.character(y))

# The time is that of the kernel matrix and a Cholesky solution of (23).
least_squares_method <- function(x, y, x_test, y_test) {
  fit <- lssvm(x, y)
  points <- standardised(x, x)
  sign <- ifelse(y == levels(y)[2], 1, -1)
  seconds <- cpu(function() {
    R <- chol(fit$kernel$values(points, points) + diag(fit$lambda, nrow(points)))
    both <- backsolve(R, backsolve(R, cbind(sign, 1), transpose = TRUE))
    both[, 1] - both[, 2] * sum(both[, 1]) / sum(both[, 2])
  })
  c(wrong(predict(fit, x_test, type = "class"), y_test), nrow(x), 1000 * seconds)
}

# columns centred and scaled as those of x
standardised <- function(x, at) {
  scale <- apply(x, 2, sd)
  scale[scale == 0] <- 1
  scale(at, colMeans(x), scale)
}

# C and the width by the error of 5 folds, on 1000 rows at most
svm_method <- function(x, y, x_test, y_test) {
  svm(standardised(x, x), y, standardised(x, x_test), y_test)
}

svm <- function(points, y, test, y_test) {
  few <- if (length(y) > 1000) sample.int(length(y), 1000) else seq_along(y)
  distance <- median(dist(points[few[seq_len(min(300, length(few)))], ])^2)
  grid <- expand.grid(C = 2^c(-1, 1, 3, 5, 7), sigma = 2^c(-2, 0, 2) / distance)
  train <- function(rows, i, ...) {
    kernlab::ksvm(points[rows, ], y[rows], kernel = "rbfdot", kpar = list(sigma = grid$sigma[i]),
                  C = grid$C[i], scaled = FALSE, ...)
  }
  held_out <- vapply(seq_len(nrow(grid)), function(i) kernlab::cross(train(few, i, cross = 5)), 0)
  best <- which.min(held_out)
  fit <- NULL
  seconds <- cpu(function() fit <<- train(seq_along(y), best))
  class <- kernlab::predict(fit, test)
  c(wrong(class, y_test), kernlab::nSV(fit), 1000 * seconds)
}

methods <- list(SCDP = pursuit_method(NULL), PV = pursuit_method(0.3),
                SCDPP = pursuit_method(NULL, 59), LSSVM = least_squares_method, SVM = svm_method)
if (!has_kernlab) methods$SVM <- NULL
method_names <- c(SCDP = "SCDP, all rows", PV = "SCDP, 0.3 N k-center",
                  SCDPP = "SCDPP, 59 candidates", LSSVM = "LS-SVM", SVM = "SVM (kernlab)")

measure_set <- function(sizes) {
  data <- raetsch_data(directory, sizes$set)
  x <- data$x
  y <- data$y
  all <- partitions_of(data, sizes$set)
  measured <- vapply(seq_along(all), function(i) {
    rows <- all[[i]]
    set.seed(i)
    vapply(methods, function(method) {
      method(x[rows$train, ], y[rows$train], x[rows$test, ], y[rows$test])
    }, numeric(3))
  }, matrix(0, 3, length(methods)))
  own <- sum(vapply(all, `[[`, NA, "own"))
  simulated <- if (sizes$set == "ringnorm") "simulated, " else ""
  heading("%s (%s%d + %d rows), partitions: %d, %d of them given", sizes$set, simulated,
          sizes$train, sizes$test, length(all), own)
  rownames(measured) <- c("error", "size", "ms")
  say_set(sizes, measured)
  measured
}

say_set <- function(sizes, measured) {
  say("  %-22s %15s %14s %9s %9s %9s %9s", "", "error %", "paper", "vectors", "paper", "ms",
      "paper")
  mean <- apply(measured, 1:2, mean)
  sd <- apply(measured, 1:2, sd)
  for (name in names(methods)) {
    vectors <- sizes[[paste0(name, "_n")]]
    spread <- if (is.na(sd["error", name])) "" else sprintf(" (%.2f)", sd["error", name])
    say("  %-22s %15s %14s %9.1f %9s %9.1f %9s", method_names[name],
        sprintf("%.2f%s", mean["error", name], spread), sub("(", " (", sizes[[name]], fixed = TRUE),
        mean["size", name], if (is.null(vectors)) "" else format(vectors), mean["ms", name],
        format(table4[sizes$set, name]))
  }
}

part_small <- function() {
  heading("Tables 3 and 4. Mean error (standard deviation over partitions), prototypes or support")
  say("vectors, milliseconds of a training with the parameters found; the paper's beside them")
  sets <- if (nzchar(given$sets)) strsplit(given$sets, ",")[[1]] else rownames(table3)
  stopifnot(sets %in% rownames(table3))
  done <- lapply(sets, function(set) measure_set(c(list(set = set), table3[set, ])))
  say_summary(sets, done)
}

# the paper's claims, over data sets
say_summary <- function(sets, done) {
  over <- function(what) {
    vapply(done, function(one) rowMeans(one[what, , , drop = FALSE], dims = 2)[1, ],
           numeric(length(methods)))
  }
  error <- over("error")
  ms <- over("ms")
  paper_error <- vapply(table3[sets, names(methods)], function(text) {
    as.numeric(sub("[(].*", "", text))
  }, numeric(length(sets)))
  paper_error <- matrix(paper_error, length(sets), dimnames = list(NULL, names(methods)))
  paper_ms <- table4[sets, ]
  heading("over %d sets: mean difference of the error from LS-SVM's, %%; median ratio of the time",
          length(sets))
  say("to that of SCDP on all rows")
  for (name in names(methods)) {
    say("  %-22s %+6.2f (paper %+6.2f) %8.2f (paper %.2f)", method_names[name],
        mean(error[name, ] - error["LSSVM", ]),
        mean(paper_error[, name] - paper_error[, "LSSVM"]), median(ms[name, ] / ms["SCDP", ]),
        median(paper_ms[, name] / paper_ms$SCDP))
  }
}

# Table 5, Figures 11 and 13 ----------------------------------------------------------------------

# The 14 attributes, 6 numbers and 8 factors, as columns; the paper does not say how
codings <- list(
  "numbers scaled, factors as 0 and 1" = function(data) as.matrix(data$X),
  "the same, all columns scaled" = function(data) as.matrix(data$X),
  "factors as level numbers, scaled" = function(data) sapply(data$frame, as.numeric),
  "levels numbered by frequency" = function(data) {
    sapply(data$frame, function(column) {
      if (!is.factor(column)) return(as.numeric(column))
      rank(-table(column), ties.method = "first")[as.integer(column)]
    })
  }
)

is_indicator <- function(column) all(column == 0 | column == 1)

# Rows to train on and to test on. Columns are scaled as they are in the training rows.
split_adult <- function(data, seed, coding = names(codings)[1]) {
  set.seed(seed)
  train <- sample.int(nrow(data$X), 30148)
  test <- setdiff(seq_len(nrow(data$X)), train)
  train <- train[seq_len(min(length(train), as.integer(given$rows)))]
  x <- codings[[coding]](data)
  scaled <- coding != names(codings)[1] | !apply(x, 2, is_indicator)
  x[, scaled] <- standardised(x[train, scaled], x[, scaled])
  list(x = x[train, ], y = data$y[train], x_test = x[test, ], y_test = data$y[test], train = train,
       test = test)
}

some_rows <- function(split, count) {
  rows <- seq_len(min(count, nrow(split$x)))
  modifyList(split, list(x = split$x[rows, ], y = split$y[rows]))
}

# gamma and the width by 3000 rows and 300 prototypes
tune_adult <- function(split) {
  few <- some_rows(split, 3000)
  tune(few$x, few$y, prototypes = min(300, nrow(few$x) %/% 2), select = "k_center",
       standardize = FALSE)
}

# error in %, prototypes, and how to train again with that size
pursuit_adult <- function(split, tuning) {
  n <- min(2000, nrow(split$x) %/% 2)
  train <- function(...) {
    fs_lssvm(split$x, split$y, kernel = tuning$kernel, gamma = tuning$gamma, select = "k_center",
             prototypes = n, standardize = FALSE, ...)
  }
  fit <- train(k = 300, folds = 10, change = 0)
  list(error = wrong(predict(fit, split$x_test, type = "class"), split$y_test),
       size = length(selected(fit)), train = function() train(k = fit$size, folds = NULL))
}

table5_row <- function(split, tuning) {
  fit <- pursuit_adult(split, tuning)
  c(fit$error, fit$size, cpu(fit$train))
}

svm_row <- function(split) {
  few <- some_rows(split, as.integer(given$svm_rows))
  svm(few$x, few$y, few$x_test, few$y_test) / c(1, 1, 1000)
}

part_adult <- function() {
  data <- read_data("adult_onehot")
  splits <- lapply(seq_len(as.integer(given$splits)), split_adult, data = data)
  tunings <- lapply(splits, tune_adult)
  heading("Table 5. adult, %d rows, means (standard deviations) over splits: %d",
          nrow(splits[[1]]$x), length(splits))
  say("gamma %s", paste(signif(vapply(tunings, `[[`, 0, "gamma"), 3), collapse = ", "))
  say("sigma^2 %s", paste(signif(vapply(tunings, `[[`, 0, "sigma2"), 3), collapse = ", "))
  ours <- mapply(table5_row, splits, tunings)
  say("  %-28s %14s %14s %8s %7s %8s %7s", "", "error %", "paper", "vectors", "paper", "seconds",
      "paper")
  row <- function(name, measured, paper) {
    mean <- rowMeans(measured)
    say("  %-28s %14s %14s %8.0f %7s %8.1f %7s", name, with_sd(measured[1, ]), paper[1], mean[2],
        paper[2], mean[3], paper[3])
  }
  row("SCDP, 2000 k-center", ours, c("14.55 (0.34)", "166", "10.7"))
  if (has_kernlab) {
    row(sprintf("SVM (kernlab), %d rows", min(as.integer(given$svm_rows), nrow(splits[[1]]$x))),
        cbind(svm_row(splits[[1]])), c("14.53 (0.14)", "10494", "371.7"))
  }
  compare_codings(data, utils::head(ours[1, ], 2))
  figure11(splits[[1]], tunings[[1]])
  figure13(splits[[1]], tunings[[1]])
}

with_sd <- function(values) {
  if (length(values) < 2) return(sprintf("%.2f", values))
  sprintf("%.2f (%.2f)", mean(values), sd(values))
}

# The same splits, tuning and training by each coding; `first` are the errors of the first coding
compare_codings <- function(data, first) {
  heading("The same by other codings of the 14 attributes, and a random forest on these: error %%,")
  say("splits: %d", length(first))
  seeds <- seq_along(first)
  say("  %-36s %s", names(codings)[1], with_sd(first))
  for (coding in names(codings)[-1]) {
    say("  %-36s %s", coding, with_sd(vapply(seeds, function(seed) {
      split <- split_adult(data, seed, coding)
      pursuit_adult(split, tune_adult(split))$error
    }, 0)))
  }
  if (requireNamespace("ranger", quietly = TRUE)) {
    say("  %-36s %s", "random forest (ranger)", with_sd(vapply(seeds, function(seed) {
      split <- split_adult(data, seed)
      fit <- ranger::ranger(x = data$frame[split$train, ], y = split$y, num.threads = 1,
                            verbose = FALSE)
      test <- stats::predict(fit, data$frame[split$test, ], num.threads = 1, verbose = FALSE)
      wrong(test$predictions, split$y_test)
    }, 0)))
  }
}

# Seconds to train to some sizes and the test error there, for four variants
figure11 <- function(split, tuning, rows = 4000, sizes = c(5, 10, 20, 40, 80, 160)) {
  split <- some_rows(split, rows)
  m <- nrow(split$x)
  sizes <- sizes[sizes < m / 10]
  variants <- list("SCDP" = list(m, NULL), "SCDPP" = list(m, 59), "SCDP, PV" = list(m %/% 10, NULL),
                   "SCDPP, PV" = list(m %/% 10, 59))
  heading("Figure 11. adult, %d rows: seconds to train to a size and test error there; all rows or",
          m)
  say("%d by k-center (PV) as prototypes, all of them or 59 candidates (SCDPP) at each step",
      m %/% 10)
  curves <- lapply(variants, function(variant) {
    train <- function(k) {
      fs_lssvm(split$x, split$y, kernel = tuning$kernel, gamma = tuning$gamma,
               prototypes = if (variant[[1]] < m) variant[[1]], candidates = variant[[2]],
               k = k, folds = NULL, standardize = FALSE)
    }
    seconds <- vapply(sizes, function(k) cpu(function() train(k)), 0)
    fit <- train(max(sizes))
    error <- vapply(pmin(sizes, fit$size), function(size) {
      wrong(predict(fit, split$x_test, size = size, type = "class"), split$y_test)
    }, 0)
    cbind(seconds, error)
  })
  say_table(data.frame(size = sizes, curves, check.names = FALSE), 3)
  say("the paper draws no figures beside it: all end at the same error, PV first")
  save_picture("adult-time", 800, 500, function() {
    frame()
    plot(NULL, xlim = range(sapply(curves, function(one) one[, 1])), log = "x",
         ylim = range(sapply(curves, function(one) one[, 2])), xlab = "seconds",
         ylab = "test error, %")
    for (i in seq_along(curves)) {
      lines(curves[[i]], type = "o", pch = i, col = colours[i], lwd = 1.7)
    }
    legend("topright", names(curves), pch = seq_along(curves), col = colours[seq_along(curves)],
           lwd = 1.7, bty = "n")
  })
}

# (34) for some rows and prototypes: Pareto fronts and seconds to each size
figure13 <- function(split, tuning, rows = 10000, n = 1000,
                     sizes = c(5, 10, 20, 40, 80, 120, 160, 200)) {
  split <- some_rows(split, rows)
  n <- min(n, nrow(split$x) %/% 3)
  sizes <- sizes[sizes < n / 3]
  basis <- split$x[select_basis(split$x, n, "k_center"), ]
  terms <- cbind(tuning$kernel$values(split$x, basis), 1)
  A <- crossprod(terms)
  A[seq_len(n), seq_len(n)] <- A[seq_len(n), seq_len(n)] +
    tuning$kernel$values(basis, basis) / tuning$gamma
  A[n + 1, n + 1] <- A[n + 1, n + 1] + 1e-8
  sign <- ifelse(split$y == levels(split$y)[2], 1, -1)
  b <- drop(crossprod(terms, sign))
  seen <- cbind(tuning$kernel$values(split$x_test, basis), 1)
  truth <- split$y_test == levels(split$y)[2]
  column <- function(j) A[, j]
  solvers <- list(
    SCDP = function(k) scdp(A = column, b = b, k = k),
    LARS = function(k) lars_path(column, b, k = k, type = "lar"),
    LASSO = function(k) lars_path(column, b, k = k),
    MP = function(k) matching_pursuit(column, b, k = k, moves = 100 * k)
  )
  seconds <- vapply(solvers, function(solve) {
    vapply(sizes, function(k) cpu(function() solve(k)), 0)
  }, numeric(length(sizes)))
  fronts <- vapply(solvers, function(solve) {
    fit <- solve(max(sizes))
    vapply(sizes, function(size) {
      if (size > fit$size || is.null(fit$coefficients[[size + 1]])) return(NA_real_)
      100 * mean((seen %*% coef(fit, size = size) > 0) != truth)
    }, 0)
  }, numeric(length(sizes)))
  heading("Figure 13. adult, %d rows, the system (34) of %d prototypes and the intercept: test",
          nrow(split$x), n)
  say("error in %%, seconds to each size")
  say_table(data.frame(size = sizes, fronts, seconds = seconds, check.names = FALSE), 3)
  say("NA: not that many components after 100 moves for each that was wanted")
  last <- seconds[length(sizes), ]
  say("times the seconds of SCDP to size %d: LARS %.1f, LASSO %.1f, MP %.1f (the paper: 7 to 10)",
      max(sizes), last["LARS"] / last["SCDP"], last["LASSO"] / last["SCDP"],
      last["MP"] / last["SCDP"])
  save_picture("adult-system", 1100, 450, function() {
    frame(2)
    draw_lines(sizes, fronts, xlab = "components", ylab = "test error, %")
    draw_lines(sizes, seconds, "bottomright", log = "y", xlab = "components",
               ylab = "seconds up to here")
  })
}

# Run ---------------------------------------------------------------------------------------------

run_part <- function(part) {
  seconds <- system.time(switch(part, random = part_random(), sensing = part_sensing(),
                                ripley = part_ripley(), small = part_small(),
                                adult = part_adult()))
  message(sprintf("%s: %.1f minutes, %.1f of CPU", part, seconds[["elapsed"]] / 60,
                  sum(seconds[1:2]) / 60))
}

# Runs some parts, and saves what they print if they are all that belong to the file.
run_parts <- function(own, file, missing) {
  some <- intersect(wanted, own)
  if (!length(some)) return(invisible())
  lines <<- character()
  say("%s", machine_line())
  for (part in some) run_part(part)
  heading(missing)
  if (setequal(some, own)) writeLines(lines, file.path(given$out, file))
}

run_parts(setdiff(parts, "adult"), "scdp.txt",
          "thyroid and waveform (Tables 3 and 4) were not at hand; ringnorm is simulated")
run_parts("adult", "scdp-adult.txt",
          "gamma telescope (Table 5, Figures 11 and 12) was not at hand")
