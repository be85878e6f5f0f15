#!/usr/bin/env bash
# Every check of the project:  make test, which is tools/check.sh
# The daily round, in less than a minute:  make quick, which is tools/check.sh quick
# One line a step, its whole output in .check/<step>.log. The last line counts the tests of the package, the
# tests of the C kernels and the steps themselves.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
logs=$root/.check
passed=0 failed=0 skipped=0

step() { # name, command
  local name=$1 start=$SECONDS word=ok
  shift
  "$@" > "$logs/$name.log" 2>&1 || word=FAILED
  printf '%-7s %-10s %4d s  %s\n' "$word" "$name" $((SECONDS - start)) "$(summary "$name")"
  if [ "$word" = ok ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 40 "$logs/$name.log" | sed 's/^/    /'
    echo "    (all of it: .check/$name.log)"
  fi
}

summary() { # what a step says in a few words
  case $1 in
    ctest | lintr | lint-c | structure | readme | newcomer) tail -n 1 "$logs/$1.log" ;;
    check) grep -h '^Status:' "$logs/sparsels.Rcheck/00check.log" 2> /dev/null ;;
    tests) test_counts "$logs/tests.log" ;;
  esac
}

copy() { # the checkout without what was made in it
  rm -rf "$1" && mkdir -p "$1" &&
    tar --exclude=./.git --exclude=./.check --exclude=./.library --exclude=./demo --exclude=./site \
      --exclude='*.o' --exclude='*.so' -cf - . | tar -xf - -C "$1"
}

documented() { # roxygen would change nothing; the package is that of the step check
  copy "$logs/roxygen" && (cd "$logs/roxygen" && R_LIBS=$logs/sparsels.Rcheck:${R_LIBS:-} Rscript -e \
    'roxygen2::roxygenise(load_code = roxygen2::load_installed)') &&
    diff -u DESCRIPTION "$logs/roxygen/DESCRIPTION" &&
    diff -u NAMESPACE "$logs/roxygen/NAMESPACE" && diff -ru man "$logs/roxygen/man"
}

formatted() { # clang-format would change nothing
  find src tools/ctest -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
}

readme() { # every R block of README.md runs as it stands; the package is that of the step check
  R_LIBS=$logs/sparsels.Rcheck:${R_LIBS:-} Rscript tools/readme.R
}

build() {
  rm -f "$logs"/sparsels_*.tar.gz
  copy "$logs/source/sparsels" && (cd "$logs" && R CMD build source/sparsels)
}

# R CMD check as CRAN runs it, with these differences. The step before built the vignettes: that is enough.
check() {
  export NOT_CRAN=true                         # run every test, those too that CRAN would skip
  export _R_CHECK_CRAN_INCOMING_REMOTE_=false  # asks CRAN nothing, so it works without a network
  export _R_CHECK_SYSTEM_CLOCK_=0              # asks no time server
  export _R_CHECK_FORCE_SUGGESTS_=false        # tests of an absent suggested package are skipped, and counted
  export _R_CHECK_TESTS_NLINES_=0              # a failing test is shown whole
  # debugging symbols are not part of the installed size; the symbol table stays, which the check reads
  export _R_SHLIB_STRIP_=true R_STRIP_SHARED_LIB="strip -S"
  # flags of Debian's own R build, not the package's
  export _R_CHECK_COMPILATION_FLAGS_KNOWN_="-Wformat -Werror=format-security -Wdate-time"
  rm -rf "$logs/sparsels.Rcheck"
  (cd "$logs" && R CMD check --as-cran --no-manual --no-vignettes sparsels_*.tar.gz) && accept_status
}

# Accepts "Status: OK", or one note that only says that the package is not on CRAN yet.
accept_status() {
  local log=$logs/sparsels.Rcheck/00check.log
  grep -q '^Status: OK$' "$log" && return
  grep -q '^Status: 1 NOTE$' "$log" || return
  awk '/^\* / { inside = /^\* checking CRAN incoming feasibility/; if (/NOTE$/ && !inside) own = 1; next }
    inside && NF && !/^Maintainer: / && !/^New submission$/ { own = 1 }
    END { exit own }' "$log"
}

