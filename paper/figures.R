# The two figures of paper.md:  Rscript paper/figures.R
# They need the package as installed and, for the second one, bladderbatch and Biobase.

library(sparsels)

draw <- function(file, code) {
  grDevices::png(file.path("paper", file), 1500, 900, res = 200, pointsize = 11)
  on.exit(grDevices::dev.off())
  force(code)
}

set.seed(1)
colon <- cross_validate(log2(colon_genes$x), colon_genes$tissue, greedy_rls, outer = 5, repeats = 2,
                        progress = FALSE)
draw("colon.png", plot(colon))

data("bladderdata", package = "bladderbatch")
samples <- Biobase::pData(bladderEset)
cancer <- factor(ifelse(samples$cancer == "Cancer", "cancer", "other"), c("other", "cancer"))
x <- t(Biobase::exprs(bladderEset))
x <- x[, rank(-apply(x, 2, var)) <= 2000]
whole <- cross_validate(x, cancer, greedy_rls, outer = 5, progress = FALSE)
unseen <- cross_validate(x, cancer, greedy_rls, groups = samples$batch, outer = "loo",
                         progress = FALSE)
cat("bladder, error rate: of random folds", format(whole$estimate[["mean"]], digits = 3),
    "and with batches left out", format(unseen$estimate[["mean"]], digits = 3), "\n")
draw("bladder.png", plot(unseen, what = "folds"))
