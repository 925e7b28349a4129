#!/usr/bin/env python3
"""sooth run and sooth merge: options, places, statuses, and what happens when something breaks on the way.

    tests/cli/run.py SOOTH [NAME...]      all tests, or those named

What it finds in the examples and the other programs is the matter of tests/programs/run_command.py.
"""
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import test_loop
from test_loop import SOURCE, Failure, check

TIME_LIMIT = 120  # seconds for one command: what takes longer hangs

RUNGS = ["suspected", "predicted", "confirmed", "harmful"]


class Lab:
    """A scratch directory with programs in it. Each test has one of its own."""

    def __init__(self, sooth, scratch, bin_folder):
        self.sooth, self.scratch, self.bin = sooth, scratch, bin_folder
        self.environment = dict(os.environ, TMPDIR=os.path.join(scratch, "tmp"))
        os.mkdir(self.environment["TMPDIR"])

    def path(self, name):
        return os.path.join(self.scratch, name)

    def start(self, *words, **options):
        return subprocess.Popen([self.sooth, *map(str, words)], cwd=self.scratch, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def tool(self, *words, expect=None, **options):
        process = self.start(*words, **options)
        return self.end(process, words, expect)

    @staticmethod
    def end(process, words, expect=None):
        try:
            output, errors = process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"sooth {' '.join(map(str, words))} hangs") from None
        run = subprocess.CompletedProcess(words, process.returncode, output, errors)
        if expect is not None and run.returncode not in (expect if isinstance(expect, tuple) else (expect,)):
            raise Failure(f"sooth {' '.join(map(str, words))}: status {run.returncode}, expected {expect}\n{output}{errors}")
        return run

    def build(self, source):
        """The program of a source file or of a text, built once for all tests."""
        name = os.path.basename(source)[:-len(".cc")]
        program = os.path.join(self.bin, name)
        if not os.path.exists(program):
            self.tool("c++", "-g", "-O1", source, "-o", program, expect=0)
        return program

    def write(self, name, text):
        source = os.path.join(self.bin, name + ".cc")
        with open(source, "w") as file:
            file.write(text)
        return self.build(source)

    def example(self, name):
        return self.build(os.path.join(SOURCE, "examples", name + ".cc"))

    def load(self, name):
        with open(self.path(name)) as file:
            return json.load(file)

    def left(self):
        """What the run left behind beside its report."""
        return sorted(os.listdir(self.path("tmp")))


def lines_of(finding):
    return tuple(sorted(access["site"].get("line", 0) for access in finding["accesses"]))


def races(report):
    """Lines -> rung, the highest of the findings that are on them."""
    found = {}
    for finding in report["findings"]:
        if finding["kind"] == "race":
            lines = lines_of(finding)
            found[lines] = max(found.get(lines, "suspected"), finding["rung"], key=RUNGS.index)
    return found


def replay_line(lab):
    """The line that the report prints makes the race happen."""
    run = lab.tool("run", "--verbose", "--", lab.example("textbook"), expect=66)
    check(re.fullmatch(r"report \d, prepared \d+\n", run.stdout), "the report is beside what the program writes, not in it: " + run.stdout)
    command = re.search(r"replay: sooth replay (\S+) -- (\S+)", run.stderr)
    check(command is not None, run.stderr)
    check("harmful" in run.stderr and 'instead of "report' in run.stderr and "swapped critical sections" in run.stderr, run.stderr)
    check("the report is in sooth-textbook.json" in run.stderr, run.stderr)
    again = lab.tool("replay", command[1].strip("'"), "--", command[2], expect=0)
    check("race" in again.stdout + again.stderr, again)
    # A second run does not touch the report of the first.
    lab.tool("run", "--trials", "0", "--", lab.example("textbook"), expect=66)
    check(lab.load("sooth-textbook-2.json")["findings"][0]["rung"] == "predicted", "--trials 0 confirms nothing")
    check(lab.load("sooth-textbook.json")["findings"][0]["rung"] == "harmful", "the first report is as it was")


