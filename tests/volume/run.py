#!/usr/bin/env python3
"""Private work, however much there is of it, hides no race: late_account.cc, found, proven and confirmed.

    run.py --sooth build/bin/sooth [--seconds S] [--budget S] [--case NAME,...]

Without --seconds each case has a little work (some ten million accesses), more than the limits that are passed to the tool let it look at;
with it, S seconds of the processor, as the program takes them when it runs alone. Prints what each case took.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
LITTLE = 20      # rounds
# Which work is done: before, between, after, threads beside.
CASES = {"before": (1, 0, 0, 0), "between": (0, 1, 0, 0), "after": (0, 0, 1, 0), "around": (1, 1, 1, 0), "beside-1": (0, 0, 0, 1),
         "beside-8": (0, 0, 0, 8), "around-beside-8": (1, 1, 1, 8)}


def execute(*command, timeout=600):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=timeout, stdin=subprocess.DEVNULL)


def build(sooth, folder):
    source, program, alone = FOLDER / "late_account.cc", folder / "late", folder / "alone"
    for command in ([sooth, "c++", "-O1", "-o", program, source], ["g++", "-O1", "-pthread", "-o", alone, source]):
        made = execute(*command)
        if made.returncode != 0:
            sys.exit(f"run.py: {made.stderr}")
    return program, alone


def rounds_for(seconds, alone):
    """The work of a case in rounds, measured."""
    if seconds is None:
        return LITTLE
    rounds = 200
    start = time.monotonic()
    execute(alone, rounds)
    return max(1, int(rounds * seconds / (time.monotonic() - start)))


def lines_of_marks():
    text = (FOLDER / "late_account.cc").read_text().splitlines()
    return sorted(number for number, line in enumerate(text, 1) if "// RACE" in line)


def words_for(case, rounds):
    before, between, after, threads = CASES[case]
    parts = (before + between + after) or 1
    share = max(1, rounds // parts)
    return [before * share, between * share, after * share, threads, max(1, rounds // max(1, threads)) if threads else 0]


def verdict(finding):
    """What is wrong with it; empty: nothing."""
    problems = []
    if finding["rung"] not in ("confirmed", "harmful"):
        problems.append(f"it is {finding['rung']}")
    if finding.get("witness", {}).get("status") != "checked":
        problems.append(f"no witness: {finding.get('witness', {}).get('why')}")
    return problems


def problems_of(report):
    races = [f for f in report["findings"] if f["kind"] == "race"
             and sorted(access["site"].get("line", 0) for access in f["accesses"]) == lines_of_marks()]
    if not races:
        return ["the race is not found"]
    problems = verdict(races[0])
    asked = set(report["stats"]["analyses"])
    for name in ("hb", "wcp", "syncp", "hybrid", "ipa", "mcm", "deadlock"):
        if name not in asked:
            problems.append(f"{name} was not asked")
    if any("ends before the program did" in note for note in report["notes"]):
        problems.append("the recording has an end")
    return problems


def run_case(case, options, program, rounds, folder):
    stored = folder / f"{case}.json"
    limits = [] if options.seconds is not None else ["--thin-from", "1M"]
    start = time.monotonic()
    words = words_for(case, rounds)
    run = execute(options.sooth, "run", "--budget", f"{options.budget}s", "--store", stored, "-o", folder / "report.txt", *limits, "--", program, *words,
                  timeout=options.budget + 3000)
    seconds = time.monotonic() - start
    if run.returncode != 66 or not stored.exists():
        return seconds, [f"status {run.returncode}: {run.stderr.strip()}"], {}
    report = json.loads(stored.read_text())
    return seconds, problems_of(report), report


def check_projection(options, program, folder):
    """A recording with all its accesses, of which a small part is kept: proven from it, and the checker takes the witness for the whole trace."""
    trace, report = folder / "whole", folder / "whole.json"
    execute(options.sooth, "record", "--schedule", "serial", "-o", trace, "--", program, 4, 4, 4)
    execute(options.sooth, "analyze", trace, "--with", "wcp,mcm", "--witness-events", "20000", "--format", "json", "-o", report)
    found = json.loads(report.read_text())
    problems = [p for p in (verdict(found["findings"][0]) if found["findings"] else ["the race is not found"]) if not p.startswith("it is predicted")]
    checked = execute(options.sooth, "witness", "check", report, trace)
    if checked.returncode != 0:
        problems.append(f"witness check: {checked.stdout.strip()} {checked.stderr.strip()}")
    if found["stats"]["events"] < 1_000_000:
        problems.append(f"{found['stats']['events']} events are no test")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--case", default=",".join(CASES))
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, alone = build(options.sooth, folder)
        rounds = rounds_for(options.seconds, alone)
        if options.seconds is None:
            for problem in check_projection(options, program, folder):
                print(f"projection: {problem}")
                failures += 1
        for case in options.case.split(","):
            seconds, problems, report = run_case(case, options, program, rounds, folder)
            stages = {stage["name"]: round(stage["seconds"], 1) for stage in report.get("stats", {}).get("stages", [])} if report else {}
            print(f"{case}: {rounds} rounds, {seconds:.1f} s, {report.get('stats', {}).get('events', 0)} events, {stages}: {'; '.join(problems) or 'confirmed'}")
            failures += bool(problems)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
