#!/usr/bin/env python3
"""Programs as they are, built without -fsanitize=thread.

    tests/cli/plain.py SOOTH [NAME...]      all tests, or those named
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from test_loop import SOURCE, check

# The second thread comes late, so that a run on its own ends; virtual time does not wait.
INVERSION = """
#include <mutex>
#include <thread>
#include <chrono>
std::mutex a, b, gate;
int x;
static void one() { GATE std::lock_guard<std::mutex> p(a); std::lock_guard<std::mutex> q(b); ++x; }
static void two() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  GATE std::lock_guard<std::mutex> p(b); std::lock_guard<std::mutex> q(a); ++x;
}
int main() { std::thread t(one), u(two); t.join(); u.join(); return x == 2 ? 0 : 1; }
"""


# What the flag orders is in order; stores and loads of it are plain machine instructions.
PUBLICATION = """
#include <atomic>
#include <thread>
#include <cstdio>
int payload;
std::atomic<bool> ready;
static void writer() { payload = 42; ready.store(true, std::memory_order_release); }
static void reader() { while (!ready.load(std::memory_order_acquire)) std::this_thread::yield(); std::printf("%d\\n", payload); }
int main() { std::thread t(reader), u(writer); t.join(); u.join(); }
"""


class Bench:
    def __init__(self, sooth, folder):
        self.sooth, self.folder = sooth, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, name, source, *options):
        with open(self.path(name + ".cc"), "w") as file:
            file.write(source)
        subprocess.run(["g++", "-g", "-O1", "-pthread", *options, name + ".cc", "-o", name], cwd=self.folder, check=True)

    def example(self, name, *options):
        source = os.path.join(SOURCE, "examples", name + ".cc")
        subprocess.run(["g++", "-g", "-O2", "-std=c++20", "-pthread", *options, source, "-o", name], cwd=self.folder, check=True)

    def has_engine(self):
        tool = os.path.join(os.path.dirname(self.sooth), "../runtime/valgrind/sooth-amd64-linux")
        return os.path.exists(tool) and shutil.which("valgrind") is not None

    def run(self, *words):
        return subprocess.run([self.sooth, *words], cwd=self.folder, capture_output=True, text=True, timeout=120)

    def report(self, name):
        with open(self.path(name)) as file:
            return json.load(file)


def test_inversion_is_confirmed(bench):
    bench.build("inversion", INVERSION, "-DGATE=")
    done = bench.run("run", "--locks", "--store", "inversion.json", "--recordings", "1", "--", "./inversion")
    check(done.returncode == 66, done.stderr)
    check("not instrumented" not in done.stderr and "--engine locks" in done.stderr, done.stderr)
    report = bench.report("inversion.json")
    check(report["engine"] == "locks", report)
    findings = report["findings"]
    check([f["kind"] for f in findings] == ["deadlock"] and findings[0]["rung"] in ("confirmed", "harmful"), findings)
    check(all(e["op"] not in ("read", "write") for e in report.get("overview", {}).get("kinds", [])
              if isinstance(e, dict)), report.get("overview"))
    again = bench.run("replay", "inversion.json#" + findings[0]["id"], "--", "./inversion")
    check(again.returncode == 66 and "the same run as in the schedule" in again.stderr, again.stderr)


def test_gate_is_silent(bench):
    bench.build("gated", INVERSION, "-DGATE=std::lock_guard<std::mutex> g(gate);")
    done = bench.run("run", "--locks", "--store", "gated.json", "--recordings", "1", "--", "./gated")
    check(done.returncode == 0, done.stderr)
    check(bench.report("gated.json")["findings"] == [], done.stderr)


def test_what_is_not_seen_fails_no_run(bench):
    """The flag orders the two, which nobody sees who sees locks only."""
    source = INVERSION.replace("std::this_thread::sleep_for(std::chrono::milliseconds(100))", "while (!done) std::this_thread::yield()")
    source = source.replace("int x;", "#include <atomic>\nstd::atomic<bool> done;\nint x;")
    source = source.replace("GATE std::lock_guard<std::mutex> p(a); std::lock_guard<std::mutex> q(b); ++x;",
                            "{ std::lock_guard<std::mutex> p(a); std::lock_guard<std::mutex> q(b); ++x; } done = true;")
    bench.build("flag", source, "-DGATE=")
    done = bench.run("run", "--locks", "--store", "flag.json", "--recordings", "1", "--trials", "3", "--budget", "3s", "--", "./flag")
    check(done.returncode == 0, done.stderr)
    for finding in bench.report("flag.json")["findings"]:
        check(finding["rung"] in ("suspected", "predicted") and finding["uninstrumented"] == ["flag"], finding)


def test_other_programs(bench):
    bench.build("static", "int main() { return 0; }\n", "-static")
    done = bench.run("run", "--locks", "--", "./static")
    check(done.returncode == 64 and "linked statically" in done.stderr, done.stderr)
    done = bench.run("run", "--locks", "--", "sh", "-c", "exit 3")
    check(done.returncode == 3, done.stderr)


def engine_race_is_confirmed(bench):
    bench.example("bank_account_race")
    done = bench.run("run", "--store", "race.json", "--recordings", "1", "--trials", "1", "--baseline-runs", "1", "--", "./bank_account_race")
    check(done.returncode == 66 and done.stdout == "balance: 150\n", done.stdout + done.stderr)
    check("--engine valgrind" in done.stderr, done.stderr)
    report = bench.report("race.json")
    check(report["engine"] == "valgrind", report)
    findings = report["findings"]
    check([(f["kind"], f["rung"]) for f in findings] == [("race", "confirmed")], findings)
    check(sorted(a["site"]["line"] for a in findings[0]["accesses"]) == [11, 15], findings)
    check(findings[0]["accesses"][0]["variable"] == "balance", findings)
    again = bench.run("replay", "race.json#" + findings[0]["id"], "--", "./bank_account_race")
    check(again.returncode == 0 and "the same run as in the schedule" in again.stderr, again.stderr)


def engine_norace_is_silent(bench):
    bench.example("bank_account_norace")
    done = bench.run("run", "--store", "norace.json", "--recordings", "1", "--budget", "3s", "--", "./bank_account_norace")
    check(done.returncode == 0 and bench.report("norace.json")["findings"] == [], done.stderr)


def engine_publication_is_only_suspected(bench):
    bench.build("publication", PUBLICATION)
    done = bench.run("run", "--store", "publication.json", "--recordings", "1", "--trials", "2", "--budget", "3s", "--", "./publication")
    check(done.returncode == 0 and done.stdout == "42\n", done.stdout + done.stderr)
    findings = bench.report("publication.json")["findings"]
    check(all(f["rung"] == "suspected" for f in findings), findings)


def engine_without_debug_information(bench):
    bench.example("bank_account_race", "-s")
    done = bench.run("run", "--store", "stripped.json", "--recordings", "1", "--trials", "2", "--budget", "3s", "--", "./bank_account_race")
    check(done.returncode == 0, done.stderr)
    findings = bench.report("stripped.json")["findings"]
    check(len(findings) == 1 and findings[0]["rung"] == "suspected" and findings[0]["may_be_atomic"], findings)


# Blocks that only a pointer tells the type of, and a variable of main() that a library's thread was given.
TYPES = """
#include <stdatomic.h>
#include <pthread.h>
#include <stdlib.h>
int* plain;
_Atomic int* relaxed;
struct Shared { int count; } *given;
struct { unsigned low : 5, high : 7; } bits;
static void* add(void* local) {
  ++*plain;
  atomic_store_explicit(relaxed, atomic_load_explicit(relaxed, memory_order_relaxed) + 1, memory_order_relaxed);
  ++*(int*)local;
  ++bits.high;
  return 0;
}
int main() {
  pthread_t threads[2];
  int local = 0;
  plain = malloc(sizeof *plain);
  relaxed = malloc(sizeof *relaxed);
  *plain = *relaxed = 0;
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, add, &local);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""


