#!/usr/bin/env python3
"""sooth replay: the same run again, and a sentence when it is not.

    tests/cli/replay.py SOOTH [NAME...]      all tests, or those named

SOOTH_SEEDS is the number of seeds in the test of different runs (default 200).
"""
import json
import os
import re
import shutil
import sys

import controlled
from test_loop import Skipped, check

REPEATS = 50
SEEDS = int(os.environ.get("SOOTH_SEEDS", "200"))


def schedule_of(bench, name, *words):
    """Writes the schedule of a run into the file `name`."""
    bench.run("replay", words[0], "-o", name, "--", *words[1:])
    return bench.read(name)


def test_repeats(bench):
    """The same seed gives the same output, status and stretches, 50 of 50."""
    counter = bench.program("counter")
    for strategy, repeats in (("random@7", REPEATS), ("pct:3@8", 10), ("serial@1", 3)):
        first = bench.run("replay", strategy, "-o", "first.schedule", "--", counter, status=0)
        check("sooth: replayed (" in first.stderr, first.stderr)
        wanted = bench.read("first.schedule")
        check(wanted.startswith(f"sooth schedule 1\nprogram {counter}\noutcome status 0\nplan strategy {strategy.split('@')[0]}\n"), wanted)
        check(wanted.count("\nrun ") > 3 and "\nend ended " in wanted, wanted)
        for i in range(repeats):
            again = bench.run("replay", "first.schedule", "-o", "again.schedule", "--", counter, status=0)
            check(again.stdout == first.stdout, f"{strategy}, repeat {i}: {again.stdout!r}, not {first.stdout!r}")
            check("sooth: the same run as in the schedule" in again.stderr, again.stderr)
            check(bench.read("again.schedule") == wanted, f"{strategy}, repeat {i}: another schedule")


def test_seeds_differ(bench):
    """Different seeds give different runs, and a seed means the same to `test` and to `replay`."""
    counter = bench.program("counter")
    done = bench.run("test", "--strategy", "random", "--runs", SEEDS, "--format", "json", "--", counter, status=0, limit=600)
    result = json.loads(done.stdout)
    check(result["runs"] == SEEDS and len(result["ends"]) == 1, done.stdout)
    outputs = result["ends"][0]["outputs"]
    check(len(outputs) >= 5, f"{len(outputs)} different outputs of {SEEDS} seeds")
    seen = {bench.run("replay", f"random@{o['first_seed']}", "--", counter, status=0).stdout for o in outputs[:5]}
    check(len(seen) == 5, seen)
    # `auto` names the strategy, too.
    done = bench.run("test", "--runs", 60, "--format", "json", "--", counter, status=0, limit=600)
    outputs = [o for o in json.loads(done.stdout)["ends"][0]["outputs"] if "first" in o]
    check(len(outputs) >= 3, done.stdout)
    seen = {bench.run("replay", o["first"], "--", counter, status=0).stdout for o in outputs[:5]}
    check(len(seen) == len(outputs[:5]), (seen, outputs))


def test_failures_repeat(bench):
    """Crashes, deadlocks and unusual statuses happen again."""
    ends = bench.program("ends")
    done = bench.run("test", "--runs", 100, "--schedules", "found", "--format", "json", "--", ends, status=66, limit=300)
    failures = [e for e in json.loads(done.stdout)["ends"] if e["failure"]]
    statuses = {"crash": 134, "deadlock": 66, "exit": None}
    check({f["kind"] for f in failures} == set(statuses), done.stdout)
    for failure in failures:
        status = statuses[failure["kind"]] if failure["kind"] != "exit" else failure["number"]
        for _ in range(10):
            again = bench.run("replay", failure["schedule"], "--", ends, status=status)
            check("the same run as in the schedule" in again.stderr, again.stderr)
        if failure["kind"] == "deadlock":
            check(len(failure["blocked"]) == 3 and re.search(r"thread T\d at .*ends\.cc:\d+(:\d+)? waits for a mutex that thread T\d holds",
                                                              again.stderr), again.stderr)


def test_streams(bench):
    """The program's streams and status are its own."""
    streams = bench.program("streams")
    done = bench.run("replay", "random@1", "--", streams, 9, status=9)
    check(done.stdout == "out\n" and "err\n" in done.stderr, done)
    check(bench.run("replay", "random@1", "--", streams, "cat", status=0, stdin="hello").stdout == "hello", "input does not arrive")
    done = bench.run("replay", "random@1", "--", streams, "segv", status=139)
    check("signal 11 (Segmentation fault)" in done.stderr, done.stderr)


