#!/usr/bin/env python3
"""The benchmark behind scripts/bench.sh: generates traces, runs `sooth analyze` over them, prints a table and the goals.

Everything compared is measured in one run of this script, so ratios do not depend on the machine. To measure another
analysis, add a row to ANALYSES; to promise something of it, a row to GOALS.
"""
import argparse
import collections
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import measured
import tables

MILLION = 1_000_000

# The analyses themselves, without the search for witnesses that follows them.
NO_WITNESSES = ["--witness-events", "0"]

# `source`: the trace it reads, `directory` (ours) or `text` (STD). `largest`: longer traces are left out.
Analysis = collections.namedtuple("Analysis", "name arguments source largest")
ANALYSES = [
    Analysis("decode only", ["--with", "none"], "directory", 100 * MILLION),
    Analysis("hb", ["--with", "hb", *NO_WITNESSES], "directory", 100 * MILLION),
    Analysis("wcp", ["--with", "wcp", *NO_WITNESSES], "directory", 100 * MILLION),
    Analysis("syncp", ["--with", "syncp", *NO_WITNESSES], "directory", 10 * MILLION),
    Analysis("lockset", ["--with", "lockset", *NO_WITNESSES], "directory", 10 * MILLION),
    Analysis("hybrid", ["--with", "hybrid", *NO_WITNESSES], "directory", 10 * MILLION),
    Analysis("ipa", ["--with", "ipa", *NO_WITNESSES], "directory", 10 * MILLION),
    Analysis("hybrid,ipa", ["--with", "hybrid,ipa", *NO_WITNESSES], "directory", 10 * MILLION),
    Analysis("atomicity", ["--with", "atomicity", *NO_WITNESSES], "directory", 10 * MILLION),
    Analysis("text import", ["--with", "none"], "text", 10 * MILLION),
]
BASELINE = "decode only"  # what ratios are ratios to

EVENTS = [1 * MILLION, 10 * MILLION, 100 * MILLION]
THREADS = [4, 16, 64]
QUICK_LARGEST = 10 * MILLION
TYPICAL_THREADS = 16  # goals about speed are about traces of so many threads

# The rest of the trace's shape.
SHAPE = ["--locks", "16", "--vars", "1000", "--sites", "200", "--racy", "100", "--seed", "1"]


def repetitions(events):
    return 1 if events >= 100 * MILLION else 3


Measurement = collections.namedtuple("Measurement", "seconds peak_bytes")


class Results:
    """Measurements by (analysis, events, threads)."""

    def __init__(self):
        self.rows = {}
        self.queues = {}  # by (events, threads): lines of --stats

    def seconds(self, name, events, threads=TYPICAL_THREADS):
        return self.rows[name, events, threads].seconds

    def rate(self, name, threads=TYPICAL_THREADS):
        """Millions of events per second on the 10M trace, long enough to drown the start of the process."""
        return 10 / self.seconds(name, 10 * MILLION, threads)

    def ratio(self, name, events, threads=TYPICAL_THREADS):
        return self.seconds(name, events, threads) / self.seconds(BASELINE, events, threads)

    def ratio_of(self, name, other, events, threads=TYPICAL_THREADS):
        return self.seconds(name, events, threads) / self.seconds(other, events, threads)

    def growth(self, name):
        """Time for 100M events over time for 10M; the worst of all thread counts."""
        return max(self.seconds(name, 100 * MILLION, t) / self.seconds(name, 10 * MILLION, t) for t in THREADS)

    def memory_growth(self, name):
        return max(self.rows[name, 100 * MILLION, t].peak_bytes / self.rows[name, 10 * MILLION, t].peak_bytes
                   for t in THREADS)


