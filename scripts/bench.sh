#!/usr/bin/env bash
# Measures how fast traces are decoded and analysed and what recording costs, prints the tables of docs/performance.md and says
# which goals are met.
#
#   scripts/bench.sh [--quick]            --quick: no trace above 10 million events, no real programs; about two minutes
#   scripts/bench.sh NAME [OPTIONS...]    one measurement; `scripts/bench.py` lists them
#
# Results are kept in build/bench/results.
# Exits with 1 when a goal is missed. Needs up to 6 GB of disk under build/bench, given back at the end.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

sooth_setup build
sooth_configure release
sooth_build release sooth >&2
if (($# > 0)) && [[ $1 != -* ]]; then exec python3 scripts/bench.py "$@"; fi
exec python3 scripts/bench.py all "$@"
