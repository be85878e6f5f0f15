# Selects genes on the bundled colon data and judges the selection honestly.  make demo
library(sparsels)

data(colon_genes)
expression <- log2(colon_genes$x) # raw intensities span four decades
tissue <- colon_genes$tissue

cat("Greedy RLS, genes that tell 40 tumour from 22 normal colon tissues\n\n")
problem <- as_problem(expression, tissue)
fit <- greedy_rls(problem, threads = 2)
print(fit, n = 0)
cat("chosen:", paste(selected(fit), collapse = ", "), "\n")

cat("\nThe genes in the order chosen: the error that chose them, and the error of searches\n")
cat("without the tissues that are scored\n\n")
path <- fit$path
print(data.frame(
  size = path$size,
  gene = ifelse(is.na(path$name), "(none)", path$name),
  "leave-one-out" = sprintf("%.1f %%", 100 * path$error),
  "cross-validation" = sprintf("%.1f %%", 100 * path$cv_error),
  check.names = FALSE
), row.names = FALSE)

cat("\nAll of that, the choice of the size too, inside each of ten outer folds\n\n")
set.seed(1)
judged <- cross_validate(problem, greedy_rls)
print(judged)

cat("\nThe same on pure noise: the same tissues, and 2000 columns of random numbers\n\n")
noise <- matrix(rnorm(length(expression)), nrow(expression))
nothing <- greedy_rls(noise, tissue)
print(nothing, n = 0)

dir.create("demo", showWarnings = FALSE)
picture <- file.path("demo", "two-curves.png")
png(picture, width = 2400, height = 1000, res = 180)
par(mfrow = c(1, 2))
plot(fit, main = "colon tissues, 2000 genes")
plot(nothing, main = "the same tissues, 2000 columns of noise")
invisible(dev.off())
cat("\nThe picture of both errors, on genes and on noise:", normalizePath(picture), "\n")