STATUS = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <thread>
int main(int argc, char** argv) {
  std::thread([] {}).join();
  std::printf("out\\n");
  std::fprintf(stderr, "err\\n");
  std::fflush(stdout);
  if (argc > 1 && std::strcmp(argv[1], "kill") == 0) std::raise(SIGKILL);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
"""


RACY = """
#include <thread>
static int calls;
int main() {
  std::thread other([] { ++calls; });
  ++calls;
  other.join();
}
"""


def statuses(lab):
    """Without findings, the program's status and output; with them, 66, and --fail-on."""
    program = lab.write("status", STATUS)
    for argument, status in (("0", 0), ("7", 7), ("kill", 137)):
        run = lab.tool("run", "-o", "r.txt", "--", program, argument, expect=status)
        check(run.stdout == "out\n" and run.stderr.startswith("err\n"), run)
    check("was killed" in open(lab.path("r.txt")).read(), "the report tells of the kill")
    lab.tool("run", "--fail-on", "harmful", "--", lab.example("textbook"), expect=66)
    racy = lab.write("racy", RACY)
    lab.tool("run", "--fail-on", "harmful", "--", racy, expect=0)
    lab.tool("run", "--fail-on", "never", "--", racy, expect=0)
    lab.tool("run", "--fail-on", "confirmed", "--", racy, expect=66)
    lab.tool("run", "--", "/bin/true", expect=65)
    lab.tool("run", "--", "./nothing", expect=65)
    lab.tool("run", expect=64)
    lab.tool("run", racy, expect=64)
    lab.tool("run", "--with", "magic", "--", racy, expect=64)
    lab.tool("run", "-o", "no/such/folder", "--", racy, expect=64)


def options(lab):
    """Reports in other shapes and places, and recordings that stay."""
    program = lab.example("textbook")
    lab.tool("run", "--format", "json", "-o", "mine.json", "--keep", "--", program, expect=66)
    report = lab.load("mine.json")
    check(report["trace"] == "sooth-textbook.trace" and os.path.isdir(lab.path("sooth-textbook.trace")), report["trace"])
    check(not os.path.exists(lab.path("sooth-textbook.json")), "one report is enough")
    lab.tool("witness", "check", "mine.json", "sooth-textbook.trace", expect=0)
    check("mine.json#" in report["findings"][0]["replay"]["command"], report["findings"][0]["replay"])
    lab.tool("run", "--schedule", "os", "--budget", "5s", "--", program, expect=66)
    check(lab.load("sooth-textbook.json")["trace"] == "", "a recording that is gone has no name")
    with open(lab.path("known"), "w") as file:
        file.write("race:first\n")
    lab.tool("run", "--suppressions", "known", "--", program, expect=0)
    lab.tool("run", "--baseline", "mine.json", "--", program, expect=0)


def notes(lab):
    """What is not covered is told."""
    program = lab.example("textbook")
    output = lab.tool("run", "--format", "json", "--exclude", "*/libfoo.so*", "--", program, expect=66).stdout
    report = json.loads(output[output.index("{"):])  # behind what the program printed
    text = "\n".join(report["notes"])
    check("libfoo" in text and "--exclude" in text, text)
    check("not instrumented" not in text, text)
    check("of the budget of 60.0 s" in text, text)
    check("--exclude" in " ".join(gaps(report)["excluded-code"]), report["not_covered"])
    check([row["stage"] for row in report["stats"]["stages"]] == ["record", "detect", "prove", "confirm", "record again"], report["stats"])
    quick = lab.tool("run", "--budget", "1ms", "--no-times", "--", program, expect=(0, 66)).stderr
    check("The budget of 1 ms was spent" in quick and "time was over" in quick, quick)
    first, second = (lab.tool("run", "--no-times", "--format", "json", "-o", "d.json", "--", program, expect=66) and
                     open(lab.path("d.json")).read() for _ in range(2))
    strip = lambda text: re.sub(r'0x[0-9a-f]{6,}|"schedule": .*', "", text)
    check(strip(first) == strip(second), "equal runs give equal reports")


FORKS = """
#include <sys/wait.h>
#include <unistd.h>
#include <thread>
int shared;
void work() {
  std::thread a([] { shared = shared + 1; });
  std::thread b([] { shared = shared + 1; });
  a.join();
  b.join();
}
int main() {
  const pid_t child = fork();
  work();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
}
"""


def forks(lab):
    """Two processes, one report, each race once."""
    program = lab.write("forks", FORKS)
    lab.tool("run", "--", program, expect=66)
    report = lab.load("sooth-forks.json")
    check(set(races(report)) == {(7, 8)}, races(report))
    check(max(report["findings"], key=lambda f: RUNGS.index(f["rung"]))["rung"] in ("confirmed", "harmful"), races(report))
    check(report["stats"]["threads"] >= 6, report["stats"])
    ids = [finding["id"] for finding in report["findings"]]
    check(len(ids) == len(set(ids)), ids)


SCRIPT = """#!/bin/sh
cd sub
./textbook
echo between
./airline 'an argument' | cat
./textbook
exit 3
"""


def scripts(lab):
    """A shell script that starts several programs: one report with the races of all of them, confirmed and replayable."""
    os.mkdir(lab.path("sub"))
    for name in ("textbook", "airline"):
        shutil.copy(lab.example(name), lab.path("sub"))
    with open(lab.path("all.sh"), "w") as file:
        file.write(SCRIPT)
    os.chmod(lab.path("all.sh"), 0o755)
    lab.tool("run", "--fail-on", "never", "--trials", "10", "--", "./all.sh", expect=3)
    report = lab.load("sooth-all.sh.json")
    found = {(os.path.basename(f["accesses"][0]["site"]["file"]), lines_of(f)): f for f in report["findings"] if f["rung"] != "suspected"}
    check(set(found) == {("textbook.cc", (21, 31)), ("airline.cc", (22, 27))}, list(found))
    check(all(f["rung"] == "confirmed" for f in found.values()), {key: f["rung"] for key, f in found.items()})
    check(len(report["findings"]) == len({f["id"] for f in report["findings"]}), "each race once")
    check(report["stats"]["threads"] >= 9, report["stats"])
    check(lab.left() == [], lab.left())
    for finding in found.values():
        words = finding["replay"]["command"].split()
        again = lab.tool("replay", words[2].strip("'"), "--", *words[4:], expect=3)
        check("race created" in again.stderr and finding["accesses"][0]["site"]["file"] in again.stderr, again)


EXCLUDED = """
#include <thread>
alignas(64) int data;
alignas(64) int here;
alignas(64) int there;
alignas(64) int end;
__attribute__((noinline)) void hidden_here() { here = here + 1; }
__attribute__((noinline)) void hidden_there() { there = there + 1; }
int main() {
  std::thread a([] { data = 1; hidden_here(); });
  std::thread b([] { hidden_there(); data = 2; });
  a.join();
  b.join();
}
"""


def excluded(lab):
    """Calls that were not recorded: rdit in place of those that they would fool, and what they may have hidden is told."""
    program = lab.write("excluded", EXCLUDED)
    exclude = ("--exclude", "func:hidden_*")
    lab.tool("run", *exclude, "--recordings", "1", "--trials", "0", "--", program, expect=0)
    report = lab.load("sooth-excluded.json")
    names = set(report["stats"]["analyses"])
    check("rdit" in names and not names & {"hb", "wcp", "syncp", "mcm"}, names)
    check(races(report) == {(10, 11): "suspected"}, "what may have waited for each other stays in order")
    check(any("func:hidden_*" in note for note in report["notes"]), report["notes"])
    check(any("races around them are missed" in note for note in report["notes"]), report["notes"])
    lab.tool("run", *exclude, "--recordings", "1", "--", program, expect=66)
    check(races(lab.load("sooth-excluded-2.json")) == {(10, 11): "confirmed"}, "the program did not wait, and a run shows it")
    lab.tool("run", *exclude, "--recordings", "1", "--reach", "touched", "--", program, expect=66)
    report = lab.load("sooth-excluded-3.json")
    check(races(report) == {(10, 11): "confirmed"} and "rdit" in report["findings"][0]["found_by"], report["findings"])
    lab.tool("run", "--", program, expect=66)
    check({"hb", "mcm"} <= set(lab.load("sooth-excluded-4.json")["stats"]["analyses"]), "without calls all are asked")


POST_LIBRARY = """
#include <atomic>
static std::atomic<int> flag;
extern "C" void post() { flag.store(1, std::memory_order_release); }
extern "C" void wait_for_post() { while (flag.load(std::memory_order_acquire) == 0) {} }
"""
POST = """
#include <thread>
extern "C" void post();
extern "C" void wait_for_post();
int data;
int main(int argc, char**) {
  std::thread a([] { data = 1; post(); });
  std::thread b([argc] { if (argc == 1) wait_for_post(); data = 2; });
  a.join();
  b.join();
}
"""


def gaps(report):
    """Kind -> the sentences of it."""
    found = {}
    for gap in report["not_covered"]:
        found.setdefault(gap["kind"], []).append(gap["text"])
    return found


def uninstrumented(lab):
    """A library orders two writes, and nobody sees it: labelled, and no reason to fail before it is confirmed."""
    with open(lab.path("post.cc"), "w") as file:
        file.write(POST_LIBRARY)
    with open(lab.path("main.cc"), "w") as file:
        file.write(POST)
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "post.cc", "-o", "libpost.so"], cwd=lab.scratch, check=True)
    lab.tool("c++", "-g", "-O1", "main.cc", "-o", "main", "-L.", "-lpost", "-Wl,-rpath," + lab.scratch, expect=0)
    run = lab.tool("run", "--trials", "3", "--baseline-runs", "1", "--timeout", "1s", "--keep", "t.trace", "--", "./main", expect=0)
    report = lab.load("sooth-main.json")
    finding = next(f for f in report["findings"] if f["kind"] == "race")
    check(finding["rung"] == "predicted" and finding["uninstrumented"] == ["libpost.so"], finding)
    check("What was not covered:\n" in run.stderr and "fails no run before it is confirmed" in run.stderr, run.stderr)
    check(any("libpost.so" in text for text in gaps(report)["library"]), report["not_covered"])
    check("trials" in gaps(report) and "not-executed" in gaps(report) and "budget" in gaps(report), report["not_covered"])
    check(all(text in report["notes"] for kind, texts in gaps(report).items() for text in texts if kind != "not-executed"), report["notes"])
    lab.tool("analyze", "t.trace", expect=0)
    lab.tool("analyze", "t.trace", "--fail-on", "suspected", expect=66)
    # Who says that it keeps nothing of its own answers for that: the report says on whose word it stands.
    for name in ("libpost", "libpost.so", "lib*st.so", "/lib/libpost.so"):
        said = lab.tool("analyze", "t.trace", "--stateless", name, expect=66)
        check("libpost.so is taken to keep nothing between calls, as --stateless says" in said.stdout, said.stdout)
    wrong = lab.tool("analyze", "t.trace", "--stateless", "libpo", expect=0)
    check("the program has loaded no library `libpo` that is not instrumented" in wrong.stdout, wrong.stdout)
    lab.tool("run", "--trials", "0", "--recordings", "1", "--timeout", "1s", "--stateless", "libpost", "--store", "said.json", "--", "./main", expect=66)
    said = lab.load("said.json")
    check(said["stateless"] == ["libpost"] and "uninstrumented" not in said["findings"][0], said)
    # The same library, and a race that it has nothing to do with: confirmed, so it counts.
    lab.tool("run", "--", "./main", "race", expect=66)
    finding = next(f for f in lab.load("sooth-main-2.json")["findings"] if f["kind"] == "race")
    check(finding["rung"] == "confirmed" and finding["uninstrumented"] == ["libpost.so"], finding)


