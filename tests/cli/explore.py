#!/usr/bin/env python3
"""sooth explore: every schedule of a small program.

    tests/cli/explore.py SOOTH [NAME...]      all tests, or those named
"""
import json
import os
import re
import shlex
import sys

import controlled
from test_loop import check

HEAD = r"""
    #include <pthread.h>
    #include <atomic>
    #include <cassert>
    #include <cstdio>
    template <void (*F)()> void* call(void*) { F(); return nullptr; }
    template <void (*F)(), void (*G)()> void together() {
      pthread_t a, b;
      pthread_create(&a, nullptr, call<F>, nullptr);
      pthread_create(&b, nullptr, call<G>, nullptr);
      pthread_join(a, nullptr);
      pthread_join(b, nullptr);
    }
"""

SOURCES = {
    # Two increments, of which one may be lost. -DATOMIC: not; -DASSERT: which is a failure.
    "racy": r"""
    #ifdef ATOMIC
    static std::atomic<int> counter;
    static void work() { counter.fetch_add(1); }
    #else
    static int counter;
    static void work() { counter = counter + 1; }
    #endif
    int main() {
      together<work, work>();
    #ifdef ASSERT
      assert(counter == 2);
    #endif
      std::printf("%d\n", int(counter));
    }
    """,
    # Neighbours in one word; -DOVERLAP: the one reaches into the other.
    "bytes": r"""
    struct alignas(8) Bytes { char first[2]; } s;
    static void one() { s.first[0] = 1; }
    static void two() { s.first[1] = 2; }
    static void both() { *reinterpret_cast<volatile short*>(s.first) = 3; }
    int main() {
    #ifdef OVERLAP
      together<one, both>();
    #else
      together<one, two>();
    #endif
      std::printf("%d\n", s.first[0]);
    }
    """,
    # Peterson's lock. -DPLAIN: of plain variables, which under sequential consistency is as good; -DBROKEN: looks before it asks.
    "peterson": r"""
    #ifdef PLAIN
    static volatile int wants[2], turn;
    #else
    static std::atomic<int> wants[2], turn;
    #endif
    #ifndef PAUSE
    #define PAUSE
    #endif
    static int counter;
    template <int I> void work() {
    #ifdef BROKEN
      while (wants[1 - I] && turn == 1 - I) {}
    #endif
      wants[I] = 1;
      turn = 1 - I;
    #ifndef BROKEN
      while (wants[1 - I] && turn == 1 - I) { PAUSE; }
    #endif
      counter = counter + 1;
      wants[I] = 0;
    }
    int main() {
      together<work<0>, work<1>>();
      std::printf("%d\n", counter);
    }
    """,
    # Who initialises, and what the others know of it meanwhile. By pthread_once; -DSTATIC: by a static variable.
    "once": r"""
    static thread_local int self;
    static std::atomic<int> begun;
    static int maker, glances[3];
    struct Made { Made() { begun = 1; maker = self; } };
    #ifdef STATIC
    static void need() { static Made made; }
    #else
    static pthread_once_t control = PTHREAD_ONCE_INIT;
    static void need() { pthread_once(&control, [] { Made made; }); }
    #endif
    template <int I> void work() {
      self = I;
      glances[I] = begun;
      need();
      if (maker == 0) glances[0] = 1;
    }
    int main() {
      together<work<1>, work<2>>();
      std::printf("%d %d%d%d\n", maker, glances[0], glances[1], glances[2]);
    }
    """,
    # Who comes to a barrier last.
    "barrier": r"""
    static pthread_barrier_t barrier;
    static std::atomic<int> other;
    static int last, before[3];
    template <int I> void work() {
      before[I] = other.exchange(I);
      if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) last = I;
    }
    int main() {
      pthread_barrier_init(&barrier, nullptr, 2);
      together<work<1>, work<2>>();
      pthread_barrier_destroy(&barrier);
      std::printf("%d%d\n", before[1], before[2]);
      return last == 0;
    }
    """,
    # What somebody promises, and does before and behind that.
    "future": r"""
    #include <future>
    #include <thread>
    int main() {
      std::promise<int> promise;
      std::future<int> future = promise.get_future();
      int before = 0;
      std::atomic<int> behind{0};
      std::thread worker([&] { before = 1; promise.set_value(2); behind = 4; });
      const int sum = future.get() + before + behind;
      worker.join();
      std::printf("%d\n", sum);
    }
    """,
    # Two tasks; -DRACE: which add to one variable.
    "async": r"""
    #include <future>
    static int total;
    static int twice(int n) {
    #ifdef RACE
      total = total + n;
    #endif
      return 2 * n;
    }
    int main() {
      std::future<int> one = std::async(std::launch::async, twice, 1), two = std::async(std::launch::async, twice, 2);
      const int sum = one.get() + two.get();
      std::printf("%d %d\n", sum, total);
    }
    """,
    # A lock made of an atomic that waits in the kernel.
    "atomic_wait": r"""
    static std::atomic<int> locked;
    static int order, first[3];
    template <int I> void work() {
      while (locked.exchange(1) != 0) locked.wait(1);
      first[I] = order;
      order = I;
      locked = 0;
      locked.notify_one();
    }
    int main() {
      together<work<1>, work<2>>();
      std::printf("%d%d\n", first[1], first[2]);
    }
    """,
    # A wait that takes it for granted that somebody notified; -DLOOP: that looks again.
    "spurious": r"""
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static bool ready;
    static int data;
    static void wait() {
      pthread_mutex_lock(&mutex);
    #ifdef LOOP
      while (!ready) pthread_cond_wait(&condition, &mutex);
    #else
      if (!ready) pthread_cond_wait(&condition, &mutex);
    #endif
      pthread_mutex_unlock(&mutex);
      assert(data == 1);
    }
    static void notify() {
      data = 1;
      pthread_mutex_lock(&mutex);
      ready = true;
      pthread_cond_signal(&condition);
      pthread_mutex_unlock(&mutex);
    }
    int main() { together<wait, notify>(); }
    """,
    # A spin lock. -DSWAP: by compare-and-swap; else by exchange.
    "spin": r"""
    static std::atomic<int> locked;
    static int counter;
    static void work() {
    #ifdef SWAP
      for (int free = 0; !locked.compare_exchange_weak(free, 1); free = 0) {}
    #else
      while (locked.exchange(1)) {}
    #endif
      counter = counter + 1;
      locked = 0;
    }
    int main() {
      together<work, work>();
      std::printf("%d\n", counter);
    }
    """,
    # Two philosophers. -DORDERED: both take the same fork first.
    "philosophers": r"""
    static pthread_mutex_t forks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    template <int I> void eat() {
    #ifdef ORDERED
      const int first = 0;
    #else
      const int first = I;
    #endif
      pthread_mutex_lock(&forks[first]);
      pthread_mutex_lock(&forks[1 - first]);
      pthread_mutex_unlock(&forks[1 - first]);
      pthread_mutex_unlock(&forks[first]);
    }
    int main() { together<eat<0>, eat<1>>(); }
    """,
    # Message passing. ORDER is that of the flag.
    "message": r"""
    static int data, got = -1;
    static std::atomic<int> flag;
    static void send() { data = 42; flag.store(1, std::memory_order_ORDER); }
    static void receive() { if (flag.load(std::memory_order_ORDER)) got = data; }
    int main() {
      together<send, receive>();
      std::printf("%d\n", got);
    }
    """,
    # Store buffering: both read 0 only without sequential consistency.
    "buffering": r"""
    static std::atomic<int> x, y;
    static int a, b;
    static void one() { x.store(1, std::memory_order_relaxed); a = y.load(std::memory_order_relaxed); }
    static void two() { y.store(1, std::memory_order_relaxed); b = x.load(std::memory_order_relaxed); }
    int main() {
      together<one, two>();
      std::printf("%d%d\n", a, b);
    }
    """,
    # Treiber's stack: each thread pushes and pops.
    "stack": r"""
    struct Node { Node* next; int value; };
    static Node nodes[2] = {{nullptr, 1}, {nullptr, 2}};
    static std::atomic<Node*> top;
    static int popped[2];
    template <int I> void work() {
      Node* n = &nodes[I];
      n->next = top.load();
      while (!top.compare_exchange_strong(n->next, n)) {}
      Node* t = top.load();
      while (!top.compare_exchange_strong(t, t->next)) {}
      popped[I] = t->value;
    }
    int main() {
      together<work<0>, work<1>>();
      assert(top.load() == nullptr && popped[0] + popped[1] == 3);
      std::printf("%d\n", popped[0]);
    }
    """,
    # Waits without looking whether it was notified before.
    "lost": r"""
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    static void wait() { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); }
    static void notify() { pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m); }
    int main() { together<wait, notify>(); }
    """,
    # A sleep may end before, between and after the writes of the other. -DLOOP: it is a loop that waits.
    "sleep": r"""
    #include <unistd.h>
    static std::atomic<int> written;
    static int seen;
    static void write() { written = 1; written = 2; }
    static void read() {
    #ifdef LOOP
      while (written != 2) usleep(1000);
    #else
      sleep(3600);
    #endif
      seen = written;
    }
    int main() {
      together<write, read>();
      std::printf("%d\n", seen);
    }
    """,
    # A wait that times out, or does not (-DFAR: nobody takes so long); -DCLOCK: a clock tells which of two sleeps was over.
    "timed": r"""
    #include <time.h>
    #include <unistd.h>
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    static int ready, result;
    static timespec now() { timespec t; clock_gettime(CLOCK_REALTIME, &t); return t; }
    #ifdef CLOCK
    static void one() { sleep(10); }
    static void two() { timespec before = now(); result = now().tv_sec - before.tv_sec >= 10; }
    #else
    static void one() {
      timespec end = now();
    #ifdef FAR
      end.tv_sec += 30;
    #else
      end.tv_sec += 10;
    #endif
      pthread_mutex_lock(&m);
      if (!ready) result = pthread_cond_timedwait(&c, &m, &end) != 0 ? 1 : 2;
      pthread_mutex_unlock(&m);
    }
    static void two() { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); }
    #endif
    int main() {
      together<one, two>();
      std::printf("%d\n", result);
    }
    """,
    # If two threads wait one of them is notified, which notifies the other. It need not be who began first.
    "notify": r"""
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    static int waiting, began, woken, late;
    template <int I> void wait() {
      pthread_mutex_lock(&m);
      if (!late) {
        if (++waiting == 1) began = I;
        pthread_cond_wait(&c, &m);
        if (woken == 0) woken = I;
        if (!late) pthread_cond_signal(&c);
      }
      pthread_mutex_unlock(&m);
    }
    static void notify() {
      pthread_mutex_lock(&m);
      if (waiting == 2) {
        pthread_cond_signal(&c);
      } else {
        late = 1;
        pthread_cond_broadcast(&c);
      }
      pthread_mutex_unlock(&m);
    }
    int main() {
      pthread_t a, b;
      pthread_create(&a, nullptr, call<wait<1>>, nullptr);
      pthread_create(&b, nullptr, call<wait<2>>, nullptr);
      notify();
      pthread_join(a, nullptr);
      pthread_join(b, nullptr);
      assert(late || woken == began);
      std::printf("%s\n", late ? "late" : "first");
    }
    """,
    # One takes the block away and frees it, the other looks at it. -DLOCKED: not between its two steps. -DLARGE: it is
    # large, and looked at far behind its begin.
    "frees": r"""
    #ifdef LARGE
    struct Block { char before[5000]; int value; };
    #else
    struct Block { int value; };
    #endif
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static std::atomic<Block*> shared;
    static int seen;
    static void look() {
    #ifdef LOCKED
      pthread_mutex_lock(&m);
    #endif
      if (Block* block = shared.load()) seen = block->value;
    #ifdef LOCKED
      pthread_mutex_unlock(&m);
    #endif
    }
    static void take() {
      pthread_mutex_lock(&m);
      Block* block = shared.exchange(nullptr);
      pthread_mutex_unlock(&m);
      delete block;
    }
    int main() {
      Block* block = new Block;
      block->value = 1;
      shared = block;
      together<look, take>();
      std::printf("%s\n", seen == 0 ? "nothing" : "something");
    }
    """,
    # The process may end before the other thread has written.
    "detached": r"""
    static std::atomic<int> written;
    static void write() { written = 1; written = 2; }
    int main() {
      pthread_t a;
      pthread_create(&a, nullptr, call<write>, nullptr);
      pthread_detach(a);
      std::printf("%d\n", int(written));
    }
    """,
}