# What is promised, how it is measured (KeyError: this run did not), and the bound; "<=" or ">=".
Goal = collections.namedtuple("Goal", "promise measure relation bound unit")
GOALS = [
    Goal("hb costs at most 3 times decoding (10M, 16 threads)", lambda r: r.ratio("hb", 10 * MILLION), "<=", 3, "x"),
    Goal("hb costs at most 3 times decoding (100M, 16 threads)", lambda r: r.ratio("hb", 100 * MILLION), "<=", 3, "x"),
    Goal("decoding grows at most 11 times from 10M to 100M", lambda r: r.growth("decode only"), "<=", 11, "x"),
    Goal("hb grows at most 11 times from 10M to 100M", lambda r: r.growth("hb"), "<=", 11, "x"),
    Goal("memory of hb grows at most 1.3 times from 10M to 100M", lambda r: r.memory_growth("hb"), "<=", 1.3, "x"),
    Goal("decoding reads 100 million events a second", lambda r: r.rate("decode only"), ">=", 100, " M/s"),
    Goal("hb analyses 30 million events a second", lambda r: r.rate("hb"), ">=", 30, " M/s"),
    Goal("wcp costs at most 8 times decoding (10M, 16 threads)", lambda r: r.ratio("wcp", 10 * MILLION), "<=", 8, "x"),
    Goal("wcp costs at most 3 times hb (10M, 16 threads)", lambda r: r.ratio_of("wcp", "hb", 10 * MILLION), "<=", 3, "x"),
    Goal("wcp grows at most 11 times from 10M to 100M", lambda r: r.growth("wcp"), "<=", 11, "x"),
    Goal("wcp analyses 10 million events a second", lambda r: r.rate("wcp"), ">=", 10, " M/s"),
    Goal("wcp finishes 10M events of 64 threads, in seconds", lambda r: r.seconds("wcp", 10 * MILLION, 64), "<=", 600, " s"),
    Goal("hybrid,ipa costs at most twice hybrid (10M, 16 threads)", lambda r: r.ratio_of("hybrid,ipa", "hybrid", 10 * MILLION), "<=", 2, "x"),
    Goal("syncp costs at most 10 times wcp (10M, 16 threads)", lambda r: r.ratio_of("syncp", "wcp", 10 * MILLION), "<=", 10, "x"),
    Goal("text is read at 5 million lines a second", lambda r: r.rate("text import"), ">=", 5, " M/s"),
]


def run(command):
    it = measured.run(command)
    return Measurement(it.wall, it.peak_bytes)


def wcp_queues(sooth, trace):
    """What --stats says of the queues of WCP: their largest total length, and what is left at the end."""
    command = [sooth, "analyze", trace, "--with", "wcp", "--stats", *NO_WITNESSES, "--fail-on", "never"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [" ".join(line.split()) for line in lines if "queue lengths" in line or "sections kept" in line]


def measure(sooth, scratch, events, threads, results):
    """All analyses on one generated trace, in turns, so that a slow moment of the machine hits all of them."""
    analyses = [a for a in ANALYSES if events <= a.largest]
    paths = {"directory": os.path.join(scratch, "trace"), "text": os.path.join(scratch, "trace.std")}
    for source in sorted({a.source for a in analyses}):
        run([sooth, "trace", "gen", "--events", str(events), "--threads", str(threads), *SHAPE, "-o", paths[source],
             *(["--format", "std"] if source == "text" else [])])
    samples = collections.defaultdict(list)
    for _ in range(repetitions(events)):
        for a in analyses:
            samples[a.name].append(run([sooth, "analyze", paths[a.source], *a.arguments, "--fail-on", "never"]))
    for name, runs in samples.items():
        results.rows[name, events, threads] = Measurement(statistics.median(m.seconds for m in runs),
                                                          max(m.peak_bytes for m in runs))
    if events <= 10 * MILLION:
        results.queues[events, threads] = wcp_queues(sooth, paths["directory"])
    shutil.rmtree(paths["directory"], ignore_errors=True)
    if os.path.exists(paths["text"]):
        os.remove(paths["text"])


def print_table(results):
    table = tables.Printed(">events", ">threads", "analysis", ">seconds", ">M events/s", ">x decode", ">peak memory")
    for (name, events, threads), m in results.rows.items():
        table.row(f"{events // MILLION}M", threads, name, f"{m.seconds:.2f}", f"{events / m.seconds / MILLION:.1f}",
                  f"{results.ratio(name, events, threads):.2f}", f"{m.peak_bytes / 2**20:.0f} MB")


def print_goals(results):
    """True when every goal that was measured is met."""
    met = True
    for goal in GOALS:
        try:
            value = goal.measure(results)
        except KeyError:
            print(f"  -      {goal.promise}: not measured by this run")
            continue
        ok = value <= goal.bound if goal.relation == "<=" else value >= goal.bound
        met = met and ok
        tables.goal(ok, f"{goal.promise}: {value:.2f}{goal.unit}")
    return met


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="no trace above 10 million events")
    parser.add_argument("--sooth", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leave through the end of `with`, which cleans up
    os.makedirs(options.scratch, exist_ok=True)
    results = Results()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        for events in EVENTS:
            if options.quick and events > QUICK_LARGEST:
                continue
            for threads in THREADS:
                print(f"measuring {events // MILLION}M events, {threads} threads", file=sys.stderr)
                measure(options.sooth, scratch, events, threads, results)
    print(f"{cpu_model()}, {os.cpu_count()} cores; median of 3 runs, 100M events: one run\n")
    print_table(results)
    print()
    for (events, threads), lines in results.queues.items():
        print(f"{events // MILLION}M events, {threads} threads: {'; '.join(lines)}")
    print()
    return 0 if print_goals(results) else 1


if __name__ == "__main__":
    sys.exit(main())
