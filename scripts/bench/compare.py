#!/usr/bin/env python3
"""Sooth, ThreadSanitizer, Helgrind and DRD on the same programs; scripts/compare.sh calls it and says what it is for.

What counts: a *race* is a pair of lines that the comments of the program mark. A tool has found it when it reports that pair; DRD names one access only, so for it one of the two lines
suffices. A *false alarm* is a pair that is reported and not marked. Of Sooth, what stands on `predicted` or above counts; what it only suspects has a column of its own.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/programs"))
import run as programs  # noqa: E402  (the marks, and how programs are built)
import run_command  # noqa: E402  (the examples without marks)

TSAN_RUNS = 20
LEVEL = "1"
Answer = collections.namedtuple("Answer", "found false suspected seconds ended")  # lists of pairs; ended: "" or why there is no answer


class TimeIsOver(Exception):
    pass


def execute(command, limit, cwd, environment=None):
    """(standard output, standard error); whatever the program's status."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, errors="replace", timeout=limit,
                              check=False, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        raise TimeIsOver from None
    return done.stdout, done.stderr


class Truth:
    """The marked pairs of a program."""

    def __init__(self, path, table):
        self.case = run_command.Case(path, table)
        self.program, self.name = self.case.program, self.case.name
        self.pairs = set(self.program.races.values())
        if not self.pairs and self.case.is_example:
            self.pairs = {tuple(sorted((path.name, int(line)) for line in ends.split("-"))) for ends in self.case.expected}
        self.group = "examples" if self.case.is_example else "pairs"

    def split(self, reported):
        """(marked, others) of the reported pairs; a pair with one end stands for all that have it."""
        found, false = set(), set()
        for ends in reported:
            hit = {pair for pair in self.pairs if set(ends) <= set(pair)} if len(ends) == 1 else self.pairs & {ends}
            found |= hit
            false |= set() if hit else {ends}
        return sorted(found), sorted(false)


def build(truth, work, limit, driver, *flags, level=LEVEL):
    """The program, built once for all tools that take the same build; each build has a folder of its own."""
    binary = pathlib.Path(work) / ("-".join(map(str, driver(truth.program.path))) + "".join(flags)).replace("/", "_") / truth.name
    if binary.exists():
        return binary
    binary.parent.mkdir()
    for source in [*truth.program.plugins, truth.program.path]:
        shared = source != truth.program.path
        target = binary.parent / source.with_suffix(".so").name if shared else binary
        words = [*programs.command_line(driver(source), truth.program, source, level, *flags), *(["-shared", "-fPIC"] if shared else []), "-o", target]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=10 * limit, check=False)
        if done.returncode != 0:
            raise programs.Failure(done.stderr.strip()[-300:])
    return binary


def gcc(source):
    return ["gcc" if source.suffix == ".c" else "g++"]


def ask_sooth(truth, options, work):
    return run_sooth(truth, options, build(truth, work, options.limit, lambda source: [options.sooth, "cc" if source.suffix == ".c" else "c++"]))


def run_sooth(truth, options, binary, *flags):
    report = binary.with_name("report.json")
    begin = time.monotonic()
    execute([options.sooth, "run", "--budget", f"{options.limit // 2}s", *flags, "--format", "json", "-o", report, "--", binary,
             *truth.program.arguments], options.limit * 2, binary.parent)
    seconds = time.monotonic() - begin
    proven, suspected = set(), set()
    for finding in json.loads(report.read_text())["findings"]:
        if finding["kind"] == "race":
            ends = tuple(sorted(programs.innermost(programs.Sooth._frames(access)) for access in finding["accesses"]))
            (suspected if finding["rung"] == "suspected" else proven).add(ends)
    return Answer(*truth.split(proven), sorted(suspected - proven), seconds, "")


