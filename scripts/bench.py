#!/usr/bin/env python3
"""Every measurement of Sooth, by name.

    scripts/bench.py                     what there is
    scripts/bench.py NAME [OPTIONS...]   measures; `scripts/bench.py NAME --help` for its options
    scripts/bench.py all [--quick]       those that scripts/bench.sh makes, one after the other

Needs a built tool (build/bin/sooth, or --sooth PATH in front of the name); scripts/bench.sh builds it first. What is printed is also kept in
a file of that name under build/bench/results, with the date, the commit and the machine. Exits with 1 when a goal is missed, with 77 when there was nothing to
measure.
"""
import argparse
import dataclasses
import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build/bench/results"


@dataclasses.dataclass
class Benchmark:
    """One file of scripts/bench/, and how it is called."""
    name: str
    measures: str
    places: tuple = ()  # options that say where files go, in front of those of the user
    in_all: bool = False  # `all` and scripts/bench.sh measure it
    takes_quick: bool = False
    also: tuple = ()  # further calls of `all`, with these options


SCRATCH = ("--scratch", "build/bench")
REAL = ("--work", "build/real-programs")
BENCHMARKS = [
    Benchmark("analyses", "how fast traces are decoded and analysed", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("volume", "the same on recordings of real programs and on large working sets", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("growth", "how time and memory grow with events, threads, locks, nesting and a hot racy variable", places=SCRATCH, in_all=True,
              takes_quick=True),
    Benchmark("tree", "what the filter TREE hides and saves", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("ipa", "what IPA makes of hybrid's pairs, and what it costs", in_all=True, also=("--calls",)),
    Benchmark("mcm", "how fast maximal causality decides pairs", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("record", "what recording costs, beside ThreadSanitizer", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("beside", "what Sooth costs on six real programs beside gcc's and clang's ThreadSanitizer", places=SCRATCH),
    Benchmark("deep", "what a deep recording costs", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("calls", "what recording the calls of excluded code costs", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("confirm", "what it costs to make a race happen", places=SCRATCH, in_all=True, takes_quick=True),
    Benchmark("budgets", "whether `sooth run --budget` ends in time; needs an idle machine"),
    Benchmark("compare", "races and false alarms of Sooth, ThreadSanitizer, Helgrind and DRD; scripts/compare.sh installs these"),
    Benchmark("openmp", "what a parallel region of OpenMP costs in a serial recording"),
    Benchmark("archer", "races and false alarms in OpenMP programs: Sooth, gcc's ThreadSanitizer, clang's with ARCHER"),
    Benchmark("plain", "races and false alarms in programs as they are: Sooth, Helgrind and DRD"),
    Benchmark("programs", "records and analyses programs of the distribution", places=REAL),
    Benchmark("rdit", "what a missing part of a trace costs each analysis"),
    Benchmark("real", "a full `sooth run` on pbzip2 and zstd"),
    Benchmark("schedules", "how many schedules a second `sooth test` runs, beside the program alone"),
    Benchmark("recipe", "what recipe finds beside mcm, and what it costs"),
]


def commit():
    """With `+` behind it when files differ from it; `unknown` without git."""
    try:
        name = subprocess.run(["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=True)
        return name.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def measure(benchmark, sooth, options):
    """The exit status of the benchmark. Its output goes to the terminal and, unless help was asked for, into the file of results."""
    command = [sys.executable, f"scripts/bench/{benchmark.name}.py", "--sooth", str(sooth), *benchmark.places, *options]
    if "--help" in options or "-h" in options:
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    RESULTS.mkdir(parents=True, exist_ok=True)
    when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    typed = " ".join(["scripts/bench.py", benchmark.name, *options])
    with open(RESULTS / f"{benchmark.name}.md", "w", encoding="utf-8") as kept:
        kept.write(f"<!-- `{typed}`, {when}, commit {commit()}, {os.cpu_count()} cores, {processor()} -->\n\n")
        kept.flush()
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
            for line in process.stdout:
                sys.stdout.write(line)
                sys.stdout.flush()
                kept.write(line)
    return process.returncode


def measure_all(sooth, options):
    quick = "--quick" in options
    worst = 0
    for benchmark in BENCHMARKS:
        if benchmark.in_all:
            print(f"\n## {benchmark.name}: {benchmark.measures}\n", flush=True)
            if benchmark.also:
                worst |= measure(benchmark, sooth, list(benchmark.also))
            # ipa calls its quick way by another name: without real programs.
            given = (["--quick"] if benchmark.takes_quick else ["--examples"]) if quick else []
            worst |= measure(benchmark, sooth, given)
    return 1 if worst else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=lambda name: pathlib.Path(name).resolve(), default=ROOT / "build/bin/sooth")
    parser.add_argument("name", nargs="?", metavar="NAME", choices=[*(benchmark.name for benchmark in BENCHMARKS), "all"])
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTIONS")
    arguments = parser.parse_args()
    if arguments.name is None:
        for benchmark in BENCHMARKS:
            print(f"{benchmark.name:10} {benchmark.measures}")
        return 0
    if not os.access(arguments.sooth, os.X_OK):
        parser.error(f"there is no {arguments.sooth}; build it (scripts/bench.sh does), or name one with --sooth")
    if arguments.name == "all":
        return measure_all(arguments.sooth, arguments.options)
    return measure(next(each for each in BENCHMARKS if each.name == arguments.name), arguments.sooth, arguments.options)


if __name__ == "__main__":
    sys.exit(main())
