# The experiments of Pahikkala, Suominen, Boberg (2012), Efficient cross-validation for kernelized
# least-squares regression with sparse basis expansions, Sections 6.2 to 6.4: how much the choice of
# basis vectors moves a cross-validated error (their Figures 1 to 4), the same on a noisy sinusoid
# and with greedily selected basis vectors (Figures 5 to 7), and what becomes of basis vectors that
# are held out in groups of similar rows (Figure 8, Table 2). Table 1 is in bench/kernel-rls.R.
#
#   Rscript bench/papers/sparse-rls.R DIR [tasks] [sinusoid] [greedy] [groups] [optimism] [share=1]
#                                     [cores=1] [out=bench/results/papers]
#
# DIR holds the data sets as .rds files (bench/README.md says what is in each and where to get it);
# only the tasks read it. Without names all five parts are run and the figures are saved; cores=2
# takes about 25 minutes, most of them for "greedy". "optimism", which compares the second approach
# of Figure 7 with the true error, has a file of its own. share=0.1 is a quick look with a tenth of
# the repeats.
#
# Sources: R/kernel-*.R src/ridge*

library(sparsels)
source("bench/common.R")

line <- command_line(list(share = "1", cores = "1", out = "bench/results/papers"))
if (!length(line$words)) stop("usage: Rscript bench/papers/sparse-rls.R DIR [tasks ...]")
directory <- line$words[1]
parts <- c("tasks", "sinusoid", "greedy", "groups", "optimism")
wanted <- if (length(line$words) > 1) line$words[-1] else parts
cores <- as.integer(line$options$cores)
stopifnot(dir.exists(directory), wanted %in% parts)

# as many as asked for by share=, but enough for a variance
times <- function(repeats) max(3L, as.integer(round(repeats * as.numeric(line$options$share))))

in_parallel <- function(x, f) {
  done <- parallel::mclapply(x, f, mc.cores = cores, mc.preschedule = FALSE)
  failed <- Filter(function(one) inherits(one, "try-error"), done)
  if (length(failed)) stop(failed[[1]])
  done
}

save_picture <- function(name, width, height, draw) {
  picture(file.path(line$options$out, sprintf("sparse-rls-%s.png", name)), width, height, draw)
}

# The package's picture of one cv_variance, with a title over both panels.
draw_variance <- function(result, title) {
  par(mar = c(4, 5.6, 3.4, 1), oma = c(0, 0, 1.4, 0), mgp = c(4, 0.7, 0), las = 1)
  # the label of the x axis stands nearer than those of the y axes
  plot(result, xlab = "")
  mtext("log2(lambda)", 1, -1.4, outer = TRUE, at = c(0.29, 0.79))
  mtext(title, outer = TRUE, font = 2, line = 0.2)
}

# Several results of one repeat each as a single one.
combine <- function(results) {
  errors <- simplify2array(lapply(results, function(one) one$errors[1, , ]))
  errors <- aperm(errors, c(3, 1, 2))
  table <- results[[1]]$table
  table$mean <- as.vector(colMeans(errors))
  table$variance <- as.vector(apply(errors, 2:3, var))
  modifyList(results[[1]], list(errors = errors, table = table))
}

# What the paper says of mean and variance, in figures ---------------------------------------------

# a column per approach
spread_out <- function(table) {
  columns <- lapply(c("mean", "variance"), function(what) {
    values <- matrix(table[[what]], ncol = length(unique(table$approach)))
    colnames(values) <- paste0(what, "_", unique(table$approach))
    values
  })
  data.frame(`log2(lambda)` = log2(unique(table$lambda)), columns, check.names = FALSE)
}

say_variances <- function(result) {
  v <- apply(result$errors, 2:3, var)
  lambdas <- nrow(v)
  say(paste0("variance: 3 < 1 at %d of %d lambdas, 1 < 2 at %d; median ratios 3/1 %.2f, ",
             "1/2 %.2f, 3/2 %.2f"),
      sum(v[, 3] < v[, 1]), lambdas, sum(v[, 1] < v[, 2]), median(v[, 3] / v[, 1]),
      median(v[, 1] / v[, 2]), median(v[, 3] / v[, 2]))
}

