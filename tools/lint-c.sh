#!/usr/bin/env bash
# The C rules of the project: no warning in gcc and clang, kernels that know nothing of R, allocate nothing
# and keep no state. Prints what breaks them; the exit status says whether anything does.
set -euo pipefail
cd "$(dirname "$0")/../src"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() {
  echo "lint-c: $1"
  bad=1
}

r_headers=$(R CMD config --cppflags | sed 's/-I/-isystem /g')
warnings="-std=c11 -fno-pic -Wall -Wextra -Wpedantic -Wconversion -Wvla -Werror"

# Some warnings of gcc come with optimisation. For those of clang, and without OpenMP, reading is enough.
expect_no_warning() { # compiler and flags
  for file in *.c; do
    $1 $warnings $r_headers "$file" -o "$work/${file%.c}.o" || complain "$file: $1 warns"
  done
}
expect_no_warning "gcc -c -O2 -fopenmp"
expect_no_warning "clang -fsyntax-only"
if echo '#include <omp.h>' | clang -fopenmp -fsyntax-only -x c - 2> /dev/null; then
  expect_no_warning "clang -fsyntax-only -fopenmp"
else
  echo "lint-c: clang has no omp.h, its OpenMP pass is left out"
fi

shopt -s extglob
border='@(r-*.c|r.h|init.c)' # what knows R

for file in *.c *.h; do # without comments
  gcc -fpreprocessed -dD -E -P -w -x c "$file" > "$work/$file" 2> /dev/null
done

for file in *.c *.h; do
  case $file in $border | blas.h) continue ;; esac
  grep -nE '# *include *[<"](R|Rinternals|Rmath|Rdefines|Rconfig|Rversion|Rembedded|R_ext/.*)(\.h)?[>"]' \
    "$work/$file" && complain "$file: only the border and blas.h may include an R header"
  grep -nE '\b(alloca|_Thread_local|threadprivate|omp_set_num_threads)\b' "$work/$file" &&
    complain "$file: a kernel keeps no state and takes its workspace from the caller"
done
grep -nE 'UNPROTECT *\( *[^0-9]' "$work"/r-*.c && complain "UNPROTECT takes a number"

# What a kernel calls and keeps, as its object file tells.
forbidden='malloc|calloc|realloc|free|aligned_alloc|posix_memalign|.*printf.*|puts|putchar|fputs|fwrite'
forbidden+='|fopen|exit|_exit|abort|raise|longjmp|rand|srand|.*rand48.*|time|clock|getenv|R_.*|Rf_.*'
forbidden+='|Rprintf|REprintf|unif_rand|norm_rand|exp_rand|GetRNGstate|PutRNGstate'
for file in *.c; do
  case $file in $border) continue ;; esac
  nm -u "$work/${file%.c}.o" | awk '{ print $NF }' | grep -xE "$forbidden" &&
    complain "$file: a kernel neither allocates, prints, raises nor draws"
  nm "$work/${file%.c}.o" | awk '$(NF - 1) ~ /^[bBcCdDsS]$/ { print $NF }' | grep -vx simd &&
    complain "$file: a kernel keeps no static state that can change (but the instruction set in use)"
done

[ "$bad" = 1 ] || echo "lint-c: nothing found in $(ls *.c *.h | wc -l) files"
exit "$bad"
