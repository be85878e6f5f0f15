# Sets of censored times, for outcomes.R and l1-times.R, and how well methods rank their rows. The
# sets are of files in a directory, of packages, and simulated.

read_set <- function(directory, name) {
  d <- readRDS(file.path(directory, paste0(name, ".rds")))
  if (name == "breast_vdv") list(x = d$X, time = d$y, event = d$event == 1) else
    list(x = d$X, time = d$time, event = d$status == 1)
}

# 200 rows, 1000 columns, six of them with effects on the logarithm of the hazard.
simulated <- function(censored, correlated = FALSE) {
  x <- matrix(rnorm(200 * 1000), 200)
  if (correlated) {
    block <- matrix(rnorm(200 * 100), 200)[, rep(1:100, each = 10)]
    x <- sqrt(0.7) * block + sqrt(0.3) * x
  }
  risk <- drop(x[, c(1, 101, 201, 301, 401, 501)] %*% c(1, -1, 0.8, -0.8, 0.6, -0.6))
  time <- (rexp(200) * exp(-risk))^0.7
  end <- unname(quantile(time, 1 - censored)) * runif(200, 0.5, 1.5)
  list(x = x, time = pmin(time, end), event = time <= end)
}

# 100 rows and 500 columns of which none matters, a third of the times censored.
noise <- function(number) {
  set.seed(1000 + number)
  x <- matrix(rnorm(100 * 500), 100)
  time <- rexp(100)
  end <- rexp(100, 0.5)
  list(x = x, y = survival::Surv(pmin(time, end), time <= end))
}

# a data set of a package, whose factors become indicators
from_frame <- function(d, time, event) {
  d <- stats::na.omit(d)
  own <- setdiff(names(d), c(time, event))
  list(x = stats::model.matrix(~ ., d[own])[, -1L], time = d[[time]], event = d[[event]] > 0)
}

pbc <- function() {
  d <- survival::pbc[seq_len(312), -1L]
  d$status <- d$status == 2
  from_frame(d, "time", "status")
}

dlbcl <- function() {
  d <- get(utils::data("DLBCL", package = "ipred", envir = environment()))
  from_frame(d[c("time", "cens", grep("^MGEc", names(d), value = TRUE))], "time", "cens")
}

# functions that make a set, the sets of files first
time_sets <- function(directory = "") {
  files <- c(sorlie = "surv_sorlie", nki70 = "surv_nki70", lung = "surv_lung", vdv = "breast_vdv")
  c(
    if (nzchar(directory)) lapply(files, function(name) function() read_set(directory, name)),
    list(pbc = pbc, veteran = function() from_frame(survival::veteran, "time", "status"),
         gbsg = function() from_frame(survival::gbsg[-1L], "rfstime", "status"), DLBCL = dlbcl,
         "sim, 1/3 censored" = function() simulated(1 / 3),
         "sim, 2/3 censored" = function() simulated(2 / 3),
         "sim, correlated" = function() simulated(1 / 3, TRUE))
  )
}

# The concordance of each method within each fold of one partition, their columns and seconds. A
# method gives from x and y the risks of new rows, as a function, and the number of columns.
score_split <- function(number, make, methods) {
  set.seed(number)
  set <- make()
  y <- survival::Surv(set$time, set$event)
  ids <- sample(rep(1:5, length.out = nrow(set$x)))
  seed <- sample.int(1e6, 1)
  vapply(methods, function(method) {
    set.seed(seed)
    pairs <- c(0, 0)
    sizes <- numeric()
    seconds <- sum(system.time(for (fold in 1:5) {
      out <- ids == fold
      fit <- suppressWarnings(method(set$x[!out, ], y[!out]))
      risk <- round(fit$risk(set$x[out, ]), 10)
      count <- survival::concordancefit(y[out], risk, reverse = TRUE)$count
      pairs <- pairs + c(count[[1L]] + count[[3L]] / 2, sum(count[1:3]))
      sizes <- c(sizes, fit$size)
    })[c("user.self", "sys.self")])
    c(concordance = pairs[1L] / pairs[2L], size = mean(sizes), seconds = seconds / 5)
  }, c(concordance = 0, size = 0, seconds = 0))
}
