#!/usr/bin/env bash
# Compares Sooth with ThreadSanitizer (GCC's libtsan), Helgrind and DRD on the programs of examples/ and tests/programs: races that each finds, false
# alarms, and time. The comments in the programs are the truth. Prints the table of docs/comparison.md.
#
#   scripts/compare.sh [--sooth PATH] [--jobs N] [--limit SECONDS] [--work DIR] [--sample SEED/N] [--fresh] [NAME...]
#
# Every answer is stored under DIR (build/compare) as soon as it is there: a second call goes on where the first one ended, --fresh begins anew. A run that takes longer
# than --limit (60 s) is ended and counted as such.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

command -v valgrind >/dev/null || sooth_setup build
exec python3 "$sooth_root/scripts/bench.py" compare "$@"