def test_divergence(bench):
    """A program that does something else is told from one that does the same."""
    counter, more = bench.program("counter"), bench.program("counter", "-DMORE")
    for name in ("random@7", "pct:3@7"):
        schedule_of(bench, "s.schedule", name, counter)
        done = bench.run("replay", "s.schedule", "--", more, status=67)
        check(re.search(r"sooth: the run left the schedule: stretch \d+: thread (main|T\d) was to .*, but ", done.stderr), done.stderr)
        check(f"note: the schedule is of `{counter}`" in done.stderr, done.stderr)
        done = bench.run("replay", "s.schedule", "--", counter, 6, status=67)
        check("the run left the schedule" in done.stderr, done.stderr)


STEPS = r"""
#include <cstdlib>
#include <mutex>
#include <thread>
static std::mutex mutex;
int shared;
int main(int, char** arguments) {
  std::thread other([&] {
    for (int i = 0; i < std::atoi(arguments[1]); ++i) std::lock_guard<std::mutex> guard(mutex);
    shared = 1;
  });
  for (int i = 0; i < std::atoi(arguments[2]); ++i) std::lock_guard<std::mutex> guard(mutex);
  if (std::atoi(arguments[3]) != 0) shared = 2;
  other.join();
}
"""


def test_steered_instead(bench):
    """Whoever cannot follow the schedule is steered to its race."""
    steps = "./steps"
    bench.run("c++", "-O1", bench.write("steps.cc", STEPS), "-o", steps, status=0)
    bench.run("record", "-o", "steps.trace", "--", steps, 3, 3, 1, status=0)
    bench.run("analyze", "steps.trace", "--format", "json", "-o", "steps.json", "--fail-on", "never", status=0)
    bench.run("confirm", "steps.json", "--fail-on", "never", "--", steps, 3, 3, 1, status=0)
    finding = next(f for f in json.loads(bench.read("steps.json"))["findings"] if f["kind"] == "race")
    name = "steps.json#" + finding["id"]
    done = bench.run("replay", name, "--", steps, 3, 3, 1, status=0)
    check("steered" not in done.stderr, done.stderr)
    done = bench.run("replay", name, "--", steps, 3, 3, 0, status=67)
    check("no race was created" in done.stderr, done.stderr)
    check("runs that were steered there instead did not create the race either (30 runs)" in done.stderr, done.stderr)
    done = bench.run("replay", name, "--", steps, 5, 9, 1, status=67)
    check("the run left the schedule: stretch " in done.stderr, done.stderr)
    check(re.search(r"run \d+ that was steered there instead did; .*:\nsooth:   race created: ", done.stderr), done.stderr)


def as_stretches(text):
    """A schedule that its seed decides, as one that says every stretch."""
    check("\nskip " not in text, "the run is too long for this test")
    return re.sub(r"\nplan strategy (\S+)\n", r"\nplan stretches \1\n", text)


def test_stretches(bench):
    """A run is the same when every stretch is said and the seed decides nothing."""
    counter, more = bench.program("counter"), bench.program("counter", "-DMORE")
    for seed in range(1, 6):
        text = as_stretches(schedule_of(bench, "seed.schedule", f"random@{seed}", counter, 2))
        text = re.sub(r"\nseed \d+\n", "\nseed 4711\n", text)
        threads = "thread 1 0 0\nthread 2 0 1\nthread 3 0 2\n"
        bench.write("s.schedule", text.replace("\nrun ", "\n" + threads + "run ", 1))
        done = bench.run("replay", "s.schedule", "--", counter, 2, status=0)
        wanted = bench.run("replay", f"random@{seed}", "--", counter, 2, status=0)
        check(done.stdout == wanted.stdout, f"seed {seed}: {done.stdout!r}, not {wanted.stdout!r}")
        done = bench.run("replay", "s.schedule", "--", more, 2, status=67)
        check("the run left the schedule: stretch " in done.stderr, done.stderr)


def test_reports(bench):
    """A finding of a report by its id, or the beginning of it."""
    counter = bench.program("counter")
    schedule = schedule_of(bench, "s.schedule", "random@3", counter)
    accesses = [{"op": "write", "size": 4, "thread": f"T{i}", "event": i, "site": {"label": str(i)}} for i in (1, 2)]
    findings = [{"id": name, "kind": "race", "rung": "confirmed", "found_by": ["hb"], "dynamic_pairs": 1, "distance": 1, "accesses": accesses,
                 "replay": {"command": "", "seed": 3, "probability": 1.0, "schedule": text}}
                for name, text in (("abc1", schedule), ("abd2", ""), ("xyz3", "sooth schedule 1\n"))]
    bench.write("r.json", json.dumps({"schema": "sooth-report/1", "findings": findings, "stats": {"events": 0, "analyses": {}}}))
    wanted = bench.run("replay", "s.schedule", "--", counter).stdout
    for name in ("abc1", "abc"):
        check(bench.run("replay", f"r.json#{name}", "--", counter, status=0).stdout == wanted, name)
    for name, status, sentence in (("ab", 64, "several findings have an id that begins with `ab`"), ("q", 64, "no finding has the id `q`"),
                                   ("abd2", 64, "no run has reached the finding abd2"), ("xyz3", 65, "r.json#xyz3: the schedule is cut off")):
        done = bench.run("replay", f"r.json#{name}", "--", counter, status=status)
        check(sentence in done.stderr, done.stderr)
    check("say which of its findings" in bench.run("replay", "r.json", "--", counter, status=64).stderr, "a report without an id")


