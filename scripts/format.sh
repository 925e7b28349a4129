#!/usr/bin/env bash
# Formats the C++ files of the repository with clang-format 14.
#
#   scripts/format.sh [--check] [FILE...]    --check: changes nothing, exits with 1 when a file would change
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run --Werror)
  shift
fi
tool=$(command -v clang-format-14 || command -v clang-format) ||
  sooth_fail "clang-format is missing; install the package clang-format-14"
# Versions disagree about details, and two people with two versions would undo each other's work.
[[ $("$tool" --version) == *"version 14."* ]] || sooth_fail "$("$tool" --version): the style is pinned to version 14"

files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files '*.cc' '*.h' 2>/dev/null)
# Sources without their history, or no git: everything that was not built.
((${#files[@]})) || mapfile -t files < <(find . -path './build*' -prune -o -name node_modules -prune -o \( -name '*.cc' -o -name '*.h' \) -print)
((${#files[@]})) || sooth_fail "there are no C++ files in $sooth_root"
"$tool" --style=file "${mode[@]}" "${files[@]}"
