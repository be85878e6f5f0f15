# Every job of the package beside the packages that do the same: CPU seconds of whole calls and how
# good the result is, with nothing but the defaults where nothing else is said.
#
#   Rscript bench/peers.R [l1 greedy subset group survival kernel machine system] [times=3] [size=1]
#                         [data=DIR] [job=WORDS] [out=bench/results]
#
# About 10 minutes of CPU. Parts run alone: Rscript bench/peers.R l1. So do jobs: job=golub runs
# those whose line has this word. A quick look: size=0.1 times=1 out=/tmp, half a minute. Nothing is
# needed but the peers, from CRAN or Debian: abess, adelie, biglasso, glmnet, grpreg, kernlab, KRLS,
# L0Learn, lars, leaps, MASS, ncvreg, survival; those that are not installed are left out (gcc 12
# compiles adelie 1.0.10 with `-include atomic` alone). The data are simulated; with data=DIR the
# part `l1` adds texts as counts of words, the part `greedy` gene expression; see bench/README.md
# for the files.
#
# Calls that are compared run in turn, every other time in the opposite order, one thread each; the
# figures are medians, but of a single run where a call takes more than five seconds. What is drawn
# at random begins from the same seed. "good" is the measure named in the line of the job: of errors
# less is better, of R-squared and concordance more. "ours/peer" below 1: this package is quicker.
#
# Sources: R/l1-*.R R/search-*.R R/kernel-*.R R/lssvm-*.R R/system*.R src/*.[ch]

Sys.setenv(OMP_NUM_THREADS = "1", OPENBLAS_NUM_THREADS = "1")
library(sparsels)
library(Matrix)
source("bench/common.R")

parts <- c("l1", "greedy", "subset", "group", "survival", "kernel", "machine", "system")
line <- command_line(list(times = "3", size = "1", data = "", job = "", out = "bench/results"))
given <- line$options
if (!all(line$words %in% parts)) stop("the parts are ", paste(parts, collapse = ", "))
wanted <- if (length(line$words)) intersect(parts, line$words) else parts
times <- as.integer(given$times)
size <- as.numeric(given$size)
inside <- asNamespace("sparsels")

# Comparing ---------------------------------------------------------------------------------------

# How one package does a job: `call` returns a fit, of which `good` makes a number and `note` words.
way <- function(name, call, good = function(fit) NA_real_, note = function(fit) "",
                package = NULL) {
  list(name = name, call = call, good = good, note = note, package = package)
}

installed <- function(way) {
  is.null(way$package) || requireNamespace(way$package, quietly = TRUE)
}

# A table of one job, the first of `ways` ours. It is returned with what README.md quotes, NULL for
# a job that is not asked for.
compare <- function(job, measure, ways, runs = times) {
  if (!grepl(given$job, job, fixed = TRUE)) return(invisible())
  heading("%s; good: %s", job, measure)
  missing <- Filter(function(one) !installed(one), ways)
  ways <- Filter(installed, ways)
  fits <- vector("list", length(ways))
  calls <- lapply(seq_along(ways), function(i) {
    function() {
      set.seed(1)
      fits[[i]] <<- suppressWarnings(suppressMessages(quietly(ways[[i]]$call())))
    }
  })
  seconds <- rounds(calls, 1, cpu)
  if (runs > 1 && max(seconds) < 5) seconds <- cbind(seconds, rounds(calls, runs - 1, cpu))
  seconds <- apply(seconds, 1, median)
  good <- mapply(function(one, fit) as.numeric(one$good(fit)), ways, fits)
  say("  %-44s %9s %9s %10s", "", "seconds", "ours/peer", "good")
  for (i in seq_along(ways)) {
    ratio <- if (i == 1) "" else sprintf("%9.2f", seconds[1] / seconds[i])
    say("  %-44s %9.3f %9s %10s  %s", ways[[i]]$name, seconds[i], ratio,
        format(good[i], digits = 3), ways[[i]]$note(fits[[i]]))
  }
  for (one in missing) say("  %-44s not installed", one$name)
  peer <- which(!vapply(lapply(ways, `[[`, "package"), is.null, NA))[1]
  if (!is.na(peer)) quote_job(job, ways[c(1, peer)], seconds[c(1, peer)], good[c(1, peer)])
  invisible(list(seconds = seconds, good = good, fits = fits))
}

# The row of a job in the short table: this package and the first of the peers.
short_table <- character()
quote_job <- function(job, ways, seconds, good) {
  cells <- sprintf("%s: %.3f s, %s", vapply(ways, `[[`, "", "name"), seconds,
                   vapply(good, format, "", digits = 3))
  short_table <<- c(short_table, sprintf("| %s | %s | %s | %.2f |", job, cells[1], cells[2],
                                         seconds[1] / seconds[2]))
}

