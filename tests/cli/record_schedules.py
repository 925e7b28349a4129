#!/usr/bin/env python3
"""sooth record --schedule: one thread at a time.

    tests/cli/record_schedules.py SOOTH [NAME...]      all tests, or those named
"""
import re
import shutil
import subprocess
import sys

from record_bench import run_tests
from test_loop import Skipped, check

SOURCES = {
    # Increments that are atomic only in parts; how many are lost is up to the schedule. The argument says what is in between.
    "counter.cc": r"""
        #include <atomic>
        #include <cstdio>
        #include <cstring>
        #include <mutex>
        #include <thread>
        static std::mutex m;
        static std::atomic<int> atomic_counter;
        static volatile int counter;
        static int get() { std::lock_guard<std::mutex> guard(m); return counter; }
        static void put(int value) { std::lock_guard<std::mutex> guard(m); counter = value; }
        static void locks() { for (int i = 0; i < 10; ++i) put(get() + 1); }
        static void atomics() { for (int i = 0; i < 10; ++i) atomic_counter = atomic_counter + 1; }
        static void plain() { for (int i = 0; i < 1000; ++i) counter = counter + 1; }
        int main(int, char** argv) {
          void (*work)() = !std::strcmp(argv[1], "locks") ? locks : !std::strcmp(argv[1], "atomics") ? atomics : plain;
          std::thread a(work), b(work), c(work);
          a.join(); b.join(); c.join();
          std::printf("%d\n", counter + atomic_counter);
          return 0;
        }
        """,
    # Spin locks of three kinds. The argument says which.
    "spin_locks.cc": r"""
        #include <atomic>
        #include <cstdio>
        #include <thread>
        #include <vector>
        static std::atomic<unsigned> word, ticket;
        static long counter;
        static unsigned take(char kind) {
          unsigned expected = 0, mine = kind == 't' ? ticket.fetch_add(1) : 0;
          if (kind == 'c') while (!word.compare_exchange_weak(expected, 1)) expected = 0;
          if (kind == 'x') while (word.exchange(1) != 0) while (word.load() != 0) {}
          if (kind == 't') while (word.load() != mine) {}
          return kind == 't' ? mine + 1 : 0;
        }
        int main(int, char** argv) {
          std::vector<std::thread> threads;
          for (int t = 0; t < 8; ++t)
            threads.emplace_back([kind = argv[1][0]] { for (int i = 0; i < 1000; ++i) { unsigned next = take(kind); ++counter; word.store(next); } });
          for (std::thread& thread : threads) thread.join();
          std::printf("%ld\n", counter);
        }
        """,
    # A queue with a condition, and threads that come and go.
    "queue.cc": r"""
        #include <condition_variable>
        #include <cstdio>
        #include <deque>
        #include <memory>
        #include <mutex>
        #include <thread>
        static std::mutex m;
        static std::condition_variable changed;
        static std::deque<std::unique_ptr<int>> queue;
        static int sum, live;
        static void produce(int first) {
          for (int i = 0; i < 5; ++i) { std::lock_guard<std::mutex> g(m); queue.push_back(std::make_unique<int>(first + i)); changed.notify_one(); }
          std::lock_guard<std::mutex> g(m); --live; changed.notify_all();
        }
        static void consume() {
          std::unique_lock<std::mutex> g(m);
          for (;;) {
            changed.wait(g, [] { return !queue.empty() || live == 0; });
            if (queue.empty()) return;
            sum = sum * 3 % 65521 + *queue.front();
            queue.pop_front();
          }
        }
        int main() {
          for (int round = 0; round < 3; ++round) {
            live = 2;
            std::thread a(produce, 10), b(produce, 100), c(consume), d(consume);
            a.join(); b.join(); c.join(); d.join();
          }
          std::printf("%d\n", sum);
          return 0;
        }
        """,
    # Threads that wait in loops, each for what one of the others does.
    "spinner.cc": r"""
        #include <atomic>
        #include <cstdio>
        #include <mutex>
        #include <sched.h>
        #include <thread>
        static std::atomic<int> stage;
        static volatile int plain_stage;
        static std::mutex m;
        static int locked_stage;
        static bool locked_is(int value) { std::lock_guard<std::mutex> g(m); return locked_stage == value; }
        int main() {
          std::thread a([] { while (stage != 3) { } plain_stage = 1; });
          std::thread b([] { while (!locked_is(1)) { } stage = 3; });
          std::thread c([] { while (stage != 1) sched_yield(); { std::lock_guard<std::mutex> g(m); locked_stage = 1; } });
          std::thread d([] { while (!m.try_lock()) { } stage = 1; m.unlock(); });
          while (plain_stage == 0) { }
          a.join(); b.join(); c.join(); d.join();
          std::puts("done");
          return 0;
        }
        """,
}