# Means of unpaired repeats: the largest difference of two approaches, in standard errors of it too.
say_means <- function(result) {
  e <- result$errors
  mean <- colMeans(e)
  pairs <- combn(3, 2)
  gap <- abs(mean[, pairs[1, ]] - mean[, pairs[2, ]])
  se2 <- apply(e, 2:3, var) / dim(e)[1]
  z <- gap / sqrt(se2[, pairs[1, ]] + se2[, pairs[2, ]])
  best <- which.min(mean[, 3])
  say("mean: differs between approaches by up to %.1f %% (%.1f standard errors of the difference)",
      100 * max(gap / mean[, 3]), max(z))
  say(paste0("smallest mean of approach 3 %.4g at lambda 2^%g; at the smallest lambda ",
             "%.4g, the largest %.4g"),
      mean[best, 3], log2(unique(result$table$lambda))[best], mean[1, 3], mean[nrow(mean), 3])
}

# All approaches have seen the same data in each repeat: differences from approach 3 are paired.
say_bias <- function(result, exponents) {
  at <- match(2^exponents, unique(result$table$lambda))
  for (l in seq_along(at)) {
    gap <- result$errors[, at[l], 1:2] - result$errors[, at[l], 3]
    se <- apply(gap, 2, sd) / sqrt(nrow(gap))
    level <- mean(result$errors[, at[l], 3])
    say(paste0("lambda 2^%-3g approach 3 %.4f; 1 less 3: %+.4f (standard error %.4f), 2 ",
               "less 3: %+.4f (%.4f)"),
        exponents[l], level, mean(gap[, 1]), se[1], mean(gap[, 2]), se[2])
  }
}

# Section 6.2 --------------------------------------------------------------------------------------

# `part`: the first part of the original files, as in the paper.
tasks <- list(
  ailerons = list(title = "Ailerons", gamma = 2^-18, times = 1000),
  elevators = list(title = "Elevators", gamma = 2^-19, times = 1000),
  pole_telecomm = list(title = "Pole Telecomm", gamma = 2^-12, times = 1),
  pumadyn = list(title = "Pumadyn", gamma = 2^-21, times = 1)
)

read_task <- function(name) {
  file <- file.path(directory, paste0(name, ".rds"))
  if (name == "pumadyn" && !file.exists(file)) return(stand_in())
  data <- readRDS(file)
  part <- data$split == 1
  x <- data$X[part, ]
  storage.mode(x) <- "double"
  c(list(x = x, y = data$y[part] * tasks[[name]]$times), tasks[[name]])
}

# Friedman's first function with as many rows and columns as Pumadyn, of which five columns matter.
stand_in <- function() {
  set.seed(2012)
  x <- matrix(runif(4499 * 32), 4499)
  signal <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
  list(x = x, y = signal + rnorm(nrow(x)), gamma = 2^-6,
       title = "Simulated (Friedman 1), in place of Pumadyn")
}

run_task <- function(name) {
  data <- read_task(name)
  y <- data$y
  set.seed(1)
  result <- cv_variance(data$x, y, kernel = kernel_gaussian(data$gamma), n = 27, folds = 10,
                        lambda = 2^(-15:4), repeats = times(100), shift = "paper")
  list(result = result, data = data)
}

part_tasks <- function() {
  done <- in_parallel(names(tasks), run_task)
  for (i in seq_along(done)) {
    result <- done[[i]]$result
    data <- done[[i]]$data
    title <- sprintf("%s: %d x %d, 27 basis vectors, %d repeats", data$title, nrow(data$x),
                     ncol(data$x), dim(result$errors)[1])
    say("")
    say("Figure %d. %s; variance of the response %.4g", i, title, var(data$y))
    say_variances(result)
    say_means(result)
    say_table(spread_out(result$table))
    name <- if (grepl("^Simulated", data$title)) "friedman" else names(tasks)[i]
    save_picture(name, 1100, 460, function() draw_variance(result, title))
  }
}

