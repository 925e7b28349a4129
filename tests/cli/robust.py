#!/usr/bin/env python3
"""sooth among others: several at a time in one folder, signals at the wrong moment, little room, and programs that leave others behind.

    tests/cli/robust.py SOOTH [NAME...]      all tests, or those named
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import run as command
from run import check, is_running, lines_of, start_analysis, wait_for

COUNTER = """
#include <thread>
int counter;
int main() {
  std::thread a([] { ++counter; }), b([] { ++counter; });
  a.join();
  b.join();
}
"""


def all_ended(lab, started, what, expect):
    return [lab.end(process, what, expect) for process in started]


def parallel_runs(lab):
    """Eight in one folder leave eight reports, each where its run says."""
    program = lab.write("counter", COUNTER)
    started = [lab.start("run", "--trials", "2", "--baseline-runs", "1", "--jobs", "1", "--", program) for _ in range(8)]
    named = [re.search(r"the report is in (\S+);", end.stderr)[1] for end in all_ended(lab, started, ["run"], 66)]
    check(len(set(named)) == 8, named)
    for name in named:
        report = lab.load(name)
        check(report["findings"], name)
        check(f"sooth replay {name}#" in report["findings"][0]["replay"]["command"], report["findings"][0]["replay"]["command"])
    check(sorted(named) == sorted(n for n in os.listdir(lab.scratch) if n.startswith("sooth-")), os.listdir(lab.scratch))


def parallel_records(lab):
    """Eight in one folder leave eight directories, each the whole recording of one run."""
    program = lab.write("counter", COUNTER)
    started = [lab.start("record", "--", program) for _ in range(8)]
    named = [re.search(r"recorded 3 threads in (\S+) ", end.stderr)[1] for end in all_ended(lab, started, ["record"], 0)]
    check(len(set(named)) == 8, named)
    check(sorted(named) == sorted(n for n in os.listdir(lab.scratch) if n.startswith("sooth-")), os.listdir(lab.scratch))
    for name in named:
        lab.tool("trace", "check", name, expect=0)
    # One name for all: one gets it, and the others say so.
    started = [lab.start("record", "-o", "mine", "--", program) for _ in range(4)]
    ends = all_ended(lab, started, ["record", "-o"], (0, 64))
    check(sorted(end.returncode for end in ends) == [0, 64, 64, 64], [end.stderr for end in ends])
    check(all("exists already" in end.stderr for end in ends if end.returncode == 64), [end.stderr for end in ends])
    lab.tool("trace", "check", "mine", expect=0)


def claims_go_away(lab):
    """A name that was taken for nothing is free again."""
    lab.tool("run", "--", "/bin/true", expect=(64, 65))
    lab.tool("record", "--", "/bin/true")
    lab.tool("run", "--", "./missing", expect=(64, 65))
    lab.tool("record", "-o", "mine", "--", "./missing", expect=(64, 65))
    check(os.listdir(lab.scratch) == ["tmp"], os.listdir(lab.scratch))


def ended_recordings(lab):
    """A recording that ended before the program did is not complete, and the reason is the right one."""
    program = lab.write("busy", command.BUSY)
    lab.tool("run", "--max-trace", "300k", "--trials", "0", "--format", "json", "-o", "short.json", "--", program)
    check(lab.load("short.json")["incomplete"] is True, "--max-trace ended the recording")
    lab.tool("run", "--trials", "0", "--format", "json", "-o", "whole.json", "--", lab.write("counter", COUNTER))
    check(lab.load("whole.json")["incomplete"] is False, "nothing ended the recording")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    end = lab.tool("record", "-o", "limited", "--", program, preexec_fn=limit)
    check("(ulimit -f)" in end.stderr and "disk was full" not in end.stderr, end.stderr)
    end = lab.tool("analyze", "limited", "--with", "hb", "--format", "json")
    check(json.loads(end.stdout)["incomplete"] is True, "a limit on files ended the recording")
    # The limit is ours, too: a sentence, and nothing half written.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, 1 << 10))
    end = lab.tool("analyze", "limited", "--with", "hb", "--format", "html", "-o", "page.html", expect=70, preexec_fn=limit)
    check("File too large" in end.stderr and not [name for name in os.listdir(lab.scratch) if name.startswith("page")], end.stderr)


DAEMON = """
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
int main(int argc, char** argv) {
  int told[2];
  char byte = 0;
  if (pipe(told) != 0) return 1;
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    FILE* file = std::fopen(argv[1], "a");
    std::fprintf(file, "%d\\n", static_cast<int>(getpid()));
    std::fclose(file);
    if (write(told[1], &byte, 1) != 1) _exit(1);
    for (;;) sleep(1000);
  }
  // A run that ends by itself ends its daemon, which has told its number by then.
  if (read(told[0], &byte, 1) != 1) return 1;
  std::thread([] {}).join();
  while (argc > 2) sleep(1000);
}
"""


def daemons(lab):
    """What a controlled run starts ends with it, also in a session of its own, whether the run is killed or ends by itself."""
    program = lab.write("daemon", DAEMON)
    for words in (["pids"], ["pids", "hang"]):
        lab.tool("test", "--runs", "3", "--timeout", "2s", "--jobs", "2", "--", program, *words)
    with open(lab.path("pids")) as file:
        started = [int(word) for word in file.read().split()]
    check(len(started) == 6, started)
    check(not any(is_running(pid) for pid in started), f"some of {started} still run")


def signals(lab):
    """Whatever ends the analysis early: temporary folders go, and the status tells."""
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGUSR1, signal.SIGALRM):
        run = start_analysis(lab)
        os.kill(run.pid, number)
        end = lab.end(run, ["run", f"ended by signal {number:d}"], 128 + number)
        check("Interrupted" in end.stderr and lab.left() == [], (number, end.stderr, lab.left()))
    # Findings are more important than how it ended.
    run = lab.start("run", "--trials", "1000000", "--baseline-runs", "1000000", "--budget", "0", "--jobs", "1", "--", lab.write("counter", COUNTER))
    wait_for(lambda: lab.left() and command.children_of(run.pid), "a controlled run")
    time.sleep(0.5)
    os.kill(run.pid, signal.SIGUSR1)
    end = lab.end(run, ["run", "with findings, ended by SIGUSR1"], 66)
    check("Interrupted" in end.stderr and lab.left() == [], (end.stderr, lab.left()))


MANY = """
#include <cstdio>
#include <pthread.h>
#include <unistd.h>
static void* work(void*) { usleep(1000); return nullptr; }
int main() {
  pthread_t threads[200];
  int made = 0;
  bool failed = false;
  while (made < 200 && pthread_create(&threads[made], nullptr, work, nullptr) == 0) ++made;
  for (int i = 0; i < made; ++i) pthread_join(threads[i], nullptr);
  failed = made < 200;
  // Until it works.
  for (made = 0; made < 20; ++made) {
    while (pthread_create(&threads[0], nullptr, work, nullptr) != 0) {
    }
    pthread_detach(threads[0]);
  }
  std::printf("%s\\n", failed ? "failed" : "all");
}
"""


def little_memory(lab):
    """pthread_create fails for lack of address space: the recording goes on or ends, and so does the program."""
    program = lab.write("many", MANY)
    for schedule in ("os", "serial"):
        failed = False
        for megabytes in (120, 200, 300, 500, 800):
            # For the program alone: `sooth record` itself may need more.
            end = lab.tool("record", "--schedule", schedule, "-o", f"{schedule}-{megabytes}", "--", "sh", "-c",
                           f'ulimit -v {megabytes << 10}; exec "$0"', program)
            failed = failed or end.stdout == "failed\n"
        check(failed, f"no limit let pthread_create fail under {schedule}")


# Sets its own limit, so that it is met at every place: in libc, in the recorder, by the thread that watches.
SHORT_OF_MEMORY = """
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
static unsigned long used() {
  unsigned long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * 4096;
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting;
static bool go;
static void* work(void*) {
  pthread_mutex_lock(&mutex);
  ++waiting;
  pthread_cond_broadcast(&condition);
  while (!go) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}
int main(int count, char** words) {
  pthread_t threads[65];
  int made = 0, failed = 0;
  if (count > 2 && pthread_create(&threads[made], nullptr, work, nullptr) == 0) ++made;
  const unsigned long size = used() + 1024 * std::strtoul(words[1], nullptr, 10);
  const rlimit limit = {size, size};
  setrlimit(RLIMIT_AS, &limit);
  for (int i = 0; i < 64; ++i) {
    if (pthread_create(&threads[made], nullptr, work, nullptr) == 0)
      ++made;
    else
      ++failed;
  }
  pthread_mutex_lock(&mutex);
  while (waiting < made) pthread_cond_wait(&condition, &mutex);
  go = true;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < made; ++i) pthread_join(threads[i], nullptr);
  std::printf("%d\\n", failed);
}
"""


def short_of_memory(lab):
    """The same with limits from nothing to plenty, in recordings and controlled runs: no program hangs, and what was recorded can be analysed."""
    program = lab.write("short", SHORT_OF_MEMORY)
    failed = 0
    for more in ((), ("early",)):
        for kilobytes in (0, 4, 64, 200, 800, 3000, 8300, 12000, 25000, 80000, 900000):
            for schedule in ("os", "serial", "random"):
                trace = f"short-{schedule}-{kilobytes}-{len(more)}"
                end = lab.tool("record", "--schedule", schedule, "-o", trace, "--", program, kilobytes, *more, expect=0)
                failed += int(end.stdout) > 0
                lab.tool("analyze", trace, "--with", "hb", expect=0)
            lab.tool("test", "--runs", "2", "--timeout", "20s", "--", program, kilobytes, *more, expect=0)
    check(failed >= 30, f"pthread_create failed in {failed} recordings only")


SANITIZED = "#include <cstdio>\nint main() { std::puts(\"fine\"); return 3; }\n"


def other_sanitizers(lab):
    """What a script starts runs as it does without us, also with another sanitizer in it, which our library would keep from starting."""
    with open(lab.path("sanitized.cc"), "w") as file:
        file.write(SANITIZED)
    for name, flags in (("thread", ["-fsanitize=thread", "-static-libtsan"]), ("address", ["-fsanitize=address"]),
                        ("address_static", ["-fsanitize=address", "-static-libasan"]), ("undefined", ["-fsanitize=undefined"]), ("static", ["-static"])):
        program = lab.path(name)
        made = subprocess.run(["g++", *flags, "-o", program, lab.path("sanitized.cc")], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            continue  # the compiler comes without that library
        # ThreadSanitizer of old does not like how new kernels lay memory out.
        for words in (["sh", "-c", f"setarch -R {program}; exit $?"], ["env", "A=1", "setarch", "-R", program]):
            end = lab.tool("record", "-o", f"{name}-{words[0]}", "--", *words, expect=3)
            check(end.stdout == "fine\n", (name, words, end.stdout, end.stderr))
            told = "is not recorded: it has" in end.stderr
            check(told == (name in ("thread", "address", "address_static")), (name, words, end.stderr))


TESTS = [other_sanitizers, parallel_runs, parallel_records, claims_go_away, ended_recordings, daemons, signals, little_memory, short_of_memory]

if __name__ == "__main__":
    sys.exit(command.main_with(TESTS, __doc__))
