# A library of links to what the package of a tarball imports, and to nothing that it suggests but
# the packages named, with what these need:
#
#   Rscript tools/link-library.R sparsels_x.y.z.tar.gz folder [packages]
arguments <- commandArgs(TRUE)
fields <- tempfile()
dir.create(fields)
untar(arguments[1], files = "sparsels/DESCRIPTION", exdir = fields)
imports <- read.dcf(file.path(fields, "sparsels/DESCRIPTION"), "Imports")
wanted <- c(trimws(sub("\\(.*", "", strsplit(imports, ",")[[1]])), arguments[-(1:2)])
here <- installed.packages()
all <- unique(c(wanted, unlist(tools::package_dependencies(wanted, here, recursive = TRUE))))
all <- intersect(all, here[is.na(here[, "Priority"]), "Package"])
dir.create(arguments[2], showWarnings = FALSE, recursive = TRUE)
invisible(file.symlink(find.package(all), file.path(arguments[2], all)))
