#!/usr/bin/env bash
# Strange arguments for every function and edited fields in every object, under the address and
# undefined-behaviour sanitizers:
#   tools/fuzz/run.sh [seconds] [seed]    120 seconds and a seed of today, unless told
#   tools/fuzz/run.sh case ID             one case again, with what it printed
# The values, calls and objects are in tests/testthat/fuzz-values.R. What goes wrong is printed with
# the number of its case; the last line counts. SANITIZE=no compiles without sanitizers, which is
# several times faster and limits memory instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/.check/fuzz
mkdir -p "$work/library"

build() { # into a library of its own, with the flags of the sanitizers
  rm -rf "$work/source" && mkdir -p "$work/source"
  tar --exclude='*.o' --exclude='*.so' -cf - DESCRIPTION NAMESPACE R data src | tar -xf - -C "$work/source"
  local flags="-O1 -g -fno-omit-frame-pointer"
  [ "${SANITIZE:-yes}" = no ] || flags+=" -fsanitize=address,undefined -fno-sanitize-recover=all"
  printf 'CC = gcc %s\nCFLAGS = -O1 -g\n' "$flags" > "$work/Makevars"
  R_MAKEVARS_USER=$work/Makevars R CMD INSTALL --no-docs --no-test-load --library="$work/library" \
    "$work/source" > "$work/install.log" 2>&1 || { tail -n 20 "$work/install.log" >&2; exit 1; }
}

build
export R_LIBS=$work/library${R_LIBS:+:$R_LIBS} OMP_WAIT_POLICY=passive
if [ "${SANITIZE:-yes}" = no ]; then
  ulimit -v $((6 * 1024 * 1024))
else
  # no return instead of an abort where there is no memory, as R expects of malloc()
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
  export ASAN_OPTIONS+=:max_allocation_size_mb=3000:hard_rss_limit_mb=8000
  export UBSAN_OPTIONS=print_stacktrace=1
  LD_PRELOAD=$(gcc -print-file-name=libasan.so)
  export LD_PRELOAD
fi
Rscript --vanilla tools/fuzz/fuzz.R "$work" "$@"
