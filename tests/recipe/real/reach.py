#!/usr/bin/env python3
"""How many races of ordinary C++ one recording shows: those that take other values than the recorded ones, or branches that were not taken.

    reach.py --sooth build/bin/sooth [--level 1] [--random 10] [--sample SEED/N] [--update] [NAME ...]

Programs mark all their races, as those of tests/programs do. Each is built with `sooth c++ --deep` and recorded serially once. What `recipe` predicts of that recording must be marked, be accepted by
`sooth witness check`, and `sooth confirm` has to bring it about: a race counts when it is confirmed. Races that found.txt names must be found; --update writes it anew. Beside that stands what mcm
predicts of the same recording and, with --random N, what hb sees in the first and in all of N recordings under random schedules. With --sample, a seeded Nth of the programs is run.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import run as figures  # noqa: E402  (the folder has to be known first)
import real.run as real  # noqa: E402

Failure = figures.Failure
EXPECTED = FOLDER / "found.txt"


class Tried:
    """One program: the names of the races that each way of looking found, and what went wrong."""

    def __init__(self, program):
        self.program = program
        self.found = {"mcm": set(), "recipe": set(), "confirmed": set(), "hb, 1 run": set(), "hb, all runs": set()}
        self.wrong = []
        self.seconds = self.megabytes = 0
        self.stats = {}

    def names(self, places, by):
        """The marked races among these; others are mistakes of the analysis `by`, or of the marks. What hb calls a race need not be one of two accesses that can meet, so None is asked for nothing."""
        marked = {}
        for name, ends in self.program.races.items():
            marked.setdefault(ends, []).append(name)
        if by is not None:
            self.wrong += [f"{by} reports a race that is not marked: {figures.programs.spell(ends)}" for ends in sorted(set(places) - set(marked))]
        return {name for ends in places for name in marked.get(ends, [])}


def measured(command):
    """Processor seconds and megabytes of a command that must succeed."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            raise Failure(f"`{' '.join(map(str, command))}` ended with {child.returncode}: {errors.read().decode(errors='replace').strip()[-1000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def confirmed(tried, sooth, report, binary):
    figures.run([sooth, "confirm", report, "--", binary], statuses=(0, 66))
    places = real.races(json.loads(report.read_text()), ("confirmed", "harmful"))
    return tried.names(places, "confirm")


def look(options, program, work):
    """Everything about one program, in a folder of its own."""
    tried, sooth, binary, trace = Tried(program), options.sooth, work / program.name, work / "trace"
    figures.run([sooth, "c++", "--deep", "-std=c++20", "-g", f"-O{options.level}", "-pthread", program.path, "-o", binary])
    figures.run([sooth, "record", "--schedule", "serial", "-o", trace, "--", binary])
    for analysis in ("mcm", "recipe"):
        report = work / f"{analysis}.json"
        cost = measured([sooth, "analyze", trace, "--with", analysis, "--format", "json", "-o", report, "--fail-on", "never", "--stats"])
        made = json.loads(report.read_text())
        tried.found[analysis] = tried.names(real.races(made), analysis)
    tried.seconds, tried.megabytes = cost
    tried.stats = dict(made["stats"]["analyses"]["recipe"]["extra"])
    figures.run([sooth, "witness", "check", report, trace])
    if tried.found["recipe"]:
        tried.found["confirmed"] = confirmed(tried, sooth, report, binary)
        tried.wrong += [f"confirm does not bring about {name}" for name in sorted(tried.found["recipe"] - tried.found["confirmed"])]
    for seed in range(1, options.random + 1):
        figures.run([sooth, "record", "--schedule", "random", "--seed", seed, "-o", work / f"random{seed}", "--", binary])
        made = figures.run([sooth, "analyze", work / f"random{seed}", "--with", "hb", "--format", "json", "--fail-on", "never"]).stdout
        names = tried.names(real.races(json.loads(made), None), None)
        tried.found["hb, all runs"] |= names
        tried.found["hb, 1 run"] |= names if seed == 1 else set()
    return tried


def attempt(options, program):
    with tempfile.TemporaryDirectory(prefix="sooth-reach-") as work:
        try:
            return look(options, program, pathlib.Path(work))
        except (Failure, subprocess.TimeoutExpired, OSError) as failure:
            tried = Tried(program)
            tried.wrong.append(str(failure))
            return tried


def expected():
    lines = EXPECTED.read_text().splitlines() if EXPECTED.exists() else []
    return {tuple(line.split()) for line in lines if line and not line.startswith("#")}


def write_expected(all_tried):
    others = {(program, race) for program, race in expected() if program not in {tried.program.name for tried in all_tried}}
    found = others | {(tried.program.name, name) for tried in all_tried for name in tried.found["confirmed"]}
    EXPECTED.write_text("# Races that `recipe` finds from one serial recording and `confirm` brings about: program, race. Written by reach.py --update.\n"
                        + "".join(f"{program} {race}\n" for program, race in sorted(found)))


def choose(programs, sample):
    if not sample:
        return programs
    seed, share = map(int, sample.split("/"))
    return sorted(random.Random(seed).sample(programs, max(1, len(programs) // share)), key=lambda program: program.name)


COLUMNS = ["mcm", "recipe", "confirmed"]
COLUMNS_OF_RANDOM = ["hb, 1 run", "hb, all runs"]


def report(tried, columns):
    missed = sorted(set(tried.program.races) - tried.found["confirmed"])
    figures_of = ", ".join(f"{column} {len(tried.found[column])}" for column in columns)
    print(f"{tried.program.name}: {len(tried.program.races)} races: {figures_of}; {tried.seconds:.1f} s, {tried.megabytes} MB" + (f"; missed: {' '.join(missed)}" if missed else ""), flush=True)
    for sentence in tried.wrong:
        print(f"    FAILED   {sentence}", flush=True)


def sum_up(all_tried, columns):
    total = sum(len(tried.program.races) for tried in all_tried)
    print(f"{len(all_tried)} programs, {total} races: " + ", ".join(f"{column} {sum(len(tried.found[column]) for tried in all_tried)}" for column in columns)
          + f"; slowest {max(tried.seconds for tried in all_tried):.1f} s, largest {max(tried.megabytes for tried in all_tried)} MB")
    asked, before = (sum(int(tried.stats.get(key, 0)) for tried in all_tried) for key in ("pairs of accesses asked about", "... decided before the solver"))
    seconds = sum(tried.seconds for tried in all_tried)
    if asked and seconds:
        print(f"{asked:,} pairs of accesses asked about, {100 * before // asked} % of them decided without the solver; {asked / seconds:.0f} for each second of recipe")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--level", default="1", help="of optimisation")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="recordings under random schedules, for hb")
    parser.add_argument("--sample", metavar="SEED/N", help="an Nth of the programs")
    parser.add_argument("--update", action="store_true", help="write found.txt")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    programs = [real.Program(path) for path in sorted(FOLDER.glob("*.cc")) if path.stem not in real.PROGRAMS and (not options.names or path.stem in options.names)]
    programs = choose(programs, options.sample)
    if not programs:
        sys.exit("no such program")
    columns = COLUMNS + (COLUMNS_OF_RANDOM if options.random else [])
    all_tried = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for tried in pool.map(lambda program: attempt(options, program), programs):
            known = {race for program, race in expected() if program == tried.program.name}
            tried.wrong += [] if options.update else [f"{name} is not found any more" for name in sorted(known - tried.found["confirmed"])]
            report(tried, columns)
            all_tried.append(tried)
    sum_up(all_tried, columns)
    if options.update:
        write_expected(all_tried)
    sys.exit(1 if any(tried.wrong for tried in all_tried) else 0)


if __name__ == "__main__":
    main()