test_counts() { # the last counts in a file
  grep -oE '\[ FAIL [0-9]+ \| WARN [0-9]+ \| SKIP [0-9]+ \| PASS [0-9]+ \]' "$1" 2> /dev/null | tail -n 1
}

add_counts() { # of the tests of the package, in a file; none failed
  local counts fail warn skip pass
  counts=$(test_counts "$1")
  [ -n "$counts" ] || { echo "no count of tests was printed"; return 1; }
  read -r fail warn skip pass <<< "$(tr -dc '0-9 ' <<< "$counts")"
  passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
  [ "$fail" = 0 ]
}

tests() { # the tests ran to their end, none failed, and no snapshot would change
  cat "$logs"/sparsels.Rcheck/tests/testthat.Rout*
  add_counts "$logs/tests.log" &&
    diff -ru tests/testthat/_snaps "$logs/sparsels.Rcheck/tests/testthat/_snaps"
}

# The command of a step whose last line is "N passed, N failed".
counted() { # name of the step, command
  local name=$1 status=0 p f _
  shift
  "$@" || status=1
  read -r p _ f _ <<< "$(tail -n 1 "$logs/$name.log")"
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
  return "$status"
}

ctest() {
  counted ctest tools/ctest/run.sh "$@"
}

newcomer() { # what is typed first, and what must come out; the package is that of the step check
  R_LIBS=$logs/sparsels.Rcheck:${R_LIBS:-} counted newcomer Rscript tools/newcomer.R
}

scale() { # every part of bench/scale.R on a thousandth of its data; the package is that of the step check
  local part
  for part in wide bed counts rows; do
    R_LIBS=$logs/sparsels.Rcheck:${R_LIBS:-} Rscript bench/scale.R "$part" "dir=$logs" small || return
  done
}

bare() { # the CRAN way, without OpenMP and without any suggested package
  tools/install-bare.sh "$(ls "$logs"/sparsels_*.tar.gz)" "$logs/bare"
}

# ---- the daily round ----

# Installs into .check/quick/library, and compiles what changed. Make knows nothing of headers: a newer one
# compiles all.
quick_install() {
  local quick=$logs/quick
  mkdir -p "$quick/objects" "$quick/library"
  mv "$quick"/sparsels/src/*.o "$quick/objects" 2> /dev/null
  copy "$quick/sparsels" || return
  if [ -z "$(find src -name '*.h' -newer "$quick/objects/init.o" 2>&1)" ]; then
    mv "$quick"/objects/*.o "$quick/sparsels/src"
  fi
  R CMD INSTALL --no-docs --no-test-load --library="$quick/library" "$quick/sparsels"
}

quick_ctest() { # unless the same C passed before
  local sum
  sum=$(cat src/*.[ch] tools/ctest/* | md5sum)
  if [ "$sum" = "$(cat "$logs/quick/ctest" 2> /dev/null)" ]; then
    echo "as before"
  else
    ctest quick && echo "$sum" > "$logs/quick/ctest"
  fi
}

quick_tests() {
  NOT_CRAN=true R_LIBS=$logs/quick/library:${R_LIBS:-} Rscript tools/quick.R
  local status=$?
  add_counts "$logs/tests.log" && return "$status"
}

# ---- all steps ----

mkdir -p "$logs"
export LC_ALL=C.UTF-8 OMP_THREAD_LIMIT=2
export OMP_WAIT_POLICY=passive # threads that wait leave the processor to others
if [ "${1:-}" = quick ]; then
  step format formatted
  step structure Rscript tools/lint-structure.R
  step install quick_install
  step ctest quick_ctest
  step tests quick_tests
else
  step format formatted
  step lintr Rscript tools/lint-r.R
  step lint-c tools/lint-c.sh
  step structure Rscript tools/lint-structure.R
  step ctest ctest
  step build build
  step check check
  step roxygen documented
  step readme readme
  step newcomer newcomer
  step scale scale
  step tests tests
  step bare bare
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