# Section 6.3 --------------------------------------------------------------------------------------

sinusoid_kernel <- kernel_gaussian(1)
sinusoid_grid <- 2^(-10:12)

sinusoid <- function(m = 3000) {
  x <- matrix(runif(m, -20, 20))
  noise <- rnorm(m, sd = 2)
  list(x = x, y = sin(x[, 1]) + noise, noise = noise)
}

# New data in each repeat, the same for all three approaches.
vary <- function(n, repeats, select = NULL, m = 3000) {
  combine(in_parallel(seq_len(repeats), function(i) {
    set.seed(i)
    data <- sinusoid(m)
    y <- data$y
    cv_variance(data$x, y, kernel = sinusoid_kernel, n = n, folds = 10, lambda = sinusoid_grid,
                repeats = 1, shift = "paper", select = select)
  }))
}

draw_example <- function() {
  set.seed(5)
  data <- sinusoid()
  basis <- sample.int(nrow(data$x), 300)
  fit <- kernel_rls(data$x, data$y, kernel = sinusoid_kernel, basis = basis, lambda = 2^5,
                    shift = "paper")
  at <- matrix(seq(-20, 20, length.out = 801))
  par(mar = c(3.8, 4, 3.4, 1), mgp = c(2.5, 0.7, 0), las = 1)
  plot(data$x, data$y, pch = 16, cex = 0.35, col = "grey70", xlab = "x", ylab = "y")
  points(data$x[basis, ], data$y[basis], pch = 16, cex = 0.7, col = colours["blue"])
  lines(at, sin(at), lty = 2, lwd = 3)
  lines(at, predict(fit, at), lwd = 3, col = colours["red"])
  legend("bottom", c("3000 rows", "300 basis vectors", "target", "learned (lambda 2^5)"), xpd = NA,
         bty = "n", inset = c(0, 1), pch = c(16, 16, NA, NA), lty = c(NA, NA, 2, 1), lwd = 3,
         ncol = 4, col = c("grey70", colours["blue"], "black", colours["red"]), seg.len = 2.6,
         cex = 0.9)
}

report_sinusoid <- function(figure, name, what, result) {
  title <- sprintf("Sinusoid, %s, %d repeats", what, dim(result$errors)[1])
  say("")
  say("%s. %s", figure, title)
  say_variances(result)
  say_means(result)
  say_bias(result, c(-10, 0, 5, 10))
  say_table(spread_out(result$table))
  save_picture(name, 1100, 460, function() draw_variance(result, title))
}

part_sinusoid <- function() {
  save_picture("sinusoid-example", 1000, 460, draw_example)
  for (n in c(27, 270)) {
    result <- vary(n, times(if (n == 27) 300 else 50))
    figure <- if (n == 27) "Beside Figure 6" else "Figure 6"
    what <- sprintf("%d basis vectors at random", n)
    report_sinusoid(figure, sprintf("sinusoid-%d", n), what, result)
  }
}

greedily <- function(problem, n) {
  select_basis(problem, n, "greedy", kernel = sinusoid_kernel, lambda = 2^5, candidates = 60)
}

part_greedy <- function() {
  for (n in c(27, 270)) {
    result <- vary(n, times(if (n == 27) 60 else 8), greedily)
    what <- sprintf("%d basis vectors selected greedily", n)
    report_sinusoid("Figure 7", sprintf("greedy-%d", n), what, result)
  }
  # the same share of fewer rows: enough repeats in little time
  result <- vary(45, times(150), greedily, m = 500)
  what <- "45 of 500 rows as basis vectors, selected greedily"
  report_sinusoid("Beside Figure 7", "greedy-45", what, result)
}

# Figure 7 against the truth ----------------------------------------------------------------------

