#!/usr/bin/env bash
# libFuzzer over the parsers, one after the other, from tests/fuzz/corpus.
#
#   scripts/fuzz-parsers.sh FUZZ_PARSERS SECONDS [PARSER...]
#
# FUZZ_PARSERS is the program of that name out of the preset `fuzz`. New inputs go to build-fuzz/corpus/PARSER, what
# crashes to build-fuzz/crashes/PARSER-*. SOOTH_KEEP=1 merges what brings new coverage, in at most 4 KiB each, into
# tests/fuzz/corpus. Exits with 0 only when no parser crashed, hung or took more than 2 GiB.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if (($# < 2)); then
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 64
fi
program=$1
seconds=$2
shift 2
parsers=("$@")
((${#parsers[@]} > 0)) || mapfile -t parsers < <(ls "$root/tests/fuzz/corpus")
failed=()
for parser in "${parsers[@]}"; do
  work=$root/build-fuzz/corpus/$parser
  crashes=$root/build-fuzz/crashes
  mkdir -p "$work" "$crashes"
  log=$root/build-fuzz/$parser.log
  # A report is text of many words; more of it is seen with longer inputs.
  SOOTH_PARSER=$parser "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=16384 \
    -print_final_stats=1 -artifact_prefix="$crashes/$parser-" "$work" "$root/tests/fuzz/corpus/$parser" >"$log" 2>&1 || failed+=("$parser")
  printf '%-13s %s executions, %s inputs, %s MB at most\n' "$parser" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(find "$work" -type f | wc -l)" "$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")"
  if [[ -n ${SOOTH_KEEP:-} ]]; then
    SOOTH_PARSER=$parser "$program" -merge=1 -max_len=4096 "$root/tests/fuzz/corpus/$parser" "$work" >>"$log" 2>&1
  fi
done
((${#failed[@]} == 0)) || printf 'FAILED   %s (build-fuzz/crashes)\n' "${failed[@]}"
((${#failed[@]} == 0))
