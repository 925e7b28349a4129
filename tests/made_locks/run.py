#!/usr/bin/env python3
"""Locks that programs make of atomics and semaphores: what one recording tells of races that their order hides.

    run.py --sooth build/bin/sooth [--schedules N] [--run BUDGET] [--compiler NAME] [NAME ...]

Of `x_race.cc` the lines marked `// RACE` are a race that a serial recording hides: hb is silent, `mcm` predicts it with a witness, and a
controlled run along the witness confirms it. Of `x_norace.cc` nothing is more than suspected, in the serial recording and in N recordings
of random schedules. Programs with the line

    // LOCK    have a lock that wcp and syncp recognise: they name the race, too
    // DEEP    are compiled with --deep and asked about with recipe as well
    // STEER   have a race that no recorded values explain: `hybrid:hard` suspects it, and steered runs confirm it

With --run, plain `sooth run` has to confirm the race of `x_race.cc`, compiled as usual, and to report nothing of `x_norace.cc`.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ALL = "hb,wcp,syncp,hybrid,hybrid:hard,lockset,ipa,deadlock,mcm"


def execute(*command):
    """Exit status and standard output; whatever takes more than two minutes is wrong."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout + ("" if run.returncode in (0, 66) else run.stderr)


def findings(path):
    """(rung, lines) of the races of a report."""
    return [(f["rung"], sorted(a["site"].get("line", 0) for a in f["accesses"]))
            for f in json.loads(path.read_text())["findings"] if f["kind"] == "race"]


def names_of(path):
    """The analyses that named the first race of a report."""
    return next((f["found_by"] for f in json.loads(path.read_text())["findings"] if f["kind"] == "race"), [])


class Program:
    """One source, what it says about itself, and what is made of it."""

    def __init__(self, sooth, source, folder, compiler):
        text = source.read_text()
        self.sooth, self.source, self.folder, self.compiler = sooth, source, folder, compiler
        self.marked = [number for number, line in enumerate(text.splitlines(), 1) if "// RACE" in line]
        self.deep, self.lock, self.steer = (f"\n// {word}\n" in text for word in ("DEEP", "LOCK", "STEER"))
        self.program, self.report = folder / source.stem, folder / (source.stem + ".json")

    def compile(self, deep):
        """What the compiler complains about; empty when it does not."""
        own = (["--deep"] if deep else []) + (["--compiler", self.compiler] if self.compiler else [])
        status, output = execute(self.sooth, "c++", *own, "-std=c++20", "-g", "-O1", self.source, "-o", self.program, "-lpthread")
        return [f"does not compile: {output}"] if status != 0 else []

    def analyse(self, analyses, *schedule):
        """The findings of a recording."""
        trace = self.folder / f"{self.source.stem}.{len(list(self.folder.glob(self.source.stem + '.*')))}.trace"
        status, output = execute(self.sooth, "record", *schedule, "-o", trace, "--", self.program)
        if status == 0:
            status, output = execute(self.sooth, "analyze", trace, "--with", analyses, "--format", "json", "-o", self.report)
        return findings(self.report) if status in (0, 66) else [("failed", [output])]


def check_norace(program, analyses, schedules):
    runs = [["--schedule", "serial"]] + [["--schedule", "random", "--seed", str(seed)] for seed in range(1, schedules + 1)]
    return [f"{lines} is {rung} with {' '.join(schedule)}" for schedule in runs for rung, lines in program.analyse(analyses, *schedule)
            if rung != "suspected"]


def is_reached(lines, found):
    return any(rung in ("confirmed", "harmful") and other == lines for rung, other in found)


def check_race(program, analyses):
    wrong = [f"{lines} is {rung} by hb: not hidden" for rung, lines in program.analyse("hb", "--schedule", "serial")]
    found = program.analyse(analyses, "--schedule", "serial")
    rung = "suspected" if program.steer else "predicted"
    if (rung, program.marked) not in found or any(other != "suspected" for other, lines in found if lines != program.marked):
        return wrong + [f"found {found}, expected {program.marked} to be {rung}"]
    if program.lock and not {"wcp", "syncp"} <= set(names_of(program.report)):
        wrong.append(f"named by {names_of(program.report)}: not by wcp and syncp")
    status, output = execute(program.sooth, "confirm", program.report, "--", program.program)
    by_witness = program.deep or program.steer or re.search(r"\bruns? along the witness\b", output)
    if not is_reached(program.marked, findings(program.report)) or not by_witness:
        wrong.append(f"not confirmed: {findings(program.report)}\n{output}")
    return wrong


def check(sooth, source, schedules, folder, compiler):
    """What is wrong with the program; an empty list when nothing is."""
    program = Program(sooth, source, folder, compiler)
    analyses = ALL + (",recipe" if program.deep else "")
    return program.compile(program.deep) or (check_race(program, analyses) if program.marked
                                             else check_norace(program, analyses, schedules))


def check_run(sooth, source, budget, folder, compiler):
    """The same by the default command."""
    program = Program(sooth, source, folder, compiler)
    wrong = program.compile(False)
    if wrong:
        return wrong
    execute(sooth, "run", "--budget", budget, "--format", "json", "-o", program.report, "--", program.program)
    found = [(rung, lines) for rung, lines in findings(program.report) if rung != "suspected"]
    good = is_reached(program.marked, found) if program.marked else not found
    return [] if good else [f"`sooth run` found {found}, marked is {program.marked}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=pathlib.Path, required=True)
    parser.add_argument("--schedules", type=int, default=1)
    parser.add_argument("--run", metavar="BUDGET", help="ask plain `sooth run`, for so long each")
    parser.add_argument("--compiler", help="clang++-14, ...")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    sources = [path for path in sorted(FOLDER.glob("*.cc")) if not options.names or path.stem in options.names]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sooth-made-locks-") as folder:
        for source in sources:
            place = (options.sooth.resolve(), source, options.run or options.schedules, pathlib.Path(folder), options.compiler)
            wrong = check_run(*place) if options.run else check(*place)
            failed += bool(wrong)
            for sentence in wrong:
                print(f"{source.stem}: {sentence}")
    print(f"{len(sources) - failed} of {len(sources)} programs as marked")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
