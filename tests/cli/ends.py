#!/usr/bin/env python3
"""How runs end: the end of the process as a scheduling point, failures as findings, and time as a choice.

    tests/cli/ends.py SOOTH [NAME...]      all tests, or those named
"""
import json
import re
import shlex
import signal
import subprocess
import sys
import time

import controlled
from test_loop import check

SOURCES = {
    # `main` returns; the thread may never have run, and fails if it does. -DDETACHED: and it races with the end of main.
    "leaves": r"""
    #include <pthread.h>
    #include <cstdio>
    #include <cstdlib>
    int shared;
    static void* fail(void*) {
    #ifdef DETACHED
      shared = 1;
    #else
      std::abort();
    #endif
      return nullptr;
    }
    struct Last { ~Last() { shared = 2; } } last;
    int main() {
      pthread_t t;
      pthread_create(&t, nullptr, fail, nullptr);
      pthread_detach(t);
    }
    """,
    # A thread waits in a loop for what nobody does; "patient": for what somebody does at last; "gives_up": for so long.
    "waits_in_loop": r"""
    #include <atomic>
    #include <string>
    #include <thread>
    #include <unistd.h>
    static std::atomic<bool> done;
    static void wait_for_it(bool sleeps, int rounds) {
      for (int i = 0; i != rounds && !done.load(); ++i) {
        if (sleeps) usleep(1000);
        else std::this_thread::yield();
      }
    }
    int main(int, char** arguments) {
      const std::string how = arguments[1];
      std::thread waits(wait_for_it, how != "yield", how == "gives_up" ? 4000 : -1);
      if (how == "patient") {
        usleep(3000000);
        done = true;
      }
      waits.join();
    }
    """,
    # A process forks while a thread of it may have the lock, which nobody gives back in the child; -DSAFE: the fork waits for
    # the lock. -DALONE: no process but a thread that ends with the lock.
    "left_behind": r"""
    #include <pthread.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static pthread_mutex_t lines = PTHREAD_MUTEX_INITIALIZER;
    static int written;
    static void write_line() {
      pthread_mutex_lock(&lines);
      ++written;
      pthread_mutex_unlock(&lines);
    }
    static void* work(void*) {
    #ifdef ALONE
      pthread_mutex_lock(&lines);
      return nullptr;
    #endif
      write_line();
      write_line();
      return nullptr;
    }
    int main() {
    #ifdef SAFE
      pthread_atfork([] { pthread_mutex_lock(&lines); }, [] { pthread_mutex_unlock(&lines); }, [] { pthread_mutex_unlock(&lines); });
    #endif
      pthread_t t;
      pthread_create(&t, nullptr, work, nullptr);
    #ifndef ALONE
      const pid_t child = fork();
      if (child == 0) {
        write_line();
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    #endif
      pthread_join(t, nullptr);
      write_line();
    }
    """,
    # A sequence lock whose reader lacks a fence (-DFENCE: has it), so that torn data are seen, on weak memory only. The status
    # alone tells of it.
    "torn": r"""
    #include <atomic>
    #include <thread>
    static std::atomic<unsigned> sequence{0};
    static std::atomic<int> left{0}, right{0};
    int main() {
      int status = 0;
      std::thread writer([] {
        for (int i = 1; i <= 5; ++i) {
          sequence.store(2 * i - 1, std::memory_order_relaxed);
          std::atomic_thread_fence(std::memory_order_release);
          left.store(i, std::memory_order_relaxed);
          right.store(i, std::memory_order_relaxed);
          sequence.store(2 * i, std::memory_order_release);
        }
      });
      std::thread reader([&status] {
        for (int i = 0; i < 5; ++i) {
          const unsigned before = sequence.load(std::memory_order_acquire);
          const int l = left.load(std::memory_order_relaxed), r = right.load(std::memory_order_relaxed);
    #ifdef FENCE
          std::atomic_thread_fence(std::memory_order_acquire);
    #endif
          if (before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before && l != r) status = 3;
        }
      });
      writer.join();
      reader.join();
      return status;
    }
    """,
    # A wait that takes it for granted that somebody notified; -DLOOP: that looks again.
    "hasty": r"""
    #include <cassert>
    #include <condition_variable>
    #include <mutex>
    #include <thread>
    static std::mutex mutex;
    static std::condition_variable condition;
    static bool ready;
    int main() {
      std::thread waits([] {
        std::unique_lock<std::mutex> lock(mutex);
    #ifdef LOOP
        while (!ready) condition.wait(lock);
    #else
        if (!ready) condition.wait(lock);
    #endif
        assert(ready);
      });
      {
        std::lock_guard<std::mutex> guard(mutex);
        ready = true;
        condition.notify_one();
      }
      waits.join();
    }
    """,
    # Two locks in two orders, which serial schedules bring to a deadlock: each thread yields between them.
    "inverted": r"""
    #include <pthread.h>
    #include <sched.h>
    static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
    static void both(pthread_mutex_t* first, pthread_mutex_t* second) {
      pthread_mutex_lock(first);
      sched_yield();
      pthread_mutex_lock(second);
      pthread_mutex_unlock(second);
      pthread_mutex_unlock(first);
    }
    static void* one(void*) { both(&left, &right); return nullptr; }
    static void* two(void*) { both(&right, &left); return nullptr; }
    int main() {
      pthread_t a, b;
      pthread_create(&a, nullptr, one, nullptr);
      pthread_create(&b, nullptr, two, nullptr);
      pthread_join(a, nullptr);
      pthread_join(b, nullptr);
    }
    """,
    # The same with locks of streams.
    "inverted_streams": r"""
    #include <pthread.h>
    #include <sched.h>
    #include <stdio.h>
    static void both(FILE* first, FILE* second) {
      flockfile(first);
      sched_yield();
      flockfile(second);
      funlockfile(second);
      funlockfile(first);
    }
    static void* one(void*) { both(stdout, stderr); return nullptr; }
    static void* two(void*) { both(stderr, stdout); return nullptr; }
    int main() {
      pthread_t a, b;
      pthread_create(&a, nullptr, one, nullptr);
      pthread_create(&b, nullptr, two, nullptr);
      pthread_join(a, nullptr);
      pthread_join(b, nullptr);
    }
    """,
    # Two deadlocks by the same functions, whichever comes first, and a wait in libstdc++ that nobody ends.
    "twice": r"""
    #include <condition_variable>
    #include <mutex>
    #include <thread>
    std::mutex a, b, c, d, m;
    std::condition_variable ready;
    bool is_ready;
    using Guard = std::lock_guard<std::mutex>;
    static void one() { Guard outer(a); Guard inner(b); }
    static void other() { Guard outer(b); Guard inner(a); }
    static void third() { Guard outer(c); Guard inner(d); }
    static void fourth() { Guard outer(d); Guard inner(c); }
    static void await_it() {
      std::unique_lock<std::mutex> lock(m);
      if (!is_ready) ready.wait(lock);
    }
    int main(int argc, char**) {
      if (argc > 1) {
        std::thread t(await_it);
        ready.notify_all();
        { std::lock_guard<std::mutex> lock(m); is_ready = true; }
        t.join();
        return 0;
      }
      { std::thread s(one), t(other); s.join(); t.join(); }
      { std::thread s(third), t(fourth); s.join(); t.join(); }
    }
    """,
    # Fails in the way of its argument, in a thread.
    "fails": r"""
    #include <cassert>
    #include <cstdlib>
    #include <cstring>
    #include <stdexcept>
    #include <string>
    #include <thread>
    #include <unistd.h>
    static std::string how;
    static int* nothing;
    static void fail(int depth) {
      if (depth > 0) { fail(depth - 1); return; }
      if (how == "fault") *nothing = 1;
      if (how == "assert") assert(how == "other");
      if (how == "throw") throw std::runtime_error("thrown");
      if (how == "abort") std::abort();
      if (how == "hang") for (;;) usleep(1000);
    }
    int main(int argc, char** argv) {
      how = argc > 1 ? argv[1] : "";
      std::thread t([] { fail(2); });
      t.join();
      return 3;
    }
    """,
    # Each waits until the other does not want to enter. -DASKS: and takes its wish back meanwhile, so that one gets in.
    "livelock": r"""
    #include <sched.h>
    #include <atomic>
    #include <thread>
    static std::atomic<bool> wants[2];
    static int entered;
    static void enter(int me) {
      wants[me] = true;
      while (wants[1 - me]) {
    #ifdef ASKS
        wants[me] = false;
        sched_yield();
        wants[me] = true;
    #endif
      }
      ++entered;
      wants[me] = false;
    }
    int main() {
      std::thread a(enter, 0), b(enter, 1);
      a.join();
      b.join();
    }
    """,
    # Two spin locks that are taken in both orders. -DGIVES_UP: in vain for long, and then not at all.
    "spin_locks": r"""
    #include <atomic>
    #include <thread>
    static std::atomic<bool> left, right;
    static int moved;
    static bool take(std::atomic<bool>& lock) {
    #ifdef GIVES_UP
      for (int i = 0; i < 100000; ++i)
        if (!lock.exchange(true)) return true;
      return false;
    #else
      while (lock.exchange(true)) {}
      return true;
    #endif
    }
    static void move(std::atomic<bool>& from, std::atomic<bool>& to) {
      while (!take(from)) {}
      if (take(to)) {
        ++moved;
        to = false;
      }
      from = false;
    }
    int main() {
      std::thread a([] { move(left, right); });
      std::thread b([] { move(right, left); });
      a.join();
      b.join();
    }
    """,
    # Whoever waits says so too late: then nobody wakes it. -DRIGHT: in time.
    "forgets_to_wake": r"""
    #include <linux/futex.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    #include <atomic>
    #include <thread>
    static std::atomic<int> word, waiters;
    static void sleep() { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0); }
    int main() {
      std::thread waits([] {
        while (word == 0) {
    #ifdef RIGHT
          ++waiters;
          sleep();
    #else
          sleep();
          ++waiters;
    #endif
        }
      });
      word = 1;
      if (waiters != 0) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
      waits.join();
    }
    """,
    # Prints as it dies.
    "reporter": r"""
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    static void handle(int) {
      puts("crashed");
      fflush(stdout);
      _exit(3);
    }
    int main(int argc, char**) {
      signal(SIGSEGV, handle);
      signal(SIGABRT, handle);
      signal(SIGALRM, handle);
      if (argc == 1) abort();
      if (argc == 2) *reinterpret_cast<volatile int*>(argc) = 1;
      alarm(1);
      for (;;) pause();
    }
    """,
    # The sleep keeps the two apart in real life. -DLONG: for so long that only a very busy machine would not; else it is a
    # lost update that asserts.
    "sleeps": r"""
    #include <pthread.h>
    #include <unistd.h>
    #include <cstdlib>
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static int ready, used;
    static void* maker(void*) {
      pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);
      return nullptr;
    }
    static void* user(void*) {
    #ifdef LONG
      sleep(1);
    #else
      usleep(1000);
    #endif
      pthread_mutex_lock(&m);
      if (!ready) std::abort();
      used = 1;
      pthread_mutex_unlock(&m);
      return nullptr;
    }
    int main() {
      pthread_t a, b;
      pthread_create(&b, nullptr, user, nullptr);
      pthread_create(&a, nullptr, maker, nullptr);
      pthread_join(a, nullptr);
      pthread_join(b, nullptr);
    }
    """,
    # The handler waits for the thread that it interrupts.
    "handler_locks": r"""
    #include <pthread.h>
    #include <csignal>
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static int count;
    static void handler(int) {
      pthread_mutex_lock(&m);
      ++count;
      pthread_mutex_unlock(&m);
    }
    int main() {
      std::signal(SIGUSR1, handler);
      pthread_mutex_lock(&m);
      raise(SIGUSR1);
      pthread_mutex_unlock(&m);
    }
    """,
    # Nothing but a sleep orders the two.
    "sleep_orders": r"""
    #include <pthread.h>
    #include <unistd.h>
    int shared;
    static void* late(void*) {
      sleep(2);
      shared = 1;
      return nullptr;
    }
    int main() {
      pthread_t a;
      pthread_create(&a, nullptr, late, nullptr);
      shared = 2;
      pthread_join(a, nullptr);
    }
    """,
    # Who does not get the lock in time goes on without it. -DSHORT: which a busy machine brings about.
    "gives_up": r"""
    #include <pthread.h>
    #include <time.h>
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int shared;
    static void* impatient(void*) {
      timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
    #ifdef SHORT
      until.tv_nsec += 1000;
    #else
      until.tv_sec += 2;
    #endif
      bool locked = pthread_mutex_timedlock(&m, &until) == 0;
      shared = 1;
      if (locked) pthread_mutex_unlock(&m);
      return nullptr;
    }
    int main() {
      pthread_t a;
      pthread_create(&a, nullptr, impatient, nullptr);
      pthread_mutex_lock(&m);
      shared = 2;
      pthread_mutex_unlock(&m);
      pthread_join(a, nullptr);
    }
    """,
    # Sleeps on both sides of the race: a witness leads through them.
    "slow_race": r"""
    #include <pthread.h>
    #include <unistd.h>
    #include <poll.h>
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    int shared, one, two;
    static void* first(void*) {
      shared = 1;
      usleep(100);
      pthread_mutex_lock(&m); ++one; pthread_mutex_unlock(&m);
      return nullptr;
    }
    static void* second(void*) {
      poll(nullptr, 0, 1);
      pthread_mutex_lock(&m); ++two; pthread_mutex_unlock(&m);
      usleep(1000);
      shared = 2;
      return nullptr;
    }
    int main() {
      pthread_t a, b;
      pthread_create(&a, nullptr, first, nullptr);
      pthread_create(&b, nullptr, second, nullptr);
      pthread_join(a, nullptr);
      pthread_join(b, nullptr);
    }
    """,
}


