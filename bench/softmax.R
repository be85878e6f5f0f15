# Softmax regression of l1_path() beside glmnet's multinomial: errors and log loss of new rows with
# separate and grouped penalties, and CPU at equal gaps.
#
#   Rscript bench/softmax.R [sets and parts] [dir=.] [times=3] [out=bench/results]
#
# Parts are "errors" and "speed"; other words are sets of class-sets.R. `dir` holds khan_srbct.rds
# and mnist.rds, bench/README.md says where to get them. Sets whose package is not installed are
# left out. Five stratified outer folds; within each, both choose lambda by the held-out deviance
# (the best of the path) of the same five folds. Without glmnet its columns are missing. All gaps
# are computed from the coefficients by one function of this script. About ten minutes.
#
# Sources: R/l1-*.R src/l1*

library(sparsels)
source("bench/common.R")
line <- command_line(list(dir = ".", times = "3", out = "bench/results"))
directory <- line$options$dir
source("bench/class-sets.R")
parts <- intersect(c("errors", "speed"), line$words)
if (!length(parts)) parts <- c("errors", "speed")
chosen <- setdiff(line$words, parts)
if (!length(chosen)) {
  chosen <- c("iris", "crabs", "fgl", "vehicle", "wine", "thyroid", "cars", "khan", "lymphoma",
              "leukemia", "digits", "few_markers", "markers", "markers_unequal", "row_of_four")
}
has_glmnet <- requireNamespace("glmnet", quietly = TRUE)

# Errors ------------------------------------------------------------------------------------------

# Methods: functions of training rows and inner folds that return the probabilities of new rows as
# a function, with the number of columns.
of_path <- function(grouped) {
  function(x, y, id) {
    fit <- l1_path(x, y, loss = "multinomial", grouped = grouped, folds = id, progress = FALSE)
    list(prob = function(new) predict(fit, new, type = "prob"), size = fit$size)
  }
}
of_glmnet <- function(type) {
  function(x, y, id) {
    fit <- glmnet::cv.glmnet(x, y, family = "multinomial", type.multinomial = type, foldid = id)
    used <- Reduce(`|`, lapply(coef(fit, s = "lambda.min"), function(b) as.vector(b) != 0))
    list(prob = function(new) predict(fit, new, s = "lambda.min", type = "response")[, , 1L],
         size = sum(used) - 1)
  }
}
methods <- list(separate = of_path(FALSE), grouped = of_path(TRUE))
if (has_glmnet) {
  methods$glmnet <- of_glmnet("ungrouped")
  methods$"glmnet grouped" <- of_glmnet("grouped")
}

# Ids of five folds, in each of which every class has its share
inner_folds <- function(y) {
  ids <- integer(length(y))
  ids[order(y, stats::runif(length(y)))] <- rep_len(1:5, length(y))
  ids
}

# Errors, log loss, columns and CPU seconds of each method on a set: measures x methods
score_set <- function(name) {
  data <- tryCatch(suppressWarnings(read_set(name)), error = function(e) NULL)
  if (is.null(data)) return(NULL)
  set.seed(99)
  outer <- inner_folds(data$y)
  sums <- 0
  for (fold in 1:5) {
    test <- outer == fold
    id <- inner_folds(data$y[!test])
    sums <- sums + vapply(methods, function(method) {
      seconds <- sum(system.time({
        fit <- suppressMessages(suppressWarnings(method(data$x[!test, ], data$y[!test], id)))
      })[1:2])
      p <- fit$prob(data$x[test, , drop = FALSE])
      own <- p[cbind(seq_len(nrow(p)), as.integer(data$y[test]))]
      c(error = sum(max.col(p, "first") != as.integer(data$y[test])) / length(outer),
        logloss = sum(-log(pmax(own, 1e-15))) / length(outer), columns = fit$size / 5,
        seconds = seconds / 5)
    }, numeric(4L))
  }
  sums
}

compare_errors <- function() {
  each <- Filter(Negate(is.null), lapply(stats::setNames(nm = chosen), score_set))
  for (measure in c("error", "logloss", "columns", "seconds")) {
    heading("%s", c(error = "error rate", logloss = "log loss", columns = "columns chosen",
                    seconds = "CPU seconds of a choice of lambda")[[measure]])
    values <- t(vapply(each, function(one) one[measure, ], numeric(length(methods))))
    say_table(data.frame(set = names(each), round(values, 3), check.names = FALSE))
    if (!has_glmnet) next
    for (type in c("separate", "grouped")) {
      off <- values[, type] - values[, c(separate = "glmnet", grouped = "glmnet grouped")[[type]]]
      say("%s less glmnet: %+.4f (standard error %.4f), from %+.3f to %+.3f", type, mean(off),
          stats::sd(off) / sqrt(length(off)), min(off), max(off))
    }
  }
}