# The error of approach 2 less the true one, which for the sinusoid is known: 4, the variance of the
# noise, and the squared distance of the model from the sinusoid. Most of what makes the first vary
# is the noise of the rows drawn, whose mean square is taken out. Beside it the mean square of the
# noise in the rows selected, which approach 2 does not score, less that in all rows.
optimism <- function(n, select) {
  at <- matrix(seq(-20, 20, length.out = 2001))
  function(i) {
    set.seed(i)
    data <- sinusoid()
    y <- data$y
    basis <- select(as_problem(data$x, y, intercept = FALSE, standardize = FALSE), n)
    held_out <- cv_variance(data$x, y, kernel = sinusoid_kernel, n = n, folds = 10,
                            lambda = sinusoid_grid, approach = 2, repeats = 1, shift = "paper",
                            select = function(problem, n) basis)$errors[1, , 1]
    fit <- kernel_rls(data$x, y, kernel = sinusoid_kernel, basis = basis, lambda = sinusoid_grid,
                      shift = "paper")
    values <- sinusoid_kernel$values(at, fit$basis$points)
    away <- vapply(fit$coefficients, function(model) {
      mean((values %*% model$beta[, 1] - sin(at))^2)
    }, 0)
    known <- mean(data$noise^2)
    c(held_out - known - away, mean(data$noise[basis]^2) - known)
  }
}

part_optimism <- function() {
  heading("Beside Figure 7. Approach 2 less the true error of the model on all rows")
  shown <- c(-10, 0, 5, 10)
  for (n in c(27, 270)) {
    for (way in c("greedily", "at random")) {
      select <- if (way == "greedily") greedily else function(problem, n) {
        sample.int(nrow(problem), n)
      }
      repeats <- times(if (n == 27) 100 else if (way == "greedily") 40 else 20)
      done <- simplify2array(in_parallel(seq_len(repeats), optimism(n, select)))
      mean <- rowMeans(done)
      se <- apply(done, 1, sd) / sqrt(repeats)
      say("%d basis vectors selected %s, %d repeats: mean (standard error)", n, way, repeats)
      row <- match(2^shown, sinusoid_grid)
      say("  %s", paste(sprintf("lambda 2^%d %+.4f (%.4f)", shown, mean[row], se[row]),
                        collapse = ", "))
      last <- length(mean)
      say("  mean square of their noise less that of all: %+.3f (%.3f), which takes %.4f off",
          mean[last], se[last], mean[last] * n / (3000 - n))
    }
  }
}

# Section 6.4 --------------------------------------------------------------------------------------

# Sparse rows of 0 and 1 in groups, as parses of sentences: each group has its own set of columns, a
# row takes each of them with probability 0.8 and some of its own. Few columns are common, most are
# rare. The response has a part that is linear in the columns, a part of the whole group that they
# do not tell, and noise.
grouped <- function(groups, rows, weights) {
  d <- length(weights)
  common <- 1 / (seq_len(d) + 2)
  length_of <- pmax(5, round(exp(rnorm(groups, log(60), 0.5))))
  group <- rep(seq_len(groups), each = rows)
  own <- split(sample.int(d, sum(length_of), TRUE, common), rep(seq_len(groups), length_of))
  columns <- lapply(group, function(g) {
    kept <- own[[g]][runif(length_of[g]) < 0.8]
    unique(c(kept, sample.int(d, ceiling(length_of[g] / 4), TRUE, common)))
  })
  x <- Matrix::sparseMatrix(rep(seq_along(group), lengths(columns)), unlist(columns), x = 1,
                            dims = c(length(group), d))
  y <- as.vector(x %*% weights) / sqrt(Matrix::rowSums(x)) + rnorm(groups, sd = 0.5)[group] +
    rnorm(length(group), sd = 0.3)
  list(x = x, y = y, group = group)
}

treatments <- c("remove", "skip", "keep")