def built(bench, name, *flags):
    controlled.SOURCES[name + ".cc"] = HEAD + SOURCES[name]
    return bench.program(name, *flags)


def explore(bench, program, *options, status=0):
    return bench.run("explore", *options, "--", program, status=status, limit=300)


def outputs(done):
    return sorted(set(re.findall(r'^outcome: .*output "(.*?)(?:\\n)?", in \d+ runs?$', done.stdout, re.MULTILINE)))


def counts(done):
    """Runs, outcomes, racing pairs and deadlocks of the first line."""
    line = re.match(r"(\d+) runs? of .* \(\d+ redundant\): (\d+) outcomes?, (\d+) racing pairs?, (\d+) deadlocks?\n", done.stdout)
    check(line, done.stdout)
    return tuple(map(int, line.groups()))


def is_complete(done):
    return "\ncomplete: " in done.stdout


def test_lost_update(bench):
    """Both outcomes and both racing pairs, which are one bug with a schedule that stops at it."""
    racy = built(bench, "racy")
    done = explore(bench, racy, status=66)
    runs, outcomes, races, deadlocks = counts(done)
    check(outputs(done) == ["1", "2"] and (outcomes, races, deadlocks) == (2, 2, 0) and is_complete(done), done.stdout)
    check(runs <= 8, done.stdout)
    check(done.stdout.count("confirmed data race") == 1 and "racy.cc:" in done.stdout, done.stdout)
    lines = re.findall(r"replay: sooth (replay .*?) \(seed", done.stdout)
    check(len(lines) == 1, done.stdout)
    for line in lines:
        again = bench.run(*shlex.split(line), status=0)
        check("race created: thread " in again.stderr and "the same run as in the schedule" in again.stderr, again.stderr)
    done = explore(bench, built(bench, "racy", "-DATOMIC"))
    check(outputs(done) == ["2"] and counts(done)[2] == 0 and is_complete(done), done.stdout)