IDLE_LIBRARY = """
#include <sched.h>
int deep() {
#ifdef WAITS
  sched_yield();
#endif
  return 1;
}
"""
IDLE = """
#include <thread>
extern "C" int outer();
int data;
int main(int argc, char**) {
  if (argc > 5) {
    CALL
  }
  std::thread a([] { data = 1; }), b([] { data = 2; });
  a.join();
  b.join();
}
"""


CRC = """
#include <thread>
extern "C" unsigned long crc32(unsigned long, const unsigned char*, unsigned);
unsigned char first[8], second[8];
int data;
int main() {
  std::thread a([] { data = 1; crc32(0, first, sizeof first); });
  std::thread b([] { crc32(0, second, sizeof second); data = 2; });
  a.join();
  b.join();
}
"""


def stateless(lab):
    """A library that is known to keep nothing between calls mutes nothing, and is not asked about."""
    with open(lab.path("crc.cc"), "w") as file:
        file.write(CRC)
    with open(lab.path("z.c"), "w") as file:
        file.write("unsigned long crc32(unsigned long sum, const unsigned char* bytes, unsigned count) { return count ? sum + bytes[0] : sum; }\n")
    for library, muted in (("libz.so.1", []), ("libzz.so.1", ["libzz.so.1"])):
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname," + library, "z.c", "-o", library], cwd=lab.scratch, check=True)
        lab.tool("c++", "-g", "-O1", "crc.cc", "-o", "crc", library, "-Wl,-rpath," + lab.scratch, expect=0)
        lab.tool("run", "--trials", "0", "--store", "crc.json", "--", "./crc", expect=0 if muted else 66)
        report = lab.load("crc.json")
        finding, = report["findings"]
        check(finding["rung"] == "predicted" and finding.get("uninstrumented", []) == muted, finding)
        check("stateless" not in report, report)