# The held-out error of whole groups by what becomes of their basis vectors, and the test error.
compare_groups <- function(train, test, kernel, lambda, basis) {
  fit <- kernel_rls(train$x, train$y, kernel = kernel, basis = basis, lambda = lambda,
                    folds = train$group, shift = "paper")
  held_out <- vapply(treatments, function(one) {
    cv_error(fit, train$group, basis = one)$criterion
  }, lambda)
  values <- kernel$values(test$x, fit$basis$points)
  weights <- vapply(fit$coefficients, function(model) model$beta[, 1], values[1, ])
  cbind(held_out, test = colMeans((test$y - values %*% weights)^2))
}

# Table 2: mean absolute kernel values, weights and their products, of the basis vector x in the
# held-out group and of the others v, with the group's other rows z. The basis is kept; the models
# are trained here for every fifth group.
weights_held_out <- function(train, kernel, lambda, basis) {
  K <- kernel$values(train$x, train$x[basis, ])
  K[cbind(basis, seq_along(basis))] <- K[cbind(basis, seq_along(basis))] + 1e-7
  G <- crossprod(K)
  products <- crossprod(K, train$y)
  one <- vapply(seq(5, max(train$group), by = 5), function(g) {
    rows <- which(train$group == g)
    R <- chol(G - crossprod(K[rows, ]) + lambda * (K[basis, ] + t(K[basis, ])) / 2)
    right <- products - crossprod(K[rows, ], train$y[rows])
    a <- backsolve(R, backsolve(R, right, transpose = TRUE))[, 1]
    x <- train$group[basis] == g
    z <- K[setdiff(rows, basis), , drop = FALSE]
    product <- abs(z) * rep(abs(a), each = nrow(z))
    c(mean(abs(z[, x])), mean(abs(z[, !x])), abs(a[x]), mean(abs(a[!x])), mean(product[, x]),
      mean(product[, !x]))
  }, numeric(6))
  rowMeans(one)
}

group_kernels <- list(
  list(title = "linear kernel", kernel = kernel_linear(), lambda = 2^(-5:14), table = 2^c(0, 10)),
  list(title = "normalised linear kernel", kernel = kernel_linear(normalize = TRUE),
       lambda = 2^(-12:7), table = 2^c(-10, 0))
)

group_data <- function(seed, columns) {
  set.seed(seed)
  weights <- rnorm(columns)
  train <- grouped(500, 5, weights)
  test <- grouped(600, 20, weights)
  basis <- vapply(split(seq_along(train$group), train$group), sample, 0L, size = 1)
  list(train = train, test = test, basis = unname(basis))
}

groups_over <- function(repeats, columns) {
  in_parallel(seq_len(repeats), function(seed) {
    data <- group_data(seed, columns)
    lapply(group_kernels, function(kind) {
      compare_groups(data$train, data$test, kind$kernel, kind$lambda, data$basis)
    })
  })
}

draw_groups <- function(means, repeats) {
  par(mfrow = c(1, 2), mar = c(4, 4.6, 3.4, 1), oma = c(0, 0, 1.4, 0), mgp = c(2.8, 0.7, 0),
      las = 1)
  style <- list(colour = colours[c("blue", "green", "red", "grey")], line = c(1, 4, 2, 3),
                mark = c(1, 2, 16, NA))
  for (i in seq_along(means)) {
    at <- log2(group_kernels[[i]]$lambda)
    plot(range(at), range(means[[i]]), type = "n", xlab = "log2(lambda)",
         ylab = "mean squared error of y")
    title(group_kernels[[i]]$title, line = 2.2)
    matlines(at, means[[i]], col = style$colour, lty = style$line, lwd = 2)
    matpoints(at, means[[i]], col = style$colour, pch = style$mark, cex = 0.8)
    legend("bottom", paste0(c(treatments, "test set"), "   "), col = style$colour,
           lty = style$line, lwd = 2,
           pch = style$mark, ncol = 4, bty = "n", xpd = NA, inset = c(0, 1), cex = 0.8,
           seg.len = 2.6)
  }
  mtext(sprintf("Held-out groups, means over %d simulated data sets", repeats), outer = TRUE,
        font = 2, line = 0.2)
}