def test_reduction(bench):
    """Fewer runs, and nothing lost; every run without it is a schedule of its own."""
    for program, wanted in ((built(bench, "racy"), ["1", "2"]), (built(bench, "buffering"), ["01", "10", "11"])):
        reduced = bench.run("explore", "--", program, limit=300)
        whole = bench.run("explore", "--no-reduction", "--runs", 3000, "--", program, limit=300)
        check(outputs(reduced) == wanted and set(outputs(whole)) <= set(wanted), reduced.stdout + whole.stdout)
        check(counts(reduced)[0] * 10 < counts(whole)[0], reduced.stdout + whole.stdout)


def test_preemptions(bench):
    racy = built(bench, "racy")
    none = bench.run("explore", "--preemptions", 0, "--", racy, limit=300)
    check(outputs(none) == ["2"] and "complete: every schedule with at most 0 preemptions" in none.stdout, none.stdout)
    one = bench.run("explore", "--preemptions", 1, "--", racy, status=66, limit=300)
    check(outputs(one) == ["1", "2"] and is_complete(one) and counts(one)[0] > counts(none)[0], one.stdout)


def test_bytes(bench):
    """Neighbours in one word are no race."""
    done = explore(bench, built(bench, "bytes"))
    check(counts(done)[2] == 0 and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "bytes", "-DOVERLAP"), status=66)
    check(counts(done)[2] == 1 and "write of 2 bytes" in done.stdout and "write of 1 byte " in done.stdout, done.stdout)