def test_bad_input(bench):
    """Files that are no schedules: 65; command lines that make no sense: 64."""
    counter = bench.program("counter")
    text = schedule_of(bench, "s.schedule", "random@3", counter)
    bad = {"empty": "", "noise": "\0\1\2", "cut": text[:len(text) // 2], "version": text.replace("schedule 1", "schedule 9", 1),
           "line": text.replace("seed ", "seed x", 1)}
    for name, content in bad.items():
        bench.write("bad.schedule", content)
        done = bench.run("replay", "bad.schedule", "--", counter, status=65)
        check(done.stderr.startswith("sooth: bad.schedule: ") and done.stderr.count("\n") == 1 and not done.stdout, f"{name}: {done.stderr}")
    for words in (["no.schedule", "--", counter], ["no.json#x", "--", counter], ["s.schedule", "--", "./no-such-program"]):
        bench.run("replay", *words, status=65)
    for words in ([], ["s.schedule"], ["--", counter], ["s.schedule", "--loud", "--", counter], ["s.schedule", counter],
                  ["s.schedule", "--timeout", "soon", "--", counter]):
        done = bench.run("replay", *words, status=64)
        check(done.stderr.startswith("sooth: "), done.stderr)


def test_timeout(bench):
    ends = bench.program("ends")
    done = bench.run("test", "--runs", 60, "--timeout", "3s", "--format", "json", "--schedules", "hangs", "--", ends, "loop", status=66, limit=600)
    hangs = [e for e in json.loads(done.stdout)["ends"] if e["kind"] == "hang"]
    check(len(hangs) == 1, done.stdout)
    again = bench.run("replay", "--timeout", "1s", hangs[0]["schedule"], "--", ends, "loop", status=137)
    check("a hang: it was killed when it still ran after 1 s" in again.stderr and "the same run" in again.stderr, again.stderr)


def test_gdb(bench):
    """gdb stops with both threads in front of their accesses."""
    if shutil.which("gdb") is None:
        raise Skipped("there is no gdb")
    race = bench.program("race")
    bench.run("record", "-o", "race.trace", "--", race, status=0)
    bench.run("analyze", "race.trace", "--format", "json", "-o", "race.json", "--fail-on", "never", status=0)
    bench.run("confirm", "race.json", "--fail-on", "never", "--", race, status=0)
    finding = next(f for f in json.loads(bench.read("race.json"))["findings"] if f["kind"] == "race")
    check(finding["rung"] in ("confirmed", "harmful"), finding["rung"])
    done = bench.run("replay", "race.json#" + finding["id"][:6], "--", race, status=0)
    check(re.search(r"race created: thread (?:main|T\d) \((write|read) of 4 bytes at .*race\.cc:\d+", done.stderr), done.stderr)
    done = bench.run("replay", "--gdb", "race.json#" + finding["id"], "--", race, stdin="thread apply all bt\nkill\nquit\n")
    check("SIGTRAP" in done.stdout and "writer" in done.stdout and "reader" in done.stdout, done.stdout + done.stderr)
    commands = ["echo AT\\n", "frame", "echo OTHER\\n", "sooth other", "echo HERE\\n", "sooth here", "echo THREADS\\n",
                "info threads", "echo BOTH\\n", "sooth both", "echo END\\n", "kill", "quit", ""]
    done = bench.run("replay", "--gdb", "race.json#" + finding["id"], "--", race, stdin="\n".join(commands))
    parts = re.split(r"\b(?:AT|OTHER|HERE|THREADS|BOTH|END)\n", done.stdout)
    check(len(parts) == 7, done.stdout + done.stderr)
    stop, here, other, again, threads, both, _ = parts
    # The user's own code, in both threads, and not the run time library.
    check(re.search(r"sooth: T\d meets T\d\. ", stop), stop)
    for text in (here, other, again):
        check(re.search(r"\b(writer|reader) \(.*race\.cc:\d+", text) and "libtsan" not in text, text)
    where = [re.search(r"\b(writer|reader) \(", text).group(1) for text in (here, other, again)]
    check(where[0] == where[2] != where[1], str(where))
    check(re.search(r'"?\bmain\b', threads) and re.search(r"\bT1\b", threads) and re.search(r"\bT2\b", threads), threads)
    check(re.search(r"T\d:\n  #0 (writer|reader)", both) and "reader" in both and "writer" in both, both)


if __name__ == "__main__":
    controlled.main(sys.modules[__name__])
