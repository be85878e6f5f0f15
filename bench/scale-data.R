# The data of bench/scale.R: each function writes them into a folder, some columns at a time.

# Wide: few rows, millions of columns -------------------------------------------------------------

# Each column is the sum of two pieces of one long series of random numbers, so that columns with a
# piece in common are correlated 0.5; ten of them make up the response.
write_wide <- function(path, rows, columns) {
  set.seed(1)
  series <- rnorm(2e7) / sqrt(2)
  y <- rnorm(rows)
  causal <- causal_columns(columns)
  read <- function(wanted) {
    size <- rows * length(wanted)
    piece <- function() series[sample.int(length(series) - size, 1) + seq_len(size)]
    x <- matrix(piece() + piece(), rows)
    for (j in which(wanted %in% causal)) y <<- y + x[, j]
    x
  }
  x <- write_file_matrix(read, path, nrow = rows, ncol = columns, block = 2000)
  list(x = x, y = y)
}

causal_columns <- function(columns) round(seq(1, columns, length.out = 10))

# Genotypes ---------------------------------------------------------------------------------------

# Genotypes of families in PLINK's .bed, .bim and .fam. Ten ancestors are the only source of
# correlation between neighbours: a few hundred founders carry, from a dozen SNPs to the next, one
# of them, with mutations. Parents are mosaics of founders with some 100 joints, and each of two
# children inherits from two parents with crossing over. One call in a thousand is missing. The
# response has a genetic half, from many SNPs with exponential effects, and ten covariates.
#
# The families are divided into those of the cohort and those of a second file of new people:
# list(all, cut), each list(cohort, new), each list(path: without ending, people, snps, y,
# covariates, family); the second has the first `cut` SNPs only, and a response made from them.
write_cohort <- function(folder, people, new_people, snps, cut, founders = 400, causal = 2000) {
  set.seed(2)
  sizes <- c(cohort = people, new = new_people)
  stopifnot(sizes %% 4 == 0) # four calls a byte, and four people a family
  rows <- sum(sizes)
  paths <- stats::setNames(file.path(folder, names(sizes)), names(sizes))
  beds <- lapply(paste0(paths, ".bed"), file, open = "wb")
  on.exit(for (bed in beds) close(bed))
  for (bed in beds) writeBin(as.raw(c(0x6c, 0x1b, 0x01)), bed)
  bytes_in <- split(seq_len(rows / 4), rep(seq_along(sizes), sizes / 4))

  effects <- numeric(snps)
  effects[sample.int(snps, min(causal, snps %/% 10))] <- 1
  effects <- effects * rexp(snps) * sample(c(-1, 1), snps, TRUE)
  genetic <- numeric(rows)
  genetic_cut <- genetic
  now <- new_haplotypes(rows, founders)
  block <- 25
  chromosome <- ceiling(22 * seq_len(snps) / snps)
  for (first in seq(1, snps, by = block)) {
    columns <- first:min(first + block - 1, snps)
    starts <- first == 1 || chromosome[first] != chromosome[first - 1]
    now <- next_block(now, if (starts) Inf else block)
    alleles <- founder_alleles(now$ancestor, length(columns))
    for (j in which(effects[columns] != 0)) {
      dosage <- dosages(now, alleles[, j])
      if (sd(dosage) > 0) genetic <- genetic + effects[columns[j]] * scale(dosage)[, 1]
    }
    bytes <- bed_bytes(now, alleles)
    if (max(columns) <= cut) genetic_cut <- genetic
    for (i in seq_along(beds)) writeBin(as.vector(bytes[bytes_in[[i]], ]), beds[[i]])
  }
  write_bim(paths, chromosome)
  covariates <- matrix(rnorm(10 * rows), rows, dimnames = list(NULL, paste0("covariate", 1:10)))
  rest <- 0.3 * rowSums(covariates) / sqrt(10) + rnorm(rows)
  y <- scale(genetic)[, 1] + rest
  y_cut <- scale(genetic_cut)[, 1] + rest
  family <- rep(seq_len(rows / 4), each = 4)
  parts <- split(seq_len(rows), rep(seq_along(sizes), sizes))
  described <- function(paths, snps, y) {
    Map(function(path, rows) {
      list(path = path, people = length(rows), snps = snps, y = y[rows],
           covariates = covariates[rows, ], family = family[rows])
    }, paths, parts)
  }
  Map(function(path, rows) write_fam(path, family[rows]), paths, parts)
  for (i in seq_along(beds)) flush(beds[[i]])
  cuts <- stats::setNames(file.path(folder, paste0("cut-", names(sizes))), names(sizes))
  Map(write_beginning, paths, cuts, sizes, cut)
  list(all = described(paths, snps, y), cut = described(cuts, cut, y_cut))
}

# The same people with the first SNPs only.
write_beginning <- function(from, to, people, snps) {
  file.copy(paste0(from, ".fam"), paste0(to, ".fam"))
  writeLines(readLines(paste0(from, ".bim"), snps), paste0(to, ".bim"))
  writeBin(readBin(paste0(from, ".bed"), "raw", 3 + people / 4 * snps), paste0(to, ".bed"))
}

# Haplotypes at one place of the genome. ancestor: of each founder; founder: of each haplotype of a
# parent, where a family has two parents with two each; from: which of these a child has, two
# children with two each. The people of a family are in the order parent, parent, child, child.
new_haplotypes <- function(rows, founders) {
  families <- rows / 4
  grid <- matrix(seq_len(4 * families), 4)
  list(ancestor = integer(founders), founder = integer(4 * families), from = integer(4 * families),
       # which two of the haplotypes of all parents, then all children, each person has
       first = as.vector(rbind(grid[c(1, 3), ], 4 * families + grid[c(1, 3), ])),
       second = as.vector(rbind(grid[c(2, 4), ], 4 * families + grid[c(2, 4), ])))
}

