#!/usr/bin/env python3
"""Real C++ goes through deep recording and recipe, from the compiler to the report, and what becomes of it is told.

    run.py --sooth build/bin/sooth [--levels 0,1,2] [NAME ...]

Each of PROGRAMS is built with `sooth c++ --deep`, must print what it prints without (built by the same compiler, run alone), is recorded under a few schedules, and analysed with mcm and
recipe. That must end well; every race that mcm predicts, recipe has to predict as well, and all must be marked, as those of tests/programs are. Prints the figures of the analysis: how much of
the program was understood.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import run as figures  # noqa: E402  (the folder has to be known first)

Failure = figures.Failure
COMPILER = "clang++-19"  # that `sooth c++ --deep` uses
SCHEDULES = ["serial", "random"]
PROGRAMS = ["thread_pool"]  # the others of this folder are those of reach.py


class Program(figures.programs.Program):
    def _check(self, text):
        """Its races stand on two lines each; who finds them depends on the recording."""


def races(report, rungs=("predicted",)):
    """By the innermost places in the program itself: much happens in headers of the library. `rungs` None: all."""
    found = {}
    for finding in report["findings"]:
        if finding["kind"] == "race" and (rungs is None or finding["rung"] in rungs):
            ends = []
            for access in finding["accesses"]:
                frames = [access["site"], *access.get("stack", [])]
                own = [(pathlib.Path(frame["file"]).name, frame["line"]) for frame in frames if pathlib.Path(frame.get("file", "")).parent == FOLDER]
                ends.append(own[0] if own else ("?", 0))
            found[tuple(sorted(ends))] = finding
    return found


def analyze(sooth, trace, analysis, name):
    """The races; prints the figures."""
    begin = time.monotonic()
    report = json.loads(figures.run([sooth, "analyze", trace, "--with", analysis, "--format", "json", "--fail-on", "never", "--stats"]).stdout)
    found = races(report)
    print(f"{name} {analysis}: {len(found)} races in {report['stats']['events']} events, {time.monotonic() - begin:.1f} s")
    for key, value in report["stats"]["analyses"][analysis].get("extra", []) if analysis == "recipe" else ():
        print(f"    {key}: {value}")
    for note in report.get("notes", []):
        print(f"    note: {note}")
    return found


def check(sooth, program, level, work):
    """Sentences on what went wrong; prints figures."""
    flags = ["-std=c++20", "-g", f"-O{level}", "-pthread", program.path]
    plain, deep = work / "plain", work / "deep"
    figures.run([COMPILER, *flags, "-o", plain])
    figures.run([sooth, "c++", "--deep", *flags, "-o", deep])
    wanted, wrong = figures.run([plain]).stdout, []
    for schedule in SCHEDULES:
        name, trace = f"{program.name} -O{level} {schedule}", work / schedule
        recorded = figures.run([sooth, "record", "--schedule", schedule, "-o", trace, "--", deep]).stdout
        if recorded != wanted:
            wrong.append(f"{name} prints {recorded!r}, without recording {wanted!r}")
        mcm, recipe = (analyze(sooth, trace, analysis, name) for analysis in ("mcm", "recipe"))
        wrong += [f"{name}: recipe misses {figures.programs.spell(ends)}, which mcm predicts" for ends in sorted(set(mcm) - set(recipe))]
        wrong += [f"{name}: a race is not marked: {figures.programs.spell(ends)}" for ends in sorted(set(recipe) - set(program.races.values()))]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--levels", type=lambda text: text.split(","), default=["0", "1", "2"])
    parser.add_argument("names", nargs="*", help="programs without their suffix; PROGRAMS by default")
    options = parser.parse_args()
    failed = count = 0
    for path in [FOLDER / f"{name}.cc" for name in options.names or PROGRAMS]:
        for level in options.levels:
            with tempfile.TemporaryDirectory(prefix="sooth-real-") as work:
                try:
                    wrong = check(options.sooth, Program(path), level, pathlib.Path(work))
                except (Failure, subprocess.TimeoutExpired, OSError) as failure:
                    wrong = [str(failure)]
            count += 1
            failed += bool(wrong)
            for sentence in wrong:
                print(f"FAILED   {sentence}")
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
