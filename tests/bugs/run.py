#!/usr/bin/env python3
"""Small programs with one known bug each: how many schedules does it take until a run fails?

    run.py --sooth build/bin/sooth [--programs aba_stack,lazy_cache] [--strategies random,pct:3,pos,surw,rff,directed,auto] [--runs 1000] [--campaigns 20] [--seconds 60] [--jobs N]
           [--folder DIR] [--minutes N]      prints the table of docs/schedule-testing.md, and fails when a twin does. With --folder it can be ended at any time, and goes on where it was
    run.py --sooth build/bin/sooth --check   the short test: builds all, tries the fixed twins, and finds a handful of the bugs

`x_bug.cc` fails under some schedules, and never when each thread runs until it blocks (`sooth record --schedule serial`). Its comment is the truth:

    // FAILS: deadlock: ...        the kind of failure (assertion, crash or deadlock), and what is wrong then
    // PREEMPTIONS: 1, of ...      how many times a thread must lose its turn that could go on, and where

`x_fixed.cc` does the same without the bug, and never fails. The programs were written before the schedulers were tuned, from what people get wrong; do not
change them to suit a scheduler.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "programs"))
import run as programs  # noqa: E402  (commands that must end in time, and sentences on what went wrong)

KINDS = {"deadlock": ("deadlock", "hang"), "assertion": ("crash", "complaint"), "crash": ("crash", "complaint")}
RUNGS = ["suspected", "predicted", "confirmed", "harmful"]
SEEDS_APART = 1_000_000  # of campaigns
TIME_LIMIT = 300  # seconds for one command on a busy machine
HANG = "2s"  # what the programs do in milliseconds, when they do not hang
NO_HANG = "60s"  # for twins, which never hang
TAME = ["serial"]
QUICK = ["atomicity_violation", "check_then_act", "double_free", "torn_pair", "two_counters", "deadlock_three", "reader_twice"]  # found by --check
QUICK_RUNS = 200
TWIN_RUNS = 15


class Bug:
    """A program, its twin, and the truth about them."""

    def __init__(self, source):
        self.name = source.stem.removesuffix("_bug")
        self.source = source
        self.twin = source.with_name(f"{self.name}_fixed.cc")
        text = source.read_text()
        match = re.search(r"^// FAILS: (\w+)", text, re.MULTILINE)
        preemptions = re.search(r"^// PREEMPTIONS: (\d)", text, re.MULTILINE)
        if not match or match[1] not in KINDS or not preemptions:
            raise programs.Failure(f"{source.name} does not tell its FAILS and PREEMPTIONS")
        self.fails, self.preemptions = match[1], preemptions[1]
        if not self.twin.exists():
            raise programs.Failure(f"{source.name} has no twin")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def build(self, source):
        binary = self.folder / source.stem
        if binary.exists() and binary.stat().st_mtime > max(source.stat().st_mtime, os.stat(self.options.sooth).st_mtime):
            return binary  # of an earlier call with --folder
        programs.must([self.options.sooth, "c++", "-std=c++20", "-g", "-O1", "-pthread", source, "-o", binary], limit=TIME_LIMIT)
        return binary

    def ends(self, binary, strategy, first, runs, budget, limit, *more):
        """The result of `sooth test`, which ends in time by its budget."""
        command = [self.options.sooth, "test", "--strategy", strategy, "--runs", runs, "--seed", first, "--jobs", 1, "--timeout", limit,
                   "--budget", f"{max(budget, 1):.0f}s", "--format", "json", *more, "--", binary]
        output, errors, status = programs.execute(command, cwd=self.folder, limit=TIME_LIMIT)
        if status not in (0, 66):
            raise programs.Failure(f"`{' '.join(map(str, command))}` ended with status {status}: {errors.strip()}")
        return json.loads(output)

    def first_failure(self, bug, binary, strategy, runs, campaign=0):
        """(schedules to the first failure or None, schedules run)."""
        begin = time.monotonic()
        result = self.ends(binary, strategy, campaign * SEEDS_APART + 1, runs, self.options.seconds, HANG, "--until-failure")
        failures = [item for item in result["ends"] if item["failure"]]
        wrong = [item["description"] for item in failures if item["kind"] not in KINDS[bug.fails]]
        if wrong:
            raise programs.Failure(f"{bug.source.name} fails otherwise than it says under {strategy}: {'; '.join(wrong)}")
        return {"first": result["runs"] if failures else None, "runs": result["runs"], "seconds": round(time.monotonic() - begin, 2)}

    def run_command(self, binary):
        """The highest finding of `sooth run`, as `harmful deadlock`, or `nothing`."""
        store = self.folder / f"{binary.name}.json"
        try:
            _, _, status = programs.execute([self.options.sooth, "run", "--budget", f"{self.options.budget}s", "--jobs", 1, "--store", store, "-o", f"{store}.txt", "--", binary],
                                            cwd=self.folder)
        except programs.Failure:
            return "no end"
        if not store.exists():
            return f"no report, status {status}"
        findings = [item for item in json.loads(store.read_text())["findings"] if item["rung"] != "suspected"]
        if not findings:
            return "nothing"
        best = max(findings, key=lambda item: (RUNGS.index(item["rung"]), item["kind"] != "race"))
        return f"{best['rung']} {best['kind']}"

    def tame(self, binary):
        """Raises a Failure when the program fails although nobody is preempted."""
        trace = self.folder / f"{binary.name}.trace"
        shutil.rmtree(trace, ignore_errors=True)
        _, errors, status = programs.execute([self.options.sooth, "record", "--schedule", *TAME, "-o", trace, "--", binary], cwd=self.folder, limit=TIME_LIMIT)
        if status != 0:
            raise programs.Failure(f"{binary.name} ends with status {status} in turn: {errors.strip()}")

    def twin(self, bug, runs, strategies):
        """Raises a Failure when the fixed program fails."""
        binary = self.build(bug.twin)
        self.tame(binary)
        for strategy in strategies:
            result = self.ends(binary, strategy, 1, runs, self.options.seconds, NO_HANG)
            wrong = [item["description"] for item in result["ends"] if item["kind"] != "exit" or item["number"] != 0]
            if wrong:
                raise programs.Failure(f"{bug.twin.name} fails under {strategy}: {'; '.join(wrong)}")

    def check(self, bug):
        """None, or a sentence."""
        try:
            self.twin(bug, TWIN_RUNS, ["random"])
            binary = self.build(bug.source)
            self.tame(binary)
            if bug.name in QUICK:
                found = self.first_failure(bug, binary, "random", QUICK_RUNS)
                if found["first"] is None:
                    raise programs.Failure(f"none of {found['runs']} random schedules fails")
        except programs.Failure as failure:
            return f"{bug.name}: {failure}"
        return None


class Measurements:
    """What campaigns have shown: a line of JSON for each, in a file if there is one, so that nothing is measured twice."""

    def __init__(self, file):
        self.file = file
        self.lines = {}
        self.lock = threading.Lock()
        for line in file.read_text().splitlines() if file and file.exists() else []:
            key, value = json.loads(line)
            self.lines[tuple(key)] = value

    def add(self, key, value):
        with self.lock:
            self.lines[key] = value
            if self.file:
                with self.file.open("a") as file:
                    file.write(json.dumps([key, value]) + "\n")

    def campaigns(self, name, strategy):
        return [value for (kind, program, by, _), value in sorted(self.lines.items()) if (kind, program, by) == ("campaign", name, strategy)]


def median(campaigns):
    """Of the schedules to the first failure; a campaign without one is beyond all others. (schedules or None, schedules run)."""
    found = sorted(campaigns, key=lambda one: (one["first"] is None, one["first"] or one["runs"]))
    middle = found[(len(found) - 1) // 2]
    return middle["first"], middle["runs"]


def cell(campaigns):
    if not campaigns:
        return "?"
    first, runs = median(campaigns)
    return f"{first:,}" if first else f"- ({runs:,})"


def print_table(options, bugs, measured):
    strategies = options.strategies
    print(f"| program | fails with | preemptions | {' | '.join(f'`{name}`' for name in strategies)} | `sooth run` |")
    print(f"|---|---|---:|{'---:|' * len(strategies)}---|")
    for bug in bugs:
        run = measured.lines.get(("run", bug.name, "", 0), "?")
        print(f"| {bug.name} | {bug.fails} | {bug.preemptions} | {' | '.join(cell(measured.campaigns(bug.name, name)) for name in strategies)} | {run} |")
    print_sums(options, bugs, measured)


def print_sums(options, bugs, measured):
    """What strategies find, and their schedules to failures that all of them were tried on."""
    whole = [bug for bug in bugs if all(measured.campaigns(bug.name, name) for name in options.strategies)]
    for name in options.strategies:
        medians = [median(measured.campaigns(bug.name, name))[0] for bug in whole]
        ever = sum(any(one["first"] for one in measured.campaigns(bug.name, name)) for bug in whole)
        all_sum = sum(first or options.runs for first in medians)
        print(f"{name}: {sum(first is not None for first in medians)} of {len(whole)} in half of the campaigns, {ever} in some; the medians add up to {all_sum:,}, with {options.runs:,} where there is none")
    counts = [len(measured.campaigns(bug.name, name)) for bug in whole for name in options.strategies]
    if counts:
        print(f"campaigns of each program and strategy: {min(counts)} to {max(counts)}")
    runs = [measured.lines[key] for bug in bugs if (key := ("run", bug.name, "", 0)) in measured.lines]
    if runs:
        print(f"sooth run: {sum(not ended.startswith('no') for ended in runs)} of {len(runs)}")


def measure(options, bugs, bench, measured):
    """All that is missing, what is cheap to know first: twins, then one campaign after the other. Sentences on what is wrong."""
    end = time.monotonic() + 60 * options.minutes
    binaries, wrong, bad = {}, [], set()

    def in_time(key, bug, work):
        if key in measured.lines or bug.name in bad or time.monotonic() >= end:
            return
        try:
            if bug.name not in binaries:
                binaries[bug.name] = bench.build(bug.source)
                bench.tame(binaries[bug.name])
            measured.add(key, work())
        except programs.Failure as failure:
            wrong.append(f"{bug.name}: {failure}")
            bad.add(bug.name)

    def twin(bug):
        bench.twin(bug, options.twin_runs, [name for name in options.strategies if name != "directed"])
        return "quiet"

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.twin_runs > 0:
            list(pool.map(lambda bug: in_time(("twin", bug.name, "", 0), bug, lambda: twin(bug)), bugs))
        for campaign in range(options.campaigns):
            list(pool.map(lambda bug: [in_time(("campaign", bug.name, name, campaign), bug,
                                               lambda: bench.first_failure(bug, binaries[bug.name], name, options.runs, campaign)) for name in options.strategies], bugs))
        if options.budget > 0:
            list(pool.map(lambda bug: in_time(("run", bug.name, "", 0), bug, lambda: bench.run_command(binaries[bug.name])), bugs))
    return wrong


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--programs", type=lambda text: text.split(","), help="names without _bug; all by default")
    parser.add_argument("--strategies", type=lambda text: text.split(","), default=["random", "pct:3", "pos", "surw", "rff", "directed", "auto"])
    parser.add_argument("--runs", type=int, default=1000, help="schedules of each strategy, at most")
    parser.add_argument("--campaigns", type=int, default=1, help="with other seeds: the table has the medians")
    parser.add_argument("--seconds", type=int, default=30, help="for one strategy on one program")
    parser.add_argument("--twin-runs", type=int, default=100, help="schedules of each strategy for the fixed twins; 0: leave them out")
    parser.add_argument("--budget", type=int, default=20, help="seconds of `sooth run`; 0: leave it out")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps what is measured there, and measures only what is missing; remove it when sooth has changed")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing more after that time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--check", action="store_true", help="the short test")
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        bugs = [Bug(source) for source in sorted(FOLDER.glob("*_bug.cc"))]
    except programs.Failure as failure:
        sys.exit(str(failure))
    known = {bug.name for bug in bugs}
    unknown = set(options.programs or []) - known | set(QUICK) - known
    if unknown:
        sys.exit(f"there is no {', '.join(sorted(unknown))}")
    bugs = [bug for bug in bugs if not options.programs or bug.name in options.programs]
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sooth-bugs-") as work:
        bench = Bench(options, (options.folder or pathlib.Path(work)).absolute())
        if options.check:
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                wrong = [sentence for sentence in pool.map(bench.check, bugs) if sentence]
        else:
            measured = Measurements(options.folder / "measured.jsonl" if options.folder else None)
            wrong = measure(options, bugs, bench, measured)
            print_table(options, bugs, measured)
    for sentence in wrong:
        print(sentence)
    print(f"{len(bugs) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
