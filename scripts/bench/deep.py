#!/usr/bin/env python3
"""What a deep recording costs: the programs of examples/ and two loops, built by `sooth c++ --deep`, against ThreadSanitizer of the same Clang.

    scripts/bench.py deep [--quick] [--runs N]

Processor time of the program, sooth and everything they start, the least of N runs in turns. Examples run for milliseconds, most of which is starting:
each is run again and again until it takes long enough to be measured, and the sum over all of them counts. The loops do nothing but what they
are named for, and are shown only. Exits with 1 when the goal is missed.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPILER = "clang++-19"
EXAMPLES = ["airline", "bounded_buffer", "bubble_sort", "buffered_writer", "critical", "elevator", "merge_sort", "ping_pong",
            "producer_consumer", "textbook", "tsp"]
LOOPS = {"matrix_loop": ["20"], "lock_loop": ["200000"]}
GOAL = 5  # times ThreadSanitizer


def run(command, **more):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, check=False, **more)
    return done


def must(command):
    done = run(command)
    if done.returncode != 0:
        sys.exit(f"bench_deep.py: `{' '.join(map(str, command))}` ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")


def cpu_of(command, times, before=lambda: None):
    """Seconds of processor time of so many runs."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(times):
        before()
        run(command, env={**os.environ, "TSAN_OPTIONS": "exitcode=0 report_bugs=0 atexit_sleep_ms=0"}, timeout=300)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime) / times


def build(sooth, source, scratch):
    name = scratch / source.stem
    flags = ["-std=c++20", "-g", "-O2", "-pthread"]
    must([COMPILER, *flags, source, "-o", f"{name}.plain"])
    must([COMPILER, *flags, "-fsanitize=thread", source, "-o", f"{name}.tsan"])
    must([sooth, "c++", "--deep", *flags, source, "-o", f"{name}.deep"])
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--runs", type=int, help="of each program in each mode; default 5, quick 2")
    options, _ = parser.parse_known_args()
    runs = options.runs or (2 if options.quick else 5)
    scratch = options.scratch.absolute() / "deep"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    trace = scratch / "trace"
    totals = {"plain": 0.0, "tsan": 0.0, "deep": 0.0}
    print("Milliseconds of processor time:\n")
    table = tables.Printed("program", ">plain", ">tsan", ">deep", ">deep/tsan")
    for source in [ROOT / "examples" / f"{name}.cc" for name in EXAMPLES] + [ROOT / "scripts/bench/workloads" / f"{name}.cc" for name in LOOPS]:
        name = build(options.sooth, source, scratch)
        arguments = LOOPS.get(source.stem, [])
        commands = {"plain": [f"{name}.plain", *arguments], "tsan": [f"{name}.tsan", *arguments],
                    "deep": [options.sooth, "record", "--schedule", "serial", "-o", trace, "--", f"{name}.deep", *arguments]}
        times = 1 if source.stem in LOOPS else 5
        costs = {mode: min(cpu_of(command, times, lambda: shutil.rmtree(trace, ignore_errors=True)) for _ in range(runs))
                 for mode, command in commands.items()}
        table.row(source.stem, *(f"{1000 * costs[mode]:.1f}" for mode in totals), f"{costs['deep'] / costs['tsan']:.1f}")
        if source.stem not in LOOPS:
            for mode, cost in costs.items():
                totals[mode] += cost
    ratio = totals["deep"] / totals["tsan"]
    table.row("all examples", *(f"{1000 * cost:.1f}" for cost in totals.values()), f"{ratio:.1f}")
    print()
    return 0 if tables.goal(ratio <= GOAL, f"deep recording of the examples takes at most {GOAL} times the processor time of ThreadSanitizer: {ratio:.2f}") else 1


if __name__ == "__main__":
    sys.exit(main())
