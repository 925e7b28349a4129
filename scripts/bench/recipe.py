#!/usr/bin/env python3
"""What recipe finds in recorded programs beside mcm: the shape of Table III of the paper, and what it costs.

    scripts/bench.py recipe [--runs N] [--confirm] [--explore T] [--doc docs/recipe-table.md] [NAME ...]

Builds the examples and the programs of the paper's figures with `sooth c++ --deep`, records each serially once, and analyses that recording with mcm, recipe:s (without branches that were not
taken) and recipe, as the paper does with RV, Recipe-s and Recipe. Races are pairs of sites at `predicted`. `only recipe` and `only mcm` are the paper's Diff and Diff'. A second table has what recording
costs: processor time of `sooth record` on the deep binary, of the same program under clang's ThreadSanitizer, and plain; medians of N runs in turns. --confirm has `sooth confirm` try
what recipe found. `exist` are the pairs that meet under some schedule of the program, by `sooth explore` for the time T: what any analysis could find at best; ">=" where not every schedule was run. --doc puts tables and goals between its marks there. Exits with 1 when a goal is missed.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import ipa
import measured
import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ANALYSES = ["mcm", "recipe:s", "recipe"]
SYNCHRONISATION = {"acquire", "release", "wait", "notify", "condition wait", "condition notify", "barrier arrive", "barrier leave", "semaphore post", "semaphore wait", "fork", "join", "begin", "end",
                   "happens before", "happens after", "fence", "atomic load", "atomic store", "atomic rmw"}
LEAST_MORE = {"recipe:s": 1.5, "recipe": 2.5}  # races over those of mcm, all programs together: the figures of the paper's abstract
MOST_SECONDS = 120  # of one analysis of one program
TIME_LIMIT = 600
LOOPS = {"matrix_loop": ["20"], "lock_loop": ["200000"]}  # long enough that starting processes does not count

Analysed = collections.namedtuple("Analysed", "races seconds extra")
Row = collections.namedtuple("Row", "program threads reads writes base branches sync total mcm recipe_s recipe only_recipe only_mcm unexecuted exist missed confirmed "
                                    "mcm_seconds recipe_s_seconds recipe_seconds questions per_second before_solver")
HEADINGS = Row("program", "threads", "reads", "writes", "base", "branches", "sync", "total", "mcm", "recipe:s", "recipe", "only recipe", "only mcm", "not executed",
               "exist", "missed", "confirmed", "mcm, s", "recipe:s, s", "recipe, s", "questions", "questions/s", "without the solver")
Cost = collections.namedtuple("Cost", "program plain tsan deep slowdown")
COST_HEADINGS = Cost("program", "plain, s", "ThreadSanitizer, s", "deep recording, s", "x ThreadSanitizer")


class Failure(Exception):
    """A sentence on what went wrong."""


def must(command, statuses=(0,)):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise Failure(f"`{' '.join(command)}` took more than {TIME_LIMIT} s") from None
    if done.returncode not in statuses:
        raise Failure(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def place(access):
    site = access["site"]
    return site.get("file", site["label"]), site.get("line", 0), site.get("column", 0), site.get("function", "")


def races_of(report, rungs=("predicted",)):
    """Pairs of sites, each with its finding."""
    return {tuple(sorted(place(access) for access in race["accesses"])): race for race in ipa.races_of(report) if race["rung"] in rungs}


def analyze(sooth, trace, analysis, report):
    begin = time.monotonic()
    must([sooth, "analyze", trace, "--with", analysis, "--format", "json", "-o", report, "--fail-on", "never", "--stats"])
    seconds = time.monotonic() - begin
    found = json.loads(report.read_text(encoding="utf-8"))
    return Analysed(races_of(found), seconds, dict(found["stats"]["analyses"][analysis].get("extra", [])))


def figure(extra, name):
    """A figure of the statistics as a number; None when the analysis does not tell it."""
    return int(extra[name].replace(",", "")) if name in extra else None


def told(extra, name):
    value = figure(extra, name)
    return "-" if value is None else f"{value:,}"


def explore(sooth, binary, work, budget):
    """The pairs that meet under some schedule, and whether every schedule was run."""
    report = work / "explored.json"
    must([sooth, "explore", "--budget", budget, "--runs", "1000000", "--schedules", work / "schedules", "--fail-on", "never", "--format", "json", "-o", report, "--", binary], statuses=(0, 66))
    found = json.loads(report.read_text(encoding="utf-8"))
    return set(races_of(found, ("confirmed", "harmful"))), not found["incomplete"]


def count_confirmed(sooth, report, binary):
    must([sooth, "confirm", report, "--", binary], statuses=(0, 66))
    return len(races_of(json.loads(report.read_text(encoding="utf-8")), ("confirmed", "harmful")))


def measure(sooth, source, work, confirm, budget):
    binary, trace = work / source.stem, work / "trace"
    must([sooth, "c++", "--deep", "-std=c++20", "-O1", "-g", "-pthread", source, "-o", binary])
    shutil.rmtree(trace, ignore_errors=True)
    # Some examples fail by chance; what they did until then is recorded.
    must([sooth, "record", "--schedule", "serial", "-o", trace, "--", binary], statuses=range(256))
    info = json.loads(must([sooth, "trace", "info", "--json", trace]))
    found = {analysis: analyze(sooth, trace, analysis, work / f"{analysis.replace(':', '-')}.json") for analysis in ANALYSES}
    mcm, recipe = found["mcm"].races, found["recipe"].races
    extra = found["recipe"].extra
    kinds = info["kinds"]
    exist, complete = explore(sooth, binary, work, budget) if budget else (None, False)
    if complete and set(recipe) - exist:
        raise Failure(f"recipe claims races that no schedule has: {sorted(set(recipe) - exist)}")
    return Row(source.stem, str(info["threads"]), told(extra, "shared reads"), told(extra, "shared writes"), told(extra, "conditions on base pointers"),
               told(extra, "conditions on branches"), f"{sum(count for kind, count in kinds.items() if kind in SYNCHRONISATION):,}", f"{info['events']:,}",
               str(len(mcm)), str(len(found["recipe:s"].races)), str(len(recipe)), str(len(set(recipe) - set(mcm))), str(len(set(mcm) - set(recipe))),
               str(sum(any(access.get("executed") is False for access in race["accesses"]) for race in recipe.values())),
               "-" if exist is None else f"{'' if complete else '>= '}{len(exist | set(recipe))}", "-" if exist is None else str(len(exist - set(recipe))),
               str(count_confirmed(sooth, work / "recipe.json", binary)) if confirm else "-",
               *(f"{found[analysis].seconds:.2f}" for analysis in ANALYSES), told(extra, "pairs of accesses asked about"),
               told(extra, "questions to the solver per second"), extra.get("share decided before the solver", "-"))


def processor_time(command):
    return measured.run(command, environment={"TSAN_OPTIONS": "exitcode=0 report_bugs=0"}, may_fail=True).cpu


def measure_cost(sooth, source, arguments, work, runs):
    binaries = {mode: work / f"{source.stem}-{mode}" for mode in ("plain", "tsan", "deep")}
    flags = ["-std=c++20", "-O1", "-g", "-pthread", source, "-o"]
    must(["clang++-19", *flags, binaries["plain"]])
    must(["clang++-19", "-fsanitize=thread", *flags, binaries["tsan"]])
    must([sooth, "c++", "--deep", *flags, binaries["deep"]])
    samples = collections.defaultdict(list)
    for _ in range(runs):
        for mode, binary in binaries.items():
            command = [binary, *arguments]
            if mode == "deep":
                shutil.rmtree(work / "trace", ignore_errors=True)
                command = [sooth, "record", "--schedule", "serial", "-o", work / "trace", "--", *command]
            samples[mode].append(processor_time(command))
    plain, tsan, deep = (statistics.median(samples[mode]) for mode in ("plain", "tsan", "deep"))
    return Cost(source.stem, f"{plain:.3f}", f"{tsan:.3f}", f"{deep:.3f}", f"{deep / max(tsan, 1e-3):.1f}x")


def table(headings, rows):
    return tables.render([headings[0], *(">" + heading for heading in headings[1:])], rows)


def tables_of(rows):
    """The races that were found, what the recordings had, and what it took: 23 columns in one table are more than fit on a page."""
    groups = (HEADINGS[8:17], HEADINGS[1:8], HEADINGS[17:])
    return "\n\n".join(table((HEADINGS[0], *names), [(row[0], *(row[HEADINGS.index(name)] for name in names)) for row in rows]) for names in groups)


def goals(rows):
    """Lines on the goals, and whether all are met."""
    lines, met = [], True
    races = {name: sum(int(row[HEADINGS.index(name)]) for row in rows) for name in ANALYSES}
    for name, least in LEAST_MORE.items():
        ratio = races[name] / max(races["mcm"], 1)
        met = met and ratio >= least
        lines.append(f"{'ok    ' if ratio >= least else 'MISSED'} {name} finds at least {least} times the races of mcm, all programs together: {races[name]} to {races['mcm']}, {ratio:.2f}x")
    if all(row.exist != "-" for row in rows):
        missed, exist = sum(int(row.missed) for row in rows), sum(int(row.exist.removeprefix(">= ")) for row in rows)
        lines.append(f"       of {exist} races that some schedule has, as far as they were run, recipe misses {missed}: no analysis can find more than {exist / max(races['mcm'], 1):.2f} times those of mcm")
    for name in ("recipe:s", "recipe"):
        row = max(rows, key=lambda row: float(row[HEADINGS.index(f"{name}, s")]))
        seconds = float(row[HEADINGS.index(f"{name}, s")])
        met = met and seconds <= MOST_SECONDS
        lines.append(f"{'ok    ' if seconds <= MOST_SECONDS else 'MISSED'} {name} takes at most {MOST_SECONDS} s for each program: {seconds:.2f} s for {row.program}")
    return lines, met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=5, help="of each program, for what recording costs; 0: leave that out")
    parser.add_argument("--confirm", action="store_true", help="try to bring about what recipe finds")
    parser.add_argument("--explore", metavar="T", help="run each program under all schedules, at most for this time")
    parser.add_argument("--doc", help="put the tables into this document")
    parser.add_argument("names", nargs="*", help="programs without their suffix; all by default")
    options = parser.parse_args()
    sources = [*sorted((ROOT / "examples").glob("*.cc")), *sorted((ROOT / "tests/recipe/programs").glob("*.cc"))]
    sources = [source for source in sources if not options.names or source.stem in options.names]
    rows, costs, failures = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for source in sources:
            try:
                rows.append(measure(options.sooth, source, work, options.confirm, options.explore))
                print(f"measured {source.stem}", file=sys.stderr, flush=True)
            except Failure as failure:
                failures.append(f"MISSED {source.stem}: {failure}")
        for name, arguments in LOOPS.items() if options.runs else ():
            try:
                costs.append(measure_cost(options.sooth, ROOT / "scripts/bench/workloads" / f"{name}.cc", arguments, work, options.runs))
            except Failure as failure:
                failures.append(f"MISSED {name}: {failure}")
    if not rows:
        sys.exit("\n".join(failures) or "there is nothing to measure")
    lines, met = goals(rows)
    text = tables_of(rows) + "\n" + ("\n" + table(COST_HEADINGS, costs) + "\n" if costs else "") + "\n" + "\n".join(f"    {line}" for line in lines + failures)
    print(text)
    if options.doc:
        tables.put_into(options.doc, "recipe-table", text)
    return 0 if met and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
