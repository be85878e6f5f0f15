#!/usr/bin/env bash
# What other machines will say of the package, as far as this one can tell:  make rehearse
# R CMD check on CRAN's terms, without suggested packages, in a C and a Turkish locale; other compilers and flags;
# compiled for Windows and for ARM; valgrind. Named steps alone, after build and tests, which make a tarball and a
# library for the others:  tools/rehearse.sh clang lto. One line a step, its whole output in .check/<step>.log.
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
unset MAKEFLAGS # whose CC and CFLAGS would go before those of the steps

summary() { # what a step says in a few words
  case $1 in
    c | turkish) echo "$(check_status "$logs/$1"), $(test_counts "$logs/$1.log")" ;;
    tests | vignettes | clang | lto | macos | windows | arm) tail -n 1 "$logs/$1.log" ;;
    valgrind) grep -h 'ERROR SUMMARY' "$logs/$1.log" | sed 's/^==[0-9]*== //' ;;
  esac
}

# ---- R CMD check ----

# In a locale, with what the package imports in sight, and of what it suggests testthat and knitr alone. What R
# itself says stays English.
cran() { # step, locale
  local folder=$logs/$1 status=0
  mkdir -p "$folder"
  _R_CHECK_DEPENDS_ONLY_=true LANGUAGE=en LC_ALL=$2 as_cran "$folder" --no-vignettes || status=1
  cat "$folder"/sparsels.Rcheck/tests/testthat.Rout*
  add_counts "$logs/$1.log" && return "$status"
}

c() {
  cran c C
}

turkish() { # where the capital of i is not I
  cran turkish tr_TR.UTF-8
}

# Builds the vignettes with R Markdown, what the package imports and nothing else that it suggests. (R CMD check
# would pass over them for want of R Markdown.)
vignettes() (
  folder=$logs/vignettes
  rm -rf "$folder" && mkdir -p "$folder" &&
    Rscript tools/link-library.R "$logs"/sparsels_*.tar.gz "$folder/library" knitr rmarkdown &&
    ln -s "$logs/tests/library/sparsels" "$folder/library" &&
    tar -xf "$logs"/sparsels_*.tar.gz -C "$folder" && cd "$folder/sparsels" || return
  export R_LIBS=$folder/library R_LIBS_SITE=$folder/none R_LIBS_USER=$folder/none
  Rscript -e 'tools::buildVignettes(dir = ".", tangle = FALSE)
    cat(length(list.files("vignettes", "[.]html$")), "vignettes,", round(sum(proc.time()[-3])), "s of the processor\n")'
)

# ---- other compilers and flags ----

# Installs into .check/<step>/library with a Makevars read from standard input, and runs CRAN's tests there.
variant() { # step
  local folder=$logs/$1
  rm -rf "$folder" && mkdir -p "$folder/library" || return
  cat > "$folder/Makevars"
  R_MAKEVARS_USER=$folder/Makevars R CMD INSTALL --no-docs --library="$folder/library" "$logs"/sparsels_*.tar.gz ||
    return
  env -u NOT_CRAN R_LIBS="$folder/library:${R_LIBS:-}" Rscript tools/cran-tests.R
  local status=$?
  add_counts "$logs/$1.log" && return "$status"
}

tests() { # by the compiler and flags of this R
  variant tests < /dev/null
}

clang() {
  variant clang << 'END'
CC = clang -std=gnu11
CFLAGS = -g -O2 -Wall -Wextra -Wpedantic -Werror
END
}

lto() { # the compiler sees all files at once: declarations that disagree are errors
  variant lto << 'END'
CFLAGS = -g -O2 -Wall -Werror -flto -Werror=lto-type-mismatch
LDFLAGS = -g -O2 -flto -Werror=lto-type-mismatch
END
}

# As on macOS: without OpenMP, and with no name of the system that Linux alone has.
macos() {
  local headers=$logs/headers
  mkdir -p "$headers/sys"
  printf '%s\n' '#include_next <sys/mman.h>' '#undef MADV_HUGEPAGE' '#undef MADV_NOHUGEPAGE' \
    '#pragma GCC poison madvise mremap' > "$headers/sys/mman.h"
  printf '%s\n' '#include_next <unistd.h>' '#pragma GCC poison sysconf gettid' > "$headers/unistd.h"
  variant macos << END
CFLAGS = -g -O2 -Wall -Wno-unknown-pragmas -Werror
CPPFLAGS = -I$headers
SHLIB_OPENMP_CFLAGS =
END
  local status=$?
  if grep -q -e -fopenmp "$logs/macos.log"; then
    echo "compiled with OpenMP"
    return 1
  fi
  return "$status"
}

# Every file of src/ by a cross-compiler with the headers of this R: no linking, and nothing is run.
compile() { # compiler, flags
  local headers=$logs/cross file
  mkdir -p "$headers"
  sed /VISIBILITY/d "$(Rscript -e 'cat(R.home("include"))')/Rconfig.h" > "$headers/Rconfig.h"
  for file in src/*.c; do
    echo "$file"
    "$@" -std=gnu11 -O2 -Wall -Wextra -Wpedantic -Werror -I"$headers" \
      $(R CMD config --cppflags | sed 's/-I/-isystem /g') "$file" || return
  done
}

# By both C libraries of Windows, with and without OpenMP. The stack there is aligned to 16 bytes, and gcc does
# not see to more (its bug 54412), so no wide vector may be moved to or from it as if it were.
windows() {
  local gcc=x86_64-w64-mingw32-gcc assembly=$logs/windows.s
  compile $gcc -c -o "$logs/windows.o" -Wno-unknown-pragmas &&
    compile $gcc -c -o "$logs/windows.o" -fopenmp -D_UCRT || return
  : > "$assembly"
  compile $gcc -S -o - -fopenmp -D_UCRT >> "$assembly" || return
  if grep -E 'vmov(ap|dqa|ntdq|ntp)[^#]*\(%r[sb]p' "$assembly" | grep '[yz]mm'; then
    echo "moves of wide vectors that take the stack to be aligned"
    return 1
  fi
  echo "$(ls src/*.c | wc -l) files compile; no wide vector is moved as if the stack were aligned"
}

arm() { # what macOS runs on: no instruction set but plain C, and a char without a sign
  compile aarch64-linux-gnu-gcc -c -o "$logs/arm.o" -fopenmp -Wconversion &&
    echo "$(ls src/*.c | wc -l) files compile"
}

# ---- valgrind ----

# Files that together call every family of kernels: all tests would take hours there.
valgrind() {
  local files="first-calls|float-matrix|l1-size|matching-pursuit|nystrom-features|numbered-names|poss-price"
  R_LIBS=$logs/tests/library:${R_LIBS:-} OMP_NUM_THREADS=2 R --vanilla --no-echo \
    -d "valgrind --error-exitcode=1 --num-callers=30" -e "testthat::test_dir('tests/testthat', reporter = 'check',
      package = 'sparsels', load_package = 'installed', filter = '^($files)\$')"
  local status=$?
  add_counts "$logs/valgrind.log" && return "$status"
}

# ---- all steps ----

export LC_ALL=C.UTF-8
[ $# -gt 0 ] || set -- build tests vignettes c turkish clang lto macos windows arm valgrind
for name; do
  step "$name" "$name"
done
finish