# without what a call prints
quietly <- function(value) {
  utils::capture.output(invisible(force(value)))
  value
}

some <- function(n, least = 50L) max(least, as.integer(round(size * n)))

# Data --------------------------------------------------------------------------------------------

# Columns with `factors` common factors, as genes have; a training part of m rows and 1000 new rows.
# Ten columns explain `share` of the variance of the response.
simulated <- function(m, n, factors = 10, share = 0.5, used = 10) {
  set.seed(1)
  total <- m + 1000L
  x <- matrix(rnorm(total * n), total)
  if (factors) {
    x <- x + matrix(rnorm(total * factors), total) %*% matrix(rnorm(factors * n), factors)
  }
  signal <- drop(scale(x[, sample.int(n, used)] %*% rnorm(used)))
  y <- signal + sqrt(1 / share - 1) * rnorm(total)
  split_rows(x, y, m)
}

split_rows <- function(x, y, m) {
  colnames(x) <- paste0("V", seq_len(ncol(x)))
  train <- seq_len(m)
  list(x = x[train, , drop = FALSE], y = y[train], new_x = x[-train, , drop = FALSE],
       new_y = y[-train])
}

# 1 - R-squared on new rows, or the error rate
new_error <- function(d, predicted) {
  predicted <- drop(as.matrix(predicted))
  if (is.factor(d$y)) return(mean(as.character(predicted) != d$new_y))
  mean((d$new_y - predicted)^2) / mean((d$new_y - mean(d$y))^2)
}

our_error <- function(d) {
  type <- if (is.factor(d$y)) "class" else "response"
  function(fit) new_error(d, predict(fit, d$new_x, type = type))
}

counted_columns <- function(count) sprintf("%d columns", as.integer(count))

# R-squared of least squares on some columns
r_squared <- function(x, y, columns) {
  1 - sum(lm.fit(cbind(1, x[, columns, drop = FALSE]), y)$residuals^2) / sum((y - mean(y))^2)
}

# A list of X and y of data=DIR; NULL, and says so, where it is not there
read_set <- function(name) {
  file <- file.path(given$data, paste0(name, ".rds"))
  if (file.exists(file)) return(readRDS(file))
  say("  %s is not there", file)
  NULL
}

# l1 ----------------------------------------------------------------------------------------------

classes <- function(score) factor(runif(length(score)) < plogis(score), labels = c("no", "yes"))

l1_problems <- list(
  "lasso, dense" = function() {
    x <- matrix(rnorm(200 * some(20000)), 200)
    list(x = x, y = drop(x[, 1:10] %*% rnorm(10)) + rnorm(200))
  },
  "lasso, tall" = function() {
    x <- matrix(rnorm(2000 * some(500)), 2000)
    list(x = x, y = drop(x[, 1:50] %*% rnorm(50)) + 3 * rnorm(2000))
  },
  "lasso, sparse, much noise" = function() {
    x <- rsparsematrix(5000, some(20000), 0.005)
    list(x = x, y = as.vector(x[, 1:50] %*% rnorm(50)) + 0.5 * rnorm(5000))
  },
  "logistic, dense" = function() {
    x <- matrix(rnorm(200 * some(20000)), 200)
    list(x = x, y = classes(drop(x[, 1:10] %*% rnorm(10))))
  },
  "logistic, tall" = function() {
    x <- matrix(rnorm(2000 * some(500)), 2000)
    list(x = x, y = classes(drop(x[, 1:50] %*% rnorm(50)) / 2))
  },
  "logistic, sparse" = function() {
    x <- rsparsematrix(5000, some(20000), 0.005)
    list(x = x, y = classes(3 * as.vector(x[, 1:50] %*% rnorm(50))))
  }
)

# The year of headlines of the New York Times; the largest of Reuters' subjects against the others
l1_texts <- list("lasso, headlines" = "text_nyt_headlines18k",
                 "logistic, news" = "text_reuters21578")

# The largest duality gap of models, relative to the objective without columns. `lambda` is of the
# package's objective, `beta` (n x models) on the scale of x.
largest_gap <- function(problem, loss, lambda, beta) {
  points <- lapply(seq_along(lambda), function(l) {
    used <- which(as.vector(beta[, l]) != 0)
    inside$model_point(problem, loss, used, beta[used, l] * problem$columns$scale[used])
  })
  r <- matrix(vapply(points, `[[`, numeric(nrow(problem)), "r"), nrow(problem))
  products <- as.matrix(crossprod(problem$x, r)) - outer(problem$columns$centre, colSums(r))
  most <- apply(abs(products / problem$columns$scale)[problem$columns$usable, , drop = FALSE], 2,
                max)
  gap <- vapply(seq_along(points), function(l) {
    points[[l]]$loss + lambda[l] * points[[l]]$l1 -
      inside$dual_value(problem, loss, r[, l], most[l], lambda[l])
  }, 0)
  max(gap) / inside$model_point(problem, loss, integer(), numeric())$loss
}