STRATEGIES = ["serial", "random", "pct:1", "pct:3", "pct:3:200"]


def without_addresses(*words):
    """The command on a machine where every run has the same addresses; None when that is not to be had."""
    prefix = ["setarch", "-R"]
    usable = shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    return [*prefix, *words] if usable else None


def scheduled(bench, strategy, seed, *words):
    """What the program prints, and the text of its trace, under a strategy."""
    trace = bench.fresh("scheduled")
    command = without_addresses(bench.sooth, "record", "-o", trace, "--schedule", strategy, "--seed", seed, "--", *words)
    if command is None:
        raise Skipped("addresses cannot be fixed: setarch -R is not allowed")
    run = bench.run(*command, status=0)
    text = bench.run(bench.sooth, "trace", "cat", trace, status=0).stdout
    bench.check_trace(trace)
    shutil.rmtree(bench.path(trace))
    return run.stdout, text


def test_serial(bench):
    prog = bench.build("prog.cc")
    texts = []
    for seed in ["7", "7", "8"]:
        trace = bench.fresh("serial")
        bench.record("-o", trace, "--schedule", "serial", "--seed", seed, "--", prog, status=0)
        bench.check_trace(trace)
        info = bench.run(bench.sooth, "trace", "info", trace, status=0).stdout
        check(re.search(r"exact", info), info)
        texts.append(len(bench.races(trace)))
    check(texts == [1, 1, 1], texts)


def test_schedules_repeat(bench):
    """Equal seeds give equal traces, to the last value and address."""
    programs = [[bench.build("counter.cc", "-O1"), "locks"], [bench.build("counter.cc", "-O1"), "plain"], [bench.build("queue.cc", "-O1")],
                [bench.build("spinner.cc", "-O1")]]
    for program in programs:
        for strategy in ["serial", "random", "pct:3:200"]:
            runs = {scheduled(bench, strategy, 7, *program) for _ in range(10)}
            check(len(runs) == 1, f"{program} under {strategy}: {len(runs)} different runs of one seed")


def test_schedules_differ(bench):
    """What is lost of a counter depends on the seed, and `serial` loses nothing of one that is only wrong around its locks."""
    counter = bench.build("counter.cc", "-O1")
    for how, strategy, least in [("locks", "random", 5), ("locks", "pct:3:200", 2), ("atomics", "random", 5), ("atomics", "pct:3:100", 2),
                                 ("plain", "random", 5), ("locks", "serial", 1)]:
        outcomes = {scheduled(bench, strategy, seed, counter, how)[0] for seed in range(20)}
        check(len(outcomes) >= least, f"{how} under {strategy}: only {outcomes}")
        check(strategy != "serial" or outcomes == {"30\n"}, outcomes)


def test_schedules_end(bench):
    """A program that waits in loops ends under every strategy."""
    spinner = bench.build("spinner.cc", "-O1")
    for strategy in STRATEGIES:
        for seed in range(1, 6):
            check(scheduled(bench, strategy, seed, spinner)[0] == "done\n", f"{strategy}, seed {seed}")


def test_spinning_is_short(bench):
    """Threads that spin give their turn up: not many more events than with locks that are free. Taking and giving back are five at least."""
    program = bench.build("spin_locks.cc", "-O1")
    for kind in ["compare-exchange", "x", "ticket"]:
        trace = bench.fresh("spin")
        run = bench.run(bench.sooth, "record", "-o", trace, "--schedule", "serial", "--", program, kind, status=0)
        check(run.stdout == "8000\n", run.stdout)
        events = int(re.search(r"events: +(\d+)", bench.run(bench.sooth, "trace", "info", trace, status=0).stdout)[1])
        check(events < 3 * 8000 * 8, f"{kind}: {events} events")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[1:]))
