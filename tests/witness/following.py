#!/usr/bin/env python3
"""Which share of the witnesses does the real program follow to the race? Of programs that sleep, wait for a time, read or poll.

    following.py --sooth build/bin/sooth [--schedules serial,os] [--drawn 40] [--first-seed 1] [--goal 95] [--jobs N] [NAME ...]

The programs are those of tests/programs, tests/bugs and examples whose source does such a thing, each race beside its twin, and programs of tests/campaign
that are drawn from seeds. Each is recorded, analysed, and every finding with a witness that the checker accepted is tried with a few controlled runs, the first of which
follows the witness. Prints each witness that is not followed, with the reason, and the share; fails when that is below the goal.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TESTS = FOLDER.parent
sys.path.insert(0, str(TESTS / "campaign"))
import generate  # noqa: E402
import render  # noqa: E402

WAITS = re.compile(r"\b(usleep|nanosleep|sleep|sleep_for|sleep_until|wait_for|wait_until|pthread_cond_timedwait|pthread_cond_clockwait|sem_timedwait|"
                   r"pthread_mutex_timedlock|pthread_mutex_clocklock|pthread_rwlock_timed\w+|poll|select|epoll_wait|read|recv|accept)\s*\(")
UNUSUAL = re.compile(r"// (FLAGS|PLUGIN|ARGS|NEEDS):")
TIME_LIMIT = 120  # seconds for one command


def sources(options, folder):
    found = [path for pattern in ("programs/*_race.cc", "programs/*_race.c", "bugs/*_bug.cc") for path in sorted(TESTS.glob(pattern))]
    found += sorted((TESTS.parent / "examples").glob("*.cc"))
    found = [path for path in found if WAITS.search(path.read_text()) and not UNUSUAL.search(path.read_text())]
    for seed in range(options.first_seed, options.first_seed + 50 * options.drawn):
        if sum(path.parent == folder for path in found) == options.drawn:
            break
        program = generate.generate(seed, frozenset(generate.FEATURES) - {"stuck"})
        text, _, _ = render.render(program, volatile=True)
        if WAITS.search(text):
            found.append(folder / f"drawn_{seed}{'.cc' if program.dialect == 'c++' else '.c'}")
            found[-1].write_text(text)
    return [path for path in found if not options.names or path.stem in options.names]


class Bench:
    def __init__(self, options):
        self.options = options

    def tool(self, folder, *words, statuses=(0, 66)):
        run = subprocess.run([self.options.sooth, *map(str, words)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        if statuses and run.returncode not in statuses:
            raise AssertionError(f"sooth {' '.join(map(str, words))} ended with {run.returncode}: {run.stderr}")

    def follow(self, source, schedule):
        """Per witness, whether it was followed, or why not."""
        with tempfile.TemporaryDirectory(prefix="sooth-following-") as folder:
            compiler = ["c++", "-std=c++20"] if source.suffix == ".cc" else ["cc"]
            self.tool(folder, *compiler, "-g", "-O1", "-pthread", source, "-o", "program", statuses=(0,))
            self.tool(folder, "record", "--schedule", schedule, "--timeout", "20s", "-o", "t.trace", "--", "./program", statuses=None)
            if not os.path.exists(f"{folder}/t.trace"):
                return []
            self.tool(folder, "analyze", "t.trace", "--with", "hb,wcp,syncp,hybrid,mcm", "--format", "json", "-o", "t.json", "--fail-on", "never", statuses=(0,))
            path = pathlib.Path(folder) / "t.json"
            report = json.loads(path.read_text())
            report["findings"] = [each for each in report["findings"] if each["kind"] == "race" and each.get("witness", {}).get("status") == "checked"]
            path.write_text(json.dumps(report))
            if not report["findings"]:
                return []
            self.tool(folder, "confirm", "t.json", "--trials", "3", "--baseline-runs", "0", "--timeout", "10s", "--", "./program", statuses=None)
            rows = []
            for finding in json.loads(path.read_text())["findings"]:
                if finding.get("witness", {}).get("status") != "checked":
                    continue  # a failure that runs met on the way
                replay = finding.get("replay", {})
                place = " - ".join(f"{os.path.basename(each['site'].get('file', '?'))}:{each['site'].get('line', 0)}" for each in finding["accesses"])
                rows.append((place, "" if replay.get("witness_followed") else replay.get("diverged") or f"no reason, {replay.get('hits')} of {replay.get('trials')} hits"))
            return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", type=os.path.abspath, required=True)
    parser.add_argument("--schedules", type=lambda text: text.split(","), default=["serial", "os"])
    parser.add_argument("--drawn", type=int, default=40, help="programs that are drawn")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--goal", type=float, default=95, help="per cent")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bench, low = Bench(options), False
    with tempfile.TemporaryDirectory(prefix="sooth-following-source-") as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        programs = sources(options, pathlib.Path(folder))
        for schedule in options.schedules:
            followed = witnesses = 0
            for source, rows in zip(programs, pool.map(lambda source: bench.follow(source, schedule), programs)):
                for place, why in rows:
                    witnesses += 1
                    followed += not why
                    if why:
                        print(f"{source.name}, {schedule}: {place}: {why}", flush=True)
            share = 100 * followed / witnesses if witnesses else 0
            low = low or (witnesses > 0 and share < options.goal)
            print(f"{schedule}: {followed} of {witnesses} witnesses of {len(programs)} programs followed to the race: {share:.1f} %", flush=True)
    sys.exit(1 if low else 0)


if __name__ == "__main__":
    main()