# A lambda of the peers is of the loss divided by the rows, and of columns with variance 1 (m in the
# denominator).
in_our_units <- function(problem, lambda) {
  column <- which(problem$columns$usable)[1]
  one <- problem$x[, column]
  lambda * nrow(problem) * sqrt(mean((one - mean(one))^2)) / problem$columns$scale[column]
}

l1_note <- function(lambdas, columns) sprintf("%d lambdas, to %d columns", lambdas, columns)

measure_l1_problem <- function(words, make) {
  set.seed(1)
  d <- make()
  label <- sprintf("%s, %d x %d", words, nrow(d$x), ncol(d$x))
  logistic <- is.factor(d$y)
  loss <- if (logistic) "logistic" else "squared"
  family <- if (logistic) "binomial" else "gaussian"
  zero_one <- if (logistic) as.integer(d$y) - 1 else d$y
  problem <- as_problem(d$x, d$y)
  gap_of <- function(lambda, beta) largest_gap(problem, loss, in_our_units(problem, lambda), beta)
  ours <- function(name, ...) {
    arguments <- list(d$x, d$y, loss = loss, ...)
    way(name, function() do.call(l1_path, arguments),
        function(fit) max(fit$path$gap) / fit$null_objective,
        function(fit) l1_note(nrow(fit$path), max(fit$path$size)))
  }
  by_glmnet <- function(name, ...) {
    way(name, function() glmnet::glmnet(d$x, d$y, family = family, ...),
        function(fit) gap_of(fit$lambda, fit$beta),
        function(fit) l1_note(length(fit$lambda), max(fit$df)), "glmnet")
  }
  by_adelie <- way("adelie::grpnet()", function() {
    x <- if (is.matrix(d$x)) d$x else adelie::matrix.sparse(d$x)
    response <- if (logistic) adelie::glm.binomial(zero_one) else adelie::glm.gaussian(d$y)
    coef(adelie::grpnet(x, response))
  }, function(path) gap_of(path$lambda, t(path$betas)),
  function(path) l1_note(length(path$lambda), max(path$df)), "adelie")
  ways <- list(ours("l1_path()"), by_glmnet("glmnet()"), by_adelie)
  if (is.matrix(d$x)) {
    ways <- c(ways, list(
      way("ncvreg(penalty = \"lasso\")",
          function() ncvreg::ncvreg(d$x, zero_one, family = family, penalty = "lasso"),
          function(fit) gap_of(fit$lambda, fit$beta[-1, ]),
          function(fit) l1_note(length(fit$lambda), max(colSums(fit$beta[-1, ] != 0))), "ncvreg"),
      way("biglasso(as.big.matrix())",
          function() biglasso::biglasso(bigmemory::as.big.matrix(d$x), zero_one, family = family),
          function(fit) gap_of(fit$lambda, fit$beta[-1, ]),
          function(fit) l1_note(length(fit$lambda), max(colSums(fit$beta[-1, ] != 0))), "biglasso")
    ))
  }
  gap <- "largest duality gap"
  first <- compare(label, gap, ways)
  if (is.null(first) || !requireNamespace("glmnet", quietly = TRUE)) return(invisible())
  lambda <- first$fits[[2]]$lambda
  own <- in_our_units(problem, lambda)
  compare(paste0(label, ", glmnet's lambdas"), gap,
          list(ours("l1_path()", lambda = own),
               by_glmnet("glmnet()", lambda = lambda)))
  compare(paste0(label, ", glmnet's lambdas and gap"), gap,
          list(ours("l1_path(tolerance = )", lambda = own, tolerance = first$good[2]),
               by_glmnet("glmnet()", lambda = lambda)))
}

measure_l1_folds <- function() {
  for (logistic in c(FALSE, TRUE)) {
    d <- simulated(200, some(20000))
    if (logistic) {
      d$y <- factor(d$y > 0, labels = c("no", "yes"))
      d$new_y <- factor(d$new_y > 0, labels = c("no", "yes"))
    }
    loss <- if (logistic) "logistic" else "squared"
    family <- if (logistic) "binomial" else "gaussian"
    type <- if (logistic) "class" else "response"
    compare(sprintf("%s, 10 folds, 200 x %d", if (logistic) "logistic" else "lasso", ncol(d$x)),
            if (logistic) "error rate on new rows" else "1 - R-squared on new rows", list(
      way("l1_path(folds = 10)", function() l1_path(d$x, d$y, loss = loss, folds = 10),
          our_error(d), function(fit) counted_columns(fit$size)),
      way("cv.glmnet(), lambda.min",
          function() glmnet::cv.glmnet(d$x, d$y, family = family),
          function(fit) new_error(d, predict(fit, d$new_x, s = "lambda.min", type = type)),
          function(fit) counted_columns(fit$nzero[fit$index[1]]), "glmnet")
    ))
  }
}

