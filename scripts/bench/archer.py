#!/usr/bin/env python3
"""OpenMP programs: races and false alarms of Sooth, of gcc's ThreadSanitizer, and of clang's with ARCHER, in one run.

    scripts/bench.py archer [--clang clang-14] [--sample SEED/N] [--jobs N] [--quick] [--threads N] [NAME...]

Every OpenMP program of tests/programs is built with -O1 by both compilers. Sooth is asked about both builds, each ThreadSanitizer about that
of its compiler. ARCHER, which tells ThreadSanitizer what libomp orders, is libarcher.so of that clang's version, loaded by
OMP_TOOL_LIBRARIES. What counts as a race and as a false alarm is said in compare.py. After the table there is a line for each race that Sooth
missed and for each of its false alarms; the exit status is then 1. With --quick Sooth judges one recording instead of a whole `sooth run`.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import compare
import tables
from compare import Answer, Truth, programs, run_command


def archer_of(clang):
    """libarcher.so of clang's version; None when it is not installed."""
    root = pathlib.Path(programs.must([clang.cxx, "-print-resource-dir"]).strip()).parents[2]
    library = root / "lib/libarcher.so"
    return library if library.exists() else None


def ask_sooth(truth, options, work, compiler):
    def driver(source):
        return [options.sooth, "cc" if source.suffix == ".c" else "c++", f"--compiler={compiler.driver(source)}"]
    binary = compare.build(truth, work, options.limit, driver)
    return compare.run_sooth(truth, options, binary, *(["--no-rerun"] if options.quick else []))


def ask_tsan(truth, options, work, compiler, archer=None):
    # ARCHER is for programs whose libomp is not instrumented: what that does by itself must not be intercepted.
    environment = {"OMP_TOOL_LIBRARIES": str(archer), "TSAN_OPTIONS": programs.Tsan.OPTIONS.replace("modules=0", "modules=1")} if archer else {}
    return compare.ask_tsan(truth, options, work, 1, lambda source: [compiler.driver(source)], environment)


def tools_of(gcc, clang):
    """Name of each tool, the compiler of its builds, and how it is asked."""
    tools = []
    for compiler in (gcc, clang):
        if compiler.available and compiler.has_openmp():
            tools.append((f"Sooth, {compiler.name}", compiler, ask_sooth))
    if gcc.available:
        tools.append((f"ThreadSanitizer of {gcc.name}", gcc, ask_tsan))
    if clang.available and (archer := archer_of(clang)):
        tools.append((f"ThreadSanitizer of {clang.name}, ARCHER", clang, lambda *job: ask_tsan(*job, archer)))
    return tools


def ask(truth, tool, options, work):
    name, compiler, how = tool
    try:
        answer = how(truth, options, work, compiler)
    except compare.TimeIsOver:
        answer = Answer([], [], [], float(options.limit), "time limit")
    except (programs.Failure, OSError, json.JSONDecodeError, KeyError, subprocess.TimeoutExpired) as failure:
        answer = Answer([], [], [], 0.0, f"failed: {failure}")
    if answer.ended:
        print(f"{truth.name}, {name}: {answer.ended}", file=sys.stderr, flush=True)
    return answer


def ask_all(truth, tools, options):
    """Per tool whose compiler takes the program: the answer."""
    with tempfile.TemporaryDirectory(prefix="sooth-archer-") as work:
        return {tool[0]: ask(truth, tool, options, work) for tool in tools if truth.program.wants(tool[1], compare.LEVEL)}


def row(name, answers):
    mine = [(truth, each[name]) for truth, each in answers.items() if name in each]
    false, blamed = sum(len(answer.false) for _, answer in mine), sum(bool(answer.false) for _, answer in mine)
    races = sum(len(truth.pairs) for truth, _ in mine)
    return [name, len(mine), f"{sum(len(answer.found) for _, answer in mine)} of {races}", f"{false} in {blamed}" if false else "0",
            sum(bool(answer.ended) for _, answer in mine), f"{sum(answer.seconds for _, answer in mine) / max(len(mine), 1):.1f}"]


HEADINGS = ["tool", ">programs", ">races found", ">false alarms in programs", ">no answer", ">seconds a program"]


def print_failures(answers):
    """What Sooth got wrong; how much that is."""
    count = 0
    for truth, each in answers.items():
        for name, answer in each.items():
            if not name.startswith("Sooth"):
                continue
            wrong = [("false alarm", ends) for ends in answer.false] + [("missed", ends) for ends in sorted(truth.pairs - set(answer.found))]
            count += len(wrong)
            for what, ends in wrong:
                print(f"{what}: {truth.name} ({name}) {'-'.join(str(line) for _, line in ends)}")
    return count


def parse_options():
    parser = argparse.ArgumentParser(prog="scripts/bench.py archer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, default=compare.ROOT / "build/bin/sooth")
    parser.add_argument("--clang", type=programs.Compiler, default="clang-14")
    parser.add_argument("--threads", type=int, default=4, help="OMP_NUM_THREADS of programs that do not say it themselves")
    parser.add_argument("--sample", metavar="SEED/N", help="a seeded Nth of the pairs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=60, help="seconds for a run of a tool; half of it is the budget of `sooth run`")
    parser.add_argument("--quick", action="store_true", help="judge one recording of each program")
    parser.add_argument("names", nargs="*", help="programs; all by default")
    return parser.parse_args()


def main():
    options = parse_options()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    table = run_command.read_table()
    truths = [Truth(path, table) for path in programs.sources() if not options.names or path.stem in options.names]
    truths = [truth for truth in truths if "-fopenmp" in truth.program.flags and not truth.program.misuse]
    if options.sample:
        chosen = {case.name for case in run_command.select([truth.case for truth in truths], options.sample)}
        truths = [truth for truth in truths if truth.name in chosen]
    tools = tools_of(programs.Compiler("gcc"), options.clang)
    if not truths or not tools:
        return 77
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = dict(zip(truths, pool.map(lambda truth: ask_all(truth, tools, options), truths)))
    print(tables.render(HEADINGS, [row(name, answers) for name, *_ in tools]) + "\n", flush=True)
    wrong = print_failures(answers)
    return 0 if tables.goal(wrong == 0, f"{wrong} races missed and false alarms above `suspected`") else 1


if __name__ == "__main__":
    sys.exit(main())
