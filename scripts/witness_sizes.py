#!/usr/bin/env python3
"""How large witnesses are: median and largest number of threads and switches between threads over the examples.

    scripts/witness_sizes.py [--sooth build/bin/sooth] [--programs examples] [--traces examples/traces,tests/golden]

Programs are compiled and recorded with a random schedule; text traces are taken as they are. "As found": with
--whole-witnesses. "As reported": without. Every witness of the latter is
checked again by `sooth witness check`. Prints a table for docs/witnesses.md; the exit status is 1 when a witness is
rejected, or is larger than before.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sizes(report):
    """(id, threads, switches, events) of each checked witness."""
    found = {}
    for finding in report["findings"]:
        witness = finding.get("witness", {})
        if witness.get("status") != "checked" or "values" in witness:
            continue
        runs = witness.get("order_runs", [])
        for first, count in witness.get("order_slices", []):
            runs += report["shared_runs"][first:first + count]
        events = witness["drawing"]["length"] if "drawing" in witness else len(witness.get("order", []))
        found[finding["id"]] = (len({run[0] for run in runs}), max(0, len(runs) - 1), events)
    return found


def analyse(sooth, trace, report, whole):
    done = subprocess.run([sooth, "analyze", trace, "--with", "hb,wcp,syncp,deadlock", "--format", "json", "--no-times", "-o",
                           report, "--fail-on", "never"] + (["--whole-witnesses"] if whole else []),
                          capture_output=True, check=False)
    if done.returncode != 0:
        return None  # golden traces may be malformed on purpose
    with open(report, encoding="utf-8") as file:
        return sizes(json.load(file))


def record(sooth, source, scratch):
    """The trace of a run of the program; None when it cannot be recorded."""
    program = os.path.join(scratch, os.path.basename(source)[:-3])
    trace = program + ".trace"
    subprocess.run([sooth, "c++", "-O1", "-g", source, "-o", program], check=True, capture_output=True)
    subprocess.run([sooth, "record", "--schedule", "random", "--seed", "1", "-o", trace, "--", program], check=False,
                   capture_output=True, timeout=120)
    return trace if os.path.isdir(trace) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sooth", default=os.path.join(ROOT, "build/bin/sooth"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "examples"))
    parser.add_argument("--traces", default=os.path.join(ROOT, "examples/traces") + "," + os.path.join(ROOT, "tests/golden"))
    options = parser.parse_args()
    traces = sorted(file for folder in options.traces.split(",") for file in glob.glob(folder + "/**/*.std", recursive=True))
    before, after, wrong = [], [], 0
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.json")
        for source in sorted(glob.glob(options.programs + "/*.cc")):
            traces += [trace for trace in [record(options.sooth, source, scratch)] if trace]
        for trace in traces:
            whole = analyse(options.sooth, trace, report, True)
            small = analyse(options.sooth, trace, report, False)
            if not whole or not small:
                continue
            if subprocess.run([options.sooth, "witness", "check", report, trace], capture_output=True, check=False).returncode:
                wrong += 1
                print("%s: a witness is rejected" % trace)
            for identity in whole.keys() & small.keys():
                before.append(whole[identity])
                after.append(small[identity])
                if any(new > old for old, new in zip(whole[identity], small[identity])):
                    wrong += 1
                    print("%s: the witness of %s has grown: %s, %s" % (trace, identity, whole[identity], small[identity]))
    if not before:
        print("no witnesses")
        return 1
    print("| %d witnesses | threads, median | largest | switches, median | largest | events, median | largest |" % len(before))
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, rows in (("as found", before), ("as reported", after)):
        columns = list(zip(*rows))
        print("| %s | %s |" % (name, " | ".join("%g | %d" % (statistics.median(column), max(column)) for column in columns)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
