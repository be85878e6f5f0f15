#!/usr/bin/env bash
# Every check of the project:  make test, which is tools/check.sh
# The daily round, in less than a minute:  make quick, which is tools/check.sh quick
# One line a step, its whole output in .check/<step>.log. The last line counts the tests of the package, the
# tests of the C kernels and the steps themselves.
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh

summary() { # what a step says in a few words
  case $1 in
    ctest | lintr | lint-c | structure | readme | newcomer | spelling) tail -n 1 "$logs/$1.log" ;;
    check) check_status "$logs" ;;
    tests) test_counts "$logs/tests.log" ;;
  esac
}

documented() { # roxygen and tools/standards.R would change nothing
  Rscript tools/standards.R check && copy "$logs/roxygen" &&
    (cd "$logs/roxygen" && R_LIBS=$logs/library:${R_LIBS:-} Rscript -e \
      'roxygen2::roxygenise(load_code = roxygen2::load_installed)') &&
    diff -u DESCRIPTION "$logs/roxygen/DESCRIPTION" &&
    diff -u NAMESPACE "$logs/roxygen/NAMESPACE" && diff -ru man "$logs/roxygen/man"
}

formatted() { # clang-format would change nothing
  find src tools/ctest -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
}

readme() { # every R block of README.md runs as it stands
  R_LIBS=$logs/library:${R_LIBS:-} Rscript tools/readme.R
}

installed() { # into .check/library, which the steps use
  rm -rf "$logs/library" && mkdir "$logs/library" &&
    R_MAKEVARS_USER=$logs/Makevars R CMD INSTALL --library="$logs/library" "$(ls "$logs"/sparsels_*.tar.gz)"
}

# The step build made the vignettes, the step installed what is checked, the step bare installs without
# suggested packages, and the step tests runs what CRAN runs and more.
check() {
  as_cran "$logs" --no-vignettes --no-tests --library="$logs/library" --install="check:$logs/installed.log"
}

tests() { # all of them ran to their end, none failed, and no snapshot would change
  rm -rf "$logs/all" && cp -r tests "$logs/all"
  (cd "$logs/all" && R_LIBS=$logs/library:${R_LIBS:-} NOT_CRAN=true Rscript testthat.R)
  local status=$?
  add_counts "$logs/tests.log" && diff -ru tests/testthat/_snaps "$logs/all/testthat/_snaps" &&
    return "$status"
}

ctest() {
  counted ctest tools/ctest/run.sh "$@"
}

newcomer() { # what is typed first, and what must come out
  R_LIBS=$logs/library:${R_LIBS:-} counted newcomer Rscript tools/newcomer.R
}

scale() { # every part of bench/scale.R on a thousandth of its data
  local part
  for part in wide bed counts rows; do
    R_LIBS=$logs/library:${R_LIBS:-} Rscript bench/scale.R "$part" "dir=$logs" small || return
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

quick_tests() { # the files that CRAN runs, those changed since the last commit, and those that TESTS names
  local changed
  changed=$(git status --porcelain tests/testthat 2> /dev/null | sed -n 's|.*/test-\(.*\)[.]R$|\1|p')
  (cd tests && R_LIBS=$logs/quick/library:${R_LIBS:-} NOT_CRAN=true QUICK=$(echo $changed ${TESTS:-}) \
    Rscript testthat.R)
  local status=$?
  add_counts "$logs/tests.log" && return "$status"
}

# ---- all steps ----

export LC_ALL=C.UTF-8
trap 'kill 0' INT # a shell does not pass Ctrl-C on to what runs beside it
if [ "${1:-}" = quick ]; then
  {
    step format formatted
    step lintr Rscript tools/lint-r.R
    step structure Rscript tools/lint-structure.R
  } &
  sources=$!
  step install quick_install
  step ctest quick_ctest
  step tests quick_tests
  wait "$sources" || count failed 1
else
  { # what reads the sources alone, beside the steps that make the package and use it
    step format formatted
    step lintr Rscript tools/lint-r.R
    step lint-c tools/lint-c.sh
    step structure Rscript tools/lint-structure.R
    step ctest ctest
  } &
  sources=$!
  step build build
  step installed installed
  { # in one process each, beside the tests, which run in two
    step check check
    step bare bare
    step roxygen documented
    step spelling Rscript tools/spelling.R
    step readme readme
    step newcomer newcomer
    step scale scale
  } &
  uses=$!
  step tests tests
  wait "$sources" || count failed 1
  wait "$uses" || count failed 1
fi
grep -h '^slowest files' "$logs/tests.log"
finish