def built(bench, name, *flags):
    controlled.SOURCES[name + ".cc"] = SOURCES[name]
    return bench.program(name, *flags)


def report_of(bench, *words, status=66, **options):
    done = bench.run("run", "--format", "json", "-o", "out.json", *words, status=status, limit=300, **options)
    return json.loads(bench.read("out.json")), done


def failures(report, kind):
    return [f for f in report["findings"] if f["kind"] == kind and "failure" in f]


def test_spurious_wakes(bench):
    """What takes one is told and can be repeated, and fails no run; who looks again has nothing to fear."""
    report, done = report_of(bench, "--", built(bench, "hasty"), status=0)
    found = failures(report, "crash")
    check([(f["rung"], f["replay"]["strategy"].split(" ", 1)[1]) for f in found] == [("suspected", "with spurious wake-ups")], report["findings"])
    text = bench.run("report", "out.json", status=0).stdout
    check("suspected crash" in text and "it takes a spurious wake-up of a condition variable" in text and "replay: sooth replay" in text, text)
    again = bench.run("replay", "out.json#" + found[0]["id"], "--", built(bench, "hasty"), status=134)
    check("the same run as in the schedule" in again.stderr or "Assertion" in again.stderr, again.stderr)
    report, done = report_of(bench, "--", built(bench, "hasty", "-DLOOP"), status=0)
    check(report["findings"] == [], report["findings"])


