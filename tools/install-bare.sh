#!/usr/bin/env bash
# Installs a built tarball as on a bare machine, without OpenMP and with no suggested package in sight, and
# fits one model there:  tools/install-bare.sh sparsels_x.y.z.tar.gz folder
set -euo pipefail
tarball=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
printf '%s\n' 'SHLIB_OPENMP_CFLAGS =' 'CFLAGS = -O0' > "$folder/Makevars" # how fast it is does not matter

Rscript tools/link-library.R "$tarball" "$folder/library"
export R_LIBS=$folder/library R_LIBS_SITE=$folder/none R_LIBS_USER=$folder/none
export R_MAKEVARS_USER=$folder/Makevars
R CMD INSTALL --no-docs --no-byte-compile --library="$folder/library" "$tarball" 2>&1 | tee "$folder/install.log"
if grep -q -e -fopenmp "$folder/install.log"; then
  echo "compiled with OpenMP"
  exit 1
fi
Rscript - << 'END'
library(sparsels)
suggests <- strsplit(packageDescription("sparsels")$Suggests, "[,[:space:]]+(\\([^)]*\\))?[,[:space:]]*")[[1]]
seen <- Filter(function(package) nzchar(system.file(package = package)), suggests)
cat("suggested packages in sight:", if (length(seen) > 0) seen else "none", "\n")
fit <- greedy_rls(log2(colon_genes$x[, 1:50]), colon_genes$tissue, k = 3, threads = 2)
print(fit)
stopifnot(length(selected(fit, 3)) == 3)
END
