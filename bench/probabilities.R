# How good are the probabilities of classifiers, and which way of making them is the best?
#
#   Rscript bench/probabilities.R DIR [splits=10] [out=bench/results]
#
# DIR holds the data sets as .rds files, lists of X and y; bench/README.md says where to get them.
# Three parts, each with random splits into training and test rows, the same for all contestants;
# figures are means over test rows, differences are paired, and standard errors are over data sets.
# Decisions are made on the first half of the data sets and confirmed on the second.
#
# `classes`: three and more classes, Platt's calibration of each class against the rest, divided by
# the sum, beside a calibration of each pair of classes by the difference of their scores, coupled
# as Wu, Lin and Weng (2004, second method) do; log loss of both, by rls() and greedy_rls().
# `selection`: how much is lost where the columns were chosen by all rows: log loss with the
# held-out scores of greedy_rls(size = "criterion"), of its default, and of outer folds.
# `threshold`: the cost where a false negative costs five times a false positive, and the reverse,
# by the threshold with the smallest cost of held-out rows and by that of the costs alone.
# About 15 minutes.
#
# Sources: R/fit-probability.R R/search-greedy.R

library(sparsels)
source("bench/common.R")
line <- command_line(list(splits = "10", out = "bench/results"))
directory <- c(line$words, ".")[1L]
splits <- as.integer(line$options$splits)

# `rows`: how many are drawn for each split, a number of which is trained on
sets <- list(
  classes = list(
    crabs = list(train = 100), iris = list(train = 75), mnist = list(train = 400, rows = 1400),
    reuters = list(file = "text_reuters21578", train = 500, rows = 1500),
    fgl = list(train = 140), khan = list(file = "khan_srbct", train = 55),
    news = list(file = "text_20newsgroups", train = 600, rows = 1600)
  ),
  two = list(
    colon = list(file = "colon_alon"), ionosphere = list(train = 150),
    german = list(file = "german_numer", train = 200), splice = list(file = "raetsch_splice",
                                                                    train = 200, rows = 1200),
    golub = list(), prostate = list(file = "prostate_singh"), sonar = list(),
    coil = list(file = "coil2000", train = 500, rows = 3000)
  )
)

read_set <- function(name, set) {
  if (name == "iris") return(list(x = as.matrix(iris[1:4]), y = iris$Species))
  if (name == "crabs") {
    return(list(x = as.matrix(MASS::crabs[4:8]), y = interaction(MASS::crabs$sp, MASS::crabs$sex)))
  }
  if (name == "fgl") return(list(x = as.matrix(MASS::fgl[1:9]), y = MASS::fgl$type))
  d <- readRDS(file.path(directory, paste0(if (is.null(set$file)) name else set$file, ".rds")))
  if (is.matrix(d$X)) storage.mode(d$X) <- "double"
  list(x = d$X, y = factor(d$y))
}

# list(x, y, train): training rows first, at least two of every class; rare columns left out
drawn <- function(data, set) {
  m <- nrow(data$x)
  rows <- sample(m, min(c(m, set$rows)))
  data <- list(x = data$x[rows, ], y = data$y[rows])
  train <- if (is.null(set$train)) round(2 / 3 * length(rows)) else set$train
  first <- seq_len(train)
  common <- names(which(table(data$y[first]) >= 5))
  keep <- data$y %in% common
  train <- sum(keep[first])
  data <- list(x = data$x[keep, ], y = droplevels(data$y[keep]), train = train)
  seen <- Matrix::colSums(data$x[seq_len(train), ] != 0)
  data$x <- data$x[, seen >= if (inherits(data$x, "Matrix")) 10 else 1]
  data
}

# Contestants -------------------------------------------------------------------------------------

# Second method of Wu, Lin and Weng (2004): p minimises sum_ij (r_ji p_i - r_ij p_j)^2, sum p = 1.
couple <- function(r) {
  k <- nrow(r)
  q <- -r * t(r)
  diag(q) <- 0
  diag(q) <- colSums(r^2) - diag(r)^2
  solution <- solve(rbind(cbind(q + diag(1e-12, k), 1), c(rep(1, k), 0)), c(rep(0, k), 1))
  p <- pmax(solution[seq_len(k)], 0)
  p / sum(p)
}

pairwise <- function(fit) {
  class <- max.col(fit$problem$rows$y)
  k <- ncol(fit$problem$rows$y)
  pairs <- utils::combn(k, 2, simplify = FALSE)
  maps <- lapply(pairs, function(pair) {
    rows <- which(class %in% pair)
    score <- fit$held_out[rows, pair[1]] - fit$held_out[rows, pair[2]]
    sparsels:::platt_map(score, class[rows] == pair[1], rep(1, length(rows)))
  })
  function(score) {
    r <- array(0, c(nrow(score), k, k))
    for (each in seq_along(pairs)) {
      i <- pairs[[each]][1]
      j <- pairs[[each]][2]
      r[, i, j] <- maps[[each]](score[, i] - score[, j])
      r[, j, i] <- 1 - r[, i, j]
    }
    t(apply(r, 1L, couple))
  }
}