def test_a_thread_may_run_before_the_end(bench):
    leaves = built(bench, "leaves")
    done = bench.run("test", "--runs", 30, "--format", "json", "--", leaves, status=66, limit=300)
    ends = {e["description"]: e["runs"] for e in json.loads(done.stdout)["ends"]}
    check(len(ends) == 2 and all(n >= 3 for n in ends.values()), ends)
    done = bench.run("explore", "--", leaves, status=66, limit=300)
    check("complete:" in done.stdout and "2 outcomes" in done.stdout and "killed by signal 6" in done.stdout, done.stdout)


def test_threads_race_with_the_end(bench):
    """A detached thread and a destructor that runs at exit: found in the recording already."""
    report, _ = report_of(bench, "--trials", 0, "--", built(bench, "leaves", "-DDETACHED"))
    check(any(f["kind"] == "race" and f["observed"] for f in report["findings"]), report["findings"])


def test_threads_that_never_ran_are_told(bench):
    for seed in range(1, 30):
        bench.run("record", "--schedule", "random", "--seed", seed, "-o", f"r{seed}", "--", built(bench, "leaves", "-DDETACHED"), status=0)
        told = bench.run("analyze", f"r{seed}", "--with", "hb").stdout
        if "T1 never ran before the process ended" in told:
            return
    raise AssertionError("no schedule ended the process first")


