#!/usr/bin/env python3
"""What IPA makes of the pairs of hybrid in recorded programs: the shape of Table V of the paper, and what it costs.

    scripts/bench.py ipa [--work build/real-programs] [--runs N] [--examples | --calls] [--doc docs/ipa.md]

Records the examples, pbzip2 and zstd (--examples: not these two), and prints for each how many pairs of sites hybrid reports, how many
of them are in the upper bound (ipa:1) and the lower (ipa:2), how many have a witness that the checker accepts, and how many `sooth
confirm` brings about; `-` when this sooth cannot. Times are processor time of the whole command, without the search for witnesses, the
median of five runs in turns. --calls prints instead how many calls the search makes per lock event of generated traces. --doc puts the
table between its marks there. Exits with 1 when a goal is missed.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import measured
import recorded_programs
import tables

MOST_MORE = 1.10  # what ipa may add to hybrid on recorded programs
MOST_GROWTH = 1.5  # of calls per lock event, over the shortest trace
LOCK_EVENTS = [10_000, 100_000, 1_000_000]
CONFIRM_TRIALS = 20
TIME_LIMIT = 600

Row = collections.namedtuple("Row", "program events locks hybrid upper lower checked confirmed hybrid_seconds both_seconds ratio")
HEADINGS = Row("program", "events", "lock events", "hybrid", "ipa:1", "ipa:2", "checked", "confirmed", "hybrid, s", "hybrid,ipa, s", "ratio")


def analyze(sooth, trace, names, *flags):
    return [sooth, "analyze", str(trace), "--with", names, "--fail-on", "never", *flags]


def must(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT)
    if done.returncode != 0:
        sys.exit(f"ipa.py: `{' '.join(command)}` ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def compare(sooth, trace, runs):
    """Medians of hybrid and of hybrid,ipa, in turns so that a slow moment of the machine hits both."""
    commands = [analyze(sooth, trace, names, "--witness-events", "0") for names in ("hybrid", "hybrid,ipa")]
    samples = [[measured.run(command).cpu for command in commands] for _ in range(runs)]
    return tuple(statistics.median(column) for column in zip(*samples))


def can_confirm(sooth):
    """Whether this sooth has the command: without it, --help explains the others."""
    done = subprocess.run([sooth, "confirm", "--help"], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode == 0 and "sooth confirm" in done.stdout


def races_of(report):
    return [finding for finding in report["findings"] if finding["kind"] == "race"]


def count_confirmed(sooth, report_file, command, scratch):
    """Races of ipa that a controlled run brought about, as a string."""
    output = scratch / "confirmed.json"
    done = subprocess.run([sooth, "confirm", str(report_file), "--trials", str(CONFIRM_TRIALS), "--format", "json", "-o", str(output), "--",
                           *command], check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT)
    if done.returncode not in (0, 66) or not output.exists():
        return "?"
    races = races_of(json.loads(output.read_text(encoding="utf-8")))
    return str(sum(race["rung"] in ("confirmed", "harmful") and "ipa" in race["found_by"] for race in races))


def measure(sooth, recording, scratch, runs, confirm):
    bounds = json.loads(must(analyze(sooth, recording.trace, "hybrid,ipa:1,ipa:2", "--witness-events", "0", "--format", "json", "--stats")))
    races = {name: str(bounds["stats"]["analyses"][name]["races"]) for name in ("hybrid", "ipa:1", "ipa:2")}
    report_file = scratch / "report.json"
    must(analyze(sooth, recording.trace, "ipa", "--format", "json", "-o", str(report_file)))
    found = races_of(json.loads(report_file.read_text(encoding="utf-8")))
    checked = sum(race.get("witness", {}).get("status") == "checked" for race in found)
    confirmed = count_confirmed(sooth, report_file, recording.command, scratch) if confirm else "-"
    info = recorded_programs.trace_info(sooth, recording.trace)
    hybrid, both = compare(sooth, recording.trace, runs)
    locks = sum(info["kinds"].get(kind, 0) for kind in ("acquire", "release"))
    return Row(recording.name, f"{info['events']:,}", f"{locks:,}", races["hybrid"], races["ipa:1"], races["ipa:2"], str(checked), confirmed,
               f"{hybrid:.3f}", f"{both:.3f}", f"{both / hybrid:.2f}x")


def table(rows):
    return tables.render([HEADINGS[0], *(">" + heading for heading in HEADINGS[1:])], rows)


def measure_calls(sooth, scratch):
    """The table of calls per lock event, and whether they are linear. Sections are nested two deep."""
    rows, rates = [], []
    for wanted in LOCK_EVENTS:
        trace = scratch / "generated"
        must([sooth, "trace", "gen", "--events", str(5 * wanted), "--threads", "4", "--locks", "16", "--nesting", "2", "--vars", "1000", "--sites", "200",
              "--racy", "2000", "--seed", "1", "-o", str(trace)])
        report = json.loads(must(analyze(sooth, trace, "ipa", "--witness-events", "0", "--format", "json", "--stats")))
        shutil.rmtree(trace)
        figures = {name: int(value) for name, value in report["stats"]["analyses"]["ipa"]["extra"]}
        rates.append(figures["calls"] / figures["lock events"])
        rows.append([*(f"{figures[name]:,}" for name in ("lock events", "searched", "potential calls", "calls")), f"{rates[-1]:.3f}", f"{figures['calls without reuse']:,}"])
    return tables.render([">lock events", ">searched", ">potential calls", ">calls", ">per lock event", ">without reuse"], rows), max(rates) / rates[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--work", default="build/real-programs", help="sources and binaries of the real programs stay there")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--examples", action="store_true", help="no real programs")
    parser.add_argument("--calls", action="store_true", help="calls per lock event of generated traces")
    parser.add_argument("--doc", help="put the table into this document")
    options = parser.parse_args()
    if options.calls:
        with tempfile.TemporaryDirectory() as folder:
            text, growth = measure_calls(options.sooth, pathlib.Path(folder))
        print(text)
        if options.doc:
            tables.put_into(options.doc, "ipa-calls", text)
        print()
        tables.goal(growth <= MOST_GROWTH, f"calls of ipa per lock event grow at most {MOST_GROWTH} times: {growth:.2f}x")
        return 0 if growth <= MOST_GROWTH else 1
    confirm = can_confirm(options.sooth)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for recording in recorded_programs.recordings(options.sooth, options.work, scratch, real=not options.examples):
            rows.append(measure(options.sooth, recording, scratch, options.runs, confirm))
            print(f"measured {recording.name}", file=sys.stderr)
    print(table(rows))
    if options.doc:
        tables.put_into(options.doc, "ipa-table", table(rows))
    seconds = [sum(float(row[column]) for row in rows) for column in (HEADINGS.index("hybrid, s"), HEADINGS.index("hybrid,ipa, s"))]
    ratio = seconds[1] / seconds[0]
    print()
    tables.goal(ratio <= MOST_MORE, f"hybrid,ipa costs at most 10% more than hybrid on recorded programs, all together: {ratio:.3f}x")
    return 0 if ratio <= MOST_MORE else 1


if __name__ == "__main__":
    sys.exit(main())
