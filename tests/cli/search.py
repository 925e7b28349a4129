#!/usr/bin/env python3
"""How `sooth run` spends its budget: pairs that one run refutes, other schedules, standard input, runs that would disturb each other, harm.

    tests/cli/search.py SOOTH [NAME...]      all tests, or those named

Each race has its norace half.
"""
import os
import subprocess
import sys

import run as runs
from test_loop import check


def proven(report):
    """Lines -> rung, without suspicions."""
    return {lines: rung for lines, rung in runs.races(report).items() if rung != "suspected"}


REFUTED = """
#include <mutex>
#include <thread>
std::mutex mutex;
int calls, g;
int main() {
  std::thread a([] {
    FIRST
    { std::lock_guard<std::mutex> guard(mutex); calls++; LOCKED_1 }
  });
  std::thread b([] {
    { std::lock_guard<std::mutex> guard(mutex); calls++; LOCKED_2 }
    LAST
  });
  a.join();
  b.join();
}
"""


def counter(racy):
    """The race, or the same with both writes under the lock."""
    text = REFUTED
    for word, statement, is_racy in (("FIRST", "g = 1;", True), ("LAST", "g = 2;", True), ("LOCKED_1", "g = 1;", False), ("LOCKED_2", "g = 2;", False)):
        text = text.replace(word, statement if is_racy == racy else "")
    return text


def refuted(lab):
    """The values of a counter under a lock refute every reordering of the recorded run. The program races all the same."""
    racy = lab.write("refuted_race", counter(True))
    run = lab.tool("run", "--verbose", "--recordings", "1", "--", racy, expect=66)
    report = lab.load("sooth-refuted_race.json")
    check(proven(report) == {(8, 13): "confirmed"}, report["findings"])
    check(report["findings"][0]["witness"].get("refuted") is True, report["findings"][0]["witness"])
    check("no reordering of the recorded run in which every read keeps its value reaches it" in run.stderr, run.stderr)
    # An analysis of the one recording does not know better, and does not fail.
    lab.tool("record", "--schedule", "serial", "-o", "t.trace", "--", racy, expect=0)
    hidden = lab.tool("analyze", "t.trace", "--with", "hybrid,mcm", expect=0).stdout
    check("1 suspicion is not shown" in hidden and "--fail-on suspected" in hidden, hidden)
    shown = lab.tool("analyze", "t.trace", "--with", "hybrid,mcm", "--fail-on", "suspected", expect=66).stdout
    check("every read keeps its value" in shown and shown.count("\n  ") < 5, shown)
    calm = lab.write("refuted_norace", counter(False))
    lab.tool("run", "--", calm, expect=0)
    check(proven(lab.load("sooth-refuted_norace.json")) == {}, "both under the lock")


SCHEDULE = """
#include <atomic>
#include <thread>
std::atomic<bool> ready{false};
int data;
int main() {
  std::thread a([] { if (ready.load(std::memory_order_ACQUIRE)) data = 1; });
  std::thread b([] { data = 2; ready.store(true, std::memory_order_RELEASE); });
  a.join();
  b.join();
}
"""


def other_schedules(lab):
    """A race that the serial run does not come to."""
    racy = lab.write("schedule_race", SCHEDULE.replace("ACQUIRE", "relaxed").replace("RELEASE", "relaxed"))
    lab.tool("run", "--recordings", "1", "--", racy, expect=0)
    lab.tool("run", "--", racy, expect=66)
    report = lab.load("sooth-schedule_race-2.json")
    check(set(proven(report)) == {(7, 8)}, report["findings"])
    check("recording" in report["findings"][0], report["findings"][0])
    search = report["search"]
    check(len(search["recordings"]) > 8 and search["recordings"][0]["schedule"] == "serial", search)
    check({"random", "pct:3"} <= {row["schedule"] for row in search["recordings"][1:]}, search)
    check(search["seen_once"] <= search["sightings"] and search["ended"], search)
    calm = lab.write("schedule_norace", SCHEDULE.replace("ACQUIRE", "acquire").replace("RELEASE", "release"))
    run = lab.tool("run", "--stats", "--", calm, expect=0)
    check(proven(lab.load("sooth-schedule_norace.json")) == {}, "ordered")
    check("recordings in a row showed no new pair" in run.stderr and "recording 2: random" in run.stderr, run.stderr)