# One lambda, 0.8 of the largest, on the columns that a safe test leaves.
measure_screen <- function() {
  set.seed(1)
  d <- l1_problems[[1]]()
  problem <- as_problem(d$x, d$y)
  lambda <- 0.8 * lambda_max(problem)
  theirs <- lambda / in_our_units(problem, 1)
  compare(sprintf("screening and the lasso at 0.8 of lambda_max, dense 200 x %d", ncol(d$x)),
          "largest duality gap", list(
    way("safe_screen(), l1_path()", function() {
      pb <- as_problem(d$x, d$y)
      mask <- safe_screen(pb, lambda = lambda)
      c(l1_path(pb[, mask$keep], lambda = lambda), left = sum(mask$keep))
    }, function(fit) max(fit$path$gap) / fit$null_objective,
    function(fit) sprintf("%d of %d columns left", fit$left, ncol(d$x))),
    way("biglasso(screen = \"Hybrid\")", function() {
      biglasso::biglasso(bigmemory::as.big.matrix(d$x), d$y, lambda = c(2, 1) * theirs,
                         screen = "Hybrid")
    }, function(fit) largest_gap(problem, "squared", lambda, fit$beta[-1, 2, drop = FALSE]),
    function(fit) sprintf("%d of %d columns rejected", max(fit$rejections), ncol(d$x)), "biglasso"),
    way("glmnet(lambda = )", function() glmnet::glmnet(d$x, d$y, lambda = theirs),
        function(fit) largest_gap(problem, "squared", lambda, fit$beta), package = "glmnet")
  ))
}

measure_l1 <- function() {
  for (words in names(l1_problems)) measure_l1_problem(words, l1_problems[[words]])
  if (nzchar(given$data)) for (words in names(l1_texts)) {
    set <- read_set(l1_texts[[words]])
    if (is.null(set)) next
    y <- if (startsWith(words, "logistic")) factor(set$y == 1, labels = c("no", "yes")) else set$y
    measure_l1_problem(words, function() list(x = set$X, y = y))
  }
  measure_l1_folds()
  measure_screen()
}

# Greedy selection --------------------------------------------------------------------------------

greedy_ways <- function(d) {
  family <- if (is.factor(d$y)) "binomial" else "gaussian"
  type <- if (is.factor(d$y)) "class" else "response"
  zero_one <- if (is.factor(d$y)) as.integer(d$y) - 1 else d$y
  at <- function(rule) {
    function(fit) new_error(d, predict(fit, d$new_x, s = rule, type = type))
  }
  list(
    way("greedy_rls()", function() greedy_rls(d$x, d$y), our_error(d),
        function(fit) counted_columns(fit$size)),
    way("cv.glmnet(), lambda.min", function() glmnet::cv.glmnet(d$x, d$y, family = family),
        at("lambda.min"), function(fit) counted_columns(fit$nzero[fit$index[1]]), "glmnet"),
    way("cv.glmnet(), lambda.1se", function() glmnet::cv.glmnet(d$x, d$y, family = family),
        at("lambda.1se"), function(fit) counted_columns(fit$nzero[fit$index[2]]), "glmnet"),
    way("cv.ncvreg(), MCP", function() ncvreg::cv.ncvreg(d$x, zero_one, family = family),
        function(fit) {
          predicted <- predict(fit, d$new_x, type = if (is.factor(d$y)) "class" else "response")
          if (is.factor(d$y)) predicted <- levels(d$y)[predicted + 1]
          new_error(d, predicted)
        }, function(fit) counted_columns(sum(coef(fit)[-1] != 0)), "ncvreg")
  )
}

measure_greedy <- function() {
  words <- "1 - R-squared on new rows"
  wide <- simulated(100, some(20000))
  compare(sprintf("choose columns, genes 100 x %d", ncol(wide$x)), words, greedy_ways(wide))
  tall <- simulated(some(5000), some(100), share = 0.3)
  compare(sprintf("choose columns, tall %d x %d", nrow(tall$x), ncol(tall$x)), words,
          greedy_ways(tall))
  if (nzchar(given$data)) for (name in c("colon_alon", "golub", "prostate_singh")) real_genes(name)
  measure_forward()
}

