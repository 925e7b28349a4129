#!/usr/bin/env bash
# Builds everything and runs every test; then, under AddressSanitizer and UndefinedBehaviorSanitizer, the tests of what
# reads bytes from outside. Ends with a line `N passed, M failed`; exits with 0 only when nothing failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

# The ctest label of tests that feed the tool bytes it must not trust; CMake's target of that name builds them.
sanitized_label=untrusted

sooth_setup build test
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# A failing test must not keep the others from running: the count at the end decides.
sooth_configure release
sooth_build release
ctest --preset release -j "$sooth_jobs" --output-junit "$results/release.xml" || true

sooth_configure asan
sooth_build asan "${sanitized_label}_tests"
ctest --preset asan -j "$sooth_jobs" -L "^${sanitized_label}\$" --output-junit "$results/asan.xml" || true

python3 scripts/count_tests.py "$results/release.xml" "$results/asan.xml"
