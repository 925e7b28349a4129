#!/usr/bin/env python3
"""Real C++ goes through deep recording and recipe, from the compiler to the report, and what becomes of it is told.

    run.py --sooth build/bin/sooth [--levels 0,1,2] [NAME ...]

Each program of this folder is built with `sooth c++ --deep`, must print what it prints without (built by the same compiler, run alone), is recorded serially, and analysed with mcm and
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


class Program(figures.programs.Program):
    def _check(self, text):
        """Its races stand on two lines each; who finds them depends on the recording."""


def races(report):
    """By the innermost places in the program itself: much happens in headers of the library."""
    found = {}
    for finding in report["findings"]:
        if finding["kind"] == "race" and finding["rung"] == "predicted":
            ends = []
            for access in finding["accesses"]:
                frames = [access["site"], *access.get("stack", [])]
                own = [(pathlib.Path(frame["file"]).name, frame["line"]) for frame in frames if pathlib.Path(frame.get("file", "")).parent == FOLDER]
                ends.append(own[0] if own else ("?", 0))
            found[tuple(sorted(ends))] = finding
    return found


def check(sooth, program, level, work):
    """Sentences on what went wrong; prints figures."""
    flags = ["-std=c++20", "-g", f"-O{level}", "-pthread", program.path]
    plain, deep, trace = work / "plain", work / "deep", work / "trace"
    figures.run([COMPILER, *flags, "-o", plain])
    figures.run([sooth, "c++", "--deep", *flags, "-o", deep])
    wanted = figures.run([plain]).stdout
    recorded = figures.run([sooth, "record", "--schedule", "serial", "-o", trace, "--", deep]).stdout
    wrong = [] if recorded == wanted else [f"prints {recorded!r}, without recording {wanted!r}"]
    found = {}
    for analysis in ("mcm", "recipe"):
        begin = time.monotonic()
        report = json.loads(figures.run([sooth, "analyze", trace, "--with", analysis, "--format", "json", "--fail-on", "never"]).stdout)
        found[analysis] = races(report)
        print(f"{program.name} -O{level} {analysis}: {len(found[analysis])} races in {report['stats']['events']} events, {time.monotonic() - begin:.1f} s")
        for name, value in report["stats"]["analyses"][analysis].get("extra", []):
            print(f"    {name}: {value}")
    wrong += [f"recipe misses {figures.programs.spell(ends)}, which mcm predicts" for ends in sorted(set(found["mcm"]) - set(found["recipe"]))]
    wrong += [f"a race is not marked: {figures.programs.spell(ends)}" for ends in sorted(set(found["recipe"]) - set(program.races.values()))]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--levels", type=lambda text: text.split(","), default=["0", "1", "2"])
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    failed = count = 0
    for path in sorted(FOLDER.glob("*.cc")):
        for level in options.levels if not options.names or path.stem in options.names else []:
            with tempfile.TemporaryDirectory(prefix="sooth-real-") as work:
                try:
                    wrong = check(options.sooth, Program(path), level, pathlib.Path(work))
                except (Failure, subprocess.TimeoutExpired, OSError) as failure:
                    wrong = [str(failure)]
            count += 1
            failed += bool(wrong)
            for sentence in wrong:
                print(f"{path.stem} -O{level}: {sentence}")
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