def ask_tsan(truth, options, work, runs, driver=gcc, environment=None):
    binary = build(truth, work, options.limit, driver, "-fsanitize=thread")
    reported, begin = set(), time.monotonic()
    for _ in range(runs):
        _, errors = execute([binary, *truth.program.arguments], options.limit, binary.parent,
                            {"TSAN_OPTIONS": programs.Tsan.OPTIONS, **(environment or {})})
        for report in errors.split("==================\n"):
            if report.startswith("WARNING: ThreadSanitizer: data race") or report.startswith("WARNING: ThreadSanitizer: heap-use-after-free"):
                stacks = programs.Tsan._stacks(report)
                if len(stacks) >= 2:
                    reported.add(tuple(sorted(programs.innermost((file, line) for _, file, line in stack) for stack in stacks[:2])))
    return Answer(*truth.split(reported), [], time.monotonic() - begin, "")


FRAME = re.compile(r"(?:at|by) 0x[0-9A-F]+: .* \((?:in )?([^():]+)(?::(\d+))?\)$")


def frames_of(lines, folder_of):
    """(file, line) of the frames at the start of `lines`, behind one that tells of locks."""
    frames = []
    for line in lines[lines[0].startswith("Locks held"):] if lines else []:
        match = FRAME.search(line)
        if not match:
            break
        frames.append((folder_of.get(match[1], match[1]), int(match[2] or 0)))
    return frames


def stacks_after(text, pattern, folder_of):
    lines = [re.sub(r"^==\d+== ?", "", line) for line in text.splitlines()]
    for i, line in enumerate(lines):
        if pattern.search(line):
            yield i, frames_of(lines[i + 1:], folder_of), lines


def ask_valgrind(truth, options, work, tool):
    # Without inlining, so that the lines are those of the accesses.
    return run_valgrind(truth, options, build(truth, work, options.limit, gcc, level="0"), tool)


def run_valgrind(truth, options, binary, tool):
    # Valgrind prints names of files without their folders.
    folder_of = {path.name: str(path) for folder in (programs.FOLDER, programs.EXAMPLES) for path in folder.iterdir()}
    begin = time.monotonic()
    _, errors = execute(["valgrind", f"--tool={tool}", "--fair-sched=try", "--trace-children=yes", binary, *truth.program.arguments],
                        options.limit, binary.parent)
    seconds = time.monotonic() - begin
    reported = set()
    first = re.compile(r"Possible data race during|Conflicting (?:load|store) by")
    second = re.compile(r"This conflicts with a previous")
    for i, frames, lines in stacks_after(errors, first, folder_of):
        ends = [programs.innermost(frames)]
        for at in range(i + 1, min(i + 60, len(lines))):
            if first.search(lines[at]):
                break
            if second.search(lines[at]):
                ends.append(programs.innermost(frames_of(lines[at + 1:], folder_of)))
                break
        reported.add(tuple(sorted(ends)))
    return Answer(*truth.split(reported), [], seconds, "")


TOOLS = {
    "sooth": ("Sooth, one run", ask_sooth),
    "tsan1": ("ThreadSanitizer, one run", lambda *job: ask_tsan(*job, 1)),
    "tsan20": (f"ThreadSanitizer, {TSAN_RUNS} runs", lambda *job: ask_tsan(*job, TSAN_RUNS)),
    "helgrind": ("Helgrind, one run", lambda *job: ask_valgrind(*job, "helgrind")),
    "drd": ("DRD, one run", lambda *job: ask_valgrind(*job, "drd")),
}


def ask(truth, tool, options, work):
    try:
        return TOOLS[tool][1](truth, options, work)
    except TimeIsOver:
        return Answer([], [], [], float(options.limit), "time limit")
    except (programs.Failure, OSError, json.JSONDecodeError, KeyError, subprocess.TimeoutExpired) as failure:
        return Answer([], [], [], 0.0, f"failed: {failure}")


def ask_all(truth, tools, options, store):
    """What is missing about one program."""
    with tempfile.TemporaryDirectory(prefix="sooth-compare-") as work:
        for tool in tools:
            answer = ask(truth, tool, options, work)
            store.add(Store.key(truth, tool), answer)
            if answer.ended:
                print(f"{truth.name}, {tool}: {answer.ended}", file=sys.stderr, flush=True)