def only_loaded(lab):
    """A library that is there because another needs it mutes nothing; nor does that one, if nobody calls it. Who calls it, or what waits by
    means that are not seen, mutes."""
    with open(lab.path("deep.c"), "w") as file:
        file.write(IDLE_LIBRARY)
    with open(lab.path("outer.c"), "w") as file:
        file.write("int deep(void);\nint outer(void) { return deep(); }\n")
    link = ["-L.", "-Wl,--no-as-needed", "-Wl,-rpath," + lab.scratch]
    for waits, call, muted in (([], "", []), ([], "outer();", ["libouter.so"]), (["-DWAITS"], "", []),
                               (["-DWAITS"], "outer();", ["libdeep.so", "libouter.so"])):
        subprocess.run(["gcc", "-shared", "-fPIC", *waits, "deep.c", "-o", "libdeep.so"], cwd=lab.scratch, check=True)
        subprocess.run(["gcc", "-shared", "-fPIC", "outer.c", "-o", "libouter.so", *link, "-ldeep"], cwd=lab.scratch, check=True)
        with open(lab.path("idle.cc"), "w") as file:
            file.write(IDLE.replace("CALL", call))
        lab.tool("c++", "-g", "-O1", "idle.cc", "-o", "idle", *link, "-louter", expect=0)
        lab.tool("run", "--trials", "0", "--store", "idle.json", "--", "./idle", expect=0 if muted else 66)
        report = lab.load("idle.json")
        finding, = report["findings"]
        check(finding["rung"] == "predicted" and finding.get("uninstrumented", []) == muted, (waits, call, finding))
        check(any("libouter.so" in text for text in gaps(report)["library"]), report["not_covered"])


