#!/usr/bin/env python3
"""Small programs with one known bug each: how many schedules does it take until a run fails?

    run.py --sooth build/bin/sooth [--programs aba_stack,lazy_cache] [--strategies random,pct:3,pos,surw,rff,directed,auto] [--runs 1000] [--campaigns 20] [--seconds 60] [--jobs N]
                                             prints the table of docs/schedule-testing.md, and fails when a twin does
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
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "programs"))
import run as programs  # noqa: E402  (commands that must end in time, and sentences on what went wrong)

KINDS = {"deadlock": ("deadlock", "hang"), "assertion": ("crash", "complaint"), "crash": ("crash", "complaint")}
RUNGS = ["suspected", "predicted", "confirmed", "harmful"]
BATCHES = (10, 100, 1000)  # a program that fails soon is not run a thousand times
SEEDS_APART = 1_000_000  # of campaigns
TIME_LIMIT = 300  # seconds for one command on a busy machine
HANG = "2s"  # what the programs do in milliseconds, when they do not hang
NO_HANG = "60s"  # for twins, which never hang
TAME = ["serial"]
QUICK = ["atomicity_violation", "check_then_act", "double_free", "torn_pair", "two_counters", "deadlock_three"]  # found by --check
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
        programs.must([self.options.sooth, "c++", "-std=c++20", "-g", "-O1", "-pthread", source, "-o", binary], limit=TIME_LIMIT)
        return binary

    def ends(self, binary, strategy, first, runs, budget, limit):
        """The result of `sooth test`, which ends in time by its budget."""
        command = [self.options.sooth, "test", "--strategy", strategy, "--runs", runs, "--seed", first, "--jobs", 1, "--timeout", limit,
                   "--budget", f"{max(budget, 1):.0f}s", "--format", "json", "--", binary]
        output, errors, status = programs.execute(command, cwd=self.folder, limit=TIME_LIMIT)
        if status not in (0, 66):
            raise programs.Failure(f"`{' '.join(map(str, command))}` ended with status {status}: {errors.strip()}")
        return json.loads(output)

    def first_failure(self, bug, binary, strategy, runs, campaign=0):
        """(schedules to the first failure or None, schedules run, how it ended). Directed, surw, rff and auto runs build on those before them, so a larger batch of them begins anew."""
        done, end = 0, time.monotonic() + self.options.seconds
        offset = campaign * SEEDS_APART
        for batch in [size for size in BATCHES if size < runs] + [runs]:
            begin = 1 if strategy in ("directed", "surw", "rff", "auto") else done + 1
            result = self.ends(binary, strategy, offset + begin, batch - begin + 1, end - time.monotonic(), HANG)
            done = begin - 1 + result["runs"]
            failures = [item for item in result["ends"] if item["failure"] and item["kind"] in KINDS[bug.fails]]
            if failures:
                first = min(failures, key=lambda item: item["first_seed"])
                return first["first_seed"] - offset, done, first["kind"]
            if time.monotonic() >= end:
                break
        return None, done, ""

    def median_failure(self, bug, binary, strategy):
        """The cell of the table: the median over campaigns with other seeds, in which one that finds nothing is beyond all others."""
        found = [self.first_failure(bug, binary, strategy, self.options.runs, campaign) for campaign in range(self.options.campaigns)]
        found.sort(key=lambda item: (item[0] is None, item[0] or item[1]))
        first, done, _ = found[(len(found) - 1) // 2]
        return f"{first:,}" if first else f"- ({done:,})"

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

    def row(self, bug):
        """The cells of the table, and a sentence when something is wrong."""
        try:
            self.twin(bug, self.options.twin_runs, [name for name in self.options.strategies if name != "directed"])
            binary = self.build(bug.source)
            self.tame(binary)
            cells = [self.median_failure(bug, binary, strategy) for strategy in self.options.strategies]
            return [bug.name, bug.fails, bug.preemptions, *cells, self.run_command(binary)], None
        except programs.Failure as failure:
            return None, f"{bug.name}: {failure}"

    def check(self, bug):
        """None, or a sentence."""
        try:
            self.twin(bug, TWIN_RUNS, ["random"])
            binary = self.build(bug.source)
            self.tame(binary)
            if bug.name in QUICK:
                first, done, _ = self.first_failure(bug, binary, "random", QUICK_RUNS)
                if first is None:
                    raise programs.Failure(f"none of {done} random schedules fails")
        except programs.Failure as failure:
            return f"{bug.name}: {failure}"
        return None


def print_table(strategies, rows):
    print(f"| program | fails with | preemptions | {' | '.join(f'`{name}`' for name in strategies)} | `sooth run` |")
    print(f"|---|---|---:|{'---:|' * len(strategies)}---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    for i, strategy in enumerate(strategies):
        print(f"{strategy}: {sum(not row[3 + i].startswith('-') for row in rows)} of {len(rows)}")
    print(f"some strategy: {sum(any(not cell.startswith('-') for cell in row[3:3 + len(strategies)]) for row in rows)} of {len(rows)}")
    print(f"sooth run: {sum(not row[-1].startswith('no') for row in rows)} of {len(rows)}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--programs", type=lambda text: text.split(","), help="names without _bug; all by default")
    parser.add_argument("--strategies", type=lambda text: text.split(","), default=["random", "pct:3", "pos", "surw", "rff", "directed", "auto"])
    parser.add_argument("--runs", type=int, default=1000, help="schedules of each strategy, at most")
    parser.add_argument("--campaigns", type=int, default=1, help="with other seeds: the table has the medians")
    parser.add_argument("--seconds", type=int, default=30, help="for one strategy on one program")
    parser.add_argument("--twin-runs", type=int, default=100, help="schedules of each strategy for the fixed twins")
    parser.add_argument("--budget", type=int, default=20, help="seconds of `sooth run`")
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
    with tempfile.TemporaryDirectory(prefix="sooth-bugs-") as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        bench = Bench(options, pathlib.Path(work))
        if options.check:
            wrong = [sentence for sentence in pool.map(bench.check, bugs) if sentence]
        else:
            rows, wrong = [], []
            for row, sentence in pool.map(bench.row, bugs):
                rows += [row] if row else []
                wrong += [sentence] if sentence else []
            print_table(options.strategies, rows)
    for sentence in wrong:
        print(sentence)
    print(f"{len(bugs) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