INPUT = """
#include <cstdio>
#include <mutex>
#include <thread>
std::mutex mutex;
int g;
void work(bool locked) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (locked) guard.lock();
  g = 1;
}
int main() {
  int value = 0;
  if (std::scanf("%d", &value) != 1) return 3;
  std::thread a(work, value == 1), b(work, value == 1);
  a.join();
  b.join();
}
"""


def standard_input(lab):
    """Every run reads what the recorded one read, from a file or through a pipe; without it the program ends at once."""
    program = lab.write("input", INPUT)
    for number, (text, status, races) in enumerate((("2\n", 66, {(10, 10): "confirmed"}), ("1\n", 0, {}))):
        for kind in ("file", "pipe"):
            name = f"{kind}{number}.json"
            words = [lab.sooth, "run", "--store", name, "--", program]
            if kind == "file":
                with open(lab.path("input.txt"), "w") as file:
                    file.write("skipped\n" + text)
                command = ["sh", "-c", '{ read line; exec "$@"; } < input.txt', "sh", *words]
            else:
                command = words
            run = subprocess.run(command, cwd=lab.scratch, env=lab.environment, capture_output=True, text=True, timeout=runs.TIME_LIMIT,
                                 input=text if kind == "pipe" else None, check=False)
            check(run.returncode == status, (kind, run))
            report = lab.load(name)
            check(proven(report) == races, (kind, report["findings"]))
            check([row["end"] for row in report["search"]["ends"]] == ["exit status 0"], report["search"])
    # A program that reads nothing does not wait for the end of a pipe that nobody closes.
    reader, writer = os.pipe()
    run = subprocess.run([lab.sooth, "run", "--recordings", "1", "--", lab.example("textbook")], cwd=lab.scratch, env=lab.environment,
                         stdin=reader, capture_output=True, text=True, timeout=runs.TIME_LIMIT, check=False)
    os.close(reader), os.close(writer)
    check(run.returncode == 66, run)
    check(lab.left() == [], lab.left())


FIXED = """
#include <fcntl.h>
#include <unistd.h>
#include <cstdlib>
#include <thread>
int g;
int main() {
  const int fd = open("fixed.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (fd < 0) abort();
  std::thread a([] { g = 1; }), b([] { g = 2; });
  a.join();
  b.join();
  usleep(20000);
  unlink("fixed.lock");
}
"""


def one_after_the_other(lab):
    """A file with a fixed name: runs that overlap would abort. A program that looks where it is has no name spaces of its own."""
    source = FIXED.replace("const int fd", """std::ifstream map("/proc/self/uid_map"); unsigned from = 0, to = 0, count = 0;
  map >> from >> to >> count; std::cout << count << std::endl; const int fd""").replace("#include <thread>", """#include <thread>
#include <fstream>
#include <iostream>""")
    lab.tool("run", "--recordings", "2", "--", lab.write("fixed", source), expect=66)
    report = lab.load("sooth-fixed.json")
    check(report["search"]["jobs"] == 1 and "one after the other, because" in report["search"]["jobs_why"], report["search"])
    check("open" in report["search"]["jobs_why"], report["search"])
    check([row["end"] for row in report["search"]["ends"]] == ["exit status 0"], report["search"])
    check(set(proven(report).values()) == {"confirmed"}, report["findings"])


BOUND = """
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <thread>
int g;
int main() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(PORT);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) abort();
  const int file = open("bound.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file < 0) abort();
  std::thread a([] { g = 1; }), b([] { g = 2; });
  a.join();
  b.join();
  usleep(20000);
  unlink("bound.lock");
}
"""