SLOW = """
#include <chrono>
#include <cstdio>
#include <thread>
int shared;
int main(int argc, char**) {
  std::thread a([] { shared = shared + 1; });
  std::thread b([] { shared = shared + 1; });
  a.join();
  b.join();
  std::printf("up\\n");
  std::fflush(stdout);
  for (int i = 0; argc > 1 && i < 6000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}
"""


BUSY = """
#include <cstdio>
#include <mutex>
#include <thread>
std::mutex mutex;
int shared;
int cells[1 << 18];
void work(int seed) {
  { std::lock_guard<std::mutex> guard(mutex); shared = shared + 1; }
  for (int round = 0; round < 6; ++round)
    for (int i = seed; i < (1 << 18); i += 2) cells[i] = cells[i] + 1;
}
int main() {
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  std::printf("up\\n");
}
"""


def wait_for(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < deadline, f"waited in vain for {what}")
        time.sleep(0.02)


def children_of(pid):
    """Of all of its threads: controlled runs are made by several."""
    children = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as file:
                children += [int(word) for word in file.read().split()]
        except OSError:  # the thread is gone
            pass
    return children


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def start_analysis(lab):
    """A run whose program is over, with a lot to analyse."""
    run = lab.start("run", "--", lab.write("busy", BUSY))
    check(run.stdout.readline() == "up\n", "the program is up")
    wait_for(lambda: not children_of(run.pid), "the end of the program")
    return run


