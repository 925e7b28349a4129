#!/usr/bin/env python3
"""What it costs to make a race happen: directed runs, campaigns, and the way from nothing to the first confirmed race.

    scripts/bench.py confirm [--quick]

Three tables: a directed run against the same program compiled plainly; controlled runs a second; and the time to the first
confirmed race of a program (`sooth test --strategy directed`), and to all of them, against 1,000 plain runs of it and against runs under
libtsan until it reports one. Exits with 1 when a goal
is missed.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CPUS = os.cpu_count() or 1

# Programs whose runs are compared: source, arguments ({} is the scratch directory), what they are bound by, and the greatest slowdown.
# Table 1 of the paper: 1.1 to 3 for programs that wait for input and output, 20 for high-performance computing.
RUNS = [
    ("tests/confirm/figure_2.cc", ["20000000"], "accesses", 40),
    ("examples/tsp.cc", [], "start of the process", 40),
    ("scripts/bench/workloads/racy_files.cc", ["{}", "200"], "disk", 3),
]
# Programs that fail by a race: source and arguments.
HUNTS = [
    ("tests/confirm/figure_1.cc", []),
    ("tests/confirm/figure_2.cc", ["5000"]),
    ("examples/bank_account_hidden.cc", []),
    ("examples/cache_cleaner.cc", []),
    ("examples/contains_all.cc", []),
]
GOAL_RATE = 20  # controlled runs of a small program a second, at least


class Bench:
    def __init__(self, sooth, scratch):
        self.sooth, self.scratch = sooth, scratch

    def run(self, words, accepted=None):
        """Seconds and status of one run, and its errors."""
        begin = time.monotonic()
        run = subprocess.run([str(w) for w in words], cwd=self.scratch, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        seconds = time.monotonic() - begin
        if accepted is not None and run.returncode not in accepted:
            sys.exit(f"bench_confirm.py: `{' '.join(map(str, words))}` ended with {run.returncode}: "
                     f"{run.stderr.decode(errors='replace')[-1000:]}")
        return seconds, run.returncode, run.stderr

    def build(self, source, kind):
        name = self.scratch / f"{pathlib.Path(source).stem}-{kind}"
        if not name.exists():
            compiler = {"plain": ["g++"], "tsan": ["g++", "-fsanitize=thread"], "sooth": [self.sooth, "c++"]}[kind]
            self.run([*compiler, "-O1", "-g", "-pthread", ROOT / source, "-o", name], accepted=[0])
        return name

    def report(self, source, arguments):
        """A report of the program, and the seconds that recording and analysing took."""
        program = self.build(source, "sooth")
        trace, report = self.scratch / "trace", self.scratch / "report.json"
        shutil.rmtree(trace, ignore_errors=True)
        recording = self.run([self.sooth, "record", "--schedule", "serial", "-o", trace, "--", program, *arguments])[0]
        analysis = self.run([self.sooth, "analyze", trace, "--with", "hb,wcp,hybrid", "--format", "json", "-o", report], accepted=[0, 66])[0]
        shutil.rmtree(trace, ignore_errors=True)
        return report, recording + analysis

    def confirm(self, report, source, arguments, *options):
        seconds = self.run([self.sooth, "confirm", report, *options, "--", self.build(source, "sooth"), *arguments], accepted=[0, 66])[0]
        return seconds, json.loads(report.read_text())


def slowdown(bench, rounds):
    """Rows of the first table, and whether the goals are met."""
    rows, met = [], True
    for source, arguments, bound, limit in RUNS:
        words = [argument.format(bench.scratch) for argument in arguments]
        small = [argument if argument != "20000000" else "1000" for argument in words]  # the trace need not be long
        report, _ = bench.report(source, small)
        plain = statistics.median(bench.run([bench.build(source, "plain"), *words])[0] for _ in range(5))
        trials = str(rounds)
        seconds, after = bench.confirm(report, source, words, "--trials", trials, "--all-trials", "--baseline-runs", "0", "--jobs", "1",
                                       "--shard", f"1/{max(1, len(json.loads(report.read_text())['findings']))}")
        runs = sum(finding.get("replay", {}).get("trials", 0) for finding in after["findings"])
        directed = seconds / max(runs, 1)
        ratio = directed / plain
        met = met and ratio <= limit
        rows.append((pathlib.Path(source).stem, bound, f"{plain:.3f}", f"{directed:.3f}", f"{ratio:.1f}", f"{limit}",
                     "ok" if ratio <= limit else "MISSED"))
    return rows, met


def rate(bench, trials):
    rows, met = [], True
    for source, arguments in (HUNTS[0], HUNTS[3]):
        for jobs in sorted({1, CPUS}):
            report, _ = bench.report(source, arguments)
            seconds, after = bench.confirm(report, source, arguments, "--trials", str(trials), "--all-trials", "--jobs", str(jobs),
                                           "--baseline-runs", "10")
            runs = 10 + sum(finding.get("replay", {}).get("trials", 0) for finding in after["findings"])
            met = met and runs / seconds >= GOAL_RATE
            rows.append((pathlib.Path(source).stem, jobs, runs, f"{seconds:.2f}", f"{runs / seconds:.0f}"))
    return rows, met


def test_until_a_race(bench, source, arguments):
    """Seconds of the shortest campaign of `sooth test` that creates a race: it does not end at the first by itself. None if none does."""
    program, result = bench.build(source, "sooth"), bench.scratch / "test.json"
    for runs in (2, 4, 8, 16, 32, 64, 128):
        seconds, _, _ = bench.run([bench.sooth, "test", "--strategy", "directed", "--runs", runs, "--format", "json", "-o", result, "--",
                                   program, *arguments], accepted=[0, 66])
        if any(race["hits"] > 0 for race in json.loads(result.read_text())["races"]):
            return seconds
    return None


def hunt(bench, plain_runs):
    rows, met = [], True
    for source, arguments in HUNTS:
        tested = test_until_a_race(bench, source, arguments)
        report, prepared = bench.report(source, arguments)
        seconds, after = bench.confirm(report, source, arguments, "--trials", "100")
        best = max((finding["rung"] for finding in after["findings"]), default="nothing",
                   key=["suspected", "predicted", "confirmed", "harmful"].index)
        met = met and best in ("confirmed", "harmful")
        plain = bench.build(source, "plain")
        begin = time.monotonic()
        failures = sum(bench.run([plain, *arguments])[1] != 0 for _ in range(plain_runs))
        plain_seconds = time.monotonic() - begin
        tsan = bench.build(source, "tsan")
        begin, reported, runs = time.monotonic(), False, 0
        while not reported and runs < plain_runs and time.monotonic() - begin < 60:
            runs += 1
            reported = b"WARNING: ThreadSanitizer: data race" in bench.run([tsan, *arguments])[2]
        tsan_text = f"{time.monotonic() - begin:.2f} s, {runs} runs" if reported else f"nothing in {runs} runs, {time.monotonic() - begin:.0f} s"
        met = met and tested is not None
        rows.append((pathlib.Path(source).stem, f"{tested:.2f} s" if tested else "none", f"{prepared + seconds:.2f} s", best, f"{failures} of {plain_runs} failed, {plain_seconds:.1f} s",
                     tsan_text))
    return rows, met


def table(title, heads, rows):
    print(f"{title}\n\n{tables.render(heads, rows)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--scratch", required=True)
    options = parser.parse_args()
    os.makedirs(options.scratch, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        bench = Bench(options.sooth, pathlib.Path(folder).resolve())
        slow, slow_met = slowdown(bench, 5 if options.quick else 10)
        table("A directed run; seconds of wall clock, with the start of the process", ("program", "bound by", "plain", "directed", "x plain", "at most", ""), slow)
        rates, rates_met = rate(bench, 50 if options.quick else 200)
        table("Campaigns", ("program", "jobs", "runs", "seconds", "runs/s"), rates)
        hunts, hunts_met = hunt(bench, 100 if options.quick else 1000)
        table("From nothing to the first confirmed race", ("program", "sooth test, one race", "record, analyze, confirm: all", "rung", "plain runs", "until libtsan reports a race"), hunts)
    for promise, met in (("a directed run takes at most so many times a plain one", slow_met),
                         (f"a campaign makes at least {GOAL_RATE} runs a second", rates_met),
                         ("each program that fails by a race has one confirmed", hunts_met)):
        tables.goal(met, promise)
    return 0 if slow_met and rates_met and hunts_met else 1


if __name__ == "__main__":
    sys.exit(main())
