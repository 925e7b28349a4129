#!/usr/bin/env python3
"""Locks that programs make of atomics and semaphores: what one recording tells of races that their order hides.

    run.py --sooth build/bin/sooth [--schedules N] [NAME ...]

Of `x_race.cc` the lines marked `// RACE` are a race that a serial recording hides: hb, wcp and syncp are silent, `mcm` predicts it with a
witness, and a controlled run along the witness confirms it. Of `x_norace.cc` nothing is more than suspected, in the serial recording and
in N recordings of random schedules. Programs with the line `// DEEP` are compiled with --deep and asked about with recipe as well.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
CHEAP, ALL = "hb,wcp,syncp", "hb,wcp,syncp,mcm"


def execute(*command):
    """Exit status and standard output; whatever takes more than two minutes is wrong."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout + ("" if run.returncode in (0, 66) else run.stderr)


def findings(path):
    """(rung, lines) of the races of a report."""
    return [(f["rung"], sorted(a["site"].get("line", 0) for a in f["accesses"]))
            for f in json.loads(path.read_text())["findings"] if f["kind"] == "race"]


def check(sooth, source, schedules, folder):
    """What is wrong with the program; an empty list when nothing is."""
    text = source.read_text()
    marked = [number for number, line in enumerate(text.splitlines(), 1) if "// RACE" in line]
    deep = "\n// DEEP\n" in text
    program, report = folder / source.stem, folder / (source.stem + ".json")
    status, output = execute(sooth, "c++", *(["--deep"] if deep else []), "-std=c++20", "-g", "-O1", source, "-o", program, "-lpthread")
    if status != 0:
        return [f"does not compile: {output}"]

    def analyse(analyses, *schedule):
        trace = folder / f"{source.stem}.{len(list(folder.glob(source.stem + '.*')))}.trace"
        status, output = execute(sooth, "record", *schedule, "-o", trace, "--", program)
        if status == 0:
            status, output = execute(sooth, "analyze", trace, "--with", analyses, "--format", "json", "-o", report)
        return findings(report) if status in (0, 66) else [("failed", [output])]

    wanted = ALL + (",recipe" if deep else "")
    if not marked:
        runs = [["--schedule", "serial"]] + [["--schedule", "random", "--seed", str(seed)] for seed in range(1, schedules + 1)]
        return [f"{lines} is {rung} with {' '.join(schedule)}" for schedule in runs for rung, lines in analyse(wanted, *schedule)
                if rung != "suspected"]
    wrong = [f"{lines} is {rung} without mcm: not hidden" for rung, lines in analyse(CHEAP, "--schedule", "serial")]
    found = analyse(wanted, "--schedule", "serial")
    if found != [("predicted", marked)]:
        return wrong + [f"found {found}, expected {marked}"]
    status, output = execute(sooth, "confirm", report, "--", program)
    if findings(report) != [("confirmed", marked)] or (not deep and "the run along the witness" not in output):
        wrong.append(f"not confirmed along the witness: {findings(report)}\n{output}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=pathlib.Path, required=True)
    parser.add_argument("--schedules", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    sources = [path for path in sorted(FOLDER.glob("*.cc")) if not options.names or path.stem in options.names]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sooth-made-locks-") as folder:
        for source in sources:
            wrong = check(options.sooth.resolve(), source, options.schedules, pathlib.Path(folder))
            failed += bool(wrong)
            for sentence in wrong:
                print(f"{source.stem}: {sentence}")
    print(f"{len(sources) - failed} of {len(sources)} programs as marked")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
