#!/usr/bin/env bash
# Installs what is missing; does nothing when all is there:
#   tools/setup.sh demo|test|rehearse|coverage|site|adapters
#
# Debian as root: apt-get brings R, compilers and built R packages. Elsewhere install.packages() brings
# the R packages into ./.library. What it cannot bring it names in one line, and stops.
set -euo pipefail
cd "$(dirname "$0")/.."
export R_LIBS=$PWD/.library${R_LIBS:+:$R_LIBS}

need="gcc make gfortran R lapack"
packages="Matrix cli generics"
nice=""
# without these tests of code in their languages are skipped, compilation is slower and the pictures of
# vignettes are larger
handy=""
# those that come from CRAN with the missing ones, as Debian's are too old for them
newer=""
# without these their tests are skipped, and the vignette that reads ALL shows code only
bioconductor="ALL Biobase BiocParallel bladderbatch DelayedArray edgeR HDF5Array limma MultiAssayExperiment SingleCellExperiment SummarizedExperiment"
case "${1:-demo}" in
  demo) ;;
  test)
    need+=" clang clang-format clang-openmp qpdf tidy pandoc"
    handy="python3 node ccache pngquant"
    packages+=" testthat jsonlite roxygen2 pkgbuild lintr knitr rmarkdown ggplot2 future future.apply glmnet kernlab Rglpk rsample survival DBI RSQLite MASS mgcv nnet spelling recipes hardhat rlang caret broom pROC bit64 lubridate tibble vctrs"
    nice=$bioconductor
    ;;
  rehearse)
    need+=" clang clang-openmp valgrind mingw arm locales pandoc qpdf tidy"
    packages+=" testthat jsonlite knitr rmarkdown ggplot2 future future.apply glmnet kernlab Rglpk rsample survival DBI RSQLite"
    nice=$bioconductor
    ;;
  coverage)
    packages+=" testthat jsonlite covr ggplot2 future future.apply glmnet kernlab Rglpk rsample survival"
    nice=$bioconductor
    ;;
  site)
    need+=" pandoc"
    packages+=" pkgdown ggplot2 kernlab MASS survival rsample yardstick DBI RSQLite"
    nice=$bioconductor
    ;;
  adapters) # packages of which Debian has none, minutes of compilation: without them their tests are skipped
    packages+=" testthat parsnip dials tune yardstick mlr3 mlr3filters"
    newer="checkmate"
    ;;
  *)
    echo "usage: tools/setup.sh demo|test|rehearse|coverage|site|adapters" >&2
    exit 2
    ;;
esac

have() {
  case $1 in
    lapack) echo 'int main(void) { return 0; }' | gcc -x c -o /dev/null - -llapack -lblas ;;
    mingw) command -v x86_64-w64-mingw32-gcc ;;
    arm) command -v aarch64-linux-gnu-gcc ;;
    locales) locale -a | grep -i '^tr_TR[.]utf' && locale -a | grep -i '^en_US[.]utf' ;;
    clang-openmp) echo '#include <omp.h>' | clang -fopenmp -fsyntax-only -x c - ;;
    *) command -v "$1" ;;
  esac > /dev/null 2>&1
}

debian_name() {
  case $1 in
    gcc | gfortran | R | lapack) echo r-base-dev ;;
    clang-openmp) echo libomp-dev ;;
    node) echo nodejs ;;
    mingw) echo gcc-mingw-w64-x86-64-win32 ;;
    arm) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
    package*)
      name=${1#package }
      case " $bioconductor " in
        *" $name "*) echo "r-bioc-${name,,}" ;;
        *) echo "r-cran-${name,,}" ;;
      esac
      ;;
    *) echo "$1" ;;
  esac
}

missing_things() {
  for thing in "$@"; do have "$thing" || echo "$thing"; done
}

missing_packages() {
  if ! have R; then
    echo "$@"
  else
    Rscript -e 'want <- commandArgs(TRUE); cat(want[!nzchar(suppressWarnings(
      vapply(want, function(p) system.file(package = p), "")))])' "$@"
  fi
}

log=.check/setup.log
mkdir -p .check .library
things=$(missing_things $need $handy)
wanted=$(missing_packages $packages $nice)
[ -n "$things$wanted" ] || exit 0

from_debian() { # R packages built by Debian fit only Debian's own R
  command -v apt-get && [ "$(id -u)" = 0 ] && { ! have R || [ "$(command -v R)" = /usr/bin/R ]; }
} > /dev/null

if from_debian; then
  names=$(
    {
      for thing in $things; do debian_name "$thing"; done
      for package in $wanted; do debian_name "package $package"; done
    } | sort -u
  )
  { apt-get update || true; } > "$log" 2>&1
  # one name that Debian lacks, and apt-get would install none
  names=$(apt-cache show --no-all-versions $names 2>> "$log" | awk '/^Package:/ { print $2 }') || true
  if [ -n "$names" ]; then
    echo "set-up: apt-get install" $names
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $names >> "$log" 2>&1 || true
  fi
fi

if [[ $things == *locales* ]] && [ "$(id -u)" = 0 ]; then # a Turkish one, and that of R CMD check
  for locale in tr_TR en_US; do localedef -i "$locale" -f UTF-8 "$locale.UTF-8" >> "$log" 2>&1 || true; done
fi

# Whatever R packages are still missing come from CRAN.
wanted=$(missing_packages $packages)
if [ -n "$wanted" ] && have R; then
  echo "set-up: install.packages" $wanted
  MAKEFLAGS=-j2 Rscript -e 'if (identical(getOption("repos")[["CRAN"]], "@CRAN@")) chooseCRANmirror(ind = 1)
    install.packages(commandArgs(TRUE), lib = ".library", Ncpus = 2)' $wanted $newer >> "$log" 2>&1 || true
fi

lacks="$(missing_things $need) $(missing_packages $packages)"
lacks=$(echo $lacks)
if [ -n "$lacks" ]; then
  echo "set-up: lacks $lacks (and could not install it; see $log)" >&2
  exit 1
fi