# Two thirds of the rows to train, the others as new rows
real_genes <- function(name) {
  data <- read_set(name)
  if (is.null(data)) return(invisible())
  set.seed(1)
  order <- sample.int(length(data$y))
  d <- split_rows(unname(as.matrix(data$X))[order, ] + 0, factor(data$y)[order],
                  as.integer(round(2 * length(order) / 3)))
  compare(sprintf("choose columns, %s, %d x %d", name, nrow(d$x), ncol(d$x)),
          "error rate on new rows", greedy_ways(d))
}

# k columns one by one, no cross-validation
measure_forward <- function() {
  d <- simulated(some(5000), some(200), share = 0.3)
  k <- 30L
  frame <- data.frame(y = d$y, d$x)
  fits <- function(columns) r_squared(d$x, d$y, columns)
  compare(sprintf("%d columns, one by one, tall %d x %d", k, nrow(d$x), ncol(d$x)), "R-squared",
          list(
    way("forward_regression(k = 30)", function() forward_regression(d$x, d$y, k = k),
        function(fit) fits(selected(fit, size = k, index = TRUE))),
    way("greedy_rls(k = 30, size = \"criterion\")",
        function() greedy_rls(d$x, d$y, k = k, size = "criterion"),
        function(fit) fits(selected(fit, size = k, index = TRUE))),
    way("omp(k = 30)", function() omp(d$x, d$y, k = k),
        function(fit) fits(selected(fit, size = k, index = TRUE))),
    way("leaps::regsubsets(method = \"forward\")", function() {
      leaps::regsubsets(d$x, d$y, nvmax = k, method = "forward", really.big = TRUE)
    }, function(fit) summary(fit)$rsq[k], package = "leaps"),
    way("lars(type = \"stepwise\")",
        function() lars::lars(d$x, d$y, type = "stepwise", max.steps = k),
        function(fit) fits(unlist(fit$actions)[1:k]), package = "lars"),
    way("MASS::stepAIC(), 5 columns", function() {
      all <- stats::reformulate(colnames(d$x))
      MASS::stepAIC(lm(y ~ 1, frame), list(upper = all), direction = "forward", steps = 5,
                    trace = 0)
    }, function(fit) summary(fit)$r.squared, package = "MASS")
  ))
  wide <- simulated(200, some(20000))
  compare(sprintf("%d columns, one by one, wide 200 x %d", k, ncol(wide$x)), "R-squared", list(
    way("forward_regression(k = 30)", function() forward_regression(wide$x, wide$y, k = k),
        function(fit) max(fit$path$criterion)),
    way("omp(k = 30)", function() omp(wide$x, wide$y, k = k),
        function(fit) max(fit$path$criterion)),
    way("lars(type = \"stepwise\")", function() {
      lars::lars(wide$x, wide$y, type = "stepwise", max.steps = k, use.Gram = FALSE)
    }, function(fit) r_squared(wide$x, wide$y, unlist(fit$actions)[1:k]), package = "lars")
  ))
}

# Subsets -----------------------------------------------------------------------------------------

measure_subset <- function() {
  k <- 8L
  for (shape in list(c(400L, 40L), c(400L, some(500)), c(100L, some(5000)))) {
    d <- simulated(shape[1], shape[2], factors = 5)
    fits <- function(columns) r_squared(d$x, d$y, columns)
    ours <- function(name, method, ...) {
      way(name, function() method(d$x, d$y, k = k, ...),
          function(fit) fits(selected(fit, size = k, index = TRUE)))
    }
    quick <- list(
      way("abess(support.size = 1:8)", function() {
        abess::abess(d$x, d$y, support.size = 1:k, num.threads = 1)
      }, function(fit) fits(which(as.vector(fit$beta[, k]) != 0)), package = "abess"),
      way("L0Learn.fit(maxSuppSize = 8), L0L2", function() {
        L0Learn::L0Learn.fit(d$x, d$y, penalty = "L0L2", maxSuppSize = k, nGamma = 3,
                             algorithm = "CDPSI")
      }, function(fit) best_of_l0(fit, d, k), package = "L0Learn")
    )
    words <- sprintf("%d of %d columns, %d rows", k, shape[2], shape[1])
    if (shape[2] == 40L) {
      compare(paste(words, "with a proof", sep = ", "), "R-squared", list(
        ours("best_subset(k = 8)", best_subset),
        way("leaps::regsubsets(), exhaustive",
            function() leaps::regsubsets(d$x, d$y, nvmax = k, really.big = TRUE),
            function(fit) summary(fit)$rsq[k], package = "leaps")
      ))
    }
    compare(paste(words, "quickly", sep = ", "), "R-squared",
            c(list(ours("forward_regression(k = 8)", forward_regression)), quick))
    compare(paste(words, "thoroughly", sep = ", "), "R-squared",
            c(list(ours("poss(k = 8)", poss)), quick))
  }
}