def test_a_deadlock_ends_the_recording(bench):
    inverted = built(bench, "inverted")
    done = bench.run("record", "--schedule", "serial", "-o", "t", "--", inverted, status=66, limit=60)
    check("deadlock: " in done.stderr and "waits for a mutex that thread" in done.stderr, done.stderr)
    bench.run("trace", "check", "t", status=0)
    report, _ = report_of(bench, "--trials", 0, "--", inverted)
    found = failures(report, "deadlock")
    check(len(found) == 1 and report["findings"][0] == found[0] and found[0]["rung"] == "harmful", report["findings"])
    check({a["site"]["line"] for a in found[0]["accesses"]} == {8} and found[0]["failure"]["recorded"], found)
    check(report["search"]["recordings"][0]["end"] == "a deadlock" and "exit status 66" not in [row["end"] for row in report["search"]["ends"]], report["search"])
    check({a["variable"] for a in found[0]["accesses"]} == {"left", "right"}, found)
    check(all(any(s["function"].startswith(("one", "two")) for s in a["stack"]) for a in found[0]["accesses"]), found)
    text = bench.run("report", "out.json", status=66).stdout
    check("harmful deadlock by lock order inversion" in text and "a recorded run" in text, text)
    # A recording cannot be replayed: a controlled run that ends so, too, is looked for.
    report, _ = report_of(bench, "--", inverted)
    again = failures(report, "deadlock")
    check([f["id"] for f in again] == [f["id"] for f in found] and again[0]["replay"]["schedule"], again)
    bench.run("replay", "out.json#" + again[0]["id"], "--", inverted, status=66)


