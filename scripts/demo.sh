#!/usr/bin/env bash
# Builds Sooth and shows its main job on four small traces and a program, from its source to a race that happens on demand, explaining each command.
#
#   scripts/demo.sh [SOOTH]     SOOTH: a built `sooth` to use; without it, build/bin/sooth is built first
#
# Exits with 0 when every command ended as this script says it should.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

if (($# > 0)); then
  sooth=$(realpath "$1")
  cd "$sooth_root"
else
  cd "$sooth_root"
  # What was built before is used as it is; else what the demo needs is enough.
  preset=small
  if [[ -f build/CMakeCache.txt ]] && ! grep -q '^SOOTH_WITH_DEEP:BOOL=OFF' build/CMakeCache.txt; then preset=release; fi
  sooth_setup small
  sooth_configure "$preset"
  echo "Building build/bin/sooth ..."
  sooth_build "$preset" sooth
  sooth=$sooth_root/build/bin/sooth
fi

# explain TEXT: a paragraph before a command.
explain() { printf '\n%s\n\n' "$*"; }

# show STATUS ARGUMENTS...: prints the command, runs it, and insists on its exit status.
show() {
  local expected=$1 status=0
  shift
  printf '$ sooth %s\n' "$*"
  "$sooth" "$@" </dev/null || status=$?
  printf '(exit status %d)\n' "$status"
  ((status == expected)) || sooth_fail "sooth $1 ended with status $status where $expected was expected"
}

analyses=hb,wcp,syncp,deadlock

explain "1. A recorded run of examples/bank_account_race.cc: a teller deposits under a lock, a clerk prints the balance
   without it. Each line is one step of one thread: who | what | where."
show 0 trace cat examples/traces/bank_account_race.std

explain "   Which accesses to the same memory can happen at the same time? hb finds those that this very run leaves
   unordered; wcp and syncp find those that another schedule of the same steps brings together.
   Exit status 66 means: races were found."
show 66 analyze examples/traces/bank_account_race.std --with "$analyses"

explain "2. The corrected program, examples/bank_account_norace.cc: the clerk takes the lock too. Nothing to report,
   exit status 0."
show 0 analyze examples/traces/bank_account_norace.std --with "$analyses"

explain "3. examples/bank_account_hidden.cc: the clerk gives the lock back too early, but in this run the teller came
   first, and the lock ordered the two. Tools that only look at the order of this run see no race. Sooth predicts it, and
   proves it with a witness: the steps in an order that the locks allow, after which both threads are about to touch
   the balance."
show 66 analyze examples/traces/bank_account_hidden.std --with "$analyses"

explain "   You need not trust the analyses: the witness can be checked from the outside, by code that shares nothing with them."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=$work/report.json
"$sooth" analyze examples/traces/bank_account_hidden.std --format json --fail-on never >"$report"
show 0 witness check "$report" examples/traces/bank_account_hidden.std

explain "4. Figure 5 of the WCP paper: three threads, three locks, and no race, but a deadlock that did not happen."
show 66 analyze tests/golden/wcp_figure_5.std --with "$analyses"

explain "5. A real program, from its source. examples/textbook.cc has a race that ThreadSanitizer reports in 1 of 200 runs. Compile it, run
   it once while its threads are recorded, and look: one run is enough."
show 0 c++ -O1 examples/textbook.cc -o "$work/textbook"
show 0 record --schedule serial -o "$work/textbook.trace" -- "$work/textbook"
show 66 analyze "$work/textbook.trace" --with "$analyses"

explain "6. All of it with one command: \`sooth run\` records the program, predicts, proves, and then runs it again under control until both
   threads stand in front of the two writes. The race is confirmed now, and the report has the line that makes it happen again."
demo=$sooth_root/build/demo
rm -rf "$demo"
mkdir -p "$demo"
cp "$work/textbook" "$demo/"
cd "$demo"
show 66 run -- ./textbook

explain "   That line, typed:"
id=$("$sooth" report sooth-textbook.json --format json --fail-on never | sed -n 's/^ *"id": "\([0-9a-f]*\)".*/\1/p' | head -1)
show 0 replay "sooth-textbook.json#$id" -- ./textbook

explain "The report is $demo/sooth-textbook.json.
Next: \`sooth run --help\`, docs/run.md, docs/semantics.md for what exactly is called a race."