# The best R-squared of least squares on the columns of its models with k columns at most
best_of_l0 <- function(fit, d, k) {
  models <- do.call(cbind, lapply(fit$beta, as.matrix))
  models <- models[, colSums(models != 0) %in% seq_len(k), drop = FALSE]
  max(apply(models != 0, 2, function(used) r_squared(d$x, d$y, which(used))))
}

# Groups of columns -------------------------------------------------------------------------------

measure_group <- function() {
  groups <- some(100, 20L)
  group <- rep(seq_len(groups), each = 6)
  set.seed(1)
  m <- 200L
  shared <- matrix(rnorm((m + 1000) * groups), m + 1000)[, group]
  x <- shared + matrix(rnorm(length(shared)), nrow(shared))
  signal <- drop(scale(x[, group <= 6] %*% rnorm(36)))
  d <- split_rows(x, signal + rnorm(m + 1000), m)
  found <- function(chosen) sprintf("%d groups, %d of the 6", length(chosen), sum(chosen <= 6))
  compare(sprintf("choose among %d groups of 6 columns, %d rows", groups, m),
          "1 - R-squared on new rows", list(
    way("greedy_rls(columns_group = )", function() greedy_rls(d$x, d$y, columns_group = group),
        our_error(d), function(fit) found(unique(group[selected(fit, index = TRUE)]))),
    way("cv.grpreg(), group lasso", function() grpreg::cv.grpreg(d$x, d$y, group),
        function(fit) new_error(d, predict(fit, d$new_x)),
        function(fit) found(unique(group[coef(fit)[-1] != 0])), "grpreg"),
    way("cv.grpreg(), group MCP",
        function() grpreg::cv.grpreg(d$x, d$y, group, penalty = "grMCP"),
        function(fit) new_error(d, predict(fit, d$new_x)),
        function(fit) found(unique(group[coef(fit)[-1] != 0])), "grpreg")
  ))
}

# Survival ----------------------------------------------------------------------------------------

measure_survival <- function() {
  if (!requireNamespace("survival", quietly = TRUE)) return(say("survival is not installed"))
  d <- simulated(200, some(5000), share = 0.7)
  time <- rexp(1200, exp(c(d$y, d$new_y)))
  end <- rexp(1200, 0.5)
  both <- survival::Surv(pmin(time, end), as.integer(time <= end))
  train <- 1:200
  concordance <- function(score) {
    survival::concordance(both[-train] ~ score, reverse = TRUE)$concordance
  }
  compare(sprintf("choose columns, censored times, 200 x %d", ncol(d$x)),
          "concordance on new rows", list(
    way("greedy_rls()", function() greedy_rls(d$x, both[train]), function(fit) {
      risk <- drop(predict(fit, d$new_x))
      max(concordance(risk), 1 - concordance(risk))
    }, function(fit) counted_columns(fit$size)),
    way("cv.glmnet(family = \"cox\"), lambda.min",
        function() glmnet::cv.glmnet(d$x, both[train], family = "cox"),
        function(fit) concordance(drop(predict(fit, d$new_x, s = "lambda.min"))),
        function(fit) counted_columns(fit$nzero[fit$index[1]]), "glmnet")
  ))
}

# Ridge and kernels -------------------------------------------------------------------------------

# Rows in ten dimensions, a smooth function of three of them; 1000 new rows
smooth <- function(m) {
  set.seed(1)
  x <- matrix(rnorm((m + 1000) * 10), m + 1000)
  split_rows(x, sin(2 * x[, 1]) + x[, 2] * x[, 3] / 2 + rnorm(m + 1000) / 4, m)
}

measure_kernel <- function() {
  d <- simulated(some(2000), some(500), share = 0.3)
  compare(sprintf("ridge regression, lambda chosen, %d x %d", nrow(d$x), ncol(d$x)),
          "1 - R-squared on new rows", list(
    way("rls(), LOO of 31 lambdas", function() rls(d$x, d$y), our_error(d)),
    way("cv.glmnet(alpha = 0)", function() glmnet::cv.glmnet(d$x, d$y, alpha = 0),
        function(fit) new_error(d, predict(fit, d$new_x, s = "lambda.min")), package = "glmnet"),
    way("MASS::lm.ridge(), GCV of 31 lambdas",
        function() MASS::lm.ridge(d$y ~ d$x, lambda = 2^(-15:15)), function(fit) {
          beta <- coef(fit)[which.min(fit$GCV), ]
          new_error(d, cbind(1, d$new_x) %*% beta)
        }, package = "MASS")
  ))
  measure_kernel_rows()
  measure_centres()
}

