#!/usr/bin/env python3
"""Records and analyses real programs; scripts/real-programs.sh calls it and says what it is for.

A program whose sources cannot be had is skipped; when there is none left the exit status is 77.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import program_sources
import tables
from program_sources import PROGRAMS, Failure, NoSources, run

# Witnesses are searched in so many events from the start; the analyses themselves read everything.
WITNESS_EVENTS = 1_000_000

Row = collections.namedtuple("Row", "program schedule events bytes_per_event plain recorded analysis hb wcp")
HEADINGS = Row("program", "schedule", "events", "bytes/event", "plain s", "recorded s", "analysis s", "hb", "wcp")


class Subject:
    """One program, built twice, on data of one size."""

    def __init__(self, sooth, program, home, size, binaries):
        self.sooth, self.program, self.home, self.binaries = sooth, program, home, binaries
        self.data = home / f"data-{size}.txt"
        program_sources.make_data(self.data, size)
        self.expected = home / f"plain-{size}.out"
        self.plain_seconds = self._timed([], binaries["plain"], self.expected)

    def _timed(self, prefix, binary, output):
        command, sink = program_sources.command_line(self.program, binary, self.data, output)
        begin = time.monotonic()
        run([*prefix, *command], output=sink)
        return time.monotonic() - begin

    def judge(self, schedule):
        """Records and analyses. The row of the table, and a line for each race."""
        trace = self.home / f"trace-{schedule}"
        shutil.rmtree(trace, ignore_errors=True)
        output = self.home / f"recorded-{schedule}.out"
        prefix = [self.sooth, "record", "--schedule", schedule, "-o", trace, "--"]
        seconds = self._timed(prefix, self.binaries["recorded"], output)
        if self.expected.read_bytes() != output.read_bytes():
            raise Failure(f"recorded with --schedule {schedule} its result is another than without recording")
        run([self.sooth, "trace", "check", trace])
        begin = time.monotonic()
        report = json.loads(run([self.sooth, "analyze", trace, "--with", "hb,wcp", "--witness-events", WITNESS_EVENTS,
                                 "--format", "json", "--fail-on", "never"]))
        analysis = time.monotonic() - begin
        events = report["stats"]["events"]
        size = sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())
        shutil.rmtree(trace)
        races = [finding for finding in report["findings"] if finding["kind"] == "race"]
        count = {name: sum(name in finding["found_by"] for finding in races) for name in ("hb", "wcp")}
        row = Row(self.program.name, schedule, f"{events:,}", f"{size / max(events, 1):.2f}", f"{self.plain_seconds:.2f}",
                  f"{seconds:.2f}", f"{analysis:.1f}", str(count["hb"]), str(count["wcp"]))
        return row, sorted({describe(self.program, finding) for finding in races})


def describe(program, finding):
    sites = sorted(spell(access["site"]) for access in finding["accesses"])
    return f"  {program.name}: {finding['rung']} ({', '.join(finding['found_by'])}) {' | '.join(sites)}"


def spell(site):
    return f"{pathlib.Path(site['file']).name}:{site['line']}" if site.get("file") else site.get("label", "?")


def judge_program(sooth, program, folders, work):
    """Rows and lines of all recordings of a program."""
    home = work / program.name
    compilers = {"plain": (["gcc"], ["g++"]), "recorded": ([sooth, "cc"], [sooth, "c++"])}
    binaries = {name: program_sources.compile_program(program, folders, pair, home / name)
                for name, pair in compilers.items()}
    results = [Subject(sooth, program, home, program.size, binaries).judge("os")]
    if program.serial_size is not None:
        results.append(Subject(sooth, program, home, program.serial_size, binaries).judge("serial"))
    return results


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/real-programs.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--sooth", required=True, type=os.path.abspath, help=argparse.SUPPRESS)
    parser.add_argument("--work", required=True, type=lambda name: pathlib.Path(name).resolve(), help=argparse.SUPPRESS)
    names = [program.name for program in PROGRAMS]
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; all by default: " + ", ".join(names))
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(names))
    if unknown:
        parser.error(f"there is no program {unknown[0]}; there are {', '.join(names)}")
    return options


def main():
    options = parse_arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    archive = program_sources.Archive(options.work)
    rows, details, passed, skipped, failed = [], [], 0, 0, 0
    for program in PROGRAMS:
        if options.names and program.name not in options.names:
            continue
        try:
            folders = program_sources.fetch_all(program, archive)
            for row, lines in judge_program(options.sooth, program, folders, options.work):
                rows.append(row)
                details += lines
            passed += 1
        except NoSources as reason:
            print(f"{program.name}: skipped, its sources cannot be had: {reason}", flush=True)
            skipped += 1
        except (Failure, OSError, subprocess.TimeoutExpired, json.JSONDecodeError, KeyError) as failure:
            print(f"{program.name}: {failure!s}", flush=True)
            failed += 1
    print(tables.render([*HEADINGS[:2], *(">" + heading for heading in HEADINGS[2:])], rows))
    if details:
        print("\n".join(details))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 77 if passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
