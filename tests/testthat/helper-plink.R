# Genotypes (0, 1, 2 or NA, people in rows) as PLINK stores them; gives the path of the .bed file.
write_bed <- function(x, stem = tempfile("cohort"), ids = paste0("rs", seq_len(ncol(x))),
                      people = paste0("p", seq_len(nrow(x)))) {
  code_of <- function(copies) if (is.na(copies)) 1 else c(3, 2, 0)[copies + 1]
  bytes <- NULL
  for (j in seq_len(ncol(x))) {
    codes <- vapply(x[, j], code_of, 0)
    codes <- c(codes, numeric(-length(codes) %% 4))
    bytes <- c(bytes, colSums(matrix(codes, 4) * c(1, 4, 16, 64)))
  }
  writeBin(as.raw(c(108, 27, 1, bytes)), paste0(stem, ".bed"))
  writeLines(paste(1, ids, 0, 100 * seq_len(ncol(x)), "A", "G", sep = "\t"), paste0(stem, ".bim"))
  writeLines(paste("fam", people, "0 0 0 -9"), paste0(stem, ".fam"))
  paste0(stem, ".bed")
}
