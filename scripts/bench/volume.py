#!/usr/bin/env python3
"""What the analyses cost on recordings of real programs and on large working sets; for scripts/bench.sh.

Processor time and peak memory; ratios are to the decode-only pass in the same run. Two parts:
  recordings   zstd, pbzip2 (from the distribution's sources) and a program that allocates all the time
  generated    traces in which everything is shared, with few and with ten million variables
How they grow: growth.py.
"""
import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import measured
import program_sources
import recorded_programs
import tables

MILLION = 1_000_000
ANALYSES = ["none", "hb", "wcp", "syncp", "hybrid", "ipa", "hb,wcp,syncp,deadlock"]
ALL = ANALYSES[-1]
RECORDED = {"zstd": 2_000_000, "pbzip2": 1_000_000}  # bytes of input
Row = collections.namedtuple("Row", "cpu peak_bytes")

# Name, arguments of `sooth trace gen`, analyses. Everything in these traces is shared.
GENERATED = [
    ("1,000 variables", ["--events", "10M", "--threads", "16", "--locks", "16", "--vars", "1000"], ["none", "hb", "wcp"]),
    ("10 M variables", ["--events", "10M", "--threads", "16", "--locks", "16", "--vars", "10M"], ["none", "hb", "wcp"]),
]
Goal = collections.namedtuple("Goal", "promise measure relation bound unit")


def goals():
    for name in [*RECORDED, "objects"]:
        yield Goal(f"hb costs at most twice decoding ({name})", lambda r, n=name: r.ratio(n, "hb"), "<=", 2, "x")
        yield Goal(f"wcp costs at most 3 times decoding ({name})", lambda r, n=name: r.ratio(n, "wcp"), "<=", 3, "x")
        yield Goal(f"{ALL} read 20 million events a second ({name})", lambda r, n=name: r.rate(n, ALL), ">=", 20, " M/s")
        yield Goal(f"{ALL} need at most 1 GB ({name})", lambda r, n=name: r.rows[n, ALL].peak_bytes / 2**30, "<=", 1, " GB")
    yield Goal("decoding reads 100 million generated events a second", lambda r: r.rate("1,000 variables", "none"), ">=", 100, " M/s")
    yield Goal("hb analyses 40 million generated events a second", lambda r: r.rate("1,000 variables", "hb"), ">=", 40, " M/s")
    yield Goal("wcp analyses 15 million generated events a second", lambda r: r.rate("1,000 variables", "wcp"), ">=", 15, " M/s")


class Results:
    """Rows by (trace, analysis), and the events of traces."""

    def __init__(self):
        self.rows, self.events = {}, {}

    def ratio(self, trace, analysis):
        return self.rows[trace, analysis].cpu / self.rows[trace, "none"].cpu

    def rate(self, trace, analysis):
        return self.events[trace] / MILLION / self.rows[trace, analysis].cpu


def analyze(sooth, trace, analysis):
    it = measured.run([sooth, "analyze", trace, "--with", analysis, "--witness-events", "0", "--fail-on", "never"])
    return Row(it.cpu, it.peak_bytes)


def measure(sooth, name, trace, analyses, results):
    """In turns, twice: the better of two runs, so that a slow moment of the machine does not count."""
    results.events[name] = recorded_programs.trace_info(sooth, trace)["events"]
    runs = [{analysis: analyze(sooth, trace, analysis) for analysis in analyses} for _ in range(2)]
    for analysis in analyses:
        results.rows[name, analysis] = Row(min(r[analysis].cpu for r in runs), max(r[analysis].peak_bytes for r in runs))


def measure_recordings(sooth, scratch, work, results):
    commands = {}
    for name, size in RECORDED.items():
        try:
            commands[name] = recorded_programs.build_real(sooth, name, size, work)
        except program_sources.NoSources as reason:
            print(f"{name}: left out, its sources cannot be had: {reason}", file=sys.stderr)
    commands["objects"] = recorded_programs.build_example(sooth, pathlib.Path(__file__).parent / "workloads/objects.cc", scratch / "objects.bin")
    for name, command in commands.items():
        print(f"measuring the recording of {name}", file=sys.stderr)
        trace = scratch / name
        subprocess.run([sooth, "record", "--max-trace", "4G", "-o", trace, "--", *command], check=False, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        measure(sooth, name, trace, ANALYSES, results)
        shutil.rmtree(trace)


def generate(sooth, trace, arguments):
    shutil.rmtree(trace, ignore_errors=True)
    measured.run([sooth, "trace", "gen", "--sites", "200", "--racy", "100", *arguments, "-o", trace])


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="no real programs")
    parser.add_argument("--sooth", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--work", default="build/real-programs", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.makedirs(options.scratch, exist_ok=True)
    results = Results()
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        scratch = pathlib.Path(name)
        if not options.quick:
            measure_recordings(options.sooth, scratch, pathlib.Path(options.work).resolve(), results)
        for trace_name, arguments, analyses in GENERATED:
            print(f"measuring a generated trace with {trace_name}", file=sys.stderr)
            generate(options.sooth, scratch / "trace", arguments)
            measure(options.sooth, trace_name, scratch / "trace", analyses, results)
        table = tables.Printed("trace", ">events", "analysis", ">CPU s", ">M events/s", ">x decode", ">peak memory")
        for (trace_name, analysis), row in results.rows.items():
            table.row(trace_name, f"{results.events[trace_name] / MILLION:.1f}M", "decode only" if analysis == "none" else analysis, f"{row.cpu:.2f}",
                      f"{results.rate(trace_name, analysis):.1f}", f"{results.ratio(trace_name, analysis):.2f}", f"{row.peak_bytes / 2**20:.0f} MB")
    print()
    met = True
    for goal in goals():
        try:
            value = goal.measure(results)
        except KeyError:
            print(f"  -      {goal.promise}: not measured by this run")
            continue
        fine = value <= goal.bound if goal.relation == "<=" else value >= goal.bound
        met &= tables.goal(fine, f"{goal.promise}: {value:.2f}{goal.unit}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
