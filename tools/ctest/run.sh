#!/usr/bin/env bash
# Runs the kernels without R: with gcc under the address and undefined-behaviour sanitizers, without OpenMP and
# with it, and with clang if it is there. Every *.c here and every kernel of src/ become one program, whose last
# line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")"

if ! ls ./*.c > /dev/null 2>&1; then
  echo "no test program in tools/ctest"
  echo "0 passed, 1 failed"
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernels=$(ls ../../src/*.c | grep -vE '/(init|r-[a-z]+)\.c$')
common="-std=c11 -g -I../../src $(R CMD config --cppflags) -Wno-unknown-pragmas"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
export OMP_NUM_THREADS=2
export OMP_WAIT_POLICY=passive # threads that wait leave the processor to others

passed=0 failed=0
run() { # what it is, compiler, flags
  echo "-- kernels $1"
  if ! $2 $common $3 ./*.c $kernels -o "$work/test" -llapack -lblas -lm; then
    echo "does not compile"
    failed=$((failed + 1))
    return
  fi
  local status=0 counts p f _
  "$work/test" > "$work/out" 2>&1 || status=$?
  cat "$work/out"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/out" | tail -n 1 || true)
  read -r p _ f _ <<< "${counts:-0 passed, 0 failed}"
  passed=$((passed + p)) failed=$((failed + f))
  if [ -z "$counts" ] || { [ "$status" != 0 ] && [ "$f" = 0 ]; }; then # it broke on the way
    echo "ended with status $status"
    failed=$((failed + 1))
  fi
}

# whether clang compiles and runs a program with these flags: parts of it come in packages of their own
clang_has() {
  printf '#ifdef _OPENMP\n#include <omp.h>\n#endif\nint main(void) { return 0; }\n' > "$work/any.c"
  clang "$@" "$work/any.c" -o "$work/any" > /dev/null 2>&1 && "$work/any"
}

# Checking bounds brings every column up to date at every step, so one pass must do without.
gcc_flags="-O1 -fno-omit-frame-pointer $sanitizers"
run "without OpenMP, bounds checked" gcc "$gcc_flags -DSPARSELS_CHECK_BOUNDS"
run "with OpenMP" gcc "$gcc_flags -fopenmp"
if command -v clang > /dev/null; then
  clang_flags=-O2 what=clang
  if clang_has -fopenmp; then clang_flags+=" -fopenmp" what+=" with OpenMP"; fi
  if clang_has $sanitizers; then clang_flags+=" $sanitizers"; else what+=", without sanitizers"; fi
  run "by $what" clang "$clang_flags"
else
  echo "-- there is no clang, its pass is left out"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
