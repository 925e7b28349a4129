#!/usr/bin/env python3
"""sooth confirm: RaceFuzzer's phase 2 on the figures of its paper, on the examples, and from its command line.

    tests/cli/confirm.py SOOTH [--long] [NAME...]      all tests, or those named

--long gives them the numbers of runs that their statements are about: 1,000 instead of 100. Every run has its seed, so a test that
passes once passes always.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import test_loop
from test_loop import SOURCE, Failure, check

LONG = "--long" in sys.argv
JOBS = str(os.cpu_count() or 1)


class Lab:
    """A scratch directory with the programs in it, and sooth in PATH."""

    def __init__(self, sooth, scratch):
        self.sooth = sooth
        self.scratch = scratch
        self.environment = dict(os.environ, PATH=os.path.dirname(sooth) + ":" + os.environ["PATH"])

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, *words, expect=None, timeout=300):
        run = subprocess.run([str(w) for w in words], cwd=self.scratch, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
        if expect is not None and run.returncode not in (expect if isinstance(expect, tuple) else (expect,)):
            raise Failure(f"{' '.join(map(str, words))}: status {run.returncode}, expected {expect}\n{run.stdout}{run.stderr}")
        return run

    def tool(self, *words, expect=None, timeout=300):
        return self.run(self.sooth, *words, expect=expect, timeout=timeout)

    def build(self, name, *flags):
        for folder in ("examples", "tests/confirm"):
            source = os.path.join(SOURCE, folder, name + ".cc")
            if os.path.exists(source):
                self.tool("c++", "-g", *(flags or ("-O1",)), source, "-o", name, expect=0)
                return "./" + name
        raise Failure(f"there is no program {name}")

    def report(self, name, *arguments, schedule="serial", analyses="hybrid", options=("--witness-events", "0"), flags=()):
        """Builds, records and analyses a program; the name of the report and the words of the program."""
        program = self.build(name, *flags)
        trace = name + ".trace"
        shutil.rmtree(self.path(trace), ignore_errors=True)
        self.tool("record", "--schedule", schedule, "-o", trace, "--", program, *arguments)
        self.tool("analyze", trace, "--with", analyses, *options, "--format", "json", "-o", name + ".json", expect=(0, 66))
        return name + ".json", [program, *arguments]

    def load(self, report):
        with open(self.path(report)) as file:
            return json.load(file)

    def confirm(self, report, words, *options, expect=(0, 66)):
        self.tool("confirm", report, "--jobs", JOBS, *options, "--", *words, expect=expect, timeout=900)
        return self.load(report)


def lines_of(finding):
    return tuple(sorted(access["site"].get("line", 0) for access in finding["accesses"]))


def marked_lines(name, *marks):
    """The lines of a program of tests/confirm that end with these numbers of the paper."""
    with open(os.path.join(SOURCE, "tests/confirm", name + ".cc")) as file:
        text = file.read().splitlines()
    found = [i + 1 for mark in marks for i, line in enumerate(text) if re.search(rf"// {mark}$", line)]
    check(len(found) == len(marks), f"{name}.cc does not mark {marks}")
    return tuple(sorted(found))


def finding_at(report, lines):
    for finding in report["findings"]:
        if lines_of(finding) == lines:
            return finding
    raise Failure(f"there is no finding at lines {lines}: {[lines_of(f) for f in report['findings']]}")


def figure_1(lab):
    trials = "1000" if LONG else "100"
    report, words = lab.report("figure_1")
    before = lab.load(report)
    race, false = marked_lines("figure_1", 5, 7), marked_lines("figure_1", 1, 10)
    check(finding_at(before, race)["rung"] == "suspected" and finding_at(before, false)["rung"] == "suspected",
          "hybrid reports (5,7) and (1,10)")
    after = lab.confirm(report, words, "--all-trials", "--trials", trials)
    real, unreal = finding_at(after, race), finding_at(after, false)
    check(real["rung"] == "harmful" and "ERROR1" in real["replay"]["outcome"], f"(5,7) ends in ERROR1: {real.get('replay')}")
    check(real["replay"]["hits"] == int(trials), f"(5,7) is created in every run: {real['replay']}")
    check(unreal["rung"] == "suspected" and unreal["replay"]["hits"] == 0 and unreal["replay"]["trials"] == int(trials),
          f"(1,10) is never created: {unreal.get('replay')}")
    print(f"  (5,7): created in {real['replay']['hits']} of {trials} runs, ERROR1 in {real['replay']['failures']}; "
          f"(1,10): created in 0 of {trials}")


def figure_2(lab):
    trials = 100
    for statements in ("5", "50000"):
        report, words = lab.report("figure_2", statements)
        after = lab.confirm(report, words, "--all-trials", "--trials", trials, "--baseline-runs", trials)
        found = finding_at(after, marked_lines("figure_2", 8, 10))
        replay = found["replay"]
        check(replay["hits"] == trials, f"{statements} statements: created in {replay['hits']} of {trials}")
        check(35 <= replay["failures"] <= 65, f"{statements} statements: ERROR in {replay['failures']} of {trials}")
        check(found["rung"] == "harmful" and replay["outcome"].startswith("exit status 3"), f"{replay}")
        plain = sum(lab.run(*words).returncode == 3 for _ in range(trials))
        print(f"  {statements} statements before statement 8: race created in {replay['hits']} of {trials} runs, ERROR in "
              f"{replay['failures']}; random schedules reach it in {replay['baseline_failures']}, the plain program in {plain}")
        check(replay["baseline_failures"] * 2 <= replay["failures"], "random schedules reach ERROR far less")


def crashes(lab):
    """Section 5.3: a cache cleaner and containsAll/removeAll end in their crashes."""
    for name, words_of_crash in (("cache_cleaner", "the entry in use is gone"), ("contains_all", "the list changed during the walk")):
        report, words = lab.report(name, analyses="hb,wcp,hybrid")
        after = lab.confirm(report, words)
        harmful = [f for f in after["findings"] if f["rung"] == "harmful" and words_of_crash in f["replay"]["outcome"]]
        check(harmful, f"{name}: {[(lines_of(f), f['rung'], f.get('replay', {}).get('outcome')) for f in after['findings']]}")
        for finding in harmful:
            print(f"  {name}: lines {lines_of(finding)} crash with seed {finding['replay']['seed']}: {finding['replay']['outcome']}")


EXAMPLES = ("airline", "bank_account_hidden", "bank_account_race", "bounded_buffer", "bubble_sort", "buffered_writer", "cache_cleaner",
            "contains_all", "critical", "elevator", "merge_sort", "ping_pong", "producer_consumer", "textbook", "tsp")


def witnesses(lab):
    """Every witness leads the real program to the race, or the report says where it left the witness."""
    followed = left = 0
    for name, schedule in [(name, schedule) for name in EXAMPLES for schedule in (("serial", "os") if LONG else ("serial",))]:
        report, words = lab.report(name, schedule=schedule, analyses="hb,wcp,syncp,deadlock", options=())
        after = lab.confirm(report, words, "--trials", "20" if LONG else "5")
        for finding in after["findings"]:
            if finding.get("witness", {}).get("status") != "checked":
                continue
            replay = finding["replay"]
            reached = replay.get("witness_followed", False)
            check(reached or replay.get("diverged"), f"{name}: lines {lines_of(finding)} say nothing about the witness: {replay}")
            check(not reached or finding["rung"] in ("confirmed", "harmful"), f"{name}: reached, but {finding['rung']}")
            followed += reached
            left += not reached
            if not reached:
                print(f"  {name} {lines_of(finding)}: {finding['rung']}; {replay['diverged']}")
    print(f"  {followed} witnesses led to the race, {left} were left")
    check(followed > 0 and followed >= left, "most witnesses are followed")


def diverges(lab):
    """A program that does something else than it did: the report says where it left the witness."""
    report, words = lab.report("rounds", "4", analyses="wcp,syncp", options=())
    found = finding_at(lab.load(report), marked_lines("rounds", "race") * 2)
    check(found["witness"]["status"] == "checked", f"{found['witness']}")
    after = lab.confirm(report, [words[0], "1"])
    found = finding_at(after, marked_lines("rounds", "race") * 2)
    check("stretch" in found["replay"].get("diverged", "") and not found["replay"].get("witness_followed"), f"{found['replay']}")
    check(found["rung"] == "confirmed" and found["replay"]["strategy"] == "directed", "directed runs get there all the same")
    print(f"  {found['replay']['diverged']}")
    # And with the argument it was recorded with.
    report, words = lab.report("rounds", "4", analyses="wcp,syncp", options=())
    found = finding_at(lab.confirm(report, words), marked_lines("rounds", "race") * 2)
    check(found["replay"].get("witness_followed"), f"{found['replay']}")


def deadlock(lab):
    report, words = lab.report("deadlock", analyses="deadlock", options=())
    after = lab.confirm(report, words)
    found = [f for f in after["findings"] if f["kind"] == "deadlock"]
    check(len(found) == 1 and found[0]["rung"] == "harmful" and found[0]["replay"]["outcome"] == "a deadlock", f"{found}")
    check(found[0]["replay"].get("witness_followed"), "along the witness")
    # Without the trace the strategies have to find it.
    report, words = lab.report("deadlock", analyses="deadlock", options=("--witness-events", "0"))
    after = lab.confirm(report, words)
    check(after["findings"][0]["rung"] == "harmful", f"{after['findings'][0].get('replay')}")


def steered_deadlock(lab):
    """Without a witness: threads are stopped in front of their acquires, so that one run is enough."""
    report, words = lab.report("deadlock_behind_value", schedule="pct:1", analyses="deadlock,mcm", options=())
    check([f["rung"] for f in lab.load(report)["findings"] if f["kind"] == "deadlock"] == ["suspected"], "no reordering reaches it")
    reached = directed = 0
    for seed in range(1, 11):
        shutil.copy(lab.path(report), lab.path("steered.json"))
        after = lab.confirm("steered.json", words, "--trials", "1", "--baseline-runs", "1", "--seed", str(100 * seed))
        found = next(f for f in after["findings"] if f["kind"] == "deadlock")
        if found["rung"] == "harmful":
            reached += 1
            directed += found["replay"]["strategy"] == "directed"  # or else the run to compare with was there by chance
            lab.tool("replay", f"steered.json#{found['id']}", "--", *words, expect=66)
    check(reached >= 8 and directed >= 6, f"{reached} of 10 reached it, {directed} of them steered")


def jobs_and_seeds(lab):
    """The answer does not depend on --jobs, and two campaigns with one seed are one campaign."""
    report, words = lab.report("figure_1")
    texts = []
    for jobs in ("1", "2", "5", "2"):
        lab.tool("confirm", report, "--jobs", jobs, "--trials", "30", "--no-times", "--format", "json", "-o", "out.json", "--", *words,
                 expect=66)
        with open(lab.path("out.json")) as file:
            texts.append(file.read())
    check(len(set(texts)) == 1, "the reports differ")
    lab.tool("confirm", report, "--seed", "77", "--no-times", "--format", "json", "-o", "other.json", "--", *words, expect=66)
    check(all(f["replay"]["seed"] in (0, *range(77, 177)) for f in lab.load("other.json")["findings"]), "seeds start at --seed")


def pasted(lab):
    """The command of a replay works when it is pasted into a shell."""
    report, words = lab.report("figure_1")
    after = lab.confirm(report, words, "--trials", "30")
    command = finding_at(after, marked_lines("figure_1", 5, 7))["replay"]["command"]
    run = lab.run("bash", "-c", command)
    check(run.returncode != 67 and "ERROR1" in run.stderr, f"{command}: status {run.returncode}\n{run.stdout}{run.stderr}")


def updates(lab):
    """What is written where, and what is kept."""
    report, words = lab.report("figure_1")
    before = lab.load(report)
    text = lab.tool("confirm", report, "--trials", "20", "--", *words, expect=66).stdout
    check("harmful data race" in text and "replay: sooth replay figure_1.json#" in text, text)
    shown = lab.tool("report", report, "--fail-on", "suspected", expect=66).stdout
    check("none of 20 controlled runs reached it" in shown, shown)
    after = lab.load(report)
    # What runs ended in is new; all else is the same.
    check({f["id"] for f in after["findings"] if "failure" not in f} == {f["id"] for f in before["findings"]}, "findings are the same")
    check([f["kind"] for f in after["findings"] if "failure" in f] == ["crash"], "and the crash is a finding of its own")
    # Nothing moves down: one trial cannot show harm here.
    lab.tool("confirm", report, "--trials", "1", "--", *words, expect=66)
    check([f["rung"] for f in lab.load(report)["findings"]] == [f["rung"] for f in after["findings"]], "rungs stay")
    # Elsewhere.
    report, words = lab.report("figure_1")
    before = lab.load(report)
    lab.tool("confirm", report, "--trials", "5", "--format", "json", "-o", "elsewhere.json", "--", *words, expect=66)
    check(lab.load(report) == before, "with -o the report is left alone")
    check(any("elsewhere.json#" in f["replay"].get("command", "") for f in lab.load("elsewhere.json")["findings"]), "commands name the new file")
    # Shards are parts of the whole.
    report, words = lab.report("figure_1")
    tried = []
    for shard in ("1/2", "2/2"):
        lab.tool("confirm", report, "--trials", "5", "--shard", shard, "--format", "json", "-o", "shard.json", "--", *words)
        tried.append({f["id"] for f in lab.load("shard.json")["findings"] if "replay" in f and "failure" not in f})
    check(tried[0] and tried[1] and not tried[0] & tried[1] and tried[0] | tried[1] == {f["id"] for f in before["findings"]}, f"{tried}")
    # A suppressed finding is not tried, and not lost.
    with open(lab.path("supp"), "w") as file:
        file.write("race:thread1\n")
    report, words = lab.report("figure_1")
    lab.tool("confirm", report, "--trials", "5", "--suppressions", "supp", "--", *words, expect=0)
    check(len(lab.load(report)["findings"]) == len(before["findings"]), "suppressed findings stay in the file")
    check(not any("replay" in f for f in lab.load(report)["findings"]), "suppressed findings are not tried")
    # Neither is what a baseline knows.
    shutil.copy(lab.path(report), lab.path("old.json"))
    lab.tool("confirm", report, "--trials", "5", "--baseline", "old.json", "--", *words, expect=0)
    check(not any("replay" in f for f in lab.load(report)["findings"]), "known findings are not tried")


def changed_program(lab):
    """A program that was built anew is searched by file and line, and the report says so."""
    report, words = lab.report("figure_1")
    lab.build("figure_1", "-O0")
    after = lab.confirm(report, words, "--trials", "20")
    check(any("has changed since" in note for note in after["notes"]), f"{after['notes']}")
    check(finding_at(after, marked_lines("figure_1", 5, 7))["rung"] == "harmful", "found by line")


def refusals(lab):
    report, words = lab.report("figure_1")
    with open(lab.path("text.std"), "w") as file:
        file.write("T0|w(x)|1\nT1|w(x)|2\n")
    lab.tool("analyze", "text.std", "--with", "hb", "--format", "json", "-o", "text.json", expect=66)
    with open(lab.path("calm.std"), "w") as file:
        file.write("T0|w(x)|1\n")
    lab.tool("analyze", "calm.std", "--with", "hb", "--format", "json", "-o", "calm.json", expect=0)
    shutil.copy("/bin/true", lab.path("plain"))
    cases = (
        (("confirm", "text.json", "--", *words), 65, "not a recording"),
        (("confirm", "calm.json", "--", *words), 0, "nothing to confirm"),
        (("confirm", report), 64, "-- ./figure_1"),
        (("confirm", report, "./figure_1"), 64, "write `--` in front"),
        (("confirm", report, "--", "./missing"), 65, "missing"),
        (("confirm", report, "--", "./plain"), 65, "not instrumented"),
        (("confirm", "missing.json", "--", *words), 65, "missing.json"),
        (("confirm", "-", "--", *words), 64, "standard input"),
        (("confirm", report, "--trials", "0", "--", *words), 64, "--trials"),
        (("confirm", report, "-o", "nowhere/out", "--", *words), 64, "nowhere"),
        (("confirm", report, "--shard", "3/2", "--", *words), 64, "3/2"),
        (("confirm", report, "--no-such", "--", *words), 64, "--no-such"),
    )
    for arguments, status, text in cases:
        run = lab.tool(*arguments)
        said = run.stdout + run.stderr
        check(run.returncode == status and text in said, f"{arguments}: status {run.returncode}, expected {status}\n{said}")


def has_child(pid):
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    return True
        except (OSError, ValueError, IndexError):
            pass  # no process, or gone by now
    return False


def limits(lab):
    """A budget and an interrupt both end with the report so far."""
    report, words = lab.report("figure_2", "50000")
    run = lab.tool("confirm", report, "--trials", "100000", "--all-trials", "--budget", "2s", "--", *words)
    check(run.returncode in (0, 66), run.stderr)
    trials = finding_at(lab.load(report), marked_lines("figure_2", 8, 10))["replay"]["trials"]
    check(0 < trials < 100000, f"{trials} trials in the budget")
    report, words = lab.report("figure_2", "50000")
    process = subprocess.Popen([lab.sooth, "confirm", report, "--trials", "100000", "--all-trials", "--", *words], cwd=lab.scratch,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not has_child(process.pid):  # a run is under way
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    check(process.returncode in (0, 66) and "interrupted" in err, f"status {process.returncode}\n{out}{err}")
    check(any("replay" in finding for finding in lab.load(report)["findings"]), "the report so far")


TESTS = (figure_1, figure_2, crashes, witnesses, diverges, deadlock, steered_deadlock, jobs_and_seeds, pasted, updates, changed_program, refusals, limits)


if __name__ == "__main__":
    sys.exit(test_loop.run_apart(TESTS, [a for a in sys.argv[1:] if a != "--long"], __doc__, lambda sooth, scratch, _: Lab(sooth, scratch)))