# Speed -------------------------------------------------------------------------------------------

# Four classes by the largest of four scores, each of all of ten columns, and the smallest lambda
# divided by the largest
made <- function(m, n, ratio, sparse = FALSE) {
  x <- if (sparse) Matrix::rsparsematrix(m, n, 0.005) else matrix(rnorm(m * n), m)
  score <- as.matrix(x[, 1:10] %*% matrix(rnorm(40), 10))
  score <- score / stats::sd(score)
  list(x = x, y = factor(max.col(1.5 * score + matrix(rnorm(4 * m), m))), ratio = ratio)
}

problems <- list("dense 200 x 5000" = function() made(200, 5000, 0.05),
                 "tall 2000 x 300" = function() made(2000, 300, 0.05),
                 "sparse 5000 x 10000" = function() made(5000, 10000, 0.3, TRUE))

shares_of <- function(f) {
  e <- exp(f - do.call(pmax, as.data.frame(f)))
  e / rowSums(e)
}

# The largest gap, as a share of the null model's objective, of models (a list of columns x classes)
largest_gap <- function(data, lambda, models, grouped) {
  Y <- outer(as.integer(data$y), seq_len(nlevels(data$y)), "==") + 0
  norms <- function(b) if (grouped) sqrt(rowSums(b^2)) else abs(b)
  null <- -sum(Y %*% log(colMeans(Y)))
  max(mapply(function(lambda, B) {
    f <- as.matrix(data$x %*% B)
    # Newton's method for the intercepts
    for (step in 1:30) {
      p <- shares_of(f)
      g <- colSums(Y - p)
      H <- diag(colSums(p)) - crossprod(p) + 1
      f <- f + rep(solve(H, g), each = nrow(f))
      if (max(abs(g)) < 1e-11 * nrow(f)) break
    }
    p <- shares_of(f)
    s <- min(1, lambda / max(norms(as.matrix(Matrix::crossprod(data$x, Y - p)))))
    a <- (1 - s) * Y + s * p
    -sum(log(rowSums(Y * p))) + lambda * sum(norms(B)) + sum(ifelse(a > 0, a * log(a), 0))
  }, lambda, models)) / null
}

race <- function(name, grouped) {
  set.seed(1)
  data <- problems[[name]]()
  ours <- function(...) {
    l1_path(data$x, data$y, loss = "multinomial", grouped = grouped, standardize = FALSE,
            nlambda = 50, lambda_min_ratio = data$ratio, progress = FALSE, ...)
  }
  lambda <- ours()$path$lambda
  theirs <- function(thresh) {
    glmnet::glmnet(data$x, data$y, family = "multinomial", standardize = FALSE, maxit = 1e7,
                   type.multinomial = if (grouped) "grouped" else "ungrouped", thresh = thresh,
                   lambda = lambda / length(data$y))
  }
  ways <- list("sparsels, default" = function() ours(),
               "sparsels, 1e-6" = function() ours(tolerance = 1e-6),
               "sparsels, 1e-9" = function() ours(tolerance = 1e-9))
  if (has_glmnet) {
    ways$"glmnet, default" <- function() theirs(1e-7)
    ways$"glmnet, thresh 1e-10" <- function() theirs(1e-10)
    ways$"glmnet, thresh 1e-12" <- function() theirs(1e-12)
  }
  gaps <- vapply(ways, function(way) {
    fit <- way()
    models <- if (inherits(fit, "l1_path")) {
      lapply(fit$solutions, function(one) {
        B <- matrix(0, ncol(data$x), nlevels(data$y))
        B[one$features, ] <- one$beta
        B
      })
    } else {
      lapply(seq_along(fit$lambda), function(i) {
        vapply(fit$beta, function(b) as.vector(b[, i]), numeric(ncol(data$x)))
      })
    }
    if (length(models) < length(lambda)) return(NA)
    largest_gap(data, lambda, models, grouped)
  }, 0)
  heading("four classes, %s, %s penalty, %d lambdas to %s of lambda_max, %d columns at the last",
          name, if (grouped) "grouped" else "separate", length(lambda), format(data$ratio),
          utils::tail(ours()$path$size, 1L))
  say_table(data.frame(call = names(ways),
                       seconds = round(interleaved(ways, as.integer(line$options$times), cpu), 3),
                       gap = format(gaps, digits = 2)))
}

# Run ---------------------------------------------------------------------------------------------

say("%s", machine_line())
say("l1_path(loss = \"multinomial\") beside glmnet. Load average at the start: %s", load_average())
if ("errors" %in% parts) compare_errors()
if ("speed" %in% parts) {
  say("")
  say("CPU seconds, and the largest gap of the path as a share of the null model's objective")
  for (name in names(problems)) for (grouped in c(FALSE, TRUE)) race(name, grouped)
}
writeLines(lines, file.path(line$options$out, "softmax.txt"))
