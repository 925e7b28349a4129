#!/usr/bin/env python3
"""What Sooth costs on real programs beside ThreadSanitizer: processor time and peak memory, in one run.

    scripts/bench.py beside [--share S] [--runs N] [--budget SECONDS] [NAME...]

Compressors, a database, a web server under a bounded client and a program that allocates all the time, with so much to do that each takes a
second or more by itself (--share 0.1: a tenth of that). Each is built by gcc (plain, and for ThreadSanitizer) and by clang-19 (for
ThreadSanitizer); the binary that gcc made for ThreadSanitizer is also what Sooth records. Sources come from the distribution; a program whose
sources cannot be had is left out. clang's columns need libclang-rt-19-dev.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import measured
import program_sources
import recorded_programs
import tables
from program_sources import Program

WORKLOADS = pathlib.Path(__file__).resolve().parent / "workloads"
COMPILERS = {"native": (["gcc"], ["g++"]), "libtsan": (["gcc", "-fsanitize=thread"], ["g++", "-fsanitize=thread"]),
             "clang TSan": (["clang-19", "-fsanitize=thread"], ["clang++-19", "-fsanitize=thread"])}
# The size that makes program_sources.PROGRAMS run for a second: bytes of input.
COMPRESSORS = {"pbzip2": 14_000_000, "zstd": 150_000_000, "lbzip2": 14_000_000}
# As in program_sources; NUMBER is the size. Sources of ours have no package.
LOADS = [
    Program("leveldb",
            {"leveldb": ["db/*.cc", "table/*.cc", "util/*.cc", "!*_test.cc", "!testutil.cc", "!*_windows.cc", "!c.cc", "!leveldbutil.cc"],
             "": ["leveldb_load.cc"]},
            ["-DLEVELDB_PLATFORM_POSIX=1", "-DHAVE_FDATASYNC=1", "-DHAVE_O_CLOEXEC=1", "-I", "leveldb:include"], ["OUT", "NUMBER"], 40_000),
    Program("civetweb", {"civetweb": ["src/civetweb.c"], "": ["web_load.cc"]},
            ["-DNO_SSL", "-DNO_CGI", "-DNDEBUG", "-I", "civetweb:include"], ["NUMBER"], 20_000),
    Program("objects", {"": ["objects.cc"]}, [], ["NUMBER"], 8_000),
]
FOUR = "hb,wcp,syncp,deadlock"
# What is run, and what it is called; in turns.
MODES = ["native", "libtsan", "clang TSan", "record", "live hb", "live wcp", f"stored {FOUR}", "run"]
STORED = MODES[-2]

# Of one mode: medians. `wall` of what a run recorded and detected: `sooth run` counts stages on the clock.
Cost = collections.namedtuple("Cost", "cpu wall peak_bytes")
Result = collections.namedtuple("Result", "costs events run_stages")
Goal = collections.namedtuple("Goal", "promise measure relation bound unit")
MILLION = 1_000_000


def ratio(mode, other):
    return lambda r: r.costs[mode].cpu / r.costs[other].cpu


GOALS = [
    Goal("recording takes at most the processor time of clang's TSan", ratio("record", "clang TSan"), "<=", 1, "x"),
    Goal("live hb takes at most twice that of clang's TSan", ratio("live hb", "clang TSan"), "<=", 2, "x"),
    Goal("live hb takes at most that of libtsan", ratio("live hb", "libtsan"), "<=", 1, "x"),
    Goal(f"{FOUR} read 20 million recorded events a second", lambda r: r.events / MILLION / r.costs[STORED].cpu, ">=", 20, " M/s"),
    Goal(f"{FOUR} take at most 1 GB", lambda r: r.costs[STORED].peak_bytes / 2**30, "<=", 1, " GB"),
    Goal("record and detect of `sooth run` take at most 4 times the time of libtsan",
         lambda r: (r.run_stages["record"] + r.run_stages["detect"]) / r.costs["libtsan"].wall, "<=", 4, "x"),
]


def all_programs(share):
    sized = [program._replace(size=COMPRESSORS[program.name]) for program in program_sources.PROGRAMS if program.name in COMPRESSORS]
    return [program._replace(size=max(1, int(program.size * share))) for program in [*sized, *LOADS]]


def commands_of(program, archive, home):
    """By compiler: (words, file for standard output or None). Those whose compiler cannot do it are left out."""
    folders = {package: archive.fetch(package) if package else WORKLOADS for package in program.sources}
    data = home / "data"
    if "DATA" in program.arguments:
        program_sources.make_data(data, program.size)
    words = program._replace(arguments=[str(program.size) if word == "NUMBER" else word for word in program.arguments])
    commands = {}
    for name, compilers in COMPILERS.items():
        try:
            binary = program_sources.compile_program(program, folders, compilers, home / name.replace(" ", "-"))
        except (program_sources.Failure, OSError) as failure:
            if name != "clang TSan":
                raise
            print(f"{program.name}: not with {name}: {failure}", file=sys.stderr)
            continue
        output = home / "out"
        shutil.rmtree(output, ignore_errors=True)
        commands[name] = program_sources.command_line(words, binary, data, output)
    return commands


def words_of(sooth, mode, commands, scratch, budget):
    """The command of a mode."""
    program = commands["libtsan"][0]
    report = ["--fail-on", "never", "-o", scratch / "report"]
    if mode in commands:
        return commands[mode][0]
    if mode == "record":
        return [sooth, "record", "-o", scratch / "trace", "--", *program]
    if mode == "run":
        return [sooth, "run", "--budget", f"{budget}s", *report, "--store", scratch / "run.json", "--", *program]
    if mode == STORED:
        return [sooth, "analyze", scratch / "trace", "--with", FOUR, "--witness-events", "0", *report]
    return [sooth, "analyze", "--live", "--with", mode.removeprefix("live "), "--witness-events", "0", *report, "--", *program]


def measure(options, program, commands, scratch):
    sink = commands["libtsan"][1] or os.devnull
    samples = collections.defaultdict(list)
    events, stages = 0, {}
    modes = [mode for mode in MODES if mode not in COMPILERS or mode in commands]
    for turn in range(options.runs):
        for mode in modes:
            if mode == "run" and turn > 0:
                continue  # it takes its budget each time
            print(f"{program.name}: {mode}", file=sys.stderr, flush=True)
            if mode == "record":
                shutil.rmtree(scratch / "trace", ignore_errors=True)
            words = words_of(options.sooth, mode, commands, scratch, options.budget)
            samples[mode].append(measured.run(words, sink=sink, environment={"TSAN_OPTIONS": "exitcode=0 report_bugs=1"}))
            if mode == "record":
                events = recorded_programs.trace_info(options.sooth, scratch / "trace")["events"]
            if mode == "run":
                stored = json.loads((scratch / "run.json").read_text())
                stages = {row["stage"]: row["seconds"] for row in stored["stats"]["stages"]}
    shutil.rmtree(scratch / "trace", ignore_errors=True)
    # The smallest: what else the machine does only adds to it.
    costs = {mode: Cost(min(s.cpu for s in runs), min(s.wall for s in runs), max(s.peak_bytes for s in runs)) for mode, runs in samples.items()}
    return Result(costs, events, stages)


def print_rows(table, name, result):
    costs = result.costs
    for mode, cost in costs.items():
        against = [f"{cost.cpu / costs[other].cpu:.2f}" if other in costs else "" for other in ("native", "libtsan", "clang TSan")]
        table.row(name, mode, f"{cost.cpu:.2f}", *against, f"{cost.wall:.2f}", f"{cost.peak_bytes / 2**20:.0f} MB",
                  f"{result.events / MILLION:.1f}M" if mode in ("record", STORED) else "")


def print_goals(results):
    met = True
    for goal in GOALS:
        for name, result in results.items():
            try:
                value = goal.measure(result)
            except KeyError:
                print(f"  -      {goal.promise} ({name}): not measured by this run")
                continue
            fine = value <= goal.bound if goal.relation == "<=" else value >= goal.bound
            met &= tables.goal(fine, f"{goal.promise} ({name}): {value:.2f}{goal.unit}")
    return met


def read_options():
    parser = argparse.ArgumentParser(prog="scripts/bench.py beside", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1, help="of the work; 1 is a second or more for each program")
    parser.add_argument("--runs", type=int, default=1, help="of each mode but `sooth run`; the fastest counts")
    parser.add_argument("--budget", type=int, default=60, help="of `sooth run`")
    parser.add_argument("--sooth", required=True, type=os.path.abspath, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sources", default="build/real-programs", type=lambda name: pathlib.Path(name).resolve(),
                        help="where the sources of real programs are kept")
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(program.name for program in all_programs(1)))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leave through the end of `with`, which cleans up
    os.makedirs(options.scratch, exist_ok=True)
    return options


def main():
    options = read_options()
    archive = program_sources.Archive(options.sources)
    results = {}
    table = tables.Printed("program", "run", ">CPU s", ">x native", ">x libtsan", ">x clang TSan", ">wall s", ">peak memory", ">events")
    for program in all_programs(options.share):
        if options.names and program.name not in options.names:
            continue
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            scratch = pathlib.Path(folder).resolve()
            try:
                results[program.name] = measure(options, program, commands_of(program, archive, scratch), scratch)
            except program_sources.NoSources as reason:
                print(f"{program.name}: left out, its sources cannot be had: {reason}", file=sys.stderr)
                continue
        print_rows(table, program.name, results[program.name])
    print()
    if not results:
        return 77
    return 0 if print_goals(results) else 1


if __name__ == "__main__":
    sys.exit(main())
