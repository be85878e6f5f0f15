# The pictures of README.md, from the root of the repository with the package and svglite installed:
#   Rscript data-raw/figures.R
#
# So narrow that their letters can be read on a phone; the colours are told apart by everyone, and
# what they tell apart differs in shape or place as well.
library(sparsels)

picture <- function(name, height, draw) {
  file <- file.path("man/figures", paste0(name, ".svg"))
  svglite::svglite(file, width = 6, height = height)
  draw()
  grDevices::dev.off()
  # the reader's machine may lack the font by which the words were measured
  words <- gsub("font-family: [^;]*;", "font-family: \"DejaVu Sans\", Verdana, sans-serif;",
                readLines(file))
  writeLines(words, file)
}

# Honesty on noise --------------------------------------------------------------------------------

expression <- log2(colon_genes$x)
genes <- greedy_rls(expression, colon_genes$tissue)
set.seed(1)
noise <- greedy_rls(matrix(rnorm(length(expression)), nrow(expression)), colon_genes$tissue)

draw_curves <- function() {
  graphics::par(mfrow = c(2, 1), mar = c(4, 4, 5, 1))
  plot(genes, main = "colon tissues, 2000 genes")
  plot(noise, main = "the same tissues, 2000 columns of noise")
}

# What could replace a gene -----------------------------------------------------------------------

draw_exchange <- function() plot(exchange(genes, expression, keep = 4))

# Time beside other packages ----------------------------------------------------------------------

# A row for each job in the last table of bench/results/peers.txt, the quickest beside its peer
# first: `job`, `peer`, the seconds of both, their `ratio`, and whether the result is `as_good`. The
# same job at the lambdas of the peer is left out.
read_jobs <- function(file = "bench/results/peers.txt") {
  lines <- readLines(file)
  jobs <- utils::strcapture(
    "^[|] (.*) [|] .*: (.*) s, (.*) [|] (.*): (.*) s, (.*) [|] (.*) [|]$",
    grep("^[|]", lines, value = TRUE),
    data.frame(job = "", ours = 0, our_result = 0, peer = "", theirs = 0, their_result = 0,
               ratio = 0)
  )
  jobs <- jobs[!grepl("glmnet's lambdas", jobs$job), ]
  headings <- utils::strcapture("^(.*); good: (.*)$", grep("; good: ", lines, value = TRUE),
                                data.frame(job = "", measure = ""))
  measure <- headings$measure[match(jobs$job, headings$job)]
  stopifnot(nrow(jobs) > 0, !anyNA(jobs), !anyNA(measure))
  sign <- ifelse(grepl("^R-squared|^concordance", measure), 1, -1)
  jobs$as_good <- sign * jobs$our_result >= sign * jobs$their_result
  jobs[order(jobs$ratio), ]
}

# Jobs in words that stand alone, without their last clauses where these do not fit.
short_job <- function(job) {
  job <- sub(" for a basis", "", sub("without it$", "without the response", job))
  ifelse(nchar(job) > 55, sub("(,[^,]*)+$", "", job), job)
}

# One point for each job, on the side of the quicker; its words stand on the other side.
draw_times <- function(jobs) {
  graphics::par(mar = c(3.2, 0.6, 1.6, 0.6), mgp = c(2, 0.7, 0))
  y <- rev(seq_len(nrow(jobs)))
  reach <- range(jobs$ratio)
  span <- max(1 / reach[1], reach[2])^c(-1, 1)
  plot(jobs$ratio, y, log = "x", type = "n", xlim = span, ylim = c(0.4, nrow(jobs) + 0.6),
       yaxs = "i", axes = FALSE, ylab = "", xlab = "seconds of sparsels / seconds of the other")
  ticks <- c(0.01, 0.1, 1, 10, 100)
  graphics::axis(1, ticks, c("1/100", "1/10", "1", "10", "100"))
  graphics::abline(v = ticks, col = "grey90")
  quicker <- jobs$ratio < 1
  colour <- ifelse(quicker, "#0072B2", "#D55E00")
  graphics::segments(1, y, jobs$ratio, y, col = colour, lwd = 3)
  graphics::points(jobs$ratio, y, pch = ifelse(jobs$as_good, 19, 21), col = colour, bg = "white",
                   cex = 1.3, lwd = 2)
  graphics::abline(v = 1)
  write_beside <- function(text, shift, ...) {
    size <- pmin(0.76, log10(span[2]) / graphics::strwidth(text))
    graphics::text(1, y + shift, text, pos = ifelse(quicker, 4, 2), offset = 0.3, cex = size, ...)
  }
  write_beside(short_job(jobs$job), 0.24)
  write_beside(sprintf("%.3g s, %s %.3g s", jobs$ours, sub("[(].*", "()", jobs$peer),
                       jobs$theirs),
               -0.24, col = "grey40")
  graphics::mtext("sparsels quicker", 3, line = 0.3, adj = 0, col = "#0072B2", font = 2)
  graphics::mtext("the other quicker", 3, line = 0.3, adj = 1, col = "#D55E00", font = 2)
}

picture("two-curves", 8.4, draw_curves)
picture("exchange", 4.8, draw_exchange)
picture("times", 11.5, function() draw_times(read_jobs()))