# Whether the kernel lets folders be covered here: below none of them may a file system be mounted.
COVERS = """
mkdir -p covers
mount -t tmpfs none covers
cd covers
for folder in /dev/shm /var/tmp /tmp; do
  mkdir -p upper$folder work$folder
  mount -t overlay overlay -o lowerdir=$folder,upperdir=upper$folder,workdir=work$folder,userxattr $folder
done
"""


def apart(lab):
    """A fixed port and a fixed file, and runs at the same time: each has its own, or they come one after the other."""
    lab.tool("run", "--recordings", "2", "--", lab.write("bound", BOUND.replace("PORT", str(20000 + os.getpid() % 20000))), expect=66)
    report = lab.load("sooth-bound.json")
    search = report["search"]
    check([row["end"] for row in search["ends"]] == ["exit status 0"], search)
    check(proven(report) == {(18, 18): "confirmed"}, report["findings"])
    lets_us = subprocess.run(["unshare", "-Urnm", "sh", "-ec", COVERS], cwd=lab.path("."), capture_output=True, check=False).returncode == 0
    cores = len(os.sched_getaffinity(0))
    if lets_us and cores > 1:
        check(search["jobs"] == cores and search["jobs_why"].startswith("each in network and file name spaces of its own"), search)
    elif cores > 1:
        check(search["jobs"] == 1 and "one after the other" in search["jobs_why"], search)
    check(not os.path.exists(lab.path("bound.lock")), "nothing is left")


STEERED = """
#include <atomic>
#include <mutex>
#include <thread>
std::mutex mutex;
int turn, data;
void work(int number, int* value) {
  std::lock_guard<std::mutex> guard(mutex);
  if (turn == 0 && number == 5) *value = 1;
  turn = number;
}
int main() {
  std::thread threads[5];
  for (int i = 0; i < 5; ++i) threads[i] = std::thread([i] { if (RACY) data = 2; work(i + 1, &data); });
  for (std::thread& each : threads) each.join();
}
"""


def steered(lab):
    """What runs only if the last of five threads comes first: a schedule that is steered there shows it."""
    lab.tool("run", "--trials", "0", "--", lab.write("steered_race", STEERED.replace("RACY", "i == 0")), expect=66)
    report = lab.load("sooth-steered_race.json")
    check((9, 14) in proven(report), report["findings"])
    how = [row["schedule"] for row in report["search"]["recordings"]]
    check(any(each.startswith(("first:", "last:")) for each in how), how)
    lab.tool("run", "--", lab.write("steered_norace", STEERED.replace("RACY", "false")), expect=0)


def explored(lab):
    """Of a tiny program all schedules are made, and the report says so; of a larger one not, and it does not."""
    run = lab.tool("run", "--", lab.write("tiny", SCHEDULE.replace("ACQUIRE", "acquire").replace("RELEASE", "release")), expect=0)
    check("Every schedule was explored, but for the order of independent steps" in run.stderr, run.stderr)
    check("explored" in lab.load("sooth-tiny.json")["search"], "told")
    large = SCHEDULE.replace("data = 1;", "for (int i = 0; i < 20; ++i) n++;").replace("data = 2;", "for (int i = 0; i < 20; ++i) n++;")
    large = large.replace("if (ready.load(std::memory_order_ACQUIRE))", "").replace("RELEASE", "release").replace("int data;", "std::atomic<int> n;")
    run = lab.tool("run", "--", lab.write("large", large), expect=0)
    check("Every schedule was explored" not in run.stderr and "explored" not in lab.load("sooth-large.json")["search"], run.stderr)


COUNTED = """
#include <cstdio>
#include <thread>
int g;
int main() {
  if (std::FILE* file = std::fopen("runs", "a")) {
    std::fputs("run\\n", file);
    std::fclose(file);
  }
  std::thread a([] { g = 1; }), b([] { g = 2; });
  a.join();
  b.join();
}
"""