# From version 1.6 on, krls() approximates by 500 landmarks by default, where there are more rows.
krls_of <- function(d, ...) {
  KRLS::krls(d$x, d$y, sigma = 20, derivative = FALSE, vcov = FALSE, print.level = 0, ...)
}

# All rows as basis: the leave-one-out errors of all lambdas, beside one lambda without an error
measure_kernel_rows <- function() {
  d <- smooth(some(1000))
  kernel <- kernel_gaussian(0.05)
  K <- kernel$values(d$x, d$x)
  compare(sprintf("kernel ridge regression, %d rows, width given", nrow(d$x)),
          "1 - R-squared on new rows", list(
    way("kernel_rls(), LOO of 31 lambdas", function() kernel_rls(d$x, d$y, kernel = kernel),
        our_error(d)),
    way("krls(approx = \"none\"), LOO, a few lambdas", function() krls_of(d, approx = "none"),
        function(fit) new_error(d, predict(fit, d$new_x)$fit), package = "KRLS"),
    way("krls(), 500 of the rows as landmarks", function() krls_of(d),
        function(fit) new_error(d, predict(fit, d$new_x)$fit), package = "KRLS"),
    way("kernlab::gausspr(), one lambda, no error", function() {
      kernlab::gausspr(d$x, d$y, kernel = "rbfdot", kpar = list(sigma = 0.05), var = 0.1,
                       scaled = FALSE)
    }, function(fit) new_error(d, kernlab::predict(fit, d$new_x)), package = "kernlab"),
    way("chol(K + lambda I), K given, no error", function() {
      R <- chol(K + diag(0.1, nrow(K)))
      backsolve(R, backsolve(R, d$y, transpose = TRUE))
    }, function(a) new_error(d, kernel$values(d$new_x, d$x) %*% a))
  ))
}

# A hundred rows for a basis; the error of kernel ridge regression on them
measure_centres <- function() {
  d <- smooth(some(3000))
  kernel <- kernel_gaussian(0.05)
  n <- 100L
  good <- function(rows) {
    fit <- kernel_rls(d$x, d$y, kernel = kernel, basis = rows)
    new_error(d, predict(fit, d$new_x))
  }
  pb <- as_problem(d$x, d$y, intercept = FALSE, standardize = FALSE)
  ours <- function(method) {
    way(sprintf("select_basis(\"%s\")", method), function() {
      select_basis(pb, n, method, kernel = kernel, lambda = 0.1)
    }, function(rows) good(as.integer(rows)))
  }
  theirs <- kernlab_kernel()
  words <- "1 - R-squared on new rows"
  compare(sprintf("choose %d of %d rows for a basis by the response", n, nrow(d$x)), words, list(
    ours("greedy"),
    way("kernlab::csi()", function() {
      kernlab::csi(d$x, cbind(d$y), kernel = theirs, rank = n, centering = FALSE)
    }, function(fit) good(kernlab::pivots(fit)[seq_len(n)]), package = "kernlab")
  ))
  compare(sprintf("choose %d of %d rows for a basis without it", n, nrow(d$x)), words, list(
    ours("k_center"),
    way("kernlab::inchol()", function() {
      kernlab::inchol(d$x, kernel = theirs, maxiter = n, tol = 1e-12)
    }, function(fit) good(unique(kernlab::pivots(fit))), package = "kernlab")
  ))
}

kernlab_kernel <- function() {
  if (requireNamespace("kernlab", quietly = TRUE)) kernlab::rbfdot(sigma = 0.05)
}

# Support vector machines -------------------------------------------------------------------------