def test_a_deadlock_of_streams_ends_the_recording(bench):
    """At once, and a replay is the same run."""
    inverted = built(bench, "inverted_streams")
    done = bench.run("record", "--schedule", "serial", "-o", "streams", "--", inverted, status=66, limit=60)
    check("deadlock: " in done.stderr and "waits for a mutex that thread" in done.stderr, done.stderr)
    report, _ = report_of(bench, "--", inverted)
    found = failures(report, "deadlock")
    check(len(found) == 1 and found[0]["replay"]["schedule"], report["findings"])
    done = bench.run("replay", "out.json#" + found[0]["id"], "--", inverted, status=66)
    check("the same run as in the schedule" in done.stderr, done.stderr)


def test_a_deadlock_of_a_child_is_a_finding(bench):
    """Whatever its parent makes of it. A fork takes the locks along as they are, so explored runs differ in when it comes."""
    forks = built(bench, "left_behind")
    done = bench.run("explore", "--", forks, status=66, limit=300)
    check("outcome: a deadlock" in done.stdout and "outcome: exit status 0" in done.stdout, done.stdout)
    check("left_behind.cc:8" in done.stdout, done.stdout)
    report, done = report_of(bench, "--", forks)
    check([f["rung"] for f in report["findings"]] == ["harmful"] and len(failures(report, "deadlock")) == 1, report["findings"])
    text = bench.run("report", "out.json", status=66).stdout
    check("deadlock on a lock that nobody releases: 'lines'" in text and "left behind by a fork" in text, text)
    report_of(bench, "--", built(bench, "left_behind", "-DSAFE"), status=0)