average <- function(done, i) Reduce(`+`, lapply(done, `[[`, i)) / length(done)

say_groups <- function(kind, means) {
  less <- means[, treatments] - means[, "test"]
  at <- log2(kind$lambda)
  say(paste0("%s, held-out less test error: remove %+.3f to %+.3f, skip %+.3f to %+.3f, ",
             "keep %+.3f to %+.3f"),
      kind$title, min(less[, 1]), max(less[, 1]), min(less[, 2]), max(less[, 2]), min(less[, 3]),
      max(less[, 3]))
  best <- apply(means, 2, which.min)
  say("smallest error at log2(lambda): remove %g, skip %g, keep %g, test %g", at[best[1]],
      at[best[2]], at[best[3]], at[best[4]])
}

part_groups <- function() {
  repeats <- times(10)
  done <- groups_over(repeats, 20000)
  means <- lapply(seq_along(group_kernels), average, done = done)
  example <- group_data(1, 20000)
  say("")
  say(paste0("Figure 8. %d simulated data sets: 500 groups of 5 rows, 20000 sparse ",
             "columns, a random basis"),
      repeats)
  say(paste0("vector in each group; test sets of 600 other groups of 20; mean squared ",
             "errors, means over sets"))
  for (i in seq_along(group_kernels)) {
    kind <- group_kernels[[i]]
    say("")
    say_groups(kind, means[[i]])
    gaps <- vapply(done, function(one) one[[i]][1, treatments] - one[[i]][1, "test"], numeric(3))
    say("at the smallest lambda, held-out less test error (standard error over data sets): %s",
        paste(sprintf("%s %+.3f (%.3f)", treatments, rowMeans(gaps),
                      apply(gaps, 1, sd) / sqrt(repeats)), collapse = ", "))
    say_table(data.frame(`log2(lambda)` = log2(kind$lambda), means[[i]], check.names = FALSE))
  }
  save_picture("groups", 1100, 460, function() draw_groups(means, repeats))
  say("")
  say(paste0("Table 2, on the first of them, every fifth group, basis vectors kept: ",
             "means of absolute values"))
  table <- do.call(rbind, lapply(group_kernels, function(kind) {
    values <- vapply(kind$table, function(lambda) {
      weights_held_out(example$train, kind$kernel, lambda, example$basis)
    }, numeric(6))
    data.frame(kernel = kind$title, `log2(lambda)` = log2(kind$table), `k(x,z)` = values[1, ],
               `k(v,z)` = values[2, ], a_x = values[3, ], a_v = values[4, ],
               `a_x k(x,z)` = values[5, ], `a_v k(v,z)` = values[6, ], check.names = FALSE)
  }))
  say_table(table, 3)
  few <- groups_over(times(3), 1000)
  say("")
  say("the same with 1000 columns in place of 20000, %d data sets", length(few))
  for (i in seq_along(group_kernels)) {
    means <- average(few, i)
    say_groups(group_kernels[[i]], means)
    say("at the smallest lambda: remove %.3f, skip %.3f, keep %.3f, test %.3f", means[1, 1],
        means[1, 2], means[1, 3], means[1, 4])
  }
}

# Run ----------------------------------------------------------------------------------------------

# Runs some parts, and saves what they print if they are all that belong to the file.
run_parts <- function(own, file) {
  some <- intersect(own, wanted)
  if (!length(some)) return(invisible())
  lines <<- character()
  say("%s", machine_line())
  for (part in some) {
    seconds <- system.time(switch(part, tasks = part_tasks(), sinusoid = part_sinusoid(),
                                  greedy = part_greedy(), groups = part_groups(),
                                  optimism = part_optimism()))[["elapsed"]]
    message(sprintf("%s: %.1f minutes", part, seconds / 60))
  }
  if (setequal(some, own)) writeLines(lines, file.path(line$options$out, file))
}

run_parts(setdiff(parts, "optimism"), "sparse-rls.txt")
run_parts("optimism", "sparse-rls-optimism.txt")
