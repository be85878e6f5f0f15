# The experiment of Pahikkala, Airola, Salakoski (2010), Linear time feature selection for
# regularized least-squares, Sections 4.2 and 4.3: test accuracy of greedy RLS against the number
# of features (their Figures 4 to 9) and leave-one-out against test accuracy (Figures 10 to 15).
#
#   Rscript bench/papers/greedy-rls.R DIR [data set ...] [rows=] [k=all] [out=bench/results/papers]
#
# DIR holds the data sets as .rds files (bench/README.md says what is in each and where to get it).
# Without names all six are run on all their rows, in about 25 minutes of CPU on one core. The
# table of mnist5, which takes most of them and 4 GB, is saved in a file of its own. rows= takes a
# stratified draw of as many. A quick look, saved elsewhere:
# Rscript bench/papers/greedy-rls.R DIR rows=500 k=20 out=/tmp.
#
# Sources: R/search-greedy.R src/greedy*

library(sparsels)
source("bench/common.R")

# `range`: the y axis, that of the paper but for ijcnn1, where 0.8 to 1 hides the curves.
data_sets <- list(
  adult = list(file = "a9a.rds", part = function(d) d$split == 1, class = "1", range = c(0.5, 1)),
  australian = list(file = "australian.rds", class = "1", range = c(0.5, 1),
                    legend = "topright"),
  colon = list(file = "colon_alon.rds", class = "tumour", range = c(0.5, 1)),
  german.numer = list(file = "german_numer.rds", class = "1", range = c(0.5, 1)),
  ijcnn1 = list(file = "ijcnn1.rds", class = "1", range = c(0.895, 0.915)),
  mnist5 = list(file = "mnist.rds", class = "5", range = c(0.9, 1), legend = "topright")
)

read_data <- function(directory, set, rows) {
  data <- readRDS(file.path(directory, set$file))
  part <- if (is.null(set$part)) rep(TRUE, nrow(data$X)) else set$part(data)
  x <- data$X[part, ]
  y <- factor(data$y[part] == set$class, c(FALSE, TRUE), c("others", set$class))
  draw <- stratified_draw(y, rows)
  list(x = x[draw, ], y = y[draw], available = length(y))
}

# Row numbers, each class in its share.
stratified_draw <- function(y, rows) {
  if (is.null(rows) || rows >= length(y)) return(seq_along(y))
  set.seed(2010)
  drawn <- lapply(split(seq_along(y), y), function(class) {
    class[sample.int(length(class), round(rows * length(class) / length(y)))]
  })
  sort(unlist(drawn, use.names = FALSE))
}

# Ten stratified outer folds; in each lambda by leave-one-out with all features, then greedy forward
# selection by leave-one-out accuracy (ties by squared error) until no feature is left.
experiment <- function(data, most) {
  problem <- as_problem(data$x, data$y)
  set.seed(1)
  outer <- make_folds(problem, 10)
  left <- vapply(split(seq_along(data$y), outer$ids), function(held_out) {
    sum(problem[-held_out, ]$usable)
  }, 0L)
  cross_validate(problem, greedy_rls, outer = outer, k = min(left, most), criterion = "error",
                 lambda = "full", size = "criterion")
}

# Pictures --------------------------------------------------------------------------------------

# A band of one standard error and a line for each named column of accuracies.
accuracy_panel <- function(curves, columns, range, place, main) {
  plot(range(curves$size), range, type = "n", xlab = "selected features", main = main,
       ylab = "", las = 1, xaxs = "i")
  title(ylab = "accuracy (share of samples)", line = 3.4)
  grid(NULL, NULL, col = "grey90", lty = 1)
  for (i in seq_len(nrow(columns))) {
    mean <- 1 - curves[[columns$curve[i]]]
    se <- curves[[paste0(columns$curve[i], "_se")]]
    polygon(c(curves$size, rev(curves$size)), c(mean - se, rev(mean + se)), border = NA,
            col = adjustcolor(columns$colour[i], 0.18))
    lines(curves$size, mean, col = columns$colour[i], lty = columns$line[i], lwd = 2)
  }
  legend(place, columns$label, col = columns$colour, lty = columns$line, lwd = 2,
         bg = "white", cex = 0.9, seg.len = 3)
  box()
}

test_columns <- data.frame(
  curve = c("test", "random", "majority"), line = c(1, 5, 3),
  label = c("greedy RLS, test", "random selection, test", "majority voter, test"),
  colour = unname(colours[c("red", "green", "grey")])
)
loo_columns <- data.frame(
  curve = c("inner", "test"), line = c(2, 1),
  label = c("greedy RLS, leave-one-out", "greedy RLS, test"),
  colour = unname(colours[c("blue", "red")])
)