def interrupts(lab):
    """Ctrl-C in the recorded run and in controlled runs: the report so far."""
    program = lab.write("slow", SLOW)
    run = lab.start("run", "--", program, "wait")
    check(run.stdout.readline() == "up\n", "the program is up")
    os.kill(run.pid, signal.SIGINT)
    end = lab.end(run, ["run", "interrupted while it records"], 66)
    check("No controlled run was made: the recorded run was interrupted" in end.stderr, end.stderr)
    check("predicted" in end.stderr and lab.left() == [], (end.stderr, lab.left()))
    # While three million events are analysed.
    run = start_analysis(lab)
    os.kill(run.pid, signal.SIGINT)
    end = lab.end(run, ["run", "interrupted while it analyses"], 128 + signal.SIGINT)
    check("Interrupted: only the first" in end.stderr and lab.left() == [], (end.stderr, lab.left()))
    # Controlled runs of a program that takes its time, until somebody has enough of it.
    run = lab.start("run", "--trials", "1000000", "--baseline-runs", "1000000", "--budget", "0", "--jobs", "1", "--", lab.example("textbook"))
    wait_for(lambda: any("control" in name or name.startswith("sooth") for name in lab.left()) and children_of(run.pid), "a run")
    time.sleep(1)
    os.kill(run.pid, signal.SIGINT)
    end = lab.end(run, ["run", "interrupted while it confirms"], (0, 66))
    check("Interrupted" in end.stderr and "race" in end.stderr, end.stderr)
    check(lab.left() == [], lab.left())


def stop_in_controlled_run(pid, folders):
    """Stops sooth while a controlled run is under way, and collects the folders of such runs; False when there is none."""
    os.kill(pid, signal.SIGSTOP)
    for child in children_of(pid):
        try:
            with open(f"/proc/{child}/environ", "rb") as file:
                folders.update(match.decode() for match in re.findall(rb"SOOTH_CONTROL=(/[\w/.-]*/sooth-run-\w+)", file.read()))
        except OSError:  # it has ended
            pass
    if not folders:
        os.kill(pid, signal.SIGCONT)
    return bool(folders)


def kills(lab):
    """kill -9 of the program, and of sooth in each stage: nothing hangs, and nothing is left running but a program that records."""
    program = lab.write("slow", SLOW)
    run = lab.start("run", "--", program, "wait")
    check(run.stdout.readline() == "up\n", "the program is up")
    wait_for(lambda: children_of(run.pid), "the program")
    os.kill(children_of(run.pid)[0], signal.SIGKILL)
    end = lab.end(run, ["run", "whose program is killed"], 66)
    check("The recorded run was killed" in end.stderr, end.stderr)
    # sooth itself, while it records: the program goes on, as documented.
    run = lab.start("run", "--", program, "wait")
    check(run.stdout.readline() == "up\n", "the program is up")
    child = children_of(run.pid)[0]
    run.kill()
    run.wait()
    check(is_running(child), "the program goes on")
    os.kill(child, signal.SIGKILL)
    run.stdout.close(), run.stderr.close()
    # ... while it analyses.
    run = start_analysis(lab)
    run.kill()
    check(run.wait(timeout=TIME_LIMIT) == -signal.SIGKILL, "killed while it analyses")
    run.stdout.close(), run.stderr.close()
    # ... while it confirms: its runs end with it.
    run = lab.start("run", "--trials", "1000000", "--baseline-runs", "1000000", "--budget", "0", "--jobs", "1", "--", lab.example("textbook"))
    left = set()
    wait_for(lambda: stop_in_controlled_run(run.pid, left), "a controlled run")
    started = children_of(run.pid)
    run.kill()
    run.wait()
    wait_for(lambda: not any(is_running(pid) for pid in started), "the end of the runs")
    for folder in left:  # nobody else can: sooth is dead
        shutil.rmtree(folder, ignore_errors=True)
    run.stdout.close(), run.stderr.close()


