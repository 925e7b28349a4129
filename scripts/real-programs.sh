#!/usr/bin/env bash
# Records real programs of the distribution (pbzip2, zstd, lbzip2, zpaq, readerwriterqueue, plzip), built from source with
# `sooth cc` and `sooth c++`, on generated data; checks that their results are those without recording, checks the
# traces, and analyses them with hb and wcp. pbzip2 also serially, where the check covers the values. About three minutes.
#
#   scripts/real-programs.sh [--sooth PATH] [NAME...]      PATH: a built `sooth`; build/bin/sooth by default
#
# Everything stays under build/real-programs. A program whose sources cannot be had is skipped. Exits with 0 when all
# others passed, 1 when one failed, 77 when no sources could be had.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

sooth=$sooth_root/build/bin/sooth
if [[ ${1:-} == --sooth ]]; then
  (($# >= 2)) || sooth_fail "--sooth needs the path of the program"
  sooth=$(realpath "$2")
  shift 2
fi
[[ -x $sooth ]] || sooth_fail "there is no $sooth; build it first, or name one: scripts/real-programs.sh --sooth PATH"
if ! command -v apt-get >/dev/null; then
  echo "scripts/real-programs.sh: skipped, sources are fetched with apt-get"
  exit 77
fi
exec python3 "$sooth_root/scripts/bench.py" --sooth "$sooth" programs "$@"
