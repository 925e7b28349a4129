#!/usr/bin/env python3
"""`sooth run` on every program of this folder and on every example: the races and the rungs that come out of one command.

    run_command.py --sooth build/bin/sooth [--level 1] [--compiler gcc] [--sample SEED/N] [--jobs N] [--update] [NAME ...]

The marks in the sources (run.py explains them) are the truth, and run_command.expected is the table: for each race the rung that it
must reach with GCC at -O1. A race is marked, or it stays `suspected`; what is marked is in the report, on the rung of the table or above it; what a
sound analysis alone finds in the same recording is there as well; and the program prints and ends as it does without Sooth. With --sample all examples
are run, and a seeded Nth of the other programs, both halves of a pair. --update writes the rungs that were reached into the table, for review.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run as programs  # noqa: E402  (the marks, the compilers, and how programs are built)

TABLE = programs.FOLDER / "run_command.expected"
RUNGS = ["suspected", "predicted", "confirmed", "harmful"]
SOUND = ["hb", "wcp", "syncp", "mcm"]  # what they call predicted or better needs nobody else's word
TIME_LIMIT = 120  # seconds for one command: what takes longer hangs


def spell(ends):
    """`12-20`, or with the file's name where that is not the program's own."""
    return "-".join(str(line) if not file else f"{file}:{line}" for file, line in ends)


class Case:
    """A program, and what its marks and the table expect of `sooth run`."""

    def __init__(self, path, table):
        self.program = programs.Program(path)
        self.name = path.stem
        self.is_example = path.parent == programs.EXAMPLES
        self.expected = {self.short(ends): name for name, ends in self.program.races.items()}
        self.table = table.get(self.name, {})
        if not self.expected and self.is_example:  # without marks the table alone tells
            self.expected = {ends: "" for ends in self.table}

    def short(self, ends):
        return spell(sorted((("" if file == self.program.path.name else file), line) for file, line in sorted(ends)))

    def races(self, report):
        """Ends -> the highest rung of the findings between them."""
        found = {}
        for finding in report["findings"]:
            if finding["kind"] == "race":
                ends = self.short([programs.innermost(programs.Sooth._frames(access)) for access in finding["accesses"]])
                found[ends] = max(found.get(ends, "suspected"), finding["rung"], key=RUNGS.index)
        return found


def read_table():
    table = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if line and not line.startswith("#"):
            name, ends, rung = line.split()
            table.setdefault(name, {})
            if ends != "none":
                table[name][ends] = rung
    return table


def write_table(table):
    width = max(map(len, table)) + 2
    ends_width = max((len(ends) for rows in table.values() for ends in rows), default=0) + 2
    with open(TABLE, "w") as file:
        file.write("# Program, lines of the race (or `none`), the rung that `sooth run` must reach. Made by run_command.py --update.\n")
        for name in sorted(table):
            for ends, rung in sorted(table[name].items()) or [("none", "-")]:
                file.write(f"{name:{width}}{ends:{ends_width}}{rung}\n")


class Lab:
    """A scratch directory for one program."""

    def __init__(self, options, case, work):
        self.options, self.case, self.work = options, case, pathlib.Path(work)
        self.environment = dict(os.environ, TMPDIR=str(self.work / "tmp"))
        (self.work / "tmp").mkdir()

    def execute(self, words):
        try:
            run = subprocess.run([str(word) for word in words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT, check=False)
        except subprocess.TimeoutExpired:
            raise programs.Failure(f"`{' '.join(map(str, words))}` did not end within {TIME_LIMIT} s") from None
        return run.stdout, run.stderr, run.returncode if run.returncode >= 0 else 128 - run.returncode

    def run(self):
        """What the program prints and how it ends, alone and under sooth run; and the report."""
        program, compiler, level = self.case.program, self.options.compiler, self.options.level
        (self.work / "plain").mkdir()
        programs.build(lambda source: [compiler.driver(source)], program, level, self.work / "plain" / self.case.name)
        programs.Sooth(self.options).build(program, compiler, level, self.work / self.case.name)
        plain = self.execute([*compiler.emulator, self.work / "plain" / self.case.name, *program.arguments])
        output, errors, status = self.execute([self.options.sooth, "run", "--keep", "trace", "--no-times", "--budget", "30s",
                                               "-o", "report.txt", "--", "./" + self.case.name, *program.arguments])
        if not (self.work / f"sooth-{self.case.name}.json").exists():
            raise programs.Failure(f"sooth run ended with status {status} and left no report: {errors.strip()}")
        report = json.loads((self.work / f"sooth-{self.case.name}.json").read_text())
        return plain, (output, errors, status), report

    def alone(self, analysis):
        """The races that one analysis finds in the recordings, without those that it only suspects."""
        found = {}
        for trace in sorted(self.work.glob("trace*")):
            output, errors, status = self.execute([self.options.sooth, "analyze", trace, "--with", analysis, "--format", "json"])
            if status not in (0, 66):
                raise programs.Failure(f"sooth analyze --with {analysis} ended with status {status}: {errors.strip()}")
            found.update(self.case.races(json.loads(output)))
        return {ends for ends, rung in found.items() if rung != "suspected"}


def judge(case, lab, plain, recorded, report, strict):
    """The races of the report; raises a Failure that names every difference."""
    program, found, wrong = case.program, case.races(report), []
    for ends in case.expected:
        rung = case.table.get(ends, "suspected") if strict else "suspected"
        if ends not in found:
            wrong.append(f"misses the race {ends}: {found}")
        elif RUNGS.index(found[ends]) < RUNGS.index(rung):
            wrong.append(f"the race {ends} is only {found[ends]}, not {rung}")
    wrong += [f"{ends} is {rung}, and no race" for ends, rung in sorted(found.items()) if rung != "suspected" and ends not in case.expected]
    misuse = programs.Sooth(lab.options)._misuse(report)
    if misuse != program.misuse:
        wrong.append(f"misuse: {sorted(misuse)} instead of {sorted(program.misuse)}")
    for analysis in SOUND:
        wrong += [f"{analysis} alone finds {ends}" for ends in sorted(lab.alone(analysis))
                  if found.get(ends, "suspected") == "suspected"]
    proven = any(finding["rung"] != "suspected" for finding in report["findings"])
    # What examples print may depend on the schedule: only its shape is fixed.
    shape = (lambda text: re.sub(r"-?\d+", "N", text)) if case.is_example else (lambda text: text)
    if shape(plain[0]) != shape(recorded[0]):
        wrong.append(f"the program printed {recorded[0]!r} instead of {plain[0]!r}")
    if recorded[2] != (66 if proven else plain[2]):
        wrong.append(f"sooth run ended with status {recorded[2]}, the program alone with {plain[2]}: {recorded[1].strip()}")
    wrong += check_text(case, report, (lab.work / "report.txt").read_text())
    if left := sorted(os.listdir(lab.work / "tmp")):
        wrong.append(f"left behind: {left}")
    if wrong:
        raise programs.Failure("\n    ".join(wrong))
    return found


def check_text(case, report, text):
    """Every finding stands once in the text, suspicions as a number, and what was reached has a line that makes it happen again."""
    for finding in report["findings"]:
        if text.count(f"[{finding['id']}]") != (finding["rung"] != "suspected"):
            yield f"{finding['id']} stands not once in the text, or is a suspicion and does"
        command = finding.get("replay", {}).get("command", "")
        # A failure of the recorded run has one only if a controlled run ended so, too.
        by_itself = finding.get("failure", {}).get("recorded", False)
        if finding["rung"] in ("confirmed", "harmful") and not (by_itself and not command) and f"sooth-{case.name}.json#{finding['id']}" not in command:
            yield f"{finding['id']} has the replay {command!r}"


def check(case, options):
    """(races, seconds, None), or (None, seconds, a sentence)."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sooth-run-command-") as work:
        try:
            lab = Lab(options, case, work)
            found = judge(case, lab, *lab.run(), options.strict)
            return found, time.monotonic() - start, None
        except (programs.Failure, OSError, json.JSONDecodeError, KeyError) as failure:
            return None, time.monotonic() - start, f"{case.name} ({options.compiler.name} -O{options.level}): {failure}"


