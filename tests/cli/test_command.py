#!/usr/bin/env python3
"""sooth test: many schedules, sorted by how the runs end.

    tests/cli/test_command.py SOOTH [NAME...]      all tests, or those named
"""
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import controlled
from test_loop import check


def ends_of(done):
    return json.loads(done.stdout)["ends"]


def test_finds_every_end(bench):
    """Assertion, deadlock and status, each with a line that makes it happen again."""
    ends = bench.program("ends")
    done = bench.run("test", "--runs", 100, "--", ends, status=66, limit=300)
    check(re.match(r"100 runs of \./ends \(auto, from seed 1\): \d+ failures of 3 kinds\n", done.stdout), done.stdout)
    check(re.search(r'\d+ runs?: killed by signal 6 \(Aborted\) after ".*Assertion `.*arrived', done.stdout), done.stdout)
    check(re.search(r"\d+ runs?: a deadlock\n(?:  thread .*\n)*?  thread T\d at .*ends\.cc:\d+:\d+ waits for a mutex that thread T\d holds\n", done.stdout), done.stdout)
    check(re.search(r"\d+ runs?: exit status 3\n  first with seed \d+; again: sooth replay", done.stdout), done.stdout)
    lines = re.findall(r"again: sooth (replay .*)", done.stdout)
    check(len(lines) == 3, done.stdout)
    statuses = {bench.run(*shlex.split(line)).returncode for line in lines}
    check(statuses == {134, 66, 3}, statuses)


def test_strategies(bench):
    ends, counter = bench.program("ends"), bench.program("counter")
    done = bench.run("test", "--strategy", "pct:2", "--runs", 60, "--format", "json", "--", ends, status=66, limit=300)
    check(any(e["failure"] and "pct:2@" in e["replay"] for e in ends_of(done)), done.stdout)
    for strategy, seed in (("pos", "pos@"), ("surw", "surw:"), ("rff", "rff")):
        done = bench.run("test", "--strategy", strategy, "--runs", 60, "--format", "json", "--", ends, status=66, limit=300)
        failures = [e for e in ends_of(done) if e["failure"]]
        check(failures and all(seed in e["replay"] for e in failures), done.stdout)
        for end in failures:
            again = bench.run(*shlex.split(end["replay"])[1:], limit=300)
            check(again.returncode == {"crash": 134, "deadlock": 66, "exit": end["number"]}[end["kind"]], (end, again))
    done = bench.run("test", "--runs", 20, "--", counter, status=0)
    check("20 runs of ./counter (auto, from seed 1): no failure" in done.stdout and "different outputs" in done.stdout, done.stdout)


def test_auto(bench):
    """Strategies share the runs; accesses that may race are points; what was found happens again; an estimate comes last."""
    race = bench.program("race")
    done = bench.run("test", "--runs", 60, "--schedules", "found", "--format", "json", "--", race, limit=300)
    result = json.loads(done.stdout)
    shares = {row["strategy"]: row["runs"] for row in result["coverage"]["shares"]}
    check(set(shares) == {"random", "pct", "pos", "surw", "rff", "directed"} and sum(shares.values()) == 60 == result["runs"], result)
    check(any(r["hits"] for r in result["races"]), result)
    check(result["coverage"]["schedules"] >= 2 and 0 <= result["coverage"]["chance_of_new"] <= 1, result)
    done = bench.run("test", "--runs", 30, "--", race, limit=300)
    check(re.search(r"\nestimate: another run shows a new order with probability [\d.e+-]+ %\n$", done.stdout), done.stdout)


