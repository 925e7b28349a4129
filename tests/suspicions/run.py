#!/usr/bin/env python3
"""Suspicions that look handed over are recognised, and no race is.

    run.py --sooth build/bin/sooth [--budget 20s] [--compilers gcc,clang] [--levels 0,1,2] [NAME ...]

`x_norace.cc` hands something over under a lock; `x_race.cc` does nearly the same, with a race at a line that says RACE. Of the former `sooth run` must report
nothing above `suspected`, and every suspicion must be recognised; of the latter the race must be confirmed, and must not look handed over.
Prints how many suspicions there are, and how many of them are recognised.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 600  # seconds for one command on a busy machine


def report_of(options, source, compiler, level, folder):
    build = [options.sooth, "c++", *(["--cc", compiler] if compiler != "gcc" else []), "-std=c++20", "-g", f"-O{level}", "-pthread", source, "-o", "program"]
    subprocess.run(build, cwd=folder, check=True, timeout=TIME_LIMIT)
    run = subprocess.run([options.sooth, "run", "--budget", options.budget, "--store", "report.json", "-o", "report.txt", "--", "./program"], cwd=folder, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    if run.returncode not in (0, 66):
        raise AssertionError(f"sooth run ended with {run.returncode}: {run.stderr}")
    return json.loads(pathlib.Path(folder, "report.json").read_text())


def lines(finding):
    return " - ".join(str(each["site"].get("line", "?")) for each in finding["accesses"])


def verdict(finding):
    return finding.get("hand_over", {}).get("verdict", "unclear")


def judge(source, report, counts):
    """Sentences on what is wrong."""
    races = [each for each in report["findings"] if each["kind"] == "race"]
    for race in races:
        if race["rung"] == "suspected":
            counts[verdict(race)] = counts.get(verdict(race), 0) + 1
    if source.stem.endswith("_norace"):
        for finding in report["findings"]:
            if finding["rung"] != "suspected":
                yield f"{lines(finding)} is {finding['rung']}, and there is no race"
            elif verdict(finding) != "recognised":
                yield f"{lines(finding)} is {verdict(finding)}"
        return
    places = {i for i, line in enumerate(source.read_text().splitlines(), 1) if "// RACE" in line}
    there = [race for race in races if places & {each["site"].get("line") for each in race["accesses"]}]
    if not any(race["rung"] in ("confirmed", "harmful") for race in there):
        yield f"the race of line {sorted(places)} is not confirmed: {[(lines(race), race['rung']) for race in races]}"
    for race in races:
        if race["rung"] != "suspected" and verdict(race) == "recognised":
            yield f"{lines(race)} is {race['rung']}, and looks handed over"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, required=True)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--compilers", type=lambda text: text.split(","), default=["gcc"])
    parser.add_argument("--levels", type=lambda text: text.split(","), default=["1"])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    wrong, counts = 0, {}
    for source in sorted(FOLDER.glob("*.cc")):
        if options.names and source.stem not in options.names:
            continue
        for compiler in options.compilers:
            for level in options.levels:
                with tempfile.TemporaryDirectory(prefix="sooth-suspicions-") as folder:
                    sentences = list(judge(source, report_of(options, source, compiler, level, folder), counts))
                wrong += len(sentences) > 0
                print(f"{source.name}, {compiler} -O{level}: {'as it should' if not sentences else '; '.join(sentences)}", flush=True)
    print(f"suspicions: {sum(counts.values())}, of them recognised: {counts.get('recognised', 0)}, contradicted: {counts.get('contradicted', 0)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