def test_peterson(bench):
    """Loops that wait come to an end; a lock that works excludes, also from races, and one that does not is caught."""
    done = explore(bench, built(bench, "peterson"))
    check(outputs(done) == ["2"] and counts(done)[2] == 0 and is_complete(done), done.stdout)
    check("loops that wait were followed for 3 rounds" in done.stdout, done.stdout)
    done = explore(bench, built(bench, "peterson", "-DPAUSE=sched_yield()"))
    check(outputs(done) == ["2"] and counts(done)[2] == 0 and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "peterson", "-DPLAIN"), status=66)
    check(outputs(done) == ["2"] and counts(done)[2] > 0 and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "peterson", "-DBROKEN"), status=66)
    check(outputs(done) == ["1", "2"] and counts(done)[2] > 0 and is_complete(done), done.stdout)


def test_spin_lock(bench):
    """Attempts that fail change nothing."""
    for flags in ([], ["-DSWAP"]):
        done = explore(bench, built(bench, "spin", *flags))
        check(outputs(done) == ["2"] and counts(done)[2] == 0 and is_complete(done), done.stdout)


def test_operations_are_about_their_object(bench):
    """What waits for an initialisation, a barrier, a promise or a word of memory depends on that, and on nothing else: few runs, and no outcome lost."""
    for name, flags, wanted, most in (
            ("once", (), ["1 000", "1 001", "2 000", "2 010"], 40), ("once", ("-DSTATIC",), ["1 000", "1 001", "2 000", "2 010"], 80),
            ("barrier", (), ["01", "20"], 20), ("future", (), ["3", "7"], 40), ("async", (), ["6 0"], 4), ("atomic_wait", (), ["01", "20"], 200)):
        done = explore(bench, built(bench, name, "-std=c++20", *flags))
        check(outputs(done) == wanted and counts(done)[2:] == (0, 0) and is_complete(done), (name, flags, done.stdout))
        check(counts(done)[0] <= most, (name, flags, done.stdout))
    done = explore(bench, built(bench, "async", "-std=c++20", "-DRACE"), status=66)
    check(outputs(done) == ["6 1", "6 2", "6 3"] and counts(done)[2] == 2 and is_complete(done), done.stdout)


