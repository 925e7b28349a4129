#!/usr/bin/env python3
"""What recording costs: one binary, compiled by GCC for ThreadSanitizer, under libtsan and under sooth.

    scripts/bench.py record [--quick] [--runs N] [--sources build/real-programs]

Two loops of scripts/bench/workloads and two real programs (left out when their sources cannot be had, and by --quick), each plain, under
libtsan, recorded free running and serially, and analysed live. Processor time is that of the program, sooth and everything they
start; the median of five runs in turns. Exits with 1 when a goal is missed.
"""
import argparse
import collections
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile

import measured
import program_sources
import tables

LOOPS = {"matrix_loop": ["80"], "lock_loop": ["1500000"]}  # with their arguments
REAL_PROGRAMS = ["pbzip2", "zstd"]
COMPILERS = {"plain": (["gcc"], ["g++"]), "tsan": (["gcc", "-fsanitize=thread"], ["g++", "-fsanitize=thread"])}
RECORDINGS = {"recorded": "os", "serial": "serial"}  # modes that leave a trace, and their --schedule

Case = collections.namedtuple("Case", "name plain tsan")  # commands: (words, file for standard output or None)
Sample = collections.namedtuple("Sample", "cpu wall")
# Events and bytes: of a recording.
Cost = collections.namedtuple("Cost", "cpu wall events bytes", defaults=[None, None])

# What is promised of each case: over the costs by mode.
Goal = collections.namedtuple("Goal", "promise measure bound unit")
GOALS = [
    Goal("recording takes at most the CPU time of libtsan", lambda c: c["recorded"].cpu / c["libtsan"].cpu, 1, "x"),
    Goal("serial recording takes at most twice that", lambda c: c["serial"].cpu / c["libtsan"].cpu, 2, "x"),
    Goal("a recording takes at most 4 bytes an event", lambda c: c["recorded"].bytes / c["recorded"].events, 4, ""),
]


def measure(command, sink):
    """One run. libtsan's own findings do not count as failures, whatever they are."""
    it = measured.run(command, sink=sink or os.devnull, environment={"TSAN_OPTIONS": "exitcode=0"})
    return Sample(it.cpu, it.wall)


def events_of(sooth, trace):
    for line in program_sources.run([sooth, "trace", "info", trace]).splitlines():
        if line.startswith("events:"):
            return int(line.split()[1])
    sys.exit(f"bench_record.py: sooth trace info {trace} names no events")


def measure_case(sooth, case, scratch, turns):
    """The costs by mode."""
    trace = scratch / "trace"
    words, sink = case.tsan
    modes = {
        "plain": case.plain[0],
        "libtsan": words,
        **{mode: [sooth, "record", "--schedule", schedule, "-o", str(trace), "--", *words]
           for mode, schedule in RECORDINGS.items()},
        "live hb": [sooth, "analyze", "--live", "--with", "hb", "--witness-events", "0", "--fail-on", "never",
                    "-o", str(scratch / "report"), "--", *words],
    }
    samples = collections.defaultdict(list)
    traces = {}
    # In turns, so that a slow moment of the machine hits all of them.
    for turn in range(turns):
        for mode, command in modes.items():
            samples[mode].append(measure(command, sink))
            if mode in RECORDINGS and turn == 0:
                size = sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())
                traces[mode] = (events_of(sooth, trace), size)
            shutil.rmtree(trace, ignore_errors=True)
    return {mode: Cost(statistics.median(s.cpu for s in runs), statistics.median(s.wall for s in runs),
                       *traces.get(mode, ())) for mode, runs in samples.items()}


def loop_cases(scratch):
    sources = pathlib.Path(__file__).resolve().parent / "workloads"
    for name, arguments in LOOPS.items():
        binaries = {}
        for build, (_, compiler) in COMPILERS.items():
            binaries[build] = str(scratch / f"{name}-{build}")
            program_sources.run([*compiler, "-O1", "-g", "-pthread", sources / f"{name}.cc", "-o", binaries[build]])
        yield Case(name, *(([binaries[build], *arguments], None) for build in ("plain", "tsan")))


def real_cases(scratch, archive):
    for program, folders in program_sources.fetch_those_there_are(REAL_PROGRAMS, archive):
        data = scratch / f"{program.name}.txt"
        program_sources.make_data(data, program.size)
        commands = []
        for build in ("plain", "tsan"):
            binary = program_sources.compile_program(program, folders, COMPILERS[build], scratch / program.name / build)
            commands.append(program_sources.command_line(program, binary, data, scratch / "result"))
        yield Case(program.name, *commands)


def print_table(results):
    table = tables.Printed("program", "run", ">CPU s", ">x libtsan", ">x plain", ">wall s", ">events", ">bytes/event")
    for name, costs in results.items():
        for mode, cost in costs.items():
            recorded = [f"{cost.events / 1e6:.1f}M", f"{cost.bytes / cost.events:.2f}"] if cost.events else ["", ""]
            table.row(name, mode, f"{cost.cpu:.2f}", f"{cost.cpu / costs['libtsan'].cpu:.2f}", f"{cost.cpu / max(costs['plain'].cpu, 0.001):.0f}",
                      f"{cost.wall:.2f}", *recorded)


def print_goals(results):
    """True when all are met."""
    met = True
    for goal in GOALS:
        for name, costs in results.items():
            value = goal.measure(costs)
            met &= tables.goal(value <= goal.bound, f"{goal.promise} ({name}): {value:.2f}{goal.unit}")
    return met


def read_options(about):
    """The command line of a benchmark of recordings, `about` being what it says of itself. Makes the folder --scratch."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="no real programs")
    parser.add_argument("--runs", type=int, default=5, help="of each kind; 5 by default")
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--sources", default="build/real-programs", type=lambda name: pathlib.Path(name).resolve(),
                        help="where the sources of real programs are kept")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leave through the end of `with`, which cleans up
    os.makedirs(options.scratch, exist_ok=True)
    return options


def main():
    options = read_options(__doc__.splitlines()[0])
    results = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scratch = pathlib.Path(folder).resolve()
        cases = list(loop_cases(scratch))
        if not options.quick:
            cases += real_cases(scratch, program_sources.Archive(options.sources))
        for case in cases:
            print(f"measuring what recording {case.name} costs", file=sys.stderr, flush=True)
            results[case.name] = measure_case(options.sooth, case, scratch, options.runs)
    print(f"Recording; median of {options.runs} runs\n")
    print_table(results)
    print()
    return 0 if print_goals(results) else 1


if __name__ == "__main__":
    sys.exit(main())
