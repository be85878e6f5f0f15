#!/usr/bin/env bash
# The C rules of the project: no warning in clang, kernels that know nothing of R, allocate nothing and keep no
# state. Prints what breaks them; the exit status says whether anything does. No warning in gcc is a rule of the
# step build, which compiles the package (tools/steps.sh).
set -euo pipefail
cd "$(dirname "$0")/../src"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() {
  echo "lint-c: $1"
  bad=1
}

r_flags=$(R CMD config --cppflags)
r_headers=${r_flags//-I/-isystem }
warnings="-std=c11 -fno-pic -Wall -Wextra -Wpedantic -Wconversion -Wvla -Werror"

# For the warnings of clang, also without OpenMP, reading is enough.
expect_no_warning() { # compiler and flags
  for file in *.c; do
    $1 $warnings $r_headers "$file" || complain "$file: $1 warns"
  done
}
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

# What a kernel calls and keeps, as its object file tells. tools/lint-structure.R has the same command, so that
# ccache compiles for both.
for file in *.c; do
  (cd .. && gcc -std=c11 -O0 -w -fno-pic -c $r_flags "src/$file" -o "$work/${file%.c}.o") ||
    complain "$file does not compile"
done
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
