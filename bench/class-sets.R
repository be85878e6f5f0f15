# Sets of data with three and more classes, for classes.R and softmax.R. Of files in `directory`, of
# packages, and made: read_set() makes any of them.

# Data --------------------------------------------------------------------------------------------

of_package <- function(package, name) {
  place <- new.env()
  utils::data(list = name, package = package, envir = place)
  place[[name]]
}

numbers_of <- function(d) as.matrix(d[vapply(d, is.numeric, NA)])

# `classes` in a row along the first column, `gap` apart
in_a_row <- function(m, n, classes, gap, seed, share = rep(1, classes)) {
  set.seed(seed)
  class <- sample(classes, m, TRUE, share)
  x <- matrix(rnorm(m * n), m)
  x[, 1L] <- x[, 1L] + gap * class
  list(x = x, y = class)
}

# five columns are higher in each class
with_markers <- function(m, n, classes, seed, share = rep(1, classes), by = 1.3) {
  set.seed(seed)
  class <- sample(classes, m, TRUE, share)
  x <- matrix(rnorm(m * n), m)
  for (k in seq_len(classes)) {
    own <- (k - 1) * 5 + 1:5
    x[class == k, own] <- x[class == k, own] + by
  }
  list(x = x, y = class)
}

of_file <- function(name) {
  d <- readRDS(file.path(directory, paste0(name, ".rds")))
  list(x = as.matrix(d$X), y = d$y)
}

of_mlbench <- function(name, class) {
  d <- of_package("mlbench", name)
  list(x = numbers_of(d), y = d[[class]])
}

sets <- list(
  iris = function() list(x = as.matrix(iris[1:4]), y = iris$Species),
  crabs = function() {
    list(x = log(as.matrix(MASS::crabs[4:8])), y = interaction(MASS::crabs$sp, MASS::crabs$sex))
  },
  fgl = function() list(x = numbers_of(MASS::fgl), y = MASS::fgl$type),
  vehicle = function() of_mlbench("Vehicle", "Class"),
  vowel = function() {
    d <- of_package("mlbench", "Vowel")
    list(x = numbers_of(d[-1L]), y = d$Class)
  },
  satellite = function() of_mlbench("Satellite", "classes"),
  zoo = function() {
    d <- of_package("mlbench", "Zoo")
    list(x = vapply(d[names(d) != "type"], as.numeric, numeric(nrow(d))), y = d$type)
  },
  dna = function() {
    d <- of_package("mlbench", "DNA")
    list(x = vapply(d[names(d) != "Class"], as.numeric, numeric(nrow(d))), y = d$Class)
  },
  letters = function() {
    d <- of_package("mlbench", "LetterRecognition")
    d <- d[d$lettr %in% LETTERS[1:6], ]
    list(x = numbers_of(d), y = d$lettr)
  },
  shuttle = function() of_mlbench("Shuttle", "Class"),
  penguins = function() {
    d <- as.data.frame(of_package("palmerpenguins", "penguins"))
    list(x = as.matrix(d[3:6]), y = d$species)
  },
  thyroid = function() {
    d <- of_package("mclust", "thyroid")
    list(x = as.matrix(d[-1L]), y = d[[1L]])
  },
  diabetes = function() {
    d <- of_package("mclust", "diabetes")
    list(x = as.matrix(d[-1L]), y = d[[1L]])
  },
  wine = function() {
    d <- of_package("gclus", "wine")
    list(x = as.matrix(d[-1L]), y = d[[1L]])
  },
  wine27 = function() {
    d <- of_package("pgmm", "wine")
    list(x = as.matrix(d[-1L]), y = d[[1L]])
  },
  regions = function() {
    d <- of_package("pgmm", "olive")
    list(x = as.matrix(d[-(1:2)]), y = d[[1L]])
  },
  areas = function() {
    d <- of_package("pgmm", "olive")
    list(x = as.matrix(d[-(1:2)]), y = d[[2L]])
  },
  lymphoma = function() of_package("spls", "lymphoma")[c("x", "y")],
  leukemia = function() {
    set <- of_package("ALL", "ALL")
    x <- t(Biobase::exprs(set))
    list(x = x[, order(-apply(x, 2L, stats::var))[1:2000]], y = set$mol.biol)
  },
  cars = function() {
    d <- MASS::Cars93
    list(x = numbers_of(d[!vapply(d, anyNA, NA)]), y = d$Type)
  },
  khan = function() of_file("khan_srbct"),
  digits = function() {
    d <- readRDS(file.path(directory, "mnist.rds"))
    rows <- seq(1L, 70000L, by = 117L)
    list(x = as.matrix(d$X[rows, ]), y = d$y[rows])
  },
  row_a = function() in_a_row(90, 20, 3, 2.5, 1),
  row_b = function() in_a_row(90, 20, 3, 2.5, 2),
  row_of_five = function() in_a_row(150, 30, 5, 2.5, 3),
  row_of_four = function() in_a_row(60, 200, 4, 3, 4),
  rare_ends = function() in_a_row(120, 40, 3, 2, 6, c(2, 8, 1)),
  rare_middle = function() in_a_row(120, 40, 3, 2, 5, c(6, 1, 3)),
  few_in_a_row = function() in_a_row(40, 30, 3, 2.5, 7),
  few_markers = function() with_markers(40, 30, 3, 8),
  markers = function() with_markers(100, 2000, 4, 9),
  markers_unequal = function() with_markers(100, 1000, 3, 10, c(5, 3, 2)),
  noise_a = function() with_markers(60, 200, 3, 11, by = 0),
  noise_b = function() with_markers(100, 500, 3, 12, c(5, 3, 2), by = 0),
  noise_c = function() with_markers(150, 20, 3, 14, c(8, 1, 1), by = 0)
)

# At most 500 rows, without missing values, of classes of at least eight rows.
read_set <- function(name) {
  d <- sets[[name]]()
  d$x <- d$x + 0
  keep <- stats::complete.cases(d$x) & !is.na(d$y)
  keep <- which(keep & d$y %in% names(which(table(d$y[keep]) >= 8L)))
  set.seed(1)
  if (length(keep) > 500L) keep <- sort(sample(keep, 500L))
  y <- factor(d$y[keep])
  few <- y %in% names(which(table(y) < 8L))
  x <- d$x[keep[!few], ]
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  list(x = x, y = droplevels(y[!few]))
}