class Store:
    """Answers that are there already, one line each; a line that was cut off does not count."""

    def __init__(self, path):
        self.path, self.answers, self.lock = path, {}, threading.Lock()
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                row = json.loads(line)
                self.answers[tuple(row["key"])] = Answer(*row["answer"])
            except (json.JSONDecodeError, KeyError, TypeError):
                pass

    @staticmethod
    def key(truth, tool):
        return truth.name, tool, hashlib.sha256(truth.program.path.read_bytes()).hexdigest()[:16]

    def add(self, key, answer):
        with self.lock, open(self.path, "a") as file:
            self.answers[key] = answer
            file.write(json.dumps({"key": key, "answer": answer}) + "\n")


def summary(truths, store, tool):
    """A row of the table over some programs."""
    answers = [(truth, store.answers[Store.key(truth, tool)]) for truth in truths]
    races = sum(len(truth.pairs) for truth in truths)
    found = sum(len(answer.found) for _, answer in answers)
    false = sum(len(answer.false) for _, answer in answers)
    blamed = sum(bool(answer.false) for _, answer in answers)
    suspected = str(sum(len(answer.suspected) for _, answer in answers)) if tool == "sooth" else ""
    ended = sum(bool(answer.ended) for _, answer in answers)
    seconds = sum(answer.seconds for _, answer in answers)
    return [TOOLS[tool][0], f"{found} of {races}", f"{false} in {blamed} program" + "s" * (blamed != 1) if false else "0", suspected, str(ended) if ended else "0",
            f"{seconds:.0f}", f"{seconds / max(len(truths), 1):.2f}"]


HEADINGS = ["tool", ">races found", ">false alarms", ">only suspected", ">no answer", ">seconds", ">seconds a program"]


def print_examples(truths, store):
    table = tables.Printed("program", ">races", *(">" + TOOLS[tool][0] for tool in TOOLS))
    for truth in truths:
        cells = []
        for tool in TOOLS:
            answer = store.answers[Store.key(truth, tool)]
            cells.append(answer.ended.split(":")[0] or f"{len(answer.found)}" + (f" (+{len(answer.false)} false)" if answer.false else ""))
        table.row(truth.name, len(truth.pairs), *cells)


def parse_options():
    parser = argparse.ArgumentParser(prog="scripts/compare.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, default=ROOT / "build/bin/sooth")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=60, help="seconds for a run of a tool")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/compare")
    parser.add_argument("--sample", metavar="SEED/N", help="an Nth of the program pairs, and all examples")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier call has found")
    parser.add_argument("names", nargs="*", help="programs; all by default")
    return parser.parse_args()


def main():
    options = parse_options()
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.work / "results.jsonl"
    if options.fresh:
        results.unlink(missing_ok=True)
    store, table = Store(results), run_command.read_table()
    paths = programs.sources() + sorted(programs.EXAMPLES.glob("bank_account_*.cc"))
    compiler = programs.Compiler("gcc")
    truths = [Truth(path, table) for path in paths]
    truths = [truth for truth in truths if not truth.program.misuse and truth.program.wants(compiler, LEVEL)]
    if options.names:
        truths = [truth for truth in truths if truth.name in options.names]
    elif options.sample:
        chosen = {case.name for case in run_command.select([truth.case for truth in truths], options.sample)}
        truths = [truth for truth in truths if truth.name in chosen]
    truths.sort(key=lambda truth: truth.group)  # the examples first
    todo = {truth: [tool for tool in TOOLS if Store.key(truth, tool) not in store.answers] for truth in truths}
    if missing := sum(map(len, todo.values())):
        print(f"{missing} of {len(truths) * len(TOOLS)} answers are missing", file=sys.stderr, flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for _ in pool.map(lambda truth: ask_all(truth, todo[truth], options, store), [truth for truth in truths if todo[truth]]):
            pass
    examples = [truth for truth in truths if truth.group == "examples"]
    pairs = [truth for truth in truths if truth.group == "pairs"]
    for title, group in (("examples", examples), ("program pairs", pairs)):
        if group:
            print(f"\n{len(group)} {title}, {sum(len(truth.pairs) for truth in group)} races:\n")
            print(tables.render(HEADINGS, [summary(group, store, tool) for tool in TOOLS]))
    if examples:
        print("\nThe examples one by one:\n")
        print_examples(examples, store)


if __name__ == "__main__":
    main()