def engine_knows_types(bench):
    with open(bench.path("types.c"), "w") as file:
        file.write(TYPES)
    subprocess.run(["gcc", "-g", "-O1", "-pthread", "types.c", "-o", "types"], cwd=bench.folder, check=True)
    done = bench.run("run", "--no-rerun", "--store", "types.json", "--", "./types")
    check(done.returncode == 66, done.stderr)
    rungs = {f["accesses"][0].get("variable"): f["rung"] for f in bench.report("types.json")["findings"]}
    check(rungs.get("*plain") == "predicted" and rungs.get("local") == "predicted", rungs)
    check(rungs.get("*relaxed", "suspected") == "suspected", rungs)
    check(rungs.get("bits.low..high", rungs.get("bits.high")) == "predicted", rungs)


# Only the library starts threads. The flag is atomic, which neither its type nor its line says.
OPENMP = """
#include <stdio.h>
int hits, flag, data, seen;
int main() {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int i = 0; i < 4; ++i) {
    if (i % 2) {
#pragma omp critical(odd)
      ++hits;
    } else {
#pragma omp critical(even)
      ++hits;
    }
  }
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      data = 3;
#pragma omp atomic write release
      flag = 1;
    }
#pragma omp section
    {
      int ready = 0;
      while (!ready) {
#pragma omp atomic read acquire
        ready = flag;
      }
      seen = data;
    }
  }
  printf("%d\\n", seen);
}
"""


