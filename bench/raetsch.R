# The benchmark sets of G. Raetsch and their partitions into training and test rows; bench/README.md
# says where to get them.

# rows to train on and to test on
raetsch_sizes <- utils::read.table(header = TRUE, row.names = 1, text = "
set           train test
banana          400 4900
breast-cancer   200   77
diabetis        468  300
flare-solar     666  400
german          700  300
heart           170  100
image          1300 1010
ringnorm        400 7000
splice         1000 2175
titanic         150 2051
twonorm         400 7000
")

# Breiman's ringnorm, which was not at hand
ringnorm <- function(rows = 7400, columns = 20) {
  set.seed(1998)
  y <- rep(c(1, -1), length.out = rows)
  x <- matrix(rnorm(rows * columns), rows)
  list(X = ifelse(y > 0, 2, 1) * x + ifelse(y > 0, 0, 2 / sqrt(columns)), y = y)
}

# list(x: a matrix of doubles, y: a factor, train and test: row numbers, a row for each partition
# that the file gives)
raetsch_data <- function(directory, set) {
  file <- file.path(directory, paste0("raetsch_", set, ".rds"))
  data <- if (set == "ringnorm") ringnorm() else readRDS(file)
  x <- as.matrix(data$X)
  storage.mode(x) <- "double"
  list(x = x, y = factor(data$y), train = data$train, test = data$test)
}

own_partitions <- function(data) if (is.null(data$train)) 0L else nrow(data$train)

# The rows of `count` partitions: those that the file gives, then others of the same sizes drawn at
# random.
raetsch_partitions <- function(data, set, count) {
  sizes <- raetsch_sizes[set, ]
  lapply(seq_len(count), function(i) {
    if (i <= own_partitions(data)) {
      return(list(train = data$train[i, ], test = data$test[i, ], own = TRUE))
    }
    set.seed(i)
    drawn <- sample.int(nrow(data$x), sizes$train + sizes$test)
    first <- seq_len(sizes$train)
    list(train = drawn[first], test = drawn[-first], own = FALSE)
  })
}