log_loss <- function(p, y) -mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-15)))

test_part <- function(data) -seq_len(data$train)

score_classes <- function(data) {
  first <- seq_len(data$train)
  problem <- as_problem(data$x[first, ], data$y[first])
  fits <- list(rls = suppressWarnings(rls(problem)))
  if (ncol(data$x) < 5000) {
    fits$greedy <- suppressWarnings(greedy_rls(problem, k = min(15, ncol(problem)),
                                               size = "criterion", lambda = 1))
  }
  y <- data$y[-first]
  unlist(lapply(fits, function(fit) {
    score <- predict(fit, data$x[-first, ])
    c(rest = log_loss(against_rest(fit)(score), y),
      pairs = log_loss(pairwise(fit)(score), y))
  }))
}

score_two <- function(data) {
  first <- seq_len(data$train)
  problem <- as_problem(data$x[first, ], data$y[first])
  default <- suppressWarnings(greedy_rls(problem))
  criterion <- suppressWarnings(greedy_rls(problem, k = min(20, ncol(problem)), size = "criterion"))
  outer <- suppressWarnings(cross_validate(problem, greedy_rls, k = min(20, ncol(problem)),
                                           size = "criterion", baselines = NULL))
  outer$fit$held_out <- outer$held_out
  fits <- list(default = default, criterion = criterion, outer = outer$fit)
  y <- data$y[-first]
  losses <- vapply(fits, function(fit) {
    score <- cbind(predict(fit, data$x[-first, ]))
    log_loss(sparsels:::calibrated(fit)(score), y)
  }, 0)
  map <- sparsels:::calibrated(default)
  inside <- map(default$held_out)[, 2]
  test <- map(cbind(predict(default, data$x[-first, ])))[, 2]
  cost <- function(p, positive, threshold, costs) {
    mean(costs[1] * (p > threshold & !positive) + costs[2] * (p <= threshold & positive))
  }
  up <- function(y) as.integer(y) == 2L
  of_costs <- function(costs) {
    value <- sort(unique(inside))
    tried <- c(0, (value[-1] + value[-length(value)]) / 2, 1)
    each <- vapply(tried, function(one) cost(inside, up(data$y[first]), one, costs), 0)
    c(held_out = cost(test, up(y), tried[which.min(each)], costs),
      costs = cost(test, up(y), costs[1] / sum(costs), costs))
  }
  c(losses, five = of_costs(c(1, 5)), fifth = of_costs(c(5, 1)))
}

# Run ---------------------------------------------------------------------------------------------

run <- function(sets, score) {
  do.call(rbind, lapply(names(sets), function(name) {
    data <- read_set(name, sets[[name]])
    set.seed(1)
    each <- lapply(seq_len(splits), function(i) score(drawn(data, sets[[name]])))
    mean <- colMeans(do.call(rbind, each))
    cat(name, "done\n", file = stderr())
    data.frame(set = name, measure = names(mean), mean = mean, row.names = NULL)
  }))
}

wide <- function(table) {
  out <- tapply(table$mean, table[c("set", "measure")], identity)
  out[unique(table$set), unique(table$measure)]
}

compared <- function(table, one, other, half) {
  off <- table[half, one] - table[half, other]
  off <- off[!is.na(off)]
  sprintf("%s less %s: %.4f (standard error %.4f), %d of %d sets below 0", one, other, mean(off),
          sd(off) / sqrt(length(off)), sum(off < 0), length(off))
}

halves <- function(table) {
  first <- seq_len(ceiling(nrow(table) / 2))
  list(chosen = rownames(table)[first], confirmed = rownames(table)[-first])
}

lines <- utils::capture.output({
  cat(machine_line(), "\n\n")
  cat("classes: log loss\n")
  table <- wide(run(sets$classes, score_classes))
  print(round(table, 3))
  for (half in names(halves(table))) {
    for (method in c("rls", "greedy")) {
      cat(half, ": ", compared(table, paste0(method, ".pairs"), paste0(method, ".rest"),
                               halves(table)[[half]]), "\n", sep = "")
    }
  }
  cat("\ntwo classes: log loss; cost of a row\n")
  table <- wide(run(sets$two, score_two))
  print(round(table, 3))
  for (half in names(halves(table))) {
    cat(half, ": ", compared(table, "criterion", "outer", halves(table)[[half]]), "\n", sep = "")
    cat(half, ": ", compared(table, "five.held_out", "five.costs", halves(table)[[half]]), "\n",
        sep = "")
    cat(half, ": ", compared(table, "fifth.held_out", "fifth.costs", halves(table)[[half]]), "\n",
        sep = "")
  }
})
writeLines(lines)
writeLines(lines, file.path(line$options$out, "probabilities.txt"))