def engine_runs_openmp(bench):
    bench.build("openmp", OPENMP, "-fopenmp")
    done = bench.run("run", "--no-rerun", "--store", "openmp.json", "--", "./openmp")
    check(done.returncode == 66 and done.stdout == "3\n" and "--engine valgrind" in done.stderr, done.stdout + done.stderr)
    rungs = {f["accesses"][0].get("variable"): f["rung"] for f in bench.report("openmp.json")["findings"]}
    check(rungs.pop("hits", "") == "predicted" and set(rungs.values()) <= {"suspected"}, rungs)


# One thread only reads: by instructions that clear the register first, and into that of the floating point unit.
FLOATING = """
#include <pthread.h>
#include <stdio.h>
float single; double pair; long double extended;
float a; double b; long double c;
static void* look(void*) {
  a = single;
  b = pair;
  c = extended;
  return nullptr;
}
int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, look, nullptr);
  single = 1;
  pair = 2;
  extended = 3;
  pthread_join(thread, nullptr);
  puts("done");
}
"""


def engine_sees_floating_point(bench):
    for level in ("-O0", "-O2"):
        bench.build("floating", FLOATING, level)
        done = bench.run("run", "--no-rerun", "--store", "floating.json", "--engine", "valgrind", "--", "./floating")
        check(done.returncode == 66 and done.stdout == "done\n", done.stdout + done.stderr)
        found = {f["accesses"][0].get("variable") for f in bench.report("floating.json")["findings"] if f["rung"] != "suspected"}
        check({"single", "pair", "extended"} <= found, (level, found))


def engine_queues_signals(bench):
    """None of a thousand values is lost while the thread that they are sent to waits for its turn."""
    programs = os.path.join(SOURCE, "tests/programs")
    subprocess.run(["g++", "-g", "-std=c++20", "-pthread", "-I", programs, os.path.join(programs, "signal_queue_norace.cc"), "-o", "queue"],
                   cwd=bench.folder, check=True)
    done = bench.run("record", "--engine", "valgrind", "--schedule", "serial", "-o", "queue.trace", "--", "./queue")
    check(done.returncode == 0 and done.stdout == "1000 signals, sum 500500\n", done.stdout + done.stderr)


# Much that each thread has to itself, and a race behind it.
PRIVATE = """
#include <thread>
#include <vector>
int shared;
static void work() {
  std::vector<int> own(512);
  for (int round = 0; round < 400; ++round)
    for (unsigned i = 0; i < own.size(); ++i) own[i] += round;
  shared += own[7];
}
int main() { std::thread t(work), u(work); t.join(); u.join(); return shared == 0; }
"""


def engine_thins_long_recordings(bench):
    bench.build("private", PRIVATE)
    events = {}
    for name, flags in {"all": [], "thin": ["--thin-from", "100k"]}.items():
        done = bench.run("record", "--engine", "valgrind", "--schedule", "serial", *flags, "-o", name + ".trace", "--", "./private")
        check(done.returncode == 0 and "not seen" not in done.stderr, done.stderr)
        done = bench.run("trace", "check", name + ".trace")
        check(done.returncode == 0 and "well-formed" in done.stdout, done.stdout + done.stderr)
        events[name] = int(re.search(r"(\d+) events", done.stdout)[1])
        done = bench.run("analyze", name + ".trace", "--with", "hb", "--format", "json", "--fail-on", "never")
        check({f["accesses"][0]["variable"] for f in json.loads(done.stdout)["findings"]} == {"shared"}, done.stdout)
    check(events["thin"] * 4 < events["all"], events)


def engine_refuses(bench):
    with open(bench.path("plain.cc"), "w") as file:
        file.write("int main() { return 0; }\n")
    subprocess.run(["g++", "-fsanitize=thread", "plain.cc", "-o", "hooked"], cwd=bench.folder, check=True)
    done = bench.run("run", "--engine", "valgrind", "--", "./hooked")
    check(done.returncode == 64 and "has hooks of its own" in done.stderr, done.stderr)
    subprocess.run(["g++", "-static", "plain.cc", "-o", "static"], cwd=bench.folder, check=True)
    done = bench.run("run", "--engine", "valgrind", "--", "./static")
    check(done.returncode == 64 and "linked statically" in done.stderr, done.stderr)
    # What starts others and has no threads itself is left as it is.
    done = bench.run("run", "--", "sh", "-c", "exit 0")
    check("is not instrumented" in done.stderr, done.stderr)


def main():
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder)
        if bench.has_engine():
            tests |= {name: test for name, test in globals().items() if name.startswith("engine_")}
        else:
            print("skipped: there is no valgrind, or sooth was built without it")
        for name in sys.argv[2:] or tests:
            begin = time.monotonic()
            tests[name](bench)
            print(f"ok {name} ({time.monotonic() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
