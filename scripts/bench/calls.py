#!/usr/bin/env python3
"""What recording the calls of excluded code costs: Table 5.4 of the thesis on RDIT.

    scripts/bench.py calls [--quick] [--runs N] [--sources build/real-programs]

A loop of scripts/bench/workloads and a real program (left out when its sources cannot be had, and by --quick) are recorded whole, without the
excluded code, and with the calls of it, serially, as rdit wants it (its traces should be exact): those that may touch everything, those with what they touch told once, and told again for each call. Both
the processor time and the size are compared with the recording without calls. Medians of runs in turns; exits with 1 when a goal is missed.
"""
import collections
import pathlib
import shutil
import statistics
import sys
import tempfile

import program_sources
import record
import tables

# Program -> what is left out of it.
EXCLUDED = {"call_loop": ["func:table_*", "func:std::vector<Entry*"], "zstd": ["func:HUF_*", "func:FSE_*", "func:HIST_*"]}
LOOP_ARGUMENTS = ["600"]
AGAIN = "touched, each time"
REACHES = {"no calls": "none", "everything": "everything", "touched, once": "touched", AGAIN: "touched"}  # by mode: --reach
PROMISED = 13  # percent, of the thesis
Cost = collections.namedtuple("Cost", "cpu bytes events calls")


def cases(scratch, options):
    """(name, words, file for standard output) of each program, compiled for ThreadSanitizer."""
    source = pathlib.Path(__file__).resolve().parent / "workloads" / "call_loop.cc"
    compilers = record.COMPILERS["tsan"]
    binary = str(scratch / "call_loop")
    program_sources.run([*compilers[1], "-O1", "-g", "-pthread", source, "-o", binary])
    yield "call_loop", [binary, *LOOP_ARGUMENTS], None
    if options.quick:
        return
    for program, folders in program_sources.fetch_those_there_are(EXCLUDED, program_sources.Archive(options.sources)):
        data = scratch / f"{program.name}.txt"
        program_sources.make_data(data, program.size)
        binary = program_sources.compile_program(program, folders, compilers, scratch / program.name)
        yield (program.name, *program_sources.command_line(program, binary, data, scratch / "result"))


def count_calls(sooth, trace):
    """Events that begin a call, from `sooth trace info`."""
    for line in program_sources.run([sooth, "trace", "info", trace]).splitlines():
        if line.endswith("call begin"):
            return int(line.split()[0].replace(",", ""))
    return 0


def measure_case(sooth, name, words, sink, scratch, turns):
    trace = scratch / "trace"
    record = [sooth, "record", "--schedule", "serial", "-o", str(trace)]
    exclude = [word for pattern in EXCLUDED[name] for word in ("--exclude", pattern)]
    modes = {"whole": [*record, "--", *words]}
    for mode, reach in REACHES.items():
        again = ["env", "SOOTH_OPTIONS=reach_once=0"] if mode == AGAIN else []
        modes[mode] = [*again, *record, *exclude, "--reach", reach, "--", *words]
    times = collections.defaultdict(list)
    traces = {}
    for turn in range(turns):  # in turns, so that a slow moment of the machine hits all of them
        for mode, command in modes.items():
            times[mode].append(record.measure(command, sink).cpu)
            if turn == 0:
                size = sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())
                traces[mode] = (size, record.events_of(sooth, trace), count_calls(sooth, trace))
            shutil.rmtree(trace, ignore_errors=True)
    return {mode: Cost(statistics.median(times[mode]), *traces[mode]) for mode in modes}


def more_than(value, base):
    return 100 * (value / base - 1)


def print_table(results):
    table = tables.Printed("program", "recording", ">CPU s", ">more than without calls", ">bytes", ">more", ">events", ">calls")
    for name, costs in results.items():
        base = costs["no calls"]
        for mode, cost in costs.items():
            table.row(name, mode, f"{cost.cpu:.2f}", f"{more_than(cost.cpu, base.cpu):+.0f}%", f"{cost.bytes / 1e6:.1f}M",
                      f"{more_than(cost.bytes, base.bytes):+.0f}%", f"{cost.events / 1e6:.2f}M", cost.calls)


def print_goals(results):
    """True when all are met."""
    met = True
    for name, costs in results.items():
        more = more_than(costs["touched, once"].cpu, costs["no calls"].cpu)
        met = met and more <= PROMISED
        tables.goal(more <= PROMISED, f"calls, told once, take at most {PROMISED}% more CPU time ({name}): {more:+.1f}%")
    return met


def main():
    options = record.read_options(__doc__.splitlines()[0])
    results = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scratch = pathlib.Path(folder).resolve()
        for name, words, sink in cases(scratch, options):
            print(f"measuring what calls of excluded code in {name} cost", file=sys.stderr, flush=True)
            results[name] = measure_case(options.sooth, name, words, sink, scratch, options.runs)
    print(f"Recording calls of excluded code; median of {options.runs} runs\n")
    print_table(results)
    print()
    return 0 if print_goals(results) else 1


if __name__ == "__main__":
    sys.exit(main())
