#' Genotypes of PLINK
#'
#' Opens a binary genotype file of PLINK, `.bed`, as a matrix of people and variants that is read in
#' place. A genotype takes two bits, so 20,000 people and 500,000 variants are 2.5 GB instead of 80.
#' `as_problem("cohort.bed", y)`, [greedy_rls()] and the other functions that take data open such a
#' path themselves.
#'
#' A value is the number of copies of the first allele of the `.bim` file (A1): 0, 1 or 2, as
#' `plink --recode A` counts. Missing calls are `NA`. The file has the calls of one variant after
#' the other, as `plink --make-bed` and `plink2 --make-bed` write them.
#'
#' Names of rows are the individual ids of the `.fam` file, or `family:individual` where two people
#' have the same individual id. Names of columns are the variant ids of the `.bim` file; a variant
#' without id (`.`), or with a repeated id, is named by its position and alleles,
#' `chromosome:position:A1:A2`. Names that still are not unique are an error of [as_problem()]
#' unless `make_unique = TRUE`.
#'
#' The response and covariates must be in the order of the `.fam` file. Its columns of sex and
#' phenotype are not read.
#'
#' @param path Path of the `.bed` file.
#' @param bim,fam Paths of the files of variants and of people; by default those beside `path` whose
#'   names end in `.bim` and `.fam` instead.
#' @return A [file_matrix()], people in rows and variants in columns. `x[i, j]` gives numbers.
#' @section Cost: Names are read, about 2 seconds and 100 MB for a million variants; no genotypes
#'   are.
#' @section Errors: Of class `sparsels_error_input`, with the path: a file that does not exist, is
#'   no `.bed` file, or has the calls of one person after the other; a `.bim` or `.fam` file that
#'   does not have six columns, or whose number of lines does not suit the `.bed` file; two people
#'   of the same family and individual id.
#' @seealso [file_matrix()] for what reads columns in place.
#' @examples
#' # three people, two variants: 2 0 NA and 1 1 0 copies of A1
#' stem <- tempfile("cohort")
#' bed <- paste0(stem, ".bed")
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0x1c, 0x3a)), bed)
#' writeLines(c("1 rs1 0 100 A G", "1 rs2 0 200 C T"), paste0(stem, ".bim"))
#' writeLines(paste("fam", c("ann", "bob", "cy"), "0 0 0 -9"), paste0(stem, ".fam"))
#' x <- bed_matrix(bed)
#' x
#' x[, ]
#' @export
bed_matrix <- function(path, bim = NULL, fam = NULL) {
  check_given(path, "path")
  check_path(path)
  if (is.na(file_facts(path)$size)) {
    stop_input(sprintf("`path` must be that of a .bed file: there is no file '%s'", path))
  }
  check_bed_header(path)
  variants <- beside_bed(path, bim, "bim")
  people <- beside_bed(path, fam, "fam")
  dimnames <- list(person_names(people), variant_names(variants))
  dim <- lengths(dimnames)
  check_bed_size(path, dim, people, variants)
  new_file_matrix(path, dim, "bed", bed_copies, dimnames)
}

# copies of A1 for the codes 0 to 3
bed_copies <- c(2, NA, 1, 0)

is_bed_path <- function(x) {
  is_path(x) && is.null(dim(x)) && endsWith(tolower(x), ".bed")
}

check_bed_header <- function(path) {
  header <- as.integer(readBin(path, "raw", bed_header))
  if (length(header) < bed_header || !all(header[1:2] == c(108L, 27L)) || header[3L] > 1L) {
    stop_input(sprintf("'%s' is not a .bed file of PLINK 1: it must begin with the bytes 6c 1b 01",
                       path))
  }
  if (header[3L] == 0L) {
    stop_input(sprintf("'%s' has the calls of one person after the other: %s", path,
                       "`plink --make-bed` writes a file of one variant after the other"))
  }
}

# the path of the .bim or .fam file
beside_bed <- function(path, given, ending) {
  if (is.null(given)) given <- paste0(sub("[.]bed$", "", path, ignore.case = TRUE), ".", ending)
  if (!is_path(given)) refuse(ending, sprintf("the path of a .%s file", ending), given)
  if (is.na(file_facts(given)$size)) {
    stop_input(sprintf("there is no file '%s', of which '%s' needs the names: give `%s`", given,
                       path, ending))
  }
  given
}

# Some of the six columns of a .bim or .fam file, as character vectors.
plink_columns <- function(path, columns) {
  what <- rep(list(NULL), 6L)
  what[columns] <- list("")
  read <- tryCatch(
    scan(path, what, quote = "", comment.char = "", na.strings = character(), multi.line = FALSE,
         quiet = TRUE, encoding = "UTF-8"),
    error = function(e) {
      stop_input(sprintf("'%s' must have six columns, separated by blanks or tabs: %s", path,
                         conditionMessage(e)))
    }
  )
  read[columns]
}

person_names <- function(path) {
  ids <- plink_columns(path, 1:2)
  if (!anyDuplicated(ids[[2L]])) return(ids[[2L]])
  both <- paste(ids[[1L]], ids[[2L]], sep = ":")
  twice <- anyDuplicated(both)
  if (twice) {
    stop_input(sprintf("'%s' has two people with the family and individual ids '%s' (%d and %d)",
                       path, both[twice], match(both[twice], both), twice))
  }
  both
}

variant_names <- function(path) {
  names <- plink_columns(path, 2L)[[1L]]
  unclear <- names == "." | names %in% names[duplicated(names)]
  if (!any(unclear)) return(names)
  place <- lapply(plink_columns(path, c(1L, 4L:6L)), `[`, unclear)
  names[unclear] <- do.call(paste, c(place, sep = ":"))
  names
}

check_bed_size <- function(path, dim, people, variants) {
  size <- file_facts(path)$size
  wanted <- file_bytes("bed", dim)
  if (size == wanted) return(invisible())
  stop_input(sprintf("'%s' has %s, but %d people in '%s' and %d variants in '%s' take %s", path,
                     bytes_words(size), dim[1L], people, dim[2L], variants, bytes_words(wanted)))
}
