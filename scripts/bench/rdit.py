#!/usr/bin/env python3
"""What a missing part of a trace costs each analysis: the evaluation of RDIT (Section 5.2 of the thesis), with our programs.

Each program is recorded once. What happens-before or maximal causality finds in the full trace are the true races. Then the
synchronisation is dropped from the trace, with calls around the functions that contained it (`sooth trace drop
--functions-with-sync`). `hb`, `cp` and `mcm` read what is left without the calls, `rdit` with them. What an analysis reports
there and the full trace does not have is a false alarm. Counts are distinct pairs of sites, `found (false)`.

    scripts/bench.py rdit [--level N] [--real [--bytes N]] [--work FOLDER] [--output FILE] [NAME ...]

By default the programs of examples/; --real adds pbzip2 and zstd from the distribution's archive. Exits with 1 when rdit
raises a false alarm, or when hb, cp and mcm together raise none: then nothing was measured.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import program_sources
import tables
from program_sources import Failure, run

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
REAL = ["pbzip2", "zstd"]
ANALYSES = ["hb", "cp", "mcm", "rdit"]
RECORD = ["--schedule", "serial", "--seed", "1", "--filter", "off"]
FIND = ["--witness-events", "100M", "--mcm-pairs", "20"]
WINDOWS = {"cp": ["--window", "2k"], "mcm": ["--window", "10k"], "rdit": ["--window", "10k"]}  # events, as in the thesis; cp is slow


class Row:
    """What came out for one program."""

    def __init__(self, name):
        self.name = name
        self.events = self.dropped = self.calls = 0
        self.true = set()
        self.found = {}
        self.open = 0  # pairs without an answer in the full trace: neither true nor false

    def cell(self, analysis):
        return f"{len(self.found[analysis])} ({len(self.false(analysis))})"

    def false(self, analysis):
        return self.found[analysis] - self.true


def races(sooth, trace, analysis):
    """The pairs of sites that the analysis reports, and how many it has no answer for."""
    # What the others believe, not what can be proven of it.
    proof = FIND if analysis in ("mcm", "rdit") else ["--witness-events", "0"]
    report = json.loads(run([sooth, "analyze", trace, "--with", analysis, "--format", "json", "--fail-on", "never", *proof,
                             *WINDOWS.get(analysis, [])]))
    pairs = set()
    for finding in report["findings"]:
        if finding["kind"] == "race" and analysis in finding["found_by"]:
            pairs.add(tuple(sorted(access["site"]["label"] for access in finding["accesses"])))
    return pairs, sum("has no answer" in note for note in report.get("notes", []))


def count(text, what):
    """The number in front of `what` in the output of a command."""
    words = text.split(what)[0].split()
    return int(words[-1])


def evaluate(sooth, name, command, work, output=None):
    """Records `command`, whose standard output goes to a file, and measures."""
    row = Row(name)
    full, part, bare = work / "full", work / "part", work / "bare"
    run([sooth, "record", "-o", full, *RECORD, "--", *command], cwd=work, output=output or work / "output")
    hidden = run([sooth, "trace", "drop", full, "-o", part, "--functions-with-sync"])
    row.dropped, row.events = count(hidden, " of "), count(hidden.split(" of ")[1], " events")
    row.calls = count(hidden, " calls put in")
    run([sooth, "trace", "drop", part, "-o", bare, "--kind", "call"])
    row.true, row.open = races(sooth, full, "mcm")
    row.true |= races(sooth, full, "hb")[0]  # the recorded run itself has those
    for analysis in ANALYSES:
        row.found[analysis], _ = races(sooth, part if analysis == "rdit" else bare, analysis)
    return row


def example(sooth, source, level, work):
    binary = work / source.stem
    run([sooth, "c++", "-g", f"-O{level}", "-std=c++20", "-pthread", source, "-o", binary])
    return evaluate(sooth, source.stem, [binary], work)


def real_program(sooth, name, archive, size, work):
    program = next(p for p in program_sources.PROGRAMS if p.name == name)
    folders = program_sources.fetch_all(program, archive)
    binary = program_sources.compile_program(program, folders, [[sooth, "cc"], [sooth, "c++"]], work / "build")
    data = work / "data"
    program_sources.make_data(data, size)
    command, output = program_sources.command_line(program, binary, data, work / "output")
    return evaluate(sooth, name, command, work, output)


def table(rows):
    """Markdown, as docs/rdit.md shows it."""
    lines = [[row.name, row.events, row.dropped, row.calls, len(row.true), *(row.cell(a) for a in ANALYSES)] for row in rows]
    total = Row("total")
    cells = ["total", *(sum(getattr(row, field) for row in rows) for field in ("events", "dropped", "calls")),
             sum(len(row.true) for row in rows)]
    for analysis in ANALYSES:
        total.found[analysis] = sum(len(row.found[analysis]) for row in rows)
        cells.append(f"{total.found[analysis]} ({sum(len(row.false(analysis)) for row in rows)})")
    return tables.render(["program", "events", "dropped", "calls", "true races", "HB", "CP", "MC", "RDIT"], [*lines, cells])


def summary(rows):
    true = sum(len(row.true) for row in rows)
    kept = sum(len(row.found["rdit"] & row.true) for row in rows)
    others = sum(len(row.false(a)) for row in rows for a in ANALYSES if a != "rdit")
    false = sum(len(row.false("rdit")) for row in rows)
    return false, others, (f"rdit: {false} false alarms, {kept} of {true} true races; hb, cp and mcm without calls: {others} false alarms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=pathlib.Path, help="the binary")
    parser.add_argument("--level", type=int, default=0,
                        help="optimisation of the examples: at 0 std::mutex::lock() is a function that synchronises, at 1 and up "
                             "whatever it was inlined into")
    parser.add_argument("--real", action="store_true", help="pbzip2 and zstd, too")
    parser.add_argument("--bytes", type=int, default=20_000, help="input of pbzip2 and zstd; 20,000 make up to 3 million events")
    parser.add_argument("--work", type=pathlib.Path, help="where sources and traces stay; by default they are removed")
    parser.add_argument("--output", type=pathlib.Path, help="the table, as Markdown")
    parser.add_argument("names", nargs="*", help="programs; all by default")
    options = parser.parse_args()
    sooth = options.sooth.resolve()
    work = (options.work or pathlib.Path(tempfile.mkdtemp(prefix="eval_rdit."))).resolve()
    sources = sorted(EXAMPLES.glob("*.cc"))
    jobs = [(s.stem, lambda folder, s=s: example(sooth, s, options.level, folder))
            for s in sources if not options.names or s.stem in options.names]
    if options.real:
        archive = program_sources.Archive(work / "archive")
        jobs += [(name, lambda folder, name=name: real_program(sooth, name, archive, options.bytes, folder))
                 for name in REAL if not options.names or name in options.names]
    rows, failures = [], []
    for name, job in jobs:
        folder = work / "traces" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            rows.append(job(folder))
            print(f"{name}: {len(rows[-1].true)} true races; " + ", ".join(f"{a} {rows[-1].cell(a)}" for a in ANALYSES), flush=True)
            for pair in sorted(rows[-1].false("rdit")):
                print(f"{name}: false alarm of rdit: {' and '.join(pair)}")
            if rows[-1].open:
                print(f"{name}: the full trace has pairs without an answer")
        except program_sources.NoSources as error:
            print(f"{name}: left out: {error}")
        except (Failure, subprocess.TimeoutExpired) as error:
            failures.append(name)
            print(f"{name}: {error}")
    if not options.work:
        shutil.rmtree(work, ignore_errors=True)
    false, others, text = summary(rows)
    print(text)
    if options.output:
        options.output.write_text(table(rows) + "\n")
    sys.exit(1 if failures or false or not others else 0)


if __name__ == "__main__":
    main()
