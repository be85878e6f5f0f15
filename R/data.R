#' Gene expression in 62 colon tissues
#'
#' Expression of 2000 genes in 40 tumour and 22 normal colon tissues, measured by Alon et al. (1999)
#' on oligonucleotide arrays: a small standard data set of gene selection, used in the examples.
#'
#' The intensities (arbitrary fluorescence units) are as published: raw, positive, from 5.8 to
#' 20903, neither logged nor normalised between arrays. Take `log2(colon$x)` before a linear model.
#' The 2000 genes are those with the highest minimal intensity over the tissues, in descending order
#' of it.
#'
#' The normal tissues come from patients whose tumours are also among the samples. Which tissues
#' form a pair is not in the source used here, so folds cannot keep the pairs together, and
#' cross-validated errors on these data may be too low for that reason.
#'
#' @format A list of two elements:
#' \describe{
#'   \item{`x`}{numeric matrix, 62 tissues x 2000 genes, raw intensities. The column names are taken
#'     from the source, most of them UniGene clusters of the time, such as `Hsa.3004`. Where several
#'     spots of the array share a name, the second and later ones carry a number: `Hsa.13491_2`.
#'     `HSAC07`, `UMGAP` and `i` are control RNAs, and four spots of each hold identical values
#'     (nine duplicated columns). Three names are cut short in the source: `a.1000`, `sa.19001`,
#'     `sa.41198`.}
#'   \item{`tissue`}{factor of length 62, `normal` (22) or `tumour` (40).}
#' }
#' @source Data set `Colon` of the package plsgenomics 1.5-3 on CRAN, licence GPL (>= 2), values
#'   unchanged; it took them from the page of Alon et al.,
#'   `http://genomics-pubs.princeton.edu/oncology/affydata/index.html`. The script that makes this
#'   copy is `data-raw/colon.R` in the source repository.
#' @references Alon, U., Barkai, N., Notterman, D. A., Gish, K., Ybarra, S., Mack, D. and Levine,
#'   A. J. (1999). Broad patterns of gene expression revealed by clustering analysis of tumor and
#'   normal colon tissues probed by oligonucleotide arrays. *Proceedings of the National Academy of
#'   Sciences* 96(12), 6745-6750. \doi{10.1073/pnas.96.12.6745}
#' @docType data
#' @keywords datasets
#' @examples
#' data(colon)
#' table(colon$tissue)
#' range(colon$x)
"colon"
