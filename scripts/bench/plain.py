#!/usr/bin/env python3
"""Programs as they are: races and false alarms of `sooth run --engine valgrind`, Helgrind and DRD on the same binaries.

    scripts/bench.py plain [--compilers gcc,clang-14] [--levels 0,2] [--sample SEED/N] [--jobs N] [--tools engine,...]
        [--quick] [NAME...]

Every program of tests/programs and examples/ is built without -fsanitize=thread, by each compiler at each level, and the three tools are
asked about that one binary. For comparison Sooth is also asked about a build with hooks, by the same compiler at the same level: what it
finds there and not in the binary as it is has been lost with the source. What counts as a race and as a false alarm is said in compare.py.
After the tables there is a line for each false alarm of Sooth above `suspected` (the goal is none), and one for each race that hooks show.

With --quick one recording of each program is judged instead of a whole `sooth run`, in a tenth of the time. The exit status is 1 when
there is a false alarm.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import compare
import tables
from compare import Answer, Truth, programs, run_command

TOOLS = {"engine": "Sooth, as it is", "helgrind": "Helgrind", "drd": "DRD", "hooks": "Sooth, with hooks"}
Job = collections.namedtuple("Job", "truth compiler level")


def binary_of(job, options, work, hooks):
    def driver(source):
        compiler = job.compiler.driver(source)
        return [options.sooth, "cc" if source.suffix == ".c" else "c++", f"--compiler={compiler}"] if hooks else [compiler]
    return compare.build(job.truth, work, options.limit, driver, level=job.level)


def ends_of(finding):
    return tuple(sorted(programs.innermost(programs.Sooth._frames(access)) for access in finding["accesses"]))


def is_of_the_test(ends):
    """The steps of quiet_steps.h race, which nobody who has hooks is told of."""
    return all(file == "quiet_steps.h" for file, _ in ends)


def marked_pair(truth, finding, level):
    """Code that was optimised may have lost the line of one end: then the name of the variable, on the line that is marked, tells."""
    ends = ends_of(finding)
    if ends in truth.pairs or level == "0":
        return ends
    text = truth.program.path.read_text().splitlines()
    names = {re.split(r"[^\w]", access.get("variable", ""))[0] for access in finding["accesses"]}
    for pair in truth.pairs:
        lost = [end for end in pair if end not in ends]
        if len(lost) == 1 and all(re.search(rf"\b{re.escape(name)}\b", text[lost[0][1] - 1]) for name in names):
            return pair
    return ends


def why_suspected(finding):
    """A plain mov may be atomic, or an order may hang on one."""
    witness = finding.get("witness", {})
    order = "an order hangs on what a read saw" if witness.get("refuted") else "" if witness.get("status") == "checked" else witness.get("why", "")
    return "; ".join(filter(None, ["it may be atomic" if finding.get("may_be_atomic") else "", order]))


def read_report(job, seconds, path):
    proven, suspected = set(), {}
    for finding in json.loads(path.read_text())["findings"]:
        ends = ends_of(finding)
        if finding["kind"] != "race" or is_of_the_test(ends):
            continue
        if finding["rung"] == "suspected":
            suspected.setdefault(ends, why_suspected(finding))
        else:
            proven.add(marked_pair(job.truth, finding, job.level))
    return Answer(*job.truth.split(proven), {ends: why for ends, why in suspected.items() if ends not in proven}, seconds, "")


def run_sooth(job, tool, options, binary):
    flags = [*(["--engine", "valgrind"] if tool == "engine" else []), *(["--no-rerun"] if options.quick else [])]
    seconds = compare.run_sooth(job.truth, options, binary, *flags).seconds
    report = binary.with_name("report.json")
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        shutil.copy(report, options.keep / f"{job.truth.name}-{job.compiler.name}-{job.level}-{tool}.json")
    return read_report(job, seconds, report)


def ask(job, tool, options, work):
    try:
        binary = binary_of(job, options, work, tool == "hooks")
        if tool in ("engine", "hooks"):
            return run_sooth(job, tool, options, binary)
        return compare.run_valgrind(job.truth, options, binary, tool)
    except compare.TimeIsOver:
        return Answer([], [], {}, float(options.limit), "time limit")
    except (programs.Failure, OSError, json.JSONDecodeError, KeyError, subprocess.TimeoutExpired) as failure:
        return Answer([], [], {}, 0.0, f"failed: {failure}")


def ask_all(job, tools, options):
    answers = {}
    with tempfile.TemporaryDirectory(prefix="sooth-plain-") as work:
        for tool in tools:
            answers[tool] = ask(job, tool, options, work)
            if answers[tool].ended:
                print(f"{spell(job)}, {TOOLS[tool]}: {answers[tool].ended}", file=sys.stderr, flush=True)
    return answers


def spell(job):
    return f"{job.truth.name} ({job.compiler.name} -O{job.level})"


def lines_of(ends):
    return "-".join(str(line) for _, line in ends)


def row(tool, jobs, answers):
    mine = [answers[job][tool] for job in jobs]
    false, blamed = sum(len(each.false) for each in mine), sum(bool(each.false) for each in mine)
    races = sum(len(job.truth.pairs) for job in jobs)
    return [TOOLS[tool], f"{sum(len(each.found) for each in mine)} of {races}", f"{false} in {blamed}" if false else "0",
            str(sum(len(each.suspected) for each in mine)) if tool in ("engine", "hooks") else "",
            str(sum(bool(each.ended) for each in mine)), f"{sum(each.seconds for each in mine) / len(mine):.1f}"]


HEADINGS = ["tool", ">races found", ">false alarms in programs", ">only suspected", ">no answer", ">seconds a program"]


def print_tables(answers, tools):
    for compiler, level in sorted({(job.compiler.name, job.level) for job in answers}):
        jobs = [job for job in answers if (job.compiler.name, job.level) == (compiler, level)]
        print(f"\n{len(jobs)} programs, {compiler} -O{level}:\n")
        print(tables.render(HEADINGS, [row(tool, jobs, answers) for tool in tools]), flush=True)


def print_differences(answers, tools):
    """The false alarms, and what hooks find that is not found without; the number of the former."""
    count = 0
    for job, each in answers.items():
        for ends in each["engine"].false:
            count += 1
            print(f"false alarm: {spell(job)} {lines_of(ends)}")
    for job, each in answers.items():
        wanted = set(each["hooks"].found) if "hooks" in tools else job.truth.pairs
        for ends in sorted(wanted - set(each["engine"].found)):
            why = each["engine"].suspected.get(ends)
            print(f"{'not found' if why is None else 'only suspected'}: {spell(job)} {lines_of(ends)}{': ' + why if why else ''}")
    return count


def parse_options():
    parser = argparse.ArgumentParser(prog="scripts/bench.py plain", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, default=compare.ROOT / "build/bin/sooth")
    parser.add_argument("--compilers", default="gcc,clang-14", help="those that are missing are left out")
    parser.add_argument("--levels", default="0,2", help="levels of optimisation")
    parser.add_argument("--sample", metavar="SEED/N", help="a seeded Nth of all combinations")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=60, help="seconds for a run of a tool; half of it is the budget of `sooth run`")
    parser.add_argument("--quick", action="store_true", help="judge one recording of each program")
    parser.add_argument("--tools", default=",".join(TOOLS), help="of " + ", ".join(TOOLS) + "; always the first")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="leave the reports of Sooth there")
    parser.add_argument("names", nargs="*", help="programs; all by default")
    return parser.parse_args()


def jobs_of(options):
    compilers = [each for each in map(programs.Compiler, options.compilers.split(",")) if each.available]
    table = run_command.read_table()
    paths = programs.sources() + sorted(programs.EXAMPLES.glob("bank_account_*.cc"))
    truths = [Truth(path, table) for path in paths if not options.names or path.stem in options.names]
    # What a program tells the library by annotations is not there without it.
    truths = [truth for truth in truths if not truth.program.misuse]
    jobs = [Job(*each) for each in itertools.product(truths, compilers, options.levels.split(",")) if each[0].program.wants(*each[1:])]
    if options.sample:
        seed, share = map(int, options.sample.split("/"))
        choice = random.Random(seed)
        jobs = [job for job in jobs if choice.randrange(share) == 0]
    return jobs


def main():
    options = parse_options()
    jobs = jobs_of(options)
    if not jobs:
        sys.exit("there is nothing to run")
    tools = [tool for tool in TOOLS if tool == "engine" or tool in options.tools.split(",")]
    answers = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, each in zip(jobs, pool.map(lambda job: ask_all(job, tools, options), jobs)):
            answers[job] = each
    print_tables(answers, tools)
    print()
    false = print_differences(answers, tools)
    return 0 if tables.goal(false == 0, f"{false} false alarms above `suspected`") else 1


if __name__ == "__main__":
    sys.exit(main())
