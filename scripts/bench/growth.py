#!/usr/bin/env python3
"""How time and memory of the analyses grow: with events, threads, locks, nesting and accesses to one hot racy variable; for scripts/bench.sh.

Each row is one shape of generated trace, made with so many events and with several times as many: processor time for each event must not grow
with their number. The rows on `events` are also about memory, which must not grow at all. --long has a row with 1,000 million events.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import measured
import tables

MILLION = 1_000_000
ANALYSES = ["hb", "wcp", "syncp", "deadlock"]
STARTING = 0.02  # seconds that any run takes; shorter ones tell nothing
MORE_TIME = 1.5  # for each event of the longer trace, as a multiple; times of a busy machine vary so much
MORE_MEMORY = 1.3
SMALL = 32 * MILLION  # bytes; growth below this is not looked at


def shape(events, threads=8, locks=16, variables=1000, nesting=1, racy=100):
    return {"--events": events, "--threads": threads, "--locks": locks, "--vars": variables, "--nesting": nesting, "--racy": racy}


def shapes(quick, long):
    """What grows, its value, the traces in order of length."""
    lengths = [MILLION, 10 * MILLION] if quick else [10 * MILLION, 100 * MILLION, *([1000 * MILLION] if long else [])]
    yield "events", "", [shape(n) for n in lengths]
    short = [MILLION // 4, MILLION] if quick else [MILLION, 4 * MILLION]
    for threads in (2, 32, 1024):
        yield "threads", threads, [shape(n, threads=threads) for n in short]
    for locks in (16, 1000, 100_000):
        yield "locks", locks, [shape(n, locks=locks, variables=max(1000, locks)) for n in short]
    for nesting in (1, 4, 8, 16):
        yield "nesting, 64 locks", nesting, [shape(n, locks=64, nesting=nesting) for n in short]
    for threads in (2, 64, 1024):
        yield "threads on one hot racy variable", threads, [shape(n, threads=threads, locks=1, variables=1, racy=MILLION) for n in (MILLION // 4, MILLION)]


def measure(sooth, traces, analyses):
    """By analysis: (events, seconds, bytes) of each trace."""
    figures = {analysis: [] for analysis in analyses}
    for trace, made in traces:
        for analysis in analyses:
            it = measured.run([sooth, "analyze", trace, "--with", analysis, "--witness-events", "0", "--fail-on", "never"])
            figures[analysis].append((made["--events"], it.cpu, it.peak_bytes))
    return figures


def verdict(what, figures):
    """Whether time is linear in events, and memory as the shape promises."""
    (first_events, first_seconds, first_bytes), (events, seconds, peak) = figures[0], figures[-1]
    slower = (seconds / events) > MORE_TIME * max(first_seconds, STARTING) / first_events
    larger = what == "events" and peak > SMALL and peak > MORE_MEMORY * first_bytes
    return [word for word, bad in (("time", slower), ("memory", larger)) if bad]


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench.py growth", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short traces")
    parser.add_argument("--long", action="store_true", help="1,000 million events, too")
    parser.add_argument("--only", default="", help="what grows: rows whose name begins with this")
    parser.add_argument("--with", dest="analyses", default=",".join(ANALYSES), help="analyses, each for itself")
    parser.add_argument("--sooth", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.makedirs(options.scratch, exist_ok=True)
    missed = []
    table = tables.Printed("what grows", ">value", "analysis", ">M events", ">CPU s", ">ns for an event", ">peak MB")
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        for what, value, made in shapes(options.quick, options.long):
            if not what.startswith(options.only):
                continue
            traces = []
            for number, each in enumerate(made):
                trace = pathlib.Path(name) / str(number)
                arguments = [str(word) for option in each.items() for word in option]
                measured.run([options.sooth, "trace", "gen", "--sites", "200", *arguments, "-o", trace])
                traces.append((trace, each))
            for analysis, figures in measure(options.sooth, traces, options.analyses.split(",")).items():
                columns = zip(*figures)
                events, seconds, peaks = (list(column) for column in columns)
                table.row(what, value, analysis, ", ".join(f"{n / MILLION:g}" for n in events), ", ".join(f"{s:.2f}" for s in seconds),
                          ", ".join(f"{s / n * 1e9:.0f}" for s, n in zip(seconds, events)), ", ".join(f"{p / 2**20:.0f}" for p in peaks))
                missed += [f"{what} {value}, {analysis}: {which}" for which in verdict(what, figures)]
            for trace, _ in traces:
                shutil.rmtree(trace)
    print()
    tables.goal(not missed, "no time for an event grows with the number of events, and no memory" + "".join(f"\n         {each}" for each in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