def no_rerun(lab):
    """Runs that send mail are made once, and the report tells what that costs."""
    run = lab.tool("run", "--no-rerun", "--", lab.write("counted", COUNTED), expect=66)
    with open(lab.path("runs")) as file:
        check(file.read() == "run\n", "one run")
    check("--no-rerun" in run.stderr and "nothing is confirmed" in run.stderr, run.stderr)
    check(set(proven(lab.load("sooth-counted.json")).values()) == {"predicted"}, "observed")


HARM = """
#include <atomic>
#include <cstdlib>
#include <thread>
int racy;
std::atomic<int> first{0};
int main() {
  std::thread a([] { racy = 1; int none = 0; first.compare_exchange_strong(none, 1); });
  std::thread b([] { racy = 2; int none = 0; first.compare_exchange_strong(none, 2); });
  std::thread c([] { int none = 0; first.compare_exchange_strong(none, 3); });
  std::thread d([] { int none = 0; first.compare_exchange_strong(none, 4); });
  a.join();
  b.join();
  c.join();
  d.join();
  if (first == FAILS) abort();
}
"""


def race_of(report):
    """Its first race; a crash stands in front of it."""
    return next(finding for finding in report["findings"] if finding["kind"] == "race")


def harm(lab):
    """A failure that has nothing to do with the race is counted, and is no harm; one that comes from it is."""
    lab.tool("run", "--fail-on", "never", "--recordings", "1", "--", lab.write("by_chance", HARM.replace("FAILS", "3 || first == 4")))
    finding = race_of(lab.load("sooth-by_chance.json"))
    replay = finding["replay"]
    check(finding["rung"] == "confirmed", finding)
    check(replay["failures"] > 0 and replay["baseline_failures"] > 0 and replay["chance"] >= 0.05, replay)
    source = HARM.replace("FAILS", "9").replace("  d.join();\n", "  d.join();\n  if (racy == 1) abort();\n")
    lab.tool("run", "--recordings", "1", "--", lab.write("by_race", source), expect=66)
    finding = race_of(lab.load("sooth-by_race.json"))
    check(finding["rung"] == "harmful" and finding["replay"]["order_matters"], finding)


def test_command(lab):
    """`sooth test --strategy directed` has found something when it created a race."""
    racy = lab.write("refuted_race", counter(True))
    calm = lab.write("refuted_norace", counter(False))
    lab.tool("test", "--strategy", "directed", "--runs", "20", "--", racy, expect=66)
    lab.tool("test", "--strategy", "directed", "--runs", "20", "--", calm, expect=0)


ATOMICITY = r'''
#include <cstdlib>
#include <mutex>
#include <thread>
std::mutex mutex;
int stock = 1;
bool has() { std::lock_guard<std::mutex> guard(mutex); return stock > 0; }
void take() { std::lock_guard<std::mutex> guard(mutex); if (--stock < 0) abort(); }
void buy() { CHECK if (has()) take(); }
int main() {
  std::thread one(buy), two(buy);
  one.join();
  two.join();
}
'''


def failures_without_a_race(lab):
    """A check and an act in two critical sections: no race, but some schedules fail, and one of them can be replayed."""
    bug = lab.write("shop_bug", ATOMICITY.replace("CHECK", ""))
    fixed = lab.write("shop_fixed", ATOMICITY.replace("CHECK", "static std::mutex all; std::lock_guard<std::mutex> whole(all);"))
    lab.tool("run", "--", bug, expect=66)
    findings = {finding["kind"]: finding for finding in lab.load("sooth-shop_bug.json")["findings"]}
    check(sorted(findings) == ["atomicity", "crash"] and all(each["rung"] == "harmful" for each in findings.values()), findings)
    check(findings["crash"]["failure"]["signal"] == 6, findings["crash"])
    for finding in findings.values():
        lab.tool("replay", "sooth-shop_bug.json#" + finding["id"], "--", bug, expect=134)
    lab.tool("run", "--", fixed, expect=0)


TESTS = [failures_without_a_race, refuted, other_schedules, standard_input, one_after_the_other, apart, steered, explored, no_rerun, harm, test_command]

if __name__ == "__main__":
    sys.exit(runs.main_with(TESTS, __doc__))