draw_figure <- function(result, name, set, what) {
  curves <- result$curves[result$curves$size > 0, ]
  # the paper's axis, wider where the curves leave it
  means <- 1 - unlist(curves[c("inner", "test", "random", "majority")])
  range <- if (min(means) < set$range[1]) c(floor(20 * min(means)) / 20, set$range[2]) else
    set$range
  place <- if (is.null(set$legend)) "bottomright" else set$legend
  file <- file.path(line$options$out, sprintf("greedy-rls-%s.png", name))
  picture(file, 1100, 520, function() {
    par(mfrow = c(1, 2), mar = c(3.6, 4.8, 2.4, 1.6), oma = c(1.6, 0, 1.6, 0), mgp = c(2.4, 0.7, 0))
    accuracy_panel(curves, test_columns, range, place, "greedy against random selection")
    accuracy_panel(curves, loo_columns, range, place, "leave-one-out against test")
    mtext(what, outer = TRUE, font = 2, line = 0.2)
    mtext("means over ten outer folds, bands of one standard error", 1, outer = TRUE, cex = 0.8,
          line = 0.2)
  })
}

# Table -----------------------------------------------------------------------------------------

with_se <- function(values) sprintf("%.3f (%.3f)", mean(values), sd(values) / sqrt(length(values)))

# Accuracies at the size that leave-one-out chose in each fold, and with all features.
table_row <- function(name, result, data, seconds) {
  folds <- result$folds
  all <- result$curves[nrow(result$curves), ]
  data.frame(
    data = name, rows = nrow(data$x), of = data$available, features = ncol(data$x), k = all$size,
    size = sprintf("%d (%d-%d)", as.integer(median(folds$size)), min(folds$size), max(folds$size)),
    LOO = with_se(1 - folds$inner), test = with_se(1 - folds$test),
    `LOO - test` = with_se(folds$test - folds$inner), random = with_se(1 - folds$random),
    `all, LOO` = sprintf("%.3f", 1 - all$inner), `all, test` = sprintf("%.3f", 1 - all$test),
    majority = sprintf("%.3f", 1 - all$majority),
    lambda = paste(signif(unique(range(folds$lambda)), 3), collapse = " - "),
    `CPU min` = sprintf("%.1f", seconds / 60), check.names = FALSE
  )
}

# Mean over sizes of LOO accuracy - test accuracy, and the largest of them.
gap_lines <- function(name, result) {
  curves <- result$curves[result$curves$size > 0, ]
  gap <- curves$test - curves$inner
  better <- mean(curves$test < curves$random)
  enough <- min(curves$size[curves$test <= curves$test[nrow(curves)]])
  sprintf(paste("%-13s LOO - test accuracy: mean over sizes %+.3f, largest %+.3f at %d features;",
                "greedy above random at %.0f %% of sizes; as good as all features from size %d"),
          name, mean(gap), max(gap), curves$size[which.max(gap)], 100 * better, enough)
}

notes <- c(
  "size: median (range) over outer folds of the size with the best leave-one-out accuracy.",
  "LOO, test, random: accuracy at that size, mean (standard error) over the ten outer folds;",
  "random: as many features chosen at random. all: at size k, all features unless k= is given."
)

# Run -------------------------------------------------------------------------------------------

line <- command_line(list(rows = "", k = "all", out = "bench/results/papers"))
if (!length(line$words)) stop("usage: Rscript bench/papers/greedy-rls.R DIR [data set ...]")
directory <- line$words[1]
wanted <- if (length(line$words) > 1) line$words[-1] else names(data_sets)
stopifnot(dir.exists(directory), wanted %in% names(data_sets))
rows <- if (nzchar(line$options$rows)) as.integer(line$options$rows)
most <- if (line$options$k == "all") Inf else as.integer(line$options$k)

run_set <- function(name) {
  set <- data_sets[[name]]
  data <- read_data(directory, set, rows)
  seconds <- sum(system.time(result <- experiment(data, most))[c("user.self", "sys.self")])
  drawn <- nrow(data$x) < data$available
  what <- paste0(sprintf("%s: %d x %d", name, nrow(data$x), ncol(data$x)),
                 if (drawn) sprintf(" (a stratified draw of %d rows)", data$available))
  draw_figure(result, name, set, what)
  message(sprintf("%s: %.1f CPU minutes", name, seconds / 60))
  list(row = table_row(name, result, data, seconds), gap = gap_lines(name, result))
}

# Runs some data sets, and saves the table if they are all that belong to the file.
run_sets <- function(own, file) {
  some <- intersect(own, wanted)
  if (!length(some)) return(invisible())
  done <- lapply(some, run_set)
  width <- options(width = 200)
  on.exit(options(width))
  table <- do.call(rbind, lapply(done, `[[`, "row"))
  text <- c(machine_line(), "", capture.output(print(table, row.names = FALSE)), "", notes, "",
            vapply(done, `[[`, "", "gap"))
  writeLines(text)
  if (setequal(some, own)) writeLines(text, file.path(line$options$out, file))
}

run_sets(setdiff(names(data_sets), "mnist5"), "greedy-rls.txt")
run_sets("mnist5", "greedy-rls-mnist5.txt")
