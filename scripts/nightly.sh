#!/usr/bin/env bash
# The long campaigns: what scripts/test.sh runs, many more random cases, every sanitizer over every test, both
# compilers, static checks, real programs, and the full benchmark. Runs every step even when one fails.
#
#   scripts/nightly.sh [STEP...]     only these steps; their names are printed as they run
#
# SOOTH_CASES is the number of random cases for each property test (default here: 1,000,000). Ends with a line
# `N passed, M failed`, counting steps; exits with 0 only when none failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sooth_root"

cases=${SOOTH_CASES:-1000000}
sanitized_cases=$((cases / 20 + 1))  # sanitizers slow everything down by about this much
export SOOTH_TIMEOUT_FACTOR=50       # tests may run so many times longer than in scripts/test.sh

step_test() { scripts/test.sh; }

step_properties() {
  sooth_configure release
  sooth_build release
  SOOTH_CASES=$cases SOOTH_SEEDS=1000 ctest --preset release -j "$sooth_jobs"
}

# Every test, and the fuzzed readers with more cases than scripts/test.sh gives them.
step_asan() {
  sooth_configure asan
  sooth_build asan
  SOOTH_CASES=$sanitized_cases ctest --preset asan -j "$sooth_jobs"
}

# The readers against mutated bytes, under the sanitizers, from a seed that differs from night to night and is printed.
step_fuzz() {
  sooth_configure asan
  sooth_build asan fuzz_trace
  build-asan/tests/fuzz/fuzz_trace --seconds "${SOOTH_FUZZ_SECONDS:-600}" --seed "${SOOTH_SEED:-$(date +%Y%m%d)}"
}

# libFuzzer over every parser, from the kept corpora; a crash, a hang or too much memory is a failure, and its input is kept.
step_parsers() {
  sooth_configure fuzz
  sooth_build fuzz fuzz_parsers
  scripts/fuzz-parsers.sh build-fuzz/tests/fuzz/fuzz_parsers "${SOOTH_PARSER_SECONDS:-1800}"
}

# Mutated code of deep recordings: nothing that works with it crashes.
step_deep_code() {
  sooth_configure release
  sooth_build release sooth fuzz_deep
  python3 tests/fuzz/fuzz_deep.py build/bin/sooth build/tests/fuzz/fuzz_deep --iterations "${SOOTH_DEEP_CASES:-20000}" --seed "${SOOTH_SEED:-$(date +%Y%m%d)}"
}

step_tsan() {
  sooth_configure tsan
  sooth_build tsan
  ctest --preset tsan -j "$sooth_jobs"
}

step_debug() {
  sooth_configure debug
  sooth_build debug
  ctest --preset debug -j "$sooth_jobs"
}

step_clang() {
  sooth_configure clang
  sooth_build clang
  ctest --preset clang -j "$sooth_jobs"
}

step_tidy() {
  sooth_configure clang
  # Headers are checked through the files that include them.
  git ls-files 'src/*.cc' | xargs -P "$sooth_jobs" -n 4 clang-tidy --quiet -p build-clang
}

# Without LLVM, as scripts/demo.sh builds it on a machine that has nothing yet: the demo works, and who asks for what is missing is told so.
step_small() {
  cmake --preset small -B build-small >/dev/null &&
    cmake --build build-small -j "$sooth_jobs" --target sooth &&
    scripts/demo.sh build-small/bin/sooth || return 1
  local said
  said=$(build-small/bin/sooth c++ --deep examples/textbook.cc -o build-small/textbook 2>&1) && return 1
  [[ $said == *"built without --deep"* ]]
}

# Every program with every compiler at every level, free running and serial.
step_programs() {
  sooth_configure release
  sooth_build release sooth
  local status=0
  for schedule in os serial; do
    python3 tests/programs/run.py --sooth build/bin/sooth --compilers gcc,clang-14,clang-19 --levels 0,1,2 --schedule "$schedule" --jobs "$sooth_jobs" || status=1
  done
  return "$status"
}