def test_a_lock_of_a_thread_that_ended_is_no_double_lock(bench):
    report_of(bench, "--", built(bench, "left_behind", "-DALONE"))
    text = bench.run("report", "out.json", status=66).stdout
    check("deadlock on a lock that nobody releases: 'lines'" in text and "itself" not in text, text)


def test_other_exit_statuses_are_told(bench):
    """With a line that repeats such a run."""
    report, _ = report_of(bench, "--", built(bench, "torn"), status=0)
    told = [gap["text"] for gap in report["not_covered"] if "exit status 3" in gap["text"]]
    check(report["findings"] == [] and len(told) == 1, (report["findings"], report["not_covered"]))
    words = shlex.split(re.search(r"One of them again: sooth (replay \S+,c11 -- \S+)$", told[0])[1])
    bench.run(*words, status=3)
    report, _ = report_of(bench, "--", built(bench, "torn", "-DFENCE"), status=0)
    check("exit status" not in json.dumps(report["not_covered"]), report["not_covered"])


def test_controlled_runs_have_stacks(bench):
    """At -O0 every mutex is locked in the same line of a header, and libstdc++ waits for conditions: where the user's code is tells them apart."""
    twice = built(bench, "twice", "-O0")
    report, _ = report_of(bench, "--", twice)
    found = set()
    for finding in report["findings"]:
        if finding["kind"] == "deadlock" and finding["rung"] == "harmful":
            stacks = [[access["site"], *access["stack"]] for access in finding["accesses"]]
            own = [next(site for site in stack if site.get("file", "").endswith("twice.cc")) for stack in stacks]
            found.add(tuple(sorted(site["function"].split("(")[0] for site in own)))
    check(found == {("one", "other"), ("fourth", "third")}, report["findings"])
    report, _ = report_of(bench, "--", twice, "lost")
    found = failures(report, "deadlock")
    check(len(found) == 1, report["findings"])
    lines = {(a["thread"], a["site"].get("line")) for a in found[0]["accesses"]}
    check(lines == {("main", 22), ("T1", 15)}, found[0]["accesses"])


def test_controlled_crashes_have_stacks(bench):
    fails = built(bench, "fails")
    for how in ("fault", "assert", "throw", "abort"):
        done = bench.run("test", "--runs", 2, "--format", "json", "--", fails, how, status=66, limit=300)
        check(json.loads(done.stdout)["ends"], done.stdout)
        report, _ = report_of(bench, "--", fails, how)
        found = failures(report, "crash")
        check(len(found) == 1 and "schedule" in found[0]["found_by"], (how, "the recorded crash and the controlled one are the same", report["findings"]))


def test_a_controlled_hang_has_stacks(bench):
    fails = built(bench, "fails")
    done = bench.run("test", "--runs", 1, "--timeout", "2s", "--", fails, "hang", status=66, limit=300)
    check("a hang" in done.stdout, done.stdout)


def test_a_crash_is_a_finding(bench):
    fails = built(bench, "fails")
    for how, number, message in (("fault", 11, ""), ("assert", 6, "Assertion `how == \"other\"' failed."), ("throw", 6, ""), ("abort", 6, "")):
        report, _ = report_of(bench, "--trials", 0, "--", fails, how)
        found = failures(report, "crash")
        check(len(found) == 1 and report["findings"][0] == found[0], (how, report["findings"]))
        check(found[0]["failure"]["signal"] == number and message in found[0]["failure"].get("message", ""), (how, found))
        access = found[0]["accesses"][0]
        check(access["thread"] == "T1" and access["site"].get("function", "").startswith("fail"), (how, access))
        check(sum(s.get("function", "").startswith("fail") for s in access["stack"]) == 2, (how, access["stack"]))
        for form in ("text", "sarif", "junit", "markdown", "gcc", "tsan", "html"):
            printed = bench.run("report", "out.json", "--format", form, status=66).stdout
            check("crash" in printed, (how, form, printed[:2000]))
    report, _ = report_of(bench, "--trials", 0, "--", fails, "nothing", status=3)
    check(not failures(report, "crash"), report["findings"])


