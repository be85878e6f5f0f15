#!/usr/bin/env bash
# Builds the package and installs it into ./.library.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .check/install .library
cd .check/install
rm -f sparsels_*.tar.gz
if ! { R CMD build --no-build-vignettes ../.. &&
  R CMD INSTALL --library=../../.library sparsels_*.tar.gz; } > install.log 2>&1; then
  tail -n 30 install.log
  echo "install: failed, see .check/install/install.log" >&2
  exit 1
fi
echo "install: sparsels is in ./.library"
