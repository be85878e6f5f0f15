#!/usr/bin/env bash
# Runs the tests of the kernels, without R:  tools/ctest/run.sh [quick] [beginnings of tests' names]
# Once by gcc with OpenMP, under the address and undefined-behaviour sanitizers; once by clang (or gcc) without
# OpenMP, optimised, with the bounds of the greedy search checked. `quick` is one plain pass.
# Every *.c here and every kernel of src/ become one program, whose last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")"

quick=0
if [ "${1:-}" = quick ]; then
  quick=1
  shift
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
src=$(cd ../../src && pwd)
files=$(ls "$PWD"/*.c "$src"/*.c | grep -vE '/(init|r-[a-z0-9]+)\.c$')
sed -n 's/^\(TEST([a-z0-9_]*)\) {$/\1/p' test-*.c > "$work/tests.inc"
common="-std=c11 -g1 -I$work -I$src $(R CMD config --cppflags) -Wno-unknown-pragmas"
common="$common -DPARALLEL_FROM=0" # small problems on several threads, too
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"
words=("$@")
export OMP_NUM_THREADS=2
export OMP_WAIT_POLICY=passive # threads that wait leave the processor to others

passed=0 failed=0
run() { # what it is, compiler, flags
  echo "-- kernels $1"
  # one file at a time, so that ccache knows those that have not changed
  if ! (cd "$work" && xargs -n 1 -P 2 $2 $common $3 -c <<< "$files" &&
    $2 $3 ./*.o -o test -llapack -lblas -lm); then
    echo "does not compile"
    failed=$((failed + 1))
    return
  fi
  local status=0 counts p f _
  "$work/test" "${words[@]}" > "$work/out" 2>&1 || status=$?
  cat "$work/out"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/out" | tail -n 1 || true)
  read -r p _ f _ <<< "${counts:-0 passed, 0 failed}"
  passed=$((passed + p)) failed=$((failed + f))
  if [ -z "$counts" ] || { [ "$status" != 0 ] && [ "$f" = 0 ]; }; then # it broke on the way
    echo "ended with status $status"
    failed=$((failed + 1))
  fi
}

# Checking bounds brings every column up to date at every step, so one pass must do without.
if [ "$quick" = 1 ]; then
  run "with OpenMP" gcc "-O1 -fopenmp"
else
  run "by gcc, with OpenMP, under sanitizers" gcc "-O1 -fno-omit-frame-pointer $sanitizers -fopenmp"
  other=clang
  command -v clang > /dev/null || other=gcc
  run "by $other, without OpenMP, optimised, bounds checked" $other "-O2 -DSPARSELS_CHECK_BOUNDS"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