def on_small_disk(lab, size, work):
    """Runs it with a file system of that size in small/, if this machine lets us."""
    small = lab.path("small")
    os.makedirs(small, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", small], capture_output=True).returncode == 0:
        try:
            work()
        finally:
            subprocess.run(["umount", small], check=True)


def full_disks(lab):
    """No room for the recording, and none for the report: a sentence, no hang."""
    program = lab.example("textbook")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))
    end = lab.tool("run", "--", program, preexec_fn=limit)
    check(end.returncode in (0, 65, 66, 70, 128 + signal.SIGXFSZ), end)
    check(end.returncode in (0, 66) or re.search(r"^sooth: .+$", end.stderr, re.MULTILINE), end)
    if os.geteuid() == 0:
        on_small_disk(lab, "4k", lambda: check(
            re.search(r"^sooth: small/r.json.*No space left",
                      lab.tool("run", "--format", "json", "-o", "small/r.json", "--", program, expect=70).stderr, re.MULTILINE),
            "a full disk is told"))
        lab.environment["TMPDIR"] = lab.path("small")
        on_small_disk(lab, "1m", lambda: check("the disk was full" in lab.tool("run", "--", lab.write("busy", BUSY), expect=0).stderr,
                                               "the report tells how far the recording goes"))


def closed_output(lab):
    """A report that nobody can read is an error, but it is stored. Where the program's output goes is the program's business."""
    def status(redirection, example, options=""):
        shell = ["sh", "-c", f'"$0" run {options} -- "$1" {redirection}', lab.sooth, lab.example(example)]
        process = subprocess.Popen(shell, cwd=lab.scratch, env=lab.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        return process.communicate(timeout=TIME_LIMIT)[1], process.returncode
    check(status("2>/dev/full", "textbook")[1] == 70, "the report goes to standard error")
    check(lab.load("sooth-textbook.json")["findings"], "the report is stored all the same")
    errors, code = status(">/dev/full", "bank_account_race")
    check(code == 66 and "confirmed data race" in errors, (code, errors))
    errors, code = status(">&-", "bank_account_race")
    check(code == 66 and "confirmed data race" in errors, (code, errors))
    errors, code = status(">/dev/full", "textbook", "--format json")
    check(code == 70 and "cannot write the report to standard output" in errors, (code, errors))


def merge(lab):
    """Idempotent and commutative, and the same formats as elsewhere."""
    for i, name in enumerate(("textbook", "airline", "textbook")):
        options_ = ("--trials", "0") if i == 0 else ()
        lab.tool("run", *options_, "--format", "json", "-o", f"{i}.json", "--", lab.example(name), expect=66)
    merged = lambda *names: lab.tool("merge", *names, expect=0).stdout
    check(merged("0.json") == merged("0.json", "0.json") == open(lab.path("0.json")).read(), "idempotent")
    check(merged("0.json", "1.json", "2.json") == merged("2.json", "0.json", "1.json", "0.json"), "commutative")
    lab.tool("merge", "0.json", "1.json", "2.json", "-o", "all.json", expect=0)
    everything = lab.load("all.json")
    check(merged("all.json") == open(lab.path("all.json")).read(), "a merged report is a report")
    ids = [finding["id"] for finding in everything["findings"]]
    check(sorted(ids) == sorted({f["id"] for i in range(3) for f in lab.load(f"{i}.json")["findings"]}), ids)
    textbook = lab.load("0.json")["findings"][0]
    best = next(finding for finding in everything["findings"] if finding["id"] == textbook["id"])
    check(textbook["rung"] == "predicted" and best["rung"] == "harmful" and best["dynamic_pairs"] == 2, best)
    lab.tool("merge", "all.json", "--format", "text", "--fail-on", "predicted", expect=66)
    lab.tool("merge", "0.json", "missing.json", expect=65)
    lab.tool("merge", expect=64)


TESTS = [replay_line, statuses, options, notes, forks, scripts, excluded, uninstrumented, stateless, only_loaded, interrupts, kills, full_disks, closed_output, merge]


def make_lab(sooth, scratch, folder):
    programs = os.path.join(folder, "bin")
    os.makedirs(programs, exist_ok=True)
    return Lab(sooth, scratch, programs)


def main_with(tests, usage):
    """The exit status. Runs those that the command line names, or all; each has a folder of its own."""
    return test_loop.run_apart(tests, sys.argv[1:], usage, make_lab)


if __name__ == "__main__":
    sys.exit(main_with(TESTS, __doc__))
