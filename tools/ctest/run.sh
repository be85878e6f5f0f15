#!/usr/bin/env bash
# Runs the kernels without R under the address and undefined-behaviour sanitizers, with and without OpenMP.
# Every *.c here and every kernel of src/ become one program, whose last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")"

if ! ls ./*.c > /dev/null 2>&1; then
  echo "no test program in tools/ctest"
  echo "0 passed, 1 failed"
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernels=$(ls ../../src/*.c | grep -v '/init\.c$')
flags="-std=c11 -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
flags+=" -I../../src $(R CMD config --cppflags)"

passed=0 failed=0
for openmp in "" -fopenmp; do
  echo "-- kernels ${openmp:-without OpenMP}"
  if ! gcc $flags $openmp -Wno-unknown-pragmas ./*.c $kernels -o "$work/test" -llapack -lblas -lm; then
    echo "does not compile"
    failed=$((failed + 1))
    continue
  fi
  status=0
  OMP_NUM_THREADS=2 "$work/test" > "$work/out" 2>&1 || status=$?
  cat "$work/out"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/out" | tail -n 1 || true)
  read -r p _ f _ <<< "${counts:-0 passed, 0 failed}"
  passed=$((passed + p)) failed=$((failed + f))
  if [ -z "$counts" ] || { [ "$status" != 0 ] && [ "$f" = 0 ]; }; then # it broke on the way
    echo "ended with status $status"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