def test_directed(bench):
    """Races are found in recorded runs and created; the schedules create them again."""
    race = bench.program("race")
    done = bench.run("test", "--strategy", "directed", "--runs", 30, "--schedules", "races", "--format", "json", "--", race, limit=300)
    races = [r for r in json.loads(done.stdout)["races"] if r["hits"]]
    check(len(races) == 1 and "race.cc:5" in races[0]["first"] + races[0]["second"], done.stdout)
    check(races[0]["hits"] >= 5 and races[0]["hits"] <= races[0]["trials"], races)
    for _ in range(5):
        again = bench.run(*shlex.split(races[0]["replay"])[1:], status=0)
        check("race created: thread " in again.stderr and "the same run as in the schedule" in again.stderr, again.stderr)
    done = bench.run("test", "--strategy", "directed", "--runs", 30, "--", race, limit=300)
    check("pair that may race, 1 created" in done.stdout or "pairs that may race, 1 created" in done.stdout, done.stdout)
    check(re.search(r"race between .*race\.cc:\d+.* and .*race\.cc:\d+.*: created in \d+ of \d+ runs?\n  first with seed \d+", done.stdout), done.stdout)
    # Of a race in the library's code, where it is called.
    library = bench.program("library")
    done = bench.run("test", "--strategy", "directed", "--runs", 12, "--format", "json", "--", library, limit=300)
    races = json.loads(done.stdout)["races"]
    check(races and all("library.cc:" in r[which] for r in races for which in ("first", "second")), done.stdout)
    counter = bench.program("counter")
    done = bench.run("test", "--strategy", "directed", "--runs", 4, "--format", "json", "--", counter, status=0, limit=300)
    check(json.loads(done.stdout)["races"] == [] and json.loads(done.stdout)["runs"] == 4, done.stdout)


def test_result_depends_on_the_seeds_only(bench):
    """Not on how many runs are made at a time, nor on how they are spread over machines."""
    ends = bench.program("ends")
    runs = [bench.run("test", "--runs", 40, "--jobs", jobs, "--seed", 5, "--", ends, status=66, limit=300) for jobs in (1, 3)]
    check(runs[0].stdout == runs[1].stdout, runs[0].stdout + runs[1].stdout)
    for strategy in ("random", "surw"):
        sums_up_over_shards(bench, ends, strategy)


def sums_up_over_shards(bench, ends, strategy):
    campaign = ["test", "--strategy", strategy, "--runs", 40, "--seed", 5, "--format", "json"]
    whole = ends_of(bench.run(*campaign, "--", ends, limit=300))
    parts = [ends_of(bench.run(*campaign, "--shard", f"{k}/2", "--", ends, limit=300)) for k in (1, 2)]
    for end in whole:
        same = [p for part in parts for p in part if p["description"] == end["description"]]
        check(sum(p["runs"] for p in same) == end["runs"], (end, same))
        check(min(p["first_seed"] for p in same) == end["first_seed"], (end, same))


def test_schedules(bench):
    """Written on request, for failures only."""
    ends = bench.program("ends")
    done = bench.run("test", "--runs", 60, "--schedules", "out/put", "--format", "json", "-o", "result.json", "--", ends, status=66, limit=300)
    check(done.stdout == "", done.stdout)
    result = json.loads(bench.read("result.json"))
    check(result["schema"] == "sooth-test/1" and result["planned"] == 60, result)
    written = {e["schedule"] for e in result["ends"] if e["failure"]}
    check(written == {"out/put/" + name for name in os.listdir(bench.path("out/put"))} and written, written)
    for name in written:
        check(bench.read(name).startswith("sooth schedule 1\nprogram ./ends\n"), name)


def test_minimize(bench):
    """The fewest preemptions are named, and their schedule fails again."""
    ends = bench.program("ends")
    done = bench.run("test", "--runs", 60, "--minimize", "--schedules", "few", "--format", "json", "--", ends, status=66, limit=300)
    failures = [e for e in ends_of(done) if e["failure"]]
    check(failures and all("fewest" in e for e in failures), failures)
    for end in failures:
        fewest = end["fewest"]
        check(fewest["minimal"] and fewest["preemptions"] <= fewest["before"], fewest)
        check(len(fewest["steps"]) == fewest["preemptions"] <= 2, fewest)
        for step in fewest["steps"]:
            check(re.match(r"preempt (main|T\d+) (between the .* at .*ends\.cc:\d+.* and|before|after) .*ends\.cc:\d+.*, and let (main|T\d+) run$", step), step)
        again = bench.run(*shlex.split(fewest["replay"])[1:], limit=300)
        check(again.returncode == {"crash": 134, "deadlock": 66, "exit": end["number"]}[end["kind"]], (end, again))
    done = bench.run("test", "--runs", 60, "--minimize", "--", ends, status=66, limit=300)
    check(re.search(r"\n  \d preemptions? (is|are) enough, where there (was|were) \d+:\n    preempt (main|T\d+) ", done.stdout), done.stdout)


