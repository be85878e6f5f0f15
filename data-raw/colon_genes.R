# Makes data/colon_genes.rda, from the package root:  Rscript data-raw/colon_genes.R
#
# The values are those of the data set Colon in the package plsgenomics (CRAN, GPL >= 2), which took
# them from the page of Alon et al. (1999). Only the layout and the names change; no value does.

folder <- tempfile()
dir.create(folder)
tarball <- download.packages("plsgenomics", folder, type = "source")[1, 2]
untar(tarball, files = "plsgenomics/data/Colon.rda", exdir = folder)
load(file.path(folder, "plsgenomics", "data", "Colon.rda"))

# Several spots of the array measure the same sequence: the second is "Hsa.13491_2", and so on.
names <- trimws(Colon$gene.names)
copy <- ave(seq_along(names), names, FUN = seq_along)
names <- ifelse(copy > 1, paste0(names, "_", copy), names)

x <- unname(Colon$X)
dimnames(x) <- list(paste0("tissue", seq_len(nrow(x))), names)
colon_genes <- list(
  x = x,
  tissue = factor(Colon$Y, levels = 1:2, labels = c("normal", "tumour"))
)

stopifnot(
  identical(dim(colon_genes$x), c(62L, 2000L)),
  all(is.finite(colon_genes$x)), min(colon_genes$x) > 0,
  anyDuplicated(colnames(colon_genes$x)) == 0,
  identical(as.integer(table(colon_genes$tissue)), c(22L, 40L))
)
dir.create("data", showWarnings = FALSE)
save(colon_genes, file = "data/colon_genes.rda", compress = "xz", compression_level = 9,
     version = 2)
