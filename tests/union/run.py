#!/usr/bin/env python3
"""What `sooth run` reports contains what every other command finds, at the same rung or above.

    run.py --sooth build/bin/sooth [--programs 20] [--seed 1] [--examples] [--pairs] [--runs 40] [--budget 20s] [--jobs N] [--seconds T] [FILE.cc ...]

The programs are drawn from a seed: two or three threads with locks, flags, conditions, sleeps and plain accesses, one statement a line. --examples
adds those of the folder examples, --pairs those of tests/programs and tests/bugs. Compared are the races of `sooth explore`, of five recordings with other seeds (analyze), of `confirm` on the first of
them, and of `sooth test` with each strategy; a failure that `test` meets must be among the ends of the runs of `sooth run`.
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

FOLDER = pathlib.Path(__file__).resolve().parent
EXAMPLES = FOLDER.parent.parent / "examples"
RUNGS = ["suspected", "predicted", "confirmed", "harmful"]
TIME_LIMIT = 180  # seconds for one command: what takes longer hangs


def draw_program(seed):
    """A program that always ends."""
    dice = random.Random(seed)
    order = dice.choice([("relaxed", "relaxed"), ("acquire", "release")])

    def statement():
        v, w, m, f = (f"v{dice.randrange(3)}", f"v{dice.randrange(3)}", f"m{dice.randrange(2)}", f"f{dice.randrange(2)}")
        return dice.choice([
            f"{v} = {v} + 1;",
            f"{v} = {dice.randrange(9)};",
            f"{{ std::lock_guard<std::mutex> guard({m}); {v} = {v} + 1; }}",
            f"{{ std::lock_guard<std::mutex> guard({m}); {v} = {w}; }}",
            f"if ({f}.load(std::memory_order_{order[0]})) {v} = {dice.randrange(9)};",
            f"{f}.store(1, std::memory_order_{order[1]});",
            f"if ({v} == {dice.randrange(3)}) {w} = 7;",
            f"if ({m}.try_lock()) {{ {v} = {v} + 1; {m}.unlock(); }}",
            f"{{ std::unique_lock<std::mutex> lock({m}); c0.wait_for(lock, std::chrono::milliseconds({dice.randrange(1, 9)})); {v} = {v} + 1; }}",
            f"{{ std::lock_guard<std::mutex> guard({m}); {v} = 2; }} c0.notify_all();",
            f"std::this_thread::sleep_for(std::chrono::milliseconds({dice.randrange(1, 5)}));",
            f"{{ std::lock_guard<std::mutex> outer(m0); std::lock_guard<std::mutex> inner(m1); {v} = {w}; }}",
            f"{{ std::lock_guard<std::mutex> outer(m1); std::lock_guard<std::mutex> inner(m0); {v} = {w}; }}" if dice.random() < 0.3 else f"{v} = {w};",
            f"if ({v} == {dice.randrange(3)} && {w} == {dice.randrange(3)}) std::abort();" if dice.random() < 0.5 else f"{w} = {v};",
        ])

    lines = ["#include <atomic>", "#include <chrono>", "#include <condition_variable>", "#include <cstdlib>", "#include <mutex>", "#include <thread>",
             "int v0, v1, v2;", "std::mutex m0, m1;", "std::atomic<int> f0, f1;", "std::condition_variable c0;"]
    threads = dice.randint(2, 3)
    for thread in range(threads):
        lines += [f"void work{thread}() {{", *("  " + statement() for _ in range(dice.randint(2, 4))), "}"]
    lines += ["int main() {", *(f"  std::thread t{i}(work{i});" for i in range(threads)), *(f"  t{i}.join();" for i in range(threads)), "}"]
    return "\n".join(lines) + "\n"


class Lab:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)

    def tool(self, *words, statuses=(0, 66)):
        run = subprocess.run([self.options.sooth, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=TIME_LIMIT, check=False)
        if statuses and run.returncode not in statuses:
            raise AssertionError(f"sooth {' '.join(map(str, words))} ended with {run.returncode}: {run.stderr}")
        return run

    def report(self, *words, name):
        self.tool(*words[:1], "--format", "json", "-o", name, "--fail-on", "never", *words[1:], statuses=None)
        return json.loads((self.folder / name).read_text())


def line_of(place):
    """`/a/b.cc:12:3` -> `b.cc:12`."""
    parts = os.path.basename(place).split(":")
    return ":".join(parts[:2])


def findings(report):
    """(kind, places) -> the highest rung, of all pairs of places that findings are about."""
    found = {}
    for finding in report["findings"]:
        if finding["kind"] in ("race", "deadlock"):
            pairs = [([access["site"] for access in finding["accesses"]], finding["rung"])]
            for sites, rung in pairs + [(other["sites"], other["rung"]) for other in finding.get("others", [])]:
                places = tuple(sorted(f"{os.path.basename(site.get('file', '?'))}:{site.get('line', 0)}" for site in sites))
                key = (finding["kind"], places)
                found[key] = max(found.get(key, "suspected"), rung, key=RUNGS.index)
    return found


def others(lab, program, options):
    """Who finds what: pairs of a name and findings; and ends of failing runs."""
    words = ("--", program)
    yield "explore", findings(lab.report("explore", "--runs", options.explore_runs, "--budget", options.budget, *words, name="explore.json")), None
    for seed in range(11, 16):
        lab.tool("record", "--schedule", "random", "--seed", seed, "-o", f"{seed}.trace", *words, statuses=None)
        report = lab.report("analyze", f"{seed}.trace", name=f"{seed}.json")
        yield f"analyze of seed {seed}", findings(report), None
    lab.tool("confirm", "11.json", "--trials", "10", "--budget", options.budget, *words)
    yield "confirm", findings(json.loads((lab.folder / "11.json").read_text())), None
    for strategy in ("random", "pct:3", "directed"):
        lab.tool("test", "--strategy", strategy, "--runs", options.runs, "--budget", options.budget, "--seed", "101", "--format", "json", "-o", "test.json", *words)
        result = json.loads((lab.folder / "test.json").read_text())
        races = {("race", tuple(sorted((line_of(race["first"]), line_of(race["second"]))))): "confirmed"
                 for race in result["races"] if race["hits"] > 0}
        yield f"test --strategy {strategy}", races, [end for end in result["ends"] if end["failure"]]


def compare(source, options):
    """Sentences on what `sooth run` lacks."""
    with tempfile.TemporaryDirectory(prefix="sooth-union-") as folder:
        lab = Lab(options, folder)
        lab.tool("c++", "-std=c++20", "-g", "-O1", "-pthread", source, "-o", "program", statuses=(0,))
        report = lab.report("run", "--budget", options.budget, "--", "./program", name="run.json")
        ours = findings(report)
        ended = {row["end"] for row in report["search"]["ends"]}
        for name, theirs, ends in others(lab, "./program", options):
            for key, rung in sorted(theirs.items()):
                have = ours.get(key)
                if have is None or RUNGS.index(have) < RUNGS.index(rung):
                    yield f"{name} has {key[0]} {' - '.join(key[1])} {rung}; sooth run has it {have or 'not at all'}"
            for end in ends or []:
                how = end["description"].split(" after \"")[0]
                if how not in ended:
                    yield f"{name} met {how}, and sooth run did not: {sorted(ended)}"


def judged(source, options):
    """The same as a list; a sentence when a command did not end in time, which says nothing."""
    try:
        return list(compare(source, options))
    except subprocess.TimeoutExpired as late:
        return f"`{' '.join(map(str, late.cmd[1:]))}` did not end in {late.timeout:.0f} s"


def wanted(options, folder):
    """The sources, by what the options ask for."""
    sources = list(options.files)
    for seed in range(options.seed, options.seed + (0 if options.files else options.programs)):
        sources.append(pathlib.Path(folder) / f"drawn_{seed}.cc")
        sources[-1].write_text(draw_program(seed))
    sources += sorted(EXAMPLES.glob("*.cc")) if options.examples else []
    if options.pairs:
        pairs = sorted((FOLDER.parent / "programs").glob("*_race.cc")) + sorted((FOLDER.parent / "programs").glob("*_deadlock.cc"))
        # Those that need flags of their own, a plugin or arguments are the matter of tests/programs.
        sources += [path for path in pairs if not re.search(r"// (FLAGS|PLUGIN|ARGS|STATUS|NEEDS):", path.read_text())]
        sources += sorted((FOLDER.parent / "bugs").glob("*_bug.cc"))
    return sources


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, required=True)
    parser.add_argument("--programs", type=int, default=20, help="drawn from the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", action="store_true", help="all examples, too")
    parser.add_argument("--pairs", action="store_true", help="all of tests/programs that have a race or deadlock, and tests/bugs")
    parser.add_argument("--runs", type=int, default=40, help="of sooth test, for each strategy")
    parser.add_argument("--explore-runs", type=int, default=1000)
    parser.add_argument("--budget", default="20s", help="of sooth run, and of each of the others")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no program is begun later")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    failed = checked = passed_over = unknown = 0
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="sooth-union-source-") as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        sources = wanted(options, folder)
        results = pool.map(lambda source: None if time.monotonic() > end else judged(source.absolute(), options), sources)
        for source, missing in zip(sources, results):
            if missing is None:
                passed_over += 1
                continue
            if isinstance(missing, str):
                unknown += 1
                print(f"{source.name}: unknown: {missing}", flush=True)
                continue
            checked += 1
            failed += 1 if missing else 0
            print(f"{source.name}: {'contained' if not missing else 'NOT contained'}", *missing, sep="\n  ", flush=True)
            if missing and source.name.startswith("drawn_"):
                print(source.read_text())
    print(f"{checked - failed} of {checked} programs: sooth run contains what the others find" + (f"; time was over before {passed_over} more" if passed_over else "")
          + (f"; nothing is known of {unknown}" if unknown else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