def test_until_failure(bench):
    """The first failure is the last run, with every strategy."""
    ends = bench.program("ends")
    for strategy in ("random", "surw", "auto", "directed"):
        done = bench.run("test", "--runs", 500, "--until-failure", "--strategy", strategy, "--jobs", 2, "--format", "json", "--", ends, status=66, limit=300)
        result = json.loads(done.stdout)
        failures = [e for e in result["ends"] if e["failure"]]
        check(len(failures) == 1 and failures[0]["runs"] == 1 and result["runs"] < result["planned"] == 500, (strategy, result))


def test_corpus(bench):
    """What failed once is tried first in the next campaign, which goes on with other seeds."""
    ends = bench.program("ends")
    first = json.loads(bench.run("test", "--runs", 60, "--corpus", "kept", "--format", "json", "--", ends, status=66, limit=300).stdout)
    check(first["corpus"]["repeated"] == 0 and first["corpus"]["added"] >= 3, first["corpus"])
    folder = [name for name in os.listdir(bench.path("kept")) if name.startswith("ends-")]
    check(len(folder) == 1 and any(name.startswith("failure-") for name in os.listdir(bench.path(f"kept/{folder[0]}"))), folder)
    check(bench.read("kept/ends.seeds") == "60\n", bench.read("kept/ends.seeds"))
    runs = first["corpus"]["added"]
    again = json.loads(bench.run("test", "--runs", runs, "--corpus", "kept", "--format", "json", "--", ends, status=66, limit=300).stdout)
    check(again["corpus"]["repeated"] == runs, again["corpus"])
    check({e["key"] for e in again["ends"] if e["failure"]} == {e["key"] for e in first["ends"] if e["failure"]}, (first, again))
    bench.run("test", "--strategy", "random", "--corpus", "kept", "--", ends, status=64)


def test_limits(bench):
    """A budget and Ctrl-C end it early, with what was found so far."""
    ends, streams = bench.program("ends"), bench.program("streams")
    done = bench.run("test", "--runs", "10M", "--budget", "2s", "--", ends)
    check(re.search(r"stopped after [1-9]\d* of 10000000 runs", done.stdout), done.stdout)
    with subprocess.Popen([bench.sooth, "test", "--runs", "10M", "--", streams], cwd=bench.dir, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for_runs(process.pid)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    check(process.returncode == 0 and "no failure; stopped after" in output and errors == "", (process.returncode, output, errors))


def wait_for_runs(pid):
    """Until the process has started a run, so it has taken over its signals."""
    for _ in range(6000):
        if subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, check=False).stdout:
            return
        time.sleep(0.01)
    raise AssertionError("no run was started")


def test_output_of_programs_is_not_ours(bench):
    streams = bench.program("streams")
    done = bench.run("test", "--runs", 3, "--", streams, status=0)
    check("out" not in done.stdout.split("outputs")[0] and done.stderr == "", done)
    done = bench.run("test", "--runs", 3, "--", streams, 7, status=0)
    check("3 runs: exit status 7" in done.stdout, done.stdout)


def test_usage(bench):
    counter = bench.program("counter")
    for words in ([], [counter], ["--strategy", "fast", "--", counter], ["--strategy", "pct:0", "--", counter], ["--runs", "many", "--", counter],
                  ["--shard", "3/2", "--", counter], ["--shard", "1", "--", counter], ["--budget", "1d", "--", counter], ["--loud", "--", counter],
                  ["--jobs", "0", "--", counter], ["--format", "sarif", "--", counter]):
        done = bench.run("test", *words, status=64)
        check(done.stderr.startswith("sooth: ") and done.stdout == "", (words, done))
    bench.run("test", "--", "./no-such-program", status=65)
    done = bench.run("test", "--runs", 2, "--", "true", status=0)
    check("is not instrumented" in done.stderr and "nothing was controlled" in done.stderr, done.stderr)


if __name__ == "__main__":
    controlled.main(sys.modules[__name__])
