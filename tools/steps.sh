# What check.sh and rehearse.sh share: a line for each step, and counts of all. Sourced at the root of the project.
root=$PWD
logs=$root/.check
mkdir -p "$logs"
: > "$logs/counts" # a file, as steps that run side by side count into it
export OMP_THREAD_LIMIT=2
export OMP_WAIT_POLICY=passive # threads that wait leave the processor to others
# with ccache, what one step has compiled is not compiled again by the others, in whatever folder
export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$logs/ccache CCACHE_NOHASHDIR=1
# debugging symbols are not part of the installed size; R CMD check reads the symbol tables
export _R_SHLIB_STRIP_=true R_STRIP_SHARED_LIB="strip -S" _R_SHLIB_BUILD_OBJECTS_SYMBOL_TABLES_=true
export R_NSIZE=10M # cells before R first collects garbage, or each load of many packages collects often
export TZ=${TZ:-UTC} # or R asks systemd for it, whose complaint would be a note

count() { # passed, failed or skipped; how many
  echo "$1 $2" >> "$logs/counts"
}

step() { # name, command; the line has the seconds elapsed and of the processor
  local name=$1 word=ok TIMEFORMAT='%0R %0U' seconds
  shift
  seconds=$({ time "$@" > "$logs/$name.log" 2>&1; } 2>&1) || word=FAILED
  printf '%-7s %-10s %4s s %5s s CPU  %s\n' "$word" "$name" $seconds "$(summary "$name")"
  if [ "$word" = ok ]; then
    count passed 1
  else
    count failed 1
    tail -n 40 "$logs/$name.log" | sed 's/^/    /'
    echo "    (all of it: .check/$name.log)"
  fi
}

copy() { # the checkout without what was made in it
  rm -rf "$1" && mkdir -p "$1" &&
    tar --exclude=./.git --exclude=./.check --exclude=./.library --exclude=./demo --exclude=./site \
      --exclude='*.o' --exclude='*.so' -cf - . | tar -xf - -C "$1"
}

# What gcc warns of is an error where the package is compiled: some warnings come with optimisation.
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wvla -Werror"
echo "CFLAGS += $warnings -isystem \$(R_INCLUDE_DIR)" > "$logs/Makevars"

build() {
  rm -f "$logs"/sparsels_*.tar.gz
  copy "$logs/source/sparsels" && (cd "$logs" && R_MAKEVARS_USER=$logs/Makevars R CMD build source/sparsels)
}

# R CMD check as CRAN runs it, with these differences, of the tarball of the step build.
as_cran() ( # folder, further options
  # asks CRAN nothing, so it works without a network: neither of this package nor of orphaned ones
  export _R_CHECK_CRAN_INCOMING_REMOTE_=false R_CRAN_WEB=file://$logs/cran
  mkdir -p "$logs/cran/web/packages"
  Rscript -e 'none <- character(); saveRDS(data.frame(Package = none, Maintainer = none), commandArgs(TRUE))' \
    "$logs/cran/web/packages/packages.rds" || return
  export _R_CHECK_SYSTEM_CLOCK_=0              # asks no time server
  export _R_CHECK_FORCE_SUGGESTS_=false        # tests of an absent suggested package are skipped, and counted
  export _R_CHECK_TESTS_NLINES_=0              # a failing test is shown whole
  export _R_CHECK_EXAMPLE_TIMING_THRESHOLD_=1e6 # elapsed time is that of a busy machine: see quick_examples()
  # of this 3.1 MB are byte-compiled R code and 1.6 MB vignettes: see cran-comments.md
  export _R_CHECK_PKG_SIZES_THRESHOLD_=7
  # flags of Debian's own R build and of the step build, not the package's. Debian's R sets the variable itself.
  export R_ENVIRON_USER=$logs/Renviron
  echo "_R_CHECK_COMPILATION_FLAGS_KNOWN_='-Wformat -Werror=format-security -Wdate-time $warnings'" > "$logs/Renviron"
  folder=$1
  shift
  rm -rf "$folder/sparsels.Rcheck"
  # --run-donttest runs the examples once, and not once more with those
  cd "$folder" && R CMD check --as-cran --run-donttest --no-manual "$@" "$logs"/sparsels_*.tar.gz &&
    accept_status "$folder" && quick_examples "$folder"
)

# No example takes more than 3 seconds of the processor, on a busy machine: 2 seconds on an idle one.
quick_examples() { # folder
  awk 'NR > 1 && $2 + $3 > 3 { print "slow example: " $0; slow = 1 } END { exit slow }' \
    "$1/sparsels.Rcheck/sparsels-Ex.timings"
}

check_status() { # folder
  grep -h '^Status:' "$1/sparsels.Rcheck/00check.log" 2> /dev/null
}

# Accepts "Status: OK", and notes that only say that the package is not on CRAN yet, or that suggested packages,
# without which tests are skipped, are not there.
accept_status() { # folder
  local log=$1/sparsels.Rcheck/00check.log
  grep -q '^Status: OK$' "$log" && return
  grep -qE '^Status: [12] NOTEs?$' "$log" || return
  awk '/^\* / {
      incoming = /^\* checking CRAN incoming feasibility/
      suggested = /^\* checking package dependencies/
      if (/NOTE$/ && !incoming && !suggested) own = 1
      next
    }
    incoming && NF && !/^Maintainer: / && !/^New submission$/ { own = 1 }
    suggested && NF && !/^Packages? suggested but not available for checking:/ &&
      !/^  .[A-Za-z0-9.]+.(, .[A-Za-z0-9.]+.)*,?$/ { own = 1 }
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
  count passed "$pass"
  count failed "$fail"
  count skipped "$skip"
  [ "$fail" = 0 ]
}

# The command of a step whose last line is "N passed, N failed".
counted() { # name of the step, command
  local name=$1 status=0 p f _
  shift
  "$@" || status=1
  read -r p _ f _ <<< "$(tail -n 1 "$logs/$name.log" | grep -E '^[0-9]+ passed, [0-9]+ failed$')"
  count passed "${p:-0}"
  count failed "${f:-0}"
  return "$status"
}

finish() { # the last line, and whether all went well
  awk '{ sum[$1] += $2 }
    END {
      printf "%d passed, %d failed, %d skipped\n", sum["passed"], sum["failed"], sum["skipped"]
      exit sum["failed"] > 0
    }' "$logs/counts"
}