def test_a_hang_is_a_finding_if_a_time_is_set(bench):
    fails = built(bench, "fails")
    report, _ = report_of(bench, "--trials", 0, "--recordings", 2, "--timeout", "1500ms", "--", fails, "hang")
    found = failures(report, "hang")
    check(len(found) == 1 and found[0]["rung"] == "harmful", report["findings"])
    bench.run("record", "--timeout", "1s", "-o", "hanging", "--", fails, "hang", status=137, limit=60)


def test_a_recorded_run_that_hangs_is_ended(bench):
    """Without --timeout: a controlled run beside it tells a loop without an end from one that is patient."""
    waits = built(bench, "waits_in_loop")
    for how in ("yield", "sleep"):
        report, _ = report_of(bench, "--hang-after", "500ms", "--budget", "60s", "--", waits, how)
        found = failures(report, "hang")
        check(len(found) == 1 and found[0]["rung"] == "harmful" and "replay" in found[0], (how, report["findings"]))
        functions = sorted(access["site"].get("function", "") for access in found[0]["accesses"])
        check(functions[0].startswith("main") and functions[1].startswith("wait_for_it"), (how, found[0]["accesses"]))
        check(any("--hang-after" in gap["text"] for gap in report["not_covered"]), (how, report["not_covered"]))
    for how in ("patient", "gives_up"):
        report, _ = report_of(bench, "--hang-after", "500ms", "--budget", "10s", "--", waits, how, status=0)
        check(not report["findings"], (how, report["findings"]))


def test_a_hang_that_only_other_schedules_meet_is_a_finding(bench):
    livelock = built(bench, "livelock")
    report, _ = report_of(bench, "--timeout", "3s", "--budget", "60s", "--", livelock)
    found = failures(report, "hang")
    check(len(found) == 1 and found[0]["rung"] == "harmful", report["findings"])
    spinning = [access for access in found[0]["accesses"] if access["site"].get("function", "").startswith("enter")]
    check(len(spinning) == 2, found[0]["accesses"])


def test_hangs_are_soon_seen_to_be_some(bench):
    spin_locks = built(bench, "spin_locks")
    report, _ = report_of(bench, "--timeout", "4s", "--budget", "30s", "--", spin_locks)
    found = failures(report, "hang")
    check(len(found) == 1 and found[0]["rung"] == "harmful", report["findings"])
    check(report["search"]["runs"] > 20, ("runs that hang must not take all of the time", report["search"]))
    again = bench.run("replay", "out.json#" + found[0]["id"], "--", spin_locks, status=66, limit=100)
    check("look at the same things again" in again.stderr and "the same run" in again.stderr, again.stderr)


def test_threads_that_give_up_do_not_hang(bench):
    stubborn = built(bench, "spin_locks", "-DGIVES_UP")
    report, _ = report_of(bench, "--budget", "15s", "--", stubborn, status=0)
    check(not failures(report, "hang"), report["findings"])


def test_a_changed_futex_wakes_nobody(bench):
    report, _ = report_of(bench, "--budget", "20s", "--", built(bench, "forgets_to_wake"))
    check(len(failures(report, "deadlock")) == 1, report["findings"])
    report, _ = report_of(bench, "--budget", "20s", "--", built(bench, "forgets_to_wake", "-DRIGHT"), status=0)
    check(not report["findings"], report["findings"])


def test_threads_that_give_way_do_not_hang(bench):
    polite = built(bench, "livelock", "-DASKS")
    report, _ = report_of(bench, "--timeout", "2s", "--budget", "4s", "--", polite, status=0)
    check(not failures(report, "hang"), report["findings"])