measure_machine <- function() {
  m <- some(2000)
  set.seed(1)
  x <- matrix(rnorm((m + 2000) * 8), m + 2000)
  y <- classes(3 * (sin(2 * x[, 1]) + x[, 2] * x[, 3]))
  d <- split_rows(x, y, m)
  by_svm <- function(name, ...) {
    way(name, function() kernlab::ksvm(d$x, d$y, ...),
        function(fit) new_error(d, kernlab::predict(fit, d$new_x)),
        function(fit) sprintf("%d support vectors", kernlab::nSV(fit)), "kernlab")
  }
  compare(sprintf("a kernel machine on few rows, %d x 8, tuned", m), "error rate on new rows", list(
    way("fs_lssvm(), 10 folds, size chosen", function() fs_lssvm(d$x, d$y), our_error(d),
        function(fit) sprintf("%d terms", fit$size)),
    way("ksvm(), best of 25 by 10 folds", function() tuned_svm(d),
        function(fit) new_error(d, kernlab::predict(fit, d$new_x)),
        function(fit) sprintf("%d support vectors", kernlab::nSV(fit)), "kernlab")
  ), runs = 1)
  kernel <- kernel_gaussian(sigma2 = 8)
  compare(sprintf("a kernel machine, %d x 8, parameters given", m), "error rate on new rows", list(
    way("fs_lssvm(), 10 folds, size chosen",
        function() fs_lssvm(d$x, d$y, kernel = kernel, gamma = 10), our_error(d),
        function(fit) sprintf("%d terms", fit$size)),
    by_svm("ksvm(cross = 10)", C = 10, kpar = list(sigma = 1 / 8), cross = 10),
    by_svm("ksvm(), no error estimated", C = 10, kpar = list(sigma = 1 / 8))
  ))
  compare(sprintf("LS-SVM, %d x 8, parameters given", m), "error rate on new rows", list(
    way("lssvm(), all rows, exact LOO",
        function() lssvm(d$x, d$y, kernel = kernel, gamma = 10), our_error(d)),
    way("kernlab::lssvm(), reduced, no error", function() {
      kernlab::lssvm(d$x, d$y, kernel = "rbfdot", kpar = list(sigma = 1 / 8), tau = 0.1 / m)
    }, function(fit) new_error(d, kernlab::predict(fit, d$new_x)), package = "kernlab")
  ))
}

tuned_svm <- function(d) {
  grid <- expand.grid(C = 4^(-1:3), sigma = 4^(-2:2) / 8)
  error <- vapply(seq_len(nrow(grid)), function(i) {
    kernlab::cross(kernlab::ksvm(d$x, d$y, C = grid$C[i], kpar = list(sigma = grid$sigma[i]),
                                 cross = 10))
  }, 0)
  best <- grid[which.min(error), ]
  kernlab::ksvm(d$x, d$y, C = best$C, kpar = list(sigma = best$sigma))
}

# Systems -----------------------------------------------------------------------------------------

measure_system <- function() {
  for (shape in list(c(2000L, some(500)), c(200L, some(2000)))) {
    d <- simulated(shape[1], shape[2])
    x <- scale(d$x, scale = FALSE)
    y <- d$y - mean(d$y)
    k <- 50L
    value <- function(w) sum((y - x %*% w)^2) / sum(y^2)
    path <- lars_path(crossprod(x), drop(crossprod(x, y)), k = k)$path
    compare(sprintf("lasso path by knots to %d of %d columns, %d rows, X'X counted", k, shape[2],
                    shape[1]), "1 - R-squared at the last knot", list(
      way("lars_path(X'X, X'y, k = 50)", function() {
        lars_path(crossprod(x), drop(crossprod(x, y)), k = k, debias = FALSE)
      }, function(fit) value(coef(fit)), function(fit) sprintf("%d knots", nrow(fit$path))),
      way("lars(), steps to 50 columns", function() {
        lars::lars(x, y, normalize = FALSE, intercept = FALSE, max.steps = nrow(path) - 1L)
      }, function(fit) value(coef(fit)[nrow(coef(fit)), ]),
      function(fit) sprintf("%d knots", nrow(coef(fit))), "lars")
    ))
  }
}

# Run ---------------------------------------------------------------------------------------------

say("%s", machine_line())
peers <- c("abess", "adelie", "biglasso", "glmnet", "grpreg", "kernlab", "KRLS", "L0Learn", "lars",
           "leaps", "MASS", "ncvreg", "survival")
versions <- vapply(peers, function(package) {
  if (!requireNamespace(package, quietly = TRUE)) return(paste("no", package))
  paste(package, utils::packageVersion(package))
}, "")
for (some_of in split(versions, rep(1:2, c(6, 7)))) say("%s", paste(some_of, collapse = ", "))
before <- load_average()
used <- proc.time()
run <- list(l1 = measure_l1, greedy = measure_greedy, subset = measure_subset,
            group = measure_group, survival = measure_survival, kernel = measure_kernel,
            machine = measure_machine, system = measure_system)
for (part in wanted) run[[part]]()
heading("permutation_test(), judge(), added_value(), exchange(), panel_error(), holdout() and")
say("verify() have no row: none of these packages does their jobs. scdp(): see scdp.txt")
heading("In short, each job beside the first of its peers: seconds, how good, ours/peer")
for (row in short_table) say("%s", row)
heading("load average at start and end: %s and %s (this script makes 1); all of it took %.0f CPU",
        before, load_average(), sum((proc.time() - used)[1:2]))
say("seconds")
whole <- setequal(wanted, parts) && given$job == ""
name <- if (whole) "peers.txt" else sprintf("peers-%s.txt", wanted[1])
writeLines(lines, file.path(given$out, name))