def select(cases, sample):
    if not sample:
        return cases
    seed, share = map(int, sample.split("/"))
    choice = random.Random(seed)
    pairs = sorted({case.name.rsplit("_", 1)[0] for case in cases if not case.is_example})
    chosen = {pair for pair in pairs if choice.randrange(share) == 0}
    return [case for case in cases if case.is_example or case.name.rsplit("_", 1)[0] in chosen]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, required=True)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--level", default="1", help="of optimisation")
    parser.add_argument("--sample", metavar="SEED/N", help="an Nth of the programs, and all examples")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--verbose", action="store_true", help="a line for each program")
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    options.compiler = programs.Compiler(options.compiler)
    options.schedule, options.seed, options.filter, options.deep = "serial", "1", "off", False
    # The table is of one compiler at one level; others may keep or drop accesses of a pair.
    options.strict = options.compiler.name == "gcc" and options.level == "1" and not options.update
    return options


def main():
    options = parse_options()
    table = read_table()
    sources = [path for path in programs.sources()] + [path for path in sorted(programs.EXAMPLES.glob("bank_account_*.cc"))]
    cases = [Case(path, table) for path in sources]
    cases = [case for case in cases if case.program.wants(options.compiler, options.level)]
    cases = [case for case in cases if case.name in options.names] if options.names else select(cases, options.sample)
    if not cases:
        sys.exit("there is nothing to run")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, (found, seconds, sentence) in zip(cases, pool.map(lambda case: check(case, options), cases)):
            if sentence:
                print(sentence)
                failed += 1
            elif options.verbose:
                print(f"{case.name} ({seconds:.1f} s): " + (", ".join(f"{ends} {rung}" for ends, rung in sorted(found.items())) or "nothing"))
            if found is not None and options.update:
                table[case.name] = {ends: rung for ends, rung in found.items() if ends in case.expected or not case.program.races and case.is_example}
            sys.stdout.flush()
    if options.update:
        write_table(table)
    for case in cases:
        missing = set(case.expected) - set(case.table) if options.strict else ()
        if missing or options.strict and case.name not in table:
            print(f"{case.name}: not in {TABLE.name}: {sorted(missing)}; run with --update, and look at what it writes")
            failed += 1
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