def test_handlers_of_crashes_may_print(bench):
    reporter = built(bench, "reporter")
    for words, status, rung in (((), 3, "suspected"), (("fault",), 3, "suspected"), (("an", "alarm"), 66, "predicted")):
        report, _ = report_of(bench, "--trials", 0, "--recordings", 1, "--", reporter, *words, status=status)
        found = [f["rung"] for f in report["findings"] if f.get("misuse") == "signal_unsafe"]
        check(found == [rung, rung], (words, report["findings"]))


def test_an_interrupted_run_says_so(bench):
    fails = built(bench, "fails")
    with subprocess.Popen([bench.sooth, "run", "--trials", "0", "--", fails, "hang"], cwd=bench.dir, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, check=False).stdout:
                break
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, report = process.communicate(timeout=120)
    check("did not end by itself: it was interrupted after" in report, report)


def test_a_handler_that_deadlocks(bench):
    """Other handlers could run for ever, but none of them may unlock."""
    report, _ = report_of(bench, "--", built(bench, "handler_locks"))
    check([f["rung"] for f in failures(report, "deadlock")] == ["harmful"] and not failures(report, "hang"), report["findings"])


def test_sleeps_hide_nothing(bench):
    """Random, pct and explore find what a sleep hides; what takes a long delay says so."""
    sleeps = built(bench, "sleeps")
    for strategy in ("random", "pct:3"):
        done = bench.run("test", "--strategy", strategy, "--runs", 100, "--format", "json", "--", sleeps, status=66, limit=300)
        ends = {e["description"].split(" after")[0]: e for e in json.loads(done.stdout)["ends"]}
        check(set(ends) == {"exit status 0", "killed by signal 6 (Aborted)"}, ends)
        replay = next(e["replay"] for e in ends.values() if e["failure"])
        bench.run(*shlex.split(replay)[1:], status=134)
    done = bench.run("explore", "--", sleeps, status=66, limit=300)
    check("complete:" in done.stdout and "2 outcomes" in done.stdout, done.stdout)
    line = re.search(r"again: sooth (.*)", done.stdout)[1]
    again = bench.run(*shlex.split(line), status=134)
    check("the same run as in the schedule" in again.stderr, again.stderr)


def test_races_that_take_a_delay_say_so(bench):
    """Of those that only a time-out leads to; a sleep orders nothing."""
    for name, flags, by_delay in (("sleep_orders", "", False), ("gives_up", "-DSHORT", False), ("gives_up", "", True)):
        program = built(bench, name, *flags.split())
        done = bench.run("explore", "--format", "json", "--", program, status=66, limit=300)
        explored = [f["replay"] for f in json.loads(done.stdout)["findings"]]
        check([r.get("by_delay", False) for r in explored] == [by_delay], (name, flags, explored))
        report, done = report_of(bench, "--", program)
        races = [f for f in report["findings"] if f["kind"] == "race"]
        check([(f["rung"], f["replay"].get("by_delay", False)) for f in races] == [("confirmed", by_delay)], (name, flags, races))
    check("kept from running" in bench.run("report", "out.json", status=66).stdout, name)


def test_witnesses_lead_through_sleeps(bench):
    slow = built(bench, "slow_race")
    bench.run("record", "--schedule", "serial", "-o", "slow", "--", slow, status=0)
    bench.run("analyze", "slow", "--with", "wcp", "--format", "json", "-o", "slow.json", status=66)
    bench.run("confirm", "slow.json", "--trials", 20, "--", slow, status=66, limit=300)
    race = next(f for f in json.loads(bench.read("slow.json"))["findings"] if f["kind"] == "race")
    check(race["rung"] == "confirmed" and (race["replay"]["witness_followed"] or "diverged" not in race["replay"]), race["replay"])
    check(race["replay"]["hits"] == race["replay"]["trials"], race["replay"])


if __name__ == "__main__":
    controlled.main(sys.modules[__name__])