# Every program for AArch64, under an emulator, and a tenth of them confirmed.
step_aarch64() {
  sooth_configure release
  sooth_build release sooth sooth_rt_aarch64
  local status=0 compiler=aarch64-linux-gnu-gcc
  for schedule in os serial; do
    python3 tests/programs/run.py --sooth build/bin/sooth --compilers "$compiler" --levels 1 --schedule "$schedule" --jobs "$sooth_jobs" || status=1
  done
  python3 tests/programs/run_command.py --sooth build/bin/sooth --compiler "$compiler" --sample 1/10 --jobs "$sooth_jobs" || status=1
  return "$status"
}

# `sooth run` finds what the other commands find: in all examples, and in programs drawn at random.
step_union() {
  sooth_configure release
  sooth_build release sooth
  python3 tests/union/run.py --sooth build/bin/sooth --programs 200 --examples --pairs --budget 60s --jobs "$sooth_jobs"
}

# A tenth of all programs as they are, by two compilers at two levels: nothing false above `suspected`, beside Helgrind and DRD.
step_plain() {
  sooth_configure release
  sooth_build release sooth
  python3 scripts/bench.py plain --sample "${SOOTH_SEED:-$(date +%Y%m%d)}/10" --jobs "$sooth_jobs"
}

# Real programs follow witnesses through sleeps, time-outs, reads and polls.
step_following() {
  sooth_configure release
  sooth_build release sooth
  python3 tests/witness/following.py --sooth build/bin/sooth --drawn 60 --jobs "$sooth_jobs"
}

# `sooth run` on every program, at the level that its table is of and at others.
step_run_command() {
  sooth_configure release
  sooth_build release sooth
  local status=0
  for level in 0 1 2; do
    python3 tests/programs/run_command.py --sooth build/bin/sooth --level "$level" --jobs "$sooth_jobs" || status=1
  done
  python3 tests/programs/run_command.py --sooth build/bin/sooth --compiler clang-19 --jobs "$sooth_jobs" || status=1
  return "$status"
}

# Every program under every strategy: none hangs. Every example twice: nothing differs.
step_sweep() {
  sooth_configure release
  sooth_build release sooth_rt_gcc
  python3 tests/control/sweep.py --library build/runtime/libtsan.so.2 --seeds "${SOOTH_SWEEP_SEEDS:-200}" --repeats 50 --jobs "$sooth_jobs"
}

# As many controlled runs as the statements of RaceFuzzer's paper are about.
step_confirm() {
  sooth_configure release
  sooth_build release sooth
  python3 tests/cli/confirm.py build/bin/sooth --long
}

# What recipe predicts of random programs happens under some schedule of them; the marks of the figures are all that happens.
step_recipe() {
  sooth_configure release
  sooth_build release
  python3 tests/recipe/run.py --sooth build/bin/sooth --explore --jobs "$sooth_jobs" &&
    python3 tests/recipe/real/reach.py --sooth build/bin/sooth --random 10 --jobs "$sooth_jobs" &&
    python3 tests/recipe/campaign.py --sooth build/bin/sooth --seeds "${SOOTH_RECIPE_SEEDS:-500}" --first-seed "${SOOTH_SEED:-$(date +%Y%m%d)}" --jobs "$sooth_jobs" &&
    python3 tests/recipe/campaign.py --sooth build/bin/sooth --language c++ --seeds "${SOOTH_RECIPE_CPP_SEEDS:-200}" --first-seed "${SOOTH_SEED:-$(date +%Y%m%d)}" --jobs "$sooth_jobs"
}

step_volume() {
  say "late races behind private work: half a second of it, five, and a minute"
  python3 tests/volume/run.py --sooth build/bin/sooth --seconds 0.5 &&
    python3 tests/volume/run.py --sooth build/bin/sooth --seconds 5 &&
    python3 tests/volume/run.py --sooth build/bin/sooth --seconds 60 --budget 1800 --case before,between,beside-1 &&
    python3 tests/campaign/run.py --sooth build/bin/sooth --programs "${SOOTH_CAMPAIGN_PROGRAMS:-1000}" --first-seed "${SOOTH_SEED:-$(date +%Y%m%d)}" --thin-from 1 --jobs "$sooth_jobs"
}

