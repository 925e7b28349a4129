#!/usr/bin/env python3
"""How many runs a second `sooth test` makes with each strategy, beside the program alone, and with more of them at a time.

    scripts/bench.py schedules [--programs lost_wakeup,two_counters] [--runs 200] [--jobs 1,2]

Programs are right twins of tests/bugs, so that every run goes to its end; they run for milliseconds, most of which is starting. The program alone is the same binary without
instrumentation, started as often from one process. Runs a second are of the wall clock; beside them stands the processor time of a run, which other work on the machine changes less: sooth's, and that of
the program alone.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ["lost_wakeup", "two_counters", "peterson_order", "rwlock_upgrade"]
STRATEGIES = ["random", "pct:3", "pos", "surw", "rff", "directed", "auto"]


def must(command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 66):
        sys.exit(f"`{' '.join(map(str, command))}` ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")


def cost(work):
    """(seconds, seconds of processor time of what it starts)."""
    wall, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Sum:
    def __init__(self):
        self.runs, self.wall, self.cpu = 0, 0.0, 0.0

    def add(self, runs, spent):
        self.runs, self.wall, self.cpu = self.runs + runs, self.wall + spent[0], self.cpu + spent[1]

    def per_second(self):
        return self.runs / self.wall

    def milliseconds(self):
        return 1000 * self.cpu / self.runs


def measure(options, scratch):
    native, sums = Sum(), {}
    for name in options.programs:
        source = ROOT / "tests/bugs" / f"{name}_fixed.cc"
        plain, made = scratch / f"{name}.plain", scratch / name
        flags = ["-std=c++20", "-g", "-O1", "-pthread", source, "-o"]
        must([options.compiler, *flags, plain])
        must([options.sooth, "c++", *flags, made])
        native.add(options.runs, cost(lambda program=plain: [must([program]) for _ in range(options.runs)]))
        for strategy in options.strategies:
            for jobs in options.jobs:
                command = [options.sooth, "test", "--strategy", strategy, "--runs", options.runs, "--jobs", jobs, "--", made]
                sums.setdefault((strategy, jobs), Sum()).add(options.runs, cost(lambda words=command: must(words)))
    return native, sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, required=True)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--programs", type=lambda text: text.split(","), default=PROGRAMS, help="of tests/bugs, without _fixed")
    parser.add_argument("--strategies", type=lambda text: text.split(","), default=STRATEGIES)
    parser.add_argument("--runs", type=int, default=200, help="of each program and strategy")
    parser.add_argument("--jobs", type=lambda text: [int(word) for word in text.split(",")], default=sorted({1, os.cpu_count()}))
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="sooth-schedules-") as scratch:
        native, sums = measure(options, pathlib.Path(scratch))
    first = options.jobs[0]
    table = tables.Printed("strategy", *(f">runs/s, --jobs {jobs}" for jobs in options.jobs), *(f">{jobs} to {first}" for jobs in options.jobs[1:]), ">ms of CPU a run", ">of the program alone")
    table.row("the program alone", f"{native.per_second():.0f}", *("" for _ in range(2 * len(options.jobs) - 2)), f"{native.milliseconds():.1f}", "1.0")
    for strategy in options.strategies:
        one = sums[strategy, first]
        table.row(strategy, *(f"{sums[strategy, jobs].per_second():.0f}" for jobs in options.jobs), *(f"{sums[strategy, jobs].per_second() / one.per_second():.2f}" for jobs in options.jobs[1:]),
                  f"{one.milliseconds():.1f}", f"{one.milliseconds() / native.milliseconds():.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
