#!/usr/bin/env python3
"""Algorithms of atomics with one order weakened: found with weak memory, replayed, and not found without it.

    algorithms.py --sooth build/bin/sooth [--only seqlock] [--runs 1000] [--right-runs 100] [--strategy random]

Each of `algorithms/*.cc` is right as it stands and has one order too weak with -DWEAKENED. What is right must not fail under any
schedule, whatever atomics see.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 1800  # seconds for one command on a busy machine


def run(command, statuses):
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    if done.returncode not in statuses:
        raise AssertionError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def built(sooth, source, program, flags):
    run([sooth, "c++", "-O1", "-g", "-Wno-tsan", *flags, "-o", program, str(source)], [0])
    return program


def test(options, program, model, runs):
    """The first failure, or None; and whether another memory model would show it."""
    command = [options.sooth, "test", "--memory-model", model, "--strategy", options.strategy, "--runs", str(runs), "--jobs", "1", "--timeout", "60s",
               "--format", "json", "--", program]
    return next((end for end in json.loads(run(command, [0, 66]).stdout)["ends"] if end["failure"]), None)


def check(options, source, folder):
    weakened = built(options.sooth, source, f"{folder}/{source.stem}_weakened", ["-DWEAKENED"])
    right = built(options.sooth, source, f"{folder}/{source.stem}", [])
    found, seeds = None, 0
    for runs in (10, 50, 200, options.runs):
        seeds = min(runs, options.runs)
        found = test(options, weakened, "c11", seeds)
        if found or seeds == options.runs:
            break
    if not found:
        raise AssertionError(f"{source.stem}: the weakened order was not found in {seeds} runs")
    if found["weak_runs"] != found["runs"] or not all("no order forbids it" in text for text in found["older_values"]):
        raise AssertionError(f"{source.stem}: not told by what: {found}")
    name = f"{options.strategy}@{found['first_seed']},c11"
    replayed = run([options.sooth, "replay", name, "--", weakened], [134, 66])
    if "no order forbids it" not in replayed.stderr:
        raise AssertionError(f"{source.stem}: the replay does not tell what was seen: {replayed.stderr}")
    for program, model, what in ((weakened, "sc", "fails without weak memory"), (right, "c11", "is right, but fails")):
        failure = test(options, program, model, options.right_runs)
        if failure:
            raise AssertionError(f"{source.stem}: {what}: {json.dumps(failure, indent=1)}")
    return found["first_seed"]


def check_run(options, source, folder):
    """`sooth run`, which nobody tells of memory models, has the failure among its findings with what atomics saw, and none when the program is right."""
    for flags, wanted in ((["-DWEAKENED"], ["harmful"]), ([], [])):
        program = built(options.sooth, source, f"{folder}/{source.stem}_run{len(flags)}", flags)
        run([options.sooth, "run", "--budget", "30s", "--format", "json", "-o", f"{program}.json", "--", program], [0, 66])
        failures = [finding for finding in json.loads(pathlib.Path(f"{program}.json").read_text())["findings"] if finding["kind"] in ("crash", "deadlock")]
        rungs = [finding["rung"] for finding in failures if finding["replay"]["strategy"].endswith(" with weak memory")]
        if rungs != wanted or len(failures) != len(wanted):
            raise AssertionError(f"{source.stem}, sooth run {flags}: {failures}")
        for finding in failures:
            text = " ".join(run([options.sooth, "report", f"{program}.json"], [0, 66]).stdout.split())
            told = finding["replay"]["older_values"]
            if not told or not all("no order forbids it" in each for each in told) or "it takes weak memory" not in text or not re.search(r"how: (T\d|main)", text):
                raise AssertionError(f"{source.stem}: the report does not tell what was seen: {text}")
            replayed = run([options.sooth, "replay", f"{program}.json#{finding['id']}", "--", program], [134, 66])
            if "no order forbids it" not in replayed.stderr:
                raise AssertionError(f"{source.stem}: the replay does not tell what was seen: {replayed.stderr}")
    return 0


def check_race(options, source, folder):
    """What it guards is plain: `sooth run` confirms the race that only old values lead to, and has none when the lock is right."""
    for flags, wanted in ((["-DPLAIN", "-DWEAKENED"], True), (["-DPLAIN"], False)):
        program = built(options.sooth, source, f"{folder}/{source.stem}_race{len(flags)}", flags)
        run([options.sooth, "run", "--format", "json", "-o", f"{program}.json", "--", program], [66 if wanted else 0])
        races = [finding for finding in json.loads(pathlib.Path(f"{program}.json").read_text())["findings"] if finding["rung"] != "suspected"]
        if len(races) != wanted:
            raise AssertionError(f"{source.stem}, sooth run {flags}: {races}")
        for race in races:
            told = race["replay"]["older_values"]
            if race["rung"] != "confirmed" or not race["replay"]["strategy"].endswith(" with weak memory") or not any("wants" in each for each in told):
                raise AssertionError(f"{source.stem}: {race}")
            replayed = run([options.sooth, "replay", f"{program}.json#{race['id']}", "--", program], [0])
            if "race created" not in replayed.stderr or "no order forbids it" not in replayed.stderr:
                raise AssertionError(f"{source.stem}: the replay is another: {replayed.stderr}")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--right-runs", type=int, default=100)
    parser.add_argument("--strategy", default="random")
    parser.add_argument("--run", default="ring", help="those that `sooth run` is tried with, by commas, or all")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        sources = sorted(source for source in (FOLDER / "algorithms").glob("*.cc") if source.stem.startswith(options.only))
        in_run = {source: pool.submit(check_run, options, source, folder) for source in sources if options.run == "all" or source.stem in options.run.split(",")}
        in_run |= {source: pool.submit(check_race, options, source, folder) for source in sources if source.stem == "peterson"}
        checks = {source: pool.submit(check, options, source, folder) for source in sources}
        for source, result in in_run.items():
            try:
                result.result()
                print(f"{source.stem:16} sooth run finds it, and nothing when it is right")
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(error)
        for source, result in checks.items():
            try:
                print(f"{source.stem:16} first failure with schedule {result.result()}, replayed; none of {options.right_runs} when it is right")
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(error)
    print(f"{len(checks)} algorithms, {failed} failed")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