# So many SNPs further; Inf: on another chromosome.
next_block <- function(now, snps) {
  change <- function(size, rate) which(runif(size) < 1 - exp(-rate * snps))
  at <- change(length(now$ancestor), 1 / 75)
  now$ancestor[at] <- 1L + as.integer(10 * runif(length(at))^2) # some are more common than others
  at <- change(length(now$founder), 1 / 5000)
  now$founder[at] <- sample.int(length(now$ancestor), length(at), replace = TRUE)
  at <- change(length(now$from), 1 / 15000)
  # the first haplotype of each child is the first parent's: one of haplotypes 1 and 2 of a family
  now$from[at] <- 4L * ((at - 1L) %/% 4L) + 2L * ((at - 1L) %% 2L) +
    sample.int(2L, length(at), replace = TRUE)
  now
}

# founders x SNPs: whether the first allele is there. It is on some branches of the ancestors' tree,
# which differs from block to block; of the founders 1 in 200 has changed.
founder_alleles <- function(ancestor, snps) {
  branch <- sample.int(10L)
  carried <- outer(branch, sample.int(9L, snps, replace = TRUE, prob = 1 / (1:9)), "<=")
  changed <- matrix(runif(length(ancestor) * snps) < 0.005, length(ancestor))
  carried[ancestor, , drop = FALSE] != changed
}

founder_of <- function(now) {
  all <- c(now$founder, now$founder[now$from])
  list(all[now$first], all[now$second])
}

# 0, 1 or 2 of each person at one SNP
dosages <- function(now, alleles) {
  founder <- founder_of(now)
  alleles[founder[[1]]] + alleles[founder[[2]]]
}

# people / 4 x SNPs, raw: four calls in a byte, the first person's in the lowest bits. A byte is a
# number with four digits to the base of 4, made of dosages and 3 where a call is missing, and a
# table has the bits of .bed for each.
bed_bytes <- function(now, alleles, missing = 1e-3) {
  founder <- lapply(founder_of(now), matrix, nrow = 4)
  value <- 0L
  for (place in 1:4) {
    worth <- alleles * 4L^(place - 1L)
    storage.mode(worth) <- "integer"
    for (haplotype in founder) value <- value + worth[haplotype[place, ], , drop = FALSE]
  }
  gap <- unique(sample.int(length(value), rpois(1, 4 * missing * length(value)), replace = TRUE))
  unit <- 4L^sample(0:3, length(gap), replace = TRUE)
  value[gap] <- value[gap] + as.integer((3L - (value[gap] %/% unit) %% 4L) * unit)
  bytes <- bed_table[value + 1L]
  dim(bytes) <- dim(value)
  bytes
}

# Of dosages 0, 1, 2 of the first allele and of a missing call, the bits are 11, 10, 00 and 01.
bed_table <- local({
  digits <- as.matrix(expand.grid(0:3, 0:3, 0:3, 0:3))
  as.raw(matrix(c(3, 2, 0, 1)[digits + 1], 256) %*% 4^(0:3))
})

write_bim <- function(paths, chromosome) {
  n <- length(chromosome)
  text <- sprintf("%d\trs%d\t0\t%d\tA\tG", chromosome, seq_len(n), 1000L * seq_len(n))
  for (path in paths) writeLines(text, paste0(path, ".bim"))
}

write_fam <- function(path, family) {
  text <- sprintf("f%d p%d 0 0 0 -9", family, 4L * (family - 1L) + 1:4)
  writeLines(text, paste0(path, ".fam"))
}

# Some columns of a .bed, rows x columns, NA where a call is missing: as plainly as can be.
read_bed_plainly <- function(path, rows, columns) {
  bed <- file(paste0(path, ".bed"), "rb")
  on.exit(close(bed))
  vapply(columns, function(j) {
    seek(bed, 3 + (j - 1) * rows / 4)
    bits <- matrix(as.integer(rawToBits(readBin(bed, "raw", rows / 4))), 2)
    ifelse(bits[1, ] == 1 & bits[2, ] == 0, NA, 2 - bits[1, ] - bits[2, ])
  }, numeric(rows))
}

# Counts ------------------------------------------------------------------------------------------

# Cells x genes, 8 % of them above 0, on a log scale; thirty types of cells with twenty markers
# each, twenty donors with an effect of their own on every gene.
simulate_counts <- function(cells, genes, types = 30, donors = 20) {
  set.seed(3)
  type <- sample.int(types, cells, replace = TRUE)
  donor <- sample.int(donors, cells, replace = TRUE)
  depth <- exp(rnorm(cells) / 3)
  marks <- rep_len(c(seq_len(types), rep(0L, max(0, genes %/% 20 - types))), genes)
  level <- pmin(0.08 * exp(1.2 * rnorm(genes) - 0.62), 3)
  columns <- lapply(seq_len(genes), function(j) {
    mean <- level[j] * exp(rnorm(donors) / 4)[donor] * depth * ifelse(type == marks[j], 10, 1)
    count <- rpois(cells, mean)
    at <- which(count > 0)
    list(i = at - 1L, x = log1p(count[at]))
  })
  at <- lapply(columns, `[[`, "i")
  x <- methods::new("dgCMatrix", i = unlist(at), p = c(0L, cumsum(lengths(at))),
                    x = unlist(lapply(columns, `[[`, "x")), Dim = as.integer(c(cells, genes)),
                    Dimnames = list(NULL, paste0("gene", seq_len(genes))))
  list(x = x, type = factor(paste("type", type)), donor = donor)
}