# Random programs against all interleavings of their models: nothing that `sooth run` says is false; and, of many more with locks of all kinds,
# nothing that is predicted from one recording.
step_campaign() {
  sooth_configure release
  sooth_build release
  python3 tests/campaign/explore_test.py --seeds 400 &&
    python3 tests/campaign/run.py --sooth build/bin/sooth --quick --programs "${SOOTH_QUICK_PROGRAMS:-5000}" --first-seed "${SOOTH_SEED:-$(date +%Y%m%d)}" \
      --features rw,chain,try,timed,scoped,recursive --jobs "$sooth_jobs" &&
    python3 tests/campaign/run.py --sooth build/bin/sooth --programs "${SOOTH_CAMPAIGN_PROGRAMS:-2000}" --first-seed "${SOOTH_SEED:-$(date +%Y%m%d)}" --deep --jobs "$sooth_jobs"
}

# Programs with one known bug each: the table of docs/schedule-testing.md as it is today.
step_bugs() {
  sooth_configure release
  sooth_build release sooth
  python3 tests/bugs/run.py --sooth build/bin/sooth --jobs "$sooth_jobs"
  python3 tests/atomicity/run.py --sooth build/bin/sooth --all
}

# 77: the sources cannot be had, so there is nothing to judge.
step_real_programs() {
  sooth_configure release
  sooth_build release
  local status=0
  scripts/real-programs.sh || status=$?
  ((status == 0 || status == 77))
}

# A full `sooth run` on pbzip2 and zstd within its budget, memory bounded, results unchanged.
step_real_run() {
  sooth_configure release
  sooth_build release
  local status=0
  python3 scripts/bench.py real || status=$?
  ((status == 0 || status == 77))
}

# Many more moments to disturb `sooth run` at than scripts/test.sh has.
step_chaos() {
  sooth_configure release
  sooth_build release sooth
  python3 tests/cli/chaos.py build/bin/sooth --cases "${SOOTH_CHAOS:-600}" --seed "${SOOTH_SEED:-$(date +%Y%m%d)}"
}

# A program that runs on and on, ten minutes under each analysis: memory stays where it is.
step_soak() {
  sooth_configure release
  sooth_build release sooth
  python3 tests/soak/run.py --sooth build/bin/sooth --seconds "${SOOTH_SOAK_SECONDS:-600}"
}

# Beside ThreadSanitizer, Helgrind and DRD; prints the table of docs/comparison.md.
step_compare() {
  sooth_configure release
  sooth_build release sooth
  scripts/compare.sh --fresh --jobs "$sooth_jobs"
}

# What missing synchronisation costs each analysis; rdit must raise no false alarm.
step_rdit() {
  sooth_configure release
  sooth_build release
  local status=0
  for level in 0 1; do
    python3 scripts/bench.py rdit --level "$level" --real || status=1
  done
  return "$status"
}

# Packages, archive and container, made and tried on bare systems. 77: this machine cannot make one.
step_release() {
  local status=0
  scripts/release.sh && scripts/try-release.sh || status=$?
  ((status == 0 || status == 77))
}

# The extension in a real VS Code.
step_vscode() { scripts/try-vscode.sh; }

# The recipe for Bazel. 77: there is no Bazel of the version that it is for.
step_bazel() {
  (sooth_setup bazel) || true  # says itself what could not be installed
  sooth_configure release
  sooth_build release sooth
  local status=0
  python3 tests/integration/bazel_project.py build/bin/sooth || status=$?
  ((status == 0 || status == 77))
}

# How large witnesses are, over the examples: docs/witnesses.md has the table.
step_witness_sizes() {
  sooth_configure release
  sooth_build release sooth
  python3 scripts/witness_sizes.py
}

step_bench() { scripts/bench.sh; }

steps=(test properties asan fuzz parsers deep_code tsan debug clang tidy small programs run_command union plain following sweep confirm recipe campaign volume bugs real_programs real_run chaos soak compare rdit release vscode bazel witness_sizes bench)
(($# == 0)) || steps=("$@")
for step in "${steps[@]}"; do
  declare -F "step_$step" >/dev/null || sooth_fail "there is no step '$step'"
done
sooth_setup build test nightly

passed=0
failed=()
for step in "${steps[@]}"; do
  printf '\n=== %s\n' "$step"
  # In a subshell, because sooth_configure and sooth_build end the shell when they fail.
  if ("step_$step"); then
    passed=$((passed + 1))
  else
    failed+=("$step")
  fi
done
printf '\n'
((${#failed[@]} == 0)) || printf 'FAILED   %s\n' "${failed[@]}"
echo "$passed passed, ${#failed[@]} failed"
((${#failed[@]} == 0))
