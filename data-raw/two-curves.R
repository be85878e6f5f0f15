# The picture of README.md, from the root of the repository with the package installed:
#   Rscript data-raw/two-curves.R
library(sparsels)

tissue <- colon$tissue
genes <- greedy_rls(log2(colon$x), tissue)
set.seed(1)
noise <- greedy_rls(matrix(rnorm(length(colon$x)), nrow(colon$x)), tissue)

dir.create("man/figures", showWarnings = FALSE)
grDevices::png("man/figures/two-curves.png", width = 1500, height = 620, res = 100,
               type = "cairo", antialias = "gray")
graphics::par(mfrow = c(1, 2), mar = c(4, 4, 5, 1))
plot(genes, main = "colon tissues, 2000 genes")
plot(noise, main = "the same tissues, 2000 columns of noise")
invisible(grDevices::dev.off())