def test_philosophers(bench):
    done = explore(bench, built(bench, "philosophers"), status=66)
    check(counts(done)[3] == 1 and is_complete(done), done.stdout)
    check(re.search(r"outcome: a deadlock, no output, in \d+ runs?\n(  thread (?:main|T\d) .*waits for .*\n){3}  again: sooth replay", done.stdout), done.stdout)
    check("harmful deadlock" in done.stdout and "philosophers.cc:" in done.stdout, done.stdout)
    line = re.search(r"again: sooth (.*)", done.stdout)[1]
    again = bench.run(*shlex.split(line), status=66)
    check("deadlock:" in again.stderr and "the same run as in the schedule" in again.stderr, again.stderr)
    done = explore(bench, built(bench, "philosophers", "-DORDERED"))
    check(counts(done)[3] == 0 and is_complete(done), done.stdout)


def test_lost_notification(bench):
    """A deadlock that no lock explains is a failure all the same."""
    done = explore(bench, built(bench, "lost"), status=66)
    check("waits for a condition" in done.stdout and counts(done)[1:] == (2, 0, 1) and is_complete(done), done.stdout)


def test_sequential_consistency(bench):
    """All that interleavings can do, and nothing that only weaker orders can."""
    done = explore(bench, built(bench, "buffering"))
    check(outputs(done) == ["01", "10", "11"] and is_complete(done), done.stdout)
    for order in ("relaxed", "seq_cst"):
        done = explore(bench, built(bench, "message", f"-DORDER={order}", f"-Dmemory_order_ORDER=memory_order_{order}"))
        check(outputs(done) == ["-1", "42"] and counts(done)[2] == 0 and is_complete(done), done.stdout)


def test_stack(bench):
    done = explore(bench, built(bench, "stack"))
    check(outputs(done) == ["1", "2"] and counts(done)[2:] == (0, 0) and is_complete(done), done.stdout)


def test_failures(bench):
    racy = built(bench, "racy", "-DASSERT")
    done = explore(bench, racy, "--schedules", "some/where", status=66)
    check(re.search(r'outcome: killed by signal 6 \(Aborted\) after ".*Assertion `.*counter == 2', done.stdout), done.stdout)
    line = re.search(r"again: sooth (replay some/where/failure-\d+\.schedule .*)", done.stdout)[1]
    for _ in range(3):
        again = bench.run(*shlex.split(line), status=134)
        check("the same run as in the schedule" in again.stderr, again.stderr)


def test_whom_a_notification_wakes(bench):
    """Any of those that wait; drawn by strategies, and the same in a replay."""
    notify = built(bench, "notify")
    done = explore(bench, notify, status=66)
    check(outputs(done) == ["first", "late"] and counts(done)[1:] == (3, 0, 0) and is_complete(done), done.stdout)
    line = re.search(r"again: sooth (replay .*)", done.stdout)[1]
    again = bench.run(*shlex.split(line), status=134)
    check("the same run as in the schedule" in again.stderr, again.stderr)
    for strategy in ("random", "pct:3"):
        done = bench.run("test", "--strategy", strategy, "--runs", 40, "--", notify, status=66, limit=300)
        check("woken == began" in done.stdout, done.stdout)
    bench.run("record", "--schedule", "serial", "-o", "notify.trace", "--", notify, status=0)


def test_spurious_wakes(bench):
    """Waits may end for no reason, if that is asked for; what takes that says so, can be repeated, and hides no deadlock."""
    hasty = built(bench, "spurious")
    done = explore(bench, hasty)
    check(counts(done)[1:] == (1, 0, 0) and is_complete(done), done.stdout)
    done = explore(bench, hasty, "--spurious-wakes", status=66)
    check("with up to one spurious wake-up in each thread" in done.stdout and is_complete(done), done.stdout)
    check(re.search(r"outcome: killed by signal 6 .*data == 1.*\n  only with a spurious wake-up of a condition variable\n", done.stdout), done.stdout)
    check("confirmed data race" in done.stdout and "(it takes a spurious wake-up of a condition variable)" in done.stdout, done.stdout)
    for line, status in ((re.search(r"again: sooth (replay .*)", done.stdout)[1], 134), (re.search(r"replay: sooth (replay .*?) \(seed", done.stdout)[1], None)):
        again = bench.run(*shlex.split(line), status=status)
        check("the same run as in the schedule" in again.stderr, again.stderr)
    done = explore(bench, built(bench, "spurious", "-DLOOP"), "--spurious-wakes")
    check(counts(done)[1:] == (1, 0, 0) and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "lost"), "--spurious-wakes", status=66)
    check("waits for a condition" in done.stdout and "but of none that nobody would notify" in done.stdout and is_complete(done), done.stdout)


