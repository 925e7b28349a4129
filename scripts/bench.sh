#!/usr/bin/env bash
# Measures how fast traces are decoded and analysed and what recording costs, prints the tables of docs/performance.md and says
# which goals are met.
#
#   scripts/bench.sh [--quick]     --quick: no trace above 10 million events, no real programs; about two minutes
#
# Exits with 1 when a goal is missed. Needs up to 6 GB of disk under build/bench, given back at the end.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

sooth_setup build
sooth_configure release
sooth_build release sooth >&2
recorded=()
python3 scripts/bench.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/bench_analyze.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/bench_tree.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/ipa_table.py --sooth build/bin/sooth --calls || missed=1
if [[ " $* " == *" --quick "* ]]; then recorded=(--examples); fi
python3 scripts/ipa_table.py --sooth build/bin/sooth "${recorded[@]}" || missed=1
python3 scripts/bench_mcm.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/bench_record.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/bench_deep.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/bench_barrier.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
python3 scripts/bench_confirm.py --sooth build/bin/sooth --scratch build/bench "$@" || missed=1
exit "${missed:-0}"
