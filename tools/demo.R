# Selects genes on the bundled colon data and judges the selection honestly.  make demo
library(sparsels)

data(colon)
expression <- log2(colon$x) # raw intensities span four decades
lambda <- 10 # mild; the default suits all 2000 genes together, and is heavy for a few

cat("Greedy RLS, genes that tell 40 tumour from 22 normal colon tissues\n\n")
fit <- greedy_rls(expression, colon$tissue, k = 30, lambda = lambda, threads = 2)
print(fit)

cat("\nThe genes in the order chosen, and the exact leave-one-out error of each size\n\n")
path <- fit$path
print(data.frame(
  size = path$size,
  gene = ifelse(is.na(path$name), "(none)", path$name),
  squared = sprintf("%.4f", path$squared),
  wrong = sprintf("%.1f %%", 100 * path$error)
), row.names = FALSE)
cat("\nChosen:", paste(selected(fit), collapse = ", "), "\n")

cat("\nThe same selection repeated inside each of ten outer folds\n\n")
set.seed(1)
judged <- cross_validate(
  expression, greedy_rls,
  y = colon$tissue, k = 30, lambda = lambda, outer = 10
)
print(judged)

dir.create("demo", showWarnings = FALSE)
picture <- file.path("demo", "loo-against-test.png")
png(picture, width = 1600, height = 1100, res = 180)
plot(judged)
invisible(dev.off())
cat("\nThe picture of leave-one-out against test error:", normalizePath(picture), "\n")