def test_frees_are_steps(bench):
    for flags in ((), ("-DLARGE",)):
        done = explore(bench, built(bench, "frees", *flags), status=66)
        check(outputs(done) == ["nothing", "something"] and counts(done)[2] == 1 and is_complete(done), done.stdout)
        check("free of" in done.stdout and "read of 4 bytes" in done.stdout, done.stdout)
        line = re.search(r"replay: sooth (replay .*schedule -- \S+)", done.stdout)[1]
        again = bench.run(*shlex.split(line), status=None)
        check("the same run as in the schedule" in again.stderr, again.stderr)
        done = explore(bench, built(bench, "frees", "-DLOCKED", *flags))
        check(counts(done)[2:] == (0, 0) and is_complete(done), done.stdout)


def test_end_of_the_process(bench):
    """Whatever other threads have not done by then stays undone."""
    done = explore(bench, built(bench, "detached"))
    check(outputs(done) == ["0", "1", "2"] and is_complete(done), done.stdout)


def test_time(bench):
    """Sleeps and time-outs end whenever they may, and the search for that ends."""
    done = explore(bench, built(bench, "sleep"))
    check(outputs(done) == ["0", "1", "2"] and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "sleep", "-DLOOP"))
    check(outputs(done) == ["2"] and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "timed"))
    check(outputs(done) == ["0", "1", "2"] and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "timed", "-DFAR"))
    check(outputs(done) == ["0", "2"] and is_complete(done), done.stdout)
    done = explore(bench, built(bench, "timed", "-DCLOCK"))
    check(outputs(done) == ["0", "1"] and is_complete(done), done.stdout)


def test_formats(bench):
    racy = built(bench, "racy")
    done = bench.run("explore", "--format", "json", "-o", "found.json", "--", racy, status=66)
    check(done.stdout == "" and "2 outcomes, 2 racing pairs" in done.stderr, done.stdout + done.stderr)
    report = json.loads(bench.read("found.json"))
    check({f["rung"] for f in report["findings"]} == {"confirmed"} and not report["incomplete"], report)
    check(all(f["found_by"] == ["explore"] and f["accesses"][0]["site"]["line"] > 0 for f in report["findings"]), report)
    check(["complete", "yes"] in report["stats"]["analyses"]["explore"]["extra"], report["stats"])
    again = bench.run("replay", f"found.json#{report['findings'][0]['id']}", "--", racy, status=0)
    check("race created" in again.stderr, again.stderr)
    bench.run("report", "found.json", "--format", "sarif", status=66)
    bench.run("explore", "--fail-on", "never", "--", racy, status=0)
    bench.run("explore", "--fail-on", "harmful", "--", racy, status=0)


def test_same_result_with_any_number_of_jobs(bench):
    peterson = built(bench, "peterson", "-DBROKEN")
    results = [explore(bench, peterson, "--jobs", jobs, status=66).stdout for jobs in (1, 3)]
    check(results[0] == results[1], "\n".join(results))


def test_limits(bench):
    racy = built(bench, "racy")
    done = bench.run("explore", "--runs", 2, "--", racy)
    check("\nstopped after 2 runs: not complete\n" in done.stdout and counts(done)[0] == 2, done.stdout)
    done = bench.run("explore", "--budget", "0.001", "--format", "json", "--", racy)
    check(json.loads(done.stdout)["incomplete"] and "not complete" in done.stderr, done.stdout)
    for words in (["explore"], ["explore", racy], ["explore", "--runs", "0", "--", racy], ["explore", "--wrong", "--", racy]):
        done = bench.run(*words, status=64)
        check(done.stderr.startswith("sooth: ") and done.stdout == "", done.stderr)
    done = bench.run("explore", "--", "/bin/true", status=65)
    check("is not instrumented" in done.stderr, done.stderr)
    check(not os.path.exists(bench.path("sooth-schedules/x")), "")


if __name__ == "__main__":
    controlled.main(sys.modules[__name__])
